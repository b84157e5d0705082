/* SPDX-License-Identifier: MIT */
/* The list of objects behind a query. */
#include "engine/pdh/core/catalogue.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/counter_path.h"

#include <string.h>

bool catalogue_add(struct catalogue *c, const struct provider *p)
{
    void *items = c->providers;
    bool ok = memory_grow(&items, &c->capacity, c->count + 1, sizeof *c->providers);
    c->providers = items;
    if (ok)
        c->providers[c->count++] = p;
    return ok;
}

void catalogue_close(struct catalogue *c)
{
    if (c) {
        const struct provider **providers = c->providers;
        char *computer = c->computer;
        c->functions->close(c);
        memory_free(providers);
        memory_free(computer);
    }
}

bool catalogue_is_real_time(const struct catalogue *c)
{
    return !c->functions->advance;
}

bool catalogue_is_of(const struct catalogue *c, const struct provider *p, const char *machine)
{
    const char *name = machine ? machine + strspn(machine, "\\") : "";
    if (c->computer && !p->machine)
        return counter_path_machine_is(machine, c->computer);
    if (c->computer && !*name)
        return false;
    return !*name || !p->machine || text_equal_nocase(p->machine, name);
}

PDH_STATUS catalogue_machine(struct catalogue *c, const char *machine)
{
    if (c->computer) {
        const PDH_STATUS status = counter_path_machine_is_ours(machine);
        return status == (PDH_STATUS)PDH_CSTATUS_NO_MACHINE ? c->functions->connect(c, machine + strspn(machine, "\\"))
                                                            : status;
    }
    for (size_t i = 0; i < c->count; i++)
        if (catalogue_is_of(c, c->providers[i], machine))
            return ERROR_SUCCESS;
    return PDH_CSTATUS_NO_MACHINE;
}

static size_t find(const struct catalogue *c, const char *machine, const char *name, size_t from)
{
    while (from < c->count &&
           !(text_equal_nocase(c->providers[from]->name, name) && catalogue_is_of(c, c->providers[from], machine)))
        from++;
    return from;
}

size_t catalogue_find(struct catalogue *c, const char *machine, const char *name)
{
    size_t known = c->count, at = find(c, machine, name, 0);
    if (at == known && c->functions->refresh && c->functions->refresh(c, machine) == ERROR_SUCCESS)
        at = find(c, machine, name, known);
    return at;
}

/* SPDX-License-Identifier: MIT */
/* Catalogues of live data: the counter objects of this computer, of extension DLLs, of Perflib providers and of remote
   computers. */
#include "engine/pdh/core/catalogue.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/logs/counter_path.h"
#include "engine/pdh/core/table.h"
#include "engine/pdh/extension/extension_host.h"
#include "engine/pdh/extension/extension_object.h"

#include <string.h>

const struct counter_object_type *const counter_object_types[] = {
#define COUNTER_OBJECT(name) &pdh_##name,
#include "engine/pdh/objects/objects.def"
#undef COUNTER_OBJECT
};
const size_t counter_object_type_count = sizeof counter_object_types / sizeof *counter_object_types;

bool catalogue_add(struct catalogue *c, const struct counter_object_type *p)
{
    void *items = c->types;
    bool ok = memory_grow(&items, &c->capacity, c->count + 1, sizeof *c->types);
    c->types = items;
    if (ok)
        c->types[c->count++] = p;
    return ok;
}

void catalogue_close(struct catalogue *c)
{
    if (c) {
        const struct counter_object_type **types = c->types;
        char *computer = c->computer;
        c->functions->close(c);
        memory_free(types);
        memory_free(computer);
    }
}

bool catalogue_is_real_time(const struct catalogue *c)
{
    return !c->functions->advance;
}

bool catalogue_is_of(const struct catalogue *c, const struct counter_object_type *p, const char *machine)
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
        if (catalogue_is_of(c, c->types[i], machine))
            return ERROR_SUCCESS;
    return PDH_CSTATUS_NO_MACHINE;
}

static size_t catalogue_find_from(const struct catalogue *c, const char *machine, const char *name, size_t from)
{
    while (from < c->count &&
           !(text_equal_nocase(c->types[from]->name, name) && catalogue_is_of(c, c->types[from], machine)))
        from++;
    return from;
}

size_t catalogue_find(struct catalogue *c, const char *machine, const char *name)
{
    size_t known = c->count, at = catalogue_find_from(c, machine, name, 0);
    if (at == known && c->functions->refresh && c->functions->refresh(c, machine) == ERROR_SUCCESS)
        at = catalogue_find_from(c, machine, name, known);
    return at;
}

/* ---- live data ---- */

/* The catalogue searches for extension DLLs and Perflib providers when a query first requests an unknown object. */

/* Time limit in milliseconds for starting the processes of all extensions and receiving their first data, once per
   query. */
#define START_MS 5000

struct real_time {
    struct catalogue catalogue; /* must be the first member */
    bool searched;              /* extensions have been searched */
    struct extension **extensions;
    size_t count;
    struct extension_names_table names;
    struct countersets *countersets;
    const struct catalogue_remote *remote_functions;
    struct remote_objects *remote;
};

static const struct catalogue_remote *catalogue_remote;

void catalogue_set_remote(const struct catalogue_remote *remote)
{
    catalogue_remote = remote;
}

static void close_real_time(struct catalogue *c)
{
    struct real_time *r = (struct real_time *)c;
    for (size_t i = 0; i < r->count; i++)
        extension_close(r->extensions[i]);
    countersets_close(r->countersets);
    if (r->remote)
        r->remote_functions->close(r->remote);
    extension_names_free(&r->names);
    memory_free(r->extensions);
    memory_free(r);
}

static HRESULT find_extensions(struct real_time *r)
{
    struct texts services = {0}, names = {0};
    HRESULT hr = extension_services(&services);
    if (SUCCEEDED(hr) && services.count) {
        r->extensions = memory_zero(services.count, sizeof *r->extensions);
        hr = r->extensions ? extension_names(&services, &names) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = extension_names_read(&r->names, &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < services.count; i++) {
        hr = extension_open(services.items[i], &r->extensions[i]);
        r->count += SUCCEEDED(hr);
    }
    texts_free(&services);
    texts_free(&names);
    return hr;
}

static PDH_STATUS real_time_connect_machine(struct catalogue *c, const char *machine, bool again)
{
    struct real_time *r = (struct real_time *)c;
    return r->remote_functions ? r->remote_functions->connect(&r->remote, machine, again, c)
                               : (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
}

static PDH_STATUS real_time_connect(struct catalogue *c, const char *machine)
{
    return real_time_connect_machine(c, machine, false);
}

/* Requests data from all extensions before it waits for the first reply. */
static PDH_STATUS real_time_refresh(struct catalogue *c, const char *machine)
{
    struct real_time *r = (struct real_time *)c;
    if (!counter_path_machine_is(machine, c->computer))
        return real_time_connect_machine(c, machine + strspn(machine, "\\"), true);
    HRESULT hr = r->searched ? S_OK : find_extensions(r);
    r->searched = true;
    for (size_t i = 0; SUCCEEDED(hr) && i < r->count; i++)
        extension_ask(r->extensions[i]);
    for (size_t i = 0; SUCCEEDED(hr) && i < r->count; i++)
        hr = extension_add_objects(r->extensions[i], &r->names, c, START_MS);
    if (SUCCEEDED(hr) && !r->countersets)
        hr = countersets_open(&r->countersets);
    if (SUCCEEDED(hr))
        hr = countersets_add_objects(r->countersets, c);
    return pdh_status_of(hr, PDH_CSTATUS_NO_OBJECT);
}

/* Requests values before a sample, so that the extensions prepare their replies while the objects of this computer are
   sampled. */
static void real_time_begin(struct catalogue *c)
{
    struct real_time *r = (struct real_time *)c;
    for (size_t i = 0; i < r->count; i++)
        extension_ask_if_used(r->extensions[i]);
    if (r->countersets)
        countersets_begin(r->countersets);
    if (r->remote)
        r->remote_functions->begin(r->remote);
}

static const struct catalogue_functions functions = {
    .refresh = real_time_refresh, .connect = real_time_connect, .begin = real_time_begin, .close = close_real_time};

PDH_STATUS catalogue_open_real_time(struct catalogue **out)
{
    struct real_time *r = memory_zero(1, sizeof *r);
    *out = NULL;
    if (!r)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    r->catalogue.functions = &functions;
    r->remote_functions = catalogue_remote;
    r->catalogue.computer = os_computer_name();
    bool ok = r->catalogue.computer != NULL;
    for (size_t i = 0; ok && i < counter_object_type_count; i++)
        ok = catalogue_add(&r->catalogue, counter_object_types[i]);
    if (!ok) {
        catalogue_close(&r->catalogue);
        return PDH_MEMORY_ALLOCATION_FAILURE;
    }
    *out = &r->catalogue;
    return ERROR_SUCCESS;
}

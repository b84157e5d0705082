/* SPDX-License-Identifier: MIT */
/* Windows' numbers of the names of objects and counters, both ways. There is one language: the system's names are the
   English ones. */
#include "engine/base/memory.h"
#include "engine/pdh/api/api.h"

/* Our own objects of this computer; another's name is refused. Those of other programs come with a refresh, for what is
   none of ours: it may start processes. */
static PDH_STATUS open_names(enum api_form form, const void *machine, struct catalogue **out)
{
    char *name;
    *out = NULL;
    PDH_STATUS status = api_text_in(form, machine, PDH_MAX_COUNTER_PATH, PDH_CSTATUS_NO_MACHINE, &name);
    if (status == ERROR_SUCCESS)
        status = catalogue_open_real_time(out);
    if (status == ERROR_SUCCESS)
        status = catalogue_machine(*out, name);
    memory_free(name);
    return status;
}

static const char *name_of(const struct catalogue *c, uint32_t index)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct provider *p = c->providers[i];
        if (p->index == index)
            return p->name;
        for (uint32_t n = 0; n < p->counter_count; n++)
            if (p->counters[n].index == index)
                return p->counters[n].name;
    }
    return NULL;
}

PDH_STATUS api_lookup_name(enum api_form form, const void *machine, DWORD index, void *name, LPDWORD units)
{
    struct catalogue *c;
    if (!units || (!name && *units))
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = open_names(form, machine, &c);
    if (status == ERROR_SUCCESS) {
        const char *found = index ? name_of(c, index) : NULL;
        if (index && !found && c->functions->refresh(c, NULL) == ERROR_SUCCESS)
            found = name_of(c, index);
        status = found ? api_text_out(form, found, name, units) : (PDH_STATUS)PDH_STRING_NOT_FOUND;
    }
    catalogue_close(c);
    return status;
}

/* Objects first: names that both have are theirs. */
static uint32_t index_of(const struct catalogue *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->providers[i]->index && text_equal_nocase(c->providers[i]->name, name))
            return c->providers[i]->index;
    for (size_t i = 0; i < c->count; i++) {
        for (uint32_t n = 0; n < c->providers[i]->counter_count; n++) {
            const struct counter_schema *s = &c->providers[i]->counters[n];
            if (s->index && text_equal_nocase(s->name, name))
                return s->index;
        }
    }
    return 0;
}

PDH_STATUS api_lookup_index(enum api_form form, const void *machine, const void *name, LPDWORD index)
{
    struct catalogue *c = NULL;
    char *text;
    if (!name || !index)
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_text_in(form, name, PDH_MAX_COUNTER_NAME, PDH_STRING_NOT_FOUND, &text);
    if (status == ERROR_SUCCESS)
        status = open_names(form, machine, &c);
    if (status == ERROR_SUCCESS) {
        *index = index_of(c, text);
        if (!*index && c->functions->refresh(c, NULL) == ERROR_SUCCESS)
            *index = index_of(c, text);
        status = *index ? ERROR_SUCCESS : (PDH_STATUS)PDH_STRING_NOT_FOUND;
    }
    catalogue_close(c);
    memory_free(text);
    return status;
}

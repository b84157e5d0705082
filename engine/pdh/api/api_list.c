/* SPDX-License-Identifier: MIT */
/* PDH functions that list computers, objects, counters and instances, return defaults, and look up names by number. */
#include "engine/base/memory.h"
#include "engine/logs/counter_path.h"
#include "engine/pdh/api/api.h"

#include <string.h>

/* Opens a query on the source for one call, and checks the machine, which is a separate argument. */
static PDH_STATUS open_query_for_call(enum api_form form, struct api_source source, const void *machine, char **name,
                                      struct query **out)
{
    struct catalogue *catalogue = NULL;
    *out = NULL;
    PDH_STATUS status = api_text_in(form, machine, PDH_MAX_COUNTER_PATH, PDH_CSTATUS_NO_MACHINE, name);
    if (status == ERROR_SUCCESS)
        status = api_open_catalogue(form, source, &catalogue);
    if (status == ERROR_SUCCESS)
        status = query_create(0, catalogue, out);
    if (status == ERROR_SUCCESS)
        status = catalogue_machine((*out)->catalogue, *name);
    return status;
}

static void close_query_for_call(struct query *q, char *machine)
{
    if (q)
        query_destroy(q);
    memory_free(machine);
}

static PDH_STATUS no_memory_or(HRESULT hr)
{
    return pdh_status_of(hr, PDH_MEMORY_ALLOCATION_FAILURE);
}

/* Adds "\\NAME" if the list does not have it yet. */
static HRESULT add_machine(struct texts *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (text_equal_nocase(list->items[i] + 2, name))
            return S_OK;
    char *text = text_format("\\\\%s", name);
    HRESULT hr = text ? texts_add(list, text) : E_OUTOFMEMORY;
    memory_free(text);
    return hr;
}

/* The computers to which this process has connected (PdhConnectMachine), as "\\NAME". PDH functions that list computers
   also return these computers. The limit protects against programs that request new names forever. */
#define MOST_CONNECTED 1024
static struct lock connected_lock = LOCK_INIT;
static struct texts connected;

PDH_STATUS api_connect_machine(enum api_form form, const void *machine)
{
    struct query *q;
    char *name;
    PDH_STATUS status = open_query_for_call(form, (struct api_source){0}, machine, &name, &q);
    if (status == ERROR_SUCCESS && !counter_path_machine_is(name, q->catalogue->computer)) {
        lock_enter(&connected_lock);
        if (connected.count < MOST_CONNECTED)
            status = no_memory_or(add_machine(&connected, name + strspn(name, "\\")));
        lock_leave(&connected_lock);
    }
    close_query_for_call(q, name);
    return status;
}

static HRESULT add_connected(struct texts *list)
{
    HRESULT hr = S_OK;
    lock_enter(&connected_lock);
    for (size_t i = 0; i < connected.count && SUCCEEDED(hr); i++)
        hr = add_machine(list, connected.items[i] + 2);
    lock_leave(&connected_lock);
    return hr;
}

PDH_STATUS api_enum_machines(enum api_form form, struct api_source source, void *list, LPDWORD units)
{
    struct query *q;
    char *none;
    struct texts machines = {0};
    HRESULT hr = S_OK;
    if (!units || (!list && *units))
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = open_query_for_call(form, source, NULL, &none, &q);
    if (status == ERROR_SUCCESS && catalogue_is_real_time(q->catalogue)) {
        char *ours = os_computer_name();
        hr = ours ? add_machine(&machines, ours) : E_OUTOFMEMORY;
        memory_free(ours);
        if (SUCCEEDED(hr))
            hr = add_connected(&machines);
    }
    for (size_t i = 0; status == ERROR_SUCCESS && SUCCEEDED(hr) && i < q->catalogue->count; i++) {
        const char *machine = q->catalogue->types[i]->machine;
        hr = machine ? add_machine(&machines, machine) : S_OK;
    }
    if (status == ERROR_SUCCESS)
        status = no_memory_or(hr);
    if (status == ERROR_SUCCESS)
        status = api_list_out(form, &machines, false, list, units);
    close_query_for_call(q, none);
    texts_free(&machines);
    return status;
}

PDH_STATUS api_enum_objects(enum api_form form, struct api_source source, const void *machine, void *list,
                            LPDWORD units, DWORD detail, BOOL refresh)
{
    (void)refresh; /* nothing is cached between calls */
    struct texts names = {0};
    struct query *q;
    char *name;
    if (!units || (!list && *units))
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = open_query_for_call(form, source, machine, &name, &q);
    if (status == ERROR_SUCCESS && q->catalogue->functions->refresh) /* adds the objects of other programs */
        status = q->catalogue->functions->refresh(q->catalogue, name);
    for (size_t i = 0; status == ERROR_SUCCESS && i < q->catalogue->count; i++) {
        struct counter_object *o;
        const struct counter_object_type *p = q->catalogue->types[i];
        if ((detail & 0xFFFF) < PERF_DETAIL_NOVICE || !catalogue_is_of(q->catalogue, p, name))
            continue;
        status = query_object(q, i, &o);
        if (status == ERROR_SUCCESS)
            status = no_memory_or(texts_add(&names, p->name));
        else if (status == (PDH_STATUS)PDH_CSTATUS_NO_OBJECT)
            status = ERROR_SUCCESS;
    }
    close_query_for_call(q, name);
    if (status == ERROR_SUCCESS)
        status = api_list_out(form, &names, false, list, units);
    texts_free(&names);
    return status;
}

/* Lists the names of the counters and of the instances; the instance names have no "#1". */
static HRESULT list_items(const struct counter_object *o, DWORD detail, struct texts *counters, struct texts *instances)
{
    HRESULT hr = S_OK;
    for (uint32_t i = 0; i < o->type->counter_count && SUCCEEDED(hr); i++) {
        const struct counter_schema *c = &o->type->counters[i];
        if (counter_object_has_counter(o, i) && c->detail <= (detail & 0xFFFF))
            hr = texts_add(counters, c->name);
    }
    for (size_t i = 0; o->instances && i < o->instances->count && SUCCEEDED(hr); i++) {
        const struct instance *item = &o->instances->items[i];
        char *base = text_copy_n(item->name, item->bare_length);
        hr = base ? texts_add(instances, base) : E_OUTOFMEMORY;
        memory_free(base);
    }
    return hr;
}

/* Finds the object called `name` on the machine. */
static PDH_STATUS find_object(struct query *q, const char *machine, const char *name, struct counter_object **out)
{
    size_t at = catalogue_find(q->catalogue, machine, name);
    return at == q->catalogue->count ? (PDH_STATUS)PDH_CSTATUS_NO_OBJECT : query_object(q, at, out);
}

PDH_STATUS api_enum_object_items(enum api_form form, struct api_source source, const void *machine, const void *object,
                                 void *counters, LPDWORD counter_units, void *instances, LPDWORD instance_units,
                                 DWORD detail, DWORD flags)
{
    if (!object || !counter_units || !instance_units || (!counters && *counter_units) ||
        (!instances && *instance_units) || flags)
        return PDH_INVALID_ARGUMENT;
    char *name = NULL, *machine_name = NULL;
    struct query *q = NULL;
    struct counter_object *o;
    struct texts counter_names = {0}, instance_names = {0};
    PDH_STATUS status = api_text_in(form, object, PDH_MAX_COUNTER_PATH, PDH_CSTATUS_NO_OBJECT, &name);
    if (status == ERROR_SUCCESS)
        status = open_query_for_call(form, source, machine, &machine_name, &q);
    if (status == ERROR_SUCCESS)
        status = find_object(q, machine_name, name, &o);
    if (status == ERROR_SUCCESS)
        status = no_memory_or(list_items(o, detail, &counter_names, &instance_names));
    if (status == ERROR_SUCCESS) {
        PDH_STATUS first = api_list_out(form, &counter_names, false, counters, counter_units);
        PDH_STATUS second = api_list_out(form, &instance_names, true, instances, instance_units);
        status = first != ERROR_SUCCESS ? first : second;
    }
    close_query_for_call(q, machine_name);
    memory_free(name);
    texts_free(&counter_names);
    texts_free(&instance_names);
    return status;
}

/* Returns Windows' default for live data, or the first object of a log file. */
PDH_STATUS api_get_default_object(enum api_form form, struct api_source source, const void *machine, void *name,
                                  LPDWORD units)
{
    struct query *q;
    char *machine_name;
    if (!units || (!name && *units))
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = open_query_for_call(form, source, machine, &machine_name, &q);
    if (status == ERROR_SUCCESS) {
        size_t at = 0;
        if (catalogue_is_real_time(q->catalogue))
            at = catalogue_find(q->catalogue, machine_name, "Processor");
        else
            while (at < q->catalogue->count && !catalogue_is_of(q->catalogue, q->catalogue->types[at], machine_name))
                at++;
        status = at < q->catalogue->count ? api_text_out(form, q->catalogue->types[at]->name, name, units)
                                          : (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    }
    close_query_for_call(q, machine_name);
    return status;
}

/* Returns the object's first counter as the default. */
PDH_STATUS api_get_default_counter(enum api_form form, struct api_source source, const void *machine,
                                   const void *object, void *name, LPDWORD units)
{
    struct query *q = NULL;
    struct counter_object *o;
    char *machine_name = NULL, *object_name;
    if (!object || !units || (!name && *units))
        return PDH_INVALID_ARGUMENT;
    PDH_STATUS status = api_text_in(form, object, PDH_MAX_COUNTER_PATH, PDH_CSTATUS_NO_OBJECT, &object_name);
    if (status == ERROR_SUCCESS)
        status = open_query_for_call(form, source, machine, &machine_name, &q);
    if (status == ERROR_SUCCESS)
        status = find_object(q, machine_name, object_name, &o);
    if (status == ERROR_SUCCESS) {
        uint32_t i = 0;
        while (i < o->type->counter_count && !counter_object_has_counter(o, i))
            i++;
        status = i < o->type->counter_count ? api_text_out(form, o->type->counters[i].name, name, units)
                                            : (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
    }
    close_query_for_call(q, machine_name);
    memory_free(object_name);
    return status;
}

/* ---- names by number: the system's names are the English ones, as there is only one language ---- */

/* Opens this computer's own objects. Fails for names of remote computers. The callers add the objects of other programs
   with a refresh, but only if this computer's own objects do not have the name or number, because the refresh may start
   processes. */
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
        const struct counter_object_type *p = c->types[i];
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

/* Objects have priority: a name of both an object and a counter means the object. */
static uint32_t index_of(const struct catalogue *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->types[i]->index && text_equal_nocase(c->types[i]->name, name))
            return c->types[i]->index;
    for (size_t i = 0; i < c->count; i++) {
        for (uint32_t n = 0; n < c->types[i]->counter_count; n++) {
            const struct counter_schema *s = &c->types[i]->counters[n];
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

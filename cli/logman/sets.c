/* SPDX-License-Identifier: MIT */
#include "cli/logman/sets.h"

#include "engine/base/memory.h"
#include "engine/pla/sets.h"
#include "engine/pla/store.h"

#include <string.h>

#ifdef _WIN32
#include "com/facade/facade.h"
/* A client of the server, as any program is. */
#define new_set        facade_set_create
#define new_collection facade_collection_create
#else
#define new_set        sets_create
#define new_collection sets_collection_create
#endif

static const struct {
    unsigned adverb;
    const struct class *class;
} kinds[] = {{LOGMAN_COUNTER, &performance_counter_collector_class},
             {LOGMAN_TRACE, &trace_data_collector_class},
             {LOGMAN_CFG, &configuration_collector_class},
             {LOGMAN_ALERT, &alert_collector_class},
             {LOGMAN_API, &api_tracing_collector_class}};

unsigned logman_adverb_of(const struct object *collector)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].class == collector->class)
            return kinds[i].adverb;
    return 0;
}

/* The namespace that the name begins with, and what is behind it; NULL: none. */
static const char *space_of(const char *name, const char **rest)
{
    *rest = name;
    for (const char *const *space = store_namespaces(); *space; space++) {
        const size_t length = strlen(*space);
        char *head = strlen(name) > length && name[length] == '\\' ? text_copy_n(name, length) : NULL;
        const bool same = head && text_equal_nocase(head, *space);
        memory_free(head);
        if (same) {
            *rest = name + length + 1;
            return *space;
        }
    }
    return NULL;
}

static HRESULT name_target(const struct logman_line *line, struct logman_target *t)
{
    const char *rest;
    const char *space = space_of(line->name, &rest), *slash = NULL;
    if (line->verb == LOGMAN_UPDATE || line->verb == LOGMAN_QUERY)
        slash = strchr(rest, '\\');
    if (!space && logman_is_given(line, LOGMAN_SESSION))
        space = "Session";
    t->session = space && text_equal_nocase(space, "Session");
    t->short_name = slash ? text_copy_n(rest, (size_t)(slash - rest)) : text_copy(rest);
    if (slash && !(t->collector_name = text_copy(slash + 1)))
        return E_OUTOFMEMORY;
    t->name = !t->short_name ? NULL : space ? text_format("%s\\%s", space, t->short_name) : text_copy(t->short_name);
    return t->name ? S_OK : E_OUTOFMEMORY;
}

HRESULT logman_target_open(const struct logman_line *line, struct logman_target *t)
{
    const struct logman_option *server = logman_option(line, LOGMAN_SERVER);
    *t = (struct logman_target){.server = server ? server->words.items[0] : NULL};
    if (!line->name)
        return error_set(E_INVALIDARG, "the name of a set is missing");
    HRESULT hr = name_target(line, t);
    if (SUCCEEDED(hr))
        hr = new_set(NULL, &t->set);
    if (SUCCEEDED(hr))
        hr = set_query(t->set, &caller_self, t->name, t->server);
    t->found = SUCCEEDED(hr);
    return hr == PLA_E_DCS_NOT_FOUND ? S_OK : hr;
}

void logman_target_free(struct logman_target *t)
{
    object_release(t->collector);
    object_release(t->set);
    memory_free(t->name);
    memory_free(t->short_name);
    memory_free(t->collector_name);
}

static struct object *collectors_of(struct object *set)
{
    return object_child(set, class_property(set->class, "DataCollectors"));
}

static HRESULT has_name(struct object *collector, const char *name, bool *out)
{
    struct value v;
    HRESULT hr = object_get(collector, class_property(collector->class, "Name"), &v);
    if (SUCCEEDED(hr)) {
        *out = text_equal_nocase(v.text, name);
        value_free(&v);
    }
    return hr;
}

HRESULT logman_target_add(struct logman_target *t, unsigned adverb)
{
    struct object **list;
    size_t count;
    bool taken = false;
    const struct class *class = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].adverb == adverb)
            class = kinds[i].class;
    if (!class)
        return error_set(E_INVALIDARG, "create: one of counter, trace, alert, cfg, api is wanted");
    HRESULT hr = collection_snapshot(collectors_of(t->set), &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count && SUCCEEDED(hr) && !taken; i++)
        hr = has_name(list[i], t->short_name, &taken);
    objects_release(list, count);
    if (SUCCEEDED(hr) && taken)
        hr = error_set(PLA_E_DC_ALREADY_EXISTS, "the set \"%s\" has a collector of that name", t->short_name);
    if (SUCCEEDED(hr))
        hr = object_create(class, t->set, &t->collector);
    if (SUCCEEDED(hr))
        hr = object_put_text(t->collector, class_property(class, "Name"), t->short_name);
    return SUCCEEDED(hr) ? collection_add(collectors_of(t->set), t->collector) : hr;
}

HRESULT logman_target_choose(struct logman_target *t, unsigned adverb)
{
    struct object **list, *only = NULL, *named = NULL;
    size_t count, fit = 0;
    const char *name = t->collector_name ? t->collector_name : t->short_name;
    HRESULT hr = collection_snapshot(collectors_of(t->set), &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        bool same = false;
        if (adverb != 0 && logman_adverb_of(list[i]) != adverb)
            continue;
        hr = has_name(list[i], name, &same);
        named = same ? list[i] : named;
        only = list[i];
        fit++;
    }
    if (SUCCEEDED(hr) && !named && t->collector_name)
        hr = error_set(E_INVALIDARG, "the set \"%s\" has no such collector: \"%s\"", t->short_name, t->collector_name);
    else if (SUCCEEDED(hr) && !named && fit != 1)
        hr = error_set(E_INVALIDARG,
                       fit ? "the set \"%s\" has several collectors; \"Set\\Collector\" names one of them"
                           : "the set \"%s\" has no collector of that kind",
                       t->short_name);
    if (SUCCEEDED(hr))
        t->collector = object_reference(named ? named : only);
    objects_release(list, count);
    return hr;
}

HRESULT logman_list(const char *server, bool sessions, struct object **collection)
{
    HRESULT hr = new_collection(NULL, collection);
    if (SUCCEEDED(hr) &&
        FAILED(hr = sets_find(*collection, &caller_self, server, sessions ? "Session\\*" : "Service\\*"))) {
        object_release(*collection);
        *collection = NULL;
    }
    return hr;
}

/* SPDX-License-Identifier: MIT */
/* The performance counter collector: what its rows leave to code. MS-PLA 3.2.4.6. */
#include "engine/model/data_collector.h"

#include "engine/os/memory.h"

#include <stdlib.h>
#include <string.h>

/* SQL:<data source>!<log set>, or nothing (MS-PLA 3.2.4.6.2). */
static HRESULT counters_check_source(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    const char *t = in->text, *mark = strchr(t, '!');
    if (!t[0] || (text_matches("SQL:*", t) && mark && mark > t + 4 && mark[1]))
        return S_OK;
    return error_set(E_INVALIDARG, "%s: '%s' is not of the form SQL:<data source>!<log set>", p->name, t);
}

static int compare_paths(const void *a, const void *b)
{
    return text_compare_nocase(*(const char *const *)a, *(const char *const *)b);
}

static HRESULT counters_check_paths(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    size_t count = in->texts.count;
    for (size_t i = 0; i < count; i++)
        if (!in->texts.items[i][0])
            return error_set(E_INVALIDARG, "%s: the path at index %u is empty", p->name, (unsigned)i);
    if (count < 2)
        return S_OK;
    const char **sorted = memory_alloc(count * sizeof *sorted);
    if (!sorted)
        return E_OUTOFMEMORY;
    memcpy(sorted, in->texts.items, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_paths);
    HRESULT hr = S_OK;
    for (size_t i = 1; SUCCEEDED(hr) && i < count; i++)
        if (text_equal_nocase(sorted[i - 1], sorted[i]))
            hr = error_set(PLA_E_NO_DUPLICATES, "%s: '%s' is there twice", p->name, sorted[i]);
    memory_free(sorted);
    return hr;
}

static void counters_paths_changed(struct object *o)
{
    texts_free(&((struct performance_counter_collector *)o)->CounterDisplayNames);
}

/* As many display names as paths, or the paths themselves. */
static HRESULT counters_get_display_names(struct object *o, const struct property *p, struct value *out)
{
    struct performance_counter_collector *c = (struct performance_counter_collector *)o;
    memset(out, 0, sizeof *out);
    out->kind = p->kind;
    object_lock(o);
    HRESULT hr = texts_copy(&out->texts, c->CounterDisplayNames.count == c->PerformanceCounters.count
                                             ? &c->CounterDisplayNames
                                             : &c->PerformanceCounters);
    object_unlock(o);
    return hr;
}

static const struct property properties[] = {
#define PROPERTY_STRUCT performance_counter_collector
#define PROPERTY PROPERTY_ROW
#include "engine/model/data_collector.def"
#include "engine/model/performance_counter_collector.def"
#undef PROPERTY
#undef PROPERTY_STRUCT
};

static const char *extension(const struct object *o)
{
    static const char *const by_format[] = {".csv", ".tsv", "", ".blg"}; /* FileFormat; an SQL log is no file */
    return by_format[((const struct performance_counter_collector *)o)->LogFileFormat];
}

const struct class performance_counter_collector_class = {
    .name = "PerformanceCounterDataCollector",
    .size = sizeof(struct performance_counter_collector),
    .properties = properties,
    .property_count = IPerformanceCounterDataCollector_count,
    .extension = extension,
};

/* SPDX-License-Identifier: MIT */
/* Lists the counters of a set, for programs that show or export them. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"

static HRESULT texts_add_once(struct texts *t, const char *text)
{
    for (size_t i = 0; i < t->count; i++)
        if (text_equal_nocase(t->items[i], text))
            return S_OK;
    return texts_add(t, text);
}

static HRESULT add_collector(struct object *collector, struct texts *counters, uint64_t *interval_ms)
{
    const bool is_alert = collector->class == &alert_collector_class;
    struct value v;
    if (!is_alert && collector->class != &performance_counter_collector_class)
        return S_OK;
    HRESULT hr = object_get(collector, class_property(collector->class, "SampleInterval"), &v);
    if (FAILED(hr))
        return hr;
    const uint64_t ms = (uint64_t)v.u32 * 1000;
    value_free(&v);
    if (ms > 0 && (*interval_ms == 0 || ms < *interval_ms))
        *interval_ms = ms;
    hr = object_get(collector, class_property(collector->class, is_alert ? "AlertThresholds" : "PerformanceCounters"),
                    &v);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < v.texts.count && SUCCEEDED(hr); i++) {
        struct alert_threshold threshold;
        if (!is_alert) {
            hr = texts_add_once(counters, v.texts.items[i]);
        } else if (SUCCEEDED(hr = alert_threshold_parse(v.texts.items[i], &threshold))) {
            hr = texts_add_once(counters, threshold.path);
            memory_free(threshold.path);
        }
    }
    value_free(&v);
    return hr;
}

HRESULT set_list_counters(struct object *set, struct texts *counters, uint64_t *interval_ms)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(set_of(set)->DataCollectors, &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = add_collector(list[i], counters, interval_ms);
    objects_release(list, count);
    return hr;
}

/* SPDX-License-Identifier: MIT */
/* The counters of openpla live: those of a set, or the usual ones of this computer. */
#include "cli/live/live.h"
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

#include <string.h>

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
    if (ms > 0 && *interval_ms > 0 && ms < *interval_ms)
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

static HRESULT add_xml(const char *xml, size_t size, struct texts *counters, uint64_t *interval_ms)
{
    struct object *set = NULL, **list;
    size_t count;
    HRESULT hr = set_create_from_xml(xml, size, &set);
    if (SUCCEEDED(hr))
        hr = collection_snapshot(set_of(set)->DataCollectors, &list, &count);
    if (SUCCEEDED(hr)) {
        for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
            hr = add_collector(list[i], counters, interval_ms);
        objects_release(list, count);
    }
    object_release(set);
    return hr;
}

HRESULT live_set_counters(const char *set, struct texts *counters, uint64_t *interval_ms)
{
    const char *space;
    char *name = NULL, *xml = NULL;
    size_t size;
    const size_t before = counters->count;
    HRESULT hr = store_split_name(set, &space, &name);
    if (SUCCEEDED(hr))
        hr = store_load(&caller_self, space, name, &xml, &size);
    if (SUCCEEDED(hr))
        hr = add_xml(xml, size, counters, interval_ms);
    if (SUCCEEDED(hr) && counters->count == before)
        hr = error_set(E_INVALIDARG, "cannot show set '%s': it has no counters", set);
    memory_free(xml);
    memory_free(name);
    return hr;
}

HRESULT live_default_counters(struct texts *counters)
{
    static const char *const usual[] = {
        "\\Processor(_Total)\\% Processor Time",
        "\\Processor(*)\\% Processor Time",
        "\\System\\Processor Queue Length",
        "\\System\\Context Switches/sec",
        "\\Memory\\Available MBytes",
        "\\Memory\\Pages/sec",
        "\\PhysicalDisk(_Total)\\% Idle Time",
        "\\PhysicalDisk(_Total)\\Disk Read Bytes/sec",
        "\\PhysicalDisk(_Total)\\Disk Write Bytes/sec",
        "\\Network Interface(*)\\Bytes Received/sec",
        "\\Network Interface(*)\\Bytes Sent/sec",
        "\\System\\Processes",
        "\\System\\Threads",
    };
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && SUCCEEDED(hr); i++)
        hr = texts_add(counters, usual[i]);
    return hr;
}

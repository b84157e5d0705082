/* SPDX-License-Identifier: MIT */
/* Chooses the counters of openpla live, which are the counters of a set or the default counters of this computer. */
#include "cli/live/live.h"
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

#include <string.h>

static HRESULT add_xml(const char *xml, size_t size, struct texts *counters, uint64_t *interval_ms)
{
    struct object *set = NULL;
    HRESULT hr = set_create_from_xml(xml, size, &set);
    if (SUCCEEDED(hr))
        hr = set_list_counters(set, counters, interval_ms);
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

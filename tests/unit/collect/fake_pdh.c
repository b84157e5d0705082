/* SPDX-License-Identifier: MIT */
/* A fake PDH for tests. */
#include "fake_pdh.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <stdio.h>
#include <string.h>

#define MACHINE "\\\\FAKE"
#define NONE    SIZE_MAX

const char *fake_instances[8];
const double *fake_values;
bool fake_no_memory;
PDH_STATUS fake_collect_status;
PDH_STATUS fake_list_status;
int fake_open_queries;

static const struct {
    const char *names[2]; /* in German and English */
    bool has_instances;
    const char *counters[2][2];
} objects[] = {
    {{"Prozess", "Process"}, true, {{"Zahl", "Count"}, {"Zeit", "Time"}}},
    {{"Speicher", "Memory"}, false, {{"Frei", "Free"}, {NULL, NULL}}},
};

struct fake_counter {
    size_t object, counter;
    char instance[64];
    uint64_t since; /* number of samples before the counter was added */
    struct fake_counter *next;
    struct fake_query *query;
};

struct fake_query {
    struct fake_counter *first;
    uint64_t samples;
};

struct parts {
    char object[64], instance[64], counter[64];
    bool has_instance;
};

static bool split(LPCWSTR wide, struct parts *p)
{
    size_t units = 0;
    char *path;
    while (wide[units])
        units++;
    memset(p, 0, sizeof *p);
    if (FAILED(text_from_utf16(wide, units, true, &path)))
        return false;
    const char *at = strncmp(path, MACHINE, strlen(MACHINE)) == 0 ? path + strlen(MACHINE) : path;
    p->has_instance = sscanf(at, "\\%63[^(\\](%63[^)])\\%63[^\n]", p->object, p->instance, p->counter) == 3;
    bool good = p->has_instance || sscanf(at, "\\%63[^(\\]\\%63[^\n]", p->object, p->counter) == 2;
    memory_free(path);
    return good;
}

static size_t find_object(const char *name, int language)
{
    for (size_t i = 0; i < 2; i++)
        if (strcmp(objects[i].names[language], name) == 0 && (i != 1 || !fake_no_memory))
            return i;
    return NONE;
}

static size_t find_counter(size_t object, const char *name, int language)
{
    for (size_t i = 0; i < 2; i++)
        if (objects[object].counters[i][language] && strcmp(objects[object].counters[i][language], name) == 0)
            return i;
    return NONE;
}

static PDH_STATUS WINAPI open_query(LPCWSTR source, DWORD_PTR user, PDH_HQUERY *query)
{
    (void)source;
    (void)user;
    *query = memory_zero(1, sizeof(struct fake_query));
    fake_open_queries += *query != NULL;
    return *query ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

static PDH_STATUS WINAPI close_query(PDH_HQUERY query)
{
    struct fake_query *q = query;
    for (struct fake_counter *c = q->first, *next; c; c = next) {
        next = c->next;
        memory_free(c);
    }
    memory_free(q);
    fake_open_queries--;
    return 0;
}

static PDH_STATUS add(PDH_HQUERY query, LPCWSTR path, PDH_HCOUNTER *out, int language)
{
    struct fake_query *q = query;
    struct parts p;
    if (!split(path, &p))
        return (PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME;
    size_t object = find_object(p.object, language);
    if (object == NONE)
        return (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    size_t counter = find_counter(object, p.counter, language);
    if (counter == NONE)
        return (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
    if (objects[object].has_instances != p.has_instance)
        return (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE;
    struct fake_counter *c = memory_zero(1, sizeof *c);
    if (!c)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    c->object = object;
    c->counter = counter;
    c->since = q->samples;
    memcpy(c->instance, p.instance, sizeof c->instance);
    c->query = q;
    c->next = q->first;
    q->first = c;
    *out = c;
    return 0;
}

static PDH_STATUS WINAPI add_counter(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER *out)
{
    (void)user;
    return add(query, path, out, 0);
}

static PDH_STATUS WINAPI add_english(PDH_HQUERY query, LPCWSTR path, DWORD_PTR user, PDH_HCOUNTER *out)
{
    (void)user;
    return add(query, path, out, 1);
}

static PDH_STATUS WINAPI remove_counter(PDH_HCOUNTER counter)
{
    struct fake_counter *c = counter, **at = &c->query->first;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    memory_free(c);
    return 0;
}

static PDH_STATUS WINAPI collect(PDH_HQUERY query)
{
    ((struct fake_query *)query)->samples++;
    return fake_collect_status;
}

static PDH_RAW_COUNTER raw(const struct fake_counter *c, size_t instance)
{
    uint64_t samples = c->query->samples;
    PDH_RAW_COUNTER r = {.FirstValue = (LONGLONG)(c->object ? samples : c->counter ? samples * 100 : instance)};
    r.CStatus = instance == NONE ? PDH_CSTATUS_NO_INSTANCE : PDH_CSTATUS_VALID_DATA;
    return r;
}

static size_t position(const struct fake_counter *c)
{
    size_t i = 0;
    while (c->instance[0] && fake_instances[i] && strcmp(fake_instances[i], c->instance) != 0)
        i++;
    return c->instance[0] && !fake_instances[i] ? NONE : i;
}

static double value_of(const struct fake_counter *c, size_t instance, double otherwise)
{
    return fake_values && !c->object && !c->counter ? fake_values[instance] : otherwise;
}

static PDH_STATUS WINAPI raw_value(PDH_HCOUNTER counter, LPDWORD type, PPDH_RAW_COUNTER value)
{
    (void)type;
    *value = raw(counter, position(counter));
    return 0;
}

static PDH_STATUS WINAPI formatted(PDH_HCOUNTER counter, DWORD format, LPDWORD type, PPDH_FMT_COUNTERVALUE value)
{
    struct fake_counter *c = counter;
    (void)type;
    if (format != (PDH_FMT_DOUBLE | PDH_FMT_NOCAP100) || position(c) == NONE ||
        (!c->object && c->counter && c->query->samples - c->since < 2))
        return (PDH_STATUS)PDH_INVALID_DATA;
    value->CStatus = PDH_CSTATUS_NEW_DATA;
    value->doubleValue = value_of(c, position(c), (double)raw(c, position(c)).FirstValue);
    return 0;
}

/* ASCII only, like all names here. */
static LPWSTR put(LPWSTR at, const char *text)
{
    do
        *at++ = (WCHAR)*text;
    while (*text++);
    return at;
}

static PDH_STATUS WINAPI raw_array(PDH_HCOUNTER counter, LPDWORD bytes, LPDWORD count, PPDH_RAW_COUNTER_ITEM_W items)
{
    DWORD n = 0, need = 0;
    if (fake_list_status)
        return fake_list_status;
    for (; fake_instances[n]; n++)
        need += (DWORD)(sizeof *items + (strlen(fake_instances[n]) + 1) * sizeof(WCHAR));
    if (!n)
        return (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE;
    DWORD had = *bytes;
    *bytes = need;
    *count = n;
    if (had < need)
        return (PDH_STATUS)PDH_MORE_DATA;
    LPWSTR names = (LPWSTR)(items + n);
    for (DWORD i = 0; i < n; i++) {
        items[i].szName = names;
        items[i].RawValue = raw(counter, i);
        names = put(names, fake_instances[i]);
    }
    return 0;
}

/* Formatted values are a quarter more than raw values. In the first sample, the first instance is missing, and the last
   instance has no value. */
static PDH_STATUS WINAPI formatted_array(PDH_HCOUNTER counter, DWORD format, LPDWORD bytes, LPDWORD count,
                                         PPDH_FMT_COUNTERVALUE_ITEM_W items)
{
    const struct fake_counter *c = counter;
    DWORD first = c->query->samples < 2, n = 0, need = 0;
    for (; fake_instances[n]; n++)
        need += (DWORD)(sizeof *items + (strlen(fake_instances[n]) + 1) * sizeof(WCHAR));
    if (format != (PDH_FMT_DOUBLE | PDH_FMT_NOCAP100) || n <= first)
        return (PDH_STATUS)PDH_INVALID_DATA;
    DWORD had = *bytes;
    *bytes = need;
    *count = n - first;
    if (had < need)
        return (PDH_STATUS)PDH_MORE_DATA;
    LPWSTR names = (LPWSTR)(items + n);
    for (DWORD i = first; i < n; i++) {
        items[i - first].szName = names;
        items[i - first].FmtValue.CStatus = first && i == n - 1 ? PDH_CSTATUS_INVALID_DATA : PDH_CSTATUS_NEW_DATA;
        items[i - first].FmtValue.doubleValue = value_of(c, i, (double)raw(counter, i).FirstValue + 0.25);
        names = put(names, fake_instances[i]);
    }
    return 0;
}

static PDH_STATUS WINAPI counter_info(PDH_HCOUNTER counter, BOOLEAN explain, LPDWORD bytes, PPDH_COUNTER_INFO_W info)
{
    const struct fake_counter *c = counter;
    const char *object = objects[c->object].names[0], *name = objects[c->object].counters[c->counter][0];
    DWORD had = *bytes;
    (void)explain;
    *bytes = sizeof *info + 1024;
    if (had < *bytes)
        return (PDH_STATUS)PDH_MORE_DATA;
    char path[256];
    snprintf(path, sizeof path, c->instance[0] ? MACHINE "\\%s(%s)\\%s" : MACHINE "\\%s%s\\%s", object, c->instance,
             name);
    LPWSTR at = (LPWSTR)(info + 1);
    memset(info, 0, sizeof *info);
    info->dwType = c->counter ? PERF_COUNTER_BULK_COUNT : PERF_COUNTER_LARGE_RAWCOUNT;
    info->szFullPath = at;
    at = put(at, path);
    info->CounterPath.szMachineName = at;
    at = put(at, MACHINE);
    info->CounterPath.szObjectName = at;
    at = put(at, object);
    info->CounterPath.szInstanceName = c->instance[0] ? at : NULL;
    at = put(at, c->instance);
    info->CounterPath.dwInstanceIndex = UINT32_MAX;
    info->CounterPath.szCounterName = at;
    put(at, name);
    return 0;
}

static PDH_STATUS WINAPI time_base(PDH_HCOUNTER counter, LONGLONG *base)
{
    (void)counter;
    *base = 10000000;
    return 0;
}

/* Adds one path to the list, or only counts it if there is no room. */
static void list_path(LPWSTR list, DWORD room, DWORD *units, const char *object, const char *instance,
                      const char *counter)
{
    char path[256];
    snprintf(path, sizeof path, *instance ? MACHINE "\\%s(%s)\\%s" : MACHINE "\\%s%s\\%s", object, instance, counter);
    DWORD n = (DWORD)strlen(path) + 1;
    if (*units + n < room)
        put(list + *units, path);
    *units += n;
}

/* Supports only German names, as Windows supports only its own language. */
static PDH_STATUS WINAPI expand(LPCWSTR source, LPCWSTR path, LPWSTR list, LPDWORD units, DWORD flags)
{
    struct parts p;
    DWORD room = *units, used = 0;
    (void)source;
    if (!split(path, &p))
        return (PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME;
    size_t object = find_object(p.object, 0);
    if (object == NONE)
        return (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    for (size_t i = 0; i < 2 && objects[object].counters[i][0]; i++) {
        const char *counter = objects[object].counters[i][0];
        if (!text_matches(p.counter, counter))
            continue;
        if (!strchr(p.instance, '*') || (flags & PDH_NOEXPANDINSTANCES)) {
            list_path(list, room, &used, p.object, p.instance, counter);
            continue;
        }
        for (size_t k = 0; fake_instances[k]; k++)
            if (text_matches(p.instance, fake_instances[k]))
                list_path(list, room, &used, p.object, fake_instances[k], counter);
    }
    *units = used + 1;
    if (*units > room)
        return (PDH_STATUS)PDH_MORE_DATA;
    list[used] = 0;
    return 0;
}

const struct pdh_api openpdh_api = {
    .PdhOpenQueryW = open_query,
    .PdhCloseQuery = close_query,
    .PdhAddCounterW = add_counter,
    .PdhAddEnglishCounterW = add_english,
    .PdhRemoveCounter = remove_counter,
    .PdhCollectQueryData = collect,
    .PdhGetRawCounterValue = raw_value,
    .PdhGetRawCounterArrayW = raw_array,
    .PdhGetFormattedCounterValue = formatted,
    .PdhGetFormattedCounterArrayW = formatted_array,
    .PdhGetCounterInfoW = counter_info,
    .PdhGetCounterTimeBase = time_base,
    .PdhExpandWildCardPathW = expand,
};

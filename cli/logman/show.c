/* SPDX-License-Identifier: MIT */
#include "cli/logman/line.h"
#include "cli/logman/logman.h"
#include "cli/output.h"
#include "engine/base/memory.h"
#include "engine/etw/etw_types.h"
#include "engine/pla/remote_providers.h"
#include "engine/pla/sets.h"
#include "engine/pla/trace_event_providers.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

static const char rule[] = "-------------------------------------------------------------------------------";

/* ---- values ---- */

/* Returns the value as a string, from memory_alloc; "" if the value is not available. */
static char *text_of(struct object *o, const char *property)
{
    struct value v;
    if (FAILED(object_get(o, class_property(o->class, property), &v)))
        return text_copy("");
    return v.text;
}

static uint64_t number_of(struct object *o, const char *property)
{
    struct value v;
    if (FAILED(object_get(o, class_property(o->class, property), &v)))
        return 0;
    return v.kind == PROPERTY_BOOL ? v.boolean : v.kind == PROPERTY_U64 ? v.u64 : v.u32;
}

static struct object *child_of(struct object *o, const char *property)
{
    return object_child(o, class_property(o->class, property));
}

static void line(const char *label, const char *value)
{
    printf("%-22s%s\n", label, value);
}

static void line_text(const char *label, struct object *o, const char *property, bool always)
{
    char *text = text_of(o, property);
    if (text && (*text || always))
        line(label, text);
    memory_free(text);
}

static void line_switch(const char *label, struct object *o, const char *property)
{
    line(label, number_of(o, property) ? "On" : "Off");
}

static void line_number(const char *label, uint64_t number, const char *unit)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu64 "%s", number, unit);
    line(label, text);
}

static void line_if_any(const char *label, struct object *o, const char *property, const char *unit)
{
    const uint64_t number = number_of(o, property);
    if (number)
        line_number(label, number, unit);
}

static const char *status_of(struct object *set)
{
    static const char *const names[] = {"Stopped", "Running", "Compiling", "Pending"};
    const uint64_t status = number_of(set, "Status");
    return status < sizeof names / sizeof *names ? names[status] : "Stopped";
}

const char *logman_type_of(const struct object *collector)
{
    switch (logman_adverb_of(collector)) {
    case LOGMAN_COUNTER:
        return "Counter";
    case LOGMAN_TRACE:
        return "Trace";
    case LOGMAN_CFG:
        return "Configuration";
    case LOGMAN_ALERT:
        return "Alert";
    default:
        return "API Trace";
    }
}

/* ---- the list ---- */

static HRESULT types_of(struct object *set, char **out)
{
    struct object **list;
    size_t count;
    unsigned seen = 0;
    struct text_buffer b = {0};
    HRESULT hr = collection_snapshot(child_of(set, "DataCollectors"), &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++) {
        const unsigned kind = logman_adverb_of(list[i]);
        if ((seen & kind) == 0)
            text_buffer_format(&b, "%s%s", b.length ? ", " : "", logman_type_of(list[i]));
        seen |= kind;
    }
    objects_release(list, count);
    text_buffer_add(&b, "");
    *out = text_buffer_take(&b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT show_row(struct object *set)
{
    char *name = text_of(set, "Name"), *types = NULL;
    HRESULT hr = object_complete(set);
    if (SUCCEEDED(hr))
        hr = types_of(set, &types);
    if (SUCCEEDED(hr) && !name)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        printf("%s%*s %-29s %s \n", name, shown_room(name, 39), "", types, status_of(set));
    memory_free(name);
    memory_free(types);
    return hr;
}

HRESULT logman_show_list(struct object *collection)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(collection, &list, &count);
    if (FAILED(hr))
        return hr;
    printf("\n%-39s %-29s %s\n%s\n", "Data Collector Set", "Type", "Status", rule);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = show_row(list[i]);
    objects_release(list, count);
    return hr;
}

/* ---- one set ---- */

static void show_texts(const char *label, struct object *o, const char *property)
{
    struct value v;
    printf("\n%s\n", label);
    if (FAILED(object_get(o, class_property(o->class, property), &v)))
        return;
    for (size_t i = 0; i < v.texts.count; i++)
        printf("%14s%s\n", "", v.texts.items[i]);
    value_free(&v);
}

static void show_moment(const char *label, struct object *schedule, const char *property, char *(*to_text)(double))
{
    struct value v;
    if (FAILED(object_get(schedule, class_property(schedule->class, property), &v)))
        return;
    char *text = v.variant.type == VARIANT_DATE ? to_text(v.variant.real) : NULL;
    if (text)
        line(label, text);
    memory_free(text);
    value_free(&v);
}

static void show_days(struct object *schedule)
{
    static const char *const days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
    const uint64_t bits = number_of(schedule, "Days");
    char text[80];
    size_t length = 0;
    for (size_t i = 0; i < 7; i++)
        if ((bits >> i & 1) != 0)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "", days[i]);
    line("Days:", length ? text : "Once");
}

static HRESULT show_schedules(struct object *set)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(child_of(set, "Schedules"), &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++) {
        show_moment("Start Date:", list[i], "StartDate", date_to_text);
        show_moment("Start Time:", list[i], "StartTime", time_to_text);
        show_moment("End Date:", list[i], "EndDate", date_to_text);
        show_days(list[i]);
    }
    objects_release(list, count);
    return hr;
}

/* Adds the value of the enabled items. In a flag array, values of the same group are combined; the top three of the 32
   bits are the group's number. */
static void add_number(struct text_buffer *b, struct object *map, bool hexadecimal)
{
    enum { FLAG_ARRAY = 3, GROUP_SHIFT = 29, GROUPS = 8 };
    struct variant value = {0};
    uint64_t *values = NULL, groups[GROUPS] = {0};
    size_t count = 0, shown = 0;
    int64_t number = 0;
    if (number_of(map, "ValueMapType") == FLAG_ARRAY && SUCCEEDED(value_map_enabled(map, &values, &count)))
        for (size_t i = 0; i < count; i++)
            groups[(values[i] >> GROUP_SHIFT) % GROUPS] |= values[i];
    for (size_t i = 0; i < GROUPS; i++)
        if (groups[i])
            text_buffer_format(b, "%s0x%" PRIx64, shown++ ? " | " : "", groups[i]);
    memory_free(values);
    if (shown)
        return;
    if (SUCCEEDED(value_map_get_value(map, &value)))
        (void)variant_to_i64(&value, &number);
    variant_free(&value);
    text_buffer_format(b, hexadecimal ? "0x%" PRIx64 : "%" PRIu64, (uint64_t)number);
}

/* Prints a value map, such as "0x8000 (System, ...)". */
static void line_map(const char *label, struct object *map, bool hexadecimal)
{
    struct object **list;
    struct text_buffer b = {0};
    size_t count, named = 0;
    add_number(&b, map, hexadecimal);
    if (SUCCEEDED(collection_snapshot(map, &list, &count))) {
        for (size_t i = 0; i < count; i++) {
            char *key = number_of(list[i], "Enabled") ? text_of(list[i], "Key") : NULL;
            if (key && *key)
                text_buffer_format(&b, "%s%s", named++ ? ", " : " (", key);
            memory_free(key);
        }
        objects_release(list, count);
    }
    text_buffer_add(&b, named ? ")" : "");
    char *text = text_buffer_take(&b);
    line(label, text ? text : "");
    memory_free(text);
}

static void guid_text(struct object *provider, char out[39])
{
    struct value v;
    *out = 0;
    if (SUCCEEDED(object_get(provider, class_property(provider->class, "Guid"), &v)))
        text_from_guid(&v.guid, out);
}

static void show_provider(struct object *provider)
{
    char guid[39], *name = text_of(provider, "DisplayName");
    guid_text(provider, guid);
    printf("\nProvider:\n");
    line("Name:", name && *name ? name : guid);
    line("Provider Guid:", guid);
    line_map("Level:", child_of(provider, "Level"), false);
    line_map("KeywordsAll:", child_of(provider, "KeywordsAll"), true);
    line_map("KeywordsAny:", child_of(provider, "KeywordsAny"), true);
    line_map("Properties:", child_of(provider, "Properties"), false);
    line_number("Filter Type:", number_of(provider, "FilterType"), "");
    memory_free(name);
}

static HRESULT show_trace(struct object *collector)
{
    static const char *const clocks[] = {"Performance", "Performance", "System", "Cycle"}, *const modes[] = {
                                                                                               "File", "File",
                                                                                               "Real-time",
                                                                                               "File and Real-time",
                                                                                               "Buffering"};
    const uint64_t clock = number_of(collector, "ClockType"), mode = number_of(collector, "StreamMode");
    struct object **list;
    size_t count;
    line_number("Buffer Size:", number_of(collector, "BufferSize"), "");
    line_number("Buffers Lost:", number_of(collector, "BuffersLost"), "");
    line_number("Buffers Written:", number_of(collector, "BuffersWritten"), "");
    line_number("Buffer Flush Timer:", number_of(collector, "FlushTimer"), "");
    line("Clock Type:", clocks[clock < 4 ? clock : 1]);
    line("File Mode:", modes[mode < 5 ? mode : 1]);
    HRESULT hr = collection_snapshot(child_of(collector, "TraceDataProviders"), &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++)
        show_provider(list[i]);
    objects_release(list, count);
    return hr;
}

/* Prints the output location. OutputLocation refers to the next run (MS-PLA 3.2.4.5). Therefore, if a run is active,
   the function prints the file of the active run instead. */
static void line_output(struct object *set, struct object *collector)
{
    enum { RUNNING = 1, COMPILING }; /* DataCollectorSetStatus */
    const uint64_t status = number_of(set, "Status");
    const bool its_own = status == RUNNING || status == COMPILING;
    char *latest = its_own ? text_of(collector, "LatestOutputLocation") : NULL;
    if (latest && *latest)
        line("Output Location:", latest);
    else
        line_text("Output Location:", collector, "OutputLocation", false);
    memory_free(latest);
}

static HRESULT show_collector(struct object *set, struct object *collector)
{
    char *set_name = text_of(set, "Name"), *name = text_of(collector, "Name");
    const unsigned kind = logman_adverb_of(collector);
    HRESULT hr = set_name && name ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        printf("\n%-22s%s\\%s\n", "Name:", set_name, name);
        line("Type:", logman_type_of(collector));
        if (kind == LOGMAN_COUNTER)
            line_text("Data Source:", collector, "DataSourceName", false);
        if (kind != LOGMAN_ALERT)
            line_output(set, collector);
        line_switch("Append:", collector, "LogAppend");
        line_switch("Circular:", collector, "LogCircular");
        line_switch("Overwrite:", collector, "LogOverwrite");
    }
    memory_free(set_name);
    memory_free(name);
    if (FAILED(hr))
        return hr;
    if (kind == LOGMAN_COUNTER || kind == LOGMAN_ALERT)
        line_number("Sample Interval:", number_of(collector, "SampleInterval"), " second(s)");
    switch (kind) {
    case LOGMAN_COUNTER:
        show_texts("Counters:", collector, "PerformanceCounters");
        return S_OK;
    case LOGMAN_ALERT:
        line_switch("Event Log:", collector, "EventLog");
        line_text("Task:", collector, "Task", false);
        line_text("Trigger Set:", collector, "TriggerDataCollectorSet", false);
        show_texts("Thresholds:", collector, "AlertThresholds");
        return S_OK;
    case LOGMAN_CFG:
        line_switch("Network Adapters:", collector, "QueryNetworkAdapters");
        show_texts("Registry Keys:", collector, "RegistryKeys");
        show_texts("Management Queries:", collector, "ManagementQueries");
        show_texts("Files:", collector, "Files");
        return S_OK;
    case LOGMAN_TRACE:
        return show_trace(collector);
    default:
        line_text("Program:", collector, "ExePath", true);
        line_switch("Names Only:", collector, "LogApiNamesOnly");
        line_switch("Recursive:", collector, "LogApisRecursively");
        show_texts("Modules:", collector, "IncludeModules");
        show_texts("Include APIs:", collector, "IncludeApis");
        show_texts("Exclude APIs:", collector, "ExcludeApis");
        return S_OK;
    }
}

HRESULT logman_show_set(struct object *set, bool session)
{
    struct object **list;
    size_t count;
    printf("\n");
    line_text("Name:", set, "Name", true);
    line("Status:", status_of(set));
    line_text("Root Path:", set, "RootPath", true);
    line_switch("Segment:", set, "Segment");
    line_switch("Schedules:", set, "SchedulesEnabled");
    line_if_any("Duration:", set, "Duration", " second(s)");
    line_if_any("Segment Max Duration:", set, "SegmentMaxDuration", " second(s)");
    line_if_any("Segment Max Size:", set, "SegmentMaxSize", " MB");
    if (!session)
        line_text("Run as:", set, "UserAccount", true);
    HRESULT hr = show_schedules(set);
    if (SUCCEEDED(hr))
        hr = collection_snapshot(child_of(set, "DataCollectors"), &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = show_collector(set, list[i]);
    objects_release(list, count);
    return hr;
}

HRESULT logman_show_all_sets(struct object *collection, bool session)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(collection, &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        hr = object_complete(list[i]);
        if (SUCCEEDED(hr))
            hr = logman_show_set(list[i], session);
    }
    objects_release(list, count);
    return hr;
}

/* ---- providers ---- */

static void provider_head(void)
{
    printf("\n%-40s %s\n%s\n", "Provider", "GUID", rule);
}

static void provider_row(struct object *provider)
{
    char guid[39], *name = text_of(provider, "DisplayName");
    guid_text(provider, guid);
    const char *shown = name && *name ? name : guid;
    printf("%s%*s %s\n", shown, shown_room(shown, 40), "", guid);
    memory_free(name);
}

/* Sets *server to the remote computer that -s names; NULL if -s names this computer or is not specified. */
static HRESULT other_computer(const struct logman_line *l, const char **server)
{
    const struct logman_option *o = logman_option(l, LOGMAN_SERVER);
    bool own = true;
    HRESULT hr = o ? sets_is_own_machine(o->words.items[0], &own) : S_OK;
    *server = SUCCEEDED(hr) && !own ? o->words.items[0] : NULL;
    return hr;
}

HRESULT logman_list_providers(const struct logman_line *l, struct object **out)
{
    const struct logman_option *process = logman_option(l, LOGMAN_PROCESS);
    const char *server = NULL;
    uint32_t id = 0;
    *out = NULL;
    HRESULT hr = process ? logman_u32("pid", process->words.items[0], &id) : S_OK;
    if (SUCCEEDED(hr))
        hr = other_computer(l, &server);
    if (SUCCEEDED(hr))
        hr = object_create(&trace_data_provider_collection_class, NULL, out);
    if (SUCCEEDED(hr) && server)
        hr = remote_providers_list(*out, server, process ? &id : NULL);
    else if (SUCCEEDED(hr))
        hr = process ? trace_providers_list_of_process(*out, id) : trace_providers_list(*out);
    if (FAILED(hr) && *out) {
        object_release(*out);
        *out = NULL;
    }
    return hr;
}

HRESULT logman_find_provider(const struct logman_line *l, struct object **out, struct object **processes)
{
    const char *server;
    *out = *processes = NULL;
    HRESULT hr = other_computer(l, &server);
    if (SUCCEEDED(hr) && !server) {
        hr = logman_known_provider(l->name, out);
        if (SUCCEEDED(hr))
            hr = trace_provider_processes(*out, processes);
    } else if (SUCCEEDED(hr)) {
        hr = object_create(&trace_data_provider_class, NULL, out);
        if (SUCCEEDED(hr))
            hr = remote_provider_query(*out, server, l->name, processes);
        if (hr == HRESULT_FROM_WIN32(ERROR_WMI_GUID_NOT_FOUND))
            hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "'%s': unknown provider '%s'", server, l->name);
    }
    if (FAILED(hr) && *out) {
        object_release(*out);
        *out = NULL;
    }
    return hr;
}

static HRESULT show_all(const struct logman_line *l)
{
    struct object *all, **list;
    size_t count;
    HRESULT hr = logman_list_providers(l, &all);
    if (FAILED(hr))
        return hr;
    hr = collection_snapshot(all, &list, &count);
    if (SUCCEEDED(hr)) {
        provider_head();
        for (size_t i = 0; i < count; i++)
            provider_row(list[i]);
        objects_release(list, count);
    }
    object_release(all);
    return hr;
}

static HRESULT show_map(struct object *map, const char *what, int digits)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(map, &list, &count);
    if (FAILED(hr))
        return hr;
    if (count)
        printf("\n%-20s%-21s%s\n%s\n", "Value", what, "Description", rule);
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        char text[20], *key = text_of(list[i], "Key"), *description = text_of(list[i], "Description");
        (void)logman_item_number(list[i], &number);
        snprintf(text, sizeof text, "0x%0*" PRIX64, digits, number);
        printf("%-20s%-20s %s\n", text, key ? key : "", description ? description : "");
        memory_free(key);
        memory_free(description);
    }
    objects_release(list, count);
    return hr;
}

static HRESULT show_processes(struct object *map)
{
    struct object **list;
    size_t count;
    HRESULT hr = collection_snapshot(map, &list, &count);
    if (SUCCEEDED(hr)) {
        printf("\n%-20s%s\n%s\n", "PID", "Image", rule);
        for (size_t i = 0; i < count; i++) {
            uint64_t number;
            char *image = text_of(list[i], "Key");
            (void)logman_item_number(list[i], &number);
            printf("0x%08" PRIx64 "          %s\n", number, image ? image : "");
            memory_free(image);
        }
        objects_release(list, count);
    }
    return hr;
}

HRESULT logman_show_providers(const struct logman_line *l)
{
    struct object *provider, *processes;
    if (!l->name)
        return show_all(l);
    HRESULT hr = logman_find_provider(l, &provider, &processes);
    if (FAILED(hr))
        return hr;
    provider_head();
    provider_row(provider);
    hr = show_map(child_of(provider, "KeywordsAny"), "Keyword", 16);
    if (SUCCEEDED(hr))
        hr = show_map(child_of(provider, "Level"), "Level", 2);
    if (SUCCEEDED(hr))
        hr = show_processes(processes);
    object_release(processes);
    object_release(provider);
    return hr;
}

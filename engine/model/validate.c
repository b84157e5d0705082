/* SPDX-License-Identifier: MIT */
/* The validate step: what Commit reports of a set's properties. MS-PLA 2.2.2.11; behaviour 6. */
#include "engine/model/data_collector.h"
#include "engine/model/name_pattern.h"
#include "engine/os/file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"

#include <stdio.h>
#include <string.h>

enum { FORMAT_PATTERN = 0x0001 /* plaPattern */ };

struct validation {
    struct object *issues;
    char path[96]; /* "" or "PerformanceCounterDataCollector[1]/" */
};

/* Whether the map says already that the property is ignored. */
static HRESULT is_ignored(const struct validation *v, const char *key, bool *out)
{
    struct object **items;
    size_t count;
    HRESULT hr = collection_snapshot(v->issues, &items, &count);
    *out = false;
    for (size_t i = 0; SUCCEEDED(hr) && !*out && i < count; i++) {
        const struct value_map_item *item = (const struct value_map_item *)items[i];
        *out = !strcmp(item->Key, key) && item->Value.integer == PLA_S_PROPERTY_IGNORED;
    }
    objects_release(items, count);
    return hr;
}

/* What a namespace ignores was told first; no rule for its value matters then. */
static HRESULT tell(const struct validation *v, HRESULT found, const char *property, const char *text)
{
    char key[160];
    bool skipped;
    snprintf(key, sizeof key, "%s%s", v->path, property);
    HRESULT hr = is_ignored(v, key, &skipped);
    return FAILED(hr) || skipped ? hr : issues_add(v->issues, found, key, text);
}

static HRESULT ignored(const struct validation *v, bool when, const char *property, const char *why)
{
    return when ? tell(v, PLA_S_PROPERTY_IGNORED, property, why) : S_OK;
}

static HRESULT conflict(const struct validation *v, bool when, const char *property, const char *why)
{
    return when ? tell(v, PLA_E_PROPERTY_CONFLICT, property, why) : S_OK;
}

/* A pattern that no name can be made of: reported now, an error at the start. */
static HRESULT pattern(const struct validation *v, uint32_t format, const char *text, const char *property)
{
    struct name_context context = {.local = {2005, 1, 31, 1, 31, 4, 20, 0, 0}, .serial_number = 1, .computer = "X"};
    char *out = NULL;
    if (!(format & FORMAT_PATTERN))
        return S_OK;
    HRESULT hr = name_pattern_expand(text, &context, &out);
    memory_free(out);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    struct error_kept why = error_keep(hr);
    return tell(v, hr, property, why.text);
}

/* Characters that XML cannot hold are stored as U+FFFD (DECISIONS 3). `o` is ours alone. */
static HRESULT controls(const struct validation *v, const struct object *o)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < o->class->property_count; i++) {
        const struct property *p = &o->class->properties[i];
        const void *field = (const char *)o + p->offset;
        const struct texts *list = field;
        bool bad = false;
        if ((p->kind != PROPERTY_TEXT && p->kind != PROPERTY_TEXTS) || p->xml_use != XML_STORED)
            continue;
        if (p->kind == PROPERTY_TEXT)
            bad = !xml_holds(*(char *const *)field);
        for (size_t k = 0; p->kind == PROPERTY_TEXTS && !bad && k < list->count; k++)
            bad = !xml_holds(list->items[k]);
        if (bad)
            hr = tell(v, E_INVALIDARG, p->name, "it holds characters that XML cannot, which are stored as U+FFFD");
    }
    return hr;
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        HRESULT try_hr = (call);                                                                                       \
        if (FAILED(try_hr))                                                                                            \
            return try_hr;                                                                                             \
    } while (0)

/* Properties of one that its kind has no use for. */
static HRESULT ignored_all(const struct validation *v, const char *const *names, const char *why)
{
    HRESULT hr = S_OK;
    for (; SUCCEEDED(hr) && *names; names++)
        hr = tell(v, PLA_S_PROPERTY_IGNORED, *names, why);
    return hr;
}

static HRESULT missing_pattern(const struct validation *v, const struct data_collector *c)
{
    return conflict(v, (c->FileNameFormat & FORMAT_PATTERN) && !c->FileNameFormatPattern[0], "FileNameFormatPattern",
                    "FileNameFormat asks for a pattern and there is none");
}

/* The rules of a collector that writes a log file of its own. */
static HRESULT validate_log(const struct validation *v, const struct data_collector *c, uint32_t segment_max_size,
                            bool appends)
{
    TRY(missing_pattern(v, c));
    TRY(ignored(v, !c->LogCircular && !segment_max_size, "LogCircular", "without SegmentMaxSize no file is circular"));
    TRY(conflict(v, c->LogCircular && !segment_max_size, "LogCircular", "a circular file needs SegmentMaxSize"));
    TRY(ignored(v, !appends || ((c->LogOverwrite || c->LogCircular) && !c->LogAppend), "LogAppend",
                appends ? "a file that is overwritten or circular is not appended to"
                        : "this log format does not append"));
    return conflict(v, c->LogAppend && (c->LogCircular || c->LogOverwrite), "LogAppend",
                    "a file cannot be appended to and overwritten or circular");
}

static HRESULT validate_counters(const struct validation *v, struct object *o, uint32_t segment_max_size)
{
    static const char *const unused[] = {"LogCircular", "LogOverwrite", "LogAppend", NULL};
    const struct performance_counter_collector *c = (const struct performance_counter_collector *)o;
    const struct counter_log_rules *log = counter_log_rules(o);
    if (log->is_file)
        return validate_log(v, collector_of(o), segment_max_size, log->appends);
    TRY(ignored_all(v, unused, "an SQL log is no file"));
    return conflict(v, !c->DataSourceName[0], "DataSourceName", "an SQL log needs a data source");
}

static HRESULT validate_trace(const struct validation *v, struct object *o, uint32_t segment_max_size)
{
    static const char *const unused[] = {
        "FileName", "LogAppend", "LogCircular", "LogOverwrite", "FileNameFormat", "FileNameFormatPattern", NULL};
    const struct trace_data_collector *c = (const struct trace_data_collector *)o;
    return c->StreamMode != 1 /* plaFile */ ? ignored_all(v, unused, "StreamMode does not ask for a file alone")
                                            : validate_log(v, collector_of(o), segment_max_size, true);
}

/* Its providers, which the copy that is validated does not have. */
static HRESULT validate_providers(const struct validation *v, struct object *original)
{
    struct value kernel;
    TRY(object_get(original, &original->class->properties[ITraceDataCollector_IsKernelTrace], &kernel));
    struct object *providers = ((struct trace_data_collector *)original)->TraceDataProviders;
    TRY(conflict(v, kernel.boolean && collection_count(providers) > 1, "TraceDataProviders",
                 "the kernel's trace has no other provider"));
    /* A GUID that was put after the provider was added: only one of the two would be stored. */
    HRESULT hr = trace_check_providers(original);
    return hr == PLA_E_NO_DUPLICATES ? tell(v, hr, "TraceDataProviders", "two providers have the same GUID") : hr;
}

static HRESULT validate_configuration(const struct validation *v, struct object *o, uint32_t segment_max_size)
{
    static const char *const unused[] = {"LogCircular", "LogAppend", NULL};
    (void)segment_max_size;
    TRY(missing_pattern(v, collector_of(o)));
    return ignored_all(v, unused, "a configuration is written once");
}

static HRESULT validate_alert(const struct validation *v, struct object *o, uint32_t segment_max_size)
{
    static const char *const unused[] = {
        "FileName", "FileNameFormat", "FileNameFormatPattern", "LogAppend", "LogCircular", "LogOverwrite", NULL};
    const struct alert_collector *c = (const struct alert_collector *)o;
    (void)segment_max_size;
    TRY(ignored_all(v, unused, "an alert writes no file"));
    return ignored(v, !c->Task[0], "TaskArguments", "there is no Task");
}

/* "C:\..." on Windows, "/..." too where the host has such paths. */
static bool is_full_path(const char *path)
{
    return (path[0] && path[1] == ':' && (path[2] == '\\' || path[2] == '/')) || path[0] == '/';
}

static HRESULT validate_exe(const struct validation *v, const char *path)
{
    char *expanded = host_expand_environment(path);
    HRESULT hr = expanded ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !expanded[0])
        hr = conflict(v, true, "ExePath", "there is no program");
    else if (SUCCEEDED(hr) && (!strncmp(expanded, "\\\\", 2) || !strncmp(expanded, "//", 2)))
        hr = tell(v, PLA_E_NETWORK_EXE_NOT_VALID, "ExePath", "the program is on another machine");
    else if (SUCCEEDED(hr) && !is_full_path(expanded))
        hr = tell(v, PLA_E_EXE_FULL_PATH_REQUIRED, "ExePath", "the program is not named with its full path");
    else if (SUCCEEDED(hr) && !file_exists(expanded))
        hr = tell(v, PLA_E_EXE_PATH_NOT_VALID, "ExePath", "there is no such program");
    memory_free(expanded);
    return hr;
}

static HRESULT validate_api_tracing(const struct validation *v, struct object *o, uint32_t segment_max_size)
{
    /* FileName is ignored too; Windows does not report it (MS-PLA note 3). */
    static const char *const unused[] = {"FileNameFormat", "FileNameFormatPattern", "LogAppend",
                                         "LogOverwrite",   "LogCircular",           NULL};
    const struct api_tracing_collector *c = (const struct api_tracing_collector *)o;
    (void)segment_max_size;
    const char *both;
    TRY(texts_common(&c->IncludeApis, &c->ExcludeApis, &both));
    if (both)
        return error_set(PLA_E_CONFLICT_INCL_EXCL_API, "IncludeApis and ExcludeApis: '%s' is in both", both);
    TRY(ignored_all(v, unused, "the log is LogFilePath"));
    return validate_exe(v, c->ExePath);
}

static const struct {
    const struct class *class;
    HRESULT (*validate)(const struct validation *v, struct object *copy, uint32_t segment_max_size);
    HRESULT (*original)(const struct validation *v, struct object *original); /* what a copy lacks; may be NULL */
} rules[] = {
    {&performance_counter_collector_class, validate_counters, NULL},
    {&trace_data_collector_class, validate_trace, validate_providers},
    {&configuration_collector_class, validate_configuration, NULL},
    {&alert_collector_class, validate_alert, NULL},
    {&api_tracing_collector_class, validate_api_tracing, NULL},
};

static HRESULT validate_collector(const struct validation *v, struct object *o, uint32_t segment_max_size)
{
    struct object *copy;
    TRY(object_copy(o, &copy)); /* one consistent state, read without the lock */
    HRESULT hr = pattern(v, collector_of(copy)->FileNameFormat, collector_of(copy)->FileNameFormatPattern,
                         "FileNameFormatPattern");
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].class != o->class)
            continue;
        hr = rules[i].validate(v, copy, segment_max_size);
        if (SUCCEEDED(hr) && rules[i].original)
            hr = rules[i].original(v, o);
    }
    if (SUCCEEDED(hr))
        hr = controls(v, copy);
    object_release(copy);
    return hr;
}

static HRESULT validate_set(const struct validation *v, const struct data_collector_set *set)
{
    TRY(ignored(v, !set->Task[0], "TaskArguments", "there is no Task"));
    TRY(ignored(v, !(set->SubdirectoryFormat & FORMAT_PATTERN), "SubdirectoryFormatPattern",
                "SubdirectoryFormat does not ask for a pattern"));
    TRY(pattern(v, set->SubdirectoryFormat, set->SubdirectoryFormatPattern, "SubdirectoryFormatPattern"));
    TRY(ignored(v, set->has_credentials, "UserAccount", "the set runs under the server's account"));
    return S_OK;
}

HRESULT set_validate(struct object *o, struct object *issues)
{
    struct validation v = {.issues = issues};
    struct object *copy, **list;
    size_t count;
    TRY(object_copy(o, &copy));
    struct data_collector_set *set = (struct data_collector_set *)copy;
    uint32_t segment_max_size = set->SegmentMaxSize;
    HRESULT hr = validate_set(&v, set);
    if (SUCCEEDED(hr))
        hr = controls(&v, copy);
    object_release(copy);
    TRY(hr);
    hr = collection_snapshot(((struct data_collector_set *)o)->DataCollectors, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        /* The index counts from one within the collector's kind (behaviour 6). */
        unsigned n = 1;
        for (size_t k = 0; k < i; k++)
            n += list[k]->class == list[i]->class;
        snprintf(v.path, sizeof v.path, "%s[%u]/", list[i]->class->name, n);
        hr = validate_collector(&v, list[i], segment_max_size);
    }
    objects_release(list, count);
    return hr;
}

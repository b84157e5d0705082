/* SPDX-License-Identifier: MIT */
/* The validate step: what Commit reports of a set's properties. MS-PLA 2.2.2.11; pla-behaviour 6. */
#include "engine/model/model.h"

#include "engine/model/name_pattern.h"
#include "engine/os/memory.h"

#include <stdio.h>

enum { FORMAT_PATTERN = 0x0001 /* plaPattern */ };

struct validation {
    struct object *issues;
    char path[96]; /* "" or "PerformanceCounterDataCollector[1]/" */
};

static HRESULT tell(const struct validation *v, HRESULT found, const char *property, const char *text)
{
    char key[160];
    snprintf(key, sizeof key, "%s%s", v->path, property);
    return issues_add(v->issues, found, key, text);
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
    char *why = text_copy(error_text(hr));
    hr = why ? tell(v, hr, property, why) : E_OUTOFMEMORY;
    memory_free(why);
    return hr;
}

/* Control characters that XML cannot hold are stored as U+FFFD (DECISIONS 3). */
static HRESULT controls(const struct validation *v, struct object *o)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < o->class->property_count; i++) {
        const struct property *p = &o->class->properties[i];
        struct value value;
        bool bad = false;
        if (p->kind != PROPERTY_TEXT || p->xml_use != XML_STORED)
            continue;
        hr = object_get_field(o, p, &value);
        if (FAILED(hr))
            break;
        for (const char *c = value.text; *c && !bad; c++)
            bad = (unsigned char)*c < ' ' && *c != '\t' && *c != '\r' && *c != '\n';
        value_free(&value);
        if (bad)
            hr = tell(v, E_INVALIDARG, p->name, "it holds control characters, which are stored as U+FFFD");
    }
    return hr;
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        HRESULT try_hr = (call);                                                                                       \
        if (FAILED(try_hr))                                                                                            \
            return try_hr;                                                                                             \
    } while (0)

static HRESULT validate_collector(const struct validation *v, struct object *o, uint32_t segment_max_size)
{
    struct object *copy;
    TRY(object_copy(o, &copy)); /* one consistent state, read without the lock */
    struct data_collector *c = collector_of(copy);
    bool counters = o->class == &performance_counter_collector_class;
    struct performance_counter_collector *pc = (struct performance_counter_collector *)copy;
    uint32_t format = counters ? pc->LogFileFormat : 3;
    bool sql = format == 2, text = format < 2;
    HRESULT hr = pattern(v, c->FileNameFormat, c->FileNameFormatPattern, "FileNameFormatPattern");
    if (SUCCEEDED(hr))
        hr = conflict(v, (c->FileNameFormat & FORMAT_PATTERN) && !c->FileNameFormatPattern[0], "FileNameFormatPattern",
                      "FileNameFormat asks for a pattern and there is none");
    if (SUCCEEDED(hr))
        hr = ignored(v, sql || (!c->LogCircular && !segment_max_size), "LogCircular",
                     sql ? "an SQL log is not circular" : "without SegmentMaxSize no file is circular");
    if (SUCCEEDED(hr))
        hr = conflict(v, c->LogCircular && !segment_max_size, "LogCircular", "a circular file needs SegmentMaxSize");
    if (SUCCEEDED(hr))
        hr = ignored(v, sql, "LogOverwrite", "an SQL log is not overwritten");
    if (SUCCEEDED(hr))
        hr = ignored(v, sql || text || ((c->LogOverwrite || c->LogCircular) && !c->LogAppend), "LogAppend",
                     sql || text ? "this log format does not append"
                                 : "a file that is overwritten or circular is not appended to");
    if (SUCCEEDED(hr))
        hr = conflict(v, c->LogAppend && (c->LogCircular || c->LogOverwrite), "LogAppend",
                      "a file cannot be appended to and overwritten or circular");
    if (SUCCEEDED(hr) && counters)
        hr = conflict(v, sql && !pc->DataSourceName[0], "DataSourceName", "an SQL log needs a data source");
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
        /* The index counts from one within the collector's kind (pla-behaviour 6). */
        unsigned n = 1;
        for (size_t k = 0; k < i; k++)
            n += list[k]->class == list[i]->class;
        snprintf(v.path, sizeof v.path, "%s[%u]/", list[i]->class->name, n);
        hr = validate_collector(&v, list[i], segment_max_size);
    }
    objects_release(list, count);
    return hr;
}

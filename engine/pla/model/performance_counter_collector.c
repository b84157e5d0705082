/* SPDX-License-Identifier: MIT */
/* The performance counter collector: what its rows leave to code. MS-PLA 3.2.4.6. */
#include "engine/base/memory.h"
#include "engine/logs/sql_source.h"
#include "engine/pla/model/data_collector.h"

#include <stdio.h>

/* SQL:<data source>!<log set>, or nothing (MS-PLA 3.2.4.6.2). */
static HRESULT counters_check_source(struct object *o, const struct property *p, const struct value *in)
{
    struct sql_source source;
    (void)o;
    HRESULT hr = in->text[0] ? sql_source_parse(in->text, &source) : S_FALSE;
    if (hr == S_OK)
        sql_source_free(&source);
    return FAILED(hr) ? error_prefix(hr, "%s", p->name) : S_OK;
}

/* Without what is secret in it, which nobody reads back (MS-PLA has it nowhere else to be put). */
static HRESULT counters_get_source(struct object *o, const struct property *p, struct value *out)
{
    struct sql_source source;
    HRESULT hr = object_get_field(o, p, out);
    if (FAILED(hr) || !out->text[0])
        return hr;
    hr = sql_source_parse(out->text, &source);
    if (hr == E_OUTOFMEMORY) { /* it may hold a password */
        value_free(out);
        return hr;
    }
    if (FAILED(hr)) {
        error_clear();
        return S_OK;
    }
    if (*source.secret) {
        char *whole = out->text;
        out->text = source.open;
        source.open = NULL;
        memory_free_secret(whole);
    }
    sql_source_free(&source);
    return S_OK;
}

static HRESULT counters_check_paths(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    HRESULT hr = check_no_empty_item(p, &in->texts);
    return FAILED(hr) ? hr : check_no_duplicates(p, &in->texts);
}

static void counters_paths_changed(struct object *o)
{
    texts_free(&((struct performance_counter_collector *)o)->CounterDisplayNames);
}

static HRESULT counters_get_display_names(struct object *o, const struct property *p, struct value *out)
{
    (void)p;
    struct performance_counter_collector *c = (struct performance_counter_collector *)o;
    return collector_get_display_texts(o, &c->CounterDisplayNames, &c->PerformanceCounters, out);
}

#define CLASS     performance_counter_collector
#define INTERFACE IPerformanceCounterDataCollector
#define ROWS      "engine/pla/performance_counter_collector.def"
#include "engine/pla/model/class_rows.inc"

/* What the log's format asks of the collector's rows, by FileFormat. */
static const struct log_rules {
    const char *extension;
    bool is_file, appends;
} log_rules[] = {
#define LOG_FORMAT(format, writer, name, word, extension, separator, type, is_file, appends, ...)                      \
    {extension, is_file, appends},
#include "engine/logs/log_formats.def"
#undef LOG_FORMAT
};

static const struct log_rules *rules_of(const struct object *o)
{
    return &log_rules[((const struct performance_counter_collector *)o)->LogFileFormat];
}

static const char *extension_of(const struct object *o)
{
    return rules_of(o)->extension;
}

static HRESULT performance_counter_validate(const struct validation *v, struct object *o, const struct object *copy)
{
    static const char *const unused[] = {"LogCircular", "LogOverwrite", "LogAppend", NULL};
    const struct performance_counter_collector *c = (const struct performance_counter_collector *)copy;
    size_t names = c->CounterDisplayNames.count, counters = c->PerformanceCounters.count;
    char why[96];
    (void)o;
    snprintf(why, sizeof why, "%u names for %u counters: none is shown", (unsigned)names, (unsigned)counters);
    HRESULT hr =
        names && names != counters ? validation_tell(v, PLA_S_PROPERTY_IGNORED, "CounterDisplayNames", why) : S_OK;
    if (SUCCEEDED(hr) && rules_of(copy)->is_file)
        return collector_validate_log(v, (const struct data_collector *)c, rules_of(copy)->appends);
    if (SUCCEEDED(hr))
        hr = validation_unused(v, unused, "an SQL log is no file");
    return FAILED(hr) || c->DataSourceName[0]
               ? hr
               : validation_tell(v, PLA_E_PROPERTY_CONFLICT, "DataSourceName", "an SQL log needs a data source");
}

const struct class performance_counter_collector_class = {
    .name = "PerformanceCounterDataCollector",
    CLASS_ROWS(performance_counter_collector, IPerformanceCounterDataCollector),
    .created = collector_created,
    .read_live = collector_read_live,
    .extension_of = extension_of,
    .validate = performance_counter_validate,
};

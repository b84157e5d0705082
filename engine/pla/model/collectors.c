/* SPDX-License-Identifier: MIT */
/* The classes of counter, alert, configuration and API tracing collectors: the hooks of their rows, and their
   validation (MS-PLA 3.2.4.6 to 3.2.4.8, 3.2.4.10). Trace collectors are in trace_data_collector.c. */
#include "engine/base/file.h"
#include "engine/base/folder.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/sql_log.h"
#include "engine/pla/model.h"
#include "engine/pla/model/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

/* Checks DataSourceName: SQL:<data source>!<log set>, or empty (MS-PLA 3.2.4.6.2). */
static HRESULT counters_check_source(struct object *o, const struct property *p, const struct value *in)
{
    struct sql_source source;
    (void)o;
    HRESULT hr = in->text[0] ? sql_source_parse(in->text, &source) : S_FALSE;
    if (hr == S_OK)
        sql_source_free(&source);
    return FAILED(hr) ? error_prefix(hr, "%s", p->name) : S_OK;
}

/* Returns the data source without its secrets, because clients must not read them. MS-PLA has no separate property for
   secrets. */
static HRESULT counters_get_source(struct object *o, const struct property *p, struct value *out)
{
    struct sql_source source;
    HRESULT hr = object_get_field(o, p, out);
    if (FAILED(hr) || !out->text[0])
        return hr;
    hr = sql_source_parse(out->text, &source);
    if (hr == E_OUTOFMEMORY) { /* the field may contain a password */
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

/* For validation: properties of the log formats, indexed by FileFormat. */
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
    snprintf(why, sizeof why, "%u names for %u counters; no name is used", (unsigned)names, (unsigned)counters);
    HRESULT hr =
        names && names != counters ? validation_report(v, PLA_S_PROPERTY_IGNORED, "CounterDisplayNames", why) : S_OK;
    if (SUCCEEDED(hr) && rules_of(copy)->is_file)
        return collector_validate_log(v, (const struct data_collector *)c, rules_of(copy)->appends);
    if (SUCCEEDED(hr))
        hr = validation_unused(v, unused, "an SQL log is not a file");
    return FAILED(hr) || c->DataSourceName[0]
               ? hr
               : validation_report(v, PLA_E_PROPERTY_CONFLICT, "DataSourceName", "an SQL log requires a data source");
}

const struct class performance_counter_collector_class = {
    .name = "PerformanceCounterDataCollector",
    CLASS_ROWS(performance_counter_collector, IPerformanceCounterDataCollector),
    .created = collector_created,
    .read_live = collector_read_live,
    .extension_of = extension_of,
    .validate = performance_counter_validate,
};

/* ---- alerts and their thresholds: MS-PLA 3.2.4.8 ---- */

/* Parses a decimal number. strtod alone would also accept hexadecimal numbers, "inf" and "nan". */
static bool parse_number(const char *text, double *out)
{
    char *end;
    text += strspn(text, " \t");
    if (!text[0] || strspn(text, "0123456789+-.eE \t") != strlen(text))
        return false;
    *out = strtod(text, &end);
    return end > text && !end[strspn(end, " \t")] && isfinite(*out);
}

HRESULT alert_threshold_parse(const char *text, struct alert_threshold *out)
{
    memset(out, 0, sizeof *out);
    const char *less = strrchr(text, '<'), *greater = strrchr(text, '>');
    const char *at = !less || (greater && greater > less) ? greater : less;
    if (!at || at == text || text[0] != '\\' || !parse_number(at + 1, &out->value))
        return error_set(E_INVALIDARG,
                         "invalid threshold '%.200s': expected <counter path> followed by '>' or '<' and a number",
                         text);
    size_t length = (size_t)(at - text);
    while (length && strchr(" \t", text[length - 1]))
        length--;
    out->operator_ = *at;
    out->path = text_copy_n(text, length);
    return out->path ? S_OK : E_OUTOFMEMORY;
}

/* Adds the canonical form of a threshold, so that equal thresholds compare equal regardless of spaces and number
   format. */
static HRESULT add_threshold(const char *text, struct texts *out)
{
    struct alert_threshold threshold;
    HRESULT hr = alert_threshold_parse(text, &threshold);
    if (FAILED(hr))
        return hr;
    /* Adding 0.0 turns -0 into 0. */
    char *same = text_format("%s%c%.17g", threshold.path, threshold.operator_, threshold.value + 0.0);
    memory_free(threshold.path);
    return same ? texts_add_owned(out, same) : E_OUTOFMEMORY;
}

static HRESULT alert_check_thresholds(struct object *o, const struct property *p, const struct value *in)
{
    struct texts all = {0};
    HRESULT hr = S_OK;
    (void)o;
    for (size_t i = 0; SUCCEEDED(hr) && i < in->texts.count; i++) {
        hr = add_threshold(in->texts.items[i], &all);
        if (hr == E_INVALIDARG)
            hr = error_prefix(hr, "%s", p->name);
    }
    if (SUCCEEDED(hr))
        hr = check_no_duplicates(p, &all);
    texts_free(&all);
    return hr;
}

static void alert_thresholds_changed(struct object *o)
{
    texts_free(&((struct alert_collector *)o)->AlertDisplayNames);
}

static HRESULT alert_get_display_names(struct object *o, const struct property *p, struct value *out)
{
    (void)p;
    struct alert_collector *c = (struct alert_collector *)o;
    return collector_get_display_texts(o, &c->AlertDisplayNames, &c->AlertThresholds, out);
}

#define CLASS     alert_collector
#define INTERFACE IAlertDataCollector
#define ROWS      "engine/pla/alert_collector.def"
#include "engine/pla/model/class_rows.inc"

static HRESULT alert_validate(const struct validation *v, struct object *o, const struct object *copy)
{
    const struct alert_collector *c = (const struct alert_collector *)copy;
    static const char no_file[] =
        "on Windows an alert has no file; in OpenPLA the property applies only to the alert log";
    const struct finding findings[] = {
        {true, PLA_S_PROPERTY_IGNORED, "FileName", no_file},
        {true, PLA_S_PROPERTY_IGNORED, "FileNameFormat", no_file},
        {true, PLA_S_PROPERTY_IGNORED, "FileNameFormatPattern", no_file},
        {true, PLA_S_PROPERTY_IGNORED, "LogAppend", no_file},
        {true, PLA_S_PROPERTY_IGNORED, "LogCircular", "a full alert log always starts over"},
        {true, PLA_S_PROPERTY_IGNORED, "LogOverwrite", no_file},
        {!c->AlertThresholds.count, PLA_E_PROPERTY_CONFLICT, "AlertThresholds", "no threshold is set"},
        {!c->Task[0], PLA_S_PROPERTY_IGNORED, "TaskArguments", "no Task is set"},
    };
    (void)o;
    return validation_report_all(v, findings, sizeof findings / sizeof findings[0]);
}

const struct class alert_collector_class = {
    .name = "AlertDataCollector",
    CLASS_ROWS(alert_collector, IAlertDataCollector),
    .created = collector_created,
    .read_live = collector_read_live,
    .extension = ".csv", /* extension of the alert log */
    .validate = alert_validate,
};

/* ---- configurations: MS-PLA 3.2.4.7 ---- */

static HRESULT configuration_check_list(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    return check_no_empty_item(p, &in->texts);
}

static HRESULT configuration_check_keys(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    HRESULT hr = check_no_empty_item(p, &in->texts);
    return FAILED(hr) ? hr : check_no_duplicates(p, &in->texts);
}

#define CLASS     configuration_collector
#define INTERFACE IConfigurationDataCollector
#define ROWS      "engine/pla/configuration_collector.def"
#include "engine/pla/model/class_rows.inc"

static HRESULT configuration_validate(const struct validation *v, struct object *o, const struct object *copy)
{
    static const char *const unused[] = {"LogCircular", "LogAppend", NULL};
    (void)o;
    HRESULT hr = collector_validate_name(v, (const struct data_collector *)copy);
    return FAILED(hr) ? hr : validation_unused(v, unused, "a configuration is written only once");
}

const struct class configuration_collector_class = {
    .name = "ConfigurationDataCollector",
    CLASS_ROWS(configuration_collector, IConfigurationDataCollector),
    .created = collector_created,
    .read_live = collector_read_live,
    .extension = ".xml",
    .validate = configuration_validate,
};

/* ---- API traces: MS-PLA 3.2.4.10 ---- */

#define CLASS     api_tracing_collector
#define INTERFACE IApiTracingDataCollector
#define ROWS      "engine/pla/api_tracing_collector.def"
#include "engine/pla/model/class_rows.inc"

/* Returns whether the path is absolute: "C:\...", or "/..." on host OSes with such paths. */
static bool is_full_path(const char *path)
{
    return (path[0] && path[1] == ':' && (path[2] == '\\' || path[2] == '/')) || path[0] == '/';
}

HRESULT api_tracing_program(const struct object *o, char **out)
{
    const struct api_tracing_collector *c = (const struct api_tracing_collector *)o;
    HRESULT hr = S_OK;
    char *path = os_expand_environment(c->ExePath);
    *out = NULL;
    if (!path)
        return E_OUTOFMEMORY;
    if (!path[0])
        hr = error_set(PLA_E_PROPERTY_CONFLICT, "no program is set");
    else if (!strncmp(path, "\\\\", 2) || !strncmp(path, "//", 2) || (path[1] == ':' && drive_is_remote(path[0])))
        hr = error_set(PLA_E_NETWORK_EXE_NOT_VALID, "'%s' is on another computer", path);
    else if (!is_full_path(path))
        hr = error_set(PLA_E_EXE_FULL_PATH_REQUIRED, "'%s' is not a full path", path);
    else if (folder_exists(path))
        hr = error_set(PLA_E_EXE_PATH_NOT_VALID, "'%s' is a folder", path);
    else if (!file_exists(path))
        hr = error_set(PLA_E_EXE_PATH_NOT_VALID, "'%s' does not exist", path);
    if (SUCCEEDED(hr))
        *out = path;
    else
        memory_free(path);
    return hr;
}

/* Converts the names to their canonical form: "KERNEL32!Sleep" becomes "kernel32.dll!sleep". */
static HRESULT canonical_apis(const struct texts *apis, struct texts *out)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < apis->count; i++) {
        char *name = path_api_name(apis->items[i]);
        hr = name ? texts_add_owned(out, name) : E_OUTOFMEMORY;
    }
    return hr;
}

static HRESULT check_conflict(const struct api_tracing_collector *c)
{
    struct texts include = {0}, exclude = {0};
    const char *both = NULL;
    HRESULT hr = canonical_apis(&c->IncludeApis, &include);
    if (SUCCEEDED(hr))
        hr = canonical_apis(&c->ExcludeApis, &exclude);
    if (SUCCEEDED(hr))
        hr = texts_common(&include, &exclude, &both);
    for (size_t i = 0; SUCCEEDED(hr) && both && i < include.count; i++)
        if (include.items[i] == both)
            hr = error_set(PLA_E_CONFLICT_INCL_EXCL_API, "IncludeApis and ExcludeApis: '%s' is in both",
                           c->IncludeApis.items[i]);
    texts_free(&include);
    texts_free(&exclude);
    return hr;
}

static HRESULT api_tracing_validate(const struct validation *v, struct object *o, const struct object *copy)
{
    static const char name[] = "the log is named by LogFilePath";
    /* FileName is ignored too, but not reported (MS-PLA note 3). LogCircular is reported as ignored, as MS-PLA
       requires, but it has an effect, because "logman create api -f bincirc -max" relies on it. */
    static const struct finding findings[] = {
        {true, PLA_S_PROPERTY_IGNORED, "FileNameFormat", name},
        {true, PLA_S_PROPERTY_IGNORED, "FileNameFormatPattern", name},
        {true, PLA_S_PROPERTY_IGNORED, "LogAppend", "an API trace cannot be appended to"},
        {true, PLA_S_PROPERTY_IGNORED, "LogOverwrite", "an existing log is kept, and the new log's name gets a number"},
        {true, PLA_S_PROPERTY_IGNORED, "LogCircular",
         "Windows ignores this property; OpenPLA makes the log circular if SegmentMaxSize is set"},
    };
    char *program;
    (void)o;
    HRESULT hr = check_conflict((const struct api_tracing_collector *)copy);
    if (SUCCEEDED(hr))
        hr = validation_report_all(v, findings, sizeof findings / sizeof findings[0]);
    if (FAILED(hr))
        return hr;
    hr = api_tracing_program(copy, &program);
    memory_free(program);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
        return hr;
    char *why = text_copy(error_text(hr));
    hr = why ? validation_report(v, hr, "ExePath", why) : E_OUTOFMEMORY;
    memory_free(why);
    return hr;
}

const struct class api_tracing_collector_class = {
    .name = "ApiTracingDataCollector",
    CLASS_ROWS(api_tracing_collector, IApiTracingDataCollector),
    .created = collector_created,
    .read_live = collector_read_live,
    .extension = ".etl",
    .validate = api_tracing_validate,
};

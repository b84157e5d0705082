/* SPDX-License-Identifier: MIT */
/* The alert data collector and its thresholds. MS-PLA 3.2.4.8. */
#include "engine/base/memory.h"
#include "engine/pla/alert_threshold.h"
#include "engine/pla/model/data_collector.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

/* A decimal number and nothing else: strtod alone would take hexadecimal, "inf" and "nan". */
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
        return error_set(E_INVALIDARG, "'%.200s' is no threshold: counter path, > or <, number", text);
    size_t length = (size_t)(at - text);
    while (length && strchr(" \t", text[length - 1]))
        length--;
    out->operator_ = *at;
    out->path = text_copy_n(text, length);
    return out->path ? S_OK : E_OUTOFMEMORY;
}

/* What two thresholds have in common that are one, however they are written: blanks, 5 and 5.0. */
static HRESULT add_threshold(const char *text, struct texts *out)
{
    struct alert_threshold threshold;
    HRESULT hr = alert_threshold_parse(text, &threshold);
    if (FAILED(hr))
        return hr;
    char *same = text_format("%s%c%.17g", threshold.path, threshold.operator_, threshold.value + 0.0); /* -0 is 0 */
    memory_free(threshold.path);
    return same ? texts_give(out, same) : E_OUTOFMEMORY;
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
    static const char no_file[] = "an alert has no file on Windows; here it is about the log of alerts alone";
    const struct finding findings[] = {
        {true, PLA_S_PROPERTY_IGNORED, "FileName", no_file},
        {true, PLA_S_PROPERTY_IGNORED, "FileNameFormat", no_file},
        {true, PLA_S_PROPERTY_IGNORED, "FileNameFormatPattern", no_file},
        {true, PLA_S_PROPERTY_IGNORED, "LogAppend", no_file},
        {true, PLA_S_PROPERTY_IGNORED, "LogCircular", "a log of alerts that is full begins anew by itself"},
        {true, PLA_S_PROPERTY_IGNORED, "LogOverwrite", no_file},
        {!c->AlertThresholds.count, PLA_E_PROPERTY_CONFLICT, "AlertThresholds", "there is no threshold to watch"},
        {!c->Task[0], PLA_S_PROPERTY_IGNORED, "TaskArguments", "there is no Task"},
    };
    (void)o;
    return validation_tell_all(v, findings, sizeof findings / sizeof findings[0]);
}

const struct class alert_collector_class = {
    .name = "AlertDataCollector",
    CLASS_ROWS(alert_collector, IAlertDataCollector),
    .created = collector_created,
    .read_live = collector_read_live,
    .extension = ".csv", /* its log of alerts */
    .validate = alert_validate,
};

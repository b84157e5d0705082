/* SPDX-License-Identifier: MIT */
/* The alert data collector and its thresholds. MS-PLA 3.2.4.8. */
#include "engine/model/alert_threshold.h"
#include "engine/model/data_collector.h"
#include "engine/os/memory.h"

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

static HRESULT alert_check_thresholds(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    for (size_t i = 0; i < in->texts.count; i++) {
        struct alert_threshold threshold;
        HRESULT hr = alert_threshold_parse(in->texts.items[i], &threshold);
        memory_free(threshold.path);
        if (FAILED(hr))
            return error_prefix(hr, "%s", p->name);
    }
    return S_OK;
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
#define ROWS      "engine/model/alert_collector.def"
#include "engine/model/class_rows.inc"

static HRESULT validate(const struct validation *v, struct object *o, const struct object *copy)
{
    static const char *const unused[] = {
        "FileName", "FileNameFormat", "FileNameFormatPattern", "LogAppend", "LogCircular", "LogOverwrite", NULL};
    (void)o;
    HRESULT hr = validation_unused(v, unused, "an alert writes no file");
    return FAILED(hr) || ((const struct alert_collector *)copy)->Task[0]
               ? hr
               : validation_tell(v, PLA_S_PROPERTY_IGNORED, "TaskArguments", "there is no Task");
}

const struct class alert_collector_class = {
    .name = "AlertDataCollector",
    CLASS_ROWS(alert_collector, IAlertDataCollector),
    .created = collector_created,
    .read_live = collector_read_live,
    .extension = "", /* an alert writes no file */
    .validate = validate,
};

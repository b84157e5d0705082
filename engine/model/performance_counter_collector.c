/* SPDX-License-Identifier: MIT */
/* The performance counter collector: what its rows leave to code. MS-PLA 3.2.4.6. */
#include "engine/model/data_collector.h"
#include "engine/os/sql_source.h"

#include <string.h>

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

static const struct property properties[] = {
#define PROPERTY_STRUCT performance_counter_collector
#define PROPERTY        PROPERTY_ROW
#include "engine/model/performance_counter_collector.def"
#undef PROPERTY
#undef PROPERTY_STRUCT
};

/* Of FileFormat. */
static const struct counter_log_rules log_rules[] = {
#define LOG_FORMAT(format, writer, name, word, extension, separator, type, is_file, appends, ...)                      \
    {extension, is_file, appends},
#include "engine/log/log_formats.def"
#undef LOG_FORMAT
};

const struct counter_log_rules *counter_log_rules(const struct object *o)
{
    return &log_rules[((const struct performance_counter_collector *)o)->LogFileFormat];
}

static const char *extension(const struct object *o)
{
    return counter_log_rules(o)->extension;
}

const struct class performance_counter_collector_class = {
    .name = "PerformanceCounterDataCollector",
    .size = sizeof(struct performance_counter_collector),
    .properties = properties,
    .property_count = IPerformanceCounterDataCollector_count,
    .created = collector_created,
    .read_live = collector_read_live,
    .extension = extension,
};

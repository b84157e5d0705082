/* SPDX-License-Identifier: MIT */
/* Writes InfluxDB's line protocol.

   A backslash escapes a comma, a space and, except in measurements, an equals sign. A backslash itself cannot be
   escaped. Before one of these characters, or at the end of a name, a backslash would begin an escape. The writer
   replaces a backslash that would begin an escape with a slash ("C:\" becomes "C:/"). Line ends and other control
   characters cannot be written and become spaces. */
#include "engine/logs/line_protocol.h"

#include "engine/base/memory.h"
#include "engine/logs/number_text.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

/* ---- names ---- */

/* Adds a tag's name or value, or a field's name, with escapes. */
static void line_add_escaped(struct text_buffer *b, const char *text)
{
    for (; *text; text++) {
        const bool is_control = (unsigned char)*text < ' ' || *text == 0x7F;
        const char c = is_control ? ' ' : *text;
        if (c == '\\') {
            const char next = text[1];
            text_buffer_add_n(b, !next || (unsigned char)next <= ' ' || strchr(",=\\\x7F", next) ? "/" : "\\", 1);
            continue;
        }
        if (c == ',' || c == '=' || c == ' ')
            text_buffer_add_n(b, "\\", 1);
        text_buffer_add_n(b, &c, 1);
    }
}

/* Returns the measurement of the object in telegraf's usual configuration. Telegraf's dashboards expect this name. */
static const char *line_measurement(const char *object)
{
    static const char *const rows[][2] = {
        {"Processor", "win_cpu"},       {"LogicalDisk", "win_disk"},
        {"PhysicalDisk", "win_diskio"}, {"Network Interface", "win_net"},
        {"System", "win_system"},       {"Memory", "win_mem"},
        {"Paging File", "win_swap"},    {"Process", "win_proc"},
        {"Web Service", "win_websvc"},  {"HTTP Service Request Queues", "win_http_queues"},
        {"ASP.NET", "win_aspnet"},      {"ASP.NET Applications", "win_aspnet_app"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (text_equal_nocase(rows[i][0], object))
            return rows[i][1];
    return "win_perf_counters";
}

void line_add_tag(struct text_buffer *b, const char *name, const char *value)
{
    if (!*value)
        return;
    text_buffer_add_n(b, ",", 1);
    line_add_escaped(b, name);
    text_buffer_add_n(b, "=", 1);
    line_add_escaped(b, value);
}

/* Adds the measurement and the tags. The tags are in the order of their names, because InfluxDB stores this order
   fastest. */
void line_add_series(struct text_buffer *b, const struct log_counter *counter, const char *instance)
{
    const char *object = log_counter_english_object(counter);
    const char *machine = counter->machine ? counter->machine + strspn(counter->machine, "\\") : "";
    struct text_buffer own = {0};
    object = object ? object : "";
    text_buffer_add(b, line_measurement(object));
    line_add_tag(b, "host", machine);
    if (!instance && counter->instance) {
        text_buffer_add(&own, counter->instance);
        if (counter->index > 0)
            text_buffer_format(&own, "#%u", (unsigned)counter->index);
        b->failed |= own.failed;
        instance = own.text;
    }
    if (instance)
        line_add_tag(b, "instance", instance);
    line_add_tag(b, "objectname", object);
    if (instance == own.text && counter->parent)
        line_add_tag(b, "parent", counter->parent);
    text_buffer_free(&own);
}

void line_add_field(struct text_buffer *b, const struct log_counter *counter)
{
    const char *name = log_counter_english_counter(counter);
    struct text_buffer field = {0};
    for (const char *at = name ? name : ""; *at; at++) {
        if (strncmp(at, "/sec", 4) == 0 || strncmp(at, "/Sec", 4) == 0) {
            text_buffer_add(&field, "_persec");
            at += 3;
        } else if (*at == '%') {
            text_buffer_add(&field, "Percent");
        } else if (*at == ' ') {
            text_buffer_add_n(&field, "_", 1);
        } else if (*at != '\\') {
            text_buffer_add_n(&field, at, 1);
        }
    }
    b->failed |= field.failed;
    /* A field must have a name, and InfluxDB drops a field with the name of its time column. */
    if (field.length == 0 || strcmp(field.text, "time") == 0)
        text_buffer_add(b, "value");
    else
        line_add_escaped(b, field.text);
    text_buffer_free(&field);
}

void line_add_time(struct text_buffer *b, int64_t utc, enum line_precision precision)
{
    static const int64_t epoch = INT64_C(116444736000000000), most = INT64_MAX / 100;
    static const int64_t ticks[] = {[LINE_MICROSECONDS] = 10, [LINE_MILLISECONDS] = 10000, [LINE_SECONDS] = 10000000};
    int64_t time = utc < epoch - most ? -most : utc - epoch;
    time = time > most ? most : time;
    if (precision == LINE_NANOSECONDS)
        text_buffer_add_i64(b, time * 100);
    else
        text_buffer_add_i64(b, time / ticks[precision] - (time % ticks[precision] < 0));
}

/* ---- samples ---- */

struct line_place {
    const char *series, *field; /* in line_layout.names */
    size_t cell;
};

struct line_layout {
    struct line_place *places; /* the places of a series are adjacent; the series are sorted by their first counters */
    size_t count, duplicates;
    struct texts names;
};

/* A series, during the creation of a layout. */
struct line_series {
    const char *text;
    size_t first; /* index of the first counter of the series */
};

static int line_compare_series(const void *left, const void *right)
{
    const struct line_series *a = left, *b = right;
    const int order = strcmp(a->text, b->text);
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

/* A place during sorting. `first` is the first counter of its series. */
struct line_sorted {
    struct line_place place;
    size_t first;
};

static int line_compare_fields(const void *left, const void *right)
{
    const struct line_sorted *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    const int order = strcmp(a->place.field, b->place.field);
    return order ? order : (a->place.cell > b->place.cell) - (a->place.cell < b->place.cell);
}

static int line_compare_cells(const void *left, const void *right)
{
    const struct line_sorted *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->place.cell > b->place.cell) - (a->place.cell < b->place.cell);
}

static HRESULT line_take_text(struct line_layout *l, struct text_buffer *b, const char **out)
{
    char *text = text_buffer_take(b);
    HRESULT hr = text ? texts_add_owned(&l->names, text) : E_OUTOFMEMORY;
    *out = SUCCEEDED(hr) ? l->names.items[l->names.count - 1] : NULL;
    return hr;
}

/* Sorts the counters by series and field, and keeps the first counter of each field. */
static void line_layout_sort(struct line_layout *l, struct line_series *series, struct line_sorted *sorted,
                             size_t count)
{
    size_t kept = 0, first = 0;
    qsort(series, count, sizeof *series, line_compare_series);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(series[i].text, series[i - 1].text) != 0)
            first = series[i].first;
        sorted[series[i].first].first = first;
    }
    qsort(sorted, count, sizeof *sorted, line_compare_fields);
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && sorted[i].first == sorted[kept - 1].first &&
            strcmp(sorted[i].place.field, sorted[kept - 1].place.field) == 0)
            l->duplicates++;
        else
            sorted[kept++] = sorted[i];
    qsort(sorted, kept, sizeof *sorted, line_compare_cells);
    for (size_t i = 0; i < kept; i++) {
        l->places[i] = sorted[i].place;
        if (i > 0 && sorted[i].first == sorted[i - 1].first)
            l->places[i].series = l->places[i - 1].series; /* all places of one series point to the same string */
    }
    l->count = kept;
}

HRESULT line_layout_create(const struct log_counter *counters, size_t count, const char *tags, struct line_layout **out)
{
    struct line_layout *l = memory_zero(1, sizeof *l);
    struct line_series *series = memory_zero(count + 1, sizeof *series);
    struct line_sorted *sorted = memory_zero(count + 1, sizeof *sorted);
    HRESULT hr = l && series && sorted ? S_OK : E_OUTOFMEMORY;
    *out = NULL;
    if (SUCCEEDED(hr) && !(l->places = memory_zero(count + 1, sizeof *l->places)))
        hr = E_OUTOFMEMORY;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        struct text_buffer b = {0};
        struct line_place *place = &sorted[i].place;
        place->cell = i;
        line_add_series(&b, &counters[i], NULL);
        text_buffer_add(&b, tags ? tags : "");
        hr = line_take_text(l, &b, &place->series);
        if (SUCCEEDED(hr)) {
            line_add_field(&b, &counters[i]);
            hr = line_take_text(l, &b, &place->field);
        }
        text_buffer_free(&b);
        series[i] = (struct line_series){place->series, i};
    }
    if (SUCCEEDED(hr))
        line_layout_sort(l, series, sorted, count);
    memory_free(series);
    memory_free(sorted);
    if (FAILED(hr)) {
        line_layout_free(l);
        return error_set(hr, "out of memory for the names of %zu counters", count);
    }
    *out = l;
    return S_OK;
}

void line_layout_add(const struct line_layout *l, int64_t utc, enum line_precision precision,
                     const struct log_cell *cells, struct text_buffer *b)
{
    char number[NUMBER_TEXT_SIZE];
    for (size_t i = 0, end; i < l->count; i = end) {
        bool has_fields = false;
        for (end = i; end < l->count && l->places[end].series == l->places[i].series; end++) {
            const struct log_cell *cell = &cells[l->places[end].cell];
            if (!cell->has_value || !isfinite(cell->value))
                continue;
            if (!has_fields)
                text_buffer_add(b, l->places[i].series);
            text_buffer_add_n(b, has_fields ? "," : " ", 1);
            text_buffer_add(b, l->places[end].field);
            text_buffer_add_n(b, "=", 1);
            text_buffer_add_n(b, number, number_text_shortest(cell->value, 15, false, number));
            has_fields = true;
        }
        if (!has_fields)
            continue;
        text_buffer_add_n(b, " ", 1);
        line_add_time(b, utc, precision);
        text_buffer_add_n(b, "\n", 1);
    }
}

size_t line_layout_duplicates(const struct line_layout *l)
{
    return l->duplicates;
}

void line_layout_free(struct line_layout *l)
{
    if (!l)
        return;
    memory_free(l->places);
    texts_free(&l->names);
    memory_free(l);
}

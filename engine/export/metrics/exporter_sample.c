/* SPDX-License-Identifier: MIT */
/* Takes a sample and passes the series of all families to a sink. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/export/metrics/exporter.h"
#include "engine/logs/pdh_types.h"

#include <stdio.h>
#include <string.h>

/* ---- labels that occurred before ---- */

/* Prepares the set of this sample's label hashes. The set is used for families and objects in which the same labels can
   occur twice. */
static HRESULT seen_begin(struct exporter *e, size_t most)
{
    size_t slots = e->seen_slots ? e->seen_slots : 256;
    while (slots < 2 * most)
        slots *= 2;
    if (slots != e->seen_slots) {
        memory_free(e->seen);
        e->seen_slots = 0;
        e->seen = memory_zero(slots, sizeof *e->seen);
        if (!e->seen)
            return E_OUTOFMEMORY;
        e->seen_slots = slots;
    } else {
        memset(e->seen, 0, slots * sizeof *e->seen);
    }
    return S_OK;
}

/* False: the hash was already in the set. */
static bool seen_add(struct exporter *e, uint64_t hash)
{
    hash = hash ? hash : 1;
    for (size_t at = hash & (e->seen_slots - 1);; at = (at + 1) & (e->seen_slots - 1)) {
        if (e->seen[at] == hash)
            return false;
        if (!e->seen[at]) {
            e->seen[at] = hash;
            return true;
        }
    }
}

/* ---- instances ---- */

static bool is_wild(const char *text)
{
    return text && strpbrk(text, "*?");
}

static bool use_selects(const struct exporter *e, const struct export_path *p, const struct export_label *label)
{
    if (!p->pattern)
        return e->totals || !label->total;
    if (!is_wild(p->pattern))
        return text_equal_nocase(p->pattern, label->instance);
    return (e->totals || !label->total) && text_matches(p->pattern, label->instance);
}

static const struct log_raw *item_at(const struct log_cell *cells, int64_t column, size_t at, const char *instance)
{
    if (column == NO_COLUMN)
        return NULL;
    const struct log_cell *cell = &cells[column];
    const struct log_item *found = at < cell->item_count ? &cell->items[at] : NULL;
    if (!found || strcmp(found->instance, instance) != 0)
        return NULL; /* in a sample, all columns of an object list its instances in the same order */
    return found->raw.status <= PDH_CSTATUS_NEW_DATA ? &found->raw : NULL;
}

/* Builds the labels of all instances, in the order of the column's items. */
static HRESULT object_label(struct exporter *e, struct export_object *o, const struct log_cell *cells, size_t column)
{
    const struct log_cell *cell = &cells[column];
    void *labels = o->labels;
    HRESULT hr = seen_begin(e, cell->item_count);
    if (FAILED(hr) || !memory_grow(&labels, &o->label_capacity, cell->item_count, sizeof *o->labels))
        return E_OUTOFMEMORY;
    o->labels = labels;
    o->label_count = 0;
    o->text.length = 0;
    for (size_t i = 0; i < cell->item_count; i++) {
        const char *instance = cell->items[i].instance;
        const size_t at = o->text.length;
        instance_add_labels(&o->text, o, instance, item_at(cells, o->process_column, i, instance),
                            item_at(cells, o->thread_column, i, instance));
        if (o->text.failed)
            return E_OUTOFMEMORY;
        const size_t length = o->text.length - at;
        const uint64_t hash = hash_bytes(HASH_START, o->text.text + at, length);
        o->labels[o->label_count++] = (struct export_label){.instance = instance,
                                                            .at = at,
                                                            .length = length,
                                                            .hash = hash,
                                                            .total = metric_is_total(instance),
                                                            .duplicate = !seen_add(e, hash)};
    }
    o->built = e->samples;
    return S_OK;
}

/* Returns the labels of an item. NULL: the object's first column does not have the item's instance. */
static const struct export_label *object_find_label(const struct export_object *o, const char *instance, size_t at)
{
    if (at < o->label_count && (o->labels[at].instance == instance || strcmp(o->labels[at].instance, instance) == 0))
        return &o->labels[at];
    for (size_t i = 0; i < o->label_count; i++)
        if (strcmp(o->labels[i].instance, instance) == 0)
            return &o->labels[i];
    return NULL;
}

/* ---- series ---- */

/* A family that is being passed to the sink. */
struct family_walk {
    const struct metric_sink *sink;
    const struct metric_family *family;
    const struct log_cell *cells;
    const struct log_counter *columns;
    bool shared; /* two uses can export the same labels in this family */
};

/* Completes `begun`, which has the labels, their hash and the values, and passes it to the sink. */
static HRESULT give_sample(struct exporter *e, const struct family_walk *w, const struct export_use *use,
                           const struct metric_sample *begun)
{
    struct metric_sample s = *begun;
    const int64_t steady_limit = metric_steady_limit(&use->form);
    const struct preset_row *row = e->paths[use->path].row;
    struct log_raw steady = *begun->raw;
    if (steady.status > PDH_CSTATUS_NEW_DATA)
        return S_OK;
    const uint64_t hash = row ? hash_text(begun->series, row->fixed) : begun->series;
    /* Counters that differ only in their unit, such as Available Bytes and Available MBytes, are one series. If samples
       have formatted values, such counters are separate series, because their formatted values differ. */
    if (w->shared && !seen_add(e, e->values ? hash_number(hash, use->column) : hash)) {
        e->duplicates++;
        return S_OK;
    }
    if (steady_limit > 0)
        steady.first = steady_keep(&e->steady, hash_number(hash, use->family), e->samples, steady_limit, steady.first);
    s.fixed = row ? row->fixed : "";
    s.series = hash_number(hash, use->family);
    s.scale = &use->form.scale;
    s.raw = &steady;
    s.counter = e->values ? &w->columns[use->column] : NULL;
    return w->sink->sample(w->sink->user, &s);
}

/* Returns the value of an ID in this sample; NULL: the log contains no valid value. */
static const struct log_raw *use_find_id(const struct log_cell *cells, int64_t column)
{
    return column != NO_COLUMN && cells[column].raw.status <= PDH_CSTATUS_NEW_DATA ? &cells[column].raw : NULL;
}

static HRESULT use_give_single(struct exporter *e, const struct family_walk *w, const struct export_use *use,
                               const struct log_cell *cell)
{
    struct text_buffer labels = {0};
    const struct log_counter *c = &w->columns[use->column];
    const bool of_log = !e->query;
    instance_add_labels(&labels, &e->objects[use->object], of_log ? use->instance : c->instance,
                        of_log ? use_find_id(w->cells, use->process_column) : NULL,
                        of_log ? use_find_id(w->cells, use->thread_column) : NULL);
    struct metric_sample s = {.labels = labels.length ? labels.text : "",
                              .length = labels.length,
                              .raw = &cell->raw,
                              .has_value = cell->has_value,
                              .value = cell->value};
    s.series = hash_bytes(HASH_START, s.labels, s.length);
    const HRESULT hr = labels.failed ? E_OUTOFMEMORY : give_sample(e, w, use, &s);
    text_buffer_free(&labels);
    return hr;
}

static HRESULT use_give_items(struct exporter *e, const struct family_walk *w, const struct export_use *use,
                              const struct log_cell *cell)
{
    const struct export_object *o = &e->objects[use->object];
    HRESULT hr = S_OK;
    for (size_t i = 0; i < cell->item_count && SUCCEEDED(hr); i++) {
        const struct log_item *item = &cell->items[i];
        const struct export_label *label = object_find_label(o, item->instance, i);
        if (!label || !use_selects(e, &e->paths[use->path], label))
            continue;
        struct metric_sample s = {.labels = label->length ? o->text.text + label->at : "",
                                  .length = label->length,
                                  .series = label->hash,
                                  .raw = &item->raw,
                                  .has_value = item->has_value,
                                  .value = item->value};
        if (label->duplicate)
            e->duplicates++;
        else
            hr = give_sample(e, w, use, &s);
    }
    return hr;
}

/* Whether the instance _Total is omitted because the log has other instances. */
static bool family_leaves_totals(const struct exporter *e, size_t first, size_t end)
{
    if (e->query || e->totals)
        return false;
    for (size_t i = first; i < end; i++)
        if (e->uses[i].instance && !metric_is_total(e->uses[i].instance))
            return true;
    return false;
}

/* Passes the uses first..end-1, which form one family, to the sink under the metric name `name`. */
static HRESULT family_give(struct exporter *e, const struct metric_sink *sink, const char *name, size_t first,
                           size_t end, const struct log_cell *cells)
{
    size_t count, most = 0;
    const struct log_counter *columns = exporter_columns(e, &count);
    struct metric_family family = e->families.items[e->uses[first].family];
    const struct family_walk w = {sink, &family, cells, columns, end - first > 1};
    const bool without_totals = family_leaves_totals(e, first, end);
    for (size_t i = first; i < end; i++)
        most += cells[e->uses[i].column].item_count + 1;
    family.name = (char *)name;
    const size_t scope_length = family.collector ? strlen("windows_") + strlen(family.collector)
                                                 : e->objects[e->uses[first].object].scope_length;
    HRESULT hr = sink->family(sink->user, &family, scope_length);
    if (SUCCEEDED(hr) && w.shared)
        hr = seen_begin(e, most);
    for (size_t i = first; i < end && SUCCEEDED(hr); i++) {
        const struct export_use *use = &e->uses[i];
        if (columns[use->column].wildcard)
            hr = use_give_items(e, &w, use, &cells[use->column]);
        else if (!without_totals || !use->instance || !metric_is_total(use->instance))
            hr = use_give_single(e, &w, use, &cells[use->column]);
    }
    return hr;
}

static bool collector_is_wanted(const struct texts *collectors, const char *collector)
{
    for (size_t i = 0; collectors && i < collectors->count; i++)
        if (collector && strcmp(collectors->items[i], collector) == 0)
            return true;
    return !collectors || collectors->count == 0;
}

static HRESULT family_give_names(struct exporter *e, const struct metric_sink *sink, size_t first, size_t end,
                                 const struct log_cell *cells)
{
    const struct metric_family *f = &e->families.items[e->uses[first].family];
    const char *old = f->collector && e->names != NAMES_NEW ? preset_old_name(f->name, 0) : NULL;
    HRESULT hr = S_OK;
    if (!old || e->names == NAMES_BOTH)
        hr = family_give(e, sink, f->name, first, end, cells);
    for (size_t i = 1; old && SUCCEEDED(hr); old = preset_old_name(f->name, i++))
        hr = family_give(e, sink, old, first, end, cells);
    return hr;
}

static HRESULT give_counters(struct exporter *e, const struct metric_sink *sink, const struct log_cell *cells,
                             const struct texts *collectors)
{
    size_t count;
    const struct log_counter *columns = exporter_columns(e, &count);
    HRESULT hr = S_OK;
    e->duplicates = 0;
    for (size_t i = 0; i < e->use_count && SUCCEEDED(hr); i++) {
        struct export_object *o = &e->objects[e->uses[i].object];
        const size_t column = e->uses[i].column;
        if (columns[column].wildcard && o->built != e->samples && cells[column].item_count > 0)
            hr = object_label(e, o, cells, column);
    }
    for (size_t first = 0, end; first < e->use_count && SUCCEEDED(hr); first = end) {
        end = first + 1;
        while (end < e->use_count && e->uses[end].family == e->uses[first].family)
            end++;
        if (collector_is_wanted(collectors, e->families.items[e->uses[first].family].collector))
            hr = family_give_names(e, sink, first, end, cells);
    }
    return hr;
}

/* ---- metrics that are not counters ---- */

struct facts {
    const struct exporter *e;
    const struct metric_sink *sink;
    const struct texts *collectors;
};

static HRESULT give_number(const struct metric_sink *sink, const struct metric_family *f, size_t scope_length,
                           const char *labels, double value)
{
    const size_t length = strlen(labels);
    const struct metric_sample s = {.labels = labels,
                                    .length = length,
                                    .fixed = "",
                                    .series = hash_text(hash_bytes(HASH_START, labels, length), f->name),
                                    .number = value};
    HRESULT hr = sink->family(sink->user, f, scope_length);
    return SUCCEEDED(hr) ? sink->sample(sink->user, &s) : hr;
}

static HRESULT give_fact(void *user, const char *collector, const char *metric, const char *help, const char *labels,
                         double value)
{
    const struct facts *p = user;
    struct metric_family f = {
        .name = (char *)metric, .help = (char *)help, .unit = "", .kind = METRIC_GAUGE, .collector = collector};
    const size_t scope_length = strlen("windows_") + strlen(collector);
    const char *old = p->e->names == NAMES_NEW ? NULL : preset_old_name(metric, 0);
    HRESULT hr = S_OK;
    if (!collector_is_wanted(p->collectors, collector))
        return S_OK;
    if (!old || p->e->names == NAMES_BOTH)
        hr = give_number(p->sink, &f, scope_length, labels, value);
    for (size_t i = 1; old && SUCCEEDED(hr); old = preset_old_name(metric, i++)) {
        f.name = (char *)old;
        hr = give_number(p->sink, &f, scope_length, labels, value);
    }
    return hr;
}

/* Passes the metric windows_exporter_collector_success to the sink. The value of this metric says whether a collector
   has counters. */
static HRESULT give_collectors(const struct facts *p)
{
    const struct metric_family f = {.name = (char *)"windows_exporter_collector_success",
                                    .help = (char *)"1 if this computer has counters of the collector.",
                                    .unit = "",
                                    .kind = METRIC_GAUGE};
    size_t count;
    const struct preset_row *rows = preset_rows(&count);
    HRESULT hr = p->sink->family(p->sink->user, &f, strlen("windows_exporter"));
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        bool has = false;
        char label[64];
        if ((i > 0 && strcmp(rows[i].collector, rows[i - 1].collector) == 0) ||
            !collector_is_wanted(p->collectors, rows[i].collector))
            continue;
        for (size_t k = 0; k < p->e->families.count; k++)
            has |=
                p->e->families.items[k].collector && strcmp(p->e->families.items[k].collector, rows[i].collector) == 0;
        snprintf(label, sizeof label, "collector=\"%s\"", rows[i].collector);
        const struct metric_sample s = {.labels = label,
                                        .length = strlen(label),
                                        .fixed = "",
                                        .series = hash_text(HASH_START, label),
                                        .number = has};
        hr = p->sink->sample(p->sink->user, &s);
    }
    return hr;
}

static HRESULT give_own(const struct metric_sink *sink, const char *name, enum metric_kind kind, const char *help,
                        uint64_t value, int64_t divisor)
{
    const struct metric_family f = {
        .name = (char *)name, .help = (char *)help, .unit = divisor > 1 ? "seconds" : "", .kind = kind};
    const struct metric_scale scale = {METRIC_FIRST, 1, divisor, 0, true};
    const struct log_raw raw = {.first = (int64_t)value};
    const struct metric_sample s = {
        .labels = "", .fixed = "", .series = hash_text(HASH_START, name), .scale = &scale, .raw = &raw};
    HRESULT hr = sink->family(sink->user, &f, strlen("openpla_export"));
    return SUCCEEDED(hr) ? sink->sample(sink->user, &s) : hr;
}

static HRESULT give_about(const struct exporter *e, const struct metric_sink *sink, uint64_t ticks)
{
    size_t missing = 0;
    for (size_t i = 0; i < e->path_count; i++)
        missing += e->paths[i].refused && !e->paths[i].row;
    HRESULT hr = give_own(sink, "openpla_export_missing", METRIC_GAUGE, "Configured counters that do not exist now.",
                          missing, 1);
    if (SUCCEEDED(hr))
        hr = give_own(sink, "openpla_export_duplicates", METRIC_GAUGE,
                      "Series omitted because another series has the same labels.", e->duplicates, 1);
    if (SUCCEEDED(hr))
        hr = give_own(sink, "openpla_export_collect_seconds", METRIC_GAUGE, "Seconds that this sample took.", ticks,
                      clock_frequency());
    return SUCCEEDED(hr) ? give_own(sink, "openpla_export_pages_total", METRIC_COUNTER,
                                    "Samples taken since the start.", e->samples, 1)
                         : hr;
}

/* ---- samples ---- */

static HRESULT sample_take(struct exporter *e, const struct texts *collectors, const struct metric_sink *sink,
                           int64_t *utc)
{
    const struct log_cell *cells;
    HRESULT hr = exporter_retry(e) ? exporter_take_given(e) : S_OK;
    const int64_t begun = clock_ticks();
    if (SUCCEEDED(hr))
        hr = counter_query_sample(e->query, utc, &cells);
    const int64_t sampled = clock_ticks();
    e->samples++;
    if (SUCCEEDED(hr))
        hr = give_counters(e, sink, cells, collectors);
    if (SUCCEEDED(hr) && e->preset) {
        struct facts facts = {e, sink, collectors};
        hr = preset_facts(give_fact, &facts);
        if (SUCCEEDED(hr))
            hr = give_collectors(&facts);
    }
    return SUCCEEDED(hr) ? give_about(e, sink, (uint64_t)(sampled - begun)) : hr;
}

HRESULT exporter_sample(struct exporter *e, const struct texts *collectors, const struct metric_sink *sink,
                        int64_t *utc)
{
    lock_enter(&e->lock);
    const HRESULT hr = sample_take(e, collectors, sink, utc);
    lock_leave(&e->lock);
    return hr;
}

HRESULT exporter_next(struct exporter *e, const struct metric_sink *sink, int64_t *utc)
{
    size_t at;
    HRESULT hr = inputs_next(e->inputs, &at);
    if (hr != S_OK)
        return hr;
    *utc = e->inputs->items[at].utc;
    hr = columns_learn(&e->columns, e->inputs, at);
    if (SUCCEEDED(hr))
        hr = exporter_take_columns(e);
    if (SUCCEEDED(hr))
        hr = columns_fill(&e->columns, e->inputs, at);
    e->samples++;
    return SUCCEEDED(hr) ? give_counters(e, sink, e->columns.cells, NULL) : hr;
}

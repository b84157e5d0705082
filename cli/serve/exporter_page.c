/* SPDX-License-Identifier: MIT */
/* A page of metrics: takes a sample and writes the series of all families. */
#include "cli/serve/exporter.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/logs/pdh_types.h"

#include <stdio.h>
#include <string.h>

/* ---- labels that occurred before ---- */

/* Labels that this page has, by hash, for families and objects that may have the same twice. */
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

/* False: it was there. */
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

/* Whether an instance is the sum of the others: "_Total", "0,_Total", "_Total/_Total". */
static bool is_total(const char *instance)
{
    static const char total[] = "_Total";
    const size_t length = strlen(instance), of_total = strlen(total);
    if (length < of_total || !text_equal_nocase(instance + length - of_total, total))
        return false;
    return length == of_total || strchr(",/ ", instance[length - of_total - 1]);
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
        return NULL; /* a sample lists an object's instances in one order */
    return found->raw.status <= PDH_CSTATUS_NEW_DATA ? &found->raw : NULL;
}

/* name="svchost",pid="4" */
static void label_add_instance(struct export_object *o, const struct log_cell *cells, size_t at, const char *instance)
{
    struct text_buffer *b = &o->text;
    char name[1024], number[24];
    const struct log_raw *process = item_at(cells, o->process_column, at, instance);
    const struct log_raw *thread = item_at(cells, o->thread_column, at, instance);
    const char *slash = thread ? strrchr(instance, '/') : strchr(instance, '/');
    bool more = false;
    if (o->is_foreign) {
        page_add_label(b, false, "computer", o->machine + strspn(o->machine, "\\"));
        more = true;
    }
    if (slash && slash > instance && slash[1]) {
        text_fit(name, (size_t)(slash - instance) + 1 < sizeof name ? (size_t)(slash - instance) + 1 : sizeof name,
                 instance);
        if (process)
            name[strcspn(name, "#")] = 0;
        page_add_label(b, more, "parent", name);
        instance = slash + 1;
        more = true;
    }
    text_fit(name, sizeof name, instance);
    char *index = process ? strrchr(name, '#') : NULL;
    if (index && index > name && index[1] && !index[1 + strspn(index + 1, "0123456789")])
        *index = 0;
    if (!thread) { /* the numbers of threads move when one ends */
        page_add_label(b, more, "name", name);
        more = true;
    }
    if (process) {
        snprintf(number, sizeof number, "%lld", (long long)process->first);
        page_add_label(b, more, "pid", number);
    }
    if (thread) {
        snprintf(number, sizeof number, "%lld", (long long)thread->first);
        page_add_label(b, true, "tid", number);
    }
}

/* The labels of all instances, in the order of the column's items. */
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
        label_add_instance(o, cells, i, instance);
        if (o->text.failed)
            return E_OUTOFMEMORY;
        const size_t length = o->text.length - at;
        const uint64_t hash = hash_bytes(HASH_START, o->text.text + at, length);
        o->labels[o->label_count++] = (struct export_label){.instance = instance,
                                                            .at = at,
                                                            .length = length,
                                                            .hash = hash,
                                                            .total = is_total(instance),
                                                            .duplicate = !seen_add(e, hash)};
    }
    o->built = e->pages;
    return S_OK;
}

/* The label of an item. NULL: the object's first column does not have it. */
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

static void add_sample(struct text_buffer *b, const struct metric_family *f, const char *suffix, const char *labels,
                       size_t length, const struct metric_scale *scale, const struct log_raw *raw)
{
    const size_t begun = b->length;
    text_buffer_add(b, f->name);
    text_buffer_add(b, suffix);
    if (length > 0) {
        text_buffer_add_n(b, "{", 1);
        text_buffer_add_n(b, labels, length);
        text_buffer_add_n(b, "} ", 2);
    } else {
        text_buffer_add_n(b, " ", 1);
    }
    if (metric_add_value(b, scale, raw))
        text_buffer_add_n(b, "\n", 1);
    else if (!b->failed)
        b->length = begun;
}

/* `hash` is that of the labels. */
static void add_series(struct exporter *e, struct text_buffer *b, const struct export_use *use, const char *labels,
                       size_t length, uint64_t hash, const struct log_raw *raw)
{
    enum { MOST_SECONDS = 3 }; /* by which a time falls without a restart */
    const struct metric_family *f = &e->families[use->family];
    const struct metric_scale *scale = &use->form.scale;
    struct log_raw steady = *raw;
    if (raw->status > PDH_CSTATUS_NEW_DATA)
        return;
    if (f->kind == METRIC_COUNTER && scale->large && scale->divisor > 1)
        steady.first = steady_keep(&e->steady, hash_number(hash, use->family), e->pages, MOST_SECONDS * scale->divisor,
                                   raw->first);
    if (f->kind != METRIC_SUMMARY) {
        add_sample(b, f, "", labels, length, scale, &steady);
        return;
    }
    const struct metric_scale count = {METRIC_SECOND, 1, 1, 0, false};
    add_sample(b, f, "_sum", labels, length, scale, raw);
    add_sample(b, f, "_count", labels, length, &count, raw);
}

static void use_add_single(struct exporter *e, struct text_buffer *b, const struct export_use *use,
                           const struct log_counter *c, const struct log_raw *raw, bool shared)
{
    const struct export_object *o = &e->objects[use->object];
    struct text_buffer labels = {0};
    if (o->is_foreign)
        page_add_label(&labels, false, "computer", o->machine + strspn(o->machine, "\\"));
    if (c->instance)
        page_add_label(&labels, o->is_foreign, "name", c->instance);
    const uint64_t hash = hash_bytes(HASH_START, labels.length ? labels.text : "", labels.length);
    if (shared && !seen_add(e, hash))
        e->duplicates++;
    else
        add_series(e, b, use, labels.text, labels.length, hash, raw);
    b->failed |= labels.failed;
    text_buffer_free(&labels);
}

static HRESULT use_add_items(struct exporter *e, struct text_buffer *b, const struct export_use *use,
                             const struct log_cell *cell, bool shared)
{
    const struct export_object *o = &e->objects[use->object];
    for (size_t i = 0; i < cell->item_count; i++) {
        const struct log_item *item = &cell->items[i];
        const struct export_label *label = object_find_label(o, item->instance, i);
        if (!label || !use_selects(e, &e->paths[use->path], label))
            continue;
        if (label->duplicate || (shared && !seen_add(e, label->hash)))
            e->duplicates++;
        else
            add_series(e, b, use, o->text.text + label->at, label->length, label->hash, &item->raw);
    }
    return b->failed ? E_OUTOFMEMORY : S_OK;
}

/* The uses first..end-1 are those of one family. */
static HRESULT family_add(struct exporter *e, struct text_buffer *b, size_t first, size_t end,
                          const struct log_cell *cells, bool openmetrics)
{
    size_t count, most = 0;
    const struct log_counter *columns = counter_query_columns(e->query, &count);
    const bool shared = end - first > 1;
    const size_t begun = b->length;
    HRESULT hr = S_OK;
    for (size_t i = first; i < end; i++)
        most += cells[e->uses[i].column].item_count + 1;
    page_add_family(b, &e->families[e->uses[first].family], openmetrics);
    const size_t headed = b->length;
    if (shared)
        hr = seen_begin(e, most);
    for (size_t i = first; i < end && SUCCEEDED(hr); i++) {
        const struct export_use *use = &e->uses[i];
        if (columns[use->column].wildcard)
            hr = use_add_items(e, b, use, &cells[use->column], shared);
        else
            use_add_single(e, b, use, &columns[use->column], &cells[use->column].raw, shared);
    }
    if (b->length == headed && !b->failed)
        b->length = begun; /* no values now */
    return hr;
}

static HRESULT page_add_counters(struct exporter *e, struct text_buffer *b, const struct log_cell *cells,
                                 bool openmetrics)
{
    size_t count;
    const struct log_counter *columns = counter_query_columns(e->query, &count);
    HRESULT hr = S_OK;
    e->duplicates = 0;
    for (size_t i = 0; i < e->use_count && SUCCEEDED(hr); i++) {
        struct export_object *o = &e->objects[e->uses[i].object];
        const size_t column = e->uses[i].column;
        if (columns[column].wildcard && o->built != e->pages && cells[column].item_count > 0)
            hr = object_label(e, o, cells, column);
    }
    for (size_t first = 0, end; first < e->use_count && SUCCEEDED(hr); first = end) {
        end = first + 1;
        while (end < e->use_count && e->uses[end].family == e->uses[first].family)
            end++;
        hr = family_add(e, b, first, end, cells, openmetrics);
    }
    return hr;
}

static void page_add_own(struct text_buffer *b, bool openmetrics, const char *name, enum metric_kind kind,
                         const char *help, uint64_t value, int64_t divisor)
{
    const struct metric_family f = {.name = (char *)name, .help = (char *)help, .unit = "", .kind = kind};
    const struct metric_scale scale = {METRIC_FIRST, 1, divisor, 0, true};
    const struct log_raw raw = {.first = (int64_t)value};
    page_add_family(b, &f, openmetrics);
    add_sample(b, &f, "", "", 0, &scale, &raw);
}

static void page_add_about(const struct exporter *e, struct text_buffer *b, bool openmetrics, uint64_t ticks)
{
    size_t missing = 0;
    for (size_t i = 0; i < e->path_count; i++)
        missing += e->paths[i].refused;
    page_add_own(b, openmetrics, "openpla_export_missing", METRIC_GAUGE, "Configured counters that do not exist now.",
                 missing, 1);
    page_add_own(b, openmetrics, "openpla_export_duplicates", METRIC_GAUGE,
                 "Series of this page that were left out because their labels occurred before.", e->duplicates, 1);
    page_add_own(b, openmetrics, "openpla_export_collect_seconds", METRIC_GAUGE,
                 "Time that the sample of this page has taken.", ticks, clock_frequency());
    page_add_own(b, openmetrics, "openpla_export_pages_total", METRIC_COUNTER, "Pages since the start.", e->pages, 1);
}

static HRESULT page_make(struct exporter *e, bool openmetrics, struct text_buffer *out)
{
    int64_t utc;
    const struct log_cell *cells;
    HRESULT hr = exporter_retry(e) ? exporter_take_given(e) : S_OK;
    const int64_t begun = clock_ticks();
    if (SUCCEEDED(hr))
        hr = counter_query_sample(e->query, &utc, &cells);
    const int64_t sampled = clock_ticks();
    e->pages++;
    if (SUCCEEDED(hr))
        hr = page_add_counters(e, out, cells, openmetrics);
    if (FAILED(hr))
        return hr;
    page_add_about(e, out, openmetrics, (uint64_t)(sampled - begun));
    if (openmetrics)
        text_buffer_add(out, "# EOF\n");
    return out->failed ? E_OUTOFMEMORY : S_OK;
}

HRESULT exporter_page(struct exporter *e, bool openmetrics, struct text_buffer *out)
{
    lock_enter(&e->lock);
    const HRESULT hr = page_make(e, openmetrics, out);
    lock_leave(&e->lock);
    return hr;
}

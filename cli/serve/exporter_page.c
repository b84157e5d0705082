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

/* The series that is written: its family's name, which may be an older one, and its labels. */
struct series {
    const char *name, *labels, *fixed;
    size_t length; /* of labels */
};

static void add_sample(struct text_buffer *b, const struct series *to, const char *suffix,
                       const struct metric_scale *scale, const struct log_raw *raw)
{
    const size_t begun = b->length;
    text_buffer_add(b, to->name);
    text_buffer_add(b, suffix);
    if (to->length > 0 || *to->fixed) {
        text_buffer_add_n(b, "{", 1);
        text_buffer_add_n(b, to->labels, to->length);
        text_buffer_add(b, to->length > 0 && *to->fixed ? "," : "");
        text_buffer_add(b, to->fixed);
        text_buffer_add_n(b, "} ", 2);
    } else {
        text_buffer_add_n(b, " ", 1);
    }
    if (metric_add_value(b, scale, raw))
        text_buffer_add_n(b, "\n", 1);
    else if (!b->failed)
        b->length = begun;
}

/* A family that is being written. */
struct family_page {
    struct text_buffer *b;
    const struct metric_family *family;
    const char *name;
    bool shared; /* by several uses: the same labels may occur twice */
};

/* `hash` is that of the labels. */
static void add_series(struct exporter *e, const struct family_page *p, const struct export_use *use,
                       const char *labels, size_t length, uint64_t hash, const struct log_raw *raw)
{
    const int64_t steady_limit = metric_steady_limit(&use->form);
    const struct metric_scale *scale = &use->form.scale;
    const struct preset_row *row = e->paths[use->path].row;
    const struct series to = {p->name, labels, row ? row->fixed : "", length};
    struct log_raw steady = *raw;
    if (raw->status > PDH_CSTATUS_NEW_DATA)
        return;
    hash = row ? hash_text(hash, row->fixed) : hash;
    if (p->shared && !seen_add(e, hash)) {
        e->duplicates++;
        return;
    }
    if (steady_limit > 0)
        steady.first = steady_keep(&e->steady, hash_number(hash, use->family), e->pages, steady_limit, raw->first);
    if (p->family->kind != METRIC_SUMMARY) {
        add_sample(p->b, &to, "", scale, &steady);
        return;
    }
    const struct metric_scale count = {METRIC_SECOND, 1, 1, 0, false};
    add_sample(p->b, &to, "_sum", scale, raw);
    add_sample(p->b, &to, "_count", &count, raw);
}

static HRESULT use_add_single(struct exporter *e, const struct family_page *p, const struct export_use *use,
                              const struct log_counter *c, const struct log_raw *raw)
{
    struct text_buffer labels = {0};
    instance_add_labels(&labels, &e->objects[use->object], c->instance, NULL, NULL);
    const uint64_t hash = hash_bytes(HASH_START, labels.length ? labels.text : "", labels.length);
    const bool failed = labels.failed;
    if (!failed)
        add_series(e, p, use, labels.text, labels.length, hash, raw);
    text_buffer_free(&labels);
    return failed ? E_OUTOFMEMORY : S_OK;
}

static void use_add_items(struct exporter *e, const struct family_page *p, const struct export_use *use,
                          const struct log_cell *cell)
{
    const struct export_object *o = &e->objects[use->object];
    for (size_t i = 0; i < cell->item_count; i++) {
        const struct log_item *item = &cell->items[i];
        const struct export_label *label = object_find_label(o, item->instance, i);
        if (!label || !use_selects(e, &e->paths[use->path], label))
            continue;
        if (label->duplicate)
            e->duplicates++;
        else
            add_series(e, p, use, o->text.text + label->at, label->length, label->hash, &item->raw);
    }
}

/* Writes the uses first..end-1, which are those of one family, under a name. */
static HRESULT family_write(struct exporter *e, struct text_buffer *b, const char *name, size_t first, size_t end,
                            const struct log_cell *cells, bool openmetrics)
{
    size_t count, most = 0;
    const struct log_counter *columns = counter_query_columns(e->query, &count);
    struct metric_family family = e->families.items[e->uses[first].family];
    const struct family_page p = {b, &family, name, end - first > 1};
    const size_t begun = b->length;
    HRESULT hr = S_OK;
    for (size_t i = first; i < end; i++)
        most += cells[e->uses[i].column].item_count + 1;
    family.name = (char *)name;
    metric_add_family(b, &family, openmetrics);
    const size_t headed = b->length;
    if (p.shared)
        hr = seen_begin(e, most);
    for (size_t i = first; i < end && SUCCEEDED(hr); i++) {
        const struct export_use *use = &e->uses[i];
        if (columns[use->column].wildcard)
            use_add_items(e, &p, use, &cells[use->column]);
        else
            hr = use_add_single(e, &p, use, &columns[use->column], &cells[use->column].raw);
    }
    if (b->failed)
        return E_OUTOFMEMORY;
    if (b->length == headed)
        b->length = begun; /* no values now */
    return hr;
}

static bool collector_is_wanted(const struct texts *collectors, const char *collector)
{
    for (size_t i = 0; i < collectors->count; i++)
        if (collector && strcmp(collectors->items[i], collector) == 0)
            return true;
    return collectors->count == 0;
}

static HRESULT family_write_names(struct exporter *e, struct text_buffer *b, size_t first, size_t end,
                                  const struct log_cell *cells, bool openmetrics)
{
    const struct metric_family *f = &e->families.items[e->uses[first].family];
    const char *old = f->collector && e->names != NAMES_NEW ? preset_old_name(f->name, 0) : NULL;
    HRESULT hr = S_OK;
    if (!old || e->names == NAMES_BOTH)
        hr = family_write(e, b, f->name, first, end, cells, openmetrics);
    for (size_t i = 1; old && SUCCEEDED(hr); old = preset_old_name(f->name, i++))
        hr = family_write(e, b, old, first, end, cells, openmetrics);
    return hr;
}

static HRESULT page_add_counters(struct exporter *e, struct text_buffer *b, const struct log_cell *cells,
                                 const struct texts *collectors, bool openmetrics)
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
        if (collector_is_wanted(collectors, e->families.items[e->uses[first].family].collector))
            hr = family_write_names(e, b, first, end, cells, openmetrics);
    }
    return hr;
}

/* ---- metrics that are no counters ---- */

struct facts_page {
    const struct exporter *e;
    struct text_buffer *b;
    const struct texts *collectors;
    bool openmetrics;
};

static void add_fact(const struct facts_page *p, const char *name, const char *help, const char *labels, double value)
{
    const struct metric_family f = {.name = (char *)name, .help = (char *)help, .unit = "", .kind = METRIC_GAUGE};
    metric_add_family(p->b, &f, p->openmetrics);
    text_buffer_format(p->b, "%s%s%s%s %.15g\n", name, *labels ? "{" : "", labels, *labels ? "}" : "", value);
}

static HRESULT page_fact(void *user, const char *collector, const char *metric, const char *help, const char *labels,
                         double value)
{
    const struct facts_page *p = user;
    const char *old = p->e->names == NAMES_NEW ? NULL : preset_old_name(metric, 0);
    if (!collector_is_wanted(p->collectors, collector))
        return S_OK;
    if (!old || p->e->names == NAMES_BOTH)
        add_fact(p, metric, help, labels, value);
    for (size_t i = 1; old; old = preset_old_name(metric, i++))
        add_fact(p, old, help, labels, value);
    return p->b->failed ? E_OUTOFMEMORY : S_OK;
}

/* windows_exporter_collector_success: whether a collector has counters. */
static void page_add_collectors(const struct facts_page *p)
{
    static const char name[] = "windows_exporter_collector_success";
    const struct metric_family f = {.name = (char *)name,
                                    .help = (char *)"1 if this computer has counters of the collector.",
                                    .unit = "",
                                    .kind = METRIC_GAUGE};
    size_t count;
    const struct preset_row *rows = preset_rows(&count);
    metric_add_family(p->b, &f, p->openmetrics);
    for (size_t i = 0; i < count; i++) {
        bool has = false;
        if ((i > 0 && strcmp(rows[i].collector, rows[i - 1].collector) == 0) ||
            !collector_is_wanted(p->collectors, rows[i].collector))
            continue;
        for (size_t k = 0; k < p->e->families.count; k++)
            has |=
                p->e->families.items[k].collector && strcmp(p->e->families.items[k].collector, rows[i].collector) == 0;
        text_buffer_format(p->b, "%s{collector=\"%s\"} %d\n", name, rows[i].collector, has);
    }
}

static void page_add_own(struct text_buffer *b, bool openmetrics, const char *name, enum metric_kind kind,
                         const char *help, uint64_t value, int64_t divisor)
{
    const struct metric_family f = {.name = (char *)name, .help = (char *)help, .unit = "", .kind = kind};
    const struct metric_scale scale = {METRIC_FIRST, 1, divisor, 0, true};
    const struct log_raw raw = {.first = (int64_t)value};
    const struct series to = {name, "", "", 0};
    metric_add_family(b, &f, openmetrics);
    add_sample(b, &to, "", &scale, &raw);
}

static void page_add_about(const struct exporter *e, struct text_buffer *b, bool openmetrics, uint64_t ticks)
{
    size_t missing = 0;
    for (size_t i = 0; i < e->path_count; i++)
        missing += e->paths[i].refused && !e->paths[i].row;
    page_add_own(b, openmetrics, "openpla_export_missing", METRIC_GAUGE, "Configured counters that do not exist now.",
                 missing, 1);
    page_add_own(b, openmetrics, "openpla_export_duplicates", METRIC_GAUGE,
                 "Series that were left out because their labels occurred before.", e->duplicates, 1);
    page_add_own(b, openmetrics, "openpla_export_collect_seconds", METRIC_GAUGE,
                 "Time that the sample of this page has taken.", ticks, clock_frequency());
    page_add_own(b, openmetrics, "openpla_export_pages_total", METRIC_COUNTER, "Pages since the start.", e->pages, 1);
}

static HRESULT page_make(struct exporter *e, bool openmetrics, const struct texts *collectors, struct text_buffer *out)
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
        hr = page_add_counters(e, out, cells, collectors, openmetrics);
    if (SUCCEEDED(hr) && e->preset) {
        struct facts_page facts = {e, out, collectors, openmetrics};
        hr = preset_facts(page_fact, &facts);
        page_add_collectors(&facts);
    }
    if (FAILED(hr))
        return hr;
    page_add_about(e, out, openmetrics, (uint64_t)(sampled - begun));
    if (openmetrics)
        text_buffer_add(out, "# EOF\n");
    return out->failed ? E_OUTOFMEMORY : S_OK;
}

HRESULT exporter_page(struct exporter *e, bool openmetrics, const struct texts *collectors, struct text_buffer *out)
{
    lock_enter(&e->lock);
    *out = e->spare;
    e->spare = (struct text_buffer){0};
    out->length = 0;
    const HRESULT hr = page_make(e, openmetrics, collectors, out);
    lock_leave(&e->lock);
    return hr;
}

void exporter_give_back(struct exporter *e, struct text_buffer *page)
{
    lock_enter(&e->lock);
    if (!e->spare.text && !page->failed) {
        e->spare = *page;
        *page = (struct text_buffer){0};
    }
    lock_leave(&e->lock);
    text_buffer_free(page);
}

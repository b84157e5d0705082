/* SPDX-License-Identifier: MIT */
/* Chooses the series in a table, determines their order, and writes their cells. */
#include "engine/base/memory.h"
#include "engine/report/make/report_counters.h"
#include "engine/report/make/schema_reading.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

enum { MOST_CHARTED = 8, MOST_WATCHED = COUNTER_MOST_WATCHED, MOST_COLUMNS = 13, MOST_SLICED = 16 };

struct row {
    size_t at;   /* index of the series */
    size_t rank; /* position of the counter's first occurrence in the logs */
    const char *counter, *instance;
    bool has_key; /* the row has a value in the sort column */
    double key;
    bool ascending;
    bool picked;
    bool sliced; /* the row contains its table of slices */
};

/* ---- selection ---- */

static bool names_object(const struct report_schema *schema, const char *object)
{
    for (size_t s = 0; s < schema->section_count; s++)
        for (size_t t = 0; t < schema->sections[s].count; t++) {
            const struct schema_table *table = &schema->sections[s].tables[t];
            if (!table->of_events && text_equal_nocase(table->counters.object, object))
                return true;
        }
    return false;
}

/* Returns whether the patterns accept the text. Includes of one kind are alternatives; an Exclude takes precedence
   (MS-PLA 2.2.3.3). `other` is the same name in another language, or NULL. */
static bool patterns_take(const struct schema_counter_table *t, bool counter, const char *text, const char *other)
{
    bool any_include = false, included = false;
    for (size_t i = 0; i < t->pattern_count; i++) {
        const struct schema_pattern *p = &t->patterns[i];
        if (p->counter != counter)
            continue;
        const bool fits = schema_pattern_matches(p->text, text) || (other && schema_pattern_matches(p->text, other));
        if (fits && !p->include)
            return false;
        any_include |= p->include;
        included |= p->include && fits;
    }
    return included || !any_include;
}

bool counter_table_takes(const struct report_schema *schema, const struct schema_table *table,
                         const struct log_counter *counter, const char *instance)
{
    const struct schema_counter_table *t = &table->counters;
    if (!counter->object || !counter->counter)
        return false;
    const char *object = log_counter_english_object(counter);
    const bool of_object =
        !strcmp(t->object, "*")
            ? !names_object(schema, object) && (object == counter->object || !names_object(schema, counter->object))
            : text_equal_nocase(t->object, object) || text_equal_nocase(t->object, counter->object);
    return of_object && patterns_take(t, true, counter->counter, counter->english_counter) &&
           patterns_take(t, false, instance, NULL);
}

/* Returns whether the table's schema uses the names in the log's language. A user's own schema may use these names. */
static bool is_local_table(const struct schema_counter_table *t, const struct log_counter *counter)
{
    if (!strcmp(t->object, "*") || !text_equal_nocase(t->object, counter->object))
        return false;
    if (counter->english_object)
        return true;
    for (size_t i = 0; counter->english_counter && i < t->pattern_count; i++)
        if (t->patterns[i].counter && t->patterns[i].include &&
            schema_pattern_matches(t->patterns[i].text, counter->counter) &&
            !schema_pattern_matches(t->patterns[i].text, counter->english_counter))
            return true;
    return false;
}

const char *counter_table_name(const struct schema_table *table, const struct log_counter *counter)
{
    return is_local_table(&table->counters, counter) ? counter->counter : log_counter_english_counter(counter);
}

/* ---- order ---- */

/* Compares texts. Numbers within the texts are compared by value, so "2" precedes "10". */
static int compare_natural(const char *a, const char *b)
{
    while (*a && *b) {
        if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
            while (*a == '0' && a[1] >= '0' && a[1] <= '9')
                a++;
            while (*b == '0' && b[1] >= '0' && b[1] <= '9')
                b++;
            const size_t digits_a = strspn(a, "0123456789"), digits_b = strspn(b, "0123456789");
            if (digits_a != digits_b)
                return digits_a < digits_b ? -1 : 1;
            const int order = strncmp(a, b, digits_a);
            if (order)
                return order;
            a += digits_a;
            b += digits_b;
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    return text_compare_nocase(a, b);
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->has_key != b->has_key)
        return a->has_key ? -1 : 1; /* rows without a value are last in either order */
    if (a->has_key && a->key != b->key)
        return (a->key < b->key) == a->ascending ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    const int order = compare_natural(a->instance, b->instance);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

static double column_value(struct counter_series *s, unsigned column)
{
    struct value_statistics *v = &s->statistics;
    switch (column) {
    case COUNTER_COLUMN_MEAN:
        return value_statistics_mean(v);
    case COUNTER_COLUMN_MIN:
        return v->least;
    case COUNTER_COLUMN_MAX:
        return v->greatest;
    case COUNTER_COLUMN_SUM:
        return value_statistics_sum(v);
    case COUNTER_COLUMN_COUNT:
        return (double)v->count;
    case COUNTER_COLUMN_P50:
        return value_statistics_percentile(v, 0.5);
    case COUNTER_COLUMN_P95:
        return value_statistics_percentile(v, 0.95);
    case COUNTER_COLUMN_P99:
        return value_statistics_percentile(v, 0.99);
    case COUNTER_COLUMN_LAST:
        return v->last;
    case COUNTER_COLUMN_TREND:
        return slice_series_trend(&s->slices);
    default:
        return (double)NAN;
    }
}

static int compare_names(const void *left, const void *right)
{
    const struct row *a = *(struct row *const *)left, *b = *(struct row *const *)right;
    const int order = strcmp(a->counter, b->counter);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/* Sets the rank of each row to the position of the first row of the same counter. The ranks are in the order of the
   logs. */
static HRESULT rank_rows(struct row *rows, size_t count)
{
    struct row **by_name = memory_alloc((count + 1) * sizeof *by_name);
    if (!by_name)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < count; i++) {
        rows[i].rank = i;
        by_name[i] = &rows[i];
    }
    qsort(by_name, count, sizeof *by_name, compare_names);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(by_name[i]->counter, by_name[i - 1]->counter))
            by_name[i]->rank = by_name[i - 1]->rank;
    memory_free(by_name);
    return S_OK;
}

static HRESULT rows_select(const struct counter_rows *from, unsigned sort, bool ascending, struct row **out,
                           size_t *count)
{
    struct row *rows = memory_zero(from->count + 1, sizeof *rows);
    *out = rows;
    *count = 0;
    if (!rows)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < from->count; i++) {
        struct counter_series *s = &from->series[i];
        const struct log_counter *counter = &from->counters[i];
        const char *instance = s->instance ? s->instance : "";
        if (!s->statistics.count ||
            (from->object && !text_equal_nocase(from->object, log_counter_english_object(counter))) ||
            !counter_table_takes(from->schema, from->table, counter, instance))
            continue;
        const double key = column_value(s, sort);
        rows[*count] = (struct row){
            i,     0,    counter_table_name(from->table, counter), instance, sort && isfinite(key), key, ascending,
            false, false};
        ++*count;
    }
    HRESULT hr = rank_rows(rows, *count);
    if (SUCCEEDED(hr))
        qsort(rows, *count, sizeof *rows, compare_rows);
    return hr;
}

/* ---- cells ---- */

/* Returns the columns that describe the rows of the table (MS-PLA 2.2.3.3, CounterTable). */
static unsigned columns_of(const struct counter_rows *from, const struct row *rows, size_t count)
{
    unsigned columns = COUNTER_COLUMN_COUNTER | COUNTER_COLUMN_MEAN | COUNTER_COLUMN_MIN | COUNTER_COLUMN_MAX;
    const char *machine = from->counters[rows[0].at].machine;
    for (size_t i = 0; i < count; i++) {
        const char *other = from->counters[rows[i].at].machine;
        if (*rows[i].instance)
            columns |= COUNTER_COLUMN_INSTANCE;
        if (!text_equal_nocase(machine ? machine : "", other ? other : ""))
            columns |= COUNTER_COLUMN_MACHINE;
    }
    return (columns | from->table->counters.added) & ~from->table->counters.excluded;
}

static const char *without_backslashes(const char *machine)
{
    while (machine && *machine == '\\')
        machine++;
    return machine;
}

/* Writes an English name, with the name in the log as an attribute. */
static void write_name(const struct log_counter *counter, const char *name, struct report_document *to)
{
    const char *const local[] = {"local", counter->counter, NULL};
    if (name == counter->counter)
        report_cell(to, name);
    else
        report_cell_with(to, name, local);
}

/* Returns the name of the rows' object in the log, if the table uses the English name. */
static const char *local_object(const struct counter_rows *from, const struct row *row)
{
    const struct log_counter *counter = &from->counters[row->at];
    return counter->english_object && !is_local_table(&from->table->counters, counter) ? counter->object : NULL;
}

static void write_row(const struct counter_rows *from, const struct row *row, unsigned columns,
                      struct report_document *to)
{
    struct counter_series *s = &from->series[row->at];
    if (!report_row_begin(to))
        return;
    for (unsigned column = 1; column <= COUNTER_COLUMN_TREND; column <<= 1) {
        if (!(columns & column))
            continue;
        if (column == COUNTER_COLUMN_MACHINE)
            report_cell(to, without_backslashes(from->counters[row->at].machine));
        else if (column == COUNTER_COLUMN_COUNTER)
            write_name(&from->counters[row->at], row->counter, to);
        else if (column == COUNTER_COLUMN_INSTANCE)
            report_cell(to, row->instance);
        else
            report_cell_number(to, column_value(s, column));
    }
    if (row->sliced)
        slice_series_write(&s->slices, to);
    report_row_end(to);
}

/* ---- slices ---- */

/* A series of a counter, for sorting by importance to rules. The sum of all instances comes first. The other series are
   sorted by `key`, which is the highest peak or the lowest value. */
struct sliced {
    struct row *row;
    bool is_sum;
    double key;
};

static bool is_sum(const struct row *row)
{
    return text_equal_nocase(row->instance, "_Total");
}

static int compare_sliced(const void *left, const void *right)
{
    const struct sliced *a = left, *b = right;
    if (a->row->rank != b->row->rank)
        return a->row->rank < b->row->rank ? -1 : 1;
    if (a->is_sum != b->is_sum)
        return a->is_sum ? -1 : 1;
    return a->key != b->key ? (a->key > b->key ? -1 : 1) : (a->row->at > b->row->at) - (a->row->at < b->row->at);
}

static void take_slices(const struct counter_rows *from, struct sliced *by, size_t count)
{
    size_t of_counter = 0;
    qsort(by, count, sizeof *by, compare_sliced);
    for (size_t i = 0; i < count; i++) {
        const size_t slices = from->series[by[i].row->at].slices.count;
        of_counter = i && by[i].row->rank == by[i - 1].row->rank ? of_counter + 1 : 0;
        if (of_counter >= MOST_SLICED || by[i].row->sliced || slices > *from->slices_left)
            continue;
        by[i].row->sliced = true;
        *from->slices_left -= slices;
    }
}

/* Chooses for each counter the sum, the 16 instances with the highest peaks and the 16 with the lowest values. */
static HRESULT choose_sliced(const struct counter_rows *from, struct row *rows, size_t count)
{
    if (!from->table->counters.slices || !from->slices_left)
        return S_OK;
    struct sliced *by = memory_alloc((count + 1) * sizeof *by);
    if (!by)
        return E_OUTOFMEMORY;
    for (int low = 0; low < 2; low++) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            const struct counter_series *s = &from->series[rows[i].at];
            if (s->slices.count && schema_patterns_match(from->table->counters.slices, rows[i].counter))
                by[n++] =
                    (struct sliced){&rows[i], is_sum(&rows[i]), low ? -s->statistics.least : s->statistics.greatest};
        }
        take_slices(from, by, n);
    }
    memory_free(by);
    return S_OK;
}

static uint32_t shown_rows(const struct counter_rows *from)
{
    if (from->table->threshold)
        return from->table->threshold;
    return from->schema->has_threshold ? from->schema->threshold : SCHEMA_SHOWN_ROWS;
}

static HRESULT warn_of_omitted(const struct schema_table *table, const char *name, uint64_t omitted,
                               struct texts *warnings)
{
    if (!omitted || table->row_count)
        return S_OK; /* nothing is omitted, or the schema limits the rows */
    char *text =
        text_format("table '%.100s': %llu rows are omitted (a report has at most %d rows per table and at most %u MB)",
                    name, (unsigned long long)omitted, REPORT_MOST_ROWS, (unsigned)(REPORT_MOST_BYTES >> 20));
    return text ? texts_add_owned(warnings, text) : E_OUTOFMEMORY;
}

HRESULT counter_rows_write(const struct counter_rows *from, struct report_document *to, struct texts *warnings)
{
    const struct schema_table *t = from->table;
    struct report_column_head heads[MOST_COLUMNS];
    struct row *rows;
    size_t count, head_count = 0;
    uint64_t omitted = 0;
    HRESULT hr = rows_select(from, t->counters.sort, t->counters.ascending, &rows, &count);
    if (SUCCEEDED(hr))
        hr = choose_sliced(from, rows, count);
    if (FAILED(hr) || !count) {
        memory_free(rows);
        return hr;
    }
    const unsigned columns = columns_of(from, rows, count);
    for (size_t i = 0, place = 0; i < schema_word_count; i++) {
        if (schema_words[i].sort != VALUE_COUNTER_COLUMN)
            continue;
        const unsigned column = 1U << place++;
        if (columns & column)
            heads[head_count++] = (struct report_column_head){
                .name = schema_words[i].text,
                .left = column < COUNTER_COLUMN_MEAN,
                .sort = t->counters.sort == column ? "primary" : NULL,
            };
    }
    const struct report_table_head head = {.name = from->object ? from->object : t->name,
                                           .topic = t->topic,
                                           .key = t->key,
                                           .note = t->note,
                                           .source = from->object ? from->object : t->counters.object,
                                           .local = local_object(from, &rows[0]),
                                           .threshold = shown_rows(from),
                                           .level = t->level,
                                           .most_rows = t->row_count,
                                           .columns = heads,
                                           .column_count = head_count};
    report_table_begin(to, &head);
    for (size_t i = 0; i < count; i++)
        write_row(from, &rows[i], columns, to);
    report_table_end(to, &omitted);
    memory_free(rows);
    return warn_of_omitted(t, head.name, omitted, warnings);
}

/* ---- charts ---- */

static bool has_points(const struct counter_rows *from, const struct row *row)
{
    const struct chart_series *chart = from->series[row->at].chart;
    return chart && chart->count > 0;
}

static HRESULT write_chart(const struct counter_rows *from, const struct row *rows, size_t count, const char *title,
                           bool watched, struct report_document *to)
{
    const char *name = from->object ? from->object : from->table->name;
    struct report_chart_head head = {.name = name,
                                     .title = title,
                                     .source = from->object ? from->object : from->table->counters.object,
                                     .limit = from->table->counters.limit,
                                     .watched = watched,
                                     .first = INT64_MAX,
                                     .last = INT64_MIN};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < count; i++) {
        const struct chart_series *chart = from->series[rows[i].at].chart;
        head.first = chart->begin < head.first ? chart->begin : head.first;
        head.last = chart->last > head.last ? chart->last : head.last;
    }
    if (!count)
        return S_OK;
    report_chart_begin(to, &head);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        struct text_buffer points = {0};
        struct chart_series_place place;
        char *series =
            *rows[i].instance ? text_format("%s (%s)", rows[i].counter, rows[i].instance) : text_copy(rows[i].counter);
        chart_series_text(from->series[rows[i].at].chart, head.first, &points, &place);
        hr = series && !points.failed && points.text ? S_OK : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            report_chart_series(to, series, place.first, place.step, points.text);
        text_buffer_free(&points);
        memory_free(series);
    }
    if (SUCCEEDED(hr))
        report_chart_end(to);
    return hr;
}

HRESULT counter_rows_chart(const struct counter_rows *from, struct report_document *to, struct texts *warnings)
{
    char pattern[SCHEMA_LONGEST_PATTERN];
    struct row *rows;
    size_t count;
    (void)warnings;
    HRESULT hr = rows_select(from, COUNTER_COLUMN_MEAN, false, &rows, &count);
    for (const char *at = from->table->counters.chart; at && SUCCEEDED(hr);) {
        struct row chosen[MOST_CHARTED];
        size_t picked = 0;
        at = schema_pattern_first(at, pattern);
        for (size_t i = 0; *pattern && i < count; i++) {
            const bool full = picked == MOST_CHARTED;
            if ((!full || is_sum(&rows[i])) && has_points(from, &rows[i]) &&
                schema_pattern_matches(pattern, rows[i].counter)) {
                picked -= full;
                chosen[picked++] = rows[i];
            }
        }
        hr = write_chart(from, chosen, picked, pattern, false, to);
    }
    memory_free(rows);
    return hr;
}

/* The criteria by which a rule may select a series: greatest, least, highest peak, greatest growth. */
enum standing { STANDING_MOST, STANDING_LEAST, STANDING_PEAK, STANDING_GROWTH, STANDING_KINDS };

static double standing_of(struct counter_series *s, enum standing kind)
{
    const double mean = value_statistics_mean(&s->statistics);
    switch (kind) {
    case STANDING_MOST:
        return mean;
    case STANDING_LEAST:
        return -mean;
    case STANDING_PEAK:
        return s->statistics.greatest;
    default:
        return s->statistics.last - s->statistics.least;
    }
}

/* Selects two groups of series. The first group consists of the best MOST_CHARTED series by each criterion, and the sum
   of all instances. The second group consists of the remaining series. Within each group, the series are in the order
   of the rows. */
static size_t pick_watched(const struct counter_rows *from, struct row *rows, size_t count, size_t rank,
                           struct row *out)
{
    size_t picked = 0;
    for (enum standing kind = STANDING_MOST; kind < STANDING_KINDS; kind++)
        for (size_t n = 0; n < MOST_CHARTED; n++) {
            struct row *best = NULL;
            double greatest = 0;
            for (size_t i = 0; i < count; i++) {
                const double value = rows[i].rank == rank && !rows[i].picked
                                         ? standing_of(&from->series[rows[i].at], kind)
                                         : (double)NAN;
                if (isfinite(value) && (!best || value > greatest)) {
                    best = &rows[i];
                    greatest = value;
                }
            }
            if (!best)
                break;
            best->picked = true;
        }
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < count && picked < MOST_WATCHED; i++)
            if (rows[i].rank == rank && (rows[i].picked || is_sum(&rows[i])) == !others)
                out[picked++] = rows[i];
    return picked;
}

/* Returns whether the table's own chart has all series of the counter. */
static bool is_charted(const struct counter_rows *from, const struct row *rows, size_t count, const char *counter)
{
    char pattern[SCHEMA_LONGEST_PATTERN];
    for (const char *at = from->table->counters.chart; at;) {
        size_t matching = 0;
        at = schema_pattern_first(at, pattern);
        if (!*pattern || !schema_pattern_matches(pattern, counter))
            continue;
        for (size_t i = 0; i < count && matching <= MOST_CHARTED; i++)
            matching += has_points(from, &rows[i]) && schema_pattern_matches(pattern, rows[i].counter);
        if (matching <= MOST_CHARTED)
            return true;
    }
    return false;
}

HRESULT counter_rows_watched(const struct counter_rows *from, struct report_document *to, struct texts *warnings)
{
    struct row *rows, *watched = NULL;
    size_t count, left = 0;
    (void)warnings;
    HRESULT hr = rows_select(from, COUNTER_COLUMN_MEAN, false, &rows, &count);
    if (SUCCEEDED(hr))
        watched = memory_alloc((count + 1) * sizeof *watched);
    if (SUCCEEDED(hr) && !watched)
        hr = E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (has_points(from, &rows[i]) && schema_patterns_match(from->table->counters.watch, rows[i].counter))
            watched[left++] = rows[i];
    while (SUCCEEDED(hr) && left) { /* writes the chart of the first row's counter, and removes that counter's rows */
        struct row chosen[MOST_WATCHED];
        const struct row first = watched[0];
        size_t kept = 0;
        if (!is_charted(from, rows, count, first.counter)) {
            const size_t picked = pick_watched(from, watched, left, first.rank, chosen);
            hr = write_chart(from, chosen, picked, first.counter, true, to);
        }
        for (size_t i = 0; i < left; i++)
            if (watched[i].rank != first.rank)
                watched[kept++] = watched[i];
        left = kept;
    }
    memory_free(watched);
    memory_free(rows);
    return hr;
}

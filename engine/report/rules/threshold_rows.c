/* SPDX-License-Identifier: MIT */
/* Compares rows of a report with the limit of a Threshold, slice by slice. The report may be malicious: at most
   RULES_NODES_MAX rows are compared, and joins of two counters search in sorted lists. */
#include "engine/base/memory.h"
#include "engine/report/make/report_counters.h"
#include "engine/report/rules/rules_threshold.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

#define SQL_SERVER "SQLServer:" /* objects of the default instance; objects of the instance X begin with MSSQL$X: */
#define SQL_NAMED  "MSSQL$"

enum { SLICES_READ_MOST = 2 * SLICES_MOST_FIXED };

/* ---- the report's rows ---- */

static const char *node_text(xmlNodePtr e)
{
    const xmlNode *text = e ? e->children : NULL;
    return text && text->type == XML_TEXT_NODE && text->content ? (const char *)text->content : "";
}

static xmlNodePtr find_data(xmlNodePtr row, const char *name)
{
    for (xmlNodePtr d = rules_child(row, "Data"); d; d = rules_next(d, "Data")) {
        const char *own = rules_attribute(d, "name");
        if (own && !strcmp(own, name))
            return d;
    }
    return NULL;
}

static double number_of(const char *text)
{
    char *end = NULL;
    const double value = *text && strchr("-+.0123456789", *text) ? strtod(text, &end) : (double)NAN;
    return isfinite(value) ? value : (double)NAN;
}

static double row_number(xmlNodePtr row, const char *name)
{
    return number_of(node_text(find_data(row, name)));
}

/* A row of a counter table. */
struct counted_row {
    xmlNodePtr row;
    const char *object, *instance, *machine;
    size_t owner; /* result of sql_owner(object): length of the part of `object` that names the SQL Server instance */
    bool by_instance;
};
struct counted_rows {
    struct counted_row *items;
    size_t count, capacity;
};

static bool starts_nocase(const char *text, const char *start)
{
    for (; *start; start++, text++)
        if ((*text | 0x20) != (*start | 0x20))
            return false;
    return true;
}

/* If the object belongs to SQL Server, returns the number of bytes before the ':' in its name; otherwise returns 0. */
static size_t sql_owner(const char *object)
{
    const char *colon = strchr(object, ':');
    return colon && (starts_nocase(object, SQL_SERVER) || starts_nocase(object, SQL_NAMED)) ? (size_t)(colon - object)
                                                                                            : 0;
}

static bool object_matches(const char *pattern, const char *object)
{
    if (starts_nocase(pattern, SQL_SERVER) && sql_owner(object))
        return text_matches(pattern + strlen(SQL_SERVER), object + sql_owner(object) + 1);
    return text_matches(pattern, object);
}

/* Returns whether the instance is not part of the load. Such an instance is a sum, or the process Idle, which stands
   for unused processor time. */
static bool is_no_part(const char *instance)
{
    static const char *const names[] = {"_Total", "__Total__", "_Global_", "Idle"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_equal_nocase(instance, names[i]))
            return true;
    return false;
}

static bool instance_matches(const char *pattern, const char *instance)
{
    if (!pattern || !*instance)
        return !pattern && !*instance;
    return strcmp(pattern, "*") == 0 ? !is_no_part(instance) : text_matches(pattern, instance);
}

static HRESULT rows_add(struct counted_rows *rows, const struct counted_row *row)
{
    void *items = rows->items;
    if (!memory_grow(&items, &rows->capacity, rows->count + 1, sizeof *rows->items))
        return E_OUTOFMEMORY;
    rows->items = items;
    rows->items[rows->count++] = *row;
    return S_OK;
}

static HRESULT collect_table(xmlNodePtr table, const struct threshold_path *path, struct counted_rows *rows,
                             uint64_t *visited)
{
    const char *object = rules_attribute(table, "source");
    HRESULT hr = S_OK;
    if (!object || !object_matches(path->object, object))
        return S_OK;
    for (xmlNodePtr row = rules_child(table, "Item"); row && SUCCEEDED(hr) && rows->count < RULES_NODES_MAX;
         row = rules_next(row, "Item")) {
        struct counted_row one = {.row = row, .object = object, .owner = sql_owner(object)};
        ++*visited;
        one.by_instance = path->instance && !strcmp(path->instance, "*");
        one.instance = node_text(find_data(row, "instance"));
        one.machine = node_text(find_data(row, "machine"));
        if (text_matches(path->counter, node_text(find_data(row, "counter"))) &&
            instance_matches(path->instance, one.instance))
            hr = rows_add(rows, &one);
    }
    return hr;
}

static HRESULT collect_rows(xmlNodePtr report, const char *paths, struct counted_rows *rows, uint64_t *visited)
{
    HRESULT hr = S_OK;
    for (const char *rest = paths; rest && SUCCEEDED(hr);) {
        struct threshold_path path;
        hr = threshold_path_read(rest, &path, &rest);
        for (xmlNodePtr s = rules_child(report, "Section"); s && SUCCEEDED(hr); s = rules_next(s, "Section"))
            for (xmlNodePtr t = rules_child(s, "Table"); t && SUCCEEDED(hr); t = rules_next(t, "Table"))
                hr = collect_table(t, &path, rows, visited);
        threshold_path_free(&path);
    }
    return hr;
}

/* Compares the computers, and then the instances of SQL Server that the objects belong to. */
static int compare_owners(const struct counted_row *a, const struct counted_row *b)
{
    const int machines = text_compare_nocase(a->machine, b->machine);
    if (machines)
        return machines;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return a->owner ? strncmp(a->object, b->object, a->owner) : 0;
}

static int compare_divisors(const void *left, const void *right)
{
    const struct counted_row *a = left, *b = right;
    const int owners = compare_owners(a, b);
    return owners || !a->by_instance || !b->by_instance ? owners : text_compare_nocase(a->instance, b->instance);
}

/* Returns the row of the other counter that belongs to this row, or NULL if no row belongs to it. */
static xmlNodePtr find_partner(const struct counted_rows *partners, const struct counted_row *row)
{
    struct counted_row key = *row;
    if (!partners->count)
        return NULL;
    key.by_instance = partners->items[0].by_instance;
    const struct counted_row *found =
        bsearch(&key, partners->items, partners->count, sizeof *partners->items, compare_divisors);
    return found ? found->row : NULL;
}

static HRESULT collect_partners(xmlNodePtr report, const char *path, struct counted_rows *rows, uint64_t *visited)
{
    HRESULT hr = path ? collect_rows(report, path, rows, visited) : S_OK;
    for (size_t i = 1; i < rows->count; i++)
        rows->items[i].by_instance = rows->items[0].by_instance; /* all rows are sorted alike */
    if (SUCCEEDED(hr) && rows->count)
        qsort(rows->items, rows->count, sizeof *rows->items, compare_divisors);
    return hr;
}

/* ---- processors and memory ---- */

/* Sets *out to the number of instances of a counter with one instance per processor; 0 if the number is unknown. */
static HRESULT count_processors(xmlNodePtr report, const char *machine, double *out, uint64_t *visited)
{
    static const char *const paths[] = {"\\Processor(*)\\% Processor Time",
                                        "\\Processor Information(*)\\% Processor Time",
                                        "\\Processor Information(*)\\% Processor Utility"};
    HRESULT hr = S_OK;
    *out = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && SUCCEEDED(hr) && *out == 0; i++) {
        struct counted_rows rows = {0};
        hr = collect_rows(report, paths[i], &rows, visited);
        for (size_t k = 0; k < rows.count; k++)
            *out += text_equal_nocase(rows.items[k].machine, machine) && !strstr(rows.items[k].instance, "_Total");
        memory_free(rows.items);
    }
    return hr;
}

/* Returns the memory in MB if the report contains it and is from the row's computer; otherwise 0. */
static double installed_memory(xmlNodePtr report, const char *machine)
{
    xmlNodePtr header = rules_child(report, "Header");
    const double size = header ? row_number(header, "memory") : 0;
    const char *computer = header ? node_text(find_data(header, "computer")) : "";
    return size > 0 && (!*machine || text_equal_nocase(machine, computer)) ? size : 0;
}

static HRESULT scale_of(const struct threshold *t, xmlNodePtr report, const char *machine, double *out,
                        uint64_t *visited)
{
    *out = t->times == SCALE_ONE         ? 1
           : t->times == SCALE_MEGABYTES ? installed_memory(report, machine)
                                         : installed_memory(report, machine) * 1048576;
    return t->times == SCALE_PROCESSORS ? count_processors(report, machine, out, visited) : S_OK;
}

/* ---- slices ---- */

struct read_slice {
    const char *start, *end;
    double mean, least, greatest; /* NaN means no value */
};
struct read_slices {
    struct read_slice *items;
    size_t count, capacity;
    double seconds; /* length of each slice */
    double covered; /* total length in seconds of the slices that have a value */
};

static HRESULT slices_read(xmlNodePtr row, struct read_slices *out, uint64_t *visited)
{
    HRESULT hr = S_OK;
    *out = (struct read_slices){0};
    for (xmlNodePtr t = rules_child(row, "Table"); t; t = rules_next(t, "Table")) {
        const char *name = rules_attribute(t, "name"), *note = rules_attribute(t, "note");
        if (!name || strcmp(name, SLICES_TABLE) != 0)
            continue;
        out->seconds = number_of(note ? note : "");
        for (xmlNodePtr s = rules_child(t, "Item"); s && SUCCEEDED(hr) && out->count < SLICES_READ_MOST;
             s = rules_next(s, "Item")) {
            void *items = out->items;
            ++*visited;
            if (!memory_grow(&items, &out->capacity, out->count + 1, sizeof *out->items)) {
                hr = E_OUTOFMEMORY;
                continue;
            }
            out->items = items;
            out->items[out->count++] =
                (struct read_slice){node_text(find_data(s, "start")), node_text(find_data(s, "end")),
                                    row_number(s, "mean"), row_number(s, "min"), row_number(s, "max")};
            out->covered += isnan(out->items[out->count - 1].mean) ? 0 : out->seconds;
        }
        break;
    }
    if (!(out->seconds > 0)) /* also true for NaN */
        out->count = 0;
    return hr;
}

/* If the Threshold has a counter `minus`, subtracts the means of its slices; if the Threshold has a counter `per`,
   divides by the means of its slices. Slices belong together if they have the same start. If a slice of `per` is not
   above `least`, the result is empty. Without `per`, the slice's own mean must be above `least`. */
static void slices_join(const struct threshold *t, struct read_slices *a, const struct read_slices *per,
                        const struct read_slices *minus)
{
    size_t p = 0, m = 0;
    for (size_t i = 0; i < a->count; i++) {
        struct read_slice *s = &a->items[i];
        while (p < per->count && strcmp(per->items[p].start, s->start) < 0)
            p++;
        while (m < minus->count && strcmp(minus->items[m].start, s->start) < 0)
            m++;
        const bool has_per = p < per->count && !strcmp(per->items[p].start, s->start);
        const bool has_minus = m < minus->count && !strcmp(minus->items[m].start, s->start);
        if (t->has_least && !t->per && !(s->mean > t->least))
            s->mean = (double)NAN;
        if (t->minus)
            s->mean = has_minus ? s->mean - minus->items[m].mean : (double)NAN;
        if (t->per)
            s->mean = has_per && per->items[p].mean > t->least ? s->mean / per->items[p].mean : (double)NAN;
        s->mean *= t->factor;
        s->mean = isfinite(s->mean) ? s->mean : (double)NAN;
        s->least = s->greatest = s->mean;
    }
}

/* ---- comparing ---- */

static bool is_beyond(const struct threshold *t, double value, double limit)
{
    return t->is_upper ? value > limit : value < limit; /* false for NaN */
}

static double slice_value(const struct threshold *t, const struct read_slice *s)
{
    return t->of == MEASURE_MAX ? s->greatest : t->of == MEASURE_MIN ? s->least : s->mean;
}

/* Adds up the time of the slices beyond the limit, in seconds; *critical becomes the time of the slices beyond the
   limit `critical`. */
static double add_slices(const struct threshold *t, const struct read_slices *all, struct threshold_finding *f,
                         double *critical)
{
    double sum = 0, hits = 0;
    *critical = 0;
    f->worst = (double)NAN;
    for (size_t i = 0; i < all->count; i++) {
        const struct read_slice *s = &all->items[i];
        const double value = slice_value(t, s), extreme = t->is_upper ? s->greatest : s->least;
        if (!is_beyond(t, value, f->limit))
            continue;
        *critical += t->has_critical && is_beyond(t, value, f->critical) ? all->seconds : 0;
        sum += value;
        hits++;
        f->first = *f->first ? f->first : s->start;
        f->last = s->end;
        if (isnan(f->worst) || is_beyond(t, extreme, f->worst)) {
            f->worst = extreme;
            f->worst_at = s->start;
        }
    }
    f->value = sum / hits;
    f->seconds = hits * all->seconds;
    return f->seconds;
}

/* Returns whether the value grew (or fell) most of the time and did not just jump there and back. */
static bool is_steady(const struct read_slices *all, double trend)
{
    double first = (double)NAN, last = (double)NAN, least = (double)NAN, greatest = (double)NAN;
    for (size_t i = 0; i < all->count; i++) {
        const double mean = all->items[i].mean;
        if (isnan(mean))
            continue;
        first = isnan(first) ? mean : first;
        last = mean;
        least = mean >= least ? least : mean;
        greatest = mean <= greatest ? greatest : mean;
    }
    const double grown = trend > 0 ? last - first : first - last;
    return grown > 0 && grown >= 0.5 * (greatest - least);
}

/* Returns the trend from the column of trends; if the row has no such column, computes it from the slices. */
static double trend_of(const struct threshold *t, const struct read_slices *all, xmlNodePtr row,
                       struct threshold_finding *f)
{
    struct slice_series series = {.width = (int64_t)(all->seconds * 1e7)};
    double trend = row_number(row, "trend");
    if (!all->count || all->seconds > 1e6)
        return (double)NAN;
    if (isnan(trend)) {
        series.items = memory_zero(all->count, sizeof *series.items);
        series.count = series.items ? all->count : 0;
        for (size_t i = 0; i < series.count; i++)
            if (!isnan(all->items[i].mean))
                series.items[i] = (struct time_slice){.count = 1, .mean = all->items[i].mean};
        trend = slice_series_trend(&series);
        slice_series_free(&series);
    }
    f->first = all->items[0].start;
    f->last = all->items[all->count - 1].end;
    f->seconds = (double)all->count * all->seconds;
    f->value = f->worst = trend * t->factor;
    return !isnan(trend) && is_steady(all, trend) ? f->value : (double)NAN;
}

/* Returns the total increase of an event counter, which may restart at zero. */
static double increase_of(const struct read_slices *all, xmlNodePtr row, struct threshold_finding *f)
{
    double before = (double)NAN, sum = 0, largest = 0;
    if (!all->count)
        return row_number(row, "max") - row_number(row, "min");
    for (size_t i = 0; i < all->count; i++) {
        const struct read_slice *s = &all->items[i];
        if (isnan(s->greatest))
            continue;
        const double grown = isnan(before) ? s->greatest - s->least : s->greatest - before;
        before = s->greatest;
        if (!(grown > 0))
            continue;
        sum += grown;
        f->first = *f->first ? f->first : s->start;
        f->last = s->end;
        f->seconds += all->seconds;
        if (grown > largest) {
            largest = grown;
            f->worst_at = s->start;
        }
    }
    f->worst = largest;
    return sum;
}

/* Returns the value for the whole report. This value is used if the row has no slices, or if the slices with a value
   cover less than twice the duration. */
static double whole_value(const struct threshold *t, xmlNodePtr row, xmlNodePtr per, xmlNodePtr minus)
{
    double value = row_number(row, t->of == MEASURE_MAX ? "max" : t->of == MEASURE_MIN ? "min" : "mean");
    if (t->has_least && !t->per && !(value > t->least))
        return (double)NAN;
    if (t->minus)
        value = minus ? value - row_number(minus, "mean") : (double)NAN;
    if (t->per)
        value = per && row_number(per, "mean") > t->least ? value / row_number(per, "mean") : (double)NAN;
    return value * t->factor;
}

struct partners {
    xmlNodePtr per, minus;
};

/* Returns whether the row is beyond the limit, and stores the values of the row in the finding. */
static bool compare_slices(const struct threshold *t, const struct read_slices *all, const struct partners *p,
                           struct threshold_finding *f)
{
    double critical;
    if (t->of == MEASURE_TREND || t->of == MEASURE_INCREASE) {
        const double value =
            t->of == MEASURE_TREND ? trend_of(t, all, f->row, f) : increase_of(all, f->row, f) * t->factor;
        f->value = value;
        f->is_critical = t->has_critical && is_beyond(t, value, f->critical);
        return is_beyond(t, value, f->limit);
    }
    const double seconds = add_slices(t, all, f, &critical);
    f->is_critical = critical > 0 && critical >= t->seconds;
    if (seconds > 0 && seconds >= t->seconds)
        return true;
    if (all->count && all->covered >= 2.0 * t->seconds)
        return false;
    const double value = whole_value(t, f->row, p->per, p->minus);
    if (!is_beyond(t, value, f->limit))
        return false;
    f->value = value;
    if (!(seconds > 0))
        f->worst = value;
    f->is_critical = t->has_critical && is_beyond(t, value, f->critical);
    return true;
}

static HRESULT compare_row(const struct threshold *t, const struct counted_row *row, const struct partners *p,
                           struct threshold_finding *f, bool *is_found, uint64_t *visited)
{
    struct read_slices all = {0}, per = {0}, minus = {0};
    HRESULT hr = slices_read(row->row, &all, visited);
    if (SUCCEEDED(hr) && p->per)
        hr = slices_read(p->per, &per, visited);
    if (SUCCEEDED(hr) && p->minus)
        hr = slices_read(p->minus, &minus, visited);
    if (SUCCEEDED(hr) && (t->per || t->minus || t->has_least || t->factor != 1) && t->of == MEASURE_MEAN)
        slices_join(t, &all, &per, &minus);
    *is_found = SUCCEEDED(hr) && compare_slices(t, &all, p, f);
    memory_free(all.items);
    memory_free(per.items);
    memory_free(minus.items);
    return hr;
}

/* ---- findings ---- */

static int compare_names(const void *left, const void *right)
{
    const struct threshold_finding *a = left, *b = right;
    const int machines = strcmp(a->machine, b->machine), objects = strcmp(a->object, b->object);
    return machines ? machines : objects ? objects : strcmp(a->instance, b->instance);
}

static int worse_first(const struct threshold_finding *a, const struct threshold_finding *b, bool is_upper)
{
    if (a->is_critical != b->is_critical)
        return a->is_critical ? -1 : 1;
    if (!*a->first != !*b->first) /* a finding with a known time is more useful */
        return *a->first ? -1 : 1;
    if (a->value != b->value)
        return (a->value > b->value) == is_upper ? -1 : 1;
    return compare_names(a, b);
}

static int compare_upper(const void *left, const void *right)
{
    return worse_first(left, right, true);
}

static int compare_lower(const void *left, const void *right)
{
    return worse_first(left, right, false);
}

static int compare_duplicates(const void *left, const void *right, bool is_upper)
{
    const int names = compare_names(left, right);
    return names ? names : worse_first(left, right, is_upper);
}

static int compare_upper_duplicates(const void *left, const void *right)
{
    return compare_duplicates(left, right, true);
}

static int compare_lower_duplicates(const void *left, const void *right)
{
    return compare_duplicates(left, right, false);
}

/* A row may be in several tables of a report, and several counters of an instance may be beyond the limit: the worst
   finding of each instance is kept. */
static void findings_order(struct threshold_findings *f, bool is_upper)
{
    size_t kept = 0;
    if (!f->count)
        return;
    qsort(f->items, f->count, sizeof *f->items, is_upper ? compare_upper_duplicates : compare_lower_duplicates);
    for (size_t i = 0; i < f->count; i++)
        if (!i || compare_names(&f->items[i], &f->items[kept - 1]))
            f->items[kept++] = f->items[i];
    f->count = kept;
    qsort(f->items, f->count, sizeof *f->items, is_upper ? compare_upper : compare_lower);
}

static HRESULT findings_add(struct threshold_findings *f, const struct threshold_finding *one)
{
    void *items = f->items;
    if (!memory_grow(&items, &f->capacity, f->count + 1, sizeof *f->items))
        return E_OUTOFMEMORY;
    f->items = items;
    f->items[f->count++] = *one;
    return S_OK;
}

static HRESULT measure_row(const struct threshold *t, const struct counted_row *row, const struct partners *p,
                           double scale, struct threshold_findings *out)
{
    struct threshold_finding f = {.row = row->row,
                                  .object = row->object,
                                  .instance = row->instance,
                                  .machine = row->machine,
                                  .limit = t->limit * scale,
                                  .critical = t->critical * scale,
                                  .first = "",
                                  .last = "",
                                  .worst_at = ""};
    bool is_found = false;
    out->known++;
    HRESULT hr = compare_row(t, row, p, &f, &is_found, &out->visited);
    return SUCCEEDED(hr) && is_found ? findings_add(out, &f) : hr;
}

/* Sets *out to true if the report contains the counter `unless`. In this case another rule replaces this Threshold. */
static HRESULT is_elsewhere(const struct threshold *t, xmlNodePtr report, bool *out, uint64_t *visited)
{
    struct counted_rows rows = {0};
    HRESULT hr = t->unless ? collect_rows(report, t->unless, &rows, visited) : S_OK;
    *out = rows.count > 0;
    memory_free(rows.items);
    return hr;
}

static int compare_machines(const void *left, const void *right)
{
    return strcmp(((const struct counted_row *)left)->machine, ((const struct counted_row *)right)->machine);
}

HRESULT threshold_measure(const struct threshold *t, const struct rules_run *run, struct threshold_findings *out)
{
    const xmlNodePtr report = run->target->document.root;
    struct counted_rows rows = {0}, per = {0}, minus = {0};
    const char *machine = NULL;
    double scale = 0;
    bool elsewhere;
    HRESULT hr = is_elsewhere(t, report, &elsewhere, &out->visited);
    if (SUCCEEDED(hr) && !elsewhere)
        hr = collect_rows(report, t->counter, &rows, &out->visited);
    if (SUCCEEDED(hr) && rows.count)
        hr = collect_partners(report, t->per, &per, &out->visited);
    if (SUCCEEDED(hr) && rows.count)
        hr = collect_partners(report, t->minus, &minus, &out->visited);
    if (rows.count) /* the processors of each computer are counted once */
        qsort(rows.items, rows.count, sizeof *rows.items, compare_machines);
    for (size_t i = 0; i < rows.count && SUCCEEDED(hr); i++) {
        const struct counted_row *row = &rows.items[i];
        const struct partners p = {find_partner(&per, row), find_partner(&minus, row)};
        hr = rules_check_limits(run);
        if (SUCCEEDED(hr) && (!machine || strcmp(machine, row->machine) != 0))
            hr = scale_of(t, report, row->machine, &scale, &out->visited);
        machine = row->machine;
        if (SUCCEEDED(hr) && scale > 0 && (!t->per || p.per) && (!t->minus || p.minus))
            hr = measure_row(t, row, &p, scale, out);
    }
    findings_order(out, t->is_upper);
    memory_free(rows.items);
    memory_free(per.items);
    memory_free(minus.items);
    return hr;
}

void threshold_findings_free(struct threshold_findings *f)
{
    memory_free(f->items);
    *f = (struct threshold_findings){0};
}

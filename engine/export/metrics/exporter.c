/* SPDX-License-Identifier: MIT */
/* Reads counters of this computer or of logs, and determines the metrics that they become.

   A path yields columns of the query. Each pair of a path and a column is a use. Uses with the same metric name form a
   family, whose samples are written together:

       path \Process(*)\*  ->  column Process(*)\Handle Count   ->  family windows_process_handles
                               column Process(*)\Working Set    ->  family windows_process_working_set_bytes

   The query always asks for all instances ("*"), so that instances can appear and disappear without a new query. A path
   that names instances gets a pattern that selects them. The labels of an object's instances are built once per sample.
   If the object has the counter ID Process, its instances get the process ID as a label and lose a suffix like "#1".
   Thus a series stays with its process when another process of the same name exits.

   The columns of logs are those of engine/report/columns.h: counters with "*", as in a query, or single counters with
   their instance. All columns of logs belong to one path, and are added while the logs are read. */
#include "engine/export/metrics/exporter.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/logs/counter_path.h"

#include <string.h>

enum {
    RETRY_MS = 30000, /* minimum time between two rounds of tries to add missing counters */
    MOST_TRIES = 16,  /* maximum tries per sample, so that the sample is not late */
};

/* ---- paths ---- */

/* Changes the path's instance to "*". *pattern selects the instances that the path names; NULL: all. */
static HRESULT path_widen(const char *text, char **path, char **pattern)
{
    struct counter_path parts;
    *path = *pattern = NULL;
    if (counter_path_parse(text, &parts) != ERROR_SUCCESS || !parts.instance) {
        counter_path_free(&parts);
        *path = text_copy(text);
        return *path ? S_OK : E_OUTOFMEMORY;
    }
    char *instance = counter_path_instance(&parts);
    if (instance && instance[strspn(instance, "*/#")]) {
        *pattern = instance;
        instance = NULL;
    }
    struct counter_path all = {.machine = parts.machine,
                               .object = parts.object,
                               .instance = (char *)"*",
                               .index = PATH_NO_INDEX,
                               .counter = parts.counter};
    *path = counter_path_format(&all);
    const bool failed = !*path || (!instance && !*pattern);
    memory_free(instance);
    counter_path_free(&parts);
    if (!failed)
        return S_OK;
    memory_free(*path);
    memory_free(*pattern);
    return E_OUTOFMEMORY;
}

/* ---- the query ---- */

static void exporter_given(void *user, size_t path, size_t column)
{
    struct exporter *e = user;
    void *items = e->given;
    if (!memory_grow(&items, &e->given_capacity, e->given_count + 1, sizeof *e->given)) {
        e->failed = true;
        return;
    }
    e->given = items;
    e->given[e->given_count++] = (struct export_given){path, column};
}

static void exporter_refuse(void *user, HRESULT reason, const char *path, const char *text)
{
    struct exporter *e = user;
    const struct error_kept why = error_keep(reason);
    (void)text;
    for (size_t i = 0; i < e->path_count; i++)
        if (e->wide.items[i] == path) {
            e->paths[i].refused = true;
            if (e->paths[i].row)
                return; /* not reported, because no host OS has all counters of the preset */
        }
    char *more = e->explain ? e->explain(e->user, path, reason) : text_copy("");
    char *line = more ? text_format("%s%s (0x%08X)", error_text(error_restore(&why)), more, (unsigned)reason) : NULL;
    memory_free(more);
    e->failed |= !line || FAILED(texts_add_owned(&e->refused, line));
}

static HRESULT exporter_open_query(struct exporter *e)
{
    HRESULT hr = host_pdh(&e->pdh);
    const struct counter_query_request request = {.pdh = e->pdh,
                                                  .paths = &e->wide,
                                                  .keep_instances = true,
                                                  .values = e->values,
                                                  .refused = exporter_refuse,
                                                  .gives = exporter_given,
                                                  .user = e};
    if (SUCCEEDED(hr))
        hr = counter_query_open(&request, &e->query);
    return SUCCEEDED(hr) && e->failed ? E_OUTOFMEMORY : hr;
}

bool exporter_retry(struct exporter *e)
{
    const uint64_t now = clock_monotonic_ms();
    bool more = false;
    if (e->next_retry == e->path_count) {
        if (clock_passed_ms(e->tried, now) < RETRY_MS)
            return false;
        e->tried = now;
        e->next_retry = 0;
    }
    for (size_t tries = 0; e->next_retry < e->path_count && tries < MOST_TRIES; e->next_retry++) {
        const size_t i = e->next_retry;
        if (!e->paths[i].refused)
            continue;
        tries++;
        if (SUCCEEDED(counter_query_add(e->query, e->wide.items[i], i))) {
            e->paths[i].refused = false;
            more = true;
        }
    }
    return more;
}

/* ---- objects ---- */

static bool same_object(const struct log_counter *a, const struct log_counter *b)
{
    return text_equal_nocase(log_counter_english_object(a), log_counter_english_object(b)) &&
           text_equal_nocase(a->machine ? a->machine : "", b->machine ? b->machine : "");
}

static bool same_instance(const struct log_counter *a, const struct log_counter *b)
{
    return a->wildcard == b->wildcard && a->index == b->index && !a->instance == !b->instance &&
           (!a->instance || strcmp(a->instance, b->instance) == 0) &&
           strcmp(a->parent ? a->parent : "", b->parent ? b->parent : "") == 0;
}

/* Finds the column of another counter of the same instance in the logs. */
static int64_t logs_find_column(const struct exporter *e, const struct log_counter *of, const char *counter)
{
    size_t count;
    const struct log_counter *columns = exporter_columns(e, &count);
    for (size_t i = 0; i < count; i++)
        if (text_equal_nocase(log_counter_english_counter(&columns[i]), counter) && same_object(&columns[i], of) &&
            same_instance(&columns[i], of))
            return (int64_t)i;
    return NO_COLUMN;
}

/* Finds the column of another counter of the same object, and adds it if it does not exist. NO_COLUMN: the object has
   no such counter. */
static int64_t object_find_column(struct exporter *e, const struct log_counter *of, const char *counter)
{
    if (!e->query)
        return logs_find_column(e, of, counter);
    const size_t before = e->given_count;
    struct counter_path all = {.object = (char *)of->object,
                               .machine = (char *)(of->machine ? of->machine + strspn(of->machine, "\\") : NULL),
                               .instance = (char *)"*",
                               .index = PATH_NO_INDEX,
                               .counter = (char *)counter};
    char *path = counter_path_format(&all);
    int64_t column = NO_COLUMN;
    if (path && SUCCEEDED(counter_query_add(e->query, path, SIZE_MAX)) && e->given_count > before)
        column = (int64_t)e->given[before].column;
    e->given_count = before;
    memory_free(path);
    return column;
}

/* Returns the length of the part that an object's metric names share, such as "windows_memory". The shared part is
   computed as the metric name of a counter with an empty name. 0: out of memory. */
static size_t object_scope_length(const struct log_counter *c)
{
    const struct metric_form form = {.unit = "", .note = ""};
    struct log_counter none = *c;
    none.counter = "";
    none.english_counter = NULL;
    char *name = metric_name_of(&none, &form);
    const size_t length = name ? strlen(name) : 0;
    memory_free(name);
    return length;
}

static HRESULT object_take(struct exporter *e, size_t column, enum label_scheme scheme, size_t *out)
{
    size_t count;
    const struct log_counter *c = &exporter_columns(e, &count)[column];
    const char *object = log_counter_english_object(c), *machine = c->machine ? c->machine : "";
    for (size_t i = 0; i < e->object_count; i++)
        if (e->objects[i].scheme == scheme && text_equal_nocase(e->objects[i].name, object) &&
            text_equal_nocase(e->objects[i].machine, machine)) {
            *out = i;
            return S_OK;
        }
    void *items = e->objects;
    if (!memory_grow(&items, &e->object_capacity, e->object_count + 1, sizeof *e->objects))
        return E_OUTOFMEMORY;
    e->objects = items;
    struct export_object *o = &e->objects[e->object_count];
    *o = (struct export_object){.name = text_copy(object),
                                .machine = text_copy(machine),
                                .scheme = scheme,
                                .process_column = NO_COLUMN,
                                .thread_column = NO_COLUMN};
    e->object_count++;
    if (!o->name || !o->machine || !(o->scope_length = object_scope_length(c)))
        return E_OUTOFMEMORY;
    o->is_foreign = counter_path_machine_is_ours(o->machine + strspn(o->machine, "\\")) != ERROR_SUCCESS;
    if (c->wildcard && (scheme == LABELS_OWN || scheme == LABELS_PROCESS)) {
        /* Do not pass `c`: adding a column can move the array that contains *c. */
        const struct log_counter names = {.object = o->name, .machine = o->machine, .instance = "*", .wildcard = true};
        o->process_column = object_find_column(e, &names, "ID Process");
        o->thread_column = o->process_column == NO_COLUMN ? NO_COLUMN : object_find_column(e, &names, "ID Thread");
    }
    *out = e->object_count - 1;
    return S_OK;
}

/* Finds the columns with the process ID and the thread ID for a single counter of a log. */
static HRESULT use_find_ids(struct exporter *e, struct export_use *use)
{
    size_t count;
    const struct log_counter *c = &exporter_columns(e, &count)[use->column];
    use->process_column = use->thread_column = NO_COLUMN;
    if (c->wildcard || e->query)
        return S_OK;
    HRESULT hr = counter_instance(c, &use->instance);
    if (FAILED(hr) || !use->instance)
        return hr;
    struct export_object *o = &e->objects[use->object];
    for (size_t i = e->taken; i < count && !o->has_ids; i++) {
        const struct log_counter *other = &exporter_columns(e, &count)[i];
        o->has_ids = strcmp(log_counter_english_counter(other), "ID Process") == 0 && same_object(other, c);
    }
    if (o->has_ids) {
        use->process_column = logs_find_column(e, c, "ID Process");
        use->thread_column = use->process_column == NO_COLUMN ? NO_COLUMN : logs_find_column(e, c, "ID Thread");
    }
    return S_OK;
}

/* ---- families ---- */

static char *family_help(const struct exporter *e, size_t column, const struct metric_form *form)
{
    size_t count;
    const struct log_counter *c = &exporter_columns(e, &count)[column];
    char *help = NULL;
    if (e->query && FAILED(counter_query_help(e->query, column, &help)))
        return NULL;
    char *text = metric_help_of(c, c->wildcard || c->instance, help, form);
    memory_free(help);
    return text;
}

/* Finds the family with the column's metric name and form, and adds it if it does not exist. */
static HRESULT family_take(struct exporter *e, size_t column, const struct metric_form *form,
                           const struct preset_row *row, size_t *out)
{
    size_t count;
    const struct log_counter *c = &exporter_columns(e, &count)[column];
    char *name = NULL;
    HRESULT hr = S_FALSE;
    if (row) {
        for (*out = 0; *out < e->families.count; ++*out)
            if (strcmp(e->families.items[*out].name, row->metric) == 0)
                return S_OK;
        name = text_copy(row->metric);
    } else {
        hr = metric_families_find(&e->families, c, form, out, &name);
    }
    if (hr != S_FALSE)
        return hr;
    return metric_families_add(&e->families, name, family_help(e, column, form), form, row ? row->collector : NULL);
}

/* ---- uses ---- */

static bool same_use(const struct exporter *e, const struct export_use *a, const struct export_given *given)
{
    const char *x = e->paths[a->path].pattern, *y = e->paths[given->path].pattern;
    return a->column == given->column && e->paths[a->path].row == e->paths[given->path].row &&
           (x == y || (x && y && text_equal_nocase(x, y)));
}

static HRESULT use_add(struct exporter *e, const struct export_given *given)
{
    size_t count;
    for (size_t i = 0; i < e->use_count; i++)
        if (same_use(e, &e->uses[i], given))
            return S_OK;
    const struct log_counter *c = &exporter_columns(e, &count)[given->column];
    const struct preset_row *row = e->paths[given->path].row;
    struct export_use use = {.path = given->path, .column = given->column};
    use.form = row ? preset_form_of(row, c) : metric_form_of(c);
    if (use.form.kind == METRIC_NONE && !e->values)
        return S_OK;
    HRESULT hr = object_take(e, use.column, row ? row->labels : LABELS_OWN, &use.object);
    if (SUCCEEDED(hr))
        hr = family_take(e, use.column, &use.form, row, &use.family);
    if (SUCCEEDED(hr))
        hr = use_find_ids(e, &use);
    void *items = e->uses;
    if (SUCCEEDED(hr) && !memory_grow(&items, &e->use_capacity, e->use_count + 1, sizeof *e->uses))
        hr = E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(use.instance);
        return hr;
    }
    e->uses = items;
    /* insert the use after the last use of the same family */
    size_t at = e->use_count;
    while (at > 0 && e->uses[at - 1].family > use.family)
        at--;
    memmove(&e->uses[at + 1], &e->uses[at], (e->use_count - at) * sizeof *e->uses);
    e->uses[at] = use;
    e->use_count++;
    return S_OK;
}

HRESULT exporter_take_given(struct exporter *e)
{
    HRESULT hr = e->failed ? E_OUTOFMEMORY : S_OK;
    struct export_given *given = e->given;
    const size_t count = e->given_count;
    e->given = NULL; /* start a new list, because object_take can add more columns */
    e->given_count = e->given_capacity = 0;
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = use_add(e, &given[i]);
    memory_free(given);
    return hr;
}

HRESULT exporter_take_columns(struct exporter *e)
{
    size_t count;
    HRESULT hr = S_OK;
    exporter_columns(e, &count);
    for (; e->taken < count && SUCCEEDED(hr); e->taken++)
        hr = use_add(e, &(struct export_given){0, e->taken});
    return hr;
}

static HRESULT exporter_add_path(struct exporter *e, const char *text, const struct preset_row *row)
{
    struct export_path p = {.row = row};
    char *path;
    void *items = e->paths;
    HRESULT hr = path_widen(text, &path, &p.pattern);
    if (FAILED(hr))
        return hr;
    if (!memory_grow(&items, &e->path_capacity, e->path_count + 1, sizeof *e->paths)) {
        memory_free(path);
        memory_free(p.pattern);
        return E_OUTOFMEMORY;
    }
    e->paths = items;
    e->paths[e->path_count] = p;
    hr = texts_add_owned(&e->wide, path);
    if (SUCCEEDED(hr))
        e->path_count++;
    else
        memory_free(p.pattern);
    return hr;
}

static HRESULT exporter_add_preset(struct exporter *e)
{
    size_t count;
    const struct preset_row *rows = preset_rows(&count);
    HRESULT hr = S_OK;
    for (size_t i = 0; i < 2 * count && SUCCEEDED(hr); i++) {
        const struct preset_row *row = &rows[i / 2];
        bool failed = false;
        char *path = preset_path(row, i % 2 == 1, &failed);
        hr = failed ? E_OUTOFMEMORY : path ? exporter_add_path(e, path, row) : S_OK;
        memory_free(path);
    }
    return hr;
}

HRESULT exporter_open(const struct exporter_settings *settings, struct exporter **out)
{
    struct exporter *e = memory_zero(1, sizeof *e);
    *out = e;
    if (!e)
        return E_OUTOFMEMORY;
    HRESULT hr = S_OK;
    e->totals = settings->totals;
    e->preset = settings->preset;
    e->values = settings->values;
    e->names = settings->names;
    e->explain = settings->explain;
    e->user = settings->user;
    e->tried = clock_monotonic_ms();
    for (size_t i = 0; i < settings->paths->count && SUCCEEDED(hr); i++)
        hr = exporter_add_path(e, settings->paths->items[i], NULL);
    if (SUCCEEDED(hr) && e->preset)
        hr = exporter_add_preset(e);
    e->next_retry = e->path_count;
    if (SUCCEEDED(hr))
        hr = exporter_open_query(e);
    e->explain = NULL; /* called only while the exporter is being opened */
    return SUCCEEDED(hr) ? exporter_take_given(e) : hr;
}

HRESULT exporter_open_logs(struct inputs *in, struct filter *filter, bool values, bool totals, struct exporter **out)
{
    struct exporter *e = memory_zero(1, sizeof *e);
    *out = e;
    if (!e)
        return E_OUTOFMEMORY;
    e->inputs = in;
    e->totals = totals;
    e->values = e->columns.values = values;
    e->columns.filter = filter;
    e->columns.raw = true;
    void *items = NULL;
    if (!memory_grow(&items, &e->path_capacity, 1, sizeof *e->paths))
        return E_OUTOFMEMORY;
    e->paths = items;
    e->paths[e->path_count++] = (struct export_path){0};
    HRESULT hr = columns_begin(&e->columns, in);
    return SUCCEEDED(hr) ? exporter_take_columns(e) : hr;
}

const struct texts *exporter_refused(const struct exporter *e)
{
    return &e->refused;
}

size_t exporter_counters(const struct exporter *e)
{
    return e->use_count;
}

void exporter_close(struct exporter *e)
{
    if (!e)
        return;
    counter_query_close(e->query);
    for (size_t i = 0; i < e->object_count; i++) {
        memory_free(e->objects[i].name);
        memory_free(e->objects[i].machine);
        memory_free(e->objects[i].labels);
        text_buffer_free(&e->objects[i].text);
    }
    for (size_t i = 0; e->paths && i < e->path_count; i++)
        memory_free(e->paths[i].pattern);
    for (size_t i = 0; i < e->use_count; i++)
        memory_free(e->uses[i].instance);
    columns_free(&e->columns);
    memory_free(e->paths);
    memory_free(e->objects);
    metric_families_free(&e->families);
    memory_free(e->uses);
    memory_free(e->given);
    memory_free(e->seen);
    steady_free(&e->steady);
    texts_free(&e->wide);
    texts_free(&e->refused);
    memory_free(e);
}

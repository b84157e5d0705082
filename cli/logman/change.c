/* SPDX-License-Identifier: MIT */
/* Applies the options of a command line to a set, its collector and its schedule. */
#include "cli/cli.h"
#include "cli/logman/line.h"
#include "cli/logman/logman.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/log.h"

#include <math.h>
#include <string.h>

/* Sets a number, or a flag as 0 or 1. */
static HRESULT logman_put_u32(struct object *o, const char *property, uint32_t number)
{
    const struct property *p = class_property(o->class, property);
    struct value v = {.kind = p->kind};
    if (p->kind == PROPERTY_BOOL)
        v.boolean = number != 0;
    else
        v.u32 = number;
    return object_put(o, p, &v);
}

#define SECONDS_PER_DAY 86400.0
enum { EVERY_DAY = 0x7F };

static HRESULT put_moment(struct object *schedule, const char *property, enum variant_type type, double value)
{
    const struct property *p = class_property(schedule->class, property);
    return object_put(schedule, p, &(struct value){p->kind, .variant = {.type = type, .real = value}});
}

static HRESULT get_moment(struct object *schedule, const char *property, double *out)
{
    struct value v;
    HRESULT hr = object_get(schedule, class_property(schedule->class, property), &v);
    *out = SUCCEEDED(hr) && v.variant.type == VARIANT_DATE ? v.variant.real : 0;
    if (SUCCEEDED(hr))
        value_free(&v);
    return hr;
}

static HRESULT schedule_first(struct object *schedules, struct object **out)
{
    if (collection_count(schedules) != 0)
        return collection_item(schedules, 0, out);
    HRESULT hr = object_create(&set_schedule_class, schedules, out);
    if (SUCCEEDED(hr) && FAILED(hr = collection_add(schedules, *out))) {
        object_release(*out);
        *out = NULL;
    }
    return hr;
}

static double now_local(void)
{
    return (double)clock_utc_to_local(clock_utc()) / 864e9 -
           109205.0; /* 109205 days: FILETIME counts from the start of 1601, DATE from 30 December 1899 */
}

/* ---- -m ---- */

static HRESULT make_manual(const struct logman_option *o, struct object *set, struct object *schedules)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < o->words.count && SUCCEEDED(hr); i++) {
        const char *word = o->words.items[i];
        if (text_equal_nocase(word, "start")) {
            collection_clear(schedules);
        } else if (text_equal_nocase(word, "stop")) {
            for (size_t j = 0; j < collection_count(schedules) && SUCCEEDED(hr); j++) {
                struct object *schedule;
                hr = collection_item(schedules, j, &schedule);
                if (SUCCEEDED(hr)) {
                    hr = put_moment(schedule, "EndDate", VARIANT_EMPTY, 0);
                    object_release(schedule);
                }
            }
            if (SUCCEEDED(hr))
                hr = logman_put_u32(set, "Duration", 0);
        } else {
            hr = error_set(E_INVALIDARG, "-m: unknown word '%s': expected start or stop", word);
        }
    }
    return hr;
}

/* ---- -b, -e, -r ---- */

struct moments {
    double begin_day, begin_time, end_day, end_time; /* `..._time`: -1 if not specified */
    bool begins, ends, daily;
};

static HRESULT read_moments(const struct logman_line *line, struct object *schedule, struct moments *m)
{
    const struct logman_option *begin = logman_option(line, LOGMAN_BEGIN), *end = logman_option(line, LOGMAN_END);
    const double now = now_local();
    double day;
    HRESULT hr = S_OK;
    *m = (struct moments){.begin_time = -1, .end_time = -1, .begins = begin, .ends = end};
    if (begin)
        hr = logman_moment("b", &begin->words, &m->begin_day, &m->begin_time);
    if (SUCCEEDED(hr) && end)
        hr = logman_moment("e", &end->words, &m->end_day, &m->end_time);
    if (FAILED(hr))
        return hr;
    if (begin && m->begin_day == 0)
        m->begin_day = floor(now);
    if (!begin) {
        hr = get_moment(schedule, "StartDate", &m->begin_day);
        if (SUCCEEDED(hr))
            hr = get_moment(schedule, "StartTime", &m->begin_time);
        if (m->begin_day == 0)
            m->begin_day = floor(now);
    }
    day = m->begin_day;
    if (end && m->end_day == 0)
        m->end_day = day;
    if (m->begin_time < 0)
        m->begin_time = 0;
    const struct logman_option *repeat = logman_option(line, LOGMAN_REPEAT);
    struct value days;
    if (FAILED(hr) || FAILED(hr = object_get(schedule, class_property(schedule->class, "Days"), &days)))
        return hr;
    m->daily = repeat ? !repeat->negated : days.u32 != 0;
    return hr;
}

static HRESULT put_end(const struct logman_line *line, struct object *set, struct object *schedule,
                       const struct moments *m)
{
    const double end = m->end_time < 0 ? 1 : m->end_time;
    double duration = m->end_day - m->begin_day + end - m->begin_time;
    if (m->daily || m->end_day == m->begin_day)
        duration = end > m->begin_time ? end - m->begin_time : 1 + end - m->begin_time;
    const double seconds = duration * SECONDS_PER_DAY + 0.5;
    if (m->end_day < m->begin_day || (!m->daily && m->end_day + end <= m->begin_day + m->begin_time))
        return error_set(E_INVALIDARG, "-e: the end is not after the start");
    if (seconds > UINT32_MAX)
        return error_set(E_INVALIDARG, "-e: the end is more than %u seconds after the start", (unsigned)UINT32_MAX);
    HRESULT hr = put_moment(schedule, "EndDate", VARIANT_DATE, m->end_day);
    if (SUCCEEDED(hr) && !logman_option(line, LOGMAN_RUN_FOR))
        hr = logman_put_u32(set, "Duration", (uint32_t)seconds);
    return hr;
}

/* Applies -b, -e, -r and -m, which specify when a set is started and stopped. Changes the set's first schedule, and
   creates it if needed. A schedule has no end time, so -b and -e determine the Duration of the set, unless -rf is
   specified. Fails with E_INVALIDARG. */
static HRESULT logman_put_schedule(const struct logman_line *line, struct object *set)
{
    const struct logman_option *manual = logman_option(line, LOGMAN_MANUAL),
                               *repeat = logman_option(line, LOGMAN_REPEAT);
    struct object *schedules = object_child(set, class_property(set->class, "Schedules")), *schedule;
    struct moments m;
    HRESULT hr = manual ? make_manual(manual, set, schedules) : S_OK;
    if (FAILED(hr) || (!logman_option(line, LOGMAN_BEGIN) && !logman_option(line, LOGMAN_END) && !repeat))
        return hr;
    hr = schedule_first(schedules, &schedule);
    if (FAILED(hr))
        return hr;
    hr = read_moments(line, schedule, &m);
    if (SUCCEEDED(hr) && m.begins && !m.daily && m.begin_day + m.begin_time < now_local())
        hr = error_set(E_INVALIDARG,
                       "-b: the start time is in the past, so the set would never start (use -r to repeat it daily)");
    if (SUCCEEDED(hr))
        hr = put_moment(schedule, "StartDate", VARIANT_DATE, m.begin_day);
    if (SUCCEEDED(hr))
        hr = put_moment(schedule, "StartTime", VARIANT_DATE, m.begin_time);
    if (SUCCEEDED(hr) && repeat)
        hr = logman_put_u32(schedule, "Days", repeat->negated ? 0 : EVERY_DAY);
    if (SUCCEEDED(hr) && m.ends)
        hr = put_end(line, set, schedule, &m);
    object_release(schedule);
    return hr;
}

struct change {
    const struct logman_line *line;
    struct object *set, *collector;
    bool session, create;
    struct texts *warnings;
};

static const char *name_of(const struct logman_option *o)
{
    return logman_rows[o->use].name;
}

/* ---- setting properties ---- */

static HRESULT get_u32(struct object *o, const char *property, uint32_t *out)
{
    struct value v;
    HRESULT hr = object_get_field(o, class_property(o->class, property), &v);
    if (SUCCEEDED(hr))
        *out = v.kind == PROPERTY_BOOL ? v.boolean : v.u32;
    return hr;
}

static HRESULT put_text(struct object *o, const char *property, const char *text)
{
    return object_put(o, class_property(o->class, property), &(struct value){PROPERTY_TEXT, .text = (char *)text});
}

static HRESULT put_texts(struct object *o, const char *property, const struct texts *texts)
{
    return object_put(o, class_property(o->class, property), &(struct value){PROPERTY_TEXTS, .texts = *texts});
}

static HRESULT change_add_warning(const struct change *c, char *text)
{
    return text ? texts_add_owned(c->warnings, text) : E_OUTOFMEMORY;
}

/* ---- lists ---- */

/* Returns true if a word begins a new item. Any other word belongs to the previous item, for example to an unquoted
   path with spaces. */
static bool begins_path(const char *word, const char *before)
{
    const char *object = before + strspn(before, "\\");
    return *word == '\\' || (strchr(word, '\\') && strchr(object, '\\'));
}

static bool begins_key(const char *word, const char *before)
{
    (void)before;
    return strncmp(word, "HK", 2) == 0 || *word == '\\';
}

static bool begins_query(const char *word, const char *before)
{
    (void)before;
    const char *colon = strchr(word, ':');
    return colon && (strncmp(word, "root", 4) == 0 || strchr(word, '\\'));
}

static HRESULT change_warn_joined(const struct change *c, const struct logman_option *o, const char *words)
{
    return change_add_warning(
        c, text_format("-%s: '%s' is treated as one item, because its words are not in quotes", name_of(o), words));
}

static HRESULT join_words(const struct change *c, const struct logman_option *o,
                          bool (*begins)(const char *word, const char *before), struct texts *out)
{
    HRESULT hr = S_OK;
    bool joined = false;
    for (size_t i = 0; i < o->words.count && SUCCEEDED(hr); i++) {
        const char *word = o->words.items[i];
        if (out->count == 0 || begins(word, out->items[out->count - 1])) {
            if (joined)
                hr = change_warn_joined(c, o, out->items[out->count - 1]);
            joined = false;
            if (SUCCEEDED(hr))
                hr = texts_add(out, word);
            continue;
        }
        char **last = &out->items[out->count - 1], *both = text_format("%s %s", *last, word);
        if (!both)
            return E_OUTOFMEMORY;
        memory_free(*last);
        *last = both;
        joined = true;
    }
    return SUCCEEDED(hr) && joined ? change_warn_joined(c, o, out->items[out->count - 1]) : hr;
}

/* Repairs a counter path if its first backslash is missing, or if it contains "%%" because it was copied from a batch
   file. */
static HRESULT path_normalize(struct texts *paths, size_t i)
{
    char *path = paths->items[i];
    for (char *percent = path; (percent = strstr(percent, "%%")) != NULL; percent++)
        memmove(percent, percent + 1, strlen(percent));
    if (*path == '\\')
        return S_OK;
    paths->items[i] = text_format("\\%s", path);
    if (!paths->items[i]) {
        paths->items[i] = path;
        return E_OUTOFMEMORY;
    }
    memory_free(path);
    return S_OK;
}

static HRESULT put_paths(const struct change *c, enum logman_use use, const char *property)
{
    const struct logman_option *list = logman_option(c->line, use);
    const struct logman_option *file = logman_option(c->line, LOGMAN_COUNTER_FILE);
    struct texts paths = {0};
    if (!list && !file)
        return S_OK;
    HRESULT hr = list ? join_words(c, list, begins_path, &paths) : S_OK;
    if (SUCCEEDED(hr) && file)
        hr = lines_read(file->words.items[0], &paths);
    for (size_t i = 0; i < paths.count && SUCCEEDED(hr); i++)
        hr = path_normalize(&paths, i);
    if (SUCCEEDED(hr))
        hr = put_texts(c->collector, property, &paths);
    texts_free(&paths);
    return hr == E_INVALIDARG && use == LOGMAN_THRESHOLDS
               ? error_set(hr, "%s (in cmd, put the whole threshold in quotes; without quotes, > and < redirect)",
                           error_text(hr))
               : hr;
}

static HRESULT put_list(const struct change *c, enum logman_use use, const char *property,
                        bool (*begins)(const char *word, const char *before))
{
    const struct logman_option *list = logman_option(c->line, use);
    struct texts words = {0};
    if (!list)
        return S_OK;
    HRESULT hr = join_words(c, list, begins, &words);
    if (SUCCEEDED(hr))
        hr = put_texts(c->collector, property, &words);
    texts_free(&words);
    return hr;
}

/* Sets the lists that can be specified as unquoted words. All other options are properties in options.def. */
static HRESULT put_lists(const struct change *c)
{
    const struct class *class = c->collector->class;
    if (class == &performance_counter_collector_class)
        return put_paths(c, LOGMAN_COUNTERS, "PerformanceCounters");
    if (class == &alert_collector_class)
        return put_paths(c, LOGMAN_THRESHOLDS, "AlertThresholds");
    HRESULT hr = put_list(c, LOGMAN_REGISTRY, "RegistryKeys", begins_key);
    return SUCCEEDED(hr) ? put_list(c, LOGMAN_QUERIES, "ManagementQueries", begins_query) : hr;
}

/* ---- one option, one property ---- */

static HRESULT put_number(const struct logman_option *o, struct object *object, const struct logman_property *property)
{
    uint32_t number = !o->negated;
    HRESULT hr = S_OK;
    if (property->value == VALUE_SECONDS)
        hr = logman_time(name_of(o), o->words.items[0], &number);
    else if (property->value == VALUE_NUMBER)
        hr = logman_u32(name_of(o), o->words.items[0], &number);
    if (SUCCEEDED(hr) && FAILED(hr = logman_put_u32(object, property->name, number)))
        hr = error_prefix(hr, "-%s", name_of(o));
    return hr;
}

/* Applies the options that options.def maps to a property. */
static HRESULT put_properties(const struct change *c)
{
    HRESULT hr = S_OK;
    for (unsigned use = 0; use < LOGMAN_OPTIONS && SUCCEEDED(hr); use++) {
        const struct logman_property *property = &logman_rows[use].property;
        const struct logman_option *o = property->name ? logman_option(c->line, (enum logman_use)use) : NULL;
        struct object *object = property->of_set ? c->set : c->collector;
        if (!o)
            continue;
        if (property->value == VALUE_STRINGS)
            hr = put_texts(object, property->name, &o->words);
        else if (property->value == VALUE_STRING)
            hr = put_text(object, property->name, o->negated ? "" : o->words.items[0]);
        else
            hr = put_number(o, object, property);
    }
    return hr;
}

/* ---- the file ---- */

static HRESULT put_format(const struct change *c, bool *sql)
{
    const struct logman_option *o = logman_option(c->line, LOGMAN_FORMAT);
    const bool counters = c->collector->class == &performance_counter_collector_class;
    uint32_t format = LOG_BINARY;
    HRESULT hr = S_OK;
    *sql = false;
    if (!o) {
        if (counters)
            hr = get_u32(c->collector, "LogFileFormat", &format);
        *sql = format == LOG_SQL;
        return hr;
    }
    const char *word = o->words.items[0];
    bool circular;
    const struct log_format_traits *traits = log_format_by_option(word, &circular);
    if (!traits) {
        char words[LOG_WORDS_BYTES];
        log_format_words(LOG_FOR_SETS, ", ", words, sizeof words);
        return error_set(E_INVALIDARG, "-f: unknown format '%s': expected one of %s", word, words);
    }
    format = traits->format;
    if (!counters && format != LOG_BINARY)
        return error_set(E_INVALIDARG, "-f: '%s' is only valid for counter collectors", word);
    *sql = format == LOG_SQL;
    if (counters)
        hr = logman_put_u32(c->collector, "LogFileFormat", format);
    return SUCCEEDED(hr) ? logman_put_u32(c->collector, "LogCircular", circular) : hr;
}

static bool is_absolute(const char *path)
{
    return *path == '%' || *path == '\\' || *path == '/' || (*path && path[1] == ':');
}

/* Removes a log's extension, because the engine appends the extension of the format. */
static void cut_extension(char *file)
{
    const char *extension = path_extension(file);
    if (log_is_log_name(file) || text_equal_nocase(extension, ".xml"))
        file[extension - file] = 0;
}

static HRESULT put_path(const struct change *c, const char *given)
{
    char *path = is_absolute(given) ? text_copy(given) : os_full_path(given), *file = path;
    HRESULT hr = S_OK;
    if (!path)
        return E_OUTOFMEMORY;
    for (char *at = path; *at; at++)
        if (*at == '\\' || *at == '/')
            file = at + 1;
    const bool windows_path = path[1] == ':' || *path == '%' || *path == '\\';
    for (char *at = path; windows_path && *at; at++)
        if (*at == '/')
            *at = '\\';
    cut_extension(file);
    if (*file)
        hr = put_text(c->collector, "FileName", file);
    /* The folder of "C:\x" is "C:\". */
    if (file > path && !(file == path + 3 && path[1] == ':'))
        file[-1] = 0;
    else
        *file = 0;
    if (SUCCEEDED(hr) && *path)
        hr = put_text(c->set, "RootPath", path);
    memory_free(path);
    return FAILED(hr) ? error_prefix(hr, "-o") : hr;
}

static HRESULT put_output(const struct change *c, bool sql)
{
    const struct logman_option *o = logman_option(c->line, LOGMAN_OUTPUT);
    if (!o)
        return sql && logman_option(c->line, LOGMAN_FORMAT) && c->create
                   ? error_set(E_INVALIDARG, "-f: sql requires -o with the data source (DSN!LOG)")
                   : S_OK;
    const char *given = o->words.items[0];
    if (!sql)
        return put_path(c, given);
    char *source = strncmp(given, "SQL:", 4) == 0 ? text_copy(given) : text_format("SQL:%s", given);
    HRESULT hr = source ? put_text(c->collector, "DataSourceName", source) : E_OUTOFMEMORY;
    memory_free(source);
    return hr;
}

static HRESULT put_api_log(const struct change *c)
{
    const struct logman_option *o = logman_option(c->line, LOGMAN_OUTPUT);
    struct value v;
    if ((!o && !c->create) || c->collector->class != &api_tracing_collector_class)
        return S_OK;
    HRESULT hr = object_get(c->collector, class_property(c->collector->class, "FileName"), &v);
    char *file = SUCCEEDED(hr) ? text_format("%s.etl", v.text) : NULL;
    if (SUCCEEDED(hr)) {
        hr = file ? put_text(c->collector, "LogFilePath", file) : E_OUTOFMEMORY;
        value_free(&v);
    }
    memory_free(file);
    return hr;
}

static HRESULT put_version(const struct change *c)
{
    enum { SERIAL_NUMBER = 0x200 };
    const struct logman_option *o = logman_option(c->line, LOGMAN_VERSION);
    uint32_t format = SERIAL_NUMBER;
    if (o && o->negated)
        format = 0;
    else if (o && o->words.count)
        (void)logman_version(o->words.items[0], &format);
    else if (!o && (!c->create || c->session))
        return S_OK;
    return logman_put_u32(c->collector, "FileNameFormat", format);
}

static HRESULT put_limits(const struct change *c, bool sql)
{
    const struct logman_option *most = logman_option(c->line, LOGMAN_MOST),
                               *files = logman_option(c->line, LOGMAN_NEW_FILES);
    uint32_t number = 0;
    HRESULT hr = S_OK;
    if (most) {
        if (!most->negated)
            hr = logman_u32("max", most->words.items[0], &number);
        if (SUCCEEDED(hr))
            hr = sql ? logman_put_u32(c->collector, "SegmentMaxRecords", number)
                     : logman_put_u32(c->set, "SegmentMaxSize", number);
    }
    number = 0;
    if (SUCCEEDED(hr) && files) {
        if (files->words.count)
            hr = logman_time("cnf", files->words.items[0], &number);
        if (SUCCEEDED(hr))
            hr = logman_put_u32(c->set, "Segment", !files->negated);
        if (SUCCEEDED(hr))
            hr = logman_put_u32(c->set, "SegmentMaxDuration", number);
    }
    return hr;
}

/* ---- traces ---- */

enum {
    MODE_SEQUENTIAL = 0x1,
    MODE_CIRCULAR = 0x2,
    MODE_APPEND = 0x4,
    MODE_NEW_FILE = 0x8,
    MODE_PREALLOCATE = 0x20,
    MODE_REAL_TIME = 0x100,
    MODE_BUFFERING = 0x400,
    MODE_PRIVATE = 0x800,
    STREAM_FILE = 1,
    STREAM_REAL_TIME = 2,
    STREAM_BUFFERING = 4
};

static HRESULT put_mode(const struct change *c, const struct logman_option *o, uint32_t *stream)
{
    static const struct {
        uint32_t bit;
        bool of_set;
        const char *property;
        uint32_t value;
    } bits[] = {{MODE_SEQUENTIAL, false, "LogAppend", 0}, {MODE_SEQUENTIAL, false, "LogCircular", 0},
                {MODE_CIRCULAR, false, "LogCircular", 1}, {MODE_APPEND, false, "LogAppend", 1},
                {MODE_NEW_FILE, true, "Segment", 1},      {MODE_PREALLOCATE, false, "PreallocateFile", 1},
                {MODE_PRIVATE, false, "ProcessMode", 1}};
    const uint32_t own = MODE_SEQUENTIAL | MODE_CIRCULAR | MODE_APPEND | MODE_NEW_FILE | MODE_PREALLOCATE |
                         MODE_REAL_TIME | MODE_BUFFERING | MODE_PRIVATE;
    uint32_t mode;
    HRESULT hr = logman_mode(o->words.items[0], &mode);
    for (size_t i = 0; i < sizeof bits / sizeof *bits && SUCCEEDED(hr); i++)
        if ((mode & bits[i].bit) != 0)
            hr = logman_put_u32(bits[i].of_set ? c->set : c->collector, bits[i].property, bits[i].value);
    if (SUCCEEDED(hr) && (mode & MODE_NEW_FILE) != 0 && c->create && !logman_is_given(c->line, LOGMAN_MOST))
        hr = error_set(E_INVALIDARG, "-mode: newfile requires -max (megabytes per file)");
    /* A session does not use segments, so its ExtendedModes keep MODE_NEW_FILE. */
    if (SUCCEEDED(hr))
        hr = logman_put_u32(c->collector, "ExtendedModes", mode & ~(c->session ? own & ~(uint32_t)MODE_NEW_FILE : own));
    if ((mode & MODE_REAL_TIME) != 0)
        *stream = STREAM_REAL_TIME;
    if ((mode & MODE_BUFFERING) != 0)
        *stream = STREAM_BUFFERING;
    return hr;
}

static HRESULT put_trace(const struct change *c)
{
    static const char *const clocks[] = {"perf", "system", "cycle"};
    const struct logman_option *clock = logman_option(c->line, LOGMAN_CLOCK),
                               *buffers = logman_option(c->line, LOGMAN_BUFFERS),
                               *mode = logman_option(c->line, LOGMAN_MODE),
                               *real_time = logman_option(c->line, LOGMAN_REAL_TIME);
    uint32_t stream = 0, number;
    HRESULT hr = S_OK;
    if (clock) {
        uint32_t type = 0;
        while (type < 3 && !text_equal_nocase(clocks[type], clock->words.items[0]))
            type++;
        hr = type < 3 ? logman_put_u32(c->collector, "ClockType", type + 1)
                      : error_set(E_INVALIDARG, "-ct: unknown clock '%s': expected perf, system or cycle",
                                  clock->words.items[0]);
    }
    for (size_t i = 0; buffers && i < buffers->words.count && SUCCEEDED(hr); i++) {
        hr = logman_u32("nb", buffers->words.items[i], &number);
        if (SUCCEEDED(hr))
            hr = logman_put_u32(c->collector, i == 0 ? "MinimumBuffers" : "MaximumBuffers", number);
    }
    if (SUCCEEDED(hr) && mode)
        hr = put_mode(c, mode, &stream);
    if (real_time)
        stream = real_time->negated ? STREAM_FILE : STREAM_REAL_TIME;
    if (stream == STREAM_REAL_TIME && logman_is_given(c->line, LOGMAN_OUTPUT))
        stream |= STREAM_FILE;
    if (SUCCEEDED(hr) && stream != 0)
        hr = logman_put_u32(c->collector, "StreamMode", stream);
    return SUCCEEDED(hr) ? logman_put_providers(c->line, c->collector) : hr;
}

/* ---- all options ---- */

/* Checks that the collector's type accepts the options. The function accepts options for a file even if the collector
   writes no file, because Commit reports this error. */
static HRESULT check_uses(const struct change *c)
{
    static const struct {
        const struct class *class;
        unsigned adverb;
        const char *name;
    } kinds[] = {{&performance_counter_collector_class, LOGMAN_COUNTER, "counter"},
                 {&trace_data_collector_class, LOGMAN_TRACE, "trace"},
                 {&configuration_collector_class, LOGMAN_CFG, "configuration"},
                 {&alert_collector_class, LOGMAN_ALERT, "alert"},
                 {&api_tracing_collector_class, LOGMAN_API, "API"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; kinds[k].class == c->collector->class && i < c->line->count; i++) {
            const struct logman_row *row = &logman_rows[c->line->options[i].use];
            if ((row->adverbs & kinds[k].adverb) == 0)
                return error_set(E_INVALIDARG, "-%s: not valid for %s collectors", row->name, kinds[k].name);
        }
    return S_OK;
}

HRESULT logman_change(const struct logman_line *line, struct object *set, struct object *collector, bool session,
                      bool create, struct texts *warnings)
{
    const struct change c = {line, set, collector, session, create, warnings};
    bool sql = false;
    HRESULT hr = check_uses(&c);
    if (SUCCEEDED(hr))
        hr = put_format(&c, &sql);
    if (SUCCEEDED(hr))
        hr = put_version(&c);
    if (SUCCEEDED(hr))
        hr = put_properties(&c);
    if (SUCCEEDED(hr))
        hr = put_lists(&c);
    if (SUCCEEDED(hr))
        hr = put_output(&c, sql);
    if (SUCCEEDED(hr))
        hr = put_api_log(&c);
    if (SUCCEEDED(hr))
        hr = put_limits(&c, sql);
    if (SUCCEEDED(hr) && collector->class == &trace_data_collector_class)
        hr = put_trace(&c);
    return SUCCEEDED(hr) ? logman_put_schedule(line, set) : hr;
}

/* SPDX-License-Identifier: MIT */
/* Writes the processed profile of the Firefox Profiler (profiler.firefox.com), version 70. The tables of a profile
   consist of columns. Therefore all columns grow side by side in a temporary file, and are copied to the output at the
   end. If a thread has waits, a second track contains the waits as samples whose weights are in milliseconds.
   Processors are tracks with one marker for each period in which a thread ran. */
#include "cli/trace/export/export.h"
#include "cli/trace/export/export_put.h"
#include "engine/base/memory.h"

enum { PROFILE_VERSION = 70, GECKO_VERSION = 36, OTHER = 0, KERNEL, USER };
enum { MOST_STRINGS = 1 << 20 };

struct track {
    struct export_column stack, time;                                 /* samples */
    struct export_column wait_stack, wait_time, wait_weight;          /* samples of the second track */
    struct export_column data, name, marker_begin, marker_end, phase; /* markers */
};
struct marker_class {
    uint32_t name; /* index of the string + 1 */
};
struct firefox {
    struct export_columns columns;
    struct export_column strings, schemas, counters[EXPORT_COUNTERS], counter_times;
    struct id_map string_index; /* key: hash of the string; value: index of the string + 1 */
    struct id_map classes;      /* key: string; value: struct marker_class */
    struct id_map processors;   /* key: processor number + 1; value: struct track */
    uint32_t running, waiting;  /* indexes of the strings "running" and "waiting" */
};

static struct firefox *of(struct export *x)
{
    return x->of_format;
}

/* Finds or adds a string for names of markers and threads. Equal texts share one string, except when the table of
   strings is full. */
static HRESULT string_of(struct export *x, const char *text, uint32_t *index)
{
    struct firefox *f = of(x);
    uint64_t key = hash_text(HASH_START, text);
    key = key != 0 ? key : 1;
    f->string_index.item_size = sizeof(uint32_t);
    f->string_index.most = MOST_STRINGS;
    uint32_t *item = id_map_put(&f->string_index, key);
    if (!item)
        return E_OUTOFMEMORY;
    if (*item == 0) {
        text_buffer_add(&f->strings.text, f->strings.values != 0 ? "," : "");
        json_add_text(&f->strings.text, text);
        *item = (uint32_t)f->strings.values + 1;
        const HRESULT hr = export_column_settle(&f->columns, &f->strings);
        if (FAILED(hr))
            return hr;
    }
    *index = *item - 1;
    return S_OK;
}

static HRESULT begin(struct export *x)
{
    struct firefox *f = x->of_format = memory_zero(1, sizeof *f);
    if (!f)
        return E_OUTOFMEMORY;
    f->classes.item_size = sizeof(struct marker_class);
    f->processors.item_size = sizeof(struct track);
    const HRESULT hr = string_of(x, "waiting", &f->waiting);
    return SUCCEEDED(hr) ? string_of(x, "running", &f->running) : hr;
}

static struct track *track_of(struct export_thread *t)
{
    if (!t->of_format)
        t->of_format = memory_zero(1, sizeof(struct track));
    return t->of_format;
}

static HRESULT put_text(struct export *x, struct export_column *c, const char *text)
{
    text_buffer_add(&c->text, c->values != 0 ? "," : "");
    text_buffer_add(&c->text, text);
    return export_column_settle(&of(x)->columns, c);
}

static HRESULT put_index(struct export *x, struct export_column *c, uint64_t index)
{
    char *at = text_buffer_reserve(&c->text, 1 + TEXT_PUT_DECIMAL);
    if (at) {
        *at = ',';
        export_put_end(&c->text, text_put_u64(at + (c->values != 0), index));
    }
    return export_column_settle(&of(x)->columns, c);
}

static HRESULT put_time(struct export *x, struct export_column *c, int64_t time)
{
    char *at = text_buffer_reserve(&c->text, 1 + EXPORT_PUT_TIME);
    if (at) {
        *at = ',';
        export_put_end(&c->text, export_put_ms(at + (c->values != 0), time));
    }
    return export_column_settle(&of(x)->columns, c);
}

static HRESULT put_stack(struct export *x, struct export_column *c, uint32_t node)
{
    return node != 0 ? put_index(x, c, node - 1) : put_text(x, c, "null");
}

static HRESULT sample(struct export *x, struct export_thread *t, uint32_t processor, int64_t time, uint32_t node,
                      uint32_t weight)
{
    struct track *track = track_of(t);
    (void)processor;
    (void)weight;
    if (!track)
        return E_OUTOFMEMORY;
    const HRESULT hr = put_stack(x, &track->stack, node);
    return SUCCEEDED(hr) ? put_time(x, &track->time, time) : hr;
}

/* ---- markers ---- */

/* Adds a marker; its data is already in track->data. `until` before `since` means an instant. */
static HRESULT put_marker(struct export *x, struct track *track, uint32_t name, int64_t since, int64_t until)
{
    HRESULT hr = put_index(x, &track->name, name);
    if (SUCCEEDED(hr))
        hr = put_time(x, &track->marker_begin, since);
    if (SUCCEEDED(hr))
        hr = until < since ? put_text(x, &track->marker_end, "null") : put_time(x, &track->marker_end, until);
    return SUCCEEDED(hr) ? put_index(x, &track->phase, until < since ? 0 : 1) : hr;
}

static HRESULT run(struct export *x, uint32_t processor, struct export_thread *t, int64_t since, int64_t until)
{
    uint32_t index = 0;
    struct track *track = id_map_put(&of(x)->processors, (uint64_t)processor + 1);
    const char *label = export_label(t);
    HRESULT hr = track && label ? string_of(x, label, &index) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = put_text(x, &track->data, "null");
    return SUCCEEDED(hr) ? put_marker(x, track, index, since, until) : hr;
}

static HRESULT wait(struct export *x, const struct export_wait *w)
{
    struct track *track = track_of(w->thread);
    if (!track)
        return E_OUTOFMEMORY;
    enum { DATA = 128 + 3 * EXPORT_PUT_TIME }; /* size of the marker's data without the text of the reason */
    const char *reason = export_wait_reason(w->reason);
    const size_t size = strlen(reason);
    char *at = text_buffer_reserve(&track->data.text, DATA + JSON_ESCAPE_MOST * size);
    if (!at)
        return E_OUTOFMEMORY;
    if (track->data.values != 0)
        *at++ = ',';
    at = json_put_text(EXPORT_PUT(at, "{\"type\":\"wait\",\"reason\":"), reason, size);
    if (w->ready >= w->begin && w->ready != 0)
        at = export_put_ms(EXPORT_PUT(at, ",\"ready\":"), w->end - w->ready);
    if (w->node != 0) {
        at = export_put_ms(EXPORT_PUT(at, ",\"cause\":{\"time\":"), w->begin);
        at = text_put_u64(EXPORT_PUT(at, ",\"stack\":"), w->node - 1);
        *at++ = '}';
    }
    *at++ = '}';
    export_put_end(&track->data.text, at);
    HRESULT hr = export_column_settle(&of(x)->columns, &track->data);
    if (SUCCEEDED(hr))
        hr = put_marker(x, track, of(x)->waiting, w->begin, w->end);
    if (SUCCEEDED(hr))
        hr = put_stack(x, &track->wait_stack, w->node);
    if (SUCCEEDED(hr))
        hr = put_time(x, &track->wait_time, w->begin);
    return SUCCEEDED(hr) ? put_time(x, &track->wait_weight, w->end - w->begin) : hr;
}

struct marker_fields {
    struct text_buffer *data, *schema; /* schema: NULL after the first event of the class */
    bool first;
};

/* Adds a field to the marker's data. Keys begin with '_', because the format gives "type" and "cause" a special
   meaning. */
static void take_field(void *context, const char *name, const char *text, bool number)
{
    struct marker_fields *m = context;
    (void)number;
    text_buffer_add(m->data, ",\"_");
    json_add_content(m->data, name);
    text_buffer_add(m->data, "\":");
    json_add_text(m->data, text);
    if (!m->schema)
        return;
    text_buffer_add(m->schema, m->first ? "{\"key\":\"_" : ",{\"key\":\"_");
    json_add_content(m->schema, name);
    text_buffer_add(m->schema, "\",\"label\":");
    json_add_text(m->schema, name);
    text_buffer_add(m->schema, ",\"format\":\"string\"}");
    m->first = false;
}

static HRESULT event(struct export *x, const struct export_event *e)
{
    struct firefox *f = of(x);
    uint32_t name;
    struct track *track = e->thread ? track_of(e->thread) : id_map_put(&f->processors, (uint64_t)e->processor + 1);
    HRESULT hr = track ? string_of(x, e->name, &name) : E_OUTOFMEMORY;
    if (FAILED(hr))
        return hr;
    struct marker_class *class = id_map_put(&f->classes, (uint64_t)name + 1);
    if (!class)
        return E_OUTOFMEMORY;
    struct marker_fields m = {.data = &track->data.text, .first = true};
    if (class->name == 0) {
        class->name = name + 1;
        m.schema = &f->schemas.text;
        text_buffer_format(m.schema, "%s{\"name\":\"event%u\",\"tooltipLabel\":", f->schemas.values != 0 ? ",\n" : "",
                           (unsigned)name);
        json_add_text(m.schema, e->name);
        text_buffer_add(m.schema, ",\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":[");
    }
    text_buffer_format(m.data, "%s{\"type\":\"event%u\"", track->data.values != 0 ? "," : "", (unsigned)name);
    const HRESULT decoded = hr = export_fields(e, take_field, &m);
    if (e->node != 0) {
        text_buffer_add(m.data, ",\"cause\":{\"time\":");
        export_add_ms(m.data, e->time);
        text_buffer_add(m.data, ",\"stack\":");
        text_buffer_add_u64(m.data, e->node - 1, 1);
        text_buffer_add(m.data, "}");
    }
    text_buffer_add(m.data, "}");
    if (SUCCEEDED(hr))
        hr = export_column_settle(&f->columns, &track->data);
    if (SUCCEEDED(hr) && m.schema) {
        text_buffer_add(m.schema, "]}");
        hr = export_column_settle(&f->columns, &f->schemas);
    }
    hr = SUCCEEDED(hr) ? put_marker(x, track, name, e->time, e->time - 1) : hr;
    return SUCCEEDED(hr) ? decoded : hr;
}

static HRESULT counter(struct export *x, enum export_counter which, int64_t since, int64_t until, double value)
{
    (void)until;
    char text[32];
    snprintf(text, sizeof text, "%.10g", value);
    HRESULT hr = which == 0 ? put_time(x, &of(x)->counter_times, since) : S_OK;
    return SUCCEEDED(hr) ? put_text(x, &of(x)->counters[which], text) : hr;
}

/* ---- the document ---- */

static HRESULT write_column(struct export *x, const char *name, const struct export_column *c)
{
    text_buffer_format(&x->out.text, "\"%s\":[", name);
    const HRESULT hr = export_column_copy(&of(x)->columns, c, &x->out);
    text_buffer_add(&x->out.text, "],");
    return hr;
}

/* Adds the same value `count` times. */
static HRESULT write_same(struct export *x, const char *name, uint64_t count, const char *value)
{
    text_buffer_format(&x->out.text, "\"%s\":[", name);
    HRESULT hr = S_OK;
    for (uint64_t i = 0; i < count && SUCCEEDED(hr); i++) {
        text_buffer_add(&x->out.text, i != 0 ? "," : "");
        text_buffer_add(&x->out.text, value);
        hr = export_file_settle(&x->out);
    }
    text_buffer_add(&x->out.text, "],");
    return hr;
}

static void write_length(struct export *x, uint64_t length, const char *end)
{
    text_buffer_add(&x->out.text, "\"length\":");
    text_buffer_add_u64(&x->out.text, length, 1);
    text_buffer_add(&x->out.text, end);
}

static HRESULT write_markers(struct export *x, const struct track *t)
{
    text_buffer_add(&x->out.text, "\"markers\":{");
    HRESULT hr = write_column(x, "data", &t->data);
    if (SUCCEEDED(hr))
        hr = write_column(x, "name", &t->name);
    if (SUCCEEDED(hr))
        hr = write_column(x, "startTime", &t->marker_begin);
    if (SUCCEEDED(hr))
        hr = write_column(x, "endTime", &t->marker_end);
    if (SUCCEEDED(hr))
        hr = write_column(x, "phase", &t->phase);
    if (SUCCEEDED(hr))
        hr = write_same(x, "category", t->name.values, "0");
    write_length(x, t->name.values, "}");
    return hr;
}

static HRESULT write_track(struct export *x, const char *name, const char *process, uint32_t pid, uint32_t tid,
                           const struct track *t, bool waits, bool *first)
{
    static const struct track none;
    struct text_buffer *b = &x->out.text;
    const struct export_column *stack = waits ? &t->wait_stack : &t->stack;
    text_buffer_add(b, *first ? "\n" : ",\n");
    *first = false;
    text_buffer_format(b,
                       "{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
                       "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"isMainThread\":false,"
                       "\"showMarkersInTimeline\":true,\"pid\":\"%u\",\"tid\":%u,\"name\":",
                       (unsigned)pid, (unsigned)tid);
    json_add_text(b, name);
    text_buffer_add(b, ",\"processName\":");
    json_add_text(b, process);
    text_buffer_add(b, ",\"samples\":{");
    HRESULT hr = write_column(x, "stack", stack);
    if (SUCCEEDED(hr))
        hr = write_column(x, "time", waits ? &t->wait_time : &t->time);
    if (SUCCEEDED(hr) && waits)
        hr = write_column(x, "weight", &t->wait_weight);
    text_buffer_add(b, waits ? "\"weightType\":\"tracing-ms\"," : "\"weight\":null,\"weightType\":\"samples\",");
    write_length(x, stack->values, "},");
    if (SUCCEEDED(hr))
        hr = write_markers(x, waits ? &none : t);
    text_buffer_add(b, "}");
    return SUCCEEDED(hr) ? export_file_settle(&x->out) : hr;
}

static HRESULT write_thread(struct export *x, const struct export_thread *t, bool *first)
{
    const struct track *track = t->of_format;
    struct text_buffer name = {0}, process = {0};
    export_add_thread(&name, t);
    export_add_process(&process, t);
    HRESULT hr = name.failed || process.failed ? E_OUTOFMEMORY : S_OK;
    if (SUCCEEDED(hr) && track->stack.values + track->name.values != 0)
        hr = write_track(x, name.text, process.text, t->process, t->id, track, false, first);
    text_buffer_add(&name, " waits");
    if (SUCCEEDED(hr) && !name.failed && track->wait_stack.values != 0)
        hr = write_track(x, name.text, process.text, t->process, t->id, track, true, first);
    text_buffer_free(&name);
    text_buffer_free(&process);
    return hr;
}

static HRESULT write_threads(struct export *x, bool *first)
{
    const struct track *track;
    uint64_t key;
    char name[32];
    HRESULT hr = S_OK;
    text_buffer_add(&x->out.text, "\"threads\":[");
    for (size_t at = 0; SUCCEEDED(hr) && (track = id_map_next(&of(x)->processors, &at, &key));) {
        snprintf(name, sizeof name, "CPU %u", (unsigned)(key - 1));
        hr = write_track(x, name, "Processors", 0, (uint32_t)key - 1, track, false, first);
    }
    for (size_t i = 0; i < x->thread_count && SUCCEEDED(hr); i++)
        if (x->threads[i]->of_format)
            hr = write_thread(x, x->threads[i], first);
    text_buffer_add(&x->out.text, "],\n");
    return hr;
}

/* Writes a column with one number per frame or per node. */
static HRESULT write_numbers(struct export *x, const char *name, uint64_t count,
                             int64_t (*value)(const struct export *x, uint64_t i))
{
    HRESULT hr = S_OK;
    text_buffer_format(&x->out.text, "\"%s\":[", name);
    for (uint64_t i = 0; i < count && SUCCEEDED(hr); i++) {
        text_buffer_add(&x->out.text, i != 0 ? "," : "");
        text_buffer_add_i64(&x->out.text, value(x, i));
        hr = export_file_settle(&x->out);
    }
    text_buffer_add(&x->out.text, "],");
    return hr;
}

static int64_t node_frame(const struct export *x, uint64_t i)
{
    return (int64_t)x->tree.values[i] - 1;
}

static int64_t node_prefix(const struct export *x, uint64_t i)
{
    return x->tree.parents[i] != 0 ? (int64_t)(i + 1 - x->tree.parents[i]) : 0;
}

static int64_t frame_address(const struct export *x, uint64_t i)
{
    return x->frame[i].module ? (int64_t)x->frame[i].address : -1;
}

static int64_t frame_module(const struct export *x, uint64_t i)
{
    return x->frame[i].module ? (int64_t)x->frame[i].module->index : -1;
}

static int64_t frame_category(const struct export *x, uint64_t i)
{
    return x->frame[i].kernel ? KERNEL : USER;
}

static int64_t same_index(const struct export *x, uint64_t i)
{
    (void)x;
    return (int64_t)i;
}

/* Returns the index of the string with a frame's name. In the table of strings, the names of modules come last, after
   the names of frames. */
static int64_t frame_string(const struct export *x, uint64_t i)
{
    return (int64_t)(((const struct firefox *)x->of_format)->strings.values + i);
}

static int64_t module_string(const struct export *x, uint64_t i)
{
    return frame_string(x, x->frame_count + i);
}

static HRESULT write_strings(struct export *x)
{
    const struct code_places *places = x->frames->stacks.places;
    struct text_buffer *b = &x->out.text;
    text_buffer_add(b, "\"stringArray\":[");
    HRESULT hr = export_column_copy(&of(x)->columns, &of(x)->strings, &x->out);
    for (size_t i = 0; i < x->frame_count && SUCCEEDED(hr); i++) {
        const struct export_frame *f = &x->frame[i];
        text_buffer_add(b, ",");
        json_add_text(b, !f->module ? f->name : *f->function == '+' ? f->function + 1 : f->function);
        hr = export_file_settle(&x->out);
    }
    for (size_t i = 0; i < code_places_modules(places) && SUCCEEDED(hr); i++) {
        text_buffer_add(b, ",");
        json_add_text(b, code_places_module(places, i)->name);
        hr = export_file_settle(&x->out);
    }
    text_buffer_add(b, "],\n");
    return hr;
}

struct table_column {
    const char *name;
    int64_t (*value)(const struct export *x, uint64_t i);
    const char *same; /* the same value for all rows, if `value` is NULL */
};

static HRESULT write_table(struct export *x, const char *name, uint64_t rows, const struct table_column *columns,
                           size_t count, const char *end)
{
    HRESULT hr = S_OK;
    text_buffer_format(&x->out.text, "\"%s\":{", name);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = columns[i].value ? write_numbers(x, columns[i].name, rows, columns[i].value)
                              : write_same(x, columns[i].name, rows, columns[i].same);
    write_length(x, rows, end);
    return hr;
}

#define COLUMNS(c) c, sizeof c / sizeof *c

static HRESULT write_shared(struct export *x)
{
    static const struct table_column stacks[] = {{"frame", node_frame, NULL}, {"prefixOffset", node_prefix, NULL}};
    static const struct table_column frames[] = {
        {"address", frame_address, NULL},   {"lib", frame_module, NULL},       {"inlineDepth", NULL, "0"},
        {"category", frame_category, NULL}, {"subcategory", NULL, "0"},        {"func", same_index, NULL},
        {"nativeSymbol", NULL, "null"},     {"innerWindowID", NULL, "0"},      {"line", NULL, "null"},
        {"column", NULL, "null"},           {"originalLocation", NULL, "null"}};
    static const struct table_column functions[] = {
        {"name", frame_string, NULL},     {"isJS", NULL, "false"},           {"relevantForJS", NULL, "false"},
        {"resource", frame_module, NULL}, {"source", NULL, "null"},          {"lineNumber", NULL, "null"},
        {"columnNumber", NULL, "null"},   {"originalLocation", NULL, "null"}};
    static const struct table_column resources[] = {
        {"name", module_string, NULL}, {"host", NULL, "null"}, {"type", NULL, "1"}};
    text_buffer_add(&x->out.text, "\"shared\":{");
    HRESULT hr = write_strings(x);
    if (SUCCEEDED(hr))
        hr = write_table(x, "stackTable", x->tree.count, COLUMNS(stacks), "},\n");
    if (SUCCEEDED(hr))
        hr = write_table(x, "frameTable", x->frame_count, COLUMNS(frames), "},\n");
    if (SUCCEEDED(hr))
        hr = write_table(x, "funcTable", x->frame_count, COLUMNS(functions), "},\n");
    if (SUCCEEDED(hr))
        hr = write_table(x, "resourceTable", code_places_modules(x->frames->stacks.places), COLUMNS(resources), "},\n");
    text_buffer_add(&x->out.text,
                    "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},"
                    "\"sources\":{\"id\":[],\"filename\":[],\"startLine\":[],\"startColumn\":[],\"sourceMapURL\":[],"
                    "\"length\":0},\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],\"length\":0}},\n");
    return hr;
}

static HRESULT write_counters(struct export *x)
{
    struct text_buffer *b = &x->out.text;
    const uint64_t count = of(x)->counter_times.values;
    HRESULT hr = S_OK;
    text_buffer_add(b, "\"counters\":[");
    for (int i = 0; i < EXPORT_COUNTERS && SUCCEEDED(hr) && count != 0; i++) {
        const struct export_counter_row *row = &export_counters[i];
        text_buffer_format(
            b,
            "%s{\"name\":\"%s\",\"category\":\"%s\",\"description\":\"%s (%s)\",\"pid\":\"0\","
            "\"mainThreadIndex\":0,\"display\":{\"graphType\":\"line-rate\",\"unit\":\"%s\",\"color\":\"%s\","
            "\"markerSchemaLocation\":null,\"sortWeight\":%d,\"label\":\"%s\",\"tooltipRows\":[]},"
            "\"samples\":{",
            i != 0 ? ",\n" : "\n", row->name, i == EXPORT_CPU ? "CPU" : "IO", row->name, row->unit, row->unit,
            i == EXPORT_CPU ? "grey" : "blue", 10 + i, row->name);
        hr = write_column(x, "time", &of(x)->counter_times);
        if (SUCCEEDED(hr))
            hr = write_column(x, "count", &of(x)->counters[i]);
        write_length(x, count, "}}");
    }
    text_buffer_add(b, "]}\n");
    return hr;
}

static void write_libraries(struct export *x)
{
    const struct code_places *places = x->frames->stacks.places;
    struct text_buffer *b = &x->out.text;
    char identity[CODE_IDENTITY];
    text_buffer_add(b, "\"libs\":[");
    for (size_t i = 0; i < code_places_modules(places); i++) {
        const struct code_module *m = code_places_module(places, i);
        const char *symbols = m->symbols && *m->symbols ? m->symbols : m->name;
        if (m->has_symbols)
            code_module_identity(m, identity);
        text_buffer_add(b, i != 0 ? ",\n{\"arch\":\"\",\"name\":" : "\n{\"arch\":\"\",\"name\":");
        json_add_text(b, m->name);
        text_buffer_add(b, ",\"path\":");
        json_add_text(b, m->path);
        text_buffer_add(b, ",\"debugName\":");
        json_add_text(b, symbols);
        text_buffer_add(b, ",\"debugPath\":");
        json_add_text(b, symbols);
        text_buffer_format(b, ",\"breakpadId\":\"%s\",\"codeId\":\"%08X%x\"}", m->has_symbols ? identity : "",
                           (unsigned)m->time, (unsigned)m->size);
    }
    text_buffer_add(b, "],");
}

static HRESULT write_meta(struct export *x)
{
    const int64_t unix_epoch = INT64_C(116444736000000000);
    struct text_buffer *b = &x->out.text;
    text_buffer_add(b, "{\"meta\":{\"interval\":1,\"startTime\":");
    export_add_ms(b, x->begin - unix_epoch);
    text_buffer_format(b,
                       ",\"processType\":0,\"product\":\"Windows trace\",\"importedFrom\":\"openpla\",\"stackwalk\":1,"
                       "\"version\":%d,\"preprocessedProfileVersion\":%d,\"logicalCPUs\":%u,\"symbolicated\":true,"
                       "\"categories\":[",
                       GECKO_VERSION, PROFILE_VERSION, (unsigned)x->processors);
    text_buffer_add(b, "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
                       "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
                       "{\"name\":\"User\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}],"
                       "\"markerSchema\":[{\"name\":\"wait\",\"tooltipLabel\":\"{marker.name}\","
                       "\"chartLabel\":\"{marker.data.reason}\",\"tableLabel\":\"{marker.data.reason}\","
                       "\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":["
                       "{\"key\":\"reason\",\"label\":\"Reason\",\"format\":\"string\"},"
                       "{\"key\":\"ready\",\"label\":\"Ready\",\"format\":\"duration\"}]}");
    text_buffer_add(b, of(x)->schemas.values != 0 ? ",\n" : "");
    const HRESULT hr = export_column_copy(&of(x)->columns, &of(x)->schemas, &x->out);
    text_buffer_add(b, "]},");
    return hr;
}

static HRESULT end(struct export *x)
{
    bool first = true;
    HRESULT hr = write_meta(x);
    write_libraries(x);
    if (SUCCEEDED(hr))
        hr = write_threads(x, &first);
    if (SUCCEEDED(hr))
        hr = write_shared(x);
    return SUCCEEDED(hr) ? write_counters(x) : hr;
}

static void track_free(struct track *t)
{
    struct export_column *const columns[] = {&t->stack, &t->time, &t->wait_stack,   &t->wait_time,  &t->wait_weight,
                                             &t->data,  &t->name, &t->marker_begin, &t->marker_end, &t->phase};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        export_column_free(columns[i]);
}

static void release(struct export *x)
{
    struct firefox *f = of(x);
    size_t at = 0;
    for (struct track *t; (t = id_map_next(&f->processors, &at, NULL));)
        track_free(t);
    for (size_t i = 0; i < x->thread_count; i++)
        if (x->threads[i]->of_format) {
            track_free(x->threads[i]->of_format);
            memory_free(x->threads[i]->of_format);
        }
    for (int i = 0; i < EXPORT_COUNTERS; i++)
        export_column_free(&f->counters[i]);
    export_column_free(&f->counter_times);
    export_column_free(&f->strings);
    export_column_free(&f->schemas);
    id_map_free(&f->string_index);
    id_map_free(&f->classes);
    id_map_free(&f->processors);
    export_columns_close(&f->columns);
    memory_free(f);
}

const struct export_format export_firefox = {.name = "firefox",
                                             .extension = "json",
                                             .event_stacks = true,
                                             .begin = begin,
                                             .sample = sample,
                                             .run = run,
                                             .wait = wait,
                                             .counter = counter,
                                             .event = event,
                                             .end = end,
                                             .free = release};

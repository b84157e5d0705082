/* SPDX-License-Identifier: MIT */
/* Writes the Trace Event Format for Perfetto, chrome://tracing, the developer tools of browsers, and speedscope.
   Processors are threads of process 0. A thread's waits and events are on a separate track, and its samples form a
   profile in V8's format. */
#include "cli/trace/export/export.h"
#include "engine/base/memory.h"

/* Maximum number of nodes that are remembered as written. Further nodes may be written repeatedly, which readers
   accept. */
enum { MOST_NODES = 2 << 20 };

struct chrome {
    struct id_map nodes; /* key: profile and node; value: written */
    uint64_t written;
};

static HRESULT begin(struct export *x)
{
    struct chrome *c = x->of_format = memory_zero(1, sizeof *c);
    if (!c)
        return E_OUTOFMEMORY;
    c->nodes.item_size = 1;
    c->nodes.most = MOST_NODES;
    text_buffer_add(&x->out.text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    return S_OK;
}

/* Begins an event. In the format, the numbers of process and thread are signed 32-bit integers. */
static struct text_buffer *begin_event(struct export *x, const char *phase, const char *name, uint32_t process,
                                       uint32_t thread, int64_t time)
{
    struct chrome *c = x->of_format;
    struct text_buffer *b = &x->out.text;
    text_buffer_add(b, c->written++ != 0 ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    text_buffer_add(b, phase);
    text_buffer_add(b, "\",\"name\":");
    export_json_text(b, name);
    text_buffer_add(b, ",\"pid\":");
    text_buffer_add_i64(b, (int32_t)process);
    text_buffer_add(b, ",\"tid\":");
    text_buffer_add_i64(b, (int32_t)thread);
    text_buffer_add(b, ",\"ts\":");
    export_add_us(b, time);
    return b;
}

static void add_duration(struct text_buffer *b, int64_t duration)
{
    text_buffer_add(b, ",\"dur\":");
    export_add_us(b, duration);
}

static void add_node(struct export *x, uint32_t node, bool first)
{
    struct text_buffer *b = &x->out.text;
    const struct export_frame *f = &x->frame[x->tree.values[node - 1] - 1];
    text_buffer_add(b, first ? "{\"id\":" : ",{\"id\":");
    text_buffer_add_u64(b, (uint64_t)node + 1, 1);
    text_buffer_add(b, ",\"parent\":");
    text_buffer_add_u64(b, (uint64_t)x->tree.parents[node - 1] + 1, 1); /* 1 is the root */
    text_buffer_add(b, ",\"callFrame\":{\"functionName\":");
    export_json_text(b, f->name);
    text_buffer_add(b, ",\"scriptId\":0,\"url\":");
    export_json_text(b, f->module ? f->module->path : "");
    text_buffer_add(b, "}}");
}

/* Begins the profile of a thread with its first sample. */
static int64_t *profile_of(struct export *x, struct export_thread *t, int64_t time)
{
    int64_t *last = t->of_format;
    if (last || !(last = t->of_format = memory_alloc(sizeof *last)))
        return last;
    struct text_buffer *b = begin_event(x, "P", "Profile", t->process, t->id, time);
    text_buffer_format(b,
                       ",\"cat\":\"cpu\",\"id\":\"0x%x\",\"args\":{\"data\":{\"startTime\":", (unsigned)t->index + 1);
    export_add_us(b, time);
    text_buffer_add(b, "}}}");
    b = begin_event(x, "P", "ProfileChunk", t->process, t->id, time);
    text_buffer_format(b,
                       ",\"cat\":\"cpu\",\"id\":\"0x%x\",\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[{\"id\":1,"
                       "\"callFrame\":{\"functionName\":\"(root)\",\"scriptId\":0,\"url\":\"\"}}],\"samples\":[]},"
                       "\"timeDeltas\":[]}}}",
                       (unsigned)t->index + 1);
    *last = time;
    return last;
}

static HRESULT sample(struct export *x, struct export_thread *t, uint32_t processor, int64_t time, uint32_t node,
                      uint32_t weight)
{
    struct chrome *c = x->of_format;
    int64_t *last = profile_of(x, t, time);
    uint32_t new_nodes[STACK_MOST_FRAMES];
    size_t count = 0;
    (void)processor;
    (void)weight;
    if (!last)
        return E_OUTOFMEMORY;
    for (uint32_t n = node; n != 0 && count < STACK_MOST_FRAMES; n = x->tree.parents[n - 1]) {
        uint8_t *written = id_map_put(&c->nodes, ((uint64_t)t->index + 1) << 32 | n);
        if (!written)
            return E_OUTOFMEMORY;
        if (*written)
            break;
        *written = 1;
        new_nodes[count++] = n;
    }
    struct text_buffer *b = begin_event(x, "P", "ProfileChunk", t->process, t->id, time);
    text_buffer_format(b, ",\"cat\":\"cpu\",\"id\":\"0x%x\",\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[",
                       (unsigned)t->index + 1);
    for (size_t i = count; i-- > 0;)
        add_node(x, new_nodes[i], i + 1 == count);
    text_buffer_add(b, "],\"samples\":[");
    text_buffer_add_u64(b, (uint64_t)node + 1, 1);
    text_buffer_add(b, "]},\"timeDeltas\":[");
    export_add_us(b, time - *last);
    text_buffer_add(b, "]}}}");
    *last = time;
    return S_OK;
}

static HRESULT run(struct export *x, uint32_t processor, struct export_thread *t, int64_t since, int64_t until)
{
    const char *label = export_label(t);
    if (!label)
        return E_OUTOFMEMORY;
    struct text_buffer *b = begin_event(x, "X", label, 0, processor, since);
    text_buffer_add(b, ",\"cat\":\"sched\"");
    add_duration(b, until - since);
    text_buffer_add(b, ",\"args\":{\"pid\":");
    text_buffer_add_i64(b, (int32_t)t->process);
    text_buffer_add(b, ",\"tid\":");
    text_buffer_add_u64(b, t->id, 1);
    text_buffer_add(b, "}}");
    return S_OK;
}

static HRESULT wait(struct export *x, const struct export_wait *w)
{
    enum { PREEMPTED = 1, WAITING = 5 };
    const struct export_thread *t = w->thread;
    const int64_t ready = w->ready >= w->begin && w->ready != 0 ? w->ready : w->end;
    char name[64];
    if (ready > w->begin) {
        snprintf(name, sizeof name, "waiting (%s)", export_wait_reason(w->reason));
        struct text_buffer *b = begin_event(x, "X", name, t->process, t->id, w->begin);
        text_buffer_add(b, ",\"cat\":\"wait\"");
        add_duration(b, ready - w->begin);
        text_buffer_add(b, ",\"args\":{\"where\":");
        export_json_text(b, w->node != 0 ? x->frame[x->tree.values[w->node - 1] - 1].name : "");
        text_buffer_add(b, "}}");
    }
    if (w->end > ready) {
        struct text_buffer *b = begin_event(x, "X", "ready", t->process, t->id, ready);
        text_buffer_add(b, ",\"cat\":\"wait\"");
        add_duration(b, w->end - ready);
        text_buffer_add(b, "}");
    }
    return S_OK;
}

static HRESULT counter(struct export *x, enum export_counter which, int64_t since, int64_t until, double value)
{
    (void)until;
    struct text_buffer *b = begin_event(x, "C", export_counters[which].name, 0, 0, since);
    text_buffer_format(b, ",\"cat\":\"counter\",\"args\":{\"%s\":%.10g}}", export_counters[which].unit, value);
    return S_OK;
}

static HRESULT event(struct export *x, const struct export_event *e)
{
    const EVENT_HEADER *h = &e->dumped->record->EventHeader;
    struct text_buffer *b = begin_event(x, "i", e->name, e->thread ? e->thread->process : h->ProcessId,
                                        e->thread ? e->thread->id : h->ThreadId, e->time);
    text_buffer_add(b, ",\"s\":\"t\",\"cat\":\"event\",\"args\":{");
    const HRESULT hr = export_json_fields(b, e, true);
    if (e->node != 0)
        text_buffer_add(b, b->text && b->text[b->length - 1] == '{' ? "\"stack\":[" : ",\"stack\":[");
    for (uint32_t node = e->node; node != 0; node = x->tree.parents[node - 1]) {
        text_buffer_add(b, node != e->node ? "," : "");
        export_json_text(b, x->frame[x->tree.values[node - 1] - 1].name);
    }
    text_buffer_add(b, e->node != 0 ? "]" : "");
    text_buffer_add(b, "}}");
    return hr;
}

static void add_name(struct export *x, const char *what, uint32_t process, uint32_t thread, const char *name)
{
    struct text_buffer *b = begin_event(x, "M", what, process, thread, 0);
    text_buffer_add(b, ",\"cat\":\"__metadata\",\"args\":{\"name\":");
    export_json_text(b, name ? name : "");
    text_buffer_add(b, "}}");
}

static HRESULT end(struct export *x)
{
    struct text_buffer *b = &x->out.text;
    char name[32];
    HRESULT hr = S_OK;
    add_name(x, "process_name", 0, 0, "Processors");
    for (uint32_t i = 0; i < x->processors; i++) {
        snprintf(name, sizeof name, "CPU %u", (unsigned)i);
        add_name(x, "thread_name", 0, i, name);
    }
    for (size_t i = 0; i < x->thread_count && SUCCEEDED(hr); i++) {
        const struct export_thread *t = x->threads[i];
        if (t->process_name)
            add_name(x, "process_name", t->process, t->id, t->process_name);
        if (t->name)
            add_name(x, "thread_name", t->process, t->id, t->name);
        hr = export_file_settle(&x->out);
    }
    text_buffer_add(b, "\n],\"otherData\":{\"exporter\":\"openpla\",\"trace\":");
    export_json_text(b, x->title);
    text_buffer_add(b, "}}\n");
    return hr;
}

static void release(struct export *x)
{
    struct chrome *c = x->of_format;
    id_map_free(&c->nodes);
    memory_free(c);
    for (size_t i = 0; i < x->thread_count; i++)
        memory_free(x->threads[i]->of_format);
}

const struct export_format export_chrome = {.name = "chrome",
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

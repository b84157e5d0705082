/* SPDX-License-Identifier: MIT */
/* Writes the Trace Event Format for Perfetto, chrome://tracing, the developer tools of browsers, and speedscope.
   Processors are threads of process 0. A thread's waits and events are on a separate track, and its samples form a
   profile in V8's format. */
#include "cli/trace/export/export.h"
#include "cli/trace/export/export_put.h"
#include "engine/base/memory.h"

/* Maximum number of nodes that are remembered as written. If there are more nodes, some may be written repeatedly;
   readers accept this. */
enum { MOST_NODES = 2 << 20 };

struct chrome {
    struct id_map nodes; /* only keys: each key is a profile and a node of it that was written */
    uint64_t written;
};

/* The profile of a thread. */
struct profile {
    int64_t last;  /* time of the latest sample */
    char head[80]; /* the text that each chunk of the profile has before the nodes */
};

static HRESULT begin(struct export *x)
{
    struct chrome *c = x->of_format = memory_zero(1, sizeof *c);
    if (!c)
        return E_OUTOFMEMORY;
    c->nodes.most = MOST_NODES;
    text_buffer_add(&x->out.text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    return S_OK;
}

/* Begins an event and returns the end of its text, after which `space` bytes are reserved; NULL if memory runs out. In
   the format, the numbers of process and thread are signed 32-bit integers. */
static char *put_event(struct export *x, char phase, const char *name, uint32_t process, uint32_t thread, int64_t time,
                       size_t space)
{
    enum { HEAD = 96 + EXPORT_PUT_TIME };
    struct chrome *c = x->of_format;
    const size_t size = strlen(name);
    char *at = text_buffer_reserve(&x->out.text, HEAD + JSON_ESCAPE_MOST * size + space);
    if (!at)
        return NULL;
    if (c->written++ != 0)
        *at++ = ',';
    at = EXPORT_PUT(at, "\n{\"ph\":\"");
    *at++ = phase;
    at = json_put_text(EXPORT_PUT(at, "\",\"name\":"), name, size);
    at = export_put_i32(EXPORT_PUT(at, ",\"pid\":"), process);
    at = export_put_i32(EXPORT_PUT(at, ",\"tid\":"), thread);
    return export_put_us(EXPORT_PUT(at, ",\"ts\":"), time);
}

/* Writes the first members of an event; the caller adds the others. */
static struct text_buffer *begin_event(struct export *x, char phase, const char *name, uint32_t process,
                                       uint32_t thread, int64_t time)
{
    char *at = put_event(x, phase, name, process, thread, time, 0);
    if (at)
        export_put_end(&x->out.text, at);
    return &x->out.text;
}

static void add_node(struct export *x, uint32_t node, bool first)
{
    enum { NODE = 96 + 2 * TEXT_PUT_DECIMAL };
    struct text_buffer *b = &x->out.text;
    const struct export_frame *f = &x->frame[x->tree.values[node - 1] - 1];
    const char *path = f->module ? f->module->path : "";
    const size_t name_size = strlen(f->name), path_size = strlen(path);
    char *at = text_buffer_reserve(b, NODE + JSON_ESCAPE_MOST * (name_size + path_size));
    if (!at)
        return;
    if (!first)
        *at++ = ',';
    at = text_put_u64(EXPORT_PUT(at, "{\"id\":"), (uint64_t)node + 1);
    /* The root has the ID 1. */
    at = text_put_u64(EXPORT_PUT(at, ",\"parent\":"), (uint64_t)x->tree.parents[node - 1] + 1);
    at = json_put_text(EXPORT_PUT(at, ",\"callFrame\":{\"functionName\":"), f->name, name_size);
    at = json_put_text(EXPORT_PUT(at, ",\"scriptId\":0,\"url\":"), path, path_size);
    export_put_end(b, EXPORT_PUT(at, "}}"));
}

/* Begins the profile of a thread with its first sample. */
static struct profile *profile_of(struct export *x, struct export_thread *t, int64_t time)
{
    struct profile *profile = t->of_format;
    if (profile || !(profile = t->of_format = memory_zero(1, sizeof *profile)))
        return profile;
    snprintf(profile->head, sizeof profile->head,
             ",\"cat\":\"cpu\",\"id\":\"0x%x\",\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[",
             (unsigned)t->index + 1);
    struct text_buffer *b = begin_event(x, 'P', "Profile", t->process, t->id, time);
    text_buffer_format(b,
                       ",\"cat\":\"cpu\",\"id\":\"0x%x\",\"args\":{\"data\":{\"startTime\":", (unsigned)t->index + 1);
    export_add_us(b, time);
    text_buffer_add(b, "}}}");
    b = begin_event(x, 'P', "ProfileChunk", t->process, t->id, time);
    text_buffer_format(b,
                       ",\"cat\":\"cpu\",\"id\":\"0x%x\",\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[{\"id\":1,"
                       "\"callFrame\":{\"functionName\":\"(root)\",\"scriptId\":0,\"url\":\"\"}}],\"samples\":[]},"
                       "\"timeDeltas\":[]}}}",
                       (unsigned)t->index + 1);
    profile->last = time;
    return profile;
}

static HRESULT sample(struct export *x, struct export_thread *t, uint32_t processor, int64_t time, uint32_t node,
                      uint32_t weight)
{
    struct chrome *c = x->of_format;
    struct profile *profile = profile_of(x, t, time);
    uint32_t new_nodes[STACK_MOST_FRAMES];
    size_t count = 0;
    (void)processor;
    (void)weight;
    if (!profile)
        return E_OUTOFMEMORY;
    for (uint32_t n = node; n != 0 && count < STACK_MOST_FRAMES; n = x->tree.parents[n - 1]) {
        const uint64_t key = ((uint64_t)t->index + 1) << 32 | n;
        if (id_map_find(&c->nodes, key))
            break;
        if (!id_map_put(&c->nodes, key))
            return E_OUTOFMEMORY;
        new_nodes[count++] = n;
    }
    struct text_buffer *b = begin_event(x, 'P', "ProfileChunk", t->process, t->id, time);
    text_buffer_add(b, profile->head);
    for (size_t i = count; i-- > 0;)
        add_node(x, new_nodes[i], i + 1 == count);
    char *at = text_buffer_reserve(b, 64 + TEXT_PUT_DECIMAL + EXPORT_PUT_TIME);
    if (!at)
        return E_OUTOFMEMORY;
    at = text_put_u64(EXPORT_PUT(at, "],\"samples\":["), (uint64_t)node + 1);
    at = export_put_us(EXPORT_PUT(at, "]},\"timeDeltas\":["), time - profile->last);
    export_put_end(b, EXPORT_PUT(at, "]}}}"));
    profile->last = time;
    return S_OK;
}

static HRESULT run(struct export *x, uint32_t processor, struct export_thread *t, int64_t since, int64_t until)
{
    const char *label = export_label(t);
    if (!label)
        return E_OUTOFMEMORY;
    char *at = put_event(x, 'X', label, 0, processor, since, 64 + 2 * TEXT_PUT_DECIMAL + EXPORT_PUT_TIME);
    if (!at)
        return E_OUTOFMEMORY;
    at = export_put_us(EXPORT_PUT(at, ",\"cat\":\"sched\",\"dur\":"), until - since);
    at = export_put_i32(EXPORT_PUT(at, ",\"args\":{\"pid\":"), t->process);
    at = text_put_u64(EXPORT_PUT(at, ",\"tid\":"), t->id);
    export_put_end(&x->out.text, EXPORT_PUT(at, "}}"));
    return S_OK;
}

static HRESULT wait(struct export *x, const struct export_wait *w)
{
    enum { PREEMPTED = 1, WAITING = 5 };
    const struct export_thread *t = w->thread;
    const int64_t ready = w->ready >= w->begin && w->ready != 0 ? w->ready : w->end;
    enum { REST = 64 + EXPORT_PUT_TIME };
    char name[64];
    if (ready > w->begin) {
        const char *where = w->node != 0 ? x->frame[x->tree.values[w->node - 1] - 1].name : "";
        const char *reason = export_wait_reason(w->reason);
        const size_t where_size = strlen(where), reason_size = strlen(reason);
        char *end = EXPORT_PUT(name, "waiting (");
        end = (char *)memcpy(end, reason, reason_size) + reason_size;
        memcpy(end, ")", sizeof ")");
        char *at = put_event(x, 'X', name, t->process, t->id, w->begin, REST + JSON_ESCAPE_MOST * where_size);
        if (!at)
            return E_OUTOFMEMORY;
        at = export_put_us(EXPORT_PUT(at, ",\"cat\":\"wait\",\"dur\":"), ready - w->begin);
        at = json_put_text(EXPORT_PUT(at, ",\"args\":{\"where\":"), where, where_size);
        export_put_end(&x->out.text, EXPORT_PUT(at, "}}"));
    }
    if (w->end > ready) {
        char *at = put_event(x, 'X', "ready", t->process, t->id, ready, REST);
        if (!at)
            return E_OUTOFMEMORY;
        at = export_put_us(EXPORT_PUT(at, ",\"cat\":\"wait\",\"dur\":"), w->end - ready);
        export_put_end(&x->out.text, EXPORT_PUT(at, "}"));
    }
    return S_OK;
}

static HRESULT counter(struct export *x, enum export_counter which, int64_t since, int64_t until, double value)
{
    (void)until;
    struct text_buffer *b = begin_event(x, 'C', export_counters[which].name, 0, 0, since);
    text_buffer_format(b, ",\"cat\":\"counter\",\"args\":{\"%s\":%.10g}}", export_counters[which].unit, value);
    return S_OK;
}

static HRESULT event(struct export *x, const struct export_event *e)
{
    const EVENT_HEADER *h = &e->dumped->record->EventHeader;
    struct text_buffer *b = begin_event(x, 'i', e->name, e->thread ? e->thread->process : h->ProcessId,
                                        e->thread ? e->thread->id : h->ThreadId, e->time);
    text_buffer_add(b, ",\"s\":\"t\",\"cat\":\"event\",\"args\":{");
    const HRESULT hr = export_json_fields(b, e, true);
    if (e->node != 0)
        text_buffer_add(b, b->text && b->text[b->length - 1] == '{' ? "\"stack\":[" : ",\"stack\":[");
    for (uint32_t node = e->node; node != 0; node = x->tree.parents[node - 1]) {
        text_buffer_add(b, node != e->node ? "," : "");
        json_add_text(b, x->frame[x->tree.values[node - 1] - 1].name);
    }
    text_buffer_add(b, e->node != 0 ? "]" : "");
    text_buffer_add(b, "}}");
    return hr;
}

static void add_name(struct export *x, const char *what, uint32_t process, uint32_t thread, const char *name)
{
    struct text_buffer *b = begin_event(x, 'M', what, process, thread, 0);
    text_buffer_add(b, ",\"cat\":\"__metadata\",\"args\":{\"name\":");
    json_add_text(b, name ? name : "");
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
    json_add_text(b, x->title);
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

/* SPDX-License-Identifier: MIT */
/* Converts events for an export. Samples and switches are read by fixed offsets, because a trace has millions of them;
   other events are decoded with their schema. */
#include "cli/trace/export/export_events.h"

#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"

enum { SAMPLE = 46, SET_INTERVAL = 72, INTERVAL_START, INTERVAL_END, SWITCH = 36, READY = 50 };
enum { START = 1, END, RUNDOWN_START, RUNDOWN_END };
enum { DISK_READ = 10, DISK_WRITE, SEND = 10, RECEIVE, SEND_V6 = 26, RECEIVE_V6 };
enum { STATE_READY = 1, STATE_STANDBY = 3, STATE_DEFERRED = 7 };
enum { INTERVAL = 10000, COUNTER_STEP = 50 * 10000 }; /* in units of 100 ns */
enum { MOST_PROCESSORS = 4096, MOST_THREADS = 1 << 18 };
static const GUID perf_class = {0xCE1DBFB4, 0x137E, 0x4DA6, {0x87, 0xB0, 0x3F, 0x59, 0xAA, 0x10, 0x2C, 0xBC}};
static const GUID disk_class = {0x3D6FA8D4, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
static const GUID tcp_class = {0x9A280AC0, 0xC8E0, 0x11D1, {0x84, 0xE2, 0x00, 0xC0, 0x4F, 0xB9, 0x98, 0xA2}};
static const GUID udp_class = {0xBF3A50C5, 0xA9C9, 0x4988, {0xA0, 0x05, 0x2D, 0xF0, 0xB7, 0xC8, 0x0F, 0x80}};
/* Event classes that only describe the trace or the computer. */
static const GUID descriptions[] = {
    {0x68FDD900, 0x4A3E, 0x11D1, {0x84, 0xF4, 0x00, 0x00, 0xF8, 0x04, 0x64, 0xE3}}, /* EventTrace */
    {0xB3E675D7, 0x2554, 0x4F18, {0x83, 0x0B, 0x27, 0x62, 0x73, 0x25, 0x60, 0xDE}}, /* ImageID */
    {0xBBCCF6C1, 0x6CD1, 0x48C4, {0x80, 0xFF, 0x83, 0x94, 0x82, 0xE3, 0x76, 0x71}}, /* EventMetadata */
    {0x9B79EE91, 0xB5FD, 0x41C0, {0xA2, 0x43, 0x42, 0x48, 0xE2, 0x66, 0xE9, 0xD0}}, /* SystemConfigEx */
    {0x01853A65, 0x418F, 0x4F36, {0xAE, 0xFC, 0xDC, 0x0F, 0x1D, 0x2F, 0xD2, 0x35}}, /* SystemConfig */
    {0xA669021C, 0xC450, 0x4609, {0xA0, 0x35, 0x5A, 0xF5, 0x9A, 0xF4, 0xDF, 0x18}}, /* rundown of the CLR */
};

static HRESULT no_memory(void)
{
    return error_set(E_OUTOFMEMORY, "out of memory for the threads of the export");
}

/* ---- threads ---- */

static bool process_chosen(const struct export_events *x, uint32_t process, const char *name)
{
    uint64_t id;
    bool chosen = x->processes->count == 0;
    for (size_t i = 0; i < x->processes->count && !chosen; i++)
        chosen = text_to_u64(x->processes->items[i], &id) ? id == process
                                                          : name && text_matches(x->processes->items[i], name);
    return chosen;
}

static HRESULT thread_add(struct export_events *x, const struct live_thread *live, uint32_t id,
                          struct export_thread **out)
{
    struct export *to = x->to;
    void *threads = to->threads;
    const struct live_process *p = live->process != UINT32_MAX ? live_process(&x->live, live->process) : NULL;
    if (to->thread_count >= MOST_THREADS)
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "cannot export: the trace has more than %d threads",
                         MOST_THREADS);
    if (!memory_grow(&threads, &to->thread_capacity, to->thread_count + 1, sizeof(struct export_thread *)))
        return no_memory();
    to->threads = threads;
    struct export_thread *t = *out = to->threads[to->thread_count] = memory_zero(1, sizeof *t);
    if (!t)
        return no_memory();
    t->index = (uint32_t)to->thread_count++;
    t->process = live->process;
    t->id = id;
    t->name = live->name ? text_copy(live->name) : NULL;
    t->process_name = p && p->name ? text_copy(p->name) : NULL;
    return (live->name && !t->name) || (p && p->name && !t->process_name) ? no_memory() : S_OK;
}

void export_threads_free(struct export *x)
{
    for (size_t i = 0; i < x->thread_count; i++) {
        memory_free(x->threads[i]->name);
        memory_free(x->threads[i]->process_name);
        memory_free(x->threads[i]->label);
        memory_free(x->threads[i]);
    }
    memory_free(x->threads);
}

/* Finds the thread that currently has the id. *out is NULL for the idle thread, if there is no id, or if the thread's
   process is not exported. `process` is used if the trace has not yet reported the thread's process. */
static HRESULT thread_of(struct export_events *x, uint32_t id, uint32_t process, struct export_thread **out,
                         struct live_thread **live)
{
    *out = NULL;
    *live = NULL;
    if (id == UINT32_MAX || id == 0)
        return S_OK;
    struct live_thread *t = live_thread(&x->live, id);
    if (!t)
        return no_memory();
    if (t->process == UINT32_MAX)
        t->process = process;
    HRESULT hr = S_OK;
    if (t->index == 0) {
        hr = thread_add(x, t, id, out);
        t->index = SUCCEEDED(hr) && *out ? (*out)->index + 1 : 0;
    }
    *live = t;
    if (FAILED(hr))
        return hr;
    *out = x->to->threads[t->index - 1];
    if (!process_chosen(x, (*out)->process, (*out)->process_name))
        *out = NULL;
    return S_OK;
}

static uint32_t epoch_of(struct export_events *x, uint32_t process)
{
    const struct live_process *p = process != UINT32_MAX ? live_process(&x->live, process) : NULL;
    return p ? p->epoch : 0;
}

/* ---- stacks ---- */

static HRESULT node_of(struct export_events *x, const struct event_stack *stack, uint32_t process, uint64_t number,
                       uint32_t *node)
{
    const uint32_t owner = stack->process != UINT32_MAX ? stack->process : process;
    return export_stack(x->to, stack, process, epoch_of(x, owner), number, node);
}

/* ---- samples and switches ---- */

struct moment {
    const struct trace_event *e;
    const uint8_t *data;
    size_t size;
    int64_t time;
    uint32_t processor, width;
    const struct event_stack *stack;
};

static HRESULT take_sample(struct export_events *x, const struct moment *m)
{
    struct export_thread *t;
    struct live_thread *live;
    uint32_t node = 0;
    if (m->size < m->width + 8)
        return S_OK;
    const uint64_t address = m->width == 4 ? get_u32(m->data) : get_u64(m->data);
    HRESULT hr = thread_of(x, get_u32(m->data + m->width), m->stack ? m->stack->process : UINT32_MAX, &t, &live);
    if (FAILED(hr) || !t)
        return hr;
    if (m->stack)
        hr = node_of(x, m->stack, t->process, m->e->number, &node);
    else
        hr = export_address(x->to, address, t->process, epoch_of(x, t->process), m->e->number, &node);
    x->to->samples++;
    if (!x->switches)
        x->counters[EXPORT_CPU] += x->interval;
    return SUCCEEDED(hr) && x->to->format->sample
               ? x->to->format->sample(x->to, t, m->processor, m->time, node, x->interval)
               : hr;
}

static HRESULT give_run(struct export_events *x, uint32_t processor, struct export_thread *t, int64_t since,
                        int64_t until)
{
    if (!t || until < since)
        return S_OK;
    x->to->runs++;
    return x->to->format->run ? x->to->format->run(x->to, processor, t, since, until) : S_OK;
}

static HRESULT switch_out(struct export_events *x, const struct moment *m, const struct export_processor *p,
                          struct export_switch *s)
{
    struct live_thread *live;
    const uint32_t old = get_u32(m->data + 4);
    HRESULT hr = thread_of(x, old, UINT32_MAX, &s->from, &live);
    if (FAILED(hr) || !live)
        return hr;
    live->out = m->time + 1;
    live->state = s->state;
    live->reason = s->reason;
    live->ready = s->state == STATE_READY || s->state == STATE_STANDBY || s->state == STATE_DEFERRED ? m->time + 1 : 0;
    /* If the thread that is switched out is not the one that was switched in last, events were lost. */
    return !p->known || p->running == old ? give_run(x, m->processor, s->from, p->known ? p->since : 0, m->time) : S_OK;
}

static HRESULT switch_in(struct export_events *x, const struct moment *m, struct export_switch *s)
{
    struct live_thread *live;
    HRESULT hr = thread_of(x, get_u32(m->data), m->stack ? m->stack->process : UINT32_MAX, &s->to, &live);
    if (FAILED(hr) || !live)
        return hr;
    if (m->stack && s->to)
        hr = node_of(x, m->stack, s->to->process, m->e->number, &s->node);
    const struct export_wait wait = {.thread = s->to,
                                     .begin = live->out - 1,
                                     .ready = live->ready != 0 ? live->ready - 1 : 0,
                                     .end = m->time,
                                     .state = live->state,
                                     .reason = live->reason,
                                     .node = s->node};
    const bool waited = live->out != 0 && s->to;
    live->out = live->ready = 0;
    x->to->waits += waited;
    return SUCCEEDED(hr) && waited && x->to->format->wait ? x->to->format->wait(x->to, &wait) : hr;
}

/* Adds the time for which the processor has run a thread, up to `until`, to the counter EXPORT_CPU. */
static void count_running(struct export_events *x, struct export_processor *p, int64_t until)
{
    if (p->known && p->running != 0 && until > p->since)
        x->counters[EXPORT_CPU] += (double)(until - (p->since > x->counted ? p->since : x->counted));
}

static HRESULT take_switch(struct export_events *x, const struct moment *m)
{
    enum { BYTES = 24 };
    if (m->size < BYTES)
        return S_OK;
    x->processors.item_size = sizeof(struct export_processor);
    x->processors.most = MOST_PROCESSORS;
    struct export_processor *p = id_map_put(&x->processors, (uint64_t)m->processor + 1);
    if (!p)
        return no_memory();
    struct export_switch s = {.time = m->time,
                              .processor = m->processor,
                              .to_priority = (int8_t)m->data[8],
                              .from_priority = (int8_t)m->data[9],
                              .reason = m->data[12],
                              .state = m->data[14],
                              .stack = m->stack};
    x->switches = true;
    count_running(x, p, m->time);
    HRESULT hr = switch_out(x, m, p, &s);
    if (SUCCEEDED(hr))
        hr = switch_in(x, m, &s);
    *p = (struct export_processor){.known = true, .running = get_u32(m->data), .since = m->time};
    return SUCCEEDED(hr) && x->to->format->switched ? x->to->format->switched(x->to, &s) : hr;
}

static HRESULT take_ready(struct export_events *x, const struct moment *m)
{
    struct export_thread *t;
    struct live_thread *live;
    if (m->size < 4)
        return S_OK;
    const HRESULT hr = thread_of(x, get_u32(m->data), UINT32_MAX, &t, &live);
    if (SUCCEEDED(hr) && live && live->out != 0 && live->ready == 0)
        live->ready = m->time + 1;
    return SUCCEEDED(hr) && t && x->to->format->readied ? x->to->format->readied(x->to, m->time, m->processor, t) : hr;
}

/* ---- counters ---- */

static HRESULT counters_give(struct export_events *x, int64_t until)
{
    const double processors = (double)(x->processors.count != 0 ? x->processors.count : x->to->processors);
    size_t at = 0;
    for (struct export_processor *p; (p = id_map_next(&x->processors, &at, NULL));)
        count_running(x, p, until);
    const double all = (double)(until - x->counted) * processors;
    HRESULT hr = S_OK;
    for (int i = 0; i < EXPORT_COUNTERS && SUCCEEDED(hr); i++) {
        double value = x->counters[i];
        if (i == EXPORT_CPU)
            value = all > 0 ? 100 * value / all : 0;
        if (x->to->format->counter)
            hr = x->to->format->counter(x->to, (enum export_counter)i, x->counted, until,
                                        value > 100 && i == EXPORT_CPU ? 100 : value);
        x->counters[i] = 0;
    }
    x->counted = until;
    return hr;
}

/* Writes the counters up to `now`. If the trace pauses, each counter has a single value for the pause. */
static HRESULT counters_advance(struct export_events *x, int64_t now)
{
    HRESULT hr = S_OK;
    if (now - x->counted < COUNTER_STEP)
        return S_OK;
    hr = counters_give(x, x->counted + COUNTER_STEP);
    if (SUCCEEDED(hr) && now - x->counted >= COUNTER_STEP)
        hr = counters_give(x, now - (now - x->counted) % COUNTER_STEP);
    return hr;
}

static void take_sizes(struct export_events *x, const EVENT_RECORD *r, const struct moment *m)
{
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode;
    const GUID *class = &r->EventHeader.ProviderId;
    if (m->size < 12 || r->EventHeader.EventDescriptor.Version == 0)
        return;
    if (guid_equal(class, &disk_class)) {
        if (type == DISK_READ || type == DISK_WRITE)
            x->counters[type == DISK_READ ? EXPORT_READ : EXPORT_WRITTEN] += get_u32(m->data + 8);
    } else if (guid_equal(class, &tcp_class) || guid_equal(class, &udp_class)) {
        if (type == SEND || type == SEND_V6)
            x->counters[EXPORT_SENT] += get_u32(m->data + 4);
        else if (type == RECEIVE || type == RECEIVE_V6)
            x->counters[EXPORT_RECEIVED] += get_u32(m->data + 4);
    }
}

/* ---- other events ---- */

static bool is_description(const EVENT_RECORD *r)
{
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode;
    for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++)
        if (guid_equal(&r->EventHeader.ProviderId, &descriptions[i]))
            return true;
    return (type == RUNDOWN_START || type == RUNDOWN_END) &&
           (is_process_event(r) || is_thread_event(r) || is_image_event(r));
}

static bool provider_chosen(const struct export_events *x, const struct dumped_event *e)
{
    GUID guid;
    bool chosen = x->providers->count == 0;
    for (size_t i = 0; i < x->providers->count && !chosen; i++) {
        const char *wanted = x->providers->items[i];
        if (text_to_guid(wanted, &guid))
            chosen = guid_equal(&guid, &e->record->EventHeader.ProviderId);
        else if (e->schema)
            chosen =
                (e->schema->provider_name && text_matches(wanted, e->schema->provider_name)) ||
                (e->schema->source == SCHEMA_MOF && e->schema->task_name && text_matches(wanted, e->schema->task_name));
    }
    return chosen;
}

/* Adds a name such as "Provider/Event", "Provider/Task/Opcode" or "Provider #7". */
static void name_event(struct text_buffer *name, const struct dumped_event *e, struct text_buffer *room)
{
    const EVENT_DESCRIPTOR *d = &e->record->EventHeader.EventDescriptor;
    const struct event_schema *s = e->schema;
    const char *known = dumped_event_name(e, room);
    name->length = 0;
    if (known)
        text_buffer_add(name, known);
    else
        text_buffer_add_guid(name, &e->record->EventHeader.ProviderId);
    if (s && s->source == SCHEMA_MANIFEST && s->task_name && *s->task_name)
        text_buffer_format(name, "/%s", s->task_name);
    if (s && s->opcode_name && *s->opcode_name && s->source != SCHEMA_TRACE_LOGGING)
        text_buffer_format(name, "/%s", s->opcode_name);
    if (d->Id != 0 && (!s || s->source == SCHEMA_MANIFEST))
        text_buffer_format(name, " #%u", (unsigned)d->Id);
}

static HRESULT take_other(struct export_events *x, const struct moment *m)
{
    struct dumped_event dumped;
    const struct found_schema *found;
    struct live_thread *live;
    struct export_event e = {.dumped = &dumped, .time = m->time, .processor = m->processor, .stack = m->stack};
    const EVENT_HEADER *h = &m->e->record->EventHeader;
    struct text_buffer room = {0};
    HRESULT hr = trace_schemas_find(x->schemas, m->e, &dumped, &found);
    if (SUCCEEDED(hr) && x->to->format->event && provider_chosen(x, &dumped)) {
        hr = thread_of(x, h->ThreadId == UINT32_MAX && m->stack ? m->stack->thread : h->ThreadId,
                       h->ThreadId == UINT32_MAX && m->stack ? m->stack->process : h->ProcessId, &e.thread, &live);
        if (SUCCEEDED(hr) && (e.thread || x->processes->count == 0)) {
            if (m->stack && x->to->format->event_stacks)
                hr = node_of(x, m->stack, h->ProcessId, m->e->number, &e.node);
            name_event(&x->name, &dumped, &room);
            e.name = x->name.failed ? "" : x->name.text;
            hr = SUCCEEDED(hr) ? x->to->format->event(x->to, &e) : hr;
            x->to->events++;
            x->to->undecoded += hr == S_FALSE;
        }
    }
    text_buffer_free(&room);
    if (found)
        found_schema_release(x->schemas->all, found);
    return SUCCEEDED(hr) && x->name.failed ? E_OUTOFMEMORY : SUCCEEDED(hr) ? S_OK : hr;
}

/* ---- all events ---- */

/* Returns the number of the processor. Only events with the flag have a 16-bit index: before Windows 8, the second of
   these bytes had a different meaning. */
static uint32_t processor_of(const EVENT_RECORD *r)
{
    return r->EventHeader.Flags & EVENT_HEADER_FLAG_PROCESSOR_INDEX ? r->BufferContext.ProcessorIndex
                                                                    : r->BufferContext.ProcessorNumber;
}

HRESULT export_events_prepare(void *events, const struct trace_event *e)
{
    struct export_events *x = events;
    if (e->known && processor_of(e->record) >= x->to->processors)
        x->to->processors = processor_of(e->record) + 1;
    if (e->known && FAILED(live_threads_prepare(&x->live, e->record)))
        return no_memory();
    return S_OK;
}

static HRESULT take_by_class(struct export_events *x, const struct moment *m)
{
    const EVENT_RECORD *r = m->e->record;
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode;
    if (r->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) {
        if (guid_equal(&r->EventHeader.ProviderId, &perf_class)) {
            if (type == SAMPLE)
                return take_sample(x, m);
            if (type >= SET_INTERVAL && type <= INTERVAL_END)
                return S_OK;
        } else if (is_thread_event(r) && type == SWITCH) {
            return take_switch(x, m);
        } else if (is_thread_event(r) && type == READY) {
            return take_ready(x, m);
        } else {
            take_sizes(x, r, m);
        }
    }
    /* An event that only describes the trace is not exported, but it may define other events. */
    return is_description(r) ? trace_schemas_learn(x->schemas, m->e) : take_other(x, m);
}

/* Does the work that is necessary for every event, even for events that are not exported. */
static HRESULT take_state(struct export_events *x, const EVENT_RECORD *r)
{
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode, *data = r->UserData;
    if ((type == SET_INTERVAL || type == INTERVAL_START) && r->UserDataLength >= 8 &&
        guid_equal(&r->EventHeader.ProviderId, &perf_class) && get_u32(data) == 0 && get_u32(data + 4) != 0)
        x->interval = get_u32(data + 4);
    return FAILED(live_threads_take(&x->live, r)) ? no_memory() : S_OK;
}

HRESULT export_events_take(void *events, const struct trace_event *e)
{
    struct export_events *x = events;
    const EVENT_RECORD *r = e->record;
    struct event_stack stack;
    if (!e->known)
        return S_OK;
    HRESULT hr = take_state(x, r);
    if (FAILED(hr))
        return hr;
    if (r->EventHeader.TimeStamp.QuadPart < x->from || r->EventHeader.TimeStamp.QuadPart > x->until)
        return trace_schemas_learn(x->schemas, e);
    if (!x->begun) {
        x->to->begin = r->EventHeader.TimeStamp.QuadPart;
        x->interval = x->interval != 0 ? x->interval : INTERVAL;
        x->begun = true;
    }
    struct moment m = {.e = e,
                       .data = r->UserData,
                       .size = r->UserDataLength,
                       .time = r->EventHeader.TimeStamp.QuadPart - x->to->begin,
                       .processor = processor_of(r),
                       .width = r->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8};
    m.time = m.time < 0 ? 0 : m.time;
    x->to->end = m.time > x->to->end ? m.time : x->to->end;
    m.stack = stack_joiner_find(x->to->frames->stacks.joiner, e->number, &stack) ? &stack : NULL;
    if (m.stack)
        export_stacks_prefetch(x->to);
    if (stack_is_carrier(r))
        return S_OK;
    hr = counters_advance(x, m.time);
    if (SUCCEEDED(hr))
        hr = take_by_class(x, &m);
    if (SUCCEEDED(hr) && x->to->out.file)
        hr = export_file_settle(&x->to->out);
    return hr;
}

HRESULT export_events_end(struct export_events *x)
{
    struct export_processor *p;
    struct export_thread *t;
    struct live_thread *live;
    uint64_t key;
    HRESULT hr = x->begun ? counters_give(x, x->to->end > x->counted ? x->to->end : x->counted + 1) : S_OK;
    for (size_t at = 0; SUCCEEDED(hr) && (p = id_map_next(&x->processors, &at, &key));) {
        hr = thread_of(x, p->running, UINT32_MAX, &t, &live);
        if (SUCCEEDED(hr) && p->known)
            hr = give_run(x, (uint32_t)(key - 1), t, p->since, x->to->end);
    }
    return hr;
}

void export_events_free(struct export_events *x)
{
    live_threads_free(&x->live);
    id_map_free(&x->processors);
    text_buffer_free(&x->name);
}

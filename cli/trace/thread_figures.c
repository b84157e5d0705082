/* SPDX-License-Identifier: MIT */
/* Computes thread statistics. Switches are decoded by fixed offsets, because there are up to 100,000 per second; other
   events are decoded with their class. */
#include "cli/trace/thread_figures.h"

#include "cli/trace/trace.h"
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum { START = 1, END, RUNDOWN_START, RUNDOWN_END, DISK_READ = 10, DISK_WRITE, SWITCH = 36, READY = 50 };
enum { SEND = 10, RECEIVE, SEND_V6 = 26, RECEIVE_V6 };
enum { STATE_READY = 1, STATE_STANDBY = 3 }; /* KTHREAD_STATE; the value 2, between these, is running */
enum { MOST_THREADS = 1 << 20, MOST_PROCESSES = 1 << 18, MOST_PROCESSORS = 4096 };

struct one_thread {
    uint32_t process;
    int64_t ready_since; /* 0 if the thread is not ready */
    bool running, ended;
    struct figures of;
};
struct one_process {
    char *name;
    bool ended;
    struct figures of; /* sums of events with an unknown thread */
};
struct one_processor {
    bool known;
    uint32_t running; /* 0 if the processor is idle */
    int64_t since;
};

static HRESULT no_memory(void)
{
    return error_set(E_OUTOFMEMORY, "out of memory for the statistics of threads");
}

/* Returns the thread's entry. Returns NULL for the idle thread, or if memory runs out. */
static struct one_thread *thread_of(struct thread_figures *f, uint32_t id)
{
    f->threads.item_size = sizeof(struct one_thread);
    f->threads.most = MOST_THREADS;
    return id != 0 ? id_map_put(&f->threads, id) : NULL;
}

/* Returns the process's entry. Process 0 has an entry too, for unknown processes. */
static struct one_process *process_of(struct thread_figures *f, uint32_t id)
{
    const uint64_t key = (uint64_t)id + 1;
    f->processes.item_size = sizeof(struct one_process);
    if (f->processes.count >= MOST_PROCESSES && !id_map_find(&f->processes, key))
        return id_map_put(&f->processes, 1);
    return id_map_put(&f->processes, key);
}

static uint64_t passed(int64_t from, int64_t to)
{
    return to > from ? (uint64_t)(to - from) : 0;
}

/* ---- switches ---- */

static HRESULT take_switch(struct thread_figures *f, const uint8_t *data, uint32_t processor, int64_t time)
{
    const uint32_t new = get_u32(data), old = get_u32(data + 4);
    const uint8_t state = data[14];
    f->processors.item_size = sizeof(struct one_processor);
    f->processors.most = MOST_PROCESSORS;
    struct one_processor *p = id_map_put(&f->processors, (uint64_t)processor + 1);
    struct one_thread *out = thread_of(f, old);
    if (!p || (!out && old != 0))
        return no_memory();
    /* If the first switch on a processor switches a thread out, that thread has been running since the start. If the
       thread that is switched out is not the one that was switched in last, events were lost. */
    if (out && (!p->known || p->running == old))
        out->of.ran += passed(p->known ? p->since : f->begin, time);
    if (out) {
        out->running = false;
        out->ready_since = state >= STATE_READY && state <= STATE_STANDBY ? time : 0;
    }
    *p = (struct one_processor){.known = true, .running = new, .since = time};
    f->switches++;
    struct one_thread *in = thread_of(f, new);
    if (!in)
        return new == 0 ? S_OK : no_memory();
    if (in->ready_since != 0)
        in->of.ready += passed(in->ready_since, time);
    in->ready_since = 0;
    in->running = true;
    in->of.switches++;
    return S_OK;
}

static HRESULT take_ready(struct thread_figures *f, const uint8_t *data, int64_t time)
{
    const uint32_t id = get_u32(data);
    struct one_thread *t = thread_of(f, id);
    if (t && !t->running && t->ready_since == 0)
        t->ready_since = time;
    return t || id == 0 ? S_OK : no_memory();
}

/* ---- decoding by class ---- */

struct fields {
    const struct event_schema *schema;
    uint64_t process, thread, size;
    bool has_process, has_thread, has_size;
    struct text_buffer name;
};

static HRESULT take_field(void *context, enum event_step step, const struct event_value *v)
{
    struct fields *f = context;
    const char *name = v->property ? v->property->name : NULL;
    if (step != STEP_VALUE || v->depth != 0 || !name)
        return S_OK;
    if (text_equal_nocase(name, "ProcessId") || text_equal_nocase(name, "PID"))
        f->has_process = value_number(v->type.in, v->bytes, v->size, &f->process);
    else if (text_equal_nocase(name, "TThreadId") || text_equal_nocase(name, "IssuingThreadId"))
        f->has_thread = value_number(v->type.in, v->bytes, v->size, &f->thread);
    else if (text_equal_nocase(name, "TransferSize") || text_equal_nocase(name, "size"))
        f->has_size = value_number(v->type.in, v->bytes, v->size, &f->size);
    else if (text_equal_nocase(name, "ImageFileName"))
        return event_value_text(f->schema, v, &f->name);
    return S_OK;
}

/* Decodes the event. Returns S_FALSE if the event is unknown, or if its data is corrupt. The caller frees the result in
   any case. */
static HRESULT read_fields(const struct dumped_event *e, struct fields *out)
{
    *out = (struct fields){.schema = e->schema};
    if (!e->schema)
        return S_FALSE;
    const struct event_data data = event_data_of(e->record, e->pointer_size);
    const HRESULT hr = event_values_walk(e->schema, &data, take_field, out, NULL);
    return hr == EVENT_DATA_INVALID || (SUCCEEDED(hr) && out->name.failed) ? S_FALSE : hr;
}

static HRESULT take_process(struct thread_figures *f, uint8_t type, const struct fields *v)
{
    if (type < START || type > RUNDOWN_END || !v->has_process)
        return S_OK;
    struct one_process *p = process_of(f, (uint32_t)v->process);
    char *name = v->name.length != 0 ? text_copy(trace_process_base_name(v->name.text)) : NULL;
    if (!p || (v->name.length != 0 && !name)) {
        memory_free(name);
        return no_memory();
    }
    if (name) {
        memory_free(p->name);
        p->name = name;
    }
    p->ended = type == END;
    return S_OK;
}

static HRESULT take_thread(struct thread_figures *f, uint8_t type, const struct fields *v)
{
    if (type < START || type > RUNDOWN_END || !v->has_process || !v->has_thread || v->thread == 0)
        return S_OK;
    struct one_thread *t = thread_of(f, (uint32_t)v->thread);
    if (!t)
        return no_memory();
    t->process = (uint32_t)v->process;
    t->ended = type == END;
    return S_OK;
}

static HRESULT take_disk(struct thread_figures *f, uint8_t type, const struct fields *v)
{
    if ((type != DISK_READ && type != DISK_WRITE) || !v->has_size)
        return S_OK;
    struct one_thread *t = v->has_thread ? thread_of(f, (uint32_t)v->thread) : NULL;
    struct one_process *nobody = t ? NULL : process_of(f, 0);
    if (!t && !nobody)
        return no_memory();
    struct figures *of = t ? &t->of : &nobody->of;
    *(type == DISK_READ ? &of->read : &of->written) += v->size;
    return S_OK;
}

static HRESULT take_network(struct thread_figures *f, uint8_t type, const struct fields *v)
{
    const bool sends = type == SEND || type == SEND_V6;
    if ((!sends && type != RECEIVE && type != RECEIVE_V6) || !v->has_size || !v->has_process)
        return S_OK;
    struct one_process *p = process_of(f, (uint32_t)v->process);
    if (!p)
        return no_memory();
    *(sends ? &p->of.sent : &p->of.received) += v->size;
    return S_OK;
}

/* ---- events ---- */

static const struct source {
    GUID guid;
    HRESULT (*take)(struct thread_figures *f, uint8_t type, const struct fields *v);
} sources[] = {
    {{0x3D6FA8D0, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}}, take_process},
    {{0x3D6FA8D1, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}}, take_thread},
    {{0x3D6FA8D4, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}}, take_disk},
    {{0x9A280AC0, 0xC8E0, 0x11D1, {0x84, 0xE2, 0x00, 0xC0, 0x4F, 0xB9, 0x98, 0xA2}}, take_network},
    {{0xBF3A50C5, 0xA9C9, 0x4988, {0xA0, 0x05, 0x2D, 0xF0, 0xB7, 0xC8, 0x0F, 0x80}}, take_network},
};
static const GUID lost_class = {0x6A399AE0, 0x4BC6, 0x4DE9, {0x87, 0x0B, 0x36, 0x57, 0xF8, 0x94, 0x7E, 0x7E}};

static const struct source *source_of(const GUID *class)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (guid_equal(class, &sources[i].guid))
            return &sources[i];
    return NULL;
}

bool thread_figures_want_class(const EVENT_RECORD *r)
{
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode;
    const struct source *s = source_of(&r->EventHeader.ProviderId);
    return s && !(s->take == take_thread && (type == SWITCH || type == READY));
}

HRESULT thread_figures_take(struct thread_figures *f, const struct dumped_event *e)
{
    enum { SWITCH_BYTES = 24, READY_BYTES = 8 };
    const EVENT_RECORD *r = e->record;
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode;
    const int64_t time = r->EventHeader.TimeStamp.QuadPart;
    const struct source *s = source_of(&r->EventHeader.ProviderId);
    if (guid_equal(&r->EventHeader.ProviderId, &lost_class))
        f->lost += r->UserDataLength >= 4 ? get_u32(r->UserData) : 1;
    if (!s)
        return S_OK;
    const bool is_process = s->take == take_process || s->take == take_thread;
    /* Rundown events of existing threads and processes have the time of the rundown, so they do not set the
       beginning. */
    if (f->begin == 0 && !(is_process && (type == RUNDOWN_START || type == RUNDOWN_END)))
        f->begin = time;
    if (s->take == take_thread && type == SWITCH)
        return r->UserDataLength >= SWITCH_BYTES ? take_switch(f, r->UserData, r->BufferContext.ProcessorIndex, time)
                                                 : S_OK;
    if (s->take == take_thread && type == READY)
        return r->UserDataLength >= READY_BYTES ? take_ready(f, r->UserData, time) : S_OK;
    struct fields v;
    HRESULT hr = read_fields(e, &v);
    if (hr == S_OK)
        hr = s->take(f, type, &v);
    text_buffer_free(&v.name);
    return SUCCEEDED(hr) ? S_OK : hr;
}

/* ---- rows ---- */

/* Adds the time up to `now` for threads that are running or ready. */
static void figures_settle(struct thread_figures *f, int64_t now)
{
    size_t at = 0;
    for (struct one_processor *p; (p = id_map_next(&f->processors, &at, NULL));) {
        struct one_thread *t = p->known && p->running != 0 ? id_map_find(&f->threads, p->running) : NULL;
        if (t)
            t->of.ran += passed(p->since, now);
        p->since = now > p->since ? now : p->since;
    }
    at = 0;
    for (struct one_thread *t; (t = id_map_next(&f->threads, &at, NULL));) {
        if (t->ready_since == 0)
            continue;
        t->of.ready += passed(t->ready_since, now);
        t->ready_since = now > t->ready_since ? now : t->ready_since;
    }
}

static bool is_any(const struct figures *of)
{
    static const struct figures none;
    return memcmp(of, &none, sizeof none) != 0;
}

static void figures_accumulate(struct figures *to, const struct figures *of)
{
    to->ran += of->ran;
    to->ready += of->ready;
    to->switches += of->switches;
    to->read += of->read;
    to->written += of->written;
    to->received += of->received;
    to->sent += of->sent;
}

static const char *name_of(const struct thread_figures *f, uint32_t process)
{
    const struct one_process *p = f->processes.count ? id_map_find(&f->processes, (uint64_t)process + 1) : NULL;
    return p ? p->name : NULL;
}

static HRESULT rows_of_threads(struct thread_figures *f, struct figures_row *rows, size_t *count)
{
    struct one_thread *t;
    uint64_t key;
    for (size_t at = 0; (t = id_map_next(&f->threads, &at, &key));)
        if (is_any(&t->of))
            rows[(*count)++] = (struct figures_row){t->process, (uint32_t)key, name_of(f, t->process), t->of};
    return S_OK;
}

static HRESULT rows_of_processes(struct thread_figures *f, struct figures_row *rows, size_t *count)
{
    struct id_map sums = {.item_size = sizeof(struct figures)};
    struct one_thread *t;
    struct one_process *p;
    struct figures *sum;
    uint64_t key;
    HRESULT hr = S_OK;
    for (size_t at = 0; SUCCEEDED(hr) && (t = id_map_next(&f->threads, &at, NULL));) {
        sum = is_any(&t->of) ? id_map_put(&sums, (uint64_t)t->process + 1) : NULL;
        if (sum)
            figures_accumulate(sum, &t->of);
        else if (is_any(&t->of))
            hr = no_memory();
    }
    for (size_t at = 0; SUCCEEDED(hr) && (p = id_map_next(&f->processes, &at, &key));) {
        sum = is_any(&p->of) ? id_map_put(&sums, key) : NULL;
        if (sum)
            figures_accumulate(sum, &p->of);
        else if (is_any(&p->of))
            hr = no_memory();
    }
    for (size_t at = 0; SUCCEEDED(hr) && (sum = id_map_next(&sums, &at, &key));)
        rows[(*count)++] = (struct figures_row){(uint32_t)(key - 1), 0, name_of(f, (uint32_t)(key - 1)), *sum};
    id_map_free(&sums);
    return hr;
}

HRESULT thread_figures_rows(struct thread_figures *f, int64_t now, bool of_threads, struct figures_row **rows,
                            size_t *count)
{
    *count = 0;
    *rows = memory_zero(f->threads.count + f->processes.count + 1, sizeof **rows);
    if (!*rows)
        return no_memory();
    figures_settle(f, now);
    const HRESULT hr = of_threads ? rows_of_threads(f, *rows, count) : rows_of_processes(f, *rows, count);
    if (FAILED(hr)) {
        memory_free(*rows);
        *rows = NULL;
    }
    return hr;
}

void thread_figures_reset(struct thread_figures *f, int64_t now)
{
    struct one_thread *t;
    struct one_process *p;
    uint64_t key;
    figures_settle(f, now);
    /* After a removal, another entry can have the removed entry's index, so the same index is checked again. */
    for (size_t at = 0; (t = id_map_next(&f->threads, &at, &key));) {
        t->of = (struct figures){0};
        if (t->ended && !t->running) {
            id_map_remove(&f->threads, key);
            at--;
        }
    }
    for (size_t at = 0; (p = id_map_next(&f->processes, &at, &key));) {
        p->of = (struct figures){0};
        if (p->ended) {
            memory_free(p->name);
            id_map_remove(&f->processes, key);
            at--;
        }
    }
    f->begin = now;
    f->switches = f->lost = 0;
}

void thread_figures_free(struct thread_figures *f)
{
    struct one_process *p;
    for (size_t at = 0; (p = id_map_next(&f->processes, &at, NULL));)
        memory_free(p->name);
    id_map_free(&f->threads);
    id_map_free(&f->processes);
    id_map_free(&f->processors);
}

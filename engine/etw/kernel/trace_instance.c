/* SPDX-License-Identifier: MIT */
/* Manages an instance of tracefs, and merges the events of its processors into one stream.

   The name of the instance's folder shows its owner: "openpla-HOST-STARTED-PROCESS-STARTED-NAME". HOST is the process
   that the kernel sees (under Wine the server, which opens all files), and PROCESS is the process that requested the
   instance. */
#include "engine/etw/trace_instance.h"

#include "engine/base/error.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/etw/kernel/tracepoint.h"
#include "engine/logs/little_endian.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

enum { OWNER_NUMBERS = 4 };

struct ring {
    struct kernel_stream *pages;
    struct kernel_file *stats;
};
struct trace_instance {
    char *path;
    struct ring_layout layout;
    uint32_t processors;
    struct ring *rings;
};

/* ---- owners ---- */

struct owner {
    uint64_t host, host_started, process, started;
};

/* Reads the id and the 22nd field (the start in ticks since boot) of /proc/ID/stat. The process name in this file can
   contain anything. A zombie is not treated as a process. */
static HRESULT read_stat(const char *path, uint64_t *id, uint64_t *started)
{
    char *text;
    HRESULT hr = kernel_file_text(path, &text, NULL);
    if (FAILED(hr))
        return hr;
    const char *p = strrchr(text, ')');
    if (p && (strncmp(p, ") Z", 3) == 0 || strncmp(p, ") X", 3) == 0))
        p = NULL;
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    const bool read = p && sscanf(text, "%" SCNu64, id) == 1 && sscanf(p, "%" SCNu64, started) == 1;
    memory_free(text);
    return read ? S_OK : HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
}

static HRESULT own(struct owner *out)
{
    out->process = process_own_id();
    out->started = process_start_time(process_own_id());
    return read_stat("/proc/self/stat", &out->host, &out->host_started);
}

static bool is_owned_by(const char *name, struct owner *out)
{
    uint64_t *const numbers[OWNER_NUMBERS] = {&out->host, &out->host_started, &out->process, &out->started};
    const size_t prefix = sizeof TRACE_INSTANCE_PREFIX - 1;
    if (strncmp(name, TRACE_INSTANCE_PREFIX, prefix) != 0)
        return false;
    name += prefix;
    for (size_t i = 0; i < OWNER_NUMBERS; i++) {
        uint64_t value = 0;
        const char *digit = name;
        for (; *digit >= '0' && *digit <= '9' && value < UINT64_MAX / 10 - 1; digit++)
            value = value * 10 + (uint64_t)(*digit - '0');
        if (digit == name || *digit != '-')
            return false;
        *numbers[i] = value;
        name = digit + 1;
    }
    return true;
}

/* Returns whether the owner has exited. The processes of another Wine prefix cannot be checked while that prefix's
   server runs. */
static bool owner_has_exited(const struct owner *owner, const struct owner *self)
{
    char path[48];
    uint64_t id, started;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", owner->host);
    if (FAILED(read_stat(path, &id, &started)) || started != owner->host_started)
        return true;
    return owner->host == self->host && !process_alive((uint32_t)owner->process, owner->started);
}

struct sweep {
    struct owner self;
    struct texts names;
};

static HRESULT note_orphan(void *context, const char *name)
{
    struct sweep *s = context;
    struct owner owner;
    return is_owned_by(name, &owner) && owner_has_exited(&owner, &s->self) ? texts_add(&s->names, name) : S_OK;
}

static char *instances_path(const char *root)
{
    return text_format("%s/instances", root ? root : TRACEFS_ROOT);
}

HRESULT trace_instance_sweep(const char *root, size_t *left)
{
    struct sweep s = {0};
    char *path = instances_path(root);
    *left = 0;
    HRESULT hr = path ? own(&s.self) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = kernel_folder_each(path, note_orphan, &s);
    for (size_t i = 0; SUCCEEDED(hr) && i < s.names.count; i++) {
        char *one = text_format("%s/%s", path, s.names.items[i]);
        if (!one)
            hr = E_OUTOFMEMORY;
        else if (FAILED(kernel_control_remove(one)))
            ++*left;
        memory_free(one);
    }
    texts_free(&s.names);
    memory_free(path);
    return hr;
}

/* ---- start ---- */

HRESULT trace_instance_possible(const char *root)
{
    struct owner self;
    char *folder = instances_path(root), *probe = NULL;
    HRESULT hr = folder ? own(&self) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        probe = text_format("%s/" TRACE_INSTANCE_PREFIX "%" PRIu64 "-%" PRIu64 "-%" PRIu64 "-%" PRIu64 "-probe", folder,
                            self.host, self.host_started, self.process, self.started);
        hr = probe ? kernel_control_folder(probe) : E_OUTOFMEMORY;
    }
    if (hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS))
        hr = S_OK;
    if (SUCCEEDED(hr))
        (void)kernel_control_remove(probe);
    else if (hr == HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED))
        hr = error_set(hr, "cannot create a tracefs instance in '%s': access denied", folder);
    else if (hr != E_OUTOFMEMORY)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                       "cannot use tracefs in '%s': it is not mounted or this user has no access", folder);
    memory_free(probe);
    memory_free(folder);
    return hr;
}

HRESULT trace_instance_set(const struct trace_instance *t, const char *file, const char *text)
{
    char *path = text_format("%s/%s", t->path, file);
    const HRESULT hr = path ? kernel_control_write(path, text) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

static HRESULT read_layout(struct trace_instance *t)
{
    char *path = text_format("%s/events/header_page", t->path), *text = NULL;
    HRESULT hr = path ? kernel_file_text(path, &text, NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = ring_layout_read(text, &t->layout);
    memory_free(text);
    memory_free(path);
    return hr;
}

static HRESULT open_ring(struct trace_instance *t, uint32_t processor)
{
    struct ring *ring = &t->rings[processor];
    char *pages = text_format("%s/per_cpu/cpu%" PRIu32 "/trace_pipe_raw", t->path, processor),
         *stats = text_format("%s/per_cpu/cpu%" PRIu32 "/stats", t->path, processor);
    HRESULT hr = pages && stats ? kernel_stream_open(pages, &ring->pages) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = kernel_file_open(stats, &ring->stats);
    memory_free(pages);
    memory_free(stats);
    return hr;
}

/* Notes a processor's number. Offline processors keep their numbers, so the highest number among the folders determines
   the number of lanes. */
static HRESULT note_processor(void *context, const char *name)
{
    uint32_t *count = context;
    uint64_t number;
    if (strncmp(name, "cpu", 3) == 0 && text_to_u64(name + 3, &number) && number < TRACE_MOST_PROCESSORS &&
        number >= *count)
        *count = (uint32_t)number + 1;
    return S_OK;
}

static HRESULT open_rings(struct trace_instance *t)
{
    char *path = text_format("%s/per_cpu", t->path);
    HRESULT hr = path ? kernel_folder_each(path, note_processor, &t->processors) : E_OUTOFMEMORY;
    memory_free(path);
    if (SUCCEEDED(hr) && t->processors == 0)
        hr =
            error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "cannot read '%s/per_cpu': no processor listed", t->path);
    if (SUCCEEDED(hr) && !(t->rings = memory_zero(t->processors, sizeof *t->rings)))
        hr = E_OUTOFMEMORY;
    for (uint32_t i = 0; SUCCEEDED(hr) && i < t->processors; i++)
        hr = open_ring(t, i);
    return hr;
}

static HRESULT instance_prepare(struct trace_instance *t, uint32_t buffer_kb)
{
    char kb[16];
    snprintf(kb, sizeof kb, "%" PRIu32, buffer_kb);
    HRESULT hr = trace_instance_set(t, "trace_clock", kernel_trace_clock());
    if (SUCCEEDED(hr))
        hr = trace_instance_set(t, "buffer_size_kb", kb);
    if (SUCCEEDED(hr))
        hr = trace_instance_set(t, "buffer_percent", "0"); /* a reader is woken as soon as the ring contains an event */
    if (SUCCEEDED(hr))
        hr = read_layout(t);
    return SUCCEEDED(hr) ? open_rings(t) : hr;
}

HRESULT trace_instance_begin(const struct trace_options *options, struct trace_instance **out)
{
    struct owner self;
    struct trace_instance *t = memory_zero(1, sizeof *t);
    char *folder = instances_path(options->root);
    bool made = false;
    *out = NULL;
    HRESULT hr = t && folder ? own(&self) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        t->path = text_format("%s/" TRACE_INSTANCE_PREFIX "%" PRIu64 "-%" PRIu64 "-%" PRIu64 "-%" PRIu64 "-%s", folder,
                              self.host, self.host_started, self.process, self.started, options->name);
        hr = t->path ? kernel_control_folder(t->path) : E_OUTOFMEMORY;
        made = SUCCEEDED(hr);
    }
    memory_free(folder);
    if (SUCCEEDED(hr))
        hr = instance_prepare(t, options->buffer_kb);
    if (SUCCEEDED(hr)) {
        *out = t;
        return S_OK;
    }
    const struct error_kept why = error_keep(hr);
    if (t && !made) { /* do not remove a folder that this call has not created */
        memory_free(t->path);
        t->path = NULL;
    }
    (void)trace_instance_end(t);
    return error_restore(&why);
}

/* ---- use ---- */

const char *trace_instance_path(const struct trace_instance *t)
{
    return t->path;
}

const struct ring_layout *trace_instance_layout(const struct trace_instance *t)
{
    return &t->layout;
}

uint32_t trace_instance_processors(const struct trace_instance *t)
{
    return t->processors;
}

HRESULT trace_instance_format(const struct trace_instance *t, const char *system, const char *event, char **out)
{
    char *path = text_format("%s/events/%s/%s/format", t->path, system, event);
    const HRESULT hr = path ? kernel_file_text(path, out, NULL) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

HRESULT trace_instance_enable(const struct trace_instance *t, const char *system, const char *event, const char *filter,
                              bool on)
{
    char *file = text_format("events/%s/%s/filter", system, event);
    HRESULT hr = !file ? E_OUTOFMEMORY : filter ? trace_instance_set(t, file, filter) : S_OK;
    memory_free(file);
    if (FAILED(hr))
        return hr;
    file = text_format("events/%s/%s/enable", system, event);
    hr = file ? trace_instance_set(t, file, on ? "1" : "0") : E_OUTOFMEMORY;
    memory_free(file);
    return hr;
}

static uint64_t stat_number(const char *text, const char *name)
{
    uint64_t value = 0;
    const char *at = strstr(text, name);
    if (at)
        (void)sscanf(at + strlen(name), "%" SCNu64, &value);
    return value;
}

HRESULT trace_instance_state(struct trace_instance *t, uint32_t processor, struct trace_state *out)
{
    const char *text;
    size_t size;
    const HRESULT hr = kernel_file_read_piece(t->rings[processor].stats, &text, &size);
    *out = (struct trace_state){0};
    if (FAILED(hr))
        return hr;
    out->entries = stat_number(text, "entries:");
    out->lost = stat_number(text, "\noverrun:") + stat_number(text, "dropped events:");
    return S_OK;
}

HRESULT trace_instance_page(struct trace_instance *t, uint32_t processor, uint8_t *page)
{
    return kernel_stream_read(t->rings[processor].pages, page, t->layout.page_size);
}

/* Removes the instance. Closes the files first, because an instance with an open file cannot be removed, and the
   attempt to remove it does not report an error. */
HRESULT trace_instance_end(struct trace_instance *t)
{
    HRESULT hr = S_OK;
    if (!t)
        return S_OK;
    for (uint32_t i = 0; t->rings && i < t->processors; i++) {
        kernel_stream_close(t->rings[i].pages);
        kernel_file_close(t->rings[i].stats);
    }
    if (t->path) {
        /* If tracefs has been unmounted, the instance still exists, but its folder does not. Removing the folder then
           seems to succeed, but writing to a control file fails. Therefore a failure to write "tracing_on" is
           returned. */
        const HRESULT off = trace_instance_set(t, "tracing_on", "0");
        (void)trace_instance_set(t, "events/enable", "0");
        hr = kernel_control_remove(t->path);
        hr = FAILED(hr) ? hr : off;
    }
    memory_free(t->rings);
    memory_free(t->path);
    memory_free(t);
    return hr;
}

/* ---- the stream of all processors ---- */

/* The events of each processor are already in order. A heap of the processors merges them. This costs one copy of each
   page, and one or two comparisons per event. */

enum { MOST_PAGES = 4096 }; /* per processor and pass: 16 MB; the rest is read in the next pass */

/* The pages that were read from one processor, and the position up to which they have been forwarded. */
struct lane {
    uint8_t *bytes;
    size_t pages, capacity; /* numbers of pages of page_size bytes */
    size_t current;         /* index of the page that `page` reads */
    struct ring_page page;
    bool begun;
    struct ring_event next; /* next.data is NULL if there is no event now */
    uint64_t lost_in_ring;  /* number of losses when the ring last reported it */
};
struct trace_stream {
    struct trace_instance *instance;
    const struct ring_layout *layout;
    uint32_t processors;
    struct lane *lanes;
    uint32_t *heap; /* lanes that have an event, with the oldest event first */
    uint32_t heap_count;
    uint64_t unreadable; /* number of pages that could not be read, or could be read only in part */
};

HRESULT trace_stream_create(struct trace_instance *t, struct trace_stream **out)
{
    struct trace_stream *s = memory_zero(1, sizeof *s);
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    s->instance = t;
    s->layout = trace_instance_layout(t);
    s->processors = trace_instance_processors(t);
    s->lanes = memory_zero(s->processors, sizeof *s->lanes);
    s->heap = memory_zero(s->processors, sizeof *s->heap);
    if (!s->lanes || !s->heap) {
        trace_stream_free(s);
        return E_OUTOFMEMORY;
    }
    *out = s;
    return S_OK;
}

void trace_stream_free(struct trace_stream *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->lanes && i < s->processors; i++)
        memory_free(s->lanes[i].bytes);
    memory_free(s->lanes);
    memory_free(s->heap);
    memory_free(s);
}

/* ---- a lane ---- */

static void lane_find_next(struct trace_stream *s, struct lane *lane)
{
    lane->next = (struct ring_event){0};
    for (; lane->current < lane->pages; lane->current++, lane->begun = false) {
        if (!lane->begun &&
            !ring_page_begin(&lane->page, s->layout, lane->bytes + lane->current * s->layout->page_size)) {
            s->unreadable++;
            continue;
        }
        lane->begun = true;
        const HRESULT hr = ring_page_next(&lane->page, &lane->next);
        if (hr == S_OK)
            return;
        if (FAILED(hr))
            s->unreadable++;
    }
    lane->next.data = NULL;
}

/* Removes the pages that have been read. */
static void lane_drop_read_pages(const struct trace_stream *s, struct lane *lane)
{
    if (lane->current == 0)
        return;
    const size_t page = s->layout->page_size, left = lane->pages - lane->current;
    const ptrdiff_t moved = (ptrdiff_t)(lane->current * page);
    memmove(lane->bytes, lane->bytes + moved, left * page);
    if (lane->begun && left != 0) {
        lane->page.at -= moved;
        lane->page.end -= moved;
        if (lane->next.data)
            lane->next.data -= moved;
    }
    lane->pages = left;
    lane->current = 0;
}

/* Makes room for one more page. This can move the event data in the buffer. */
static bool lane_make_room(const struct trace_stream *s, struct lane *lane)
{
    void *bytes = lane->bytes;
    const size_t page = s->layout->page_size;
    if (lane->pages < lane->capacity)
        return true;
    const size_t at = lane->begun ? (size_t)(lane->page.at - lane->bytes) : 0,
                 end = lane->begun ? (size_t)(lane->page.end - lane->bytes) : 0,
                 next = lane->next.data ? (size_t)(lane->next.data - lane->bytes) : 0;
    if (!memory_grow(&bytes, &lane->capacity, lane->pages + 16, page))
        return false;
    lane->bytes = bytes;
    if (lane->begun) {
        lane->page.at = lane->bytes + at;
        lane->page.end = lane->bytes + end;
    }
    if (lane->next.data)
        lane->next.data = lane->bytes + next;
    return true;
}

static uint64_t events_on(const struct trace_stream *s, const uint8_t *bytes)
{
    struct ring_page page;
    struct ring_event e;
    uint64_t count = 0;
    if (!ring_page_begin(&page, s->layout, bytes))
        return 0;
    while (ring_page_next(&page, &e) == S_OK)
        count++;
    return count;
}

/* Reads only the pages with the events that the ring contains now, because reading further could block. If the ring
   still contains events after MOST_PAGES pages, lowers *until to the time up to which the lane is complete. */
static HRESULT lane_read_pages(struct trace_stream *s, uint32_t processor, uint64_t *until)
{
    uint64_t taken = 0;
    struct lane *lane = &s->lanes[processor];
    struct trace_state state;
    HRESULT hr = trace_instance_state(s->instance, processor, &state);
    if (FAILED(hr))
        return hr;
    lane->lost_in_ring = state.lost;
    lane_drop_read_pages(s, lane);
    for (uint64_t on_page = 1; taken < state.entries && on_page != 0 && lane->pages < MOST_PAGES; taken += on_page) {
        if (!lane_make_room(s, lane))
            return E_OUTOFMEMORY;
        uint8_t *page = lane->bytes + lane->pages * s->layout->page_size;
        hr = trace_instance_page(s->instance, processor, page);
        if (hr != S_OK)
            break;
        lane->pages++;
        on_page = events_on(s, page);
    }
    if (taken < state.entries && lane->pages == MOST_PAGES) {
        const uint64_t newest = get_u64(lane->bytes + (lane->pages - 1) * s->layout->page_size);
        *until = newest < *until ? newest : *until;
    }
    if (!lane->next.data)
        lane_find_next(s, lane);
    return hr;
}

/* ---- the heap ---- */

static bool is_older(const struct trace_stream *s, uint32_t a, uint32_t b)
{
    const uint64_t x = s->lanes[a].next.time, y = s->lanes[b].next.time;
    return x < y || (x == y && a < b);
}

static void heap_sift_down(struct trace_stream *s, uint32_t at)
{
    const uint32_t lane = s->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->heap_count)
            break;
        if (child + 1 < s->heap_count && is_older(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!is_older(s, s->heap[child], lane))
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = lane;
}

static void heap_build(struct trace_stream *s)
{
    s->heap_count = 0;
    for (uint32_t i = 0; i < s->processors; i++)
        if (s->lanes[i].next.data)
            s->heap[s->heap_count++] = i;
    for (uint32_t i = s->heap_count / 2; i-- > 0;)
        heap_sift_down(s, i);
}

static HRESULT stream_forward_until(struct trace_stream *s, uint64_t until, const struct trace_sink *sink)
{
    HRESULT hr = S_OK;
    heap_build(s);
    while (SUCCEEDED(hr) && s->heap_count != 0) {
        const uint32_t processor = s->heap[0];
        struct lane *lane = &s->lanes[processor];
        if (lane->next.time > until)
            break;
        const struct trace_record record = {lane->next, processor};
        hr = sink->event(sink->context, &record);
        lane_find_next(s, lane);
        if (!lane->next.data)
            s->heap[0] = s->heap[--s->heap_count];
        if (s->heap_count != 0)
            heap_sift_down(s, 0);
    }
    return hr;
}

HRESULT trace_stream_pass(struct trace_stream *s, uint64_t now, bool all, const struct trace_sink *sink)
{
    uint64_t until = all ? UINT64_MAX : now > TRACE_STREAM_KEPT_NS ? now - TRACE_STREAM_KEPT_NS : 0;
    HRESULT hr = S_OK;
    for (uint32_t i = 0; SUCCEEDED(hr) && i < s->processors; i++)
        hr = lane_read_pages(s, i, &until);
    const HRESULT handed = stream_forward_until(s, until, sink);
    return FAILED(hr) ? hr : handed;
}

uint64_t trace_stream_lost(struct trace_stream *s)
{
    uint64_t lost = s->unreadable;
    for (uint32_t i = 0; i < s->processors; i++)
        lost += s->lanes[i].lost_in_ring;
    return lost;
}

/* SPDX-License-Identifier: MIT */
#include "cli/trace/export/threads.h"

#include "cli/trace/trace.h"
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"

enum { START = 1, END, RUNDOWN_START, RUNDOWN_END, IMAGE_LOAD = 10, SET_NAME = 72 };
enum { MOST_PROCESSES = 1 << 18, MOST_THREADS = 1 << 20 };
static const GUID process_class = {0x3D6FA8D0, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
static const GUID thread_class = {0x3D6FA8D1, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
static const GUID image_class = {0x2CB15D1D, 0x5FC1, 0x11D2, {0xAB, 0xE1, 0x00, 0xA0, 0xC9, 0x11, 0xF5, 0x18}};

bool is_process_event(const EVENT_RECORD *r)
{
    return guid_equal(&r->EventHeader.ProviderId, &process_class);
}

bool is_thread_event(const EVENT_RECORD *r)
{
    return guid_equal(&r->EventHeader.ProviderId, &thread_class);
}

bool is_image_event(const EVENT_RECORD *r)
{
    return guid_equal(&r->EventHeader.ProviderId, &image_class);
}

struct live_process *live_process(struct live_threads *l, uint32_t id)
{
    const uint64_t key = (uint64_t)id + 1;
    l->processes.item_size = sizeof(struct live_process);
    if (l->processes.count >= MOST_PROCESSES && !id_map_find(&l->processes, key))
        return id_map_put(&l->processes, (uint64_t)UINT32_MAX + 1);
    return id_map_put(&l->processes, key);
}

uint32_t live_process_epoch(const struct live_threads *l, uint32_t id)
{
    const struct live_process *p = id_map_find(&l->processes, (uint64_t)id + 1);
    return p ? p->epoch : 0;
}

struct live_thread *live_thread(struct live_threads *l, uint32_t id)
{
    const uint64_t key = (uint64_t)id + 1;
    l->threads.item_size = sizeof(struct live_thread);
    if (l->threads.count >= MOST_THREADS && !id_map_find(&l->threads, key))
        return id_map_put(&l->threads, (uint64_t)UINT32_MAX + 1);
    struct live_thread *t = id_map_find(&l->threads, key);
    if (t)
        return t;
    t = id_map_put(&l->threads, key);
    if (t)
        t->process = UINT32_MAX;
    return t;
}

static uint32_t width_of(const EVENT_RECORD *r)
{
    return r->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8;
}

/* Returns the size in bytes of an account in the kernel's events: 4 if there is no account, otherwise two pointers and
   the SID. Returns SIZE_MAX if the account would be longer than `left`. */
static size_t account_size(const uint8_t *at, size_t left, uint32_t width)
{
    if (left >= 4 && get_u32(at) == 0)
        return 4;
    if (left < 2 * (size_t)width + 8)
        return SIZE_MAX;
    const size_t size = 2 * (size_t)width + 8 + 4 * (size_t)at[2 * width + 1];
    return size <= left ? size : SIZE_MAX;
}

/* Reads the process of an event. *name is from memory_alloc; NULL if memory runs out, "" if the name is unknown. */
static bool read_process(const EVENT_RECORD *r, uint32_t *id, char **name)
{
    const uint32_t width = width_of(r), version = r->EventHeader.EventDescriptor.Version;
    const uint8_t *data = r->UserData;
    size_t at = version == 0 ? 2 * (size_t)width : width + 16 + (version >= 3 ? width : 0) + (version >= 4 ? 4 : 0);
    if (r->UserDataLength < at || r->UserDataLength < width + 4)
        return false;
    *id = get_u32(data + (version == 0 ? 0 : width));
    const size_t account = account_size(data + at, r->UserDataLength - at, width);
    at = account == SIZE_MAX ? r->UserDataLength : at + account;
    const uint8_t *end = memchr(data + at, 0, r->UserDataLength - at);
    struct text_buffer text = {0};
    text_buffer_add_utf8(&text, (const char *)data + at, end ? (size_t)(end - data) - at : r->UserDataLength - at);
    *name = text_copy(text.failed || text.length == 0 ? "" : trace_process_base_name(text.text));
    text_buffer_free(&text);
    return true;
}

static bool read_thread(const EVENT_RECORD *r, uint32_t *process, uint32_t *id, char **name)
{
    const uint32_t width = width_of(r), version = r->EventHeader.EventDescriptor.Version;
    const uint8_t *data = r->UserData;
    if (r->UserDataLength < 8)
        return false;
    *process = get_u32(data + (version == 0 ? 4 : 0));
    *id = get_u32(data + (version == 0 ? 0 : 4));
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode;
    const size_t at = type == SET_NAME ? 8 : version >= 3 ? 8 + 7 * (size_t)width + 8 : r->UserDataLength;
    size_t units = 0;
    if (at < r->UserDataLength && etl_text_length(data + at, r->UserDataLength - at, &units))
        *name = etl_text(data + at, units);
    else
        *name = text_copy("");
    return true;
}

/* Replaces the name, but keeps the old name if the new one is "". Takes ownership of the new name. */
static void set_name(char **to, char *name)
{
    if (!*name) {
        memory_free(name);
        return;
    }
    memory_free(*to);
    *to = name;
}

static HRESULT take_process(struct live_threads *l, const EVENT_RECORD *r, bool first_reading)
{
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode;
    uint32_t id;
    char *name;
    if (type < START || type > RUNDOWN_END || !read_process(r, &id, &name))
        return S_OK;
    struct live_process *p = name ? live_process(l, id) : NULL;
    if (!p) {
        memory_free(name);
        return E_OUTOFMEMORY;
    }
    if (first_reading ? p->seen || type == START : type != START) {
        p->seen = true;
        memory_free(name);
        return S_OK;
    }
    p->epoch += !first_reading; /* the id now belongs to another process */
    p->seen = true;
    set_name(&p->name, name);
    return S_OK;
}

static HRESULT take_thread(struct live_threads *l, const EVENT_RECORD *r, bool first_reading)
{
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode;
    uint32_t process, id;
    char *name;
    if (((type < START || type > RUNDOWN_END) && type != SET_NAME) || !read_thread(r, &process, &id, &name))
        return S_OK;
    struct live_thread *t = name ? live_thread(l, id) : NULL;
    if (!t) {
        memory_free(name);
        return E_OUTOFMEMORY;
    }
    if (first_reading ? t->seen || type == START : type != START && type != SET_NAME) {
        t->seen = true;
        memory_free(name);
        return S_OK;
    }
    t->seen = true;
    if (type == START && !first_reading) {
        memory_free(t->name);
        *t = (struct live_thread){.seen = true};
    }
    t->process = process;
    set_name(&t->name, name);
    return S_OK;
}

static HRESULT take_image(struct live_threads *l, const EVENT_RECORD *r)
{
    const uint32_t width = width_of(r);
    const uint8_t type = r->EventHeader.EventDescriptor.Opcode;
    if (r->UserDataLength < 2 * width + 4 || r->EventHeader.EventDescriptor.Version == 0 ||
        (type != IMAGE_LOAD && type != END))
        return S_OK;
    struct live_process *p = live_process(l, get_u32((const uint8_t *)r->UserData + 2 * (size_t)width));
    if (!p)
        return E_OUTOFMEMORY;
    p->epoch += type == IMAGE_LOAD && p->unloaded;
    p->unloaded = type == END;
    return S_OK;
}

HRESULT live_threads_prepare(struct live_threads *l, const EVENT_RECORD *r)
{
    if (is_process_event(r))
        return take_process(l, r, true);
    return is_thread_event(r) ? take_thread(l, r, true) : S_OK;
}

HRESULT live_threads_take(struct live_threads *l, const EVENT_RECORD *r)
{
    if (is_process_event(r))
        return take_process(l, r, false);
    if (is_thread_event(r))
        return take_thread(l, r, false);
    return is_image_event(r) ? take_image(l, r) : S_OK;
}

void live_threads_free(struct live_threads *l)
{
    size_t at = 0;
    for (struct live_process *p; (p = id_map_next(&l->processes, &at, NULL));)
        memory_free(p->name);
    at = 0;
    for (struct live_thread *t; (t = id_map_next(&l->threads, &at, NULL));)
        memory_free(t->name);
    id_map_free(&l->processes);
    id_map_free(&l->threads);
}

/* SPDX-License-Identifier: MIT */
/* The sessions of the directory: conversion from and to records, reading, and changes. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/etw/directory/directory_layout.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/trace_properties.h"

/* ---- conversion to and from records ---- */

enum { PAYLOAD_NAMED = 1, PAYLOAD_NUMBERED = 2 }; /* bits of session_payload's `named` */

static HRESULT session_to_payload(const struct directory_session *s, struct session_payload *p)
{
    memset(p, 0, sizeof *p);
    p->logger = s->logger;
    p->generation = s->generation;
    p->state = (uint32_t)s->state;
    p->clock = s->clock;
    p->guid = s->guid;
    p->host_id = s->host.id;
    p->host_start = s->host.start_time;
    p->starter_id = s->starter.id;
    p->starter_start = s->starter.start_time;
    p->section_size = s->section_size;
    p->thread = s->thread;
    p->started = s->started;
    p->kernel = s->kernel;
    p->mode = s->mode;
    p->buffer_kb = s->buffer_kb;
    p->minimum_buffers = s->minimum_buffers;
    p->maximum_buffers = s->maximum_buffers;
    p->maximum_file = s->maximum_file;
    p->flush_timer = s->flush_timer;
    p->flush_ms = s->flush_ms;
    memcpy(p->enable_flags, s->enable_flags, sizeof p->enable_flags);
    p->lists = s->lists;
    memcpy(p->section, s->section, sizeof p->section);
    memcpy(p->signal, s->signal, sizeof p->signal);
    p->whole = s->whole;
    p->whole_generation = s->whole_generation;
    p->named = (s->named ? PAYLOAD_NAMED : 0) | (s->numbered ? PAYLOAD_NUMBERED : 0);
    p->ended = s->ended;
    p->scope = s->scope;
    HRESULT hr = directory_put_text(p->name, &p->name_bytes, s->name, ERROR_INVALID_NAME, "session name");
    return FAILED(hr) ? hr
                      : directory_put_text(p->file, &p->file_bytes, s->file, ERROR_FILENAME_EXCED_RANGE, "log file");
}

/* Returns whether the name is valid for a section or signal: plain ASCII without separators. */
static bool is_object_name(const char name[64])
{
    for (size_t i = 0; i < 64; i++) {
        if (!name[i])
            return true;
        if (name[i] <= ' ' || name[i] > '~' || name[i] == '/' || name[i] == '\\')
            return false;
    }
    return false;
}

static bool are_lists(const struct directory_kernel *k)
{
    for (int i = 0; i < DIRECTORY_KERNEL_LISTS; i++)
        if (k->count[i] > directory_kernel_room((enum directory_kernel_list)i))
            return false;
    return true;
}

static bool is_scope(const struct directory_scope *s)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; s->count <= DIRECTORY_SCOPES && i < s->count; i++)
        bytes += ((uint64_t)s->filter[i].size + 7) / 8 * 8;
    return s->count <= DIRECTORY_SCOPES && bytes <= DIRECTORY_SCOPE_BYTES;
}

/* Converts a payload. S_FALSE: the payload is not a valid session of this logger. */
static HRESULT session_from_payload(const struct session_payload *p, uint32_t logger, struct directory_session *s)
{
    *s = (struct directory_session){
        .logger = p->logger,
        .generation = p->generation,
        .state = (enum directory_state)p->state,
        .guid = p->guid,
        .host = {p->host_id, p->host_start},
        .starter = {p->starter_id, p->starter_start},
        .section_size = p->section_size,
        .kernel = p->kernel != 0,
        .clock = p->clock,
        .mode = p->mode,
        .buffer_kb = p->buffer_kb,
        .minimum_buffers = p->minimum_buffers,
        .maximum_buffers = p->maximum_buffers,
        .maximum_file = p->maximum_file,
        .flush_timer = p->flush_timer,
        .flush_ms = p->flush_ms,
        .thread = p->thread,
        .started = p->started,
        .whole = p->whole,
        .whole_generation = p->whole_generation,
        .named = (p->named & PAYLOAD_NAMED) != 0,
        .numbered = (p->named & PAYLOAD_NUMBERED) != 0,
        .ended = p->ended,
        .scope = p->scope,
    };
    memcpy(s->enable_flags, p->enable_flags, sizeof s->enable_flags);
    s->lists = p->lists;
    memcpy(s->section, p->section, sizeof s->section);
    memcpy(s->signal, p->signal, sizeof s->signal);
    memcpy(s->disallowed, p->disallowed, sizeof s->disallowed);
    s->disallowed_count = p->disallowed_count <= DIRECTORY_DISALLOWED ? p->disallowed_count : 0;
    if (p->logger != logger || p->generation == 0 || p->state < DIRECTORY_STARTING || p->state > DIRECTORY_OVER ||
        p->name_bytes == 0 || p->name_bytes == DIRECTORY_NO_TEXT || !is_object_name(p->section) ||
        !is_object_name(p->signal) || !is_scope(&p->scope) || !are_lists(&p->lists))
        return S_FALSE;
    HRESULT hr = directory_take_text(p->name, p->name_bytes, &s->name);
    if (hr == S_OK)
        hr = directory_take_text(p->file, p->file_bytes, &s->file);
    if (hr != S_OK)
        directory_session_free(s);
    return hr;
}

void directory_session_free(struct directory_session *s)
{
    memory_free(s->name);
    memory_free(s->file);
    s->name = s->file = NULL;
}

void directory_sessions_free(struct directory_session *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        directory_session_free(&list[i]);
    memory_free(list);
}

uint64_t directory_handle(const struct directory_session *s)
{
    return s->kernel ? DIRECTORY_KERNEL_LOGGER : (uint64_t)s->generation << 16 | s->logger;
}

struct session_record *directory_find_session(struct directory *d, uint32_t logger, uint32_t generation,
                                              uint64_t revision)
{
    if (logger < 1 || logger > DIRECTORY_PLACES)
        return NULL;
    for (uint32_t k = 0; k < 2; k++) {
        struct session_record *record = &d->shared->session[logger - 1][k];
        const uint64_t names = atomic_load(&record->words[0]);
        if (directory_holds(&record->span, revision) && (generation == 0 || names >> 32 == generation))
            return record;
    }
    return NULL;
}

uint32_t directory_session_state(struct directory *d, uint32_t logger, uint32_t generation, uint64_t revision)
{
    struct session_record *record = directory_find_session(d, logger, generation, revision);
    return record ? (uint32_t)atomic_load(&record->words[1]) : 0;
}

char *directory_session_name(struct session_record *record)
{
    struct session_payload *p = memory_alloc(sizeof *p);
    char *name = NULL;
    if (!p)
        return NULL;
    directory_load(p, record->words, sizeof *p);
    const HRESULT hr = directory_take_text(p->name, p->name_bytes, &name);
    memory_free(p);
    return hr == E_OUTOFMEMORY || name ? name : text_copy("?");
}

/* ---- reading ---- */

struct reading {
    uint32_t logger, generation; /* the session to read; 0: all sessions */
    struct directory_session *list;
    size_t count, capacity;
    struct session_payload payload;
};

static HRESULT read_sessions(struct directory *d, uint64_t revision, void *context)
{
    struct reading *r = context;
    const uint32_t first = r->logger ? r->logger : 1, last = r->logger ? r->logger : DIRECTORY_PLACES;
    for (; r->count; r->count--) /* items from a previous attempt */
        directory_session_free(&r->list[r->count - 1]);
    for (uint32_t logger = first; logger <= last; logger++) {
        struct session_record *record = directory_find_session(d, logger, r->generation, revision);
        if (!record)
            continue;
        if (!memory_grow((void **)&r->list, &r->capacity, r->count + 1, sizeof *r->list))
            return E_OUTOFMEMORY;
        directory_load(&r->payload, record->words, sizeof r->payload);
        HRESULT hr = session_from_payload(&r->payload, logger, &r->list[r->count]);
        if (FAILED(hr))
            return hr;
        if (hr == S_OK && r->generation != 0 && r->list[r->count].generation != r->generation)
            directory_session_free(&r->list[r->count]);
        else
            r->count += hr == S_OK;
    }
    return S_OK;
}

HRESULT directory_sessions(struct directory *d, struct directory_session **out, size_t *count)
{
    struct reading *r = memory_zero(1, sizeof *r);
    HRESULT hr = r ? directory_read(d, read_sessions, r) : E_OUTOFMEMORY;
    *out = NULL;
    *count = 0;
    if (SUCCEEDED(hr)) {
        *out = r->list;
        *count = r->count;
    } else if (r && r->list) {
        directory_sessions_free(r->list, r->count);
    }
    memory_free(r);
    return hr;
}

HRESULT directory_session_at(struct directory *d, uint32_t logger, uint32_t generation, struct directory_session *out)
{
    struct reading *r;
    if (logger < 1 || logger > DIRECTORY_PLACES)
        return S_FALSE;
    r = memory_zero(1, sizeof *r);
    if (!r)
        return E_OUTOFMEMORY;
    r->logger = logger;
    r->generation = generation;
    r->list = out;
    r->capacity = 1;
    HRESULT hr = directory_read(d, read_sessions, r);
    if (FAILED(hr) && r->count)
        directory_session_free(out);
    else if (SUCCEEDED(hr) && r->count == 0)
        hr = S_FALSE;
    memory_free(r);
    return hr;
}

/* ---- changes ---- */

static bool is_private(const struct directory_session *s)
{
    return (s->mode & TRACE_MODE_PRIVATE_LOGGER) != 0;
}

static HRESULT session_refuse_full(struct directory *d, const struct directory_session *s)
{
    struct directory_session *list;
    size_t count, oldest = SIZE_MAX;
    if (is_private(s))
        return error_set(HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES),
                         "cannot start session '%.200s': all %u entries for private sessions are in use", s->name,
                         (unsigned)DIRECTORY_PRIVATE);
    HRESULT hr = directory_sessions(d, &list, &count);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < count; i++)
        if (!is_private(&list[i]) && !process_alive(list[i].starter.id, list[i].starter.start_time) &&
            (oldest == SIZE_MAX || list[i].started < list[oldest].started))
            oldest = i;
    hr = HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES);
    if (oldest != SIZE_MAX)
        hr = error_set(hr,
                       "cannot start a session: all %u session slots are in use (stop '%.200s', the oldest session "
                       "whose starting process, %u, has exited)",
                       (unsigned)DIRECTORY_SESSIONS, list[oldest].name, (unsigned)list[oldest].starter.id);
    else
        hr = error_set(hr,
                       "cannot start a session: all %u session slots are in use, and the processes that started the "
                       "sessions are still running",
                       (unsigned)DIRECTORY_SESSIONS);
    directory_sessions_free(list, count);
    return hr;
}

static bool same_process(const struct directory_process *a, const struct directory_process *b)
{
    return a->id == b->id && a->start_time == b->start_time;
}

/* Returns whether both sessions are of the same kind. The names of such sessions must differ. */
static bool share_names(const struct directory_session *a, const struct directory_session *b)
{
    const uint32_t kind = TRACE_MODE_PRIVATE_LOGGER | TRACE_MODE_PRIVATE_IN_PROC;
    if (a->whole != 0 || b->whole != 0 || (a->mode & kind) != (b->mode & kind))
        return false;
    return (a->mode & TRACE_MODE_PRIVATE_IN_PROC) == 0 || same_process(&a->starter, &b->starter);
}

static bool is_part_of(const struct directory_session *part, const struct directory_session *s)
{
    return part->whole != 0 && part->whole == s->logger && part->whole_generation == s->generation;
}

/* Checks that no session has the same name, GUID or file; ignores the session of logger `but`. */
static HRESULT session_check_unique(struct directory *d, const struct directory_session *s, uint32_t but,
                                    struct session_payload *room)
{
    for (uint32_t logger = 1; logger <= DIRECTORY_PLACES; logger++) {
        struct directory_session other;
        struct session_record *record = directory_find_session(d, logger, 0, d->target);
        if (!record || logger == but)
            continue;
        directory_load(room, record->words, sizeof *room);
        HRESULT hr = session_from_payload(room, logger, &other);
        if (FAILED(hr))
            return hr;
        if (hr == S_FALSE)
            continue;
        if (share_names(s, &other) && (text_equal_nocase(other.name, s->name) || guid_equal(&other.guid, &s->guid)))
            hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                           "session '%.200s' conflicts with session '%.200s': same %s", s->name, other.name,
                           guid_equal(&other.guid, &s->guid) ? "GUID" : "name");
        else if (s->file && other.file && !is_part_of(s, &other) && !is_part_of(&other, s) &&
                 text_equal_nocase(other.file, s->file))
            hr = error_set(HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION),
                           "cannot log to '%.300s': session '%.200s' is writing to it", s->file, other.name);
        directory_session_free(&other);
        if (FAILED(hr))
            return hr;
    }
    return S_OK;
}

/* Writes the payload to the record of the pair that is not valid now, and ends the validity of the other record. */
static void session_put_record(struct directory *d, uint32_t logger, const struct session_payload *payload)
{
    struct session_record *pair = d->shared->session[logger - 1];
    const uint32_t k = directory_holds(&pair[0].span, d->committed) ? 1 : 0;
    if (directory_holds(&pair[1 - k].span, d->committed))
        atomic_store(&pair[1 - k].span.until, d->target);
    directory_put(d, &pair[k].span, pair[k].words, payload, sizeof *payload);
}

HRESULT directory_session_add(struct directory *d, struct directory_session *s)
{
    struct directory_shared *shared = d->shared;
    struct session_payload *payload;
    uint32_t logger = is_private(s) ? DIRECTORY_SESSIONS + 1 : 1;
    const uint32_t last = is_private(s) ? DIRECTORY_PLACES : DIRECTORY_SESSIONS;
    if (!s->name || !*s->name)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_NAME), "invalid session name: empty");
    payload = memory_alloc(sizeof *payload);
    if (!payload)
        return E_OUTOFMEMORY;
    HRESULT hr = session_check_unique(d, s, 0, payload);
    while (logger <= last && directory_find_session(d, logger, 0, d->target))
        logger++;
    if (SUCCEEDED(hr) && logger > last)
        hr = session_refuse_full(d, s);
    struct directory_session given = *s;
    given.logger = logger;
    if (SUCCEEDED(hr))
        hr = session_to_payload(&given, payload);
    if (SUCCEEDED(hr)) {
        /* If this process is killed now, the unused generation and the empty mailbox are harmless. */
        do
            given.generation = (uint32_t)(atomic_fetch_add(&shared->generation[logger - 1], 1) + 1);
        while (given.generation == 0);
        struct mailbox_record *mailbox = &shared->mailbox[logger - 1];
        atomic_store(&mailbox->word, ((atomic_load(&mailbox->word) >> 3) + 1) << 3);
        if (!is_private(s))
            atomic_store(&shared->reaped[logger - 1], clock_monotonic_ms());
        payload->generation = given.generation;
        session_put_record(d, logger, payload);
        s->logger = logger;
        s->generation = given.generation;
    }
    memory_free(payload);
    return hr;
}

HRESULT directory_session_set(struct directory *d, const struct directory_session *s)
{
    struct session_record *record = directory_find_session(d, s->logger, s->generation, d->target);
    if (!record)
        return S_FALSE;
    struct session_payload *payload = memory_alloc(sizeof *payload), *before = memory_alloc(sizeof *before);
    HRESULT hr = payload && before ? session_check_unique(d, s, s->logger, payload) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = session_to_payload(s, payload);
    if (SUCCEEDED(hr)) {
        directory_load(before, record->words, sizeof *before);
        payload->disallowed_count = before->disallowed_count;
        memcpy(payload->disallowed, before->disallowed, sizeof payload->disallowed);
        session_put_record(d, s->logger, payload);
    }
    memory_free(payload);
    memory_free(before);
    return hr;
}

HRESULT directory_session_disallow(struct directory *d, uint32_t logger, uint32_t generation, const GUID *providers,
                                   size_t count)
{
    struct session_record *record = directory_find_session(d, logger, generation, d->target);
    if (count > DIRECTORY_DISALLOWED)
        return E_INVALIDARG;
    if (!record)
        return S_FALSE;
    struct session_payload *payload = memory_alloc(sizeof *payload);
    if (!payload)
        return E_OUTOFMEMORY;
    directory_load(payload, record->words, sizeof *payload);
    payload->disallowed_count = (uint32_t)count;
    memset(payload->disallowed, 0, sizeof payload->disallowed);
    if (count != 0)
        memcpy(payload->disallowed, providers, count * sizeof *providers);
    session_put_record(d, logger, payload);
    memory_free(payload);
    return S_OK;
}

HRESULT directory_session_remove(struct directory *d, uint32_t logger, uint32_t generation, GUID **providers,
                                 size_t *count)
{
    struct session_record *record = directory_find_session(d, logger, generation, d->target);
    *providers = NULL;
    *count = 0;
    if (!record)
        return S_FALSE;
    const uint32_t its_generation = (uint32_t)(atomic_load(&record->words[0]) >> 32);
    HRESULT hr = directory_enables_end(d, logger, its_generation, providers, count);
    if (SUCCEEDED(hr))
        directory_retire(d, &record->span);
    return hr;
}

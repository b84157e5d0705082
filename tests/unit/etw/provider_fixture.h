/* SPDX-License-Identifier: MIT */
/* Event providers and sessions in one process, without a directory. The test defines which sessions enable which event
   providers, and reads the events. */
#ifndef OPENPLA_PROVIDER_FIXTURE_H
#define OPENPLA_PROVIDER_FIXTURE_H

#include "engine/base/clock.h"
#include "engine/base/process.h"
#include "engine/etw/provider/event_api.h"
#include "engine/etw/provider/event_write.h"
#include "engine/etw/trace_properties.h"
#include "tests/unit/session_fixture.h"

enum { FIXTURE_SESSIONS = 4, FIXTURE_EVENTS = 4096, FIXTURE_OWNER = 3, FIXTURE_BUFFER = 65536 };

struct fixture_session {
    struct memory_session memory;
    struct provider_session provider;
    struct session_drain *drain;
    atomic_bool released;
};
static struct fixture_session fixture_sessions[FIXTURE_SESSIONS + 1]; /* indexed by logger number */

static inline void fixture_release(struct provider_session *s)
{
    fixture_sessions[s->logger].released = true;
}

static inline struct provider_session *fixture_find(void *context, uint32_t logger, uint32_t generation)
{
    (void)context, (void)generation;
    return logger <= FIXTURE_SESSIONS && fixture_sessions[logger].memory.memory ? &fixture_sessions[logger].provider
                                                                                : NULL;
}

static inline struct fixture_session *fixture_session(uint32_t logger, uint32_t mode, uint32_t buffers,
                                                      uint32_t buffer_size)
{
    const struct session_shape shape = {.buffers = buffers,
                                        .minimum = buffers,
                                        .buffer_size = buffer_size,
                                        .processors = 1,
                                        .wake_at = buffers,
                                        .source = session_source_for(ETL_CLOCK_TICKS)};
    struct fixture_session *f = &fixture_sessions[logger];
    *f = (struct fixture_session){.memory = session_in_memory(&shape)};
    f->drain = fixture_drain(&f->memory.b, 0);
    f->provider = (struct provider_session){.buffers = f->memory.b,
                                            .logger = logger,
                                            .generation = 1,
                                            .mode = mode,
                                            .most_event = etl_buffer_max_event(buffer_size),
                                            .references = 1,
                                            .release = fixture_release};
    return f;
}

/* ---- received events ---- */

struct fixture_event {
    struct etl_record record;
    uint8_t *bytes;
};
struct fixture_log {
    uint32_t count;
    struct fixture_event event[FIXTURE_EVENTS];
};

static inline HRESULT fixture_log_buffer(void *context, const struct etl_buffer_header *head, const uint8_t *bytes)
{
    struct fixture_log *log = context;
    uint32_t offset = ETL_BUFFER_HEAD, size;
    const uint8_t *event;
    while (etl_buffer_event(bytes, head->used, &offset, &event, &size)) {
        assert_true(log->count < FIXTURE_EVENTS);
        struct fixture_event *e = &log->event[log->count++];
        e->bytes = memory_copy(event, size);
        assert_non_null(e->bytes);
        etl_record_decode(e->bytes, size, &e->record);
    }
    assert_int_equal(offset, head->used);
    return S_OK;
}

/* Reads everything that the session received so far, and replaces the earlier contents of the log. */
static inline const struct fixture_log *fixture_read(struct fixture_session *f)
{
    static struct fixture_log log;
    const struct session_sink sink = {fixture_log_buffer, NULL, &log};
    HRESULT hr;
    while (log.count > 0)
        memory_free(log.event[--log.count].bytes);
    session_drain_flush(f->drain);
    while (session_drain_pass(f->drain, &sink, &hr) != 0)
        assert_int_equal(hr, S_OK);
    return &log;
}

static inline uint64_t fixture_lost(const struct fixture_session *f)
{
    return session_buffers_lost(&f->memory.b);
}

/* Returns an extended item of the event; NULL if the event has no item of this type. */
static inline const uint8_t *fixture_item(const struct etl_record *r, uint16_t type, uint32_t *size)
{
    const uint8_t *at = r->extended;
    for (uint32_t left = r->extended_size; left >= 8;) {
        const uint32_t whole = get_u16(at);
        assert_true(whole >= 8 && whole % 8 == 0 && whole <= left);
        assert_int_equal(get_u16(at + 4) & 1, left != whole);
        *size = get_u16(at + 6);
        if (get_u16(at + 2) == type)
            return at + 8;
        at += whole;
        left -= whole;
    }
    return NULL;
}

/* ---- event providers ---- */

static const GUID fixture_guid = {0x11111111, 0x2222, 0x3333, {1, 2, 3, 4, 5, 6, 7, 8}};

static inline REGHANDLE fixture_register(const GUID *guid, PENABLECALLBACK callback, void *context)
{
    const struct provider_options options = {.guid = *guid, .callback = callback, .context = context};
    uint64_t handle = 0;
    assert_int_equal(provider_begin(&options, &handle), ERROR_SUCCESS);
    assert_int_equal(provider_begun(handle), ERROR_SUCCESS);
    return handle;
}

static inline void fixture_unregister(REGHANDLE handle)
{
    struct provider_numbers numbers;
    assert_int_equal(provider_end(handle, false, &numbers), ERROR_SUCCESS);
}

static inline struct directory_enable fixture_enable(uint32_t logger, uint8_t level, uint64_t any, uint64_t all)
{
    static uint64_t serial;
    serial++;
    return (struct directory_enable){.provider = fixture_guid,
                                     .logger = logger,
                                     .generation = 1,
                                     .serial = serial,
                                     .level = level,
                                     .any = any,
                                     .all = all};
}

static const struct provider_source fixture_source = {fixture_find, NULL, NULL, {{4711, 17}, "Program.exe"}};

static inline void fixture_apply(const struct directory_enable *list, size_t count)
{
    assert_int_equal(provider_apply(0, list, count, &fixture_source), S_OK);
    provider_run_callbacks();
}

static inline void fixture_filter(struct directory_enable *e, uint32_t type, const void *data, uint32_t size)
{
    e->filter[e->filter_count++] = (struct directory_filter){type, size, data};
}

static inline int fixture_setup(void **state)
{
    provider_threads_own_slot(FIXTURE_OWNER);
    return all_owners_live(state);
}

/* Disables all event providers and frees everything. */
static inline int fixture_teardown(void **state)
{
    (void)state;
    fixture_apply(NULL, 0);
    for (uint32_t i = 1; i <= FIXTURE_SESSIONS; i++)
        if (fixture_sessions[i].memory.memory)
            provider_session_retire(&fixture_sessions[i].provider);
    while (provider_reclaim())
        thread_sleep(1);
    for (uint32_t i = 1; i <= FIXTURE_SESSIONS; i++) {
        struct fixture_session *f = &fixture_sessions[i];
        if (!f->memory.memory)
            continue;
        while (!f->released)
            thread_sleep(1); /* this process's waiting thread may be using it */
        session_drain_free(f->drain);
        session_free_memory(&f->memory);
        *f = (struct fixture_session){0};
    }
    return 0;
}

#endif

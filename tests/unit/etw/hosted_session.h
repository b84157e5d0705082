/* SPDX-License-Identifier: MIT */
/* Sessions in the directory, hosted by the test itself. */
#ifndef OPENPLA_HOSTED_SESSION_H
#define OPENPLA_HOSTED_SESSION_H

#include "tests/unit/etw/provider_fixture.h"
#include "tests/unit/own_directory.h"
#include "tests/unit/patience.h"

enum { BUFFERS = 8 };

static struct directory *directory;

/* ---- a session as its ETW session host would create it ---- */

struct hosted {
    struct directory_session s;
    struct section *section;
    struct signal *signal;
    struct session_buffers buffers;
    struct session_drain *drain;
};

static inline void hosted_start(struct hosted *h, const char *name, uint32_t mode)
{
    static uint32_t number;
    const struct session_shape shape = {.buffers = BUFFERS,
                                        .minimum = BUFFERS,
                                        .buffer_size = FIXTURE_BUFFER,
                                        .processors = 1,
                                        .wake_at = BUFFERS,
                                        .source = session_source_for(ETL_CLOCK_TICKS)};
    size_t size;
    *h = (struct hosted){.s = {.state = DIRECTORY_RUNNING, .mode = mode, .buffer_kb = 64, .clock = ETL_CLOCK_TICKS}};
    h->s.host = (struct directory_process){process_own_id(), process_start_time(process_own_id())};
    h->s.starter = h->s.host;
    h->s.guid = (GUID){++number, 0, 0, {1}};
    snprintf(h->s.section, sizeof h->s.section, "%s-%u", getenv("OPENPLA_ETW"), (unsigned)number);
    snprintf(h->s.signal, sizeof h->s.signal, "%s-%u-s", getenv("OPENPLA_ETW"), (unsigned)number);
    assert_int_equal(session_buffers_size(&shape, &size), S_OK);
    h->s.section_size = size;
    const struct shared section = {.name = h->s.section, .create = true, .fresh = true, .lasting = true};
    const struct shared signal = {.name = h->s.signal, .create = true};
    assert_int_equal(section_open(&section, size, &h->section), S_OK);
    assert_int_equal(signal_open(&signal, &h->signal), S_OK);
    assert_int_equal(session_buffers_create(section_memory(h->section), size, &shape, &h->buffers), S_OK);
    h->drain = fixture_drain(&h->buffers, 0);
    h->s.name = text_copy(name);
    assert_int_equal(directory_begin(directory), S_OK);
    assert_int_equal(directory_session_add(directory, &h->s), S_OK);
    (void)directory_end(directory, NULL, 0);
}

static inline uint64_t hosted_enable(const struct hosted *h, struct directory_enable e)
{
    e.logger = h->s.logger;
    e.generation = h->s.generation;
    assert_int_equal(directory_begin(directory), S_OK);
    assert_int_equal(directory_enable_set(directory, &e), S_OK);
    return directory_end(directory, &e.provider, 1);
}

static inline void hosted_stop(struct hosted *h)
{
    GUID *providers;
    size_t count;
    struct fixture_log *rest = memory_zero(1, sizeof *rest);
    assert_non_null(rest);
    const struct session_sink sink = {fixture_log_buffer, NULL, rest};
    assert_int_equal(session_drain_stop(h->drain, &sink, 0), S_OK);
    while (rest->count > 0)
        memory_free(rest->event[--rest->count].bytes);
    memory_free(rest);
    assert_int_equal(directory_begin(directory), S_OK);
    assert_int_equal(directory_session_remove(directory, h->s.logger, h->s.generation, &providers, &count), S_OK);
    const uint64_t revision = directory_end(directory, providers, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(directory_wait_applied(directory, &providers[i], revision, PATIENCE_MS), S_OK);
    memory_free(providers);
    session_drain_free(h->drain);
    section_close(h->section);
    assert_int_equal(section_delete(h->s.section), S_OK);
    signal_close(h->signal);
    directory_session_free(&h->s);
}

static inline void hosted_wait(const GUID *provider, uint64_t revision)
{
    assert_int_equal(directory_wait_applied(directory, provider, revision, PATIENCE_MS), S_OK);
}

static inline uint32_t hosted_event_count(struct hosted *h)
{
    struct fixture_session f = {.drain = h->drain};
    return fixture_read(&f)->count;
}

static inline int hosted_begin(void **state)
{
    own_directory_name();
    directory = own_directory();
    return all_owners_live(state);
}

#endif

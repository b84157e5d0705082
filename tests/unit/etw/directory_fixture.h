/* SPDX-License-Identifier: MIT */
/* Sessions and their event providers in a separate directory per test, and other processes that use this directory. */
#ifndef OPENPLA_DIRECTORY_FIXTURE_H
#define OPENPLA_DIRECTORY_FIXTURE_H

#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "engine/etw/directory/directory_layout.h"
#include "engine/etw/etw_types.h"
#include "tests/unit/child_process.h"
#include "tests/unit/own_directory.h"

static struct directory *d;

static inline GUID guid_of(uint32_t number)
{
    return (GUID){number, 0x1234, 0x5678, {1, 2, 3, 4, 5, 6, 7, 8}};
}

static uint32_t names; /* makes names unique between tests */

static inline struct signal *make_signal(char name[64])
{
    struct signal *signal;
    snprintf(name, 64, "openetw-test-%u-%u", (unsigned)process_own_id(), (unsigned)++names);
    assert_int_equal(signal_open(&(struct shared){.name = name, .create = true}, &signal), S_OK);
    return signal;
}

static inline struct directory_session session_of(const char *name, uint32_t guid)
{
    struct directory_session s = {.state = DIRECTORY_RUNNING,
                                  .guid = guid_of(guid),
                                  .host = {process_own_id(), process_start_time(process_own_id())},
                                  .starter = {process_own_id(), process_start_time(process_own_id())},
                                  .section = "the-section",
                                  .signal = "the-signal",
                                  .section_size = 1234567,
                                  .clock = 1,
                                  .mode = 0x100,
                                  .buffer_kb = 64,
                                  .minimum_buffers = 4,
                                  .maximum_buffers = 24,
                                  .maximum_file = 7,
                                  .flush_timer = 2,
                                  .flush_ms = 2000,
                                  .enable_flags = {1, 2, 3, 4, 5, 6, 7, 8},
                                  .thread = 77,
                                  .started = 123456789,
                                  .name = (char *)name};
    return s;
}

static inline struct directory_session add(const char *name, uint32_t guid)
{
    struct directory_session s = session_of(name, guid);
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_add(d, &s), S_OK);
    directory_end(d, NULL, 0);
    return s;
}

static inline void drop(const struct directory_session *s)
{
    GUID *providers;
    size_t count;
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_remove(d, s->logger, s->generation, &providers, &count), S_OK);
    directory_end(d, providers, count);
    memory_free(providers);
}

static inline struct directory_enable enable_of(const struct directory_session *s, uint32_t provider)
{
    return (struct directory_enable){.provider = guid_of(provider),
                                     .source = guid_of(42),
                                     .logger = s->logger,
                                     .generation = s->generation,
                                     .any = 0xF0,
                                     .all = 0x10,
                                     .property = 3,
                                     .level = 4};
}

static inline HRESULT enable(const struct directory_enable *e, uint64_t *revision)
{
    assert_int_equal(directory_begin(d), S_OK);
    HRESULT hr = directory_enable_set(d, e);
    *revision = directory_end(d, &e->provider, 1);
    return hr;
}

static inline size_t enables_of(uint32_t provider)
{
    const GUID guid = guid_of(provider);
    struct directory_enable *list;
    size_t count;
    uint64_t revision;
    assert_int_equal(directory_enables(d, &guid, &list, &count, &revision), S_OK);
    directory_enables_free(list, count);
    return count;
}

static inline size_t session_count(void)
{
    struct directory_session *list;
    size_t count;
    assert_int_equal(directory_sessions(d, &list, &count), S_OK);
    directory_sessions_free(list, count);
    return count;
}

static inline void end_child(struct process *p, const char *token)
{
    child_kill(p, token);
    assert_int_equal(process_wait(p, CHILD_PATIENCE, NULL), S_OK);
    process_close(p);
}

#endif

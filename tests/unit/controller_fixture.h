/* SPDX-License-Identifier: MIT */
/* Real sessions for tests, with separate ETW session hosts in a separate directory, and a writer that puts numbered
   events into them as event providers do. */
#ifndef OPENPLA_CONTROLLER_FIXTURE_H
#define OPENPLA_CONTROLLER_FIXTURE_H

#include "engine/base/clock.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/directory.h"
#include "engine/etw/trace_properties.h"
#include "engine/logs/etl_file.h"
#include "engine/logs/journal.h"
#include "tests/unit/child_process.h"
#include "tests/unit/log_events.h"
#include "tests/unit/own_directory.h"
#include "tests/unit/session_fixture.h"

/* A properties block as programs create it, with room for both names. */
struct block {
    EVENT_TRACE_PROPERTIES p;
    WCHAR name[1100], file[1100];
};
#define BLOCK_NAME ((ULONG)offsetof(struct block, name))
#define BLOCK_FILE ((ULONG)offsetof(struct block, file))

static inline void wide(const char *text, WCHAR *out)
{
    WCHAR *units;
    size_t length;
    assert_int_equal(text_to_utf16(text, &units, &length), S_OK);
    memcpy(out, units, (length + 1) * sizeof(WCHAR));
    memory_free(units);
}

/* The returned string is valid until the next call. */
static inline const char *narrow(const WCHAR *text)
{
    static char out[4096];
    size_t length = 0;
    char *copy;
    while (text[length])
        length++;
    assert_int_equal(text_from_utf16(text, length, true, &copy), S_OK);
    text_fit(out, sizeof out, copy);
    memory_free(copy);
    return out;
}

static inline struct block block_of(uint32_t mode, const char *file)
{
    struct block b;
    memset(&b, 0, sizeof b);
    b.p.Wnode.BufferSize = sizeof b;
    b.p.Wnode.Flags = CONTROLLER_TRACED_GUID;
    b.p.LogFileMode = mode;
    b.p.LoggerNameOffset = BLOCK_NAME;
    b.p.LogFileNameOffset = file ? BLOCK_FILE : 0;
    if (file)
        wide(file, b.file);
    return b;
}

static inline ULONG start_session(const char *name, struct block *b, TRACEHANDLE *handle)
{
    WCHAR units[1100];
    wide(name, units);
    return StartTraceW(handle, units, &b->p);
}

static inline ULONG control_session(TRACEHANDLE handle, struct block *b, ULONG code)
{
    *b = block_of(0, NULL);
    b->p.LogFileNameOffset = BLOCK_FILE;
    return ControlTraceW(handle, NULL, &b->p, code);
}

static inline struct directory_session session_of_handle(TRACEHANDLE handle)
{
    struct directory_session s;
    assert_int_equal(directory_session_at(own_directory(), (uint32_t)(handle & 0xFFFF), (uint32_t)(handle >> 16), &s),
                     S_OK);
    return s;
}

/* Writes to a session as an event provider does. */
struct provider {
    struct section *section;
    struct signal *signal;
    struct session_buffers buffers;
    struct session_writer writer;
    uint64_t written, refused;
};

static inline void provider_wake(void *signal)
{
    (void)signal_set(signal);
}

static inline void provider_open(TRACEHANDLE handle, struct provider *p)
{
    struct directory_session s = session_of_handle(handle);
    *p = (struct provider){.writer = {.thread = thread_own_id()}};
    assert_int_equal(directory_join(own_directory(), &p->writer.owner), S_OK);
    assert_int_equal(
        section_open(&(struct shared){.name = s.section, .lasting = true}, (size_t)s.section_size, &p->section), S_OK);
    assert_int_equal(session_buffers_map(section_memory(p->section), (size_t)s.section_size, &p->buffers), S_OK);
    assert_int_equal(signal_open(&(struct shared){.name = s.signal}, &p->signal), S_OK);
    p->buffers.wake = provider_wake;
    p->buffers.wake_context = p->signal;
    directory_session_free(&s);
}

/* Returns false if the session accepts no more events. */
static inline bool provider_write(struct provider *p, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (event_write(&p->buffers, &p->writer, p->written))
            p->written++;
        else if (session_load(&p->buffers.processor[0].word) == SESSION_STOPPED)
            return false;
        else
            p->refused++;
    return true;
}

static inline void provider_close(struct provider *p)
{
    section_close(p->section);
    signal_close(p->signal);
}

struct log_sums {
    uint64_t events, sum; /* number of events from the fixture's writers; `sum`: sum of their numbers */
    uint64_t first, last;
    uint32_t buffers_written, events_lost, buffers_lost;
};
static inline struct log_sums read_log(const char *path)
{
    struct log_sums sums = {.first = UINT64_MAX};
    struct etl_reader *reader;
    struct etl_record record;
    assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
    sums.buffers_written = etl_reader_log(reader)->buffers_written;
    sums.events_lost = etl_reader_log(reader)->events_lost;
    sums.buffers_lost = etl_reader_log(reader)->buffers_lost;
    while (etl_reader_next(reader, &record) == S_OK) {
        uint64_t writer = 0, number = 0;
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        assert_true(event_check(record.event, record.size, &writer, &number));
        sums.events++;
        sums.sum += number;
        sums.first = number < sums.first ? number : sums.first;
        sums.last = number;
    }
    etl_reader_close(reader);
    return sums;
}

/* Counts the entries with this id in the test's journal. */
static inline unsigned journal_count(uint32_t id)
{
    char *where = journal_folder();
    struct journal_reader *reader;
    struct journal_entry entry;
    unsigned count = 0;
    assert_int_equal(journal_reader_open(where, &reader), S_OK);
    while (journal_reader_next(reader, &entry) == S_OK)
        count += entry.id == id;
    journal_reader_close(reader);
    memory_free(where);
    return count;
}

/* Runs the tests with a separate directory, and a separate folder for logs and the journal. */
static inline int controller_tests(const struct CMUnitTest *tests, size_t count, const char *name, char **folder)
{
    own_directory_name();
    char *scratch = scratch_create(name);
    *folder = os_full_path(scratch);
    scratch_environment("OPENPLA_DATA", *folder);
    const int failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
    directory_delete(own_directory());
    scratch_remove(scratch);
    memory_free(scratch);
    memory_free(*folder);
    return failed;
}

#endif

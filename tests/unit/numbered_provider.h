/* SPDX-License-Identifier: MIT */
/* An event provider with numbered events, sessions that enable it, and logs that must contain each number once. */
#ifndef OPENPLA_NUMBERED_PROVIDER_H
#define OPENPLA_NUMBERED_PROVIDER_H

#include "engine/etw/provider/event_api.h"
#include "tests/unit/controller_fixture.h"
#include "tests/unit/patience.h"

enum { EVENTS = 2000 };

static const GUID guid = {0x22222222, 1, 2, {3}};
static const EVENT_DESCRIPTOR some_event = {.Id = 7, .Level = 4, .Keyword = 5};
static char *folder;

static inline void enable_for(TRACEHANDLE session)
{
    assert_int_equal(EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, PATIENCE_MS, NULL),
                     ERROR_SUCCESS);
}

static inline void write_numbered(REGHANDLE handle)
{
    for (uint64_t i = 0; i < EVENTS; i++) {
        EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)&i, .Size = sizeof i};
        assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
    }
}

/* Checks that the log has these modes and contains each numbered event once and no other events. All events must be
   from one process and have these flags. */
static inline void check_numbered(const char *path, uint32_t modes, uint16_t flags)
{
    struct etl_reader *reader;
    struct etl_record record;
    uint64_t events = 0, sum = 0;
    uint32_t process = 0;
    assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
    assert_int_equal(etl_reader_log(reader)->events_lost, 0);
    assert_int_equal(etl_reader_log(reader)->mode & modes, modes);
    while (etl_reader_next(reader, &record) == S_OK) {
        if (record.kind == ETL_RECORD_SYSTEM)
            continue;
        assert_int_equal(record.kind, ETL_RECORD_MANIFEST);
        assert_int_equal(record.event[2], BY_POINTER(0x13, 0x12)); /* the header tells readers the pointer size */
        assert_true(guid_equal(&record.provider, &guid));
        assert_int_equal(record.id, 7);
        assert_int_equal(record.data_size, 8);
        assert_int_equal(get_u16(record.event + 4) & flags, flags);
        assert_true(process == 0 || process == record.process);
        process = record.process;
        sum += get_u64(record.data);
        events++;
    }
    etl_reader_close(reader);
    assert_int_equal(events, EVENTS);
    assert_true(sum == (uint64_t)EVENTS * (EVENTS - 1) / 2);
}

/* Runs the tests with a scratch folder and a directory of sessions that only they use. */
static inline int run_numbered(const char *name, const struct CMUnitTest *tests, size_t count)
{
    own_directory_name();
    char *scratch = scratch_create(name);
    folder = os_full_path(scratch);
    scratch_environment("OPENPLA_DATA", folder);
    const int failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
    directory_delete(own_directory());
    scratch_remove(scratch);
    memory_free(scratch);
    memory_free(folder);
    return failed;
}

#endif

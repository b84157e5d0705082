/* SPDX-License-Identifier: MIT */
/* Sets with trace collectors, and an event provider in this process that writes numbered events. Also reads the
   collectors' logs. */
#ifndef OPENPLA_RUN_TRACE_FIXTURE_H
#define OPENPLA_RUN_TRACE_FIXTURE_H

#include "engine/base/file.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/etw/provider/event_api.h"
#include "run_fixture.h"
#include "tests/unit/controller_fixture.h"

#include <string.h>

static const GUID own = {0x22222222, 1, 2, {3}};
#define OWN_GUID "{22222222-0001-0002-0300-000000000000}"
#define PROVIDER(level, any)                                                                                           \
    "<TraceDataProvider><DisplayName>own</DisplayName><Guid>" OWN_GUID "</Guid><Level><Value>" #level                  \
    "</Value></Level><KeywordsAny><Value>" #any "</Value></KeywordsAny></TraceDataProvider>"
#define TRACE(name, elements)                                                                                          \
    "<TraceDataCollector><Name>" name "</Name><FileName>" name "</FileName>" elements "</TraceDataCollector>"
#define NUMBERED "<FileNameFormat>512</FileNameFormat>"

static REGHANDLE provider;

/* The functions of ETW as a program calls them. Under Wine, they are from openetw.dll. The journal, which is linked
   into this program, uses Wine's own functions. */
static struct {
    ULONG(WINAPI *add)(LPCGUID guid, PENABLECALLBACK callback, PVOID context, REGHANDLE *handle);
    ULONG(WINAPI *write)
    (REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor, ULONG count, EVENT_DATA_DESCRIPTOR *data);
    ULONG(WINAPI *remove)(REGHANDLE handle);
} events;

static inline bool load_events(void)
{
#ifdef _WIN32
    HMODULE module = LoadLibraryW(u"openetw.dll");
    events.add = (void *)GetProcAddress(module, "EventRegister");
    events.write = (void *)GetProcAddress(module, "EventWrite");
    events.remove = (void *)GetProcAddress(module, "EventUnregister");
#else
    events.add = EventRegister;
    events.write = EventWrite;
    events.remove = EventUnregister;
#endif
    return events.add && events.write && events.remove;
}

static inline void start(const char *name)
{
    HRESULT hr = run_start(SPACE, name, true);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
}

static inline void stop(const char *name)
{
    HRESULT hr = run_stop(SPACE, name, true);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
}

static inline void commit(const char *name, const char *root, const char *set_xml)
{
    fixture_commit(name, root, set_xml, NULL);
}

static inline void write_event(uint8_t level, uint64_t keyword, uint64_t number)
{
    const EVENT_DESCRIPTOR event = {.Id = 7, .Level = level, .Keyword = keyword};
    EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)&number, .Size = sizeof number};
    assert_int_equal(events.write(provider, &event, 1, &data), ERROR_SUCCESS);
}

struct numbers {
    uint64_t count, sum, bits; /* `bits` has a bit for each number below 64 that occurs */
    uint64_t first, last;
    int64_t began; /* start time from the log's header, as FILETIME */
};

static inline struct numbers numbers_in(const char *path)
{
    struct numbers n = {.first = UINT64_MAX};
    struct etl_reader *reader;
    struct etl_record record;
    if (FAILED(etl_reader_open(path, keep_warning, NULL, &reader)))
        fail_msg("%s: %s", path, error_text(E_FAIL));
    assert_int_equal(etl_reader_log(reader)->events_lost, 0);
    n.began = etl_reader_log(reader)->start_utc;
    while (etl_reader_next(reader, &record) == S_OK) {
        if (record.kind != ETL_RECORD_MANIFEST)
            continue;
        assert_true(guid_equal(&record.provider, &own));
        const uint64_t number = get_u64(record.data);
        n.count++;
        n.sum += number;
        n.bits |= number < 64 ? UINT64_C(1) << number : 0;
        n.first = number < n.first ? number : n.first;
        n.last = number;
    }
    etl_reader_close(reader);
    return n;
}

static inline struct numbers numbers_of(const char *root, const char *file)
{
    char *path = path_join(root, file);
    struct numbers n = numbers_in(path);
    memory_free(path);
    return n;
}

static inline bool exists(const char *root, const char *file)
{
    char *path = path_join(root, file);
    bool there = file_exists(path);
    memory_free(path);
    return there;
}

/* Calls ControlTrace for a session and returns the error code. For a query, ERROR_SUCCESS means that it is running. */
static inline ULONG ask(const char *name, ULONG code)
{
    struct block b = block_of(0, NULL);
    WCHAR units[200];
    wide(name, units);
    return ControlTraceW(0, units, &b.p, code);
}

/* Returns the number of buffers that a running session has written. */
static inline ULONG buffers_written(const char *name)
{
    struct block b = block_of(0, NULL);
    WCHAR units[200];
    wide(name, units);
    assert_int_equal(ControlTraceW(0, units, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    return b.p.BuffersWritten;
}

static inline void check_message(const char *name, const char *part)
{
    struct run_record record = fixture_record(name);
    if (!strstr(record.last_message, part))
        fail_msg("%s: %s", name, record.last_message);
    run_record_free(&record);
}

static inline int setup(void **state)
{
    own_directory_name();
    if (fixture_setup(state) != 0)
        return -1;
    char *folder = os_module_folder();
#ifdef _WIN32
    char *program = path_join(folder, "trace_test_host.exe");
#else
    char *program = path_join(folder, "trace_test_host");
#endif
    scratch_environment("OPENPLA_HOST", program);
    memory_free(folder);
    memory_free(program);
    return load_events() && events.add(&own, NULL, NULL, &provider) == ERROR_SUCCESS ? 0 : -1;
}

static inline int teardown(void **state)
{
    (void)events.remove(provider);
    directory_delete(own_directory());
    return fixture_teardown(state);
}

#endif

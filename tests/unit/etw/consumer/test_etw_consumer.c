/* SPDX-License-Identifier: MIT */
/* OpenTrace, ProcessTrace and CloseTrace on log files, through the functions that programs call. */
#include "engine/base/thread.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/event_values.h"
#include "engine/logs/etl_file.h"
#include "tests/unit/etw/consumer/consumer_fixture.h"
#include "tests/unit/patience.h"

#define PATH    "test_etw_consumer.tmp"
#define W_PATH  u"test_etw_consumer.tmp"
#define OTHER   "test_etw_consumer.2.tmp"
#define W_OTHER u"test_etw_consumer.2.tmp"
#define MISSING u"test_etw_consumer.missing"
#ifdef _WIN32
#define assert_open_fails(logfile, code)                                                                               \
    do {                                                                                                               \
        assert_true(OpenTraceW(logfile) == INVALID_PROCESSTRACE_HANDLE);                                               \
        assert_int_equal(GetLastError(), code);                                                                        \
    } while (0)
#else
#define assert_open_fails(logfile, code)                                                                               \
    do {                                                                                                               \
        TRACEHANDLE none;                                                                                              \
        assert_true(OpenTraceW(logfile) == INVALID_PROCESSTRACE_HANDLE);                                               \
        assert_int_equal(consumer_open(CONSUMER_WIDE, logfile, &none), code);                                          \
    } while (0)
#endif

static struct small_container container;

/* Stores the numbers 0 to 59 in buffers of ten events, which alternate between two processors. */
static void store_sixty(const char *path, uint32_t pointer, bool packed)
{
    small_begin(&container, packed ? ETL_MODE_COMPRESSED : ETL_MODE_SEQUENTIAL, pointer, ETL_CLOCK_TICKS);
    for (uint32_t i = 0; i < 6; i++)
        add_numbered(&container, i % 2, i * 10, 10, packed);
    store(&container, path);
}

/* ---- whole files ---- */

static void events_of_all_processors_arrive_once_and_in_order(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        store_sixty(PATH, kind % 2 == 0 ? 8 : 4, kind >= 2);
        TRACEHANDLE handle = open_log(W_PATH);
        assert_int_equal(process_one(handle), ERROR_SUCCESS);
        check_consumed(0, 60);
        assert_int_equal(consumed.headers, 1);
        assert_int_equal(consumed.header_time, FIXTURE_START);
        assert_int_equal(consumed.time[59], FIXTURE_START + 59);
        assert_ptr_equal(consumed.context, &consumed);
        assert_int_equal(consumed.buffers, 7);
        assert_int_equal(consumed.buffers_read, 7);
        assert_int_equal(consumed.filled, ETL_BUFFER_HEAD + 10 * FIXTURE_EVENT);
        assert_int_equal(consumed.current_time, FIXTURE_START + 59);
        assert_int_equal(process_one(handle), ERROR_SUCCESS); /* processed a second time */
        check_consumed(0, 60);
        assert_int_equal(consumed.buffers_read, 7);
        assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    }
}

/* A relogged file can begin with a header that is newer than its events. */
static void header_precedes_older_events(void **state)
{
    (void)state;
    uint8_t early[FIXTURE_EVENT];
    small_begin(&container, ETL_MODE_SEQUENTIAL, 8, ETL_CLOCK_TICKS);
    put_numbered(early, 0, 0);
    put_u64(early + 0x10, FIXTURE_STAMP - 50);
    small_add(&container, 1, early, sizeof early, false);
    store(&container, PATH);
    TRACEHANDLE handle = open_log(W_PATH);
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    check_consumed(0, 1);
    assert_int_equal(consumed.time[0], FIXTURE_START - 50);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void the_header_is_returned(void **state)
{
    (void)state;
    for (uint32_t pointer = 4; pointer <= 8; pointer += 4) {
        store_sixty(PATH, pointer, false);
        static const WCHAR path[] = W_PATH;
        EVENT_TRACE_LOGFILEW logfile = logfile_of(path);
        TRACEHANDLE handle = OpenTraceW(&logfile);
        const TRACE_LOGFILE_HEADER *h = &logfile.LogfileHeader;
        assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
        assert_int_equal(h->BufferSize, SMALL_BUFFER);
        assert_int_equal(h->PointerSize, pointer);
        assert_int_equal(h->NumberOfProcessors, 2);
        assert_int_equal(h->LogFileMode, ETL_MODE_SEQUENTIAL);
        assert_int_equal(h->StartTime.QuadPart, FIXTURE_START);
        assert_int_equal(h->EndTime.QuadPart, 0);
        assert_int_equal(h->PerfFreq.QuadPart, 10000000);
        assert_int_equal(h->ReservedFlags, ETL_CLOCK_TICKS);
        assert_int_equal(h->StartBuffers, 1);
        assert_int_equal(h->TimeZone.Bias, 480);
        assert_int_equal(h->TimeZone.DaylightDate.wMonth, 3);
        assert_int_equal(h->TimeZone.DaylightBias, -60);
        assert_int_equal(logfile.BufferSize, SMALL_BUFFER);
        assert_int_equal(logfile.IsKernelTrace, 0);
        assert_int_equal(logfile.ProcessTraceMode, PROCESS_TRACE_MODE_EVENT_RECORD);
        assert_ptr_equal(logfile.LogFileName, path);
        assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    }
}

static ULONG WINAPI check_name(EVENT_TRACE_LOGFILEA *logfile)
{
    assert_string_equal(logfile->LogFileName, PATH);
    assert_null(logfile->LoggerName);
    assert_int_equal(logfile->CurrentEvent.Header.TimeStamp.QuadPart, logfile->CurrentTime);
    consumed.buffers++;
    return 1;
}

static void ansi_names_work(void **state)
{
    (void)state;
    store_sixty(PATH, 8, false);
    char name[] = PATH;
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = name};
    logfile.EventCallback = consume_event;
    logfile.BufferCallback = check_name;
    TRACEHANDLE handle = OpenTraceA(&logfile);
    assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
    assert_ptr_equal(logfile.LogFileName, name);
    memset(name, 'x', sizeof name); /* the caller may change its string */
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    check_consumed(0, 60);
    assert_int_equal(consumed.buffers, 7);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void the_intact_part_of_a_corrupt_file_is_delivered(void **state)
{
    (void)state;
    static const uint8_t cut[] = {0x10, 0x03}; /* offsets in the last buffer at which the file is truncated */
    small_begin(&container, ETL_MODE_SEQUENTIAL, 8, ETL_CLOCK_TICKS);
    for (uint32_t i = 0; i < 6; i++)
        add_numbered(&container, i % 2, i * 10, 10, false);
    small_store_damaged(&container, cut, sizeof cut, PATH);
    TRACEHANDLE handle = open_log(W_PATH);
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    check_consumed(0, 50 + (SMALL_BUFFER - 0x310 - ETL_BUFFER_HEAD) / FIXTURE_EVENT);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void file_being_written_delivers_its_events_so_far(void **state)
{
    (void)state;
    const struct etl_log log = {.buffer_size = ETL_SMALLEST_BUFFER,
                                .processors = 1,
                                .mode = ETL_MODE_SEQUENTIAL,
                                .frequency = 10000000,
                                .start_utc = FIXTURE_START,
                                .clock = ETL_CLOCK_TICKS,
                                .start_stamp = FIXTURE_STAMP,
                                .logger_name = "nt kernel logger"};
    struct etl_file *file;
    struct etl_event event = {.head_size = FIXTURE_EVENT};
    assert_int_equal(etl_file_create(PATH, true, &log, &file), S_OK);
    for (uint32_t i = 0; i < 100; i++) {
        put_numbered(event.head, i, i);
        assert_int_equal(etl_file_add(file, FIXTURE_START + i, &event, 1), S_OK);
    }
    assert_int_equal(etl_file_flush(file), S_OK);
    EVENT_TRACE_LOGFILEW logfile = logfile_of(W_PATH);
    TRACEHANDLE handle = OpenTraceW(&logfile);
    assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(logfile.IsKernelTrace, 1);
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    check_consumed(0, 100);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    assert_int_equal(etl_file_close(file), S_OK);
}

/* ---- several files, time ranges ---- */

/* Of each group of ten numbers, the even ones are in one file and the odd ones in the other. */
static void store_halves(void)
{
    static const char *const paths[] = {PATH, OTHER};
    uint8_t events[10 * FIXTURE_EVENT];
    for (uint32_t half = 0; half < 2; half++) {
        small_begin(&container, ETL_MODE_SEQUENTIAL, 8, ETL_CLOCK_TICKS);
        for (uint32_t buffer = 0; buffer < 5; buffer++) {
            for (uint32_t i = 0; i < 10; i++) {
                const uint32_t number = (buffer * 10 + i) * 2 + half;
                put_numbered(events + i * FIXTURE_EVENT, number, number);
            }
            small_add(&container, 0, events, sizeof events, false);
        }
        store(&container, paths[half]);
    }
}

static void several_files_are_merged_by_time(void **state)
{
    (void)state;
    store_halves();
    TRACEHANDLE handles[] = {open_log(W_OTHER), open_log(W_PATH)};
    assert_int_equal(ProcessTrace(handles, 2, NULL, NULL), ERROR_SUCCESS);
    check_consumed(0, 100);
    assert_int_equal(consumed.headers, 2);
    assert_int_equal(consumed.buffers, 12);
    assert_int_equal(CloseTrace(handles[0]), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(handles[1]), ERROR_SUCCESS);
}

static FILETIME filetime(int64_t time)
{
    return (FILETIME){(uint32_t)time, (uint32_t)((uint64_t)time >> 32)};
}

static void time_range_includes_both_ends(void **state)
{
    (void)state;
    store_sixty(PATH, 8, false);
    FILETIME from = filetime(FIXTURE_START + 17), to = filetime(FIXTURE_START + 33);
    TRACEHANDLE handle = open_log(W_PATH);
    assert_int_equal(ProcessTrace(&handle, 1, &from, &to), ERROR_SUCCESS);
    check_consumed(17, 34);
    assert_int_equal(ProcessTrace(&handle, 1, &to, &from), ERROR_INVALID_TIME);
    reset_consumed(NULL);
    assert_int_equal(ProcessTrace(&handle, 1, &to, NULL), ERROR_SUCCESS);
    check_consumed(33, 60);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void raw_timestamps_are_unconverted(void **state)
{
    (void)state;
    store_sixty(PATH, 8, false);
    EVENT_TRACE_LOGFILEW logfile = logfile_of(W_PATH);
    logfile.ProcessTraceMode |= PROCESS_TRACE_MODE_RAW_TIMESTAMP;
    FILETIME from = filetime(FIXTURE_START + 30);
    TRACEHANDLE handle = OpenTraceW(&logfile);
    assert_int_equal(ProcessTrace(&handle, 1, &from, NULL), ERROR_SUCCESS);
    check_consumed(30, 60);
    assert_int_equal(consumed.header_time, FIXTURE_STAMP);
    assert_int_equal(consumed.time[0], FIXTURE_STAMP + 30);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

/* ---- invalid calls ---- */

static void failures_to_open_return_their_codes(void **state)
{
    (void)state;
    store_sixty(PATH, 8, false);
    EVENT_TRACE_LOGFILEW logfile = logfile_of(W_PATH);
    assert_open_fails(NULL, ERROR_INVALID_PARAMETER);
    logfile.LoggerName = (WCHAR *)(uintptr_t)W_PATH;
    assert_open_fails(&logfile, ERROR_INVALID_PARAMETER);
    logfile.LogFileName = logfile.LoggerName = NULL;
    assert_open_fails(&logfile, ERROR_BAD_PATHNAME);
    logfile.LogFileName = (WCHAR *)(uintptr_t)u"";
    assert_open_fails(&logfile, ERROR_BAD_PATHNAME);
    logfile = logfile_of(MISSING);
    assert_open_fails(&logfile, ERROR_FILE_NOT_FOUND);
    logfile = logfile_of(W_PATH);
    logfile.ProcessTraceMode |= PROCESS_TRACE_MODE_REAL_TIME;
    assert_open_fails(&logfile, ERROR_INVALID_PARAMETER);
    logfile.LogFileName = NULL;
    logfile.LoggerName = (WCHAR *)(uintptr_t)u"no such session";
    consumer_set_realtime(NULL); /* only test_etw_live.c uses the directory */
    assert_open_fails(&logfile, ERROR_WMI_INSTANCE_NOT_FOUND);
    logfile.ProcessTraceMode = 0;
    assert_open_fails(&logfile, ERROR_INVALID_PARAMETER);
    struct file *file;
    assert_int_equal(file_open(PATH, FILE_REPLACE, &file), S_OK);
    assert_int_equal(file_write(file, "no trace", 8), S_OK);
    file_close(file);
    logfile = logfile_of(W_PATH);
    const EVENT_TRACE_LOGFILEW before = logfile;
    assert_open_fails(&logfile, ERROR_INVALID_DATA);
    assert_memory_equal(&logfile, &before, sizeof logfile);
}

static void failures_to_process_return_their_codes(void **state)
{
    (void)state;
    store_sixty(PATH, 8, false);
    TRACEHANDLE handle = open_log(W_PATH), many[65];
    for (size_t i = 0; i < 65; i++)
        many[i] = handle;
    assert_int_equal(ProcessTrace(many, 0, NULL, NULL), ERROR_BAD_LENGTH);
    assert_int_equal(ProcessTrace(many, 65, NULL, NULL), ERROR_BAD_LENGTH);
    assert_int_equal(ProcessTrace(NULL, 1, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(ProcessTrace(many, 2, NULL, NULL), ERROR_INVALID_PARAMETER);
    many[1] = 0;
    assert_int_equal(ProcessTrace(many, 2, NULL, NULL), ERROR_INVALID_HANDLE);
    many[1] = INVALID_PROCESSTRACE_HANDLE;
    assert_int_equal(ProcessTrace(many, 2, NULL, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(consumed.headers, 0);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_INVALID_HANDLE);
}

static void only_handles_that_are_open_are_closed(void **state)
{
    (void)state;
    store_sixty(PATH, 8, false);
    assert_int_equal(CloseTrace(0), ERROR_INVALID_HANDLE);
    assert_int_equal(CloseTrace(INVALID_PROCESSTRACE_HANDLE), ERROR_INVALID_HANDLE);
    TRACEHANDLE first = open_log(W_PATH);
    assert_int_equal(CloseTrace(first), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(first), ERROR_INVALID_HANDLE);
    TRACEHANDLE second = open_log(W_PATH);
    assert_true(second != first); /* although it reuses the first handle's slot */
    assert_int_equal(CloseTrace(first), ERROR_INVALID_HANDLE);
    assert_int_equal(CloseTrace(second + 1), ERROR_INVALID_HANDLE);
    assert_int_equal(CloseTrace(second & 0xFFFFFF), ERROR_INVALID_HANDLE); /* looks like a session handle */
    assert_int_equal(CloseTrace(second), ERROR_SUCCESS);
}

static void handle_can_be_queried(void **state)
{
    (void)state;
    ETW_TRACE_PARTITION_INFORMATION partition;
    ULONG length = 0;
    store_sixty(PATH, 8, false);
    TRACEHANDLE handle = open_log(W_PATH);
    memset(&partition, 1, sizeof partition);
    assert_int_equal(QueryTraceProcessingHandle(handle, EtwQueryPartitionInformation, NULL, 0, &partition, 8, &length),
                     ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(length, sizeof partition);
    assert_int_equal(QueryTraceProcessingHandle(handle, EtwQueryPartitionInformation, NULL, 0, &partition,
                                                sizeof partition, &length),
                     ERROR_SUCCESS);
    assert_int_equal(partition.PartitionType, 0);
    assert_int_equal(partition.QpcOffsetFromRoot, 0);
    assert_int_equal(QueryTraceProcessingHandle(handle, 9, NULL, 0, &partition, sizeof partition, &length),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    assert_int_equal(QueryTraceProcessingHandle(handle, EtwQueryPartitionInformation, NULL, 0, &partition,
                                                sizeof partition, &length),
                     ERROR_INVALID_HANDLE);
}

/* ---- the end of processing ---- */

static void buffer_callback_cancels_processing(void **state)
{
    (void)state;
    store_sixty(PATH, 8, false);
    TRACEHANDLE handle = open_log(W_PATH);
    consumed.cancel_at = 3;
    assert_int_equal(process_one(handle), ERROR_CANCELLED);
    check_consumed(0, 20);
    consumed.cancel_at = 0;
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    check_consumed(0, 60);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

static void event_callback_closes_its_own_handle(void **state)
{
    (void)state;
    store_sixty(PATH, 8, false);
    TRACEHANDLE handle = open_log(W_PATH);
    consumed.close_at = handle;
    consumed.close_number = 4;
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    assert_int_equal(consumed.closed, ERROR_CTX_CLOSE_PENDING);
    check_consumed(0, 10); /* the rest of the queued buffer is delivered */
    assert_int_equal(CloseTrace(handle), ERROR_INVALID_HANDLE);
    assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_INVALID_HANDLE);
}

static TRACEHANDLE to_close;
static ULONG WINAPI close_at_buffer(EVENT_TRACE_LOGFILEW *logfile)
{
    if (logfile->BuffersRead == 3)
        consumed.closed = CloseTrace(to_close);
    return 1;
}

static void buffer_callback_closes_its_own_handle(void **state)
{
    (void)state;
    store_sixty(PATH, 8, false);
    EVENT_TRACE_LOGFILEW logfile = logfile_of(W_PATH);
    logfile.BufferCallback = close_at_buffer;
    to_close = OpenTraceW(&logfile);
    assert_int_equal(process_one(to_close), ERROR_SUCCESS);
    assert_int_equal(consumed.closed, ERROR_CTX_CLOSE_PENDING);
    check_consumed(0, 20);
    assert_int_equal(CloseTrace(to_close), ERROR_INVALID_HANDLE);
}

static void closing_one_of_two_files_continues_the_other(void **state)
{
    (void)state;
    store_halves();
    TRACEHANDLE handles[] = {open_log(W_PATH), open_log(W_OTHER)};
    consumed.close_at = handles[1];
    consumed.close_number = 5;
    assert_int_equal(ProcessTrace(handles, 2, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(consumed.count, 50 + 10);
    assert_int_equal(consumed.number[consumed.count - 1], 98);
    assert_int_equal(CloseTrace(handles[0]), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(handles[1]), ERROR_INVALID_HANDLE);
}

static struct wakeup *there, *go_on;
static TRACEHANDLE watched;
static ULONG processed;

static void wait_at_seven(uint32_t number)
{
    if (number != 7)
        return;
    wakeup_set(there);
    assert_true(wakeup_wait(go_on, PATIENCE_MS));
}

static void process_watched(void *user)
{
    (void)user;
    processed = ProcessTrace(&watched, 1, NULL, NULL);
}

static void another_thread_closes_a_handle(void **state)
{
    (void)state;
    struct thread *thread;
    store_sixty(PATH, 8, false);
    assert_int_equal(wakeup_create(&there), S_OK);
    assert_int_equal(wakeup_create(&go_on), S_OK);
    watched = open_log(W_PATH);
    consumed.at_event = wait_at_seven;
    assert_int_equal(thread_start(process_watched, NULL, &thread), S_OK);
    assert_true(wakeup_wait(there, PATIENCE_MS));
    assert_int_equal(ProcessTrace(&watched, 1, NULL, NULL), ERROR_BUSY);
    assert_int_equal(CloseTrace(watched), ERROR_CTX_CLOSE_PENDING);
    assert_int_equal(CloseTrace(watched), ERROR_INVALID_HANDLE);
    wakeup_set(go_on);
    assert_true(thread_wait(thread, PATIENCE_MS));
    thread_close(thread);
    assert_int_equal(processed, ERROR_SUCCESS);
    check_consumed(0, 10);
    wakeup_free(there);
    wakeup_free(go_on);
}

/* ---- event definitions ---- */

#ifndef _WIN32 /* on Windows, TDH is in another DLL */
enum { DEFINED_ID = 9, INFO_BYTES = 112 + 24 + 8, DEFINITION_BYTES = 0x30 + INFO_BYTES, DEFINED_BYTES = 0x58 };

/* Writes the definition of an event with one UINT32, as a merging program does. */
static void put_definition(uint8_t at[DEFINITION_BYTES], uint32_t ticks)
{
    uint8_t *info = at + 0x30;
    put_numbered(at, 0, ticks);
    put_u16(at, DEFINITION_BYTES);
    at[4] = 32;
    put_guid(at + 0x18, &etl_event_metadata_class);
    memset(info, 0, INFO_BYTES);
    put_guid(info, &fixture_class);
    put_u16(info + 32, DEFINED_ID);
    put_u32(info + 100, 1);
    put_u32(info + 104, 1);
    put_u32(info + 112 + 4, 136);
    put_u16(info + 112 + 8, IN_TYPE_UINT32);
    put_u16(info + 112 + 16, 1);
    put_u16(info + 136, 'n');
}

static void put_defined(uint8_t at[DEFINED_BYTES], uint32_t ticks)
{
    memset(at, 0, DEFINED_BYTES);
    put_u16(at, DEFINED_BYTES - 4);
    at[2] = 0x13;
    at[3] = ETL_MARKS;
    put_u64(at + 0x10, FIXTURE_STAMP + ticks);
    put_guid(at + 0x18, &fixture_class);
    put_u16(at + 0x28, DEFINED_ID);
}

static uint32_t known, unknown;
/* Queries TDH for the events of one event provider. */
static void WINAPI query_tdh(EVENT_RECORD *e)
{
    ULONG size = 0;
    if (!guid_equal(&e->EventHeader.ProviderId, &fixture_class))
        return;
    if (tdh_get_event_information(e, 0, NULL, NULL, &size) == ERROR_INSUFFICIENT_BUFFER)
        known++;
    else
        unknown++;
}

static void definitions_reach_tdh_in_every_callback_mode(void **state)
{
    (void)state;
    uint8_t definition[DEFINITION_BYTES], defined[DEFINED_BYTES];
    put_definition(definition, 10);
    put_defined(defined, 30);
    small_begin(&container, ETL_MODE_SEQUENTIAL, 8, ETL_CLOCK_TICKS);
    small_add(&container, 0, definition, sizeof definition, false);
    small_add(&container, 1, defined, sizeof defined, false);
    store(&container, PATH);
    EVENT_TRACE_LOGFILEW logfile = logfile_of(W_PATH);
    logfile.EventRecordCallback = query_tdh;
    TRACEHANDLE handle = OpenTraceW(&logfile);
    FILETIME from = filetime(FIXTURE_START + 20); /* later than the definition */
    assert_int_equal(ProcessTrace(&handle, 1, &from, NULL), ERROR_SUCCESS);
    assert_int_equal(known, 1);
    assert_int_equal(unknown, 0);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}
#endif

/* ---- callbacks per event class ---- */

static uint32_t of_class, of_header;
static void WINAPI count_class_event(EVENT_TRACE *e)
{
    assert_true(guid_equal(&e->Header.Guid, &fixture_class));
    assert_int_equal(consumed.count, of_class); /* called before the general callback */
    of_class++;
}
static void WINAPI take_file_header(EVENT_TRACE *e)
{
    assert_int_equal(e->Header.Class.Type, 0);
    of_header++;
}

static void events_of_a_class_also_go_to_its_callback(void **state)
{
    (void)state;
    static const GUID header_class = {0x68FDD900, 0x4A3E, 0x11D1, {0x84, 0xF4, 0x00, 0x00, 0xF8, 0x04, 0x64, 0xE3}};
    store_sixty(PATH, 8, false);
    EVENT_TRACE_LOGFILEW logfile = logfile_of(W_PATH);
    logfile.ProcessTraceMode = 0;
    logfile.EventCallback = consume_event;
    TRACEHANDLE handle = OpenTraceW(&logfile);
    assert_int_equal(SetTraceCallback(NULL, count_class_event), ERROR_INVALID_PARAMETER);
    assert_int_equal(SetTraceCallback(&fixture_class, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(SetTraceCallback(&fixture_class, take_file_header), ERROR_SUCCESS);
    assert_int_equal(SetTraceCallback(&fixture_class, count_class_event), ERROR_SUCCESS);
    assert_int_equal(SetTraceCallback(&header_class, take_file_header), ERROR_SUCCESS);
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    check_consumed(0, 60);
    assert_int_equal(of_class, 60);
    assert_int_equal(of_header, 1);
    assert_int_equal(RemoveTraceCallback(NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(RemoveTraceCallback(&fixture_class), ERROR_SUCCESS);
    assert_int_equal(RemoveTraceCallback(&fixture_class), ERROR_WMI_GUID_NOT_FOUND);
    assert_int_equal(process_one(handle), ERROR_SUCCESS);
    assert_int_equal(of_class, 60);
    assert_int_equal(of_header, 2);
    assert_int_equal(RemoveTraceCallback(&header_class), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}

/* ---- faults ---- */

static void out_of_memory_has_no_partial_effect(void **state)
{
    (void)state;
    store_halves();
    bool opened = false, done = false;
    TRACEHANDLE handles[2];
    for (uint64_t n = 1; !opened; n++) {
        EVENT_TRACE_LOGFILEW logfile = logfile_of(W_PATH);
        memory_fail_at(n);
        const ULONG status = consumer_open(CONSUMER_WIDE, &logfile, &handles[0]);
        memory_fail_at(0);
        opened = status == ERROR_SUCCESS;
        assert_true(opened || status == ERROR_NOT_ENOUGH_MEMORY);
    }
    handles[1] = open_log(W_OTHER);
    for (uint64_t n = 1; !done; n++) {
        reset_consumed(NULL);
        memory_fail_at(n);
        const ULONG status = ProcessTrace(handles, 2, NULL, NULL);
        memory_fail_at(0);
        done = status == ERROR_SUCCESS;
        assert_true(done || status == ERROR_NOT_ENOUGH_MEMORY);
    }
    check_consumed(0, 100);
    assert_int_equal(CloseTrace(handles[0]), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(handles[1]), ERROR_SUCCESS);
}

#ifdef _WIN32
static int *volatile nowhere;
static void raise_at_twelve(uint32_t number)
{
    if (number == 12)
        RaiseException(0xE0001234, 0, 0, NULL);
    else if (number == 32)
        *nowhere = 1;
}

static ULONG WINAPI raise_at_buffer(EVENT_TRACE_LOGFILEW *logfile)
{
    if (logfile->BuffersRead == 2)
        RaiseException(0xE0001234, EXCEPTION_NONCONTINUABLE, 0, NULL);
    return 1;
}

static void exception_in_a_callback_ends_processing(void **state)
{
    (void)state;
    store_sixty(PATH, 8, false);
    FILETIME from = filetime(FIXTURE_START + 20);
    TRACEHANDLE handle = open_log(W_PATH);
    consumed.at_event = raise_at_twelve;
    assert_int_equal(process_one(handle), ERROR_NOACCESS);
    check_consumed(0, 13);
    assert_int_equal(ProcessTrace(&handle, 1, &from, NULL), ERROR_NOACCESS); /* the handle can still be used */
    assert_int_equal(consumed.number[consumed.count - 1], 32);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
    EVENT_TRACE_LOGFILEW logfile = logfile_of(W_PATH);
    logfile.BufferCallback = raise_at_buffer;
    consumed.at_event = NULL;
    handle = OpenTraceW(&logfile);
    assert_int_equal(process_one(handle), ERROR_NOACCESS);
    check_consumed(0, 10);
    assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
}
#endif

static int no_files(void **state)
{
    (void)state;
    (void)file_delete(PATH);
    (void)file_delete(OTHER);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, reset_consumed)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(events_of_all_processors_arrive_once_and_in_order),
        TEST(header_precedes_older_events),
        TEST(the_header_is_returned),
        TEST(ansi_names_work),
        TEST(the_intact_part_of_a_corrupt_file_is_delivered),
        TEST(file_being_written_delivers_its_events_so_far),
        TEST(several_files_are_merged_by_time),
        TEST(time_range_includes_both_ends),
        TEST(raw_timestamps_are_unconverted),
        TEST(failures_to_open_return_their_codes),
        TEST(failures_to_process_return_their_codes),
        TEST(only_handles_that_are_open_are_closed),
        TEST(handle_can_be_queried),
        TEST(buffer_callback_cancels_processing),
        TEST(event_callback_closes_its_own_handle),
        TEST(buffer_callback_closes_its_own_handle),
        TEST(closing_one_of_two_files_continues_the_other),
        TEST(another_thread_closes_a_handle),
#ifndef _WIN32
        TEST(definitions_reach_tdh_in_every_callback_mode),
#endif
        TEST(events_of_a_class_also_go_to_its_callback),
        TEST(out_of_memory_has_no_partial_effect),
#ifdef _WIN32
        TEST(exception_in_a_callback_ends_processing),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, no_files);
}

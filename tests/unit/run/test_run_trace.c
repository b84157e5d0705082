/* SPDX-License-Identifier: MIT */
/* Sets with trace collectors. An event provider in this process writes the events. Tests the contents of the logs when
   a set has segments or is changed, flushed, rejected or killed. Sessions and set host processes are real ones. */
#include "engine/base/thread.h"
#include "engine/etw/kernel_event.h"
#include "engine/etw/trace_instance.h"
#include "engine/pla/run/member.h"
#include "engine/pla/run/run_state.h"
#include "tests/unit/run/run_trace_fixture.h"

#include <stdatomic.h>

/* ---- contents of a log ---- */

static void trace_contains_the_requested_events(void **state)
{
    (void)state;
    char *root = fixture_folder("asked");
    commit("asked", root, TRACE("asked", PROVIDER(4, 2)));
    write_event(4, 2, 0);
    start("asked");
    write_event(4, 2, 1);
    write_event(5, 2, 2);
    write_event(4, 1, 3);
    write_event(0, 0, 4);
    assert_int_equal(ask("asked", EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    stop("asked");
    write_event(4, 2, 5);
    assert_int_equal(ask("asked", EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_true(numbers_of(root, "asked.etl").bits == 0x12);
    struct run_record record = fixture_record("asked");
    assert_int_equal(record.last_result, S_OK);
    assert_true(fixture_only_stopped(record.last_message));
    assert_int_equal(record.latest_files.count, 1);
    assert_string_equal(path_name(record.latest_files.items[0]), "asked.etl");
    run_record_free(&record);
    memory_free(root);
}

/* Tests two collectors with each kind of output: a file, a consumer, or both. */
static void each_collector_has_its_stream(void **state)
{
    (void)state;
    char *root = fixture_folder("streams");
    commit("streams", root,
           TRACE("file", PROVIDER(4, 0)) TRACE("live", "<StreamMode>2</StreamMode>" PROVIDER(4, 0))
               TRACE("both", "<StreamMode>3</StreamMode>" PROVIDER(2, 0)));
    start("streams");
    write_event(4, 1, 0);
    write_event(2, 1, 1);
    assert_int_equal(ask("live", EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    stop("streams");
    assert_true(numbers_of(root, "file.etl").bits == 3);
    assert_true(numbers_of(root, "both.etl").bits == 2);
    assert_false(exists(root, "live.etl"));
    struct run_record record = fixture_record("streams");
    assert_string_equal(record.latest_files.items[1], "");
    run_record_free(&record);
    memory_free(root);
}

/* If a session has its buffers only in memory, a flush writes them to a file. The next flush must write the newer
   contents. */
static void flush_writes_the_buffers_in_memory(void **state)
{
    (void)state;
    char *root = fixture_folder("memory");
    commit("memory", root, TRACE("memory", "<StreamMode>4</StreamMode>" PROVIDER(4, 0)));
    start("memory");
    write_event(4, 1, 0);
    assert_false(exists(root, "memory.etl"));
    assert_int_equal(run_flush(SPACE, "memory"), S_OK);
    assert_true(numbers_of(root, "memory.etl").bits == 1);
    write_event(4, 1, 1);
    assert_int_equal(run_flush(SPACE, "memory"), S_OK);
    assert_true(numbers_of(root, "memory.etl").bits == 3);
    stop("memory");
    commit("memory", root,
           TRACE("memory", PROVIDER(4, 0) "<FlushTimer>600</FlushTimer><LogOverwrite>-1</LogOverwrite>"));
    start("memory");
    write_event(4, 1, 7);
    assert_int_equal(run_flush(SPACE, "memory"), S_OK);
    assert_true(numbers_of(root, "memory.etl").bits == 0x80);
    stop("memory");
    memory_free(root);
}

static void append_continues_and_overwrite_replaces(void **state)
{
    (void)state;
    char *root = fixture_folder("again");
    commit("again", root, TRACE("again", "<LogAppend>-1</LogAppend>" PROVIDER(4, 0)));
    for (uint64_t i = 0; i < 2; i++) {
        start("again");
        write_event(4, 1, i);
        stop("again");
    }
    assert_true(numbers_of(root, "again.etl").bits == 3);
    commit("again", root, TRACE("again", "<LogOverwrite>-1</LogOverwrite>" PROVIDER(4, 0)));
    start("again");
    write_event(4, 1, 5);
    stop("again");
    assert_true(numbers_of(root, "again.etl").bits == 0x20);
    commit("again", root, TRACE("again", PROVIDER(4, 0)));
    assert_int_equal(run_start(SPACE, "again", true), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(ask("again", EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_true(numbers_of(root, "again.etl").bits == 0x20);
    memory_free(root);
}

/* If the existing file is not a trace, it belongs to a user and must be kept. */
static void existing_non_trace_is_kept(void **state)
{
    (void)state;
    char *root = fixture_folder("thesis"), *path = path_join(root, "thesis.etl");
    assert_int_equal(file_store(path, "my thesis", 9), S_OK);
    commit("thesis", root, TRACE("thesis", "<LogOverwrite>-1</LogOverwrite>" PROVIDER(4, 0)));
    assert_int_equal(run_start(SPACE, "thesis", true), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_INVALID_DATA)), "already exists and is not a trace"));
    char *text = fixture_read(root, "thesis.etl");
    assert_string_equal(text, "my thesis");
    memory_free(text);
    memory_free(path);
    memory_free(root);
}

/* ---- segments ---- */

struct writer {
    struct thread *thread;
    atomic_bool stop;
    uint64_t written;
};

static void write_on(void *user)
{
    struct writer *w = user;
    while (!atomic_load(&w->stop)) {
        for (int i = 0; i < 20; i++)
            write_event(4, 1, w->written++);
        fixture_sleep(1);
    }
}

/* Checks that each number occurs once in the segments, and that each segment has its own start time. `behind` is the
   end of their file names. Returns the number of segments. */
static uint32_t check_segments(const char *root, const char *name, const char *behind, uint64_t written)
{
    uint64_t count = 0, sum = 0;
    uint32_t serial = 1;
    int64_t began = 0;
    for (;; serial++) {
        char *file = text_format("%s_%06u.etl%s", name, (unsigned)serial, behind);
        bool there = exists(root, file);
        if (there) {
            struct numbers n = numbers_of(root, file);
            count += n.count;
            sum += n.sum;
            assert_true(n.began > began);
            began = n.began;
        }
        memory_free(file);
        if (!there)
            break;
    }
    assert_int_equal(count, written);
    assert_true(sum == written * (written - 1) / 2);
    return serial - 1;
}

static void write_through_segments(const char *name, uint32_t segments, uint64_t *written)
{
    struct writer w = {.written = 0};
    assert_int_equal(thread_start(write_on, &w, &w.thread), S_OK);
    fixture_progress(name, segments, 0);
    atomic_store(&w.stop, true);
    thread_wait(w.thread, UINT32_MAX);
    thread_close(w.thread);
    *written = w.written;
}

/* Another collector may have a sample interval of an hour. Segments must not wait for its samples, and no event may be
   lost while the file is changed. */
static void segments_by_time_lose_nothing_beside_counters(void **state)
{
    (void)state;
    char *root = fixture_folder("times");
    fixture_commit(
        "times", root,
        "<Segment>-1</Segment><SegmentMaxDuration>1</SegmentMaxDuration>" TRACE("times", NUMBERED PROVIDER(4, 0)),
        "<SampleInterval>3600</SampleInterval><LogFileFormat>0</LogFileFormat>" NUMBERED ONE_COUNTER);
    start("times");
    uint64_t written;
    write_through_segments("times", 4, &written);
    stop("times");
    assert_true(check_segments(root, "times", "", written) >= 4);
    memory_free(root);
}

/* The buffers of a private session are in the processes that write the events. The name of each file contains the id of
   its process (MS-PLA 3.2.4.9). This is also true for the first file, whose process was not known at the start. */
static void private_session_is_flushed_and_segmented(void **state)
{
    (void)state;
    char *root = fixture_folder("private");
    char *behind = text_format("_%u", (unsigned)process_own_id());
    char *flushed = text_format("flushed.etl%s", behind);
    uint64_t written;
    commit("private", root,
           "<Segment>-1</Segment><SegmentMaxDuration>1</SegmentMaxDuration>" TRACE(
               "private", NUMBERED PROVIDER(4, 0) "<ProcessMode>-1</ProcessMode><BufferSize>64</BufferSize>"
                                                  "<MaximumBuffers>200</MaximumBuffers>"));
    start("private");
    write_through_segments("private", 3, &written);
    stop("private");
    assert_true(check_segments(root, "private", behind, written) >= 3);
    commit("private", root, TRACE("flushed", PROVIDER(4, 0) "<ProcessMode>-1</ProcessMode>"));
    start("private");
    write_event(4, 1, 5);
    assert_int_equal(run_flush(SPACE, "private"), S_OK);
    assert_true(numbers_of(root, flushed).bits == 0x20);
    stop("private");
    assert_false(exists(root, "flushed.etl"));
    memory_free(flushed);
    memory_free(behind);
    memory_free(root);
}

/* The files of a private session have other names than the set defines. Existing files with these names must be
   kept. */
static void existing_logs_of_a_private_session_are_kept(void **state)
{
    (void)state;
    char *root = fixture_folder("stay");
    char *file = text_format("stay.etl_%u", (unsigned)process_own_id());
    commit("stay", root, TRACE("stay", PROVIDER(4, 0) "<ProcessMode>-1</ProcessMode>"));
    start("stay");
    write_event(4, 1, 5);
    stop("stay");
    assert_int_equal(run_start(SPACE, "stay", true), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS)), file));
    assert_true(numbers_of(root, file).bits == 0x20);
    commit("stay", root,
           TRACE("stay", "<LogOverwrite>-1</LogOverwrite>" PROVIDER(4, 0) "<ProcessMode>-1</ProcessMode>"));
    start("stay");
    write_event(4, 1, 6);
    stop("stay");
    assert_true(numbers_of(root, file).bits == 0x40);
    char *path = path_join(root, file);
    assert_int_equal(file_store(path, "my thesis", 9), S_OK);
    assert_int_equal(run_start(SPACE, "stay", true), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    memory_free(path);
    memory_free(file);
    memory_free(root);
}

static void segments_of_a_private_session_follow_each_other(void **state)
{
    (void)state;
    char *root = fixture_folder("ways");
    struct texts files = {0};
    uint64_t written, count = 0;
    commit("ways", root,
           "<Segment>-1</Segment><SegmentMaxDuration>1</SegmentMaxDuration>" TRACE(
               "ways", PROVIDER(4, 0) "<ProcessMode>-1</ProcessMode><BufferSize>64</BufferSize>"
                                      "<MaximumBuffers>200</MaximumBuffers>"));
    start("ways");
    write_through_segments("ways", 3, &written);
    stop("ways");
    assert_int_equal(folder_list(root, false, &files), S_OK);
    for (size_t i = 0; i < files.count; i++)
        count += numbers_of(root, files.items[i]).count;
    assert_int_equal(count, written);
    texts_free(&files);
    memory_free(root);
}

static void failed_start_leaves_no_file_of_a_private_session(void **state)
{
    (void)state;
    char *root = fixture_folder("fails");
    struct texts files = {0};
    commit("fails", root,
           TRACE("own", PROVIDER(4, 0) "<ProcessMode>-1</ProcessMode>")
               TRACE("one", "<SessionName>same</SessionName>" PROVIDER(4, 0))
                   TRACE("two", "<SessionName>same</SessionName>" PROVIDER(4, 0)));
    assert_int_equal(run_start(SPACE, "fails", true), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(folder_list(root, false, &files), S_OK);
    assert_int_equal(files.count, 0);
    texts_free(&files);
    memory_free(root);
}

static void segments_by_size_lose_nothing(void **state)
{
    uint64_t written;
    (void)state;
    char *root = fixture_folder("sizes");
    commit("sizes", root,
           "<Segment>-1</Segment><SegmentMaxSize>1</SegmentMaxSize>" TRACE(
               "sizes", NUMBERED PROVIDER(4, 0) "<BufferSize>64</BufferSize><MaximumBuffers>200</MaximumBuffers>"
                                                "<ExtendedModes>536870912</ExtendedModes>"));
    start("sizes");
    write_through_segments("sizes", 3, &written);
    stop("sizes");
    assert_true(check_segments(root, "sizes", "", written) >= 3);
    memory_free(root);
}

static void full_file_ends_the_run(void **state)
{
    (void)state;
    char *root = fixture_folder("full");
    commit("full", root,
           "<SegmentMaxSize>1</SegmentMaxSize>" TRACE("full", PROVIDER(4, 0) "<BufferSize>64</BufferSize>"));
    start("full");
    for (uint64_t i = 0; ask("full", EVENT_TRACE_CONTROL_QUERY) == ERROR_SUCCESS; i++) {
        for (int k = 0; k < 500; k++)
            write_event(4, 1, i * 500 + (uint64_t)k);
        fixture_sleep(2);
    }
    fixture_await("full", RUN_STOPPED, PATIENCE_MS);
    check_message("full", "a log reached SegmentMaxRecords or SegmentMaxSize");
    struct run_record record = fixture_record("full");
    assert_int_equal(record.last_result, S_OK);
    run_record_free(&record);
    memory_free(root);
}

static void circular_file_keeps_the_newest_events(void **state)
{
    (void)state;
    char *root = fixture_folder("ring"), *path = path_join(root, "ring.etl");
    commit("ring", root,
           "<SegmentMaxSize>1</SegmentMaxSize>" TRACE(
               "ring", "<LogCircular>-1</LogCircular>" PROVIDER(4, 0) "<BufferSize>64</BufferSize>"));
    start("ring");
    /* On a busy machine, many events are lost, so only the ones that were written count. */
    uint64_t count = 0;
    do {
        for (int k = 0; k < 500; k++)
            write_event(4, 1, count++);
        fixture_sleep(2);
    } while (count < 40000 || buffers_written("ring") < 3 * 16);
    assert_int_equal(run_flush(SPACE, "ring"), S_OK);
    fixture_await("ring", RUN_RUNNING, 0);
    write_event(4, 1, count);
    stop("ring");
    struct file *file;
    uint64_t size;
    assert_int_equal(file_open(path, FILE_READ, &file), S_OK);
    assert_int_equal(file_size(file, &size), S_OK);
    file_close(file);
    assert_true(size <= 1 << 20);
    assert_true(numbers_in(path).last == count);
    assert_true(numbers_in(path).first > 0);
    memory_free(path);
    memory_free(root);
}

/* ---- changes of a running set ---- */

static void change_of_providers_continues_the_file(void **state)
{
    (void)state;
    char *root = fixture_folder("relevel");
    commit("relevel", root, TRACE("relevel", PROVIDER(4, 0)));
    start("relevel");
    write_event(4, 1, 0);
    commit("relevel", root, TRACE("relevel", PROVIDER(2, 0)));
    assert_int_equal(run_update(SPACE, "relevel"), S_OK);
    write_event(4, 1, 1);
    write_event(2, 1, 2);
    commit("relevel", root, TRACE("relevel", ""));
    assert_int_equal(run_update(SPACE, "relevel"), S_OK);
    write_event(2, 1, 3);
    commit("relevel", root, TRACE("relevel", PROVIDER(5, 1)));
    assert_int_equal(run_update(SPACE, "relevel"), S_OK);
    write_event(5, 1, 4);
    assert_int_equal(fixture_await("relevel", RUN_RUNNING, 0).serial_number, 1);
    /* This update is invalid, because an event provider has no GUID. The previous settings must stay in effect. */
    commit("relevel", root, TRACE("relevel", PROVIDER(5, 1) "<TraceDataProvider/>"));
    assert_int_equal(run_update(SPACE, "relevel"), E_INVALIDARG);
    write_event(5, 1, 5);
    stop("relevel");
    assert_true(numbers_of(root, "relevel.etl").bits == 0x35);
    memory_free(root);
}

/* If the buffer size changes, a new session is needed. If it cannot start, the old session must continue. */
static void change_of_buffers_starts_a_new_session(void **state)
{
    (void)state;
    char *root = fixture_folder("buffers");
    commit("buffers", root, TRACE("buffers", NUMBERED PROVIDER(4, 0)) TRACE("other", NUMBERED PROVIDER(4, 0)));
    start("buffers");
    write_event(4, 1, 0);
    commit("buffers", root,
           TRACE("buffers", NUMBERED PROVIDER(4, 0) "<BufferSize>16</BufferSize>")
               TRACE("other", NUMBERED PROVIDER(4, 0)));
    assert_int_equal(run_update(SPACE, "buffers"), S_OK);
    assert_int_equal(fixture_await("buffers", RUN_RUNNING, 0).serial_number, 2);
    write_event(4, 1, 1);
    /* This mode is invalid: circular and sequential at the same time. */
    commit("buffers", root,
           TRACE("buffers", NUMBERED PROVIDER(4, 0) "<ExtendedModes>16777218</ExtendedModes>")
               TRACE("other", NUMBERED PROVIDER(4, 0)));
    assert_int_equal(run_update(SPACE, "buffers"), E_INVALIDARG);
    write_event(4, 1, 2);
    stop("buffers");
    assert_true(numbers_of(root, "buffers_000001.etl").bits == 1);
    assert_true((numbers_of(root, "buffers_000002.etl").bits | numbers_of(root, "buffers_000003.etl").bits) == 6);
    assert_true(numbers_of(root, "other_000001.etl").bits == 1);
    memory_free(root);
}

/* If the folder changes, a session continues with a file in the new folder. If the other collector cannot do this, it
   must not lose events. */
static void new_files_take_over_the_session(void **state)
{
    (void)state;
    char *root = fixture_folder("moves");
    commit("moves", root, TRACE("near", PROVIDER(4, 0)) TRACE("far", NUMBERED PROVIDER(4, 0)));
    start("moves");
    write_event(4, 1, 0);
    commit("moves", root,
           "<Subdirectory>there</Subdirectory>" TRACE("near", PROVIDER(4, 0)) TRACE("far", NUMBERED PROVIDER(4, 0)));
    assert_int_equal(run_update(SPACE, "moves"), S_OK);
    write_event(4, 1, 1);
    commit("moves", root, TRACE("near", NUMBERED PROVIDER(4, 0)) TRACE("far", PROVIDER(4, 0) "<TraceDataProvider/>"));
    assert_int_equal(run_update(SPACE, "moves"), E_INVALIDARG);
    write_event(4, 1, 2);
    stop("moves");
    assert_true(numbers_of(root, "near.etl").bits == 1);
    assert_true(numbers_of(root, "far_000001.etl").bits == 1);
    char *there = path_join(root, "there");
    assert_true(numbers_of(there, "far_000002.etl").bits == 6);
    /* The update of "far" is rejected before "near" changes its folder. */
    assert_true(numbers_of(there, "near.etl").bits == 6);
    assert_false(exists(root, "near_000003.etl"));
    memory_free(there);
    memory_free(root);
}

/* At most eight sessions can enable an event provider, so the update of the second collector fails. At that time, the
   first collector has already changed. Its level and keywords must be restored. */
static void late_failure_keeps_the_earlier_settings(void **state)
{
#define OTHER_PROVIDER "<TraceDataProvider><Guid>{33333333-0001-0002-0300-000000000000}</Guid></TraceDataProvider>"
    enum { SESSIONS_OF_A_PROVIDER = 8 };
    static const GUID other = {0x33333333, 1, 2, {3}};
    TRACEHANDLE taken[SESSIONS_OF_A_PROVIDER];
    char name[32];
    (void)state;
    char *root = fixture_folder("late");
    for (int i = 0; i < SESSIONS_OF_A_PROVIDER; i++) {
        struct block b = block_of(TRACE_MODE_REAL_TIME, NULL);
        snprintf(name, sizeof name, "taken%d", i);
        assert_int_equal(start_session(name, &b, &taken[i]), ERROR_SUCCESS);
        assert_int_equal(EnableTraceEx2(taken[i], &other, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL),
                         ERROR_SUCCESS);
    }
    commit("late", root, TRACE("first", NUMBERED PROVIDER(4, 0)) TRACE("second", NUMBERED PROVIDER(4, 0)));
    start("late");
    write_event(4, 1, 0);
    commit("late", root,
           TRACE("first", NUMBERED PROVIDER(2, 0))
               TRACE("second", "<FileName>other</FileName>" NUMBERED PROVIDER(4, 0) OTHER_PROVIDER));
    const HRESULT hr = run_update(SPACE, "late");
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES));
    write_event(4, 1, 1);
    stop("late");
    uint64_t bits = numbers_of(root, "first_000001.etl").bits;
    bits |= exists(root, "first_000002.etl") ? numbers_of(root, "first_000002.etl").bits : 0;
    assert_true(bits == 3);
    assert_true(numbers_of(root, "second_000001.etl").bits == 3);
    for (int i = 0; i < SESSIONS_OF_A_PROVIDER; i++) {
        snprintf(name, sizeof name, "taken%d", i);
        assert_int_equal(ask(name, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    }
    memory_free(root);
}

/* ---- rejected starts, and losses ---- */

static void session_name_in_use_fails_the_start(void **state)
{
    (void)state;
    char *root = fixture_folder("clash");
    const HRESULT taken = HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS);
    commit("clash", root,
           TRACE("first", "<SessionName>one</SessionName>" PROVIDER(4, 0))
               TRACE("second", "<SessionName>ONE</SessionName>" PROVIDER(4, 0)));
    assert_int_equal(run_start(SPACE, "clash", true), taken);
    assert_non_null(strstr(error_text(taken), "trace session 'ONE'"));
    assert_int_equal(ask("one", EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_false(exists(root, "first.etl"));
    assert_false(exists(root, "second.etl"));
    commit("clash", root, TRACE("alone", "<ProcessMode>-1</ProcessMode>"));
    assert_int_equal(run_start(SPACE, "clash", true), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "ProcessMode: session 'alone' has no provider"));
    memory_free(root);
}

#define KERNEL(name, elements)                                                                                         \
    TRACE(name, "<SessionName>NT Kernel Logger</SessionName>" elements                                                 \
                "<TraceDataProvider><Guid>{9E814AAD-3204-11D2-9A82-006008A86939}</Guid><KeywordsAny>"                  \
                "<Value>0x13</Value></KeywordsAny></TraceDataProvider>")

/* Returns the number of processes in the kernel rundown of this file. */
static size_t processes_in(const char *root, const char *file)
{
    struct etl_reader *reader;
    struct etl_record record;
    size_t count = 0;
    char *path = path_join(root, file);
    if (FAILED(etl_reader_open(path, keep_warning, NULL, &reader)))
        fail_msg("%s: %s", path, error_text(E_FAIL));
    while (etl_reader_next(reader, &record) == S_OK)
        count += (record.kind == ETL_RECORD_SYSTEM || record.kind == ETL_RECORD_PERFORMANCE) &&
                 (record.id == HOOK_PROCESS_RUNDOWN_START || record.id == HOOK_PROCESS_RUNDOWN_END);
    etl_reader_close(reader);
    memory_free(path);
    return count;
}

/* Returns how many processes a kernel rundown must contain. On a host OS without kernel events, the file exists but has
   none. */
static size_t least_processes(void)
{
    return SUCCEEDED(trace_instance_possible(NULL)) ? 2 : 0;
}

/* Templates such as tss-ADDS have two sessions, one of them for the kernel. Both must record. */
static void kernel_session_records_beside_another(void **state)
{
    const HRESULT taken = HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS);
    (void)state;
    char *root = fixture_folder("kernel"), *second = fixture_folder("second");
    commit("kernel", root, KERNEL("nt", "") TRACE("rest", PROVIDER(4, 0)));
    commit("second", second, TRACE("first", PROVIDER(4, 0)) KERNEL("nt", ""));
    start("kernel");
    struct block b = block_of(0, NULL);
    assert_int_equal(ControlTraceW(0, u"NT Kernel Logger", &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_int_equal(b.p.EnableFlags, 0x13);
    /* On a machine, only one such session can exist. The second set must fail to start and leave no files or
       sessions. */
    assert_int_equal(run_start(SPACE, "second", true), taken);
    assert_non_null(strstr(error_text(taken), "trace session 'NT Kernel Logger'"));
    assert_false(exists(second, "first.etl"));
    assert_int_equal(ask("first", EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    write_event(4, 1, 3);
    stop("kernel");
    assert_int_equal(ask("NT Kernel Logger", EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_true(numbers_of(root, "rest.etl").bits == 8);
    assert_in_range(processes_in(root, "nt.etl"), least_processes(), SIZE_MAX);
    start("second");
    stop("second");
    struct run_record record = fixture_record("kernel");
    assert_int_equal(record.latest_files.count, 2);
    assert_string_equal(path_name(record.latest_files.items[0]), "nt.etl");
    run_record_free(&record);
    commit("kernel", root, KERNEL("one", "") KERNEL("two", ""));
    assert_int_equal(run_start(SPACE, "kernel", true), taken);
    memory_free(second);
    memory_free(root);
}

/* Like any other session, the kernel session must change to the next file. A circular file must have both rundowns. */
static void kernel_session_can_be_segmented_and_circular(void **state)
{
    (void)state;
    char *root = fixture_folder("pieces");
    commit("pieces", root, "<Segment>-1</Segment><SegmentMaxDuration>1</SegmentMaxDuration>" KERNEL("nt", NUMBERED));
    start("pieces");
    fixture_progress("pieces", 2, 0);
    stop("pieces");
    assert_in_range(processes_in(root, "nt_000001.etl"), least_processes(), SIZE_MAX);
    assert_true(exists(root, "nt_000002.etl"));
    commit("pieces", root, "<SegmentMaxSize>2</SegmentMaxSize>" KERNEL("ring", "<LogCircular>-1</LogCircular>"));
    start("pieces");
    stop("pieces");
    assert_in_range(processes_in(root, "ring.etl"), 2 * least_processes(), SIZE_MAX);
    memory_free(root);
}

#ifndef _WIN32
/* Published templates contain collectors of all kinds. If one cannot run, the others must still run. */
static void unsupported_collector_is_skipped(void **state)
{
    (void)state;
    char *root = fixture_folder("kinds");
    const char *api = "<ApiTracingDataCollector><Name>calls</Name><FileName>calls</FileName></ApiTracingDataCollector>";
    char *xml = text_format("%s%s", api, TRACE("rest", PROVIDER(4, 0)));
    commit("kinds", root, xml);
    memory_free(xml);
    start("kinds");
    write_event(4, 1, 3);
    stop("kinds");
    check_message("kinds", "collector 'calls': API tracing is only available under Wine and Windows");
    assert_true(numbers_of(root, "rest.etl").bits == 8);
    struct run_record record = fixture_record("kinds");
    assert_string_equal(record.latest_files.items[0], "");
    run_record_free(&record);
    /* If no collector of a set can run, its start must fail. */
    commit("kinds", root, api);
    assert_int_equal(run_start(SPACE, "kinds", true), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
    memory_free(root);
}
#endif

static void externally_stopped_session_is_reported(void **state)
{
    (void)state;
    char *root = fixture_folder("ended");
    commit("ended", root, TRACE("ended", PROVIDER(4, 0)));
    start("ended");
    write_event(4, 1, 1);
    assert_int_equal(ask("ended", EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    fixture_await("ended", RUN_STOPPED, PATIENCE_MS);
    check_message("ended", "trace session 'ended' was stopped by another program");
    assert_true(numbers_of(root, "ended.etl").bits == 2);
    memory_free(root);
}

/* ---- kill -9 ---- */

static void kill_host(const char *name)
{
    struct run_state state = fixture_await(name, RUN_RUNNING, 0);
    fixture_kill(state.process_id);
    fixture_await(name, RUN_STOPPED, PATIENCE_MS);
}

/* If the set host process is killed, its session must be stopped. Otherwise the session would fill the disk and prevent
   the next start. */
static void session_of_a_killed_host_is_stopped(void **state)
{
    (void)state;
    char *root = fixture_folder("killed");
    commit("killed", root, TRACE("killed", NUMBERED PROVIDER(4, 0)));
    start("killed");
    write_event(4, 1, 0);
    kill_host("killed");
    assert_int_equal(ask("killed", EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    write_event(4, 1, 1);
    assert_int_equal(held_release(SPACE, "killed"), S_OK);
    assert_int_equal(ask("killed", EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(held_release(SPACE, "killed"), S_FALSE);
    assert_true(numbers_of(root, "killed_000001.etl").bits == 3);
    start("killed");
    kill_host("killed");
    start("killed");
    write_event(4, 1, 2);
    assert_int_equal(held_release(SPACE, "killed"), S_FALSE);
    stop("killed");
    assert_true(numbers_of(root, "killed_000003.etl").bits == 4);
    memory_free(root);
}

/* Another user may have started a new session with the same name. It must not be stopped. */
static void foreign_session_is_not_stopped(void **state)
{
    (void)state;
    char *root = fixture_folder("others");
    commit("others", root, TRACE("others", PROVIDER(4, 0)));
    start("others");
    kill_host("others");
    assert_int_equal(ask("others", EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    struct block b = block_of(TRACE_MODE_REAL_TIME, NULL);
    TRACEHANDLE handle;
    assert_int_equal(start_session("others", &b, &handle), ERROR_SUCCESS);
    assert_int_equal(held_release(SPACE, "others"), S_OK);
    assert_int_equal(ask("others", EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    memory_free(root);
}

/* All kernel sessions have the same name and GUID. A session of another user must not be stopped. */
static void foreign_kernel_session_is_not_stopped(void **state)
{
    static const struct {
        const char *stream;
        uint32_t mode;
        const char *file;
    } rows[] = {{"", TRACE_MODE_REAL_TIME, NULL},
                {"", 0, "theirs.etl"},
                {"<StreamMode>2</StreamMode>", TRACE_MODE_REAL_TIME, NULL}};
    (void)state;
    char *root = fixture_folder("logger");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *xml = text_format(KERNEL("nt", "<LogOverwrite>-1</LogOverwrite>%s"), rows[i].stream);
        commit("logger", root, xml);
        memory_free(xml);
        start("logger");
        kill_host("logger");
        assert_int_equal(ask("NT Kernel Logger", EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
        assert_int_equal(held_release(SPACE, "logger"), S_OK);
        assert_int_equal(ask("NT Kernel Logger", EVENT_TRACE_CONTROL_STOP), ERROR_WMI_INSTANCE_NOT_FOUND);
        start("logger");
        kill_host("logger");
        assert_int_equal(ask("NT Kernel Logger", EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
        char *file = rows[i].file ? path_join(root, rows[i].file) : NULL;
        struct block b = block_of(rows[i].mode, file);
        TRACEHANDLE handle;
        assert_int_equal(start_session("NT Kernel Logger", &b, &handle), ERROR_SUCCESS);
        assert_int_equal(held_release(SPACE, "logger"), S_OK);
        assert_int_equal(ask("NT Kernel Logger", EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
        memory_free(file);
    }
    memory_free(root);
}

/* All kernel sessions have the same handle. If another user restarts the session, the set must not use the new session
   or stop it at the end. */
static void restarted_kernel_session_is_not_taken_over(void **state)
{
    (void)state;
    char *root = fixture_folder("restarted");
    commit("restarted", root, KERNEL("nt", "<LogOverwrite>-1</LogOverwrite>"));
    start("restarted");
    assert_int_equal(ask("NT Kernel Logger", EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    struct block b = block_of(TRACE_MODE_REAL_TIME, NULL);
    TRACEHANDLE handle;
    assert_int_equal(start_session("NT Kernel Logger", &b, &handle), ERROR_SUCCESS);
    fixture_await("restarted", RUN_STOPPED, PATIENCE_MS);
    check_message("restarted", "trace session 'NT Kernel Logger' was stopped by another program");
    assert_int_equal(ask("NT Kernel Logger", EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    memory_free(root);
}

/* ---- statistics ---- */

static void statistics_are_those_of_the_session(void **state)
{
    (void)state;
    char *root = fixture_folder("figures");
    commit("figures", root, TRACE("figures", PROVIDER(4, 0)));
    start("figures");
    for (uint64_t i = 0; i < 500; i++)
        write_event(4, 1, i);
    assert_int_equal(run_flush(SPACE, "figures"), S_OK);
    const uint64_t began = clock_monotonic_ms();
    while (fixture_figure("figures", "figures", "BuffersWritten") < 3 &&
           clock_passed_ms(began, clock_monotonic_ms()) < PATIENCE_MS)
        fixture_sleep(20);
    assert_true(fixture_figure("figures", "figures", "BuffersWritten") >= 3);
    assert_true(fixture_figure("figures", "figures", "FreeBuffers") > 0);
    stop("figures");
    memory_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace_contains_the_requested_events),
        cmocka_unit_test(each_collector_has_its_stream),
        cmocka_unit_test(flush_writes_the_buffers_in_memory),
        cmocka_unit_test(append_continues_and_overwrite_replaces),
        cmocka_unit_test(existing_non_trace_is_kept),
        cmocka_unit_test(segments_by_time_lose_nothing_beside_counters),
        cmocka_unit_test(private_session_is_flushed_and_segmented),
        cmocka_unit_test(existing_logs_of_a_private_session_are_kept),
        cmocka_unit_test(segments_of_a_private_session_follow_each_other),
        cmocka_unit_test(failed_start_leaves_no_file_of_a_private_session),
        cmocka_unit_test(segments_by_size_lose_nothing),
        cmocka_unit_test(full_file_ends_the_run),
        cmocka_unit_test(circular_file_keeps_the_newest_events),
        cmocka_unit_test(change_of_providers_continues_the_file),
        cmocka_unit_test(change_of_buffers_starts_a_new_session),
        cmocka_unit_test(new_files_take_over_the_session),
        cmocka_unit_test(late_failure_keeps_the_earlier_settings),
        cmocka_unit_test(session_name_in_use_fails_the_start),
        cmocka_unit_test(kernel_session_records_beside_another),
        cmocka_unit_test(kernel_session_can_be_segmented_and_circular),
#ifndef _WIN32
        cmocka_unit_test(unsupported_collector_is_skipped),
#endif
        cmocka_unit_test(externally_stopped_session_is_reported),
        cmocka_unit_test(session_of_a_killed_host_is_stopped),
        cmocka_unit_test(foreign_session_is_not_stopped),
        cmocka_unit_test(foreign_kernel_session_is_not_stopped),
        cmocka_unit_test(restarted_kernel_session_is_not_taken_over),
        cmocka_unit_test(statistics_are_those_of_the_session),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

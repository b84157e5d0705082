/* SPDX-License-Identifier: MIT */
/* The effect of the clocks, buffers and timers of trace collectors on their logs. Also tests sets in the form of
   published templates. Sessions and set host processes are real ones. */
#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "engine/pla/collect/trace_session.h"
#include "tests/unit/run/run_trace_fixture.h"

#include <stdlib.h>

static struct etl_reader *opened(const char *root, const char *file)
{
    struct etl_reader *reader;
    char *path = path_join(root, file);
    if (FAILED(etl_reader_open(path, keep_warning, NULL, &reader)))
        fail_msg("%s: %s", path, error_text(E_FAIL));
    memory_free(path);
    return reader;
}

/* Returns the properties of a session that ETW reports. */
static struct trace_session session_of(const char *name)
{
    struct trace_session s;
    assert_int_equal(trace_session_query(&(struct trace_target){.name = name}, &s), S_OK);
    return s;
}

/* ---- clocks ---- */

/* With each clock, the events must have the right times, because users compare traces with other logs. */
static void each_clock_stamps_the_log_correctly(void **state)
{
    enum { SECOND = 10000000 };
    static const uint32_t clocks[] = {ETL_CLOCK_TICKS, ETL_CLOCK_SYSTEM, ETL_CLOCK_CYCLES};
    (void)state;
    for (uint32_t type = 1; type <= 3; type++) {
        char *name = text_format("clock%u", (unsigned)type), *file = text_format("%s.etl", name);
        char *root = fixture_folder(name);
        char *xml = text_format(TRACE("%s", PROVIDER(4, 0) "<ClockType>%u</ClockType>"), name, name, (unsigned)type);
        commit(name, root, xml);
        const int64_t before = clock_utc();
        start(name);
        write_event(4, 1, 0);
        fixture_sleep(300);
        write_event(4, 1, 1);
        stop(name);
        const int64_t after = clock_utc();
        struct etl_reader *reader = opened(root, file);
        const struct etl_log *log = etl_reader_log(reader);
        struct etl_record record;
        int64_t at[2] = {0, 0};
        assert_int_equal(log->clock, clocks[type - 1]);
        assert_in_range(log->start_utc, before - SECOND / 50, after);
        while (etl_reader_next(reader, &record) == S_OK)
            if (record.kind == ETL_RECORD_MANIFEST)
                at[get_u64(record.data)] = etl_log_utc(log, record.stamp);
        /* The limits are not exact: the host OS's clock may be set during the test, and the cycle rate is in whole
           MHz. */
        assert_in_range(at[0], before - SECOND / 10, after + SECOND / 10);
        assert_in_range(at[1] - at[0], 3 * (SECOND / 10) - SECOND / 50, after - before + SECOND / 50);
        etl_reader_close(reader);
        memory_free(xml);
        memory_free(root);
        memory_free(file);
        memory_free(name);
    }
}

/* ---- buffers ---- */

/* A requested size is only a suggestion, and never causes an error (MS-PLA notes 28 to 31, DECISIONS 39). */
static void buffers_are_adjusted_to_the_limits(void **state)
{
    const uint32_t least = 2 * processor_count();
    (void)state;
    char *root = fixture_folder("clamped");
    commit("clamped", root,
           TRACE("few", PROVIDER(4, 0) "<BufferSize>64</BufferSize><MinimumBuffers>1</MinimumBuffers>"
                                       "<MaximumBuffers>1</MaximumBuffers>")
               TRACE("many", PROVIDER(4, 0) "<BufferSize>1024</BufferSize><MinimumBuffers>1</MinimumBuffers>"
                                            "<MaximumBuffers>4294967295</MaximumBuffers>"));
    start("clamped");
    struct trace_session few = session_of("few"), many = session_of("many");
    write_event(4, 1, 5);
    stop("clamped");
    assert_int_equal(few.is.minimum_buffers, least);
    assert_true(few.buffers >= least && few.is.maximum_buffers >= few.is.minimum_buffers);
    assert_true((uint64_t)many.is.maximum_buffers * many.is.buffer_kb * 1024 <= os_memory_bytes() / 10 ||
                many.is.maximum_buffers == many.is.minimum_buffers);
    assert_true(many.buffers >= many.is.minimum_buffers && many.buffers <= many.is.maximum_buffers);
    struct etl_reader *reader = opened(root, "few.etl");
    assert_int_equal(etl_reader_log(reader)->buffer_size, 64 * 1024);
    assert_true(etl_reader_log(reader)->buffers_written >= 2); /* a buffer with the header and one with the event */
    etl_reader_close(reader);
    reader = opened(root, "many.etl");
    assert_int_equal(etl_reader_log(reader)->buffer_size, 1024 * 1024);
    etl_reader_close(reader);
    assert_true(numbers_of(root, "few.etl").bits == 0x20 && numbers_of(root, "many.etl").bits == 0x20);
    trace_session_free(&few);
    trace_session_free(&many);
    memory_free(root);
}

/* The export of a running session may contain a mode bit that OpenPLA does not define. The session must get it. */
static void unknown_modes_are_passed_through(void **state)
{
    enum { STOP_ON_HYBRID_SHUTDOWN = 0x400000 };
    (void)state;
    char *root = fixture_folder("modes");
    commit("modes", root, TRACE("modes", PROVIDER(4, 0) "<ExtendedModes>0x400000</ExtendedModes>"));
    start("modes");
    struct trace_session s = session_of("modes");
    stop("modes");
    struct etl_reader *reader = opened(root, "modes.etl");
    assert_true(s.is.mode & STOP_ON_HYBRID_SHUTDOWN);
    assert_true(etl_reader_log(reader)->mode & STOP_ON_HYBRID_SHUTDOWN);
    etl_reader_close(reader);
    trace_session_free(&s);
    memory_free(root);
}

/* If a set has no GUID for its session, each start must generate a new one. */
static void session_without_a_guid_gets_a_new_one(void **state)
{
    static const GUID none;
    GUID guid[2];
    (void)state;
    char *root = fixture_folder("guids");
    commit("guids", root, TRACE("guids", NUMBERED PROVIDER(4, 0)));
    for (int i = 0; i < 2; i++) {
        start("guids");
        struct trace_session s = session_of("guids");
        guid[i] = s.is.guid;
        trace_session_free(&s);
        stop("guids");
    }
    assert_false(guid_equal(&guid[0], &none) || guid_equal(&guid[0], &guid[1]));
    memory_free(root);
}

/* ---- when events are in the file ---- */

/* A program may read a trace while it grows. With a timer, the latest events are in the file after the timer's
   interval. Without a timer, they are not. */
static void timer_writes_events_to_the_file(void **state)
{
    (void)state;
    char *root = fixture_folder("timer");
    commit("timer", root, TRACE("timer", PROVIDER(4, 0) "<FlushTimer>1</FlushTimer>") TRACE("none", PROVIDER(4, 0)));
    start("timer");
    write_event(4, 1, 3);
    const uint64_t began = clock_monotonic_ms();
    while (numbers_of(root, "timer.etl").bits != 8)
        if (clock_passed_ms(began, clock_monotonic_ms()) > PATIENCE_MS)
            fail_msg("the event is not in the file");
        else
            fixture_sleep(50);
    assert_int_equal(numbers_of(root, "none.etl").count, 0);
    stop("timer");
    assert_true(numbers_of(root, "none.etl").bits == 8);
    memory_free(root);
}

/* Commit with plaFlushTrace (0x20) must flush each trace of the set. */
static void flush_reaches_each_trace(void **state)
{
    (void)state;
    char *root = fixture_folder("flushed");
    commit("flushed", root, TRACE("one", PROVIDER(4, 0)) TRACE("two", PROVIDER(4, 0)));
    start("flushed");
    write_event(4, 1, 2);
    assert_int_equal(numbers_of(root, "two.etl").count, 0);
    assert_int_equal(run_flush(SPACE, "flushed"), S_OK);
    assert_true(numbers_of(root, "one.etl").bits == 4 && numbers_of(root, "two.etl").bits == 4);
    stop("flushed");
    memory_free(root);
}

/* ---- templates ---- */

/* Commits a template that has the form of Windows' exports, but uses our folder and our event provider. */
static void commit_template(const char *name, const char *file, const char *root)
{
    size_t size;
    char *path = text_format("%s/tests/golden/sets/%s", getenv("OPENPLA_SOURCE_DIR"), file), *xml;
    struct value v = {.kind = PROPERTY_TEXT, .text = (char *)root};
    struct object *set;
    assert_int_equal(file_load(path, 1 << 20, &xml, &size), S_OK);
    assert_int_equal(set_create(&set), S_OK);
    if (FAILED(set_from_xml(set, xml, size, NULL)))
        fail_msg("%s: %s", path, error_text(E_FAIL));
    assert_int_equal(object_put(set, class_property(set->class, "RootPath"), &v), S_OK);
    memory_free(xml);
    assert_int_equal(set_to_stored_xml(set, &xml, &size), S_OK);
    assert_int_equal(store_save(&caller_self, SPACE, name, STORE_CREATE_OR_MODIFY, xml, size, NULL, NULL), S_OK);
    memory_free(xml);
    memory_free(path);
    object_release(set);
}

/* The template has a session with several event providers. Only one of them is registered; it is enabled with
   keywords. */
static void template_with_one_session_records(void **state)
{
    (void)state;
    char *root = fixture_folder("tls");
    commit_template("tls", "template_session.xml", root);
    start("tls");
    struct trace_session s = session_of("tls");
    assert_int_equal(s.is.buffer_kb, 128);
    write_event(3, 0x4000, 1);
    write_event(4, 0x4000, 2);  /* the level is too high */
    write_event(3, 0x10000, 3); /* no enabled keyword */
    stop("tls");
    assert_true(numbers_of(root, "tls.etl").bits == 2);
    trace_session_free(&s);
    memory_free(root);
}

/* The template has a kernel session, a session with level 0 (all levels), counters, registry keys, and API calls of a
   program. If something cannot run, a message must name it, and the rest must be recorded. */
static void template_with_all_kinds_records(void **state)
{
    (void)state;
    char *root = fixture_folder("directory");
    commit_template("directory", "template_all_kinds.xml", root);
    start("directory");
    struct trace_session kernel = session_of("NT Kernel Logger");
    assert_int_equal(trace_session_providers(&kernel), S_OK);
    assert_int_equal(kernel.is.masks[0], 0x10303); /* processes, threads, disks, files, TCP */
    trace_session_free(&kernel);
    write_event(5, 0x4000, 1);
    write_event(1, 0, 2);
    stop("directory");
    struct run_record record = fixture_record("directory");
    assert_true(file_exists(record.latest_files.items[0]));
    assert_string_equal(path_name(record.latest_files.items[0]), "NtKernel.etl");
    assert_string_equal(path_name(record.latest_files.items[1]), "Active Directory.etl");
    assert_true(numbers_in(record.latest_files.items[1]).bits == 6);
    run_record_free(&record);
#ifdef _WIN32
    check_message("directory", "collector 'Calls': ExePath: no program is set");
#else
    check_message("directory", "collector 'Calls': API tracing is only available under Wine and Windows");
#endif
    memory_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_clock_stamps_the_log_correctly), cmocka_unit_test(buffers_are_adjusted_to_the_limits),
        cmocka_unit_test(unknown_modes_are_passed_through),    cmocka_unit_test(session_without_a_guid_gets_a_new_one),
        cmocka_unit_test(timer_writes_events_to_the_file),     cmocka_unit_test(flush_reaches_each_trace),
        cmocka_unit_test(template_with_one_session_records),   cmocka_unit_test(template_with_all_kinds_records),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: MIT */
/* Event traces through the library: events and their fields, time ranges, and out-of-memory errors.
   tests/library/python_module.py compares events of all kinds with the output of `openpla trace show`. */
#include "engine/base/file.h"
#include "engine/base/thread.h"
#include "engine/logs/etl_file.h"
#include "library/include/openpla/logs.h"
#include "tests/unit/scratch_folder.h"

#define T0     INT64_C(132590000000000000)
#define SECOND INT64_C(10000000)
enum { EVENTS = 5 };

static char *folder, *path;

/* Writes a trace with a header and five events of an unknown event provider, one second apart, with four bytes of data
   each. */
static int make_trace(void **state)
{
    const struct etl_log log = {.buffer_size = 4096,
                                .processors = 1,
                                .start_utc = T0,
                                .boot_utc = T0,
                                .frequency = SECOND,
                                .clock = ETL_CLOCK_SYSTEM,
                                .start_stamp = T0,
                                .logger_name = "made",
                                .file_name = "made.etl"};
    struct etl_file *file;
    *state = folder = scratch_create("test_library_trace");
    path = path_join(folder, "made.etl");
    assert_int_equal(etl_file_create(path, false, &log, &file), S_OK);
    for (int64_t i = 0; i < EVENTS; i++) {
        const uint8_t data[4] = {'d', 'a', 't', 'a'};
        struct etl_event e = {.data = data, .data_size = sizeof data, .head_size = 0x50};
        const int64_t utc = T0 + (i + 1) * SECOND;
        const uint16_t size = 0x50 + sizeof data;
        memcpy(e.head, &size, 2);
        e.head[2] = 0x13; /* a 64-bit header */
        e.head[3] = 0xC0;
        e.head[0x08] = 42; /* thread */
        e.head[0x0C] = 41; /* process */
        memcpy(e.head + 0x10, &utc, 8);
        e.head[0x18] = 0xAB; /* provider */
        e.head[0x28] = 7;    /* id */
        assert_int_equal(etl_file_add(file, utc, &e, 1), S_OK);
    }
    assert_int_equal(etl_file_close(file), S_OK);
    return 0;
}

static int end_trace(void **state)
{
    memory_free(path);
    return scratch_end(state);
}

static const struct openpla_field *field_of(const struct openpla_event *event, const char *name)
{
    for (size_t i = 0; i < event->field_count; i++)
        if (event->fields[i].name && strcmp(event->fields[i].name, name) == 0)
            return &event->fields[i];
    fail_msg("no field %s", name);
    return NULL;
}

/* A program must get exactly the events in the trace. If fields cannot be decoded, it must get the reason. */
static void events_are_in_order_with_fields_or_a_reason(void **state)
{
    openpla_trace *trace;
    const struct openpla_trace_info *info;
    const struct openpla_event *event;
    const char *text;
    (void)state;
    assert_int_equal(openpla_trace_open(path, NULL, &trace), OPENPLA_OK);
    assert_int_equal(openpla_trace_get_info(trace, &info), OPENPLA_OK);
    assert_string_equal(info->path, path);
    assert_int_equal(info->pointer_size, 8);
    assert_int_equal(openpla_trace_next(trace, &event), OPENPLA_OK);
    assert_null(event->reason);
    assert_string_equal(event->opcode_name, "Header");
    assert_int_equal(field_of(event, "BufferSize")->kind, OPENPLA_FIELD_UNSIGNED);
    assert_int_equal(field_of(event, "BufferSize")->integer, 4096);
    assert_string_equal(field_of(event, "BufferSize")->text, "4096");
    for (int64_t i = 1; i <= EVENTS; i++) {
        assert_int_equal(openpla_trace_next(trace, &event), OPENPLA_OK);
        assert_int_equal(event->time, T0 + i * SECOND);
        assert_int_equal(event->id, 7);
        assert_int_equal(event->process, 41);
        assert_int_equal(event->thread, 42);
        assert_string_equal(event->provider_id, "{000000ab-0000-0000-0000-000000000000}");
        assert_non_null(event->reason);
        assert_int_equal(event->field_count, 0);
        assert_int_equal(event->data_size, 4);
        assert_memory_equal(event->data, "data", 4);
    }
    assert_int_equal(openpla_trace_next(trace, &event), OPENPLA_END);
    assert_null(event);
    assert_int_equal(openpla_trace_next(trace, &event), OPENPLA_END);
    assert_int_equal(openpla_trace_get_warning(trace, 0, &text), OPENPLA_END);
    assert_int_equal(openpla_trace_close(trace), OPENPLA_OK);
}

static void time_range_selects_events(void **state)
{
    const struct openpla_trace_options options = {
        .size = sizeof options, .begin = T0 + 2 * SECOND, .end = T0 + 3 * SECOND};
    openpla_trace *trace;
    const struct openpla_event *event;
    (void)state;
    assert_int_equal(openpla_trace_open(path, &options, &trace), OPENPLA_OK);
    assert_int_equal(openpla_trace_next(trace, &event), OPENPLA_OK); /* the header event is always returned */
    for (int64_t i = 2; i <= 3; i++) {
        assert_int_equal(openpla_trace_next(trace, &event), OPENPLA_OK);
        assert_int_equal(event->time, T0 + i * SECOND);
    }
    assert_int_equal(openpla_trace_next(trace, &event), OPENPLA_END);
    assert_int_equal(openpla_trace_close(trace), OPENPLA_OK);
}

/* An unreadable manifest must not be ignored without an error. */
static void invalid_definitions_are_named(void **state)
{
    char *none = path_join(folder, "none.man");
    const char *const manifests[] = {none};
    struct openpla_trace_options options = {.size = sizeof options, .manifests = manifests, .manifest_count = 1};
    openpla_trace *trace;
    (void)state;
    assert_int_equal(openpla_trace_open(path, &options, &trace), OPENPLA_E_NO_FILE);
    assert_null(trace);
    assert_non_null(strstr(openpla_error(), none));
    options = (struct openpla_trace_options){.size = sizeof options, .programs = "\xFF"};
    assert_int_equal(openpla_trace_open(path, &options, &trace), OPENPLA_E_ARGUMENT);
    options = (struct openpla_trace_options){.size = sizeof options, .manifest_count = 1};
    assert_int_equal(openpla_trace_open(path, &options, &trace), OPENPLA_E_ARGUMENT);
    memory_free(none);
}

static void out_of_memory_is_an_error(void **state)
{
    bool complete = false;
    (void)state;
    /* Opening a trace parses built-in definitions with thousands of allocations: after the first hundred, only some of
       them fail. */
    for (uint64_t n = 1; !complete; n += n < 100 ? 1 : n / 7) {
        openpla_trace *trace;
        const struct openpla_event *event;
        int events = 0;
        memory_fail_at(n);
        openpla_result result = openpla_trace_open(path, NULL, &trace);
        while (result == OPENPLA_OK && (result = openpla_trace_next(trace, &event)) == OPENPLA_OK)
            events++;
        complete = memory_count() < n;
        memory_fail_at(0);
        assert_true(result == OPENPLA_END || result == OPENPLA_E_MEMORY);
        assert_true(result == OPENPLA_E_MEMORY || events == EVENTS + 1);
        if (trace)
            assert_int_equal(openpla_trace_close(trace), OPENPLA_OK);
    }
}

struct reading {
    uint64_t events;
    bool failed;
};

static void read_trace(void *user)
{
    struct reading *r = user;
    const struct openpla_event *event;
    for (int i = 0; i < 3 && !r->failed; i++) {
        openpla_trace *trace;
        r->failed = openpla_trace_open(path, NULL, &trace) != OPENPLA_OK;
        while (!r->failed && openpla_trace_next(trace, &event) == OPENPLA_OK)
            r->events++;
        r->failed |= openpla_trace_close(trace) != OPENPLA_OK;
    }
}

/* The built-in definitions and the XML library are shared by the process; concurrent opening of traces must be safe. */
static void threads_read_different_traces(void **state)
{
    struct reading all[4] = {0};
    struct thread *threads[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(thread_start(read_trace, &all[i], &threads[i]), S_OK);
    for (int i = 0; i < 4; i++) {
        while (!thread_wait(threads[i], UINT32_MAX)) {
        }
        thread_close(threads[i]);
        assert_false(all[i].failed);
        assert_int_equal(all[i].events, 3 * (EVENTS + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_in_order_with_fields_or_a_reason),
        cmocka_unit_test(time_range_selects_events),
        cmocka_unit_test(invalid_definitions_are_named),
        cmocka_unit_test(out_of_memory_is_an_error),
        cmocka_unit_test(threads_read_different_traces),
    };
    return cmocka_run_group_tests(tests, make_trace, end_trace);
}

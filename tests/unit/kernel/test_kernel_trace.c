/* SPDX-License-Identifier: MIT */
/* Kernel events of this machine: a known load is recorded completely and in order of time, and nothing remains in the
   kernel. Skipped without access to tracefs. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/etw/kernel/tracepoint.h"
#include "engine/logs/little_endian.h"
#include "tests/unit/child_process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>
#ifndef _WIN32
#include <sys/mount.h>
#endif

enum { MARKS = 1000, CHILDREN = 3, SKIPPED = 77, NS_PER_TICK = 100 };

static struct trace_instance *begin(const char *name)
{
    struct trace_instance *t;
    const struct trace_options options = {.name = name, .buffer_kb = 1024};
    assert_int_equal(trace_instance_begin(&options, &t), S_OK);
    return t;
}

static uint64_t now_ns(void)
{
    return (uint64_t)clock_ticks() * NS_PER_TICK;
}

static void field_of(const struct trace_instance *t, const char *system, const char *event, const char *name,
                     uint32_t *id, struct ring_field *out)
{
    char *text;
    assert_int_equal(trace_instance_format(t, system, event, &text), S_OK);
    *id = ring_format_id(text);
    *out = ring_format_field(text, name);
    assert_int_not_equal(*id, RING_NO_EVENT);
    assert_int_not_equal(out->size, 0);
    memory_free(text);
}

struct marks {
    uint32_t id;
    struct ring_field text;
    size_t seen;
    uint64_t from, last, until;
};

/* A program's write to trace_marker becomes an event with that text. */
static HRESULT check_mark(void *context, const struct trace_record *r)
{
    struct marks *m = context;
    char expected[16], text[16];
    assert_int_equal(get_u16(r->event.data), m->id);
    assert_in_range(r->event.time, m->last, m->until);
    m->last = r->event.time;
    /* The text is the event's last field and has no size field. */
    const struct ring_field rest = {m->text.offset, (uint16_t)(r->event.size - m->text.offset), false, false};
    ring_text(&r->event, &rest, text, sizeof text);
    snprintf(expected, sizeof expected, "mark %zu\n", m->seen++);
    assert_string_equal(text, expected);
    return S_OK;
}

static void every_event_arrives_once_and_in_order(void **state)
{
    (void)state;
    struct trace_instance *t = begin("marks");
    struct trace_stream *s;
    struct marks m = {.from = now_ns()};
    const struct trace_sink sink = {check_mark, &m};
    char *marker = text_format("%s/trace_marker", trace_instance_path(t)), *format, text[16];
    assert_int_equal(trace_stream_create(t, &s), S_OK);
    assert_int_equal(trace_instance_format(t, "ftrace", "print", &format), S_OK);
    m.id = ring_format_id(format);
    m.text = ring_format_field(format, "buf");
    memory_free(format);
    m.last = m.from;
    for (size_t i = 0; i < MARKS; i++) {
        snprintf(text, sizeof text, "mark %zu\n", i);
        assert_int_equal(kernel_control_write(marker, text), S_OK);
        if (i % 100 != 50)
            continue;
        m.until = now_ns();
        assert_int_equal(trace_stream_pass(s, m.until, false, &sink), S_OK);
        assert_in_range(m.seen, 0, i + 1); /* the newest events are held back */
    }
    assert_int_equal(trace_instance_set(t, "tracing_on", "0"), S_OK);
    m.until = now_ns();
    assert_int_equal(trace_stream_pass(s, 0, true, &sink), S_OK);
    assert_int_equal(m.seen, MARKS);
    assert_int_equal(trace_stream_pass(s, 0, true, &sink), S_OK); /* without waiting */
    assert_int_equal(m.seen, MARKS);
    assert_int_equal(trace_stream_lost(s), 0);
    trace_stream_free(s);
    memory_free(marker);
    assert_int_equal(trace_instance_end(t), S_OK);
}

struct tasks {
    uint32_t id;
    struct ring_field pid;
    size_t seen;
};

static HRESULT check_task(void *context, const struct trace_record *r)
{
    struct tasks *tasks = context;
    assert_int_equal(get_u16(r->event.data), tasks->id);
    tasks->seen += ring_number(&r->event, &tasks->pid) > 0;
    return S_OK;
}

static void enabled_events_are_recorded(void **state)
{
    (void)state;
    struct trace_instance *t = begin("tasks");
    struct trace_stream *s;
    struct tasks tasks = {0};
    const struct trace_sink sink = {check_task, &tasks};
    assert_int_equal(trace_stream_create(t, &s), S_OK);
    field_of(t, "task", "task_newtask", "pid", &tasks.id, &tasks.pid);
    assert_int_equal(trace_instance_enable(t, "task", "task_newtask", NULL, true), S_OK);
    for (int i = 0; i < CHILDREN; i++) {
        struct process *p = child_start("nothing", "", "");
        assert_int_equal(process_wait(p, CHILD_PATIENCE, NULL), S_OK);
        process_close(p);
    }
    assert_int_equal(trace_stream_pass(s, 0, true, &sink), S_OK);
    assert_in_range(tasks.seen, CHILDREN, SIZE_MAX);
    assert_int_equal(trace_instance_enable(t, "task", "task_newtask", "pid == 0", true), S_OK);
    assert_true(FAILED(trace_instance_enable(t, "task", "task_newtask", "no field of it == 0", true)));
    assert_int_equal(trace_instance_enable(t, "task", "no_such_event", NULL, true),
                     HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    trace_stream_free(s);
    assert_int_equal(trace_instance_end(t), S_OK);
}

/* A ring that is too small counts the dropped events: received and lost events must add up to all events. */
static void lost_events_are_counted(void **state)
{
    (void)state;
    enum { MANY = 4000 };
    struct trace_instance *t;
    struct trace_stream *s;
    struct tasks marks = {0};
    const struct trace_sink sink = {check_task, &marks};
    const struct trace_options options = {.name = "small", .buffer_kb = 8};
    assert_int_equal(trace_instance_begin(&options, &t), S_OK);
    char *marker = text_format("%s/trace_marker", trace_instance_path(t)), *format;
    assert_int_equal(trace_stream_create(t, &s), S_OK);
    assert_int_equal(trace_instance_format(t, "ftrace", "print", &format), S_OK);
    marks.id = ring_format_id(format);
    marks.pid = ring_format_field(format, "common_pid");
    memory_free(format);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(kernel_control_write(marker, "a text that takes some place in it"), S_OK);
    assert_int_equal(trace_stream_pass(s, 0, true, &sink), S_OK);
    assert_in_range(marks.seen, 1, MANY - 1);
    assert_int_equal(marks.seen + trace_stream_lost(s), MANY);
    trace_stream_free(s);
    memory_free(marker);
    assert_int_equal(trace_instance_end(t), S_OK);
}

static void the_instance_of_a_killed_process_is_removed(void **state)
{
    char token[48], *said, *path;
    size_t left, size;
    snprintf(token, sizeof token, "kernel_trace_%u", (unsigned)process_own_id());
    said = text_format("%s/said", (const char *)*state);
    struct process *p = child_start("hold", token, said);
    while (!file_exists(said))
        child_sleep(10);
    struct trace_instance *mine = begin("mine");
    assert_int_equal(file_load(said, 4096, &path, &size), S_OK);
    assert_int_equal(trace_instance_sweep(NULL, &left), S_OK);
    assert_int_equal(left, 0);
    assert_int_equal(kernel_control_folder(path), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS)); /* the owner is alive */
    child_kill(p, token);
    assert_int_equal(process_wait(p, CHILD_PATIENCE, NULL), S_OK);
    process_close(p);
    for (int i = 0; i < PATIENCE_MS / 10 && kernel_control_folder(path) != S_OK; i++) {
        child_sleep(10); /* the kernel closes the process's files a little later */
        assert_int_equal(trace_instance_sweep(NULL, &left), S_OK);
    }
    assert_int_equal(kernel_control_remove(path), S_OK);
    assert_int_equal(trace_instance_set(mine, "tracing_on", "1"), S_OK); /* the other instance was not changed */
    assert_int_equal(trace_instance_end(mine), S_OK);
    memory_free(path);
    memory_free(said);
}

#ifndef _WIN32
/* Unmounting tracefs does not affect its readers; what remains in the kernel afterwards is reported. */
static void reading_continues_after_tracefs_is_unmounted(void **state)
{
    struct trace_instance *t;
    struct trace_state before, after;
    char *root = os_full_path(*state), *marker, *left;
    if (mount("tracefs", root, "tracefs", 0, NULL) != 0) {
        memory_free(root);
        skip();
    }
    const struct trace_options options = {.root = root, .name = "unmounted", .buffer_kb = 64};
    const HRESULT began = trace_instance_begin(&options, &t);
    assert_int_equal(umount2(root, MNT_DETACH), 0);
    assert_int_equal(began, S_OK);
    const char *path = trace_instance_path(t);
    left = text_format("%s%s", TRACEFS_ROOT, path + strlen(root));
    marker = text_format("%s/trace_marker", left);
    assert_int_equal(trace_instance_state(t, 0, &before), S_OK);
    for (int i = 0; i < MARKS / 10; i++)
        assert_int_equal(kernel_control_write(marker, "mark"), S_OK);
    uint64_t came = 0;
    for (uint32_t i = 0; i < trace_instance_processors(t); i++) {
        assert_int_equal(trace_instance_state(t, i, &after), S_OK);
        came += after.entries;
    }
    assert_int_equal(came - before.entries, MARKS / 10);
    assert_true(FAILED(trace_instance_end(t)));
    assert_int_equal(kernel_control_remove(left), S_OK);
    memory_free(marker);
    memory_free(left);
    memory_free(root);
}
#endif

static void invalid_options_create_nothing(void **state)
{
    (void)state;
    struct trace_instance *t = begin("twice"), *other;
    struct trace_options options = {.name = "twice", .buffer_kb = 64};
    assert_int_equal(trace_instance_begin(&options, &other), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_null(other);
    assert_int_equal(trace_instance_set(t, "tracing_on", "1"), S_OK); /* the first instance still exists */
    assert_int_equal(trace_instance_end(t), S_OK);
    options.root = "/proc/no_tracefs";
    assert_true(FAILED(trace_instance_begin(&options, &other)));
    assert_int_equal(trace_instance_possible(options.root), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED)), options.root));
}

/* Reports the path of its instance in one write, then waits to be killed. */
static int hold(const char *said)
{
    struct trace_instance *t = begin("held");
    const char *path = trace_instance_path(t);
    if (FAILED(file_store(said, path, strlen(path))))
        return 1;
    child_sleep(CHILD_PATIENCE);
    return 0;
}

static int make_folder(void **state)
{
    *state = scratch_create("test_kernel_trace");
    return 0;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_arrives_once_and_in_order),
        cmocka_unit_test(enabled_events_are_recorded),
        cmocka_unit_test(lost_events_are_counted),
        cmocka_unit_test_setup_teardown(the_instance_of_a_killed_process_is_removed, make_folder, scratch_end),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(reading_continues_after_tracefs_is_unmounted, make_folder, scratch_end),
#endif
        cmocka_unit_test(invalid_options_create_nothing),
    };
    child_program = arguments[0];
    if (count > 3)
        return strcmp(arguments[1], "hold") == 0 ? hold(arguments[3]) : 0;
    const HRESULT hr = trace_instance_possible(NULL);
    if (FAILED(hr)) {
        printf("skipped: %s\n", error_text(hr));
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

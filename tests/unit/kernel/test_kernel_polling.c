/* SPDX-License-Identifier: MIT */
/* The kernel logger without tracefs finds processes and threads in /proc. The tests write this /proc themselves; only
   the last test uses the real one. Hidden processes are reported as hidden and never as exited. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/etw/kernel/tracepoint.h"
#include "tests/unit/child_process.h"
#include "tests/unit/kernel_process.h"
#include "tests/unit/kernel_root.h"

enum { MOST = 256, BUSY = 77, NEW = 80, THREAD = 81, OTHER = 90, UNKNOWN = 259 };
static struct kernel_root root;
static struct kernel_tracer *k;

/* The process and thread events received. */
static struct came {
    uint16_t hook;
    uint32_t process, thread, parent, code;
    uint64_t time;
    char name[32];
} came[MOST];
static size_t count, counted;
static uint8_t counters[104]; /* the newest counters and how many counter events the busy process had */

/* In native builds, events contain the host OS's process ids. */
static uint32_t host_number(uint32_t number)
{
    return number >= KERNEL_HOST_OFFSET ? number - KERNEL_HOST_OFFSET : number;
}

static HRESULT note(void *context, const struct kernel_event *e)
{
    (void)context;
    struct came c = {.hook = e->hook, .time = e->time};
    if (e->hook == HOOK_PROCESS_COUNTERS || e->hook == HOOK_PROCESS_COUNTERS_RUNDOWN) {
        assert_int_equal(e->size, sizeof counters);
        memcpy(counters, e->data, sizeof counters);
        counted += host_number(get_u32(counters)) == BUSY;
        return S_OK;
    }
    if (!root.root && (e->hook >> 8 != 0x03 || !process_is_called(process_name(e->data, e->size), child_program)))
        return S_OK; /* on this machine, counts only events of our children */
    if (e->hook >> 8 == 0x03) {
        c.process = host_number(get_u32(e->data + PROCESS_ID));
        c.parent = host_number(get_u32(e->data + PROCESS_PARENT));
        c.code = get_u32(e->data + PROCESS_CODE);
        snprintf(c.name, sizeof c.name, "%s", process_name(e->data, e->size));
    } else {
        c.process = host_number(get_u32(e->data));
        c.thread = host_number(get_u32(e->data + 4));
    }
    assert_in_range(count, 0, MOST - 1);
    came[count++] = c;
    return S_OK;
}
static const struct kernel_sink sink = {note, NULL};

static size_t how_many(enum kernel_hook hook, uint32_t id)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += came[i].hook == hook && (hook >> 8 == 0x03 ? came[i].process : came[i].thread) == id;
    return n;
}

static const struct came *first(enum kernel_hook hook, uint32_t id)
{
    for (size_t i = 0; i < count; i++)
        if (came[i].hook == hook && (hook >> 8 == 0x03 ? came[i].process : came[i].thread) == id)
            return &came[i];
    return NULL;
}

/* ---- a /proc ---- */

static void write_file(const char *name, const char *text)
{
    kernel_root_write(&root, name, text);
}

static void write_state(uint32_t process, const char *name, char state, uint32_t parent, uint32_t threads,
                        unsigned start)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/%u/stat", (unsigned)process);
    snprintf(text, sizeof text, "%u (%s) %c %u 0 0 0 -1 0 1 2 3 4 5 6 0 0 20 0 %u 0 %u 5678 42 0 1 1\n",
             (unsigned)process, name, state, (unsigned)parent, (unsigned)threads, start);
    write_file(path, text);
}

static void write_stat(uint32_t process, const char *name, uint32_t parent, unsigned start)
{
    write_state(process, name, 'S', parent, 2, start);
}

static void add_thread(uint32_t process, uint32_t thread)
{
    char path[64];
    snprintf(path, sizeof path, "/%u/task/%u/comm", (unsigned)process, (unsigned)thread);
    write_file(path, "x\n");
}

static void add_process(uint32_t process, const char *name, uint32_t parent, unsigned start)
{
    char path[64];
    write_stat(process, name, parent, start);
    snprintf(path, sizeof path, "/%u/status", (unsigned)process);
    write_file(path, "Name: x\nUid:\t1000\t1000\t1000\t1000\n");
    add_thread(process, process);
}

static void remove_process(uint32_t process)
{
    char *path = text_format("%s/%u", root.folder, (unsigned)process);
    scratch_remove(path);
    memory_free(path);
}

static void remove_thread(uint32_t process, uint32_t thread)
{
    char *path = text_format("%s/%u/task/%u", root.folder, (unsigned)process, (unsigned)thread);
    scratch_remove(path);
    memory_free(path);
}

/* Sets the number of forks since boot and the newest process id. */
static void set_counts(unsigned forks, unsigned newest)
{
    char text[64];
    snprintf(text, sizeof text, "cpu 1\nctxt 5\nprocesses %u\nprocs_running 1\n", forks);
    write_file("/stat", text);
    snprintf(text, sizeof text, "0.00 0.01 0.05 1/%u %u\n", newest, newest);
    write_file("/loadavg", text);
}

static int make_proc(void **state)
{
    (void)state;
    root = (struct kernel_root){.folder = scratch_create("test_kernel_polling")};
    write_file("/uptime", "1000.00 2000.00\n");
    write_file("/sys/kernel/pid_max", "32768\n");
    add_process(1, "init", 0, 1);
    add_process(2, "kthreadd", 0, 1);
    add_process(BUSY, "busy", 1, 5000);
    set_counts(100, 79);
    root.root = kernel_root_unix(root.folder);
    k = NULL;
    count = 0;
    return 0;
}

static int remove_proc(void **state)
{
    (void)state;
    (void)kernel_tracer_end(k);
    scratch_remove(root.folder);
    memory_free(root.folder);
    memory_free(root.root);
    return 0;
}

static void begin_with(const struct kernel_source *source, uint32_t flags)
{
    const struct kernel_tracer_options options = {
        .name = "polling", .flags = flags, .proc = root.root, .source = source};
    assert_int_equal(kernel_tracer_begin(&options, &k), S_OK);
    assert_int_equal(kernel_tracer_rundown(k, false, &sink), S_OK);
}

static void begin_by(const struct kernel_source *source)
{
    begin_with(source, FLAG_PROCESS | FLAG_THREAD | FLAG_SWITCH);
}

static void begin(void)
{
    begin_by(&kernel_source_polling);
}

/* Polls take time, which delays the next poll. The following pass reports a poll's results. */
static void pass_until(enum kernel_hook hook, uint32_t id, size_t times)
{
    const uint64_t from = clock_monotonic_ms();
    while (how_many(hook, id) < times) {
        assert_in_range(clock_passed_ms(from, clock_monotonic_ms()), 0, CHILD_PATIENCE);
        assert_int_equal(kernel_tracer_pass(k, false, &sink), S_OK);
        child_sleep(5);
    }
}

/* Starts a full poll before it is due. */
static void poll_everything(void)
{
    assert_int_equal(kernel_tracer_pass(k, true, &sink), S_OK);
}

static struct kernel_state state_of(void)
{
    struct kernel_state s;
    kernel_tracer_state(k, &s);
    return s;
}

/* ---- tests ---- */

static void processes_and_threads_start_and_exit(void **state)
{
    (void)state;
    begin();
    assert_int_equal(kernel_tracer_sources(k), FLAG_PROCESS | FLAG_THREAD);
    assert_int_equal(state_of().missing, FLAG_SWITCH);
    assert_string_equal(state_of().source, "polling");
    assert_false(state_of().hides_processes);
    assert_int_equal(how_many(HOOK_PROCESS_RUNDOWN_START, BUSY), 1);
    assert_int_equal(how_many(HOOK_THREAD_RUNDOWN_START, BUSY), 1);
    const uint64_t before = (uint64_t)clock_ticks();
    add_process(NEW, "fresh", BUSY, 100000);
    add_thread(NEW, THREAD);
    set_counts(102, THREAD);
    pass_until(HOOK_THREAD_START, THREAD, 1);
    assert_int_equal(how_many(HOOK_PROCESS_START, NEW), 1);
    assert_int_equal(how_many(HOOK_THREAD_START, NEW), 1);
    assert_string_equal(first(HOOK_PROCESS_START, NEW)->name, "fresh");
    assert_int_equal(first(HOOK_PROCESS_START, NEW)->parent, BUSY);
    assert_in_range(first(HOOK_PROCESS_START, NEW)->time, before, (uint64_t)clock_ticks());
    assert_true(first(HOOK_PROCESS_START, NEW) < first(HOOK_THREAD_START, NEW));
    remove_thread(NEW, THREAD);
    set_counts(102, THREAD + 1);
    poll_everything();
    pass_until(HOOK_THREAD_END, THREAD, 1);
    assert_int_equal(how_many(HOOK_PROCESS_END, NEW), 0);
    remove_process(NEW);
    set_counts(102, THREAD + 2);
    pass_until(HOOK_PROCESS_END, NEW, 1);
    assert_int_equal(how_many(HOOK_THREAD_END, NEW), 1);
    assert_int_equal(first(HOOK_PROCESS_END, NEW)->code, UNKNOWN);
    assert_string_equal(first(HOOK_PROCESS_END, NEW)->name, "fresh");
    assert_int_equal(how_many(HOOK_PROCESS_END, BUSY), 0);
    poll_everything();
    assert_int_equal(kernel_tracer_lost(k), 0);
    for (size_t i = 1; i < count; i++)
        assert_in_range(came[i].time, came[i - 1].time, UINT64_MAX);
}

static uint64_t size_at(uint32_t at)
{
    return get_u64(counters + at);
}

/* Counters must be reported before the exit: afterwards they cannot be read. */
static void counters_are_reported_at_exit(void **state)
{
    (void)state;
    enum {
        FAULTS = 4,
        HANDLES = 8,
        PEAK = 16,
        SET_PEAK = 24,
        SIZE = 56,
        SET = 64,
        PRIVATE = 96,
        PAGE = 4096,
        KB = 1024
    };
    counted = 0;
    write_file("/77/fd/0", "");
    write_file("/77/fd/1", "");
    begin_with(&kernel_source_polling, FLAG_PROCESS | FLAG_PROCESS_COUNTERS);
    assert_int_equal(kernel_tracer_sources(k), FLAG_PROCESS | FLAG_PROCESS_COUNTERS);
    write_file("/77/status", "VmPeak: 30 kB\nVmHWM: 300 kB\nRssAnon: 11 kB\nVmSwap: 2 kB\n");
    for (int i = 0; i < 4; i++)
        assert_int_equal(kernel_tracer_pass(k, false, &sink), S_OK);
    remove_process(BUSY);
    set_counts(102, 80);
    pass_until(HOOK_PROCESS_END, BUSY, 1);
    assert_int_equal(counted, 1);
    assert_int_equal(get_u32(counters + FAULTS), 1 + 3);
    assert_int_equal(get_u32(counters + HANDLES), 2);
    assert_int_equal(size_at(PEAK), 30 * KB);
    assert_int_equal(size_at(SIZE), 5678);
    assert_int_equal(size_at(SET), 42 * PAGE);
    assert_int_equal(size_at(SET_PEAK), 300 * KB);
    assert_int_equal(size_at(PRIVATE), 13 * KB);
}

static void counters_are_reported_at_the_end_of_the_trace(void **state)
{
    (void)state;
    counted = 0;
    begin_with(&kernel_source_polling, FLAG_PROCESS_COUNTERS);
    assert_int_equal(counted, 0);
    assert_int_equal(kernel_tracer_rundown(k, true, &sink), S_OK);
    assert_int_equal(counted, 1);
}

/* A shell forks before it runs the program that users search for. */
static void a_process_is_named_after_its_program(void **state)
{
    (void)state;
    begin();
    add_process(NEW, "shell", BUSY, 100000);
    set_counts(101, NEW);
    while (!id_map_find(&k->processes, NEW)) {
        assert_int_equal(kernel_tracer_pass(k, false, &sink), S_OK);
        child_sleep(1);
    }
    write_stat(NEW, "program", BUSY, 100000);
    pass_until(HOOK_PROCESS_START, NEW, 1);
    assert_string_equal(first(HOOK_PROCESS_START, NEW)->name, "program");
}

static void an_exited_process_keeps_its_name(void **state)
{
    (void)state;
    begin();
    add_process(NEW, "short", BUSY, 100000);
    set_counts(101, NEW);
    while (!id_map_find(&k->processes, NEW)) {
        assert_int_equal(kernel_tracer_pass(k, false, &sink), S_OK);
        child_sleep(1);
    }
    remove_process(NEW);
    set_counts(101, NEW + 1);
    pass_until(HOOK_PROCESS_END, NEW, 1);
    assert_int_equal(how_many(HOOK_PROCESS_START, NEW), 1);
    assert_string_equal(first(HOOK_PROCESS_START, NEW)->name, "short");
}

/* Its parent may never reap it. */
static void a_zombie_counts_as_exited(void **state)
{
    (void)state;
    begin();
    write_state(BUSY, "busy", 'Z', 1, 1, 5000);
    set_counts(100, 80);
    poll_everything();
    pass_until(HOOK_PROCESS_END, BUSY, 1);
    assert_int_equal(how_many(HOOK_THREAD_END, BUSY), 1);
    write_state(1, "init", 'Z', 0, 2, 1); /* one of this process's other threads is running */
    add_process(NEW, "fresh", 1, 100000);
    set_counts(101, 81);
    pass_until(HOOK_PROCESS_START, NEW, 1);
    assert_int_equal(how_many(HOOK_PROCESS_END, 1), 0);
}

static void processes_between_two_polls_are_counted(void **state)
{
    (void)state;
    begin();
    add_process(NEW, "fresh", BUSY, 100000);
    set_counts(107, 86); /* seven forks, of which one is found */
    pass_until(HOOK_PROCESS_START, NEW, 1);
    poll_everything();
    assert_int_equal(kernel_tracer_lost(k), 6);
    add_process(OTHER, "other", BUSY, 100000);
    set_counts(1107, 90); /* the host OS counts a thousand forks; a container must count only its four */
    pass_until(HOOK_PROCESS_START, OTHER, 1);
    poll_everything();
    assert_int_equal(kernel_tracer_lost(k), 6 + 3);
    add_thread(OTHER, 310);
    /* The newest id grew by 220. In total, it still counts fewer starts than the fork counter. */
    set_counts(1110, 310);
    poll_everything();
    pass_until(HOOK_THREAD_START, 310, 1);
    poll_everything();
    assert_int_equal(kernel_tracer_lost(k), 6 + 3 + 219);
}

static void a_reused_number_is_another_process(void **state)
{
    (void)state;
    begin();
    remove_process(BUSY);
    add_process(BUSY, "second", 1, 100000);
    set_counts(32700, 78); /* ids wrapped around once */
    pass_until(HOOK_PROCESS_START, BUSY, 1);
    assert_int_equal(how_many(HOOK_PROCESS_END, BUSY), 1);
    assert_int_equal(how_many(HOOK_THREAD_END, BUSY), 1);
    assert_int_equal(how_many(HOOK_THREAD_START, BUSY), 1);
    assert_true(first(HOOK_PROCESS_END, BUSY) < first(HOOK_PROCESS_START, BUSY));
    assert_string_equal(first(HOOK_PROCESS_END, BUSY)->name, "busy");
    assert_string_equal(first(HOOK_PROCESS_START, BUSY)->name, "second");
}

/* hidepid: a process that becomes hidden has not exited, and one that becomes visible again has not started. */
static void hidden_processes_neither_exit_nor_start(void **state)
{
    (void)state;
    begin();
    remove_process(1);
    remove_process(2);
    remove_process(BUSY);
    add_process(NEW, "mine", 1, 100000);
    set_counts(150, 140);
    pass_until(HOOK_PROCESS_START, NEW, 1);
    assert_true(state_of().hides_processes);
    assert_int_equal(how_many(HOOK_PROCESS_END, BUSY), 0);
    assert_int_equal(how_many(HOOK_THREAD_END, BUSY), 0);
    poll_everything();
    const uint64_t lost = kernel_tracer_lost(k);
    remove_process(NEW); /* the user's own processes stay visible */
    set_counts(160, 150);
    pass_until(HOOK_PROCESS_END, NEW, 1);
    poll_everything();
    assert_int_equal(kernel_tracer_lost(k), lost);
    count = 0;
    add_process(1, "init", 0, 1);
    add_process(BUSY, "busy", 1, 5000);
    set_counts(160, 151);
    pass_until(HOOK_PROCESS_RUNDOWN_START, BUSY, 1);
    assert_false(state_of().hides_processes);
    assert_int_equal(how_many(HOOK_THREAD_RUNDOWN_START, BUSY), 1);
    assert_int_equal(how_many(HOOK_PROCESS_START, BUSY), 0);
    poll_everything();
    assert_int_equal(kernel_tracer_lost(k), lost);
}

static void proc_without_counters_is_polled(void **state)
{
    (void)state;
    kernel_root_delete(&root, "/stat");
    kernel_root_delete(&root, "/loadavg");
    kernel_root_delete(&root, "/uptime");
    begin();
    add_process(NEW, "fresh", BUSY, 100000);
    pass_until(HOOK_PROCESS_START, NEW, 1);
    poll_everything();
    assert_int_equal(kernel_tracer_lost(k), 0);
}

/* In a container, process 2 can be any program, and its children are not kernel threads. */
static void a_container_has_no_kernel_threads(void **state)
{
    (void)state;
    write_stat(2, "entry.sh", 1, 1);
    begin();
    add_process(NEW, "fresh", 2, 100000);
    set_counts(101, NEW);
    pass_until(HOOK_PROCESS_START, NEW, 1);
    assert_int_equal(first(HOOK_PROCESS_START, NEW)->parent, 2);
    assert_int_equal(how_many(HOOK_PROCESS_RUNDOWN_START, 2), 1);
}

/* ---- a source that fails ---- */

static int passes;

static HRESULT begin_well(struct kernel_tracer *tracer, const struct kernel_tracer_options *options)
{
    (void)options;
    tracer->sources = FLAG_PROCESS | FLAG_THREAD | FLAG_SWITCH;
    passes = 0;
    return S_OK;
}

static HRESULT pass_twice(struct kernel_tracer *tracer, bool last, const struct kernel_sink *to)
{
    (void)tracer, (void)last, (void)to;
    return ++passes <= 2 ? S_OK : E_FAIL;
}

static HRESULT work_until_third(struct kernel_tracer *tracer)
{
    (void)tracer;
    return error_set(HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED), "tracefs was taken away");
}

static uint64_t lose_five(const struct kernel_tracer *tracer)
{
    (void)tracer;
    return 5;
}

static HRESULT end_well(struct kernel_tracer *tracer)
{
    (void)tracer;
    return S_OK;
}

static void a_session_survives_the_loss_of_its_source(void **state)
{
    static const struct kernel_source breaks = {.name = "breaks",
                                                .begin = begin_well,
                                                .pass = pass_twice,
                                                .works = work_until_third,
                                                .lost = lose_five,
                                                .end = end_well};
    (void)state;
    begin_by(&breaks);
    assert_int_equal(state_of().missing, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(kernel_tracer_pass(k, false, &sink), S_OK);
    assert_string_equal(state_of().source, "polling");
    assert_string_equal(state_of().why, "tracefs was taken away");
    assert_int_equal(state_of().missing, FLAG_SWITCH);
    add_process(NEW, "fresh", BUSY, 100000);
    set_counts(101, NEW);
    pass_until(HOOK_PROCESS_START, NEW, 1);
    remove_process(BUSY); /* a process that the other source had reported */
    set_counts(101, NEW + 1);
    pass_until(HOOK_PROCESS_END, BUSY, 1);
    poll_everything();
    assert_int_equal(kernel_tracer_lost(k), 5);
}

/* ---- out of memory, and the real /proc ---- */

static void out_of_memory_loses_no_process(void **state)
{
    (void)state;
    begin();
    add_process(NEW, "fresh", BUSY, 100000);
    set_counts(101, NEW);
    for (uint64_t n = 1; n < 200 && how_many(HOOK_PROCESS_START, NEW) == 0; n++) {
        memory_fail_at(n);
        (void)kernel_tracer_pass(k, true, &sink);
        memory_fail_at(0);
    }
    assert_int_equal(how_many(HOOK_PROCESS_START, NEW), 1);
    poll_everything();
    assert_int_equal(kernel_tracer_lost(k), 0);
}

static void child_of_this_system_is_found(void **state)
{
    (void)state;
    size_t begins = 0, ends = 0;
    memory_free(root.root);
    root.root = NULL;
    begin();
    struct process *p = child_start("stay", "", "");
    const uint64_t from = clock_monotonic_ms();
    /* The starting program forks more than once, and all forks have its name. */
    while (p || begins != ends) {
        assert_in_range(clock_passed_ms(from, clock_monotonic_ms()), 0, CHILD_PATIENCE);
        count = 0;
        assert_int_equal(kernel_tracer_pass(k, false, &sink), S_OK);
        for (size_t i = 0; i < count; i++) {
            begins += came[i].hook == HOOK_PROCESS_START;
            ends += came[i].hook == HOOK_PROCESS_END;
        }
        if (begins != 0 && p) { /* both events arrived: the child may exit */
            assert_int_equal(process_terminate(process_id(p), process_start_time(process_id(p))), S_OK);
            process_close(p);
            p = NULL;
        }
        child_sleep(10);
    }
}

#define MADE_UP(test) cmocka_unit_test_setup_teardown(test, make_proc, remove_proc)

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        MADE_UP(processes_and_threads_start_and_exit),
        MADE_UP(counters_are_reported_at_exit),
        MADE_UP(counters_are_reported_at_the_end_of_the_trace),
        MADE_UP(a_process_is_named_after_its_program),
        MADE_UP(an_exited_process_keeps_its_name),
        MADE_UP(a_zombie_counts_as_exited),
        MADE_UP(processes_between_two_polls_are_counted),
        MADE_UP(a_reused_number_is_another_process),
        MADE_UP(hidden_processes_neither_exit_nor_start),
        MADE_UP(proc_without_counters_is_polled),
        MADE_UP(a_container_has_no_kernel_threads),
        MADE_UP(a_session_survives_the_loss_of_its_source),
        MADE_UP(out_of_memory_loses_no_process),
        MADE_UP(child_of_this_system_is_found),
    };
    child_program = arguments[0];
    if (argument_count > 3) {
        child_sleep(CHILD_PATIENCE);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Windows events that are created from Linux events. The tests send the Linux events in the forms and orders that other
   kernel versions might use. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/etw/kernel/tracepoint.h"
#include "tests/unit/kernel_process.h"

/* Process ids that this machine cannot have, so that /proc does not contain them. */
enum { LEADER = 0x7F000000, OTHER, PARENT };
enum { NEW_THREAD = 0x10000, CODE = 42, KILLED = 128 + 9, CRASHED = (int)0xC0000005, NUMBER_BYTES = 8 };

struct sent_field {
    const char *name;
    uint64_t value;
};

static struct kernel_tracer k;
static struct seen {
    size_t ends, network;
    uint32_t code;
    char name[16];
    size_t stacks, samples, intervals;
    uint64_t of_time, ip; /* time of the newest stack and sample */
    uint32_t thread, frames;
    uint64_t frame[STACK_FRAMES];
} seen;
static uint64_t now;
static uint32_t interval; /* last reported sampling interval */

static HRESULT note(void *context, const struct kernel_event *e)
{
    (void)context;
    if (e->hook == HOOK_STACK) {
        assert_true(e->has_start && e->size >= 24 && e->size % 8 == 0);
        seen.stacks++;
        seen.of_time = get_u64(e->data);
        seen.thread = get_u32(e->data + 12);
        seen.frames = (e->size - 16) / 8;
        for (uint32_t i = 0; i < seen.frames; i++)
            seen.frame[i] = get_u64(e->data + 16 + 8 * i);
    }
    if (e->hook == HOOK_SAMPLE_INTERVAL) {
        seen.intervals++;
        interval = get_u32(e->data + 4);
    }
    if (e->hook == HOOK_SAMPLE) {
        assert_int_equal(e->size, 16);
        seen.samples++;
        seen.ip = get_u64(e->data);
    }
    seen.network += e->hook >> 8 == HOOK_TCP >> 8 || e->hook >> 8 == HOOK_UDP >> 8;
    if (e->hook != HOOK_PROCESS_END)
        return S_OK;
    seen.ends++;
    seen.code = get_u32(e->data + PROCESS_CODE);
    text_fit(seen.name, sizeof seen.name, process_name(e->data, e->size));
    return S_OK;
}
static const struct kernel_sink sink = {note, NULL};

static int begin(void **state)
{
    (void)state;
    memset(&k, 0, sizeof k);
    memset(&seen, 0, sizeof seen);
    k.flags = FLAG_PROCESS | FLAG_NETWORK;
    k.processes.item_size = sizeof(struct kernel_process);
    k.threads.item_size = sizeof(struct kernel_thread);
    network_begin(&k, 64);
    fault_begin(&k);
    now = 1;
    k.host_ids = true;
    k.details.item_size = sizeof(struct process_details);
    return SUCCEEDED(stack_begin(&k, 1)) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    id_map_free(&k.processes);
    id_map_free(&k.threads);
    id_map_free(&k.sockets);
    id_map_free(&k.faults);
    process_details_free(&k);
    stack_end(&k);
    kernel_queue_free(&k.queue);
    kernel_data_free(&k.data);
    return 0;
}

static const struct tracepoint *point_of(const struct tracepoint *group, const char *name)
{
    while (group->name && strcmp(group->name, name) != 0)
        group++;
    assert_non_null(group->name);
    return group;
}

/* Sends an event of the thread; fields that are not given are missing, as on some kernels. */
static void send_event(const struct tracepoint *group, const char *name, uint32_t thread,
                       const struct sent_field *fields_sent, size_t count)
{
    uint8_t data[TRACEPOINT_FIELDS * NUMBER_BYTES] = {0};
    struct ring_field fields[TRACEPOINT_FIELDS] = {{0}};
    const struct tracepoint *point = point_of(group, name);
    for (uint16_t i = 0; i < TRACEPOINT_FIELDS && point->fields[i]; i++)
        for (size_t j = 0; j < count; j++)
            if (strcmp(fields_sent[j].name, point->fields[i]) == 0) {
                fields[i] = (struct ring_field){.offset = i * NUMBER_BYTES, .size = NUMBER_BYTES};
                put_u64(data + fields[i].offset, fields_sent[j].value);
            }
    const struct ring_event event = {.data = data, .size = sizeof data};
    const struct tracepoint_event e = {.event = &event, .fields = fields, .time = now, .thread = thread};
    stack_clear_due(&k, 0);
    assert_int_equal(point->take(&k, &e), S_OK);
}

/* Sends the stacks that follow an event: the user frames, then the kernel frames; an empty stack is not sent. */
static void send_stack(uint32_t thread, const uint64_t *user, size_t users, const uint64_t *kernel, size_t kernels)
{
    uint8_t data[16 + 8 * (STACK_FRAMES + 8)] = {0};
    const struct ring_field fields[2] = {{.offset = 8, .size = 4}, {.offset = 16, .size = 64}};
    const char *const names[] = {"user_stack", "kernel_stack"};
    for (int i = 0; i < 2; i++) {
        const uint64_t *frames = i == 0 ? user : kernel;
        const size_t count = i == 0 ? users : kernels;
        const struct ring_event event = {.data = data,
                                         .size = (uint32_t)(16 + 8 * (i == 0 ? STACK_USER_FRAMES : count))};
        const struct tracepoint_event e = {.event = &event, .fields = fields, .time = now + 1, .thread = thread};
        memset(data, 0, sizeof data);
        put_u32(data + 8, (uint32_t)count);
        for (size_t f = 0; f < count; f++)
            put_u64(data + 16 + 8 * f, frames[f]);
        if (count != 0)
            assert_int_equal(point_of(stack_tracepoints, names[i])->take(&k, &e), S_OK);
    }
}

static void task(uint32_t by, uint32_t id, uint64_t flags)
{
    const struct sent_field fields_sent[] = {{"pid", id}, {"clone_flags", flags}};
    send_event(task_tracepoints, "task_newtask", by, fields_sent, 2);
}

/* `how` is NULL on a kernel that does not report the last thread. */
static void leave(uint32_t id, const bool *how)
{
    const struct sent_field fields_sent[] = {{"pid", id}, {"group_dead", how && *how}};
    send_event(task_tracepoints, "sched_process_exit", id, fields_sent, how ? 2 : 1);
}

static void deliver(uint32_t to, uint64_t number)
{
    const struct sent_field fields_sent[] = {{"sig", number}, {"sa_handler", 0}};
    send_event(task_tracepoints, "signal_deliver", to, fields_sent, 2);
}

static void end_all(uint32_t by)
{
    const struct sent_field fields_sent = {"error_code", CODE};
    send_event(task_tracepoints, "sys_enter_exit_group", by, &fields_sent, 1);
}

static void two_threads(void)
{
    task(PARENT, LEADER, 0);
    task(LEADER, OTHER, NEW_THREAD);
}

static void both_end_with(uint32_t code)
{
    static const bool more = false, last = true;
    leave(LEADER, &more);
    leave(OTHER, &last);
    seen.ends = 0;
    assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
    assert_int_equal(seen.ends, 1);
    assert_int_equal(seen.code, code);
}

/* Linux kills a process's other threads, whatever ends the process. */
static void exit_code_comes_from_the_first_cause(void **state)
{
    (void)state;
    two_threads();
    end_all(LEADER);
    deliver(OTHER, 9);
    both_end_with(CODE);
    two_threads();
    deliver(LEADER, 11);
    deliver(OTHER, 9);
    both_end_with((uint32_t)CRASHED);
    two_threads();
    deliver(OTHER, 9);
    deliver(LEADER, 9);
    both_end_with(KILLED);
}

/* SIGCHLD, SIGTSTP and similar signals without a handler. */
static void harmless_signals_set_no_exit_code(void **state)
{
    (void)state;
    static const uint8_t harmless[] = {17, 18, 19, 20, 21, 22, 23, 28};
    for (size_t i = 0; i < sizeof harmless; i++) {
        two_threads();
        deliver(LEADER, harmless[i]);
        both_end_with(0);
        two_threads();
        deliver(LEADER, harmless[i]);
        deliver(OTHER, 11);
        both_end_with((uint32_t)CRASHED);
    }
}

/* exec kills the other threads, and the process continues. */
static void exec_resets_the_exit_code(void **state)
{
    (void)state;
    two_threads();
    deliver(OTHER, 9);
    const struct sent_field file = {"filename", 'a'};
    send_event(task_tracepoints, "sched_process_exec", LEADER, &file, 1);
    both_end_with(0);
    two_threads();
    deliver(OTHER, 9);
    send_event(task_tracepoints, "sched_process_exec", LEADER, &file, 1);
    deliver(LEADER, 11);
    both_end_with((uint32_t)CRASHED);
}

/* Reports two threads as the rundown does. */
static void find_two_threads(void)
{
    struct kernel_process *p = id_map_put(&k.processes, LEADER);
    p->threads = 2;
    for (uint32_t id = LEADER; id <= OTHER; id++) {
        struct kernel_thread *t = id_map_put(&k.threads, id);
        t->process = LEADER;
    }
}

/* The rundown found the thread before the event of its start arrived. */
static void a_thread_reported_twice_counts_once(void **state)
{
    (void)state;
    find_two_threads();
    task(LEADER, OTHER, NEW_THREAD);
    leave(OTHER, NULL);
    assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
    assert_int_equal(seen.ends, 0);
    leave(LEADER, NULL);
    assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
    assert_int_equal(seen.ends, 1);
    find_two_threads();
    two_threads();
    leave(LEADER, NULL);
    assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
    assert_int_equal(seen.ends, 1);
    leave(OTHER, NULL);
    assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
    assert_int_equal(seen.ends, 2);
}

/* A processor was paused before it reported the start. */
static void a_late_start_still_has_its_exit(void **state)
{
    (void)state;
    static const bool last = true;
    now = 20;
    leave(LEADER, &last);
    now = 10;
    task(PARENT, LEADER, 0);
    assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
    assert_int_equal(seen.ends, 1);
    now = 20;
    leave(LEADER, &last);
    now = 30; /* another process that got the number */
    task(PARENT, LEADER, 0);
    assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
    assert_int_equal(seen.ends, 1);
    leave(LEADER, &last);
    assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
    assert_int_equal(seen.ends, 2);
}

/* Facts that arrive before the start are kept: the program's name and the exit code. On kernels that do not report the
   last thread, the process ends with its first thread. */
static void a_late_start_keeps_name_and_code(void **state)
{
    (void)state;
    static const bool last = true;
    const struct sent_field file = {"filename", 'a'};
    for (int i = 0; i < 2; i++) {
        now = 20;
        send_event(task_tracepoints, "sched_process_exec", LEADER, &file, 1);
        if (i == 0)
            end_all(LEADER);
        else
            deliver(LEADER, 9);
        leave(LEADER, i == 0 ? &last : NULL);
        assert_int_equal(k.queue.count, 0);
        now = 10;
        task(PARENT, LEADER, 0);
        assert_null(id_map_find(&k.processes, LEADER));
        seen.ends = 0;
        assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
        assert_int_equal(seen.ends, 1);
        assert_int_equal(seen.code, i == 0 ? CODE : KILLED);
        assert_string_equal(seen.name, "a");
    }
}

/* The kernel lost the start event. */
static void a_lost_start_is_forgotten(void **state)
{
    (void)state;
    static const bool last = true;
    enum { MANY = 100 };
    for (uint32_t id = LEADER; id < LEADER + MANY; id++)
        leave(id, &last);
    assert_int_equal(kernel_tasks_settle(&k), S_OK);
    assert_int_equal(k.processes.count, MANY);
    k.newest = now + 11 * (uint64_t)clock_frequency();
    for (int pass = 0; pass < 2; pass++)
        assert_int_equal(kernel_tasks_settle(&k), S_OK);
    assert_int_equal(k.processes.count, 0);
}

static void a_late_thread_does_not_keep_its_process_alive(void **state)
{
    (void)state;
    task(PARENT, LEADER, 0);
    now = 20;
    leave(OTHER, NULL);
    now = 10;
    task(LEADER, OTHER, NEW_THREAD);
    now = 30;
    leave(LEADER, NULL);
    assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
    assert_int_equal(seen.ends, 1);
    assert_int_equal(k.processes.count + k.threads.count, 0);
}

static void network_events_cover_tcp_and_udp_only(void **state)
{
    (void)state;
    static const uint64_t protocols[] = {1, 6, 17, 58, 132, 262};
    static const size_t events[] = {0, 1, 1, 0, 0, 1};
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        const struct sent_field fields_sent[] = {{"sk", 4711}, {"family", 2}, {"protocol", protocols[i]}, {"ret", 64}};
        send_event(network_tracepoints, "sock_send_length", LEADER, fields_sent, 4);
        seen.network = 0;
        assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
        assert_int_equal(seen.network, events[i]);
    }
}

/* ---- stacks ---- */

#define IN_KERNEL UINT64_C(0xFFFFFFFF81000000)
enum { IN_PROGRAM = 0x401000 };

static void choose(uint32_t flags, uint16_t hook)
{
    k.flags = flags;
    stack_choose(&k, &hook, 1);
}

static void flush(void)
{
    seen = (struct seen){0};
    assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
    stack_drop_places(&k);
}

static void wake(uint32_t by)
{
    const struct sent_field fields_sent = {"pid", OTHER};
    send_event(schedule_tracepoints, "sched_wakeup", by, &fields_sent, 1);
}

static void a_selected_event_has_its_stack(void **state)
{
    (void)state;
    static const uint64_t user[] = {IN_PROGRAM, IN_PROGRAM + 8}, kernel[] = {IN_KERNEL, UINT64_MAX, IN_KERNEL + 4};
    choose(FLAG_DISPATCHER, HOOK_READY);
    now = 100;
    wake(LEADER);
    send_stack(LEADER, user, 2, kernel, 3);
    flush();
    assert_true(seen.stacks == 1 && seen.of_time == 100 && seen.thread == LEADER && seen.frames == 4);
    assert_true(seen.frame[0] == IN_KERNEL && seen.frame[1] == IN_KERNEL + 4 && seen.frame[2] == IN_PROGRAM);
    choose(FLAG_DISPATCHER, HOOK_SWITCH); /* the last event was not the selected one */
    wake(LEADER);
    send_stack(LEADER, user, 2, kernel, 3);
    flush();
    assert_int_equal(seen.stacks, 0);
}

/* If an interrupt's event came in between, or the stack belongs to another thread, the stack is dropped. */
static void an_unrelated_stack_is_dropped(void **state)
{
    (void)state;
    static const uint64_t kernel[] = {IN_KERNEL};
    const struct sent_field fields_sent[] = {{"pid", OTHER}, {"clone_flags", 0}};
    choose(FLAG_DISPATCHER | FLAG_PROCESS, HOOK_READY);
    wake(LEADER);
    send_stack(OTHER, NULL, 0, kernel, 1);
    flush();
    assert_int_equal(seen.stacks, 0);
    wake(LEADER);
    send_event(task_tracepoints, "task_newtask", LEADER, fields_sent, 2);
    send_stack(LEADER, NULL, 0, kernel, 1);
    flush();
    assert_int_equal(seen.stacks, 0);
}

static void switch_to(uint32_t old, uint32_t new, uint64_t out_state)
{
    const struct sent_field fields_sent[] = {
        {"prev_pid", old}, {"next_pid", new}, {"prev_state", out_state}, {"prev_prio", 120}};
    now += 10;
    send_event(schedule_tracepoints, "sched_switch", old, fields_sent, 4);
}

/* As on Windows, a context switch has the stack of the thread that continues, at the place where it waited. */
static void a_switch_has_the_stack_where_the_new_thread_waited(void **state)
{
    (void)state;
    static const uint64_t first[] = {IN_KERNEL + 1}, second[] = {IN_KERNEL + 2};
    choose(FLAG_SWITCH, HOOK_SWITCH);
    switch_to(LEADER, OTHER, 1);
    send_stack(LEADER, NULL, 0, first, 1);
    flush();
    assert_int_equal(seen.stacks, 0);
    switch_to(OTHER, LEADER, 1);
    send_stack(OTHER, NULL, 0, second, 1);
    flush();
    assert_true(seen.stacks == 1 && seen.thread == LEADER && seen.frame[0] == IN_KERNEL + 1 && seen.of_time == now);
    leave(OTHER, NULL);
    switch_to(LEADER, OTHER, 1); /* another thread with that id */
    send_stack(LEADER, NULL, 0, first, 1);
    flush();
    assert_int_equal(seen.stacks, 0);
}

static void a_fault_has_the_stack_of_its_start(void **state)
{
    (void)state;
    static const uint64_t kernel[] = {IN_KERNEL};
    const struct sent_field fault[] = {{"address", 4096}, {"error_code", 0}}, file[] = {{"i_ino", 7}, {"index", 1}};
    choose(FLAG_PAGE_FAULTS | FLAG_HARD_FAULTS, HOOK_FAULT_ZERO);
    now = 50;
    send_event(fault_tracepoints, "page_fault_user", LEADER, fault, 2);
    send_stack(LEADER, NULL, 0, kernel, 1);
    fault_settle_all(&k);
    flush();
    assert_true(seen.stacks == 1 && seen.of_time == 50);
    choose(k.flags, HOOK_HARD_FAULT);
    send_event(fault_tracepoints, "page_fault_user", LEADER, fault, 2);
    send_stack(LEADER, NULL, 0, kernel, 1);
    send_event(fault_tracepoints, "mm_filemap_fault", LEADER, file, 2);
    switch_to(LEADER, OTHER, 2);
    flush();
    assert_int_equal(seen.stacks, 0);
    switch_to(OTHER, LEADER, 1);
    now = 90;
    send_event(fault_tracepoints, "page_fault_user", LEADER, fault, 2); /* the first fault has ended by now */
    flush();
    assert_true(seen.stacks == 1 && seen.of_time == 90 && seen.thread == LEADER);
}

static void sample(const uint64_t *user, size_t users, const uint64_t *kernel, size_t kernels)
{
    now += k.stacks.interval;
    send_event(stack_tracepoints, "local_timer_entry", LEADER, NULL, 0);
    send_stack(LEADER, user, users, kernel, kernels);
    flush();
}

/* The frames of the interrupt itself are skipped. These are the entry, which all samples share, and the frames before
   it, which differ between user and kernel code. */
static void a_sample_has_the_interrupted_stack(void **state)
{
    (void)state;
    enum { TOP, FROM_KERNEL, FROM_PROGRAM, ENTRY, SYSTEM_CALL, OTHER_CALL, CALL_ENTRY };
    static const uint64_t user[] = {IN_PROGRAM},
                          kernel[] = {IN_KERNEL + TOP, IN_KERNEL + FROM_KERNEL, IN_KERNEL + ENTRY,
                                      IN_KERNEL + SYSTEM_CALL, IN_KERNEL + CALL_ENTRY},
                          program[] = {IN_KERNEL + TOP, IN_KERNEL + FROM_PROGRAM, IN_KERNEL + ENTRY},
                          thread[] = {IN_KERNEL + TOP, IN_KERNEL + FROM_KERNEL, IN_KERNEL + ENTRY,
                                      IN_KERNEL + OTHER_CALL};
    choose(FLAG_PROFILE, HOOK_SAMPLE);
    kernel_tracer_interval(&k, 0);
    k.stacks.interval_reported = k.stacks.interval;
    sample(user, 1, kernel, 5); /* not yet determined at the first sample */
    assert_int_equal(seen.samples, 0);
    sample(user, 1, program, 3);
    assert_true(seen.samples == 1 && seen.ip == IN_PROGRAM && seen.stacks == 1 && seen.frames == 1);
    sample(user, 1, kernel, 5);
    assert_true(seen.samples == 1 && seen.ip == IN_KERNEL + SYSTEM_CALL && seen.frames == 3 && seen.of_time == now);
    assert_true(seen.frame[0] == IN_KERNEL + SYSTEM_CALL && seen.frame[2] == IN_PROGRAM);
    sample(NULL, 0, thread, 4); /* kernel frames only */
    assert_true(seen.samples == 1 && seen.ip == IN_KERNEL + OTHER_CALL);
    sample(NULL, 0, program, 3); /* the interrupted code is unknown */
    assert_int_equal(seen.samples, 0);
}

/* Timer events also occur between the timer's ticks, to wake sleeping threads. These are not samples. */
static void one_sample_per_interval(void **state)
{
    (void)state;
    static const uint64_t user[] = {IN_PROGRAM}, kernel[] = {IN_KERNEL, IN_KERNEL + 1}, other[] = {IN_KERNEL};
    enum { STEP = 10000, STEPS = 400, FOURTH = 4 * KERNEL_PROFILE_100NS };
    size_t samples = 0, intervals = 0;
    choose(FLAG_PROFILE, HOOK_SWITCH);
    kernel_tracer_interval(&k, 0);
    k.stacks.interval_reported = k.stacks.interval;
    sample(user, 1, kernel, 2);
    for (int i = 0; i < 2 * STEPS; i++) {
        if (i == STEPS)
            kernel_tracer_interval(&k, FOURTH);
        now += STEP;
        send_event(stack_tracepoints, "local_timer_entry", LEADER, NULL, 0);
        send_stack(LEADER, user, 1, i % 2 ? kernel : other, i % 2 ? 2 : 1);
        flush();
        samples += seen.samples;
        intervals += seen.intervals;
    }
    assert_in_range(samples, STEPS / 4 + STEPS / 16 - 2, STEPS / 4 + STEPS / 16 + 2);
    assert_int_equal(intervals, 1); /* reports that the interval has changed */
    assert_int_equal(interval, FOURTH);
}

/* Tests a record that claims more frames than it contains, and a record full of frames. */
static void stacks_are_read_within_their_records(void **state)
{
    (void)state;
    uint64_t frames[STACK_FRAMES + 4];
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        frames[i] = IN_KERNEL + i;
    choose(FLAG_DISPATCHER, HOOK_READY);
    wake(LEADER);
    send_stack(LEADER, NULL, 0, frames, sizeof frames / sizeof *frames);
    flush();
    assert_true(seen.stacks == 1 && seen.frames == STACK_FRAMES);
    uint8_t data[32] = {[8] = 200};
    put_u64(data + 16, IN_KERNEL);
    put_u64(data + 24, IN_KERNEL);
    const struct ring_field fields[2] = {{.offset = 8, .size = 4}, {.offset = 16, .size = 64}};
    const struct ring_event event = {.data = data, .size = 28};
    const struct tracepoint_event e = {.event = &event, .fields = fields, .time = now, .thread = LEADER};
    wake(LEADER);
    assert_int_equal(point_of(stack_tracepoints, "kernel_stack")->take(&k, &e), S_OK);
    flush();
    assert_true(seen.stacks == 1 && seen.frames == 1);
}

/* The kernel lists addresses and adapters separately: an address belongs to the adapter with the narrowest route to
   it. */
static void addresses_are_found_with_their_adapters(void **state)
{
    static const char trie[] = "Main:\n     +-- 127.0.0.0/31 1 0 0\n        |-- 127.0.0.1\n           /32 host LOCAL\n"
                               "        |-- 192.0.2.2\n           /32 host LOCAL\n        |-- 192.0.2.255\n"
                               "           /32 link BROADCAST\n        |-- 192.0.2.20\n           /32 host LOCAL\n"
                               "        |-- 10.1.2.3\n           /32 host LOCAL\nLocal:\n        |-- 192.0.2.2\n"
                               "           /32 host LOCAL\n        |-- 999.1.1.1\n           /32 host LOCAL\n";
    static const char routes[] = "Iface\tDestination\tGateway\n"
                                 "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
                                 "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
                                 "eth1\t0000010A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n";
    static const char table[] = "fd000000000000000000000000000002 04 40 00 82     eth0\nshort 01 80 10 80 eth0\n";
    static const struct {
        const char *name, *addresses;
    } rows[] = {{"eth0", "192.0.2.2;192.0.2.20;fd00:0000:0000:0000:0000:0000:0000:0002"},
                {"eth1", "10.1.2.3"},
                {"lo", "127.0.0.1"},
                {"none", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text_buffer b = {0};
        adapter_ipv4(trie, routes, rows[i].name, &b);
        adapter_ipv6(table, rows[i].name, &b);
        adapter_ipv4(NULL, NULL, rows[i].name, &b);
        text_buffer_add(&b, "");
        char *found = text_buffer_take(&b);
        assert_string_equal(found, rows[i].addresses);
        memory_free(found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(exit_code_comes_from_the_first_cause, begin, end),
        cmocka_unit_test_setup_teardown(harmless_signals_set_no_exit_code, begin, end),
        cmocka_unit_test_setup_teardown(exec_resets_the_exit_code, begin, end),
        cmocka_unit_test_setup_teardown(a_thread_reported_twice_counts_once, begin, end),
        cmocka_unit_test_setup_teardown(a_late_start_still_has_its_exit, begin, end),
        cmocka_unit_test_setup_teardown(a_late_start_keeps_name_and_code, begin, end),
        cmocka_unit_test_setup_teardown(a_late_thread_does_not_keep_its_process_alive, begin, end),
        cmocka_unit_test_setup_teardown(a_lost_start_is_forgotten, begin, end),
        cmocka_unit_test_setup_teardown(network_events_cover_tcp_and_udp_only, begin, end),
        cmocka_unit_test_setup_teardown(a_selected_event_has_its_stack, begin, end),
        cmocka_unit_test_setup_teardown(an_unrelated_stack_is_dropped, begin, end),
        cmocka_unit_test_setup_teardown(a_switch_has_the_stack_where_the_new_thread_waited, begin, end),
        cmocka_unit_test_setup_teardown(a_fault_has_the_stack_of_its_start, begin, end),
        cmocka_unit_test_setup_teardown(a_sample_has_the_interrupted_stack, begin, end),
        cmocka_unit_test_setup_teardown(one_sample_per_interval, begin, end),
        cmocka_unit_test(addresses_are_found_with_their_adapters),
        cmocka_unit_test_setup_teardown(stacks_are_read_within_their_records, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

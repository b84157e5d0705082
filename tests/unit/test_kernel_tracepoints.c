/* SPDX-License-Identifier: MIT */
/* What is made of Linux' events, told here as kernels of other versions, and at other moments, would tell them. */
#include "engine/kernel/tracepoint.h"
#include "tests/unit/kernel_process.h"

/* Ids beyond any of this machine, so that /proc knows none. */
enum { LEADER = 0x7F000000, OTHER, PARENT };
enum { NEW_THREAD = 0x10000, CODE = 42, KILLED = 128 + 9, CRASHED = (int)0xC0000005, NUMBER_BYTES = 8 };

struct told {
    const char *name;
    uint64_t value;
};

static struct kernel_tracer k;
static struct seen {
    size_t ends, network;
    uint32_t code;
} seen;

static HRESULT note(void *context, const struct kernel_event *e)
{
    (void)context;
    seen.network += e->hook >> 8 == HOOK_TCP >> 8 || e->hook >> 8 == HOOK_UDP >> 8;
    if (e->hook != HOOK_PROCESS_END)
        return S_OK;
    seen.ends++;
    seen.code = get_u32(e->data + PROCESS_CODE);
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
    return 0;
}

static int end(void **state)
{
    (void)state;
    id_map_free(&k.processes);
    id_map_free(&k.threads);
    id_map_free(&k.sockets);
    id_map_free(&k.faults);
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

/* An event of that thread; fields that are not told this kernel does not have. */
static void tell(const struct tracepoint *group, const char *name, uint32_t thread, const struct told *told,
                 size_t count)
{
    uint8_t data[TRACEPOINT_FIELDS * NUMBER_BYTES] = {0};
    struct ring_field fields[TRACEPOINT_FIELDS] = {{0}};
    const struct tracepoint *point = point_of(group, name);
    for (uint16_t i = 0; i < TRACEPOINT_FIELDS && point->fields[i]; i++)
        for (size_t j = 0; j < count; j++)
            if (strcmp(told[j].name, point->fields[i]) == 0) {
                fields[i] = (struct ring_field){.offset = i * NUMBER_BYTES, .size = NUMBER_BYTES};
                put_u64(data + fields[i].offset, told[j].value);
            }
    const struct ring_event event = {.data = data, .size = sizeof data};
    const struct tracepoint_event e = {.event = &event, .fields = fields, .time = 1, .thread = thread};
    assert_int_equal(point->take(&k, &e), S_OK);
}

static void task(uint32_t by, uint32_t id, uint64_t flags)
{
    const struct told told[] = {{"pid", id}, {"clone_flags", flags}};
    tell(task_tracepoints, "task_newtask", by, told, 2);
}

/* `how` NULL: a kernel that does not say whether it was the last. */
static void leave(uint32_t id, const bool *how)
{
    const struct told told[] = {{"pid", id}, {"group_dead", how && *how}};
    tell(task_tracepoints, "sched_process_exit", id, told, how ? 2 : 1);
}

static void deliver(uint32_t to, uint64_t number)
{
    const struct told told[] = {{"sig", number}, {"sa_handler", 0}};
    tell(task_tracepoints, "signal_deliver", to, told, 2);
}

static void end_all(uint32_t by)
{
    const struct told told = {"error_code", CODE};
    tell(task_tracepoints, "sys_enter_exit_group", by, &told, 1);
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

/* Whoever ends a process, Linux kills its other threads. */
static void the_code_is_that_of_who_ended_it(void **state)
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

/* SIGCHLD, SIGTSTP and the like, without a handler. */
static void a_signal_that_ends_nothing_gives_no_code(void **state)
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

/* The other threads are killed for that, and the process goes on. */
static void a_new_program_ends_with_its_own_code(void **state)
{
    (void)state;
    two_threads();
    deliver(OTHER, 9);
    const struct told file = {"filename", 'a'};
    tell(task_tracepoints, "sched_process_exec", LEADER, &file, 1);
    both_end_with(0);
    two_threads();
    deliver(OTHER, 9);
    tell(task_tracepoints, "sched_process_exec", LEADER, &file, 1);
    deliver(LEADER, 11);
    both_end_with((uint32_t)CRASHED);
}

/* As the rundown does. */
static void find_two_threads(void)
{
    struct kernel_process *p = id_map_put(&k.processes, LEADER);
    p->threads = 2;
    for (uint32_t id = LEADER; id <= OTHER; id++) {
        struct kernel_thread *t = id_map_put(&k.threads, id);
        t->process = LEADER;
    }
}

/* Found when the session began, while the event of their beginning was still to come. */
static void a_thread_that_is_told_of_twice_counts_once(void **state)
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

static void only_tcp_and_udp_are_of_the_network(void **state)
{
    (void)state;
    static const uint64_t protocols[] = {1, 6, 17, 58, 132, 262};
    static const size_t events[] = {0, 1, 1, 0, 0, 1};
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        const struct told told[] = {{"sk", 4711}, {"family", 2}, {"protocol", protocols[i]}, {"ret", 64}};
        tell(network_tracepoints, "sock_send_length", LEADER, told, 4);
        seen.network = 0;
        assert_int_equal(kernel_queue_flush(&k.queue, &sink), S_OK);
        assert_int_equal(seen.network, events[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_code_is_that_of_who_ended_it, begin, end),
        cmocka_unit_test_setup_teardown(a_signal_that_ends_nothing_gives_no_code, begin, end),
        cmocka_unit_test_setup_teardown(a_new_program_ends_with_its_own_code, begin, end),
        cmocka_unit_test_setup_teardown(a_thread_that_is_told_of_twice_counts_once, begin, end),
        cmocka_unit_test_setup_teardown(only_tcp_and_udp_are_of_the_network, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

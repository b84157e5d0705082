/* SPDX-License-Identifier: MIT */
/* The process list of the host OS. The test writes the kernel files and checks when the folder /proc is listed again.
   If it was listed too rarely, every log would lack a process. A needless listing costs more than the rest of the
   sample. */
#include "engine/pdh/objects/process_list.h"
#include "tests/unit/kernel_root.h"

static struct kernel_root root;
static void *list;
static const struct process_entry *entries;
static uint32_t figures = PROCESS_USE;

static void write_process(unsigned id, unsigned start)
{
    char *path = text_format("/proc/%u/stat", id);
    char *text =
        text_format("%u (p%u) S 3 1 1 0 -1 4194560 1 2 3 4 50 60 0 0 20 0 1 0 %u 5678 42 0 1 1\n", id, id, start);
    kernel_root_write(&root, path, text);
    memory_free(path);
    memory_free(text);
}

static size_t read_all(void)
{
    size_t count;
    assert_int_equal(process_lister_host.read(list, figures, &entries, &count), S_OK);
    return count;
}

/* Reads until /proc need not be listed again. */
static size_t settle(void)
{
    read_all();
    return read_all();
}

static int open_list(void **state)
{
    (void)state;
    root = kernel_root_create("test_pdh_host_processes");
    kernel_root_write(&root, "/proc/loadavg", "0.10 0.20 0.30 1/80 100\n");
    return FAILED(process_lister_host.open(root.root, &list));
}

static int close_list(void **state)
{
    (void)state;
    process_lister_host.close(list);
    kernel_root_remove(&root);
    return 0;
}

static void new_ids_are_found(void **state)
{
    (void)state;
    assert_int_equal(settle(), 1);
    write_process(103, 5);
    assert_int_equal(read_all(), 1); /* the kernel reports that no process has started */
    kernel_root_write(&root, "/proc/loadavg", "0.10 0.20 0.30 1/81 103\n");
    assert_int_equal(read_all(), 2);
    assert_int_equal(entries[1].id, 103);
    write_process(102, 6); /* became visible a little after its id was assigned */
    assert_int_equal(read_all(), 3);
    write_process(101, 7);
    assert_int_equal(read_all(), 3);
    /* new ids with one digit more, while others exist already */
    write_process(1004, 8);
    kernel_root_write(&root, "/proc/loadavg", "0.10 0.20 0.30 1/81 1004\n");
    assert_int_equal(read_all(), 4);
    assert_int_equal(entries[3].id, 1004);
    /* ids start over with small numbers */
    write_process(5, 9);
    kernel_root_write(&root, "/proc/loadavg", "0.10 0.20 0.30 1/81 5\n");
    assert_int_equal(read_all(), 6);
    assert_int_equal(entries[0].id, 5);
    write_process(3, 9);
    assert_int_equal(read_all(), 7);
    write_process(1005, 9);
    assert_int_equal(read_all(), 7);
}

static void exited_process_disappears_immediately(void **state)
{
    (void)state;
    write_process(78, 5);
    assert_int_equal(settle(), 2);
    kernel_root_write(&root, "/proc/78/stat", ""); /* after the exit, an open handle reads nothing */
    assert_int_equal(read_all(), 1);
    assert_int_equal(entries[0].id, 77);
    /* the next read must find it: the file may have been unreadable only once */
    write_process(78, 5);
    assert_int_equal(read_all(), 2);
    kernel_root_write(&root, "/proc/78/stat", "");
    assert_int_equal(read_all(), 1);
    assert_int_equal(read_all(), 1);
    write_process(78, 5); /* a new process with that id, but the kernel reports no new process */
    assert_int_equal(read_all(), 1);
}

static void unknown_last_id_lists_the_folder(void **state)
{
    (void)state;
    static const char *const others[] = {"", "x\n", "0.10 0.20 0.30 1/80 -\n"};
    for (unsigned i = 0; i < 3; i++) {
        kernel_root_write(&root, "/proc/loadavg", others[i]);
        assert_int_equal(read_all(), i + 1);
        write_process(78 + i, 5);
        assert_int_equal(read_all(), i + 2);
    }
}

/* If only the numbers of processes and threads are requested, no values are read, but each start and exit must be
   noticed. */
static void counting_notices_every_change(void **state)
{
    (void)state;
    figures = 0;
    assert_int_equal(settle(), 1);
    kernel_root_write(&root, "/proc/77/stat", "");
    assert_int_equal(read_all(), 1); /* the kernel reports that no process has exited */
    kernel_root_write(&root, "/proc/loadavg", "0.10 0.20 0.30 1/79 100\n");
    assert_int_equal(read_all(), 0);
    write_process(77, 1);
    kernel_root_write(&root, "/proc/loadavg", "0.10 0.20 0.30 1/80 101\n");
    assert_int_equal(read_all(), 1);
    assert_int_equal(entries[0].threads, 1);
    kernel_root_write(&root, "/proc/77/stat",
                      "77 (p) S 3 1 1 0 -1 4194560 1 2 3 4 50 60 0 0 20 0 9 0 1 5678 42 0 1 1\n");
    kernel_root_write(&root, "/proc/loadavg", "0.10 0.20 0.30 1/88 109\n");
    assert_int_equal(read_all(), 1);
    assert_int_equal(entries[0].threads, 9);
    /* All values are available as soon as a caller requests them. */
    kernel_root_write(&root, "/proc/77/stat",
                      "77 (p) S 3 1 1 0 -1 4194560 1 2 3 4 70 60 0 0 20 0 9 0 1 5678 42 0 1 1\n");
    figures = PROCESS_USE;
    assert_int_equal(read_all(), 1);
    assert_int_equal(entries[0].user_time, 70 * 100000);
}

static void write_running(unsigned id, unsigned parent, char state, unsigned flags, unsigned user, unsigned threads,
                          const char *run_time)
{
    char *path = text_format("/proc/%u/stat", id), *counted = text_format("/proc/%u/schedstat", id);
    char *text = text_format("%u (p) %c %u 1 1 0 -1 %u 1 2 3 4 %u 60 0 0 20 0 %u 0 5 40960 10 0 1 1\n", id, state,
                             parent, flags, user, threads);
    kernel_root_write(&root, path, text);
    kernel_root_write(&root, counted, run_time);
    memory_free(path);
    memory_free(counted);
    memory_free(text);
}

enum { OF_KERNEL = 2129984, OF_PROGRAM = 4194560 };

/* Reads so often that the list knows that the process is idle. */
static void settle_idle(void)
{
    for (int i = 0; i < 4; i++)
        read_all();
}

static unsigned user_ticks(size_t at)
{
    read_all();
    return (unsigned)(entries[at].user_time / 100000);
}

/* Most processes are kernel threads. While a kernel thread does not run, its files need not be read. */
static void idle_kernel_thread_keeps_its_values(void **state)
{
    (void)state;
    write_running(78, 2, 'I', OF_KERNEL, 50, 1, "5000 7 3\n");
    settle_idle();
    write_running(78, 2, 'I', OF_KERNEL, 51, 1, "5000 9 3\n"); /* it has waited, but not run */
    assert_int_equal(user_ticks(1), 50);
    write_running(78, 2, 'I', OF_KERNEL, 51, 1, "5001 9 3\n");
    assert_int_equal(user_ticks(1), 51);
    write_running(78, 2, 'I', OF_KERNEL, 52, 1, "5001 9 4\n");
    assert_int_equal(user_ticks(1), 52);
    figures = PROCESS_USE | PROCESS_IO; /* a group of values that was not read before */
    kernel_root_write(&root, "/proc/78/io", "rchar: 6\nwchar: 5\nsyscr: 4\nsyscw: 3\n");
    read_all();
    assert_int_equal(entries[1].read_bytes, 6);
    figures = PROCESS_USE;
}

/* While a thread runs, the kernel may report values that are older than its run time. If a process has several threads,
   another one may be running. */
static void processes_that_may_run_are_read_each_time(void **state)
{
    (void)state;
    static const struct {
        char state;
        unsigned threads;
        const char *run_time;
    } running[] = {
        {'R', 1, "5000 7 3\n"}, {'S', 2, "5000 7 3\n"}, {'S', 1, "0 0 0\n"}, {'S', 1, ""}, {'S', 1, "5000\n"}};
    for (size_t i = 0; i < sizeof running / sizeof *running; i++) {
        write_running(78, 2, running[i].state, OF_KERNEL, 50, running[i].threads, running[i].run_time);
        kernel_root_write(&root, "/proc/loadavg", "x\n"); /* forces a listing of the folder each time */
        settle_idle();
        write_running(78, 2, running[i].state, OF_KERNEL, 51, running[i].threads, running[i].run_time);
        assert_int_equal(user_ticks(1), 51);
        kernel_root_write(&root, "/proc/78/stat", "");
        assert_int_equal(read_all(), 1);
    }
}

/* While a program is idle, other programs may take some of its memory, and its parent may exit. */
static void idle_program_is_read_when_others_change_it(void **state)
{
    (void)state;
    write_running(78, 77, 'S', OF_PROGRAM, 50, 1, "5000 7 3\n");
    kernel_root_write(&root, "/proc/78/statm", "10 10 1 1 0 1 0\n");
    settle_idle();
    write_running(78, 77, 'S', OF_PROGRAM, 51, 1, "5000 7 3\n");
    assert_int_equal(user_ticks(1), 50);
    kernel_root_write(&root, "/proc/78/statm", "10 9 1 1 0 1 0\n");
    assert_int_equal(user_ticks(1), 51);
    kernel_root_write(&root, "/proc/78/statm", "10 10 1 1 0 1 0\n");
    assert_int_equal(user_ticks(1), 51);
    write_running(78, 1, 'S', OF_PROGRAM, 52, 1, "5000 7 3\n");
    assert_int_equal(user_ticks(1), 51);
    kernel_root_write(&root, "/proc/77/stat", ""); /* its parent exits */
    assert_int_equal(user_ticks(0), 52);
    assert_int_equal(entries[0].parent, 1);
}

/* After the parent exits, its id may still exist: it may be a zombie, or a new process may have the id. */
static void idle_program_gets_a_new_parent_when_the_old_one_exits(void **state)
{
    (void)state;
    static const char *const parents[] = {"77 (some) Z 3 77 77 0 -1 4194560 1 2 3 4 50 60 0 0 20 0 1 0 1234 0 0 0\n",
                                          "77 (new) S 3 77 77 0 -1 4194560 1 2 3 4 0 0 0 0 20 0 1 0 1235 5678 42 0\n"};
    kernel_root_write(&root, "/proc/78/statm", "10 10 1 1 0 1 0\n");
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
        write_process(77, 1234);
        write_running(78, 77, 'S', OF_PROGRAM, 50, 1, "5000 7 3\n");
        settle_idle();
        write_running(78, 1, 'S', OF_PROGRAM, 50, 1, "5000 7 3\n");
        read_all();
        assert_int_equal(entries[1].parent, 77); /* the program's files were not read */
        kernel_root_write(&root, "/proc/77/stat", parents[i]);
        assert_int_equal(read_all(), 2);
        assert_int_equal(entries[1].parent, 1);
    }
}

/* The last id, in /proc/loadavg, may be from another PID namespace than the ids in /proc. */
static void missed_process_is_found_later(void **state)
{
    (void)state;
    assert_int_equal(settle(), 1);
    write_process(78, 5);
    unsigned readings = 1;
    while (readings < 100 && read_all() == 1)
        readings++;
    assert_in_range(readings, 2, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(new_ids_are_found, open_list, close_list),
        cmocka_unit_test_setup_teardown(exited_process_disappears_immediately, open_list, close_list),
        cmocka_unit_test_setup_teardown(unknown_last_id_lists_the_folder, open_list, close_list),
        cmocka_unit_test_setup_teardown(counting_notices_every_change, open_list, close_list),
        cmocka_unit_test_setup_teardown(idle_kernel_thread_keeps_its_values, open_list, close_list),
        cmocka_unit_test_setup_teardown(processes_that_may_run_are_read_each_time, open_list, close_list),
        cmocka_unit_test_setup_teardown(idle_program_is_read_when_others_change_it, open_list, close_list),
        cmocka_unit_test_setup_teardown(idle_program_gets_a_new_parent_when_the_old_one_exits, open_list, close_list),
        cmocka_unit_test_setup_teardown(missed_process_is_found_later, open_list, close_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

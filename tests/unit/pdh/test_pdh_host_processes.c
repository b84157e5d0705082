/* SPDX-License-Identifier: MIT */
/* The list of the processes of the host OS, over files that this test writes: which readings list the folder again. A
   process that is missed is missing in every log; a needless listing costs more than the rest of the sample. */
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

/* Reads until the folder need not be listed again. */
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

static void new_id_lists_the_folder(void **state)
{
    (void)state;
    assert_int_equal(settle(), 1);
    write_process(78, 5);
    assert_int_equal(read_all(), 1); /* the kernel reports that none has started */
    kernel_root_write(&root, "/proc/loadavg", "0.10 0.20 0.30 1/81 101\n");
    assert_int_equal(read_all(), 2);
    assert_int_equal(entries[1].id, 78);
    write_process(79, 6); /* became visible a little later than its id was assigned */
    assert_int_equal(read_all(), 3);
    write_process(80, 7);
    assert_int_equal(read_all(), 3);
}

static void exited_process_disappears_at_once(void **state)
{
    (void)state;
    write_process(78, 5);
    assert_int_equal(settle(), 2);
    kernel_root_write(&root, "/proc/78/stat", ""); /* as an open handle reads it */
    assert_int_equal(read_all(), 1);
    assert_int_equal(entries[0].id, 77);
    /* it may have been unreadable only this once */
    write_process(78, 5);
    assert_int_equal(read_all(), 2);
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

/* Counting only processes and threads must notice each start and exit, and cost no more. */
static void counting_notices_every_change(void **state)
{
    (void)state;
    figures = 0;
    assert_int_equal(settle(), 1);
    kernel_root_write(&root, "/proc/77/stat", "");
    assert_int_equal(read_all(), 1); /* the kernel reports that none has exited */
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
    /* All values are available as soon as they are requested. */
    kernel_root_write(&root, "/proc/77/stat",
                      "77 (p) S 3 1 1 0 -1 4194560 1 2 3 4 70 60 0 0 20 0 9 0 1 5678 42 0 1 1\n");
    figures = PROCESS_USE;
    assert_int_equal(read_all(), 1);
    assert_int_equal(entries[0].user_time, 70 * 100000);
}

/* /proc may belong to another PID namespace than the last id. */
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
        cmocka_unit_test_setup_teardown(new_id_lists_the_folder, open_list, close_list),
        cmocka_unit_test_setup_teardown(exited_process_disappears_at_once, open_list, close_list),
        cmocka_unit_test_setup_teardown(unknown_last_id_lists_the_folder, open_list, close_list),
        cmocka_unit_test_setup_teardown(counting_notices_every_change, open_list, close_list),
        cmocka_unit_test_setup_teardown(missed_process_is_found_later, open_list, close_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

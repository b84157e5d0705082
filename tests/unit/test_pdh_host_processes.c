/* SPDX-License-Identifier: MIT */
/* The list of the host's processes, over files that this test writes: which readings list the folder anew. A process
   that is missed is missing in every log; one listed for nothing costs more than all the rest of a sample. */
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

static void the_folder_is_listed_when_an_id_was_given(void **state)
{
    (void)state;
    assert_int_equal(settle(), 1);
    write_process(78, 5);
    assert_int_equal(read_all(), 1); /* the kernel says that none has begun */
    kernel_root_write(&root, "/proc/loadavg", "0.10 0.20 0.30 1/81 101\n");
    assert_int_equal(read_all(), 2);
    assert_int_equal(entries[1].id, 78);
    write_process(79, 6); /* was shown a little later than its id was given */
    assert_int_equal(read_all(), 3);
    write_process(80, 7);
    assert_int_equal(read_all(), 3);
}

static void what_has_ended_is_gone_at_once(void **state)
{
    (void)state;
    write_process(78, 5);
    assert_int_equal(settle(), 2);
    kernel_root_write(&root, "/proc/78/stat", ""); /* as a kept handle of it reads */
    assert_int_equal(read_all(), 1);
    assert_int_equal(entries[0].id, 77);
    /* It may have been unreadable for this once only. */
    write_process(78, 5);
    assert_int_equal(read_all(), 2);
}

static void what_cannot_be_told_is_listed(void **state)
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

/* Who only counts processes and threads must see each that begins or ends, and pays for no more. */
static void counting_reads_what_has_changed(void **state)
{
    (void)state;
    figures = 0;
    assert_int_equal(settle(), 1);
    kernel_root_write(&root, "/proc/77/stat", "");
    assert_int_equal(read_all(), 1); /* the kernel says that none has ended */
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
    /* All figures are there as soon as they are asked for. */
    kernel_root_write(&root, "/proc/77/stat",
                      "77 (p) S 3 1 1 0 -1 4194560 1 2 3 4 70 60 0 0 20 0 9 0 1 5678 42 0 1 1\n");
    figures = PROCESS_USE;
    assert_int_equal(read_all(), 1);
    assert_int_equal(entries[0].user_time, 70 * 100000);
}

/* /proc may be another world's than the one whose last id we read. */
static void none_is_missed_for_long(void **state)
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
        cmocka_unit_test_setup_teardown(the_folder_is_listed_when_an_id_was_given, open_list, close_list),
        cmocka_unit_test_setup_teardown(what_has_ended_is_gone_at_once, open_list, close_list),
        cmocka_unit_test_setup_teardown(what_cannot_be_told_is_listed, open_list, close_list),
        cmocka_unit_test_setup_teardown(counting_reads_what_has_changed, open_list, close_list),
        cmocka_unit_test_setup_teardown(none_is_missed_for_long, open_list, close_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

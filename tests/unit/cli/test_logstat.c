/* SPDX-License-Identifier: MIT */
/* openpla logstat with a log that another process changes while it is read. Linked with --wrap for log_reader_seek. */
#include "cli/cli.h"
#include "engine/logs/log.h"
#include "tests/unit/scratch_folder.h"

#include <fcntl.h>
#include <unistd.h>

#define SECOND INT64_C(10000000)
#define START  INT64_C(132590000000000000)

static char *log_path;

HRESULT __real_log_reader_seek(struct log_reader *r, int64_t utc);
HRESULT __wrap_log_reader_seek(struct log_reader *r, int64_t utc);

/* Gives the log's counter another name in the file, as a collector does that starts again and overwrites its log. */
HRESULT __wrap_log_reader_seek(struct log_reader *r, int64_t utc)
{
    static const char before[] = "F\0r\0e\0e", after[] = "U\0s\0e\0d";
    char *bytes;
    size_t size, at = 0;
    struct file *f;
    assert_int_equal(file_load(log_path, 1 << 20, &bytes, &size), S_OK);
    while (at + sizeof before <= size && memcmp(bytes + at, before, sizeof before) != 0)
        at++;
    assert_true(at + sizeof before <= size);
    assert_int_equal(file_open(log_path, FILE_APPEND, &f), S_OK);
    assert_int_equal(file_write_at(f, at, after, sizeof after), S_OK);
    file_close(f);
    memory_free(bytes);
    return __real_log_reader_seek(r, utc);
}

static int make_log(void **state)
{
    static const struct log_counter counter = {
        .machine = "\\\\BOX", .object = "Memory", .counter = "Free", .type = 0x10000};
    static const int64_t seconds[] = {0, 1, 2, 9, 10}; /* a gap makes logstat read the log a second time */
    const struct log_cell cell = {.raw = {.first = 1, .multi_count = 1}};
    struct log_writer *w;
    *state = scratch_create("test_logstat");
    log_path = path_join(*state, "a.blg");
    if (!log_path || FAILED(log_writer_create(LOG_BINARY, log_path, &counter, 1, START, NULL, &w)))
        return -1;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        if (log_writer_append(w, START + seconds[i] * SECOND, &cell) != S_OK)
            return -1;
    return FAILED(log_writer_close(w)) ? -1 : 0;
}

static int remove_log(void **state)
{
    memory_free(log_path);
    return scratch_end(state);
}

/* Returns the output of "openpla logstat LOG -c", from memory_alloc. */
static char *shown_counters(const char *folder)
{
    char list[] = "-c", *words[] = {log_path, list}, *text = NULL, *path = path_join(folder, "out");
    size_t size;
    assert_non_null(path);
    fflush(stdout);
    const int shown = dup(1), out = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(dup2(out, 1), 1);
    const int code = verb_logstat.run(2, words);
    fflush(stdout);
    dup2(shown, 1);
    close(shown);
    close(out);
    assert_int_equal(code, CLI_DONE);
    assert_int_equal(file_load(path, 1 << 20, &text, &size), S_OK);
    memory_free(path);
    return text;
}

/* Otherwise the program ends, or shows numbers from foreign memory, while a collector overwrites the log. */
static void a_counter_that_appears_in_the_second_reading_is_shown(void **state)
{
    char *text = shown_counters(*state);
    assert_non_null(strstr(text, "\nCounters:   2\n  \\\\BOX\\Memory\\Free\n  \\\\BOX\\Memory\\Used\n"));
    memory_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_that_appears_in_the_second_reading_is_shown),
    };
    return cmocka_run_group_tests(tests, make_log, remove_log);
}

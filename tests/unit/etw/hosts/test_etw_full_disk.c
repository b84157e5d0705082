/* SPDX-License-Identifier: MIT */
/* A trace session whose disk is full continues in memory, counts its losses, and writes again when space is available.
   If no file system can be mounted, only the test without one runs. */
#include "tests/unit/controller_fixture.h"

#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>

enum { SKIPPED = 77 };
static char *folder;
static bool mounted;

enum { FULL_AT = 1 << 20, MAXIMUM_MB = 8 };

/* Two ways to fill a disk and free its space again: a file size limit for the host process, and a small file system
   that other files fill. */
static void limit_host(pid_t host, const char *path, bool full)
{
    const struct rlimit limit = {full ? FULL_AT : RLIM_INFINITY, RLIM_INFINITY};
    (void)path;
    assert_int_equal(prlimit(host, RLIMIT_FSIZE, &limit, NULL), 0);
}

static void fill_disk(pid_t host, const char *path, bool full)
{
    static const char filling[65536] = {1};
    char *ballast = text_format("%s.ballast", path);
    (void)host;
    if (full) {
        FILE *f = fopen(ballast, "wb");
        assert_non_null(f);
        setbuf(f, NULL);
        while (fwrite(filling, 1, sizeof filling, f) == sizeof filling)
            ;
        (void)fclose(f);
    } else {
        assert_int_equal(file_delete(ballast), S_OK);
    }
    memory_free(ballast);
}

static void outlive_full_disk(const char *where, void (*set_full)(pid_t host, const char *path, bool full))
{
    const unsigned failed = journal_count(9103), again = journal_count(9104);
    char *path = path_join(where, "full.etl");
    struct block b = block_of(TRACE_MODE_SEQUENTIAL, path);
    struct provider p;
    TRACEHANDLE handle;
    b.p.MaximumFileSize = MAXIMUM_MB;
    assert_int_equal(start_session("full", &b, &handle), ERROR_SUCCESS);
    struct directory_session s = session_of_handle(handle);
    set_full((pid_t)s.host.id, path, true);
    provider_open(handle, &p);
    for (int i = 0; i < 400; i++) {
        assert_true(provider_write(&p, 50));
        child_sleep(1);
    }
    (void)control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_DISK_FULL);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_true(b.p.LogBuffersLost > 0);
    set_full((pid_t)s.host.id, path, false);
    assert_true(provider_write(&p, 1000));
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_true(b.p.LogBuffersLost > 0);
    const struct log_sums sums = read_log(path);
    assert_int_equal(sums.last, p.written - 1);
    assert_true(sums.events < p.written);
    assert_int_equal(sums.buffers_lost, b.p.LogBuffersLost);
    assert_int_equal(journal_count(9103), failed + 1);
    assert_int_equal(journal_count(9104), again + 1);
    print_message("%llu of %llu events lost in %u buffers\n", (unsigned long long)(p.written - sums.events),
                  (unsigned long long)p.written, (unsigned)sums.buffers_lost);
    provider_close(&p);
    directory_session_free(&s);
    memory_free(path);
}

static void session_survives_a_file_size_limit(void **state)
{
    (void)state;
    outlive_full_disk(folder, limit_host);
}

static void session_survives_a_full_disk(void **state)
{
    char *small = path_join(folder, "small");
    *state = small;
    assert_int_equal(folder_create(small), S_OK);
    mounted = mount("tmpfs", small, "tmpfs", 0, "size=9m") == 0;
    if (mounted)
        outlive_full_disk(small, fill_disk);
}

static int remove_small_disk(void **state)
{
    if (mounted)
        (void)umount2(*state, MNT_DETACH);
    (void)folder_delete(*state);
    memory_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_survives_a_file_size_limit),
        cmocka_unit_test_teardown(session_survives_a_full_disk, remove_small_disk),
    };
    const int failed = controller_tests(tests, sizeof tests / sizeof *tests, "test_etw_full_disk", &folder);
    if (!failed && !mounted)
        printf("a small file system cannot be mounted here: it needs root and a kernel that lets it\n");
    return failed ? failed : mounted ? 0 : SKIPPED;
}

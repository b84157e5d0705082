/* SPDX-License-Identifier: MIT */
/* Cabinets are written, compared and extracted. After a user's logs are packed and deleted, only the cabinet is
   left. */
#include "tests/unit/file_faults.h"
#include "tests/unit/folder_cabinet.h"
#include "tests/unit/scratch_folder.h"

static char *scratch;

static int make_scratch(void **state)
{
    *state = scratch = scratch_create("test_cabinet");
    return 0;
}

static char *in_scratch(const char *name)
{
    char *path = path_join(scratch, name);
    assert_non_null(path);
    return path;
}

/* Creates a file of repeated lines, which compress well, or of random bytes, which do not. */
static void make_file(const char *name, size_t size, bool random)
{
    char *path = in_scratch(name), *folder = path_folder(path), *bytes = memory_alloc(size + 1);
    uint32_t seed = (uint32_t)size + 1;
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = random ? (char)(seed >> 24) : "counter,1.5,2.5\n"[(i + (seed >> 31)) % 16];
    }
    assert_int_equal(folder_create(folder), S_OK);
    struct file *f;
    assert_int_equal(file_open(path, FILE_REPLACE, &f), S_OK);
    assert_int_equal(file_write(f, bytes, size), S_OK);
    file_close(f);
    memory_free(bytes);
    memory_free(folder);
    memory_free(path);
}

static void same_bytes(const char *a, const char *b)
{
    char *x, *y;
    size_t x_size, y_size;
    assert_int_equal(file_load(a, 1 << 24, &x, &x_size), S_OK);
    assert_int_equal(file_load(b, 1 << 24, &y, &y_size), S_OK);
    assert_int_equal(x_size, y_size);
    assert_memory_equal(x, y, x_size);
    memory_free(x);
    memory_free(y);
}

static void same_trees(const char *run, const char *to, const struct texts *names)
{
    for (size_t i = 0; i < names->count; i++) {
        char *was = path_join(run, names->items[i]), *is = path_join(to, names->items[i]);
        same_bytes(was, is);
        memory_free(is);
        memory_free(was);
    }
}

static void make_run(void)
{
    make_file("run/z.csv", 100000, false);
    make_file("run/a.blg", 300000, true);
    make_file("run/block.bin", 32768, true);
    make_file("run/two.bin", 65536, false);
    make_file("run/empty.log", 0, false);
    make_file("run/one.log", 1, false);
    make_file("run/report.xml", 5000, false);
    make_file("run/Report.html", 6000, false);
    make_file("run/sub/deep/\xC3\xA4\xE4\xB8\xAD.txt", 70000, true);
}

static void packed_files_are_extracted_unchanged(void **state)
{
    struct texts names = {0};
    struct cabinet *c;
    (void)state;
    char *run = in_scratch("run"), *cab = in_scratch("run.cab"), *to = in_scratch("out/to");
    make_run();
    assert_int_equal(folder_cabinet_names(run, "", &names), S_OK);
    assert_int_equal(names.count, 9);
    assert_int_equal(folder_cabinet_write(run, &names, cab, NULL), S_OK);
    assert_int_equal(cabinet_open(cab, NULL, &c), S_OK);
    assert_int_equal(cabinet_count(c), names.count);
    for (size_t i = 0; i < names.count; i++)
        assert_string_equal(cabinet_entry_at(c, i)->name, names.items[i]);
    assert_int_equal(folder_cabinet_holds(c, run, &names), S_OK);
    cabinet_close(c);
    assert_int_equal(cabinet_extract(cab, NULL, to, NULL), S_OK);
    same_trees(run, to, &names);
    texts_free(&names);
    memory_free(to);
    memory_free(cab);
    memory_free(run);
}

/* The cabinet must contain more files than fit into one block, in the right order. */
static void many_files_are_packed(void **state)
{
    struct texts names = {0};
    (void)state;
    char *run = in_scratch("run"), *cab = in_scratch("many.cab"), *to = in_scratch("to");
    for (int i = 0; i < 200; i++) {
        char name[32];
        snprintf(name, sizeof name, "run/%03d.csv", i);
        make_file(name, (size_t)(i * 7 % 300), i % 2 != 0);
    }
    assert_int_equal(folder_cabinet_names(run, "", &names), S_OK);
    assert_int_equal(folder_cabinet_write(run, &names, cab, NULL), S_OK);
    assert_int_equal(cabinet_extract(cab, NULL, to, NULL), S_OK);
    same_trees(run, to, &names);
    texts_free(&names);
    memory_free(to);
    memory_free(cab);
    memory_free(run);
}

/* A caller deletes files that cabinet_compare finds in the cabinet. Files that were added or changed after the cabinet
   was written must not be deleted. */
static void changes_since_the_mark_are_reported(void **state)
{
    struct texts names = {0}, one = {0};
    struct cabinet *c;
    (void)state;
    char *run = in_scratch("run"), *cab = in_scratch("run.cab");
    make_file("run/a.csv", 40000, false);
    make_file("run/b.csv", 40000, true);
    assert_int_equal(folder_cabinet_names(run, "", &names), S_OK);
    assert_int_equal(folder_cabinet_write(run, &names, cab, NULL), S_OK);
    assert_int_equal(cabinet_open(cab, NULL, &c), S_OK);
    assert_int_equal(texts_add(&one, "b.csv"), S_OK);
    assert_int_equal(folder_cabinet_holds(c, run, &one), S_OK);

    make_file("run/a.csv", 40000, true); /* the same length, but different bytes */
    assert_int_equal(folder_cabinet_holds(c, run, &one), S_OK);
    assert_int_equal(folder_cabinet_holds(c, run, &names), PLA_E_CABAPI_FAILURE);
    assert_non_null(strstr(error_text(PLA_E_CABAPI_FAILURE), "a.csv"));
    make_file("run/a.csv", 40001, false);
    assert_int_equal(folder_cabinet_holds(c, run, &names), PLA_E_CABAPI_FAILURE);
    make_file("run/c.csv", 1, false);
    assert_int_equal(texts_add(&one, "c.csv"), S_OK);
    assert_int_equal(folder_cabinet_holds(c, run, &one), PLA_E_CABAPI_FAILURE);
    assert_non_null(strstr(error_text(PLA_E_CABAPI_FAILURE), "'c.csv' is not in the cabinet"));
    cabinet_close(c);
    texts_free(&one);
    texts_free(&names);
    memory_free(cab);
    memory_free(run);
}

static HRESULT no_input(void *user, size_t index, struct file **in)
{
    (void)user, (void)index;
    *in = NULL;
    return E_UNEXPECTED;
}

static void unpackable_files_are_rejected_by_name(void **state)
{
    static const struct {
        struct cabinet_member members[2];
        size_t count;
        const char *why;
    } cases[] = {
        {{{"x", 0, 0, 0}}, 0, "0 files"},
        {{{"big.blg", 0x7FFF8001, 0, 0}}, 1, "cannot pack 'big.blg': it is larger"},
        {{{"a?", 1, 0, 0}}, 1, "not allowed on Windows"},
        {{{"../a", 1, 0, 0}}, 1, "leads to another folder"},
        {{{"a", 1, 0, 0}, {"A", 1, 0, 0}}, 2, "another file has this name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cabinet_source source = {cases[i].members, cases[i].count, no_input, NULL};
        assert_int_equal(cabinet_pack(&source, NULL, NULL), PLA_E_CABAPI_FAILURE);
        if (!strstr(error_text(PLA_E_CABAPI_FAILURE), cases[i].why))
            fail_msg("\"%s\" was expected: %s", cases[i].why, error_text(PLA_E_CABAPI_FAILURE));
    }
}

static bool twice_only(void *user, uint64_t done, uint64_t whole)
{
    assert_true(done <= whole);
    return --*(int *)user > 0;
}

static void packing_and_extraction_can_be_stopped(void **state)
{
    struct texts names = {0};
    (void)state;
    char *run = in_scratch("run"), *cab = in_scratch("run.cab"), *to = in_scratch("to");
    make_file("run/a.blg", 3000000, false);
    assert_int_equal(folder_cabinet_names(run, "", &names), S_OK);
    for (int calls = 1; calls < 4; calls++) {
        int left = calls;
        const struct cabinet_watch watch = {twice_only, &left};
        assert_int_equal(folder_cabinet_write(run, &names, cab, &watch), HRESULT_FROM_WIN32(ERROR_CANCELLED));
    }
    assert_int_equal(folder_cabinet_write(run, &names, cab, NULL), S_OK);
    for (int calls = 1; calls < 3; calls++) {
        int left = calls;
        const struct cabinet_watch watch = {twice_only, &left};
        assert_int_equal(cabinet_extract(cab, NULL, to, &watch), HRESULT_FROM_WIN32(ERROR_CANCELLED));
        assert_false(folder_exists(to));
    }
    texts_free(&names);
    memory_free(to);
    memory_free(cab);
    memory_free(run);
}

/* Process ids are reused, most often under Wine and in containers. Temporary files of a killed process that had this
   process's id must not prevent the extraction. */
static void leftovers_of_a_killed_reader_do_not_block(void **state)
{
    enum { LEFT = 20 };
    struct texts names = {0}, left = {0};
    (void)state;
    char *run = in_scratch("run"), *cab = in_scratch("run.cab"), *to = in_scratch("to");
    make_file("run/a.csv", 1000, false);
    assert_int_equal(folder_cabinet_names(run, "", &names), S_OK);
    assert_int_equal(folder_cabinet_write(run, &names, cab, NULL), S_OK);
    for (int i = 0; i < LEFT; i++) {
        char name[64];
        snprintf(name, sizeof name, "to/~extract-%lu-%d.tmp/a.csv", (unsigned long)process_own_id(), i);
        make_file(name, 10, false);
    }
    assert_int_equal(cabinet_extract(cab, NULL, to, NULL), S_OK);
    same_trees(run, to, &names);
    assert_int_equal(folder_list(to, true, &left), S_OK);
    assert_int_equal(left.count, LEFT); /* another process may be using one of them, so none is deleted */
    texts_free(&left);
    texts_free(&names);
    memory_free(to);
    memory_free(cab);
    memory_free(run);
}

/* ---- faults ---- */

struct faulty {
    char *run, *cab, *to;
    struct texts names;
};

/* Creates files whose cabinet has a folder of two blocks. One of the files is in both blocks. */
static void faulty_begin(struct faulty *x)
{
    *x = (struct faulty){in_scratch("run"), in_scratch("run.cab"), in_scratch("to"), {0}};
    make_file("run/a.csv", 30000, false);
    make_file("run/sub/b.blg", 9000, true);
    assert_int_equal(folder_cabinet_names(x->run, "", &x->names), S_OK);
}

static void faulty_end(struct faulty *x)
{
    texts_free(&x->names);
    memory_free(x->run);
    memory_free(x->cab);
    memory_free(x->to);
}

/* A caller may delete the files after success, so the cabinet must contain them. */
static void assert_written_on_success(const struct faulty *x, HRESULT hr)
{
    struct cabinet *c;
    if (FAILED(hr))
        return;
    assert_int_equal(cabinet_open(x->cab, NULL, &c), S_OK);
    assert_int_equal(folder_cabinet_holds(c, x->run, &x->names), S_OK);
    cabinet_close(c);
}

/* The folder is extracted completely or not at all. */
static void assert_extracted_or_absent(const struct faulty *x, HRESULT hr)
{
    if (SUCCEEDED(hr))
        same_trees(x->run, x->to, &x->names);
    else
        assert_false(folder_exists(x->to));
}

static HRESULT open_and_compare(const struct faulty *x)
{
    struct cabinet *c;
    HRESULT hr = cabinet_open(x->cab, NULL, &c);
    if (FAILED(hr))
        return hr;
    hr = folder_cabinet_holds(c, x->run, &x->names);
    cabinet_close(c);
    return hr;
}

/* On Windows, cabinet.dll decides how many allocations it needs and what it does when one fails. */
static void each_allocation_fails_in_turn(void **state)
{
    struct faulty x;
    HRESULT hr = E_OUTOFMEMORY;
    (void)state;
    faulty_begin(&x);
    for (uint64_t n = 1; hr != S_OK; n++) {
        memory_fail_at(n);
        hr = folder_cabinet_write(x.run, &x.names, x.cab, NULL);
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY || hr == PLA_E_CABAPI_FAILURE);
        assert_written_on_success(&x, hr);
    }
    hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr != S_OK; n++) {
        memory_fail_at(n);
        hr = open_and_compare(&x);
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
    }
    hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr != S_OK; n++) {
        memory_fail_at(n);
        hr = cabinet_extract(x.cab, NULL, x.to, NULL);
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        if (FAILED(hr) && folder_exists(x.to)) /* removing the folder needs memory too, so that may have failed */
            scratch_remove(x.to);
        assert_extracted_or_absent(&x, hr);
    }
    faulty_end(&x);
}

static void each_operation_on_a_file_fails_in_turn(void **state)
{
    static const int kinds[] = {FAULT_ONCE, FAULT_FULL}; /* not FAULT_LASTING, because the clean-up would fail too */
    const HRESULT broken = HRESULT_FROM_WIN32(ERROR_IO_DEVICE);
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct faulty x;
        struct file_faults faults = {.kind = kinds[i], .hr = broken};
        faulty_begin(&x);
        HRESULT hr = broken;
        for (faults.at = 1; hr != S_OK || faults.met; faults.at++) {
            file_faults_begin(&faults);
            hr = folder_cabinet_write(x.run, &x.names, x.cab, NULL);
            file_faults_end();
            assert_written_on_success(&x, hr);
        }
        hr = broken;
        for (faults.at = 1; hr != S_OK; faults.at++) {
            file_faults_begin(&faults);
            hr = open_and_compare(&x);
            file_faults_end();
            assert_true(FAILED(hr) == faults.met); /* a file that could not be read must not count as equal */
        }
        hr = broken;
        for (faults.at = 1; hr != S_OK || faults.met; faults.at++) {
            file_faults_begin(&faults);
            hr = cabinet_extract(x.cab, NULL, x.to, NULL);
            file_faults_end();
            assert_extracted_or_absent(&x, hr);
            if (SUCCEEDED(hr))
                scratch_remove(x.to);
        }
        faulty_end(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(packed_files_are_extracted_unchanged, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(many_files_are_packed, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(changes_since_the_mark_are_reported, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(unpackable_files_are_rejected_by_name, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(packing_and_extraction_can_be_stopped, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(leftovers_of_a_killed_reader_do_not_block, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(each_allocation_fails_in_turn, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(each_operation_on_a_file_fails_in_turn, make_scratch, scratch_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

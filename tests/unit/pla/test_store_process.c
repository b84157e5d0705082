/* SPDX-License-Identifier: MIT */
/* Several processes use the store at the same time, or are killed while they write. */
#include "engine/base/clock.h"
#include "engine/pla/store.h"
#include "save_run.h"
#include "tests/unit/child_process.h"

#define XML_BYTES 20000

static char *folder;

/* Fills a definition with a single letter, so that a mixture of two definitions can be detected. */
static void fill(char *xml, char letter)
{
    memset(xml, letter, XML_BYTES);
    xml[XML_BYTES] = 0;
}

static bool is_complete(const char *xml, size_t size)
{
    return size == XML_BYTES && (xml[0] == 'a' || xml[0] == 'b') && strspn(xml, (char[]){xml[0], 0}) == XML_BYTES;
}

/* Commits the same set repeatedly, with reads in between. Returns 0, or a code for the error. */
static int role_commit(const char *letter, int commits)
{
    static char xml[XML_BYTES + 1];
    for (int i = 0; i < commits; i++) {
        struct run_record record = {0};
        char *stored;
        size_t size;
        HRESULT hr;
        fill(xml, letter[0]);
        hr = store_save(&caller_self, "Service", i % 2 ? "Shared" : "SHARED", STORE_CREATE_OR_MODIFY, xml, XML_BYTES,
                        NULL, NULL);
        if (FAILED(hr))
            return 10;
        hr = store_load(&caller_self, "Service", "shared", &stored, &size);
        if (FAILED(hr))
            return 11;
        if (!is_complete(stored, size))
            return 12;
        memory_free(stored);
        record.serial_number = (uint32_t)i;
        if (FAILED(save_run("Service", "shared", &record)))
            return 13;
        if (FAILED(store_load_run("Service", "shared", &record)))
            return 14;
        if (!record.known)
            return 15;
        run_record_free(&record);
        child_sleep(1); /* gives other processes a chance, because waiting for the lock is not fair */
    }
    return 0;
}

/* Two servers make two hundred commits each. No commit may fail, and no reader may get a partial set. */
static void concurrent_writers(void **state)
{
    struct process *a = child_start("commit", "a", "200"), *b = child_start("commit", "b", "200");
    uint32_t code_a = 99, code_b = 99;
    unsigned seen = 0;
    (void)state;
    while (process_wait(a, 5, &code_a) == S_FALSE || process_wait(b, 5, &code_b) == S_FALSE) {
        struct texts names = {0};
        char *stored;
        size_t size;
        HRESULT hr = store_load(&caller_self, "Service", "shared", &stored, &size);
        if (hr == PLA_E_DCS_NOT_FOUND)
            continue; /* before the first commit */
        assert_int_equal(hr, S_OK);
        assert_true(is_complete(stored, size));
        memory_free(stored);
        assert_int_equal(store_list(&caller_self, "Service", &names), S_OK);
        assert_int_equal(names.count, 1);
        assert_true(text_equal_nocase(names.items[0], "shared"));
        texts_free(&names);
        seen++;
    }
    assert_int_equal(process_wait(b, PATIENCE_MS, &code_b), S_OK);
    assert_int_equal(process_wait(a, PATIENCE_MS, &code_a), S_OK);
    assert_int_equal(code_a, 0);
    assert_int_equal(code_b, 0);
    assert_true(seen > 0);
    process_close(a);
    process_close(b);
    assert_int_equal(store_delete(&caller_self, "Service", "shared"), S_OK);
}

/* If several processes create a set of the same name, only one succeeds. */
static int role_create(const char *letter)
{
    static char xml[XML_BYTES + 1];
    int made = 0;
    fill(xml, letter[0]);
    for (int i = 0; i < 50; i++) {
        char *name = text_format("New %d", i);
        HRESULT hr = store_save(&caller_self, "Service", name, STORE_CREATE, xml, XML_BYTES, NULL, NULL);
        memory_free(name);
        if (SUCCEEDED(hr))
            made++;
        else if (hr != PLA_E_DCS_ALREADY_EXISTS)
            return 100;
    }
    return made;
}

static void concurrent_creators(void **state)
{
    struct process *a = child_start("create", "a", ""), *b = child_start("create", "b", "");
    uint32_t code_a = 200, code_b = 200;
    struct texts names = {0};
    (void)state;
    assert_int_equal(process_wait(a, PATIENCE_MS, &code_a), S_OK);
    assert_int_equal(process_wait(b, PATIENCE_MS, &code_b), S_OK);
    assert_int_equal(code_a + code_b, 50);
    process_close(a);
    process_close(b);
    assert_int_equal(store_list(&caller_self, "Service", &names), S_OK);
    assert_int_equal(names.count, 50);
    for (size_t i = 0; i < names.count; i++)
        assert_int_equal(store_delete(&caller_self, "Service", names.items[i]), S_OK);
    texts_free(&names);
}

/* If a server is killed during a commit, the set must be the old or the new one, and no lock may be left. */
static void killed_writer(void **state)
{
    static char xml[XML_BYTES + 1];
    (void)state;
    fill(xml, 'a');
    assert_int_equal(store_save(&caller_self, "Service", "shared", STORE_CREATE, xml, XML_BYTES, NULL, NULL), S_OK);
    for (unsigned round = 0; round < 8; round++) {
        char token[64];
        struct process *p;
        char *stored;
        size_t size;
        bool up;
        snprintf(token, sizeof(token), "b-%u-%u-%llx", (unsigned)process_own_id(), round,
                 (unsigned long long)clock_utc());
        p = child_start("commit", token, "1000000");
        do { /* waits until the process's own letter appears */
            assert_int_equal(process_wait(p, 1, NULL), S_FALSE);
            assert_int_equal(store_load(&caller_self, "Service", "shared", &stored, &size), S_OK);
            up = stored[0] == 'b';
            memory_free(stored);
        } while (!up);
        child_sleep(round * 3);
        child_kill(p, token);
        /* If a lock was left, this call would fail after ten seconds. */
        assert_int_equal(store_load(&caller_self, "Service", "shared", &stored, &size), S_OK);
        assert_true(is_complete(stored, size));
        memory_free(stored);
        assert_int_equal(process_wait(p, PATIENCE_MS, NULL), S_OK);
        process_close(p);
        assert_int_equal(store_save(&caller_self, "Service", "shared", STORE_MODIFY, xml, XML_BYTES, NULL, NULL), S_OK);
    }
    assert_int_equal(store_delete(&caller_self, "Service", "shared"), S_OK);
}

static int make_folder(void **state)
{
    *state = folder = scratch_create("test_store_process");
    scratch_environment("OPENPLA_DATA", folder);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrent_writers),
        cmocka_unit_test(concurrent_creators),
        cmocka_unit_test(killed_writer),
    };
    child_program = argv[0];
    if (argc == 4 && !strcmp(argv[1], "commit"))
        return role_commit(argv[2], atoi(argv[3]));
    if (argc == 4 && !strcmp(argv[1], "create"))
        return role_create(argv[2]);
    return cmocka_run_group_tests(tests, make_folder, scratch_end);
}

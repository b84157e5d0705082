/* SPDX-License-Identifier: MIT */
/* Accounts and passwords of sets. Each operation on a file and each allocation fails in turn. An error here would leave
   a set without its password, a password without a set, or a password that everyone can read. */
#include "engine/pla/sets/set_secret.h"
#include "tests/unit/file_faults.h"
#include "tests/unit/run/sets/credentials_fixture.h"

#include <stdio.h>

/* A commit waits for the disk, so not all of its allocations fail in turn: after the first WIDER, the steps grow. */
enum { WIDER = 64 };

#define FAULT     HRESULT_FROM_WIN32(1117) /* ERROR_IO_DEVICE, which only the simulated faults return */
#define OLD_WORDS "old S3cret", "old-D4tabase"
#define NEW_WORDS "new S3cret", "new-D4tabase"

/* Creates a set whose description and passwords contain the name of its version. */
static struct object *create_version(const char *version)
{
    char *xml = text_format("<LogFileFormat>2</LogFileFormat><DataSourceName>SQL:Driver={SQLite3};Database=/tmp/x.db;"
                            "PWD=%s-D4tabase!set</DataSourceName>",
                            version);
    struct object *set = a_set(xml);
    char *password = text_format("%s S3cret", version);
    assert_int_equal(object_put_text(set, class_property(set->class, "Description"), version), S_OK);
    give(set, "user", password);
    memory_free(password);
    memory_free(xml);
    return set;
}

static void forget_secrets(void)
{
    struct texts keys;
    list_secret_keys(&keys);
    for (size_t i = 0; i < keys.count; i++)
        assert_int_equal(secret_delete(keys.items[i]), S_OK);
    texts_free(&keys);
}

enum act { ACT_CREATE, ACT_MODIFY, ACT_DELETE, ACT_START, ACTS };
static const char *const act_names[ACTS] = {"a new set", "a changed one", "its end", "its start"};

static void prepare(enum act act)
{
    struct object *set = create_version("old");
    HRESULT hr = store_delete(&caller_self, SPACE, "faulty");
    assert_true(hr == S_OK || hr == PLA_E_DCS_NOT_FOUND);
    forget_secrets();
    if (act != ACT_CREATE)
        assert_int_equal(commit(set, &caller_self, "faulty", SETS_CREATE_NEW), S_OK);
    object_release(set);
}

/* Returns which version of the set is stored, or NULL if no set exists. Asserts that the set is complete and has the
   passwords of this version. */
static const char *current_version(const char *what)
{
    static const char *const versions[] = {"old", "new"};
    struct set_account account;
    struct set_secret secret = {0};
    char *xml, text[96];
    const char *found = NULL;
    size_t size;
    HRESULT hr = store_load(&caller_self, SPACE, "faulty", &xml, &size);
    if (hr == PLA_E_DCS_NOT_FOUND)
        return NULL;
    assert_int_equal(hr, S_OK);
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "<Description>%s</Description>", versions[i]);
        if (strstr(xml, text))
            found = versions[i];
    }
    assert_non_null(found);
    assert_int_equal(set_account_read(xml, size, &account), S_OK);
    assert_string_equal(account.user, "user");
    if (set_secret_load(account.key, SPACE, "faulty", &secret) != S_OK)
        fail_msg("%s: the set '%s' has lost its passwords", what, found);
    snprintf(text, sizeof text, "%s S3cret", found);
    assert_string_equal(secret.password, text);
    snprintf(text, sizeof text, "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=%s-D4tabase!set", found);
    assert_connects_with("faulty", text);
    set_secret_free(&secret);
    set_account_free(&account);
    memory_free(xml);
    return found;
}

static HRESULT act_on(enum act act, struct object *set)
{
    struct run_rights rights = {.token = NULL};
    struct object *issues = NULL;
    char *xml = NULL, key[SHARED_KEY_DIGITS + 1];
    size_t size = 0;
    if (act == ACT_DELETE)
        return set_delete(set, &caller_self);
    if (act == ACT_START) {
        HRESULT hr = store_load(&caller_self, SPACE, "faulty", &xml, &size);
        if (SUCCEEDED(hr))
            hr = run_rights_of_definition(SPACE, "faulty", xml, size, &rights);
        if (FAILED(hr)) /* if the start fails, the caller has nothing to release */
            assert_null(rights.secret);
        if (SUCCEEDED(hr))
            hr = shared_new_key(key);
        if (SUCCEEDED(hr))
            hr = run_rights_offer(&rights, key);
        run_rights_free(&rights);
        memory_free(xml);
        return hr;
    }
    HRESULT hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_commit(set, &caller_self, "faulty", "", act == ACT_CREATE ? SETS_CREATE_NEW : SETS_MODIFY, issues);
    object_release(issues);
    return hr;
}

static struct object *set_for(enum act act)
{
    return act == ACT_DELETE ? a_queried_set("faulty") : create_version("new");
}

/* Asserts that a failed commit has not changed the object: a caller can retry without passing the passwords again. */
static void assert_has_its_passwords(enum act act, struct object *set)
{
    if (act != ACT_CREATE && act != ACT_MODIFY)
        return;
    char *source = source_of(set, true);
    assert_string_equal(source, "SQL:Driver={SQLite3};Database=/tmp/x.db;PWD=new-D4tabase!set");
    assert_string_equal(set_of(set)->password, "new S3cret");
    memory_free(source);
}

static void assert_reveals_no_password(HRESULT hr)
{
    static const char *const words[] = {OLD_WORDS, NEW_WORDS};
    for (size_t i = 0; FAILED(hr) && i < 4; i++)
        assert_null(strstr(error_text(hr), words[i]));
}

/* Asserts that the old or the new set exists, with its passwords, and that no password is orphaned. If `left`, one
   orphaned password is allowed, because deleting it may have failed. */
static void assert_one_of_two(enum act act, HRESULT hr, bool new_may_be, bool left, const char *what)
{
    const char *there = current_version(what), *old = act == ACT_CREATE ? NULL : "old";
    const char *now = act == ACT_DELETE ? NULL : act == ACT_START ? "old" : "new";
    const bool is_old = there == old || (there && old && !strcmp(there, old));
    const bool is_new = there == now || (there && now && !strcmp(there, now));
    if (SUCCEEDED(hr) ? !is_new : !is_old && !(new_may_be && is_new))
        fail_msg("%s: 0x%08X, and the set is '%s'", what, (unsigned)hr, there ? there : "");
    const size_t count = secrets(), needed = there != NULL;
    if (count != needed && !(left && count == needed + 1))
        fail_msg("%s: 0x%08X: %u secrets of %u sets", what, (unsigned)hr, (unsigned)count, (unsigned)needed);
}

static void each_operation_on_files_fails(void **state)
{
    static const struct {
        int kind;
        HRESULT expected;
    } kinds[] = {{FAULT_ONCE, FAULT}, {FAULT_FULL, HRESULT_FROM_WIN32(ERROR_DISK_FULL)}, {FAULT_LASTING, FAULT}};
    (void)state;
    for (int act = 0; act < ACTS; act++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            uint64_t n = 1, failed = 0;
            for (bool met = true; met; n++) {
                struct file_faults f = {.at = n, .kind = kinds[k].kind, .hr = FAULT};
                char what[80];
                prepare(act);
                struct object *set = set_for(act);
                file_faults_begin(&f);
                const HRESULT hr = act_on(act, set);
                file_faults_end();
                met = f.count >= n;
                snprintf(what, sizeof what, "%s, operation %u (%d), kind %d", act_names[act], (unsigned)n, f.operation,
                         kinds[k].kind);
                if (FAILED(hr) && hr != kinds[k].expected)
                    fail_msg("%s: 0x%08X %s", what, (unsigned)hr, error_text(hr));
                assert_reveals_no_password(hr);
                if (FAILED(hr))
                    assert_has_its_passwords(act, set);
                failed += FAILED(hr);
                /* The last step flushes the folder. If only this step fails, the new set exists. */
                const bool lasting = kinds[k].kind == FAULT_LASTING;
                assert_one_of_two(act, hr, f.met && f.operation == FILE_OPERATION_FLUSH_FOLDER,
                                  lasting || (f.met && f.operation == FILE_OPERATION_DELETE), what);
                object_release(set);
            }
            print_message("%s: %u operations on files, kind %d, %u times it failed\n", act_names[act], (unsigned)n - 2,
                          kinds[k].kind, (unsigned)failed);
        }
    prepare(ACT_CREATE);
}

/* If any allocation fails, the set must be unchanged, and no password may be orphaned. */
static void memory_may_run_out(void **state)
{
    (void)state;
    for (int act = 0; act < ACTS; act++) {
        uint64_t n = 1, calls = 0, failed = 0;
        for (bool met = true; met; n += 1 + n / WIDER) {
            char what[64];
            prepare(act);
            struct object *set = set_for(act);
            memory_fail_at(n);
            const HRESULT hr = act_on(act, set);
            calls = memory_count();
            met = calls >= n;
            memory_fail_at(0);
            snprintf(what, sizeof what, "%s, allocation %u", act_names[act], (unsigned)n);
            if (FAILED(hr) && hr != E_OUTOFMEMORY)
                fail_msg("%s: 0x%08X %s", what, (unsigned)hr, error_text(hr));
            if (FAILED(hr))
                assert_has_its_passwords(act, set);
            failed += FAILED(hr);
            assert_one_of_two(act, hr, false, true, what);
            object_release(set);
        }
        print_message("%s: one of %u allocations failed in turn, %u times it failed\n", act_names[act], (unsigned)calls,
                      (unsigned)failed);
        assert_true(failed > 2);
    }
    prepare(ACT_CREATE);
}

/* Passwords are removed from strings before they are returned. If memory runs out during this, nothing is returned. */
static void without_memory_nothing_shows_a_password(void **state)
{
    struct object *set = create_version("new");
    struct object **list;
    size_t count, size;
    unsigned refused = 0;
    bool met = true;
    (void)state;
    assert_int_equal(collection_snapshot(set_of(set)->DataCollectors, &list, &count), S_OK);
    for (uint64_t n = 1; met; n++) {
        struct value v = {.kind = PROPERTY_TEXT};
        char *xml = NULL;
        memory_fail_at(n);
        HRESULT got = object_get(list[0], class_property(list[0]->class, "DataSourceName"), &v);
        met = memory_count() >= n;
        memory_fail_at(n);
        HRESULT written = object_to_xml(set, &xml, &size);
        met = met || memory_count() >= n;
        memory_fail_at(0);
        if (SUCCEEDED(got))
            assert_null(strstr(v.text, "D4tabase"));
        if (SUCCEEDED(written))
            assert_false(holds(xml, size, "D4tabase"));
        refused += FAILED(got) + FAILED(written);
        if (SUCCEEDED(got))
            value_free(&v);
        memory_free(xml);
    }
    assert_true(refused > 10);
    objects_release(list, count);
    object_release(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_on_files_fails),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(without_memory_nothing_shows_a_password),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}

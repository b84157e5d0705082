/* SPDX-License-Identifier: MIT */
/* The limits for the sets of an account. Without them, one account could fill the disk to which all others log. If sets
   were counted wrongly, a user could not store a set that is allowed. */
#include "engine/base/quotas.h"
#include "engine/pla/store.h"
#include "engine/pla/store/set_file.h"
#include "tests/unit/file_faults.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/skipped.h"

#ifndef _WIN32
#include <unistd.h>
#endif

#define XML     "<DataCollectorSet/>" /* 19 bytes; the owner line after it has a few dozen more */
#define NOT_ANY HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA)

static char *folder;
static const char *account; /* the account of the caller */
static const struct caller client = {.process = 1};

char *__wrap_caller_account(const struct caller *caller);
char *__wrap_caller_account(const struct caller *caller)
{
    assert_false(caller->in_process);
    return text_copy(account);
}

/* Everyone may save sets here. test_set_access tests who may create and change them. */
HRESULT __wrap_stored_set_check_save(const struct caller *caller, const struct set_file *at, bool exists,
                                     const char *security);
HRESULT __wrap_stored_set_check_save(const struct caller *caller, const struct set_file *at, bool exists,
                                     const char *security)
{
    (void)caller, (void)at, (void)exists, (void)security;
    return S_OK;
}

static int begin(void **state)
{
    *state = folder = scratch_create("owner_quota");
    scratch_environment("OPENPLA_DATA", folder);
    return 0;
}

static void set_limits(const char *text)
{
    scratch_environment("OPENPLA_QUOTAS", text);
    assert_int_equal(quotas_read(), S_OK);
}

static HRESULT save_text(const char *who, const char *name, const char *xml, size_t size)
{
    account = who;
    return store_save(who ? &client : &caller_self, "Service", name, STORE_CREATE_OR_MODIFY, xml, size, NULL, NULL);
}

static HRESULT save(const char *who, const char *name)
{
    return save_text(who, name, XML, strlen(XML));
}

static void sets_per_account_are_limited(void **state)
{
    char *xml;
    size_t size;
    (void)state;
    set_limits("sets=3");
    assert_int_equal(save("PC\\anna", "a1"), S_OK);
    assert_int_equal(save("PC\\anna", "a2"), S_OK);
    assert_int_equal(save("PC\\bert", "b1"), S_OK); /* other accounts' sets do not count */
    assert_int_equal(save("PC\\anna", "a3"), S_OK);
    assert_int_equal(save("PC\\anna", "a4"), NOT_ANY);
    assert_string_equal(error_text(NOT_ANY), "PC\\anna: more than 3 sets of one account in a namespace (quota 'sets')");
    assert_int_equal(store_load(&caller_self, "Service", "a4", &xml, &size), PLA_E_DCS_NOT_FOUND);
    /* An account at its limit can change its sets. If it deletes one, it can create another. */
    assert_int_equal(save("PC\\anna", "A2"), S_OK);
    assert_int_equal(save("PC\\bert", "b2"), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "a1"), S_OK);
    assert_int_equal(save("PC\\anna", "a4"), S_OK);
    assert_int_equal(save("PC\\anna", "a5"), NOT_ANY);
    /* A set counts for its creator even if another account changes it. Readers do not get the owner line. */
    assert_int_equal(save("PC\\bert", "a4"), S_OK);
    assert_int_equal(save("PC\\bert", "b3"), S_OK);
    assert_int_equal(save("PC\\bert", "b4"), NOT_ANY);
    assert_int_equal(store_load(&caller_self, "Service", "a4", &xml, &size), S_OK);
    assert_string_equal(xml, XML);
    memory_free(xml);
    /* Another namespace has a separate limit. */
    assert_int_equal(store_save(&client, "Session", "b4", STORE_CREATE, XML, strlen(XML), NULL, NULL), S_OK);
}

/* Other programs may have created or deleted sets since the server's last check, or before the server started. */
static void sets_of_other_programs_are_counted(void **state)
{
    (void)state;
    set_limits("sets=4");
    assert_int_equal(save(NULL, "own"), S_OK); /* a program stores this set without a server, so it has no owner */
    for (int i = 0; i < 4; i++) {
        char *name = text_format("c%d", i);
        assert_int_equal(save("PC\\carl", name), S_OK);
        memory_free(name);
    }
    assert_int_equal(save("PC\\carl", "c4"), NOT_ANY);
    assert_int_equal(store_delete(&caller_self, "Service", "c0"), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "c1"), S_OK);
    assert_int_equal(save(NULL, "c2"), S_OK); /* without a server; the set keeps its owner */
    assert_int_equal(save("PC\\carl", "c4"), S_OK);
    assert_int_equal(save("PC\\carl", "own"), S_OK); /* this account becomes the owner of a set without one */
    assert_int_equal(save("PC\\carl", "c5"), NOT_ANY);
    /* There are more changes than the change list can store, so the list starts again. */
    char long_name[600];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    for (int i = 0; i < 60; i++)
        assert_int_equal(save(NULL, long_name), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "c2"), S_OK);
    assert_int_equal(save("PC\\carl", "c5"), S_OK);
    assert_int_equal(save("PC\\carl", "c6"), NOT_ANY);
}

static void bytes_per_account_are_limited(void **state)
{
    char big[1000];
    (void)state;
    memset(big, ' ', sizeof big);
    memcpy(big, XML, strlen(XML));
    set_limits("bytes=2500");
    assert_int_equal(save_text("PC\\dora", "d1", big, 1000), S_OK);
    assert_int_equal(save_text("PC\\dora", "d2", big, 1000), S_OK);
    assert_int_equal(save_text("PC\\dora", "d3", big, 1000), NOT_ANY);
    assert_non_null(strstr(error_text(NOT_ANY), "more than 2500 bytes"));
    assert_int_equal(save_text("PC\\dora", "d3", big, 100), S_OK);
    assert_int_equal(save_text("PC\\dora", "d3", big, 900), NOT_ANY);
    /* If the limit was lowered, a commit that does not increase the use is still accepted. */
    set_limits("bytes=10;sets=1");
    assert_int_equal(save_text("PC\\dora", "d1", big, 900), S_OK);
    assert_int_equal(save_text("PC\\dora", "d4", big, 1), NOT_ANY);
}

/* Invalid and missing account names count as one account, so an unknown account cannot escape the limit. */
static void unknown_accounts_share_one_limit(void **state)
{
    (void)state;
    set_limits("sets=2");
    assert_int_equal(save("", "u1"), S_OK);
    assert_int_equal(save("PC\\\"?>\n", "u2"), S_OK);
    assert_int_equal(save("", "u3"), NOT_ANY);
    assert_non_null(strstr(error_text(NOT_ANY), "(unknown)"));
    /* The server reads only a part of the file. It must be enough for a name of 1023 characters and the longest
       owner. */
    char name[1023 * 3 + 1], owner[601];
    for (size_t i = 0; i < 1023; i++)
        memcpy(name + 3 * i, "\xE2\x82\xAC", 3);
    name[sizeof name - 1] = 0;
    memset(owner, 'o', 600);
    owner[600] = 0;
    assert_int_equal(save(owner, name), S_OK);
    assert_int_equal(save(owner, "o2"), S_OK);
    assert_int_equal(save(owner, "o3"), NOT_ANY);
}

#ifndef _WIN32
/* Another account can put files next to the definitions, and write any owner into them. Such files must not count. In
   this test, only root can create them. */
static void foreign_files_have_no_owner(void **state)
{
    (void)state;
    set_limits("sets=2");
    assert_int_equal(save("PC\\fred", "f1"), S_OK);
    assert_int_equal(save("PC\\fred", "f2"), S_OK);
    assert_int_equal(save("PC\\fred", "f3"), NOT_ANY);
    char *places = text_format("%s/sets/Service", folder), *command = text_format("chown -R 12345 %s/*/f*.xml", places);
    if (geteuid() != 0 || system(command) != 0) {
        skipped("only root can give a file away");
    } else {
        char *elsewhere = scratch_create("owner_quota_2"); /* like a newly started server that has read nothing yet */
        scratch_environment("OPENPLA_DATA", elsewhere);
        assert_int_equal(save("PC\\fred", "f4"), S_OK);
        scratch_environment("OPENPLA_DATA", folder);
        assert_int_equal(save("PC\\fred", "f5"), S_OK);
        assert_int_equal(save("PC\\fred", "f6"), S_OK);
        assert_int_equal(save("PC\\fred", "f7"), NOT_ANY);
        scratch_remove(elsewhere);
        memory_free(elsewhere);
    }
    memory_free(command);
    memory_free(places);
}
#endif

/* If memory runs out, nothing is committed, and the counts stay right. */
static void without_memory(void **state)
{
    unsigned failed = 0;
    bool reached = true;
    (void)state;
    set_limits("sets=2");
    assert_int_equal(save("PC\\eva", "e1"), S_OK);
    for (int n = 1; reached; n++) { /* save succeeds even if it cannot clean up after killed writers or write the entry
                                       in the change list */
        store_delete(&caller_self, "Service", "e2");
        memory_fail_at(n);
        HRESULT hr = save("PC\\eva", "e2");
        reached = memory_count() >= (size_t)n;
        memory_fail_at(0);
        assert_true(hr == S_OK || (reached && hr == E_OUTOFMEMORY));
        failed += FAILED(hr);
        assert_int_equal(save("PC\\eva", "e2"), S_OK);
        assert_int_equal(save("PC\\eva", "e3"), NOT_ANY);
    }
    assert_true(failed > 20);
    print_message("%u allocations failed, each was reported\n", failed);
    assert_int_equal(save("PC\\eva", "e3"), NOT_ANY);
    assert_int_equal(store_delete(&caller_self, "Service", "e1"), S_OK);
    assert_int_equal(save("PC\\eva", "e3"), S_OK);
    assert_int_equal(save("PC\\eva", "e4"), NOT_ANY);
}

/* If a set's file cannot be read for a while, the set still counts for its creator. Otherwise another account could
   change it and become its owner, and the creator could create one more. */
static void unreadable_sets_count_for_their_creator(void **state)
{
    unsigned failed = 0;
    uint64_t n = 1;
    (void)state;
    set_limits("sets=2");
    char *path = store_definition_path("Service", "g1"), *text;
    size_t size;
    for (bool met = true; met; n++) {
        struct file_faults f = {.at = n, .kind = FAULT_ONCE, .hr = HRESULT_FROM_WIN32(1117)};
        assert_int_equal(save("PC\\gerd", "g1"), S_OK);
        assert_int_equal(save("PC\\gerd", "g2"), S_OK);
        file_faults_begin(&f);
        HRESULT hr = save("PC\\hans", "g1");
        file_faults_end();
        met = f.count >= n;
        assert_true(hr == S_OK || hr == f.hr);
        failed += FAILED(hr);
        assert_int_equal(file_load(path, 4096, &text, &size), S_OK);
        if (!strstr(text, "owner=\"PC\\gerd\""))
            fail_msg("operation %u (%d): it has another owner now: %s", (unsigned)n, f.operation, text);
        memory_free(text);
        assert_int_equal(save("PC\\gerd", "g3"), NOT_ANY);
    }
    print_message("%u operations on files, each failed in turn, %u times the commit\n", (unsigned)n - 2, failed);
    assert_true(failed > 5);
    memory_free(path);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sets_per_account_are_limited, begin, scratch_end),
        cmocka_unit_test_setup_teardown(sets_of_other_programs_are_counted, begin, scratch_end),
        cmocka_unit_test_setup_teardown(bytes_per_account_are_limited, begin, scratch_end),
        cmocka_unit_test_setup_teardown(unknown_accounts_share_one_limit, begin, scratch_end),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(foreign_files_have_no_owner, begin, scratch_end),
#endif
        cmocka_unit_test_setup_teardown(without_memory, begin, scratch_end),
        cmocka_unit_test_setup_teardown(unreadable_sets_count_for_their_creator, begin, scratch_end)};
    return skipped_result(cmocka_run_group_tests(tests, NULL, NULL));
}

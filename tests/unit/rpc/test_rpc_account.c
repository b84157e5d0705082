/* SPDX-License-Identifier: MIT */
/* Accounts for other computers: how names are read, and which account is used for a computer. No account may be lost
   if a change is interrupted or memory runs out. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "engine/rpc/remote_account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

/* The names of the two secrets in engine/rpc/auth/remote_account.c. */
static const char *const keys[2] = {"64636f6d20636c69656e742061636331", "64636f6d20636c69656e742061636332"};

static struct remote_account account(const char *name, const char *password)
{
    struct remote_account a;
    assert_int_equal(remote_account_make(name, password, &a), S_OK);
    return a;
}

static void store(const char *host, const char *name)
{
    struct remote_account a = account(name, "secret of tests");
    assert_int_equal(remote_account_store(host, &a), S_OK);
    remote_account_free(&a);
}

static void expect_user(const char *host, const char *user)
{
    struct remote_account a;
    assert_int_equal(remote_account_find(host, &a), user ? S_OK : S_FALSE);
    if (user)
        assert_string_equal(a.user, user);
    remote_account_free(&a);
}

static void forget_all(void)
{
    remote_account_forget_given();
    for (size_t i = 0; i < 2; i++)
        assert_true(SUCCEEDED(secret_delete(keys[i])));
}

static void names_have_a_domain_in_both_spellings(void **state)
{
    static const struct {
        const char *name, *user, *domain;
    } rows[] = {
        {"tester", "tester", ""}, {"LAB\\tester", "tester", "LAB"}, {"tester@lab.example", "tester", "lab.example"}};
    static const char *const wrong[] = {"", "LAB\\", "@lab", "a\tb"};
    struct remote_account a;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        a = account(rows[i].name, "x");
        assert_string_equal(a.user, rows[i].user);
        assert_string_equal(a.domain, rows[i].domain);
        remote_account_free(&a);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(remote_account_make(wrong[i], "x", &a), E_INVALIDARG);
        assert_null(a.user);
    }
    assert_int_equal(remote_account_make("tester", "\xFF", &a), E_INVALIDARG);
}

static void stored_accounts_are_found_by_their_computer(void **state)
{
    struct texts list = {0};
    (void)state;
    forget_all();
    expect_user("db1", NULL);
    store("db1", "LAB\\reader");
    store("\\\\db2", "writer");
    store("db2:47001", "counter");
    store("fe80::1", "six");
    expect_user("db1", "reader");
    expect_user("\\\\DB1", "reader");
    expect_user("db1:47001", "reader");
    expect_user("db2", "writer");
    expect_user("db2:47001", "counter");
    expect_user("db2:47002", "writer");
    expect_user("[fe80::1]:135", "six");
    expect_user("fe80::1", "six");
    expect_user("db", NULL);
    assert_int_equal(remote_account_list(&list), S_OK);
    assert_int_equal(list.count, 8);
    assert_string_equal(list.items[0], "db1");
    assert_string_equal(list.items[1], "LAB\\reader");
    texts_free(&list);
    store("db1", "another");
    expect_user("db1", "another");
    assert_int_equal(remote_account_remove("DB1"), S_OK);
    assert_int_equal(remote_account_remove("db1"), S_FALSE);
    expect_user("db1", NULL);
    expect_user("db2", "writer");
    struct remote_account a = account("reader", "x");
    assert_int_equal(remote_account_store("", &a), E_INVALIDARG);
    assert_int_equal(remote_account_store("two words", &a), E_INVALIDARG);
    remote_account_free(&a);
    forget_all();
}

static void given_accounts_precede_stored_ones(void **state)
{
    (void)state;
    forget_all();
    store("db1", "stored");
    struct remote_account any = account("any", "x"), one = account("one", "x");
    assert_int_equal(remote_account_give(REMOTE_ACCOUNT_ANY_HOST, &any), S_OK);
    expect_user("db1", "any");
    assert_int_equal(remote_account_give("db1", &one), S_OK);
    expect_user("db1:47001", "one");
    expect_user("db2", "any");
    remote_account_forget_given();
    expect_user("db1", "stored");
    expect_user("db2", NULL);
    remote_account_free(&any);
    remote_account_free(&one);
    forget_all();
}

/* A crash may leave both the old and the new secret, or only a part of a change. */
static void interrupted_changes_lose_nothing(void **state)
{
    char *text, *other;
    (void)state;
    forget_all();
    store("db1", "first");
    const size_t at = secret_load(keys[0], &text) == S_OK ? 0 : 1;
    if (at == 1)
        assert_int_equal(secret_load(keys[1], &text), S_OK);
    store("db1", "second");
    assert_int_equal(secret_store(keys[at], text), S_OK); /* the old secret was not deleted */
    expect_user("db1", "second");
    store("db2", "third");
    expect_user("db1", "second");
    expect_user("db2", "third");
    memory_free_secret(text);
    assert_int_equal(secret_load(keys[at], &other), S_OK);
    memory_free_secret(other);
    forget_all();
}

static void corrupt_secrets_are_reported(void **state)
{
    static const char *const wrong[] = {"",
                                        "x\n",
                                        "1",
                                        "1\nhost\tdomain\tuser\n",
                                        "1\nhost\t\tuser\t00112233445566778899aabbccddeef\n",
                                        "1\nhost\t\t\t00112233445566778899aabbccddeeff\n",
                                        "1\nhost\t\tuser\t00112233445566778899aabbccddeeff"};
    struct remote_account a;
    struct texts list = {0};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        forget_all();
        assert_int_equal(secret_store(keys[0], wrong[i]), S_OK);
        assert_int_equal(remote_account_find("host", &a), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
        assert_int_equal(remote_account_list(&list), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    }
    assert_int_equal(remote_account_remove_all(), S_OK);
    assert_int_equal(remote_account_find("host", &a), S_FALSE);
}

static void out_of_memory_keeps_the_stored_accounts(void **state)
{
    struct remote_account a = account("LAB\\reader", "secret of tests");
    HRESULT hr = E_OUTOFMEMORY;
    (void)state;
    forget_all();
    store("db1", "first");
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        struct remote_account found = {0};
        memory_fail_at(n);
        hr = remote_account_store("db2", &a);
        memory_fail_at(0);
        expect_user("db1", "first");
        if (hr == E_OUTOFMEMORY)
            assert_true(SUCCEEDED(remote_account_remove("db2")));
        memory_fail_at(n);
        assert_true(SUCCEEDED(remote_account_find("db1", &found)) || !found.user);
        memory_fail_at(0);
        remote_account_free(&found);
    }
    assert_int_equal(hr, S_OK);
    expect_user("db2", "reader");
    remote_account_free(&a);
    forget_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_a_domain_in_both_spellings),
        cmocka_unit_test(stored_accounts_are_found_by_their_computer),
        cmocka_unit_test(given_accounts_precede_stored_ones),
        cmocka_unit_test(interrupted_changes_lose_nothing),
        cmocka_unit_test(corrupt_secrets_are_reported),
        cmocka_unit_test(out_of_memory_keeps_the_stored_accounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

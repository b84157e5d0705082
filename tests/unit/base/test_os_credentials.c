/* SPDX-License-Identifier: MIT */
/* The protected store. An error here exposes a password to an account that reads the disk, or to a set without a right
   to the password. */
#include "engine/base/security.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/secret_keys.h"

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif

#define PASSWORD                                                                                                       \
    "Gr\xC3\xBC\xC3\x9F"                                                                                               \
    "e; 42"

static char *secrets;

static void new_key(char key[SHARED_KEY_DIGITS + 1])
{
    assert_int_equal(shared_new_key(key), S_OK);
}

static void assert_kept(const char *key, const char *expected)
{
    char *text;
    assert_int_equal(secret_load(key, &text), expected ? S_OK : S_FALSE);
    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(text);
    memory_free_secret(text);
}

static void secret_is_kept_until_it_is_deleted(void **state)
{
    char key[SHARED_KEY_DIGITS + 1], other[SHARED_KEY_DIGITS + 1];
    struct texts keys;
    (void)state;
    new_key(key);
    new_key(other);
    assert_kept(key, NULL);
    assert_int_equal(secret_store(key, PASSWORD), S_OK);
    assert_int_equal(secret_store(other, ""), S_OK);
    assert_kept(key, PASSWORD);
    assert_kept(other, "");
    assert_true(FAILED(secret_store(key, "another"))); /* a key's secret can never be replaced */
    assert_kept(key, PASSWORD);
    list_secret_keys(&keys);
    for (size_t i = 0; i < keys.count; i++) /* the list is empty if the LSA stores the secrets */
        assert_true(!strcmp(keys.items[i], key) || !strcmp(keys.items[i], other));
    texts_free(&keys);
    assert_int_equal(secret_delete(key), S_OK);
    assert_int_equal(secret_delete(key), S_FALSE);
    assert_kept(key, NULL);
    assert_int_equal(secret_delete(other), S_OK);
}

/* Keys come from files. If a key is a path, the calls must not read or delete the file at that path. */
static void invalid_keys_access_no_file(void **state)
{
    static const char *const none[] = {"",
                                       "..",
                                       "../victim",
                                       "..\\victim",
                                       "0123456789abcdef0123456789abcde/",
                                       "0123456789ABCDEF0123456789ABCDEF",
                                       "0123456789abcdef0123456789abcdef0"};
    char *victim = path_join(secrets, "victim");
    (void)state;
    assert_int_equal(folder_create(secrets), S_OK);
    assert_int_equal(file_store(victim, "all", 3), S_OK);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_kept(none[i], NULL);
        assert_int_equal(secret_delete(none[i]), S_FALSE);
        assert_int_equal(secret_store(none[i], "x"), E_INVALIDARG);
    }
    assert_true(file_exists(victim));
    file_delete(victim);
    folder_delete(secrets);
    memory_free(victim);
}

static void secret_size_is_limited(void **state)
{
    char key[SHARED_KEY_DIGITS + 1], *text = memory_zero(1, SECRET_MOST + 2);
    (void)state;
    new_key(key);
    memset(text, 'x', SECRET_MOST + 1);
    assert_int_equal(secret_store(key, text), E_INVALIDARG);
    assert_null(strstr(error_text(E_INVALIDARG), "xx"));
    assert_kept(key, NULL);
    text[SECRET_MOST] = 0;
    assert_int_equal(secret_store(key, text), S_OK);
    assert_kept(key, text);
    assert_int_equal(secret_delete(key), S_OK);
    memory_free(text);
}

/* An attacker copies the disk, or stores one set's secret under another set's name. */
static void secret_file_reveals_nothing(void **state)
{
    char key[SHARED_KEY_DIGITS + 1], other[SHARED_KEY_DIGITS + 1];
    (void)state;
    new_key(key);
    new_key(other);
    assert_int_equal(secret_store(key, PASSWORD), S_OK);
    char *path = path_join(secrets, key), *moved = path_join(secrets, other);
#ifdef _WIN32
    char *data, *text;
    size_t size;
    if (file_exists(path)) { /* otherwise the LSA stores the secret */
        assert_int_equal(file_load(path, 1 << 20, &data, &size), S_OK);
        for (size_t i = 0; i + 5 <= size; i++)
            assert_true(memcmp(data + i, "e; 42", 5) != 0 && memcmp(data + i, L"; 4", 6) != 0);
        assert_int_equal(file_store(moved, data, size), S_OK);
        assert_int_equal(secret_load(other, &text), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
        assert_null(text);
        size_t refused = 0; /* some bytes are not authenticated, but changing them does not change the secret */
        for (size_t i = 0; i < size; i++) {
            data[i] ^= 1;
            assert_int_equal(file_store(path, data, size), S_OK);
            HRESULT hr = secret_load(key, &text);
            if (hr == S_OK) {
                assert_string_equal(text, PASSWORD);
                memory_free_secret(text);
            } else {
                assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
                assert_null(text);
                refused++;
            }
            data[i] ^= 1;
        }
        assert_true(refused > size / 2);
        memory_free(data);
        assert_int_equal(secret_delete(other), S_OK);
    }
#else
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(secrets, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    /* A folder that other accounts can enter is treated as created by another account. */
    assert_int_equal(chmod(secrets, 0755), 0);
    assert_int_equal(secret_store(other, PASSWORD), E_ACCESSDENIED);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), secrets));
    assert_int_equal(chmod(secrets, 0700), 0);
    assert_int_equal(symlink(path, moved), 0);
    char *text;
    assert_true(FAILED(secret_load(other, &text)));
    assert_null(text);
    assert_int_equal(unlink(moved), 0);
#endif
    assert_int_equal(secret_delete(key), S_OK);
    memory_free(moved);
    memory_free(path);
}

static void out_of_memory_is_reported(void **state)
{
    char key[SHARED_KEY_DIGITS + 1], *text;
    HRESULT hr = E_OUTOFMEMORY;
    uint64_t faults = 0;
    (void)state;
    new_key(key);
    while (hr == E_OUTOFMEMORY) {
        memory_fail_at(++faults);
        hr = secret_store(key, PASSWORD);
        memory_fail_at(0);
    }
    assert_int_equal(hr, S_OK);
    assert_true(faults > 2);
    for (hr = E_OUTOFMEMORY, faults = 0; hr == E_OUTOFMEMORY;) {
        memory_fail_at(++faults);
        hr = secret_load(key, &text);
        memory_fail_at(0);
    }
    assert_int_equal(hr, S_OK);
    assert_string_equal(text, PASSWORD);
    memory_free_secret(text);
    assert_int_equal(secret_delete(key), S_OK);
}

static void service_accounts_are_recognised_by_name(void **state)
{
    static const char *const good[] = {"user",          "domain\\user", "user@domain.example",
                                       "M\xC3\xBCller", "a b",          ".\\user"};
    static const char *const bad[] = {"", "\\user", "domain\\", "a\\b\\c", "a\"b", "a/b", "a\nb", "...", "a?>", "a;b"};
    bool is_system;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_null(account_name_fault(good[i]));
        assert_false(account_is_service(good[i], &is_system));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(account_name_fault(bad[i]));
    assert_true(account_is_service("nt authority\\system", &is_system) && is_system);
    assert_true(account_is_service("LOCAL SERVICE", &is_system) && !is_system);
    assert_false(account_is_service("OTHER\\SYSTEM", &is_system));
}

/* Compilers may remove a write to memory that is not read again. The wipe must happen anyway. */
static void wiped_memory_is_zero(void **state)
{
    char room[] = "a password";
    (void)state;
    memory_wipe(room, 2);
    assert_memory_equal(room, "\0\0password", sizeof room);
    memory_wipe(room, sizeof room);
    for (size_t i = 0; i < sizeof room; i++)
        assert_int_equal(room[i], 0);
    memory_wipe(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secret_is_kept_until_it_is_deleted),
        cmocka_unit_test(invalid_keys_access_no_file),
        cmocka_unit_test(secret_size_is_limited),
        cmocka_unit_test(secret_file_reveals_nothing),
        cmocka_unit_test(out_of_memory_is_reported),
        cmocka_unit_test(service_accounts_are_recognised_by_name),
        cmocka_unit_test(wiped_memory_is_zero),
    };
    char *folder = scratch_create("test_os_credentials");
    scratch_environment("OPENPLA_DATA", folder);
    secrets = path_join(folder, "secrets");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    memory_free(secrets);
    scratch_remove(folder);
    memory_free(folder);
    return failed;
}

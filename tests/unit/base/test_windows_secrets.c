/* SPDX-License-Identifier: MIT */
/* Passwords and logons on Windows, with the test's replacements for the LSA and LogonUser, because Wine has neither. A
   wrong call would lose a password, leave it in memory, or start a set under the wrong account. */
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "tests/unit/patience.h"
#include "tests/unit/scratch_folder.h"

#include <windows.h>
#include <ntsecapi.h>
#include <sddl.h>
#include <wchar.h>

#define PASSWORD        "Gr\xC3\xBC\xC3\x9F 42"
#define PASSWORD_WIDE   u"Gr\u00FC\u00DF 42"
#define NO_SUCH         ((NTSTATUS)0xC0000034) /* STATUS_OBJECT_NAME_NOT_FOUND */
#define DENIED          ((NTSTATUS)0xC0000022) /* STATUS_ACCESS_DENIED */
#define NO_ROOM         ((NTSTATUS)0xC0000017) /* STATUS_NO_MEMORY */
#define POLICY          ((LSA_HANDLE)0x1234)
#define LSA_MOST_SECRET 65535 /* bytes */

bool __wrap_os_is_wine(void);
bool __wrap_os_is_wine(void)
{
    return false;
}

/* ---- a fake LSA that can store one secret ---- */

static struct {
    NTSTATUS open, store, retrieve; /* results of its functions */
    WCHAR name[64];
    BYTE secret[LSA_MOST_SECRET];
    size_t bytes;
    bool has;
    int opened;         /* policies that are still open */
    BYTE *given;        /* the secret that was returned last, until it is freed */
    size_t given_bytes; /* size of that secret */
} lsa;

NTSTATUS NTAPI __wrap_LsaOpenPolicy(LSA_UNICODE_STRING *system, LSA_OBJECT_ATTRIBUTES *attributes, ACCESS_MASK access,
                                    LSA_HANDLE *out);
NTSTATUS NTAPI __wrap_LsaOpenPolicy(LSA_UNICODE_STRING *system, LSA_OBJECT_ATTRIBUTES *attributes, ACCESS_MASK access,
                                    LSA_HANDLE *out)
{
    assert_null(system); /* NULL means this computer */
    assert_int_equal(attributes->Length, sizeof *attributes);
    assert_int_equal(access, POLICY_CREATE_SECRET | POLICY_GET_PRIVATE_INFORMATION);
    *out = lsa.open < 0 ? NULL : POLICY;
    lsa.opened += lsa.open >= 0;
    return lsa.open;
}

NTSTATUS NTAPI __wrap_LsaClose(LSA_HANDLE policy);
NTSTATUS NTAPI __wrap_LsaClose(LSA_HANDLE policy)
{
    assert_ptr_equal(policy, POLICY);
    lsa.opened--;
    return 0;
}

static bool is_named(const LSA_UNICODE_STRING *name)
{
    const size_t length = wcslen(lsa.name) * sizeof(WCHAR);
    assert_int_equal(name->MaximumLength, name->Length + sizeof(WCHAR));
    assert_int_equal(name->Buffer[name->Length / sizeof(WCHAR)], 0);
    return lsa.has && name->Length == length && !memcmp(name->Buffer, lsa.name, length);
}

NTSTATUS NTAPI __wrap_LsaStorePrivateData(LSA_HANDLE policy, LSA_UNICODE_STRING *name, LSA_UNICODE_STRING *data);
NTSTATUS NTAPI __wrap_LsaStorePrivateData(LSA_HANDLE policy, LSA_UNICODE_STRING *name, LSA_UNICODE_STRING *data)
{
    assert_ptr_equal(policy, POLICY);
    const bool there = is_named(name);
    if (lsa.store < 0)
        return lsa.store;
    if (!data) {
        lsa.has = lsa.has && !there;
        return there ? 0 : NO_SUCH;
    }
    assert_true(name->Length < sizeof lsa.name);
    memcpy(lsa.name, name->Buffer, name->Length + sizeof(WCHAR));
    memcpy(lsa.secret, data->Buffer, data->Length);
    lsa.bytes = data->Length;
    lsa.has = true;
    return 0;
}

NTSTATUS NTAPI __wrap_LsaRetrievePrivateData(LSA_HANDLE policy, LSA_UNICODE_STRING *name, LSA_UNICODE_STRING **data);
NTSTATUS NTAPI __wrap_LsaRetrievePrivateData(LSA_HANDLE policy, LSA_UNICODE_STRING *name, LSA_UNICODE_STRING **data)
{
    assert_ptr_equal(policy, POLICY);
    if (lsa.retrieve < 0)
        return lsa.retrieve;
    if (!is_named(name))
        return NO_SUCH;
    LSA_UNICODE_STRING *out = malloc(sizeof *out + lsa.bytes + 1);
    assert_non_null(out);
    *out = (LSA_UNICODE_STRING){(USHORT)lsa.bytes, (USHORT)lsa.bytes, (WCHAR *)(out + 1)};
    memcpy(out->Buffer, lsa.secret, lsa.bytes);
    lsa.given = (BYTE *)out->Buffer;
    lsa.given_bytes = lsa.bytes;
    *data = out;
    return 0;
}

NTSTATUS NTAPI __wrap_LsaFreeMemory(void *memory);
NTSTATUS NTAPI __wrap_LsaFreeMemory(void *memory)
{
    for (size_t i = 0; i < lsa.given_bytes; i++)
        assert_int_equal(lsa.given[i], 0); /* the password was wiped before the memory was freed */
    lsa.given = NULL;
    lsa.given_bytes = 0;
    free(memory);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    memset(&lsa, 0, sizeof lsa);
    return 0;
}

static void new_key(char key[SHARED_KEY_DIGITS + 1])
{
    assert_int_equal(shared_new_key(key), S_OK);
}

static void nothing_is_left_open(void)
{
    assert_int_equal(lsa.opened, 0);
    assert_null(lsa.given);
}

static void lsa_stores_a_secret(void **state)
{
    char key[SHARED_KEY_DIGITS + 1], other[SHARED_KEY_DIGITS + 1], *text;
    WCHAR name[64];
    (void)state;
    new_key(key);
    new_key(other);
    assert_int_equal(secret_load(key, &text), S_FALSE);
    assert_null(text);
    assert_int_equal(secret_store(key, PASSWORD), S_OK);
    swprintf(name, ARRAYSIZE(name), L"L$OpenPLA-%hs", key); /* L$: readable on this computer only */
    assert_int_equal(wcscmp(lsa.name, name), 0);
    assert_int_equal(lsa.bytes, sizeof PASSWORD_WIDE - sizeof(WCHAR));
    assert_memory_equal(lsa.secret, PASSWORD_WIDE, lsa.bytes);
    assert_int_equal(secret_load(key, &text), S_OK);
    assert_string_equal(text, PASSWORD);
    memory_free_secret(text);
    assert_int_equal(secret_load(other, &text), S_FALSE);
    assert_int_equal(secret_delete(other), S_FALSE);
    assert_true(lsa.has);
    assert_int_equal(secret_delete(key), S_OK);
    assert_false(lsa.has);
    assert_int_equal(secret_delete(key), S_FALSE);
    nothing_is_left_open();
}

static void longest_secret_fits(void **state)
{
    char key[SHARED_KEY_DIGITS + 1], *text, *back;
    (void)state;
    new_key(key);
    text = memory_zero(1, SECRET_MOST + 1);
    assert_non_null(text);
    memset(text, 'x', SECRET_MOST);
    assert_int_equal(secret_store(key, text), S_OK);
    assert_int_equal(lsa.bytes, SECRET_MOST * sizeof(WCHAR));
    assert_int_equal(secret_load(key, &back), S_OK);
    assert_string_equal(back, text);
    memory_free_secret(back);
    memory_free_secret(text);
    assert_int_equal(secret_store(key, ""), S_OK);
    assert_int_equal(secret_load(key, &back), S_OK);
    assert_string_equal(back, "");
    memory_free_secret(back);
    nothing_is_left_open();
}

/* A program without access to the LSA stores secrets in a file, and a program with access finds them there. */
static void program_without_lsa_access_uses_a_file(void **state)
{
    char key[SHARED_KEY_DIGITS + 1], *text;
    (void)state;
    new_key(key);
    lsa.open = DENIED;
    assert_int_equal(secret_store(key, PASSWORD), S_OK);
    assert_false(lsa.has);
    lsa.open = 0;
    assert_int_equal(secret_load(key, &text), S_OK);
    assert_string_equal(text, PASSWORD);
    memory_free_secret(text);
    assert_int_equal(secret_delete(key), S_OK);
    assert_int_equal(secret_load(key, &text), S_FALSE);
    nothing_is_left_open();
}

/* An LSA error names the call and does not contain the password. The secret is not written to another store instead. */
static void lsa_error_is_reported(void **state)
{
    char key[SHARED_KEY_DIGITS + 1], *text;
    (void)state;
    new_key(key);
    lsa.store = NO_ROOM;
    HRESULT hr = secret_store(key, PASSWORD);
    assert_true(FAILED(hr));
    assert_non_null(strstr(error_text(hr), "cannot access the system's protected store"));
    assert_null(strstr(error_text(hr), PASSWORD));
    lsa.store = 0;
    assert_int_equal(secret_load(key, &text), S_FALSE); /* the secret is not in a file either */
    lsa.retrieve = NO_ROOM;
    assert_true(FAILED(secret_load(key, &text)));
    assert_null(text);
    lsa.open = NO_ROOM;
    assert_true(FAILED(secret_store(key, PASSWORD)));
    assert_true(FAILED(secret_load(key, &text)));
    assert_true(FAILED(secret_delete(key)));
    nothing_is_left_open();
}

/* ---- logons ---- */

static struct {
    WCHAR user[64], domain[64], password[64];
    bool has_domain, has_password;
    DWORD types[4];
    int count;
    DWORD refusals[2]; /* error codes of the first two logons; 0: the logon succeeds */
} logons;

static BOOL WINAPI log_on_here(const WCHAR *user, const WCHAR *domain, const WCHAR *password, DWORD type,
                               DWORD provider, HANDLE *token)
{
    const int i = logons.count++;
    assert_true(i < 2);
    assert_int_equal(provider, LOGON32_PROVIDER_DEFAULT);
    logons.types[i] = type;
    wcscpy(logons.user, user);
    wcscpy(logons.domain, domain ? domain : L"");
    wcscpy(logons.password, password ? password : L"");
    logons.has_domain = domain;
    logons.has_password = password;
    SetLastError(logons.refusals[i]);
    return !logons.refusals[i] && OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, token);
}
BOOL(WINAPI *__wrap___imp_LogonUserW)
(const WCHAR *user, const WCHAR *domain, const WCHAR *password, DWORD type, DWORD provider,
 HANDLE *token) = log_on_here;

static void every_account_name_form_logs_on(void **state)
{
    static const struct {
        const char *account;
        const WCHAR *user, *domain;
        bool has_domain, has_password;
        DWORD type;
    } rows[] = {
        {"DOMAIN\\anna", L"anna", L"DOMAIN", true, true, LOGON32_LOGON_BATCH},
        {"anna@example.org", L"anna@example.org", L"", false, true, LOGON32_LOGON_BATCH},
        {"anna", L"anna", L".", true, true, LOGON32_LOGON_BATCH},
        {"NT AUTHORITY\\LocalService", L"LocalService", L"NT AUTHORITY", true, false, LOGON32_LOGON_SERVICE},
        {"NetworkService", L"NetworkService", L"NT AUTHORITY", true, false, LOGON32_LOGON_SERVICE},
    };
    const struct logon *logon = os_logon();
    (void)state;
    assert_non_null(logon);
    for (size_t i = 0; i < ARRAYSIZE(rows); i++) {
        void *token = NULL;
        char *sid = NULL, *own = process_own_sid();
        memset(&logons, 0, sizeof logons);
        assert_int_equal(logon->log_on(rows[i].account, rows[i].has_password ? PASSWORD : "", &token), S_OK);
        assert_int_equal(logons.count, 1);
        assert_int_equal(logons.types[0], rows[i].type);
        assert_int_equal(wcscmp(logons.user, rows[i].user), 0);
        assert_int_equal(wcscmp(logons.domain, rows[i].domain), 0);
        assert_int_equal(logons.has_domain, rows[i].has_domain);
        assert_int_equal(logons.has_password, rows[i].has_password);
        assert_int_equal(wcscmp(logons.password, rows[i].has_password ? (const WCHAR *)PASSWORD_WIDE : L""), 0);
        assert_int_equal(logon->sid(token, &sid), S_OK);
        assert_string_equal(sid, own);
        logon->close(token);
        memory_free(sid);
        memory_free(own);
    }
}

/* An account without the right to log on as a batch job may have the right to log on locally. After any other error,
   the logon must not be retried, because a wrong password would lock the account after half as many attempts. */
static void rejected_logon_names_the_account(void **state)
{
    const struct logon *logon = os_logon();
    void *token = NULL;
    (void)state;
    memset(&logons, 0, sizeof logons);
    logons.refusals[0] = ERROR_LOGON_TYPE_NOT_GRANTED;
    assert_int_equal(logon->log_on("anna", PASSWORD, &token), S_OK);
    assert_int_equal(logons.count, 2);
    assert_int_equal(logons.types[1], LOGON32_LOGON_INTERACTIVE);
    logon->close(token);
    memset(&logons, 0, sizeof logons);
    logons.refusals[0] = ERROR_LOGON_FAILURE;
    assert_int_equal(logon->log_on("DOMAIN\\anna", PASSWORD, &token), HRESULT_FROM_WIN32(ERROR_LOGON_FAILURE));
    assert_int_equal(logons.count, 1);
    assert_null(token);
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_LOGON_FAILURE)), "UserAccount: 'DOMAIN\\anna'"));
}

/* ---- a process that runs as an account ---- */

static DWORD may; /* access rights with which the caller's token was opened */

static HRESULT token_of_call(void **out)
{
    HANDLE token;
    assert_true(OpenProcessToken(GetCurrentProcess(), TOKEN_DUPLICATE, &token));
    const BOOL made = DuplicateTokenEx(token, may, NULL, SecurityImpersonation, TokenImpersonation, out);
    CloseHandle(token);
    return made ? S_OK : HRESULT_FROM_WIN32(GetLastError());
}

/* Returns the caller's token and account, for a set without an account. */
static void process_runs_with_the_caller_token(void **state)
{
    const struct caller caller = {.process = 1, .token = token_of_call}, nobody = {.process = 1};
    const struct logon *logon = os_logon();
    const char *const arguments[] = {"/c", "exit 7"};
    struct account account = {.name = "anna"};
    struct program program = {.path = "C:\\windows\\system32\\cmd.exe",
                              .arguments = arguments,
                              .argument_count = ARRAYSIZE(arguments),
                              .console = true,
                              .account = &account};
    struct process *process;
    uint32_t code = 0;
    (void)state;
    assert_int_equal(process_start(&program, &process), PLA_E_CREDENTIALS_REQUIRED);
    may = TOKEN_QUERY | TOKEN_DUPLICATE;
    assert_int_equal(logon->of_caller(&caller, &account.token), S_OK);
    assert_int_equal(process_start(&program, &process), S_OK);
    assert_int_equal(process_wait(process, PATIENCE_MS, &code), S_OK);
    assert_int_equal(code, 7);
    process_close(process);
    logon->close(account.token);
    may = TOKEN_QUERY; /* not enough access to duplicate the token */
    assert_int_equal(logon->of_caller(&caller, &account.token), PLA_E_CREDENTIALS_REQUIRED);
    assert_null(account.token);
    assert_int_equal(logon->of_caller(&nobody, &account.token), PLA_E_CREDENTIALS_REQUIRED);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lsa_stores_a_secret, begin),
        cmocka_unit_test_setup(longest_secret_fits, begin),
        cmocka_unit_test_setup(program_without_lsa_access_uses_a_file, begin),
        cmocka_unit_test_setup(lsa_error_is_reported, begin),
        cmocka_unit_test(every_account_name_form_logs_on),
        cmocka_unit_test(rejected_logon_names_the_account),
        cmocka_unit_test(process_runs_with_the_caller_token),
    };
    char *folder = scratch_create("test_windows_secrets");
    scratch_environment("OPENPLA_DATA", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_remove(folder);
    memory_free(folder);
    return failed;
}

/* SPDX-License-Identifier: MIT */
/* Secrets and logons on Windows. */
#include "engine/base/base_private.h"
#include "engine/base/memory.h"
#include "engine/base/win32/win32_call.h"

#include <stdio.h>
#include <ntsecapi.h>
#include <sddl.h>
#include <string.h>
#include <wchar.h>
#include <wincrypt.h>

#define FILE_MOST   (SECRET_MOST * 6 + 65536) /* bytes: the text, and the bytes that CryptProtectData adds */
#define NO_SUCH     ((NTSTATUS)0xC0000034)    /* STATUS_OBJECT_NAME_NOT_FOUND */
#define SECRET_NAME L"L$OpenPLA-"             /* L$: a secret of this computer, which other computers cannot query */

/* ---- private data of the LSA ---- */

static HRESULT lsa_failed(NTSTATUS status)
{
    HRESULT hr = HRESULT_FROM_WIN32(LsaNtStatusToWinError(status));
    return error_set(FAILED(hr) ? hr : E_FAIL, "cannot access the system's protected store: %s",
                     error_standard_text(hr));
}

/* S_FALSE: this process has no access, or runs under Wine, which has no such store. */
static HRESULT open_policy(LSA_HANDLE *out)
{
    LSA_OBJECT_ATTRIBUTES none = {.Length = sizeof none};
    *out = NULL;
    if (os_is_wine())
        return S_FALSE;
    NTSTATUS status = LsaOpenPolicy(NULL, &none, POLICY_CREATE_SECRET | POLICY_GET_PRIVATE_INFORMATION, out);
    if (status == (NTSTATUS)0xC0000022) /* STATUS_ACCESS_DENIED */
        return S_FALSE;
    return status < 0 ? lsa_failed(status) : S_OK;
}

struct secret_name {
    WCHAR text[ARRAYSIZE(SECRET_NAME) + SHARED_KEY_DIGITS];
    LSA_UNICODE_STRING lsa;
};
static void name_secret(const char *key, struct secret_name *out)
{
    size_t n = ARRAYSIZE(SECRET_NAME) - 1;
    wmemcpy(out->text, SECRET_NAME, n);
    for (const char *c = key; *c; c++)
        out->text[n++] = (WCHAR)*c;
    out->text[n] = 0;
    out->lsa = (LSA_UNICODE_STRING){(USHORT)(n * sizeof(WCHAR)), (USHORT)((n + 1) * sizeof(WCHAR)), out->text};
}

/* Stores the secret. If `text` is NULL, deletes the secret. */
static HRESULT lsa_put(LSA_HANDLE policy, const char *key, const WCHAR *text, size_t units)
{
    struct secret_name name;
    LSA_UNICODE_STRING data = {(USHORT)(units * sizeof(WCHAR)), (USHORT)(units * sizeof(WCHAR)), (WCHAR *)text};
    name_secret(key, &name);
    NTSTATUS status = LsaStorePrivateData(policy, &name.lsa, text ? &data : NULL);
    return !text && status == NO_SUCH ? S_FALSE : status < 0 ? lsa_failed(status) : S_OK;
}

static HRESULT lsa_get(LSA_HANDLE policy, const char *key, char **text)
{
    struct secret_name name;
    LSA_UNICODE_STRING *data = NULL;
    name_secret(key, &name);
    NTSTATUS status = LsaRetrievePrivateData(policy, &name.lsa, &data);
    if (status == NO_SUCH)
        return S_FALSE;
    if (status < 0)
        return lsa_failed(status);
    HRESULT hr = S_FALSE;
    if (data) {
        hr = text_from_utf16(data->Buffer, data->Length / sizeof(WCHAR), false, text);
        memory_wipe(data->Buffer, data->Length);
        LsaFreeMemory(data);
    }
    return hr;
}

/* ---- files ---- */

static DATA_BLOB bytes_of(const void *data, size_t size)
{
    return (DATA_BLOB){(DWORD)size, (BYTE *)data};
}

/* Encrypts and stores a secret. The encrypted data also contain the key, so that a file renamed to another secret's
   name is rejected. The text is masked because Wine leaves the plain text of encrypted data in its memory. */
static HRESULT file_put(const char *key, const char *text)
{
    char *masked = NULL, *both = NULL;
    HRESULT hr = secret_mask(text, &masked);
    if (SUCCEEDED(hr) && !(both = text_format("%s%s", key, masked)))
        hr = E_OUTOFMEMORY;
    DATA_BLOB plain = bytes_of(both, both ? strlen(both) : 0), data = {0};
    if (SUCCEEDED(hr) && !CryptProtectData(&plain, NULL, NULL, NULL, NULL, CRYPTPROTECT_UI_FORBIDDEN, &data))
        hr = win32_failed(GetLastError(), "CryptProtectData");
    if (SUCCEEDED(hr)) {
        hr = secret_file_write(key, data.pbData, data.cbData);
        LocalFree(data.pbData);
    }
    memory_free(both);
    memory_free(masked);
    return hr;
}

static HRESULT file_get(const char *key, char **text)
{
    char *data = NULL;
    size_t size = 0;
    const size_t head = strlen(key);
    DATA_BLOB plain = {0};
    HRESULT hr = secret_file_read(key, FILE_MOST, &data, &size);
    if (hr != S_OK)
        return hr;
    DATA_BLOB in = bytes_of(data, size);
    if (!CryptUnprotectData(&in, NULL, NULL, NULL, NULL, CRYPTPROTECT_UI_FORBIDDEN, &plain) || plain.cbData < head ||
        memcmp(plain.pbData, key, head) != 0) {
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                       "cannot read a set's passwords: the file is corrupt, or another account wrote it");
    } else {
        char *masked = text_copy_n((const char *)plain.pbData + head, plain.cbData - head);
        hr = masked ? secret_unmask(masked, text) : E_OUTOFMEMORY;
        hr = hr == E_INVALIDARG ? HRESULT_FROM_WIN32(ERROR_INVALID_DATA) : hr;
        memory_free(masked);
    }
    if (plain.pbData)
        memory_wipe(plain.pbData, plain.cbData);
    LocalFree(plain.pbData);
    memory_free(data);
    return hr;
}

/* ---- secrets ---- */

HRESULT secret_store(const char *key, const char *text)
{
    LSA_HANDLE policy = NULL;
    WCHAR *wide = NULL;
    size_t units = 0;
    HRESULT hr = secret_key_is_one(key) ? secret_is_too_long(text) : E_INVALIDARG;
    if (SUCCEEDED(hr))
        hr = open_policy(&policy);
    if (hr == S_FALSE)
        return file_put(key, text);
    if (SUCCEEDED(hr))
        hr = text_to_utf16(text, &wide, &units);
    if (SUCCEEDED(hr))
        hr = lsa_put(policy, key, wide, units);
    if (wide)
        memory_wipe(wide, units * sizeof *wide);
    memory_free(wide);
    if (policy)
        LsaClose(policy);
    return hr;
}

HRESULT secret_load(const char *key, char **text)
{
    LSA_HANDLE policy = NULL;
    *text = NULL;
    if (!secret_key_is_one(key))
        return S_FALSE;
    HRESULT hr = file_get(key, text); /* a secret that was stored without access to the LSA is in a file */
    if (hr != S_FALSE)
        return hr;
    hr = open_policy(&policy);
    if (hr != S_OK)
        return hr;
    hr = lsa_get(policy, key, text);
    LsaClose(policy);
    return hr;
}

HRESULT secret_delete(const char *key)
{
    LSA_HANDLE policy = NULL;
    if (!secret_key_is_one(key))
        return S_FALSE;
    HRESULT hr = secret_file_delete(key);
    if (hr != S_FALSE)
        return hr;
    hr = open_policy(&policy);
    if (hr != S_OK)
        return hr;
    hr = lsa_put(policy, key, NULL, 0);
    LsaClose(policy);
    return hr;
}

/* ---- logons ---- */

static BOOL log_on_as(const WCHAR *user, const WCHAR *domain, const WCHAR *password, bool service, HANDLE *token)
{
    if (service)
        return LogonUserW(user, domain, NULL, LOGON32_LOGON_SERVICE, LOGON32_PROVIDER_DEFAULT, token);
    /* A batch logon, like the one that Task Scheduler uses to start a set's host process. An account that lacks the
       right to batch logons may have the right to log on locally. */
    return LogonUserW(user, domain, password, LOGON32_LOGON_BATCH, LOGON32_PROVIDER_DEFAULT, token) ||
           (GetLastError() == ERROR_LOGON_TYPE_NOT_GRANTED &&
            LogonUserW(user, domain, password, LOGON32_LOGON_INTERACTIVE, LOGON32_PROVIDER_DEFAULT, token));
}

static HRESULT log_on(const char *account, const char *password, void **out)
{
    bool system, service = account_is_service(account, &system);
    const char *mark = strchr(account, '\\');
    WCHAR *user = NULL, *domain = NULL, *secret = NULL;
    size_t units = 0;
    HANDLE token = NULL;
    *out = NULL;
    /* user@domain has no separate domain; a user without a domain is an account of this computer. */
    char *in = mark                   ? text_copy_n(account, (size_t)(mark - account))
               : service              ? text_copy("NT AUTHORITY")
               : strchr(account, '@') ? NULL
                                      : text_copy(".");
    HRESULT hr = text_to_utf16(mark ? mark + 1 : account, &user, NULL);
    if (SUCCEEDED(hr) && (in || !strchr(account, '@')))
        hr = in ? text_to_utf16(in, &domain, NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = text_to_utf16(password, &secret, &units);
    if (SUCCEEDED(hr) && !log_on_as(user, domain, secret, service, &token))
        hr = HRESULT_FROM_WIN32(GetLastError());
    if (secret)
        memory_wipe(secret, units * sizeof *secret);
    memory_free(secret);
    memory_free(domain);
    memory_free(user);
    memory_free(in);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : error_set(hr, "UserAccount: '%s': %s", account, error_standard_text(hr));
    *out = token;
    return S_OK;
}

static HRESULT of_caller(const struct caller *caller, void **out)
{
    HANDLE token = NULL, primary = NULL;
    *out = NULL;
    HRESULT hr = caller->token ? caller->token(&token) : HRESULT_FROM_WIN32(ERROR_NO_IMPERSONATION_TOKEN);
    if (SUCCEEDED(hr) &&
        !DuplicateTokenEx(token, TOKEN_ALL_ACCESS, NULL, SecurityImpersonation, TokenPrimary, &primary))
        hr = HRESULT_FROM_WIN32(GetLastError());
    if (token)
        CloseHandle(token);
    if (FAILED(hr))
        return error_set(PLA_E_CREDENTIALS_REQUIRED,
                         "UserAccount: cannot run the set as the caller: %s (set an account with SetCredentials)",
                         error_standard_text(hr));
    *out = primary;
    return S_OK;
}

static void close_token(void *token)
{
    CloseHandle(token);
}

static HRESULT token_sid(void *token, char **out)
{
    union {
        TOKEN_USER user;
        BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } owner;
    DWORD length;
    WCHAR *sid;
    *out = NULL;
    if (!GetTokenInformation(token, TokenUser, &owner, sizeof owner, &length) ||
        !ConvertSidToStringSidW(owner.user.User.Sid, &sid))
        return win32_failed(GetLastError(), "a token's account");
    HRESULT hr = text_from_utf16(sid, wcslen(sid), true, out);
    LocalFree(sid);
    return hr;
}

const struct logon *logon_of_os(void)
{
    static const struct logon windows = {log_on, of_caller, close_token, token_sid};
    return os_is_wine() ? NULL : &windows;
}

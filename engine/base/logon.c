/* SPDX-License-Identifier: MIT */
/* Checks account names, stores and masks secrets, and selects the logon functions. */
#include "engine/base/base_private.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/security.h"
#include "engine/base/text.h"

#include <string.h>

static const struct logon *logon_instead;

const struct logon *os_logon(void)
{
    return logon_instead ? logon_instead : logon_of_os();
}

void os_logon_use(const struct logon *instead)
{
    logon_instead = instead;
}

bool account_is_service(const char *account, bool *is_system)
{
    static const struct {
        const char *name;
        bool is_system;
    } names[] = {
        {"SYSTEM", true},
        {"LocalSystem", true},
        {"NT AUTHORITY\\SYSTEM", true},
        {"NT AUTHORITY\\LocalSystem", true},
        {"LocalService", false},
        {"LOCAL SERVICE", false},
        {"NT AUTHORITY\\LocalService", false},
        {"NT AUTHORITY\\LOCAL SERVICE", false},
        {"NetworkService", false},
        {"NETWORK SERVICE", false},
        {"NT AUTHORITY\\NetworkService", false},
        {"NT AUTHORITY\\NETWORK SERVICE", false},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!text_equal_nocase(names[i].name, account))
            continue;
        *is_system = names[i].is_system;
        return true;
    }
    *is_system = false;
    return false;
}

const char *account_name_fault(const char *account)
{
    const char *mark = strchr(account, '\\');
    if (!*account)
        return "it is empty";
    if (text_utf16_length(account) > 511) /* 255 for the domain, 255 for the user (Windows' limits are smaller) */
        return "it is longer than an account name can be";
    if (!account[strspn(account, " .")])
        return "it consists only of spaces and dots";
    for (const char *c = account; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F || strchr("\"/[]:;|=,+*?<>", *c))
            return "it contains a character that account names cannot have";
    if (mark && (mark == account || !mark[1] || strchr(mark + 1, '\\')))
        return "expected the form domain\\user";
    return NULL;
}

bool secret_key_is_one(const char *key)
{
    return strspn(key, "0123456789abcdef") == SHARED_KEY_DIGITS && !key[SHARED_KEY_DIGITS];
}

HRESULT secret_is_too_long(const char *text)
{
    return text_utf16_length(text) > SECRET_MOST
               ? error_set(E_INVALIDARG, "the passwords of the set have more than %u characters in total",
                           (unsigned)SECRET_MOST)
               : S_OK;
}

static char *secret_folder(void)
{
    char *data = os_data_folder(), *folder = data ? path_join(data, "secrets") : NULL;
    memory_free(data);
    return folder;
}

static char *secret_path(const char *key)
{
    char *folder = secret_folder(), *path = folder ? path_join(folder, key) : NULL;
    memory_free(folder);
    return path;
}

static HRESULT make_folder(void)
{
    struct ownership o = {.is_open = true};
    char *folder = secret_folder();
    HRESULT hr = folder ? folder_create_protected(folder, PROTECTION_SECRETS) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_ownership(folder, &o);
    if (SUCCEEDED(hr) && o.is_open)
        hr = error_set(E_ACCESSDENIED, "cannot store a password in '%s': other accounts can open this folder", folder);
    memory_free(folder);
    return hr;
}

HRESULT secret_file_write(const char *key, const void *data, size_t size)
{
    struct file *f = NULL;
    char *path = secret_path(key);
    HRESULT hr = path ? make_folder() : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_open_as(path, FILE_CREATE_NEW, PROTECTION_SECRET, &f);
    if (SUCCEEDED(hr)) {
        hr = file_write(f, data, size);
        if (SUCCEEDED(hr))
            hr = file_flush(f);
        file_close(f);
        if (FAILED(hr)) {
            struct error_kept why = error_keep(hr);
            file_delete(path);
            error_restore(&why);
        }
    }
    memory_free(path);
    return hr;
}

static bool is_missing(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
}

HRESULT secret_file_read(const char *key, size_t most, char **data, size_t *size)
{
    struct ownership o;
    char *path = secret_path(key);
    HRESULT hr = path ? file_ownership(path, &o) : E_OUTOFMEMORY;
    if (hr == S_OK && (o.is_link || o.is_foreign))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                       "cannot read a set's passwords: the file belongs to another account");
    if (hr == S_OK)
        hr = file_load(path, most, data, size);
    if (is_missing(hr)) {
        error_clear();
        hr = S_FALSE;
    }
    memory_free(path);
    return hr;
}

HRESULT secret_file_delete(const char *key)
{
    char *path = secret_path(key);
    HRESULT hr = path ? file_delete(path) : E_OUTOFMEMORY;
    memory_free(path);
    if (!is_missing(hr))
        return hr;
    error_clear();
    return S_FALSE;
}

/* ---- masks ---- */

/* Generates a sequence of bytes from a key. */
struct mask {
    uint64_t state, bytes;
    unsigned left;
};

static void mask_begin(struct mask *m, const char *key)
{
    *m = (struct mask){.state = hash_text(HASH_START, key)};
}

static unsigned mask_byte(struct mask *m)
{
    if (!m->left) {
        uint64_t z = m->state += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        m->bytes = z ^ z >> 31;
        m->left = 8;
    }
    unsigned byte = m->bytes & 0xFF;
    m->bytes >>= 8;
    m->left--;
    return byte;
}

HRESULT secret_mask(const char *text, char **masked)
{
    static const char digits[] = "0123456789abcdef";
    struct mask m;
    const size_t n = strlen(text);
    char *out = memory_alloc(SHARED_KEY_DIGITS + 2 * n + 1);
    *masked = NULL;
    HRESULT hr = out ? shared_new_key(out) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(out);
        return hr;
    }
    mask_begin(&m, out);
    for (size_t i = 0; i < n; i++) {
        unsigned byte = (unsigned char)text[i] ^ mask_byte(&m);
        out[SHARED_KEY_DIGITS + 2 * i] = digits[byte >> 4];
        out[SHARED_KEY_DIGITS + 2 * i + 1] = digits[byte & 15];
    }
    out[SHARED_KEY_DIGITS + 2 * n] = 0;
    *masked = out;
    return S_OK;
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

HRESULT secret_unmask(const char *masked, char **text)
{
    struct mask m;
    char key[SHARED_KEY_DIGITS + 1];
    const size_t length = strlen(masked), n = (length - SHARED_KEY_DIGITS) / 2;
    *text = NULL;
    if (length < SHARED_KEY_DIGITS || length % 2 || strspn(masked, "0123456789abcdef") != length)
        return E_INVALIDARG;
    char *out = memory_alloc(n + 1);
    if (!out)
        return E_OUTOFMEMORY;
    memcpy(key, masked, SHARED_KEY_DIGITS);
    key[SHARED_KEY_DIGITS] = 0;
    mask_begin(&m, key);
    for (size_t i = 0; i < n; i++) {
        const char *at = masked + SHARED_KEY_DIGITS + 2 * i;
        out[i] = (char)((digit(at[0]) << 4 | digit(at[1])) ^ mask_byte(&m));
    }
    out[n] = 0;
    if (strlen(out) != n || !text_is_utf8(out, n)) {
        memory_free_secret(out);
        return E_INVALIDARG;
    }
    *text = out;
    return S_OK;
}

/* SPDX-License-Identifier: MIT */
/* All stored accounts are in one secret, which consists of a number and one line per host. The secret has two possible
   keys. A change writes a new secret with the next number under the unused key, and then deletes the old secret, so
   that at least one complete secret exists after a crash. */
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "engine/rpc/auth/remote_accounts.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS 4 /* host, domain, user, hash */

/* ---- one account ---- */

void remote_account_free(struct remote_account *a)
{
    memory_free(a->user);
    memory_free(a->domain);
    memory_wipe(a->hash, sizeof a->hash);
    *a = (struct remote_account){0};
}

HRESULT remote_account_make(const char *name, const char *password, struct remote_account *out)
{
    const char *slash = strchr(name, '\\'), *at = slash ? NULL : strrchr(name, '@');
    *out = (struct remote_account){0};
    out->user = slash ? text_copy(slash + 1) : at ? text_copy_n(name, (size_t)(at - name)) : text_copy(name);
    out->domain = slash ? text_copy_n(name, (size_t)(slash - name)) : text_copy(at ? at + 1 : "");
    HRESULT hr = out->user && out->domain ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (!*out->user || strlen(name) >= AUTH_NAME_BYTES || strpbrk(name, "\t\r\n")))
        hr = error_set(E_INVALIDARG, "invalid account '%s': expected user, DOMAIN\\user or user@domain", name);
    if (SUCCEEDED(hr))
        hr = auth_hash_password(password, out->hash);
    if (FAILED(hr))
        remote_account_free(out);
    return hr;
}

struct auth_credentials remote_account_credentials(const struct remote_account *a)
{
    struct auth_credentials c = {.user = a->user, .domain = a->domain};
    memcpy(c.hash, a->hash, sizeof c.hash);
    return c;
}

static HRESULT account_copy(const struct remote_account *from, struct remote_account *out)
{
    *out = *from;
    out->user = text_copy(from->user);
    out->domain = text_copy(from->domain);
    if (out->user && out->domain)
        return S_OK;
    remote_account_free(out);
    return E_OUTOFMEMORY;
}

/* ---- tables ---- */

void remote_accounts_free(struct remote_accounts *t)
{
    for (size_t i = 0; i < t->count; i++)
        remote_account_free(&t->rows[i].account);
    memory_free(t->rows);
    *t = (struct remote_accounts){0};
}

static struct remote_accounts_row *table_find(const struct remote_accounts *t, const char *host)
{
    for (size_t i = 0; i < t->count; i++)
        if (text_equal_nocase(t->rows[i].host, host))
            return &t->rows[i];
    return NULL;
}

/* Adds or replaces the host's account. Takes ownership of the account, even on failure. */
static HRESULT table_put(struct remote_accounts *t, const char *host, struct remote_account *account)
{
    struct remote_accounts_row *row = table_find(t, host);
    if (row) {
        remote_account_free(&row->account);
    } else if (memory_grow((void **)&t->rows, &t->capacity, t->count + 1, sizeof *t->rows)) {
        row = &t->rows[t->count++];
        text_fit(row->host, sizeof row->host, host);
    } else {
        remote_account_free(account);
        return E_OUTOFMEMORY;
    }
    row->account = *account;
    return S_OK;
}

static HRESULT host_check(const char *host)
{
    if (!*host || strlen(host) > REMOTE_HOST_MOST || strpbrk(host, " \t\r\n"))
        return error_set(E_INVALIDARG, "invalid computer '%s': expected a name or an address", host);
    return S_OK;
}

static const char *host_without_slashes(const char *host)
{
    return host + strspn(host, "\\");
}

/* Searches for the name with its port, and then for the name alone. If the table contains neither, *out is NULL. */
static HRESULT table_find_host(const struct remote_accounts *t, const char *text, struct remote_accounts_row **out)
{
    char *host, *port;
    *out = table_find(t, text);
    if (*out)
        return S_OK;
    HRESULT hr = host_split(text, &host, &port);
    if (SUCCEEDED(hr) && port)
        *out = table_find(t, host);
    memory_free(host);
    memory_free(port);
    return hr;
}

/* ---- the stored table ---- */

/* "dcom client acc1" and "dcom client acc2" in hexadecimal. From the first four bytes, `openpla store check` recognizes
   that the secrets do not belong to a set. */
static const char *const stored_keys[2] = {"64636f6d20636c69656e742061636331", "64636f6d20636c69656e742061636332"};

static bool hash_read(const char *digits, uint8_t hash[AUTH_HASH_BYTES])
{
    if (strlen(digits) != 2 * AUTH_HASH_BYTES || strspn(digits, "0123456789abcdef") != 2 * AUTH_HASH_BYTES)
        return false;
    for (size_t i = 0; i < AUTH_HASH_BYTES; i++) {
        const char pair[3] = {digits[2 * i], digits[2 * i + 1], 0};
        hash[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return true;
}

/* Parses a line and adds its account. Changes the line. S_FALSE: the line is malformed. */
static HRESULT row_read(char *line, struct remote_accounts *t)
{
    char *fields[FIELDS];
    struct remote_account account = {0};
    for (size_t i = 0; i < FIELDS; i++) {
        char *end = line ? strchr(line, '\t') : NULL;
        fields[i] = line;
        if (!line || (i + 1 < FIELDS) != (end != NULL))
            return S_FALSE;
        if (end)
            *end = 0;
        line = end ? end + 1 : NULL;
    }
    if (!*fields[0] || strlen(fields[0]) > REMOTE_HOST_MOST || !*fields[2] || !hash_read(fields[3], account.hash))
        return S_FALSE;
    account.domain = text_copy(fields[1]);
    account.user = text_copy(fields[2]);
    if (account.domain && account.user)
        return table_put(t, fields[0], &account);
    remote_account_free(&account);
    return E_OUTOFMEMORY;
}

HRESULT remote_accounts_read(char *text, uint64_t *number, struct remote_accounts *out)
{
    HRESULT hr = S_OK;
    char *line = text, *end = strchr(text, '\n');
    if (end)
        *end = 0;
    if (!end || !text_to_u64(line, number))
        hr = S_FALSE;
    for (line = end ? end + 1 : NULL; hr == S_OK && *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end) {
            hr = S_FALSE;
            break;
        }
        *end = 0;
        hr = row_read(line, out);
    }
    if (hr != S_OK)
        remote_accounts_free(out);
    return hr == S_FALSE ? error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                                     "cannot read the accounts for other computers: the stored secret is corrupt "
                                     "(store them again after openpla remote remove -all)")
                         : hr;
}

/* Loads the newest table. *slot is the index of the table's key, or -1 if no table is stored; *number is the table's
   number. */
static HRESULT stored_load(struct remote_accounts *out, int *slot, uint64_t *number)
{
    HRESULT hr = S_OK;
    *out = (struct remote_accounts){0};
    *slot = -1;
    *number = 0;
    for (int i = 0; SUCCEEDED(hr) && i < 2; i++) {
        struct remote_accounts t = {0};
        char *text = NULL;
        uint64_t n = 0;
        hr = secret_load(stored_keys[i], &text);
        if (hr == S_OK)
            hr = remote_accounts_read(text, &n, &t);
        if (hr == S_OK && n > *number) {
            remote_accounts_free(out);
            *out = t;
            *slot = i;
            *number = n;
        } else {
            remote_accounts_free(&t);
        }
        memory_free_secret(text);
    }
    if (FAILED(hr))
        remote_accounts_free(out);
    return FAILED(hr) ? hr : S_OK;
}

static char *table_text(const struct remote_accounts *t, uint64_t number)
{
    struct text_buffer b = {0};
    text_buffer_format(&b, "%llu\n", (unsigned long long)number);
    for (size_t i = 0; i < t->count; i++) {
        const struct remote_account *a = &t->rows[i].account;
        text_buffer_format(&b, "%s\t%s\t%s\t", t->rows[i].host, a->domain, a->user);
        for (size_t byte = 0; byte < AUTH_HASH_BYTES; byte++)
            text_buffer_format(&b, "%02x", a->hash[byte]);
        text_buffer_format(&b, "\n");
    }
    if (!b.failed)
        return b.text;
    text_buffer_free(&b);
    return NULL;
}

static HRESULT stored_save(const struct remote_accounts *t, int slot, uint64_t number)
{
    const char *next = stored_keys[slot == 0];
    HRESULT hr = secret_delete(next);
    if (SUCCEEDED(hr) && t->count) {
        char *text = table_text(t, number + 1);
        hr = text ? secret_store(next, text) : E_OUTOFMEMORY;
        memory_free_secret(text);
    }
    if (SUCCEEDED(hr) && slot >= 0)
        hr = secret_delete(stored_keys[slot]);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT remote_account_store(const char *host, const struct remote_account *a)
{
    struct remote_accounts t;
    struct remote_account copy;
    int slot;
    uint64_t number;
    host = host_without_slashes(host);
    HRESULT hr = host_check(host);
    if (SUCCEEDED(hr))
        hr = stored_load(&t, &slot, &number);
    if (FAILED(hr))
        return hr;
    hr = account_copy(a, &copy);
    if (SUCCEEDED(hr))
        hr = table_put(&t, host, &copy);
    if (SUCCEEDED(hr))
        hr = stored_save(&t, slot, number);
    remote_accounts_free(&t);
    return hr;
}

HRESULT remote_account_remove(const char *host)
{
    struct remote_accounts t;
    int slot;
    uint64_t number;
    HRESULT hr = stored_load(&t, &slot, &number);
    if (FAILED(hr))
        return hr;
    struct remote_accounts_row *row = table_find(&t, host_without_slashes(host));
    hr = row ? S_OK : S_FALSE;
    if (row) {
        assert(t.rows);
        remote_account_free(&row->account);
        *row = t.rows[--t.count];
        hr = stored_save(&t, slot, number);
    }
    remote_accounts_free(&t);
    return hr;
}

HRESULT remote_account_remove_all(void)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < 2; i++)
        hr = secret_delete(stored_keys[i]);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT remote_account_list(struct texts *out)
{
    struct remote_accounts t;
    int slot;
    uint64_t number;
    HRESULT hr = stored_load(&t, &slot, &number);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < t.count; i++) {
        const struct remote_account *a = &t.rows[i].account;
        hr = texts_add(out, t.rows[i].host);
        if (SUCCEEDED(hr)) {
            char *name = *a->domain ? text_format("%s\\%s", a->domain, a->user) : text_copy(a->user);
            hr = name ? texts_add_owned(out, name) : E_OUTOFMEMORY;
        }
    }
    remote_accounts_free(&t);
    return hr;
}

/* ---- accounts given to this process ---- */

static struct lock given_lock = LOCK_INIT;
static struct remote_accounts given;

HRESULT remote_account_give(const char *host, const struct remote_account *a)
{
    struct remote_account copy;
    host = host_without_slashes(host);
    HRESULT hr = host_check(host);
    if (SUCCEEDED(hr))
        hr = account_copy(a, &copy);
    if (FAILED(hr))
        return hr;
    lock_enter(&given_lock);
    hr = table_put(&given, host, &copy);
    lock_leave(&given_lock);
    return hr;
}

HRESULT remote_account_give_password(const char *host, const char *name, const char *password)
{
    struct remote_account account;
    HRESULT hr = remote_account_make(name, password, &account);
    if (SUCCEEDED(hr))
        hr = remote_account_give(host, &account);
    remote_account_free(&account);
    return hr;
}

void remote_account_forget_given(void)
{
    lock_enter(&given_lock);
    remote_accounts_free(&given);
    lock_leave(&given_lock);
}

static HRESULT find_given(const char *host, struct remote_account *out)
{
    struct remote_accounts_row *row;
    lock_enter(&given_lock);
    HRESULT hr = table_find_host(&given, host, &row);
    if (SUCCEEDED(hr) && !row)
        row = table_find(&given, REMOTE_ACCOUNT_ANY_HOST);
    if (SUCCEEDED(hr))
        hr = row ? account_copy(&row->account, out) : S_FALSE;
    lock_leave(&given_lock);
    return hr;
}

static HRESULT find_stored(const char *host, struct remote_account *out)
{
    struct remote_accounts t;
    struct remote_accounts_row *row;
    int slot;
    uint64_t number;
    HRESULT hr = stored_load(&t, &slot, &number);
    if (FAILED(hr))
        return hr;
    hr = table_find_host(&t, host, &row);
    if (SUCCEEDED(hr))
        hr = row ? account_copy(&row->account, out) : S_FALSE;
    remote_accounts_free(&t);
    return hr;
}

HRESULT remote_account_find(const char *host, struct remote_account *out)
{
    *out = (struct remote_account){0};
    host = host_without_slashes(host);
    const HRESULT hr = find_given(host, out);
    return hr == S_FALSE ? find_stored(host, out) : hr;
}

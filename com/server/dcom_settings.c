/* SPDX-License-Identifier: MIT */
/* Reads and writes the settings and accounts of remote DCOM clients in the registry. */
#include "com/server/dcom_settings.h"

#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/registry.h"

#include <stdio.h>
#include <string.h>

#define ACCOUNTS_KEY    DCOM_KEY "\\Accounts"
#define DEFAULT_FROM    "127.0.0.1 ::1"
#define ROLE_USERS      "users"
#define ROLE_ADMINS     "administrators"
#define HASH_HEX_LENGTH (2 * AUTH_HASH_BYTES)

static const struct {
    const char *name;
    uint32_t number, most;
} limit_rows[DCOM_LIMITS] = {
#define DCOM_LIMIT(name, number, most, of) {#name, number, most},
#include "com/server/dcom_limits.def"
#undef DCOM_LIMIT
};

const char *dcom_limit_name(enum dcom_limit limit)
{
    return limit_rows[limit].name;
}

uint32_t dcom_limit_default(enum dcom_limit limit)
{
    return limit_rows[limit].number;
}

/* ---- limits as text ---- */

static HRESULT limit_read(const char *part, size_t length, uint32_t limits[DCOM_LIMITS])
{
    char word[64];
    uint64_t number;
    if (length < sizeof word) {
        memcpy(word, part, length);
        word[length] = 0;
        char *value = strchr(word, '=');
        if (value)
            *value++ = 0;
        for (size_t i = 0; value && i < DCOM_LIMITS; i++)
            if (text_equal_nocase(word, limit_rows[i].name) && text_to_u64(value, &number) && number &&
                number <= limit_rows[i].most) {
                limits[i] = (uint32_t)number;
                return S_OK;
            }
    }
    return error_set(E_INVALIDARG, "invalid limit '%.*s': expected <name>=<number>, see docs/user/limits.md",
                     (int)(length < 80 ? length : 80), part);
}

HRESULT dcom_limits_read(const char *text, uint32_t limits[DCOM_LIMITS])
{
    uint32_t changed[DCOM_LIMITS];
    HRESULT hr = S_OK;
    memcpy(changed, limits, sizeof changed);
    for (const char *at = text; SUCCEEDED(hr) && *at;) {
        const size_t length = strcspn(at, ";");
        if (length)
            hr = limit_read(at, length, changed);
        at += length + (at[length] == ';');
    }
    if (SUCCEEDED(hr))
        memcpy(limits, changed, sizeof changed);
    return hr;
}

static char *limits_text(const uint32_t limits[DCOM_LIMITS])
{
    struct text_buffer b = {0};
    text_buffer_add(&b, "");
    for (size_t i = 0; i < DCOM_LIMITS; i++)
        if (limits[i] != limit_rows[i].number)
            text_buffer_format(&b, "%s%s=%u", b.length ? ";" : "", limit_rows[i].name, (unsigned)limits[i]);
    return text_buffer_take(&b);
}

/* ---- settings ---- */

void dcom_settings_free(struct dcom_settings *s)
{
    memory_free(s->address);
    memory_free(s->from);
    *s = (struct dcom_settings){0};
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static bool admits_others(const char *from)
{
    static const char between[] = " ,;\t";
    for (size_t length; *(from += strspn(from, between)); from += length) {
        length = strcspn(from, between);
        if (strncmp(from, "127.", 4) != 0 && !(length == 3 && strncmp(from, "::1", 3) == 0))
            return true;
    }
    return false;
}

static HRESULT settings_check(const struct dcom_settings *s)
{
    struct ip_address ignored;
    if (!s->port)
        return error_set(E_INVALIDARG, "invalid port of remote DCOM: expected a number from 1 to 65535");
    if (strcmp(s->address, DCOM_ALL_ADDRESSES) != 0 && !ip_address_read(s->address, &ignored))
        return error_set(E_INVALIDARG, "invalid address of remote DCOM '%.60s': expected an IP address or *",
                         s->address);
    if (!is_loopback(s->address) && !admits_others(s->from))
        return error_set(
            E_INVALIDARG,
            "no other computer may connect to '%.60s': '%.100s' permits only this computer (use -from with the "
            "addresses of the clients, such as 10.1.2.*)",
            s->address, s->from);
    return S_OK;
}

static HRESULT read_port(struct registry_key *key, const char *name, uint16_t otherwise, uint16_t *out)
{
    uint64_t number;
    const HRESULT hr = registry_read_number(key, name, &number);
    *out = hr == S_OK ? (uint16_t)number : otherwise;
    if (hr == S_OK && number > UINT16_MAX)
        return error_set(E_INVALIDARG, "invalid value %s of HKLM\\" DCOM_KEY ": expected a number up to 65535", name);
    return hr;
}

static HRESULT read_text(struct registry_key *key, const char *name, const char *otherwise, char **out)
{
    HRESULT hr = registry_read_text(key, name, out);
    if (hr == S_FALSE) {
        *out = text_copy(otherwise);
        hr = *out ? S_OK : E_OUTOFMEMORY;
    }
    return hr;
}

static HRESULT settings_read_key(struct registry_key *key, struct dcom_settings *s)
{
    uint64_t on = 0;
    char *limits = NULL;
    HRESULT hr = registry_read_number(key, "On", &on);
    s->is_on = on != 0;
    if (SUCCEEDED(hr))
        hr = read_port(key, "Port", DCOM_PORT, &s->port);
    if (SUCCEEDED(hr))
        hr = read_port(key, "AdvertisedPort", 0, &s->advertised_port);
    if (SUCCEEDED(hr))
        hr = read_text(key, "Address", DCOM_LOOPBACK, &s->address);
    if (SUCCEEDED(hr))
        hr = read_text(key, "From", DEFAULT_FROM, &s->from);
    if (SUCCEEDED(hr))
        hr = read_text(key, "Limits", "", &limits);
    if (SUCCEEDED(hr))
        hr = dcom_limits_read(limits, s->limits);
    memory_free(limits);
    return SUCCEEDED(hr) ? settings_check(s) : hr;
}

HRESULT dcom_settings_read(struct dcom_settings *out)
{
    struct registry_key *key;
    struct dcom_settings s = {.port = DCOM_PORT};
    for (size_t i = 0; i < DCOM_LIMITS; i++)
        s.limits[i] = limit_rows[i].number;
    *out = (struct dcom_settings){0};
    HRESULT hr = registry_open(DCOM_KEY, false, &key);
    if (hr == S_OK) {
        hr = settings_read_key(key, &s);
        registry_close(key);
    } else if (hr == S_FALSE) {
        s.address = text_copy(DCOM_LOOPBACK);
        s.from = text_copy(DEFAULT_FROM);
        hr = s.address && s.from ? S_OK : E_OUTOFMEMORY;
    }
    if (FAILED(hr))
        dcom_settings_free(&s);
    *out = s;
    return hr;
}

HRESULT dcom_settings_write(const struct dcom_settings *s)
{
    struct registry_key *key;
    bool made;
    HRESULT hr = settings_check(s);
    char *limits = SUCCEEDED(hr) ? limits_text(s->limits) : NULL;
    if (SUCCEEDED(hr) && !limits)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = registry_create(DCOM_KEY, &made, &key);
    if (SUCCEEDED(hr)) {
        hr = registry_write_number(key, "Port", REGISTRY_NUMBER, s->port);
        if (SUCCEEDED(hr))
            hr = registry_write_number(key, "AdvertisedPort", REGISTRY_NUMBER, s->advertised_port);
        if (SUCCEEDED(hr))
            hr = registry_write_text(key, "Address", s->address);
        if (SUCCEEDED(hr))
            hr = registry_write_text(key, "From", s->from);
        if (SUCCEEDED(hr))
            hr = registry_write_text(key, "Limits", limits);
        if (SUCCEEDED(hr)) /* written last, so that the service never sees a part of the new settings */
            hr = registry_write_number(key, "On", REGISTRY_NUMBER, s->is_on);
        registry_close(key);
    }
    memory_free(limits);
    return hr;
}

/* ---- accounts ---- */

static void account_free(struct dcom_account *a)
{
    memory_free(a->name);
    memory_free(a->sid);
    memory_free(a->key);
    *a = (struct dcom_account){0};
}

void dcom_accounts_free(struct dcom_accounts *a)
{
    for (size_t i = 0; i < a->count; i++)
        account_free(&a->items[i]);
    memory_free(a->items);
    *a = (struct dcom_accounts){0};
}

static char *account_path(const char *name)
{
    return text_format(ACCOUNTS_KEY "\\%s", name);
}

static bool sid_is_valid(const char *sid)
{
    struct sid ignored;
    return sid_read(sid, strlen(sid), &ignored);
}

/* S_FALSE: the account does not exist or is malformed. */
static HRESULT account_read(const char *name, struct dcom_account *out)
{
    struct registry_key *key = NULL;
    char *role = NULL, *path = account_path(name);
    *out = (struct dcom_account){.name = text_copy(name)};
    HRESULT hr = path && out->name ? registry_open(path, false, &key) : E_OUTOFMEMORY;
    if (hr == S_OK)
        hr = registry_read_text(key, "Role", &role);
    if (hr == S_OK)
        hr = registry_read_text(key, "Sid", &out->sid);
    if (hr == S_OK)
        hr = registry_read_text(key, "Key", &out->key);
    if (hr == S_OK && (!sid_is_valid(out->sid) || !secret_key_is_one(out->key)))
        hr = S_FALSE;
    if (hr == S_OK)
        out->role = strcmp(role, ROLE_ADMINS) == 0 ? DCOM_ROLE_ADMINISTRATORS : DCOM_ROLE_USERS;
    registry_close(key);
    memory_free(role);
    memory_free(path);
    if (hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA))
        hr = S_FALSE;
    if (hr != S_OK)
        account_free(out);
    return hr;
}

HRESULT dcom_accounts_read(struct dcom_accounts *out)
{
    struct registry_key *key;
    struct texts names = {0};
    *out = (struct dcom_accounts){0};
    HRESULT hr = registry_open(ACCOUNTS_KEY, false, &key);
    if (hr != S_OK)
        return SUCCEEDED(hr) ? S_OK : hr;
    hr = registry_list(key, &names);
    registry_close(key);
    for (size_t i = 0; i < names.count && SUCCEEDED(hr); i++) {
        struct dcom_account a;
        hr = account_read(names.items[i], &a);
        if (hr != S_OK)
            continue;
        if (memory_grow((void **)&out->items, &out->capacity, out->count + 1, sizeof *out->items)) {
            out->items[out->count++] = a;
        } else {
            account_free(&a);
            hr = E_OUTOFMEMORY;
        }
    }
    texts_free(&names);
    if (FAILED(hr))
        dcom_accounts_free(out);
    return FAILED(hr) ? hr : S_OK;
}

const struct dcom_account *dcom_account_named(const struct dcom_accounts *a, const char *name)
{
    for (size_t i = 0; i < a->count; i++)
        if (text_equal_nocase(a->items[i].name, name))
            return &a->items[i];
    return NULL;
}

static HRESULT account_check(const char *name, const char *password)
{
    size_t characters = 0;
    bool is_valid = *name && strlen(name) <= DCOM_ACCOUNT_MOST && name[0] != ' ' && name[strlen(name) - 1] != ' ' &&
                    !strpbrk(name, "\\/\"[]:|<>+=;,?*@%");
    for (const char *c = name; *c; c++)
        is_valid = is_valid && (uint8_t)*c >= ' ' && *c != 0x7F;
    if (!is_valid)
        return error_set(
            E_INVALIDARG,
            "invalid account '%.100s': expected 1 to %d characters without \\ / \" [ ] : | < > + = ; , ? * "
            "@ %%",
            name, DCOM_ACCOUNT_MOST);
    for (const char *c = password; *c; c++)
        characters += ((uint8_t)*c & 0xC0) != 0x80;
    if (characters < DCOM_PASSWORD_LEAST)
        return error_set(E_INVALIDARG, "invalid password of '%s': it is too short (use %d characters or more)", name,
                         DCOM_PASSWORD_LEAST);
    return S_OK;
}

static HRESULT new_sid(char **out)
{
    GUID guid;
    uint32_t parts[4];
    const HRESULT hr = os_new_guid(&guid);
    if (FAILED(hr))
        return hr;
    memcpy(parts, &guid, sizeof parts);
    *out = text_format("S-1-5-21-%u-%u-%u-%u", (unsigned)parts[0], (unsigned)parts[1], (unsigned)parts[2],
                       1000 + (unsigned)(parts[3] % 1000000));
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Stores the password's hash under a new key. */
static HRESULT hash_store(const char *password, char key[SHARED_KEY_DIGITS + 1])
{
    uint8_t hash[AUTH_HASH_BYTES];
    char digits[HASH_HEX_LENGTH + 1];
    HRESULT hr = shared_new_key(key);
    if (SUCCEEDED(hr))
        hr = auth_hash_password(password, hash);
    if (FAILED(hr))
        return hr;
    memcpy(key, SECRET_KEY_DCOM, strlen(SECRET_KEY_DCOM));
    for (size_t i = 0; i < AUTH_HASH_BYTES; i++)
        snprintf(digits + 2 * i, 3, "%02x", hash[i]);
    hr = secret_store(key, digits);
    memory_wipe(hash, sizeof hash);
    memory_wipe(digits, sizeof digits);
    return hr;
}

static bool digit_read(char digit, uint8_t *out)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = digit ? strchr(digits, digit) : NULL;
    *out = at ? (uint8_t)(at - digits) : 0;
    return at != NULL;
}

static HRESULT hash_load(const char *key, uint8_t hash[AUTH_HASH_BYTES])
{
    char *digits;
    HRESULT hr = secret_load(key, &digits);
    if (hr != S_OK)
        return hr;
    bool is_valid = strlen(digits) == HASH_HEX_LENGTH;
    for (size_t i = 0; is_valid && i < AUTH_HASH_BYTES; i++) {
        uint8_t high = 0, low = 0;
        is_valid = digit_read(digits[2 * i], &high) && digit_read(digits[2 * i + 1], &low);
        hash[i] = (uint8_t)(high << 4 | low);
    }
    memory_free_secret(digits);
    return is_valid ? S_OK : S_FALSE;
}

static HRESULT account_write(const char *name, enum dcom_role role, const char *sid, const char *secret)
{
    struct registry_key *key = NULL;
    bool made;
    char *path = account_path(name);
    HRESULT hr = path ? registry_create(path, &made, &key) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = registry_write_text(key, "Sid", sid);
    if (SUCCEEDED(hr))
        hr = registry_write_text(key, "Role", role == DCOM_ROLE_ADMINISTRATORS ? ROLE_ADMINS : ROLE_USERS);
    if (SUCCEEDED(hr))
        hr = registry_write_text(key, "Key", secret);
    registry_close(key);
    memory_free(path);
    return hr;
}

HRESULT dcom_account_add(const char *name, enum dcom_role role, const char *password, bool replace)
{
    struct dcom_account old = {0};
    char secret[SHARED_KEY_DIGITS + 1], *sid = NULL;
    HRESULT hr = account_check(name, password);
    if (SUCCEEDED(hr))
        hr = account_read(name, &old);
    if (hr == S_OK && !replace)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                       "account '%s' already exists (use -replace to change its password or role)", name);
    if (SUCCEEDED(hr))
        hr = hash_store(password, secret);
    if (SUCCEEDED(hr)) {
        if (!old.sid)
            hr = new_sid(&sid);
        if (SUCCEEDED(hr))
            hr = account_write(name, role, old.sid ? old.sid : sid, secret);
        /* Delete the hash that is not used: after a success the old one, after a failure the new one. */
        if (FAILED(hr))
            secret_delete(secret);
        else if (old.key)
            secret_delete(old.key);
    }
    memory_free(sid);
    account_free(&old);
    return hr;
}

HRESULT dcom_account_remove(const char *name)
{
    struct dcom_account old;
    char *path = NULL;
    HRESULT hr = strpbrk(name, "\\/") ? S_FALSE : account_read(name, &old);
    if (hr != S_OK)
        return hr;
    path = account_path(old.name);
    hr = path ? registry_delete(path) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        secret_delete(old.key);
    account_free(&old);
    memory_free(path);
    return hr;
}

/* ---- identities of accounts ---- */

void dcom_identity_of(const struct dcom_account *a, struct dcom_identity *out)
{
    size_t count = 0;
    *out = (struct dcom_identity){0};
    snprintf(out->name, sizeof out->name, "dcom\\%s", a->name);
    out->groups[count++] = "S-1-1-0";      /* Everyone */
    out->groups[count++] = "S-1-5-2";      /* Network */
    out->groups[count++] = "S-1-5-11";     /* Authenticated Users */
    out->groups[count++] = "S-1-5-32-545"; /* Users */
    out->groups[count] = a->role == DCOM_ROLE_ADMINISTRATORS ? "S-1-5-32-544" : "S-1-5-32-559";
    out->sids = (struct account_sids){.name = out->name, .user = a->sid, .groups = out->groups};
}

/* For an unknown name, loads the hash of another account. A logon with an unknown name is therefore rejected in the
   same time as one with a wrong password. */
static bool find_account(void *user, const char *name, const char *domain, uint8_t hash[AUTH_HASH_BYTES],
                         char account[AUTH_NAME_BYTES])
{
    struct dcom_accounts all;
    (void)user;
    (void)domain; /* not used: it can be the name of the client's computer or of this computer */
    if (FAILED(dcom_accounts_read(&all)))
        return false;
    const struct dcom_account *a = dcom_account_named(&all, name), *any = a ? a : all.count ? all.items : NULL;
    const bool has_hash = any && hash_load(any->key, hash) == S_OK;
    if (a && has_hash)
        text_fit(account, AUTH_NAME_BYTES, a->name);
    if (!a)
        memory_wipe(hash, AUTH_HASH_BYTES);
    dcom_accounts_free(&all);
    return a && has_hash;
}

HRESULT dcom_auth_accounts(struct auth_accounts *out)
{
    static char name[64];
    char *computer = os_computer_name();
    if (!computer)
        return E_OUTOFMEMORY;
    text_fit(name, sizeof name, *computer ? computer : "OPENPLA");
    memory_free(computer);
    *out = (struct auth_accounts){.computer_name = name, .find = find_account};
    return S_OK;
}

/* SPDX-License-Identifier: MIT */
/* Keeps the contents of the -web file, and of the files that it names, as a state. A state is immutable and
   reference-counted, and is replaced as a whole when a file changes. Only the list of accepted headers grows. A scraper
   sends the same header every few seconds and bcrypt takes 0.1 s, so accepted headers are kept in memory. Accepted
   headers are overwritten when the state is freed. */
#include "cli/http/security.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    RELOAD_MS = 2000,   /* minimum interval for reading the files again */
    MOST_ACCEPTED = 16, /* maximum number of accepted headers to keep */
    MOST_CREDENTIALS = 1024,
};

struct http_security_state {
    atomic_uint references;
    struct web_config config;
    struct tls_server *tls;
    uint64_t hash;
    struct lock checking; /* held while a password is checked; taken before `lock` */
    struct lock lock;
    struct texts accepted; /* values of Authorization headers (basic authentication) that were accepted */
};

struct http_security {
    char *path;
    bool tls, accounts; /* `tls`: the server began with TLS; `accounts`: the server began with accounts */
    struct lock lock;
    struct http_security_state *state;
    uint64_t checked, refused; /* `checked`: time of the last check; `refused`: hash of the files that were reported
                                  as unusable; 0 means no such files */
};

/* ---- the files ---- */

void http_security_release(struct http_security_state *state)
{
    if (!state || atomic_fetch_sub(&state->references, 1) > 1)
        return;
    tls_server_close(state->tls);
    web_config_free(&state->config);
    for (size_t i = 0; i < state->accepted.count; i++)
        memory_wipe(state->accepted.items[i], strlen(state->accepted.items[i]));
    texts_free(&state->accepted);
    memory_free(state);
}

/* Loads the files. *out is NULL if they are the same as those of `current`, which can be NULL. */
static HRESULT state_load(const char *path, const struct http_security_state *current, struct http_security_state **out,
                          uint64_t *seen)
{
    struct http_security_state *s = memory_zero(1, sizeof *s);
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    atomic_init(&s->references, 1);
    HRESULT hr = web_config_load(path, &s->config, &s->hash);
    *seen = s->hash;
    const bool same = SUCCEEDED(hr) && current && s->hash == current->hash;
    if (SUCCEEDED(hr) && !same && s->config.users.count > 0)
        hr = password_library_load();
    if (SUCCEEDED(hr) && !same && s->config.tls)
        hr = tls_server_open(&s->config, &s->tls);
    if (SUCCEEDED(hr) && !same) {
        *out = s;
        return S_OK;
    }
    const struct error_kept why = error_keep(hr);
    http_security_release(s);
    return FAILED(hr) ? error_restore(&why) : S_OK;
}

static bool state_has_accounts(const struct http_security_state *s)
{
    const struct web_config *c = &s->config;
    return c->users.count > 0 || c->tokens.count > 0 || c->client_certificate == WEB_CLIENT_VERIFY;
}

HRESULT http_security_open(const char *path, struct http_security **out)
{
    struct http_security *s = memory_zero(1, sizeof *s);
    uint64_t seen;
    *out = s;
    if (!s)
        return E_OUTOFMEMORY;
    s->checked = clock_monotonic_ms();
    s->path = text_copy(path);
    HRESULT hr = s->path ? state_load(path, NULL, &s->state, &seen) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        s->tls = s->state->tls != NULL;
        s->accounts = state_has_accounts(s->state);
        return S_OK;
    }
    const struct error_kept why = error_keep(hr);
    http_security_close(s);
    *out = NULL;
    return error_restore(&why);
}

void http_security_close(struct http_security *s)
{
    if (!s)
        return;
    http_security_release(s->state);
    memory_free(s->path);
    memory_free(s);
}

bool http_security_has_tls(const struct http_security *s)
{
    return s->tls;
}

bool http_security_has_accounts(const struct http_security *s)
{
    return s->accounts;
}

struct http_security_state *http_security_take(struct http_security *s)
{
    struct http_security_state *state, *newer = NULL;
    uint64_t seen = 0;
    lock_enter(&s->lock);
    const uint64_t now = clock_monotonic_ms();
    if (clock_passed_ms(s->checked, now) >= RELOAD_MS) {
        s->checked = now;
        HRESULT hr = state_load(s->path, s->state, &newer, &seen);
        /* The server cannot change between TLS and no TLS at the same address. A file that is just being written, or
           that is truncated because the disk is full, must not give everybody access. */
        if (newer && ((newer->tls != NULL) != s->tls || (s->accounts && !state_has_accounts(newer)))) {
            http_security_release(newer);
            newer = NULL;
            hr = error_set(E_INVALIDARG,
                           "'%s': cannot turn TLS on or off, or remove all accounts, while the program runs "
                           "(restart it)",
                           s->path);
        }
        seen += seen == 0;
        if (FAILED(hr) && seen != s->refused)
            fprintf(stderr, "openpla: the previous settings stay in use: %s\n", error_text(hr));
        s->refused = FAILED(hr) ? seen : 0;
        if (newer) {
            http_security_release(s->state);
            s->state = newer;
        }
    }
    state = s->state;
    atomic_fetch_add(&state->references, 1);
    lock_leave(&s->lock);
    return state;
}

bool http_security_is_current(struct http_security *s, const struct http_security_state *state)
{
    lock_enter(&s->lock);
    const bool current = s->state == state;
    lock_leave(&s->lock);
    return current;
}

struct tls_server *http_security_tls(const struct http_security_state *state)
{
    return state->tls;
}

/* ---- accounts ---- */

/* Compares in constant time: a wrong text takes as long as the right text of the same length. */
static bool secret_equals(struct http_span s, const char *text)
{
    const size_t length = strlen(text);
    unsigned differs = s.size != length;
    for (size_t i = 0; i < length && s.size > 0; i++)
        differs |= (unsigned char)text[i] ^ (unsigned char)s.at[i % s.size];
    return !differs;
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes base64 (RFC 4648) with padding. Returns false if the text is malformed, contains a NUL, or is longer than
   `room` allows. */
static bool base64_read(struct http_span s, char *out, size_t room)
{
    size_t size = 0;
    unsigned bits = 0, count = 0;
    if (s.size % 4 != 0)
        return false;
    while (s.size > 0 && s.at[s.size - 1] == '=' && count < 2)
        s.size--, count++;
    count = 0;
    for (size_t i = 0; i < s.size; i++) {
        const int value = base64_value(s.at[i]);
        if (value < 0)
            return false;
        bits = bits << 6 | (unsigned)value;
        count += 6;
        if (count < 8)
            continue;
        count -= 8;
        const char c = (char)(bits >> count & 0xFF);
        if (!c || size + 1 >= room)
            return false;
        out[size++] = c;
    }
    out[size] = 0;
    return true;
}

static bool user_accepts(const struct web_config *c, const char *user, const char *password)
{
    const char *hash = c->hashes.items[0]; /* also computed for an unknown user, so that the time of the response does
                                              not show whether the user exists */
    bool known = false;
    for (size_t i = 0; i < c->users.count; i++)
        if (strcmp(c->users.items[i], user) == 0) {
            hash = c->hashes.items[i];
            known = true;
        }
    char computed[PASSWORD_HASH_BYTES];
    const struct http_span expected = {hash, strlen(hash)};
    const bool matches = password_hash(password, hash, computed) && secret_equals(expected, computed);
    return matches && known;
}

static bool was_accepted(struct http_security_state *s, struct http_span encoded)
{
    bool accepted = false;
    lock_enter(&s->lock);
    for (size_t i = 0; i < s->accepted.count; i++)
        accepted |= secret_equals(encoded, s->accepted.items[i]);
    lock_leave(&s->lock);
    return accepted;
}

static void keep_accepted(struct http_security_state *s, struct http_span encoded)
{
    lock_enter(&s->lock);
    char *kept = s->accepted.count < MOST_ACCEPTED ? text_copy_n(encoded.at, encoded.size) : NULL;
    if (kept)
        (void)texts_add_owned(&s->accepted, kept); /* if memory runs out, the header will be checked again */
    lock_leave(&s->lock);
}

/* Checks one password at a time. A client that guesses passwords can therefore use only one processor, and does not
   delay clients that were accepted before. */
static bool basic_accepts(struct http_security_state *s, struct http_span encoded)
{
    char text[MOST_CREDENTIALS];
    if (was_accepted(s, encoded))
        return true;
    lock_enter(&s->checking);
    bool accepts = was_accepted(s, encoded);
    char *colon = !accepts && base64_read(encoded, text, sizeof text) ? strchr(text, ':') : NULL;
    if (colon) {
        *colon = 0;
        accepts = user_accepts(&s->config, text, colon + 1);
        if (accepts)
            keep_accepted(s, encoded);
    }
    memory_wipe(text, sizeof text);
    lock_leave(&s->checking);
    return accepts;
}

bool http_security_accepts(struct http_security_state *s, const struct http_request *request)
{
    struct http_span value = request->credentials, scheme;
    char name[16];
    if (s->config.users.count == 0 && s->config.tokens.count == 0)
        return true;
    if (!value.at || !http_span_split(&value, ' ', &scheme) || !http_span_fits(scheme, name, sizeof name))
        return false;
    value = http_span_trim(value);
    if (value.size == 0 || value.size > MOST_CREDENTIALS)
        return false;
    if (text_equal_nocase(name, "Basic") && s->config.users.count > 0)
        return basic_accepts(s, value);
    bool accepts = false;
    for (size_t i = 0; i < s->config.tokens.count && text_equal_nocase(name, "Bearer"); i++)
        accepts |= secret_equals(value, s->config.tokens.items[i]);
    return accepts;
}

const char *http_security_challenge(const struct http_security_state *s)
{
    return s->config.users.count == 0    ? "WWW-Authenticate: Bearer\r\n"
           : s->config.tokens.count == 0 ? "WWW-Authenticate: Basic realm=\"openpla\", charset=\"UTF-8\"\r\n"
                                         : "WWW-Authenticate: Basic realm=\"openpla\", charset=\"UTF-8\"\r\n"
                                           "WWW-Authenticate: Bearer\r\n";
}

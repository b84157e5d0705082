/* SPDX-License-Identifier: MIT */
/* Parses the file of credentials, and the URL to which requests are sent. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/export/push.h"

#include <string.h>

enum { MOST_FILE = 64 << 10, MOST_VALUE = 4096 };

void push_credentials_free(struct push_credentials *c)
{
    memory_free_secret(c->token);
    memory_free_secret(c->user);
    memory_free_secret(c->password);
    *c = (struct push_credentials){0};
}

/* Moves *line past leading whitespace and returns the length without trailing whitespace. */
static size_t line_trim(const char **line, size_t length)
{
    for (; length > 0 && (**line == ' ' || **line == '\t'); ++*line)
        length--;
    while (length > 0 && strchr(" \t\r", (*line)[length - 1]))
        length--;
    return length;
}

static HRESULT read_line(const char *line, size_t length, size_t number, struct push_credentials *out)
{
    const struct {
        const char *key;
        char **value;
    } rows[] = {{"token", &out->token}, {"user", &out->user}, {"password", &out->password}};
    length = line_trim(&line, length);
    if (length == 0 || *line == '#')
        return S_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t of_key = strlen(rows[i].key);
        if (length <= of_key || memcmp(line, rows[i].key, of_key) != 0 || line[of_key] != ':')
            continue;
        const char *value = line + of_key + 1;
        const size_t size = line_trim(&value, length - of_key - 1);
        if (*rows[i].value || size == 0 || size > MOST_VALUE)
            return error_set(E_INVALIDARG, "line %zu: '%s' %s", number, rows[i].key,
                             *rows[i].value ? "occurs twice" : "requires a value of at most 4096 bytes");
        for (size_t k = 0; k < size; k++)
            if ((unsigned char)value[k] < ' ' || value[k] == 0x7F)
                return error_set(E_INVALIDARG, "line %zu: '%s' contains a control character", number, rows[i].key);
        *rows[i].value = text_copy_n(value, size);
        return *rows[i].value ? S_OK : E_OUTOFMEMORY;
    }
    return error_set(E_INVALIDARG, "line %zu: expected 'token: VALUE', 'user: NAME' or 'password: VALUE'", number);
}

HRESULT push_credentials_parse(const char *text, size_t size, struct push_credentials *out)
{
    HRESULT hr = S_OK;
    *out = (struct push_credentials){0};
    for (size_t at = 0, number = 1; at < size && SUCCEEDED(hr); number++) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - text) - at : size - at;
        hr = read_line(text + at, length, number, out);
        at += length + 1;
    }
    if (SUCCEEDED(hr) && !!out->token == !!out->user)
        hr = error_set(E_INVALIDARG, out->token ? "expected a token or a user, not both"
                                                : "expected a token, or a user and a password");
    if (SUCCEEDED(hr) && !!out->user != !!out->password)
        hr = error_set(E_INVALIDARG, "a user requires a password, and a password requires a user");
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        push_credentials_free(out);
        return error_restore(&why);
    }
    return S_OK;
}

HRESULT push_credentials_load(const char *path, struct push_credentials *out)
{
    char *text;
    size_t size;
    *out = (struct push_credentials){0};
    HRESULT hr = file_load(path, MOST_FILE, &text, &size);
    if (FAILED(hr))
        return hr;
    hr = push_credentials_parse(text, size, out);
    memory_wipe(text, size);
    memory_free(text);
    return FAILED(hr) ? error_prefix(hr, "'%s'", path) : S_OK;
}

/* Whether the bytes from `host` to `end` are HOST or HOST:PORT, where HOST is a name, an IPv4 address, or an IPv6
   address in brackets. With any other text, every attempt of the HTTP client would fail. */
static bool authority_is_valid(const char *host, const char *end)
{
    static const char name[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~";
    static const char address[] = "0123456789abcdefABCDEF:.";
    const bool is_bracketed = *host == '[';
    const char *const begin = host + is_bracketed, *after = begin + strspn(begin, is_bracketed ? address : name);
    if (is_bracketed && after > begin && strncmp(after, "%25", 3) == 0) /* an IPv6 zone (RFC 6874) */
        after += 3 + strspn(after + 3, name);
    const char *port = after + is_bracketed;
    uint64_t number;
    char digits[8];
    if (after == begin || (is_bracketed && *after != ']'))
        return false;
    if (port == end)
        return true;
    const size_t length = (size_t)(end - port) - 1;
    if (*port != ':' || length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, port + 1, length);
    digits[length] = 0;
    return text_to_u64(digits, &number) && number > 0 && number <= UINT16_MAX;
}

HRESULT push_url(enum push_kind kind, const char *url, char **out)
{
    const size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
    const char *host = url + scheme, *path = host + strcspn(host, "/?#");
    const char *shown = strchr(url, '@') ? "..." : url; /* a malformed URL can contain a password anywhere */
    *out = NULL;
    for (const char *p = url; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7F || *p == '#')
            return error_set(E_INVALIDARG, "invalid URL '%s': it contains a space, a control character or '#'", shown);
    if (scheme == 0 || path == host)
        return error_set(E_INVALIDARG, "invalid URL '%s': expected http://HOST[:PORT]/PATH or https://...", shown);
    if (memchr(host, '@', (size_t)(path - host)))
        return error_set(E_INVALIDARG, "invalid URL: it contains a user or password (use a credentials file)");
    if (!authority_is_valid(host, path))
        return error_set(E_INVALIDARG,
                         "invalid URL '%s': expected a host, or a host and a port from 1 to 65535, not '%.*s'", url,
                         (int)(path - host), host);
    const bool has_path = *path && strcmp(path, "/") != 0;
    if (kind == PUSH_INFLUX && !has_path)
        return error_set(E_INVALIDARG,
                         "invalid URL '%s': expected the path /write?db=NAME, or /api/v2/write?org=NAME&bucket=NAME",
                         url);
    *out = has_path ? text_copy(url) : text_format("%.*s/v1/metrics", (int)(path - url), url);
    return *out ? S_OK : E_OUTOFMEMORY;
}

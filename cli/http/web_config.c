/* SPDX-License-Identifier: MIT */
/* Parses the -web file. The file is YAML, but only two of YAML's forms are supported: keys at the beginning of a line,
   and, below a section, indented lines "key: value". Comments and empty lines are ignored. Any other YAML syntax is an
   error that names the line, because a security setting must never be skipped. */
#include "cli/http/web_config.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"

#include <string.h>

enum {
    MOST_BYTES = 1 << 20, /* maximum size of one file */
    MOST_LINES = 10000,
    BCRYPT_LENGTH = 60,
};

enum section { SECTION_NONE, SECTION_TLS, SECTION_HTTP, SECTION_USERS };

struct reader {
    struct web_config *c;
    unsigned number; /* number of the line */
    enum section section;
    size_t indent; /* indentation of the section's keys; 0 means no key yet */
};

static HRESULT line_fault(const struct reader *r, const char *why, const char *what)
{
    return error_set(E_INVALIDARG, "line %u: %s: '%s'", r->number, why, what);
}

/* ---- lines ---- */

/* Removes a comment: a '#' at the beginning or after a space, outside quotes. */
static void cut_comment(char *line)
{
    char quote = 0;
    for (char *p = line; *p; p++) {
        if (quote) {
            quote = *p == quote ? 0 : quote;
        } else if ((*p == '"' || *p == '\'') && (p == line || p[-1] == ' ')) {
            quote = *p;
        } else if (*p == '#' && (p == line || p[-1] == ' ')) {
            *p = 0;
            return;
        }
    }
}

static void cut_end(char *line)
{
    size_t length = strlen(line);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\r'))
        line[--length] = 0;
}

/* Removes quotes in place. Returns false if text follows the closing quote, or an escape is not \\ or \". */
static bool unquote(char *value)
{
    const char quote = *value;
    char *to = value;
    const char *from = value + 1;
    if (quote != '"' && quote != '\'')
        return true;
    for (; *from && *from != quote; from++) {
        if (quote == '"' && *from == '\\' && *++from != '\\' && *from != '"')
            return false;
        *to++ = *from;
    }
    *to = 0;
    return *from == quote && !from[1];
}

/* Returns false for values that are not a single line of text in YAML. */
static bool value_is_text(const char *value)
{
    return !strchr("[]{}&*!|>@`%", *value) && strncmp(value, "- ", 2) != 0;
}

/* ---- settings ---- */

static HRESULT take_text(const struct reader *r, char **to, const char *key, const char *value)
{
    if (*to)
        return line_fault(r, "the key occurs twice", key);
    if (!*value)
        return line_fault(r, "missing value", key);
    *to = text_copy(value);
    return *to ? S_OK : E_OUTOFMEMORY;
}

static HRESULT take_version(const struct reader *r, unsigned *to, const char *value)
{
    if (strcmp(value, "TLS12") != 0 && strcmp(value, "TLS13") != 0)
        return line_fault(r, "unsupported version (use TLS12 or TLS13)", value);
    *to = value[4] == '2' ? 12 : 13;
    return S_OK;
}

static HRESULT take_client_auth(const struct reader *r, const char *value)
{
    static const struct {
        const char *name;
        enum web_client_certificate kind;
    } kinds[] = {
        {"NoClientCert", WEB_CLIENT_NONE},
        {"RequestClientCert", WEB_CLIENT_REQUEST},
        {"RequireClientCert", WEB_CLIENT_REQUIRE},
        {"RequireAnyClientCert", WEB_CLIENT_REQUIRE},
        {"VerifyClientCertIfGiven", WEB_CLIENT_VERIFY_IF_GIVEN},
        {"RequireAndVerifyClientCert", WEB_CLIENT_VERIFY},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(value, kinds[i].name) == 0) {
            r->c->client_certificate = kinds[i].kind;
            return S_OK;
        }
    return line_fault(r, "unknown client_auth_type", value);
}

static HRESULT take_tls(const struct reader *r, const char *key, const char *value)
{
    struct web_config *c = r->c;
    if (strcmp(key, "cert_file") == 0)
        return take_text(r, &c->cert_file, key, value);
    if (strcmp(key, "key_file") == 0)
        return take_text(r, &c->key_file, key, value);
    if (strcmp(key, "client_ca_file") == 0)
        return take_text(r, &c->client_ca_file, key, value);
    if (strcmp(key, "client_auth_type") == 0)
        return take_client_auth(r, value);
    if (strcmp(key, "min_version") == 0)
        return take_version(r, &c->min_version, value);
    if (strcmp(key, "max_version") == 0)
        return take_version(r, &c->max_version, value);
    if (strcmp(key, "prefer_server_cipher_suites") == 0)
        return S_OK; /* accepted but ignored: TLS libraries no longer let a server choose this */
    return line_fault(r, "unsupported key", key);
}

static HRESULT take_user(const struct reader *r, const char *name, const char *hash)
{
    const bool is_bcrypt = strlen(hash) == BCRYPT_LENGTH && hash[0] == '$' && hash[1] == '2' &&
                           strchr("aby", hash[2]) && hash[3] == '$' && hash[6] == '$';
    if (!is_bcrypt)
        return line_fault(r, "the password is not a bcrypt hash (create one with 'htpasswd -nB NAME')", name);
    for (size_t i = 0; i < r->c->users.count; i++)
        if (strcmp(r->c->users.items[i], name) == 0)
            return line_fault(r, "the user occurs twice", name);
    const HRESULT hr = texts_add(&r->c->users, name);
    return SUCCEEDED(hr) ? texts_add(&r->c->hashes, hash) : hr;
}

static HRESULT take_top(struct reader *r, const char *key, const char *value)
{
    static const char *const sections[] = {[SECTION_TLS] = "tls_server_config",
                                           [SECTION_HTTP] = "http_server_config",
                                           [SECTION_USERS] = "basic_auth_users"};
    r->section = SECTION_NONE;
    r->indent = 0;
    if (strcmp(key, "bearer_token_file") == 0)
        return take_text(r, &r->c->bearer_token_file, key, value);
    for (size_t i = SECTION_TLS; i <= SECTION_USERS; i++)
        if (strcmp(key, sections[i]) == 0) {
            r->section = (enum section)i;
            r->c->tls |= i == SECTION_TLS;
            return *value && strcmp(value, "{}") != 0 ? line_fault(r, "unexpected value", value) : S_OK;
        }
    return line_fault(r, "unsupported key", key);
}

static HRESULT take_line(struct reader *r, char *line)
{
    const size_t indent = strspn(line, " ");
    char *key = line + indent;
    if (!*key || strcmp(key, "---") == 0)
        return S_OK;
    if (strchr(line, '\t'))
        return line_fault(r, "YAML is indented with spaces, not tabs", key);
    char *colon = *key == '"' || *key == '\'' ? strchr(key + 1, *key) : key;
    colon = colon ? strchr(colon, ':') : NULL;
    while (colon && colon[1] && colon[1] != ' ')
        colon = strchr(colon + 1, ':');
    if (!colon)
        return line_fault(r, "expected 'key: value'", key);
    *colon = 0;
    char *value = colon + 1 + strspn(colon + 1, " ");
    cut_end(key);
    if (!unquote(key) || !*key)
        return line_fault(r, "invalid key", key);
    if (*value && strcmp(value, "{}") != 0 && !value_is_text(value))
        return line_fault(r, "expected plain or quoted text on one line", value);
    if (!unquote(value))
        return line_fault(r, "invalid quotes", value);
    if (indent == 0)
        return take_top(r, key, value);
    if (r->section == SECTION_NONE || (r->indent > 0 && indent != r->indent))
        return line_fault(r, "unexpected indentation", key);
    r->indent = indent;
    if (r->section == SECTION_TLS)
        return take_tls(r, key, value);
    if (r->section == SECTION_USERS)
        return take_user(r, key, value);
    if (strcmp(key, "http2") == 0)
        return S_OK; /* accepted, but the server speaks only HTTP/1.1 */
    return line_fault(r, "unsupported key", key);
}

static HRESULT config_check(const struct web_config *c)
{
    if (c->tls && (!c->cert_file || !c->key_file))
        return error_set(E_INVALIDARG, "tls_server_config: missing %s", c->cert_file ? "key_file" : "cert_file");
    if (c->client_certificate >= WEB_CLIENT_VERIFY_IF_GIVEN && !c->client_ca_file)
        return error_set(E_INVALIDARG, "tls_server_config: client_auth_type requires client_ca_file");
    if (c->client_ca_file && c->client_certificate < WEB_CLIENT_VERIFY_IF_GIVEN)
        return error_set(E_INVALIDARG, "tls_server_config: client_ca_file requires a client_auth_type that "
                                       "verifies certificates");
    if (c->min_version > c->max_version)
        return error_set(E_INVALIDARG, "tls_server_config: min_version is above max_version");
    return S_OK;
}

HRESULT web_config_parse(const char *text, size_t size, struct web_config *out)
{
    struct reader r = {.c = out};
    HRESULT hr = S_OK;
    *out = (struct web_config){.min_version = 12, .max_version = 13};
    if (size > MOST_BYTES || memchr(text, 0, size))
        return error_set(E_INVALIDARG, "expected a text file of at most %u bytes, without zero bytes",
                         (unsigned)MOST_BYTES);
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3, size -= 3;
    while (size > 0 && SUCCEEDED(hr)) {
        const char *end = memchr(text, '\n', size);
        const size_t length = end ? (size_t)(end - text) : size;
        char *line = text_copy_n(text, length);
        if (!line)
            hr = E_OUTOFMEMORY;
        else if (++r.number > MOST_LINES)
            hr = error_set(E_INVALIDARG, "the file has more than %u lines", (unsigned)MOST_LINES);
        if (SUCCEEDED(hr)) {
            cut_comment(line);
            cut_end(line);
            hr = take_line(&r, line);
        }
        memory_free_secret(line);
        text += end ? length + 1 : length;
        size -= end ? length + 1 : length;
    }
    if (SUCCEEDED(hr))
        hr = config_check(out);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        web_config_free(out);
        return error_restore(&why);
    }
    return S_OK;
}

/* ---- files ---- */

/* Reads a file and adds its bytes to the hash. *file becomes its full path. */
static HRESULT file_add(const char *folder, char **file, uint64_t *hash, char **bytes, size_t *size)
{
    if (!*file)
        return S_OK;
    if (**file != '/' && **file != '\\' && (*file)[1] != ':') {
        char *path = path_join(folder, *file);
        if (!path)
            return E_OUTOFMEMORY;
        memory_free(*file);
        *file = path;
    }
    const HRESULT hr = file_load(*file, MOST_BYTES, bytes, size);
    if (SUCCEEDED(hr))
        *hash = hash_bytes(*hash, *bytes, *size);
    return hr;
}

static HRESULT file_hash(const char *folder, char **file, uint64_t *hash)
{
    char *bytes = NULL;
    size_t size = 0;
    const HRESULT hr = file_add(folder, file, hash, &bytes, &size);
    if (bytes)
        memory_wipe(bytes, size);
    memory_free(bytes);
    return hr;
}

static HRESULT tokens_load(struct web_config *c, const char *folder, uint64_t *hash)
{
    char *bytes = NULL, *rest;
    size_t size = 0;
    HRESULT hr = file_add(folder, &c->bearer_token_file, hash, &bytes, &size);
    if (!bytes)
        return hr;
    char *text = text_copy_n(bytes, size);
    memory_wipe(bytes, size);
    memory_free(bytes);
    if (!text)
        return E_OUTOFMEMORY;
    for (char *line = text; line && SUCCEEDED(hr); line = rest) {
        rest = strchr(line, '\n');
        if (rest)
            *rest++ = 0;
        cut_end(line);
        if (*line)
            hr = texts_add(&c->tokens, line);
    }
    if (SUCCEEDED(hr) && c->tokens.count == 0)
        hr = error_set(E_INVALIDARG, "bearer_token_file: '%s' has no token", c->bearer_token_file);
    memory_free_secret(text);
    return hr;
}

HRESULT web_config_load(const char *path, struct web_config *out, uint64_t *hash)
{
    char *text, *folder = path_folder(path);
    size_t size;
    *out = (struct web_config){.tls = false};
    HRESULT hr = folder ? file_load(path, MOST_BYTES, &text, &size) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        *hash = hash_bytes(HASH_START, text, size);
        hr = web_config_parse(text, size, out);
        memory_wipe(text, size);
        memory_free(text);
        if (FAILED(hr) && hr != E_OUTOFMEMORY) {
            const struct error_kept why = error_keep(hr);
            hr = error_set(hr, "cannot use '%s': %s", path, why.text);
        }
        if (SUCCEEDED(hr))
            hr = file_hash(folder, &out->cert_file, hash);
        if (SUCCEEDED(hr))
            hr = file_hash(folder, &out->key_file, hash);
        if (SUCCEEDED(hr))
            hr = file_hash(folder, &out->client_ca_file, hash);
        if (SUCCEEDED(hr))
            hr = tokens_load(out, folder, hash);
    }
    memory_free(folder);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        web_config_free(out);
        return error_restore(&why);
    }
    return S_OK;
}

static void texts_wipe(struct texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        memory_wipe(t->items[i], strlen(t->items[i]));
    texts_free(t);
}

void web_config_free(struct web_config *c)
{
    memory_free(c->cert_file);
    memory_free(c->key_file);
    memory_free(c->client_ca_file);
    memory_free(c->bearer_token_file);
    texts_free(&c->users);
    texts_wipe(&c->hashes);
    texts_wipe(&c->tokens);
    *c = (struct web_config){.tls = false};
}

/* SPDX-License-Identifier: MIT */
/* Posts with WinHTTP, which is loaded at its first use. The certificates that the system trusts are used. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/export/send/http_post.h"

#include <windows.h>
#include <string.h>
#include <wchar.h>
#include <winhttp.h>

#define WINHTTP_LIST(X)                                                                                                \
    X(WinHttpOpen)                                                                                                     \
    X(WinHttpConnect)                                                                                                  \
    X(WinHttpOpenRequest)                                                                                              \
    X(WinHttpSetOption)                                                                                                \
    X(WinHttpSetTimeouts)                                                                                              \
    X(WinHttpAddRequestHeaders)                                                                                        \
    X(WinHttpSendRequest)                                                                                              \
    X(WinHttpReceiveResponse)                                                                                          \
    X(WinHttpQueryHeaders)                                                                                             \
    X(WinHttpReadData)                                                                                                 \
    X(WinHttpCloseHandle)                                                                                              \
    X(WinHttpCrackUrl)

#define WINHTTP_MEMBER(name) __typeof__(name) *name;
static struct {
    WINHTTP_LIST(WINHTTP_MEMBER)
    bool loaded;
} winhttp;

struct http_client {
    HINTERNET session, connection;
    WCHAR *host, *path, *headers; /* headers: sent with each request */
    INTERNET_PORT port;
    bool secure, stopped;
    struct lock lock;  /* protects `stopped` and `request` */
    HINTERNET request; /* the current request */
};

static HRESULT winhttp_load(void)
{
    if (winhttp.loaded)
        return S_OK;
    HMODULE module = LoadLibraryExW(L"winhttp.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!module)
        return error_set(HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND), "sending requires WinHTTP: cannot load winhttp.dll");
#define WINHTTP_FILL(name)                                                                                             \
    winhttp.name = (__typeof__(winhttp.name))(void (*)(void))GetProcAddress(module, #name);                            \
    if (!winhttp.name)                                                                                                 \
        return error_set(HRESULT_FROM_WIN32(ERROR_PROC_NOT_FOUND), "winhttp.dll has no function %s", #name);
    WINHTTP_LIST(WINHTTP_FILL)
#undef WINHTTP_FILL
    winhttp.loaded = true;
    return S_OK;
}

static HRESULT winhttp_error(const char *what)
{
    static const struct {
        DWORD code;
        const char *text;
    } texts[] = {
        {ERROR_WINHTTP_TIMEOUT, "the server did not respond in time"},
        {WSAETIMEDOUT, "the server did not respond in time"}, /* Wine's result */
        {ERROR_WINHTTP_NAME_NOT_RESOLVED, "the name of the server is unknown"},
        {ERROR_WINHTTP_CANNOT_CONNECT, "no connection to the server"},
        {ERROR_WINHTTP_CONNECTION_ERROR, "the connection was closed"},
        {ERROR_WINHTTP_SECURE_FAILURE, "the server's certificate is not trusted"},
        {ERROR_WINHTTP_SECURE_CHANNEL_ERROR, "no secure connection: the server's certificate is not trusted, or client "
                                             "and server have no TLS version in common"},
        {ERROR_WINHTTP_INVALID_SERVER_RESPONSE, "the server's response is malformed"},
        {ERROR_WINHTTP_INVALID_URL, "malformed URL"},
    };
    const DWORD code = GetLastError();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == code)
            return error_set(HRESULT_FROM_WIN32(code), "%s", texts[i].text);
    return error_set(code != 0 ? HRESULT_FROM_WIN32(code) : E_FAIL, "%s: error %lu", what, code);
}

/* Returns the header value "Basic " with "user:password" in base64; NULL: out of memory. */
static char *basic_authorization(const char *user, const char *password)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct text_buffer b = {0};
    char *plain = text_format("%s:%s", user, password ? password : "");
    text_buffer_add(&b, "Basic ");
    for (size_t i = 0, size = plain ? strlen(plain) : 0; i < size; i += 3) {
        unsigned bits = 0;
        char four[4];
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < size ? (unsigned char)plain[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            four[k] = i + k <= size ? digits[bits >> (18 - 6 * k) & 63] : '=';
        text_buffer_add_n(&b, four, 4);
    }
    b.failed |= !plain;
    memory_free_secret(plain);
    return text_buffer_take(&b);
}

static HRESULT client_set_headers(struct http_client *c, const struct http_target *target)
{
    char *basic = target->user ? basic_authorization(target->user, target->password) : NULL;
    const char *value = target->authorization ? target->authorization : basic;
    if (target->user && !basic)
        return E_OUTOFMEMORY;
    char *line = value ? text_format("Authorization: %s\r\n", value) : text_copy("");
    HRESULT hr = line ? text_to_utf16(line, &c->headers, NULL) : E_OUTOFMEMORY;
    memory_free_secret(line);
    memory_free_secret(basic);
    return hr;
}

static HRESULT client_split_url(struct http_client *c, const char *url)
{
    WCHAR *wide;
    URL_COMPONENTS parts = {.dwStructSize = sizeof parts,
                            .dwHostNameLength = (DWORD)-1,
                            .dwUrlPathLength = (DWORD)-1,
                            .dwExtraInfoLength = (DWORD)-1};
    HRESULT hr = text_to_utf16(url, &wide, NULL);
    if (FAILED(hr))
        return hr;
    if (winhttp.WinHttpCrackUrl(wide, 0, 0, &parts) && parts.dwHostNameLength > 0) {
        const size_t path = (size_t)parts.dwUrlPathLength + parts.dwExtraInfoLength; /* the query follows the path */
        c->host = memory_zero(parts.dwHostNameLength + 1u, sizeof(WCHAR));
        c->path = memory_zero(path + 1, sizeof(WCHAR));
        c->port = parts.nPort;
        c->secure = parts.nScheme == INTERNET_SCHEME_HTTPS;
        hr = c->host && c->path ? S_OK : E_OUTOFMEMORY;
        if (SUCCEEDED(hr)) {
            memcpy(c->host, parts.lpszHostName, parts.dwHostNameLength * sizeof(WCHAR));
            memcpy(c->path, parts.lpszUrlPath, path * sizeof(WCHAR));
        }
    } else {
        hr = error_set(E_INVALIDARG, "malformed URL '%s'", url);
    }
    memory_free(wide);
    return hr;
}

HRESULT http_client_open(const struct http_target *target, struct http_client **out)
{
    *out = NULL;
    if (target->ca_file)
        return error_set(
            HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
            "certificate files are not supported on Windows and Wine (add the certificates of '%s' to the system's)",
            target->ca_file);
    HRESULT hr = winhttp_load();
    if (FAILED(hr))
        return hr;
    struct http_client *c = memory_zero(1, sizeof *c);
    if (!c)
        return E_OUTOFMEMORY;
    hr = client_split_url(c, target->url);
    if (SUCCEEDED(hr))
        hr = client_set_headers(c, target);
    if (SUCCEEDED(hr)) {
        c->session = winhttp.WinHttpOpen(L"OpenPLA", WINHTTP_ACCESS_TYPE_DEFAULT_PROXY, NULL, NULL, 0);
        c->connection = c->session ? winhttp.WinHttpConnect(c->session, c->host, c->port, 0) : NULL;
        hr = c->connection ? S_OK : winhttp_error("cannot open WinHTTP");
    }
    if (FAILED(hr)) {
        http_client_close(c);
        return hr;
    }
    *out = c;
    return S_OK;
}

/* From now on, http_client_stop can close the request's handle. When the handle is closed, this thread's calls that use
   the handle end. Only one of the two threads may close the handle. False: the client was stopped. */
static bool client_begin(struct http_client *c, HINTERNET request)
{
    lock_enter(&c->lock);
    const bool goes = !c->stopped;
    c->request = goes ? request : NULL;
    lock_leave(&c->lock);
    return goes;
}

/* True: http_client_stop has closed the handle. */
static bool client_end(struct http_client *c)
{
    lock_enter(&c->lock);
    const bool closed = !c->request;
    c->request = NULL;
    lock_leave(&c->lock);
    return closed;
}

/* Reads the whole response, at most until the time `until`. A time limit for each part would not be enough: a server
   could send small parts forever. */
static HRESULT read_answer(HINTERNET request, uint64_t until, struct http_answer *out)
{
    DWORD number = 0, size = sizeof number, got;
    char rest[1024];
    if (!winhttp.WinHttpQueryHeaders(request, WINHTTP_QUERY_STATUS_CODE | WINHTTP_QUERY_FLAG_NUMBER,
                                     WINHTTP_HEADER_NAME_BY_INDEX, &number, &size, WINHTTP_NO_HEADER_INDEX))
        return winhttp_error("cannot read the response");
    out->status = number < 1000 ? number : 0;
    size = sizeof number;
    if (winhttp.WinHttpQueryHeaders(request, WINHTTP_QUERY_RETRY_AFTER | WINHTTP_QUERY_FLAG_NUMBER,
                                    WINHTTP_HEADER_NAME_BY_INDEX, &number, &size, WINHTTP_NO_HEADER_INDEX))
        out->retry_after_s = number;
    do {
        const size_t room = sizeof out->body - out->size;
        got = 0;
        if (!winhttp.WinHttpReadData(request, room ? out->body + out->size : rest, room ? (DWORD)room : sizeof rest,
                                     &got))
            return winhttp_error("cannot read the response");
        out->size += room ? got : 0;
    } while (got > 0 && clock_monotonic_ms() < until);
    return got == 0 ? S_OK
                    : error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT), "the server did not complete its response in time");
}

static HRESULT make_request(struct http_client *c, HINTERNET request, const WCHAR *type, const void *body, size_t size,
                            uint32_t timeout_ms, struct http_answer *out)
{
    DWORD none = WINHTTP_DISABLE_REDIRECTS, answer_ms = timeout_ms;
    const int ms = (int)timeout_ms;
    const uint64_t until = clock_monotonic_ms() + timeout_ms;
    winhttp.WinHttpSetTimeouts(request, ms, ms, ms, ms);
    /* WinHttpSetTimeouts does not limit the wait for the headers, and Wine supports only this option. */
    winhttp.WinHttpSetOption(request, WINHTTP_OPTION_RECEIVE_RESPONSE_TIMEOUT, &answer_ms, sizeof answer_ms);
    winhttp.WinHttpSetOption(request, WINHTTP_OPTION_DISABLE_FEATURE, &none, sizeof none);
    if (!winhttp.WinHttpAddRequestHeaders(request, type, (DWORD)-1, WINHTTP_ADDREQ_FLAG_ADD) ||
        (*c->headers && !winhttp.WinHttpAddRequestHeaders(request, c->headers, (DWORD)-1, WINHTTP_ADDREQ_FLAG_ADD)))
        return winhttp_error("cannot build the request");
    if (!winhttp.WinHttpSendRequest(request, WINHTTP_NO_ADDITIONAL_HEADERS, 0, (void *)(uintptr_t)body, (DWORD)size,
                                    (DWORD)size, 0) ||
        !winhttp.WinHttpReceiveResponse(request, NULL))
        return winhttp_error("cannot send");
    return read_answer(request, until, out);
}

HRESULT http_client_post(struct http_client *c, const char *content_type, const void *body, size_t size,
                         uint32_t timeout_ms, struct http_answer *out)
{
    WCHAR *wide = NULL;
    memset(out, 0, sizeof *out);
    char *type = text_format("Content-Type: %s\r\n", content_type);
    HRESULT hr = type ? text_to_utf16(type, &wide, NULL) : E_OUTOFMEMORY;
    memory_free(type);
    if (FAILED(hr))
        return hr;
    HINTERNET request = winhttp.WinHttpOpenRequest(c->connection, L"POST", c->path, NULL, WINHTTP_NO_REFERER,
                                                   WINHTTP_DEFAULT_ACCEPT_TYPES, c->secure ? WINHTTP_FLAG_SECURE : 0);
    if (!request) {
        hr = winhttp_error("cannot build the request");
    } else if (!client_begin(c, request)) {
        winhttp.WinHttpCloseHandle(request);
        hr = E_ABORT;
    } else {
        hr = make_request(c, request, wide, body, size, timeout_ms, out);
        const struct error_kept why = error_keep(hr);
        if (client_end(c)) {
            hr = E_ABORT;
        } else {
            winhttp.WinHttpCloseHandle(request);
            hr = error_restore(&why);
        }
    }
    memory_free(wide);
    return hr;
}

void http_client_stop(struct http_client *c)
{
    lock_enter(&c->lock);
    HINTERNET request = c->request;
    c->stopped = true;
    c->request = NULL;
    lock_leave(&c->lock);
    if (request)
        winhttp.WinHttpCloseHandle(request);
}

void http_client_close(struct http_client *c)
{
    if (!c)
        return;
    if (c->connection)
        winhttp.WinHttpCloseHandle(c->connection);
    if (c->session)
        winhttp.WinHttpCloseHandle(c->session);
    if (c->headers)
        memory_wipe(c->headers, wcslen(c->headers) * sizeof(WCHAR));
    memory_free(c->headers);
    memory_free(c->host);
    memory_free(c->path);
    memory_free(c);
}

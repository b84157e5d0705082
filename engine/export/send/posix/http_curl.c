/* SPDX-License-Identifier: MIT */
/* Posts with libcurl, which is loaded by name so that OpenPLA's package need not depend on it. The options used here,
   and their numbers, have been part of libcurl's interface since version 7.32. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/export/send/http_post.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

enum {
    CURL_GLOBAL_ALL = 3,
    CURLE_COULDNT_RESOLVE_HOST = 6,
    CURLE_COULDNT_CONNECT = 7,
    CURLE_OPERATION_TIMEDOUT = 28,
    CURLE_SSL_CONNECT_ERROR = 35,
    CURLE_ABORTED_BY_CALLBACK = 42,
    CURLE_GOT_NOTHING = 52,
    CURLE_SEND_ERROR = 55,
    CURLE_RECV_ERROR = 56,
    CURLE_PEER_FAILED_VERIFICATION = 60,
    CURLINFO_RESPONSE_CODE = 0x200000 + 2,
    CURLOPT_WRITEDATA = 10001,
    CURLOPT_URL = 10002,
    CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_WRITEFUNCTION = 20011,
    CURLOPT_POSTFIELDS = 10015,
    CURLOPT_USERAGENT = 10018,
    CURLOPT_HTTPHEADER = 10023,
    CURLOPT_HEADERDATA = 10029,
    CURLOPT_NOPROGRESS = 43,
    CURLOPT_POST = 47,
    CURLOPT_XFERINFODATA = 10057,
    CURLOPT_CAINFO = 10065,
    CURLOPT_HEADERFUNCTION = 20079,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_HTTPAUTH = 107,
    CURLOPT_POSTFIELDSIZE_LARGE = 30120,
    CURLOPT_TIMEOUT_MS = 155,
    CURLOPT_CONNECTTIMEOUT_MS = 156,
    CURLOPT_USERNAME = 10173,
    CURLOPT_PASSWORD = 10174,
    CURLOPT_PROTOCOLS = 181,
    CURLOPT_XFERINFOFUNCTION = 20219,
    CURLPROTO_HTTP_AND_HTTPS = 1 | 2,
    CURLAUTH_BASIC = 1,
    CURL_ERROR_SIZE = 256,
    CONNECT_MS = 10000,
};

typedef void curl_handle;
typedef struct curl_slist curl_slist;

#define CURL_LIST(X)                                                                                                   \
    X(int, curl_global_init, (long flags))                                                                             \
    X(curl_handle *, curl_easy_init, (void))                                                                           \
    X(int, curl_easy_setopt, (curl_handle * h, int option, ...))                                                       \
    X(int, curl_easy_perform, (curl_handle * h))                                                                       \
    X(int, curl_easy_getinfo, (curl_handle * h, int info, ...))                                                        \
    X(void, curl_easy_cleanup, (curl_handle * h))                                                                      \
    X(const char *, curl_easy_strerror, (int error))                                                                   \
    X(curl_slist *, curl_slist_append, (curl_slist * list, const char *text))                                          \
    X(void, curl_slist_free_all, (curl_slist * list))

#define CURL_MEMBER(type, name, parameters) type(*name) parameters;
static struct {
    CURL_LIST(CURL_MEMBER)
    bool loaded;
} curl;

struct http_client {
    curl_handle *handle;
    curl_slist *headers;
    char *authorization; /* the header line */
    char message[CURL_ERROR_SIZE];
    struct http_answer *answer; /* the response to the current post */
    atomic_bool stopped;
};

static HRESULT curl_load_once(void)
{
    if (curl.loaded)
        return S_OK;
#ifdef OPENPLA_STATIC
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                     "this program is linked statically and cannot load libcurl (use the package openpla-tools)");
#endif
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *module = NULL;
    for (size_t i = 0; !module && i < sizeof names / sizeof *names; i++)
        module = dlopen(names[i], RTLD_NOW);
    if (!module)
        return error_set(HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND),
                         "sending requires libcurl: cannot load '%s' (install the package libcurl4 or libcurl3-gnutls)",
                         names[0]);
#define CURL_FILL(type, name, parameters)                                                                              \
    curl.name = (type(*) parameters)dlsym(module, #name);                                                              \
    if (!curl.name)                                                                                                    \
        return error_set(HRESULT_FROM_WIN32(ERROR_PROC_NOT_FOUND), "libcurl has no function %s", #name);
    CURL_LIST(CURL_FILL)
#undef CURL_FILL
    const int error = curl.curl_global_init(CURL_GLOBAL_ALL);
    if (error)
        return error_set(E_FAIL, "cannot initialise libcurl: %s", curl.curl_easy_strerror(error));
    curl.loaded = true;
    return S_OK;
}

/* Several threads can open clients at the same time. */
static HRESULT curl_load(void)
{
    static struct lock lock = LOCK_INIT;
    lock_enter(&lock);
    const HRESULT hr = curl_load_once();
    lock_leave(&lock);
    return hr;
}

static size_t answer_add(char *bytes, size_t unit, size_t count, void *user)
{
    struct http_client *c = user;
    struct http_answer *a = c->answer;
    const size_t size = unit * count, room = sizeof a->body - a->size, kept = size < room ? size : room;
    memcpy(a->body + a->size, bytes, kept);
    a->size += kept;
    return size;
}

static size_t answer_header(char *line, size_t unit, size_t count, void *user)
{
    static const char name[] = "retry-after:";
    struct http_client *c = user;
    const size_t size = unit * count, length = sizeof name - 1;
    char text[32];
    uint64_t seconds;
    if (size <= length || size - length >= sizeof text)
        return size;
    memcpy(text, line, length);
    text[length] = 0;
    if (!text_equal_nocase(text, name))
        return size;
    memcpy(text, line + length, size - length);
    text[size - length] = 0;
    text[strcspn(text, "\r\n")] = 0;
    if (text_to_u64(text, &seconds))
        c->answer->retry_after_s = seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX;
    return size;
}

static int progress(void *user, int64_t to_receive, int64_t received, int64_t to_send, int64_t sent)
{
    struct http_client *c = user;
    (void)to_receive;
    (void)received;
    (void)to_send;
    (void)sent;
    return atomic_load(&c->stopped);
}

HRESULT http_client_open(const struct http_target *target, struct http_client **out)
{
    *out = NULL;
    HRESULT hr = curl_load();
    if (FAILED(hr))
        return hr;
    struct http_client *c = memory_zero(1, sizeof *c);
    if (!c)
        return E_OUTOFMEMORY;
    c->handle = curl.curl_easy_init();
    hr = c->handle ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && target->authorization) {
        c->authorization = text_format("Authorization: %s", target->authorization);
        hr = c->authorization ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr)) {
        int error = curl.curl_easy_setopt(c->handle, CURLOPT_URL, target->url);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_PROTOCOLS, (long)CURLPROTO_HTTP_AND_HTTPS);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_NOSIGNAL, 1L);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_USERAGENT, "OpenPLA");
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_ERRORBUFFER, c->message);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_WRITEFUNCTION, answer_add);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_WRITEDATA, c);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_HEADERFUNCTION, answer_header);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_HEADERDATA, c);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_NOPROGRESS, 0L);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_XFERINFOFUNCTION, progress);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_XFERINFODATA, c);
        error |= curl.curl_easy_setopt(c->handle, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
        if (target->ca_file)
            error |= curl.curl_easy_setopt(c->handle, CURLOPT_CAINFO, target->ca_file);
        if (target->user) {
            error |= curl.curl_easy_setopt(c->handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
            error |= curl.curl_easy_setopt(c->handle, CURLOPT_USERNAME, target->user);
            error |= curl.curl_easy_setopt(c->handle, CURLOPT_PASSWORD, target->password ? target->password : "");
        }
        if (error)
            hr = error_set(E_FAIL, "libcurl does not accept an option");
    }
    if (FAILED(hr)) {
        http_client_close(c);
        return hr;
    }
    *out = c;
    return S_OK;
}

/* The list owns its strings. "Expect:" prevents a wait for status 100, which few servers send. */
static HRESULT client_set_headers(struct http_client *c, const char *content_type)
{
    char *type = text_format("Content-Type: %s", content_type);
    curl_slist *list = type ? curl.curl_slist_append(NULL, type) : NULL, *more = list;
    memory_free(type);
    if (more)
        more = curl.curl_slist_append(list, "Expect:");
    if (more && c->authorization)
        more = curl.curl_slist_append(list, c->authorization);
    if (!more) {
        curl.curl_slist_free_all(list);
        return E_OUTOFMEMORY;
    }
    curl.curl_slist_free_all(c->headers);
    c->headers = list;
    return curl.curl_easy_setopt(c->handle, CURLOPT_HTTPHEADER, list) ? E_FAIL : S_OK;
}

/* Blocks SIGPIPE on this thread, because TLS libraries write to connections that the server has closed. libcurl cannot
   prevent the signal without changing the process's handler. */
static void block_pipe_signal(void)
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
}

/* Converts libcurl's error code to WinHTTP's, so that the same error is reported on every host OS. */
static HRESULT curl_result(int error)
{
    static const struct {
        int error;
        DWORD winhttp;
    } known[] = {
        {CURLE_COULDNT_RESOLVE_HOST, 12007}, /* ERROR_WINHTTP_NAME_NOT_RESOLVED */
        {CURLE_COULDNT_CONNECT, 12029},      /* ERROR_WINHTTP_CANNOT_CONNECT */
        {CURLE_OPERATION_TIMEDOUT, 12002},   /* ERROR_WINHTTP_TIMEOUT */
        {CURLE_SSL_CONNECT_ERROR, 12157},    /* ERROR_WINHTTP_SECURE_CHANNEL_ERROR */
        {CURLE_GOT_NOTHING, 12030},          /* ERROR_WINHTTP_CONNECTION_ERROR */
        {CURLE_SEND_ERROR, 12030},
        {CURLE_RECV_ERROR, 12030},
        {CURLE_PEER_FAILED_VERIFICATION, 12175}, /* ERROR_WINHTTP_SECURE_FAILURE */
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error)
            return HRESULT_FROM_WIN32(known[i].winhttp);
    return E_FAIL;
}

HRESULT http_client_post(struct http_client *c, const char *content_type, const void *body, size_t size,
                         uint32_t timeout_ms, struct http_answer *out)
{
    long status = 0;
    memset(out, 0, sizeof *out);
    if (atomic_load(&c->stopped))
        return E_ABORT;
    HRESULT hr = client_set_headers(c, content_type);
    if (FAILED(hr))
        return hr;
    block_pipe_signal();
    c->answer = out;
    c->message[0] = 0;
    curl.curl_easy_setopt(c->handle, CURLOPT_POST, 1L);
    curl.curl_easy_setopt(c->handle, CURLOPT_POSTFIELDSIZE_LARGE, (int64_t)size);
    curl.curl_easy_setopt(c->handle, CURLOPT_POSTFIELDS, body);
    curl.curl_easy_setopt(c->handle, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    const int error = curl.curl_easy_perform(c->handle);
    c->answer = NULL;
    if (error == CURLE_ABORTED_BY_CALLBACK && atomic_load(&c->stopped))
        return E_ABORT;
    if (error)
        return error_set(curl_result(error), "%s", c->message[0] ? c->message : curl.curl_easy_strerror(error));
    curl.curl_easy_getinfo(c->handle, CURLINFO_RESPONSE_CODE, &status);
    out->status = status > 0 && status < 1000 ? (unsigned)status : 0;
    return S_OK;
}

void http_client_stop(struct http_client *c)
{
    atomic_store(&c->stopped, true);
}

void http_client_close(struct http_client *c)
{
    if (!c)
        return;
    if (c->handle)
        curl.curl_easy_cleanup(c->handle);
    curl.curl_slist_free_all(c->headers);
    memory_free_secret(c->authorization);
    memory_free(c);
}

/* SPDX-License-Identifier: MIT */
/* The HTTP server. One thread accepts connections; each connection has its own thread, which reads its requests and
   sends the responses. The number of connections, and the time and size of each request and response, are limited.
   Therefore a client can only delay itself or, at worst, occupy all connections until the time limits expire. */
#include "cli/http/http.h"
#include "cli/http/security.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/network.h"
#include "engine/base/text.h"
#include "engine/base/thread.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_CONNECTIONS = 16,
    KEPT_CONNECTIONS = 8, /* when more connections exist, a connection is closed after a response or while it is idle */
    IDLE_MS = 120000,     /* maximum time until the next request of a kept connection; scrapes are usually at most a
                             minute apart */
    REQUEST_MS = 5000,    /* time limit for all bytes of a request */
    ANSWER_MS = 10000,    /* time limit for all bytes of a response */
    SEND_MS = 2000,       /* time limit for the next bytes of a response */
    FINISH_MS = 2000,     /* time limit for the client to read the last response and close */
    SLICE_MS = 250,       /* interval at which threads check whether the program exits */
    PART_BYTES = 4096,
    GZIP_BYTES = 1400, /* shorter bodies are not compressed, because they fit in one packet */
};

struct http_server {
    struct http_options options;
    struct socket_end *listener;
    struct thread *thread;
    char *own_name;
    char url[SOCKET_ADDRESS_BYTES + 32];
    bool is_public;
    atomic_bool closing;
    atomic_uint connections;
};

struct http_connection {
    struct http_server *server;
    struct socket_end *socket;
    struct http_security_state *security; /* the state with which the connection began; NULL means no -web file */
    struct tls_session *tls;              /* NULL means no TLS */
    size_t size;                          /* received bytes */
    char bytes[HTTP_REQUEST_BYTES];       /* bytes of the current request and any requests after it */
};

static HRESULT send_all(struct http_connection *c, const char *bytes, size_t size)
{
    const uint64_t begun = clock_monotonic_ms();
    HRESULT hr = S_OK;
    for (size_t at = 0; at < size && SUCCEEDED(hr); at += PART_BYTES) {
        if (atomic_load(&c->server->closing) || clock_passed_ms(begun, clock_monotonic_ms()) > ANSWER_MS)
            return HRESULT_FROM_WIN32(ERROR_TIMEOUT);
        const size_t part = size - at < PART_BYTES ? size - at : PART_BYTES;
        hr = c->tls ? tls_send(c->tls, bytes + at, part) : socket_send(c->socket, bytes + at, part);
    }
    return hr;
}

static void body_end(struct http_body *body)
{
    if (body->give_back)
        body->give_back(body->owner);
    memory_free(body->owned);
}

/* Authenticates the client with the current files, and creates the body. Returns the status. 0 means that the
   connection must end, because it has a TLS session, and the certificates or accounts were replaced after this session
   began. The client must then reconnect. No response is lost, because none was sent. */
static unsigned answer_make(struct http_connection *c, const struct http_request *request, struct http_body *body,
                            const char **challenge)
{
    const struct http_options *o = &c->server->options;
    struct http_security_state *now = o->security ? http_security_take(o->security) : NULL;
    unsigned status = 200;
    if (c->tls && now != c->security)
        status = 0;
    else if (now && !http_security_accepts(now, request)) {
        status = 401;
        *challenge = http_security_challenge(now);
    }
    http_security_release(now);
    return status == 200 ? o->answer(o->user, request, body) : status;
}

/* Compresses the body, if memory permits. If it returns false, the body is unchanged. */
static bool body_compress(struct http_body *body)
{
    char *packed;
    size_t size;
    if (FAILED(http_gzip(body->bytes, body->size, &packed, &size)))
        return false;
    body_end(body);
    *body = (struct http_body){.type = body->type, .bytes = packed, .owned = packed, .size = size};
    return true;
}

/* Sends the response. If it returns false, the connection must end. */
static bool connection_answer(struct http_connection *c, unsigned status, const struct http_request *request)
{
    struct http_body body = {.type = NULL};
    const char *more = "";
    char line[64];
    const bool keep = status == 200 && request->keep_alive && !atomic_load(&c->server->closing) &&
                      atomic_load(&c->server->connections) <= KEPT_CONNECTIONS;
    bool packed = false;
    if (status == 200)
        status = answer_make(c, request, &body, &more);
    if (status == 0)
        return false;
    if (status == 200 && body.size >= GZIP_BYTES && http_accepts_gzip(request->encodings))
        packed = body_compress(&body);
    if (status != 200) {
        body_end(&body);
        body = (struct http_body){.type = "text/plain; charset=utf-8", .bytes = line};
        body.size = (size_t)snprintf(line, sizeof line, "%u %s\n", status, http_status_text(status));
    }
    char *head = text_format("HTTP/1.1 %u %s\r\nContent-Type: %s\r\n%sContent-Length: %llu\r\n%s%sConnection: %s\r\n"
                             "Cache-Control: no-store\r\nVary: Accept, Accept-Encoding\r\n"
                             "X-Content-Type-Options: nosniff\r\n\r\n",
                             status, http_status_text(status), body.type, packed ? "Content-Encoding: gzip\r\n" : "",
                             (unsigned long long)body.size, status == 405 ? "Allow: GET, HEAD\r\n" : more,
                             c->server->options.headers, keep ? "keep-alive" : "close");
    HRESULT hr = head ? send_all(c, head, strlen(head)) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !request->head)
        hr = send_all(c, body.bytes, body.size);
    memory_free(head);
    body_end(&body);
    return SUCCEEDED(hr) && keep;
}

/* Begins the connection. Returns false if the client does not use TLS, has no accepted certificate, or takes too
   long. */
static bool connection_begin(struct http_connection *c)
{
    struct http_security *security = c->server->options.security;
    const uint64_t begun = clock_monotonic_ms();
    HRESULT hr = S_OK;
    c->security = security ? http_security_take(security) : NULL;
    struct tls_server *tls = c->security ? http_security_tls(c->security) : NULL;
    if (!tls)
        return true;
    if (FAILED(tls_session_open(tls, c->socket, &c->tls)))
        return false;
    do
        hr = tls_handshake(c->tls, SLICE_MS);
    while (hr == HRESULT_FROM_WIN32(ERROR_TIMEOUT) && !atomic_load(&c->server->closing) &&
           clock_passed_ms(begun, clock_monotonic_ms()) < REQUEST_MS);
    return hr == S_OK;
}

static HRESULT connection_receive(struct http_connection *c, size_t *got)
{
    char *to = c->bytes + c->size;
    const size_t room = sizeof c->bytes - c->size;
    return c->tls ? tls_receive_some(c->tls, to, room, SLICE_MS, got)
                  : socket_receive_some(c->socket, to, room, SLICE_MS, got);
}

/* Returns true if a kept connection without a new request may remain open. */
static bool connection_may_idle(const struct http_connection *c, uint64_t passed_ms)
{
    const struct http_server *s = c->server;
    return passed_ms < IDLE_MS && atomic_load(&s->connections) <= KEPT_CONNECTIONS &&
           (!c->tls || http_security_is_current(s->options.security, c->security));
}

/* Reads a request. Returns the status for the response; 0 if the client has disconnected or the program exits. `kept`
   means that the connection has already had a response. */
static unsigned connection_read(struct http_connection *c, bool kept, struct http_request *request)
{
    const struct http_server *s = c->server;
    const char *name = s->is_public && s->options.any_host ? NULL : s->own_name;
    uint64_t begun = clock_monotonic_ms();
    unsigned status = c->size > 0 ? http_request_read(c->bytes, c->size, name, request) : 0;
    while (status == 0) {
        size_t got;
        const bool idle = kept && c->size == 0;
        const uint64_t passed = clock_passed_ms(begun, clock_monotonic_ms());
        if (atomic_load(&s->closing) || (idle && !connection_may_idle(c, passed)))
            return 0;
        if (!idle && passed >= REQUEST_MS)
            return 408;
        const HRESULT hr = connection_receive(c, &got);
        if (hr == HRESULT_FROM_WIN32(ERROR_TIMEOUT))
            continue;
        if (hr != S_OK)
            return 0;
        begun = idle ? clock_monotonic_ms() : begun;
        c->size += got;
        status = http_request_read(c->bytes, c->size, name, request);
    }
    return status;
}

/* Answers requests until the connection ends. A client may send its next request before it has received the response;
   in the buffer, the bytes of the next request then follow those of the current one. */
static void connection_serve_requests(struct http_connection *c)
{
    struct http_request request = {.head = false};
    bool keep = true;
    for (bool kept = false; keep; kept = true) {
        const unsigned status = connection_read(c, kept, &request);
        keep = status != 0 && connection_answer(c, status, &request);
        if (keep) {
            c->size -= request.size;
            memmove(c->bytes, c->bytes + request.size, c->size);
        }
    }
}

static void connection_serve(void *user)
{
    struct http_connection *c = user;
    struct http_server *s = c->server;
    socket_set_timeouts(c->socket, SEND_MS, SEND_MS);
    if (connection_begin(c))
        connection_serve_requests(c);
    tls_session_close(c->tls);
    http_security_release(c->security);
    if (!atomic_load(&s->closing))
        socket_finish(c->socket, FINISH_MS);
    socket_close(c->socket);
    memory_free(c);
    atomic_fetch_sub(&s->connections, 1);
}

static void server_accept(struct http_server *s)
{
    char address[SOCKET_ADDRESS_BYTES];
    struct http_connection *c = memory_zero(1, sizeof *c);
    struct socket_end *socket = NULL;
    struct thread *thread = NULL;
    const struct http_request none = {.head = false};
    if (FAILED(socket_accept(s->listener, &socket, address)) || !c) {
        socket_close(socket);
        memory_free(c);
        thread_sleep(SLICE_MS); /* wait after a failure: for example, too many files are open */
        return;
    }
    c->server = s;
    c->socket = socket;
    if (atomic_fetch_add(&s->connections, 1) < MOST_CONNECTIONS &&
        SUCCEEDED(thread_start(connection_serve, c, &thread))) {
        thread_close(thread);
        return;
    }
    socket_set_timeouts(socket, SLICE_MS, SLICE_MS); /* the send buffer is empty, so it can hold the response without
                                                        waiting */
    if (!s->options.security || !http_security_has_tls(s->options.security))
        (void)connection_answer(c, 503, &none);
    socket_close(socket);
    memory_free(c);
    atomic_fetch_sub(&s->connections, 1);
}

static void server_run(void *user)
{
    struct http_server *s = user;
    while (!atomic_load(&s->closing)) {
        bool ready = false;
        if (FAILED(sockets_wait(&s->listener, 1, SLICE_MS, &ready)))
            thread_sleep(SLICE_MS);
        else if (ready)
            server_accept(s);
    }
}

/* Splits [ADDRESS:]PORT. *address is from memory_alloc. */
static HRESULT where_split(const char *where, char **address, uint16_t *port)
{
    const char *colon = strrchr(where, ':'), *digits = colon ? colon + 1 : where;
    uint64_t number;
    *address = NULL;
    if (!text_to_u64(digits, &number) || number > UINT16_MAX)
        return error_set(E_INVALIDARG, "-http: invalid port '%s': expected [ADDRESS:]PORT", where);
    *port = (uint16_t)number;
    size_t length = colon ? (size_t)(colon - where) : 0;
    if (length > 1 && where[0] == '[' && where[length - 1] == ']') {
        where++;
        length -= 2;
    }
    *address = colon ? text_copy_n(where, length) : text_copy("127.0.0.1");
    if (*address && text_equal_nocase(*address, "localhost")) {
        memory_free(*address);
        *address = text_copy("127.0.0.1");
    }
    return *address ? S_OK : E_OUTOFMEMORY;
}

static void server_describe(struct http_server *s)
{
    char address[SOCKET_ADDRESS_BYTES];
    uint16_t port;
    socket_own_address(s->listener, address, &port);
    const bool is_six = strchr(address, ':') != NULL;
    snprintf(s->url, sizeof s->url, "%s://%s%s%s:%u/",
             s->options.security && http_security_has_tls(s->options.security) ? "https" : "http", is_six ? "[" : "",
             address, is_six ? "]" : "", (unsigned)port);
    s->is_public = strncmp(address, "127.", 4) != 0 && strcmp(address, "::1") != 0;
}

HRESULT http_server_open(const struct http_options *options, struct http_server **out)
{
    char *address;
    uint16_t port = 0;
    struct http_server *s = memory_zero(1, sizeof *s);
    *out = s;
    HRESULT hr = s ? where_split(options->where, &address, &port) : E_OUTOFMEMORY;
    if (FAILED(hr))
        return hr;
    s->options = *options;
    s->own_name = os_computer_name();
    hr = s->own_name ? socket_listen_at(address, port, &s->listener) : E_OUTOFMEMORY;
    memory_free(address);
    if (FAILED(hr))
        return hr;
    server_describe(s);
    return thread_start(server_run, s, &s->thread);
}

const char *http_server_url(const struct http_server *s)
{
    return s->url;
}

bool http_server_is_public(const struct http_server *s)
{
    return s->is_public;
}

void http_server_close(struct http_server *s)
{
    if (!s)
        return;
    atomic_store(&s->closing, true);
    while (s->thread && !thread_wait(s->thread, SLICE_MS)) {
    }
    while (atomic_load(&s->connections) > 0) /* each thread checks `closing`, and waits for its socket at most
                                                SEND_MS */
        thread_sleep(10);
    thread_close(s->thread);
    socket_close(s->listener);
    memory_free(s->own_name);
    memory_free(s);
}

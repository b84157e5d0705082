/* SPDX-License-Identifier: MIT */
/* The HTTP server of the verbs that serve something: openpla live and openpla serve. It reads a request, checks who
   asks, and sends what the verb answers. No path is a file unless the verb makes it one, and none does. */
#ifndef OPENPLA_HTTP_H
#define OPENPLA_HTTP_H

#include "engine/base/error.h"
#include "engine/base/os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- http_request.c: the reader of requests ---- */

enum { HTTP_REQUEST_BYTES = 8192 }; /* the longest request */

struct http_span {
    const char *at; /* not terminated */
    size_t size;
};
bool http_span_is(struct http_span s, const char *text);
bool http_span_equals(struct http_span s, const char *text); /* in any case, for texts of less than 64 bytes */
/* Copies it with a NUL. False: it is empty or does not fit. */
bool http_span_fits(struct http_span s, char *out, size_t room);
/* The bytes up to `end`, which *from then follows. False: there is no `end`. */
bool http_span_split(struct http_span *from, char end, struct http_span *out);
struct http_span http_span_trim(struct http_span s);
bool http_span_is_digits(struct http_span s);

/* The spans are parts of the bytes that were read. */
struct http_request {
    size_t size;                          /* of the request, in the bytes that were read */
    bool keep_alive;                      /* the client may send another one */
    bool head;                            /* without a body */
    struct http_span path, query;         /* as sent, before and behind the first '?' */
    struct http_span accept, credentials; /* headers, credentials: Authorization. Empty: none */
    struct http_span encodings;           /* Accept-Encoding */
};
/* Reads what has arrived. `own_name` is this computer's name, which a client may call it by; NULL: by any name. Returns
   0 if more bytes are needed, 200 with *out, or the status to refuse the request with: 400 malformed, 403 a foreign
   Host (a page of another site whose name was pointed at this computer), 405 neither GET nor HEAD, 431 too long, 505
   not HTTP/1. */
unsigned http_request_read(const char *bytes, size_t size, const char *own_name, struct http_request *out);
/* "Not Found" */
const char *http_status_text(unsigned status);

/* ---- http_accept.c: the lists of Accept and Accept-Encoding ---- */

/* Removes the next item, up to `end` or the end of the list, and trims it. */
struct http_span http_list_next(struct http_span *list, char end);
/* Whether a parameter is "name=value"; *value is without quotes. */
bool http_parameter_is(struct http_span parameter, const char *name, struct http_span *value);
/* RFC 9110: 0 to 1 with at most three digits, in thousandths; what is not one counts as 0. */
unsigned http_quality(struct http_span s);
/* Whether the client prefers gzip to the bytes as they are. */
bool http_accepts_gzip(struct http_span encodings);

/* ---- http_gzip.c ---- */

/* Compresses the bytes. *out from memory_alloc. */
HRESULT http_gzip(const char *bytes, size_t size, char **out, size_t *out_size);

/* ---- http_server.c ---- */

struct http_security;

/* A body: borrowed until it is given back, or a text that the server frees. */
struct http_body {
    const char *type, *bytes;
    char *owned; /* from memory_alloc; NULL: borrowed */
    size_t size;
    void (*give_back)(void *owner); /* called when the body has been sent, on the connection's thread; may be NULL */
    void *owner;
};

struct http_options {
    const char *where;   /* [ADDRESS:]PORT, by default at 127.0.0.1; port 0: a free one */
    const char *headers; /* more header lines of each answer, each with CR LF; may be "" */
    bool any_host;       /* a client on another computer may call this one by any name */
    /* Answers a request on a thread of the connection: 200 with *out, which is zero before the call, or another status.
     */
    unsigned (*answer)(void *user, const struct http_request *request, struct http_body *out);
    void *user;
    struct http_security *security; /* borrowed; NULL: without TLS and accounts */
};

struct http_server;
/* E_INVALIDARG with a message, or the system's reason. The fields of `options` are borrowed until
   http_server_close. */
HRESULT http_server_open(const struct http_options *options, struct http_server **out);
/* "http://127.0.0.1:8080/"; borrowed. */
const char *http_server_url(const struct http_server *s);
/* Whether other computers can connect. */
bool http_server_is_public(const struct http_server *s);
void http_server_close(struct http_server *s); /* waits for its threads; NULL is allowed */

/* ---- http_serving.c ---- */

/* A server with the security of a file. Zero-initialise. */
struct http_serving {
    struct http_server *server;
    struct http_security *security;
};
/* Opens the server, prints its address with `page` behind it, and warns on stderr of what others can do. `web`: the
   file of -web; NULL: none. options->security is not used. */
HRESULT http_serving_begin(const char *verb, const char *web, const char *page, const struct http_options *options,
                           struct http_serving *out);
void http_serving_end(struct http_serving *s);

#endif

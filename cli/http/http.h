/* SPDX-License-Identifier: MIT */
/* The HTTP server of the verbs openpla live and openpla serve. The server reads requests, authenticates clients, and
   sends the verb's responses. It never maps a request's path to a file. */
#ifndef OPENPLA_HTTP_H
#define OPENPLA_HTTP_H

#include "engine/base/error.h"
#include "engine/base/os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- http_request.c: parser of requests ---- */

enum { HTTP_REQUEST_BYTES = 8192 }; /* maximum size of a request */

struct http_span {
    const char *at; /* not terminated */
    size_t size;
};
bool http_span_is(struct http_span s, const char *text);
bool http_span_equals(struct http_span s, const char *text); /* ignores case; `text` must be shorter than 64 bytes */
/* Copies the bytes and adds a NUL. Returns false if the span is empty or longer than `out` can hold. */
bool http_span_fits(struct http_span s, char *out, size_t room);
/* Splits *from at the first character `end`: *out becomes the part before `end`, and *from becomes the part after
   `end`. Returns false if *from does not contain `end`. */
bool http_span_split(struct http_span *from, char end, struct http_span *out);
struct http_span http_span_trim(struct http_span s);
bool http_span_is_digits(struct http_span s);

/* A request. The spans below point into the received bytes. */
struct http_request {
    size_t size;                          /* size of this request in bytes; further bytes may have been received */
    bool keep_alive;                      /* the client may send another request */
    bool head;                            /* HEAD: the response has no body */
    struct http_span path, query;         /* as sent, before and after the first '?' */
    struct http_span accept, credentials; /* header values; credentials: Authorization. Empty: no such header */
    struct http_span encodings;           /* value of Accept-Encoding */
};
/* Parses the bytes received so far. `own_name` is this computer's name, which a client may use as the Host; if it is
   NULL, any Host is accepted. Returns 0 if more bytes are needed, 200 with *out, or the status with which to refuse the
   request. The status is 400 for a malformed request, 403 for a foreign Host, 405 for a method other than GET and HEAD,
   431 for a request that is too long, and 505 if the protocol is not HTTP/1. A foreign Host is refused, because another
   site can let its own name resolve to this computer's address. */
unsigned http_request_read(const char *bytes, size_t size, const char *own_name, struct http_request *out);
/* Returns a text such as "Not Found". */
const char *http_status_text(unsigned status);

/* ---- http_accept.c: the lists in Accept and Accept-Encoding ---- */

/* Removes the next item from the list and trims it. The item ends before the next character `end`, or where the list
   ends. */
struct http_span http_list_next(struct http_span *list, char end);
/* Returns true if the parameter is "name=value"; *value is without quotes. */
bool http_parameter_is(struct http_span parameter, const char *name, struct http_span *value);
/* Converts a quality value of RFC 9110 (0 to 1 with at most three digits) to thousandths. Invalid values count as 0. */
unsigned http_quality(struct http_span s);
/* Returns true if the client prefers gzip to uncompressed bytes. */
bool http_accepts_gzip(struct http_span encodings);

/* ---- http_gzip.c ---- */

/* Compresses the bytes. *out is from memory_alloc. */
HRESULT http_gzip(const char *bytes, size_t size, char **out, size_t *out_size);

/* ---- http_server.c ---- */

struct http_security;

/* The body of a response. The bytes of the body are borrowed until give_back is called, or are in `owned`, which the
   server frees. */
struct http_body {
    const char *type, *bytes;
    char *owned; /* from memory_alloc; NULL if the bytes are borrowed */
    size_t size;
    void (*give_back)(void *owner); /* called when the body has been sent, on the connection's thread; may be NULL */
    void *owner;
};

struct http_options {
    const char *where;   /* [ADDRESS:]PORT; the default address is 127.0.0.1; port 0: any free port */
    const char *headers; /* additional header lines of each response, each with CR LF; may be "" */
    bool any_host;       /* if other computers can connect, clients may use any Host */
    /* Answers a request on the connection's thread. Returns 200 with *out, which is zero before the call, or another
       status. */
    unsigned (*answer)(void *user, const struct http_request *request, struct http_body *out);
    void *user;
    struct http_security *security; /* borrowed; NULL means no TLS and no accounts */
};

struct http_server;
/* Opens the server. Fails with E_INVALIDARG and a message, or with the system's error. The members of `options` are
   borrowed until http_server_close, which must be called even after a failure. */
HRESULT http_server_open(const struct http_options *options, struct http_server **out);
/* Returns a URL such as "http://127.0.0.1:8080/", which is borrowed. */
const char *http_server_url(const struct http_server *s);
/* Returns true if other computers can connect. */
bool http_server_is_public(const struct http_server *s);
void http_server_close(struct http_server *s); /* waits for the server's threads; NULL is allowed */

/* ---- http_serving.c ---- */

/* A server, and the security settings from the -web file. Zero-initialise. */
struct http_serving {
    struct http_server *server;
    struct http_security *security;
};
/* Opens the server, prints its URL followed by `page`, and warns on stderr if other users can read the counters or
   passwords. `web` is the path of the -web file or NULL. Ignores options->security. */
HRESULT http_serving_begin(const char *verb, const char *web, const char *page, const struct http_options *options,
                           struct http_serving *out);
void http_serving_end(struct http_serving *s);

#endif

/* SPDX-License-Identifier: MIT */
/* An HTTP client that posts bodies. The native build uses libcurl; Windows and Wine use WinHTTP. Both libraries are
   loaded by name at their first use (DECISIONS 173). */
#ifndef OPENPLA_HTTP_POST_H
#define OPENPLA_HTTP_POST_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_ANSWER_BYTES = 4096 }; /* bytes of a response's body that are kept */

struct http_target {
    const char *url;             /* http:// or https://, without user and password */
    const char *authorization;   /* value of the header, "Bearer ..."; NULL: none */
    const char *user, *password; /* for basic authentication; NULL: none */
    const char *ca_file;         /* PEM file of trusted certificates; NULL: the host OS's certificates */
};

struct http_client;
/* Opens a client; copies the strings. Fails with HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND) if the library is missing; the
   message names the library and, in the native build, the package to install. Fails with E_INVALIDARG and a message if
   the URL is malformed, and with HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) if the host OS cannot use `ca_file`. Several
   threads may call this function. */
HRESULT http_client_open(const struct http_target *target, struct http_client **out);

struct http_answer {
    unsigned status;              /* 200 */
    uint32_t retry_after_s;       /* value of Retry-After; 0: no such header, or it contains a date */
    char body[HTTP_ANSWER_BYTES]; /* beginning of the body; not always text */
    size_t size;
};
/* Posts a body and waits up to `timeout_ms` for the response. On failure, the error message says why there is no
   response. E_ABORT: http_client_stop was called. Only one thread at a time may call this function. */
HRESULT http_client_post(struct http_client *c, const char *content_type, const void *body, size_t size,
                         uint32_t timeout_ms, struct http_answer *out);
/* Aborts the current post and all later posts. Any thread may call this function. */
void http_client_stop(struct http_client *c);
void http_client_close(struct http_client *c); /* NULL is allowed */

#endif

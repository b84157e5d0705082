/* SPDX-License-Identifier: MIT */
/* An HTTP client that posts bodies: libcurl natively, WinHTTP on Windows and under Wine. Both are loaded by name when
   something is sent (DECISIONS 173). */
#ifndef OPENPLA_HTTP_POST_H
#define OPENPLA_HTTP_POST_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_ANSWER_BYTES = 4096 }; /* of an answer's body are kept */

struct http_target {
    const char *url;             /* http:// or https://, without user and password */
    const char *authorization;   /* value of the header, "Bearer ..."; NULL: none */
    const char *user, *password; /* of basic authentication; NULL: none */
    const char *ca_file;         /* PEM file of trusted certificates; NULL: those of the host OS */
};

struct http_client;
/* Copies the strings. ERROR_MOD_NOT_FOUND's HRESULT with a message that names the missing package; E_INVALIDARG with a
   message for a malformed URL; ERROR_NOT_SUPPORTED's for -ca where the host OS cannot do that. May be called by
   several threads. */
HRESULT http_client_open(const struct http_target *target, struct http_client **out);

struct http_answer {
    unsigned status;              /* 200 */
    uint32_t retry_after_s;       /* Retry-After; 0: none, or a date */
    char body[HTTP_ANSWER_BYTES]; /* its beginning; other bytes than a text's are possible */
    size_t size;
};
/* Posts and waits for the answer, at most `timeout_ms`. A failure says why there is no answer. E_ABORT:
   http_client_stop was called. For one thread at a time. */
HRESULT http_client_post(struct http_client *c, const char *content_type, const void *body, size_t size,
                         uint32_t timeout_ms, struct http_answer *out);
/* Ends a post that is being made, and all later ones. From any thread. */
void http_client_stop(struct http_client *c);
void http_client_close(struct http_client *c); /* NULL is allowed */

#endif

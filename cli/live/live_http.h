/* SPDX-License-Identifier: MIT */
/* The browser's view: requests, answers, and the server that has threads for its connections. */
#ifndef OPENPLA_LIVE_HTTP_H
#define OPENPLA_LIVE_HTTP_H

#include "cli/live/live.h"

/* ---- live_request.c: the reader of requests ---- */

enum { LIVE_REQUEST_BYTES = 8192 }; /* the longest request */

/* The answers that exist. No file of this computer is one. */
enum live_resource { LIVE_PAGE, LIVE_SCRIPT, LIVE_STYLE, LIVE_LIBRARY, LIVE_COUNTERS, LIVE_SAMPLES };
struct live_request {
    enum live_resource resource;
    bool head;      /* without a body */
    uint64_t since; /* of LIVE_SAMPLES: the first sample that is requested */
};
/* Reads what has arrived. `own_name` is this computer's name, which a client may call it by. Returns 0 if more bytes
   are needed, 200 with *out, or the status to refuse the request with: 400 malformed, 403 a foreign Host (a page of
   another site whose name was pointed at this computer), 404, 405 neither GET nor HEAD, 431 too long, 505 not HTTP/1.
 */
unsigned live_request_read(const char *bytes, size_t size, const char *own_name, struct live_request *out);
/* "Not Found" */
const char *live_status_text(unsigned status);

/* ---- live_answer.c: the bodies ---- */

/* A body: borrowed, or a text that live_body_free frees. */
struct live_body {
    const char *type, *bytes;
    char *owned;
    size_t size;
};
HRESULT live_body_make(struct live_history *h, const struct live_request *request, struct live_body *out);
void live_body_free(struct live_body *b);

extern const char live_page_html[], live_page_css[], live_page_js[], live_library_js[];

/* ---- live_server.c ---- */

struct live_server;
/* `where`: [ADDRESS:]PORT, by default at 127.0.0.1; port 0: a free one. E_INVALIDARG with a message, or the system's
   reason. `h` is borrowed until live_server_close. */
HRESULT live_server_open(const char *where, struct live_history *h, struct live_server **out);
/* "http://127.0.0.1:8080/"; borrowed. */
const char *live_server_url(const struct live_server *s);
/* Whether other computers can connect. */
bool live_server_is_public(const struct live_server *s);
void live_server_close(struct live_server *s); /* waits for its threads; NULL is allowed */

#endif

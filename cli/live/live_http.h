/* SPDX-License-Identifier: MIT */
/* The browser view: defines the resources of the page, and answers requests for these resources. */
#ifndef OPENPLA_LIVE_HTTP_H
#define OPENPLA_LIVE_HTTP_H

#include "cli/http/http.h"
#include "cli/live/live.h"

/* The resources that exist. No resource is a file of this computer. */
enum live_resource { LIVE_PAGE, LIVE_SCRIPT, LIVE_STYLE, LIVE_LIBRARY, LIVE_COUNTERS, LIVE_SAMPLES };
struct live_request {
    enum live_resource resource;
    uint64_t since; /* for LIVE_SAMPLES: the first requested sample */
};
/* Finds the requested resource. Returns 200 and sets *out, or returns 400 or 404. */
unsigned live_request_read(const struct http_request *request, struct live_request *out);
/* The `answer` of http_options; `user` is the struct live_history. */
unsigned live_answer(void *user, const struct http_request *request, struct http_body *out);
/* Header lines of each response. The page may load only what this server sends, and no other page may embed it in a
   frame. */
extern const char live_answer_headers[];

extern const char live_page_html[], live_page_css[], live_page_js[], live_library_js[];

#endif

/* SPDX-License-Identifier: MIT */
/* Sends requests with metrics to a server, on a thread: retries, and a queue on the disk while the server is away. */
#ifndef OPENPLA_PUSH_H
#define OPENPLA_PUSH_H

#include "engine/base/text.h"

enum push_kind { PUSH_OTLP = 1, PUSH_INFLUX = 2 }; /* also in the queue's files */

/* Who sends. Zero-initialise; the strings are from memory_alloc. */
struct push_credentials {
    char *token; /* a bearer token of OTLP, or one of InfluxDB 2 */
    char *user, *password;
};
/* Reads lines "token: VALUE", or "user: NAME" and "password: VALUE". E_INVALIDARG with a message that names the line,
   and no secret. */
HRESULT push_credentials_parse(const char *text, size_t size, struct push_credentials *out);
/* The same of a file; the message names it. */
HRESULT push_credentials_load(const char *path, struct push_credentials *out);
void push_credentials_free(struct push_credentials *c); /* wipes and clears it */

struct push_settings {
    enum push_kind kind;
    const char *url;
    const char *ca_file; /* NULL: the certificates of the host OS */
    const struct push_credentials *credentials;
    const char *queue_folder; /* NULL: no queue; push_give then waits while requests are not accepted */
    uint64_t queue_bytes;
    /* Called on the sender's thread, and by push_open, for each thing that a user should know: the server is away, it
       is back, points were dropped. */
    void (*report)(void *user, HRESULT reason, const char *text);
    bool (*stopped)(void *user); /* asked while push_give and push_finish wait; may be NULL */
    void *user;
};

struct push_figures {
    uint64_t sent_points, sent_requests;
    uint64_t dropped_points;  /* rejected by the server, or by a full queue */
    uint64_t waiting_points;  /* in memory and in the queue */
    uint64_t queued_requests; /* in the queue */
    uint64_t corrupt_requests;
    int64_t first_waiting; /* FILETIME of the earliest point in memory that was not sent; 0: none */
};

struct push;
/* Checks the URL (the path of OTLP may be left out) and begins. Call it before other threads run. Errors have a
   message. Credentials are copied. */
HRESULT push_open(const struct push_settings *settings, struct push **out);
/* Takes over `bytes`, a request from memory_alloc, also on failure. With a queue it never waits for the server.
   E_ABORT: it was stopped while it waited. */
HRESULT push_give(struct push *p, char *bytes, size_t size, uint32_t points, int64_t first);
/* Waits until all requests are sent or dropped. S_FALSE: it was stopped, or the server is away and the queue has them.
 */
HRESULT push_finish(struct push *p);
struct push_figures push_figures(struct push *p);
/* Ends a request that is being sent, writes what is left into the queue, and fills in the figures (may be NULL). */
void push_close(struct push *p, struct push_figures *out);

/* ---- for tests ---- */

enum push_verdict { PUSH_ACCEPTED, PUSH_RETRY, PUSH_REFUSED };
enum push_verdict push_status_verdict(enum push_kind kind, unsigned status);
/* "http://host:4318" gets the path /v1/metrics for OTLP. E_INVALIDARG with a message. *out from memory_alloc. */
HRESULT push_url(enum push_kind kind, const char *url, char **out);
/* Milliseconds until the try that follows `failures` failed ones: doubling, with up to a fifth more or less by
   `random`. */
uint64_t push_pause_ms(unsigned failures, uint32_t retry_after_s, uint32_t random);

#endif

/* SPDX-License-Identifier: MIT */
/* Sends requests with metrics to a server, on its own thread. Failed requests are retried, and stored in a queue on the
   disk while the server is unavailable. */
#ifndef OPENPLA_PUSH_H
#define OPENPLA_PUSH_H

#include "engine/base/text.h"

enum push_kind { PUSH_OTLP = 1, PUSH_INFLUX = 2 }; /* the queue's files contain these numbers */

/* The credentials for the server. Zero-initialise; the strings are from memory_alloc. */
struct push_credentials {
    char *token; /* a bearer token for OTLP, or a token of InfluxDB 2 */
    char *user, *password;
};
/* Reads lines "token: VALUE", or "user: NAME" and "password: VALUE". Fails with E_INVALIDARG if a line is invalid (the
   message names the line), or if lines are missing or contradict each other. The message never shows a
   secret. */
HRESULT push_credentials_parse(const char *text, size_t size, struct push_credentials *out);
/* Reads the same lines from a file; the message names the file. */
HRESULT push_credentials_load(const char *path, struct push_credentials *out);
void push_credentials_free(struct push_credentials *c); /* wipes the strings and clears the struct */

struct push_settings {
    enum push_kind kind;
    const char *url;
    const char *ca_file; /* NULL: the certificates of the host OS */
    const struct push_credentials *credentials;
    const char *queue_folder; /* NULL: no queue; push_give then waits while the server accepts no requests */
    uint64_t queue_bytes;
    /* Reports events to the user: the server is unavailable or available again, or points were dropped. Called on the
       sender's thread and by push_open. */
    void (*report)(void *user, HRESULT reason, const char *text);
    bool (*stopped)(void *user); /* called while push_give and push_finish wait; true ends the wait; may be NULL */
    void *user;
};

struct push_figures {
    uint64_t sent_points, sent_requests;
    uint64_t dropped_points;  /* rejected by the server, or dropped by a full queue */
    uint64_t waiting_points;  /* in memory and in the queue */
    uint64_t queued_requests; /* in the queue */
    uint64_t corrupt_requests;
    int64_t first_waiting; /* FILETIME of the earliest unsent point in memory; 0: none */
};

struct push;
/* Checks the URL (for OTLP, its path is optional) and starts the sender. Call this function before other threads run. A
   failure sets an error message. Credentials are copied. */
HRESULT push_open(const struct push_settings *settings, struct push **out);
/* Passes a request to the sender. Takes ownership of `bytes`, which is from memory_alloc, even on failure. Without a
   queue, the call can wait for the server. E_ABORT: `stopped` ended the wait. */
HRESULT push_give(struct push *p, char *bytes, size_t size, uint32_t points, int64_t first);
/* Waits until all requests are sent or dropped. S_FALSE: `stopped` ended the wait, or the server is unavailable and the
   remaining requests are in the queue. */
HRESULT push_finish(struct push *p);
struct push_figures push_figures(struct push *p);
/* Aborts the request that is being sent, writes the remaining requests to the queue, and fills *out (`out` may be
   NULL). */
void push_close(struct push *p, struct push_figures *out);

/* ---- for tests ---- */

enum push_verdict { PUSH_ACCEPTED, PUSH_RETRY, PUSH_REFUSED };
enum push_verdict push_status_verdict(enum push_kind kind, unsigned status);
/* Checks and completes a URL: for OTLP, "http://host:4318" gets the path /v1/metrics. Fails with E_INVALIDARG and a
   message if the URL is invalid. *out is from memory_alloc. */
HRESULT push_url(enum push_kind kind, const char *url, char **out);
/* Returns the milliseconds until the next try after `failures` failed tries. The time doubles with each failure, and
   `random` changes it by up to a fifth. */
uint64_t push_pause_ms(unsigned failures, uint32_t retry_after_s, uint32_t random);

#endif

/* SPDX-License-Identifier: MIT */
/* The sender.

       push_give -> waiting (memory) -> the server
                         |   when the server is not accepting data, and at the end
                         v
                       queue (disk) -> the server

   Requests are sent in the order in which they were given. While the queue contains requests, new requests are appended
   to it. The next request is therefore always the oldest in the queue or, if the queue is empty, the oldest in memory.
   While a request of the queue is being sent, its file stays in the queue. The request is deleted when the server has
   accepted it, or has rejected it for a reason that a retry would not change. If the process is killed, the requests in
   memory are lost: at most MOST_WAITING, and one that is being sent. If the killed process was sending a request of the
   queue, the next process sends it again.

   After a failure the sender waits, longer each time. With a queue, push_give never waits for the server. If too many
   requests are in memory, push_give itself writes them to the queue. While the queue cannot be written, requests stay
   in memory, and when there are MOST_WAITING of them, each new one replaces the oldest. */
#include "engine/export/push.h"

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/export/formats/otlp.h"
#include "engine/export/send/http_post.h"
#include "engine/export/send/queue.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_WAITING = 8,
    ANSWER_MS = 30000, /* maximum wait for the response to one request */
    PAUSE_FIRST_MS = 1000,
    PAUSE_MOST_MS = 300000,
    RETRY_AFTER_MOST_S = 3600,
    ASK_MS = 100, /* interval at which push_give and push_finish call `stopped` */
    REASON_BYTES = 512,
};

struct push {
    struct push_settings settings; /* the strings are not used after push_open */
    struct http_client *client;
    struct push_queue *queue;
    struct thread *thread;
    struct lock lock;
    struct thread_condition changed;
    /* The oldest first. The additional element is for a request that the sender returns unsent. */
    struct push_batch waiting[MOST_WAITING + 1];
    size_t waiting_count;
    bool sending; /* the sender has taken a request from `waiting` or from the queue */
    bool is_away; /* the server did not accept the last request */
    bool ending;
    int64_t first_refused; /* time of the earliest point that push_give refused with E_ABORT; 0: none */
    atomic_uint_fast64_t sent_points, sent_requests, dropped_points;
    atomic_bool queue_fails; /* the latest write to the queue failed, and this was reported */
    /* Used only by the sender's thread. */
    unsigned failures;
    uint32_t random;
    char away[REASON_BYTES], refused[REASON_BYTES]; /* the reasons reported last; "": none */
};

/* ---- decisions ---- */

enum push_verdict push_status_verdict(enum push_kind kind, unsigned status)
{
    if (status >= 200 && status < 300)
        return PUSH_ACCEPTED;
    if (status == 429 || status == 502 || status == 503 || status == 504)
        return PUSH_RETRY;
    if (kind == PUSH_INFLUX && (status == 408 || status == 500))
        return PUSH_RETRY;
    return PUSH_REFUSED;
}

uint64_t push_pause_ms(unsigned failures, uint32_t retry_after_s, uint32_t random)
{
    uint64_t ms = failures > 20 ? PAUSE_MOST_MS : (uint64_t)PAUSE_FIRST_MS << (failures > 0 ? failures - 1 : 0);
    ms = ms < PAUSE_MOST_MS ? ms : PAUSE_MOST_MS;
    ms = ms * 4 / 5 + ms * 2 / 5 * (random % 1024) / 1024;
    const uint64_t asked = retry_after_s < RETRY_AFTER_MOST_S ? retry_after_s : RETRY_AFTER_MOST_S;
    return ms > asked * 1000 ? ms : asked * 1000;
}

static uint32_t next_random(struct push *p)
{
    p->random = p->random * 1664525u + 1013904223u;
    return p->random >> 8;
}

/* ---- messages ---- */

/* Writes the server's message as one line. */
static void answer_text(const struct push *p, const struct http_answer *a, char *out, size_t room)
{
    uint64_t rejected;
    size_t length = 0;
    if (p->settings.kind == PUSH_OTLP && otlp_read_answer(a->body, a->size, true, &rejected, out, room) && *out)
        return;
    for (size_t i = 0; i < a->size && length + 1 < room && length < 200; i++) {
        const unsigned char c = (unsigned char)a->body[i];
        if (c < ' ' && length == 0)
            continue;
        if (c == '\n')
            break;
        out[length++] = c >= ' ' && c < 0x7F ? (char)c : ' ';
    }
    out[length] = 0;
}

static void report(const struct push *p, HRESULT reason, const char *text)
{
    if (p->settings.report)
        p->settings.report(p->settings.user, reason, text);
}

static void report_away(struct push *p, HRESULT hr, const char *reason)
{
    if (*p->away)
        return;
    text_fit(p->away, sizeof p->away, reason);
    char *text = text_format("the server is not accepting data: %s (retrying%s)", reason,
                             p->queue ? ", new data goes to the queue" : "");
    report(p, hr, text ? text : reason);
    memory_free(text);
}

static void report_back(struct push *p)
{
    if (!*p->away)
        return;
    p->away[0] = 0;
    report(p, S_OK, "the server accepts data again");
}

/* Does not report the same reason twice in succession. */
static void report_refused(struct push *p, const char *reason)
{
    if (strcmp(p->refused, reason) == 0)
        return;
    text_fit(p->refused, sizeof p->refused, reason);
    char *text = text_format("the server refuses data, so the data is dropped: %s", reason);
    report(p, E_FAIL, text ? text : reason);
    memory_free(text);
}

/* ---- sending ---- */

static const char *content_type(enum push_kind kind)
{
    return kind == PUSH_OTLP ? "application/x-protobuf" : "text/plain; charset=utf-8";
}

/* Counts the points of an accepted request, and reports points that the server rejected. */
static void batch_accepted(struct push *p, const struct push_batch *b, const struct http_answer *a)
{
    uint64_t rejected = 0;
    char message[REASON_BYTES] = "";
    if (p->settings.kind == PUSH_OTLP && a->size < sizeof a->body &&
        otlp_read_answer(a->body, a->size, false, &rejected, message, sizeof message) && (rejected > 0 || *message))
        report_refused(p, *message ? message : "the response gives no reason");
    rejected = rejected < b->points ? rejected : b->points;
    atomic_fetch_add(&p->sent_requests, 1);
    atomic_fetch_add(&p->sent_points, b->points - rejected);
    atomic_fetch_add(&p->dropped_points, rejected);
}

/* Sends one request. After PUSH_RETRY, *pause_ms is the time until the next try. */
static enum push_verdict batch_send(struct push *p, const struct push_batch *b, uint64_t *pause_ms)
{
    struct http_answer answer;
    char words[256], reason[REASON_BYTES];
    const HRESULT hr =
        http_client_post(p->client, content_type(p->settings.kind), b->bytes, b->size, ANSWER_MS, &answer);
    enum push_verdict verdict = PUSH_RETRY;
    *pause_ms = 0;
    if (hr == E_ABORT)
        return PUSH_RETRY;
    if (FAILED(hr)) {
        report_away(p, hr, error_text(hr));
    } else {
        verdict = push_status_verdict(p->settings.kind, answer.status);
        answer_text(p, &answer, words, sizeof words);
        snprintf(reason, sizeof reason, "HTTP status %u%s%s", answer.status, *words ? ": " : "", words);
    }
    if (verdict == PUSH_RETRY) {
        if (SUCCEEDED(hr))
            report_away(p, E_FAIL, reason);
        p->failures++;
        *pause_ms = push_pause_ms(p->failures, SUCCEEDED(hr) ? answer.retry_after_s : 0, next_random(p));
        return verdict;
    }
    p->failures = 0;
    report_back(p);
    if (verdict == PUSH_ACCEPTED) {
        batch_accepted(p, b, &answer);
    } else {
        report_refused(p, reason);
        atomic_fetch_add(&p->dropped_points, b->points);
    }
    return verdict;
}

/* ---- the sender's thread ---- */

/* Moves a batch from memory into the queue. If the queue cannot be written, for example because its disk is full, this
   is reported once, and the batch stays in memory. */
static bool batch_queue(struct push *p, struct push_batch *b, bool front)
{
    const HRESULT hr = push_queue_add(p->queue, b, front);
    const struct error_kept why = error_keep(hr);
    if (!atomic_exchange(&p->queue_fails, FAILED(hr)) && FAILED(hr))
        report(p, hr, why.text);
    if (SUCCEEDED(hr))
        push_batch_free(b);
    return SUCCEEDED(hr);
}

/* Takes the oldest request in memory. The caller must hold the lock. */
static bool waiting_take(struct push *p, struct push_batch *out)
{
    if (p->waiting_count == 0)
        return false;
    *out = p->waiting[0];
    memmove(p->waiting, p->waiting + 1, --p->waiting_count * sizeof *p->waiting);
    return true;
}

static void waiting_return(struct push *p, const struct push_batch *b)
{
    memmove(p->waiting + 1, p->waiting, p->waiting_count++ * sizeof *p->waiting);
    p->waiting[0] = *b;
}

/* Appends the batches in memory to the queue until one cannot be written. The caller holds the lock, so that no newer
   batch gets into the queue before these batches. */
static void waiting_queue(struct push *p)
{
    struct push_batch b;
    while (waiting_take(p, &b)) {
        if (!batch_queue(p, &b, false)) {
            waiting_return(p, &b);
            break;
        }
    }
}

/* Drops the oldest batch in memory, which neither the server nor the queue accepts. Called with the lock held. */
static void waiting_drop(struct push *p)
{
    struct push_batch b;
    if (waiting_take(p, &b)) {
        atomic_fetch_add(&p->dropped_points, b.points);
        push_batch_free(&b);
    }
}

static bool queue_is_empty(struct push *p)
{
    return !p->queue || push_queue_state(p->queue).batches == 0;
}

/* Takes the next request: the oldest in the queue, otherwise the oldest in memory. The caller must hold the lock. */
static bool next_take(struct push *p, struct push_batch *b, bool *queued)
{
    *queued = false;
    if (!queue_is_empty(p)) {
        waiting_queue(p);
        if (push_queue_first(p->queue, p->settings.kind, b) == S_OK) {
            *queued = true;
            return true;
        }
    }
    return waiting_take(p, b);
}

static void batch_end(struct push *p, struct push_batch *b, bool queued, enum push_verdict verdict)
{
    if (verdict != PUSH_RETRY) {
        if (queued)
            push_queue_remove(p->queue);
        push_batch_free(b);
    } else if (queued) {
        push_batch_free(b);
    } else if (!p->queue || !batch_queue(p, b, true)) { /* in front, because this request is older than all others */
        lock_enter(&p->lock);
        waiting_return(p, b);
        lock_leave(&p->lock);
    }
}

static void push_thread(void *user)
{
    struct push *p = user;
    uint64_t pause_ms = 0, since = 0;
    lock_enter(&p->lock);
    while (!p->ending) {
        const uint64_t passed = clock_passed_ms(since, clock_monotonic_ms());
        if (passed < pause_ms) {
            const uint64_t left = pause_ms - passed;
            thread_condition_wait(&p->changed, &p->lock, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX - 1);
            continue;
        }
        struct push_batch b;
        bool queued;
        p->sending = true;
        if (!next_take(p, &b, &queued)) {
            p->sending = false;
            thread_condition_wake(&p->changed);
            thread_condition_wait(&p->changed, &p->lock, UINT32_MAX);
            continue;
        }
        lock_leave(&p->lock);
        const enum push_verdict verdict = batch_send(p, &b, &pause_ms);
        batch_end(p, &b, queued, verdict);
        since = clock_monotonic_ms();
        lock_enter(&p->lock);
        p->sending = false;
        p->is_away = verdict == PUSH_RETRY;
        thread_condition_wake(&p->changed);
    }
    lock_leave(&p->lock);
}

/* ---- giving ---- */

static bool push_asks_to_stop(struct push *p)
{
    return p->settings.stopped && p->settings.stopped(p->settings.user);
}

HRESULT push_give(struct push *p, char *bytes, size_t size, uint32_t points, int64_t first)
{
    struct push_batch b = {.kind = p->settings.kind, .points = points, .first = first, .size = size, .bytes = bytes};
    HRESULT hr = size <= PUSH_BATCH_BYTES ? S_OK : error_set(E_INVALIDARG, "a request of %zu bytes is too large", size);
    lock_enter(&p->lock);
    while (SUCCEEDED(hr) && !p->queue && p->waiting_count >= MOST_WAITING) {
        thread_condition_wait(&p->changed, &p->lock, ASK_MS);
        hr = push_asks_to_stop(p) ? E_ABORT : S_OK;
    }
    if (SUCCEEDED(hr)) {
        if (p->waiting_count >= MOST_WAITING)
            waiting_queue(p); /* makes space, because the sender did not keep up */
        while (p->waiting_count >= MOST_WAITING)
            waiting_drop(p);
        p->waiting[p->waiting_count++] = b;
        b.bytes = NULL;
        thread_condition_wake(&p->changed);
    } else if (hr == E_ABORT) {
        if (p->first_refused == 0 || first < p->first_refused)
            p->first_refused = first; /* callers can pass further requests after the first E_ABORT */
    } else {
        atomic_fetch_add(&p->dropped_points, points);
    }
    lock_leave(&p->lock);
    push_batch_free(&b);
    return hr;
}

HRESULT push_finish(struct push *p)
{
    HRESULT hr = S_OK;
    lock_enter(&p->lock);
    while (hr == S_OK && (p->sending || p->waiting_count > 0 || !queue_is_empty(p))) {
        thread_condition_wait(&p->changed, &p->lock, ASK_MS);
        hr = push_asks_to_stop(p) || (p->is_away && p->queue) ? S_FALSE : S_OK;
    }
    lock_leave(&p->lock);
    return hr;
}

struct push_figures push_figures(struct push *p)
{
    lock_enter(&p->lock);
    struct push_figures f = {.sent_points = atomic_load(&p->sent_points),
                             .sent_requests = atomic_load(&p->sent_requests),
                             .dropped_points = atomic_load(&p->dropped_points),
                             .first_waiting = p->first_refused};
    for (size_t i = 0; i < p->waiting_count; i++) {
        f.waiting_points += p->waiting[i].points;
        f.first_waiting =
            f.first_waiting == 0 || p->waiting[i].first < f.first_waiting ? p->waiting[i].first : f.first_waiting;
    }
    lock_leave(&p->lock);
    if (p->queue) {
        const struct push_queue_state state = push_queue_state(p->queue);
        f.waiting_points += state.points;
        f.dropped_points += state.dropped_points;
        f.queued_requests = state.batches;
        f.corrupt_requests = state.corrupt_batches;
    }
    return f;
}

/* ---- the beginning and the end ---- */

static char *authorization_of(enum push_kind kind, const struct push_credentials *c)
{
    return text_format("%s %s", kind == PUSH_OTLP ? "Bearer" : "Token", c->token);
}

static HRESULT open_client(struct push *p, const struct push_settings *s)
{
    const struct push_credentials *c = s->credentials;
    char *url = NULL, *authorization = NULL;
    HRESULT hr = push_url(s->kind, s->url, &url);
    if (SUCCEEDED(hr) && s->ca_file && !file_exists(s->ca_file))
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "cannot open '%s': file not found", s->ca_file);
    if (SUCCEEDED(hr) && c && c->token) {
        authorization = authorization_of(s->kind, c);
        hr = authorization ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = http_client_open(&(struct http_target){.url = url,
                                                    .authorization = authorization,
                                                    .user = c ? c->user : NULL,
                                                    .password = c ? c->password : NULL,
                                                    .ca_file = s->ca_file},
                              &p->client);
    memory_free_secret(authorization);
    memory_free(url);
    return hr;
}

HRESULT push_open(const struct push_settings *settings, struct push **out)
{
    struct push *p = memory_zero(1, sizeof *p);
    *out = NULL;
    if (!p)
        return E_OUTOFMEMORY;
    p->settings = *settings;
    p->random = (uint32_t)clock_ticks();
    HRESULT hr = open_client(p, settings);
    if (SUCCEEDED(hr) && settings->queue_folder)
        hr = push_queue_open(settings->queue_folder, settings->queue_bytes, &p->queue);
    if (SUCCEEDED(hr))
        hr = thread_start(push_thread, p, &p->thread);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        push_close(p, NULL);
        return error_restore(&why);
    }
    *out = p;
    return S_OK;
}

void push_close(struct push *p, struct push_figures *out)
{
    struct push_batch b;
    if (!p)
        return;
    lock_enter(&p->lock);
    p->ending = true;
    if (p->queue)
        waiting_queue(p); /* before waiting for the thread, because the process may be killed during the wait */
    thread_condition_wake(&p->changed);
    lock_leave(&p->lock);
    if (p->client)
        http_client_stop(p->client);
    if (p->thread)
        thread_wait(p->thread, UINT32_MAX);
    thread_close(p->thread);
    if (p->queue) { /* requests that the thread returned, or that the call above could not write */
        waiting_queue(p);
        while (p->waiting_count > 0)
            waiting_drop(p);
    }
    if (out)
        *out = push_figures(p);
    while (waiting_take(p, &b))
        push_batch_free(&b);
    push_queue_close(p->queue);
    http_client_close(p->client);
    memory_free(p);
}

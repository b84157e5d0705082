/* SPDX-License-Identifier: MIT */
/* The service's side of remote DCOM. Worker threads perform the calls, one at a time per connection, for the account
   that the front process named. One worker reads messages from the front process until a call arrives. The worker
   performs this call itself while another worker continues to read, so no call waits for another thread:

       reads ── a call ──> performs it, answers ──> idle ── is called ──> reads ...

   A connection without a call has no thread, because a thread costs 1 MB under Wine. The removal of an account, or a
   change of its role, takes effect at the account's next call. */
#include "com/remote/calls.h"
#include "com/server/call_entry.h"
#include "com/server/dcom.h"
#include "com/server/dcom_journal.h"
#include "com/server/dcom_link.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"

#include <stdio.h>
#include <string.h>

enum { SESSION_BUCKETS = 64, RUN_DOWN_PERIOD_MS = 5000, WORKER_IDLE_MS = 10000 };

struct host_session {
    struct host_session *next;
    struct host_pipe *pipe;
    uint32_t id;
    char address[LINK_ADDRESS_BYTES];
    struct orpc_session *session;
    /* Protected by the pipe's lock: */
    bool has_call, is_closed;
    unsigned workers; /* number of threads that use the session: while one thread performs a call, another thread can
                         still be sending the previous answer */
    /* The members below describe the account of the previous call; only the worker that performs the session's call
       uses them. */
    uint32_t accounts_read; /* value of dcom_host.accounts_read when the account was looked up */
    char account[AUTH_NAME_BYTES];
    struct dcom_account known; /* if the name is NULL, the account does not exist */
    struct dcom_identity identity;
};

struct host_worker {
    struct host_worker *next; /* in the list of idle workers */
    struct thread_condition called;
    bool is_called; /* the worker must read the pipe now */
};

/* The connection to one front process. */
struct host_pipe {
    struct dcom_host *host;
    HANDLE to_front;
    struct dcom_input from_front; /* used by the worker that reads */
    struct lock write_lock, lock;
    struct host_session *sessions[SESSION_BUCKETS];
    size_t count;             /* number of sessions, including closed ones that workers use */
    struct host_worker *idle; /* last in, first out, so that workers that are not needed stay idle and exit */
    size_t workers;
    bool is_over;
    struct thread_condition ended;
};

struct dcom_host {
    struct orpc_server *server;
    struct lock lock; /* protects the accounts */
    struct dcom_accounts accounts;
    uint32_t accounts_read;
    struct thread *run_down;
    struct wakeup *end;
};

/* ---- the account of a call ---- */

static void account_drop(struct dcom_account *a)
{
    memory_free(a->name);
    memory_free(a->sid);
    *a = (struct dcom_account){0};
}

/* Copies the account, because the DCOM host's accounts can be replaced during a call. */
static void session_find_account(struct host_session *s, const char *name)
{
    struct dcom_host *h = s->pipe->host;
    account_drop(&s->known);
    text_fit(s->account, sizeof s->account, name);
    lock_enter(&h->lock);
    s->accounts_read = h->accounts_read;
    const struct dcom_account *a = dcom_account_named(&h->accounts, name);
    if (a)
        s->known = (struct dcom_account){.name = text_copy(a->name), .role = a->role, .sid = text_copy(a->sid)};
    lock_leave(&h->lock);
    if (!s->known.name || !s->known.sid)
        account_drop(&s->known);
    else
        dcom_identity_of(&s->known, &s->identity);
}

/* Returns the account. NULL: it does not exist, or no longer exists. */
static const struct account_sids *session_account(struct host_session *s, const char *name)
{
    struct dcom_host *h = s->pipe->host;
    lock_enter(&h->lock);
    const bool is_current = s->accounts_read == h->accounts_read;
    lock_leave(&h->lock);
    if (!is_current || strcmp(s->account, name) != 0)
        session_find_account(s, name);
    return s->known.name ? &s->identity.sids : NULL;
}

void dcom_host_set_accounts(struct dcom_host *h, struct dcom_accounts *accounts)
{
    lock_enter(&h->lock);
    struct dcom_accounts old = h->accounts;
    h->accounts = *accounts;
    h->accounts_read++;
    lock_leave(&h->lock);
    *accounts = (struct dcom_accounts){0};
    dcom_accounts_free(&old);
}

/* ---- calls ---- */

static _Thread_local const struct host_session *served_session;

static const char *class_name_of(const GUID *clsid)
{
    static const struct {
        const char *name, *digits;
    } classes[] = {
#define CLASS(name, guid, title, create, category)    {"PLA." #name, guid},
#define FACADE(name, guid, title, create, for_client) {"PLA." #name, guid},
#include "reg/classes.def"
#undef FACADE
#undef CLASS
    };
    char digits[9];
    snprintf(digits, sizeof digits, "%08lX", (unsigned long)clsid->Data1);
    for (size_t i = 0; i < ARRAYSIZE(classes); i++)
        if (strcmp(classes[i].digits, digits) == 0)
            return classes[i].name;
    return NULL;
}

static HRESULT host_activate(void *user, const struct orpc_call *call, const GUID *clsid, bool is_factory,
                             void **object)
{
    const HRESULT hr = remote_handler.activate(user, call, clsid, is_factory, object);
    const struct host_session *s = served_session;
    const char *name = class_name_of(clsid);
    if (name && s)
        dcom_event_write(DCOM_CREATED,
                         &(struct dcom_event_facts){
                             .user = s->identity.sids.name, .address = s->address, .class_name = name, .error = hr});
    return hr;
}

static uint32_t session_perform(struct host_session *s, const struct rpc_call *call, struct ndr_writer *stub)
{
    const struct account_sids *account = call->account ? session_account(s, call->account) : NULL;
    if (call->account && !account)
        return RPC_FAULT_DENIED;
    served_session = s;
    call_serve_account(account);
    const uint32_t fault = orpc_session_call(s->session, call, clock_monotonic_ms(), stub);
    call_serve_account(NULL);
    served_session = NULL;
    return fault;
}

static void session_answer(struct host_session *s, const struct link_header *header, uint8_t *body)
{
    struct host_pipe *p = s->pipe;
    struct ndr_writer stub = {0}, message = {.most = LINK_MESSAGE_MOST};
    struct rpc_call call;
    char account[AUTH_NAME_BYTES];
    const uint32_t fault =
        link_read_call(body, header->size, &call, account) ? session_perform(s, &call, &stub) : RPC_FAULT_PROTOCOL;
    link_write_answer(&message, s->id, fault, stub.bytes, stub.size);
    if (message.failed) {
        ndr_writer_free(&message);
        link_write_answer(&message, s->id, RPC_FAULT_NO_MEMORY, NULL, 0);
    }
    /* Ends the call before its answer is sent, because the next call may arrive immediately after the answer. */
    lock_enter(&p->lock);
    s->has_call = false;
    lock_leave(&p->lock);
    lock_enter(&p->write_lock);
    dcom_bytes_write(p->to_front, message.bytes, message.size); /* if this fails, the worker that reads detects it */
    lock_leave(&p->write_lock);
    ndr_writer_free(&message);
    ndr_writer_free(&stub);
}

static void session_free(struct host_session *s)
{
    if (!s)
        return;
    orpc_session_close(s->session);
    account_drop(&s->known);
    memory_free(s);
}

/* The caller must hold the lock. Returns the session if no thread uses it any more; free it without holding the
   lock. */
static struct host_session *session_if_unused(struct host_session *s)
{
    if (!s->is_closed || s->workers)
        return NULL;
    s->pipe->count--;
    return s;
}

/* ---- messages from the front process ---- */

static struct host_session **pipe_find(struct host_pipe *p, uint32_t id)
{
    struct host_session **at = &p->sessions[id % SESSION_BUCKETS];
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

static bool pipe_open_session(struct host_pipe *p, const struct link_header *header, const uint8_t *body)
{
    struct dual_strings bindings;
    struct host_session *s = memory_zero(1, sizeof *s);
    if (!s)
        return false;
    s->pipe = p;
    s->id = header->session;
    bool opened = link_read_open(body, header->size, s->address, &bindings) &&
                  SUCCEEDED(orpc_session_open(p->host->server, &bindings, &s->session));
    lock_enter(&p->lock);
    struct host_session **at = pipe_find(p, s->id);
    opened = opened && !*at && p->count < LINK_SESSIONS;
    if (opened) {
        *at = s;
        p->count++;
    }
    lock_leave(&p->lock);
    if (!opened)
        session_free(s);
    return opened;
}

/* Returns the session of a call, and counts the caller as one of its workers. NULL: the front process violates the
   protocol. */
static struct host_session *pipe_take_call(struct host_pipe *p, const struct link_header *header, const uint8_t *body)
{
    lock_enter(&p->lock);
    struct host_session *s = *pipe_find(p, header->session);
    if (s && (s->has_call || !body))
        s = NULL;
    if (s) {
        s->has_call = true;
        s->workers++;
    }
    lock_leave(&p->lock);
    return s;
}

/* The caller must hold the lock. Removes the session from the table; returns the same as session_if_unused. */
static struct host_session *session_end(struct host_session **at)
{
    struct host_session *s = *at;
    *at = s->next;
    s->is_closed = true;
    return session_if_unused(s);
}

static bool pipe_close_session(struct host_pipe *p, uint32_t id)
{
    struct host_session *unused = NULL;
    lock_enter(&p->lock);
    struct host_session **at = pipe_find(p, id);
    const bool exists = *at != NULL;
    if (exists)
        unused = session_end(at);
    lock_leave(&p->lock);
    session_free(unused);
    return exists;
}

/* Reads messages up to the next call. Returns the call's session, as pipe_take_call does, and the call's body. NULL:
   the pipe has ended, or the front process violates the protocol. */
static struct host_session *pipe_next_call(struct host_pipe *p, struct link_header *header, uint8_t **body)
{
    struct host_session *s = NULL;
    for (bool goes_on = true; goes_on && dcom_message_read(&p->from_front, header, body);) {
        if (header->kind == LINK_CALL && (s = pipe_take_call(p, header, *body)) != NULL)
            return s;
        goes_on = header->kind == LINK_OPEN    ? pipe_open_session(p, header, *body)
                  : header->kind == LINK_CLOSE ? pipe_close_session(p, header->session)
                                               : false;
        dcom_message_free(header, *body);
    }
    return NULL;
}

/* ---- workers ---- */

static void worker_run(void *user);

/* Makes another worker read the following messages. False: there is not enough memory for another worker. */
static bool pipe_pass_reading(struct host_pipe *p)
{
    struct thread *thread;
    lock_enter(&p->lock);
    struct host_worker *w = p->idle;
    bool passed = w != NULL;
    if (w) {
        p->idle = w->next;
        w->is_called = true;
        thread_condition_wake(&w->called);
    } else if (SUCCEEDED(thread_start(worker_run, p, &thread))) {
        thread_close(thread);
        p->workers++;
        passed = true;
    }
    lock_leave(&p->lock);
    return passed;
}

/* The caller must hold the lock. If another worker is idle too, removes this worker from the idle list and returns
   true. */
static bool worker_can_exit(struct host_pipe *p, struct host_worker *w)
{
    struct host_worker **at = &p->idle;
    if (!p->idle || !p->idle->next)
        return false;
    while (*at && *at != w)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = w->next;
    return true;
}

/* Waits until the worker must read. False: the pipe has ended, or there was no work for WORKER_IDLE_MS and another
   worker is idle too. */
static bool worker_await(struct host_pipe *p, struct host_worker *w)
{
    bool exits = false;
    lock_enter(&p->lock);
    w->is_called = false;
    w->next = p->idle;
    p->idle = w;
    while (!w->is_called && !p->is_over && !exits)
        if (!thread_condition_wait(&w->called, &p->lock, WORKER_IDLE_MS) && !w->is_called)
            exits = worker_can_exit(p, w);
    const bool reads = w->is_called && !exits;
    lock_leave(&p->lock);
    return reads;
}

/* Called when the pipe has ended: all workers exit after their calls. */
static void pipe_over(struct host_pipe *p)
{
    lock_enter(&p->lock);
    p->is_over = true;
    for (struct host_worker *w = p->idle; w; w = w->next)
        thread_condition_wake(&w->called);
    lock_leave(&p->lock);
}

/* Performs the call that the worker has read. */
static void worker_perform(struct host_pipe *p, struct host_session *s, const struct link_header *header, uint8_t *body)
{
    session_answer(s, header, body);
    dcom_message_free(header, body);
    lock_enter(&p->lock);
    s->workers--;
    s = session_if_unused(s);
    lock_leave(&p->lock);
    session_free(s);
}

/* Runs a worker, which begins by reading messages. */
static void worker_serve(struct host_pipe *p)
{
    const HRESULT initialized = CoInitializeEx(NULL, COINIT_MULTITHREADED);
    struct host_worker self = {0};
    struct link_header header;
    uint8_t *body;
    for (bool reads = true; reads;) {
        struct host_session *s = pipe_next_call(p, &header, &body);
        if (!s) {
            pipe_over(p);
            break;
        }
        const bool passed = pipe_pass_reading(p);
        worker_perform(p, s, &header, body);
        reads = !passed || worker_await(p, &self);
    }
    if (SUCCEEDED(initialized))
        CoUninitialize();
}

static void worker_run(void *user)
{
    struct host_pipe *p = user;
    worker_serve(p);
    lock_enter(&p->lock);
    if (!--p->workers)
        thread_condition_wake(&p->ended);
    lock_leave(&p->lock);
}

/* Returns when no worker uses the pipe. */
static void pipe_end(struct host_pipe *p)
{
    lock_enter(&p->lock);
    while (p->workers)
        thread_condition_wait(&p->ended, &p->lock, UINT32_MAX);
    lock_leave(&p->lock);
    for (size_t i = 0; i < SESSION_BUCKETS; i++)
        while (p->sessions[i]) {
            struct host_session *s = p->sessions[i];
            p->sessions[i] = s->next;
            session_free(s);
        }
}

void dcom_host_serve(struct dcom_host *h, HANDLE read_handle, HANDLE write_handle)
{
    struct thread *first;
    struct host_pipe *p = memory_zero(1, sizeof *p);
    if (!p)
        return;
    p->host = h;
    p->to_front = write_handle;
    p->from_front.pipe = read_handle;
    p->workers = 1;
    if (SUCCEEDED(thread_start(worker_run, p, &first)))
        thread_close(first);
    else
        worker_run(p);
    pipe_end(p);
    memory_free(p);
}

/* ---- the DCOM host ---- */

static void run_down(void *user)
{
    struct dcom_host *h = user;
    while (!wakeup_wait(h->end, RUN_DOWN_PERIOD_MS))
        orpc_server_run_down(h->server, clock_monotonic_ms());
}

HRESULT dcom_host_open(const struct dcom_settings *settings, struct dcom_host **out)
{
    const uint32_t *limits = settings->limits;
    const struct orpc_limits orpc = {.objects = limits[DCOM_LIMIT_remote_objects],
                                     .objects_of_account = limits[DCOM_LIMIT_remote_objects_of_account],
                                     .run_down_ms = limits[DCOM_LIMIT_run_down_seconds] * 1000};
    struct orpc_handler handler = remote_handler;
    struct dcom_host *h = memory_zero(1, sizeof *h);
    handler.activate = host_activate;
    *out = NULL;
    HRESULT hr = h ? wakeup_create(&h->end) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = orpc_server_open(&handler, &orpc, &h->server);
    if (SUCCEEDED(hr))
        hr = thread_start(run_down, h, &h->run_down);
    if (SUCCEEDED(hr))
        *out = h;
    else
        dcom_host_close(h);
    return hr;
}

void dcom_host_close(struct dcom_host *h)
{
    if (!h)
        return;
    if (h->run_down) {
        wakeup_set(h->end);
        thread_wait(h->run_down, UINT32_MAX);
        thread_close(h->run_down);
    }
    orpc_server_close(h->server);
    wakeup_free(h->end);
    dcom_accounts_free(&h->accounts);
    memory_free(h);
}

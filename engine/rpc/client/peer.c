/* SPDX-License-Identifier: MIT */
/* The connections of a DCOM client, and its pings. A call takes an idle connection or opens one, so that calls of
   several threads do not wait for each other. One thread pings each held object's set every two minutes, because the
   server releases objects that no client has used or pinged for three ping periods. */
#include "engine/rpc/client/peer.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <string.h>

enum { PING_MS = 120000, COMPLEX_PING = 2, ANSWER_MS = 0x7FFFFFFF /* a synchronous Stop can take very long */ };

HRESULT orpc_peer_open(const struct orpc_target *t, struct orpc_peer **out)
{
    struct orpc_peer *p = memory_zero(1, sizeof *p);
    *out = NULL;
    if (!p)
        return E_OUTOFMEMORY;
    p->references = 1;
    p->lock = (struct lock)LOCK_INIT;
    p->ping_ms = t->ping_ms ? t->ping_ms : PING_MS;
    p->host = text_copy(t->host);
    text_fit(p->port, sizeof p->port, t->port ? t->port : ORPC_PORT);
    p->has_credentials = t->credentials != NULL;
    bool complete = p->host != NULL;
    if (t->credentials) {
        p->credentials = *t->credentials;
        p->credentials.user = p->user = text_copy(t->credentials->user);
        p->credentials.domain = p->domain = text_copy(t->credentials->domain);
        complete = complete && p->user && p->domain;
    }
    HRESULT hr = complete ? wakeup_create(&p->end) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        orpc_peer_release(p);
        return hr;
    }
    *out = p;
    return S_OK;
}

void orpc_peer_release(struct orpc_peer *p)
{
    if (!p || --p->references)
        return;
    if (p->pinger) {
        wakeup_set(p->end);
        thread_wait(p->pinger, UINT32_MAX);
        thread_close(p->pinger);
    }
    wakeup_free(p->end);
    for (size_t i = 0; i < PEER_IDLE_CHANNELS; i++)
        rpc_channel_close(p->idle[i].channel);
    while (p->sets) {
        struct ping_set *next = p->sets->next;
        memory_free(p->sets);
        p->sets = next;
    }
    memory_free(p->host);
    memory_free(p->user);
    memory_free(p->domain);
    memory_wipe(&p->credentials, sizeof p->credentials);
    memory_free(p);
}

/* ---- connections ---- */

/* Takes an idle connection to the port. NULL: no connection is idle. */
static struct rpc_channel *peer_take_any(struct orpc_peer *p, const char *port)
{
    struct rpc_channel *channel = NULL;
    lock_enter(&p->lock);
    for (size_t i = 0; !channel && i < PEER_IDLE_CHANNELS; i++)
        if (p->idle[i].channel && !strcmp(p->idle[i].port, port)) {
            channel = p->idle[i].channel;
            p->idle[i].channel = NULL;
        }
    lock_leave(&p->lock);
    return channel;
}

static struct rpc_channel *peer_take_idle(struct orpc_peer *p, const char *port)
{
    struct rpc_channel *channel;
    while ((channel = peer_take_any(p, port)) && !rpc_channel_is_alive(channel))
        rpc_channel_close(channel);
    return channel;
}

static void peer_give_back(struct orpc_peer *p, struct rpc_channel *channel, const char *port)
{
    bool is_kept = false;
    lock_enter(&p->lock);
    for (size_t i = 0; rpc_channel_is_usable(channel) && !is_kept && i < PEER_IDLE_CHANNELS; i++)
        if (!p->idle[i].channel) {
            p->idle[i].channel = channel;
            text_fit(p->idle[i].port, sizeof p->idle[i].port, port);
            is_kept = true;
        }
    lock_leave(&p->lock);
    if (!is_kept)
        rpc_channel_close(channel);
}

static HRESULT peer_connect(struct orpc_peer *p, const char *port, struct rpc_channel **out)
{
    const struct rpc_target target = {.host = p->host,
                                      .port = port,
                                      .credentials = p->has_credentials ? &p->credentials : NULL,
                                      .level = AUTH_LEVEL_PRIVACY,
                                      .answer_ms = ANSWER_MS};
    return rpc_channel_open(&target, out);
}

/* Returns the error for a refused logon or call. If `logged_on` is set, the logon succeeded, but the call was
   refused. */
static HRESULT peer_refused(const struct orpc_peer *p, bool logged_on)
{
    if (!p->has_credentials)
        return error_set(E_ACCESSDENIED,
                         "'%s': access denied without an account (use -u, or store one with openpla remote add)",
                         p->host);
    return error_set(E_ACCESSDENIED,
                     logged_on ? "'%s': access denied to the account '%s'"
                               : "'%s': logon of '%s' failed (wrong password or unknown account)",
                     p->host, p->user);
}

HRESULT peer_call(struct orpc_peer *p, const char *port, const GUID *iid, const GUID *object, uint16_t opnum,
                  const struct ndr_writer *request, enum peer_repeat repeat, uint8_t **answer, size_t *size)
{
    *answer = NULL;
    *size = 0;
    if (request->failed)
        return E_OUTOFMEMORY;
    HRESULT hr;
    bool is_usable, was_sent, again;
    do {
        struct rpc_channel *channel = peer_take_idle(p, port);
        const uint8_t *bytes;
        again = channel != NULL;
        hr = channel ? S_OK : peer_connect(p, port, &channel);
        if (FAILED(hr))
            return hr;
        hr = rpc_channel_call(channel, iid, 0, object, opnum, request->bytes, request->size, &bytes, size);
        if (SUCCEEDED(hr) && !(*answer = memory_copy(bytes, *size)))
            hr = E_OUTOFMEMORY;
        is_usable = rpc_channel_is_usable(channel);
        was_sent = rpc_channel_was_sent(channel);
        again = again && FAILED(hr) && !is_usable && (!was_sent || repeat == PEER_REPEAT);
        peer_give_back(p, channel, port);
    } while (again);
    if (FAILED(hr) && !is_usable && was_sent && repeat == PEER_ONCE && hr != E_OUTOFMEMORY)
        return error_set(hr, "%s (the call may have been executed: check before you repeat it)", error_text(hr));
    return hr == E_ACCESSDENIED ? peer_refused(p, is_usable) : hr;
}

/* ---- pings ---- */

/* Pings one set. Writes the request while holding the lock, and sends it without the lock. */
static void set_ping(struct orpc_peer *p, struct ping_set *set)
{
    struct ndr_writer request = {0};
    uint8_t *answer;
    size_t size;
    uint64_t id;
    lock_enter(&p->lock);
    const bool is_new = set->id == 0;
    const size_t add = is_new || set->is_changed ? set->count : 0, remove = is_new ? 0 : set->gone_count;
    if (!is_new || add)
        orpc_write_complex_ping(&request, set->id, ++set->sequence, set->oids, (uint16_t)add, set->gone,
                                (uint16_t)remove);
    set->is_changed = false;
    set->gone_count = 0;
    lock_leave(&p->lock);
    if (!request.size)
        return;
    HRESULT hr =
        peer_call(p, p->port, &orpc_iid_object_exporter, NULL, COMPLEX_PING, &request, PEER_REPEAT, &answer, &size);
    struct ndr_reader r = ndr_reader_over(answer, size);
    const uint32_t status = SUCCEEDED(hr) ? orpc_read_complex_ping(&r, &id) : 1;
    lock_enter(&p->lock);
    set->id = status == 0 && !r.fault ? id : 0; /* 0: the next ping creates a new set */
    set->sequence = set->id ? set->sequence : 0;
    lock_leave(&p->lock);
    ndr_writer_free(&request);
    memory_free(answer);
}

static void ping_all(void *user)
{
    struct orpc_peer *p = user;
    while (!wakeup_wait(p->end, p->ping_ms)) {
        lock_enter(&p->lock);
        struct ping_set *set = p->sets; /* safe without the lock: sets are only added, at the front */
        lock_leave(&p->lock);
        for (; set; set = set->next)
            set_ping(p, set);
        error_clear();
    }
}

static struct ping_set *peer_find_set(struct orpc_peer *p, uint64_t oid, size_t *at)
{
    for (struct ping_set *set = p->sets; set; set = set->next)
        for (*at = 0; *at < set->count; ++*at)
            if (set->oids[*at] == oid)
                return set;
    return NULL;
}

static HRESULT peer_add(struct orpc_peer *p, uint64_t oid)
{
    size_t at;
    struct ping_set *set = peer_find_set(p, oid, &at);
    if (set) {
        set->uses[at]++;
        return S_OK;
    }
    for (set = p->sets; set && set->count == PING_SET_OBJECTS;)
        set = set->next;
    if (!set) {
        set = memory_zero(1, sizeof *set);
        if (!set)
            return E_OUTOFMEMORY;
        set->next = p->sets;
        p->sets = set;
    }
    set->oids[set->count] = oid;
    set->uses[set->count++] = 1;
    set->is_changed = true;
    return p->pinger ? S_OK : thread_start(ping_all, p, &p->pinger);
}

HRESULT peer_hold(struct orpc_peer *p, uint64_t oid)
{
    lock_enter(&p->lock);
    HRESULT hr = peer_add(p, oid);
    lock_leave(&p->lock);
    return hr;
}

void peer_drop(struct orpc_peer *p, uint64_t oid)
{
    size_t at;
    lock_enter(&p->lock);
    struct ping_set *set = peer_find_set(p, oid, &at);
    if (set && --set->uses[at] == 0) {
        set->count--;
        set->oids[at] = set->oids[set->count];
        set->uses[at] = set->uses[set->count];
        if (set->gone_count < PING_SET_OBJECTS)
            set->gone[set->gone_count++] = oid;
    }
    lock_leave(&p->lock);
}

/* SPDX-License-Identifier: MIT */
/* The client's side of an extension DLL's host process, and where such a DLL may be loaded from. */
#include "engine/pdh/extension/extension_host.h"

#include "engine/base/clock.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"

#include <stdatomic.h>
#include <string.h>

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

/* "C:\..." or "\\..." */
static bool is_full(const char *path)
{
    const bool letter = (path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z');
    return (letter && path[1] == ':' && is_separator(path[2])) || (is_separator(path[0]) && is_separator(path[1]));
}

HRESULT extension_library_path(const char *library, const char *system, char **out)
{
    *out = NULL;
    if (!*library)
        return error_set(E_INVALIDARG, "the registry value 'Library' is empty");
    if (is_full(library))
        *out = text_copy(library);
    else if (strpbrk(library, "\\/:") || !strcmp(library, ".") || !strcmp(library, ".."))
        return error_set(E_INVALIDARG, "invalid library '%s': expected a full path or a file name", library);
    else
        *out = text_format("%s\\%s", system, library);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* ---- the client's side ---- */

#define FIRST_PAUSE_MS 1000
#define LAST_PAUSE_MS  300000
/* An extension that has not answered for so long is ended and, after a pause, started again. */
#define HUNG_MS        30000
/* The account that counts, and the system, may open the channel. */
#define CHANNEL_SDDL   "D:P(A;;GA;;;%s)(A;;GA;;;SY)"

struct extension_host {
    struct extension_host *next;
    size_t users; /* the list's lock covers both */
    struct host_lock lock;
    struct thread_condition changed; /* for who waits beside the one that waits for the process */
    bool waited_for;                 /* by one thread, outside the lock: the channel and the process stay */
    char *service, *name;
    struct section *section;
    struct signal *ask, *answer;
    struct extension_channel *channel;
    struct process *process;
    uint64_t process_start;
    uint32_t request;              /* number of the last one */
    uint64_t asked;                /* moment of the open request, 0: none */
    uint64_t restart, pause;       /* not started before this moment; length of the pause after the next death */
    struct extension_reply *reply; /* the answer to the last request once it was fetched, else NULL */
};

/* All of this program. They stay, since how often one has died must not be forgotten. */
static struct {
    struct host_lock lock;
    struct extension_host *first;
} hosts;

static uint32_t get(const uint32_t *at)
{
    return atomic_load((const _Atomic uint32_t *)at);
}

static void set(uint32_t *at, uint32_t value)
{
    atomic_store((_Atomic uint32_t *)at, value);
}

char *extension_request_signal(const char *channel)
{
    return text_format("%s_ask", channel);
}

char *extension_reply_signal(const char *channel)
{
    return text_format("%s_answer", channel);
}

/* Holds the host's lock, or is the only one who has the reply. */
static void reply_release(struct extension_reply *r)
{
    if (r && --r->references == 0)
        memory_free(r);
}

void extension_reply_release(struct extension_host *h, struct extension_reply *reply)
{
    host_lock_enter(&h->lock);
    reply_release(reply);
    host_lock_leave(&h->lock);
}

static void forget_reply(struct extension_host *h)
{
    reply_release(h->reply);
    h->reply = NULL;
}

static void close_channel(struct extension_host *h)
{
    section_close(h->section);
    signal_close(h->ask);
    signal_close(h->answer);
    memory_free(h->name);
    h->section = NULL;
    h->channel = NULL;
    h->ask = h->answer = NULL;
    h->name = NULL;
}

/* A name that nobody can know before the process does. */
static char *channel_name(void)
{
    char key[SHARED_KEY_DIGITS + 1];
    return SUCCEEDED(shared_new_key(key)) ? text_format("openpdh_extension_%s", key) : NULL;
}

/* Of one process: what a dead or hung one may still write to is not used again. */
static HRESULT open_channel(struct extension_host *h)
{
    h->name = channel_name();
    char *ask = h->name ? extension_request_signal(h->name) : NULL;
    char *answer = h->name ? extension_reply_signal(h->name) : NULL;
    char *sid = process_own_sid(), *security = sid ? text_format(CHANNEL_SDDL, sid) : NULL;
    struct shared own = {.name = h->name, .create = true, .security = security, .fresh = true};
    HRESULT hr = ask && answer && security ? section_open(&own, sizeof *h->channel, &h->section) : E_OUTOFMEMORY;
    own.name = ask;
    if (SUCCEEDED(hr))
        hr = signal_open(&own, &h->ask);
    own.name = answer;
    if (SUCCEEDED(hr))
        hr = signal_open(&own, &h->answer);
    memory_free(ask);
    memory_free(answer);
    memory_free(sid);
    memory_free(security);
    if (SUCCEEDED(hr)) {
        h->request = 0;
        h->channel = section_memory(h->section);
        h->channel->version = EXTENSION_VERSION;
        h->channel->owner = process_own_id();
        h->channel->owner_start = process_start_time(process_own_id());
    }
    return hr;
}

static void drop_process(struct extension_host *h)
{
    process_close(h->process);
    h->process = NULL;
    close_channel(h);
    forget_reply(h);
    h->asked = 0;
}

/* It died, was ended or could not be started. */
static void extension_host_delay_restart(struct extension_host *h)
{
    drop_process(h);
    h->restart = clock_monotonic_ms() + h->pause;
    h->pause = h->pause * 2 < LAST_PAUSE_MS ? h->pause * 2 : LAST_PAUSE_MS;
}

/* Drops the process if it has ended. True: because nobody used it. */
static bool extension_host_reap_process(struct extension_host *h)
{
    uint32_t code = 1;
    if (!h->process || process_wait(h->process, 0, &code) != S_OK)
        return false;
    if (code == EXTENSION_EXIT_IDLE)
        drop_process(h);
    else
        extension_host_delay_restart(h);
    return code == EXTENSION_EXIT_IDLE;
}

static void extension_host_start_process(struct extension_host *h)
{
    HRESULT hr = open_channel(h);
    if (SUCCEEDED(hr))
        hr = extension_start(h->name, h->service, &h->process);
    if (SUCCEEDED(hr))
        h->process_start = process_start_time(process_id(h->process));
    else
        extension_host_delay_restart(h);
}

static bool has_answered(const struct extension_host *h)
{
    return get(&h->channel->reply) == h->request || get(&h->channel->state) == EXTENSION_FAILED;
}

/* Holds the lock. */
static void extension_host_ask_process(struct extension_host *h)
{
    uint64_t now = clock_monotonic_ms();
    if (h->waited_for) /* for the answer to the question that is open */
        return;
    extension_host_reap_process(h);
    if (h->process && h->asked && !has_answered(h)) {
        if (now - h->asked > HUNG_MS) {
            process_terminate(process_id(h->process), h->process_start);
            extension_host_delay_restart(h);
        }
        return;
    }
    if (!h->process && now >= h->restart)
        extension_host_start_process(h);
    if (h->process) {
        forget_reply(h);
        h->asked = now;
        set(&h->channel->request, ++h->request);
        signal_set(h->ask);
    }
}

void extension_host_request(struct extension_host *h)
{
    host_lock_enter(&h->lock);
    extension_host_ask_process(h);
    host_lock_leave(&h->lock);
}

/* Waits once. Holds the lock, but not while it waits. E_ABORT: the process has ended. */
static HRESULT wait_for_answer(struct extension_host *h, uint32_t timeout_ms)
{
    if (h->waited_for) {
        thread_condition_wait(&h->changed, &h->lock, timeout_ms);
        return S_OK;
    }
    h->waited_for = true;
    host_lock_leave(&h->lock);
    HRESULT hr = signal_wait_or_process(h->answer, h->process, timeout_ms);
    host_lock_enter(&h->lock);
    h->waited_for = false;
    thread_condition_wake(&h->changed);
    return hr;
}

/* The answer, copied before anything in it is looked at: the process may still write. */
static HRESULT extension_host_fetch_reply(struct extension_host *h)
{
    const struct extension_channel *c = h->channel;
    const uint32_t state = get(&c->state), error = get(&c->error), size = get(&c->size);
    if (state == EXTENSION_FAILED || error)
        return error_set(E_FAIL, "the extension DLL of the service '%s' failed: error %u", h->service, (unsigned)error);
    if (size > EXTENSION_DATA_BYTES)
        return error_set(E_FAIL, "the extension DLL of the service '%s' returned too much data: %u bytes", h->service,
                         (unsigned)size);
    h->reply = memory_alloc(sizeof *h->reply + size);
    if (!h->reply)
        return E_OUTOFMEMORY;
    *h->reply = (struct extension_reply){.references = 1,
                                         .objects = get(&c->objects),
                                         .size = size,
                                         .ticks = c->ticks,
                                         .frequency = c->frequency,
                                         .utc = c->utc};
    memcpy(h->reply->data, c->data, size);
    h->pause = FIRST_PAUSE_MS; /* it works */
    return S_OK;
}

/* Holds the lock. */
static HRESULT take_reply(struct extension_host *h, uint32_t timeout_ms, struct extension_reply **out)
{
    bool again = true;
    while (h->process && h->asked && !has_answered(h)) {
        uint64_t now = clock_monotonic_ms(), end = h->asked + timeout_ms;
        if (now >= end)
            return error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT),
                             "the extension DLL of the service '%s' does not respond", h->service);
        HRESULT hr = wait_for_answer(h, (uint32_t)(end - now));
        if (FAILED(hr) && hr != E_ABORT)
            return hr;
        if (hr == E_ABORT && h->process && !has_answered(h) && extension_host_reap_process(h) && again) {
            again = false; /* it ended for lack of use in the moment that it was asked */
            extension_host_ask_process(h);
        }
    }
    if (!h->process || !h->asked)
        return error_set(E_ABORT, "the process of the extension DLL of the service '%s' exited", h->service);
    HRESULT hr = h->reply ? S_OK : extension_host_fetch_reply(h);
    if (h->reply) {
        h->reply->references++;
        *out = h->reply;
    }
    return hr;
}

HRESULT extension_host_reply(struct extension_host *h, uint32_t timeout_ms, struct extension_reply **out)
{
    *out = NULL;
    host_lock_enter(&h->lock);
    HRESULT hr = take_reply(h, timeout_ms, out);
    host_lock_leave(&h->lock);
    return hr;
}

static struct extension_host *extension_host_create(const char *service)
{
    struct extension_host *h = memory_zero(1, sizeof *h);
    if (!h)
        return NULL;
    h->pause = FIRST_PAUSE_MS;
    h->service = text_copy(service);
    if (!h->service) {
        memory_free(h);
        return NULL;
    }
    h->next = hosts.first;
    hosts.first = h;
    return h;
}

HRESULT extension_host_open(const char *service, struct extension_host **out)
{
    host_lock_enter(&hosts.lock);
    struct extension_host *h = hosts.first;
    while (h && strcmp(h->service, service) != 0)
        h = h->next;
    if (!h)
        h = extension_host_create(service);
    if (h) {
        h->users++;
        host_lock_enter(&h->lock);
        if (h->channel)
            set(&h->channel->parked, 0);
        host_lock_leave(&h->lock);
    }
    host_lock_leave(&hosts.lock);
    *out = h;
    return h ? S_OK : E_OUTOFMEMORY;
}

/* Nobody uses it now. */
static void extension_host_park_process(struct extension_host *h)
{
    if (h->process && h->asked && !has_answered(h)) {
        process_terminate(process_id(h->process), h->process_start);
        drop_process(h);
    }
    forget_reply(h);
    if (h->process) {
        set(&h->channel->parked, 1);
        signal_set(h->ask);
    }
}

void extension_host_close(struct extension_host *h)
{
    if (!h)
        return;
    host_lock_enter(&hosts.lock);
    if (--h->users == 0) {
        host_lock_enter(&h->lock);
        extension_host_park_process(h);
        host_lock_leave(&h->lock);
    }
    host_lock_leave(&hosts.lock);
}

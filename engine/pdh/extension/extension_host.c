/* SPDX-License-Identifier: MIT */
/* The client's side of the host process of an extension DLL, and the folders from which such a DLL may be loaded. */
#include "engine/pdh/extension/extension_host.h"

#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"

#include <stdatomic.h>
#include <string.h>

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

/* Returns true for "C:\..." and "\\...". */
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

/* ---- The client's side of an extension host ----

   The problem: a performance extension DLL is foreign code that runs inside the program that reads the DLL's counters.
   The DLL may crash, hang, corrupt memory or call ExitProcess. Therefore a separate host process loads the DLL, and the
   client (the program that reads the counters) reads the data through shared memory with a time limit.

       program that reads counters                      rundll32 openpdh.dll,PdhExtensionHost CHANNEL SERVICE
       --------------------------                       ------------------------------------------------------
       query A --.                                       extension_host_dll.c
       query B --+--> struct extension_host               - loads the DLL, calls Open
       query C --'      | lock, users, reply              - loop: wait, Collect, answer
                        |                                 - a thread exits the process with its owner
                        |   +-----------------------------------------------+
                        '-->| section "openpdh_extension_KEY"               |<--'
                            |   version owner owner_start request parked    |  written by the client
                            |   reply state error objects size times data[] |  written by the host process
                            +-----------------------------------------------+
                            | signal "..._ask"     client -> host           |
                            | signal "..._answer"  host -> client           |
                            +-----------------------------------------------+

   A request. extension_host_ask_process increments `request` and sets the ask signal. The host process sees request !=
   reply, calls Collect and writes data, size, times and error. After that, it sets `reply` to the number of the request
   and sets the answer signal. The client considers the request answered if reply == request. The client has at most one
   unanswered request at a time.

   Copying data. extension_host_fetch_reply reads state, error and size exactly once, checks size against the size of
   `data`, and copies the bytes to private memory. All parsing uses the copy, because the host process could change the
   section at any time, even between a check and the use. The copied bytes may be invalid, but they do not change. The
   copy is reference-counted, and all queries use it until the next request.

   Locking. `lock` protects the struct. One thread at a time waits for the process (waited_for), without the lock. The
   channel and the process must exist during the wait, so no other thread may restart or park the process during that
   time. Other threads wait for `changed`. `hosts.lock` protects the list and `users`. A thread that needs both locks
   takes `hosts.lock` first.

   Hangs. A sample waits only for its own short time limit and then reports ERROR_TIMEOUT. Later samples also report
   ERROR_TIMEOUT as long as the request is unanswered. After HUNG_MS the next request terminates the process. The client
   identifies the process by id and start time, so that it never terminates another process with a reused id.

   Crashes. When the process has exited, the client drops the channel and never uses it again, because a dying process
   may still write to it. The next process gets a new section with a new random name. extension_host_delay_restart sets
   the time of the next start; the pause doubles from FIRST_PAUSE_MS to LAST_PAUSE_MS and is reset by a successful
   reply. Each struct extension_host stays in the list until the program exits, so that the pause is kept between
   queries.

   A failed Open. The host process reports EXTENSION_FAILED and keeps running without the DLL's data, so that the
   failure costs one start instead of one start per sample.

   The end. When the last query releases the extension host, the client sets `parked`. The process then exits after
   EXTENSION_PARKED_MS with EXTENSION_EXIT_IDLE, which does not count as a crash. If a query uses the DLL again before
   the process exits, the client clears `parked`. If a request reaches the process just as it exits, take_reply starts
   the process again, but only once. If the client exits, the host process's thread end_with_owner terminates the host
   process, even if the DLL hangs. The names of section and signals are random, and their security descriptor admits
   only this account and the system, so no other user can impersonate either side. */

#define FIRST_PAUSE_MS 1000
#define LAST_PAUSE_MS  300000
/* A host process with a request that is unanswered for this long is terminated, and restarted after a pause. */
#define HUNG_MS        30000
/* Only the account of this program and the system may open the channel. */
#define CHANNEL_SDDL   "D:P(A;;GA;;;%s)(A;;GA;;;SY)"

struct extension_host {
    struct extension_host *next;
    size_t users; /* protected by hosts.lock, like `next` */
    struct lock lock;
    struct thread_condition changed; /* wakes the other waiting threads */
    bool waited_for;                 /* a thread waits without the lock, so the channel and the process must not be
                                        closed */
    char *service, *name;
    struct section *section;
    struct signal *ask, *answer;
    struct extension_channel *channel;
    struct process *process;
    uint64_t process_start;
    uint32_t request;              /* number of the last request */
    uint64_t asked;                /* time of the last request; 0: none */
    uint64_t restart, pause;       /* restart: earliest time of the next start; pause: the pause after the next crash */
    struct extension_reply *reply; /* the fetched reply to the last request; NULL: not fetched yet */
};

/* All extension hosts of this program. An extension host is never freed, so that its `pause` is kept. */
static struct {
    struct lock lock;
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

/* Releases a reply. The caller holds the host's lock or has the only reference. */
static void reply_release(struct extension_reply *r)
{
    if (r && --r->references == 0)
        memory_free(r);
}

void extension_reply_release(struct extension_host *h, struct extension_reply *reply)
{
    lock_enter(&h->lock);
    reply_release(reply);
    lock_leave(&h->lock);
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

/* Returns a random name, which other processes cannot guess. */
static char *channel_name(void)
{
    char key[SHARED_KEY_DIGITS + 1];
    return SUCCEEDED(shared_new_key(key)) ? text_format("openpdh_extension_%s", key) : NULL;
}

/* Opens a new channel for a process. A channel is never reused, because a dead or hung process may still write to
   it. */
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

/* Drops the process and sets the time of the next start. Called when the process crashed, was terminated or could not
   be started. */
static void extension_host_delay_restart(struct extension_host *h)
{
    drop_process(h);
    TRACE_STEP(pdh, "extension host of %s: restart in %u ms", h->service, (unsigned)h->pause);
    h->restart = clock_monotonic_ms() + h->pause;
    h->pause = h->pause * 2 < LAST_PAUSE_MS ? h->pause * 2 : LAST_PAUSE_MS;
}

/* Drops the process if it has exited. True: the process has exited because it was unused. */
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
    TRACE_STEP(pdh, "start the extension host of %s: 0x%08X", h->service, (unsigned)hr);
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

/* Sends a request to the process unless a request is unanswered, and starts the process if necessary. Terminates a hung
   process. The caller holds the lock. */
static void extension_host_ask_process(struct extension_host *h)
{
    uint64_t now = clock_monotonic_ms();
    TRACE_STEP(pdh, "request %u to the extension host of %s", (unsigned)h->request + 1, h->service);
    if (h->waited_for) /* a thread is waiting for the reply to the open request */
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
    lock_enter(&h->lock);
    extension_host_ask_process(h);
    lock_leave(&h->lock);
}

/* Waits once. The caller holds the lock, which this function releases during the wait. E_ABORT: the process has
   exited. */
static HRESULT wait_for_answer(struct extension_host *h, uint32_t timeout_ms)
{
    if (h->waited_for) {
        thread_condition_wait(&h->changed, &h->lock, timeout_ms);
        return S_OK;
    }
    h->waited_for = true;
    lock_leave(&h->lock);
    HRESULT hr = signal_wait_or_process(h->answer, h->process, timeout_ms);
    lock_enter(&h->lock);
    h->waited_for = false;
    thread_condition_wake(&h->changed);
    return hr;
}

/* Copies the reply before checking any of it, because the process may still write to the section. */
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
    h->pause = FIRST_PAUSE_MS; /* the process works again */
    return S_OK;
}

/* Waits for the reply and returns a reference to it. The caller holds the lock. */
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
            again = false; /* the process was parked, and it exited just when the request was sent */
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
    lock_enter(&h->lock);
    HRESULT hr = take_reply(h, timeout_ms, out);
    lock_leave(&h->lock);
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
    lock_enter(&hosts.lock);
    struct extension_host *h = hosts.first;
    while (h && strcmp(h->service, service) != 0)
        h = h->next;
    if (!h)
        h = extension_host_create(service);
    if (h) {
        h->users++;
        lock_enter(&h->lock);
        if (h->channel)
            set(&h->channel->parked, 0);
        lock_leave(&h->lock);
    }
    lock_leave(&hosts.lock);
    *out = h;
    return h ? S_OK : E_OUTOFMEMORY;
}

/* Terminates the process if it has an unanswered request, otherwise parks it. Called when the last user has released
   the host. */
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
    lock_enter(&hosts.lock);
    if (--h->users == 0) {
        lock_enter(&h->lock);
        extension_host_park_process(h);
        lock_leave(&h->lock);
    }
    lock_leave(&hosts.lock);
}

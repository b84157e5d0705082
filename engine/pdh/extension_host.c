/* SPDX-License-Identifier: MIT */
/* Our side of an extension DLL's process. */
#include "engine/pdh/extension_host.h"

#include "engine/os/clock.h"
#include "engine/os/memory.h"
#include "engine/pdh/extension_system.h"

#include <stdatomic.h>

#define FIRST_PAUSE_MS 1000
#define LAST_PAUSE_MS  300000
/* An extension that has not answered for so long is ended and, after a pause, started again. */
#define HUNG_MS        30000

struct extension_host {
    char *service, *name;
    struct section *section;
    struct signal *ask, *answer;
    struct extension_channel *channel;
    struct process *process;
    uint64_t process_start;
    uint64_t asked;          /* moment of the open request, 0: none */
    uint64_t restart, pause; /* not started before this moment; length of the pause after the next death */
    bool failed;             /* what it answered last, or its death */
};

static atomic_uint next_name;

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

HRESULT extension_host_open(const char *service, struct extension_host **out)
{
    struct extension_host *h = memory_zero(1, sizeof *h);
    *out = NULL;
    if (!h)
        return E_OUTOFMEMORY;
    h->pause = FIRST_PAUSE_MS;
    h->service = text_copy(service);
    if (!h->service) {
        memory_free(h);
        return E_OUTOFMEMORY;
    }
    *out = h;
    return S_OK;
}

static void close_channel(struct extension_host *h)
{
    section_close(h->section);
    if (h->ask)
        signal_close(h->ask);
    if (h->answer)
        signal_close(h->answer);
    memory_free(h->name);
    h->section = NULL;
    h->channel = NULL;
    h->ask = h->answer = NULL;
    h->name = NULL;
}

/* Of one process: what a dead or hung one may still write to is not used again. */
static HRESULT open_channel(struct extension_host *h)
{
    unsigned number = atomic_fetch_add(&next_name, 1);
    h->name = text_format("openpdh_extension_%u_%u", (unsigned)process_own_id(), number);
    char *ask = h->name ? extension_request_signal(h->name) : NULL;
    char *answer = h->name ? extension_reply_signal(h->name) : NULL;
    HRESULT hr = ask && answer
                     ? section_open(&(struct shared){.name = h->name, .create = true}, sizeof *h->channel, &h->section)
                     : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = signal_open(&(struct shared){.name = ask, .create = true}, &h->ask);
    if (SUCCEEDED(hr))
        hr = signal_open(&(struct shared){.name = answer, .create = true}, &h->answer);
    memory_free(ask);
    memory_free(answer);
    if (SUCCEEDED(hr)) {
        h->channel = section_memory(h->section);
        h->channel->version = EXTENSION_VERSION;
        h->channel->owner = process_own_id();
        h->channel->owner_start = process_start_time(process_own_id());
    }
    return hr;
}

static void drop_process(struct extension_host *h, uint64_t now)
{
    process_close(h->process);
    h->process = NULL;
    close_channel(h);
    h->asked = 0;
    h->failed = true;
    h->restart = now + h->pause;
    h->pause = h->pause * 2 < LAST_PAUSE_MS ? h->pause * 2 : LAST_PAUSE_MS;
}

static void start(struct extension_host *h, uint64_t now)
{
    HRESULT hr = open_channel(h);
    if (SUCCEEDED(hr))
        hr = extension_start(h->name, h->service, &h->process);
    if (SUCCEEDED(hr)) {
        h->process_start = process_start_time(process_id(h->process));
        h->failed = false;
    } else {
        drop_process(h, now);
    }
}

static bool answered(const struct extension_host *h)
{
    return get(&h->channel->reply) == get(&h->channel->request) || get(&h->channel->state) == EXTENSION_FAILED;
}

void extension_host_request(struct extension_host *h)
{
    uint64_t now = clock_monotonic_ms();
    if (h->process && process_wait(h->process, 0, NULL) == S_OK)
        drop_process(h, now);
    if (h->process && h->asked && !answered(h)) {
        if (now - h->asked > HUNG_MS) {
            process_terminate(process_id(h->process), h->process_start);
            drop_process(h, now);
        }
        return;
    }
    if (!h->process) {
        if (now < h->restart)
            return;
        start(h, now);
    }
    if (h->process) {
        h->asked = now;
        set(&h->channel->request, get(&h->channel->request) + 1);
        signal_set(h->ask);
    }
}

HRESULT extension_host_reply(struct extension_host *h, uint32_t timeout_ms, struct extension_reply *out)
{
    *out = (struct extension_reply){0};
    while (h->process && h->asked && !answered(h)) {
        uint64_t now = clock_monotonic_ms(), end = h->asked + timeout_ms;
        if (now >= end)
            return error_set(HRESULT_FROM_WIN32(ERROR_TIMEOUT), "%s: its extension DLL does not answer", h->service);
        HRESULT hr = signal_wait_or_process(h->answer, h->process, (uint32_t)(end - now));
        if (hr == E_ABORT && !answered(h))
            drop_process(h, now);
        else if (FAILED(hr) && hr != E_ABORT)
            return hr;
    }
    if (!h->process || !h->asked)
        return error_set(E_ABORT, "%s: the process of its extension DLL has ended", h->service);
    const struct extension_channel *c = h->channel;
    if (get(&c->state) == EXTENSION_FAILED || c->error)
        return error_set(E_FAIL, "%s: its extension DLL fails with error %u", h->service, (unsigned)c->error);
    if (c->size > EXTENSION_DATA_BYTES)
        return error_set(E_FAIL, "%s: its extension DLL gives %u bytes", h->service, (unsigned)c->size);
    h->pause = FIRST_PAUSE_MS; /* it works */
    *out = (struct extension_reply){c->data, c->size, c->objects, c->ticks, c->frequency, c->utc};
    return S_OK;
}

void extension_host_close(struct extension_host *h)
{
    if (!h)
        return;
    if (h->process) {
        bool busy = h->asked && !answered(h);
        set(&h->channel->end, 1);
        signal_set(h->ask);
        if (busy)
            process_terminate(process_id(h->process), h->process_start);
        process_close(h->process);
    }
    close_channel(h);
    memory_free(h->service);
    memory_free(h);
}

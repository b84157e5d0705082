/* SPDX-License-Identifier: MIT */
/* The report of a session's host to who started it. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/etw/session/session_start.h"

#include <stdatomic.h>
#include <string.h>

struct shared_report {
    atomic_uint_least32_t sent; /* set last */
    uint32_t code;
    char text[ERROR_TEXT_BYTES];
};
struct session_report {
    struct section *section;
    struct signal *signal;
    struct shared_report *shared;
};

HRESULT session_report_open(const char *key, bool create, struct session_report **out)
{
    struct session_report *r = memory_zero(1, sizeof *r);
    char *name = text_format("openetw-start-%s", key);
    const struct shared what = {.name = name, .create = create, .fresh = create};
    HRESULT hr = r && name ? section_open(&what, sizeof *r->shared, &r->section) : E_OUTOFMEMORY;
    *out = NULL;
    if (SUCCEEDED(hr))
        hr = signal_open(&what, &r->signal);
    memory_free(name);
    if (FAILED(hr)) {
        session_report_close(r);
        return hr;
    }
    r->shared = section_memory(r->section);
    *out = r;
    return S_OK;
}

void session_report_send(struct session_report *r, ULONG code, const char *text)
{
    text_fit(r->shared->text, sizeof r->shared->text, text);
    r->shared->code = code;
    atomic_store(&r->shared->sent, 1);
    (void)signal_set(r->signal);
}

HRESULT session_report_wait(struct session_report *r, struct process *host, uint32_t timeout_ms, ULONG *code)
{
    const uint64_t from = clock_monotonic_ms();
    for (;;) {
        const uint64_t passed = clock_passed_ms(from, clock_monotonic_ms());
        const HRESULT hr =
            signal_wait_or_process(r->signal, host, passed < timeout_ms ? timeout_ms - (uint32_t)passed : 0);
        if (atomic_load(&r->shared->sent) != 0) { /* also when the host ended right behind it */
            char text[ERROR_TEXT_BYTES];
            *code = r->shared->code;
            memcpy(text, r->shared->text, sizeof text);
            text[sizeof text - 1] = 0;
            if (*code != ERROR_SUCCESS)
                (void)error_set(HRESULT_FROM_WIN32((LONG)*code), "%s", text_is_utf8(text, strlen(text)) ? text : "");
            return S_OK;
        }
        if (hr != S_OK || passed >= timeout_ms)
            return hr == S_OK ? S_FALSE : hr;
    }
}

void session_report_close(struct session_report *r)
{
    if (!r)
        return;
    section_close(r->section);
    signal_close(r->signal);
    memory_free(r);
}

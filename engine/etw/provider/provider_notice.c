/* SPDX-License-Identifier: MIT */
/* Runs providers' callbacks. Each change of an enable setting causes one callback, which gets the combined state of all
   sessions that enable the provider. A registration runs one callback at a time, on the thread that detected the
   change. During the callback, other threads only queue their callbacks. No lock is held during a callback. */
#include "engine/base/guard.h"
#include "engine/base/memory.h"
#include "engine/etw/provider/provider_table.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum { CODE_DISABLE, CODE_ENABLE, CODE_CAPTURE };

struct notice {
    struct notice *next;
    uint32_t code;
    GUID source;
    uint8_t level;
    uint64_t any, all;
    uint64_t context; /* TRACE_ENABLE_CONTEXT, for the callback of a classic provider */
    uint32_t filter_size;
    uint64_t filter[]; /* bytes, aligned for EVENT_FILTER_HEADER */
};

static struct thread_condition ended;

static bool has_header(const uint8_t *filter, uint32_t size)
{
    return filter && size >= sizeof(EVENT_FILTER_HEADER);
}

/* Concatenates the filters, chained by EVENT_FILTER_HEADER.NextOffset. If the first filter has no EVENT_FILTER_HEADER,
   the result is this filter alone. Any later filter without this header is omitted. Returns the size of the result in
   bytes; if `out` is NULL, only computes the size. */
static uint32_t chain_filters(const struct provider_enables *e, uint8_t *out)
{
    uint32_t at = 0, before = 0, size;
    for (uint32_t i = 0; i < e->count; i++) {
        const uint8_t *filter = provider_filter_schematized(e->of[i].filter, &size);
        if (!filter || (at != 0 && !has_header(filter, size)))
            continue;
        const uint32_t start = (at + 7) & ~7u;
        if (out) {
            memcpy(out + start, filter, size);
            if (has_header(filter, size)) {
                put_u64(out + start + offsetof(EVENT_FILTER_HEADER, InstanceId), e->of[i].instance);
                put_u32(out + start + offsetof(EVENT_FILTER_HEADER, NextOffset), 0);
            }
            if (at != 0)
                put_u32(out + before + offsetof(EVENT_FILTER_HEADER, NextOffset), start - before);
        }
        before = start;
        at = start + size;
        if (!has_header(filter, size))
            break;
    }
    return at;
}

static uint64_t classic_context(const struct provider_enable *e)
{
    return (uint64_t)(uint16_t)e->session->logger | (uint64_t)e->level << 16 | (uint64_t)(uint32_t)e->any << 32;
}

static HRESULT notice_add(struct notice **end, uint32_t code, const GUID *source, const struct provider_enables *now,
                          const struct provider_enable *changed)
{
    const uint32_t bytes = chain_filters(now, NULL);
    struct notice *n = memory_zero(1, sizeof *n + (bytes + 7) / 8 * 8);
    if (!n)
        return E_OUTOFMEMORY;
    n->code = code == CODE_ENABLE && now->count == 0 ? CODE_DISABLE : code;
    n->source = *source;
    n->all = now->count != 0 ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < now->count; i++) {
        const uint8_t level = (uint8_t)(now->of[i].limit - 1);
        n->level = level > n->level ? level : n->level;
        n->any |= now->of[i].any;
        n->all &= now->of[i].all;
    }
    n->context = classic_context(now->count != 0 ? &now->of[now->count - 1] : changed);
    n->filter_size = bytes;
    (void)chain_filters(now, (uint8_t *)n->filter);
    *end = n;
    return S_OK;
}

static void free_list(struct notice *n)
{
    while (n) {
        struct notice *next = n->next;
        memory_free(n);
        n = next;
    }
}

void provider_notices_free(struct registration_record *record)
{
    free_list(record->first);
    record->first = record->last = NULL;
}

static void notice_append(struct registration_record *record, struct notice *list)
{
    if (record->first)
        record->last->next = list;
    else
        record->first = list;
    while (list) {
        record->last = list;
        list = list->next;
    }
}

static HRESULT note_each(const struct provider_enables *old, const struct provider_enables *new, struct notice **end)
{
    static const GUID nobody;
    HRESULT hr = S_OK;
    for (uint32_t i = 0; SUCCEEDED(hr) && i < new->count; i++) {
        const struct provider_enable *e = &new->of[i];
        const struct provider_enable *was =
            provider_same_enable(old, e->session->logger, e->session->generation, e->group);
        if (!was || was->serial != e->serial) {
            hr = notice_add(end, CODE_ENABLE, &e->source, new, e);
            end = SUCCEEDED(hr) ? &(*end)->next : end;
        }
        if (SUCCEEDED(hr) && (was ? was->captures : 0) != e->captures) {
            hr = notice_add(end, CODE_CAPTURE, &e->source, new, e);
            end = SUCCEEDED(hr) ? &(*end)->next : end;
        }
    }
    for (uint32_t i = 0; SUCCEEDED(hr) && old && i < old->count; i++) {
        const struct provider_enable *e = &old->of[i];
        if (!provider_same_enable(new, e->session->logger, e->session->generation, e->group)) {
            hr = notice_add(end, CODE_ENABLE, &nobody, new, e);
            end = SUCCEEDED(hr) ? &(*end)->next : end;
        }
    }
    return hr;
}

HRESULT provider_note_changes(struct registration_record *record, const struct provider_enables *old,
                              const struct provider_enables *new)
{
    static const GUID nobody;
    struct notice *list = NULL;
    HRESULT hr = S_OK;
    if (!record->options.callback && !record->options.classic_callback)
        return S_OK;
    if (!record->begun) {
        /* At registration only the present state is reported, not its history. */
        if (new->count != 0)
            hr = notice_add(&list, CODE_ENABLE, &nobody, new, NULL);
        if (SUCCEEDED(hr))
            provider_notices_free(record);
    } else {
        hr = note_each(old, new, &list);
    }
    if (SUCCEEDED(hr))
        notice_append(record, list);
    else
        free_list(list);
    return hr;
}

/* ---- callbacks ---- */

/* A running callback. */
struct callback_run {
    struct registration *registration;
    struct provider_options to;
    struct notice *notice;
    ULONG status;
};

static void call_back(void *callback_run)
{
    struct callback_run *t = callback_run;
    const struct provider_options *to = &t->to;
    struct notice *n = t->notice;
    t->status = ERROR_SUCCESS;
    if (to->callback) {
        EVENT_FILTER_DESCRIPTOR filter = {
            .Ptr = (uintptr_t)n->filter, .Size = n->filter_size, .Type = EVENT_FILTER_TYPE_SCHEMATIZED};
        to->callback(&n->source, n->code, n->level, n->any, n->all, n->filter_size != 0 ? &filter : NULL, to->context);
        return;
    }
    static const WMIDPREQUESTCODE codes[] = {WMI_DISABLE_EVENTS, WMI_ENABLE_EVENTS, (WMIDPREQUESTCODE)10};
    WNODE_HEADER node = {.BufferSize = sizeof node, .HistoricalContext = n->context, .Guid = to->guid};
    node.Flags = WNODE_FLAG_TRACED_GUID;
    ULONG size = sizeof node;
    t->status = to->classic_callback(codes[n->code], to->context, &size, &node);
}

/* Protected by provider_lock. */
static struct {
    void (*say)(uint64_t revision); /* NULL: nothing is pending */
    uint64_t revision;
} pending_idle;

static void notice_report_idle(void)
{
    for (const struct registration *r = provider_in_use; r && pending_idle.say; r = r->record->next)
        if (r->record->calling && !r->record->waits)
            return;
    if (pending_idle.say)
        pending_idle.say(pending_idle.revision);
    pending_idle.say = NULL;
}

void provider_when_idle(void (*say)(uint64_t revision), uint64_t revision)
{
    lock_enter(&provider_lock);
    pending_idle.say = say;
    pending_idle.revision = revision;
    notice_report_idle();
    lock_leave(&provider_lock);
}

void provider_waits(bool waits)
{
    const uint32_t own = thread_own_id();
    lock_enter(&provider_lock);
    for (struct registration *r = provider_in_use; r; r = r->record->next)
        if (r->record->calling && r->record->caller == own)
            r->record->waits = waits;
    notice_report_idle();
    lock_leave(&provider_lock);
}

static void end_calling(struct registration *r)
{
    r->record->calling = r->record->waits = false;
    thread_condition_wake(&ended);
    notice_report_idle();
    if (r->record->recycle)
        provider_recycle(r);
}

/* Called when an exception leaves a callback and the program handles the exception. The remaining callbacks stay in the
   queue until a thread runs callbacks again. */
static void leave_callback(void *callback_run)
{
    struct callback_run *t = callback_run;
    memory_free(t->notice);
    lock_enter(&provider_lock);
    end_calling(t->registration);
    lock_leave(&provider_lock);
}

/* Runs all queued callbacks of `r`. This thread has marked the record of `r` as `calling`. Returns the result of the
   first callback. */
static ULONG call_all(struct registration *r)
{
    struct registration_record *record = r->record;
    ULONG status = ERROR_SUCCESS;
    bool first = true;
    record->caller = thread_own_id();
    for (struct notice *n; !record->gone && (n = record->first) != NULL;) {
        struct callback_run callback_run = {.registration = r, .to = record->options, .notice = n};
        record->first = n->next;
        lock_leave(&provider_lock);
        (void)guard_call(call_back, &callback_run, GUARD_TAKES_NONE, leave_callback);
        memory_free(n);
        lock_enter(&provider_lock);
        status = first ? callback_run.status : status;
        first = false;
    }
    end_calling(r);
    return status;
}

bool provider_outlast_callback(struct registration_record *record)
{
    if (record->calling && record->caller == thread_own_id()) {
        record->recycle = true;
        return false;
    }
    while (record->calling)
        (void)thread_condition_wait(&ended, &provider_lock, UINT32_MAX);
    return true;
}

ULONG provider_begun(uint64_t handle)
{
    /* The handle is not checked with provider_find, because its registration may already have ended. The entry is
       still in use: the thread that ends the registration waits for this function. */
    struct registration *r = &provider_table[handle % PROVIDER_PLACES];
    lock_enter(&provider_lock);
    r->record->begun = true;
    const ULONG status = call_all(r);
    lock_leave(&provider_lock);
    return status;
}

void provider_run_callbacks(void)
{
    lock_enter(&provider_lock);
    for (struct registration *r = provider_in_use; r;) {
        if (r->record->first && !r->record->calling) {
            r->record->calling = true;
            (void)call_all(r);
            r = provider_in_use; /* start again, because the list may have changed */
        } else {
            r = r->record->next;
        }
    }
    lock_leave(&provider_lock);
}

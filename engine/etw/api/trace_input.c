/* SPDX-License-Identifier: MIT */
/* Merges event traces by time. */
#include "engine/etw/trace_input.h"

#include "engine/base/memory.h"

#include <string.h>

enum { MOST_REMARKS = 100 };

static void take_remark(void *context, const char *text)
{
    struct texts *remarks = context;
    if (remarks->count < MOST_REMARKS)
        (void)texts_add(remarks, text); /* a damaged trace is not read less for want of memory */
}

/* The readers hold addresses of the items, so all items are there before the first is opened. */
HRESULT trace_inputs_open(struct trace_inputs *in, const struct texts *paths)
{
    struct texts all = {0};
    HRESULT hr = input_paths(paths, &all);
    if (SUCCEEDED(hr)) {
        in->items = memory_zero(all.count + 1, sizeof *in->items);
        in->view = memory_zero(1, sizeof *in->view);
        hr = in->items && in->view ? S_OK : error_set(E_OUTOFMEMORY, "out of memory for %zu traces", all.count);
    }
    for (size_t i = 0; i < all.count && SUCCEEDED(hr); i++) {
        struct trace_input *one = &in->items[in->count];
        hr = etl_reader_open(all.items[i], take_remark, &one->remarks, &one->reader);
        one->path = SUCCEEDED(hr) ? text_copy(all.items[i]) : NULL;
        in->count += SUCCEEDED(hr);
        if (SUCCEEDED(hr) && !one->path)
            hr = E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            in->events_lost += etl_reader_log(one->reader)->events_lost;
    }
    texts_free(&all);
    return hr;
}

void trace_event_view(const struct etl_record *e, const struct etl_log *log, bool raw, struct event_view *view,
                      struct trace_event *out)
{
    event_view_record(e, raw ? e->stamp : e->utc, log->pointer_size, log->private_logger, view);
    *out = (struct trace_event){&view->record, log->pointer_size, log->timer_resolution, e->kind != ETL_RECORD_OTHER};
    if (!out->known) {
        view->record.UserData = (void *)(uintptr_t)e->event;
        view->record.UserDataLength = (uint16_t)(e->size > UINT16_MAX ? UINT16_MAX : e->size);
    }
}

static HRESULT advance(struct trace_input *one)
{
    const HRESULT hr = etl_reader_next(one->reader, &one->event);
    one->ended = hr != S_OK;
    return FAILED(hr) ? hr : S_OK;
}

/* Of equal times that of the trace named first; NULL: no more. */
static struct trace_input *oldest(const struct trace_inputs *in)
{
    struct trace_input *found = NULL;
    for (size_t i = 0; i < in->count; i++) {
        struct trace_input *one = &in->items[i];
        if (!one->ended && (!found || one->event.utc < found->event.utc))
            found = one;
    }
    return found;
}

static void tell_progress(const struct trace_inputs *in, trace_progress *progress, void *context)
{
    uint64_t done = 0, total = 0;
    for (size_t i = 0; i < in->count; i++) {
        uint64_t one_done, one_total;
        etl_reader_progress(in->items[i].reader, &one_done, &one_total);
        done += one_done;
        total += one_total;
    }
    progress(context, done, total);
}

HRESULT trace_inputs_read(struct trace_inputs *in, trace_take *take, void *context, trace_progress *progress,
                          void *progress_context)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < in->count && SUCCEEDED(hr); i++) {
        in->items[i].header = !in->items[i].begun;
        in->items[i].begun = true;
        hr = advance(&in->items[i]);
    }
    for (struct trace_input *one; SUCCEEDED(hr) && (one = oldest(in));) {
        const struct etl_record *e = &one->event;
        const bool last = e->last;
        if (one->header || !in->ranged || (e->utc >= in->from && e->utc <= in->to)) {
            struct trace_event event;
            trace_event_view(e, etl_reader_log(one->reader), in->raw, in->view, &event);
            hr = take(context, &event);
            if (hr == S_FALSE)
                return S_OK;
            one->events++;
        }
        one->header = false;
        if (SUCCEEDED(hr))
            hr = advance(one);
        one->buffers += last;
        if (last && progress)
            tell_progress(in, progress, progress_context);
    }
    return hr;
}

HRESULT trace_inputs_follow(struct trace_inputs *in)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < in->count && SUCCEEDED(hr); i++)
        hr = etl_reader_follow(in->items[i].reader);
    return hr;
}

HRESULT trace_inputs_grow(struct trace_inputs *in)
{
    HRESULT result = S_FALSE;
    for (size_t i = 0; i < in->count; i++) {
        const HRESULT hr = etl_reader_grow(in->items[i].reader);
        if (FAILED(hr))
            return hr;
        result = hr == S_OK ? S_OK : result;
    }
    return result;
}

void trace_inputs_close(struct trace_inputs *in)
{
    for (size_t i = 0; i < in->count; i++) {
        etl_reader_close(in->items[i].reader);
        memory_free(in->items[i].path);
        texts_free(&in->items[i].remarks);
    }
    memory_free(in->items);
    memory_free(in->view);
    *in = (struct trace_inputs){0};
}

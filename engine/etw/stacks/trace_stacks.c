/* SPDX-License-Identifier: MIT */
/* Reads the stacks of traces in a first pass. After this pass, finds the code to which each frame of a stack
   belongs. */
#include "engine/etw/trace_stacks.h"

struct first_reading {
    struct trace_stacks *stacks;
    trace_take *also;
    void *context;
};

static HRESULT first_take(void *context, const struct trace_event *e)
{
    const struct first_reading *r = context;
    HRESULT hr = stack_joiner_take(r->stacks->joiner, e);
    if (SUCCEEDED(hr))
        hr = code_places_take(r->stacks->places, e);
    if (FAILED(hr))
        return error_set(hr, "out of memory for the stacks of the trace");
    return r->also ? r->also(r->context, e) : S_OK;
}

HRESULT trace_stacks_read(const struct texts *paths, trace_take *also, void *context, trace_progress *progress,
                          void *progress_context, struct trace_stacks *out)
{
    struct first_reading reading = {out, also, context};
    struct trace_inputs inputs = {.raw = true};
    HRESULT hr = trace_inputs_open(&inputs, paths);
    if (SUCCEEDED(hr))
        hr = stack_joiner_create(inputs.count, &out->joiner);
    if (SUCCEEDED(hr))
        hr = code_places_create(&out->places);
    if (SUCCEEDED(hr))
        hr = trace_inputs_read(&inputs, first_take, &reading, progress, progress_context);
    trace_inputs_close(&inputs);
    if (FAILED(hr))
        return hr;
    stack_joiner_finish(out->joiner, &out->counts);
    return code_places_finish(out->places);
}

bool trace_stacks_place(const struct trace_stacks *s, uint32_t process, uint64_t address, bool innermost,
                        uint64_t number, struct code_place *out)
{
    const uint64_t back = innermost || address == 0 ? 0 : 1;
    const bool found = code_places_find(s->places, process, address - back, number, out);
    out->offset += found ? back : 0;
    return found;
}

void trace_stacks_free(struct trace_stacks *s)
{
    stack_joiner_free(s->joiner);
    code_places_free(s->places);
    *s = (struct trace_stacks){0};
}

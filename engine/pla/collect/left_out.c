/* SPDX-License-Identifier: MIT */
/* The collectors of kinds that do not run: the rest of their set would be missed for them, so they are left out, and
   the run says so. */
#include "engine/base/memory.h"
#include "engine/pla/collect/kind.h"
#include "engine/pla/model.h"

static HRESULT left_out_open(struct object *model, const struct collect_context *context, struct collector **out)
{
    const HRESULT why = collector_runs(model);
    *out = memory_zero(1, sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    context->note(context->user, why, collector_of(model)->Name, error_text(why));
    return S_OK;
}

static HRESULT left_out_close(struct collector *c)
{
    memory_free(c);
    return S_OK;
}

const struct collector_kind left_out_collector_kind = {
    .output = WRITES_NOTHING, .end = ENDS_WITH_RUN, .open = left_out_open, .close = left_out_close};

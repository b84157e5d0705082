/* SPDX-License-Identifier: MIT */
/* Finds the kind of a collector and forwards the run's calls to it. A collector of an unsupported kind only adds a note
   to the run's message, so that the set's other collectors can run. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pla/collect/kind.h"
#include "engine/pla/model.h"

HRESULT collector_runs(struct object *collector)
{
    const struct data_collector *model = collector_of(collector);
    const uint32_t type = model->DataCollectorType;
    const struct collector_kind *kind = type < collector_kind_count ? collector_kinds[type] : NULL;
    HRESULT hr =
        !kind ? error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "collectors of type %u are not supported", type)
        : kind->runs ? kind->runs(collector)
                     : S_OK;
    return FAILED(hr) ? error_prefix(hr, "collector '%s'", model->Name) : hr;
}

static const struct collector_kind *kind_of(struct object *collector)
{
    if (SUCCEEDED(collector_runs(collector)))
        return collector_kinds[collector_of(collector)->DataCollectorType];
    error_clear();
    return &unavailable_collector_kind;
}

enum collector_output collector_output(struct object *collector)
{
    const struct collector_kind *kind = kind_of(collector);
    return !kind->writes || kind->writes(collector) ? kind->output : WRITES_NOTHING;
}

bool collector_file_is_there(struct object *collector, const char *file)
{
    const struct collector_kind *kind = kind_of(collector);
    return kind->is_there ? kind->is_there(collector, file) : file_exists(file);
}

bool collector_writes_parts(struct object *collector, const char *file)
{
    const struct collector_kind *kind = kind_of(collector);
    return kind->writes_parts && kind->writes_parts(collector, file);
}

void collector_delete_file(struct object *collector, const char *base, const char *file)
{
    const struct collector_kind *kind = kind_of(collector);
    if (kind->delete_file)
        kind->delete_file(collector, base, file);
    else
        (void)file_delete_below(base, file);
}

HRESULT collector_check(struct object *collector)
{
    const struct collector_kind *kind = kind_of(collector);
    return kind->check ? kind->check(collector) : S_OK;
}

HRESULT collector_open(struct object *collector, const struct collect_context *context, struct collector **out)
{
    const struct collector_kind *kind = kind_of(collector);
    struct collector *c;
    HRESULT hr = kind->open(collector, context, &c);
    if (FAILED(hr))
        return hr;
    c->kind = kind;
    *out = c;
    return S_OK;
}

void collector_rehearse(struct object *collector)
{
    const struct collector_kind *kind = kind_of(collector);
    if (kind->rehearse)
        kind->rehearse(collector);
}

uint64_t collector_interval_ms(const struct collector *c)
{
    return c->interval_ms;
}

uint64_t collector_poll_ms(const struct collector *c)
{
    return c->poll_ms;
}

enum collector_end collector_end(const struct collector *c, bool limited)
{
    if (c->ends_by_itself)
        return ENDS_BY_ITSELF;
    bool at_once = c->kind->end == ENDS_AT_LIMIT && !limited && !c->limited;
    return at_once ? ENDS_WITH_RUN : c->kind->end;
}

HRESULT collector_sample(struct collector *c)
{
    return c->kind->sample(c);
}

enum collector_standing collector_poll(struct collector *c, HRESULT *reason)
{
    *reason = S_OK;
    return c->kind->poll ? c->kind->poll(c, reason) : COLLECTOR_GOES_ON;
}

void collector_figures(struct collector *c, struct collector_figures *out)
{
    if (c->kind->figures)
        c->kind->figures(c);
    *out = c->figures;
}

HRESULT collector_flush(struct collector *c)
{
    return c->kind->flush ? c->kind->flush(c) : S_OK;
}

HRESULT collector_complete(struct collector *c)
{
    return c && c->kind->complete ? c->kind->complete(c) : S_OK;
}

HRESULT collector_close(struct collector *c)
{
    return c ? c->kind->close(c) : S_OK;
}

HRESULT collector_update(struct collector *c, struct object *model)
{
    return c->kind == kind_of(model) && c->kind->update ? c->kind->update(c, model) : S_FALSE;
}

bool collector_follows(const struct collector *c, struct object *model)
{
    return c->kind != kind_of(model) || !c->kind->follows || c->kind->follows(c, model);
}

bool collector_hands_over(const struct collector *c, struct object *model)
{
    return c->kind == kind_of(model) && c->kind->update && c->kind->follows;
}

bool collector_takes_over(struct object *collector)
{
    return kind_of(collector)->hand_back != NULL;
}

bool collector_hand_back(struct collector *c)
{
    return c && c->kind->hand_back && c->kind->hand_back(c);
}

HRESULT collector_release_held(const char *line)
{
    HRESULT hr = S_FALSE;
    for (size_t i = 0; hr == S_FALSE && i < collector_kind_count; i++)
        if (collector_kinds[i] && collector_kinds[i]->release_held)
            hr = collector_kinds[i]->release_held(line);
    return hr;
}

HRESULT collector_file_exists(const char *path)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                     "'%s' already exists (use LogOverwrite, LogAppend or a serial number in the name)", path);
}

/* ---- unsupported kinds ---- */

static HRESULT unavailable_open(struct object *model, const struct collect_context *context, struct collector **out)
{
    const HRESULT why = collector_runs(model);
    *out = memory_zero(1, sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    context->note(context->user, why, collector_of(model)->Name, error_text(why));
    return S_OK;
}

static HRESULT unavailable_close(struct collector *c)
{
    memory_free(c);
    return S_OK;
}

const struct collector_kind unavailable_collector_kind = {
    .output = WRITES_NOTHING, .end = ENDS_WITH_RUN, .open = unavailable_open, .close = unavailable_close};

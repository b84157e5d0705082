/* SPDX-License-Identifier: MIT */
/* Finds the kind of a collector and passes the run layer's calls on to it. */
#include "engine/collect/kind.h"
#include "engine/model/model.h"

/* By DataCollectorType, MS-PLA 2.2.2.3. */
static const struct collector_kind *const kinds[] = {
    &counter_collector_kind, /* plaPerformanceCounter */
};

HRESULT collector_open(struct object *collector, const struct collect_context *context, struct collector **out)
{
    const struct data_collector *model = collector_of(collector);
    uint32_t type = model->DataCollectorType;
    if (type >= sizeof kinds / sizeof kinds[0])
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "collector \"%s\": collectors of type %u do not run",
                         model->Name, (unsigned)type);
    struct collector *c;
    HRESULT hr = kinds[type]->open(collector, context, &c);
    if (FAILED(hr))
        return hr;
    c->kind = kinds[type];
    *out = c;
    return S_OK;
}

uint64_t collector_interval_ms(const struct collector *c)
{
    return c->interval_ms;
}

uint64_t collector_records(const struct collector *c)
{
    return c->records;
}

HRESULT collector_sample(struct collector *c)
{
    return c->kind->sample(c);
}

HRESULT collector_flush(struct collector *c)
{
    return c->kind->flush(c);
}

bool collector_done(const struct collector *c)
{
    return c->done;
}

bool collector_asks_for_segment(const struct collector *c)
{
    return c->asks_for_segment;
}

HRESULT collector_complete(struct collector *c)
{
    return c && c->kind->complete ? c->kind->complete(c) : S_OK;
}

HRESULT collector_remark(struct collector *c, char **text)
{
    *text = NULL;
    return c->kind->remark ? c->kind->remark(c, text) : S_FALSE;
}

HRESULT collector_close(struct collector *c)
{
    return c ? c->kind->close(c) : S_OK;
}

/* SPDX-License-Identifier: MIT */
#include "decode_event.h"

#include "engine/etw/event_values.h"

#include <stdlib.h>

struct decoding {
    const struct event_schema *schema;
    const struct event_data *data;
    size_t steps;
    int depth;
};

static HRESULT look(void *context, enum event_step step, const struct event_value *v)
{
    struct decoding *d = context;
    struct text_buffer text = {0};
    if (v->bytes < d->data->bytes || v->size > d->data->size ||
        (size_t)(v->bytes - d->data->bytes) > d->data->size - v->size || ++d->steps > 0x20000)
        abort();
    d->depth += step == STEP_STRUCT || step == STEP_ARRAY ? 1 : step == STEP_VALUE ? 0 : -1;
    if (d->depth < 0)
        abort();
    if (step != STEP_VALUE || d->steps > 64) /* enough for one event */
        return S_OK;
    const HRESULT hr = event_value_text(d->schema, v, &text);
    if (FAILED(hr) || (text.text && !text_is_utf8(text.text, text.length)))
        abort(); /* every value of a walk has a text */
    text_buffer_free(&text);
    return S_OK;
}

void decode_event(const struct event_schema *schema, const uint8_t *data, size_t size, uint32_t pointer_size)
{
    const struct event_data whole = {data, size, pointer_size};
    struct decoding d = {schema, &whole, 0, 0};
    size_t used;
    const HRESULT hr = event_values_walk(schema, &whole, look, &d, &used);
    if (used > size || (hr == S_OK && d.depth != 0))
        abort();
}

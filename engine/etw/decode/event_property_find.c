/* SPDX-License-Identifier: MIT */
#include "engine/etw/decode/event_property_find.h"

#include <string.h>

struct search {
    const struct property_step *path;
    size_t steps, inside; /* how many of them are structs that the walk is in */
    const uint8_t *start;
    bool found;
    struct found_property *out;
};

static bool is_element(const struct search *s, const struct event_value *v, bool last)
{
    const uint32_t wanted = s->path[s->inside].element;
    if (wanted == PROPERTY_WHOLE)
        return last ? !v->array : v->element == 0;
    return v->element == wanted;
}

static HRESULT found(struct search *s, const struct event_value *v)
{
    *s->out = (struct found_property){s->start ? (size_t)(v->bytes - s->start) : 0, v->size};
    s->found = true;
    return S_FALSE;
}

static HRESULT look(void *context, enum event_step step, const struct event_value *v)
{
    struct search *s = context;
    if (step == STEP_STRUCT_END && s->inside != 0 && v->depth == s->inside - 1) {
        s->inside--; /* out of the struct on the way: the member was not there */
        return S_OK;
    }
    if (v->depth != s->inside || strcmp(v->property->name, s->path[s->inside].name) != 0)
        return S_OK;
    const bool last = s->inside + 1 == s->steps;
    if (!last) {
        if (step == STEP_STRUCT && is_element(s, v, false))
            s->inside++;
        return S_OK;
    }
    if (step == STEP_ARRAY_END)
        return s->path[s->inside].element == PROPERTY_WHOLE ? found(s, v) : S_OK;
    return (step == STEP_VALUE || step == STEP_STRUCT_END) && is_element(s, v, true) ? found(s, v) : S_OK;
}

HRESULT event_property_find(const struct event_schema *schema, const struct event_data *data,
                            const struct property_step *path, size_t steps, struct found_property *out)
{
    struct search s = {.path = path, .steps = steps, .start = data->bytes, .out = out};
    *out = (struct found_property){0};
    if (steps == 0 || steps > PROPERTY_PATH_STEPS)
        return S_FALSE;
    const HRESULT hr = event_values_walk(schema, data, look, &s, NULL);
    return s.found ? S_OK : FAILED(hr) ? hr : S_FALSE;
}

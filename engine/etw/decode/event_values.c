/* SPDX-License-Identifier: MIT */
#include "engine/etw/event_values.h"

#include "engine/base/memory.h"

/* Empty values take no bytes, so their number alone ends an event of nothing but these. */
enum { FEW_PROPERTIES = 64, STEPS_OF_A_BYTE = 4, STEPS_OF_NONE = 4096, MAXIMUM_DEPTH = 32 };

struct walk {
    const struct event_schema *schema;
    const struct event_data *data;
    event_value_taker *take;
    void *context;
    size_t at;
    uint32_t left;     /* values that may still come */
    uint64_t *numbers; /* of each property that has come, for lengths and counts */
};

struct event_data event_data_of(const EVENT_RECORD *event, uint32_t pointer_size)
{
    const USHORT flags = event->EventHeader.Flags;
    if (flags & EVENT_HEADER_FLAG_32_BIT_HEADER)
        pointer_size = 4;
    else if (flags & EVENT_HEADER_FLAG_64_BIT_HEADER)
        pointer_size = 8;
    else if (pointer_size != 4 && pointer_size != 8)
        pointer_size = sizeof(void *);
    return (struct event_data){event->UserData, event->UserData ? event->UserDataLength : 0, pointer_size};
}

static HRESULT too_many(const struct event_property *p)
{
    return error_set(EVENT_DATA_INVALID, "%s: the event says more values than its size can have", p->name);
}

static HRESULT tell(struct walk *w, enum event_step step, struct event_value *v, size_t from)
{
    if (w->left == 0)
        return too_many(v->property);
    w->left--;
    const bool end = step != STEP_STRUCT && step != STEP_ARRAY;
    v->bytes = w->data->bytes + from;
    v->size = end ? w->at - from : 0;
    return w->take(w->context, step, v);
}

static HRESULT walk_value(struct walk *w, struct event_value *v)
{
    const size_t from = w->at;
    struct value_extent extent;
    HRESULT hr = value_extent(&v->type, w->data->bytes + from, w->data->size - from, &extent);
    if (FAILED(hr))
        return error_prefix(hr, "%s", v->property->name);
    w->at += extent.size;
    if (!v->array)
        value_number(v->type.in, w->data->bytes + from, extent.size, &w->numbers[v->index]);
    return tell(w, STEP_VALUE, v, from);
}

static HRESULT walk_property(struct walk *w, uint16_t index, uint16_t depth);

static HRESULT walk_struct(struct walk *w, struct event_value *v)
{
    const size_t from = w->at;
    HRESULT hr = v->depth < MAXIMUM_DEPTH ? tell(w, STEP_STRUCT, v, from)
                                          : error_set(EVENT_DATA_INVALID, "%s: structs are nested more than %d deep",
                                                      v->property->name, MAXIMUM_DEPTH);
    for (uint16_t i = 0; hr == S_OK && i < v->property->members; i++)
        hr = walk_property(w, (uint16_t)(v->property->first_member + i), (uint16_t)(v->depth + 1));
    return hr == S_OK ? tell(w, STEP_STRUCT_END, v, from) : hr;
}

/* Length before count before elements. */
static HRESULT walk_property(struct walk *w, uint16_t index, uint16_t depth)
{
    const struct event_property *p = &w->schema->properties[index];
    struct event_value v = {.property = p, .index = index, .depth = depth};
    uint64_t length = p->length, count = p->count;
    if ((p->flags & PROPERTY_PARAM_LENGTH) != 0)
        length = w->numbers[p->length];
    if ((p->flags & PROPERTY_PARAM_COUNT) != 0)
        count = w->numbers[p->count];
    v.array = (p->flags & (PROPERTY_PARAM_COUNT | PROPERTY_FIXED_COUNT)) != 0 || p->count > 1;
    const bool too_long = length > w->data->size && (!v.array || count != 0);
    if (too_long || count > UINT16_MAX)
        return error_set(EVENT_DATA_INVALID, "%s: its %s is %llu, in an event of %zu bytes", p->name,
                         too_long ? "length" : "count", (unsigned long long)(too_long ? length : count), w->data->size);
    v.elements = v.array ? (uint32_t)count : 1;
    v.type = (struct value_type){
        .in = p->in_type,
        .out = p->out_type,
        .has_length = (p->flags & (PROPERTY_PARAM_LENGTH | PROPERTY_FIXED_LENGTH)) != 0 || length != 0,
        .length = (uint32_t)length,
        .pointer_size = w->data->pointer_size,
    };
    const size_t from = w->at;
    HRESULT hr = v.array ? tell(w, STEP_ARRAY, &v, from) : S_OK;
    for (uint32_t i = 0; hr == S_OK && i < v.elements; i++) {
        v.element = i;
        hr = (p->flags & PROPERTY_STRUCT) != 0 ? walk_struct(w, &v) : walk_value(w, &v);
    }
    v.element = 0;
    return hr == S_OK && v.array ? tell(w, STEP_ARRAY_END, &v, from) : hr;
}

HRESULT event_values_walk(const struct event_schema *schema, const struct event_data *data, event_value_taker *take,
                          void *context, size_t *used)
{
    uint64_t few[FEW_PROPERTIES];
    static const uint8_t none;
    const struct event_data whole = {data->bytes ? data->bytes : &none, data->bytes ? data->size : 0,
                                     data->pointer_size};
    struct walk w = {schema, &whole, take, context, 0, 0, few};
    HRESULT hr = S_OK;
    w.left = (uint32_t)(STEPS_OF_NONE + STEPS_OF_A_BYTE * whole.size);
    for (size_t i = 0; i < FEW_PROPERTIES; i++)
        few[i] = 0;
    if (schema->property_count > FEW_PROPERTIES)
        w.numbers = memory_zero(schema->property_count, sizeof *w.numbers);
    if (!w.numbers)
        return E_OUTOFMEMORY;
    /* A classic event may have fewer properties than its class: StackWalk's as many as the stack is deep, an older one
       those of its time. */
    for (uint16_t i = 0; hr == S_OK && i < schema->top_level && !(schema->source == SCHEMA_MOF && w.at == whole.size);
         i++)
        hr = walk_property(&w, i, 0);
    if (w.numbers != few)
        memory_free(w.numbers);
    if (used)
        *used = w.at;
    return hr;
}

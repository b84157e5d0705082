/* SPDX-License-Identifier: MIT */
/* Computes the sizes of values, walks over all values of an event, and finds properties by their paths. */
#include "engine/etw/event_values.h"

#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum { ANY_SIZE = 0xFF, BY_POINTER_SIZE = 0xFE, SID_AUTHORITIES = 15 };

/* Returns the size of an input type in bytes; ANY_SIZE: it depends on the value. */
static uint8_t fixed_size(uint16_t in)
{
    static const uint8_t manifest[] = {
        [IN_TYPE_NULL] = 0,
        [IN_TYPE_UNICODESTRING] = ANY_SIZE,
        [IN_TYPE_ANSISTRING] = ANY_SIZE,
        [IN_TYPE_INT8] = 1,
        [IN_TYPE_UINT8] = 1,
        [IN_TYPE_INT16] = 2,
        [IN_TYPE_UINT16] = 2,
        [IN_TYPE_INT32] = 4,
        [IN_TYPE_UINT32] = 4,
        [IN_TYPE_INT64] = 8,
        [IN_TYPE_UINT64] = 8,
        [IN_TYPE_FLOAT] = 4,
        [IN_TYPE_DOUBLE] = 8,
        [IN_TYPE_BOOLEAN] = 4,
        [IN_TYPE_BINARY] = ANY_SIZE,
        [IN_TYPE_GUID] = 16,
        [IN_TYPE_POINTER] = BY_POINTER_SIZE,
        [IN_TYPE_FILETIME] = 8,
        [IN_TYPE_SYSTEMTIME] = 16,
        [IN_TYPE_SID] = ANY_SIZE,
        [IN_TYPE_HEXINT32] = 4,
        [IN_TYPE_HEXINT64] = 8,
    };
    switch (in) {
    case IN_TYPE_UNICODECHAR:
        return 2;
    case IN_TYPE_ANSICHAR:
        return 1;
    case IN_TYPE_SIZET:
        return BY_POINTER_SIZE;
    default:
        return in < sizeof manifest ? manifest[in] : ANY_SIZE;
    }
}

uint16_t value_fixed_size(uint16_t in_type, uint32_t pointer_size)
{
    const uint8_t fixed = fixed_size(in_type);
    return (uint16_t)(fixed == BY_POINTER_SIZE ? pointer_size : fixed == ANY_SIZE ? 0 : fixed);
}

static HRESULT too_few(size_t need, size_t have)
{
    return error_set(EVENT_DATA_INVALID, "the value needs %zu bytes, but only %zu are left", need, have);
}

/* Sets *out to the extent of a value that has a prefix of `before` bytes and a content of `content` bytes. `size` is
   the number of bytes left in the data. */
static HRESULT extent_after(size_t before, size_t content, size_t size, struct value_extent *out)
{
    if (before > size || content > size - before)
        return too_few(before + content, size);
    *out = (struct value_extent){before + content, before, content};
    return S_OK;
}

size_t value_text_end(const uint8_t *bytes, size_t size, size_t unit)
{
    size_t at = 0;
    while (at + unit <= size && (bytes[at] != 0 || (unit == 2 && bytes[at + 1] != 0)))
        at += unit;
    return at;
}

/* Returns the extent of a string, which either has a fixed length or ends at its NUL. A string that has neither a fixed
   length nor a NUL extends to the end of the data. */
static HRESULT extent_terminated(const struct value_type *type, size_t unit, const uint8_t *bytes, size_t size,
                                 struct value_extent *out)
{
    if (type->has_length) {
        const uint64_t whole = (uint64_t)type->length * unit;
        if (whole > size)
            return too_few((size_t)whole, size);
        *out = (struct value_extent){(size_t)whole, 0, value_text_end(bytes, (size_t)whole, unit)};
        return S_OK;
    }
    const size_t end = value_text_end(bytes, size, unit);
    *out = (struct value_extent){end + unit <= size ? end + unit : size, 0, end};
    return S_OK;
}

static HRESULT binary(const struct value_type *type, size_t size, struct value_extent *out)
{
    if (type->has_length)
        return extent_after(0, type->length, size, out);
    return extent_after(0, type->out == OUT_TYPE_IPV6 ? 16 : size, size, out);
}

static HRESULT extent_of_sid(size_t before, const uint8_t *bytes, size_t size, struct value_extent *out)
{
    if (before > size || size - before < 8)
        return too_few(before + 8, size);
    if (bytes[before + 1] > SID_AUTHORITIES)
        return error_set(EVENT_DATA_INVALID, "invalid SID: %u subauthorities, at most %d are allowed",
                         bytes[before + 1], SID_AUTHORITIES);
    return extent_after(before, 8 + 4 * (size_t)bytes[before + 1], size, out);
}

/* Returns the extent of a WBEM SID: a TOKEN_USER followed by the SID, or four zero bytes if there is no SID. */
static HRESULT wbem_sid(const struct value_type *type, const uint8_t *bytes, size_t size, struct value_extent *out)
{
    if (size < 4)
        return too_few(4, size);
    if (get_u32(bytes) == 0)
        return extent_after(4, 0, size, out);
    return extent_of_sid(2 * (size_t)type->pointer_size, bytes, size, out);
}

static HRESULT counted(const uint8_t *bytes, size_t size, bool reversed, struct value_extent *out)
{
    if (size < 2)
        return too_few(2, size);
    return extent_after(2, reversed ? (size_t)(bytes[0] << 8 | bytes[1]) : get_u16(bytes), size, out);
}

HRESULT value_extent(const struct value_type *type, const uint8_t *bytes, size_t size, struct value_extent *out)
{
    uint8_t fixed = fixed_size(type->in);
    if (fixed == BY_POINTER_SIZE)
        fixed = (uint8_t)type->pointer_size;
    if (fixed != ANY_SIZE)
        return extent_after(0, fixed, size, out);
    switch (type->in) {
    case IN_TYPE_UNICODESTRING:
        return extent_terminated(type, 2, bytes, size, out);
    case IN_TYPE_ANSISTRING:
        return extent_terminated(type, 1, bytes, size, out);
    case IN_TYPE_BINARY:
        return binary(type, size, out);
    case IN_TYPE_SID:
        return extent_of_sid(0, bytes, size, out);
    case IN_TYPE_WBEMSID:
        return wbem_sid(type, bytes, size, out);
    case IN_TYPE_MANIFEST_COUNTEDSTRING:
    case IN_TYPE_MANIFEST_COUNTEDANSISTRING:
    case IN_TYPE_MANIFEST_COUNTEDBINARY:
    case IN_TYPE_COUNTEDSTRING:
    case IN_TYPE_COUNTEDANSISTRING:
        return counted(bytes, size, false, out);
    case IN_TYPE_REVERSEDCOUNTEDSTRING:
    case IN_TYPE_REVERSEDCOUNTEDANSISTRING:
        return counted(bytes, size, true, out);
    case IN_TYPE_NONNULLTERMINATEDSTRING:
    case IN_TYPE_NONNULLTERMINATEDANSISTRING:
        return extent_after(0, size, size, out);
    case IN_TYPE_HEXDUMP:
        return size < 4 ? too_few(4, size) : extent_after(4, get_u32(bytes), size, out);
    default:
        return error_set(EVENT_DATA_INVALID, "unknown input type %u", type->in);
    }
}

bool value_number(uint16_t in_type, const uint8_t *bytes, size_t size, uint64_t *out)
{
    switch (in_type) {
    case IN_TYPE_INT8:
        *out = size < 1 ? 0 : (uint64_t)(int8_t)bytes[0];
        return size >= 1;
    case IN_TYPE_UINT8:
        *out = size < 1 ? 0 : bytes[0];
        return size >= 1;
    case IN_TYPE_INT16:
        *out = size < 2 ? 0 : (uint64_t)(int16_t)get_u16(bytes);
        return size >= 2;
    case IN_TYPE_UINT16:
        *out = size < 2 ? 0 : get_u16(bytes);
        return size >= 2;
    case IN_TYPE_INT32:
        *out = size < 4 ? 0 : (uint64_t)(int32_t)get_u32(bytes);
        return size >= 4;
    case IN_TYPE_UINT32:
    case IN_TYPE_HEXINT32:
        *out = size < 4 ? 0 : get_u32(bytes);
        return size >= 4;
    case IN_TYPE_INT64:
    case IN_TYPE_UINT64:
    case IN_TYPE_HEXINT64:
        *out = size < 8 ? 0 : get_u64(bytes);
        return size >= 8;
    default:
        return false;
    }
}

/* Limits for the number of values that a walk visits. The limits are needed because empty values take no bytes, so the
   size of an event does not limit the number of its values. */
enum { FEW_PROPERTIES = 64, STEPS_OF_A_BYTE = 4, STEPS_OF_NONE = 4096, MAXIMUM_DEPTH = 32 };

struct walk {
    const struct event_schema *schema;
    const struct event_data *data;
    event_value_taker *take;
    void *context;
    size_t at;
    uint32_t left;     /* number of further values that are allowed */
    uint64_t *numbers; /* values of the properties read so far; lengths and counts of later properties refer to them */
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
    return error_set(EVENT_DATA_INVALID, "'%s': the event declares more values than fit into its size", p->name);
}

static HRESULT walk_emit_step(struct walk *w, enum event_step step, struct event_value *v, size_t from)
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
    return walk_emit_step(w, STEP_VALUE, v, from);
}

static HRESULT walk_property(struct walk *w, uint16_t index, uint16_t depth);

static HRESULT walk_struct(struct walk *w, struct event_value *v)
{
    const size_t from = w->at;
    HRESULT hr = v->depth < MAXIMUM_DEPTH
                     ? walk_emit_step(w, STEP_STRUCT, v, from)
                     : error_set(EVENT_DATA_INVALID, "'%s': structures are nested more than %d deep", v->property->name,
                                 MAXIMUM_DEPTH);
    for (uint16_t i = 0; hr == S_OK && i < v->property->members; i++)
        hr = walk_property(w, (uint16_t)(v->property->first_member + i), (uint16_t)(v->depth + 1));
    return hr == S_OK ? walk_emit_step(w, STEP_STRUCT_END, v, from) : hr;
}

/* Determines the length and the count of a property, and then reads its elements. */
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
        return error_set(EVENT_DATA_INVALID, "'%s': the %s is %llu, but the event has only %zu bytes", p->name,
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
    HRESULT hr = v.array ? walk_emit_step(w, STEP_ARRAY, &v, from) : S_OK;
    for (uint32_t i = 0; hr == S_OK && i < v.elements; i++) {
        v.element = i;
        hr = (p->flags & PROPERTY_STRUCT) != 0 ? walk_struct(w, &v) : walk_value(w, &v);
    }
    v.element = 0;
    return hr == S_OK && v.array ? walk_emit_step(w, STEP_ARRAY_END, &v, from) : hr;
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
    /* A classic event can have fewer properties than its class. For example, a StackWalk event has one property per
       stack frame, and events of older versions lack newer properties. */
    for (uint16_t i = 0; hr == S_OK && i < schema->top_level && !(schema->source == SCHEMA_MOF && w.at == whole.size);
         i++)
        hr = walk_property(&w, i, 0);
    if (w.numbers != few)
        memory_free(w.numbers);
    if (used)
        *used = w.at;
    return hr;
}

struct search {
    const struct property_step *path;
    size_t steps, inside; /* number of steps in `path`; number of structs of the path that contain the current
                             position */
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

static HRESULT search_take_step(void *context, enum event_step step, const struct event_value *v)
{
    struct search *s = context;
    if (step == STEP_STRUCT_END && s->inside != 0 && v->depth == s->inside - 1) {
        s->inside--; /* the walk left a struct of the path without finding the member */
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
    const HRESULT hr = event_values_walk(schema, data, search_take_step, &s, NULL);
    return s.found ? S_OK : FAILED(hr) ? hr : S_FALSE;
}

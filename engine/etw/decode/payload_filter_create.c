/* SPDX-License-Identifier: MIT */
/* Payload filters made from conditions, by a schema. */
#include "engine/base/memory.h"
#include "engine/etw/decode/payload_filter.h"
#include "engine/etw/decode/payload_layout.h"

#include <string.h>

static bool is_text(uint16_t in)
{
    return in == IN_TYPE_UNICODESTRING || in == IN_TYPE_ANSISTRING || in == IN_TYPE_MANIFEST_COUNTEDSTRING ||
           in == IN_TYPE_MANIFEST_COUNTEDANSISTRING || (in >= IN_TYPE_COUNTEDSTRING && in <= IN_TYPE_ANSICHAR);
}

/* Bits of an integer; 0: the type is none. */
static unsigned integer_bits(uint16_t in)
{
    static const uint8_t zero[8];
    uint64_t number;
    for (unsigned bytes = 1; bytes <= 8; bytes *= 2)
        if (payload_number(in, zero, bytes, &number))
            return 8 * bytes;
    return 0;
}

static HRESULT refused(const struct payload_condition *c, const char *why)
{
    return error_set(E_INVALIDARG, "payload filter, field \"%s\", value \"%s\": %s", c->field, c->value, why);
}

/* As the field's type: what does not fit into it is no value of it. */
static bool to_number(const char *text, uint16_t in, uint64_t *out)
{
    const unsigned bits = integer_bits(in);
    int64_t number;
    if (!payload_type_is_signed(in))
        return text_to_u64(text, out) && (bits == 64 || *out >> bits == 0);
    if (!text_to_i64(text, &number))
        return false;
    *out = (uint64_t)number;
    return bits == 64 || (number >= -(INT64_C(1) << (bits - 1)) && number < INT64_C(1) << (bits - 1));
}

struct made {
    uint16_t property;
    uint64_t first, second;
    char *text; /* NULL: of numbers */
};

static HRESULT make_number(const struct payload_condition *c, uint16_t in, struct made *out)
{
    const bool two = c->operation == PAYLOAD_BETWEEN || c->operation == PAYLOAD_NOT_BETWEEN;
    const char *comma = two ? strchr(c->value, ',') : NULL;
    char *low = comma ? text_copy_n(c->value, (size_t)(comma - c->value)) : text_copy(c->value);
    if (!low)
        return E_OUTOFMEMORY;
    bool good = (!two || comma) && to_number(low, in, &out->first);
    memory_free(low);
    good = good && (!comma || to_number(comma + 1, in, &out->second));
    if (!good)
        return refused(c, two ? "is not two numbers of the field's type, with a comma" : "is no number of its type");
    if (c->operation == PAYLOAD_MULTIPLE && payload_type_is_signed(in) && (int64_t)out->first < 0)
        out->first = 0 - out->first;
    if (c->operation == PAYLOAD_MULTIPLE && out->first == 0)
        return refused(c, "there are no multiples of 0");
    return S_OK;
}

static HRESULT make_text(const struct payload_condition *c, uint16_t in, struct made *out)
{
    GUID guid;
    char braced[39];
    if (in == IN_TYPE_GUID) {
        if (c->operation < PAYLOAD_IS || c->value[0] != '{' || !text_to_guid(c->value, &guid))
            return refused(c, "a GUID in braces can be compared by IS and ISNOT");
        text_from_guid(&guid, braced);
    }
    out->text = text_fold(in == IN_TYPE_GUID ? braced : c->value);
    return out->text ? S_OK : E_OUTOFMEMORY;
}

static HRESULT make(const struct event_schema *schema, const struct payload_condition *c, struct made *out)
{
    uint16_t i = 0;
    *out = (struct made){0};
    while (i < schema->top_level && strcmp(schema->properties[i].name, c->field) != 0)
        i++;
    if (i == schema->top_level)
        return refused(c, "the event has no such field");
    const struct event_property *p = &schema->properties[i];
    out->property = i;
    if ((p->flags & (PROPERTY_STRUCT | PROPERTY_PARAM_COUNT | PROPERTY_FIXED_COUNT)) != 0 || p->count > 1)
        return refused(c, "structs and arrays cannot be compared");
    if (c->operation <= PAYLOAD_MULTIPLE && integer_bits(p->in_type) != 0)
        return make_number(c, p->in_type, out);
    const bool of_texts = c->operation == PAYLOAD_CONTAINS || c->operation == PAYLOAD_LACKS ||
                          c->operation == PAYLOAD_IS || c->operation == PAYLOAD_IS_NOT;
    if (of_texts && (is_text(p->in_type) || p->in_type == IN_TYPE_GUID))
        return make_text(c, p->in_type, out);
    return refused(c, "the field's type cannot be compared so");
}

static void add(struct text_buffer *b, const void *bytes, size_t size)
{
    char *to = text_buffer_reserve(b, size);
    if (!to)
        return;
    memcpy(to, bytes, size);
    to[size] = 0;
    b->length += size;
}

static void add_u16(struct text_buffer *b, uint16_t number)
{
    uint8_t bytes[2];
    put_u16(bytes, number);
    add(b, bytes, sizeof bytes);
}

static void add_head(struct text_buffer *b, size_t events)
{
    uint8_t head[PAYLOAD_HEAD] = {0};
    put_u32(head, PAYLOAD_MARK);
    put_u16(head + 4, PAYLOAD_VERSION);
    put_u16(head + 6, (uint16_t)events);
    add(b, head, sizeof head);
}

/* Takes the buffer. */
static HRESULT finish(struct text_buffer *b, HRESULT hr, uint8_t **bytes, size_t *size)
{
    if (SUCCEEDED(hr) && b->failed)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && b->length > PAYLOAD_MOST_BYTES)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER),
                       "a payload filter of %zu bytes, of which it can have %d", b->length, PAYLOAD_MOST_BYTES);
    if (FAILED(hr)) {
        text_buffer_free(b);
        return hr;
    }
    *size = b->length;
    put_u32((uint8_t *)b->text + 8, (uint32_t)b->length);
    *bytes = (uint8_t *)text_buffer_take(b);
    return S_OK;
}

/* Structs before a field are walked over, so all properties are needed if one is; else those up to the last field. */
static size_t needed_properties(const struct event_schema *s, const struct made *made, size_t count, uint16_t *top)
{
    *top = 0;
    for (size_t i = 0; i < count; i++)
        if (made[i].property >= *top)
            *top = (uint16_t)(made[i].property + 1);
    for (size_t i = 0; i < *top; i++)
        if ((s->properties[i].flags & PROPERTY_STRUCT) != 0) {
            *top = s->top_level;
            return s->property_count;
        }
    return *top;
}

HRESULT payload_filter_create(const struct event_schema *schema, uint16_t id, uint8_t version, bool any,
                              const struct payload_condition *conditions, size_t count, uint8_t **bytes, size_t *size)
{
    struct made made[PAYLOAD_MOST_CONDITIONS];
    struct text_buffer b = {0};
    HRESULT hr =
        count != 0 && count <= PAYLOAD_MOST_CONDITIONS
            ? S_OK
            : error_set(E_INVALIDARG, "a payload filter of %zu conditions: 1 to %d", count, PAYLOAD_MOST_CONDITIONS);
    size_t ready = 0;
    uint16_t top;
    *bytes = NULL;
    for (; SUCCEEDED(hr) && ready < count; ready++)
        hr = make(schema, &conditions[ready], &made[ready]);
    if (SUCCEEDED(hr)) {
        const size_t properties = needed_properties(schema, made, count, &top);
        const uint8_t versions[] = {version, any ? PAYLOAD_ANY : 0};
        add_head(&b, 1);
        add_u16(&b, id);
        add(&b, versions, sizeof versions);
        add_u16(&b, (uint16_t)properties);
        add_u16(&b, top);
        add_u16(&b, (uint16_t)count);
        add_u16(&b, 0);
        for (size_t i = 0; i < properties && b.length <= PAYLOAD_MOST_BYTES; i++) {
            const struct event_property *p = &schema->properties[i];
            const uint16_t row[] = {(uint16_t)(p->flags & PAYLOAD_PROPERTY_FLAGS),
                                    p->in_type,
                                    p->out_type,
                                    p->count,
                                    p->length,
                                    p->first_member,
                                    p->members};
            for (size_t k = 0; k < sizeof row / sizeof row[0]; k++)
                add_u16(&b, row[k]);
        }
        for (size_t i = 0; i < count; i++) {
            const size_t text = made[i].text ? strlen(made[i].text) : 0;
            uint8_t numbers[16];
            if (text > PAYLOAD_MOST_BYTES)
                hr = HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER);
            add_u16(&b, made[i].property);
            add_u16(&b, conditions[i].operation);
            add_u16(&b, (uint16_t)text);
            put_u64(numbers, made[i].first);
            put_u64(numbers + 8, made[i].second);
            add(&b, numbers, sizeof numbers);
            add(&b, made[i].text ? made[i].text : "", text);
        }
    }
    for (size_t i = 0; i < ready; i++)
        memory_free(made[i].text);
    return finish(&b, hr, bytes, size);
}

HRESULT payload_filter_join(const uint8_t *const *filters, const size_t *sizes, const bool *all, size_t count,
                            uint8_t **bytes, size_t *size)
{
    struct text_buffer b = {0};
    HRESULT hr = count != 0 && count <= PAYLOAD_MOST_EVENTS
                     ? S_OK
                     : error_set(E_INVALIDARG, "%zu payload filters: 1 to %d", count, PAYLOAD_MOST_EVENTS);
    *bytes = NULL;
    if (SUCCEEDED(hr))
        add_head(&b, count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const size_t at = b.length;
        if (sizes[i] < PAYLOAD_HEAD + PAYLOAD_EVENT_HEAD || get_u16(filters[i] + 6) != 1)
            hr = error_set(E_INVALIDARG, "payload filter %zu is not one of one event", i);
        else
            add(&b, filters[i] + PAYLOAD_HEAD, sizes[i] - PAYLOAD_HEAD);
        if (SUCCEEDED(hr) && !b.failed && all && all[i])
            b.text[at + 3] |= PAYLOAD_ALL;
    }
    return finish(&b, hr, bytes, size);
}

/* SPDX-License-Identifier: MIT */
/* Creates payload filters from a schema, and evaluates them in the process that writes the event. */
#include "engine/etw/decode/payload_filter.h"

#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define PAYLOAD_MARK 0x46504C4Fu /* "OLPF" */
enum {
    PAYLOAD_VERSION = 1,
    PAYLOAD_HEAD = 12,
    PAYLOAD_EVENT_HEAD = 12,
    PAYLOAD_PROPERTY = 14,
    PAYLOAD_CONDITION_HEAD = 22,
    PAYLOAD_ANY = 1, /* the event passes if one of the conditions is true */
    PAYLOAD_ALL = 2, /* the filter was marked in `all` (payload_filter_join) */
    PAYLOAD_PROPERTY_FLAGS =
        PROPERTY_STRUCT | PROPERTY_PARAM_LENGTH | PROPERTY_PARAM_COUNT | PROPERTY_FIXED_LENGTH | PROPERTY_FIXED_COUNT,
};

static bool payload_type_is_signed(uint16_t in_type)
{
    return in_type == IN_TYPE_INT8 || in_type == IN_TYPE_INT16 || in_type == IN_TYPE_INT32 || in_type == IN_TYPE_INT64;
}

/* Reads a number; a FILETIME is treated as a number. */
static bool payload_number(uint16_t in_type, const uint8_t *bytes, size_t size, uint64_t *out)
{
    if (in_type != IN_TYPE_FILETIME)
        return value_number(in_type, bytes, size, out);
    *out = size >= 8 ? get_u64(bytes) : 0;
    return size >= 8;
}

struct condition {
    uint16_t property;
    uint8_t operation;
    uint64_t first, second;
    char *text;
};
struct event_filter {
    uint16_t id;
    uint8_t version, flags;
    struct event_schema layout;
    struct condition *conditions;
    size_t count;
};
struct payload_filter {
    struct event_filter *events;
    size_t count;
};

static char nameless[] = "";

static HRESULT malformed(size_t at)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "invalid payload filter: malformed at byte %zu", at);
}

void payload_filter_free(struct payload_filter *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++) {
        for (size_t k = 0; k < f->events[i].count; k++)
            memory_free(f->events[i].conditions[k].text);
        memory_free(f->events[i].conditions);
        memory_free(f->events[i].layout.properties);
    }
    memory_free(f->events);
    memory_free(f);
}

static bool is_operation(uint8_t operation)
{
    return operation <= PAYLOAD_MULTIPLE || operation == PAYLOAD_CONTAINS || operation == PAYLOAD_LACKS ||
           operation == PAYLOAD_IS || operation == PAYLOAD_IS_NOT;
}

static HRESULT read_conditions(const uint8_t *bytes, size_t size, size_t *at, size_t count, struct event_filter *e)
{
    e->conditions = memory_zero(count, sizeof *e->conditions);
    if (!e->conditions)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < count; i++) {
        if (size - *at < PAYLOAD_CONDITION_HEAD)
            return malformed(*at);
        const uint8_t *p = bytes + *at;
        const size_t text = get_u16(p + 4);
        struct condition *c = &e->conditions[i];
        *c = (struct condition){get_u16(p), p[2], get_u64(p + 6), get_u64(p + 14), NULL};
        *at += PAYLOAD_CONDITION_HEAD;
        if (text > size - *at || c->property >= e->layout.top_level || !is_operation(c->operation) ||
            !text_is_utf8((const char *)bytes + *at, text) ||
            (e->layout.properties[c->property].flags & PROPERTY_STRUCT) != 0 ||
            (c->operation == PAYLOAD_MULTIPLE && c->first == 0))
            return malformed(*at);
        c->text = text_copy_n((const char *)bytes + *at, text);
        if (!c->text)
            return E_OUTOFMEMORY;
        e->count = i + 1;
        *at += text;
    }
    return S_OK;
}

static HRESULT read_event(const uint8_t *bytes, size_t size, size_t *at, struct event_filter *e)
{
    if (size - *at < PAYLOAD_EVENT_HEAD)
        return malformed(*at);
    const uint8_t *p = bytes + *at;
    const size_t properties = get_u16(p + 4), conditions = get_u16(p + 8);
    e->id = get_u16(p);
    e->version = p[2];
    e->flags = p[3];
    *at += PAYLOAD_EVENT_HEAD;
    if ((size - *at) / PAYLOAD_PROPERTY < properties || conditions > PAYLOAD_MOST_CONDITIONS)
        return malformed(*at);
    e->layout.properties = memory_zero(properties, sizeof *e->layout.properties);
    if (!e->layout.properties)
        return E_OUTOFMEMORY;
    e->layout.property_count = (uint16_t)properties;
    e->layout.top_level = get_u16(p + 6);
    for (size_t i = 0; i < properties; i++, *at += PAYLOAD_PROPERTY) {
        const uint8_t *from = bytes + *at;
        e->layout.properties[i] = (struct event_property){.name = nameless,
                                                          .flags = get_u16(from) & PAYLOAD_PROPERTY_FLAGS,
                                                          .in_type = get_u16(from + 2),
                                                          .out_type = get_u16(from + 4),
                                                          .count = get_u16(from + 6),
                                                          .length = get_u16(from + 8),
                                                          .first_member = get_u16(from + 10),
                                                          .members = get_u16(from + 12)};
    }
    const HRESULT hr = event_schema_check(&e->layout);
    return FAILED(hr) ? malformed(*at) : read_conditions(bytes, size, at, conditions, e);
}

HRESULT payload_filter_read(const uint8_t *bytes, size_t size, struct payload_filter **out)
{
    *out = NULL;
    if (size < PAYLOAD_HEAD || size > PAYLOAD_MOST_BYTES || get_u32(bytes) != PAYLOAD_MARK ||
        get_u16(bytes + 4) != PAYLOAD_VERSION || get_u16(bytes + 6) > PAYLOAD_MOST_EVENTS || get_u32(bytes + 8) != size)
        return malformed(0);
    struct payload_filter *f = memory_zero(1, sizeof *f);
    if (!f)
        return E_OUTOFMEMORY;
    const size_t count = get_u16(bytes + 6);
    size_t at = PAYLOAD_HEAD;
    HRESULT hr = S_OK;
    *f = (struct payload_filter){.events = memory_zero(count, sizeof *f->events)};
    if (!f->events)
        hr = E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        f->count = i + 1;
        hr = read_event(bytes, size, &at, &f->events[i]);
    }
    if (SUCCEEDED(hr) && at != size)
        hr = malformed(at);
    if (FAILED(hr))
        payload_filter_free(f);
    else
        *out = f;
    return hr;
}

/* ---- conditions ---- */

static bool is_between(bool with_sign, uint64_t value, uint64_t low, uint64_t high)
{
    return with_sign ? (int64_t)value >= (int64_t)low && (int64_t)value <= (int64_t)high
                     : value >= low && value <= high;
}

static bool number_passes(const struct condition *c, uint16_t in_type, uint64_t value)
{
    const bool with_sign = payload_type_is_signed(in_type);
    const bool less = with_sign ? (int64_t)value < (int64_t)c->first : value < c->first;
    switch (c->operation) {
    case PAYLOAD_EQUAL:
        return value == c->first;
    case PAYLOAD_NOT_EQUAL:
        return value != c->first;
    case PAYLOAD_AT_MOST:
        return less || value == c->first;
    case PAYLOAD_GREATER:
        return !less && value != c->first;
    case PAYLOAD_LESS:
        return less;
    case PAYLOAD_AT_LEAST:
        return !less;
    case PAYLOAD_BETWEEN:
        return is_between(with_sign, value, c->first, c->second);
    case PAYLOAD_NOT_BETWEEN:
        return !is_between(with_sign, value, c->first, c->second);
    case PAYLOAD_MULTIPLE:
        return value % c->first == 0; /* for negative values the caller passes the magnitude */
    default:
        return true;
    }
}

/* Evaluates a condition on a string. Both strings are converted to the same case, so that a plain search ignores
   case. */
static bool text_passes(const struct condition *c, const char *text)
{
    char *folded = text_fold(text);
    bool passes = true; /* if there is no memory for the conversion, the condition is true */
    if (folded) {
        const bool is = strcmp(folded, c->text) == 0, has = strstr(folded, c->text) != NULL;
        passes = c->operation == PAYLOAD_IS         ? is
                 : c->operation == PAYLOAD_IS_NOT   ? !is
                 : c->operation == PAYLOAD_CONTAINS ? has
                                                    : !has;
    }
    memory_free(folded);
    return passes;
}

static bool value_passes(const struct condition *c, const struct event_value *v)
{
    uint64_t number;
    struct text_buffer text = {0};
    if (c->operation <= PAYLOAD_MULTIPLE) {
        if (!payload_number(v->type.in, v->bytes, v->size, &number))
            return true;
        if (c->operation == PAYLOAD_MULTIPLE && payload_type_is_signed(v->type.in) && (int64_t)number < 0)
            number = 0 - number;
        return number_passes(c, v->type.in, number);
    }
    const HRESULT hr = value_text(&v->type, NULL, v->bytes, v->size, &text, NULL);
    const bool passes = FAILED(hr) || text_passes(c, text.text ? text.text : "");
    text_buffer_free(&text);
    return passes;
}

struct evaluation {
    const struct event_filter *event;
    bool known[PAYLOAD_MOST_CONDITIONS], passes[PAYLOAD_MOST_CONDITIONS];
    size_t left;
};

static HRESULT evaluation_take_value(void *context, enum event_step step, const struct event_value *v)
{
    struct evaluation *j = context;
    if (step != STEP_VALUE || v->depth != 0 || v->array)
        return S_OK;
    for (size_t i = 0; i < j->event->count; i++)
        if (j->event->conditions[i].property == v->index) {
            j->known[i] = true;
            j->passes[i] = value_passes(&j->event->conditions[i], v);
            j->left--;
        }
    return j->left == 0 ? S_FALSE : S_OK;
}

static bool event_passes(const struct event_filter *e, const struct event_data *data)
{
    struct evaluation j = {.event = e, .left = e->count};
    bool any = false, all = true;
    (void)event_values_walk(&e->layout, data, evaluation_take_value, &j, NULL);
    for (size_t i = 0; i < e->count; i++) {
        any = any || !j.known[i] || j.passes[i];
        all = all && (!j.known[i] || j.passes[i]);
    }
    return (e->flags & PAYLOAD_ANY) != 0 ? any || e->count == 0 : all;
}

static bool concerns(const struct event_filter *e, const EVENT_DESCRIPTOR *event)
{
    return e->id == event->Id && e->version == event->Version;
}

bool payload_filter_concerns(const struct payload_filter *f, const EVENT_DESCRIPTOR *event)
{
    bool found = false;
    for (size_t i = 0; i < f->count; i++)
        found = found || concerns(&f->events[i], event);
    return found;
}

bool payload_filter_passes(const struct payload_filter *f, const EVENT_DESCRIPTOR *event, const uint8_t *data,
                           size_t size, uint32_t pointer_size)
{
    const struct event_data whole = {data, size, pointer_size};
    bool found = false, one = false, marked = false, all = true;
    for (size_t i = 0; i < f->count; i++) {
        if (!concerns(&f->events[i], event))
            continue;
        const bool passes = event_passes(&f->events[i], &whole);
        found = true;
        if ((f->events[i].flags & PAYLOAD_ALL) != 0) {
            marked = true;
            all = all && passes;
        } else
            one = one || passes;
    }
    return !found || one || (marked && all);
}

/* ---- creating payload filters from conditions and a schema ---- */

static bool is_text(uint16_t in)
{
    return in == IN_TYPE_UNICODESTRING || in == IN_TYPE_ANSISTRING || in == IN_TYPE_MANIFEST_COUNTEDSTRING ||
           in == IN_TYPE_MANIFEST_COUNTEDANSISTRING || (in >= IN_TYPE_COUNTEDSTRING && in <= IN_TYPE_ANSICHAR);
}

/* Returns the bits of an integer type; 0: not an integer. */
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
    return error_set(E_INVALIDARG, "invalid payload filter: field '%s', value '%s': %s", c->field, c->value, why);
}

/* Parses a number of the field's type; false: the number does not fit. */
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

struct created_condition {
    uint16_t property;
    uint64_t first, second;
    char *text; /* NULL: a condition on numbers */
};

static HRESULT make_number(const struct payload_condition *c, uint16_t in, struct created_condition *out)
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
        return refused(c, two ? "expected two numbers of the field's type, separated by a comma"
                              : "expected a number of the field's type");
    if (c->operation == PAYLOAD_MULTIPLE && payload_type_is_signed(in) && (int64_t)out->first < 0)
        out->first = 0 - out->first;
    if (c->operation == PAYLOAD_MULTIPLE && out->first == 0)
        return refused(c, "the value of this operator must not be 0");
    return S_OK;
}

static HRESULT make_text(const struct payload_condition *c, uint16_t in, struct created_condition *out)
{
    GUID guid;
    char braced[39];
    if (in == IN_TYPE_GUID) {
        if (c->operation < PAYLOAD_IS || c->value[0] != '{' || !text_to_guid(c->value, &guid))
            return refused(c, "expected a GUID in braces and the operator IS or ISNOT");
        text_from_guid(&guid, braced);
    }
    out->text = text_fold(in == IN_TYPE_GUID ? braced : c->value);
    return out->text ? S_OK : E_OUTOFMEMORY;
}

static HRESULT condition_create(const struct event_schema *schema, const struct payload_condition *c,
                                struct created_condition *out)
{
    uint16_t i = 0;
    *out = (struct created_condition){0};
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
    return refused(c, "the operator does not apply to the field's type");
}

static void buffer_add_bytes(struct text_buffer *b, const void *bytes, size_t size)
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
    buffer_add_bytes(b, bytes, sizeof bytes);
}

static void add_head(struct text_buffer *b, size_t events)
{
    uint8_t head[PAYLOAD_HEAD] = {0};
    put_u32(head, PAYLOAD_MARK);
    put_u16(head + 4, PAYLOAD_VERSION);
    put_u16(head + 6, (uint16_t)events);
    buffer_add_bytes(b, head, sizeof head);
}

/* Completes a filter. Takes ownership of the buffer. */
static HRESULT filter_finish(struct text_buffer *b, HRESULT hr, uint8_t **bytes, size_t *size)
{
    if (SUCCEEDED(hr) && b->failed)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && b->length > PAYLOAD_MOST_BYTES)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER),
                       "payload filter too large: %zu bytes, at most %d are allowed", b->length, PAYLOAD_MOST_BYTES);
    if (FAILED(hr)) {
        text_buffer_free(b);
        return hr;
    }
    *size = b->length;
    put_u32((uint8_t *)b->text + 8, (uint32_t)b->length);
    *bytes = (uint8_t *)text_buffer_take(b);
    return S_OK;
}

/* Returns the number of properties that the filter must contain. If there is a struct, all properties are needed,
   because structs before a field must be walked. Otherwise only the properties up to the last field are needed. */
static size_t needed_properties(const struct event_schema *s, const struct created_condition *created, size_t count,
                                uint16_t *top)
{
    *top = 0;
    for (size_t i = 0; i < count; i++)
        if (created[i].property >= *top)
            *top = (uint16_t)(created[i].property + 1);
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
    struct created_condition created[PAYLOAD_MOST_CONDITIONS];
    struct text_buffer b = {0};
    HRESULT hr = count != 0 && count <= PAYLOAD_MOST_CONDITIONS
                     ? S_OK
                     : error_set(E_INVALIDARG, "invalid payload filter: %zu conditions, expected 1 to %d", count,
                                 PAYLOAD_MOST_CONDITIONS);
    size_t ready = 0;
    uint16_t top;
    *bytes = NULL;
    for (; SUCCEEDED(hr) && ready < count; ready++)
        hr = condition_create(schema, &conditions[ready], &created[ready]);
    if (SUCCEEDED(hr)) {
        const size_t properties = needed_properties(schema, created, count, &top);
        const uint8_t versions[] = {version, any ? PAYLOAD_ANY : 0};
        add_head(&b, 1);
        add_u16(&b, id);
        buffer_add_bytes(&b, versions, sizeof versions);
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
            const size_t text = created[i].text ? strlen(created[i].text) : 0;
            uint8_t numbers[16];
            if (text > PAYLOAD_MOST_BYTES)
                hr = HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER);
            add_u16(&b, created[i].property);
            add_u16(&b, conditions[i].operation);
            add_u16(&b, (uint16_t)text);
            put_u64(numbers, created[i].first);
            put_u64(numbers + 8, created[i].second);
            buffer_add_bytes(&b, numbers, sizeof numbers);
            buffer_add_bytes(&b, created[i].text ? created[i].text : "", text);
        }
    }
    for (size_t i = 0; i < ready; i++)
        memory_free(created[i].text);
    return filter_finish(&b, hr, bytes, size);
}

HRESULT payload_filter_join(const uint8_t *const *filters, const size_t *sizes, const bool *all, size_t count,
                            uint8_t **bytes, size_t *size)
{
    struct text_buffer b = {0};
    HRESULT hr = count != 0 && count <= PAYLOAD_MOST_EVENTS
                     ? S_OK
                     : error_set(E_INVALIDARG, "invalid number of payload filters: %zu, expected 1 to %d", count,
                                 PAYLOAD_MOST_EVENTS);
    *bytes = NULL;
    if (SUCCEEDED(hr))
        add_head(&b, count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const size_t at = b.length;
        if (sizes[i] < PAYLOAD_HEAD + PAYLOAD_EVENT_HEAD || get_u16(filters[i] + 6) != 1)
            hr = error_set(E_INVALIDARG,
                           "invalid payload filter: item %zu of the list is not a filter for exactly one event", i);
        else
            buffer_add_bytes(&b, filters[i] + PAYLOAD_HEAD, sizes[i] - PAYLOAD_HEAD);
        if (SUCCEEDED(hr) && !b.failed && all && all[i])
            b.text[at + 3] |= PAYLOAD_ALL;
    }
    return filter_finish(&b, hr, bytes, size);
}

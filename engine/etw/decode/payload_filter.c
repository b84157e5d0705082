/* SPDX-License-Identifier: MIT */
/* Evaluated in the writer's process. */
#include "engine/etw/decode/payload_filter.h"

#include "engine/base/memory.h"
#include "engine/etw/decode/payload_layout.h"
#include "engine/etw/value_text.h"
#include "engine/logs/little_endian.h"

#include <string.h>

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
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "a payload filter is malformed at byte %zu", at);
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
    f->events = memory_zero(count, sizeof *f->events);
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
        return value % c->first == 0; /* of a negative one the caller gives what it is without its sign */
    default:
        return true;
    }
}

/* Both are folded, so the search is plain. */
static bool text_passes(const struct condition *c, const char *text)
{
    char *folded = text_fold(text);
    bool passes = true; /* also when memory is out */
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

struct judging {
    const struct event_filter *event;
    bool known[PAYLOAD_MOST_CONDITIONS], passes[PAYLOAD_MOST_CONDITIONS];
    size_t left;
};

static HRESULT judge(void *context, enum event_step step, const struct event_value *v)
{
    struct judging *j = context;
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
    struct judging j = {.event = e, .left = e->count};
    bool any = false, all = true;
    (void)event_values_walk(&e->layout, data, judge, &j, NULL);
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

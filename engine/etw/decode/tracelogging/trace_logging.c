/* SPDX-License-Identifier: MIT */
/* Reads the metadata of TraceLogging events and the traits of their event providers. The metadata are a stream of
   fields (name, NUL, input type, output type, tags, count). The field of a struct contains the number of its members,
   which are the next fields in the stream. Both metadata and traits are untrusted. */
#include "engine/base/memory.h"
#include "engine/etw/decode/event_schema.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_manifest.h"
#include "engine/logs/little_endian.h"

#include <string.h>

enum {
    IN_MASK = 0x1F,
    COUNT_MASK = 0x60,
    COUNT_FIXED = 0x20,
    COUNT_VARIABLE = 0x40,
    COUNT_CUSTOM = 0x60,
    CHAIN = 0x80,
    TAG_BITS = 28,
    TRAIT_GROUP = 1,
    TRAIT_DECODE = 2,
};

/* A field of the metadata. The array of fields has the order of the metadata. */
struct field {
    const char *name;
    uint8_t in, out, count_kind;
    uint16_t members; /* number of members of a struct */
    uint16_t count;
    uint32_t tags;
    bool has_tags;
    const uint8_t *custom;
    uint16_t custom_size;
    size_t end; /* index after its last member, including the members of nested structs */
};

struct reader {
    const uint8_t *bytes;
    size_t size, at;
    struct field *fields;
    size_t count, capacity;
};

static HRESULT malformed(const struct reader *r, const char *what)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "invalid TraceLogging metadata: %s at byte %zu of %zu",
                     what, r->at, r->size);
}

static bool take_u8(struct reader *r, uint8_t *out)
{
    if (r->at >= r->size)
        return false;
    *out = r->bytes[r->at++];
    return true;
}

static bool take_u16(struct reader *r, uint16_t *out)
{
    if (r->size - r->at < 2)
        return false;
    *out = get_u16(r->bytes + r->at);
    r->at += 2;
    return true;
}

static bool take_name(struct reader *r, const char **out)
{
    const uint8_t *nul = memchr(r->bytes + r->at, 0, r->size - r->at);
    if (!nul)
        return false;
    *out = (const char *)r->bytes + r->at;
    r->at = (size_t)(nul - r->bytes) + 1;
    return true;
}

/* Reads tags: seven bits per byte, beginning with the highest bits. The high bit of a byte means that another byte
   follows. Bits beyond 28 are ignored. */
static bool take_tags(struct reader *r, uint32_t *out)
{
    uint32_t tags = 0;
    int shift = TAG_BITS;
    uint8_t byte;
    do {
        if (!take_u8(r, &byte))
            return false;
        shift -= 7;
        if (shift >= 0)
            tags |= (uint32_t)(byte & 0x7F) << shift;
    } while ((byte & 0x80) != 0);
    *out = tags;
    return true;
}

static HRESULT take_custom(struct reader *r, struct field *f)
{
    if (!take_u16(r, &f->custom_size) || r->size - r->at < f->custom_size)
        return malformed(r, "truncated type of a custom field");
    f->custom = r->bytes + r->at;
    r->at += f->custom_size;
    return S_OK;
}

static HRESULT take_field(struct reader *r, struct field *f)
{
    uint8_t in, out = 0;
    *f = (struct field){0};
    if (!take_name(r, &f->name))
        return malformed(r, "unterminated field name");
    if (!take_u8(r, &in))
        return malformed(r, "field type missing");
    f->in = in & IN_MASK;
    f->count_kind = in & COUNT_MASK;
    if ((in & CHAIN) != 0 && !take_u8(r, &out))
        return malformed(r, "output type missing");
    f->has_tags = (out & CHAIN) != 0;
    if (f->has_tags && !take_tags(r, &f->tags))
        return malformed(r, "unterminated field tags");
    f->out = out & 0x7F;
    if (f->in > IN_TYPE_MANIFEST_COUNTEDBINARY)
        return malformed(r, "unknown input type");
    if (f->in == IN_TYPE_STRUCT && f->count_kind != COUNT_CUSTOM) {
        f->members = f->out;
        f->out = 0;
    }
    if (f->count_kind == COUNT_FIXED && !take_u16(r, &f->count))
        return malformed(r, "truncated array count");
    return f->count_kind == COUNT_CUSTOM ? take_custom(r, f) : S_OK;
}

/* Reads a field and, for a struct, its members. */
static HRESULT take_tree(struct reader *r, unsigned depth)
{
    struct field f;
    void *fields = r->fields;
    HRESULT hr = depth > TRACE_LOGGING_DEPTH ? malformed(r, "structures are nested too deep") : take_field(r, &f);
    if (FAILED(hr))
        return hr;
    if (r->count >= TRACE_LOGGING_FIELDS)
        return malformed(r, "too many fields");
    const bool room = memory_grow(&fields, &r->capacity, r->count + 1, sizeof *r->fields);
    r->fields = fields;
    if (!room)
        return E_OUTOFMEMORY;
    const size_t index = r->count++;
    r->fields[index] = f;
    for (uint16_t i = 0; SUCCEEDED(hr) && i < f.members; i++)
        hr = r->at < r->size ? take_tree(r, depth + 1) : malformed(r, "a structure has too few members");
    r->fields[index].end = r->count;
    return hr;
}

/* Copies a name with a suffix. Names are untrusted: invalid UTF-8 becomes U+FFFD. */
static char *copy_name(const char *name, const char *suffix)
{
    struct text_buffer copy = {0};
    text_buffer_add_utf8(&copy, name, strlen(name));
    text_buffer_add(&copy, suffix);
    return text_buffer_take(&copy);
}

/* ---- types ---- */

static uint16_t hex_of(uint16_t in)
{
    switch (in) {
    case IN_TYPE_INT8:
    case IN_TYPE_UINT8:
        return OUT_TYPE_HEXINT8;
    case IN_TYPE_INT16:
    case IN_TYPE_UINT16:
        return OUT_TYPE_HEXINT16;
    case IN_TYPE_INT32:
    case IN_TYPE_UINT32:
        return OUT_TYPE_HEXINT32;
    case IN_TYPE_INT64:
    case IN_TYPE_UINT64:
        return OUT_TYPE_HEXINT64;
    default:
        return in == IN_TYPE_BINARY || in == IN_TYPE_MANIFEST_COUNTEDBINARY ? OUT_TYPE_HEXBINARY : OUT_TYPE_NULL;
    }
}

static uint16_t number_of(uint16_t in, bool with_sign)
{
    switch (in) {
    case IN_TYPE_INT8:
    case IN_TYPE_UINT8:
        return with_sign ? OUT_TYPE_BYTE : OUT_TYPE_UNSIGNEDBYTE;
    case IN_TYPE_INT16:
    case IN_TYPE_UINT16:
        return with_sign ? OUT_TYPE_SHORT : OUT_TYPE_UNSIGNEDSHORT;
    case IN_TYPE_INT32:
    case IN_TYPE_UINT32:
    case IN_TYPE_HEXINT32:
        return with_sign ? OUT_TYPE_INT : OUT_TYPE_UNSIGNEDINT;
    default:
        return with_sign ? OUT_TYPE_LONG : OUT_TYPE_UNSIGNEDLONG;
    }
}

/* Converts TraceLogging's number of an output type to TDH's. */
static uint16_t out_type_of(uint16_t in, uint8_t out)
{
    static const uint16_t own[] = {
        [1] = OUT_TYPE_NOPRINT,       [2] = OUT_TYPE_STRING,        [3] = OUT_TYPE_BOOLEAN,
        [5] = OUT_TYPE_PID,           [6] = OUT_TYPE_TID,           [7] = OUT_TYPE_PORT,
        [8] = OUT_TYPE_IPV4,          [9] = OUT_TYPE_IPV6,          [10] = OUT_TYPE_SOCKETADDRESS,
        [11] = OUT_TYPE_XML,          [12] = OUT_TYPE_JSON,         [13] = OUT_TYPE_WIN32ERROR,
        [14] = OUT_TYPE_NTSTATUS,     [15] = OUT_TYPE_HRESULT,      [16] = OUT_TYPE_DATETIME,
        [34] = OUT_TYPE_JSON,         [35] = OUT_TYPE_UTF8,         [36] = OUT_TYPE_PKCS7_WITH_TYPE_INFO,
        [37] = OUT_TYPE_CODE_POINTER, [38] = OUT_TYPE_DATETIME_UTC,
    };
    enum { HEX = 4, SIGNED = 17, UNSIGNED = 18 };
    if (out == HEX)
        return hex_of(in);
    if (out == SIGNED || out == UNSIGNED)
        return number_of(in, out == SIGNED);
    return out < sizeof own / sizeof own[0] ? own[out] : OUT_TYPE_NULL;
}

static HRESULT fill_property(struct event_property *p, const struct field *f)
{
    p->name = copy_name(f->name, "");
    p->in_type = f->in;
    p->count = 1;
    p->tags = f->tags;
    p->flags = f->has_tags ? PROPERTY_HAS_TAGS : 0;
    if (f->count_kind == COUNT_FIXED) {
        p->count = f->count;
        p->flags |= PROPERTY_FIXED_COUNT;
    }
    if (f->in == IN_TYPE_STRUCT && f->count_kind != COUNT_CUSTOM) {
        p->in_type = 0;
        p->flags |= PROPERTY_STRUCT;
    } else if (f->in == IN_TYPE_BINARY || f->count_kind == COUNT_CUSTOM)
        p->in_type = IN_TYPE_MANIFEST_COUNTEDBINARY; /* a count of two bytes precedes the data */
    p->out_type = out_type_of(p->in_type, f->out);
    if (f->count_kind == COUNT_CUSTOM) {
        p->flags |= PROPERTY_CUSTOM_SCHEMA;
        p->out_type = f->out;
        p->custom_size = (uint16_t)(4 + f->custom_size);
        p->custom = memory_alloc(p->custom_size);
        if (!p->custom)
            return E_OUTOFMEMORY;
        put_u16(p->custom, f->out);
        put_u16(p->custom + 2, f->custom_size);
        if (f->custom_size != 0)
            memcpy(p->custom + 4, f->custom, f->custom_size);
    }
    return p->name ? S_OK : E_OUTOFMEMORY;
}

/* ---- layout: moves the members of each struct so that they are adjacent ---- */

/* Returns the number of properties for the fields from `first` to `end`. Members of structs are not counted. */
static size_t level_size(const struct reader *r, size_t first, size_t end)
{
    size_t n = 0;
    for (size_t i = first; i < end; i = r->fields[i].end)
        n += r->fields[i].count_kind == COUNT_VARIABLE ? 2 : 1;
    return n;
}

static HRESULT lay_level(const struct reader *r, size_t first, size_t end, struct event_schema *s, size_t at)
{
    HRESULT hr = S_OK;
    size_t here = at;
    for (size_t i = first; SUCCEEDED(hr) && i < end; i = r->fields[i].end) {
        const struct field *f = &r->fields[i];
        if (f->count_kind == COUNT_VARIABLE) {
            s->properties[here] =
                (struct event_property){.name = copy_name(f->name, ".Count"), .in_type = IN_TYPE_UINT16, .count = 1};
            if (!s->properties[here++].name)
                return E_OUTOFMEMORY;
        }
        hr = fill_property(&s->properties[here], f);
        if (f->count_kind == COUNT_VARIABLE) {
            s->properties[here].flags |= PROPERTY_PARAM_COUNT;
            s->properties[here].count = (uint16_t)(here - 1);
        }
        here++;
    }
    here = at;
    for (size_t i = first; SUCCEEDED(hr) && i < end; i = r->fields[i].end) {
        here += r->fields[i].count_kind == COUNT_VARIABLE ? 1 : 0;
        struct event_property *p = &s->properties[here++];
        if ((p->flags & PROPERTY_STRUCT) == 0)
            continue;
        p->first_member = s->property_count;
        p->members = (uint16_t)level_size(r, i + 1, r->fields[i].end);
        s->property_count = (uint16_t)(s->property_count + p->members);
        hr = lay_level(r, i + 1, r->fields[i].end, s, p->first_member);
    }
    return hr;
}

static HRESULT read_event(struct reader *r, struct event_schema *s)
{
    const char *name;
    HRESULT hr = S_OK;
    if (!take_tags(r, &s->tags))
        return malformed(r, "unterminated event tags");
    if (!take_name(r, &name))
        return malformed(r, "unterminated event name");
    s->event_name = copy_name(name, "");
    if (!s->event_name)
        return E_OUTOFMEMORY;
    while (SUCCEEDED(hr) && r->at < r->size)
        hr = take_tree(r, 0);
    if (FAILED(hr))
        return hr;
    s->properties = memory_zero(2 * r->count + 1, sizeof *s->properties);
    if (!s->properties)
        return E_OUTOFMEMORY;
    s->top_level = s->property_count = (uint16_t)level_size(r, 0, r->count);
    return lay_level(r, 0, r->count, s, 0);
}

/* ---- the event ---- */

/* Returns Windows' name for the value; *out stays NULL if Windows does not name it. */
static HRESULT name_value(enum manifest_kind kind, uint64_t value, char **out)
{
    const char *text = winmeta_text_of(kind, value);
    if (text && !(*out = text_copy(text)))
        return E_OUTOFMEMORY;
    return S_OK;
}

static HRESULT name_event(struct event_schema *s, const uint8_t *traits, size_t traits_size)
{
    struct provider_traits of;
    HRESULT hr = S_OK;
    if (traits && SUCCEEDED(provider_traits_read(traits, traits_size, &of))) {
        s->provider_name = copy_name(of.name, "");
        if (!s->provider_name)
            return E_OUTOFMEMORY;
    }
    s->task_name = text_copy(s->event_name);
    if (!s->task_name)
        return E_OUTOFMEMORY;
    hr = name_value(MANIFEST_LEVELS, s->descriptor.Level, &s->level_name);
    if (SUCCEEDED(hr))
        hr = name_value(MANIFEST_OPCODES, s->descriptor.Opcode, &s->opcode_name);
    return SUCCEEDED(hr) ? name_value(MANIFEST_CHANNELS, s->descriptor.Channel, &s->channel_name) : hr;
}

HRESULT trace_logging_schema(const GUID *provider, const EVENT_DESCRIPTOR *descriptor, const uint8_t *metadata,
                             size_t size, const uint8_t *traits, size_t traits_size, struct event_schema **out)
{
    struct reader r = {.bytes = metadata, .size = size, .at = 2};
    *out = NULL;
    if (size < 4 || get_u16(metadata) < 4 || get_u16(metadata) > size) {
        r.at = 0;
        return malformed(&r, "wrong size");
    }
    r.size = get_u16(metadata);
    struct event_schema *s = memory_zero(1, sizeof *s);
    if (!s)
        return E_OUTOFMEMORY;
    s->source = SCHEMA_TRACE_LOGGING;
    s->provider = *provider;
    s->descriptor = *descriptor;
    HRESULT hr = read_event(&r, s);
    if (SUCCEEDED(hr))
        hr = name_event(s, traits, traits_size);
    if (SUCCEEDED(hr))
        hr = event_schema_check(s);
    memory_free(r.fields);
    if (FAILED(hr))
        event_schema_free(s);
    else
        *out = s;
    return hr;
}

/* ---- event providers ---- */

static HRESULT bad_traits(const char *what, size_t at)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "invalid provider traits: %s at byte %zu", what, at);
}

HRESULT provider_traits_read(const uint8_t *traits, size_t size, struct provider_traits *out)
{
    const uint8_t *nul = size >= 3 ? memchr(traits + 2, 0, size - 2) : NULL;
    *out = (struct provider_traits){0};
    if (size < 3 || get_u16(traits) != size)
        return bad_traits("wrong total size", 0);
    if (!nul)
        return bad_traits("unterminated name", 2);
    out->name = (const char *)traits + 2;
    for (size_t at = (size_t)(nul - traits) + 1; at < size;) {
        const size_t left = size - at, own = left >= 3 ? get_u16(traits + at) : 0;
        if (own < 3 || own > left)
            return bad_traits("trait out of range", at);
        const bool is_guid = own == 3 + sizeof(GUID);
        if (traits[at + 2] == TRAIT_GROUP && is_guid) {
            out->has_group = true;
            memcpy(&out->group, traits + at + 3, sizeof out->group);
        } else if (traits[at + 2] == TRAIT_DECODE && is_guid) {
            out->has_decode = true;
            memcpy(&out->decode, traits + at + 3, sizeof out->decode);
        }
        at += own;
    }
    return S_OK;
}

/* SPDX-License-Identifier: MIT */
/* Events and filters of an instrumentation manifest. */
#include "engine/base/memory.h"
#include "engine/etw/manifest_reader.h"

#include <string.h>

#define VERSIONS     256u
#define BIT_OF_FIRST 63 /* of the keywords: what mc gives to the first channel */

/* The value of the field that the attribute names. S_FALSE: there is none. */
static HRESULT read_field(struct manifest_reader *r, xmlNodePtr e, const char *attribute, enum manifest_kind kind,
                          uint16_t task, uint64_t *value)
{
    char *text;
    const struct manifest_field *f;
    HRESULT hr = manifest_text(r, e, attribute, &text);
    if (FAILED(hr) || !text)
        return FAILED(hr) ? hr : S_FALSE;
    hr = manifest_find_field(r, e, attribute, text, kind, task, &f);
    if (SUCCEEDED(hr))
        *value = f->value;
    memory_free(text);
    return hr;
}

static HRESULT read_keywords(struct manifest_reader *r, xmlNodePtr e, uint64_t *keywords)
{
    char *text;
    HRESULT hr = manifest_text(r, e, "keywords", &text);
    for (char *at = text; SUCCEEDED(hr) && at && *at;) {
        const struct manifest_field *f;
        size_t length = strcspn(at, " \t\r\n");
        char *behind = at + length + strspn(at + length, " \t\r\n");
        at[length] = 0;
        hr = manifest_find_field(r, e, "keywords", at, MANIFEST_KEYWORDS, 0, &f);
        if (SUCCEEDED(hr))
            *keywords |= f->value;
        at = behind;
    }
    memory_free(text);
    return hr;
}

static uint64_t channel_bit(const struct provider_manifest *m, uint64_t value)
{
    const struct manifest_fields *channels = &m->fields[MANIFEST_CHANNELS];
    for (size_t i = 0; i < channels->count; i++)
        if (channels->items[i].value == value)
            return UINT64_C(1) << (BIT_OF_FIRST - i);
    return 0;
}

static HRESULT read_layout(struct manifest_reader *r, xmlNodePtr e, const char *attribute, uint16_t *to)
{
    char *text;
    uint32_t place;
    HRESULT hr = manifest_text(r, e, attribute, &text);
    if (FAILED(hr) || !text)
        return hr;
    if (name_index_find(&r->layouts, text, &place))
        *to = (uint16_t)place;
    else
        hr = manifest_wrong(e, attribute, text, "no template of that name is declared");
    memory_free(text);
    return hr;
}

static HRESULT read_descriptor(struct manifest_reader *r, xmlNodePtr e, EVENT_DESCRIPTOR *d)
{
    uint64_t id = 0, version = 0, task = 0, opcode = 0, level = 0, channel = 0, keywords = 0;
    HRESULT hr = manifest_wanted_number(r, e, "value", 0, UINT16_MAX, &id);
    if (SUCCEEDED(hr))
        hr = manifest_number(r, e, "version", 0, VERSIONS - 1, &version);
    if (SUCCEEDED(hr))
        hr = read_field(r, e, "level", MANIFEST_LEVELS, 0, &level);
    if (SUCCEEDED(hr))
        hr = read_field(r, e, "task", MANIFEST_TASKS, 0, &task);
    if (SUCCEEDED(hr))
        hr = read_field(r, e, "opcode", MANIFEST_OPCODES, (uint16_t)task, &opcode);
    if (SUCCEEDED(hr))
        hr = read_keywords(r, e, &keywords);
    HRESULT has_channel = SUCCEEDED(hr) ? read_field(r, e, "channel", MANIFEST_CHANNELS, 0, &channel) : hr;
    if (FAILED(has_channel))
        return has_channel;
    if (has_channel == S_OK)
        keywords |= channel_bit(r->p, channel);
    *d = (EVENT_DESCRIPTOR){.Id = (uint16_t)id,
                            .Version = (uint8_t)version,
                            .Channel = (uint8_t)channel,
                            .Level = (uint8_t)level,
                            .Opcode = (uint8_t)opcode,
                            .Task = (uint16_t)task,
                            .Keyword = keywords};
    return S_OK;
}

static HRESULT read_event(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    uint8_t *seen = about;
    struct manifest_event *event = manifest_add_event(r->p);
    EVENT_DESCRIPTOR d;
    HRESULT hr = event ? read_descriptor(r, e, &d) : E_OUTOFMEMORY;
    if (FAILED(hr))
        return hr;
    event->descriptor = d;
    const size_t place = d.Id * VERSIONS + d.Version;
    if (seen[place / 8] & 1u << place % 8)
        return manifest_wrong(e, NULL, NULL, "there is an event with the value %u and the version %u already", d.Id,
                              d.Version);
    seen[place / 8] |= (uint8_t)(1u << place % 8);
    hr = read_layout(r, e, "template", &event->layout);
    if (SUCCEEDED(hr))
        hr = manifest_text(r, e, "symbol", &event->symbol);
    if (SUCCEEDED(hr))
        hr = manifest_text(r, e, "attributes", &event->attributes);
    if (SUCCEEDED(hr))
        hr = manifest_bool(r, e, "notLogged", &event->not_logged);
    return SUCCEEDED(hr)
               ? manifest_message(r, e, "message", 0xB0000000u | (uint32_t)d.Version << 16 | d.Id, &event->message)
               : hr;
}

HRESULT manifest_read_events(struct manifest_reader *r, xmlNodePtr events)
{
    uint8_t *seen = memory_zero(65536 * VERSIONS / 8, 1); /* events can only be counted so: they move */
    HRESULT hr = seen ? manifest_children(r, events, "event", read_event, seen) : E_OUTOFMEMORY;
    memory_free(seen);
    return hr;
}

/* ---- filters ---- */

static HRESULT read_filter(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    struct manifest_filter *f = manifest_add_filter(r->p);
    uint64_t value, version = 0;
    (void)about;
    HRESULT hr = f ? manifest_name(r, e, "name", &f->name) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = manifest_wanted_number(r, e, "value", 0, 255, &value);
    if (SUCCEEDED(hr))
        hr = manifest_number(r, e, "version", 0, 255, &version);
    if (SUCCEEDED(hr))
        hr = read_layout(r, e, "tid", &f->layout);
    if (SUCCEEDED(hr))
        hr = manifest_text(r, e, "symbol", &f->symbol);
    if (FAILED(hr))
        return hr;
    f->value = (uint8_t)value;
    f->version = (uint8_t)version;
    return manifest_message(r, e, "message", 0xE0000000u | (uint32_t)version << 8 | (uint32_t)value, &f->message);
}

HRESULT manifest_read_filters(struct manifest_reader *r, xmlNodePtr filters)
{
    return manifest_children(r, filters, "filter", read_filter, NULL);
}

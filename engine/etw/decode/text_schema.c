/* SPDX-License-Identifier: MIT */
#include "engine/etw/decode/text_schema.h"

#include "engine/base/memory.h"
#include "engine/etw/decode/value_types.h"
#include "engine/etw/winmeta.h"

static HRESULT copy_name(void *context, const struct provider_manifest *m)
{
    struct event_schema *s = context;
    s->provider_name = m->name ? text_copy(m->name) : NULL;
    return m->name && !s->provider_name ? E_OUTOFMEMORY : S_OK;
}

/* NULL stays NULL: Windows has no text for the value. */
static bool copy_text(char **to, enum manifest_kind kind, uint64_t value)
{
    const char *text = winmeta_text_of(kind, value);
    *to = text ? text_copy(text) : NULL;
    return !text || *to;
}

HRESULT text_event_schema(struct event_schemas *schemas, const EVENT_RECORD *event, struct event_schema **out)
{
    struct event_schema *s = memory_zero(1, sizeof *s);
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    s->source = SCHEMA_MANIFEST;
    s->text_only = true;
    s->provider = event->EventHeader.ProviderId;
    s->descriptor = event->EventHeader.EventDescriptor;
    s->template_flags = 1; /* TEMPLATE_EVENT_DATA */
    s->event_message = text_copy("%1");
    s->properties = memory_zero(1, sizeof *s->properties);
    HRESULT hr = s->event_message && s->properties && copy_text(&s->level_name, MANIFEST_LEVELS, s->descriptor.Level) &&
                         copy_text(&s->opcode_name, MANIFEST_OPCODES, s->descriptor.Opcode)
                     ? S_OK
                     : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        s->properties[0] = (struct event_property){
            .name = text_copy("String"), .in_type = IN_TYPE_UNICODESTRING, .out_type = OUT_TYPE_STRING, .count = 1};
        s->property_count = s->top_level = 1;
        hr = s->properties[0].name ? S_OK : E_OUTOFMEMORY;
    }
    /* A manifest that cannot be read takes nothing from the text. */
    if (SUCCEEDED(hr) && event_schemas_manifest(schemas, &s->provider, copy_name, s) == E_OUTOFMEMORY)
        hr = E_OUTOFMEMORY;
    if (FAILED(hr)) {
        event_schema_free(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

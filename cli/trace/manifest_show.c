/* SPDX-License-Identifier: MIT */
#include "cli/trace/manifest_show.h"

#include "cli/shown_text.h"
#include "engine/base/memory.h"
#include "engine/etw/provider_manifest.h"

#include <stdio.h>

static const char *const kinds[MANIFEST_KINDS] = {"keywords", "levels", "channels", "tasks", "opcodes"};

/* ---- types ---- */

/* "win:UInt32[Count] (4)", of a struct its name alone. */
static char *type_text(const struct event_schema *s, const struct event_property *p)
{
    const struct manifest_in_type *type = manifest_in_type_of(p->in_type);
    struct text_buffer b = {0};
    if (p->flags & PROPERTY_STRUCT)
        text_buffer_add(&b, "struct");
    else if (type)
        text_buffer_format(&b, "win:%s", type->name);
    else
        text_buffer_format(&b, "type %u", p->in_type);
    if (p->flags & PROPERTY_PARAM_LENGTH)
        text_buffer_format(&b, "(%s)", s->properties[p->length].name);
    else if (p->flags & PROPERTY_FIXED_LENGTH)
        text_buffer_format(&b, "(%u)", p->length);
    if (p->flags & PROPERTY_PARAM_COUNT)
        text_buffer_format(&b, "[%s]", s->properties[p->count].name);
    else if (p->flags & PROPERTY_FIXED_COUNT)
        text_buffer_format(&b, "[%u]", p->count);
    return text_buffer_take(&b);
}

/* ---- text ---- */

static void print_field(const struct provider_manifest *m, enum manifest_kind kind, const struct manifest_field *f,
                        const char *languages)
{
    const char *message = manifest_field_message(m, f, languages);
    printf(kind == MANIFEST_KEYWORDS ? "  0x%llX " : "  %llu ", (unsigned long long)f->value);
    print_shown(f->name ? f->name : "");
    if (kind == MANIFEST_OPCODES && f->task)
        printf(" (task %u)", f->task);
    if (message) {
        printf(": ");
        print_shown(message);
    }
    printf("\n");
}

static HRESULT print_properties(const struct event_schema *s, size_t first, size_t count, unsigned indent)
{
    HRESULT hr = S_OK;
    for (size_t i = first; SUCCEEDED(hr) && i < first + count; i++) {
        const struct event_property *p = &s->properties[i];
        char *type = type_text(s, p);
        const char *out = p->flags & PROPERTY_STRUCT ? NULL : manifest_out_type_name(p->out_type);
        if (!type)
            return E_OUTOFMEMORY;
        printf("%*s", (int)indent, "");
        print_shown(p->name);
        printf(" ");
        print_shown(type);
        printf("%s%s%s", out ? " " : "", out ? out : "", p->map ? " map " : "");
        print_shown(p->map ? p->map : "");
        printf("\n");
        memory_free(type);
        if (p->flags & PROPERTY_STRUCT)
            hr = print_properties(s, p->first_member, p->members, indent + 2);
    }
    return hr;
}

static void print_named(const char *what, const char *name)
{
    if (!name)
        return;
    printf(" %s ", what);
    print_shown(name);
}

static HRESULT print_event(const struct provider_manifest *m, const struct manifest_event *e, const char *languages)
{
    struct event_schema *s;
    HRESULT hr = provider_manifest_schema(m, &e->descriptor, languages, &s);
    if (hr != S_OK)
        return hr;
    printf("  %u version %u", e->descriptor.Id, e->descriptor.Version);
    print_named("level", s->level_name);
    print_named("task", s->task_name);
    print_named("opcode", e->descriptor.Opcode ? s->opcode_name : NULL);
    print_named("channel", s->channel_name);
    for (size_t i = 0; i < s->keyword_count; i++)
        print_named(i ? "," : "keywords", s->keyword_names[i]);
    printf("\n");
    if (s->event_message) {
        printf("    ");
        print_shown(s->event_message);
        printf("\n");
    }
    hr = print_properties(s, 0, s->top_level, 6);
    event_schema_free(s);
    return hr;
}

static HRESULT print_provider(const struct provider_manifest *m, const char *languages)
{
    char guid[39];
    HRESULT hr = S_OK;
    text_from_guid(&m->guid, guid);
    print_shown(m->name ? m->name : "");
    printf("%s%s\n", m->name ? " " : "", guid);
    for (int kind = 0; kind < MANIFEST_KINDS; kind++) {
        if (m->fields[kind].count)
            printf("%s\n", kinds[kind]);
        for (size_t i = 0; i < m->fields[kind].count; i++)
            print_field(m, (enum manifest_kind)kind, &m->fields[kind].items[i], languages);
    }
    for (size_t i = 0; i < m->map_count; i++) {
        printf("map ");
        print_shown(m->maps[i].name);
        printf("\n");
        for (size_t k = 0; k < m->maps[i].count; k++) {
            const char *text = message_tables_find(&m->messages, m->maps[i].entries[k].message, languages);
            printf(m->maps[i].bits ? "  0x%X " : "  %u ", (unsigned)m->maps[i].entries[k].value);
            print_shown(text ? text : "");
            printf("\n");
        }
    }
    printf("events\n");
    for (size_t i = 0; SUCCEEDED(hr) && i < m->event_count; i++)
        hr = print_event(m, &m->events[i], languages);
    return hr;
}

HRESULT manifest_show_text(const struct provider_manifests *all, const char *languages)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < all->count; i++)
        hr = print_provider(all->items[i], languages);
    return hr;
}

/* ---- JSON ---- */

static void write_hex(struct json *j, const char *name, uint64_t value)
{
    char text[20];
    snprintf(text, sizeof text, "0x%llX", (unsigned long long)value);
    json_text(j, name, text);
}

static void write_fields(struct json *j, const struct provider_manifest *m, enum manifest_kind kind,
                         const char *languages)
{
    json_begin(j, kinds[kind], '[');
    for (size_t i = 0; i < m->fields[kind].count; i++) {
        const struct manifest_field *f = &m->fields[kind].items[i];
        json_begin(j, NULL, '{');
        json_text(j, "name", f->name);
        if (kind == MANIFEST_KEYWORDS)
            write_hex(j, "mask", f->value);
        else
            json_integer(j, "value", (int64_t)f->value);
        if (kind == MANIFEST_OPCODES && f->task)
            json_integer(j, "task", f->task);
        json_text(j, "message", manifest_field_message(m, f, languages));
        json_end(j, '}');
    }
    json_end(j, ']');
}

static HRESULT write_properties(struct json *j, const struct event_schema *s, size_t first, size_t count)
{
    HRESULT hr = S_OK;
    json_begin(j, "fields", '[');
    for (size_t i = first; SUCCEEDED(hr) && i < first + count; i++) {
        const struct event_property *p = &s->properties[i];
        char *type = type_text(s, p);
        if (!type)
            return E_OUTOFMEMORY;
        json_begin(j, NULL, '{');
        json_text(j, "name", p->name);
        json_text(j, "type", type);
        memory_free(type);
        if (p->flags & PROPERTY_STRUCT)
            hr = write_properties(j, s, p->first_member, p->members);
        else
            json_text(j, "out", manifest_out_type_name(p->out_type));
        if (p->map)
            json_text(j, "map", p->map);
        json_end(j, '}');
    }
    json_end(j, ']');
    return hr;
}

static HRESULT write_event(struct json *j, const struct provider_manifest *m, const struct manifest_event *e,
                           const char *languages)
{
    struct event_schema *s;
    HRESULT hr = provider_manifest_schema(m, &e->descriptor, languages, &s);
    if (hr != S_OK)
        return hr;
    json_begin(j, NULL, '{');
    json_integer(j, "id", e->descriptor.Id);
    json_integer(j, "version", e->descriptor.Version);
    json_text(j, "level", s->level_name);
    json_text(j, "task", s->task_name);
    json_text(j, "opcode", s->opcode_name);
    json_text(j, "channel", s->channel_name);
    json_begin(j, "keywords", '[');
    for (size_t i = 0; i < s->keyword_count; i++)
        json_text(j, NULL, s->keyword_names[i]);
    json_end(j, ']');
    json_text(j, "message", s->event_message);
    hr = write_properties(j, s, 0, s->top_level);
    json_end(j, '}');
    event_schema_free(s);
    return hr;
}

static void write_maps(struct json *j, const struct provider_manifest *m, const char *languages)
{
    json_begin(j, "maps", '[');
    for (size_t i = 0; i < m->map_count; i++) {
        json_begin(j, NULL, '{');
        json_text(j, "name", m->maps[i].name);
        json_bool(j, "bits", m->maps[i].bits);
        json_begin(j, "entries", '[');
        for (size_t k = 0; k < m->maps[i].count; k++) {
            json_begin(j, NULL, '{');
            json_integer(j, "value", m->maps[i].entries[k].value);
            json_text(j, "text", message_tables_find(&m->messages, m->maps[i].entries[k].message, languages));
            json_end(j, '}');
        }
        json_end(j, ']');
        json_end(j, '}');
    }
    json_end(j, ']');
}

HRESULT manifest_show_json(const struct provider_manifests *all, const char *languages, struct json *j)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < all->count; i++) {
        const struct provider_manifest *m = all->items[i];
        char guid[39];
        text_from_guid(&m->guid, guid);
        json_begin(j, NULL, '{');
        json_text(j, "name", m->name);
        json_text(j, "guid", guid);
        json_text(j, "message", message_tables_find(&m->messages, m->message, languages));
        json_text(j, "resourceFile", m->resource_file);
        json_text(j, "messageFile", m->message_file);
        for (int kind = 0; kind < MANIFEST_KINDS; kind++)
            write_fields(j, m, (enum manifest_kind)kind, languages);
        write_maps(j, m, languages);
        json_begin(j, "events", '[');
        for (size_t k = 0; SUCCEEDED(hr) && k < m->event_count; k++)
            hr = write_event(j, m, &m->events[k], languages);
        json_end(j, ']');
        json_end(j, '}');
    }
    return hr;
}

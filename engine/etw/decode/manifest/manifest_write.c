/* SPDX-License-Identifier: MIT */
/* Writes the parts of an event provider: levels, tasks, opcodes, keywords, channels and events. */
#include "engine/base/memory.h"
#include "engine/base/xml_text.h"
#include "engine/etw/decode/manifest/manifest_document.h"
#include "engine/etw/provider_manifest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CHANNEL_BIT = 63, KEYWORD_BITS = 48, MOST_CHANNELS = 8 };

HRESULT manifest_write_warning(struct manifest_writing *w, const char *format, ...)
{
    char what[1000];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return texts_add_owned(w->warnings, text_format("%.200s: %s", w->m->name ? w->m->name : "a provider", what));
}

char *manifest_plain_name(const char *name)
{
    char *copy = text_copy(name);
    for (char *c = copy; c && *c; c++)
        if (*c == ':' || *c == ' ' || (*c >= '\t' && *c <= '\r'))
            *c = '_';
    return copy;
}

static void write_guid(struct text_buffer *b, const char *name, const GUID *guid)
{
    char text[39];
    text_from_guid(guid, text);
    xml_add_attribute(b, name, text);
}

static void write_optional(struct text_buffer *b, const char *name, const char *text)
{
    if (text)
        xml_add_attribute(b, name, text);
}

/* ---- names ---- */

/* Returns whether mc, and therefore OpenPLA's reader, allows a manifest to declare the value. */
static bool may_be_declared(enum manifest_kind kind, uint64_t value)
{
    switch (kind) {
    case MANIFEST_KEYWORDS:
        return value && !(value & (value - 1)) && value < UINT64_C(1) << KEYWORD_BITS;
    case MANIFEST_LEVELS:
        return value >= 16 && value <= 255;
    case MANIFEST_OPCODES:
        return value >= 10 && value <= 239;
    case MANIFEST_CHANNELS:
        return value <= 255;
    case MANIFEST_TASKS:
        break;
    }
    return value <= UINT16_MAX;
}

static char *made_name(enum manifest_kind kind, const struct manifest_field *f)
{
    static const char *const kinds[MANIFEST_KINDS] = {"Keyword", "Level", "Channel", "Task", "Opcode"};
    return text_format(kind == MANIFEST_KEYWORDS ? "%s_0x%llX" : "%s_%llu", kinds[kind], (unsigned long long)f->value);
}

/* Returns whether two opcodes with the same name conflict. A task's opcode and a global opcode conflict if an event of
   the task has the global opcode. In this case the name would select the task's opcode when the manifest is read. */
static bool opcode_hides(struct manifest_writing *w, const struct manifest_field *one,
                         const struct manifest_field *other)
{
    const struct provider_manifest *m = w->m;
    const struct manifest_field *own = one->task ? one : other, *global = one->task ? other : one;
    if (one->task == other->task)
        return true;
    if (one->task && other->task)
        return false;
    for (size_t i = 0; i < m->event_count && w->compared < MANIFEST_MOST_COMPARED; i++, w->compared++)
        if (m->events[i].descriptor.Task == own->task && m->events[i].descriptor.Opcode == global->value)
            return true;
    /* If the limit was reached, assume a conflict: a generated name works as well. */
    return w->compared == MANIFEST_MOST_COMPARED;
}

static bool is_taken(struct manifest_writing *w, enum manifest_kind kind, size_t index, const char *name)
{
    const struct manifest_field *fields = w->m->fields[kind].items;
    for (size_t i = 0; i < index; i++)
        if (w->names[kind][i].declared && strcmp(w->names[kind][i].text, name) == 0 &&
            (kind != MANIFEST_OPCODES || opcode_hides(w, &fields[i], &fields[index])))
            return true;
    return false;
}

static HRESULT name_declare(struct manifest_writing *w, enum manifest_kind kind, size_t index)
{
    const struct manifest_field *f = &w->m->fields[kind].items[index];
    struct manifest_name *n = &w->names[kind][index];
    n->text = f->name ? manifest_plain_name(f->name) : made_name(kind, f);
    n->made = !f->name || (n->text && strcmp(n->text, f->name) != 0);
    if (n->text && is_taken(w, kind, index, n->text)) {
        memory_free(n->text);
        n->text = text_format("%s_%zu", f->name ? "Name" : "Value", index);
        n->made = true;
    }
    n->declared = n->text != NULL;
    return n->text ? S_OK : E_OUTOFMEMORY;
}

static HRESULT name_field(struct manifest_writing *w, enum manifest_kind kind, size_t index)
{
    const struct manifest_field *f = &w->m->fields[kind].items[index];
    const bool of_windows = f->name && strncmp(f->name, "win:", 4) == 0;
    const struct manifest_field *windows = of_windows ? winmeta_by_name(kind, f->name + 4) : NULL;
    if (!(windows && windows->value == f->value) && may_be_declared(kind, f->value))
        return name_declare(w, kind, index);
    if (!windows || windows->value != f->value)
        windows = winmeta_by_value(kind, f->value);
    if (!windows)
        return S_OK;
    w->names[kind][index].text = text_copy(windows->name);
    return w->names[kind][index].text ? S_OK : E_OUTOFMEMORY;
}

static HRESULT name_fields(struct manifest_writing *w)
{
    HRESULT hr = S_OK;
    for (size_t kind = 0; SUCCEEDED(hr) && kind < MANIFEST_KINDS; kind++) {
        w->names[kind] = memory_zero(w->m->fields[kind].count + 1, sizeof *w->names[kind]);
        hr = w->names[kind] ? S_OK : E_OUTOFMEMORY;
        for (size_t i = 0; SUCCEEDED(hr) && kind != MANIFEST_CHANNELS && i < w->m->fields[kind].count; i++)
            hr = name_field(w, (enum manifest_kind)kind, i);
    }
    return hr;
}

/* ---- values that events have but no field declares ---- */

static HRESULT add_undeclared(struct manifest_writing *w, enum manifest_kind kind, uint64_t value, uint16_t task)
{
    if (!value || provider_manifest_field(w->m, kind, value, task) ||
        provider_manifest_field(w->undeclared, kind, value, 0) || !may_be_declared(kind, value))
        return S_OK;
    struct manifest_field *f = manifest_add_field(w->undeclared, kind);
    if (!f)
        return E_OUTOFMEMORY;
    f->value = value;
    f->name = made_name(kind, f);
    return f->name ? S_OK : E_OUTOFMEMORY;
}

static bool is_wanted(const struct manifest_writing *w, size_t index)
{
    const struct manifest_event *e = &w->m->events[index];
    return (!w->wanted || w->wanted[index]) &&
           provider_manifest_event(w->m, e->descriptor.Id, e->descriptor.Version) == e;
}

static HRESULT find_undeclared(struct manifest_writing *w)
{
    const struct manifest_fields *opcodes = &w->m->fields[MANIFEST_OPCODES];
    HRESULT hr = S_OK;
    w->undeclared = provider_manifest_create(&w->m->guid);
    if (!w->undeclared)
        return E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < opcodes->count; i++)
        hr = add_undeclared(w, MANIFEST_TASKS, opcodes->items[i].task, 0);
    for (size_t i = 0; SUCCEEDED(hr) && i < w->m->event_count; i++) {
        const EVENT_DESCRIPTOR *d = &w->m->events[i].descriptor;
        if (!is_wanted(w, i))
            continue;
        hr = add_undeclared(w, MANIFEST_LEVELS, d->Level, 0);
        if (SUCCEEDED(hr))
            hr = add_undeclared(w, MANIFEST_TASKS, d->Task, 0);
        if (SUCCEEDED(hr))
            hr = add_undeclared(w, MANIFEST_OPCODES, d->Opcode, d->Task);
        for (unsigned bit = 0; SUCCEEDED(hr) && bit < KEYWORD_BITS; bit++)
            hr = add_undeclared(w, MANIFEST_KEYWORDS, d->Keyword & UINT64_C(1) << bit, 0);
    }
    return hr;
}

/* Returns the name by which events refer to the value; NULL: a manifest cannot express it. */
static const char *name_of(const struct manifest_writing *w, enum manifest_kind kind, uint64_t value, uint16_t task)
{
    const struct manifest_field *f = provider_manifest_field(w->m, kind, value, task);
    const struct manifest_field *items = w->m->fields[kind].items;
    if (!f)
        f = provider_manifest_field(w->undeclared, kind, value, 0);
    if (!f)
        return NULL;
    for (size_t i = 0; i < w->m->fields[kind].count; i++)
        if (f == &items[i])
            return w->names[kind][i].text;
    return f->name;
}

/* ---- fields ---- */

struct field_words {
    const char *all, *one, *value;
};
static const struct field_words words[MANIFEST_KINDS] = {
    {"keywords", "keyword", "mask"}, {"levels", "level", "value"},   {"channels", "channel", "value"},
    {"tasks", "task", "value"},      {"opcodes", "opcode", "value"},
};

static void element_begin(struct text_buffer *b, unsigned depth, const char *element)
{
    for (unsigned i = 0; i < depth; i++)
        text_buffer_add(b, "  ");
    text_buffer_add(b, "<");
    text_buffer_add(b, element);
}

static void end(struct text_buffer *b, unsigned depth, const char *element)
{
    element_begin(b, depth, "/");
    text_buffer_add(b, element);
    text_buffer_add(b, ">\r\n");
}

/* Writes the start tag of a field without the characters that close it. `shown` is the text to show if the field has no
   message; if `shown` is NULL, the name of the field is shown. */
static HRESULT write_field(struct manifest_writing *w, enum manifest_kind kind, const struct manifest_field *f,
                           const char *name, const char *shown, size_t index, unsigned depth)
{
    static GUID none;
    struct text_buffer *b = &w->d->providers;
    element_begin(b, depth, words[kind].one);
    xml_add_attribute(b, "name", name);
    text_buffer_format(b, kind == MANIFEST_KEYWORDS ? " %s=\"0x%llX\"" : " %s=\"%llu\"", words[kind].value,
                       (unsigned long long)f->value);
    write_optional(b, "symbol", f->symbol);
    if (!guid_equal(&f->guid, &none))
        write_guid(b, "eventGUID", &f->guid);
    return manifest_write_message(w, f->message, shown, words[kind].one, index);
}

/* Writes a declared field. A field that has neither a name nor a message is shown as its number. */
static HRESULT write_declared(struct manifest_writing *w, enum manifest_kind kind, size_t index, unsigned depth)
{
    const struct manifest_field *f = &w->m->fields[kind].items[index];
    const struct manifest_name *n = &w->names[kind][index];
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)f->value);
    return write_field(w, kind, f, n->text, !n->made ? NULL : f->name ? f->name : number, index, depth);
}

/* Writes the opcodes that belong to a task. */
static HRESULT write_opcodes_of(struct manifest_writing *w, uint64_t task)
{
    const struct manifest_fields *fields = &w->m->fields[MANIFEST_OPCODES];
    struct text_buffer *b = &w->d->providers;
    HRESULT hr = S_OK;
    size_t count = 0;
    for (size_t i = 0; SUCCEEDED(hr) && i < fields->count; i++) {
        if (!task || fields->items[i].task != task || !w->names[MANIFEST_OPCODES][i].declared)
            continue;
        if (count++ == 0) {
            text_buffer_add(b, ">\r\n");
            element_begin(b, 6, "opcodes>\r\n");
        }
        hr = write_declared(w, MANIFEST_OPCODES, i, 7);
        text_buffer_add(b, "/>\r\n");
    }
    if (count == 0) {
        text_buffer_add(b, "/>\r\n");
        return hr;
    }
    end(b, 6, "opcodes");
    end(b, 5, "task");
    return hr;
}

static HRESULT write_undeclared(struct manifest_writing *w, enum manifest_kind kind)
{
    const struct manifest_fields *fields = &w->undeclared->fields[kind];
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < fields->count; i++) {
        const struct manifest_field *f = &fields->items[i];
        char number[24];
        snprintf(number, sizeof number, "%llu", (unsigned long long)f->value);
        hr = write_field(w, kind, f, f->name, number, w->m->fields[kind].count + i, 5);
        if (SUCCEEDED(hr) && kind == MANIFEST_TASKS)
            hr = write_opcodes_of(w, f->value);
        else
            text_buffer_add(&w->d->providers, "/>\r\n");
    }
    return hr;
}

/* Returns whether this is the first task with its value. If several tasks have the same value, only the first one gets
   the opcodes. */
static bool is_first_task(const struct manifest_writing *w, size_t index)
{
    const struct manifest_field *tasks = w->m->fields[MANIFEST_TASKS].items;
    for (size_t i = 0; i < index; i++)
        if (tasks[i].value == tasks[index].value)
            return false;
    return true;
}

static HRESULT write_fields(struct manifest_writing *w, enum manifest_kind kind)
{
    const struct manifest_fields *fields = &w->m->fields[kind];
    struct text_buffer *b = &w->d->providers;
    const size_t before = b->length;
    element_begin(b, 4, words[kind].all);
    text_buffer_add(b, ">\r\n");
    const size_t empty = b->length;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < fields->count; i++) {
        if (!w->names[kind][i].declared || (kind == MANIFEST_OPCODES && fields->items[i].task))
            continue;
        hr = write_declared(w, kind, i, 5);
        if (SUCCEEDED(hr) && kind == MANIFEST_TASKS)
            hr = write_opcodes_of(w, is_first_task(w, i) ? fields->items[i].value : 0);
        else
            text_buffer_add(b, "/>\r\n");
    }
    if (SUCCEEDED(hr))
        hr = write_undeclared(w, kind);
    if (b->length == empty)
        b->length = before;
    else
        end(b, 4, words[kind].all);
    return hr;
}

/* ---- channels ---- */

static void write_number(struct text_buffer *b, const char *element, uint64_t value)
{
    if (value == MANIFEST_UNSAID)
        return;
    element_begin(b, 7, element);
    text_buffer_format(b, ">%llu</%s>\r\n", (unsigned long long)value, element);
}

static void write_word(struct text_buffer *b, const char *element, uint64_t value, const char *no, const char *yes)
{
    if (value == MANIFEST_UNSAID)
        return;
    element_begin(b, 7, element);
    text_buffer_format(b, ">%s</%s>\r\n", value ? yes : no, element);
}

static void write_settings(struct text_buffer *b, const struct manifest_channel *c)
{
    element_begin(b, 6, "logging>\r\n");
    write_word(b, "autoBackup", c->auto_backup, "false", "true");
    write_word(b, "retention", c->retention, "false", "true");
    write_number(b, "maxSize", c->max_size);
    end(b, 6, "logging");
    element_begin(b, 6, "publishing>\r\n");
    write_number(b, "level", c->level);
    write_number(b, "keywords", c->keywords);
    write_number(b, "bufferSize", c->buffer_size);
    write_number(b, "latency", c->latency);
    write_number(b, "minBuffers", c->min_buffers);
    write_number(b, "maxBuffers", c->max_buffers);
    write_number(b, "fileMax", c->file_max);
    write_word(b, "clockType", c->clock_type, "SystemTime", "QPC");
    write_word(b, "sidType", c->sid_type, "None", "Publishing");
    end(b, 6, "publishing");
}

/* Writes a channel as an import, because a resource contains only the channel's name, and an import needs no other
   data. */
static HRESULT write_channel(struct manifest_writing *w, size_t index)
{
    static const char *const types[] = {"Admin", "Operational", "Analytic", "Debug"};
    static const char *const isolations[] = {"Application", "System", "Custom"};
    const struct manifest_field *f = &w->m->fields[MANIFEST_CHANNELS].items[index];
    const struct manifest_channel *c = f->channel;
    struct text_buffer *b = &w->d->providers;
    const bool imported = !c || c->imported;
    element_begin(b, 5, imported ? "importChannel" : "channel");
    text_buffer_format(b, " chid=\"%s\"", w->names[MANIFEST_CHANNELS][index].text);
    if (f->name)
        xml_add_attribute(b, "name", f->name);
    else
        text_buffer_format(b, " name=\"Channel_%llu\"", (unsigned long long)f->value);
    text_buffer_format(b, " value=\"%llu\"", (unsigned long long)f->value);
    write_optional(b, "symbol", f->symbol);
    if (!imported) {
        text_buffer_format(b, " type=\"%s\" isolation=\"%s\" enabled=\"%s\"", types[c->type & 3],
                           isolations[c->isolation % 3], c->enabled ? "true" : "false");
        write_optional(b, "access", c->access);
    }
    const HRESULT hr = manifest_write_message(w, f->message, NULL, "channel", index);
    text_buffer_add(b, imported ? "/>\r\n" : ">\r\n");
    if (!imported) {
        write_settings(b, c);
        end(b, 5, "channel");
    }
    return hr;
}

static HRESULT write_channels(struct manifest_writing *w)
{
    const struct manifest_fields *fields = &w->m->fields[MANIFEST_CHANNELS];
    HRESULT hr = S_OK;
    if (!fields->count)
        return S_OK;
    element_begin(&w->d->providers, 4, "channels>\r\n");
    for (size_t i = 0; SUCCEEDED(hr) && i < fields->count; i++) {
        struct manifest_name *n = &w->names[MANIFEST_CHANNELS][i];
        n->text = text_format("C%zu", i + 1);
        hr = n->text ? write_channel(w, i) : E_OUTOFMEMORY;
    }
    end(&w->d->providers, 4, "channels");
    return hr;
}

/* Returns the keyword bit of a channel. The reader assigns the bits to channels in order, and adds them to the keywords
   of events. */
static uint64_t channel_bit(const struct manifest_writing *w, uint8_t channel)
{
    const struct manifest_fields *fields = &w->m->fields[MANIFEST_CHANNELS];
    for (size_t i = 0; channel && i < fields->count && i < MOST_CHANNELS; i++)
        if (fields->items[i].value == channel)
            return UINT64_C(1) << (FIRST_CHANNEL_BIT - i);
    return 0;
}

/* ---- events ---- */

static void write_named(struct manifest_writing *w, const char *attribute, enum manifest_kind kind, uint64_t value,
                        uint16_t task)
{
    if (value)
        write_optional(&w->d->providers, attribute, name_of(w, kind, value, task));
}

static void write_keywords(struct manifest_writing *w, const EVENT_DESCRIPTOR *d)
{
    struct text_buffer *b = &w->d->providers;
    const uint64_t left = d->Keyword & ~channel_bit(w, d->Channel);
    bool any = false;
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t mask = UINT64_C(1) << bit;
        const char *name = left & mask ? name_of(w, MANIFEST_KEYWORDS, mask, 0) : NULL;
        if (!name)
            continue;
        text_buffer_add(b, any ? " " : " keywords=\"");
        xml_add_escaped(b, name, true);
        any = true;
    }
    if (any)
        text_buffer_add(b, "\"");
}

static HRESULT write_event(struct manifest_writing *w, size_t index)
{
    const struct manifest_event *e = &w->m->events[index];
    const EVENT_DESCRIPTOR *d = &e->descriptor;
    struct text_buffer *b = &w->d->providers;
    element_begin(b, 5, "event");
    text_buffer_format(b, " value=\"%u\" version=\"%u\"", d->Id, d->Version);
    write_optional(b, "symbol", e->symbol);
    write_named(w, "level", MANIFEST_LEVELS, d->Level, 0);
    write_named(w, "task", MANIFEST_TASKS, d->Task, 0);
    write_named(w, "opcode", MANIFEST_OPCODES, d->Opcode, d->Task);
    write_named(w, "channel", MANIFEST_CHANNELS, d->Channel, 0);
    write_keywords(w, d);
    if (e->layout < w->m->layout_count && w->layouts[e->layout]) {
        char *name = manifest_layout_name(w->m, e->layout);
        if (!name)
            return E_OUTOFMEMORY;
        xml_add_attribute(b, "template", name);
        memory_free(name);
    }
    write_optional(b, "attributes", e->attributes);
    if (e->not_logged)
        text_buffer_add(b, " notLogged=\"true\"");
    const HRESULT hr = manifest_write_message(w, e->message, NULL, "event", index);
    text_buffer_add(b, "/>\r\n");
    return hr;
}

static HRESULT write_events(struct manifest_writing *w)
{
    HRESULT hr = S_OK;
    element_begin(&w->d->providers, 4, "events>\r\n");
    for (size_t i = 0; SUCCEEDED(hr) && i < w->m->event_count && !manifest_write_is_full(&w->d->providers); i++)
        if (is_wanted(w, i))
            hr = write_event(w, i);
    end(&w->d->providers, 4, "events");
    return hr;
}

/* Marks a template as needed. A resource can contain a template without data; such a template is treated as missing. */
static void want_layout(struct manifest_writing *w, uint16_t layout)
{
    if (layout < w->m->layout_count && w->m->layouts[layout].property_count)
        w->layouts[layout] = true;
}

/* Finds the templates that the selected events and the filters need, and the maps of these templates. */
static HRESULT find_layouts(struct manifest_writing *w)
{
    const struct provider_manifest *m = w->m;
    w->layouts = memory_zero(m->layout_count + 1, sizeof *w->layouts);
    w->maps = memory_zero(m->map_count + 1, sizeof *w->maps);
    if (!w->layouts || !w->maps)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < m->event_count; i++)
        if (is_wanted(w, i))
            want_layout(w, m->events[i].layout);
    for (size_t i = 0; i < m->filter_count; i++)
        want_layout(w, m->filters[i].layout);
    for (size_t i = 0; i < m->layout_count; i++)
        for (size_t k = 0; w->layouts[i] && k < m->layouts[i].property_count; k++)
            for (size_t n = 0; m->layouts[i].properties[k].map && n < m->map_count; n++)
                if (strcmp(m->maps[n].name, m->layouts[i].properties[k].map) == 0)
                    w->maps[n] = true;
    return S_OK;
}

/* ---- the event provider ---- */

/* Writes the prefix of the constants that mc generates. */
static void write_symbol(struct text_buffer *b, const struct provider_manifest *m)
{
    if (m->symbol) {
        xml_add_attribute(b, "symbol", m->symbol);
        return;
    }
    text_buffer_add(b, " symbol=\"P_");
    for (const char *c = m->name ? m->name : ""; *c; c++) {
        const bool word = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z');
        text_buffer_add_n(b, word ? c : "_", 1);
    }
    text_buffer_add(b, "\"");
}

static HRESULT write_head(struct manifest_writing *w)
{
    const struct provider_manifest *m = w->m;
    struct text_buffer *b = &w->d->providers;
    char guid[39];
    text_from_guid(&m->guid, guid);
    element_begin(b, 3, "provider");
    xml_add_attribute(b, "name", m->name ? m->name : guid);
    xml_add_attribute(b, "guid", guid);
    write_symbol(b, m);
    write_optional(b, "resourceFileName", m->resource_file);
    write_optional(b, "messageFileName", m->message_file);
    write_optional(b, "parameterFileName", m->parameter_file);
    write_optional(b, "helpLink", m->help_link);
    const HRESULT hr = manifest_write_message(w, m->message, NULL, "provider", 0);
    text_buffer_add(b, ">\r\n");
    return hr;
}

static HRESULT write_parts(struct manifest_writing *w)
{
    static const enum manifest_kind kinds[] = {MANIFEST_LEVELS, MANIFEST_TASKS, MANIFEST_OPCODES, MANIFEST_KEYWORDS};
    HRESULT hr = name_fields(w);
    if (SUCCEEDED(hr))
        hr = find_undeclared(w);
    if (SUCCEEDED(hr))
        hr = find_layouts(w);
    if (SUCCEEDED(hr))
        hr = write_head(w);
    if (SUCCEEDED(hr))
        hr = write_channels(w);
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof kinds / sizeof *kinds; i++)
        hr = write_fields(w, kinds[i]);
    if (SUCCEEDED(hr))
        hr = manifest_write_maps(w);
    if (SUCCEEDED(hr))
        hr = manifest_write_templates(w);
    if (SUCCEEDED(hr))
        hr = manifest_write_filters(w);
    if (SUCCEEDED(hr))
        hr = write_events(w);
    end(&w->d->providers, 3, "provider");
    return SUCCEEDED(hr) && w->d->providers.failed ? E_OUTOFMEMORY : hr;
}

HRESULT manifest_write_provider(struct manifest_writing *w)
{
    const HRESULT hr = write_parts(w);
    for (size_t kind = 0; kind < MANIFEST_KINDS; kind++) {
        for (size_t i = 0; w->names[kind] && i < w->m->fields[kind].count; i++)
            memory_free(w->names[kind][i].text);
        memory_free(w->names[kind]);
    }
    provider_manifest_free(w->undeclared);
    memory_free(w->layouts);
    memory_free(w->maps);
    return hr;
}

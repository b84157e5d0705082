/* SPDX-License-Identifier: MIT */
/* Reads instrumentation manifests: documents, event providers, attributes, events and filters.

   Elements may be in any order and refer to each other by name, so the parts of an event provider are read in the order
   of dependencies: the string tables of all languages and messageTable first (manifest_read_strings), then levels,
   tasks, opcodes and keywords (manifest_read_fields), channels, maps, templates, filters and events. Each name is added
   to the index of its kind. A reference to a name that is not in the index is an error; the error text contains the
   line, element, attribute and value.

   Names whose prefix is bound to Windows' definitions (win:Error) are looked up in winmeta.def and become fields of the
   event provider, as with mc. Unknown elements are ignored with a warning, and unknown attributes are ignored silently,
   because manifests from other tools contain both. Limits for sizes and counts prevent a hostile manifest from using
   much memory or time, and the index (struct name_index) keeps the number of comparisons linear. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/xml_document.h"
#include "engine/base/xml_text.h"
#include "engine/etw/manifest_reader.h"
#include "engine/etw/provider_manifest.h"
#include "engine/etw/source_text.h"

#include <stdarg.h>
#include <string.h>

#define LONGEST_NAME 255 /* in characters */

/* ---- one event provider ---- */

static void forget_provider(struct manifest_reader *r)
{
    for (size_t i = 0; i < MANIFEST_KINDS; i++)
        name_index_free(&r->names[i]);
    name_index_free(&r->chids);
    name_index_free(&r->maps);
    name_index_free(&r->layouts);
    texts_free(&r->keys);
    r->p = NULL;
    r->map_messages = 0;
}

static HRESULT read_attributes(struct manifest_reader *r, xmlNodePtr e)
{
    struct provider_manifest *p = r->p;
    const struct {
        const char *name;
        char **to;
    } all[] = {
        {"symbol", &p->symbol},
        {"resourceFileName", &p->resource_file},
        {"messageFileName", &p->message_file},
        {"parameterFileName", &p->parameter_file},
        {"helpLink", &p->help_link},
    };
    HRESULT hr = manifest_name(r, e, "name", &p->name);
    if (!p->name)
        return hr;
    for (const char *c = p->name; *c; c++)
        if ((unsigned char)*c < ' ' || strchr("<>&\"|\\:'?*", *c))
            return manifest_wrong(e, "name", p->name, "the character 0x%02X is not allowed in provider names",
                                  (unsigned)(unsigned char)*c);
    if (text_utf16_length(p->name) > LONGEST_NAME)
        return manifest_wrong(e, "name", p->name, "longer than %u characters", LONGEST_NAME);
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof all / sizeof all[0]; i++)
        hr = manifest_text(r, e, all[i].name, all[i].to);
    return SUCCEEDED(hr) ? manifest_message(r, e, "message", 0x90000001u, &p->message) : hr;
}

/* Reads the parts of an event provider. Definitions are read before references to them, regardless of their order in
   the file. */
static HRESULT read_parts(struct manifest_reader *r, xmlNodePtr e)
{
    static const struct {
        const char *name;
        HRESULT (*read)(struct manifest_reader *r, xmlNodePtr part);
    } parts[] = {
        {"channels", manifest_read_channels},
        {"maps", manifest_read_maps},
        {"levels", NULL},
        {"tasks", NULL},
        {"opcodes", NULL},
        {"keywords", NULL},
        {"templates", manifest_read_templates},
        {"filters", manifest_read_filters},
        {"events", manifest_read_events},
    };
    const size_t count = sizeof parts / sizeof parts[0];
    const xmlNode *once[sizeof parts / sizeof parts[0]] = {NULL};
    HRESULT hr = manifest_read_fields(r, e);
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next) {
        size_t i = 0;
        while (i < count && !manifest_is(n, parts[i].name))
            i++;
        if (i == count)
            hr = manifest_skip_element(r, n);
        else if (once[i])
            hr = manifest_wrong(n, NULL, NULL, "the provider already has this element");
        else
            once[i] = n;
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next)
            if (parts[i].read && manifest_is(n, parts[i].name))
                hr = parts[i].read(r, n);
    return hr;
}

static HRESULT read_provider(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    struct provider_manifests *list = about;
    GUID guid = {0};
    HRESULT hr = manifest_guid(r, e, "guid", &guid);
    if (hr == S_FALSE)
        hr = manifest_wrong(e, "guid", NULL, "the attribute is missing");
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++)
        if (guid_equal(&list->items[i]->guid, &guid))
            hr = manifest_wrong(e, "guid", NULL, "another provider already has this GUID");
    if (SUCCEEDED(hr) && list->count == MANIFEST_MOST_PROVIDERS)
        hr = manifest_wrong(e, NULL, NULL, "more than %u providers", MANIFEST_MOST_PROVIDERS);
    if (FAILED(hr))
        return hr;
    void *items = list->items;
    bool room = memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items = items;
    r->p = room ? provider_manifest_create(&guid) : NULL;
    if (!r->p)
        return E_OUTOFMEMORY;
    list->items[list->count++] = r->p;
    hr = read_attributes(r, e);
    if (SUCCEEDED(hr))
        hr = read_parts(r, e);
    if (SUCCEEDED(hr))
        provider_manifest_finish(r->p);
    forget_provider(r);
    return hr;
}

/* ---- the document ---- */

HRESULT manifest_read_strings(struct manifest_reader *r, xmlNodePtr root)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = root->children; SUCCEEDED(hr) && n; n = n->next) {
        if (manifest_is(n, "localization"))
            hr = manifest_read_localization(r, n);
        for (xmlNodePtr i = manifest_is(n, "instrumentation") ? n->children : NULL; SUCCEEDED(hr) && i; i = i->next)
            for (xmlNodePtr t = manifest_is(i, "events") ? i->children : NULL; SUCCEEDED(hr) && t; t = t->next)
                if (manifest_is(t, "messageTable"))
                    hr = manifest_read_message_table(r, t);
    }
    return hr;
}

static HRESULT read_providers(struct manifest_reader *r, xmlNodePtr root, struct provider_manifests *out)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = root->children; SUCCEEDED(hr) && n; n = n->next) {
        const bool inside = manifest_is(n, "instrumentation");
        if (!inside && !manifest_is(n, "localization"))
            hr = manifest_skip_element(r, n);
        for (xmlNodePtr i = inside ? n->children : NULL; SUCCEEDED(hr) && i; i = i->next) {
            const bool events = manifest_is(i, "events");
            if (!events)
                hr = manifest_skip_element(r, i);
            for (xmlNodePtr p = events ? i->children : NULL; SUCCEEDED(hr) && p; p = p->next)
                if (manifest_is(p, "provider"))
                    hr = read_provider(r, p, out);
                else if (!manifest_is(p, "messageTable"))
                    hr = manifest_skip_element(r, p);
        }
    }
    if (SUCCEEDED(hr) && !out->count)
        hr = manifest_wrong(root, NULL, NULL, "it defines no provider");
    return hr;
}

HRESULT manifest_open(const void *xml, size_t size, struct xml_document *out)
{
    const uint8_t *bytes = xml;
    char *own = NULL;
    HRESULT hr = S_OK;
    *out = (struct xml_document){0};
    if (size > MANIFEST_MOST_BYTES)
        return error_set(MANIFEST_INVALID, "manifest too large: %llu bytes, at most %u are allowed",
                         (unsigned long long)size, MANIFEST_MOST_BYTES);
    if (size >= 2 && ((bytes[0] == 0xFF && bytes[1] == 0xFE) || (bytes[0] == 0xFE && bytes[1] == 0xFF)))
        hr = source_text_decode(xml, size, &own);
    if (SUCCEEDED(hr))
        hr = xml_document_open(own ? own : xml, own ? strlen(own) : size, out);
    memory_free(own);
    if (hr == OPENPLA_E_MALFORMED_XML) {
        struct error_kept why = error_keep(hr);
        return error_set(MANIFEST_INVALID, "%.900s", why.text);
    }
    if (SUCCEEDED(hr) && !manifest_is(out->root, "instrumentationManifest")) {
        hr = manifest_wrong(out->root, NULL, NULL, "the root element must be instrumentationManifest");
        xml_document_close(out);
    }
    return hr;
}

HRESULT manifest_xml_read(const void *xml, size_t size, struct texts *warnings, struct provider_manifests *out)
{
    struct xml_document d;
    struct manifest_reader r = {.document = &d, .warnings = warnings};
    *out = (struct provider_manifests){0};
    HRESULT hr = manifest_open(xml, size, &d);
    if (FAILED(hr))
        return hr;
    hr = manifest_read_strings(&r, d.root);
    if (SUCCEEDED(hr))
        hr = read_providers(&r, d.root, out);
    manifest_strings_free(&r.strings);
    manifest_strings_free(&r.table);
    name_index_free(&r.table_values);
    forget_provider(&r);
    xml_document_close(&d);
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        provider_manifests_free(out);
        return error_restore(&why);
    }
    return S_OK;
}

/* ---- attributes of an instrumentation manifest's elements ---- */

#define EVENTS_NAMESPACE "http://schemas.microsoft.com/win/2004/08/events"
#define WINDOWS_NAMES    "http://manifests.microsoft.com/win/2004/08/windows/events"

HRESULT manifest_wrong(xmlNodePtr element, const char *attribute, const char *value, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    HRESULT hr = xml_invalid(MANIFEST_INVALID, element, attribute, value, format, list);
    va_end(list);
    return hr;
}

bool manifest_is(xmlNodePtr node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0 &&
           (!node->ns || strcmp((const char *)node->ns->href, EVENTS_NAMESPACE) == 0);
}

HRESULT manifest_warn_element(struct manifest_reader *r, xmlNodePtr element, const char *text)
{
    if (!r->warnings)
        return S_OK;
    return texts_add_owned(
        r->warnings, text_format("line %ld: %.60s: %s", xmlGetLineNo(element), (const char *)element->name, text));
}

HRESULT manifest_skip_element(struct manifest_reader *r, xmlNodePtr node)
{
    if (node->type != XML_ELEMENT_NODE || (node->ns && strcmp((const char *)node->ns->href, EVENTS_NAMESPACE) != 0))
        return S_OK;
    return manifest_warn_element(r, node, "the element is ignored");
}

static void text_trim(char *text)
{
    size_t length = strlen(text), blanks = 0;
    while (length && xml_is_blank(text[length - 1]))
        text[--length] = 0;
    while (xml_is_blank(text[blanks]))
        blanks++;
    memmove(text, text + blanks, length - (blanks < length ? blanks : length) + 1);
}

HRESULT manifest_text(struct manifest_reader *r, xmlNodePtr e, const char *name, char **out)
{
    *out = NULL;
    HRESULT hr = xmlHasProp(e, BAD_CAST name) ? xml_element_attribute(r->document, e, name, out) : S_OK;
    if (SUCCEEDED(hr) && *out)
        text_trim(*out);
    return hr;
}

HRESULT manifest_name(struct manifest_reader *r, xmlNodePtr e, const char *name, char **out)
{
    HRESULT hr = manifest_text(r, e, name, out);
    if (SUCCEEDED(hr) && (!*out || !**out)) {
        hr = manifest_wrong(e, name, *out, "the attribute is missing or empty");
        memory_free(*out);
        *out = NULL;
    }
    return hr;
}

HRESULT manifest_number(struct manifest_reader *r, xmlNodePtr e, const char *name, uint64_t low, uint64_t high,
                        uint64_t *out)
{
    char *text;
    uint64_t number;
    HRESULT hr = manifest_text(r, e, name, &text);
    if (FAILED(hr) || !text)
        return FAILED(hr) ? hr : S_FALSE;
    if (!text_to_u64(text, &number))
        hr = manifest_wrong(e, name, text, "not a number");
    else if (number < low || number > high)
        hr = manifest_wrong(e, name, text, "expected %llu to %llu", (unsigned long long)low, (unsigned long long)high);
    else
        *out = number;
    memory_free(text);
    return hr;
}

HRESULT manifest_required_number(struct manifest_reader *r, xmlNodePtr e, const char *name, uint64_t low, uint64_t high,
                                 uint64_t *out)
{
    HRESULT hr = manifest_number(r, e, name, low, high, out);
    return hr == S_FALSE ? manifest_wrong(e, name, NULL, "the attribute is missing") : hr;
}

HRESULT manifest_bool(struct manifest_reader *r, xmlNodePtr e, const char *name, bool *out)
{
    char *text;
    HRESULT hr = manifest_text(r, e, name, &text);
    if (FAILED(hr) || !text)
        return FAILED(hr) ? hr : S_FALSE;
    bool yes = text_equal_nocase(text, "true") || strcmp(text, "1") == 0;
    if (!yes && !text_equal_nocase(text, "false") && strcmp(text, "0") != 0)
        hr = manifest_wrong(e, name, text, "expected true or false");
    else
        *out = yes;
    memory_free(text);
    return hr;
}

HRESULT manifest_guid(struct manifest_reader *r, xmlNodePtr e, const char *name, GUID *out)
{
    char *text;
    HRESULT hr = manifest_text(r, e, name, &text);
    if (FAILED(hr) || !text)
        return FAILED(hr) ? hr : S_FALSE;
    if (!text_to_guid(text, out))
        hr = manifest_wrong(e, name, text, "not a GUID");
    memory_free(text);
    return hr;
}

/* Searches the namespace declarations of the element and its parents; the parser limits the depth. */
static const char *namespace_of(xmlNodePtr e, const char *prefix, size_t length)
{
    for (xmlNodePtr n = e; n && n->type == XML_ELEMENT_NODE; n = n->parent)
        for (xmlNsPtr ns = n->nsDef; ns; ns = ns->next)
            if (ns->prefix && strncmp((const char *)ns->prefix, prefix, length) == 0 && !ns->prefix[length])
                return (const char *)ns->href;
    return length == 3 && strncmp(prefix, "win", 3) == 0 ? WINDOWS_NAMES : "";
}

const char *manifest_local_name(xmlNodePtr e, const char *qname, bool *of_windows)
{
    const char *colon = strchr(qname, ':');
    *of_windows = colon && strcmp(namespace_of(e, qname, (size_t)(colon - qname)), WINDOWS_NAMES) == 0;
    return colon ? colon + 1 : qname;
}

HRESULT manifest_children(struct manifest_reader *r, xmlNodePtr parent, const char *name, manifest_each *each,
                          void *about)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = parent->children; SUCCEEDED(hr) && n; n = n->next)
        hr = manifest_is(n, name) ? each(r, n, about) : manifest_skip_element(r, n);
    return hr;
}

HRESULT manifest_add_name(xmlNodePtr e, const char *attribute, struct name_index *index, const char *name, size_t place)
{
    HRESULT hr = name_index_add(index, name, (uint32_t)place);
    return hr == S_FALSE ? manifest_wrong(e, attribute, name, "the name already exists") : hr;
}

/* ---- events and filters of an instrumentation manifest ---- */

#define VERSIONS     256u
#define BIT_OF_FIRST 63 /* keyword bit that mc assigns to the first channel */

/* Reads the field to which the attribute refers. S_FALSE: the attribute is missing. */
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
        hr = manifest_wrong(e, attribute, text, "no such template is declared");
    memory_free(text);
    return hr;
}

static HRESULT read_descriptor(struct manifest_reader *r, xmlNodePtr e, EVENT_DESCRIPTOR *d)
{
    uint64_t id = 0, version = 0, task = 0, opcode = 0, level = 0, channel = 0, keywords = 0;
    HRESULT hr = manifest_required_number(r, e, "value", 0, UINT16_MAX, &id);
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
        return manifest_wrong(e, NULL, NULL, "an event with value %u and version %u already exists", d.Id, d.Version);
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
    uint8_t *seen =
        memory_zero(65536 * VERSIONS / 8, 1); /* a bit for each (id, version) pair: set if its event was read */
    HRESULT hr = seen ? manifest_children(r, events, "event", read_event, seen) : E_OUTOFMEMORY;
    memory_free(seen);
    return hr;
}

/* ---- filters ---- */

static HRESULT read_filter(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    struct manifest_filter *f = manifest_add_filter(r->p);
    uint64_t value = 0, version = 0;
    (void)about;
    HRESULT hr = f ? manifest_name(r, e, "name", &f->name) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = manifest_required_number(r, e, "value", 0, 255, &value);
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

/* ---- the index of names: open addressing; the tables are at most half full ---- */

#define FIRST_ROOM 32

void name_index_free(struct name_index *index)
{
    memory_free(index->slots);
    *index = (struct name_index){0};
}

/* Returns the slot of the name, or the free slot for inserting it. */
static struct name_place *slot_of(struct name_place *slots, size_t room, const char *name)
{
    uint64_t hash = hash_text(HASH_START, name);
    size_t at = (size_t)(hash ^ hash >> 32) & (room - 1);
    while (slots[at].name && strcmp(slots[at].name, name) != 0)
        at = (at + 1) & (room - 1);
    return &slots[at];
}

static bool name_index_grow(struct name_index *index)
{
    size_t room = index->room ? 2 * index->room : FIRST_ROOM;
    struct name_place *slots = memory_zero(room, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < index->room; i++)
        if (index->slots[i].name)
            *slot_of(slots, room, index->slots[i].name) = index->slots[i];
    memory_free(index->slots);
    index->slots = slots;
    index->room = room;
    return true;
}

HRESULT name_index_add(struct name_index *index, const char *name, uint32_t place)
{
    if (2 * (index->used + 1) > index->room && !name_index_grow(index))
        return E_OUTOFMEMORY;
    struct name_place *slot = slot_of(index->slots, index->room, name);
    if (slot->name)
        return S_FALSE;
    *slot = (struct name_place){name, place};
    index->used++;
    return S_OK;
}

bool name_index_find(const struct name_index *index, const char *name, uint32_t *place)
{
    const struct name_place *slot = index->room ? slot_of(index->slots, index->room, name) : NULL;
    if (!slot || !slot->name)
        return false;
    *place = slot->place;
    return true;
}

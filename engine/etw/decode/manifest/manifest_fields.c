/* SPDX-License-Identifier: MIT */
/* Reads the levels, tasks, opcodes, keywords, channels, maps and string tables of an instrumentation manifest. */
#include "engine/base/memory.h"
#include "engine/etw/manifest_reader.h"
#include "engine/etw/provider_manifest.h"

#include <string.h>

#define LONGEST_NAME     255 /* in characters */
#define MOST_CHANNELS    8
#define FIRST_CHANNEL    16
#define LAST_KEYWORD_BIT 47

/* Returns the message id that mc assigns to a field. */
static uint32_t message_id(enum manifest_kind kind, uint64_t value, uint16_t task)
{
    switch (kind) {
    case MANIFEST_KEYWORDS: {
        uint32_t bit = 0;
        while (bit < 63 && !(value >> bit & 1))
            bit++;
        return 0x10000001u + bit;
    }
    case MANIFEST_LEVELS:
        return 0x50000000u + (uint32_t)value;
    case MANIFEST_CHANNELS:
        /* `value` is the index of the channel. 0x90000001 is the message id of the event provider. */
        return 0x90000002u + (uint32_t)value;
    case MANIFEST_TASKS:
        return 0x70000000u + (uint32_t)value;
    case MANIFEST_OPCODES:
        break;
    }
    return 0x30000000u | (uint32_t)value << 16 | task;
}

/* ---- names ---- */

/* Returns the index key for an opcode that belongs to a task. No name contains '\1'. */
static char *opcode_key(const char *name, uint16_t task)
{
    return text_format("%u\1%s", (unsigned)task, name);
}

static HRESULT know_field(struct manifest_reader *r, xmlNodePtr e, enum manifest_kind kind,
                          const struct manifest_field *f)
{
    const size_t place = r->p->fields[kind].count - 1;
    if (kind != MANIFEST_OPCODES || !f->task)
        return manifest_add_name(e, "name", &r->names[kind], f->name, place);
    char *key = opcode_key(f->name, f->task);
    HRESULT hr = key ? texts_add_owned(&r->keys, key) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = name_index_add(&r->names[kind], key, (uint32_t)place);
    return hr == S_FALSE ? manifest_wrong(e, "name", f->name, "the name already exists in the task") : hr;
}

/* Adds Windows' definition of a field to the event provider's fields, as mc does. */
static HRESULT take_winmeta(struct manifest_reader *r, enum manifest_kind kind, const struct manifest_field *from,
                            const struct manifest_field **out)
{
    const char *text = winmeta_text(from->name);
    uint32_t place;
    if (kind == MANIFEST_CHANNELS || name_index_find(&r->names[kind], from->name, &place)) {
        *out = kind == MANIFEST_CHANNELS ? from : &r->p->fields[kind].items[place];
        return S_OK;
    }
    struct manifest_field *f = manifest_add_field(r->p, kind);
    char *name = f ? text_copy(from->name) : NULL;
    if (!f || !name)
        return E_OUTOFMEMORY;
    f->name = name;
    f->value = from->value;
    *out = f;
    HRESULT hr = name_index_add(&r->names[kind], f->name, (uint32_t)(r->p->fields[kind].count - 1));
    if (SUCCEEDED(hr) && text) {
        f->message = message_id(kind, f->value, 0);
        hr = manifest_add_message(r, f->message, text);
    }
    return hr;
}

/* Finds a field that the manifest declares. S_FALSE: the manifest declares no such name. */
static HRESULT find_declared(struct manifest_reader *r, const char *name, enum manifest_kind kind, uint16_t task,
                             uint32_t *place)
{
    if (kind == MANIFEST_OPCODES && task) {
        char *key = opcode_key(name, task);
        if (!key)
            return E_OUTOFMEMORY;
        const bool of_task = name_index_find(&r->names[kind], key, place);
        memory_free(key);
        if (of_task)
            return S_OK;
    }
    const bool found = name_index_find(&r->names[kind], name, place) ||
                       (kind == MANIFEST_CHANNELS && name_index_find(&r->chids, name, place));
    return found ? S_OK : S_FALSE;
}

HRESULT manifest_find_field(struct manifest_reader *r, xmlNodePtr e, const char *attribute, const char *qname,
                            enum manifest_kind kind, uint16_t task, const struct manifest_field **out)
{
    bool of_windows;
    const char *name = manifest_local_name(e, qname, &of_windows);
    /* In manifests dumped by PerfView, level 0 (LogAlways) has the name "Always". */
    const bool always = kind == MANIFEST_LEVELS && strcmp(name, "Always") == 0;
    const struct manifest_field *windows = of_windows ? winmeta_by_name(kind, always ? "LogAlways" : name) : NULL;
    uint32_t place = 0;
    *out = NULL;
    if (windows)
        return take_winmeta(r, kind, windows, out);
    /* Manifests of Windows' event providers declare names with colons ("ut:Configuration"). */
    HRESULT hr = find_declared(r, qname, kind, task, &place);
    if (hr == S_FALSE && !of_windows && name != qname)
        hr = find_declared(r, name, kind, task, &place);
    if (FAILED(hr))
        return hr;
    if (hr == S_FALSE)
        return manifest_wrong(e, attribute, qname,
                              of_windows ? "Windows defines no such name" : "no such name is declared");
    *out = &r->p->fields[kind].items[place];
    return S_OK;
}

/* ---- levels, tasks, opcodes, keywords ---- */

static HRESULT begin_field(struct manifest_reader *r, xmlNodePtr e, enum manifest_kind kind, struct manifest_field **f)
{
    *f = manifest_add_field(r->p, kind);
    if (!*f)
        return E_OUTOFMEMORY;
    HRESULT hr = manifest_name(r, e, "name", &(*f)->name);
    if (SUCCEEDED(hr) && text_utf16_length((*f)->name) > LONGEST_NAME)
        hr = manifest_wrong(e, "name", (*f)->name, "longer than %u characters", LONGEST_NAME);
    return SUCCEEDED(hr) ? manifest_text(r, e, "symbol", &(*f)->symbol) : hr;
}

static HRESULT end_field(struct manifest_reader *r, xmlNodePtr e, enum manifest_kind kind, struct manifest_field *f)
{
    HRESULT hr = know_field(r, e, kind, f);
    return SUCCEEDED(hr) ? manifest_message(r, e, "message", message_id(kind, f->value, f->task), &f->message) : hr;
}

static HRESULT read_level(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    struct manifest_field *f;
    (void)about;
    HRESULT hr = begin_field(r, e, MANIFEST_LEVELS, &f);
    if (SUCCEEDED(hr))
        hr = manifest_required_number(r, e, "value", 16, 255, &f->value);
    return SUCCEEDED(hr) ? end_field(r, e, MANIFEST_LEVELS, f) : hr;
}

static HRESULT read_opcode(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    const uint16_t *task = about;
    struct manifest_field *f;
    HRESULT hr = begin_field(r, e, MANIFEST_OPCODES, &f);
    if (SUCCEEDED(hr))
        hr = manifest_required_number(r, e, "value", 10, 239, &f->value);
    if (FAILED(hr))
        return hr;
    f->task = task ? *task : 0;
    return end_field(r, e, MANIFEST_OPCODES, f);
}

static HRESULT read_opcodes(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    return manifest_children(r, e, "opcode", read_opcode, about);
}

static HRESULT read_task(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    struct manifest_field *f;
    (void)about;
    HRESULT hr = begin_field(r, e, MANIFEST_TASKS, &f);
    if (SUCCEEDED(hr))
        hr = manifest_required_number(r, e, "value", 0, UINT16_MAX, &f->value);
    if (SUCCEEDED(hr))
        hr = manifest_guid(r, e, "eventGUID", &f->guid);
    if (SUCCEEDED(hr))
        hr = end_field(r, e, MANIFEST_TASKS, f);
    uint16_t value = SUCCEEDED(hr) ? (uint16_t)f->value : 0;
    for (xmlNodePtr n = e->children; SUCCEEDED(hr) && n; n = n->next)
        if (manifest_is(n, "opcode"))
            hr = read_opcode(r, n, &value);
        else
            hr = manifest_is(n, "opcodes") ? read_opcodes(r, n, &value) : manifest_skip_element(r, n);
    return hr;
}

static HRESULT read_mask(struct manifest_reader *r, xmlNodePtr e, uint64_t *out)
{
    char *text, *hex = NULL;
    HRESULT hr = manifest_name(r, e, "mask", &text);
    if (FAILED(hr))
        return hr;
    bool is_number = text_to_u64(text, out);
    if (!is_number) { /* some manifests have hexadecimal digits without 0x */
        hex = text_format("0x%s", text);
        is_number = hex && text_to_u64(hex, out);
        hr = hex ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && !is_number)
        hr = manifest_wrong(e, "mask", text, "not a number");
    else if (SUCCEEDED(hr) && (!*out || *out & (*out - 1)))
        hr = manifest_wrong(e, "mask", text, "expected one of the bits 0 to %u", LAST_KEYWORD_BIT);
    else if (SUCCEEDED(hr) && *out > UINT64_C(1) << LAST_KEYWORD_BIT) /* PerfView declares channels as keywords */
        hr = manifest_warn_element(r, e, "bits 48 to 63 of keywords are reserved for Windows");
    memory_free(hex);
    memory_free(text);
    return hr;
}

static HRESULT read_keyword(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    struct manifest_field *f;
    (void)about;
    HRESULT hr = begin_field(r, e, MANIFEST_KEYWORDS, &f);
    if (SUCCEEDED(hr))
        hr = read_mask(r, e, &f->value);
    return SUCCEEDED(hr) ? end_field(r, e, MANIFEST_KEYWORDS, f) : hr;
}

HRESULT manifest_read_fields(struct manifest_reader *r, xmlNodePtr provider)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = provider->children; SUCCEEDED(hr) && n; n = n->next)
        if (manifest_is(n, "levels"))
            hr = manifest_children(r, n, "level", read_level, NULL);
        else if (manifest_is(n, "opcodes"))
            hr = read_opcodes(r, n, NULL);
        else if (manifest_is(n, "tasks"))
            hr = manifest_children(r, n, "task", read_task, NULL);
        else if (manifest_is(n, "keywords"))
            hr = manifest_children(r, n, "keyword", read_keyword, NULL);
    return hr;
}

/* ---- channels ---- */

/* Reads an attribute whose value must be one of `words`; *out is its index there. NULL ends the list of words. */
static HRESULT read_word(struct manifest_reader *r, xmlNodePtr e, const char *attribute, const char *const *words,
                         uint8_t *out)
{
    char *text;
    HRESULT hr = manifest_text(r, e, attribute, &text);
    size_t i = 0;
    if (FAILED(hr) || !text)
        return hr;
    while (words[i] && !text_equal_nocase(words[i], text))
        i++;
    if (words[i])
        *out = (uint8_t)i;
    else
        hr = manifest_wrong(e, attribute, text, "unknown value");
    memory_free(text);
    return hr;
}

/* Reads a setting, which is an attribute or a child element with text. */
static HRESULT read_setting(struct manifest_reader *r, xmlNodePtr e, struct manifest_channel *c)
{
    static const char *const clocks[] = {"SystemTime", "QPC", NULL}, *const sids[] = {"None", "Publishing", NULL};
    const struct {
        const char *name;
        uint64_t *to;
        const char *const *words;
        bool is_bool;
    } all[] = {
        {"autoBackup", &c->auto_backup, NULL, true},  {"retention", &c->retention, NULL, true},
        {"maxSize", &c->max_size, NULL, false},       {"level", &c->level, NULL, false},
        {"keywords", &c->keywords, NULL, false},      {"bufferSize", &c->buffer_size, NULL, false},
        {"minBuffers", &c->min_buffers, NULL, false}, {"maxBuffers", &c->max_buffers, NULL, false},
        {"latency", &c->latency, NULL, false},        {"fileMax", &c->file_max, NULL, false},
        {"clockType", &c->clock_type, clocks, false}, {"sidType", &c->sid_type, sids, false},
    };
    struct text_buffer b = {0};
    HRESULT hr = S_OK;
    size_t i = 0;
    while (i < sizeof all / sizeof all[0] && !manifest_is(e, all[i].name))
        i++;
    if (i == sizeof all / sizeof all[0])
        return manifest_is(e, "controlGuid") ? S_OK : manifest_skip_element(r, e);
    xml_element_text(e, &b);
    const char *text = b.text ? b.text : "";
    size_t word = 0;
    while (all[i].words && all[i].words[word] && !text_equal_nocase(all[i].words[word], text))
        word++;
    if (b.failed)
        hr = E_OUTOFMEMORY;
    else if (all[i].is_bool && (text_equal_nocase(text, "true") || text_equal_nocase(text, "false")))
        *all[i].to = text_equal_nocase(text, "true");
    else if (all[i].words && all[i].words[word])
        *all[i].to = word;
    else if (all[i].words || !text_to_u64(text, all[i].to))
        hr = manifest_wrong(e, NULL, NULL, "unknown value '%.100s'", text);
    text_buffer_free(&b);
    return hr;
}

static HRESULT read_settings(struct manifest_reader *r, xmlNodePtr channel, struct manifest_channel *c)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = channel->children; SUCCEEDED(hr) && n; n = n->next) {
        bool settings = manifest_is(n, "logging") || manifest_is(n, "publishing");
        for (xmlNodePtr s = settings ? n->children : NULL; SUCCEEDED(hr) && s; s = s->next)
            if (s->type == XML_ELEMENT_NODE)
                hr = read_setting(r, s, c);
        if (SUCCEEDED(hr) && !settings)
            hr = manifest_skip_element(r, n);
    }
    return hr;
}

static HRESULT read_attributes(struct manifest_reader *r, xmlNodePtr e, struct manifest_channel *c)
{
    static const char *const types[] = {"Admin", "Operational", "Analytic", "Debug", NULL};
    static const char *const isolations[] = {"Application", "System", "Custom", NULL};
    HRESULT hr = manifest_text(r, e, "chid", &c->chid);
    if (SUCCEEDED(hr) && !c->imported && !xmlHasProp(e, BAD_CAST "type"))
        hr = manifest_wrong(e, "type", NULL, "the attribute is missing");
    if (SUCCEEDED(hr))
        hr = read_word(r, e, "type", types, &c->type);
    if (SUCCEEDED(hr))
        hr = read_word(r, e, "isolation", isolations, &c->isolation);
    if (SUCCEEDED(hr))
        hr = manifest_bool(r, e, "enabled", &c->enabled);
    if (SUCCEEDED(hr))
        hr = manifest_text(r, e, "access", &c->access);
    return SUCCEEDED(hr) ? read_settings(r, e, c) : hr;
}

static bool is_taken(const struct manifest_fields *channels, uint64_t value)
{
    for (size_t i = 0; i + 1 < channels->count; i++)
        if (channels->items[i].value == value)
            return true;
    return false;
}

static HRESULT read_channel(struct manifest_reader *r, xmlNodePtr e, bool imported)
{
    struct manifest_fields *all = &r->p->fields[MANIFEST_CHANNELS];
    struct manifest_field *f;
    HRESULT hr = begin_field(r, e, MANIFEST_CHANNELS, &f);
    if (FAILED(hr))
        return hr;
    if (all->count > MOST_CHANNELS)
        return manifest_wrong(e, "name", f->name, "more than %u channels", MOST_CHANNELS);
    f->channel = memory_alloc(sizeof *f->channel);
    if (!f->channel)
        return E_OUTOFMEMORY;
    *f->channel = (struct manifest_channel){.imported = imported,
                                            .auto_backup = MANIFEST_UNSAID,
                                            .retention = MANIFEST_UNSAID,
                                            .max_size = MANIFEST_UNSAID,
                                            .level = MANIFEST_UNSAID,
                                            .keywords = MANIFEST_UNSAID,
                                            .buffer_size = MANIFEST_UNSAID,
                                            .min_buffers = MANIFEST_UNSAID,
                                            .max_buffers = MANIFEST_UNSAID,
                                            .latency = MANIFEST_UNSAID,
                                            .clock_type = MANIFEST_UNSAID,
                                            .sid_type = MANIFEST_UNSAID,
                                            .file_max = MANIFEST_UNSAID};
    const struct manifest_field *windows = imported ? winmeta_by_name(MANIFEST_CHANNELS, f->name) : NULL;
    for (f->value = FIRST_CHANNEL; is_taken(all, f->value);)
        f->value++;
    if (windows)
        f->value = windows->value;
    hr = manifest_number(r, e, "value", 0, 255, &f->value);
    if (SUCCEEDED(hr))
        hr = read_attributes(r, e, f->channel);
    if (SUCCEEDED(hr) && is_taken(all, f->value))
        hr = manifest_wrong(e, "name", f->name, "another channel already has the value %u", (unsigned)f->value);
    if (SUCCEEDED(hr))
        hr = know_field(r, e, MANIFEST_CHANNELS, f);
    if (SUCCEEDED(hr) && f->channel->chid)
        hr = manifest_add_name(e, "chid", &r->chids, f->channel->chid, all->count - 1);
    return SUCCEEDED(hr)
               ? manifest_message(r, e, "message", message_id(MANIFEST_CHANNELS, all->count - 1, 0), &f->message)
               : hr;
}

HRESULT manifest_read_channels(struct manifest_reader *r, xmlNodePtr channels)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = channels->children; SUCCEEDED(hr) && n; n = n->next)
        if (manifest_is(n, "channel") || manifest_is(n, "importChannel"))
            hr = read_channel(r, n, manifest_is(n, "importChannel"));
        else
            hr = manifest_skip_element(r, n);
    return hr;
}

/* ---- maps ---- */

static HRESULT read_entry(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    struct manifest_map *map = about;
    struct manifest_map_entry *entry = manifest_add_map_entry(map);
    uint64_t value;
    HRESULT hr = entry ? manifest_required_number(r, e, "value", 0, UINT32_MAX, &value) : E_OUTOFMEMORY;
    if (FAILED(hr))
        return hr;
    entry->value = (uint32_t)value;
    /* This is only a warning, because .NET's EventSource writes all names of a flags enumeration, including 0 and
       combinations of bits. */
    if (map->bits && value & (value - 1))
        hr = manifest_warn_element(
            r, e, "the value has several bits (its string is also shown for every value that has all these bits)");
    if (SUCCEEDED(hr) && !xmlHasProp(e, BAD_CAST "message"))
        hr = manifest_wrong(e, "message", NULL, "the attribute is missing");
    if (SUCCEEDED(hr))
        hr = manifest_text(r, e, "symbol", &entry->symbol);
    return SUCCEEDED(hr) ? manifest_message(r, e, "message", 0xD0000001u + r->map_messages++, &entry->message) : hr;
}

HRESULT manifest_read_maps(struct manifest_reader *r, xmlNodePtr maps)
{
    HRESULT hr = S_OK;
    for (xmlNodePtr n = maps->children; SUCCEEDED(hr) && n; n = n->next) {
        if (!manifest_is(n, "valueMap") && !manifest_is(n, "bitMap")) {
            hr = manifest_skip_element(r, n);
            continue;
        }
        struct manifest_map *map = manifest_add_map(r->p);
        hr = map ? manifest_name(r, n, "name", &map->name) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            hr = manifest_add_name(n, "name", &r->maps, map->name, r->p->map_count - 1);
        if (SUCCEEDED(hr))
            hr = manifest_text(r, n, "symbol", &map->symbol);
        if (SUCCEEDED(hr)) {
            map->bits = manifest_is(n, "bitMap");
            hr = manifest_children(r, n, "map", read_entry, map);
        }
    }
    return hr;
}

/* ---- string tables and the messages built from them: $(string.ID) and $(mc.SYMBOL) ---- */

#define LONGEST_MESSAGE (1u << 16)  /* bytes of one message, after its references are replaced */
#define ALL_MESSAGES    (64u << 20) /* bytes of all messages; many events can refer to one string */

void manifest_strings_free(struct manifest_strings *s)
{
    for (size_t i = 0; i < s->count; i++) {
        memory_free(s->items[i].id);
        memory_free(s->items[i].text);
    }
    memory_free(s->items);
    texts_free(&s->cultures);
    name_index_free(&s->by_id);
    *s = (struct manifest_strings){0};
}

/* Returns the string with this id in the culture; NULL: the culture does not have the id. */
static const char *find_string(const struct manifest_strings *s, const char *id, size_t culture)
{
    uint32_t first;
    if (!name_index_find(&s->by_id, id, &first))
        return NULL;
    for (size_t i = (size_t)first + 1; i; i = s->items[i - 1].next)
        if (s->items[i - 1].culture == culture)
            return s->items[i - 1].text;
    return NULL;
}

/* Adds a string and takes ownership of `id` and `text`. Returns S_FALSE if the culture already has the id; the existing
   string remains. */
static HRESULT add_string(struct manifest_strings *s, size_t culture, char *id, char *text)
{
    void *items = s->items;
    uint32_t first;
    if (find_string(s, id, culture)) {
        memory_free(id);
        memory_free(text);
        return S_FALSE;
    }
    bool room = memory_grow(&items, &s->capacity, s->count + 1, sizeof *s->items);
    s->items = items;
    if (!room) {
        memory_free(id);
        memory_free(text);
        return E_OUTOFMEMORY;
    }
    struct manifest_string *one = &s->items[s->count++];
    *one = (struct manifest_string){.id = id, .text = text, .culture = culture};
    if (!name_index_find(&s->by_id, id, &first))
        return name_index_add(&s->by_id, id, (uint32_t)(s->count - 1));
    one->next = s->items[first].next;
    s->items[first].next = s->count;
    return S_OK;
}

static HRESULT read_string(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    const size_t *culture = about;
    char *id, *text = NULL;
    HRESULT hr = manifest_name(r, e, "id", &id);
    if (SUCCEEDED(hr))
        hr = xml_element_attribute(r->document, e, "value", &text);
    if (SUCCEEDED(hr) && !text)
        hr = manifest_wrong(e, "value", NULL, "the attribute is missing");
    if (!text) {
        memory_free(id);
        return hr;
    }
    /* In manifests dumped by PerfView, a string can occur twice: for a keyword and for a task with the same name. */
    const char *before = find_string(&r->strings, id, *culture);
    const bool differs = before && strcmp(before, text) != 0;
    hr = add_string(&r->strings, *culture, id, text);
    if (hr == S_FALSE && differs)
        hr = manifest_warn_element(r, e, "an earlier string has the same id and is used instead");
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT read_table(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    return manifest_children(r, e, "string", read_string, about);
}

static HRESULT read_resources(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    char *culture;
    (void)about;
    HRESULT hr = manifest_name(r, e, "culture", &culture);
    size_t index = 0;
    if (FAILED(hr))
        return hr;
    while (index < r->strings.cultures.count && !text_equal_nocase(r->strings.cultures.items[index], culture))
        index++;
    if (index < r->strings.cultures.count)
        memory_free(culture);
    else if (index == 256)
        hr = manifest_wrong(e, "culture", culture, "more than 256 cultures"), memory_free(culture);
    else
        hr = texts_add_owned(&r->strings.cultures, culture);
    return SUCCEEDED(hr) ? manifest_children(r, e, "stringTable", read_table, &index) : hr;
}

HRESULT manifest_read_localization(struct manifest_reader *r, xmlNodePtr localization)
{
    return manifest_children(r, localization, "resources", read_resources, NULL);
}

static HRESULT read_message(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    char *symbol, *text = NULL;
    uint64_t value = 0;
    (void)about;
    HRESULT hr = manifest_text(r, e, "symbol", &symbol);
    if (SUCCEEDED(hr))
        hr = manifest_required_number(r, e, "value", 0, UINT32_MAX, &value);
    if (SUCCEEDED(hr))
        hr = manifest_name(r, e, "message", &text);
    if (FAILED(hr) || !symbol) {
        memory_free(symbol);
        memory_free(text);
        return hr;
    }
    if (find_string(&r->table, symbol, 0)) {
        hr = manifest_wrong(e, "symbol", symbol, "the name already exists");
        memory_free(symbol);
        memory_free(text);
        return hr;
    }
    hr = add_string(&r->table, 0, symbol, text);
    return SUCCEEDED(hr) ? name_index_add(&r->table_values, symbol, (uint32_t)value) : hr;
}

HRESULT manifest_read_message_table(struct manifest_reader *r, xmlNodePtr table)
{
    return manifest_children(r, table, "message", read_message, NULL);
}

/* Returns the end of a reference whose id begins at `id`. An id can contain parentheses, as in $(string.task_Read(2)).
   There are three candidates: the closing parenthesis after which no parenthesis is open, the first closing
   parenthesis, and the last closing parenthesis before the next reference. Returns the first candidate that ends an
   existing id, or the first candidate if no candidate ends an existing id. NULL: there is no closing parenthesis. */
static const char *reference_end(const struct manifest_reader *r, const char *id, size_t culture, HRESULT *hr)
{
    const char *next = strstr(id, "$("), *stop = next ? next : id + strlen(id);
    const char *first = NULL, *balanced = NULL, *last = NULL;
    size_t depth = 0;
    for (const char *at = id; at < stop; at++) {
        if (*at == ')') {
            first = first ? first : at;
            last = at;
            balanced = balanced || depth != 0 ? balanced : at;
            depth -= depth != 0;
        } else {
            depth += *at == '(';
        }
    }
    const char *const ends[] = {balanced, first, last};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *name = ends[i] ? text_copy_n(id, (size_t)(ends[i] - id)) : NULL;
        if (ends[i] && !name)
            *hr = E_OUTOFMEMORY;
        const bool found = name && find_string(&r->strings, name, culture);
        memory_free(name);
        if (found)
            return ends[i];
    }
    return balanced ? balanced : first;
}

/* Replaces the references with the culture's strings. Returns S_FALSE if a string does not exist, and sets *missing to
   its id. */
static HRESULT text_resolve_strings(const struct manifest_reader *r, const char *text, size_t culture, char **out,
                                    char **missing)
{
    static const char begin[] = "$(string.";
    struct text_buffer b = {0};
    *out = NULL;
    for (const char *at; (at = strstr(text, begin)) != NULL;) {
        HRESULT hr = S_OK;
        const char *id = at + sizeof begin - 1, *end = reference_end(r, id, culture, &hr);
        if (FAILED(hr)) {
            text_buffer_free(&b);
            return hr;
        }
        if (!end)
            break;
        char *name = text_copy_n(id, (size_t)(end - id));
        const char *found = name ? find_string(&r->strings, name, culture) : NULL;
        if (!found || b.length + strlen(found) > LONGEST_MESSAGE) {
            memory_free(*missing);
            *missing = name;
            text_buffer_free(&b);
            return name ? S_FALSE : E_OUTOFMEMORY;
        }
        memory_free(name);
        text_buffer_add_n(&b, text, (size_t)(at - text));
        text_buffer_add(&b, found);
        text = end + 1;
    }
    text_buffer_add(&b, text);
    *out = text_buffer_take(&b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT add_messages(struct manifest_reader *r, xmlNodePtr e, const char *attribute, uint32_t id,
                            const char *text)
{
    const size_t cultures = r->strings.cultures.count;
    char *missing = NULL;
    size_t added = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < (cultures ? cultures : 1); i++) {
        char *whole;
        hr = text_resolve_strings(r, text, i, &whole, &missing);
        if (hr == S_OK) {
            hr = message_tables_add(&r->p->messages, cultures ? r->strings.cultures.items[i] : "", id, whole);
            added++;
            r->message_bytes += strlen(whole) + sizeof(struct message);
        }
        memory_free(whole);
    }
    if (SUCCEEDED(hr) && r->message_bytes > ALL_MESSAGES)
        hr = manifest_wrong(e, attribute, text, "the messages need more than %u bytes", ALL_MESSAGES);
    if (SUCCEEDED(hr) && !added)
        hr = manifest_wrong(e, attribute, text, "no culture has the string '%.100s'", missing ? missing : "");
    memory_free(missing);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT manifest_message(struct manifest_reader *r, xmlNodePtr e, const char *attribute, uint32_t id, uint32_t *to)
{
    static const char begin[] = "$(mc.";
    char *text;
    HRESULT hr = manifest_text(r, e, attribute, &text);
    if (FAILED(hr) || !text)
        return hr;
    const char *whole = text;
    char *symbol = NULL;
    size_t length = strlen(text);
    if (strncmp(text, begin, sizeof begin - 1) == 0 && text[length - 1] == ')') {
        symbol = text_copy_n(text + sizeof begin - 1, length - sizeof begin);
        const char *name = symbol && strncmp(symbol, "message.", 8) == 0 ? symbol + 8 : symbol;
        whole = name ? find_string(&r->table, name, 0) : NULL;
        if (!symbol)
            hr = E_OUTOFMEMORY;
        else if (!whole || !name_index_find(&r->table_values, name, &id))
            hr = manifest_wrong(e, attribute, text, "no message in messageTable has this symbol");
    }
    if (SUCCEEDED(hr))
        hr = add_messages(r, e, attribute, id, whole);
    if (SUCCEEDED(hr))
        *to = id;
    memory_free(symbol);
    memory_free(text);
    return hr;
}

HRESULT manifest_plain_text(struct manifest_reader *r, xmlNodePtr e, const char *attribute, char **out)
{
    const size_t cultures = r->strings.cultures.count;
    size_t english = 0;
    char *text, *missing = NULL;
    *out = NULL;
    HRESULT hr = manifest_text(r, e, attribute, &text);
    if (FAILED(hr) || !text)
        return hr;
    for (size_t i = cultures; i > 0; i--)
        if (text_matches("en*", r->strings.cultures.items[i - 1]))
            english = i - 1;
    hr = text_resolve_strings(r, text, english, out, &missing);
    for (size_t i = 0; hr == S_FALSE && i < cultures; i++)
        hr = text_resolve_strings(r, text, i, out, &missing);
    if (hr == S_FALSE)
        hr = manifest_wrong(e, attribute, text, "no culture has the string '%.100s'", missing);
    memory_free(missing);
    memory_free(text);
    return hr;
}

HRESULT manifest_add_message(struct manifest_reader *r, uint32_t id, const char *text)
{
    const size_t cultures = r->strings.cultures.count;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < (cultures ? cultures : 1); i++)
        hr = message_tables_add(&r->p->messages, cultures ? r->strings.cultures.items[i] : "", id, text);
    return hr;
}

/* SPDX-License-Identifier: MIT */
/* Manages event providers in memory: creation by readers, lookup, and the definitions that Windows has for all event
   providers. */
#include "engine/etw/provider_manifest.h"

#include "engine/base/memory.h"

#include <stdlib.h>
#include <string.h>

static void free_texts(char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memory_free(texts[i]);
}
#define FREE_TEXTS(...) free_texts((char *const[]){__VA_ARGS__}, sizeof((char *const[]){__VA_ARGS__}) / sizeof(char *))

static void manifest_template_clear(struct manifest_template *t)
{
    for (size_t i = 0; i < t->property_count; i++)
        FREE_TEXTS(t->properties[i].name, t->properties[i].map, (char *)t->properties[i].custom);
    memory_free(t->properties);
    FREE_TEXTS(t->name, t->user_data);
    *t = (struct manifest_template){0};
}

static void free_field(struct manifest_field *f)
{
    FREE_TEXTS(f->name, f->symbol);
    if (f->channel)
        FREE_TEXTS(f->channel->chid, f->channel->access);
    memory_free(f->channel);
}

static void free_map(struct manifest_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        memory_free(map->entries[i].symbol);
    memory_free(map->entries);
    FREE_TEXTS(map->name, map->symbol);
}

void provider_manifest_free(struct provider_manifest *m)
{
    if (!m)
        return;
    FREE_TEXTS(m->name, m->symbol, m->resource_file, m->message_file, m->parameter_file, m->help_link);
    for (size_t kind = 0; kind < MANIFEST_KINDS; kind++) {
        for (size_t i = 0; i < m->fields[kind].count; i++)
            free_field(&m->fields[kind].items[i]);
        memory_free(m->fields[kind].items);
    }
    for (size_t i = 0; i < m->map_count; i++)
        free_map(&m->maps[i]);
    for (size_t i = 0; i < m->layout_count; i++)
        manifest_template_clear(&m->layouts[i]);
    for (size_t i = 0; i < m->filter_count; i++)
        FREE_TEXTS(m->filters[i].name, m->filters[i].symbol);
    for (size_t i = 0; i < m->event_count; i++)
        FREE_TEXTS(m->events[i].symbol, m->events[i].attributes);
    memory_free(m->maps);
    memory_free(m->layouts);
    memory_free(m->filters);
    memory_free(m->events);
    message_tables_free(&m->messages);
    message_tables_free(&m->parameters);
    memory_free(m);
}

void provider_manifests_free(struct provider_manifests *list)
{
    for (size_t i = 0; i < list->count; i++)
        provider_manifest_free(list->items[i]);
    memory_free(list->items);
    *list = (struct provider_manifests){0};
}

/* ---- creation by the readers ---- */

struct provider_manifest *provider_manifest_create(const GUID *guid)
{
    struct provider_manifest *m = memory_zero(1, sizeof *m);
    if (m) {
        m->guid = *guid;
        m->message = MESSAGE_NONE;
    }
    return m;
}

static void *add_one(void **items, size_t *count, size_t *capacity, size_t size)
{
    if (!memory_grow(items, capacity, *count + 1, size))
        return NULL;
    return memset((char *)*items + (*count)++ * size, 0, size);
}
#define ADD_ONE(items, count, capacity)                                                                                \
    void *all = (items);                                                                                               \
    void *one = add_one(&all, &(count), &(capacity), sizeof *(items));                                                 \
    (items) = all

struct manifest_field *manifest_add_field(struct provider_manifest *m, enum manifest_kind kind)
{
    struct manifest_fields *f = &m->fields[kind];
    ADD_ONE(f->items, f->count, f->capacity);
    if (one)
        ((struct manifest_field *)one)->message = MESSAGE_NONE;
    return one;
}

struct manifest_map *manifest_add_map(struct provider_manifest *m)
{
    ADD_ONE(m->maps, m->map_count, m->map_capacity);
    return one;
}

struct manifest_map_entry *manifest_add_map_entry(struct manifest_map *map)
{
    ADD_ONE(map->entries, map->count, map->capacity);
    if (one)
        ((struct manifest_map_entry *)one)->message = MESSAGE_NONE;
    return one;
}

struct manifest_template *manifest_add_template(struct provider_manifest *m)
{
    ADD_ONE(m->layouts, m->layout_count, m->layout_capacity);
    return one;
}

struct manifest_filter *manifest_add_filter(struct provider_manifest *m)
{
    ADD_ONE(m->filters, m->filter_count, m->filter_capacity);
    if (one)
        *(struct manifest_filter *)one = (struct manifest_filter){.message = MESSAGE_NONE, .layout = MANIFEST_NO_INDEX};
    return one;
}

struct manifest_event *manifest_add_event(struct provider_manifest *m)
{
    ADD_ONE(m->events, m->event_count, m->event_capacity);
    if (one)
        *(struct manifest_event *)one = (struct manifest_event){.message = MESSAGE_NONE, .layout = MANIFEST_NO_INDEX};
    return one;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_id(const void *a, const void *b)
{
    const EVENT_DESCRIPTOR *x = &((const struct manifest_event *)a)->descriptor;
    const EVENT_DESCRIPTOR *y = &((const struct manifest_event *)b)->descriptor;
    int ids = compare_numbers(x->Id, y->Id);
    return ids ? ids : compare_numbers(x->Version, y->Version);
}

void provider_manifest_finish(struct provider_manifest *m)
{
    if (m->event_count)
        qsort(m->events, m->event_count, sizeof *m->events, by_id);
    message_tables_sort(&m->messages);
    message_tables_sort(&m->parameters);
}

/* ---- lookup ---- */

const struct manifest_event *provider_manifest_event(const struct provider_manifest *m, uint16_t id, uint8_t version)
{
    const struct manifest_event wanted = {.descriptor = {.Id = id, .Version = version}};
    return m->event_count ? bsearch(&wanted, m->events, m->event_count, sizeof wanted, by_id) : NULL;
}

const struct manifest_field *provider_manifest_field(const struct provider_manifest *m, enum manifest_kind kind,
                                                     uint64_t value, uint16_t task)
{
    const struct manifest_field *of_all = NULL;
    for (size_t i = 0; i < m->fields[kind].count; i++) {
        const struct manifest_field *f = &m->fields[kind].items[i];
        if (f->value != value)
            continue;
        if (kind != MANIFEST_OPCODES || (f->task == task && task))
            return f;
        if (!of_all && f->task == 0)
            of_all = f;
    }
    return of_all ? of_all : winmeta_by_value(kind, value);
}

const char *manifest_field_message(const struct provider_manifest *m, const struct manifest_field *f,
                                   const char *languages)
{
    const char *text = message_tables_find(&m->messages, f->message, languages);
    return text || !f->name ? text : winmeta_text(f->name);
}

/* Returns the message of a field, or its name if it has no message, borrowed. NULL: the field has neither a message nor
   a name. */
static const char *manifest_field_text(const struct provider_manifest *m, const struct manifest_field *f,
                                       const char *languages)
{
    const char *text = manifest_field_message(m, f, languages);
    return text ? text : f->name;
}

/* ---- schemas ---- */

struct schema_making {
    const struct provider_manifest *m;
    const struct manifest_event *e;
    const char *languages;
    struct event_schema *s;
};

/* Copies a text; NULL stays NULL. False: out of memory. */
static bool copy_text(char **to, const char *text)
{
    *to = text ? text_copy(text) : NULL;
    return !text || *to;
}

static bool copy_field(const struct schema_making *k, enum manifest_kind kind, uint64_t value, char **to)
{
    const struct manifest_field *f = provider_manifest_field(k->m, kind, value, k->s->descriptor.Task);
    return copy_text(to, f ? manifest_field_text(k->m, f, k->languages) : NULL);
}

/* Copies the names of the keywords. The bit that mc assigns to a channel is not a keyword and has no name, so it is
   skipped. */
static bool copy_keywords(struct schema_making *k)
{
    struct event_schema *s = k->s;
    s->keyword_names = memory_zero(64, sizeof *s->keyword_names);
    for (unsigned bit = 0; s->keyword_names && bit < 64; bit++) {
        const uint64_t mask = UINT64_C(1) << bit;
        const struct manifest_field *f =
            s->descriptor.Keyword & mask ? provider_manifest_field(k->m, MANIFEST_KEYWORDS, mask, 0) : NULL;
        const char *text = f ? manifest_field_text(k->m, f, k->languages) : NULL;
        if (!text || (bit >= 56 && strncmp(text, "win:", 4) == 0))
            continue;
        if (!copy_text(&s->keyword_names[s->keyword_count], text))
            return false;
        s->keyword_count++;
    }
    return s->keyword_names;
}

static bool copy_names(struct schema_making *k)
{
    const EVENT_DESCRIPTOR *d = &k->s->descriptor;
    char guid[39];
    text_from_guid(&k->m->guid, guid);
    const struct manifest_field *task = provider_manifest_field(k->m, MANIFEST_TASKS, d->Task, 0);
    if (task)
        k->s->event = task->guid;
    return copy_text(&k->s->provider_name, k->m->name ? k->m->name : guid) &&
           copy_text(&k->s->provider_message, message_tables_find(&k->m->messages, k->m->message, k->languages)) &&
           copy_text(&k->s->event_message, message_tables_find(&k->m->messages, k->e->message, k->languages)) &&
           copy_text(&k->s->event_attributes, k->e->attributes) &&
           (d->Level == 0 || copy_field(k, MANIFEST_LEVELS, d->Level, &k->s->level_name)) &&
           (d->Channel == 0 || copy_field(k, MANIFEST_CHANNELS, d->Channel, &k->s->channel_name)) &&
           (d->Task == 0 || copy_field(k, MANIFEST_TASKS, d->Task, &k->s->task_name)) &&
           copy_field(k, MANIFEST_OPCODES, d->Opcode, &k->s->opcode_name) && copy_keywords(k);
}

static bool copy_properties(struct schema_making *k, const struct manifest_template *t)
{
    struct event_schema *s = k->s;
    s->properties = memory_zero(t->property_count, sizeof *s->properties);
    for (size_t i = 0; s->properties && i < t->property_count; i++) {
        const struct event_property *from = &t->properties[i];
        struct event_property *to = &s->properties[s->property_count++];
        *to = *from;
        to->custom = NULL;
        to->custom_size = 0;
        bool whole = copy_text(&to->name, from->name);
        if (!copy_text(&to->map, from->map) || !whole)
            return false;
    }
    s->top_level = t->top_level;
    s->template_flags = t->user_data ? 2 : 1; /* TEMPLATE_USER_DATA, TEMPLATE_EVENT_DATA */
    return s->properties && copy_text(&s->user_data, t->user_data);
}

static const struct manifest_map *find_map(const struct provider_manifest *m, const char *name)
{
    for (size_t i = 0; i < m->map_count; i++)
        if (strcmp(m->maps[i].name, name) == 0)
            return &m->maps[i];
    return NULL;
}

/* Copies a map. An entry whose text cannot be found is shown as its number. */
static bool copy_map(struct schema_making *k, const struct manifest_map *from)
{
    struct event_map *to = &k->s->maps[k->s->map_count++];
    to->flag = from->bits ? MAP_MANIFEST_BITS : MAP_MANIFEST_VALUES;
    to->entries = memory_zero(from->count, sizeof *to->entries);
    if (!copy_text(&to->name, from->name) || !to->entries)
        return false;
    for (size_t i = 0; i < from->count; i++) {
        const char *text = message_tables_find(&k->m->messages, from->entries[i].message, k->languages);
        struct event_map_entry *entry = &to->entries[to->count++];
        entry->value = from->entries[i].value;
        entry->text = text ? text_copy(text) : text_format("%u", (unsigned)entry->value);
        if (!entry->text)
            return false;
        size_t length = strlen(entry->text);
        if (length && entry->text[length - 1] == ' ')
            entry->text[length - 1] = 0;
    }
    return true;
}

static bool copy_maps(struct schema_making *k)
{
    struct event_schema *s = k->s;
    s->maps = memory_zero(s->property_count, sizeof *s->maps);
    for (size_t i = 0; s->maps && i < s->property_count; i++) {
        const char *name = s->properties[i].map;
        const struct manifest_map *map = name ? find_map(k->m, name) : NULL;
        if (map && !event_schema_map(s, name) && !copy_map(k, map))
            return false;
    }
    return s->maps;
}

HRESULT provider_manifest_schema(const struct provider_manifest *m, const EVENT_DESCRIPTOR *descriptor,
                                 const char *languages, struct event_schema **out)
{
    *out = NULL;
    const struct manifest_event *e = provider_manifest_event(m, descriptor->Id, descriptor->Version);
    if (!e) {
        error_set(S_FALSE, "the manifest of '%s' has no event %u of version %u", m->name ? m->name : "the provider",
                  descriptor->Id, descriptor->Version);
        return S_FALSE;
    }
    struct event_schema *s = memory_zero(1, sizeof *s);
    struct schema_making k = {m, e, languages, s};
    if (!s)
        return E_OUTOFMEMORY;
    s->source = SCHEMA_MANIFEST;
    s->provider = m->guid;
    s->descriptor = *descriptor;
    const struct manifest_template *t = e->layout < m->layout_count ? &m->layouts[e->layout] : NULL;
    HRESULT hr = copy_names(&k) && (!t || copy_properties(&k, t)) && copy_maps(&k) ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = event_schema_check(s);
    if (FAILED(hr)) {
        event_schema_free(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

/* ---- Windows' definitions for all event providers, as fields of a manifest ---- */

struct winmeta_row {
    enum manifest_kind kind;
    const char *text;
    struct manifest_field field;
};
/* The names are string literals; these fields are never freed or changed. */
#define ROW(of, called, number, shown)                                                                                 \
    {MANIFEST_##of, (shown), {.name = (char *)("win:" called), .value = (number), .message = MESSAGE_NONE}},
#define LEVEL(called, number, shown)   ROW(LEVELS, called, number, shown)
#define OPCODE(called, number, shown)  ROW(OPCODES, called, number, shown)
#define TASK(called, number, shown)    ROW(TASKS, called, number, shown)
#define KEYWORD(called, number, shown) ROW(KEYWORDS, called, number, shown)
#define CHANNEL(called, number)        ROW(CHANNELS, called, number, called)
static const struct winmeta_row rows[] = {
#include "engine/etw/winmeta.def"
};
#undef ROW

#define ROWS     (sizeof rows / sizeof rows[0])
#define PREFIXED 4 /* length of "win:" */

const struct manifest_field *winmeta_by_name(enum manifest_kind kind, const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == kind && strcmp(rows[i].field.name + PREFIXED, name) == 0)
            return &rows[i].field;
    return NULL;
}

const struct manifest_field *winmeta_by_value(enum manifest_kind kind, uint64_t value)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == kind && rows[i].field.value == value)
            return &rows[i].field;
    return NULL;
}

const char *winmeta_text(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].field.name, name) == 0)
            return rows[i].text;
    return NULL;
}

const char *winmeta_text_of(enum manifest_kind kind, uint64_t value)
{
    const struct manifest_field *field = winmeta_by_value(kind, value);
    return field ? winmeta_text(field->name) : NULL;
}

/* SPDX-License-Identifier: MIT */
/* Combines the classes of all MOF files: resolves inheritance and languages, and builds the index that finds the class
   of an event. */
#include "engine/etw/mof_classes.h"

#include "engine/base/memory.h"
#include "engine/etw/decode/mof/mof_text.h"

#include <stdlib.h>
#include <string.h>

#define ENGLISH 0x409

/* The key with which an event's class is found. */
struct event_key {
    GUID event;
    uint8_t type;
    uint32_t version; /* NEWEST: the class has no version */
    size_t order;     /* position of the key among all keys; if keys are equal, the last key is used */
    size_t index, at; /* index in `events`, and in that event's list of types */
};
#define NEWEST 0x10000u

/* The table is built from all documents together. It borrows the classes of the documents. */
struct class_table {
    const struct mof_class **classes; /* the classes without a language, by name */
    size_t class_count;
    const struct mof_class **texts; /* the classes with a language, by name */
    size_t text_count;
    struct mof_event_class *events;
    size_t event_count, event_capacity;
    struct event_key *keys;
    size_t key_count, key_capacity;
    struct mof_provider *providers;
    size_t provider_count, provider_capacity;
};

struct mof_classes {
    struct mof_document **documents;
    size_t count, capacity;
    bool has_shipped; /* the first document is the built-in MOF source */
    uint16_t language;
    struct class_table table;
};

static void table_clear(struct class_table *t)
{
    memory_free(t->classes);
    memory_free(t->texts);
    memory_free(t->events);
    memory_free(t->keys);
    memory_free(t->providers);
    *t = (struct class_table){0};
}

void mof_classes_free(struct mof_classes *c)
{
    if (!c)
        return;
    table_clear(&c->table);
    for (size_t i = 0; i < c->count; i++)
        mof_document_free(c->documents[i]);
    memory_free(c->documents);
    memory_free(c);
}

void mof_classes_language(struct mof_classes *c, uint16_t language)
{
    c->language = language;
}

/* ---- by name ---- */

static int compare_classes(const void *a, const void *b)
{
    const struct mof_class *const *x = a, *const *y = b;
    return text_compare_nocase((*x)->name, (*y)->name);
}

static int compare_name(const void *name, const void *of)
{
    const struct mof_class *const *c = of;
    return text_compare_nocase(name, (*c)->name);
}

static const struct mof_class *find_class(const struct class_table *t, const char *name)
{
    const struct mof_class *const *found = bsearch(name, t->classes, t->class_count, sizeof *t->classes, compare_name);
    return found ? *found : NULL;
}

const struct mof_class *mof_classes_find(const struct mof_classes *c, const char *name)
{
    return find_class(&c->table, name);
}

static const struct mof_class *find_base(const struct class_table *t, const struct mof_class *of)
{
    return of->superclass ? find_class(t, of->superclass) : NULL;
}

const struct mof_class *mof_classes_base(const struct mof_classes *c, const struct mof_class *of)
{
    return find_base(&c->table, of);
}

/* Keeps the last class of each name. Within one file, equal names are an error. */
static HRESULT keep_last(struct class_table *t, const struct mof_document *newest)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->class_count; i++) {
        const struct mof_class *c = t->classes[i];
        const struct mof_class *last = kept ? t->classes[kept - 1] : NULL;
        if (!last || !text_equal_nocase(last->name, c->name)) {
            t->classes[kept++] = c;
            continue;
        }
        if (last->source == c->source && c->source == newest->source)
            return error_set(MOF_E_ALREADY_EXISTS, "%s(%u): the class '%s' already exists in line %u", c->source,
                             (unsigned)(c->line > last->line ? c->line : last->line), c->name,
                             (unsigned)(c->line > last->line ? last->line : c->line));
        t->classes[kept - 1] = c;
    }
    t->class_count = kept;
    return S_OK;
}

/* Sorts like qsort, but keeps the order of equal names. */
static bool sort_classes(const struct mof_class **items, size_t count)
{
    const struct mof_class **other = memory_alloc((count ? count : 1) * sizeof *items);
    if (!other)
        return false;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = begin + width < count ? begin + width : count;
            size_t end = begin + 2 * width < count ? begin + 2 * width : count;
            for (size_t a = begin, b = middle, n = begin; n < end; n++)
                other[n] =
                    a < middle && (b == end || compare_classes(&items[a], &items[b]) <= 0) ? items[a++] : items[b++];
        }
        memcpy(items, other, count * sizeof *items);
    }
    memory_free(other);
    return true;
}

static HRESULT index_names(struct class_table *t, struct mof_document *const *documents, size_t count)
{
    size_t all = 1;
    for (size_t i = 0; i < count; i++)
        all += documents[i]->count;
    t->classes = memory_alloc(all * sizeof *t->classes);
    t->texts = memory_alloc(all * sizeof *t->texts);
    if (!t->classes || !t->texts)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < documents[i]->count; c++) {
            const struct mof_class *class = &documents[i]->classes[c];
            if (class->language)
                t->texts[t->text_count++] = class;
            else
                t->classes[t->class_count++] = class;
        }
    if (!sort_classes(t->classes, t->class_count) || !sort_classes(t->texts, t->text_count))
        return E_OUTOFMEMORY;
    return keep_last(t, documents[count - 1]);
}

/* ---- texts by language ---- */

static const struct mof_qualifiers *qualifiers_of(const struct mof_class *c, const struct mof_property *p)
{
    if (!p)
        return &c->qualifiers;
    for (size_t i = 0; i < c->property_count; i++)
        if (text_equal_nocase(c->properties[i].name, p->name))
            return &c->properties[i].qualifiers;
    return NULL;
}

static const char *value_text(const struct mof_qualifiers *q, const char *qualifier, size_t at)
{
    const struct mof_qualifier *found = q ? mof_qualifier_find(q, qualifier) : NULL;
    return found && at < found->count && found->values[at].kind == MOF_STRING ? found->values[at].text : NULL;
}

const char *mof_classes_text(const struct mof_classes *c, const struct mof_class *of, const struct mof_property *p,
                             const char *qualifier, size_t at)
{
    const struct class_table *t = &c->table;
    const struct mof_class *const *found = bsearch(of->name, t->texts, t->text_count, sizeof *t->texts, compare_name);
    const char *asked = NULL, *english = NULL, *any = NULL;
    while (found && found > t->texts && text_equal_nocase(found[-1]->name, of->name))
        found--;
    for (; found && found < t->texts + t->text_count && text_equal_nocase((*found)->name, of->name); found++) {
        const char *text = value_text(qualifiers_of(*found, p), qualifier, at);
        if (text && (*found)->language == c->language)
            asked = text;
        if (text && (*found)->language == ENGLISH)
            english = text;
        any = text ? text : any;
    }
    const char *own = value_text(p ? &p->qualifiers : &of->qualifiers, qualifier, at);
    return asked ? asked : own ? own : english ? english : any;
}

/* ---- events ---- */

const struct mof_qualifier *mof_event_types(const struct mof_event_class *e)
{
    return mof_qualifier_find(&e->type_class->qualifiers, "EventType");
}

static HRESULT class_error(const struct mof_class *c, HRESULT hr, const char *text, const char *value)
{
    return error_set(hr, "%s(%u): class %s: %s%s%.100s%s", c->source, (unsigned)c->line, c->name, text,
                     *value ? "'" : "", value, *value ? "'" : "");
}

static HRESULT read_guid(const struct mof_class *c, GUID *out)
{
    const char *text = mof_qualifier_text(&c->qualifiers, "Guid");
    return text && text_to_guid(text, out)
               ? S_OK
               : class_error(c, MOF_E_TYPE_MISMATCH, "the qualifier Guid is not a GUID: ", text ? text : "(no text)");
}

/* Finds the event class, the event provider's class and the version. Searches the class with the event types first, and
   then its base classes upwards. */
static HRESULT read_bases(const struct class_table *t, struct mof_event_class *e)
{
    const struct mof_class *c = e->type_class;
    for (int depth = 0; depth < MOF_BASES_MOST; depth++) {
        const struct mof_qualifier *version = mof_qualifier_find(&c->qualifiers, "EventVersion");
        if (version && !e->versioned && !e->event_class) {
            const struct mof_value *v = &version->values[0];
            if (v->kind != MOF_INTEGER || v->negative || v->number > UINT16_MAX)
                return class_error(c, MOF_E_TYPE_MISMATCH, "EventVersion must be 0 to 65535, not ", v->text);
            e->versioned = true;
            e->version = (uint16_t)v->number;
        }
        if (!e->event_class && mof_qualifier_find(&c->qualifiers, "Guid"))
            e->event_class = c;
        if (!c->superclass)
            return class_error(e->type_class, MOF_E_INVALID_SUPERCLASS, "it has an EventType but is not derived from ",
                               "EventTrace");
        if (text_equal_nocase(c->superclass, "EventTrace")) {
            e->provider_class = c;
            return S_OK;
        }
        const struct mof_class *base = find_base(t, c);
        if (!base)
            return class_error(c, MOF_E_INVALID_SUPERCLASS, "unknown base class ", c->superclass);
        c = base;
    }
    return class_error(e->type_class, MOF_E_INVALID_SUPERCLASS,
                       "it is derived from itself, or from more than 32 classes, through ", e->type_class->superclass);
}

static HRESULT add_keys(struct class_table *t, const struct mof_event_class *e, size_t index)
{
    const struct mof_qualifier *types = mof_event_types(e);
    for (size_t i = 0; i < types->count; i++) {
        const struct mof_value *v = &types->values[i];
        if (v->kind != MOF_INTEGER || v->negative || v->number > UINT8_MAX)
            return class_error(e->type_class, MOF_E_TYPE_MISMATCH, "EventType must be 0 to 255, not ", v->text);
        if (!memory_grow((void **)&t->keys, &t->key_capacity, t->key_count + 1, sizeof *t->keys))
            return E_OUTOFMEMORY;
        t->keys[t->key_count] = (struct event_key){.event = e->event,
                                                   .type = (uint8_t)v->number,
                                                   .version = e->versioned ? e->version : NEWEST,
                                                   .order = t->key_count,
                                                   .index = index,
                                                   .at = i};
        t->key_count++;
    }
    return S_OK;
}

static HRESULT add_event(struct class_table *t, const struct mof_class *c, bool shipped)
{
    struct mof_event_class e = {.type_class = c, .shipped = shipped};
    HRESULT hr = read_bases(t, &e);
    GUID provider;
    if (SUCCEEDED(hr) && !e.event_class)
        hr = class_error(c, MOF_E_INVALID_CLASS, "it has an EventType, but neither it nor a base class has a Guid", "");
    if (SUCCEEDED(hr))
        hr = read_guid(e.event_class, &e.event);
    if (SUCCEEDED(hr) && e.provider_class != e.event_class)
        hr = read_guid(e.provider_class, &provider);
    if (FAILED(hr))
        return hr;
    if (!memory_grow((void **)&t->events, &t->event_capacity, t->event_count + 1, sizeof *t->events))
        return E_OUTOFMEMORY;
    t->events[t->event_count] = e;
    hr = add_keys(t, &e, t->event_count);
    if (SUCCEEDED(hr))
        t->event_count++;
    return hr;
}

static HRESULT add_provider(struct class_table *t, const struct mof_class *c)
{
    struct mof_provider p = {.name = c->name};
    HRESULT hr = read_guid(c, &p.guid);
    if (FAILED(hr))
        return hr;
    if (!memory_grow((void **)&t->providers, &t->provider_capacity, t->provider_count + 1, sizeof *t->providers))
        return E_OUTOFMEMORY;
    t->providers[t->provider_count++] = p;
    return S_OK;
}

static int compare_keys(const void *a, const void *b)
{
    const struct event_key *x = a, *y = b;
    int guids = memcmp(&x->event, &y->event, sizeof x->event);
    if (guids)
        return guids;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Indexes the events. The documents are processed in order, so that keys have the order of the documents. */
static HRESULT index_events(struct class_table *t, const struct mof_classes *of)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < of->count; i++)
        for (size_t n = 0; SUCCEEDED(hr) && n < of->documents[i]->count; n++) {
            const struct mof_class *c = &of->documents[i]->classes[n];
            if (c->language || find_class(t, c->name) != c)
                continue;
            if (mof_qualifier_find(&c->qualifiers, "EventType"))
                hr = add_event(t, c, of->has_shipped && i == 0);
            else if (c->superclass && text_equal_nocase(c->superclass, "EventTrace") &&
                     mof_qualifier_find(&c->qualifiers, "Guid"))
                hr = add_provider(t, c);
        }
    if (SUCCEEDED(hr) && t->key_count)
        qsort(t->keys, t->key_count, sizeof *t->keys, compare_keys);
    return hr;
}

/* Checks that every class has a valid schema; skips the built-in classes. A file with an invalid class is rejected. */
static HRESULT check_events(const struct mof_classes *c)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < c->table.event_count; i++) {
        struct event_schema *schema;
        if (c->table.events[i].shipped)
            continue;
        hr = mof_event_schema(c, &c->table.events[i], 0, &schema);
        if (SUCCEEDED(hr))
            event_schema_free(schema);
    }
    return hr;
}

HRESULT mof_classes_add(struct mof_classes *c, const char *source, const void *bytes, size_t size)
{
    struct mof_document *d;
    struct class_table table = {0}, before = c->table;
    HRESULT hr = mof_text_read(source, bytes, size, &d);
    if (FAILED(hr))
        return hr;
    if (!memory_grow((void **)&c->documents, &c->capacity, c->count + 1, sizeof *c->documents)) {
        mof_document_free(d);
        return E_OUTOFMEMORY;
    }
    c->documents[c->count++] = d;
    hr = index_names(&table, c->documents, c->count);
    if (SUCCEEDED(hr))
        hr = index_events(&table, c);
    if (SUCCEEDED(hr)) {
        c->table = table;
        hr = check_events(c);
    }
    if (FAILED(hr)) {
        c->table = before;
        table_clear(&table);
        mof_document_free(c->documents[--c->count]);
        return hr;
    }
    table_clear(&before);
    return S_OK;
}

HRESULT mof_classes_create_empty(struct mof_classes **out)
{
    *out = memory_zero(1, sizeof **out);
    return *out ? S_OK : E_OUTOFMEMORY;
}

HRESULT mof_classes_create(struct mof_classes **out)
{
    struct mof_classes *c;
    if (FAILED(mof_classes_create_empty(&c)))
        return E_OUTOFMEMORY;
    c->has_shipped = true;
    HRESULT hr = mof_classes_add(c, "classic.mof", classic_classes, classic_classes_size);
    if (FAILED(hr))
        mof_classes_free(c);
    else
        *out = c;
    return hr;
}

size_t mof_classes_events(const struct mof_classes *c, const struct mof_event_class **out)
{
    *out = c->table.events;
    return c->table.event_count;
}

size_t mof_classes_providers(const struct mof_classes *c, const struct mof_provider **out)
{
    *out = c->table.providers;
    return c->table.provider_count;
}

/* ---- finding the class of an event ---- */

/* Returns the first key of this event and type, or the position for inserting it. */
static size_t first_key(const struct class_table *t, const GUID *event, uint8_t type)
{
    const struct event_key wanted = {.event = *event, .type = type};
    size_t low = 0, high = t->key_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&t->keys[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static HRESULT no_class(const struct class_table *t, const GUID *event, uint8_t type, const struct event_key *newer)
{
    char text[39];
    text_from_guid(event, text);
    const HRESULT hr = HRESULT_FROM_WIN32(ERROR_NOT_FOUND);
    if (newer)
        return error_set(hr, "MOF: event class %s: no class describes type %u before version %u", text, type,
                         (unsigned)newer->version);
    for (size_t i = 0; i < t->key_count; i++)
        if (guid_equal(&t->keys[i].event, event))
            return error_set(hr, "MOF: event class %s: no class describes type %u", text, type);
    return error_set(hr, "MOF: no class describes events of %s", text);
}

HRESULT mof_classes_schema(const struct mof_classes *c, const GUID *event, uint8_t type, uint16_t version,
                           struct event_schema **out)
{
    const struct class_table *t = &c->table;
    const struct event_key *best = NULL, *newer = NULL;
    for (size_t i = first_key(t, event, type); i < t->key_count; i++) {
        const struct event_key *k = &t->keys[i];
        if (!guid_equal(&k->event, event) || k->type != type)
            break;
        /* The keys are sorted by version. The class without a version comes last and is used for events that are newer
           or older than all other classes. */
        const bool unversioned = k->version == NEWEST;
        if (k->version <= version ||
            (unversioned && (!best || best->version == NEWEST || (!newer && best->version != version))))
            best = k;
        else if (!unversioned && !newer)
            newer = k;
    }
    return best ? mof_event_schema(c, &t->events[best->index], best->at, out) : no_class(t, event, type, newer);
}

/* ---- flags and levels of an event provider's class ---- */

static HRESULT fill_fields(const struct mof_classes *c, const struct mof_class *of, const struct mof_property *p,
                           const struct mof_qualifier *values, struct mof_field *fields)
{
    for (size_t i = 0; i < values->count; i++) {
        const char *define = mof_classes_text(c, of, p, "DefineValues", i), *value = values->values[i].text;
        const char *name = mof_classes_text(c, of, p, "Values", i);
        const char *description = mof_classes_text(c, of, p, "ValueDescriptions", i);
        fields[i].name = define ? define : name ? name : value;
        fields[i].description = description ? description : name ? name : fields[i].name;
        if (!text_to_u64(value, &fields[i].value))
            return error_set(MOF_E_TYPE_MISMATCH,
                             "%s(%u): class %s: %s: ValueMap contains '%.60s', which is not a number", of->source,
                             (unsigned)values->line, of->name, p->name, value);
    }
    return S_OK;
}

HRESULT mof_classes_fields(const struct mof_classes *c, const GUID *provider, const char *property,
                           struct mof_field **out, size_t *count)
{
    const struct mof_class *of = NULL;
    const struct mof_property *p = NULL;
    *out = NULL;
    *count = 0;
    for (size_t i = 0; i < c->table.provider_count; i++)
        if (guid_equal(&c->table.providers[i].guid, provider))
            of = mof_classes_find(c, c->table.providers[i].name);
    for (size_t i = 0; of && i < of->property_count; i++)
        if (text_equal_nocase(of->properties[i].name, property))
            p = &of->properties[i];
    const struct mof_qualifier *values = p ? mof_qualifier_find(&p->qualifiers, "ValueMap") : NULL;
    if (!values)
        return S_FALSE;
    struct mof_field *fields = memory_zero(values->count, sizeof *fields);
    HRESULT hr = fields ? fill_fields(c, of, p, values, fields) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(fields);
        return hr;
    }
    *out = fields;
    *count = values->count;
    return S_OK;
}

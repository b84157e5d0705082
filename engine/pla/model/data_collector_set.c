/* SPDX-License-Identifier: MIT */
/* The data collector set (MS-PLA 3.2.4.1): hooks of its rows, validation, its values, limits of a stored set, and
   reading Security from XML. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "engine/base/xml_document.h"
#include "engine/base/xml_text.h"
#include "engine/pla/model.h"
#include "engine/pla/model/name_pattern.h"
#include "engine/pla/model/validate.h"

#include <ctype.h>
#include <string.h>

struct data_collector_set *set_of(struct object *set)
{
    return (struct data_collector_set *)set;
}

/* ---- hooks of the rows ---- */

/* Copies name and namespace of a bound set under the lock; *name is NULL for an unbound set. */
static HRESULT bound_name(struct data_collector_set *set, const char **space, char **name)
{
    HRESULT hr = S_OK;
    object_lock(&set->object);
    *space = set->space;
    *name = set->space && set->verbs ? text_copy(set->Name) : NULL;
    if (set->space && set->verbs && !*name)
        hr = E_OUTOFMEMORY;
    object_unlock(&set->object);
    return hr;
}

static HRESULT read_live(struct object *o, unsigned parts, struct set_live *out)
{
    struct data_collector_set *set = set_of(o);
    const char *space;
    char *name;
    HRESULT hr = bound_name(set, &space, &name);
    if (FAILED(hr))
        return hr;
    if (name) {
        hr = set->verbs->read_live(o, space, name, parts, out);
        memory_free(name);
        if (FAILED(hr))
            return hr;
    }
    /* A value that a client set since the last Query overrides the run record. The object's value is also used if no
       run has written a record yet. */
    object_lock(o);
    if (!name || set->serial_put || !out->serial_number)
        out->serial_number = set->SerialNumber;
    if (set->serial_put) { /* the name of the next folder depends on SerialNumber */
        memory_free(out->next_folder);
        out->next_folder = NULL;
    }
    if (!name || set->latest_put || !out->latest_location) {
        char *kept = text_copy(set->LatestOutputLocation);
        memory_free(out->latest_location);
        out->latest_location = kept;
        if (!kept)
            hr = E_OUTOFMEMORY;
    }
    object_unlock(o);
    if (FAILED(hr))
        set_live_free(out);
    return hr;
}

void set_live_free(struct set_live *live)
{
    memory_free(live->latest_location);
    memory_free(live->next_folder);
    texts_free(&live->latest_files);
    memset(live, 0, sizeof *live);
}

static HRESULT set_get_live(struct object *o, const struct property *p, const struct set_live *live, struct value *out)
{
    if (!live)
        return object_get_field(o, p, out);
    switch (p - o->class->properties) {
    case IDataCollectorSet_Status:
        out->u32 = live->status;
        return S_OK;
    case IDataCollectorSet_SerialNumber:
        out->u32 = live->serial_number;
        return S_OK;
    default:
        out->text = text_copy(live->latest_location);
        return out->text ? S_OK : E_OUTOFMEMORY;
    }
}

static HRESULT set_get_output_location(struct object *o, const struct property *p, const struct set_live *live,
                                       struct value *out)
{
    struct name_context context;
    (void)p;
    if (live && live->next_folder) {
        out->text = text_copy(live->next_folder);
        return out->text ? S_OK : E_OUTOFMEMORY;
    }
    HRESULT hr = name_context_now(live ? live->serial_number : set_of(o)->SerialNumber, &context);
    if (SUCCEEDED(hr)) {
        hr = set_output_folder(o, &context, &out->text);
        name_context_free(&context);
    }
    return hr;
}

/* Resolves a reference @binary,#id to its string. Leaves an unknown reference unchanged: a template from another
   computer must not fail because this computer does not know the reference (behaviour 5). */
static HRESULT set_get_resolved(struct object *o, const struct property *p, struct value *out)
{
    HRESULT hr = object_get_field(o, p, out);
    if (FAILED(hr) || out->text[0] != '@')
        return hr;
    char *text = os_resource_text(out->text);
    memory_free(out->text);
    out->text = text;
    return text ? S_OK : E_OUTOFMEMORY;
}

static HRESULT set_get_description(struct object *o, const struct property *p, struct value *out)
{
    (void)p;
    return object_get_field(o, &o->class->properties[IDataCollectorSet_Description], out);
}

static HRESULT set_get_display_name(struct object *o, const struct property *p, struct value *out)
{
    (void)p;
    return object_get_field(o, &o->class->properties[IDataCollectorSet_DisplayName], out);
}

/* Reads the element with the unresolved form of a string. If the unresolved form is a reference, it takes precedence
   over the resolved form (behaviour 5). */
static HRESULT read_unresolved(struct object *o, int index, const char *text)
{
    return text[0] == '@' ? object_put_text(o, &o->class->properties[index], text) : S_OK;
}

static HRESULT set_read_description(struct object *o, const struct property *p, const char *text)
{
    (void)p;
    return read_unresolved(o, IDataCollectorSet_Description, text);
}

static HRESULT set_read_display_name(struct object *o, const struct property *p, const char *text)
{
    (void)p;
    return read_unresolved(o, IDataCollectorSet_DisplayName, text);
}

static bool set_serial_is_put(const struct object *o)
{
    return ((const struct data_collector_set *)o)->serial_put;
}

static bool set_latest_is_put(const struct object *o)
{
    return ((const struct data_collector_set *)o)->latest_put;
}

static void set_serial_was_put(struct object *o)
{
    set_of(o)->serial_put = true;
}

static void set_latest_was_put(struct object *o)
{
    set_of(o)->latest_put = true;
}

static HRESULT set_check_keywords(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    if (in->texts.count > 256)
        return error_set(E_INVALIDARG, "%s: %u keywords: at most 256 are allowed", p->name, (unsigned)in->texts.count);
    for (size_t i = 0; i < in->texts.count; i++) {
        const char *word = in->texts.items[i];
        size_t length = text_utf16_length(word);
        if (length < 1 || length > 1024 || strchr(word, ';'))
            return error_set(E_INVALIDARG, "%s: invalid keyword '%.100s': expected 1 to 1024 characters without ';'",
                             p->name, word);
    }
    return S_OK;
}

static HRESULT set_check_security(struct object *o, const struct property *p, const struct value *in)
{
    struct sddl descriptor;
    const char *why;
    (void)o;
    if (!in->text[0]) /* empty means the default; published templates leave Security empty */
        return S_OK;
    HRESULT hr = sddl_read(in->text, &descriptor, &why);
    sddl_free(&descriptor);
    return hr == E_INVALIDARG
               ? error_set(hr, "%s: '%.200s' is not a security descriptor in SDDL (O:..G:..D:..S:..): %s", p->name,
                           in->text, why)
               : hr;
}

/* ---- the class ---- */

#define CLASS     data_collector_set
#define INTERFACE IDataCollectorSet
#define ROWS      "engine/pla/data_collector_set.def"
#include "engine/pla/model/class_rows.inc"

static HRESULT set_created(struct object *o)
{
    struct data_collector_set *set = set_of(o);
    HRESULT hr = object_create_child(o, &data_collector_collection_class, &set->DataCollectors);
    if (SUCCEEDED(hr))
        hr = object_create_child(o, &set_schedule_collection_class, &set->Schedules);
    if (SUCCEEDED(hr))
        hr = object_create_child(o, &data_manager_class, &set->DataManager);
    return hr;
}

static void values_free(struct user_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        memory_free(values[i].key);
        memory_free(values[i].value);
    }
    memory_free(values);
}

#define PAIR 64 /* approximate bytes of a pair without its strings */

static int64_t pair_bytes(const char *key, const char *value)
{
    return (int64_t)(PAIR + strlen(key) + strlen(value));
}

static int64_t values_bytes(const struct data_collector_set *set)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < set->value_count; i++)
        bytes += pair_bytes(set->values[i].key, set->values[i].value);
    return bytes;
}

static void set_destroyed(struct object *o)
{
    struct data_collector_set *set = set_of(o);
    if (set->verbs && set->verbs->destroyed)
        set->verbs->destroyed(o);
    memory_free_secret(set->password);
    values_free(set->values, set->value_count);
}

static HRESULT set_copied(const struct object *from_, struct object *to_)
{
    const struct data_collector_set *from = (const struct data_collector_set *)from_;
    struct data_collector_set *to = set_of(to_);
    to->serial_put = from->serial_put;
    to->latest_put = from->latest_put;
    to->one_collector = from->one_collector;
    for (size_t i = 0; i < from->value_count; i++) {
        if (!memory_grow((void **)&to->values, &to->value_capacity, i + 1, sizeof to->values[0]))
            return E_OUTOFMEMORY;
        struct user_value v = {text_copy(from->values[i].key), text_copy(from->values[i].value),
                               from->values[i].document};
        to->values[to->value_count++] = v;
        if (!v.key || !v.value)
            return E_OUTOFMEMORY;
        object_count(to_, pair_bytes(v.key, v.value));
    }
    return S_OK;
}

static void set_exchanged(struct object *a_, struct object *b_)
{
    struct data_collector_set *a = set_of(a_), *b = set_of(b_);
    struct user_value *values = a->values;
    size_t count = a->value_count, capacity = a->value_capacity;
    bool serial_put = a->serial_put, latest_put = a->latest_put;
    const int64_t more = values_bytes(b) - values_bytes(a);
    object_count(a_, more);
    object_count(b_, -more);
    a->values = b->values;
    a->value_count = b->value_count;
    a->value_capacity = b->value_capacity;
    a->serial_put = b->serial_put;
    a->latest_put = b->latest_put;
    b->values = values;
    b->value_count = count;
    b->value_capacity = capacity;
    b->serial_put = serial_put;
    b->latest_put = latest_put;
}

/* Reports user values that the store cannot keep unchanged (DECISIONS 3). */
static HRESULT validate_values(const struct validation *v, const struct data_collector_set *set)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < set->value_count; i++) {
        if (xml_holds(set->values[i].key) && xml_holds(set->values[i].value))
            continue;
        char *key = text_format("Value[%s]", set->values[i].key);
        hr = key ? issues_add(v->issues, E_INVALIDARG, key,
                              "contains characters that XML cannot represent, which are stored as U+FFFD")
                 : E_OUTOFMEMORY;
        memory_free(key);
    }
    return hr;
}

/* Returns whether the property is known without reading the definition: the binding contains Name and Server, and
   Status is live state. A list that shows only these properties therefore reads no definitions. */
static bool is_known_unread(const struct object *o, const struct property *p)
{
    const struct property *rows = o->class->properties;
    return p == &rows[IDataCollectorSet_Name] || p == &rows[IDataCollectorSet_Server] ||
           p == &rows[IDataCollectorSet_Status];
}

static HRESULT set_complete(struct object *o, const struct property *p)
{
    const char *space;
    char *name;
    if (!atomic_load(&set_of(o)->listed) || (p && is_known_unread(o, p)))
        return S_OK;
    HRESULT hr = bound_name(set_of(o), &space, &name);
    if (SUCCEEDED(hr) && name)
        hr = set_of(o)->verbs->read_listed(o, space, name);
    memory_free(name);
    return hr;
}

static HRESULT set_rules(const struct validation *v, struct object *o, const struct object *copy)
{
    const struct data_collector_set *set = (const struct data_collector_set *)copy;
    const struct finding findings[] = {
        {!set->Task[0], PLA_S_PROPERTY_IGNORED, "TaskArguments", "no Task is set"},
        {!(set->SubdirectoryFormat & FORMAT_PATTERN), PLA_S_PROPERTY_IGNORED, "SubdirectoryFormatPattern",
         "SubdirectoryFormat does not contain plaPattern"},
    };
    (void)o;
    HRESULT hr = validation_report_all(v, findings, sizeof findings / sizeof findings[0]);
    return FAILED(hr) ? hr : validate_values(v, set);
}

const struct class data_collector_set_class = {
    .name = "DataCollectorSet",
    CLASS_ROWS(data_collector_set, IDataCollectorSet),
    .created = set_created,
    .read_live = read_live,
    .complete = set_complete,
    .validate = set_rules,
    .destroyed = set_destroyed,
    .copied = set_copied,
    .exchanged = set_exchanged,
};
static const struct class *const set_items[] = {&data_collector_set_class, NULL};
const struct class data_collector_set_collection_class = {
    .name = "DataCollectorSetCollection",
    .size = sizeof(struct data_collector_set_collection),
    .items = offsetof(struct data_collector_set_collection, items),
    .item_classes = set_items,
};

HRESULT set_create(struct object **out)
{
    return object_create(&data_collector_set_class, NULL, out);
}

/* ---- SetValue and GetValue ---- */

static struct user_value *find_value(struct data_collector_set *set, const char *key)
{
    for (size_t i = 0; i < set->value_count; i++)
        if (text_equal_nocase(set->values[i].key, key))
            return &set->values[i];
    return NULL;
}

static HRESULT put_value(struct data_collector_set *set, char **key, char **value, bool document)
{
    struct user_value *found = find_value(set, *key);
    if (!found) {
        if (!memory_grow((void **)&set->values, &set->value_capacity, set->value_count + 1, sizeof set->values[0]))
            return E_OUTOFMEMORY;
        found = &set->values[set->value_count++];
        memset(found, 0, sizeof *found);
        found->key = *key;
        *key = NULL;
    }
    object_count(&set->object,
                 pair_bytes(found->key, *value) - (found->value ? pair_bytes(found->key, found->value) : 0));
    char *old = found->value;
    found->value = *value;
    found->document = document;
    *value = old;
    return S_OK;
}

HRESULT set_put_value_as(struct object *o, const char *key, const char *value, bool document)
{
    if (!key || !key[0])
        return error_set(E_INVALIDARG, "SetValue: the key must not be empty");
    char *k = text_copy(key), *v = text_copy(value);
    HRESULT hr = k && v ? object_room(o, (size_t)pair_bytes(k, v)) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        object_lock(o);
        hr = put_value(set_of(o), &k, &v, document);
        object_unlock(o);
    }
    memory_free(k);
    memory_free(v);
    return hr;
}

HRESULT set_put_value(struct object *o, const char *key, const char *value)
{
    struct data_collector_set *set = set_of(o);
    struct user_value old = {0};
    if (value || !key || !key[0])
        return set_put_value_as(o, key, value, false);
    object_lock(o);
    struct user_value *found = find_value(set, key);
    if (found) {
        size_t index = (size_t)(found - set->values);
        old = *found;
        object_count(o, -pair_bytes(old.key, old.value));
        memmove(found, found + 1, (set->value_count - index - 1) * sizeof *found);
        set->value_count--;
    }
    object_unlock(o);
    memory_free(old.key);
    memory_free(old.value);
    return S_OK;
}

HRESULT set_get_value(struct object *o, const char *key, char **value)
{
    HRESULT hr = S_OK;
    *value = NULL;
    if (!key || !key[0])
        return error_set(E_INVALIDARG, "GetValue: the key must not be empty");
    object_lock(o);
    struct user_value *found = find_value(set_of(o), key);
    if (found) {
        *value = text_copy(found->value);
        hr = *value ? S_OK : E_OUTOFMEMORY;
    } else {
        hr = error_set(E_INVALIDARG, "GetValue: the set has no value '%s'", key);
    }
    object_unlock(o);
    return hr;
}

/* ---- limits of a stored set ---- */

/* The XML reader limits the size of documents (xml_document.c, xml_read.c), but clients can set larger values. A set
   that the reader would reject must not be stored. */

/* A set smaller than this cannot reach any limit, even if every character is escaped and the text is written twice. */
#define SURELY_SMALL (256u << 10)
/* Estimated bytes for the tags of an element and of an object. */
#define TAGS_SIZE    24
#define OBJECT_SIZE  64

static size_t texts_size(const struct texts *list)
{
    size_t size = 0;
    for (size_t i = 0; i < list->count; i++)
        size += strlen(list->items[i]) + TAGS_SIZE;
    return size;
}

/* Returns the estimated size of the object itself, without its child objects. */
static size_t own_size(struct object *o)
{
    size_t size = OBJECT_SIZE;
    object_lock(o);
    for (size_t i = 0; i < o->class->property_count; i++) {
        const struct property *p = &o->class->properties[i];
        const void *field = (const char *)o + p->offset;
        if (p->kind == PROPERTY_TEXT)
            size += strlen(*(char *const *)field);
        else if (p->kind == PROPERTY_TEXTS)
            size += texts_size(field);
    }
    object_unlock(o);
    return size;
}

static HRESULT check_count(size_t count, const char *what)
{
    return count > SET_ITEMS_MAX
               ? error_set(E_INVALIDARG, "cannot store the set: %u '%s' elements: at most %u are allowed",
                           (unsigned)count, what, SET_ITEMS_MAX)
               : S_OK;
}

/* Checks the number of items in all collections at `o` and below, and adds up the estimated size of the objects. */
static HRESULT set_measure_size(struct object *o, size_t *size)
{
    struct object **items = NULL;
    size_t count = 0;
    HRESULT hr = o->class->items ? collection_snapshot(o, &items, &count) : S_OK;
    *size += own_size(o);
    for (const struct class *const *c = o->class->item_classes; SUCCEEDED(hr) && c && *c; c++) {
        size_t of_class = 0;
        for (size_t i = 0; i < count; i++)
            of_class += items[i]->class == *c;
        hr = check_count(of_class, (*c)->name);
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = set_measure_size(items[i], size);
    objects_release(items, count);
    for (size_t i = 0; SUCCEEDED(hr) && i < o->class->property_count; i++) {
        struct object *child = object_child(o, &o->class->properties[i]);
        if (child)
            hr = set_measure_size(child, size);
    }
    return hr;
}

static HRESULT measure_values(struct data_collector_set *set, size_t *size)
{
    object_lock(&set->object);
    HRESULT hr = check_count(set->value_count, "Value");
    for (size_t i = 0; SUCCEEDED(hr) && i < set->value_count; i++)
        *size += strlen(set->values[i].key) + strlen(set->values[i].value) + TAGS_SIZE;
    object_unlock(&set->object);
    return hr;
}

static HRESULT read_again(struct object *set)
{
    struct xml_document document;
    char *xml;
    size_t size;
    HRESULT hr = set_to_stored_xml(set, &xml, &size);
    if (FAILED(hr))
        return hr;
    hr = xml_document_open(xml, size, &document);
    xml_document_close(&document);
    memory_free(xml);
    if (hr != OPENPLA_E_MALFORMED_XML)
        return hr;
    return error_set(E_INVALIDARG, "cannot store the set: %s", error_text(hr));
}

HRESULT set_check_limits(struct object *set)
{
    size_t size = 0;
    HRESULT hr = set_measure_size(set, &size);
    if (SUCCEEDED(hr))
        hr = measure_values(set_of(set), &size);
    return SUCCEEDED(hr) && size > SURELY_SMALL ? read_again(set) : hr;
}

/* ---- Security read from XML ---- */

/* Fails if one of the issues is about Security. A set without a valid Security has no owner. */
static HRESULT check_issues(struct object *issues)
{
    struct object **items;
    size_t count;
    HRESULT hr = collection_snapshot(issues, &items, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (!strcmp(((const struct value_map_item *)items[i])->Key, "Security"))
            hr = error_set(OPENPLA_E_MALFORMED_XML, "Security: %s",
                           ((const struct value_map_item *)items[i])->Description);
    objects_release(items, count);
    return hr;
}

HRESULT set_security_of_xml(const char *xml, size_t size, char **security)
{
    struct object *set = NULL, *issues = NULL;
    struct value v;
    *security = NULL;
    HRESULT hr = set_create(&set);
    if (SUCCEEDED(hr))
        hr = issues_create(NULL, &issues);
    if (SUCCEEDED(hr))
        hr = set_from_xml(set, xml, size, issues);
    if (SUCCEEDED(hr))
        hr = check_issues(issues);
    if (SUCCEEDED(hr))
        hr = object_get_field(set, &set->class->properties[IDataCollectorSet_Security], &v);
    if (SUCCEEDED(hr))
        *security = v.text;
    object_release(issues);
    object_release(set);
    return hr;
}

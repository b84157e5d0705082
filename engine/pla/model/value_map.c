/* SPDX-License-Identifier: MIT */
/* Value maps and their items (MS-PLA 2.2.2.11, 3.2.4.17, 3.2.4.18), and the value maps that report issues. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"

#include <string.h>

static HRESULT item_check_key(struct object *o, const struct property *p, const struct value *in)
{
    (void)o;
    return in->text[0] ? S_OK : error_set(E_INVALIDARG, "%s: an item's key must not be empty", p->name);
}

#define CLASS     value_map_item
#define INTERFACE IValueMapItem
#define ROWS      "engine/pla/value_map_item.def"
#include "engine/pla/model/class_rows.inc"
const struct class value_map_item_class = {
    .name = "ValueMapItem",
    CLASS_ROWS(value_map_item, IValueMapItem),
};

/* When XML is written, Value is computed from the items. When XML without items is read, an item is created from Value
   (map_take_value). */
static HRESULT map_read_value(struct object *map, const struct property *p, struct value *out)
{
    (void)p;
    return value_map_get_value(map, &out->variant);
}

static HRESULT map_take_value(struct object *map, const struct property *p, const char *text)
{
    struct variant v = {.type = VARIANT_UI8};
    (void)p;
    if (!text[0] || map->items_read)
        return S_OK;
    if (!text_to_integer(text, &v.integer))
        return error_set(DISP_E_TYPEMISMATCH, "'%.100s' is not an integer", text);
    if (!v.integer)
        return S_OK;
    map->items_read = true; /* items that follow in the XML replace the item made from Value */
    return value_map_put_value(map, &v);
}

#define CLASS     value_map
#define INTERFACE IValueMap
#define ROWS      "engine/pla/value_map.def"
#include "engine/pla/model/class_rows.inc"
static const struct class *const map_items[] = {&value_map_item_class, NULL};

/* Values of ValueMapType (MS-PLA 2.2.2.11). */
enum { TYPE_INDEX = 1, TYPE_FLAG = 2, TYPE_FLAG_ARRAY = 3, TYPE_VALIDATION = 4 };

/* Sets the item's type to the map's type, unless a client set it. XML does not contain the type of an item. */
static HRESULT map_admit(struct object *map, struct object *item)
{
    if (!(item->rows_put >> IValueMapItem_ValueMapType & 1))
        ((struct value_map_item *)item)->ValueMapType = ((struct value_map *)map)->ValueMapType;
    return S_OK;
}

const struct class value_map_class = {
    .name = "ValueMap",
    CLASS_ROWS(value_map, IValueMap),
    .items = offsetof(struct value_map, items),
    .item_classes = map_items,
    .admit = map_admit,
};

static uint32_t map_type(struct object *map)
{
    struct value v;
    object_get(map, &value_map_rows[IValueMap_ValueMapType], &v); /* cannot fail, because the value is a number */
    return v.u32;
}

static bool item_enabled(struct object *item)
{
    struct value v;
    object_get(item, &value_map_item_rows[IValueMapItem_Enabled], &v);
    return v.boolean;
}

static void item_enable(struct object *item, bool enabled)
{
    struct value v = {.kind = PROPERTY_BOOL, .boolean = enabled};
    object_put(item, &value_map_item_rows[IValueMapItem_Enabled], &v);
}

/* Converts a number in a flag array to a ULONG (MS-PLA 2.2.2.11), because scripts write values of 0x80000000 and more
   as negative numbers. */
static int64_t as_flag(uint32_t type, int64_t number)
{
    return type == TYPE_FLAG_ARRAY && number < 0 && number >= INT32_MIN ? (uint32_t)number : number;
}

/* Returns the item's value as an integer. S_FALSE: it is not an integer. */
static HRESULT item_integer(struct object *item, uint32_t type, int64_t *out)
{
    struct value v;
    HRESULT hr = object_get(item, &value_map_item_rows[IValueMapItem_Value], &v);
    if (FAILED(hr))
        return hr;
    hr = v.variant.type == VARIANT_EMPTY || FAILED(variant_to_i64(&v.variant, out)) ? S_FALSE : S_OK;
    if (hr == S_OK)
        *out = as_flag(type, *out);
    value_free(&v);
    return hr;
}

static HRESULT item_create(struct object *map, int64_t number, struct object **out)
{
    HRESULT hr = object_create(&value_map_item_class, map, out);
    if (FAILED(hr))
        return hr;
    struct value v = {.kind = PROPERTY_VARIANT, .variant = {.type = VARIANT_UI8, .integer = number}};
    struct value type = {.kind = PROPERTY_ENUM, .u32 = map_type(map)};
    object_put(*out, &value_map_item_rows[IValueMapItem_Value], &v);
    object_put(*out, &value_map_item_rows[IValueMapItem_ValueMapType], &type);
    item_enable(*out, true);
    return S_OK;
}

static HRESULT add_number(struct object *map, int64_t number)
{
    struct object *item;
    HRESULT hr = item_create(map, number, &item);
    if (SUCCEEDED(hr)) {
        hr = collection_add(map, item);
        object_release(item);
    }
    return hr;
}

HRESULT value_map_get_value(struct object *map, struct variant *out)
{
    struct object **items;
    size_t count;
    uint32_t type = map_type(map);
    int64_t all = 0;
    HRESULT hr = collection_snapshot(map, &items, &count);
    memset(out, 0, sizeof *out);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        int64_t n = 0;
        if (type != TYPE_VALIDATION && !item_enabled(items[i]))
            continue;
        hr = item_integer(items[i], type, &n);
        if (hr == S_OK)
            all |= n;
        /* Flags are combined. For other types the value is that of the first enabled item. */
        if (hr == S_OK && type != TYPE_FLAG)
            break;
    }
    if (SUCCEEDED(hr))
        *out = (struct variant){.type = type == TYPE_VALIDATION ? VARIANT_UI4 : VARIANT_UI8, .integer = all};
    objects_release(items, count);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT value_map_enabled(struct object *map, uint64_t **values, size_t *count)
{
    struct object **items;
    size_t all;
    const uint32_t type = map_type(map);
    *values = NULL;
    *count = 0;
    HRESULT hr = collection_snapshot(map, &items, &all);
    if (FAILED(hr))
        return hr;
    *values = memory_zero(all + 1, sizeof **values);
    if (!*values)
        hr = E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < all; i++) {
        int64_t n = 0;
        if (!item_enabled(items[i]))
            continue;
        hr = item_integer(items[i], type, &n);
        if (hr == S_OK)
            (*values)[(*count)++] = (uint64_t)n;
    }
    objects_release(items, all);
    if (FAILED(hr)) {
        memory_free(*values);
        *values = NULL;
    }
    return FAILED(hr) ? hr : S_OK;
}

/* Finds the item with that key; *out is a reference, NULL: not found. */
static HRESULT find_key(struct object *map, const char *key, struct object **out)
{
    struct object **items;
    size_t count;
    *out = NULL;
    if (!key[0]) /* items made from numbers have empty keys */
        return S_OK;
    HRESULT hr = collection_snapshot(map, &items, &count);
    for (size_t i = 0; SUCCEEDED(hr) && !*out && i < count; i++) {
        struct value v;
        hr = object_get(items[i], &value_map_item_rows[IValueMapItem_Key], &v);
        if (SUCCEEDED(hr) && text_equal_nocase(v.text, key))
            *out = object_reference(items[i]);
        value_free(&v);
    }
    objects_release(items, count);
    return hr;
}

/* Converts the new value to an integer. The new value is an integer, or the key of an item whose value is the integer
   (MS-PLA 3.2.4.18). */
static HRESULT wanted_value(struct object *map, uint32_t type, const struct variant *in, int64_t *out)
{
    struct object *named = NULL;
    HRESULT no_integer = variant_to_i64(in, out);
    if (SUCCEEDED(no_integer)) {
        *out = as_flag(type, *out);
        return S_OK;
    }
    HRESULT hr = in->type == VARIANT_TEXT ? find_key(map, in->text, &named) : S_OK;
    if (named)
        hr = item_integer(named, type, out);
    else if (SUCCEEDED(hr))
        hr = S_FALSE;
    object_release(named);
    if (hr != S_FALSE)
        return hr;
    return in->type == VARIANT_TEXT
               ? error_set(no_integer, "Value: '%s' is neither a number nor the key of an item with a number", in->text)
               : error_prefix(no_integer, "Value");
}

HRESULT value_map_put_value(struct object *map, const struct variant *in)
{
    struct object **items;
    size_t count;
    int64_t wanted = 0;
    uint32_t type = map_type(map);
    HRESULT hr = wanted_value(map, type, in, &wanted);
    if (SUCCEEDED(hr))
        hr = trace_provider_check_value(map, wanted);
    if (FAILED(hr))
        return hr;
    uint64_t left = (uint64_t)wanted;
    bool matched = false;
    hr = collection_snapshot(map, &items, &count);
    if (FAILED(hr))
        return hr;
    bool *enable = memory_zero(count + 1, sizeof *enable);
    if (!enable)
        hr = E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        int64_t n = 0;
        hr = item_integer(items[i], type, &n);
        if (hr != S_OK)
            continue;
        if (type == TYPE_FLAG) {
            enable[i] = n && ((uint64_t)n & (uint64_t)wanted) == (uint64_t)n;
            if (enable[i])
                left &= ~(uint64_t)n;
        } else if (n == wanted && !(type == TYPE_INDEX && matched)) {
            enable[i] = matched = true;
        }
    }
    /* If no item has the number, or if some bits are in no item, adds an unnamed item for the number or the bits. If
       this fails, the other items do not change. */
    if (SUCCEEDED(hr) && (type == TYPE_FLAG ? left != 0 : !matched))
        hr = add_number(map, type == TYPE_FLAG ? (int64_t)left : wanted);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        item_enable(items[i], enable[i]);
    memory_free(enable);
    objects_release(items, count);
    return FAILED(hr) ? hr : S_OK;
}

/* Enables the item with that key. */
static HRESULT enable_key(struct object *map, const char *key)
{
    struct object *item;
    HRESULT hr = find_key(map, key, &item);
    if (FAILED(hr))
        return hr;
    if (!item)
        return error_set(E_INVALIDARG, "Add: '%s' is neither a number nor a key of this map", key);
    item_enable(item, true);
    object_release(item);
    return S_OK;
}

HRESULT value_map_add_value(struct object *map, const struct variant *in)
{
    int64_t number;
    HRESULT hr = variant_to_i64(in, &number);
    if (FAILED(hr))
        return in->type == VARIANT_TEXT ? enable_key(map, in->text) : error_prefix(hr, "Add");
    number = as_flag(map_type(map), number);
    hr = trace_provider_check_value(map, number);
    return SUCCEEDED(hr) ? add_number(map, number) : hr;
}

HRESULT value_map_add_named(struct object *map, const char *key, const char *description, uint64_t value)
{
    struct object *item;
    HRESULT hr = object_create(&value_map_item_class, map, &item);
    if (FAILED(hr))
        return hr;
    struct value_map_item *v = (struct value_map_item *)item;
    v->Value = (struct variant){.type = VARIANT_UI8, .integer = (int64_t)value};
    v->ValueMapType = ((struct value_map *)map)->ValueMapType;
    hr = object_put_text(item, class_property(item->class, "Key"), key);
    if (SUCCEEDED(hr))
        hr = object_put_text(item, class_property(item->class, "Description"), description);
    if (SUCCEEDED(hr))
        hr = collection_add(map, item);
    object_release(item);
    return hr;
}

/* Enables the item with that number, or adds an item without a name. */
static HRESULT enable_number(struct object *map, uint32_t type, int64_t number)
{
    struct object **items;
    size_t count;
    bool found = false;
    HRESULT hr = collection_snapshot(map, &items, &count);
    for (size_t i = 0; SUCCEEDED(hr) && !found && i < count; i++) {
        int64_t n = 0;
        hr = item_integer(items[i], type, &n);
        found = hr == S_OK && n == number;
        if (found)
            item_enable(items[i], true);
    }
    objects_release(items, count);
    return FAILED(hr) || found ? hr : add_number(map, number);
}

/* Copies the value of the map `from`. A flag array is copied item by item, because its items are not combined into one
   value. */
static HRESULT carry_value(struct object *map, struct object *from)
{
    struct object **items;
    size_t count;
    struct variant value;
    uint32_t type = map_type(from);
    if (type != TYPE_FLAG_ARRAY) {
        HRESULT hr = value_map_get_value(from, &value);
        return SUCCEEDED(hr) && value.integer ? value_map_put_value(map, &value) : hr;
    }
    HRESULT hr = collection_snapshot(from, &items, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        int64_t n = 0;
        if (!item_enabled(items[i]))
            continue;
        hr = item_integer(items[i], type, &n);
        if (hr == S_OK)
            hr = enable_number(map, type, n);
    }
    objects_release(items, count);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT value_map_resolve(struct object *map, struct object *from)
{
    struct object **theirs;
    size_t count;
    HRESULT hr = collection_snapshot(from, &theirs, &count);
    struct object *fresh = NULL;
    if (SUCCEEDED(hr))
        hr = object_copy(map, &fresh);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct object *item;
        hr = object_copy(theirs[i], &item);
        if (SUCCEEDED(hr)) {
            item_enable(item, false);
            hr = collection_add(fresh, item);
            object_release(item);
        }
    }
    if (SUCCEEDED(hr))
        hr = carry_value(fresh, map);
    if (SUCCEEDED(hr))
        collection_exchange(map, fresh);
    object_release(fresh);
    objects_release(theirs, count);
    return hr;
}

HRESULT issues_create(struct object *beside, struct object **map)
{
    HRESULT hr = object_create(&value_map_class, beside, map);
    struct value type = {.kind = PROPERTY_ENUM, .u32 = TYPE_VALIDATION};
    if (SUCCEEDED(hr))
        object_put(*map, &value_map_rows[IValueMap_ValueMapType], &type);
    return hr;
}

HRESULT issues_add(struct object *map, HRESULT hr_found, const char *key, const char *text)
{
    struct object *item;
    if (!map)
        return S_OK;
    HRESULT hr = object_create(&value_map_item_class, map, &item);
    if (FAILED(hr))
        return hr;
    struct value v = {.kind = PROPERTY_VARIANT, .variant = {.type = VARIANT_UI4, .integer = (uint32_t)hr_found}};
    struct value type = {.kind = PROPERTY_ENUM, .u32 = TYPE_VALIDATION};
    object_put(item, &value_map_item_rows[IValueMapItem_Value], &v);
    object_put(item, &value_map_item_rows[IValueMapItem_ValueMapType], &type);
    item_enable(item, true);
    hr = object_put_text(item, &value_map_item_rows[IValueMapItem_Key], key);
    if (SUCCEEDED(hr))
        hr = object_put_text(item, &value_map_item_rows[IValueMapItem_Description], text);
    if (SUCCEEDED(hr))
        hr = collection_add(map, item);
    object_release(item);
    return hr;
}

HRESULT issues_each(struct object *map, HRESULT (*each)(void *user, HRESULT hr, const char *key, const char *text),
                    void *user)
{
    struct object **items;
    size_t count;
    HRESULT hr = collection_snapshot(map, &items, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const struct value_map_item *item = (const struct value_map_item *)items[i];
        hr = each(user, (HRESULT)(uint32_t)item->Value.integer, item->Key, item->Description);
    }
    objects_release(items, count);
    return FAILED(hr) ? hr : S_OK;
}

struct looked_for {
    HRESULT hr;
    const char *key;
    bool found;
};

static HRESULT compare_issue(void *user, HRESULT hr, const char *key, const char *text)
{
    struct looked_for *l = user;
    (void)text;
    l->found = l->found || (hr == l->hr && !strcmp(key, l->key));
    return S_OK;
}

HRESULT issues_has(struct object *map, HRESULT hr_found, const char *key, bool *out)
{
    struct looked_for l = {.hr = hr_found, .key = key};
    const HRESULT hr = issues_each(map, compare_issue, &l);
    *out = l.found;
    return hr;
}

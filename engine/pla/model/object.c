/* SPDX-License-Identifier: MIT */
/* Objects made of property rows: locks, life cycle, get and put, collections. */
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/model.h"

#include <math.h>
#include <string.h>

/* ---- locks, and reading numbers without them ---- */

/* Each set, with all objects below it, uses one of these locks, which is chosen at creation. Locks are never freed, so
   a thread can safely take an object's lock even if the object has just moved to another set. If two sets share a lock,
   their threads wait for each other, but nothing else changes. */
static struct lock locks[OBJECT_LOCKS];
struct object_turns object_turns[OBJECT_LOCKS];
static atomic_uint next_lock;

static void object_lock_enter(unsigned index)
{
    lock_enter(&locks[index]);
    const unsigned turns = atomic_load_explicit(&object_turns[index].count, memory_order_relaxed);
    assert(!(turns & 1)); /* only the holder of the lock writes the count, and locks are not recursive */
    atomic_store_explicit(&object_turns[index].count, turns + 1, memory_order_relaxed);
}

static void object_lock_leave(unsigned index)
{
    const unsigned turns = atomic_load_explicit(&object_turns[index].count, memory_order_relaxed);
    assert(turns & 1);
    atomic_store_explicit(&object_turns[index].count, turns + 1, memory_order_release);
    lock_leave(&locks[index]);
}

/* Returns the lock for a new object: the lock of `beside`, or the next one in turn. */
static unsigned object_lock_choose(const struct object *beside)
{
    return beside ? atomic_load(&beside->lock) : atomic_fetch_add(&next_lock, 1) % OBJECT_LOCKS;
}

void object_lock(struct object *o)
{
    for (;;) {
        unsigned index = atomic_load(&o->lock);
        object_lock_enter(index);
        if (atomic_load(&o->lock) == index)
            return;
        object_lock_leave(index);
    }
}

void object_unlock(struct object *o)
{
    object_lock_leave(atomic_load(&o->lock));
}

/* The locks of two objects that may belong to different sets. The lock with the lower index is taken first. */
struct object_locks {
    unsigned first, second;
};

static void object_unlock_both(struct object_locks held)
{
    if (held.second != held.first)
        object_lock_leave(held.second);
    object_lock_leave(held.first);
}

static struct object_locks object_lock_both(struct object *a, struct object *b)
{
    for (;;) {
        unsigned la = atomic_load(&a->lock), lb = atomic_load(&b->lock);
        struct object_locks l = {la < lb ? la : lb, la < lb ? lb : la};
        object_lock_enter(l.first);
        if (l.second != l.first)
            object_lock_enter(l.second);
        if (atomic_load(&a->lock) == la && atomic_load(&b->lock) == lb)
            return l;
        object_unlock_both(l);
    }
}

/* Limits of a DATE (MS-OAUT 2.2.25): 1601-01-01 and the day after 9999-12-31, because set XML supports these years. A
   DATE that is used as a time of day may also be in an earlier year, from the year 100 on. */
#define DATE_FIRST -109205.0
#define DATE_END   2958466.0
#define TIME_FIRST -657435.0

static void *field(const struct object *o, const struct property *p)
{
    return (char *)o + p->offset;
}

struct object *object_child(const struct object *o, const struct property *p)
{
    return p->kind == PROPERTY_OBJECT ? *(struct object **)field(o, p) : NULL;
}

static struct items *items_of(const struct object *o)
{
    return o->class->items ? (struct items *)((char *)o + o->class->items) : NULL;
}

/* Returns the value's union, whose representation is the same as that of a field. */
static char *union_of(struct value *v)
{
    return (char *)v + offsetof(struct value, boolean);
}

/* Charges `bytes`; a negative number cancels a charge. Call it under the lock. Values that were stored without
   exchange_field were never charged, so the charge can be smaller than the amount to cancel. */
static void count_held(struct object *o, int64_t bytes)
{
    if (o->counted + bytes < 0)
        bytes = -o->counted;
    o->counted += bytes;
    memory_share_count(o->share, bytes);
}

static void object_exchange_value(struct object *o, const struct property *p, struct value *v);

void object_count(struct object *o, int64_t bytes)
{
    if (!o->share) /* Windows' COM creates objects before the client is known */
        o->share = memory_share_reference(memory_share_served());
    if (o->share)
        count_held(o, bytes);
}

/* Exchanges the field and *v, and adjusts the charge. */
static void exchange_field(struct object *o, const struct property *p, struct value *v)
{
    const bool counts = o->share || memory_share_served();
    const int64_t before = counts ? (int64_t)value_bytes(v) : 0;
    object_exchange_value(o, p, v);
    if (counts)
        object_count(o, before - (int64_t)value_bytes(v));
}

/* Exchanges the field and *v. Numbers are exchanged atomically, for object_get_number. */
static void object_exchange_value(struct object *o, const struct property *p, struct value *v)
{
    char *f = field(o, p), *held = union_of(v);
    switch (p->kind) {
    case PROPERTY_BOOL:
        v->boolean = atomic_exchange((_Atomic bool *)f, v->boolean);
        return;
    case PROPERTY_I32:
    case PROPERTY_U32:
    case PROPERTY_ENUM:
    case PROPERTY_FLAGS:
        v->u32 = atomic_exchange((_Atomic uint32_t *)(void *)f, v->u32);
        return;
    default:
        break;
    }
    char kept[sizeof(struct value)];
    const size_t size = value_size(p->kind);
    memcpy(kept, f, size);
    memcpy(f, held, size);
    memcpy(held, kept, size);
}

/* Copies the field into *out; under the lock. */
static HRESULT read_field(const struct object *o, const struct property *p, struct value *out)
{
    struct value v = {.kind = p->kind};
    memcpy(union_of(&v), field(o, p), value_size(p->kind));
    return value_copy(out, &v);
}

/* Creates the list for a row's default, in which ';' separates the items. */
static HRESULT default_list(const char *text, struct texts *out)
{
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && text && *text) {
        size_t n = strcspn(text, ";");
        char *item = text_copy_n(text, n);
        hr = item ? texts_add(out, item) : E_OUTOFMEMORY;
        memory_free(item);
        text += n + (text[n] == ';');
    }
    return hr;
}

static void mark_put(struct object *o, const struct property *p)
{
    assert(p >= o->class->properties && p < o->class->properties + o->class->property_count);
    o->rows_put |= 1ull << (p - o->class->properties);
    o->rows_chosen |= 1ull << (p - o->class->properties);
}

static HRESULT default_value(const struct property *p, struct value *v)
{
    memset(v, 0, sizeof *v);
    v->kind = p->kind;
    switch (p->kind) {
    case PROPERTY_BOOL:
        v->boolean = p->number != 0;
        break;
    case PROPERTY_I32:
        v->i32 = (int32_t)p->number;
        break;
    case PROPERTY_U32:
    case PROPERTY_ENUM:
    case PROPERTY_FLAGS:
        v->u32 = (uint32_t)p->number;
        break;
    case PROPERTY_TEXT:
        v->text = text_copy(p->text);
        return v->text ? S_OK : E_OUTOFMEMORY;
    case PROPERTY_TEXTS:
        return default_list(p->text, &v->texts);
    default:
        break;
    }
    return S_OK;
}

HRESULT object_create(const struct class *class, struct object *beside, struct object **out)
{
    struct memory_share *share = memory_share_served();
    *out = NULL;
    HRESULT hr = memory_share_room(share, class->size);
    if (FAILED(hr))
        return hr;
    struct object *o = memory_zero(1, class->size);
    if (!o)
        return E_OUTOFMEMORY;
    o->class = class;
    o->share = memory_share_reference(share);
    if (share)
        count_held(o, (int64_t) class->size);
    atomic_init(&o->references, 1);
    atomic_init(&o->lock, object_lock_choose(beside));
    for (size_t i = 0; i < class->property_count; i++) {
        struct value v;
        if (FAILED(default_value(&class->properties[i], &v))) {
            value_free(&v);
            object_release(o);
            return E_OUTOFMEMORY;
        }
        exchange_field(o, &class->properties[i], &v);
    }
    hr = class->created ? class->created(o) : S_OK;
    if (FAILED(hr)) {
        object_release(o);
        return hr;
    }
    *out = o;
    return S_OK;
}

HRESULT object_room(struct object *o, size_t bytes)
{
    struct memory_share *share = memory_share_served();
    if (!share)
        return S_OK;
    object_lock(o);
    share = o->share ? o->share : share; /* o->share lives as long as the object */
    object_unlock(o);
    return memory_share_room(share, bytes);
}

HRESULT object_hold(struct object *o, size_t bytes)
{
    HRESULT hr = object_room(o, bytes);
    if (FAILED(hr))
        return hr;
    object_lock(o);
    object_count(o, (int64_t)bytes);
    object_unlock(o);
    return S_OK;
}

HRESULT object_create_child(struct object *parent, const struct class *class, struct object **child)
{
    HRESULT hr = object_create(class, parent, child);
    if (SUCCEEDED(hr))
        (*child)->parent = parent;
    return hr;
}

struct object *object_reference(struct object *o)
{
    if (o)
        atomic_fetch_add(&o->references, 1);
    return o;
}

bool object_try_reference(struct object *o)
{
    unsigned n = atomic_load(&o->references);
    while (n)
        if (atomic_compare_exchange_weak(&o->references, &n, n + 1))
            return true;
    return false;
}

/* Clears the item's parent if this collection is the parent. Without `adopts`, an item of the collection has no parent,
   or another parent. */
static void disown(struct object *collection, struct object *item)
{
    if (item->parent == collection)
        item->parent = NULL;
}

static void object_destroy(struct object *o)
{
    struct items *items = items_of(o);
    object_lock(o);
    for (size_t i = 0; items && i < items->count; i++)
        disown(o, items->list[i]);
    for (size_t i = 0; i < o->class->property_count; i++) {
        struct object *child = object_child(o, &o->class->properties[i]);
        if (child)
            child->parent = NULL;
    }
    object_unlock(o);
    if (items)
        objects_release(items->list, items->count);
    if (o->share) {
        memory_share_count(o->share, -o->counted);
        memory_share_release(o->share);
    }
    for (size_t i = 0; i < o->class->property_count; i++) {
        struct value v = {.kind = o->class->properties[i].kind};
        object_exchange_value(o, &o->class->properties[i], &v);
        value_free(&v);
    }
    if (o->class->destroyed)
        o->class->destroyed(o);
    memory_free(o);
}

void object_release(struct object *o)
{
    assert(!o || atomic_load(&o->references));
    if (o && atomic_fetch_sub(&o->references, 1) == 1)
        object_destroy(o);
}

void objects_release(struct object **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        object_release(list[i]);
    memory_free(list);
}

HRESULT object_read_live(struct object *o, unsigned parts, struct set_live *out)
{
    memset(out, 0, sizeof *out);
    return o->class->read_live ? o->class->read_live(o, parts, out) : S_FALSE;
}

bool object_field_stands(struct object *o, const struct property *p)
{
    object_lock(o);
    bool stands = !p->put || p->put(o);
    object_unlock(o);
    return stands;
}

HRESULT object_get_with(struct object *o, const struct property *p, const struct set_live *live, struct value *out)
{
    memset(out, 0, sizeof *out);
    out->kind = p->kind;
    if (p->put && object_field_stands(o, p))
        return object_get_field(o, p, out);
    return p->get_live ? p->get_live(o, p, live, out) : p->get ? p->get(o, p, out) : object_get_field(o, p, out);
}

HRESULT object_get(struct object *o, const struct property *p, struct value *out)
{
    struct set_live live = {0};
    bool asked = p->get_live && !(p->put && object_field_stands(o, p));
    HRESULT hr = asked ? object_read_live(o, p->live_parts, &live) : S_OK;
    if (SUCCEEDED(hr)) {
        hr = object_get_with(o, p, asked ? &live : NULL, out);
    } else {
        memset(out, 0, sizeof *out);
        hr = error_prefix(hr, "%s", p->name);
    }
    set_live_free(&live);
    return hr;
}

HRESULT object_get_field(struct object *o, const struct property *p, struct value *out)
{
    object_lock(o);
    HRESULT hr = read_field(o, p, out);
    object_unlock(o);
    if (FAILED(hr))
        value_free(out);
    return hr;
}

static HRESULT object_check_value(struct object *o, const struct property *p, const struct value *in)
{
    switch (p->kind) {
    case PROPERTY_I32:
        if (in->i32 < p->min || in->i32 > p->max)
            return error_set(E_INVALIDARG, "%s: %d is not between %lld and %lld", p->name, (int)in->i32,
                             (long long)p->min, (long long)p->max);
        break;
    case PROPERTY_U32:
        if (in->u32 < p->min || in->u32 > p->max)
            return error_set(E_INVALIDARG, "%s: %u is not between %lld and %lld", p->name, (unsigned)in->u32,
                             (long long)p->min, (long long)p->max);
        break;
    case PROPERTY_ENUM:
        if (!enumeration_has(p->enumeration, in->u32))
            return error_set(E_INVALIDARG, "%s: invalid value %d: not in %s", p->name, (int)in->u32,
                             p->enumeration->name);
        break;
    case PROPERTY_BYTES:
        if ((int64_t)in->bytes.count > p->max)
            return error_set(E_INVALIDARG, "%s: %u bytes: at most %lld are allowed", p->name, (unsigned)in->bytes.count,
                             (long long)p->max);
        break;
    case PROPERTY_DATE:
    case PROPERTY_TIME:
        if (in->variant.type != VARIANT_EMPTY && in->variant.type != VARIANT_DATE)
            return error_set(E_INVALIDARG, "%s: a VARIANT of type %d is neither a date nor empty", p->name,
                             (int)in->variant.type);
        if (in->variant.type == VARIANT_DATE &&
            !(in->variant.real < DATE_END &&
              in->variant.real > (p->kind == PROPERTY_TIME ? TIME_FIRST : DATE_FIRST - 1)))
            return error_set(E_INVALIDARG, "%s: invalid date %g: expected a year from %d to 9999", p->name,
                             in->variant.real, p->kind == PROPERTY_TIME ? 100 : 1601);
        break;
    default:
        break;
    }
    return p->check ? p->check(o, p, in) : S_OK;
}

/* Replaces the field without checks, calls `changed` unless it is NULL, and frees the old value. */
static void replace_field(struct object *o, const struct property *p, struct value *v, void (*changed)(struct object *))
{
    object_lock(o);
    exchange_field(o, p, v);
    mark_put(o, p);
    if (changed)
        changed(o);
    object_unlock(o);
    value_free(v);
}

HRESULT object_give(struct object *o, const struct property *p, struct value *v)
{
    if (v->kind != p->kind || p->kind == PROPERTY_OBJECT)
        return error_set(E_UNEXPECTED, "%s: the type of the value is wrong", p->name);
    HRESULT hr = object_check_value(o, p, v);
    if (SUCCEEDED(hr) && memory_share_served())
        hr = object_room(o, value_bytes(v));
    if (FAILED(hr))
        return hr;
    if (p->kind == PROPERTY_FLAGS)
        v->u32 &= enumeration_mask(p->enumeration);
    /* A DATE counts days: the integer part is the day, the fraction the time of day (MS-OAUT 2.2.25). */
    if (p->kind == PROPERTY_DATE)
        v->variant.real = trunc(v->variant.real);
    if (p->kind == PROPERTY_TIME)
        v->variant.real = fabs(v->variant.real - trunc(v->variant.real));
    replace_field(o, p, v, p->changed);
    return S_OK;
}

void object_give_unchecked(struct object *o, const struct property *p, struct value *v)
{
    replace_field(o, p, v, NULL);
}

HRESULT object_put(struct object *o, const struct property *p, const struct value *in)
{
    struct value v;
    HRESULT hr = value_copy(&v, in);
    if (SUCCEEDED(hr))
        hr = object_give(o, p, &v);
    value_free(&v);
    return hr;
}

HRESULT object_put_default(struct object *o, const struct property *p)
{
    struct value v;
    HRESULT hr = default_value(p, &v);
    if (SUCCEEDED(hr))
        replace_field(o, p, &v, NULL);
    return hr;
}

HRESULT object_put_text(struct object *o, const struct property *p, const char *text)
{
    struct value v = {.kind = PROPERTY_TEXT, .text = text_copy(text)};
    if (!v.text)
        return E_OUTOFMEMORY;
    replace_field(o, p, &v, NULL);
    return S_OK;
}

const struct property *class_property(const struct class *class, const char *name)
{
    for (size_t i = 0; i < class->property_count; i++)
        if (!strcmp(class->properties[i].name, name))
            return &class->properties[i];
    return NULL;
}

/* ---- chosen rows ---- */

bool object_row_is_chosen(struct object *o, const struct property *p)
{
    struct object *child = object_child(o, p);
    if (child && items_of(child))
        return collection_count(child) != 0;
    object_lock(o);
    bool chosen = o->rows_chosen >> (p - o->class->properties) & 1;
    object_unlock(o);
    return chosen;
}

/* Determines whether the field has the value that the row would have if no value had been set. That value is the
   default, or the value that the getter returns for the default, such as the collector's name for FileName. No other
   thread may use the object. */
static HRESULT shows_default(struct object *o, const struct property *p, bool *same)
{
    struct value held = {.kind = p->kind} /* borrowed */, usual, shown = {.kind = p->kind};
    *same = false;
    memcpy(union_of(&held), field(o, p), value_size(p->kind));
    HRESULT hr = default_value(p, &usual);
    *same = SUCCEEDED(hr) && value_equal(&held, &usual);
    if (SUCCEEDED(hr) && !*same && p->get) {
        object_exchange_value(o, p, &usual);
        hr = p->get(o, p, &shown);
        *same = SUCCEEDED(hr) && value_equal(&held, &shown);
        object_exchange_value(o, p, &usual);
        value_free(&shown);
    }
    value_free(&usual);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

HRESULT object_forget_defaults(struct object *o)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < o->class->property_count; i++) {
        bool same = false;
        if (o->rows_put & o->rows_chosen & 1ull << i)
            hr = shows_default(o, &o->class->properties[i], &same);
        if (same)
            o->rows_chosen &= ~(1ull << i);
    }
    return hr;
}

/* Copies the values of the rows, and the values of each child object whose row in `from` is XML_STORED. Call it under
   the lock of `from`. */
static HRESULT copy_values(const struct object *from, struct object *to)
{
    HRESULT hr = S_OK;
    to->rows_chosen = from->rows_chosen;
    for (size_t i = 0; SUCCEEDED(hr) && i < from->class->property_count; i++) {
        const struct property *p = &from->class->properties[i];
        struct value v;
        if (p->kind == PROPERTY_OBJECT) {
            if (p->xml_use == XML_STORED)
                hr = copy_values(object_child(from, p), object_child(to, p));
            continue;
        }
        hr = read_field(from, p, &v);
        if (SUCCEEDED(hr))
            exchange_field(to, p, &v);
        value_free(&v);
    }
    if (SUCCEEDED(hr) && from->class->copied)
        hr = from->class->copied(from, to);
    return hr;
}

HRESULT object_copy(struct object *from, struct object **out)
{
    struct object *to;
    HRESULT hr = object_create(from->class, from, &to);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    object_lock(from);
    hr = copy_values(from, to);
    object_unlock(from);
    if (FAILED(hr)) {
        object_release(to);
        return hr;
    }
    *out = to;
    return S_OK;
}

static void exchange_items(struct object *a, struct object *b)
{
    assert(a->class == b->class);
    struct items *ia = items_of(a), *ib = items_of(b), t = *ia;
    *ia = *ib;
    *ib = t;
    if (!a->class->adopts)
        return;
    for (size_t i = 0; i < ia->count; i++)
        ia->list[i]->parent = a;
    for (size_t i = 0; i < ib->count; i++)
        ib->list[i]->parent = b;
}

static void object_take_rows(struct object *o, struct object *from, bool all)
{
    assert(o->class == from->class && atomic_load(&o->lock) == atomic_load(&from->lock));
    for (size_t i = 0; i < o->class->property_count; i++) {
        const struct property *p = &o->class->properties[i];
        struct value v = {.kind = p->kind};
        if (p->kind == PROPERTY_OBJECT) {
            object_take_rows(object_child(o, p), object_child(from, p), all);
            continue;
        }
        if (!all && !(from->rows_put >> i & 1))
            continue;
        exchange_field(o, p, &v);
        exchange_field(from, p, &v);
        exchange_field(o, p, &v);
        o->rows_chosen = (o->rows_chosen & ~(1ull << i)) | (from->rows_chosen & 1ull << i);
        if (p->changed) /* may clear a dependent row, which is later in the table */
            p->changed(o);
    }
    if (items_of(o) && (all || from->items_read))
        exchange_items(o, from);
    if (o->class->exchanged)
        o->class->exchanged(o, from);
}

void object_take(struct object *o, struct object *from, bool all)
{
    object_lock(o);
    object_take_rows(o, from, all);
    object_unlock(o);
}

bool object_take_outstanding(struct object *o, struct object *from, atomic_bool *outstanding)
{
    object_lock(o);
    bool was = atomic_load(outstanding);
    if (was)
        object_take_rows(o, from, true);
    atomic_store(outstanding, false); /* done last: a thread that reads false without the lock must see the new rows */
    object_unlock(o);
    return was;
}

HRESULT object_complete(struct object *o)
{
    return object_complete_row(o, NULL);
}

HRESULT object_complete_row(struct object *o, const struct property *p)
{
    return o->class->complete ? o->class->complete(o, p) : S_OK;
}

/* ---- collections ---- */

size_t collection_count(struct object *collection)
{
    object_lock(collection);
    size_t n = items_of(collection)->count;
    object_unlock(collection);
    return n;
}

static HRESULT bad_index(struct object *collection, size_t index)
{
    return error_set(DISP_E_BADINDEX, "%s: index %lld is out of range (%u items)", collection->class->name,
                     (long long)index, (unsigned)items_of(collection)->count);
}

HRESULT collection_item(struct object *collection, size_t index, struct object **out)
{
    struct items *items = items_of(collection);
    HRESULT hr = S_OK;
    object_lock(collection);
    *out = index < items->count ? object_reference(items->list[index]) : NULL;
    if (!*out)
        hr = bad_index(collection, index);
    object_unlock(collection);
    return hr;
}

/* Assigns another lock to `o` and all objects below it. The caller holds both locks. */
static void change_lock(struct object *o, unsigned lock)
{
    struct items *items = items_of(o);
    for (size_t i = 0; items && i < items->count; i++)
        if (items->list[i]->parent == o)
            change_lock(items->list[i], lock);
    for (size_t i = 0; i < o->class->property_count; i++) {
        struct object *child = object_child(o, &o->class->properties[i]);
        if (child)
            change_lock(child, lock);
    }
    atomic_store(&o->lock, lock);
}

bool collection_takes(const struct class *collection, const struct class *item)
{
    for (const struct class *const *c = collection->item_classes; *c; c++)
        if (*c == item)
            return true;
    return false;
}

HRESULT collection_add(struct object *collection, struct object *item)
{
    struct items *items = items_of(collection);
    struct object_locks held = object_lock_both(collection, item);
    HRESULT hr = S_OK;
    if (collection->class->adopts && item->parent)
        hr = error_set(E_INVALIDARG, "%s: the %s is already in a collection", collection->class->name,
                       item->class->name);
    if (SUCCEEDED(hr) && !collection_takes(collection->class, item->class))
        hr = error_set(E_INVALIDARG, "%s: does not accept a %s", collection->class->name, item->class->name);
    if (SUCCEEDED(hr) && collection->class->admit)
        hr = collection->class->admit(collection, item);
    if (SUCCEEDED(hr) && !memory_grow((void **)&items->list, &items->capacity, items->count + 1, sizeof items->list[0]))
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        items->list[items->count++] = object_reference(item);
        if (collection->class->adopts) {
            item->parent = collection;
            change_lock(item, atomic_load(&collection->lock));
        }
    }
    object_unlock_both(held);
    return hr;
}

static struct object *take_out(struct object *collection, struct items *items, size_t index)
{
    assert(index < items->count);
    struct object *item = items->list[index];
    memmove(&items->list[index], &items->list[index + 1], (items->count - index - 1) * sizeof items->list[0]);
    items->count--;
    disown(collection, item);
    return item;
}

HRESULT collection_remove(struct object *collection, size_t index)
{
    struct items *items = items_of(collection);
    struct object *item = NULL;
    HRESULT hr = S_OK;
    object_lock(collection);
    if (index < items->count)
        item = take_out(collection, items, index);
    else
        hr = bad_index(collection, index);
    object_unlock(collection);
    object_release(item);
    return hr;
}

HRESULT collection_remove_object(struct object *collection, struct object *item)
{
    struct items *items = items_of(collection);
    struct object *found = NULL;
    object_lock(collection);
    for (size_t i = 0; !found && i < items->count; i++)
        if (items->list[i] == item)
            found = take_out(collection, items, i);
    object_unlock(collection);
    object_release(found);
    return found ? S_OK : error_set(E_INVALIDARG, "%s: the object is not in the collection", collection->class->name);
}

void collection_clear(struct object *collection)
{
    struct items *items = items_of(collection), old;
    object_lock(collection);
    old = *items;
    memset(items, 0, sizeof *items);
    for (size_t i = 0; i < old.count; i++)
        disown(collection, old.list[i]);
    object_unlock(collection);
    objects_release(old.list, old.count);
}

void collection_exchange(struct object *a, struct object *b)
{
    object_lock(a);
    exchange_items(a, b);
    object_unlock(a);
}

HRESULT collection_snapshot(struct object *collection, struct object ***list, size_t *count)
{
    struct items *items = items_of(collection);
    HRESULT hr = S_OK;
    *count = 0;
    object_lock(collection);
    *list = memory_zero(items->count + 1, sizeof **list);
    if (!*list)
        hr = E_OUTOFMEMORY;
    else
        for (; *count < items->count; ++*count)
            (*list)[*count] = object_reference(items->list[*count]);
    object_unlock(collection);
    return hr;
}

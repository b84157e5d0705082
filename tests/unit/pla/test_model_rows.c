/* SPDX-License-Identifier: MIT */
/* Every property of every object in a complete set: a get returns the value that was put, NULL and invalid values are
   rejected, and the set's XML restores all values. If a property failed one of these, a user would lose a setting. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

static const struct property *row(struct object *o, size_t i)
{
    return &o->class->properties[i];
}

static struct object *child_of(struct object *o, const struct property *p)
{
    return *(struct object **)((char *)o + p->offset);
}

static void add_new(struct object *collection, const struct class *class)
{
    struct object *item = NULL;
    assert_int_equal(object_create(class, collection, &item), S_OK);
    assert_int_equal(collection_add(collection, item), S_OK);
    object_release(item);
}

/* Adds one object of each kind that `o` can contain, recursively. */
static void populate(struct object *o)
{
    if (o->class->items)
        for (const struct class *const *c = o->class->item_classes; *c; c++)
            add_new(o, *c);
    for (size_t i = 0; o->class->items && i < collection_count(o); i++) {
        struct object *item;
        assert_int_equal(collection_item(o, i, &item), S_OK);
        populate(item);
        object_release(item);
    }
    for (size_t i = 0; i < o->class->property_count; i++)
        if (row(o, i)->kind == PROPERTY_OBJECT)
            populate(child_of(o, row(o, i)));
}

/* Returns a string that the property accepts. Properties without a check accept any string. */
static const char *text_for(const struct property *p)
{
    static const struct {
        const char *name, *text;
    } special[] = {
        {"Security", "O:BAG:BAD:(A;;FA;;;SY)"},
        {"DataSourceName", "SQL:source!set"},
        {"ReportSchema", "<Report name=\"r\"/>"},
        {"Rules", "<Rules><Logging level=\"1\"/></Rules>"},
    };
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (!strcmp(p->name, special[i].name))
            return special[i].text;
    return p->check ? "name of \xC3\xA4" : "<text> & \"more\" \xC3\xA4\n\xF0\x9F\x98\x80 ]]>";
}

/* Returns a value that is not the default. */
static void value_for(const struct property *p, struct value *v)
{
    memset(v, 0, sizeof *v);
    v->kind = p->kind;
    switch (p->kind) {
    case PROPERTY_BOOL:
        v->boolean = !p->number;
        break;
    case PROPERTY_I32:
        v->i32 = (int32_t)p->max;
        break;
    case PROPERTY_U32:
        v->u32 = (uint32_t)p->max;
        break;
    case PROPERTY_U64:
        v->u64 = 0x8123456789ABCDEFu;
        break;
    case PROPERTY_ENUM:
        v->u32 = p->enumeration->items[p->enumeration->count - 1].value;
        if (!strcmp(p->name, "ValueMapType")) /* a validation map is not part of a set */
            v->u32 = 2;
        break;
    case PROPERTY_FLAGS:
        v->u32 = enumeration_mask(p->enumeration);
        break;
    case PROPERTY_TEXT:
        v->text = text_copy(text_for(p));
        break;
    case PROPERTY_TEXTS:
        for (int i = 0; i < 3; i++) {
            char *text = text_format(!strcmp(p->name, "AlertThresholds") ? "\\A(b#%d)\\c>5" : "\\A(b#%d)\\<c> & d", i);
            assert_int_equal(texts_add_owned(&v->texts, text), S_OK);
        }
        break;
    case PROPERTY_BYTES:
        v->bytes.items = memory_copy("\x00\x01\xFE\xFF", 4);
        v->bytes.count = 4;
        break;
    case PROPERTY_GUID:
        v->guid = (GUID){0x12345678, 0x9ABC, 0xDEF0, {1, 2, 3, 4, 5, 6, 7, 8}};
        break;
    case PROPERTY_VARIANT:
        v->variant = (struct variant){.type = VARIANT_UI8, .integer = 6};
        break;
    case PROPERTY_DATE:
        v->variant = (struct variant){.type = VARIANT_DATE, .real = 45000};
        break;
    case PROPERTY_TIME:
        v->variant = (struct variant){.type = VARIANT_DATE, .real = 0.25};
        break;
    case PROPERTY_OBJECT:
        break;
    }
}

static void assert_same(const struct object *o, const struct property *p, const struct value *a, const struct value *b)
{
    bool same = a->kind == b->kind;
    switch (p->kind) {
    case PROPERTY_TEXT:
        same = same && !strcmp(a->text, b->text);
        break;
    case PROPERTY_TEXTS:
        same = same && a->texts.count == b->texts.count;
        for (size_t i = 0; same && i < a->texts.count; i++)
            same = !strcmp(a->texts.items[i], b->texts.items[i]);
        break;
    case PROPERTY_BYTES:
        same = same && a->bytes.count == b->bytes.count &&
               (!a->bytes.count || !memcmp(a->bytes.items, b->bytes.items, a->bytes.count));
        break;
    case PROPERTY_GUID:
        same = same && guid_equal(&a->guid, &b->guid);
        break;
    case PROPERTY_BOOL:
        same = same && a->boolean == b->boolean;
        break;
    case PROPERTY_U64:
        same = same && a->u64 == b->u64;
        break;
    case PROPERTY_DATE:
    case PROPERTY_TIME:
    case PROPERTY_VARIANT:
        same = same && a->variant.type == b->variant.type && a->variant.integer == b->variant.integer &&
               (int64_t)(a->variant.real * 86400) == (int64_t)(b->variant.real * 86400);
        break;
    default:
        same = same && a->u32 == b->u32;
        break;
    }
    if (!same)
        fail_msg("%s of a %s changed", p->name, o->class->name);
}

static bool is_writable(const struct property *p)
{
    return p->access == ACCESS_RW && p->kind != PROPERTY_OBJECT;
}

static void visit(struct object *o, void (*what)(struct object *o, const struct property *p))
{
    for (size_t i = 0; i < o->class->property_count; i++)
        if (is_writable(row(o, i)))
            what(o, row(o, i));
    for (size_t i = 0; o->class->items && i < collection_count(o); i++) {
        struct object *item;
        assert_int_equal(collection_item(o, i, &item), S_OK);
        visit(item, what);
        object_release(item);
    }
    for (size_t i = 0; i < o->class->property_count; i++)
        if (row(o, i)->kind == PROPERTY_OBJECT)
            visit(child_of(o, row(o, i)), what);
}

static int visited;

static void put_and_get(struct object *o, const struct property *p)
{
    struct value v, back;
    value_for(p, &v);
    if (!strcmp(p->name, "Name")) { /* each collector needs a different name */
        memory_free(v.text);
        v.text = text_format("name of %s", o->class->name);
    }
    HRESULT hr = object_put(o, p, &v);
    if (FAILED(hr))
        fail_msg("%s of a %s: %s", p->name, o->class->name, error_text(hr));
    assert_int_equal(object_get_field(o, p, &back), S_OK);
    assert_same(o, p, &v, &back);
    value_free(&back);
    value_free(&v);
    visited++;
}

/* Puts a value of the wrong kind, which must fail and change nothing. */
static void put_wrong(struct object *o, const struct property *p)
{
    struct value wrong = {.kind = p->kind == PROPERTY_BOOL ? PROPERTY_U32 : PROPERTY_BOOL}, before, after;
    assert_int_equal(object_get_field(o, p, &before), S_OK);
    assert_int_equal(object_put(o, p, &wrong), E_UNEXPECTED);
    assert_int_equal(object_get_field(o, p, &after), S_OK);
    assert_same(o, p, &before, &after);
    value_free(&after);
    value_free(&before);
}

/* Asserts that both trees of objects have the same values. */
static void compare(struct object *a, struct object *b)
{
    assert_ptr_equal(a->class, b->class);
    for (size_t i = 0; i < a->class->property_count; i++) {
        const struct property *p = row(a, i);
        struct value of_a, of_b;
        if (p->kind == PROPERTY_OBJECT) {
            compare(child_of(a, p), child_of(b, p));
            continue;
        }
        if (p->xml_use == XML_HIDDEN)
            continue;
        /* If no interface has a property, a hook computes its value from other properties. */
        HRESULT(*get)
        (struct object *, const struct property *, struct value *) =
            p->access == ACCESS_NONE ? object_get : object_get_field;
        assert_int_equal(get(a, p, &of_a), S_OK);
        assert_int_equal(get(b, p, &of_b), S_OK);
        assert_same(a, p, &of_a, &of_b);
        value_free(&of_b);
        value_free(&of_a);
    }
    if (!a->class->items)
        return;
    assert_int_equal(collection_count(a), collection_count(b));
    for (size_t i = 0; i < collection_count(a); i++) {
        struct object *of_a, *of_b;
        assert_int_equal(collection_item(a, i, &of_a), S_OK);
        assert_int_equal(collection_item(b, i, &of_b), S_OK);
        compare(of_a, of_b);
        object_release(of_b);
        object_release(of_a);
    }
}

static void put_values_are_kept_by_get_and_xml(void **state)
{
    struct object *set, *again, *issues;
    char *xml, *second;
    size_t size;
    (void)state;
    assert_int_equal(set_create(&set), S_OK);
    assert_int_equal(set_create(&again), S_OK);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    populate(set);
    visit(set, put_and_get);
    assert_true(visited > 150); /* the properties of 5 collectors and of the objects in them */
    assert_int_equal(set_put_value(set, "<key>", " a <value> "), S_OK);
    visit(set, put_wrong);
    assert_int_equal(object_to_xml(set, &xml, &size), S_OK);
    assert_int_equal(set_from_xml(again, xml, size, issues), S_OK);
    for (size_t i = 0; i < collection_count(issues); i++) {
        struct object *item;
        assert_int_equal(collection_item(issues, i, &item), S_OK);
        fail_msg("%s: %s", ((struct value_map_item *)item)->Key, ((struct value_map_item *)item)->Description);
    }
    compare(set, again);
    /* If a document lacks some values, these stay unchanged. */
    static const char partial[] = "<DataCollectorSet><Duration>4294967295</Duration></DataCollectorSet>";
    assert_int_equal(set_from_xml(again, partial, strlen(partial), issues), S_OK);
    compare(set, again);
    assert_int_equal(object_to_xml(again, &second, NULL), S_OK);
    memory_free(second);
    memory_free(xml);
    object_release(issues);
    object_release(again);
    object_release(set);
}

/* The same test with XML documents of single collectors. */
static void collector_documents_keep_values_too(void **state)
{
    (void)state;
    for (uint32_t type = 0; collector_class(type); type++) {
        struct object *collector, *again, *issues;
        char *xml;
        size_t size;
        assert_int_equal(object_create(collector_class(type), NULL, &collector), S_OK);
        assert_int_equal(issues_create(NULL, &issues), S_OK);
        populate(collector);
        visit(collector, put_and_get);
        assert_int_equal(object_to_xml(collector, &xml, &size), S_OK);
        assert_int_equal(collector_create_from_xml(NULL, xml, size, issues, &again), S_OK);
        assert_int_equal(collection_count(issues), 0);
        compare(collector, again);
        memory_free(xml);
        object_release(issues);
        object_release(again);
        object_release(collector);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_values_are_kept_by_get_and_xml),
        cmocka_unit_test(collector_documents_keep_values_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

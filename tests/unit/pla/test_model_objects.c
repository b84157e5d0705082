/* SPDX-License-Identifier: MIT */
/* Properties of all classes, row by row: a get must return the value that was put, and XML must preserve it. */
#include "engine/base/memory.h"
#include "tests/unit/model_classes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

static struct object *make(const struct class *class)
{
    struct object *o = NULL;
    assert_int_equal(object_create(class, NULL, &o), S_OK);
    return o;
}

/* Every property starts with its default. */
static void rows_start_with_their_defaults(void **state)
{
    (void)state;
    for (size_t c = 0; c < MODEL_CLASS_COUNT; c++) {
        struct object *o = make(model_classes[c]);
        for (size_t i = 0; i < model_classes[c]->property_count; i++) {
            const struct property *p = &model_classes[c]->properties[i];
            struct value v;
            assert_int_equal(object_get_field(o, p, &v), S_OK);
            switch (p->kind) {
            case PROPERTY_BOOL:
                assert_int_equal(v.boolean, p->number);
                break;
            case PROPERTY_I32:
                assert_int_equal(v.i32, p->number);
                break;
            case PROPERTY_U32:
            case PROPERTY_ENUM:
            case PROPERTY_FLAGS:
                if (strcmp(p->name, "DataCollectorType") != 0 && strcmp(p->name, "ValueMapType") != 0)
                    assert_int_equal(v.u32, p->number);
                break;
            case PROPERTY_TEXT:
                assert_string_equal(v.text, p->text);
                break;
            case PROPERTY_TEXTS:
                assert_int_equal(v.texts.count != 0, p->text != NULL);
                break;
            case PROPERTY_U64:
                assert_int_equal(v.u64, p->number);
                break;
            case PROPERTY_BYTES:
                assert_int_equal(v.bytes.count, 0);
                break;
            case PROPERTY_GUID:
                assert_memory_equal(&v.guid, &(GUID){0}, sizeof v.guid);
                break;
            case PROPERTY_DATE:
            case PROPERTY_TIME:
            case PROPERTY_VARIANT:
                assert_int_equal(v.variant.type, VARIANT_EMPTY);
                break;
            case PROPERTY_OBJECT:
                assert_non_null(v.object);
                break;
            }
            value_free(&v);
        }
        object_release(o);
    }
}

static void put_number(struct object *o, const struct property *p, int64_t n, HRESULT wanted)
{
    struct value v = {.kind = p->kind}, back;
    if (p->kind == PROPERTY_I32)
        v.i32 = (int32_t)n;
    else
        v.u32 = (uint32_t)n;
    assert_int_equal(object_put(o, p, &v), wanted);
    if (FAILED(wanted)) {
        assert_non_null(strstr(error_text(wanted), p->name)); /* the error must name the property */
        return;
    }
    assert_int_equal(object_get_field(o, p, &back), S_OK);
    assert_int_equal(p->kind == PROPERTY_I32 ? back.i32 : (int64_t)back.u32, n);
}

/* Each property must reject numbers outside its range or list of values, and then keep its old value. */
static void numbers_are_checked_against_their_row(void **state)
{
    (void)state;
    for (size_t c = 0; c < MODEL_CLASS_COUNT; c++) {
        struct object *o = make(model_classes[c]);
        for (size_t i = 0; i < model_classes[c]->property_count; i++) {
            const struct property *p = &model_classes[c]->properties[i];
            switch (p->kind) {
            case PROPERTY_U32:
                put_number(o, p, p->min, S_OK);
                put_number(o, p, p->max, S_OK);
                if (p->min > 0) {
                    put_number(o, p, p->min - 1, E_INVALIDARG);
                    put_number(o, p, p->max, S_OK);
                }
                break;
            case PROPERTY_ENUM: {
                uint32_t last = p->enumeration->items[p->enumeration->count - 1].value;
                for (size_t k = 0; k < p->enumeration->count; k++)
                    put_number(o, p, p->enumeration->items[k].value, S_OK);
                put_number(o, p, last + 1, E_INVALIDARG);
                struct value v;
                assert_int_equal(object_get_field(o, p, &v), S_OK);
                assert_int_equal(v.u32, last);
                break;
            }
            case PROPERTY_FLAGS: {
                struct value v = {.kind = p->kind, .u32 = UINT32_MAX};
                assert_int_equal(object_put(o, p, &v), S_OK);
                assert_int_equal(object_get_field(o, p, &v), S_OK);
                assert_int_equal(v.u32, enumeration_mask(p->enumeration)); /* undefined bits were removed */
                break;
            }
            default:
                break;
            }
        }
        object_release(o);
    }
}

/* Names, elements and members of rows are unique in each class. */
static void rows_are_unique(void **state)
{
    (void)state;
    for (size_t c = 0; c < MODEL_CLASS_COUNT; c++)
        for (size_t i = 0; i < model_classes[c]->property_count; i++)
            for (size_t k = 0; k < i; k++) {
                const struct property *a = &model_classes[c]->properties[i], *b = &model_classes[c]->properties[k];
                assert_string_not_equal(a->name, b->name);
                if (a->xml && b->xml)
                    assert_string_not_equal(a->xml, b->xml);
                assert_int_not_equal(a->offset, b->offset);
            }
}

static HRESULT put_text(struct object *o, int row, const char *text)
{
    struct value v = {.kind = PROPERTY_TEXT, .text = (char *)(uintptr_t)text};
    return object_put(o, &o->class->properties[row], &v);
}

static HRESULT put_texts(struct object *o, int row, const char *const *list, size_t count)
{
    struct value v = {.kind = PROPERTY_TEXTS};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(texts_add(&v.texts, list[i]), S_OK);
    HRESULT hr = object_put(o, &o->class->properties[row], &v);
    value_free(&v);
    return hr;
}

/* Keywords have the limits of MS-PLA. If one keyword is rejected, the previous list is kept. */
static void keywords_keep_their_limits(void **state)
{
    (void)state;
    struct object *set = make(&data_collector_set_class);
    char longest[1026];
    memset(longest, 'k', sizeof longest);
    longest[1025] = 0;
    const char *good[] = {"a", "b"}, *semicolon[] = {"x;y"}, *empty[] = {""}, *too_long[] = {longest};
    assert_int_equal(put_texts(set, IDataCollectorSet_Keywords, good, 2), S_OK);
    assert_int_equal(put_texts(set, IDataCollectorSet_Keywords, semicolon, 1), E_INVALIDARG);
    assert_int_equal(put_texts(set, IDataCollectorSet_Keywords, empty, 1), E_INVALIDARG);
    assert_int_equal(put_texts(set, IDataCollectorSet_Keywords, too_long, 1), E_INVALIDARG);
    longest[1024] = 0;
    const char *just[] = {longest};
    assert_int_equal(put_texts(set, IDataCollectorSet_Keywords, just, 1), S_OK);
    const char *many[257];
    for (size_t i = 0; i < 257; i++)
        many[i] = "w";
    assert_int_equal(put_texts(set, IDataCollectorSet_Keywords, many, 257), E_INVALIDARG);
    assert_int_equal(put_texts(set, IDataCollectorSet_Keywords, many, 256), S_OK);
    object_release(set);
}

static void counters_have_no_duplicates(void **state)
{
    (void)state;
    struct object *c = make(&performance_counter_collector_class);
    const char *good[] = {"\\A\\x", "\\A\\y"}, *twice[] = {"\\A\\x", "\\B\\z", "\\a\\X"}, *empty[] = {"\\A\\x", ""};
    int row = IPerformanceCounterDataCollector_PerformanceCounters;
    assert_int_equal(put_texts(c, row, good, 2), S_OK);
    assert_int_equal(put_texts(c, row, twice, 3), PLA_E_NO_DUPLICATES);
    assert_int_equal(put_texts(c, row, empty, 2), E_INVALIDARG);
    struct value v;
    assert_int_equal(object_get(c, &c->class->properties[row], &v), S_OK);
    assert_int_equal(v.texts.count, 2);
    value_free(&v);
    row = IPerformanceCounterDataCollector_DataSourceName;
    assert_int_equal(put_text(c, row, "SQL:dsn!log"), S_OK);
    assert_int_equal(put_text(c, row, ""), S_OK);
    assert_int_equal(put_text(c, row, "dsn!log"), E_INVALIDARG);
    assert_int_equal(put_text(c, row, "SQL:!log"), E_INVALIDARG);
    assert_int_equal(put_text(c, row, "SQL:dsn!"), E_INVALIDARG);
    object_release(c);
}

static void security_must_be_valid_sddl(void **state)
{
    (void)state;
    struct object *set = make(&data_collector_set_class);
    int row = IDataCollectorSet_Security;
    assert_int_equal(put_text(set, row, "O:BAG:BAD:P(A;;KA;;;SY)(A;;KR;;;S-1-5-32-559)"), S_OK);
    assert_int_equal(put_text(set, row, "D:AI(A;ID;0x1f019f;;;BA)"), S_OK);
    assert_int_equal(put_text(set, row, ""), S_OK);
    assert_int_equal(put_text(set, row, "hello"), E_INVALIDARG);
    assert_int_equal(put_text(set, row, "D:(A;;FA;;;SY"), E_INVALIDARG);
    assert_int_equal(put_text(set, row, "D:(A;;FA;;;SY)O:BA"), E_INVALIDARG);
    /* Descriptors may contain conditions and attributes. */
    static const char *const good[] = {
        "D:(XA;;FX;;;WD;(@User.Title==\"a)b\" && (Member_of{SID(BA)})))(A;;FA;;;BA)",
        "O:S-1-5-18G:s-1-5-21-1-2-3-4D:PAIS:(RA;;;;;WD;(\"P\",TS,0,\"W;\"))",
        "O:LAG:DUD:(A;;0x1200a9;;;LU)(A;;FRFX;;;S-1-5-32-559)(D;OICIIO;017;;;AN)(A;;33;;;IS)",
        "D:",
        "D:(OA;;CCDC;bf967aba-0de6-11d0-a285-00aa003049e2;;AU)(A;;;;;BA)",
        "D:PARAI(A;OICI;GA;;;S-1-5-21-7-7-7-1001)S:(ML;;NW;;;LW)",
    };
    static const char *const bad[] = {
        "D:(garbage)",
        "D:(A;;FA;;SY)",
        "D:(;;FA;;;SY)",
        "D:(A;;FA;;;)",
        "D:(A;;FA;;;everybody)",
        "O:D:(A;;FA;;;SY)",
        "O:Admins",
        "D:(A;;FA;;;SY)(A;;FA;",
        "D:(A;;FA;;;SY)junk",
        "D:x",
        /* The first one grants everybody everything; the second one is not valid. */
        "D:NO_ACCESS_CONTROL",
        "D:PNO_ACCESS_CONTROL(A;;FA;;;SY)",
        "O:BAG:BA",
        "S:(AU;SA;FA;;;WD)",
        "D:(A;;FZ;;;BA)",
        "D:(A;;FAF;;;BA)",
        "D:(A;;0x;;;BA)",
        "D:(A;;0x100000000;;;BA)",
        "D:(A;;09;;;BA)",
        "D:(A;XX;FA;;;BA)",
        "D:(A;;FA;;;ZZ)",
        "D:(A;;FA;;;S-1-5-4294967296)",
        "D:(A;;FA;;;S-1-5-)",
        "D:(AU;;FA;;;BA)",
        "D:(A;;FA;;;BA)D:",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(put_text(set, row, good[i]), S_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(put_text(set, row, bad[i]), E_INVALIDARG);
    object_release(set);
}

/* ---- collections ---- */

static struct object *collectors_of(struct object *set)
{
    return ((struct data_collector_set *)set)->DataCollectors;
}

static struct object *add_named(struct object *set, const char *name)
{
    struct object *c = NULL;
    assert_int_equal(object_create(&performance_counter_collector_class, set, &c), S_OK);
    assert_int_equal(put_text(c, IPerformanceCounterDataCollector_Name, name), S_OK);
    assert_int_equal(collection_add(collectors_of(set), c), S_OK);
    return c;
}

/* A collector belongs to only one set, has a unique name in it, and refers to it. */
static void collectors_belong_to_one_set(void **state)
{
    (void)state;
    struct object *set = make(&data_collector_set_class), *other = make(&data_collector_set_class), *found = NULL;
    struct object *a = add_named(set, "A"), *b = add_named(set, "B"), *twin = NULL, *unnamed = NULL;
    struct value v;
    assert_int_equal(object_create(&performance_counter_collector_class, NULL, &twin), S_OK);
    assert_int_equal(put_text(twin, IPerformanceCounterDataCollector_Name, "a"), S_OK);
    assert_int_equal(collection_add(collectors_of(set), twin), PLA_E_DC_ALREADY_EXISTS);
    assert_int_equal(collection_add(collectors_of(other), a), E_INVALIDARG);
    assert_int_equal(collection_add(collectors_of(set), a), E_INVALIDARG);
    assert_int_equal(put_text(b, IPerformanceCounterDataCollector_Name, "a"), PLA_E_DC_ALREADY_EXISTS);
    assert_int_equal(collector_set(b, &found), S_OK);
    assert_ptr_equal(found, set);
    object_release(found);
    const struct property *index = &b->class->properties[IPerformanceCounterDataCollector_Index];
    assert_int_equal(object_get(b, index, &v), S_OK);
    assert_int_equal(v.i32, 1);
    assert_int_equal(collection_remove(collectors_of(set), 0), S_OK);
    assert_int_equal(object_get(b, index, &v), S_OK);
    assert_int_equal(v.i32, 0);
    assert_int_equal(collector_set(a, &found), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(collection_add(collectors_of(other), a), S_OK); /* it was removed from its first set */
    assert_int_equal(collection_remove(collectors_of(set), 7), DISP_E_BADINDEX);
    assert_int_equal(collection_remove_object(collectors_of(set), a), E_INVALIDARG);
    assert_int_equal(object_create(&performance_counter_collector_class, NULL, &unnamed), S_OK);
    assert_int_equal(collection_add(collectors_of(set), unnamed), S_OK);
    assert_string_equal(collector_of(unnamed)->Name, "DataCollector01");
    /* Collectors continue to exist when their set is freed, and then report that it does not exist. */
    object_release(set);
    assert_int_equal(collector_set(b, &found), PLA_E_DCS_NOT_FOUND);
    object_release(a);
    object_release(b);
    object_release(twin);
    object_release(unnamed);
    object_release(other);
}

/* A collector can have any name; its default file name must be a valid file name. */
static void default_file_name_is_derived_from_the_name(void **state)
{
    (void)state;
    struct object *c = make(&performance_counter_collector_class);
    const struct property *p = &c->class->properties[IPerformanceCounterDataCollector_FileName];
    struct value v;
    assert_int_equal(put_text(c, IPerformanceCounterDataCollector_Name, "4:00 a\\b?"), S_OK);
    assert_int_equal(object_get(c, p, &v), S_OK);
    assert_string_equal(v.text, "4_00 a_b_");
    assert_int_equal(object_put(c, p, &v), S_OK);
    value_free(&v);
    assert_int_equal(put_text(c, IPerformanceCounterDataCollector_FileName, ""), S_OK);
    assert_int_equal(put_text(c, IPerformanceCounterDataCollector_Name, ".."), S_OK);
    assert_int_equal(object_get(c, p, &v), S_OK);
    assert_string_equal(v.text, "__");
    value_free(&v);
    static const char *const no_files[] = {"a:b", ".", "..", "..."};
    for (size_t i = 0; i < sizeof no_files / sizeof no_files[0]; i++)
        assert_int_equal(put_text(c, IPerformanceCounterDataCollector_FileName, no_files[i]), E_INVALIDARG);
    object_release(c);
}

/* A collector in a set always has a name. Without one, its log would be ".csv", and nobody could find the collector. */
static void collector_in_a_set_has_a_name(void **state)
{
    (void)state;
    static const char xml[] = "<PerformanceCounterDataCollector><Name/><SampleInterval>7</SampleInterval>"
                              "</PerformanceCounterDataCollector>";
    struct object *set = make(&data_collector_set_class), *issues = NULL;
    struct object *a = add_named(set, "A"), *b = add_named(set, "B");
    assert_int_equal(put_text(a, IPerformanceCounterDataCollector_Name, ""), S_OK);
    assert_string_equal(collector_of(a)->Name, "DataCollector01");
    assert_int_equal(put_text(b, IPerformanceCounterDataCollector_Name, "  "), S_OK);
    assert_string_equal(collector_of(b)->Name, "DataCollector02");
    /* XML does not keep spaces at the ends of names, so they must not be the only difference between two names. */
    assert_int_equal(put_text(b, IPerformanceCounterDataCollector_Name, " datacollector01 "), PLA_E_DC_ALREADY_EXISTS);
    assert_int_equal(put_text(b, IPerformanceCounterDataCollector_Name, " b b "), S_OK);
    assert_string_equal(collector_of(b)->Name, "b b");
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(collector_from_xml(b, xml, strlen(xml), issues), S_OK);
    assert_string_equal(collector_of(b)->Name, "DataCollector02"); /* the XML contained an empty name */
    assert_int_equal(((struct performance_counter_collector *)b)->SampleInterval, 7);
    object_release(issues);
    object_release(b);
    object_release(a);
    object_release(set);
}

/* Only objects of a collection's own kind can be added. */
static void collections_accept_only_their_own_kind(void **state)
{
    (void)state;
    struct object *set = make(&data_collector_set_class), *item = make(&value_map_item_class);
    struct object *map = make(&value_map_class), *sets = make(&data_collector_set_collection_class);
    assert_int_equal(collection_add(collectors_of(set), item), E_INVALIDARG);
    assert_int_equal(collection_add(map, set), E_INVALIDARG);
    assert_int_equal(collection_add(sets, map), E_INVALIDARG);
    assert_int_equal(collection_add(sets, set), S_OK);
    assert_int_equal(collection_count(sets), 1);
    object_release(sets);
    object_release(map);
    object_release(item);
    object_release(set);
}

/* ---- value maps ---- */

static void add_item(struct object *map, const char *key, int64_t number, bool enabled)
{
    struct object *item = make(&value_map_item_class);
    struct value v = {.kind = PROPERTY_VARIANT, .variant = {.type = VARIANT_UI8, .integer = number}};
    struct value on = {.kind = PROPERTY_BOOL, .boolean = enabled};
    if (key)
        assert_int_equal(put_text(item, IValueMapItem_Key, key), S_OK);
    assert_int_equal(object_put(item, &item->class->properties[IValueMapItem_Value], &v), S_OK);
    assert_int_equal(object_put(item, &item->class->properties[IValueMapItem_Enabled], &on), S_OK);
    assert_int_equal(collection_add(map, item), S_OK);
    object_release(item);
}

static struct object *map_of_type(uint32_t type)
{
    struct object *map = make(&value_map_class);
    struct value v = {.kind = PROPERTY_ENUM, .u32 = type};
    assert_int_equal(object_put(map, &map->class->properties[IValueMap_ValueMapType], &v), S_OK);
    return map;
}

static int64_t value_now(struct object *map)
{
    struct variant v;
    assert_int_equal(value_map_get_value(map, &v), S_OK);
    assert_int_equal(v.type, VARIANT_UI8);
    return v.integer;
}

static bool enabled(struct object *map, size_t index)
{
    struct object *item;
    assert_int_equal(collection_item(map, index, &item), S_OK);
    bool on = ((struct value_map_item *)item)->Enabled;
    object_release(item);
    return on;
}

static void put(struct object *map, int64_t number)
{
    struct variant v = {.type = VARIANT_I4, .integer = number};
    assert_int_equal(value_map_put_value(map, &v), S_OK);
}

/* VT_UI8 is unsigned, so an export must not contain -1. */
static void values_from_2_to_the_63_have_no_sign_in_xml(void **state)
{
    (void)state;
    struct object *map = map_of_type(1), *item;
    char *xml;
    add_item(map, NULL, -1, true);
    assert_int_equal(collection_item(map, 0, &item), S_OK);
    assert_int_equal(object_to_xml(item, &xml, NULL), S_OK);
    assert_non_null(strstr(xml, "<Value>18446744073709551615</Value>"));
    memory_free(xml);
    object_release(item);
    object_release(map);
}

/* The value of an index map is its first enabled item. A put enables only the item with that value, or adds an item if
   no item has it. */
static void index_maps_have_one_value(void **state)
{
    (void)state;
    struct object *map = map_of_type(1);
    add_item(map, "win:Error", 2, true);
    add_item(map, "win:Warning", 3, true);
    assert_int_equal(value_now(map), 2);
    put(map, 3);
    assert_int_equal(value_now(map), 3);
    assert_false(enabled(map, 0));
    put(map, 9);
    assert_int_equal(collection_count(map), 3);
    assert_int_equal(value_now(map), 9);
    object_release(map);
}

/* The value of a flag map combines its enabled items. A put enables the item of each bit, and adds one item for bits
   that have none. */
static void flag_maps_combine(void **state)
{
    (void)state;
    struct object *map = map_of_type(2);
    add_item(map, "a", 1, true);
    add_item(map, "b", 2, false);
    add_item(map, "c", 4, true);
    assert_int_equal(value_now(map), 5);
    put(map, 0x13);
    assert_int_equal(value_now(map), 0x13);
    assert_true(enabled(map, 0));
    assert_true(enabled(map, 1));
    assert_false(enabled(map, 2));
    assert_int_equal(collection_count(map), 4);
    put(map, 0);
    assert_int_equal(value_now(map), 0);
    object_release(map);
}

/* Readers of a flag array read each item. The value of the map is only its first enabled item (MS-PLA note 2). */
static void flag_arrays_are_not_combined(void **state)
{
    (void)state;
    struct object *map = map_of_type(3);
    add_item(map, "process", 1, true);
    add_item(map, "profile", 0x20000002, true);
    assert_int_equal(value_now(map), 1);
    put(map, 0x20000002);
    assert_int_equal(value_now(map), 0x20000002);
    object_release(map);
}

/* In VBScript, a kernel flag of 0x80000000 or more is a negative number. Extended to 64 bits, it would have 33 bits set
   and match no flag. Keywords have 64 bits, so -1 means all of them. */
static void flags_with_32_bits_can_be_negative_numbers(void **state)
{
    (void)state;
    struct object *map = map_of_type(3), *keywords = map_of_type(2);
    struct variant power = {.type = VARIANT_I4, .integer = (int32_t)0x80008000};
    add_item(map, "System Power Management Events", 0x80008000, false);
    put(map, (int32_t)0x80008000);
    assert_true(enabled(map, 0));
    assert_int_equal(collection_count(map), 1);
    assert_int_equal(value_map_add_value(map, &power), S_OK);
    add_item(map, "as it was put", (int32_t)0x80000001, true);
    put(map, 0x80000001);
    assert_true(enabled(map, 2));
    assert_int_equal(value_now(map), 0x80000001);
    put(keywords, -1);
    assert_true(value_now(keywords) == -1);
    object_release(keywords);
    object_release(map);
}

/* Resolve adds names. It must keep all enabled flags, not only the first one. */
static void resolve_keeps_every_flag_of_an_array(void **state)
{
    (void)state;
    struct object *mine = map_of_type(3), *registered = map_of_type(3);
    add_item(mine, NULL, 1, true);
    add_item(mine, NULL, 2, false);
    add_item(mine, NULL, 0x20000002, true);
    add_item(mine, NULL, 0x40, true);
    add_item(registered, "process", 1, false);
    add_item(registered, "thread", 2, true);
    add_item(registered, "profile", 0x20000002, false);
    assert_int_equal(value_map_resolve(mine, registered), S_OK);
    assert_int_equal(collection_count(mine), 4); /* three items with names, and the item 0x40 without one */
    assert_true(enabled(mine, 0));
    assert_false(enabled(mine, 1));
    assert_true(enabled(mine, 2));
    assert_true(enabled(mine, 3));
    object_release(registered);
    object_release(mine);
}

static HRESULT put_value_text(struct object *map, const char *text)
{
    struct variant v = {.type = VARIANT_TEXT, .text = (char *)(uintptr_t)text};
    return value_map_put_value(map, &v);
}

/* MS-PLA 3.2.4.18: Value may be the key of the item that is selected. */
static void value_can_be_a_key(void **state)
{
    (void)state;
    struct object *map = map_of_type(1);
    struct variant date = {.type = VARIANT_DATE, .real = 1};
    add_item(map, "win:Error", 2, true);
    add_item(map, "win:Warning", 3, false);
    add_item(map, "no number", 0, false);
    ((struct value_map_item *)((struct value_map *)map)->items.list[2])->Value = (struct variant){0};
    assert_int_equal(put_value_text(map, "WIN:warning"), S_OK);
    assert_int_equal(value_now(map), 3);
    assert_false(enabled(map, 0));
    assert_int_equal(put_value_text(map, "no number"), DISP_E_TYPEMISMATCH);
    assert_int_equal(put_value_text(map, "win:Info"), DISP_E_TYPEMISMATCH);
    assert_string_equal(error_text(DISP_E_TYPEMISMATCH),
                        "Value: 'win:Info' is neither a number nor the key of an item with a number");
    assert_int_equal(put_value_text(map, ""), DISP_E_TYPEMISMATCH);
    assert_int_equal(value_map_put_value(map, &date), DISP_E_TYPEMISMATCH);
    assert_non_null(strstr(error_text(DISP_E_TYPEMISMATCH), "Value: "));
    assert_int_equal(value_map_add_value(map, &date), DISP_E_TYPEMISMATCH);
    assert_non_null(strstr(error_text(DISP_E_TYPEMISMATCH), "Add: "));
    assert_int_equal(value_now(map), 3);
    object_release(map);
}

/* An item has the type of its map, even after Query, because XML does not contain types. A type that a client put is
   kept. */
static void items_have_the_type_of_their_map(void **state)
{
    (void)state;
    struct object *map = map_of_type(2), *item = make(&value_map_item_class);
    struct value said = {.kind = PROPERTY_ENUM, .u32 = 3};
    add_item(map, "a", 1, true);
    assert_int_equal(object_put(item, &item->class->properties[IValueMapItem_ValueMapType], &said), S_OK);
    assert_int_equal(collection_add(map, item), S_OK);
    const struct items *items = &((struct value_map *)map)->items;
    assert_int_equal(((struct value_map_item *)items->list[0])->ValueMapType, 2);
    assert_int_equal(((struct value_map_item *)items->list[1])->ValueMapType, 3);
    object_release(item);
    object_release(map);
}

/* In JScript, all numbers are doubles, even the highest keyword. */
static void doubles_keep_all_64_bits(void **state)
{
    (void)state;
    struct variant v = {.type = VARIANT_R8, .real = 9223372036854775808.0};
    int64_t n;
    assert_int_equal(variant_to_i64(&v, &n), S_OK);
    assert_true(n == INT64_MIN);
    v.real = 18446744073709551616.0;
    assert_int_equal(variant_to_i64(&v, &n), DISP_E_OVERFLOW);
    v.real = NAN;
    assert_int_equal(variant_to_i64(&v, &n), DISP_E_OVERFLOW);
    v.real = -9223372036854775808.0;
    assert_int_equal(variant_to_i64(&v, &n), S_OK);
    assert_true(n == INT64_MIN);
    v.real = -3;
    assert_int_equal(variant_to_i64(&v, &n), S_OK);
    assert_int_equal(n, -3);
    v.real = -0.5;
    assert_int_equal(variant_to_i64(&v, &n), DISP_E_TYPEMISMATCH);
}

static HRESULT add_text(struct object *map, const char *text)
{
    struct variant v = {.type = VARIANT_TEXT, .text = (char *)(uintptr_t)text};
    return value_map_add_value(map, &v);
}

/* Add accepts integers, strings with integers, and names of items (MS-PLA 3.2.4.18.10). */
static void add_takes_numbers_and_names(void **state)
{
    (void)state;
    struct object *map = map_of_type(2), *item;
    struct variant number = {.type = VARIANT_UI4, .integer = 8}, real = {.type = VARIANT_R8, .real = 1.5};
    add_item(map, "Key Name", 1, false);
    assert_int_equal(value_map_add_value(map, &number), S_OK);
    assert_int_equal(value_map_add_value(map, &real), DISP_E_TYPEMISMATCH);
    assert_int_equal(add_text(map, "0x10"), S_OK);
    assert_int_equal(add_text(map, "-0x1F"), S_OK);
    assert_int_equal(collection_item(map, 3, &item), S_OK);
    assert_int_equal(((struct value_map_item *)item)->Value.integer, -0x1F);
    object_release(item);
    assert_int_equal(add_text(map, "0xFFFFFFFFFFFFFFFF"), S_OK);
    assert_false(enabled(map, 0));
    assert_int_equal(add_text(map, "key name"), S_OK);
    assert_true(enabled(map, 0));
    assert_int_equal(collection_count(map), 5);
    static const char *const none[] = {"nobody", " 5", "5 ", "\t5", ""};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_int_equal(add_text(map, none[i]), E_INVALIDARG);
    assert_int_equal(collection_count(map), 5);
    object_release(map);
}

/* Dates may have the form of real exports or ISO form. A day that does not exist in the calendar is invalid. */
static void schedule_dates_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double date;
    } good[] = {{"8/17/2014", 41868},
                {"08/17/2014", 41868},
                {"2014-08-17", 41868},
                {"2014-08-17T10:00:00", 41868},
                {"2014-08-17 10:00", 41868},
                {"2014-08-17T10:00:00.25+02:00", 41868},
                {" 2014-08-17T10:00Z ", 41868},
                {"2014/8/17", 41868},
                {"1/1/1900", 2},
                {"2/29/2024", 45351}};
    static const char *const bad[] = {"",           "17/8/2014",  "2/30/2024",         "tomorrow",     "8/17",
                                      "13/1/2014",  "8/17/2014x", "2014-08-17Tea",     "2014-08-17 x", "8/+17/2014",
                                      "8/ 17/2014", "-8/17/2014", "2014-08-17T10:00+", "8/17/20145"};
    static const struct {
        const char *text;
        int seconds;
    } times[] = {{"4:00:00 AM", 14400}, {"12:00:00 PM", 43200}, {"12:30 am", 1800},
                 {"13:22:00", 48120},   {"23:59:59", 86399},    {"0:00:00", 0}};
    static const char *const bad_times[] = {"",       "24:00:00", "13:00 PM", "1:60:00", "noon",  "1:2:3:4",
                                            "1: 2:3", "+1:2",     "1:-2",     "1:2:+3",  "001:00"};
    double d;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(date_from_text(good[i].text, &d));
        assert_true(d == good[i].date);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(date_from_text(bad[i], &d));
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        assert_true(time_from_text(times[i].text, &d));
        assert_true(d > (times[i].seconds - 0.4) / 86400 && d < (times[i].seconds + 0.4) / 86400);
        char *text = time_to_text(d);
        double again;
        assert_true(time_from_text(text, &again) && again == d);
        memory_free(text);
    }
    for (size_t i = 0; i < sizeof bad_times / sizeof bad_times[0]; i++)
        assert_false(time_from_text(bad_times[i], &d));
    char *text = date_to_text(41868);
    assert_string_equal(text, "8/17/2014");
    memory_free(text);
}

static HRESULT put_date(struct object *o, int row, enum variant_type type, double date)
{
    struct value v = {.kind = o->class->properties[row].kind, .variant = {.type = type, .real = date}};
    return object_put(o, &o->class->properties[row], &v);
}

/* A date keeps only its day, a time only its time of day. */
static void schedules_keep_days_and_times(void **state)
{
    (void)state;
    struct object *s = make(&set_schedule_class);
    const struct set_schedule *schedule = (const struct set_schedule *)s;
    assert_int_equal(put_date(s, ISchedule_StartDate, VARIANT_DATE, 41868.75), S_OK);
    assert_true(schedule->StartDate.real == 41868);
    assert_int_equal(put_date(s, ISchedule_StartTime, VARIANT_DATE, 41868.75), S_OK);
    assert_true(schedule->StartTime.real == 0.75);
    assert_int_equal(put_date(s, ISchedule_StartTime, VARIANT_DATE, -657434.25), S_OK); /* a time in the year 100 */
    assert_true(schedule->StartTime.real == 0.25);
    assert_int_equal(put_date(s, ISchedule_StartTime, VARIANT_DATE, 0.75), S_OK);
    /* Any date is legal (MS-PLA 3.2.4.12), even an end before the start. Commit reports schedules that never start. */
    assert_int_equal(put_date(s, ISchedule_EndDate, VARIANT_DATE, 41867), S_OK);
    assert_int_equal(put_date(s, ISchedule_EndDate, VARIANT_DATE, 41868.1), S_OK);
    /* Values that a stored set cannot contain are rejected; otherwise the next Query would lose them. */
    static const double out_of_range[] = {-657435, 2958466, 1e300, -1e300, INFINITY, -INFINITY, NAN};
    assert_int_equal(put_date(s, ISchedule_StartDate, VARIANT_DATE, -109206), E_INVALIDARG);
    for (size_t i = 0; i < sizeof out_of_range / sizeof out_of_range[0]; i++) {
        assert_int_equal(put_date(s, ISchedule_StartDate, VARIANT_DATE, out_of_range[i]), E_INVALIDARG);
        assert_int_equal(put_date(s, ISchedule_StartTime, VARIANT_DATE, out_of_range[i]), E_INVALIDARG);
        assert_non_null(strstr(error_text(E_INVALIDARG), "StartTime"));
        assert_true(schedule->StartDate.real == 41868 && schedule->StartTime.real == 0.75);
    }
    static const double limits[] = {-109205.5, 2958465.999};
    static const char *const days[] = {"1/1/1601", "12/31/9999"};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        double back;
        assert_int_equal(put_date(s, ISchedule_StartDate, VARIANT_DATE, limits[i]), S_OK);
        char *text = date_to_text(schedule->StartDate.real);
        assert_string_equal(text, days[i]);
        assert_true(date_from_text(text, &back) && back == schedule->StartDate.real);
        memory_free(text);
    }
    assert_int_equal(put_date(s, ISchedule_StartDate, VARIANT_DATE, 41868), S_OK);
    assert_int_equal(put_date(s, ISchedule_EndDate, VARIANT_EMPTY, 0), S_OK);
    assert_int_equal(put_date(s, ISchedule_EndDate, VARIANT_R8, 1), E_INVALIDARG);
    object_release(s);
}

static void add_schedule(struct object *set, double start, double end, uint32_t days)
{
    struct object *s = make(&set_schedule_class);
    struct value v = {.kind = PROPERTY_FLAGS, .u32 = days};
    if (start)
        assert_int_equal(put_date(s, ISchedule_StartDate, VARIANT_DATE, start), S_OK);
    if (end)
        assert_int_equal(put_date(s, ISchedule_EndDate, VARIANT_DATE, end), S_OK);
    assert_int_equal(object_put(s, &s->class->properties[ISchedule_Days], &v), S_OK);
    assert_int_equal(collection_add(((struct data_collector_set *)set)->Schedules, s), S_OK);
    object_release(s);
}

/* Commit reports a set that no schedule can start. */
static void schedules_that_never_start_are_reported(void **state)
{
    (void)state;
    struct object *set = make(&data_collector_set_class), *issues, *item;
    static const char *const keys[] = {"Schedule[2]/EndDate", "Schedule[4]/StartDate", "Schedule[6]/EndDate"};
    add_schedule(set, 41868, 41868, 0x7F);
    add_schedule(set, 41868, 41867, 0x7F);
    add_schedule(set, 0, 41867, 0x7F);
    add_schedule(set, 0, 0, 0);
    add_schedule(set, 41868, 0, 0);
    add_schedule(set, 41868, 41867, 0);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_validate(set, issues), S_OK);
    size_t reported = 0;
    for (size_t i = 0; i < collection_count(issues); i++) {
        assert_int_equal(collection_item(issues, i, &item), S_OK);
        if (text_matches("Schedule[*", ((struct value_map_item *)item)->Key)) {
            assert_true(reported < 3);
            assert_string_equal(((struct value_map_item *)item)->Key, keys[reported++]);
            assert_int_equal((HRESULT)((struct value_map_item *)item)->Value.integer, PLA_E_PROPERTY_CONFLICT);
        }
        object_release(item);
    }
    assert_int_equal(reported, 3);
    object_release(issues);
    object_release(set);
}

static void thresholds_are_checked(void **state)
{
    (void)state;
    struct object *a = make(&alert_collector_class);
    const char *good[] = {"\\Processor(_Total)\\% Processor Time>50", "\\A(x)\\b < 0.5", "\\A(a>b)\\c>-1e3"};
    static const char *const bad[] = {"\\A\\b", ">1", "\\A\\b>", "\\A\\b>0x10", "\\A\\b>nan", "A\\b>1", "\\A\\b>1>"};
    assert_int_equal(put_texts(a, IAlertDataCollector_AlertThresholds, good, 3), S_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(put_texts(a, IAlertDataCollector_AlertThresholds, &bad[i], 1), E_INVALIDARG);
    /* MS-PLA 2.2.1: if a threshold occurred twice, even in another notation, it would cause two alerts. */
    const char *twice[] = {"\\A\\b>5", "\\a\\B > 5.0"}, *other[] = {"\\A\\b>5", "\\A\\b<5", "\\A\\b>6"};
    assert_int_equal(put_texts(a, IAlertDataCollector_AlertThresholds, twice, 2), PLA_E_NO_DUPLICATES);
    assert_non_null(strstr(error_text(PLA_E_NO_DUPLICATES), "AlertThresholds: duplicate item '\\A\\b>5'"));
    assert_int_equal(put_texts(a, IAlertDataCollector_AlertThresholds, other, 3), S_OK);
    object_release(a);
}

/* A collector contains an event provider only once. The event provider of the kernel makes it a kernel trace. Resolve
   adds names and keeps values. */
static void providers_are_unique_and_resolve(void **state)
{
    (void)state;
    static const GUID kernel = {0x9E814AAD, 0x3204, 0x11D2, {0x9A, 0x82, 0x00, 0x60, 0x08, 0xA8, 0x69, 0x39}};
    struct object *trace = make(&trace_data_collector_class);
    struct object *providers = ((struct trace_data_collector *)trace)->TraceDataProviders;
    struct object *a = make(&trace_data_provider_class), *b = make(&trace_data_provider_class);
    struct value guid = {.kind = PROPERTY_GUID, .guid = kernel}, v;
    assert_int_equal(object_put(a, &a->class->properties[ITraceDataProvider_Guid], &guid), S_OK);
    assert_int_equal(object_put(b, &b->class->properties[ITraceDataProvider_Guid], &guid), S_OK);
    const struct property *is_kernel = &trace->class->properties[ITraceDataCollector_IsKernelTrace];
    assert_int_equal(object_get(trace, is_kernel, &v), S_OK);
    assert_false(v.boolean);
    assert_int_equal(collection_add(providers, a), S_OK);
    assert_int_equal(collection_add(providers, b), PLA_E_NO_DUPLICATES);
    assert_int_equal(object_get(trace, is_kernel, &v), S_OK);
    assert_true(v.boolean);
    struct object *mine = ((struct trace_data_provider *)a)->KeywordsAny;
    struct object *registered = ((struct trace_data_provider *)b)->KeywordsAny;
    put(mine, 0x101);
    add_item(registered, "process", 0x1, true);
    add_item(registered, "thread", 0x2, true);
    assert_int_equal(value_map_resolve(mine, registered), S_OK);
    assert_int_equal(value_now(mine), 0x101);
    assert_int_equal(collection_count(mine), 3); /* two items with names, and the item 0x100 without one */
    assert_true(enabled(mine, 0));
    assert_false(enabled(mine, 1));
    object_release(a);
    object_release(b);
    object_release(trace);
}

static void user_values_are_kept(void **state)
{
    (void)state;
    struct object *set = make(&data_collector_set_class);
    char *text = NULL;
    assert_int_equal(set_put_value(set, "", "x"), E_INVALIDARG);
    assert_int_equal(set_put_value(set, "key", "one"), S_OK);
    assert_int_equal(set_put_value(set, "KEY", "two"), S_OK);
    assert_int_equal(set_get_value(set, "Key", &text), S_OK);
    assert_string_equal(text, "two");
    memory_free(text);
    assert_int_equal(set_put_value(set, "key", NULL), S_OK);
    assert_int_equal(set_get_value(set, "key", &text), E_INVALIDARG);
    assert_null(text);
    object_release(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_start_with_their_defaults),
        cmocka_unit_test(numbers_are_checked_against_their_row),
        cmocka_unit_test(rows_are_unique),
        cmocka_unit_test(keywords_keep_their_limits),
        cmocka_unit_test(counters_have_no_duplicates),
        cmocka_unit_test(security_must_be_valid_sddl),
        cmocka_unit_test(collectors_belong_to_one_set),
        cmocka_unit_test(collections_accept_only_their_own_kind),
        cmocka_unit_test(default_file_name_is_derived_from_the_name),
        cmocka_unit_test(collector_in_a_set_has_a_name),
        cmocka_unit_test(values_from_2_to_the_63_have_no_sign_in_xml),
        cmocka_unit_test(index_maps_have_one_value),
        cmocka_unit_test(flag_maps_combine),
        cmocka_unit_test(flag_arrays_are_not_combined),
        cmocka_unit_test(flags_with_32_bits_can_be_negative_numbers),
        cmocka_unit_test(resolve_keeps_every_flag_of_an_array),
        cmocka_unit_test(value_can_be_a_key),
        cmocka_unit_test(items_have_the_type_of_their_map),
        cmocka_unit_test(doubles_keep_all_64_bits),
        cmocka_unit_test(add_takes_numbers_and_names),
        cmocka_unit_test(schedule_dates_are_read),
        cmocka_unit_test(schedules_keep_days_and_times),
        cmocka_unit_test(schedules_that_never_start_are_reported),
        cmocka_unit_test(thresholds_are_checked),
        cmocka_unit_test(providers_are_unique_and_resolve),
        cmocka_unit_test(user_values_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

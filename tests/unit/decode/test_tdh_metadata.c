/* SPDX-License-Identifier: MIT */
/* Tests event definitions in merged traces. An event is decoded by the definition with the same event provider, id and
   version, and with the maps of that event provider. The definition may also follow the event. A malformed definition
   is reported as the reason, and affects no other event. An error here would make a customer's trace unreadable, or let
   a hostile trace crash the reader. */
#include "engine/base/memory.h"
#include "engine/etw/decode/metadata/trace_metadata.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/event_values.h"
#include "engine/etw/provider_manifest.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"
#include "manifest_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

enum { EVENT_INFO = 32, MAP_INFO = 33 };

static struct provider_manifests list;
static struct trace_metadata *metadata;
static struct event_schemas *schemas;

static int create(void **state)
{
    (void)state;
    static const char xml[] = WHOLE_MANIFEST;
    metadata = trace_metadata_create();
    return manifest_xml_read(xml, sizeof xml - 1, NULL, &list) == S_OK && metadata &&
                   event_schemas_create(&schemas) == S_OK && trace_metadata_add_origin(metadata, schemas) == S_OK
               ? 0
               : -1;
}

static int drop(void **state)
{
    (void)state;
    event_schemas_free(schemas);
    trace_metadata_free(metadata);
    provider_manifests_free(&list);
    return 0;
}

static struct event_schema *schema_of(uint16_t id, uint8_t version)
{
    struct event_schema *s;
    const struct manifest_event *e = provider_manifest_event(list.items[0], id, version);
    assert_non_null(e);
    assert_int_equal(provider_manifest_schema(list.items[0], &e->descriptor, "en-US", &s), S_OK);
    return s;
}

/* Returns the block that a merging program writes for the event: TDH's event information. */
static struct tdh_block info_of(uint16_t id, uint8_t version)
{
    struct event_schema *s = schema_of(id, version);
    struct tdh_block b;
    assert_int_equal(tdh_block_event(s, 8, &b), S_OK);
    event_schema_free(s);
    return b;
}

static HRESULT take(uint8_t type, const void *bytes, size_t size)
{
    uint8_t *copy = memory_copy(bytes, size);
    const EVENT_RECORD e = {.EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
                                            .ProviderId = etl_event_metadata_class,
                                            .EventDescriptor = {.Opcode = type}},
                            .UserData = copy,
                            .UserDataLength = (USHORT)size};
    const HRESULT hr = trace_metadata_take(metadata, &e, schemas);
    memory_free(copy);
    return hr;
}

static HRESULT add_info(uint16_t id, uint8_t version)
{
    struct tdh_block b = info_of(id, version);
    const HRESULT hr = take(EVENT_INFO, b.bytes, b.size);
    tdh_block_free(&b);
    return hr;
}

static void add_maps(uint16_t id, uint8_t version)
{
    struct event_schema *s = schema_of(id, version);
    for (size_t i = 0; i < s->map_count; i++) {
        struct tdh_block b;
        assert_int_equal(tdh_block_map(&s->maps[i], &b), S_OK);
        uint8_t *whole = memory_alloc(16 + b.size);
        memcpy(whole, &s->provider, 16);
        memcpy(whole + 16, b.bytes, b.size);
        assert_int_equal(take(MAP_INFO, whole, 16 + b.size), S_OK);
        memory_free(whole);
        tdh_block_free(&b);
    }
    event_schema_free(s);
}

static const struct found_schema *find(uint16_t id, uint8_t version)
{
    const struct found_schema *found;
    const EVENT_RECORD e = {.EventHeader = {.ProviderId = list.items[0]->guid,
                                            .Flags = EVENT_HEADER_FLAG_64_BIT_HEADER,
                                            .EventDescriptor = {.Id = id, .Version = version}}};
    assert_int_equal(event_schemas_find(schemas, &e, 8, &found), S_OK);
    return found;
}

/* Ignores spaces at the end of the expected string: Windows adds one. */
static void expect_text(const char *have, const char *wanted)
{
    size_t length = wanted ? strlen(wanted) : 0;
    while (length != 0 && wanted[length - 1] == ' ')
        length--;
    char *trimmed = wanted ? text_copy_n(wanted, length) : NULL;
    assert_string_equal(have ? have : "none", trimmed ? trimmed : "none");
    memory_free(trimmed);
}

static void expect_same(const struct event_schema *have, const struct event_schema *wanted)
{
    expect_text(have->provider_name, wanted->provider_name);
    expect_text(have->level_name, wanted->level_name);
    expect_text(have->channel_name, wanted->channel_name);
    expect_text(have->task_name, wanted->task_name);
    expect_text(have->opcode_name, wanted->opcode_name);
    expect_text(have->event_message, wanted->event_message);
    assert_int_equal(have->keyword_count, wanted->keyword_count);
    for (size_t i = 0; i < have->keyword_count; i++)
        expect_text(have->keyword_names[i], wanted->keyword_names[i]);
    assert_int_equal(have->property_count, wanted->property_count);
    assert_int_equal(have->top_level, wanted->top_level);
    for (size_t i = 0; i < have->property_count; i++) {
        const struct event_property *a = &have->properties[i], *b = &wanted->properties[i];
        expect_text(a->name, b->name);
        expect_text(a->map, b->map);
        assert_int_equal(a->flags, b->flags);
        assert_int_equal(a->in_type, b->in_type);
        assert_int_equal(a->out_type, b->out_type);
        assert_int_equal(a->count, b->count);
        assert_int_equal(a->members, b->members);
        assert_int_equal(a->first_member, b->first_member);
    }
}

static void definition_decodes_like_the_manifest(void **state)
{
    (void)state;
    const struct {
        uint16_t id;
        uint8_t version;
    } events[] = {{1, 0}, {1, 2}, {2, 0}, {3, 0}};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        assert_int_equal(add_info(events[i].id, events[i].version), S_OK);
        add_maps(events[i].id, events[i].version);
    }
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        const struct found_schema *found = find(events[i].id, events[i].version);
        struct event_schema *wanted = schema_of(events[i].id, events[i].version);
        assert_non_null(found->schema);
        expect_same(found->schema, wanted);
        event_schema_free(wanted);
        found_schema_release(schemas, found);
    }
    assert_int_equal(trace_metadata_count(metadata).events, 4);
}

/* A definition can follow its event, for example if two files are opened together and only the second one contains it.
   A map can follow both. */
static void event_seen_before_its_definition_is_looked_up_again(void **state)
{
    (void)state;
    const struct found_schema *early = find(1, 0);
    assert_null(early->schema);
    assert_int_equal(add_info(1, 0), S_OK);
    const struct found_schema *later = find(1, 0);
    assert_non_null(later->schema);
    assert_null(later->schema->properties[2].map);
    add_maps(1, 0);
    const struct found_schema *last = find(1, 0);
    expect_text(last->schema->properties[2].map, "Colours");
    assert_null(later->schema->properties[2].map); /* an earlier result's schema does not change */
    found_schema_release(schemas, early);
    found_schema_release(schemas, later);
    found_schema_release(schemas, last);
}

static HRESULT refuse(void *context, const EVENT_RECORD *event, uint32_t pointer_size, struct event_schema **out)
{
    (void)event, (void)pointer_size;
    ++*(unsigned *)context;
    *out = NULL;
    return S_FALSE;
}

static void repeated_definition_costs_no_lookup(void **state)
{
    (void)state;
    unsigned asked = 0;
    const struct schema_origin origin = {.source = SCHEMA_MANIFEST, .context = &asked, .schema = refuse};
    assert_int_equal(event_schemas_add(schemas, &origin, NULL), S_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(add_info(1, 0), S_OK);
        found_schema_release(schemas, find(1, 0));
    }
    assert_int_equal(asked, 1);
    assert_int_equal(trace_metadata_count(metadata).events, 1);
}

static void malformed_definition_is_reported_as_reason(void **state)
{
    (void)state;
    static const struct {
        uint32_t at, value;
        const char *reason;
    } wrong[] = {
        {52, 0xFFFFFFF0, "provider name"},
        {52, 4, "provider name"},
        {76, 0x7FFFFFFF, "message"},
        {100, 0xFFFF, "number of properties"},
        {104, 100, "number of properties"},
        {112 + 4, 0xFFFF, "name of a property"},
        {112 + 24 * 2 + 12, 0xFFFE, "name of a map"},
        {112, PROPERTY_STRUCT, "members"},
        {112, PROPERTY_PARAM_COUNT, "count"},
        {112, PROPERTY_PARAM_LENGTH, "length"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tdh_block b = info_of(1, 0);
        put_u32(b.bytes + wrong[i].at, wrong[i].value);
        assert_int_equal(take(EVENT_INFO, b.bytes, b.size), S_OK);
        const struct found_schema *found = find(1, 0);
        assert_null(found->schema);
        if (!strstr(found->reason, wrong[i].reason))
            fail_msg("'%s' does not name '%s'", found->reason, wrong[i].reason);
        found_schema_release(schemas, found);
        tdh_block_free(&b);
    }
    assert_int_equal(take(EVENT_INFO, "short", 5), S_FALSE);
    assert_non_null(strstr(error_text(S_FALSE), "too short"));
    assert_int_equal(take(MAP_INFO, "short", 5), S_FALSE);
    assert_int_equal(take(MAP_INFO, "0123456789ABCDEF\xFF\xFF\0\0\1\0\0\0\xFF\xFF\0\0\0\0\0\0", 32), S_FALSE);
    assert_non_null(strstr(error_text(S_FALSE), "map entries"));
    assert_int_equal(add_info(1, 0), S_OK); /* a valid one replaces it */
    const struct found_schema *found = find(1, 0);
    assert_non_null(found->schema);
    found_schema_release(schemas, found);
}

/* Structures that share members would multiply an event's values. */
static void structures_that_share_members_are_rejected(void **state)
{
    (void)state;
    struct tdh_block b = info_of(1, 2);
    struct event_schema *s = schema_of(1, 2);
    for (uint32_t i = 0; i < s->top_level; i++) {
        uint8_t *p = b.bytes + 112 + 24 * (size_t)i;
        put_u32(p, PROPERTY_STRUCT);
        put_u16(p + 8, s->top_level);
        put_u16(p + 10, (uint16_t)(s->property_count - s->top_level));
    }
    assert_int_equal(take(EVENT_INFO, b.bytes, b.size), S_OK);
    const struct found_schema *found = find(1, 2);
    assert_null(found->schema);
    assert_non_null(strstr(found->reason, "share members"));
    found_schema_release(schemas, found);
    event_schema_free(s);
    tdh_block_free(&b);
}

/* TraceLogging and WPP events are not described by such definitions. A definition with one of these sources is
   ignored. */
static void definition_of_another_source_is_ignored(void **state)
{
    (void)state;
    struct tdh_block b = info_of(1, 0);
    put_u32(b.bytes + 48, SCHEMA_TRACE_LOGGING);
    assert_int_equal(take(EVENT_INFO, b.bytes, b.size), S_OK);
    assert_int_equal(trace_metadata_count(metadata).events, 0);
    tdh_block_free(&b);
}

static void trace_cannot_use_all_memory(void **state)
{
    (void)state;
    struct tdh_block b = info_of(3, 0);
    uint8_t *large = calloc(1, 65000);
    HRESULT hr = S_OK;
    memcpy(large, b.bytes, b.size);
    for (uint32_t i = 0; hr == S_OK && i < 10000; i++) {
        put_u16(large + 32, (uint16_t)i);
        hr = take(EVENT_INFO, large, 65000);
    }
    assert_int_equal(hr, S_FALSE);
    assert_non_null(strstr(error_text(S_FALSE), "too large"));
    assert_in_range(trace_metadata_count(metadata).bytes, TRACE_METADATA_MOST_BYTES - 65000, TRACE_METADATA_MOST_BYTES);
    free(large);
    tdh_block_free(&b);
}

/* Pointers have the size of the process that wrote the event. */
static void pointers_have_the_size_of_the_event(void **state)
{
    (void)state;
    uint8_t info[112 + 24 + 64] = {0};
    memcpy(info, &list.items[0]->guid, 16);
    put_u16(info + 32, 9);
    put_u32(info + 100, 1);
    put_u32(info + 104, 1);
    put_u32(info + 112 + 4, 136);
    put_u16(info + 112 + 8, IN_TYPE_POINTER);
    put_u16(info + 112 + 16, 1);
    put_u16(info + 112 + 18, 8);
    put_u16(info + 136, 'p');
    assert_int_equal(take(EVENT_INFO, info, sizeof info), S_OK);
    const struct found_schema *found = find(9, 0);
    assert_non_null(found->schema);
    const struct event_data narrow = {(const uint8_t *)"\1\2\3\4", 4, 4};
    struct found_property p;
    assert_int_equal(event_property_find(found->schema, &narrow, &(struct property_step){"p", PROPERTY_WHOLE}, 1, &p),
                     S_OK);
    assert_int_equal(p.size, 4);
    found_schema_release(schemas, found);
}

static void out_of_memory_is_reported_everywhere(void **state)
{
    (void)state;
    struct tdh_block b = info_of(1, 2);
    for (uint64_t n = 1;; n++) {
        struct event_schema *s = NULL;
        memory_fail_at(n);
        HRESULT hr = take(EVENT_INFO, b.bytes, b.size);
        if (SUCCEEDED(hr))
            hr = event_info_read(b.bytes, b.size, NULL, NULL, &s);
        memory_fail_at(0);
        event_schema_free(s);
        if (SUCCEEDED(hr))
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
    }
    tdh_block_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(definition_decodes_like_the_manifest, create, drop),
        cmocka_unit_test_setup_teardown(event_seen_before_its_definition_is_looked_up_again, create, drop),
        cmocka_unit_test_setup_teardown(repeated_definition_costs_no_lookup, create, drop),
        cmocka_unit_test_setup_teardown(malformed_definition_is_reported_as_reason, create, drop),
        cmocka_unit_test_setup_teardown(structures_that_share_members_are_rejected, create, drop),
        cmocka_unit_test_setup_teardown(definition_of_another_source_is_ignored, create, drop),
        cmocka_unit_test_setup_teardown(trace_cannot_use_all_memory, create, drop),
        cmocka_unit_test_setup_teardown(pointers_have_the_size_of_the_event, create, drop),
        cmocka_unit_test_setup_teardown(out_of_memory_is_reported_everywhere, create, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

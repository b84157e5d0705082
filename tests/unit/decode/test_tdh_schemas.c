/* SPDX-License-Identifier: MIT */
/* The schema of an event comes from an origin of the event's kind. If several origins have it, the latest one is used,
   and queried only once. A schema stays valid after its origin was removed. */
#include "engine/base/memory.h"
#include "engine/etw/event_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

struct fake {
    const char *name; /* NULL: unknown provider */
    uint16_t id;      /* id of the event that it can decode; 0: none */
    HRESULT otherwise;
    unsigned asked, freed;
    uint32_t pointer_size;
};

static HRESULT fake_schema(void *context, const EVENT_RECORD *event, uint32_t pointer_size, struct event_schema **out)
{
    struct fake *f = context;
    f->asked++;
    f->pointer_size = pointer_size;
    if (event->EventHeader.EventDescriptor.Id != f->id && !f->name)
        return S_FALSE;
    if (event->EventHeader.EventDescriptor.Id != f->id)
        return error_set(f->otherwise, "%s does not know %u", f->name, event->EventHeader.EventDescriptor.Id);
    *out = memory_zero(1, sizeof **out);
    (*out)->provider_name = text_copy(f->name);
    return S_OK;
}

static HRESULT fake_providers(void *context, struct known_providers *list)
{
    const struct fake *f = context;
    return known_providers_add(list, &(GUID){1, 2, 3, {4}}, SCHEMA_MANIFEST, text_copy(f->name));
}

static void fake_free(void *context)
{
    ((struct fake *)context)->freed++;
}

static struct event_schemas *schemas;
static EVENT_RECORD event;

static int create(void **state)
{
    (void)state;
    event = (EVENT_RECORD){.EventHeader = {.EventDescriptor = {.Id = 7, .Opcode = 3}}};
    return event_schemas_create(&schemas) == S_OK ? 0 : -1;
}

static int drop(void **state)
{
    (void)state;
    event_schemas_free(schemas);
    return 0;
}

static uint64_t add(struct fake *f, enum schema_source source)
{
    const struct schema_origin origin = {
        .source = source, .context = f, .schema = fake_schema, .providers = fake_providers, .free = fake_free};
    uint64_t id;
    assert_int_equal(event_schemas_add(schemas, &origin, &id), S_OK);
    return id;
}

/* Expects a schema from this origin; "": no schema. */
static void expect_from(const char *name)
{
    const struct found_schema *found;
    assert_int_equal(event_schemas_find(schemas, &event, 8, &found), S_OK);
    assert_string_equal(found->schema ? found->schema->provider_name : "", name);
    assert_true(!found->reason != !found->schema);
    found_schema_release(schemas, found);
}

static void latest_origin_is_used_and_queried_once(void **state)
{
    (void)state;
    static struct fake older = {"older", 7, S_FALSE, 0, 0, 0}, newer = {"newer", 8, S_FALSE, 0, 0, 0};
    add(&older, SCHEMA_MANIFEST);
    const uint64_t id = add(&newer, SCHEMA_MANIFEST);
    expect_from("older");
    expect_from("older");
    assert_int_equal(older.asked, 1);
    event.EventHeader.EventDescriptor.Id = 8;
    expect_from("newer");
    assert_int_equal(event_schemas_remove(schemas, id), S_OK);
    assert_int_equal(newer.freed, 1);
    expect_from("");
    assert_int_equal(event_schemas_remove(schemas, id), S_FALSE);
}

static void only_origins_of_the_kind_are_queried(void **state)
{
    (void)state;
    static struct fake manifest = {"manifest", 7, S_FALSE, 0, 0, 0}, mof = {"mof", 7, S_FALSE, 0, 0, 0},
                       tmf = {"tmf", 7, S_FALSE, 0, 0, 0};
    add(&manifest, SCHEMA_MANIFEST);
    add(&mof, SCHEMA_MOF);
    add(&tmf, SCHEMA_WPP);
    expect_from("manifest");
    event.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_32_BIT_HEADER;
    expect_from("mof");
    assert_int_equal(mof.pointer_size, 4);
    event.EventHeader.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE;
    expect_from("tmf");
}

/* EventWriteString's output needs no origin and is not a manifest event. */
static void a_plain_string_needs_no_origin(void **state)
{
    (void)state;
    static struct fake manifest = {"manifest", 0, S_FALSE, 0, 0, 0};
    const struct found_schema *found, *other, *again;
    add(&manifest, SCHEMA_MANIFEST);
    event.EventHeader.Flags = 4; /* EVENT_HEADER_FLAG_STRING_ONLY */
    event.EventHeader.EventDescriptor = (EVENT_DESCRIPTOR){.Level = 2};
    assert_int_equal(event_schemas_find(schemas, &event, 8, &found), S_OK);
    const struct event_schema *s = found->schema;
    assert_non_null(s);
    assert_true(s->text_only && s->source == SCHEMA_MANIFEST && s->top_level == 1 && !s->provider_name);
    assert_string_equal(s->properties[0].name, "String");
    assert_int_equal(s->properties[0].in_type, 1);
    assert_string_equal(s->level_name, "Error");
    assert_string_equal(s->event_message, "%1");
    event.EventHeader.EventDescriptor.Level = 3;
    assert_int_equal(event_schemas_find(schemas, &event, 8, &other), S_OK);
    assert_string_equal(other->schema->level_name, "Warning");
    assert_int_equal(manifest.asked, 0);
    event.EventHeader.Flags = 0;
    assert_int_equal(event_schemas_find(schemas, &event, 8, &again), S_OK);
    assert_string_equal(again->schema->provider_name, "manifest");
    found_schema_release(schemas, found);
    found_schema_release(schemas, other);
    found_schema_release(schemas, again);
}

/* An event with the flag EVENT_HEADER_FLAG_STRING_ONLY may get a cached result. That result must not be used for events
   without the flag. */
static void only_manifest_events_can_be_plain_strings(void **state)
{
    (void)state;
    static struct fake mof = {"mof", 7, S_FALSE, 0, 0, 0};
    add(&mof, SCHEMA_MOF);
    event.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER | 4;
    expect_from("mof");
    event.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
    expect_from("mof");
}

static void a_self_describing_event_needs_no_origin(void **state)
{
    (void)state;
    static const uint8_t metadata[] = "\x09\0\0Ev\0n\0\x08", traits[] = "\x07\0Mine\0";
    static const uint8_t other[] = "\x09\0\0Eu\0n\0\x08";
    EVENT_HEADER_EXTENDED_DATA_ITEM items[2] = {{.ExtType = 0xB, .DataSize = 9, .DataPtr = (uintptr_t)metadata},
                                                {.ExtType = 0xC, .DataSize = 7, .DataPtr = (uintptr_t)traits}};
    const struct found_schema *found, *again;
    event.EventHeader.Flags = EVENT_HEADER_FLAG_EXTENDED_INFO;
    event.ExtendedData = items;
    event.ExtendedDataCount = 2;
    assert_int_equal(event_schemas_find(schemas, &event, 8, &found), S_OK);
    assert_string_equal(found->schema->event_name, "Ev");
    assert_string_equal(found->schema->provider_name, "Mine");
    assert_int_equal(event_schemas_find(schemas, &event, 8, &again), S_OK);
    assert_ptr_equal(again, found);
    found_schema_release(schemas, again);
    items[0].DataPtr = (uintptr_t)other; /* the same id: all TraceLogging events have it */
    assert_int_equal(event_schemas_find(schemas, &event, 8, &again), S_OK);
    assert_string_equal(again->schema->event_name, "Eu");
    found_schema_release(schemas, again);
    items[0].DataSize = 5;
    assert_int_equal(event_schemas_find(schemas, &event, 8, &again), S_OK);
    assert_null(again->schema);
    assert_int_equal(again->status, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    found_schema_release(schemas, again);
    found_schema_release(schemas, found);
}

static void schemas_in_use_survive_their_origin(void **state)
{
    (void)state;
    static struct fake f = {"one", 7, S_FALSE, 0, 0, 0};
    const struct found_schema *found;
    const uint64_t id = add(&f, SCHEMA_MANIFEST);
    assert_int_equal(event_schemas_find(schemas, &event, 8, &found), S_OK);
    assert_int_equal(event_schemas_remove(schemas, id), S_OK);
    assert_string_equal(found->schema->provider_name, "one");
    found_schema_release(schemas, found);
}

static void the_reason_is_reported(void **state)
{
    (void)state;
    static struct fake f = {"resource", 1, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), 0, 0, 0};
    const struct found_schema *found;
    expect_from("");
    add(&f, SCHEMA_MANIFEST);
    assert_int_equal(event_schemas_find(schemas, &event, 8, &found), S_OK);
    assert_int_equal(found->status, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_string_equal(found->reason, "resource does not know 7");
    found_schema_release(schemas, found);
    expect_from("");
    assert_int_equal(f.asked, 1);
}

static void expect_reason(const char *reason)
{
    const struct found_schema *found;
    assert_int_equal(event_schemas_find(schemas, &event, 8, &found), S_OK);
    assert_int_equal(found->status, S_FALSE);
    assert_string_equal(found->reason, reason);
    found_schema_release(schemas, found);
}

/* If one origin has the event provider's manifest and another does not, the reason must come from the first one. Users
   must not read that the manifest is missing. */
static void the_reason_comes_from_an_origin_that_knows_the_provider(void **state)
{
    (void)state;
    static struct fake silent = {NULL, 1, S_FALSE, 0, 0, 0}, older = {"older", 1, S_FALSE, 0, 0, 0},
                       given = {"given", 1, S_FALSE, 0, 0, 0};
    add(&silent, SCHEMA_MANIFEST);
    expect_reason("its provider is not registered and no manifest for it was given");
    add(&older, SCHEMA_MANIFEST);
    add(&given, SCHEMA_MANIFEST);
    add(&silent, SCHEMA_MANIFEST);
    expect_reason("given does not know 7");
}

/* A trace with an unlimited number of event types needs limited memory, and each event is decoded. */
static void many_kinds_of_events_are_read(void **state)
{
    (void)state;
    static struct fake f = {"one", 7, S_FALSE, 0, 0, 0};
    const struct found_schema *held;
    add(&f, SCHEMA_MANIFEST);
    assert_int_equal(event_schemas_find(schemas, &event, 8, &held), S_OK);
    for (unsigned i = 0; i < 10000; i++) {
        event.EventHeader.ProviderId.Data1 = i + 1;
        expect_from("one");
    }
    assert_string_equal(held->schema->provider_name, "one");
    found_schema_release(schemas, held);
}

static void each_provider_is_listed_once(void **state)
{
    (void)state;
    static struct fake older = {"older", 7, S_FALSE, 0, 0, 0}, newer = {"newer", 8, S_FALSE, 0, 0, 0};
    struct known_providers list;
    add(&older, SCHEMA_MANIFEST);
    add(&newer, SCHEMA_MANIFEST);
    assert_int_equal(event_schemas_providers(schemas, &list), S_OK);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].name, "newer");
    known_providers_free(&list);
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    static struct fake f = {"one", 8, S_FALSE, 0, 0, 0};
    const struct found_schema *found;
    add(&f, SCHEMA_MANIFEST);
    HRESULT hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        memory_fail_at(n);
        hr = event_schemas_find(schemas, &event, 8, &found);
        memory_fail_at(0);
    }
    assert_int_equal(hr, S_OK);
    found_schema_release(schemas, found);
}

static HRESULT count_one(struct event_kinds *kinds)
{
    const struct found_schema *found;
    HRESULT hr = event_schemas_find(schemas, &event, 8, &found);
    if (FAILED(hr))
        return hr;
    hr = event_kinds_count(kinds, &event, found, found->schema != NULL);
    found_schema_release(schemas, found);
    return hr;
}

/* A trace with an unlimited number of event types needs limited memory; the excess types are reported. */
static void counted_kinds_are_limited(void **state)
{
    (void)state;
    struct event_kinds kinds = {.schemas = schemas};
    struct manifest_document d = {0};
    struct text_buffer text = {0};
    struct texts warnings = {0};
    event.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
    for (uint32_t i = 0; i < EVENT_KINDS_MOST + 5; i++) {
        event.EventHeader.ProviderId.Data1 = i;
        assert_int_equal(count_one(&kinds), S_OK);
    }
    event.EventHeader.ProviderId.Data1 = 3;
    assert_int_equal(count_one(&kinds), S_OK);
    assert_int_equal(kinds.count, EVENT_KINDS_MOST);
    assert_int_equal(kinds.items[3].events, 2);
    assert_int_equal(kinds.events_more, 5);
    assert_int_equal(event_kinds_export(&kinds, &d, &warnings), S_OK);
    assert_int_equal(d.provider_count, 0);
    assert_int_equal(warnings.count, 2);
    assert_non_null(strstr(warnings.items[0], "skipped 16385 events of 16384 kinds ({00000000-"));
    assert_string_equal(warnings.items[1], "skipped 5 events: the trace contains more than 16384 kinds of events");
    assert_int_equal(event_kinds_structures(&kinds, &text), S_OK);
    assert_non_null(strstr(text.text, "\r\n5 events of other kinds\r\n"));
    text_buffer_free(&text);
    texts_free(&warnings);
    event_kinds_free(&kinds);
}

static HRESULT nested_schema(void *context, const EVENT_RECORD *record, uint32_t pointer_size,
                             struct event_schema **out)
{
    enum { PROPERTIES = 20 };
    (void)context, (void)record, (void)pointer_size;
    struct event_schema *s = *out = memory_zero(1, sizeof **out);
    s->properties = memory_zero(PROPERTIES, sizeof *s->properties);
    for (unsigned i = 0; i < PROPERTIES; i++)
        s->properties[i] = (struct event_property){.name = text_copy("P"),
                                                   .in_type = 8,
                                                   .count = 1,
                                                   .flags = i + 1 < PROPERTIES ? PROPERTY_STRUCT : 0,
                                                   .first_member = (uint16_t)(i + 1),
                                                   .members = (uint16_t)(PROPERTIES - 1 - i)};
    s->property_count = PROPERTIES;
    s->top_level = 1;
    return event_schema_check(s);
}

/* As in a crafted resource, each struct contains all later ones, so that the number of paths through them explodes. */
static void shared_members_are_limited(void **state)
{
    (void)state;
    static struct fake f;
    struct event_kinds kinds = {.schemas = schemas};
    struct text_buffer text = {0};
    const struct schema_origin origin = {.source = SCHEMA_MANIFEST,
                                         .context = &f,
                                         .schema = nested_schema,
                                         .providers = fake_providers,
                                         .free = fake_free};
    assert_int_equal(event_schemas_add(schemas, &origin, NULL), S_OK);
    assert_int_equal(count_one(&kinds), S_OK);
    assert_int_equal(event_kinds_structures(&kinds, &text), S_OK);
    assert_non_null(strstr(text.text, "P: struct\r\n"));
    assert_in_range(text.length, 100, 10000);
    text_buffer_free(&text);
    event_kinds_free(&kinds);
}

static void out_of_memory_loses_no_kind(void **state)
{
    (void)state;
    static struct fake f = {"one", 8, S_FALSE, 0, 0, 0};
    HRESULT hr = E_OUTOFMEMORY;
    add(&f, SCHEMA_MANIFEST);
    event.EventHeader.Flags = 4; /* EVENT_HEADER_FLAG_STRING_ONLY: no origin is queried */
    for (uint64_t n = 1; hr == E_OUTOFMEMORY; n++) {
        struct event_kinds kinds = {.schemas = schemas};
        struct manifest_document d = {0};
        struct text_buffer text = {0};
        struct texts warnings = {0};
        memory_fail_at(n);
        hr = count_one(&kinds);
        event.EventHeader.Flags ^= 4; /* without the flag: an event without a schema */
        if (SUCCEEDED(hr))
            hr = count_one(&kinds);
        event.EventHeader.Flags ^= 4;
        if (SUCCEEDED(hr))
            hr = event_kinds_export(&kinds, &d, &warnings);
        if (SUCCEEDED(hr))
            hr = event_kinds_structures(&kinds, &text);
        memory_fail_at(0);
        text_buffer_free(&text);
        texts_free(&warnings);
        manifest_document_free(&d);
        event_kinds_free(&kinds);
    }
    assert_int_equal(hr, S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(latest_origin_is_used_and_queried_once, create, drop),
        cmocka_unit_test_setup_teardown(only_origins_of_the_kind_are_queried, create, drop),
        cmocka_unit_test_setup_teardown(a_plain_string_needs_no_origin, create, drop),
        cmocka_unit_test_setup_teardown(only_manifest_events_can_be_plain_strings, create, drop),
        cmocka_unit_test_setup_teardown(a_self_describing_event_needs_no_origin, create, drop),
        cmocka_unit_test_setup_teardown(schemas_in_use_survive_their_origin, create, drop),
        cmocka_unit_test_setup_teardown(the_reason_is_reported, create, drop),
        cmocka_unit_test_setup_teardown(the_reason_comes_from_an_origin_that_knows_the_provider, create, drop),
        cmocka_unit_test_setup_teardown(many_kinds_of_events_are_read, create, drop),
        cmocka_unit_test_setup_teardown(each_provider_is_listed_once, create, drop),
        cmocka_unit_test_setup_teardown(out_of_memory_is_an_error, create, drop),
        cmocka_unit_test_setup_teardown(counted_kinds_are_limited, create, drop),
        cmocka_unit_test_setup_teardown(shared_members_are_limited, create, drop),
        cmocka_unit_test_setup_teardown(out_of_memory_loses_no_kind, create, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

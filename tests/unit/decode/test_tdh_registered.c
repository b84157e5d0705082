/* SPDX-License-Identifier: MIT */
/* Registered event providers, and event providers that write their manifests into traces. Without manifests, a trace
   contains only numbers. */
#include "engine/base/error.h"
#include "engine/base/registry.h"
#include "engine/etw/manifest_origins.h"
#include "tests/unit/decode/manifest_text.h"
#include "tests/unit/scratch_folder.h"

#define PROVIDER_KEY                                                                                                   \
    "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WINEVT\\Publishers\\{5C8BB950-959E-4309-8908-67961A1205D5}"
#define CHANNEL_KEY "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WINEVT\\Channels\\Test/Operational"

static const struct manifest_files as_it_says;
static GUID provider;

static struct provider_manifests read_xml(const char *xml)
{
    struct provider_manifests list;
    HRESULT hr = manifest_xml_read(xml, strlen(xml), NULL, &list);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    return list;
}

static EVENT_RECORD an_event(uint16_t id)
{
    EVENT_RECORD e = {0};
    e.EventHeader.ProviderId = provider;
    e.EventHeader.EventDescriptor.Id = id;
    e.EventHeader.EventDescriptor.Level = 4;
    e.EventHeader.EventDescriptor.Task = 7;
    return e;
}

static void assert_text(const char *key, const char *name, const char *wanted)
{
    struct registry_key *k;
    char *text;
    assert_int_equal(registry_open(key, false, &k), S_OK);
    assert_int_equal(registry_read_text(k, name, &text), S_OK);
    assert_string_equal(text, wanted);
    memory_free(text);
    registry_close(k);
}

static void assert_number(const char *key, const char *name, uint64_t wanted)
{
    struct registry_key *k;
    uint64_t number;
    assert_int_equal(registry_open(key, false, &k), S_OK);
    assert_int_equal(registry_read_number(k, name, &number), S_OK);
    assert_true(number == wanted);
    registry_close(k);
}

static bool is_listed(void)
{
    struct known_providers known = {0};
    bool found = false;
    assert_int_equal(registered_providers_list(&known), S_OK);
    for (size_t i = 0; i < known.count; i++)
        if (guid_equal(&known.items[i].guid, &provider)) {
            assert_string_equal(known.items[i].name, "Test-Provider");
            found = true;
        }
    known_providers_free(&known);
    return found;
}

static void a_registered_provider_is_found_until_removed(void **state)
{
    (void)state;
    struct provider_manifests list = read_xml(WHOLE_MANIFEST);
    struct provider_manifest *m;
    char *from;
    assert_false(is_listed());
    assert_int_equal(registered_manifest_load(&provider, NULL, &m), S_FALSE);
    HRESULT hr = manifest_register(list.items[0], "/where/test.man", &as_it_says, false);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    assert_true(is_listed());
    assert_text(PROVIDER_KEY, "", "Test-Provider");
    assert_number(PROVIDER_KEY, "Enabled", 1);
    assert_number(PROVIDER_KEY "\\ChannelReferences", "Count", 2);
    assert_text(PROVIDER_KEY "\\ChannelReferences\\0", "", "System");
    assert_number(PROVIDER_KEY "\\ChannelReferences\\0", "Flags", 1);
    assert_number(PROVIDER_KEY "\\ChannelReferences\\1", "Id", 16);
    assert_text(CHANNEL_KEY, "OwningPublisher", PROVIDER_GUID_TEXT_UPPER);
    assert_text(CHANNEL_KEY, "ChannelAccess", "O:BAG:SYD:(A;;0x1;;;SY)");
    assert_number(CHANNEL_KEY, "Type", 1);
    assert_number(CHANNEL_KEY, "Isolation", 1);
    assert_number(CHANNEL_KEY, "Keywords", 0x10);
    assert_number(CHANNEL_KEY, "MaxSize", 1048576);
    assert_int_equal(manifest_registered_from(&provider, &from), S_OK);
    assert_string_equal(from, "/where/test.man");
    memory_free(from);
    /* an update of a registration can remove channels */
    struct manifest_fields *channels = &list.items[0]->fields[MANIFEST_CHANNELS];
    const size_t had = channels->count;
    struct registry_key *gone;
    channels->count = 1;
    assert_int_equal(manifest_register(list.items[0], "/where/test.man", &as_it_says, false), S_OK);
    assert_number(PROVIDER_KEY "\\ChannelReferences", "Count", 1);
    assert_int_equal(registry_open(PROVIDER_KEY "\\ChannelReferences\\1", false, &gone), S_FALSE);
    assert_int_equal(registry_open(CHANNEL_KEY, false, &gone), S_FALSE);
    channels->count = had;
    assert_int_equal(manifest_register(list.items[0], "/where/test.man", &as_it_says, false), S_OK);
    assert_int_equal(registered_manifest_load(&provider, NULL, &m), S_OK);
    assert_string_equal(m->name, "Test-Provider");
    assert_int_equal(m->event_count, 4);
    assert_true(file_exists(m->resource_file));
    char *file = text_copy(m->resource_file);
    provider_manifest_free(m);
    assert_int_equal(manifest_unregister(&provider, false), S_OK);
    assert_false(file_exists(file));
    memory_free(file);
    struct registry_key *k;
    assert_int_equal(registry_open(CHANNEL_KEY, false, &k), S_FALSE);
    assert_false(is_listed());
    assert_int_equal(manifest_unregister(&provider, false), S_FALSE);
    provider_manifests_free(&list);
}

static void another_programs_provider_is_not_changed(void **state)
{
    (void)state;
    struct provider_manifests list = read_xml(WHOLE_MANIFEST);
    struct provider_manifest *m;
    struct registry_key *k;
    bool made;
    assert_int_equal(registry_create(PROVIDER_KEY, &made, &k), S_OK);
    assert_int_equal(registry_write_text(k, "", "Test-Provider"), S_OK);
    assert_int_equal(registry_write_text(k, "ResourceFileName", "/nowhere/at/all.dll"), S_OK);
    registry_close(k);
    HRESULT hr = manifest_register(list.items[0], "x", &as_it_says, false);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_non_null(strstr(error_text(hr), "Test-Provider"));
    assert_int_equal(manifest_unregister(&provider, false), E_ACCESSDENIED);
    assert_true(is_listed());
    hr = registered_manifest_load(&provider, NULL, &m);
    assert_true(hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND));
    assert_non_null(strstr(error_text(hr), "all.dll"));
    assert_int_equal(manifest_register(list.items[0], "x", &as_it_says, true), S_OK);
    assert_int_equal(manifest_unregister(&provider, false), S_OK);
    provider_manifests_free(&list);
}

/* Fills the stack below the caller, so that a variable that the next call does not set has no harmless value. The
   sanitizer would leave gaps around the array. */
__attribute__((no_sanitize_address)) static void fill_stack(void)
{
    volatile uint8_t bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0xA5;
}

/* Otherwise the program ends when memory is short while a provider is removed. */
static void removing_without_memory_is_an_error(void **state)
{
    (void)state;
    struct provider_manifests list = read_xml(WHOLE_MANIFEST);
    HRESULT hr = E_OUTOFMEMORY;
    for (uint64_t n = 1; hr != S_OK; n++) {
        assert_int_equal(manifest_register(list.items[0], "x", &as_it_says, false), S_OK);
        memory_fail_at(n);
        fill_stack();
        hr = manifest_unregister(&provider, false);
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
    }
    provider_manifests_free(&list);
}

static void a_file_without_a_template_is_rejected(void **state)
{
    char *path = path_join(*state, "none.dll");
    struct provider_manifests list = read_xml(WHOLE_MANIFEST);
    const struct manifest_files files = {.resource = path};
    assert_int_equal(file_store(path, "text", 4), S_OK);
    HRESULT hr = manifest_register(list.items[0], "x", &files, false);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT));
    assert_non_null(strstr(error_text(hr), "none.dll"));
    assert_false(is_listed());
    memory_free(path);
    provider_manifests_free(&list);
}

static void registered_manifests_decode_events(void **state)
{
    (void)state;
    struct provider_manifests list = read_xml(WHOLE_MANIFEST);
    struct event_schemas *schemas;
    struct schema_origin origin;
    const struct found_schema *found;
    EVENT_RECORD e = an_event(1), unknown = an_event(77), other = an_event(1);
    other.EventHeader.ProviderId.Data1++;
    assert_int_equal(manifest_register(list.items[0], "x", &as_it_says, false), S_OK);
    assert_int_equal(event_schemas_create(&schemas), S_OK);
    assert_int_equal(registered_manifests_origin("de-DE", &origin), S_OK);
    assert_int_equal(event_schemas_add(schemas, &origin, NULL), S_OK);
    assert_int_equal(event_schemas_find(schemas, &e, 0, &found), S_OK);
    assert_int_equal(found->status, S_OK);
    assert_string_equal(found->schema->task_name, "Lesen");
    assert_string_equal(found->schema->provider_name, "Test-Provider");
    found_schema_release(schemas, found);
    assert_int_equal(event_schemas_find(schemas, &unknown, 0, &found), S_OK);
    assert_int_equal(found->status, S_FALSE);
    assert_non_null(strstr(found->reason, "event 77"));
    found_schema_release(schemas, found);
    assert_int_equal(event_schemas_find(schemas, &other, 0, &found), S_OK);
    assert_int_equal(found->status, S_FALSE);
    assert_non_null(strstr(found->reason, "not registered"));
    found_schema_release(schemas, found);
    event_schemas_free(schemas);
    assert_int_equal(manifest_unregister(&provider, false), S_OK);
    provider_manifests_free(&list);
}

/* ---- manifests in the trace ---- */

#define PIECE 700

static HRESULT add_manifest_piece(struct inband_manifests *all, struct event_schemas *schemas, const char *xml,
                                  unsigned pieces, unsigned number)
{
    uint8_t data[8 + PIECE] = {1, 1, 0, 0x5B};
    EVENT_RECORD e = an_event(0xFFFE);
    const size_t length = strlen(xml), at = (size_t)number * PIECE;
    const size_t size = at >= length ? 1 : length - at < PIECE ? length - at : PIECE;
    data[4] = (uint8_t)pieces, data[5] = (uint8_t)(pieces >> 8);
    data[6] = (uint8_t)number, data[7] = (uint8_t)(number >> 8);
    if (at < length)
        memcpy(data + 8, xml + at, size);
    e.UserData = data;
    e.UserDataLength = (uint16_t)(8 + size);
    return inband_manifests_take(all, &e, schemas);
}

static bool is_decoded(struct event_schemas *schemas)
{
    const struct found_schema *found;
    EVENT_RECORD e = an_event(1);
    assert_int_equal(event_schemas_find(schemas, &e, 0, &found), S_OK);
    const bool decoded = found->schema != NULL;
    found_schema_release(schemas, found);
    return decoded;
}

static void a_manifest_in_the_trace_decodes_later_events(void **state)
{
    (void)state;
    static const char xml[] = WHOLE_MANIFEST;
    const unsigned pieces = (unsigned)((sizeof xml - 1 + PIECE - 1) / PIECE);
    struct inband_manifests *all = inband_manifests_create("en-US");
    struct event_schemas *schemas;
    assert_non_null(all);
    assert_int_equal(event_schemas_create(&schemas), S_OK);
    assert_true(pieces > 3);
    for (int turn = 0; turn < 2; turn++) { /* .NET writes one manifest per session */
        for (unsigned i = 0; i < pieces; i++) {
            assert_int_equal(is_decoded(schemas), turn == 1);
            assert_int_equal(add_manifest_piece(all, schemas, xml, pieces, i), S_OK);
        }
        assert_true(is_decoded(schemas));
    }
    inband_manifests_free(all);
    event_schemas_free(schemas);
}

static void expect_reason(struct event_schemas *schemas, const char *part)
{
    const struct found_schema *found;
    EVENT_RECORD e = an_event(1);
    assert_int_equal(event_schemas_find(schemas, &e, 0, &found), S_OK);
    assert_null(found->schema);
    if (!strstr(found->reason, part))
        fail_msg("%s", found->reason);
    found_schema_release(schemas, found);
}

/* For an event without a schema, the reason is reported; an invalid manifest does not affect a valid one. */
static void rejected_manifest_is_reported_as_reason(void **state)
{
    (void)state;
    static const char xml[] = WHOLE_MANIFEST;
    const unsigned pieces = (unsigned)((sizeof xml - 1 + PIECE - 1) / PIECE);
    struct inband_manifests *all = inband_manifests_create("en-US");
    struct event_schemas *schemas;
    assert_int_equal(event_schemas_create(&schemas), S_OK);
    expect_reason(schemas, "no manifest for it was given");
    assert_int_equal(add_manifest_piece(all, schemas, "<broken>", 1, 0), S_FALSE);
    expect_reason(schemas, "invalid manifest in the trace: invalid XML: line 1");
    assert_int_equal(add_manifest_piece(all, schemas, "<broken>", 1, 0), S_OK); /* the trace repeats the manifest in
                                                                                   each session; it is reported once */
    for (unsigned i = 0; i < pieces; i++)
        assert_int_equal(add_manifest_piece(all, schemas, xml, pieces, i), S_OK);
    assert_true(is_decoded(schemas));
    assert_int_equal(add_manifest_piece(all, schemas, "<broken>", 1, 0), S_FALSE);
    assert_true(is_decoded(schemas));
    inband_manifests_free(all);
    event_schemas_free(schemas);
}

static void invalid_pieces_are_reported(void **state)
{
    (void)state;
    static const char xml[] = WHOLE_MANIFEST;
    static const char other[] =
        MANIFEST_BEGIN "<provider name='Other' guid='{00000000-0000-0000-0000-000000000001}'/>" MANIFEST_END;
    const unsigned pieces = (unsigned)((sizeof xml - 1 + PIECE - 1) / PIECE);
    struct inband_manifests *all = inband_manifests_create(NULL);
    struct event_schemas *schemas;
    assert_int_equal(event_schemas_create(&schemas), S_OK);
    assert_int_equal(add_manifest_piece(all, schemas, xml, pieces, pieces), S_FALSE);
    assert_non_null(strstr(error_text(S_FALSE), "number"));
    assert_int_equal(add_manifest_piece(all, schemas, xml, 65535, 3), S_FALSE);
    assert_int_equal(add_manifest_piece(all, schemas, "<broken>", 1, 0), S_FALSE);
    assert_non_null(strstr(error_text(S_FALSE), "line 1"));
    HRESULT hr = S_OK;
    for (unsigned i = 0; hr == S_OK && i * PIECE < sizeof other - 1; i++)
        hr = add_manifest_piece(all, schemas, other, (unsigned)((sizeof other - 1 + PIECE - 1) / PIECE), i);
    assert_int_equal(hr, S_FALSE);
    assert_non_null(strstr(error_text(S_FALSE), "not describe the provider"));
    /* an incomplete manifest, then another with the same id */
    assert_int_equal(add_manifest_piece(all, schemas, xml, pieces + 1, 1), S_OK);
    for (unsigned i = pieces; i; i--)
        assert_int_equal(add_manifest_piece(all, schemas, xml, pieces, i - 1), S_OK);
    assert_true(is_decoded(schemas));
    inband_manifests_free(all);
    event_schemas_free(schemas);
}

static int begin(void **state)
{
    *state = scratch_create("registered");
    scratch_environment("OPENPLA_DATA", *state);
    return text_to_guid(PROVIDER_GUID_TEXT, &provider) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_registered_provider_is_found_until_removed),
        cmocka_unit_test(another_programs_provider_is_not_changed),
        cmocka_unit_test(removing_without_memory_is_an_error),
        cmocka_unit_test(a_file_without_a_template_is_rejected),
        cmocka_unit_test(registered_manifests_decode_events),
        cmocka_unit_test(a_manifest_in_the_trace_decodes_later_events),
        cmocka_unit_test(rejected_manifest_is_reported_as_reason),
        cmocka_unit_test(invalid_pieces_are_reported),
    };
    return cmocka_run_group_tests(tests, begin, scratch_end);
}

/* SPDX-License-Identifier: MIT */
/* TDH as programs use it for event providers: loads manifests, lists their contents, decodes events with them, creates
   payload filters with them, and decodes messages through handles. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/decode/manifest/wevt_template.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"
#include "tests/unit/scratch_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

static const char manifest[] =
    "<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'><instrumentation "
    "xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'><events>"
    "<provider name='Test-Tdh' guid='{5D2C7A10-8E1B-4B7A-9C55-0A1B2C3D4E5F}' symbol='P'>"
    "<levels><level name='Loud' value='17' message='$(string.loud)'/></levels>"
    "<keywords><keyword name='Disk' mask='0x1'/><keyword name='Net' mask='0x4' message='$(string.net)'/></keywords>"
    "<tasks><task name='Copy' value='3'><opcodes><opcode name='Step' value='12'/></opcodes></task></tasks>"
    "<opcodes><opcode name='Begin' value='11'/></opcodes>"
    "<maps><valueMap name='Kind'><map value='1' message='$(string.one)'/><map value='2' message='$(string.two)'/>"
    "</valueMap></maps>"
    "<templates><template tid='T'><data name='Kind' inType='win:UInt8' map='Kind'/>"
    "<data name='Size' inType='win:UInt32'/><data name='Name' inType='win:UnicodeString'/></template></templates>"
    "<filters><filter name='F' value='5' version='2' tid='T'/></filters>"
    "<events><event value='7' version='1' level='Loud' task='Copy' opcode='Step' keywords='Disk Net' template='T' "
    "message='$(string.event)'/><event value='8' template='T'/></events>"
    "</provider></events></instrumentation><localization><resources culture='en-US'><stringTable>"
    "<string id='loud' value='Very loud'/><string id='net' value='The network'/><string id='one' value='First'/>"
    "<string id='two' value='Second'/><string id='event' value='%3 has %2 bytes'/>"
    "</stringTable></resources></localization></instrumentationManifest>";
enum { MANIFEST = sizeof manifest - 1 };
static const GUID provider = {0x5D2C7A10, 0x8E1B, 0x4B7A, {0x9C, 0x55, 0x0A, 0x1B, 0x2C, 0x3D, 0x4E, 0x5F}};
static const GUID nobody = {1, 2, 3, {4}};
static const EVENT_DESCRIPTOR described = {.Id = 7, .Version = 1, .Level = 17, .Opcode = 12, .Task = 3, .Keyword = 5};
static uint8_t block[65536];
static ULONG size;

static int load(void **state)
{
    (void)state;
    size = sizeof block;
    return tdh_load_manifest_from_memory(manifest, MANIFEST) == ERROR_SUCCESS ? 0 : 1;
}

static int unload(void **state)
{
    (void)state;
    return tdh_unload_manifest_from_memory(manifest, MANIFEST) == ERROR_SUCCESS ? 0 : 1;
}

static bool text_is(uint32_t offset, const char *expected)
{
    size_t i = 0;
    while (expected[i] && get_u16(block + offset + 2 * i) == (uint8_t)expected[i])
        i++;
    return offset != 0 && !expected[i] && get_u16(block + offset + 2 * i) == 0;
}

static void a_loaded_manifest_is_listed_until_unloaded(void **state)
{
    (void)state;
    ULONG need;
    assert_int_equal(tdh_enumerate_providers(block, &size), ERROR_SUCCESS);
    uint32_t found = 0;
    for (uint32_t i = 0; i < get_u32(block); i++)
        if (memcmp(block + 8 + 24 * (size_t)i, &provider, 16) == 0) {
            assert_true(text_is(get_u32(block + 8 + 24 * (size_t)i + 20), "Test-Tdh"));
            assert_int_equal(get_u32(block + 8 + 24 * (size_t)i + 16), 0);
            found++;
        }
    assert_int_equal(found, 1);
    assert_int_equal(tdh_enumerate_providers_for_decoding_source(SCHEMA_WPP, NULL, 0, &need),
                     ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(need, 8);
    assert_int_equal(tdh_enumerate_providers_for_decoding_source(SCHEMA_MANIFEST, NULL, 0, &need),
                     ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(tdh_enumerate_providers_for_decoding_source(SCHEMA_MANIFEST, block, need, &need), ERROR_SUCCESS);
    assert_int_equal(tdh_enumerate_providers_for_decoding_source(4, NULL, 0, &need), ERROR_INVALID_PARAMETER);
    assert_int_equal(unload(NULL), 0);
    size = sizeof block;
    assert_int_equal(tdh_enumerate_manifest_provider_events(&provider, block, &size), ERROR_NOT_FOUND);
    assert_int_equal(tdh_unload_manifest_from_memory(manifest, MANIFEST), ERROR_NOT_FOUND);
    assert_int_equal(load(NULL), 0);
    assert_int_equal(load(NULL), 0); /* loading again adds nothing */
}

static void fields_are_listed_and_looked_up(void **state)
{
    (void)state;
    assert_int_equal(tdh_enumerate_provider_field_information(&provider, 0, NULL, &(ULONG){0}),
                     ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(tdh_enumerate_provider_field_information(&provider, 0, block, &size), ERROR_SUCCESS);
    assert_int_equal(get_u32(block), 2);
    assert_int_equal(get_u32(block + 4), 0);
    assert_true(text_is(get_u32(block + 8), "Disk") && get_u32(block + 12) == 0 && get_u64(block + 16) == 1);
    assert_true(text_is(get_u32(block + 24), "Net") && text_is(get_u32(block + 28), "The network"));
    size = sizeof block;
    assert_int_equal(tdh_query_provider_field_information(&provider, 6, 0, block, &size), ERROR_SUCCESS);
    assert_true(get_u32(block) == 1 && text_is(get_u32(block + 8), "Net"));
    size = sizeof block;
    assert_int_equal(tdh_query_provider_field_information(&provider, 17, 1, block, &size), ERROR_SUCCESS);
    assert_true(text_is(get_u32(block + 8), "Loud") && text_is(get_u32(block + 12), "Very loud"));
    size = sizeof block;
    assert_int_equal(tdh_query_provider_field_information(&provider, 12 << 16 | 3, 4, block, &size), ERROR_SUCCESS);
    assert_true(text_is(get_u32(block + 8), "Step"));
    size = sizeof block;
    assert_int_equal(tdh_query_provider_field_information(&provider, 99, 1, block, &size), ERROR_NOT_FOUND);
    assert_int_equal(tdh_enumerate_provider_field_information(&provider, 2, block, &size), ERROR_NOT_FOUND);
    assert_int_equal(tdh_enumerate_provider_field_information(&provider, 5, block, &size), ERROR_NOT_SUPPORTED);
    assert_int_equal(tdh_enumerate_provider_field_information(&nobody, 0, block, &size), ERROR_NOT_FOUND);
    assert_int_equal(tdh_enumerate_provider_field_information(NULL, 0, block, &size), ERROR_INVALID_PARAMETER);
}

static void events_and_filters_are_described(void **state)
{
    (void)state;
    ULONG filters = 0;
    assert_int_equal(tdh_enumerate_manifest_provider_events(&provider, block, &size), ERROR_SUCCESS);
    assert_true(get_u32(block) == 2 && memcmp(block + 8, &described, 16) == 0);
    size = sizeof block;
    assert_int_equal(tdh_get_manifest_event_information(&provider, &described, block, &size), ERROR_SUCCESS);
    assert_true(text_is(get_u32(block + 52), "Test-Tdh") && text_is(get_u32(block + 56), "Very loud"));
    assert_true(text_is(get_u32(block + 64), "Disk") && text_is(get_u32(block + 64) + 10, "The network"));
    assert_int_equal(get_u16(block + get_u32(block + 64) + 10 + 24), 0); /* one more NUL ends the list */
    assert_true(text_is(get_u32(block + 68), "Copy") && text_is(get_u32(block + 72), "Step"));
    assert_true(text_is(get_u32(block + 76), "%3 has %2 bytes"));
    assert_int_equal(get_u32(block + 100), 3);
    assert_true(text_is(get_u32(block + TDH_EVENT_HEAD + 12), "Kind"));
    size = sizeof block;
    assert_int_equal(tdh_get_manifest_event_information(&provider, &(EVENT_DESCRIPTOR){.Id = 9}, block, &size),
                     ERROR_NOT_FOUND);
    assert_int_equal(tdh_enumerate_provider_filters(&provider, 0, NULL, &filters, block, &size), ERROR_SUCCESS);
    assert_int_equal(filters, 1);
    assert_true(block[0] == 5 && block[1] == 2 && get_u32(block + 12) == 3);
    assert_true(text_is(get_u32(block + 16 + 24 + 4), "Size"));
}

static EVENT_RECORD record(const uint8_t *data, USHORT bytes)
{
    return (EVENT_RECORD){.EventHeader = {.ProviderId = provider, .EventDescriptor = described},
                          .UserData = (void *)(uintptr_t)data,
                          .UserDataLength = bytes};
}

static void an_event_is_decoded_with_its_map(void **state)
{
    (void)state;
    static const uint8_t data[] = "\x02\x10\0\0\0a\0\0\0";
    EVENT_RECORD event = record(data, 9);
    static const WCHAR kind[] = u"Kind", other[] = u"Other";
    WCHAR text[32];
    ULONG bytes = sizeof text;
    USHORT used;
    assert_int_equal(tdh_get_event_map_information(&event, kind, NULL, &(ULONG){0}), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(tdh_get_event_map_information(&event, other, block, &size), ERROR_NOT_FOUND);
    assert_int_equal(tdh_get_event_map_information(&event, kind, block, &size), ERROR_SUCCESS);
    assert_true(text_is(get_u32(block), "Kind") && get_u32(block + 4) == MAP_MANIFEST_VALUES &&
                get_u32(block + 8) == 2);
    assert_true(get_u32(block + 16 + 8 + 4) == 2 && text_is(get_u32(block + 16 + 8), "Second"));
    assert_int_equal(tdh_format_property(block, block, 8, IN_TYPE_UINT8, 0, 0, 1, data, &bytes, text, &used),
                     ERROR_SUCCESS);
    assert_memory_equal(text, u"Second", sizeof u"Second");
    event.EventHeader.EventDescriptor.Version = 2; /* the manifest does not define this version of the event */
    assert_int_equal(tdh_get_event_information(&event, 0, NULL, NULL, &(ULONG){0}), ERROR_NOT_FOUND);
}

static void manifests_are_loaded_from_files(void **state)
{
    (void)state;
    static const char path[] = "test_tdh.man";
    static const WCHAR wide[] = u"test_tdh.man", missing[] = u"test_tdh.none";
    WCHAR endless[300];
    for (size_t i = 0; i < 299; i++)
        endless[i] = 'x';
    endless[299] = 0;
    assert_int_equal(file_store(path, "<a/>", 4), S_OK);
    assert_int_equal(tdh_load_manifest(wide), 1465);
    assert_int_equal(tdh_load_manifest_from_binary(wide), ERROR_BAD_EXE_FORMAT);
    assert_int_equal(file_store(path, manifest, MANIFEST), S_OK);
    assert_int_equal(tdh_load_manifest(wide), ERROR_SUCCESS);
    assert_int_equal(tdh_enumerate_manifest_provider_events(&provider, block, &size), ERROR_SUCCESS);
    assert_int_equal(tdh_unload_manifest(wide), ERROR_SUCCESS);
    assert_int_equal(tdh_unload_manifest(wide), ERROR_NOT_FOUND);
    assert_int_equal(tdh_load_manifest(missing), ERROR_FILE_NOT_FOUND);
    assert_int_equal(tdh_load_manifest_from_binary(missing), ERROR_FILE_NOT_FOUND);
    assert_int_equal(tdh_load_manifest(endless), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_load_manifest(NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_load_manifest_from_memory("<a", 2), 1465);
    assert_int_equal(tdh_load_manifest_from_memory(NULL, 2), ERROR_INVALID_PARAMETER);
    assert_int_equal(file_delete(path), S_OK);
}

static bool is_known(void)
{
    ULONG need = 0;
    return tdh_enumerate_manifest_provider_events(&provider, NULL, &need) == ERROR_INSUFFICIENT_BUFFER;
}

static ULONG load_file(const void *path, ULONG bytes)
{
    (void)bytes;
    return tdh_load_manifest(path);
}

static ULONG load_binary(const void *path, ULONG bytes)
{
    (void)bytes;
    return tdh_load_manifest_from_binary(path);
}

static ULONG load_bytes(const void *data, ULONG bytes)
{
    return tdh_load_manifest_from_memory(data, bytes);
}

static ULONG unload_row(const void *what, ULONG bytes)
{
    return bytes ? tdh_unload_manifest_from_memory(what, bytes) : tdh_unload_manifest(what);
}

/* Stores a DLL that contains only a manifest's template, without messages. */
static void store_binary(const char *path)
{
    struct provider_manifests list;
    uint8_t *template, *bytes;
    size_t template_size, bytes_size;
    assert_int_equal(manifest_xml_read(manifest, MANIFEST, NULL, &list), S_OK);
    assert_int_equal(wevt_template_write(&list, &template, &template_size), S_OK);
    const struct pe_resource resource = {.type_name = "WEVT_TEMPLATE", .bytes = template, .size = template_size};
    assert_int_equal(pe_resources_write(&resource, 1, &bytes, &bytes_size), S_OK);
    assert_int_equal(file_store(path, (const char *)bytes, bytes_size), S_OK);
    memory_free(template);
    memory_free(bytes);
    provider_manifests_free(&list);
}

/* A program reloads its manifests when they may have changed. If memory is exhausted, the old ones remain. */
static void out_of_memory_keeps_the_loaded_manifest(void **state)
{
    (void)state;
    static const WCHAR text[] = u"test_tdh_memory.man", binary[] = u"test_tdh_memory.dll";
    static const struct {
        ULONG (*load)(const void *what, ULONG bytes);
        const void *what;
        ULONG bytes;
    } rows[] = {{load_file, text, 0}, {load_binary, binary, 0}, {load_bytes, manifest, MANIFEST}};
    assert_int_equal(file_store("test_tdh_memory.man", manifest, MANIFEST), S_OK);
    store_binary("test_tdh_memory.dll");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_false(is_known());
        for (int before = 0; before < 2; before++)
            for (uint64_t n = 1, taken = 0; taken + 1 >= n; n++) {
                const bool known = is_known();
                memory_fail_at(n);
                const ULONG status = rows[i].load(rows[i].what, rows[i].bytes);
                taken = memory_count();
                memory_fail_at(0);
                if (status != ERROR_SUCCESS && status != ERROR_NOT_ENOUGH_MEMORY)
                    fail_msg("row %zu, allocation %llu: %u", i, (unsigned long long)n, (unsigned)status);
                if (is_known() != (known || status == ERROR_SUCCESS))
                    fail_msg("row %zu, allocation %llu: %u, and the provider is %sknown", i, (unsigned long long)n,
                             (unsigned)status, is_known() ? "" : "not ");
                if (before == 0 && taken >= n && status == ERROR_SUCCESS)
                    assert_int_equal(unload_row(rows[i].what, rows[i].bytes), ERROR_SUCCESS);
            }
        ULONG status = ERROR_NOT_ENOUGH_MEMORY;
        for (uint64_t n = 1; status != ERROR_SUCCESS; n++) {
            assert_true(is_known());
            memory_fail_at(n);
            status = unload_row(rows[i].what, rows[i].bytes);
            memory_fail_at(0);
            assert_true(status == ERROR_SUCCESS || status == ERROR_NOT_ENOUGH_MEMORY);
        }
        assert_false(is_known());
    }
    assert_int_equal(file_delete("test_tdh_memory.man"), S_OK);
    assert_int_equal(file_delete("test_tdh_memory.dll"), S_OK);
}

/* Tests Windows' undocumented functions that query WMI on another computer. */
static void wmi_is_limited_to_this_computer(void **state)
{
    (void)state;
    static const WCHAR other[] = u"\\\\no-such-computer", here[] = u".";
    static const GUID kernel = {0x9E814AAD, 0x3204, 0x11D2, {0x9A, 0x82, 0x00, 0x60, 0x08, 0xA8, 0x69, 0x39}};
    ULONG need = 0, all = 0;
    assert_int_equal(tdh_enumerate_providers_for_decoding_source(SCHEMA_MOF, NULL, 0, &all), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(tdh_enumerate_remote_wbem_providers(here, NULL, &need), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(need, all);
    assert_int_equal(tdh_enumerate_remote_wbem_providers(other, block, &size), 4208);
    assert_int_equal(tdh_enumerate_remote_wbem_provider_field_information(other, &kernel, 0, block, &size), 4208);
    assert_int_equal(tdh_query_remote_wbem_provider_field_information(other, &kernel, 1, 0, block, &size), 4208);
    assert_int_equal(tdh_enumerate_remote_wbem_provider_field_information(here, &provider, 0, block, &size),
                     ERROR_NOT_FOUND); /* this event provider has a manifest */
    assert_int_equal(tdh_enumerate_remote_wbem_provider_field_information(NULL, &kernel, 0, block, &size),
                     tdh_enumerate_provider_field_information(&kernel, 0, block, &(ULONG){sizeof block}));
    assert_int_equal(tdh_enumerate_remote_wbem_providers(NULL, block, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_unpublished_7(1, 2, 3, 4, 5, 6, 7), ERROR_NOT_SUPPORTED);
}

/* ---- size of the output buffer ---- */

static const uint8_t described_data[] = "\x02\x10\0\0\0a\0\0\0";
enum { DESCRIBED_DATA = 9 };

static ULONG all_events(const EVENT_RECORD *event, void *to, ULONG *room)
{
    return tdh_get_all_events_information(event, NULL, &(ULONG){0}, &(ULONG){0}, to, room);
}

/* Calls the nth function that returns a block; 13: end of the list. */
static ULONG give(unsigned function, void *handle, void *to, ULONG *room)
{
    const EVENT_RECORD event = record(described_data, DESCRIBED_DATA);
    const EVENT_RECORD message = {.EventHeader = {.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE,
                                                  .ProviderId = {0x12345678, 1, 1, {1}},
                                                  .EventDescriptor = {.Id = 11}}};
    static char second[] = "Second";
    static struct event_map_entry entry = {2, NULL, second};
    struct tdh_block map = {0};
    ULONG status, count;
    USHORT used;
    switch (function) {
    case 0:
        return tdh_get_event_information(&event, 0, NULL, to, room);
    case 1:
        return tdh_get_event_map_information(&event, u"Kind", to, room);
    case 2:
        return all_events(&event, to, room);
    case 3:
        return tdh_enumerate_providers(to, room);
    case 4:
        return tdh_enumerate_providers_for_decoding_source(SCHEMA_MANIFEST, to, *room, room);
    case 5:
        return tdh_enumerate_provider_field_information(&provider, 0, to, room);
    case 6:
        return tdh_query_provider_field_information(&provider, 4, 0, to, room);
    case 7:
        return tdh_enumerate_provider_filters(&provider, 0, NULL, &count, to, room);
    case 8:
        return tdh_enumerate_manifest_provider_events(&provider, to, room);
    case 9:
        return tdh_get_manifest_event_information(&provider, &described, to, room);
    case 10:
        assert_int_equal(tdh_block_map(&(struct event_map){.entries = &entry, .count = 1}, &map), S_OK);
        status = tdh_format_property(map.bytes, map.bytes, 8, IN_TYPE_UINT8, 0, 0, 1, described_data, room, to, &used);
        tdh_block_free(&map);
        return status;
    case 11:
        return tdh_get_wpp_message(handle, &message, room, to);
    default:
        return tdh_get_wpp_property(handle, &message, u"FormattedString", room, to);
    }
}

/* Programs query the size and then pass a buffer of that size: nothing may be written beyond the buffer, or into a
   buffer that is too small. */
static void output_stays_within_the_buffer(void **state)
{
    (void)state;
    static const char path[] = "12345678-0001-0001-0100-000000000000.tmf",
                      tmf[] = "12345678-0001-0001-0100-000000000000 own // SRC=a.c\n#typev a1 11 \"%0Hello\"\n{\n}\n";
    const struct tdh_parameter folder = {(uintptr_t)u".", TDH_PARAMETER_TMF_SEARCH_PATH, 0};
    void *handle = NULL;
    assert_int_equal(file_store(path, tmf, sizeof tmf - 1), S_OK);
    assert_int_equal(tdh_open_decoding_handle(&handle), ERROR_SUCCESS);
    assert_int_equal(tdh_set_decoding_parameter(handle, &folder), ERROR_SUCCESS);
    for (unsigned f = 0; f < 13; f++) {
        ULONG need = 0;
        assert_int_equal(give(f, handle, NULL, &need), ERROR_INSUFFICIENT_BUFFER);
        assert_in_range(need, 1, sizeof block - 16);
        const ULONG rooms[] = {0, 1, need / 2, need - 1, need, need + 9};
        for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
            const bool fits = rooms[i] >= need;
            ULONG got = rooms[i];
            size_t clean = fits ? need : 0;
            memset(block, 0xA5, sizeof block);
            const ULONG status = give(f, handle, block, &got);
            while (clean < sizeof block && block[clean] == 0xA5)
                clean++;
            if (status != (fits ? ERROR_SUCCESS : ERROR_INSUFFICIENT_BUFFER) || got != need || clean != sizeof block)
                fail_msg("function %u, room %u of %u: %u, says %u, writes at %zu", f, (unsigned)rooms[i],
                         (unsigned)need, (unsigned)status, (unsigned)got, clean);
        }
    }
    assert_int_equal(tdh_close_decoding_handle(handle), ERROR_SUCCESS);
    assert_int_equal(file_delete(path), S_OK);
}

static void payload_filters_use_the_manifest(void **state)
{
    (void)state;
    static const WCHAR field[] = u"Size", value[] = u"10", bad[] = u"ten";
    const struct tdh_condition good = {field, 3, value}, wrong = {field, 3, bad}, none = {NULL, 3, value};
    EVENT_FILTER_DESCRIPTOR descriptor = {0};
    void *filter = NULL, *gone;
    assert_int_equal(tdh_create_payload_filter(&provider, &described, 0, 1, &wrong, &filter), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_create_payload_filter(&provider, &described, 0, 1, &none, &filter), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_create_payload_filter(&provider, &described, 0, 9, &good, &filter), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_create_payload_filter(&nobody, &described, 0, 1, &good, &filter), ERROR_NOT_FOUND);
    assert_int_equal(tdh_create_payload_filter(&provider, &(EVENT_DESCRIPTOR){.Id = 9}, 0, 1, &good, &filter),
                     ERROR_FILE_NOT_FOUND);
    assert_int_equal(tdh_create_payload_filter(&provider, &described, 0, 1, &good, &filter), ERROR_SUCCESS);
    assert_non_null(filter);
    assert_int_equal(tdh_aggregate_payload_filters(1, &filter, NULL, &descriptor), ERROR_SUCCESS);
    assert_true(descriptor.Type == EVENT_FILTER_TYPE_PAYLOAD && descriptor.Size <= 4096 && descriptor.Ptr != 0);
    gone = filter;
    assert_int_equal(tdh_delete_payload_filter(&filter), ERROR_SUCCESS);
    assert_null(filter);
    assert_int_equal(tdh_delete_payload_filter(&gone), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_aggregate_payload_filters(1, &gone, NULL, &descriptor), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_cleanup_payload_event_filter_descriptor(&descriptor), ERROR_SUCCESS);
    assert_true(descriptor.Ptr == 0);
    assert_int_equal(tdh_cleanup_payload_event_filter_descriptor(&descriptor), ERROR_INVALID_PARAMETER);
}

static void message_handles_have_parameters(void **state)
{
    (void)state;
    static const WCHAR path[] = u"nowhere";
    const EVENT_RECORD event = {.EventHeader = {.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE}};
    struct tdh_parameter p = {(uintptr_t)path, TDH_PARAMETER_TMF_SEARCH_PATH, 0};
    void *handle = NULL;
    assert_int_equal(tdh_open_decoding_handle(NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_open_decoding_handle(&handle), ERROR_SUCCESS);
    assert_int_equal(tdh_set_decoding_parameter(handle, &p), ERROR_SUCCESS);
    p.value = 0;
    assert_int_equal(tdh_get_decoding_parameter(handle, &p), ERROR_SUCCESS);
    assert_memory_equal((const void *)(uintptr_t)p.value, path, sizeof path);
    p = (struct tdh_parameter){3, TDH_PARAMETER_POINTER_SIZE, 4};
    assert_int_equal(tdh_set_decoding_parameter(handle, &p), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_get_decoding_parameter(handle, &p), ERROR_NOT_FOUND);
    p.type = TDH_PARAMETER_PDB_PATH;
    assert_int_equal(tdh_set_decoding_parameter(handle, &p), ERROR_NOT_SUPPORTED);
    assert_int_equal(tdh_get_wpp_message(handle, &event, &size, block), ERROR_NOT_FOUND);
    assert_int_equal(tdh_close_decoding_handle(handle), ERROR_SUCCESS);
    assert_int_equal(tdh_close_decoding_handle(handle), ERROR_INVALID_HANDLE);
    assert_int_equal(tdh_get_wpp_message(handle, &event, &size, block), ERROR_INVALID_HANDLE);
}

/* Each folder of a search path is searched, for events and for handles. */
static void messages_are_found_in_folders(void **state)
{
    (void)state;
    static const char path[] = "11111111-2222-3333-4444-555555555555.tmf",
                      tmf[] = "11111111-2222-3333-4444-555555555555 own // SRC=a.c\n#typev a1 11 \"%0Hello\"\n{\n}\n";
    static const WCHAR folders[] = u"nowhere;.";
    const EVENT_RECORD event = {
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE | EVENT_HEADER_FLAG_64_BIT_HEADER,
                        .ProviderId = {0x11111111, 0x2222, 0x3333, {0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55}},
                        .EventDescriptor = {.Id = 11}}};
    const struct tdh_parameter p = {(uintptr_t)folders, TDH_PARAMETER_TMF_SEARCH_PATH, 0};
    void *handle = NULL;
    assert_int_equal(file_store(path, tmf, sizeof tmf - 1), S_OK);
    size = sizeof block;
    assert_int_equal(tdh_open_decoding_handle(&handle), ERROR_SUCCESS);
    assert_int_equal(tdh_set_decoding_parameter(handle, &p), ERROR_SUCCESS);
    assert_int_equal(tdh_get_wpp_message(handle, &event, &size, block), ERROR_SUCCESS);
    assert_memory_equal(block, u"Hello", sizeof u"Hello");
    assert_int_equal(tdh_close_decoding_handle(handle), ERROR_SUCCESS);
    size = sizeof block;
    assert_int_equal(tdh_get_event_information(&event, 1, &p, block, &size), ERROR_SUCCESS);
    assert_true(text_is(get_u32(block + 76), "Hello"));
    assert_int_equal(file_delete(path), S_OK);
}

/* TRACE_FORMAT_SEARCH_PATH is the current folder. */
static void a_message_has_properties(void **state)
{
    (void)state;
    static const char path[] = "11111111-2222-3333-4444-666666666666.tmf",
                      tmf[] = "11111111-2222-3333-4444-666666666666 own // SRC=a.c MJ=Main\n"
                              "#typev a1 11 \"%0Hello %10!s! at %11!s!\" // LEVEL=BAD FUNC=main\n"
                              "{\nwho, ItemString -- 10\nwhen, ItemTimestamp -- 11\n}\n";
    static const uint8_t data[] = {'y', 'o', 'u', 0, 0x00, 0x80, 0x3E, 0xD5, 0xDE, 0xB1, 0x9D, 0x01}, number[4] = {99};
    EVENT_HEADER_EXTENDED_DATA_ITEM item = {.ExtType = 0xFE, .DataSize = 4, .DataPtr = (uintptr_t)number};
    EVENT_RECORD event = {
        .EventHeader = {.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE | EVENT_HEADER_FLAG_64_BIT_HEADER |
                                 EVENT_HEADER_FLAG_EXTENDED_INFO,
                        .ProviderId = {0x11111111, 0x2222, 0x3333, {0x44, 0x44, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66}},
                        .EventDescriptor = {.Id = 11}},
        .ExtendedDataCount = 1,
        .ExtendedData = &item,
        .UserDataLength = sizeof data,
        .UserData = (void *)(uintptr_t)data};
    const struct tdh_parameter gmt = {1, TDH_PARAMETER_GMT, 0},
                               symbols = {(uintptr_t)u"a.pdb", TDH_PARAMETER_PDB_PATH, 0};
    static const struct {
        const WCHAR *name;
        size_t bytes;
        const void *value;
    } rows[] = {
        {u"FormattedString", sizeof u"Hello you at 01/01/1970-00:00:00.000", u"Hello you at 01/01/1970-00:00:00.000"},
        {u"SequenceNum", 4, number},
        {u"FunctionName", sizeof u"main", u"main"},
        {u"ComponentName", sizeof u"Main", u"Main"},
        {u"GuidTypeName", sizeof u"own", u"own"},
        {u"LevelName", sizeof u"BAD", u"BAD"},
        {u"who", 4, "you"}, /* an argument */
    };
    assert_int_equal(file_store(path, tmf, sizeof tmf - 1), S_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct tdh_property_step step = {(uintptr_t)rows[i].name, UINT32_MAX, 0};
        assert_int_equal(tdh_get_property_size(&event, 1, &gmt, 1, &step, &size), ERROR_SUCCESS);
        assert_int_equal(size, rows[i].bytes);
        assert_int_equal(tdh_get_property(&event, 1, &gmt, 1, &step, size - 1, block), ERROR_INSUFFICIENT_BUFFER);
        assert_int_equal(tdh_get_property(&event, 1, &gmt, 1, &step, size, block), ERROR_SUCCESS);
        assert_memory_equal(block, rows[i].value, rows[i].bytes);
    }
    const struct tdh_property_step time = {(uintptr_t)u"SystemTime", UINT32_MAX, 0},
                                   flags = {(uintptr_t)u"FlagsName", UINT32_MAX, 0};
    struct tdh_place place;
    assert_int_equal(tdh_get_property_size(&event, 0, NULL, 1, &time, &size), ERROR_SUCCESS);
    assert_int_equal(size, 16);
    assert_int_equal(tdh_get_property_offset_and_size(&event, 0, NULL, 1, &time, &place), ERROR_NOT_FOUND);
    assert_int_equal(tdh_get_property_size(&event, 0, NULL, 1, &flags, &size), ERROR_NOT_FOUND);
    /* Symbols are not supported; properties that need no symbols are available. */
    size = sizeof block;
    assert_int_equal(tdh_get_event_information(&event, 1, &symbols, block, &size), ERROR_SUCCESS);
    assert_int_equal(get_u16(block + TDH_EVENT_HEAD + 18), 0); /* strings are NUL-terminated */
    assert_int_equal(get_u16(block + TDH_EVENT_HEAD + TDH_PROPERTY_SIZE + 18), 8);
    event.EventHeader.EventDescriptor.Id = 12;
    assert_int_equal(tdh_get_event_information(&event, 1, &symbols, block, &size), ERROR_NOT_SUPPORTED);
    assert_int_equal(tdh_get_event_information(&event, 0, NULL, block, &size), ERROR_NOT_FOUND);
    assert_int_equal(file_delete(path), S_OK);
}

#define LOADED(name) cmocka_unit_test_setup_teardown(name, load, unload)

int main(void)
{
    scratch_environment("TRACE_FORMAT_SEARCH_PATH", ".");
    const struct CMUnitTest tests[] = {
        LOADED(a_loaded_manifest_is_listed_until_unloaded),
        LOADED(fields_are_listed_and_looked_up),
        LOADED(events_and_filters_are_described),
        LOADED(an_event_is_decoded_with_its_map),
        cmocka_unit_test(manifests_are_loaded_from_files),
        cmocka_unit_test(out_of_memory_keeps_the_loaded_manifest),
        LOADED(wmi_is_limited_to_this_computer),
        LOADED(output_stays_within_the_buffer),
        LOADED(payload_filters_use_the_manifest),
        cmocka_unit_test(message_handles_have_parameters),
        cmocka_unit_test(messages_are_found_in_folders),
        cmocka_unit_test(a_message_has_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* TDH as programs use it for a written event: a first call for the size and a second one for the block, properties by
   name, and strings. Every TraceLogging type reads back with each suitable output type. */
#include "engine/etw/consumer/event_view.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/event_values.h"
#include "tests/unit/etw/provider_fixture.h"

#include <float.h>

static const EVENT_DESCRIPTOR some_event = {.Channel = 11, .Level = 4, .Opcode = 1, .Keyword = 5};
static struct event_view view;
static EVENT_RECORD *event;

/* ---- an event ---- */

static uint8_t metadata[4096], data[4096];
static uint16_t metadata_size, data_size;

static void begin_event(const char *name)
{
    metadata[2] = 0;
    strcpy((char *)metadata + 3, name);
    metadata_size = (uint16_t)(4 + strlen(name));
    data_size = 0;
}

static void add_metadata(const void *bytes, size_t size)
{
    memcpy(metadata + metadata_size, bytes, size);
    metadata_size = (uint16_t)(metadata_size + size);
}

static void add_data(const void *bytes, size_t size)
{
    memcpy(data + data_size, bytes, size);
    data_size = (uint16_t)(data_size + size);
}

static void add_field(const char *name, uint8_t in, uint8_t out, const void *bytes, size_t size)
{
    add_metadata(name, strlen(name) + 1);
    const uint8_t types[] = {(uint8_t)(in | (out ? 0x80 : 0)), out};
    add_metadata(types, out ? 2 : 1);
    add_data(bytes, size);
}

/* Writes the event with the event provider's functions, and reads it as consumers receive it. */
static void write_event(void)
{
    static const uint8_t traits[] = "\x0A\0AllMine\0";
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = fixture_register(&fixture_guid, NULL, NULL);
    fixture_apply(&e, 1);
    put_u16(metadata, metadata_size);
    EVENT_DATA_DESCRIPTOR parts[] = {
        {.Ptr = (uintptr_t)metadata, .Size = metadata_size, .Reserved = ETW_DATA_EVENT_METADATA},
        {.Ptr = (uintptr_t)data, .Size = data_size}};
    GUID group;
    bool has_group;
    assert_int_equal(provider_set_traits(handle, traits, 10, &group, &has_group), ERROR_SUCCESS);
    assert_int_equal(EventWriteTransfer(handle, &some_event, NULL, NULL, 2, parts), ERROR_SUCCESS);
    const struct fixture_log *log = fixture_read(session);
    assert_int_equal(log->count, 1);
    event_view_record(&log->event[0].record, 1, sizeof(void *), false, &view);
    event = &view.record;
    fixture_unregister(handle);
}

/* ---- blocks ---- */

static uint8_t info[65536];

static char *text_at(const uint8_t *block, uint32_t offset)
{
    char *text;
    size_t units = 0;
    const uint8_t *at = block + offset;
    WCHAR wide[1024];
    for (; get_u16(at + 2 * units) != 0; units++)
        wide[units] = get_u16(at + 2 * units);
    assert_int_equal(text_from_utf16(wide, units, false, &text), S_OK);
    return text;
}

static void expect_text(uint32_t at, const char *expected)
{
    const uint32_t offset = get_u32(info + at);
    if (!expected) {
        assert_int_equal(offset, 0);
        return;
    }
    char *text = text_at(info, offset);
    assert_string_equal(text, expected);
    memory_free(text);
}

static void get_info(void)
{
    ULONG size = 0, again;
    assert_int_equal(tdh_get_event_information(event, 0, NULL, NULL, &size), ERROR_INSUFFICIENT_BUFFER);
    assert_in_range(size, TDH_EVENT_HEAD, sizeof info);
    again = size - 1;
    assert_int_equal(tdh_get_event_information(event, 0, NULL, info, &again), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(again, size);
    again = sizeof info;
    assert_int_equal(tdh_get_event_information(event, 0, NULL, info, &again), ERROR_SUCCESS);
    assert_int_equal(again, size);
}

static ULONG get_element(const char *name, uint32_t element, const char *member, uint32_t member_element, void *out,
                         ULONG room, ULONG *size)
{
    WCHAR *wide, *wide_member = NULL;
    assert_int_equal(text_to_utf16(name, &wide, NULL), S_OK);
    if (member)
        assert_int_equal(text_to_utf16(member, &wide_member, NULL), S_OK);
    const struct tdh_property_step path[] = {{(uintptr_t)wide, element, 0},
                                             {(uintptr_t)wide_member, member_element, 0}};
    const ULONG steps = member ? 2 : 1;
    ULONG status = tdh_get_property_size(event, 0, NULL, steps, path, size);
    if (status == ERROR_SUCCESS && *size != 0)
        assert_int_equal(tdh_get_property(event, 0, NULL, steps, path, *size - 1, out), ERROR_INSUFFICIENT_BUFFER);
    if (status == ERROR_SUCCESS)
        status = tdh_get_property(event, 0, NULL, steps, path, room, out);
    memory_free(wide);
    memory_free(wide_member);
    return status;
}

static ULONG get_step(const char *name, uint32_t element, const char *member, void *out, ULONG room, ULONG *size)
{
    return get_element(name, element, member, UINT32_MAX, out, room, size);
}

/* ---- every type ---- */

struct typed {
    const char *in_name, *out_name;
    uint8_t in, out;
    const char *bytes;
    uint16_t size;
    const char *text;
};
#define BYTES(literal) literal, sizeof(literal) - 1

static const struct typed all[] = {
    {"UNICODESTRING", "", 1, 0, BYTES("W\0\xE4\0\0\0"), "Wä"},
    {"UNICODESTRING", "XML", 1, 11, BYTES("<\0a\0/\0>\0\0\0"), "<a/>"},
    {"UNICODESTRING", "JSON", 1, 12, BYTES("[\0]\0\0\0"), "[]"},
    {"ANSISTRING", "", 2, 0, BYTES("plain\0"), "plain"},
    {"ANSISTRING", "XML", 2, 11, BYTES("<\xC3\xA4/>\0"), "<ä/>"},
    {"ANSISTRING", "JSON", 2, 12, BYTES("\"\xC3\xA4\"\0"), "\"ä\""},
    {"ANSISTRING", "UTF8", 2, 35, BYTES("\xE2\x82\xAC\0"), "€"},
    {"INT8", "", 3, 0, BYTES("\x85"), "-123"},
    {"INT8", "STRING", 3, 2, BYTES("Q"), "Q"},
    {"INT8", "HEX", 3, 4, BYTES("\x85"), "0x85"},
    {"INT8", "UNSIGNED", 3, 18, BYTES("\x85"), "133"},
    {"UINT8", "", 4, 0, BYTES("\x85"), "133"},
    {"UINT8", "STRING", 4, 2, BYTES("q"), "q"},
    {"UINT8", "BOOLEAN", 4, 3, BYTES("\x01"), "true"},
    {"UINT8", "HEX", 4, 4, BYTES("\x0A"), "0xA"},
    {"UINT8", "SIGNED", 4, 17, BYTES("\x85"), "-123"},
    {"INT16", "", 5, 0, BYTES("\x00\x80"), "-32768"},
    {"INT16", "HEX", 5, 4, BYTES("\x00\x80"), "0x8000"},
    {"UINT16", "", 6, 0, BYTES("\x00\x80"), "32768"},
    {"UINT16", "STRING", 6, 2, BYTES("\xAC\x20"), "€"},
    {"UINT16", "HEX", 6, 4, BYTES("\xEF\xBE"), "0xBEEF"},
    {"UINT16", "PORT", 6, 7, BYTES("\x00\x50"), "80"},
    {"INT32", "", 7, 0, BYTES("\xFF\xFF\xFF\xFF"), "-1"},
    {"INT32", "HEX", 7, 4, BYTES("\xFF\xFF\xFF\xFF"), "0xFFFFFFFF"},
    {"INT32", "HRESULT", 7, 15, BYTES("\x23\x01\x45\xE6"), "Unknown HResult Error code: 0xE6450123"},
    {"UINT32", "", 8, 0, BYTES("\x00\x00\x00\x80"), "2147483648"},
    {"UINT32", "HEX", 8, 4, BYTES("\x00\x00\x00\x80"), "0x80000000"},
    {"UINT32", "PID", 8, 5, BYTES("\x39\x30\0\0"), "12345"},
    {"UINT32", "TID", 8, 6, BYTES("\x3A\x30\0\0"), "12346"},
    {"UINT32", "IPV4", 8, 8, BYTES("\x0A\x00\x00\x01"), "10.0.0.1"},
    {"UINT32", "WIN32ERROR", 8, 13, BYTES("\xF1\xFF\0\0"), "Unknown Win32 Error code: 0x0000FFF1"},
    {"UINT32", "NTSTATUS", 8, 14, BYTES("\x23\x01\x45\xE6"), "Unknown NTSTATUS Error code: 0xE6450123"},
    {"UINT32", "CODE_POINTER", 8, 37, BYTES("\x00\x10\x40\0"), "0x401000"},
    {"INT64", "", 9, 0, BYTES("\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "-2"},
    {"INT64", "HEX", 9, 4, BYTES("\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "0xFFFFFFFFFFFFFFFE"},
    {"INT64", "FILETIME", 9, 16, BYTES("\x00\x80\x3E\xD5\xDE\xB1\x9D\x01"), "1970-01-01T00:00:00.000000000Z"},
    {"UINT64", "", 10, 0, BYTES("\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "18446744073709551614"},
    {"UINT64", "HEX", 10, 4, BYTES("\x0F\0\0\0\0\0\0\0"), "0xF"},
    {"UINT64", "CODE_POINTER", 10, 37, BYTES("\x00\x10\x40\0\x01\0\0\0"), "0x100401000"},
    {"FLOAT", "", 11, 0, BYTES("\x00\x00\xC0\x3F"), "1.500000"},
    {"DOUBLE", "", 12, 0, BYTES("\0\0\0\0\0\0\x04\xC0"), "-2.500000"},
    {"BOOL32", "", 13, 0, BYTES("\x01\0\0\0"), "true"},
    {"BINARY", "", 14, 0, BYTES("\x03\0\xAB\xCD\xEF"), "0xABCDEF"},
    {"BINARY", "IPV6", 14, 9, BYTES("\x10\0\xFE\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"), "fe80::1"},
    {"BINARY", "SOCKETADDRESS", 14, 10, BYTES("\x10\0\x02\0\x01\xBB\x01\x02\x03\x04\0\0\0\0\0\0\0\0"), "1.2.3.4:443"},
    {"BINARY", "PKCS7", 14, 36, BYTES("\x02\0\x30\x80"), "0x3080"},
    {"GUID", "", 15, 0, BYTES("\x33\x22\x11\0\x55\x44\x77\x66\x88\x99\xAA\xBB\xCC\xDD\xEE\xFF"),
     "{00112233-4455-6677-8899-aabbccddeeff}"},
    {"FILETIME", "", 17, 0, BYTES("\x00\x80\x3E\xD5\xDE\xB1\x9D\x01"), "1970-01-01T00:00:00.000000000Z"},
    {"FILETIME", "DATETIME_UTC", 17, 38, BYTES("\x00\x80\x3E\xD5\xDE\xB1\x9D\x01"), "1970-01-01T00:00:00.000000000Z"},
    {"SYSTEMTIME", "", 18, 0, BYTES("\xE8\x07\x02\0\x04\0\x1D\0\x17\0\x3B\0\x3A\0\x7B\0"),
     "2024-02-29T23:59:58.123000000Z"},
    {"SYSTEMTIME", "DATETIME_UTC", 18, 38, BYTES("\xE8\x07\x02\0\x04\0\x1D\0\x17\0\x3B\0\x3A\0\x7B\0"),
     "2024-02-29T23:59:58.123000000Z"},
    {"SID", "", 19, 0, BYTES("\x01\x02\0\0\0\0\0\x05\x20\0\0\0\x20\x02\0\0"), "S-1-5-32-544"},
    {"HEXINT32", "", 20, 0, BYTES("\xEF\xBE\xAD\xDE"), "0xDEADBEEF"},
    {"HEXINT32", "UNSIGNED", 20, 18, BYTES("\x10\0\0\0"), "16"},
    {"HEXINT32", "WIN32ERROR", 20, 13, BYTES("\xF1\xFF\0\0"), "Unknown Win32 Error code: 0x0000FFF1"},
    {"HEXINT32", "NTSTATUS", 20, 14, BYTES("\x23\x01\x45\xE6"), "Unknown NTSTATUS Error code: 0xE6450123"},
    {"HEXINT64", "", 21, 0, BYTES("\xEF\xBE\xAD\xDE\0\0\0\0"), "0xDEADBEEF"},
    {"COUNTEDSTRING", "", 22, 0, BYTES("\x04\0c\0\xE4\0"), "cä"},
    {"COUNTEDSTRING", "XML", 22, 11, BYTES("\x02\0x\0"), "x"},
    {"COUNTEDANSISTRING", "", 23, 0, BYTES("\x03\0abc"), "abc"},
    {"COUNTEDANSISTRING", "JSON", 23, 12, BYTES("\x04\0[\xC3\xA4]"), "[ä]"},
    {"COUNTEDANSISTRING", "UTF8", 23, 35, BYTES("\x03\0\xE2\x82\xAC"), "€"},
    {"COUNTEDANSISTRING", "", 23, 0, BYTES("\0\0"), ""},
    {"COUNTEDBINARY", "", 25, 0, BYTES("\x02\0\x12\x34"), "0x1234"},
    {"COUNTEDBINARY", "IPV6", 25, 9, BYTES("\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"), "::1"},
    {"COUNTEDBINARY", "SOCKETADDRESS", 25, 10, BYTES("\x02\0\x02\0"), "0x0200"},
    {"POINTER", "", 16, 0, BYTES("\x10\x20\0\0"), "0x2010"}, /* widened in the code below */
};

/* Returns the length that programs expect in EVENT_PROPERTY_INFO: the size of types with a fixed size, and 0 for all
   others. */
static uint16_t length_of_type(uint16_t in)
{
    static const uint8_t lengths[] = {
        [IN_TYPE_INT8] = 1,
        [IN_TYPE_UINT8] = 1,
        [IN_TYPE_INT16] = 2,
        [IN_TYPE_UINT16] = 2,
        [IN_TYPE_INT32] = 4,
        [IN_TYPE_UINT32] = 4,
        [IN_TYPE_INT64] = 8,
        [IN_TYPE_UINT64] = 8,
        [IN_TYPE_FLOAT] = 4,
        [IN_TYPE_DOUBLE] = 8,
        [IN_TYPE_BOOLEAN] = 4,
        [IN_TYPE_GUID] = 16,
        [IN_TYPE_FILETIME] = 8,
        [IN_TYPE_SYSTEMTIME] = 16,
        [IN_TYPE_HEXINT32] = 4,
        [IN_TYPE_HEXINT64] = 8,
        [IN_TYPE_POINTER] = sizeof(void *),
    };
    return in < sizeof lengths ? lengths[in] : 0;
}

static void every_type_reads_back(void **state)
{
    (void)state;
    const size_t count = sizeof all / sizeof all[0];
    char name[16];
    begin_event("All");
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "f%zu", i);
        add_field(name, all[i].in, all[i].out, all[i].bytes, all[i].size);
        if (all[i].in == 16)
            add_data("\0\0\0\0", sizeof(void *) - 4);
    }
    write_event();
    get_info();
    assert_int_equal(get_u32(info + 100), count);
    printf("%-18s %-14s %3s %3s  %s\n", "in", "out", "in", "out", "text");
    for (size_t i = 0; i < count; i++) {
        const uint8_t *property = info + TDH_EVENT_HEAD + i * TDH_PROPERTY_SIZE;
        const USHORT in = get_u16(property + 8), out = get_u16(property + 10), length = get_u16(property + 18);
        uint8_t bytes[256];
        ULONG size, text_size = 0;
        USHORT used;
        WCHAR text[512];
        snprintf(name, sizeof name, "f%zu", i);
        expect_text((uint32_t)(property + 4 - info), name);
        assert_int_equal(length, length_of_type(in));
        assert_int_equal(get_step(name, UINT32_MAX, NULL, bytes, sizeof bytes, &size), ERROR_SUCCESS);
        assert_int_equal(size, all[i].in == 16 ? sizeof(void *) : all[i].size);
        assert_memory_equal(bytes, all[i].bytes, all[i].size);
        assert_int_equal(tdh_format_property(info, NULL, sizeof(void *), in, out, length, (USHORT)size, bytes,
                                             &text_size, NULL, &used),
                         ERROR_INSUFFICIENT_BUFFER);
        assert_in_range(text_size, 2, sizeof text);
        assert_int_equal(tdh_format_property(info, NULL, sizeof(void *), in, out, length, (USHORT)size, bytes,
                                             &text_size, text, &used),
                         ERROR_SUCCESS);
        assert_int_equal(used, size);
        char *utf8 = text_at((const uint8_t *)text, 0);
        printf("%-18s %-14s %3u %3u  %s\n", all[i].in_name, all[i].out_name, in, out, utf8);
        assert_string_equal(utf8, all[i].text);
        memory_free(utf8);
    }
}

static void an_event_has_names(void **state)
{
    (void)state;
    begin_event("Started");
    add_field("n", 8, 0, "\x07\0\0\0", 4);
    write_event();
    get_info();
    assert_memory_equal(info, &fixture_guid, 16);
    assert_memory_equal(info + 32, &some_event, 16);
    assert_int_equal(get_u32(info + 48), SCHEMA_TRACE_LOGGING);
    expect_text(52, "AllMine");
    expect_text(56, "Information");
    expect_text(64, NULL);
    expect_text(72, "Start");
    expect_text(92, "Started");
    assert_int_equal(get_u32(info + 104), 1);
}

/* Expects the lengths of the kernel's Process class, which a MOF class describes; `flags` determine the pointer
   size. */
static void expect_lengths_of_process(uint16_t flags, uint16_t pointer)
{
    static const GUID process = {0x3D6FA8D0, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
    const uint16_t lengths[] = {pointer, 4, 4, 4, 4, pointer, 4, 0, 0, 0, 0, 0}; /* variable lengths from UserSID on */
    EVENT_RECORD classic = {.EventHeader = {.ProviderId = process,
                                            .Flags = (USHORT)(EVENT_HEADER_FLAG_CLASSIC_HEADER | flags),
                                            .EventDescriptor = {.Opcode = 1, .Version = 4}}};
    ULONG size = sizeof info;
    assert_int_equal(tdh_get_event_information(&classic, 0, NULL, info, &size), ERROR_SUCCESS);
    assert_int_equal(get_u32(info + 48), SCHEMA_MOF);
    assert_int_equal(get_u32(info + 100), sizeof lengths / sizeof lengths[0]);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        assert_int_equal(get_u16(info + TDH_EVENT_HEAD + i * TDH_PROPERTY_SIZE + 18), lengths[i]);
}

static void lengths_of_classic_events_follow_the_writer(void **state)
{
    (void)state;
    expect_lengths_of_process(EVENT_HEADER_FLAG_64_BIT_HEADER, 8);
    expect_lengths_of_process(EVENT_HEADER_FLAG_32_BIT_HEADER, 4);
}

/* A struct has the length 0. An array has the length of one element. */
static void elements_of_structs_and_arrays_have_lengths(void **state)
{
    (void)state;
    begin_event("Arrays");
    add_metadata("s\0\x98\x01k\0\x06v\0\x48w\0\x2A\x03\0", 15);
    add_data("\x01\0\x01\0\x07\0\0\0", 8);
    add_data("\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0", 24);
    write_event();
    get_info();
    static const uint16_t lengths[] = {0 /* s */, 2 /* v.Count */, 4 /* v */, 8 /* w */, 2 /* s.k */};
    assert_int_equal(get_u32(info + 100), sizeof lengths / sizeof lengths[0]);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        assert_int_equal(get_u16(info + TDH_EVENT_HEAD + i * TDH_PROPERTY_SIZE + 18), lengths[i]);
}

static void floating_point_numbers_have_six_decimals(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {{45.7, "45.700000"}, {0, "0.000000"},           {1e20, "100000000000000000000.000000"},
                {1e-7, "0.000000"},  {-1.0000005, "-1.000001"}, {123456789.125, "123456789.125000"}};
    const double largest = DBL_MAX;
    const float single = 1.5f;
    WCHAR text[400];
    USHORT used;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ULONG size = sizeof text;
        assert_int_equal(tdh_format_property(info, NULL, 8, IN_TYPE_DOUBLE, i % 2 ? OUT_TYPE_DOUBLE : 0, 8, 8,
                                             (const uint8_t *)&rows[i].value, &size, text, &used),
                         ERROR_SUCCESS);
        assert_int_equal(used, 8);
        char *utf8 = text_at((const uint8_t *)text, 0);
        assert_string_equal(utf8, rows[i].text);
        memory_free(utf8);
    }
    ULONG size = sizeof text;
    assert_int_equal(tdh_format_property(info, NULL, 8, IN_TYPE_FLOAT, OUT_TYPE_FLOAT, 4, 4, (const uint8_t *)&single,
                                         &size, text, &used),
                     ERROR_SUCCESS);
    char *utf8 = text_at((const uint8_t *)text, 0);
    assert_string_equal(utf8, "1.500000");
    memory_free(utf8);
    size = sizeof text;
    assert_int_equal(
        tdh_format_property(info, NULL, 8, IN_TYPE_DOUBLE, 0, 8, 8, (const uint8_t *)&largest, &size, text, &used),
        ERROR_SUCCESS);
    assert_int_equal(size, 2 * (DBL_MAX_10_EXP + 1 + 7 + 1));
}

/* s[2] { k; v[n] }, t */
static void members_and_elements_are_found_by_name(void **state)
{
    (void)state;
    uint8_t bytes[64];
    ULONG size;
    begin_event("Nested");
    add_metadata("s\0\xB8\x02\x02\0k\0\x04v\0\x44t\0\x04", 15);
    add_data("\x01\x02\0\x0A\x0B\x02\x01\0\x0C\x2A", 10);
    write_event();
    get_info();
    assert_int_equal(get_step("t", UINT32_MAX, NULL, bytes, sizeof bytes, &size), ERROR_SUCCESS);
    assert_int_equal(bytes[0], 0x2A);
    assert_int_equal(get_step("s", 1, "k", bytes, sizeof bytes, &size), ERROR_SUCCESS);
    assert_true(size == 1 && bytes[0] == 2);
    assert_int_equal(get_step("s", 0, "v", bytes, sizeof bytes, &size), ERROR_SUCCESS);
    assert_true(size == 2 && bytes[0] == 0x0A && bytes[1] == 0x0B);
    assert_int_equal(get_step("s", 1, NULL, bytes, sizeof bytes, &size), ERROR_SUCCESS);
    assert_true(size == 4 && bytes[3] == 0x0C);
    assert_int_equal(get_step("s", UINT32_MAX, NULL, bytes, sizeof bytes, &size), ERROR_SUCCESS);
    assert_int_equal(size, 9);
    assert_int_equal(get_element("s", 0, "v", 1, bytes, sizeof bytes, &size), ERROR_SUCCESS);
    assert_true(size == 1 && bytes[0] == 0x0B);
    assert_int_equal(get_element("s", 1, "v", 0, bytes, sizeof bytes, &size), ERROR_SUCCESS);
    assert_true(size == 1 && bytes[0] == 0x0C);
    assert_int_equal(get_element("s", 1, "v", 1, bytes, sizeof bytes, &size), ERROR_NOT_FOUND);
    /* Index 0 is the only valid one, because k is not an array. */
    assert_int_equal(get_element("s", 1, "k", 0, bytes, sizeof bytes, &size), ERROR_SUCCESS);
    assert_int_equal(get_element("s", 1, "k", 1, bytes, sizeof bytes, &size), ERROR_NOT_FOUND);
    assert_int_equal(get_step("t", 0, NULL, bytes, sizeof bytes, &size), ERROR_SUCCESS);
    assert_int_equal(get_step("t", 1, NULL, bytes, sizeof bytes, &size), ERROR_NOT_FOUND);
    assert_int_equal(get_step("t", UINT32_MAX, "k", bytes, sizeof bytes, &size), ERROR_NOT_FOUND);
    assert_int_equal(get_step("s", 2, "k", bytes, sizeof bytes, &size), ERROR_NOT_FOUND);
    assert_int_equal(get_step("S", UINT32_MAX, NULL, bytes, sizeof bytes, &size), ERROR_NOT_FOUND);
    assert_int_equal(get_step("s", 0, "t", bytes, sizeof bytes, &size), ERROR_NOT_FOUND);
    assert_int_equal(get_step("k", UINT32_MAX, NULL, bytes, sizeof bytes, &size), ERROR_NOT_FOUND);
}

static void truncated_data_are_reported(void **state)
{
    (void)state;
    uint8_t bytes[64];
    ULONG size;
    begin_event("Cut");
    add_field("a", 4, 0, "\x01", 1);
    add_field("b", 8, 0, "\x01\x02", 2);
    write_event();
    get_info();
    assert_int_equal(get_step("a", UINT32_MAX, NULL, bytes, sizeof bytes, &size), ERROR_SUCCESS);
    assert_int_equal(get_step("b", UINT32_MAX, NULL, bytes, sizeof bytes, &size), 15005);
}

static void an_unknown_event_is_not_found(void **state)
{
    (void)state;
    ULONG size = 0;
    EVENT_RECORD unknown = {.EventHeader = {.ProviderId = {1, 2, 3, {4}}, .EventDescriptor = {.Id = 9}}};
    assert_int_equal(tdh_get_event_information(&unknown, 0, NULL, NULL, &size), ERROR_NOT_FOUND);
    unknown.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
    assert_int_equal(tdh_get_event_information(&unknown, 0, NULL, NULL, &size), ERROR_NOT_FOUND);
    unknown.EventHeader.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE;
    assert_int_equal(tdh_get_event_information(&unknown, 0, NULL, NULL, &size), ERROR_NOT_FOUND);
}

static void missing_arguments_are_invalid_parameters(void **state)
{
    (void)state;
    uint8_t byte = 0;
    ULONG size = 0;
    USHORT used;
    WCHAR text[8];
    const struct tdh_parameter bad_size = {3, TDH_PARAMETER_POINTER_SIZE, 4}, unknown = {0, TDH_PARAMETERS, 0};
    const struct tdh_property_step nameless = {0, UINT32_MAX, 0};
    begin_event("One");
    add_field("a", 4, 0, "\x01", 1);
    write_event();
    assert_int_equal(tdh_get_event_information(NULL, 0, NULL, NULL, &size), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_get_event_information(event, 0, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_get_event_information(event, 1, NULL, NULL, &size), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_get_event_information(event, 1, &bad_size, NULL, &size), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_get_event_information(event, 1, &unknown, NULL, &size), ERROR_INVALID_PARAMETER);
    size = 1 << 20;
    assert_int_equal(tdh_get_event_information(event, 0, NULL, NULL, &size), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_get_property_size(event, 0, NULL, 1, &nameless, &size), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_get_property_size(event, 0, NULL, 0, &nameless, &size), ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_get_property_size(event, 0, NULL, 1000, &nameless, &size), ERROR_INVALID_PARAMETER);
    size = sizeof text;
    assert_int_equal(tdh_format_property(NULL, NULL, 8, IN_TYPE_UINT8, 0, 0, 1, &byte, &size, text, &used),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_format_property(info, NULL, 5, IN_TYPE_UINT8, 0, 0, 1, &byte, &size, text, &used),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(tdh_format_property(info, NULL, 8, IN_TYPE_UINT16, 0, 0, 1, &byte, &size, text, &used), 15005);
}

static void a_map_supplies_the_string(void **state)
{
    (void)state;
    static char name[] = "m", red[] = "Red", blue[] = "Blue";
    struct event_map_entry entries[] = {{1, NULL, red}, {2, NULL, blue}};
    const struct event_map map = {name, MAP_MANIFEST_BITS, entries, 2};
    struct tdh_block block;
    uint8_t value = 3;
    WCHAR text[32];
    ULONG size = sizeof text;
    USHORT used;
    assert_int_equal(tdh_block_map(&map, &block), S_OK);
    assert_int_equal(tdh_format_property(info, block.bytes, 8, IN_TYPE_UINT8, 0, 0, 1, &value, &size, text, &used),
                     ERROR_SUCCESS);
    char *utf8 = text_at((const uint8_t *)text, 0);
    assert_string_equal(utf8, "Red|Blue");
    memory_free(utf8);
    value = 8; /* callers retry without a map */
    size = sizeof text;
    assert_int_equal(tdh_format_property(info, block.bytes, 8, IN_TYPE_UINT8, 0, 0, 1, &value, &size, text, &used),
                     15005);
    tdh_block_free(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type_reads_back, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(an_event_has_names, fixture_setup, fixture_teardown),
        cmocka_unit_test(lengths_of_classic_events_follow_the_writer),
        cmocka_unit_test_setup_teardown(elements_of_structs_and_arrays_have_lengths, fixture_setup, fixture_teardown),
        cmocka_unit_test(floating_point_numbers_have_six_decimals),
        cmocka_unit_test_setup_teardown(members_and_elements_are_found_by_name, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(truncated_data_are_reported, fixture_setup, fixture_teardown),
        cmocka_unit_test(an_unknown_event_is_not_found),
        cmocka_unit_test_setup_teardown(missing_arguments_are_invalid_parameters, fixture_setup, fixture_teardown),
        cmocka_unit_test(a_map_supplies_the_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

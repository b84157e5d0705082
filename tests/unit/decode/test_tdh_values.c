/* SPDX-License-Identifier: MIT */
/* Every value type decodes to the expected string, and data that do not match their schema are reported. */
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

struct row {
    uint16_t in, out;
    uint32_t length;
    const char *bytes;
    size_t size, used;
    const char *text; /* NULL: the data do not match */
};
#define BYTES(literal) literal, sizeof(literal) - 1

static const struct row rows[] = {
    {IN_TYPE_NULL, 0, 0, BYTES("x"), 0, ""},
    {IN_TYPE_UNICODESTRING, 0, 0, BYTES("a\0\xE4\0\0\0z"), 6, "aä"},
    {IN_TYPE_UNICODESTRING, 0, 0, BYTES("\x3D\xD8\x00\xDE\x00\xD8"), 6, "\U0001F600\uFFFD"},
    {IN_TYPE_UNICODESTRING, 0, 0, BYTES("a\0b\0"), 4, "ab"},
    {IN_TYPE_UNICODESTRING, 0, 0, BYTES("a\0b"), 3, "a"},
    {IN_TYPE_UNICODESTRING, 0, 3, BYTES("a\0\0\0b\0z"), 6, "a"},
    {IN_TYPE_UNICODESTRING, 0, 3, BYTES("a\0b\0"), 0, NULL},
    {IN_TYPE_ANSISTRING, 0, 0, BYTES("abc\0z"), 4, "abc"},
    {IN_TYPE_ANSISTRING, 0, 0, BYTES("\xE4\0"), 2, "ä"},
    {IN_TYPE_ANSISTRING, OUT_TYPE_UTF8, 0, BYTES("\xC3\xA4\0"), 3, "ä"},
    {IN_TYPE_ANSISTRING, OUT_TYPE_JSON, 0, BYTES("\xC3\xA4\xFF"), 3, "ä\uFFFD"},
    {IN_TYPE_ANSISTRING, OUT_TYPE_XML, 2, BYTES("<a/>"), 2, "<a"},
    {IN_TYPE_INT8, 0, 0, BYTES("\x80"), 1, "-128"},
    {IN_TYPE_INT8, OUT_TYPE_STRING, 0, BYTES("A"), 1, "A"},
    {IN_TYPE_INT8, OUT_TYPE_HEXINT8, 0, BYTES("\xFF"), 1, "0xFF"},
    {IN_TYPE_UINT8, 0, 0, BYTES("\x80"), 1, "128"},
    {IN_TYPE_UINT8, OUT_TYPE_BOOLEAN, 0, BYTES("\x02"), 1, "true"},
    {IN_TYPE_UINT8, OUT_TYPE_BOOLEAN, 0, BYTES("\0"), 1, "false"},
    {IN_TYPE_INT16, 0, 0, BYTES("\xFE\xFF"), 2, "-2"},
    {IN_TYPE_UINT16, 0, 0, BYTES("\xFE\xFF"), 2, "65534"},
    {IN_TYPE_UINT16, OUT_TYPE_PORT, 0, BYTES("\x1F\x90"), 2, "8080"},
    {IN_TYPE_UINT16, OUT_TYPE_STRING, 0, BYTES("\xAC\x20"), 2, "€"},
    {IN_TYPE_UINT16, OUT_TYPE_HEXINT16, 0, BYTES("\x0F\0"), 2, "0xF"},
    {IN_TYPE_INT32, 0, 0, BYTES("\0\0\0\x80"), 4, "-2147483648"},
    {IN_TYPE_UINT32, 0, 0, BYTES("\xFF\xFF\xFF\xFF"), 4, "4294967295"},
    {IN_TYPE_UINT32, OUT_TYPE_PID, 0, BYTES("\x10\x27\0\0"), 4, "10000"},
    {IN_TYPE_UINT32, OUT_TYPE_IPV4, 0, BYTES("\xC0\xA8\x01\x02"), 4, "192.168.1.2"},
    {IN_TYPE_UINT32, OUT_TYPE_ERRORCODE, 0, BYTES("\x05\0\x07\x80"), 4, "0x80070005"},
    {IN_TYPE_UINT32, OUT_TYPE_WIN32ERROR, 0, BYTES("\xF1\xFF\0\0"), 4, "Unknown Win32 Error code: 0x0000FFF1"},
    {IN_TYPE_INT32, OUT_TYPE_HRESULT, 0, BYTES("\x01\x23\x45\xE6"), 4, "Unknown HResult Error code: 0xE6452301"},
    {IN_TYPE_UINT32, OUT_TYPE_NTSTATUS, 0, BYTES("\x01\x23\x45\xE6"), 4, "Unknown NTSTATUS Error code: 0xE6452301"},
    {IN_TYPE_UINT32, OUT_TYPE_CODE_POINTER, 0, BYTES("\xCD\xAB\0\0"), 4, "0xABCD"},
    {IN_TYPE_INT64, 0, 0, BYTES("\0\0\0\0\0\0\0\x80"), 8, "-9223372036854775808"},
    {IN_TYPE_UINT64, 0, 0, BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), 8, "18446744073709551615"},
    {IN_TYPE_UINT64, OUT_TYPE_HEXINT64, 0, BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), 8, "0xFFFFFFFFFFFFFFFF"},
    {IN_TYPE_UINT64, OUT_TYPE_ETWTIME, 0, BYTES("\x01\0\0\0\0\0\0\0"), 8, "1"},
    {IN_TYPE_FLOAT, 0, 0, BYTES("\xCD\xCC\xCC\x3D"), 4, "0.1"},
    {IN_TYPE_DOUBLE, 0, 0, BYTES("\x18\x2D\x44\x54\xFB\x21\x09\x40"), 8, "3.141592653589793"},
    {IN_TYPE_DOUBLE, 0, 0, BYTES("\0\0\0\0\0\0\xF0\x7F"), 8, "inf"},
    {IN_TYPE_BOOLEAN, 0, 0, BYTES("\0\0\0\x01"), 4, "true"},
    {IN_TYPE_BOOLEAN, 0, 0, BYTES("\x01"), 0, NULL},
    {IN_TYPE_BINARY, 0, 2, BYTES("\x01\xAB\x03"), 2, "0x01AB"},
    {IN_TYPE_BINARY, OUT_TYPE_IPV6, 0, BYTES("\x20\x01\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\x01z"), 16, "2001:db8::1"},
    {IN_TYPE_BINARY, OUT_TYPE_IPV6, 0, BYTES("\0\0\0\0\0\0\0\0\0\0\xFF\xFF\x01\x02\x03\x04"), 16, "::ffff:1.2.3.4"},
    {IN_TYPE_BINARY, OUT_TYPE_IPV6, 0, BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), 16, "::"},
    {IN_TYPE_BINARY, OUT_TYPE_IPV6, 0, BYTES("\0\x01\0\0\0\x02\0\0\0\0\0\x03\0\0\0\0"), 16, "1:0:2::3:0:0"},
    {IN_TYPE_BINARY, OUT_TYPE_SOCKETADDRESS, 16, BYTES("\x02\0\x1F\x90\x7F\0\0\x01\0\0\0\0\0\0\0\0"), 16,
     "127.0.0.1:8080"},
    {IN_TYPE_BINARY, OUT_TYPE_SOCKETADDRESS, 28,
     BYTES("\x17\0\x01\xBB\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0"), 28, "[::1]:443"},
    {IN_TYPE_BINARY, OUT_TYPE_SOCKETADDRESS, 3, BYTES("\x17\0\x01"), 3, "0x170001"},
    {IN_TYPE_GUID, 0, 0, BYTES("\x33\x22\x11\0\x55\x44\x77\x66\x88\x99\xAA\xBB\xCC\xDD\xEE\xFF"), 16,
     "{00112233-4455-6677-8899-aabbccddeeff}"},
    {IN_TYPE_POINTER, 0, 0, BYTES("\xF0\xDE\xBC\x9A\x78\x56\x34\x12"), 8, "0x123456789ABCDEF0"},
    {IN_TYPE_POINTER, 0, 0, BYTES("\0\0\0\0\0\0\0\0"), 8, "0x0"},
    {IN_TYPE_POINTER, OUT_TYPE_LONG, 0, BYTES("\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), 8, "-2"},
    {IN_TYPE_POINTER, OUT_TYPE_UNSIGNEDLONG, 0, BYTES("\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), 8, "18446744073709551614"},
    {IN_TYPE_FILETIME, 0, 0, BYTES("\x00\x80\x3E\xD5\xDE\xB1\x9D\x01"), 8, "1970-01-01T00:00:00.000000000Z"},
    {IN_TYPE_FILETIME, OUT_TYPE_DATETIME_UTC, 0, BYTES("\x07\x80\x3E\xD5\xDE\xB1\x9D\x01"), 8,
     "1970-01-01T00:00:00.000000700Z"},
    {IN_TYPE_FILETIME, 0, 0, BYTES("\x00\x80\x3E\xD5\xDE\xB1\x9D\xFF"), 8, "0xFF9DB1DED53E8000"},
    {IN_TYPE_SYSTEMTIME, 0, 0, BYTES("\xE8\x07\x02\0\x04\0\x1D\0\x17\0\x3B\0\x3A\0\x7B\0"), 16,
     "2024-02-29T23:59:58.123000000Z"},
    {IN_TYPE_SID, 0, 0, BYTES("\x01\x02\0\0\0\0\0\x05\x20\0\0\0\x20\x02\0\0z"), 16, "S-1-5-32-544"},
    {IN_TYPE_SID, 0, 0, BYTES("\x01\x10\0\0\0\0\0\x05\x20\0\0\0\x20\x02\0\0z"), 0, NULL},
    {IN_TYPE_HEXINT32, 0, 0, BYTES("\x0A\0\0\0"), 4, "0xA"},
    {IN_TYPE_HEXINT32, OUT_TYPE_UNSIGNEDINT, 0, BYTES("\x0A\0\0\0"), 4, "10"},
    {IN_TYPE_HEXINT64, 0, 0, BYTES("\x0A\0\0\0\0\0\0\x80"), 8, "0x800000000000000A"},
    {IN_TYPE_MANIFEST_COUNTEDSTRING, 0, 0, BYTES("\x04\0a\0b\0c\0"), 6, "ab"},
    {IN_TYPE_MANIFEST_COUNTEDSTRING, 0, 0, BYTES("\0\0a\0"), 2, ""},
    {IN_TYPE_MANIFEST_COUNTEDSTRING, 0, 0, BYTES("\x05\0a\0b\0"), 0, NULL},
    {IN_TYPE_MANIFEST_COUNTEDANSISTRING, OUT_TYPE_UTF8, 0, BYTES("\x03\0\xC3\xA4z"), 5, "äz"},
    {IN_TYPE_MANIFEST_COUNTEDBINARY, 0, 0, BYTES("\x02\0\x01\x02\x03"), 4, "0x0102"},
    {IN_TYPE_MANIFEST_COUNTEDBINARY, OUT_TYPE_IPV6, 0, BYTES("\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"), 18, "::1"},
    {IN_TYPE_COUNTEDSTRING, 0, 0, BYTES("\x02\0a\0"), 4, "a"},
    {IN_TYPE_COUNTEDANSISTRING, 0, 0, BYTES("\x02\0ab"), 4, "ab"},
    {IN_TYPE_REVERSEDCOUNTEDSTRING, 0, 0, BYTES("\0\x02\x61\0"), 4, "a"},
    {IN_TYPE_REVERSEDCOUNTEDANSISTRING, 0, 0, BYTES("\0\x01\x61z"), 3, "a"},
    {IN_TYPE_NONNULLTERMINATEDSTRING, 0, 0, BYTES("a\0b\0"), 4, "ab"},
    {IN_TYPE_NONNULLTERMINATEDANSISTRING, 0, 0, BYTES("abc"), 3, "abc"},
    {IN_TYPE_UNICODECHAR, 0, 0, BYTES("a\0b\0"), 2, "a"},
    {IN_TYPE_ANSICHAR, 0, 0, BYTES("ab"), 1, "a"},
    {IN_TYPE_SIZET, 0, 0, BYTES("\x10\0\0\0\0\0\0\0"), 8, "0x10"},
    {IN_TYPE_HEXDUMP, 0, 0, BYTES("\x02\0\0\0\x01\x02\x03"), 6, "0x0102"},
    {IN_TYPE_HEXDUMP, 0, 0, BYTES("\xFF\xFF\xFF\xFF\x01"), 0, NULL},
    {IN_TYPE_WBEMSID, 0, 0, BYTES("\0\0\0\0z"), 4, ""},
    {IN_TYPE_WBEMSID, 0, 0, BYTES("\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x01\0\0\0\0\0\x05\x12\0\0\0"), 28,
     "S-1-5-18"},
    {999, 0, 0, BYTES("abcd"), 0, NULL},
    /* Type pairs from Microsoft's documentation beyond the default output types. */
    {IN_TYPE_UNICODESTRING, OUT_TYPE_STRING, 0, BYTES("a\0\0\0"), 4, "a"},
    {IN_TYPE_UNICODESTRING, OUT_TYPE_REDUCEDSTRING, 0, BYTES("a\0\0\0"), 4, "a"},
    {IN_TYPE_UNICODESTRING, OUT_TYPE_NOPRINT, 0, BYTES("a\0\0\0"), 4, "a"},
    {IN_TYPE_UNICODESTRING, OUT_TYPE_CIMDATETIME, 0, BYTES("1\0*\0\0\0"), 6, "1*"},
    {IN_TYPE_ANSISTRING, OUT_TYPE_STRING, 0, BYTES("a\0"), 2, "a"},
    {IN_TYPE_INT8, OUT_TYPE_BYTE, 0, BYTES("\x80"), 1, "-128"},
    {IN_TYPE_UINT8, OUT_TYPE_UNSIGNEDBYTE, 0, BYTES("\x80"), 1, "128"},
    {IN_TYPE_UINT8, OUT_TYPE_BYTE, 0, BYTES("\x80"), 1, "-128"},
    {IN_TYPE_UINT8, OUT_TYPE_HEXINT8, 0, BYTES("\x0A"), 1, "0xA"},
    {IN_TYPE_UINT8, OUT_TYPE_STRING, 0, BYTES("A"), 1, "A"},
    {IN_TYPE_INT16, OUT_TYPE_SHORT, 0, BYTES("\0\x80"), 2, "-32768"},
    {IN_TYPE_INT16, OUT_TYPE_HEXINT16, 0, BYTES("\0\x80"), 2, "0x8000"},
    {IN_TYPE_UINT16, OUT_TYPE_UNSIGNEDSHORT, 0, BYTES("\0\x80"), 2, "32768"},
    {IN_TYPE_UINT16, OUT_TYPE_SHORT, 0, BYTES("\0\x80"), 2, "-32768"},
    {IN_TYPE_INT32, OUT_TYPE_INT, 0, BYTES("\xFF\xFF\xFF\xFF"), 4, "-1"},
    {IN_TYPE_INT32, OUT_TYPE_HEXINT32, 0, BYTES("\xFF\xFF\xFF\xFF"), 4, "0xFFFFFFFF"},
    {IN_TYPE_INT32, OUT_TYPE_UNSIGNEDINT, 0, BYTES("\xFF\xFF\xFF\xFF"), 4, "4294967295"},
    {IN_TYPE_INT32, OUT_TYPE_NTSTATUS, 0, BYTES("\x01\x23\x45\xE6"), 4, "Unknown NTSTATUS Error code: 0xE6452301"},
    {IN_TYPE_INT32, OUT_TYPE_WIN32ERROR, 0, BYTES("\xF1\xFF\0\0"), 4, "Unknown Win32 Error code: 0x0000FFF1"},
    {IN_TYPE_UINT32, OUT_TYPE_HRESULT, 0, BYTES("\x01\x23\x45\xE6"), 4, "Unknown HResult Error code: 0xE6452301"},
    {IN_TYPE_UINT32, OUT_TYPE_INT, 0, BYTES("\xFF\xFF\xFF\xFF"), 4, "-1"},
    {IN_TYPE_UINT32, OUT_TYPE_TID, 0, BYTES("\x10\x27\0\0"), 4, "10000"},
    {IN_TYPE_UINT32, OUT_TYPE_ETWTIME, 0, BYTES("\x10\x27\0\0"), 4, "10000"},
    {IN_TYPE_UINT32, OUT_TYPE_HEXINT32, 0, BYTES("\x10\x27\0\0"), 4, "0x2710"},
    {IN_TYPE_UINT32, OUT_TYPE_BOOLEAN, 0, BYTES("\0\x01\0\0"), 4, "true"},
    {IN_TYPE_UINT32, OUT_TYPE_PORT, 0, BYTES("\x1F\x90\0\0"), 4, "36895"}, /* a port has two bytes, this number four */
    {IN_TYPE_INT64, OUT_TYPE_LONG, 0, BYTES("\0\0\0\0\0\0\0\x80"), 8, "-9223372036854775808"},
    {IN_TYPE_INT64, OUT_TYPE_HEXINT64, 0, BYTES("\0\0\0\0\0\0\0\x80"), 8, "0x8000000000000000"},
    {IN_TYPE_INT64, OUT_TYPE_UNSIGNEDLONG, 0, BYTES("\0\0\0\0\0\0\0\x80"), 8, "9223372036854775808"},
    {IN_TYPE_INT64, OUT_TYPE_DATETIME_UTC, 0, BYTES("\x00\x80\x3E\xD5\xDE\xB1\x9D\x01"), 8,
     "1970-01-01T00:00:00.000000000Z"},
    {IN_TYPE_UINT64, OUT_TYPE_LONG, 0, BYTES("\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), 8, "-2"},
    {IN_TYPE_UINT64, OUT_TYPE_CODE_POINTER, 0, BYTES("\xCD\xAB\0\0\0\0\0\0"), 8, "0xABCD"},
    {IN_TYPE_UINT64, OUT_TYPE_DATETIME, 0, BYTES("\x00\x80\x3E\xD5\xDE\xB1\x9D\x01"), 8,
     "1970-01-01T00:00:00.000000000Z"},
    {IN_TYPE_FLOAT, OUT_TYPE_FLOAT, 0, BYTES("\0\0\xC0\x3F"), 4, "1.5"},
    {IN_TYPE_DOUBLE, OUT_TYPE_DOUBLE, 0, BYTES("\0\0\0\0\0\0\xF8\xBF"), 8, "-1.5"},
    {IN_TYPE_BOOLEAN, OUT_TYPE_BOOLEAN, 0, BYTES("\0\0\0\0"), 4, "false"},
    {IN_TYPE_BINARY, OUT_TYPE_HEXBINARY, 2, BYTES("\x01\xAB"), 2, "0x01AB"},
    {IN_TYPE_BINARY, OUT_TYPE_PKCS7_WITH_TYPE_INFO, 2, BYTES("\x30\x80"), 2, "0x3080"},
    {IN_TYPE_BINARY, OUT_TYPE_IPV4, 4, BYTES("\x0A\0\0\x01"), 4, "10.0.0.1"},
    {IN_TYPE_GUID, OUT_TYPE_GUID, 0, BYTES("\x33\x22\x11\0\x55\x44\x77\x66\x88\x99\xAA\xBB\xCC\xDD\xEE\xFF"), 16,
     "{00112233-4455-6677-8899-aabbccddeeff}"},
    {IN_TYPE_POINTER, OUT_TYPE_HEXINT64, 0, BYTES("\x10\0\0\0\0\0\0\0"), 8, "0x10"},
    {IN_TYPE_POINTER, OUT_TYPE_CODE_POINTER, 0, BYTES("\x10\0\0\0\0\0\0\0"), 8, "0x10"},
    {IN_TYPE_POINTER, OUT_TYPE_UNSIGNEDINT, 0, BYTES("\x10\0\0\0\0\0\0\0"), 8, "16"},
    {IN_TYPE_FILETIME, OUT_TYPE_CULTURE_INSENSITIVE_DATETIME, 0, BYTES("\x00\x80\x3E\xD5\xDE\xB1\x9D\x01"), 8,
     "1970-01-01T00:00:00.000000000Z"},
    {IN_TYPE_SYSTEMTIME, OUT_TYPE_CULTURE_INSENSITIVE_DATETIME, 0,
     BYTES("\xE8\x07\x02\0\x04\0\x1D\0\x17\0\x3B\0\x3A\0\x7B\0"), 16, "2024-02-29T23:59:58.123000000Z"},
    {IN_TYPE_SID, OUT_TYPE_STRING, 0, BYTES("\x01\x01\0\0\0\0\0\x05\x12\0\0\0"), 12, "S-1-5-18"},
    {IN_TYPE_SID, 0, 0, BYTES("\x01\x01\0\x01\0\0\0\0\x12\0\0\0"), 12, "S-1-0x000100000000-18"},
    {IN_TYPE_HEXINT32, OUT_TYPE_HEXINT32, 0, BYTES("\x0A\0\0\0"), 4, "0xA"},
    {IN_TYPE_HEXINT32, OUT_TYPE_ERRORCODE, 0, BYTES("\x05\0\x07\x80"), 4, "0x80070005"},
    {IN_TYPE_HEXINT32, OUT_TYPE_CODE_POINTER, 0, BYTES("\x05\0\x07\x80"), 4, "0x80070005"},
    {IN_TYPE_HEXINT32, OUT_TYPE_NTSTATUS, 0, BYTES("\x01\x23\x45\xE6"), 4, "Unknown NTSTATUS Error code: 0xE6452301"},
    {IN_TYPE_HEXINT64, OUT_TYPE_CODE_POINTER, 0, BYTES("\x0A\0\0\0\0\0\0\x80"), 8, "0x800000000000000A"},
    {IN_TYPE_MANIFEST_COUNTEDSTRING, OUT_TYPE_XML, 0, BYTES("\x04\0<\0>\0"), 6, "<>"},
    {IN_TYPE_MANIFEST_COUNTEDSTRING, OUT_TYPE_JSON, 0, BYTES("\x04\0[\0]\0"), 6, "[]"},
    {IN_TYPE_MANIFEST_COUNTEDANSISTRING, OUT_TYPE_XML, 0, BYTES("\x02\0\xC3\xA4"), 4, "ä"},
    {IN_TYPE_MANIFEST_COUNTEDANSISTRING, OUT_TYPE_JSON, 0, BYTES("\x02\0[]"), 4, "[]"},
    {IN_TYPE_MANIFEST_COUNTEDBINARY, OUT_TYPE_SOCKETADDRESS, 0, BYTES("\x08\0\x02\0\0\x50\x7F\0\0\x01"), 10,
     "127.0.0.1:80"},
    {IN_TYPE_MANIFEST_COUNTEDBINARY, OUT_TYPE_PKCS7_WITH_TYPE_INFO, 0, BYTES("\x01\0\x30"), 3, "0x30"},
    {IN_TYPE_SIZET, OUT_TYPE_UNSIGNEDLONG, 0, BYTES("\x10\0\0\0\0\0\0\0"), 8, "16"},
    {IN_TYPE_ANSICHAR, OUT_TYPE_UTF8, 0, BYTES("\xFF"), 1, "\uFFFD"},
};

static void every_type_has_a_string(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *r = &rows[i];
        const struct value_type type = {r->in, r->out, r->length != 0, r->length, 8, false};
        uint8_t *copy = memory_copy(r->bytes, r->size); /* lets the sanitizer detect reads beyond the end */
        struct text_buffer out = {0};
        size_t used = 0;
        const HRESULT hr = value_text(&type, NULL, copy, r->size, &out, &used);
        if (hr != (r->text ? S_OK : EVENT_DATA_INVALID) || used != r->used)
            fail_msg("row %zu (in %u, out %u): 0x%08X %zu \"%s\"", i, r->in, r->out, (unsigned)hr, used,
                     out.text ? out.text : "");
        if (r->text)
            assert_string_equal(out.text ? out.text : "", r->text);
        text_buffer_free(&out);
        memory_free(copy);
    }
}

/* An event provider can combine any input type with any output type. The value always has the size of its input type,
   and is always shown as a string. */
static void an_unsuitable_output_type_is_ignored(void **state)
{
    (void)state;
    static const uint8_t begin[] = {1, 1, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 5, 18};
    uint8_t bytes[300] = {0};
    memcpy(bytes, begin, sizeof begin);
    for (unsigned in = 0; in <= IN_TYPE_WBEMSID; in++) {
        size_t own = 0, used;
        if (in == IN_TYPE_STRUCT || (in > IN_TYPE_MANIFEST_COUNTEDBINARY && in < IN_TYPE_COUNTEDSTRING))
            continue;
        for (unsigned out = 0; out <= OUT_TYPE_NOPRINT; out++) {
            struct text_buffer text = {0};
            const struct value_type type = {(uint16_t)in, (uint16_t)out, in == IN_TYPE_BINARY, 20, 8, false};
            if (value_text(&type, NULL, bytes, sizeof bytes, &text, &used) != S_OK || (out != 0 && used != own) ||
                (text.text && !text_is_utf8(text.text, text.length)))
                fail_msg("in %u, out %u: %zu of %zu bytes, \"%s\"", in, out, used, own, text.text ? text.text : "");
            own = used;
            text_buffer_free(&text);
        }
    }
}

static void pointers_have_the_writers_size(void **state)
{
    (void)state;
    const struct value_type type = {.in = IN_TYPE_POINTER, .pointer_size = 4};
    static const uint8_t bytes[] = {1, 0, 0, 0x80, 9, 9, 9, 9};
    struct text_buffer out = {0};
    size_t used;
    assert_int_equal(value_text(&type, NULL, bytes, sizeof bytes, &out, &used), S_OK);
    assert_string_equal(out.text, "0x80000001");
    assert_int_equal(used, 4);
    text_buffer_free(&out);
}

/* ---- maps ---- */

static char map_name[] = "Colours", red[] = "Red", green[] = "Green", none[] = "None", en[] = "en";

static void expect_mapped(struct event_map *map, uint32_t number, const char *text)
{
    const struct value_type type = {.in = IN_TYPE_UINT32, .pointer_size = 8};
    uint8_t bytes[4];
    struct text_buffer out = {0};
    put_u32(bytes, number);
    assert_int_equal(value_text(&type, map, bytes, sizeof bytes, &out, NULL), text ? S_OK : EVENT_DATA_INVALID);
    assert_string_equal(out.text ? out.text : "", text ? text : "");
    text_buffer_free(&out);
}

static void maps_name_values_and_bits(void **state)
{
    (void)state;
    struct event_map_entry entries[] = {{1, NULL, red}, {2, NULL, green}, {0, NULL, none}};
    struct event_map map = {map_name, MAP_MANIFEST_VALUES, entries, 3};
    expect_mapped(&map, 2, "Green");
    expect_mapped(&map, 3, NULL);
    map.flag = MAP_MANIFEST_BITS;
    expect_mapped(&map, 3, "Red|Green");
    expect_mapped(&map, 0x11, "Red|0x10");
    expect_mapped(&map, 0, "None");
    expect_mapped(&map, 0x10, NULL);
    map.flag = MAP_MOF_BITS; /* bit numbers */
    expect_mapped(&map, 6, "Red|Green");
}

static void string_maps_look_up_the_string(void **state)
{
    (void)state;
    struct event_map_entry entry = {0, en, green};
    struct event_map map = {map_name, MAP_MOF_VALUES, &entry, 1};
    const struct value_type type = {.in = IN_TYPE_ANSISTRING, .pointer_size = 8};
    struct text_buffer out = {0};
    assert_int_equal(value_text(&type, &map, (const uint8_t *)"en", 3, &out, NULL), S_OK);
    assert_string_equal(out.text, "Green");
    assert_int_equal(value_text(&type, &map, (const uint8_t *)"de", 3, &out, NULL), EVENT_DATA_INVALID);
    assert_non_null(strstr(error_text(EVENT_DATA_INVALID), "'de'"));
    text_buffer_free(&out);
}

/* ---- the walk ---- */

/* The recorded walk: "name=text," for values, "name{" "}" for structs, "name[" "]" for arrays. */
struct recorded {
    const struct event_schema *schema;
    struct text_buffer out;
    size_t stop_after;
};

static HRESULT record_step(void *context, enum event_step step, const struct event_value *v)
{
    struct recorded *t = context;
    HRESULT hr = S_OK;
    if (step == STEP_VALUE) {
        text_buffer_format(&t->out, "%s=", v->property->name);
        hr = event_value_text(t->schema, v, &t->out);
        text_buffer_add(&t->out, ",");
    } else if (step == STEP_STRUCT)
        text_buffer_format(&t->out, "%s{", v->property->name);
    else if (step == STEP_ARRAY)
        text_buffer_format(&t->out, "%s[", v->property->name);
    else
        text_buffer_format(&t->out, "%s%zu,", step == STEP_STRUCT_END ? "}" : "]", v->size);
    return SUCCEEDED(hr) && t->stop_after != 0 && --t->stop_after == 0 ? S_FALSE : hr;
}

static char count[] = "n", bytes_name[] = "size", blob[] = "blob", parts[] = "parts", a[] = "a", b[] = "b",
            last[] = "last", inner[] = "inner";
/* n; size; blob of `size` bytes; n structs {a; two b}; last */
static struct event_property properties[] = {
    {.name = count, .in_type = IN_TYPE_UINT8, .count = 1, .map = map_name},
    {.name = bytes_name, .in_type = IN_TYPE_UINT16, .count = 1},
    {.name = blob, .flags = PROPERTY_PARAM_LENGTH, .in_type = IN_TYPE_BINARY, .count = 1, .length = 1},
    {.name = parts, .flags = PROPERTY_STRUCT | PROPERTY_PARAM_COUNT, .count = 0, .first_member = 5, .members = 2},
    {.name = last, .in_type = IN_TYPE_UNICODESTRING, .count = 1},
    {.name = a, .in_type = IN_TYPE_INT8, .count = 1},
    {.name = b, .flags = PROPERTY_FIXED_COUNT, .in_type = IN_TYPE_UINT8, .count = 2},
};
static struct event_map_entry two = {2, NULL, red};
static struct event_map maps[] = {{map_name, MAP_MANIFEST_VALUES, &two, 1}};
static struct event_schema schema = {
    .properties = properties, .property_count = 7, .top_level = 5, .maps = maps, .map_count = 1};

static HRESULT walk(const struct event_schema *s, const void *bytes, size_t size, size_t stop_after, const char *text)
{
    uint8_t *copy = memory_copy(bytes, size);
    const struct event_data data = {copy, size, 8};
    struct recorded recorded = {.schema = s, .stop_after = stop_after};
    size_t used;
    const HRESULT hr = event_values_walk(s, &data, record_step, &recorded, &used);
    assert_string_equal(recorded.out.text ? recorded.out.text : "", text);
    text_buffer_free(&recorded.out);
    memory_free(copy);
    return hr;
}

static const char whole[] = "\x02\x03\0abc\xFF\x01\x02\x07\x03\x04z\0\0\0more";

static void lengths_counts_and_structs_are_followed(void **state)
{
    (void)state;
    assert_int_equal(event_schema_check(&schema), S_OK);
    assert_int_equal(walk(&schema, whole, sizeof whole - 1, 0,
                          "n=Red,size=3,blob=0x616263,parts[parts{a=-1,b[b=1,b=2,]2,}3,parts{a=7,b[b=3,b=4,]2,}3,]6,"
                          "last=z,"),
                     S_OK);
    assert_int_equal(walk(&schema, "\0\0\0z", 4, 0, "n=0,size=0,blob=0x,parts[]0,last=,"), S_OK);
    assert_int_equal(walk(&schema, whole, sizeof whole - 1, 2, "n=Red,size=3,"), S_FALSE);
}

static void truncated_data_return_their_values(void **state)
{
    (void)state;
    assert_int_equal(walk(&schema, whole, 9, 0, "n=Red,size=3,blob=0x616263,parts[parts{a=-1,b[b=1,b=2,]2,}3,parts{"),
                     EVENT_DATA_INVALID);
    assert_non_null(strstr(error_text(EVENT_DATA_INVALID), "a: the value needs 1 bytes, but only 0 are left"));
    assert_int_equal(walk(&schema,
                          "\x02\xFF\xFF"
                          "ab",
                          5, 0, "n=Red,size=65535,"),
                     EVENT_DATA_INVALID);
    assert_non_null(strstr(error_text(EVENT_DATA_INVALID), "'blob': the length is 65535"));
}

/* Manifest readers set the size of each type, even for arrays without elements. */
static void an_empty_array_takes_no_bytes(void **state)
{
    (void)state;
    struct event_property few[] = {
        {.name = count, .in_type = IN_TYPE_UINT8, .count = 1},
        {.name = parts, .flags = PROPERTY_PARAM_COUNT, .in_type = IN_TYPE_GUID, .count = 0, .length = 16},
        {.name = last, .in_type = IN_TYPE_UINT8, .count = 1, .length = 1},
    };
    const struct event_schema s = {.properties = few, .property_count = 3, .top_level = 3};
    assert_int_equal(walk(&s, "\0\x07", 2, 0, "n=0,parts[]0,last=7,"), S_OK);
    assert_int_equal(walk(&s, "\x01\x07", 2, 0, "n=1,"), EVENT_DATA_INVALID);
}

static HRESULT count_steps(void *context, enum event_step step, const struct event_value *v)
{
    (void)step, (void)v;
    ++*(size_t *)context;
    return S_OK;
}

/* 65535 times 65535 structs without members take no bytes. */
static void empty_values_are_limited(void **state)
{
    (void)state;
    struct event_property nested[] = {
        {.name = parts,
         .flags = PROPERTY_STRUCT | PROPERTY_FIXED_COUNT,
         .count = 65535,
         .first_member = 1,
         .members = 1},
        {.name = inner, .flags = PROPERTY_STRUCT | PROPERTY_FIXED_COUNT, .count = 65535, .first_member = 2},
    };
    const struct event_schema s = {.properties = nested, .property_count = 2, .top_level = 1};
    const struct event_data data = {NULL, 0, 8};
    size_t steps = 0;
    assert_int_equal(event_schema_check(&s), S_OK);
    assert_int_equal(event_values_walk(&s, &data, count_steps, &steps, NULL), EVENT_DATA_INVALID);
    assert_true(steps <= 0x20000);
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    static const uint8_t bytes[] = "plain text of an event";
    const struct value_type type = {.in = IN_TYPE_ANSISTRING, .pointer_size = 8};
    struct text_buffer out = {0};
    memory_fail_at(1);
    assert_int_equal(value_text(&type, NULL, bytes, sizeof bytes, &out, NULL), E_OUTOFMEMORY);
    memory_fail_at(0);
    text_buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_a_string),
        cmocka_unit_test(an_unsuitable_output_type_is_ignored),
        cmocka_unit_test(pointers_have_the_writers_size),
        cmocka_unit_test(maps_name_values_and_bits),
        cmocka_unit_test(string_maps_look_up_the_string),
        cmocka_unit_test(lengths_counts_and_structs_are_followed),
        cmocka_unit_test(truncated_data_return_their_values),
        cmocka_unit_test(an_empty_array_takes_no_bytes),
        cmocka_unit_test(empty_values_are_limited),
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* An event log file is valid at every size: without events, with one chunk, and when full. tests/cli/tracerpt_evtx.py
   compares the output of a log viewer with the XML dump. */
#include "engine/base/memory.h"
#include "engine/etw/decode/evtx/evtx.h"
#include "engine/etw/event_dump.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

static uint8_t *file;
static size_t size, capacity, room;

static HRESULT write_some(void *context, const void *bytes, size_t count)
{
    (void)context;
    if (count > room)
        return error_set(HRESULT_FROM_WIN32(ERROR_DISK_FULL), "dump.evtx: the disk is full");
    room -= count;
    while (size + count > capacity) {
        capacity = capacity ? 2 * capacity : 1 << 20;
        void *grown = realloc(file, capacity);
        assert_non_null(grown);
        file = grown;
    }
    memcpy(file + size, bytes, count);
    size += count;
    return S_OK;
}

static HRESULT write_over(void *context, uint64_t offset, const void *bytes, size_t count)
{
    (void)context;
    assert_true(offset + count <= size);
    memcpy(file + offset, bytes, count);
    return S_OK;
}

static int begin(void **state)
{
    (void)state;
    size = 0;
    room = SIZE_MAX;
    return 0;
}

/* Checks the header, the chunks and the chain of records; returns the number of records. */
static uint64_t records(void)
{
    assert_true(size >= EVTX_HEADER_BYTES && (size - EVTX_HEADER_BYTES) % EVTX_CHUNK_BYTES == 0);
    const size_t chunks = (size - EVTX_HEADER_BYTES) / EVTX_CHUNK_BYTES;
    assert_memory_equal(file, "ElfFile", 8);
    assert_int_equal(get_u16(file + 42), chunks);
    assert_int_equal(get_u32(file + 120), 0);
    uint64_t count = 0;
    for (size_t i = 0; i < chunks; i++) {
        const uint8_t *chunk = file + EVTX_HEADER_BYTES + i * EVTX_CHUNK_BYTES;
        const uint32_t end = get_u32(chunk + 48);
        assert_memory_equal(chunk, "ElfChnk", 8);
        assert_true(end < EVTX_CHUNK_BYTES); /* otherwise libevtx skips the last record */
        uint32_t at = 512;
        while (at < end) {
            const uint32_t length = get_u32(chunk + at + 4);
            assert_true(length > 28 && length <= end - at);
            assert_int_equal(get_u32(chunk + at + length - 4), length);
            assert_int_equal(get_u64(chunk + at + 8), ++count);
            at += length;
        }
        assert_int_equal(at, end);
    }
    assert_int_equal(get_u64(file + 24), count + 1);
    return count;
}

static char provider[] = "Maker", name[] = "Made", number[] = "Number", text[] = "Text", part[] = "Part",
            inner[] = "In";
static struct event_property properties[] = {
    {.name = number, .in_type = IN_TYPE_UINT32, .count = 1},
    {.name = text, .in_type = IN_TYPE_UNICODESTRING, .count = 1},
    {.name = part, .flags = PROPERTY_STRUCT, .count = 1, .first_member = 3, .members = 1},
    {.name = inner, .flags = PROPERTY_FIXED_COUNT, .in_type = IN_TYPE_UINT16, .count = 2},
};
static struct event_schema schema = {.source = SCHEMA_TRACE_LOGGING,
                                     .provider_name = provider,
                                     .event_name = name,
                                     .properties = properties,
                                     .property_count = 4,
                                     .top_level = 3};
static uint8_t data[] = {7, 0, 0, 0, 'a', 0, 0, 0, 9, 0, 10, 0};
static EVENT_RECORD record = {.UserData = data, .UserDataLength = sizeof data};

static HRESULT dump(const struct dumped_event *e, unsigned times)
{
    const struct event_dump_options options = {
        .form = EVENT_DUMP_EVTX, .lenient = true, .write = write_some, .write_at = write_over};
    struct event_dump *d;
    bool decoded;
    HRESULT hr = event_dump_create(&options, &d);
    for (unsigned i = 0; i < times && SUCCEEDED(hr); i++)
        hr = event_dump_add(d, e, &decoded);
    const HRESULT closed = event_dump_close(d);
    return FAILED(hr) ? hr : closed;
}

static void an_empty_log_is_valid(void **state)
{
    (void)state;
    assert_int_equal(dump(NULL, 0), S_OK);
    assert_int_equal(records(), 0);
    assert_int_equal(size, EVTX_HEADER_BYTES + EVTX_CHUNK_BYTES);
    assert_int_equal(get_u64(file + EVTX_HEADER_BYTES + 16), UINT64_MAX); /* there is no last record */
}

/* Each event results in a record, even if its data are truncated. Every length is tested. */
static void truncated_data_result_in_a_record(void **state)
{
    (void)state;
    const struct dumped_event e = {.record = &record, .schema = &schema};
    for (size_t length = 0; length <= sizeof data; length++) {
        begin(NULL);
        record.UserDataLength = (USHORT)length;
        assert_int_equal(dump(&e, 3), S_OK);
        assert_int_equal(records(), 3);
    }
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    char shape[] = "<Sale xmlns=\"urn:s\"><Item Number=\"%1\">%2</Item></Sale>";
    uint64_t n = 1;
    for (int shaped = 0; shaped < 2; shaped++) {
        const struct dumped_event e = {.record = &record, .schema = &schema};
        schema.user_data = shaped ? shape : NULL;
        HRESULT hr = E_OUTOFMEMORY;
        for (n = 1; hr != S_OK; n++) {
            begin(NULL);
            memory_fail_at(n);
            hr = dump(&e, 2);
            memory_fail_at(0);
            assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        }
        assert_int_equal(records(), 2);
        assert_true(n > 20);
    }
    schema.user_data = NULL;
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    const struct dumped_event e = {.record = &record, .schema = &schema};
    for (room = 0; room < 3 * EVTX_CHUNK_BYTES; room += 60000) {
        const size_t there = room;
        assert_int_equal(dump(&e, 1000), HRESULT_FROM_WIN32(ERROR_DISK_FULL));
        room = there;
        size = 0;
    }
}

/* When the file is full, it is valid and contains everything that was written before. */
static void a_full_file_is_reported(void **state)
{
    (void)state;
    struct evtx_writer *w = evtx_writer_create(2);
    struct evtx_record r = {0};
    struct text_buffer to = {0};
    uint8_t header[EVTX_HEADER_BYTES] = {0};
    char *long_text = malloc(30001);
    assert_non_null(w);
    assert_non_null(long_text);
    memset(long_text, 'x', 30000);
    long_text[30000] = 0;
    evtx_begin(&r, "Event");
    evtx_value_text(&r, long_text);
    evtx_end(&r);
    assert_int_equal(write_some(NULL, header, sizeof header), S_OK);
    assert_int_equal(evtx_writer_add(w, &r, 1, &to), S_OK);
    assert_int_equal(evtx_writer_add(w, &r, 2, &to), S_OK);
    assert_int_equal(evtx_writer_add(w, &r, 3, &to), HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE)), "4 GB"));
    evtx_writer_end(w, &to);
    assert_int_equal(write_some(NULL, to.text, to.length), S_OK);
    evtx_writer_header(w, true, file);
    assert_int_equal(records(), 2);
    text_buffer_free(&to);
    evtx_record_free(&r);
    evtx_writer_free(w);
    free(long_text);
}

/* Elements nested as deeply as in a hostile manifest. */
static void depth_is_limited(void **state)
{
    (void)state;
    struct evtx_writer *w = evtx_writer_create(2);
    struct evtx_record r = {0};
    struct text_buffer to = {0};
    for (unsigned i = 0; i < 1000; i++) {
        evtx_begin(&r, "E");
        evtx_attribute(&r, "A", "");
    }
    evtx_constant(&r, "deep");
    for (unsigned i = 0; i < 1000; i++)
        evtx_end(&r);
    assert_int_equal(evtx_writer_add(w, &r, 1, &to), S_OK);
    assert_int_equal(evtx_writer_next(w), 2);
    text_buffer_free(&to);
    evtx_record_free(&r);
    evtx_writer_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_empty_log_is_valid, begin),
        cmocka_unit_test_setup(truncated_data_result_in_a_record, begin),
        cmocka_unit_test_setup(out_of_memory_is_reported, begin),
        cmocka_unit_test_setup(a_full_disk_is_reported, begin),
        cmocka_unit_test_setup(a_full_file_is_reported, begin),
        cmocka_unit_test_setup(depth_is_limited, begin),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(file);
    return failed;
}

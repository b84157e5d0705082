/* SPDX-License-Identifier: MIT */
/* A relogged file reads like its sources. It contains events of every form, from several logs and processors, with all
   changes that a callback made, and without the events that the callback dropped. An error could lose events from a
   user's only copy. */
#include "engine/etw/consumer/event_view.h"
#include "engine/etw/consumer/relogger.h"
#include "tests/unit/etw/consumer/consumer_fixture.h"
#include "tests/unit/log_events.h"
#include "tests/unit/scratch_folder.h"

static char *folder;
static struct event_view first, second;

static const char *path_of(const char *name)
{
    static char path[2][600];
    static unsigned turn;
    char *out = path[turn++ % 2];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

/* ---- bytes of an event ---- */

static void assert_same_record(const EVENT_RECORD *a, const EVENT_RECORD *b)
{
    EVENT_HEADER x = a->EventHeader, y = b->EventHeader;
    x.Size = y.Size = 0; /* a kernel event may have had a compact header, so its size differs */
    assert_memory_equal(&x, &y, sizeof x);
    assert_int_equal(a->UserDataLength, b->UserDataLength);
    if (a->UserDataLength != 0)
        assert_memory_equal(a->UserData, b->UserData, a->UserDataLength);
    assert_int_equal(a->ExtendedDataCount, b->ExtendedDataCount);
    for (uint16_t i = 0; i < a->ExtendedDataCount; i++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *one = &a->ExtendedData[i], *other = &b->ExtendedData[i];
        assert_int_equal(one->ExtType, other->ExtType);
        assert_int_equal(one->Linkage, other->Linkage);
        assert_int_equal(one->DataSize, other->DataSize);
        if (one->DataSize != 0)
            assert_memory_equal((const void *)(uintptr_t)one->DataPtr, (const void *)(uintptr_t)other->DataPtr,
                                one->DataSize);
    }
}

/* Decodes an event into a record, writes the record's bytes, and decodes them again. Asserts that both records are the
   same. Both have the processor index. */
static void assert_round_trip(const uint8_t *event, uint32_t size)
{
    static uint8_t bytes[RELOGGED_EVENT_LARGEST];
    struct etl_record record;
    uint32_t written;
    etl_record_decode(event, size, &record);
    event_view_record(&record, record.stamp, 8, false, &first);
    assert_int_equal(relogged_event_bytes(&first.record, bytes, &written), S_OK);
    etl_record_decode(bytes, written, &record);
    event_view_record(&record, record.stamp, 8, false, &second);
    assert_same_record(&first.record, &second.record);
}

static uint32_t put_manifest(uint8_t *at, bool narrow, unsigned items)
{
    uint32_t size = 0x50;
    memset(at, 0, 200);
    at[2] = narrow ? 0x12 : 0x13;
    at[3] = ETL_MARKS;
    put_u16(at + 4, items != 0);
    put_u16(at + 6, 3);
    put_u32(at + 8, 41);
    put_u32(at + 0x0C, 42);
    put_u64(at + 0x10, FIXTURE_STAMP);
    put_guid(at + 0x18, &fixture_class);
    for (uint32_t i = 0x28; i < 0x50; i++)
        at[i] = (uint8_t)i;
    for (unsigned i = 0; i < items; i++, size += 24) {
        put_u16(at + size, 24);
        put_u16(at + size + 2, (uint16_t)(i == 0 ? 1 : 11));
        put_u16(at + size + 4, i + 1 < items);
        put_u16(at + size + 6, (uint16_t)(i == 0 ? 16 : 9));
        memset(at + size + 8, 0x60 + (int)i, i == 0 ? 16 : 9);
    }
    memcpy(at + size, "data", 4);
    put_u16(at, (uint16_t)(size + 4));
    return size + 4;
}

static void each_form_survives_the_round_trip(void **state)
{
    (void)state;
    uint8_t event[200];
    for (unsigned items = 0; items < 3; items++) {
        assert_round_trip(event, put_manifest(event, false, items));
        assert_round_trip(event, put_manifest(event, true, items));
    }
    put_numbered(event, 5, 6);
    assert_round_trip(event, FIXTURE_EVENT);
    event[2] = 0x0A;
    assert_round_trip(event, FIXTURE_EVENT);
    memset(event + 0x30, 9, 0x20); /* instance */
    event[2] = 0x15;
    put_u16(event, 0x4C);
    assert_round_trip(event, 0x4C);
    static const uint16_t hooks[] = {0x0301, 0x030A, 0x1402, 0x0503, 0x0B0A};
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        memset(event, 7, sizeof event);
        put_u16(event, 4);
        event[2] = i % 2 == 0 ? 2 : 1;
        event[3] = ETL_MARKS;
        put_u16(event + 4, 0x2B);
        put_u16(event + 6, hooks[i]);
        assert_round_trip(event, 0x2B);
    }
    for (uint16_t counts = 0; counts < 3; counts++) {
        memset(event, 7, sizeof event);
        put_u16(event, (uint16_t)(counts << 8 | 3));
        event[2] = 0x11;
        event[3] = ETL_MARKS;
        put_u16(event + 4, 0x33);
        put_u16(event + 6, 0x0F2E);
        assert_round_trip(event, 0x33);
    }
    memset(event, 7, sizeof event);
    put_u16(event, 8 + 32 + 3);
    put_u16(event + 2, 0x9000);
    put_u16(event + 6, 0xAA);
    assert_round_trip(event, 8 + 32 + 3);
}

static void events_without_room_are_rejected(void **state)
{
    (void)state;
    static uint8_t bytes[RELOGGED_EVENT_LARGEST], data[65535];
    uint32_t size;
    EVENT_RECORD record = {.UserData = data, .UserDataLength = 65535 - 0x50};
    record.EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER;
    assert_int_equal(relogged_event_bytes(&record, bytes, &size), S_OK);
    assert_int_equal(size, 65535);
    record.UserDataLength++;
    assert_int_equal(relogged_event_bytes(&record, bytes, &size), HRESULT_FROM_WIN32(234));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(234)), "64 KB"));
    struct relogged_event copy = {0};
    record.UserDataLength = 10;
    assert_int_equal(relogged_event_copy(&copy, &record), S_OK);
    assert_int_equal(relogged_event_set_data(&copy, data, 65536), E_INVALIDARG);
    assert_non_null(strstr(error_text(E_INVALIDARG), "PayloadSize 65536"));
    assert_int_equal(copy.record.UserDataLength, 10);
    memory_fail_at(1);
    assert_int_equal(relogged_event_set_data(&copy, data, 20), E_OUTOFMEMORY);
    memory_fail_at(0);
    assert_int_equal(copy.record.UserDataLength, 10);
    relogged_event_free(&copy);
}

/* ---- files ---- */

static struct relogger *relogger;
static unsigned events, headers, ends;
static uint32_t only; /* 0: writes each event; otherwise only events whose number is a multiple of it */
static unsigned cancel_at;
static void *users[2];

static HRESULT on_begin(void *context, const EVENT_RECORD *header)
{
    (void)context;
    assert_int_equal(header->EventHeader.EventDescriptor.Opcode, 0);
    headers++;
    return S_OK;
}

static HRESULT on_event(void *context, const EVENT_RECORD *event)
{
    (void)context;
    uint32_t number;
    memcpy(&number, event->UserData, sizeof number);
    assert_true(event->UserContext == users[0] || event->UserContext == users[1]);
    if (++events == cancel_at)
        relogger_cancel(relogger);
    if (only != 0 && number % only != 0)
        return S_OK;
    struct relogged_event changed = {0};
    assert_int_equal(relogged_event_copy(&changed, event), S_OK);
    changed.record.EventHeader.EventDescriptor.Level = 5;
    if (only != 0)
        changed.record.EventHeader.TimeStamp.QuadPart -= 10 * (number % 7); /* times that go backwards */
    assert_int_equal(relogger_inject(relogger, &changed.record), S_OK);
    relogged_event_free(&changed);
    return S_OK;
}

static HRESULT on_end(void *context)
{
    (void)context;
    ends++;
    return S_OK;
}
static const struct relogger_callback callback = {on_begin, on_event, on_end, NULL};

static int begin(void **state)
{
    struct small_container c;
    (void)state;
    folder = scratch_create("test_etw_relogger");
    small_begin(&c, 1, 8, ETL_CLOCK_TICKS);
    add_numbered(&c, 0, 0, 15, false);
    add_numbered(&c, 1, 15, 15, false);
    store(&c, path_of("one.etl"));
    small_begin(&c, 1, 8, ETL_CLOCK_TICKS);
    add_numbered(&c, 1, 10, 15, false);
    store(&c, path_of("two.etl"));
    events = headers = ends = only = cancel_at = 0;
    users[0] = &events;
    users[1] = &headers;
    return relogger_create(&relogger) == S_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    relogger_free(relogger);
    scratch_remove(folder);
    memory_free(folder);
    return 0;
}

static void add_both(void)
{
    TRACEHANDLE stream;
    void *user;
    assert_int_equal(relogger_add_file(relogger, path_of("one.etl"), users[0], &stream), S_OK);
    assert_true(relogger_stream(relogger, stream, &user));
    assert_ptr_equal(user, users[0]);
    assert_int_equal(relogger_add_file(relogger, path_of("two.etl"), users[1], &stream), S_OK);
    assert_int_equal(relogger_set_output(relogger, path_of("out.etl")), S_OK);
}

/* Returns the event numbers in the file, in order, and checks that times increase. */
static uint32_t read_numbers(uint32_t *numbers, uint8_t level)
{
    struct etl_reader *reader;
    struct etl_record e;
    uint32_t count = 0;
    int64_t before = 0;
    assert_int_equal(etl_reader_open(path_of("out.etl"), keep_warning, NULL, &reader), S_OK);
    assert_int_equal(etl_reader_log(reader)->clock, ETL_CLOCK_SYSTEM);
    assert_true((etl_reader_log(reader)->mode & ETL_MODE_RELOGGED) != 0);
    assert_int_equal(etl_reader_next(reader, &e), S_OK); /* the header */
    while (etl_reader_next(reader, &e) == S_OK) {
        assert_int_equal(e.level, level);
        assert_true(e.utc >= before);
        before = e.utc;
        numbers[count++] = get_u32(e.data);
    }
    etl_reader_close(reader);
    return count;
}

static void logs_are_merged(void **state)
{
    (void)state;
    uint32_t numbers[100];
    add_both();
    for (int turn = 0; turn < 2; turn++) { /* relogs twice */
        events = 0;
        assert_int_equal(relogger_process(relogger, &callback), S_OK);
        assert_int_equal(events, 45);
        assert_int_equal(read_numbers(numbers, 5), 45);
        for (uint32_t i = 0, at = 0; i < 30; i++) {
            assert_int_equal(numbers[at++], i);
            if (i >= 10 && i < 25)
                assert_int_equal(numbers[at++], i);
        }
    }
    assert_int_equal(headers, 2);
    assert_int_equal(ends, 2);
}

static void chosen_events_are_in_order(void **state)
{
    (void)state;
    uint32_t numbers[100];
    only = 3;
    add_both();
    assert_int_equal(relogger_process(relogger, &callback), S_OK);
    assert_int_equal(read_numbers(numbers, 5), 10 + 5); /* the multiples of 3 from 0 to 29, and from 10 to 24 */
}

static void a_cancelled_file_is_complete(void **state)
{
    (void)state;
    uint32_t numbers[100];
    cancel_at = 25;
    add_both();
    assert_int_equal(relogger_process(relogger, &callback), HRESULT_FROM_WIN32(ERROR_CANCELLED));
    assert_int_equal(read_numbers(numbers, 5), 25);
    assert_int_equal(ends, 0);
}

static void invalid_calls_are_rejected(void **state)
{
    (void)state;
    TRACEHANDLE stream;
    void *user;
    EVENT_RECORD record = {.UserDataLength = 0};
    assert_int_equal(relogger_process(relogger, &callback), E_INVALIDARG);
    assert_int_equal(relogger_add_file(relogger, path_of("none.etl"), NULL, &stream),
                     HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_false(relogger_stream(relogger, 7, &user));
    assert_int_equal(relogger_inject(relogger, &record), E_UNEXPECTED);
    add_both();
    assert_int_equal(relogger_add_session(relogger, "OpenPLA no such session", NULL, &stream),
                     HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND));
    assert_int_equal(relogger_set_output(relogger, path_of("one.etl")), S_OK);
    assert_int_equal(relogger_process(relogger, &callback), E_INVALIDARG);
    assert_int_equal(relogger_set_output(relogger, path_of("no/out.etl")), S_OK);
    assert_true(FAILED(relogger_process(relogger, &callback)));
    assert_int_equal(events, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_survives_the_round_trip),
        cmocka_unit_test(events_without_room_are_rejected),
        cmocka_unit_test_setup_teardown(logs_are_merged, begin, end),
        cmocka_unit_test_setup_teardown(chosen_events_are_in_order, begin, end),
        cmocka_unit_test_setup_teardown(a_cancelled_file_is_complete, begin, end),
        cmocka_unit_test_setup_teardown(invalid_calls_are_rejected, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

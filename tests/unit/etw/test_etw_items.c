/* SPDX-License-Identifier: MIT */
/* Extended items of events, and filters that evaluate events. */
#include "engine/etw/decode/payload_filter.h"
#include "engine/etw/event_values.h"
#include "tests/unit/etw/provider_fixture.h"

static const EVENT_DESCRIPTOR some_event = {.Id = 7, .Level = 4, .Keyword = 5};

static EVENT_DATA_DESCRIPTOR piece(const void *at, ULONG size, enum etw_data_type type)
{
    return (EVENT_DATA_DESCRIPTOR){.Ptr = (uintptr_t)at, .Size = size, .Reserved = type};
}

static REGHANDLE provider_for(const struct directory_enable *list, size_t count)
{
    const REGHANDLE handle = fixture_register(&fixture_guid, NULL, NULL);
    fixture_apply(list, count);
    return handle;
}

/* Returns the only event. */
static const struct etl_record *only(struct fixture_session *session)
{
    const struct fixture_log *log = fixture_read(session);
    assert_int_equal(log->count, 1);
    return &log->event[0].record;
}

/* ---- items ---- */

#define OWN_STACK BY_POINTER(ETW_ITEM_STACK_64, ETW_ITEM_STACK_32)

static void a_related_activity_is_an_item(void **state)
{
    (void)state;
    const GUID related = {7, 7, 7, {7}};
    uint32_t size;
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    EVENT_DATA_DESCRIPTOR data = piece("data", 4, ETW_DATA_EVENT_METADATA); /* an item of unknown type, which is
                                                                               ignored */
    assert_int_equal(EventWriteTransfer(handle, &some_event, NULL, &related, 1, &data), ERROR_SUCCESS);
    const struct etl_record *r = only(session);
    const uint8_t *item = fixture_item(r, ETW_ITEM_RELATED_ACTIVITY, &size);
    assert_non_null(item);
    assert_int_equal(size, 16);
    assert_memory_equal(item, &related, 16);
    assert_int_equal(get_u16(r->event + 4), ETW_HEADER_EXTENDED_INFO);
    assert_int_equal(r->data_size, 4);
    assert_memory_equal(r->data, "data", 4);
    fixture_unregister(handle);
}

static void each_session_gets_only_the_items_it_requests(void **state)
{
    (void)state;
    uint32_t size;
    uint8_t sid[THREAD_MOST_SID];
    struct fixture_session *plain = fixture_session(1, 0, 4, FIXTURE_BUFFER),
                           *rich = fixture_session(2, 0, 4, FIXTURE_BUFFER);
    struct directory_enable e[2] = {fixture_enable(1, 0, 0, 0), fixture_enable(2, 0, 0, 0)};
    e[1].property = EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID | EVENT_ENABLE_PROPERTY_STACK_TRACE |
                    EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | EVENT_ENABLE_PROPERTY_PSM_KEY;
    const REGHANDLE handle = provider_for(e, 2);
    EVENT_DATA_DESCRIPTOR data = piece("data", 4, ETW_DATA);
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
    assert_int_equal(only(plain)->extended_size, 0);
    const struct etl_record *r = only(rich);
    assert_memory_equal(r->data, "data", 4);
    const uint8_t *item = fixture_item(r, ETW_ITEM_SID, &size);
    const uint32_t sid_size = thread_own_sid(sid);
    assert_int_equal(item ? size : 0, sid_size);
    if (item)
        assert_memory_equal(item, sid, sid_size);
    item = fixture_item(r, ETW_ITEM_TS_ID, &size);
    assert_true(item && size == 4 && get_u32(item) == process_own_session());
    item = fixture_item(r, ETW_ITEM_PROCESS_START_KEY, &size);
    assert_true(item && size == 8);
    item = fixture_item(r, OWN_STACK, &size);
    assert_true(item && size >= 8 + sizeof(void *) && size % sizeof(void *) == 0 && get_u64(item) == 0);
    /* The first frame is in this function. */
    const uint64_t here = (uintptr_t)each_session_gets_only_the_items_it_requests;
    assert_in_range(sizeof(void *) == 8 ? get_u64(item + 8) : get_u32(item + 8), here, here + 0x4000);
    assert_null(fixture_item(r, 9, &size));
    fixture_unregister(handle);
}

/* The session requests every item except the event key, which needs the directory (test_etw_join). The event must have
   the items that a host OS without packages and containers provides, each of them once, and in order. */
static void each_available_item_is_written(void **state)
{
    (void)state;
    static const uint16_t expected[] = {ETW_ITEM_SID, ETW_ITEM_TS_ID, OWN_STACK, ETW_ITEM_PROCESS_START_KEY};
    struct fixture_session *s = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    uint8_t sid[THREAD_MOST_SID];
    size_t count = thread_own_sid(sid) != 0 ? 0 : 1; /* native builds have no SID */
    e.property = 0xFFF & ~(EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 | EVENT_ENABLE_PROPERTY_PROVIDER_GROUP |
                           EVENT_ENABLE_PROPERTY_EVENT_KEY);
    const REGHANDLE handle = provider_for(&e, 1);
    EVENT_DATA_DESCRIPTOR data = piece("data", 4, ETW_DATA);
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
    const struct etl_record *r = only(s);
    assert_memory_equal(r->data, "data", 4);
    for (uint32_t at = 0; at < r->extended_size; at += get_u16(r->extended + at)) {
        assert_true(count < sizeof expected / sizeof *expected);
        assert_int_equal(get_u16(r->extended + at + 2), expected[count++]);
        assert_int_equal(get_u16(r->extended + at + 4), count != sizeof expected / sizeof *expected);
        assert_true(get_u16(r->extended + at) >= 8);
    }
    assert_int_equal(count, sizeof expected / sizeof *expected);
    fixture_unregister(handle);
}

static void event_too_large_with_its_stack_is_lost(void **state)
{
    (void)state;
    static uint8_t bytes[4096];
    struct fixture_session *session = fixture_session(1, 0, 4, 4096);
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    EVENT_DATA_DESCRIPTOR data = piece(bytes, 4096 - ETL_BUFFER_HEAD - EVENT_HEADER_BYTES, ETW_DATA);
    const REGHANDLE handle = provider_for(&e, 1);
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
    e.property = EVENT_ENABLE_PROPERTY_STACK_TRACE;
    e.serial++;
    fixture_apply(&e, 1);
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_MORE_DATA);
    assert_int_equal(fixture_lost(session), 1);
    assert_int_equal(fixture_read(session)->count, 1);
    fixture_unregister(handle);
}

/* ---- traits and TraceLogging ---- */

static const uint8_t own_traits[] = {9, 0, 'O', 'w', 'n', 0, 3, 0, 200};
static const uint8_t other_traits[] = {4, 0, 'X', 0};
/* {size, tag bytes, name, a field} */
static const uint8_t metadata[] = {13, 0, 0x81, 0x01, 'N', 'a', 'm', 'e', 0, 'f', 0, 8, 0};

static void trace_logging_events_carry_their_schema(void **state)
{
    (void)state;
    uint32_t size;
    GUID group;
    bool has_group;
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    EVENT_DATA_DESCRIPTOR data[4] = {piece(metadata, 5, ETW_DATA_EVENT_METADATA),
                                     piece(metadata + 5, sizeof metadata - 5, ETW_DATA_EVENT_METADATA),
                                     piece("1234", 4, ETW_DATA), piece("56", 2, ETW_DATA)};
    assert_int_equal(provider_set_traits(handle, own_traits, sizeof own_traits, &group, &has_group), ERROR_SUCCESS);
    assert_false(has_group);
    assert_int_equal(EventWrite(handle, &some_event, 4, data), ERROR_SUCCESS);
    const struct etl_record *r = only(session);
    const uint8_t *item = fixture_item(r, ETW_ITEM_TRAITS, &size);
    assert_true(item && size == sizeof own_traits);
    assert_memory_equal(item, own_traits, size);
    assert_ptr_equal(item, r->extended + 8); /* precedes the schema */
    item = fixture_item(r, ETW_ITEM_SCHEMA_TL, &size);
    assert_true(item && size == sizeof metadata);
    assert_memory_equal(item, metadata, size);
    assert_int_equal(r->data_size, 6);
    assert_memory_equal(r->data, "123456", 6);
    /* An event may contain other traits. */
    data[3] = piece(other_traits, sizeof other_traits, ETW_DATA_PROVIDER_METADATA);
    assert_int_equal(EventWrite(handle, &some_event, 4, data), ERROR_SUCCESS);
    item = fixture_item(only(session), ETW_ITEM_TRAITS, &size);
    assert_true(item && size == sizeof other_traits);
    assert_memory_equal(item, other_traits, size);
    fixture_unregister(handle);
}

static void caller_can_supply_the_timestamp(void **state)
{
    (void)state;
    const int64_t stamp = 123456789;
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    EVENT_DATA_DESCRIPTOR data[2] = {piece(&stamp, 8, ETW_DATA_TIMESTAMP), piece("x", 1, ETW_DATA)};
    assert_int_equal(provider_set_typed(handle, true), ERROR_SUCCESS);
    assert_int_equal(EventWrite(handle, &some_event, 2, data), ERROR_SUCCESS);
    const struct etl_record *r = only(session);
    assert_true(r->stamp == stamp);
    assert_int_equal(r->data_size, 1);
    data[0].Size = 4;
    assert_int_equal(EventWrite(handle, &some_event, 2, data), ERROR_INVALID_PARAMETER);
    assert_int_equal(provider_set_typed(handle, false), ERROR_SUCCESS);
    assert_int_equal(EventWrite(handle, &some_event, 2, data), ERROR_SUCCESS);
    assert_int_equal(only(session)->data_size, 5);
    fixture_unregister(handle);
}

static void decode_guid_can_differ_from_the_provider(void **state)
{
    (void)state;
    const GUID decode = {3, 3, 3, {3}};
    uint8_t traits[4 + 19] = {sizeof traits, 0, 'p', 0, 19, 0, ETW_TRAIT_DECODE_GUID};
    GUID group;
    bool has_group;
    uint32_t size;
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    memcpy(traits + 7, &decode, sizeof decode);
    assert_int_equal(provider_set_traits(handle, traits, sizeof traits, &group, &has_group), ERROR_SUCCESS);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    const struct etl_record *r = only(session);
    assert_true(guid_equal(&r->provider, &decode));
    const uint8_t *item = fixture_item(r, ETW_ITEM_CONTROL_GUID, &size);
    assert_true(item && size == 16);
    assert_memory_equal(item, &fixture_guid, 16);
    assert_int_equal(get_u16(r->event + 4), ETW_HEADER_EXTENDED_INFO | ETW_HEADER_DECODE_GUID);
    fixture_unregister(handle);
}

static void malformed_traits_are_rejected(void **state)
{
    (void)state;
    static const uint8_t none[][8] = {
        {0}, {3, 0, 'p', 'q'}, {4, 0, 'p', 'q'}, {7, 0, 'p', 0, 2, 0, 1}, {7, 0, 'p', 0, 4, 0, 1}, {5, 0, 'p', 0, 1}};
    static const size_t sizes[] = {1, 4, 4, 7, 7, 5};
    GUID group;
    bool has_group;
    const REGHANDLE handle = provider_for(NULL, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(
            EventSetInformation(handle, (EVENT_INFO_CLASS)ETW_INFO_TRAITS, (void *)none[i], (ULONG)sizes[i]),
            ERROR_INVALID_PARAMETER);
    assert_int_equal(provider_set_traits(handle, own_traits, sizeof own_traits, &group, &has_group), ERROR_SUCCESS);
    assert_int_equal(provider_set_traits(handle, own_traits, sizeof own_traits, &group, &has_group), ERROR_GEN_FAILURE);
    BOOLEAN on = 1;
    assert_int_equal(EventSetInformation(handle, (EVENT_INFO_CLASS)ETW_INFO_TRAITS, NULL, 4), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventSetInformation(handle, (EVENT_INFO_CLASS)ETW_INFO_TRAITS, NULL, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventSetInformation(handle, (EVENT_INFO_CLASS)ETW_INFO_DESCRIPTOR_TYPE, &on, 2),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EventSetInformation(handle, (EVENT_INFO_CLASS)ETW_INFO_DESCRIPTOR_TYPE, &on, 1), ERROR_SUCCESS);
    assert_int_equal(EventSetInformation(handle, EventProviderBinaryTrackInfo, &on, 1), ERROR_SUCCESS);
    assert_int_equal(EventSetInformation(handle, (EVENT_INFO_CLASS)4, &on, 1), ERROR_NOT_SUPPORTED);
    assert_int_equal(EventSetInformation(0, EventProviderBinaryTrackInfo, NULL, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventSetInformation(0xDEADBEEF, EventProviderBinaryTrackInfo, NULL, 0), ERROR_INVALID_PARAMETER);
    fixture_unregister(handle);
}

/* ---- filters ---- */

/* Bits of the events that arrive: events 1 to 4, and the TraceLogging events "Name" and "Else". */
enum { EVENTS_1_2_3_4 = 15, NAME = 16, ELSE = 32 };

static uint32_t received_events(REGHANDLE handle, struct fixture_session *session, uint16_t with_item)
{
    uint32_t came = 0, size;
    static const uint8_t other[] = {8, 0, 0, 'E', 'l', 's', 'e', 0};
    EVENT_DESCRIPTOR event = {.Level = 4, .Keyword = 1};
    for (event.Id = 1; event.Id <= 4; event.Id++)
        assert_int_equal(EventWrite(handle, &event, 0, NULL), ERROR_SUCCESS);
    event.Id = 0;
    EVENT_DATA_DESCRIPTOR data = piece(metadata, sizeof metadata, ETW_DATA_EVENT_METADATA);
    assert_int_equal(EventWrite(handle, &event, 1, &data), ERROR_SUCCESS);
    data = piece(other, sizeof other, ETW_DATA_EVENT_METADATA);
    assert_int_equal(EventWrite(handle, &event, 1, &data), ERROR_SUCCESS);
    const struct fixture_log *log = fixture_read(session);
    for (uint32_t i = 0; i < log->count; i++) {
        const struct etl_record *r = &log->event[i].record;
        const uint8_t *schema = fixture_item(r, ETW_ITEM_SCHEMA_TL, &size);
        if (with_item == 0 || fixture_item(r, with_item, &size))
            came |= !schema ? 1u << (r->id - 1) : schema[4] == 'N' ? NAME : ELSE;
    }
    return came;
}

static void filters_select_events(void **state)
{
    (void)state;
    static const uint8_t in_2_4[] = {1, 0, 2, 0, 2, 0, 4, 0}, out_2_4[] = {0, 0, 2, 0, 2, 0, 4, 0},
                         in_none[] = {1, 0, 0, 0};
    static const uint8_t named[20 + 10] = {[17] = 1, [18] = 2, [20] = 'X', 0, 'N', 'a', 'm', 'e', 0};
    static const uint8_t not_named[20 + 5] = {[17] = 0, [18] = 1, [20] = 'N', 'a', 'm', 'e', 0};
    static const uint8_t other_keyword[20 + 2] = {2, [16] = 4, [17] = 1, [18] = 1, [20] = 'X', 0};
    static const uint8_t level_in[24] = {[16] = 3, [17] = 1}, keyword_out[24] = {1, [17] = 0};
    const struct {
        uint32_t type;
        const uint8_t *data;
        uint32_t size;
        uint32_t events, stacks;
    } rows[] = {
        {EVENT_FILTER_TYPE_NONE, NULL, 0, EVENTS_1_2_3_4 | NAME | ELSE, EVENTS_1_2_3_4 | NAME | ELSE},
        {EVENT_FILTER_TYPE_EVENT_ID, in_2_4, sizeof in_2_4, 10 | NAME | ELSE, 10 | NAME | ELSE},
        {EVENT_FILTER_TYPE_EVENT_ID, out_2_4, sizeof out_2_4, 5 | NAME | ELSE, 5 | NAME | ELSE},
        {EVENT_FILTER_TYPE_EVENT_ID, in_none, sizeof in_none, NAME | ELSE, NAME | ELSE},
        {EVENT_FILTER_TYPE_EVENT_NAME, named, sizeof named, EVENTS_1_2_3_4 | NAME, EVENTS_1_2_3_4 | NAME},
        {EVENT_FILTER_TYPE_EVENT_NAME, not_named, sizeof not_named, EVENTS_1_2_3_4 | ELSE, EVENTS_1_2_3_4 | ELSE},
        {EVENT_FILTER_TYPE_EVENT_NAME, other_keyword, sizeof other_keyword, EVENTS_1_2_3_4 | NAME | ELSE,
         EVENTS_1_2_3_4 | NAME | ELSE},
        {EVENT_FILTER_TYPE_STACKWALK, in_2_4, sizeof in_2_4, EVENTS_1_2_3_4 | NAME | ELSE, 10 | NAME | ELSE},
        {EVENT_FILTER_TYPE_STACKWALK_NAME, named, sizeof named, EVENTS_1_2_3_4 | NAME | ELSE, EVENTS_1_2_3_4 | NAME},
        {EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, level_in, sizeof level_in, EVENTS_1_2_3_4 | NAME | ELSE, 0},
        {EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, keyword_out, sizeof keyword_out, EVENTS_1_2_3_4 | NAME | ELSE, 0},
    };
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const REGHANDLE handle = provider_for(NULL, 0);
    assert_int_equal(provider_set_typed(handle, true), ERROR_SUCCESS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct directory_enable e = fixture_enable(1, 0, 0, 0);
        e.property = EVENT_ENABLE_PROPERTY_STACK_TRACE;
        fixture_filter(&e, rows[i].type, rows[i].data, rows[i].size);
        fixture_apply(&e, 1);
        assert_int_equal(received_events(handle, session, 0), rows[i].events);
        assert_int_equal(received_events(handle, session, OWN_STACK), rows[i].stacks);
    }
    /* With several filters, all must accept an event. */
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    fixture_filter(&e, EVENT_FILTER_TYPE_EVENT_ID, in_2_4, sizeof in_2_4);
    fixture_filter(&e, EVENT_FILTER_TYPE_EVENT_NAME, named, sizeof named);
    fixture_apply(&e, 1);
    assert_int_equal(received_events(handle, session, 0), 10 | NAME);
    fixture_unregister(handle);
}

/* This filter applies to event 7: the event passes if its number is above 10, also if its data consist of several
   pieces. All other events pass. */
static void payload_filters_read_the_data(void **state)
{
    (void)state;
    static char name[] = "Text", number[] = "Number";
    struct event_property fields[] = {{.name = name, .in_type = IN_TYPE_UNICODESTRING, .count = 1},
                                      {.name = number, .in_type = IN_TYPE_UINT32, .count = 1}};
    const struct event_schema schema = {.properties = fields, .property_count = 2, .top_level = 2};
    const struct payload_condition above = {"Number", PAYLOAD_GREATER, "10"};
    static const struct {
        uint16_t id;
        uint32_t number;
        bool passes;
    } rows[] = {{7, 10, false}, {7, 11, true}, {8, 10, true}, {7, 0, false}};
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const REGHANDLE handle = provider_for(NULL, 0);
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    uint8_t *bytes;
    size_t size;
    assert_int_equal(payload_filter_create(&schema, 7, 0, false, &above, 1, &bytes, &size), S_OK);
    fixture_filter(&e, EVENT_FILTER_TYPE_PAYLOAD, bytes, (uint32_t)size);
    fixture_apply(&e, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const EVENT_DESCRIPTOR descriptor = {.Id = rows[i].id, .Level = 4, .Keyword = 5};
        EVENT_DATA_DESCRIPTOR data[] = {piece(u"ab", 6, ETW_DATA), piece(&rows[i].number, 2, ETW_DATA),
                                        piece((const uint8_t *)&rows[i].number + 2, 2, ETW_DATA)};
        assert_int_equal(EventWrite(handle, &descriptor, 3, data), ERROR_SUCCESS);
        assert_int_equal(fixture_read(session)->count, rows[i].passes);
    }
    memory_free(bytes);
    fixture_unregister(handle);
}

/* Other processes can write to the section with the filters. A malformed filter must enable nothing, and no byte beyond
   it may be read. */
static void malformed_filters_enable_nothing(void **state)
{
    (void)state;
    static const struct {
        uint32_t type, size;
        uint8_t data[32];
    } rows[] = {
        {EVENT_FILTER_TYPE_EVENT_ID, 0, {0}},
        {EVENT_FILTER_TYPE_EVENT_ID, 3, {1, 0, 1}},
        {EVENT_FILTER_TYPE_EVENT_ID, 4, {1, 0, 1, 0}},
        {EVENT_FILTER_TYPE_EVENT_ID, 4, {1, 0, 0xFF, 0xFF}},
        {EVENT_FILTER_TYPE_STACKWALK, 5, {1, 0, 1, 0, 7}},
        {EVENT_FILTER_TYPE_EVENT_NAME, 17, {0}},
        {EVENT_FILTER_TYPE_EVENT_NAME, 19, {0}},
        {EVENT_FILTER_TYPE_EVENT_NAME, 22, {[18] = 1, [20] = 'a', 'b'}},
        {EVENT_FILTER_TYPE_EVENT_NAME, 22, {[18] = 2, [20] = 'a', 0}},
        {EVENT_FILTER_TYPE_STACKWALK_NAME, 20, {[18] = 1}},
        {EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, 17, {0}},
        {EVENT_FILTER_TYPE_PAYLOAD, 3, {1, 2, 3}},
    };
    fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const REGHANDLE handle = provider_for(NULL, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t *own = memory_copy(rows[i].data, rows[i].size); /* so that a read beyond it is detected */
        struct directory_enable e = fixture_enable(1, 0, 0, 0);
        fixture_filter(&e, rows[i].type, own, rows[i].size);
        fixture_apply(&e, 1);
        assert_false(EventProviderEnabled(handle, 1, 1));
        memory_free(own);
    }
    fixture_unregister(handle);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_related_activity_is_an_item),
        TEST(each_session_gets_only_the_items_it_requests),
        TEST(each_available_item_is_written),
        TEST(event_too_large_with_its_stack_is_lost),
        TEST(trace_logging_events_carry_their_schema),
        TEST(caller_can_supply_the_timestamp),
        TEST(decode_guid_can_differ_from_the_provider),
        TEST(malformed_traits_are_rejected),
        TEST(filters_select_events),
        TEST(payload_filters_read_the_data),
        TEST(malformed_filters_enable_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

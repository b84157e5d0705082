/* SPDX-License-Identifier: MIT */
/* Each form of event header as consumers receive it, in EVENT_RECORD and in EVENT_TRACE. */
#include "engine/etw/consumer/event_view.h"
#include "tests/unit/etw/consumer/consumer_fixture.h"

enum { LARGEST = 0x100, TIME = 4711 };
static const GUID related = {0xAABBCCDD, 0x1122, 0x3344, {9, 8, 7, 6, 5, 4, 3, 2}};

static struct event_view view;
static const struct etl_buffer_header in_buffer = {.processor = 5, .logger = 3, .flags = ETL_FLAG_PROCESSOR_INDEX};

/* Creates both views of the event, as from a log of a 64-bit host OS. */
static void show(const uint8_t *event, uint32_t size, const struct etl_buffer_header *buffer, bool in_process)
{
    static struct etl_record e;
    uint32_t offset = 0, length;
    const uint8_t *at;
    assert_true(etl_buffer_event(event, size, &offset, &at, &length));
    assert_int_equal(length, size);
    etl_record_decode(event, size, &e);
    e.buffer = buffer;
    memset(&view, 0xEE, sizeof view);
    event_view_record(&e, TIME, 8, in_process, &view);
    event_view_trace(&e, TIME + 1, &view);
    assert_int_equal(view.record.EventHeader.Size, size);
    assert_int_equal(view.record.EventHeader.TimeStamp.QuadPart, TIME);
    assert_int_equal(view.trace.Header.TimeStamp.QuadPart, TIME + 1);
    assert_int_equal(view.trace.Header.Size, size);
    assert_int_equal(view.trace.Header.HeaderType, event[2]);
    assert_int_equal(view.trace.Header.MarkerFlags, event[3]);
    assert_int_equal(view.trace.MofLength, view.record.UserDataLength);
    assert_ptr_equal(view.trace.MofData, view.record.UserData);
    assert_true(guid_equal(&view.trace.Header.Guid, &view.record.EventHeader.ProviderId));
    assert_int_equal(view.trace.Header.ThreadId, view.record.EventHeader.ThreadId);
    assert_int_equal(view.trace.Header.ProcessId, view.record.EventHeader.ProcessId);
}

static void check_data(const uint8_t *event, uint32_t at, uint32_t size)
{
    assert_ptr_equal(view.record.UserData, event + at);
    assert_int_equal(view.record.UserDataLength, size);
}

/* Writes thread 11, process 22, and the times 33 and 44 at `times_at`. */
static void put_common(uint8_t *at, uint8_t type, uint16_t size, uint32_t times_at)
{
    memset(at, 0, LARGEST);
    put_u16(at, size);
    at[2] = type;
    at[3] = ETL_MARKS;
    put_u32(at + 8, 11);
    put_u32(at + 0x0C, 22);
    put_u64(at + 0x10, 1000);
    put_u32(at + times_at, 33);
    put_u32(at + times_at + 4, 44);
}

static void check_common(void)
{
    const EVENT_HEADER *h = &view.record.EventHeader;
    assert_int_equal(h->ThreadId, 11);
    assert_int_equal(h->ProcessId, 22);
    assert_int_equal(h->KernelTime, 33);
    assert_int_equal(h->UserTime, 44);
    assert_int_equal(view.trace.Header.KernelTime, 33);
    assert_int_equal(view.trace.Header.UserTime, 44);
}

static uint32_t put_manifest(uint8_t *at, uint8_t type, uint16_t size)
{
    put_common(at, type, size, 0x38);
    put_u16(at + 6, 8); /* EVENT_HEADER_PROPERTY_RELOGGABLE */
    put_guid(at + 0x18, &fixture_class);
    put_u16(at + 0x28, 0x1234);
    at[0x2A] = 2;
    at[0x2B] = 16;
    at[0x2C] = 4;
    at[0x2D] = 1;
    put_u16(at + 0x2E, 99);
    put_u64(at + 0x30, UINT64_C(0x8000000000000042));
    put_guid(at + 0x40, &related);
    return 0x50;
}

static void a_manifest_event_has_its_descriptor(void **state)
{
    (void)state;
    uint8_t event[LARGEST];
    for (int width = 0; width < 2; width++) {
        (void)put_manifest(event, width == 0 ? 0x12 : 0x13, 0x58);
        show(event, 0x58, &in_buffer, false);
        const EVENT_HEADER *h = &view.record.EventHeader;
        check_common();
        check_data(event, 0x50, 8);
        assert_int_equal(h->Flags, (width == 0 ? EVENT_HEADER_FLAG_32_BIT_HEADER : EVENT_HEADER_FLAG_64_BIT_HEADER) |
                                       EVENT_HEADER_FLAG_PROCESSOR_INDEX);
        assert_int_equal(h->EventProperty, 8);
        assert_true(guid_equal(&h->ProviderId, &fixture_class));
        assert_true(guid_equal(&h->ActivityId, &related));
        const EVENT_DESCRIPTOR descriptor = {0x1234, 2, 16, 4, 1, 99, UINT64_C(0x8000000000000042)};
        assert_memory_equal(&h->EventDescriptor, &descriptor, sizeof descriptor);
        assert_int_equal(view.record.BufferContext.ProcessorIndex, 5);
        assert_int_equal(view.record.BufferContext.LoggerId, 3);
        assert_int_equal(view.record.ExtendedDataCount, 0);
        assert_null(view.record.ExtendedData);
        /* converted to the levels and opcodes of programs older than Windows Vista */
        assert_int_equal(view.trace.Header.Class.Type, 1);
        assert_int_equal(view.trace.Header.Class.Level, 4);
        assert_int_equal(view.trace.Header.Class.Version, 0x1234);
        assert_int_equal(view.trace.BufferContext.LoggerId, 3);
    }
}

static uint32_t put_item(uint8_t *at, uint16_t type, uint16_t size, bool more)
{
    const uint32_t total = (8 + size + 7u) & ~7u;
    put_u16(at, (uint16_t)total);
    put_u16(at + 2, type);
    put_u16(at + 4, more);
    put_u16(at + 6, size);
    return total;
}

static void items_are_separate_from_the_data(void **state)
{
    (void)state;
    uint8_t event[LARGEST];
    const uint32_t first = put_manifest(event, 0x13, 0x98);
    put_u16(event + 4, 1);
    const uint32_t second = first + put_item(event + first, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID, 16, true);
    put_guid(event + first + 8, &related);
    const uint32_t third = second + put_item(event + second, 3, 4, true);
    const uint32_t data = third + put_item(event + third, 0xD, 8, false);
    show(event, 0x98, &in_buffer, false);
    check_data(event, data, 0x98 - data);
    assert_int_equal(view.record.ExtendedDataCount, 3);
    const EVENT_HEADER_EXTENDED_DATA_ITEM *item = view.record.ExtendedData;
    assert_int_equal(item[0].ExtType, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
    assert_int_equal(item[0].DataSize, 16);
    assert_int_equal(item[0].DataPtr, (uintptr_t)(event + first + 8));
    assert_int_equal(item[0].Linkage, 1);
    assert_int_equal(item[1].ExtType, 3);
    assert_int_equal(item[1].DataSize, 4); /* items of this type need 8 bytes */
    assert_int_equal(item[1].Linkage, 1);
    assert_int_equal(item[2].ExtType, 0xD);
    assert_int_equal(item[2].Linkage, 0);
    assert_int_equal(view.record.EventHeader.Flags, EVENT_HEADER_FLAG_EXTENDED_INFO | EVENT_HEADER_FLAG_64_BIT_HEADER |
                                                        EVENT_HEADER_FLAG_PROCESSOR_INDEX);
    put_u16(event + second + 6, 9); /* larger than needed: nothing beyond the item is read */
    show(event, 0x98, &in_buffer, false);
    assert_int_equal(view.record.ExtendedDataCount, 1);
}

static void a_classic_event_has_its_class(void **state)
{
    (void)state;
    uint8_t event[LARGEST];
    put_common(event, 0x0A, 0x34, 0x28);
    event[4] = 10;
    event[5] = 5;
    put_u16(event + 6, 3);
    put_guid(event + 0x18, &fixture_class);
    static const struct etl_buffer_header old = {.processor = 2, .logger = 9};
    show(event, 0x34, &old, true);
    const EVENT_HEADER *h = &view.record.EventHeader;
    check_common();
    check_data(event, 0x30, 4);
    assert_int_equal(h->Flags, EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_32_BIT_HEADER | 2);
    const EVENT_DESCRIPTOR descriptor = {.Version = 3, .Level = 5, .Opcode = 10};
    assert_memory_equal(&h->EventDescriptor, &descriptor, sizeof descriptor);
    assert_int_equal(view.record.BufferContext.ProcessorNumber, 2);
    assert_int_equal(view.record.BufferContext.Alignment, 8);
    assert_int_equal(view.trace.Header.Class.Type, 10);
    assert_int_equal(view.trace.Header.Class.Level, 5);
    assert_int_equal(view.trace.Header.Class.Version, 3);
}

static void an_instance_event_has_its_instances(void **state)
{
    (void)state;
    uint8_t event[LARGEST];
    put_common(event, 0x15, 0x50, 0x28);
    put_guid(event + 0x18, &fixture_class);
    put_u32(event + 0x30, 70);
    put_u32(event + 0x34, 60);
    put_guid(event + 0x38, &related);
    show(event, 0x50, &in_buffer, false);
    check_data(event, 0x48, 8);
    assert_int_equal(view.trace.InstanceId, 70);
    assert_int_equal(view.trace.ParentInstanceId, 60);
    assert_true(guid_equal(&view.trace.ParentGuid, &related));
    assert_int_equal(view.record.ExtendedDataCount, 1);
    assert_int_equal(view.record.ExtendedData->ExtType, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO);
    assert_int_equal(view.record.ExtendedData->DataSize, 24);
    const EVENT_EXTENDED_ITEM_INSTANCE *i = (void *)(uintptr_t)view.record.ExtendedData->DataPtr;
    assert_int_equal(i->InstanceId, 70);
    assert_int_equal(i->ParentInstanceId, 60);
    assert_true(guid_equal(&i->ParentGuid, &related));
    const GUID none = {0};
    assert_true(guid_equal(&view.record.EventHeader.ActivityId, &none));
}

static void kernel_event_has_the_class_of_its_group(void **state)
{
    (void)state;
    static const GUID process = {0x3D6FA8D0, 0xFE05, 0x11D0, {0x9D, 0xDA, 0x00, 0xC0, 0x4F, 0xD7, 0xBA, 0x7C}};
    static const GUID profile = {0xCE1DBFB4, 0x137E, 0x4DA6, {0x87, 0xB0, 0x3F, 0x59, 0xAA, 0x10, 0x2C, 0xBC}};
    static const GUID none;
    uint8_t event[LARGEST];
    put_common(event, 0x02, 0, 0x18);
    put_u16(event, 4); /* version */
    put_u16(event + 4, 0x28);
    put_u16(event + 6, 0x0301);
    show(event, 0x28, &in_buffer, false);
    check_common();
    check_data(event, 0x20, 8);
    assert_true(guid_equal(&view.record.EventHeader.ProviderId, &process));
    assert_int_equal(view.record.EventHeader.EventDescriptor.Opcode, 1);
    assert_int_equal(view.record.EventHeader.EventDescriptor.Version, 4);
    assert_int_equal(view.record.EventHeader.EventDescriptor.Id, 0);
    assert_true((view.record.EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0);
    put_u16(event + 6, 0x7F05); /* an unknown group */
    show(event, 0x28, &in_buffer, false);
    assert_true(guid_equal(&view.record.EventHeader.ProviderId, &none));
    /* an event that has only a time and two processor counters */
    memset(event, 0, sizeof event);
    put_u16(event, 0x0202);
    event[2] = 0x11;
    event[3] = ETL_MARKS;
    put_u16(event + 4, 0x28);
    put_u16(event + 6, 0x0F2E);
    show(event, 0x28, &in_buffer, false);
    check_data(event, 0x20, 8);
    assert_true(guid_equal(&view.record.EventHeader.ProviderId, &profile));
    assert_int_equal(view.record.EventHeader.EventDescriptor.Version, 2);
    assert_int_equal(view.record.EventHeader.ThreadId, UINT32_MAX);
    assert_int_equal(view.record.EventHeader.ProcessId, UINT32_MAX);
    assert_int_equal(view.record.ExtendedDataCount, 1);
    assert_int_equal(view.record.ExtendedData->ExtType, 8);
    assert_int_equal(view.record.ExtendedData->DataSize, 16);
}

static void a_message_has_its_number(void **state)
{
    (void)state;
    uint8_t event[LARGEST] = {0x2C, 0, 0, ETL_MARK_MESSAGE, 0x39, 0x05, 0x2A};
    put_guid(event + 8, &fixture_class);
    put_u64(event + 0x18, 1000);
    put_u32(event + 0x20, 11);
    put_u32(event + 0x24, 22);
    show(event, 0x2C, &in_buffer, false);
    check_data(event, 0x28, 4);
    assert_true(guid_equal(&view.record.EventHeader.ProviderId, &fixture_class));
    assert_int_equal(view.record.EventHeader.EventDescriptor.Id, 0x539);
    assert_int_equal(view.record.EventHeader.EventDescriptor.Version, 0);
    assert_int_equal(view.record.EventHeader.Flags, EVENT_HEADER_FLAG_TRACE_MESSAGE | EVENT_HEADER_FLAG_64_BIT_HEADER |
                                                        EVENT_HEADER_FLAG_PROCESSOR_INDEX);
    assert_int_equal(view.record.EventHeader.ThreadId, 11);
    assert_int_equal(view.trace.Header.Class.Version, 0x539);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manifest_event_has_its_descriptor),
        cmocka_unit_test(items_are_separate_from_the_data),
        cmocka_unit_test(a_classic_event_has_its_class),
        cmocka_unit_test(an_instance_event_has_its_instances),
        cmocka_unit_test(kernel_event_has_the_class_of_its_group),
        cmocka_unit_test(a_message_has_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

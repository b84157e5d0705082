/* SPDX-License-Identifier: MIT */
/* Event data at invalid addresses: the call returns 998, nothing of the event is written, and the events before and
   after it arrive. */
#include "tests/unit/etw/hosted_session.h"

#include <setjmp.h>
#include <windows.h>

enum { PAGE = 4096 };

static const EVENT_DESCRIPTOR some_event = {.Id = 7, .Level = 4, .Keyword = 5};

/* Two pages: a readable one and an inaccessible one. */
static uint8_t *page, *no_page;

static void forbid(DWORD protection)
{
    DWORD before;
    assert_true(VirtualProtect(no_page, PAGE, protection, &before));
}

static int begin(void **state)
{
    page = VirtualAlloc(NULL, 2 * (size_t)PAGE, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    if (!page)
        return 1;
    no_page = page + PAGE;
    memset(page, 'p', PAGE);
    forbid(PAGE_NOACCESS);
    return hosted_begin(state);
}

static EVENT_DATA_DESCRIPTOR piece(const void *at, size_t size)
{
    return (EVENT_DATA_DESCRIPTOR){.Ptr = (uintptr_t)at, .Size = (ULONG)size};
}

static void be_outside(void)
{
    const struct provider_thread *t = thread_slot();
    assert_non_null(t);
    assert_int_equal(t->inside, 0);
}

/* Expects that `count` events arrived, that the other calls left nothing behind, and that no event still holds a
   buffer. */
static void expect(const struct session_buffers *b, struct session_drain *drain, uint32_t count)
{
    struct fixture_session f = {.drain = drain};
    struct session_statistics statistics;
    const struct fixture_log *log = fixture_read(&f);
    assert_int_equal(log->count, count);
    for (uint32_t i = 0; i < log->count; i++) {
        assert_int_equal(log->event[i].record.data_size, 4);
        assert_memory_equal(log->event[i].record.data, "good", 4);
    }
    session_statistics_read(b, &statistics);
    assert_int_equal(statistics.events_lost, 0);
    assert_int_equal(statistics.free, statistics.allocated);
    be_outside();
}

static void expect_of(struct fixture_session *s, uint32_t count)
{
    expect(&s->memory.b, s->drain, count);
}

static void write_good(REGHANDLE handle)
{
    EVENT_DATA_DESCRIPTOR data = piece("good", 4);
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS);
}

static REGHANDLE provider_for(const struct directory_enable *list, size_t count)
{
    const REGHANDLE handle = fixture_register(&fixture_guid, NULL, NULL);
    fixture_apply(list, count);
    return handle;
}

static void unreadable_data_are_rejected(void **state)
{
    (void)state;
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    uint32_t good = 0;
    /* Of three data pieces with each length, the second one crosses into the inaccessible page, or begins there. */
    for (size_t size = 1; size <= 40; size++)
        for (size_t there = 0; there < size; there++) {
            EVENT_DATA_DESCRIPTOR data[3] = {piece("first", 5), piece(no_page - there, size), piece("third", 5)};
            assert_int_equal(EventWrite(handle, &some_event, 3, data), ERROR_NOACCESS);
            write_good(handle);
            good++;
        }
    EVENT_DATA_DESCRIPTOR none[2] = {piece("first", 5), piece(NULL, 4)};
    assert_int_equal(EventWrite(handle, &some_event, 2, none), ERROR_NOACCESS);
    none[1].Size = 0;
    assert_int_equal(EventWrite(handle, &some_event, 2, none), ERROR_SUCCESS); /* nothing is read if the size is 0 */
    const struct fixture_log *log = fixture_read(session);
    assert_int_equal(log->count, good + 1);
    write_good(handle);
    expect_of(session, 1);
    fixture_unregister(handle);
}

static void guard_page_is_rejected_and_left_to_the_program(void **state)
{
    (void)state;
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    forbid(PAGE_READWRITE);
    memcpy(no_page - 2, "good", 4);
    forbid(PAGE_READWRITE | PAGE_GUARD);
    EVENT_DATA_DESCRIPTOR data = piece(no_page - 2, 4);
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_NOACCESS);
    assert_int_equal(EventWrite(handle, &some_event, 1, &data), ERROR_SUCCESS); /* a guard page guards one access
                                                                                   only */
    expect_of(session, 1);
    forbid(PAGE_NOACCESS);
    fixture_unregister(handle);
}

static void unreadable_arguments_are_rejected(void **state)
{
    (void)state;
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    EVENT_DATA_DESCRIPTOR data = piece("good", 4);
    /* The second of two descriptors is unreadable. */
    EVENT_DATA_DESCRIPTOR *cut = (EVENT_DATA_DESCRIPTOR *)(void *)(no_page - sizeof data);
    *cut = data;
    assert_int_equal(EventWrite(handle, &some_event, 2, cut), ERROR_NOACCESS);
    const GUID *no_guid = (const GUID *)(void *)no_page;
    assert_int_equal(EventWriteTransfer(handle, &some_event, no_guid, NULL, 1, &data), ERROR_NOACCESS);
    assert_int_equal(EventWriteTransfer(handle, &some_event, NULL, no_guid, 1, &data), ERROR_NOACCESS);
    assert_int_equal(EventWriteEx(handle, &some_event, 0, ETW_WRITE_INPRIVATE, no_guid, NULL, 1, &data),
                     ERROR_NOACCESS);
    WCHAR *string = (WCHAR *)(void *)no_page - 3;
    memcpy(string, L"abc", 3 * sizeof *string);
    assert_int_equal(EventWriteString(handle, 0, 0, string), ERROR_NOACCESS);
    write_good(handle);
    expect_of(session, 1);
    fixture_unregister(handle);
}

static void no_session_receives_an_unreadable_event(void **state)
{
    (void)state;
    struct fixture_session *sessions[] = {fixture_session(1, 0, 4, FIXTURE_BUFFER),
                                          fixture_session(2, TRACE_MODE_INDEPENDENT, 4, FIXTURE_BUFFER)};
    struct directory_enable e[2] = {fixture_enable(1, 0, 0, 0), fixture_enable(2, 0, 0, 0)};
    e[1].property = EVENT_ENABLE_PROPERTY_SID;
    const REGHANDLE handle = provider_for(e, 2);
    for (size_t there = 0; there < 20; there++) {
        EVENT_DATA_DESCRIPTOR data[3] = {piece("first", 5), piece(no_page - there, 20), piece("third", 5)};
        assert_int_equal(EventWrite(handle, &some_event, 3, data), ERROR_NOACCESS);
        write_good(handle);
    }
    for (int i = 0; i < 2; i++)
        expect_of(sessions[i], 20);
    fixture_unregister(handle);
}

static void unreadable_schemas_are_rejected(void **state)
{
    (void)state;
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    const REGHANDLE handle = provider_for(&e, 1);
    const ULONG types[] = {ETW_DATA_EVENT_METADATA, ETW_DATA_PROVIDER_METADATA, ETW_DATA_TIMESTAMP};
    assert_int_equal(provider_set_typed(handle, true), ERROR_SUCCESS);
    for (int i = 0; i < 3; i++) {
        EVENT_DATA_DESCRIPTOR data[2] = {piece(no_page - 4, 8), piece("good", 4)};
        data[0].Reserved = types[i];
        assert_int_equal(EventWrite(handle, &some_event, 2, data), ERROR_NOACCESS);
        write_good(handle);
    }
    expect_of(session, 3);
    fixture_unregister(handle);
}

/* ---- classic event providers ---- */

static void unreadable_fields_are_rejected(void **state)
{
    (void)state;
    struct hosted session;
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD field[3];
    } event = {.field = {{.DataPtr = (uintptr_t) "good", .Length = 4}}}, *cut;
    hosted_start(&session, "fields", 0);
    const TRACEHANDLE handle = directory_handle(&session.s);
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    for (size_t there = 0; there < 20; there++) {
        event.header.Size = sizeof event;
        event.field[1] = (MOF_FIELD){.DataPtr = (uintptr_t)(no_page - there), .Length = 20};
        event.field[2] = event.field[0];
        assert_int_equal(TraceEvent(handle, &event.header), ERROR_NOACCESS);
        event.header.Size = sizeof event.header + sizeof *event.field;
        assert_int_equal(TraceEvent(handle, &event.header), ERROR_SUCCESS);
    }
    /* A header with invalid addresses in its fields, and one with an invalid address of its GUID. */
    event.header.Size = sizeof event;
    cut = (void *)(no_page - sizeof event.header - sizeof *event.field);
    memcpy(cut, &event, sizeof event.header + sizeof *event.field);
    assert_int_equal(TraceEvent(handle, &cut->header), ERROR_NOACCESS);
    event.header.Size = sizeof event.header + sizeof *event.field;
    event.header.Flags |= WNODE_FLAG_USE_GUID_PTR;
    event.header.GuidPtr = (uintptr_t)no_page;
    assert_int_equal(TraceEvent(handle, &event.header), ERROR_NOACCESS);
    expect(&session.buffers, session.drain, 20);
    hosted_stop(&session);
}

static void unreadable_message_arguments_are_rejected(void **state)
{
    (void)state;
    struct hosted session;
    const size_t four = 4, twenty = 20;
    hosted_start(&session, "messages", 0);
    const TRACEHANDLE handle = directory_handle(&session.s);
    for (size_t there = 0; there < 20; there++) {
        assert_int_equal(TraceMessage(handle, 0, NULL, 1, "first", four, no_page - there, twenty, "third", four, NULL),
                         ERROR_NOACCESS);
        assert_int_equal(TraceMessage(handle, 0, NULL, 1, "good", four, NULL), ERROR_SUCCESS);
    }
    assert_int_equal(TraceMessage(handle, TRACE_MESSAGE_GUID, (const GUID *)(void *)no_page, 1, "good", four, NULL),
                     ERROR_NOACCESS);
    expect(&session.buffers, session.drain, 20);
    hosted_stop(&session);
}

/* ---- exceptions that the program handles ---- */

static jmp_buf outside;
static bool leaves;

/* Under Wine, a handler that is left with longjmp remains registered. */
static LONG CALLBACK leave(EXCEPTION_POINTERS *exception)
{
    (void)exception;
    if (!leaves)
        return EXCEPTION_CONTINUE_SEARCH;
    leaves = false;
    longjmp(outside, 1);
}

/* Returns true if the call returned, and false if the program's exception handler jumped out of it. */
static bool ends(void (*call)(void *), void *argument)
{
    static void *handler;
    if (!handler)
        handler = AddVectoredExceptionHandler(1, leave);
    assert_non_null(handler);
    leaves = true;
    if (setjmp(outside) == 0)
        call(argument);
    const bool ended = leaves;
    leaves = false;
    return ended;
}

struct bad_call {
    REGHANDLE handle;
    TRACEHANDLE session;
};

static void write_bad(void *argument)
{
    EVENT_DATA_DESCRIPTOR data[2] = {piece("first", 5), piece(no_page - 4, 20)};
    (void)EventWrite(((const struct bad_call *)argument)->handle, &some_event, 2, data);
}

static void write_bad_array(void *argument)
{
    (void)EventWrite(((const struct bad_call *)argument)->handle, &some_event, 2, (void *)no_page);
}

static void write_bad_related(void *argument)
{
    (void)EventWriteTransfer(((const struct bad_call *)argument)->handle, &some_event, NULL, (void *)no_page, 0, NULL);
}

static void trace_bad(void *argument)
{
    (void)TraceMessage(((const struct bad_call *)argument)->session, 0, NULL, 1, "first", (size_t)5, no_page - 4,
                       (size_t)20, NULL);
}

static void program_can_handle_the_exception_itself(void **state)
{
    (void)state;
    void (*const calls[])(void *) = {write_bad, write_bad_array, write_bad_related};
    struct fixture_session *session = fixture_session(1, 0, 4, FIXTURE_BUFFER);
    const struct directory_enable e = fixture_enable(1, 0, 0, 0);
    struct bad_call call = {.handle = provider_for(&e, 1)};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        assert_false(ends(calls[i], &call));
        be_outside();
        write_good(call.handle);
    }
    expect_of(session, 3);
    fixture_unregister(call.handle);
    struct hosted hosted;
    hosted_start(&hosted, "own handler", 0);
    call.session = directory_handle(&hosted.s);
    assert_false(ends(trace_bad, &call));
    assert_int_equal(TraceMessage(call.session, 0, NULL, 1, "good", (size_t)4, NULL), ERROR_SUCCESS);
    expect(&hosted.buffers, hosted.drain, 1);
    hosted_stop(&hosted);
}

static atomic_int reported;

static VOID WINAPI fail_at_first(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                                 EVENT_FILTER_DESCRIPTOR *filter, PVOID context)
{
    (void)source, (void)enabled, (void)level, (void)any, (void)all, (void)filter, (void)context;
    if (atomic_fetch_add(&reported, 1) == 0)
        RaiseException(0xE0000001, 0, 0, NULL);
}

static void apply_one(void *enable)
{
    fixture_apply(enable, 1);
}

static void end_it(void *handle)
{
    fixture_unregister(*(const REGHANDLE *)handle);
}

/* After such an exception, the registration still gets the next change, and can be ended without blocking. */
static void callback_can_be_left_by_an_exception(void **state)
{
    (void)state;
    struct thread *other;
    (void)fixture_session(1, 0, 4, FIXTURE_BUFFER);
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    REGHANDLE handle = fixture_register(&fixture_guid, fail_at_first, NULL);
    assert_false(ends(apply_one, &e));
    assert_int_equal(reported, 1);
    e = fixture_enable(1, 1, 0, 0);
    fixture_apply(&e, 1);
    assert_int_equal(reported, 2);
    assert_int_equal(thread_start(end_it, &handle, &other), S_OK);
    assert_true(thread_wait(other, PATIENCE_MS));
    thread_close(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(unreadable_data_are_rejected),
        TEST(guard_page_is_rejected_and_left_to_the_program),
        TEST(unreadable_arguments_are_rejected),
        TEST(no_session_receives_an_unreadable_event),
        TEST(unreadable_schemas_are_rejected),
        cmocka_unit_test(unreadable_fields_are_rejected),
        cmocka_unit_test(unreadable_message_arguments_are_rejected),
        TEST(program_can_handle_the_exception_itself),
        TEST(callback_can_be_left_by_an_exception),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}

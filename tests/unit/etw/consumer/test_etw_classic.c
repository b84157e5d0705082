/* SPDX-License-Identifier: MIT */
/* Classic event providers: RegisterTraceGuids, TraceEvent, TraceEventInstance, TraceMessage. */
#include "tests/unit/etw/hosted_session.h"

static const GUID control = {5, 5, 5, {5}}, class_guid = {6, 6, 6, {6}}, parent_guid = {7, 7, 7, {7}};

struct asked {
    atomic_int calls;
    WMIDPREQUESTCODE code;
    uint64_t session;
    ULONG answer;
};

static ULONG WINAPI ask(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
    struct asked *a = context;
    const WNODE_HEADER *node = buffer;
    assert_int_equal(*size, sizeof *node);
    assert_int_equal(node->BufferSize, sizeof *node);
    assert_true(guid_equal(&node->Guid, &control));
    a->code = code;
    a->session = GetTraceLoggerHandle(buffer);
    a->calls++;
    return a->answer;
}

static struct directory_enable flags_and_level(uint32_t flags, uint8_t level)
{
    return (struct directory_enable){.provider = control, .any = flags, .level = level, .classic = true};
}

static const struct fixture_log *log_of(struct hosted *h)
{
    struct fixture_session f = {.drain = h->drain};
    return fixture_read(&f);
}

static void classic_provider_belongs_to_the_latest_session(void **state)
{
    (void)state;
    struct hosted first, second;
    struct asked asked = {.answer = 0};
    TRACEHANDLE handle = 0;
    assert_int_equal(RegisterTraceGuidsW(ask, &asked, &control, 0, NULL, NULL, NULL, &handle), ERROR_SUCCESS);
    hosted_start(&first, "first", 0);
    hosted_start(&second, "second", 0);
    hosted_wait(&control, hosted_enable(&first, flags_and_level(0x80000001, 3)));
    assert_int_equal(asked.calls, 1);
    assert_int_equal(asked.code, WMI_ENABLE_EVENTS);
    assert_int_equal(asked.session & 0xFFFF, first.s.logger);
    assert_int_equal(GetTraceEnableLevel(asked.session), 3);
    assert_true(GetTraceEnableFlags(asked.session) == 0x80000001);
    hosted_wait(&control, hosted_enable(&second, flags_and_level(0, 5)));
    assert_int_equal(asked.code, WMI_ENABLE_EVENTS);
    assert_int_equal(asked.session & 0xFFFF, second.s.logger);
    assert_int_equal(GetTraceEnableLevel(asked.session), 5);
    assert_int_equal(GetTraceEnableFlags(asked.session), 0);
    hosted_stop(&second); /* the event provider stays enabled in the first session */
    assert_int_equal(asked.session & 0xFFFF, first.s.logger);
    hosted_stop(&first);
    assert_int_equal(asked.code, WMI_DISABLE_EVENTS);
    assert_int_equal(EventUnregister(handle), ERROR_INVALID_HANDLE); /* EventUnregister does not accept classic
                                                                        handles */
    assert_int_equal(UnregisterTraceGuids(handle), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(handle), ERROR_INVALID_PARAMETER);
}

/* If another process starts a private session, the classic event provider stays in its first session. */
static void private_session_of_another_process_leaves_classic_provider(void **state)
{
    (void)state;
    static const struct directory_filter_process other = {0x7FFFFFF0, 0, 1};
    struct directory_enable later = flags_and_level(0, 5);
    struct hosted first, second;
    struct asked asked = {.answer = 0};
    TRACEHANDLE handle = 0;
    assert_int_equal(RegisterTraceGuidsW(ask, &asked, &control, 0, NULL, NULL, NULL, &handle), ERROR_SUCCESS);
    hosted_start(&first, "first", 0);
    hosted_start(&second, "second", 0);
    hosted_wait(&control, hosted_enable(&first, flags_and_level(1, 3)));
    fixture_filter(&later, EVENT_FILTER_TYPE_PID, &other, sizeof other);
    hosted_wait(&control, hosted_enable(&second, later));
    assert_int_equal(asked.calls, 1);
    assert_int_equal(asked.code, WMI_ENABLE_EVENTS);
    assert_int_equal(asked.session & 0xFFFF, first.s.logger);
    hosted_stop(&second);
    hosted_stop(&first);
    assert_int_equal(UnregisterTraceGuids(handle), ERROR_SUCCESS);
}

static void registration_runs_its_callback(void **state)
{
    (void)state;
    struct hosted session;
    struct asked asked = {.answer = 1234};
    TRACE_GUID_REGISTRATION classes[2] = {{&class_guid, NULL}, {&parent_guid, NULL}};
    TRACEHANDLE handle = 0;
    assert_int_equal(RegisterTraceGuidsA(NULL, NULL, &control, 0, NULL, NULL, NULL, &handle), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegisterTraceGuidsA(ask, NULL, NULL, 0, NULL, NULL, NULL, &handle), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegisterTraceGuidsA(ask, NULL, &control, 0, NULL, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegisterTraceGuidsA(ask, NULL, &control, 65537, classes, NULL, NULL, &handle),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(RegisterTraceGuidsA(ask, NULL, &control, 1, NULL, NULL, NULL, &handle), ERROR_INVALID_PARAMETER);
    hosted_start(&session, "at once", 0);
    (void)hosted_enable(&session, flags_and_level(7, 1));
    assert_int_equal(RegisterTraceGuidsA(ask, &asked, &control, 2, classes, NULL, NULL, &handle), 1234);
    assert_int_equal(asked.calls, 1);
    assert_int_equal(GetTraceEnableFlags(asked.session), 7);
    EVENT_INSTANCE_INFO info = {0};
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(CreateTraceInstanceId(classes[0].RegHandle, &info), ERROR_SUCCESS);
        assert_int_equal(info.InstanceId, i);
        assert_ptr_equal(info.RegHandle, classes[0].RegHandle);
    }
    assert_int_equal(CreateTraceInstanceId(classes[1].RegHandle, &info), ERROR_SUCCESS);
    assert_int_equal(info.InstanceId, 1);
    assert_int_equal(CreateTraceInstanceId(NULL, &info), ERROR_INVALID_PARAMETER);
    assert_int_equal(CreateTraceInstanceId(classes[0].RegHandle, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(CreateTraceInstanceId(&info, &info), ERROR_INVALID_PARAMETER);
    hosted_stop(&session);
    assert_int_equal(UnregisterTraceGuids(handle), ERROR_SUCCESS);
    assert_int_equal(CreateTraceInstanceId(classes[0].RegHandle, &info), ERROR_INVALID_PARAMETER);
}

static void handles_of_callbacks_are_checked(void **state)
{
    (void)state;
    WNODE_HEADER node = {.BufferSize = sizeof node, .HistoricalContext = 3};
    assert_true(GetTraceLoggerHandle(NULL) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(GetTraceLoggerHandle(&node), 3);
    node.HistoricalContext = 0xFFFF;
    assert_int_equal(GetTraceLoggerHandle(&node), 0xFFFF);
    node.HistoricalContext = DIRECTORY_PLACES + 1;
    assert_true(GetTraceLoggerHandle(&node) == INVALID_PROCESSTRACE_HANDLE);
    node.HistoricalContext = 3;
    node.BufferSize = 47;
    assert_true(GetTraceLoggerHandle(&node) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(GetTraceEnableLevel(0), 0);
    assert_int_equal(GetTraceEnableFlags(UINT64_C(0xFFFFFFFF00001000)), 0);
}

struct event {
    EVENT_TRACE_HEADER header;
    uint8_t data[300];
};

static void classic_event_arrives_as_written(void **state)
{
    (void)state;
    struct hosted session;
    struct event event = {0}, big = {0};
    hosted_start(&session, "classic", 0);
    const TRACEHANDLE handle = directory_handle(&session.s);
    event.header.Size = sizeof event.header + 5;
    event.header.Class.Type = 10;
    event.header.Class.Level = 3;
    event.header.Class.Version = 2;
    event.header.Guid = class_guid;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    memcpy(event.data, "bytes", 5);
    assert_int_equal(TraceEvent(handle, &event.header), ERROR_SUCCESS);
    /* This event is written with data pointers and its own timestamp, to the handle that a callback received. */
    const int64_t stamp = 987654321;
    MOF_FIELD fields[2] = {{(uintptr_t) "one", 3, 0}, {(uintptr_t) "and two", 7, 0}};
    big.header = event.header;
    big.header.Flags |= WNODE_FLAG_USE_GUID_PTR | WNODE_FLAG_USE_MOF_PTR | WNODE_FLAG_USE_TIMESTAMP;
    big.header.Size = sizeof big.header + sizeof fields;
    big.header.GuidPtr = (uintptr_t)&parent_guid;
    memcpy(&big.header.TimeStamp, &stamp, sizeof stamp);
    memcpy(big.data, fields, sizeof fields);
    assert_int_equal(TraceEvent(session.s.logger | 4 << 16 | UINT64_C(99) << 32, &big.header), ERROR_SUCCESS);
    const struct fixture_log *log = log_of(&session);
    assert_int_equal(log->count, 2);
    const struct etl_record *r = &log->event[0].record;
    assert_int_equal(r->kind, ETL_RECORD_CLASSIC);
    assert_int_equal(r->pointer_size, sizeof(void *));
    assert_true(guid_equal(&r->provider, &class_guid));
    assert_int_equal(r->opcode, 10);
    assert_int_equal(r->level, 3);
    assert_int_equal(r->version, 2);
    assert_int_equal(r->thread, thread_own_id());
    assert_int_equal(r->process, process_own_id());
    assert_int_equal(r->data_size, 5);
    assert_memory_equal(r->data, "bytes", 5);
    r = &log->event[1].record;
    assert_true(guid_equal(&r->provider, &parent_guid));
    assert_true(r->stamp == stamp);
    assert_int_equal(r->data_size, 10);
    assert_memory_equal(r->data, "oneand two", 10);
    /* Invalid calls. */
    assert_int_equal(TraceEvent(handle, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceEvent(0, &event.header), ERROR_INVALID_HANDLE);
    assert_int_equal(TraceEvent(0xFFFF, &event.header), ERROR_INVALID_HANDLE);
    assert_int_equal(TraceEvent(session.s.logger + 1, &event.header), ERROR_INVALID_HANDLE);
    event.header.Size = 47;
    assert_int_equal(TraceEvent(handle, &event.header), ERROR_INVALID_PARAMETER);
    event.header.Size = 48;
    event.header.Flags = 0;
    assert_int_equal(TraceEvent(handle, &event.header), ERROR_INVALID_FLAG_NUMBER);
    big.header.Size = sizeof big.header + 17 * sizeof *fields;
    assert_int_equal(TraceEvent(handle, &big.header), ERROR_INVALID_DATA);
    fields[0].Length = 65528;
    memcpy(big.data, fields, sizeof fields);
    big.header.Size = sizeof big.header + sizeof fields;
    assert_int_equal(TraceEvent(handle, &big.header), ERROR_MORE_DATA);
    big.header.GuidPtr = 0;
    assert_int_equal(TraceEvent(handle, &big.header), ERROR_INVALID_PARAMETER);
    assert_int_equal(log_of(&session)->count, 0);
    assert_int_equal(session_buffers_lost(&session.buffers), 1);
    hosted_stop(&session);
}

static void instance_event_names_its_instance_and_parent(void **state)
{
    (void)state;
    struct hosted session;
    struct asked asked = {.answer = 0};
    TRACE_GUID_REGISTRATION classes[2] = {{&class_guid, NULL}, {&parent_guid, NULL}};
    TRACEHANDLE registration = 0;
    EVENT_INSTANCE_INFO own, parent;
    struct {
        EVENT_INSTANCE_HEADER header;
        char data[8];
    } event = {.header = {.Size = sizeof event.header + 4, .Flags = WNODE_FLAG_TRACED_GUID}, .data = "data"};
    event.header.Class.Type = 1;
    hosted_start(&session, "instances", 0);
    const TRACEHANDLE handle = directory_handle(&session.s);
    assert_int_equal(RegisterTraceGuidsW(ask, &asked, &control, 2, classes, NULL, NULL, &registration), ERROR_SUCCESS);
    assert_int_equal(CreateTraceInstanceId(classes[0].RegHandle, &own), ERROR_SUCCESS);
    assert_int_equal(CreateTraceInstanceId(classes[1].RegHandle, &parent), ERROR_SUCCESS);
    assert_int_equal(CreateTraceInstanceId(classes[1].RegHandle, &parent), ERROR_SUCCESS);
    assert_int_equal(TraceEventInstance(handle, &event.header, &own, &parent), ERROR_SUCCESS);
    assert_int_equal(TraceEventInstance(handle, &event.header, &own, NULL), ERROR_SUCCESS);
    const struct fixture_log *log = log_of(&session);
    assert_int_equal(log->count, 2);
    for (int i = 0; i < 2; i++) {
        const struct etl_record *r = &log->event[i].record;
        const GUID none = {0};
        assert_int_equal(r->kind, ETL_RECORD_INSTANCE);
        assert_true(guid_equal(&r->provider, &class_guid));
        assert_int_equal(r->instance, 1);
        assert_int_equal(r->parent_instance, i == 0 ? 2 : 0);
        assert_true(guid_equal(&r->activity, i == 0 ? &parent_guid : &none));
        assert_int_equal(r->data_size, 4);
        assert_memory_equal(r->data, "data", 4);
    }
    assert_int_equal(TraceEventInstance(handle, NULL, &own, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceEventInstance(handle, &event.header, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceEventInstance(0, &event.header, &own, NULL), ERROR_INVALID_HANDLE);
    EVENT_INSTANCE_INFO foreign = {&event, 1};
    assert_int_equal(TraceEventInstance(handle, &event.header, &foreign, NULL), ERROR_INVALID_PARAMETER);
    event.header.Flags = 0;
    assert_int_equal(TraceEventInstance(handle, &event.header, &own, NULL), ERROR_INVALID_FLAGS);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    hosted_stop(&session);
}

static void messages_have_the_requested_parts(void **state)
{
    (void)state;
    struct hosted local, global;
    const uint32_t component = 77;
    const size_t two = 2, three = 3;
    hosted_start(&local, "local", TRACE_MODE_LOCAL_SEQUENCE);
    hosted_start(&global, "global", TRACE_MODE_GLOBAL_SEQUENCE);
    const TRACEHANDLE handle = directory_handle(&local.s), other = directory_handle(&global.s);
    const ULONG all = TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO;
    const int64_t from = clock_ticks();
    assert_int_equal(TraceMessage(handle, all, &class_guid, 12, "ab", two, "cde", three, NULL, (size_t)0),
                     ERROR_SUCCESS);
    const int64_t to = clock_ticks();
    assert_int_equal(TraceMessage(handle, TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_COMPONENTID,
                                  (const GUID *)(const void *)&component, 13, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(TraceMessage(handle, 0, NULL, 14, "ab", two, NULL), ERROR_SUCCESS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(TraceMessage(other, TRACE_MESSAGE_SEQUENCE, NULL, 15, NULL), ERROR_SUCCESS);
    const struct fixture_log *log = log_of(&local);
    assert_int_equal(log->count, 3);
    const struct etl_record *r = &log->event[0].record;
    assert_int_equal(r->kind, ETL_RECORD_MESSAGE);
    assert_int_equal(r->id, 12);
    assert_int_equal(get_u32(r->event + 8), 1);
    assert_true(guid_equal(&r->provider, &class_guid));
    assert_in_range(r->stamp, from, to);
    assert_int_equal(r->thread, thread_own_id());
    assert_int_equal(r->process, process_own_id());
    assert_int_equal(r->data_size, 5);
    assert_memory_equal(r->data, "abcde", 5);
    assert_int_equal(r->pointer_size, sizeof(void *));
    r = &log->event[1].record;
    assert_int_equal(get_u32(r->event + 8), 2);
    assert_int_equal(get_u32(r->event + 12), 77);
    assert_int_equal(r->data_size, 0);
    assert_int_equal(log->event[2].record.data_size, 2);
    log = log_of(&global);
    assert_int_equal(log->count, 2);
    assert_int_equal(get_u32(log->event[0].record.event + 8) + 1, get_u32(log->event[1].record.event + 8));
    assert_true(get_u32(log->event[0].record.event + 8) > 0);
    assert_int_equal(TraceMessage(0, 0, NULL, 1, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(TraceMessage(0xFFFF, 0, NULL, 1, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(TraceMessage(60, 0, NULL, 1, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(TraceMessage(handle, 0x100, NULL, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceMessage(handle, TRACE_MESSAGE_GUID, NULL, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceMessage(handle, TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID, &class_guid, 1, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceMessage(handle, 0, NULL, 1, "ab", (size_t)70000, NULL), ERROR_MORE_DATA);
    assert_int_equal(TraceMessage(handle, 0, NULL, 1, "ab", SIZE_MAX, "ab", SIZE_MAX, NULL), ERROR_MORE_DATA);
    assert_int_equal(session_buffers_lost(&local.buffers), 2);
    hosted_stop(&local);
    hosted_stop(&global);
}

/* ---- after the end of a session ---- */

/* Returns the address of the registration's published enable settings. It changes with each publication. */
static const void *published(REGHANDLE handle)
{
    return provider_table[handle % PROVIDER_PLACES].enables;
}

/* Returns whether the registration publishes nothing for a while. */
static bool publishes_nothing(REGHANDLE handle)
{
    enum { STEP_MS = 2, QUIET = 50, MOST = 2000 };
    const void *seen = published(handle);
    for (int step = 0, quiet = 0; step < MOST && quiet < QUIET; step++, quiet++) {
        thread_sleep(STEP_MS);
        if (published(handle) != seen)
            quiet = 0;
        seen = published(handle);
        if (quiet + 1 == QUIET)
            return true;
    }
    return false;
}

static void ended_handles_are_rejected_and_harmless(void **state)
{
    (void)state;
    struct hosted over, other;
    struct event event = {.header = {.Size = sizeof event.header, .Flags = WNODE_FLAG_TRACED_GUID}};
    REGHANDLE handle;
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    e.provider = parent_guid;
    hosted_start(&other, "other", 0);
    assert_int_equal(EventRegister(&parent_guid, NULL, NULL, &handle), ERROR_SUCCESS);
    hosted_wait(&parent_guid, hosted_enable(&other, e));
    assert_non_null(published(handle));
    assert_true(publishes_nothing(handle)); /* an idle process does nothing */
    hosted_start(&over, "over", 0);
    const TRACEHANDLE session = directory_handle(&over.s);
    assert_int_equal(TraceEvent(session, &event.header), ERROR_SUCCESS);
    hosted_stop(&over);
    assert_int_equal(TraceEvent(session, &event.header), ERROR_INVALID_HANDLE);
    assert_true(publishes_nothing(handle));
    const void *before = published(handle);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(TraceEvent(session, &event.header), ERROR_INVALID_HANDLE);
        assert_int_equal(TraceEvent(60, &event.header), ERROR_INVALID_HANDLE);
        thread_sleep(2);
        assert_ptr_equal(published(handle), before);
    }
    /* The logger number belongs to another session now, which gets the event. */
    hosted_start(&over, "anew", 0);
    assert_int_equal(over.s.logger, session & 0xFFFF);
    assert_int_equal(TraceEvent(session, &event.header), ERROR_SUCCESS);
    assert_int_equal(log_of(&over)->count, 1);
    hosted_stop(&over);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    hosted_stop(&other);
}

/* Simulates a program that registers and unregisters again and again. */
static void memory_of_ended_registrations_is_freed(void **state)
{
    (void)state;
    struct hosted session;
    REGHANDLE handle;
    struct directory_enable e = fixture_enable(1, 0, 0, 0);
    e.provider = parent_guid;
    hosted_start(&session, "leave", 0);
    (void)hosted_enable(&session, e);
    for (int i = 0; i < 3; i++) {
        thread_sleep(5 * PROVIDER_GRACE_MS); /* the waiting thread must have nothing to do */
        assert_int_equal(EventRegister(&parent_guid, NULL, NULL, &handle), ERROR_SUCCESS);
        assert_non_null(published(handle));
        assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
        for (int waited = 0; provider_has_retired(); waited++) {
            assert_true(waited < PATIENCE_MS / 10);
            thread_sleep(1);
        }
    }
    hosted_stop(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classic_provider_belongs_to_the_latest_session),
        cmocka_unit_test(private_session_of_another_process_leaves_classic_provider),
        cmocka_unit_test(registration_runs_its_callback),
        cmocka_unit_test(handles_of_callbacks_are_checked),
        cmocka_unit_test(classic_event_arrives_as_written),
        cmocka_unit_test(instance_event_names_its_instance_and_parent),
        cmocka_unit_test(messages_have_the_requested_parts),
        cmocka_unit_test(ended_handles_are_rejected_and_harmless),
        cmocka_unit_test(memory_of_ended_registrations_is_freed),
    };
    return cmocka_run_group_tests(tests, hosted_begin, NULL);
}

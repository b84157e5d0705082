/* SPDX-License-Identifier: MIT */
/* EnableTrace, EnableTraceEx and EnableTraceEx2: the data stored for event providers, the calls that fail, and when a
   call returns. Sessions have no ETW session hosts here. */
#include "engine/base/thread.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/provider/provider_filter.h"
#include "tests/unit/controller_fixture.h"

static const GUID provider = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};
static const GUID source = {0xAABBCCDD, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};
static char *folder;

/* Adds a session that this process hosts to the directory. */
static TRACEHANDLE add_session(unsigned number)
{
    char name[32];
    struct directory_session s = {
        .state = DIRECTORY_RUNNING,
        .guid = {number, 1, 1, {1}},
        .host = {process_own_id(), process_start_time(process_own_id())},
        .starter = {process_own_id(), process_start_time(process_own_id())},
        .section = "no-section",
        .signal = "no-signal",
        .section_size = 1,
        .clock = 1,
        .name = name,
    };
    snprintf(name, sizeof name, "enable%u", number);
    assert_int_equal(directory_begin(own_directory()), S_OK);
    assert_int_equal(directory_session_add(own_directory(), &s), S_OK);
    directory_end(own_directory(), NULL, 0);
    return directory_handle(&s);
}

static void remove_session(TRACEHANDLE handle)
{
    GUID *providers;
    size_t count;
    assert_int_equal(directory_begin(own_directory()), S_OK);
    assert_int_equal(directory_session_remove(own_directory(), (uint32_t)(handle & 0xFFFF), (uint32_t)(handle >> 16),
                                              &providers, &count),
                     S_OK);
    directory_end(own_directory(), providers, count);
    memory_free(providers);
}

/* Returns the number of sessions that enabled the event provider, and their settings in *list. The caller frees the
   list. */
static size_t enables(struct directory_enable **list)
{
    size_t count;
    uint64_t revision;
    assert_int_equal(directory_enables(own_directory(), &provider, list, &count, &revision), S_OK);
    return count;
}

static size_t enable_count(void)
{
    struct directory_enable *list;
    const size_t count = enables(&list);
    directory_enables_free(list, count);
    return count;
}

static ULONG enable_with(TRACEHANDLE handle, ENABLE_TRACE_PARAMETERS *parameters)
{
    return EnableTraceEx2(handle, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0x10, 0x20, 0, parameters);
}

/* Process ids are reused: a filter applies to the processes that have the ids when the filter is set. */
static void filter_excludes_later_process_with_same_id(void **state)
{
    (void)state;
    const TRACEHANDLE handle = add_session(1);
    const struct provider_scope own = {{process_own_id(), process_start_time(process_own_id())}, "p"};
    const struct provider_scope later = {{process_own_id(), own.process.start_time + 1}, "p"};
    const uint32_t nobody = 0x7FFFFFF0, pids[] = {nobody, process_own_id()};
    EVENT_FILTER_DESCRIPTOR filter = {(uintptr_t)pids, sizeof pids, EVENT_FILTER_TYPE_PID};
    ENABLE_TRACE_PARAMETERS parameters = {.Version = 2, .EnableFilterDesc = &filter, .FilterDescCount = 1};
    struct directory_enable *list;
    assert_int_equal(enable_with(handle, &parameters), ERROR_SUCCESS);
    assert_int_equal(enables(&list), 1);
    assert_true(provider_filter_admits(list, &own));
    assert_false(provider_filter_admits(list, &later));
    for (uint64_t start = 0; start < 2; start++)
        assert_false(provider_filter_admits(list, &(struct provider_scope){{nobody, start}, "p"}));
    directory_enables_free(list, 1);
    remove_session(handle);
}

static void member_list_without_memory_is_rejected(void **state)
{
    (void)state;
    const TRACEHANDLE handle = add_session(1);
    const GUID members[] = {{1, 1, 1, {1}}, {2, 1, 1, {1}}};
    ENABLE_TRACE_PARAMETERS group = {.Version = 2, .EnableProperty = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP};
    assert_int_equal(enable_with(handle, &group), ERROR_SUCCESS);
    bool failed = true;
    uint32_t taken = 0, refused = 0;
    for (uint64_t n = 1; failed; n++) {
        memory_fail_at(n);
        const ULONG code = TraceSetInformation(handle, TraceSetDisallowList, (void *)members, sizeof members);
        failed = memory_count() >= n;
        memory_fail_at(0);
        assert_true(code == ERROR_SUCCESS || failed);
        /* If only an error message could not be allocated, the call succeeds anyway. */
        if (code == ERROR_SUCCESS)
            taken = 2;
        else
            refused++;
        struct directory_session s = session_of_handle(handle);
        assert_int_equal(s.disallowed_count, taken);
        directory_session_free(&s);
    }
    assert_true(refused > 0);
    remove_session(handle);
}

static void each_call_stores_its_parameters(void **state)
{
    (void)state;
    const TRACEHANDLE handle = add_session(1);
    struct directory_enable *list;
    const uint32_t pids[] = {process_own_id(), 0x7FFFFFF0};
    const struct directory_filter_process processes[] = {{pids[0], 0, process_start_time(pids[0])}, {pids[1], 0, 0}};
    const struct {
        EVENT_FILTER_HEADER head;
        uint8_t data[8];
    } schematized = {{.Id = 3, .Size = sizeof schematized}, {1, 2, 3}};
    EVENT_FILTER_DESCRIPTOR filters[] = {
        {(uintptr_t)pids, sizeof pids, EVENT_FILTER_TYPE_PID},
        {(uintptr_t)&schematized, sizeof schematized, EVENT_FILTER_TYPE_SCHEMATIZED},
    };
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = 2, .EnableProperty = 5, .SourceId = source, .EnableFilterDesc = filters, .FilterDescCount = 2};
    assert_int_equal(enable_with(handle, &parameters), ERROR_SUCCESS);
    assert_int_equal(enables(&list), 1);
    assert_true(list->level == 4 && list->any == 0x10 && list->all == 0x20 && list->property == 5);
    assert_true(guid_equal(&list->source, &source) && !list->classic);
    assert_int_equal(list->filter_count, 2);
    assert_int_equal(list->filter[0].type, EVENT_FILTER_TYPE_PID);
    assert_int_equal(list->filter[0].size, sizeof processes);
    assert_memory_equal(list->filter[0].data, processes, sizeof processes);
    assert_memory_equal(list->filter[1].data, &schematized, sizeof schematized);
    const uint64_t serial = list->serial;
    directory_enables_free(list, 1);
    parameters.Version = 1; /* version 1 has one descriptor, whatever follows the structure */
    parameters.FilterDescCount = 99;
    assert_int_equal(enable_with(handle, &parameters), ERROR_SUCCESS);
    assert_int_equal(enables(&list), 1);
    assert_int_equal(list->filter_count, 1);
    assert_true(list->serial > serial);
    directory_enables_free(list, 1);
    assert_int_equal(EnableTraceEx(&provider, &source, handle, 1, 3, 1, 2, 8, &filters[1]), ERROR_SUCCESS);
    assert_int_equal(enables(&list), 1);
    assert_true(list->level == 3 && list->any == 1 && list->all == 2 && list->property == 8);
    assert_int_equal(list->filter_count, 1);
    directory_enables_free(list, 1);
    assert_int_equal(EnableTrace(1, 0x80000003, 0x105, &provider, handle), ERROR_SUCCESS);
    assert_int_equal(enables(&list), 1);
    assert_true(list->level == 5 && list->any == 0x80000003 && list->all == 0 && list->classic);
    assert_int_equal(list->filter_count, 0);
    const uint64_t captures = list->captures;
    directory_enables_free(list, 1);
    assert_int_equal(EnableTraceEx2(handle, &provider, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, 0, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(enables(&list), 1);
    assert_true(list->captures == captures + 1 && list->level == 5);
    directory_enables_free(list, 1);
    assert_int_equal(EnableTrace(0, 0, 0, &provider, handle), ERROR_SUCCESS);
    assert_int_equal(enable_count(), 0);
    assert_int_equal(EnableTrace(0, 0, 0, &provider, handle), ERROR_SUCCESS); /* nothing to do */
    assert_int_equal(EnableTraceEx2(handle, &provider, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    remove_session(handle);
}

static void each_mistake_has_its_code(void **state)
{
    (void)state;
    const TRACEHANDLE handle = add_session(2);
    ENABLE_TRACE_PARAMETERS parameters = {.Version = 3};
    assert_int_equal(EnableTraceEx2(handle, NULL, 1, 0, 0, 0, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(0, &provider, 1, 0, 0, 0, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(handle, &provider, 3, 0, 0, 0, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(handle, &trace_kernel_guid, 1, 0, 0, 0, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(handle + 0x10000, &provider, 1, 0, 0, 0, 0, NULL), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(enable_with(handle, &parameters), ERROR_INVALID_PARAMETER);
    parameters = (ENABLE_TRACE_PARAMETERS){.Version = 2, .FilterDescCount = 1};
    assert_int_equal(enable_with(handle, &parameters), ERROR_INVALID_PARAMETER);
    assert_int_equal(enable_count(), 0);
    remove_session(handle);
}

static ULONG with_filter(TRACEHANDLE handle, uint32_t type, const void *data, uint32_t size, uint32_t property)
{
    EVENT_FILTER_DESCRIPTOR filter = {(uintptr_t)data, size, type};
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = 2, .EnableProperty = property, .EnableFilterDesc = &filter, .FilterDescCount = 1};
    return enable_with(handle, &parameters);
}

static void filters_are_checked(void **state)
{
    (void)state;
    const TRACEHANDLE handle = add_session(3);
    static uint8_t zero[8192];
    static const uint8_t ids[] = {1, 0, 2, 0, 10, 0, 11, 0}, too_many[200] = {1, 0, 65, 0},
                         bad_in[] = {2, 0, 1, 0, 1, 0},
                         payload[] = {'O', 'L', 'P', 'F', 1, 0, 0, 0, 12, 0, 0, 0}; /* a filter that has no event */
    uint8_t names[64] = {0};
    EVENT_FILTER_HEADER head = {.Size = sizeof head};
    const struct {
        uint32_t type;
        const void *data;
        uint32_t size, property;
        ULONG code;
    } rows[] = {
        {EVENT_FILTER_TYPE_PID, zero, 32, 0, ERROR_SUCCESS},
        {EVENT_FILTER_TYPE_PID, zero, 36, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_PID, zero, 6, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_PID, NULL, 4, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_EXECUTABLE_NAME, zero, 1024, 0, ERROR_SUCCESS},
        {EVENT_FILTER_TYPE_EXECUTABLE_NAME, zero, 1026, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_PACKAGE_ID, zero, 2, 0, ERROR_SUCCESS},
        {EVENT_FILTER_TYPE_PAYLOAD, payload, sizeof payload, 0, ERROR_SUCCESS},
        {EVENT_FILTER_TYPE_PAYLOAD, zero, sizeof payload, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_PAYLOAD, zero, 4097, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_PAYLOAD, payload, sizeof payload, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP,
         ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_EVENT_ID, ids, sizeof ids, 0, ERROR_SUCCESS},
        {EVENT_FILTER_TYPE_EVENT_ID, ids, sizeof ids - 1, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_EVENT_ID, too_many, 134, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_STACKWALK, bad_in, sizeof bad_in, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_EVENT_NAME, names, sizeof names, 0, ERROR_SUCCESS},
        {EVENT_FILTER_TYPE_EVENT_NAME, names, 20, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, zero, 24, 0, ERROR_SUCCESS},
        {EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, zero, 17, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_SCHEMATIZED, &head, sizeof head, 0, ERROR_SUCCESS},
        {EVENT_FILTER_TYPE_SCHEMATIZED, zero, 24, 0, ERROR_INVALID_PARAMETER},
        {EVENT_FILTER_TYPE_SCHEMATIZED, zero, 1025, 0, ERROR_INVALID_PARAMETER},
        {0x80010000, zero, 4, 0, ERROR_INVALID_PARAMETER},
        {4, zero, 4, 0, ERROR_INVALID_PARAMETER},
    };
    names[18] = 2; /* names, the second one empty */
    names[20] = 'x';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ULONG code = with_filter(handle, rows[i].type, rows[i].data, rows[i].size, rows[i].property);
        if (code != rows[i].code)
            fail_msg("row %u: %u, not %u", (unsigned)i, (unsigned)code, (unsigned)rows[i].code);
    }
    EVENT_FILTER_DESCRIPTOR twice[14];
    for (size_t i = 0; i < 14; i++)
        twice[i] = (EVENT_FILTER_DESCRIPTOR){(uintptr_t)zero, 4, EVENT_FILTER_TYPE_PID};
    ENABLE_TRACE_PARAMETERS parameters = {.Version = 2, .EnableFilterDesc = twice, .FilterDescCount = 2};
    assert_int_equal(enable_with(handle, &parameters), ERROR_INVALID_PARAMETER);
    parameters.FilterDescCount = 14;
    assert_int_equal(enable_with(handle, &parameters), ERROR_INVALID_PARAMETER);
    parameters.FilterDescCount = 0; /* removes all filters */
    assert_int_equal(enable_with(handle, &parameters), ERROR_SUCCESS);
    struct directory_enable *list;
    assert_int_equal(enables(&list), 1);
    assert_int_equal(list->filter_count, 0);
    directory_enables_free(list, 1);
    remove_session(handle);
}

static void eight_sessions_have_a_provider(void **state)
{
    (void)state;
    TRACEHANDLE handles[DIRECTORY_ENABLES_OF_ONE + 1];
    for (unsigned i = 0; i <= DIRECTORY_ENABLES_OF_ONE; i++) {
        handles[i] = add_session(10 + i);
        assert_int_equal(enable_with(handles[i], NULL),
                         i < DIRECTORY_ENABLES_OF_ONE ? ERROR_SUCCESS : ERROR_NO_SYSTEM_RESOURCES);
    }
    assert_int_equal(enable_with(handles[0], NULL), ERROR_SUCCESS); /* enabling again does not count as a ninth
                                                                       session */
    assert_int_equal(EnableTrace(0, 0, 0, &provider, handles[0]), ERROR_SUCCESS);
    assert_int_equal(enable_with(handles[DIRECTORY_ENABLES_OF_ONE], NULL), ERROR_SUCCESS);
    for (unsigned i = 0; i <= DIRECTORY_ENABLES_OF_ONE; i++)
        remove_session(handles[i]);
    assert_int_equal(enable_count(), 0); /* the settings were removed with their sessions */
}

/* ---- waiting for callbacks ---- */

struct listener {
    struct signal *wake;
    _Atomic bool end;
};

static void apply(void *user)
{
    struct listener *l = user;
    while (!l->end)
        if (signal_wait(l->wake, 10) == S_OK)
            directory_applied(own_directory(), directory_revision(own_directory()));
}

static void the_call_waits_for_callbacks(void **state)
{
    (void)state;
    const TRACEHANDLE handle = add_session(30);
    struct listener l = {NULL, false};
    struct thread *thread;
    uint32_t registration;
    assert_int_equal(directory_own_signal(own_directory(), &l.wake), S_OK);
    assert_int_equal(directory_register(own_directory(), &provider, DIRECTORY_PROVIDER, &registration), S_OK);
    /* Nobody applies the change, so the call times out. The event provider stays enabled. */
    assert_int_equal(EnableTraceEx2(handle, &provider, 1, 1, 0, 0, 30, NULL), ERROR_TIMEOUT);
    assert_int_equal(enable_count(), 1);
    assert_int_equal(EnableTraceEx2(handle, &provider, 1, 2, 0, 0, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(thread_start(apply, &l, &thread), S_OK);
    assert_int_equal(EnableTraceEx2(handle, &provider, 1, 3, 0, 0, CHILD_PATIENCE, NULL), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(handle, &provider, 0, 0, 0, 0, UINT32_MAX, NULL), ERROR_SUCCESS);
    l.end = true;
    assert_true(thread_wait(thread, CHILD_PATIENCE));
    thread_close(thread);
    directory_unregister(own_directory(), registration);
    remove_session(handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_stores_its_parameters),
        cmocka_unit_test(each_mistake_has_its_code),
        cmocka_unit_test(filters_are_checked),
        cmocka_unit_test(eight_sessions_have_a_provider),
        cmocka_unit_test(the_call_waits_for_callbacks),
        cmocka_unit_test(member_list_without_memory_is_rejected),
        cmocka_unit_test(filter_excludes_later_process_with_same_id),
    };
    return controller_tests(tests, sizeof tests / sizeof *tests, "test_etw_enable", &folder);
}

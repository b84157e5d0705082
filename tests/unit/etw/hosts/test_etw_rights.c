/* SPDX-License-Identifier: MIT */
/* Each function for which Windows documents an access right fails if the descriptor does not grant the right. */
#define _EVNT_SOURCE_
#include "engine/etw/consumer/consumer.h"
#include "engine/etw/controller/controller_api.h"
#include "engine/etw/controller/trace_security.h"
#include "engine/etw/provider/event_api.h"
#include "tests/unit/controller_fixture.h"

#include <evntcons.h>

static GUID session_guid, provider_guid;
static PSID own;

static void grant_only(GUID *guid, ULONG rights)
{
    assert_int_equal(EventAccessControl(guid, 0, own, rights, TRUE), ERROR_SUCCESS);
}

static ULONG start(uint32_t mode, const char *file, TRACEHANDLE *handle)
{
    struct block b = block_of(mode, file);
    b.p.Wnode.Guid = session_guid;
    return start_session("rights", &b, handle);
}

static ULONG control(TRACEHANDLE handle, ULONG code)
{
    struct block b;
    return control_session(handle, &b, code);
}

static ULONG count_sessions(void)
{
    static struct block b;
    EVENT_TRACE_PROPERTIES *list = &b.p;
    ULONG count = 0;
    b = block_of(0, NULL);
    const ULONG code = QueryAllTracesW(&list, 1, &count);
    assert_true(code == ERROR_SUCCESS || code == ERROR_MORE_DATA);
    return count;
}

static void rights_control_start_query_and_stop(void **state)
{
    TRACEHANDLE handle;
    (void)state;
    grant_only(&session_guid, TRACE_RIGHT_CREATE_REALTIME);
    assert_int_equal(start(0, "rights.etl", &handle), ERROR_ACCESS_DENIED);
    assert_int_equal(start(TRACE_MODE_REAL_TIME, "rights.etl", &handle), ERROR_ACCESS_DENIED);
    assert_int_equal(start(TRACE_MODE_REAL_TIME, NULL, &handle), ERROR_SUCCESS);
    assert_int_equal(count_sessions(), 0);
    assert_int_equal(control(handle, EVENT_TRACE_CONTROL_QUERY), ERROR_ACCESS_DENIED);
    assert_int_equal(EventAccessControl(&session_guid, 2, own, TRACE_RIGHT_QUERY, TRUE), ERROR_SUCCESS);
    assert_int_equal(control(handle, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_int_equal(count_sessions(), 1);
    grant_only(&session_guid, TRACE_RIGHT_QUERY);
    assert_int_equal(control(handle, EVENT_TRACE_CONTROL_FLUSH), ERROR_ACCESS_DENIED);
    assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP), ERROR_ACCESS_DENIED);
    grant_only(&session_guid, TRACE_RIGHT_CREATE_REALTIME);
    assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(EventAccessRemove(&session_guid), ERROR_SUCCESS);
}

/* A caller that may only query a session cannot change it, either with TraceSetInformation or with ControlTrace. */
static void rights_control_changes_of_a_session(void **state)
{
    TRACEHANDLE handle;
    struct block b = block_of(TRACE_MODE_REAL_TIME | TRACE_MODE_SYSTEM_LOGGER, NULL);
    uint32_t masks[8] = {0}, source = 2;
    CLASSIC_EVENT_ID event = {.Type = 1};
    (void)state;
    b.p.Wnode.Guid = session_guid;
    assert_int_equal(start_session("rights", &b, &handle), ERROR_SUCCESS);
    grant_only(&session_guid, TRACE_RIGHT_QUERY);
    assert_int_equal(TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, sizeof masks),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(TraceSetInformation(handle, TraceStackTracingInfo, &event, sizeof event), ERROR_ACCESS_DENIED);
    assert_int_equal(TraceSetInformation(handle, TracePmcCounterListInfo, &source, sizeof source), ERROR_ACCESS_DENIED);
    assert_int_equal(TraceSetInformation(handle, TraceSetDisallowList, &provider_guid, sizeof provider_guid),
                     ERROR_ACCESS_DENIED);
    grant_only(&session_guid, TRACE_RIGHT_CREATE_REALTIME);
    assert_int_equal(TraceSetInformation(handle, TraceSystemTraceEnableFlagsInfo, masks, sizeof masks), ERROR_SUCCESS);
    assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(EventAccessRemove(&session_guid), ERROR_SUCCESS);
}

static ULONG WINAPI never(WMIDPREQUESTCODE code, void *context, ULONG *size, void *buffer)
{
    (void)code, (void)context, (void)size, (void)buffer;
    return ERROR_SUCCESS;
}

static void rights_control_registration_and_enabling(void **state)
{
    TRACEHANDLE handle, classic;
    REGHANDLE registered = 7;
    (void)state;
    grant_only(&provider_guid, TRACE_RIGHT_QUERY);
    assert_int_equal(EventRegister(&provider_guid, NULL, NULL, &registered), ERROR_ACCESS_DENIED);
    assert_true(registered == 0);
    assert_int_equal(RegisterTraceGuidsW(never, NULL, &provider_guid, 0, NULL, NULL, NULL, &classic),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(start(TRACE_MODE_REAL_TIME, NULL, &handle), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(handle, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 1, 0, 0, NULL),
                     ERROR_ACCESS_DENIED);
    grant_only(&provider_guid, TRACE_RIGHT_GUID_ENABLE | TRACE_RIGHT_REGISTER_GUIDS);
    assert_int_equal(EnableTraceEx2(handle, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 1, 0, 0, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(EventRegister(&provider_guid, NULL, NULL, &registered), ERROR_SUCCESS);
    assert_true(EventProviderEnabled(registered, 4, 1));
    assert_int_equal(EventUnregister(registered), ERROR_SUCCESS);
    assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(EventAccessRemove(&provider_guid), ERROR_SUCCESS);
}

static bool reaches(TRACEHANDLE handle)
{
    EVENT_DESCRIPTOR descriptor;
    REGHANDLE registered;
    struct block b;
    memset(&descriptor, 0, sizeof descriptor);
    descriptor.Level = 4;
    descriptor.Keyword = 1;
    assert_int_equal(EnableTraceEx2(handle, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 1, 0, 0, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(EventRegister(&provider_guid, NULL, NULL, &registered), ERROR_SUCCESS);
    const bool enabled = EventProviderEnabled(registered, 4, 1);
    assert_int_equal(EventWrite(registered, &descriptor, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(registered), ERROR_SUCCESS);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    return enabled;
}

static void rights_control_events_of_a_secure_session(void **state)
{
    const ULONG rights = TRACE_RIGHT_CREATE_REALTIME | TRACE_RIGHT_QUERY;
    TRACEHANDLE handle;
    (void)state;
    grant_only(&session_guid, rights);
    assert_int_equal(start(TRACE_MODE_REAL_TIME | TRACE_MODE_SECURE, NULL, &handle), ERROR_SUCCESS);
    assert_false(reaches(handle));
    assert_int_equal(start(TRACE_MODE_REAL_TIME, NULL, &handle), ERROR_SUCCESS);
    assert_true(reaches(handle));
    grant_only(&session_guid, rights | TRACE_RIGHT_LOG_EVENT);
    assert_int_equal(start(TRACE_MODE_REAL_TIME | TRACE_MODE_SECURE, NULL, &handle), ERROR_SUCCESS);
    assert_true(reaches(handle));
    assert_int_equal(EventAccessRemove(&session_guid), ERROR_SUCCESS);
}

static void rights_control_consuming_a_session(void **state)
{
    static WCHAR name[] = u"rights";
    EVENT_TRACE_LOGFILEW logfile = {.LoggerName = name};
    TRACEHANDLE handle, reader;
    (void)state;
    logfile.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME;
    grant_only(&session_guid, TRACE_RIGHT_CREATE_REALTIME | TRACE_RIGHT_QUERY);
    assert_int_equal(start(TRACE_MODE_REAL_TIME, NULL, &handle), ERROR_SUCCESS);
    assert_true(OpenTraceW(&logfile) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(GetLastError(), ERROR_ACCESS_DENIED);
    assert_int_equal(EventAccessControl(&session_guid, 2, own, TRACE_RIGHT_ACCESS_REALTIME, TRUE), ERROR_SUCCESS);
    reader = OpenTraceW(&logfile);
    assert_true(reader != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(CloseTrace(reader), ERROR_SUCCESS);
    assert_int_equal(control(handle, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(EventAccessRemove(&session_guid), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rights_control_start_query_and_stop),
        cmocka_unit_test(rights_control_changes_of_a_session),
        cmocka_unit_test(rights_control_registration_and_enabling),
        cmocka_unit_test(rights_control_events_of_a_secure_session),
        cmocka_unit_test(rights_control_consuming_a_session),
    };
    union {
        TOKEN_USER user;
        BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } who;
    DWORD length;
    HANDLE token;
    own_directory_name();
    struct directory *d = own_directory();
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token) ||
        !GetTokenInformation(token, TokenUser, &who, sizeof who, &length) || FAILED(os_new_guid(&session_guid)) ||
        FAILED(os_new_guid(&provider_guid)))
        return 1;
    own = who.user.User.Sid;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    directory_delete(d);
    return failed;
}

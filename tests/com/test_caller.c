/* SPDX-License-Identifier: MIT */
/* Tests how the server identifies its caller on Windows, by impersonation. The test impersonates this process's
   account, because Wine would report the server's. An error would check a call against the wrong account, or leave a
   thread with another user's identity. */
#include "com/server/call_entry.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/security.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <windows.h>
#include <cmocka.h>
#include <rpc.h>

static RPC_STATUS status;
static ULONG client;
static HRESULT refusal; /* result of impersonation; S_OK: it succeeds */
static int impersonations;

bool __wrap_os_is_wine(void);
bool __wrap_os_is_wine(void)
{
    return false;
}

static RPC_STATUS WINAPI client_of_call(RPC_BINDING_HANDLE binding, ULONG *id)
{
    assert_null(binding);
    *id = client;
    return status;
}
RPC_STATUS(WINAPI *__wrap___imp_I_RpcBindingInqLocalClientPID)(RPC_BINDING_HANDLE binding, ULONG *id) = client_of_call;

static HRESULT WINAPI fake_impersonate(void)
{
    if (SUCCEEDED(refusal)) {
        assert_true(ImpersonateSelf(SecurityImpersonation));
        impersonations++;
    }
    return refusal;
}
HRESULT(WINAPI *__wrap___imp_CoImpersonateClient)(void) = fake_impersonate;

static HRESULT WINAPI revert(void)
{
    impersonations--;
    return RevertToSelf() ? S_OK : E_FAIL;
}
HRESULT(WINAPI *__wrap___imp_CoRevertToSelf)(void) = revert;

static void this_thread_is_itself(void)
{
    HANDLE token;
    assert_int_equal(impersonations, 0);
    assert_false(OpenThreadToken(GetCurrentThread(), TOKEN_QUERY, TRUE, &token));
    assert_int_equal(GetLastError(), ERROR_NO_TOKEN);
}

static int begin_call(void **state)
{
    (void)state;
    status = RPC_S_OK;
    client = 4711;
    refusal = S_OK;
    return 0;
}

static void call_of_this_process_has_its_account(void **state)
{
    (void)state;
    client = GetCurrentProcessId();
    assert_true(com_caller().in_process);
    client = 4711;
    status = RPC_S_NO_CALL_ACTIVE;
    assert_true(com_caller().in_process);
}

static void call_runs_as_its_account(void **state)
{
    const struct caller caller = com_caller();
    struct access_subject *subject;
    char *sid = caller_sid(&caller), *own = process_own_sid();
    (void)state;
    assert_false(caller.in_process);
    assert_int_equal(caller.process, 4711);
    assert_string_equal(sid, own);
    this_thread_is_itself();
    assert_int_equal(access_open(&caller, &subject), S_OK);
    access_close(subject);
    this_thread_is_itself();
    memory_free(sid);
    memory_free(own);
}

/* A set without an account runs as the user who calls Start. */
static void caller_token_can_start_a_process(void **state)
{
    const struct caller caller = com_caller();
    void *token = NULL;
    TOKEN_TYPE type = 0;
    DWORD size;
    (void)state;
    assert_int_equal(os_logon()->of_caller(&caller, &token), S_OK);
    assert_true(GetTokenInformation(token, TokenType, &type, sizeof type, &size));
    assert_int_equal(type, TokenPrimary);
    os_logon()->close(token);
    this_thread_is_itself();
}

/* A client on another computer has no process here; only its account is checked. */
static void remote_caller_has_only_an_account(void **state)
{
    (void)state;
    status = RPC_S_INVALID_BINDING;
    const struct caller caller = com_caller();
    char *sid = caller_sid(&caller), *own = process_own_sid();
    assert_false(caller.in_process);
    assert_int_equal(caller.process, 0);
    assert_string_equal(sid, own);
    memory_free(sid);
    memory_free(own);
}

static void unidentifiable_caller_is_rejected(void **state)
{
    const struct caller caller = com_caller();
    struct access_subject *subject;
    void *token = (void *)1;
    (void)state;
    refusal = RPC_E_CALL_COMPLETE;
    assert_int_equal(caller.token(&token), RPC_E_CALL_COMPLETE);
    assert_null(token);
    assert_int_equal(access_open(&caller, &subject), E_ACCESSDENIED);
    assert_int_equal(os_logon()->of_caller(&caller, &token), PLA_E_CREDENTIALS_REQUIRED);
    char *sid = caller_sid(&caller);
    assert_string_equal(sid, "");
    memory_free(sid);
    this_thread_is_itself();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(call_of_this_process_has_its_account, begin_call),
        cmocka_unit_test_setup(call_runs_as_its_account, begin_call),
        cmocka_unit_test_setup(caller_token_can_start_a_process, begin_call),
        cmocka_unit_test_setup(remote_caller_has_only_an_account, begin_call),
        cmocka_unit_test_setup(unidentifiable_caller_is_rejected, begin_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

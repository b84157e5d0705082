/* SPDX-License-Identifier: MIT */
/* Calls to another computer's counters as Windows makes them: by the system's RPC, with packet privacy, or not at all.
   Unencrypted, they could be read on the way, and the server could be an impostor. */
#include "engine/base/error.h"
#include "engine/base/os.h"
#include "engine/pdh/remote/link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <windows.h>
#include <cmocka.h>
#include <rpc.h>
#include <string.h>
#include <wchar.h>

bool __wrap_os_is_wine(void);
bool __wrap_os_is_wine(void)
{
    return false;
}

static WCHAR binding_text[128];
static int secured;
static RPC_STATUS answer;

static RPC_STATUS WINAPI secure(RPC_BINDING_HANDLE binding, RPC_WSTR principal, ULONG level, ULONG service,
                                RPC_AUTH_IDENTITY_HANDLE identity, ULONG authorization)
{
    RPC_WSTR text;
    assert_null(principal);
    assert_null(identity); /* who runs the program */
    assert_int_equal(level, RPC_C_AUTHN_LEVEL_PKT_PRIVACY);
    assert_int_equal(service, RPC_C_AUTHN_GSS_NEGOTIATE);
    assert_int_equal(authorization, RPC_C_AUTHZ_NONE);
    assert_int_equal(RpcBindingToStringBindingW(binding, &text), RPC_S_OK);
    wcscpy(binding_text, (const WCHAR *)text);
    RpcStringFreeW(&text);
    secured++;
    return answer;
}
RPC_STATUS(WINAPI *__wrap___imp_RpcBindingSetAuthInfoW)
(RPC_BINDING_HANDLE, RPC_WSTR, ULONG, ULONG, RPC_AUTH_IDENTITY_HANDLE, ULONG) = secure;

static void a_name_is_asked_by_its_pipe(void **state)
{
    struct link *link;
    (void)state;
    secured = 0;
    assert_int_equal(link_remote.open("SERVER", &link), S_OK);
    assert_int_equal(secured, 1);
    assert_int_equal(wcscmp(binding_text, L"ncacn_np:SERVER[\\\\pipe\\\\winreg]"), 0);
    link->kind->close(link);
}

static void a_port_is_asked_by_tcp(void **state)
{
    struct link *link;
    (void)state;
    secured = 0;
    assert_int_equal(link_remote.open("server.example:49170", &link), S_OK);
    assert_int_equal(secured, 1);
    assert_int_equal(wcscmp(binding_text, L"ncacn_ip_tcp:server.example[49170]"), 0);
    link->kind->close(link);
}

static void without_privacy_there_is_no_call(void **state)
{
    struct link *link = (struct link *)1;
    (void)state;
    answer = RPC_S_UNKNOWN_AUTHN_SERVICE;
    assert_int_equal(link_remote.open("SERVER", &link), HRESULT_FROM_WIN32(RPC_S_UNKNOWN_AUTHN_SERVICE));
    assert_null(link);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_asked_by_its_pipe),
        cmocka_unit_test(a_port_is_asked_by_tcp),
        cmocka_unit_test(without_privacy_there_is_no_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

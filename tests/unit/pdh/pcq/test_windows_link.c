/* SPDX-License-Identifier: MIT */
/* On Windows, calls for the counters of another computer must use the system's RPC with packet privacy, or fail.
   Otherwise the counters could be read on the network, and the server could be an impostor. */
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
    assert_null(identity); /* NULL: the user who runs the program */
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

static void computer_name_uses_the_named_pipe(void **state)
{
    struct link *link;
    (void)state;
    secured = 0;
    assert_int_equal(link_remote.open("SERVER", &link), S_OK);
    assert_int_equal(secured, 1);
    assert_int_equal(wcscmp(binding_text, L"ncacn_np:SERVER[\\\\pipe\\\\winreg]"), 0);
    link->kind->close(link);
}

static void port_uses_tcp(void **state)
{
    struct link *link;
    (void)state;
    secured = 0;
    assert_int_equal(link_remote.open("server.example:49170", &link), S_OK);
    assert_int_equal(secured, 1);
    assert_int_equal(wcscmp(binding_text, L"ncacn_ip_tcp:server.example[49170]"), 0);
    link->kind->close(link);
}

static void no_call_is_made_without_privacy(void **state)
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
        cmocka_unit_test(computer_name_uses_the_named_pipe),
        cmocka_unit_test(port_uses_tcp),
        cmocka_unit_test(no_call_is_made_without_privacy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Tests how counters are offered over RPC on Windows: only to callers that authenticate. Otherwise anyone who reaches
   this computer could observe all its programs. Wine's RPC has no such security, so the test replaces its functions. */
#include "com/server/counter_server.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

static struct {
    char order[256]; /* order of the calls */
    unsigned flags;
    RPC_STATUS authentication, tcp, listen;
} rpc;

static void note(const char *what)
{
    assert_true(strlen(rpc.order) + strlen(what) + 2 < sizeof rpc.order);
    strcat(rpc.order, what);
    strcat(rpc.order, " ");
}

bool __wrap_os_is_wine(void);
bool __wrap_os_is_wine(void)
{
    return false;
}

HRESULT __wrap_pcq_settings_read(struct pcq_settings *out);
HRESULT __wrap_pcq_settings_read(struct pcq_settings *out)
{
    *out = (struct pcq_settings){.port = 49170};
    return S_OK;
}

HRESULT __wrap_counter_calls_begin(const struct pcq_settings *settings, struct pcq_server **out);
HRESULT __wrap_counter_calls_begin(const struct pcq_settings *settings, struct pcq_server **out)
{
    (void)settings;
    *out = NULL;
    return S_OK;
}

static RPC_STATUS WINAPI fake_authenticate(RPC_CSTR principal, ULONG service, RPC_AUTH_KEY_RETRIEVAL_FN key,
                                           void *argument)
{
    assert_null(principal);
    assert_int_equal(service, RPC_C_AUTHN_GSS_NEGOTIATE);
    assert_true(!key && !argument);
    note("authentication");
    return rpc.authentication;
}
RPC_STATUS(WINAPI *__wrap___imp_RpcServerRegisterAuthInfoA)
(RPC_CSTR, ULONG, RPC_AUTH_KEY_RETRIEVAL_FN, void *) = fake_authenticate;

static RPC_STATUS WINAPI interface_of(RPC_IF_HANDLE handle, UUID *type, RPC_MGR_EPV *functions, UINT flags, UINT calls,
                                      UINT bytes, RPC_IF_CALLBACK_FN *callback)
{
    assert_ptr_equal(handle, PerflibV2_v1_0_s_ifspec);
    assert_true(!type && !functions && !callback && calls && bytes <= 1u << 20);
    rpc.flags = flags;
    note("interface");
    return RPC_S_OK;
}
RPC_STATUS(WINAPI *__wrap___imp_RpcServerRegisterIf2)
(RPC_IF_HANDLE, UUID *, RPC_MGR_EPV *, UINT, UINT, UINT, RPC_IF_CALLBACK_FN *) = interface_of;

static RPC_STATUS WINAPI fake_use_protocol(RPC_CSTR protocol, UINT calls, RPC_CSTR endpoint, void *descriptor)
{
    char what[64];
    assert_true(calls && !descriptor);
    snprintf(what, sizeof what, "%s:%s", (const char *)protocol, (const char *)endpoint);
    note(what);
    return strncmp(what, "ncacn_ip_tcp", 12) == 0 ? rpc.tcp : RPC_S_OK;
}
RPC_STATUS(WINAPI *__wrap___imp_RpcServerUseProtseqEpA)(RPC_CSTR, UINT, RPC_CSTR, void *) = fake_use_protocol;

/* Fails, because otherwise it would serve until the process exits. */
static RPC_STATUS WINAPI listen_here(UINT least, UINT most, UINT wait)
{
    assert_true(least && most && wait);
    note("listen");
    return RPC_S_MAX_CALLS_TOO_SMALL;
}
RPC_STATUS(WINAPI *__wrap___imp_RpcServerListen)(UINT, UINT, UINT) = listen_here;

static int begin(void **state)
{
    (void)state;
    memset(&rpc, 0, sizeof rpc);
    return 0;
}

#define PIPE_AND_LOCAL "ncacn_np:\\pipe\\winreg ncalrpc:OpenPLACounters "

static void unencrypted_calls_are_rejected(void **state)
{
    (void)state;
    assert_int_equal(counter_server_main(NULL), 1);
    assert_string_equal(rpc.order, "authentication interface " PIPE_AND_LOCAL "ncacn_ip_tcp:49170 listen ");
    assert_int_equal(rpc.flags, RPC_IF_ALLOW_SECURE_ONLY);
}

static void nothing_is_offered_without_authentication(void **state)
{
    (void)state;
    rpc.authentication = RPC_S_UNKNOWN_AUTHN_SERVICE;
    assert_int_equal(counter_server_main(NULL), 1);
    assert_string_equal(rpc.order, "authentication ");
}

/* Another program uses the port: the failure is reported, and the service retries. */
static void port_in_use_is_reported(void **state)
{
    (void)state;
    rpc.tcp = RPC_S_DUPLICATE_ENDPOINT;
    assert_int_equal(counter_server_main(NULL), 1);
    assert_string_equal(rpc.order, "authentication interface " PIPE_AND_LOCAL "ncacn_ip_tcp:49170 ");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(unencrypted_calls_are_rejected, begin),
        cmocka_unit_test_setup(nothing_is_offered_without_authentication, begin),
        cmocka_unit_test_setup(port_in_use_is_reported, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

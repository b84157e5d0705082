/* SPDX-License-Identifier: MIT */
/* What the server checks before it serves a call: a mistake lets a password cross the network in the clear, or one
   client keep all others out. Wine reports no authentication level, so the function that queries it is an argument. */
#include "com/server/call_entry.h"
#include "engine/base/error.h"
#include "engine/base/quotas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

static DWORD level;
static HRESULT answer;

static HRESULT WINAPI fake_query_blanket(DWORD *service, DWORD *authorization, OLECHAR **principal, DWORD *out,
                                         DWORD *impersonation, RPC_AUTHZ_HANDLE *privileges, DWORD *capabilities)
{
    (void)service, (void)authorization, (void)principal, (void)impersonation, (void)privileges, (void)capabilities;
    if (SUCCEEDED(answer))
        *out = level;
    return answer;
}

static void calls_without_privacy_are_refused(void **state)
{
    static const struct {
        DWORD level;
        HRESULT expected;
    } rows[] = {{RPC_C_AUTHN_LEVEL_DEFAULT, E_ACCESSDENIED}, {RPC_C_AUTHN_LEVEL_NONE, E_ACCESSDENIED},
                {RPC_C_AUTHN_LEVEL_CONNECT, E_ACCESSDENIED}, {RPC_C_AUTHN_LEVEL_CALL, E_ACCESSDENIED},
                {RPC_C_AUTHN_LEVEL_PKT, E_ACCESSDENIED},     {RPC_C_AUTHN_LEVEL_PKT_INTEGRITY, E_ACCESSDENIED},
                {RPC_C_AUTHN_LEVEL_PKT_PRIVACY, S_OK}};
    (void)state;
    answer = S_OK;
    for (size_t i = 0; i < ARRAYSIZE(rows); i++) {
        level = rows[i].level;
        assert_int_equal(call_check_level(fake_query_blanket, false), rows[i].expected);
        assert_int_equal(call_check_level(fake_query_blanket, true), rows[i].expected);
    }
    level = RPC_C_AUTHN_LEVEL_PKT_INTEGRITY;
    call_check_level(fake_query_blanket, false);
    assert_non_null(strstr(error_text(E_ACCESSDENIED), "authentication level 5; packet privacy (6)"));
}

/* It fails closed, but for the one answer that Wine has. */
static void unknown_level_is_refused(void **state)
{
    static const HRESULT answers[] = {RPC_E_CALL_COMPLETE, E_OUTOFMEMORY, E_ACCESSDENIED, RPC_S_BINDING_HAS_NO_AUTH};
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(answers); i++) {
        answer = FAILED(answers[i]) ? answers[i] : HRESULT_FROM_WIN32(answers[i]);
        assert_int_equal(call_check_level(fake_query_blanket, false), E_ACCESSDENIED);
        assert_int_equal(call_check_level(fake_query_blanket, true),
                         answer == RPC_E_CALL_COMPLETE ? S_OK : E_ACCESSDENIED);
    }
}

static void bounds(const char *text)
{
    _putenv_s("OPENPLA_QUOTAS", text);
    assert_int_equal(quotas_read(), S_OK);
}

/* Each client has separate limits for calls and objects, and released ones are available again. */
static void each_client_has_its_own(void **state)
{
    const struct caller one = {.process = GetCurrentProcessId()}, other = {.process = 4}, far_away = {.process = 0};
    struct client_use *first, *second, *third, *of_other, *of_far;
    (void)state;
    bounds("requests=2;objects=3");
    assert_int_equal(client_use_begin(&one, &first), S_OK);
    assert_int_equal(client_use_begin(&one, &second), S_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(client_use_begin(&one, &third), HRESULT_FROM_WIN32(RPC_S_SERVER_TOO_BUSY));
    assert_null(third);
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(RPC_S_SERVER_TOO_BUSY)), "more than 2 calls of one client"));
    assert_int_equal(client_use_begin(&other, &of_other), S_OK);
    assert_int_equal(client_use_begin(&far_away, &of_far), S_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(client_use_take(first), S_OK);
    assert_int_equal(client_use_take(first), HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA));
    assert_int_equal(client_use_take(of_other), S_OK);
    client_use_end(second);
    assert_int_equal(client_use_begin(&one, &second), S_OK);
    client_use_end(first);
    client_use_end(second);
    client_use_drop(first);
    assert_int_equal(client_use_begin(&one, &first), S_OK);
    assert_int_equal(client_use_take(first), S_OK);
    assert_int_equal(client_use_take(first), HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_QUOTA));
    for (int i = 0; i < 3; i++)
        client_use_drop(first);
    client_use_end(first);
    client_use_end(of_far);
    client_use_drop(of_other);
    client_use_end(of_other);
    /* Without a client, the call is this process's own and has all rights. */
    for (int i = 0; i < 10; i++)
        assert_int_equal(client_use_take(NULL), S_OK);
    client_use_drop(NULL);
}

/* Begins a call of the client, and checks whether the server still knew it. An entry has its memory share as long as it
   lives, and `share` is referenced, so another entry has another one. The call is ended. */
static bool is_known(const struct caller *caller, const struct memory_share *share)
{
    struct client_use *use;
    assert_int_equal(client_use_begin(caller, &use), S_OK);
    const bool known = client_use_share(use) == share;
    client_use_end(use);
    return known;
}

/* The server lives for weeks and its clients for seconds: a table that only grows would hold a handle of each. */
static void idle_clients_are_forgotten(void **state)
{
    const struct caller one = {.process = GetCurrentProcessId()}, other = {.process = 4};
    struct client_use *use, *second;
    (void)state;
    bounds("requests=2;objects=3");
    assert_int_equal(client_use_begin(&one, &use), S_OK);
    struct memory_share *share = memory_share_reference(client_use_share(use));
    assert_int_equal(client_use_begin(&one, &second), S_OK);
    client_use_end(second);
    assert_true(is_known(&one, share)); /* a call is running */
    assert_int_equal(client_use_take(use), S_OK);
    client_use_end(use);
    assert_true(is_known(&one, share)); /* it has an object */
    client_use_drop(use);
    assert_false(is_known(&one, share));
    memory_share_release(share);

    /* Memory that others hold for it keeps it; without that the next new client's call removes it. */
    assert_int_equal(client_use_begin(&one, &use), S_OK);
    share = memory_share_reference(client_use_share(use));
    memory_share_count(share, 1000);
    client_use_end(use);
    assert_false(is_known(&other, share));
    assert_true(is_known(&one, share));
    memory_share_count(share, -1000);
    assert_false(is_known(&other, share));
    assert_false(is_known(&one, share));
    memory_share_release(share);
}

/* The objects of a client that has exited count until COM releases them; then nothing of it remains, and its process id
   can be reused. */
static void dead_clients_are_forgotten(void **state)
{
    char command[] = "cmd.exe /c exit 0";
    STARTUPINFOA startup = {.cb = sizeof startup};
    PROCESS_INFORMATION process;
    struct client_use *use;
    (void)state;
    assert_true(CreateProcessA(NULL, command, NULL, NULL, FALSE, CREATE_SUSPENDED, NULL, NULL, &startup, &process));
    const struct caller dead = {.process = process.dwProcessId};
    assert_int_equal(client_use_begin(&dead, &use), S_OK);
    struct memory_share *share = memory_share_reference(client_use_share(use));
    assert_int_equal(client_use_take(use), S_OK);
    client_use_end(use);
    assert_true(TerminateProcess(process.hProcess, 0));
    assert_int_equal(WaitForSingleObject(process.hProcess, 10000), WAIT_OBJECT_0);
    CloseHandle(process.hThread);
    CloseHandle(process.hProcess);
    assert_true(is_known(&dead, share));
    HANDLE kept = OpenProcess(SYNCHRONIZE, FALSE, dead.process);
    assert_non_null(kept); /* the table's handle keeps the id from another process */
    CloseHandle(kept);
    client_use_drop(use);
    assert_false(is_known(&dead, share));
    memory_share_release(share);
}

/* Calls of a process to itself go in, within one another too. */
static void own_calls_are_let_through(void **state)
{
    struct call_entry outer, inner;
    (void)state;
    call_entry_guard();
    bounds("requests=1");
    assert_int_equal(call_enter(&outer), S_OK);
    assert_int_equal(call_enter(&inner), S_OK);
    assert_null(call_client());
    call_leave(&inner);
    call_leave(&outer);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_without_privacy_are_refused), cmocka_unit_test(unknown_level_is_refused),
        cmocka_unit_test(each_client_has_its_own),           cmocka_unit_test(idle_clients_are_forgotten),
        cmocka_unit_test(dead_clients_are_forgotten),        cmocka_unit_test(own_calls_are_let_through)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

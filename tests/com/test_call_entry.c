/* SPDX-License-Identifier: MIT */
/* Tests the checks that the server makes before it serves a call. Without them, a password would cross the network
   unencrypted, or one client could block all others. Wine reports no authentication level, so the function that queries
   it is a parameter. */
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

static void calls_without_privacy_are_rejected(void **state)
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

/* The check rejects the call if the level cannot be queried, except for the one result that Wine returns. */
static void unknown_level_is_rejected(void **state)
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

static void set_limits(const char *text)
{
    _putenv_s("OPENPLA_QUOTAS", text);
    assert_int_equal(quotas_read(), S_OK);
}

/* Each client has separate limits for calls and objects, and what it releases becomes available again. */
static void each_client_has_separate_limits(void **state)
{
    const struct caller one = {.process = GetCurrentProcessId()}, other = {.process = 4}, far_away = {.process = 0};
    struct client_use *first, *second, *third, *of_other, *of_far;
    (void)state;
    set_limits("requests=2;objects=3");
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
    /* Without a client, the call comes from this process, which has all rights. */
    for (int i = 0; i < 10; i++)
        assert_int_equal(client_use_take(NULL), S_OK);
    client_use_drop(NULL);
}

/* Begins and ends a call of the client, and returns whether the server still had the client's entry. An entry keeps its
   memory share while it lives, and the caller references `share`, so a new entry has a different share. */
static bool is_known(const struct caller *caller, const struct memory_share *share)
{
    struct client_use *use;
    assert_int_equal(client_use_begin(caller, &use), S_OK);
    const bool known = client_use_share(use) == share;
    client_use_end(use);
    return known;
}

/* The server runs for weeks, a client for seconds: a table that only grows would accumulate one handle per client. */
static void idle_clients_are_forgotten(void **state)
{
    const struct caller one = {.process = GetCurrentProcessId()}, other = {.process = 4};
    struct client_use *use, *second;
    (void)state;
    set_limits("requests=2;objects=3");
    assert_int_equal(client_use_begin(&one, &use), S_OK);
    struct memory_share *share = memory_share_reference(client_use_share(use));
    assert_int_equal(client_use_begin(&one, &second), S_OK);
    client_use_end(second);
    assert_true(is_known(&one, share)); /* one call is still running */
    assert_int_equal(client_use_take(use), S_OK);
    client_use_end(use);
    assert_true(is_known(&one, share)); /* the client has an object */
    client_use_drop(use);
    assert_false(is_known(&one, share));
    memory_share_release(share);

    /* Memory that is still charged to the entry keeps it; otherwise the next new client's call removes the entry. */
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

/* The objects of a client that has exited count until COM releases them; the entry is then removed, and its process id
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
    assert_non_null(kept); /* the table's handle prevents another process from getting the id */
    CloseHandle(kept);
    client_use_drop(use);
    assert_false(is_known(&dead, share));
    memory_share_release(share);
}

/* Calls of a process to itself are allowed, nested calls too. */
static void own_calls_are_allowed(void **state)
{
    struct call_entry outer, inner;
    (void)state;
    call_entry_guard();
    set_limits("requests=1");
    assert_int_equal(call_enter(&outer), S_OK);
    assert_int_equal(call_enter(&inner), S_OK);
    assert_null(call_client());
    call_leave(&inner);
    call_leave(&outer);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_without_privacy_are_rejected), cmocka_unit_test(unknown_level_is_rejected),
        cmocka_unit_test(each_client_has_separate_limits),    cmocka_unit_test(idle_clients_are_forgotten),
        cmocka_unit_test(dead_clients_are_forgotten),         cmocka_unit_test(own_calls_are_allowed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* After a call that passed a password, a memory dump of the client or the server must contain no copy of it in UTF-8 or
   UTF-16. */
#include "tests/com/client.h"

#include <stdio.h>
#include <string.h>
#include <tlhelp32.h>
#include <wchar.h>

#define NAME L"test-secret-memory"
enum { LENGTH = 24, PART = 1 << 20 };

/* A password whose letters are computed one at a time, so that this program's memory never contains it, even during the
   search. */
struct password {
    unsigned seed;
};
static WCHAR letter(const struct password *p, unsigned i)
{
    return (WCHAR)('A' + (p->seed * 31 + i * i * 7 + i * 3) % 26);
}

/* Returns the password as a BSTR, between the strings `before` and `behind`. */
static BSTR secret_spell(const struct password *p, const WCHAR *before, const WCHAR *behind)
{
    UINT begin = (UINT)wcslen(before), end = (UINT)wcslen(behind);
    BSTR text = SysAllocStringLen(NULL, begin + LENGTH + end);
    assert_non_null(text);
    wmemcpy(text, before, begin);
    for (unsigned i = 0; i < LENGTH; i++)
        text[begin + i] = letter(p, i);
    wmemcpy(text + begin + LENGTH, behind, end);
    return text;
}

/* Wipes and frees the test's own copy, as programs do. */
static void secret_wipe(BSTR text)
{
    volatile WCHAR *c = text;
    for (UINT i = SysStringLen(text); i--;)
        c[i] = 0;
    SysFreeString(text);
}

static size_t found_in(const struct password *p, const BYTE *data, size_t size)
{
    size_t found = 0;
    for (size_t at = 0; at + LENGTH <= size; at++) {
        unsigned narrow = 0, wide = 0;
        while (narrow < LENGTH && data[at + narrow] == letter(p, narrow))
            narrow++;
        if (at + 2 * LENGTH <= size)
            while (wide < LENGTH && data[at + 2 * wide] == letter(p, wide) && !data[at + 2 * wide + 1])
                wide++;
        found += narrow == LENGTH || wide == LENGTH;
    }
    return found;
}

/* Searches all readable memory of the process. */
static size_t secret_is_found(const struct password *p, HANDLE process, const char *whose)
{
    static BYTE part[PART + 2 * LENGTH]; /* the search's own buffer is skipped */
    MEMORY_BASIC_INFORMATION region;
    size_t count = 0, bytes = 0;
    for (BYTE *at = NULL; VirtualQueryEx(process, at, &region, sizeof region);
         at = (BYTE *)region.BaseAddress + region.RegionSize) {
        if (region.State != MEM_COMMIT || region.Protect & (PAGE_NOACCESS | PAGE_GUARD))
            continue;
        for (size_t offset = 0; offset < region.RegionSize; offset += PART) {
            BYTE *from = (BYTE *)region.BaseAddress + offset;
            SIZE_T size = region.RegionSize - offset, got = 0;
            if (size > sizeof part)
                size = sizeof part;
            if (process == GetCurrentProcess() && from < part + sizeof part && from + size > part)
                continue;
            if (!ReadProcessMemory(process, from, part, size, &got))
                continue;
            bytes += got;
            size_t here = found_in(p, part, got);
            if (here)
                print_message("%s: %u times at %p (region %p, %u bytes, protection %lx, type %lx)\n", whose,
                              (unsigned)here, (void *)from, region.BaseAddress, (unsigned)region.RegionSize,
                              region.Protect, region.Type);
            count += here;
        }
    }
    SecureZeroMemory(part, sizeof part);
    assert_true(bytes > 1 << 20); /* a smaller number would mean that nothing was searched */
    return count;
}

static HANDLE server_find(void)
{
    PROCESSENTRY32W entry = {.dwSize = sizeof entry};
    HANDLE list = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0), process = NULL;
    for (BOOL more = Process32FirstW(list, &entry); more && !process; more = Process32NextW(list, &entry))
        if (!_wcsicmp(entry.szExeFile, L"openplasrv.exe"))
            process = OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, entry.th32ProcessID);
    CloseHandle(list);
    assert_non_null(process);
    return process;
}

static void expect_nowhere(const struct password *p, const char *what)
{
    HANDLE other = server_find();
    char whose[96];
    snprintf(whose, sizeof whose, "%s, client", what);
    size_t here = secret_is_found(p, GetCurrentProcess(), whose);
    snprintf(whose, sizeof whose, "%s, server", what);
    size_t there = secret_is_found(p, other, whose);
    CloseHandle(other);
    if (here || there)
        fail_msg("%s: %u times in the client, %u in the server", what, (unsigned)here, (unsigned)there);
}

/* Checks that the search finds a password that is in memory; otherwise the other tests prove nothing. */
static void password_in_memory_is_found(void **state)
{
    struct password p = {GetCurrentProcessId() + 1};
    BSTR text = secret_spell(&p, L"", L"");
    (void)state;
    assert_int_equal(secret_is_found(&p, GetCurrentProcess(), "held"), 1);
    secret_wipe(text);
    assert_int_equal(secret_is_found(&p, GetCurrentProcess(), "wiped"), 0);
}

static IDataCollectorSet *a_set(void)
{
    IDataCollectorSet *set = new_set();
    release(added_collector(set, L"c"));
    return set;
}

static void credentials_leave_no_copy(void **state)
{
    struct password p = {GetCurrentProcessId() + 2};
    IDataCollectorSet *set = a_set();
    (void)state;
    BSTR user = SysAllocString(L"DOMAIN\\somebody"), password = secret_spell(&p, L"", L"");
    assert_ok(IDataCollectorSet_SetCredentials(set, user, password));
    secret_wipe(password);
    SysFreeString(user);
    assert_ok(commit(set, NAME, plaCreateNew | plaModify, NULL));
    expect_nowhere(&p, "SetCredentials and Commit");
    assert_ok(call(set, L"Delete"));
    release(set);
}

static void late_bound_call_leaves_no_copy(void **state)
{
    struct password p = {GetCurrentProcessId() + 3};
    IDataCollectorSet *set = a_set();
    (void)state;
    VARIANT arguments[2] = {of_text(L"DOMAIN\\somebody"), {.vt = VT_BSTR}};
    V_BSTR(&arguments[1]) = secret_spell(&p, L"", L"");
    assert_ok(invoke(set, L"SetCredentials", DISPATCH_METHOD, NULL, arguments, 2));
    secret_wipe(V_BSTR(&arguments[1]));
    VariantClear(&arguments[0]);
    assert_ok(commit(set, NAME, plaCreateNew | plaModify, NULL));
    expect_nowhere(&p, "Invoke of SetCredentials");
    assert_ok(call(set, L"Delete"));
    release(set);
}

static void data_source_leaves_no_copy(void **state)
{
    struct password p = {GetCurrentProcessId() + 4};
    IDataCollectorSet *set = new_set();
    IPerformanceCounterDataCollector *collector = added_collector(set, L"c");
    (void)state;
    BSTR source = secret_spell(&p, L"SQL:Driver={SQLite3};Database=/tmp/none.db;PWD=", L"!set");
    assert_ok(IPerformanceCounterDataCollector_put_LogFileFormat(collector, plaSql));
    assert_ok(IPerformanceCounterDataCollector_put_DataSourceName(collector, source));
    secret_wipe(source);
    assert_ok(commit(set, NAME, plaCreateNew | plaModify, NULL));
    expect_nowhere(&p, "DataSourceName");
    assert_ok(call(set, L"Delete"));
    release(collector);
    release(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(password_in_memory_is_found),
        cmocka_unit_test(credentials_leave_no_copy),
        cmocka_unit_test(late_bound_call_leaves_no_copy),
        cmocka_unit_test(data_source_leaves_no_copy),
    };
    if (!client_begin(CLIENT_FACADE))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    delete_test_sets();
    return client_end() ? failed : 1;
}

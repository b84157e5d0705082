/* SPDX-License-Identifier: MIT */
/* A program without knowledge of OpenPLA, started by run.py through `openpla run`. Its first argument selects what
   it does. */
#include "tests/cli/reach/early.h"
#include "tests/cli/reach/mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <fcntl.h>
#include <io.h>
#include <string.h>

#define NAME(name) __declspec(dllimport) uint32_t name(void);
#include "tests/cli/reach/names.def"
#undef NAME

typedef uint32_t (*event_function)(void);
static const struct {
    const char *name;
    event_function imported;
} functions[] = {
#define NAME(name) {#name, name},
#include "tests/cli/reach/names.def"
#undef NAME
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static int missed;

static void expect_equal(const char *how, const char *name, event_function call)
{
    const uint32_t got = call();
    if (got == mark_of(name))
        return;
    missed++;
    printf("%s %s: 0x%08X, not ours\n", how, name, (unsigned)got);
}

/* A program that walks its own imports must find those in its file, without openetw.dll. */
static void expect_own_imports(void)
{
    const BYTE *base = (const BYTE *)GetModuleHandleW(NULL);
    const IMAGE_NT_HEADERS *nt = (const void *)(base + ((const IMAGE_DOS_HEADER *)(const void *)base)->e_lfanew);
    const IMAGE_DATA_DIRECTORY *d = &nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
    const IMAGE_IMPORT_DESCRIPTOR *first = (const void *)(base + d->VirtualAddress);
    if (d->VirtualAddress < nt->OptionalHeader.SizeOfImage && !strstr((const char *)base + first->Name, "openetw"))
        return;
    missed++;
    printf("the image's imports are at 0x%lX, not its own\n", d->VirtualAddress);
}

static event_function find(const WCHAR *module, const char *prefix, const char *function)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, function);
    return (event_function)(void *)GetProcAddress(GetModuleHandleW(module), name);
}

/* GetProcAddress must return our functions, whether the module itself exports the name or forwards it. */
static void expect_exports(const WCHAR *module, const char *prefix)
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        event_function found = find(module, prefix, functions[i].name);
        if (found)
            expect_equal("GetProcAddress", functions[i].name, found);
    }
}

static void expect_export(const WCHAR *module, const char *prefix, const char *function)
{
    if (find(module, prefix, function))
        return;
    missed++;
    printf("GetProcAddress finds no %s%s in %ls\n", prefix, function, module);
}

/* Programs look up functions that exist on Windows. If one is missing, they behave differently or exit. */
static void expect_windows_exports(void)
{
    static const char *const in_ntdll[] = {"CreateTraceInstanceId", "EventWriteEndScenario", "EventWriteEx",
                                           "EventWriteStartScenario", "TraceEventInstance"};
    for (size_t i = 0; i < FUNCTIONS; i++)
        expect_export(L"advapi32.dll", "", functions[i].name);
    for (size_t i = 0; i < sizeof in_ntdll / sizeof *in_ntdll; i++)
        expect_export(L"ntdll.dll", "Etw", in_ntdll[i]);
    expect_export(L"kernelbase.dll", "", "EventWriteEx");
    if (find(L"advapi32.dll", "", "NoSuchFunction") || find(L"advapi32.dll", "", "")) {
        missed++;
        puts("GetProcAddress finds a function that nobody has");
    }
}

/* The exports that a module had before ours were added can still be found by name, including those that it forwards to
   another module. */
static void expect_old_exports(const WCHAR *name)
{
    HMODULE module = GetModuleHandleW(name);
    const BYTE *base = (const BYTE *)module;
    const IMAGE_NT_HEADERS *nt = (const void *)(base + ((const IMAGE_DOS_HEADER *)(const void *)base)->e_lfanew);
    const IMAGE_DATA_DIRECTORY *d = &nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
    const IMAGE_EXPORT_DIRECTORY *exports = (const void *)(base + d->VirtualAddress);
    const DWORD *names = (const void *)(base + exports->AddressOfNames),
                *code = (const void *)(base + exports->AddressOfFunctions);
    const WORD *numbers = (const void *)(base + exports->AddressOfNameOrdinals);
    for (DWORD i = 0; i < exports->NumberOfNames; i++) {
        const char *function = (const char *)base + names[i];
        const DWORD at = code[numbers[i]];
        const bool forwarded = at >= d->VirtualAddress && at - d->VirtualAddress < d->Size;
        const BYTE *found = (const BYTE *)(void *)GetProcAddress(module, function);
        if (found && (forwarded || found == base + at) &&
            (i == 0 || strcmp(function, (const char *)base + names[i - 1]) > 0))
            continue;
        missed++;
        printf("%ls: %s is not found where its exports have it\n", name, function);
    }
}

typedef LONG(NTAPI *query_function)(ULONG what, void *information, ULONG bytes, ULONG *need);
typedef LONG(NTAPI *set_function)(ULONG what, void *information, ULONG bytes);

/* Our functions handle the information class of the kernel trace; the system handles all others. */
static void expect_system_information(void)
{
    enum { BASIC = 0, PERFORMANCE_TRACE = 31, NO_SUCH = 0x7FFF };
    static const char *const queries[] = {"NtQuerySystemInformation", "ZwQuerySystemInformation"},
                             *const sets[] = {"NtSetSystemInformation", "ZwSetSystemInformation"};
    char block[64] = {1};
    ULONG need = 0;
    for (size_t i = 0; i < 2; i++) {
        query_function query = (query_function)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), queries[i]);
        set_function set = (set_function)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), sets[i]);
        if ((uint32_t)query(PERFORMANCE_TRACE, block, 48, &need) == mark_of(queries[0]) && need == 48 &&
            query(PERFORMANCE_TRACE, NULL, 0, &need) < 0 && query(BASIC, block, sizeof block, &need) == 0 &&
            query(NO_SUCH, block, sizeof block, NULL) < 0 &&
            (uint32_t)set(PERFORMANCE_TRACE, block, 48) == mark_of(sets[0]) &&
            (uint32_t)set(NO_SUCH, block, 48) != mark_of(sets[0]))
            continue;
        missed++;
        printf("%s, %s: not ours alone\n", queries[i], sets[i]);
    }
}

static int test_all(void)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        expect_equal("import", functions[i].name, functions[i].imported);
    expect_exports(L"advapi32.dll", "");
    expect_exports(L"sechost.dll", "");
    expect_exports(L"kernelbase.dll", "");
    expect_exports(L"ntdll.dll", "Etw");
    expect_windows_exports();
    expect_old_exports(L"advapi32.dll");
    expect_old_exports(L"ntdll.dll");
    expect_old_exports(L"kernelbase.dll");
    expect_system_information();
    expect_own_imports();
    if (!register_was_ours()) {
        missed++;
        puts("DllMain of a DLL: not ours");
    }
    HMODULE late = LoadLibraryW(L"reach_late.dll");
    event_function result = late ? (event_function)(void *)GetProcAddress(late, "late_result") : NULL;
    if (!result || result() != 0) {
        missed++;
        puts("reach_late.dll: not ours");
    }
    printf("%d of %d missed\n", missed, (int)FUNCTIONS);
    return missed != 0;
}

/* Prints all its arguments, unchanged. */
static int show_arguments(void)
{
    static WCHAR folder[MAX_PATH];
    char line[100] = "";
    _setmode(_fileno(stdout), _O_U8TEXT);
    GetCurrentDirectoryW(MAX_PATH, folder);
    const bool streams = fgets(line, sizeof line, stdin) != NULL;
    const WCHAR *set = _wgetenv(L"REACH_TEST");
    wprintf(L"line=%ls\nfolder=%ls\nstdin=%hs\nset=%ls\n", GetCommandLineW(), folder, streams ? line : "-",
            set ? set : L"-");
    return fprintf(stderr, "on stderr\n") < 0;
}

/* Starts itself in three ways, and prints for each child whether openetw.dll was injected into it. */
static int start_children(void)
{
    static WCHAR path[MAX_PATH];
    char command[MAX_PATH + 20];
    STARTUPINFOW startup = {.cb = sizeof startup};
    PROCESS_INFORMATION started;
    DWORD code = 99;
    GetModuleFileNameW(NULL, path, MAX_PATH);
    WCHAR line[] = L"target reached";
    if (CreateProcessW(path, line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &started)) {
        WaitForSingleObject(started.hProcess, INFINITE);
        GetExitCodeProcess(started.hProcess, &code);
    }
    if (CreateProcessW(path, line, NULL, NULL, FALSE, CREATE_SUSPENDED, NULL, NULL, &startup, &started)) {
        DWORD suspended;
        if (WaitForSingleObject(started.hProcess, 300) != WAIT_TIMEOUT)
            puts("did not wait");
        ResumeThread(started.hThread);
        WaitForSingleObject(started.hProcess, INFINITE);
        GetExitCodeProcess(started.hProcess, &suspended);
        if (suspended != code)
            puts("a suspended one differs");
    }
    snprintf(command, sizeof command, "\"%ls\" reached", path);
    const int below_cmd = system(command);
    printf("self %d, child %lu, cmd's child %d\n", register_is_ours(), code, below_cmd);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "all") == 0)
        return test_all();
    if (strcmp(what, "show") == 0)
        return show_arguments();
    if (strcmp(what, "children") == 0)
        return start_children();
    if (strcmp(what, "reached") == 0)
        return register_is_ours();
    return argc > 2 ? (int)strtoul(argv[2], NULL, 0) : 77;
}

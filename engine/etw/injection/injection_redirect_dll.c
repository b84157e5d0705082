/* SPDX-License-Identifier: MIT */
/* In a process into which openetw.dll was injected, redirects the program's calls of event functions to this DLL.

   Under Wine, imports, GetProcAddress and API set names all lead to an event function's code in ntdll, sechost or
   advapi32. The first bytes of that code are overwritten with a jump; the old code is never needed again. If Wine does
   not export a function, the import tables of the modules that import it refer to a stub that raises an exception;
   these entries are rewritten. All of this happens before any other DLL of the program starts, while the process has
   one thread. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/injection.h"

#include <stddef.h>
#include <windows.h>
#include <winternl.h>
#include <string.h>

PEB *NTAPI RtlGetCurrentPeb(void); /* missing in MinGW's headers */

enum { JUMP_BYTES = 12, ALIGNMENT = 16, MOST_NAME = 64, MOST_EXPORTS = 128 };

static HMODULE own;

static const IMAGE_DATA_DIRECTORY *directory_of(const uint8_t *base, int which)
{
    const IMAGE_NT_HEADERS *nt = (const void *)(base + ((const IMAGE_DOS_HEADER *)(const void *)base)->e_lfanew);
    return &nt->OptionalHeader.DataDirectory[which];
}

static const IMAGE_EXPORT_DIRECTORY *exports_of(const uint8_t *base)
{
    return (const void *)(base + directory_of(base, IMAGE_DIRECTORY_ENTRY_EXPORT)->VirtualAddress);
}

/* A jump will overwrite the first bytes of `code`. Returns whether another function that the module exports begins
   within these bytes. */
static bool has_export_within(const uint8_t *code)
{
    void *base;
    if (!RtlPcToFileHeader((void *)code, &base))
        return true;
    const IMAGE_EXPORT_DIRECTORY *exports = exports_of(base);
    const DWORD *functions = (const void *)((const uint8_t *)base + exports->AddressOfFunctions);
    const DWORD at = (DWORD)(code - (const uint8_t *)base);
    for (DWORD i = 0; i < exports->NumberOfFunctions; i++)
        if (functions[i] > at && functions[i] - at < JUMP_BYTES)
            return true;
    return false;
}

/* Returns whether the jump fits: it may overwrite only the function and the padding after it. The compiler aligns
   functions, so a function that is shorter than the jump is followed by padding. Functions that only raise an exception
   have neither padding nor an entry in the function table, but all of them are exported, so the next export shows where
   they end. */
static bool has_room(const uint8_t *code)
{
    DWORD64 base;
    const DWORD64 begin = (DWORD64)(uintptr_t)code;
    const RUNTIME_FUNCTION *last = RtlLookupFunctionEntry(begin + JUMP_BYTES - 1, &base, NULL);
    return last ? base + last->BeginAddress == begin : begin % ALIGNMENT == 0 || !has_export_within(code);
}

static void code_overwrite(void *at, void *function)
{
    uint8_t jump[JUMP_BYTES] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0}; /* mov rax,function; jmp rax */
    DWORD before;
    if (!at || !has_room(at) || !VirtualProtect(at, sizeof jump, PAGE_EXECUTE_READWRITE, &before))
        return;
    memcpy(jump + 2, &function, sizeof function);
    memcpy(at, jump, sizeof jump);
    VirtualProtect(at, sizeof jump, before, &before);
    FlushInstructionCache(GetCurrentProcess(), at, sizeof jump);
}

/* Finds ntdll's counterpart of a function. The counterpart of TraceEvent is EtwLogTraceEvent; every other counterpart
   has the function's name with the prefix Etw. */
static void *in_ntdll(const char *name)
{
    char etw[MOST_NAME + 3] = "Etw";
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    strncat(etw, strcmp(name, "TraceEvent") == 0 ? "LogTraceEvent" : name, MOST_NAME - 1);
    return (void *)GetProcAddress(ntdll, etw);
}

static void export_redirect(const char *name, void *function)
{
    static const WCHAR *const modules[] = {L"advapi32.dll", L"sechost.dll", L"kernelbase.dll"};
    if (strlen(name) >= MOST_NAME)
        return;
    code_overwrite(in_ntdll(name), function);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        code_overwrite((void *)GetProcAddress(GetModuleHandleW(modules[i]), name), function);
}

/* TDH's functions are forwarded, so they are not code of this module. */
static bool is_event_function(const char *name)
{
    return strncmp(name, "OpenEtw", 7) != 0 && strncmp(name, "Dll", 3) != 0 && strncmp(name, "Tdh", 3) != 0;
}

static bool is_tdh_function(const char *name)
{
    return strncmp(name, "Tdh", 3) == 0;
}

/* Lists those exports of a module that `is_wanted` selects; returns their number. */
static size_t list_exports(const void *module, bool (*is_wanted)(const char *name), struct injection_export *list)
{
    const uint8_t *base = module;
    const IMAGE_EXPORT_DIRECTORY *exports = exports_of(base);
    const DWORD *names = (const void *)(base + exports->AddressOfNames),
                *functions = (const void *)(base + exports->AddressOfFunctions);
    const WORD *numbers = (const void *)(base + exports->AddressOfNameOrdinals);
    size_t count = 0;
    for (DWORD i = 0; i < exports->NumberOfNames && count < MOST_EXPORTS; i++) {
        const char *name = (const char *)base + names[i];
        if (is_wanted(name))
            list[count++] = (struct injection_export){name, base + functions[numbers[i]]};
    }
    return count;
}

/* Adds exports that Windows' modules have and Wine's modules lack. Windows' advapi32 exports all functions in the
   list. */
static void add_exports(const struct injection_export *all, size_t count)
{
    static struct injection_export in_ntdll[] = {{.name = "EtwCreateTraceInstanceId"},
                                                 {.name = "EtwEventWriteEndScenario"},
                                                 {.name = "EtwEventWriteEx"},
                                                 {.name = "EtwEventWriteStartScenario"},
                                                 {.name = "EtwTraceEventInstance"}},
                                   in_kernelbase[] = {{.name = "EventWriteEx"}};
    enum { IN_NTDLL = sizeof in_ntdll / sizeof *in_ntdll, ETW = 3 };
    for (size_t i = 0; i < IN_NTDLL; i++)
        in_ntdll[i].function = (void *)GetProcAddress(own, in_ntdll[i].name + ETW);
    in_kernelbase[0].function = (void *)GetProcAddress(own, in_kernelbase[0].name);
    injection_exports_add(GetModuleHandleW(L"advapi32.dll"), all, count);
    injection_exports_add(GetModuleHandleW(L"ntdll.dll"), in_ntdll, IN_NTDLL);
    injection_exports_add(GetModuleHandleW(L"kernelbase.dll"), in_kernelbase, 1);
}

static void redirect_all(void)
{
    static struct injection_export all[MOST_EXPORTS];
    const size_t count = list_exports(own, is_event_function, all);
    for (size_t i = 0; i < count; i++)
        export_redirect(all[i].name, (void *)all[i].function);
    add_exports(all, count);
}

/* Returns whether programs import event functions from the DLL or API set of this name. */
static bool has_event_functions(const char *dll)
{
    return text_equal_nocase(dll, "ntdll.dll") || text_equal_nocase(dll, "advapi32.dll") ||
           text_equal_nocase(dll, "kernelbase.dll") || text_equal_nocase(dll, "sechost.dll") ||
           text_matches("api-ms-win-eventing-*", dll);
}

/* Returns our TDH, and loads it at the first call. Its file is in this DLL's folder, which the loader would not search.
   Returns NULL if the file does not exist. */
static HMODULE own_tdh(void)
{
    static const WCHAR name[] = L"opentdh.dll";
    static WCHAR path[MAX_PATH + sizeof name / sizeof name[0]];
    static HMODULE tdh;
    WCHAR *last = path[0] == 0 && GetModuleFileNameW(own, path, MAX_PATH) < MAX_PATH ? wcsrchr(path, L'\\') : NULL;
    if (last) {
        memcpy(last + 1, name, sizeof name);
        tdh = LoadLibraryExW(path, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
    }
    return tdh;
}

/* If the module is the tdh.dll of Windows or Wine, redirects its functions, so that GetProcAddress leads to ours. */
static void redirect_tdh(const void *base)
{
    HMODULE theirs = GetModuleHandleW(L"tdh.dll"), ours = theirs && theirs == base ? own_tdh() : NULL;
    if (!ours || ours == theirs)
        return;
    static struct injection_export all[MOST_EXPORTS];
    const size_t count = list_exports(ours, is_tdh_function, all);
    for (size_t i = 0; i < count; i++)
        code_overwrite((void *)GetProcAddress(theirs, all[i].name), (void *)all[i].function);
    injection_exports_add(theirs, all, count);
}

static void import_replace(IMAGE_THUNK_DATA *entry, const char *name, bool of_tdh)
{
    DWORD before;
    if (strncmp(name, "Etw", 3) == 0) /* in ntdll, the names of the functions have this prefix */
        name += 3;
    void *function = of_tdh                    ? (void *)GetProcAddress(own_tdh(), name)
                     : is_event_function(name) ? (void *)GetProcAddress(own, name)
                                               : NULL;
    if (!function || !VirtualProtect(&entry->u1.Function, sizeof entry->u1.Function, PAGE_READWRITE, &before))
        return;
    entry->u1.Function = (ULONG_PTR)function;
    VirtualProtect(&entry->u1.Function, sizeof entry->u1.Function, before, &before);
}

/* Replaces the imports of event functions in a module. The tables are not checked, because the loader has just walked
   them to resolve the imports. */
static void replace_imports(uint8_t *base)
{
    const DWORD imports = directory_of(base, IMAGE_DIRECTORY_ENTRY_IMPORT)->VirtualAddress;
    const IMAGE_IMPORT_DESCRIPTOR *d = (const void *)(base + imports);
    redirect_tdh(base);
    for (; imports && d->Name && d->FirstThunk; d++) {
        const bool of_tdh = text_equal_nocase((const char *)base + d->Name, "tdh.dll") && base != (uint8_t *)own;
        if (!d->OriginalFirstThunk || (of_tdh ? !own_tdh() : !has_event_functions((const char *)base + d->Name)))
            continue;
        const IMAGE_THUNK_DATA *names = (const void *)(base + d->OriginalFirstThunk);
        IMAGE_THUNK_DATA *table = (void *)(base + d->FirstThunk);
        for (; names->u1.AddressOfData; names++, table++)
            if (!IMAGE_SNAP_BY_ORDINAL(names->u1.Ordinal))
                import_replace(table,
                               (const char *)((IMAGE_IMPORT_BY_NAME *)(void *)(base + names->u1.AddressOfData))->Name,
                               of_tdh);
    }
}

/* Replaces the imports in all modules that are already loaded. DllMain may walk the loader's list, because it holds the
   loader's lock. */
static void replace_in_loaded(void)
{
    const LIST_ENTRY *head = &RtlGetCurrentPeb()->Ldr->InMemoryOrderModuleList;
    for (const LIST_ENTRY *at = head->Flink; at != head; at = at->Flink)
        replace_imports(CONTAINING_RECORD(at, LDR_DATA_TABLE_ENTRY, InMemoryOrderLinks)->DllBase);
}

/* LDR_DLL_NOTIFICATION_DATA, as Windows' documentation describes it. MinGW's headers lack it. */
struct loaded {
    ULONG flags;
    const UNICODE_STRING *path, *name;
    void *base;
    ULONG size;
};
#define LOADED 1 /* LDR_DLL_NOTIFICATION_REASON_LOADED: imports are resolved, DllMain has not run */
typedef void(CALLBACK *notified)(ULONG reason, const struct loaded *what, void *user);
typedef NTSTATUS(NTAPI *register_function)(ULONG flags, notified call, void *user, void **cookie);

static void CALLBACK on_loaded(ULONG reason, const struct loaded *what, void *user)
{
    (void)user;
    if (reason == LOADED)
        replace_imports(what->base);
}

static void replace_in_later(void)
{
    void *cookie = NULL;
    register_function call =
        (register_function)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "LdrRegisterDllNotification");
    if (call)
        call(0, on_loaded, NULL, &cookie);
}

static void take_children(void)
{
    char *folder = os_module_folder(), *dll = NULL;
    if (folder && SUCCEEDED(injection_dll_path(folder, &dll))) {
        void *function = injection_children_begin(dll);
        if (function)
            code_overwrite((void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtCreateUserProcess"), function);
    }
    memory_free(dll);
    memory_free(folder);
}

/* GetProcAddress returns the same address for the Nt, Zw and Rtl names of both functions. */
static void take_system_information(void)
{
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    void *query = injection_query_system_begin(), *set = injection_set_system_begin();
    if (query)
        code_overwrite((void *)GetProcAddress(ntdll, "NtQuerySystemInformation"), query);
    if (set)
        code_overwrite((void *)GetProcAddress(ntdll, "NtSetSystemInformation"), set);
}

void injection_begin(void *module)
{
    bool children;
    if (!injection_restore_self(&children))
        return;
    own = module;
    redirect_all();
    replace_in_loaded();
    replace_in_later();
    take_system_information();
    if (children)
        take_children();
}

/* SPDX-License-Identifier: MIT */
/* Hooks the traced program's import slots.

   A function is found by the address in a slot, not by its name, because imports by name or ordinal, forwarders and API
   sets all resolve to an address. A hash table contains the addresses of all exports that the settings select. If the
   address in a slot is in the table, the slot is overwritten with the address of the function's stub:

       slot -> stub: mov r11, function; jmp [cell] -> thunk: logs, then calls or jumps to the function

   In 32-bit programs the register is eax, because no calling convention of Windows passes an argument in eax. A few
   compiler helper functions do take an argument in eax; they are not hooked in 32-bit programs.

   Every stub jumps through one of two cells. The first cell is for functions to which a thunk can add a frame, and the
   second cell is for all other functions. A cell contains the address of the thunk that the settings require; after the
   hooks have been removed, the address of api_thunk_pass. The program can have copied a stub's address anywhere
   (registers, other tables), so the stubs and this DLL stay until the process exits. The stubs' memory is mapped twice,
   writable and executable, because other threads run stubs while new stubs are added.

   GetProcAddress and the other functions that resolve names are replaced with versions that return stubs. Therefore
   delayed imports and later lookups are traced, too, and a looked-up address is still equal to the address in a slot.

   The tables of modules are read in a guard_call (guard.h), because the program can unmap or overwrite them. */
#include "engine/base/file.h"
#include "engine/base/guard.h"
#include "engine/base/memory.h"
#include "engine/etw/api_trace/api_hook.h"
#include "engine/etw/api_trace/api_image.h"

#include <stdio.h>
#include <windows.h>
#include <winternl.h>
#include <string.h>

enum {
    BUCKETS = 16384,
    STUBS = 65536,
    STUB_BYTES = 16,
    CELLS_BYTES = 4096,
    STUBS_BYTES = CELLS_BYTES + STUBS * STUB_BYTES,
    MODULE_NAME = 64,
    API_NAME = 320,
    LOADER_TRIES = 2000, /* attempts to take the loader's lock, 1 ms apart */
    CELL_FRAMED = 0,
    CELL_NAMES = 1,
    STUB_FUNCTION = sizeof(void *) == 8 ? 2 : 1, /* offset in the stub: the address of struct api_function */
    STRUCTURE_WORDS = 16, /* 4-byte words to copy for a structure passed by value in 32-bit programs; no hooked function
                             takes a larger one */
};

static struct api_function *_Atomic buckets[BUCKETS];
static uint8_t *stubs, *stubs_writable;
static void *volatile *cells;
static uint32_t stub_bytes_used = CELLS_BYTES;
static uint32_t generation;
static const struct api_settings *settings; /* NULL: nothing is hooked */
static HMODULE own_module, events_module;
static CRITICAL_SECTION hook_lock;
static uint32_t function_count, slot_count;

/* ---- functions that resolve names ---- */

static FARPROC WINAPI own_GetProcAddress(HMODULE module, LPCSTR name);
static NTSTATUS NTAPI own_LdrGetProcedureAddress(HMODULE module, const ANSI_STRING *name, ULONG number, void **out);
static void *WINAPI own_ResolveDelayLoadedAPI(void *base, const void *descriptor, void *hook, void *system_hook,
                                              void **slot, ULONG flags);

enum { RESOLVE_NAME, RESOLVE_LOADER, RESOLVE_DELAYED, RESOLVERS };
static struct {
    const WCHAR *module;
    const char *name;
    void *own, *real;
} resolvers[RESOLVERS] = {
    {L"kernel32.dll", "GetProcAddress", (void *)own_GetProcAddress, NULL},
    {L"ntdll.dll", "LdrGetProcedureAddress", (void *)own_LdrGetProcedureAddress, NULL},
    {L"kernel32.dll", "ResolveDelayLoadedAPI", (void *)own_ResolveDelayLoadedAPI, NULL},
};

static void *resolver_own(const void *real)
{
    for (int i = 0; i < RESOLVERS; i++)
        if (resolvers[i].real && resolvers[i].real == real)
            return resolvers[i].own;
    return NULL;
}

static void *resolver_real(const void *own)
{
    for (int i = 0; i < RESOLVERS; i++)
        if (resolvers[i].own == own)
            return resolvers[i].real;
    return NULL;
}

/* ---- the functions ---- */

static unsigned bucket_of(const void *address)
{
    const uint64_t value = (uintptr_t)address;
    return (unsigned)((value >> 2 ^ value >> 16) % BUCKETS);
}

/* Finds the function at an address. If several functions have the address, prefers one of `module` (canonical, may be
   NULL); otherwise returns the one that was added first, for example NtClose rather than ZwClose. The search does not
   stop at the first match: a bucket begins with the function that was added last, so its last match is the oldest. */
static struct api_function *function_find(const void *address, const char *module)
{
    struct api_function *found = NULL, *any = NULL;
    const size_t length = module ? strlen(module) : 0;
    for (struct api_function *f = buckets[bucket_of(address)]; f; f = f->next) {
        if (f->real != address || f->generation != generation)
            continue;
        any = f;
        if (!module || (strncmp(f->name, module, length) == 0 && f->name[length] == '!'))
            found = f;
    }
    return found ? found : any;
}

/* Returns true if a thunk must not insert a frame before the function. Such a function continues execution elsewhere,
   reads its caller's frame, or never returns. */
static bool is_frameless(const char *name)
{
    static const char *const names[] = {"setjmp",
                                        "longjmp",
                                        "RtlCaptureContext",
                                        "RtlUnwind",
                                        "RtlRestoreContext",
                                        "NtContinue",
                                        "ZwContinue",
                                        "RtlCaptureStackBackTrace",
                                        "CaptureStackBackTrace",
                                        "ExitThread",
                                        "ExitProcess",
                                        "TerminateProcess",
                                        "FreeLibraryAndExitThread",
                                        "RtlExitUserThread",
                                        "RtlExitUserProcess",
                                        "RtlRaiseException",
                                        "RaiseException",
                                        "RaiseFailFastException",
                                        "NtRaiseException",
                                        "ZwRaiseException",
                                        "KiUser",
                                        "RtlUserThreadStart",
                                        "LdrInitializeThunk",
                                        "SwitchToFiber",
                                        "chkstk",
                                        "C_specific_handler",
                                        "local_unwind",
                                        "except_handler",
                                        "exit",
                                        "quick_exit",
                                        "abort",
                                        "endthread"};
    while (*name == '_')
        name++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

#ifdef _WIN64
static bool is_unhookable(const char *name)
{
    (void)name;
    return false;
}

static bool uses_reals(const struct api_signature *signature)
{
    bool uses = signature->result == API_FLOAT || signature->result == API_DOUBLE;
    for (unsigned i = 0; i < signature->count; i++)
        uses |= signature->arguments[i] == API_FLOAT || signature->arguments[i] == API_DOUBLE ||
                signature->arguments[i] == API_STRUCTURE;
    return uses;
}

static uint32_t stack_words(const struct api_signature *signature)
{
    const uint32_t words = signature->count > 4 ? signature->count - 4u : 0;
    return words + (words & 1);
}

/* mov r11, function; jmp [cell] */
static void stub_write(struct api_function *f, uint8_t *to)
{
    const int32_t distance =
        (int32_t)(stubs + (f->typed ? CELL_FRAMED : CELL_NAMES) * sizeof(void *) - (f->stub + STUB_BYTES));
    memcpy(to, "\x49\xBB", 2);
    memcpy(to + STUB_FUNCTION, &f, sizeof f);
    memcpy(to + 10, "\xFF\x25", 2);
    memcpy(to + 12, &distance, sizeof distance);
}
#else
/* Returns whether the function takes an argument in eax or preserves its caller's eax. */
static bool is_unhookable(const char *name)
{
    static const char *const names[] = {
        "chkstk", "alloca_probe", "EH_prolog", "SEH_prolog", "CxxFrameHandler", "KiFastSystemCall", "KiIntSystemCall",
        "wine_",  "allshl",       "allshr",    "aullshr",    "chkesp",          "vbaChkstk"};
    while (*name == '_')
        name++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool uses_reals(const struct api_signature *signature)
{
    return signature->result == API_FLOAT || signature->result == API_DOUBLE;
}

static uint32_t stack_words(const struct api_signature *signature)
{
    uint32_t words = 0;
    for (unsigned i = 0; i < signature->count; i++)
        words += signature->arguments[i] == API_STRUCTURE ? STRUCTURE_WORDS : api_words_32(signature->arguments[i]);
    return words;
}

/* mov eax, function; jmp [cell] */
static void stub_write(struct api_function *f, uint8_t *to)
{
    const void *cell = stubs + (f->typed ? CELL_FRAMED : CELL_NAMES) * sizeof(void *);
    *to = 0xB8;
    memcpy(to + STUB_FUNCTION, &f, sizeof f);
    memcpy(to + 5, "\xFF\x25", 2);
    memcpy(to + 7, &cell, sizeof cell);
}
#endif

static struct api_function *function_create(const char *name, void *real)
{
    if (stub_bytes_used + STUB_BYTES > STUBS_BYTES)
        return NULL;
    const size_t bytes = strlen(name) + 1;
    struct api_function *f = memory_zero(1, sizeof *f + bytes);
    if (!f)
        return NULL;
    void *own = resolver_own(real);
    const char *api = strchr(name, '!') + 1;
    f->real = real;
    f->target = own ? own : real;
    f->name_bytes = (uint32_t)bytes;
    memcpy(f->name, name, bytes);
    f->typed = !is_frameless(api) && api_signature_find(api, &f->signature);
    f->stack_words = f->typed ? stack_words(&f->signature) : 0;
    f->reals = f->typed && uses_reals(&f->signature);
    f->stub = stubs + stub_bytes_used;
    stub_write(f, stubs_writable + stub_bytes_used);
    stub_bytes_used += STUB_BYTES;
    f->next = buckets[bucket_of(real)];
    buckets[bucket_of(real)] = f; /* publish *f after all its members are set, because readers take no lock */
    return f;
}

static void function_add(const char *name, void *real)
{
    struct api_function *f = buckets[bucket_of(real)];
    while (f && (f->real != real || strcmp(f->name, name) != 0))
        f = f->next;
    if (!f)
        f = function_create(name, real);
    if (f && f->generation != generation) {
        f->generation = generation;
        function_count++;
    }
}

/* ---- modules ---- */

/* A module whose tables are being walked. */
struct walk {
    HMODULE module;
    char name[MODULE_NAME]; /* canonical */
    enum api_module_use use;
    struct api_image image;
    bool hook;
};

static void canonical_name(const WCHAR *path, size_t units, char out[MODULE_NAME])
{
    size_t begin = units, length = 0;
    while (begin && path[begin - 1] != '\\' && path[begin - 1] != '/')
        begin--;
    for (; begin < units && length < MODULE_NAME - 1; begin++)
        out[length++] = (char)(path[begin] >= 'A' && path[begin] <= 'Z' ? path[begin] + 32
                               : path[begin] < 0x80                     ? path[begin]
                                                                        : '?');
    if (length > 4 && memcmp(out + length - 4, ".dll", 4) == 0)
        length -= 4;
    out[length] = 0;
}

static void lower_copy(const char *from, char *to, size_t room)
{
    size_t i = 0;
    for (; from[i] && i + 1 < room; i++)
        to[i] = (char)(from[i] >= 'A' && from[i] <= 'Z' ? from[i] + 32 : from[i]);
    to[i] = 0;
}

static void take_export(void *user, const struct api_export *found)
{
    const struct walk *w = user;
    char name[API_NAME], lower[API_NAME];
    const int length = snprintf(name, sizeof name, "%s!%s", w->name, found->name);
    if (length < 0 || length >= (int)sizeof name)
        return;
    lower_copy(name, lower, sizeof lower);
    if (!api_settings_has(settings, w->use, lower) || is_unhookable(found->name))
        return;
    void *at = w->image.base + found->rva;
    if (found->forwards) {
        struct api_image target;
        void *base = NULL;
        at = ((FARPROC(WINAPI *)(HMODULE, LPCSTR))resolvers[RESOLVE_NAME].real)(w->module, found->name);
        if (!at || !RtlPcToFileHeader(at, &base) || !base || !api_image_read(base, UINT32_MAX, &target) ||
            !api_image_is_code(&target, (uint32_t)((uint8_t *)at - (uint8_t *)base)))
            return;
    } else if (!api_image_is_code(&w->image, found->rva)) {
        return;
    }
    function_add(name, at);
}

static void add_exports(void *argument)
{
    struct walk *w = argument;
    if (api_image_read(w->module, UINT32_MAX, &w->image))
        (void)api_image_exports(&w->image, take_export, w);
}

static bool is_stub(const void *address)
{
    return (const uint8_t *)address >= stubs + CELLS_BYTES && (const uint8_t *)address < stubs + stub_bytes_used;
}

/* Replaces the value of a slot. If the program has changed the slot since it was read, its new value stays. */
static void slot_put(void **slot, void *from, void *value)
{
    MEMORY_BASIC_INFORMATION page;
    DWORD before = 0;
    const bool writable = VirtualQuery(slot, &page, sizeof page) &&
                          (page.Protect & (PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE));
    if (!writable && !VirtualProtect(slot, sizeof *slot, PAGE_READWRITE, &before))
        return;
    if (InterlockedCompareExchangePointer(slot, value, from) == from)
        slot_count++;
    if (!writable)
        VirtualProtect(slot, sizeof *slot, before, &before);
}

static void take_slot(void *user, const char *dll, void **slot)
{
    const struct walk *w = user;
    void *value = *slot;
    if (w->hook) {
        char name[MODULE_NAME];
        lower_copy(dll, name, sizeof name);
        const size_t length = strlen(name);
        if (length > 4 && strcmp(name + length - 4, ".dll") == 0)
            name[length - 4] = 0;
        const struct api_function *f = is_stub(value) ? NULL : function_find(value, name);
        if (f)
            slot_put(slot, value, f->stub);
        else if (resolver_own(value))
            slot_put(slot, value, resolver_own(value));
    } else if (is_stub(value)) {
        struct api_function *f;
        memcpy(&f, (uint8_t *)value + STUB_FUNCTION, sizeof f);
        slot_put(slot, value, f->real);
    } else if (resolver_real(value)) {
        slot_put(slot, value, resolver_real(value));
    }
}

static void walk_imports(void *argument)
{
    struct walk *w = argument;
    if (api_image_read(w->module, UINT32_MAX, &w->image))
        (void)api_image_imports(&w->image, take_slot, w);
}

static void module_imports(HMODULE module, bool hook)
{
    struct walk w = {.module = module, .hook = hook};
    (void)guard_call(walk_imports, &w, GUARD_TAKES_BAD_ADDRESSES, NULL);
}

static bool is_ours(const void *module)
{
    return module == own_module || module == events_module;
}

static void module_exports(HMODULE module, const WCHAR *path, size_t units)
{
    struct walk w = {.module = module};
    if (is_ours(module))
        return;
    canonical_name(path, units, w.name);
    w.use = api_settings_module(settings, w.name);
    if (w.use != API_MODULE_UNUSED)
        (void)guard_call(add_exports, &w, GUARD_TAKES_BAD_ADDRESSES, NULL);
}

static uint32_t module_size(HMODULE module)
{
    struct api_image image;
    return api_image_read(module, UINT32_MAX, &image) ? image.size : 0;
}

enum pass { PASS_EXPORTS, PASS_HOOK, PASS_UNHOOK, PASS_REPORT };

static void each_module(enum pass pass)
{
    LIST_ENTRY *head = &((PEB *)(uintptr_t)teb_get(TEB_PEB))->Ldr->InMemoryOrderModuleList;
    const HMODULE program = GetModuleHandleW(NULL);
    for (LIST_ENTRY *at = head->Flink; at != head; at = at->Flink) {
        LDR_DATA_TABLE_ENTRY *e = CONTAINING_RECORD(at, LDR_DATA_TABLE_ENTRY, InMemoryOrderLinks);
        const HMODULE module = e->DllBase;
        const WCHAR *path = e->FullDllName.Buffer;
        const size_t units = e->FullDllName.Length / sizeof(WCHAR);
        if (pass == PASS_EXPORTS)
            module_exports(module, path, units);
        else if (pass == PASS_REPORT)
            api_events_module(module, module_size(module), path, units);
        else if (!is_ours(module) &&
                 (pass == PASS_UNHOOK || module == program || (settings->flags & API_TRACE_RECURSIVE)))
            module_imports(module, pass == PASS_HOOK);
    }
}

/* Takes the loader's lock, under which the list of modules does not change. The lock's owner may be waiting for one of
   our callbacks, so the number of attempts is limited. After the last attempt the caller continues without the lock;
   otherwise a program could never be unhooked. */
static bool loader_lock(ULONG_PTR *cookie)
{
    enum { TRY_ONLY = 2, TAKEN = 1 };
    NTSTATUS NTAPI LdrLockLoaderLock(ULONG flags, ULONG * result, ULONG_PTR * cookie);
    for (int i = 0; i < LOADER_TRIES; i++) {
        ULONG result = 0;
        if (LdrLockLoaderLock(TRY_ONLY, &result, cookie) >= 0 && result == TAKEN)
            return true;
        Sleep(1);
    }
    return false;
}

static void loader_unlock(ULONG_PTR cookie)
{
    NTSTATUS NTAPI LdrUnlockLoaderLock(ULONG flags, ULONG_PTR cookie);
    LdrUnlockLoaderLock(0, cookie);
}

/* The data of the loader's notification about a module that was loaded or unloaded. The loader's lock is held during
   the notification. */
struct loaded_module {
    ULONG flags;
    const UNICODE_STRING *path, *name;
    void *base;
    ULONG size;
};

/* Excludes the functions of an unloaded module from function_find, because another module can be loaded at its
   address. */
static void forget_functions(const uint8_t *base, size_t size)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct api_function *f = buckets[i]; f; f = f->next)
            if ((uint8_t *)f->real >= base && (uint8_t *)f->real < base + size)
                f->generation = 0;
}

static VOID CALLBACK on_module(ULONG reason, const struct loaded_module *m, void *user)
{
    enum { LOADED = 1, UNLOADED = 2 };
    const uintptr_t before = api_guard();
    (void)user;
    api_guard_set(1);
    EnterCriticalSection(&hook_lock);
    if (settings && reason == LOADED) {
        module_exports(m->base, m->path->Buffer, m->path->Length / sizeof(WCHAR));
        if (!is_ours(m->base) && (settings->flags & API_TRACE_RECURSIVE))
            module_imports(m->base, true);
        api_events_module(m->base, m->size, m->path->Buffer, m->path->Length / sizeof(WCHAR));
    } else if (reason == UNLOADED) {
        forget_functions(m->base, m->size);
    }
    LeaveCriticalSection(&hook_lock);
    api_guard_set(before);
}

/* ---- replacements of the functions that resolve names ---- */

/* Returns the address to give to the program: the stub of a hooked function, our version of a function that resolves
   names, or the address itself. */
static void *answer(HMODULE module, void *real)
{
    const bool logging = atomic_load_explicit(&api_logging, memory_order_relaxed);
    char name[MODULE_NAME];
    WCHAR path[MAX_PATH];
    if (!real || !logging)
        return real;
    const struct api_function *f = function_find(real, NULL);
    if (f && f->next && module) { /* several modules may export this address */
        const uintptr_t before = api_guard();
        const DWORD error = GetLastError();
        api_guard_set(1);
        const DWORD units = GetModuleFileNameW(module, path, MAX_PATH);
        canonical_name(path, units < MAX_PATH ? units : 0, name);
        SetLastError(error);
        api_guard_set(before);
        f = function_find(real, name);
    }
    if (f)
        return f->stub;
    void *own = resolver_own(real);
    return own ? own : real;
}

static FARPROC WINAPI own_GetProcAddress(HMODULE module, LPCSTR name)
{
    return (FARPROC)answer(module,
                           (void *)((FARPROC(WINAPI *)(HMODULE, LPCSTR))resolvers[RESOLVE_NAME].real)(module, name));
}

static NTSTATUS NTAPI own_LdrGetProcedureAddress(HMODULE module, const ANSI_STRING *name, ULONG number, void **out)
{
    const NTSTATUS status =
        ((NTSTATUS(NTAPI *)(HMODULE, const ANSI_STRING *, ULONG, void **))resolvers[RESOLVE_LOADER].real)(module, name,
                                                                                                          number, out);
    if (status >= 0)
        *out = answer(module, *out);
    return status;
}

static void *WINAPI own_ResolveDelayLoadedAPI(void *base, const void *descriptor, void *hook, void *system_hook,
                                              void **slot, ULONG flags)
{
    void *real =
        ((void *(WINAPI *)(void *, const void *, void *, void *, void **, ULONG))resolvers[RESOLVE_DELAYED].real)(
            base, descriptor, hook, system_hook, slot, flags);
    void *stub = answer(NULL, real);
    if (stub != real && *slot == real)
        slot_put(slot, real, stub);
    return stub;
}

/* ---- hooking and unhooking ---- */

bool api_hook_begin(HMODULE own, HMODULE events)
{
    typedef NTSTATUS(NTAPI * register_notification)(ULONG, void *, void *, void **);
    void *cookie;
    own_module = own;
    events_module = events;
    InitializeCriticalSection(&hook_lock);
    HANDLE section = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_EXECUTE_READWRITE, 0, STUBS_BYTES, NULL);
    if (!section)
        return false;
    stubs = MapViewOfFile(section, FILE_MAP_READ | FILE_MAP_EXECUTE, 0, 0, STUBS_BYTES);
    stubs_writable = MapViewOfFile(section, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, STUBS_BYTES);
    CloseHandle(section);
    if (!stubs || !stubs_writable)
        return false;
    cells = (void *volatile *)(void *)stubs_writable;
    cells[CELL_FRAMED] = cells[CELL_NAMES] = (void *)api_thunk_pass;
    for (int i = 0; i < RESOLVERS; i++)
        resolvers[i].real = (void *)GetProcAddress(GetModuleHandleW(resolvers[i].module), resolvers[i].name);
    const register_notification notify =
        (register_notification)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "LdrRegisterDllNotification");
    if (notify)
        notify(0, (void *)on_module, NULL, &cookie);
    return resolvers[RESOLVE_NAME].real != NULL;
}

void api_hook_install(const struct api_settings *s)
{
    ULONG_PTR cookie;
    const bool locked = loader_lock(&cookie);
    EnterCriticalSection(&hook_lock);
    settings = s;
    generation++;
    function_count = slot_count = 0;
    each_module(PASS_EXPORTS);
    cells[CELL_FRAMED] = s->flags & API_TRACE_ARGUMENTS ? (void *)api_thunk_arguments : (void *)api_thunk_names;
    cells[CELL_NAMES] = (void *)api_thunk_names;
    each_module(PASS_HOOK);
    api_events_hooked(function_count, slot_count);
    each_module(PASS_REPORT);
    atomic_store(&api_logging, true);
    LeaveCriticalSection(&hook_lock);
    if (locked)
        loader_unlock(cookie);
}

void api_hook_remove(void)
{
    ULONG_PTR cookie;
    atomic_store(&api_logging, false);
    const bool locked = loader_lock(&cookie);
    EnterCriticalSection(&hook_lock);
    each_module(PASS_UNHOOK);
    cells[CELL_FRAMED] = cells[CELL_NAMES] = (void *)api_thunk_pass;
    settings = NULL;
    LeaveCriticalSection(&hook_lock);
    if (locked)
        loader_unlock(cookie);
}

void api_hook_abandon(void)
{
    atomic_store(&api_logging, false);
    cells[CELL_FRAMED] = cells[CELL_NAMES] = (void *)api_thunk_pass;
}

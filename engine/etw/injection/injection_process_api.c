/* SPDX-License-Identifier: MIT */
/* Injects openetw.dll into processes: the DLL becomes the first import of a process that has not started yet. If
   requested, the DLL is also injected into the children of that process. In an injected process, our functions replace
   some of Wine's system calls and call copies of the originals. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/controller/system_trace.h"
#include "engine/etw/decode/program_memory.h"
#include "engine/etw/injection.h"

#include <windows.h>
#include <winternl.h>
#include <string.h>

/* ---- system calls ---- */

/* Each of Wine's system calls consists of a few instructions without relative addresses, so a copy works anywhere
   (behaviour 24). The instructions: mov r10,rcx; mov eax,NUMBER; test byte [7FFE0308h],1; jne +3; syscall; ret; jmp +1;
   ret; call [7FFE1000h]; ret. */
static const uint8_t expected[32] = {0x4C, 0x8B, 0xD1, 0xB8, 0,    0,    0,    0,    0xF6, 0x04, 0x25,
                                     0x08, 0x03, 0xFE, 0x7F, 0x01, 0x75, 0x03, 0x0F, 0x05, 0xC3, 0xEB,
                                     0x01, 0xC3, 0xFF, 0x14, 0x25, 0x00, 0x10, 0xFE, 0x7F, 0xC3};
enum { NUMBER_BEGIN = 4, NUMBER_END = 8 };
/* The beginning of a jump to one of our functions: mov rax,ADDRESS. */
static const uint8_t taken[2] = {0x48, 0xB8};

static const uint8_t *find(const char *name)
{
    return (const uint8_t *)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name);
}

static bool is_original(const uint8_t *code)
{
    return code && memcmp(code, expected, NUMBER_BEGIN) == 0 &&
           memcmp(code + NUMBER_END, expected + NUMBER_END, sizeof expected - NUMBER_END) == 0;
}

bool injection_system_call_is_known(const char *name)
{
    const uint8_t *code = find(name);
    return is_original(code) || (code && memcmp(code, taken, sizeof taken) == 0);
}

void *injection_system_call_copy(const char *name)
{
    const uint8_t *code = find(name);
    DWORD before;
    if (!is_original(code))
        return NULL;
    void *copy = VirtualAlloc(NULL, sizeof expected, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!copy)
        return NULL;
    memcpy(copy, code, sizeof expected);
    if (VirtualProtect(copy, sizeof expected, PAGE_EXECUTE_READ, &before))
        return copy;
    VirtualFree(copy, 0, MEM_RELEASE);
    return NULL;
}

/* ---- the first import ---- */

#define DLL         L"openetw.dll"
#define GRANULARITY 0x10000u
#define FARTHEST    0x7FFF0000u /* the maximum distance of imports from the beginning of an image */

static HRESULT failed(const char *name, const char *what)
{
    const DWORD code = GetLastError();
    return error_set(HRESULT_FROM_WIN32(code ? code : ERROR_GEN_FAILURE), "cannot inject into '%s': %s (error %lu)",
                     name, what, code);
}

/* Appends the name of our DLL to the folder; uses the folder's short name if `brief`. */
static WCHAR *dll_below(const WCHAR *folder, bool brief)
{
    const DWORD room = 32768;
    WCHAR *path = memory_alloc((room + sizeof DLL / sizeof(WCHAR)) * sizeof(WCHAR));
    DWORD length = !path   ? 0
                   : brief ? GetShortPathNameW(folder, path, room)
                           : GetFullPathNameW(folder, room, path, NULL);
    if (!length || length >= room) {
        memory_free(path);
        return NULL;
    }
    wcscat(path, path[length - 1] == '\\' ? DLL : L"\\" DLL);
    return path;
}

/* Converts each UTF-16 unit to a byte. Returns NULL if a unit does not fit into a byte or memory runs out. */
static char *as_bytes(const WCHAR *path)
{
    const size_t length = wcslen(path);
    char *bytes = memory_alloc(length + 1);
    for (size_t i = 0; bytes && i <= length; i++) {
        if (path[i] > 0xFF) {
            memory_free(bytes);
            return NULL;
        }
        bytes[i] = (char)path[i];
    }
    return bytes;
}

HRESULT injection_dll_path(const char *folder, char **out)
{
    WCHAR *wide;
    HRESULT hr = text_to_utf16(folder, &wide, NULL);
    *out = NULL;
    for (int brief = 0; SUCCEEDED(hr) && !*out && brief < 2; brief++) {
        WCHAR *path = dll_below(wide, brief);
        *out = path ? as_bytes(path) : NULL;
        memory_free(path);
    }
    memory_free(FAILED(hr) ? NULL : wide);
    if (SUCCEEDED(hr) && !*out)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME),
                       "cannot inject from '%s': Wine's loader does not support the name of this folder (install "
                       "OpenPLA in another)",
                       folder);
    return hr;
}

struct target {
    HANDLE process;
    uint8_t *base; /* address of the program's image */
};

static HRESULT read_memory(void *user, uint64_t offset, void *to, size_t size)
{
    const struct target *t = user;
    SIZE_T got;
    return offset <= UINT32_MAX && ReadProcessMemory(t->process, t->base + offset, to, size, &got) && got == size
               ? S_OK
               : HRESULT_FROM_WIN32(ERROR_PARTIAL_COPY);
}

static HRESULT find_image(struct target *t, const char *name)
{
    PROCESS_BASIC_INFORMATION basic;
    SIZE_T got;
    BOOL narrow = FALSE;
    if (IsWow64Process(t->process, &narrow) && narrow)
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT),
                         "cannot inject into '%s': a 32-bit program (only 64-bit programs are supported)", name);
    if (NtQueryInformationProcess(t->process, ProcessBasicInformation, &basic, sizeof basic, NULL) < 0 ||
        !ReadProcessMemory(t->process, (BYTE *)basic.PebBaseAddress + offsetof(PEB, Reserved3[1]), &t->base,
                           sizeof t->base, &got) ||
        got != sizeof t->base || !t->base)
        return failed(name, "cannot read its process");
    return S_OK;
}

/* Allocates memory after the image, at most FARTHEST bytes from its beginning. */
static uint8_t *allocate_behind(const struct target *t, uint32_t image_size, size_t size)
{
    MEMORY_BASIC_INFORMATION found;
    for (uint64_t at = image_size; at + size < FARTHEST;) {
        at = (at + GRANULARITY - 1) & ~(uint64_t)(GRANULARITY - 1);
        if (!VirtualQueryEx(t->process, t->base + at, &found, sizeof found))
            return NULL;
        const uint64_t end = (uint64_t)((uint8_t *)found.BaseAddress - t->base) + found.RegionSize;
        if (found.State == MEM_FREE && end >= at + size) {
            uint8_t *memory = VirtualAllocEx(t->process, t->base + at, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
            if (memory)
                return memory;
        }
        at = end > at ? end : at + GRANULARITY;
    }
    return NULL;
}

/* Writes an entry (RVA and size) of the headers, which are read-only. */
static bool write_header(const struct target *t, uint32_t offset, uint32_t rva, uint32_t size)
{
    const uint32_t entry[2] = {rva, size};
    DWORD before;
    SIZE_T done;
    if (!VirtualProtectEx(t->process, t->base + offset, sizeof entry, PAGE_READWRITE, &before))
        return false;
    const bool ok =
        WriteProcessMemory(t->process, t->base + offset, entry, sizeof entry, &done) && done == sizeof entry;
    VirtualProtectEx(t->process, t->base + offset, sizeof entry, before, &before);
    return ok;
}

static HRESULT put_block(const struct target *t, const struct injection_image *image, const char *name,
                         struct injection_block *block)
{
    SIZE_T done;
    uint8_t *memory = allocate_behind(t, image->size, block->size);
    if (!memory)
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY),
                         "cannot inject into '%s': no memory for another import can be allocated after its image",
                         name);
    const uint32_t rva = (uint32_t)(memory - t->base);
    injection_block_place(block, rva);
    /* The loader would use bound imports instead of the import directory, so their entry is cleared. */
    if (WriteProcessMemory(t->process, memory, block->bytes, block->size, &done) && done == block->size &&
        (!image->bound_entry || write_header(t, image->bound_entry, 0, 0)) &&
        write_header(t, image->import_entry, rva, block->directory))
        return S_OK;
    HRESULT hr = failed(name, "cannot write its imports");
    VirtualFreeEx(t->process, memory, 0, MEM_RELEASE);
    return hr;
}

HRESULT injection_into_process(void *process, const char *name, const char *dll, bool children)
{
    struct target t = {.process = process};
    const struct injection_source memory = {read_memory, &t};
    struct injection_image image;
    struct injection_block block;
    HRESULT hr = find_image(&t, name);
    if (SUCCEEDED(hr))
        hr = injection_image_read(&memory, name, &image);
    if (FAILED(hr))
        return hr;
    bool already;
    struct injection_entries before;
    if (injection_image_has_import(&memory, &image, &already, &before) == S_OK)
        return S_FALSE;
    hr =
        injection_block_make(&memory, &image, name, dll, children ? INJECTION_ENTRY_CHILDREN : INJECTION_ENTRY, &block);
    if (FAILED(hr))
        return hr;
    hr = put_block(&t, &image, name, &block);
    memory_free(block.bytes);
    return hr;
}

HRESULT injection_exports_add(void *module, const struct injection_export *more, size_t count)
{
    const struct target t = {GetCurrentProcess(), module};
    struct injection_exports e;
    DWORD before;
    HRESULT hr = injection_exports_plan(module, more, count, &e);
    if (hr != S_OK)
        return hr;
    uint8_t *memory = allocate_behind(&t, e.image_size, e.size);
    const uint32_t rva = memory ? (uint32_t)(memory - t.base) : 0;
    if (memory) {
        injection_exports_build(&e, rva, memory);
        if (VirtualProtect(memory, e.size, PAGE_EXECUTE_READ, &before) && write_header(&t, e.entry, rva, e.directory))
            memory = NULL; /* the memory belongs to the module from now on */
        else
            hr = failed("this process", "cannot write the header of a module");
    } else {
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY), "cannot add exports: no memory after the module");
    }
    if (memory)
        VirtualFree(memory, 0, MEM_RELEASE);
    injection_exports_free(&e);
    return hr;
}

bool injection_restore_self(bool *children)
{
    const struct target t = {GetCurrentProcess(), (uint8_t *)GetModuleHandleW(NULL)};
    const struct injection_source memory = {read_memory, (void *)&t};
    struct injection_image image;
    struct injection_entries before;
    if (FAILED(injection_image_read(&memory, "", &image)) ||
        injection_image_has_import(&memory, &image, children, &before) != S_OK)
        return false;
    write_header(&t, image.import_entry, before.imports, before.imports_size);
    if (image.bound_entry)
        write_header(&t, image.bound_entry, before.bound, before.bound_size);
    return true;
}

/* ---- children ---- */

/* Whichever function a program calls to start a child process, Wine finally calls ntdll's NtCreateUserProcess. Our
   replacement calls a copy of the original. */

#define CREATE_SUSPENDED_THREAD 1 /* THREAD_CREATE_FLAGS_CREATE_SUSPENDED */

#define CREATE_PROCESS          "NtCreateUserProcess"

typedef NTSTATUS(NTAPI *create_function)(HANDLE *process, HANDLE *thread, ACCESS_MASK, ACCESS_MASK, void *, void *,
                                         ULONG process_flags, ULONG thread_flags, void *, void *, void *);
static create_function original_create;
static char *dll_path;

HRESULT injection_children_supported(void)
{
    return injection_system_call_is_known(CREATE_PROCESS)
               ? S_OK
               : error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                           "cannot inject into child processes: this version of Wine is not supported");
}

/* Creates the process suspended, injects the DLL and, unless the caller wants the process suspended, resumes it. Child
   processes that do not support injection (32 bits, .NET) run unchanged. */
static NTSTATUS NTAPI create_injected(HANDLE *process, HANDLE *thread, ACCESS_MASK process_access,
                                      ACCESS_MASK thread_access, void *process_attributes, void *thread_attributes,
                                      ULONG process_flags, ULONG thread_flags, void *parameters, void *info,
                                      void *attributes)
{
    const DWORD error = GetLastError();
    const NTSTATUS status =
        original_create(process, thread, process_access, thread_access, process_attributes, thread_attributes,
                        process_flags, thread_flags | CREATE_SUSPENDED_THREAD, parameters, info, attributes);
    if (status < 0)
        return status;
    injection_into_process(*process, "", dll_path, true);
    if (!(thread_flags & CREATE_SUSPENDED_THREAD))
        ResumeThread(*thread);
    SetLastError(error);
    return status;
}

void *injection_children_begin(const char *path)
{
    dll_path = text_copy(path);
    original_create = dll_path ? (create_function)injection_system_call_copy(CREATE_PROCESS) : NULL;
    return original_create ? (void *)create_injected : NULL;
}

/* ---- system information ---- */

/* NtQuerySystemInformation and NtSetSystemInformation in an injected process. Our replacements handle
   SystemPerformanceTraceInformation; they pass all other classes to Wine's original functions. */

typedef NTSTATUS(NTAPI *query_function)(ULONG what, void *information, ULONG bytes, ULONG *need);
typedef NTSTATUS(NTAPI *set_function)(ULONG what, void *information, ULONG bytes);
static query_function original_query;
static set_function original_set;

static NTSTATUS NTAPI process_query(ULONG what, void *information, ULONG bytes, ULONG *need)
{
    int32_t status;
    uint32_t own;
    if (what != SYSTEM_PERFORMANCE_TRACE || !system_trace_query(information, bytes, &own, &status))
        return original_query(what, information, bytes, need);
    const ULONG answered = own;
    return !need || program_write(need, &answered, sizeof answered) ? status : (NTSTATUS)STATUS_ACCESS_VIOLATION;
}

static NTSTATUS NTAPI process_set(ULONG what, void *information, ULONG bytes)
{
    int32_t status;
    return what == SYSTEM_PERFORMANCE_TRACE && system_trace_set(information, bytes, &status)
               ? status
               : original_set(what, information, bytes);
}

void *injection_query_system_begin(void)
{
    original_query = (query_function)injection_system_call_copy("NtQuerySystemInformation");
    return original_query ? (void *)process_query : NULL;
}

void *injection_set_system_begin(void)
{
    original_set = (set_function)injection_system_call_copy("NtSetSystemInformation");
    return original_set ? (void *)process_set : NULL;
}

/* SPDX-License-Identifier: MIT */
/* Makes processes load openapitrace.dll: a new process at its entry point, a running process in a remote thread. In a
   new process, the first bytes at the entry point are replaced by a jump to a stub in new memory:

       entry point: jmp stub                            (replaces 5 of the 16 saved bytes)
       stub:        save the argument registers; make the page writable with VirtualProtect; restore the
                    16 bytes; restore the page's protection; LoadLibraryW(dll); set `done`; restore the
                    registers; jump to the entry point

   Thus the program's first thread loads the DLL, after the loader has resolved all imports and before the program runs
   any code other than TLS callbacks. The stub does not depend on the injecting process, so the program works even if
   that process is killed. A 32-bit process runs different code (api_entry_32.h) and loads the DLL from the folder x86.
   In a 32-bit process the page stays writable.

   The jump is as short as a call instruction. So if the code at the entry point has already called a function, the
   return address is after the jump. If no memory is free within 2 GB of the entry point, the jump is longer: mov rax,
   stub; jmp rax (12 bytes). */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/api_trace/api_entry_32.h"
#include "engine/etw/api_trace/api_inject.h"
#include "engine/etw/api_trace/api_watch.h"

#include <windows.h>
#include <winternl.h>
#include <string.h>

enum {
    ENTRY_BYTES = API_ENTRY_KEPT,
    JUMP_BYTES = 5, /* a near jump: opcode and distance from its end, in 32-bit and 64-bit code */
    STUB_ROOM = 4096,
    STUB_ALIGN = 1 << 16, /* VirtualAllocEx returns multiples of this */
    NEAR_REGIONS = 64,    /* regions after the entry point that are checked for free memory */
    STUB_DONE = 1024,
    STUB_PATH = 2048,
    PATH_UNITS = (STUB_ROOM - STUB_PATH) / sizeof(WCHAR),
    HEADERS_ROOM = 4096,
};

HRESULT api_inject_failed(const char *name, const char *what, DWORD code)
{
    return error_set(HRESULT_FROM_WIN32(code ? code : ERROR_GEN_FAILURE), "cannot trace '%s': %s (error %lu)", name,
                     what, code);
}

static HRESULT failed(const char *name, const char *what)
{
    return api_inject_failed(name, what, GetLastError());
}

static bool read_memory(HANDLE process, const void *from, void *to, size_t size)
{
    SIZE_T got = 0;
    return ReadProcessMemory(process, from, to, size, &got) && got == size;
}

static bool write_memory(HANDLE process, void *to, const void *from, size_t size)
{
    SIZE_T done = 0;
    return WriteProcessMemory(process, to, from, size, &done) && done == size;
}

static bool is_narrow(HANDLE process)
{
    BOOL narrow = FALSE;
    return IsWow64Process(process, &narrow) && narrow;
}

/* Returns the base address of the program, from the PEB of its process. */
static uint8_t *program_base(HANDLE process)
{
    enum { IMAGE_BASE_32 = 8 }; /* offset of ImageBaseAddress in a 32-bit PEB */
    PROCESS_BASIC_INFORMATION basic;
    uint8_t *base = NULL;
    if (is_narrow(process)) {
        ULONG_PTR peb = 0;
        uint32_t base_32 = 0;
        return NtQueryInformationProcess(process, ProcessWow64Information, &peb, sizeof peb, NULL) >= 0 && peb &&
                       read_memory(process, (uint8_t *)peb + IMAGE_BASE_32, &base_32, sizeof base_32)
                   ? (uint8_t *)(uintptr_t)base_32
                   : NULL;
    }
    return NtQueryInformationProcess(process, ProcessBasicInformation, &basic, sizeof basic, NULL) >= 0 &&
                   basic.PebBaseAddress &&
                   read_memory(process, (uint8_t *)basic.PebBaseAddress + offsetof(PEB, Reserved3[1]), &base,
                               sizeof base)
               ? base
               : NULL;
}

/* Finds the entry point of the program. S_FALSE: the process is not ready yet. */
static HRESULT find_entry(HANDLE process, const char *name, uint8_t **entry)
{
    uint8_t head[HEADERS_ROOM];
    IMAGE_DOS_HEADER dos;
    IMAGE_NT_HEADERS64 nt; /* the headers of 32-bit programs are the same up to AddressOfEntryPoint */
    const WORD magic = is_narrow(process) ? IMAGE_NT_OPTIONAL_HDR32_MAGIC : IMAGE_NT_OPTIONAL_HDR64_MAGIC;
    uint8_t *base = program_base(process);
    if (!base || !read_memory(process, base, head, sizeof head))
        return S_FALSE;
    memcpy(&dos, head, sizeof dos);
    if (dos.e_lfanew < 0 || (size_t)dos.e_lfanew > sizeof head - sizeof nt)
        return api_inject_failed(name, "its headers are not readable", ERROR_BAD_EXE_FORMAT);
    memcpy(&nt, head + dos.e_lfanew, sizeof nt);
    if (nt.OptionalHeader.Magic != magic || !nt.OptionalHeader.AddressOfEntryPoint)
        return api_inject_failed(name, "it has no entry point", ERROR_BAD_EXE_FORMAT);
    *entry = base + nt.OptionalHeader.AddressOfEntryPoint;
    return S_OK;
}

struct code {
    uint8_t bytes[256];
    size_t size;
};

static void code_add(struct code *c, const void *bytes, size_t size)
{
    memcpy(c->bytes + c->size, bytes, size);
    c->size += size;
}

static void code_add_move(struct code *c, const char *instruction, uint64_t value)
{
    code_add(c, instruction, 2);
    code_add(c, &value, sizeof value);
}

/* Adds a call of VirtualProtect for the bytes at the entry point. Functions of kernel32 have the same address in all
   processes. */
static void code_add_protect(struct code *c, const struct api_entry *e, DWORD protection)
{
    code_add_move(c, "\x48\xB9", (uintptr_t)e->entry); /* mov rcx, entry */
    code_add(c, "\xBA\x10\x00\x00\x00\x41\xB8", 7);    /* mov edx, ENTRY_BYTES; mov r8d, protection */
    code_add(c, &protection, sizeof protection);
    code_add(c, "\x4C\x8D\x4C\x24\x20", 5);                  /* lea r9, [rsp+20h] */
    code_add_move(c, "\x48\xB8", (uintptr_t)VirtualProtect); /* mov rax, VirtualProtect */
    code_add(c, "\xFF\xD0", 2);                              /* call rax */
}

/* Assembles the stub for the address e->stub. The stub makes the page of the entry point writable again: the stub of a
   second injecting program may have run first and restored the protection. */
static void make_stub(const struct api_entry *e, struct code *c)
{
    const uintptr_t path = (uintptr_t)(e->stub + STUB_PATH), done = (uintptr_t)e->done;
    uint64_t kept[2];
    memcpy(kept, e->kept, sizeof kept);
    c->size = 0;
    code_add(c, "\x51\x52\x41\x50\x41\x51\x48\x83\xEC\x28", 10); /* push rcx, rdx, r8, r9; sub rsp, 28h */
    code_add_protect(c, e, PAGE_EXECUTE_READWRITE);
    code_add_move(c, "\x48\xB8", (uintptr_t)e->entry); /* mov rax, entry */
    code_add_move(c, "\x48\xBA", kept[0]);             /* mov rdx, first half */
    code_add(c, "\x48\x89\x10", 3);                    /* mov [rax], rdx */
    code_add_move(c, "\x48\xBA", kept[1]);
    code_add(c, "\x48\x89\x50\x08", 4); /* mov [rax+8], rdx */
    code_add_protect(c, e, e->protection);
    code_add_move(c, "\x48\xB9", path); /* mov rcx, path */
    code_add_move(c, "\x48\xB8", (uintptr_t)LoadLibraryW);
    code_add(c, "\xFF\xD0", 2);
    code_add_move(c, "\x48\xBA", done); /* mov rdx, done */
    code_add(c, "\xC6\x02\x01", 3);     /* mov byte [rdx], 1 */
    code_add_move(c, "\x48\xB8", (uintptr_t)e->entry);
    code_add(c, "\x48\x83\xC4\x28\x41\x59\x41\x58\x5A\x59\xFF\xE0",
             12); /* add rsp, 28h; pop r9, r8, rdx, rcx; jmp rax */
}

/* Returns the path of the DLL for 64-bit or (`narrow`) 32-bit programs; from memory_alloc. */
static char *dll_name(bool narrow)
{
    char *folder = os_module_folder();
    char *path = folder ? text_format(narrow ? "%s\\x86\\%s" : "%s\\%s", folder, API_TRACE_DLL) : NULL;
    memory_free(folder);
    return path;
}

/* Finds the DLL for a 64-bit or (`narrow`) 32-bit process. */
static HRESULT find_dll(const char *name, bool narrow, WCHAR out[PATH_UNITS])
{
    WCHAR *wide = NULL;
    size_t units = 0;
    char *path = dll_name(narrow);
    const bool good = path && SUCCEEDED(text_to_utf16(path, &wide, &units)) && units < PATH_UNITS;
    if (good)
        memcpy(out, wide, (units + 1) * sizeof(WCHAR));
    memory_free(wide);
    memory_free(path);
    if (!good)
        return api_inject_failed(name, "the path of " API_TRACE_DLL " is too long", ERROR_BAD_PATHNAME);
    if (GetFileAttributesW(out) == INVALID_FILE_ATTRIBUTES)
        return failed(name, narrow ? API_TRACE_DLL " is missing in the folder x86 beside this program"
                                   : API_TRACE_DLL " is missing beside this program");
    return S_OK;
}

/* Writes the stub of a 64-bit process. */
static bool stub_write(struct api_entry *e, const WCHAR *path)
{
    struct code code = {.size = 0};
    e->done = e->stub + STUB_DONE;
    e->routine = (void *)LoadLibraryW;
    e->argument = e->stub + STUB_PATH;
    make_stub(e, &code);
    return write_memory(e->process, e->stub, code.bytes, code.size) &&
           write_memory(e->process, e->stub + STUB_PATH, path, (wcslen(path) + 1) * sizeof(WCHAR));
}

/* Writes the stub of a 32-bit process. */
static bool stub_write_32(struct api_entry *e, const WCHAR *path)
{
    uint8_t bytes[API_ENTRY_32_ROOM];
    struct api_entry_32_places places = {0};
    const size_t size =
        api_entry_32_write((uint32_t)(uintptr_t)e->stub, (uint32_t)(uintptr_t)e->entry, e->kept, path, bytes, &places);
    e->done = e->stub + places.done;
    e->routine = e->stub + places.thread;
    return size && (uintptr_t)e->stub <= UINT32_MAX && write_memory(e->process, e->stub, bytes, size);
}

/* Computes the distance of a near jump from `entry` to `to`. Returns false if a near jump cannot reach `to` in a 64-bit
   process. In a 32-bit process a near jump reaches every address, so callers ignore the result. */
static bool near_distance(const uint8_t *entry, const uint8_t *to, int32_t *distance)
{
    const int64_t bytes = (int64_t)((uintptr_t)to - ((uintptr_t)entry + JUMP_BYTES));
    *distance = (int32_t)bytes;
    return bytes >= INT32_MIN && bytes <= INT32_MAX - STUB_ROOM;
}

static uint8_t *allocate(HANDLE process, uint8_t *at)
{
    return VirtualAllocEx(process, at, STUB_ROOM, MEM_RESERVE | MEM_COMMIT, PAGE_EXECUTE_READWRITE);
}

/* Allocates memory for the stub. If possible, the memory is where a near jump can reach it. `entry` can be NULL. */
static uint8_t *allocate_stub(HANDLE process, uint8_t *entry)
{
    MEMORY_BASIC_INFORMATION m;
    uint8_t *at = entry;
    int32_t distance;
    for (int i = 0; entry && i < NEAR_REGIONS && near_distance(entry, at, &distance) &&
                    VirtualQueryEx(process, at, &m, sizeof m) == sizeof m;
         i++) {
        uint8_t *const end = (uint8_t *)m.BaseAddress + m.RegionSize;
        uint8_t *from = (uint8_t *)(((uintptr_t)at + STUB_ALIGN - 1) & ~(uintptr_t)(STUB_ALIGN - 1));
        uint8_t *stub = m.State == MEM_FREE && from + STUB_ROOM <= end && near_distance(entry, from, &distance)
                            ? allocate(process, from)
                            : NULL;
        if (stub)
            return stub;
        at = end;
    }
    return allocate(process, NULL);
}

/* Allocates and writes the stub; `e->entry` is NULL if only a remote thread will run it. */
static HRESULT stub_create(struct api_entry *e, const char *name)
{
    WCHAR path[PATH_UNITS];
    const bool narrow = is_narrow(e->process);
    HRESULT hr = find_dll(name, narrow, path);
    if (FAILED(hr))
        return hr;
    e->stub = allocate_stub(e->process, narrow ? NULL : e->entry);
    if (!e->stub || (e->entry && !read_memory(e->process, e->entry, e->kept, sizeof e->kept)))
        return failed(name, "its memory is not accessible");
    return (narrow ? stub_write_32 : stub_write)(e, path) ? S_OK : failed(name, "its memory cannot be changed");
}

HRESULT api_entry_prepare(HANDLE process, const char *name, struct api_entry *e)
{
    *e = (struct api_entry){.process = process};
    HRESULT hr = find_entry(process, name, &e->entry);
    if (hr != S_OK)
        return hr;
    if (!VirtualProtectEx(process, e->entry, ENTRY_BYTES, PAGE_EXECUTE_READWRITE, &e->protection))
        return failed(name, "its memory cannot be changed");
    hr = stub_create(e, name);
    if (FAILED(hr))
        api_entry_protect(e);
    return hr;
}

HRESULT api_entry_replace(const struct api_entry *e, const char *name)
{
    uint8_t jump[ENTRY_BYTES];
    int32_t distance;
    memcpy(jump, e->kept, sizeof jump);
    if (near_distance(e->entry, e->stub, &distance) || is_narrow(e->process)) {
        jump[0] = 0xE9;
        memcpy(jump + 1, &distance, sizeof distance);
    } else {
        const uint64_t stub = (uintptr_t)e->stub;
        memcpy(jump, "\x48\xB8", 2);
        memcpy(jump + 2, &stub, sizeof stub);
        memcpy(jump + 10, "\xFF\xE0", 2);
    }
    return write_memory(e->process, e->entry, jump, sizeof jump) ? S_OK
                                                                 : failed(name, "its entry point cannot be changed");
}

bool api_entry_is_done(const struct api_entry *e)
{
    uint8_t done = 0;
    return read_memory(e->process, e->done, &done, sizeof done) && done;
}

void api_entry_protect(const struct api_entry *e)
{
    DWORD before;
    VirtualProtectEx(e->process, e->entry, ENTRY_BYTES, e->protection, &before);
}

HRESULT api_entry_thread(const struct api_entry *e, const char *name, HANDLE *thread)
{
    *thread = CreateRemoteThread(e->process, NULL, 0, (LPTHREAD_START_ROUTINE)e->routine, e->argument, 0, NULL);
    return *thread ? S_OK : failed(name, "no thread can be created in it");
}

HRESULT api_attach_prepare(HANDLE process, const char *name, struct api_entry *e)
{
    *e = (struct api_entry){.process = process};
    return stub_create(e, name);
}

HRESULT api_trace_inject(void *process, const char *name)
{
    struct api_entry e;
    HRESULT hr = api_entry_prepare(process, name, &e);
    if (hr == S_FALSE)
        return api_inject_failed(name, "its process cannot be read", ERROR_PARTIAL_COPY);
    return SUCCEEDED(hr) ? api_entry_replace(&e, name) : hr;
}

HRESULT api_trace_supported(void)
{
    return S_OK;
}

HRESULT api_trace_supports_32(const char *name)
{
    WCHAR path[MAX_PATH + 16];
    const UINT units = GetSystemWow64DirectoryW(path, MAX_PATH);
    if (units && units < MAX_PATH)
        wcscpy(path + units, L"\\ntdll.dll");
    if (!units || units >= MAX_PATH || GetFileAttributesW(path) == INVALID_FILE_ATTRIBUTES)
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT),
                         "cannot trace '%s': it is a 32-bit program, and this Wine runs only 64-bit programs (install "
                         "Wine's 32-bit part; the Debian package is wine32:i386)",
                         name);
    char *dll = dll_name(true);
    HRESULT hr = dll ? S_OK : E_OUTOFMEMORY;
    if (dll && !file_exists(dll))
        hr =
            error_set(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT),
                      "cannot trace '%s': it is a 32-bit program, and '%s' does not exist (install OpenPLA's files for "
                      "32-bit programs)",
                      name, dll);
    memory_free(dll);
    return hr;
}

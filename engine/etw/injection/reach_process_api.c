/* SPDX-License-Identifier: MIT */
/* openetw.dll becomes the first import of a process that has not begun. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/reach_image.h"
#include "engine/etw/reach_process.h"

#include <windows.h>
#include <winternl.h>

#define DLL         L"openetw.dll"
#define GRANULARITY 0x10000u
#define FARTHEST    0x7FFF0000u /* how far behind an image's beginning its imports may be */

static HRESULT failed(const char *name, const char *what)
{
    const DWORD code = GetLastError();
    return error_set(HRESULT_FROM_WIN32(code ? code : ERROR_GEN_FAILURE), "\"%s\": %s (error %lu)", name, what, code);
}

/* A folder's name with our DLL's behind it; the folder's short name if `brief`. */
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

/* Each unit as a byte; NULL: one does not fit. */
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

HRESULT reach_dll_path(const char *folder, char **out)
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
                       "\"%s\": Wine's loader cannot take this folder's name; OpenPLA has to be in another", folder);
    return hr;
}

struct target {
    HANDLE process;
    uint8_t *base; /* of its program's image */
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
                         "\"%s\": is a 32-bit program; only 64-bit ones can be reached", name);
    if (NtQueryInformationProcess(t->process, ProcessBasicInformation, &basic, sizeof basic, NULL) < 0 ||
        !ReadProcessMemory(t->process, (BYTE *)basic.PebBaseAddress + offsetof(PEB, Reserved3[1]), &t->base,
                           sizeof t->base, &got) ||
        got != sizeof t->base || !t->base)
        return failed(name, "its process cannot be looked into");
    return S_OK;
}

/* Memory behind the image, near enough for its imports. */
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

/* Into the headers, which are read-only. */
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

static HRESULT put_block(const struct target *t, const struct reach_image *image, const char *name,
                         struct reach_block *block)
{
    SIZE_T done;
    uint8_t *memory = allocate_behind(t, image->size, block->size);
    if (!memory)
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY),
                         "\"%s\": there is no memory behind its image for one import more", name);
    const uint32_t rva = (uint32_t)(memory - t->base);
    reach_block_place(block, rva);
    /* Bound imports are a short cut past what the directory says: without them it is read. */
    if (WriteProcessMemory(t->process, memory, block->bytes, block->size, &done) && done == block->size &&
        (!image->bound_entry || write_header(t, image->bound_entry, 0, 0)) &&
        write_header(t, image->import_entry, rva, block->directory))
        return S_OK;
    HRESULT hr = failed(name, "its imports cannot be written");
    VirtualFreeEx(t->process, memory, 0, MEM_RELEASE);
    return hr;
}

HRESULT reach_process(void *process, const char *name, const char *dll, bool children)
{
    struct target t = {.process = process};
    const struct reach_source memory = {read_memory, &t};
    struct reach_image image;
    struct reach_block block;
    HRESULT hr = find_image(&t, name);
    if (SUCCEEDED(hr))
        hr = reach_image_read(&memory, name, &image);
    if (FAILED(hr))
        return hr;
    bool already;
    struct reach_entries before;
    if (reach_image_is_reached(&memory, &image, &already, &before) == S_OK)
        return S_FALSE;
    hr = reach_block_make(&memory, &image, name, dll, children ? REACH_ENTRY_CHILDREN : REACH_ENTRY, &block);
    if (FAILED(hr))
        return hr;
    hr = put_block(&t, &image, name, &block);
    memory_free(block.bytes);
    return hr;
}

HRESULT reach_exports_add(void *module, const struct reach_export *more, size_t count)
{
    const struct target t = {GetCurrentProcess(), module};
    struct reach_exports e;
    DWORD before;
    HRESULT hr = reach_exports_plan(module, more, count, &e);
    if (hr != S_OK)
        return hr;
    uint8_t *memory = allocate_behind(&t, e.image_size, e.size);
    const uint32_t rva = memory ? (uint32_t)(memory - t.base) : 0;
    if (memory) {
        reach_exports_build(&e, rva, memory);
        if (VirtualProtect(memory, e.size, PAGE_EXECUTE_READ, &before) && write_header(&t, e.entry, rva, e.directory))
            memory = NULL; /* it is the module's from now on */
        else
            hr = failed("exports", "the module's header cannot be written");
    } else {
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY), "exports: no memory behind the module");
    }
    if (memory)
        VirtualFree(memory, 0, MEM_RELEASE);
    reach_exports_free(&e);
    return hr;
}

bool reach_self(bool *children)
{
    const struct target t = {GetCurrentProcess(), (uint8_t *)GetModuleHandleW(NULL)};
    const struct reach_source memory = {read_memory, (void *)&t};
    struct reach_image image;
    struct reach_entries before;
    if (FAILED(reach_image_read(&memory, "", &image)) ||
        reach_image_is_reached(&memory, &image, children, &before) != S_OK)
        return false;
    write_header(&t, image.import_entry, before.imports, before.imports_size);
    if (image.bound_entry)
        write_header(&t, image.bound_entry, before.bound, before.bound_size);
    return true;
}

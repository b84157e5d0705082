/* SPDX-License-Identifier: MIT */
/* The process list as NtQuerySystemInformation tells it: one call for all processes and their figures. */
#include "engine/os/process_list.h"
#include "engine/os/memory.h"
#include "engine/os/text.h"
#include <windows.h>
#include <winternl.h>
#include <string.h>

/* The documented and the long-known fields of SYSTEM_PROCESS_INFORMATION, 64 bits; threads follow. */
struct process_record {
    ULONG next;
    ULONG threads;
    LARGE_INTEGER reserved[3];
    LARGE_INTEGER start, user, kernel;
    UNICODE_STRING name;
    LONG priority;
    HANDLE id, parent;
    ULONG handles, reserved_2;
    ULONG_PTR key;
    SIZE_T peak_virtual, virtual_size;
    ULONG page_faults;
    SIZE_T peak_working_set, working_set;
};
_Static_assert(offsetof(struct process_record, start) == 32, "start has moved");
_Static_assert(offsetof(struct process_record, name) == 56, "name has moved");
_Static_assert(offsetof(struct process_record, id) == 80, "id has moved");
_Static_assert(offsetof(struct process_record, working_set) == 144, "working_set has moved");

struct process_list {
    BYTE *buffer;
    ULONG size;
    struct process_entry *entries;
    size_t count, capacity;
    uint64_t generation;
};

HRESULT process_list_open(struct process_list **out)
{
    *out = memory_zero(1, sizeof **out);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static void free_names(struct process_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        memory_free((char *)list->entries[i].name);
    }
    list->count = 0;
}

void process_list_close(struct process_list *list)
{
    if (!list) {
        return;
    }
    free_names(list);
    memory_free(list->entries);
    memory_free(list->buffer);
    memory_free(list);
}

uint64_t process_list_generation(const struct process_list *list)
{
    return list->generation;
}

static HRESULT query(struct process_list *list)
{
    for (;;) {
        ULONG need = 0;
        NTSTATUS status = NtQuerySystemInformation(SystemProcessInformation, list->buffer, list->size, &need);
        if (status == 0) {
            return S_OK;
        }
        if (status != (NTSTATUS)0xC0000004 /* STATUS_INFO_LENGTH_MISMATCH */ || need > 64 * 1024 * 1024) {
            return error_set(E_FAIL, "the list of processes: status 0x%08X", (unsigned)status);
        }
        /* Processes may start before the next try. */
        ULONG size = (need > list->size ? need : list->size) + 16 * 1024;
        BYTE *buffer = memory_resize(list->buffer, size);
        if (!buffer) {
            return E_OUTOFMEMORY;
        }
        list->buffer = buffer;
        list->size = size;
    }
}

/* "C:\x\Some.exe" and "Some.exe" both give "Some". */
static HRESULT base_name(const UNICODE_STRING *name, char **out)
{
    size_t from = 0, units = name->Buffer ? name->Length / sizeof(WCHAR) : 0;
    for (size_t i = 0; i < units; i++) {
        if (name->Buffer[i] == L'\\') {
            from = i + 1;
        }
    }
    static const WCHAR empty[1];
    HRESULT hr = text_from_utf16(units ? name->Buffer + from : empty, units - from, true, out);
    size_t length = SUCCEEDED(hr) ? strlen(*out) : 0;
    if (length > 4 && text_equal_nocase(*out + length - 4, ".exe")) {
        (*out)[length - 4] = 0;
    }
    return hr;
}

static void set_figures(struct process_entry *e, const struct process_record *r)
{
    e->id = (uint32_t)(ULONG_PTR)r->id;
    e->parent = (uint32_t)(ULONG_PTR)r->parent;
    e->threads = r->threads;
    e->start = r->start.QuadPart;
    e->user_time = r->user.QuadPart;
    e->kernel_time = r->kernel.QuadPart;
    e->working_set = r->working_set;
}

static const struct process_record *next_record(const struct process_record *r)
{
    return r->next ? (const struct process_record *)((const BYTE *)r + r->next) : NULL;
}

/* Id 0 is the idle process: no program. */
static const struct process_record *next_process(const struct process_record *r)
{
    while (r && !r->id) {
        r = next_record(r);
    }
    return r;
}

/* True when the entries are these processes: their names need not be made again. */
static bool is_same(const struct process_list *list)
{
    const struct process_record *r = next_process((const struct process_record *)list->buffer);
    size_t i = 0;
    for (; r && i < list->count; i++, r = next_process(next_record(r))) {
        if (list->entries[i].id != (uint32_t)(ULONG_PTR)r->id || list->entries[i].start != r->start.QuadPart) {
            return false;
        }
    }
    return !r && i == list->count && list->generation;
}

static HRESULT make_entries(struct process_list *list)
{
    const struct process_record *r = next_process((const struct process_record *)list->buffer);
    free_names(list);
    list->generation++;
    for (; r; r = next_process(next_record(r))) {
        char *name = NULL;
        if (!memory_grow((void **)&list->entries, &list->capacity, list->count + 1, sizeof *list->entries)) {
            return E_OUTOFMEMORY;
        }
        HRESULT hr = base_name(&r->name, &name);
        if (FAILED(hr)) {
            return hr;
        }
        list->entries[list->count++] = (struct process_entry){.name = name};
    }
    return S_OK;
}

HRESULT process_list_read(struct process_list *list, const struct process_entry **entries, size_t *count)
{
    HRESULT hr = query(list);
    if (SUCCEEDED(hr) && !is_same(list)) {
        hr = make_entries(list);
        if (FAILED(hr)) {
            free_names(list);
        }
    }
    if (FAILED(hr)) {
        return hr;
    }
    const struct process_record *r = next_process((const struct process_record *)list->buffer);
    for (size_t i = 0; i < list->count; i++, r = next_process(next_record(r))) {
        set_figures(&list->entries[i], r);
    }
    *entries = list->entries;
    *count = list->count;
    return S_OK;
}

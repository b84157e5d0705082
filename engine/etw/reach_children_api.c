/* SPDX-License-Identifier: MIT */
/* Processes that a reached program starts, by whatever function: in Wine each of them ends in ntdll's
   NtCreateUserProcess, a few instructions that hold no relative address, so that a copy of them is the way through. */
#include "engine/etw/reach_process.h"
#include "engine/os/text.h"

#include <windows.h>
#include <winternl.h>
#include <string.h>

#define CREATE_SUSPENDED_THREAD 1 /* THREAD_CREATE_FLAGS_CREATE_SUSPENDED */

/* mov r10,rcx; mov eax,NUMBER; test byte [7FFE0308h],1; jne +3; syscall; ret; jmp +1; ret; call [7FFE1000h]; ret. */
static const uint8_t expected[32] = {0x4C, 0x8B, 0xD1, 0xB8, 0,    0,    0,    0,    0xF6, 0x04, 0x25,
                                     0x08, 0x03, 0xFE, 0x7F, 0x01, 0x75, 0x03, 0x0F, 0x05, 0xC3, 0xEB,
                                     0x01, 0xC3, 0xFF, 0x14, 0x25, 0x00, 0x10, 0xFE, 0x7F, 0xC3};
enum { NUMBER_BEGIN = 4, NUMBER_END = 8 };
/* mov rax,...: our jump. */
static const uint8_t taken[2] = {0x48, 0xB8};

typedef NTSTATUS(NTAPI *create_function)(HANDLE *process, HANDLE *thread, ACCESS_MASK, ACCESS_MASK, void *, void *,
                                         ULONG process_flags, ULONG thread_flags, void *, void *, void *);
static create_function original;
static char *dll_path;

static const uint8_t *find_stub(void)
{
    return (const uint8_t *)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtCreateUserProcess");
}

static bool is_stub(const uint8_t *code)
{
    return code && memcmp(code, expected, NUMBER_BEGIN) == 0 &&
           memcmp(code + NUMBER_END, expected + NUMBER_END, sizeof expected - NUMBER_END) == 0;
}

HRESULT reach_children_possible(void)
{
    const uint8_t *code = find_stub();
    return is_stub(code) || (code && memcmp(code, taken, sizeof taken) == 0)
               ? S_OK
               : error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                           "this Wine starts processes in another way than those that are known");
}

/* What cannot be reached (32 bits, .NET) runs as it would without us. */
static NTSTATUS NTAPI create_reached(HANDLE *process, HANDLE *thread, ACCESS_MASK process_access,
                                     ACCESS_MASK thread_access, void *process_attributes, void *thread_attributes,
                                     ULONG process_flags, ULONG thread_flags, void *parameters, void *info,
                                     void *attributes)
{
    const DWORD error = GetLastError();
    const NTSTATUS status =
        original(process, thread, process_access, thread_access, process_attributes, thread_attributes, process_flags,
                 thread_flags | CREATE_SUSPENDED_THREAD, parameters, info, attributes);
    if (status < 0)
        return status;
    reach_process(*process, "", dll_path, true);
    if (!(thread_flags & CREATE_SUSPENDED_THREAD))
        ResumeThread(*thread);
    SetLastError(error);
    return status;
}

void *reach_children_begin(const char *path)
{
    if (!is_stub(find_stub()))
        return NULL;
    void *copy = VirtualAlloc(NULL, sizeof expected, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    dll_path = text_copy(path);
    DWORD before;
    if (!copy || !dll_path)
        return NULL;
    memcpy(copy, find_stub(), sizeof expected);
    if (!VirtualProtect(copy, sizeof expected, PAGE_EXECUTE_READ, &before))
        return NULL;
    original = (create_function)copy;
    return (void *)create_reached;
}

/* SPDX-License-Identifier: MIT */
/* Wine's system calls are a few instructions each that hold no relative address, so a copy of them works anywhere
   (behaviour 24). */
#include "engine/etw/reach_process.h"

#include <windows.h>
#include <string.h>

/* mov r10,rcx; mov eax,NUMBER; test byte [7FFE0308h],1; jne +3; syscall; ret; jmp +1; ret; call [7FFE1000h]; ret. */
static const uint8_t expected[32] = {0x4C, 0x8B, 0xD1, 0xB8, 0,    0,    0,    0,    0xF6, 0x04, 0x25,
                                     0x08, 0x03, 0xFE, 0x7F, 0x01, 0x75, 0x03, 0x0F, 0x05, 0xC3, 0xEB,
                                     0x01, 0xC3, 0xFF, 0x14, 0x25, 0x00, 0x10, 0xFE, 0x7F, 0xC3};
enum { NUMBER_BEGIN = 4, NUMBER_END = 8 };
/* mov rax,...: the jump to a function of ours. */
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

bool reach_system_call_is_known(const char *name)
{
    const uint8_t *code = find(name);
    return is_original(code) || (code && memcmp(code, taken, sizeof taken) == 0);
}

void *reach_system_call_copy(const char *name)
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

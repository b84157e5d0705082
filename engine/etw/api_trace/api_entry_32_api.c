/* SPDX-License-Identifier: MIT */
/* Machine code for 32-bit processes. 64-bit programs contain it too, because they inject it.

   A 64-bit watcher cannot determine the address of a 32-bit DLL's function in another process, and a suspended process
   has not loaded its DLLs yet. Therefore the code itself finds ntdll in the loader's module list, and LdrLoadDll in
   ntdll's export table. Both the list and the table exist when the code at the entry point runs. A jump at the entry
   point leads to the code:

       entry point: jmp api_entry_32             (replaces 5 of the 16 saved bytes)
       code:        load the DLL; restore the 16 bytes; set `done`; return to the entry point with unchanged registers

   ebx is the address of struct api_entry_32, which follows the code. */
#include "engine/etw/api_trace/api_entry_32.h"

#include <string.h>
#include <wchar.h>

__asm__(".section .rdata,\"dr\"\n"
        "    .p2align 2\n"
        "    .code32\n"
        "api_entry_32_code:\n"
        "    pushl $0\n" /* will be the return address */
        "    pushal\n"
        "    call 1f\n"
        "1:  popl %ebx\n"
        "    addl $(api_entry_32_end - 1b), %ebx\n"
        "    call api_entry_32_load\n"
        "    movl (%ebx), %edi\n"
        "    movl %edi, 32(%esp)\n"
        "    leal 8(%ebx), %esi\n"
        "    movl $4, %ecx\n"
        "    cld\n"
        "    rep movsl\n"
        "    movl $1, 4(%ebx)\n"
        "    popal\n"
        "    ret\n"
        "api_entry_32_thread:\n"
        "    pushal\n"
        "    call 2f\n"
        "2:  popl %ebx\n"
        "    addl $(api_entry_32_end - 2b), %ebx\n"
        "    call api_entry_32_load\n"
        "    movl %eax, 28(%esp)\n"
        "    popal\n"
        "    ret $4\n"
        /* Find the module named ntdll.dll in PEB.Ldr's second list. */
        "api_entry_32_load:\n"
        "    movl %fs:0x30, %eax\n"
        "    movl 0x0C(%eax), %eax\n"
        "    leal 0x14(%eax), %edi\n"
        "    movl (%edi), %esi\n"
        "3:  cmpl %edi, %esi\n"
        "    je 7f\n"
        "    cmpw $18, 0x24(%esi)\n"
        "    jne 4f\n"
        "    movl 0x28(%esi), %edx\n"
        "    movl (%edx), %eax\n"
        "    orl $0x200020, %eax\n"
        "    cmpl $0x0074006E, %eax\n" /* nt */
        "    jne 4f\n"
        "    movl 4(%edx), %eax\n"
        "    orl $0x200020, %eax\n"
        "    cmpl $0x006C0064, %eax\n" /* dl */
        "    jne 4f\n"
        "    movl 8(%edx), %eax\n"
        "    orl $0x200020, %eax\n"
        "    cmpl $0x002E006C, %eax\n" /* l. */
        "    je 5f\n"
        "4:  movl (%esi), %esi\n"
        "    jmp 3b\n"
        /* Find its export LdrLoadDll. */
        "5:  movl 0x10(%esi), %ebp\n"
        "    movl 0x3C(%ebp), %eax\n"
        "    movl 0x78(%ebp,%eax), %edx\n"
        "    addl %ebp, %edx\n"
        "    movl 0x18(%edx), %ecx\n"
        "    movl 0x20(%edx), %edi\n"
        "    addl %ebp, %edi\n"
        "6:  testl %ecx, %ecx\n"
        "    jz 7f\n"
        "    decl %ecx\n"
        "    movl (%edi,%ecx,4), %esi\n"
        "    addl %ebp, %esi\n"
        "    cmpl $0x4C72644C, (%esi)\n" /* LdrL */
        "    jne 6b\n"
        "    cmpl $0x4464616F, 4(%esi)\n" /* oadD */
        "    jne 6b\n"
        "    cmpw $0x6C6C, 8(%esi)\n" /* ll */
        "    jne 6b\n"
        "    cmpb $0, 10(%esi)\n"
        "    jne 6b\n"
        "    movl 0x24(%edx), %eax\n"
        "    addl %ebp, %eax\n"
        "    movzwl (%eax,%ecx,2), %ecx\n"
        "    movl 0x1C(%edx), %eax\n"
        "    addl %ebp, %eax\n"
        "    movl (%eax,%ecx,4), %eax\n"
        "    addl %ebp, %eax\n"
        /* LdrLoadDll(NULL, NULL, &path, &module) */
        "    movl %esp, %esi\n"
        "    andl $-16, %esp\n"
        "    leal 32(%ebx), %ecx\n"
        "    pushl %ecx\n"
        "    leal 24(%ebx), %ecx\n"
        "    pushl %ecx\n"
        "    pushl $0\n"
        "    pushl $0\n"
        "    call *%eax\n"
        "    movl %esi, %esp\n"
        "7:  movl 32(%ebx), %eax\n"
        "    ret\n"
        "    .p2align 2\n"
        "api_entry_32_end:\n"
#ifdef _WIN64
        "    .code64\n"
#endif
        "    .text\n");

extern const uint8_t code[] __asm__("api_entry_32_code"), thread[] __asm__("api_entry_32_thread"),
    end[] __asm__("api_entry_32_end");

size_t api_entry_32_write(uint32_t at, uint32_t entry, const uint8_t kept[API_ENTRY_32_KEPT], const WCHAR *path,
                          uint8_t out[API_ENTRY_32_ROOM], struct api_entry_32_places *places)
{
    _Static_assert(offsetof(struct api_entry_32, kept) == 8 && offsetof(struct api_entry_32, path_bytes) == 24 &&
                       offsetof(struct api_entry_32, module) == 32,
                   "the code in this file uses these offsets");
    const size_t bytes = (size_t)(end - code), units = wcslen(path);
    struct api_entry_32 data = {.entry = entry};
    if (units >= API_ENTRY_32_PATH_MOST || bytes + sizeof data > API_ENTRY_32_ROOM)
        return 0;
    memcpy(data.kept, kept, sizeof data.kept);
    memcpy(data.text, path, (units + 1) * sizeof *path);
    data.path_bytes = (uint16_t)(units * sizeof *path);
    data.path_room = (uint16_t)(data.path_bytes + sizeof *path);
    data.path = at + (uint32_t)(bytes + offsetof(struct api_entry_32, text));
    memcpy(out, code, bytes);
    memcpy(out + bytes, &data, sizeof data);
    places->thread = (uint32_t)(thread - code);
    places->done = (uint32_t)(bytes + offsetof(struct api_entry_32, done));
    return bytes + sizeof data;
}

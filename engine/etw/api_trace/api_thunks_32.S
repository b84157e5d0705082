# SPDX-License-Identifier: MIT
# The thunks of api_thunks.S for 32-bit programs. The stub has set eax to the address of its struct api_function: at
# offset 0 the function, at 4 the number of 4-byte words of its stack arguments, at 8 whether its result is in st(0).
# stdcall and cdecl pass arguments on the stack, fastcall and thiscall also in ecx and edx.
    .intel_syntax noprefix
    .text

# For functions of which only the name is logged: saves all argument registers, logs the call, restores the registers
# and jumps to the function, which then returns to the caller directly.
    .globl _api_thunk_names
    .def _api_thunk_names; .scl 2; .type 32; .endef
_api_thunk_names:
    push ebp
    mov ebp, esp
    push eax
    push ecx
    push edx
    sub esp, 0x74
    and esp, -16
    movups [esp+0x10], xmm0
    movups [esp+0x20], xmm1
    movups [esp+0x30], xmm2
    movups [esp+0x40], xmm3
    movups [esp+0x50], xmm4
    movups [esp+0x60], xmm5
    mov ecx, [ebp+4]
    mov [esp], eax
    mov [esp+4], ecx
    call _api_log_name
    movups xmm0, [esp+0x10]
    movups xmm1, [esp+0x20]
    movups xmm2, [esp+0x30]
    movups xmm3, [esp+0x40]
    movups xmm4, [esp+0x50]
    movups xmm5, [esp+0x60]
    mov eax, [ebp-4]
    mov ecx, [ebp-8]
    mov edx, [ebp-12]
    mov esp, ebp
    pop ebp
    jmp [eax]

# For functions whose arguments are logged: a frame that calls the function with a copy of the stack arguments. The
# change of esp during the call shows how many bytes the function popped, so the calling convention need not be known.
# Offsets from ebp (struct api_frame, api_hook.h):
#   +00 ebp +04 return address +08 first argument ...
#   -04 ebx -08 esi -0C edi -10 eax -14 ecx -18 edx -20 bytes of the text -24 text of the arguments -28 the function
#   -2C esp before the call, then the bytes that the function popped -38 st(0) -3C edx, -40 eax: the result
#   -48 time of the call, 0: not logged
# Below these is the text (api_frame.text), and below the text are the copied words. Their addresses modulo 16 equal
# those of the originals, because SSE code in the function may rely on this alignment.
    .globl _api_thunk_arguments
    .def _api_thunk_arguments; .scl 2; .type 32; .endef
_api_thunk_arguments:
    push ebp
    mov ebp, esp
    push ebx
    push esi
    push edi
    push eax
    push ecx
    push edx
    mov ebx, eax
    sub esp, 0x1F0              # the frame down to -48, and API_FRAME_ROOM below it
    mov [ebp-0x28], eax
    mov [ebp-0x24], esp
    and esp, -16
    sub esp, 16
    mov [esp], ebp
    call _api_log_enter
    mov [ebp-0x48], eax
    mov [ebp-0x44], edx
    mov ecx, [ebx+4]
    mov eax, fs:[4]             # TEB.StackBase: do not copy words beyond it
    lea esi, [ebp+8]
    sub eax, esi
    shr eax, 2
    cmp ecx, eax
    cmova ecx, eax
    lea eax, [ecx*4]
    mov edi, esp
    sub edi, eax
    and edi, -16
    mov eax, esi
    and eax, 15
    lea edi, [edi+eax-16]
    mov esp, edi
    test ecx, ecx
    jz 2f
1:  mov eax, [esi+ecx*4-4]
    mov [edi+ecx*4-4], eax
    dec ecx
    jnz 1b
2:  mov [ebp-0x2C], esp
    mov ecx, [ebp-0x14]
    mov edx, [ebp-0x18]
    mov eax, ebx
    call [ebx]
    mov ecx, esp
    sub ecx, [ebp-0x2C]
    mov [ebp-0x2C], ecx
    cmp dword ptr [ebp-0x48], 0
    je 5f
    mov [ebp-0x40], eax
    mov [ebp-0x3C], edx
    cmp dword ptr [ebx+8], 0
    je 3f
    fstp tbyte ptr [ebp-0x38]
3:  mov esp, [ebp-0x24]
    and esp, -16
    sub esp, 16
    mov [esp], ebp
    call _api_log_leave
    cmp dword ptr [ebx+8], 0
    je 4f
    fld tbyte ptr [ebp-0x38]
4:  mov eax, [ebp-0x40]
    mov edx, [ebp-0x3C]
    mov ecx, [ebp-0x2C]
5:  lea esp, [ebp-0x0C]
    pop edi
    pop esi
    pop ebx
    pop ebp
    add ecx, esp                # move the return address above the arguments that the function popped
    push dword ptr [esp]
    pop dword ptr [ecx]
    mov esp, ecx
    ret

# Used after the hooks have been removed: jumps to the function without logging.
    .globl _api_thunk_pass
    .def _api_thunk_pass; .scl 2; .type 32; .endef
_api_thunk_pass:
    jmp [eax]

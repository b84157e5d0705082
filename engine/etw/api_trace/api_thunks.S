# SPDX-License-Identifier: MIT
# The code between a traced program's call and the function (see api_hook_dll.c). The stub has set r11 to the address of
# its struct api_function: at offset 0 the function, at 8 the number of 8-byte words of its stack arguments (even), at
# 12 whether it uses xmm registers.
    .intel_syntax noprefix
    .text

# For functions of which only the name is logged: saves all argument registers, logs the call, restores the registers
# and jumps to the function, which then returns to the caller directly.
    .globl api_thunk_names
    .def api_thunk_names; .scl 2; .type 32; .endef
    .seh_proc api_thunk_names
api_thunk_names:
    sub rsp, 0xD8
    .seh_stackalloc 0xD8
    .seh_endprologue
    mov [rsp+0x20], rcx
    mov [rsp+0x28], rdx
    mov [rsp+0x30], r8
    mov [rsp+0x38], r9
    mov [rsp+0x40], r10
    mov [rsp+0x48], r11
    mov [rsp+0x50], rax
    movups [rsp+0x60], xmm0
    movups [rsp+0x70], xmm1
    movups [rsp+0x80], xmm2
    movups [rsp+0x90], xmm3
    movups [rsp+0xA0], xmm4
    movups [rsp+0xB0], xmm5
    mov rcx, r11
    mov rdx, [rsp+0xD8]
    call api_log_name
    mov rcx, [rsp+0x20]
    mov rdx, [rsp+0x28]
    mov r8, [rsp+0x30]
    mov r9, [rsp+0x38]
    mov r10, [rsp+0x40]
    mov r11, [rsp+0x48]
    mov rax, [rsp+0x50]
    movups xmm0, [rsp+0x60]
    movups xmm1, [rsp+0x70]
    movups xmm2, [rsp+0x80]
    movups xmm3, [rsp+0x90]
    movups xmm4, [rsp+0xA0]
    movups xmm5, [rsp+0xB0]
    add rsp, 0xD8
    jmp [r11]
    .seh_endproc

# For functions whose arguments are logged: a frame that calls the function with a copy of the stack arguments, so that
# unwinding finds an ordinary caller. Offsets from rbp (struct api_frame, api_hook.h):
#   +00 bytes of the text +08 rdi +10 rsi +18 rbx +20 rbp +28 return address +30 to +48 home of rcx, rdx, r8, r9 +50 fifth argument ...
#   -08 r10 -10 rax, then the result -20 xmm0, then its result -30 to -70 xmm1 to xmm5
#   -78 time of the call, 0: not logged -80 text of the arguments -88 the function
# Below these are the text (api_frame.text), then the copied words and the callee's home space.
    .globl api_thunk_arguments
    .def api_thunk_arguments; .scl 2; .type 32; .endef
    .seh_proc api_thunk_arguments
api_thunk_arguments:
    push rbp
    .seh_pushreg rbp
    push rbx
    .seh_pushreg rbx
    push rsi
    .seh_pushreg rsi
    push rdi
    .seh_pushreg rdi
    sub rsp, 0xB8
    .seh_stackalloc 0xB8
    lea rbp, [rsp+0xB0]
    .seh_setframe rbp, 0xB0
    .seh_endprologue
    mov [rbp+0x30], rcx
    mov [rbp+0x38], rdx
    mov [rbp+0x40], r8
    mov [rbp+0x48], r9
    mov [rbp-0x08], r10
    mov [rbp-0x10], rax
    mov rbx, r11
    mov [rbp-0x88], r11
    cmp dword ptr [rbx+12], 0
    je 1f
    movups [rbp-0x20], xmm0
    movups [rbp-0x30], xmm1
    movups [rbp-0x40], xmm2
    movups [rbp-0x50], xmm3
    movups [rbp-0x60], xmm4
    movups [rbp-0x70], xmm5
1:  sub rsp, 0x1E0              # API_FRAME_ROOM, and the callee's home
    lea rdx, [rsp+0x20]
    mov [rbp-0x80], rdx
    mov rcx, rbp
    call api_log_enter
    mov [rbp-0x78], rax
    mov ecx, [rbx+8]
    mov rax, gs:[8]             # TEB.StackBase: do not copy words beyond it
    lea rsi, [rbp+0x50]
    sub rax, rsi
    shr rax, 3
    and eax, -2
    cmp ecx, eax
    cmova ecx, eax
    lea rax, [rcx*8]
    sub rsp, rax
    lea rdi, [rsp+0x20]
    test ecx, ecx
    jz 2f
    xor eax, eax
1:  movups xmm0, [rsi+rax*8]
    movups [rdi+rax*8], xmm0
    add eax, 2
    cmp eax, ecx
    jb 1b
2:  mov rcx, [rbp+0x30]
    mov rdx, [rbp+0x38]
    mov r8, [rbp+0x40]
    mov r9, [rbp+0x48]
    mov r10, [rbp-0x08]
    mov rax, [rbp-0x10]
    cmp dword ptr [rbx+12], 0
    je 3f
    movups xmm0, [rbp-0x20]
    movups xmm1, [rbp-0x30]
    movups xmm2, [rbp-0x40]
    movups xmm3, [rbp-0x50]
    movups xmm4, [rbp-0x60]
    movups xmm5, [rbp-0x70]
3:  mov r11, rbx
    call [rbx]
    cmp qword ptr [rbp-0x78], 0
    je 5f
    mov [rbp-0x10], rax
    cmp dword ptr [rbx+12], 0
    jne 4f
    mov rcx, rbp
    call api_log_leave
    mov rax, [rbp-0x10]
    jmp 5f
4:  movups [rbp-0x20], xmm0
    mov rcx, rbp
    call api_log_leave
    mov rax, [rbp-0x10]
    movups xmm0, [rbp-0x20]
5:  lea rsp, [rbp+0x08]
    pop rdi
    pop rsi
    pop rbx
    pop rbp
    ret
    .seh_handler api_log_unwound, @unwind
    .seh_endproc

# Used after the hooks have been removed: jumps to the function without logging.
    .globl api_thunk_pass
    .def api_thunk_pass; .scl 2; .type 32; .endef
api_thunk_pass:
    jmp [r11]

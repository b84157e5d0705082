/* SPDX-License-Identifier: MIT */
/* Frames that take exceptions, in programs of 32 bits: a thread has a list of them, which begins at fs:0 and lies on
   its stack. */
#include "engine/base/guard.h"

#include <windows.h>

/* What the list knows of a frame; `base`, below which it lies, is ours. */
struct call_frame {
    struct call_frame *next;
    void *handler;
    const struct call_arguments *base;
};
/* At ebp: who called, and with what. */
struct call_arguments {
    void *base, *returns_to;
    void (*call)(void *argument);
    void *argument;
    enum guard_takes takes;
    void (*left)(void *argument);
};

EXCEPTION_DISPOSITION guard_call_handler(EXCEPTION_RECORD *exception, struct call_frame *frame, CONTEXT *context,
                                         void *dispatcher);
__attribute__((noreturn)) void guard_call_end(struct call_frame *frame, EXCEPTION_RECORD *exception);

/* guard_call_end takes the frames of what was called off the list, each hearing of it, and goes on behind the call.
   What the system leaves of the registers then is not known, but for the stack. */
__asm__(".text\n"
        "    .globl _guard_call\n"
        "    .def _guard_call; .scl 2; .type 32; .endef\n"
        "_guard_call:\n"
        "    pushl %ebp\n"
        "    movl %esp, %ebp\n"
        "    pushl %ebx\n"
        "    pushl %esi\n"
        "    pushl %edi\n"
        "    pushl %ebp\n"
        "    pushl $_guard_call_handler\n"
        "    pushl %fs:0\n"
        "    movl %esp, %fs:0\n"
        "    andl $-16, %esp\n"
        "    subl $12, %esp\n"
        "    pushl 12(%ebp)\n"
        "    call *8(%ebp)\n"
        "    movl $1, %eax\n"
        "guard_call_left:\n"
        "    leal -24(%ebp), %esp\n"
        "    popl %fs:0\n"
        "    addl $8, %esp\n"
        "    popl %edi\n"
        "    popl %esi\n"
        "    popl %ebx\n"
        "    popl %ebp\n"
        "    ret\n"
        "    .globl _guard_call_end\n"
        "    .def _guard_call_end; .scl 2; .type 32; .endef\n"
        "_guard_call_end:\n"
        "    movl 4(%esp), %eax\n"
        "    movl 8(%esp), %ecx\n"
        "    pushl 8(%eax)\n"
        "    pushl $0\n"
        "    pushl %ecx\n"
        "    pushl $guard_call_unwound\n"
        "    pushl %eax\n"
        "    call _RtlUnwind@16\n"
        "guard_call_unwound:\n"
        "    popl %ebp\n"
        "    xorl %eax, %eax\n"
        "    jmp guard_call_left\n");

static bool is_bad_address(const EXCEPTION_RECORD *e)
{
    return e->ExceptionCode == EXCEPTION_ACCESS_VIOLATION || e->ExceptionCode == EXCEPTION_GUARD_PAGE ||
           e->ExceptionCode == EXCEPTION_IN_PAGE_ERROR;
}

EXCEPTION_DISPOSITION guard_call_handler(EXCEPTION_RECORD *exception, struct call_frame *frame, CONTEXT *context,
                                         void *dispatcher)
{
    const struct call_arguments *call = frame->base;
    (void)context, (void)dispatcher;
    if ((exception->ExceptionFlags & (EXCEPTION_UNWINDING | EXCEPTION_EXIT_UNWIND)) != 0) {
        if (call->left)
            call->left(call->argument);
    } else if (call->takes == GUARD_TAKES_ALL ||
               (call->takes == GUARD_TAKES_BAD_ADDRESSES && is_bad_address(exception))) {
        guard_call_end(frame, exception);
    }
    return ExceptionContinueSearch;
}

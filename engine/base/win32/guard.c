/* SPDX-License-Identifier: MIT */
/* Stack frames that catch exceptions, written in assembly because the compiler has no __try. In 64-bit programs, unwind
   data names the handlers (Microsoft's "x64 exception handling"). Such a frame costs nothing until an exception occurs;
   the handlers of called functions run first. In 32-bit programs, each thread has a list of the frames on its stack;
   the list begins at fs:0. */
#include "engine/base/guard.h"

#include <windows.h>

static bool is_bad_address(const EXCEPTION_RECORD *e)
{
    return e->ExceptionCode == EXCEPTION_ACCESS_VIOLATION || e->ExceptionCode == EXCEPTION_GUARD_PAGE ||
           e->ExceptionCode == EXCEPTION_IN_PAGE_ERROR;
}

#ifdef _WIN64

typedef EXCEPTION_DISPOSITION frame_handler(EXCEPTION_RECORD *exception, void *frame, CONTEXT *context,
                                            DISPATCHER_CONTEXT *dispatcher);
frame_handler guard_call_handler, guard_read_handler;

static bool is_unwinding(const EXCEPTION_RECORD *e)
{
    return (e->ExceptionFlags & (EXCEPTION_UNWINDING | EXCEPTION_EXIT_UNWIND)) != 0;
}

/* ---- calls ---- */

/* guard_call saves its arguments in the space that the caller reserves for them. The shadow space for the call and
   padding for alignment are below this space. After an exception the handler continues at guard_call_failed, in this
   frame. */
__asm__(".text\n"
        "    .globl guard_call\n"
        "    .def guard_call; .scl 2; .type 32; .endef\n"
        "    .seh_proc guard_call\n"
        "guard_call:\n"
        "    movq %rdx, 16(%rsp)\n"
        "    movq %r8, 24(%rsp)\n"
        "    movq %r9, 32(%rsp)\n"
        "    subq $40, %rsp\n"
        "    .seh_stackalloc 40\n"
        "    .seh_endprologue\n"
        "    .seh_handler guard_call_handler, @except, @unwind\n"
        "    movq %rcx, %rax\n"
        "    movq %rdx, %rcx\n"
        "    call *%rax\n"
        "    movl $1, %eax\n"
        "    addq $40, %rsp\n"
        "    ret\n"
        "guard_call_failed:\n"
        "    xorl %eax, %eax\n"
        "    addq $40, %rsp\n"
        "    ret\n"
        "    .seh_endproc\n");
extern char guard_call_failed[];

struct call_frame {
    uint64_t below[5], returns_to, home_1;
    void *argument;
    uint32_t takes; /* enum guard_takes; the upper half of the register is undefined */
    uint32_t undefined;
    void (*left)(void *argument);
};

EXCEPTION_DISPOSITION guard_call_handler(EXCEPTION_RECORD *exception, void *frame, CONTEXT *context,
                                         DISPATCHER_CONTEXT *dispatcher)
{
    const struct call_frame *call = frame;
    (void)context;
    if (is_unwinding(exception)) {
        if ((exception->ExceptionFlags & EXCEPTION_TARGET_UNWIND) == 0 && call->left)
            call->left(call->argument);
    } else if (call->takes == GUARD_TAKES_ALL ||
               (call->takes == GUARD_TAKES_BAD_ADDRESSES && is_bad_address(exception))) {
        RtlUnwindEx(frame, guard_call_failed, exception, NULL, dispatcher->ContextRecord, dispatcher->HistoryTable);
    }
    return ExceptionContinueSearch;
}

/* ---- reads ---- */

struct guarded_read {
    uint32_t at, go_on, left, none; /* offsets in the image */
};
/* The entries that guard.h adds are between these two labels, because the linker orders the sections by name. */
__asm__("    .section .rdata$guard_a,\"dr\"\n"
        "    .p2align 4\n"
        "guard_reads:\n"
        "    .section .rdata$guard_z,\"dr\"\n"
        "guard_reads_end:\n"
        "    .text\n");
extern const struct guarded_read guard_reads[], guard_reads_end[];

EXCEPTION_DISPOSITION guard_read_handler(EXCEPTION_RECORD *exception, void *frame, CONTEXT *context,
                                         DISPATCHER_CONTEXT *dispatcher)
{
    const uint64_t at = dispatcher->ControlPc - dispatcher->ImageBase;
    const struct guarded_read *read = guard_reads;
    (void)frame;
    while (read != guard_reads_end && read->at != at)
        read++;
    if (read == guard_reads_end)
        return ExceptionContinueSearch;
    if (is_unwinding(exception)) {
        void (*const left)(void *) = (void (*)(void *))(uintptr_t)(dispatcher->ImageBase + read->left);
        left((void *)dispatcher->ContextRecord->Rbx); /* the operand "b" in guard.h */
    } else if (is_bad_address(exception)) {
        /* The code continues in its own frame, so nothing has to be unwound. */
        context->Rip = dispatcher->ImageBase + read->go_on;
        return ExceptionContinueExecution;
    }
    return ExceptionContinueSearch;
}

#else

/* A frame in the list. `base`, which follows the system's members, is OpenPLA's addition. */
struct call_frame {
    struct call_frame *next;
    void *handler;
    const struct call_arguments *base;
};
/* At ebp: the caller's frame and return address, then the arguments. */
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

/* guard_call_end removes the frames of the called functions from the list, calls the handler of each frame, and
   continues after the call. At this point only the stack pointer is known. */
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

#endif

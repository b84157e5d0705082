/* SPDX-License-Identifier: MIT */
/* A call whose exceptions end in a result. The compiler has no __try; so the frame that takes them is written here,
   with its unwind data (Microsoft's "x64 exception handling"). Handlers that the callback has itself come first. */
#include "engine/etw/consumer_guard.h"

#include <windows.h>

EXCEPTION_DISPOSITION consumer_guard_handler(EXCEPTION_RECORD *exception, void *frame, CONTEXT *context,
                                             DISPATCHER_CONTEXT *dispatcher);

/* Shadow space for the call, and alignment. The second end is where the handler goes on, in this frame. */
__asm__(".text\n"
        "    .globl consumer_guard\n"
        "    .def consumer_guard; .scl 2; .type 32; .endef\n"
        "    .seh_proc consumer_guard\n"
        "consumer_guard:\n"
        "    subq $40, %rsp\n"
        "    .seh_stackalloc 40\n"
        "    .seh_endprologue\n"
        "    .seh_handler consumer_guard_handler, @except\n"
        "    movq %rcx, %rax\n"
        "    movq %rdx, %rcx\n"
        "    call *%rax\n"
        "    movl $1, %eax\n"
        "    addq $40, %rsp\n"
        "    ret\n"
        "consumer_guard_failed:\n"
        "    xorl %eax, %eax\n"
        "    addq $40, %rsp\n"
        "    ret\n"
        "    .seh_endproc\n");
extern char consumer_guard_failed[];

EXCEPTION_DISPOSITION consumer_guard_handler(EXCEPTION_RECORD *exception, void *frame, CONTEXT *context,
                                             DISPATCHER_CONTEXT *dispatcher)
{
    (void)context;
    if ((exception->ExceptionFlags & (EXCEPTION_UNWINDING | EXCEPTION_EXIT_UNWIND)) == 0)
        RtlUnwindEx(frame, consumer_guard_failed, exception, NULL, dispatcher->ContextRecord, dispatcher->HistoryTable);
    return ExceptionContinueSearch;
}

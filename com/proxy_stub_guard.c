/* SPDX-License-Identifier: MIT */
/* One call inside a frame with an exception handler. Wine's and Windows' combase catch exceptions of Invoke as well,
   but Wine hands on the bare exception code as the HRESULT (an RPC status raised as 1783 would be read as success), and
   other callers of a stub catch nothing. GCC has no __try, so the frame is written out: its unwind data name the C
   runtime's handler, whose scope table sends every exception inside the call to the line behind it. A handler table of
   the process (a vectored handler) would see exceptions that the code inside handles itself; this one sees only those
   that nobody wanted. */
#include "com/proxy_stub_guard.h"
#include <malloc.h>

#ifndef __x86_64__
#error "The frame below is x86-64's"
#endif

/* Calls Invoke, the sixth method. *exception is 0, or the exception's code with the result meaningless. */
HRESULT proxy_stub_call_in_frame(IRpcStubBuffer *stub, RPCOLEMESSAGE *message, IRpcChannelBuffer *channel,
                                 DWORD *exception);

__asm__(".text\n"
        ".globl proxy_stub_call_in_frame\n"
        ".def proxy_stub_call_in_frame; .scl 2; .type 32; .endef\n"
        ".seh_proc proxy_stub_call_in_frame\n"
        "proxy_stub_call_in_frame:\n"
        "    subq $40, %rsp\n"
        "    .seh_stackalloc 40\n"
        "    .seh_endprologue\n"
        "    movq %r9, 72(%rsp)\n" /* the caller's home slot of the fourth argument */
        "    movl $0, (%r9)\n"
        "    movq (%rcx), %rax\n"
        ".Lproxy_stub_call:\n"
        "    call *40(%rax)\n"
        "    nop\n"
        ".Lproxy_stub_called:\n"
        "    addq $40, %rsp\n"
        "    ret\n"
        ".Lproxy_stub_raised:\n" /* reached from the handler, with the frame restored and the code in eax */
        "    movq 72(%rsp), %rcx\n"
        "    movl %eax, (%rcx)\n"
        "    addq $40, %rsp\n"
        "    ret\n"
        "    .seh_handler __C_specific_handler, @except\n"
        "    .seh_handlerdata\n"
        "    .long 1\n"
        "    .rva .Lproxy_stub_call, .Lproxy_stub_called\n"
        "    .long 1\n" /* instead of a filter: EXCEPTION_EXECUTE_HANDLER */
        "    .rva .Lproxy_stub_raised\n"
        "    .text\n"
        "    .seh_endproc\n");

HRESULT proxy_stub_guarded_invoke(IRpcStubBuffer *stub, RPCOLEMESSAGE *message, IRpcChannelBuffer *channel)
{
    DWORD exception;
    HRESULT hr = proxy_stub_call_in_frame(stub, message, channel, &exception);
    if (!exception)
        return hr;
    if (exception == EXCEPTION_STACK_OVERFLOW)
        _resetstkoflw();
    /* rpcrt4 raises Win32 errors, oleaut32's marshalling raises HRESULTs. The rest are exceptions of the processor, of
       Windows (c...) and of languages (e...), and 8000xxxx, breakpoints and the like. */
    if (exception < 0x10000)
        return HRESULT_FROM_WIN32(exception);
    return exception > 0x8000ffff && exception < 0x90000000 ? (HRESULT)exception : RPC_E_SERVERFAULT;
}

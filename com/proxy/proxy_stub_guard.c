/* SPDX-License-Identifier: MIT */
/* One call inside a frame with an exception handler. Wine's rpcrt4 catches the exceptions of a method itself, except
   those that cannot be continued, and makes the bare code (c0000005) the result of Invoke; Windows' combase catches all
   of them outside of Invoke; other callers of a stub catch nothing. GCC has no __try, so the frame is written out: its
   unwind data (in 64 bits) name the C runtime's handler, whose scope table sends every exception inside the call to the
   line behind it. A handler table of the process (a vectored handler) would see exceptions that the code inside handles
   itself; this one sees only those that nobody wanted. */
#include "com/proxy/proxy_stub_guard.h"

#include <malloc.h>

/* Calls rpcrt4's CStdStubBuffer_Invoke. *exception is 0, or the exception's code with the result meaningless. */
HRESULT proxy_stub_call_in_frame(IRpcStubBuffer *stub, RPCOLEMESSAGE *message, IRpcChannelBuffer *channel,
                                 DWORD *exception);

#ifdef __x86_64__
enum { EXCEPTION_SLOT = 72 }; /* from the stack pointer of the frame to the caller's home slot of the fourth argument */

/* The frame's filter, called while the exception is looked into. The code is kept from here: Wine's handler does not
   give it to the line that it goes on with, as Windows' does. */
LONG proxy_stub_keep_exception(const EXCEPTION_POINTERS *pointers, BYTE *frame);
LONG proxy_stub_keep_exception(const EXCEPTION_POINTERS *pointers, BYTE *frame)
{
    **(DWORD **)(void *)(frame + EXCEPTION_SLOT) = pointers->ExceptionRecord->ExceptionCode;
    return EXCEPTION_EXECUTE_HANDLER;
}

__asm__(".text\n"
        ".globl proxy_stub_call_in_frame\n"
        ".def proxy_stub_call_in_frame; .scl 2; .type 32; .endef\n"
        ".seh_proc proxy_stub_call_in_frame\n"
        "proxy_stub_call_in_frame:\n"
        "    subq $40, %rsp\n"
        "    .seh_stackalloc 40\n"
        "    .seh_endprologue\n"
        "    movq %r9, 72(%rsp)\n"
        "    movl $0, (%r9)\n"
        ".Lproxy_stub_call:\n"
        "    call *__imp_CStdStubBuffer_Invoke(%rip)\n"
        "    nop\n"
        ".Lproxy_stub_called:\n" /* also reached from the handler, with the frame restored */
        "    addq $40, %rsp\n"
        "    ret\n"
        "    .seh_handler __C_specific_handler, @except\n"
        "    .seh_handlerdata\n"
        "    .long 1\n"
        "    .rva .Lproxy_stub_call, .Lproxy_stub_called, proxy_stub_keep_exception, .Lproxy_stub_called\n"
        "    .text\n"
        "    .seh_endproc\n");

#elif defined(__i386__)

/* Here frames with handlers are a list that begins at fs:0, each frame's link 20 bytes below where its ebp points; and
   the handler itself unwinds to its frame (RtlUnwind comes back with esp alone kept) and goes on behind the call. */
__asm__(".text\n"
        ".globl _proxy_stub_call_in_frame\n"
        ".def _proxy_stub_call_in_frame; .scl 2; .type 32; .endef\n"
        "_proxy_stub_call_in_frame:\n"
        "    pushl %ebp\n"
        "    movl %esp, %ebp\n"
        "    pushl %ebx\n"
        "    pushl %esi\n"
        "    pushl %edi\n"
        "    movl 20(%ebp), %eax\n"
        "    movl $0, (%eax)\n"
        "    pushl $Lproxy_stub_handler\n"
        "    pushl %fs:0\n"
        "    movl %esp, %fs:0\n"
        "    pushl 16(%ebp)\n"
        "    pushl 12(%ebp)\n"
        "    pushl 8(%ebp)\n"
        "    call *__imp__CStdStubBuffer_Invoke@12\n"
        "Lproxy_stub_called:\n" /* also reached from the handler, with ebp restored */
        "    movl -20(%ebp), %ecx\n"
        "    movl %ecx, %fs:0\n"
        "    leal -12(%ebp), %esp\n"
        "    popl %edi\n"
        "    popl %esi\n"
        "    popl %ebx\n"
        "    popl %ebp\n"
        "    ret\n"
        "Lproxy_stub_handler:\n" /* of the record, the frame, and two more arguments; it leaves them to its caller */
        "    movl 4(%esp), %eax\n"
        "    testl $6, 4(%eax)\n" /* an unwinding that others began */
        "    jnz 1f\n"
        "    movl 8(%esp), %edx\n"
        "    movl 40(%edx), %edx\n" /* the fourth argument of the function above */
        "    movl (%eax), %ecx\n"
        "    movl %ecx, (%edx)\n"
        "    pushl %ebp\n"
        "    movl %esp, %ebp\n"
        "    pushl %ebp\n"
        "    pushl $0\n"
        "    pushl 8(%ebp)\n"
        "    pushl $2f\n"
        "    pushl 12(%ebp)\n"
        "    call *__imp__RtlUnwind@16\n"
        "2:  popl %ebp\n"
        "    movl 12(%ebp), %ebp\n"
        "    addl $20, %ebp\n"
        "    xorl %eax, %eax\n"
        "    jmp Lproxy_stub_called\n"
        "1:  movl $1, %eax\n" /* ExceptionContinueSearch */
        "    ret\n");

#else
#error "The frames above are x86-64's and x86's"
#endif

/* rpcrt4 raises Win32 errors, oleaut32's marshalling raises HRESULTs. The rest are exceptions of the processor and of
   Windows (c...), of languages (e...), and 8000000x, 8000010x: breakpoints, functions that Wine lacks and the like. */
static HRESULT rpc_error(DWORD exception)
{
    if (exception < 0x10000)
        return HRESULT_FROM_WIN32(exception);
    return exception >= 0x80001000 && exception < 0x90000000 ? (HRESULT)exception : RPC_E_SERVERFAULT;
}

HRESULT proxy_stub_guarded_invoke(IRpcStubBuffer *stub, RPCOLEMESSAGE *message, IRpcChannelBuffer *channel)
{
    DWORD exception;
    HRESULT hr = proxy_stub_call_in_frame(stub, message, channel, &exception);
    if (exception == EXCEPTION_STACK_OVERFLOW || hr == (HRESULT)EXCEPTION_STACK_OVERFLOW)
        _resetstkoflw();
    if (exception)
        return rpc_error(exception);
    /* The result of Invoke says whether the method was reached and left; what the method returned is in the reply. */
    return FAILED(hr) ? rpc_error((DWORD)hr) : hr;
}

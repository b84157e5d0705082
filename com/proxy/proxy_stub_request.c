/* SPDX-License-Identifier: MIT */
/* Walks a request along the format string (-Oicf) of its method (NDR transfer syntax 2.0, little-endian), and calls the
   method with an exception handler around it. */
#include "com/proxy/proxy_stub_request.h"

#include "engine/base/os.h"

#include <malloc.h>
#include <string.h>

/* The codes of the format strings that widl writes for pla.idl. */
enum {
    TYPE_SHORT = 0x06,
    TYPE_USHORT = 0x07,
    TYPE_LONG = 0x08,
    TYPE_ULONG = 0x09,
    TYPE_HYPER = 0x0b,
    TYPE_ENUM16 = 0x0d,
    TYPE_STRUCT = 0x15,
    TYPE_INTERFACE_POINTER = 0x2f,
    TYPE_USER_MARSHAL = 0xb4,

    PROCEDURE_HAS_RPC_FLAGS = 0x08,
    PROCEDURE_HAS_EXTENSIONS = 0x40,

    PARAMETER_IN = 0x0008,
    PARAMETER_BASE_TYPE = 0x0040,
};

static const unsigned NO_FORMAT = 0xffff; /* not an offset: another interface's stub serves the method */

struct request {
    BYTE *bytes;
    size_t size, at;
    bool exact;              /* true: the next parameter is at `at`; false: it is at `at` or later */
    size_t enumeration;      /* position of the latest enumeration; SIZE_MAX: none so far */
    size_t pointee_boundary; /* alignment of the value of a user-marshalled pointer: 8 under Wine, otherwise 4 */
};

void RPC_ENTRY GetProxyDllInfo(const ProxyFileInfo ***files, const CLSID **class_id);

CInterfaceStubVtbl *proxy_stub_interface(REFIID iid)
{
    const ProxyFileInfo **files;
    const CLSID *class_id;
    GetProxyDllInfo(&files, &class_id);
    for (; *files; files++) {
        const PCInterfaceStubVtblList *stub = (*files)->pStubVtblList;
        for (; *stub; stub++)
            if (IsEqualIID((*stub)->header.piid, iid))
                return (CInterfaceStubVtbl *)*stub;
    }
    return NULL;
}

static unsigned read_16(const BYTE *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static ULONG read_32(const BYTE *at)
{
    ULONG value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Skips size bytes at the next multiple of alignment. False: the request is too short. */
static bool request_take(struct request *request, size_t alignment, size_t size)
{
    size_t start = (request->at + alignment - 1) & ~(alignment - 1);
    if (start > request->size || request->size - start < size)
        return false;
    request->at = start + size;
    return true;
}

static bool take_base_type(struct request *request, unsigned type)
{
    static const unsigned char sizes[] = {
        [TYPE_SHORT] = 2, [TYPE_USHORT] = 2, [TYPE_LONG] = 4, [TYPE_ULONG] = 4, [TYPE_HYPER] = 8, [TYPE_ENUM16] = 2,
    };
    size_t size = type < sizeof sizes ? sizes[type] : 0;
    if (!size)
        return true;
    if (type == TYPE_ENUM16)
        request->enumeration = (request->at + 1) & ~(size_t)1;
    return request_take(request, size, size);
}

/* Skips a BSTR: max_count, bytes, count of 16-bit units (MS-OAUT 2.2.23.2), then the units. A NULL BSTR has the byte
   count ffffffff. */
static bool take_bstr(struct request *request)
{
    if (!request_take(request, request->pointee_boundary, 12))
        return false;
    const BYTE *header = request->bytes + request->at - 12;
    ULONG count = read_32(header), units = read_32(header + 8);
    return count == units && units <= request->size / 2 && request_take(request, 1, (size_t)units * 2);
}

static bool take_user_marshalled(struct request *request, const MIDL_STUB_DESC *description, const BYTE *type)
{
    const USER_MARSHAL_ROUTINE_QUADRUPLE *routines = &description->aUserMarshalQuadruple[read_16(type + 2)];
    if (!request_take(request, 4, 4))
        return false;
    if (!request->exact)
        return true;
    /* A null pointer has no value. Wine does not check for it and always reads a value. */
    if (request->pointee_boundary == 4 && !read_32(request->bytes + request->at - 4))
        return true;
    if (routines->pfnUnmarshall == (USER_MARSHAL_UNMARSHALLING_ROUTINE)BSTR_UserUnmarshal)
        return take_bstr(request);
    request->exact = false;
    /* Only the part that is always there is checked: the header of a VARIANT (MS-OAUT 2.2.29.2), or the pointer of a
       SAFEARRAY. */
    return routines->pfnUnmarshall == (USER_MARSHAL_UNMARSHALLING_ROUTINE)VARIANT_UserUnmarshal
               ? request_take(request, request->pointee_boundary, 20)
               : request_take(request, request->pointee_boundary, 4);
}

static bool take_parameter(struct request *request, const MIDL_STUB_DESC *description, const BYTE *type)
{
    switch (*type) {
    case TYPE_USER_MARSHAL:
        return take_user_marshalled(request, description, type);
    case TYPE_STRUCT:
        return request_take(request, type[1] + 1u, read_16(type + 2));
    case TYPE_INTERFACE_POINTER:
        request->exact = false;
        return request_take(request, 4, 4);
    default:
        return true;
    }
}

/* Moves an enumeration to the place where Wine expects it. A peer with 4-byte enumerations aligns them to multiples of
   4, and Wine aligns its 2-byte enumerations to multiples of 2. Wine can therefore expect the enumeration 2 bytes
   before the place where the peer wrote it. This happens only to Commit's mode, when the server name before the mode
   has an odd length. In this case the peer's request is 4 bytes longer than a request that Wine writes. */
static void narrow_enumeration(struct request *request)
{
    BYTE *at = request->bytes + request->enumeration;
    if (request->exact && request->enumeration != SIZE_MAX && request->enumeration % 4 == 2 &&
        request->at == request->enumeration + 2 && request->size == request->at + 4 && !read_16(at))
        memcpy(at, at + 2, 2);
}

HRESULT proxy_stub_check_request(const CInterfaceStubHeader *stub, unsigned opnum, BYTE *bytes, size_t size)
{
    if (opnum < 3 || opnum >= (unsigned)stub->DispatchTableCount)
        return HRESULT_FROM_WIN32(RPC_S_PROCNUM_OUT_OF_RANGE);
    unsigned offset = stub->pServerInfo->FmtStringOffset[opnum];
    if (offset == NO_FORMAT)
        return S_OK;
    const MIDL_STUB_DESC *description = stub->pServerInfo->pStubDesc;
    /* The format string begins with the handle type, flags, RPC flags (optional), opnum, stack size and buffer sizes.
       Two more bytes follow: flags, and the number of parameters. */
    const BYTE *format = stub->pServerInfo->ProcString + offset;
    format += format[1] & PROCEDURE_HAS_RPC_FLAGS ? 14 : 10;
    unsigned flags = format[0], count = format[1];
    format += 2;
    if (flags & PROCEDURE_HAS_EXTENSIONS)
        format += *format;
    struct request request = {bytes, size, 0, true, SIZE_MAX, os_is_wine() ? 8 : 4};
    for (; count; count--, format += 6) {
        unsigned parameter = read_16(format);
        if (!(parameter & PARAMETER_IN))
            continue;
        if (!(parameter & PARAMETER_BASE_TYPE
                  ? take_base_type(&request, format[4])
                  : take_parameter(&request, description, description->pFormatTypes + read_16(format + 4))))
            return HRESULT_FROM_WIN32(RPC_X_BAD_STUB_DATA);
    }
    narrow_enumeration(&request);
    return S_OK;
}

/* Makes one call inside a frame with an exception handler. Wine's rpcrt4 itself catches the exceptions of a method,
   except those that cannot be continued, and returns the bare code (c0000005) from Invoke. Windows' combase catches all
   exceptions of a method, but outside of Invoke; other callers of a stub catch nothing. GCC has no __try, so the frame
   is written in assembly. In 64-bit programs, its unwind data specify the C runtime's handler. The handler's scope
   table directs every exception within the call to the line after the call. A handler for the whole process (a vectored
   handler) would see exceptions that the inner code handles itself; this handler sees only unhandled ones. */

/* Calls rpcrt4's CStdStubBuffer_Invoke. *exception is 0, or the code of an exception; after an exception the result is
   meaningless. */
HRESULT proxy_stub_call_in_frame(IRpcStubBuffer *stub, RPCOLEMESSAGE *message, IRpcChannelBuffer *channel,
                                 DWORD *exception);

#ifdef __x86_64__
enum {
    EXCEPTION_SLOT = 72
}; /* offset from the frame's stack pointer to the caller's home slot of the fourth argument */

/* The frame's filter, called before unwinding. The filter stores the exception's code, because Wine's handler, unlike
   Windows', does not pass it to the code after the call. */
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

/* In 32-bit programs, frames with handlers form a list that begins at fs:0; the link of each frame is 20 bytes below
   the address in its ebp. The handler itself unwinds to its frame (RtlUnwind preserves only esp) and continues after
   the call. */
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
        "Lproxy_stub_handler:\n" /* first two arguments: exception record and frame; the caller removes them */
        "    movl 4(%esp), %eax\n"
        "    testl $6, 4(%eax)\n" /* do nothing while other code unwinds the stack */
        "    jnz 1f\n"
        "    movl 8(%esp), %edx\n"
        "    movl 40(%edx), %edx\n" /* the fourth argument of proxy_stub_call_in_frame */
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
#error "The frames above support only x86-64 and x86"
#endif

/* Converts the code of an exception to an HRESULT. rpcrt4 raises Win32 errors, and oleaut32's marshalling raises
   HRESULTs. All other codes are exceptions: c... comes from the processor or Windows, e... from a language's runtime,
   and 8000000x or 8000010x from breakpoints, functions that Wine lacks, and the like. */
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
    /* The result of Invoke shows whether the method was called and returned; the method's result is in the reply. */
    return FAILED(hr) ? rpc_error((DWORD)hr) : hr;
}

/* SPDX-License-Identifier: MIT */
/* Walks a request along the format string (-Oicf) of its method: NDR transfer syntax 2.0, little-endian. */
#include "com/proxy/proxy_stub_request.h"

#include "engine/base/host.h"

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

static const unsigned NO_FORMAT = 0xffff; /* the offset of a method that another interface's stub serves */

struct request {
    BYTE *bytes;
    size_t size, at;
    bool exact;              /* `at` is the place of the next parameter; false: the lowest place that it can have */
    size_t enumeration;      /* the place of the last enumeration, SIZE_MAX: none */
    size_t pointee_boundary; /* where a user-marshalled pointer's value begins: 4, but Wine aligns it at 8 */
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

/* Steps over size bytes at the next multiple of alignment. False: the request ends before. */
static bool take(struct request *request, size_t alignment, size_t size)
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
    return take(request, size, size);
}

/* max_count, bytes, count of 16-bit units (MS-OAUT 2.2.23.2), then the units. A BSTR of no text has bytes ffffffff. */
static bool take_bstr(struct request *request)
{
    if (!take(request, request->pointee_boundary, 12))
        return false;
    const BYTE *header = request->bytes + request->at - 12;
    ULONG count = read_32(header), units = read_32(header + 8);
    return count == units && units <= request->size / 2 && take(request, 1, (size_t)units * 2);
}

static bool take_user_marshalled(struct request *request, const MIDL_STUB_DESC *description, const BYTE *type)
{
    const USER_MARSHAL_ROUTINE_QUADRUPLE *routines = &description->aUserMarshalQuadruple[read_16(type + 2)];
    if (!take(request, 4, 4))
        return false;
    if (!request->exact)
        return true;
    /* A null pointer ends here, but not for Wine, which does not look at it. */
    if (request->pointee_boundary == 4 && !read_32(request->bytes + request->at - 4))
        return true;
    if (routines->pfnUnmarshall == (USER_MARSHAL_UNMARSHALLING_ROUTINE)BSTR_UserUnmarshal)
        return take_bstr(request);
    request->exact = false;
    /* At the least: the head of a VARIANT (MS-OAUT 2.2.29.2), the pointer of a SAFEARRAY. */
    return routines->pfnUnmarshall == (USER_MARSHAL_UNMARSHALLING_ROUTINE)VARIANT_UserUnmarshal
               ? take(request, request->pointee_boundary, 20)
               : take(request, request->pointee_boundary, 4);
}

static bool take_parameter(struct request *request, const MIDL_STUB_DESC *description, const BYTE *type)
{
    switch (*type) {
    case TYPE_USER_MARSHAL:
        return take_user_marshalled(request, description, type);
    case TYPE_STRUCT:
        return take(request, type[1] + 1u, read_16(type + 2));
    case TYPE_INTERFACE_POINTER:
        request->exact = false;
        return take(request, 4, 4);
    default:
        return true;
    }
}

/* A peer whose enumerations have 4 bytes puts one at a multiple of 4; one of 2 bytes may stand 2 before that, as
   Commit's mode does behind a server name of an odd length. Such a peer's request is 4 bytes longer than it would be
   with 2. */
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
    /* Handle type, flags, RPC flags or none, opnum, stack size, buffer sizes; then flags and count of parameters. */
    const BYTE *format = stub->pServerInfo->ProcString + offset;
    format += format[1] & PROCEDURE_HAS_RPC_FLAGS ? 14 : 10;
    unsigned flags = format[0], count = format[1];
    format += 2;
    if (flags & PROCEDURE_HAS_EXTENSIONS)
        format += *format;
    struct request request = {bytes, size, 0, true, SIZE_MAX, host_is_wine() ? 8 : 4};
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

/* SPDX-License-Identifier: MIT */
/* Performs the ITypeInfo and ITypeLib calls of remote clients (MS-OAUT 3.7 and 3.11). PowerShell and Visual Basic use
   these calls to list members. oleaut32 reads the descriptions from the type library, and this file encodes them in
   MS-OAUT's form. A structure is followed by the targets of its pointers, in the order of the pointers. */
#include "com/remote/calls.h"
#include "engine/base/assert.h"

#include <string.h>

enum {
    INFO_ATTRIBUTES = 3,
    INFO_COMPILER = 4,
    INFO_FUNCTION = 5,
    INFO_VARIABLE = 6,
    INFO_NAMES = 7,
    INFO_BASE = 8,
    INFO_BASE_FLAGS = 9,
    INFO_DOCUMENTATION = 12,
    INFO_DLL_ENTRY = 13,
    INFO_REFERRED = 14,
    INFO_CREATE = 16,
    INFO_MOPS = 17,
    INFO_LIBRARY = 18,
    LIBRARY_COUNT = 3,
    LIBRARY_INFO = 4,
    LIBRARY_INFO_KIND = 5,
    LIBRARY_INFO_OF_GUID = 6,
    LIBRARY_ATTRIBUTES = 7,
    LIBRARY_DOCUMENTATION = 9,
    NAMES_MOST = 256,
    DEEPEST = 16, /* levels of pointers to pointers */
    REFERENT = 0x20000
};

static void pointer_write(struct ndr_writer *w, bool is_there)
{
    ndr_write_u32(w, is_there ? REFERENT : 0);
}

/* ---- types ---- */

static bool type_has_pointee(const TYPEDESC *t)
{
    return t->vt == VT_PTR || t->vt == VT_SAFEARRAY || t->vt == VT_CARRAY;
}

/* Writes a union, whose tag is the VARTYPE, and then the VARTYPE again. */
static void type_write(struct ndr_writer *w, const TYPEDESC *t)
{
    ndr_add(w, 4, 0);
    ndr_write_u16(w, t->vt);
    if (type_has_pointee(t))
        pointer_write(w, true);
    else if (t->vt == VT_USERDEFINED)
        ndr_write_u32(w, t->hreftype);
    ndr_write_u16(w, t->vt);
}

static void type_write_pointee(struct ndr_writer *w, const TYPEDESC *t, unsigned depth)
{
    if (!type_has_pointee(t))
        return;
    if (depth > DEEPEST) {
        w->failed = true;
        return;
    }
    if (t->vt != VT_CARRAY) {
        type_write(w, t->lptdesc);
        type_write_pointee(w, t->lptdesc, depth + 1);
        return;
    }
    const ARRAYDESC *a = t->lpadesc;
    ndr_write_u32(w, a->cDims);
    type_write(w, &a->tdescElem);
    ndr_write_u16(w, a->cDims);
    for (USHORT i = 0; i < a->cDims; i++) {
        ndr_write_u32(w, a->rgbounds[i].cElements);
        ndr_write_u32(w, (uint32_t)a->rgbounds[i].lLbound);
    }
    type_write_pointee(w, &a->tdescElem, depth + 1);
}

/* ---- parameters, functions, variables ---- */

static bool element_has_default(const ELEMDESC *e)
{
    return e->paramdesc.wParamFlags & PARAMFLAG_FHASDEFAULT && e->paramdesc.pparamdescex;
}

static void element_write(struct ndr_writer *w, const ELEMDESC *e)
{
    type_write(w, &e->tdesc);
    pointer_write(w, element_has_default(e));
    ndr_write_u16(w, e->paramdesc.wParamFlags);
}

static HRESULT element_write_pointees(struct remote_call *c, struct ndr_writer *w, const ELEMDESC *e)
{
    struct ndr_variant value;
    type_write_pointee(w, &e->tdesc, 0);
    if (!element_has_default(e))
        return S_OK;
    const HRESULT hr = remote_variant_out(c, &e->paramdesc.pparamdescex->varDefaultValue, &value);
    ndr_write_u32(w, e->paramdesc.pparamdescex->cBytes);
    ndr_write_variant(w, &value);
    return hr;
}

static HRESULT function_write(struct remote_call *c, struct ndr_writer *w, const FUNCDESC *f)
{
    HRESULT hr = S_OK;
    const uint32_t results = f->lprgscode && f->cScodes > 0 ? (uint32_t)f->cScodes : 0;
    const uint32_t count = f->lprgelemdescParam && f->cParams > 0 ? (uint32_t)f->cParams : 0;
    ndr_write_u32(w, (uint32_t)f->memid);
    pointer_write(w, results);
    pointer_write(w, count);
    ndr_write_u32(w, f->funckind);
    ndr_write_u32(w, f->invkind);
    ndr_write_u32(w, f->callconv);
    ndr_write_u16(w, (uint16_t)count);
    ndr_write_u16(w, (uint16_t)f->cParamsOpt);
    ndr_write_u16(w, (uint16_t)f->oVft);
    ndr_write_u16(w, (uint16_t)results);
    element_write(w, &f->elemdescFunc);
    ndr_write_u16(w, f->wFuncFlags);
    if (results)
        ndr_write_u32(w, results);
    for (uint32_t i = 0; i < results; i++)
        ndr_write_u32(w, (uint32_t)f->lprgscode[i]);
    if (count)
        ndr_write_u32(w, count);
    for (uint32_t i = 0; i < count; i++)
        element_write(w, &f->lprgelemdescParam[i]);
    for (uint32_t i = 0; i < count && SUCCEEDED(hr); i++)
        hr = element_write_pointees(c, w, &f->lprgelemdescParam[i]);
    return SUCCEEDED(hr) ? element_write_pointees(c, w, &f->elemdescFunc) : hr;
}

static HRESULT variable_write(struct remote_call *c, struct ndr_writer *w, const VARDESC *v)
{
    const bool is_constant = v->varkind == VAR_CONST && v->lpvarValue;
    struct ndr_variant value;
    HRESULT hr = S_OK;
    ndr_write_u32(w, (uint32_t)v->memid);
    pointer_write(w, false);
    ndr_write_u32(w, v->varkind);
    ndr_write_u32(w, v->varkind == VAR_CONST ? (is_constant ? REFERENT : 0) : v->oInst);
    element_write(w, &v->elemdescVar);
    ndr_write_u16(w, v->wVarFlags);
    ndr_write_u32(w, v->varkind);
    if (is_constant) {
        hr = remote_variant_out(c, v->lpvarValue, &value);
        ndr_write_variant(w, &value);
    }
    return SUCCEEDED(hr) ? element_write_pointees(c, w, &v->elemdescVar) : hr;
}

static void attributes_write(struct ndr_writer *w, const TYPEATTR *a)
{
    ndr_write_guid(w, &a->guid);
    ndr_write_u32(w, a->lcid);
    for (int i = 0; i < 3; i++) /* reserved (0), then MEMBERID_NIL for the constructor and the destructor */
        ndr_write_u32(w, i ? (uint32_t)MEMBERID_NIL : 0);
    pointer_write(w, false);
    ndr_write_u32(w, a->cbSizeInstance);
    ndr_write_u32(w, a->typekind);
    ndr_write_u16(w, a->cFuncs);
    ndr_write_u16(w, a->cVars);
    ndr_write_u16(w, a->cImplTypes);
    ndr_write_u16(w, a->cbSizeVft);
    ndr_write_u16(w, a->cbAlignment);
    ndr_write_u16(w, a->wTypeFlags);
    ndr_write_u16(w, a->wMajorVerNum);
    ndr_write_u16(w, a->wMinorVerNum);
    type_write(w, &a->tdescAlias);
    ndr_write_u32(w, 0);
    ndr_write_u16(w, a->idldescType.wIDLFlags);
    type_write_pointee(w, &a->tdescAlias, 0);
}

/* ---- answers: the structure after a pointer, a reserved number, the result ---- */

static void structure_end(struct ndr_writer *out, HRESULT hr)
{
    ndr_write_u32(out, 0);
    ndr_write_u32(out, (uint32_t)hr);
}

static void attributes_answer(ITypeInfo *info, struct ndr_writer *out)
{
    TYPEATTR *a = NULL;
    const HRESULT hr = ITypeInfo_GetTypeAttr(info, &a);
    pointer_write(out, SUCCEEDED(hr));
    if (SUCCEEDED(hr)) {
        attributes_write(out, a);
        ITypeInfo_ReleaseTypeAttr(info, a);
    }
    structure_end(out, hr);
}

static uint32_t description_answer(struct remote_call *c, ITypeInfo *info, struct ndr_reader *in,
                                   struct ndr_writer *out)
{
    const bool is_function = c->orpc->opnum == INFO_FUNCTION;
    const uint32_t index = ndr_read_u32(in);
    FUNCDESC *f = NULL;
    VARDESC *v = NULL;
    if (in->fault)
        return in->fault;
    HRESULT hr = is_function ? ITypeInfo_GetFuncDesc(info, index, &f) : ITypeInfo_GetVarDesc(info, index, &v);
    const size_t start = out->size;
    pointer_write(out, SUCCEEDED(hr));
    if (SUCCEEDED(hr))
        hr = is_function ? function_write(c, out, f) : variable_write(c, out, v);
    if (FAILED(hr) && !out->failed) { /* the description contains a value that cannot be sent */
        out->size = start;
        pointer_write(out, false);
    }
    if (f)
        ITypeInfo_ReleaseFuncDesc(info, f);
    if (v)
        ITypeInfo_ReleaseVarDesc(info, v);
    structure_end(out, hr);
    return 0;
}

static uint32_t names_answer(ITypeInfo *info, struct ndr_reader *in, struct ndr_writer *out)
{
    const MEMBERID id = (MEMBERID)ndr_read_u32(in);
    const uint32_t most = ndr_read_u32(in);
    BSTR names[NAMES_MOST] = {NULL};
    UINT count = 0;
    if (most > NAMES_MOST)
        ndr_fail(in, RPC_FAULT_BAD_STUB);
    if (in->fault)
        return in->fault;
    HRESULT hr = most ? ITypeInfo_GetNames(info, id, names, most, &count) : E_INVALIDARG;
    if (FAILED(hr) || count > most)
        count = 0;
    ndr_write_u32(out, most);
    ndr_write_u32(out, 0);
    ndr_write_u32(out, count);
    for (UINT i = 0; i < count; i++)
        pointer_write(out, true);
    for (UINT i = 0; i < count; i++) {
        const struct ndr_bstr name = remote_bstr_out(names[i]);
        ndr_write_bstr_pointee(out, &name);
        SysFreeString(names[i]);
    }
    ndr_write_u32(out, count);
    ndr_write_u32(out, (uint32_t)hr);
    return 0;
}

static void bstr_answer(struct ndr_writer *out, BSTR text)
{
    const struct ndr_bstr s = remote_bstr_out(text);
    ndr_write_bstr(out, &s);
    SysFreeString(text);
}

/* Writes all four results, regardless of which of them the client requested. */
static void documentation_answer(ITypeInfo *info, ITypeLib *library, int32_t id, struct ndr_writer *out)
{
    BSTR name = NULL, text = NULL, help_file = NULL;
    DWORD context = 0;
    assert(info || library);
    const HRESULT hr = info ? ITypeInfo_GetDocumentation(info, id, &name, &text, &context, &help_file)
                            : ITypeLib_GetDocumentation(library, id, &name, &text, &context, &help_file);
    bstr_answer(out, name);
    bstr_answer(out, text);
    ndr_write_u32(out, context);
    bstr_answer(out, help_file);
    ndr_write_u32(out, (uint32_t)hr);
}

/* Writes a reference to the object, or a null pointer after a failure. Takes ownership of `pointer`. */
static HRESULT object_answer(struct remote_call *c, struct ndr_writer *out, HRESULT hr, void *pointer, const GUID *iid)
{
    struct objref *o = NULL;
    if (SUCCEEDED(hr)) {
        hr = remote_object_out(c, pointer, iid, &o);
        IUnknown_Release((IUnknown *)pointer);
    }
    ndr_write_object(out, o);
    return hr;
}

static void library_answer(struct remote_call *c, ITypeInfo *info, struct ndr_writer *out)
{
    ITypeLib *library = NULL;
    UINT index = 0;
    HRESULT hr = ITypeInfo_GetContainingTypeLib(info, &library, &index);
    hr = object_answer(c, out, hr, library, &IID_ITypeLib);
    ndr_write_u32(out, index);
    ndr_write_u32(out, (uint32_t)hr);
}

static uint32_t dll_entry_answer(ITypeInfo *info, struct ndr_reader *in, struct ndr_writer *out)
{
    const MEMBERID id = (MEMBERID)ndr_read_u32(in);
    const uint32_t kind = ndr_read_u32(in);
    BSTR dll = NULL, name = NULL;
    WORD ordinal = 0;
    ndr_read_u32(in); /* skip the number that says which results the client requests */
    if (in->fault)
        return in->fault;
    const HRESULT hr = ITypeInfo_GetDllEntry(info, id, (INVOKEKIND)kind, &dll, &name, &ordinal);
    bstr_answer(out, dll);
    bstr_answer(out, name);
    ndr_write_u16(out, ordinal);
    ndr_write_u32(out, (uint32_t)hr);
    return 0;
}

uint32_t remote_type_info_call(struct remote_call *c, ITypeInfo *info, struct ndr_reader *in, struct ndr_writer *out)
{
    ITypeInfo *other = NULL;
    HREFTYPE type = 0;
    INT flags = 0;
    BSTR text = NULL;
    uint32_t argument;
    HRESULT hr;
    switch (c->orpc->opnum) {
    case INFO_ATTRIBUTES:
        attributes_answer(info, out);
        return 0;
    case INFO_FUNCTION:
    case INFO_VARIABLE:
        return description_answer(c, info, in, out);
    case INFO_NAMES:
        return names_answer(info, in, out);
    case INFO_DLL_ENTRY:
        return dll_entry_answer(info, in, out);
    case INFO_LIBRARY:
        library_answer(c, info, out);
        return 0;
    case INFO_COMPILER:
    case INFO_CREATE: /* not supported: clients create objects by activation */
        ndr_write_object(out, NULL);
        ndr_write_u32(out, (uint32_t)E_NOTIMPL);
        return 0;
    default:
        break;
    }
    argument = ndr_read_u32(in); /* an index, a type or a member ID, depending on the method */
    if (in->fault)
        return in->fault;
    switch (c->orpc->opnum) {
    case INFO_BASE:
        hr = ITypeInfo_GetRefTypeOfImplType(info, argument, &type);
        ndr_write_u32(out, type);
        break;
    case INFO_BASE_FLAGS:
        hr = ITypeInfo_GetImplTypeFlags(info, argument, &flags);
        ndr_write_u32(out, (uint32_t)flags);
        break;
    case INFO_DOCUMENTATION:
        documentation_answer(info, NULL, (int32_t)argument, out);
        return 0;
    case INFO_REFERRED:
        hr = ITypeInfo_GetRefTypeInfo(info, argument, &other);
        hr = object_answer(c, out, hr, other, &IID_ITypeInfo);
        break;
    case INFO_MOPS:
        hr = ITypeInfo_GetMops(info, (MEMBERID)argument, &text);
        bstr_answer(out, text);
        break;
    default:
        return RPC_FAULT_OPNUM;
    }
    ndr_write_u32(out, (uint32_t)hr);
    return 0;
}

static void library_attributes_answer(ITypeLib *library, struct ndr_writer *out)
{
    TLIBATTR *a = NULL;
    const HRESULT hr = ITypeLib_GetLibAttr(library, &a);
    pointer_write(out, SUCCEEDED(hr));
    if (SUCCEEDED(hr)) {
        ndr_write_guid(out, &a->guid);
        ndr_write_u32(out, a->lcid);
        ndr_write_u32(out, a->syskind);
        ndr_write_u16(out, a->wMajorVerNum);
        ndr_write_u16(out, a->wMinorVerNum);
        ndr_write_u16(out, a->wLibFlags);
        ITypeLib_ReleaseTLibAttr(library, a);
    }
    structure_end(out, hr);
}

uint32_t remote_type_lib_call(struct remote_call *c, ITypeLib *library, struct ndr_reader *in, struct ndr_writer *out)
{
    ITypeInfo *info = NULL;
    TYPEKIND kind = TKIND_ENUM;
    GUID guid = {0};
    uint32_t index = 0;
    HRESULT hr = S_OK;
    if (c->orpc->opnum == LIBRARY_INFO_OF_GUID)
        guid = ndr_read_guid(in);
    else if (c->orpc->opnum != LIBRARY_COUNT && c->orpc->opnum != LIBRARY_ATTRIBUTES)
        index = ndr_read_u32(in);
    if (in->fault)
        return in->fault;
    switch (c->orpc->opnum) {
    case LIBRARY_COUNT:
        ndr_write_u32(out, ITypeLib_GetTypeInfoCount(library));
        break;
    case LIBRARY_INFO:
        hr = ITypeLib_GetTypeInfo(library, index, &info);
        hr = object_answer(c, out, hr, info, &IID_ITypeInfo);
        break;
    case LIBRARY_INFO_KIND:
        hr = ITypeLib_GetTypeInfoType(library, index, &kind);
        ndr_write_u32(out, kind);
        break;
    case LIBRARY_INFO_OF_GUID:
        hr = ITypeLib_GetTypeInfoOfGuid(library, &guid, &info);
        hr = object_answer(c, out, hr, info, &IID_ITypeInfo);
        break;
    case LIBRARY_ATTRIBUTES:
        library_attributes_answer(library, out);
        return 0;
    case LIBRARY_DOCUMENTATION:
        documentation_answer(NULL, library, (int32_t)index, out);
        return 0;
    default:
        return RPC_FAULT_OPNUM;
    }
    ndr_write_u32(out, (uint32_t)hr);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Performs the IDispatch calls of remote clients: names, Invoke with arguments by reference, type information. */
#include "com/objects/wrapper.h"
#include "com/remote/calls.h"
#include "engine/rpc/dispatch.h"

#include <string.h>

/* ---- names ---- */

static uint32_t names_call(struct remote_call *c, struct wrapper *s, struct ndr_reader *in, struct ndr_writer *out)
{
    struct dispatch_names names;
    WCHAR *texts[DISPATCH_NAMES_MOST];
    DISPID ids[DISPATCH_NAMES_MOST];
    dispatch_read_names(in, &names);
    if (in->fault)
        return in->fault;
    for (size_t i = 0; i < names.count; i++) {
        ids[i] = DISPID_UNKNOWN;
        texts[i] = ndr_arena_take(&c->arena, names.names[i].size / 2 + 1, sizeof(WCHAR));
        if (!texts[i])
            return RPC_FAULT_NO_MEMORY;
        memcpy(texts[i], names.names[i].bytes, names.names[i].size);
    }
    const HRESULT hr = dispatch_get_ids(s, &IID_NULL, texts, (UINT)names.count, ids);
    dispatch_write_ids(out, (const int32_t *)ids, names.count, hr);
    return 0;
}

/* ---- Invoke ---- */

struct invocation {
    VARIANT arguments[DISPATCH_ARGUMENTS_MOST];
    VARIANT referents[DISPATCH_ARGUMENTS_MOST]; /* targets of the arguments that are passed by reference */
    DISPID named[DISPATCH_ARGUMENTS_MOST];
    VARIANT value;
    EXCEPINFO exception;
    UINT wrong;
};

/* Encodes the target of a reference with the type that the client's reference had. */
static HRESULT referent_out(struct remote_call *c, const struct ndr_variant *given, VARIANT *referent,
                            struct ndr_variant *out)
{
    HRESULT hr;
    if (given->vt != (VT_VARIANT | VT_BYREF)) {
        hr = remote_variant_out(c, referent, out);
        out->vt |= VT_BYREF;
        return hr;
    }
    struct ndr_variant *inner = ndr_arena_take(&c->arena, 1, sizeof *inner);
    if (!inner)
        return E_OUTOFMEMORY;
    *out = (struct ndr_variant){.vt = given->vt, .variant = inner};
    return remote_variant_out(c, referent, inner);
}

static HRESULT result_out(struct remote_call *c, const struct dispatch_invoke *d, struct invocation *i,
                          struct dispatch_result *result)
{
    EXCEPINFO *e = &i->exception;
    if (result->hr == DISP_E_EXCEPTION && e->pfnDeferredFillIn)
        e->pfnDeferredFillIn(e);
    result->code = e->wCode;
    result->source = remote_bstr_out(e->bstrSource);
    result->description = remote_bstr_out(e->bstrDescription);
    result->help_file = remote_bstr_out(e->bstrHelpFile);
    result->help_context = e->dwHelpContext;
    result->scode = e->scode;
    result->wrong_argument = i->wrong;
    result->reference_count = d->reference_count;
    HRESULT hr = remote_variant_out(c, &i->value, &result->value);
    for (size_t k = 0; k < d->reference_count; k++) {
        const uint32_t at = d->references[k];
        const HRESULT written = referent_out(c, &d->arguments[at], &i->referents[at], &result->references[k]);
        hr = FAILED(hr) ? hr : written;
    }
    return hr;
}

static void invocation_clear(struct invocation *i, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (!(V_VT(&i->arguments[k]) & VT_BYREF))
            VariantClear(&i->arguments[k]);
        VariantClear(&i->referents[k]);
    }
    VariantClear(&i->value);
    SysFreeString(i->exception.bstrSource);
    SysFreeString(i->exception.bstrDescription);
    SysFreeString(i->exception.bstrHelpFile);
}

static uint32_t invoke_call(struct remote_call *c, struct wrapper *s, struct ndr_reader *in, struct ndr_writer *out)
{
    struct dispatch_invoke *d = ndr_arena_take(&c->arena, 1, sizeof *d);
    struct dispatch_result *result = ndr_arena_take(&c->arena, 1, sizeof *result);
    struct invocation *i = ndr_arena_take(&c->arena, 1, sizeof *i);
    uint32_t fault = 0;
    if (!d || !result || !i)
        return RPC_FAULT_NO_MEMORY;
    dispatch_read_invoke(in, &c->arena, d);
    if (in->fault)
        return in->fault;
    for (size_t k = 0; k < d->count && !fault; k++)
        fault = remote_variant_in(c, &d->arguments[k], &i->arguments[k], &i->referents[k]);
    if (!fault) {
        for (size_t k = 0; k < d->named_count; k++)
            i->named[k] = d->named[k];
        DISPPARAMS parameters = {i->arguments, d->named_count ? i->named : NULL, (UINT)d->count, (UINT)d->named_count};
        result->hr =
            dispatch_invoke(s, d->id, &IID_NULL, (WORD)d->flags, &parameters, &i->value, &i->exception, &i->wrong);
        const HRESULT written = result_out(c, d, i, result);
        if (SUCCEEDED(result->hr) && FAILED(written))
            result->hr = written;
        dispatch_write_result(out, result);
    }
    invocation_clear(i, d->count);
    return fault;
}

/* ---- type information ---- */

static uint32_t type_info_call(struct remote_call *c, struct wrapper *s, struct ndr_reader *in, struct ndr_writer *out)
{
    ITypeInfo *info = NULL;
    struct objref *o = NULL;
    const uint32_t index = ndr_read_u32(in);
    ndr_read_u32(in); /* the language */
    if (in->fault)
        return in->fault;
    HRESULT hr = dispatch_get_type_info(s, index, &info);
    if (SUCCEEDED(hr)) {
        hr = remote_object_out(c, (IUnknown *)info, &IID_ITypeInfo, &o);
        ITypeInfo_Release(info);
    }
    ndr_write_object(out, o);
    ndr_write_u32(out, (uint32_t)hr);
    return 0;
}

uint32_t remote_dispatch_call(struct remote_call *c, void *pointer, struct ndr_reader *in, struct ndr_writer *out)
{
    struct wrapper *s = wrapper_of(pointer); /* it is a wrapper, because no other objects have IDispatch */
    switch (c->orpc->opnum) {
    case DISPATCH_TYPE_INFO_COUNT:
        ndr_write_u32(out, 1);
        ndr_write_u32(out, S_OK);
        return 0;
    case DISPATCH_TYPE_INFO:
        return type_info_call(c, s, in, out);
    case DISPATCH_NAMES:
        return names_call(c, s, in, out);
    case DISPATCH_INVOKE:
        return invoke_call(c, s, in, out);
    default:
        return RPC_FAULT_OPNUM;
    }
}

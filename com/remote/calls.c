/* SPDX-License-Identifier: MIT */
/* The handler for engine/rpc: creates objects of the classes, and calls the vtable slots of their interfaces. All
   methods are called in the same way: in 64-bit programs each argument takes a register or 8 bytes of the stack, and a
   GUID or VARIANT is passed by its address. The handler never calls a client's object. The only objects that it accepts
   as arguments are objects of this server, so it never waits for another computer. */
#include "com/remote/calls.h"

#include "com/objects/convert.h"
#include "com/server/call_entry.h"
#include "com/server/server.h"
#include "engine/base/text.h"
#include "engine/rpc/dispatch.h"

#include <string.h>

enum { SUPPORTS_ERROR_INFO = 3 };

static bool is_iid(const GUID *iid, const GUID *expected)
{
    return guid_equal(iid, expected);
}

static bool handler_serves(void *user, const GUID *iid)
{
    static const GUID *const others[] = {&IID_IUnknown,          &IID_IDispatch, &IID_IEnumVARIANT, &IID_IClassFactory,
                                         &IID_ISupportErrorInfo, &IID_ITypeInfo, &IID_ITypeLib};
    (void)user;
    for (size_t i = 0; i < ARRAYSIZE(others); i++)
        if (is_iid(iid, others[i]))
            return true;
    return remote_type_find(iid) != NULL;
}

/* ---- classes ---- */

static HRESULT handler_activate(void *user, const struct orpc_call *call, const GUID *clsid, bool is_factory,
                                void **object)
{
    (void)user;
    (void)call;
    *object = NULL;
    for (size_t i = 0; i < COM_CLASS_COUNT; i++) {
        CLSID own;
        IUnknown *factory = com_class_factory(i, false, &own);
        if (!is_iid(clsid, &own))
            continue;
        if (!is_factory)
            return IClassFactory_CreateInstance((IClassFactory *)factory, NULL, &IID_IUnknown, object);
        IUnknown_AddRef(factory);
        *object = factory;
        return S_OK;
    }
    return REGDB_E_CLASSNOTREG;
}

static HRESULT handler_query(void *user, void *object, const GUID *iid, void **pointer)
{
    (void)user;
    return IUnknown_QueryInterface((IUnknown *)object, iid, pointer);
}

static void handler_release(void *user, void *pointer)
{
    (void)user;
    IUnknown_Release((IUnknown *)pointer);
}

/* Performs CreateInstance (without an outer object) and LockServer. LockServer has no effect, because it would keep the
   server running after the client has exited. */
static uint32_t factory_call(struct remote_call *c, IClassFactory *factory, struct ndr_reader *in,
                             struct ndr_writer *out)
{
    IUnknown *object = NULL;
    struct objref *o = NULL;
    if (c->orpc->opnum == FACTORY_LOCK) {
        ndr_write_u32(out, S_OK);
        return 0;
    }
    const GUID iid = ndr_read_guid(in);
    if (c->orpc->opnum != FACTORY_CREATE || in->fault)
        return in->fault ? in->fault : RPC_FAULT_OPNUM;
    HRESULT hr = handler_serves(NULL, &iid) ? IClassFactory_CreateInstance(factory, NULL, &iid, (void **)&object)
                                            : E_NOINTERFACE;
    if (SUCCEEDED(hr)) {
        hr = remote_object_out(c, object, &iid, &o);
        IUnknown_Release(object);
    }
    ndr_write_object(out, o);
    ndr_write_u32(out, (uint32_t)hr);
    return 0;
}

/* ---- enumerators: MS-OAUT 3.3 ---- */

static HRESULT values_out(struct remote_call *c, VARIANT *values, ULONG count, struct ndr_variant *items)
{
    HRESULT hr = S_OK;
    for (ULONG i = 0; i < count && SUCCEEDED(hr); i++)
        hr = remote_variant_out(c, &values[i], &items[i]);
    return hr;
}

static uint32_t enumerate_next(struct remote_call *c, IEnumVARIANT *enumerator, struct ndr_reader *in,
                               struct ndr_writer *out)
{
    const uint32_t asked = enum_read_next(in);
    ULONG count = 0;
    if (in->fault)
        return in->fault;
    VARIANT *values = ndr_arena_take(&c->arena, asked, sizeof *values);
    struct ndr_variant *items = ndr_arena_take(&c->arena, asked, sizeof *items);
    if (!values || !items)
        return RPC_FAULT_NO_MEMORY;
    HRESULT hr = asked ? IEnumVARIANT_Next(enumerator, asked, values, &count) : S_OK;
    if (SUCCEEDED(hr)) {
        const HRESULT written = values_out(c, values, count, items);
        hr = FAILED(written) ? written : hr;
    }
    enum_write_values(out, asked, items, FAILED(hr) ? 0 : count, hr);
    for (ULONG i = 0; i < count; i++)
        VariantClear(&values[i]);
    return 0;
}

static uint32_t enumerator_call(struct remote_call *c, IEnumVARIANT *enumerator, struct ndr_reader *in,
                                struct ndr_writer *out)
{
    IEnumVARIANT *clone = NULL;
    struct objref *o = NULL;
    HRESULT hr;
    switch (c->orpc->opnum) {
    case ENUM_NEXT:
        return enumerate_next(c, enumerator, in, out);
    case ENUM_SKIP: {
        const uint32_t count = ndr_read_u32(in);
        if (in->fault)
            return in->fault;
        hr = IEnumVARIANT_Skip(enumerator, count);
        break;
    }
    case ENUM_RESET:
        hr = IEnumVARIANT_Reset(enumerator);
        break;
    case ENUM_CLONE:
        hr = IEnumVARIANT_Clone(enumerator, &clone);
        if (SUCCEEDED(hr)) {
            hr = remote_object_out(c, (IUnknown *)clone, &IID_IEnumVARIANT, &o);
            IEnumVARIANT_Release(clone);
        }
        ndr_write_object(out, o);
        break;
    default:
        return RPC_FAULT_OPNUM;
    }
    ndr_write_u32(out, (uint32_t)hr);
    return 0;
}

static uint32_t error_support_call(struct remote_call *c, ISupportErrorInfo *support, struct ndr_reader *in,
                                   struct ndr_writer *out)
{
    const GUID iid = ndr_read_guid(in);
    if (c->orpc->opnum != SUPPORTS_ERROR_INFO || in->fault)
        return in->fault ? in->fault : RPC_FAULT_OPNUM;
    ndr_write_u32(out, (uint32_t)ISupportErrorInfo_InterfaceSupportsErrorInfo(support, &iid));
    return 0;
}

/* ---- the slots of the 18 interfaces ---- */

/* An argument in COM's form. */
union argument {
    uint64_t number;
    GUID guid;
    BSTR string;
    VARIANT variant;
    SAFEARRAY *array;
    IUnknown *object;
};
typedef HRESULT STDMETHODCALLTYPE method_slot(void *, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
struct vtable {
    method_slot *slots[1];
};
_Static_assert(REMOTE_PARAMETERS_MOST == 6, "method_slot has REMOTE_PARAMETERS_MOST arguments after the object");

static uint32_t argument_in(struct remote_call *c, const struct remote_parameter *p, const struct remote_value *v,
                            union argument *a)
{
    switch (p->kind) {
    case REMOTE_GUID:
        a->guid = v->guid;
        return 0;
    case REMOTE_BSTR:
        return remote_bstr_in(&v->string, &a->string);
    case REMOTE_VARIANT:
        return remote_variant_in(c, &v->variant, &a->variant, NULL);
    case REMOTE_ARRAY:
        return remote_array_in(c, v->array, &a->array);
    case REMOTE_OBJECT:
        return remote_object_in(c, v->object, remote_object_iid(p), (void **)&a->object);
    default:
        a->number = v->number;
        return 0;
    }
}

static HRESULT argument_out(struct remote_call *c, const struct remote_parameter *p, const union argument *a,
                            struct remote_value *v)
{
    switch (p->kind) {
    case REMOTE_GUID:
        v->guid = a->guid;
        return S_OK;
    case REMOTE_BSTR:
        v->string = remote_bstr_out(a->string);
        return S_OK;
    case REMOTE_VARIANT:
        return remote_variant_out(c, &a->variant, &v->variant);
    case REMOTE_ARRAY:
        return remote_array_out(c, a->array, &v->array);
    case REMOTE_OBJECT:
        return remote_object_out(c, a->object, remote_object_iid(p), &v->object);
    default:
        v->number = a->number;
        return S_OK;
    }
}

static void argument_clear(const struct remote_parameter *p, union argument *a)
{
    switch (p->kind) {
    case REMOTE_BSTR:
        bstr_wipe(a->string); /* it can be a password */
        SysFreeString(a->string);
        break;
    case REMOTE_VARIANT:
        VariantClear(&a->variant);
        break;
    case REMOTE_ARRAY:
        if (a->array)
            SafeArrayDestroy(a->array);
        break;
    case REMOTE_OBJECT:
        if (a->object)
            IUnknown_Release(a->object);
        break;
    default:
        break;
    }
}

static HRESULT slot_call(void *pointer, uint16_t opnum, const struct remote_method *m, union argument *arguments)
{
    uint64_t words[REMOTE_PARAMETERS_MOST] = {0};
    const struct vtable *table = *(struct vtable **)pointer;
    for (size_t i = 0; i < m->count; i++) {
        const struct remote_parameter *p = &m->parameters[i];
        words[i] = p->is_out || p->kind == REMOTE_GUID || p->kind == REMOTE_VARIANT ? (uint64_t)(uintptr_t)&arguments[i]
                                                                                    : arguments[i].number;
    }
    return table->slots[opnum](pointer, words[0], words[1], words[2], words[3], words[4], words[5]);
}

static uint32_t method_call(struct remote_call *c, const struct remote_type *type, void *pointer, struct ndr_reader *in,
                            struct ndr_writer *out)
{
    const struct remote_method *m = remote_method_of(type, c->orpc->opnum);
    struct remote_value values[REMOTE_PARAMETERS_MOST];
    union argument arguments[REMOTE_PARAMETERS_MOST];
    uint32_t fault = 0;
    HRESULT hr = S_OK;
    if (!m)
        return RPC_FAULT_OPNUM;
    memset(arguments, 0, sizeof arguments);
    remote_read_request(m, in, &c->arena, c->orpc->array_form, values);
    if (in->fault)
        return in->fault;
    for (size_t i = 0; i < m->count && !fault; i++)
        fault = m->parameters[i].is_out ? 0 : argument_in(c, &m->parameters[i], &values[i], &arguments[i]);
    if (!fault) {
        hr = slot_call(pointer, c->orpc->opnum, m, arguments);
        if (FAILED(hr))
            remote_error_out(c->orpc);
        for (size_t i = 0; i < m->count && SUCCEEDED(hr); i++)
            hr = m->parameters[i].is_out ? argument_out(c, &m->parameters[i], &arguments[i], &values[i]) : hr;
        remote_write_answer(m, out, *c->orpc->array_form, values, hr);
    }
    for (size_t i = 0; i < m->count; i++)
        argument_clear(&m->parameters[i], &arguments[i]);
    return fault;
}

/* ---- calls ---- */

static uint32_t interface_call(struct remote_call *c, void *pointer, struct ndr_reader *in, struct ndr_writer *out)
{
    const GUID *iid = &c->orpc->iid;
    const struct remote_type *type = remote_type_find(iid);
    if (type && c->orpc->opnum >= REMOTE_FIRST_OPNUM)
        return method_call(c, type, pointer, in, out);
    if (type || is_iid(iid, &IID_IDispatch))
        return remote_dispatch_call(c, pointer, in, out);
    if (is_iid(iid, &IID_IEnumVARIANT))
        return enumerator_call(c, pointer, in, out);
    if (is_iid(iid, &IID_IClassFactory))
        return factory_call(c, pointer, in, out);
    if (is_iid(iid, &IID_ISupportErrorInfo))
        return error_support_call(c, pointer, in, out);
    if (is_iid(iid, &IID_ITypeInfo))
        return remote_type_info_call(c, pointer, in, out);
    if (is_iid(iid, &IID_ITypeLib))
        return remote_type_lib_call(c, pointer, in, out);
    return RPC_FAULT_OPNUM;
}

static uint32_t handler_call(void *user, struct orpc_call *orpc, void *pointer, struct ndr_reader *in,
                             struct ndr_writer *out)
{
    struct remote_call c = {.orpc = orpc};
    struct call_entry entry;
    (void)user;
    HRESULT hr = call_enter(&entry);
    if (FAILED(hr))
        return (uint32_t)hr;
    SetErrorInfo(0, NULL);
    const uint32_t fault = interface_call(&c, pointer, in, out);
    call_leave(&entry);
    ndr_arena_free(&c.arena);
    return fault;
}

const struct orpc_handler remote_handler = {.serves = handler_serves,
                                            .activate = handler_activate,
                                            .query = handler_query,
                                            .release = handler_release,
                                            .call = handler_call};

/* SPDX-License-Identifier: MIT */
#include "tests/rpc/made_up_class.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/rpc/dispatch.h"

#include <stdatomic.h>

const GUID made_up_class = {0xC0FFEE00, 0, 0, {0, 0, 0, 0, 0, 0, 0, 1}};
const GUID made_up_iid = {0xC0FFEE01, 0, 0, {0, 0, 0, 0, 0, 0, 0, 1}};
const GUID made_up_other_iid = {0xC0FFEE02, 0, 0, {0, 0, 0, 0, 0, 0, 0, 1}};

struct thing {
    atomic_uint references;
};
static atomic_uint alive;

unsigned made_up_objects(void)
{
    return alive;
}

static HRESULT made_up_create(void **out)
{
    struct thing *t = memory_zero(1, sizeof *t);
    *out = t;
    if (!t)
        return E_OUTOFMEMORY;
    t->references = 1;
    alive++;
    return S_OK;
}

static bool serves(void *user, const GUID *iid)
{
    (void)user;
    return guid_equal(iid, &made_up_iid) || guid_equal(iid, &made_up_other_iid) || guid_equal(iid, &dispatch_iid) ||
           guid_equal(iid, &enum_variant_iid);
}

static HRESULT activate(void *user, const struct orpc_call *call, const GUID *clsid, bool is_factory, void **object)
{
    (void)user;
    (void)call;
    *object = NULL;
    return guid_equal(clsid, &made_up_class) && !is_factory ? made_up_create(object) : ORPC_CLASS_NOT_REGISTERED;
}

static HRESULT query(void *user, void *object, const GUID *iid, void **pointer)
{
    struct thing *t = object;
    *pointer = NULL;
    if (!guid_equal(iid, &orpc_iid_unknown) && !serves(user, iid))
        return E_NOINTERFACE;
    t->references++;
    *pointer = t;
    return S_OK;
}

static void release(void *user, void *pointer)
{
    struct thing *t = pointer;
    (void)user;
    if (--t->references)
        return;
    alive--;
    memory_free(t);
}

static HRESULT write_child(struct orpc_call *call, struct ndr_writer *out)
{
    struct objref o;
    void *child;
    HRESULT hr = made_up_create(&child);
    if (FAILED(hr))
        return hr;
    hr = orpc_export(call, child, &made_up_iid, &o);
    release(NULL, child);
    ndr_write_object(out, SUCCEEDED(hr) ? &o : NULL);
    return hr;
}

static uint32_t call_method(struct orpc_call *call, void *pointer, struct ndr_reader *in, struct ndr_arena *arena,
                            struct ndr_writer *out)
{
    HRESULT hr = S_OK;
    struct ndr_bstr text;
    struct ndr_variant variant;
    struct ndr_array *array;
    struct objref *o;
    void *other;
    uint32_t fault;
    switch (call->opnum) {
    case MADE_UP_ADD: {
        const uint32_t a = ndr_read_u32(in);
        ndr_write_u32(out, a + ndr_read_u32(in));
        break;
    }
    case MADE_UP_ECHO:
        ndr_read_bstr(in, &text);
        ndr_write_bstr(out, &text);
        break;
    case MADE_UP_CHILD:
        hr = write_child(call, out);
        break;
    case MADE_UP_VARIANT:
        ndr_read_variant(in, arena, &variant);
        ndr_write_variant(out, &variant);
        break;
    case MADE_UP_ARRAY:
        ndr_read_array(in, arena, call->array_form, &array);
        ndr_write_array(out, *call->array_form, array);
        break;
    case MADE_UP_IS_SELF:
        ndr_read_object(in, arena, &o);
        if (in->fault || !o)
            return in->fault ? in->fault : RPC_FAULT_BAD_STUB;
        fault = orpc_import(call, o, &made_up_iid, &other);
        if (fault)
            return fault;
        ndr_write_u32(out, other == pointer);
        release(NULL, other);
        break;
    case MADE_UP_FAIL:
        ndr_write_bytes(&call->error_info, "why", 3);
        hr = E_FAIL;
        break;
    default:
        return RPC_FAULT_OPNUM;
    }
    ndr_write_u32(out, (uint32_t)hr);
    return in->fault;
}

static bool name_is(const struct ndr_bstr *name, const char *text)
{
    size_t i = 0;
    for (; 2 * i < name->size && text[i]; i++)
        if (ndr_load_u16(name->bytes + 2 * i) != (uint8_t)text[i])
            return false;
    return 2 * i == name->size && !text[i];
}

static void write_ids(const struct dispatch_names *names, struct ndr_writer *out)
{
    int32_t ids[DISPATCH_NAMES_MOST];
    HRESULT hr = S_OK;
    for (size_t i = 0; i < names->count; i++) {
        ids[i] = name_is(&names->names[i], "Add") ? 1 : name_is(&names->names[i], "Fail") ? 2 : -1;
        if (ids[i] < 0)
            hr = (HRESULT)0x80020006; /* DISP_E_UNKNOWNNAME */
    }
    dispatch_write_ids(out, ids, names->count, hr);
}

static void write_invoked(const struct dispatch_invoke *d, struct ndr_writer *out)
{
    struct dispatch_result result = {
        .source = {.is_null = true}, .description = {.is_null = true}, .help_file = {.is_null = true}};
    uint32_t sum = 0;
    for (size_t i = 0; i < d->count; i++)
        sum += (uint32_t)d->arguments[i].number;
    if (d->id == 1)
        result.value = (struct ndr_variant){.vt = NDR_I4, .number = sum};
    else {
        result.description = (struct ndr_bstr){.bytes = (const uint8_t *)"w\0h\0y\0", .size = 6};
        result.scode = E_FAIL;
        result.hr = (HRESULT)0x80020009; /* DISP_E_EXCEPTION */
    }
    for (size_t i = 0; i < d->reference_count; i++) {
        result.references[i] = d->arguments[d->references[i]];
        if (ndr_number_size(result.references[i].vt & (uint16_t)~NDR_BYREF) == 4)
            result.references[i].number = (uint32_t)(result.references[i].number + 1000);
    }
    result.reference_count = d->reference_count;
    dispatch_write_result(out, &result);
}

static uint32_t call_dispatch(uint16_t opnum, struct ndr_reader *in, struct ndr_arena *arena, struct ndr_writer *out)
{
    struct dispatch_names names;
    struct dispatch_invoke invoke;
    switch (opnum) {
    case DISPATCH_TYPE_INFO_COUNT:
        ndr_write_u32(out, 0);
        ndr_write_u32(out, 0);
        return 0;
    case DISPATCH_NAMES:
        dispatch_read_names(in, &names);
        if (!in->fault)
            write_ids(&names, out);
        return in->fault;
    case DISPATCH_INVOKE:
        dispatch_read_invoke(in, arena, &invoke);
        if (!in->fault)
            write_invoked(&invoke, out);
        return in->fault;
    default:
        return RPC_FAULT_OPNUM;
    }
}

static uint32_t call_enum(uint16_t opnum, struct ndr_reader *in, struct ndr_writer *out)
{
    const struct ndr_variant values[3] = {
        {.vt = NDR_I4, .number = 1}, {.vt = NDR_I4, .number = 2}, {.vt = NDR_I4, .number = 3}};
    if (opnum != ENUM_NEXT)
        return RPC_FAULT_OPNUM;
    const uint32_t asked = enum_read_next(in);
    if (!in->fault)
        enum_write_values(out, asked, values, asked < 3 ? asked : 3, asked <= 3 ? S_OK : S_FALSE);
    return in->fault;
}

static uint32_t made_up_call(void *user, struct orpc_call *call, void *pointer, struct ndr_reader *in,
                             struct ndr_writer *out)
{
    struct ndr_arena arena = {0};
    (void)user;
    uint32_t fault = RPC_FAULT_OPNUM;
    if (guid_equal(&call->iid, &made_up_iid))
        fault = call_method(call, pointer, in, &arena, out);
    else if (guid_equal(&call->iid, &dispatch_iid))
        fault = call_dispatch(call->opnum, in, &arena, out);
    else if (guid_equal(&call->iid, &enum_variant_iid))
        fault = call_enum(call->opnum, in, out);
    ndr_arena_free(&arena);
    return fault;
}

const struct orpc_handler made_up_handler = {
    .serves = serves, .activate = activate, .query = query, .release = release, .call = made_up_call};

static bool find_account(void *user, const char *name, const char *domain, uint8_t hash[AUTH_HASH_BYTES],
                         char account[AUTH_NAME_BYTES])
{
    static const char *const rows[][2] = {{"tester", "secret of tests"}, {"other", "other secret"}};
    (void)user;
    (void)domain;
    for (size_t i = 0; i < 2; i++)
        if (text_equal_nocase(name, rows[i][0])) {
            text_fit(account, AUTH_NAME_BYTES, rows[i][0]);
            return SUCCEEDED(auth_hash_password(rows[i][1], hash));
        }
    return false;
}

const struct auth_accounts made_up_accounts = {.computer_name = "MACHINE", .find = find_account};

/* SPDX-License-Identifier: MIT */
/* Decodes the requests for the 18 interfaces and encodes the answers. */
#include "com/remote/slots.h"

#include "engine/base/text.h"
#include "engine/rpc/dispatch.h"
#include "engine/rpc/orpc.h"
#include "remote_slots.inc"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

size_t remote_type_count(void)
{
    return COUNT_OF(interfaces);
}

const struct remote_type *remote_type_at(size_t index)
{
    return &interfaces[index];
}

const struct remote_type *remote_type_find(const GUID *iid)
{
    for (size_t i = 0; i < COUNT_OF(interfaces); i++)
        if (guid_equal(&interfaces[i].iid, iid))
            return &interfaces[i];
    return NULL;
}

const struct remote_method *remote_method_of(const struct remote_type *type, uint16_t opnum)
{
    return opnum >= REMOTE_FIRST_OPNUM && opnum - REMOTE_FIRST_OPNUM < type->count
               ? &methods[type->first + opnum - REMOTE_FIRST_OPNUM]
               : NULL;
}

const GUID *remote_object_iid(const struct remote_parameter *p)
{
    return p->type == REMOTE_DISPATCH  ? &dispatch_iid
           : p->type == REMOTE_UNKNOWN ? &orpc_iid_unknown
                                       : &interfaces[p->type].iid;
}

/* Reads an enumeration, which has two bytes. Some clients send an enumeration as four bytes, aligned to 4. If the last
   parameter has such a value after two bytes of padding, the rest of the body shows this: six bytes remain, and the
   last two of them are zero. */
static uint64_t enumeration_read(struct ndr_reader *in, bool is_last)
{
    ndr_take(in, 2, 0);
    if (is_last && in->at % 4 == 2 && in->size - in->at == 6 && ndr_load_u16(in->bytes + in->at + 4) == 0)
        ndr_take(in, 2, 2);
    return ndr_read_u16(in);
}

static void value_read(const struct remote_parameter *p, bool is_last, struct ndr_reader *in, struct ndr_arena *arena,
                       unsigned *array_form, struct remote_value *v)
{
    switch (p->kind) {
    case REMOTE_SHORT:
        v->number = (uint64_t)(int64_t)(int16_t)ndr_read_u16(in);
        break;
    case REMOTE_ENUMERATION:
        v->number = enumeration_read(in, is_last);
        break;
    case REMOTE_LONG:
        v->number = ndr_read_u32(in);
        break;
    case REMOTE_HYPER:
        v->number = ndr_read_u64(in);
        break;
    case REMOTE_GUID:
        v->guid = ndr_read_guid(in);
        break;
    case REMOTE_BSTR:
        ndr_read_bstr(in, &v->string);
        break;
    case REMOTE_VARIANT:
        ndr_read_variant(in, arena, &v->variant);
        break;
    case REMOTE_ARRAY:
        ndr_read_array(in, arena, array_form, &v->array);
        break;
    default:
        ndr_read_object(in, arena, &v->object);
    }
}

void remote_read_request(const struct remote_method *method, struct ndr_reader *in, struct ndr_arena *arena,
                         unsigned *array_form, struct remote_value *values)
{
    size_t last = 0;
    for (size_t i = 0; i < method->count; i++)
        last = method->parameters[i].is_out ? last : i;
    for (size_t i = 0; i < method->count; i++) {
        values[i] = (struct remote_value){.string = {.is_null = true}};
        if (!method->parameters[i].is_out)
            value_read(&method->parameters[i], i == last, in, arena, array_form, &values[i]);
    }
}

static void value_write(const struct remote_parameter *p, struct ndr_writer *out, unsigned array_form,
                        const struct remote_value *v)
{
    switch (p->kind) {
    case REMOTE_SHORT:
    case REMOTE_ENUMERATION:
        ndr_write_u16(out, (uint16_t)v->number);
        break;
    case REMOTE_LONG:
        ndr_write_u32(out, (uint32_t)v->number);
        break;
    case REMOTE_HYPER:
        ndr_write_u64(out, v->number);
        break;
    case REMOTE_GUID:
        ndr_write_guid(out, &v->guid);
        break;
    case REMOTE_BSTR:
        ndr_write_bstr(out, &v->string);
        break;
    case REMOTE_VARIANT:
        ndr_write_variant(out, &v->variant);
        break;
    case REMOTE_ARRAY:
        ndr_write_array(out, array_form, v->array);
        break;
    default:
        ndr_write_object(out, v->object);
    }
}

void remote_write_answer(const struct remote_method *method, struct ndr_writer *out, unsigned array_form,
                         const struct remote_value *values, HRESULT hr)
{
    for (size_t i = 0; i < method->count; i++)
        if (method->parameters[i].is_out)
            value_write(&method->parameters[i], out, array_form, &values[i]);
    ndr_write_u32(out, (uint32_t)hr);
}

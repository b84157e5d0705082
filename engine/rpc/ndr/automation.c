/* SPDX-License-Identifier: MIT */
/* BSTR, SAFEARRAY and VARIANT (MS-OAUT 2.2.23, 2.2.29, 2.2.30).

       BSTR       referent | max, bytes, units, text             at a multiple of 4; bytes 0xFFFFFFFF: no text
       VARIANT    referent | size/8, 0, vt, 0, 0, 0, tag, arm    at a multiple of 8
       SAFEARRAY  referent [referent] | max, dims, features, element, locks | vt << 16, kind, count, referent,
                  {count, low}..., count, elements               strings and variants: all referents, then all pointees

   Nesting is limited: a VARIANT can contain an array of VARIANTs that contain arrays. */
#include "engine/rpc/automation.h"

#include <string.h>

#define REFERENT_USER 0x72657355u /* "User", as MIDL's code for user_marshal writes it */
#define NULL_BSTR     0xFFFFFFFFu
enum { SF_BSTR = 8, SF_VARIANT = 12, SF_I1 = 16, SF_I2 = 2, SF_I4 = 3, SF_I8 = 20, DEEPEST = 8 };

size_t ndr_number_size(uint16_t vt)
{
    switch (vt) {
    case NDR_I1:
    case NDR_UI1:
        return 1;
    case NDR_I2:
    case NDR_UI2:
    case NDR_BOOL:
        return 2;
    case NDR_I4:
    case NDR_UI4:
    case NDR_INT:
    case NDR_UINT:
    case NDR_R4:
    case NDR_ERROR:
        return 4;
    case NDR_I8:
    case NDR_UI8:
    case NDR_R8:
    case NDR_DATE:
    case NDR_CY:
        return 8;
    default:
        return 0;
    }
}

/* ---- BSTR ---- */

void ndr_read_bstr_pointee(struct ndr_reader *r, struct ndr_bstr *out)
{
    *out = (struct ndr_bstr){.is_null = true};
    const uint32_t most = ndr_read_u32(r), size = ndr_read_u32(r), units = ndr_read_u32(r);
    if (most != units || (size != NULL_BSTR && size > (uint64_t)units * 2))
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    if (!ndr_can_hold(r, units, 2))
        return;
    const uint8_t *bytes = ndr_take(r, 2, (size_t)units * 2);
    if (bytes && size != NULL_BSTR)
        *out = (struct ndr_bstr){.bytes = bytes, .size = size};
}

void ndr_read_bstr(struct ndr_reader *r, struct ndr_bstr *out)
{
    *out = (struct ndr_bstr){.is_null = true};
    if (ndr_read_u32(r))
        ndr_read_bstr_pointee(r, out);
}

void ndr_write_bstr_pointee(struct ndr_writer *w, const struct ndr_bstr *s)
{
    const uint32_t size = s->is_null ? 0 : s->size, units = size / 2 + size % 2;
    ndr_write_u32(w, units);
    ndr_write_u32(w, s->is_null ? NULL_BSTR : size);
    ndr_write_u32(w, units);
    uint8_t *at = ndr_add(w, 2, (size_t)units * 2);
    if (at && size)
        memcpy(at, s->bytes, size);
}

void ndr_write_bstr(struct ndr_writer *w, const struct ndr_bstr *s)
{
    ndr_write_u32(w, REFERENT_USER);
    ndr_write_bstr_pointee(w, s);
}

/* ---- SAFEARRAY ---- */

static void variant_read_pointee(struct ndr_reader *r, struct ndr_arena *arena, unsigned depth,
                                 struct ndr_variant *out);

/* Returns the type of array elements that were sent as numbers of `size` bytes. This is `named`, the sender's VARTYPE,
   if such a number has this size. If the size differs, the function returns `otherwise`. */
static uint16_t array_number_type(uint16_t named, size_t size, uint16_t otherwise)
{
    return ndr_number_size(named) == size ? named : otherwise;
}

static uint16_t array_element_type(uint32_t kind, uint16_t named)
{
    switch (kind) {
    case SF_BSTR:
        return NDR_BSTR;
    case SF_VARIANT:
        return NDR_VARIANT;
    case SF_I1:
        return array_number_type(named, 1, NDR_UI1);
    case SF_I2:
        return array_number_type(named, 2, NDR_I2);
    case SF_I4:
        return array_number_type(named, 4, NDR_I4);
    case SF_I8:
        return array_number_type(named, 8, NDR_I8);
    default:
        return NDR_EMPTY;
    }
}

static void array_read_pointees(struct ndr_reader *r, struct ndr_arena *arena, unsigned depth, struct ndr_array *a)
{
    if (!ndr_can_hold(r, a->count, 4))
        return;
    const uint8_t *referents = ndr_take(r, 4, (size_t)a->count * 4);
    void *items = ndr_arena_take(arena, a->count, a->vt == NDR_BSTR ? sizeof *a->strings : sizeof *a->variants);
    if (!items)
        ndr_fail(r, RPC_FAULT_NO_MEMORY);
    if (r->fault)
        return;
    if (a->vt == NDR_BSTR)
        a->strings = items;
    else
        a->variants = items;
    for (uint32_t i = 0; i < a->count && !r->fault; i++) {
        const bool is_there = ndr_load_u32(referents + 4 * (size_t)i) != 0;
        if (a->strings && is_there)
            ndr_read_bstr_pointee(r, &a->strings[i]);
        else if (a->strings)
            a->strings[i].is_null = true;
        else if (is_there)
            variant_read_pointee(r, arena, depth + 1, &a->variants[i]);
    }
}

static void array_read_pointee(struct ndr_reader *r, struct ndr_arena *arena, unsigned depth, struct ndr_array **out)
{
    struct ndr_array *a = ndr_arena_take(arena, 1, sizeof *a);
    if (!a) {
        ndr_fail(r, RPC_FAULT_NO_MEMORY);
        return;
    }
    const uint32_t most = ndr_read_u32(r);
    a->dimensions = ndr_read_u16(r);
    a->features = ndr_read_u16(r);
    ndr_read_u32(r); /* size of an element: ignored, because the kind determines it */
    const uint32_t locks = ndr_read_u32(r), kind = ndr_read_u32(r);
    a->count = ndr_read_u32(r);
    a->has_data = ndr_read_u32(r) != 0;
    a->vt = array_element_type(kind, (uint16_t)(locks >> 16));
    if (a->dimensions != most || !a->dimensions || a->dimensions > NDR_DIMENSIONS || a->vt == NDR_EMPTY)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    uint64_t cells = 1;
    for (uint16_t i = 0; i < a->dimensions && !r->fault; i++) {
        a->bounds[i].count = ndr_read_u32(r);
        a->bounds[i].low = (int32_t)ndr_read_u32(r);
        cells *= a->bounds[i].count;
        if (cells > a->count)
            ndr_fail(r, RPC_FAULT_BAD_STUB);
    }
    if (cells != a->count)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    if (a->has_data)
        ndr_expect_u32(r, a->count);
    const size_t size = ndr_number_size(a->vt);
    if (a->has_data && size && ndr_can_hold(r, a->count, size))
        a->numbers = ndr_take(r, size, (size_t)a->count * size);
    else if (a->has_data && !size && !r->fault)
        array_read_pointees(r, arena, depth, a);
    if (!r->fault)
        *out = a;
}

static void array_read(struct ndr_reader *r, struct ndr_arena *arena, unsigned depth, unsigned *form,
                       struct ndr_array **out)
{
    *out = NULL;
    if (!ndr_read_u32(r) || r->fault)
        return;
    const struct ndr_reader start = *r;
    const bool has_inner = ndr_read_u32(r) != 0;
    if (r->fault)
        return;
    if (has_inner) {
        array_read_pointee(r, arena, depth, out);
        if (*out || depth) { /* inside a VARIANT, all senders write two pointers */
            *form = *out ? 2 : *form;
            return;
        }
    } else
        return;
    if (r->fault == RPC_FAULT_NO_MEMORY)
        return;
    *r = start;
    array_read_pointee(r, arena, depth, out);
    if (*out)
        *form = 1;
}

void ndr_read_array(struct ndr_reader *r, struct ndr_arena *arena, unsigned *form, struct ndr_array **out)
{
    unsigned ignored;
    array_read(r, arena, 0, form ? form : &ignored, out);
}

void ndr_write_array(struct ndr_writer *w, unsigned form, const struct ndr_array *a)
{
    const size_t size = a ? ndr_number_size(a->vt) : 0;
    if (form == 1 && !a) {
        ndr_write_u32(w, 0);
        return;
    }
    ndr_write_u32(w, REFERENT_USER);
    if (form != 1)
        ndr_write_u32(w, a ? 0x20001 : 0);
    if (!a)
        return;
    ndr_write_u32(w, a->dimensions);
    ndr_write_u16(w, a->dimensions);
    ndr_write_u16(w, a->features);
    ndr_write_u32(w, size ? (uint32_t)size : a->vt == NDR_BSTR ? 4 : 16);
    ndr_write_u32(w, (uint32_t)a->vt << 16);
    ndr_write_u32(w, a->vt == NDR_BSTR      ? SF_BSTR
                     : a->vt == NDR_VARIANT ? SF_VARIANT
                     : size == 1            ? SF_I1
                     : size == 2            ? SF_I2
                     : size == 4            ? SF_I4
                                            : SF_I8);
    ndr_write_u32(w, a->count);
    ndr_write_u32(w, a->has_data ? 0x20002 : 0);
    for (uint16_t i = 0; i < a->dimensions; i++) {
        ndr_write_u32(w, a->bounds[i].count);
        ndr_write_u32(w, (uint32_t)a->bounds[i].low);
    }
    if (!a->has_data)
        return;
    ndr_write_u32(w, a->count);
    if (size) {
        uint8_t *at = ndr_add(w, size, (size_t)a->count * size);
        if (at && a->count)
            memcpy(at, a->numbers, (size_t)a->count * size);
        return;
    }
    for (uint32_t i = 0; i < a->count; i++)
        ndr_write_u32(w, 0x30000 + 4 * i);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->vt == NDR_BSTR)
            ndr_write_bstr_pointee(w, &a->strings[i]);
        else
            ndr_write_variant_pointee(w, &a->variants[i]);
}

/* ---- VARIANT ---- */

static void variant_read_arm(struct ndr_reader *r, struct ndr_arena *arena, unsigned depth, struct ndr_variant *out)
{
    const uint16_t type = out->vt & (uint16_t)~NDR_BYREF;
    const size_t size = ndr_number_size(type);
    unsigned form = 0;
    if (type & NDR_ARRAY) {
        array_read(r, arena, depth + 1, &form, &out->array);
        return;
    }
    if (size) {
        const uint8_t *at = ndr_take(r, size, size);
        for (size_t i = 0; at && i < size; i++)
            out->number |= (uint64_t)at[i] << 8 * i;
        return;
    }
    switch (type) {
    case NDR_EMPTY:
    case NDR_NULL:
        break;
    case NDR_BSTR:
        ndr_read_bstr(r, &out->string);
        break;
    case NDR_UNKNOWN:
    case NDR_DISPATCH:
        ndr_read_object(r, arena, &out->object);
        break;
    case NDR_DECIMAL: {
        const uint8_t *at = ndr_take(r, 8, sizeof out->decimal);
        if (at)
            memcpy(out->decimal, at, sizeof out->decimal);
        break;
    }
    default:
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    }
}

static void variant_read_pointee(struct ndr_reader *r, struct ndr_arena *arena, unsigned depth, struct ndr_variant *out)
{
    *out = (struct ndr_variant){0};
    if (depth > DEEPEST) {
        ndr_fail(r, RPC_FAULT_BAD_STUB);
        return;
    }
    ndr_take(r, 8, 0);
    ndr_read_u32(r); /* the VARIANT's size; clients send different values */
    ndr_read_u32(r);
    out->vt = ndr_read_u16(r);
    ndr_take(r, 2, 6);
    const uint32_t tag = ndr_read_u32(r), arms = out->vt & (NDR_ARRAY | NDR_BYREF);
    if (tag != out->vt && !(out->vt & NDR_ARRAY && tag == arms))
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    if (out->vt & NDR_BYREF && !ndr_read_u32(r))
        ndr_fail(r, RPC_FAULT_BAD_STUB); /* a null reference */
    if (r->fault)
        return;
    if (out->vt != (NDR_VARIANT | NDR_BYREF)) {
        variant_read_arm(r, arena, depth, out);
        return;
    }
    out->variant = ndr_arena_take(arena, 1, sizeof *out->variant);
    if (!out->variant)
        ndr_fail(r, RPC_FAULT_NO_MEMORY);
    else if (ndr_read_u32(r))
        variant_read_pointee(r, arena, depth + 1, out->variant);
    else
        ndr_fail(r, RPC_FAULT_BAD_STUB);
}

void ndr_read_variant_pointee(struct ndr_reader *r, struct ndr_arena *arena, struct ndr_variant *out)
{
    variant_read_pointee(r, arena, 0, out);
}

void ndr_read_variant(struct ndr_reader *r, struct ndr_arena *arena, struct ndr_variant *out)
{
    *out = (struct ndr_variant){0};
    if (ndr_read_u32(r))
        variant_read_pointee(r, arena, 0, out);
}

static void variant_write_arm(struct ndr_writer *w, const struct ndr_variant *v)
{
    const uint16_t type = v->vt & (uint16_t)~NDR_BYREF;
    const size_t size = ndr_number_size(type);
    if (v->vt & NDR_BYREF)
        ndr_write_u32(w, 0x20000);
    uint8_t number[8];
    ndr_store_u64(number, v->number);
    if (type & NDR_ARRAY)
        ndr_write_array(w, 2, v->array);
    else if (size) {
        uint8_t *at = ndr_add(w, size, size);
        if (at)
            memcpy(at, number, size);
    } else if (type == NDR_BSTR)
        ndr_write_bstr(w, &v->string);
    else if (type == NDR_UNKNOWN || type == NDR_DISPATCH)
        ndr_write_object(w, v->object);
    else if (type == NDR_DECIMAL) {
        uint8_t *at = ndr_add(w, 8, sizeof v->decimal);
        if (at)
            memcpy(at, v->decimal, sizeof v->decimal);
    } else if (v->vt == (NDR_VARIANT | NDR_BYREF))
        ndr_write_variant(w, v->variant);
}

void ndr_write_variant_pointee(struct ndr_writer *w, const struct ndr_variant *v)
{
    ndr_add(w, 8, 0);
    const size_t start = w->size;
    ndr_write_u32(w, 0);
    ndr_write_u32(w, 0);
    ndr_write_u16(w, v->vt);
    ndr_add(w, 2, 6);
    ndr_write_u32(w, v->vt & NDR_ARRAY ? v->vt & (NDR_ARRAY | NDR_BYREF) : v->vt);
    variant_write_arm(w, v);
    ndr_set_u32(w, start, (uint32_t)((w->size - start + 7) / 8));
}

void ndr_write_variant(struct ndr_writer *w, const struct ndr_variant *v)
{
    ndr_write_u32(w, REFERENT_USER);
    ndr_write_variant_pointee(w, v);
}

/* SPDX-License-Identifier: MIT */
/* Reads and writes the bodies of IDispatch and IEnumVARIANT. */
#include "engine/rpc/dispatch.h"

#include "engine/base/assert.h"

#include <string.h>

const GUID dispatch_iid = {0x00020400, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}};
const GUID enum_variant_iid = {0x00020404, 0, 0, {0xC0, 0, 0, 0, 0, 0, 0, 0x46}};

enum { NAME_UNITS = 1024 };

/* ---- arrays of VARIANTs: count, referents, pointees ---- */

static void variants_read(struct ndr_reader *r, struct ndr_arena *arena, uint32_t count, struct ndr_variant *out)
{
    ndr_expect_u32(r, count);
    const uint8_t *referents = ndr_take(r, 4, (size_t)count * 4);
    for (uint32_t i = 0; referents && i < count && !r->fault; i++)
        if (ndr_load_u32(referents + 4 * (size_t)i))
            ndr_read_variant_pointee(r, arena, &out[i]);
        else
            out[i] = (struct ndr_variant){0};
}

static void variants_write_referents(struct ndr_writer *w, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        ndr_write_u32(w, 0x30000 + 4 * i);
}

static void variants_write(struct ndr_writer *w, const struct ndr_variant *values, uint32_t count)
{
    ndr_write_u32(w, count);
    variants_write_referents(w, count);
    for (uint32_t i = 0; i < count; i++)
        ndr_write_variant_pointee(w, &values[i]);
}

/* ---- GetIDsOfNames ---- */

void dispatch_read_names(struct ndr_reader *r, struct dispatch_names *out)
{
    *out = (struct dispatch_names){0};
    ndr_read_guid(r);
    const uint32_t count = ndr_read_u32(r);
    if (!count || count > DISPATCH_NAMES_MOST)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    ndr_take(r, 4, r->fault ? 0 : (size_t)count * 4); /* referents, never null */
    for (uint32_t i = 0; i < count && !r->fault; i++) {
        const uint32_t most = ndr_read_u32(r), offset = ndr_read_u32(r), units = ndr_read_u32(r);
        if (offset || units > most || !units || units > NAME_UNITS)
            ndr_fail(r, RPC_FAULT_BAD_STUB);
        const uint8_t *bytes = ndr_take(r, 2, r->fault ? 0 : (size_t)units * 2);
        if (bytes && !r->fault && ndr_load_u16(bytes + 2 * (size_t)(units - 1)) == 0)
            out->names[i] = (struct ndr_bstr){.bytes = bytes, .size = (units - 1) * 2};
        else
            ndr_fail(r, RPC_FAULT_BAD_STUB); /* the name does not end with a NUL */
    }
    ndr_expect_u32(r, count);
    out->lcid = ndr_read_u32(r);
    out->count = r->fault ? 0 : count;
}

void dispatch_write_names(struct ndr_writer *w, const struct dispatch_names *n)
{
    assert(n->count && n->count <= DISPATCH_NAMES_MOST);
    ndr_write_guid(w, &(const GUID){0});
    ndr_write_u32(w, (uint32_t)n->count);
    variants_write_referents(w, (uint32_t)n->count);
    for (size_t i = 0; i < n->count; i++) {
        const uint32_t units = n->names[i].size / 2 + 1;
        ndr_write_u32(w, units);
        ndr_write_u32(w, 0);
        ndr_write_u32(w, units);
        ndr_write_bytes(w, n->names[i].bytes, n->names[i].size);
        ndr_write_u16(w, 0);
    }
    ndr_write_u32(w, (uint32_t)n->count);
    ndr_write_u32(w, n->lcid);
}

void dispatch_write_ids(struct ndr_writer *w, const int32_t *ids, size_t count, HRESULT hr)
{
    ndr_write_u32(w, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        ndr_write_u32(w, (uint32_t)ids[i]);
    ndr_write_u32(w, (uint32_t)hr);
}

HRESULT dispatch_read_ids(struct ndr_reader *r, int32_t *ids, size_t count)
{
    ndr_expect_u32(r, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)ndr_read_u32(r);
    return (HRESULT)ndr_read_u32(r);
}

/* ---- Invoke ----
   A request contains DISPPARAMS {pointer, pointer, cArgs, cNamedArgs}, [arguments], [named ids], cVarRef, [indexes] and
   [arguments by reference], in this order. For an argument by reference, [arguments] contains an empty VARIANT, and
   [indexes] contains the position of this VARIANT. */

void dispatch_read_invoke(struct ndr_reader *r, struct ndr_arena *arena, struct dispatch_invoke *out)
{
    *out = (struct dispatch_invoke){0};
    out->id = (int32_t)ndr_read_u32(r);
    ndr_read_guid(r);
    out->lcid = ndr_read_u32(r);
    out->flags = ndr_read_u32(r);
    const bool has_arguments = ndr_read_u32(r), has_named = ndr_read_u32(r);
    const uint32_t count = ndr_read_u32(r), named = ndr_read_u32(r);
    if (count > DISPATCH_ARGUMENTS_MOST || named > count || (count && !has_arguments) || (named && !has_named))
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    if (has_arguments && !r->fault)
        variants_read(r, arena, count, out->arguments);
    if (has_named)
        ndr_expect_u32(r, named);
    for (uint32_t i = 0; has_named && i < named && !r->fault; i++)
        out->named[i] = (int32_t)ndr_read_u32(r);
    const uint32_t references = ndr_read_u32(r);
    ndr_expect_u32(r, references);
    if (references > count)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    for (uint32_t i = 0; i < references && !r->fault; i++) {
        out->references[i] = ndr_read_u32(r);
        if (out->references[i] >= count)
            ndr_fail(r, RPC_FAULT_BAD_STUB);
        for (uint32_t k = 0; k < i; k++)
            if (out->references[k] == out->references[i])
                ndr_fail(r, RPC_FAULT_BAD_STUB);
    }
    struct ndr_variant values[DISPATCH_ARGUMENTS_MOST];
    if (!r->fault)
        variants_read(r, arena, references, values);
    if (r->fault)
        return;
    for (uint32_t i = 0; i < references; i++)
        out->arguments[out->references[i]] = values[i];
    out->count = count;
    out->named_count = named;
    out->reference_count = references;
}

void dispatch_write_invoke(struct ndr_writer *w, struct dispatch_invoke *d)
{
    struct ndr_variant plain[DISPATCH_ARGUMENTS_MOST], references[DISPATCH_ARGUMENTS_MOST];
    assert(d->count <= DISPATCH_ARGUMENTS_MOST && d->named_count <= d->count);
    d->reference_count = 0;
    for (size_t i = 0; i < d->count; i++) {
        const bool is_reference = d->arguments[i].vt & NDR_BYREF;
        plain[i] = d->arguments[i];
        if (!is_reference)
            continue;
        plain[i] = (struct ndr_variant){0};
        references[d->reference_count] = d->arguments[i];
        d->references[d->reference_count++] = (uint32_t)i;
    }
    ndr_write_u32(w, (uint32_t)d->id);
    ndr_write_guid(w, &(const GUID){0});
    ndr_write_u32(w, d->lcid);
    ndr_write_u32(w, d->flags);
    ndr_write_u32(w, d->count ? 0x20000 : 0);
    ndr_write_u32(w, d->named_count ? 0x20004 : 0);
    ndr_write_u32(w, (uint32_t)d->count);
    ndr_write_u32(w, (uint32_t)d->named_count);
    if (d->count)
        variants_write(w, plain, (uint32_t)d->count);
    if (d->named_count)
        ndr_write_u32(w, (uint32_t)d->named_count);
    for (size_t i = 0; i < d->named_count; i++)
        ndr_write_u32(w, (uint32_t)d->named[i]);
    ndr_write_u32(w, (uint32_t)d->reference_count);
    ndr_write_u32(w, (uint32_t)d->reference_count);
    for (size_t i = 0; i < d->reference_count; i++)
        ndr_write_u32(w, d->references[i]);
    variants_write(w, references, (uint32_t)d->reference_count);
}

void dispatch_write_result(struct ndr_writer *w, const struct dispatch_result *d)
{
    const struct ndr_bstr *const texts[3] = {&d->source, &d->description, &d->help_file};
    assert(d->reference_count <= DISPATCH_ARGUMENTS_MOST);
    ndr_write_variant(w, &d->value);
    ndr_write_u16(w, d->code);
    ndr_write_u16(w, 0);
    for (size_t i = 0; i < 3; i++)
        ndr_write_u32(w, texts[i]->is_null ? 0 : (uint32_t)(0x20000 + 4 * i));
    ndr_write_u32(w, d->help_context);
    ndr_write_u32(w, 0); /* pvReserved */
    ndr_write_u32(w, 0); /* pfnDeferredFillIn */
    ndr_write_u32(w, (uint32_t)d->scode);
    for (size_t i = 0; i < 3; i++)
        if (!texts[i]->is_null)
            ndr_write_bstr_pointee(w, texts[i]);
    ndr_write_u32(w, d->wrong_argument);
    variants_write(w, d->references, (uint32_t)d->reference_count);
    ndr_write_u32(w, (uint32_t)d->hr);
}

HRESULT dispatch_read_result(struct ndr_reader *r, struct ndr_arena *arena, struct dispatch_result *d)
{
    struct ndr_bstr *const texts[3] = {&d->source, &d->description, &d->help_file};
    bool is_there[3];
    *d = (struct dispatch_result){0};
    ndr_read_variant(r, arena, &d->value);
    d->code = ndr_read_u16(r);
    ndr_read_u16(r);
    for (size_t i = 0; i < 3; i++) {
        is_there[i] = ndr_read_u32(r) != 0;
        texts[i]->is_null = true;
    }
    d->help_context = ndr_read_u32(r);
    ndr_take(r, 4, 8);
    d->scode = (HRESULT)ndr_read_u32(r);
    for (size_t i = 0; i < 3; i++)
        if (is_there[i])
            ndr_read_bstr_pointee(r, texts[i]);
    d->wrong_argument = ndr_read_u32(r);
    struct ndr_reader ahead = *r;
    const uint32_t references = ndr_read_u32(&ahead);
    if (references > DISPATCH_ARGUMENTS_MOST)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    if (!r->fault)
        variants_read(r, arena, references, d->references);
    d->hr = (HRESULT)ndr_read_u32(r);
    d->reference_count = r->fault ? 0 : references;
    return d->hr;
}

/* ---- IEnumVARIANT::Next: a varying array with `count` elements ---- */

uint32_t enum_read_next(struct ndr_reader *r)
{
    const uint32_t asked = ndr_read_u32(r);
    if (asked > ENUM_NEXT_MOST)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    return r->fault ? 0 : asked;
}

void enum_write_values(struct ndr_writer *w, uint32_t asked, const struct ndr_variant *values, uint32_t count,
                       HRESULT hr)
{
    assert(count <= asked);
    ndr_write_u32(w, asked);
    ndr_write_u32(w, 0);
    ndr_write_u32(w, count);
    variants_write_referents(w, count);
    for (uint32_t i = 0; i < count; i++)
        ndr_write_variant_pointee(w, &values[i]);
    ndr_write_u32(w, count);
    ndr_write_u32(w, (uint32_t)hr);
}

HRESULT enum_read_values(struct ndr_reader *r, struct ndr_arena *arena, struct ndr_variant **values, uint32_t *count)
{
    *values = NULL;
    *count = 0;
    const uint32_t most = ndr_read_u32(r);
    ndr_expect_u32(r, 0);
    const uint32_t found = ndr_read_u32(r);
    if (found > most || found > ENUM_NEXT_MOST)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    const uint8_t *referents = ndr_take(r, 4, r->fault ? 0 : (size_t)found * 4);
    struct ndr_variant *items = r->fault ? NULL : ndr_arena_take(arena, found, sizeof *items);
    if (!r->fault && !items)
        ndr_fail(r, RPC_FAULT_NO_MEMORY);
    for (uint32_t i = 0; i < found && !r->fault; i++)
        if (ndr_load_u32(referents + 4 * (size_t)i))
            ndr_read_variant_pointee(r, arena, &items[i]);
    ndr_expect_u32(r, found);
    const HRESULT hr = (HRESULT)ndr_read_u32(r);
    if (r->fault)
        return hr;
    *values = items;
    *count = found;
    return hr;
}

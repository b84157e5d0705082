/* SPDX-License-Identifier: MIT */
/* Reads and writes object references and the bindings in them (MS-DCOM 2.2.18, 2.2.19). */
#include "engine/base/text.h"
#include "engine/rpc/automation.h"

#include <string.h>

enum { SECURITY_NTLM = 10, NO_AUTHORIZATION = 0xFFFF };

struct std_objref std_objref_read(struct ndr_reader *r)
{
    struct std_objref o = {0};
    ndr_take(r, 8, 0);
    o.flags = ndr_read_u32(r);
    o.references = ndr_read_u32(r);
    o.oxid = ndr_read_u64(r);
    o.oid = ndr_read_u64(r);
    o.ipid = ndr_read_guid(r);
    return o;
}

void std_objref_write(struct ndr_writer *w, const struct std_objref *o)
{
    ndr_add(w, 8, 0);
    ndr_write_u32(w, o->flags);
    ndr_write_u32(w, o->references);
    ndr_write_u64(w, o->oxid);
    ndr_write_u64(w, o->oid);
    ndr_write_guid(w, &o->ipid);
}

/* ---- bindings ----
   wNumEntries, wSecurityOffset, then in 2-byte units: {tower, text, 0}... 0 {service, authorization, text, 0}... 0 */

static void binding_add(struct dual_strings *out, const uint8_t *units, size_t count)
{
    size_t length = 0;
    if (out->count == BINDINGS_MOST)
        return;
    char *text = out->addresses[out->count];
    for (size_t i = 0; i < count; i++) {
        const uint16_t unit = ndr_load_u16(units + 2 * i);
        if (unit < 0x21 || unit > 0x7E || length + 1 >= BINDING_BYTES)
            return; /* not an address */
        text[length++] = (char)unit;
    }
    text[length] = 0;
    out->count += length != 0;
}

void dual_strings_read(struct ndr_reader *r, bool has_conformance, struct dual_strings *out)
{
    *out = (struct dual_strings){0};
    const uint32_t conformance = has_conformance ? ndr_read_u32(r) : 0;
    const uint16_t entries = ndr_read_u16(r), security = ndr_read_u16(r);
    if (has_conformance && conformance != entries)
        ndr_fail(r, RPC_FAULT_BAD_STUB);
    const uint8_t *units = ndr_take(r, 2, (size_t)entries * 2);
    if (!units)
        return;
    if (security > entries) {
        ndr_fail(r, RPC_FAULT_BAD_STUB);
        return;
    }
    for (size_t at = 0; at < security && ndr_load_u16(units + 2 * at) != 0;) {
        const uint16_t tower = ndr_load_u16(units + 2 * at);
        size_t end = ++at;
        while (end < security && ndr_load_u16(units + 2 * end) != 0)
            end++;
        if (tower == BINDING_TCP && end < security)
            binding_add(out, units + 2 * at, end - at);
        at = end + 1;
    }
}

void dual_strings_write(struct ndr_writer *w, bool has_conformance, const struct dual_strings *d)
{
    const size_t security_units = 4;
    size_t units = 1; /* the end of the list */
    for (size_t i = 0; i < d->count; i++)
        units += 1 + strlen(d->addresses[i]) + 1;
    if (has_conformance)
        ndr_write_u32(w, (uint32_t)(units + security_units));
    ndr_write_u16(w, (uint16_t)(units + security_units));
    ndr_write_u16(w, (uint16_t)units);
    for (size_t i = 0; i < d->count; i++) {
        ndr_write_u16(w, BINDING_TCP);
        for (const char *at = d->addresses[i]; *at; at++)
            ndr_write_u16(w, (uint8_t)*at);
        ndr_write_u16(w, 0);
    }
    ndr_write_u16(w, 0);
    ndr_write_u16(w, SECURITY_NTLM);
    ndr_write_u16(w, NO_AUTHORIZATION);
    ndr_write_u16(w, 0); /* no principal */
    ndr_write_u16(w, 0);
}

/* ---- OBJREF ---- */

void objref_read(struct ndr_reader *r, struct objref *out)
{
    *out = (struct objref){0};
    if (ndr_read_u32(r) != OBJREF_SIGNATURE)
        ndr_fail(r, RPC_FAULT_WRONG_OBJREF);
    out->kind = ndr_read_u32(r);
    out->iid = ndr_read_guid(r);
    if (out->kind == OBJREF_STANDARD) {
        out->standard = std_objref_read(r);
        dual_strings_read(r, false, &out->bindings);
    } else if (out->kind == OBJREF_CUSTOM) {
        out->clsid = ndr_read_guid(r);
        ndr_read_u32(r); /* cbExtension */
        ndr_read_u32(r); /* reserved: ignored, because only some senders put the size here; the rest is the data */
        out->custom_size = r->fault ? 0 : r->size - r->at;
        out->custom = ndr_take(r, 1, out->custom_size);
    } else
        ndr_fail(r, RPC_FAULT_WRONG_OBJREF);
    if (r->fault)
        r->fault = RPC_FAULT_WRONG_OBJREF;
}

void objref_write(struct ndr_writer *w, const struct objref *o)
{
    ndr_write_u32(w, OBJREF_SIGNATURE);
    ndr_write_u32(w, o->kind);
    ndr_write_guid(w, &o->iid);
    if (o->kind == OBJREF_STANDARD) {
        std_objref_write(w, &o->standard);
        dual_strings_write(w, false, &o->bindings);
        return;
    }
    ndr_write_guid(w, &o->clsid);
    ndr_write_u32(w, 0);
    ndr_write_u32(w, (uint32_t)o->custom_size);
    ndr_write_bytes(w, o->custom, o->custom_size);
}

void ndr_read_object_pointee(struct ndr_reader *r, struct ndr_arena *arena, struct objref **out)
{
    *out = NULL;
    const uint32_t size = ndr_read_u32(r);
    ndr_expect_u32(r, size);
    const uint8_t *bytes = ndr_take(r, 1, size);
    if (!bytes)
        return;
    struct objref *o = ndr_arena_take(arena, 1, sizeof *o);
    if (!o) {
        ndr_fail(r, RPC_FAULT_NO_MEMORY);
        return;
    }
    struct ndr_reader inner = ndr_reader_over(bytes, size);
    objref_read(&inner, o);
    if (inner.fault)
        ndr_fail(r, inner.fault);
    else
        *out = o;
}

void ndr_read_object(struct ndr_reader *r, struct ndr_arena *arena, struct objref **out)
{
    *out = NULL;
    if (ndr_read_u32(r))
        ndr_read_object_pointee(r, arena, out);
}

void ndr_write_object_pointee(struct ndr_writer *w, const struct objref *o)
{
    struct ndr_writer inner = {0};
    objref_write(&inner, o);
    ndr_write_u32(w, (uint32_t)inner.size);
    ndr_write_u32(w, (uint32_t)inner.size);
    ndr_write_bytes(w, inner.bytes, inner.size);
    w->failed = w->failed || inner.failed;
    ndr_writer_free(&inner);
}

void ndr_write_object(struct ndr_writer *w, const struct objref *o)
{
    ndr_write_u32(w, o ? 0x20000 : 0);
    if (o)
        ndr_write_object_pointee(w, o);
}

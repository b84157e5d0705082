/* SPDX-License-Identifier: MIT */
/* Reads, writes and signs the PDUs of connection-oriented RPC. */
#include "engine/rpc/pdu/pdu.h"

#include "engine/base/assert.h"

#include <string.h>

#define DATA_LITTLE_ENDIAN 0x10 /* also: ASCII text, IEEE floating point (C706 14.1) */

const uint8_t pdu_ndr_syntax[PDU_SYNTAX_BYTES] = {0x04, 0x5D, 0x88, 0x8A, 0xEB, 0x1C, 0xC9, 0x11, 0x9F, 0xE8,
                                                  0x08, 0x00, 0x2B, 0x10, 0x48, 0x60, 2,    0,    0,    0};

static size_t pdu_stub_start(const struct pdu *p)
{
    return p->type == PDU_REQUEST && p->flags & PDU_OBJECT ? PDU_CALL_HEADER + 16 : PDU_CALL_HEADER;
}

size_t pdu_length(const uint8_t header[PDU_HEADER])
{
    const size_t length = ndr_load_u16(header + 8), token = ndr_load_u16(header + 10);
    if (header[0] != 5 || header[1] > 1 || header[4] != DATA_LITTLE_ENDIAN || length < PDU_HEADER ||
        length > PDU_FRAGMENT || (token && length < PDU_HEADER + PDU_TRAILER + token))
        return 0;
    return length;
}

bool pdu_read(uint8_t *bytes, size_t size, struct pdu *out)
{
    *out = (struct pdu){.bytes = bytes, .size = size, .body_end = size};
    out->type = bytes[2];
    out->flags = bytes[3];
    out->token_size = ndr_load_u16(bytes + 10);
    out->call = ndr_load_u32(bytes + 12);
    if (out->token_size) {
        out->trailer = bytes + size - out->token_size - PDU_TRAILER;
        out->body_end = size - out->token_size - PDU_TRAILER;
        out->auth_type = out->trailer[0];
        out->auth_level = out->trailer[1];
        out->padding = out->trailer[2];
        out->auth_id = ndr_load_u32(out->trailer + 4);
    }
    const bool is_call = out->type == PDU_REQUEST || out->type == PDU_RESPONSE;
    return !is_call || (out->body_end >= pdu_stub_start(out) && out->body_end - pdu_stub_start(out) >= out->padding);
}

enum pdu_progress pdu_collect(struct pdu_input *in, const uint8_t *bytes, size_t size, size_t *taken, struct pdu *out)
{
    *taken = 0;
    for (;;) {
        size_t need = PDU_HEADER;
        if (in->size >= PDU_HEADER)
            need = pdu_length(in->bytes);
        if (!need)
            return PDU_MALFORMED;
        if (in->size >= PDU_HEADER && in->size == need) {
            in->size = 0;
            return pdu_read(in->bytes, need, out) ? PDU_COMPLETE : PDU_MALFORMED;
        }
        assert(in->size <= need);
        const size_t part = size - *taken < need - in->size ? size - *taken : need - in->size;
        if (!part)
            return PDU_INCOMPLETE;
        memcpy(in->bytes + in->size, bytes + *taken, part);
        in->size += part;
        *taken += part;
        if (in->size < PDU_HEADER)
            return PDU_INCOMPLETE;
    }
}

size_t pdu_start(struct ndr_writer *w, enum pdu_type type, uint8_t flags, uint32_t call)
{
    const size_t start = w->size;
    uint8_t *head = ndr_add(w, 1, PDU_HEADER);
    if (head) {
        head[0] = 5;
        head[2] = (uint8_t)type;
        head[3] = flags;
        head[4] = DATA_LITTLE_ENDIAN;
        ndr_store_u32(head + 12, call);
    }
    return start;
}

void pdu_finish(struct ndr_writer *w, size_t start, size_t token_size)
{
    assert(w->failed || (w->size - start <= UINT16_MAX && token_size <= w->size - start));
    ndr_set_u16(w, start + 8, (uint16_t)(w->size - start));
    ndr_set_u16(w, start + 10, (uint16_t)token_size);
}

static void pdu_write_trailer(struct ndr_writer *w, uint8_t type, uint8_t level, uint8_t padding, uint32_t id)
{
    uint8_t *trailer = ndr_add(w, 1, PDU_TRAILER);
    if (!trailer)
        return;
    trailer[0] = type;
    trailer[1] = level;
    trailer[2] = padding;
    ndr_store_u32(trailer + 4, id);
}

void pdu_write_token(struct ndr_writer *w, size_t start, uint8_t auth_type, uint8_t auth_level, uint32_t auth_id,
                     const uint8_t *token, size_t size)
{
    const size_t padding = (4 - (w->size - start) % 4) % 4;
    if (!size)
        return;
    ndr_add(w, 1, padding);
    pdu_write_trailer(w, auth_type, auth_level, (uint8_t)padding, auth_id);
    ndr_write_bytes(w, token, size);
}

void pdu_write_call(struct ndr_writer *w, enum pdu_type type, uint32_t call, uint16_t context, uint16_t opnum,
                    const GUID *object, const uint8_t *stub, size_t size, size_t fragment,
                    const struct pdu_security *security)
{
    const size_t head = PDU_CALL_HEADER + (object ? 16 : 0);
    const size_t tail = security->auth ? PDU_TRAILER + AUTH_SIGNATURE_BYTES : 0;
    const size_t most = (fragment - head - tail) & ~(size_t)15;
    size_t at = 0;
    do {
        struct ndr_writer p = {0}; /* a separate writer, because alignment counts from the start of the PDU */
        const size_t part = size - at < most ? size - at : most;
        const uint8_t flags =
            (uint8_t)((at ? 0 : PDU_FIRST) | (at + part == size ? PDU_LAST : 0) | (object ? PDU_OBJECT : 0));
        pdu_start(&p, type, flags, call);
        ndr_write_u32(&p, (uint32_t)(size - at));
        ndr_write_u16(&p, context);
        ndr_write_u16(&p, opnum);
        if (object)
            ndr_write_guid(&p, object);
        ndr_write_bytes(&p, part ? stub + at : NULL, part);
        if (security->auth) {
            const size_t padding = (16 - part % 16) % 16;
            ndr_add(&p, 1, padding);
            pdu_write_trailer(&p, security->type, security->level, (uint8_t)padding, security->id);
            const size_t signed_size = p.size;
            ndr_add(&p, 1, AUTH_SIGNATURE_BYTES);
            pdu_finish(&p, 0, AUTH_SIGNATURE_BYTES); /* before signing, because the signature covers the lengths */
            if (!p.failed) {
                const bool seals = security->level == AUTH_LEVEL_PRIVACY;
                auth_seal(security->auth, seals ? p.bytes + head : NULL, seals ? part + padding : 0, p.bytes,
                          signed_size, p.bytes + signed_size);
            }
        } else
            pdu_finish(&p, 0, 0);
        ndr_write_bytes(w, p.bytes, p.size);
        w->failed = w->failed || p.failed;
        ndr_writer_free(&p);
        at += part;
    } while (at < size && !w->failed);
}

void pdu_write_fault(struct ndr_writer *w, uint32_t call, uint16_t context, uint32_t status)
{
    struct ndr_writer p = {0};
    pdu_start(&p, PDU_FAULT, PDU_FIRST | PDU_LAST, call);
    ndr_write_u32(&p, 32);
    ndr_write_u16(&p, context);
    ndr_write_u16(&p, 0);
    ndr_write_u32(&p, status);
    ndr_write_u32(&p, 0);
    pdu_finish(&p, 0, 0);
    ndr_write_bytes(w, p.bytes, p.size);
    w->failed = w->failed || p.failed;
    ndr_writer_free(&p);
}

bool pdu_unseal(struct pdu *p, const struct pdu_security *security)
{
    if (!p->trailer || p->token_size != AUTH_SIGNATURE_BYTES || p->auth_type != security->type ||
        p->auth_level != security->level)
        return false;
    const size_t start = pdu_stub_start(p), signed_size = p->size - AUTH_SIGNATURE_BYTES;
    const bool seals = p->auth_level == AUTH_LEVEL_PRIVACY;
    return auth_unseal(security->auth, seals ? p->bytes + start : NULL, seals ? p->body_end - start : 0, p->bytes,
                       signed_size, p->bytes + signed_size);
}

const uint8_t *pdu_stub(const struct pdu *p, size_t *size)
{
    const size_t start = pdu_stub_start(p);
    *size = p->body_end - p->padding - start;
    return p->bytes + start;
}

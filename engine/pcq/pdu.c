/* SPDX-License-Identifier: MIT */
#include "engine/pcq/pdu.h"

#include "engine/log/little_endian.h"
#include "engine/os/memory.h"

#include <string.h>

#define DATA_LITTLE_ENDIAN 0x10 /* ASCII, IEEE: C706 14.1 */

/* MS-PCQ 1.9; C706 14. */
const uint8_t pdu_perflib[20] = {0xC5, 0x86, 0x5A, 0xDA, 0xC2, 0x12, 0x43, 0x49, 0xAB, 0x30,
                                 0x7F, 0x74, 0xA8, 0x13, 0xD8, 0x53, 1,    0,    0,    0};
const uint8_t pdu_ndr[20] = {0x04, 0x5D, 0x88, 0x8A, 0xEB, 0x1C, 0xC9, 0x11, 0x9F, 0xE8,
                             0x08, 0x00, 0x2B, 0x10, 0x48, 0x60, 2,    0,    0,    0};

static HRESULT send_socket(void *user, const void *bytes, size_t size)
{
    return socket_send(user, bytes, size);
}

static HRESULT receive_socket(void *user, void *bytes, size_t size)
{
    return socket_receive(user, bytes, size);
}

struct pdu_stream pdu_stream_socket(struct socket_end *s)
{
    return (struct pdu_stream){.user = s, .send = send_socket, .receive = receive_socket};
}

HRESULT pdu_receive(const struct pdu_stream *s, struct pdu *out)
{
    uint8_t head[PDU_HEADER];
    HRESULT hr = s->receive(s->user, head, sizeof head);
    out->size = 0;
    if (hr != S_OK)
        return hr;
    const size_t length = get_u16(head + 8);
    if (head[0] != 5 || head[1] != 0 || (head[4] & 0xF0) != DATA_LITTLE_ENDIAN || length < PDU_HEADER ||
        length - PDU_HEADER > sizeof out->bytes || get_u16(head + 10))
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    out->type = head[2];
    out->flags = head[3];
    out->call = get_u32(head + 12);
    out->size = length - PDU_HEADER;
    hr = out->size ? s->receive(s->user, out->bytes, out->size) : S_OK;
    return hr == S_FALSE ? HRESULT_FROM_WIN32(ERROR_INVALID_DATA) : hr;
}

uint8_t *pdu_reserve(struct pdu_writer *w, size_t size)
{
    void *bytes = w->bytes;
    w->failed = w->failed || !memory_grow(&bytes, &w->capacity, w->size + size, 1);
    w->bytes = bytes;
    if (w->failed)
        return NULL;
    uint8_t *at = w->bytes + w->size;
    w->size += size;
    return at;
}

void pdu_put(struct pdu_writer *w, const void *bytes, size_t size)
{
    uint8_t *at = size ? pdu_reserve(w, size) : NULL;
    if (at)
        memcpy(at, bytes, size);
}

void pdu_put_u16(struct pdu_writer *w, uint16_t value)
{
    uint8_t *at = pdu_reserve(w, 2);
    if (at)
        put_u16(at, value);
}

void pdu_put_u32(struct pdu_writer *w, uint32_t value)
{
    uint8_t *at = pdu_reserve(w, 4);
    if (at)
        put_u32(at, value);
}

size_t pdu_begin(struct pdu_writer *w, enum pdu_type type, uint8_t flags, uint32_t call)
{
    const size_t begin = w->size;
    const uint8_t head[8] = {5, 0, (uint8_t)type, flags, DATA_LITTLE_ENDIAN};
    pdu_put(w, head, sizeof head);
    pdu_put_u32(w, 0);
    pdu_put_u32(w, call);
    return begin;
}

void pdu_end(struct pdu_writer *w, size_t begin)
{
    if (!w->failed)
        put_u16(w->bytes + begin + 8, (uint16_t)(w->size - begin));
}

void pdu_put_call(struct pdu_writer *w, enum pdu_type type, uint32_t call, uint16_t context, uint16_t method,
                  const uint8_t *parameters, size_t size, size_t fragment)
{
    const size_t most = (fragment - PDU_HEADER - PDU_CALL_HEADER) & ~(size_t)7;
    size_t at = 0;
    do {
        const size_t part = size - at < most ? size - at : most;
        const uint8_t flags = (uint8_t)((at ? 0 : PDU_FIRST) | (at + part == size ? PDU_LAST : 0));
        const size_t begin = pdu_begin(w, type, flags, call);
        pdu_put_u32(w, (uint32_t)(size - at));
        pdu_put_u16(w, context);
        pdu_put_u16(w, method);
        pdu_put(w, parameters + at, part);
        pdu_end(w, begin);
        at += part;
    } while (at < size && !w->failed);
}

/* SPDX-License-Identifier: MIT */
/* Packets of connection-oriented RPC: framing, sending and receiving. */
#include "engine/logs/little_endian.h"
#include "engine/pdh/remote/rpc.h"

#include <string.h>

#define DATA_LITTLE_ENDIAN 0x10 /* C706 14.1: ASCII, IEEE */

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

size_t pdu_begin(struct byte_buffer *w, enum pdu_type type, uint8_t flags, uint32_t call)
{
    const size_t begin = w->size;
    const uint8_t head[8] = {5, 0, (uint8_t)type, flags, DATA_LITTLE_ENDIAN};
    byte_buffer_put(w, head, sizeof head);
    byte_buffer_u32(w, 0);
    byte_buffer_u32(w, call);
    return begin;
}

void pdu_end(struct byte_buffer *w, size_t begin)
{
    if (!w->failed)
        put_u16(w->bytes + begin + 8, (uint16_t)(w->size - begin));
}

void pdu_put_call(struct byte_buffer *w, enum pdu_type type, uint32_t call, uint16_t context, uint16_t method,
                  const uint8_t *parameters, size_t size, size_t fragment)
{
    const size_t most = (fragment - PDU_HEADER - PDU_CALL_HEADER) & ~(size_t)7;
    size_t at = 0;
    do {
        const size_t part = size - at < most ? size - at : most;
        const uint8_t flags = (uint8_t)((at ? 0 : PDU_FIRST) | (at + part == size ? PDU_LAST : 0));
        const size_t begin = pdu_begin(w, type, flags, call);
        byte_buffer_u32(w, (uint32_t)(size - at));
        byte_buffer_u16(w, context);
        byte_buffer_u16(w, method);
        byte_buffer_put(w, parameters + at, part);
        pdu_end(w, begin);
        at += part;
    } while (at < size && !w->failed);
}

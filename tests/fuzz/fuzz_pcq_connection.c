/* SPDX-License-Identifier: MIT */
/* Any bytes on the port where counters are offered. To reach deeper code, the input is converted to packets with valid
   headers, unless its first byte requests the bytes unchanged. */
#include "engine/logs/little_endian.h"
#include "engine/pdh/pcq_server.h"
#include "engine/pdh/remote/pcq_internal.h"
#include "engine/pdh/remote/rpc.h"
#include "tests/unit/pcq_fixture.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at, *end;
    bool raw;
    struct byte_buffer made; /* of the packet that is received now */
    size_t taken;
    size_t sent;
    uint8_t handle[20]; /* the bytes at this place in the last answer with the size of an opened query */
};

static HRESULT count_sent(void *user, const void *bytes, size_t size)
{
    struct input *in = user;
    for (size_t i = 0; i < size; i++)
        in->sent += ((const uint8_t *)bytes)[i]; /* reads each byte */
    const size_t head = PDU_HEADER + PDU_CALL_HEADER;
    if (size == head + sizeof in->handle + 4)
        memcpy(in->handle, (const uint8_t *)bytes + head, sizeof in->handle);
    return S_OK;
}

static const uint8_t *take(struct input *in, size_t size)
{
    const uint8_t *at = in->at;
    if ((size_t)(in->end - at) < size)
        return NULL;
    in->at += size;
    return at;
}

/* The bytes before the interesting parameters, which no input would contain by chance. */
static void put_prefix(struct input *in, uint8_t how, uint16_t method)
{
    static const uint8_t machine[] = {2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 'a', 0, 0, 0};
    GUID set;
    if (how & 0x80 && method > PCQ_OPEN_QUERY)
        byte_buffer_put(&in->made, in->handle, sizeof in->handle);
    else if (how & 0x80)
        byte_buffer_put(&in->made, machine, sizeof machine);
    if (!(how & 0x40) || method > PCQ_ENUMERATE_INSTANCES)
        return;
    pcq_guid(how & 0x20 ? &parts_provider : &whole_provider, &set);
    byte_buffer_put(&in->made, &set, sizeof set);
}

/* Makes a packet of a type, a length and bytes; requests also have a method. */
static bool make_packet(struct input *in)
{
    static const uint8_t types[] = {PDU_REQUEST,       PDU_REQUEST,  PDU_REQUEST, PDU_BIND,
                                    PDU_ALTER_CONTEXT, PDU_ORPHANED, 99};
    const uint8_t *head = take(in, 4);
    if (!head)
        return false;
    const uint8_t type = types[head[0] % sizeof types];
    const size_t length = (size_t)head[2] * 4;
    const uint8_t *body = take(in, length);
    in->made.size = in->taken = 0;
    if (!body)
        return false;
    const size_t begin = pdu_begin(&in->made, type, head[1] & (PDU_FIRST | PDU_LAST), 1);
    if (type == PDU_REQUEST) {
        byte_buffer_u32(&in->made, 0);
        byte_buffer_u16(&in->made, 0);
        byte_buffer_u16(&in->made, head[3] % 9);
        put_prefix(in, head[1], head[3] % 9);
    }
    byte_buffer_put(&in->made, body, length);
    pdu_end(&in->made, begin);
    return !in->made.failed;
}

static void make_bind(struct input *in)
{
    const size_t begin = pdu_begin(&in->made, PDU_BIND, PDU_FIRST | PDU_LAST, 1);
    byte_buffer_u32(&in->made, PDU_FRAGMENT);
    byte_buffer_u32(&in->made, 0);
    byte_buffer_u32(&in->made, 1);
    byte_buffer_u32(&in->made, 1u << 16);
    byte_buffer_put(&in->made, pdu_perflib, sizeof pdu_perflib);
    byte_buffer_put(&in->made, pdu_ndr, sizeof pdu_ndr);
    pdu_end(&in->made, begin);
}

static HRESULT give(void *user, void *bytes, size_t size)
{
    struct input *in = user;
    if (in->raw) {
        const uint8_t *at = take(in, size);
        if (at)
            memcpy(bytes, at, size);
        return at ? S_OK : S_FALSE;
    }
    if (in->taken == in->made.size && !make_packet(in))
        return S_FALSE;
    if (in->made.size - in->taken < size)
        return S_FALSE;
    memcpy(bytes, in->made.bytes + in->taken, size);
    in->taken += size;
    return S_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct rpc_service service = {.server = pcq_fixture(), .from = PCQ_FROM_HERE};
    struct input in = {.at = data + 1, .end = data + size, .raw = data[0] & 1};
    if (!in.raw) /* bound already */
        make_bind(&in);
    struct pdu_stream stream = {.user = &in, .send = count_sent, .receive = give};
    if (!service.server)
        abort();
    parts_count = data[0] % 4;
    rpc_connection_serve(&service, &stream, data[0] & 2 ? "10.0.0.1" : "127.0.0.1");
    memory_free(in.made.bytes);
    pcq_server_close(service.server);
    if (service.holds)
        abort();
    return 0;
}

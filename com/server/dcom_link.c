/* SPDX-License-Identifier: MIT */
/* A message is a header of three numbers (size of the body, kind, connection) and a body in little endian. A string
   consists of its length and its bytes. */
#include "com/server/dcom_link.h"

#include "engine/base/text.h"

#include <string.h>

bool link_header_read(const uint8_t bytes[LINK_HEADER], struct link_header *out)
{
    *out = (struct link_header){ndr_load_u32(bytes), ndr_load_u32(bytes + 4), ndr_load_u32(bytes + 8)};
    return out->size <= LINK_MESSAGE_MOST && out->kind >= LINK_OPEN && out->kind <= LINK_ANSWER;
}

/* ---- writing ---- */

static size_t message_begin(struct ndr_writer *w, enum link_kind kind, uint32_t session)
{
    const size_t start = w->size;
    ndr_write_u32(w, 0);
    ndr_write_u32(w, kind);
    ndr_write_u32(w, session);
    return start;
}

static void message_end(struct ndr_writer *w, size_t start)
{
    if (!w->failed)
        ndr_set_u32(w, start, (uint32_t)(w->size - start - LINK_HEADER));
}

static void bytes_write(struct ndr_writer *w, const void *bytes, size_t size)
{
    ndr_write_u32(w, (uint32_t)size);
    ndr_write_bytes(w, bytes, size);
}

void link_write_open(struct ndr_writer *w, uint32_t session, const char *address, const struct dual_strings *bindings)
{
    const size_t start = message_begin(w, LINK_OPEN, session);
    bytes_write(w, address, strlen(address));
    ndr_write_u32(w, (uint32_t)bindings->count);
    for (size_t i = 0; i < bindings->count; i++)
        bytes_write(w, bindings->addresses[i], strlen(bindings->addresses[i]));
    message_end(w, start);
}

void link_write_call(struct ndr_writer *w, uint32_t session, const struct rpc_call *call)
{
    const char *account = call->account ? call->account : "";
    const size_t start = message_begin(w, LINK_CALL, session);
    ndr_write_u32(w, call->level);
    ndr_write_u32(w, call->has_object);
    ndr_write_u32(w, call->opnum);
    ndr_write_guid(w, &call->iid);
    ndr_write_guid(w, &call->object);
    bytes_write(w, account, strlen(account));
    bytes_write(w, call->stub, call->size);
    message_end(w, start);
}

void link_write_close(struct ndr_writer *w, uint32_t session)
{
    message_end(w, message_begin(w, LINK_CLOSE, session));
}

void link_write_answer(struct ndr_writer *w, uint32_t session, uint32_t fault, const uint8_t *stub, size_t size)
{
    const size_t start = message_begin(w, LINK_ANSWER, session);
    ndr_write_u32(w, fault);
    bytes_write(w, stub, fault ? 0 : size);
    message_end(w, start);
}

/* ---- reading ---- */

static const uint8_t *bytes_read(struct ndr_reader *r, size_t *size)
{
    *size = ndr_read_u32(r);
    return ndr_take(r, 1, *size);
}

/* Reads a string, which must fit and must not contain a NUL. */
static void text_read(struct ndr_reader *r, char *out, size_t room)
{
    size_t size;
    const uint8_t *bytes = bytes_read(r, &size);
    *out = 0;
    if (!bytes || size >= room || memchr(bytes, 0, size)) {
        ndr_fail(r, RPC_FAULT_BAD_STUB);
        return;
    }
    memcpy(out, bytes, size);
    out[size] = 0;
}

static bool is_whole(const struct ndr_reader *r)
{
    return !r->fault && r->at == r->size;
}

bool link_read_open(const uint8_t *body, size_t size, char address[LINK_ADDRESS_BYTES], struct dual_strings *bindings)
{
    struct ndr_reader r = ndr_reader_over(body, size);
    memset(bindings, 0, sizeof *bindings);
    text_read(&r, address, LINK_ADDRESS_BYTES);
    const uint32_t count = ndr_read_u32(&r);
    if (count > BINDINGS_MOST)
        return false;
    for (uint32_t i = 0; i < count; i++)
        text_read(&r, bindings->addresses[i], BINDING_BYTES);
    bindings->count = count;
    return is_whole(&r);
}

bool link_read_call(const uint8_t *body, size_t size, struct rpc_call *out, char account[AUTH_NAME_BYTES])
{
    struct ndr_reader r = ndr_reader_over(body, size);
    const uint32_t level = ndr_read_u32(&r), has_object = ndr_read_u32(&r), opnum = ndr_read_u32(&r);
    *out = (struct rpc_call){.level = (enum auth_level)level, .has_object = has_object != 0, .opnum = (uint16_t)opnum};
    out->iid = ndr_read_guid(&r);
    out->object = ndr_read_guid(&r);
    text_read(&r, account, AUTH_NAME_BYTES);
    out->stub = bytes_read(&r, &out->size);
    out->account = *account ? account : NULL;
    return is_whole(&r) && level >= AUTH_LEVEL_NONE && level <= AUTH_LEVEL_PRIVACY && opnum <= UINT16_MAX;
}

bool link_read_answer(const uint8_t *body, size_t size, uint32_t *fault, const uint8_t **stub, size_t *stub_size)
{
    struct ndr_reader r = ndr_reader_over(body, size);
    *fault = ndr_read_u32(&r);
    *stub = bytes_read(&r, stub_size);
    return is_whole(&r);
}

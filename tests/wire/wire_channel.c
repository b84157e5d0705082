/* SPDX-License-Identifier: MIT */
/* The IRpcChannelBuffer of the wire tests. */
#include "tests/wire/wire_channel.h"

#include <stdlib.h>
#include <string.h>

static struct wire_channel *from_channel(IRpcChannelBuffer *channel)
{
    return CONTAINING_RECORD(channel, struct wire_channel, channel);
}

static HRESULT STDMETHODCALLTYPE query_interface(IRpcChannelBuffer *channel, REFIID iid, void **object)
{
    bool known = IsEqualIID(iid, &IID_IUnknown) || IsEqualIID(iid, &IID_IRpcChannelBuffer);
    *object = known ? channel : NULL;
    if (known)
        from_channel(channel)->references++;
    return known ? S_OK : E_NOINTERFACE;
}

static ULONG STDMETHODCALLTYPE add_ref(IRpcChannelBuffer *channel)
{
    return (ULONG)++from_channel(channel)->references;
}

static ULONG STDMETHODCALLTYPE release(IRpcChannelBuffer *channel)
{
    return (ULONG)--from_channel(channel)->references;
}

static void *fresh(size_t size)
{
    void *bytes = malloc(size ? size : 1);
    if (bytes)
        memset(bytes, 0xcc, size);
    return bytes;
}

static HRESULT STDMETHODCALLTYPE get_buffer(IRpcChannelBuffer *channel, RPCOLEMESSAGE *message, REFIID iid)
{
    (void)channel;
    (void)iid;
    message->Buffer = fresh(message->cbBuffer);
    message->dataRepresentation = 0x10;
    return message->Buffer ? S_OK : E_OUTOFMEMORY;
}

static void keep(struct wire *wire, const void *bytes, size_t size)
{
    wire->size = size < sizeof wire->bytes ? size : sizeof wire->bytes;
    memcpy(wire->bytes, bytes, wire->size);
}

/* Places the bytes directly before unreadable memory, as close as their alignment (8) allows, so that reading beyond
   them fails. */
static BYTE *at_the_edge(const BYTE *bytes, size_t size, void **pages)
{
    enum { PAGE = 4096 };
    size_t room = (size / PAGE + 1) * PAGE;
    DWORD before;
    *pages = VirtualAlloc(NULL, room + PAGE, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
    VirtualProtect((BYTE *)*pages + room, PAGE, PAGE_NOACCESS, &before);
    BYTE *at = (BYTE *)*pages + room - (size + 7) / 8 * 8;
    memset(at, 0xcc, (size + 7) / 8 * 8);
    if (size)
        memcpy(at, bytes, size);
    return at;
}

HRESULT wire_channel_invoke(struct wire_channel *self, unsigned opnum, const BYTE *bytes, size_t size)
{
    void *pages;
    BYTE *request = at_the_edge(bytes, size, &pages);
    RPCOLEMESSAGE message = {0};
    message.dataRepresentation = 0x10;
    message.Buffer = request;
    message.cbBuffer = (ULONG)size;
    message.iMethod = opnum;
    self->reply.size = 0;
    HRESULT hr = IRpcStubBuffer_Invoke(self->stub, &message, &self->channel);
    if (message.Buffer != request) {
        if (SUCCEEDED(hr))
            keep(&self->reply, message.Buffer, message.cbBuffer);
        free(message.Buffer);
    }
    VirtualFree(pages, 0, MEM_RELEASE);
    return hr;
}

static HRESULT STDMETHODCALLTYPE send_receive(IRpcChannelBuffer *channel, RPCOLEMESSAGE *message, ULONG *status)
{
    struct wire_channel *self = from_channel(channel);
    keep(&self->request, message->Buffer, message->cbBuffer);
    self->opnum = message->iMethod & 0x7fff;
    free(message->Buffer);
    message->Buffer = NULL;
    if (status)
        *status = 0;
    if (self->stub) {
        self->stub_result = wire_channel_invoke(self, message->iMethod, self->request.bytes, self->request.size);
        if (FAILED(self->stub_result))
            return self->stub_result;
    } else {
        self->reply = self->canned_reply;
    }
    message->Buffer = fresh(self->reply.size);
    message->cbBuffer = (ULONG)self->reply.size;
    memcpy(message->Buffer, self->reply.bytes, self->reply.size);
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE free_buffer(IRpcChannelBuffer *channel, RPCOLEMESSAGE *message)
{
    (void)channel;
    free(message->Buffer);
    message->Buffer = NULL;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE get_destination(IRpcChannelBuffer *channel, DWORD *context, void **data)
{
    (void)channel;
    *context = MSHCTX_LOCAL;
    if (data)
        *data = NULL;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE is_connected(IRpcChannelBuffer *channel)
{
    (void)channel;
    return S_OK;
}

static IRpcChannelBufferVtbl methods = {
    query_interface, add_ref, release, get_buffer, send_receive, free_buffer, get_destination, is_connected,
};

void wire_channel_init(struct wire_channel *self, IRpcStubBuffer *stub)
{
    memset(self, 0, sizeof *self);
    self->channel.lpVtbl = &methods;
    self->references = 1;
    self->stub = stub;
}

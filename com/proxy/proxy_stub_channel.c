/* SPDX-License-Identifier: MIT */
/* An IRpcChannelBuffer that zeroes buffers before they are written and pads requests to a multiple of 4 bytes. */
#include "com/proxy/proxy_stub_channel.h"

#include "engine/base/memory.h"
#include "engine/base/win32/unknown.h"
#include "mspla.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct padded_channel {
    IRpcChannelBuffer channel;
    LONG references;
    IRpcChannelBuffer *inner;
    const IID *iid;
};

static struct padded_channel *from_channel(IRpcChannelBuffer *channel)
{
    return CONTAINING_RECORD(channel, struct padded_channel, channel);
}

static ULONG padded(ULONG size)
{
    return size > ULONG_MAX - 3 ? size : (size + 3) & ~3u;
}

static HRESULT STDMETHODCALLTYPE query_interface(IRpcChannelBuffer *channel, REFIID iid, void **object)
{
    HRESULT hr = unknown_query(channel, &IID_IRpcChannelBuffer, iid, object);
    /* Later versions of the interface (asynchronous calls) and the runtime's own are not for us to wrap. */
    return hr == E_NOINTERFACE ? IRpcChannelBuffer_QueryInterface(from_channel(channel)->inner, iid, object) : hr;
}

static ULONG STDMETHODCALLTYPE add_ref(IRpcChannelBuffer *channel)
{
    return (ULONG)InterlockedIncrement(&from_channel(channel)->references);
}

static ULONG STDMETHODCALLTYPE release(IRpcChannelBuffer *channel)
{
    struct padded_channel *self = from_channel(channel);
    LONG left = InterlockedDecrement(&self->references);
    if (!left) {
        IRpcChannelBuffer_Release(self->inner);
        memory_free(self);
    }
    return (ULONG)left;
}

/* The one member with an enumeration behind a text, which may leave it 2 bytes off a multiple of 4. */
static bool is_commit(const struct padded_channel *self, const RPCOLEMESSAGE *message)
{
    return (message->iMethod & 0x7fff) == offsetof(IDataCollectorSetVtbl, Commit) / sizeof(void *) &&
           IsEqualIID(self->iid, &IID_IDataCollectorSet);
}

/* Both sides come here before they write: a proxy its request, a stub its reply. The marshalling code leaves the gaps
   of alignment as they are, and what was in the heap would go out with them. */
static HRESULT STDMETHODCALLTYPE get_buffer(IRpcChannelBuffer *channel, RPCOLEMESSAGE *message, REFIID iid)
{
    struct padded_channel *self = from_channel(channel);
    ULONG size = padded(message->cbBuffer);
    if (is_commit(self, message))
        size = padded(message->cbBuffer + 4);
    message->cbBuffer = size;
    HRESULT hr = IRpcChannelBuffer_GetBuffer(self->inner, message, iid);
    if (SUCCEEDED(hr) && size && message->Buffer)
        memset(message->Buffer, 0, size);
    return hr;
}

/* The marshalling code has set cbBuffer to what it wrote, at most what get_buffer was asked for. */
static HRESULT STDMETHODCALLTYPE send_receive(IRpcChannelBuffer *channel, RPCOLEMESSAGE *message, ULONG *status)
{
    struct padded_channel *self = from_channel(channel);
    if (message->Buffer) {
        BYTE *end = (BYTE *)message->Buffer + message->cbBuffer;
        if (is_commit(self, message) && message->cbBuffer >= 2 && message->cbBuffer % 4 == 0) {
            /* The mode ends here; a server with enumerations of 4 bytes reads it from the 4 bytes that follow, and one
               with 2 does not look at them. */
            const BYTE mode[] = {end[-2], end[-1], 0, 0};
            memcpy(end, mode, sizeof mode);
            message->cbBuffer += sizeof mode;
        } else {
            message->cbBuffer = padded(message->cbBuffer); /* zero since get_buffer */
        }
    }
    return IRpcChannelBuffer_SendReceive(self->inner, message, status);
}

static HRESULT STDMETHODCALLTYPE free_buffer(IRpcChannelBuffer *channel, RPCOLEMESSAGE *message)
{
    return IRpcChannelBuffer_FreeBuffer(from_channel(channel)->inner, message);
}

static HRESULT STDMETHODCALLTYPE get_destination(IRpcChannelBuffer *channel, DWORD *context, void **data)
{
    return IRpcChannelBuffer_GetDestCtx(from_channel(channel)->inner, context, data);
}

static HRESULT STDMETHODCALLTYPE is_connected(IRpcChannelBuffer *channel)
{
    return IRpcChannelBuffer_IsConnected(from_channel(channel)->inner);
}

static IRpcChannelBufferVtbl channel_methods = {
    query_interface, add_ref, release, get_buffer, send_receive, free_buffer, get_destination, is_connected,
};

IRpcChannelBuffer *proxy_stub_channel(IRpcChannelBuffer *inner, const IID *iid)
{
    struct padded_channel *self = memory_zero(1, sizeof *self);
    if (!self)
        return NULL;
    self->channel.lpVtbl = &channel_methods;
    self->references = 1;
    self->inner = inner;
    self->iid = iid;
    IRpcChannelBuffer_AddRef(inner);
    return &self->channel;
}

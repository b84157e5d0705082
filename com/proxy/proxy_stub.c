/* SPDX-License-Identifier: MIT */
/* The factory of proxies and stubs, and the channel that both use. The channel wraps the runtime's channel, zeroes
   buffers before they are written, and pads requests to a multiple of 4 bytes. */
#include "com/proxy/proxy_stub.h"

#include "com/proxy/proxy_stub_request.h"
#include "com/server/call_entry.h"
#include "engine/base/memory.h"
#include "engine/base/win32/unknown.h"
#include "idl/proxy_clsid.h"
#include "mspla.h"

#include <stdbool.h>
#include <stddef.h>
#include <windows.h>
#include <ole2.h>
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
    /* Later versions of the interface (asynchronous calls) and the runtime's own interfaces are not wrapped. */
    return hr == E_NOINTERFACE ? IRpcChannelBuffer_QueryInterface(from_channel(channel)->inner, iid, object) : hr;
}

static ULONG STDMETHODCALLTYPE add_ref(IRpcChannelBuffer *channel)
{
    return (ULONG)InterlockedIncrement(&from_channel(channel)->references);
}

static ULONG STDMETHODCALLTYPE stub_release(IRpcChannelBuffer *channel)
{
    struct padded_channel *self = from_channel(channel);
    LONG left = InterlockedDecrement(&self->references);
    if (!left) {
        IRpcChannelBuffer_Release(self->inner);
        memory_free(self);
    }
    return (ULONG)left;
}

/* Whether the call is Commit, the only member with an enumeration after a string. The string can end 2 bytes off a
   multiple of 4. */
static bool is_commit(const struct padded_channel *self, const RPCOLEMESSAGE *message)
{
    return (message->iMethod & 0x7fff) == offsetof(IDataCollectorSetVtbl, Commit) / sizeof(void *) &&
           IsEqualIID(self->iid, &IID_IDataCollectorSet);
}

/* Zeroes the buffer. Both sides call this function before they write: a proxy its request, a stub its reply. The
   marshalling code does not write the alignment gaps. Without the zeros, the gaps would contain old data from the heap
   when the buffer is sent. */
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

/* Pads the request. The marshalling code has set cbBuffer to the number of bytes that it wrote. This number is at most
   the size that the marshalling code passed to get_buffer. */
static HRESULT STDMETHODCALLTYPE send_receive(IRpcChannelBuffer *channel, RPCOLEMESSAGE *message, ULONG *status)
{
    struct padded_channel *self = from_channel(channel);
    if (message->Buffer) {
        BYTE *end = (BYTE *)message->Buffer + message->cbBuffer;
        if (is_commit(self, message) && message->cbBuffer >= 2 && message->cbBuffer % 4 == 0) {
            /* The request ends with the 2-byte mode, which is repeated in the 4 bytes after it. A server with 4-byte
               enumerations reads these 4 bytes; a server with 2-byte enumerations ignores them. */
            const BYTE mode[] = {end[-2], end[-1], 0, 0};
            memcpy(end, mode, sizeof mode);
            message->cbBuffer += sizeof mode;
        } else {
            message->cbBuffer = padded(message->cbBuffer); /* get_buffer has zeroed the padding */
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
    query_interface, add_ref, stub_release, get_buffer, send_receive, free_buffer, get_destination, is_connected,
};

/* Creates a channel for a proxy or stub of the interface `iid`. `iid` must stay valid as long as the channel. The
   channel wraps `inner` and keeps a reference to it. The caller releases the channel. NULL: out of memory. */
static IRpcChannelBuffer *proxy_stub_channel(IRpcChannelBuffer *inner, const IID *iid)
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

/* The factory of proxies and stubs: it wraps the generated proxies and replaces Invoke in the generated stubs. */

/* Generated (mspla_dlldata.c). */
HRESULT WINAPI openpla_proxies_DllGetClassObject(REFCLSID class_id, REFIID iid, void **object);
HRESULT WINAPI openpla_proxies_DllCanUnloadNow(void);

static const CLSID proxy_class = OPENPLA_PROXY_CLSID;
static LONG held; /* number of references to the factory, plus number of wrapped proxies; not 0: the DLL is in use */

struct proxy {
    IRpcProxyBuffer buffer;
    LONG references;
    IRpcProxyBuffer *inner;
    const IID *iid;
    LONG connected;
};

static struct proxy *from_proxy(IRpcProxyBuffer *buffer)
{
    return CONTAINING_RECORD(buffer, struct proxy, buffer);
}

/* Does not delegate to the outer object, because the proxy manager itself holds this reference. */
static HRESULT STDMETHODCALLTYPE proxy_query_interface(IRpcProxyBuffer *buffer, REFIID iid, void **object)
{
    HRESULT hr = unknown_query(buffer, &IID_IRpcProxyBuffer, iid, object);
    return hr == E_NOINTERFACE ? IRpcProxyBuffer_QueryInterface(from_proxy(buffer)->inner, iid, object) : hr;
}

static ULONG STDMETHODCALLTYPE proxy_add_ref(IRpcProxyBuffer *buffer)
{
    return (ULONG)InterlockedIncrement(&from_proxy(buffer)->references);
}

static ULONG STDMETHODCALLTYPE proxy_release(IRpcProxyBuffer *buffer)
{
    struct proxy *self = from_proxy(buffer);
    LONG left = InterlockedDecrement(&self->references);
    if (!left) {
        IRpcProxyBuffer_Release(self->inner);
        memory_free(self);
        InterlockedDecrement(&held);
    }
    return (ULONG)left;
}

static HRESULT STDMETHODCALLTYPE proxy_connect(IRpcProxyBuffer *buffer, IRpcChannelBuffer *channel)
{
    struct proxy *self = from_proxy(buffer);
    IRpcChannelBuffer *padded = proxy_stub_channel(channel, self->iid);
    if (!padded)
        return E_OUTOFMEMORY;
    HRESULT hr = IRpcProxyBuffer_Connect(self->inner, padded);
    if (SUCCEEDED(hr))
        InterlockedExchange(&self->connected, 1);
    IRpcChannelBuffer_Release(padded);
    return hr;
}

static void STDMETHODCALLTYPE proxy_disconnect(IRpcProxyBuffer *buffer)
{
    struct proxy *self = from_proxy(buffer);
    if (InterlockedExchange(&self->connected, 0)) /* Wine's function releases the channel without checking for NULL */
        IRpcProxyBuffer_Disconnect(self->inner);
}

static IRpcProxyBufferVtbl proxy_methods = {
    proxy_query_interface, proxy_add_ref, proxy_release, proxy_connect, proxy_disconnect,
};

/* Replaces Invoke in the vtables of rpcrt4's stubs. */
static HRESULT STDMETHODCALLTYPE stub_invoke(IRpcStubBuffer *stub, RPCOLEMESSAGE *message, IRpcChannelBuffer *channel)
{
    const CInterfaceStubHeader *header = &CONTAINING_RECORD(stub->lpVtbl, CInterfaceStubVtbl, Vtbl)->header;
    /* The highest bit is the client's mark for a valid opnum; Wine's stub would use it as part of an index. */
    message->iMethod &= 0x7fff;
    HRESULT hr = proxy_stub_check_request(header, message->iMethod, message->Buffer, message->cbBuffer);
    if (FAILED(hr))
        return hr;
    IRpcChannelBuffer *padded = proxy_stub_channel(channel, header->piid);
    if (!padded)
        return E_OUTOFMEMORY;
    struct call_entry call;
    hr = call_enter(&call);
    if (SUCCEEDED(hr)) {
        hr = proxy_stub_guarded_invoke(stub, message, padded);
        call_leave(&call);
    }
    IRpcChannelBuffer_Release(padded);
    return hr;
}

static HRESULT generated_factory(IPSFactoryBuffer **factory)
{
    return openpla_proxies_DllGetClassObject(&proxy_class, &IID_IPSFactoryBuffer, (void **)factory);
}

static HRESULT STDMETHODCALLTYPE factory_query_interface(IPSFactoryBuffer *factory, REFIID iid, void **object)
{
    return unknown_query(factory, &IID_IPSFactoryBuffer, iid, object);
}

static ULONG STDMETHODCALLTYPE factory_add_ref(IPSFactoryBuffer *factory)
{
    (void)factory;
    return (ULONG)InterlockedIncrement(&held);
}

static ULONG STDMETHODCALLTYPE factory_release(IPSFactoryBuffer *factory)
{
    (void)factory;
    return (ULONG)InterlockedDecrement(&held);
}

static HRESULT STDMETHODCALLTYPE factory_create_proxy(IPSFactoryBuffer *factory, IUnknown *outer, REFIID iid,
                                                      IRpcProxyBuffer **proxy, void **object)
{
    (void)factory;
    if (!proxy || !object)
        return E_POINTER;
    *proxy = NULL;
    *object = NULL;
    const CInterfaceStubVtbl *of_interface = proxy_stub_interface(iid);
    if (!of_interface)
        return E_NOINTERFACE;
    struct proxy *self = memory_zero(1, sizeof *self);
    if (!self)
        return E_OUTOFMEMORY;
    IPSFactoryBuffer *generated;
    HRESULT hr = generated_factory(&generated);
    if (SUCCEEDED(hr)) {
        hr = IPSFactoryBuffer_CreateProxy(generated, outer, iid, &self->inner, object);
        IPSFactoryBuffer_Release(generated);
    }
    if (FAILED(hr)) {
        memory_free(self);
        return hr;
    }
    self->buffer.lpVtbl = &proxy_methods;
    self->references = 1;
    self->iid = of_interface->header.piid;
    InterlockedIncrement(&held);
    *proxy = &self->buffer;
    return S_OK;
}

/* Another stub serves IDispatch's methods; a table of functions forwards the calls to it. widl does not write this
   table for the collectors' interfaces, which inherit IDispatch through IDataCollector. Without the table, a client
   that calls IDispatch through the collector's own interface gets RPC_X_BAD_STUB_DATA. */
enum { MOST_OPNUMS = 128 };

static void RPC_ENTRY call_interpreted(IRpcStubBuffer *stub, IRpcChannelBuffer *channel, PRPC_MESSAGE message,
                                       DWORD *phase)
{
    NdrStubCall2(stub, channel, message, phase);
}

static const PRPC_STUB_FUNCTION stub_functions[MOST_OPNUMS] = {
    [3 ... 6] = STUB_FORWARDING_FUNCTION,
    [7 ... MOST_OPNUMS - 1] = call_interpreted,
};

/* Adds the table of functions if widl has written none, and replaces Invoke. Called after the generated factory has
   filled in the vtable. */
static void complete_stub(CInterfaceStubVtbl *stub)
{
    if (!stub->header.pDispatchTable && stub->header.DispatchTableCount <= MOST_OPNUMS)
        stub->header.pDispatchTable = stub_functions;
    stub->Vtbl.Invoke = stub_invoke;
}

static HRESULT STDMETHODCALLTYPE factory_create_stub(IPSFactoryBuffer *factory, REFIID iid, IUnknown *server,
                                                     IRpcStubBuffer **stub)
{
    (void)factory;
    if (!stub)
        return E_POINTER;
    *stub = NULL;
    CInterfaceStubVtbl *of_interface = proxy_stub_interface(iid);
    if (!of_interface)
        return E_NOINTERFACE;
    if (!server) /* Wine's rpcrt4 reads the object's vtable without checking for NULL */
        return E_INVALIDARG;
    IPSFactoryBuffer *generated;
    HRESULT hr = generated_factory(&generated);
    if (FAILED(hr))
        return hr;
    complete_stub(of_interface);
    hr = IPSFactoryBuffer_CreateStub(generated, iid, server, stub);
    IPSFactoryBuffer_Release(generated);
    return hr;
}

static IPSFactoryBufferVtbl factory_methods = {
    factory_query_interface, factory_add_ref, factory_release, factory_create_proxy, factory_create_stub,
};
static IPSFactoryBuffer factory = {&factory_methods};

HRESULT proxy_stub_get_class_object(REFCLSID class_id, REFIID iid, void **object)
{
    if (!object)
        return E_POINTER;
    *object = NULL;
    if (!IsEqualCLSID(class_id, &proxy_class))
        return CLASS_E_CLASSNOTAVAILABLE;
    return IPSFactoryBuffer_QueryInterface(&factory, iid, object);
}

HRESULT proxy_stub_can_unload(void)
{
    return held ? S_FALSE : openpla_proxies_DllCanUnloadNow();
}

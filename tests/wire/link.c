/* SPDX-License-Identifier: MIT */
/* Connects proxy, channel, stub and server. */
#include "tests/wire/link.h"

#include "com/proxy/proxy_stub.h"
#include "idl/proxy_clsid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

int wire_link_open_apartment(void **state)
{
    (void)state;
    return members_read() && CoInitializeEx(NULL, COINIT_MULTITHREADED) == S_OK ? 0 : -1;
}

int wire_link_close_apartment(void **state)
{
    (void)state;
    CoUninitialize();
    return 0;
}

HRESULT wire_link_register(DWORD *cookie)
{
    static const CLSID proxy_class = OPENPLA_PROXY_CLSID;
    static const IID *const interfaces[] = {
#define INTERFACE(name, guid, methods) &IID_##name,
#include "reg/interfaces.def"
#undef INTERFACE
    };
    IUnknown *factory;
    HRESULT hr = proxy_stub_get_class_object(&proxy_class, &IID_IUnknown, (void **)&factory);
    if (FAILED(hr))
        return hr;
    hr = CoRegisterClassObject(&proxy_class, factory, CLSCTX_INPROC_SERVER, REGCLS_MULTIPLEUSE, cookie);
    IUnknown_Release(factory);
    for (size_t i = 0; SUCCEEDED(hr) && i < ARRAYSIZE(interfaces); i++)
        hr = CoRegisterPSClsid(interfaces[i], &proxy_class);
    return hr;
}

void wire_link_open(struct wire_link *link, const IID *iid)
{
    static const CLSID proxy_class = OPENPLA_PROXY_CLSID;
    IPSFactoryBuffer *factory = NULL;
    recording_server_init(&link->server);
    assert_int_equal(proxy_stub_get_class_object(&proxy_class, &IID_IPSFactoryBuffer, (void **)&factory), S_OK);
    assert_int_equal(IPSFactoryBuffer_CreateStub(factory, iid, &link->server.object, &link->stub), S_OK);
    assert_int_equal(IPSFactoryBuffer_CreateProxy(factory, NULL, iid, &link->proxy, &link->object), S_OK);
    IPSFactoryBuffer_Release(factory);
    wire_channel_init(&link->channel, link->stub);
    assert_int_equal(IRpcProxyBuffer_Connect(link->proxy, &link->channel.channel), S_OK);
}

void wire_link_close(struct wire_link *link)
{
    recording_server_expect(&link->server, NULL);
    IRpcProxyBuffer_Disconnect(link->proxy);
    IUnknown_Release((IUnknown *)link->object);
    assert_int_equal(IRpcProxyBuffer_Release(link->proxy), 0);
    IRpcStubBuffer_Disconnect(link->stub);
    assert_int_equal(IRpcStubBuffer_Release(link->stub), 0);
    assert_int_equal(link->channel.references, 1);
}

HRESULT wire_link_call(struct wire_link *link, const struct member *member, union value *values)
{
    typedef HRESULT(STDMETHODCALLTYPE * method)(void *, ULONG_PTR, ULONG_PTR, ULONG_PTR, ULONG_PTR);
    ULONG_PTR arguments[MAX_PARAMETERS] = {0};
    for (unsigned i = 0; i < member->count; i++) {
        arguments[i] =
            member->parameters[i].in ? value_argument(member->parameters[i].type, &values[i]) : (ULONG_PTR)&values[i];
    }
    void **methods = *(void ***)link->object;
    return ((method)methods[member->opnum])(link->object, arguments[0], arguments[1], arguments[2], arguments[3]);
}

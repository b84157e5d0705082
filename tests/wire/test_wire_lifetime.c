/* SPDX-License-Identifier: MIT */
/* The factory, proxies and stubs as COM objects. A wrong reference count would either unload openpla.dll while a proxy
   is in use, or keep the DLL and its objects forever. */
#include "com/proxy/proxy_stub.h"
#include "engine/base/memory.h"
#include "idl/proxy_clsid.h"
#include "tests/unit/patience.h"
#include "tests/wire/link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static const CLSID proxy_class = OPENPLA_PROXY_CLSID;

static IPSFactoryBuffer *get_factory(void)
{
    IPSFactoryBuffer *factory = NULL;
    assert_int_equal(proxy_stub_get_class_object(&proxy_class, &IID_IPSFactoryBuffer, (void **)&factory), S_OK);
    return factory;
}

static void factory_is_found_only_by_its_class(void **state)
{
    (void)state;
    void *object = (void *)1;
    assert_int_equal(proxy_stub_get_class_object(&IID_IValueMap, &IID_IPSFactoryBuffer, &object),
                     CLASS_E_CLASSNOTAVAILABLE);
    assert_null(object);
    assert_int_equal(proxy_stub_get_class_object(&proxy_class, &IID_IClassFactory, &object), E_NOINTERFACE);
    assert_null(object);
    assert_int_equal(proxy_stub_get_class_object(&proxy_class, &IID_IPSFactoryBuffer, NULL), E_POINTER);
    IPSFactoryBuffer *factory = get_factory();
    IUnknown *unknown = NULL;
    assert_int_equal(IPSFactoryBuffer_QueryInterface(factory, &IID_IUnknown, (void **)&unknown), S_OK);
    assert_ptr_equal(unknown, factory);
    IUnknown_Release(unknown);
    IPSFactoryBuffer_Release(factory);
}

static void class_string_equals_the_class(void **state)
{
    (void)state;
    WCHAR text[64];
    char narrow[64];
    assert_true(StringFromGUID2(&proxy_class, text, 64) > 0);
    WideCharToMultiByte(CP_ACP, 0, text, -1, narrow, sizeof narrow, NULL, NULL);
    assert_string_equal(narrow, OPENPLA_PROXY_CLSID_TEXT);
}

static void module_stays_while_referenced(void **state)
{
    (void)state;
    assert_int_equal(proxy_stub_can_unload(), S_OK);
    IPSFactoryBuffer *factory = get_factory();
    assert_int_equal(proxy_stub_can_unload(), S_FALSE);
    struct wire_link link;
    wire_link_open(&link, &IID_IValueMap);
    IPSFactoryBuffer_Release(factory);
    assert_int_equal(proxy_stub_can_unload(), S_FALSE);
    wire_link_close(&link);
    assert_int_equal(proxy_stub_can_unload(), S_OK);
}

static void module_stays_while_a_stub_exists(void **state)
{
    (void)state;
    IPSFactoryBuffer *factory = get_factory();
    struct recording_server server;
    IRpcStubBuffer *stub;
    recording_server_init(&server);
    assert_int_equal(IPSFactoryBuffer_CreateStub(factory, &IID_IValueMap, &server.object, &stub), S_OK);
    IPSFactoryBuffer_Release(factory);
    assert_int_equal(proxy_stub_can_unload(), S_FALSE);
    IRpcStubBuffer_Disconnect(stub);
    assert_int_equal(IRpcStubBuffer_Release(stub), 0);
    assert_int_equal(proxy_stub_can_unload(), S_OK);
}

static void unknown_interfaces_are_rejected(void **state)
{
    (void)state;
    IPSFactoryBuffer *factory = get_factory();
    struct recording_server server;
    IRpcStubBuffer *stub = (void *)1;
    IRpcProxyBuffer *proxy = (void *)1;
    void *object = (void *)1;
    recording_server_init(&server);
    assert_int_equal(IPSFactoryBuffer_CreateStub(factory, &IID_IStream, &server.object, &stub), E_NOINTERFACE);
    assert_null(stub);
    assert_int_equal(IPSFactoryBuffer_CreateProxy(factory, NULL, &IID_IStream, &proxy, &object), E_NOINTERFACE);
    assert_null(proxy);
    assert_null(object);
    assert_int_equal(IPSFactoryBuffer_CreateStub(factory, &IID_IValueMap, NULL, &stub), E_INVALIDARG);
    IPSFactoryBuffer_Release(factory);
}

static void stubs_release_their_server(void **state)
{
    (void)state;
    struct wire_link link;
    wire_link_open(&link, &IID_ISchedule);
    assert_true(link.server.references > 1);
    assert_true(IRpcStubBuffer_CountRefs(link.stub) >= 1);
    assert_null(IRpcStubBuffer_IsIIDSupported(link.stub, &IID_IValueMap));
    wire_link_close(&link);
    assert_int_equal(link.server.references, 1);
}

static void disconnected_proxy_releases_its_channel(void **state)
{
    (void)state;
    struct wire_link link;
    wire_link_open(&link, &IID_IValueMap);
    IRpcProxyBuffer_Disconnect(link.proxy);
    assert_int_equal(link.channel.references, 1);
    wire_link_close(&link);
}

static void out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    IPSFactoryBuffer *factory = get_factory();
    IRpcProxyBuffer *proxy = NULL;
    void *object = NULL;
    struct wire_channel channel;
    memory_fail_at(1);
    assert_int_equal(IPSFactoryBuffer_CreateProxy(factory, NULL, &IID_IValueMap, &proxy, &object), E_OUTOFMEMORY);
    assert_null(proxy);
    assert_null(object);
    memory_fail_at(0);
    assert_int_equal(IPSFactoryBuffer_CreateProxy(factory, NULL, &IID_IValueMap, &proxy, &object), S_OK);
    wire_channel_init(&channel, NULL);
    memory_fail_at(1);
    assert_int_equal(IRpcProxyBuffer_Connect(proxy, &channel.channel), E_OUTOFMEMORY);
    memory_fail_at(0);
    assert_int_equal(channel.references, 1);
    IUnknown_Release((IUnknown *)object);
    IRpcProxyBuffer_Release(proxy);
    IPSFactoryBuffer_Release(factory);
    assert_int_equal(proxy_stub_can_unload(), S_OK);
}

/* The complete COM path: another apartment with its own channel, stub manager and proxy manager. */
struct apartment {
    IStream *stream;
    HRESULT result;
    DataCollectorSetStatus status;
};

static DWORD WINAPI call_from_other_apartment(void *argument)
{
    struct apartment *apartment = argument;
    DWORD registration;
    IDataCollectorSet *set = NULL;
    HRESULT hr = CoInitializeEx(NULL, COINIT_APARTMENTTHREADED);
    if (SUCCEEDED(hr))
        hr = wire_link_register(&registration);
    if (SUCCEEDED(hr))
        hr = CoGetInterfaceAndReleaseStream(apartment->stream, &IID_IDataCollectorSet, (void **)&set);
    if (SUCCEEDED(hr)) {
        UINT count;
        hr = IDataCollectorSet_get_Status(set, &apartment->status);
        if (SUCCEEDED(hr)) /* a method of IDispatch, which oleaut32's proxy and stub serve */
            hr = IDataCollectorSet_GetTypeInfoCount(set, &count);
        IDataCollectorSet_Release(set);
        CoRevokeClassObject(registration);
    }
    apartment->result = hr;
    CoUninitialize();
    return 0;
}

static void calls_between_apartments_use_our_proxies(void **state)
{
    (void)state;
    struct recording_server server;
    struct apartment apartment = {NULL, E_UNEXPECTED, plaStopped};
    DWORD registration;
    CLSID class_id;
    recording_server_init(&server);
    for (size_t i = 0; i < MEMBERS; i++)
        if (members[i].iid == &IID_IDataCollectorSet && !strcmp(members[i].name, "GET Status"))
            recording_server_expect(&server, &members[i]);
    server.give[0].enumeration = plaCompiling;
    assert_int_equal(wire_link_register(&registration), S_OK);
    assert_int_equal(CoGetPSClsid(&IID_IDataCollectorSet, &class_id), S_OK);
    assert_true(IsEqualCLSID(&class_id, &proxy_class));
    assert_int_equal(CoMarshalInterThreadInterfaceInStream(&IID_IDataCollectorSet, &server.object, &apartment.stream),
                     S_OK);
    HANDLE thread = CreateThread(NULL, 0, call_from_other_apartment, &apartment, 0, NULL);
    assert_int_equal(WaitForSingleObject(thread, PATIENCE_MS), WAIT_OBJECT_0);
    CloseHandle(thread);
    assert_int_equal(apartment.result, S_OK);
    assert_int_equal(apartment.status, plaCompiling);
    assert_int_equal(server.calls, 2);
    assert_int_equal(server.slot, 3);
    assert_int_equal(CoRevokeClassObject(registration), S_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factory_is_found_only_by_its_class),
        cmocka_unit_test(class_string_equals_the_class),
        cmocka_unit_test(module_stays_while_referenced),
        cmocka_unit_test(module_stays_while_a_stub_exists),
        cmocka_unit_test(unknown_interfaces_are_rejected),
        cmocka_unit_test(stubs_release_their_server),
        cmocka_unit_test(disconnected_proxy_releases_its_channel),
        cmocka_unit_test(out_of_memory_leaks_nothing),
        cmocka_unit_test(calls_between_apartments_use_our_proxies),
    };
    return cmocka_run_group_tests(tests, wire_link_open_apartment, wire_link_close_apartment);
}

/* SPDX-License-Identifier: MIT */
/* Objects that a client passes where a value is expected. The server calls them, and must not reveal its identity to
   them: a client object in this process records how its proxy is called. */
#include "tests/com/client.h"

#include <string.h>
#include <wchar.h>

/* An object with a value (DISPID_VALUE), as VB's controls have, that is also a JScript array with one item. It
   implements its own security interface, as a proxy does. */
struct client_object {
    IDispatch iface;
    IClientSecurity security;
    LONG references;
    const WCHAR *value; /* NULL: the value is the object itself */
    unsigned calls;     /* calls of its members */
    unsigned unguarded; /* member calls made while the blanket was not the expected one */
    bool guarded;
};

static struct client_object *of_security(IClientSecurity *security)
{
    return CONTAINING_RECORD(security, struct client_object, security);
}

static HRESULT client_query(struct client_object *self, REFIID iid, void **out)
{
    *out = IsEqualIID(iid, &IID_IUnknown) || IsEqualIID(iid, &IID_IDispatch) ? (void *)&self->iface
           : IsEqualIID(iid, &IID_IClientSecurity)                           ? (void *)&self->security
                                                                             : NULL;
    if (!*out)
        return E_NOINTERFACE;
    InterlockedIncrement(&self->references);
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE query(IDispatch *This, REFIID iid, void **out)
{
    return client_query((struct client_object *)This, iid, out);
}

static ULONG STDMETHODCALLTYPE add_ref(IDispatch *This)
{
    return (ULONG)InterlockedIncrement(&((struct client_object *)This)->references);
}

static ULONG STDMETHODCALLTYPE release_ref(IDispatch *This)
{
    return (ULONG)InterlockedDecrement(&((struct client_object *)This)->references);
}

static HRESULT STDMETHODCALLTYPE security_query(IClientSecurity *This, REFIID iid, void **out)
{
    return client_query(of_security(This), iid, out);
}

static ULONG STDMETHODCALLTYPE security_add_ref(IClientSecurity *This)
{
    return add_ref(&of_security(This)->iface);
}

static ULONG STDMETHODCALLTYPE security_release(IClientSecurity *This)
{
    return release_ref(&of_security(This)->iface);
}

static HRESULT STDMETHODCALLTYPE security_query_blanket(IClientSecurity *This, IUnknown *proxy, DWORD *authentication,
                                                        DWORD *authorization, OLECHAR **principal, DWORD *level,
                                                        DWORD *impersonation, void **identity, DWORD *capabilities)
{
    (void)This, (void)proxy, (void)authentication, (void)authorization, (void)principal, (void)level;
    (void)impersonation, (void)identity, (void)capabilities;
    return E_NOTIMPL;
}

static HRESULT STDMETHODCALLTYPE security_set_blanket(IClientSecurity *This, IUnknown *proxy, DWORD authentication,
                                                      DWORD authorization, OLECHAR *principal, DWORD level,
                                                      DWORD impersonation, void *identity, DWORD capabilities)
{
    (void)authentication, (void)authorization, (void)principal, (void)identity;
    of_security(This)->guarded = proxy == (IUnknown *)&of_security(This)->iface &&
                                 level == RPC_C_AUTHN_LEVEL_PKT_PRIVACY && impersonation == RPC_C_IMP_LEVEL_IDENTIFY &&
                                 !(capabilities & (EOAC_STATIC_CLOAKING | EOAC_DYNAMIC_CLOAKING));
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE security_copy(IClientSecurity *This, IUnknown *proxy, IUnknown **copy)
{
    (void)This, (void)proxy;
    *copy = NULL;
    return E_NOTIMPL;
}

static void called(struct client_object *self)
{
    self->calls++;
    self->unguarded += !self->guarded;
}

static HRESULT STDMETHODCALLTYPE type_count(IDispatch *This, UINT *count)
{
    called((struct client_object *)This);
    *count = 0;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE type_info(IDispatch *This, UINT index, LCID lcid, ITypeInfo **out)
{
    (void)index, (void)lcid;
    called((struct client_object *)This);
    *out = NULL;
    return DISP_E_BADINDEX;
}

enum { LENGTH = 100, FIRST_ITEM = 101 };

static HRESULT STDMETHODCALLTYPE dispatch_ids(IDispatch *This, REFIID iid, LPOLESTR *names, UINT count, LCID lcid,
                                              DISPID *out)
{
    (void)iid, (void)count, (void)lcid;
    called((struct client_object *)This);
    out[0] = !wcscmp(names[0], L"length") ? LENGTH : FIRST_ITEM;
    return S_OK;
}

static HRESULT STDMETHODCALLTYPE invoke_member(IDispatch *This, DISPID id, REFIID iid, LCID lcid, WORD flags,
                                               DISPPARAMS *params, VARIANT *result, EXCEPINFO *exception, UINT *bad)
{
    struct client_object *self = (struct client_object *)This;
    (void)iid, (void)lcid, (void)flags, (void)params, (void)exception, (void)bad;
    called(self);
    *result = id == LENGTH ? of_long(1) : self->value ? of_text(self->value) : of_object(self);
    return S_OK;
}

static const IDispatchVtbl client_vtable = {query,     add_ref,      release_ref,  type_count,
                                            type_info, dispatch_ids, invoke_member};
static const IClientSecurityVtbl security_vtable = {
    security_query, security_add_ref, security_release, security_query_blanket, security_set_blanket, security_copy,
};

static struct client_object client_object(const WCHAR *value)
{
    struct client_object self = {.iface.lpVtbl = (IDispatchVtbl *)&client_vtable,
                                 .security.lpVtbl = (IClientSecurityVtbl *)&security_vtable,
                                 .references = 1,
                                 .value = value};
    return self;
}

/* Checked only in process: when the server is another process, its proxy has the blanket, and Wine's proxies do not
   store it. */
static void assert_called_with_care(struct client_object *object)
{
    assert_true(object->calls > 0);
    if (in_process)
        assert_int_equal(object->unguarded, 0);
    CoDisconnectObject((IUnknown *)&object->iface, 0);
}

static void *counter_collector(void)
{
    IDataCollectorSet *set = new_set();
    void *collector = named_collector(set, plaPerformanceCounter, L"C");
    release(set);
    return collector;
}

/* A script that passes a text box instead of its text gets the same effect as with the text. */
static void object_argument_is_read_as_its_value(void **state)
{
    static const struct {
        const WCHAR *property, *value;
    } cases[] = {
        {L"Name", L"of a client"}, {L"SampleInterval", L"42"}, {L"LogAppend", L"True"}, {L"LogFileFormat", L"1"}};
    (void)state;
    void *collector = counter_collector();
    for (size_t i = 0; i < ARRAYSIZE(cases); i++)
        for (int by_reference = 0; by_reference < 2; by_reference++) {
            struct client_object object = client_object(cases[i].value);
            VARIANT given = of_object(&object), reference = {.vt = VT_VARIANT | VT_BYREF};
            V_VARIANTREF(&reference) = &given;
            assert_ok(invoke(collector, cases[i].property, DISPATCH_PROPERTYPUT, NULL,
                             by_reference ? &reference : &given, 1));
            VariantClear(&given);
            assert_called_with_care(&object);
        }
    assert_true(text_is(collector, L"Name", L"of a client"));
    assert_int_equal(number_of(collector, L"SampleInterval"), 42);
    assert_int_equal(number_of(collector, L"LogFileFormat"), 1);
    release(collector);
}

static void client_lists_and_guids_are_read_with_blanket(void **state)
{
    static const WCHAR *const path[] = {L"\\System\\Threads"};
    static const WCHAR guid[] = L"{11111111-2222-3333-4444-555555555555}";
    (void)state;
    void *collector = counter_collector(), *provider = create(&CLSID_TraceDataProvider, &IID_IDispatch);
    VARIANT back;
    for (int in_an_array = 0; in_an_array < 2; in_an_array++) {
        struct client_object object = client_object(path[0]);
        VARIANT given = in_an_array ? of_array(VT_VARIANT, path, 1) : of_object(&object);
        LONG first = 0;
        VARIANT item = of_object(&object);
        if (in_an_array)
            assert_ok(SafeArrayPutElement(V_ARRAY(&given), &first, &item));
        VariantClear(&item);
        assert_ok(put(collector, L"PerformanceCounters", given));
        assert_ok(get(collector, L"PerformanceCounters", &back));
        assert_true(array_is(V_ARRAY(&back), path, 1));
        VariantClear(&back);
        assert_called_with_care(&object);
    }
    struct client_object object = client_object(guid);
    assert_ok(put(provider, L"Guid", of_object(&object)));
    assert_true(text_is(provider, L"Guid", guid));
    assert_called_with_care(&object);
    release(provider);
    release(collector);
}

/* An object whose value is another object could form an endless chain. */
static void object_as_value_of_object_is_rejected(void **state)
{
    static const WCHAR *const properties[] = {L"Name", L"SampleInterval", L"PerformanceCounters"};
    (void)state;
    void *collector = counter_collector();
    for (size_t i = 0; i < ARRAYSIZE(properties); i++) {
        struct client_object object = client_object(NULL);
        assert_hr(put(collector, properties[i], of_object(&object)), DISP_E_TYPEMISMATCH);
        assert_true(object.calls <= 5); /* the calls are `length` and "0", each with its DISPID lookup, and the value */
        assert_called_with_care(&object);
    }
    assert_true(text_is(collector, L"Name", L"C"));
    release(collector);
}

/* The server does not call an object whose value it rejects in any case. The IRecordInfo of a record is also an object
   of the client. */
static void ignored_values_are_not_called(void **state)
{
    (void)state;
    if (!in_process)
        return;
    IRecordInfoVtbl none = {NULL};
    IRecordInfo record = {&none};
    struct client_object object = client_object(L"value");
    IValueMap *map = new_map();
    VARIANT v = {.vt = VT_RECORD};
    V_RECORDINFO(&v) = &record;
    V_RECORD(&v) = &none;
    assert_hr(heard(IValueMap_put_Value(map, v)), DISP_E_BADVARTYPE);
    VARIANT o = of_object(&object);
    assert_hr(heard(IValueMap_put_Value(map, o)), DISP_E_BADVARTYPE);
    assert_hr(heard(IValueMap_Add(map, o)), E_INVALIDARG);
    assert_hr(heard(IValueMap_Remove(map, o)), E_INVALIDARG);
    assert_int_equal(object.calls, 0);
    VariantClear(&o);
    assert_int_equal(object.references, 1);
    release(map);
}

int client_object_tests(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(object_argument_is_read_as_its_value),
        cmocka_unit_test(client_lists_and_guids_are_read_with_blanket),
        cmocka_unit_test(object_as_value_of_object_is_rejected),
        cmocka_unit_test(ignored_values_are_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

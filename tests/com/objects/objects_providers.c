/* SPDX-License-Identifier: MIT */
/* Trace providers: Query, Resolve, the kernel provider, duplicates, and the operations that need the host OS's registry
   of event providers (MS-PLA 3.2.4.11, 3.2.4.13). */
#include "tests/com/client.h"

#include <stdio.h>
#include <evntprov.h>
#include <string.h>
#include <wchar.h>

#define KERNEL_NAME    L"Windows Kernel Trace"
#define KERNEL_GUID    L"{9E814AAD-3204-11D2-9A82-006008A86939}"
#define NETWORK_GUID   L"{A68CA8B7-004F-D7B6-A698-07E2DE0F1F5D}" /* from MS-PLA 4.1 */
#define PUBLISHED_GUID L"{1A2B3C4D-0001-4002-8003-0123456789AB}"
#define PUBLISHED_NAME L"OpenPLA-Test-Provider"
#define SECURITY_KEY   L"SYSTEM\\CurrentControlSet\\Control\\WMI\\Security"

static void *new_trace(void)
{
    IDataCollectorSet *set = new_set();
    void *collector = named_collector(set, plaTrace, L"Trace");
    release(set);
    return collector;
}

static void *new_provider(void)
{
    void *collector = new_trace(), *providers = member(collector, L"TraceDataProviders");
    void *provider = member(providers, L"CreateTraceDataProvider");
    release(providers);
    release(collector);
    return provider;
}

static HRESULT provider_query(void *provider, const WCHAR *name)
{
    VARIANT arguments[2] = {of_text(name), {.vt = VT_NULL}};
    HRESULT hr = invoke(provider, L"Query", DISPATCH_METHOD, NULL, arguments, 2);
    VariantClear(&arguments[0]);
    return hr;
}

static HRESULT with_object(void *object, const WCHAR *method, void *argument)
{
    VARIANT v = of_object(argument);
    HRESULT hr = invoke(object, method, DISPATCH_METHOD, NULL, &v, 1);
    VariantClear(&v);
    return hr;
}

static ULONG map_value(void *provider, const WCHAR *name)
{
    void *map = member(provider, name);
    ULONG value = number_of(map, L"Value");
    release(map);
    return value;
}

static ULONG map_count(void *provider, const WCHAR *name)
{
    void *map = member(provider, name);
    ULONG count = number_of(map, L"Count");
    release(map);
    return count;
}

static void put_map(void *provider, const WCHAR *name, LONG value)
{
    void *map = member(provider, name);
    assert_ok(put(map, L"Value", of_long(value)));
    release(map);
}

static void has_the_kernels_flags(void *provider)
{
    assert_int_equal(map_count(provider, L"Level"), 16);
    assert_int_equal(map_count(provider, L"KeywordsAny"), 34); /* MS-PLA note 2 lists 21 public flags and 13 more */
    assert_int_equal(map_count(provider, L"KeywordsAll"), 0);
    assert_int_equal(map_count(provider, L"Properties"), 3);
    assert_int_equal(map_value(provider, L"Level"), 0); /* keywords are known, but none is enabled */
    assert_int_equal(map_value(provider, L"KeywordsAny"), 0);
    void *map = member(provider, L"KeywordsAny");
    assert_int_equal(number_of(map, L"ValueMapType"), plaFlagArray);
    release(map);
}

static void is_the_kernel(void *provider)
{
    assert_true(text_is(provider, L"DisplayName", KERNEL_NAME));
    assert_true(text_is(provider, L"Guid", KERNEL_GUID));
    has_the_kernels_flags(provider);
}

/* The circular kernel log is requested by the name that scripts use; it is a kernel trace as well. */
static void kernel_context_logger_is_known(void **state)
{
    static const WCHAR *const names[] = {L"circular kernel context logger", L"{54DEA73A-ED1F-42A4-AF71-3E63D056F174}"};
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(names); i++) {
        void *collector = new_trace(), *providers = member(collector, L"TraceDataProviders");
        void *provider = new_provider();
        assert_ok(provider_query(provider, names[i]));
        assert_true(text_is(provider, L"DisplayName", L"Circular Kernel Context Logger"));
        has_the_kernels_flags(provider);
        assert_ok(with_object(providers, L"Add", provider));
        assert_int_equal(number_of(collector, L"IsKernelTrace"), 1);
        release(provider);
        release(providers);
        release(collector);
    }
}

/* The kernel provider, queried by name or by GUID in any spelling, gets the flags that can be selected. */
static void kernel_provider_is_known(void **state)
{
    static const WCHAR *const names[] = {KERNEL_NAME, L"windows KERNEL trace", KERNEL_GUID,
                                         L"{9e814aad-3204-11d2-9a82-006008a86939}"};
    (void)state;
    for (size_t i = 0; i < ARRAYSIZE(names); i++) {
        void *provider = new_provider();
        put_map(provider, L"Level", 4);
        put_map(provider, L"KeywordsAll", 7);
        assert_ok(put(provider, L"DisplayName", of_text(L"Old")));
        assert_ok(provider_query(provider, names[i]));
        is_the_kernel(provider); /* Query discards the earlier contents: MS-PLA 3.2.4.11.15 */
        release(provider);
    }
}

/* MS-PLA 3.2.4.11.15 lists what Query sets; a filter that was put earlier is not in that list. */
static void query_keeps_the_filter(void **state)
{
    static const BYTE bytes[] = {1, 2, 3};
    void *provider = new_provider();
    VARIANT data = {.vt = VT_ARRAY | VT_UI1}, back;
    BYTE *items;
    (void)state;
    V_ARRAY(&data) = SafeArrayCreateVector(VT_UI1, 0, sizeof bytes);
    assert_ok(SafeArrayAccessData(V_ARRAY(&data), (void **)&items));
    memcpy(items, bytes, sizeof bytes);
    SafeArrayUnaccessData(V_ARRAY(&data));
    assert_ok(put(provider, L"FilterData", data));
    assert_ok(put(provider, L"FilterEnabled", of_long(1)));
    assert_ok(put(provider, L"FilterType", of_long(7)));
    assert_ok(provider_query(provider, KERNEL_NAME));
    is_the_kernel(provider);
    assert_true(number_of(provider, L"FilterEnabled"));
    assert_int_equal(number_of(provider, L"FilterType"), 7);
    assert_ok(get(provider, L"FilterData", &back));
    assert_ok(SafeArrayAccessData(V_ARRAY(&back), (void **)&items));
    assert_int_equal(V_ARRAY(&back)->rgsabound[0].cElements, sizeof bytes);
    assert_memory_equal(items, bytes, sizeof bytes);
    SafeArrayUnaccessData(V_ARRAY(&back));
    VariantClear(&back);
    VariantClear(&data);
    release(provider);
}

/* The error names an unknown event provider, and the object keeps its values. */
static void unknown_providers_are_named(void **state)
{
    void *provider = new_provider();
    (void)state;
    assert_ok(provider_query(provider, KERNEL_NAME));
    assert_hr(provider_query(provider, L"No such provider"), HRESULT_FROM_WIN32(4200));
    assert_message("'No such provider'");
    assert_hr(provider_query(provider, L"{0BADF00D-4200-4A11-9C3E-5D2B7E60F1A8}"),
              HRESULT_FROM_WIN32(4200)); /* a GUID that no test registers */
    assert_hr(provider_query(provider, L""), HRESULT_FROM_WIN32(4200));
    is_the_kernel(provider);
    release(provider);
}

static HRESULT list_all(void *providers)
{
    VARIANT server = {.vt = VT_NULL};
    return invoke(providers, L"GetTraceDataProviders", DISPATCH_METHOD, NULL, &server, 1);
}

static HRESULT list_of_process(void *providers, LONG process)
{
    VARIANT arguments[2] = {{.vt = VT_NULL}, of_long(process)};
    return invoke(providers, L"GetTraceDataProvidersByProcess", DISPATCH_METHOD, NULL, arguments, 2);
}

/* Returns how often the collection contains a provider with this GUID, and in `name` that provider's name, which the
   caller clears with VariantClear. */
static unsigned provider_is_listed(void *providers, const WCHAR *guid, VARIANT *name)
{
    unsigned found = 0;
    VariantInit(name);
    for (ULONG i = 0; i < number_of(providers, L"Count"); i++) {
        void *item = item_at(providers, (LONG)i);
        if (text_is(item, L"Guid", guid)) {
            VariantClear(name);
            assert_ok(get(item, L"DisplayName", name));
            found++;
        }
        release(item);
    }
    return found;
}

/* The event provider list replaces the collection's contents. Other programs on this host OS have registered event
   providers too. */
static void known_providers_are_listed(void **state)
{
    void *collector = new_trace(), *providers = member(collector, L"TraceDataProviders"), *mine = new_provider();
    VARIANT name;
    (void)state;
    assert_ok(with_object(providers, L"Add", mine));
    for (int i = 0; i < 2; i++) {
        assert_ok(list_all(providers));
        assert_int_equal(provider_is_listed(providers, KERNEL_GUID, &name), 1);
        VariantClear(&name);
        assert_int_equal(provider_is_listed(providers, L"{00000000-0000-0000-0000-000000000000}", &name), 0);
        VariantClear(&name);
    }
    void *provider = item_at(providers, 0);
    is_the_kernel(provider);
    release(provider);
    release(mine);
    release(providers);
    release(collector);
}

static void *provider_with(const WCHAR *guid)
{
    void *provider = new_provider();
    assert_ok(put(provider, L"Guid", of_text(guid)));
    return provider;
}

/* Templates contain values without names; Resolve adds the names and keeps the values. */
static void resolve_adds_names_and_keeps_values(void **state)
{
    void *mine = provider_with(KERNEL_GUID), *theirs = new_provider();
    (void)state;
    put_map(mine, L"Level", 5);
    put_map(mine, L"KeywordsAny", 0x10303);
    put_map(mine, L"KeywordsAll", 0x100);
    assert_ok(provider_query(theirs, KERNEL_NAME));
    assert_ok(with_object(mine, L"Resolve", theirs));
    assert_true(text_is(mine, L"DisplayName", KERNEL_NAME));
    assert_int_equal(map_value(mine, L"Level"), 5);
    assert_int_equal(map_count(mine, L"Level"), 16);
    assert_int_equal(map_value(mine, L"KeywordsAny"), 0x10303);
    assert_int_equal(map_count(mine, L"KeywordsAny"), 34);
    assert_int_equal(map_value(mine, L"KeywordsAll"), 0x100);
    void *map = member(mine, L"Level");
    void *item = item_at(map, 5);
    assert_true(text_is(item, L"Key", L"win:Verbose"));
    assert_int_equal(number_of(item, L"Enabled"), 1);
    release(item);
    release(map);
    assert_int_equal(map_value(theirs, L"Level"), 0); /* the names are copied */
    assert_ok(with_object(mine, L"Resolve", mine));
    assert_int_equal(map_value(mine, L"KeywordsAny"), 0x10303);
    release(theirs);
    release(mine);
}

/* In a collection, Resolve uses the provider with the same GUID; without such a provider, nothing changes. */
static void resolve_finds_its_provider_in_a_collection(void **state)
{
    void *collector = new_trace(), *providers = member(collector, L"TraceDataProviders");
    void *mine = provider_with(NETWORK_GUID), *first = new_provider(), *second = provider_with(NETWORK_GUID);
    (void)state;
    assert_ok(put(mine, L"DisplayName", of_text(L"Mine")));
    assert_ok(put(second, L"DisplayName", of_text(L"Second")));
    assert_ok(provider_query(first, KERNEL_NAME));
    assert_ok(with_object(providers, L"Add", first));
    assert_ok(with_object(mine, L"Resolve", providers));
    assert_true(text_is(mine, L"DisplayName", L"Mine"));
    assert_ok(with_object(providers, L"Add", second));
    assert_ok(with_object(mine, L"Resolve", providers));
    assert_true(text_is(mine, L"DisplayName", L"Second"));
    assert_int_equal(map_count(mine, L"Level"), 0);
    assert_hr(with_object(mine, L"Resolve", collector), E_INVALIDARG);
    assert_message("TraceDataCollector");
    assert_true(FAILED(invoke(mine, L"Resolve", DISPATCH_METHOD, NULL, (VARIANT[]){{.vt = VT_DISPATCH}}, 1)));
    release(second);
    release(first);
    release(mine);
    release(providers);
    release(collector);
}

/* An event provider that is enabled twice would get either of its two settings at random. */
static void provider_is_in_a_collection_only_once(void **state)
{
    void *collector = new_trace(), *other = new_trace(), *nameless[2] = {new_provider(), new_provider()};
    void *providers = member(collector, L"TraceDataProviders"), *more = member(other, L"TraceDataProviders");
    void *first = provider_with(NETWORK_GUID), *second = provider_with(NETWORK_GUID), *kernel = new_provider();
    (void)state;
    assert_ok(with_object(providers, L"Add", first));
    assert_hr(with_object(providers, L"Add", second), PLA_E_NO_DUPLICATES);
    assert_message("A68CA8B7");
    assert_hr(with_object(providers, L"Add", first), PLA_E_NO_DUPLICATES);
    assert_int_equal(number_of(providers, L"Count"), 1);
    /* AddRange adds all items or none. */
    assert_ok(provider_query(kernel, KERNEL_NAME));
    assert_ok(with_object(more, L"Add", kernel));
    assert_ok(with_object(more, L"Add", second));
    assert_hr(with_object(providers, L"AddRange", more), PLA_E_NO_DUPLICATES);
    assert_message("A68CA8B7");
    assert_int_equal(number_of(providers, L"Count"), 1);
    /* Providers without a GUID are not duplicates of each other. */
    assert_ok(put(nameless[0], L"DisplayName", of_text(L"Nameless")));
    assert_ok(with_object(providers, L"Add", nameless[0]));
    assert_ok(with_object(providers, L"Add", nameless[1]));
    assert_int_equal(number_of(providers, L"Count"), 3);
    /* A failing AddRange removes only the items that it added: existing items keep their places. */
    assert_ok(call(more, L"Clear"));
    assert_ok(with_object(more, L"Add", nameless[0]));
    assert_ok(with_object(more, L"Add", second));
    assert_hr(with_object(providers, L"AddRange", more), PLA_E_NO_DUPLICATES);
    assert_int_equal(number_of(providers, L"Count"), 3);
    void *item = item_at(providers, 1);
    assert_true(text_is(item, L"DisplayName", L"Nameless"));
    release(item);
    release(kernel);
    release(second);
    release(first);
    release(more);
    release(providers);
    release(nameless[1]);
    release(nameless[0]);
    release(other);
    release(collector);
}

/* A kernel trace cannot be combined with other event providers, and the collector reports that it is a kernel trace. */
static void kernel_trace_rejects_other_providers(void **state)
{
    IDataCollectorSet *set = new_set();
    IDataCollectorCollection *collectors = collectors_of(set);
    void *collector = named_collector(set, plaTrace, L"Trace"), *providers = member(collector, L"TraceDataProviders");
    void *network = provider_with(NETWORK_GUID), *kernel = new_provider();
    IValueMap *map;
    VARIANT v,
        twice = of_text(L"<TraceDataCollector><TraceDataProvider><Guid>" NETWORK_GUID L"</Guid></TraceDataProvider>"
                        L"<TraceDataProvider><Guid>" NETWORK_GUID L"</Guid></TraceDataProvider></TraceDataCollector>");

    (void)state;
    assert_ok(with_object(collectors, L"Add", collector));
    assert_ok(with_object(providers, L"Add", network));
    assert_int_equal(number_of(collector, L"IsKernelTrace"), 0);
    assert_true(text_is(collector, L"SessionName", L"Trace"));
    assert_ok(provider_query(kernel, KERNEL_NAME));
    assert_ok(with_object(providers, L"Add", kernel));
    assert_int_equal(number_of(collector, L"IsKernelTrace"), 1);
    assert_true(text_is(collector, L"SessionName", L"NT Kernel Logger"));
    assert_ok(commit(set, L"test-com-kernel", plaCreateOrModify | plaValidateOnly, &map));
    assert_true(map_says(map, L"TraceDataCollector[1]/TraceDataProviders", PLA_E_PROPERTY_CONFLICT));
    release(map);
    assert_ok(invoke(providers, L"Remove", DISPATCH_METHOD, NULL, (VARIANT[]){of_long(0)}, 1));
    assert_ok(commit(set, L"test-com-kernel", plaCreateOrModify | plaValidateOnly, &map));
    assert_false(map_says(map, L"TraceDataCollector[1]/TraceDataProviders", PLA_E_PROPERTY_CONFLICT));
    release(map);
    assert_ok(put(collector, L"SessionName", of_text(L"Mine")));
    assert_true(text_is(collector, L"SessionName", L"Mine"));
    /* A GUID that is put after Add makes the collection contain it twice; Commit reports that. */
    assert_ok(with_object(providers, L"Add", network));
    assert_ok(put(network, L"Guid", of_text(KERNEL_GUID)));
    assert_ok(commit(set, L"test-com-kernel", plaCreateOrModify | plaValidateOnly, &map));
    assert_true(map_says(map, L"TraceDataCollector[1]/TraceDataProviders", PLA_E_NO_DUPLICATES));
    release(map);
    /* MS-PLA 2.2.1: in this state, the collector's own XML can neither be read nor set. */
    assert_hr(get(collector, L"Xml", &v), PLA_E_NO_DUPLICATES);
    assert_message("TraceDataProviders");
    assert_hr(invoke(collector, L"SetXml", DISPATCH_METHOD, NULL, &twice, 1), PLA_E_NO_DUPLICATES);
    assert_message("A68CA8B7");
    assert_int_equal(number_of(providers, L"Count"), 2); /* unchanged */
    VariantClear(&twice);
    release(kernel);
    release(network);
    release(providers);
    release(collector);
    release(collectors);
    release(set);
}

/* Registers an event provider in the host OS's registry, as the installation of its manifest does, or removes the
   registration. */
static void provider_publish(const WCHAR *guid, const WCHAR *name)
{
    static const WCHAR publishers[] = L"SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WINEVT\\Publishers\\";
    HKEY all;
    /* 64-bit programs register there, whether this program has 32 or 64 bits. */
    assert_int_equal(
        RegCreateKeyExW(HKEY_LOCAL_MACHINE, publishers, 0, NULL, 0, KEY_ALL_ACCESS | KEY_WOW64_64KEY, NULL, &all, NULL),
        0);
    if (name)
        assert_int_equal(RegSetKeyValueW(all, guid, NULL, REG_SZ, name, (DWORD)((wcslen(name) + 1) * sizeof *name)), 0);
    else
        RegDeleteTreeW(all, guid);
    RegCloseKey(all);
}

/* Removes registry entries that a failed test left behind. */
static int remove_leftover_providers(void **state)
{
    (void)state;
    provider_publish(PUBLISHED_GUID, NULL);
    RegDeleteKeyValueW(HKEY_LOCAL_MACHINE, SECURITY_KEY, L"1a2b3c4d-0001-4002-8003-0123456789ab");
    return 0;
}

/* A provider can be selected by the name or GUID that its program registered, and is in the list of all event
   providers. */
static void registered_providers_are_found(void **state)
{
    void *provider = new_provider(), *again = new_provider(), *collector = new_trace();
    void *providers = member(collector, L"TraceDataProviders");
    VARIANT server = {.vt = VT_NULL};
    bool listed = false;
    (void)state;
    provider_publish(PUBLISHED_GUID, PUBLISHED_NAME);
    assert_ok(provider_query(provider, L"openpla-test-PROVIDER"));
    assert_true(text_is(provider, L"DisplayName", PUBLISHED_NAME));
    assert_true(text_is(provider, L"Guid", PUBLISHED_GUID));
    assert_int_equal(map_count(provider, L"Level"), 16);
    assert_true(map_count(provider, L"KeywordsAny") >= 16);
    assert_int_equal(map_count(provider, L"KeywordsAny"), map_count(provider, L"KeywordsAll"));
    assert_ok(provider_query(again, PUBLISHED_GUID));
    assert_true(text_is(again, L"DisplayName", PUBLISHED_NAME));
    assert_ok(invoke(providers, L"GetTraceDataProviders", DISPATCH_METHOD, NULL, &server, 1));
    for (ULONG i = 0; i < number_of(providers, L"Count"); i++) {
        void *item = item_at(providers, (LONG)i);
        listed = listed || text_is(item, L"DisplayName", PUBLISHED_NAME);
        release(item);
    }
    assert_true(listed);
    provider_publish(PUBLISHED_GUID, NULL);
    assert_hr(provider_query(provider, PUBLISHED_NAME), HRESULT_FROM_WIN32(4200)); /* ERROR_WMI_GUID_NOT_FOUND */
    assert_true(text_is(provider, L"DisplayName", PUBLISHED_NAME));                /* the object's contents are kept */
    release(providers);
    release(collector);
    release(again);
    release(provider);
}

static HRESULT security_of(void *provider, LONG parts, VARIANT *sddl)
{
    return invoke(provider, L"GetSecurity", DISPATCH_METHOD, sddl, (VARIANT[]){of_long(parts)}, 1);
}

/* Access to an event provider is set for the whole computer, not for the object. */
static void event_provider_security_applies_to_the_computer(void **state)
{
    void *provider = new_provider(), *again = new_provider();
    VARIANT sddl = of_text(L"O:BAG:BAD:(A;;0x800;;;SY)"), wrong = of_text(L"nonsense"), text;
    (void)state;
    assert_hr(security_of(provider, 7, &text), E_INVALIDARG);
    assert_message("Guid");
    assert_ok(put(provider, L"Guid", of_text(PUBLISHED_GUID)));
    assert_ok(put(again, L"Guid", of_text(PUBLISHED_GUID)));
    assert_ok(security_of(provider, 7, &text));
    assert_non_null(wcsstr(V_BSTR(&text), L"(A;;0x800;;;WD)")); /* Windows' default: everyone may register the
                                                                   provider */
    VariantClear(&text);
    assert_ok(invoke(provider, L"SetSecurity", DISPATCH_METHOD, NULL, &sddl, 1));
    assert_ok(security_of(again, 7, &text));
    assert_int_equal(wcscmp(V_BSTR(&text), V_BSTR(&sddl)), 0);
    VariantClear(&text);
    assert_ok(security_of(again, 4, &text));
    assert_int_equal(wcscmp(V_BSTR(&text), L"D:(A;;0x800;;;SY)"), 0);
    VariantClear(&text);
    assert_hr(invoke(provider, L"SetSecurity", DISPATCH_METHOD, NULL, &wrong, 1), E_INVALIDARG);
    assert_message("nonsense");
    VariantClear(&wrong);
    wrong = of_text(L""); /* a script's empty variable must not open the provider to everyone */
    assert_hr(invoke(provider, L"SetSecurity", DISPATCH_METHOD, NULL, &wrong, 1), E_INVALIDARG);
    assert_message("Sddl");
    assert_ok(security_of(again, 0x1F, &text)); /* plus LABEL_SECURITY_INFORMATION: MS-PLA 2.2 */
    assert_int_equal(wcscmp(V_BSTR(&text), V_BSTR(&sddl)), 0);
    VariantClear(&text);
    assert_hr(security_of(provider, 0, &text), E_INVALIDARG);
    assert_hr(security_of(provider, 16, &text), E_INVALIDARG);
    assert_message("SecurityInfo");
    VariantClear(&wrong);
    VariantClear(&sddl);
    release(again);
    release(provider);
}

static HRESULT get_processes(void *provider, VARIANT *processes)
{
    VARIANT by_reference = {.vt = VT_VARIANT | VT_BYREF, .pvarVal = processes};
    VariantInit(processes);
    return invoke(provider, L"GetRegisteredProcesses", DISPATCH_METHOD, NULL, &by_reference, 1);
}

/* Registers an event provider without a manifest or a name in this process. */
static REGHANDLE register_here(const GUID *guid)
{
    REGHANDLE handle = 0;
    assert_int_equal(EventRegister(guid, NULL, NULL, &handle), ERROR_SUCCESS);
    return handle;
}

#define OWN_GUID   L"{1A2B3C4D-0002-4002-8003-0123456789AB}"
#define OTHER_GUID L"{1A2B3C4D-0003-4002-8003-0123456789AB}"
#define OTHER_NAME L"OpenPLA.Test.Own"
static const GUID own_guid = {0x1A2B3C4D, 0x0002, 0x4002, {0x80, 0x03, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB}};
static const GUID other_guid = {0x1A2B3C4D, 0x0003, 0x4002, {0x80, 0x03, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB}};

static void *processes_of(void *provider)
{
    VARIANT processes;
    assert_ok(get_processes(provider, &processes));
    assert_int_equal(V_VT(&processes), VT_DISPATCH);
    return V_DISPATCH(&processes);
}

/* Event providers of running programs are listed by process and name as long as they are registered. */
static void registered_processes_are_known(void **state)
{
    static BYTE traits[] = "\x13\0OpenPLA.Test.Own";
    const LONG self = (LONG)GetCurrentProcessId();
    void *collector = new_trace(), *providers = member(collector, L"TraceDataProviders"), *provider = new_provider();
    VARIANT name;
    (void)state;
    const REGHANDLE plain = register_here(&own_guid), named = register_here(&other_guid);
    assert_int_equal(EventSetInformation(named, (EVENT_INFO_CLASS)2 /* provider traits */, traits, sizeof traits),
                     ERROR_SUCCESS);
    assert_ok(list_all(providers));
    assert_int_equal(provider_is_listed(providers, OWN_GUID, &name), 1);
    assert_int_equal(wcscmp(V_BSTR(&name), OWN_GUID), 0);
    VariantClear(&name);
    assert_int_equal(provider_is_listed(providers, OTHER_GUID, &name), 1);
    assert_int_equal(wcscmp(V_BSTR(&name), OTHER_NAME), 0);
    VariantClear(&name);
    assert_ok(provider_query(provider, OTHER_NAME));
    assert_true(text_is(provider, L"Guid", OTHER_GUID));
    assert_ok(provider_query(provider, OWN_GUID));
    assert_true(text_is(provider, L"DisplayName", OWN_GUID));
    assert_int_equal(map_count(provider, L"Level"), 16);

    assert_ok(list_of_process(providers, self));
    assert_int_equal(provider_is_listed(providers, OWN_GUID, &name), 1);
    VariantClear(&name);
    assert_int_equal(provider_is_listed(providers, KERNEL_GUID, &name), 0);
    VariantClear(&name);
    assert_true(number_of(providers, L"Count") >= 2);
    void *map = processes_of(provider);
    WCHAR path[MAX_PATH];
    assert_int_equal(number_of(map, L"Count"), 1);
    void *item = item_at(map, 0);
    assert_true(GetModuleFileNameW(NULL, path, MAX_PATH) > 0);
    assert_ok(get(item, L"Key", &name));
    assert_int_equal(_wcsicmp(V_BSTR(&name), path), 0);
    VariantClear(&name);
    assert_int_equal(number_of(item, L"Value"), self);
    release(item);
    release(map);
    EventUnregister(plain);
    EventUnregister(named);
    map = processes_of(provider);
    assert_int_equal(number_of(map, L"Count"), 0);
    release(map);
    assert_hr(provider_query(provider, OWN_GUID), HRESULT_FROM_WIN32(4200));
    assert_ok(provider_query(provider, OTHER_NAME)); /* it is known from its registration */
    release(provider);
    release(providers);
    release(collector);
}

static void registrations_are_queried_by_guid_and_process(void **state)
{
    void *collector = new_trace(), *providers = member(collector, L"TraceDataProviders"), *provider = new_provider();
    VARIANT processes;
    (void)state;
    assert_ok(with_object(providers, L"Add", provider));
    assert_hr(list_of_process(providers, 0x7FFFFFF0), E_INVALIDARG);
    assert_message("2147483632");
    assert_int_equal(number_of(providers, L"Count"), 1); /* unchanged */
    release(providers);
    release(collector);
    assert_hr(get_processes(provider, &processes), E_INVALIDARG);
    assert_message("GetRegisteredProcesses");
    assert_int_equal(V_VT(&processes), VT_EMPTY);
    if (in_process) {
        BSTR text = (BSTR)1;
        assert_hr(heard(ITraceDataProvider_GetSecurity((ITraceDataProvider *)provider, 4, &text)), E_INVALIDARG);
        assert_null(text);
        assert_hr(heard(ITraceDataProvider_GetSecurity((ITraceDataProvider *)provider, 4, NULL)), E_POINTER);
        assert_hr(heard(ITraceDataProvider_GetRegisteredProcesses((ITraceDataProvider *)provider, NULL)), E_POINTER);
    }
    release(provider);
}

int provider_tests(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_provider_is_known),
        cmocka_unit_test(kernel_context_logger_is_known),
        cmocka_unit_test(query_keeps_the_filter),
        cmocka_unit_test(unknown_providers_are_named),
        cmocka_unit_test(known_providers_are_listed),
        cmocka_unit_test(resolve_adds_names_and_keeps_values),
        cmocka_unit_test(resolve_finds_its_provider_in_a_collection),
        cmocka_unit_test(provider_is_in_a_collection_only_once),
        cmocka_unit_test(kernel_trace_rejects_other_providers),
        cmocka_unit_test_teardown(registered_providers_are_found, remove_leftover_providers),
        cmocka_unit_test_teardown(event_provider_security_applies_to_the_computer, remove_leftover_providers),
        cmocka_unit_test(registered_processes_are_known),
        cmocka_unit_test(registrations_are_queried_by_guid_and_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

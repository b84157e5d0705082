/* SPDX-License-Identifier: MIT */
/* ITraceDataProvider and its collection. MS-PLA 3.2.4.11. */
#include "com/objects/collection.h"
#include "com/objects/convert.h"
#include "com/objects/foreign_object.h"
#include "com/server/call_entry.h"
#include "engine/base/memory.h"
#include "engine/pla/definition.h"
#include "engine/pla/store.h"
#include "engine/pla/trace_event_providers.h"

static HRESULT STDMETHODCALLTYPE provider_query(ITraceDataProvider *This, BSTR name, BSTR server)
{
    char *text = NULL;
    (void)server; /* not used: MS-PLA 3.2.4.11.15 */
    HRESULT hr = text_from_bstr(name, "bstrName", &text);
    if (SUCCEEDED(hr))
        hr = trace_provider_query(model_of(This), text);
    memory_free(text);
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE provider_resolve(ITraceDataProvider *This, IDispatch *from)
{
    struct object *model;
    HRESULT hr = wrapper_model_or_copy((IUnknown *)from, "pFrom", &model);
    if (SUCCEEDED(hr)) {
        hr = trace_provider_resolve(model_of(This), model);
        object_release(model);
    }
    return com_result(This, hr);
}

/* Checks the caller's right to change the event provider's security. Without this check only the server's rights would
   count, because the server's account makes the change in the registry. */
static HRESULT may_set_security(struct object *provider)
{
    enum { OWNER_GROUP_DACL = 7 };
    const struct caller caller = com_caller();
    struct value name;
    char *sddl = NULL;
    if (caller.in_process)
        return S_OK;
    HRESULT hr = object_get(provider, &provider->class->properties[ITraceDataProvider_DisplayName], &name);
    if (FAILED(hr))
        return hr;
    hr = trace_provider_get_security(provider, OWNER_GROUP_DACL, &sddl);
    if (SUCCEEDED(hr))
        hr = set_access_check_caller(
            &caller, SET_ACCESS_SECURITY,
            &(struct set_access_object){.space = "Provider", .name = name.text, .security = sddl, .session = true});
    hr = refusal_answer(hr, &caller, "Provider", name.text);
    memory_free(sddl);
    value_free(&name);
    return hr;
}

static HRESULT STDMETHODCALLTYPE provider_set_security(ITraceDataProvider *This, BSTR sddl)
{
    char *text = NULL;
    HRESULT hr = text_from_bstr(sddl, "Sddl", &text);
    if (SUCCEEDED(hr))
        hr = may_set_security(model_of(This));
    if (SUCCEEDED(hr))
        hr = trace_provider_set_security(model_of(This), text);
    memory_free(text);
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE provider_get_security(ITraceDataProvider *This, ULONG information, BSTR *out)
{
    char *text = NULL;
    if (!out)
        return com_no_pointer(This, "Sddl");
    *out = NULL;
    HRESULT hr = trace_provider_get_security(model_of(This), information, &text);
    if (SUCCEEDED(hr))
        hr = bstr_from_text(text, out);
    memory_free(text);
    return com_result(This, hr);
}

static HRESULT STDMETHODCALLTYPE provider_get_processes(ITraceDataProvider *This, IValueMap **out)
{
    struct object *map = NULL;
    if (!out)
        return com_no_pointer(This, "Processes");
    *out = NULL;
    HRESULT hr = trace_provider_processes(model_of(This), &map);
    return com_result(This, wrapper_give(hr, map, (void **)out));
}

#define INTERFACE ITraceDataProvider
#define ROWS      "engine/pla/trace_data_provider.def"
#define METHODS                                                                                                        \
    .Query = provider_query, .Resolve = provider_resolve, .SetSecurity = provider_set_security,                        \
    .GetSecurity = provider_get_security, .GetRegisteredProcesses = provider_get_processes
#define METHOD_COUNT 5
#include "com/objects/object_vtable.inc"

/* ITraceDataProviderCollection. MS-PLA 3.2.4.13. */

COLLECTION_READ_THUNKS(ITraceDataProviderCollection, ITraceDataProvider, LONG)
COLLECTION_ADD_THUNK(ITraceDataProviderCollection, ITraceDataProvider)
COLLECTION_REMOVE_THUNK(ITraceDataProviderCollection)
COLLECTION_CREATE_THUNK(ITraceDataProviderCollection, ITraceDataProvider, CreateTraceDataProvider,
                        trace_data_provider_class)

static HRESULT STDMETHODCALLTYPE providers_get(ITraceDataProviderCollection *This, BSTR server)
{
    (void)server; /* not used: MS-PLA 3.2.4.13.9 */
    return com_result(This, trace_providers_list(model_of(This)));
}

static HRESULT STDMETHODCALLTYPE providers_get_by_process(ITraceDataProviderCollection *This, BSTR server, ULONG pid)
{
    (void)server;
    return com_result(This, trace_providers_list_of_process(model_of(This), pid));
}

#define INTERFACE ITraceDataProviderCollection
#define METHODS                                                                                                        \
    .Add = THUNK(Add), .Remove = THUNK(Remove), .CreateTraceDataProvider = THUNK(CreateTraceDataProvider),             \
    .GetTraceDataProviders = providers_get, .GetTraceDataProvidersByProcess = providers_get_by_process,                \
    COLLECTION_READ_SLOTS
#define METHOD_COUNT (COLLECTION_SLOT_COUNT + 3)
#include "com/objects/object_vtable.inc"

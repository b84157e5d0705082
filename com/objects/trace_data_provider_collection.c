/* SPDX-License-Identifier: MIT */
/* ITraceDataProviderCollection. MS-PLA 3.2.4.13. */
#include "com/objects/collection.h"
#include "engine/pla/trace_providers.h"

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

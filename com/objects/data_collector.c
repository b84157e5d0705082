/* SPDX-License-Identifier: MIT */
/* The COM members of the five collectors: each interface has IDataCollector's members (MS-PLA 3.2.4.5) as functions
   with its own type, and additional members. */
#include "com/objects/convert.h"

static HRESULT get_set(void *interface_pointer, IDataCollectorSet **out)
{
    struct object *set;
    if (!out)
        return com_no_pointer(interface_pointer, "DataCollectorSet");
    *out = NULL;
    HRESULT hr = collector_set(model_of(interface_pointer), &set);
    return com_result(interface_pointer, wrapper_give(hr, set, (void **)out));
}

/* Implements the members for local use. On Windows, only Windows' own code calls them, within one process (MS-PLA note
   17: opnums 8, 28, 31). */
static HRESULT local_only(void *interface_pointer)
{
    return com_result(interface_pointer, error_set(E_NOTIMPL, "the member is reserved for local use (MS-PLA 3.2.4.5)"));
}

#define COLLECTOR_THUNKS(I)                                                                                            \
    static HRESULT STDMETHODCALLTYPE I##_get_DataCollectorSet_thunk(I *This, IDataCollectorSet **out)                  \
    {                                                                                                                  \
        return get_set(This, out);                                                                                     \
    }                                                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_get_Xml_thunk(I *This, BSTR *out)                                             \
    {                                                                                                                  \
        return object_get_xml(This, out);                                                                              \
    }                                                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_SetXml_thunk(I *This, BSTR xml, IValueMap **validation)                       \
    {                                                                                                                  \
        return object_set_xml(This, collector_from_xml, xml, "Xml", validation);                                       \
    }                                                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_local_only_thunk(I *This)                                                     \
    {                                                                                                                  \
        return local_only(This);                                                                                       \
    }
#define COLLECTOR_SLOTS                                                                                                \
    .get_DataCollectorSet = THUNK(get_DataCollectorSet), .get_Xml = THUNK(get_Xml), .SetXml = THUNK(SetXml),           \
    .Opnum8NotUsedOnWire = THUNK(local_only), .Opnum28NotUsedOnWire = THUNK(local_only),                               \
    .Opnum31NotUsedOnWire = THUNK(local_only)
enum { COLLECTOR_SLOT_COUNT = 6 };

/* MS-PLA 3.2.4.6 */
COLLECTOR_THUNKS(IPerformanceCounterDataCollector)
#define INTERFACE    IPerformanceCounterDataCollector
#define ROWS         "engine/pla/performance_counter_collector.def"
#define METHODS      COLLECTOR_SLOTS
#define METHOD_COUNT COLLECTOR_SLOT_COUNT
#include "com/objects/object_vtable.inc"

/* MS-PLA 3.2.4.7 */
COLLECTOR_THUNKS(IConfigurationDataCollector)
#define INTERFACE    IConfigurationDataCollector
#define ROWS         "engine/pla/configuration_collector.def"
#define METHODS      COLLECTOR_SLOTS
#define METHOD_COUNT COLLECTOR_SLOT_COUNT
#include "com/objects/object_vtable.inc"

/* MS-PLA 3.2.4.8 */
COLLECTOR_THUNKS(IAlertDataCollector)
#define INTERFACE    IAlertDataCollector
#define ROWS         "engine/pla/alert_collector.def"
#define METHODS      COLLECTOR_SLOTS
#define METHOD_COUNT COLLECTOR_SLOT_COUNT
#include "com/objects/object_vtable.inc"

/* MS-PLA 3.2.4.9 */
COLLECTOR_THUNKS(ITraceDataCollector)
#define INTERFACE ITraceDataCollector
#define ROWS      "engine/pla/trace_data_collector.def"
#define METHODS                                                                                                        \
    .Opnum35NotUsedOnWire = THUNK(local_only), .Opnum37NotUsedOnWire = THUNK(local_only),                              \
    .Opnum41NotUsedOnWire = THUNK(local_only), .Opnum47NotUsedOnWire = THUNK(local_only),                              \
    .Opnum62NotUsedOnWire = THUNK(local_only), .Opnum64NotUsedOnWire = THUNK(local_only),                              \
    .Opnum68NotUsedOnWire = THUNK(local_only), COLLECTOR_SLOTS
#define METHOD_COUNT (COLLECTOR_SLOT_COUNT + 7)
#include "com/objects/object_vtable.inc"

/* MS-PLA 3.2.4.10 */
COLLECTOR_THUNKS(IApiTracingDataCollector)
#define INTERFACE    IApiTracingDataCollector
#define ROWS         "engine/pla/api_tracing_collector.def"
#define METHODS      COLLECTOR_SLOTS
#define METHOD_COUNT COLLECTOR_SLOT_COUNT
#include "com/objects/object_vtable.inc"

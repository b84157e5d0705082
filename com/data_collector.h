/* SPDX-License-Identifier: MIT */
/* The members of IDataCollector that are more than a property, typed for each kind of collector. MS-PLA 3.2.4.5. */
#ifndef OPENPLA_COM_DATA_COLLECTOR_H
#define OPENPLA_COM_DATA_COLLECTOR_H

#include "com/convert.h"
#include "com/issues.h"

HRESULT data_collector_get_set(void *interface_pointer, IDataCollectorSet **out);
/* Members that only Windows' own code calls, in its own process (MS-PLA note 17: opnums 8, 28, 31). */
HRESULT data_collector_local_only(void *interface_pointer);

#define DATA_COLLECTOR_THUNKS(I)                                                                                       \
    static HRESULT STDMETHODCALLTYPE I##_get_DataCollectorSet_thunk(I *This, IDataCollectorSet **out)                  \
    {                                                                                                                  \
        return data_collector_get_set(This, out);                                                                      \
    }                                                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_get_Xml_thunk(I *This, BSTR *out)                                             \
    {                                                                                                                  \
        return object_get_xml(This, out);                                                                              \
    }                                                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_SetXml_thunk(I *This, BSTR xml, IValueMap **validation)                       \
    {                                                                                                                  \
        return call_with_issues(This, collector_from_xml, xml, "Xml", validation);                                     \
    }                                                                                                                  \
    static HRESULT STDMETHODCALLTYPE I##_local_only_thunk(I *This)                                                     \
    {                                                                                                                  \
        return data_collector_local_only(This);                                                                        \
    }
#define DATA_COLLECTOR_SLOTS(I)                                                                                        \
    .get_DataCollectorSet = I##_get_DataCollectorSet_thunk, .get_Xml = I##_get_Xml_thunk, .SetXml = I##_SetXml_thunk,  \
    .Opnum8NotUsedOnWire = I##_local_only_thunk, .Opnum28NotUsedOnWire = I##_local_only_thunk,                         \
    .Opnum31NotUsedOnWire = I##_local_only_thunk
enum { DATA_COLLECTOR_SLOT_COUNT = 6 };

#endif

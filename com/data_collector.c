/* SPDX-License-Identifier: MIT */
/* The members of IDataCollector that are more than a property. MS-PLA 3.2.4.5. */
#include "com/data_collector.h"

HRESULT data_collector_get_set(void *interface_pointer, IDataCollectorSet **out)
{
    struct object *set;
    if (!out)
        return com_no_pointer(interface_pointer, "DataCollectorSet");
    *out = NULL;
    HRESULT hr = collector_set(model_of(interface_pointer), &set);
    if (SUCCEEDED(hr)) {
        hr = skin_get(set, (void **)out);
        object_release(set);
    }
    return com_result(interface_pointer, hr);
}

HRESULT data_collector_local_only(void *interface_pointer)
{
    return com_result(interface_pointer, error_set(E_NOTIMPL, "the member is reserved for local use (MS-PLA 3.2.4.5)"));
}

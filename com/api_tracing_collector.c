/* SPDX-License-Identifier: MIT */
/* IApiTracingDataCollector. MS-PLA 3.2.4.10. */
#include "com/class_table.h"
#include "com/data_collector.h"
#include "com/property_thunks.h"

#define INTERFACE IApiTracingDataCollector
#define PROPERTY  PROPERTY_THUNKS
#include "engine/model/data_collector.def"
#include "engine/model/api_tracing_collector.def"
#undef PROPERTY
DISPATCH_THUNKS(IApiTracingDataCollector)
DATA_COLLECTOR_THUNKS(IApiTracingDataCollector)

const IApiTracingDataCollectorVtbl api_tracing_collector_vtable = {
    DISPATCH_SLOTS(IApiTracingDataCollector),
    DATA_COLLECTOR_SLOTS(IApiTracingDataCollector),
#define PROPERTY PROPERTY_SLOTS
#include "engine/model/data_collector.def"
#include "engine/model/api_tracing_collector.def"
#undef PROPERTY
};
enum {
    IApiTracingDataCollector_slots = 0
#define PROPERTY PROPERTY_SLOT_COUNT
#include "engine/model/data_collector.def"
#include "engine/model/api_tracing_collector.def"
#undef PROPERTY
};
ASSERT_SLOTS(IApiTracingDataCollector, IApiTracingDataCollector_slots + DATA_COLLECTOR_SLOT_COUNT);

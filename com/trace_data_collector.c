/* SPDX-License-Identifier: MIT */
/* ITraceDataCollector. MS-PLA 3.2.4.9. */
#include "com/class_table.h"
#include "com/data_collector.h"
#include "com/property_thunks.h"

#define INTERFACE ITraceDataCollector
#define PROPERTY  PROPERTY_THUNKS
#include "engine/model/data_collector.def"
#include "engine/model/trace_data_collector.def"
#undef PROPERTY
DISPATCH_THUNKS(ITraceDataCollector)
DATA_COLLECTOR_THUNKS(ITraceDataCollector)

const ITraceDataCollectorVtbl trace_data_collector_vtable = {
    DISPATCH_SLOTS(ITraceDataCollector),
    DATA_COLLECTOR_SLOTS(ITraceDataCollector),
    .Opnum35NotUsedOnWire = ITraceDataCollector_local_only_thunk,
    .Opnum37NotUsedOnWire = ITraceDataCollector_local_only_thunk,
    .Opnum41NotUsedOnWire = ITraceDataCollector_local_only_thunk,
    .Opnum47NotUsedOnWire = ITraceDataCollector_local_only_thunk,
    .Opnum62NotUsedOnWire = ITraceDataCollector_local_only_thunk,
    .Opnum64NotUsedOnWire = ITraceDataCollector_local_only_thunk,
    .Opnum68NotUsedOnWire = ITraceDataCollector_local_only_thunk,
#define PROPERTY PROPERTY_SLOTS
#include "engine/model/data_collector.def"
#include "engine/model/trace_data_collector.def"
#undef PROPERTY
};
enum {
    ITraceDataCollector_slots = 0
#define PROPERTY PROPERTY_SLOT_COUNT
#include "engine/model/data_collector.def"
#include "engine/model/trace_data_collector.def"
#undef PROPERTY
};
ASSERT_SLOTS(ITraceDataCollector, ITraceDataCollector_slots + DATA_COLLECTOR_SLOT_COUNT + 7);

/* SPDX-License-Identifier: MIT */
/* IPerformanceCounterDataCollector. MS-PLA 3.2.4.6. */
#include "com/class_table.h"
#include "com/data_collector.h"
#include "com/property_thunks.h"

#define INTERFACE IPerformanceCounterDataCollector
#define PROPERTY  PROPERTY_THUNKS
#include "engine/model/data_collector.def"
#include "engine/model/performance_counter_collector.def"
#undef PROPERTY
DISPATCH_THUNKS(IPerformanceCounterDataCollector)
DATA_COLLECTOR_THUNKS(IPerformanceCounterDataCollector)

const IPerformanceCounterDataCollectorVtbl performance_counter_collector_vtable = {
    DISPATCH_SLOTS(IPerformanceCounterDataCollector),
    DATA_COLLECTOR_SLOTS(IPerformanceCounterDataCollector),
#define PROPERTY PROPERTY_SLOTS
#include "engine/model/data_collector.def"
#include "engine/model/performance_counter_collector.def"
#undef PROPERTY
};
enum {
    IPerformanceCounterDataCollector_slots = 0
#define PROPERTY PROPERTY_SLOT_COUNT
#include "engine/model/data_collector.def"
#include "engine/model/performance_counter_collector.def"
#undef PROPERTY
};
ASSERT_SLOTS(IPerformanceCounterDataCollector, IPerformanceCounterDataCollector_slots + DATA_COLLECTOR_SLOT_COUNT);

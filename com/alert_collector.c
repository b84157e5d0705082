/* SPDX-License-Identifier: MIT */
/* IAlertDataCollector. MS-PLA 3.2.4.8. */
#include "com/class_table.h"
#include "com/data_collector.h"
#include "com/property_thunks.h"

#define INTERFACE IAlertDataCollector
#define PROPERTY  PROPERTY_THUNKS
#include "engine/model/data_collector.def"
#include "engine/model/alert_collector.def"
#undef PROPERTY
DISPATCH_THUNKS(IAlertDataCollector)
DATA_COLLECTOR_THUNKS(IAlertDataCollector)

const IAlertDataCollectorVtbl alert_collector_vtable = {
    DISPATCH_SLOTS(IAlertDataCollector),
    DATA_COLLECTOR_SLOTS(IAlertDataCollector),
#define PROPERTY PROPERTY_SLOTS
#include "engine/model/data_collector.def"
#include "engine/model/alert_collector.def"
#undef PROPERTY
};
enum {
    IAlertDataCollector_slots = 0
#define PROPERTY PROPERTY_SLOT_COUNT
#include "engine/model/data_collector.def"
#include "engine/model/alert_collector.def"
#undef PROPERTY
};
ASSERT_SLOTS(IAlertDataCollector, IAlertDataCollector_slots + DATA_COLLECTOR_SLOT_COUNT);

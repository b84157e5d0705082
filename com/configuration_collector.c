/* SPDX-License-Identifier: MIT */
/* IConfigurationDataCollector. MS-PLA 3.2.4.7. */
#include "com/class_table.h"
#include "com/data_collector.h"
#include "com/property_thunks.h"

#define INTERFACE IConfigurationDataCollector
#define PROPERTY  PROPERTY_THUNKS
#include "engine/model/data_collector.def"
#include "engine/model/configuration_collector.def"
#undef PROPERTY
DISPATCH_THUNKS(IConfigurationDataCollector)
DATA_COLLECTOR_THUNKS(IConfigurationDataCollector)

const IConfigurationDataCollectorVtbl configuration_collector_vtable = {
    DISPATCH_SLOTS(IConfigurationDataCollector),
    DATA_COLLECTOR_SLOTS(IConfigurationDataCollector),
#define PROPERTY PROPERTY_SLOTS
#include "engine/model/data_collector.def"
#include "engine/model/configuration_collector.def"
#undef PROPERTY
};
enum {
    IConfigurationDataCollector_slots = 0
#define PROPERTY PROPERTY_SLOT_COUNT
#include "engine/model/data_collector.def"
#include "engine/model/configuration_collector.def"
#undef PROPERTY
};
ASSERT_SLOTS(IConfigurationDataCollector, IConfigurationDataCollector_slots + DATA_COLLECTOR_SLOT_COUNT);

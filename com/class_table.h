/* SPDX-License-Identifier: MIT */
/* The vtables of all objects; each in its object's file. */
#ifndef OPENPLA_CLASS_TABLE_H
#define OPENPLA_CLASS_TABLE_H

#include "com/skin.h"

extern const IDataCollectorSetVtbl data_collector_set_vtable;
extern const IDataCollectorSetCollectionVtbl data_collector_set_collection_vtable;
extern const IDataCollectorCollectionVtbl data_collector_collection_vtable;
extern const IPerformanceCounterDataCollectorVtbl performance_counter_collector_vtable;
extern const ITraceDataCollectorVtbl trace_data_collector_vtable;
extern const IConfigurationDataCollectorVtbl configuration_collector_vtable;
extern const IAlertDataCollectorVtbl alert_collector_vtable;
extern const IApiTracingDataCollectorVtbl api_tracing_collector_vtable;
extern const ITraceDataProviderVtbl trace_data_provider_vtable;
extern const ITraceDataProviderCollectionVtbl trace_data_provider_collection_vtable;
extern const IScheduleVtbl schedule_vtable;
extern const IScheduleCollectionVtbl schedule_collection_vtable;
extern const IDataManagerVtbl data_manager_vtable;
extern const IFolderActionVtbl folder_action_vtable;
extern const IFolderActionCollectionVtbl folder_action_collection_vtable;
extern const IValueMapVtbl value_map_vtable;
extern const IValueMapItemVtbl value_map_item_vtable;

/* A vtable has exactly the members that the rows, the shared members and the named methods give it. */
#define ASSERT_SLOTS(I, count)                                                                                         \
    _Static_assert(sizeof(I##Vtbl) / sizeof(void *) == DISPATCH_SLOT_COUNT + (count), #I ": wrong number of members")

#endif

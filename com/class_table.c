/* SPDX-License-Identifier: MIT */
/* The table of the classes of objects: model class, interface, vtable. */
#include "com/class_table.h"

struct com_class com_classes[] = {
    {&data_collector_set_class, &IID_IDataCollectorSet, NULL, &data_collector_set_vtable, NULL},
    {&data_collector_set_collection_class, &IID_IDataCollectorSetCollection, NULL,
     &data_collector_set_collection_vtable, NULL},
    {&data_collector_collection_class, &IID_IDataCollectorCollection, NULL, &data_collector_collection_vtable, NULL},
    {&performance_counter_collector_class, &IID_IPerformanceCounterDataCollector, &IID_IDataCollector,
     &performance_counter_collector_vtable, NULL},
    {&trace_data_collector_class, &IID_ITraceDataCollector, &IID_IDataCollector, &trace_data_collector_vtable, NULL},
    {&configuration_collector_class, &IID_IConfigurationDataCollector, &IID_IDataCollector,
     &configuration_collector_vtable, NULL},
    {&alert_collector_class, &IID_IAlertDataCollector, &IID_IDataCollector, &alert_collector_vtable, NULL},
    {&api_tracing_collector_class, &IID_IApiTracingDataCollector, &IID_IDataCollector, &api_tracing_collector_vtable,
     NULL},
    {&trace_data_provider_class, &IID_ITraceDataProvider, NULL, &trace_data_provider_vtable, NULL},
    {&trace_data_provider_collection_class, &IID_ITraceDataProviderCollection, NULL,
     &trace_data_provider_collection_vtable, NULL},
    {&set_schedule_class, &IID_ISchedule, NULL, &schedule_vtable, NULL},
    {&set_schedule_collection_class, &IID_IScheduleCollection, NULL, &schedule_collection_vtable, NULL},
    {&data_manager_class, &IID_IDataManager, NULL, &data_manager_vtable, NULL},
    {&folder_action_class, &IID_IFolderAction, NULL, &folder_action_vtable, NULL},
    {&folder_action_collection_class, &IID_IFolderActionCollection, NULL, &folder_action_collection_vtable, NULL},
    {&value_map_class, &IID_IValueMap, NULL, &value_map_vtable, NULL},
    {&value_map_item_class, &IID_IValueMapItem, NULL, &value_map_item_vtable, NULL},
};
const size_t com_classes_count = sizeof com_classes / sizeof com_classes[0];

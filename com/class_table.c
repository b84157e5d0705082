/* SPDX-License-Identifier: MIT */
/* The table of the classes of objects: model class, interface, vtable. */
#include "com/class_table.h"

struct com_class com_classes[] = {
    {&data_collector_set_class, &IID_IDataCollectorSet, NULL, &data_collector_set_vtable, NULL},
    {&data_collector_set_collection_class, &IID_IDataCollectorSetCollection, NULL, &data_collector_set_collection_vtable,
     NULL},
    {&data_collector_collection_class, &IID_IDataCollectorCollection, NULL, &data_collector_collection_vtable, NULL},
    {&performance_counter_collector_class, &IID_IPerformanceCounterDataCollector, &IID_IDataCollector,
     &performance_counter_collector_vtable, NULL},
    {&value_map_class, &IID_IValueMap, NULL, &value_map_vtable, NULL},
    {&value_map_item_class, &IID_IValueMapItem, NULL, &value_map_item_vtable, NULL},
};
const size_t com_classes_count = sizeof com_classes / sizeof com_classes[0];

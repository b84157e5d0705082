/* SPDX-License-Identifier: MIT */
/* Every model class except plain lists, for tests that visit all rows. */
#ifndef OPENPLA_MODEL_CLASSES_H
#define OPENPLA_MODEL_CLASSES_H

#include "engine/pla/model.h"

static const struct class *const model_classes[] = {
    &data_collector_set_class,
    &performance_counter_collector_class,
    &trace_data_collector_class,
    &configuration_collector_class,
    &alert_collector_class,
    &api_tracing_collector_class,
    &trace_data_provider_class,
    &set_schedule_class,
    &data_manager_class,
    &folder_action_class,
    &value_map_class,
    &value_map_item_class,
};
#define MODEL_CLASS_COUNT (sizeof model_classes / sizeof model_classes[0])

#endif

/* SPDX-License-Identifier: MIT */
/* The rules of completion, by kind of collector. */
#include "engine/run/completion.h"

enum completion collector_completion(const struct data_collector_set *set, const struct object *collector)
{
    bool limit = set->SegmentMaxDuration || set->SegmentMaxSize;
    if (collector->class == &configuration_collector_class)
        return COMPLETE_WHEN_DONE;
    if (collector->class == &performance_counter_collector_class)
        limit = limit || ((const struct performance_counter_collector *)collector)->SegmentMaxRecords;
    else if (collector->class != &trace_data_collector_class)
        return COMPLETE_AT_ONCE;
    return limit ? COMPLETE_AT_LIMIT : COMPLETE_AT_ONCE;
}

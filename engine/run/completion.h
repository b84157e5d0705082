/* SPDX-License-Identifier: MIT */
/* When a collector counts as complete: MS-PLA 3.2.4.1, StopOnCompletion. */
#ifndef OPENPLA_COMPLETION_H
#define OPENPLA_COMPLETION_H

#include "engine/model/model.h"

enum completion {
    COMPLETE_AT_ONCE,   /* alert, API; counters and traces without a limit */
    COMPLETE_AT_LIMIT,  /* counters and traces with a limit: when their first segment is over */
    COMPLETE_WHEN_DONE, /* configuration: when all data is collected */
};
enum completion collector_completion(const struct data_collector_set *set, const struct object *collector);

#endif

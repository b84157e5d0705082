/* SPDX-License-Identifier: MIT */
/* What a counter path that names no object or counter most likely means. */
#ifndef OPENPLA_CLI_COUNTER_NEAREST_H
#define OPENPLA_CLI_COUNTER_NEAREST_H

#include "engine/logs/log_inputs.h"
#include "engine/logs/pdh_types.h"

/* Zero-initialise but for pdh. */
struct counter_nearest {
    const struct pdh_api *pdh;
    struct texts objects; /* of this computer, listed when they are first needed */
    bool listed;
};
/* "; the nearest is \Memory\Available Bytes", or "; the nearest object is Memory" where no counter is near: what goes
   behind the reason why the path cannot be added, from memory_alloc. `reason` is that reason's code; of all but an
   unknown object or counter of this computer, and where no name is near, it is "". NULL: out of memory. */
char *counter_nearest_text(struct counter_nearest *n, const char *path, HRESULT reason);
/* The same of an object's name alone. */
char *counter_nearest_object_text(struct counter_nearest *n, const char *object);
/* Of a pattern that no counter of the logs matches, by what they have. */
char *counter_nearest_in_logs(const struct inputs *in, const char *pattern);
void counter_nearest_free(struct counter_nearest *n);

#endif

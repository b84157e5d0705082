/* SPDX-License-Identifier: MIT */
/* The list of openpla typeperf -q: what can be counted here, and what each counter is; and which of it a path most
   likely means that names no object or counter. */
#ifndef OPENPLA_COUNTER_LIST_H
#define OPENPLA_COUNTER_LIST_H

#include "engine/base/text.h"
#include "engine/logs/log_inputs.h"
#include "engine/logs/pdh_types.h"

/* Writes the paths of `object`'s counters (NULL: of all objects), on `machine` (NULL: this one), with `instances` one
   for each of these; `json` with what each is. Fails with PDH's status and a text that names the object. */
HRESULT counter_list_show(const char *machine, const char *object, bool instances, bool json);
/* The same paths, added to `paths`. */
HRESULT counter_list_paths(const char *machine, const char *object, bool instances, struct texts *paths);
/* Does our own PDH count here, whose sources we know? */
bool counter_list_is_ours(void);

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

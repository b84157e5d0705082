/* SPDX-License-Identifier: MIT */
/* Lists the counters of this computer with descriptions, for openpla typeperf -q. Suggests paths if the object or
   counter of a path is unknown. */
#ifndef OPENPLA_COUNTER_LIST_H
#define OPENPLA_COUNTER_LIST_H

#include "engine/base/text.h"
#include "engine/logs/log_inputs.h"
#include "engine/logs/pdh_types.h"

/* Prints the paths of the counters of `object` on `machine`. If `object` is NULL, prints the counters of all objects;
   if `machine` is NULL, prints counters of this computer. If `instances` is set, prints one path per instance. If
   `json` is set, prints JSON, which also contains the descriptions. Fails with PDH's status and a message that names
   the object. */
HRESULT counter_list_show(const char *machine, const char *object, bool instances, bool json);
/* Adds the paths that counter_list_show prints to `paths`. */
HRESULT counter_list_paths(const char *machine, const char *object, bool instances, struct texts *paths);
/* Returns true if the PDH in use is OpenPLA's, so that OpenPLA's tables describe its counters. */
bool counter_list_is_ours(void);

/* Suggests similar names. Zero-initialise and set `pdh`. */
struct counter_nearest {
    const struct pdh_api *pdh;
    struct texts objects; /* objects of this computer; they are listed when they are first needed */
    bool listed;
};
/* Returns a suggestion to append to the reason why the path cannot be added. The suggestion is " (did you mean
   '\Memory\Available Bytes'?)", or, if no counter is similar, " (did you mean the object 'Memory'?)". `reason` is the
   error code. Returns "" unless an object or counter of this computer is unknown and a similar name exists; NULL if
   memory runs out. The result is from memory_alloc. */
char *counter_nearest_text(struct counter_nearest *n, const char *path, HRESULT reason);
/* Works like counter_nearest_text, for the name of an object. */
char *counter_nearest_object_text(struct counter_nearest *n, const char *object);
/* Works like counter_nearest_text, for a pattern that matches no counter of the logs. */
char *counter_nearest_in_logs(const struct inputs *in, const char *pattern);
void counter_nearest_free(struct counter_nearest *n);

#endif

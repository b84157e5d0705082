/* SPDX-License-Identifier: MIT */
/* The list of openpla typeperf -q: what can be counted here, and what each counter is. */
#ifndef OPENPLA_CLI_COUNTER_LIST_H
#define OPENPLA_CLI_COUNTER_LIST_H

#include "engine/base/text.h"

/* Writes the paths of `object`'s counters (NULL: of all objects), on `machine` (NULL: this one), with `instances` one
   for each of these; `json` with what each is. Fails with PDH's status and a text that names the object. */
HRESULT counter_list_show(const char *machine, const char *object, bool instances, bool json);
/* The same paths, added to `paths`. */
HRESULT counter_list_paths(const char *machine, const char *object, bool instances, struct texts *paths);
/* Does our own PDH count here, whose sources we know? */
bool counter_list_is_ours(void);

#endif

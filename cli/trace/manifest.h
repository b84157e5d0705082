/* SPDX-License-Identifier: MIT */
/* The parts of openpla manifest: what providers of events define, and providers of countersets, which a manifest may
   have beside those of events. */
#ifndef OPENPLA_MANIFEST_H
#define OPENPLA_MANIFEST_H

#include "cli/output.h"
#include "engine/etw/provider_manifest.h"
#include "engine/pdh/counter_manifest.h"

/* The manifest's, which of several that name or GUID alone (NULL: all). A program or DLL has none. `remarks` may be
   NULL. *out is empty on failure. */
HRESULT manifest_counters_load(const char *path, const char *name, struct texts *remarks, struct counter_manifest *out);
/* Those that are registered, all or (`name` or GUID) one. */
HRESULT manifest_counters_registered(const char *name, struct registered_countersets *out);
/* Registers all of them, or none, as those of the manifest `whole`. */
HRESULT manifest_counters_write(struct registered_countersets *list, const char *whole, bool force);
/* The same, and names them on stdout. */
HRESULT manifest_counters_add(struct registered_countersets *list, const char *whole, bool force);
/* Removes those of the list that are registered. *removed: how many. */
HRESULT manifest_counters_remove(const struct registered_countersets *list, bool force, size_t *removed);
/* A line each; as JSON an object each. */
void manifest_counters_list(const struct registered_countersets *list, struct json *j);
/* Their countersets and counters, on stdout. */
void manifest_counters_show(const struct registered_countersets *list);
void manifest_counters_show_json(const struct registered_countersets *list, struct json *j);

#endif

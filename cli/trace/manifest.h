/* SPDX-License-Identifier: MIT */
/* The parts of openpla manifest: definitions of event providers, and counter providers in a manifest. */
#ifndef OPENPLA_MANIFEST_H
#define OPENPLA_MANIFEST_H

#include "cli/output.h"
#include "engine/etw/provider_manifest.h"
#include "engine/pdh/counter_manifest.h"

/* Reads the counter providers of a manifest, or only the named one (NULL: all). Programs and DLLs contain no counter
   providers. `warnings` may be NULL. *out is empty on failure. */
HRESULT manifest_counters_load(const char *path, const char *name, struct texts *warnings,
                               struct counter_manifest *out);
/* The registered providers: all, or one (`name` or GUID). */
HRESULT manifest_counters_registered(const char *name, struct registered_countersets *out);
/* Registers all of them or none, as part of the manifest `whole`. */
HRESULT manifest_counters_write(struct registered_countersets *list, const char *whole, bool force);
/* The same, and prints their names. */
HRESULT manifest_counters_add(struct registered_countersets *list, const char *whole, bool force);
/* Removes the registered ones of the list. *removed: their number. */
HRESULT manifest_counters_remove(const struct registered_countersets *list, bool force, size_t *removed);
/* Prints one line each, or with JSON one object each. */
void manifest_counters_list(const struct registered_countersets *list, struct json *j);
/* Prints their countersets and counters. */
void manifest_counters_show(const struct registered_countersets *list);
void manifest_counters_show_json(const struct registered_countersets *list, struct json *j);

/* `openpla manifest collect`, without these two words. Returns an enum cli_exit. */
int manifest_collect(int argc, char **argv);

#endif

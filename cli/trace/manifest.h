/* SPDX-License-Identifier: MIT */
/* The parts of openpla manifest: definitions of event providers, and counter providers in manifests. */
#ifndef OPENPLA_MANIFEST_H
#define OPENPLA_MANIFEST_H

#include "cli/output.h"
#include "engine/etw/provider_manifest.h"
#include "engine/pdh/counter_manifest.h"

/* Reads the counter providers of a manifest, or, if `name` is not NULL, only the provider called `name`. Programs and
   DLLs never contain counter providers. `warnings` may be NULL. *out is empty on failure. */
HRESULT manifest_counters_load(const char *path, const char *name, struct texts *warnings,
                               struct counter_manifest *out);
/* Reads the registered counter providers. If `name` is not NULL, reads only the provider with the name or GUID
   `name`. */
HRESULT manifest_counters_registered(const char *name, struct registered_countersets *out);
/* Registers the providers of the list as part of the manifest `whole`. On failure, registers no provider. */
HRESULT manifest_counters_write(struct registered_countersets *list, const char *whole, bool force);
/* Works like manifest_counters_write, and prints the names of the providers. */
HRESULT manifest_counters_add(struct registered_countersets *list, const char *whole, bool force);
/* Removes the registrations of the list's providers. *removed is the number of registrations removed. */
HRESULT manifest_counters_remove(const struct registered_countersets *list, bool force, size_t *removed);
/* Prints one line per provider, or with JSON writes one object per provider. */
void manifest_counters_list(const struct registered_countersets *list, struct json *j);
/* Print the providers' countersets and counters. */
void manifest_counters_show(const struct registered_countersets *list);
void manifest_counters_show_json(const struct registered_countersets *list, struct json *j);

/* Runs `openpla manifest collect`, without these two words in the arguments. Returns an enum cli_exit. */
int manifest_collect(int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/* What a configuration collector collects, each source a file of its own. Sources run one after another on a thread of
   the collector's. What cannot be collected is an error entry of its Item, and the source goes on. */
#ifndef OPENPLA_COLLECT_CONFIGURATION_SOURCE_H
#define OPENPLA_COLLECT_CONFIGURATION_SOURCE_H

#include "engine/pla/collect/configuration_document.h"

#include <stdatomic.h>

/* What MS-PLA 3.2.4.7's properties ask for: a copy of the source's own, so no lock is needed. */
struct configuration_request {
    struct texts registry_keys;
    struct texts files;
    struct texts queries;    /* ManagementQueries */
    uint32_t registry_depth; /* RegistryMaxRecursiveDepth; 0: any */
    uint32_t file_depth;     /* FileMaxRecursiveDepth; never 0 */
    uint32_t file_count;     /* FileMaxCount; 0: any */
    uint64_t file_bytes;     /* FileMaxTotalSize; 0: any */
    uint32_t query_limit_s;  /* a query that gives nothing for so long is given up; 0: 60 */
    bool network_adapters;
    bool overwrite;   /* LogOverwrite */
    char *state_file; /* SystemStateFile, "" for none */
};

struct configuration_source_context {
    const struct configuration_request *request;
    struct configuration_document *document;
    const char *output_base;   /* all that is written must lie below it (file_open_below) */
    const char *output_folder; /* where copies of files go */
    void (*made)(const char *base, const char *folder, const char *path); /* collect_context's */
    atomic_bool *stop; /* look at least each 100 ms: then end with S_OK */
    _Atomic uint64_t *files_copied;
};

static inline bool configuration_stopped(const struct configuration_source_context *c)
{
    return atomic_load_explicit(c->stop, memory_order_relaxed);
}

/* A failure is one of the document (configuration_status) or E_OUTOFMEMORY: nothing more can be collected. Each does
   nothing when the request has nothing for it, and begins and ends its own section. */
HRESULT configuration_collect_registry(const struct configuration_source_context *c);
HRESULT configuration_collect_files(const struct configuration_source_context *c);
HRESULT configuration_collect_queries(const struct configuration_source_context *c);
HRESULT configuration_collect_network(const struct configuration_source_context *c);
HRESULT configuration_collect_state(const struct configuration_source_context *c);

#endif

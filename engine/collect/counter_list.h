/* SPDX-License-Identifier: MIT */
/* The counters of one query: paths with wildcards in, added PDH counters with the names a log needs out. */
#ifndef OPENPLA_COUNTER_LIST_H
#define OPENPLA_COUNTER_LIST_H

#include "engine/log/log.h"
#include "engine/os/pdh_types.h"

struct listed_counter {
    PDH_HCOUNTER handle;
    struct log_counter names; /* texts are owned */
    uint64_t hash;            /* of the names, to find what two paths have in common */
};

/* Zero-initialise, then set pdh, query and keep_instances. */
struct counter_list {
    const struct pdh_api *pdh;     /* borrowed */
    PDH_HQUERY query;              /* borrowed */
    struct counter_list *previous; /* borrowed: of the same query; counters that it has are taken out of it, with their
                                      last values. NULL: none */
    bool keep_instances;           /* "*" as an instance becomes one counter, not one per instance of this moment */
    struct listed_counter *counters;
    size_t count, capacity;
};

/* Adds all counters that `path` means, in PDH's order; one that is there already is not added again. Names are taken
   in the system's language first, then in English. A failure is the PDH status, as HRESULT and with a text that names
   the path; counters added before it stay. */
HRESULT counter_list_add(struct counter_list *list, const char *path);
void counter_list_free(struct counter_list *list); /* closes no counter: the query's end does */
/* Removes the counters that no other list took out of it from the query, and frees it. */
void counter_list_drop(struct counter_list *list);

/* What wildcards stand for at one moment, as sorted hashes of paths. Zero-initialise. */
struct expansion {
    uint64_t *hashes;
    size_t count, capacity;
};
/* Expands all paths that have wildcards. A path that nothing matches adds nothing. E_OUTOFMEMORY only. */
HRESULT counter_list_expand(struct counter_list *list, const struct texts *paths, struct expansion *out);
/* Whether `now` has anything that `then` has not. */
bool expansion_has_more(const struct expansion *then, const struct expansion *now);
void expansion_free(struct expansion *e);

#endif

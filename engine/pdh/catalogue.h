/* SPDX-License-Identifier: MIT */
/* What one query can count: the objects of this computer, or those of log files. Not locked: the query's lock covers
   it. */
#ifndef OPENPLA_PDH_CATALOGUE_H
#define OPENPLA_PDH_CATALOGUE_H

#include "engine/pdh/counter_object.h"

struct catalogue;
struct catalogue_functions {
    /* Adds the objects that came since; those that are there keep their places. May be NULL: none come. */
    PDH_STATUS (*refresh)(struct catalogue *c);
    /* A sample is about to be taken. May be NULL. */
    void (*begin)(struct catalogue *c);
    /* Log files: goes on to the next sample, *local becomes its local FILETIME; PDH_NO_MORE_DATA. NULL: it is now. */
    PDH_STATUS (*advance)(struct catalogue *c, int64_t *local);
    /* Log files: samples from `begin` to `end` only (local FILETIMEs), starting anew. */
    PDH_STATUS (*set_range)(struct catalogue *c, int64_t begin, int64_t end);
    void (*close)(struct catalogue *c); /* frees c itself too; providers[] is freed behind it */
};

/* First member of each kind's own struct. */
struct catalogue {
    const struct catalogue_functions *functions;
    const struct provider **providers; /* live as long as the catalogue */
    size_t count, capacity;
};

/* The objects of this computer. */
PDH_STATUS catalogue_open_real_time(struct catalogue **out);
/* The objects of the log files `paths` in the order of their times. PDH_FILE_NOT_FOUND, PDH_LOG_FILE_OPEN_ERROR,
   PDH_INVALID_DATASOURCE, PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS catalogue_open_logs(const struct texts *paths, struct catalogue **out);
void catalogue_close(struct catalogue *c); /* NULL is allowed */

bool catalogue_is_real_time(const struct catalogue *c);
/* Is there such a computer here? NULL and "" always; leading backslashes do not matter. ERROR_SUCCESS,
   PDH_CSTATUS_NO_MACHINE or PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS catalogue_machine(const struct catalogue *c, const char *machine);
/* Is the object one of `machine`, for which catalogue_machine has succeeded? */
bool catalogue_is_of(const struct provider *p, const char *machine);
/* Position of the object called `name` (without case) on `machine`; c->count when there is none, after a refresh. */
size_t catalogue_find(struct catalogue *c, const char *machine, const char *name);
/* For the kinds. False: out of memory. */
bool catalogue_add(struct catalogue *c, const struct provider *p);

#endif

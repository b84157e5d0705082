/* SPDX-License-Identifier: MIT */
/* What one query can count: the objects of this computer, and of others once they are named, or those of log files. Not
   locked: the query's lock covers it. */
#ifndef OPENPLA_PDH_CATALOGUE_H
#define OPENPLA_PDH_CATALOGUE_H

#include "engine/pdh/core/counter_object.h"

struct catalogue;
struct catalogue_functions {
    /* Adds the objects of the computer, as in catalogue_machine, that came since; those that are there keep their
       places. May be NULL: none come. */
    PDH_STATUS (*refresh)(struct catalogue *c, const char *machine);
    /* As catalogue_machine, for what is not this computer. NULL: what the providers say is all. */
    PDH_STATUS (*connect)(struct catalogue *c, const char *machine);
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
    const struct counter_object_type **types; /* live as long as the catalogue */
    size_t count, capacity;
    char *computer; /* this one's name, of live data; the catalogue's */
};

/* Objects of other computers, for live data: engine/pdh/remote, which is above this layer, or none. */
struct remote_objects; /* what one catalogue has of them */
struct catalogue_remote {
    /* Adds the objects of `machine`, without backslashes, to `c`: those that were not met before. Asks the computer for
       them where it was not met, or is to be looked at again. *all is NULL at first. PDH_CSTATUS_NO_MACHINE,
       PDH_ACCESS_DENIED, PDH_MEMORY_ALLOCATION_FAILURE. */
    PDH_STATUS (*connect)(struct remote_objects **all, const char *machine, bool look_again, struct catalogue *c);
    void (*begin)(struct remote_objects *all); /* as catalogue_functions'; never waits */
    void (*close)(struct remote_objects *all); /* its objects are closed */
};
/* For catalogues that are opened from now on; NULL: there are no other computers. Borrowed. */
void catalogue_set_remote(const struct catalogue_remote *remote);

/* The objects of this computer. */
PDH_STATUS catalogue_open_real_time(struct catalogue **out);
/* The objects of the log files `paths` in the order of their times. PDH_FILE_NOT_FOUND, PDH_LOG_FILE_OPEN_ERROR,
   PDH_INVALID_DATASOURCE, PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS catalogue_open_logs(const struct texts *paths, struct catalogue **out);
void catalogue_close(struct catalogue *c); /* NULL is allowed */

bool catalogue_is_real_time(const struct catalogue *c);
/* Is there such a computer here? NULL and "" always; leading backslashes do not matter. Another one than this is asked,
   and waited for, when it is named for the first time. ERROR_SUCCESS, PDH_CSTATUS_NO_MACHINE, PDH_ACCESS_DENIED or
   PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS catalogue_machine(struct catalogue *c, const char *machine);
/* Is the object one of `machine`, for which catalogue_machine has succeeded? */
bool catalogue_is_of(const struct catalogue *c, const struct counter_object_type *p, const char *machine);
/* Position of the object called `name` (without case) on `machine`; c->count when there is none, after a refresh. */
size_t catalogue_find(struct catalogue *c, const char *machine, const char *name);
/* For the kinds. False: out of memory. */
bool catalogue_add(struct catalogue *c, const struct counter_object_type *p);

#endif

/* SPDX-License-Identifier: MIT */
/* A catalogue is the list of counter objects that one query can use. A catalogue contains either this computer's
   objects and the objects of each remote computer that a path has named, or the objects of log files. A catalogue has
   no lock; the query's lock protects it. */
#ifndef OPENPLA_PDH_CATALOGUE_H
#define OPENPLA_PDH_CATALOGUE_H

#include "engine/pdh/core/counter_object.h"

struct catalogue;
struct catalogue_functions {
    /* Adds the computer's new objects (`machine` as in catalogue_machine); existing objects keep their positions. NULL:
       no new objects can appear. */
    PDH_STATUS (*refresh)(struct catalogue *c, const char *machine);
    /* Like catalogue_machine, for a computer other than this one. NULL: the catalogue has no computers except those of
       its objects. */
    PDH_STATUS (*connect)(struct catalogue *c, const char *machine);
    /* Called before a sample is taken. May be NULL. */
    void (*begin)(struct catalogue *c);
    /* Log files: moves to the next sample and stores its time (local FILETIME) in *local, or returns PDH_NO_MORE_DATA.
       NULL: live data. */
    PDH_STATUS (*advance)(struct catalogue *c, int64_t *local);
    /* Log files: restarts and limits the samples to those from `begin` to `end` (local FILETIMEs). */
    PDH_STATUS (*set_range)(struct catalogue *c, int64_t begin, int64_t end);
    void (*close)(struct catalogue *c); /* also frees `c` itself; afterwards the caller frees types[] */
};

/* The first member of each type of catalogue. */
struct catalogue {
    const struct catalogue_functions *functions;
    const struct counter_object_type **types; /* valid as long as the catalogue */
    size_t count, capacity;
    char *computer; /* this computer's name for live data, owned by the catalogue; NULL for log files */
};

/* Functions for objects of remote computers, for live data. engine/pdh/remote, which is above this layer, provides
   them. */
struct remote_objects; /* the remote objects of one catalogue */
struct catalogue_remote {
    /* Adds the new objects of `machine` (without backslashes) to `c`. Requests the computer's list only if *all has no
       objects of the computer yet or if `search_again` is set. *all is NULL at first. Fails with
       PDH_CSTATUS_NO_MACHINE, PDH_ACCESS_DENIED or PDH_MEMORY_ALLOCATION_FAILURE. */
    PDH_STATUS (*connect)(struct remote_objects **all, const char *machine, bool search_again, struct catalogue *c);
    void (*begin)(struct remote_objects *all); /* as in catalogue_functions; never waits */
    void (*close)(struct remote_objects *all); /* called after the objects are closed */
};
/* Sets the functions for catalogues that are opened from now on; NULL disables remote computers. `remote` is
   borrowed. */
void catalogue_set_remote(const struct catalogue_remote *remote);

/* Opens the objects of this computer. */
PDH_STATUS catalogue_open_real_time(struct catalogue **out);
/* Opens the objects of the log files `paths`. The files are read one after another, in the order of their first
   samples. Fails with PDH_FILE_NOT_FOUND, PDH_LOG_FILE_OPEN_ERROR, PDH_INVALID_DATASOURCE or
   PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS catalogue_open_logs(const struct texts *paths, struct catalogue **out);
void catalogue_close(struct catalogue *c); /* NULL is allowed */

bool catalogue_is_real_time(const struct catalogue *c);
/* Checks that the computer exists in this catalogue. NULL and "" are always valid; leading backslashes are ignored. The
   first call for a remote computer connects to that computer and waits for its answer. Returns ERROR_SUCCESS,
   PDH_CSTATUS_NO_MACHINE, PDH_ACCESS_DENIED or PDH_MEMORY_ALLOCATION_FAILURE. */
PDH_STATUS catalogue_machine(struct catalogue *c, const char *machine);
/* Returns true if the object belongs to `machine`, which catalogue_machine must have accepted. */
bool catalogue_is_of(const struct catalogue *c, const struct counter_object_type *p, const char *machine);
/* Returns the position of the object called `name` (ignoring case) on `machine`, after a refresh if necessary; c->count
   if the object does not exist. */
size_t catalogue_find(struct catalogue *c, const char *machine, const char *name);
/* Adds an object. Only implementations of catalogues call it. False if memory runs out. */
bool catalogue_add(struct catalogue *c, const struct counter_object_type *p);

#endif

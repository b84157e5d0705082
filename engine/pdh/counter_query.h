/* SPDX-License-Identifier: MIT */
/* The PDH functions of this host OS, a live query that uses them, and a watch that detects new counters for a query's
   paths. A query takes counter paths and returns the columns of a log and, sample by sample, its cells. */
#ifndef OPENPLA_PDH_COUNTER_QUERY_H
#define OPENPLA_PDH_COUNTER_QUERY_H

#include "engine/logs/log.h"
#include "engine/logs/pdh_types.h"

/* Returns the PDH functions of this host OS: the system's functions on Windows, openpdh.dll's functions under Wine, and
   the linked core's functions in native builds. The functions are chosen once per process; *out is borrowed. Fails with
   ERROR_MOD_NOT_FOUND or ERROR_PROC_NOT_FOUND; the error message names the module. */
HRESULT host_pdh(const struct pdh_api **out);

/* A live query of this host OS' PDH. */
struct counter_query;

/* The parameters of a query. All pointers are borrowed. */
struct counter_query_request {
    const struct pdh_api *pdh; /* must outlive the query */
    const struct texts *paths;
    bool keep_instances; /* the instance "*" becomes one counter with the instances of each sample, instead of one
                            counter per instance that exists now */
    bool values;         /* cells have formatted values as well as raw ones */
    bool present; /* a path yields only what exists now: it creates no counter that waits for its instance, and a path
                     without an instance does not yield its object's instances */
    /* The query that the new query continues, or NULL. A counter that is in both queries keeps its last values; the
       other counters of the previous query are removed. After counter_query_open, the caller must not sample the
       previous query any more. */
    struct counter_query *previous;
    /* Called for each path that yields no counter. `reason` is the PDH status of looking up the path in the system's
       language; `text` is a message that names the path. */
    void (*refused)(void *user, HRESULT reason, const char *path, const char *text);
    /* Called for each column that a path yields, even if another path already yielded that column. `path` is the index
       of the path, `column` the index of the column. May be NULL. */
    void (*gives)(void *user, size_t path, size_t column);
    void *user;
};

/* Opens a query with all counters that the paths select. The query contains each counter once. The counters are in
   PDH's order. Names are looked up in the system's language first, then in English, then in the languages of
   engine/logs/counter_names.h. A query without counters is valid. Fails if PDH cannot open a query or memory runs out;
   after such a failure `previous` cannot be continued either. */
HRESULT counter_query_open(const struct counter_query_request *request, struct counter_query **out);
/* Adds the counters that the path names to the open query, like counter_query_open. request->gives receives `place` as
   the index of the path. Fails with the PDH status and a message if the path yields no counter. Invalidates pointers to
   columns and cells from earlier calls. */
HRESULT counter_query_add(struct counter_query *q, const char *path, size_t place);
/* Returns the handle for PdhOpenLog; borrowed. */
PDH_HQUERY counter_query_handle(const struct counter_query *q);
/* Returns the columns of the query; borrowed. */
const struct log_counter *counter_query_columns(const struct counter_query *q, size_t *count);
/* Returns PDH's explanation of a column's counter, from memory_alloc; *help is NULL if PDH has no explanation. Fails
   only with E_OUTOFMEMORY. */
HRESULT counter_query_help(const struct counter_query *q, size_t column, char **help);
bool counter_query_same_columns(const struct counter_query *a, const struct counter_query *b);

/* Takes a sample. *utc is its time (FILETIME). *cells has one cell per column and is borrowed until the next call.
   Missing data is not a failure; the affected cells have a status. */
HRESULT counter_query_sample(struct counter_query *q, int64_t *utc, const struct log_cell **cells);

/* Lists the counters that the path yields now, whether or not they were added to the query. *paths is from memory_alloc
   and ends with an empty string; NULL if the path names no counter. Fails only with E_OUTOFMEMORY. */
HRESULT counter_query_list(struct counter_query *q, const char *path, WCHAR **paths);

void counter_query_close(struct counter_query *q); /* NULL is allowed */

/* Watches paths for new counters, for which a log has no columns yet. */
struct counter_watch;

/* Records what the paths name now and copies the paths. `q` must outlive the watch. `refused` means that the query has
   no counter of these paths. If `refused` is set and a path without a wildcard names an existing counter, that counter
   is also reported as new. Fails only with E_OUTOFMEMORY. */
HRESULT counter_watch_open(struct counter_query *q, const struct texts *paths, bool refused,
                           struct counter_watch **out);
/* Returns true if a path now names a counter that it did not name before. If remote computers are slow, the call checks
   only some of the paths and sets *all to false; the next call continues with the remaining paths. If memory runs out,
   the next call checks again. */
bool counter_watch_has_new(struct counter_watch *w, bool *all);
void counter_watch_close(struct counter_watch *w); /* NULL is allowed */

#endif

/* SPDX-License-Identifier: MIT */
/* The PDH functions of this host OS, a live query over them (counter paths in; the columns of a log and, sample by
   sample, its cells out), and the watch for counters that a query does not have yet. */
#ifndef OPENPLA_PDH_COUNTER_QUERY_H
#define OPENPLA_PDH_COUNTER_QUERY_H

#include "engine/logs/log.h"
#include "engine/logs/pdh_types.h"

/* The PDH functions of this host OS: the system's on Windows, openpdh.dll's under Wine, the linked core natively.
   Chosen once for the life of the process; *out is borrowed. Fails with ERROR_MOD_NOT_FOUND or ERROR_PROC_NOT_FOUND and
   the module's name in the error text. */
HRESULT host_pdh(const struct pdh_api **out);

/* A live query of this host's PDH: counter paths in; the columns of a log and, sample by sample, its cells out. */
struct counter_query;

/* What a query is opened with; all is borrowed. */
struct counter_query_request {
    const struct pdh_api *pdh; /* must outlive the query */
    const struct texts *paths;
    bool keep_instances; /* "*" as an instance becomes one counter with the instances of each sample, in place of one
                            counter for each instance of this moment */
    bool values;         /* cells have formatted values, not only raw ones */
    bool present;        /* a path gives what it names now: no counter that awaits its instance, and none of an object's
                            instances where it names none */
    /* A query that this one goes on with: the counters it shares keep their last values, the others are removed.
       It takes no more samples. NULL: none. */
    struct counter_query *previous;
    /* Called for a path that gives no counter: `reason` is the PDH status it got in the system's language, `text` names
       the path too. */
    void (*refused)(void *user, HRESULT reason, const char *path, const char *text);
    /* Called for each column that a path stands for, which another path may have given before: `path` is its place
       among the paths, `column` that among the columns. NULL: nobody asks. */
    void (*gives)(void *user, size_t path, size_t column);
    void *user;
};

/* Adds all counters that the paths mean, in PDH's order, each once. Names are taken in the system's language first,
   then in English. A query of no counters is one all the same. Fails where PDH opens none or memory is out; `previous`
   can then not be gone on with either. */
HRESULT counter_query_open(const struct counter_query_request *request, struct counter_query **out);
/* Adds what the path means to the open query, as counter_query_open does; `place` is what request->gives hears as its
   path. Fails with the PDH status and its text where it gives no counter. Columns and cells that were asked for before
   are to be asked for again. */
HRESULT counter_query_add(struct counter_query *q, const char *path, size_t place);
/* For PdhOpenLog; borrowed. */
PDH_HQUERY counter_query_handle(const struct counter_query *q);
/* Borrowed from the query. */
const struct log_counter *counter_query_columns(const struct counter_query *q, size_t *count);
bool counter_query_same_columns(const struct counter_query *a, const struct counter_query *b);

/* Takes a sample: *utc (FILETIME) is its moment, *cells one cell per column, borrowed up to the next call. Where PDH
   has no data, which is no failure, the cells say so. */
HRESULT counter_query_sample(struct counter_query *q, int64_t *utc, const struct log_cell **cells);

/* The counters that the path stands for now, whether they were added or not: one behind the other, an empty one at the
   end, from memory_alloc; NULL: there are none. E_OUTOFMEMORY only. */
HRESULT counter_query_list(struct counter_query *q, const char *path, WCHAR **paths);

void counter_query_close(struct counter_query *q); /* NULL is allowed */

/* Paths that may come to stand for more counters than a log has columns for. */
struct counter_watch;

/* Notes what the paths, which are copied, stand for now; `q` must outlive the watch. `refused`: the query has none of
   them, so that a counter that a path without a wildcard names now already is new too. E_OUTOFMEMORY only. */
HRESULT counter_watch_open(struct counter_query *q, const struct texts *paths, bool refused,
                           struct counter_watch **out);
/* Whether they stand for anything now that they did not then. Where other computers take their time only a part of the
   paths is looked at: *all is then false, and the next call goes on with the others. That memory is out costs the
   question, which is asked again. */
bool counter_watch_has_new(struct counter_watch *w, bool *all);
void counter_watch_close(struct counter_watch *w); /* NULL is allowed */

#endif

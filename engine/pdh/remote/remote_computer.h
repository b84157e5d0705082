/* SPDX-License-Identifier: MIT */
/* Counters of remote computers: the connection to a computer, the requests that one catalogue sends to it, its
   countersets, and their counter objects. */
#ifndef OPENPLA_PDH_REMOTE_COMPUTER_H
#define OPENPLA_PDH_REMOTE_COMPUTER_H

#include "engine/pdh/core/catalogue.h"
#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/ndr.h"

/* One counterset of a remote computer: its names and counters in the form that a counter object needs. */

enum remote_aggregate { AGGREGATE_SUM = 1, AGGREGATE_AVERAGE, AGGREGATE_MINIMUM, AGGREGATE_MAXIMUM };

/* The columns of a row from which a counter's value is computed; REMOTE_NO_COLUMN: no such column. */
#define REMOTE_NO_COLUMN UINT32_MAX
struct remote_columns {
    uint32_t time, frequency, multi;
};

struct remote_set {
    GUID guid;
    char *name;
    /* The following members are valid and constant after the counterset has been described. */
    bool described;
    char *help;
    bool has_instances, is_aggregate; /* is_aggregate: one row aggregates all instances */
    uint32_t shown, count;            /* number of visible counters, and of all counters */
    struct counter_schema *schemas;   /* one for each visible counter; `base` of a fraction: index of a column */
    struct remote_columns *columns;   /* one for each visible counter */
    uint32_t *ids, *functions;        /* one for each of the `count` columns; functions: enum remote_aggregate */
};
/* Creates the counterset and requests its English name, or its name in the remote computer's language if it has no
   English name. Returns S_FALSE with *out NULL if the counterset has no name. */
HRESULT remote_set_create(struct link *l, const char *machine, const GUID *guid, struct remote_set **out);
/* Requests everything except the name. On failure the counterset is unchanged. Fails with
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if the answers are inconsistent, or with an error of a method or the link. */
HRESULT remote_set_describe(struct remote_set *s, struct link *l, const char *machine, bool *link_failed);
void remote_set_free(struct remote_set *s); /* NULL is allowed */

/* Returns the column of the counter; the search begins at `hint`. REMOTE_NO_COLUMN if the counter does not exist. */
uint32_t remote_set_column(const struct remote_set *s, uint32_t id, uint32_t hint);

/* The requests of one catalogue to one remote computer: the list of countersets, and the description and instances of
   one counterset. In each sample, one call requests the values of all countersets in use. */

/* Time limit in milliseconds for the first answers of a computer, unless time limits are disabled. */
#define REMOTE_START_MS 5000u

struct remote_query;
/* Like remote_computer_open. */
HRESULT remote_query_open(const char *machine, struct remote_query **out);
void remote_query_close(struct remote_query *q); /* allowed during a request; NULL is allowed */
struct remote_computer *remote_query_computer(const struct remote_query *q);

/* The following functions wait for the remote computer. Each of these functions fails with
   HRESULT_FROM_WIN32(ERROR_TIMEOUT) if the computer does not answer within the time limit, or with the error that the
   answer contains. */

/* Updates the list that remote_computer_set reads. */
HRESULT remote_query_list(struct remote_query *q);
/* Describes the counterset. *instances (may be NULL) becomes the part of the answer that lists the current instances,
   valid until the next request; it is empty if no instances exist. */
HRESULT remote_query_describe(struct remote_query *q, struct remote_set *s, struct answer_place *instances);
/* Returns the ticks per second of the remote clock. The ticks are known after a counterset has been described. */
int64_t remote_query_frequency(const struct remote_query *q);

/* Called before a sample is taken. Requests the values of the countersets that the last sample used, but does not wait
   for them. */
void remote_query_begin(struct remote_query *q);
/* Returns the values of `s` and the remote computer's time and clock in this sample, borrowed until the next request.
   If the counterset has not been requested yet, it is included in requests from now on. */
HRESULT remote_query_values(struct remote_query *q, const struct remote_set *s, struct pcq_data *head,
                            struct answer_block *out);

/* Countersets of remote computers as counter objects, which engine/pdh/core uses through a table of functions. */

/* For catalogue_set_remote. Call remote_computer_links to select the type of link. */
extern const struct catalogue_remote remote_catalogue_functions;

/* A remote computer with counters in use. All queries of this process share one connection and its thread. A computer
   that does not answer therefore delays only the queries that wait for it, and only up to their time limit. After a
   failure, the computer is tried again only after a pause, which grows from 1 s to 60 s. */

/* Sets the type of link for computers that are opened from now on; NULL: none. Called at the start of the DLL and by
   tests. Borrowed. */
void remote_computer_links(const struct link_kind *kind);

struct remote_computer;
/* Opens the computer `name` (without backslashes) without connecting to it. All users of a computer share one struct.
   Fails with PDH_CSTATUS_NO_MACHINE if no type of link is set, or E_OUTOFMEMORY. */
HRESULT remote_computer_open(const char *name, struct remote_computer **out);
void remote_computer_close(struct remote_computer *c); /* NULL is allowed */
const char *remote_computer_name(const struct remote_computer *c);

/* A request of one user. It can be repeated. Zero-initialise all members except `run` and `free`. */
struct remote_task {
    HRESULT (*run)(struct remote_task *t, struct link *l, uint64_t epoch, bool *link_failed);
    void (*free)(struct remote_task *t); /* frees the task (see remote_task_release); called when no thread waits for
                                            the task any more */
    struct remote_task *next;
    HRESULT result; /* result of the last run */
    bool queued, released;
    bool ending; /* set for the last run, after which the task is freed: this run only closes handles on the remote
                    computer */
};
/* Schedules `run` on the computer's thread, with an open link. `epoch` changes with every new link. If an older link
   fails during a run, the thread calls `run` again with a new link. If time limits are disabled (source_limit), the
   task runs immediately on the calling thread. During the pause after a failure the task fails immediately with the
   last error. */
void remote_task_post(struct remote_computer *c, struct remote_task *t);
/* Waits up to `limit_ms` for the task. False if the task has not ended. Does not wait if an earlier wait timed out and
   the computer has not answered since, and waits only briefly for a computer whose last connection failed. */
bool remote_task_wait(struct remote_computer *c, struct remote_task *t, uint32_t limit_ms);
/* Frees the task immediately or, if it is queued or running, when it has ended. */
void remote_task_release(struct remote_computer *c, struct remote_task *t);

/* Returns the countersets found so far, by index; NULL after the last. The countersets are valid until the computer is
   closed. Thread-safe. */
struct remote_set *remote_computer_set(struct remote_computer *c, size_t index);
/* For running tasks: requests the list of GUIDs and adds the new countersets. */
HRESULT remote_computer_list(struct remote_computer *c, struct link *l, bool *link_failed);

#endif

/* SPDX-License-Identifier: MIT */
/* Counters of remote computers: the connection, one catalogue's requests to it, its countersets, and their counter
   objects. */
#ifndef OPENPLA_PDH_REMOTE_COMPUTER_H
#define OPENPLA_PDH_REMOTE_COMPUTER_H

#include "engine/pdh/core/catalogue.h"
#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/ndr.h"

/* One counterset of a remote computer: its names and counters in the form that a counter object needs. */

enum remote_aggregate { AGGREGATE_SUM = 1, AGGREGATE_AVERAGE, AGGREGATE_MINIMUM, AGGREGATE_MAXIMUM };

/* The columns of a row from which a counter's value is computed; REMOTE_NO_COLUMN: none. */
#define REMOTE_NO_COLUMN UINT32_MAX
struct remote_columns {
    uint32_t time, frequency, multi;
};

struct remote_set {
    GUID guid;
    char *name;
    /* The following members are valid and constant once the counterset is described. */
    bool described;
    char *help;
    bool has_instances, is_aggregate; /* is_aggregate: one row aggregates all instances */
    uint32_t shown, count;            /* visible counters, then all */
    struct counter_schema *schemas;   /* of the visible counters; the `base` of a fraction is a column */
    struct remote_columns *columns;   /* likewise */
    uint32_t *ids, *functions;        /* of all `count` columns; functions: enum remote_aggregate */
};
/* Creates the counterset with its English name, or else its name in the remote computer's language. S_FALSE with *out
   NULL if it has no name. */
HRESULT remote_set_create(struct link *l, const char *machine, const GUID *guid, struct remote_set **out);
/* Requests everything else. On failure nothing has changed: ERROR_INVALID_DATA's HRESULT if the answers are
   inconsistent, or an error of the methods or the link. */
HRESULT remote_set_describe(struct remote_set *s, struct link *l, const char *machine, bool *link_failed);
void remote_set_free(struct remote_set *s); /* NULL is allowed */

/* The column of the counter; the search begins at `hint`. REMOTE_NO_COLUMN if it does not exist. */
uint32_t remote_set_column(const struct remote_set *s, uint32_t id, uint32_t hint);

/* The requests of one catalogue to one remote computer: the list of countersets, the description and instances of one
   of them, and in each sample the values of all those in use, with one call. */

/* Time limit for the first answers of a computer, unless limits are disabled. */
#define REMOTE_START_MS 5000u

struct remote_query;
/* Like remote_computer_open. */
HRESULT remote_query_open(const char *machine, struct remote_query **out);
void remote_query_close(struct remote_query *q); /* also during a request; NULL is allowed */
struct remote_computer *remote_query_computer(const struct remote_query *q);

/* The following functions wait for the remote computer. They fail with ERROR_TIMEOUT's HRESULT if it does not answer in
   time, or with its error. */

/* Updates the list of remote_computer_set. */
HRESULT remote_query_list(struct remote_query *q);
/* Describes the counterset. *instances (may be NULL) is the position of its current instances in the answer, valid
   until the next request; empty if it has none. */
HRESULT remote_query_describe(struct remote_query *q, struct remote_set *s, struct answer_place *instances);
/* Ticks per second of the remote clock, known once a counterset has been described. */
int64_t remote_query_frequency(const struct remote_query *q);

/* Called before a sample is taken: requests the countersets that the last sample used, without waiting. */
void remote_query_begin(struct remote_query *q);
/* Returns the values of `s` and of the remote clocks in this sample, borrowed until the next request. A counterset that
   was not requested yet is included from now on. */
HRESULT remote_query_values(struct remote_query *q, const struct remote_set *s, struct pcq_data *head,
                            struct answer_block *out);

/* Countersets of remote computers as counter objects, for engine/pdh/core through a table of functions. */

/* For catalogue_set_remote. remote_computer_links sets the available links. */
extern const struct catalogue_remote remote_catalogue_functions;

/* A remote computer whose counters are in use. All queries of this process share one connection, with a thread, so that
   a computer that does not answer delays only the queries that wait for it, and only up to their time limit. A computer
   that failed is tried again after a pause, which grows from 1 s to 60 s. */

/* Sets the kind of link for computers that are opened from now on; NULL: none. For the start of the DLL and for tests.
   Borrowed. */
void remote_computer_links(const struct link_kind *kind);

struct remote_computer;
/* Opens the computer `name` (without backslashes) without connecting to it. All users of a computer share one struct.
   Fails with HRESULT PDH_CSTATUS_NO_MACHINE without links, or E_OUTOFMEMORY. */
HRESULT remote_computer_open(const char *name, struct remote_computer **out);
void remote_computer_close(struct remote_computer *c); /* NULL is allowed */
const char *remote_computer_name(const struct remote_computer *c);

/* A repeatable request of one user. Zero-initialise all but the first members. */
struct remote_task {
    HRESULT (*run)(struct remote_task *t, struct link *l, uint64_t epoch, bool *link_failed);
    void (*free)(struct remote_task *t); /* frees the task, see remote_task_release; nobody waits for it any more */
    struct remote_task *next;
    HRESULT result; /* of the last run */
    bool queued, released;
    bool ending; /* set in a last run before the task is freed: it cleans up on the remote computer */
};
/* Schedules `run` on the computer's thread with an open link. `epoch` changes with every new link. If the link fails
   during a run, `run` may be called once more with a new one. If time limits are disabled (source_limit) it runs at
   once on this thread. During the pause after a failure the task fails at once with the last error. */
void remote_task_post(struct remote_computer *c, struct remote_task *t);
/* Waits up to `limit_ms` for the task. False if it has not ended. Does not wait for a computer that has not answered
   since an earlier wait timed out, and waits only briefly for a computer that is tried again after a failure. */
bool remote_task_wait(struct remote_computer *c, struct remote_task *t, uint32_t limit_ms);
/* Frees the task, now or when it has ended. */
void remote_task_release(struct remote_computer *c, struct remote_task *t);

/* The countersets found so far, by index; NULL after the last. They are valid until the computer is closed.
   Thread-safe. */
struct remote_set *remote_computer_set(struct remote_computer *c, size_t index);
/* For running tasks: requests the list of GUIDs and adds the new ones. */
HRESULT remote_computer_list(struct remote_computer *c, struct link *l, bool *link_failed);

#endif

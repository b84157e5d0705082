/* SPDX-License-Identifier: MIT */
/* Counters of another computer: its connection, one catalogue's questions to it, its countersets, and their objects. */
#ifndef OPENPLA_PDH_REMOTE_COMPUTER_H
#define OPENPLA_PDH_REMOTE_COMPUTER_H

#include "engine/pdh/core/catalogue.h"
#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/ndr.h"

/* One counterset of another computer: what it is called and which counters it has, as a counter object needs it. */

enum remote_aggregate { AGGREGATE_SUM = 1, AGGREGATE_AVERAGE, AGGREGATE_MINIMUM, AGGREGATE_MAXIMUM };

/* Columns of a row that a counter's value is read with; REMOTE_NO_COLUMN: none. */
#define REMOTE_NO_COLUMN UINT32_MAX
struct remote_columns {
    uint32_t time, frequency, multi;
};

struct remote_set {
    GUID guid;
    char *name;
    /* What follows is there, and constant, once it is described. */
    bool described;
    char *help;
    bool has_instances, is_aggregate; /* an aggregate: one row out of all instances */
    uint32_t shown, count;            /* counters that are shown, then those that are not */
    struct counter_schema *schemas;   /* of those that are shown; a fraction's `base` is a column */
    struct remote_columns *columns;   /* likewise */
    uint32_t *ids, *functions;        /* of all `count` columns; enum remote_aggregate */
};
/* The set with its English name, or the one that it has in the host's language. S_FALSE with *out NULL: it has none. */
HRESULT remote_set_create(struct link *l, const char *machine, const GUID *guid, struct remote_set **out);
/* Asks for all else. Nothing has changed when it fails: ERROR_INVALID_DATA's HRESULT where the answers do not fit
   together, the methods' and the link's failures. */
HRESULT remote_set_describe(struct remote_set *s, struct link *l, const char *machine, bool *link_failed);
void remote_set_free(struct remote_set *s); /* NULL is allowed */

/* The column of the counter, looked for from `hint` on; REMOTE_NO_COLUMN. */
uint32_t remote_set_column(const struct remote_set *s, uint32_t id, uint32_t hint);

/* What one catalogue asks of one other computer: which countersets there are, what one of them is made of and which
   instances it has, and sample by sample the values of those in use, all of them with one call. */

/* How long the first answers of a computer are waited for, where there is a limit at all. */
#define REMOTE_START_MS 5000u

struct remote_query;
/* As remote_computer_open. */
HRESULT remote_query_open(const char *machine, struct remote_query **out);
void remote_query_close(struct remote_query *q); /* also while it asks; NULL is allowed */
struct remote_computer *remote_query_computer(const struct remote_query *q);

/* What follows waits for the host, gives ERROR_TIMEOUT's HRESULT when it has not answered in time, and the host's
   failure where there is one. */

/* Brings remote_computer_set up to date. */
HRESULT remote_query_list(struct remote_query *q);
/* Describes the set. *instances (may be NULL) is where those that it has now can be walked, until anything else is
   asked; a set without instances has none. */
HRESULT remote_query_describe(struct remote_query *q, struct remote_set *s, struct answer_place *instances);
/* Ticks a second of the host's clock; once a set was described. */
int64_t remote_query_frequency(const struct remote_query *q);

/* A sample is about to be taken: asks for the sets that the last one used, and waits for nothing. */
void remote_query_begin(struct remote_query *q);
/* The values of `s` in this sample, borrowed until anything else is asked, and the host's clocks. A set that was not
   asked for yet is asked for from now on. */
HRESULT remote_query_values(struct remote_query *q, const struct remote_set *s, struct pcq_data *head,
                            struct answer_block *out);

/* Countersets of other computers as objects like all others: what engine/pdh asks by its table of functions. */

/* For catalogue_set_remote. Which links there are is remote_computer_links' to say. */
extern const struct catalogue_remote remote_catalogue_functions;

/* Another computer whose counters are asked for: one connection for all queries of this process, with a thread of its
   own, so that a host that does not answer holds up nobody but who waits for it, and that no longer than it wants to. A
   host that failed is left alone for a pause, which grows from 1 s to 60 s. */

/* By which links computers that are opened from now on are reached; NULL: none is there. For the DLL's start, and
   tests. Borrowed. */
void remote_computer_links(const struct link_kind *kind);

struct remote_computer;
/* `name` without backslashes. Nothing is asked of it yet. HRESULT of PDH_CSTATUS_NO_MACHINE without links,
   E_OUTOFMEMORY. Another user of the same computer gets the same one. */
HRESULT remote_computer_open(const char *name, struct remote_computer **out);
void remote_computer_close(struct remote_computer *c); /* NULL is allowed */
const char *remote_computer_name(const struct remote_computer *c);

/* What one user has to ask, again and again. Zero-initialise but for the first line. */
struct remote_task {
    HRESULT (*run)(struct remote_task *t, struct link *l, uint64_t epoch, bool *link_failed);
    void (*free)(struct remote_task *t); /* as remote_task_release says; nobody waits for it any more */
    struct remote_task *next;
    HRESULT result; /* of the last run */
    bool queued, released;
    bool ending; /* of what runs: it is freed afterwards, and leaves nothing on the host */
};
/* Has `run` called with a link that is open, on the computer's thread; `epoch` is another one each time that the link
   is a new one. Where a run finds that its link has failed, it may be called once more with a new one. Without a limit
   of time for samples (source_limit) it runs at once, on this thread. While the host is left alone the task has failed
   at once, as the last one did. */
void remote_task_post(struct remote_computer *c, struct remote_task *t);
/* False: it has not ended. Waits up to `limit_ms`, but not for a host that kept somebody waiting in vain and has not
   answered since, and only shortly for one that failed and is tried again. */
bool remote_task_wait(struct remote_computer *c, struct remote_task *t, uint32_t limit_ms);
/* Has it freed: now, or when it has ended. */
void remote_task_release(struct remote_computer *c, struct remote_task *t);

/* The countersets that were found so far, in their order: NULL behind the last. They stay until the computer is closed.
   Any thread. */
struct remote_set *remote_computer_set(struct remote_computer *c, size_t index);
/* For tasks that run: adds what is not known yet of the GUIDs that the host has. */
HRESULT remote_computer_list(struct remote_computer *c, struct link *l, bool *link_failed);

#endif

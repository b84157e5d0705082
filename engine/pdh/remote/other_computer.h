/* SPDX-License-Identifier: MIT */
/* Counters of another computer: its connection, one catalogue's questions to it, its countersets, and their objects. */
#ifndef OPENPLA_PDH_OTHER_COMPUTER_H
#define OPENPLA_PDH_OTHER_COMPUTER_H

#include "engine/pdh/core/catalogue.h"
#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/ndr.h"

/* One counterset of another computer: what it is called and which counters it has, as a counter object needs it. */

enum other_aggregate { AGGREGATE_SUM = 1, AGGREGATE_AVERAGE, AGGREGATE_MINIMUM, AGGREGATE_MAXIMUM };

/* Columns of a row that a counter's value is read with; OTHER_NO_COLUMN: none. */
#define OTHER_NO_COLUMN UINT32_MAX
struct other_columns {
    uint32_t time, frequency, multi;
};

struct other_set {
    GUID guid;
    char *name;
    /* What follows is there, and constant, once it is described. */
    bool described;
    char *help;
    bool has_instances, is_aggregate; /* an aggregate: one row out of all instances */
    uint32_t shown, count;            /* counters that are shown, then those that are not */
    struct counter_schema *schemas;   /* of those that are shown; a fraction's `base` is a column */
    struct other_columns *columns;    /* likewise */
    uint32_t *ids, *functions;        /* of all `count` columns; enum other_aggregate */
};
/* The set with its English name, or the one that it has in the host's language. S_FALSE with *out NULL: it has none. */
HRESULT other_set_create(struct link *l, const char *machine, const GUID *guid, struct other_set **out);
/* Asks for all else. Nothing has changed when it fails: ERROR_INVALID_DATA's HRESULT where the answers do not fit
   together, the methods' and the link's failures. */
HRESULT other_set_describe(struct other_set *s, struct link *l, const char *machine, bool *link_failed);
void other_set_free(struct other_set *s); /* NULL is allowed */

/* The column of the counter, looked for from `hint` on; OTHER_NO_COLUMN. */
uint32_t other_set_column(const struct other_set *s, uint32_t id, uint32_t hint);

/* What one catalogue asks of one other computer: which countersets there are, what one of them is made of and which
   instances it has, and sample by sample the values of those in use, all of them with one call. */

/* How long the first answers of a computer are waited for, where there is a limit at all. */
#define OTHER_START_MS 5000u

struct other_query;
/* As other_computer_open. */
HRESULT other_query_open(const char *machine, struct other_query **out);
void other_query_close(struct other_query *q); /* also while it asks; NULL is allowed */
struct other_computer *other_query_computer(const struct other_query *q);

/* What follows waits for the host, gives ERROR_TIMEOUT's HRESULT when it has not answered in time, and the host's
   failure where there is one. */

/* Brings other_computer_set up to date. */
HRESULT other_query_list(struct other_query *q);
/* Describes the set. *instances (may be NULL) is where those that it has now can be walked, until anything else is
   asked; a set without instances has none. */
HRESULT other_query_describe(struct other_query *q, struct other_set *s, struct answer_place *instances);
/* Ticks a second of the host's clock; once a set was described. */
int64_t other_query_frequency(const struct other_query *q);

/* A sample is about to be taken: asks for the sets that the last one used, and waits for nothing. */
void other_query_begin(struct other_query *q);
/* The values of `s` in this sample, borrowed until anything else is asked, and the host's clocks. A set that was not
   asked for yet is asked for from now on. */
HRESULT other_query_values(struct other_query *q, const struct other_set *s, struct pcq_data *head,
                           struct answer_block *out);

/* Countersets of other computers as objects like all others: what engine/pdh asks by its table of functions. */

/* For catalogue_set_others. Which links there are is other_computer_links' to say. */
extern const struct catalogue_others other_objects_of_catalogues;

/* Another computer whose counters are asked for: one connection for all queries of this process, with a thread of its
   own, so that a host that does not answer holds up nobody but who waits for it, and that no longer than it wants to. A
   host that failed is left alone for a pause, which grows from 1 s to 60 s. */

/* By which links computers that are opened from now on are reached; NULL: none is there. For the DLL's start, and
   tests. Borrowed. */
void other_computer_links(const struct link_kind *kind);

struct other_computer;
/* `name` without backslashes. Nothing is asked of it yet. HRESULT of PDH_CSTATUS_NO_MACHINE without links,
   E_OUTOFMEMORY. Another user of the same computer gets the same one. */
HRESULT other_computer_open(const char *name, struct other_computer **out);
void other_computer_close(struct other_computer *c); /* NULL is allowed */
const char *other_computer_name(const struct other_computer *c);

/* What one user has to ask, again and again. Zero-initialise but for the first line. */
struct other_task {
    HRESULT (*run)(struct other_task *t, struct link *l, uint64_t epoch, bool *link_failed);
    void (*free)(struct other_task *t); /* as other_task_release says; nobody waits for it any more */
    struct other_task *next;
    HRESULT result; /* of the last run */
    bool queued, released;
    bool ending; /* of what runs: it is freed afterwards, and leaves nothing on the host */
};
/* Has `run` called with a link that is open, on the computer's thread; `epoch` is another one each time that the link
   is a new one. Where a run finds that its link has failed, it may be called once more with a new one. Without a limit
   of time for samples (source_limit) it runs at once, on this thread. While the host is left alone the task has failed
   at once, as the last one did. */
void other_task_post(struct other_computer *c, struct other_task *t);
/* False: it has not ended. Waits up to `limit_ms`, but not for a host that kept somebody waiting in vain and has not
   answered since, and only shortly for one that failed and is tried again. */
bool other_task_wait(struct other_computer *c, struct other_task *t, uint32_t limit_ms);
/* Has it freed: now, or when it has ended. */
void other_task_release(struct other_computer *c, struct other_task *t);

/* The countersets that were found so far, in their order: NULL behind the last. They stay until the computer is closed.
   Any thread. */
struct other_set *other_computer_set(struct other_computer *c, size_t index);
/* For tasks that run: adds what is not known yet of the GUIDs that the host has. */
HRESULT other_computer_list(struct other_computer *c, struct link *l, bool *link_failed);

#endif

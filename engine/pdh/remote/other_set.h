/* SPDX-License-Identifier: MIT */
/* One counterset of another computer: what it is called and which counters it has, as a counter object needs it. */
#ifndef OPENPLA_PCQ_OTHER_SET_H
#define OPENPLA_PCQ_OTHER_SET_H

#include "engine/pdh/core/counter_object.h"
#include "engine/pdh/remote/link_ask.h"

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

#endif

/* SPDX-License-Identifier: MIT */
/* The rows of CounterDetails that belong to the slots of a log. */
#ifndef OPENPLA_SQL_DETAILS_H
#define OPENPLA_SQL_DETAILS_H

#include "engine/logs/sql/odbc.h"
#include "engine/logs/sql/sql_set.h"

/* Gives every slot of the samples from `first` on its CounterID: of a row that is there, or of a new one, within the
   caller's transaction. *highest is raised to the largest RecordIndex that the set `guid` (its text) has for rows that
   were there. On failure slots without an id stay without. */
HRESULT sql_details_resolve(struct odbc *c, const char *guid, struct sql_slot *const *slots,
                            const struct sql_sample *first, int64_t *highest);

#endif

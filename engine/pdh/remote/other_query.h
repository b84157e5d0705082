/* SPDX-License-Identifier: MIT */
/* What one catalogue asks of one other computer: which countersets there are, what one of them is made of and which
   instances it has, and sample by sample the values of those in use, all of them with one call. */
#ifndef OPENPLA_PCQ_OTHER_QUERY_H
#define OPENPLA_PCQ_OTHER_QUERY_H

#include "engine/pdh/remote/answer_walk.h"
#include "engine/pdh/remote/other_computer.h"

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

#endif

/* SPDX-License-Identifier: MIT */
/* Paths that may come to stand for more counters than a log has columns for. */
#ifndef OPENPLA_COUNTER_WATCH_H
#define OPENPLA_COUNTER_WATCH_H

#include "engine/pdh/counter_query.h"

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

/* SPDX-License-Identifier: MIT */
/* The other way round than trace_plan.h: what ETW, or the registry, says of a session becomes a set. */
#ifndef OPENPLA_TRACE_FILL_H
#define OPENPLA_TRACE_FILL_H

#include "engine/pla/collect/trace_session.h"

/* Makes the set say what the plan says: in its one trace collector, which it gets if it has none. What a plan does not
   know stays as it is, providers' names too; a provider that is not in the plan goes. `live`: of a session
   that runs, its figures (MS-PLA 3.2.4.9, notes 22 to 27); NULL: none. `filters`: the plan knows of filters, too. After
   a failure the set is to be thrown away. */
HRESULT trace_fill(struct object *set, const struct trace_plan *plan, bool filters, const struct trace_session *live);

#endif

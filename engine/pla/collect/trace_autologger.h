/* SPDX-License-Identifier: MIT */
/* A plan as an autologger's values, and back. */
#ifndef OPENPLA_TRACE_AUTOLOGGER_H
#define OPENPLA_TRACE_AUTOLOGGER_H

#include "engine/etw/autologger.h"
#include "engine/pla/collect/trace_plan.h"

/* What the session of the autologger will be asked to be; its enabled providers. E_OUTOFMEMORY. */
HRESULT trace_plan_from_autologger(const struct autologger *a, struct trace_plan *out);
/* Changes `a`, which is empty or what is in the registry, to what the plan says; values that the plan does not know,
   and providers that are not enabled, stay. Guid is made if neither has one. After a failure `a` is to be thrown away.
 */
HRESULT trace_plan_to_autologger(const struct trace_plan *plan, struct autologger *a);

#endif

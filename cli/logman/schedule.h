/* SPDX-License-Identifier: MIT */
/* -b, -e, -r, -m: when a set is started and ended. */
#ifndef OPENPLA_LOGMAN_SCHEDULE_H
#define OPENPLA_LOGMAN_SCHEDULE_H

#include "cli/logman/line.h"
#include "engine/pla/model.h"

/* The set's first schedule, which is made when there is none. A schedule has no time of its end: from -b and -e comes
   the set's Duration unless -rf says it. E_INVALIDARG. */
HRESULT logman_put_schedule(const struct logman_line *line, struct object *set);

#endif

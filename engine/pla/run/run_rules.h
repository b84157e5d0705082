/* SPDX-License-Identifier: MIT */
/* The rules of a set's data manager over a report: MS-PLA 2.2.2.6 (plaRunRules), DECISIONS 101. */
#ifndef OPENPLA_RUN_RULES_H
#define OPENPLA_RUN_RULES_H

#include "engine/pla/run/run_report.h"

/* Runs them over the report, which is a file below RootPath, and tells by events 3000 to 3002 what they have found and
   what is wrong with them; that is added to `remarks` too. rules.log, if they ask for one, lies beside the report.
   `stop` (NULL: never) is asked often. S_FALSE: the set has no rules. PLA_E_RULES_MANAGER_FAILED: nothing could be run;
   the report is as it was. */
HRESULT run_rules_apply(const struct run_report *what, const char *report, bool (*stop)(void *context), void *context,
                        struct texts *remarks);

#endif

/* SPDX-License-Identifier: MIT */
/* The data manager's work behind a run: the report. MS-PLA 3.2.4.2, 2.2.2.6; DECISIONS 94. */
#ifndef OPENPLA_DATA_MANAGER_H
#define OPENPLA_DATA_MANAGER_H

#include "engine/base/caller.h"
#include "engine/pla/run/segment.h"

#define REPORT_TIMEOUT_USUAL 600 /* s */

/* What a host does with a segment (run_compile): makes RuleTargetFileName in its folder, of the logs that are there or,
   in a folder that runs share, of this segment's alone. Tells of it by an event. A failure leaves the folder as it was.
   HRESULT of ERROR_TIMEOUT: it took longer than OpenPLA.ReportTimeout. S_FALSE: there are no logs. */
HRESULT data_manager_compile(const struct ended_segment *segment);
/* set_manage (sets.h) for the set that is stored here. GATE_REFUSED. */
HRESULT data_manager_run(const struct caller *caller, const char *space, const char *name, uint32_t steps,
                         const char *folder, struct object *errors);

/* PlaDeleteReport: what runs have made in the folder of a run, of whichever set, and the folder itself unless something
   else is in it. PLA_E_DCS_IN_USE while the run goes on; folder_remove_marked's failures. */
HRESULT data_manager_delete_report(const char *folder);

#endif

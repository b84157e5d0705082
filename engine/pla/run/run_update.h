/* SPDX-License-Identifier: MIT */
/* A running set takes up a new definition (Commit with plaUpdateRunningInstance). */
#ifndef OPENPLA_RUN_UPDATE_H
#define OPENPLA_RUN_UPDATE_H

#include "engine/pla/run/host_run.h"

/* Takes up the definition that is stored now. On failure the run goes on with what it has, or is over. */
HRESULT run_take_definition(struct run *r);

#endif

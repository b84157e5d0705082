/* SPDX-License-Identifier: MIT */
/* What becomes of a verb that the gate has refused: the caller's E_ACCESSDENIED, and an event that names the caller. */
#ifndef OPENPLA_REFUSAL_H
#define OPENPLA_REFUSAL_H

#include "engine/base/caller.h"

/* `hr` as it is, but for GATE_REFUSED. Events are bounded: REFUSALS_TOLD in a minute, the next one tells how many were
   not told. The thread's error text goes with the E_ACCESSDENIED. */
HRESULT refusal_answer(HRESULT hr, const struct caller *caller, const char *space, const char *name);
#define REFUSALS_TOLD 20

#endif

/* SPDX-License-Identifier: MIT */
/* The namespace Session: what runs is what there is, whoever has started it. */
#ifndef OPENPLA_SESSION_SET_H
#define OPENPLA_SESSION_SET_H

#include "engine/base/caller.h"
#include "engine/pla/model.h"

/* The definition that the running session makes, from memory_alloc; PLA_E_DCS_NOT_FOUND. */
HRESULT session_set_load(const char *name, char **xml, size_t *size);
/* Their names; *out is empty on failure. */
HRESULT session_set_list(struct texts *out);
/* Whether it runs, and what it writes. */
HRESULT session_set_read_live(const char *name, struct set_live *out);
/* For who may begin such a session (GATE_REFUSED). PLA_E_DCS_IN_USE: a session of the name runs.
   ERROR_ALREADY_EXISTS's HRESULT: one of the Guid. */
HRESULT session_set_start(struct object *set, const struct caller *caller, const char *name);
HRESULT session_set_stop(const char *name); /* PLA_E_DCS_NOT_RUNNING */

#endif

/* SPDX-License-Identifier: MIT */
/* The namespace Autosession: the keys of autologgers in the registry, whoever has written them. */
#ifndef OPENPLA_AUTOSESSION_SET_H
#define OPENPLA_AUTOSESSION_SET_H

#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* The definition that the key makes, with the figures of its session if that runs; from memory_alloc.
   PLA_E_DCS_NOT_FOUND; ERROR_INVALID_DATA's HRESULT, naming the value that is damaged. */
HRESULT autosession_set_load(const char *name, char **xml, size_t *size);
/* Their names; *out is empty on failure. */
HRESULT autosession_set_list(struct texts *out);
/* Writes the key; what PLA does not know of it stays. PLA_E_DCS_ALREADY_EXISTS, PLA_E_DCS_NOT_FOUND by mode;
   E_INVALIDARG for what cannot begin by itself: a private session, EVENT_TRACE_FILE_MODE_NEWFILE. *created: it was not
   there. */
HRESULT autosession_set_save(struct object *set, const char *name, enum store_mode mode, bool *created);
HRESULT autosession_set_delete(const char *name); /* PLA_E_DCS_NOT_FOUND */

#endif

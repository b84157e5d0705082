/* SPDX-License-Identifier: MIT */
/* Where the definition of a set comes from: the store, for System the program itself, for trace sessions what runs, or
   the registry. */
#ifndef OPENPLA_DEFINITION_H
#define OPENPLA_DEFINITION_H

#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* The definition's XML, from memory_alloc, for who may read it (GATE_REFUSED). PLA_E_DCS_NOT_FOUND; the store's errors.
 */
HRESULT definition_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size);
/* Whether the caller may do that with the set. `set` (NULL: none) is what begins a session that does not run: its Guid
   says who may. GATE_REFUSED; PLA_E_DCS_NOT_FOUND. For this process itself always S_OK. */
HRESULT definition_check(const struct caller *caller, enum gate_verb verb, const char *space, const char *name,
                         struct object *set);
/* The same of Commit: of a change, or of a new set. `set` is what is committed. */
HRESULT definition_check_commit(const struct caller *caller, const char *space, const char *name, struct object *set);
/* Whether `hr` says that what is stored of a set cannot be used as it stands there: too long, no XML, no record, a
   folder, not to be read. */
bool definition_is_damaged(HRESULT hr);
/* Puts the file of the set before the thread's text for `hr`, if that says what is wrong with the XML; returns hr. */
HRESULT definition_name_file(HRESULT hr, const char *space, const char *name);
/* The definitions whose names match the pattern. stored_sets_free. */
HRESULT definition_load_matching(const struct caller *caller, const char *space, const char *pattern,
                                 struct stored_sets *out);
/* Replaces *names by those of the namespace's sets; unchanged on failure. */
HRESULT definition_list(const struct caller *caller, const char *space, struct texts *names);

#endif

/* SPDX-License-Identifier: MIT */
/* Definitions of sets: where they come from (the store; for System the program; for trace sessions what runs, or the
   registry), what their namespaces allow, and how a refusal is answered. */
#ifndef OPENPLA_DEFINITION_H
#define OPENPLA_DEFINITION_H

#include "engine/base/security.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* ---- definitions ---- */

/* The definition's XML, from memory_alloc, for who may read it (SET_ACCESS_REFUSED). PLA_E_DCS_NOT_FOUND; the store's
 * errors.
 */
HRESULT definition_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size);
/* Whether the caller may do that with the set. `set` (NULL: none) is what begins a session that does not run: its Guid
   says who may. SET_ACCESS_REFUSED; PLA_E_DCS_NOT_FOUND. For this process itself always S_OK. */
HRESULT definition_check(const struct caller *caller, enum set_access_verb verb, const char *space, const char *name,
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

/* ---- namespaces: what they allow and what their sets must be (MS-PLA 3.2.1; behaviour 4) ---- */

/* hr S_OK: the method is allowed. */
struct refusal {
    HRESULT hr;
    const char *why;
};
struct category {
    const char *space; /* as store_namespaces() spells it */
    /* LIVE: what runs is what there is; REGISTRY: keys of autologgers. */
    enum { DEFINITION_STORED, DEFINITION_SHIPPED, DEFINITION_LIVE, DEFINITION_REGISTRY, DEFINITION_NONE } source;
    const char *none; /* why there is no set, where source is DEFINITION_NONE */
    bool runs;        /* has runs, and so state and a record of them */
    bool one_trace;   /* a set is exactly one trace collector */
    uint32_t status;  /* DataCollectorSetStatus of what does not run */
    struct refusal commit, delete, start, stop;
};

/* NULL for what is no namespace (or NULL). */
const struct category *category_of(const char *space);
/* S_OK, or the refusal with a text that begins with the method. */
HRESULT category_refuses(const struct refusal *refusal, const char *method);
/* PLA_E_DCS_SINGLETON_REQUIRED when the set does not hold what the namespace asks for. */
HRESULT category_check_collectors(const struct category *c, struct object *set);
/* set_validate, and what was put of properties that the namespace has no use for (MS-PLA 2.2.2.11); `updates`:
   plaUpdateRunningInstance. */
HRESULT category_validate(const struct category *c, struct object *set, bool updates, struct object *issues);

/* ---- refusals: E_ACCESSDENIED for the caller, and an event that names the caller ---- */

/* `hr` as it is, but for SET_ACCESS_REFUSED. Events are bounded: REFUSALS_TOLD in a minute, the next one tells how many
   were not told. The thread's error text goes with the E_ACCESSDENIED. */
HRESULT refusal_answer(HRESULT hr, const struct caller *caller, const char *space, const char *name);
#define REFUSALS_TOLD 20

#endif

/* SPDX-License-Identifier: MIT */
/* Definitions of sets: their sources (the store; the program for System; the running sessions or the registry for trace
   sessions), the rules of their namespaces, and the errors for a refused call. */
#ifndef OPENPLA_DEFINITION_H
#define OPENPLA_DEFINITION_H

#include "engine/base/security.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* ---- definitions ---- */

/* The definition's XML, from memory_alloc. SET_ACCESS_REFUSED: the caller may not read it. PLA_E_DCS_NOT_FOUND; the
   store's errors. */
HRESULT definition_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size);
/* Whether the caller may perform the verb on the set. `set` (NULL: none): a trace session that is not running yet,
   whose Guid determines access. SET_ACCESS_REFUSED; PLA_E_DCS_NOT_FOUND. Always S_OK for this process itself. */
HRESULT definition_check(const struct caller *caller, enum set_access_verb verb, const char *space, const char *name,
                         struct object *set);
/* The same check for Commit, of a change or of a new set. `set` is committed. `stored`: what store_read_set has read;
   NULL: no such set is stored. */
HRESULT definition_check_commit(const struct caller *caller, const char *space, const char *name, struct object *set,
                                const struct stored_set *stored);
/* Whether `hr` means that the stored definition cannot be used: too large, not XML, not a record, a folder, not
   readable. */
bool definition_is_damaged(HRESULT hr);
/* If `hr` is about the XML, prefixes the thread's error text with the set's file. Returns hr. */
HRESULT definition_name_file(HRESULT hr, const char *space, const char *name);
/* The definitions whose names match the pattern. Free with stored_sets_free. */
HRESULT definition_load_matching(const struct caller *caller, const char *space, const char *pattern,
                                 struct stored_sets *out);
/* Replaces *names by the names of the namespace's sets; unchanged on failure. */
HRESULT definition_list(const struct caller *caller, const char *space, struct texts *names);

/* ---- rules of the namespaces (MS-PLA 3.2.1; behaviour 4) ---- */

/* hr S_OK: the method is allowed. */
struct refusal {
    HRESULT hr;
    const char *why;
};
struct category {
    const char *space; /* spelled as in store_namespaces() */
    /* LIVE: the running sessions; REGISTRY: autologger keys. */
    enum { DEFINITION_STORED, DEFINITION_SHIPPED, DEFINITION_LIVE, DEFINITION_REGISTRY, DEFINITION_NONE } source;
    const char *none; /* why there are no sets, if source is DEFINITION_NONE */
    bool runs;        /* sets have runs, with state and record */
    bool one_trace;   /* a set is exactly one trace collector */
    uint32_t status;  /* DataCollectorSetStatus of a set without runs */
    struct refusal commit, delete, start, stop;
};

/* NULL for an unknown namespace or NULL. */
const struct category *category_of(const char *space);
/* S_OK, or the refusal with a message that begins with the method. */
HRESULT category_refuses(const struct refusal *refusal, const char *method);
/* PLA_E_DCS_SINGLETON_REQUIRED: the set does not have exactly the collector that the namespace requires. */
HRESULT category_check_collectors(const struct category *c, struct object *set);
/* set_validate, and findings for properties that were set although the namespace does not use them (MS-PLA 2.2.2.11);
   `updates`: plaUpdateRunningInstance. */
HRESULT category_validate(const struct category *c, struct object *set, bool updates, struct object *issues);

/* ---- refusals: E_ACCESSDENIED for the caller, and an event that names the caller ---- */

/* Replaces SET_ACCESS_REFUSED by E_ACCESSDENIED with the thread's error text and writes an event; returns any other
   `hr`. At most REFUSALS_TOLD events are written per minute; the next event contains the number of omitted ones. */
HRESULT refusal_answer(HRESULT hr, const struct caller *caller, const char *space, const char *name);
#define REFUSALS_TOLD 20

#endif

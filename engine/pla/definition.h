/* SPDX-License-Identifier: MIT */
/* Loads and lists set definitions and checks access to them. Depending on the namespace, a definition comes from the
   store, the program (System), a running trace session (Session) or the registry (Autosession). Also contains the rules
   of each namespace and the errors of refused calls. */
#ifndef OPENPLA_DEFINITION_H
#define OPENPLA_DEFINITION_H

#include "engine/base/security.h"
#include "engine/pla/model.h"
#include "engine/pla/store.h"

/* ---- definitions ---- */

/* Loads the definition; *xml is from memory_alloc. SET_ACCESS_REFUSED: the caller may not read the definition. Also
   fails with PLA_E_DCS_NOT_FOUND and with the errors of the store. */
HRESULT definition_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size);
/* Checks whether the caller may perform the verb on the set. Fails with SET_ACCESS_REFUSED or PLA_E_DCS_NOT_FOUND.
   `set` is used for a session of the namespace Session that is not running: the Guid in `set` then determines access.
   `set` NULL: for such a session, fails with PLA_E_DCS_NOT_FOUND. Always S_OK if the caller is this process itself. */
HRESULT definition_check(const struct caller *caller, enum set_access_verb verb, const char *space, const char *name,
                         struct object *set);
/* Checks whether the caller may commit `set`, as a new set or as a change. `stored`: the result of store_read_set;
   NULL: no set of that name is stored. */
HRESULT definition_check_commit(const struct caller *caller, const char *space, const char *name, struct object *set,
                                const struct stored_set *stored);
/* Returns whether `hr` means that the stored definition cannot be used: it is too large, not XML, not a record, a
   folder, or not readable. */
bool definition_is_damaged(HRESULT hr);
/* If `hr` is about the XML, prefixes the thread's error text with the path of the set's file. Returns hr. */
HRESULT definition_name_file(HRESULT hr, const char *space, const char *name);
/* Loads the definitions whose names match the pattern. Free *out with stored_sets_free. */
HRESULT definition_load_matching(const struct caller *caller, const char *space, const char *pattern,
                                 struct stored_sets *out);
/* Replaces *names with the set names of the namespace. *names is unchanged on failure. */
HRESULT definition_list(const struct caller *caller, const char *space, struct texts *names);

/* ---- rules of the namespaces (MS-PLA 3.2.1; behaviour 4) ---- */

/* Says whether a namespace allows a method. `hr` is S_OK if the method is allowed. Otherwise `hr` is the error to
   return, and `why` is the reason. */
struct refusal {
    HRESULT hr;
    const char *why;
};
struct category {
    const char *space; /* spelled as in store_namespaces() */
    /* LIVE: the running sessions; REGISTRY: autologger keys. */
    enum { DEFINITION_STORED, DEFINITION_SHIPPED, DEFINITION_LIVE, DEFINITION_REGISTRY, DEFINITION_NONE } source;
    const char *none; /* why there are no sets, if source is DEFINITION_NONE */
    bool runs;        /* sets can run; each run has a state and a record */
    bool one_trace;   /* a set is exactly one trace collector */
    uint32_t status;  /* DataCollectorSetStatus of a set without runs */
    struct refusal commit, delete, start, stop;
};

/* Returns the rules of the namespace; NULL if `space` is NULL or unknown. */
const struct category *category_of(const char *space);
/* Returns S_OK if the method is allowed, otherwise refusal->hr with a message that begins with the method. */
HRESULT category_refuses(const struct refusal *refusal, const char *method);
/* If the namespace requires exactly one trace collector, fails with PLA_E_DCS_SINGLETON_REQUIRED for a set with other
   collectors or without a collector. */
HRESULT category_check_collectors(const struct category *c, struct object *set);
/* Calls set_validate, and adds findings for properties that were set although the namespace does not use them (MS-PLA
   2.2.2.11). `updates`: the commit mode contains plaUpdateRunningInstance. */
HRESULT category_validate(const struct category *c, struct object *set, bool updates, struct object *issues);

/* ---- refusals: E_ACCESSDENIED for the caller, and an event that names the caller ---- */

/* If `hr` is SET_ACCESS_REFUSED, writes an event and returns E_ACCESSDENIED with the thread's error text. Returns any
   other `hr` unchanged. At most REFUSALS_TOLD events are written per minute; the next event contains the number of
   omitted events. */
HRESULT refusal_answer(HRESULT hr, const struct caller *caller, const char *space, const char *name);
#define REFUSALS_TOLD 20

#endif

/* SPDX-License-Identifier: MIT */
/* What the five namespaces allow and what their sets must be: MS-PLA 3.2.1; behaviour 4. */
#ifndef OPENPLA_CATEGORY_H
#define OPENPLA_CATEGORY_H

#include "engine/pla/model.h"

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

#endif

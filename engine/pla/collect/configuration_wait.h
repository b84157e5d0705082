/* SPDX-License-Identifier: MIT */
/* Work of a source that may hang, as a query or another computer does: it runs on a thread of its own, and the source
   waits no longer than a limit, and no longer than somebody wants. Things go from the one to the other one at a time,
   so that memory is bounded. Work that hangs keeps its thread and what it has until it ends. */
#ifndef OPENPLA_COLLECT_CONFIGURATION_WAIT_H
#define OPENPLA_COLLECT_CONFIGURATION_WAIT_H

#include "engine/base/error.h"

#include <stdatomic.h>

struct patient;
struct patient_kind {
    HRESULT (*run)(void *user, struct patient *p); /* on its own thread; S_FALSE and failures are its result */
    void (*free_thing)(void *thing);
    void (*free_user)(void *user); /* at the end of the work and of who waits */
};
/* Takes over `user`, also on failure. */
HRESULT patient_start(const struct patient_kind *kind, void *user, struct patient **out);
/* From `run`: takes over the thing, and returns when it was taken. E_ABORT: nobody wants any more of it. */
HRESULT patient_give(struct patient *p, void *thing);
/* The next thing, the caller's then. S_FALSE, with *out NULL: the work has ended, or somebody has stopped the wait. A
   failure is the work's, with its text; ERROR_TIMEOUT's, which names `what`, when for `limit_ms` nothing has come. */
HRESULT patient_take(struct patient *p, const atomic_bool *stop, uint32_t limit_ms, const char *what, void **out);
void patient_let_go(struct patient *p);

#endif

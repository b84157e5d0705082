/* SPDX-License-Identifier: MIT */
/* Threads of this process, and how one wakes another. */
#ifndef OPENPLA_THREAD_H
#define OPENPLA_THREAD_H

#include "engine/base/host.h"

struct thread;
/* Runs body(user) on a thread of its own. The module this code is in stays loaded until body has returned.
   E_OUTOFMEMORY, or the system's reason with a text. */
HRESULT thread_start(void (*body)(void *user), void *user, struct thread **out);
/* True: it has ended. False: it runs on after timeout_ms. */
bool thread_wait(struct thread *t, uint32_t timeout_ms);
void thread_close(struct thread *t); /* does not end it; NULL is allowed */
/* Lets another thread run on this processor, if one waits for it. */
void thread_give_way(void);
uint64_t thread_own_user_time(void); /* in user mode, 100 ns; asks the system, which is dear under Wine */
uint32_t thread_own_id(void);        /* unlike that of any other thread on this host that runs */

struct wakeup; /* set until one wait takes it */
HRESULT wakeup_create(struct wakeup **out);
void wakeup_set(struct wakeup *w);
bool wakeup_wait(struct wakeup *w, uint32_t timeout_ms); /* true: it was set; false: timeout */
void wakeup_free(struct wakeup *w);                      /* nobody may wait; NULL is allowed */

/* What threads that hold a lock wait for, within this process and without a call of the system when nobody waits.
   Zero-initialise. */
struct thread_condition {
    void *opaque[8];
};
/* Leaves the lock, waits and enters it again. False: the time has passed. May return true for no reason. `timeout_ms`
   UINT32_MAX: for ever. */
bool thread_condition_wait(struct thread_condition *c, struct host_lock *lock, uint32_t timeout_ms);
void thread_condition_wake(struct thread_condition *c); /* all that wait */

#endif

/* SPDX-License-Identifier: MIT */
/* Another computer whose counters are asked for: one connection for all queries of this process, with a thread of its
   own, so that a host that does not answer holds up nobody but who waits for it, and that no longer than it wants to. A
   host that failed is left alone for a pause, which grows from 1 s to 60 s. */
#ifndef OPENPLA_PCQ_OTHER_COMPUTER_H
#define OPENPLA_PCQ_OTHER_COMPUTER_H

#include "engine/pdh/remote/other_set.h"

/* By which links computers that are opened from now on are reached; NULL: none is there. For the DLL's start, and
   tests. Borrowed. */
void other_computer_links(const struct link_kind *kind);

struct other_computer;
/* `name` without backslashes. Nothing is asked of it yet. HRESULT of PDH_CSTATUS_NO_MACHINE without links,
   E_OUTOFMEMORY. Another user of the same computer gets the same one. */
HRESULT other_computer_open(const char *name, struct other_computer **out);
void other_computer_close(struct other_computer *c); /* NULL is allowed */
const char *other_computer_name(const struct other_computer *c);

/* What one user has to ask, again and again. Zero-initialise but for the first line. */
struct other_task {
    HRESULT (*run)(struct other_task *t, struct link *l, uint64_t epoch, bool *link_failed);
    void (*free)(struct other_task *t); /* as other_task_release says; nobody waits for it any more */
    struct other_task *next;
    HRESULT result; /* of the last run */
    bool queued, released;
    bool ending; /* of what runs: it is freed afterwards, and leaves nothing on the host */
};
/* Has `run` called with a link that is open, on the computer's thread; `epoch` is another one each time that the link
   is a new one. Where a run finds that its link has failed, it may be called once more with a new one. Without a limit
   of time for samples (source_limit) it runs at once, on this thread. While the host is left alone the task has failed
   at once, as the last one did. */
void other_task_post(struct other_computer *c, struct other_task *t);
/* False: it has not ended. Waits up to `limit_ms`, but not for a host that kept somebody waiting in vain and has not
   answered since, and only shortly for one that failed and is tried again. */
bool other_task_wait(struct other_computer *c, struct other_task *t, uint32_t limit_ms);
/* Has it freed: now, or when it has ended. */
void other_task_release(struct other_computer *c, struct other_task *t);

/* The countersets that were found so far, in their order: NULL behind the last. They stay until the computer is closed.
   Any thread. */
struct other_set *other_computer_set(struct other_computer *c, size_t index);
/* For tasks that run: adds what is not known yet of the GUIDs that the host has. */
HRESULT other_computer_list(struct other_computer *c, struct link *l, bool *link_failed);

#endif

/* SPDX-License-Identifier: MIT */
/* Which of several processes with one store supervises. */
#ifndef OPENPLA_SUPERVISOR_LOCK_H
#define OPENPLA_SUPERVISOR_LOCK_H

#include "engine/base/file.h"

/* Two locks, and a file that names the process that has them. Both are wanted; one is enough when the other is kept by
   somebody who supervises nothing, for whom schedules would else stand still without a word. Zero-initialise. */
struct supervisor_lock {
    struct file_lock *locks[2];
    uint64_t waiting_since; /* clock_monotonic_ms: nobody was seen to supervise from then on; 0 */
    bool told;
};
/* One try, to be repeated. True: this process supervises until supervisor_lock_release. Who keeps it out for seconds
   without supervising is told in the journal, once. */
bool supervisor_lock_try(struct supervisor_lock *l, const char *data_folder);
void supervisor_lock_release(struct supervisor_lock *l, const char *data_folder);

#endif

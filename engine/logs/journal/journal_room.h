/* SPDX-License-Identifier: MIT */
/* How many events one process may write (the quotas "events" and "burst"): who floods the journal would make it forget
   what others have done. */
#ifndef OPENPLA_JOURNAL_ROOM_H
#define OPENPLA_JOURNAL_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#define JOURNAL_LEFT_OUT 9013 /* the event that tells of those that were not written */

struct journal_room {
    bool free;         /* there is room for an event */
    bool full_now;     /* the first that has none: that is to be told */
    uint64_t left_out; /* with room: how many had none before it, to be told and, if that fails, given back */
};
struct journal_room journal_room_take(void);
void journal_room_give_back(uint64_t left_out);

#endif

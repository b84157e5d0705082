/* SPDX-License-Identifier: MIT */
/* A store of events that fills by so many a second up to what may come at once. */
#include "engine/logs/journal/journal_room.h"

#include "engine/base/clock.h"
#include "engine/base/host.h"
#include "engine/base/quotas.h"

#define WHOLE 1000 /* thousandths of an event, as time comes in milliseconds */

static struct {
    struct host_lock lock;
    bool begun;
    uint64_t at;    /* clock_monotonic_ms up to which it is filled */
    uint64_t store; /* in thousandths */
    uint64_t left_out;
} room;

static void fill(void)
{
    uint64_t now = clock_monotonic_ms(), most = (uint64_t)quota_limit(QUOTA_burst) * WHOLE;
    uint64_t since = now > room.at ? now - room.at : 0, rate = quota_limit(QUOTA_events);
    bool whole = !room.begun || since > most / rate;
    room.store = whole || room.store + since * rate > most ? most : room.store + since * rate;
    room.begun = true;
    room.at = now;
}

struct journal_room journal_room_take(void)
{
    struct journal_room r = {0};
    host_lock_enter(&room.lock);
    fill();
    if (room.store >= WHOLE) {
        room.store -= WHOLE;
        r.free = true;
        r.left_out = room.left_out;
        room.left_out = 0;
    } else {
        r.full_now = !room.left_out++;
    }
    host_lock_leave(&room.lock);
    return r;
}

void journal_room_give_back(uint64_t left_out)
{
    host_lock_enter(&room.lock);
    room.left_out += left_out;
    host_lock_leave(&room.lock);
}

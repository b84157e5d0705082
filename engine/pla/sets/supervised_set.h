/* SPDX-License-Identifier: MIT */
/* Private header of the supervisor: start times of schedules, the state of each supervised set, and the lock that
   makes one process the supervisor. */

#ifndef OPENPLA_SUPERVISED_SET_H
#define OPENPLA_SUPERVISED_SET_H

#include "engine/base/file.h"
#include "engine/pla/model.h"

/* ---- schedules: MS-PLA 3.2.4.12, behaviour 15; pure functions of rule, time and zone ---- */

#define NEXT_START_NEVER INT64_MAX

/* Returns the minutes to add to local time to get UTC, at that UTC time (clock_bias_minutes). */
typedef int (*zone_bias)(const void *zone, int64_t utc);
struct start_zone {
    zone_bias bias;
    const void *zone; /* argument of `bias` */
};

/* Days are counted from 1601-01-01. */
struct start_rule {
    int64_t first_day; /* INT64_MIN: none */
    int64_t last_day;  /* INT64_MAX: no end */
    int32_t second;    /* of the day */
    uint32_t days;     /* WeekDays; 0: once, on the first day */
};
struct start_rule start_rule_of(const struct set_schedule *schedule);

/* The first start after `after`; NEXT_START_NEVER: none. FILETIMEs in UTC. A time of day that a clock change skips
   starts at the change; one that occurs twice starts the first time only. A day that the zone's calendar skips has
   no start. A rule without days and first day never starts. */
int64_t next_start(const struct start_rule *rule, int64_t after, const struct start_zone *zone);
/* The end of the rule's last day, local midnight; NEXT_START_NEVER without EndDate. */
int64_t start_rule_end(const struct start_rule *rule, const struct start_zone *zone);

/* The time after which starts are due: a start missed by at most START_GRACE is still made up, unless it was made.
   `done`: time of the latest start that was made, 0 for none; `known`: since when the rule is in force. If the clock
   was set back by up to a day, past starts are not repeated; if it was set back further, the earlier time was wrong,
   and past starts are repeated. */
#define START_GRACE (300 * INT64_C(10000000))
int64_t start_base(int64_t now, int64_t done, int64_t known);

/* One set from the supervisor's view: the settings of its definition, and its run record. */
struct run_ahead;

extern const struct start_zone host_zone; /* this computer's */

/* When to read an unusable file again, because its writer may not be done: after a second, then after twice as long
   each time, until the periodic scan takes over. Zero-initialise. */
struct second_look {
    uint64_t at;       /* clock_monotonic_ms; 0: not scheduled */
    uint32_t pause_ms; /* the pause before it; 0: the file is usable */
};
/* Schedules the next read after one at `now`; `changed`: the content differs from the previous one. True: unchanged
   for a second or longer. */
bool second_look_plan(struct second_look *l, uint64_t now, bool changed);
/* Whether the first look is still to come, so that the writer gets time. */
bool second_look_is_first(const struct second_look *l);

struct supervised_set {
    const char *space; /* static */
    char *name;
    uint64_t key;            /* text_hash_nocase of the name */
    uint64_t file;           /* hash of its file name; 0: unknown */
    uint64_t stamp;          /* of stored_stamp when it was read */
    uint64_t hash;           /* of the definition */
    uint64_t seen;           /* hash of the last text that was read, usable or not */
    struct second_look look; /* while it is unreadable */
    bool listed;             /* found in the current scan */
    HRESULT damage;          /* the error that was reported for it; S_OK: readable */
    struct start_rule *rules;
    size_t rule_count; /* 0 if SchedulesEnabled is off */
    uint32_t restart;  /* SETTING_Restart */
    bool stop_at_expiry;
    bool running;            /* by its record: a run has begun and not ended normally */
    bool cut_off;            /* `running` was true when the service started, and no host process was seen since */
    int64_t done;            /* FILETIME of the latest scheduled start */
    int64_t known;           /* since when its schedules are in force; 0: since before we know */
    int64_t due;             /* the next start, NEXT_START_NEVER */
    int64_t ahead_for;       /* the start for which a host process was prepared, or attempted */
    struct run_ahead *ahead; /* that host process; NULL: none */
    int64_t expiry;          /* the time at which the run must be stopped; NEXT_START_NEVER */
    int64_t reported_expiry; /* the expiry that was acted on */
    uint64_t again_at;       /* clock_monotonic_ms of the next restart attempt; 0: none */
    uint64_t died;           /* clock_monotonic_ms of its host process's latest death; 0: none */
    uint32_t pause_ms;       /* before the next attempt */
};
/* Reads definition and record from the store. `now`: time of the scan if a change is seen as it happens; 0 in the
   first scan. S_FALSE: the definition is unchanged, only the record was read. PLA_E_DCS_NOT_FOUND. */
HRESULT supervised_set_read(struct supervised_set *s, int64_t now);
/* supervised_set_read with the definition's text; reads no record if it does not exist. */
HRESULT supervised_set_take(struct supervised_set *s, const char *xml, size_t size, bool has_record, int64_t now);
/* Follows a read with result `hr`: schedules the next read of an unreadable set, and reports once that its schedule
   is suspended, but not while the file may still be being written. `changed`: the text differs from the previous
   look. */
void supervised_set_look_again(struct supervised_set *s, HRESULT hr, bool changed);
/* Computes `due` and `expiry`. S_FALSE: a start was missed, at *missed. */
HRESULT supervised_set_plan(struct supervised_set *s, int64_t now, const struct start_zone *zone, int64_t *missed);
void supervised_set_free(struct supervised_set *s);
/* Whether the stored set has StopAtExpiry and schedules that expire. */
bool supervised_set_expires(const char *space, const char *name);

/* Records that the scheduled start for that time was made. */
HRESULT supervised_set_note_start(const char *space, const char *name, int64_t due);
/* Records that the host process died. S_FALSE: the run ended normally, or no run was active. */
HRESULT supervised_set_note_death(const char *space, const char *name);

/* ---- the lock ---- */

/* Two locks, and a file that names the process holding them. The supervisor needs both, or one if the other is held
   by a process that does not supervise; otherwise such a process could silently suspend all schedules.
   Zero-initialise. */
struct supervisor_lock {
    struct file_lock *locks[2];
    uint64_t waiting_since; /* clock_monotonic_ms since when no supervisor was seen; 0 */
    bool reported;
};
/* Makes one attempt; call it repeatedly. True: this process supervises until supervisor_lock_release. Writes one
   journal event if a process that does not supervise holds the lock for seconds. */
bool supervisor_lock_try(struct supervisor_lock *l, const char *data_folder);
void supervisor_lock_release(struct supervisor_lock *l, const char *data_folder);

#endif

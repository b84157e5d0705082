/* SPDX-License-Identifier: MIT */
/* Private header of the supervisor: start times of schedules, the state of each supervised set, and the lock that
   makes one process the supervisor. */

#ifndef OPENPLA_SUPERVISED_SET_H
#define OPENPLA_SUPERVISED_SET_H

#include "engine/base/file.h"
#include "engine/pla/model.h"

/* ---- schedules: MS-PLA 3.2.4.12, behaviour 15; the results depend only on rule, time and zone ---- */

#define NEXT_START_NEVER INT64_MAX

/* Returns the minutes to add to local time to get UTC, at that UTC time (clock_bias_minutes). */
typedef int (*zone_bias)(const void *zone, int64_t utc);
struct start_zone {
    zone_bias bias;
    const void *zone; /* argument of `bias` */
};

/* A schedule as numbers. Days are counted from 1601-01-01. */
struct start_rule {
    int64_t first_day; /* INT64_MIN: none */
    int64_t last_day;  /* INT64_MAX: no end */
    int32_t second;    /* start time in seconds of the day */
    uint32_t days;     /* WeekDays; 0: once, on the first day */
};
struct start_rule start_rule_of(const struct set_schedule *schedule);

/* Returns the first start after `after`; NEXT_START_NEVER: none. Times are FILETIMEs in UTC. If a clock change skips
   the time of day, the start is at the change; if the time of day occurs twice, the start is at the first of the two
   times. A day that the zone's calendar skips has no start. A rule with neither days nor a first day has no start. */
int64_t next_start(const struct start_rule *rule, int64_t after, const struct start_zone *zone);
/* Returns the local midnight at which the rule's last day ends; NEXT_START_NEVER: no EndDate. */
int64_t start_rule_end(const struct start_rule *rule, const struct start_zone *zone);

/* Returns the time after which starts are due. A start that was missed by at most START_GRACE is still performed.
   `done`: time of the latest scheduled start, 0: none. `known`: time from which the rule is in force. If the clock was
   set back by at most a day, starts are not repeated. If the clock was set back further, the earlier clock time was
   wrong, and starts are repeated. */
#define START_GRACE (300 * INT64_C(10000000))
int64_t start_base(int64_t now, int64_t done, int64_t known);

/* ---- supervised sets ---- */

struct run_ahead;

extern const struct start_zone host_zone; /* the time zone of this computer */

/* The time at which an unusable file is read again; its writer may not have finished. The first pause is a second; each
   further pause is twice as long. When the next full comparison comes sooner, no read is scheduled. Zero-initialise. */
struct second_look {
    uint64_t at;       /* time of the next read, clock_monotonic_ms; 0: not scheduled */
    uint32_t pause_ms; /* pause before the next read; 0: the file is usable */
};
/* Schedules the next read after a read at `now`. `changed`: the contents differ from the previous read. True: the
   contents have not changed for a second or longer. */
bool second_look_plan(struct second_look *l, uint64_t now, bool changed);
/* Returns whether the first read that second_look_plan schedules is still pending. Until this read, the writer may
   still finish the file. */
bool second_look_is_first(const struct second_look *l);

struct supervised_set {
    const char *space; /* static */
    char *name;
    uint64_t key;            /* text_hash_nocase of the name */
    uint64_t file;           /* hash of the definition's file name; 0: unknown */
    uint64_t stamp;          /* stored_stamp.stamp when the set was read */
    uint64_t hash;           /* hash of the definition */
    uint64_t seen;           /* hash of the text that was read last, even if it was unusable */
    struct second_look look; /* next read while the definition is unusable */
    bool listed;             /* the current scan has found the set */
    HRESULT damage;          /* the error that was reported for the definition; S_OK: it is readable */
    struct start_rule *rules;
    size_t rule_count; /* 0 if SchedulesEnabled is off */
    uint32_t restart;  /* SETTING_Restart */
    bool stop_at_expiry;
    uint64_t samples_lost;   /* samples that the active run has lost, as last published by its host process */
    bool running;            /* the run record says that a run has begun and not ended normally */
    bool cut_off;            /* `running` was true when the service started, and no host process has been seen since */
    int64_t done;            /* FILETIME of the latest scheduled start */
    int64_t known;           /* time from which the schedules are in force; 0: before the first scan */
    int64_t due;             /* time of the next start, or NEXT_START_NEVER */
    int64_t ahead_for;       /* `due` when a host process was last prepared, even if that failed; 0: none */
    struct run_ahead *ahead; /* that host process; NULL: none */
    int64_t expiry;          /* time at which the run must be stopped, or NEXT_START_NEVER */
    int64_t reported_expiry; /* the expiry for which the run was stopped */
    uint64_t again_at;       /* clock_monotonic_ms of the next restart attempt; 0: none */
    uint64_t died;           /* clock_monotonic_ms when the set's host process last died; 0: none */
    uint32_t pause_ms;       /* pause before the next restart attempt */
};
/* Reads the definition and the run record from the store. `now`: time of the scan; 0 in the first scan, because the
   first scan cannot know how long the definition has existed. S_FALSE: the definition is unchanged, only the run record
   was read. PLA_E_DCS_NOT_FOUND. */
HRESULT supervised_set_read(struct supervised_set *s, int64_t now);
/* Works like supervised_set_read, with the text of the definition. Reads the run record only if `has_record` is
   true. */
HRESULT supervised_set_take(struct supervised_set *s, const char *xml, size_t size, bool has_record, int64_t now);
/* Call after a read with the result `hr`. Schedules the next read of an unreadable definition, and reports once that
   the set's schedule is suspended. Reports nothing while a writer may still be writing the file. `changed`: the text
   differs from that of the previous read. */
void supervised_set_look_again(struct supervised_set *s, HRESULT hr, bool changed);
/* Computes `due` and `expiry`. S_FALSE: a start was missed; *missed is its time. */
HRESULT supervised_set_plan(struct supervised_set *s, int64_t now, const struct start_zone *zone, int64_t *missed);
void supervised_set_free(struct supervised_set *s);
/* Returns whether the stored set has StopAtExpiry and schedules that expire. */
bool supervised_set_expires(const char *space, const char *name);

/* Records in the run record that the scheduled start at `due` was made. */
HRESULT supervised_set_note_start(const char *space, const char *name, int64_t due);
/* Records in the run record that the host process died. S_FALSE: the run ended normally, or no run was active. */
HRESULT supervised_set_note_death(const char *space, const char *name);

/* ---- the lock ---- */

/* There are two locks, and a file that names the process that holds them. The supervisor needs both locks. Exception:
   if a process that does not supervise holds one of the two locks, the other lock is sufficient. Without this
   exception, such a process could silently suspend all schedules. Zero-initialise. */
struct supervisor_lock {
    struct file_lock *locks[2];
    uint64_t waiting_since; /* clock_monotonic_ms since which no supervisor was seen; 0: not waiting */
    bool reported;
};
/* Tries once to become the supervisor; call it repeatedly. True: this process supervises until supervisor_lock_release.
   Writes one event if a process that does not supervise holds a lock for several seconds. */
bool supervisor_lock_try(struct supervisor_lock *l, const char *data_folder);
void supervisor_lock_release(struct supervisor_lock *l, const char *data_folder);

#endif

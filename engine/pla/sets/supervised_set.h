/* SPDX-License-Identifier: MIT */
/* ---- sets ---- */

#ifndef OPENPLA_SUPERVISED_SET_H
#define OPENPLA_SUPERVISED_SET_H

#include "engine/base/file.h"
#include "engine/pla/model.h"

/* ---- schedules: MS-PLA 3.2.4.12, behaviour 15; pure functions of rule, time and zone ---- */

#define NEXT_START_NEVER INT64_MAX

/* A time zone: minutes to add to local time to have UTC, at the UTC moment (clock_bias_minutes). */
typedef int (*zone_bias)(const void *zone, int64_t utc);
struct start_zone {
    zone_bias bias;
    const void *zone; /* passed to it */
};

/* Days are counted from 1601-01-01. */
struct start_rule {
    int64_t first_day; /* INT64_MIN: none is given */
    int64_t last_day;  /* INT64_MAX: for ever */
    int32_t second;    /* of the day */
    uint32_t days;     /* WeekDays; 0: once, on the first day */
};
struct start_rule start_rule_of(const struct set_schedule *schedule);

/* The first start after `after`, NEXT_START_NEVER if there is none; FILETIMEs in UTC. A time of day that the clocks
   leave out is taken at the moment they jump; one that they show twice counts the first time only. A day that the
   calendar of the zone leaves out has no start. A rule without days and first day never starts. */
int64_t next_start(const struct start_rule *rule, int64_t after, const struct start_zone *zone);
/* The end of the last day of the rule, local midnight; NEXT_START_NEVER without EndDate. */
int64_t start_rule_end(const struct start_rule *rule, const struct start_zone *zone);

/* From when on starts are looked for: what was due within START_GRACE before `now` is still made up, unless it has been
   started already. `done` is the moment of the latest start that was made (0: none), `known` since when the rule is in
   force. A clock that was set back by up to a day finds its starts made; by more, the earlier clock was wrong, and they
   come again. */
#define START_GRACE (300 * INT64_C(10000000))
int64_t start_base(int64_t now, int64_t done, int64_t known);

/* One set as the supervisor sees it: what its definition asks for, and what its record says. */
struct run_ahead;

extern const struct start_zone host_zone; /* this computer's */

/* When a file that cannot be used is looked at again, as somebody may still be writing it: after a second, and then
   after twice as long each time, until that is left to the look at all files. Zero-initialise. */
struct second_look {
    uint64_t at;       /* clock_monotonic_ms; 0: not by itself */
    uint32_t pause_ms; /* that lies before it; 0: nothing is amiss */
};
/* It was found so at `now`, with other content than before if `changed`. True: as it was a second ago or longer. */
bool second_look_plan(struct second_look *l, uint64_t now, bool changed);
/* Whether its writer is to be waited for: the first look is still to come. */
bool second_look_is_first(const struct second_look *l);

struct supervised_set {
    const char *space; /* static */
    char *name;
    uint64_t key;            /* text_hash_nocase of it */
    uint64_t file;           /* hash of its file's name, 0: not known */
    uint64_t stamp;          /* stored_stamp's when it was read */
    uint64_t hash;           /* of the definition */
    uint64_t seen;           /* of the text that was read last, a definition or not */
    struct second_look look; /* while it cannot be read */
    bool listed;             /* seen in the present scan */
    HRESULT damage;          /* why it cannot be read, as it was told; S_OK */
    struct start_rule *rules;
    size_t rule_count; /* 0 when SchedulesEnabled is off */
    uint32_t restart;  /* SETTING_Restart */
    bool stop_at_expiry;
    bool running;            /* by its record: a run has begun and not ended in order */
    bool cut_off;            /* that was so when the service came up, and no host was seen since */
    int64_t done;            /* FILETIME: the latest start that a schedule asked for */
    int64_t known;           /* since when its schedules are in force; 0: longer than we know */
    int64_t due;             /* the next start, NEXT_START_NEVER */
    int64_t ahead_for;       /* the start that a host was made for, or was tried to */
    struct run_ahead *ahead; /* that host; NULL: there is none */
    int64_t expiry;          /* when a run is to be stopped, NEXT_START_NEVER */
    int64_t reported_expiry; /* the expiry that was carried out */
    uint64_t again_at;       /* clock_monotonic_ms of the next try to start it again; 0: none is due */
    uint64_t died;           /* clock_monotonic_ms of its host's latest death, 0: none */
    uint32_t pause_ms;       /* before the next try */
};
/* Takes what the store has. `now`: moment of the scan, if a change is seen as it happens; 0 at the first. The same
   definition as before: only the record is read, and S_FALSE. PLA_E_DCS_NOT_FOUND. */
HRESULT supervised_set_read(struct supervised_set *s, int64_t now);
/* The same with the definition's text, and without a look for a record where there is none. */
HRESULT supervised_set_take(struct supervised_set *s, const char *xml, size_t size, bool has_record, int64_t now);
/* What is done behind such a reading, which gave `hr`: of a set that cannot be read the next look is planned, and a
   schedule that stands still for it is told of once, but not while its file is perhaps being written. `changed`: it was
   another text than at the look before. */
void supervised_set_look_again(struct supervised_set *s, HRESULT hr, bool changed);
/* Computes `due` and `expiry`. S_FALSE: a start was missed, at *missed. */
HRESULT supervised_set_plan(struct supervised_set *s, int64_t now, const struct start_zone *zone, int64_t *missed);
void supervised_set_free(struct supervised_set *s);
/* Whether the stored set asks to be stopped when its schedules expire, and they do at some time. */
bool supervised_set_expires(const char *space, const char *name);

/* Notes in the set's record that the start which a schedule asked for at that moment was made. */
HRESULT supervised_set_note_start(const char *space, const char *name, int64_t due);
/* Notes in the set's record that its host died. S_FALSE: its run has ended in order, or none was begun. */
HRESULT supervised_set_note_death(const char *space, const char *name);

/* ---- the lock ---- */

/* Two locks, and a file that names the process that has them. Both are wanted; one is enough when the other is kept by
   somebody who supervises nothing, for whom schedules would else stand still without a word. Zero-initialise. */
struct supervisor_lock {
    struct file_lock *locks[2];
    uint64_t waiting_since; /* clock_monotonic_ms: nobody was seen to supervise from then on; 0 */
    bool reported;
};
/* One try, to be repeated. True: this process supervises until supervisor_lock_release. Who keeps it out for seconds
   without supervising is told in the journal, once. */
bool supervisor_lock_try(struct supervisor_lock *l, const char *data_folder);
void supervisor_lock_release(struct supervisor_lock *l, const char *data_folder);

#endif

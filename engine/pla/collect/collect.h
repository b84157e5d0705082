/* SPDX-License-Identifier: MIT */
/* Collectors at work: one file per kind. The run layer opens them, asks those that sample for samples, looks how they
   stand when they call for it, and closes them. */
#ifndef OPENPLA_COLLECT_H
#define OPENPLA_COLLECT_H

#include "engine/logs/log.h"

struct object; /* engine/pla/model: a collector */
struct collector;

/* A value beyond its threshold, at one sample (MS-PLA 3.2.4.8), or back behind it. */
struct crossing {
    int64_t utc;         /* FILETIME, of the sample */
    const char *counter; /* path, with the instance that crossed */
    const char *value;   /* in words; "" when the counter is gone */
    const char *threshold;
    char comparison; /* '>' or '<' */
    bool clear;      /* it has come back */
};
struct alert_rules; /* alert_watch.h */

/* What a run tells a collector, and what it wants to hear from it: until it is closed. */
struct collect_context {
    const char *output_path; /* full path of the file to write, or of the first of several; "" for a kind without */
    const char *output_base; /* the folder that all it writes must lie below (file_open_below) */
    const char *description; /* of the set, "" if none */
    uint32_t segment_max_mb; /* SegmentMaxSize, 0 = none */
    bool segmented;          /* the set's Segment: a full log ends its segment even if it is circular */
    void *user;
    /* What a user must learn: a counter that is left out, a database that was away. `reason` is a failure if something
       is not collected, `subject` then what (a counter, a provider, a file), else NULL. On the run's thread only. */
    void (*note)(void *user, HRESULT reason, const char *subject, const char *text);
    /* A threshold was crossed. What the run has to say of it, from memory_alloc, for the caller to free; NULL: nothing.
       On the run's thread only, and it waits for nobody. */
    char *(*alert)(void *user, const struct crossing *crossing);
    /* When it is one, by the present definition of the set. On the run's thread only. */
    void (*alert_rules)(void *user, struct alert_rules *out);
    /* From any thread: how the collector stands may have changed, so that it is to be polled. */
    void (*wake)(void *user);
    /* Before the collector makes what outlives this process if it is killed: a line by which collector_release_held
       finds and ends it. On the run's thread only. A failure fails the open. */
    HRESULT (*hold)(void *user, const char *line);
    /* Before it makes a file beside output_path, in that one's `folder` or below it; `base` is output_base. From any
       thread, also of one that outlives the collector. */
    void (*made)(const char *base, const char *folder, const char *path);
    /* This collector in the segment before, completed: the new one takes over its counters, so that rates go on from
       its last sample, or its session, which loses no event. Where the kind says that it follows changed definitions it
       may have been one of another definition, and still be at work. It is closed afterwards. NULL: there is none. */
    struct collector *previous;
    /* A text log has the columns of the instances that its wildcards had at its beginning. When new ones come the
       collector asks for a new segment, at most every so many seconds. 0: never. Other formats take instances in. */
    uint32_t new_instances_seconds;
    /* The same for counters of other computers that could not be reached when the log began, in every format. 0: 60. */
    uint32_t other_computers_seconds;
    uint32_t query_timeout_seconds; /* a query that gives nothing for so long is given up; 0: 60 */
};

/* What the collectors of a kind write. */
enum collector_output { WRITES_NOTHING, WRITES_FILE, WRITES_FILES };
/* When a collector counts as complete: MS-PLA 3.2.4.1, StopOnCompletion. */
enum collector_end {
    ENDS_WITH_RUN, /* it is complete at once: alert, API */
    ENDS_AT_LIMIT, /* when its first segment is over, at once without a limit of one: counters, traces */
    ENDS_BY_ITSELF /* when all is collected: configuration */
};
/* How a collector stands, the most urgent of what holds. */
enum collector_standing {
    COLLECTOR_GOES_ON,
    COLLECTOR_WANTS_SEGMENT, /* the next data should go into a new segment: it is to have more columns */
    COLLECTOR_AT_LIMIT,      /* a limit of its own is reached, with what it has written */
    COLLECTOR_DONE,          /* all is collected */
    COLLECTOR_FAILED         /* it cannot go on */
};
/* What a collector has done since it was opened; each kind counts what it has, the rest is 0. */
struct collector_figures {
    uint64_t samples;      /* written */
    uint64_t events_lost;  /* MS-PLA 3.2.4.9, as the four after it */
    uint64_t buffers_lost; /* BuffersLost */
    uint64_t real_time_buffers_lost;
    uint64_t buffers_written;
    uint64_t free_buffers;
    uint64_t files_copied;
};

/* Of the model, before it is opened. */
enum collector_output collector_output(struct object *collector);
/* Whether its output, or a file of what it writes in place of that, is there already. */
bool collector_file_is_there(struct object *collector, const char *file);
/* Whether there may be several, whose names have numbers (run_files_add). */
bool collector_writes_parts(struct object *collector, const char *file);
/* All of them, of one that is not at work. */
void collector_delete_file(struct object *collector, const char *base, const char *file);
/* ERROR_NOT_SUPPORTED's HRESULT, naming it: no collector of its kind runs. Such a one can be opened, and does nothing.
 */
HRESULT collector_runs(struct object *collector);
/* What an open would fail with that can be told before: so that nothing has changed of the collectors beside it. */
HRESULT collector_check(struct object *collector);
/* Opens the collector of a set for one segment: adds its counters, creates its file. The model object is only read
   here. A counter that cannot be added is noted and left out, and so is a collector of a kind that does not run; a file
   in the way is ERROR_ALREADY_EXISTS's HRESULT unless LogOverwrite or LogAppend is set. */
HRESULT collector_open(struct object *collector, const struct collect_context *context, struct collector **out);
/* For a process that is made ahead of its run: loads what the open and the first sample will need, and lets go of it.
   Writes nothing, and what fails is left to the open to tell. */
void collector_rehearse(struct object *collector);
/* Milliseconds between samples; 0: it takes none. 64 bits: SampleInterval has no maximum below 2^32 s. */
uint64_t collector_interval_ms(const struct collector *c);
/* Milliseconds between polls that it wants though it has not called; 0: none. It may change with each poll. */
uint64_t collector_poll_ms(const struct collector *c);
/* When it is complete; `limited`: the set has a limit of its segments. ENDS_AT_LIMIT only with a limit. */
enum collector_end collector_end(const struct collector *c, bool limited);
/* Takes and writes one sample, and flushes. S_FALSE: the file has no room for it; it belongs into the next segment.
   A failure (full disk) leaves the log whole; the caller reports it and goes on. */
HRESULT collector_sample(struct collector *c);
/* After a sample, and when it has called for it. *reason, with its text: why it has failed, else S_OK. */
enum collector_standing collector_poll(struct collector *c, HRESULT *reason);
void collector_figures(struct collector *c, struct collector_figures *out);
/* Writes what it has to the disk. */
HRESULT collector_flush(struct collector *c);
/* Completes the file, unless it is a database's, which a next segment goes on with; after that it can only be a
   `previous`, and be closed. */
HRESULT collector_complete(struct collector *c);
HRESULT collector_close(struct collector *c); /* completes the file; frees in any case; NULL is allowed */

/* ---- another definition while it is at work ---- */

/* Goes on as the model, a collector of the same name, says, in the same files. S_FALSE: it cannot, and is as it was, as
   after a failure: it is to be opened anew. */
HRESULT collector_update(struct collector *c, struct object *model);
/* Whether one of the model can be opened while this one is at work, as its `previous` or beside it. */
bool collector_follows(const struct collector *c, struct object *model);
/* Of the same kind, so that it may be the previous one of the model although its definition is another. */
bool collector_hands_over(const struct collector *c, struct object *model);
/* Whether it takes over what is at work when it is opened with a `previous`: the last to be opened are those. */
bool collector_takes_over(struct object *collector);
/* The opening of a segment is undone: what the collector took over goes back to its `previous`, which goes on with it
   as it was asked to. True: its file is written to by that one, and has to stay. It is to be closed all the same. */
bool collector_hand_back(struct collector *c);
/* Ends what a process that was killed left behind: `line` is what it gave to context->hold. */
HRESULT collector_release_held(const char *line);

#endif

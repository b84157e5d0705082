/* SPDX-License-Identifier: MIT */
/* Collectors. A run opens the collectors of its set, takes their samples, polls each one on request and when its poll
   time has come, and closes them. Each kind of collector is implemented in its own file. */
#ifndef OPENPLA_COLLECT_H
#define OPENPLA_COLLECT_H

#include "engine/logs/log.h"

struct object; /* engine/pla/model: the collector object */
struct collector;

/* A value that crossed its threshold in one sample (MS-PLA 3.2.4.8), or that has returned across it. */
struct crossing {
    int64_t utc;         /* FILETIME of the sample */
    const char *counter; /* counter path, with the instance that crossed */
    const char *value;   /* formatted; "" if the counter no longer exists */
    const char *threshold;
    char comparison; /* '>' or '<' */
    bool clear;      /* the value has returned */
};
struct alert_rules; /* alert_watch.h */

/* The data and callbacks that a run passes to collector_open. The strings are borrowed during the call of
   collector_open; `user` and the callbacks are valid until the collector is closed. */
struct collect_context {
    const char *output_path; /* full path of the (first) file to write; "" for a kind without a file */
    const char *output_base; /* folder that contains everything the collector writes (file_open_below) */
    const char *description; /* the set's Description, or "" */
    uint32_t segment_max_mb; /* SegmentMaxSize, 0 = none */
    bool segmented;          /* the set's Segment: when a log is full, the segment ends, even if the log is circular */
    void *user;
    /* Adds a note for users to the run's message, for example that a counter was dropped or a database was unavailable.
       If something is not collected, `reason` is a failure and `subject` names the counter, event provider or file.
       Otherwise `reason` is S_OK and `subject` is NULL. Call on the run's thread only. */
    void (*note)(void *user, HRESULT reason, const char *subject, const char *text);
    /* Reports a crossing; the run then performs the alert's actions. Returns the text of the alert's message, from
       memory_alloc; NULL: none. Call on the run's thread only. Does not block. */
    char *(*alert)(void *user, const struct crossing *crossing);
    /* Returns the alert rules of the set's current definition. Call on the run's thread only. */
    void (*alert_rules)(void *user, struct alert_rules *out);
    /* Requests a poll because the collector's state may have changed. May be called on any thread. */
    void (*wake)(void *user);
    /* Records a resource that remains if this process is killed, so that collector_release_held can find and release it
       by `line`. Call before creating the resource, on the run's thread only. If `hold` fails, collector_open must
       fail. */
    HRESULT (*hold)(void *user, const char *line);
    /* Registers a file that is written in addition to output_path. The file is in `folder` or below it. Call before
       creating the file. `base` is output_base. May be called on any thread, even on one that outlives the
       collector. */
    void (*made)(const char *base, const char *folder, const char *path);
    /* The completed collector of the previous segment; NULL: none. The new collector takes over its counters, so that
       rates continue, or its session, so that no event is lost. Some kinds of collector can change to another
       definition while they are active (kind.h). For these kinds, `previous` may have another definition and still be
       active. The run closes `previous` afterwards. */
    struct collector *previous;
    /* A text log has columns only for the instances that its wildcards matched when it was created. When new instances
       appear, the collector requests a new segment, but not within this many seconds after the collector was opened. 0:
       never. Other formats add instances to the log. */
    uint32_t new_instances_seconds;
    /* Like new_instances_seconds, but for counters of computers that could not be reached when the log was created, and
       for all log formats. 0: 60 s. */
    uint32_t other_computers_seconds;
    bool attach;                    /* an API trace includes processes that are already running */
    uint32_t query_timeout_seconds; /* seconds without results after which a query is abandoned; 0: 60 */
};

/* What a collector of this kind writes. */
enum collector_output { WRITES_NOTHING, WRITES_FILE, WRITES_FILES };
/* The event that makes a collector complete (MS-PLA 3.2.4.1, StopOnCompletion). */
enum collector_end {
    ENDS_WITH_RUN, /* an alert or API trace is complete immediately */
    ENDS_AT_LIMIT, /* counters and traces are complete when the first segment reaches a limit; without a limit,
                      immediately */
    ENDS_BY_ITSELF /* a configuration, or an alert with a single sample, is complete when everything is collected */
};
/* The state of a collector: the most urgent one that applies. */
enum collector_standing {
    COLLECTOR_GOES_ON,
    COLLECTOR_WANTS_SEGMENT, /* the next samples need a new segment, whose log has more columns */
    COLLECTOR_AT_LIMIT,      /* a limit of the collector is reached */
    COLLECTOR_DONE,          /* everything is collected */
    COLLECTOR_FAILED         /* it cannot continue */
};
/* Statistics of a collector since it was opened; values that do not apply to its kind are 0. */
struct collector_figures {
    uint64_t samples;      /* samples written */
    uint64_t events_lost;  /* from here to free_buffers: MS-PLA 3.2.4.9 */
    uint64_t buffers_lost; /* BuffersLost */
    uint64_t real_time_buffers_lost;
    uint64_t buffers_written;
    uint64_t free_buffers;
    uint64_t files_copied;
    uint64_t api_processes, api_functions, api_calls; /* traced processes, hooked functions, logged calls */
};

/* Returns what the collector writes. May be called before the collector is opened. */
enum collector_output collector_output(struct object *collector);
/* Returns whether an output file exists: either `file`, or a file that the collector writes instead of it. */
bool collector_file_is_there(struct object *collector, const char *file);
/* Returns whether the collector may write several numbered files instead of `file` (run_files_add). */
bool collector_writes_parts(struct object *collector, const char *file);
/* Deletes all output files of a collector that is not active. */
void collector_delete_file(struct object *collector, const char *base, const char *file);
/* Checks whether the collector can run. Fails if this host OS does not support the collector's kind
   (HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED)), or if the collector has nothing to collect. The message names the
   collector. Opening such a collector succeeds and collects nothing. */
HRESULT collector_runs(struct object *collector);
/* Checks everything that can be checked without opening the collector. Call it for all collectors before opening the
   first one. */
HRESULT collector_check(struct object *collector);
/* Opens a collector for one segment: adds its counters, creates its file. Only reads the object. Counters that cannot
   be added, and collectors of an unsupported kind, are skipped and noted. HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) if
   the file exists, unless LogOverwrite or LogAppend is set. */
HRESULT collector_open(struct object *collector, const struct collect_context *context, struct collector **out);
/* Warms up a host process that was prepared ahead of its run: loads everything that collector_open and the first sample
   need, and then releases everything. Writes nothing, and ignores failures, because collector_open reports them. */
void collector_rehearse(struct object *collector);
/* Returns the milliseconds between samples; 0: the collector takes no samples. 64 bits, because SampleInterval can be
   up to 2^32 s. */
uint64_t collector_interval_ms(const struct collector *c);
/* Returns the milliseconds between regular polls; 0: the collector is polled only after samples and on request. Can
   change at each poll. */
uint64_t collector_poll_ms(const struct collector *c);
/* Returns when the collector is complete. `limited`: the set limits its segments. Returns ENDS_AT_LIMIT only if the set
   or the collector has a limit. */
enum collector_end collector_end(const struct collector *c, bool limited);
/* Takes, writes and flushes one sample. S_FALSE: the file is full, the sample belongs to the next segment. After a
   failure, for example on a full disk, the log is intact; the caller reports the failure and continues. */
HRESULT collector_sample(struct collector *c);
/* Returns the collector's state. Call it after each sample, when the collector requests a poll, and every
   collector_poll_ms milliseconds. *reason is the error, with its text, if the collector has failed; otherwise S_OK. */
enum collector_standing collector_poll(struct collector *c, HRESULT *reason);
void collector_figures(struct collector *c, struct collector_figures *out);
/* Flushes the collector's data to disk. */
HRESULT collector_flush(struct collector *c);
/* Completes the file. A log in a database is not completed, because the next segment continues it. Afterwards the
   collector can only be used as `previous`, and closed. */
HRESULT collector_complete(struct collector *c);
HRESULT collector_close(struct collector *c); /* completes the file; always frees; NULL is allowed */

/* ---- changing the definition of an active collector ---- */

/* Changes the open collector to the model, a collector object of the same name; the files stay the same. S_FALSE: the
   change is not possible, and the collector must be reopened. S_FALSE and a failure leave the collector unchanged. */
HRESULT collector_update(struct collector *c, struct object *model);
/* Returns whether the model can be opened while this collector is active, either with this collector as its `previous`
   or beside it. */
bool collector_follows(const struct collector *c, struct object *model);
/* Returns whether a collector for the model can be opened with this collector as its `previous` although the two
   definitions differ. Both must be of the same kind, and the kind must support changed definitions (kind.h). */
bool collector_hands_over(const struct collector *c, struct object *model);
/* Returns whether the collector takes over an active `previous` when it is opened. Open such collectors last. */
bool collector_takes_over(struct object *collector);
/* Undoes the takeover when the segment cannot be opened: returns the session to the `previous` collector, which
   continues with the session. True: `previous` now writes to this collector's file, which must not be deleted. Close
   this collector in any case. */
bool collector_hand_back(struct collector *c);
/* Releases a resource that a killed process left. `line` was passed to collect_context.hold. S_FALSE: no kind knows the
   line. */
HRESULT collector_release_held(const char *line);

#endif

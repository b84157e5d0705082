/* SPDX-License-Identifier: MIT */
/* Collectors: one file per kind. The run opens them, samples those that take samples, polls them when they
   request it, and closes them. */
#ifndef OPENPLA_COLLECT_H
#define OPENPLA_COLLECT_H

#include "engine/logs/log.h"

struct object; /* engine/pla/model: the collector object */
struct collector;

/* A value that crossed its threshold in one sample (MS-PLA 3.2.4.8), or returned. */
struct crossing {
    int64_t utc;         /* FILETIME of the sample */
    const char *counter; /* path, with the instance that crossed */
    const char *value;   /* formatted; "" if the counter no longer exists */
    const char *threshold;
    char comparison; /* '>' or '<' */
    bool clear;      /* the value has returned */
};
struct alert_rules; /* alert_watch.h */

/* What a run passes to a collector, valid until it is closed. */
struct collect_context {
    const char
        *output_path; /* full path of the file to write, or of the first of several; "" for a kind without a file */
    const char *output_base; /* folder that contains everything the collector writes (file_open_below) */
    const char *description; /* of the set, or "" */
    uint32_t segment_max_mb; /* SegmentMaxSize, 0 = none */
    bool segmented;          /* the set's Segment: a full log ends its segment even if it is circular */
    void *user;
    /* Reports something to users: a counter was dropped, a database was unavailable. `reason` is a failure if something
       is not collected; `subject` is then the counter, event provider or file, else NULL. Call on the run's thread
       only. */
    void (*note)(void *user, HRESULT reason, const char *subject, const char *text);
    /* A threshold was crossed. Returns the run's message, from memory_alloc, to be freed by the caller; NULL: none.
       Call on the run's thread only. Does not block. */
    char *(*alert)(void *user, const struct crossing *crossing);
    /* Returns the rules of the set's current definition. Call on the run's thread only. */
    void (*alert_rules)(void *user, struct alert_rules *out);
    /* Requests a poll because the collector's state may have changed. May be called on any thread. */
    void (*wake)(void *user);
    /* Call before creating anything that outlives this process if it is killed: a line from which
       collector_release_held finds and releases it. Call on the run's thread only. If it fails, the open must fail. */
    HRESULT (*hold)(void *user, const char *line);
    /* Call before creating a file beside output_path, in its `folder` or below; `base` is output_base. May be called
       on any thread, also one that outlives the collector. */
    void (*made)(const char *base, const char *folder, const char *path);
    /* The completed collector of the previous segment. The new one takes over its counters, so that rates continue,
       or its session, which loses no event. For kinds that follow changed definitions it may be from another
       definition and still active. It is closed afterwards. NULL: none. */
    struct collector *previous;
    /* A text log has columns for the instances that its wildcards matched when it was created. If new ones appear,
       the collector requests a new segment, at most once per this many seconds. 0: never. Other formats add
       instances. */
    uint32_t new_instances_seconds;
    /* The same for counters of other computers that could not be reached when the log was created, in every format.
       0: 60. */
    uint32_t other_computers_seconds;
    bool attach;                    /* an API trace includes processes that run already */
    uint32_t query_timeout_seconds; /* a query is abandoned after so long without results; 0: 60 */
};

/* What a kind of collector writes. */
enum collector_output { WRITES_NOTHING, WRITES_FILE, WRITES_FILES };
/* When a collector is complete (MS-PLA 3.2.4.1, StopOnCompletion). */
enum collector_end {
    ENDS_WITH_RUN, /* at once: alert, API */
    ENDS_AT_LIMIT, /* when its first segment ends; at once without a limit: counters, traces */
    ENDS_BY_ITSELF /* when everything is collected: configuration */
};
/* A collector's state; the most urgent one that applies. */
enum collector_standing {
    COLLECTOR_GOES_ON,
    COLLECTOR_WANTS_SEGMENT, /* the next data should go to a new segment, which has more columns */
    COLLECTOR_AT_LIMIT,      /* a limit of the collector is reached */
    COLLECTOR_DONE,          /* everything is collected */
    COLLECTOR_FAILED         /* it cannot continue */
};
/* Statistics of a collector since it was opened; values that do not apply to its kind are 0. */
struct collector_figures {
    uint64_t samples;      /* written */
    uint64_t events_lost;  /* MS-PLA 3.2.4.9, like the following four */
    uint64_t buffers_lost; /* BuffersLost */
    uint64_t real_time_buffers_lost;
    uint64_t buffers_written;
    uint64_t free_buffers;
    uint64_t files_copied;
    uint64_t api_processes, api_functions, api_calls; /* traced processes, hooked functions, logged calls */
};

/* May be called before the collector is opened. */
enum collector_output collector_output(struct object *collector);
/* Whether its output file, or a file that it writes instead, exists. */
bool collector_file_is_there(struct object *collector, const char *file);
/* Whether it may write several numbered files (run_files_add). */
bool collector_writes_parts(struct object *collector, const char *file);
/* Deletes all files of a collector that is not active. */
void collector_delete_file(struct object *collector, const char *base, const char *file);
/* Fails, naming it, if this host does not run its kind (HRESULT of ERROR_NOT_SUPPORTED) or the collector has nothing to
   run. Opening such a collector succeeds and does nothing. */
HRESULT collector_runs(struct object *collector);
/* Checks what can fail without opening it, before other collectors have changed anything. */
HRESULT collector_check(struct object *collector);
/* Opens a collector for one segment: adds its counters, creates its file. Only reads the object. Counters that
   cannot be added are noted and skipped, and so is a collector of an unsupported kind. HRESULT of
   ERROR_ALREADY_EXISTS if the file exists, unless LogOverwrite or LogAppend is set. */
HRESULT collector_open(struct object *collector, const struct collect_context *context, struct collector **out);
/* For a process prepared ahead of its run: loads what the open and the first sample will need, and releases it.
   Writes nothing and ignores failures: collector_open reports them. */
void collector_rehearse(struct object *collector);
/* Milliseconds between samples; 0: it takes none. 64 bits, because SampleInterval can be up to 2^32 s. */
uint64_t collector_interval_ms(const struct collector *c);
/* Milliseconds between polls that nobody requests; 0: none. May change with each poll. */
uint64_t collector_poll_ms(const struct collector *c);
/* When it is complete; `limited`: the set limits its segments. ENDS_AT_LIMIT only with a limit. */
enum collector_end collector_end(const struct collector *c, bool limited);
/* Takes, writes and flushes one sample. S_FALSE: the file has no room; the sample belongs to the next segment. After
   a failure (full disk) the log is intact; the caller reports it and continues. */
HRESULT collector_sample(struct collector *c);
/* Call after a sample, and when the collector has requested it. *reason, with its error text: why it failed, else S_OK.
 */
enum collector_standing collector_poll(struct collector *c, HRESULT *reason);
void collector_figures(struct collector *c, struct collector_figures *out);
/* Flushes its data to disk. */
HRESULT collector_flush(struct collector *c);
/* Completes the file (except a database, which the next segment continues). Afterwards it can only be used as
   `previous`, and closed. */
HRESULT collector_complete(struct collector *c);
HRESULT collector_close(struct collector *c); /* completes the file; always frees; NULL is allowed */

/* ---- changing the definition of an active collector ---- */

/* Applies the model, a collector of the same name, using the same files. S_FALSE: not possible, the collector is
   unchanged and must be reopened; unchanged also on failure. */
HRESULT collector_update(struct collector *c, struct object *model);
/* Whether a collector of the model can be opened while this one is active, as its `previous` or beside it. */
bool collector_follows(const struct collector *c, struct object *model);
/* Whether it may be the `previous` of the model although the definitions differ: both are of one kind that supports
   it. */
bool collector_hands_over(const struct collector *c, struct object *model);
/* Whether it takes over an active `previous` when opened; such collectors are opened last. */
bool collector_takes_over(struct object *collector);
/* Undoes the opening of a segment: what the collector took over returns to its `previous`, which continues with it
   if possible. True: that one writes to this collector's file, which must stay. Close this collector in any case. */
bool collector_hand_back(struct collector *c);
/* Releases what a killed process left; `line` is from context->hold. */
HRESULT collector_release_held(const char *line);

#endif

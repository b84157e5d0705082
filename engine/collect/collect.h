/* SPDX-License-Identifier: MIT */
/* Collectors at work: one file per kind. The run layer opens them, asks for samples, and closes them. */
#ifndef OPENPLA_COLLECT_H
#define OPENPLA_COLLECT_H

#include "engine/log/log.h"

struct object; /* engine/model: a collector */

/* What a run tells its collectors. */
struct collect_context {
    const char *output_path; /* full path of the file to write */
    const char *description; /* of the set, "" if none */
    uint32_t segment_max_mb; /* SegmentMaxSize, 0 = none */
    bool segmented;          /* the set's Segment: a full log ends its segment even if it is circular */
    /* Called for everything a user must learn: a dropped counter, a lost sample. `subject` is the counter or file. */
    void (*report)(void *user, HRESULT reason, const char *subject, const char *text);
    void *user;
    /* This collector in the segment before, completed: the new one takes over its counters, so that rates go on from
       its last sample. It is closed afterwards. NULL: there is none. */
    struct collector *previous;
    /* A text log has the columns of the instances that its wildcards had at its beginning. When new ones come the
       collector asks for a new segment, at most every so many seconds. 0: never. Other formats take instances in. */
    uint32_t new_instances_seconds;
};

struct collector;
/* Opens a collector of the set for one run: adds its counters, creates its file. The model object is only read here.
   A counter that cannot be added is reported and left out; a file in the way is ERROR_ALREADY_EXISTS's HRESULT unless
   LogOverwrite or LogAppend is set. */
HRESULT collector_open(struct object *collector, const struct collect_context *context, struct collector **out);
/* Milliseconds between samples; 0: the kind takes none. 64 bits: SampleInterval has no maximum below 2^32 s. */
uint64_t collector_interval_ms(const struct collector *c);
/* Samples written since the collector was opened. */
uint64_t collector_records(const struct collector *c);
/* Takes and writes one sample, and flushes. S_FALSE: a limit of the collector is reached; collector_records tells
   whether this sample still went into the file. A failure (full disk) leaves the log whole; the caller reports it and
   goes on. */
HRESULT collector_sample(struct collector *c);
/* Writes what it has to the disk. */
HRESULT collector_flush(struct collector *c);
/* Of a kind that comes to an end by itself: everything is collected. */
bool collector_done(const struct collector *c);
/* After a sample: the next one should go into a new segment (collect_context.new_instances_seconds). */
bool collector_asks_for_segment(const struct collector *c);
/* Completes the file, unless it is a database's, which a next segment goes on with; after that it can only be a
   `previous`, and be closed. */
HRESULT collector_complete(struct collector *c);
/* What befell the collector's log although no sample failed, as log_writer_remark tells it. */
HRESULT collector_remark(struct collector *c, char **text);
HRESULT collector_close(struct collector *c); /* completes the file; frees in any case; NULL is allowed */

#endif

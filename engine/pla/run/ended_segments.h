/* SPDX-License-Identifier: MIT */
/* The segments of a run that have ended, in line for what comes after them, the data manager's work and then the set's
   task, which a thread of its own does, so that the samples of the next segment do not wait for it. */
#ifndef OPENPLA_ENDED_SEGMENTS_H
#define OPENPLA_ENDED_SEGMENTS_H

#include "engine/pla/run/segment.h"

struct ended_segment {
    const char *space, *name;       /* of the set, borrowed */
    struct data_collector_set *set; /* a reference: the definition that the segment ran by; the run may still use it */
    uint32_t serial_number;
    char *location;
    struct texts files;        /* of its members, "" for one without */
    bool managed;              /* the data manager has work with it */
    bool reported;             /* a report is among that */
    bool running;              /* the set runs on: it is no stop */
    struct error_kept failure; /* of the work, if it fails */
    struct ended_segment *next;
};
/* What is known of an open segment of the set; its files are complete, or will be before it is put in line. */
HRESULT ended_segment_create(const struct run_set *r, const struct segment *s, struct ended_segment **out);
void ended_segment_free(struct ended_segment *e); /* NULL is allowed */

struct ended_segments;
/* `section` is woken after each segment's work, and for each note. Both arguments are borrowed; `work` may be NULL. */
HRESULT ended_segments_create(run_compile work, struct run_section *section, struct ended_segments **out);
/* Takes over `e` on success. The first one starts the thread: its errors. */
HRESULT ended_segments_add(struct ended_segments *q, struct ended_segment *e);
/* The next segment whose work is done, for the caller to free; NULL: none. */
struct ended_segment *ended_segments_take(struct ended_segments *q);
/* What a task has failed with, since the last call; false: nothing. From any thread. */
bool ended_segments_note(struct ended_segments *q, struct error_kept *out);
/* Until the work of all is done, and no task is at work that is waited for. */
void ended_segments_wait(struct ended_segments *q);
/* Nothing is in line any more. NULL is allowed. */
void ended_segments_close(struct ended_segments *q);

#endif

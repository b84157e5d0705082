/* SPDX-License-Identifier: MIT */
/* The segments of a run: members, folders and files, and the work after the end of each. A run without limits has
   one segment. */
#ifndef OPENPLA_SEGMENT_H
#define OPENPLA_SEGMENT_H

#include "engine/pla/run/member.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/task.h"

/* ---- segments ---- */

struct segment {
    uint32_t serial_number;
    char *root;     /* RootPath, expanded in the host process: nothing is written outside (DECISIONS 36) */
    char *location; /* the folder, below root */
    struct member *members;
    size_t count;                                /* number of the set's collectors when it was opened */
    const struct data_collector_set *definition; /* the definition it was opened with; borrowed, only for comparison */
};
/* Reserves the next serial number, creates the folder, opens the collectors, and writes the run record before anything
   is sampled; for the first segment of a run, in one write before anything is opened. On failure no file, folder or
   serial number is used. `follows`: it continues a run. Fails as output_check_root, output_file and collector_open do;
   HRESULT of ERROR_ALREADY_EXISTS (file), E_ACCESSDENIED.

   previous: the segment before; may be NULL. With the same definition it must have been completed; its rates and
   grids continue, and the caller must close it in any case. With another definition its collectors may still be
   active, and continue if the new segment cannot be opened. Without `previous`, the grids are zero: nothing is due. */
HRESULT segment_open(struct run_set *r, bool follows, struct segment *previous, struct segment *out);
/* Completes the files; the collectors keep everything that the next segment needs. Failures go to the diagnostics. */
void segment_complete(struct segment *s);
/* Completes the files and closes the collectors. Failures also go to the run's diagnostics. The set may already have
   another definition. */
HRESULT segment_close(struct segment *s);
void segment_free(struct segment *s); /* frees a closed segment, or one that was never opened */

/* ---- ended segments ---- */

/* Ended segments wait in a queue for the data manager and the set's task. A separate thread processes them, so that
   samples of the next segment are not delayed. */

struct ended_segment {
    const char *space, *name;       /* of the set, borrowed */
    struct data_collector_set *set; /* a reference: the definition of the segment, which the run may still use */
    uint32_t serial_number;
    char *location;
    struct texts files;        /* of its members, "" for a member without a file */
    bool managed;              /* the data manager has work to do */
    bool reported;             /* that includes a report */
    bool running;              /* the run continues */
    struct error_kept failure; /* of the processing */
    struct ended_segment *next;
};
/* Copies the data of an open segment; its files must be complete before it is queued. */
HRESULT ended_segment_create(const struct run_set *r, const struct segment *s, struct ended_segment **out);
void ended_segment_free(struct ended_segment *e); /* NULL is allowed */

struct ended_segments;
/* `section` is signalled after each segment and for each note. Both arguments are borrowed; `work` may be NULL. */
HRESULT ended_segments_create(run_compile work, struct run_section *section, struct ended_segments **out);
/* Takes over `e` on success. The first call starts the thread and returns its errors. */
HRESULT ended_segments_add(struct ended_segments *q, struct ended_segment *e);
/* Returns the next processed segment, to be freed by the caller; NULL: none. */
struct ended_segment *ended_segments_take(struct ended_segments *q);
/* Returns a failure of a task since the last call; false: none. From any thread. */
bool ended_segments_note(struct ended_segments *q, struct error_kept *out);
/* Waits until all segments are processed and no awaited task is running. */
void ended_segments_wait(struct ended_segments *q);
/* The queue must be empty. NULL is allowed. */
void ended_segments_close(struct ended_segments *q);

/* ---- tasks of segments ---- */

/* A set starts a task for each segment (MS-PLA 3.2.4.1, Task), on the thread of ended segments. Only the set's stop
   waits for tasks, at most OpenPLA.TaskTimeout. */

#define SEGMENT_TASKS_MAX    32 /* running at the same time; no more are started, because they do not seem to end */
#define TASK_TIMEOUT_USUAL   60 /* seconds */
#define SEGMENT_TASK_LOOK_MS 100

struct segment_task {
    struct task_instance *instance;
    char *name, *location; /* of the task; of the segment */
    uint64_t since;        /* clock_monotonic_ms */
    uint32_t timeout_seconds;
};
/* The running tasks. Zero-initialise, except the borrowed members. */
struct segment_tasks {
    const char *space, *set; /* borrowed */
    /* Reports what the run's message must contain; called on any thread. */
    void (*note)(void *user, HRESULT hr, const char *text);
    void *user;
    struct segment_task at_work[SEGMENT_TASKS_MAX];
    size_t count;
};
/* Adds an item to `issues` (a plaValidation map) if Task is not a valid task name. */
HRESULT segment_tasks_validate(struct object *set, struct object *issues);
/* Starts the task of the segment's definition. Writes event 1007, or 1008 with a note. */
void segment_tasks_start(struct segment_tasks *t, const struct ended_segment *e);
/* Removes tasks that have exited or exceeded their timeout; event 1008 and a note for one that failed or hangs,
   which keeps running. False: no task is running. */
bool segment_tasks_look(struct segment_tasks *t);
void segment_tasks_release(struct segment_tasks *t); /* releases all without waiting */

/* ---- output: folders and files of a run ---- */

/* Checks that RootPath exists, or creates it (set_creates_root): HRESULT of ERROR_PATH_NOT_FOUND. */
HRESULT output_check_root(const struct data_collector_set *set);
/* MS-PLA 3.2.4.2: checks the data manager's conditions before a start (behaviour 14). Before failing, frees run
   folders of the set by its policy. PLA_E_NO_MIN_DISK, PLA_E_TOO_MANY_FOLDERS. */
HRESULT output_check_resources(const struct run_set *r);
/* The file of a collector in `folder`, from memory_alloc. `follows`: the segment continues a run, so the serial
   number, or the next one that is unused, is added if a file of that name exists that the pattern cannot avoid
   (behaviour 5). An API trace always has it added then. HRESULT of ERROR_ALREADY_EXISTS: no number is unused. */
HRESULT output_file(struct object *collector, const char *folder, const struct name_context *context, bool follows,
                    char **out);

#endif

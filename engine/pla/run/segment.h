/* SPDX-License-Identifier: MIT */
/* The segments of a run: their members, folders and files, and the work after the end of each segment. A run without
   limits has one segment. */
#ifndef OPENPLA_SEGMENT_H
#define OPENPLA_SEGMENT_H

#include "engine/pla/run/member.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/task.h"

/* ---- segments ---- */

struct segment {
    uint32_t serial_number;
    char *root;     /* RootPath, expanded in the host process; nothing is written outside of it (DECISIONS 36) */
    char *location; /* output folder, below root */
    struct member *members;
    size_t count;                                /* number of the set's collectors when the segment was opened */
    const struct data_collector_set *definition; /* definition when the segment was opened; borrowed, only compared */
};
/* Reserves the next serial number, creates the folder, opens the collectors, and writes the run record before the first
   sample. For the first segment of a run, the record is complete in one write before any collector is opened. On
   failure removes the files and the folder that it has created, and releases the serial number. Exception: an active
   collector of `previous` whose session was taken over continues with the new file; that file and its folder remain.
   `follows`: the segment continues a run. Fails as output_check_root, output_file and collector_open do. Also fails
   with HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) if a file already exists, and with E_ACCESSDENIED.

   `previous`: the previous segment, or NULL. If `previous` has the same definition, the caller must have completed
   `previous` and must close it in any case; the rates and grids of `previous` continue. If `previous` has another
   definition, its collectors may be active; these collectors continue if the new segment cannot be opened. Without
   `previous`, the grids are zero, so no tick is due. */
HRESULT segment_open(struct run_set *r, bool follows, struct segment *previous, struct segment *out);
/* Completes the files. The collectors keep everything that the next segment needs. Adds failures to the run's
   diagnostics. */
void segment_complete(struct segment *s);
/* Completes the files and closes the collectors. Also adds failures to the run's diagnostics. The set may already have
   another definition. */
HRESULT segment_close(struct segment *s);
void segment_free(struct segment *s); /* frees a closed segment, or one that was never opened */

/* ---- ended segments ---- */

/* Ended segments wait in a queue for the data manager and the set's task. A separate thread processes them, so that
   samples of the next segment are not delayed. */

struct ended_segment {
    const char *space, *name;       /* namespace and name of the set; borrowed */
    struct data_collector_set *set; /* a reference to the segment's definition, which the run may also use */
    uint32_t serial_number;
    char *location;
    struct texts files;        /* files of the members, "" for a member without a file */
    bool managed;              /* the data manager has work to do */
    bool reported;             /* the data manager creates a report */
    bool running;              /* the run continues */
    struct error_kept failure; /* failure of the processing */
    struct ended_segment *next;
};
/* Copies the data of an open segment; its files must be complete before it is queued. */
HRESULT ended_segment_create(const struct run_set *r, const struct segment *s, struct ended_segment **out);
void ended_segment_free(struct ended_segment *e); /* NULL is allowed */

struct ended_segments;
/* Creates the queue. `section` is signalled after each processed segment and for each note. Both arguments are
   borrowed; `work` may be NULL. */
HRESULT ended_segments_create(run_compile work, struct run_section *section, struct ended_segments **out);
/* Queues a segment; takes ownership of `e` on success. The first call starts the thread, and fails if the thread cannot
   be started. */
HRESULT ended_segments_add(struct ended_segments *q, struct ended_segment *e);
/* Returns the next processed segment, which the caller must free; NULL: none. */
struct ended_segment *ended_segments_take(struct ended_segments *q);
/* Returns the next failure of a task; false: none. From any thread. */
bool ended_segments_note(struct ended_segments *q, struct error_kept *out);
/* Waits until all segments are processed, and all tasks have exited or exceeded their timeout. */
void ended_segments_wait(struct ended_segments *q);
/* Stops the thread and frees the queue, which must be empty. NULL is allowed. */
void ended_segments_close(struct ended_segments *q);

/* ---- tasks of segments ---- */

/* A set starts a task for each ended segment (MS-PLA 3.2.4.1, Task), on the thread of ended segments. Only a stop of
   the set waits for tasks, for at most OpenPLA.TaskTimeout. */

#define SEGMENT_TASKS_MAX    32 /* running at once; if there are so many, they probably hang, so no more are started */
#define TASK_TIMEOUT_USUAL   60 /* seconds */
#define SEGMENT_TASK_LOOK_MS 100

struct segment_task {
    struct task_instance *instance;
    char *name, *location; /* name of the task; location of the segment */
    uint64_t since;        /* clock_monotonic_ms */
    uint32_t timeout_seconds;
};
/* The running tasks. Zero-initialise, except the borrowed members. */
struct segment_tasks {
    const char *space, *set; /* borrowed */
    /* Reports a failure for the run's message; called on any thread. */
    void (*note)(void *user, HRESULT hr, const char *text);
    void *user;
    struct segment_task at_work[SEGMENT_TASKS_MAX];
    size_t count;
};
/* Adds an item to `issues` (a plaValidation map) if Task is not a valid task name. */
HRESULT segment_tasks_validate(struct object *set, struct object *issues);
/* Starts the task of the segment's definition. Writes event 1007. On failure writes event 1008 and adds a note. */
void segment_tasks_start(struct segment_tasks *t, const struct ended_segment *e);
/* Removes tasks that have exited or exceeded their timeout. Writes event 1008 and adds a note for a task that failed or
   exceeded its timeout. A task that exceeded its timeout keeps running. False: no task is left. */
bool segment_tasks_look(struct segment_tasks *t);
void segment_tasks_release(struct segment_tasks *t); /* releases all tasks without waiting */

/* ---- output: folders and files of a run ---- */

/* Checks that RootPath exists, or creates it if set_creates_root allows that. HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND):
   it does not exist and is not created. */
HRESULT output_check_root(const struct data_collector_set *set);
/* Checks the data manager's conditions before a start (MS-PLA 3.2.4.2; behaviour 14). If they are not met, first
   deletes run folders of the set by its policy, and checks again. Fails with PLA_E_NO_MIN_DISK or
   PLA_E_TOO_MANY_FOLDERS. */
HRESULT output_check_resources(const struct run_set *r);
/* Determines the file of a collector in `folder`; *out is from memory_alloc. `follows`: the segment continues a run. If
   `follows` is true and the file exists, adds the serial number, or the next unused number, to the name. No number is
   added if the collector appends, overwrites or is circular (behaviour 5). For an API trace, a number is added whenever
   the file exists. HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS): no unused number was found. */
HRESULT output_file(struct object *collector, const char *folder, const struct name_context *context, bool follows,
                    char **out);

#endif

/* SPDX-License-Identifier: MIT */
/* The segments of a run: their members, folders and files, and the work that follows the end of each one. A run without
   limits has one segment. */
#ifndef OPENPLA_SEGMENT_H
#define OPENPLA_SEGMENT_H

#include "engine/pla/run/member.h"
#include "engine/pla/run/run_state.h"
#include "engine/pla/task.h"

/* ---- segments: serial number, folder, and members ---- */

struct segment {
    uint32_t serial_number;
    char *root;     /* RootPath as its host has it: nothing is written outside (DECISIONS 36) */
    char *location; /* below it */
    struct member *members;
    size_t count;                                /* as many as the set had when it was opened */
    const struct data_collector_set *definition; /* that it was opened by; borrowed, to compare alone */
};
/* Takes the next serial number, makes the folder, opens the collectors and records all that before anything is sampled;
   of a run's first segment before anything is opened, in one write.
   On failure no file, folder or serial number is used up. `follows`: it continues a run.
   What output_check_root and output_file say, HRESULT of ERROR_ALREADY_EXISTS (file), E_ACCESSDENIED, what
   collector_open says.
   previous: the segment before; may be NULL. With the same definition it is completed, so that rates and grids go on,
   and is to be closed, whatever the result. With another one its collectors may be at work, and go on when the new
   segment cannot be opened. Without one the grids are zero: nothing is due. */
HRESULT segment_open(struct run_set *r, bool follows, struct segment *previous, struct segment *out);
/* Completes the files; what the collectors know stays for the next segment. A failure is noted in the diagnostics. */
void segment_complete(struct segment *s);
/* Completes the files and closes the collectors; a failure is also noted in the run's diagnostics. The set may have
   another definition by now. */
HRESULT segment_close(struct segment *s);
void segment_free(struct segment *s); /* what is left of a closed one, or of one that was never opened */

/* ---- ended segments ---- */

/* They wait in a queue for the data manager and then for the task of the set. One thread does that work, so that the
   samples of the next segment do not wait for it. */

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

/* ---- tasks of segments ---- */

/* A set starts them for its segments (MS-PLA 3.2.4.1, Task), on the thread of ended segments. Nothing but the set's
   stop waits for a task, and that no longer than OpenPLA.TaskTimeout. */

#define SEGMENT_TASKS_MAX    32 /* at work at a time; one more is not started: something is wrong with them */
#define TASK_TIMEOUT_USUAL   60 /* s */
#define SEGMENT_TASK_LOOK_MS 100

struct segment_task {
    struct task_instance *instance;
    char *name, *location; /* of the task; of the segment */
    uint64_t since;        /* clock_monotonic_ms */
    uint32_t timeout_seconds;
};
/* Those at work. Zero-initialise, but for what is borrowed. */
struct segment_tasks {
    const char *space, *set; /* borrowed */
    /* What the run's message must say; any thread may be the caller's. */
    void (*note)(void *user, HRESULT hr, const char *text);
    void *user;
    struct segment_task at_work[SEGMENT_TASKS_MAX];
    size_t count;
};
/* Adds an item to `issues` (a plaValidation map) for a Task of a name that no task can have. */
HRESULT segment_tasks_validate(struct object *set, struct object *issues);
/* Starts the task of the segment's definition, which has one. Event 1007, or 1008 and a note. */
void segment_tasks_start(struct segment_tasks *t, const struct ended_segment *e);
/* Lets go of those that have ended, or have taken their time: 1008 and a note for one that fails or hangs, which goes
   on by itself. False: none is at work. */
bool segment_tasks_look(struct segment_tasks *t);
void segment_tasks_release(struct segment_tasks *t); /* of all, as they are */

/* ---- output: what must exist before a run starts, the folders and names of its files ---- */

/* The set's RootPath exists, or is created (set_creates_root): HRESULT of ERROR_PATH_NOT_FOUND. */
HRESULT output_check_root(const struct data_collector_set *set);
/* MS-PLA 3.2.4.2: what the data manager wants to have before a set starts (behaviour 14); folders of the set's own runs
   go by its policy before it fails. PLA_E_NO_MIN_DISK, PLA_E_TOO_MANY_FOLDERS. */
HRESULT output_check_resources(const struct run_set *r);
/* The file of a collector in `folder`, from memory_alloc. `follows`: the segment continues a run, so a file in the way
   that the set's names cannot avoid gets the serial number added (behaviour 5). */
HRESULT output_file(struct object *collector, const char *folder, const struct name_context *context, bool follows,
                    char **out);

#endif

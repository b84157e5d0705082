/* SPDX-License-Identifier: MIT */
/* The data that the host process of a run shares with other processes: a section with the run's state, the phases of
   the run, the report of the start, the diagnostics, and the set with its run record. */
#ifndef OPENPLA_RUN_STATE_H
#define OPENPLA_RUN_STATE_H

#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/pla/model.h"
#include "engine/pla/run.h"
#include "engine/pla/store.h"

#include <stdatomic.h>

/* ---- the section: the host process publishes its state; other processes read it and send requests ---- */

struct publications {
    atomic_uint_least64_t begun, done;
};
/* A published state with two buffers and two counters. Each word of a buffer is read and written atomically. The writer
   fills the buffer that is not current, so readers never wait for a writer that was suspended or killed. */
#define RUN_STATE_WORDS ((sizeof(struct run_state) + 7) / 8)
struct state_cell {
    struct publications count;
    atomic_uint_least64_t words[2][RUN_STATE_WORDS];
};
/* Publishes a state. Only one writer at a time. */
void state_publish(struct state_cell *cell, const struct run_state *state);
/* Reads one published state, never a mixture of two; all zero before the first one. False: no consistent state was
   found in a limited number of tries, so the writer is not a host process. */
bool state_read(struct state_cell *cell, struct run_state *state);

struct run_section;
/* Creates the section. Only the process that holds the run lock may call this. The section's name cannot be guessed; it
   is registered in the store (store_save_host) until the section is closed. */
HRESULT run_section_create(const char *space, const char *name, struct run_section **out);
/* Opens the section in another process. HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND): the set has no host process
   (run_host_find). All later calls with the section refer to this host process. */
HRESULT run_section_open(const char *space, const char *name, struct run_section **out);
/* Works like run_section_open, for a host process that is alive and not in PHASE_STOPPED; also reads its state.
   S_FALSE: the set has no such host process, and *out need not be closed. */
HRESULT run_section_open_running(const char *space, const char *name, struct run_section **out,
                                 struct run_state *state);
void run_section_close(struct run_section *s); /* NULL is allowed */

void run_section_publish(struct run_section *s, const struct run_state *state);
/* Publishes the statistics of a collector in the current segment. `place`: index of the collector, below
   RUN_FIGURES_MAX. */
void run_section_publish_figures(struct run_section *s, size_t place, const char *collector,
                                 const struct collector_figures *figures);
/* Publishes the number of collectors with statistics. */
void run_section_publish_count(struct run_section *s, size_t count);
/* Reads the state. False: according to its registration in the store, the host process no longer exists. An invalid
   state of a living host process reads as PHASE_RUNNING, so that the set can be stopped. */
bool run_section_read(struct run_section *s, struct run_state *state);
bool run_section_alive(struct run_section *s);

enum stop_reason { STOP_ASKED, STOP_EXPIRED }; /* a client requested the stop; the set's schedules have expired */
/* Requests a stop. The first request determines the reason. */
HRESULT run_section_request_stop(struct run_section *s, enum stop_reason why);
bool run_section_stop_requested(struct run_section *s, enum stop_reason *why);
/* Host process: waits between samples, until there is a request or timeout_ms have passed, but never longer than a few
   seconds. */
HRESULT run_section_wait(struct run_section *s, uint32_t timeout_ms);
/* Host process: ends the wait in run_section_wait without a request. From any thread. NULL: does nothing. */
void run_section_wake(struct run_section *s);
/* Terminates the set's host process, as run_host_end does. */
HRESULT run_section_end_host(struct run_section *s, const char *space, const char *name);

/* Other requests to a host process. Each request gets a number. */
enum run_request { REQUEST_UPDATE, REQUEST_FLUSH, RUN_REQUESTS };
/* Client: sends the request and returns its number. HRESULT_FROM_WIN32(ERROR_INVALID_DATA): other processes have
   written to the section. */
HRESULT run_section_ask(struct run_section *s, enum run_request request, uint64_t *number);
/* Client: whether the request was answered. *hr is the result, with its message as this thread's error text. */
bool run_section_answered(struct run_section *s, enum run_request request, uint64_t number, HRESULT *hr);
/* Host process: returns whether a client waits for an answer. *number identifies the request. */
bool run_section_asked(struct run_section *s, enum run_request request, uint64_t *number);
/* Host process: answers all requests up to the number, with error_text(hr) on failure. */
void run_section_answer(struct run_section *s, enum run_request request, uint64_t number, HRESULT hr);

/* ---- phases: a state machine ---- */

enum run_step {
    STEP_START,   /* requested by a client or a schedule */
    STEP_BEGUN,   /* the collectors of the first or next segment are open */
    STEP_FAILED,  /* a start, segment or sample failed, and the run cannot continue */
    STEP_LIMIT,   /* a limit that starts the next segment was reached */
    STEP_UPDATE,  /* a new definition must be applied */
    STEP_STOP,    /* a client requested a stop, or the run is over */
    STEP_COMPILE, /* the collectors are closed and the data manager has work */
    STEP_DONE,    /* nothing is left to do */
    STEP_LOST,    /* the host process has died */
    RUN_STEPS
};

/* Determines the phase after a step. S_OK: *next is the new phase. S_FALSE: the step changes nothing. PLA_E_DCS_IN_USE,
   PLA_E_DCS_NOT_RUNNING: the step is rejected. E_UNEXPECTED: the step is impossible in that phase. Sets no error
   text. */
HRESULT phase_after(enum run_phase phase, enum run_step step, enum run_phase *next);
/* Returns the set's Status (MS-PLA 2.2.2.4). A starting set is not yet running; a stopping set is still running. */
enum run_status phase_status(enum run_phase phase);
const char *phase_name(enum run_phase phase);
/* Returns whether, at the time `now` (clock_monotonic_ms), the host process has been starting for more than start_ms,
   or a stop was requested more than stop_ms ago. The data manager's work is not limited. */
bool phase_is_overdue(const struct run_state *state, uint64_t now, uint32_t start_ms, uint32_t stop_ms);

/* ---- the report of a start: a section and a signal named by the run key ---- */

/* Prefix of the run key for a host process that waits for its start. It exits if its creator exits. */
#define RUN_KEY_AHEAD "ahead-"

struct start_report;
/* Starter: creates the report, under a unique run key, before it starts the host process. `security`: descriptor of the
   shared objects for a host process with another account; NULL: the same account. */
HRESULT start_report_create(const char *run_key, const char *security, struct start_report **out);
/* Starter, before it starts the host process: makes the host process wait before it runs the set. */
HRESULT start_report_hold(struct start_report *r, const char *run_key, const char *security);
/* Starter, before it starts the host process: sets the account for which the starter acts. */
void start_report_put_user(struct start_report *r, const char *user);
#define START_USER_BYTES 768 /* account and domain have at most 256 units each; longer names are truncated */
/* Host process: reads that account; "": not set. `r` may be NULL. */
void start_report_get_user(const struct start_report *r, char out[START_USER_BYTES]);
/* Starter: makes a waiting host process begin its run or exit. */
void start_report_let(struct start_report *r, bool begin);
/* Waiting host process: waits for start_report_let. S_OK: run the set; S_FALSE: the host process is not needed, or its
   starter no longer exists. */
HRESULT start_report_await(struct start_report *r);
/* Host process: opens the report. A failure: no process waits for the report any more. */
HRESULT start_report_open(const char *run_key, struct start_report **out);
void start_report_close(struct start_report *r); /* NULL is allowed */
/* Host process: reports that it has locked the set. *r may be NULL. */
void start_report_accept(struct start_report **r);
/* Host process: reports which collector it is opening, "": none. `r` may be NULL. */
void start_report_opening(struct start_report *r, const char *collector);
/* Host process: sends the result of the start, with error_text(hr) on failure. Closes the report and clears *r, so that
   no section remains if the host process is killed later. *r may be NULL. */
void start_report_send(struct start_report **r, HRESULT hr);
/* Starter: waits for the result of the host process, and returns it with its error text. `accepted`: returns S_OK as
   soon as the host process has locked the set. OPENPLA_E_HOST_DIED: the host process exited without a report. After
   timeout_ms: PLA_E_DC_START_WAIT_TIMEOUT if the host process is opening a collector, else
   PLA_E_DCS_START_WAIT_TIMEOUT. */
HRESULT start_report_wait(struct start_report *r, struct process *host, bool accepted, uint32_t timeout_ms);

/* ---- diagnostics: dropped counters, lost samples, and the reason for the end of the run ---- */

/* Zero-initialise. When out of memory, a note is lost but counted. */
struct diagnostics {
    struct texts notes;   /* each at most once */
    uint64_t notes_cut;   /* number of notes beyond the limit */
    uint64_t lost_late;   /* ticks that passed while the host process was busy or the computer was asleep */
    uint64_t lost_failed; /* samples that could not be taken or written */
    HRESULT loss;         /* reason of the latest loss; S_OK: none */
    char *loss_text;
    uint64_t losses_reported;    /* number of samples in the latest event about lost samples; 0: no event yet */
    uint64_t losses_reported_ms; /* clock_monotonic_ms of that event */
    char *end;                   /* the reason for the end of the run; NULL: it is active */
};
/* Adds a note; if `reason` is a failure, the note contains `reason`. True: the note is new. */
bool diagnostics_note(struct diagnostics *d, HRESULT reason, const char *text);
/* Counts a sample that failed with hr and error_text(hr). True: the previous failure, if any, had another reason. */
bool diagnostics_lost(struct diagnostics *d, HRESULT hr);
/* Call this when an event reports `count` lost samples. */
void diagnostics_losses_reported(struct diagnostics *d, uint64_t count, uint64_t now_ms);
/* True: samples were lost since the latest event, and another event is due. *total: samples lost in the run so far. The
   event at the end of a run contains the total, but a killed host process cannot write that event. */
bool diagnostics_losses_due(const struct diagnostics *d, uint64_t now_ms, uint64_t *total);
/* Sets the reason for the end of the run, unless a reason is already set. The reason is the last line of the
   diagnostics, regardless of the number of notes. */
void diagnostics_end(struct diagnostics *d, HRESULT reason, const char *text);
/* Returns the diagnostics, one item per line, or "". From memory_alloc. */
char *diagnostics_text(const struct diagnostics *d);
void diagnostics_free(struct diagnostics *d);

/* ---- the set of a host process, and its run record ---- */

struct run_set {
    const char *space, *name;       /* borrowed */
    struct data_collector_set *set; /* a reference */
    struct diagnostics diagnostics;
    bool noted;                   /* the diagnostics contain notes that the run record does not have */
    struct start_report *report;  /* borrowed; NULL: no process waits for the start */
    struct run_section *section;  /* borrowed; collectors use it to wake the run loop */
    struct alert_actions *alerts; /* NULL: no alert has had an action */
    struct set_export *export;    /* NULL: the set does not export */
    struct texts held;            /* lines about resources that outlive a killed host process (held_add) */
};
/* Loads the committed set, and sets all other members of *out to zero. Fails with PLA_E_DCS_NOT_FOUND or
   OPENPLA_E_MALFORMED_XML. */
HRESULT run_set_load(const char *space, const char *name, struct run_set *out);
void run_set_free(struct run_set *r);

/* If the set has never run, completes its record: the set's SerialNumber becomes the record's next serial number. */
void run_set_know_record(const struct run_set *r, struct run_record *record);
/* Writes the result, the message, and whether the run is active. The rest of the run record is unchanged. */
HRESULT run_set_record(const struct run_set *r, HRESULT result, const char *message, bool running);
/* Works like run_set_record, for a start whose host process has exited. S_FALSE: another host process runs the set;
   nothing is written. */
HRESULT run_set_record_no_run(const struct run_set *r, HRESULT result, const char *message);

#endif

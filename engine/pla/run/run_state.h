/* SPDX-License-Identifier: MIT */
/* The data that the host process of a run shares with other processes: the section with its state, the state machine of
   its phases, the report of its start, its diagnostics, and the set with its record. */
#ifndef OPENPLA_RUN_STATE_H
#define OPENPLA_RUN_STATE_H

#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/pla/model.h"
#include "engine/pla/run.h"
#include "engine/pla/store.h"

#include <stdatomic.h>

/* ---- the section: the host process publishes its state; others read it without waiting and send requests ---- */

struct publications {
    atomic_uint_least64_t begun, done;
};
/* A published state, copied by atomic words. Two buffers and two counters: the writer fills the buffer that is not
   current, so readers never wait for a writer that was suspended or killed. */
#define RUN_STATE_WORDS ((sizeof(struct run_state) + 7) / 8)
struct state_cell {
    struct publications count;
    atomic_uint_least64_t words[2][RUN_STATE_WORDS];
};
/* One writer at a time. */
void state_publish(struct state_cell *cell, const struct run_state *state);
/* Reads one publication, never a mixture; all zero before the first. False: no consistent state within a bounded
   number of tries, which means that the writer is not a host process. */
bool state_read(struct state_cell *cell, struct run_state *state);

struct run_section;
/* For the process that holds the run lock. The section's name cannot be guessed; it is registered in the store
   (store_save_host) until the section is closed. */
HRESULT run_section_create(const char *space, const char *name, struct run_section **out);
/* For other processes. HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND): the set has no host process (run_host_find). All
   later calls with the section refer to that host process. */
HRESULT run_section_open(const char *space, const char *name, struct run_section **out);
/* run_section_open for a host process that is alive and not in PHASE_STOPPED, with its state; S_FALSE, and nothing
   to close: none. */
HRESULT run_section_open_running(const char *space, const char *name, struct run_section **out,
                                 struct run_state *state);
void run_section_close(struct run_section *s); /* NULL is allowed */

void run_section_publish(struct run_section *s, const struct run_state *state);
/* The statistics of the collector with that index, below RUN_FIGURES_MAX, in the current segment. */
void run_section_publish_figures(struct run_section *s, size_t place, const char *collector,
                                 const struct collector_figures *figures);
/* The number of collectors with statistics. */
void run_section_publish_count(struct run_section *s, size_t count);
/* False: the host process no longer exists. Its identity comes from the store. An invalid state of a living host
   process reads as PHASE_RUNNING, so that the set can be stopped. */
bool run_section_read(struct run_section *s, struct run_state *state);
bool run_section_alive(struct run_section *s);

enum stop_reason { STOP_ASKED, STOP_EXPIRED }; /* by a client, by schedules */
/* The first request determines the reason. */
HRESULT run_section_request_stop(struct run_section *s, enum stop_reason why);
bool run_section_stop_requested(struct run_section *s, enum stop_reason *why);
/* The host process's wait between samples: it ends with a request, after timeout_ms, or after some seconds. */
HRESULT run_section_wait(struct run_section *s, uint32_t timeout_ms);
/* Ends that wait without a request. From any thread of the host process. NULL: does nothing. */
void run_section_wake(struct run_section *s);
/* Terminates the set's host process, as run_host_end does. */
HRESULT run_section_end_host(struct run_section *s, const char *space, const char *name);

/* Other requests to a host process; each has a number. */
enum run_request { REQUEST_UPDATE, REQUEST_FLUSH, RUN_REQUESTS };
/* Client: sends the request and returns its number. HRESULT of ERROR_INVALID_DATA: other processes have written to
   the section. */
HRESULT run_section_ask(struct run_section *s, enum run_request request, uint64_t *number);
/* Client: true if the request was answered; *hr is the result, with its message as this thread's error text. */
bool run_section_answered(struct run_section *s, enum run_request request, uint64_t number, HRESULT *hr);
/* Host process: true if a client waits for an answer; *number identifies the request. */
bool run_section_asked(struct run_section *s, enum run_request request, uint64_t *number);
/* Host process: answers all requests up to the number, with error_text(hr) on failure. */
void run_section_answer(struct run_section *s, enum run_request request, uint64_t number, HRESULT hr);

/* ---- phases: a state machine ---- */

enum run_step {
    STEP_START,   /* requested by a client or a schedule */
    STEP_BEGUN,   /* the collectors of the first or next segment are open */
    STEP_FAILED,  /* a start, segment or sample failed so that the run cannot continue */
    STEP_LIMIT,   /* a limit that starts the next segment was reached */
    STEP_UPDATE,  /* a new definition must be applied */
    STEP_STOP,    /* a client requests it, or the run is over */
    STEP_COMPILE, /* the collectors are closed and the data manager has work */
    STEP_DONE,    /* nothing is left to do */
    STEP_LOST,    /* the host process has died */
    RUN_STEPS
};

/* S_OK: *next is the new phase. S_FALSE: the step changes nothing. PLA_E_DCS_IN_USE, PLA_E_DCS_NOT_RUNNING:
   rejected. E_UNEXPECTED: impossible in that phase. Sets no error text. */
HRESULT phase_after(enum run_phase phase, enum run_step step, enum run_phase *next);
/* The set's Status (MS-PLA 2.2.2.4). A starting set is not running yet; a stopping one still is. */
enum run_status phase_status(enum run_phase phase);
const char *phase_name(enum run_phase phase);
/* Whether at `now` (clock_monotonic_ms) a host process has been starting for more than start_ms, or was asked to
   stop more than stop_ms ago. The data manager's work has no such limit. */
bool phase_is_overdue(const struct run_state *state, uint64_t now, uint32_t start_ms, uint32_t stop_ms);

/* ---- the report of a start: a section and a signal named by the run key ---- */

/* Prefix of the run key for a host process that waits for its start. Without its creator it exits. */
#define RUN_KEY_AHEAD "ahead-"

struct start_report;
/* The starter creates the report before it starts the host process, under a unique run key. `security`: descriptor of
   the shared objects for a host process with another account; NULL: the same account. */
HRESULT start_report_create(const char *run_key, const char *security, struct start_report **out);
/* Starter, before it starts the host process: that process must wait with its run. */
HRESULT start_report_hold(struct start_report *r, const char *run_key, const char *security);
/* Starter, before it starts the host process: the account it acts for. */
void start_report_put_user(struct start_report *r, const char *user);
#define START_USER_BYTES 768 /* account and domain have at most 256 units each; longer names are cut */
/* Host process: that account, "" if none was put. *r may be NULL. */
void start_report_get_user(const struct start_report *r, char out[START_USER_BYTES]);
/* Starter: tells a waiting host process to begin or to exit. */
void start_report_let(struct start_report *r, bool begin);
/* Waiting host process: S_OK: the run begins; S_FALSE: it is not needed, or its starter no longer exists. */
HRESULT start_report_await(struct start_report *r);
/* The host process opens the report; failure means that no process waits for it any more. */
HRESULT start_report_open(const char *run_key, struct start_report **out);
void start_report_close(struct start_report *r); /* NULL is allowed */
/* Host process: it has taken the set. *r may be NULL. */
void start_report_accept(struct start_report **r);
/* Host process: the collector being opened, "" for none. *r may be NULL. */
void start_report_opening(struct start_report *r, const char *collector);
/* Host process: sends the result of the start, with error_text(hr) on failure, closes the report and clears *r, so
   that a host process killed later leaves no section behind. *r may be NULL. */
void start_report_send(struct start_report **r, HRESULT hr);
/* Starter: the result that the host process sent, with its error text; with `accepted`, S_OK as soon as the host
   process has taken the set. OPENPLA_E_HOST_DIED: it exited without a report. After timeout_ms:
   PLA_E_DC_START_WAIT_TIMEOUT if it is opening a collector, else PLA_E_DCS_START_WAIT_TIMEOUT. */
HRESULT start_report_wait(struct start_report *r, struct process *host, bool accepted, uint32_t timeout_ms);

/* ---- diagnostics: dropped counters, lost samples, and the reason for the end of the run ---- */

/* Zero-initialise. When out of memory a note is lost, but it is counted. */
struct diagnostics {
    struct texts notes;   /* each at most once */
    uint64_t notes_cut;   /* notes beyond the limit */
    uint64_t lost_late;   /* ticks that passed while the host process was busy or the computer slept */
    uint64_t lost_failed; /* samples that could not be taken or written */
    HRESULT loss;         /* the latest reason; S_OK: none */
    char *loss_text;
    char *end; /* the reason for the end of the run; NULL: it is active */
};
/* `reason` is shown if it is a failure. True: the note is new. */
bool diagnostics_note(struct diagnostics *d, HRESULT reason, const char *text);
/* A sample failed with hr and error_text(hr). True: the first with this reason. */
bool diagnostics_lost(struct diagnostics *d, HRESULT hr);
/* The reason for the end of the run; the last line, shown regardless of the number of notes. The first reason stays. */
void diagnostics_end(struct diagnostics *d, HRESULT reason, const char *text);
/* One line per item, or "". From memory_alloc. */
char *diagnostics_text(const struct diagnostics *d);
void diagnostics_free(struct diagnostics *d);

/* ---- the set of a host process, and its run record ---- */

struct run_set {
    const char *space, *name;       /* borrowed */
    struct data_collector_set *set; /* a reference */
    struct diagnostics diagnostics;
    bool noted;                   /* the diagnostics contain more than the record */
    struct start_report *report;  /* borrowed; NULL: no process waits for the start */
    struct run_section *section;  /* borrowed; collectors wake the loop by it */
    struct alert_actions *alerts; /* NULL: no alert has had an action */
    struct set_export *export;    /* NULL: the set does not export */
    struct texts held;            /* resources that outlive a killed host process (held_add) */
};
/* Loads the committed set; zeroes the rest. PLA_E_DCS_NOT_FOUND, OPENPLA_E_MALFORMED_XML. */
HRESULT run_set_load(const char *space, const char *name, struct run_set *out);
void run_set_free(struct run_set *r);

/* Completes the record of a set that has never run: its next serial number is that of the set. */
void run_set_know_record(const struct run_set *r, struct run_record *record);
/* Writes the run's result, message and whether it is active into its record; the rest is unchanged. */
HRESULT run_set_record(const struct run_set *r, HRESULT result, const char *message, bool running);
/* Like run_set_record, for a start whose host process has exited; S_FALSE if another host process runs the set. */
HRESULT run_set_record_no_run(const struct run_set *r, HRESULT result, const char *message);

#endif

/* SPDX-License-Identifier: MIT */
/* The run of a set as the host and other processes share it: a section with its state, the machine of its phases, the
   report of its start, its diagnostics, and the set with its record. */
#ifndef OPENPLA_RUN_STATE_H
#define OPENPLA_RUN_STATE_H

#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/pla/model.h"
#include "engine/pla/run.h"
#include "engine/pla/store.h"

#include <stdatomic.h>

/* ---- the section: its host publishes the state there, others read it without waiting and ask it to stop ---- */

struct publications {
    atomic_uint_least64_t begun, done;
};
/* A state, copied in and out in words that are atomic each. Two places and two counters: the writer fills the place
   that is not valid at that moment, so a reader needs no patience with a writer that was stopped in the middle or
   killed. */
#define RUN_STATE_WORDS ((sizeof(struct run_state) + 7) / 8)
struct state_cell {
    struct publications count;
    atomic_uint_least64_t words[2][RUN_STATE_WORDS];
};
/* One writer at a time. */
void state_publish(struct state_cell *cell, const struct run_state *state);
/* The state of one publication, never a mixture; all zero before the first. False: there was none to be had within a
   bounded time, as no host writes it. */
bool state_read(struct state_cell *cell, struct run_state *state);

struct run_section;
/* For the host that holds the run lock: under a name that nobody can guess, which it writes down in the store
   (store_save_host) until it closes the section. */
HRESULT run_section_create(const char *space, const char *name, struct run_section **out);
/* For others: HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) when the set has no host (run_host_find). What is asked of the
   section later, whether its host lives and that it be ended, is about that host. */
HRESULT run_section_open(const char *space, const char *name, struct run_section **out);
/* The same of a host that lives and is in some phase, with its state; S_FALSE, and nothing to close: there is none. */
HRESULT run_section_open_running(const char *space, const char *name, struct run_section **out,
                                 struct run_state *state);
void run_section_close(struct run_section *s); /* NULL is allowed */

void run_section_publish(struct run_section *s, const struct run_state *state);
/* The figures of the collector in that place, below RUN_FIGURES_MAX, of the present segment. */
void run_section_publish_figures(struct run_section *s, size_t place, const char *collector,
                                 const struct collector_figures *figures);
/* How many collectors have figures. */
void run_section_publish_count(struct run_section *s, size_t count);
/* False: the host is not there any more. Who it is comes from the store; a state that no host could have written, of a
   host that lives, reads as PHASE_RUNNING, so that the set can be stopped. */
bool run_section_read(struct run_section *s, struct run_state *state);
bool run_section_alive(struct run_section *s);

enum stop_reason { STOP_ASKED, STOP_EXPIRED }; /* by a client, by schedules */
/* The first that asks says why. */
HRESULT run_section_request_stop(struct run_section *s, enum stop_reason why);
bool run_section_stop_requested(struct run_section *s, enum stop_reason *why);
/* The host's rest between samples: until a request comes or timeout_ms are over, or some seconds. */
HRESULT run_section_wait(struct run_section *s, uint32_t timeout_ms);
/* Ends that rest. From any thread of the host; no request comes with it. NULL: nobody rests. */
void run_section_wake(struct run_section *s);
/* Ends the host process of that set, as run_host_end. */
HRESULT run_section_end_host(struct run_section *s, const char *space, const char *name);

/* What else a host can be asked for; each request has a number. */
enum run_request { REQUEST_UPDATE, REQUEST_FLUSH, RUN_REQUESTS };
/* Others: asks, and the number. HRESULT of ERROR_INVALID_DATA: others have written into the section. */
HRESULT run_section_ask(struct run_section *s, enum run_request request, uint64_t *number);
/* Others: true when the request is answered; *hr is the answer, its text set for this thread. */
bool run_section_answered(struct run_section *s, enum run_request request, uint64_t number, HRESULT *hr);
/* Host: true when somebody waits for an answer; *number is what the answer is for. */
bool run_section_asked(struct run_section *s, enum run_request request, uint64_t *number);
/* Host: answers all requests up to the number, with error_text(hr) if it failed. */
void run_section_answer(struct run_section *s, enum run_request request, uint64_t number, HRESULT hr);

/* ---- phases as one machine: what each step does in each phase, and what is refused ---- */

enum run_step {
    STEP_START,   /* a client or a schedule asks for it */
    STEP_BEGUN,   /* the collectors are open: the first segment, or the next one */
    STEP_FAILED,  /* a start, a segment or a sample makes going on impossible */
    STEP_LIMIT,   /* a limit that begins the next segment is reached */
    STEP_UPDATE,  /* a new definition is to be taken up */
    STEP_STOP,    /* a client asks for it, or the run is over */
    STEP_COMPILE, /* the collectors are closed; the data manager has work */
    STEP_DONE,    /* nothing is left to do */
    STEP_LOST,    /* the host has died */
    RUN_STEPS
};

/* S_OK: *next is the phase after the step. S_FALSE: the step changes nothing; it is remembered where it was asked for.
   PLA_E_DCS_IN_USE, PLA_E_DCS_NOT_RUNNING: refused. E_UNEXPECTED: it cannot come in that phase. Without a text. */
HRESULT phase_after(enum run_phase phase, enum run_step step, enum run_phase *next);
/* What Status shows (MS-PLA 2.2.2.4). A set that is starting is not running yet; one that is stopping still is. */
enum run_status phase_status(enum run_phase phase);
const char *phase_name(enum run_phase phase);
/* Whether at `now` (clock_monotonic_ms) a host has been starting for more than start_ms, or has been asked to stop for
   more than stop_ms; the data manager's work has no such limit. */
bool phase_is_overdue(const struct run_state *state, uint64_t now, uint32_t start_ms, uint32_t stop_ms);

/* ---- the report of a start: by a section and a signal named by the run key ---- */

/* Before the run key, in the arguments of a host that is to wait: without who made it, it runs nothing. */
#define RUN_KEY_AHEAD "ahead-"

struct start_report;
/* The starter makes it before it starts the host, under a run key that no other start has. `security`: the descriptor
   of what both share, for a host of another account; NULL: of the own one. */
HRESULT start_report_create(const char *run_key, const char *security, struct start_report **out);
/* Starter, before it starts the host: the host is to wait with its run until it is told to begin. */
HRESULT start_report_hold(struct start_report *r, const char *run_key, const char *security);
/* Starter, before it starts the host: for which account it does so. */
void start_report_put_user(struct start_report *r, const char *user);
#define START_USER_BYTES 768 /* an account has at most 256 units, and so has its domain; what is longer is cut */
/* Host: that account, "" where none was put. *r may be NULL. */
void start_report_get_user(const struct start_report *r, char out[START_USER_BYTES]);
/* Starter: tells a host that waits to begin, or that it is not wanted any more. */
void start_report_let(struct start_report *r, bool begin);
/* Host that is to wait: S_OK: the run begins; S_FALSE: it is not wanted, or who would have said so is gone. */
HRESULT start_report_await(struct start_report *r);
/* The host opens it; a failure means that nobody waits for it any more. */
HRESULT start_report_open(const char *run_key, struct start_report **out);
void start_report_close(struct start_report *r); /* NULL is allowed */
/* Host: it has taken the set. *r may be NULL. */
void start_report_accept(struct start_report **r);
/* Host: the collector that is being opened, "" for none. *r may be NULL. */
void start_report_opening(struct start_report *r, const char *collector);
/* Host: sends the result of the start, with error_text(hr) if it failed, closes the report and clears *r, so that a
   host that is killed later leaves no section behind. *r may be NULL. */
void start_report_send(struct start_report **r, HRESULT hr);
/* Starter: what the host sent, its text set for this thread; with `accepted` S_OK already when the host has taken the
   set. OPENPLA_E_HOST_DIED when the host ended without a word; after timeout_ms PLA_E_DC_START_WAIT_TIMEOUT when it is
   opening a collector, else PLA_E_DCS_START_WAIT_TIMEOUT. */
HRESULT start_report_wait(struct start_report *r, struct process *host, bool accepted, uint32_t timeout_ms);

/* ---- diagnostics: counters that were skipped, samples that were lost, why, and why the run ended ---- */

/* Zero-initialise. A note that memory is out for is lost; its count is not. */
struct diagnostics {
    struct texts notes;   /* each at most once */
    uint64_t notes_cut;   /* beyond the limit of kept notes */
    uint64_t lost_late;   /* ticks that passed while the host was busy or the computer slept */
    uint64_t lost_failed; /* samples that could not be taken or written */
    HRESULT loss;         /* reason of the latest of these; S_OK: none */
    char *loss_text;
    char *end; /* why the run ended; NULL: it has not */
};
/* `reason` is shown when it is a failure. True: it is new. */
bool diagnostics_note(struct diagnostics *d, HRESULT reason, const char *text);
/* A sample that failed with hr; its text is error_text(hr). True: the first for this reason. */
bool diagnostics_lost(struct diagnostics *d, HRESULT hr);
/* Why the run ended; shown however many notes there are, the last line. The first that is told stays. */
void diagnostics_end(struct diagnostics *d, HRESULT reason, const char *text);
/* One line per matter, "" if there is none. From memory_alloc. */
char *diagnostics_text(const struct diagnostics *d);
void diagnostics_free(struct diagnostics *d);

/* ---- the set that a host runs, and the record of its run ---- */

struct run_set {
    const char *space, *name;       /* borrowed */
    struct data_collector_set *set; /* a reference */
    struct diagnostics diagnostics;
    bool noted;                   /* the diagnostics say more than the record */
    struct start_report *report;  /* borrowed; NULL when nobody waits for the start (any more) */
    struct run_section *section;  /* borrowed; what collectors wake the loop by */
    struct alert_actions *alerts; /* NULL: no alert has set off anything */
    struct texts held;            /* what outlives a host that is killed (held_add) */
};
/* Loads the committed set; the rest is zero. PLA_E_DCS_NOT_FOUND, OPENPLA_E_MALFORMED_XML. */
HRESULT run_set_load(const char *space, const char *name, struct run_set *out);
void run_set_free(struct run_set *r);

/* A set that has never run has no record; its own serial number is the next one then. */
void run_set_know_record(const struct run_set *r, struct run_record *record);
/* Puts the result and message of the run, and whether it goes on, into its record; the rest of the record stays. */
HRESULT run_set_record(const struct run_set *r, HRESULT result, const char *message, bool running);
/* The same about a start whose host is gone, unless another host of the set runs by now: then S_FALSE. */
HRESULT run_set_record_no_run(const struct run_set *r, HRESULT result, const char *message);

#endif

/* SPDX-License-Identifier: MIT */
/* A run's shared section: its host publishes the state there, others read it without waiting and ask it to stop. */
#ifndef OPENPLA_RUN_STATE_H
#define OPENPLA_RUN_STATE_H

#include "engine/pla/run.h"

#include <stdatomic.h>

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

#endif

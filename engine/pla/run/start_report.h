/* SPDX-License-Identifier: MIT */
/* How a host tells its starter whether the run began: a section and a signal named by the run key. */
#ifndef OPENPLA_START_REPORT_H
#define OPENPLA_START_REPORT_H

#include "engine/base/process.h"

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

#endif

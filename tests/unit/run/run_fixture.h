/* SPDX-License-Identifier: MIT */
/* Shared by the tests of runs: a separate data folder, committed sets, waiting, and reading back what a run wrote. */
#ifndef OPENPLA_RUN_FIXTURE_H
#define OPENPLA_RUN_FIXTURE_H

#include "engine/base/text.h"
#include "engine/pla/run.h"
#include "engine/pla/store.h"
#include "tests/unit/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define SPACE "Service"

/* Group fixtures: make the data folder, name the test host; remove what the tests left. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* Creates a separate folder below the data folder; from memory_alloc. */
char *fixture_folder(const char *name);
/* Commits SPACE\name: RootPath `root`, then `set_xml`, then one collector "c" with `collector_xml` if that is not NULL.
 */
void fixture_commit(const char *name, const char *root, const char *set_xml, const char *collector_xml);
void fixture_sleep(uint32_t ms);
/* The state of the set within `ms` when it has that status; fails the test otherwise. */
struct run_state fixture_await(const char *name, enum run_status status, uint32_t ms);
/* Text of folder/file; from memory_alloc. Fails the test when it cannot be read. */
char *fixture_read(const char *folder, const char *file);
/* Lines of a text log, header included; fails the test when the last one is cut. */
size_t fixture_lines(const char *folder, const char *file);
struct run_record fixture_record(const char *name);
/* The state of the running set once it has that serial number and so many samples; fails the test after a minute. */
struct run_state fixture_progress(const char *name, uint32_t serial_number, uint64_t samples);
/* The number of late samples of the latest run, from its record. On a busy machine, tests count the existing samples
   plus those reported as lost. */
size_t fixture_late(const char *name);
/* Whether the message of a run that was stopped reports nothing else but those. */
bool fixture_only_stopped(const char *message);
/* How often the event file has the id with the set's name; Reason and User of the latest one are in
   fixture_reason and fixture_user. */
size_t fixture_events(uint32_t id, const char *name);
extern char fixture_reason[1024], fixture_user[512];
/* Until it has it, at most a minute; once, or the test fails. */
void fixture_await_event(uint32_t id, const char *name);
/* A statistic of the set's collector that run_figures_text has, such as "Samples"; 0 when it has none of that name. */
uint64_t fixture_figure(const char *name, const char *collector, const char *figure);
/* kill -9. */
void fixture_kill(uint32_t process_id);

#define CSV_EACH_SECOND "<SampleInterval>1</SampleInterval><LogFileFormat>0</LogFileFormat>"
#define ONE_COUNTER     "<Counter>\\System\\Processes</Counter>"

#endif

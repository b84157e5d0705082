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

/* Group fixtures: create the data folder and set the test's host program; delete what the tests left. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* Creates a separate folder below the data folder; from memory_alloc. */
char *fixture_folder(const char *name);
/* Commits SPACE\name: RootPath `root`, then `set_xml`, then one collector "c" with `collector_xml` if that is not NULL.
 */
void fixture_commit(const char *name, const char *root, const char *set_xml, const char *collector_xml);
void fixture_sleep(uint32_t ms);
/* Waits until the set has that status, and returns its state; fails the test after `ms`. */
struct run_state fixture_await(const char *name, enum run_status status, uint32_t ms);
/* Returns the text of folder/file, from memory_alloc. Fails the test if the file cannot be read. */
char *fixture_read(const char *folder, const char *file);
/* Returns the number of lines in a text log, including the header; fails the test if the last line is incomplete. */
size_t fixture_lines(const char *folder, const char *file);
struct run_record fixture_record(const char *name);
/* Waits until the running set has that serial number and so many samples, and returns its state; fails the test after a
   minute. */
struct run_state fixture_progress(const char *name, uint32_t serial_number, uint64_t samples);
/* Returns the number of late samples in the latest run's record. On a busy machine, tests add the samples that are
   reported as lost to the existing ones. */
size_t fixture_late(const char *name);
/* Returns whether the message of a stopped run reports only late samples. */
bool fixture_only_stopped(const char *message);
/* Returns how often the event file contains the id with the set's name; Reason and User of the latest event are in
   fixture_reason and fixture_user. */
size_t fixture_events(uint32_t id, const char *name);
extern char fixture_reason[1024], fixture_user[512];
/* Waits for the event, at most a minute; fails the test unless it occurs exactly once. */
void fixture_await_event(uint32_t id, const char *name);
/* Returns a statistic of the set's collector from run_figures_text, such as "Samples"; 0 if it does not exist. */
uint64_t fixture_figure(const char *name, const char *collector, const char *figure);
/* Ends the process as kill -9 does. */
void fixture_kill(uint32_t process_id);

#define CSV_EACH_SECOND "<SampleInterval>1</SampleInterval><LogFileFormat>0</LogFileFormat>"
#define ONE_COUNTER     "<Counter>\\System\\Processes</Counter>"

#endif

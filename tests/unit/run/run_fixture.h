/* SPDX-License-Identifier: MIT */
/* Functions for the tests of runs. They create a separate data folder, commit sets, wait for runs, and read the results
   of runs. */
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

/* The group fixtures. The setup creates the data folder and selects the tests' set host program. The teardown deletes
   all files of the tests. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
/* Creates a separate folder in the data folder. Returns its path, which is from memory_alloc. */
char *fixture_folder(const char *name);
/* Commits SPACE\name. Its XML contains the RootPath `root`, `set_xml`, and, if `collector_xml` is not NULL, a counter
   collector "c" with `collector_xml`. */
void fixture_commit(const char *name, const char *root, const char *set_xml, const char *collector_xml);
void fixture_sleep(uint32_t ms);
/* Waits until the set has this status, and returns its state. Fails the test after `ms`. */
struct run_state fixture_await(const char *name, enum run_status status, uint32_t ms);
/* Returns the content of folder/file, from memory_alloc. Fails the test if the file cannot be read. */
char *fixture_read(const char *folder, const char *file);
/* Returns the number of lines in a text log, including the header. Fails the test if the last line is incomplete. */
size_t fixture_lines(const char *folder, const char *file);
struct run_record fixture_record(const char *name);
/* Waits until the running set has this serial number and at least `samples` samples, and returns its state. Fails the
   test after a minute. */
struct run_state fixture_progress(const char *name, uint32_t serial_number, uint64_t samples);
/* Returns the number of samples that the latest run's record reports as late. On a busy machine, samples are late, so
   tests add this number to the number of samples in the log. */
size_t fixture_late(const char *name);
/* Returns whether the message of a run that was stopped is empty or reports only late samples. */
bool fixture_only_stopped(const char *message);
/* Returns how many events with this id and the set's name the event file contains. Stores the Reason and User of the
   latest one in fixture_reason and fixture_user. */
size_t fixture_events(uint32_t id, const char *name);
extern char fixture_reason[1024], fixture_user[512];
/* Waits at most a minute for the event. Fails the test unless the event occurs exactly once. */
void fixture_await_event(uint32_t id, const char *name);
/* Returns a statistic of the set's collector from run_figures_text, such as "Samples". Returns 0 if it does not
   exist. */
uint64_t fixture_figure(const char *name, const char *collector, const char *figure);
/* Kills the process, as kill -9 does. */
void fixture_kill(uint32_t process_id);

#define CSV_EACH_SECOND "<SampleInterval>1</SampleInterval><LogFileFormat>0</LogFileFormat>"
#define ONE_COUNTER     "<Counter>\\System\\Processes</Counter>"

#endif

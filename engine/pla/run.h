/* SPDX-License-Identifier: MIT */
/* Starts the host process that runs a set, identifies that process, and sends requests to it. */
#ifndef OPENPLA_RUN_H
#define OPENPLA_RUN_H

#include "engine/pla/collect/collect.h"
#include "engine/pla/store.h"

enum run_status { RUN_STOPPED = 0, RUN_RUNNING = 1, RUN_COMPILING = 2 }; /* MS-PLA 2.2.2.4 */
enum run_phase {                                                         /* transitions: phase_after */
                 PHASE_STOPPED,
                 PHASE_STARTING,
                 PHASE_RUNNING,
                 PHASE_SEGMENTING,
                 PHASE_COMPILING,
                 PHASE_STOPPING,
                 RUN_PHASES
};

struct run_state {
    enum run_status status;
    enum run_phase phase;
    uint32_t process_id;
    uint32_t serial_number; /* serial number of the current run */
    uint64_t samples, samples_lost;
    int64_t started_utc;
    uint64_t phase_since; /* clock_monotonic_ms */
    uint64_t stop_since;  /* clock_monotonic_ms of the stop request; 0: none; set by run_section_read */
    char location[520];   /* output folder of the current run, UTF-8 */
};

/* Returns how long a caller waits for a start, stop or update, in milliseconds. On slow machines the environment
   variable OPENPLA_WAIT_SECONDS can set this time; if it is not set, returns `otherwise`. */
uint32_t run_wait_ms(uint32_t otherwise);
#define RUN_START_WAIT_MS  30000
#define RUN_STOP_WAIT_MS   60000
#define RUN_REPORT_WAIT_MS 600000 /* how long a stop waits for the data manager */

/* Starts the committed set in a host process: openplahost from the module's folder, or the program in the environment
   variable OPENPLA_HOST. Synchronous: returns when the set collects data, or with the error that prevents the start.
   Not synchronous: returns as soon as the host process has locked the set, so that Stop and a second Start find the
   host process. Errors up to this point are returned; later errors are written to the run record.

   Errors: PLA_E_DCS_NOT_FOUND, PLA_E_DCS_IN_USE, HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) (RootPath),
   HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) (output), PLA_E_NO_MIN_DISK, PLA_E_TOO_MANY_FOLDERS,
   PLA_E_DC_START_WAIT_TIMEOUT (a collector does not open), PLA_E_DCS_START_WAIT_TIMEOUT. If the start fails with one of
   the two timeouts, the host process has been terminated. For a set with an account, also the errors of the logon, and
   PLA_E_CREDENTIALS_REQUIRED if the account's password is missing. */
HRESULT run_start(const char *space, const char *name, bool synchronous);
/* Works like run_start; events name `account` as the account that started the set. NULL: the account of this
   process. */
HRESULT run_start_for(const char *account, const char *space, const char *name, bool synchronous);
struct run_rights;
/* Works like run_start, but uses `rights` (set_credentials.h) instead of the rights of the stored definition. Takes
   ownership of *rights. */
HRESULT run_start_with(const char *account, const char *space, const char *name, bool synchronous,
                       struct run_rights *rights);
/* Prepares a host process, so that a later start does not have to create one. The host process does not lock the set,
   so another process may run the set in a different host process. It exits when its creator exits. */
struct run_ahead;
HRESULT run_make_ahead(const char *space, const char *name, struct run_ahead **out);
/* Starts the current definition in the prepared host process, or in a new host process if the prepared one cannot be
   used. Does not wait for the first sample. Takes ownership of *ahead, which may be NULL. */
HRESULT run_start_ahead(const char *space, const char *name, struct run_ahead *ahead);
void run_ahead_free(struct run_ahead *ahead); /* terminates the host process; NULL is allowed */
/* Stops the running set. PLA_E_DCS_NOT_RUNNING: the set is not running. Synchronous: returns when the logs are closed
   and the host process has exited. If the host process does not stop within RUN_STOP_WAIT_MS (run_wait_ms), it is
   terminated, and run_stop returns HRESULT_FROM_WIN32(ERROR_TIMEOUT). The logs then end with their last complete
   sample. PLA_E_REPORT_WAIT_TIMEOUT: the data manager is still working and continues. */
HRESULT run_stop(const char *space, const char *name, bool synchronous);
/* Works like run_stop, but for a set whose schedules have expired, and without waiting. The run record contains the
   reason of the stop. */
HRESULT run_stop_expired(const char *space, const char *name);
/* Makes the running set use its stored definition without losing a sample. S_FALSE: the set is not running. If the
   stored definition is unusable, returns the reason, and the set continues with the previous definition.
   HRESULT_FROM_WIN32(ERROR_TIMEOUT): the host process does not answer in time. */
HRESULT run_update(const char *space, const char *name);
/* Flushes the collectors of the running set to disk. S_FALSE: the set is not running. */
HRESULT run_flush(const char *space, const char *name);
/* Reads the live state; a set whose host process died is reported as stopped. Never blocks. */
HRESULT run_query(const char *space, const char *name, struct run_state *state);
/* Returns the statistics of the running set's collectors, counted since each collector was opened. The string has one
   line for each of the first RUN_FIGURES_MAX collectors, and is "" if the set is not running. Never blocks. From
   memory_alloc; NULL when out of memory. */
char *run_figures_text(const char *space, const char *name);
#define RUN_FIGURES_MAX 1024
/* Terminates a host process that does not answer, provided that `seen` still describes the set's host process. S_FALSE:
   that host process no longer exists, or another host process has replaced it. */
HRESULT run_end_host(const char *space, const char *name, const struct run_state *seen);

struct run_record;
/* Marks the record of an interrupted run that has no host process: sets the result and prefixes the message.
   E_OUTOFMEMORY. */
HRESULT run_record_put_death(struct run_record *record);

struct ended_segment;
/* A function that performs the data manager's work for an ended segment. The host process calls the function for one
   segment after another, on a separate thread. NULL: there is no work. */
typedef HRESULT (*run_compile)(const struct ended_segment *segment);
/* The main function of the host process: openplahost.exe <namespace> <name> <run key>. Exit code: 0, or the failing
   HRESULT. */
int run_host_main(const char *space, const char *name, const char *run_key, run_compile compile);

/* ---- the host process ---- */

/* A process is the host process of a set if it is registered in the store, is alive, and holds the run lock. The host
   OS releases the lock when the process dies. Shared memory is never used to identify the host process. */

/* S_FALSE: the set has no host process. */
HRESULT run_host_find(const char *space, const char *name, struct run_host *out);
/* Returns whether the process is alive. Compares the start time, too, because another process can have the same id
   later. */
bool run_host_lives(const struct run_host *host);
/* Terminates the process if it is still the set's host process and runs OpenPLA's host program. S_FALSE: the process is
   not the set's host process. E_ACCESSDENIED: the process runs another program; the message names this program. */
HRESULT run_host_end(const char *space, const char *name, const struct run_host *host);
/* Returns the path of the program that runs sets: the environment variable OPENPLA_HOST, or the program in the module's
   folder. From memory_alloc; NULL when out of memory. */
char *run_host_program(void);

#endif

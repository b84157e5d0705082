/* SPDX-License-Identifier: MIT */
/* Runs of sets: one host process for each running set, which process that is, and the requests that others make of it.
 */
#ifndef OPENPLA_RUN_H
#define OPENPLA_RUN_H

#include "engine/pla/collect/collect.h"
#include "engine/pla/store.h"

enum run_status { RUN_STOPPED = 0, RUN_RUNNING = 1, RUN_COMPILING = 2 }; /* MS-PLA 2.2.2.4 */
enum run_phase {                                                         /* phase_after */
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
    uint32_t serial_number; /* of the present run */
    uint64_t samples, samples_lost;
    int64_t started_utc;
    uint64_t phase_since; /* clock_monotonic_ms */
    uint64_t stop_since;  /* the same of the request to stop, 0: none; filled in by who reads */
    char location[520];   /* folder of the present run, UTF-8 */
};

/* How long a caller waits for a start, a stop, an update, in milliseconds: the default, or what the environment
   variable OPENPLA_WAIT_SECONDS says, for slow machines. */
uint32_t run_wait_ms(uint32_t otherwise);
#define RUN_START_WAIT_MS  30000
#define RUN_STOP_WAIT_MS   60000
#define RUN_REPORT_WAIT_MS 600000 /* for the data manager of a set that stops */

/* Starts the committed set in a host process: openplahost beside our module, or the program that the environment
   variable OPENPLA_HOST names. Synchronous: returns when it collects, or with the real reason. Not synchronous: returns
   when the host has taken the set, so that Stop and a second Start find it; errors that are known until then are still
   returned, later ones are in the run record.
   PLA_E_DCS_NOT_FOUND, PLA_E_DCS_IN_USE, HRESULT of ERROR_PATH_NOT_FOUND (RootPath), ERROR_ALREADY_EXISTS (output),
   PLA_E_NO_MIN_DISK, PLA_E_TOO_MANY_FOLDERS, PLA_E_DC_START_WAIT_TIMEOUT (a collector does not open),
   PLA_E_DCS_START_WAIT_TIMEOUT; after either of the two the host is ended. Under the account that the set has: what
   its logon says, PLA_E_CREDENTIALS_REQUIRED without its password. */
HRESULT run_start(const char *space, const char *name, bool synchronous);
/* The same for an account, whom the events name; NULL: for this process itself. */
HRESULT run_start_for(const char *account, const char *space, const char *name, bool synchronous);
struct run_rights;
/* The same with these rights (credentials.h) instead of those of the stored definition; *rights is taken over. */
HRESULT run_start_with(const char *account, const char *space, const char *name, bool synchronous,
                       struct run_rights *rights);
/* A host that is made ahead of a start, which has then no process to wait for. It holds nothing of the set, whose state
   is what it is without it; who wants to run the set meanwhile runs it by another. It ends with who made it. */
struct run_ahead;
HRESULT run_make_ahead(const char *space, const char *name, struct run_ahead **out);
/* The start, as run_start without waiting for the first sample, of the set as it is now; by another host if that one
   has ended. *ahead, NULL for none, is taken over. */
HRESULT run_start_ahead(const char *space, const char *name, struct run_ahead *ahead);
void run_ahead_free(struct run_ahead *ahead); /* ends the host; NULL is allowed */
/* PLA_E_DCS_NOT_RUNNING when it does not run. Synchronous: returns when logs are closed and the host is gone. A host
   that does not stop in time is ended: HRESULT of ERROR_TIMEOUT; its logs end with their last whole sample.
   PLA_E_REPORT_WAIT_TIMEOUT: the data manager still works; it goes on. */
HRESULT run_stop(const char *space, const char *name, bool synchronous);
/* The same for a set whose schedules have expired, not synchronous; the run says so. */
HRESULT run_stop_expired(const char *space, const char *name);
/* The running set takes up its stored definition, without losing a sample; S_FALSE when it does not run. A definition
   that cannot run is refused with the reason, and the set goes on with the one before. HRESULT of ERROR_TIMEOUT. */
HRESULT run_update(const char *space, const char *name);
/* Writes to the disk what the collectors of the running set have; S_FALSE when it does not run. */
HRESULT run_flush(const char *space, const char *name);
/* Live state; a dead host reads as stopped. Never blocks. */
HRESULT run_query(const char *space, const char *name, struct run_state *state);
/* What the collectors of the running set have done since they were opened, for people: a line for each of the first
   RUN_FIGURES_MAX, "" when the set does not run. Never blocks. From memory_alloc; NULL when memory is out. */
char *run_figures_text(const char *space, const char *name);
#define RUN_FIGURES_MAX 1024
/* Ends the host of the set as it stands, if it is the one of that state. For hosts that do not answer. S_FALSE: it has
   none, or another one by now. */
HRESULT run_end_host(const char *space, const char *name, const struct run_state *seen);

struct run_record;
/* For the record of a run that has not ended in order and whose host is gone: puts that as its result and in front of
   its message. E_OUTOFMEMORY. */
HRESULT run_record_put_death(struct run_record *record);

struct ended_segment;
/* What a host does with each segment that has ended: the data manager's work, on a thread of its own, segment after
   segment. NULL: nothing. */
typedef HRESULT (*run_compile)(const struct ended_segment *segment);
/* The host's main program: openplahost.exe <namespace> <name> <run key>. Exit code: 0, or the failing HRESULT. */
int run_host_main(const char *space, const char *name, const char *run_key, run_compile compile);

/* ---- the host process ---- */

/* A process counts as the host of a set if it is written down in the store, lives, and holds the run lock, which the
   system frees when its holder dies. What stands in shared memory is never asked who the host is. */

/* S_FALSE: the set has none. */
HRESULT run_host_find(const char *space, const char *name, struct run_host *out);
/* Whether the process that was found lives still; the id alone may be another's by then. */
bool run_host_lives(const struct run_host *host);
/* Ends the process, if it still is the set's host and runs our host program. S_FALSE: it is not the host, or any more.
   E_ACCESSDENIED, naming both: it runs another program. */
HRESULT run_host_end(const char *space, const char *name, const struct run_host *host);
/* The program beside our module that runs sets; the environment variable OPENPLA_HOST names another one. From
   memory_alloc, NULL when out of memory. */
char *run_host_program(void);

#endif

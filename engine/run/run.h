/* SPDX-License-Identifier: MIT */
/* What a set does: one host process per running set, and the requests that others make of it. */
#ifndef OPENPLA_RUN_H
#define OPENPLA_RUN_H

#include "engine/os/text.h"

enum run_status { RUN_STOPPED = 0, RUN_RUNNING = 1, RUN_COMPILING = 2 }; /* MS-PLA 2.2.2.4 */

struct run_state {
    enum run_status status;
    uint32_t process_id;
    uint32_t serial_number; /* of the present run */
    uint64_t samples, samples_lost;
    int64_t started_utc;
    char location[520]; /* folder of the present run, UTF-8 */
};

/* Starts the committed set in a host process: openplahost beside our module, or the program that the environment
   variable OPENPLA_HOST names. Synchronous: returns when it collects, or with the real reason. Not synchronous: returns
   when the host process was started; errors that are known before that are still returned.
   PLA_E_DCS_NOT_FOUND, PLA_E_DCS_IN_USE, HRESULT of ERROR_PATH_NOT_FOUND (RootPath), ERROR_ALREADY_EXISTS (output),
   PLA_E_DCS_START_WAIT_TIMEOUT. */
HRESULT run_start(const char *space, const char *name, bool synchronous);
/* PLA_E_DCS_NOT_RUNNING when it does not run. Synchronous: returns when logs are closed and the host is gone. */
HRESULT run_stop(const char *space, const char *name, bool synchronous);
/* Live state; a dead host reads as stopped. Never blocks. */
HRESULT run_query(const char *space, const char *name, struct run_state *state);

/* The host's main program: openplahost.exe <namespace> <name> <run key>. Exit code: 0, or the failing HRESULT. */
int run_host_main(const char *space, const char *name, const char *run_key);

#endif

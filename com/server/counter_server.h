/* SPDX-License-Identifier: MIT */
/* Serves this computer's counters to other computers (MS-PCQ) from a separate process, so that its clients cannot
   disturb the server of data collector sets. */
#ifndef OPENPLA_COUNTER_SERVER_H
#define OPENPLA_COUNTER_SERVER_H

#include "engine/pdh/pcq_server.h"

#include <windows.h>
#include <rpc.h>

/* The main program of `openplasrv /counters [process]`: serves counters according to the settings
   (engine/pdh/pcq_server.h) until the process with that ID exits. Without an ID, runs without a time limit. Prints the
   endpoints at which it listens, or the reason why it cannot listen, to stderr. Returns the exit code. */
int counter_server_main(const WCHAR *parent);

/* For the service: keeps a counter server running while the settings request one, and restarts it when it exits. */
void counter_child_begin(void);
void counter_child_end(void);

/* From now on, this process answers the MS-PCQ calls that RPC delivers: it checks each caller, and then calls the
   methods in engine/pdh/remote. `settings` must stay valid, and *out is never destroyed, because calls may run until
   the process exits. Pass *out also to counter_port_open. Fails with E_OUTOFMEMORY. */
HRESULT counter_calls_begin(const struct pcq_settings *settings, struct pcq_server **out);
/* The interface, for RpcServerRegisterIf2. */
extern RPC_IF_HANDLE PerflibV2_v1_0_s_ifspec;

#endif

/* SPDX-License-Identifier: MIT */
/* Offers this computer's counters to other computers (MS-PCQ) in a separate process, so that its clients cannot disturb
   the server of sets. */
#ifndef OPENPLA_COUNTER_SERVER_H
#define OPENPLA_COUNTER_SERVER_H

#include "engine/pdh/pcq_server.h"

#include <windows.h>
#include <rpc.h>

/* The main program of `openplasrv /counters [process]`: offers counters as configured in engine/pdh/pcq_server.h until
   the process with that id exits, or without limit. Returns the exit code; prints to stderr where it listens, or why it
   does not. */
int counter_server_main(const WCHAR *parent);

/* For the service: keeps such a process running while counters are configured to be offered, and restarts it when it
   exits. */
void counter_child_begin(void);
void counter_child_end(void);

/* Starts answering MS-PCQ's calls that RPC delivers: each caller is checked, then the methods of engine/pdh/remote
   answer. `settings` must stay valid, and *out is never destroyed, because calls may run until the process exits. *out
   serves other transports. E_OUTOFMEMORY. */
HRESULT counter_calls_begin(const struct pcq_settings *settings, struct pcq_server **out);
/* The interface, for RpcServerRegisterIf2. */
extern RPC_IF_HANDLE PerflibV2_v1_0_s_ifspec;

#endif

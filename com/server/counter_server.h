/* SPDX-License-Identifier: MIT */
/* This computer's counters for others (MS-PCQ), in a process of its own: what a client does to it takes nothing from
   the server of sets. */
#ifndef OPENPLA_COUNTER_SERVER_H
#define OPENPLA_COUNTER_SERVER_H

#include "engine/pdh/pcq_server.h"

#include <windows.h>
#include <rpc.h>

/* The main program of `openplasrv /counters [process]`: offers counters by the settings of engine/pdh/pcq_server.h,
   until the process of that id ends, or for good without one. Exit code; says on stderr where it listens, or why not.
 */
int counter_server_main(const WCHAR *parent);

/* For the service: while the settings offer counters there is such a process, which is started anew when it ends.
   Without effect where they offer none. */
void counter_child_begin(void);
void counter_child_end(void);

/* MS-PCQ's calls as RPC brings them: who calls is looked at, then the methods of engine/pdh/remote answer.
   From now on calls are answered; `settings` is borrowed for good, as is what is made: calls may be under way until the
   process ends; *out is what answers, for other ways in. E_OUTOFMEMORY. */
HRESULT counter_calls_begin(const struct pcq_settings *settings, struct pcq_server **out);
/* The interface, for RpcServerRegisterIf2. */
extern RPC_IF_HANDLE PerflibV2_v1_0_s_ifspec;

#endif

/* SPDX-License-Identifier: MIT */
/* MS-PCQ's calls as RPC brings them: who calls is looked at, then the methods of engine/pdh/remote answer. */
#ifndef OPENPLA_COUNTER_CALLS_H
#define OPENPLA_COUNTER_CALLS_H

#include "engine/pdh/pcq_server.h"

#include <windows.h>
#include <rpc.h>

/* From now on calls are answered; `settings` is borrowed for good, as is what is made: calls may be under way until the
   process ends; *out is what answers, for other ways in. E_OUTOFMEMORY. */
HRESULT counter_calls_begin(const struct pcq_settings *settings, struct pcq_server **out);
/* The interface, for RpcServerRegisterIf2. */
extern RPC_IF_HANDLE PerflibV2_v1_0_s_ifspec;

#endif

/* SPDX-License-Identifier: MIT */
/* Performs the method calls of remote clients on this process's objects. */
#ifndef OPENPLA_REMOTE_CALLS_H
#define OPENPLA_REMOTE_CALLS_H

#include "com/remote/slots.h"
#include "com/remote/values.h"

/* engine/rpc's handler for the 16 classes and their objects. The thread must serve a remote account (call_serve_account
   in com/server/call_entry.h). */
extern const struct orpc_handler remote_handler;

/* ---- between the files of this folder ----
   Each function reads the rest of the request, calls the method, writes the answer, and returns 0 or a fault. */

uint32_t remote_dispatch_call(struct remote_call *c, void *pointer, struct ndr_reader *in, struct ndr_writer *out);
/* For ITypeInfo and ITypeLib (MS-OAUT 3.7, 3.11). */
uint32_t remote_type_info_call(struct remote_call *c, ITypeInfo *info, struct ndr_reader *in, struct ndr_writer *out);
uint32_t remote_type_lib_call(struct remote_call *c, ITypeLib *library, struct ndr_reader *in, struct ndr_writer *out);

#endif

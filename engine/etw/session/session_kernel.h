/* SPDX-License-Identifier: MIT */
/* The kernel's events of a session that is a logger of them: a thread of its host, which writes them as a provider
   does. */
#ifndef OPENPLA_SESSION_KERNEL_H
#define OPENPLA_SESSION_KERNEL_H

#include "engine/etw/directory.h"
#include "engine/etw/session/session_layout.h"

struct session_kernel;
/* What the journal has of a session, which is told once. Zero-initialise. */
struct session_kernel_told {
    uint32_t masks[8];
    bool lists[DIRECTORY_KERNEL_LISTS];
};
/* Whether such events can be in it: it is one of the kernel's loggers, or a system logger. */
bool session_kernel_is_one(const struct directory_session *s);
/* Begins what its flags ask for, the rundown first. S_FALSE, and *out NULL: it asks for nothing that this host has a
   source for, which is told to the journal. The session and its buffers are borrowed until it has ended. */
HRESULT session_kernel_begin(struct directory *d, const struct directory_session *s, const struct session_buffers *b,
                             struct session_kernel_told *told, struct session_kernel **out);
/* The session has another list now; k NULL: and no events of the kernel. */
void session_kernel_list(struct session_kernel *k, const struct directory_session *s, enum directory_kernel_list list,
                         struct session_kernel_told *told);
/* Asks it to end, with the rundown of the end. NULL is allowed, as below. */
void session_kernel_stop(struct session_kernel *k);
/* True: it has ended, and *k is freed. It may need buffers for that: whoever empties them does not wait here. */
bool session_kernel_ended(struct session_kernel *k, uint32_t timeout_ms);

#endif

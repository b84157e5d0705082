/* SPDX-License-Identifier: MIT */
/* What a logger of the kernel's events says in its own trace of what it cannot see: events of a provider of our own,
   "OpenPLA.KernelLogger" {52b0624b-b22e-586c-51bc-52916798064f}, which describe themselves, so that every reader of
   TraceLogging events shows them. */
#ifndef OPENPLA_SESSION_KERNEL_NOTES_H
#define OPENPLA_SESSION_KERNEL_NOTES_H

#include "engine/etw/kernel/kernel_queue.h"
#include "engine/etw/kernel/kernel_tracer.h"

enum { NOTE_STAMP_AT = 16 }; /* where the record's time stamp is to be put */

/* The record of "Source": where the events come from, why from there, and which of `flags` have none. */
void kernel_note_source(const struct kernel_state *state, uint32_t flags, struct kernel_data *record);
/* That of "Missed": as many processes and threads began and ended since the event before it and were not seen. */
void kernel_note_missed(uint64_t count, struct kernel_data *record);

#endif

/* SPDX-License-Identifier: MIT */
/* What the Linux kernel is told through files (tracefs), and its streams of raw pages; natively and from inside Wine.
   Paths in Unix form. On real Windows nothing of it is there. */
#ifndef OPENPLA_KERNEL_CONTROL_H
#define OPENPLA_KERNEL_CONTROL_H

#include "engine/base/wintypes.h"

/* Writes the text in one call. ERROR_FILE_NOT_FOUND's HRESULT where there is no such file, ERROR_ACCESS_DENIED's where
   this user may not, another one when the kernel does not take the text. */
HRESULT kernel_control_write(const char *path, const char *text);
/* ERROR_ALREADY_EXISTS's HRESULT when it is there. */
HRESULT kernel_control_folder(const char *path);
/* Removes a folder of which all that it holds goes with it, as an instance of tracefs. S_OK when it is not there.
   ERROR_BUSY's HRESULT: a file in it is open, in whatever process. */
HRESULT kernel_control_remove(const char *path);

/* The trace_clock of which 100 ns are a tick of clock_ticks, with its zero too. */
const char *kernel_trace_clock(void);

struct kernel_stream;
HRESULT kernel_stream_open(const char *path, struct kernel_stream **out);
/* Takes the next `bytes`, of which the kernel gives out all or none. S_FALSE: there are none now. Under Wine the call
   then waits for them instead: who must not wait asks the kernel before how many there are. */
HRESULT kernel_stream_read(struct kernel_stream *s, void *to, uint32_t bytes);
void kernel_stream_close(struct kernel_stream *s); /* NULL is allowed */

#endif

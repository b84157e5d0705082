/* SPDX-License-Identifier: MIT */
/* Reads a trace of the network provider. */
#ifndef OPENPLA_EXAMPLE_PACKET_TRACE_H
#define OPENPLA_EXAMPLE_PACKET_TRACE_H

#include <windows.h>

enum { MOST_PACKETS = 16 };
struct packet_trace {
    ULONG count; /* number of all events; `ids` has the first of them */
    USHORT ids[MOST_PACKETS];
};
/* Prints each event of the file. False: failed, with a message printed. */
BOOL packet_trace_read(const WCHAR *path, struct packet_trace *out);

#endif

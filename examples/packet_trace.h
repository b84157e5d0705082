/* SPDX-License-Identifier: MIT */
/* A trace of the network provider, read. */
#ifndef OPENPLA_EXAMPLE_PACKET_TRACE_H
#define OPENPLA_EXAMPLE_PACKET_TRACE_H

#include <windows.h>

enum { MOST_PACKETS = 16 };
struct packet_trace {
    ULONG count; /* of all events; the first of them are here */
    USHORT ids[MOST_PACKETS];
};
/* Prints each event of the file. False: failed, with a message printed. */
BOOL packet_trace_read(const WCHAR *path, struct packet_trace *out);

#endif

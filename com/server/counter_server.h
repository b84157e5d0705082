/* SPDX-License-Identifier: MIT */
/* This computer's counters for others (MS-PCQ), in a process of its own: what a client does to it takes nothing from
   the server of sets. */
#ifndef OPENPLA_COUNTER_SERVER_H
#define OPENPLA_COUNTER_SERVER_H

#include <windows.h>

/* The main program of `openplasrv /counters [process]`: offers counters by the settings of engine/pdh/pcq_server.h,
   until the process of that id ends, or for good without one. Exit code; says on stderr where it listens, or why not.
 */
int counter_server_main(const WCHAR *parent);

/* For the service: while the settings offer counters there is such a process, which is started anew when it ends.
   Without effect where they offer none. */
void counter_child_begin(void);
void counter_child_end(void);

#endif

/* SPDX-License-Identifier: MIT */
/* openetwhost <logger> <generation> <key>: the host process of one session in the native build. session_host_main does
   all the work. */
#include "engine/etw/session/session_start.h"

#include <signal.h>

int main(int count, char **arguments)
{
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); /* a file at its size limit (RLIMIT_FSIZE) is treated like a full disk */
#endif
    return session_host_main(count - 1, arguments + 1);
}

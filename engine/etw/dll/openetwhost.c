/* SPDX-License-Identifier: MIT */
/* openetwhost <logger> <generation> <key>: the host process of one session, natively. The core does everything. */
#include "engine/etw/session/session_start.h"

#include <signal.h>

int main(int count, char **arguments)
{
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is treated as a full disk */
#endif
    return session_host_main(count - 1, arguments + 1);
}

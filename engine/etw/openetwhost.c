/* SPDX-License-Identifier: MIT */
/* openetwhost <logger> <turn> <key>: the process of one session, natively. All it does is in the core. */
#include "engine/etw/session_start.h"

int main(int count, char **arguments)
{
    return session_host_main(count - 1, arguments + 1);
}

/* SPDX-License-Identifier: MIT */
/* Hosts without structured exceptions. */
#include "engine/etw/consumer_guard.h"

bool consumer_guard(void (*call)(void *argument), void *argument)
{
    call(argument);
    return true;
}

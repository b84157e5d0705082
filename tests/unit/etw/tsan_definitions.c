/* SPDX-License-Identifier: MIT */
/* Replaces engine/etw/consumer/definitions_api.c in the thread sanitizer's library, which contains no TDH: its tests
   read no merged traces. */
#include "engine/etw/consumer/consumer.h"

void consumer_pass_definition(EVENT_RECORD *event)
{
    (void)event;
}

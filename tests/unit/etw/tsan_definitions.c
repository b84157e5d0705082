/* SPDX-License-Identifier: MIT */
/* Stands for engine/etw/consumer/definitions_api.c in the library of the thread sanitizer, which has no TDH: its tests
   read no merged traces. */
#include "engine/etw/consumer/consumer.h"

void consumer_pass_definition(EVENT_RECORD *event)
{
    (void)event;
}

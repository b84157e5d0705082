/* SPDX-License-Identifier: MIT */
/* Calls of consumers' callbacks, whose exceptions are ProcessTrace's result. */
#ifndef OPENPLA_CONSUMER_GUARD_H
#define OPENPLA_CONSUMER_GUARD_H

#include <stdbool.h>

/* Calls call(argument). False: an exception was raised in it that nobody there took; it has ended at that place.
   Natively there are no such exceptions. */
bool consumer_guard(void (*call)(void *argument), void *argument);

#endif

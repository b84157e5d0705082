/* SPDX-License-Identifier: MIT */
/* Calls of consumers' callbacks, whose exceptions are ProcessTrace's result. */
#ifndef OPENPLA_CONSUMER_GUARD_H
#define OPENPLA_CONSUMER_GUARD_H

#include <stdbool.h>

/* Calls call(argument). False: an exception was raised in it that nobody there took; it has ended at that place. Where
   there are no exceptions (natively), and in 32-bit programs, it just calls. */
bool consumer_guard(void (*call)(void *argument), void *argument);

#endif

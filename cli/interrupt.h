/* SPDX-License-Identifier: MIT */
/* Ctrl+C, and the other ways to ask a program to end, as something a loop can wait for. */
#ifndef OPENPLA_CLI_INTERRUPT_H
#define OPENPLA_CLI_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* From now on until interrupt_end, being asked to end does not end the program. May be begun again within; each is to
   be ended. False: it cannot be arranged. */
bool interrupt_begin(void);
/* True: it was asked to end, now or before. False: the time has passed. */
bool interrupt_wait(uint32_t timeout_ms);
/* The same without waiting, for loops and the threads of engines that ask very often: the system is asked ten times a
   second. `context` is unused. */
bool interrupt_asked(void *context);
void interrupt_end(void);

#endif

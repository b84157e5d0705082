/* SPDX-License-Identifier: MIT */
/* The handles that programs hold: which of the addresses they may pass are alive. A closed or invented handle must be
   told from a live one without touching what it points to. Threads may call at the same time. */
#ifndef OPENPLA_PDH_HANDLE_H
#define OPENPLA_PDH_HANDLE_H

#include <stdbool.h>

/* False: out of memory. */
bool handle_add(const void *handle);
/* Nothing happens when it is not alive. */
void handle_remove(const void *handle);
bool handle_is_alive(const void *handle);

#endif

/* SPDX-License-Identifier: MIT */
/* The host's texts of its own error codes, in its language, as events that carry such a code are shown. */
#ifndef OPENPLA_SYSTEM_MESSAGE_H
#define OPENPLA_SYSTEM_MESSAGE_H

#include <stdint.h>

enum system_message { SYSTEM_MESSAGE_WIN32, SYSTEM_MESSAGE_HRESULT, SYSTEM_MESSAGE_NTSTATUS };

/* One line without its end, UTF-8, from memory_alloc; NULL: the host has none, or memory is out. */
char *system_message(enum system_message kind, uint32_t code);

#endif

/* SPDX-License-Identifier: MIT */
/* The header that Mbed TLS includes by this name: its locks, which tls_mbedtls.c implements with the engine's locks. */
#ifndef OPENPLA_THREADING_ALT_H
#define OPENPLA_THREADING_ALT_H

#include "engine/base/os.h"

typedef struct lock mbedtls_threading_mutex_t;

#endif

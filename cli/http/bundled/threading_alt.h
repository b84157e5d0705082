/* SPDX-License-Identifier: MIT */
/* Mbed TLS includes a header with this name to find its lock type. tls_mbedtls.c implements the lock with the engine's
   locks. */
#ifndef OPENPLA_THREADING_ALT_H
#define OPENPLA_THREADING_ALT_H

#include "engine/base/os.h"

typedef struct lock mbedtls_threading_mutex_t;

#endif

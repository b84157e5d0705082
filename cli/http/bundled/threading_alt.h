/* SPDX-License-Identifier: MIT */
/* What Mbed TLS includes under this name: its locks, which tls_mbedtls.c makes of the engine's. */
#ifndef OPENPLA_THREADING_ALT_H
#define OPENPLA_THREADING_ALT_H

#include "engine/base/os.h"

typedef struct lock mbedtls_threading_mutex_t;

#endif

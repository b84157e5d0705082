/* SPDX-License-Identifier: MIT */
/* libxcrypt's crypt-bcrypt.c includes a header with this name. This header renames the functions of crypt-bcrypt.c, so
   that they cannot conflict with the functions of a crypt library. It also defines the macros that crypt-bcrypt.c
   expects. crypt-bcrypt.c handles the three prefixes $2a$, $2b$ and $2y$ in one function. */
#ifndef OPENPLA_CRYPT_PORT_H
#define OPENPLA_CRYPT_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <assert.h>
#include <string.h>

#define INCLUDE_bcrypt       1
#define INCLUDE_bcrypt_a     0
#define INCLUDE_bcrypt_x     0
#define INCLUDE_bcrypt_y     0

#define XCRYPT_USE_BIGENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define ARG_UNUSED(x)        x __attribute__((__unused__))

/* Maximum sizes in bytes of a hash and of the memory for computing a hash. */
#define CRYPT_OUTPUT_SIZE    384
#define ALG_SPECIFIC_SIZE    8192

#define crypt_bcrypt_rn      bundled_bcrypt
#define gensalt_bcrypt_rn    bundled_bcrypt_salt

void crypt_bcrypt_rn(const char *phrase, size_t phrase_size, const char *setting, size_t setting_size, uint8_t *out,
                     size_t out_size, void *work, size_t work_size);
void gensalt_bcrypt_rn(unsigned long count, const uint8_t *random, size_t random_size, uint8_t *out, size_t out_size);

#endif

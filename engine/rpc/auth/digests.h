/* SPDX-License-Identifier: MIT */
/* The primitives of NTLM: MD4 (RFC 1320), MD5 (RFC 1321), HMAC-MD5 (RFC 2104) and RC4, random bytes, and a comparison
   in constant time. These algorithms exist here because NTLMv2 requires them; no other code may use them (DECISIONS
   135). */
#ifndef OPENPLA_RPC_DIGESTS_H
#define OPENPLA_RPC_DIGESTS_H

#include "engine/base/wintypes.h"

#define DIGEST_BYTES 16

struct md5 {
    uint32_t state[4];
    uint64_t length; /* bytes so far */
    uint8_t block[64];
};
void md5_begin(struct md5 *m);
void md5_add(struct md5 *m, const void *bytes, size_t size);
void md5_end(struct md5 *m, uint8_t out[DIGEST_BYTES]); /* also wipes the state */
void md4_digest(const void *bytes, size_t size, uint8_t out[DIGEST_BYTES]);

struct hmac_md5 {
    struct md5 inner, outer;
};
/* Begins an HMAC. The key has at most 64 bytes. */
void hmac_md5_begin(struct hmac_md5 *h, const uint8_t *key, size_t key_size);
void hmac_md5_add(struct hmac_md5 *h, const void *bytes, size_t size);
void hmac_md5_end(struct hmac_md5 *h, uint8_t out[DIGEST_BYTES]); /* also wipes the state */

struct rc4 {
    uint8_t state[256], i, j;
};
void rc4_begin(struct rc4 *r, const uint8_t *key, size_t key_size);
void rc4_apply(struct rc4 *r, uint8_t *bytes, size_t size); /* encrypts or decrypts in place */

/* Takes the same time for equal and different bytes, regardless of the position of the difference. */
bool secret_bytes_equal(const uint8_t *a, const uint8_t *b, size_t size);

#endif

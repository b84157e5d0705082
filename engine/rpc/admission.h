/* SPDX-License-Identifier: MIT */
/* Limits connections, in total and per address, and delays addresses after failed logons. All threads may use one
   table. */
#ifndef OPENPLA_RPC_ADMISSION_H
#define OPENPLA_RPC_ADMISSION_H

#include "engine/base/wintypes.h"

/* 0 means the default, which each comment gives last. */
struct admission_limits {
    uint32_t connections, connections_of_address; /* 256; 32 */
    uint32_t delay_ms;                            /* time to wait before the answer to a failed logon; 300 ms */
    uint32_t failures;                            /* consecutive failures after which the address is blocked; 10 */
    uint32_t block_ms;                            /* time for which the address stays blocked; 5 min */
};

struct admission;
HRESULT admission_open(const struct admission_limits *limits, struct admission **out);
void admission_close(struct admission *a); /* NULL is allowed */
/* Called for a new connection from this address (in digits). False: close the connection immediately, and do not call
   admission_leave; *why is a static text for a log. */
bool admission_enter(struct admission *a, const char *address, uint64_t now_ms, const char **why);
void admission_leave(struct admission *a, const char *address);
/* Called after a logon. The first function returns how many milliseconds the caller must wait before it closes the
   connection. The second function resets the address's count of failures. */
uint32_t admission_logon_failed(struct admission *a, const char *address, uint64_t now_ms);
void admission_logon_succeeded(struct admission *a, const char *address);

#endif

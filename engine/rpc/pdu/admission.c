/* SPDX-License-Identifier: MIT */
/* A table of addresses that are connected or have failed recently. An attacker with many addresses can fill it. In this
   case the address whose last failure is oldest is removed; a new address is refused only if all rows are connected. */
#include "engine/rpc/admission.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"

#include <string.h>

enum { ADDRESSES = 1024, ADDRESS_BYTES = 64 };

struct admission_row {
    char address[ADDRESS_BYTES]; /* "": free */
    uint32_t connections, failures;
    uint64_t failed_ms, blocked_until_ms;
};

struct admission {
    struct admission_limits limits;
    struct lock lock;
    uint32_t connections;
    struct admission_row rows[ADDRESSES];
};

static uint32_t limit_or(uint32_t limit, uint32_t otherwise)
{
    return limit ? limit : otherwise;
}

HRESULT admission_open(const struct admission_limits *limits, struct admission **out)
{
    struct admission *a = memory_zero(1, sizeof *a);
    *out = a;
    if (!a)
        return E_OUTOFMEMORY;
    const struct admission_limits l = limits ? *limits : (struct admission_limits){0};
    a->limits = (struct admission_limits){.connections = limit_or(l.connections, 256),
                                          .connections_of_address = limit_or(l.connections_of_address, 32),
                                          .delay_ms = limit_or(l.delay_ms, 300),
                                          .failures = limit_or(l.failures, 10),
                                          .block_ms = limit_or(l.block_ms, 300000)};
    return S_OK;
}

void admission_close(struct admission *a)
{
    memory_free(a);
}

/* ---- under the lock ---- */

static struct admission_row *admission_find(struct admission *a, const char *address)
{
    for (size_t i = 0; i < ADDRESSES; i++)
        if (strcmp(a->rows[i].address, address) == 0)
            return &a->rows[i];
    return NULL;
}

/* Returns the row of an address, or a new row; NULL: all rows have connections. */
static struct admission_row *admission_take_row(struct admission *a, const char *address)
{
    struct admission_row *row = admission_find(a, address);
    if (row)
        return row;
    for (size_t i = 0; i < ADDRESSES; i++) {
        struct admission_row *other = &a->rows[i];
        if (!other->connections && (!row || !*other->address || (*row->address && other->failed_ms < row->failed_ms)))
            row = other;
    }
    if (row) {
        *row = (struct admission_row){.connections = 0};
        text_fit(row->address, sizeof row->address, address);
    }
    return row;
}

static void admission_drop_if_unused(struct admission_row *row)
{
    if (!row->connections && !row->failures)
        row->address[0] = 0;
}

/* ---- */

bool admission_enter(struct admission *a, const char *address, uint64_t now_ms, const char **why)
{
    *why = NULL;
    lock_enter(&a->lock);
    struct admission_row *row = *address && strlen(address) < ADDRESS_BYTES ? admission_take_row(a, address) : NULL;
    if (row && row->blocked_until_ms && now_ms >= row->blocked_until_ms)
        row->blocked_until_ms = 0, row->failures = 0;
    if (!row)
        *why = "too many addresses";
    else if (now_ms < row->blocked_until_ms)
        *why = "blocked after failed logons";
    else if (row->connections >= a->limits.connections_of_address)
        *why = "too many connections from this address";
    else if (a->connections >= a->limits.connections)
        *why = "too many connections";
    else {
        row->connections++;
        a->connections++;
    }
    if (row)
        admission_drop_if_unused(row);
    lock_leave(&a->lock);
    return !*why;
}

void admission_leave(struct admission *a, const char *address)
{
    lock_enter(&a->lock);
    struct admission_row *row = admission_find(a, address);
    if (row && row->connections) {
        row->connections--;
        a->connections--;
        admission_drop_if_unused(row);
    }
    lock_leave(&a->lock);
}

uint32_t admission_logon_failed(struct admission *a, const char *address, uint64_t now_ms)
{
    lock_enter(&a->lock);
    struct admission_row *row = *address ? admission_find(a, address) : NULL; /* a connected address has a row */
    if (row) {
        if (now_ms - row->failed_ms > a->limits.block_ms)
            row->failures = 0; /* the last failure was long ago */
        row->failed_ms = now_ms;
        if (++row->failures >= a->limits.failures)
            row->blocked_until_ms = now_ms + a->limits.block_ms;
    }
    lock_leave(&a->lock);
    return a->limits.delay_ms;
}

void admission_logon_succeeded(struct admission *a, const char *address)
{
    lock_enter(&a->lock);
    struct admission_row *row = *address ? admission_find(a, address) : NULL;
    if (row && !row->blocked_until_ms)
        row->failures = 0;
    lock_leave(&a->lock);
}

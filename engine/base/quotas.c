/* SPDX-License-Identifier: MIT */
/* The quotas in force on this machine, and the shares of the quota "memory". */
#include "engine/base/quotas.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"

#include <stdatomic.h>
#include <string.h>

enum change { SETTABLE, FIXED };
static const struct row {
    const char *name;
    uint32_t number;
    enum change change;
    HRESULT error;
    const char *of;
} rows[QUOTAS] = {
#define QUOTA(name, number, change, error, of, why) {#name, number, change, error, of},
#include "engine/base/quotas.def"
#undef QUOTA
};

static struct lock lock = LOCK_INIT;
static _Atomic uint32_t limits[QUOTAS];
static atomic_bool known;

/* Parses one "name=number". */
static bool take_part(char *part, uint32_t *numbers)
{
    uint64_t number;
    char *value = strchr(part, '=');
    if (!value || !text_to_u64(value + 1, &number) || !number || number > UINT32_MAX)
        return false;
    *value = 0;
    for (size_t i = 0; i < QUOTAS; i++) {
        if (rows[i].change != SETTABLE || !text_equal_nocase(rows[i].name, part))
            continue;
        numbers[i] = (uint32_t)number;
        return true;
    }
    *value = '='; /* restored, because the error text contains the whole part */
    return false;
}

static HRESULT take_parts(char *text, uint32_t *numbers)
{
    for (char *part = text; part;) {
        char *end = strchr(part, ';');
        if (end)
            *end++ = 0;
        if (*part && !take_part(part, numbers))
            return error_set(E_INVALIDARG,
                             QUOTAS_VARIABLE ": invalid quota '%.200s': expected NAME=NUMBER with the name of a quota "
                                             "that can be set and a number from 1 to %u",
                             part, UINT32_MAX);
        part = end;
    }
    return S_OK;
}

/* The caller must hold the lock. */
static HRESULT read_numbers(void)
{
    uint32_t numbers[QUOTAS];
    char *text = NULL;
    for (size_t i = 0; i < QUOTAS; i++)
        numbers[i] = rows[i].number;
    HRESULT hr = environment_get(QUOTAS_VARIABLE, &text);
    if (hr == S_OK)
        hr = take_parts(text, numbers);
    memory_free(text);
    for (size_t i = 0; i < QUOTAS; i++)
        atomic_store(&limits[i], FAILED(hr) ? rows[i].number : numbers[i]);
    atomic_store(&known, true);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT quotas_read(void)
{
    lock_enter(&lock);
    HRESULT hr = read_numbers();
    lock_leave(&lock);
    return hr;
}

uint32_t quota_limit(enum quota which)
{
    if (!atomic_load(&known)) {
        lock_enter(&lock);
        if (!atomic_load(&known) && FAILED(read_numbers()))
            error_clear(); /* ignored here; quotas_read reports the failure when a server starts */
        lock_leave(&lock);
    }
    return atomic_load(&limits[which]);
}

HRESULT quota_exceeded(enum quota which, const char *whose)
{
    const struct row *r = &rows[which];
    return error_set(r->error, "%.200s%smore than %u %s (quota '%s')", whose, *whose ? ": " : "",
                     (unsigned)quota_limit(which), r->of, r->name);
}

/* ---- shares of memory ---- */

struct memory_share {
    atomic_uint references;
    _Atomic int64_t bytes;
};

/* Whether any thread has ever served a share. Checked first, because thread-local variables are slow with some
   compilers. */
static atomic_bool used;
static _Thread_local struct memory_share *served;

struct memory_share *memory_share_create(void)
{
    struct memory_share *s = memory_zero(1, sizeof *s);
    if (s)
        atomic_init(&s->references, 1);
    return s;
}

struct memory_share *memory_share_reference(struct memory_share *s)
{
    if (s)
        atomic_fetch_add(&s->references, 1);
    return s;
}

void memory_share_release(struct memory_share *s)
{
    if (s && atomic_fetch_sub(&s->references, 1) == 1)
        memory_free(s);
}

void memory_share_serve(struct memory_share *s)
{
    if (s)
        atomic_store_explicit(&used, true, memory_order_relaxed);
    if (atomic_load_explicit(&used, memory_order_relaxed))
        served = s;
}

struct memory_share *memory_share_served(void)
{
    return atomic_load_explicit(&used, memory_order_relaxed) ? served : NULL;
}

uint64_t memory_share_bytes(const struct memory_share *s)
{
    const int64_t bytes = s ? atomic_load(&s->bytes) : 0;
    return bytes > 0 ? (uint64_t)bytes : 0;
}

HRESULT memory_share_room(const struct memory_share *s, size_t bytes)
{
    const uint64_t limit = s ? quota_limit(QUOTA_memory) : 0;
    return !s || (bytes <= limit && memory_share_bytes(s) <= limit - bytes) ? S_OK : quota_exceeded(QUOTA_memory, "");
}

void memory_share_count(struct memory_share *s, int64_t bytes)
{
    if (s)
        atomic_fetch_add(&s->bytes, bytes);
}

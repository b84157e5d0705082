/* SPDX-License-Identifier: MIT */
/* Opens the directory's section, changes it under its mutex, and reads it at a revision. directory_layout.h describes
   the records and the commit. */
#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"
#include "engine/etw/autologger.h"
#include "engine/etw/directory/directory_layout.h"

#include <stdio.h>
#include <string.h>

HRESULT directory_name(char out[DIRECTORY_NAME_BYTES])
{
    char *given = NULL;
    HRESULT hr = environment_get("OPENPLA_ETW", &given);
    if (FAILED(hr))
        return hr;
    const char *name = given ? given : DIRECTORY_OF_HOST;
    const size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
    if (name[length] || length >= DIRECTORY_NAME_BYTES)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_NAME),
                       "invalid OPENPLA_ETW '%.80s': expected at most 32 letters and digits", name);
    else
        memcpy(out, name, length + 1);
    memory_free(given);
    return SUCCEEDED(hr) ? S_OK : hr;
}

#define READ_TRIES 100  /* number of attempts before directory_read reads under the mutex */
#define LEAVE_MS   1000 /* maximum wait for the mutex; a change takes less time */

/* ---- the directory of this process ---- */

static HRESULT own_name(char out[64])
{
    char name[DIRECTORY_NAME_BYTES];
    HRESULT hr = directory_name(name);
    if (SUCCEEDED(hr))
        snprintf(out, 64, "openetw%u-%s", (unsigned)DIRECTORY_LAYOUT, name);
    return hr;
}

/* Resets everything; call it under the mutex. Revisions and generations continue from numbers that this host OS has not
   used, so that a new session or slot is never mistaken for an old one. */
static void directory_reset(struct directory_shared *s)
{
    const uint64_t before = atomic_load(&s->born), clock = (uint64_t)clock_utc() / 10000 /* ms */,
                   now = clock > before || before > 2 * clock ? clock : before + 1;
    _Atomic uint64_t *words = &s->magic;
    for (size_t i = 0; i < sizeof *s / sizeof *words; i++)
        atomic_store_explicit(&words[i], 0, memory_order_relaxed);
    for (size_t i = 0; i < DIRECTORY_PLACES; i++)
        atomic_store_explicit(&s->generation[i], now & 0x3FFFFFFF, memory_order_relaxed);
    for (size_t i = 0; i < DIRECTORY_SLOTS; i++)
        atomic_store_explicit(&s->slot[i].word, slot_word(SLOT_FREE, (uint32_t)(now & 0x7FFF)), memory_order_relaxed);
    atomic_store(&s->born, now);
    atomic_store(&s->revision, 2 * now);
    atomic_store(&s->notified, 2 * now);
    atomic_store(&s->size, sizeof *s);
    atomic_store(&s->tail, DIRECTORY_MAGIC);
    atomic_store(&s->magic, DIRECTORY_MAGIC);
}

/* Returns how many of the words `magic` and `size` are correct: 0 to 2. */
static int directory_good_heads(struct directory_shared *s)
{
    return (atomic_load(&s->magic) == DIRECTORY_MAGIC) + (atomic_load(&s->size) == sizeof *s);
}

static bool is_whole(struct directory_shared *s)
{
    return directory_good_heads(s) == 2 && atomic_load(&s->tail) == DIRECTORY_MAGIC;
}

static bool is_deleted(struct directory_shared *s)
{
    return atomic_load(&s->deleted) != 0;
}

/* Repairs or resets a corrupt directory. Call it under the mutex. */
static void directory_repair(struct directory_shared *s)
{
    if (is_whole(s))
        return;
    if (directory_good_heads(s) == 0 || atomic_load(&s->tail) != DIRECTORY_MAGIC) {
        directory_reset(s);
        return;
    }
    atomic_store(&s->size, sizeof *s);
    atomic_store(&s->magic, DIRECTORY_MAGIC);
}

static void users_name(const struct directory *d, char out[96])
{
    snprintf(out, 96, "%s-users", d->name);
}

/* Counts this process as a user of the directory; called under the mutex. If the counting fails, another process can
   delete the directory (directory_leave) while this process uses it. This process then opens another directory, as
   after directory_delete. */
static void directory_enter(struct directory *d)
{
    char name[96];
    users_name(d, name);
    d->process = process_own_id();
    if (FAILED(signal_open(&(struct shared){.name = name, .create = true}, &d->user))) {
        d->user = NULL;
        error_clear();
    }
}

/* Call it under the mutex, so that only one process creates the section. */
static HRESULT directory_open_section(struct directory *d)
{
    HRESULT hr = section_open(&(struct shared){.name = d->name, .create = true, .lasting = true},
                              sizeof(struct directory_shared), &d->section);
    if (FAILED(hr))
        return hr;
    d->shared = section_memory(d->section);
    directory_repair(d->shared);
    if (is_deleted(d->shared)) /* under Wine the deleted section keeps its name while a process has it open */
        directory_reset(d->shared);
    return S_OK;
}

static HRESULT directory_open(struct directory **out)
{
    struct directory *d = memory_zero(1, sizeof *d);
    HRESULT hr = d ? own_name(d->name) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = mutex_open(d->name, &d->mutex);
    if (SUCCEEDED(hr)) {
        hr = mutex_take(d->mutex, UINT32_MAX);
        if (SUCCEEDED(hr)) {
            hr = directory_open_section(d);
            if (SUCCEEDED(hr))
                directory_enter(d);
            mutex_release(d->mutex);
        }
        if (FAILED(hr))
            mutex_close(d->mutex);
    }
    if (FAILED(hr)) {
        memory_free(d);
        return hr;
    }
    *out = d;
    return S_OK;
}

static HRESULT directory_repair_locked(struct directory *d)
{
    HRESULT hr = mutex_take(d->mutex, UINT32_MAX);
    if (FAILED(hr))
        return hr;
    directory_repair(d->shared);
    mutex_release(d->mutex);
    return S_OK;
}

/* Opens the directory that replaces a deleted one. Users of the deleted directory keep it. */
static HRESULT directory_open_next(struct directory **current)
{
    struct directory *next;
    HRESULT hr = directory_open(&next);
    if (FAILED(hr))
        return hr;
    next->before = *current;
    *current = next;
    return S_OK;
}

/* Keeps the directory of this process or, if the directory was deleted, opens the next directory. If the name cannot be
   looked up, the directory counts as existing; only out of memory is then an error. */
static HRESULT directory_keep_current(struct directory **current)
{
    struct directory *d = *current;
    const HRESULT named = is_deleted(d->shared) ? S_FALSE : section_is_named(d->section, d->name);
    if (named == S_FALSE)
        return directory_open_next(current);
    if (named == E_OUTOFMEMORY)
        return named;
    return is_whole(d->shared) ? S_OK : directory_repair_locked(d);
}

static struct lock lock = LOCK_INIT;
static struct directory *own; /* protected by `lock` */

HRESULT directory_get(struct directory **out)
{
    HRESULT hr = S_OK;
    module_pin(); /* may wait for other threads, so it is called before taking the lock */
    lock_enter(&lock);
    const bool first = !own;
    if (first)
        hr = directory_open(&own);
    else
        hr = directory_keep_current(&own);
    *out = own;
    lock_leave(&lock);
    if (first && SUCCEEDED(hr))
        autologgers_begin(*out, strchr((*out)->name, '-') + 1);
    return hr;
}

HRESULT directory_check(void)
{
    char name[64], *folder = NULL;
    struct section *section = NULL;
    HRESULT hr = own_name(name);
    if (SUCCEEDED(hr))
        hr = section_open(&(struct shared){.name = name, .lasting = true}, sizeof(struct directory_shared), &section);
    const bool shortened = hr == E_INVALIDARG;
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)) {
        error_clear();
        return S_FALSE;
    }
    if (shortened || (SUCCEEDED(hr) && !is_whole(section_memory(section)))) {
        hr = section_folder(&folder);
        if (SUCCEEDED(hr))
            hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                           "corrupt directory of trace sessions: '%s' in '%s': %s", name, folder ? folder : "",
                           shortened ? "was shortened" : "was overwritten");
        memory_free(folder);
    } else if (SUCCEEDED(hr) && is_deleted(section_memory(section)))
        hr = S_FALSE;
    section_close(section);
    return hr;
}

uint64_t directory_born(struct directory *d)
{
    return atomic_load(&d->shared->born);
}

void directory_delete(struct directory *d)
{
    char mutex[80];
    struct directory_session *list;
    size_t count;
    /* Outside Wine, the mutex has a file, which must be deleted too. */
    snprintf(mutex, sizeof mutex, "%s.mutex", d->name);
    (void)section_delete(mutex);
    (void)section_delete(d->name);
    atomic_store(&d->shared->deleted, 1);
    if (FAILED(directory_sessions(d, &list, &count)))
        return; /* the host processes detect the deletion later */
    for (size_t i = 0; i < count; i++)
        directory_set_signal(list[i].signal);
    directory_sessions_free(list, count);
}

/* Returns whether the directory can be deleted when its last user exits: it contains no session (which might have to be
   recovered), no provider names and no profile interval. */
static bool has_nothing_to_keep(struct directory *d)
{
    struct directory_session *list;
    size_t count;
    if (is_deleted(d->shared) || !is_whole(d->shared) || FAILED(directory_sessions(d, &list, &count)))
        return false;
    directory_sessions_free(list, count);
    return count == 0 && atomic_load(&d->shared->names_given) == 0 && atomic_load(&d->shared->profile_100ns) == 0;
}

static bool has_users(const struct directory *d)
{
    char name[96];
    struct signal *other;
    users_name(d, name);
    const HRESULT hr = signal_open(&(struct shared){.name = name}, &other);
    if (SUCCEEDED(hr))
        signal_close(other);
    return hr != HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND);
}

void directory_leave(void)
{
    lock_enter(&lock);
    struct directory *d = own;
    if (d && d->user && d->process == process_own_id() && mutex_take(d->mutex, LEAVE_MS) == S_OK) {
        signal_close(d->user);
        d->user = NULL;
        if (!has_users(d) && has_nothing_to_keep(d)) {
            (void)section_delete(d->name);
            atomic_store(&d->shared->deleted, 1);
        }
        mutex_release(d->mutex);
    }
    lock_leave(&lock);
}

bool directory_exists(struct directory *d, bool look)
{
    return !is_deleted(d->shared) && (!look || section_is_named(d->section, d->name) != S_FALSE);
}

/* ---- changes ---- */

uint64_t directory_revision(struct directory *d)
{
    return atomic_load(&d->shared->revision) & ~UINT64_C(1);
}

bool directory_holds(struct directory_span *span, uint64_t revision)
{
    /* `until` is loaded first: when a place is reused, `from` is cleared before `until`, so an old `from` is never seen
       together with a cleared `until`. */
    const uint64_t until = atomic_load(&span->until), from = atomic_load(&span->from);
    return from != 0 && from <= revision && (until == 0 || until > revision);
}

bool directory_is_free(struct directory *d, struct directory_span *span)
{
    const uint64_t until = atomic_load(&span->until);
    return atomic_load(&span->from) == 0 || (until != 0 && until <= d->committed);
}

void directory_put(struct directory *d, struct directory_span *span, _Atomic uint64_t *words, const void *payload,
                   size_t bytes)
{
    assert(d->target == d->committed + 2 && bytes % 8 == 0);
    /* The order of these writes matters: if they are interrupted anywhere, the record is not valid at any revision. */
    atomic_store(&span->from, 0);
    atomic_store(&span->until, 0);
    directory_store(words, payload, bytes);
    atomic_store(&span->from, d->target);
}

void directory_retire(struct directory *d, struct directory_span *span)
{
    if (atomic_load(&span->from) > d->committed)
        atomic_store(&span->from, 0); /* this change created the record, so it must never become valid */
    else
        atomic_store(&span->until, d->target);
}

static void span_undo(struct directory_span *span, uint64_t revision)
{
    if (atomic_load(&span->from) > revision)
        atomic_store(&span->from, 0);
    if (atomic_load(&span->until) > revision)
        atomic_store(&span->until, 0);
}

/* Call it under the mutex. An odd revision means that a process was killed during a change; this function undoes that
   change. Returns the committed revision. */
static uint64_t directory_roll_back(struct directory *d)
{
    struct directory_shared *s = d->shared;
    const uint64_t revision = atomic_load(&s->revision);
    if (!(revision & 1))
        return revision;
    const uint32_t enables = directory_load_limited(&s->enables_used, DIRECTORY_ENABLES);
    for (uint32_t i = 0; i < DIRECTORY_PLACES; i++)
        for (uint32_t k = 0; k < 2; k++)
            span_undo(&s->session[i][k].span, revision - 1);
    for (uint32_t i = 0; i < enables; i++)
        span_undo(&s->enable[i].span, revision - 1);
    atomic_store(&s->revision, revision + 1);
    return revision + 1;
}

HRESULT directory_begin(struct directory *d)
{
    HRESULT hr = mutex_take(d->mutex, UINT32_MAX);
    if (FAILED(hr))
        return hr;
    directory_repair(d->shared);
    d->committed = directory_roll_back(d);
    assert(d->committed % 2 == 0);
    d->target = d->committed + 2;
    atomic_store(&d->shared->revision, d->committed + 1);
    return S_OK;
}

uint64_t directory_end(struct directory *d, const GUID *providers, size_t count)
{
    const uint64_t target = d->target;
    assert(target == d->committed + 2);
    /* The previous change was committed, but its process was killed before it had notified every process. */
    const bool all = atomic_load(&d->shared->notified) < d->committed;
    atomic_store(&d->shared->revision, target);
    mutex_release(d->mutex);
    if (all || count)
        directory_wake(d, all ? NULL : providers, count);
    directory_raise(&d->shared->notified, target);
    return target;
}

void directory_cancel(struct directory *d)
{
    const uint64_t now = directory_roll_back(d);
    const bool notified = atomic_load(&d->shared->notified) >= d->committed;
    mutex_release(d->mutex);
    if (notified)
        directory_raise(&d->shared->notified, now);
}

/* ---- reading ---- */

HRESULT directory_read(struct directory *d, HRESULT (*read)(struct directory *d, uint64_t revision, void *context),
                       void *context)
{
    _Atomic uint64_t *revision = &d->shared->revision;
    for (int i = 0; i < READ_TRIES; i++) {
        const uint64_t now = directory_revision(d);
        HRESULT hr = read(d, now, context);
        if (atomic_load(revision) - now <= 2)
            return hr;
    }
    HRESULT hr = mutex_take(d->mutex, UINT32_MAX);
    if (FAILED(hr))
        return hr;
    hr = read(d, directory_roll_back(d), context);
    mutex_release(d->mutex);
    return hr;
}

/* ---- texts and names ---- */

void directory_object_name(const struct directory *d, char kind, uint32_t number, uint32_t generation, char out[96])
{
    snprintf(out, 96, "%s-%c%u-%u", d->name, kind, (unsigned)number, (unsigned)generation);
}

void directory_set_signal(const char *name)
{
    struct signal *signal;
    if (FAILED(signal_open(&(struct shared){.name = name}, &signal)))
        return;
    (void)signal_set(signal);
    signal_close(signal);
}

HRESULT directory_put_text(char *to, uint32_t *bytes, const char *text, DWORD code, const char *subject)
{
    const size_t length = text ? strlen(text) : 0;
    *bytes = text ? (uint32_t)length : DIRECTORY_NO_TEXT;
    if (length > DIRECTORY_TEXT_BYTES || (text && text_utf16_length(text) > DIRECTORY_TEXT))
        return error_set(HRESULT_FROM_WIN32(code), "invalid %s '%.80s...': longer than %u characters", subject, text,
                         (unsigned)DIRECTORY_TEXT);
    if (length)
        memcpy(to, text, length); /* NOLINT(bugprone-not-null-terminated-result): the length is stored separately */
    return S_OK;
}

HRESULT directory_take_text(const char *from, uint32_t bytes, char **out)
{
    *out = NULL;
    if (bytes == DIRECTORY_NO_TEXT)
        return S_OK;
    if (bytes > DIRECTORY_TEXT_BYTES || memchr(from, 0, bytes) || !text_is_utf8(from, bytes))
        return S_FALSE;
    *out = text_copy_n(from, bytes);
    return *out ? S_OK : E_OUTOFMEMORY;
}

uint32_t directory_next_sequence(struct directory *d)
{
    return (uint32_t)atomic_fetch_add_explicit(&d->shared->sequence, 1, memory_order_relaxed) + 1;
}

uint64_t directory_next_event_key(struct directory *d)
{
    return atomic_fetch_add_explicit(&d->shared->event_key, 1, memory_order_relaxed) + 1;
}

uint32_t directory_profile_interval(struct directory *d)
{
    return (uint32_t)atomic_load_explicit(&d->shared->profile_100ns, memory_order_relaxed);
}

void directory_set_profile_interval(struct directory *d, uint32_t interval)
{
    atomic_store_explicit(&d->shared->profile_100ns, interval, memory_order_relaxed);
}

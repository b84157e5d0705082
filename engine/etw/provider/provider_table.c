/* SPDX-License-Identifier: MIT */
/* Threads that write events, and registrations: the entries of the table, the published data, and the data that are
   freed when no thread can use them any more (provider_table.h). Callbacks are in provider_notice.c. */
#include "engine/etw/provider/provider_table.h"

#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/base/thread.h"
#include "engine/etw/trace_properties.h"
#include "engine/logs/little_endian.h"

#include <string.h>

/* ---- threads ---- */

static struct lock threads_lock = LOCK_INIT;
static struct provider_thread *threads; /* never freed; entries of ended threads are reused */
static uint32_t own_slot;

static void thread_ended(void *thread)
{
    struct provider_thread *t = thread;
    atomic_store_explicit(&t->ended, true, memory_order_release);
}

__attribute__((noinline)) struct provider_thread *provider_thread_make(void)
{
    if (process_is_ending())
        return NULL;
    module_pin();
    lock_enter(&threads_lock);
    struct provider_thread *t = threads;
    while (t && !atomic_load_explicit(&t->ended, memory_order_acquire))
        t = t->next;
    const bool again = t != NULL;
    if (!again)
        t = memory_zero(1, sizeof *t);
    if (t) {
        t->writer = (struct session_writer){.owner = own_slot, .thread = thread_own_id()};
        t->ids = t->writer.thread | (uint64_t)process_own_id() << 32;
        t->activity = (GUID){0};
        t->time_read = t->time = 0;
        if (FAILED(thread_slot_set(t, thread_ended))) {
            if (!again)
                memory_free(t);
            t = NULL;
        } else if (again) {
            atomic_store(&t->inside, 0); /* the entry's previous thread may have ended while it was inside */
            atomic_store(&t->ended, false);
        } else {
            t->next = threads;
            threads = t;
        }
    }
    lock_leave(&threads_lock);
    return t;
}

uint64_t provider_processor_time(struct provider_thread *t)
{
    enum { US = 10000, PARTS_OF_US = 10 };
    static _Atomic uint32_t rate; /* in MHz; queried once, because under Wine the query reads the registry */
    if (atomic_load_explicit(&rate, memory_order_relaxed) == 0)
        atomic_store_explicit(&rate, clock_cpu_mhz(), memory_order_relaxed);
    const uint64_t now = processor_cycles(), mhz = atomic_load_explicit(&rate, memory_order_relaxed);
    if (t->time_read == 0 || now - t->time_read >= US * mhz) {
        t->time = thread_own_user_time() * mhz / PARTS_OF_US;
        t->time_read = now;
    }
    return t->time;
}

void provider_threads_own_slot(uint32_t slot)
{
    lock_enter(&threads_lock);
    own_slot = slot;
    for (struct provider_thread *t = threads; t; t = t->next)
        t->writer.owner = slot;
    lock_leave(&threads_lock);
}

/* Returns whether each thread was seen outside in one of the calls of this round. The first call of a round is made
   more than PROVIDER_GRACE_MS after writers could last find the retired items. Rounds are numbered from 1. Two threads
   must not call this function at the same time. */
static bool provider_threads_outside(uint32_t round)
{
    bool all = true;
    lock_enter(&threads_lock);
    for (struct provider_thread *t = threads; t; t = t->next) {
        if (atomic_load_explicit(&t->inside, memory_order_acquire) == 0 || atomic_load(&t->ended))
            t->seen = round;
        all = all && t->seen == round;
    }
    lock_leave(&threads_lock);
    return all;
}

/* ---- registrations ---- */

struct registration provider_table[PROVIDER_PLACES];
struct lock provider_lock = LOCK_INIT;
struct registration *provider_in_use;

static struct registration *unused; /* entries that can be reused */
static uint32_t places = 1, registered;

/* ---- data that threads may still be using ---- */

struct retired {
    struct provider_enables *enables;
    struct provider_session *sessions;
};
static struct retired retired,
    leaving; /* `leaving`: retired items; since leaving_since, no thread can find them any more */
static uint64_t leaving_since;
static uint32_t leaving_round;

static void registration_publish(struct registration *r, struct provider_enables *new)
{
    struct provider_enables *old = atomic_load_explicit(&r->enables, memory_order_relaxed);
    uint64_t any = 0, all = UINT64_MAX;
    uint32_t limit = 0;
    for (uint32_t i = 0; new &&i < new->count; i++) {
        any |= new->of[i].any;
        all &= new->of[i].all;
        limit = new->of[i].limit > limit ? new->of[i].limit : limit;
    }
    if (!new)
        atomic_store_explicit(&r->limit, 0, memory_order_relaxed);
    atomic_store_explicit(&r->enables, new, memory_order_release);
    atomic_store_explicit(&r->any, any, memory_order_relaxed);
    atomic_store_explicit(&r->all, all, memory_order_relaxed);
    /* Events of classic providers take another path. */
    atomic_store_explicit(&r->limit, r->record->options.classic ? 0 : limit, memory_order_relaxed);
    if (old) {
        old->next = retired.enables;
        retired.enables = old;
    }
}

void provider_session_retire(struct provider_session *session)
{
    lock_enter(&provider_lock);
    session->next = retired.sessions;
    retired.sessions = session;
    lock_leave(&provider_lock);
}

static void session_unreference(struct provider_session *session, struct provider_session **unreferred)
{
    if (--session->references == 0) {
        session->next = *unreferred;
        *unreferred = session;
    }
}

static void enables_free(struct provider_enables *e, struct provider_session **unreferred)
{
    for (uint32_t i = 0; i < e->count; i++) {
        session_unreference(e->of[i].session, unreferred);
        provider_filter_free(e->of[i].filter);
    }
    memory_free(e);
}

static void leaving_free(struct provider_session **unreferred)
{
    while (leaving.enables) {
        struct provider_enables *e = leaving.enables;
        leaving.enables = e->next;
        enables_free(e, unreferred);
    }
    while (leaving.sessions) {
        struct provider_session *s = leaving.sessions;
        leaving.sessions = s->next;
        session_unreference(s, unreferred);
    }
}

bool provider_reclaim(void)
{
    struct provider_session *unreferred = NULL;
    lock_enter(&provider_lock);
    if (leaving_since != 0 && clock_monotonic_ms() - leaving_since > PROVIDER_GRACE_MS &&
        provider_threads_outside(leaving_round)) {
        leaving_since = 0;
        leaving_free(&unreferred);
    }
    if (leaving_since == 0 && (retired.enables || retired.sessions)) {
        leaving = retired;
        retired = (struct retired){0};
        leaving_since = clock_monotonic_ms();
        leaving_round++;
    }
    const bool more = leaving_since != 0;
    lock_leave(&provider_lock);
    while (unreferred) {
        struct provider_session *s = unreferred;
        unreferred = s->next;
        s->release(s);
    }
    return more;
}

bool provider_has_retired(void)
{
    lock_enter(&provider_lock);
    const bool has = leaving_since == 0 && (retired.enables || retired.sessions);
    lock_leave(&provider_lock);
    return has;
}

/* ---- registrations ---- */

static struct registration *registration_take_place(void)
{
    struct registration *r = unused;
    if (registered == PROVIDER_REGISTRATIONS)
        return NULL;
    if (r) {
        unused = r->record->next;
    } else {
        r = &provider_table[places];
        r->record = memory_zero(1, sizeof *r->record);
        if (!r->record)
            return NULL;
        r->index = places++;
    }
    registered++;
    return r;
}

ULONG provider_begin(const struct provider_options *options, uint64_t *handle)
{
    lock_enter(&provider_lock);
    struct registration *r = registration_take_place();
    if (r) {
        struct registration_record *record = r->record;
        *record = (struct registration_record){.options = *options,
                                               .generation = record->generation + 1,
                                               .calling = true,
                                               .caller = thread_own_id(),
                                               .next = provider_in_use};
        provider_in_use = r;
        *handle = record->generation << 16 | r->index;
        atomic_store_explicit(&r->handle, *handle, memory_order_release);
    }
    const bool full = registered == PROVIDER_REGISTRATIONS;
    lock_leave(&provider_lock);
    return r ? ERROR_SUCCESS : full ? ERROR_NO_SYSTEM_RESOURCES : ERROR_NOT_ENOUGH_MEMORY;
}

/* Returns the registration of a handle, or NULL for an invalid handle and for handle 0. */
static struct registration *provider_find(uint64_t handle)
{
    return handle != 0 ? registration_of(handle) : NULL;
}

bool provider_set_numbers(uint64_t handle, struct provider_numbers numbers)
{
    lock_enter(&provider_lock);
    struct registration *r = provider_find(handle);
    if (r)
        r->record->numbers = numbers;
    lock_leave(&provider_lock);
    return r != NULL;
}

bool provider_get_numbers(uint64_t handle, struct provider_numbers *numbers)
{
    lock_enter(&provider_lock);
    const struct registration *r = provider_find(handle);
    if (r)
        *numbers = r->record->numbers;
    lock_leave(&provider_lock);
    return r != NULL;
}

bool provider_get_guid(uint64_t handle, GUID *guid)
{
    lock_enter(&provider_lock);
    const struct registration *r = provider_find(handle);
    if (r)
        *guid = r->record->options.guid;
    lock_leave(&provider_lock);
    return r != NULL;
}

bool provider_get_identity(uint64_t handle, struct provider_identity *out)
{
    lock_enter(&provider_lock);
    const struct registration *r = provider_find(handle);
    if (r)
        *out = (struct provider_identity){.guid = r->record->options.guid,
                                          .group = r->record->group,
                                          .classic = r->record->options.classic,
                                          .has_group = r->record->has_group};
    lock_leave(&provider_lock);
    return r != NULL;
}

void provider_recycle(struct registration *r)
{
    struct registration **at = &provider_in_use;
    while (*at != r)
        at = &(*at)->record->next;
    *at = r->record->next;
    memory_free(r->record->traits);
    r->record->traits = NULL;
    r->record->next = unused;
    unused = r;
    registered--;
}

ULONG provider_end(uint64_t handle, bool classic, struct provider_numbers *numbers)
{
    lock_enter(&provider_lock);
    struct registration *r = provider_find(handle);
    if (!r || r->record->options.classic != classic) {
        lock_leave(&provider_lock);
        return ERROR_INVALID_HANDLE;
    }
    *numbers = r->record->numbers;
    atomic_store_explicit(&r->handle, 0, memory_order_release);
    registration_publish(r, NULL);
    r->record->gone = true;
    provider_notices_free(r->record);
    if (provider_outlast_callback(r->record))
        provider_recycle(r);
    lock_leave(&provider_lock);
    return ERROR_SUCCESS;
}

/* ---- traits ---- */

/* Reads {u16 total size, name with NUL, then {u16 size, u8 type, data} for each trait}. Returns false if the traits are
   malformed. */
static bool registration_read_traits(struct registration_record *record, const uint8_t *traits, size_t size)
{
    enum { HEAD = 3, GUID_TRAIT = HEAD + 16 };
    const uint8_t *nul = size > 2 && get_u16(traits) == size ? memchr(traits + 2, 0, size - 2) : NULL;
    if (!nul)
        return false;
    for (size_t at = (size_t)(nul - traits) + 1, bytes; at < size; at += bytes) {
        bytes = size - at >= HEAD ? get_u16(traits + at) : 0;
        if (bytes < HEAD || bytes > size - at)
            return false;
        if (bytes == GUID_TRAIT && traits[at + 2] == ETW_TRAIT_GROUP) {
            memcpy(&record->group, traits + at + HEAD, sizeof(GUID));
            record->has_group = true;
        } else if (bytes == GUID_TRAIT && traits[at + 2] == ETW_TRAIT_DECODE_GUID) {
            memcpy(&record->decode, traits + at + HEAD, sizeof(GUID));
            record->has_decode = true;
        }
    }
    return true;
}

/* Returns whether this enable setting needs only a header and data: no items, no event filter. */
static bool is_plain(const struct provider_enable *e)
{
    const uint32_t items = EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID | EVENT_ENABLE_PROPERTY_STACK_TRACE |
                           EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | EVENT_ENABLE_PROPERTY_EVENT_KEY;
    return (e->property & items) == 0 && !e->selects && (e->session->header_flags & ETW_HEADER_PRIVATE_SESSION) == 0;
}

/* Allocates a block of enable settings, and fills in the registration's own properties. */
static struct provider_enables *new_enables(struct registration *r)
{
    const struct registration_record *record = r->record;
    struct provider_enables *e = memory_zero(1, sizeof *e + record->traits_size);
    if (!e)
        return NULL;
    e->handle = atomic_load_explicit(&r->handle, memory_order_relaxed);
    e->control = record->options.guid;
    e->decodes = record->has_decode;
    e->guid = record->has_decode ? record->decode : record->options.guid;
    e->typed = record->typed;
    e->traits_size = record->traits_size;
    if (e->traits_size != 0)
        memcpy(e->traits, record->traits, e->traits_size);
    return e;
}

static void finish_enables(struct provider_enables *e)
{
    e->plain = e->count == 1 && !e->typed && !e->decodes && e->traits_size == 0 && is_plain(&e->of[0]);
}

/* Publishes a copy of the enable settings, because the registration's own properties (traits, type) have changed. */
static ULONG publish_again(struct registration *r)
{
    const struct provider_enables *old = atomic_load_explicit(&r->enables, memory_order_relaxed);
    if (!old)
        return ERROR_SUCCESS;
    struct provider_enables *e = new_enables(r);
    if (!e)
        return ERROR_NOT_ENOUGH_MEMORY;
    e->count = old->count;
    memcpy(e->of, old->of, sizeof e->of);
    for (uint32_t i = 0; i < e->count; i++) {
        e->of[i].session->references++;
        e->of[i].filter = provider_filter_refer(e->of[i].filter);
    }
    finish_enables(e);
    registration_publish(r, e);
    return ERROR_SUCCESS;
}

ULONG provider_set_traits(uint64_t handle, const uint8_t *traits, size_t size, GUID *group, bool *has_group)
{
    ULONG status = ERROR_INVALID_PARAMETER;
    uint8_t *copy = memory_copy(traits, size);
    *has_group = false;
    if (!copy)
        return ERROR_NOT_ENOUGH_MEMORY;
    lock_enter(&provider_lock);
    struct registration *r = provider_find(handle);
    if (r && !r->record->options.classic) {
        struct registration_record as_was = *r->record;
        status = r->record->traits                                  ? ERROR_GEN_FAILURE
                 : !registration_read_traits(r->record, copy, size) ? ERROR_INVALID_PARAMETER
                                                                    : ERROR_SUCCESS;
        if (status == ERROR_SUCCESS) {
            r->record->traits = copy;
            r->record->traits_size = (uint32_t)size;
            r->record->typed = true;
            status = publish_again(r);
        }
        if (status == ERROR_SUCCESS) {
            copy = NULL;
            *group = r->record->group;
            *has_group = r->record->has_group;
        } else {
            *r->record = as_was;
        }
    }
    lock_leave(&provider_lock);
    memory_free(copy);
    return status;
}

ULONG provider_set_typed(uint64_t handle, bool typed)
{
    ULONG status = ERROR_INVALID_PARAMETER;
    lock_enter(&provider_lock);
    struct registration *r = provider_find(handle);
    if (r && !r->record->options.classic) {
        const bool was = r->record->typed;
        r->record->typed = typed;
        status = publish_again(r);
        if (status != ERROR_SUCCESS)
            r->record->typed = was;
    }
    lock_leave(&provider_lock);
    return status;
}

/* ---- enable settings ---- */

static bool is_for(const struct registration_record *record, const struct directory_enable *e)
{
    if ((e->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0)
        return record->has_group && guid_equal(&e->provider, &record->group);
    return guid_equal(&e->provider, &record->options.guid);
}

const struct provider_enable *provider_same_enable(const struct provider_enables *in, uint32_t logger,
                                                   uint32_t generation, bool group)
{
    for (uint32_t i = 0; in && i < in->count; i++)
        if (in->of[i].session->logger == logger && in->of[i].session->generation == generation &&
            in->of[i].group == group)
            return &in->of[i];
    return NULL;
}

static uint64_t instance_of(const struct provider_enable *before, const struct provider_enables *old,
                            const struct provider_enables *new)
{
    uint64_t taken = 0, bit = 1;
    if (before)
        return before->instance;
    for (uint32_t i = 0; old && i < old->count; i++)
        taken |= old->of[i].instance;
    for (uint32_t i = 0; i < new->count; i++)
        taken |= new->of[i].instance;
    while ((taken & bit) != 0)
        bit <<= 1;
    return bit;
}

/* Adds an enable setting. Returns S_FALSE if the setting is not for this process, or if its session is not
   available. */
static HRESULT add_enable(struct provider_enables *new, const struct provider_enables *old,
                          const struct directory_enable *e, const struct provider_source *source, bool classic)
{
    const bool group = (e->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0;
    const struct provider_enable *before = provider_same_enable(old, e->logger, e->generation, group);
    struct provider_filter *filter = NULL;
    if (new->count == PROVIDER_MOST_ENABLES || !provider_filter_admits(e, &source->scope))
        return S_FALSE;
    if (group && source->disallows && source->disallows(source->context, e->logger, e->generation, &new->control))
        return S_FALSE;
    struct provider_session *session = source->session(source->context, e->logger, e->generation);
    if (!session)
        return S_FALSE;
    if (before && before->serial == e->serial) {
        filter = provider_filter_refer(before->filter);
    } else {
        HRESULT hr = provider_filter_create(e, &filter);
        if (FAILED(hr))
            return hr == E_OUTOFMEMORY ? hr : S_FALSE;
    }
    session->references++;
    new->of[new->count] = (struct provider_enable){
        .session = session,
        .any = e->any != 0 || classic ? e->any : UINT64_MAX,
        .all = e->all,
        .level = e->level,
        .limit = e->level != 0 ? e->level + 1u : 256,
        .property = e->property,
        .instance = instance_of(before, old, new),
        .filter = filter,
        .selects = provider_filter_selects(filter),
        .group = group,
        .source = e->source,
        .serial = e->serial,
        .captures = e->captures,
    };
    new->count++;
    return S_OK;
}

/* Returns the newest matching enable setting that is older than `serial`, or NULL. */
static const struct directory_enable *latest_before(const struct registration_record *record, uint64_t serial,
                                                    const struct directory_enable *list, size_t count)
{
    const struct directory_enable *latest = NULL;
    for (size_t i = 0; i < count; i++)
        if (is_for(record, &list[i]) && list[i].serial < serial && (!latest || list[i].serial > latest->serial))
            latest = &list[i];
    return latest;
}

/* Enables a classic provider only for the latest session among those that apply to this process. */
static HRESULT add_latest(struct registration *r, struct provider_enables *new, const struct provider_enables *old,
                          const struct directory_enable *list, size_t count, const struct provider_source *source)
{
    HRESULT hr = S_FALSE;
    const struct directory_enable *e = latest_before(r->record, UINT64_MAX, list, count);
    for (; e && hr == S_FALSE; e = latest_before(r->record, e->serial, list, count))
        hr = add_enable(new, old, e, source, true);
    return hr;
}

static HRESULT registration_apply(struct registration *r, const struct directory_enable *list, size_t count,
                                  const struct provider_source *source)
{
    struct provider_enables *old = atomic_load_explicit(&r->enables, memory_order_relaxed), *new = new_enables(r);
    const bool classic = r->record->options.classic;
    HRESULT hr = new ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && classic)
        hr = add_latest(r, new, old, list, count, source);
    for (size_t i = 0; SUCCEEDED(hr) && !classic && i < count; i++)
        if (is_for(r->record, &list[i]))
            hr = add_enable(new, old, &list[i], source, false);
    if (SUCCEEDED(hr))
        hr = provider_note_changes(r->record, old, new);
    struct provider_session *unreferred = NULL; /* stays empty: the creators of the sessions hold references */
    if (FAILED(hr) || new->count == 0) {
        if (new)
            enables_free(new, &unreferred);
        new = NULL;
    }
    if (SUCCEEDED(hr) && (new || old)) {
        if (new)
            finish_enables(new);
        registration_publish(r, new);
    }
    return SUCCEEDED(hr) ? S_OK : hr;
}

HRESULT provider_apply(uint64_t handle, const struct directory_enable *list, size_t count,
                       const struct provider_source *source)
{
    HRESULT hr = S_OK;
    TRACE_STEP(etw, "apply %zu enable settings to the event providers of this process", count);
    lock_enter(&provider_lock);
    for (struct registration *r = provider_in_use; r; r = r->record->next)
        if (!r->record->gone && (handle == 0 || atomic_load_explicit(&r->handle, memory_order_relaxed) == handle)) {
            const HRESULT one = registration_apply(r, list, count, source);
            hr = FAILED(one) ? one : hr;
        }
    lock_leave(&provider_lock);
    return hr;
}

/* SPDX-License-Identifier: MIT */
/* The providers that this process has registered, and which sessions have each of them enabled, with what. Who writes
   an event finds its registration by the handle without a lock, and what it is enabled with as one block that never
   changes: a change publishes another one, and the old one goes when every thread has been outside
   (provider_thread.h). */
#ifndef OPENPLA_PROVIDER_TABLE_H
#define OPENPLA_PROVIDER_TABLE_H

#include "engine/etw/provider/provider_filter.h"
#include "engine/etw/provider/provider_thread.h"

enum {
    PROVIDER_REGISTRATIONS = 2048, /* at the same time; Windows 8's limit */
    PROVIDER_PLACES = 4096,        /* of the table: an index is 12 bits of the handle, 0 is nobody's */
    PROVIDER_MOST_ENABLES = 2 * DIRECTORY_ENABLES_OF_ONE, /* by its own GUID and by that of its group */
};

/* A session as this process maps it. */
struct provider_session {
    struct session_buffers buffers;
    uint32_t logger, turn;                             /* the directory's */
    uint32_t mode;                                     /* TRACE_MODE_*, as it was when the session was mapped */
    uint32_t most_event;                               /* bytes; etl_buffer_max_event */
    uint16_t header_flags;                             /* for each event: ETW_HEADER_* */
    uint32_t references;                               /* under the table's lock; who makes it has one */
    void (*release)(struct provider_session *session); /* when there is none any more, without the lock */
    struct provider_session *next;                     /* of what is to be let go */
};
/* Who made it lets it go: provider_reclaim gives the reference back. To be called once, when the session can be found
   nowhere but in what provider_apply published. */
void provider_session_let_go(struct provider_session *session);

/* What one session has a provider enabled with. */
struct provider_enable {
    struct provider_session *session;
    uint64_t any; /* never 0 */
    uint64_t all;
    uint32_t limit; /* events of lower levels than this */
    uint32_t property;
    uint64_t instance; /* its bit in EventWriteEx' Filter */
    struct provider_filter *filter;
    bool selects; /* the filter looks at events */
    bool group;   /* by the GUID of the provider's group */
    uint8_t level;
    GUID source;
    uint64_t serial, captures;
};

/* Of one registration. Never changes. */
struct provider_enables {
    uint64_t handle;
    GUID guid; /* as headers have it */
    GUID control;
    bool plain;   /* one session, nothing but header and data: the short way */
    bool typed;   /* the types of data descriptors count */
    bool decodes; /* guid is not control */
    uint32_t count;
    struct provider_enable of[PROVIDER_MOST_ENABLES];
    struct provider_enables *next; /* of what is to be freed */
    uint32_t traits_size;
    uint8_t traits[];
};

/* One of the table. What the first words say is a first test: it may let pass what no session wants. */
struct registration {
    _Atomic uint64_t handle;                    /* 0: not in use */
    _Atomic(struct provider_enables *) enables; /* NULL: by nobody */
    _Atomic uint64_t any, all;
    _Atomic uint32_t limit;
    uint32_t index;
    struct registration_record *record; /* kept from one use to the next */
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct registration) == 64, "one line of the cache");
extern struct registration provider_table[PROVIDER_PLACES];

/* NULL: no registration's, or one's that is over. Handle 0 is that of a registration that nobody enables. */
static inline struct registration *registration_of(uint64_t handle)
{
    struct registration *r = &provider_table[handle % PROVIDER_PLACES];
    return __builtin_expect(atomic_load_explicit(&r->handle, memory_order_acquire) == handle, 1) ? r : NULL;
}
static inline bool registration_may_pass(struct registration *r, uint8_t level, uint64_t keyword)
{
    if (__builtin_expect(level >= atomic_load_explicit(&r->limit, memory_order_relaxed), 1))
        return false;
    const uint64_t all = atomic_load_explicit(&r->all, memory_order_relaxed);
    return keyword == 0 ||
           ((keyword & atomic_load_explicit(&r->any, memory_order_relaxed)) != 0 && (keyword & all) == all);
}

/* ---- registrations ---- */

struct provider_options {
    GUID guid;
    PENABLECALLBACK callback; /* either may be NULL */
    WMIDPREQUEST classic_callback;
    void *context;
    bool classic; /* RegisterTraceGuids */
};
/* One more than the directory's numbers of a registration, of its provider and of its group; 0: none. */
struct provider_numbers {
    uint32_t provider, group;
    uint64_t born; /* of which directory: directory_born */
};
/* Enabled by nobody yet; callbacks wait for provider_begun. ERROR_NO_SYSTEM_RESOURCES, ERROR_NOT_ENOUGH_MEMORY. */
ULONG provider_begin(const struct provider_options *options, uint64_t *handle);
/* False: it has been ended. */
bool provider_set_numbers(uint64_t handle, struct provider_numbers numbers);
bool provider_get_numbers(uint64_t handle, struct provider_numbers *numbers);
bool provider_get_guid(uint64_t handle, GUID *guid);
/* What a registration is in the directory. */
struct provider_identity {
    GUID guid, group;
    bool classic, has_group;
};
bool provider_get_identity(uint64_t handle, struct provider_identity *out);
/* Once behind each provider_begin, also when the registration has been ended. Calls back if it is enabled, on this
   thread, and then whenever something changes. What a classic provider's callback returned; else 0. */
ULONG provider_begun(uint64_t handle);
/* Waits for a callback of another thread, and until another thread that has begun it says provider_begun.
   ERROR_INVALID_HANDLE. Afterwards no callback comes, `context` is not used, and the handle is refused. */
ULONG provider_end(uint64_t handle, bool classic, struct provider_numbers *numbers);
/* Whether this process has the provider registered. */
bool provider_is_registered(const GUID *guid);

/* EventSetInformation: traits once (ERROR_GEN_FAILURE for a second time); `group` is told when they name one.
   ERROR_INVALID_PARAMETER for what are no traits. */
ULONG provider_set_traits(uint64_t handle, const uint8_t *traits, size_t size, GUID *group, bool *has_group);
ULONG provider_set_typed(uint64_t handle, bool typed);

/* ---- enables ---- */

/* Who knows sessions. */
struct provider_source {
    /* The session of an enable; NULL: it cannot be had now. Called under the table's lock. */
    struct provider_session *(*session)(void *context, uint32_t logger, uint32_t turn);
    /* Whether the session keeps the provider out of its group (TraceSetDisallowList). NULL: no session does. */
    bool (*disallows)(void *context, uint32_t logger, uint32_t turn, const GUID *provider);
    void *context;
    struct provider_scope scope;
};
/* From now on the registration of this handle (0: every one) is enabled with those of the list that are for it, and
   with nothing else. Callbacks are noted down for provider_tell. E_OUTOFMEMORY: some stay as they were. */
HRESULT provider_apply(uint64_t handle, const struct directory_enable *list, size_t count,
                       const struct provider_source *source);
/* Calls back what was noted down, on this thread, without a lock. */
void provider_tell(void);
/* Behind it, by one thread alone: when no other one is calling back any more, say(generation) is called, here or by the
   thread that ends the last callback, in which it takes no lock and waits for nothing. A newer one takes its place. */
void provider_told(void (*say)(uint64_t generation), uint64_t generation);
/* From now on this thread waits for such a moment, or no longer; it may be in a callback. */
void provider_waits(bool waits);
/* Frees what no thread can be using any more. True: there is more, to be called again after PROVIDER_GRACE_MS. Never
   by two threads at once. */
bool provider_reclaim(void);
/* There is something that provider_reclaim has not seen yet, and it has nothing else in hand that it will be called
   again for. */
bool provider_has_retired(void);

#endif

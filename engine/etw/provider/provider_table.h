/* SPDX-License-Identifier: MIT */
/* The providers that this process has registered, and which sessions have each of them enabled, with what. A thread
   that writes an event finds its registration by the handle without a lock, and what it is enabled with as one block
   that never changes: a change publishes another block, and the old one is freed when every thread has been outside
   once. */
#ifndef OPENPLA_PROVIDER_TABLE_H
#define OPENPLA_PROVIDER_TABLE_H

#include "engine/base/thread.h"
#include "engine/etw/provider/provider_filter.h"
#include "engine/etw/session/session_reserve.h"

/* ---- threads ---- */

/* What each thread that writes events has of its own: who it is, its activity, and a word that says that it is inside
   what others may want to take away. What a thread finds published while it is inside stays until it has left. */
struct provider_thread {
    _Atomic uint32_t inside; /* how many calls deep; only the thread itself writes it */
    _Atomic bool ended;
    struct session_writer writer;
    uint64_t ids; /* thread and process, as headers of events have them */
    GUID activity;
    uint64_t time_read, time; /* cycles: when provider_processor_time asked last, and what it was told */
    bool never_waits;         /* others wait for it: it waits for no session */
    struct provider_thread *next;
    uint32_t seen; /* provider_threads_outside's */
};

/* Of the calling thread; made on its first call. NULL: out of memory. */
struct provider_thread *provider_thread_make(void);
static inline struct provider_thread *provider_thread_own(void)
{
    struct provider_thread *t = thread_slot();
    return __builtin_expect(t != NULL, 1) ? t : provider_thread_make();
}
/* What the calling thread has run in user mode, in cycles, as it was at most 10 ms ago: asking the system costs as much
   as a hundred events. */
uint64_t provider_processor_time(struct provider_thread *t);
/* The slot of this process, which events being written are marked with. */
void provider_threads_own_slot(uint32_t slot);

/* Two plain stores: others learn of it when these have left the processor, for which they wait PROVIDER_GRACE_MS. */
static inline void provider_enter(struct provider_thread *t)
{
    atomic_store_explicit(&t->inside, atomic_load_explicit(&t->inside, memory_order_relaxed) + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}
static inline void provider_leave(struct provider_thread *t)
{
    atomic_store_explicit(&t->inside, atomic_load_explicit(&t->inside, memory_order_relaxed) - 1, memory_order_release);
}

enum { PROVIDER_GRACE_MS = 10 };

/* ---- the table ---- */

enum {
    PROVIDER_REGISTRATIONS = 2048, /* at the same time; Windows 8's limit */
    PROVIDER_PLACES = 4096,        /* of the table: an index is 12 bits of the handle, 0 is nobody's */
    PROVIDER_MOST_ENABLES = 2 * DIRECTORY_ENABLES_OF_ONE, /* by its own GUID and by that of its group */
};

/* A session as this process maps it. */
struct provider_session {
    struct session_buffers buffers;
    uint32_t logger, generation;                       /* the directory's */
    uint32_t mode;                                     /* TRACE_MODE_*, as it was when the session was mapped */
    uint32_t most_event;                               /* bytes; etl_buffer_max_event */
    uint16_t header_flags;                             /* for each event: ETW_HEADER_* */
    uint32_t references;                               /* under the table's lock; who makes it has one */
    void (*release)(struct provider_session *session); /* when there is none any more, without the lock */
    struct provider_session *next;                     /* of what is to be let go */
};
/* Who made it lets it go: provider_reclaim gives the reference back. To be called once, when the session can be found
   nowhere but in what provider_apply published. */
void provider_session_retire(struct provider_session *session);

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

/* EventSetInformation: traits once (ERROR_GEN_FAILURE for a second time); `group` is told when they name one.
   ERROR_INVALID_PARAMETER for what are no traits. */
ULONG provider_set_traits(uint64_t handle, const uint8_t *traits, size_t size, GUID *group, bool *has_group);
ULONG provider_set_typed(uint64_t handle, bool typed);

/* ---- enables ---- */

/* Who knows sessions. */
struct provider_source {
    /* The session of an enable; NULL: it cannot be had now. Called under the table's lock. */
    struct provider_session *(*session)(void *context, uint32_t logger, uint32_t generation);
    /* Whether the session keeps the provider out of its group (TraceSetDisallowList). NULL: no session does. */
    bool (*disallows)(void *context, uint32_t logger, uint32_t generation, const GUID *provider);
    void *context;
    struct provider_scope scope;
};
/* From now on the registration of this handle (0: every one) is enabled with those of the list that are for it, and
   with nothing else. Callbacks are noted down for provider_run_callbacks. E_OUTOFMEMORY: some stay as they were. */
HRESULT provider_apply(uint64_t handle, const struct directory_enable *list, size_t count,
                       const struct provider_source *source);
/* Calls back what was noted down, on this thread, without a lock. */
void provider_run_callbacks(void);
/* Behind it, by one thread alone: when no other one is calling back any more, say(revision) is called, here or by the
   thread that ends the last callback, in which it takes no lock and waits for nothing. A newer one takes its place. */
void provider_when_idle(void (*say)(uint64_t revision), uint64_t revision);
/* From now on this thread waits for such a moment, or no longer; it may be in a callback. */
void provider_waits(bool waits);
/* Frees what no thread can be using any more. True: there is more, to be called again after PROVIDER_GRACE_MS. Never
   by two threads at once. */
bool provider_reclaim(void);
/* There is something that provider_reclaim has not seen yet, and it has nothing else in hand that it will be called
   again for. */
bool provider_has_retired(void);

/* ---- between provider_table.c and provider_notice.c ---- */

/* The part of a registration that writers do not see. All of it is
   under provider_lock. */
struct registration_record {
    struct provider_options options;
    struct provider_numbers numbers;
    uint64_t generation; /* of handles */
    struct registration *next;
    struct notice *first, *last; /* callbacks to come */
    bool calling;                /* a thread is at it, whose id is `caller` */
    uint32_t caller;
    bool waits; /* the callback waits until all have applied a change: it is taken for one that has returned */
    bool begun, gone, recycle;
    bool typed, has_group, has_decode;
    GUID group, decode;
    uint32_t traits_size;
    uint8_t *traits;
};
extern struct host_lock provider_lock;
extern struct registration *provider_in_use;
void provider_recycle(struct registration *r);

/* Same session by the same way. NULL: none. */
const struct provider_enable *provider_same_enable(const struct provider_enables *in, uint32_t logger,
                                                   uint32_t generation, bool group);
/* Notes down what a callback is to be told when `new` comes for `old` (NULL: by nobody). E_OUTOFMEMORY: nothing. */
HRESULT provider_note_changes(struct registration_record *record, const struct provider_enables *old,
                              const struct provider_enables *new);
void provider_notices_free(struct registration_record *record);
/* Waits until no other thread calls back. False: this very thread does, and recycles the registration behind it. */
bool provider_outlast_callback(struct registration_record *record);

/* ---- sessions: provider_sessions.c ---- */

/* This process as one of those that share the directory: its slot, the sessions that it has mapped, and the one thread
   that waits for changes, for the ends of hosts, and for moments at which mappings can go. There is none of it before
   the first registration. */
/* A registration from provider_begin takes part: the directory knows of it, and it is enabled with what there is, its
   callback having been called on this thread. Does not wait for other threads but for moments, so a DllMain may call
   it. *said: what a classic callback returned. An error code of Windows; then the registration has ended. */
ULONG provider_join(uint64_t handle, const GUID *guid, bool classic, ULONG *said);
/* provider_end, and the directory knows of it no more. */
ULONG provider_part(uint64_t handle, bool classic);
/* The registration is enabled as a member of the group, too. */
ULONG provider_join_group(uint64_t handle, const GUID *group);
/* The registration's provider calls itself so. */
void provider_publish_name(uint64_t handle, const char *name);

/* The session of a logger's number, mapped if it is not. The thread must be inside, and stays so, also when a mapping
   had to be made, for which it is outside for a while. `anew`: the one that it gave before is over. NULL: there is none
   that runs. */
struct provider_session *provider_session_of(struct provider_thread *t, uint32_t logger, bool anew);

/* directory_wait_applied, also from a callback, which is then taken for one that has returned: else it would wait for
   itself. */
HRESULT provider_wait_applied(struct directory *d, const GUID *provider, uint64_t revision, uint32_t timeout_ms);

/* A thread of the process is ending (DLL_THREAD_DETACH). Enters no lock. */
void provider_thread_leaves(void);

uint64_t provider_event_key(void);     /* EVENT_HEADER_EXT_TYPE_EVENT_KEY */
uint64_t provider_start_key(void);     /* EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY */
uint32_t provider_next_sequence(void); /* EVENT_TRACE_USE_GLOBAL_SEQUENCE */
#endif

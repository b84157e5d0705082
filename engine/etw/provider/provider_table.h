/* SPDX-License-Identifier: MIT */
/* A table of the providers that this process has registered. For each provider, the table refers to the sessions that
   enable it.

   The problem. Programs call EventWrite millions of times a second from many threads, mostly for providers that no
   session enables. If no session enables the provider, the call must cost only a few nanoseconds. If a session enables
   the provider, the call must not take a lock. At the same time, other threads change the enable settings, unregister
   providers, and unmap sessions that have ended. (In the names below, an "enable" is the settings with which one
   session enables one provider.)

   The layout.

     provider_table[4096]    registration: handle, first test (any, all, limit), pointer to the enables
                                           |                                          |
                             registration_record: the part under provider_lock        v
                                                                          provider_enables (never changes)
                                                                            of[]: keywords, level, filter, session
                                                                                                              |
                             provider_session: the buffers of a session, as mapped here  <--------------------+
     threads                 provider_thread: inside, slot and id of the writer, activity

   A handle is a generation << 16 | index in the table. A writer finds its registration by the index and compares the
   handle, so a handle of an ended registration is rejected even if its table entry is in use again.

   Who writes what. Everything changes under provider_lock, except those members of a provider_thread that its own
   thread writes (`inside`, activity). Writers only read the table. A writer first tests the first words of a
   registration. This test can pass an event that no session receives, but never rejects an event that a session
   receives.

   Publishing. A change builds a new block of enable settings, stores the pointer to it, and puts the old block on a
   list of retired ones. A writer announces that it is inside (provider_enter), loads the pointer, writes the event, and
   leaves. Therefore a block that a writer has found stays valid until the writer leaves.

   Freeing. provider_reclaim moves the retired blocks and sessions to "leaving", waits PROVIDER_GRACE_MS, and then waits
   until each thread has been seen outside once. For speed, a writer sets `inside` with a plain store without a fence;
   PROVIDER_GRACE_MS covers the time until other processors see this store. Each session counts the blocks that refer to
   it, and is unmapped when the last of these blocks is freed.

   Half-done states. A writer may use the old block for an event during a change; the event then goes to the sessions
   that were enabled before. A thread that ends between provider_enter and provider_leave is marked as ended; a thread
   that is suspended there keeps retired blocks alive. */
#ifndef OPENPLA_PROVIDER_TABLE_H
#define OPENPLA_PROVIDER_TABLE_H

#include "engine/base/thread.h"
#include "engine/etw/provider/provider_filter.h"
#include "engine/etw/session/session_reserve.h"

/* ---- threads ---- */

/* The state of a thread that writes events: its identity, its activity, and whether it is inside, that is, whether it
   may use published data. All published data that the thread has found stay valid until the thread leaves
   (provider_leave). */
struct provider_thread {
    _Atomic uint32_t inside; /* depth of nested calls; written only by the thread itself */
    _Atomic bool ended;
    struct session_writer writer;
    uint64_t ids; /* ids of thread and process, as in event headers */
    GUID activity;
    uint64_t time_read, time; /* in cycles: when provider_processor_time last queried the system (`time_read`), and the
                                 result (`time`) */
    bool never_waits;         /* other threads wait for this thread, so it must not wait for a session */
    struct provider_thread *next;
    uint32_t seen; /* used by provider_threads_outside */
};

/* Returns the structure of the calling thread, and creates it on the first call. Returns NULL if memory runs out. */
struct provider_thread *provider_thread_make(void);
static inline struct provider_thread *provider_thread_own(void)
{
    struct provider_thread *t = thread_slot();
    return __builtin_expect(t != NULL, 1) ? t : provider_thread_make();
}
/* Returns the user-mode time of the calling thread, in cycles. The value can be up to 10 ms old, because querying the
   system costs as much as writing a hundred events. */
uint64_t provider_processor_time(struct provider_thread *t);
/* Sets the slot of this process. The slot number marks events that are being written. */
void provider_threads_own_slot(uint32_t slot);

/* provider_enter marks the thread as inside, and provider_leave marks it as outside, each with a plain store. Other
   threads see the store after PROVIDER_GRACE_MS at the latest. */
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
    PROVIDER_REGISTRATIONS = 2048,                        /* maximum at the same time; the limit of Windows 8 */
    PROVIDER_PLACES = 4096,                               /* an index is 12 bits of the handle; 0 is never used */
    PROVIDER_MOST_ENABLES = 2 * DIRECTORY_ENABLES_OF_ONE, /* once by provider GUID and once by group GUID */
};

/* A session, as this process has mapped it. */
struct provider_session {
    struct session_buffers buffers;
    uint32_t logger, generation;                       /* numbers of the session in the directory */
    uint32_t mode;                                     /* TRACE_MODE_* at the time when the session was mapped */
    uint32_t most_event;                               /* maximum size of an event in bytes (etl_buffer_max_event) */
    uint16_t header_flags;                             /* ETW_HEADER_* flags of each event */
    uint32_t references;                               /* protected by provider_lock; its creator holds one reference */
    void (*release)(struct provider_session *session); /* called without a lock when no references are left */
    struct provider_session *next;                     /* next session in a list of retired sessions */
};
/* Releases the reference of the creator; provider_reclaim does the rest. Call it once, after removing the session from
   all places in which threads can find it, except from data that provider_apply published. */
void provider_session_retire(struct provider_session *session);

/* The parameters with which one session enables a provider. */
struct provider_enable {
    struct provider_session *session;
    uint64_t any; /* never 0 */
    uint64_t all;
    uint32_t limit; /* one above the highest enabled level */
    uint32_t property;
    uint64_t instance; /* the session's bit in the Filter argument of EventWriteEx */
    struct provider_filter *filter;
    bool selects; /* the filter may reject events */
    bool group;   /* enabled by the GUID of the provider's group */
    uint8_t level;
    GUID source;
    uint64_t serial, captures;
};

/* The enable settings of one registration. The block never changes after it has been published. */
struct provider_enables {
    uint64_t handle;
    GUID guid; /* GUID in the headers of events */
    GUID control;
    bool plain;   /* the short path is possible: only one session, and events of a header and data only */
    bool typed;   /* data descriptors have a type (enum etw_data_type) */
    bool decodes; /* `guid` differs from `control` */
    uint32_t count;
    struct provider_enable of[PROVIDER_MOST_ENABLES];
    struct provider_enables *next; /* next block in a list of retired blocks */
    uint32_t traits_size;
    uint8_t traits[];
};

/* An entry of the table. The first words are a first test, which may let an event pass that no session receives. */
struct registration {
    _Atomic uint64_t handle;                    /* 0: unused */
    _Atomic(struct provider_enables *) enables; /* NULL: not enabled */
    _Atomic uint64_t any, all;
    _Atomic uint32_t limit;
    uint32_t index;
    struct registration_record *record; /* stays allocated when the entry is reused */
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct registration) == 64, "one line of the cache");
extern struct registration provider_table[PROVIDER_PLACES];

/* Returns the registration of a handle; NULL if the handle is invalid or its registration has ended. Handle 0 belongs
   to a registration that is never enabled. */
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
    bool classic; /* registered with RegisterTraceGuids */
};
/* In the directory, the provider and its group each have a registration. `provider` and `group` are the numbers of
   these registrations plus one; 0: not registered. */
struct provider_numbers {
    uint32_t provider, group;
    uint64_t born; /* directory_born of the directory with these registrations */
};
/* Creates a registration that is not enabled yet. Its callbacks wait for provider_begun. Errors:
   ERROR_NO_SYSTEM_RESOURCES, ERROR_NOT_ENOUGH_MEMORY. */
ULONG provider_begin(const struct provider_options *options, uint64_t *handle);
/* The next four functions return false if the registration has ended. */
bool provider_set_numbers(uint64_t handle, struct provider_numbers numbers);
bool provider_get_numbers(uint64_t handle, struct provider_numbers *numbers);
bool provider_get_guid(uint64_t handle, GUID *guid);
/* How a registration appears in the directory. */
struct provider_identity {
    GUID guid, group;
    bool classic, has_group;
};
bool provider_get_identity(uint64_t handle, struct provider_identity *out);
/* Call it once after each provider_begin, even if the registration has already ended. If the provider is enabled, runs
   its callback on this thread. From then on, every change causes a callback. Returns the result of a classic provider's
   callback, otherwise 0. */
ULONG provider_begun(uint64_t handle);
/* Ends a registration. Waits until no other thread is in a callback of the registration, and until provider_begun has
   returned if another thread must call it. Afterwards there are no callbacks, `context` is not used, and the handle is
   rejected. Errors: ERROR_INVALID_HANDLE. */
ULONG provider_end(uint64_t handle, bool classic, struct provider_numbers *numbers);

/* Sets the traits (EventSetInformation). A second call fails with ERROR_GEN_FAILURE. *group is the group that the
   traits name. Returns ERROR_INVALID_PARAMETER if the traits are malformed. */
ULONG provider_set_traits(uint64_t handle, const uint8_t *traits, size_t size, GUID *group, bool *has_group);
ULONG provider_set_typed(uint64_t handle, bool typed);

/* ---- enable settings ---- */

/* Provides sessions to provider_apply. */
struct provider_source {
    /* Returns the session of an enable setting. Called under provider_lock. Returns NULL if the session is not
       available now. */
    struct provider_session *(*session)(void *context, uint32_t logger, uint32_t generation);
    /* Returns whether the session excludes the provider from its group (TraceSetDisallowList). The pointer is NULL if
       no session excludes providers. */
    bool (*disallows)(void *context, uint32_t logger, uint32_t generation, const GUID *provider);
    void *context;
    struct provider_scope scope;
};
/* Sets the enable settings of the registration with this handle, or of all registrations if `handle` is 0. The settings
   of a registration are then exactly those entries of the list that apply to it. Queues callbacks for
   provider_run_callbacks. On E_OUTOFMEMORY, some registrations stay as they were. */
HRESULT provider_apply(uint64_t handle, const struct directory_enable *list, size_t count,
                       const struct provider_source *source);
/* Runs the queued callbacks on this thread, without a lock. */
void provider_run_callbacks(void);
/* Calls say(revision) as soon as no other thread is in a callback: immediately, or later on the thread that ends the
   last callback. `say` must take no lock and must not wait. A newer call replaces an older one. Only the waiting thread
   may call this function. */
void provider_when_idle(void (*say)(uint64_t revision), uint64_t revision);
/* Sets whether this thread waits for the result of provider_when_idle. If the thread waits within a callback,
   provider_when_idle treats this callback as ended. */
void provider_waits(bool waits);
/* Frees everything that no thread can use any more. Returns true if the caller must call it again after
   PROVIDER_GRACE_MS. Two threads must not call it simultaneously. */
bool provider_reclaim(void);
/* Returns true if there are retired items, and if the last call of provider_reclaim did not request another call. */
bool provider_has_retired(void);

/* ---- between provider_table.c and provider_notice.c ---- */

/* The part of a registration that writers do not see; protected by provider_lock. */
struct registration_record {
    struct provider_options options;
    struct provider_numbers numbers;
    uint64_t generation; /* generation in the handles of this entry */
    struct registration *next;
    struct notice *first, *last; /* queued callbacks */
    bool calling;                /* the thread `caller` runs the registration's callbacks */
    uint32_t caller;
    bool waits; /* the callback waits until every process has applied a change; provider_when_idle treats it as ended */
    bool begun, gone, recycle;
    bool typed, has_group, has_decode;
    GUID group, decode;
    uint32_t traits_size;
    uint8_t *traits;
};
extern struct lock provider_lock;
extern struct registration *provider_in_use;
void provider_recycle(struct registration *r);

/* Returns the setting with which the given session enables the provider: by the GUID of the provider's group if `group`
   is true, otherwise by the GUID of the provider. Returns NULL if the setting does not exist. */
const struct provider_enable *provider_same_enable(const struct provider_enables *in, uint32_t logger,
                                                   uint32_t generation, bool group);
/* Queues the callbacks for a change from `old` (NULL: not enabled) to `new`. On E_OUTOFMEMORY, no callback is
   queued. */
HRESULT provider_note_changes(struct registration_record *record, const struct provider_enables *old,
                              const struct provider_enables *new);
void provider_notices_free(struct registration_record *record);
/* Waits until no other thread runs a callback of the registration. Returns false if this thread itself runs a callback
   of the registration; the thread then recycles the registration after the callback. */
bool provider_outlast_callback(struct registration_record *record);

/* ---- sessions: provider_sessions.c ---- */

/* Adds a registration from provider_begin to the directory, and applies the current enable settings to it. If a session
   enables the provider, runs the callback on this thread. Waits for other threads only briefly, so a DllMain may call
   it. *said: the result of a classic callback. On failure (a Windows error code) the registration has ended. */
ULONG provider_join(uint64_t handle, const GUID *guid, bool classic, ULONG *said);
/* Calls provider_end and removes the registration from the directory. */
ULONG provider_part(uint64_t handle, bool classic);
/* From now on, sessions can also enable the registration by the GUID of its group. */
ULONG provider_join_group(uint64_t handle, const GUID *group);
/* Stores the name that the provider sets for itself. */
void provider_publish_name(uint64_t handle, const char *name);

/* Returns the running session of a logger, mapping it if necessary. The thread must be inside (provider_enter) and is
   inside on return. If the session must be mapped, the thread is outside during that time. `is_over` is true if the
   session that the previous call returned has ended. Returns NULL if no such session is running. */
struct provider_session *provider_session_of(struct provider_thread *t, uint32_t logger, bool is_over);

/* Like directory_wait_applied, but can also be called in a callback. During the wait, the callback is treated as ended;
   otherwise the wait would include the callback itself. */
HRESULT provider_wait_applied(struct directory *d, const GUID *provider, uint64_t revision, uint32_t timeout_ms);

/* Called when a thread of the process ends (DLL_THREAD_DETACH). Takes no lock. */
void provider_thread_leaves(void);

uint64_t provider_event_key(void);     /* EVENT_HEADER_EXT_TYPE_EVENT_KEY */
uint64_t provider_start_key(void);     /* EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY */
uint32_t provider_next_sequence(void); /* EVENT_TRACE_USE_GLOBAL_SEQUENCE */
#endif

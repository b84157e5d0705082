/* SPDX-License-Identifier: MIT */
/* The directory: what the processes of one host (under Wine: of one prefix) share about tracing beside the buffers
   themselves: which sessions there are and who hosts them, who enabled which provider with what, and which process has
   registered which provider. It lies in a section over a file, so it outlives all of them. It changes under a mutex and
   is read without one, under a generation. Nothing in it is believed: what is read is copied, then checked. */
#ifndef OPENPLA_DIRECTORY_H
#define OPENPLA_DIRECTORY_H

#include "engine/base/process.h"
#include "engine/base/text.h"

enum {
    DIRECTORY_SESSIONS = 64, /* EtwMaxLoggers; their loggers are 1 to 64 */
    DIRECTORY_PRIVATE = 192, /* private sessions and their parts; their loggers come behind those */
    DIRECTORY_PLACES = DIRECTORY_SESSIONS + DIRECTORY_PRIVATE,
    DIRECTORY_ENABLES_OF_ONE = 8,    /* sessions that may enable one provider */
    DIRECTORY_ENABLES = 8192,        /* of all sessions */
    DIRECTORY_REGISTRATIONS = 16384, /* of all processes */
    DIRECTORY_TEXT = 1024,          /* UTF-16 units of a name of a session or a file; in UTF-8 up to thrice the bytes */
    DIRECTORY_FILTERS = 13,         /* MAX_EVENT_FILTERS_COUNT */
    DIRECTORY_FILTER_BYTES = 16384, /* of all filters of one enable, each rounded up to 8 */
    DIRECTORY_PROVIDER_NAMES = 1024,    /* of providers */
    DIRECTORY_PROVIDER_NAME_ROOM = 232, /* bytes of one, with its NUL */
    DIRECTORY_DISALLOWED = 64,          /* providers that a session does not enable by their groups */
    DIRECTORY_SCOPES = 4,               /* filters that tell which processes a private session is in */
    DIRECTORY_SCOPE_BYTES = 1152,       /* of their data, each rounded up to 8: eight processes, and programs' names */
    DIRECTORY_STACK_EVENTS = 256,       /* kinds of the kernel's events that have stacks in one session */
    DIRECTORY_COUNTERS = 4,             /* counters of processors, and kinds of events that have them */
    DIRECTORY_KERNEL_LOGGER = 0xFFFF,   /* the NT Kernel Logger's handle, whatever place it has */
};

struct directory;
/* That of this host, which the process then keeps; a second call gives the same unless it was deleted meanwhile, by
   whatever program: then another one. OPENPLA_ETW in the environment names
   another one (letters and digits, at most 32). Errors: those of section_open. One that is
   corrupt is begun anew. */
HRESULT directory_get(struct directory **out);
/* Whether there is one, for who must not make it, nor change it. S_FALSE: there is none, or it was deleted.
   ERROR_INVALID_DATA's HRESULT, with a text: the next who opens it begins it anew. */
HRESULT directory_check(void);
/* Another number after each time that the directory was begun anew since it was corrupt: sessions, enables and
   registrations of before are not in it any more. */
uint64_t directory_born(struct directory *d);
/* It has no name any more: who has it keeps it, and the next who asks makes another (under Wine when nobody has it).
   Its sessions' hosts hear of it, and end. What a test does in the end. */
void directory_delete(struct directory *d);
/* False: it was deleted, and who asks for one gets another. `look`: also for a file that somebody deleted by hand,
   which asks the system. What cannot be told counts as there. */
bool directory_exists(struct directory *d, bool look);

/* ---- changes ---- */

/* All functions that say so are to be called between these two, and then by one process alone, by the thread that
   began. They see what the change has done so far; all others show the directory as it was before, until its end. Of a
   change whose process ends in between nothing is done. Begin waits as long as somebody who lives changes it. */
HRESULT directory_begin(struct directory *d);
/* The revision of the directory with the changes. Wakes the processes that have registered one of the providers. */
uint64_t directory_end(struct directory *d, const GUID *providers, size_t count);
/* In place of the end: nothing of the change is done. */
void directory_cancel(struct directory *d);
uint64_t directory_revision(struct directory *d);

/* ---- processes ---- */

struct directory_process {
    uint32_t id;
    uint64_t start_time; /* process_start_time */
};
/* Not in a change. The slot of this process, 1 to SESSION_MOST_OWNERS, made on the first call, and again after the
   directory was begun anew; a slot of a process that
   has ended is given again when no session can name it any more (directory_session_reaped). ERROR_NO_SYSTEM_RESOURCES's
   HRESULT: all are taken. */
HRESULT directory_join(struct directory *d, uint32_t *slot);
/* session_liveness's alive, with the directory as context; `thread` 0: any. */
bool directory_alive(void *d, uint32_t slot, uint32_t thread);
bool directory_process_of(struct directory *d, uint32_t slot, struct directory_process *out);
/* What directory_end wakes this process by, and what its waiting thread waits for. Belongs to the directory. */
HRESULT directory_own_signal(struct directory *d, struct signal **out);
/* This process has applied, callbacks included, what the directory held at this revision. */
void directory_applied(struct directory *d, uint64_t revision);
/* Waits until all processes that have the provider registered and listen (directory_own_signal) have applied
   `revision`, or have ended. S_FALSE: the time is over. */
HRESULT directory_wait_applied(struct directory *d, const GUID *provider, uint64_t revision, uint32_t timeout_ms);

/* ---- sessions ---- */

enum directory_state {
    DIRECTORY_STARTING = 1,
    DIRECTORY_RUNNING,
    DIRECTORY_STOPPING,
    DIRECTORY_OVER /* of a part: its log has ended, and its figures are among those of its session */
};

/* Which processes a private session is in: all that pass each of these filters. */
struct directory_scope {
    uint32_t count, reserved;
    struct {
        uint32_t type, size; /* EVENT_FILTER_TYPE_*; of packages, of which there are none here, no data are kept */
    } filter[DIRECTORY_SCOPES];
    uint8_t data[DIRECTORY_SCOPE_BYTES]; /* of one behind the other */
};
/* What TraceSetInformation sets of a system logger, one list for each class. */
enum directory_kernel_list {
    DIRECTORY_STACKS,          /* hooks of events */
    DIRECTORY_PROFILE_SOURCES, /* KPROFILE_SOURCE */
    DIRECTORY_COUNTED_EVENTS,  /* hooks */
    DIRECTORY_COUNTER_SOURCES, /* KPROFILE_SOURCE */
    DIRECTORY_KERNEL_LISTS
};
struct directory_kernel {
    uint32_t count[DIRECTORY_KERNEL_LISTS];
    uint32_t source[DIRECTORY_COUNTERS], counter[DIRECTORY_COUNTERS];
    uint16_t counted[DIRECTORY_COUNTERS];
    uint16_t stack[DIRECTORY_STACK_EVENTS];
};
/* How many a list may hold. */
static inline uint32_t directory_kernel_room(enum directory_kernel_list list)
{
    return list == DIRECTORY_STACKS ? DIRECTORY_STACK_EVENTS : DIRECTORY_COUNTERS;
}
/* What parts that are over have added up to. */
struct directory_totals {
    uint64_t events_lost, buffers_written, buffers_lost;
};

/* A session, as a copy. All of it is what its host said when it started or updated it; what changes with each event is
   in the section of its buffers. */
struct directory_session {
    uint32_t logger;     /* 1 to DIRECTORY_PLACES */
    uint32_t generation; /* how often this logger was given: with it a handle names one session for ever */
    enum directory_state state;
    GUID guid;
    struct directory_process host, starter;
    char section[64]; /* the name of its buffers (struct shared), under which only who has it can find them */
    char signal[64];  /* wakes the host */
    uint64_t section_size;
    bool kernel;    /* the NT Kernel Logger: its handle is DIRECTORY_KERNEL_LOGGER */
    uint32_t clock; /* ETL_CLOCK_* */
    uint32_t mode;  /* LogFileMode as it is now */
    uint32_t buffer_kb, minimum_buffers, maximum_buffers, maximum_file, flush_timer, flush_ms;
    uint32_t enable_flags[8]; /* group masks; the first are EnableFlags */
    struct directory_kernel lists;
    uint64_t thread; /* LoggerThreadId */
    int64_t started; /* FILETIME */
    /* What directory_session_disallow set last; the host has no part in it. */
    uint32_t disallowed_count;
    GUID disallowed[DIRECTORY_DISALLOWED];
    /* A private session (EVENT_TRACE_PRIVATE_LOGGER_MODE) has no host, buffers or log. It has parts, which are entries
       of their own: one in each process that is in it, its host, with buffers and a log. */
    uint32_t whole, whole_generation; /* of a part: its session; 0: it is none */
    bool named;                       /* the part whose log has the name as given; of the session: there was one */
    bool numbered;                    /* of the session: there is none, CONTROLLER_NUMBERED */
    struct directory_totals ended;
    struct directory_scope scope;
    char *name, *file; /* UTF-8, from memory_alloc; file NULL: none */
};
void directory_session_free(struct directory_session *s); /* what it points to */
/* Handle of a session: its logger in the low 16 bits, its generation above them. Programs compare that of the NT Kernel
   Logger with 0xFFFF, so it has no generation: it is the handle of whichever kernel session runs (behaviour 22). */
uint64_t directory_handle(const struct directory_session *s);

/* In order of loggers; of a STARTING one the host may not be known yet. From memory_alloc, to be freed by
   directory_sessions_free. */
HRESULT directory_sessions(struct directory *d, struct directory_session **out, size_t *count);
void directory_sessions_free(struct directory_session *list, size_t count);
/* By logger and generation (generation 0: any). S_FALSE: there is none. */
HRESULT directory_session_at(struct directory *d, uint32_t logger, uint32_t generation, struct directory_session *out);
/* In a change. Gives it a logger and a generation. HRESULTs of ERROR_ALREADY_EXISTS (name, without case, or GUID is
   taken by a session of its kind: private ones, and those that are in one process alone, of that process, are kinds of
   their own), ERROR_NO_SYSTEM_RESOURCES (no logger is free; the text names the oldest session whose starter has ended),
   ERROR_SHARING_VIOLATION (161 is the caller's: another session writes this file). */
HRESULT directory_session_add(struct directory *d, struct directory_session *s);
/* In a change: all but logger, generation and what is disallowed is as *s says now. S_FALSE: there is none of that
 * logger and generation. */
HRESULT directory_session_set(struct directory *d, const struct directory_session *s);
/* In a change: members of groups that the session does not enable by their group, at most DIRECTORY_DISALLOWED.
   S_FALSE: there is none of that logger and generation. */
HRESULT directory_session_disallow(struct directory *d, uint32_t logger, uint32_t generation, const GUID *providers,
                                   size_t count);
/* In a change: it is gone, with its enables. *providers: whom it had enabled, for directory_end, from memory_alloc. */
HRESULT directory_session_remove(struct directory *d, uint32_t logger, uint32_t generation, GUID **providers,
                                 size_t *count);
/* By the host, each second or so: slots of processes that ended before this moment (clock_monotonic_ms, made of
   session_drain_oldest) are not named in the session. */
void directory_session_reaped(struct directory *d, uint32_t logger, uint64_t since_ms);

/* ---- what controllers ask of a host ---- */

enum directory_verb {
    DIRECTORY_STOP = 1,
    DIRECTORY_FLUSH,  /* a session in memory: `file` is the snapshot's */
    DIRECTORY_UPDATE, /* file (NULL: keep), maximum_buffers, flush_timer (0: keep), mode, enable_flags */
    DIRECTORY_INCREMENT_FILE,
    DIRECTORY_TO_REALTIME,
    DIRECTORY_CONNECT, /* a real-time consumer: `file` is the name of its ring's section, `process` who it is */
    DIRECTORY_DISCONNECT,
    DIRECTORY_SET_LIST,         /* list, items: in place of what the session had there */
    DIRECTORY_SYSTEM_PROVIDERS, /* it enables others of them now */
};
struct directory_request {
    enum directory_verb verb;
    struct directory_process process; /* who asks */
    uint32_t mode, maximum_buffers, flush_timer, flags_given;
    uint32_t enable_flags[8];
    uint32_t list, item_count; /* enum directory_kernel_list; at most directory_kernel_room */
    uint32_t items[DIRECTORY_STACK_EVENTS];
    char *file; /* UTF-8; NULL: none */
};
/* Hands the request to the session's host, one after the other, and waits for its answer, a Windows error code. Not in
   a change. E_ABORT: the host has ended; S_FALSE: no answer in time, and what the host has not begun it will not do;
   ERROR_WMI_INSTANCE_NOT_FOUND's HRESULT: there is no such session. */
HRESULT directory_ask(struct directory *d, uint32_t logger, uint32_t generation,
                      const struct directory_request *request, uint32_t timeout_ms, uint32_t *answer);
/* By the host: the request that waits, with texts from memory_alloc. S_FALSE: none. */
HRESULT directory_asked(struct directory *d, uint32_t logger, struct directory_request *out);
void directory_request_free(struct directory_request *r); /* what it points to */
void directory_answer(struct directory *d, uint32_t logger, uint32_t answer);
/* By a host that lives on, when its session is out of the directory: who asks it for something waits no more. */
void directory_hang_up(struct directory *d, uint32_t logger, uint32_t generation);

/* ---- enables ---- */

struct directory_filter {
    uint32_t type; /* EVENT_FILTER_TYPE_* */
    uint32_t size;
    const uint8_t *data; /* in a copy: points into it; of EVENT_FILTER_TYPE_PID directory_filter_process each */
};
/* Ids are given again, so the processes that lived when the filter was set have the moment they began beside it, and
   the others 0, which no process has. */
struct directory_filter_process {
    uint32_t id, reserved;
    uint64_t start_time;
};
struct directory_enable {
    GUID provider, source;
    uint32_t logger, generation;
    uint64_t serial;   /* of this enable or update, another one than all others ever had; higher than those before */
    uint64_t captures; /* how often its state was asked for since it was first enabled; it leaves the serial */
    uint64_t any, all;
    uint32_t property; /* EVENT_ENABLE_PROPERTY_* */
    uint8_t level;
    bool classic; /* EnableTrace's way: any are the 32 flags as given */
    uint32_t filter_count;
    struct directory_filter filter[DIRECTORY_FILTERS];
    uint8_t *filter_data; /* of a copy: from memory_alloc; NULL: no filters */
};
_Static_assert(sizeof(struct directory_filter_process) == 16, "the same for programs of 32 and 64 bits");
void directory_enables_free(struct directory_enable *list, size_t count); /* the list too */
/* In a change; in place of what the session had for the provider. HRESULTs of ERROR_NO_SYSTEM_RESOURCES (a ninth
   session, with a text that names the eight; no room), ERROR_WMI_INSTANCE_NOT_FOUND (no such session). */
HRESULT directory_enable_set(struct directory *d, const struct directory_enable *e);
/* In a change. S_FALSE: it had not enabled it. */
HRESULT directory_enable_clear(struct directory *d, uint32_t logger, uint32_t generation, const GUID *provider);
/* In a change: one more capture, with this source. S_FALSE: not enabled. */
HRESULT directory_enable_capture(struct directory *d, uint32_t logger, uint32_t generation, const GUID *provider,
                                 const GUID *source);
/* Of one provider (NULL: of all), by RUNNING sessions alone, with the revision that they are of. */
HRESULT directory_enables(struct directory *d, const GUID *provider, struct directory_enable **out, size_t *count,
                          uint64_t *revision);

/* ---- registrations ---- */

enum directory_kind {
    DIRECTORY_PROVIDER,
    DIRECTORY_CLASSIC, /* RegisterTraceGuids */
    DIRECTORY_GROUP,   /* the GUID is that of a group that a provider belongs to */
};
struct directory_registration {
    GUID provider;
    uint32_t slot;
    bool classic, group;
    struct directory_process process;
};
/* This process has registered the provider (without the mutex; no call of the system). To be called before
   directory_enables, so that no enable is missed. Each registration counts. ERROR_NO_SYSTEM_RESOURCES's HRESULT. */
HRESULT directory_register(struct directory *d, const GUID *provider, enum directory_kind kind, uint32_t *registration);
void directory_unregister(struct directory *d, uint32_t registration);
/* Of processes that live. From memory_alloc. */
HRESULT directory_registrations(struct directory *d, struct directory_registration **out, size_t *count);

/* ---- names ---- */

struct directory_provider_name {
    GUID provider;
    char name[DIRECTORY_PROVIDER_NAME_ROOM]; /* UTF-8 without control characters, not empty */
};
/* What a provider calls itself that no manifest names (EventSetInformation, its traits), for those who list providers,
   also when nobody has it registered any more. As directory_register it needs no mutex. A name that is not as above is
   not kept, and the oldest one goes when there is no room. */
void directory_name_provider(struct directory *d, const GUID *provider, const char *name);
/* One for each provider. From memory_alloc. */
HRESULT directory_provider_names(struct directory *d, struct directory_provider_name **out, size_t *count);

/* A number for a TraceMessage event, from 1, each once on this host (EVENT_TRACE_USE_GLOBAL_SEQUENCE). */
uint32_t directory_next_sequence(struct directory *d);
/* A number for an event, each once on this host (EVENT_HEADER_EXT_TYPE_EVENT_KEY). */
uint64_t directory_next_event_key(struct directory *d);
/* How long it is from one sample of a processor to the next, in 100 ns, for all sessions; 0: nobody has set it. */
uint32_t directory_profile_interval(struct directory *d);
void directory_set_profile_interval(struct directory *d, uint32_t interval);

/* ---- the name of this process's directory ---- */

#define DIRECTORY_OF_HOST "main"
enum { DIRECTORY_NAME_BYTES = 33 };
/* What OPENPLA_ETW in the environment says, else DIRECTORY_OF_HOST. ERROR_INVALID_NAME's HRESULT when that is no name
   of at most 32 letters and digits. */
HRESULT directory_name(char out[DIRECTORY_NAME_BYTES]);

#endif

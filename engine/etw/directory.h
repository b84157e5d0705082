/* SPDX-License-Identifier: MIT */
/* The directory contains the state of tracing that all processes of a host OS (under Wine: of a prefix) share. The
   directory records the sessions and their host processes, the providers and settings that each session enabled, and
   the providers that each process registered. The buffers of the sessions are in other sections. The directory is a
   section over a file, so it outlives its processes. Changes are made under a mutex; readers take no lock and check a
   revision instead. The contents of the directory are untrusted: they are copied first and then checked. */
#ifndef OPENPLA_DIRECTORY_H
#define OPENPLA_DIRECTORY_H

#include "engine/base/process.h"
#include "engine/base/text.h"

enum {
    DIRECTORY_SESSIONS = 64, /* EtwMaxLoggers; logger ids 1 to 64 */
    DIRECTORY_PRIVATE = 192, /* private sessions and their parts; logger ids 65 to 256 */
    DIRECTORY_PLACES = DIRECTORY_SESSIONS + DIRECTORY_PRIVATE,
    DIRECTORY_ENABLES_OF_ONE = 8,    /* maximum number of sessions that enable one provider */
    DIRECTORY_ENABLES = 8192,        /* maximum number of enable records: one for each session and provider */
    DIRECTORY_REGISTRATIONS = 16384, /* maximum number of registrations of all processes */
    DIRECTORY_TEXT = 1024,           /* maximum UTF-16 units of a session or file name (up to 3 bytes each in UTF-8) */
    DIRECTORY_FILTERS = 13,          /* MAX_EVENT_FILTERS_COUNT */
    DIRECTORY_FILTER_BYTES = 16384, /* maximum bytes of the filters in one enable record; the size of each filter counts
                                       as a multiple of 8 */
    DIRECTORY_PROVIDER_NAMES = 1024,    /* maximum number of stored provider names */
    DIRECTORY_PROVIDER_NAME_ROOM = 232, /* bytes of a name, including its NUL */
    DIRECTORY_DISALLOWED = 64, /* maximum number of providers that stay disabled when a session enables their group */
    DIRECTORY_SCOPES = 4,      /* maximum number of filters that select the processes of a private session */
    DIRECTORY_SCOPE_BYTES = 1152,     /* maximum bytes of the data of these filters (eight process ids and the program
                                         names); the size of each counts as a multiple of 8 */
    DIRECTORY_STACK_EVENTS = 256,     /* maximum number of kinds of kernel events with stacks in one session */
    DIRECTORY_COUNTERS = 4,           /* maximum number of processor counters, and of kinds of events with counters */
    DIRECTORY_KERNEL_LOGGER = 0xFFFF, /* handle of the NT Kernel Logger, whatever its logger id */
};

struct directory;
/* Opens the directory of this host OS; the process keeps it open. A second call returns the same directory unless a
   program has deleted it in the meantime. The environment variable OPENPLA_ETW selects another directory (letters and
   digits, at most 32). Errors: those of section_open. A corrupt directory is created again, empty. */
HRESULT directory_get(struct directory **out);
/* Checks whether the directory exists, without creating or changing it. Returns S_FALSE if the directory does not exist
   or was deleted. Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA), with an error text, if the directory is corrupt; the
   next directory_get then creates it again. */
HRESULT directory_check(void);
/* Returns a number that changes each time a corrupt directory is re-created. The sessions, enable records and
   registrations of the corrupt directory are lost. */
uint64_t directory_born(struct directory *d);
/* Removes the directory's name. Processes that have the directory open keep it. The next directory_get creates another
   directory; under Wine, this happens only when no process has the old directory open. The host processes of the
   sessions detect the removal and exit. Tests call this before they exit. */
void directory_delete(struct directory *d);
/* OpenPLA's programs call this before they exit. Removes the directory if no other process uses it and it contains no
   session, no names of providers and no profile interval; an unused directory would stay in memory until the host OS
   restarts. Has no effect if this process has not opened the directory. */
void directory_leave(void);
/* Returns false if the directory was deleted, so that directory_get would return another one. With `look`, also checks
   whether the file was deleted manually. If this cannot be determined, the directory counts as existing. */
bool directory_exists(struct directory *d, bool look);

/* ---- changes ---- */

/* Functions marked "in a change" must be called between directory_begin and directory_end, by the thread that called
   directory_begin. These functions see the change so far; all other callers see the previous state until directory_end.
   If the process exits before the end, the change has no effect. directory_begin waits as long as another living
   process has a change in progress. */
HRESULT directory_begin(struct directory *d);
/* Commits the change and returns its revision. Wakes the processes that registered one of the providers. */
uint64_t directory_end(struct directory *d, const GUID *providers, size_t count);
/* Discards the change. */
void directory_cancel(struct directory *d);
uint64_t directory_revision(struct directory *d);

/* ---- processes ---- */

struct directory_process {
    uint32_t id;
    uint64_t start_time; /* process_start_time */
};
/* Not in a change. Returns the slot of this process, 1 to SESSION_MOST_OWNERS. The first call allocates the slot. After
   a corrupt directory was re-created, the next call allocates another slot. The slot of an exited process is reused
   once no session can refer to it (directory_session_reaped). Returns HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES) if
   all slots are taken. */
HRESULT directory_join(struct directory *d, uint32_t *slot);
/* Returns whether the process that owns the slot is alive and, unless `thread` is 0, still has that thread. The
   function is the callback for session_liveness; its context is the directory. */
bool directory_alive(void *d, uint32_t slot, uint32_t thread);
bool directory_process_of(struct directory *d, uint32_t slot, struct directory_process *out);
/* Returns the signal with which directory_end wakes this process. The directory owns the signal. */
HRESULT directory_own_signal(struct directory *d, struct signal **out);
/* Reports that this process has applied the directory's state of this revision, callbacks included. */
void directory_applied(struct directory *d, uint64_t revision);
/* Waits until every process that registered the provider and listens (directory_own_signal) has applied `revision` or
   has exited. Returns S_FALSE on timeout. */
HRESULT directory_wait_applied(struct directory *d, const GUID *provider, uint64_t revision, uint32_t timeout_ms);

/* ---- sessions ---- */

enum directory_state {
    DIRECTORY_STARTING = 1,
    DIRECTORY_RUNNING,
    DIRECTORY_STOPPING,
    DIRECTORY_OVER /* a part whose log is complete and whose totals were added to its session */
};

/* Selects the processes of a private session: the processes that pass all of these filters. */
struct directory_scope {
    uint32_t count, reserved;
    struct {
        uint32_t type, size; /* EVENT_FILTER_TYPE_*; package filters have no data (Wine has no packages) */
    } filter[DIRECTORY_SCOPES];
    uint8_t data[DIRECTORY_SCOPE_BYTES]; /* data of all filters, one after another */
};
/* The lists that TraceSetInformation sets for a system logger; each belongs to one information class. */
enum directory_kernel_list {
    DIRECTORY_STACKS,          /* hook ids of kernel events */
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
/* The maximum number of items in a list. */
static inline uint32_t directory_kernel_room(enum directory_kernel_list list)
{
    return list == DIRECTORY_STACKS ? DIRECTORY_STACK_EVENTS : DIRECTORY_COUNTERS;
}
/* Totals of the parts that have ended. */
struct directory_totals {
    uint64_t events_lost, buffers_written, buffers_lost;
};

/* A copy of a session's entry. The session's host process wrote the entry when it started or updated the session;
   counters that change with each event are in the section of the session's buffers. */
struct directory_session {
    uint32_t logger;     /* 1 to DIRECTORY_PLACES */
    uint32_t generation; /* number of times that this logger id was assigned; logger id and generation permanently
                            identify one session */
    enum directory_state state;
    GUID guid;
    struct directory_process host, starter;
    char section[64]; /* name of the section of its buffers; only processes that know the name can open them */
    char signal[64];  /* name of the signal that wakes the host process */
    uint64_t section_size;
    bool kernel;    /* the NT Kernel Logger, whose handle is DIRECTORY_KERNEL_LOGGER */
    uint32_t clock; /* ETL_CLOCK_* */
    uint32_t mode;  /* current LogFileMode */
    uint32_t buffer_kb, minimum_buffers, maximum_buffers, maximum_file, flush_timer, flush_ms;
    uint32_t enable_flags[8]; /* group masks; the first is EnableFlags */
    struct directory_kernel lists;
    uint64_t thread; /* LoggerThreadId */
    int64_t started; /* FILETIME */
    /* Only directory_session_disallow sets these two members; the host process is not involved. */
    uint32_t disallowed_count;
    GUID disallowed[DIRECTORY_DISALLOWED];
    /* A private session (EVENT_TRACE_PRIVATE_LOGGER_MODE) itself has no host, buffers or log. The session consists of
       parts, which are separate entries. Each process of the session hosts one part, with the buffers and the log of
       this part. */
    uint32_t whole, whole_generation; /* for a part, the logger id and generation of its session; otherwise 0 */
    bool named;    /* for a part: its log has exactly the given name; for a session: such a part exists or existed */
    bool numbered; /* for a session: the log of every part is named `name_<process id>` (CONTROLLER_NUMBERED) */
    struct directory_totals ended;
    struct directory_scope scope;
    char *name, *file; /* UTF-8, from memory_alloc; file NULL: no log file */
};
void directory_session_free(struct directory_session *s); /* frees what the members point to, not *s */
/* Returns the handle of a session: the logger id in the low 16 bits, the generation above them. Programs compare the
   handle of the NT Kernel Logger with 0xFFFF, so its handle has no generation: it refers to whichever kernel session is
   running (behaviour 22). */
uint64_t directory_handle(const struct directory_session *s);

/* Lists the sessions by logger id. The host process of a STARTING session may be unknown. From memory_alloc; free with
   directory_sessions_free. */
HRESULT directory_sessions(struct directory *d, struct directory_session **out, size_t *count);
void directory_sessions_free(struct directory_session *list, size_t count);
/* Finds a session by logger id and generation (0: any generation). Returns S_FALSE if the session does not exist. */
HRESULT directory_session_at(struct directory *d, uint32_t logger, uint32_t generation, struct directory_session *out);
/* In a change. Adds a session and assigns its logger id and generation. Errors, as HRESULTs:
   - ERROR_ALREADY_EXISTS: another session of the same kind has the same GUID or the same name (case is ignored). All
     private sessions count as one kind. So do the in-process sessions of one process.
   - ERROR_NO_SYSTEM_RESOURCES: no logger id is free. The error text names the oldest session whose creator has exited.
   - ERROR_SHARING_VIOLATION: another session writes this file. Callers report error 161 instead. */
HRESULT directory_session_add(struct directory *d, struct directory_session *s);
/* In a change. Replaces everything but the logger id, the generation and the disallowed providers. Returns S_FALSE if
   the session does not exist. */
HRESULT directory_session_set(struct directory *d, const struct directory_session *s);
/* In a change. Sets the providers (at most DIRECTORY_DISALLOWED) that stay disabled when the session enables their
   group. Returns S_FALSE if the session does not exist. */
HRESULT directory_session_disallow(struct directory *d, uint32_t logger, uint32_t generation, const GUID *providers,
                                   size_t count);
/* In a change. Removes the session and its enable records. *providers lists the providers that the session had enabled;
   pass them to directory_end. *providers is from memory_alloc. */
HRESULT directory_session_remove(struct directory *d, uint32_t logger, uint32_t generation, GUID **providers,
                                 size_t *count);
/* Records that the session no longer refers to slots of processes that exited before `since_ms` (clock_monotonic_ms,
   derived from session_drain_oldest). The session's host process calls this about once a second. */
void directory_session_reaped(struct directory *d, uint32_t logger, uint64_t since_ms);

/* ---- requests of controllers to a host process ---- */

enum directory_verb {
    DIRECTORY_STOP = 1,
    DIRECTORY_FLUSH,  /* for a session in memory, writes a snapshot to `file` */
    DIRECTORY_UPDATE, /* changes file (unless NULL), maximum_buffers and flush_timer (unless 0), enable_flags (if
                         flags_given is set), and whether the session is a real-time session (a bit of mode) */
    DIRECTORY_INCREMENT_FILE,
    DIRECTORY_TO_REALTIME,
    DIRECTORY_CONNECT, /* connects a real-time consumer: `file` is the name of the section of the consumer's ring, and
                          `process` is the consumer */
    DIRECTORY_DISCONNECT,
    DIRECTORY_SET_LIST,         /* replaces the session's list `list` with `items` */
    DIRECTORY_SYSTEM_PROVIDERS, /* the set of enabled system providers has changed */
};
struct directory_request {
    enum directory_verb verb;
    struct directory_process process; /* the requesting process */
    uint32_t mode, maximum_buffers, flush_timer, flags_given;
    uint32_t enable_flags[8];
    uint32_t list, item_count; /* enum directory_kernel_list; at most directory_kernel_room items */
    uint32_t items[DIRECTORY_STACK_EVENTS];
    char *file; /* UTF-8; NULL: not set */
};
/* Not in a change. Sends the request to the session's host process and waits for the answer, a Windows error code.
   Requests to one session are handled one after another. Returns E_ABORT if the host process has exited, S_FALSE on
   timeout (a request that the host process has not begun is withdrawn), and
   HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND) if the session does not exist. */
HRESULT directory_ask(struct directory *d, uint32_t logger, uint32_t generation,
                      const struct directory_request *request, uint32_t timeout_ms, uint32_t *answer);
/* For host processes: returns the pending request, with strings from memory_alloc. S_FALSE: no request. */
HRESULT directory_asked(struct directory *d, uint32_t logger, struct directory_request *out);
void directory_request_free(struct directory_request *r); /* frees what the members point to, not *r */
void directory_answer(struct directory *d, uint32_t logger, uint32_t answer);
/* Wakes the controllers whose requests to the session are pending. A host process that continues to run calls this
   function after it has removed the session from the directory. */
void directory_hang_up(struct directory *d, uint32_t logger, uint32_t generation);

/* ---- enable records: the settings with which a session enables a provider ---- */

struct directory_filter {
    uint32_t type; /* EVENT_FILTER_TYPE_* */
    uint32_t size;
    /* For EVENT_FILTER_TYPE_PID, an array of directory_filter_process. In a list from directory_enables, `data` points
       into filter_data. */
    const uint8_t *data;
};
/* Process ids are reused. Therefore the filter also stores the start time of the process that had the id when the
   filter was set. If no process had the id, the start time is 0, which matches no process. */
struct directory_filter_process {
    uint32_t id, reserved;
    uint64_t start_time;
};
struct directory_enable {
    GUID provider, source;
    uint32_t logger, generation;
    uint64_t serial;   /* unique number of the call that set this record, higher than all previous numbers */
    uint64_t captures; /* number of captures of the provider's state since the session first enabled it; a capture does
                          not change `serial` */
    uint64_t any, all;
    uint32_t property; /* EVENT_ENABLE_PROPERTY_* */
    uint8_t level;
    bool classic; /* enabled by EnableTrace: the keywords are the 32 flags of that call, unchanged */
    uint32_t filter_count;
    struct directory_filter filter[DIRECTORY_FILTERS];
    uint8_t *filter_data; /* memory to which the filters' `data` points, from memory_alloc; NULL: no such memory */
};
_Static_assert(sizeof(struct directory_filter_process) == 16, "the size is the same in programs of 32 and 64 bits");
void directory_enables_free(struct directory_enable *list, size_t count); /* frees the list as well */
/* In a change. Enables the provider for the session, or replaces the settings if it is already enabled. Errors, as
   HRESULTs:
   - ERROR_NO_SYSTEM_RESOURCES: eight other sessions have enabled the provider (the error text names them), no record is
     free, or there is no space for the filters.
   - ERROR_WMI_INSTANCE_NOT_FOUND: the session does not exist.
   - ERROR_INVALID_PARAMETER: there are too many filters, or the filters are too large. */
HRESULT directory_enable_set(struct directory *d, const struct directory_enable *e);
/* In a change. Disables the provider for the session. Returns S_FALSE if the session had not enabled it. */
HRESULT directory_enable_clear(struct directory *d, uint32_t logger, uint32_t generation, const GUID *provider);
/* In a change. Requests one more capture of the provider's state; `source` is passed to the provider's callback.
   Returns S_FALSE if the provider is not enabled. */
HRESULT directory_enable_capture(struct directory *d, uint32_t logger, uint32_t generation, const GUID *provider,
                                 const GUID *source);
/* Lists the enable records of a provider (NULL: of all providers) in RUNNING sessions. *revision is the revision of the
   directory to which the list belongs. */
HRESULT directory_enables(struct directory *d, const GUID *provider, struct directory_enable **out, size_t *count,
                          uint64_t *revision);

/* ---- registrations ---- */

enum directory_kind {
    DIRECTORY_PROVIDER,
    DIRECTORY_CLASSIC, /* registered with RegisterTraceGuids */
    DIRECTORY_GROUP,   /* the GUID of a provider group to which one of the process's providers belongs */
};
struct directory_registration {
    GUID provider;
    uint32_t slot;
    bool classic, group;
    struct directory_process process;
};
/* Registers the provider for this process, without the mutex and without a system call. Call it before
   directory_enables, so that no enable record is missed. Each call adds a registration, even if the process has already
   registered the provider. Returns HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES) if the table is full. */
HRESULT directory_register(struct directory *d, const GUID *provider, enum directory_kind kind, uint32_t *registration);
void directory_unregister(struct directory *d, uint32_t registration);
/* Lists the registrations of living processes. From memory_alloc. */
HRESULT directory_registrations(struct directory *d, struct directory_registration **out, size_t *count);

/* ---- names ---- */

struct directory_provider_name {
    GUID provider;
    char name[DIRECTORY_PROVIDER_NAME_ROOM]; /* UTF-8 without control characters, not empty */
};
/* Records the name of a provider that no manifest describes (EventSetInformation, traits), so that providers can be
   listed even when no process has them registered. Needs no mutex, like directory_register. Invalid names are ignored;
   when the table is full, the oldest name is dropped. */
void directory_name_provider(struct directory *d, const GUID *provider, const char *name);
/* Lists one name per provider. From memory_alloc. */
HRESULT directory_provider_names(struct directory *d, struct directory_provider_name **out, size_t *count);

/* Returns a sequence number for a TraceMessage event: unique on this host OS, starting from 1
   (EVENT_TRACE_USE_GLOBAL_SEQUENCE). */
uint32_t directory_next_sequence(struct directory *d);
/* Returns an event key that is unique on this host OS (EVENT_HEADER_EXT_TYPE_EVENT_KEY). */
uint64_t directory_next_event_key(struct directory *d);
/* Returns the interval between two profile samples of a processor, in units of 100 ns, for all sessions; 0 if it was
   never set. */
uint32_t directory_profile_interval(struct directory *d);
void directory_set_profile_interval(struct directory *d, uint32_t interval);

/* ---- name of this process's directory ---- */

#define DIRECTORY_OF_HOST "main"
enum { DIRECTORY_NAME_BYTES = 33 };
/* Returns the value of OPENPLA_ETW, or DIRECTORY_OF_HOST if it is not set. Returns
   HRESULT_FROM_WIN32(ERROR_INVALID_NAME) if the value is not 1 to 32 letters and digits. */
HRESULT directory_name(char out[DIRECTORY_NAME_BYTES]);

#endif

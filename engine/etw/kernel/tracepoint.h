/* SPDX-License-Identifier: MIT */
/* Declares what the files of the kernel tracer share: sources of events (tracefs or polling), the merged stream of an
   instance, Linux events and their fields, the known processes and threads, and the creation of Windows events. */
#ifndef OPENPLA_TRACEPOINT_H
#define OPENPLA_TRACEPOINT_H

#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/etw/id_map.h"
#include "engine/etw/kernel/kernel_tracer.h"
#include "engine/etw/trace_instance.h"

/* Returns the adapter's addresses, separated by ';', or "" if it has none. *out is from memory_alloc. Errors:
   E_OUTOFMEMORY. */
HRESULT adapter_addresses(const char *name, char **out);
/* Returns the host OS's name servers, separated by ';', from memory_alloc. */
HRESULT adapter_name_servers(char **out);

/* ---- the same functions with their input as strings, for tests ---- */

/* Parses /proc/net/fib_trie and /proc/net/route, and appends the adapter's addresses to `out`. An address of the
   computer belongs to each adapter that has a route to it, other than a default route. */
void adapter_ipv4(const char *trie, const char *routes, const char *name, struct text_buffer *out);
/* Parses /proc/net/if_inet6. */
void adapter_ipv6(const char *table, const char *name, struct text_buffer *out);

/* Maps Linux threads to threads of Wine's processes. The mapping is exact and uses only documented calls. When a
   thread's affinity is set to its present value, Wine's server calls sched_setaffinity, and an argument of this call is
   the number of the Linux thread. A tracefs instance records the call. The clock is read before and after the affinity
   is set, and the call whose time lies between these two times shows the thread's Linux number. Only one thread at a
   time may use the mapping. */
struct windows_ids;
/* Starts the mapping. `name` is the name of the session's instance (trace_instance.h). Returns S_FALSE, and *out is
   NULL, if this is not Wine. */
HRESULT windows_ids_begin(const char *name, struct windows_ids **out);
/* Learns the new threads. Call it with each pass of the tracer. A thread that lives for less than the time between two
   passes stays unknown. After a failure, the next pass tries again. */
HRESULT windows_ids_pass(struct windows_ids *w);
/* Returns the Windows thread of a Linux thread. Returns NULL if the Linux thread does not belong to Wine, or if its
   Windows thread is not known yet. A thread that has exited stays known until its number is reused. */
const struct windows_thread *windows_ids_find(const struct windows_ids *w, uint32_t host_thread);
/* Returns the time (ns of the instances' clock, at most `now`) up to which the Windows numbers of all started threads
   are known. While a process starts up, its Windows number is unknown. During this time, but for one second at most,
   the result is not later than the start of that process. */
uint64_t windows_ids_known_until(const struct windows_ids *w, uint64_t now);
HRESULT windows_ids_end(struct windows_ids *w); /* NULL is allowed */

/* Merges the events of an instance's processors into a single stream in time order. When an event is forwarded, all
   older events have been forwarded. For this purpose, the clock is read before the amount of data in the rings is
   queried, and events of the last 100 ms are held back. If a processor needs more than 100 ms to write an event (a
   virtual processor can be paused), this event arrives late and out of order. */
enum { TRACE_STREAM_KEPT_NS = 100000000 };
struct trace_stream;
struct trace_record {
    struct ring_event event; /* the data are valid until the sink returns */
    uint32_t processor;
};
struct trace_sink {
    /* A failure ends the pass; the event is treated as if it had been forwarded. */
    HRESULT (*event)(void *context, const struct trace_record *r);
    void *context;
};

/* Creates the stream; the instance is borrowed. Errors: E_OUTOFMEMORY. */
HRESULT trace_stream_create(struct trace_instance *t, struct trace_stream **out);
/* Reads the rings and forwards every event up to 100 ms before `now` (ns of the instance's clock, read before the
   call). `all`: forwards all events, because the recording has stopped. */
HRESULT trace_stream_pass(struct trace_stream *s, uint64_t now, bool all, const struct trace_sink *sink);
/* Returns the number of losses of all processors since the beginning: events lost in the kernel, and unreadable
   pages. */
uint64_t trace_stream_lost(struct trace_stream *s);
void trace_stream_free(struct trace_stream *s); /* NULL is allowed */

/* A source of kernel events. The first source that can begin is used. If it stops working, the next source takes
   over. */
struct kernel_source {
    const char *name; /* the name in traces, in the journal and in KERNEL_SOURCE_VARIABLE */
    /* Sets k->sources and k->processors. The configuration is in k and *options. */
    HRESULT (*begin)(struct kernel_tracer *k, const struct kernel_tracer_options *options);
    /* Called when all processes and threads of the begin rundown are in k's maps. May be NULL. */
    void (*ran_down)(struct kernel_tracer *k);
    /* Like kernel_tracer_pass. */
    HRESULT (*pass)(struct kernel_tracer *k, bool last, const struct kernel_sink *sink);
    /* Called after a failed pass. A failure means that the source no longer works. The pointer is NULL if the source
       always works. */
    HRESULT (*works)(struct kernel_tracer *k);
    /* Returns the number of events that the source is known to have lost; the real number can be higher. */
    uint64_t (*lost)(const struct kernel_tracer *k);
    /* Also returns S_OK if the source has not begun. */
    HRESULT (*end)(struct kernel_tracer *k);
};
extern const struct kernel_source kernel_source_tracefs, kernel_source_polling;

/* A Linux event, the fields that are read from it, and the function that converts it to Windows events. */
enum { TRACEPOINT_FIELDS = 12, TRACEPOINT_MOST = 64 };

/* A Linux event that has arrived. */
struct tracepoint_event {
    const struct ring_event *event;
    const struct ring_field *fields; /* positions of the fields, in the order of the names in struct tracepoint */
    uint64_t time;                   /* ticks of clock_ticks */
    uint32_t processor, thread;      /* processor and running thread, as the host OS's numbers */
    uint8_t context;                 /* common_flags */
};
struct tracepoint {
    const char *system, *name;
    const char *filter; /* NULL: no filter */
    uint32_t flags;     /* enum kernel_flag: the flags that need this event, or KERNEL_ALWAYS */
    uint32_t gives;     /* the flags whose Windows events are created from this Linux event */
    HRESULT (*take)(struct kernel_tracer *k, const struct tracepoint_event *e);
    const char *fields[TRACEPOINT_FIELDS]; /* terminated by NULL */
};
#define KERNEL_ALWAYS      UINT32_MAX
#define TRACEPOINT_UNASKED "ftrace" /* this `system` marks records that follow other events and are never enabled */
/* Lists of tracepoints, each terminated by a tracepoint without a name. */
extern const struct tracepoint task_tracepoints[], schedule_tracepoints[], disk_tracepoints[], network_tracepoints[],
    fault_tracepoints[], interrupt_tracepoints[], stack_tracepoints[];

static inline int64_t tracepoint_number(const struct tracepoint_event *e, int field)
{
    return ring_number(e->event, &e->fields[field]);
}

/* ---- processes and threads, by the host OS's numbers ---- */

enum { KERNEL_NAME_BYTES = 256, KERNEL_MOST_DISKS = 255 };
/* KERNEL_SYSTEM represents the host OS's process for "System", which owns the kernel's threads. */
enum { KERNEL_SYSTEM = 0x7FFFFFFF, KTHREADD = 2 };
struct kernel_counters {
    bool is_known;
    uint32_t faults, handles;
    uint64_t virtual, virtual_peak, resident, resident_peak, private, private_peak; /* sizes in bytes */
};
struct kernel_process {
    struct kernel_counters counters;
    uint32_t parent;
    uint32_t threads;
    uint32_t windows; /* number of the process in Windows; 0: no such number, or not known yet */
    uint32_t exit_code;
    bool is_kernel;   /* the process is one of the kernel's threads, which belong to "System" */
    bool is_wine;     /* runs wine's loader or was forked from a process that does */
    bool has_program; /* has executed a program; otherwise it is still a fork of its parent */
    bool has_code;    /* the process is exiting, and exit_code is known */
    /* Time of the first event about the process while its start is unknown; 0: its start is known. */
    uint64_t first_seen;
    uint64_t ended; /* time and processor of the exit, if the start is unknown; 0: the process has not exited */
    uint32_t ended_on;
    bool is_waiting;              /* the start event of the process waits in the queue for the name */
    size_t entry;                 /* index of the start event in the queue */
    char name[KERNEL_NAME_BYTES]; /* "" if unknown */
    uint64_t start;               /* start time in units of 10 ms since boot; 0: unknown */
    uint32_t look;                /* polling: number of the last poll that found the process */
    bool threads_hidden;          /* the last poll that found the process could not see its threads */
    bool replaced;                /* another process now has this process's number */
};
struct kernel_thread {
    uint32_t process;
    uint64_t out;  /* time when the thread was last switched out; 0: no such switch was seen */
    uint32_t look; /* polling: number of the last poll that found the thread */
    bool replaced;
};
struct kernel_polling;

/* ---- stacks ---- */

enum { STACK_FRAMES = 64, STACK_USER_FRAMES = 8, STACK_COMMON = 8, STACK_HOOK_BYTES = 0x2000 / 8 };
enum stack_use { STACK_OF_NOTHING, STACK_OF_EVENT, STACK_OF_SWITCH, STACK_OF_FAULT, STACK_OF_SAMPLE };
struct kernel_stacks {
    uint8_t chosen[STACK_HOOK_BYTES]; /* the selected hooks, one bit per hook */
    bool of_programs;                 /* the option userstacktrace is on */
    struct stack_due {                /* per processor: the event to which the next stack belongs */
        enum stack_use use;
        uint64_t time;
        uint64_t sample; /* time of the next sample on the processor; 0: no sample yet */
        uint32_t thread, users;
        uint64_t user[STACK_USER_FRAMES];
        uint8_t context;
    } * due;
    struct id_map switched, faulted;      /* kept stacks, by thread */
    uint64_t common[STACK_COMMON];        /* frames that every sample so far has among its first STACK_COMMON frames */
    uint32_t common_count;                /* 0: no sample yet */
    uint32_t interval, interval_reported; /* in units of 100 ns */
};

struct kernel_tracer {
    const struct kernel_source *source;
    bool begun;           /* `source` has started; false: `source` has ended, or none could start */
    char why[256];        /* why a better source is not used */
    bool hides_processes; /* /proc hides other users' processes */
    bool in_container;    /* process 2 is not the parent of the kernel's threads */
    uint64_t lost_before; /* losses of the previous sources */
    HRESULT left;         /* a failure: something in the kernel could not be removed */
    const char *proc;     /* NULL: "/proc" */
    uint32_t processors;
    struct kernel_polling *polling;
    struct trace_instance *instance;
    struct trace_stream *stream;
    struct kernel_queue queue;
    struct kernel_data data;     /* data of the event under construction */
    struct windows_ids *windows; /* NULL: Windows' numbers are unknown */
    uint64_t began;              /* time just before the recording started */
    uint64_t reported_until;     /* polling: everything up to this time was reported */
    uint32_t *there;             /* polling: the processes that existed at the beginning */
    size_t there_count;
    uint32_t flags, sources;
    bool reports_configuration;
    bool host_ids;                     /* use the host OS's numbers for all processes */
    struct id_map processes, threads;  /* struct kernel_process, struct kernel_thread */
    struct id_map requests;            /* disk requests: struct disk_request */
    uint32_t disks[KERNEL_MOST_DISKS]; /* the kernel's number of each disk */
    uint32_t disk_count;
    uint64_t request_number;
    size_t looked;                     /* position of counters_poll in the list of processes */
    struct id_map sockets;             /* struct kernel_socket */
    struct id_map details;             /* struct process_details, by process */
    struct id_map images, image_files; /* struct image_list, by process; struct image_file */
    uint64_t newest;                   /* time of the newest event that a pass forwarded */
    uint32_t newest_processor;
    struct id_map faults; /* struct kernel_fault */
    struct kernel_stacks stacks;
    uint64_t *interrupt_from, *soft_from; /* start times by processor */
    struct {
        const struct tracepoint *point;
        struct ring_field fields[TRACEPOINT_FIELDS];
        bool has_stack; /* the event's stacktrace trigger is set */
    } points[TRACEPOINT_MOST];
    size_t point_count;
    uint8_t point_of[RING_MOST_ID + 1]; /* per event number: index in `points` + 1; 0: the event is not used */
    struct ring_field common_thread, common_flags;
};

/* These functions convert the host OS's process and thread numbers to the numbers that events contain
   (kernel_tracer.h). */
uint32_t kernel_process_id(const struct kernel_tracer *k, uint32_t process);
uint32_t kernel_thread_id(const struct kernel_tracer *k, uint32_t thread);
/* Returns the Windows number of a host OS process, or 0 if the process has no such number. */
uint32_t kernel_windows_process(const struct kernel_tracer *k, uint32_t process);
void kernel_learn_windows(struct kernel_tracer *k);
/* Returns the process of a thread, or the thread if its process is unknown. */
uint32_t kernel_process_of(const struct kernel_tracer *k, uint32_t thread);
bool kernel_wants(const struct kernel_tracer *k, uint32_t flags);

/* Both functions add an event that consists of k->data. The event gets the time and the processor of e. kernel_emit_of
   writes a SYSTEM header that contains `process` and `thread`; the caller passes the host OS's numbers. */
HRESULT kernel_emit(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook, uint8_t version);
HRESULT kernel_emit_of(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook,
                       uint8_t version, uint32_t process, uint32_t thread);

/* Sets the current name in the start events that wait for a name. */
HRESULT kernel_tasks_settle(struct kernel_tracer *k);
HRESULT kernel_tasks_rundown(struct kernel_tracer *k, bool end, const struct kernel_sink *sink);

/* With these functions, a source reports processes and threads. e has the time of the start or exit, and e->thread is
   the thread that started or ended the process or thread. A start event reserves its place and waits (is_waiting) for
   kernel_tasks_settle or kernel_process_write. If no start event waits, kernel_process_write does nothing. */
HRESULT kernel_process_begins(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                              uint32_t parent);
HRESULT kernel_process_write(struct kernel_tracer *k, uint32_t process, struct kernel_process *p);
HRESULT kernel_process_ends(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                            struct kernel_process *p);
/* Adds a rundown event for a process. If `end` is false, the process existed before the trace; if `end` is true, the
   process exists at the end of the trace. */
HRESULT kernel_process_add_existing(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                                    struct kernel_process *p, bool end);
void kernel_process_name(struct kernel_process *p, const char *name, size_t length);
HRESULT kernel_thread_begins(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                             uint32_t thread);
HRESULT kernel_thread_add_existing(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                                   uint32_t thread);
HRESULT kernel_thread_ends(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread);
/* Reads /proc/PROCESS/FILE like kernel_file_text. */
HRESULT kernel_process_text(const struct kernel_tracer *k, uint32_t process, const char *file, char **text,
                            size_t *size);
struct kernel_task_stat {
    uint32_t parent, threads;
    uint64_t start; /* in units of 10 ms since the host OS's boot */
    char name[KERNEL_NAME_BYTES];
};
/* Reads the status of a process. Returns S_FALSE if the process has exited or /proc hides it. */
HRESULT kernel_process_stat(const struct kernel_tracer *k, uint32_t process, struct kernel_task_stat *out);
/* Lists the threads of a process. *ids is from memory_alloc; NULL on failure. */
HRESULT kernel_process_threads(const struct kernel_tracer *k, uint32_t process, uint32_t **ids, size_t *count);
/* Returns "/proc", or a test's replacement. */
const char *kernel_proc(const struct kernel_tracer *k);
/* Returns whether /proc shows this user only the user's own processes. The check uses process 1, which always exists
   and belongs to another user. */
bool kernel_proc_hides(const struct kernel_tracer *k);
/* Returns whether process 2 is known to be the parent of the kernel's threads. In a container, process 2 can be any
   process. */
bool kernel_has_kthreadd(const struct kernel_tracer *k);
bool kernel_is_kthreadd(const struct kernel_tracer *k, uint32_t process);

/* ---- parts of the tracer; `most`: maximum number of items in the part's map ---- */

void disk_begin(struct kernel_tracer *k, size_t most);
/* Lists the host OS's disks by name. Leaves out devices that are built on other devices (dm, md) or on nothing (loop,
   ram). */
HRESULT disk_names(struct texts *names);
HRESULT configuration_rundown(struct kernel_tracer *k, const struct tracepoint_event *at);
struct process_details {
    char *command; /* command line, arguments separated by spaces; NULL: unknown */
    size_t first;  /* length of the first argument */
    uint32_t user; /* user number of the host OS */
    bool has_user;
    struct windows_process windows; /* zero: not a Wine process */
};
void process_details_read(struct kernel_tracer *k, uint32_t process);
void process_details_put_user(struct kernel_data *d, const struct process_details *t);
void process_details_forget(struct kernel_tracer *k, uint32_t process);
void process_details_free(struct kernel_tracer *k);
void images_begin(struct kernel_tracer *k);
void images_free(struct kernel_tracer *k);
/* Marks the process, so that its loaded images are read later. */
HRESULT images_due(struct kernel_tracer *k, uint32_t process);
/* Reads the images of all marked processes, and emits events with the time and processor of e. */
HRESULT images_settle(struct kernel_tracer *k, const struct tracepoint_event *e);
HRESULT images_rundown(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process, bool end);
/* Emits the unload events of an exited process. */
HRESULT images_end(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process);
void network_begin(struct kernel_tracer *k, size_t most);
void fault_begin(struct kernel_tracer *k);
/* Determines the kind of the thread's last fault, because the thread continues or exits now. */
HRESULT fault_settle(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread);
/* Treats each pending fault as a soft fault unless its thread has waited for a disk. */
void fault_settle_all(struct kernel_tracer *k);
/* Creates the maps of stacks, and the list of expected stacks per processor. */
HRESULT stack_begin(struct kernel_tracer *k, uint32_t processors);
void stack_end(struct kernel_tracer *k);
/* Selects the hooks whose events get stacks. Other hooks are deselected. */
void stack_choose(struct kernel_tracer *k, const uint16_t *hooks, size_t count);
/* Call it when another event arrives from this processor: the expected stack is then missing. */
void stack_clear_due(struct kernel_tracer *k, uint32_t processor);
/* Notes that the stack of an event will arrive. The event has this hook and was created from e. kernel_emit and
   kernel_emit_of call this function. */
void stack_expect(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook);
void stack_expect_fault(struct kernel_tracer *k, const struct tracepoint_event *e);
/* Emits the stack of the thread that is switched in. e's thread is switched out. */
HRESULT stack_switch(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread);
/* These functions emit the stack of the thread's fault: stack_soft_fault for a soft fault that occurred at `time`, and
   stack_hard_fault for a hard fault that ends now. */
HRESULT stack_soft_fault(struct kernel_tracer *k, uint32_t thread, uint64_t time, enum kernel_hook hook);
HRESULT stack_hard_fault(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread);
void stack_drop_places(struct kernel_tracer *k); /* called when the queue is flushed */
void stack_forget(struct kernel_tracer *k, uint32_t thread);
/* Reads the current counters of the process; counters that cannot be read keep their values. */
void counters_read(const struct kernel_tracer *k, uint32_t process, struct kernel_process *p);
/* Reads the counters of the next few processes. */
void counters_poll(struct kernel_tracer *k);
HRESULT counters_emit(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                      const struct kernel_process *p, enum kernel_hook hook);
/* Emits the sampling interval at the beginning and the end of a trace that has samples. */
HRESULT profile_interval(struct kernel_tracer *k, const struct tracepoint_event *e, bool end);
/* Reports that the thread waits for a disk. `bytes`: size of the request, 0 if unknown. */
void fault_waits(struct kernel_tracer *k, uint32_t thread, uint32_t bytes);

#endif

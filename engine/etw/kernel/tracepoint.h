/* SPDX-License-Identifier: MIT */
/* Shared by the files of the kernel tracer: the source of events (tracefs or polling), the merged stream of an
   instance, Linux events and the fields read from them, what is known of processes and threads, and the events created
   from it. */
#ifndef OPENPLA_TRACEPOINT_H
#define OPENPLA_TRACEPOINT_H

#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/etw/id_map.h"
#include "engine/etw/kernel/kernel_tracer.h"
#include "engine/etw/trace_instance.h"

/* The adapter's addresses with ';' between them, "" for none; from memory_alloc. E_OUTOFMEMORY. */
HRESULT adapter_addresses(const char *name, char **out);
/* Those that the host asks for names, in the same form. */
HRESULT adapter_name_servers(char **out);

/* ---- the same of texts, for tests ---- */

/* Of /proc/net/fib_trie and /proc/net/route: an address of the host belongs to the adapter with the narrowest route to
   it. Adds to `out`. */
void adapter_ipv4(const char *trie, const char *routes, const char *name, struct text_buffer *out);
/* Of /proc/net/if_inet6. */
void adapter_ipv6(const char *table, const char *name, struct text_buffer *out);

/* Which Linux threads the threads of Wine's processes are, exactly and by documented calls alone: to give a thread the
   processors that it has makes Wine's server call sched_setaffinity with the Linux number, and an instance of tracefs
   shows that call, whose time lies within ours. One thread at a time. */
struct windows_ids;
/* `name` of the session's instance (trace_instance.h). S_FALSE, and NULL: there is no Wine here. */
HRESULT windows_ids_begin(const char *name, struct windows_ids **out);
/* Learns the threads that are new. With each of the tracer's passes: who lives for less than the time between two stays
   unknown. What fails is tried again by the next. */
HRESULT windows_ids_pass(struct windows_ids *w);
/* NULL: it is none of Wine's, or not known (yet). One that has ended is known until its number is another one's. */
const struct windows_thread *windows_ids_find(const struct windows_ids *w, uint32_t host_thread);
/* Of a time `now`, in ns of the instances' clock, up to when it is known what numbers those have who began by then: a
   process has none before it has come up, for which a second at most is waited. */
uint64_t windows_ids_known_until(const struct windows_ids *w, uint64_t now);
HRESULT windows_ids_end(struct windows_ids *w); /* NULL is allowed */

/* The events of an instance's processors as one stream in the order of time. What is handed out is complete up to its
   time: the moment is noted before the rings are asked how much they hold, and events of the last 100 ms are kept back.
   One that a processor took longer to write, as a virtual one may that is stopped meanwhile, comes late and alone. */
enum { TRACE_STREAM_KEPT_NS = 100000000 };
struct trace_stream;
struct trace_record {
    struct ring_event event; /* data until the sink returns */
    uint32_t processor;
};
struct trace_sink {
    /* A failure ends the pass, and the event counts as handed out. */
    HRESULT (*event)(void *context, const struct trace_record *r);
    void *context;
};

/* The instance is borrowed. E_OUTOFMEMORY. */
HRESULT trace_stream_create(struct trace_instance *t, struct trace_stream **out);
/* Takes what the rings hold and hands out every event up to 100 ms before `now`, in ns of the instance's clock, which
   is read before the call. `all`: nothing is recorded any more, and all is handed out. */
HRESULT trace_stream_pass(struct trace_stream *s, uint64_t now, bool all, const struct trace_sink *sink);
/* Of all processors since the beginning: lost in the kernel, and in pages that could not be read. */
uint64_t trace_stream_lost(struct trace_stream *s);
void trace_stream_free(struct trace_stream *s); /* NULL is allowed */

/* Inside the tracer: where the kernel's events come from. The first that can begin is taken; one that breaks down while
   it works is followed by the next. */
struct kernel_source {
    const char *name; /* as traces, the journal and KERNEL_SOURCE_VARIABLE have it */
    /* Sets k->sources and k->processors; what it is to begin with is in k and in *options. */
    HRESULT (*begin)(struct kernel_tracer *k, const struct kernel_tracer_options *options);
    /* All processes and threads of the beginning are in k's maps. NULL: it does not matter. */
    void (*ran_down)(struct kernel_tracer *k);
    /* As kernel_tracer_pass. */
    HRESULT (*pass)(struct kernel_tracer *k, bool last, const struct kernel_sink *sink);
    /* Asked after a pass that failed. A failure: it gives no events any more. NULL: it always does. */
    HRESULT (*works)(struct kernel_tracer *k);
    /* Events, at least, that it was to give and could not. */
    uint64_t (*lost)(const struct kernel_tracer *k);
    /* S_OK where it had not begun. */
    HRESULT (*end)(struct kernel_tracer *k);
};
extern const struct kernel_source kernel_source_tracefs, kernel_source_polling;

/* Inside the tracer: an event of Linux, the fields that are read of it, and what makes events of Windows of it. */
enum { TRACEPOINT_FIELDS = 12, TRACEPOINT_MOST = 64 };

/* One that came. */
struct tracepoint_event {
    const struct ring_event *event;
    const struct ring_field *fields; /* in the order of the tracepoint's names */
    uint64_t time;                   /* ticks of clock_ticks */
    uint32_t processor, thread;      /* of the host: who ran */
    uint8_t context;                 /* common_flags */
};
struct tracepoint {
    const char *system, *name;
    const char *filter; /* NULL: all of it */
    uint32_t flags;     /* enum kernel_flag, any of which asks for it; KERNEL_ALWAYS */
    uint32_t gives;     /* those that have a source by it */
    HRESULT (*take)(struct kernel_tracer *k, const struct tracepoint_event *e);
    const char *fields[TRACEPOINT_FIELDS]; /* up to NULL */
};
#define KERNEL_ALWAYS      UINT32_MAX
#define TRACEPOINT_UNASKED "ftrace" /* the system of records that come with others and are not switched on */
/* A group of them, ended by one without a name. */
extern const struct tracepoint task_tracepoints[], schedule_tracepoints[], disk_tracepoints[], network_tracepoints[],
    fault_tracepoints[], interrupt_tracepoints[], stack_tracepoints[];

static inline int64_t tracepoint_number(const struct tracepoint_event *e, int field)
{
    return ring_number(e->event, &e->fields[field]);
}

/* ---- processes and threads, by the host's numbers ---- */

enum { KERNEL_NAME_BYTES = 256, KERNEL_MOST_DISKS = 255 };
/* In place of a process of the host: "System", of which the threads of the kernel are. */
enum { KERNEL_SYSTEM = 0x7FFFFFFF, KTHREADD = 2 };
struct kernel_counters {
    bool is_known;
    uint32_t faults, handles;
    uint64_t virtual, virtual_peak, resident, resident_peak, private, private_peak; /* bytes */
};
struct kernel_process {
    struct kernel_counters counters;
    uint32_t parent;
    uint32_t threads;
    uint32_t windows; /* Windows' number of it; 0: it has none, or it is not known yet */
    uint32_t exit_code;
    bool is_kernel;   /* a thread of the kernel: part of "System" */
    bool is_wine;     /* runs wine's loader, or is a fork of one that does */
    bool has_program; /* of its own; else it is a fork of its parent */
    bool has_code;    /* it is on its way out, and exit_code says with what */
    uint64_t heard;   /* when it was told of first, where its beginning is not told yet; 0: it is */
    uint64_t ended;   /* of such a one: when it ended, and on which processor; 0: it did not */
    uint32_t ended_on;
    bool is_waiting;              /* its start waits in the queue for its name */
    size_t entry;                 /* there */
    char name[KERNEL_NAME_BYTES]; /* "" while it is not known */
    uint64_t start;               /* 10 ms since boot; 0: not known */
    uint32_t look;                /* of polling: the last that found it */
    bool threads_hidden;          /* its threads could not be seen then */
    bool replaced;                /* another one has its number */
};
struct kernel_thread {
    uint32_t process;
    uint64_t out;  /* time of its last switch out, 0: not seen */
    uint32_t look; /* of polling, as its process has it */
    bool replaced;
};
struct kernel_polling;

/* ---- stacks ---- */

enum { STACK_FRAMES = 64, STACK_USER_FRAMES = 8, STACK_COMMON = 8, STACK_HOOK_BYTES = 0x2000 / 8 };
enum stack_use { STACK_OF_NOTHING, STACK_OF_EVENT, STACK_OF_SWITCH, STACK_OF_FAULT, STACK_OF_SAMPLE };
struct kernel_stacks {
    uint8_t chosen[STACK_HOOK_BYTES]; /* a bit for each hook */
    bool of_programs;                 /* userstacktrace is on */
    struct stack_due {                /* by processor: what the next stack there is of */
        enum stack_use use;
        uint64_t time;
        uint64_t sample; /* when the next is due there; 0: there was none */
        uint32_t thread, users;
        uint64_t user[STACK_USER_FRAMES];
        uint8_t context;
    } * due;
    struct id_map switched, faulted;      /* by thread */
    uint64_t common[STACK_COMMON];        /* frames that all samples have among their first */
    uint32_t common_count;                /* 0: none came */
    uint32_t interval, interval_reported; /* 100 ns */
};

struct kernel_tracer {
    const struct kernel_source *source;
    bool begun;           /* it; false: there is none any more */
    char why[256];        /* it is not the best one */
    bool hides_processes; /* /proc does */
    bool in_container;    /* where 2 is not the parent of the kernel's threads */
    uint64_t lost_before; /* by the source before it */
    HRESULT left;         /* a failure: something of that is left in the kernel */
    const char *proc;     /* NULL: "/proc" */
    uint32_t processors;
    struct kernel_polling *polling;
    struct trace_instance *instance;
    struct trace_stream *stream;
    struct kernel_queue queue;
    struct kernel_data data;     /* of the event in the making */
    struct windows_ids *windows; /* NULL: Windows' numbers are not known */
    uint64_t began;              /* before anything was recorded */
    uint64_t reported_until;     /* of polling: up to then all was told */
    uint32_t *there;             /* of polling: the processes of the beginning */
    size_t there_count;
    uint32_t flags, sources;
    bool reports_configuration;
    bool host_ids;                     /* the host's own numbers for all */
    struct id_map processes, threads;  /* struct kernel_process, struct kernel_thread */
    struct id_map requests;            /* of disks: struct disk_request */
    uint32_t disks[KERNEL_MOST_DISKS]; /* the kernel's number of each */
    uint32_t disk_count;
    uint64_t request_number;
    size_t looked;                     /* how far the processes have been looked at for their counters */
    struct id_map sockets;             /* struct kernel_socket */
    struct id_map details;             /* struct process_details, by process */
    struct id_map images, image_files; /* struct image_list, by process; struct image_file */
    uint64_t newest;                   /* of what a pass has handed out */
    uint32_t newest_processor;
    struct id_map faults; /* struct kernel_fault */
    struct kernel_stacks stacks;
    uint64_t *interrupt_from, *soft_from; /* times by processor */
    struct {
        const struct tracepoint *point;
        struct ring_field fields[TRACEPOINT_FIELDS];
        bool has_stack; /* its trigger is set */
    } points[TRACEPOINT_MOST];
    size_t point_count;
    uint8_t point_of[RING_MOST_ID + 1]; /* by the event's number, from 1; 0: none of ours */
    struct ring_field common_thread, common_flags;
};

/* Numbers in events, of the host's (kernel_tracer.h). */
uint32_t kernel_process_id(const struct kernel_tracer *k, uint32_t process);
uint32_t kernel_thread_id(const struct kernel_tracer *k, uint32_t thread);
/* Windows' number of a process of the host's; 0: it has none. */
uint32_t kernel_windows_process(const struct kernel_tracer *k, uint32_t process);
void kernel_learn_windows(struct kernel_tracer *k);
/* The process that a thread is of; itself while it is not known. */
uint32_t kernel_process_of(const struct kernel_tracer *k, uint32_t thread);
bool kernel_wants(const struct kernel_tracer *k, uint32_t flags);

/* Adds k->data as an event at the time and processor of e. With a SYSTEM header: of process and thread, host's. */
HRESULT kernel_emit(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook, uint8_t version);
HRESULT kernel_emit_of(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook,
                       uint8_t version, uint32_t process, uint32_t thread);

/* The starts that still wait for a name get the one of now. */
HRESULT kernel_tasks_settle(struct kernel_tracer *k);
HRESULT kernel_tasks_rundown(struct kernel_tracer *k, bool end, const struct kernel_sink *sink);

/* What a source has learned, at the time of e: by e->thread one of these began, or ended. A start keeps its place, and
   waits (is_waiting) for kernel_tasks_settle or kernel_process_write; that may also come again. */
HRESULT kernel_process_begins(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                              uint32_t parent);
HRESULT kernel_process_write(struct kernel_tracer *k, uint32_t process, struct kernel_process *p);
HRESULT kernel_process_ends(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                            struct kernel_process *p);
/* One that was there before, as the rundown tells of it; or still is at its end. */
HRESULT kernel_process_add_existing(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                                    struct kernel_process *p, bool end);
void kernel_process_name(struct kernel_process *p, const char *name, size_t length);
HRESULT kernel_thread_begins(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                             uint32_t thread);
HRESULT kernel_thread_add_existing(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                                   uint32_t thread);
HRESULT kernel_thread_ends(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread);
/* The text of /proc/PROCESS/FILE, as kernel_file_text has it. */
HRESULT kernel_process_text(const struct kernel_tracer *k, uint32_t process, const char *file, char **text,
                            size_t *size);
struct kernel_task_stat {
    uint32_t parent, threads;
    uint64_t start; /* 10 ms since the host's boot */
    char name[KERNEL_NAME_BYTES];
};
/* S_FALSE: it has ended, or /proc hides it. */
HRESULT kernel_process_stat(const struct kernel_tracer *k, uint32_t process, struct kernel_task_stat *out);
/* *ids from memory_alloc, NULL where it fails. */
HRESULT kernel_process_threads(const struct kernel_tracer *k, uint32_t process, uint32_t **ids, size_t *count);
/* "/proc", or what a test has in its place. */
const char *kernel_proc(const struct kernel_tracer *k);
/* Whether /proc shows this user processes of his own alone: that of number 1 there is always, and it is another's. */
bool kernel_proc_hides(const struct kernel_tracer *k);
/* Whether number 2 is the parent of the kernel's threads, as far as one can see; in a container it is any process. */
bool kernel_has_kthreadd(const struct kernel_tracer *k);
bool kernel_is_kthreadd(const struct kernel_tracer *k, uint32_t process);

/* ---- parts: each makes its map with `most` items ---- */

void disk_begin(struct kernel_tracer *k, size_t most);
/* The host's disks by name, those that are made of others or of nothing left out. */
HRESULT disk_names(struct texts *names);
HRESULT configuration_rundown(struct kernel_tracer *k, const struct tracepoint_event *at);
struct process_details {
    char *command; /* line, with blanks between arguments; NULL: not told */
    size_t first;  /* length of the first argument */
    uint32_t user; /* of the host */
    bool has_user;
    struct windows_process windows; /* zero: none of Wine's */
};
void process_details_read(struct kernel_tracer *k, uint32_t process);
void process_details_put_user(struct kernel_data *d, const struct process_details *t);
void process_details_forget(struct kernel_tracer *k, uint32_t process);
void process_details_free(struct kernel_tracer *k);
void images_begin(struct kernel_tracer *k);
void images_free(struct kernel_tracer *k);
/* What the process has loaded is to be looked at. */
HRESULT images_due(struct kernel_tracer *k, uint32_t process);
/* All that is due, as events of the time and processor of e. */
HRESULT images_settle(struct kernel_tracer *k, const struct tracepoint_event *e);
HRESULT images_rundown(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process, bool end);
/* The process has ended. */
HRESULT images_end(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process);
void network_begin(struct kernel_tracer *k, size_t most);
void fault_begin(struct kernel_tracer *k);
/* The thread goes on, or ends: what its last fault was is known. */
HRESULT fault_settle(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread);
/* What is not known to have waited for a disk did not, as far as one can say now. */
void fault_settle_all(struct kernel_tracer *k);
/* Maps for the stacks, and what is due on each processor. */
HRESULT stack_begin(struct kernel_tracer *k, uint32_t processors);
void stack_end(struct kernel_tracer *k);
/* Of these hooks and no others. */
void stack_choose(struct kernel_tracer *k, const uint16_t *hooks, size_t count);
/* An event comes from this processor: what was due there did not come. */
void stack_clear_due(struct kernel_tracer *k, uint32_t processor);
/* An event of this hook was made of e: its stack comes behind it. kernel_emit and kernel_emit_of say so. */
void stack_expect(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook);
void stack_expect_fault(struct kernel_tracer *k, const struct tracepoint_event *e);
/* The thread is switched in, and e's thread out: adds what it was doing. */
HRESULT stack_switch(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread);
/* The fault of the thread was a soft one at that time, or a hard one that ends now. */
HRESULT stack_soft_fault(struct kernel_tracer *k, uint32_t thread, uint64_t time, enum kernel_hook hook);
HRESULT stack_hard_fault(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread);
void stack_drop_places(struct kernel_tracer *k); /* the queue is flushed */
void stack_forget(struct kernel_tracer *k, uint32_t thread);
/* Of the process as it is now; what cannot be read stays as it was. */
void counters_read(const struct kernel_tracer *k, uint32_t process, struct kernel_process *p);
/* The next few processes. */
void counters_poll(struct kernel_tracer *k);
HRESULT counters_emit(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                      const struct kernel_process *p, enum kernel_hook hook);
/* How often samples are taken: at the beginning and the end of a trace that has them. */
HRESULT profile_interval(struct kernel_tracer *k, const struct tracepoint_event *e, bool end);
/* It waits for a disk; `bytes`: it asked for so many, 0: it does not say. */
void fault_waits(struct kernel_tracer *k, uint32_t thread, uint32_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/* The contents of a trace in the form that the formats of other tools need: samples, running and waiting threads,
   counters, and events with fields. */
#ifndef OPENPLA_EXPORT_H
#define OPENPLA_EXPORT_H

#include "cli/trace/export/export_file.h"
#include "cli/trace/frames.h"
#include "cli/trace/trace.h"
#include "engine/etw/id_map.h"
#include "engine/etw/stack_tree.h"

#define EXPORT_SECOND INT64_C(10000000) /* times are in units of 100 ns since `begin` */

enum { EXPORT_NAME_BLOCK = 16 };
/* A location in code: a function, or an address without a known function. If several stacks contain the location, they
   share its frame. */
struct export_frame {
    char *name; /* such as "ntdll.dll!NtRead" or "app.exe+0x1080"; the allocated size is a multiple of
                   EXPORT_NAME_BLOCK */
    size_t name_length;
    const struct code_module *module; /* NULL if the address is not in a module */
    const char *function;             /* the part of `name` after the module; the whole name if there is no module */
    uint64_t address;                 /* offset in the module; without a module, the address */
    bool kernel;
};
struct export_thread {
    uint32_t index, process, id;
    char *name, *process_name; /* NULL if unknown */
    char *label;               /* result of export_label */
    void *of_format;           /* freed by the format */
};
struct export_event {
    const struct dumped_event *dumped;
    int64_t time;
    uint32_t processor;
    struct export_thread *thread;    /* NULL if unknown */
    const struct event_stack *stack; /* NULL means no stack */
    uint32_t node;                   /* node of `stack` in the tree of frames, for formats with `event_stacks` */
    const char *name;                /* "Provider/Event" */
};
struct export_switch {
    int64_t time;
    uint32_t processor;
    struct export_thread *from, *to; /* NULL means the idle thread, or a thread that is not exported */
    int8_t from_priority, to_priority;
    uint8_t state, reason; /* KTHREAD_STATE and KWAIT_REASON of the thread that is switched out */
    uint32_t node;         /* stack of the thread that is switched in; 0 if unknown */
    const struct event_stack *stack;
};
/* A wait of a thread between two periods on a processor. `ready` is the time when the thread became ready and only
   needed a processor; 0 if this time is unknown. */
struct export_wait {
    struct export_thread *thread;
    int64_t begin, ready, end;
    uint8_t state, reason;
    uint32_t node; /* stack of the wait */
};
enum export_counter {
    EXPORT_CPU,  /* percentage of all processors since the previous value */
    EXPORT_READ, /* bytes since the previous value */
    EXPORT_WRITTEN,
    EXPORT_RECEIVED,
    EXPORT_SENT,
    EXPORT_COUNTERS
};
struct export_counter_row {
    const char *name, *unit; /* unit: "percent" or "bytes" */
};
extern const struct export_counter_row export_counters[EXPORT_COUNTERS];

struct export;
/* The functions of a format. A function that is NULL is not called. */
struct export_format {
    const char *name, *extension;
    bool folder;       /* the output is a folder */
    bool event_stacks; /* events are passed with the node of their stack */
    HRESULT (*begin)(struct export *x);
    HRESULT(*sample)
    (struct export *x, struct export_thread *t, uint32_t processor, int64_t time, uint32_t node, uint32_t weight);
    HRESULT (*run)(struct export *x, uint32_t processor, struct export_thread *t, int64_t begin, int64_t end);
    HRESULT (*wait)(struct export *x, const struct export_wait *wait);
    HRESULT (*switched)(struct export *x, const struct export_switch *s);
    HRESULT (*readied)(struct export *x, int64_t time, uint32_t processor, struct export_thread *t);
    HRESULT (*counter)(struct export *x, enum export_counter which, int64_t begin, int64_t end, double value);
    HRESULT (*event)(struct export *x, const struct export_event *e);
    HRESULT (*end)(struct export *x);
    void (*free)(struct export *x);
};
extern const struct export_format export_chrome, export_ctf, export_firefox, export_folded, export_pprof,
    export_speedscope;

struct export
{
    const struct export_format *format;
    void *of_format;
    struct export_file out;
    const char *folder, *title; /* `folder`: the output of formats that write a folder; `title`: the name of the
                                   trace */
    struct trace_frames *frames;
    const struct live_threads *live; /* threads at the time of the current event */
    struct stack_tree tree;          /* the tree of frames; the value of a node is 1 plus an index in `frame` */
    struct export_frame *frame;
    size_t frame_count, frame_capacity;
    struct export_thread **threads;
    size_t thread_count, thread_capacity;
    int64_t begin, end; /* `begin`: FILETIME of the first event; `end`: latest time, relative to `begin` */
    uint32_t processors;
    uint64_t samples, runs, waits, events, undecoded;
    /* The caches of export_stacks.c: */
    struct id_map frame_of_address, frame_of_name, node_of_user, node_of_kernel;
    struct export_latest *latest;
    uint64_t stack[STACK_MOST_FRAMES];
};

/* Finds or adds the stack as a node of `tree`; *node is 0 if the stack is empty. Fails with E_OUTOFMEMORY. `epoch`
   changes when addresses of the process may contain different code than before. */
HRESULT export_stack(struct export *x, const struct event_stack *stack, uint32_t process, uint32_t epoch,
                     uint64_t number, uint32_t *node);
/* Prefetches what export_stack and the format will read for the next stacks of the trace. Call it after
   stack_joiner_find returned a stack. */
void export_stacks_prefetch(const struct export *x);
/* Works like export_stack, for a single address. */
HRESULT export_address(struct export *x, uint64_t address, uint32_t process, uint32_t epoch, uint64_t number,
                       uint32_t *node);
/* Finds or adds a frame that is not a code location. *index becomes the frame's index in `frame`. */
HRESULT export_named_frame(struct export *x, const char *name, uint32_t *index);
void export_stacks_free(struct export *x);

/* Add strings such as "app.exe (100)" and "main (101)". */
void export_add_process(struct text_buffer *b, const struct export_thread *t);
void export_add_thread(struct text_buffer *b, const struct export_thread *t);
/* Returns a label with process and thread, which is built only the first time. Returns NULL if memory runs out. */
const char *export_label(struct export_thread *t);
/* Returns Windows' name of a wait reason. */
const char *export_wait_reason(uint8_t reason);
/* Add a time in microseconds or milliseconds with all digits. */
void export_add_us(struct text_buffer *b, int64_t time);
void export_add_ms(struct text_buffer *b, int64_t time);

/* Receives a value of an event. Members of structs are named "Struct.Member", and the elements of an array are combined
   in one string. */
typedef void export_field(void *context, const char *name, const char *text, bool is_number);
/* Calls `take` for each field. Returns S_FALSE if the event cannot be decoded, or if its data is incomplete. */
HRESULT export_fields(const struct export_event *e, export_field *take, void *context);
/* Adds the fields as members of a JSON object. Writes a comma before each member, but not before the first one if
   `first` is set. */
HRESULT export_json_fields(struct text_buffer *b, const struct export_event *e, bool first);

#endif

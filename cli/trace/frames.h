/* SPDX-License-Identifier: MIT */
/* Converts the addresses of stacks to frames in the usual notation: module!function+offset, without the parts that are
   unknown. */
#ifndef OPENPLA_CLI_FRAMES_H
#define OPENPLA_CLI_FRAMES_H

#include "cli/output.h"
#include "engine/etw/code_places.h"
#include "engine/etw/stack_join.h"
#include "engine/etw/symbols.h"
#include "engine/etw/trace_stacks.h"

/* Zero-initialise. */
struct trace_frames {
    struct trace_stacks stacks;
    struct symbols *symbols;            /* NULL means no symbols */
    uint64_t frames[STACK_MOST_FRAMES]; /* frames of the last stack that was shown */
};
struct trace_frame {
    uint64_t address;
    struct code_place place; /* zero: not known */
    const char *function;    /* name from the symbols, or name of the .NET method; NULL if unknown */
    uint64_t offset;         /* offset in the function; if the function is unknown, offset in the module */
};
/* Reads the traces a first time. `symbols` (may be empty) has the form that symbols_open takes. Prints to stderr which
   parts of stacks could not be joined. */
HRESULT trace_frames_open(struct trace_frames *f, const struct texts *paths, const struct texts *symbols,
                          trace_take *also, void *context);
/* Prints to stderr which symbols were not found. */
void trace_frames_report(const struct trace_frames *f);
/* Finds the frame of an address at the time of the event `number`. `innermost` means that the address was executed and
   is not a return address. */
void trace_frames_find(struct trace_frames *f, uint32_t process, uint64_t address, bool innermost, uint64_t number,
                       struct trace_frame *out);
/* Adds a string such as "ntdll.dll!NtRead+0x14". */
void trace_frame_add(struct text_buffer *b, const struct trace_frame *frame);
/* Adds the stack of an event, one line per frame, innermost frame first. `process` is the event's process. */
void trace_frames_add_lines(struct trace_frames *f, const struct event_stack *stack, uint32_t process, uint64_t number,
                            struct text_buffer *line);
/* Writes the members "stackProcess", "stackThread" and "stack". */
void trace_frames_json(struct trace_frames *f, const struct event_stack *stack, uint32_t process, uint64_t number,
                       struct json *j);
void trace_frames_close(struct trace_frames *f);

#endif

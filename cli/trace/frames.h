/* SPDX-License-Identifier: MIT */
/* Frames of stacks as users read them: module!function+offset, as far as known. */
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
    struct symbols *symbols;            /* NULL: none */
    uint64_t frames[STACK_MOST_FRAMES]; /* of the last stack that was shown */
};
struct trace_frame {
    uint64_t address;
    struct code_place place; /* zero: unknown */
    const char *function;    /* of the symbols, or the method; NULL: unknown */
    uint64_t offset;         /* from the function; if unknown, from the module */
};
/* The first reading of the traces. `symbols`: as symbols_open takes them; may be empty. Prints to stderr the parts that
   could not be joined. */
HRESULT trace_frames_open(struct trace_frames *f, const struct texts *paths, const struct texts *symbols,
                          trace_take *also, void *context);
/* Prints to stderr the symbols that were not found. */
void trace_frames_report(const struct trace_frames *f);
/* The frame of an address at the time of the event `number`. `innermost`: the address was executed, and is not a return
   address. */
void trace_frames_find(struct trace_frames *f, uint32_t process, uint64_t address, bool innermost, uint64_t number,
                       struct trace_frame *out);
/* Adds "ntdll.dll!NtRead+0x14". */
void trace_frame_add(struct text_buffer *b, const struct trace_frame *frame);
/* Adds the stack of an event, one line per frame, innermost first. `process`: of the event. */
void trace_frames_add_lines(struct trace_frames *f, const struct event_stack *stack, uint32_t process, uint64_t number,
                            struct text_buffer *line);
/* The members "stackProcess", "stackThread" and "stack". */
void trace_frames_json(struct trace_frames *f, const struct event_stack *stack, uint32_t process, uint64_t number,
                       struct json *j);
void trace_frames_close(struct trace_frames *f);

#endif

/* SPDX-License-Identifier: MIT */
#include "cli/trace/frames.h"

#include "cli/cli.h"
#include "cli/trace/trace.h"
#include "engine/etw/stack_tree.h"

HRESULT trace_frames_open(struct trace_frames *f, const struct texts *paths, const struct texts *symbols,
                          trace_take *also, void *context)
{
    struct cli_progress progress = {0};
    HRESULT hr = symbols->count != 0 ? symbols_open(symbols, &f->symbols) : S_OK;
    if (SUCCEEDED(hr))
        hr = trace_stacks_read(paths, also, context, trace_inputs_progress, &progress, &f->stacks);
    cli_progress_end(&progress);
    if (FAILED(hr))
        return hr;
    const struct stack_counts *c = &f->stacks.counts;
    const uint64_t refused = c->refused + code_places_refused(f->stacks.places);
    if (c->unmatched + c->unresolved != 0)
        fprintf(stderr,
                "openpla trace: stacks are incomplete: %llu of %llu parts of stacks match no event of the trace, and "
                "%llu references have no definition in the trace\n",
                (unsigned long long)c->unmatched, (unsigned long long)c->parts, (unsigned long long)c->unresolved);
    if (refused != 0)
        fprintf(stderr, "openpla trace: %llu stacks, images and methods are omitted: the memory limit was reached\n",
                (unsigned long long)refused);
    return S_OK;
}

void trace_frames_find(struct trace_frames *f, uint32_t process, uint64_t address, bool innermost, uint64_t number,
                       struct trace_frame *out)
{
    *out = (struct trace_frame){.address = address};
    if (!trace_stacks_place(&f->stacks, process, address, innermost, number, &out->place))
        return;
    out->function = out->place.method;
    out->offset = out->place.offset;
    if (!f->symbols || !out->place.module)
        return;
    const uint64_t back = innermost ? 0 : 1;
    if (symbols_find(f->symbols, out->place.module, out->place.offset - back, &out->function, &out->offset))
        out->offset += back;
}

void trace_frames_report(const struct trace_frames *f)
{
    const struct symbols_count *c = f->symbols ? symbols_count(f->symbols) : NULL;
    for (size_t i = 0; c && i < c->warnings.count; i++)
        fprintf(stderr, "openpla trace: %s\n", c->warnings.items[i]);
    if (c && c->found < c->asked)
        fprintf(stderr, "openpla trace: symbols were found for %zu of %zu images\n", c->found, c->asked);
}

void trace_frame_add(struct text_buffer *b, const struct trace_frame *frame)
{
    const char *module = frame->place.module ? frame->place.module->name : frame->place.method_module;
    if (!module && !frame->function) {
        text_buffer_add_hex(b, frame->address, 1);
        return;
    }
    add_shown(b, module ? module : "");
    text_buffer_add(b, module && frame->function ? "!" : "");
    add_shown(b, frame->function ? frame->function : "");
    text_buffer_add(b, "+");
    text_buffer_add_hex(b, frame->offset, 1);
}

/* Returns the process to which the stack's addresses belong. */
static uint32_t stack_process(const struct event_stack *stack, uint32_t process)
{
    return stack->process != UINT32_MAX ? stack->process : process;
}

void trace_frames_add_lines(struct trace_frames *f, const struct event_stack *stack, uint32_t process, uint64_t number,
                            struct text_buffer *line)
{
    struct trace_frame frame;
    const size_t count = stack_frames(stack_joiner_tree(f->stacks.joiner), stack, f->frames);
    for (size_t i = 0; i < count; i++) {
        trace_frames_find(f, stack_process(stack, process), f->frames[i], i == 0, number, &frame);
        text_buffer_add(line, "\n    ");
        trace_frame_add(line, &frame);
    }
}

static void json_module(struct json *j, const struct code_module *m)
{
    char identity[CODE_IDENTITY];
    json_text(j, "module", m->name);
    json_text(j, "path", m->path);
    if (m->has_symbols) {
        code_module_identity(m, identity);
        json_text(j, "symbols", m->symbols);
        json_text(j, "identity", identity);
    }
}

static void json_hex(struct json *j, const char *name, uint64_t value)
{
    char text[2 + 16 + 1];
    snprintf(text, sizeof text, "0x%llX", (unsigned long long)value);
    json_text(j, name, text);
}

void trace_frames_json(struct trace_frames *f, const struct event_stack *stack, uint32_t process, uint64_t number,
                       struct json *j)
{
    struct trace_frame frame;
    const size_t count = stack_frames(stack_joiner_tree(f->stacks.joiner), stack, f->frames);
    json_integer(j, "stackProcess", stack->process);
    json_integer(j, "stackThread", stack->thread);
    json_begin(j, "stack", '[');
    for (size_t i = 0; i < count; i++) {
        trace_frames_find(f, stack_process(stack, process), f->frames[i], i == 0, number, &frame);
        json_begin(j, NULL, '{');
        json_hex(j, "address", frame.address);
        if (frame.place.module) {
            json_module(j, frame.place.module);
            json_hex(j, "moduleOffset", frame.place.offset);
        } else if (frame.place.method_module) {
            json_text(j, "module", frame.place.method_module);
        }
        if (frame.function) {
            json_text(j, "function", frame.function);
            json_hex(j, "functionOffset", frame.offset);
        }
        json_end(j, '}');
    }
    json_end(j, ']');
}

void trace_frames_close(struct trace_frames *f)
{
    trace_stacks_free(&f->stacks);
    symbols_close(f->symbols);
}

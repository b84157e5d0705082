/* SPDX-License-Identifier: MIT */
/* Reads the fields of events, and creates strings that several formats use. */
#include "cli/trace/export/export.h"
#include "cli/trace/export/export_put.h"
#include "engine/etw/event_values.h"

#include <stdio.h>

const struct export_counter_row export_counters[EXPORT_COUNTERS] = {{"CPU", "percent"},
                                                                    {"Disk read", "bytes"},
                                                                    {"Disk written", "bytes"},
                                                                    {"Network received", "bytes"},
                                                                    {"Network sent", "bytes"}};

/* KWAIT_REASON */
static const char *const reasons[] = {"Executive",        "FreePage",          "PageIn",           "PoolAllocation",
                                      "DelayExecution",   "Suspended",         "UserRequest",      "WrExecutive",
                                      "WrFreePage",       "WrPageIn",          "WrPoolAllocation", "WrDelayExecution",
                                      "WrSuspended",      "WrUserRequest",     "WrEventPair",      "WrQueue",
                                      "WrLpcReceive",     "WrLpcReply",        "WrVirtualMemory",  "WrPageOut",
                                      "WrRendezvous",     "WrKeyedEvent",      "WrTerminated",     "WrProcessInSwap",
                                      "WrCpuRateControl", "WrCalloutStack",    "WrKernel",         "WrResource",
                                      "WrPushLock",       "WrMutex",           "WrQuantumEnd",     "WrDispatchInt",
                                      "WrPreempted",      "WrYieldExecution",  "WrFastMutex",      "WrGuardedMutex",
                                      "WrRundown",        "WrAlertByThreadId", "WrDeferredPreempt"};

const char *export_wait_reason(uint8_t reason)
{
    return reason < sizeof reasons / sizeof *reasons ? reasons[reason] : "unknown";
}

void export_add_us(struct text_buffer *b, int64_t time)
{
    char text[EXPORT_PUT_TIME];
    text_buffer_add_n(b, text, (size_t)(export_put_us(text, time) - text));
}

void export_add_ms(struct text_buffer *b, int64_t time)
{
    char text[EXPORT_PUT_TIME];
    text_buffer_add_n(b, text, (size_t)(export_put_ms(text, time) - text));
}

static void add_named(struct text_buffer *b, const char *name, const char *otherwise, uint32_t id)
{
    text_buffer_add(b, name && *name ? name : otherwise);
    text_buffer_add(b, " (");
    text_buffer_add_u64(b, id, 1);
    text_buffer_add(b, ")");
}

void export_add_process(struct text_buffer *b, const struct export_thread *t)
{
    if (t->process == UINT32_MAX)
        text_buffer_add(b, "unknown process");
    else
        add_named(b, t->process_name, "process", t->process);
}

void export_add_thread(struct text_buffer *b, const struct export_thread *t)
{
    add_named(b, t->name, "thread", t->id);
}

const char *export_label(struct export_thread *t)
{
    struct text_buffer label = {0};
    if (!t->label) {
        export_add_process(&label, t);
        text_buffer_add(&label, " ");
        export_add_thread(&label, t);
        t->label = text_buffer_take(&label);
    }
    return t->label;
}

/* ---- fields ---- */

struct walk {
    export_field *take;
    void *context;
    const struct event_schema *schema;
    struct text_buffer name, text;
    size_t ends[64]; /* length of `name` before the name of each enclosing struct was added */
    unsigned depth, arrays;
    bool first; /* the value is the first element of the array */
};

static bool is_integer(uint16_t in)
{
    return in >= IN_TYPE_INT8 && in <= IN_TYPE_UINT64;
}

/* Returns true for a JSON number with at most 15 digits before the point. Readers of JSON cannot represent longer
   integers exactly. */
static bool is_number(const char *text)
{
    enum { DIGITS = 15 };
    const char *digits = text + (*text == '-');
    const size_t whole = strspn(digits, "0123456789");
    if (whole == 0 || whole > DIGITS || (whole > 1 && *digits == '0'))
        return false;
    const char *rest = digits + whole;
    if (*rest == '.') {
        const size_t fraction = strspn(rest + 1, "0123456789");
        if (fraction == 0)
            return false;
        rest += 1 + fraction;
    }
    return *rest == 0;
}

static void walk_give(struct walk *w, const char *member, bool number)
{
    const size_t end = w->name.length;
    if (member) {
        text_buffer_add(&w->name, end != 0 ? "." : "");
        text_buffer_add(&w->name, member);
    }
    if (!w->name.failed && !w->text.failed)
        w->take(w->context, w->name.length ? w->name.text : "", w->text.length ? w->text.text : "",
                number && is_number(w->text.length ? w->text.text : ""));
    if (!w->name.failed && w->name.text)
        w->name.text[w->name.length = end] = 0;
}

static HRESULT walk_take(void *context, enum event_step step, const struct event_value *v)
{
    struct walk *w = context;
    const char *name = v->property->name ? v->property->name : "";
    if (!event_property_is_shown(v->property))
        return S_OK;
    switch (step) {
    case STEP_ARRAY:
        if (w->arrays++ == 0)
            w->text.length = 0;
        w->first = true;
        return S_OK;
    case STEP_ARRAY_END:
        if (--w->arrays == 0)
            walk_give(w, name, false);
        return S_OK;
    case STEP_STRUCT:
        if (w->arrays != 0 || w->depth >= sizeof w->ends / sizeof *w->ends) {
            w->depth++;
            return S_OK;
        }
        w->ends[w->depth++] = w->name.length;
        text_buffer_add(&w->name, w->name.length != 0 ? "." : "");
        text_buffer_add(&w->name, name);
        return S_OK;
    case STEP_STRUCT_END:
        w->depth--;
        if (w->arrays == 0 && w->depth < sizeof w->ends / sizeof *w->ends && !w->name.failed && w->name.text)
            w->name.text[w->name.length = w->ends[w->depth]] = 0;
        return S_OK;
    default:
        break;
    }
    if (w->arrays == 0)
        w->text.length = 0;
    else if (!w->first)
        text_buffer_add(&w->text, " ");
    w->first = false;
    const HRESULT hr = event_value_text(w->schema, v, &w->text);
    if (SUCCEEDED(hr) && w->arrays == 0)
        walk_give(w, name, is_integer(v->type.in) || v->type.in == IN_TYPE_FLOAT || v->type.in == IN_TYPE_DOUBLE);
    return w->text.failed ? E_OUTOFMEMORY : hr;
}

static HRESULT give_sentence(const struct export_event *e, export_field *take, void *context)
{
    struct text_buffer room = {0};
    HRESULT hr = dumped_event_sentence(e->dumped, &room);
    if (SUCCEEDED(hr) && room.failed)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        take(context, "message", room.length ? room.text : "", false);
    text_buffer_free(&room);
    return hr == EVENT_DATA_INVALID ? S_FALSE : hr;
}

HRESULT export_fields(const struct export_event *e, export_field *take, void *context)
{
    const struct event_schema *schema = e->dumped->schema;
    struct walk w = {.take = take, .context = context, .schema = schema};
    HRESULT hr = S_FALSE;
    if (schema && schema->message) {
        hr = give_sentence(e, take, context);
    } else if (schema) {
        const struct event_data data = event_data_of(e->dumped->record, e->dumped->pointer_size);
        hr = event_values_walk(schema, &data, walk_take, &w, NULL);
        hr = hr == EVENT_DATA_INVALID ? S_FALSE : FAILED(hr) ? hr : S_OK;
    }
    if (hr == S_FALSE) { /* pass all bytes of the event to `take`, even if some fields could be read */
        w.name.length = w.text.length = 0;
        text_buffer_add_bytes(&w.text, e->dumped->record->UserData, e->dumped->record->UserDataLength);
        walk_give(&w, "undecoded", false);
    }
    const bool failed = w.name.failed || w.text.failed;
    text_buffer_free(&w.name);
    text_buffer_free(&w.text);
    return failed ? E_OUTOFMEMORY : hr;
}

struct members {
    struct text_buffer *out;
    bool first;
};

static void json_member(void *context, const char *name, const char *text, bool number)
{
    struct members *m = context;
    text_buffer_add(m->out, m->first ? "" : ",");
    m->first = false;
    json_add_text(m->out, name);
    text_buffer_add_n(m->out, ":", 1);
    if (number)
        text_buffer_add(m->out, text);
    else
        json_add_text(m->out, text);
}

HRESULT export_json_fields(struct text_buffer *b, const struct export_event *e, bool first)
{
    struct members m = {b, first};
    return export_fields(e, json_member, &m);
}

/* SPDX-License-Identifier: MIT */
/* Writes the Common Trace Format 1.8, for babeltrace2, Trace Compass and LTTng's tools. The output is a folder with one
   stream file per processor, and with the text file `metadata`. This file declares a class for each kind of event, and
   is written last. A packet is collected in memory and then written. Everything is aligned to bytes, so a field is
   written as its bytes. */
#include "cli/trace/export/export.h"
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"

enum { PACKET_BYTES = 1 << 18, PACKET_HEAD = 4 + 4 + 8 + 8 + 8 + 8 + 4, MOST_CLASSES = 1 << 16, MOST_FIELDS = 1 << 12 };
enum { SCHED_SWITCH, SCHED_WAKING, CPU_SAMPLE, COUNTER, UNDECODED, CLASSES_FIXED };
#define MAGIC 0xC1FC1FC1u

struct stream {
    struct file *file;
    struct byte_buffer packet;
    int64_t begin, end; /* times of the packet in ns */
};
enum field_kind { FIELD_HIDDEN, FIELD_INTEGER, FIELD_FLOAT, FIELD_TEXT };
struct class_field {
    uint8_t kind, size;
};
struct ctf_class {
    uint32_t id; /* 0 if the class was not written yet */
    uint16_t count;
    struct class_field *fields;
};
struct ctf {
    struct id_map streams; /* key: processor + 1; value: struct stream */
    struct id_map classes; /* key: hash of name and fields; value: struct ctf_class */
    uint32_t class_count;
    struct export_columns columns;
    struct export_column declared; /* the metadata text that declares the classes */
    struct text_buffer text;
};

static HRESULT begin(struct export *x)
{
    struct ctf *c = x->of_format = memory_zero(1, sizeof *c);
    if (!c)
        return E_OUTOFMEMORY;
    c->streams.item_size = sizeof(struct stream);
    c->classes.item_size = sizeof(struct ctf_class);
    c->class_count = CLASSES_FIXED;
    return S_OK;
}

/* ---- packets ---- */

static HRESULT packet_write(struct stream *s, uint32_t processor)
{
    if (s->packet.failed)
        return E_OUTOFMEMORY;
    if (s->packet.size <= PACKET_HEAD)
        return S_OK;
    uint8_t *head = s->packet.bytes;
    const uint64_t bits = 8 * (uint64_t)s->packet.size;
    put_u32(head, MAGIC);
    put_u32(head + 4, 0);
    put_u64(head + 8, (uint64_t)s->begin);
    put_u64(head + 16, (uint64_t)s->end);
    put_u64(head + 24, bits);
    put_u64(head + 32, bits);
    put_u32(head + 40, processor);
    const HRESULT hr = file_write(s->file, s->packet.bytes, s->packet.size);
    s->packet.size = 0;
    return hr;
}

static HRESULT stream_open(struct export *x, uint32_t processor, struct stream *s)
{
    char name[32];
    snprintf(name, sizeof name, "cpu_%u", (unsigned)processor);
    char *path = path_join(x->folder, name);
    const HRESULT hr = path ? file_open(path, FILE_REPLACE, &s->file) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

/* Reserves `size` more bytes, which are not cleared, and returns their address. Returns NULL if memory runs out. */
static uint8_t *put_space(struct byte_buffer *b, size_t size)
{
    if (b->failed || size >= b->capacity - b->size) {
        if (!byte_buffer_add(b, size))
            return NULL;
        b->size -= size;
    }
    b->size += size;
    return b->bytes + b->size - size;
}

/* Writes the lowest `bytes` bytes of a number; `bytes` is 1 to 8. */
static void put_number(struct byte_buffer *b, uint64_t value, size_t bytes)
{
    uint8_t number[sizeof value], *at = put_space(b, bytes);
    put_u64(number, value);
    if (at)
        memcpy(at, number, bytes);
}

static void put_text(struct byte_buffer *b, const char *text)
{
    const size_t size = strlen(text) + 1;
    uint8_t *at = put_space(b, size);
    if (at)
        memcpy(at, text, size);
}

/* Begins an event and returns the buffer for its fields. On failure returns NULL and sets *hr. */
static struct byte_buffer *event_begin(struct export *x, uint32_t class, uint32_t processor, int64_t time,
                                       uint32_t process, uint32_t thread, const struct event_stack *stack, HRESULT *hr)
{
    struct ctf *c = x->of_format;
    enum { NS = 100, HEAD = 4 + 8 + 4 + 4 + 2 };
    struct stream *s = id_map_put(&c->streams, (uint64_t)processor + 1);
    *hr = s ? s->file ? S_OK : stream_open(x, processor, s) : E_OUTOFMEMORY;
    if (SUCCEEDED(*hr) && s->packet.size >= PACKET_BYTES)
        *hr = packet_write(s, processor);
    if (FAILED(*hr))
        return NULL;
    const int64_t now = NS * time > s->end ? NS * time : s->end; /* times must not decrease within a stream */
    if (s->packet.size == 0) {
        (void)byte_buffer_add(&s->packet, PACKET_HEAD);
        s->begin = now;
    }
    s->end = now;
    const size_t depth = stack ? stack_frames(stack_joiner_tree(x->frames->stacks.joiner), stack, x->stack) : 0;
    uint8_t *at = put_space(&s->packet, HEAD + 8 * depth);
    if (!at)
        return &s->packet; /* packet_write reports the failure */
    put_u32(at, class);
    put_u64(at + 4, (uint64_t)now);
    put_u32(at + 12, process);
    put_u32(at + 16, thread);
    put_u16(at + 20, (uint16_t)depth);
    for (size_t i = 0; i < depth; i++)
        put_u64(at + HEAD + 8 * i, x->stack[i]);
    return &s->packet;
}

/* ---- declarations that all traces have ---- */

static const char *comm(const struct export_thread *t)
{
    return !t ? "Idle" : t->process_name ? t->process_name : t->name ? t->name : "";
}

static HRESULT switched(struct export *x, const struct export_switch *s)
{
    HRESULT hr;
    const struct export_thread *from = s->from, *to = s->to;
    struct byte_buffer *b =
        event_begin(x, SCHED_SWITCH, s->processor, s->time, to ? to->process : 0, to ? to->id : 0, s->stack, &hr);
    if (!b)
        return hr;
    put_text(b, comm(from));
    put_number(b, from ? from->id : 0, 4);
    put_number(b, (uint64_t)(int64_t)s->from_priority, 4);
    put_number(b, s->state, 8);
    put_text(b, export_wait_reason(s->reason));
    put_text(b, comm(to));
    put_number(b, to ? to->id : 0, 4);
    put_number(b, (uint64_t)(int64_t)s->to_priority, 4);
    return S_OK;
}

static HRESULT readied(struct export *x, int64_t time, uint32_t processor, struct export_thread *t)
{
    HRESULT hr;
    struct byte_buffer *b = event_begin(x, SCHED_WAKING, processor, time, UINT32_MAX, UINT32_MAX, NULL, &hr);
    if (!b)
        return hr;
    put_text(b, comm(t));
    put_number(b, t->id, 4);
    return S_OK;
}

/* Writes the names of at most STACK_MOST_FRAMES frames, each with ';', and returns the next node. A sample has some 50
   names of 20 bytes, so whole blocks are copied (EXPORT_NAME_BLOCK) instead of calling memcpy. Frames and names are
   prefetched, because they are scattered in memory. */
static uint32_t put_some_names(struct export *x, struct byte_buffer *b, uint32_t node)
{
    size_t depth = 0, size = EXPORT_NAME_BLOCK;
    for (; node != 0 && depth < STACK_MOST_FRAMES; node = x->tree.parents[node - 1]) {
        x->stack[depth] = x->tree.values[node - 1] - 1;
        __builtin_prefetch(&x->frame[x->stack[depth++]]);
    }
    for (size_t i = 0; i < depth; i++) {
        size += x->frame[x->stack[i]].name_length + 1;
        __builtin_prefetch(x->frame[x->stack[i]].name);
    }
    uint8_t *at = put_space(b, size);
    if (!at)
        return 0;
    for (size_t i = 0; i < depth; i++) {
        const struct export_frame *f = &x->frame[x->stack[i]];
        for (size_t done = 0; done < f->name_length; done += EXPORT_NAME_BLOCK)
            memcpy(at + done, f->name + done, EXPORT_NAME_BLOCK);
        at += f->name_length;
        *at++ = ';';
    }
    b->size = (size_t)(at - b->bytes);
    return node;
}

/* Writes the names of the frames, innermost first, as one string. */
static void put_names(struct export *x, struct byte_buffer *b, uint32_t node)
{
    const bool any = node != 0;
    while (node != 0)
        node = put_some_names(x, b, node);
    if (!any)
        put_text(b, "");
    else if (!b->failed)
        b->bytes[b->size - 1] = 0; /* replaces the last ';' */
}

static HRESULT sample(struct export *x, struct export_thread *t, uint32_t processor, int64_t time, uint32_t node,
                      uint32_t weight)
{
    HRESULT hr;
    struct byte_buffer *b = event_begin(x, CPU_SAMPLE, processor, time, t->process, t->id, NULL, &hr);
    if (!b)
        return hr;
    put_number(b, (uint64_t)weight * 100, 8);
    put_names(x, b, node);
    return S_OK;
}

static HRESULT counter(struct export *x, enum export_counter which, int64_t since, int64_t until, double value)
{
    (void)since;
    HRESULT hr;
    uint64_t bits;
    struct byte_buffer *b = event_begin(x, COUNTER, 0, until, UINT32_MAX, UINT32_MAX, NULL, &hr);
    if (!b)
        return hr;
    put_text(b, export_counters[which].name);
    put_text(b, export_counters[which].unit);
    memcpy(&bits, &value, sizeof bits);
    put_number(b, bits, 8);
    return S_OK;
}

/* ---- classes ---- */

static struct class_field field_of(const struct event_property *p)
{
    const bool scalar = (p->flags & (PROPERTY_STRUCT | PROPERTY_PARAM_COUNT)) == 0 && p->count <= 1;
    if (!event_property_is_shown(p))
        return (struct class_field){FIELD_HIDDEN, 0};
    if (!scalar)
        return (struct class_field){FIELD_TEXT, 0};
    switch (p->in_type) {
    case IN_TYPE_FLOAT:
    case IN_TYPE_DOUBLE:
        return (struct class_field){FIELD_FLOAT, (uint8_t)value_fixed_size(p->in_type, 8)};
    case IN_TYPE_INT8:
    case IN_TYPE_UINT8:
    case IN_TYPE_INT16:
    case IN_TYPE_UINT16:
    case IN_TYPE_INT32:
    case IN_TYPE_UINT32:
    case IN_TYPE_INT64:
    case IN_TYPE_UINT64:
    case IN_TYPE_HEXINT32:
    case IN_TYPE_HEXINT64:
    case IN_TYPE_POINTER:
    case IN_TYPE_SIZET:
        return (struct class_field){FIELD_INTEGER, (uint8_t)value_fixed_size(p->in_type, 8)};
    default:
        return (struct class_field){FIELD_TEXT, 0};
    }
}

static bool is_signed(uint16_t in)
{
    return in == IN_TYPE_INT8 || in == IN_TYPE_INT16 || in == IN_TYPE_INT32 || in == IN_TYPE_INT64;
}

static bool is_hexadecimal(uint16_t in)
{
    return in == IN_TYPE_HEXINT32 || in == IN_TYPE_HEXINT64 || in == IN_TYPE_POINTER || in == IN_TYPE_SIZET;
}

/* Adds an identifier of C. The leading '_', which Babeltrace removes, keeps names distinct from keywords. */
static void add_identifier(struct text_buffer *b, const char *name, size_t index)
{
    text_buffer_add(b, "_");
    for (const char *c = name ? name : ""; *c; c++) {
        const bool valid = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        text_buffer_add_n(b, valid ? c : "_", 1);
    }
    if (!name || !*name)
        text_buffer_add_u64(b, index, 1);
}

/* Returns true if an earlier field has the same name. In this case the index becomes a suffix of the later field's
   name. */
static bool is_repeated(const struct event_schema *s, size_t index)
{
    struct text_buffer name = {0}, other = {0};
    bool same = false;
    add_identifier(&name, s->properties[index].name, index);
    for (size_t i = 0; i < index && !same && !name.failed; i++) {
        other.length = 0;
        add_identifier(&other, s->properties[i].name, i);
        same = !other.failed && strcmp(name.text, other.text) == 0;
    }
    text_buffer_free(&name);
    text_buffer_free(&other);
    return same;
}

/* Adds the text in quotation marks, with '"' and '\' escaped. Characters other than printable ASCII and UTF-8 become
   '?'. */
static void add_quoted(struct text_buffer *b, const char *text)
{
    text_buffer_add(b, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            text_buffer_add(b, "\\");
        text_buffer_add_n(b, (unsigned char)*c < ' ' ? "?" : c, 1);
    }
    text_buffer_add(b, "\"");
}

static void declare_field(struct text_buffer *b, const struct event_schema *s, size_t i, struct class_field f)
{
    const struct event_property *p = &s->properties[i];
    if (f.kind == FIELD_HIDDEN)
        return;
    if (f.kind == FIELD_INTEGER)
        text_buffer_format(b, "integer { size = %u; align = 8; signed = %s; base = %d; } ", 8u * f.size,
                           is_signed(p->in_type) ? "true" : "false", is_hexadecimal(p->in_type) ? 16 : 10);
    else if (f.kind == FIELD_FLOAT)
        text_buffer_format(b, "floating_point { exp_dig = %d; mant_dig = %d; align = 8; } ", f.size == 4 ? 8 : 11,
                           f.size == 4 ? 24 : 53);
    else
        text_buffer_add(b, "string ");
    add_identifier(b, p->name, i);
    if (is_repeated(s, i))
        text_buffer_format(b, "_%u", (unsigned)i);
    text_buffer_add(b, "; ");
}

static HRESULT class_declare(struct export *x, const struct export_event *e, struct ctf_class *class)
{
    struct ctf *c = x->of_format;
    const struct event_schema *s = e->dumped->schema;
    struct text_buffer *b = &c->declared.text;
    class->count = s->message ? 0 : s->top_level;
    class->fields = memory_zero(class->count + 1u, sizeof *class->fields);
    if (!class->fields)
        return E_OUTOFMEMORY;
    class->id = c->class_count++;
    text_buffer_add(b, "event { name = ");
    add_quoted(b, e->name);
    text_buffer_format(b, "; id = %u; stream_id = 0; fields := struct { ", (unsigned)class->id);
    for (size_t i = 0; i < class->count; i++) {
        class->fields[i] = field_of(&s->properties[i]);
        declare_field(b, s, i, class->fields[i]);
    }
    text_buffer_add(b, s->message ? "string _message; }; };\n" : "}; };\n");
    return export_column_settle(&c->columns, &c->declared);
}

/* Finds or creates the class of the event: events with the same name and the same fields form one class. *out is NULL
   with S_OK if there are too many classes. */
static HRESULT class_of(struct export *x, const struct export_event *e, struct ctf_class **out)
{
    struct ctf *c = x->of_format;
    const struct event_schema *s = e->dumped->schema;
    uint64_t key = hash_number(hash_text(HASH_START, e->name), s->message != NULL);
    *out = NULL;
    for (size_t i = 0; i < s->top_level; i++) {
        const struct event_property *p = &s->properties[i];
        key = hash_number(hash_text(key, p->name ? p->name : ""),
                          p->in_type | (uint64_t)p->flags << 16 | (uint64_t)p->count << 48);
    }
    key = key != 0 ? key : 1;
    struct ctf_class *class = id_map_find(&c->classes, key);
    if (!class && (c->class_count >= MOST_CLASSES || s->top_level > MOST_FIELDS))
        return S_OK;
    if (!class)
        class = id_map_put(&c->classes, key);
    if (!class)
        return E_OUTOFMEMORY;
    *out = class;
    return class->id != 0 ? S_OK : class_declare(x, e, class);
}

/* ---- events ---- */

struct fields {
    struct byte_buffer *out;
    const struct event_schema *schema;
    const struct ctf_class *class;
    struct text_buffer *text; /* the combined values of a field of kind FIELD_TEXT */
    size_t next;              /* index of the next field */
};

/* Writes all fields before `index`. If the event does not contain a field, writes 0 or "". */
static void fields_until(struct fields *f, size_t index)
{
    for (; f->next < index && f->next < f->class->count; f->next++) {
        const struct class_field field = f->class->fields[f->next];
        if (field.kind == FIELD_TEXT) {
            put_text(f->out, f->text->length != 0 ? f->text->text : "");
            f->text->length = 0;
        } else if (field.kind != FIELD_HIDDEN) {
            put_number(f->out, 0, field.size);
        }
    }
}

static HRESULT take_value(void *context, enum event_step step, const struct event_value *v)
{
    struct fields *f = context;
    if (v->depth == 0) /* a member of a struct is written when its struct is written */
        fields_until(f, v->index);
    if (step != STEP_VALUE || f->next >= f->class->count)
        return S_OK;
    const struct class_field field = f->class->fields[f->next];
    if (field.kind == FIELD_HIDDEN)
        return S_OK;
    if (field.kind == FIELD_TEXT) {
        text_buffer_add(f->text, f->text->length != 0 ? " " : "");
        return event_value_text(f->schema, v, f->text);
    }
    if (v->depth == 0) {
        uint64_t value = 0;
        const size_t size = v->size < 8 ? v->size : 8;
        for (size_t i = 0; i < size; i++)
            value |= (uint64_t)v->bytes[i] << 8 * i;
        put_number(f->out, value, field.size);
        f->next++;
    }
    return S_OK;
}

static HRESULT put_undecoded(struct export *x, const struct export_event *e, uint32_t process, uint32_t thread)
{
    struct ctf *c = x->of_format;
    const EVENT_RECORD *r = e->dumped->record;
    HRESULT hr;
    struct byte_buffer *b = event_begin(x, UNDECODED, e->processor, e->time, process, thread, e->stack, &hr);
    if (!b)
        return hr;
    put_text(b, e->name);
    put_number(b, r->EventHeader.EventDescriptor.Id, 2);
    put_number(b, r->EventHeader.EventDescriptor.Version, 1);
    put_number(b, r->EventHeader.EventDescriptor.Opcode, 1);
    c->text.length = 0;
    text_buffer_add_bytes(&c->text, r->UserData, r->UserDataLength);
    put_text(b, c->text.length != 0 ? c->text.text : "");
    return S_FALSE;
}

static HRESULT event(struct export *x, const struct export_event *e)
{
    struct ctf *c = x->of_format;
    const EVENT_HEADER *h = &e->dumped->record->EventHeader;
    const struct event_schema *s = e->dumped->schema;
    const uint32_t process = e->thread ? e->thread->process : h->ProcessId;
    const uint32_t thread = e->thread ? e->thread->id : h->ThreadId;
    struct ctf_class *class = NULL;
    HRESULT hr = s ? class_of(x, e, &class) : S_OK;
    if (FAILED(hr) || !class)
        return FAILED(hr) ? hr : put_undecoded(x, e, process, thread);
    struct fields f = {.schema = s, .class = class, .text = &c->text};
    f.out = event_begin(x, class->id, e->processor, e->time, process, thread, e->stack, &hr);
    if (!f.out)
        return hr;
    c->text.length = 0;
    if (s->message) {
        hr = dumped_event_sentence(e->dumped, &c->text);
        put_text(f.out, SUCCEEDED(hr) && c->text.length != 0 ? c->text.text : "");
    } else {
        const struct event_data data = event_data_of(e->dumped->record, e->dumped->pointer_size);
        hr = event_values_walk(s, &data, take_value, &f, NULL);
        fields_until(&f, class->count);
    }
    if (c->text.failed)
        return E_OUTOFMEMORY;
    return hr == EVENT_DATA_INVALID ? S_FALSE : FAILED(hr) ? hr : S_OK;
}

/* ---- metadata ---- */

static void add_head(struct export *x)
{
    const int64_t second = EXPORT_SECOND, since = x->begin - INT64_C(116444736000000000);
    struct text_buffer *b = &x->out.text;
    text_buffer_add(b, "/* CTF 1.8 */\n"
                       "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
                       "typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
                       "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
                       "typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
                       "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
                       "typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
                       "typealias integer { size = 64; align = 8; signed = false; base = 16; } := address;\n"
                       "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := real;\n"
                       "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "
                       "stream_id; }; };\n"
                       "env { tracer_name = \"openpla\"; domain = \"kernel\"; sysname = \"Windows\"; trace_name = ");
    add_quoted(b, x->title);
    text_buffer_format(
        b,
        "; };\nclock { name = trace_clock; description = \"time of the trace\"; freq = 1000000000; offset_s = "
        "%lld; offset = %lld; };\n",
        (long long)(since / second), (long long)(since % second * 100));
    text_buffer_add(
        b, "typealias integer { size = 64; align = 8; signed = false; map = clock.trace_clock.value; } := time;\n"
           "stream { id = 0;\n"
           "packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size; u64 "
           "packet_size; u32 cpu_id; };\n"
           "event.header := struct { u32 id; time timestamp; };\n"
           "event.context := struct { u32 _pid; u32 _tid; u16 _stack_length; address _stack[_stack_length]; };\n"
           "};\n");
    text_buffer_format(
        b,
        "event { name = \"sched_switch\"; id = %d; stream_id = 0; fields := struct { string _prev_comm; i32 "
        "_prev_tid; i32 _prev_prio; i64 _prev_state; string _prev_reason; string _next_comm; i32 _next_tid; i32 "
        "_next_prio; }; };\n",
        SCHED_SWITCH);
    text_buffer_format(b,
                       "event { name = \"sched_waking\"; id = %d; stream_id = 0; fields := struct { string _comm; i32 "
                       "_tid; }; };\n",
                       SCHED_WAKING);
    text_buffer_format(b,
                       "event { name = \"cpu_sample\"; id = %d; stream_id = 0; fields := struct { u64 _weight; string "
                       "_stack; }; };\n",
                       CPU_SAMPLE);
    text_buffer_format(b,
                       "event { name = \"counter\"; id = %d; stream_id = 0; fields := struct { string _name; string "
                       "_unit; real _value; }; };\n",
                       COUNTER);
    text_buffer_format(
        b,
        "event { name = \"undecoded\"; id = %d; stream_id = 0; fields := struct { string _event; u16 _id; "
        "u8 _version; u8 _opcode; string _data; }; };\n",
        UNDECODED);
}

static HRESULT end(struct export *x)
{
    struct ctf *c = x->of_format;
    struct stream *s;
    uint64_t key;
    HRESULT hr = S_OK;
    for (size_t at = 0; SUCCEEDED(hr) && (s = id_map_next(&c->streams, &at, &key));)
        hr = packet_write(s, (uint32_t)(key - 1));
    add_head(x);
    return SUCCEEDED(hr) ? export_column_copy(&c->columns, &c->declared, &x->out) : hr;
}

static void release(struct export *x)
{
    struct ctf *c = x->of_format;
    size_t at = 0;
    for (struct stream *s; (s = id_map_next(&c->streams, &at, NULL));) {
        file_close(s->file);
        memory_free(s->packet.bytes);
    }
    at = 0;
    for (struct ctf_class *class; (class = id_map_next(&c->classes, &at, NULL));)
        memory_free(class->fields);
    id_map_free(&c->streams);
    id_map_free(&c->classes);
    export_column_free(&c->declared);
    export_columns_close(&c->columns);
    text_buffer_free(&c->text);
    memory_free(c);
}

const struct export_format export_ctf = {.name = "ctf",
                                         .extension = "ctf",
                                         .folder = true,
                                         .begin = begin,
                                         .sample = sample,
                                         .switched = switched,
                                         .readied = readied,
                                         .counter = counter,
                                         .event = event,
                                         .end = end,
                                         .free = release};

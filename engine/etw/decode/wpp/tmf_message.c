/* SPDX-License-Identifier: MIT */
/* Creates the schema of a WPP message, and formats its text.

   In a format, %10 to %n are arguments, each with a printf form between exclamation marks ("%10!s!"). %0 is the prefix,
   which the reader adds. %1 to %9 are parts of the event's header. %!FUNC! and similar inserts are replaced with other
   data of the message in the TMF file (function, level, flags, component).

   There are two ways to format a message. Generic decoders use the schema, whose message has %1 for the first argument,
   in the syntax of FormatMessage. The schema ignores the printf forms, except that a hexadecimal form selects an output
   type. tmf_sentence formats exactly: it uses the copy of the format in schema->message and reads the values again from
   the event's data. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/etw/tmf.h"
#include "engine/logs/little_endian.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

enum { FIRST_ARGUMENT = 10, WIDTH_MOST = 256, PART_MOST = 32 };

/* An insert "%..." in a format. */
struct insert {
    const char *before; /* text before the insert, of `size` bytes */
    size_t size;
    uint32_t number; /* valid if `numbered` */
    bool numbered;
    char part[PART_MOST]; /* the text between the exclamation marks: a name such as FUNC, or a printf form */
};

/* Finds the next insert from *at on, and moves *at after it. False: only text remains. */
static bool next_insert(const char **at, struct insert *out)
{
    *out = (struct insert){.before = *at};
    const char *sign = strchr(*at, '%');
    if (!sign) {
        out->size = strlen(*at);
        *at += out->size;
        return false;
    }
    out->size = (size_t)(sign - *at);
    sign++;
    /* "%00x" is %0, followed by the text "0x" */
    while (*sign >= '0' && *sign <= '9' && !(out->numbered && !out->number)) {
        out->numbered = true;
        if (out->number < 100000)
            out->number = out->number * 10 + (uint32_t)(*sign - '0');
        sign++;
    }
    const char *end = *sign == '!' ? strchr(sign + 1, '!') : NULL;
    if (end && (size_t)(end - sign) <= PART_MOST - 1) {
        memcpy(out->part, sign + 1, (size_t)(end - sign - 1));
        sign = end + 1;
    } else if (!out->numbered) { /* "%%", or a percent sign that begins no insert */
        out->size++;
        sign += *sign == '%';
    }
    *at = sign;
    return true;
}

static const char *named_part(const struct tmf_message *m, const char *name)
{
    const struct {
        const char *name, *text;
    } parts[] = {{"FUNC", m->function},
                 {"LEVEL", m->level},
                 {"FLAGS", m->flags},
                 {"COMPNAME", m->component},
                 {"SUBCOMP", m->subcomponent}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(parts[i].name, name) == 0)
            return parts[i].text;
    return NULL;
}

/* ---- schema ---- */

static HRESULT add_names(const struct tmf_argument *a, struct event_schema *s, struct event_property *p)
{
    struct event_map *map = &s->maps[s->map_count++];
    map->flag = a->item->form == TMF_FORM_SET ? MAP_MOF_BITS : MAP_MOF_VALUES;
    map->name = text_format("%s.%u", a->item_name, (unsigned)a->number);
    p->map = map->name ? text_copy(map->name) : NULL;
    map->entries = memory_zero(a->list.count, sizeof *map->entries);
    if (!p->map || !map->entries)
        return E_OUTOFMEMORY;
    for (; map->count < a->list.count; map->count++) {
        map->entries[map->count] =
            (struct event_map_entry){.value = (uint32_t)map->count, .text = text_copy(a->list.items[map->count])};
        if (!map->entries[map->count].text)
            return E_OUTOFMEMORY;
    }
    return S_OK;
}

/* Returns whether the format shows this argument as a hexadecimal number. */
static bool wants_hexadecimal(const struct tmf_message *m, uint32_t number)
{
    struct insert i;
    for (const char *at = m->format; next_insert(&at, &i);)
        if (i.numbered && i.number == number && i.part[0] && strchr("xX", i.part[strlen(i.part) - 1]))
            return true;
    return false;
}

static HRESULT add_property(const struct tmf_message *m, const struct tmf_argument *a, struct event_schema *s)
{
    struct event_property *p = &s->properties[s->property_count++];
    s->top_level = s->property_count;
    *p = (struct event_property){.name = text_copy(a->name), .count = 1};
    if (!p->name)
        return E_OUTOFMEMORY;
    if (!a->item)
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                         "cannot decode message %u of %s: '%s': unknown argument type '%s'", m->number, m->guid_name,
                         a->name, a->item_name);
    p->in_type = a->item->in;
    p->out_type = a->item->out;
    p->length = a->item->length;
    p->flags = a->item->length ? PROPERTY_FIXED_LENGTH : 0;
    if (a->item->form == TMF_FORM_NUMBER && !p->out_type && p->in_type != IN_TYPE_POINTER &&
        wants_hexadecimal(m, a->number))
        p->out_type = (uint16_t)(OUT_TYPE_HEXINT8 + (p->in_type - IN_TYPE_INT8) / 2);
    return a->list.count ? add_names(a, s, p) : S_OK;
}

/* Converts the format to a message in which the first argument is %1. */
static char *message_of(const struct tmf_message *m)
{
    struct text_buffer out = {0};
    struct insert i;
    const char *at = m->format;
    for (bool more = true; more;) {
        more = next_insert(&at, &i);
        /* Percent signs in the text are doubled, as FormatMessage requires. */
        for (size_t c = 0; c < i.size; c++)
            text_buffer_add_n(&out, i.before[c] == '%' ? "%%" : &i.before[c], i.before[c] == '%' ? 2 : 1);
        size_t index = 0;
        while (index < m->argument_count && m->arguments[index].number != i.number)
            index++;
        if (more && i.numbered && index < m->argument_count) {
            /* Remove the format's "0x", because the text of a hexadecimal value begins with one. */
            if (out.length >= 2 && wants_hexadecimal(m, i.number) && memcmp(out.text + out.length - 2, "0x", 2) == 0)
                out.text[out.length -= 2] = '\0';
            text_buffer_format(&out, "%%%zu", index + 1);
        } else if (more && !i.numbered && i.part[0]) {
            text_buffer_add(&out, named_part(m, i.part));
        }
    }
    return text_buffer_take(&out);
}

static bool copy_text(char **to, const char *text)
{
    *to = text_copy(text);
    return *to;
}

/* Copies everything that formatting the message needs. The names of the arguments are omitted, because the schema has
   them. */
static struct tmf_message *copy_message(const struct tmf_message *m)
{
    struct tmf_message *to = memory_zero(1, sizeof *to);
    if (!to)
        return NULL;
    to->guid = m->guid;
    to->number = m->number;
    to->line = m->line;
    to->arguments = memory_zero(m->argument_count + 1, sizeof *to->arguments);
    if (to->arguments && copy_text(&to->guid_name, m->guid_name) && copy_text(&to->type_name, m->type_name) &&
        copy_text(&to->format, m->format) && copy_text(&to->function, m->function) && copy_text(&to->level, m->level) &&
        copy_text(&to->flags, m->flags) && copy_text(&to->component, m->component) &&
        copy_text(&to->subcomponent, m->subcomponent)) {
        for (; to->argument_count < m->argument_count; to->argument_count++)
            to->arguments[to->argument_count] = (struct tmf_argument){.number = m->arguments[to->argument_count].number,
                                                                      .item = m->arguments[to->argument_count].item};
        return to;
    }
    tmf_message_clear(to);
    memory_free(to);
    return NULL;
}

static HRESULT fill_schema(const struct tmf_message *m, struct event_schema *s)
{
    size_t maps = 0;
    for (size_t i = 0; i < m->argument_count; i++)
        maps += m->arguments[i].list.count != 0;
    s->source = SCHEMA_WPP;
    s->provider = m->guid;
    s->descriptor.Id = m->number;
    s->provider_name = text_copy(m->guid_name);
    s->event_name = text_copy(m->type_name);
    s->task_name = text_copy(m->function);
    s->level_name = text_copy(m->level);
    s->event_message = message_of(m);
    s->message = copy_message(m);
    s->properties = memory_zero(m->argument_count + 1, sizeof *s->properties);
    s->maps = memory_zero(maps + 1, sizeof *s->maps);
    if (!s->provider_name || !s->event_name || !s->task_name || !s->level_name || !s->event_message || !s->message ||
        !s->properties || !s->maps)
        return E_OUTOFMEMORY;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < m->argument_count; i++)
        hr = add_property(m, &m->arguments[i], s);
    return SUCCEEDED(hr) ? event_schema_check(s) : hr;
}

HRESULT tmf_schema(const struct tmf_message *m, struct event_schema **out)
{
    struct event_schema *s = memory_zero(1, sizeof *s);
    HRESULT hr = s ? fill_schema(m, s) : E_OUTOFMEMORY;
    *out = NULL;
    if (FAILED(hr)) {
        event_schema_free(s);
        return hr;
    }
    *out = s;
    return S_OK;
}

HRESULT tmf_schema_prefix(struct event_schema *schema, const char *prefix)
{
    struct text_buffer b = {0};
    struct insert i;
    const char *at = schema->message->format;
    for (bool more = true; more;) {
        const char *from = at;
        more = next_insert(&at, &i);
        const bool here = more && i.numbered && i.number == 0;
        text_buffer_add_n(&b, from, here ? i.size : (size_t)(at - from));
        text_buffer_add(&b, here ? prefix : "");
    }
    char *format = text_buffer_take(&b);
    if (!format)
        return E_OUTOFMEMORY;
    memory_free(schema->message->format);
    schema->message->format = format;
    return S_OK;
}

/* ---- text ---- */

/* The parts of a printf form such as "-08.3I64x". */
struct form {
    bool minus, zero, plus, blank, sharp;
    int width, precision; /* precision -1: not given */
    char conversion;      /* '\0': not given */
};

static int form_number(const char **at)
{
    int value = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        value = value < WIDTH_MOST ? value * 10 + (**at - '0') : WIDTH_MOST;
    return value < WIDTH_MOST ? value : WIDTH_MOST;
}

static struct form read_form(const char *at)
{
    struct form f = {.precision = -1};
    for (; *at && strchr("-0+ #", *at); at++) {
        f.minus = f.minus || *at == '-';
        f.zero = f.zero || *at == '0';
        f.plus = f.plus || *at == '+';
        f.blank = f.blank || *at == ' ';
        f.sharp = f.sharp || *at == '#';
    }
    f.width = form_number(&at);
    if (*at == '.') {
        at++;
        f.precision = form_number(&at);
    }
    /* The item's type determines the size, so the size prefix is skipped. */
    while (*at && (strchr("hlLwIzjt", *at) || (*at >= '0' && *at <= '9')))
        at++;
    f.conversion = *at;
    return f;
}

static void add_padded(struct text_buffer *out, const struct form *f, const char *text, bool number)
{
    size_t length = strlen(text), characters = 0, most = f->precision >= 0 && !number ? (size_t)f->precision : SIZE_MAX;
    size_t bytes = 0;
    while (bytes < length && characters < most) {
        bytes++;
        while (bytes < length && ((unsigned char)text[bytes] & 0xC0) == 0x80)
            bytes++;
        characters++;
    }
    const size_t blanks = (size_t)f->width > characters ? (size_t)f->width - characters : 0;
    for (size_t i = 0; !f->minus && i < blanks; i++)
        text_buffer_add(out, " ");
    text_buffer_add_n(out, text, bytes);
    for (size_t i = 0; f->minus && i < blanks; i++)
        text_buffer_add(out, " ");
}

/* Appends the number, with leading zeros if it has fewer than `least` digits. If the form requests padding with zeros,
   the number is padded with zeros to the width of the form. */
static void add_digits(struct text_buffer *out, const struct form *f, const char *sign, const char *digits, int least,
                       bool zeros)
{
    char text[WIDTH_MOST + 512];
    const int length = (int)strlen(digits);
    if (zeros && f->zero && !f->minus)
        least = f->width - (int)strlen(sign);
    snprintf(text, sizeof text, "%s", sign);
    size_t at = strlen(text);
    for (int i = length; i < least; i++)
        text[at++] = '0';
    memcpy(text + at, digits, (size_t)length + 1);
    add_padded(out, f, text, true);
}

/* Formats a 64-bit number as printf does. */
static void add_number(struct text_buffer *out, const struct form *f, uint64_t value, bool is_signed, size_t bytes)
{
    char digits[32];
    const bool decimal = !f->conversion || strchr("diu", f->conversion) != NULL;
    const bool negative = decimal && f->conversion != 'u' && is_signed && (int64_t)value < 0;
    if (bytes < 8 && !negative)
        value &= (UINT64_C(1) << 8 * bytes) - 1;
    const unsigned long long magnitude = negative ? 0 - value : value;
    if (decimal)
        snprintf(digits, sizeof digits, "%llu", magnitude);
    else
        snprintf(digits, sizeof digits,
                 f->conversion == 'x'   ? "%llx"
                 : f->conversion == 'o' ? "%llo"
                                        : "%llX",
                 magnitude);
    const char *sign = negative ? "-" : decimal && f->plus ? "+" : decimal && f->blank ? " " : "";
    if (f->sharp && value && (f->conversion | 0x20) == 'x')
        sign = f->conversion == 'x' ? "0x" : "0X";
    add_digits(out, f, sign, digits, f->precision > 0 ? f->precision : 1, f->precision < 0);
}

static void add_real_form(struct text_buffer *out, const struct form *f, double value)
{
    char digits[400];
    const int precision = f->precision >= 0 && f->precision < 60 ? f->precision : 6;
    const char *sign = signbit(value) ? "-" : f->plus ? "+" : f->blank ? " " : "";
    value = fabs(value);
    if (f->conversion == 'e' || f->conversion == 'E')
        snprintf(digits, sizeof digits, f->conversion == 'e' ? "%.*e" : "%.*E", precision, value);
    else if (f->conversion == 'g' || f->conversion == 'G')
        snprintf(digits, sizeof digits, f->conversion == 'g' ? "%.*g" : "%.*G", precision, value);
    else
        snprintf(digits, sizeof digits, "%.*f", precision, value);
    add_digits(out, f, sign, digits, 1, isfinite(value));
}

static void add_time(struct text_buffer *out, const struct form *f, int64_t filetime, bool gmt)
{
    char text[40];
    const struct calendar_time p = clock_calendar(gmt ? filetime : clock_utc_to_local(filetime));
    /* This is the format that tracefmt's documentation shows for times. */
    snprintf(text, sizeof text, "%02d/%02d/%04d-%02d:%02d:%02d.%03d", p.month, p.day, p.year, p.hour, p.minute,
             p.second, p.millisecond);
    add_padded(out, f, text, false);
}

static void add_span(struct text_buffer *out, const struct form *f, int64_t span)
{
    char text[48];
    const uint64_t u = span < 0 ? 0 - (uint64_t)span : (uint64_t)span, ms = u / 10000;
    snprintf(text, sizeof text, "%s%llu~%02u:%02u:%02u.%03u", span < 0 ? "-" : "", (unsigned long long)(ms / 86400000),
             (unsigned)(ms / 3600000 % 24), (unsigned)(ms / 60000 % 60), (unsigned)(ms / 1000 % 60),
             (unsigned)(ms % 1000));
    add_padded(out, f, text, false);
}

/* The values of the arguments of an event. */
struct found_values {
    const struct tmf_message *message;
    const struct event_schema *schema;
    struct event_value *values;
    size_t count;
};

static HRESULT keep_value(void *context, enum event_step step, const struct event_value *v)
{
    struct found_values *found = context;
    if (step == STEP_VALUE)
        found->values[found->count++] = *v;
    return S_OK;
}

static HRESULT add_argument(const struct found_values *found, size_t index, const char *part, bool gmt,
                            struct text_buffer *out)
{
    const struct tmf_item *item = found->message->arguments[index].item;
    const struct event_value *v = &found->values[index];
    const struct form f = read_form(part);
    uint64_t number = 0;
    HRESULT hr = S_OK;
    if (v->type.in == IN_TYPE_POINTER) {
        number = v->size == 4 ? get_u32(v->bytes) : get_u64(v->bytes);
        const struct form pointer = {.zero = true, .width = (int)(2 * v->size), .precision = -1, .conversion = 'X'};
        add_number(out, f.conversion && f.conversion != 'p' ? &f : &pointer, number, false, v->size);
        return S_OK;
    }
    if (item->form == TMF_FORM_NUMBER && f.conversion != 's') {
        if (value_number(v->type.in, v->bytes, v->size, &number) && f.conversion != 'c')
            add_number(out, &f, number, (v->type.in - IN_TYPE_INT8) % 2 == 0, v->size);
        else
            add_padded(out, &f, (const char[]){(char)(number >= ' ' && number < 0x7F ? number : '.'), '\0'}, false);
        return S_OK;
    }
    if (item->form == TMF_FORM_REAL) {
        float small = 0;
        double value = 0;
        if (v->size == sizeof small)
            memcpy(&small, v->bytes, sizeof small);
        else
            memcpy(&value, v->bytes, sizeof value);
        add_real_form(out, &f, v->size == sizeof small ? (double)small : value);
        return S_OK;
    }
    if (item->form == TMF_FORM_TIME || item->form == TMF_FORM_SPAN) {
        const int64_t time = (int64_t)get_u64(v->bytes);
        if (item->form == TMF_FORM_TIME)
            add_time(out, &f, time, gmt);
        else
            add_span(out, &f, time);
        return S_OK;
    }
    struct text_buffer text = {0};
    hr = event_value_text(found->schema, v, &text);
    for (size_t i = 0; item->form == TMF_FORM_ONE_LINE && i < text.length; i++)
        if (text.text[i] == '\n' || text.text[i] == '\r')
            text.text[i] = ' ';
    while (item->form == TMF_FORM_ONE_LINE && text.length && text.text[text.length - 1] == ' ')
        text.text[--text.length] = '\0';
    if (SUCCEEDED(hr))
        add_padded(out, &f, text.text ? text.text : "", false);
    hr = text.failed ? E_OUTOFMEMORY : hr;
    text_buffer_free(&text);
    return hr;
}

bool tmf_sequence(const EVENT_RECORD *event, uint32_t *number)
{
    const EVENT_HEADER_EXTENDED_DATA_ITEM *item = event_item(event, TMF_ITEM_SEQUENCE);
    if (!item || item->DataSize != sizeof *number)
        return false;
    *number = get_u32((const void *)(uintptr_t)item->DataPtr);
    return true;
}

/* Appends the part of the header that %1 to %9 stand for. */
static void add_header_part(const struct tmf_message *m, const EVENT_RECORD *event, const struct insert *i, bool gmt,
                            struct text_buffer *out)
{
    const EVENT_HEADER *h = &event->EventHeader;
    const struct form f = read_form(i->part);
    uint32_t number = 0;
    switch (i->number) {
    case 1:
        add_padded(out, &f, m->guid_name, false);
        break;
    case 2:
        add_padded(out, &f, m->type_name, false);
        break;
    case 3:
        add_number(out, &f, h->ThreadId, false, 4);
        break;
    case 4:
        add_time(out, &(struct form){.width = f.width, .precision = -1}, h->TimeStamp.QuadPart, gmt);
        break;
    case 5:
        add_number(out, &f, h->KernelTime, false, 4);
        break;
    case 6:
        add_number(out, &f, h->UserTime, false, 4);
        break;
    case 7:
        (void)tmf_sequence(event, &number);
        add_number(out, &f, number, false, 4);
        break;
    case 8:
        add_number(out, &f, h->ProcessId, false, 4);
        break;
    case 9:
        add_number(out, &f, event->BufferContext.ProcessorIndex, false, 2);
        break;
    default: /* %0 stands for the prefix, which the reader of the message adds itself */
        break;
    }
}

static HRESULT add_text(const struct found_values *found, const EVENT_RECORD *event, bool gmt, struct text_buffer *out)
{
    const struct tmf_message *m = found->message;
    const char *at = m->format;
    struct insert i;
    HRESULT hr = S_OK;
    for (bool more = true; SUCCEEDED(hr) && more;) {
        more = next_insert(&at, &i);
        text_buffer_add_n(out, i.before, i.size);
        if (more && i.numbered && i.number < FIRST_ARGUMENT) {
            add_header_part(m, event, &i, gmt, out);
        } else if (more && i.numbered) {
            size_t index = 0;
            while (index < m->argument_count && m->arguments[index].number != i.number)
                index++;
            if (index < m->argument_count && index < found->count)
                hr = add_argument(found, index, i.part, gmt, out);
            else
                text_buffer_format(out, "%%%u", (unsigned)i.number); /* no such argument: the text keeps the insert */
        } else if (more && i.part[0]) {
            const char *part = named_part(m, i.part);
            text_buffer_format(out, part ? "%s" : "%%!%s!", part ? part : i.part);
        }
    }
    return SUCCEEDED(hr) && out->failed ? E_OUTOFMEMORY : hr;
}

HRESULT tmf_sentence(const struct event_schema *schema, const EVENT_RECORD *event, uint32_t pointer_size, bool gmt,
                     struct text_buffer *out)
{
    struct found_values found = {.message = schema->message, .schema = schema};
    const struct event_data data = event_data_of(event, pointer_size);
    found.values = memory_zero(schema->message->argument_count + 1, sizeof *found.values);
    HRESULT hr = found.values ? event_values_walk(schema, &data, keep_value, &found, NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = add_text(&found, event, gmt, out);
    memory_free(found.values);
    return hr;
}

/* SPDX-License-Identifier: MIT */
/* Implements the columns of event tables: which events a column selects, and which value of an event it shows. */
#include "engine/base/memory.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"
#include "engine/report/events/event_cell.h"

#include <string.h>

/* Bits of EVENT_HEADER.Flags. HEADER_PRIVATE_SESSION: both words of processor time together are one number, in units of
   the session's clock. HEADER_NO_CPU_TIME: the event has no processor time. */
enum { HEADER_PRIVATE_SESSION = 2, HEADER_NO_CPU_TIME = 0x10 };
enum { NO_PLACE = UINT16_MAX };

struct event_field event_field_of(const struct schema_field *said, enum schema_out_type out)
{
    static const uint16_t numbers[] = {
        [OUT_STRING] = OUT_TYPE_STRING,
        [OUT_DATE_TIME] = OUT_TYPE_DATETIME,
        [OUT_BYTE] = OUT_TYPE_BYTE,
        [OUT_UNSIGNED_BYTE] = OUT_TYPE_UNSIGNEDBYTE,
        [OUT_SHORT] = OUT_TYPE_SHORT,
        [OUT_UNSIGNED_SHORT] = OUT_TYPE_UNSIGNEDSHORT,
        [OUT_INT] = OUT_TYPE_INT,
        [OUT_UNSIGNED_INT] = OUT_TYPE_UNSIGNEDINT,
        [OUT_LONG] = OUT_TYPE_LONG,
        [OUT_UNSIGNED_LONG] = OUT_TYPE_UNSIGNEDLONG,
        [OUT_FLOAT] = OUT_TYPE_FLOAT,
        [OUT_DOUBLE] = OUT_TYPE_DOUBLE,
        [OUT_BOOLEAN] = OUT_TYPE_BOOLEAN,
        [OUT_GUID] = OUT_TYPE_GUID,
        [OUT_HEX_BINARY] = OUT_TYPE_HEXBINARY,
        [OUT_HEX_INT8] = OUT_TYPE_HEXINT8,
        [OUT_HEX_INT16] = OUT_TYPE_HEXINT16,
        [OUT_HEX_INT32] = OUT_TYPE_HEXINT32,
        [OUT_HEX_INT64] = OUT_TYPE_HEXINT64,
        [OUT_PID] = OUT_TYPE_PID,
        [OUT_TID] = OUT_TYPE_TID,
        [OUT_PORT] = OUT_TYPE_PORT,
        [OUT_IPV4] = OUT_TYPE_IPV4,
        [OUT_IPV6] = OUT_TYPE_IPV6,
        [OUT_SOCKET_ADDRESS] = OUT_TYPE_SOCKETADDRESS,
        [OUT_CIM_DATE_TIME] = OUT_TYPE_CIMDATETIME,
        [OUT_XML] = OUT_TYPE_XML,
        [OUT_ERROR_CODE] = OUT_TYPE_ERRORCODE,
    };
    return (struct event_field){said->system, said->name, out != OUT_NONE, numbers[out]};
}

void event_field_set_free(struct event_fields *f)
{
    text_buffer_free(&f->texts);
}

/* ---- finding properties ---- */

static bool is_named(const char *name, const char *part, size_t size)
{
    char own[256];
    if (size >= sizeof own)
        return false;
    memcpy(own, part, size);
    own[size] = 0;
    return text_equal_nocase(name, own);
}

/* Returns the last part of a path. */
static const char *leaf_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

static uint16_t place_of(const struct event_schema *s, const char *path)
{
    uint16_t first = 0, count = s->top_level;
    for (const char *part = path;;) {
        const char *dot = strchr(part, '.');
        const size_t size = dot ? (size_t)(dot - part) : strlen(part);
        uint16_t i = 0;
        while (i < count && !(first + i < s->property_count && is_named(s->properties[first + i].name, part, size)))
            i++;
        if (i == count)
            return NO_PLACE;
        const struct event_property *p = &s->properties[first + i];
        if (!dot)
            return (p->flags & PROPERTY_STRUCT) != 0 ? NO_PLACE : (uint16_t)(first + i);
        if ((p->flags & PROPERTY_STRUCT) == 0)
            return NO_PLACE;
        first = p->first_member;
        count = p->members;
        part = dot + 1;
    }
}

/* Returns whether `places` is valid for this schema. A new schema may have the address of the previous one, so names
   are compared too. */
static bool places_hold(const struct event_fields *f, const struct event_schema *s)
{
    if (!s || s != f->schema)
        return false;
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].system == SYS_NONE && f->places[i] != NO_PLACE &&
            (f->places[i] >= s->property_count ||
             !text_equal_nocase(s->properties[f->places[i]].name, leaf_of(f->items[i].name))))
            return false;
    return f->missing == f->count;
}

static void find_places(struct event_fields *f, const struct event_schema *s)
{
    f->schema = s;
    f->last_place = 0;
    f->wanted = 0;
    f->missing = f->count;
    for (size_t i = 0; i < f->count; i++) {
        f->places[i] = NO_PLACE;
        if (f->items[i].system != SYS_NONE)
            continue;
        f->wanted++;
        f->places[i] = s ? place_of(s, f->items[i].name) : (uint16_t)NO_PLACE;
        if (f->places[i] == NO_PLACE)
            f->missing = f->missing < i ? f->missing : i;
        else if (f->places[i] > f->last_place)
            f->last_place = f->places[i];
    }
}

/* ---- values ---- */

struct taking {
    struct event_fields *f;
    const struct dumped_event *e;
    struct event_cell *cells;
};

static void begin_text(struct event_fields *f, size_t field)
{
    f->spans[field].at = f->texts.length;
}

static void end_text(struct event_fields *f, size_t field)
{
    f->spans[field].length = f->texts.length - f->spans[field].at;
    f->spans[field].has = true;
}

static bool is_time(uint16_t in, uint16_t out, size_t size)
{
    return in == IN_TYPE_FILETIME ||
           (size == 8 && (out == OUT_TYPE_DATETIME || out == OUT_TYPE_CULTURE_INSENSITIVE_DATETIME ||
                          out == OUT_TYPE_DATETIME_UTC || out == OUT_TYPE_ETWTIME));
}

/* Returns whether the type shows the number as digits. */
static bool shows_digits(const struct value_type *t)
{
    if (t->in == IN_TYPE_HEXINT32 || t->in == IN_TYPE_HEXINT64 || t->in == IN_TYPE_POINTER || t->in == IN_TYPE_SIZET)
        return (t->out >= OUT_TYPE_BYTE && t->out <= OUT_TYPE_DOUBLE) || t->out == OUT_TYPE_PID ||
               t->out == OUT_TYPE_TID;
    return t->out == OUT_TYPE_NULL || (t->out >= OUT_TYPE_BYTE && t->out <= OUT_TYPE_DOUBLE) ||
           t->out == OUT_TYPE_PID || t->out == OUT_TYPE_TID || t->out == OUT_TYPE_NOPRINT;
}

static uint64_t big_endian(const uint8_t *bytes, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number = number << 8 | bytes[i];
    return number;
}

/* Returns the number that represents the value in sorting and sums. If the value is a text, returns an empty cell. */
static struct event_cell number_cell(const struct value_type *t, const uint8_t *bytes, size_t size)
{
    uint64_t number;
    float small;
    double large;
    if (t->in == IN_TYPE_FLOAT && size == 4) {
        memcpy(&small, bytes, sizeof small);
        return event_cell_real((double)small);
    }
    if (t->in == IN_TYPE_DOUBLE && size == 8) {
        memcpy(&large, bytes, sizeof large);
        return event_cell_real(large);
    }
    if (t->in == IN_TYPE_POINTER || t->in == IN_TYPE_SIZET)
        return size == 4   ? event_cell_unsigned(get_u32(bytes))
               : size == 8 ? event_cell_unsigned(get_u64(bytes))
                           : (struct event_cell){0};
    if (t->in == IN_TYPE_BOOLEAN && size == 4)
        return event_cell_unsigned(get_u32(bytes) != 0);
    if (t->in == IN_TYPE_FILETIME && size == 8)
        return event_cell_signed((int64_t)get_u64(bytes));
    if (t->out == OUT_TYPE_STRING || !value_number(t->in, bytes, size, &number))
        return (struct event_cell){0};
    if ((t->out == OUT_TYPE_PORT && size == 2) || (t->out == OUT_TYPE_IPV4 && size == 4))
        return event_cell_unsigned(big_endian(bytes, size)); /* in network byte order */
    const bool is_signed =
        t->in == IN_TYPE_INT8 || t->in == IN_TYPE_INT16 || t->in == IN_TYPE_INT32 || t->in == IN_TYPE_INT64;
    const uint64_t own = size < 8 ? number & ((1ull << 8 * size) - 1) : number;
    const bool wants_sign =
        t->out == OUT_TYPE_BYTE || t->out == OUT_TYPE_SHORT || t->out == OUT_TYPE_INT || t->out == OUT_TYPE_LONG;
    const bool wants_none = t->out == OUT_TYPE_UNSIGNEDBYTE || t->out == OUT_TYPE_UNSIGNEDSHORT ||
                            t->out == OUT_TYPE_UNSIGNEDINT || t->out == OUT_TYPE_UNSIGNEDLONG;
    if (wants_sign && size < 8)
        return event_cell_signed((int64_t)(own << (64 - 8 * size)) >> (64 - 8 * size));
    return wants_none || (!is_signed && !wants_sign) ? event_cell_unsigned(own) : event_cell_signed((int64_t)number);
}

static HRESULT take_value(struct taking *t, size_t field, const struct event_value *value)
{
    struct event_fields *f = t->f;
    struct event_value v = *value;
    struct event_cell *cell = &t->cells[field];
    HRESULT hr = S_OK;
    if (f->items[field].has_out)
        v.type.out = f->items[field].out;
    const struct event_map *map =
        v.property->map && !f->items[field].has_out ? event_schema_map(t->e->schema, v.property->map) : NULL;
    *cell = number_cell(&v.type, v.bytes, v.size);
    const bool port = v.type.out == OUT_TYPE_PORT && v.size == 2;
    if (v.array) { /* all elements become one text, so the cell is not a number */
        if (f->spans[field].has)
            text_buffer_add(&f->texts, ",");
        else
            begin_text(f, field);
        *cell = (struct event_cell){.kind = CELL_TEXT};
    } else if (event_cell_is_number(cell) && !map &&
               (port || (shows_digits(&v.type) && !is_time(v.type.in, v.type.out, v.size)) ||
                v.type.in == IN_TYPE_FLOAT || v.type.in == IN_TYPE_DOUBLE)) {
        return S_OK;
    } else {
        begin_text(f, field);
        if (cell->kind == CELL_EMPTY)
            cell->kind = CELL_TEXT;
    }
    hr = map ? event_value_text(t->e->schema, &v, &f->texts)
             : value_text(&v.type, NULL, v.bytes, v.size, &f->texts, NULL);
    end_text(f, field);
    return hr;
}

/* If the event has an array of structures, only the first structure is used. */
static HRESULT event_fields_visit(void *context, enum event_step step, const struct event_value *v)
{
    struct taking *t = context;
    struct event_fields *f = t->f;
    HRESULT hr = S_OK;
    for (size_t i = 0; step == STEP_VALUE && i < f->count && SUCCEEDED(hr); i++) {
        if (f->items[i].system != SYS_NONE || f->places[i] != v->index ||
            (t->cells[i].kind != CELL_EMPTY && !(v->array && v->element != 0)))
            continue;
        hr = take_value(t, i, v);
        if (v->array)
            break; /* following elements are appended to this text; share_arrays copies the text to other columns of
                      the same field */
    }
    if (hr != S_OK)
        return hr;
    /* Fields after the last requested one are not decoded. */
    return v->depth == 0 && v->index >= f->last_place && (step == STEP_ARRAY_END || (step == STEP_VALUE && !v->array))
               ? S_FALSE
               : S_OK;
}

/* ---- the header ---- */

bool event_processor_ms(const struct dumped_event *e, double *kernel, double *user)
{
    const EVENT_HEADER *h = &e->record->EventHeader;
    if ((h->Flags & (HEADER_PRIVATE_SESSION | HEADER_NO_CPU_TIME)) != 0 || e->timer_resolution == 0)
        return false;
    *kernel = (double)h->KernelTime * e->timer_resolution / 10000;
    *user = (double)h->UserTime * e->timer_resolution / 10000;
    return true;
}

static void add_name(struct event_fields *f, size_t field, const char *name, struct event_cell *cell)
{
    begin_text(f, field);
    text_buffer_add(&f->texts, name);
    end_text(f, field);
    cell->kind = CELL_TEXT;
}

static void add_guid_text(struct event_fields *f, size_t field, const GUID *guid, struct event_cell *cell)
{
    begin_text(f, field);
    text_buffer_add_guid(&f->texts, guid);
    end_text(f, field);
    cell->kind = CELL_TEXT;
}

/* A value with a name is shown as the name, unless the column's outType requests a number. */
static void take_named(struct event_fields *f, size_t field, const char *name, uint64_t number, struct event_cell *cell)
{
    const struct event_field *wanted = &f->items[field];
    *cell = event_cell_unsigned(number);
    if (name && !(wanted->has_out && wanted->out >= OUT_TYPE_BYTE && wanted->out <= OUT_TYPE_DOUBLE))
        add_name(f, field, name, cell);
}

static void take_number(struct event_fields *f, size_t field, uint64_t number, size_t size, struct event_cell *cell)
{
    const struct value_type type = {
        .in = size == 8 ? IN_TYPE_UINT64 : IN_TYPE_UINT32, .out = f->items[field].out, .pointer_size = 8};
    uint8_t bytes[8];
    put_u64(bytes, number);
    *cell = event_cell_unsigned(number);
    if (!f->items[field].has_out || shows_digits(&type))
        return;
    begin_text(f, field);
    if (is_time(type.in, type.out, size))
        add_filetime(&f->texts, (int64_t)number);
    else
        (void)value_text(&type, NULL, bytes, size, &f->texts, NULL); /* cannot fail: the bytes are complete */
    end_text(f, field);
}

static void take_header(struct event_fields *f, size_t field, const struct dumped_event *e, struct event_cell *cell)
{
    static const GUID none;
    const EVENT_HEADER *h = &e->record->EventHeader;
    const struct event_schema *s = e->schema;
    double kernel, user;
    switch (f->items[field].system) {
    case SYS_Opcode:
        take_named(f, field, s ? s->opcode_name : NULL, h->EventDescriptor.Opcode, cell);
        break;
    case SYS_Task:
        take_named(f, field, s ? s->task_name : NULL, h->EventDescriptor.Task, cell);
        break;
    case SYS_ProviderName:
        if (s && s->provider_name)
            add_name(f, field, s->provider_name, cell);
        else
            add_guid_text(f, field, &h->ProviderId, cell);
        break;
    case SYS_TID:
        take_number(f, field, h->ThreadId, 4, cell);
        break;
    case SYS_PID:
        take_number(f, field, h->ProcessId, 4, cell);
        break;
    case SYS_Timestamp:
        take_number(f, field, (uint64_t)h->TimeStamp.QuadPart, 8, cell);
        break;
    case SYS_KCPU:
    case SYS_UCPU:
        if (event_processor_ms(e, &kernel, &user))
            *cell = event_cell_real(f->items[field].system == SYS_KCPU ? kernel : user);
        break;
    case SYS_ActivityId:
        if (!guid_equal(&h->ActivityId, &none))
            add_guid_text(f, field, &h->ActivityId, cell);
        break;
    default: /* the table computes the other fields */
        break;
    }
}

static void share_arrays(struct event_fields *f, struct event_cell *cells)
{
    for (size_t i = 1; i < f->count; i++)
        for (size_t j = 0; j < i && f->items[i].system == SYS_NONE && cells[i].kind == CELL_EMPTY; j++)
            if (f->items[j].system == SYS_NONE && f->places[j] == f->places[i] && f->spans[j].has) {
                cells[i] = cells[j];
                f->spans[i] = f->spans[j];
            }
}

HRESULT event_fields_take(struct event_fields *f, const struct dumped_event *e, struct event_cell *cells)
{
    struct taking t = {f, e, cells};
    HRESULT hr = S_OK;
    f->texts.length = 0;
    text_buffer_add(&f->texts, "");
    if (!places_hold(f, e->schema))
        find_places(f, e->schema);
    for (size_t i = 0; i < f->count; i++) {
        cells[i] = (struct event_cell){0};
        f->spans[i].has = false;
        if (f->items[i].system != SYS_NONE)
            take_header(f, i, e, &cells[i]);
    }
    if (f->wanted && !e->schema)
        return S_FALSE;
    if (f->wanted) {
        const struct event_data data = event_data_of(e->record, e->pointer_size);
        hr = event_values_walk(e->schema, &data, event_fields_visit, &t, NULL);
    }
    if (f->texts.failed) {
        text_buffer_free(&f->texts); /* a buffer that has failed must be freed before it is used again */
        return E_OUTOFMEMORY;
    }
    share_arrays(f, cells);
    for (size_t i = 0; i < f->count; i++)
        if (f->spans[i].has) {
            cells[i].text = f->texts.text + f->spans[i].at;
            cells[i].length = f->spans[i].length;
            const char *end = memchr(cells[i].text, 0, cells[i].length);
            if (end)
                cells[i].length = (size_t)(end - cells[i].text);
        }
    return FAILED(hr) ? hr : S_OK;
}

bool event_source_has(const struct event_source *s, const EVENT_RECORD *record)
{
    static const GUID any;
    const EVENT_HEADER *h = &record->EventHeader;
    const bool classic = (h->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0;
    if (guid_equal(&s->said->guid, &any) ? report_event_is_of_log(record) : !guid_equal(&s->said->guid, &h->ProviderId))
        return false;
    return s->said->any_event || s->said->id == (classic ? h->EventDescriptor.Opcode : h->EventDescriptor.Id);
}

char *event_table_place(const struct schema_table *table)
{
    return text_format("%s: line %u: table %s", table->file ? table->file : "schema", table->line, table->name);
}

static bool is_same_source(const struct schema_field *a, const struct schema_field *b)
{
    return guid_equal(&a->guid, &b->guid) && a->any_event == b->any_event && (a->any_event || a->id == b->id);
}

static HRESULT find_source(struct event_columns *c, const struct schema_field *field, size_t *at)
{
    for (*at = 0; *at < c->source_count; (*at)++)
        if (is_same_source(c->sources[*at].said, field))
            return S_OK;
    if (c->source_count == EVENT_SOURCES)
        return error_set(E_INVALIDARG, "its columns use more than %d event sources", EVENT_SOURCES);
    c->sources[c->source_count++] = (struct event_source){.said = field};
    return S_OK;
}

static bool counts_events(const struct schema_field *field)
{
    return field->system == SYS_RequestRate || field->system == SYS_AggregateCount;
}

static HRESULT add_columns(struct event_columns *c, const struct schema_columns *from)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < from->count && SUCCEEDED(hr); i++) {
        struct event_column *to = &c->items[c->count++];
        to->said = &from->items[i];
        to->field = event_field_of(&to->said->field, to->said->out_type);
        to->sum = NO_SUM;
        c->grouped |= to->said->group_by || to->said->field.aggregate || counts_events(&to->said->field);
        hr = find_source(c, &to->said->field, &to->source);
    }
    return hr;
}

/* The columns of a join use only the two sources of the join. The columns of a transaction use at most two sources
   (MS-PLA 2.2.3.3). */
static HRESULT check_sources(const struct schema_event_table *t, struct event_columns *c)
{
    if (t->transaction && c->source_count > 2)
        return error_set(E_INVALIDARG, "its columns use %zu event sources, but a transaction needs two",
                         c->source_count);
    for (size_t i = 0; t->joined && i < c->source_count; i++)
        if (!is_same_source(c->sources[i].said, &t->join[0]) && !is_same_source(c->sources[i].said, &t->join[1]))
            return error_set(E_INVALIDARG, "field '%s': EqualJoin does not name the event of this field",
                             c->sources[i].said->name);
    return S_OK;
}

HRESULT event_columns_make(const struct schema_table *table, struct event_columns *out, struct texts *warnings)
{
    const struct schema_event_table *t = &table->events;
    *out = (struct event_columns){0};
    HRESULT hr = add_columns(out, &t->columns);
    out->own = out->count;
    const bool grouped = out->grouped;
    if (SUCCEEDED(hr))
        hr = add_columns(out, &t->sub_columns);
    out->grouped = grouped;
    if (SUCCEEDED(hr))
        hr = check_sources(t, out);
    for (size_t i = 0; i < out->own && SUCCEEDED(hr) && out->grouped; i++) {
        struct event_column *c = &out->items[i];
        if (c->said->field.aggregate || counts_events(&c->said->field)) {
            c->sum = (int)out->sums++;
        } else if (!c->said->group_by) {
            char *place = event_table_place(table);
            hr = place ? texts_add_owned(warnings,
                                         text_format("%s: column '%s' is neither grouped nor aggregated: each row "
                                                     "shows the value of its first event",
                                                     place, c->said->name))
                       : E_OUTOFMEMORY;
            memory_free(place);
        }
    }
    return hr;
}

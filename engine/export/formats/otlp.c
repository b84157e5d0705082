/* SPDX-License-Identifier: MIT */
/* Writes the few messages of opentelemetry-proto that metrics need, and reads the messages of a response.

   A protobuf message is a sequence of fields. Each field begins with its number and type; a field that contains bytes
   also has their length. The length of an inner message is known only when the message ends. One byte is reserved for
   the length, and the contents are moved if the length needs more bytes. The messages are nested as follows:

       resource_metrics: resource, scope_metrics: scope, metrics: name, description, unit, gauge | sum | summary:
                                                                  data_points: attributes, times, value

   A point of a sum needs the start time of its series, which PDH does not provide. The first point's time is used, as
   OpenTelemetry's data model specifies for an unknown start time. When the value has decreased, the counter was
   restarted, and the time of this point becomes the new start time.

   A metric name in OTLP separates the parts of OpenPLA's name with dots ("windows.processor.user_time"). It contains
   neither the unit, which is a separate field, nor "_total". A converter from OTLP to Prometheus adds the unit and
   "_total", so the converted names are those of `openpla serve`. */
#include "engine/export/formats/otlp.h"

#include "engine/base/memory.h"
#include "engine/export/metrics/steady.h"

#include <string.h>

#define EPOCH INT64_C(116444736000000000) /* 1970 as FILETIME */

enum {
    LARGE_REQUEST = 512 << 10, /* bytes; a request is passed on when it has reached this size */
    MOST_POINTS = 5000,
    DEEPEST = 8,
};
enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* Field numbers of opentelemetry/proto/{collector/metrics,metrics,common,resource}/v1. */
enum {
    REQUEST_RESOURCE_METRICS = 1,
    RESOURCE_METRICS_RESOURCE = 1,
    RESOURCE_METRICS_SCOPE_METRICS = 2,
    RESOURCE_ATTRIBUTES = 1,
    SCOPE_METRICS_SCOPE = 1,
    SCOPE_METRICS_METRICS = 2,
    SCOPE_NAME = 1,
    METRIC_FIELD_NAME = 1,
    METRIC_FIELD_DESCRIPTION = 2,
    METRIC_FIELD_UNIT = 3,
    METRIC_FIELD_GAUGE = 5,
    METRIC_FIELD_SUM = 7,
    METRIC_FIELD_SUMMARY = 11,
    DATA_POINTS = 1,
    SUM_TEMPORALITY = 2,
    SUM_IS_MONOTONIC = 3,
    POINT_START = 2,
    POINT_TIME = 3,
    POINT_DOUBLE = 4,
    POINT_INTEGER = 6,
    POINT_ATTRIBUTES = 7,
    SUMMARY_COUNT = 4,
    SUMMARY_SUM = 5,
    KEY_VALUE_KEY = 1,
    KEY_VALUE_VALUE = 2,
    ANY_VALUE_STRING = 1,
    TEMPORALITY_CUMULATIVE = 2,
    RESPONSE_PARTIAL_SUCCESS = 1,
    PARTIAL_REJECTED = 1,
    PARTIAL_MESSAGE = 2,
    STATUS_MESSAGE = 2,
};

struct otlp {
    char *host, *service;
    otlp_give *give;
    void *user;
    const int64_t *utc;
    uint64_t samples;
    struct text_buffer b; /* the request */
    size_t open[DEEPEST]; /* positions of the open messages' lengths */
    size_t depth;
    uint32_t points;
    int64_t first;
    /* The family that is being written. The metric message of a family begins when its first point is written. */
    struct metric_family family;
    size_t scope_length;
    bool in_metric;
    struct text_buffer name, value; /* of the current label */
    struct steady starts;
};

/* ---- protobuf ---- */

static size_t varint_put(char *at, uint64_t value)
{
    size_t size = 0;
    for (; value > 0x7F; value >>= 7)
        at[size++] = (char)(value | 0x80);
    at[size++] = (char)value;
    return size;
}

static void add_varint(struct text_buffer *b, uint64_t value)
{
    char bytes[10];
    text_buffer_add_n(b, bytes, varint_put(bytes, value));
}

static void add_key(struct text_buffer *b, unsigned field, enum wire type)
{
    add_varint(b, field << 3 | type);
}

static void add_number(struct text_buffer *b, unsigned field, uint64_t value)
{
    add_key(b, field, WIRE_VARINT);
    add_varint(b, value);
}

static void add_fixed(struct text_buffer *b, unsigned field, uint64_t value)
{
    char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(value >> 8 * i);
    add_key(b, field, WIRE_64);
    text_buffer_add_n(b, bytes, sizeof bytes);
}

static void add_real(struct text_buffer *b, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_fixed(b, field, bits);
}

static void add_text(struct text_buffer *b, unsigned field, const char *text, size_t length)
{
    add_key(b, field, WIRE_BYTES);
    add_varint(b, length);
    text_buffer_add_n(b, text, length);
}

static void message_begin(struct otlp *o, unsigned field)
{
    add_key(&o->b, field, WIRE_BYTES);
    o->open[o->depth++] = o->b.length;
    text_buffer_add_n(&o->b, "", 1); /* the NUL reserves a byte for the length */
}

static void message_end(struct otlp *o)
{
    char length[10];
    const size_t at = o->open[--o->depth];
    if (o->b.failed)
        return;
    const size_t size = o->b.length - at - 1, bytes = varint_put(length, size);
    if (bytes > 1) {
        if (!text_buffer_reserve(&o->b, bytes - 1))
            return;
        memmove(o->b.text + at + bytes, o->b.text + at + 1, size);
        o->b.length += bytes - 1;
    }
    memcpy(o->b.text + at, length, bytes);
}

static void add_attribute(struct otlp *o, unsigned field, const char *key, const char *value, size_t length)
{
    message_begin(o, field);
    add_text(&o->b, KEY_VALUE_KEY, key, strlen(key));
    message_begin(o, KEY_VALUE_VALUE);
    add_text(&o->b, ANY_VALUE_STRING, value, length);
    message_end(o);
    message_end(o);
}

/* ---- requests ---- */

static void request_begin_sample(struct otlp *o)
{
    message_begin(o, REQUEST_RESOURCE_METRICS);
    message_begin(o, RESOURCE_METRICS_RESOURCE);
    add_attribute(o, RESOURCE_ATTRIBUTES, "service.name", o->service, strlen(o->service));
    add_attribute(o, RESOURCE_ATTRIBUTES, "host.name", o->host, strlen(o->host));
    message_end(o);
    message_begin(o, RESOURCE_METRICS_SCOPE_METRICS);
    message_begin(o, SCOPE_METRICS_SCOPE);
    add_text(&o->b, SCOPE_NAME, "openpla", strlen("openpla"));
    message_end(o);
}

static void metric_end(struct otlp *o)
{
    if (!o->in_metric)
        return;
    if (o->family.kind == METRIC_COUNTER) {
        add_number(&o->b, SUM_TEMPORALITY, TEMPORALITY_CUMULATIVE);
        add_number(&o->b, SUM_IS_MONOTONIC, 1);
    }
    message_end(o);
    message_end(o);
    o->in_metric = false;
}

static void request_end_sample(struct otlp *o)
{
    metric_end(o);
    while (o->depth > 0)
        message_end(o);
}

static HRESULT request_give(struct otlp *o)
{
    HRESULT hr = o->b.failed ? E_OUTOFMEMORY : S_OK;
    if (SUCCEEDED(hr) && o->points > 0)
        hr = o->give(o->user, o->b.text, o->b.length, o->points, o->first);
    o->b.length = 0;
    o->points = 0;
    return hr;
}

/* ---- metrics ---- */

static const char *unit_code(const char *unit)
{
    static const char *const rows[][2] = {
        {"bytes", "By"}, {"seconds", "s"}, {"ratio", "1"}, {"hertz", "Hz"}, {"celsius", "Cel"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i][0], unit) == 0)
            return rows[i][1];
    return unit;
}

static size_t cut_ending(const char *name, size_t length, const char *ending)
{
    const size_t of_ending = strlen(ending);
    const bool ends = of_ending > 0 && length > of_ending + 1 && name[length - of_ending - 1] == '_' &&
                      memcmp(name + length - of_ending, ending, of_ending) == 0;
    return ends ? length - of_ending - 1 : length;
}

static void metric_begin(struct otlp *o)
{
    static const unsigned kinds[] = {[METRIC_GAUGE] = METRIC_FIELD_GAUGE,
                                     [METRIC_COUNTER] = METRIC_FIELD_SUM,
                                     [METRIC_SUMMARY] = METRIC_FIELD_SUMMARY};
    const struct metric_family *f = &o->family;
    const char *unit = unit_code(f->unit);
    size_t length = strlen(f->name);
    if (f->kind == METRIC_COUNTER)
        length = cut_ending(f->name, length, "total");
    length = cut_ending(f->name, length, f->unit);
    message_begin(o, SCOPE_METRICS_METRICS);
    add_text(&o->b, METRIC_FIELD_NAME, f->name, length);
    if (!o->b.failed) {
        char *name = o->b.text + o->b.length - length, *product = memchr(name, '_', length);
        if (product)
            *product = '.'; /* windows. */
        if (o->scope_length < length && name[o->scope_length] == '_')
            name[o->scope_length] = '.';
    }
    add_text(&o->b, METRIC_FIELD_DESCRIPTION, f->help, strlen(f->help));
    if (*unit)
        add_text(&o->b, METRIC_FIELD_UNIT, unit, strlen(unit));
    message_begin(o, kinds[f->kind]);
    o->in_metric = true;
}

static uint64_t unix_nanoseconds(int64_t utc)
{
    const int64_t most = INT64_MAX / 100;
    return utc <= EPOCH ? 0 : (uint64_t)(utc - EPOCH < most ? utc - EPOCH : most) * 100;
}

static void add_labels(struct otlp *o, const char *labels, size_t length)
{
    const char *at = labels;
    while (metric_next_label(&at, labels + length, &o->name, &o->value))
        add_attribute(o, POINT_ATTRIBUTES, o->name.text, o->value.text, o->value.length);
    o->b.failed |= o->name.failed || o->value.failed;
}

static void add_times(struct otlp *o, const struct metric_sample *s, int64_t value)
{
    if (o->family.kind != METRIC_GAUGE)
        add_fixed(&o->b, POINT_START,
                  unix_nanoseconds(steady_since(&o->starts, s->series, o->samples, *o->utc, value)));
    add_fixed(&o->b, POINT_TIME, unix_nanoseconds(*o->utc));
}

static HRESULT otlp_take_family(void *user, const struct metric_family *f, size_t scope_length)
{
    struct otlp *o = user;
    metric_end(o);
    o->family = *f;
    o->scope_length = scope_length;
    return S_OK;
}

static HRESULT otlp_take_sample(void *user, const struct metric_sample *s)
{
    struct otlp *o = user;
    struct metric_number number, count = {0};
    static const struct metric_scale of_count = {METRIC_SECOND, 1, 1, 0, false};
    const struct metric_sample counted = {.scale = &of_count, .raw = s->raw};
    if (!metric_value_of(s, &number) || (o->family.kind == METRIC_SUMMARY && !metric_value_of(&counted, &count)))
        return S_OK;
    if (o->depth == 0)
        request_begin_sample(o);
    if (!o->in_metric)
        metric_begin(o);
    message_begin(o, DATA_POINTS);
    add_times(o, s, o->family.kind == METRIC_SUMMARY ? count.integer : s->raw ? s->raw->first : 0);
    if (o->family.kind == METRIC_SUMMARY) {
        add_fixed(&o->b, SUMMARY_COUNT, (uint64_t)count.integer);
        add_real(&o->b, SUMMARY_SUM, number.real);
    } else if (number.is_integer) {
        add_fixed(&o->b, POINT_INTEGER, (uint64_t)number.integer);
    } else {
        add_real(&o->b, POINT_DOUBLE, number.real);
    }
    add_labels(o, s->labels, s->length);
    add_labels(o, s->fixed, strlen(s->fixed));
    message_end(o);
    o->first = o->points == 0 || *o->utc < o->first ? *o->utc : o->first;
    o->points++;
    if (o->points < MOST_POINTS && o->b.length < LARGE_REQUEST)
        return o->b.failed ? E_OUTOFMEMORY : S_OK;
    request_end_sample(o);
    return request_give(o);
}

HRESULT otlp_open(const struct otlp_settings *settings, struct otlp **out)
{
    struct otlp *o = memory_zero(1, sizeof *o);
    *out = o;
    if (!o)
        return E_OUTOFMEMORY;
    o->host = text_copy(settings->host);
    o->service = text_copy(settings->service);
    o->give = settings->give;
    o->user = settings->user;
    if (o->host && o->service)
        return S_OK;
    otlp_close(o);
    *out = NULL;
    return E_OUTOFMEMORY;
}

struct metric_sink otlp_begin(struct otlp *o, const int64_t *utc)
{
    o->utc = utc;
    o->samples++;
    return (struct metric_sink){otlp_take_family, otlp_take_sample, o};
}

HRESULT otlp_end(struct otlp *o, bool flush)
{
    request_end_sample(o);
    return flush ? request_give(o) : o->b.failed ? E_OUTOFMEMORY : S_OK;
}

void otlp_close(struct otlp *o)
{
    if (!o)
        return;
    memory_free(o->host);
    memory_free(o->service);
    text_buffer_free(&o->b);
    text_buffer_free(&o->name);
    text_buffer_free(&o->value);
    steady_free(&o->starts);
    memory_free(o);
}

/* ---- responses ---- */

struct proto_reader {
    const unsigned char *at, *end;
};

static bool read_varint(struct proto_reader *r, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        const unsigned char byte = *r->at++;
        *out |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Reads the next field: its number, and its value or bytes. False: the field is malformed, or there are no more
   fields. */
static bool read_field(struct proto_reader *r, uint64_t *field, uint64_t *value, struct proto_reader *bytes)
{
    uint64_t key;
    if (r->at == r->end || !read_varint(r, &key))
        return false;
    const size_t left = (size_t)(r->end - r->at);
    *field = key >> 3;
    *bytes = (struct proto_reader){r->at, r->at};
    *value = 0;
    switch (key & 7) {
    case WIRE_VARINT:
        return read_varint(r, value);
    case WIRE_64:
        r->at += left < 8 ? left : 8;
        return left >= 8;
    case WIRE_32:
        r->at += left < 4 ? left : 4;
        return left >= 4;
    case WIRE_BYTES:
        if (!read_varint(r, value) || *value > (uint64_t)(r->end - r->at))
            return false;
        *bytes = (struct proto_reader){r->at, r->at + *value};
        r->at = bytes->end;
        return true;
    default:
        return false;
    }
}

static void take_message(const struct proto_reader *bytes, char *message, size_t room)
{
    size_t length = 0;
    for (const unsigned char *p = bytes->at; p < bytes->end && length + 1 < room; p++)
        message[length++] = *p >= ' ' && *p < 0x7F ? (char)*p : ' ';
    message[length] = 0;
}

bool otlp_read_answer(const char *bytes, size_t size, bool failed, uint64_t *rejected, char *message, size_t room)
{
    struct proto_reader r = {(const unsigned char *)bytes, (const unsigned char *)bytes + size}, inner, text;
    uint64_t field, value;
    *rejected = 0;
    message[0] = 0;
    while (r.at < r.end) {
        if (!read_field(&r, &field, &value, &inner))
            return false;
        if (failed && field == STATUS_MESSAGE)
            take_message(&inner, message, room);
        while (!failed && field == RESPONSE_PARTIAL_SUCCESS && inner.at < inner.end) {
            uint64_t number, of;
            if (!read_field(&inner, &number, &of, &text))
                return false;
            if (number == PARTIAL_REJECTED)
                *rejected = of;
            else if (number == PARTIAL_MESSAGE)
                take_message(&text, message, room);
        }
    }
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Values in an event's data: their types, how many bytes each takes, the walk over all of them by the event's schema,
   and their text. */
#ifndef OPENPLA_EVENT_VALUES_H
#define OPENPLA_EVENT_VALUES_H

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/etw/decode/event_schema.h"

enum value_in_type {
    IN_TYPE_NULL,
    IN_TYPE_UNICODESTRING,
    IN_TYPE_ANSISTRING,
    IN_TYPE_INT8,
    IN_TYPE_UINT8,
    IN_TYPE_INT16,
    IN_TYPE_UINT16,
    IN_TYPE_INT32,
    IN_TYPE_UINT32,
    IN_TYPE_INT64,
    IN_TYPE_UINT64,
    IN_TYPE_FLOAT,
    IN_TYPE_DOUBLE,
    IN_TYPE_BOOLEAN,
    IN_TYPE_BINARY,
    IN_TYPE_GUID,
    IN_TYPE_POINTER,
    IN_TYPE_FILETIME,
    IN_TYPE_SYSTEMTIME,
    IN_TYPE_SID,
    IN_TYPE_HEXINT32,
    IN_TYPE_HEXINT64,
    IN_TYPE_MANIFEST_COUNTEDSTRING,
    IN_TYPE_MANIFEST_COUNTEDANSISTRING,
    IN_TYPE_STRUCT, /* of TraceLogging's metadata alone */
    IN_TYPE_MANIFEST_COUNTEDBINARY,
    IN_TYPE_COUNTEDSTRING = 300,
    IN_TYPE_COUNTEDANSISTRING,
    IN_TYPE_REVERSEDCOUNTEDSTRING,
    IN_TYPE_REVERSEDCOUNTEDANSISTRING,
    IN_TYPE_NONNULLTERMINATEDSTRING,
    IN_TYPE_NONNULLTERMINATEDANSISTRING,
    IN_TYPE_UNICODECHAR,
    IN_TYPE_ANSICHAR,
    IN_TYPE_SIZET,
    IN_TYPE_HEXDUMP,
    IN_TYPE_WBEMSID,
};

enum value_out_type {
    OUT_TYPE_NULL,
    OUT_TYPE_STRING,
    OUT_TYPE_DATETIME,
    OUT_TYPE_BYTE,
    OUT_TYPE_UNSIGNEDBYTE,
    OUT_TYPE_SHORT,
    OUT_TYPE_UNSIGNEDSHORT,
    OUT_TYPE_INT,
    OUT_TYPE_UNSIGNEDINT,
    OUT_TYPE_LONG,
    OUT_TYPE_UNSIGNEDLONG,
    OUT_TYPE_FLOAT,
    OUT_TYPE_DOUBLE,
    OUT_TYPE_BOOLEAN,
    OUT_TYPE_GUID,
    OUT_TYPE_HEXBINARY,
    OUT_TYPE_HEXINT8,
    OUT_TYPE_HEXINT16,
    OUT_TYPE_HEXINT32,
    OUT_TYPE_HEXINT64,
    OUT_TYPE_PID,
    OUT_TYPE_TID,
    OUT_TYPE_PORT,
    OUT_TYPE_IPV4,
    OUT_TYPE_IPV6,
    OUT_TYPE_SOCKETADDRESS,
    OUT_TYPE_CIMDATETIME,
    OUT_TYPE_ETWTIME,
    OUT_TYPE_XML,
    OUT_TYPE_ERRORCODE,
    OUT_TYPE_WIN32ERROR,
    OUT_TYPE_NTSTATUS,
    OUT_TYPE_HRESULT,
    OUT_TYPE_CULTURE_INSENSITIVE_DATETIME,
    OUT_TYPE_JSON,
    OUT_TYPE_UTF8,
    OUT_TYPE_PKCS7_WITH_TYPE_INFO,
    OUT_TYPE_CODE_POINTER,
    OUT_TYPE_DATETIME_UTC,
    OUT_TYPE_REDUCEDSTRING = 300,
    OUT_TYPE_NOPRINT,
};

/* ---- how many bytes a value takes ---- */

/* What data say that do not fit their schema. */
#define EVENT_DATA_INVALID HRESULT_FROM_WIN32(15005) /* ERROR_EVT_INVALID_EVENT_DATA */

struct value_type {
    uint16_t in, out; /* enum value_in_type, value_out_type */
    bool has_length;
    uint32_t length;       /* characters of strings, bytes of all else */
    uint32_t pointer_size; /* 4 or 8 */
    bool six_decimals;     /* of floating-point numbers; else as many digits as read back as the same number */
};
struct value_extent {
    size_t size;        /* all that it takes */
    size_t at, content; /* where what it says begins, and its bytes: without a count before it, and a NUL behind it */
};

/* Of the value at the start of `size` bytes. EVENT_DATA_INVALID with a text: they are too few for it, or no such type
   is known. */
HRESULT value_extent(const struct value_type *type, const uint8_t *bytes, size_t size, struct value_extent *out);
/* Bytes of each value of an in-type; 0: values have different sizes, or the type is unknown. `pointer_size`: 4, 8, or 0
   without an event. */
uint16_t value_fixed_size(uint16_t in_type, uint32_t pointer_size);
/* Bytes before the first NUL of characters of `unit` bytes (1, 2), or all whole ones. */
size_t value_text_end(const uint8_t *bytes, size_t size, size_t unit);
/* The number of an integer of one to eight bytes, as signed or not as its type is; false: it is none. */
bool value_number(uint16_t in_type, const uint8_t *bytes, size_t size, uint64_t *out);

/* ---- the walk over an event's data by its schema ---- */

/* Borrowed while the walk lasts. */
struct event_data {
    const uint8_t *bytes;
    size_t size;
    uint32_t pointer_size; /* 4 or 8, of who wrote it */
};
/* UserData of the event; the size of pointers is its header's, else `pointer_size` (0: this process'). */
struct event_data event_data_of(const EVENT_RECORD *event, uint32_t pointer_size);

enum event_step {
    STEP_VALUE,  /* a scalar, or an element of an array */
    STEP_STRUCT, /* a struct begins, which may be an element of an array; its members follow */
    STEP_STRUCT_END,
    STEP_ARRAY, /* the elements follow, also when there are none */
    STEP_ARRAY_END,
};
struct event_value {
    const struct event_property *property;
    uint16_t index;   /* of the property in the schema */
    uint16_t depth;   /* how many structs it is in */
    uint32_t element; /* which element it is of `elements`; of a scalar 0 of 1 */
    uint32_t elements;
    bool array;
    struct value_type type; /* of STEP_VALUE */
    /* As they stand in the event: counts, NULs and all. Of STEP_STRUCT and STEP_ARRAY none, of their ends all that they
       took. */
    const uint8_t *bytes;
    size_t size;
};
/* S_OK: go on. S_FALSE: the walk ends here, and well. A failure ends it. */
typedef HRESULT event_value_taker(void *context, enum event_step step, const struct event_value *value);

/* Gives what the data have, in their order. Bytes behind the last property are no error: newer versions append; nor is
   a classic event that ends before one of its class' properties. *used (may be NULL): bytes that the values took.
   EVENT_DATA_INVALID with a text that names the property: the data end within it, or say more values than such an event
   can have; what came before it has been given. S_FALSE: the taker ended it. Needs memory only for schemas of more than
   64 properties. */
HRESULT event_values_walk(const struct event_schema *schema, const struct event_data *data, event_value_taker *take,
                          void *context, size_t *used);

/* ---- a property by its path ---- */

#define PROPERTY_WHOLE UINT32_MAX /* all elements of an array, or what is none */
enum { PROPERTY_PATH_STEPS = 32 };

/* A name (with case) and which element; of a struct on the way to a member PROPERTY_WHOLE is the first one. */
struct property_step {
    const char *name;
    uint32_t element;
};
struct found_property {
    size_t offset, size; /* in the data; the bytes as they stand there */
};
/* S_FALSE: the event has none of that name, or not that element. EVENT_DATA_INVALID: its data end before it. */
HRESULT event_property_find(const struct event_schema *schema, const struct event_data *data,
                            const struct property_step *path, size_t steps, struct found_property *out);

/* ---- values as text, as TdhFormatProperty returns them ---- */

/* Adds the text of the value at the start of `size` bytes; *used (may be NULL) is how many it took. With a map its text
   of the value. EVENT_DATA_INVALID with a text: there are too few bytes, or the map has no such value, and nothing was
   added. */
HRESULT value_text(const struct value_type *type, const struct event_map *map, const uint8_t *bytes, size_t size,
                   struct text_buffer *out, size_t *used);
/* Of a value that a walk gives (STEP_VALUE), by its map where it has one that has the value. */
HRESULT event_value_text(const struct event_schema *schema, const struct event_value *value, struct text_buffer *out);
/* The map's text of a number, for bits those of each joined by `|`; false: it has none. */
bool event_map_text(const struct event_map *map, uint64_t number, struct text_buffer *out);

/* ---- times, addresses, identifiers; each function appends to a buffer ---- */

enum { DATE_TIME_TEXT = 24 };
/* "2026-12-31T23:59:59." at `at`, behind which it returns; without a NUL. */
char *put_date_time(char at[DATE_TIME_TEXT], const struct calendar_time *t);

void add_guid(struct text_buffer *out, const uint8_t bytes[16]);          /* braced, lower case */
void add_filetime(struct text_buffer *out, int64_t filetime);             /* xs:dateTime with 9 digits, UTC */
void add_system_time(struct text_buffer *out, const uint8_t bytes[16]);   /* as it stands there, in the same form */
void add_sid(struct text_buffer *out, const uint8_t *bytes, size_t size); /* S-1-...; `size` is that of a whole one */
void add_ipv4(struct text_buffer *out, const uint8_t bytes[4]);
void add_ipv6(struct text_buffer *out, const uint8_t bytes[16]); /* RFC 5952 */
/* SOCKADDR_IN or _IN6 with its port; of another family, or cut short, the bytes. */
void add_socket_address(struct text_buffer *out, const uint8_t *bytes, size_t size);
void add_hex(struct text_buffer *out, const uint8_t *bytes, size_t size); /* 0x and two digits a byte */
/* The fewest digits, 6 or more, that read back as the same number. */
void add_real(struct text_buffer *out, double value, bool is_float);
void add_real_of_six_decimals(struct text_buffer *out, double value);

#endif

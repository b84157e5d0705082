/* SPDX-License-Identifier: MIT */
/* Values in an event's data: types, sizes, a walk over all values that the event's schema describes, and the text of a
   value. */
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
    IN_TYPE_STRUCT, /* occurs only in TraceLogging metadata */
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

/* ---- sizes of values ---- */

/* The error for data that do not match their schema. */
#define EVENT_DATA_INVALID HRESULT_FROM_WIN32(15005) /* ERROR_EVT_INVALID_EVENT_DATA */

struct value_type {
    uint16_t in, out; /* enum value_in_type, value_out_type */
    bool has_length;
    uint32_t length;       /* in characters for strings, in bytes for all other types */
    uint32_t pointer_size; /* 4 or 8 */
    bool six_decimals;     /* floating-point numbers get six decimals; false: as many digits as needed to read the same
                              number back */
};
struct value_extent {
    size_t size;        /* all bytes of the value */
    size_t at, content; /* offset and size in bytes of the content, without a preceding count or a trailing NUL */
};

/* Measures the value at the start of `size` bytes. Returns EVENT_DATA_INVALID, with an error text, if there are too few
   bytes or the type is unknown. */
HRESULT value_extent(const struct value_type *type, const uint8_t *bytes, size_t size, struct value_extent *out);
/* Returns the size of values of an input type in bytes; 0 if values of the type can differ in size or the type is
   unknown. `pointer_size`: 4, 8, or 0 if there is no event. */
uint16_t value_fixed_size(uint16_t in_type, uint32_t pointer_size);
/* Returns the number of bytes before the first NUL. If there is no NUL, returns the number of bytes in complete
   characters. `unit`: bytes per character, 1 or 2. */
size_t value_text_end(const uint8_t *bytes, size_t size, size_t unit);
/* Reads an integer of one to eight bytes, sign-extended if its type is signed; false if the type is not an integer. */
bool value_number(uint16_t in_type, const uint8_t *bytes, size_t size, uint64_t *out);

/* ---- the walk over an event's data, as its schema describes them ---- */

/* The data of an event; borrowed during the walk. */
struct event_data {
    const uint8_t *bytes;
    size_t size;
    uint32_t pointer_size; /* pointer size of the writer: 4 or 8 */
};
/* Describes the event's UserData. The pointer size comes from the event's header. If the header has no pointer size,
   `pointer_size` is used; 0 means the pointer size of this process. */
struct event_data event_data_of(const EVENT_RECORD *event, uint32_t pointer_size);

enum event_step {
    STEP_VALUE,  /* a scalar, or an element of an array */
    STEP_STRUCT, /* the start of a struct, possibly an element of an array; its members follow */
    STEP_STRUCT_END,
    STEP_ARRAY, /* the start of an array; its elements follow, if any */
    STEP_ARRAY_END,
};
struct event_value {
    const struct event_property *property;
    uint16_t index;   /* index of the property in the schema */
    uint16_t depth;   /* number of enclosing structs */
    uint32_t element; /* index of the element, less than `elements`; a scalar has index 0, and its `elements` is 1 */
    uint32_t elements;
    bool array;
    struct value_type type; /* set only for STEP_VALUE */
    /* The bytes as stored in the event, including counts and NULs. Empty for STEP_STRUCT and STEP_ARRAY. For
       STEP_STRUCT_END and STEP_ARRAY_END, all bytes of the struct or array. */
    const uint8_t *bytes;
    size_t size;
};
/* The callback returns S_OK to continue the walk, and S_FALSE to end it successfully. A failure ends the walk, too. */
typedef HRESULT event_value_taker(void *context, enum event_step step, const struct event_value *value);

/* Calls the callback for all values in order. Bytes after the last property are not an error, because newer versions
   append properties. A classic event that ends before one of its class's properties is not an error either. *used (may
   be NULL): number of bytes of the values. Returns EVENT_DATA_INVALID, with an error text that names the property, if
   the data end within this property or declare more values for it than such an event can hold. In that case the
   callback has already received all values of earlier properties. Returns S_FALSE if the callback ended the walk.
   Allocates memory only for schemas with more than 64 properties. */
HRESULT event_values_walk(const struct event_schema *schema, const struct event_data *data, event_value_taker *take,
                          void *context, size_t *used);

/* ---- a property by its path ---- */

#define PROPERTY_WHOLE UINT32_MAX /* the whole array, or a property that is not an array */
enum { PROPERTY_PATH_STEPS = 32 };

/* A name (case-sensitive) and an element. For a struct on the path to a member, PROPERTY_WHOLE means the first
   element. */
struct property_step {
    const char *name;
    uint32_t element;
};
struct found_property {
    size_t offset, size; /* offset in the data, and size in bytes as stored */
};
/* Returns S_FALSE if the event has no such property or element, and EVENT_DATA_INVALID if the data end before the end
   of the property. */
HRESULT event_property_find(const struct event_schema *schema, const struct event_data *data,
                            const struct property_step *path, size_t steps, struct found_property *out);

/* ---- values as text, as TdhFormatProperty returns them ---- */

/* Appends the text of the value at the start of `size` bytes; *used (may be NULL) is its size. If `map` is not NULL,
   appends the map's text for the value. If there are too few bytes, or if the map lacks the value, appends nothing and
   returns EVENT_DATA_INVALID with an error text. */
HRESULT value_text(const struct value_type *type, const struct event_map *map, const uint8_t *bytes, size_t size,
                   struct text_buffer *out, size_t *used);
/* Appends the text of a value from a walk (STEP_VALUE), using its map if the map has the value. */
HRESULT event_value_text(const struct event_schema *schema, const struct event_value *value, struct text_buffer *out);
/* Appends the map's text for a number. For a map of bits, appends the texts of the bits that are set, joined by `|`,
   and the bits without a text in hexadecimal. Returns false if the map has no text for the number. */
bool event_map_text(const struct event_map *map, uint64_t number, struct text_buffer *out);

/* ---- times, addresses, identifiers; each function appends to a buffer ---- */

enum { DATE_TIME_TEXT = 24 };
/* Writes "2026-12-31T23:59:59." without a NUL and returns the end. */
char *put_date_time(char at[DATE_TIME_TEXT], const struct calendar_time *t);

void add_guid(struct text_buffer *out, const uint8_t bytes[16]);          /* braced, lower case */
void add_filetime(struct text_buffer *out, int64_t filetime);             /* xs:dateTime with 9 digits, UTC */
void add_system_time(struct text_buffer *out, const uint8_t bytes[16]);   /* like add_filetime, for a SYSTEMTIME */
void add_sid(struct text_buffer *out, const uint8_t *bytes, size_t size); /* S-1-...; `size` must cover the whole SID */
void add_ipv4(struct text_buffer *out, const uint8_t bytes[4]);
void add_ipv6(struct text_buffer *out, const uint8_t bytes[16]); /* RFC 5952 */
/* Appends the address and the port of a SOCKADDR_IN or SOCKADDR_IN6. If the family is another one or the address is
   truncated, appends the bytes like add_hex. */
void add_socket_address(struct text_buffer *out, const uint8_t *bytes, size_t size);
void add_hex(struct text_buffer *out, const uint8_t *bytes, size_t size); /* 0x and two digits per byte */
/* Appends the fewest digits, at least 6, that read back as the same number. */
void add_real(struct text_buffer *out, double value, bool is_float);
void add_real_of_six_decimals(struct text_buffer *out, double value);

#endif

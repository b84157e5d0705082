/* SPDX-License-Identifier: MIT */
/* Binary XML, and the event log's files (.evtx): a header, and chunks of 64 KB that can be read alone. An event is a
   shape (elements whose names and strings are the same for all events of its kind) and the values in its places. A
   chunk holds names and shapes once; a record names its shape and has the values. All is a stream but for the header,
   which is written again at the end. */
#ifndef OPENPLA_EVTX_H
#define OPENPLA_EVTX_H

#include "engine/base/text.h"
#include "engine/logs/little_endian.h"

/* ---- binary XML as templates of WEVT_TEMPLATE have it (MS-EVEN6 2.2.12, names in the place of their offsets) ---- */

/* XML with %n in the place of substitution n-1. `bytes` end with the block they are in, and are not trusted.
   ERROR_INVALID_DATA's HRESULT with a text. *xml from memory_alloc. */
HRESULT binary_xml_read(const uint8_t *bytes, size_t size, char **xml);

struct event_property;
/* The fragment of UserData: of XML with %n, whose values have the in-types of the properties. */
HRESULT binary_xml_write(const char *xml, const struct event_property *properties, size_t count,
                         struct byte_buffer *to);
/* The fragment of EventData: an element Data with its name for each. */
HRESULT binary_xml_write_data(const struct event_property *properties, size_t count, struct byte_buffer *to);

/* ---- records ---- */

/* Types of values (MS-EVEN6 2.2.12): the same numbers as TDH's in-types of 1 to 21. */
enum evtx_type {
    EVTX_TEXT = 1, /* UTF-16 */
    EVTX_U8 = 4,
    EVTX_U16 = 6,
    EVTX_U32 = 8,
    EVTX_U64 = 10,
    EVTX_BOOL = 13,
    EVTX_BINARY = 14,
    EVTX_GUID = 15,
    EVTX_FILETIME = 17,
    EVTX_SID = 19,
    EVTX_HEX32 = 20,
    EVTX_HEX64 = 21,
    EVTX_TEXTS = 0x81, /* of an array: each with its NUL, for each of which the element is repeated */
};
/* What a shape is made of, each one byte: behind a name or a text it with its NUL, behind a value its type. */
enum evtx_step { EVTX_BEGIN, EVTX_ATTRIBUTE, EVTX_CONSTANT, EVTX_VALUE, EVTX_END };
/* Elements within each other that a shape has at most: what is deeper is in the last one. */
enum { EVTX_DEPTH = 80 };

/* Zero-initialise. */
struct evtx_record {
    struct byte_buffer shape, values;
    struct byte_buffer items; /* of each value its size, its type and a zero, as records have them */
    unsigned depth;
    size_t longest; /* bytes of texts that are taken, the rest is left out; 0: all */
    bool too_long;  /* a text or a value is longer than the format can say */
    HRESULT hr;     /* the first failure: E_OUTOFMEMORY, a text that is no UTF-8 */
};
/* Where a record was; what came behind can be taken back. */
struct evtx_place {
    size_t shape, values, items;
    unsigned depth;
    bool too_long;
};
void evtx_record_clear(struct evtx_record *r); /* keeps its memory */
void evtx_record_free(struct evtx_record *r);
struct evtx_place evtx_record_place(const struct evtx_record *r);
void evtx_record_back(struct evtx_record *r, const struct evtx_place *place);

void evtx_record_fail(struct evtx_record *r, HRESULT hr); /* keeps the first */

void evtx_begin(struct evtx_record *r, const char *element);
void evtx_end(struct evtx_record *r);
/* Attributes come before all that is in their element. */
void evtx_attribute(struct evtx_record *r, const char *name, const char *text);
void evtx_attribute_value(struct evtx_record *r, const char *name, enum evtx_type type, const void *bytes, size_t size);
void evtx_attribute_text(struct evtx_record *r, const char *name, const char *text); /* a value too */
/* The same for all events of the sort. */
void evtx_constant(struct evtx_record *r, const char *text);
void evtx_value(struct evtx_record *r, enum evtx_type type, const void *bytes, size_t size);
void evtx_value_text(struct evtx_record *r, const char *text);
/* UTF-8 as units behind what is in the buffer, characters that XML cannot hold as U+FFFD. S_OK, or the failure. */
HRESULT evtx_add_units(struct byte_buffer *to, const char *text);
/* An element with that text; none when it is NULL. */
void evtx_element(struct evtx_record *r, const char *element, const char *text);
void evtx_element_value(struct evtx_record *r, const char *element, enum evtx_type type, const void *bytes,
                        size_t size);

/* ---- files ---- */

enum {
    EVTX_HEADER_BYTES = 4096,
    EVTX_CHUNK_BYTES = 65536,
    EVTX_MOST_CHUNKS = 65535, /* what the header can say: 4 GB */
};

struct evtx_writer;
/* Files end at so many chunks. NULL when out of memory. */
struct evtx_writer *evtx_writer_create(unsigned most_chunks);
void evtx_writer_free(struct evtx_writer *w); /* NULL is allowed */
/* Adds a record of that time (FILETIME); `to` gets the chunk before it when that is full. S_FALSE: no chunk has room
   for such a record, or it is too_long, and nothing has happened. ERROR_FILE_TOO_LARGE's HRESULT: the file is full. The
   record's own failure. */
HRESULT evtx_writer_add(struct evtx_writer *w, const struct evtx_record *r, int64_t time, struct text_buffer *to);
/* The number that the next record gets: from 1 on. */
uint64_t evtx_writer_next(const struct evtx_writer *w);
/* The last chunk; there is one in every file. */
void evtx_writer_end(struct evtx_writer *w, struct text_buffer *to);
/* The header, of what is written up to now; `whole`: nothing comes any more. */
void evtx_writer_header(const struct evtx_writer *w, bool whole, uint8_t header[EVTX_HEADER_BYTES]);

#endif

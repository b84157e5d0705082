/* SPDX-License-Identifier: MIT */
/* Declares binary XML and the event log's files (.evtx). A file has a header and chunks of 64 KB that can be read
   independently. An event consists of a shape and values. The shape has the elements, names and strings that all events
   of the kind share, and a place for each value that differs. A chunk contains each of its names and shapes once; a
   record refers to its shape and contains the values. Files are written as a stream. Only the header is written a
   second time, at the end. */
#ifndef OPENPLA_EVTX_H
#define OPENPLA_EVTX_H

#include "engine/base/text.h"
#include "engine/logs/little_endian.h"

/* ---- binary XML in WEVT_TEMPLATE (MS-EVEN6 2.2.12, but with inline names instead of offsets) ---- */

/* Converts binary XML to XML, with %n for substitution n-1. `bytes` are untrusted and extend to the end of their block.
   Returns HRESULT_FROM_WIN32(ERROR_INVALID_DATA) with an error text. *xml is from memory_alloc. */
HRESULT binary_xml_read(const uint8_t *bytes, size_t size, char **xml);

struct event_property;
/* Writes the fragment of UserData. `xml` contains %n for each value. The types of the values are the input types of the
   properties. */
HRESULT binary_xml_write(const char *xml, const struct event_property *properties, size_t count,
                         struct byte_buffer *to);
/* Writes the fragment of EventData: a Data element with the property's name for each property. */
HRESULT binary_xml_write_data(const struct event_property *properties, size_t count, struct byte_buffer *to);

/* ---- records ---- */

/* Types of values (MS-EVEN6 2.2.12); 1 to 21 are the same as TDH's input types. */
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
    EVTX_TEXTS = 0x81, /* an array of strings, each with a NUL; the element is repeated for each string */
};
/* A shape is a sequence of steps of one byte each. A step with a name or string is followed by that string and its NUL,
   and EVTX_VALUE is followed by the type of the value. */
enum evtx_step { EVTX_BEGIN, EVTX_ATTRIBUTE, EVTX_CONSTANT, EVTX_VALUE, EVTX_END };
/* Maximum depth of elements; deeper content is added to the deepest allowed element. */
enum { EVTX_DEPTH = 80 };

/* Zero-initialise. */
struct evtx_record {
    struct byte_buffer shape, values;
    struct byte_buffer items; /* for each value its size, its type and a zero, as in the file */
    unsigned depth;
    size_t longest; /* strings are truncated to this many bytes; 0: no limit */
    bool too_long;  /* a string or value exceeds what the format can express */
    HRESULT hr;     /* the first failure: E_OUTOFMEMORY, or a string that is not UTF-8 */
};
/* A position in a record; content after it can be dropped. */
struct evtx_place {
    size_t shape, values, items;
    unsigned depth;
    bool too_long;
};
void evtx_record_clear(struct evtx_record *r); /* empties *r, but keeps its memory for the next record */
void evtx_record_free(struct evtx_record *r);
struct evtx_place evtx_record_place(const struct evtx_record *r);
void evtx_record_back(struct evtx_record *r, const struct evtx_place *place);

void evtx_record_fail(struct evtx_record *r, HRESULT hr); /* stores hr, unless an earlier failure is stored */

void evtx_begin(struct evtx_record *r, const char *element);
void evtx_end(struct evtx_record *r);
/* Adds an attribute. Attributes must come before all other content of their element. */
void evtx_attribute(struct evtx_record *r, const char *name, const char *text);
void evtx_attribute_value(struct evtx_record *r, const char *name, enum evtx_type type, const void *bytes, size_t size);
void evtx_attribute_text(struct evtx_record *r, const char *name, const char *text); /* adds the text as a value */
/* Adds text that is the same in all events of the kind. */
void evtx_constant(struct evtx_record *r, const char *text);
void evtx_value(struct evtx_record *r, enum evtx_type type, const void *bytes, size_t size);
void evtx_value_text(struct evtx_record *r, const char *text);
/* Appends UTF-8 as UTF-16; characters that XML cannot contain become U+FFFD. Returns S_OK or the failure. */
HRESULT evtx_add_units(struct byte_buffer *to, const char *text);
/* Adds an element with this text; NULL: adds nothing. */
void evtx_element(struct evtx_record *r, const char *element, const char *text);
void evtx_element_value(struct evtx_record *r, const char *element, enum evtx_type type, const void *bytes,
                        size_t size);

/* ---- files ---- */

enum {
    EVTX_HEADER_BYTES = 4096,
    EVTX_CHUNK_BYTES = 65536,
    EVTX_MOST_CHUNKS = 65535, /* limit of the header's counter: 4 GB */
};

struct evtx_writer;
/* Creates a writer for a file of at most `most_chunks` chunks. NULL: out of memory. */
struct evtx_writer *evtx_writer_create(unsigned most_chunks);
void evtx_writer_free(struct evtx_writer *w); /* NULL is allowed */
/* Adds a record with this time (FILETIME). If the current chunk is full, it is first appended to `to`. Returns S_FALSE
   if the record does not fit into a chunk or is too_long; the record is then not added. Fails with
   HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE) if the file is full, and with the error of the record if the record has
   failed. */
HRESULT evtx_writer_add(struct evtx_writer *w, const struct evtx_record *r, int64_t time, struct text_buffer *to);
/* Returns the number of the next record, from 1. */
uint64_t evtx_writer_next(const struct evtx_writer *w);
/* Appends the last chunk. Every file has at least one chunk. */
void evtx_writer_end(struct evtx_writer *w, struct text_buffer *to);
/* Builds the header for everything that has been written. `whole` is true if the file is complete. */
void evtx_writer_header(const struct evtx_writer *w, bool whole, uint8_t header[EVTX_HEADER_BYTES]);

#endif

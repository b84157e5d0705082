/* SPDX-License-Identifier: MIT */
/* An event as the event log's files (.evtx) have it: elements whose names and texts are the same for all events of its
   sort, its shape, and the values that stand in their places. */
#ifndef OPENPLA_EVTX_RECORD_H
#define OPENPLA_EVTX_RECORD_H

#include "engine/etw/decode/evtx/binary_xml.h"

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

#endif

/* SPDX-License-Identifier: MIT */
/* Binary XML as templates of WEVT_TEMPLATE have it (MS-EVEN6 2.2.12, with names in the place of their offsets). */
#ifndef OPENPLA_BINARY_XML_H
#define OPENPLA_BINARY_XML_H

#include "engine/os/text.h"

/* XML with %n in the place of substitution n-1. `bytes` end with the block they are in, and are not trusted.
   ERROR_INVALID_DATA's HRESULT with a text. *xml from memory_alloc. */
HRESULT binary_xml_read(const uint8_t *bytes, size_t size, char **xml);

/* A growing block. Zero-initialise. A failed allocation sticks. */
struct byte_buffer {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};
/* So many zeros; where they begin, NULL when memory is out. */
uint8_t *byte_buffer_add(struct byte_buffer *b, size_t count);
void byte_buffer_u8(struct byte_buffer *b, uint8_t value);
void byte_buffer_u16(struct byte_buffer *b, uint16_t value);
void byte_buffer_u32(struct byte_buffer *b, uint32_t value);
/* What stands at a place already. */
void byte_buffer_set_u32(struct byte_buffer *b, size_t at, uint32_t value);

struct event_property;
/* The fragment of UserData: of XML with %n, whose values have the in-types of the properties. */
HRESULT binary_xml_write(const char *xml, const struct event_property *properties, size_t count,
                         struct byte_buffer *to);
/* The fragment of EventData: an element Data with its name for each. */
HRESULT binary_xml_write_data(const struct event_property *properties, size_t count, struct byte_buffer *to);

#endif

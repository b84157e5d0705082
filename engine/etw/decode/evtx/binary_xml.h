/* SPDX-License-Identifier: MIT */
/* Binary XML as templates of WEVT_TEMPLATE have it (MS-EVEN6 2.2.12, with names in the place of their offsets). */
#ifndef OPENPLA_BINARY_XML_H
#define OPENPLA_BINARY_XML_H

#include "engine/base/text.h"
#include "engine/logs/byte_buffer.h"

/* XML with %n in the place of substitution n-1. `bytes` end with the block they are in, and are not trusted.
   ERROR_INVALID_DATA's HRESULT with a text. *xml from memory_alloc. */
HRESULT binary_xml_read(const uint8_t *bytes, size_t size, char **xml);

struct event_property;
/* The fragment of UserData: of XML with %n, whose values have the in-types of the properties. */
HRESULT binary_xml_write(const char *xml, const struct event_property *properties, size_t count,
                         struct byte_buffer *to);
/* The fragment of EventData: an element Data with its name for each. */
HRESULT binary_xml_write_data(const struct event_property *properties, size_t count, struct byte_buffer *to);

#endif

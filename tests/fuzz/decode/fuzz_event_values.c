/* SPDX-License-Identifier: MIT */
/* Any schema that passes the check, with any data: no read beyond the data, no endless loop, and a text for each value.
   Input: number of properties, 8 bytes for each, then the data. */
#include "decode_event.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROPERTIES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[] = "p", map_name[] = "m", text[] = "t";
    static struct event_map_entry entries[] = {{1, NULL, text}, {0, text, text}, {0x80, NULL, text}};
    struct event_map map = {map_name, 0, entries, 3};
    struct event_property properties[PROPERTIES];
    struct event_schema schema = {.properties = properties, .maps = &map, .map_count = 1};
    if (size < 2)
        return 0;
    const size_t count = data[0] % (PROPERTIES + 1);
    if (size < 2 + 8 * count)
        return 0;
    map.flag = data[1] & 0x7F;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = data + 2 + 8 * i;
        properties[i] = (struct event_property){.name = name,
                                                .flags = at[0] & 0x7F,
                                                .in_type = (uint16_t)(at[1] & 0x80 ? 300 + at[1] % 12 : at[1] % 27),
                                                .out_type = at[2] % 40,
                                                .count = get_u16(at + 4),
                                                .length = get_u16(at + 6),
                                                .map = at[3] & 0x80 ? map_name : NULL};
        if (at[0] & PROPERTY_STRUCT) {
            properties[i].first_member = at[1] & 15;
            properties[i].members = at[3] & 15;
        }
    }
    schema.property_count = (uint16_t)count;
    schema.top_level = (uint16_t)(count != 0 ? data[1] % (count + 1) : 0);
    const size_t at = 2 + 8 * count;
    uint8_t *rest = malloc(size - at);
    if (!rest)
        abort();
    memcpy(rest, data + at, size - at);
    if (event_schema_check(&schema) == S_OK)
        decode_event(&schema, rest, size - at, data[1] & 0x80 ? 4 : 8);
    free(rest);
    return 0;
}

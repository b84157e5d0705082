/* SPDX-License-Identifier: MIT */
/* Creates and corrupts small .etl containers. */
#include "tests/fuzz/small_container.h"

#include "engine/base/file.h"
#include "engine/logs/etl_record.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

enum { XPRESS = 3 };

static void put_head(uint8_t *at, uint32_t size, uint32_t used, uint64_t sequence, uint16_t processor, uint16_t flags,
                     uint16_t type)
{
    const struct etl_buffer_header head = {.size = size,
                                           .saved = used,
                                           .sequence = sequence,
                                           .processor = processor,
                                           .state = XPRESS,
                                           .used = used,
                                           .flags = flags,
                                           .type = type};
    etl_buffer_header_write(&head, at);
}

void small_begin(struct small_container *c, uint32_t mode, uint32_t pointer, uint32_t clock)
{
    const struct etl_log log = {
        .buffer_size = SMALL_BUFFER,
        .processors = 2,
        .mode = mode,
        .pointer_size = pointer,
        .zone = {.bias = 480,
                 .to_standard = {.month = 11, .day = 1, .hour = 2}, /* the first Sunday of November, 02:00 */
                 .to_daylight = {.month = 3, .day = 2, .hour = 2},
                 .daylight_bias = -60},
        .frequency = 10000000,
        .start_utc = INT64_C(132590000000000000),
        .clock = clock,
        .start_stamp = 100,
    };
    uint32_t size;
    memset(c->bytes, 0xFF, sizeof c->bytes);
    if (etl_log_write(&log, c->bytes + ETL_BUFFER_HEAD, etl_buffer_max_event(SMALL_BUFFER), &size) != S_OK)
        abort();
    put_head(c->bytes, SMALL_BUFFER, ETL_BUFFER_HEAD + size, 0, 0, ETL_FLAG_PROCESSOR_INDEX, ETL_TYPE_FILE_HEADER);
    c->size = SMALL_BUFFER;
}

void small_add(struct small_container *c, uint16_t processor, const uint8_t *events, size_t size, bool packed)
{
    uint8_t *at = c->bytes + c->size;
    if (size > SMALL_BUFFER - ETL_BUFFER_HEAD || c->size + SMALL_BUFFER > sizeof c->bytes)
        abort();
    uint32_t stored = SMALL_BUFFER;
    if (!packed) {
        memcpy(at + ETL_BUFFER_HEAD, events, size);
    } else {
        uint8_t *to = at + ETL_BUFFER_HEAD;
        for (size_t i = 0; i < size; i++) {
            if (i % 32 == 0) {
                put_u32(to, 0);
                to += 4;
            }
            *to++ = events[i];
        }
        stored = (uint32_t)(to - at);
    }
    put_head(at, stored, (uint32_t)(ETL_BUFFER_HEAD + size), c->size / ETL_BUFFER_HEAD, processor,
             ETL_FLAG_PROCESSOR_INDEX | (packed ? ETL_FLAG_COMPRESSED : 0), ETL_TYPE_EVENTS);
    c->size += stored;
}

void small_store_damaged(const struct small_container *c, const uint8_t *data, size_t size, const char *path)
{
    static uint8_t bytes[SMALL_CONTAINER];
    struct file *file;
    size_t length = c->size;
    memcpy(bytes, c->bytes, length);
    while (size >= 3) {
        const size_t place = get_u16(data) % length;
        size_t part = data[2] < size - 3 ? data[2] : size - 3;
        part = part < length - place ? part : length - place;
        memcpy(bytes + place, data + 3, part);
        data += 3 + part;
        size -= 3 + part;
    }
    if (size != 0)
        length -= (size == 2 ? get_u16(data) : data[0]) % length;
    if (FAILED(file_open(path, FILE_REPLACE, &file)) || FAILED(file_write(file, bytes, length)))
        abort();
    file_close(file);
}

/* SPDX-License-Identifier: MIT */
/* Makes and damages small .etl containers. */
#include "tests/fuzz/small_container.h"

#include "engine/log/etl_record.h"
#include "engine/log/little_endian.h"
#include "engine/os/file.h"

#include <stdlib.h>
#include <string.h>

enum { SYSTEM_HEAD = 0x20, NAMES = 0x118, XPRESS = 3 };

static void put_head(uint8_t *at, uint32_t size, uint32_t used, uint64_t sequence, uint16_t processor, uint16_t flags)
{
    memset(at, 0, ETL_BUFFER_HEAD);
    put_u32(at + ETL_BUFFER_SIZE_AT, size);
    put_u32(at + ETL_BUFFER_SAVED_AT, used);
    put_u32(at + ETL_BUFFER_USED_AT, used);
    put_u64(at + ETL_BUFFER_SEQUENCE_AT, sequence);
    put_u16(at + ETL_BUFFER_PROCESSOR_AT, processor);
    put_u32(at + ETL_BUFFER_STATE_AT, XPRESS);
    put_u16(at + ETL_BUFFER_FLAGS_AT, flags);
}

void small_begin(struct small_container *c, uint32_t mode, uint32_t pointer, uint32_t clock)
{
    uint8_t *event = c->bytes + ETL_BUFFER_HEAD, *log = event + SYSTEM_HEAD;
    const uint32_t names = pointer == 4 ? NAMES - 8 : NAMES;
    const uint32_t size = SYSTEM_HEAD + names + 4;
    memset(c->bytes, 0xFF, sizeof c->bytes);
    memset(event, 0, size);
    put_head(c->bytes, SMALL_BUFFER, ETL_BUFFER_HEAD + size, 0, 0, ETL_FLAG_PROCESSOR_INDEX);
    put_u16(c->bytes + ETL_BUFFER_TYPE_AT, ETL_TYPE_FILE_HEADER);
    event[2] = pointer == 4 ? ETL_HEADER_SYSTEM_32 : ETL_HEADER_SYSTEM_64;
    event[3] = ETL_MARKS;
    put_u16(event + 4, (uint16_t)size);
    put_u64(event + 0x10, 100);
    put_u32(log, SMALL_BUFFER);
    put_u32(log + 0x0C, 2);
    put_u32(log + 0x20, mode);
    put_u32(log + 0x2C, pointer);
    const size_t rest = pointer == 4 ? 8 : 0;
    put_u32(log + 0x48 - rest, 480);
    put_u16(log + 0x48 - rest + 0x46, 11); /* standard time from the first Sunday of November, 02:00 */
    put_u16(log + 0x48 - rest + 0x4A, 1);
    put_u16(log + 0x48 - rest + 0x4C, 2);
    put_u16(log + 0x48 - rest + 0x9A, 3); /* daylight time from the second Sunday of March */
    put_u16(log + 0x48 - rest + 0x9E, 2);
    put_u16(log + 0x48 - rest + 0xA0, 2);
    put_u32(log + 0x48 - rest + 0xA8, (uint32_t)-60);
    put_u64(log + 0x100 - rest, 10000000);
    put_u64(log + 0x108 - rest, UINT64_C(132590000000000000));
    put_u32(log + 0x110 - rest, clock);
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
             ETL_FLAG_PROCESSOR_INDEX | (packed ? ETL_FLAG_COMPRESSED : 0));
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

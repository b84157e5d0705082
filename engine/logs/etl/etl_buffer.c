/* SPDX-License-Identifier: MIT */
/* The header of a buffer. The layout is that of Windows 7 and later. */
#include "engine/logs/etl_buffer.h"

#include "engine/logs/little_endian.h"

#include <string.h>

enum { LONGEST_EVENT = 0xFFF8 }; /* an event's size has 16 bits */
enum {
    SIZE_AT = 0x00,
    SAVED_AT = 0x04,
    CURRENT_AT = 0x08,
    TIME_AT = 0x10,
    SEQUENCE_AT = 0x18,
    PROCESSOR_AT = 0x28,
    LOGGER_AT = 0x2A,
    STATE_AT = 0x2C,
    USED_AT = 0x30,
    FLAGS_AT = 0x34,
    TYPE_AT = 0x36,
};

void etl_buffer_header_read(const uint8_t *buffer, struct etl_buffer_header *out)
{
    const uint16_t flags = get_u16(buffer + FLAGS_AT);
    *out = (struct etl_buffer_header){
        .size = get_u32(buffer + SIZE_AT),
        .saved = get_u32(buffer + SAVED_AT),
        .current = get_u32(buffer + CURRENT_AT),
        .time = (int64_t)get_u64(buffer + TIME_AT),
        .sequence = get_u64(buffer + SEQUENCE_AT),
        /* Before Windows 8 a byte, and the alignment of events behind it. */
        .processor = (flags & ETL_FLAG_PROCESSOR_INDEX) != 0 ? get_u16(buffer + PROCESSOR_AT) : buffer[PROCESSOR_AT],
        .logger = get_u16(buffer + LOGGER_AT),
        .state = get_u32(buffer + STATE_AT),
        .used = get_u32(buffer + USED_AT),
        .flags = flags,
        .type = get_u16(buffer + TYPE_AT),
    };
}

void etl_buffer_header_write(const struct etl_buffer_header *header, uint8_t *buffer)
{
    memset(buffer, 0, ETL_BUFFER_HEAD);
    put_u32(buffer + SIZE_AT, header->size);
    put_u32(buffer + SAVED_AT, header->saved);
    put_u32(buffer + CURRENT_AT, header->current);
    put_u64(buffer + TIME_AT, (uint64_t)header->time);
    put_u64(buffer + SEQUENCE_AT, header->sequence);
    put_u16(buffer + PROCESSOR_AT, header->processor);
    put_u16(buffer + LOGGER_AT, header->logger);
    put_u32(buffer + STATE_AT, header->state);
    put_u32(buffer + USED_AT, header->used);
    put_u16(buffer + FLAGS_AT, header->flags);
    put_u16(buffer + TYPE_AT, header->type);
}

uint32_t etl_buffer_used(const uint8_t *buffer, uint32_t size)
{
    struct etl_buffer_header head;
    etl_buffer_header_read(buffer, &head);
    const bool ours = head.size == size && head.used >= ETL_BUFFER_HEAD && head.used <= size && (head.used & 7) == 0;
    return ours ? head.used : 0;
}

uint32_t etl_buffer_max_event(uint32_t size)
{
    return size - ETL_BUFFER_HEAD < LONGEST_EVENT ? size - ETL_BUFFER_HEAD : LONGEST_EVENT;
}

bool etl_all_zero(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != 0)
            return false;
    return true;
}

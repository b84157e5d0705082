/* SPDX-License-Identifier: MIT */
/* Blocks into a buffer. */
#include "engine/pdh/remote/block_writer.h"

#include "engine/base/text_unicode.h"
#include "engine/pdh/members.h"

#include <string.h>

void block_put(struct block_writer *w, const void *bytes, size_t size)
{
    if (w->bytes)
        memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

void block_put_text(struct block_writer *w, const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    while (at < end) {
        uint32_t c = unicode_next(&at, end, NULL);
        uint16_t units[2] = {(uint16_t)c, 0};
        bool pair = c > 0xFFFF;
        if (pair) {
            units[0] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
            units[1] = (uint16_t)(0xDC00 + ((c - 0x10000) & 0x3FF));
        }
        block_put(w, units, pair ? 4 : 2);
    }
    block_put(w, &(uint16_t){0}, 2);
}

void block_pad(struct block_writer *w, size_t from)
{
    static const uint8_t zeros[8];
    block_put(w, zeros, (8 - (w->size - from) % 8) % 8);
}

void block_put_instance(struct block_writer *w, const struct instance *instance)
{
    size_t from = w->size;
    struct pcq_instance head = {.id = instance ? pcq_instance_id(instance) : 0};
    block_put(w, &head, sizeof head);
    block_put_text(w, instance ? instance->name : "");
    block_pad(w, from);
    block_set_number(w, from + offsetof(struct pcq_instance, size), (uint32_t)(w->size - from));
}

void block_set_number(struct block_writer *w, size_t at, uint32_t number)
{
    if (w->bytes)
        memcpy(w->bytes + at, &number, sizeof number);
}

DWORD block_deliver(struct pcq_buffer *out, size_t unit, void (*write)(struct block_writer *w, const void *what),
                    const void *what)
{
    struct block_writer counts = {0}, writes = {.bytes = out->bytes};
    out->written = out->needed = 0;
    write(&counts, what);
    if (!block_goes_on(&counts))
        return PCQ_OUT_OF_MEMORY;
    out->needed = (uint32_t)(counts.size / unit);
    if (out->needed > out->room)
        return PCQ_NOT_ENOUGH_MEMORY;
    if (counts.size)
        write(&writes, what);
    out->written = out->needed;
    return ERROR_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/* Writes FlatBuffers from their end to their beginning.

   A table begins with the distance back to its vtable. The vtable consists of 16-bit numbers: its own size, the table's
   size, and for each slot the distance of the field from the table's beginning, or 0. A reference is the forward
   distance to its target. Numbers are little-endian and aligned to their size. All places are counted from the end, so
   the buffer's total length must be a multiple of 8, the largest alignment. */
#include "engine/logs/export/flatbuffer.h"

#include "engine/base/memory.h"

#include <string.h>

/* Reserves `bytes` bytes in front of the used ones. NULL: out of memory, now or earlier. */
static uint8_t *flat_room(struct flatbuffer *f, size_t bytes)
{
    if (f->failed)
        return NULL;
    if (bytes > f->capacity - f->used) {
        const size_t capacity = 2 * (f->capacity + bytes) + 256;
        uint8_t *grown = memory_alloc(capacity);
        if (!grown) {
            f->failed = true;
            return NULL;
        }
        if (f->used > 0)
            memcpy(grown + capacity - f->used, f->bytes + f->capacity - f->used, f->used);
        memory_free(f->bytes);
        f->bytes = grown;
        f->capacity = capacity;
    }
    f->used += bytes;
    return f->bytes + f->capacity - f->used;
}

static void flat_put(struct flatbuffer *f, uint64_t value, size_t bytes)
{
    uint8_t *at = flat_room(f, bytes);
    for (size_t i = 0; at && i < bytes; i++, value >>= 8)
        at[i] = (uint8_t)value;
}

/* Adds zeros, so that data with this alignment can be added after `bytes` more bytes. */
static void flat_align(struct flatbuffer *f, size_t bytes, size_t alignment)
{
    const size_t zeros = (alignment - (f->used + bytes) % alignment) % alignment;
    uint8_t *at = zeros > 0 ? flat_room(f, zeros) : NULL;
    if (at)
        memset(at, 0, zeros);
}

static void flat_put_reference(struct flatbuffer *f, flat_place to)
{
    flat_put(f, f->used + 4 - to, 4);
}

flat_place flat_string(struct flatbuffer *f, const char *text)
{
    const size_t length = strlen(text);
    flat_align(f, length + 1, 4);
    uint8_t *at = flat_room(f, length + 1);
    if (at)
        memcpy(at, text, length + 1);
    flat_put(f, length, 4);
    return f->used;
}

flat_place flat_vector(struct flatbuffer *f, const flat_place *items, size_t count)
{
    flat_align(f, 0, 4);
    for (size_t i = count; i-- > 0;)
        flat_put_reference(f, items[i]);
    flat_put(f, count, 4);
    return f->used;
}

flat_place flat_structs(struct flatbuffer *f, const uint64_t *numbers, size_t count, size_t words)
{
    flat_align(f, 0, 8);
    for (size_t i = count * words; i-- > 0;)
        flat_put(f, numbers[i], 8);
    flat_put(f, count, 4);
    return f->used;
}

void flat_table(struct flatbuffer *f)
{
    memset(f->slots, 0, sizeof f->slots);
    f->table = f->used;
}

void flat_number(struct flatbuffer *f, unsigned slot, uint64_t value, size_t bytes)
{
    flat_align(f, bytes, bytes);
    flat_put(f, value, bytes);
    f->slots[slot] = f->used;
}

void flat_reference(struct flatbuffer *f, unsigned slot, flat_place place)
{
    flat_align(f, 4, 4);
    flat_put_reference(f, place);
    f->slots[slot] = f->used;
}

flat_place flat_table_end(struct flatbuffer *f)
{
    unsigned slots = FLAT_SLOTS;
    while (slots > 0 && f->slots[slots - 1] == 0)
        slots--;
    const size_t vtable = 4 + 2 * (size_t)slots;
    flat_align(f, 4, 4);
    flat_put(f, vtable, 4); /* the vtable is directly in front of the table */
    const flat_place place = f->used;
    for (unsigned i = slots; i-- > 0;)
        flat_put(f, f->slots[i] > 0 ? place - f->slots[i] : 0, 2);
    flat_put(f, place - f->table, 2);
    flat_put(f, vtable, 2);
    return place;
}

const uint8_t *flat_finish(struct flatbuffer *f, flat_place root, size_t *size)
{
    flat_align(f, 4, 8);
    flat_put_reference(f, root);
    *size = f->used;
    return f->failed ? NULL : f->bytes + f->capacity - f->used;
}

void flat_clear(struct flatbuffer *f)
{
    f->used = 0;
}

void flat_free(struct flatbuffer *f)
{
    memory_free(f->bytes);
    *f = (struct flatbuffer){0};
}

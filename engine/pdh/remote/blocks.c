/* SPDX-License-Identifier: MIT */
/* MS-PCQ blocks: parses answers without trusting them, and writes blocks to a buffer. */
#include "engine/pdh/remote/blocks.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/remote/pcq_internal.h"

#include <string.h>

/* The parser checks each size in an answer against the remaining bytes before it uses the size. */

/* Size of pcq_instance, pcq_counters, pcq_instances, pcq_value, pcq_strings and pcq_string. Each of these six structs
   consists of two 32-bit numbers. */
#define PAIR_BYTES 8u
/* Maximum per counterset, because the list is searched for each counter. */
#define MOST_TEXTS 8192u

static size_t left(const struct answer_place *place)
{
    return (size_t)(place->end - place->at);
}

/* Returns the units before the NUL, or the maximum number of units if there is no NUL. */
static struct answer_text text_at(const uint8_t *at, size_t bytes)
{
    struct answer_text text = {.at = at};
    while (text.units < bytes / 2 && text.units < ANSWER_MOST_UNITS && get_u16(at + 2 * text.units))
        text.units++;
    return text;
}

HRESULT answer_text_copy(struct answer_text text, char **out)
{
    WCHAR *units = memory_alloc((text.units + 1) * sizeof *units);
    *out = NULL;
    if (!units)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < text.units; i++)
        units[i] = (WCHAR)get_u16(text.at + 2 * i);
    HRESULT hr = text_from_utf16(units, text.units, true, out);
    memory_free(units);
    return hr;
}

bool answer_set(const uint8_t *bytes, size_t size, struct pcq_set_info *out)
{
    *out = (struct pcq_set_info){0};
    if (size < sizeof *out)
        return false;
    memcpy(out, bytes, sizeof *out);
    return out->counters <= (size - sizeof *out) / sizeof(struct pcq_counter_info);
}

void answer_counter(const uint8_t *bytes, size_t index, struct pcq_counter_info *out)
{
    memcpy(out, bytes + sizeof(struct pcq_set_info) + index * sizeof *out, sizeof *out);
}

bool answer_one_text(const uint8_t *bytes, size_t size, struct answer_text *out)
{
    *out = text_at(bytes, size);
    return out->units < size / 2 && !get_u16(bytes + 2 * out->units); /* the NUL exists */
}

bool answer_text_of(const uint8_t *bytes, size_t size, uint32_t id, size_t hint, struct answer_text *out)
{
    *out = (struct answer_text){.at = bytes};
    size_t count = size < PAIR_BYTES ? 0 : get_u32(bytes + 4);
    if (!count || count > size / PAIR_BYTES - 1 || count > MOST_TEXTS)
        return false;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *head = bytes + PAIR_BYTES * (1 + (hint % count + i) % count);
        size_t begin = PAIR_BYTES * (1 + count);
        if (get_u32(head) != id)
            continue;
        if (get_u32(head + 4) > size - begin)
            return false;
        begin += get_u32(head + 4);
        return answer_one_text(bytes + begin, size - begin, out);
    }
    return false;
}

bool answer_next_instance(struct answer_place *place, struct answer_instance *out)
{
    if (left(place) < PAIR_BYTES || get_u32(place->at) < PAIR_BYTES || get_u32(place->at) > left(place))
        return false;
    uint32_t size = get_u32(place->at);
    out->id = get_u32(place->at + 4);
    out->name = text_at(place->at + PAIR_BYTES, size - PAIR_BYTES);
    place->at += size;
    return true;
}

bool answer_next_identifier(struct answer_place *place, struct answer_identifier *out)
{
    if (left(place) < sizeof out->head)
        return false;
    memcpy(&out->head, place->at, sizeof out->head);
    if (out->head.size < sizeof out->head || out->head.size > left(place))
        return false;
    out->name = text_at(place->at + sizeof out->head, out->head.size - sizeof out->head);
    place->at += out->head.size;
    return true;
}

bool answer_data(const uint8_t *bytes, size_t size, struct answer_data *out)
{
    *out = (struct answer_data){0};
    if (size < sizeof out->head)
        return false;
    memcpy(&out->head, bytes, sizeof out->head);
    if (out->head.size < sizeof out->head || out->head.size > size)
        return false;
    out->blocks = (struct answer_place){bytes + sizeof out->head, bytes + out->head.size};
    return true;
}

static bool take_counters(struct answer_block *b)
{
    if (left(&b->values) < PAIR_BYTES)
        return false;
    uint32_t size = get_u32(b->values.at), count = get_u32(b->values.at + 4);
    if (size > left(&b->values) || size < PAIR_BYTES || count > (size - PAIR_BYTES) / 4)
        return false;
    b->ids = b->values.at + PAIR_BYTES;
    b->counters = count;
    b->values.at += size;
    return true;
}

static bool take_instances(struct answer_block *b)
{
    if (left(&b->values) < PAIR_BYTES)
        return false;
    b->rows = get_u32(b->values.at + 4);
    b->named = true;
    b->values.at += PAIR_BYTES;
    /* Each row has at least the header of an instance or a value. */
    return b->rows <= left(&b->values) / PAIR_BYTES;
}

bool answer_next_block(struct answer_place *blocks, struct answer_block *out)
{
    struct pcq_block head;
    *out = (struct answer_block){0};
    if (left(blocks) < sizeof head)
        return false;
    memcpy(&head, blocks->at, sizeof head);
    if (head.size < sizeof head || head.size > left(blocks))
        return false;
    out->status = head.status;
    out->kind = head.kind;
    out->values = (struct answer_place){blocks->at + sizeof head, blocks->at + head.size};
    out->counters = out->rows = 1;
    blocks->at += head.size;
    bool ok = false;
    if (head.kind == PCQ_SINGLE_COUNTER)
        ok = true;
    else if (head.kind == PCQ_MULTI_COUNTERS)
        ok = take_counters(out);
    else if (head.kind == PCQ_MULTI_INSTANCES)
        ok = take_instances(out);
    else if (head.kind == PCQ_COUNTERSET)
        ok = take_counters(out) && take_instances(out);
    if (!ok) { /* an error or a corrupt block; later blocks are not affected */
        out->status = head.kind != PCQ_ERROR || !head.status ? ERROR_INVALID_DATA : head.status;
        out->kind = PCQ_ERROR;
        out->rows = 0;
    }
    return true;
}

uint32_t answer_block_id(const struct answer_block *b, size_t index)
{
    return b->ids ? get_u32(b->ids + 4 * index) : PCQ_ANY;
}

bool answer_next_value(struct answer_place *values, struct answer_value *out)
{
    *out = (struct answer_value){0};
    if (left(values) < PAIR_BYTES)
        return false;
    uint32_t data = get_u32(values->at), size = get_u32(values->at + 4);
    if (size < PAIR_BYTES || size > left(values) || data > size - PAIR_BYTES)
        return false;
    out->present = data == 4 || data == 8;
    if (data == 4)
        out->value = get_u32(values->at + PAIR_BYTES);
    else if (data == 8)
        out->value = (int64_t)get_u64(values->at + PAIR_BYTES);
    values->at += size;
    return true;
}

/* ---- writing ---- */

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

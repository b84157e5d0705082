/* SPDX-License-Identifier: MIT */
/* Reads performance data blocks. The fields are described in Microsoft's documentation of winperf.h, "Performance Data
   Format". In the same documentation, the page of each counter type says which clock or base is the type's second
   value. */
#include "engine/logs/perf_data.h"

#include "engine/logs/little_endian.h"
#include "engine/logs/pdh_types.h"

enum {
    DATA_HEAD = 0x58,
    OBJECT_HEAD = 0x40,
    DEFINITION_SIZE = 0x28,
    INSTANCE_HEAD = 0x18,
    BLOCK_HEAD = 4,
};
/* Bit fields of a counter type. */
enum {
    TYPE_SIZE = 0x300,
    TYPE_SIZE_DWORD = 0x000,
    TYPE_SIZE_LARGE = 0x100,
    TYPE_CLASS = 0xC00,
    TYPE_CLASS_COUNTER = 0x400,
    TYPE_CLASS_TEXT = 0x800,
    TYPE_CALCULATION = 0x70000,
    TYPE_TIMER = 0x300000,
};

bool perf_data_read(const uint8_t *bytes, size_t size, struct perf_data *out)
{
    static const uint8_t signature[8] = {'P', 0, 'E', 0, 'R', 0, 'F', 0};
    if (size < DATA_HEAD || get_u64(bytes) != get_u64(signature) || get_u32(bytes + 0x08) != 1)
        return false;
    const uint32_t total = get_u32(bytes + 0x14), head = get_u32(bytes + 0x18);
    if (total > size || head < DATA_HEAD || head > total)
        return false;
    *out = (struct perf_data){
        .bytes = bytes,
        .size = total,
        .times = {.ticks = (int64_t)get_u64(bytes + 0x38),
                  .frequency = (int64_t)get_u64(bytes + 0x40),
                  .utc = (int64_t)get_u64(bytes + 0x48)},
        .objects = get_u32(bytes + 0x1C),
        .first = head,
    };
    const uint32_t name_size = get_u32(bytes + 0x50), name = get_u32(bytes + 0x54);
    if (name <= total && name_size <= total - name) {
        out->name = bytes + name;
        out->name_units = name_size / 2;
        while (out->name_units != 0 && get_u16(out->name + 2 * (out->name_units - 1)) == 0)
            out->name_units--;
    }
    return true;
}

bool perf_object_read(const uint8_t *bytes, size_t size, struct perf_object *out)
{
    if (size < OBJECT_HEAD)
        return false;
    const uint32_t total = get_u32(bytes), definitions_end = get_u32(bytes + 0x04), head = get_u32(bytes + 0x08);
    if (total > size || definitions_end > total || head > definitions_end || head < OBJECT_HEAD)
        return false;
    *out = (struct perf_object){
        .bytes = bytes,
        .size = total,
        .title = get_u32(bytes + 0x0C),
        .help = get_u32(bytes + 0x14),
        .counters = get_u32(bytes + 0x20),
        .instances = (int32_t)get_u32(bytes + 0x28),
        .ticks = (int64_t)get_u64(bytes + 0x30),
        .frequency = (int64_t)get_u64(bytes + 0x38),
        .definitions = head,
        .values = definitions_end,
    };
    return out->counters <= (definitions_end - head) / DEFINITION_SIZE;
}

bool perf_object_counter(const struct perf_object *object, size_t *offset, struct perf_counter *out)
{
    if (*offset > object->values || object->values - *offset < DEFINITION_SIZE)
        return false;
    const uint8_t *at = object->bytes + *offset;
    const uint32_t length = get_u32(at);
    if (length < DEFINITION_SIZE || length > object->values - *offset)
        return false;
    *out = (struct perf_counter){
        .title = get_u32(at + 0x04),
        .help = get_u32(at + 0x0C),
        .default_scale = (int32_t)get_u32(at + 0x14),
        .type = get_u32(at + 0x1C),
        .size = get_u32(at + 0x20),
        .offset = get_u32(at + 0x24),
    };
    *offset += length;
    return true;
}

static bool read_block(const struct perf_object *object, size_t offset, const uint8_t **block, size_t *size)
{
    if (offset > object->size || object->size - offset < BLOCK_HEAD)
        return false;
    *block = object->bytes + offset;
    *size = get_u32(*block);
    return *size >= BLOCK_HEAD && *size <= object->size - offset;
}

bool perf_object_instance(const struct perf_object *object, size_t *offset, struct perf_instance *out)
{
    if (*offset > object->size || object->size - *offset < INSTANCE_HEAD)
        return false;
    const uint8_t *at = object->bytes + *offset;
    const uint32_t length = get_u32(at), name = get_u32(at + 0x10), name_size = get_u32(at + 0x14);
    if (length < INSTANCE_HEAD || length > object->size - *offset || name > length || name_size > length - name)
        return false;
    *out = (struct perf_instance){
        .parent_title = get_u32(at + 0x04),
        .parent_index = get_u32(at + 0x08),
        .unique_id = (int32_t)get_u32(at + 0x0C),
        .name = at + name,
        .name_units = name_size / 2,
    };
    while (out->name_units != 0 && get_u16(out->name + 2 * (out->name_units - 1)) == 0)
        out->name_units--;
    if (!read_block(object, *offset + length, &out->block, &out->block_size))
        return false;
    *offset += length + out->block_size;
    return true;
}

bool perf_object_block(const struct perf_object *object, const uint8_t **block, size_t *size)
{
    return read_block(object, object->values, block, size);
}

bool perf_counter_is_base(const struct perf_counter *c)
{
    return (c->type & TYPE_CLASS) == TYPE_CLASS_COUNTER && (c->type & TYPE_CALCULATION) == PERF_COUNTER_BASE;
}

bool perf_counter_is_text(const struct perf_counter *c)
{
    return (c->type & TYPE_CLASS) == TYPE_CLASS_TEXT;
}

int64_t perf_counter_time_base(const struct perf_times *times, const struct perf_object *object,
                               const struct perf_counter *c)
{
    switch (c->type & TYPE_TIMER) {
    case PERF_TIMER_100NS:
        return 10000000;
    case PERF_OBJECT_TIMER:
        return object->frequency;
    default:
        return times->frequency;
    }
}

static bool read_number(const struct perf_counter *c, const uint8_t *block, size_t block_size, int64_t *out)
{
    const uint32_t width = (c->type & TYPE_SIZE) == TYPE_SIZE_LARGE ? 8 : 4;
    *out = 0;
    if ((c->type & TYPE_SIZE) != TYPE_SIZE_LARGE && (c->type & TYPE_SIZE) != TYPE_SIZE_DWORD)
        return true; /* a text counter has no numeric value */
    if (c->offset > block_size || block_size - c->offset < width)
        return false;
    *out = width == 8 ? (int64_t)get_u64(block + c->offset) : (int64_t)get_u32(block + c->offset);
    return true;
}

bool perf_counter_raw(const struct perf_times *times, const struct perf_object *object, const struct perf_counter *c,
                      const struct perf_counter *base, const uint8_t *block, size_t block_size, struct log_raw *out)
{
    int64_t below = 0;
    *out = (struct log_raw){.multi_count = 1};
    if (!read_number(c, block, block_size, &out->first) || (base && !read_number(base, block, block_size, &below)))
        return false;
    if ((c->type & TYPE_CLASS) != TYPE_CLASS_COUNTER)
        return true;
    if (base && (c->type & PERF_MULTI_COUNTER) == 0) {
        out->second = below;
        return true;
    }
    if (base)
        out->multi_count = (uint32_t)below;
    switch (c->type & TYPE_TIMER) {
    case PERF_TIMER_100NS:
        out->second = times->utc;
        break;
    case PERF_OBJECT_TIMER:
        out->second = object->ticks;
        break;
    default:
        out->second = times->ticks;
        break;
    }
    return true;
}

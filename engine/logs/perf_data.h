/* SPDX-License-Identifier: MIT */
/* Parses performance data blocks: PERF_DATA_BLOCK, PERF_OBJECT_TYPE, PERF_COUNTER_DEFINITION, PERF_INSTANCE_DEFINITION
   and PERF_COUNTER_BLOCK of winperf.h, which are the same in 32-bit and 64-bit programs. Every offset is checked;
   nothing outside the given bytes is read. This header also has conversions between the raw values of logs and those of
   PDH. */
#ifndef OPENPLA_PERF_DATA_H
#define OPENPLA_PERF_DATA_H

#include "engine/logs/log.h"
#include "engine/logs/pdh_types.h"

/* The clocks of one data block. */
struct perf_times {
    int64_t ticks, frequency; /* value and ticks per second of the performance counter */
    int64_t utc;              /* PerfTime100nSec */
};

struct perf_data {
    const uint8_t *bytes; /* borrowed */
    size_t size;
    struct perf_times times;
    uint32_t objects;    /* number of objects, as the block states it */
    size_t first;        /* offset of the first object */
    const uint8_t *name; /* computer name, UTF-16 without backslashes */
    size_t name_units;
};

struct perf_object {
    const uint8_t *bytes; /* borrowed */
    size_t size;          /* TotalByteLength */
    uint32_t title, help; /* title indexes of the object's name and help text */
    uint32_t counters;
    int32_t instances; /* -1: no instances, but a single counter block */
    int64_t ticks, frequency;
    size_t definitions, values; /* offsets: first counter definition; first instance or the counter block */
};

struct perf_counter {
    uint32_t title, help; /* as in perf_object */
    int32_t default_scale;
    uint32_t type;         /* PERF_* */
    uint32_t size, offset; /* size and offset of the value in the counter block */
};

struct perf_instance {
    uint32_t parent_title, parent_index; /* title index of the parent's object (0: no parent), and the parent's index
                                            among its instances */
    int32_t unique_id;                   /* -1: the instance has a name */
    const uint8_t *name;                 /* UTF-16, borrowed */
    size_t name_units;
    const uint8_t *block; /* counter block */
    size_t block_size;
};

/* Reads the block's header. False: not a data block in this computer's byte order. */
bool perf_data_read(const uint8_t *bytes, size_t size, struct perf_data *out);
/* Reads the object at `bytes`. False: the object exceeds `size`. */
bool perf_object_read(const uint8_t *bytes, size_t size, struct perf_object *out);
/* Reads the counter definition at *offset and advances *offset. Before the first call, the caller sets *offset to
   object->definitions. */
bool perf_object_counter(const struct perf_object *object, size_t *offset, struct perf_counter *out);
/* Reads the instance at *offset and its counters, and advances *offset. Before the first call, the caller sets *offset
   to object->values. */
bool perf_object_instance(const struct perf_object *object, size_t *offset, struct perf_instance *out);
/* Returns the counter block of an object without instances. */
bool perf_object_block(const struct perf_object *object, const uint8_t **block, size_t *size);

/* Returns whether c is the denominator of the preceding counter. */
bool perf_counter_is_base(const struct perf_counter *c);
bool perf_counter_is_text(const struct perf_counter *c);
/* Returns the ticks per second of the counter's times. */
int64_t perf_counter_time_base(const struct perf_times *times, const struct perf_object *object,
                               const struct perf_counter *c);
/* Returns the counter's raw value in the form that PDH stores. `base` is the definition after c if that is a base
   counter, otherwise NULL. False: the value is outside the block. */
bool perf_counter_raw(const struct perf_times *times, const struct perf_object *object, const struct perf_counter *c,
                      const struct perf_counter *base, const uint8_t *block, size_t block_size, struct log_raw *out);

/* Convert between raw values of logs and of PDH. These two functions do not copy the time stamp, because a log stores
   one time for all values of a sample. */
static inline struct log_raw log_raw_of(const PDH_RAW_COUNTER *raw)
{
    return (struct log_raw){
        .status = raw->CStatus, .first = raw->FirstValue, .second = raw->SecondValue, .multi_count = raw->MultiCount};
}

static inline void log_raw_to_pdh(const struct log_raw *raw, PDH_RAW_COUNTER *out)
{
    out->CStatus = raw->status;
    out->FirstValue = raw->first;
    out->SecondValue = raw->second;
    out->MultiCount = raw->multi_count;
}

#endif

/* SPDX-License-Identifier: MIT */
/* The blocks of MS-PCQ 2.2.4 that the server writes to a method's buffer, and functions that parse an answer consisting
   of such blocks. */
#ifndef OPENPLA_PDH_BLOCKS_H
#define OPENPLA_PDH_BLOCKS_H

#include "engine/base/assert.h"
#include "engine/base/text.h"
#include "engine/base/wintypes.h"

/* The blocks of MS-PCQ 2.2.4: little-endian, without padding between members. Sizes are in bytes. In a list, each block
   begins at a multiple of 8 bytes from the beginning of the buffer. The exception is a block after an odd number of
   counter ids (decision 99). Therefore readers copy a block before they use it. */

/* As a counter's id, PCQ_ANY stands for all counters of a counterset. As an instance's number, PCQ_ANY matches every
   number. The instance name "*" stands for all instances; * and ? are wildcards. */
#define PCQ_ANY 0xFFFFFFFFu

/* The operation numbers of the RPC interface. */
enum pcq_method {
    PCQ_ENUMERATE_SETS,
    PCQ_REGISTRATION_INFO,
    PCQ_ENUMERATE_INSTANCES,
    PCQ_OPEN_QUERY,
    PCQ_CLOSE_QUERY,
    PCQ_QUERY_INFO,
    PCQ_QUERY_DATA,
    PCQ_VALIDATE_COUNTERS,
    PCQ_METHODS
};
/* Maximum sizes of a client's buffer, from the ranges in the IDL: the first in GUIDs, the others in bytes. */
enum pcq_most {
    PCQ_MOST_SETS = 256,
    PCQ_MOST_INFO = 134217728,
    PCQ_MOST_INSTANCES = 67108864,
    PCQ_MOST_IDENTIFIERS = 67108864,
    PCQ_MOST_DATA = 1073741824
};

/* RequestCode of QueryCounterSetRegistrationInfo. */
enum pcq_request {
    PCQ_SET_INFO = 1,      /* pcq_set_info, followed by a pcq_counter_info for each counter */
    PCQ_COUNTER_INFO = 2,  /* pcq_counter_info; the LCID parameter is the counter's id */
    PCQ_SET_NAME = 3,      /* a string: UTF-16 with its NUL */
    PCQ_SET_HELP = 4,      /* a string */
    PCQ_COUNTER_NAMES = 5, /* pcq_strings, then a pcq_string for each counter, then the strings */
    PCQ_COUNTER_HELPS = 6,
    PCQ_PROVIDER_NAME = 7, /* a string */
    PCQ_PROVIDER_GUID = 8, /* a GUID */
    PCQ_SET_NAME_ENGLISH = 9,
    PCQ_COUNTER_NAMES_ENGLISH = 10
};

/* PERF_COUNTERSET_REG_INFO */
struct pcq_set_info {
    GUID guid;
    uint32_t type;   /* always 0 */
    uint32_t detail; /* 100 or 200 */
    uint32_t counters;
    uint32_t instance_type; /* enum pcq_instance_type */
};
enum pcq_instance_type { PCQ_SINGLE_INSTANCE = 0, PCQ_MULTI_INSTANCE = 2 };

/* PERF_COUNTER_REG_INFO */
struct pcq_counter_info {
    uint32_t id;
    uint32_t type;       /* PERF_* */
    uint64_t attributes; /* enum pcq_attribute */
    uint32_t detail;
    int32_t scale;     /* power of ten */
    uint32_t base;     /* `base`, `time`, `freq` and `multi` are ids of other counters of the counterset; PCQ_ANY:
                          none */
    uint32_t time;     /* the counter (PERF_COUNTER_LARGE_RAWCOUNT) that contains the time of the value */
    uint32_t freq;     /* the counter (PERF_COUNTER_LARGE_RAWCOUNT) that contains the ticks per second of that time */
    uint32_t multi;    /* the counter (PERF_COUNTER_RAWCOUNT) that contains the divisor */
    uint32_t function; /* for aggregates; otherwise 0 */
    uint32_t reserved; /* always 0 */
};
enum pcq_attribute { PCQ_REFERENCE = 1, PCQ_NO_DISPLAY = 2, PCQ_NO_SEPARATOR = 4, PCQ_AS_REAL = 8, PCQ_AS_HEX = 16 };

/* PERF_STRING_BUFFER_HEADER, followed by a PERF_STRING_COUNTER_HEADER for each counter. */
struct pcq_strings {
    uint32_t size; /* size of everything, including headers and padding */
    uint32_t counters;
};
struct pcq_string {
    uint32_t id;
    uint32_t offset; /* distance from the end of the last header to the string */
};

/* PERF_INSTANCE_HEADER, in the answers of EnumerateCounterSetInstances and in data. `size` includes the name and its
   padding. */
struct pcq_instance {
    uint32_t size;
    uint32_t id;
    /* WCHAR name[] with its NUL, then zeros up to a multiple of 8 bytes */
};

/* PERF_COUNTER_IDENTIFIER */
struct pcq_identifier {
    GUID guid;
    uint32_t status; /* a Win32 error */
    uint32_t size;   /* including the name; a multiple of 8 in our output */
    uint32_t counter;
    uint32_t instance;
    uint32_t index; /* index of the counter's block in the data */
    uint32_t reserved;
    /* WCHAR name[] with its NUL; "" if the counterset has no instances */
};

/* PERF_DATA_HEADER */
struct pcq_data {
    uint32_t size;      /* size of everything */
    uint32_t counters;  /* number of blocks that follow */
    uint64_t ticks;     /* the performance counter */
    uint64_t utc;       /* FILETIME */
    uint64_t frequency; /* ticks per second */
    uint16_t system[8]; /* SYSTEMTIME of utc: year, month, weekday, day, hour, minute, second, millisecond */
};

/* PERF_COUNTER_HEADER */
struct pcq_block {
    uint32_t status; /* a Win32 error */
    uint32_t kind;   /* enum pcq_kind */
    uint32_t size;   /* size of this header and of all data that belong to the block; a multiple of 8 */
    uint32_t reserved;
};
enum pcq_kind {
    PCQ_ERROR = 0,           /* nothing follows */
    PCQ_SINGLE_COUNTER = 1,  /* pcq_value */
    PCQ_MULTI_COUNTERS = 2,  /* pcq_counters, ids, then a pcq_value for each counter */
    PCQ_MULTI_INSTANCES = 4, /* pcq_instances, then a pcq_instance and a pcq_value for each instance */
    PCQ_COUNTERSET = 6       /* pcq_counters, ids, pcq_instances, then a pcq_instance and its pcq_values for each
                                instance */
};

/* PERF_MULTI_COUNTERS, then uint32_t ids[counters] */
struct pcq_counters {
    uint32_t size; /* 8 + 4 * counters: the next block immediately follows the ids */
    uint32_t counters;
};

/* PERF_MULTI_INSTANCES */
struct pcq_instances {
    uint32_t size; /* including all instances and their values */
    uint32_t instances;
};

/* PERF_COUNTER_DATA, followed by the value and zeros up to `size`. */
struct pcq_value {
    uint32_t data_size; /* 4 or 8, depending on the counter's type; 0: no value at this time */
    uint32_t size;      /* a multiple of 8 */
};

_Static_assert(sizeof(struct pcq_set_info) == 32, "as published");
_Static_assert(sizeof(struct pcq_counter_info) == 48, "as published");
_Static_assert(sizeof(struct pcq_identifier) == 40, "as published");
_Static_assert(sizeof(struct pcq_data) == 48, "as published");
_Static_assert(sizeof(struct pcq_block) == 16, "as published");

/* Parses the answers of PerflibV2's methods (MS-PCQ 2.2) without trusting them: each step returns the next item only if
   it lies completely within the bytes. Only numbers are copied; names remain UTF-16 within the bytes. */

/* A UTF-16 string at any address, without its NUL, of at most ANSWER_MOST_UNITS units. */
#define ANSWER_MOST_UNITS 32767u
struct answer_text {
    const uint8_t *at;
    size_t units;
};
/* Copies the string to UTF-8, from memory_alloc. Lone surrogates become U+FFFD. */
HRESULT answer_text_copy(struct answer_text text, char **out);

/* Parse PCQ_SET_INFO: the counterset, then its counters with indexes below `counters`. */
bool answer_set(const uint8_t *bytes, size_t size, struct pcq_set_info *out);
void answer_counter(const uint8_t *bytes, size_t index, struct pcq_counter_info *out);
/* Parses PCQ_SET_NAME and similar answers: one string. */
bool answer_one_text(const uint8_t *bytes, size_t size, struct answer_text *out);
/* Parses PCQ_COUNTER_NAMES and similar answers: finds the string of the counter `id`. The search begins at index
   `hint`. False if the string does not exist or does not fit in the bytes. */
bool answer_text_of(const uint8_t *bytes, size_t size, uint32_t id, size_t hint, struct answer_text *out);

/* A position in an answer. */
struct answer_place {
    const uint8_t *at, *end;
};
/* Parses the answer of PerflibV2EnumerateCounterSetInstances. Before the first call, the caller sets *place to the
   beginning and the end of the whole answer. False at the end or if the bytes are corrupt. */
struct answer_instance {
    uint32_t id;
    struct answer_text name;
};
bool answer_next_instance(struct answer_place *place, struct answer_instance *out);
/* Parses the answers of PerflibV2QueryCounterInfo and PerflibV2ValidateCounters. */
struct answer_identifier {
    struct pcq_identifier head;
    struct answer_text name;
};
bool answer_next_identifier(struct answer_place *place, struct answer_identifier *out);

/* Parses the answer of PerflibV2QueryCounterData. */
struct answer_data {
    struct pcq_data head;
    struct answer_place blocks;
};
bool answer_data(const uint8_t *bytes, size_t size, struct answer_data *out);
struct answer_block {
    uint32_t status;    /* a Win32 error */
    uint32_t kind;      /* enum pcq_kind */
    const uint8_t *ids; /* 4 bytes for each of `counters`; NULL if the block has only the requested counter */
    size_t counters;    /* values per row */
    size_t rows;        /* announced number of rows; 0: no instances, or the block contains only an error. Parsing ends
                           earlier if the block has fewer rows */
    bool named;         /* each row begins with an instance */
    struct answer_place values;
};
/* Returns the next block. The range `values` ends inside the block, so parsing the values never reads beyond the
   block. */
bool answer_next_block(struct answer_place *blocks, struct answer_block *out);
uint32_t answer_block_id(const struct answer_block *b, size_t index);
/* Returns the next value of a row; false at the end. `present` is false if the value's size is neither 4 nor 8
   bytes. */
struct answer_value {
    bool present;
    int64_t value;
};
bool answer_next_value(struct answer_place *values, struct answer_value *out);

#endif

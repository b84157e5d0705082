/* SPDX-License-Identifier: MIT */
/* What the methods of PerflibV2 answer (MS-PCQ 2.2), walked without trust: each step says whether there is a next thing
   that lies within the bytes whole. Nothing is copied but numbers; names are UTF-16 within the bytes. */
#ifndef OPENPLA_PCQ_ANSWER_WALK_H
#define OPENPLA_PCQ_ANSWER_WALK_H

#include "engine/base/text.h"
#include "engine/pdh/remote/blocks.h"

/* UTF-16 at any address, without its NUL; of at most ANSWER_MOST_UNITS. */
#define ANSWER_MOST_UNITS 32767u
struct answer_text {
    const uint8_t *at;
    size_t units;
};
/* From memory_alloc; lone surrogates become U+FFFD. */
HRESULT answer_text_copy(struct answer_text text, char **out);

/* PCQ_SET_INFO; then the counters, whose index is below `counters`. */
bool answer_set(const uint8_t *bytes, size_t size, struct pcq_set_info *out);
void answer_counter(const uint8_t *bytes, size_t index, struct pcq_counter_info *out);
/* PCQ_SET_NAME and its like: one text. */
bool answer_one_text(const uint8_t *bytes, size_t size, struct answer_text *out);
/* PCQ_COUNTER_NAMES and its like: the text of the counter `id`, looked for from the `hint`-th on. False: it has none
   that lies within the bytes. */
bool answer_text_of(const uint8_t *bytes, size_t size, uint32_t id, size_t hint, struct answer_text *out);

/* A place in an answer. */
struct answer_place {
    const uint8_t *at, *end;
};
/* PerflibV2EnumerateCounterSetInstances: begin with all of its bytes. False: no more, or damaged. */
struct answer_instance {
    uint32_t id;
    struct answer_text name;
};
bool answer_next_instance(struct answer_place *place, struct answer_instance *out);
/* PerflibV2QueryCounterInfo, PerflibV2ValidateCounters. */
struct answer_identifier {
    struct pcq_identifier head;
    struct answer_text name;
};
bool answer_next_identifier(struct answer_place *place, struct answer_identifier *out);

/* PerflibV2QueryCounterData. */
struct answer_data {
    struct pcq_data head;
    struct answer_place blocks;
};
bool answer_data(const uint8_t *bytes, size_t size, struct answer_data *out);
struct answer_block {
    uint32_t status;    /* a Win32 error */
    uint32_t kind;      /* enum pcq_kind */
    const uint8_t *ids; /* `counters` of 4 bytes; NULL where the block has the one that was asked for */
    size_t counters;    /* values of each row */
    size_t rows;        /* 0: an error. A row that the block does not hold is not given. */
    bool named;         /* each row begins with an instance */
    struct answer_place values;
};
/* Only what is inside of the block can be walked by its `values`. */
bool answer_next_block(struct answer_place *blocks, struct answer_block *out);
uint32_t answer_block_id(const struct answer_block *b, size_t index);
/* One value of a row; false: no more. `present` false: it has none of 4 or 8 bytes. */
struct answer_value {
    bool present;
    int64_t value;
};
bool answer_next_value(struct answer_place *values, struct answer_value *out);

#endif

/* SPDX-License-Identifier: MIT */
/* Address ranges of processes, each valid from one event of a trace to another. */
#ifndef OPENPLA_CODE_RANGES_H
#define OPENPLA_CODE_RANGES_H

#include "engine/base/text.h"
#include "engine/etw/id_map.h"

struct code_range {
    uint64_t base, size;
    uint64_t from, to; /* numbers of events; to: UINT64_MAX while it is loaded */
    uint32_t process;
    uint32_t what;  /* index of the module, or of the method's name */
    uint64_t owner; /* of methods: id of their module in the process */
};
/* Zero-initialise. */
struct code_ranges {
    struct code_range *items;
    size_t count, capacity;
    struct id_map open; /* process and base -> index + 1 of the latest range */
    bool sorted;
    uint64_t refused;
};
/* Begins a range; a range at the same address that is still open ends. The list owns the returned range; it is valid
   until the next call. NULL: out of memory, or (S_OK in *hr) beyond the limit. */
struct code_range *code_ranges_begin(struct code_ranges *r, uint32_t process, uint64_t base, uint64_t size,
                                     uint64_t from, HRESULT *hr);
/* The open range at that base; NULL: none. */
struct code_range *code_ranges_open(const struct code_ranges *r, uint32_t process, uint64_t base);
void code_ranges_end(struct code_ranges *r, uint32_t process, uint64_t base, uint64_t to);
void code_ranges_sort(struct code_ranges *r);
/* The range that contains the address at that event, or else one that contains it at another time; NULL: no range. */
const struct code_range *code_ranges_find(const struct code_ranges *r, uint32_t process, uint64_t address,
                                          uint64_t number);
void code_ranges_free(struct code_ranges *r);

#endif

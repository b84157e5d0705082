/* SPDX-License-Identifier: MIT */
/* Address ranges of processes. Each range is valid from one event of a trace to another event. */
#ifndef OPENPLA_CODE_RANGES_H
#define OPENPLA_CODE_RANGES_H

#include "engine/base/text.h"
#include "engine/etw/id_map.h"

struct code_range {
    uint64_t base, size;
    uint64_t from, to; /* numbers of events; to: UINT64_MAX while the range is open */
    uint32_t process;
    uint32_t what;  /* index of the module, or of the method's name */
    uint64_t owner; /* for a method: id of the method's module in the process */
};
/* Zero-initialise. */
struct code_ranges {
    struct code_range *items;
    size_t count, capacity;
    struct id_map open; /* process and base -> index + 1 of the latest range there */
    bool sorted;
    uint64_t refused;
};
/* Begins a range. If an earlier range at the same address is still open, ends the earlier range. The list owns the
   returned range; the pointer is valid until the next call. Returns NULL if memory ran out, or if the limit was
   reached; in the second case *hr is S_OK. */
struct code_range *code_ranges_begin(struct code_ranges *r, uint32_t process, uint64_t base, uint64_t size,
                                     uint64_t from, HRESULT *hr);
/* Returns the open range at that base, or NULL if no range is open there. */
struct code_range *code_ranges_open(const struct code_ranges *r, uint32_t process, uint64_t base);
void code_ranges_end(struct code_ranges *r, uint32_t process, uint64_t base, uint64_t to);
void code_ranges_sort(struct code_ranges *r);
/* Returns the range that contains the address at the time of that event. If no range contains the address at that time,
   returns a range that contains the address at another time. Returns NULL if no range contains the address at any
   time. */
const struct code_range *code_ranges_find(const struct code_ranges *r, uint32_t process, uint64_t address,
                                          uint64_t number);
void code_ranges_free(struct code_ranges *r);

#endif

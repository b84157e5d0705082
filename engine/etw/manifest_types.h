/* SPDX-License-Identifier: MIT */
/* The names that manifests have for types. */
#ifndef OPENPLA_MANIFEST_TYPES_H
#define OPENPLA_MANIFEST_TYPES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    IN_UNICODE = 1,
    IN_ANSI = 2,
    IN_INT8 = 3,
    IN_UINT64 = 10,
    IN_BINARY = 14,
    IN_HEX32 = 20,
    IN_HEX64 = 21,
    OUT_IPV6 = 24,
};
struct manifest_in_type {
    const char *name;
    uint16_t number, out; /* the output that it has without outType */
    uint16_t bytes;       /* 0: its length says them, or its data */
};
/* By the name without its prefix, in any case, or by the number; NULL: there is none. */
const struct manifest_in_type *manifest_in_type(const char *name);
const struct manifest_in_type *manifest_in_type_of(uint16_t number);
/* False: there is none of that name. */
bool manifest_out_type(const char *name, uint16_t *number);
/* With its prefix, "xs:string"; NULL: there is none. */
const char *manifest_out_type_name(uint16_t number);

#endif

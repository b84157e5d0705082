/* SPDX-License-Identifier: MIT */
/* The names that manifests have for types, by rows. */
#include "engine/etw/manifest_types.h"

#include "engine/base/text.h"

#include <string.h>

#define IN_TYPE(called, type, shown, size) {called, type, shown, size},
#define OUT_TYPE(called, type)
static const struct manifest_in_type in_types[] = {
#include "engine/etw/decode/manifest/manifest_types.def"
};
#undef IN_TYPE
#undef OUT_TYPE
#define IN_TYPE(called, type, shown, size)
#define OUT_TYPE(called, type) {((type) <= 15 ? "xs:" called : "win:" called), type},
static const struct {
    const char *name;
    uint16_t number;
} out_types[] = {
#include "engine/etw/decode/manifest/manifest_types.def"
};

const struct manifest_in_type *manifest_in_type(const char *name)
{
    for (size_t i = 0; i < sizeof in_types / sizeof in_types[0]; i++)
        if (text_equal_nocase(in_types[i].name, name))
            return &in_types[i];
    return NULL;
}

const struct manifest_in_type *manifest_in_type_of(uint16_t number)
{
    for (size_t i = 0; i < sizeof in_types / sizeof in_types[0]; i++)
        if (in_types[i].number == number)
            return &in_types[i];
    return NULL;
}

bool manifest_out_type(const char *name, uint16_t *number)
{
    for (size_t i = 0; i < sizeof out_types / sizeof out_types[0]; i++)
        if (text_equal_nocase(strchr(out_types[i].name, ':') + 1, name)) {
            *number = out_types[i].number;
            return true;
        }
    return false;
}

const char *manifest_out_type_name(uint16_t number)
{
    for (size_t i = 0; i < sizeof out_types / sizeof out_types[0]; i++)
        if (out_types[i].number == number)
            return out_types[i].name;
    return NULL;
}

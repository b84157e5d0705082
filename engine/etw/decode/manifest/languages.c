/* SPDX-License-Identifier: MIT */
/* Languages of resources, by rows. */
#include "engine/etw/decode/manifest/languages.h"

#include "engine/base/text.h"

#define LANGUAGE(called, number) {called, number},
static const struct {
    const char *name;
    uint16_t number;
} rows[] = {
#include "engine/etw/decode/manifest/languages.def"
};

#define ROWS_COUNT (sizeof rows / sizeof rows[0])
#define PRIMARY    0x3FFu

bool language_number(const char *name, uint16_t *number)
{
    for (size_t i = 0; i < ROWS_COUNT; i++)
        if (text_equal_nocase(rows[i].name, name)) {
            *number = rows[i].number;
            return true;
        }
    return false;
}

const char *language_name(uint16_t number)
{
    const uint16_t wanted[] = {number, number & PRIMARY};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < ROWS_COUNT; i++)
            if (rows[i].number == wanted[k])
                return rows[i].name;
    return "";
}

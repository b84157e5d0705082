/* SPDX-License-Identifier: MIT */
/* What Windows defines for all providers, as fields of a manifest. */
#include "engine/etw/winmeta.h"

#include <string.h>

struct winmeta_row {
    enum manifest_kind kind;
    const char *text;
    struct manifest_field field;
};
/* Names of literals: nobody frees or changes these fields. */
#define ROW(of, called, number, shown)                                                                                 \
    {MANIFEST_##of, (shown), {.name = (char *)("win:" called), .value = (number), .message = MESSAGE_NONE}},
#define LEVEL(called, number, shown)   ROW(LEVELS, called, number, shown)
#define OPCODE(called, number, shown)  ROW(OPCODES, called, number, shown)
#define TASK(called, number, shown)    ROW(TASKS, called, number, shown)
#define KEYWORD(called, number, shown) ROW(KEYWORDS, called, number, shown)
#define CHANNEL(called, number)        ROW(CHANNELS, called, number, called)
static const struct winmeta_row rows[] = {
#include "engine/etw/winmeta.def"
};
#undef ROW

#define ROWS     (sizeof rows / sizeof rows[0])
#define PREFIXED 4 /* "win:" */

const struct manifest_field *winmeta_by_name(enum manifest_kind kind, const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == kind && strcmp(rows[i].field.name + PREFIXED, name) == 0)
            return &rows[i].field;
    return NULL;
}

const struct manifest_field *winmeta_by_value(enum manifest_kind kind, uint64_t value)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].kind == kind && rows[i].field.value == value)
            return &rows[i].field;
    return NULL;
}

const char *winmeta_text(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].field.name, name) == 0)
            return rows[i].text;
    return NULL;
}

const char *winmeta_text_of(enum manifest_kind kind, uint64_t value)
{
    const struct manifest_field *field = winmeta_by_value(kind, value);
    return field ? winmeta_text(field->name) : NULL;
}

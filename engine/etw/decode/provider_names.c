/* SPDX-License-Identifier: MIT */
/* Finds the names of well-known event providers, and printable strings in data of an unknown layout. */
#include "engine/etw/provider_names.h"

#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

struct known_name {
    const char *guid, *name;
};
/* The names, sorted by GUID. */
static const struct known_name names[] = {
#define PROVIDER(of, called) {of, called},
#include "engine/etw/decode/provider_names.def"
#undef PROVIDER
};

static int compare_guid(const void *guid, const void *of)
{
    return strcmp(guid, ((const struct known_name *)of)->guid);
}

const char *provider_known_name(const GUID *provider)
{
    char guid[39];
    text_from_guid(provider, guid);
    const struct known_name *found = bsearch(guid, names, sizeof names / sizeof *names, sizeof *names, compare_guid);
    return found ? found->name : NULL;
}

/* Returns whether the unit is ASCII or a Latin, Greek or Cyrillic letter. Other characters would be found by chance too
   often. */
static bool is_wide_printable(uint16_t unit)
{
    return (unit >= ' ' && unit < 0x7F) || (unit >= 0xA1 && unit < 0x180) || (unit >= 0x370 && unit < 0x500);
}

static size_t count_wide(const uint8_t *bytes, size_t size)
{
    size_t n = 0;
    while (2 * n + 2 <= size && is_wide_printable(get_u16(bytes + 2 * n)))
        n++;
    return n;
}

static size_t count_narrow(const uint8_t *bytes, size_t size)
{
    size_t n = 0;
    while (n < size && bytes[n] >= ' ' && bytes[n] < 0x7F)
        n++;
    return n;
}

bool data_string_next(const uint8_t *bytes, size_t size, size_t *at, struct data_string *out)
{
    for (; *at < size; ++*at) {
        const size_t wide = count_wide(bytes + *at, size - *at);
        const size_t narrow = wide < DATA_STRING_LEAST ? count_narrow(bytes + *at, size - *at) : 0;
        if (wide < DATA_STRING_LEAST && narrow < DATA_STRING_LEAST)
            continue;
        *out = (struct data_string){bytes + *at, narrow != 0 ? narrow : wide, narrow == 0};
        *at += narrow != 0 ? narrow : 2 * wide;
        return true;
    }
    return false;
}

void data_string_add(const struct data_string *s, struct text_buffer *out)
{
    for (size_t i = 0; i < s->characters; i++) {
        const uint16_t c = s->wide ? get_u16(s->bytes + 2 * i) : s->bytes[i];
        const char two[] = {(char)(0xC0 | c >> 6), (char)(0x80 | (c & 0x3F))}, one = (char)c;
        text_buffer_add_n(out, c < 0x80 ? &one : two, c < 0x80 ? 1 : 2);
    }
}

/* SPDX-License-Identifier: MIT */
/* Cabinets: names of entries, checksums of blocks, and times of files. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/little_endian.h"
#include "engine/pla/cabinet/cabinet_format.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether the character is invisible, changes the writing direction, or breaks lines. Such characters could
   make a name look like another name. */
static bool is_unseen(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || c == 0x061C ||
           (c >= 0xFFF9 && c <= 0xFFFB);
}

static const char *character_fault(const char *name)
{
    const unsigned char *at = (const unsigned char *)name, *end = at + strlen(name);
    bool malformed = false;
    while (at < end) {
        const uint32_t c = unicode_next(&at, end, &malformed);
        if (malformed)
            return "the name is not valid UTF-8";
        if (is_unseen(c))
            return "the name contains an invisible character, or one that changes the writing direction";
        if (c < 0x80 && strchr("*?<>|\"", (int)c))
            return "the name contains a character that is not allowed on Windows";
    }
    return NULL;
}

const char *cabinet_name_fault(const char *name)
{
    size_t depth = 0;
    if (!*name || strlen(name) > CABINET_NAME_BYTES)
        return *name ? "the name is longer than 255 bytes" : "the name is empty";
    const char *fault = path_names_fault(name);
    if (!fault)
        fault = character_fault(name);
    for (const char *at = name; !fault; depth++) {
        const size_t length = strcspn(at, "\\/");
        if (!length)
            fault = at == name ? "the name is an absolute path" : "the name has an empty path component";
        else if (at[length - 1] == '.' || at[length - 1] == ' ')
            fault = "a path component ends with a dot or space, which Windows removes";
        else if (depth >= CABINET_DEPTH_MAX)
            fault = "the name is more than 32 folders deep";
        if (!at[length])
            return fault;
        at += length + 1;
    }
    return fault;
}

char *cabinet_name_copy(const char *name)
{
    char *copy = text_copy(name);
    for (char *at = copy; at && *at; at++)
        if (*at == '\\')
            *at = '/';
    return copy;
}

char *cabinet_name_shown(const char *name)
{
    struct text_buffer b = {0};
    for (const unsigned char *at = (const unsigned char *)name; *at; at++)
        if (*at >= 0x20 && *at < 0x7F)
            text_buffer_add_n(&b, (const char *)at, 1);
        else
            text_buffer_format(&b, "\\x%02X", *at);
    text_buffer_add(&b, ""); /* so that an empty name becomes "" */
    return text_buffer_take(&b);
}

struct folded {
    char *fold;
    size_t index;
};

static int by_fold(const void *a, const void *b)
{
    const struct folded *x = a, *y = b;
    const int order = strcmp(x->fold, y->fold);
    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

struct folder_name {
    const char *text;
    size_t length;
};

static int name_against(const void *key, const void *element)
{
    const struct folder_name *name = key;
    const char *fold = ((const struct folded *)element)->fold;
    const int order = strncmp(name->text, fold, name->length);
    return order ? order : fold[name->length] ? -1 : 0;
}

/* Returns an entry whose name is one of the folders in the path `fold`; NULL: no entry has such a name. */
static const struct folded *folder_in_way(const struct folded *all, size_t count, const char *fold)
{
    const struct folded *found = NULL;
    for (const char *at = strchr(fold, '/'); at && !found; at = strchr(at + 1, '/')) {
        const struct folder_name name = {fold, (size_t)(at - fold)};
        found = bsearch(&name, all, count, sizeof *all, name_against);
    }
    return found;
}

HRESULT cabinet_names_clash(const char *const *names, size_t count, size_t *first, size_t *second)
{
    struct folded *all = memory_zero(count ? count : 1, sizeof *all);
    HRESULT hr = all ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; i < count && hr == S_OK; i++) {
        all[i] = (struct folded){text_fold(names[i]), i};
        if (!all[i].fold)
            hr = E_OUTOFMEMORY;
    }
    if (hr == S_OK)
        qsort(all, count, sizeof *all, by_fold);
    for (size_t i = 0; i < count && hr == S_OK; i++) {
        const struct folded *other = i + 1 < count && !strcmp(all[i].fold, all[i + 1].fold)
                                         ? &all[i + 1]
                                         : folder_in_way(all, count, all[i].fold);
        if (other) {
            *first = all[i].index;
            *second = other->index;
            hr = S_FALSE;
        }
    }
    for (size_t i = 0; all && i < count; i++)
        memory_free(all[i].fold);
    memory_free(all);
    return hr;
}

/* ---- checksums and times ---- */

uint32_t cabinet_checksum(const uint8_t *bytes, size_t size, uint32_t seed)
{
    uint32_t rest = 0;
    for (; size >= 4; size -= 4, bytes += 4)
        seed ^= get_u32(bytes);
    while (size--)
        rest = rest << 8 | *bytes++; /* the first of the remaining bytes is the most significant */
    return seed ^ rest;
}

void cabinet_dos_time(int64_t local, uint16_t *date, uint16_t *time)
{
    struct calendar_time t = clock_calendar(local);
    if (t.year < 1980)
        t = (struct calendar_time){.year = 1980, .month = 1, .day = 1};
    if (t.year > 2107)
        t = (struct calendar_time){.year = 2107, .month = 12, .day = 31, .hour = 23, .minute = 59, .second = 58};
    *date = (uint16_t)((t.year - 1980) << 9 | t.month << 5 | t.day);
    *time = (uint16_t)(t.hour << 11 | t.minute << 5 | t.second / 2);
}

int64_t cabinet_time_of_dos(uint16_t date, uint16_t time)
{
    const struct calendar_time t = {.year = 1980 + (date >> 9),
                                    .month = date >> 5 & 15,
                                    .day = date & 31,
                                    .hour = time >> 11,
                                    .minute = time >> 5 & 63,
                                    .second = (time & 31) * 2};
    if (t.month < 1 || t.month > 12 || t.day < 1 || t.hour > 23 || t.minute > 59 || t.second > 59)
        return 0;
    return clock_from_calendar(&t);
}

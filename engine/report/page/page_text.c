/* SPDX-License-Identifier: MIT */
/* Texts of names that anybody could give to a process or a file. */
#include "engine/report/page/page_text.h"

#include "engine/base/memory.h"
#include "engine/base/xml_text.h"

#include <string.h>

#define ELLIPSIS    "\xE2\x80\xA6"
#define REPLACEMENT "\xEF\xBF\xBD"

/* U+202A to U+202E are E2 80 AA to AE, U+2066 to U+2069 E2 81 A6 to A9. */
static bool is_direction(const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    return c[0] == 0xE2 &&
           ((c[1] == 0x80 && c[2] >= 0xAA && c[2] <= 0xAE) || (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
}

static void replace_directions(char *text)
{
    for (char *at = strchr(text, 0xE2); at; at = strchr(at + 1, 0xE2))
        if (is_direction(at))
            memcpy(at, REPLACEMENT, 3);
}

void page_text(struct text_buffer *out, const char *text, size_t longest, bool attribute)
{
    size_t length = text ? strlen(text) : 0;
    if (!length)
        return;
    const bool cut = length > longest;
    length = cut ? longest : length;
    while (cut && length && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--; /* whole characters */
    char *copy = text_copy_n(text, length);
    out->failed |= !copy;
    if (!copy)
        return;
    replace_directions(copy);
    xml_add_escaped(out, copy, attribute);
    memory_free(copy);
    text_buffer_add(out, cut ? ELLIPSIS : "");
}

void page_attribute(struct text_buffer *out, const char *name, const char *text, size_t longest)
{
    if (!text || !*text)
        return;
    text_buffer_format(out, " %s=\"", name);
    page_text(out, text, longest, true);
    text_buffer_add(out, "\"");
}

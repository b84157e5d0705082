/* SPDX-License-Identifier: MIT */
/* The line between the XML and the name. */
#include "engine/pla/store/stored_security.h"

#include "engine/base/hash.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

#define SECURITY_LINE_BEGIN  "\n<?openpla-security of=\""
#define SECURITY_LINE_MIDDLE "\" text=\""
#define SECURITY_LINE_END    "\"?>"
#define TEXT_MOST            2048 /* bytes; of a longer one the XML is asked */

enum { DIGITS = 16 };

static void digits_of(const char *xml, size_t size, char out[DIGITS + 1])
{
    snprintf(out, DIGITS + 1, "%016" PRIx64, hash_bytes(HASH_START, xml, size));
}

void stored_security_add(struct text_buffer *content, const char *security)
{
    char digits[DIGITS + 1];
    if (content->failed || strlen(security) > TEXT_MOST || strpbrk(security, "\r\n") || strstr(security, "?>"))
        return;
    digits_of(content->text, content->length, digits);
    text_buffer_format(content, SECURITY_LINE_BEGIN "%s" SECURITY_LINE_MIDDLE "%s" SECURITY_LINE_END, digits, security);
}

char *stored_security_cut(char *xml, size_t *size)
{
    const size_t begin = sizeof(SECURITY_LINE_BEGIN) - 1, middle = sizeof(SECURITY_LINE_MIDDLE) - 1,
                 end = sizeof(SECURITY_LINE_END) - 1;
    const size_t least = begin + DIGITS + middle + end;
    char digits[DIGITS + 1];
    if (*size < least || memcmp(xml + *size - end, SECURITY_LINE_END, end) != 0)
        return NULL;
    size_t at = *size - end;
    while (at && xml[at] != '\n')
        at--;
    if (*size - at < least || memcmp(xml + at, SECURITY_LINE_BEGIN, begin) != 0 ||
        memcmp(xml + at + begin + DIGITS, SECURITY_LINE_MIDDLE, middle) != 0)
        return NULL;
    xml[*size - end] = 0;
    *size = at;
    digits_of(xml, at, digits);
    const bool same = !memcmp(digits, xml + at + begin, DIGITS);
    xml[at] = 0;
    return same ? xml + at + begin + DIGITS + middle : NULL;
}

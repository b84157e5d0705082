/* SPDX-License-Identifier: MIT */
/* The line behind a definition. */
#include "engine/store/stored_name.h"

#include <string.h>

#define NAME_BEGIN "\n<?openpla-set name=\""
#define NAME_END   "\"?>\n"

void stored_name_add(struct text_buffer *content, const char *name)
{
    text_buffer_add(content, NAME_BEGIN);
    text_buffer_add(content, name);
    text_buffer_add(content, NAME_END);
}

char *stored_name_cut(char *xml, size_t *size)
{
    const size_t begin = sizeof(NAME_BEGIN) - 1, end = sizeof(NAME_END) - 1;
    if (*size < begin + end || memcmp(xml + *size - end, NAME_END, end) != 0)
        return NULL;
    for (size_t at = *size - end - begin + 1; at--;) {
        if (xml[at] != '\n')
            continue;
        if (memcmp(xml + at, NAME_BEGIN, begin) != 0)
            return NULL; /* the instruction is the last line */
        xml[*size - end] = 0;
        xml[at] = 0;
        *size = at;
        return xml + at + begin;
    }
    return NULL;
}

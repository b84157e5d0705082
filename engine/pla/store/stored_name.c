/* SPDX-License-Identifier: MIT */
/* The line behind a definition. */
#include "engine/pla/stored_name.h"

#include <string.h>

#define NAME_BEGIN  "\n<?openpla-set name=\""
#define OWNER_BEGIN "\" owner=\"" /* no name has a quotation mark */
#define NAME_END    "\"?>\n"

void stored_name_add(struct text_buffer *content, const char *name, const char *owner)
{
    text_buffer_add(content, NAME_BEGIN);
    text_buffer_add(content, name);
    if (*owner) {
        text_buffer_add(content, OWNER_BEGIN);
        text_buffer_add(content, owner);
    }
    text_buffer_add(content, NAME_END);
}

char *stored_line_cut(char *xml, size_t *size, const char **owner)
{
    const size_t begin = sizeof(NAME_BEGIN) - 1, end = sizeof(NAME_END) - 1;
    *owner = "";
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
        char *behind = strstr(xml + at + begin, OWNER_BEGIN);
        if (behind) {
            *behind = 0;
            *owner = behind + sizeof(OWNER_BEGIN) - 1;
        }
        return xml + at + begin;
    }
    return NULL;
}

char *stored_name_cut(char *xml, size_t *size)
{
    const char *owner;
    return stored_line_cut(xml, size, &owner);
}

bool stored_owner_fits(const char *owner)
{
    size_t length = strlen(owner);
    if (!length || length > STORED_OWNER_MAX || strpbrk(owner, "\"<>?"))
        return false;
    for (const char *c = owner; *c; c++)
        if ((unsigned char)*c < 0x20)
            return false;
    return true;
}

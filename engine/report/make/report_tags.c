/* SPDX-License-Identifier: MIT */
#include "engine/report/make/report_tags.h"

#include <string.h>

const char *report_tags_next(const char **rest, size_t *length)
{
    const char *at = *rest;
    while (at && *at == '\n')
        at++;
    if (!at || !*at)
        return NULL;
    *length = strcspn(at, "\n");
    *rest = at + *length;
    return at;
}

bool report_tags_have(const char *tags, const char *tag)
{
    const size_t wanted = strlen(tag);
    size_t length;
    for (const char *one = report_tags_next(&tags, &length); one; one = report_tags_next(&tags, &length))
        if (length == wanted && !memcmp(one, tag, length))
            return true;
    return false;
}

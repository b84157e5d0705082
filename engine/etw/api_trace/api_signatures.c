/* SPDX-License-Identifier: MIT */
/* Finds signatures in the embedded table. The lines of the table are sorted by name, so the table is searched by
   bisection: each step goes from an offset in the middle back to the beginning of its line. */
#include "engine/etw/api_trace/api_signatures.h"

#include <string.h>

extern const char api_signatures_text[];
extern const size_t api_signatures_size;

/* Compares a name with the name that begins a line. */
static int line_compare(const char *name, const char *line)
{
    for (; *name && *name == *line; name++)
        line++;
    return (int)(unsigned char)*name - (*line == ' ' ? 0 : (int)(unsigned char)*line);
}

bool api_signature_find(const char *name, struct api_signature *out)
{
    size_t from = 0, to = api_signatures_size;
    while (from < to) {
        size_t at = from + (to - from) / 2;
        while (at > from && api_signatures_text[at - 1] != '\n')
            at--;
        const char *line = api_signatures_text + at, *end = strchr(line, '\n');
        const int order = line_compare(name, line);
        if (order < 0) {
            to = at;
        } else if (order > 0) {
            from = (size_t)(end + 1 - api_signatures_text);
        } else {
            const char *letters = strchr(line, ' ') + 1;
            const size_t count = (size_t)(end - letters) - 1;
            *out = (struct api_signature){.result = letters[0], .count = (uint8_t)count, .arguments = letters + 1};
            return count <= API_ARGUMENTS_MAX;
        }
    }
    return false;
}

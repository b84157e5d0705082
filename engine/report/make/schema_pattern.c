/* SPDX-License-Identifier: MIT */
/* Patterns of Include and Exclude (MS-PLA 2.2.3.3): what stands before the first '/' says how to compare. */
#include "engine/base/text_unicode.h"
#include "engine/report/report_schema.h"

#include <string.h>

struct pattern {
    const unsigned char *at, *end;
    bool no_case;
};

/* A text that has no '/', or another one than "i" before it, is a pattern as it is: people write Pages/sec. */
static struct pattern open_pattern(const char *text)
{
    const size_t length = strlen(text);
    struct pattern p = {(const unsigned char *)text, (const unsigned char *)text + length, false};
    const bool no_case = *text == 'i' && text[1] == '/';
    if (*text != '/' && !no_case)
        return p;
    p.no_case = no_case;
    p.at += no_case ? 2 : 1;
    size_t escapes = 0;
    while (p.end - p.at > 1 && (size_t)(p.end - p.at) > escapes + 1 && p.end[-2 - (ptrdiff_t)escapes] == '\\')
        escapes++;
    if (p.end > p.at && p.end[-1] == '/' && escapes % 2 == 0)
        p.end--;
    return p;
}

enum piece { PIECE_ANY_NUMBER, PIECE_ANY_ONE, PIECE_CHARACTER };

static enum piece next_piece(const unsigned char **at, const unsigned char *end, uint32_t *character)
{
    *character = unicode_next(at, end, NULL);
    if (*character == '*')
        return PIECE_ANY_NUMBER;
    if (*character == '?')
        return PIECE_ANY_ONE;
    if (*character == '\\' && *at < end)
        *character = unicode_next(at, end, NULL);
    return PIECE_CHARACTER;
}

bool schema_pattern_matches(const char *pattern, const char *text)
{
    const struct pattern p = open_pattern(pattern);
    const unsigned char *at = p.at, *t = (const unsigned char *)text, *end = t + strlen(text);
    const unsigned char *behind_star = NULL, *star_text = NULL;
    while (true) {
        const unsigned char *piece_end = at, *text_end = t;
        uint32_t wanted = 0;
        const enum piece piece = at < p.end ? next_piece(&piece_end, p.end, &wanted) : PIECE_CHARACTER;
        if (at < p.end && piece == PIECE_ANY_NUMBER) {
            behind_star = at = piece_end;
            star_text = t;
            continue;
        }
        if (at >= p.end && t >= end)
            return true;
        bool fits = at < p.end && t < end;
        if (fits) {
            const uint32_t found = unicode_next(&text_end, end, NULL);
            fits = piece == PIECE_ANY_ONE || found == wanted ||
                   (p.no_case && unicode_upper(found) == unicode_upper(wanted));
        }
        if (fits) {
            at = piece_end;
            t = text_end;
        } else if (behind_star && star_text < end) { /* the star takes one more */
            unicode_next(&star_text, end, NULL);
            at = behind_star;
            t = star_text;
        } else {
            return false;
        }
    }
}

const char *schema_pattern_first(const char *patterns, char out[SCHEMA_LONGEST_PATTERN])
{
    size_t length = 0;
    while (patterns[length] && patterns[length] != '|')
        length += patterns[length] == '\\' && patterns[length + 1] ? 2 : 1;
    const size_t kept = length < SCHEMA_LONGEST_PATTERN ? length : 0;
    memcpy(out, patterns, kept);
    out[kept] = 0;
    return patterns[length] ? patterns + length + 1 : NULL;
}

bool schema_patterns_match(const char *patterns, const char *text)
{
    char one[SCHEMA_LONGEST_PATTERN];
    while (patterns) {
        patterns = schema_pattern_first(patterns, one);
        if (*one && schema_pattern_matches(one, text))
            return true;
    }
    return false;
}

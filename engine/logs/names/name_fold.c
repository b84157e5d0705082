/* SPDX-License-Identifier: MIT */
/* Converts translated names to the form in which they are compared. Tables recorded in a console have lost accents, and
   users type other space characters and apostrophes than Windows uses. */
#include "engine/base/memory.h"
#include "engine/logs/names/names_parts.h"

static const struct {
    uint16_t letter, base;
} bases[] = {
#include "engine/logs/names/base_letters.def"
};

static uint32_t base_of(uint32_t c)
{
    size_t low = 0, high = sizeof bases / sizeof *bases;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (bases[middle].letter < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof bases / sizeof *bases && bases[low].letter == c ? bases[low].base : c;
}

static bool is_blank(uint32_t c)
{
    return c == ' ' || (c >= 9 && c <= 13) || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/* Returns whether the character is a combining accent or has no width. */
static bool is_mark(uint32_t c)
{
    return (c >= 0x0300 && c <= 0x036F) || c == 0xAD || (c >= 0x200B && c <= 0x200F) || c == 0x2060 || c == 0xFEFF;
}

static uint32_t plain(uint32_t c)
{
    if (c >= 0xFF01 && c <= 0xFF5E)
        c -= 0xFF01 - '!'; /* full-width form */
    if (c == 0x2018 || c == 0x2019 || c == 0x201B || c == 0x02BC || c == 0xB4 || c == '`')
        return '\'';
    if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212)
        return '-';
    return c < 0x80 ? c : base_of(c);
}

bool name_fold(const char *name, char out[NAMES_LONGEST])
{
    const unsigned char *at = (const unsigned char *)name, *end = at + strlen(name);
    size_t length = 0;
    bool blank = false;
    while (at < end) {
        const uint32_t c = unicode_next(&at, end, NULL);
        if (is_mark(c))
            continue;
        if (is_blank(c)) {
            blank = length > 0;
            continue;
        }
        if (length + 1 + 4 >= NAMES_LONGEST)
            return false;
        if (blank)
            out[length++] = ' ';
        blank = false;
        length += unicode_put(unicode_upper(plain(c)), out + length);
    }
    out[length] = '\0';
    return true;
}

static const uint16_t code_pages[NAME_CODE_PAGES][128] = {
#define CODE_PAGE(number, ...) {__VA_ARGS__},
#include "engine/logs/names/code_pages.def"
};

static bool is_ascii(const char *name)
{
    while (*name && (unsigned char)*name < 0x80)
        name++;
    return !*name;
}

HRESULT name_in_code_page(const char *name, size_t k, char **out)
{
    struct text_buffer b = {0};
    char *bytes = NULL;
    size_t size = 0;
    *out = NULL;
    if (k >= NAME_CODE_PAGES || is_ascii(name))
        return S_FALSE;
    HRESULT hr = text_to_ansi(name, &bytes, &size);
    for (size_t i = 0; SUCCEEDED(hr) && i < size; i++) {
        const unsigned char byte = (unsigned char)bytes[i];
        char character[4];
        text_buffer_add_n(&b, character, unicode_put(byte < 0x80 ? byte : code_pages[k][byte - 0x80], character));
    }
    memory_free(bytes);
    char *text = SUCCEEDED(hr) ? text_buffer_take(&b) : NULL;
    if (SUCCEEDED(hr) && !text)
        hr = E_OUTOFMEMORY;
    if (text && strcmp(text, name) != 0) {
        *out = text;
        return S_OK;
    }
    memory_free(text);
    return FAILED(hr) ? hr : S_FALSE;
}

bool name_has_foreign_letter(const char *name)
{
    const unsigned char *at = (const unsigned char *)name, *end = at + strlen(name);
    while (at < end) {
        const uint32_t c = unicode_next(&at, end, NULL);
        /* Signs such as the degree sign, the micro sign and typographic quotes are not letters. */
        const bool is_letter = (c >= 0xC0 && c < 0x2000 && c != 0xD7 && c != 0xF7 && !is_mark(c)) ||
                               (c >= 0x3040 && c < 0xE000) || (c >= 0xFF66 && c < 0xFFE0);
        if (is_letter)
            return true;
    }
    return false;
}

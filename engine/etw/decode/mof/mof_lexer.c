/* SPDX-License-Identifier: MIT */
/* Splits MOF source into tokens. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/decode/mof/mof_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STRING_MOST 65536u /* limit of a string in bytes, large enough for a description */
#define SHOWN_MOST  40     /* maximum bytes of a token shown in an error */

HRESULT mof_lexer_error(const struct mof_lexer *l, HRESULT hr, const char *format, ...)
{
    char text[ERROR_TEXT_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return error_set(hr, "%s(%u): %s", l->source, (unsigned)l->token_line, text);
}

HRESULT mof_lexer_expected(const struct mof_lexer *l, HRESULT hr, const char *what)
{
    char shown[SHOWN_MOST];
    const char *text = l->text.text ? l->text.text : "", *quote = l->token == MOF_TOKEN_STRING ? "\"" : "";
    if (l->token == MOF_TOKEN_END)
        return mof_lexer_error(l, hr, "expected %s, but the file ends", what);
    text_fit(shown, SHOWN_MOST, text);
    return mof_lexer_error(l, hr, "expected %s, not %s%s%s%s", what, quote, shown,
                           strlen(text) >= SHOWN_MOST ? "..." : "", quote);
}

bool mof_lexer_sign(const struct mof_lexer *l, char sign)
{
    return l->token == MOF_TOKEN_SIGN && l->text.text[0] == sign;
}

bool mof_lexer_word(const struct mof_lexer *l, const char *word)
{
    return l->token == MOF_TOKEN_NAME && text_equal_nocase(l->text.text, word);
}

static char peek(const struct mof_lexer *l, size_t ahead)
{
    return (size_t)(l->end - l->at) > ahead ? l->at[ahead] : '\0';
}

static void skip(struct mof_lexer *l)
{
    if (*l->at++ == '\n')
        l->line++;
}

/* Skips whitespace, comments and "#line" lines left by a C preprocessor. */
static HRESULT skip_blanks(struct mof_lexer *l)
{
    while (l->at < l->end) {
        const char c = *l->at;
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
            skip(l);
        } else if ((c == '/' && peek(l, 1) == '/') ||
                   (c == '#' && (size_t)(l->end - l->at) > 5 && memcmp(l->at, "#line", 5) == 0)) {
            while (l->at < l->end && *l->at != '\n')
                l->at++;
        } else if (c == '/' && peek(l, 1) == '*') {
            l->token_line = l->line;
            l->at += 2;
            while (l->at < l->end && !(*l->at == '*' && peek(l, 1) == '/'))
                skip(l);
            if (l->at == l->end)
                return mof_lexer_error(l, MOF_E_UNRECOGNIZED_TOKEN, "unterminated comment");
            l->at += 2;
        } else {
            break;
        }
    }
    return S_OK;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the escape at l->at, after its backslash, and appends it as UTF-8. */
static HRESULT read_escape(struct mof_lexer *l)
{
    static const char from[] = "btnfr\"'\\", to[] = "\b\t\n\f\r\"'\\";
    char c = peek(l, 0);
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        text_buffer_add_n(&l->text, &to[known - from], 1);
        l->at++;
        return S_OK;
    }
    if ((c | 0x20) != 'x' || hex_digit(peek(l, 1)) < 0)
        return mof_lexer_error(l, MOF_E_ILLEGAL_CONSTANT_VALUE, "invalid escape '\\%c' in a string", c ? c : ' ');
    uint32_t value = 0;
    l->at++;
    for (int i = 0; i < 4 && hex_digit(peek(l, 0)) >= 0; i++)
        value = value * 16 + (uint32_t)hex_digit(*l->at++);
    if (!value || (value >= 0xD800 && value < 0xE000))
        value = UNICODE_REPLACEMENT;
    char bytes[4];
    text_buffer_add_n(&l->text, bytes, unicode_put(value, bytes));
    return S_OK;
}

/* Reads a quoted text. l->at must be after the opening quote; it is moved after the closing quote. */
static HRESULT read_quoted(struct mof_lexer *l, char quote)
{
    for (;;) {
        if (l->at == l->end || *l->at == '\n')
            return mof_lexer_error(l, MOF_E_ILLEGAL_CONSTANT_VALUE, "unterminated %s on this line",
                                   quote == '"' ? "string" : "character");
        char c = *l->at++;
        HRESULT hr = S_OK;
        if (c == quote)
            return S_OK;
        if (c == '\\')
            hr = read_escape(l);
        else
            text_buffer_add_n(&l->text, &c, 1);
        if (FAILED(hr))
            return hr;
        if (l->text.length > STRING_MOST)
            return mof_lexer_error(l, MOF_E_OUT_OF_RANGE, "string longer than %u bytes", STRING_MOST);
    }
}

/* Reads a string. Adjacent strings are joined: "one" "two". */
static HRESULT read_string(struct mof_lexer *l)
{
    uint32_t first = l->token_line;
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && peek(l, 0) == '"') {
        l->token_line = l->line;
        l->at++;
        hr = read_quoted(l, '"');
        if (SUCCEEDED(hr)) {
            l->token_line = first;
            hr = skip_blanks(l);
        }
    }
    l->token = MOF_TOKEN_STRING;
    l->token_line = SUCCEEDED(hr) ? first : l->token_line;
    return hr;
}

static HRESULT read_character(struct mof_lexer *l)
{
    l->at++;
    HRESULT hr = read_quoted(l, '\'');
    if (FAILED(hr))
        return hr;
    const unsigned char *at = (const unsigned char *)l->text.text, *end = at + l->text.length;
    l->token = MOF_TOKEN_CHAR;
    if (at != end)
        l->number = unicode_next(&at, end, NULL);
    return at == end && l->text.length
               ? S_OK
               : mof_lexer_error(l, MOF_E_ILLEGAL_CONSTANT_VALUE, "expected a single character, not '%s'",
                                 l->text.text ? l->text.text : "");
}

static bool digits_of(const char *text, unsigned base, uint64_t *out)
{
    *out = 0;
    for (; *text; text++) {
        int digit = hex_digit(*text);
        if (digit < 0 || (unsigned)digit >= base || *out > (UINT64_MAX - (unsigned)digit) / base)
            return false;
        *out = *out * base + (unsigned)digit;
    }
    return true;
}

static bool is_real(const char *text)
{
    size_t digits = 0;
    text += *text == '-' || *text == '+';
    for (; is_digit(*text); text++)
        digits++;
    if (*text == '.')
        for (text++; is_digit(*text); text++)
            digits++;
    if (digits && (*text | 0x20) == 'e') {
        text++;
        text += *text == '-' || *text == '+';
        digits = 0;
        for (; is_digit(*text); text++)
            digits++;
    }
    return digits && !*text;
}

static bool read_integer(struct mof_lexer *l)
{
    const char *text = l->text.text;
    size_t length;
    l->negative = *text == '-';
    text += *text == '-' || *text == '+';
    length = strlen(text);
    if (!is_digit(*text))
        return false;
    if (*text == '0' && (text[1] | 0x20) == 'x')
        return text[2] && digits_of(text + 2, 16, &l->number);
    if ((text[length - 1] | 0x20) == 'b') {
        l->text.text[l->text.length - 1] = '\0';
        bool right = length > 1 && digits_of(text, 2, &l->number);
        l->text.text[l->text.length - 1] = 'b';
        return right;
    }
    return digits_of(text, *text == '0' ? 8 : 10, &l->number);
}

static HRESULT read_number(struct mof_lexer *l)
{
    do {
        text_buffer_add_n(&l->text, l->at, 1);
        l->at++;
    } while (is_digit(peek(l, 0)) || is_letter(peek(l, 0)) || peek(l, 0) == '.' ||
             ((peek(l, 0) == '-' || peek(l, 0) == '+') && (l->at[-1] | 0x20) == 'e' && l->text.length < 40 &&
              !(l->text.length > 1 && (l->text.text[1] | 0x20) == 'x')));
    if (l->text.failed)
        return E_OUTOFMEMORY;
    l->token = MOF_TOKEN_INTEGER;
    if (read_integer(l))
        return S_OK;
    l->token = MOF_TOKEN_REAL;
    return is_real(l->text.text)
               ? S_OK
               : mof_lexer_error(l, MOF_E_ILLEGAL_CONSTANT_VALUE, "'%.40s' is not a 64-bit number", l->text.text);
}

HRESULT mof_lexer_next(struct mof_lexer *l)
{
    l->text.length = 0;
    l->number = 0;
    l->negative = false;
    text_buffer_add(&l->text, "");
    HRESULT hr = skip_blanks(l);
    if (FAILED(hr))
        return hr;
    l->token_line = l->line;
    char c = peek(l, 0);
    if (l->at == l->end) {
        l->token = MOF_TOKEN_END;
    } else if (c == '"') {
        hr = read_string(l);
    } else if (c == '\'') {
        hr = read_character(l);
    } else if (is_digit(c) || ((c == '-' || c == '+' || c == '.') && (is_digit(peek(l, 1)) || peek(l, 1) == '.'))) {
        hr = read_number(l);
    } else if (is_letter(c) || (c == '$' && is_letter(peek(l, 1)))) {
        do {
            text_buffer_add_n(&l->text, l->at, 1);
            l->at++;
        } while (is_letter(peek(l, 0)) || is_digit(peek(l, 0)));
        l->token = MOF_TOKEN_NAME;
    } else if (c && strchr("[]{}(),;:=#", c)) {
        text_buffer_add_n(&l->text, l->at, 1);
        l->at++;
        l->token = MOF_TOKEN_SIGN;
    } else {
        return mof_lexer_error(l, MOF_E_UNRECOGNIZED_TOKEN, "unexpected character '%c'", c >= ' ' ? c : '?');
    }
    if (SUCCEEDED(hr) && l->text.failed)
        hr = E_OUTOFMEMORY;
    return hr;
}

HRESULT mof_lexer_begin(struct mof_lexer *l, const char *source, const char *text, size_t size)
{
    *l = (struct mof_lexer){.source = source, .at = text, .end = text + size, .line = 1, .token_line = 1};
    return mof_lexer_next(l);
}

void mof_lexer_end(struct mof_lexer *l)
{
    text_buffer_free(&l->text);
}

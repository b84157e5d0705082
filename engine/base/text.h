/* SPDX-License-Identifier: MIT */
/* Strings, which are UTF-8 everywhere in the engine: growing buffers, lists of strings, conversion to and from UTF-16
   and the ANSI code page, and hashes. */
#ifndef OPENPLA_TEXT_H
#define OPENPLA_TEXT_H

#include "engine/base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies a string; NULL counts as "". From memory_alloc; NULL: out of memory. */
char *text_copy(const char *text);
/* Copies as many complete characters as fit into `size` bytes including the NUL; the remaining bytes become zero. */
void text_fit(char *out, size_t size, const char *text);
char *text_copy_n(const char *text, size_t bytes);
char *text_format(const char *format, ...) PRINTF_LIKE(1, 2);

/* Converts UTF-16 to UTF-8. `units` is the number of code units (no NUL needed). A lone surrogate or an embedded NUL
   becomes U+FFFD if `replace` is set, and otherwise causes E_INVALIDARG. *out is from memory_alloc, with a NUL. */
HRESULT text_from_utf16(const WCHAR *text, size_t units, bool replace, char **out);
/* Converts UTF-8 (valid, from the engine) to UTF-16 with a NUL at the end; *units (may be NULL) is the length without
   it. Malformed UTF-8 becomes U+FFFD. *out is from memory_alloc. */
HRESULT text_to_utf16(const char *text, WCHAR **out, size_t *units);
/* Returns the number of UTF-16 units of the text without the NUL. Windows' length limits are in these units. */
size_t text_utf16_length(const char *text);
bool text_is_utf8(const char *text, size_t bytes);
/* Whether the text contains a character that changes the direction of display (Unicode's property Bidi_Control). A name
   with such a character can look like another name. */
bool text_has_bidi_control(const char *text);

/* Compares without case as Windows compares names. Ignores the case of ASCII letters, and of the simple case pairs of
   Latin-1, Latin Extended-A, Greek and Cyrillic. Returns a number below 0, 0, or a number above 0. */
int text_compare_nocase(const char *a, const char *b);
bool text_equal_nocase(const char *a, const char *b);
uint64_t text_hash_nocase(const char *text); /* strings that differ only in case have the same hash */
/* Returns the text in the upper case that text_compare_nocase uses: if two results are equal, the texts are equal
   ignoring case. From memory_alloc; NULL: out of memory. */
char *text_fold(const char *text);
/* Whether the text matches the pattern, ignoring case. Wildcards are * and ?. */
bool text_matches(const char *pattern, const char *text);
/* These functions parse "12", "-12", "0x1F" or "-0x1F", with surrounding whitespace. False for anything else, and for a
   number that does not fit. */
bool text_to_i64(const char *text, int64_t *out);
bool text_to_u64(const char *text, uint64_t *out);
/* Like text_to_i64, but also accepts numbers from 2^63 to 2^64-1. *out then has the same 64 bits. */
bool text_to_integer(const char *text, int64_t *out);
/* text_to_guid reads a GUID with or without braces, in any case. text_from_guid writes it with braces, in upper case
   (39 bytes with the NUL). */
bool text_to_guid(const char *text, GUID *out);
void text_from_guid(const GUID *guid, char out[39]);
static inline bool guid_equal(const GUID *a, const GUID *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* compiled to two 64-bit comparisons */
}

/* A growing UTF-8 buffer. Zero-initialise. After a failed allocation later calls do nothing, and text_buffer_take
   returns NULL. */
struct text_buffer {
    char *text;
    size_t length, capacity;
    bool failed;
};
void text_buffer_add(struct text_buffer *b, const char *text);
void text_buffer_add_n(struct text_buffer *b, const char *text, size_t bytes);
/* Appends text that should be UTF-8: malformed parts become U+FFFD. */
void text_buffer_add_utf8(struct text_buffer *b, const char *text, size_t bytes);
/* These functions append numbers without printf, which would take longer than everything else in a dump with dozens of
   numbers per event. `digits` is the minimum number of digits (up to 20, in hexadecimal up to 16); a shorter number
   gets leading zeros. */
void text_buffer_add_u64(struct text_buffer *b, uint64_t value, unsigned digits);
void text_buffer_add_i64(struct text_buffer *b, int64_t value);
void text_buffer_add_hex(struct text_buffer *b, uint64_t value, unsigned digits); /* "0x" and upper-case digits */
/* Appends two upper-case digits per byte. */
void text_buffer_add_bytes(struct text_buffer *b, const uint8_t *bytes, size_t size);
void text_buffer_add_guid(struct text_buffer *b, const GUID *guid); /* in braces, lower case */
/* Writes the last `count` decimal digits at `at` and returns the end. */
char *text_put_digits(char *at, uint64_t value, unsigned count);
void text_buffer_format(struct text_buffer *b, const char *format, ...) PRINTF_LIKE(2, 3);
char *text_buffer_take(struct text_buffer *b); /* the text, owned by the caller; the buffer is empty again */
void text_buffer_free(struct text_buffer *b);
/* Reserves `bytes` more bytes and the NUL. The caller writes to the returned address and increases `length`. NULL:
   failed. */
char *text_buffer_reserve(struct text_buffer *b, size_t bytes);
/* Appends a value for a file that has one entry per line: control characters and '%' become %XX; NULL counts as "". */
void text_buffer_add_escaped(struct text_buffer *b, const char *text);
/* Reverses text_buffer_add_escaped in place. False: an escape is malformed or encodes a NUL. */
bool text_unescape(char *text);

/* An owned list of strings. Zero-initialise. texts_copy and texts_from_row allocate one block, so their strings are not
   freed one by one. */
struct texts {
    size_t count, capacity;
    char **items;
};
HRESULT texts_add(struct texts *t, const char *text); /* copies */
/* Takes ownership of the text, which is from memory_alloc, and frees it on failure. */
HRESULT texts_add_owned(struct texts *t, char *text);
HRESULT texts_copy(struct texts *to, const struct texts *from);
/* Copies `count` strings from `row`, where they follow each other in `bytes` bytes, each with its NUL. */
HRESULT texts_from_row(struct texts *to, const char *row, size_t bytes, size_t count);
bool texts_equal(const struct texts *a, const struct texts *b);
void texts_free(struct texts *t);

/* ---- characters ----
   Decoded from UTF-8 one at a time, for conversion and comparison. */

#define UNICODE_REPLACEMENT 0xFFFDu

/* Reads the character at *at (before end) and moves *at past it. For a malformed sequence it returns
   UNICODE_REPLACEMENT, sets *malformed (`malformed` may be NULL) and moves by at least one byte. */
uint32_t unicode_next(const unsigned char **at, const unsigned char *end, bool *malformed);
/* Returns the character that represents `c` in comparisons without case. */
uint32_t unicode_upper(uint32_t c);
/* Writes c as UTF-8; returns the number of bytes, 1..4. */
size_t unicode_put(uint32_t c, char out[4]);

/* ---- the ANSI code page, for files and callers that use it ---- */

/* Converts the text to the host OS's ANSI code page: the system's on Windows and Wine, windows-1252 in the native
   build. A character that the code page lacks becomes one '?' per UTF-16 unit. It is never replaced with a similar
   character, so that different names stay different. *out is from memory_alloc and ends with a NUL. *size is the length
   without the NUL; `size` may be NULL. Fails only with E_OUTOFMEMORY. */
HRESULT text_to_ansi(const char *text, char **out, size_t *size);
/* Converts `size` bytes of the ANSI code page to UTF-8, from memory_alloc. A NUL or a byte without a character becomes
   U+FFFD if `replace` is set, and otherwise causes E_INVALIDARG. Can also fail with E_OUTOFMEMORY. */
HRESULT text_from_ansi(const char *text, size_t size, bool replace, char **out);

/* ---- search ---- */

/* Returns the first occurrence of `c`; NULL if it does not occur. Compares eight bytes at a time, because Wine's memchr
   reads one byte at a time. Subtracting 0x01 from each byte of a word sets the highest bit of a byte that was zero. */
static inline const char *text_find(const char *p, const char *end, char c)
{
    const uint64_t ones = 0x0101010101010101u, pattern = ones * (unsigned char)c;
    for (uint64_t word; end - p >= 8; p += 8) {
        memcpy(&word, p, 8);
        word ^= pattern;
        if ((word - ones) & ~word & ones << 7)
            break;
    }
    while (p < end && *p != c)
        p++;
    return p < end ? p : NULL;
}

/* ---- hashes ----
   FNV-1a with 64 bits, for buckets and for detecting changes. The upper bits of a hash are better mixed than the lower
   ones. Begin with HASH_START, and pass each result to the next call. If the case of a string does not matter, use
   text_hash_nocase. */

#define HASH_START 0xCBF29CE484222325u

static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * 0x100000001B3u;
}

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++)
        hash = hash_number(hash, p[i]);
    return hash;
}

/* Hashes the string without its NUL. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = hash_number(hash, (unsigned char)*text);
    return hash;
}

#endif

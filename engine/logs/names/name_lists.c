/* SPDX-License-Identifier: MIT */
/* Reads a computer's name lists from exports of the registry key Perflib and from its perfcNNN.dat files.

   The exports and the perfc files contain pairs of strings, an index and a name, in the form of a REG_MULTI_SZ. Even
   indexes are names, odd indexes are explanations. The registry key of a language has the language's number as its
   name, such as 007; the name of a perfcNNN.dat file contains this number. The contents of a file are untrusted: its
   size and the number of names are limited, and incomplete pairs are skipped. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/names/names_parts.h"
#include "engine/logs/text_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LANGID_DIGITS = 4, PRIMARY = 0x3FF };

static HRESULT bad_data(const char *path, const char *why)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "cannot read names from '%s': %s", path, why);
}

/* ---- characters ---- */

static HRESULT from_utf16(const uint8_t *bytes, size_t size, bool big, char **out)
{
    const size_t units = size / 2;
    WCHAR *wide = memory_alloc((units + 1) * sizeof *wide);
    if (!wide)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < units; i++) {
        const uint8_t low = bytes[2 * i + big], high = bytes[2 * i + !big];
        const WCHAR c = (WCHAR)(low | high << 8);
        wide[i] = c ? c : '\n';
    }
    HRESULT hr = text_from_utf16(wide, units, true, out);
    memory_free(wide);
    return hr;
}

static HRESULT from_bytes(const uint8_t *bytes, size_t size, char **out)
{
    char *copy = memory_alloc(size + 1);
    *out = NULL;
    if (!copy)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < size; i++)
        copy[i] = bytes[i] ? (char)bytes[i] : '\n';
    copy[size] = '\0';
    if (text_is_utf8(copy, size)) {
        *out = copy;
        return S_OK;
    }
    HRESULT hr = text_from_ansi(copy, size, true, out);
    memory_free(copy);
    return hr;
}

/* Returns whether the bytes are UTF-16 without a byte order mark. A perfc file in UTF-16 begins with the digits of an
   index. */
static bool looks_like_utf16(const uint8_t *bytes, size_t size)
{
    return size >= 4 && bytes[0] >= '0' && bytes[0] <= '9' && !bytes[1] && !bytes[3];
}

/* Converts the strings to UTF-8, each on its own line. */
static HRESULT decode(const char *bytes, size_t size, char **out)
{
    const uint8_t *data = (const uint8_t *)bytes;
    enum text_encoding encoding;
    const size_t mark = text_encoding_of(data, size, &encoding);
    if (encoding == ENCODING_UTF16_LE || encoding == ENCODING_UTF16_BE || looks_like_utf16(data, size))
        return from_utf16(data + mark, size - mark, encoding == ENCODING_UTF16_BE, out);
    return from_bytes(data + mark, size - mark, out);
}

/* Returns the next line, without its end, in place; NULL: no more lines. */
static char *next_line(char **rest)
{
    char *line = *rest;
    if (!line || !*line)
        return NULL;
    char *end = strchr(line, '\n');
    *rest = end ? end + 1 : NULL;
    if (!end)
        end = line + strlen(line);
    *end = '\0';
    if (end > line && end[-1] == '\r')
        end[-1] = '\0';
    return line;
}

/* ---- lists ---- */

static HRESULT list_of(struct name_lists *lists, uint32_t langid, const char *path, struct name_list **out)
{
    for (size_t i = 0; i < lists->count; i++)
        if (lists->items[i]->langid == langid) {
            *out = lists->items[i];
            return S_OK;
        }
    if (lists->count == NAMES_MOST_LISTS)
        return bad_data(path, "too many languages");
    *out = memory_zero(1, sizeof **out);
    if (!*out)
        return E_OUTOFMEMORY;
    (*out)->langid = langid;
    lists->items[lists->count++] = *out;
    return S_OK;
}

static HRESULT add_name(struct name_list *list, uint32_t index, const char *name, const char *path)
{
    void *items = list->items;
    if (list->count == NAMES_MOST)
        return bad_data(path, "too many names");
    if (!memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items))
        return E_OUTOFMEMORY;
    list->items = items;
    list->items[list->count] = (struct indexed_name){index, text_copy(name)};
    return list->items[list->count].name ? list->count++, S_OK : E_OUTOFMEMORY;
}

static int compare_indexes(const void *left, const void *right)
{
    const struct indexed_name *a = left, *b = right;
    const int order = (a->index > b->index) - (a->index < b->index);
    return order ? order : strcmp(a->name, b->name);
}

/* Adds names from pairs of lines, an index and a name. *pairs counts all pairs, including explanations. */
static HRESULT add_pairs(struct name_list *list, char *text, const char *path, size_t *pairs)
{
    HRESULT hr = S_OK;
    bool has_index = false;
    uint64_t index = 0;
    for (char *line; SUCCEEDED(hr) && (line = next_line(&text));) {
        if (!has_index) {
            has_index = text_to_u64(line, &index) && index <= UINT32_MAX;
            continue;
        }
        has_index = false;
        ++*pairs;
        if (index % 2 == 0 && *line && strlen(line) < NAMES_LONGEST)
            hr = add_name(list, (uint32_t)index, line, path);
    }
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_indexes);
    return hr;
}

/* Returns the primary language of "007" or "0416"; false: not a language. */
static bool read_langid(const char *text, size_t length, uint32_t *out)
{
    uint32_t value = 0;
    if (!length || length > MOST_LANGID_DIGITS)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        const bool digit = c >= '0' && c <= '9', letter = (c | 32) >= 'a' && (c | 32) <= 'f';
        if (!digit && !letter)
            return false;
        value = value << 4 | (uint32_t)(digit ? c - '0' : (c | 32) - 'a' + 10);
    }
    *out = value & PRIMARY;
    return true;
}

/* ---- perfcNNN.dat ---- */

static HRESULT read_perfc(struct name_lists *lists, const char *path, char *text)
{
    const char *name = path_name(path);
    const char *digits = strlen(name) > 5 ? name + 5 : "";
    struct name_list *list = NULL;
    uint32_t langid = 0;
    size_t pairs = 0;
    char prefix[5];
    text_fit(prefix, sizeof prefix, name);
    if (!text_equal_nocase(prefix, "perf") || !read_langid(digits, strcspn(digits, "."), &langid))
        langid = 0;
    HRESULT hr = list_of(lists, langid, path, &list);
    if (SUCCEEDED(hr))
        hr = add_pairs(list, text, path, &pairs);
    if (SUCCEEDED(hr) && !pairs)
        hr = bad_data(path, "not an export of the registry key Perflib, nor a file like perfc009.dat");
    return hr;
}

/* ---- exports of the registry ---- */

struct reg_reading {
    struct name_lists *lists;
    const char *path;
    bool wide;          /* strings are UTF-16 */
    bool in_key;        /* inside the key of a language */
    uint32_t langid;    /* language of the key */
    bool in_value;      /* the value's bytes continue on the next line */
    size_t line, pairs; /* line number; number of pairs in all lists */
    uint8_t *bytes;
    size_t count, capacity;
};

/* Reads a line such as "[HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib\007]". */
static void begin_key(struct reg_reading *r, char *line)
{
    static const char parent[] = "\\Perflib";
    char *end = strrchr(line, ']'), *last = NULL;
    r->in_key = false;
    if (end)
        *end = '\0';
    last = end && line[1] != '-' ? strrchr(line, '\\') : NULL;
    if (!last || (size_t)(last - line) < sizeof parent)
        return;
    *last++ = '\0';
    if (!text_equal_nocase(last - sizeof parent, parent))
        return;
    r->langid = 0; /* for CurrentLanguage */
    r->in_key = text_equal_nocase(last, "CurrentLanguage") || read_langid(last, strlen(last), &r->langid);
}

static HRESULT end_value(struct reg_reading *r)
{
    struct name_list *list = NULL;
    char *text = NULL;
    r->in_value = false;
    HRESULT hr = list_of(r->lists, r->langid, r->path, &list);
    if (SUCCEEDED(hr))
        hr = r->wide ? from_utf16(r->bytes, r->count, false, &text) : from_bytes(r->bytes, r->count, &text);
    if (SUCCEEDED(hr))
        hr = add_pairs(list, text, r->path, &r->pairs);
    memory_free(text);
    return hr;
}

/* Returns the value of a hexadecimal digit; 16: not a digit. */
static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    const char lower = (char)(c | 32);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 16;
}

/* Adds the bytes of a line such as "31,00,\". A backslash at the end means that the value continues on the next line;
   otherwise the value ends. */
static HRESULT add_hex(struct reg_reading *r, const char *at)
{
    while (*at) {
        if (*at == ' ' || *at == '\t' || *at == ',') {
            at++;
        } else if (*at == '\\' && !at[1 + strspn(at + 1, " \t")]) {
            return S_OK;
        } else {
            const unsigned high = hex_digit(at[0]), low = high < 16 ? hex_digit(at[1]) : 16;
            void *bytes = r->bytes;
            if (low == 16) {
                char why[64];
                snprintf(why, sizeof why, "line %zu: invalid hexadecimal digits", r->line);
                return bad_data(r->path, why);
            }
            if (!memory_grow(&bytes, &r->capacity, r->count + 1, 1))
                return E_OUTOFMEMORY;
            r->bytes = bytes;
            r->bytes[r->count++] = (uint8_t)(high << 4 | low);
            at += 2;
        }
    }
    return end_value(r);
}

static HRESULT read_reg_line(struct reg_reading *r, char *line)
{
    static const char value[] = "\"Counter\"=hex(7):";
    char begin[sizeof value];
    line += strspn(line, " \t");
    if (r->in_value)
        return add_hex(r, line);
    if (*line == '[') {
        begin_key(r, line);
        return S_OK;
    }
    text_fit(begin, sizeof begin, line);
    if (!r->in_key || !text_equal_nocase(begin, value))
        return S_OK;
    r->in_value = true;
    r->count = 0;
    return add_hex(r, line + sizeof value - 1);
}

static HRESULT read_reg(struct name_lists *lists, const char *path, char *text, bool wide)
{
    struct reg_reading r = {.lists = lists, .path = path, .wide = wide};
    HRESULT hr = S_OK;
    for (char *line; SUCCEEDED(hr) && (line = next_line(&text));) {
        r.line++;
        hr = read_reg_line(&r, line);
    }
    if (SUCCEEDED(hr) && r.in_value)
        hr = end_value(&r); /* the file is truncated inside a value */
    if (SUCCEEDED(hr) && !r.pairs)
        hr = bad_data(path,
                      "it does not contain the key of a language (such as Perflib\\009) with a value named Counter");
    memory_free(r.bytes);
    return hr;
}

HRESULT name_lists_read(struct name_lists *lists, const char *path, const char *bytes, size_t size)
{
    static const char new_form[] = "Windows Registry Editor", old_form[] = "REGEDIT4";
    char *text = NULL;
    HRESULT hr = decode(bytes, size, &text);
    if (FAILED(hr))
        return hr;
    const bool is_new = !strncmp(text, new_form, sizeof new_form - 1);
    const bool is_old = !strncmp(text, old_form, sizeof old_form - 1);
    hr = is_new || is_old ? read_reg(lists, path, text, is_new) : read_perfc(lists, path, text);
    memory_free(text);
    return hr;
}

void name_lists_free(struct name_lists *lists)
{
    for (size_t i = 0; i < lists->count; i++) {
        for (size_t k = 0; k < lists->items[i]->count; k++)
            memory_free(lists->items[i]->items[k].name);
        memory_free(lists->items[i]->items);
        memory_free(lists->items[i]);
    }
    *lists = (struct name_lists){0};
}

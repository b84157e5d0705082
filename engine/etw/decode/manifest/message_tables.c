/* SPDX-License-Identifier: MIT */
/* Stores messages by language and id, and handles their inserts and the languages of resources. Reads and writes
   RT_MESSAGETABLE (MESSAGE_RESOURCE_DATA, _BLOCK, _ENTRY). */
#include "engine/etw/decode/manifest/message_tables.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

#define MOST_MESSAGES 0x100000u /* maximum number of messages per language */
#define BLOCK_BYTES   12
#define ENTRY_HEADER  4
#define OF_UTF16      1

void message_tables_free(struct message_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        struct message_language *l = &tables->items[i];
        for (size_t k = 0; k < l->count; k++)
            memory_free(l->items[k].text);
        memory_free(l->items);
        memory_free(l->name);
    }
    memory_free(tables->items);
    *tables = (struct message_tables){0};
}

static struct message_language *language_of(struct message_tables *tables, const char *name)
{
    void *items = tables->items;
    for (size_t i = 0; i < tables->count; i++)
        if (text_equal_nocase(tables->items[i].name, name))
            return &tables->items[i];
    bool room = memory_grow(&items, &tables->capacity, tables->count + 1, sizeof *tables->items);
    tables->items = items;
    char *copy = room ? text_copy(name) : NULL;
    if (!copy)
        return NULL;
    tables->items[tables->count] = (struct message_language){.name = copy};
    return &tables->items[tables->count++];
}

/* Adds a message and takes ownership of its text; NULL is treated as out of memory. */
static HRESULT message_tables_give(struct message_tables *tables, const char *language, uint32_t id, char *text)
{
    struct message_language *l = text ? language_of(tables, language) : NULL;
    void *items = l ? l->items : NULL;
    if (!l || !memory_grow(&items, &l->capacity, l->count + 1, sizeof *l->items)) {
        memory_free(text);
        return E_OUTOFMEMORY;
    }
    l->items = items;
    l->items[l->count++] = (struct message){id, text};
    tables->bytes += strlen(text) + sizeof(struct message);
    l->sorted = false;
    return S_OK;
}

HRESULT message_tables_add(struct message_tables *tables, const char *language, uint32_t id, const char *text)
{
    return message_tables_give(tables, language, id, text_copy(text));
}

static int by_id(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Sorts by merging. The sort must be stable, but qsort does not keep the order of equal ids. */
static void sort_messages(struct message *items, struct message *spare, size_t count)
{
    size_t half = count / 2, left = 0, right = half;
    if (count < 2)
        return;
    sort_messages(items, spare, half);
    sort_messages(items + half, spare, count - half);
    for (size_t i = 0; i < count; i++)
        spare[i] =
            left < half && (right == count || items[left].id <= items[right].id) ? items[left++] : items[right++];
    memcpy(items, spare, count * sizeof *items);
}

static void sort_language(struct message_language *l)
{
    struct message *spare = memory_alloc(l->count * sizeof *spare);
    size_t kept = 0;
    if (spare)
        sort_messages(l->items, spare, l->count);
    else /* out of memory: this sort works, but loses the order of duplicates */
        qsort(l->items, l->count, sizeof *l->items, by_id);
    memory_free(spare);
    for (size_t i = 0; i < l->count; i++)
        if (kept && l->items[kept - 1].id == l->items[i].id)
            memory_free(l->items[i].text);
        else
            l->items[kept++] = l->items[i];
    l->count = kept;
    l->sorted = true;
}

void message_tables_sort(struct message_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++)
        if (!tables->items[i].sorted)
            sort_language(&tables->items[i]);
}

/* ---- lookup ---- */

const char *message_language_find(const struct message_language *l, uint32_t id)
{
    struct message wanted = {id, NULL};
    const struct message *found = l->sorted ? bsearch(&wanted, l->items, l->count, sizeof *l->items, by_id) : NULL;
    return found ? found->text : NULL;
}

/* Returns whether the language has this name or, unless `exact` is set, is related to it: "de" for "de-AT". */
static bool is_language(const char *name, const char *wanted, size_t length, bool exact)
{
    char one[2][16];
    const char *both[2] = {name, wanted};
    size_t lengths[2] = {strlen(name), length};
    for (size_t i = 0; i < 2; i++) {
        const char *dash = exact ? NULL : memchr(both[i], '-', lengths[i]);
        size_t n = dash ? (size_t)(dash - both[i]) : lengths[i];
        if (!n || n >= sizeof one[i])
            return false;
        memcpy(one[i], both[i], n);
        one[i][n] = 0;
    }
    return text_equal_nocase(one[0], one[1]);
}

static const char *find_wanted(const struct message_tables *tables, uint32_t id, const char *wanted, size_t length)
{
    for (int exact = 1; exact >= 0; exact--)
        for (size_t i = 0; i < tables->count; i++) {
            const struct message_language *l = &tables->items[i];
            const char *text = is_language(l->name, wanted, length, exact) ? message_language_find(l, id) : NULL;
            if (text)
                return text;
        }
    return NULL;
}

const char *message_tables_find(const struct message_tables *tables, uint32_t id, const char *languages)
{
    const char *text = NULL;
    if (id == MESSAGE_NONE)
        return NULL;
    for (const char *at = languages ? languages : ""; !text && *at;) {
        size_t length = strcspn(at, ";");
        text = find_wanted(tables, id, at, length);
        at += length + (at[length] == ';');
    }
    if (!text)
        text = find_wanted(tables, id, "en-US", 5);
    for (size_t i = 0; !text && i < tables->count; i++)
        text = tables->items[i].name[0] ? NULL : message_language_find(&tables->items[i], id);
    for (size_t i = 0; !text && i < tables->count; i++)
        text = message_language_find(&tables->items[i], id);
    return text;
}

/* ---- the resource ---- */

static HRESULT table_corrupt(const char *what, unsigned long long value)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "invalid message table: %s (%llu)", what, value);
}

static HRESULT entry_text(const uint8_t *text, size_t bytes, bool wide, char **out)
{
    if (!wide) {
        size_t end = 0;
        while (end < bytes && text[end])
            end++;
        if (end >= 2 && text[end - 1] == '\n' && text[end - 2] == '\r')
            end -= 2;
        return text_from_ansi((const char *)text, end, true, out);
    }
    size_t units = bytes / 2, length = 0;
    WCHAR *copy = memory_alloc((units + 1) * sizeof *copy);
    if (!copy)
        return E_OUTOFMEMORY;
    while (length < units && (copy[length] = get_u16(text + 2 * length)) != 0)
        length++;
    /* The message compiler adds CR LF to each text. */
    if (length >= 2 && copy[length - 1] == '\n' && copy[length - 2] == '\r')
        length -= 2;
    HRESULT hr = text_from_utf16(copy, length, true, out);
    memory_free(copy);
    return hr;
}

static HRESULT read_block(const uint8_t *bytes, size_t size, const uint8_t *block, const char *language,
                          struct message_tables *to, size_t *total)
{
    uint32_t low = get_u32(block), high = get_u32(block + 4);
    size_t at = get_u32(block + 8);
    HRESULT hr = S_OK;
    if (high < low)
        return table_corrupt("a block ends before it begins", high);
    for (uint64_t id = low; SUCCEEDED(hr) && id <= high; id++) {
        char *text;
        if (at > size || size - at < ENTRY_HEADER)
            return table_corrupt("entry out of range", at);
        size_t length = get_u16(bytes + at);
        if (length < ENTRY_HEADER || length > size - at)
            return table_corrupt("invalid entry length", length);
        if (++*total > MOST_MESSAGES)
            return table_corrupt("too many messages", *total);
        hr = entry_text(bytes + at + ENTRY_HEADER, length - ENTRY_HEADER, get_u16(bytes + at + 2) & OF_UTF16, &text);
        if (SUCCEEDED(hr))
            hr = message_tables_give(to, language, (uint32_t)id, text);
        /* Several entries can have the same text, so the file size does not limit the size of the messages. */
        if (SUCCEEDED(hr) && to->bytes > MESSAGES_MOST_BYTES)
            return table_corrupt("the messages are too large", to->bytes);
        at += length;
    }
    return hr;
}

HRESULT message_table_read(const uint8_t *bytes, size_t size, const char *language, struct message_tables *to)
{
    HRESULT hr = S_OK;
    size_t total = 0;
    if (size < 4)
        return table_corrupt("header missing", size);
    size_t blocks = get_u32(bytes);
    if (blocks > (size - 4) / BLOCK_BYTES)
        return table_corrupt("block list out of range", blocks);
    for (size_t i = 0; SUCCEEDED(hr) && i < blocks; i++)
        hr = read_block(bytes, size, bytes + 4 + i * BLOCK_BYTES, language, to, &total);
    return hr;
}

struct table_writer {
    uint8_t *bytes;
    size_t size, capacity;
};

static uint8_t *add_bytes(struct table_writer *w, size_t count)
{
    void *bytes = w->bytes;
    if (!memory_grow(&bytes, &w->capacity, w->size + count, 1))
        return NULL;
    w->bytes = bytes;
    memset(w->bytes + w->size, 0, count);
    w->size += count;
    return w->bytes + w->size - count;
}

static HRESULT write_entry(struct table_writer *w, const struct message *m)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text_to_utf16(m->text, &wide, &units);
    if (FAILED(hr))
        return hr;
    /* The size in bytes of header, text, CR LF and NUL, rounded up to whole 32-bit words. */
    size_t length = (ENTRY_HEADER + (units + 3) * 2 + 3) / 4 * 4;
    uint8_t *entry = length <= UINT16_MAX ? add_bytes(w, length) : NULL;
    if (length > UINT16_MAX)
        hr = error_set(E_INVALIDARG, "cannot write the message table: message 0x%08X has %llu characters",
                       (unsigned)m->id, (unsigned long long)units);
    else if (!entry)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && entry) {
        put_u16(entry, (uint16_t)length);
        put_u16(entry + 2, OF_UTF16);
        for (size_t i = 0; i < units; i++)
            put_u16(entry + ENTRY_HEADER + 2 * i, wide[i]);
        put_u16(entry + ENTRY_HEADER + 2 * units, '\r');
        put_u16(entry + ENTRY_HEADER + 2 * units + 2, '\n');
    }
    memory_free(wide);
    return hr;
}

HRESULT message_table_write(const struct message_language *l, uint8_t **bytes, size_t *size)
{
    struct table_writer w = {0};
    size_t blocks = 0;
    *bytes = NULL;
    *size = 0;
    for (size_t i = 0; i < l->count; i++)
        blocks += !i || l->items[i].id != l->items[i - 1].id + 1;
    HRESULT hr = add_bytes(&w, 4 + blocks * BLOCK_BYTES) ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        put_u32(w.bytes, (uint32_t)blocks);
    for (size_t i = 0, block = 0; SUCCEEDED(hr) && i < l->count; i++) {
        if (!i || l->items[i].id != l->items[i - 1].id + 1) {
            uint8_t *at = w.bytes + 4 + block++ * BLOCK_BYTES;
            put_u32(at, l->items[i].id);
            put_u32(at + 8, (uint32_t)w.size);
        }
        put_u32(w.bytes + 4 + (block - 1) * BLOCK_BYTES + 4, l->items[i].id);
        hr = write_entry(&w, &l->items[i]);
    }
    if (FAILED(hr)) {
        memory_free(w.bytes);
        return hr;
    }
    *bytes = w.bytes;
    *size = w.size;
    return S_OK;
}

/* ---- messages with their inserts ---- */

/* Reads the number after a percent sign, with at most `most` digits: two for an insert, ten for a parameter. Returns
   the number of digits; 0: no number. */
static size_t read_number(const char *at, size_t most, uint32_t *number)
{
    uint64_t n = 0;
    size_t length = 0;
    for (; length < most && at[length] >= '0' && at[length] <= '9'; length++)
        n = 10 * n + (uint64_t)(at[length] - '0');
    *number = (uint32_t)n;
    return n <= UINT32_MAX ? length : 0;
}

/* Appends the text that %%n stands for; `at` is after the first percent sign. Returns the number of characters used, or
   0 if the parameter does not exist. */
static size_t add_parameter(struct text_buffer *out, const char *at, const struct message_tables *parameters,
                            const char *languages)
{
    uint32_t id;
    size_t digits = parameters && *at == '%' ? read_number(at + 1, 10, &id) : 0;
    const char *text = digits ? message_tables_find(parameters, id, languages) : NULL;
    if (!text)
        return 0;
    text_buffer_add(out, text);
    return 1 + digits;
}

static void add_insert(struct text_buffer *out, const char *insert, const struct message_tables *parameters,
                       const char *languages)
{
    for (const char *percent; parameters && (percent = strstr(insert, "%%")) != NULL;) {
        text_buffer_add_n(out, insert, (size_t)(percent - insert));
        size_t taken = add_parameter(out, percent + 1, parameters, languages);
        if (!taken)
            text_buffer_add_n(out, percent, 2);
        insert = percent + (taken ? taken + 1 : 2);
    }
    text_buffer_add(out, insert);
}

/* Returns the length of the format after an insert's number. The length is 0 without a format, 3 for !s! or !S!, and
   SIZE_MAX for any other format. */
static size_t form_length(const char *at)
{
    if (*at != '!')
        return 0;
    if ((at[1] == 's' || at[1] == 'S') && at[2] == '!')
        return 3;
    return strchr(at + 1, '!') ? SIZE_MAX : 0;
}

void message_text_add(struct text_buffer *out, const char *message, const char *const *inserts, size_t count,
                      const struct message_tables *parameters, const char *languages)
{
    static const char signs[] = "ntbr.! ";
    static const char *const stand_for[] = {"\r\n", "\t", " ", "\r", ".", "!", " "};
    for (const char *percent; (percent = strchr(message, '%')) != NULL;) {
        uint32_t number;
        const char *at = percent + 1;
        text_buffer_add_n(out, message, (size_t)(percent - message));
        size_t digits = read_number(at, 2, &number), form = digits ? form_length(at + digits) : 0;
        size_t parameter = add_parameter(out, at, parameters, languages);
        const char *sign = *at ? strchr(signs, *at) : NULL;
        message = at + 1;
        if (parameter) {
            message = at + parameter;
        } else if (*at == '0') {
            return;
        } else if (digits && number <= count && inserts[number - 1] && form != SIZE_MAX) {
            add_insert(out, inserts[number - 1], parameters, languages);
            message = at + digits + form;
        } else if (*at == '%') {
            text_buffer_add(out, "%");
        } else if (sign) {
            text_buffer_add(out, stand_for[sign - signs]);
        } else {
            text_buffer_add(out, "%");
            message = at;
        }
    }
    text_buffer_add(out, message);
}

/* ---- languages of resources ---- */

#define LANGUAGE(called, number) {called, number},
static const struct {
    const char *name;
    uint16_t number;
} rows[] = {
#include "engine/etw/decode/manifest/languages.def"
};

#define ROWS_COUNT (sizeof rows / sizeof rows[0])
#define PRIMARY    0x3FFu

bool language_number(const char *name, uint16_t *number)
{
    for (size_t i = 0; i < ROWS_COUNT; i++)
        if (text_equal_nocase(rows[i].name, name)) {
            *number = rows[i].number;
            return true;
        }
    return false;
}

const char *language_name(uint16_t number)
{
    const uint16_t wanted[] = {number, number & PRIMARY};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < ROWS_COUNT; i++)
            if (rows[i].number == wanted[k])
                return rows[i].name;
    return "";
}

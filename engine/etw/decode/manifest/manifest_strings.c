/* SPDX-License-Identifier: MIT */
/* The string tables of a manifest, and the messages that are made of them: $(string.ID) and $(mc.SYMBOL). */
#include "engine/base/memory.h"
#include "engine/etw/manifest_reader.h"

#include <string.h>

#define LONGEST_MESSAGE (1u << 16)  /* bytes, after references are what they stand for */
#define ALL_MESSAGES    (64u << 20) /* bytes: one string may be the text of many events */

void manifest_strings_free(struct manifest_strings *s)
{
    for (size_t i = 0; i < s->count; i++) {
        memory_free(s->items[i].id);
        memory_free(s->items[i].text);
    }
    memory_free(s->items);
    texts_free(&s->cultures);
    name_index_free(&s->by_id);
    *s = (struct manifest_strings){0};
}

/* Takes both over. S_FALSE: the culture has one already. */
static HRESULT add_string(struct manifest_strings *s, size_t culture, char *id, char *text)
{
    void *items = s->items;
    uint32_t first;
    bool room = memory_grow(&items, &s->capacity, s->count + 1, sizeof *s->items);
    s->items = items;
    if (!room) {
        memory_free(id);
        memory_free(text);
        return E_OUTOFMEMORY;
    }
    struct manifest_string *one = &s->items[s->count++];
    *one = (struct manifest_string){.id = id, .text = text, .culture = culture};
    if (!name_index_find(&s->by_id, id, &first))
        return name_index_add(&s->by_id, id, (uint32_t)(s->count - 1));
    for (size_t i = first + 1; i; i = s->items[i - 1].next)
        if (s->items[i - 1].culture == culture)
            return S_FALSE;
    one->next = s->items[first].next;
    s->items[first].next = s->count;
    return S_OK;
}

static HRESULT read_string(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    const size_t *culture = about;
    char *id, *text = NULL;
    HRESULT hr = manifest_name(r, e, "id", &id);
    if (SUCCEEDED(hr) && xmlHasProp(e, BAD_CAST "value"))
        hr = xml_element_attribute(r->document, e, "value", &text);
    else if (SUCCEEDED(hr))
        hr = manifest_wrong(e, "value", NULL, "it is wanted");
    if (FAILED(hr)) {
        memory_free(id);
        return hr;
    }
    hr = add_string(&r->strings, *culture, id, text);
    return hr == S_FALSE ? manifest_wrong(e, "id", id, "the culture has one already") : hr;
}

static HRESULT read_table(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    return manifest_children(r, e, "string", read_string, about);
}

static HRESULT read_resources(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    char *culture;
    (void)about;
    HRESULT hr = manifest_name(r, e, "culture", &culture);
    size_t index = 0;
    if (FAILED(hr))
        return hr;
    while (index < r->strings.cultures.count && !text_equal_nocase(r->strings.cultures.items[index], culture))
        index++;
    if (index < r->strings.cultures.count)
        memory_free(culture);
    else if (index == 256)
        hr = manifest_wrong(e, "culture", culture, "there are more than 256 cultures"), memory_free(culture);
    else
        hr = texts_give(&r->strings.cultures, culture);
    return SUCCEEDED(hr) ? manifest_children(r, e, "stringTable", read_table, &index) : hr;
}

HRESULT manifest_read_localization(struct manifest_reader *r, xmlNodePtr localization)
{
    return manifest_children(r, localization, "resources", read_resources, NULL);
}

static HRESULT read_message(struct manifest_reader *r, xmlNodePtr e, void *about)
{
    char *symbol, *text = NULL;
    uint64_t value = 0;
    (void)about;
    HRESULT hr = manifest_text(r, e, "symbol", &symbol);
    if (SUCCEEDED(hr))
        hr = manifest_wanted_number(r, e, "value", 0, UINT32_MAX, &value);
    if (SUCCEEDED(hr))
        hr = manifest_name(r, e, "message", &text);
    if (FAILED(hr) || !symbol) {
        memory_free(symbol);
        memory_free(text);
        return hr;
    }
    hr = add_string(&r->table, 0, symbol, text);
    if (hr == S_FALSE)
        return manifest_wrong(e, "symbol", symbol, "there is one of that name already");
    return SUCCEEDED(hr) ? name_index_add(&r->table_values, symbol, (uint32_t)value) : hr;
}

HRESULT manifest_read_message_table(struct manifest_reader *r, xmlNodePtr table)
{
    return manifest_children(r, table, "message", read_message, NULL);
}

/* NULL: it has none in that culture. */
static const char *find_string(const struct manifest_strings *s, const char *id, size_t culture)
{
    uint32_t first;
    if (!name_index_find(&s->by_id, id, &first))
        return NULL;
    for (size_t i = (size_t)first + 1; i; i = s->items[i - 1].next)
        if (s->items[i - 1].culture == culture)
            return s->items[i - 1].text;
    return NULL;
}

/* The text with the culture's strings in the place of references. S_FALSE: it has none of that id, which is then in
   `missing`. */
static HRESULT resolve(const struct manifest_reader *r, const char *text, size_t culture, char **out, char **missing)
{
    static const char begin[] = "$(string.";
    struct text_buffer b = {0};
    *out = NULL;
    for (const char *at; (at = strstr(text, begin)) != NULL;) {
        const char *id = at + sizeof begin - 1, *end = strchr(id, ')');
        if (!end)
            break;
        char *name = text_copy_n(id, (size_t)(end - id));
        const char *found = name ? find_string(&r->strings, name, culture) : NULL;
        if (!found || b.length + strlen(found) > LONGEST_MESSAGE) {
            memory_free(*missing);
            *missing = name;
            text_buffer_free(&b);
            return name ? S_FALSE : E_OUTOFMEMORY;
        }
        memory_free(name);
        text_buffer_add_n(&b, text, (size_t)(at - text));
        text_buffer_add(&b, found);
        text = end + 1;
    }
    text_buffer_add(&b, text);
    *out = text_buffer_take(&b);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static HRESULT add_messages(struct manifest_reader *r, xmlNodePtr e, const char *attribute, uint32_t id,
                            const char *text)
{
    const size_t cultures = r->strings.cultures.count;
    char *missing = NULL;
    size_t added = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < (cultures ? cultures : 1); i++) {
        char *whole;
        hr = resolve(r, text, i, &whole, &missing);
        if (hr == S_OK) {
            hr = message_tables_add(&r->p->messages, cultures ? r->strings.cultures.items[i] : "", id, whole);
            added++;
            r->message_bytes += strlen(whole) + sizeof(struct message);
        }
        memory_free(whole);
    }
    if (SUCCEEDED(hr) && r->message_bytes > ALL_MESSAGES)
        hr = manifest_wrong(e, attribute, text, "the messages need more than %u bytes", ALL_MESSAGES);
    if (SUCCEEDED(hr) && !added)
        hr = manifest_wrong(e, attribute, text, "no culture has the string \"%.100s\"", missing ? missing : "");
    memory_free(missing);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT manifest_message(struct manifest_reader *r, xmlNodePtr e, const char *attribute, uint32_t id, uint32_t *to)
{
    static const char begin[] = "$(mc.";
    char *text;
    HRESULT hr = manifest_text(r, e, attribute, &text);
    if (FAILED(hr) || !text)
        return hr;
    const char *whole = text;
    char *symbol = NULL;
    size_t length = strlen(text);
    if (strncmp(text, begin, sizeof begin - 1) == 0 && text[length - 1] == ')') {
        symbol = text_copy_n(text + sizeof begin - 1, length - sizeof begin);
        const char *name = symbol && strncmp(symbol, "message.", 8) == 0 ? symbol + 8 : symbol;
        whole = name ? find_string(&r->table, name, 0) : NULL;
        if (!symbol)
            hr = E_OUTOFMEMORY;
        else if (!whole || !name_index_find(&r->table_values, name, &id))
            hr = manifest_wrong(e, attribute, text, "no message of messageTable has that symbol");
    }
    if (SUCCEEDED(hr))
        hr = add_messages(r, e, attribute, id, whole);
    if (SUCCEEDED(hr))
        *to = id;
    memory_free(symbol);
    memory_free(text);
    return hr;
}

HRESULT manifest_plain_text(struct manifest_reader *r, xmlNodePtr e, const char *attribute, char **out)
{
    const size_t cultures = r->strings.cultures.count;
    size_t english = 0;
    char *text, *missing = NULL;
    *out = NULL;
    HRESULT hr = manifest_text(r, e, attribute, &text);
    if (FAILED(hr) || !text)
        return hr;
    for (size_t i = cultures; i > 0; i--)
        if (text_matches("en*", r->strings.cultures.items[i - 1]))
            english = i - 1;
    hr = resolve(r, text, english, out, &missing);
    for (size_t i = 0; hr == S_FALSE && i < cultures; i++)
        hr = resolve(r, text, i, out, &missing);
    if (hr == S_FALSE)
        hr = manifest_wrong(e, attribute, text, "no culture has the string \"%.100s\"", missing);
    memory_free(missing);
    memory_free(text);
    return hr;
}

HRESULT manifest_add_message(struct manifest_reader *r, uint32_t id, const char *text)
{
    const size_t cultures = r->strings.cultures.count;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < (cultures ? cultures : 1); i++)
        hr = message_tables_add(&r->p->messages, cultures ? r->strings.cultures.items[i] : "", id, text);
    return hr;
}

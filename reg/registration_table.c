/* SPDX-License-Identifier: MIT */
/* Fills in the table of registration.def. */
#include "reg/registration_table.h"

#include "engine/base/memory.h"
#include "idl/proxy_clsid.h"

#include <string.h>

enum row_when { ONCE, WITH_SERVICE, DROPIN, EACH_CLASS, DROPIN_CLASS, SERVER_CLASS, CLIENT_CLASS, EACH_INTERFACE };

static const struct table_row {
    bool narrow; /* for 32-bit programs */
    enum row_when when;
    const char *root, *key, *name;
    enum registration_kind kind;
    const char *data;
} table[] = {
#define ROW(when, root, key, name, type, data)    {false, when, root, key, name, REGISTRATION_##type, data},
#define ROW_32(when, root, key, name, type, data) {true, when, root, key, name, REGISTRATION_##type, data},
#include "reg/registration.def"
#undef ROW_32
#undef ROW
};

const struct registration_subject registration_classes[] = {
#define CLASS(name, guid, title, create, category)    {"{" guid, #name, title, 0, false},
#define FACADE(name, guid, title, create, for_client) {"{" guid, #name, title, 0, true},
#include "reg/classes.def"
#undef FACADE
#undef CLASS
};
const size_t registration_class_count = sizeof registration_classes / sizeof registration_classes[0];
const struct registration_subject registration_interfaces[] = {
#define INTERFACE(name, guid, methods) {"{" guid, #name, "", methods, false},
#include "reg/interfaces.def"
#undef INTERFACE
};
const size_t registration_interface_count = sizeof registration_interfaces / sizeof registration_interfaces[0];
static const struct registration_subject nothing = {"", "", "", 0, false};

/* The class or interface that a row is filled in for. */
struct place {
    enum registration_mode mode;
    const char *folder;
    bool narrow;
    const struct registration_subject *subject;
};

static const char *tail_of(enum registration_mode mode)
{
    return mode == REGISTRATION_BESIDE ? REGISTRATION_TAIL_BESIDE : REGISTRATION_TAIL_DROPIN;
}

char *registration_guid(enum registration_mode mode, const struct registration_subject *subject)
{
    return text_format("%s%s", subject->digits, tail_of(subject->methods ? REGISTRATION_DROPIN : mode));
}

/* Returns the value of a placeholder; *out is NULL when out of memory. */
static HRESULT row_expand_placeholder(const char *word, size_t length, const struct place *p, char **out)
{
#define IS(text) (length == sizeof(text) - 1 && !memcmp(word, text, length))
    if (IS("folder"))
        *out = text_copy(p->folder);
    else if (IS("module"))
        *out = text_format("%s%s\\openpla.dll", p->folder, p->narrow ? "\\" OPENPLA_FOLDER_32 : "");
    else if (IS("server"))
        *out = text_format("%s\\openplasrv.exe", p->folder);
    else if (IS("proxy"))
        *out = text_copy(OPENPLA_PROXY_CLSID_TEXT);
    else if (IS("app"))
        *out = text_format("{03837503%s", tail_of(p->mode));
    else if (IS("product"))
        *out = text_copy(p->mode == REGISTRATION_BESIDE ? "OpenPLA" : "PLA");
    else if (IS("guid"))
        *out = registration_guid(p->mode, p->subject);
    else if (IS("name"))
        *out = text_copy(p->subject->name);
    else if (IS("title"))
        *out = text_copy(p->subject->title);
    else if (IS("methods"))
        *out = text_format("%u", p->subject->methods);
    else
        return error_set(E_INVALIDARG, "registration table: unknown placeholder {%.*s}", (int)length, word);
#undef IS
    return S_OK;
}

/* Replaces the placeholders, which are lower-case letters in braces; GUIDs in braces contain other characters too. */
static HRESULT fill_in(const char *text, const struct place *p, char **out)
{
    struct text_buffer buffer = {0};
    char *value = NULL;
    while (*text) {
        size_t length = *text == '{' ? strspn(text + 1, "abcdefghijklmnopqrstuvwxyz") : 0;
        if (!length || text[1 + length] != '}') {
            text_buffer_add_n(&buffer, text++, 1);
            continue;
        }
        HRESULT hr = row_expand_placeholder(text + 1, length, p, &value);
        if (SUCCEEDED(hr) && !value)
            hr = E_OUTOFMEMORY;
        if (FAILED(hr)) {
            text_buffer_free(&buffer);
            return hr;
        }
        text_buffer_add(&buffer, value);
        memory_free(value);
        text += length + 2;
    }
    *out = text_buffer_take(&buffer);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static void entry_free(struct registration_entry *entry)
{
    memory_free(entry->root);
    memory_free(entry->key);
    memory_free(entry->name);
    memory_free(entry->data);
}

static HRESULT fill_row(const struct table_row *from, const struct place *p, struct registration_entry *entry)
{
    char *key;
    HRESULT hr = fill_in(from->key, p, &key);
    if (FAILED(hr))
        return hr;
    entry->kind = from->kind;
    entry->service = from->when == WITH_SERVICE;
    entry->narrow = from->narrow;
    entry->root = text_copy(from->root);
    entry->key = text_format("%s\\%s", from->root, key);
    entry->name = from->name ? text_copy(from->name) : NULL;
    memory_free(key);
    if (!entry->root || !entry->key || (from->name && !entry->name))
        return E_OUTOFMEMORY;
    return from->data ? fill_in(from->data, p, &entry->data) : S_OK;
}

static bool is_skipped(const struct table_row *row, const struct place *p)
{
    const bool dropin_only = row->when == DROPIN || row->when == DROPIN_CLASS || row->when == EACH_INTERFACE;
    return (dropin_only && p->mode != REGISTRATION_DROPIN) ||
           row->when == (p->subject->facade ? SERVER_CLASS : CLIENT_CLASS);
}

HRESULT registration_table(enum registration_mode mode, const char *folder, struct registration_entries *out)
{
    struct registration_entries entries = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]) && SUCCEEDED(hr); i++) {
        const struct registration_subject *subjects = &nothing;
        size_t count = 1;
        if (table[i].when == EACH_INTERFACE) {
            subjects = registration_interfaces;
            count = registration_interface_count;
        } else if (table[i].when >= EACH_CLASS) {
            subjects = registration_classes;
            count = registration_class_count;
        }
        for (size_t j = 0; j < count && SUCCEEDED(hr); j++) {
            const struct place place = {mode, folder, table[i].narrow, &subjects[j]};
            struct registration_entry entry = {0};
            if (is_skipped(&table[i], &place))
                continue;
            hr = fill_row(&table[i], &place, &entry);
            if (SUCCEEDED(hr) &&
                !memory_grow((void **)&entries.items, &entries.capacity, entries.count + 1, sizeof(*entries.items)))
                hr = E_OUTOFMEMORY;
            if (SUCCEEDED(hr))
                entries.items[entries.count++] = entry;
            else
                entry_free(&entry);
        }
    }
    if (SUCCEEDED(hr))
        *out = entries;
    else
        registration_entries_free(&entries);
    return hr;
}

void registration_entries_free(struct registration_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        entry_free(&entries->items[i]);
    memory_free(entries->items);
    memset(entries, 0, sizeof(*entries));
}

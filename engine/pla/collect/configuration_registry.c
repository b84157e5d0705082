/* SPDX-License-Identifier: MIT */
/* The source for RegistryKeys of a configuration collector (MS-PLA 3.2.4.7, DECISIONS 61). Streams values, keys and
   branches to one table per entry, with one row per value. A key without values also has a row, so that comparisons
   find it. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/collect/configuration_source.h"

#include <stdio.h>
#include <string.h>

/* Windows' limit for the depth of keys. A deeper path must be a cycle. */
#define DEEPEST      512
/* If other processes add more than this many subkeys or values to a key while it is read, reading stops. Otherwise
   reading might never end. */
#define NEW_ONES     65536
#define FAR_LIMIT_MS 30000
#define GONE         HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)

struct walk {
    const struct configuration_source_context *context;
    struct configuration_document *document;
    const struct registry_path *path;
    struct registry_entry *entry; /* buffer for one entry; used by all levels */
};

static void put_error(struct walk *w, const char *key, const char *name, HRESULT hr)
{
    struct error_kept why = error_keep(hr);
    configuration_begin_item(w->document);
    configuration_data(w->document, "key", NULL, key);
    configuration_data(w->document, "name", NULL, name);
    configuration_data_error(w->document, error_restore(&why));
    configuration_end_item(w->document);
}

/* Writes a failure as a row, except E_OUTOFMEMORY, which it returns to end the collection. */
static HRESULT walk_put_failure(struct walk *w, const char *key, const char *name, HRESULT hr)
{
    if (hr == E_OUTOFMEMORY)
        return hr;
    put_error(w, key, name, hr);
    return configuration_status(w->document);
}

static const char *type_name(uint32_t type, char text[11])
{
    static const char *const names[] = {"REG_NONE",
                                        "REG_SZ",
                                        "REG_EXPAND_SZ",
                                        "REG_BINARY",
                                        "REG_DWORD",
                                        "REG_DWORD_BIG_ENDIAN",
                                        "REG_LINK",
                                        "REG_MULTI_SZ",
                                        "REG_RESOURCE_LIST",
                                        "REG_FULL_RESOURCE_DESCRIPTOR",
                                        "REG_RESOURCE_REQUIREMENTS_LIST",
                                        "REG_QWORD"};
    if (type < sizeof names / sizeof *names)
        return names[type];
    snprintf(text, 11, "0x%08X", (unsigned)type);
    return text;
}

/* Converts the strings of a REG_MULTI_SZ to lines: replaces each NUL except those at the end. False: the data are not
   such strings. */
static bool to_lines(WCHAR *text, size_t *units)
{
    size_t n = *units;
    for (int i = 0; i < 2 && n && !text[n - 1]; i++)
        n--;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n' || text[i] == '\r' || (!text[i] && (i == 0 || text[i - 1] == '\n')))
            return false;
        if (!text[i])
            text[i] = '\n';
    }
    *units = n;
    return true;
}

/* Converts the data to UTF-8; *out is from memory_alloc. S_FALSE: the data are not text that XML can represent. */
static HRESULT text_of(uint32_t type, const void *data, size_t size, char **out)
{
    size_t units = size / sizeof(WCHAR);
    *out = NULL;
    if (size % sizeof(WCHAR))
        return S_FALSE;
    WCHAR *text = memory_copy(data, size);
    if (!text)
        return E_OUTOFMEMORY;
    bool is_text = type != REGISTRY_TEXTS || to_lines(text, &units);
    if (type != REGISTRY_TEXTS && units && !text[units - 1])
        units--;
    for (size_t i = 0; is_text && i < units; i++)
        is_text =
            (text[i] >= ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') && (text[i] & 0xFFFE) != 0xFFFE;
    HRESULT hr = is_text ? text_from_utf16(text, units, false, out) : S_FALSE;
    memory_free(text);
    return hr == E_INVALIDARG ? S_FALSE : hr; /* a lone surrogate */
}

static HRESULT put_data(struct walk *w, uint32_t type, const uint8_t *data, size_t size)
{
    struct configuration_document *d = w->document;
    uint64_t number = 0;
    if (((type == REGISTRY_NUMBER || type == REGISTRY_BIG_ENDIAN_NUMBER) && size == 4) ||
        (type == REGISTRY_LONG_NUMBER && size == 8)) {
        for (size_t i = 0; i < size; i++)
            number |= (uint64_t)data[type == REGISTRY_BIG_ENDIAN_NUMBER ? size - 1 - i : i] << (8 * i);
        configuration_data_number(d, "value", NULL, number);
        return S_OK;
    }
    if (type == REGISTRY_TEXT || type == REGISTRY_EXPAND_TEXT || type == REGISTRY_LINK || type == REGISTRY_TEXTS) {
        char *text;
        HRESULT hr = text_of(type, data, size, &text);
        if (hr == S_OK)
            configuration_data(d, "value", NULL, text);
        memory_free(text);
        if (hr != S_FALSE)
            return hr;
    }
    configuration_data_bytes(d, "value", "hex", data, size);
    return S_OK;
}

static HRESULT put_value(struct walk *w, const char *key, const char *name, uint32_t type, const uint8_t *data,
                         size_t size)
{
    struct configuration_document *d = w->document;
    char number[11];
    configuration_begin_item(d);
    configuration_data(d, "key", NULL, key);
    configuration_data(d, "name", NULL, name);
    configuration_data(d, "type", NULL, type_name(type, number));
    HRESULT hr = S_OK;
    if (size > REGISTRY_MOST_BYTES)
        configuration_data_error(
            d, error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE),
                         "%.300s: value '%.300s' is omitted: it has %lu bytes (at most %lu are collected)", key, name,
                         (unsigned long)size, (unsigned long)REGISTRY_MOST_BYTES));
    else
        hr = put_data(w, type, data, size);
    return SUCCEEDED(hr) ? configuration_end_item(d) : hr;
}

static HRESULT put_key(struct walk *w, struct registry_key *key)
{
    configuration_begin_item(w->document);
    configuration_data(w->document, "key", NULL, registry_key_path(key));
    configuration_data(w->document, "name", NULL, "");
    configuration_data(w->document, "type", NULL, "key");
    return configuration_end_item(w->document);
}

/* Writes the value of that name; S_FALSE: the key has no such value. */
static HRESULT put_named(struct walk *w, struct registry_key *key, const char *name)
{
    struct registry_value v;
    HRESULT hr = registry_read(key, name, &v);
    if (FAILED(hr))
        return walk_put_failure(w, registry_key_path(key), name, hr);
    if (hr == S_OK)
        hr = put_value(w, registry_key_path(key), name, v.type, v.data, v.size);
    registry_value_free(&v);
    return hr;
}

/* Writes all values of the key. */
static HRESULT put_values(struct walk *w, struct registry_key *key)
{
    uint32_t keys, values, i = 0;
    HRESULT hr = registry_counts(key, &keys, &values);
    const uint64_t most = (uint64_t)values + NEW_ONES;
    while (SUCCEEDED(hr) && i < most && !configuration_stopped(w->context)) {
        char *name;
        hr = registry_value_at(key, i, w->entry);
        if (hr != S_OK)
            break;
        hr = text_from_utf16(w->entry->name, w->entry->name_units, true, &name);
        if (FAILED(hr))
            return hr;
        hr = put_value(w, registry_key_path(key), name, w->entry->type, w->entry->data, w->entry->size);
        memory_free(name);
        if (FAILED(hr))
            return hr;
        i++;
    }
    if (FAILED(hr))
        return walk_put_failure(w, registry_key_path(key), "", hr);
    return i || configuration_stopped(w->context) ? S_OK : put_key(w, key);
}

/* Determines whether the key is a link. Links are recorded but not followed, because a link leads to a parent, or to a
   key that is recorded elsewhere. */
static HRESULT is_link(struct registry_key *key, bool *out)
{
    struct registry_value v;
    HRESULT hr = registry_read(key, REGISTRY_LINK_VALUE, &v);
    *out = hr == S_OK && v.type == REGISTRY_LINK;
    registry_value_free(&v);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

static HRESULT put_branch(struct walk *w, struct registry_key *key, uint32_t depth);

static HRESULT put_below(struct walk *w, struct registry_key *key, uint32_t depth)
{
    struct registry_key *below = NULL;
    bool link = false;
    HRESULT hr = registry_open_at(key, w->entry, &below);
    if (hr == S_OK)
        hr = is_link(below, &link);
    if (below) {
        if (SUCCEEDED(hr))
            hr = link ? put_values(w, below) : put_branch(w, below, depth + 1);
        registry_close(below);
        return hr;
    }
    if (hr == E_OUTOFMEMORY)
        return hr;
    char *name, *path = NULL;
    struct error_kept why =
        error_keep(hr == S_FALSE ? error_set(GONE, "%.300s: a key below this key was deleted while the keys were read",
                                             registry_key_path(key))
                                 : hr);
    hr = text_from_utf16(w->entry->name, w->entry->name_units, true, &name);
    if (SUCCEEDED(hr))
        path = text_format("%s\\%s", registry_key_path(key), name);
    hr = path ? walk_put_failure(w, path, "", error_restore(&why)) : E_OUTOFMEMORY;
    memory_free(path);
    memory_free(name);
    return hr;
}

/* Returns whether the entry is the key Wow6432Node in the 32-bit view. In that view, Wow6432Node is only another name
   for its parent key. */
static bool leads_back(const struct walk *w)
{
    static const char name[] = "Wow6432Node";
    if (!w->path->place.of_32_bits || w->entry->name_units != sizeof name - 1)
        return false;
    for (size_t i = 0; i < sizeof name - 1; i++)
        if ((w->entry->name[i] | 0x20) != (WCHAR)(name[i] | 0x20))
            return false;
    return true;
}

static HRESULT put_branch(struct walk *w, struct registry_key *key, uint32_t depth)
{
    const uint32_t asked = w->context->request->registry_depth, deepest = asked && asked < DEEPEST ? asked : DEEPEST;
    uint32_t keys, values;
    HRESULT hr = w->path->value ? put_named(w, key, w->path->value) : put_values(w, key);
    if (FAILED(hr) || configuration_stopped(w->context))
        return hr;
    hr = registry_counts(key, &keys, &values);
    const uint64_t most = SUCCEEDED(hr) ? (uint64_t)keys + NEW_ONES : 0;
    if (keys && depth == DEEPEST)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE), "%.300s: keys below level %d are skipped",
                       registry_key_path(key), DEEPEST);
    for (uint32_t i = 0; depth < deepest && i < most && !configuration_stopped(w->context); i++) {
        hr = registry_key_at(key, i, w->entry);
        if (hr != S_OK)
            break;
        if (!leads_back(w) && FAILED(hr = put_below(w, key, depth)))
            return hr;
    }
    return FAILED(hr) ? walk_put_failure(w, registry_key_path(key), "", hr) : S_OK;
}

static char *full_path(const struct registry_path *p, const char *key, size_t bytes)
{
    return text_format("%s%s%.*s", registry_hive_name(p->place.hive), bytes ? "\\" : "", (int)bytes, key);
}

/* A request to open a key of another computer, which may not answer. Owns its data, because it can outlive the
   consumer. */
struct far_key {
    struct registry_path path;
};

static void far_key_free(void *user)
{
    struct far_key *f = user;
    registry_path_free(&f->path);
    memory_free(f);
}

static void close_key(void *key)
{
    registry_close(key);
}

static HRESULT open_far(void *user, struct slow_work *p)
{
    struct far_key *f = user;
    struct registry_key *key;
    HRESULT hr = registry_open_in(&f->path.place, f->path.key, &key);
    return hr == S_OK ? slow_work_give(p, key) : hr;
}

/* Opens a key for reading. The path of the key is the first `bytes` bytes of path->key. */
static HRESULT open_part(struct walk *w, size_t bytes, struct registry_key **out)
{
    static const struct slow_work_kind kind = {open_far, close_key, far_key_free};
    char *key = text_copy_n(w->path->key, bytes);
    *out = NULL;
    if (!key)
        return E_OUTOFMEMORY;
    if (!w->path->place.computer) {
        HRESULT hr = registry_open_in(&w->path->place, key, out);
        memory_free(key);
        return hr;
    }
    struct far_key *f = memory_zero(1, sizeof *f);
    HRESULT hr = f ? registry_path_copy(w->path, key, &f->path) : E_OUTOFMEMORY;
    memory_free(key);
    if (FAILED(hr)) {
        memory_free(f);
        return hr;
    }
    struct slow_work *p;
    void *opened;
    hr = slow_work_start(&kind, f, &p);
    if (FAILED(hr))
        return hr;
    hr = slow_work_take(p, w->context->stop, FAR_LIMIT_MS, w->path->place.computer, &opened);
    *out = opened;
    slow_work_abandon(p);
    return hr;
}

/* Returns the length of the text before the last backslash. */
static size_t folder_bytes(const char *text, size_t bytes)
{
    while (bytes && text[bytes - 1] != '\\')
        bytes--;
    return bytes ? bytes - 1 : 0;
}

/* Reports a missing value or key. The first `found` bytes of path->key are the path of a key that exists. */
static HRESULT put_missing(struct walk *w, size_t found)
{
    const char *text = w->path->key;
    const size_t asked = folder_bytes(text, strlen(text));
    const char *name = text + asked + (asked > 0);
    struct registry_key *key = NULL;
    char *path = full_path(w->path, text, asked);
    HRESULT hr = !path ? E_OUTOFMEMORY : found == asked ? open_part(w, strlen(text), &key) : S_FALSE;
    registry_close(key);
    if (SUCCEEDED(hr)) {
        const char *hint =
            hr == S_OK ? "; a key of that name exists (append a backslash to collect the key's values)" : "";
        hr = found == asked ? error_set(GONE, "%.300s: no value %.300s%s", path, name, hint)
                            : error_set(GONE, "%.300s: the key does not exist", path);
        hr = walk_put_failure(w, path, name, hr);
    }
    memory_free(path);
    return hr;
}

/* Writes one value. The value's name may contain backslashes, for example if it is a path. Therefore the longest
   possible key is tried first, then shorter ones, until a key exists. */
static HRESULT put_one(struct walk *w)
{
    const char *text = w->path->key;
    struct registry_key *key = NULL;
    size_t bytes = strlen(text);
    HRESULT hr = S_FALSE;
    do {
        bytes = folder_bytes(text, bytes);
        hr = open_part(w, bytes, &key);
    } while (hr == S_FALSE && bytes && !configuration_stopped(w->context));
    if (configuration_stopped(w->context)) {
        registry_close(key);
        return S_OK;
    }
    if (FAILED(hr))
        return walk_put_failure(w, text, "", hr);
    if (hr == S_OK) {
        hr = put_named(w, key, text + bytes + (bytes > 0));
        registry_close(key);
    }
    return hr == S_FALSE ? put_missing(w, bytes) : hr;
}

static HRESULT put_keys(struct walk *w)
{
    struct registry_key *key;
    HRESULT hr = open_part(w, strlen(w->path->key), &key);
    if (hr == S_OK) {
        hr = w->path->recursive ? put_branch(w, key, 0) : put_values(w, key);
        registry_close(key);
        return hr;
    }
    char *path = full_path(w->path, w->path->key, strlen(w->path->key));
    if (!path)
        return E_OUTOFMEMORY;
    if (hr == S_FALSE)
        hr = error_set(GONE, "%.300s: the key does not exist", path);
    hr = configuration_stopped(w->context) ? S_OK : walk_put_failure(w, path, "", hr);
    memory_free(path);
    return hr;
}

static HRESULT put_entry(struct walk *w, const char *text)
{
    static const struct configuration_column columns[] = {
        {"key", COLUMN_KEY}, {"name", COLUMN_KEY}, {"type", COLUMN_PLAIN}, {"value", COLUMN_PLAIN}};
    struct registry_path path;
    configuration_begin_table(w->document, "registryKeys", text, columns, sizeof columns / sizeof *columns);
    HRESULT hr = registry_path_read(text, &path);
    w->path = &path;
    if (FAILED(hr))
        hr = walk_put_failure(w, text, "", hr);
    else
        hr = path.value || path.all ? put_keys(w) : put_one(w);
    w->path = NULL;
    registry_path_free(&path);
    return SUCCEEDED(hr) ? configuration_end_table(w->document) : hr;
}

HRESULT configuration_collect_registry(const struct configuration_source_context *c)
{
    const struct texts *keys = &c->request->registry_keys;
    struct walk w = {.context = c, .document = c->document};
    if (!keys->count)
        return S_OK;
    if (!(w.entry = memory_zero(1, sizeof *w.entry)))
        return E_OUTOFMEMORY;
    configuration_begin_section(c->document, "registry");
    HRESULT hr = configuration_status(c->document);
    for (size_t i = 0; SUCCEEDED(hr) && i < keys->count && !configuration_stopped(c); i++)
        hr = put_entry(&w, keys->items[i]);
    registry_entry_free(w.entry);
    memory_free(w.entry);
    return SUCCEEDED(hr) ? configuration_end_section(c->document) : hr;
}

/* ---- parsing entries ---- */

static HRESULT bad(const char *text, const char *why)
{
    return error_set(E_INVALIDARG, "RegistryKeys: '%.600s': %s", text, why);
}

static bool name_is_equal(const char *a, const char *b, size_t bytes)
{
    char *copy = text_copy_n(a, bytes);
    const bool equal = copy && text_equal_nocase(copy, b);
    memory_free(copy);
    return equal;
}

/* Returns the length of the text without a view (" /reg:32") at its end. */
static size_t read_view(const char *text, bool *of_32_bits)
{
    static const char behind[] = " /reg:32";
    size_t bytes = strlen(text);
    if (bytes < sizeof behind)
        return bytes;
    const char *end = text + bytes - (sizeof behind - 1);
    *of_32_bits = name_is_equal(end, behind, sizeof behind - 1);
    if (!*of_32_bits && !name_is_equal(end, " /reg:64", sizeof behind - 1))
        return bytes;
    for (bytes -= sizeof behind - 1; bytes && text[bytes - 1] == ' ';)
        bytes--;
    return bytes;
}

/* Reads a computer's name. Returns NULL for this computer. */
static HRESULT read_computer(const char *text, size_t bytes, const char **out)
{
    char *name = text_copy_n(text, bytes);
    bool own = true;
    const HRESULT hr = name ? os_is_own_name(name, &own) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !own) {
        *out = name;
        name = NULL;
    }
    memory_free(name);
    return hr;
}

static const char *read_hive(const char *at, enum registry_hive *out)
{
    static const char *const short_names[REGISTRY_HIVES] = {"HKCR", "HKCU", "HKLM", "HKU", "HKCC"};
    const size_t bytes = strcspn(at, "\\");
    for (int i = 0; i < REGISTRY_HIVES; i++)
        if (name_is_equal(at, registry_hive_name((enum registry_hive)i), bytes) ||
            name_is_equal(at, short_names[i], bytes)) {
            *out = (enum registry_hive)i;
            return at + bytes;
        }
    return NULL;
}

/* Parses the text after the hive: "\Key..." */
static HRESULT read_key(const char *text, const char *at, struct registry_path *out)
{
    const char *marker = strstr(at, "\\\\");
    const size_t bytes = strlen(at);
    if (!bytes)
        return bad(text, "a key or value is missing");
    if (marker) {
        out->recursive = true;
        out->all = !marker[2];
        out->key = text_copy_n(at + 1, marker > at ? (size_t)(marker - at - 1) : 0);
        out->value = out->all ? NULL : text_copy(marker + 2);
        return out->key && (out->all || out->value) ? S_OK : E_OUTOFMEMORY;
    }
    out->all = at[bytes - 1] == '\\';
    out->key = text_copy_n(at + 1, bytes - 1 - (out->all && bytes > 1));
    return out->key ? S_OK : E_OUTOFMEMORY;
}

static HRESULT read_parts(const char *text, const char *at, struct registry_path *out)
{
    HRESULT hr = S_OK;
    if (at[0] == '\\' && at[1] == '\\') {
        const size_t bytes = strcspn(at + 2, "\\");
        if (!bytes || !at[2 + bytes])
            return bad(text, "a key is missing after the computer's name");
        hr = read_computer(at + 2, bytes, &out->place.computer);
        at += 2 + bytes;
    }
    if (FAILED(hr))
        return hr;
    at = read_hive(at + (*at == '\\'), &out->place.hive);
    return at ? read_key(text, at, out)
              : bad(text,
                    "expected a hive at the beginning: HKEY_CLASSES_ROOT, HKEY_CURRENT_CONFIG, HKEY_CURRENT_USER, "
                    "HKEY_LOCAL_MACHINE or HKEY_USERS");
}

HRESULT registry_path_read(const char *text, struct registry_path *out)
{
    *out = (struct registry_path){.all = false};
    const size_t bytes = read_view(text, &out->place.of_32_bits);
    char *copy = text_copy_n(text, bytes);
    HRESULT hr = copy ? read_parts(text, copy, out) : E_OUTOFMEMORY;
    memory_free(copy);
    if (FAILED(hr))
        registry_path_free(out);
    return hr;
}

HRESULT registry_path_copy(const struct registry_path *from, const char *key, struct registry_path *out)
{
    *out = *from;
    out->value = NULL;
    out->key = text_copy(key);
    out->place.computer = from->place.computer ? text_copy(from->place.computer) : NULL;
    if (out->key && (out->place.computer || !from->place.computer))
        return S_OK;
    registry_path_free(out);
    return E_OUTOFMEMORY;
}

void registry_path_free(struct registry_path *p)
{
    memory_free((char *)(uintptr_t)p->place.computer);
    memory_free(p->key);
    memory_free(p->value);
    *p = (struct registry_path){.all = false};
}

/* SPDX-License-Identifier: MIT */
/* Registered countersets: reads and writes string lists, manages the structures in memory, and reads and writes the
   registry. */
#include "engine/pdh/perflib/counterset_registration.h"

#include "engine/base/memory.h"

#include <stdlib.h>
#include <string.h>

HRESULT registry_read_texts(struct registry_key *key, const char *name, struct texts *out)
{
    struct registry_value v;
    HRESULT hr = registry_read(key, name, &v);
    if (hr != S_OK)
        return hr;
    const WCHAR *list = (const WCHAR *)(const void *)v.data;
    const size_t units = v.size / sizeof *list;
    if (v.type != REGISTRY_TEXTS || v.size % sizeof *list)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                       "registry value '%s': expected REG_MULTI_SZ instead of type %u", name, (unsigned)v.type);
    for (size_t at = 0; SUCCEEDED(hr) && at < units && list[at];) {
        size_t length = 0;
        char *text = NULL;
        while (at + length < units && list[at + length])
            length++;
        hr = text_from_utf16(list + at, length, true, &text);
        if (SUCCEEDED(hr))
            hr = texts_add_owned(out, text);
        at += length + 1;
    }
    registry_value_free(&v);
    return hr;
}

HRESULT registry_write_texts(struct registry_key *key, const char *name, const struct texts *texts)
{
    WCHAR *list = NULL;
    size_t capacity = 0, used = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < texts->count; i++) {
        WCHAR *wide = NULL;
        size_t units = 0;
        void *grown = list;
        if (!*texts->items[i])
            hr = error_set(E_INVALIDARG, "registry value '%s': a list cannot contain an empty string", name);
        if (SUCCEEDED(hr))
            hr = text_to_utf16(texts->items[i], &wide, &units);
        if (SUCCEEDED(hr) && !memory_grow(&grown, &capacity, used + units + 2, sizeof *list))
            hr = E_OUTOFMEMORY;
        list = grown;
        if (SUCCEEDED(hr)) {
            memcpy(list + used, wide, (units + 1) * sizeof *list);
            used += units + 1;
            list[used] = 0;
        }
        memory_free(wide);
    }
    if (SUCCEEDED(hr) && (used + 1) * sizeof *list > REGISTRY_MOST_BYTES)
        hr = error_set(E_INVALIDARG, "registry value '%s': the strings need more than %u bytes", name,
                       (unsigned)REGISTRY_MOST_BYTES);
    if (SUCCEEDED(hr))
        hr = used ? registry_write(key, name, REGISTRY_TEXTS, list, (used + 1) * sizeof *list)
                  : registry_remove(key, name);
    memory_free(list);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- in memory ---- */

/* Appends an item of `size` zero bytes to *items; NULL if memory runs out. */
static void *add_one(void **items, size_t *count, size_t *capacity, size_t size)
{
    if (!memory_grow(items, capacity, *count + 1, size))
        return NULL;
    uint8_t *one = (uint8_t *)*items + *count * size;
    for (size_t i = 0; i < size; i++)
        one[i] = 0;
    ++*count;
    return one;
}

struct registered_provider *registered_add_provider(struct registered_countersets *list, const GUID *guid)
{
    void *items = list->items;
    struct registered_provider *p = add_one(&items, &list->count, &list->capacity, sizeof *p);
    list->items = items;
    if (p)
        p->guid = *guid;
    return p;
}

struct registered_set *registered_add_set(struct registered_provider *p, const GUID *guid)
{
    void *sets = p->sets;
    struct registered_set *s = add_one(&sets, &p->count, &p->capacity, sizeof *s);
    p->sets = sets;
    if (s)
        s->guid = *guid;
    return s;
}

struct registered_counter *registered_add_counter(struct registered_set *s, uint32_t id)
{
    void *counters = s->counters;
    struct registered_counter *c = add_one(&counters, &s->count, &s->capacity, sizeof *c);
    s->counters = counters;
    if (c) {
        c->id = id;
        c->base = COUNTER_NO_ID;
    }
    return c;
}

const struct registered_counter *registered_counter_of(const struct registered_set *s, uint32_t id)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->counters[i].id == id)
            return &s->counters[i];
    return NULL;
}

static void free_set(struct registered_set *s)
{
    for (size_t i = 0; i < s->count; i++) {
        memory_free(s->counters[i].name);
        memory_free(s->counters[i].help);
    }
    memory_free(s->counters);
    memory_free(s->name);
    memory_free(s->help);
}

void registered_provider_clear(struct registered_provider *p)
{
    for (size_t i = 0; i < p->count; i++)
        free_set(&p->sets[i]);
    memory_free(p->sets);
    memory_free(p->name);
    memory_free(p->application);
    memory_free(p->manifest);
    *p = (struct registered_provider){.name = NULL};
}

void registered_countersets_free(struct registered_countersets *list)
{
    for (size_t i = 0; i < list->count; i++)
        registered_provider_clear(&list->items[i]);
    memory_free(list->items);
    *list = (struct registered_countersets){0};
}

#define PROVIDERS_KEY      "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\_V2Providers"
#define MANIFEST_VALUE     "OpenPLAManifest"
#define NAMES_VALUE        "Counters"
#define HELP_VALUE         "Counters Help"
#define DEFINITIONS_VALUE  "Counters Definition"
#define DEFINITION_NUMBERS 6
#define MOST_PROVIDERS     4096

static char *provider_key(const GUID *guid)
{
    char text[39];
    text_from_guid(guid, text);
    return text_format(PROVIDERS_KEY "\\%s", text);
}

static char *set_key(const GUID *provider, const GUID *set)
{
    char first[39], second[39];
    text_from_guid(provider, first);
    text_from_guid(set, second);
    return text_format(PROVIDERS_KEY "\\%s\\%s", first, second);
}

/* ---- reading ---- */

/* Ignores corrupt entries; out of memory is still an error. */
static HRESULT ignore_corrupt_value(HRESULT hr)
{
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Parses an id. False if the id is invalid. */
static bool read_id(const char *text, uint32_t *id)
{
    uint64_t number;
    if (!text_to_u64(text, &number) || number >= COUNTER_NO_ID)
        return false;
    *id = (uint32_t)number;
    return true;
}

/* Parses "TYPE DETAIL SCALE AGGREGATE ATTRIBUTES BASE" in decimal. False if the text is invalid. */
static bool read_definition(const char *text, struct registered_counter *c)
{
    int64_t numbers[DEFINITION_NUMBERS];
    for (unsigned i = 0; i < DEFINITION_NUMBERS; i++) {
        char one[24];
        const size_t length = strcspn(text, " ");
        if (!length || length >= sizeof one)
            return false;
        memcpy(one, text, length);
        one[length] = 0;
        if (!text_to_i64(one, &numbers[i]) || numbers[i] > UINT32_MAX || numbers[i] < INT32_MIN)
            return false;
        text += length + (text[length] == ' ');
    }
    c->type = (uint32_t)numbers[0];
    c->detail = (uint32_t)numbers[1];
    c->scale = (int32_t)numbers[2];
    c->aggregate = (uint32_t)numbers[3];
    c->attributes = (uint32_t)numbers[4];
    c->base = (uint32_t)numbers[5];
    return !*text && numbers[2] <= 10 && numbers[2] >= -10;
}

static struct registered_counter *own_counter(struct registered_set *s, uint32_t id)
{
    return (struct registered_counter *)(uintptr_t)registered_counter_of(s, id);
}

static HRESULT take_names(struct registered_set *s, const struct texts *names)
{
    for (size_t i = 0; i + 1 < names->count && s->count < REGISTERED_MOST_COUNTERS; i += 2) {
        uint32_t id;
        if (!read_id(names->items[i], &id) || registered_counter_of(s, id))
            continue;
        struct registered_counter *c = registered_add_counter(s, id);
        if (c)
            c->name = text_copy(names->items[i + 1]);
        if (!c || !c->name)
            return E_OUTOFMEMORY;
    }
    return S_OK;
}

static HRESULT take_help(struct registered_set *s, const struct texts *help)
{
    for (size_t i = 0; i + 1 < help->count; i += 2) {
        uint32_t id;
        struct registered_counter *c = read_id(help->items[i], &id) ? own_counter(s, id) : NULL;
        if (c && !c->help && !(c->help = text_copy(help->items[i + 1])))
            return E_OUTOFMEMORY;
    }
    return S_OK;
}

static void take_definitions(struct registered_set *s, const struct texts *definitions)
{
    size_t taken = 0;
    for (size_t i = 0; i + 1 < definitions->count; i += 2) {
        uint32_t id;
        struct registered_counter *c = read_id(definitions->items[i], &id) ? own_counter(s, id) : NULL;
        taken += c && read_definition(definitions->items[i + 1], c);
    }
    s->is_defined = taken && taken == s->count;
}

static HRESULT read_list(struct registry_key *key, const char *name, struct texts *out)
{
    HRESULT hr = ignore_corrupt_value(registry_read_texts(key, name, out));
    if (FAILED(hr))
        texts_free(out);
    return hr;
}

static HRESULT read_set(struct registry_key *key, struct registered_set *s)
{
    struct texts names = {0}, help = {0}, definitions = {0};
    uint64_t instances = 0;
    HRESULT hr = ignore_corrupt_value(registry_read_text(key, "Name", &s->name));
    if (SUCCEEDED(hr))
        hr = ignore_corrupt_value(registry_read_text(key, "Help", &s->help));
    if (SUCCEEDED(hr))
        hr = ignore_corrupt_value(registry_read_number(key, "InstanceType", &instances));
    if (SUCCEEDED(hr))
        hr = read_list(key, NAMES_VALUE, &names);
    if (SUCCEEDED(hr))
        hr = read_list(key, HELP_VALUE, &help);
    if (SUCCEEDED(hr))
        hr = read_list(key, DEFINITIONS_VALUE, &definitions);
    if (SUCCEEDED(hr))
        hr = take_names(s, &names);
    if (SUCCEEDED(hr))
        hr = take_help(s, &help);
    if (SUCCEEDED(hr))
        take_definitions(s, &definitions);
    s->instances = (uint32_t)instances;
    texts_free(&names);
    texts_free(&help);
    texts_free(&definitions);
    return hr;
}

static HRESULT read_sets(struct registry_key *key, struct registered_provider *p)
{
    struct texts names = {0};
    HRESULT hr = registry_list(key, &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count && p->count < REGISTERED_MOST_SETS; i++) {
        struct registry_key *below = NULL;
        GUID guid;
        if (!text_to_guid(names.items[i], &guid))
            continue;
        char *path = set_key(&p->guid, &guid);
        hr = path ? registry_open(path, false, &below) : E_OUTOFMEMORY;
        memory_free(path);
        struct registered_set *s = hr == S_OK ? registered_add_set(p, &guid) : NULL;
        if (hr == S_OK)
            hr = s ? read_set(below, s) : E_OUTOFMEMORY;
        registry_close(below);
        hr = ignore_corrupt_value(hr);
    }
    texts_free(&names);
    return ignore_corrupt_value(hr);
}

/* Adds the provider to the list. S_FALSE if the provider is not registered. */
static HRESULT add_registered(const GUID *guid, struct registered_countersets *out)
{
    struct registry_key *key = NULL;
    uint64_t type = 1;
    char *path = provider_key(guid);
    HRESULT hr = path ? registry_open(path, false, &key) : E_OUTOFMEMORY;
    memory_free(path);
    if (hr != S_OK)
        return hr;
    struct registered_provider *p = registered_add_provider(out, guid);
    hr = p ? ignore_corrupt_value(registry_read_text(key, "ProviderName", &p->name)) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = ignore_corrupt_value(registry_read_text(key, "ApplicationIdentity", &p->application));
    if (SUCCEEDED(hr))
        hr = ignore_corrupt_value(registry_read_text(key, MANIFEST_VALUE, &p->manifest));
    if (SUCCEEDED(hr))
        hr = registry_read_number(key, "ProviderType", &type);
    if (SUCCEEDED(ignore_corrupt_value(hr)) && p) {
        p->is_kernel = hr == S_OK && type == 0;
        hr = read_sets(key, p);
    }
    registry_close(key);
    return hr;
}

HRESULT registered_provider_read(const GUID *guid, struct registered_countersets *out)
{
    *out = (struct registered_countersets){0};
    HRESULT hr = add_registered(guid, out);
    if (FAILED(hr))
        registered_countersets_free(out);
    return hr;
}

HRESULT registered_countersets_read(struct registered_countersets *out)
{
    struct registry_key *key;
    struct texts names = {0};
    *out = (struct registered_countersets){0};
    HRESULT hr = registry_open(PROVIDERS_KEY, false, &key);
    if (hr != S_OK)
        return ignore_corrupt_value(hr);
    hr = registry_list(key, &names);
    registry_close(key);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count && i < MOST_PROVIDERS; i++) {
        GUID guid;
        if (text_to_guid(names.items[i], &guid))
            hr = ignore_corrupt_value(add_registered(&guid, out));
    }
    texts_free(&names);
    if (FAILED(hr))
        registered_countersets_free(out);
    return hr;
}

/* ---- writing ---- */

static HRESULT add_pair(struct texts *to, uint32_t id, char *text)
{
    char *number = text_format("%u", (unsigned)id);
    HRESULT hr = text && number ? texts_add(to, number) : E_OUTOFMEMORY;
    memory_free(number);
    if (SUCCEEDED(hr))
        return texts_add_owned(to, text);
    memory_free(text);
    return hr;
}

static HRESULT write_lists(struct registry_key *key, const struct registered_set *s)
{
    struct texts names = {0}, help = {0}, definitions = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->count; i++) {
        const struct registered_counter *c = &s->counters[i];
        hr = add_pair(&names, c->id, text_copy(c->name));
        if (SUCCEEDED(hr) && c->help && *c->help)
            hr = add_pair(&help, c->id, text_copy(c->help));
        if (SUCCEEDED(hr) && s->is_defined)
            hr = add_pair(&definitions, c->id,
                          text_format("%u %u %d %u %u %u", (unsigned)c->type, (unsigned)c->detail, (int)c->scale,
                                      (unsigned)c->aggregate, (unsigned)c->attributes, (unsigned)c->base));
    }
    if (SUCCEEDED(hr))
        hr = registry_write_texts(key, NAMES_VALUE, &names);
    if (SUCCEEDED(hr))
        hr = registry_write_texts(key, HELP_VALUE, &help);
    if (SUCCEEDED(hr))
        hr = registry_write_texts(key, DEFINITIONS_VALUE, &definitions);
    texts_free(&names);
    texts_free(&help);
    texts_free(&definitions);
    return hr;
}

static HRESULT write_set(const GUID *provider, const struct registered_set *s)
{
    struct registry_key *key = NULL;
    bool made;
    char *path = set_key(provider, &s->guid);
    HRESULT hr = path ? registry_create(path, &made, &key) : E_OUTOFMEMORY;
    memory_free(path);
    if (SUCCEEDED(hr) && s->name)
        hr = registry_write_text(key, "Name", s->name);
    if (SUCCEEDED(hr) && s->help && *s->help)
        hr = registry_write_text(key, "Help", s->help);
    if (SUCCEEDED(hr))
        hr = registry_write_number(key, "InstanceType", REGISTRY_NUMBER, s->instances);
    if (SUCCEEDED(hr))
        hr = write_lists(key, s);
    registry_close(key);
    return hr;
}

static HRESULT write_provider(const struct registered_provider *p)
{
    struct registry_key *key = NULL;
    bool made;
    char *path = provider_key(&p->guid);
    HRESULT hr = path ? registry_create(path, &made, &key) : E_OUTOFMEMORY;
    memory_free(path);
    /* written first, so that after a power failure the remains are recognized as OpenPLA's */
    if (SUCCEEDED(hr) && p->manifest)
        hr = registry_write_text(key, MANIFEST_VALUE, p->manifest);
    if (SUCCEEDED(hr) && p->name)
        hr = registry_write_text(key, "ProviderName", p->name);
    if (SUCCEEDED(hr) && p->application)
        hr = registry_write_text(key, "ApplicationIdentity", p->application);
    if (SUCCEEDED(hr))
        hr = registry_write_number(key, "ProviderType", REGISTRY_NUMBER, !p->is_kernel);
    for (size_t i = 0; SUCCEEDED(hr) && i < p->count; i++)
        hr = write_set(&p->guid, &p->sets[i]);
    registry_close(key);
    return hr;
}

static HRESULT delete_provider(const GUID *guid)
{
    char *path = provider_key(guid);
    HRESULT hr = path ? registry_delete(path) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

static const struct registered_provider *find_provider(const struct registered_countersets *list, const GUID *guid)
{
    for (size_t i = 0; i < list->count; i++)
        if (guid_equal(&list->items[i].guid, guid))
            return &list->items[i];
    return NULL;
}

/* Returns another provider that has the counterset, or NULL. */
static const struct registered_provider *owner_of_set(const struct registered_countersets *list, const GUID *set,
                                                      const GUID *but)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < list->items[i].count && !guid_equal(&list->items[i].guid, but); k++)
            if (guid_equal(&list->items[i].sets[k].guid, set))
                return &list->items[i];
    return NULL;
}

static HRESULT check_provider(const struct registered_provider *p, const struct registered_countersets *before,
                              bool force)
{
    const struct registered_provider *old = find_provider(before, &p->guid);
    if (old && !old->manifest && !force)
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                         "cannot register '%s': another program registered the provider (use -force to replace it)",
                         p->name);
    for (size_t i = 0; i < p->count; i++) {
        const struct registered_provider *other = owner_of_set(before, &p->sets[i].guid, &p->guid);
        if (other)
            return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                             "provider '%s': counterset '%.200s' has the same GUID as one of provider '%.200s'",
                             p->name, p->sets[i].name, other->name ? other->name : "");
    }
    return S_OK;
}

HRESULT registered_countersets_write(const struct registered_countersets *list, bool force)
{
    struct registered_countersets before;
    size_t begun = 0;
    HRESULT hr = registered_countersets_read(&before);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++)
        hr = check_provider(&list->items[i], &before, force);
    for (; SUCCEEDED(hr) && begun < list->count; begun++) {
        hr = delete_provider(&list->items[begun].guid);
        if (SUCCEEDED(hr))
            hr = write_provider(&list->items[begun]);
    }
    if (FAILED(hr)) {
        struct error_kept why = error_keep(hr);
        for (size_t i = 0; i < begun; i++) {
            const struct registered_provider *old = find_provider(&before, &list->items[i].guid);
            (void)delete_provider(&list->items[i].guid);
            if (old)
                (void)write_provider(old);
        }
        hr = error_restore(&why);
    }
    registered_countersets_free(&before);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT registered_provider_remove(const GUID *guid, bool force)
{
    struct registered_countersets list;
    HRESULT hr = registered_provider_read(guid, &list);
    if (hr != S_OK)
        return hr;
    const bool ours = list.items[0].manifest != NULL;
    registered_countersets_free(&list);
    if (!ours && !force)
        return error_set(E_ACCESSDENIED,
                         "cannot remove the provider: another program registered it (use -force to remove it)");
    return delete_provider(guid);
}

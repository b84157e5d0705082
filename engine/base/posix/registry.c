/* SPDX-License-Identifier: MIT */
/* A replacement for the registry, which POSIX systems lack: keys in this process's memory. The keys that 32-bit
   programs see below SOFTWARE are below SOFTWARE\Wow6432Node. */
#include "engine/base/registry.h"

#include "engine/base/memory.h"
#include "engine/base/os.h"

#include <string.h>

#define KEY_DELETED HRESULT_FROM_WIN32(1018 /* ERROR_KEY_DELETED */)

struct value {
    char *name;
    struct registry_value is;
};
struct node {
    char *path, *above; /* `above`: the path without its last component; can be "" */
    uint64_t path_hash, above_hash;
    struct value *values;
    size_t count, capacity;
};
struct registry_key {
    char *path;
    char *full; /* the key's path, including its hive */
};
static struct lock lock = LOCK_INIT; /* protects the variables below */
static struct node *nodes;
static size_t node_count, node_capacity;

static void node_free(struct node *n)
{
    for (size_t i = 0; i < n->count; i++) {
        memory_free(n->values[i].name);
        registry_value_free(&n->values[i].is);
    }
    memory_free(n->values);
    memory_free(n->above);
    memory_free(n->path);
}

static struct node *registry_find_node(const char *path)
{
    const uint64_t hash = text_hash_nocase(path);
    for (size_t i = 0; i < node_count; i++)
        if (nodes[i].path_hash == hash && text_equal_nocase(nodes[i].path, path))
            return &nodes[i];
    return NULL;
}

static struct value *find_value(struct node *n, const char *name)
{
    for (size_t i = 0; i < n->count; i++)
        if (text_equal_nocase(n->values[i].name, name))
            return &n->values[i];
    return NULL;
}

/* Returns the subkey of `path` at the index. NULL: the index is too large, and *count is the number of subkeys. */
static const struct node *find_below(const char *path, size_t index, size_t *count)
{
    const uint64_t hash = text_hash_nocase(path);
    size_t n = 0;
    for (size_t i = 0; i < node_count; i++)
        if (nodes[i].above_hash == hash && text_equal_nocase(nodes[i].above, path) && n++ == index)
            return &nodes[i];
    *count = n;
    return NULL;
}

static HRESULT make_node(const char *path)
{
    const char *last = strrchr(path, '\\');
    struct node n = {.path = text_copy(path), .above = text_copy_n(path, last ? (size_t)(last - path) : 0)};
    n.path_hash = n.path ? text_hash_nocase(n.path) : 0;
    n.above_hash = n.above ? text_hash_nocase(n.above) : 0;
    if (n.path && n.above && memory_grow((void **)&nodes, &node_capacity, node_count + 1, sizeof n)) {
        nodes[node_count++] = n;
        return S_OK;
    }
    node_free(&n);
    return E_OUTOFMEMORY;
}

static HRESULT key_of(const char *path, struct registry_key **out)
{
    struct registry_key *key = memory_zero(1, sizeof *key);
    if (!key)
        return E_OUTOFMEMORY;
    key->path = text_copy(path);
    key->full = text_format("%s%s%s", registry_hive_name(REGISTRY_LOCAL_MACHINE), *path ? "\\" : "", path);
    if (key->path && key->full) {
        *out = key;
        return S_OK;
    }
    registry_close(key);
    return E_OUTOFMEMORY;
}

HRESULT registry_open(const char *path, bool to_change, struct registry_key **out)
{
    (void)to_change;
    *out = NULL;
    lock_enter(&lock);
    HRESULT hr = registry_find_node(path) ? key_of(path, out) : S_FALSE;
    lock_leave(&lock);
    return hr;
}

HRESULT registry_create(const char *path, bool *made, struct registry_key **out)
{
    HRESULT hr = S_OK;
    *out = NULL;
    lock_enter(&lock);
    *made = !registry_find_node(path);
    for (const char *mark = strchr(path, '\\'); SUCCEEDED(hr) && mark; mark = strchr(mark + 1, '\\')) {
        char *above = text_copy_n(path, (size_t)(mark - path));
        hr = !above ? E_OUTOFMEMORY : registry_find_node(above) ? S_OK : make_node(above);
        memory_free(above);
    }
    if (SUCCEEDED(hr) && *made)
        hr = make_node(path);
    lock_leave(&lock);
    return FAILED(hr) ? hr : key_of(path, out);
}

void registry_close(struct registry_key *key)
{
    if (!key)
        return;
    memory_free(key->full);
    memory_free(key->path);
    memory_free(key);
}

HRESULT registry_delete(const char *path)
{
    lock_enter(&lock);
    struct node *n = registry_find_node(path);
    const HRESULT hr = n ? S_OK : S_FALSE;
    while (n) {
        node_free(n);
        *n = nodes[--node_count];
        n = NULL;
        for (size_t i = 0; i < node_count; i++) {
            if (nodes[i].above[0] && !registry_find_node(nodes[i].above)) {
                n = &nodes[i];
                break;
            }
        }
    }
    lock_leave(&lock);
    return hr;
}

HRESULT registry_list(struct registry_key *key, struct texts *out)
{
    HRESULT hr = S_OK;
    *out = (struct texts){0};
    lock_enter(&lock);
    size_t count = SIZE_MAX;
    for (size_t i = 0; SUCCEEDED(hr) && count == SIZE_MAX; i++) {
        const struct node *n = find_below(key->path, i, &count);
        if (n)
            hr = texts_add(out, n->path + strlen(n->above) + 1);
    }
    lock_leave(&lock);
    if (FAILED(hr))
        texts_free(out);
    return hr;
}

HRESULT registry_read(struct registry_key *key, const char *name, struct registry_value *out)
{
    HRESULT hr = S_FALSE;
    *out = (struct registry_value){.type = 0};
    lock_enter(&lock);
    struct node *n = registry_find_node(key->path);
    const struct value *v = n ? find_value(n, name) : NULL;
    if (v) {
        out->type = v->is.type;
        out->size = v->is.size;
        out->data = memory_copy(v->is.data, v->is.size);
        hr = out->data ? S_OK : E_OUTOFMEMORY;
    }
    lock_leave(&lock);
    if (hr != S_OK)
        *out = (struct registry_value){.type = 0};
    return n ? hr : error_set(KEY_DELETED, "HKEY_LOCAL_MACHINE\\%.300s: the key was deleted", key->path);
}

static HRESULT add_value(struct node *n, const char *name, struct value **out)
{
    struct value v = {.name = text_copy(name)};
    if (v.name && memory_grow((void **)&n->values, &n->capacity, n->count + 1, sizeof v)) {
        n->values[n->count] = v;
        *out = &n->values[n->count++];
        return S_OK;
    }
    memory_free(v.name);
    return E_OUTOFMEMORY;
}

HRESULT registry_write(struct registry_key *key, const char *name, uint32_t type, const void *data, size_t size)
{
    const struct registry_value is = {type, size, memory_copy(data, size)};
    struct value *v = NULL;
    if (!is.data)
        return E_OUTOFMEMORY;
    lock_enter(&lock);
    struct node *n = registry_find_node(key->path);
    HRESULT hr = n ? S_OK : KEY_DELETED;
    if (n && !(v = find_value(n, name)))
        hr = add_value(n, name, &v);
    if (SUCCEEDED(hr)) {
        registry_value_free(&v->is);
        v->is = is;
    }
    lock_leave(&lock);
    if (FAILED(hr))
        memory_free(is.data);
    return hr;
}

HRESULT registry_remove(struct registry_key *key, const char *name)
{
    lock_enter(&lock);
    struct node *n = registry_find_node(key->path);
    struct value *v = n ? find_value(n, name) : NULL;
    if (v) {
        memory_free(v->name);
        registry_value_free(&v->is);
        *v = n->values[--n->count];
    }
    lock_leave(&lock);
    return v ? S_OK : S_FALSE;
}

HRESULT registry_open_in(const struct registry_place *place, const char *path, struct registry_key **out)
{
    static const char software[] = "SOFTWARE\\";
    char *start = text_copy_n(path, strlen(path) < sizeof software - 1 ? strlen(path) : sizeof software - 1);
    char *own = place->of_32_bits && start && text_equal_nocase(start, software)
                    ? text_format("SOFTWARE\\Wow6432Node\\%s", path + sizeof software - 1)
                    : text_copy(path);
    *out = NULL;
    HRESULT hr = !start || !own ? E_OUTOFMEMORY : S_FALSE;
    if (SUCCEEDED(hr) && place->computer)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                       "cannot open the registry of '%s': this host OS cannot access the registry of another computer",
                       place->computer);
    else if (SUCCEEDED(hr) && place->hive == REGISTRY_LOCAL_MACHINE)
        hr = *own ? registry_open(own, false, out) : key_of(own, out);
    memory_free(own);
    memory_free(start);
    return hr;
}

const char *registry_key_path(const struct registry_key *key)
{
    return key->full;
}

static HRESULT deleted(const struct registry_key *key)
{
    return error_set(KEY_DELETED, "%.300s: the key was deleted", key->full);
}

static HRESULT name_of(const char *text, struct registry_entry *out)
{
    WCHAR *wide;
    HRESULT hr = text_to_utf16(text, &wide, &out->name_units);
    if (FAILED(hr))
        return hr;
    if (out->name_units >= REGISTRY_NAME_UNITS)
        out->name_units = REGISTRY_NAME_UNITS - 1;
    memcpy(out->name, wide, out->name_units * sizeof(WCHAR));
    out->name[out->name_units] = 0;
    memory_free(wide);
    return S_OK;
}

HRESULT registry_key_at(struct registry_key *key, uint32_t index, struct registry_entry *out)
{
    size_t count;
    lock_enter(&lock);
    const bool there = !*key->path || registry_find_node(key->path);
    const struct node *n = find_below(key->path, index, &count);
    HRESULT hr = n ? name_of(n->path + strlen(n->above) + (*n->above ? 1 : 0), out) : S_FALSE;
    lock_leave(&lock);
    return there ? hr : deleted(key);
}

HRESULT registry_value_at(struct registry_key *key, uint32_t index, struct registry_entry *out)
{
    HRESULT hr = S_FALSE;
    lock_enter(&lock);
    const struct node *n = registry_find_node(key->path);
    const struct value *v = n && index < n->count ? &n->values[index] : NULL;
    if (v) {
        const size_t kept = v->is.size > REGISTRY_MOST_BYTES ? 0 : v->is.size;
        out->type = v->is.type;
        out->size = v->is.size;
        hr = memory_grow((void **)&out->data, &out->capacity, kept + 1, 1) ? name_of(v->name, out) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            memcpy(out->data, v->is.data, kept);
    }
    lock_leave(&lock);
    return n || !*key->path ? hr : deleted(key);
}

HRESULT registry_counts(struct registry_key *key, uint32_t *keys, uint32_t *values)
{
    size_t below = 0;
    lock_enter(&lock);
    find_below(key->path, SIZE_MAX, &below);
    const struct node *n = registry_find_node(key->path);
    *keys = (uint32_t)below;
    *values = n ? (uint32_t)n->count : 0;
    lock_leave(&lock);
    return n || !*key->path ? S_OK : deleted(key);
}

HRESULT registry_open_at(struct registry_key *key, const struct registry_entry *entry, struct registry_key **out)
{
    char *name;
    *out = NULL;
    HRESULT hr = text_from_utf16(entry->name, entry->name_units, true, &name);
    if (FAILED(hr))
        return hr;
    char *path = text_format("%s%s%s", key->path, *key->path ? "\\" : "", name);
    memory_free(name);
    hr = path ? registry_open(path, false, out) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

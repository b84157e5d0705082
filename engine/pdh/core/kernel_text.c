/* SPDX-License-Identifier: MIT */
/* Parsers of files that are figures by name. */
#include "engine/pdh/core/kernel_text.h"

#include "engine/base/kernel_number.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

static struct kernel_key *find(const struct kernel_keys *k, const char *name, size_t length)
{
    for (size_t i = 0; i < k->count; i++) {
        struct kernel_key *key = &k->keys[i];
        if (key->length == length && key->name[0] == *name && !memcmp(key->name, name, length))
            return key;
    }
    return NULL;
}

HRESULT kernel_keys_add(struct kernel_keys *k, const char *name, size_t length, size_t *slot)
{
    const struct kernel_key *known = length ? find(k, name, length) : NULL;
    if (known) {
        *slot = (size_t)(known - k->keys);
        return S_OK;
    }
    char *copy = text_copy_n(name, length);
    if (!copy || !memory_grow((void **)&k->keys, &k->capacity, k->count + 1, sizeof *k->keys)) {
        memory_free(copy);
        return E_OUTOFMEMORY;
    }
    *slot = k->count;
    k->keys[k->count++] = (struct kernel_key){copy, length, 0, false};
    return S_OK;
}

void kernel_keys_free(struct kernel_keys *k)
{
    for (size_t i = 0; i < k->count; i++)
        memory_free(k->keys[i].name);
    memory_free(k->keys);
    *k = (struct kernel_keys){0};
}

/* The key "Tcp.a" of the group's `name`. */
static struct kernel_key *find_in_group(const struct kernel_keys *k, const char *group, size_t group_length,
                                        const char *name, size_t length)
{
    for (size_t i = 0; i < k->count; i++) {
        struct kernel_key *key = &k->keys[i];
        if (key->length == group_length + 1 + length && key->name[group_length] == '.' &&
            !memcmp(key->name + group_length + 1, name, length) && !memcmp(key->name, group, group_length))
            return key;
    }
    return NULL;
}

/* Counts the keys that had no value before. */
static void set(struct kernel_key *key, const char *p, const char *end, size_t *found)
{
    uint64_t v;
    if (key && kernel_number(p, end, &v)) {
        *found += !key->has;
        key->value = v;
        key->has = true;
    }
}

static bool has_group(const struct kernel_keys *k, const char *group, size_t length)
{
    for (size_t i = 0; i < k->count; i++) {
        const struct kernel_key *key = &k->keys[i];
        if (key->length > length && key->name[length] == '.' && !memcmp(key->name, group, length))
            return true;
    }
    return false;
}

/* "Tcp: a b" over "Tcp: 1 2". */
static void set_pair(struct kernel_keys *k, const char *names, const char *names_end, const char *values,
                     const char *values_end, size_t group_length, size_t *found)
{
    const char *group = names;
    names += group_length + 1;
    values += group_length + 1;
    for (;;) {
        names = kernel_skip(names, names_end);
        values = kernel_skip(values, values_end);
        const char *name_end = kernel_word_end(names, names_end);
        if (name_end == names || values == values_end)
            return;
        set(find_in_group(k, group, group_length, names, (size_t)(name_end - names)), values, values_end, found);
        names = name_end;
        values = kernel_word_end(values, values_end);
    }
}

HRESULT kernel_keys_parse(const char *text, size_t size, struct kernel_keys *k)
{
    const char *end = text + size, *before = NULL, *before_end = NULL;
    size_t found = 0;
    for (size_t i = 0; i < k->count; i++)
        k->keys[i].has = false;
    for (const char *p = text, *line; p < end && found < k->count; p = line + 1) {
        line = kernel_line_end(p, end);
        const char *word = kernel_word_end(p, line);
        size_t length = (size_t)(word - p);
        if (length > 1 && word[-1] == ':') {
            length--;
            if (before && kernel_starts(before, before_end, p, length + 1) && has_group(k, p, length))
                set_pair(k, before, before_end, p, line, length, &found);
            before = p;
            before_end = line;
        }
        if (length)
            set(find(k, p, length), word, line, &found);
    }
    return found ? S_OK : error_set(E_FAIL, "a kernel file: none of our names in its %u bytes", (unsigned)size);
}

/* SPDX-License-Identifier: MIT */
/* The names of counters: their paths as texts, and lists that own them. */
#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/logs/counter_path.h"
#include "engine/logs/log.h"

#include <string.h>

char *log_counter_path(const struct log_counter *c)
{
    if (c->path)
        return text_copy(c->path);
    const char *machine = c->machine ? c->machine + strspn(c->machine, "\\") : NULL;
    const struct counter_path path = {
        .machine = (char *)machine,
        .object = (char *)(c->object ? c->object : ""),
        .parent = (char *)c->parent,
        .instance = (char *)c->instance,
        .index = c->index,
        .counter = (char *)(c->counter ? c->counter : ""),
    };
    return counter_path_format(&path);
}

uint64_t log_counter_hash(const struct log_counter *c)
{
    const char *const texts[] = {c->machine, c->object, c->parent, c->instance, c->counter};
    uint64_t hash = HASH_START ^ c->index;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        hash = hash_number(hash_text(hash, texts[i] ? texts[i] : "\1"), 0);
    return hash;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool log_counter_same(const struct log_counter *a, const struct log_counter *b)
{
    return a->index == b->index && same_text(a->machine, b->machine) && same_text(a->object, b->object) &&
           same_text(a->parent, b->parent) && same_text(a->instance, b->instance) && same_text(a->counter, b->counter);
}

void log_counter_free(struct log_counter *c)
{
    memory_free((void *)c->machine);
    memory_free((void *)c->object);
    memory_free((void *)c->instance);
    memory_free((void *)c->parent);
    memory_free((void *)c->counter);
    memory_free((void *)c->path);
    *c = (struct log_counter){0};
}

/* NULL stays NULL. False: out of memory. */
static bool copy_name(const char **name)
{
    if (*name) {
        *name = text_copy(*name);
        return *name != NULL;
    }
    return true;
}

HRESULT log_counters_add(struct log_counters *list, const struct log_counter *counter)
{
    void *items = list->items;
    struct log_counter copy = *counter;
    const char **const names[] = {&copy.machine, &copy.object, &copy.instance, &copy.parent, &copy.counter, &copy.path};
    size_t copied = 0, count = sizeof names / sizeof *names;
    bool grown = memory_grow(&items, &list->capacity, list->count + 1, sizeof *list->items) != 0;
    list->items = items;
    while (grown && copied < count && copy_name(names[copied]))
        copied++;
    if (copied == count) {
        list->items[list->count++] = copy;
        return S_OK;
    }
    while (copied < count)
        *names[copied++] = NULL; /* not ours */
    if (grown)
        log_counter_free(&copy);
    return error_set(E_OUTOFMEMORY, "out of memory for the names of %zu counters", list->count + 1);
}

HRESULT log_counters_add_path(struct log_counters *list, const char *text)
{
    struct counter_path path;
    struct log_counter counter = {.type = LOG_TYPE_DOUBLE};
    char *machine = NULL, *again = NULL;
    const PDH_STATUS status = counter_path_parse(text, &path);
    bool memory = (DWORD)status != PDH_MEMORY_ALLOCATION_FAILURE;
    if (status == ERROR_SUCCESS) {
        machine = path.machine ? text_format("\\\\%s", path.machine) : NULL;
        again = counter_path_format(&path);
        memory = again && (machine != NULL) == (path.machine != NULL);
        counter.machine = machine;
        counter.object = path.object;
        counter.parent = path.parent;
        counter.instance = path.instance;
        counter.index = path.index == PATH_NO_INDEX ? 0 : path.index;
        counter.counter = path.counter;
        counter.path = memory && strcmp(again, text) != 0 ? text : NULL;
    } else {
        counter.object = "";
        counter.counter = counter.path = text;
    }
    HRESULT hr = memory ? log_counters_add(list, &counter) : error_set(E_OUTOFMEMORY, "%s: out of memory", text);
    memory_free(machine);
    memory_free(again);
    counter_path_free(&path);
    return hr;
}

void log_counters_free(struct log_counters *list)
{
    for (size_t i = 0; i < list->count; i++)
        log_counter_free(&list->items[i]);
    memory_free(list->items);
    *list = (struct log_counters){0};
}

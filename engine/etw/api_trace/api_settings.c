/* SPDX-License-Identifier: MIT */
/* The settings of API tracing: lists of canonical names, and their format in the section that traced programs read.

   The format is a header and strings, each with its NUL: the program, then the modules, the included APIs and the
   excluded APIs. Each list is sorted. Any program can have written to the section. Therefore the reader copies the
   settings, compares their hash with the hash in the session's filter, and still validates every value. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/api_trace.h"

#include <stdlib.h>
#include <string.h>

#define SETTINGS_MAGIC 0x5354504Fu /* "OPTS" */

struct settings_head {
    uint32_t magic, flags;
    uint64_t cycles_per_second;
    uint32_t modules, include, exclude; /* number of names in each list */
    uint32_t bytes;                     /* total bytes of the strings */
};

void api_settings_free(struct api_settings *s)
{
    memory_free(s->program);
    texts_free(&s->modules);
    texts_free(&s->include);
    texts_free(&s->exclude);
    *s = (struct api_settings){.flags = 0};
}

static HRESULT list_add(struct texts *list, const char *name)
{
    char *canonical = path_api_name(name);
    return canonical ? texts_add_owned(list, canonical) : E_OUTOFMEMORY;
}

HRESULT api_settings_add_modules(struct api_settings *s, const struct texts *modules)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < modules->count; i++)
        hr = list_add(&s->modules, modules->items[i]);
    return hr;
}

HRESULT api_settings_add_apis(struct texts *list, const struct texts *apis, const char *property)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < apis->count; i++) {
        const char *bang = strchr(apis->items[i], '!');
        hr = bang && bang > apis->items[i] && bang[1]
                 ? list_add(list, apis->items[i])
                 : error_set(E_INVALIDARG, "%s: invalid function '%.200s': expected <module>!<function>", property,
                             apis->items[i]);
    }
    return hr;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void list_sort(struct texts *list)
{
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_names);
}

static void list_write(const struct texts *list, struct text_buffer *out)
{
    for (size_t i = 0; i < list->count; i++)
        text_buffer_add_n(out, list->items[i], strlen(list->items[i]) + 1);
}

static size_t list_bytes(const struct texts *list)
{
    size_t bytes = 0;
    for (size_t i = 0; i < list->count; i++)
        bytes += strlen(list->items[i]) + 1;
    return bytes;
}

HRESULT api_settings_write(struct api_settings *s, struct text_buffer *out)
{
    struct texts *const lists[] = {&s->modules, &s->include, &s->exclude};
    size_t bytes = strlen(s->program) + 1;
    for (int i = 0; i < 3; i++) {
        list_sort(lists[i]);
        bytes += list_bytes(lists[i]);
    }
    if (bytes > API_SETTINGS_MAX - sizeof(struct settings_head))
        return error_set(E_INVALIDARG, "IncludeApis and ExcludeApis: %zu bytes of names (at most %d MB are allowed)",
                         bytes, API_SETTINGS_MAX >> 20);
    const struct settings_head head = {.magic = SETTINGS_MAGIC,
                                       .flags = s->flags,
                                       .cycles_per_second = s->cycles_per_second,
                                       .modules = (uint32_t)s->modules.count,
                                       .include = (uint32_t)s->include.count,
                                       .exclude = (uint32_t)s->exclude.count,
                                       .bytes = (uint32_t)bytes};
    text_buffer_add_n(out, (const char *)&head, sizeof head);
    text_buffer_add_n(out, s->program, strlen(s->program) + 1);
    for (int i = 0; i < 3; i++)
        list_write(lists[i], out);
    return out->failed ? E_OUTOFMEMORY : S_OK;
}

/* Reads `count` strings at *row and moves *row after them. Returns false if strings are missing or not sorted. */
static bool list_read(const char **row, size_t *left, uint32_t count, struct texts *out, HRESULT *hr)
{
    size_t bytes = 0;
    const char *before = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *at = *row + bytes, *end = bytes < *left ? memchr(at, 0, *left - bytes) : NULL;
        if (!end || (before && strcmp(before, at) > 0))
            return false;
        before = at;
        bytes = (size_t)(end + 1 - *row);
    }
    *hr = count ? texts_from_row(out, *row, bytes, count) : S_OK;
    *row += bytes;
    *left -= bytes;
    return true;
}

HRESULT api_settings_read(const uint8_t *data, size_t size, struct api_settings *out)
{
    struct settings_head head;
    struct texts program = {0};
    HRESULT hr = S_OK;
    *out = (struct api_settings){.flags = 0};
    if (size < sizeof head)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "API tracing: the settings are only %zu bytes long",
                         size);
    memcpy(&head, data, sizeof head);
    size_t left = size - sizeof head;
    const char *row = (const char *)data + sizeof head;
    bool good = head.magic == SETTINGS_MAGIC && !(head.flags & ~(uint32_t)API_TRACE_FLAGS) && head.cycles_per_second &&
                head.bytes == left && list_read(&row, &left, 1, &program, &hr);
    if (good && SUCCEEDED(hr))
        good = list_read(&row, &left, head.modules, &out->modules, &hr);
    if (good && SUCCEEDED(hr))
        good = list_read(&row, &left, head.include, &out->include, &hr);
    if (good && SUCCEEDED(hr))
        good = list_read(&row, &left, head.exclude, &out->exclude, &hr) && !left;
    if (good && SUCCEEDED(hr)) {
        out->flags = head.flags;
        out->cycles_per_second = head.cycles_per_second;
        out->program = text_copy(program.items[0]);
        hr = out->program ? S_OK : E_OUTOFMEMORY;
    }
    texts_free(&program);
    if (!good)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "API tracing: the settings are corrupt");
    if (FAILED(hr))
        api_settings_free(out);
    return hr;
}

static bool list_has(const struct texts *list, const char *name)
{
    return list->count && bsearch(&name, list->items, list->count, sizeof *list->items, compare_names);
}

/* Returns whether the list has functions of the module. */
static bool list_has_module(const struct texts *list, const char *module)
{
    const size_t length = strlen(module);
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->items[i], module, length) == 0 && list->items[i][length] == '!')
            return true;
    return false;
}

enum api_module_use api_settings_module(const struct api_settings *s, const char *module)
{
    if (list_has(&s->modules, module))
        return API_MODULE_ALL;
    return list_has_module(&s->include, module) ? API_MODULE_SOME : API_MODULE_UNUSED;
}

bool api_settings_has(const struct api_settings *s, enum api_module_use use, const char *api)
{
    return (use == API_MODULE_ALL || (use == API_MODULE_SOME && list_has(&s->include, api))) &&
           !list_has(&s->exclude, api);
}

uint64_t api_settings_hash(const uint8_t *data, size_t size)
{
    return hash_bytes(HASH_START, data, size);
}

/* SPDX-License-Identifier: MIT */
/* Lists the keys and values below a key of HKEY_LOCAL_MACHINE as sorted text lines. */
#include "tests/com/registry_snapshot.h"

#include "engine/base/memory.h"

#include <stdlib.h>
#include <windows.h>
#include <string.h>

static void add_owned_line(struct texts *lines, char *line)
{
    if (!line || FAILED(texts_add(lines, line)))
        abort();
    memory_free(line);
}

static char *string_to_narrow(const WCHAR *text, size_t units)
{
    char *out;
    if (FAILED(text_from_utf16(text, units, true, &out)))
        abort();
    return out;
}

/* Keys and names are case-insensitive, and host OSes spell existing ones differently. */
static char *string_to_lower(char *text)
{
    for (char *c = text; c && *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return text;
}

char *snapshot_line(const char *key, const char *name, DWORD type, const void *data, size_t size)
{
    struct text_buffer line = {0};
    text_buffer_format(&line, "%s|%s", key, name);
    string_to_lower(line.text);
    text_buffer_format(&line, "|%lu|", (unsigned long)type);
    for (size_t i = 0; i < size; i++)
        text_buffer_format(&line, "%02x", ((const BYTE *)data)[i]);
    return text_buffer_take(&line);
}

char *snapshot_key_line(const char *key)
{
    return string_to_lower(text_copy(key));
}

static void add_values(struct texts *lines, HKEY handle, const char *key)
{
    WCHAR name[16384];
    DWORD largest = 0, count = 0, units, type, size;
    if (RegQueryInfoKeyW(handle, NULL, NULL, NULL, NULL, NULL, NULL, &count, NULL, &largest, NULL, NULL))
        abort();
    if (!count)
        return;
    BYTE *data = memory_alloc(largest);
    if (!data)
        abort();
    for (DWORD i = 0; i < count; i++) {
        char *text;
        units = ARRAYSIZE(name);
        size = largest;
        if (RegEnumValueW(handle, i, name, &units, NULL, &type, data, &size))
            break;
        text = string_to_narrow(name, units);
        add_owned_line(lines, snapshot_line(key, text, type, data, size));
        memory_free(text);
    }
    memory_free(data);
}

static void add_key(struct texts *lines, HKEY handle, const char *key)
{
    WCHAR name[256];
    DWORD units;
    add_values(lines, handle, key);
    for (DWORD i = 0;; i++) {
        char *text, *path;
        HKEY child;
        units = ARRAYSIZE(name);
        if (RegEnumKeyExW(handle, i, name, &units, NULL, NULL, NULL, NULL))
            return;
        text = string_to_narrow(name, units);
        path = string_to_lower(text_format("%s\\%s", key, text));
        if (!path || FAILED(texts_add(lines, path)))
            abort();
        /* The 32-bit view contains links to keys that the walk covers already. */
        if (_stricmp(text, "Wow6432Node") != 0 && !RegOpenKeyExW(handle, name, 0, KEY_READ, &child)) {
            add_key(lines, child, path);
            RegCloseKey(child);
        }
        memory_free(path);
        memory_free(text);
    }
}

void snapshot_add(struct texts *lines, const char *key)
{
    WCHAR *wide;
    HKEY handle;
    if (FAILED(text_to_utf16(key, &wide, NULL)))
        abort();
    if (!RegOpenKeyExW(HKEY_LOCAL_MACHINE, wide, 0, KEY_READ, &handle)) {
        add_owned_line(lines, snapshot_key_line(key));
        add_key(lines, handle, key);
        RegCloseKey(handle);
    }
    memory_free(wide);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void snapshot_sort(struct texts *lines)
{
    size_t kept = 0;
    if (lines->count)
        qsort(lines->items, lines->count, sizeof(lines->items[0]), compare);
    for (size_t i = 0; i < lines->count; i++)
        if (kept && !strcmp(lines->items[kept - 1], lines->items[i]))
            memory_free(lines->items[i]);
        else
            lines->items[kept++] = lines->items[i];
    lines->count = kept;
}

struct texts snapshot_without(const struct texts *a, const struct texts *b)
{
    struct texts rest = {0};
    for (size_t i = 0; i < a->count; i++)
        if ((!b->count || !bsearch(&a->items[i], b->items, b->count, sizeof(b->items[0]), compare)) &&
            FAILED(texts_add(&rest, a->items[i])))
            abort();
    return rest;
}

/* SPDX-License-Identifier: MIT */
/* Any bytes as a computer's list of names, and as names: lists are sorted and within their limits, names in the form
   used for comparison stay the same when converted again, and an English path is not translated again. */
#include "engine/base/memory.h"
#include "engine/logs/names/names_parts.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

static void check_lists(const char *path, const uint8_t *data, size_t size)
{
    struct name_lists lists = {0};
    const HRESULT hr = name_lists_read(&lists, path, (const char *)data, size);
    must(hr == S_OK || hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    for (size_t i = 0; i < lists.count; i++) {
        const struct name_list *l = lists.items[i];
        for (size_t k = 0; k < l->count; k++) {
            must(l->items[k].index % 2 == 0 && strlen(l->items[k].name) < NAMES_LONGEST);
            must(text_is_utf8(l->items[k].name, strlen(l->items[k].name)));
            must(hr != S_OK || !k || l->items[k - 1].index <= l->items[k].index);
        }
    }
    name_lists_free(&lists);
}

/* Checks the bytes as the value of a registry key; random bytes would hardly begin like one. */
static void check_export(const uint8_t *data, size_t size)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, size && *data & 1 ? "REGEDIT4\n" : "Windows Registry Editor Version 5.00\n");
    text_buffer_add(&b, "[X\\Perflib\\009]\n\"Counter\"=hex(7):");
    for (size_t i = 0; i < size; i++)
        text_buffer_format(&b, i % 16 == 15 ? "%02x,\\\n" : "%02x,", data[i]);
    text_buffer_add(&b, "00\n[X\\Perflib\\007]\n\"Counter\"=hex(7):");
    text_buffer_add_n(&b, (const char *)data, size);
    must(!b.failed);
    check_lists("names.reg", (const uint8_t *)b.text, b.length);
    text_buffer_free(&b);
}

static void check_names(const struct counter_names *n, const char *text)
{
    char once[NAMES_LONGEST], twice[NAMES_LONGEST];
    char *english, *again;
    if (name_fold(text, once))
        must(!name_fold(once, twice) || !strcmp(once, twice));
    if (counter_names_path(n, text, &english) == S_OK) {
        must(counter_names_path(n, english, &again) == S_FALSE);
        memory_free(english);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct counter_names *names;
    char *text = text_copy_n((const char *)data, size);
    must(names || counter_names_create(NULL, &names) == S_OK);
    check_lists("perfc007.dat", data, size);
    check_export(data, size);
    if (text)
        check_names(names, text);
    memory_free(text);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Ini files and headers of extension DLLs from untrusted authors: accepted ones have names, languages and numbers
   within the limits. A NUL divides the ini file from its header. */
#include "engine/base/memory.h"
#include "engine/pdh/extension_registration.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct extension_ini *ini)
{
    for (size_t i = 0; i < ini->count; i++)
        if (!*ini->items[i].text || ini->items[i].offset % 2 || ini->items[i].offset > ini->last ||
            ini->items[i].language >= ini->languages.count)
            __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char head[] = "[info]\ndrivername=s\nsymbolfile=h\n[languages]\n009=\n[text]\n";
    char *text = text_copy_n((const char *)data, size);
    if (!text)
        return 0;
    const size_t first = strlen(text);
    const char *header = first < size ? text + first + 1 : "#define A 2\n";
    char *whole = text_format("%s%s", head, text);
    for (int i = 0; i < 2 && whole; i++) {
        struct extension_ini ini;
        if (SUCCEEDED(extension_ini_begin(i ? text : whole, &ini)) &&
            SUCCEEDED(extension_ini_read(i ? text : whole, header, &ini)))
            check(&ini);
        extension_ini_free(&ini);
    }
    memory_free(whole);
    memory_free(text);
    return 0;
}

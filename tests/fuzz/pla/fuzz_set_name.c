/* SPDX-License-Identifier: MIT */
/* Every accepted name has exactly one safe file name, which is the same in upper and lower case, and from which the
   name can be restored. */
#include "engine/base/memory.h"
#include "engine/pla/store.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *full = text_copy_n((const char *)data, size), *name;
    const char *space;
    HRESULT hr = store_split_name(full, &space, &name);
    char *back = store_name_of_file(full);
    expect(text_is_utf8(back, strlen(back)) || !strcmp(back, full));
    memory_free(back);
    if (FAILED(hr)) {
        expect((hr == E_INVALIDARG || hr == E_NOINTERFACE) && !name && !space);
        memory_free(full);
        return 0;
    }
    expect(*name && !strpbrk(name, "/\\:*?\"<>|"));
    char *file = store_file_name(name);
    expect(strlen(file) && strlen(file) <= 120 && file[0] != '.' && file[strlen(file) - 1] != '.');
    for (const char *c = file; *c; c++)
        expect(*c >= ' ' && *c < 0x7F && !strchr("/\\:*?\"<>|", *c));
    char *fold = text_fold(name);
    char *other = store_file_name(fold);
    expect(!strcmp(file, other));
    back = store_name_of_file(file);
    if (!strstr(file, "%~"))
        expect(text_equal_nocase(back, name));
    memory_free(back);
    memory_free(other);
    memory_free(fold);
    memory_free(file);
    memory_free(name);
    memory_free(full);
    return 0;
}

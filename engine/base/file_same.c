/* SPDX-License-Identifier: MIT */
/* Two paths, one file. */
#include "engine/base/file.h"
#include "engine/base/file_traits.h"
#include "engine/base/memory.h"

#include <string.h>

/* A path without a folder is in the current one. */
static bool identify_folder(const char *path, struct folder_identity *out)
{
    char *folder = path_folder(path);
    const bool known = folder && SUCCEEDED(folder_identify(*folder ? folder : ".", out));
    memory_free(folder);
    if (!known)
        error_clear();
    return known;
}

bool file_is_same(const char *a, const char *b)
{
    struct folder_identity of_a, of_b;
    if (text_equal_nocase(a, b))
        return true;
    if (!text_equal_nocase(path_name(a), path_name(b)))
        return false;
    return identify_folder(a, &of_a) && identify_folder(b, &of_b) && memcmp(&of_a, &of_b, sizeof of_a) == 0;
}

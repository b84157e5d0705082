/* SPDX-License-Identifier: MIT */
/* Where a performance extension DLL may be loaded from. Whoever starts a program that counts chooses its current folder
   and its PATH, so neither is searched. */
#include "engine/pdh/extension/extension_library.h"

#include <string.h>

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

/* "C:\..." or "\\..." */
static bool is_full(const char *path)
{
    const bool letter = (path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z');
    return (letter && path[1] == ':' && is_separator(path[2])) || (is_separator(path[0]) && is_separator(path[1]));
}

HRESULT extension_library_path(const char *library, const char *system, char **out)
{
    *out = NULL;
    if (!*library)
        return error_set(E_INVALIDARG, "Library is empty");
    if (is_full(library))
        *out = text_copy(library);
    else if (strpbrk(library, "\\/:") || !strcmp(library, ".") || !strcmp(library, ".."))
        return error_set(E_INVALIDARG, "Library '%s' is neither a full path nor a bare name", library);
    else
        *out = text_format("%s\\%s", system, library);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* SPDX-License-Identifier: MIT */
/* Paths as texts: joining and taking apart, in the host's own syntax. */
#include "engine/os/file.h"

#include <string.h>

#ifdef _WIN32
#define SEPARATOR '\\'
static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}
#else
#define SEPARATOR '/'
static bool is_separator(char c)
{
    return c == '/';
}
#endif

char *path_join(const char *folder, const char *name)
{
    size_t n = strlen(folder);
    if (!n || !*name)
        return text_copy(n ? folder : name);
    while (n && is_separator(folder[n - 1]))
        n--;
    while (is_separator(*name))
        name++;
    return text_format("%.*s%c%s", (int)n, folder, SEPARATOR, name);
}

char *path_with_separator(const char *folder)
{
    size_t n = strlen(folder);
    if (!n)
        return text_copy("");
    while (n && is_separator(folder[n - 1]))
        n--;
    return text_format("%.*s%c", (int)n, folder, SEPARATOR);
}

const char *path_name(const char *path)
{
    const char *name = path;
#ifdef _WIN32
    if (path[0] && path[1] == ':')
        name = path + 2;
#endif
    for (const char *p = path; *p; p++)
        if (is_separator(*p))
            name = p + 1;
    return name;
}

char *path_folder(const char *path)
{
    size_t n = (size_t)(path_name(path) - path), whole = n;
    while (n && is_separator(path[n - 1]))
        n--;
    if (whole > n && (!n || path[n - 1] == ':'))
        n++; /* the separator of a root is its name */
    return text_copy_n(path, n);
}

const char *path_extension(const char *path)
{
    const char *name = path_name(path), *dot = strrchr(name, '.');
    return dot && dot != name ? dot : name + strlen(name);
}

/* SPDX-License-Identifier: MIT */
/* Joins, splits and checks paths as strings, in the host OS's syntax. */
#include "engine/base/file.h"

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
        n++; /* the separator of a root is part of its name */
    return text_copy_n(path, n);
}

/* Accepts the separators of all host OSs, because sets can be moved between systems. */
static bool separates(char c)
{
    return c == '\\' || c == '/';
}

static bool begins_nocase(const char *name, const char *word)
{
    for (; *word; name++, word++)
        if (*name != *word && (*name < 'a' || *name > 'z' || *name - ('a' - 'A') != *word))
            return false;
    return true;
}

static bool is_device(const char *name, size_t length)
{
    static const char *const devices[] = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"};
    const char *dot = memchr(name, '.', length);
    size_t n = dot ? (size_t)(dot - name) : length;
    while (n && name[n - 1] == ' ')
        n--;
    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
        if (n == strlen(devices[i]) && begins_nocase(name, devices[i]))
            return true;
    /* COM1, LPT9; the digit can be a superscript, which has two bytes in UTF-8 */
    return (n == 4 || n == 5) && (begins_nocase(name, "COM") || begins_nocase(name, "LPT")) &&
           (n == 4 ? name[3] >= '0' && name[3] <= '9' : (unsigned char)name[3] == 0xC2);
}

bool path_is_device_name(const char *name)
{
    return is_device(name, strlen(name));
}

/* Checks the limit of Windows' file systems, 255 UTF-16 units. A name of at most 255 bytes, which is Linux' limit,
   never exceeds this limit. */
static bool is_too_long(const char *name, size_t length)
{
    size_t units = 0;
    for (size_t i = 0; length > PATH_NAME_MAX && i < length; i++)
        units += ((unsigned char)name[i] & 0xC0) != 0x80 ? 1 + ((unsigned char)name[i] >= 0xF0) : 0;
    return units > PATH_NAME_MAX;
}

static const char too_long[] = "a name in it has more than 255 characters";

const char *path_names_fault(const char *names)
{
    if (separates(names[0]) && separates(names[1]))
        return "it begins like the path of a share or device";
    for (const char *at = names; *at;) {
        size_t length = strcspn(at, "\\/");
        if (memchr(at, ':', length))
            return "it contains ':', which denotes a drive or a stream";
        /* Windows removes dots and spaces from the end of a name. */
        if (length && strspn(at, ". ") >= length && !(length == 1 && *at == '.'))
            return "it contains a name that consists of dots and leads to another folder";
        if (is_device(at, length))
            return "it contains a device name";
        if (is_too_long(at, length))
            return too_long;
        at += length;
        at += separates(*at);
    }
    return NULL;
}

/* Returns the end of the root, where the folders of the path begin. NULL: the root is invalid, and *fault is the
   reason. */
static const char *behind_root(const char *root, const char **fault)
{
    const char *at = root;
    *fault = NULL;
    if (separates(at[0]) && separates(at[1]) && (at[2] == '.' || at[2] == '?') && separates(at[3])) {
        at += 4;
        bool drive = ((at[0] | 0x20) >= 'a' && (at[0] | 0x20) <= 'z') && at[1] == ':' && (separates(at[2]) || !at[2]);
        bool share = begins_nocase(at, "UNC") && separates(at[3]);
        if (root[2] == '.' || (!drive && !share)) {
            *fault = "it is a device path";
            return NULL;
        }
        at += share ? 4 : 0;
        if (!share)
            return at + 2;
    } else if (separates(at[0]) && separates(at[1])) {
        at += 2;
    } else {
        return ((at[0] | 0x20) >= 'a' && (at[0] | 0x20) <= 'z') && at[1] == ':' ? at + 2 : at;
    }
    at += strcspn(at, "\\/"); /* the server */
    at += separates(*at);
    size_t length = strcspn(at, "\\/");
    if ((length == 4 && (begins_nocase(at, "PIPE") || begins_nocase(at, "IPC$"))) ||
        (length == 8 && begins_nocase(at, "MAILSLOT"))) {
        *fault = "it is not a file share";
        return NULL;
    }
    return at + length;
}

const char *path_root_fault(const char *root)
{
    const char *fault, *at = behind_root(root, &fault);
    while (at && *at && !fault) {
        size_t length = strcspn(at, "\\/");
        if (memchr(at, ':', length))
            fault = "it contains ':', which denotes a drive or a stream";
        else if (is_device(at, length))
            fault = "it contains a device name";
        else if (is_too_long(at, length))
            fault = too_long;
        at += length;
        at += separates(*at);
    }
    return fault;
}

const char *path_names_behind(const char *base, const char *path)
{
    size_t n = strlen(base);
    while (n && is_separator(base[n - 1]))
        n--;
    if (!*base || strncmp(base, path, n) != 0 || !is_separator(path[n]))
        return NULL;
    path += n;
    while (is_separator(*path))
        path++;
    return path;
}

const char *path_extension(const char *path)
{
    const char *name = path_name(path), *dot = strrchr(name, '.');
    return dot && dot != name ? dot : name + strlen(name);
}

char *path_api_name(const char *name)
{
    const char *bang = strchr(name, '!');
    const size_t module_bytes = bang ? (size_t)(bang - name) : strlen(name);
    size_t begin = module_bytes;
    while (begin && name[begin - 1] != '\\' && name[begin - 1] != '/')
        begin--; /* Windows' separators on every host OS, because module names are Windows' names */
    char *out = text_copy(name + begin);
    for (char *at = out; at && *at; at++)
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    char *end = out ? out + (module_bytes - begin) : NULL;
    if (end && end - out > 4 && strncmp(end - 4, ".dll", 4) == 0)
        memmove(end - 4, end, strlen(end) + 1);
    return out;
}

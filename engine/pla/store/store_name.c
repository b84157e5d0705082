/* SPDX-License-Identifier: MIT */
/* The names of sets: parses full names, makes file names that every file system accepts, and lists the sets of the
   namespace System. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pla/store.h"

#include <stddef.h>
#include <string.h>

/* A name and a suffix together must fit into 143 bytes. This is the lowest limit of the Linux file systems in use; it
   applies to encrypted names. */
#define FILE_NAME_MAX  120
#define FILE_NAME_KEPT 80   /* bytes of the name that a shortened file name keeps */
#define SHORTENED      "%~" /* precedes the hash; not a valid escape */
#define NAME_SHOWN_MAX 300  /* bytes of a name in an error message */

static const char *const namespaces[] = {"Service", "System", "Session", "Autosession", "Legacy", NULL};

const char *const *store_namespaces(void)
{
    return namespaces;
}

HRESULT store_find_namespace(const char *space, const char **known)
{
    for (size_t i = 0; namespaces[i]; i++) {
        if (text_equal_nocase(space, namespaces[i])) {
            *known = namespaces[i];
            return S_OK;
        }
    }
    return error_set(E_NOINTERFACE, "unknown namespace '%.*s'", NAME_SHOWN_MAX, space);
}

static HRESULT check_name(const char *name, const char *full)
{
    if (!*name)
        return error_set(E_INVALIDARG, "name '%.*s' is empty", NAME_SHOWN_MAX, full);
    if (!text_is_utf8(name, strlen(name)))
        return error_set(E_INVALIDARG, "name '%.*s' is not valid UTF-8", NAME_SHOWN_MAX, full);
    for (const char *c = name; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            return error_set(E_INVALIDARG, "name '%.*s' contains the control character 0x%02X", NAME_SHOWN_MAX, full,
                             (unsigned)(unsigned char)*c);
        if (strchr("/\\:*?\"<>|", *c))
            return error_set(E_INVALIDARG, "name '%.*s': the character %c is not allowed", NAME_SHOWN_MAX, full, *c);
    }
    return S_OK;
}

HRESULT store_check_new_name(const char *name)
{
    const size_t length = text_utf16_length(name);
    if (length > STORE_NAME_MAX)
        return error_set(E_INVALIDARG, "name '%.*s...' has %zu characters (at most %d are allowed)", NAME_SHOWN_MAX,
                         name, length, STORE_NAME_MAX);
    if (text_has_bidi_control(name))
        return error_set(
            E_INVALIDARG,
            "%s: '%.*s' contains a bidirectional control character, which can make it look like another name", "name",
            NAME_SHOWN_MAX, name);
    return S_OK;
}

HRESULT store_split_name(const char *full, const char **space, char **name)
{
    const char *given = full ? full : "", *backslash = strchr(given, '\\');
    const char *bare = backslash ? backslash + 1 : given, *known = namespaces[0];
    HRESULT hr = check_name(bare, given);
    *space = NULL;
    *name = NULL;
    if (SUCCEEDED(hr) && backslash) {
        char *before = text_copy_n(given, (size_t)(backslash - given));
        hr = before ? store_find_namespace(before, &known) : E_OUTOFMEMORY;
        memory_free(before);
    }
    if (FAILED(hr))
        return hr;
    *name = text_copy(bare);
    if (!*name)
        return E_OUTOFMEMORY;
    *space = known;
    return S_OK;
}

static bool is_safe(const char *name, size_t i, size_t length)
{
    unsigned char c = (unsigned char)name[i];
    if (c <= 0x20 || c >= 0x7F)
        return c == ' ' && i && i + 1 < length;
    if (c == '.')
        return i && i + 1 < length;
    return !strchr("%\"*/:<>?\\|~", c);
}

char *store_file_name(const char *name)
{
    char *folded = text_fold(name);
    struct text_buffer file = {0};
    size_t length = folded ? strlen(folded) : 0;
    bool device = folded && path_is_device_name(folded);
    if (!folded)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        char c = folded[i];
        if (!is_safe(folded, i, length) || (!i && device)) {
            text_buffer_format(&file, "%%%02X", (unsigned)(unsigned char)c);
        } else {
            if (c >= 'A' && c <= 'Z')
                c = (char)(c + ('a' - 'A')); /* lower case is easier to read */
            text_buffer_add_n(&file, &c, 1);
        }
    }
    if (file.length > FILE_NAME_MAX && !file.failed) {
        uint64_t hash = hash_text(HASH_START, folded);
        file.length = FILE_NAME_KEPT;
        /* There are two hashes, so that different names do not get the same file name by chance. */
        text_buffer_format(&file, "%s%016llx%016llx", SHORTENED, (unsigned long long)hash,
                           (unsigned long long)hash_text(~hash, folded));
    }
    memory_free(folded);
    return text_buffer_take(&file);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

char *store_name_of_file(const char *file)
{
    struct text_buffer name = {0};
    for (const char *c = file; *c; c++) {
        int high = *c == '%' ? hex_value(c[1]) : -1, low = high >= 0 ? hex_value(c[2]) : -1;
        bool escaped = low >= 0 && (high | low);
        char byte = escaped ? (char)(high << 4 | low) : *c;
        text_buffer_add_n(&name, &byte, 1);
        if (escaped)
            c += 2;
    }
    if (!name.failed && !text_is_utf8(name.text ? name.text : "", name.length)) {
        text_buffer_free(&name); /* store_file_name did not make this name */
        text_buffer_add(&name, file);
    }
    return text_buffer_take(&name);
}

/* ---- the sets of the namespace System ---- */

const struct system_set *system_set_find(const char *name)
{
    for (const struct system_set *set = system_sets; set->name; set++)
        if (text_equal_nocase(set->name, name))
            return set;
    return NULL;
}

bool system_set_is_one(const char *space, const char *name)
{
    return text_equal_nocase(space, SYSTEM_SPACE) && system_set_find(name);
}

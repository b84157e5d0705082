/* SPDX-License-Identifier: MIT */
/* Files of report schemas, and those that the program brings. */
#include "engine/report/schema_files.h"

#include "engine/os/file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"

#include <string.h>

#define SCHEMA_BYTES_MAX (16u << 20)

void schema_file_free(struct schema_file *f)
{
    memory_free(f->path);
    memory_free(f->text);
    memset(f, 0, sizeof *f);
}

static bool is_absolute(const char *path)
{
    return path[0] == '/' || (path[0] && path[1] == ':');
}

/* With '/' alone, which every host takes. */
static char *path_of(const char *name, const char *importer)
{
    char *path = host_expand_environment(name);
    for (char *p = path; p && *p; p++)
        if (*p == '\\')
            *p = '/';
    if (!path || !importer || is_absolute(path))
        return path;
    char *folder = path_folder(importer), *joined = folder ? path_join(folder, path) : NULL;
    memory_free(folder);
    memory_free(path);
    return joined;
}

static bool ends_with_folder(const char *path, size_t length, const char *folder)
{
    size_t n = strlen(folder);
    if (length < n || (length > n && path[length - n - 1] != '/'))
        return false;
    char *end = text_copy_n(path + length - n, n);
    bool same = end && text_equal_nocase(end, folder);
    memory_free(end);
    return same;
}

/* What is before the name in an Import, with its '/'. The folder of Windows' own files counts whatever
   %systemroot% is, as natively it is nothing. */
static const struct shipped_schema *find_shipped(const struct shipped_files *of, const char *name, const char *wanted)
{
    const char *last = strrchr(wanted, '/');
    if (last && !ends_with_folder(wanted, (size_t)(last - wanted), of->folder))
        return NULL;
    for (const struct shipped_schema *s = of->rows; s->name; s++)
        if (text_equal_nocase(s->name, name))
            return s;
    return NULL;
}

static HRESULT take_shipped(const struct shipped_files *of, const char *name, const char *path, struct schema_file *out)
{
    char *wanted = path_of(name, NULL);
    if (!wanted)
        return E_OUTOFMEMORY;
    const char *last = strrchr(wanted, '/');
    const struct shipped_schema *s = find_shipped(of, last ? last + 1 : wanted, wanted);
    memory_free(wanted);
    if (!s)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                         "\"%s\": there is no such %s, neither as a file nor in this program", path, of->sort);
    out->path = text_copy(s->name);
    out->text = text_copy(s->xml);
    out->size = strlen(s->xml);
    if (out->path && out->text)
        return S_OK;
    schema_file_free(out);
    return E_OUTOFMEMORY;
}

HRESULT shipped_file_load(const struct shipped_files *of, const char *name, const char *importer,
                          struct schema_file *out)
{
    memset(out, 0, sizeof *out);
    if (!*name)
        return error_set(E_INVALIDARG, "a file of a %s has no name", of->sort);
    out->path = path_of(name, importer);
    if (!out->path)
        return E_OUTOFMEMORY;
    HRESULT hr = file_load(out->path, SCHEMA_BYTES_MAX, &out->text, &out->size);
    if (SUCCEEDED(hr))
        return hr;
    char *path = out->path;
    out->path = NULL;
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND))
        hr = take_shipped(of, name, path, out);
    memory_free(path);
    return hr;
}

HRESULT schema_file_load(const char *name, const char *importer, struct schema_file *out)
{
    static const struct shipped_files schemas = {"schema", "pla/reports", shipped_schemas};
    return shipped_file_load(&schemas, name, importer, out);
}

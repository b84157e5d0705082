/* SPDX-License-Identifier: MIT */
/* Loads files of report schemas, and the built-in schemas. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/report/report_schema.h"

#include <string.h>

#define SCHEMA_BYTES_MAX (16u << 20)

void schema_file_free(struct schema_file *f)
{
    memory_free(f->path);
    memory_free(f->text);
    memset(f, 0, sizeof *f);
}

/* Expands variables and uses only '/', which every host OS accepts. */
static char *path_of(const char *name)
{
    char *path = os_expand_environment(name);
    for (char *p = path; p && *p; p++)
        if (*p == '\\')
            *p = '/';
    return path;
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

/* Finds the built-in file that an Import names. The part before the file name must be empty or end with Windows'
   folder. This folder is recognised for every value of %systemroot%, because on Linux the variable is empty. */
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

static HRESULT take_shipped(const struct shipped_files *of, const char *wanted, const char *path,
                            struct schema_file *out)
{
    const char *last = strrchr(wanted, '/');
    const struct shipped_schema *s = find_shipped(of, last ? last + 1 : wanted, wanted);
    if (!s)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "no such %s: '%s' is neither a file nor built in",
                         of->sort, path);
    out->path = text_copy(s->name);
    out->text = text_copy(s->xml);
    out->size = strlen(s->xml);
    out->shipped = true;
    if (out->path && out->text)
        return S_OK;
    schema_file_free(out);
    return E_OUTOFMEMORY;
}

/* ---- the file that an import names ---- */

struct import_place {
    char *base; /* folder below which the file must be; NULL means anywhere */
    char *path; /* NULL if the import can only be a built-in file */
};

static HRESULT leads_out(const struct shipped_files *of, const char *name, const char *why)
{
    return error_set(
        HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME),
        "cannot import '%s': %s (imports must be in the folder of the importing file or in %%systemroot%%/%s)", name,
        why, of->folder);
}

/* Sets *out to the path `names` below the folder `base`. *out then owns `base`. */
static HRESULT place_below(const struct shipped_files *of, const char *name, char *base, const char *names,
                           struct import_place *out)
{
    const char *fault = path_names_fault(names);
    if (!fault && *names == '/')
        fault = "absolute path";
    out->base = base;
    if (fault)
        return leads_out(of, name, fault);
    out->path = base ? text_format("%s/%s", base, names) : NULL;
    return out->path ? S_OK : E_OUTOFMEMORY;
}

/* If the path is in Windows' folder for these files, ignoring case, returns the part of the path after this folder.
   Otherwise returns NULL. */
static const char *names_in_windows(const struct shipped_files *of, const char *root, const char *wanted)
{
    const size_t length = strlen(of->folder);
    const char *names = path_names_behind(root, wanted);
    char *folder = names && strlen(names) > length && names[length] == '/' ? text_copy_n(names, length) : NULL;
    const bool is_it = folder && text_equal_nocase(folder, of->folder);
    memory_free(folder);
    return is_it ? names + length + 1 : NULL;
}

/* Finds the place of an imported file, which must be in an allowed folder: the author of a document chooses the path,
   but the file is read with the rights of the user who runs it. */
static HRESULT place_of_import(const struct shipped_files *of, const char *wanted, const char *importer,
                               struct import_place *out)
{
    char *root = path_of("%systemroot%"), *windows = root ? text_format("%s/%s", root, of->folder) : NULL;
    char *folder = path_folder(importer);
    HRESULT hr = windows && folder ? S_OK : E_OUTOFMEMORY;
    const char *names = SUCCEEDED(hr) ? names_in_windows(of, root, wanted) : NULL;
    if (names) {
        hr = place_below(of, wanted, windows, names, out);
        windows = NULL;
    } else if (SUCCEEDED(hr) && strchr(wanted, '/') && find_shipped(of, path_name(wanted), wanted)) {
        hr = S_OK; /* the path is in Windows' folder, but on another system: use the built-in file */
    } else if (SUCCEEDED(hr) && !*importer) {
        const char *fault = path_names_fault(wanted);
        hr = fault ? leads_out(of, wanted, fault) : S_OK; /* a document that is not a file has no folder */
    } else if (SUCCEEDED(hr)) {
        names = path_names_behind(folder, wanted);
        char *base = *folder ? text_copy(folder) : text_copy(".");
        hr = place_below(of, wanted, base, names ? names : wanted, out);
    }
    memory_free(root);
    memory_free(windows);
    memory_free(folder);
    return hr;
}

static HRESULT load_from(const struct import_place *place, struct schema_file *out)
{
    if (!place->path)
        return HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND);
    HRESULT hr = place->base ? file_load_below(place->base, place->path, SCHEMA_BYTES_MAX, &out->text, &out->size)
                             : file_load(place->path, SCHEMA_BYTES_MAX, &out->text, &out->size);
    if (FAILED(hr))
        return hr;
    out->path = text_copy(strncmp(place->path, "./", 2) != 0 ? place->path : place->path + 2);
    if (out->path)
        return S_OK;
    schema_file_free(out);
    return E_OUTOFMEMORY;
}

HRESULT shipped_file_load(const struct shipped_files *of, const char *name, const char *importer,
                          struct schema_file *out)
{
    struct import_place place = {0};
    memset(out, 0, sizeof *out);
    if (!*name)
        return error_set(E_INVALIDARG, "the file name of an imported %s is empty", of->sort);
    char *wanted = path_of(name);
    HRESULT hr = wanted ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && importer) {
        hr = place_of_import(of, wanted, importer, &place);
    } else if (SUCCEEDED(hr)) {
        place.path = text_copy(wanted);
        hr = place.path ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr)) {
        hr = load_from(&place, out);
        if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND))
            hr = take_shipped(of, wanted, place.path ? place.path : wanted, out);
    }
    memory_free(place.base);
    memory_free(place.path);
    memory_free(wanted);
    return hr;
}

HRESULT schema_file_load(const char *name, const char *importer, struct schema_file *out)
{
    static const struct shipped_files schemas = {"schema", "pla/reports", shipped_schemas};
    return shipped_file_load(&schemas, name, importer, out);
}

HRESULT schema_file_load_of_set(const char *name, const char *importer, struct schema_file *out)
{
    return schema_file_load(name, importer && strchr(importer, '/') ? importer : "", out);
}

/* SPDX-License-Identifier: MIT */
/* Tasks in files of their own. */
#include "engine/pla/task_store.h"

#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/pla/store.h"
#include "engine/pla/store_name.h"

#include <string.h>

#define ENDING     ".xml"
#define FILE_MOST  (1u << 20) /* bytes */
#define NAME_SHOWN 300        /* bytes of a name in an error text */

HRESULT task_name_check(const char *name, const char **bare)
{
    *bare = name + (name[0] == '\\');
    if (!text_is_utf8(name, strlen(name)))
        return error_set(E_INVALIDARG, "the task's name \"%.*s\" is not valid text", NAME_SHOWN, name);
    for (const char *part = *bare;;) {
        size_t length = strcspn(part, "\\");
        if (strspn(part, ".") == length) /* also an empty one */
            return error_set(E_INVALIDARG, "the task's name \"%.*s\" has a part that is none", NAME_SHOWN, name);
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)part[i] < ' ' || part[i] == 0x7F || strchr("/:*?\"<>|", part[i]))
                return error_set(E_INVALIDARG,
                                 "the task's name \"%.*s\" holds a character that is not allowed (0x%02X)", NAME_SHOWN,
                                 name, (unsigned)(unsigned char)part[i]);
        if (!part[length])
            return S_OK;
        part += length + 1;
    }
}

static char *tasks_folder(void)
{
    char *data = host_data_folder(), *folder = data ? path_join(data, "tasks") : NULL;
    memory_free(data);
    return folder;
}

static HRESULT locate(const char *name, char **path)
{
    const char *bare;
    *path = NULL;
    HRESULT hr = task_name_check(name, &bare);
    if (FAILED(hr))
        return hr;
    char *folder = tasks_folder(), *file = store_file_name(bare);
    char *whole = file ? text_format("%s" ENDING, file) : NULL;
    if (folder && whole)
        *path = path_join(folder, whole);
    memory_free(folder);
    memory_free(file);
    memory_free(whole);
    return *path ? S_OK : E_OUTOFMEMORY;
}

HRESULT task_store_save(const struct task_definition *d, bool replace)
{
    char *path, *folder = NULL, *xml = NULL;
    HRESULT hr = locate(d->name, &path);
    if (SUCCEEDED(hr) && !replace && file_find(path) == S_OK)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "there is a task \"%s\" already", d->name);
    if (SUCCEEDED(hr))
        hr = task_definition_write(d, &xml);
    if (SUCCEEDED(hr))
        hr = (folder = path_folder(path)) ? folder_create_protected(folder, PROTECTION_DATA) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_store(path, xml, strlen(xml));
    memory_free(path);
    memory_free(folder);
    memory_free(xml);
    return hr;
}

static bool is_missing(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
}

static HRESULT missing(const char *name)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                     "there is no task \"%.*s\" (openpla task list shows them)", NAME_SHOWN, name);
}

static HRESULT load_file(const char *path, struct task_definition *out)
{
    char *xml;
    size_t size;
    HRESULT hr = file_load(path, FILE_MOST, &xml, &size);
    if (FAILED(hr))
        return hr;
    hr = task_definition_read(xml, size, out, NULL);
    memory_free(xml);
    return FAILED(hr) ? error_prefix(hr, "%s", path) : hr;
}

HRESULT task_store_load(const char *name, struct task_definition *out)
{
    char *path;
    memset(out, 0, sizeof *out);
    HRESULT hr = locate(name, &path);
    if (SUCCEEDED(hr))
        hr = load_file(path, out);
    memory_free(path);
    return is_missing(hr) ? missing(name) : hr;
}

HRESULT task_store_remove(const char *name)
{
    char *path;
    HRESULT hr = locate(name, &path);
    if (SUCCEEDED(hr))
        hr = file_delete(path);
    memory_free(path);
    return is_missing(hr) ? missing(name) : hr;
}

/* As it was added, if that is the file's name still; else what the file's name says. */
static HRESULT add_name(const char *folder, const char *file, struct texts *names)
{
    struct task_definition d = {0};
    const char *bare;
    char *stem = text_copy_n(file, strlen(file) - (sizeof ENDING - 1)), *path = path_join(folder, file);
    HRESULT hr = stem && path ? load_file(path, &d) : E_OUTOFMEMORY;
    char *own = SUCCEEDED(hr) && SUCCEEDED(task_name_check(d.name, &bare)) ? store_file_name(bare) : NULL;
    if (hr != E_OUTOFMEMORY) {
        char *name = own && !strcmp(own, stem) ? text_copy(bare) : store_name_of_file(stem);
        hr = name ? texts_give(names, name) : E_OUTOFMEMORY;
    }
    task_definition_free(&d);
    memory_free(stem);
    memory_free(path);
    memory_free(own);
    return hr;
}

HRESULT task_store_list(struct texts *names)
{
    struct texts files = {0};
    char *folder = tasks_folder();
    HRESULT hr = folder ? folder_list(folder, false, &files) : E_OUTOFMEMORY;
    if (is_missing(hr))
        hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < files.count; i++) {
        const char *ending = path_extension(files.items[i]);
        if (text_equal_nocase(ending, ENDING))
            hr = add_name(folder, files.items[i], names);
    }
    texts_free(&files);
    memory_free(folder);
    return hr;
}

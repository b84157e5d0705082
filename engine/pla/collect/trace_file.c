/* SPDX-License-Identifier: MIT */
/* What stands at the place of a trace's file. */
#include "engine/pla/collect/trace_file.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/etl_reader.h"
#include "engine/logs/log_file.h"
#include "engine/pla/collect/kind.h"

#include <string.h>

/* What would be lost with it: a trace, a file without anything in it, or something else. */
static HRESULT check_is_trace(const char *path, struct file *file)
{
    struct etl_reader *reader;
    uint64_t size = 0;
    HRESULT hr = file_size(file, &size);
    if (FAILED(hr) || !size)
        return hr;
    hr = etl_reader_open(path, NULL, NULL, &reader);
    if (SUCCEEDED(hr)) {
        etl_reader_close(reader);
        return S_OK;
    }
    return hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA)
               ? error_set(hr, "\"%s\": is there already and is no trace; it is not overwritten", path)
               : hr;
}

static HRESULT check_there(const char *base, const char *path, bool over)
{
    struct file *file = NULL;
    if (!over)
        return collector_file_exists(path);
    HRESULT hr = file_open_below(base, path, FILE_READ, &file);
    if (SUCCEEDED(hr))
        hr = check_is_trace(path, file);
    file_close(file);
    return hr;
}

HRESULT trace_file_check(const char *base, const char *path, bool over)
{
    const struct log_options options = {.base = base};
    struct file *file = NULL;
    bool fresh;
    HRESULT hr = log_file_begin(path, &options, false, &file, &fresh);
    file_close(file);
    if (SUCCEEDED(hr))
        return log_file_delete(path, &options);
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) ? check_there(base, path, over) : hr;
}

/* ---- of private sessions ---- */

struct search {
    const char *folder, *name;
    HRESULT (*each)(void *user, const char *file);
    void *user;
};

static HRESULT look_at(void *user, const struct seen_file *file)
{
    const struct search *s = user;
    const size_t length = strlen(s->name);
    if (strnlen(file->name, length + 1) <= length || file->name[length] != '_')
        return S_OK;
    const char *id = file->name + length + 1;
    if (!*id || id[strspn(id, "0123456789_")])
        return S_OK;
    char *head = text_copy_n(file->name, length), *path = path_join(s->folder, file->name);
    HRESULT hr = head && path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && text_equal_nocase(head, s->name))
        hr = s->each(s->user, path);
    memory_free(head);
    memory_free(path);
    return hr;
}

HRESULT trace_file_each_part(const char *path, HRESULT (*each)(void *user, const char *file), void *user)
{
    char *folder = path_folder(path);
    struct search s = {.folder = folder, .name = path_name(path), .each = each, .user = user};
    HRESULT hr = folder ? folder_each_file(folder, look_at, &s) : E_OUTOFMEMORY;
    memory_free(folder);
    return hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) ? S_OK : hr;
}

struct check {
    const char *base;
    bool over;
};

static HRESULT check_part(void *user, const char *file)
{
    const struct check *c = user;
    return check_there(c->base, file, c->over);
}

HRESULT trace_file_check_private(const char *base, const char *path, bool over)
{
    struct check c = {base, over};
    HRESULT hr = trace_file_check(base, path, over);
    return SUCCEEDED(hr) ? trace_file_each_part(path, check_part, &c) : hr;
}

static HRESULT found(void *user, const char *file)
{
    (void)user;
    (void)file;
    return HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
}

bool trace_file_private_exists(const char *path)
{
    return file_exists(path) || FAILED(trace_file_each_part(path, found, NULL));
}

static HRESULT delete_part(void *user, const char *file)
{
    const char *base = user;
    (void)(base ? file_delete_below(base, file) : file_delete(file));
    return S_OK;
}

void trace_file_delete_parts(const char *base, const char *path)
{
    (void)trace_file_each_part(path, delete_part, (void *)base);
}

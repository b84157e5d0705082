/* SPDX-License-Identifier: MIT */
/* A whole file, stored by a temporary one beside it. */
#include "engine/base/file_storing.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static void storing_free(struct file_storing *s)
{
    file_close(s->file);
    memory_free(s->temporary);
    memory_free(s->folder);
    memory_free(s);
}

HRESULT file_failed_as(HRESULT hr, const char *temporary, const char *path)
{
    const struct error_kept why = error_keep(hr);
    const char *at = strstr(why.text, temporary);
    if (at)
        (void)error_set(hr, "%.*s%s%s", (int)(at - why.text), why.text, path, at + strlen(temporary));
    else
        (void)error_restore(&why);
    return hr;
}

/* Of a file that is to be made only its folder can be missing, whatever the host says. */
static HRESULT not_made(const struct file_storing *s, HRESULT hr)
{
    const HRESULT no_folder = HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
    if (hr != HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return s->temporary ? file_failed_as(hr, s->temporary, s->path) : hr;
    (void)error_set(no_folder, "\"%s\": the folder does not exist", s->path);
    return no_folder;
}

HRESULT file_store_begin(const char *path, const void *data, size_t size, struct file_storing **out)
{
    static atomic_uint stored; /* so that a thread may have begun several */
    const size_t length = strlen(path);
    struct file_storing *s = memory_zero(1, sizeof *s + length + 1);
    char name[64];
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    /* A name of its own length: one made of path's own could be longer than a name may be. */
    snprintf(name, sizeof name, "~%lu-%u.tmp", (unsigned long)process_own_id(), atomic_fetch_add(&stored, 1));
    memcpy(s->path, path, length + 1);
    s->folder = path_folder(path);
    if (s->folder)
        s->temporary = path_join(s->folder, name);
    HRESULT hr = s->temporary ? file_storing_open(s) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        hr = not_made(s, hr);
        storing_free(s);
        return hr;
    }
    hr = file_write(s->file, data, size);
    if (SUCCEEDED(hr))
        hr = file_flush(s->file);
    if (FAILED(hr))
        return file_store_drop(s, file_failed_as(hr, s->temporary, path));
    *out = s;
    return hr;
}

HRESULT file_store_end(struct file_storing *s)
{
    const HRESULT hr = file_storing_rename(s);
    if (FAILED(hr))
        return file_store_drop(s, file_failed_as(hr, s->temporary, s->path));
    storing_free(s);
    return hr;
}

HRESULT file_store_drop(struct file_storing *s, HRESULT hr)
{
    if (!s)
        return hr;
    struct error_kept why = error_keep(hr);
    file_close(s->file);
    s->file = NULL;
    (void)file_delete(s->temporary);
    storing_free(s);
    (void)error_restore(&why);
    return hr;
}

HRESULT file_store(const char *path, const void *data, size_t size)
{
    struct file_storing *s;
    const HRESULT hr = file_store_begin(path, data, size, &s);
    return SUCCEEDED(hr) ? file_store_end(s) : hr;
}

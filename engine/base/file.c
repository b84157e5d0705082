/* SPDX-License-Identifier: MIT */
/* Operations on whole files that are the same on every host OS: loading, storing through a temporary file in the same
   folder, and comparing identity. */
#include "engine/base/file.h"

#include "engine/base/base_private.h"
#include "engine/base/error.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static HRESULT too_large(const char *path, size_t limit)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE), "cannot read '%s': it is larger than %llu bytes", path,
                     (unsigned long long)limit);
}

/* Reads an open file as a whole. The file can grow or shrink during the read, and some files have no size, so only the
   bytes that were read count. */
static HRESULT load_open_file(struct file *f, const char *path, size_t limit, char **out, size_t *size)
{
    uint64_t expected;
    size_t length = 0, got;
    HRESULT hr = file_size(f, &expected);
    if (FAILED(hr))
        return hr;
    if (expected > limit)
        return too_large(path, limit);
    size_t capacity = (size_t)expected + 1;
    char *data = memory_alloc(capacity + 1);
    if (!data)
        return E_OUTOFMEMORY;
    for (;;) {
        char *grown;
        hr = file_read_at(f, length, data + length, capacity - length, &got);
        length += got;
        if (SUCCEEDED(hr) && length > limit)
            hr = too_large(path, limit);
        if (FAILED(hr) || length < capacity)
            break;
        capacity = capacity > limit / 2 ? limit + 1 : capacity * 2;
        grown = memory_resize(data, capacity + 1);
        if (!grown) {
            hr = E_OUTOFMEMORY;
            break;
        }
        data = grown;
    }
    if (FAILED(hr)) {
        memory_free(data);
        return hr;
    }
    data[length] = 0;
    *out = data;
    *size = length;
    return S_OK;
}

/* If `base` is NULL, the path may lead to any folder. */
static HRESULT file_load_from(const char *base, const char *path, size_t limit, bool trusted, char **out, size_t *size)
{
    struct file *f;
    *out = NULL;
    *size = 0;
    if (limit > SIZE_MAX / 4)
        limit = SIZE_MAX / 4;
    HRESULT hr = base ? file_open_below(base, path, FILE_READ, &f) : file_open(path, FILE_READ, &f);
    if (FAILED(hr))
        return hr;
    hr = trusted ? file_check_owner(f) : S_OK;
    if (SUCCEEDED(hr))
        hr = load_open_file(f, path, limit, out, size);
    file_close(f);
    return hr;
}

HRESULT file_load(const char *path, size_t limit, char **out, size_t *size)
{
    return file_load_from(NULL, path, limit, false, out, size);
}

HRESULT file_load_trusted(const char *path, size_t limit, char **out, size_t *size)
{
    return file_load_from(NULL, path, limit, true, out, size);
}

HRESULT file_load_below(const char *base, const char *path, size_t limit, char **out, size_t *size)
{
    return file_load_from(base, path, limit, false, out, size);
}

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

/* Returns the error for a temporary file that could not be created. The file is new, so a result "file not found" can
   only mean that its folder does not exist. */
static HRESULT not_made(const struct file_storing *s, HRESULT hr)
{
    const HRESULT no_folder = HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
    if (hr != HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        return s->temporary ? file_failed_as(hr, s->temporary, s->path) : hr;
    (void)error_set(no_folder, "the folder of '%s' does not exist", s->path);
    return no_folder;
}

HRESULT file_store_begin(const char *path, const void *data, size_t size, struct file_storing **out)
{
    static atomic_uint stored; /* numbers the temporary files, so that one thread can have several stores in progress */
    const size_t length = strlen(path);
    struct file_storing *s = memory_zero(1, sizeof *s + length + 1);
    char name[64];
    *out = NULL;
    if (!s)
        return E_OUTOFMEMORY;
    /* A short name is used, because the file's own name with a suffix could exceed the limit for names. */
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

/* Identifies the path's folder. A path without a folder is in the current folder. */
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

/* Whether any thread has ever set an observer. Checked first, because thread-local variables are slow with some
   compilers. */
static atomic_bool observed;
static _Thread_local file_observer *observer;
static _Thread_local void *observing;

void file_observe(file_observer *o, void *user)
{
    observer = o;
    observing = user;
    atomic_store_explicit(&observed, true, memory_order_relaxed);
}

HRESULT file_operation(enum file_operation operation, const char *path)
{
    if (!atomic_load_explicit(&observed, memory_order_relaxed) || !observer)
        return S_OK;
    HRESULT hr = observer(observing, operation, path);
    return FAILED(hr) ? error_set(hr, "'%s': %s", path, error_standard_text(hr)) : hr;
}

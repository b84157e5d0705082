/* SPDX-License-Identifier: MIT */
/* A whole file in memory, and a folder with its parents: what is the same on every host. */
#include "engine/base/file_owner.h"
#include "engine/base/memory.h"

static HRESULT too_large(const char *path, size_t limit)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE), "\"%s\": longer than %llu bytes", path,
                     (unsigned long long)limit);
}

/* The file may grow or shrink meanwhile, and some have no size at all: what counts is what can be read. */
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

/* `base` NULL: wherever the path leads. */
static HRESULT load(const char *base, const char *path, size_t limit, bool trusted, char **out, size_t *size)
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
    return load(NULL, path, limit, false, out, size);
}

HRESULT file_load_trusted(const char *path, size_t limit, char **out, size_t *size)
{
    return load(NULL, path, limit, true, out, size);
}

HRESULT file_load_below(const char *base, const char *path, size_t limit, char **out, size_t *size)
{
    return load(base, path, limit, false, out, size);
}

/* SPDX-License-Identifier: MIT */
/* One file after another, through one buffer. */
#include "engine/pla/collect/file_copies.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"

#include <inttypes.h>
#include <string.h>

#define BUFFER_BYTES 262144
/* A file that grows is followed so far beyond its size, so that none is copied for ever. */
#define GROWTH_BYTES (64u << 20)
/* Of one folder: Wine reads all of a folder for each name that is new there (DECISIONS 50). */
#define FOLDER_FILES 1000

HRESULT file_copies_begin(struct file_copies *c)
{
    c->buffer = memory_alloc(BUFFER_BYTES);
    return c->buffer ? S_OK : E_OUTOFMEMORY;
}

void file_copies_end(struct file_copies *c)
{
    memory_free(c->buffer);
    memory_free(c->below);
    number_table_free(&c->numbers);
}

void file_copy_free(struct file_copy *copy)
{
    memory_free(copy->name);
    copy->name = NULL;
}

/* a.txt, a_1.txt, a_2.txt: behaviour 11. */
static char *numbered_name(const char *name, uint32_t number)
{
    const char *extension = path_extension(name);
    if (!number)
        return text_copy(name);
    return text_format("%.*s_%" PRIu32 "%s", (int)(extension - name), name, number, extension);
}

static bool is_taken(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) || hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS);
}

/* What is too many for one folder goes into Files_0001, Files_0002 ... below it. */
static HRESULT next_folder(struct file_copies *c)
{
    char *name = text_format("Files_%04" PRIu32, ++c->folders), *path = name ? path_join(c->folder, name) : NULL;
    HRESULT hr = path ? folder_create_below(c->base, path) : E_OUTOFMEMORY;
    memory_free(path);
    if (FAILED(hr)) {
        memory_free(name);
        return hr;
    }
    memory_free(c->below);
    c->below = name;
    c->in_folder = 0;
    return S_OK;
}

static HRESULT make(struct file_copies *c, const char *name, struct file_copy *out, struct file **file)
{
    HRESULT hr = c->in_folder >= FOLDER_FILES ? next_folder(c) : S_OK;
    if (FAILED(hr))
        return hr;
    hr = HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
    uint32_t *number = number_table_find(&c->numbers, text_hash_nocase(name));
    if (!number)
        return E_OUTOFMEMORY;
    while (is_taken(hr) && *number < UINT32_MAX && !atomic_load(c->stop)) {
        file_copy_free(out);
        char *own = numbered_name(name, (*number)++);
        out->name = own ? path_join(c->below ? c->below : "", own) : NULL;
        memory_free(own);
        char *path = out->name ? path_join(c->folder, out->name) : NULL;
        if (path && c->made)
            c->made(c->base, c->folder, path);
        hr = path ? file_open_below(c->base, path, FILE_CREATE_NEW, file) : E_OUTOFMEMORY;
        memory_free(path);
    }
    if (FAILED(hr))
        file_copy_free(out);
    else
        c->in_folder++;
    return hr;
}

/* The smaller is copied, the larger not even begun. */
static HRESULT check_room(const struct file_copies *c, const char *path, uint64_t size)
{
    if (!c->most_bytes || size <= c->most_bytes - c->bytes)
        return S_OK;
    return error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE),
                     "FileMaxTotalSize: \"%s\" has %" PRIu64 " bytes, and %" PRIu64 " of %" PRIu64 " are left", path,
                     size, c->most_bytes - c->bytes, c->most_bytes);
}

static HRESULT copy_bytes(struct file_copies *c, const char *path, struct file *from, struct file *to,
                          struct file_copy *out)
{
    uint64_t done = 0;
    HRESULT hr = S_OK;
    for (size_t got = BUFFER_BYTES; SUCCEEDED(hr) && got == BUFFER_BYTES;) {
        if (atomic_load(c->stop))
            return E_ABORT;
        hr = file_read_at(from, done, c->buffer, BUFFER_BYTES, &got);
        if (SUCCEEDED(hr))
            hr = check_room(c, path, done + got);
        if (SUCCEEDED(hr) && got)
            hr = file_write(to, c->buffer, got);
        done += got;
        if (done > out->traits.size && done - out->traits.size > GROWTH_BYTES)
            break;
    }
    struct file_traits now;
    if (SUCCEEDED(hr))
        hr = file_traits_of(from, &now);
    if (FAILED(hr))
        return hr;
    /* Files of the kernel say that they are empty. */
    out->changed = now.size != out->traits.size || now.written != out->traits.written ||
                   (out->traits.size && done != out->traits.size);
    out->traits.size = done;
    c->bytes += done;
    return S_OK;
}

static HRESULT copy_open(struct file_copies *c, const char *path, struct file *from, struct file_copy *out)
{
    struct file *to = NULL;
    HRESULT hr = file_traits_of(from, &out->traits);
    if (SUCCEEDED(hr))
        hr = check_room(c, path, out->traits.size);
    if (SUCCEEDED(hr))
        hr = make(c, path_name(path), out, &to);
    if (FAILED(hr))
        return hr;
    hr = copy_bytes(c, path, from, to, out);
    if (SUCCEEDED(hr))
        hr = file_put_traits(to, &out->traits);
    file_close(to);
    if (SUCCEEDED(hr))
        return S_OK;
    struct error_kept why = error_keep(hr);
    char *copy = path_join(c->folder, out->name);
    if (copy)
        file_delete_below(c->base, copy);
    memory_free(copy);
    file_copy_free(out);
    return error_restore(&why);
}

HRESULT file_copies_add(struct file_copies *c, const char *path, struct file_copy *out)
{
    struct file *from;
    *out = (struct file_copy){0};
    HRESULT hr = file_open_source(path, &from);
    if (FAILED(hr))
        return hr;
    hr = copy_open(c, path, from, out);
    file_close(from);
    return hr;
}

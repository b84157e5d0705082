/* SPDX-License-Identifier: MIT */
/* Extracts a validated cabinet. Writes all files to a new subfolder of the target folder, then moves the top-level
   files and folders to the target folder by renaming them. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/pla/cabinet/cabinet_format.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { INNER_TRIES = 10000 };

struct extraction {
    struct cabinet *c;
    const char *folder;
    char *inner;       /* the new subfolder */
    struct file *file; /* file of the current entry */
    char *path;
};

/* Returns `folder` joined with the first component of `name`. This is either the file, or the top-level folder that
   contains it. */
static char *first_path(const char *folder, const char *name)
{
    char *first = text_copy_n(name, strcspn(name, "/"));
    char *path = first ? path_join(folder, first) : NULL;
    memory_free(first);
    return path;
}

/* ---- checks before anything is written ---- */

static HRESULT check_target(struct extraction *x)
{
    uint64_t room = 0;
    HRESULT hr = folder_free_bytes(x->folder, &room);
    if (SUCCEEDED(hr) && room < x->c->bytes)
        return error_set(HRESULT_FROM_WIN32(ERROR_DISK_FULL),
                         "'%s': only %llu bytes are free, but the unpacked files need %llu", x->folder,
                         (unsigned long long)room, (unsigned long long)x->c->bytes);
    for (size_t i = 0; SUCCEEDED(hr) && i < x->c->count; i++) {
        char *path = first_path(x->folder, x->c->entries[i].name);
        hr = path ? file_find(path) : E_OUTOFMEMORY;
        if (hr == S_OK)
            hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_EXISTS), "'%s' already exists (nothing is replaced)", path);
        memory_free(path);
    }
    return FAILED(hr) ? hr : S_OK;
}

/* ---- extracting into the subfolder ---- */

static HRESULT extract_begin(void *user, size_t entry)
{
    struct extraction *x = user;
    x->path = path_join(x->inner, x->c->entries[entry].name);
    char *folder = x->path ? path_folder(x->path) : NULL;
    HRESULT hr = folder ? folder_create_below(x->folder, folder) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_open_below(x->folder, x->path, FILE_CREATE_NEW, &x->file);
    memory_free(folder);
    return hr;
}

static HRESULT extract_bytes(void *user, size_t entry, const uint8_t *data, size_t size)
{
    struct extraction *x = user;
    (void)entry;
    return file_write(x->file, data, size);
}

/* Converts local time to UTC. clock_bias_minutes expects a UTC time, which is not known yet. The first step estimates
   the UTC time; the second step uses the bias at that time. */
static int64_t utc_of_local(int64_t local)
{
    const int64_t minute = 600000000;
    const int64_t guess = local + clock_bias_minutes(local) * minute;
    return local + clock_bias_minutes(guess) * minute;
}

static HRESULT extract_end(void *user, size_t entry)
{
    struct extraction *x = user;
    const int64_t written = x->c->entries[entry].written;
    const struct file_traits traits = {.written = written ? utc_of_local(written) : 0,
                                       .attributes = FILE_TRAIT_ARCHIVE};
    const HRESULT hr = written ? file_set_traits(x->file, &traits) : S_OK;
    file_close(x->file);
    x->file = NULL;
    memory_free(x->path);
    x->path = NULL;
    return hr;
}

/* ---- moving out of the subfolder, and cleaning up ---- */

/* Removes the folders below `base` that are part of the path `name`, innermost first. Keeps folders that are not
   empty. */
static void remove_folders(const char *base, const char *name)
{
    char *path = path_join(base, name);
    const size_t least = strlen(base) + 1;
    for (char *end = path ? path + strlen(path) : NULL; end && end > path + least; end--)
        if (*end == '/' || *end == '\\') {
            *end = 0;
            (void)folder_delete(path);
        }
    memory_free(path);
}

/* Removes everything that was written. Preserves the error text of the failure. */
static HRESULT extraction_undo(struct extraction *x, HRESULT failed)
{
    const struct error_kept why = error_keep(failed);
    file_close(x->file);
    x->file = NULL;
    for (size_t i = 0; i < x->c->count; i++) {
        char *path = path_join(x->inner, x->c->entries[i].name);
        if (path)
            (void)file_delete_below(x->folder, path);
        memory_free(path);
    }
    for (size_t i = 0; i < x->c->count; i++)
        remove_folders(x->inner, x->c->entries[i].name);
    (void)folder_delete(x->inner);
    return error_restore(&why);
}

/* Moves the entry's top-level file or folder. S_FALSE: that file or folder was already moved with another entry. */
static HRESULT move_first(const struct extraction *x, const char *from, const char *to, size_t entry)
{
    const char *name = x->c->entries[entry].name;
    char *in = first_path(from, name), *out = first_path(to, name);
    HRESULT hr = in && out ? file_find(in) : E_OUTOFMEMORY;
    if (hr == S_OK)
        hr = file_rename_new(in, out);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_EXISTS))
        hr = error_set(hr, "'%s' was created by another program (nothing is replaced)", out);
    memory_free(in);
    memory_free(out);
    return hr;
}

static HRESULT move_out(struct extraction *x)
{
    size_t done = 0;
    HRESULT hr = S_OK;
    while (done < x->c->count && SUCCEEDED(hr = move_first(x, x->inner, x->folder, done)))
        done++;
    if (SUCCEEDED(hr))
        hr = folder_delete(x->inner);
    if (SUCCEEDED(hr))
        return hr;
    const struct error_kept why = error_keep(hr);
    while (done--)
        (void)move_first(x, x->folder, x->inner, done);
    return error_restore(&why);
}

/* Sets the read-only attributes; ignores failures. This is the last step, because not every host OS can delete a
   read-only file. */
static void make_read_only(const struct extraction *x)
{
    for (size_t i = 0; i < x->c->count; i++) {
        struct file *f = NULL;
        struct file_traits traits;
        if (!(x->c->entries[i].attributes & FILE_TRAIT_READ_ONLY))
            continue;
        char *path = path_join(x->folder, x->c->entries[i].name);
        if (path && SUCCEEDED(file_open_below(x->folder, path, FILE_APPEND, &f)) &&
            SUCCEEDED(file_traits_of(f, &traits))) {
            traits.attributes |= FILE_TRAIT_READ_ONLY;
            (void)file_set_traits(f, &traits);
        }
        file_close(f);
        memory_free(path);
    }
}

/* Creates the subfolder with an unused name. A name with this process's id can exist, because a killed process leaves
   its subfolder behind and process ids are reused. */
static HRESULT make_inner(struct extraction *x)
{
    static atomic_uint extracted; /* distinguishes threads that extract into the same folder */
    HRESULT hr = S_OK;
    for (int tries = 0; hr == S_OK && tries < INNER_TRIES; tries++) {
        char name[64];
        snprintf(name, sizeof name, "~extract-%lu-%u.tmp", (unsigned long)process_own_id(),
                 atomic_fetch_add(&extracted, 1));
        memory_free(x->inner);
        x->inner = path_join(x->folder, name);
        hr = x->inner ? file_find(x->inner) : E_OUTOFMEMORY;
    }
    if (hr == S_OK)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_EXISTS), "'%s' already exists, as do all other temporary names",
                         x->inner);
    return SUCCEEDED(hr) ? folder_create_below(x->folder, x->inner) : hr;
}

static HRESULT extract_into(struct extraction *x, const struct cabinet_watch *watch)
{
    const struct cabinet_visitor visitor = {extract_begin, extract_bytes, extract_end, x};
    HRESULT hr = check_target(x);
    if (SUCCEEDED(hr))
        hr = make_inner(x);
    if (FAILED(hr))
        return hr;
    hr = cabinet_visit(x->c, &visitor, watch);
    if (SUCCEEDED(hr))
        hr = move_out(x);
    if (FAILED(hr))
        return extraction_undo(x, hr);
    make_read_only(x);
    return S_OK;
}

/* Counts the missing folders in the path `folder`: the folder itself and its parents. */
static HRESULT count_missing(const char *folder, size_t *missing)
{
    char *path = text_copy(folder);
    for (*missing = 0; path && *path && !folder_exists(path); ++*missing) {
        char *parent = path_folder(path);
        const bool root = parent && strlen(parent) == strlen(path);
        memory_free(path);
        path = parent;
        if (root)
            break;
    }
    const HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

/* Removes the last `made` folders in the path `folder`, innermost first. Preserves the thread's error text. */
static void remove_made(const char *folder, size_t made, HRESULT failed)
{
    const struct error_kept why = error_keep(failed);
    char *path = text_copy(folder);
    for (; path && made; made--) {
        (void)folder_delete(path);
        char *parent = path_folder(path);
        memory_free(path);
        path = parent;
    }
    memory_free(path);
    error_restore(&why);
}

HRESULT cabinet_extract_all(struct cabinet *c, const char *folder, const struct cabinet_watch *watch)
{
    struct extraction x = {.c = c, .folder = folder};
    size_t missing = 0;
    HRESULT hr = count_missing(folder, &missing);
    if (FAILED(hr))
        return hr;
    hr = folder_create(folder);
    if (SUCCEEDED(hr))
        hr = extract_into(&x, watch);
    if (FAILED(hr))
        remove_made(folder, missing, hr);
    memory_free(x.inner);
    memory_free(x.path);
    return hr;
}

HRESULT cabinet_extract(const char *path, const struct cabinet_limits *limits, const char *folder,
                        const struct cabinet_watch *watch)
{
    struct cabinet *c;
    struct cabinet_limits watched = limits ? *limits : cabinet_limits_usual;
    watched.watch = watched.watch ? watched.watch : watch;
    HRESULT hr = cabinet_open(path, &watched, &c);
    if (FAILED(hr))
        return hr;
    hr = cabinet_extract_all(c, folder, watch);
    cabinet_close(c);
    return hr;
}

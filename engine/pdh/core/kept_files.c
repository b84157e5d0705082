/* SPDX-License-Identifier: MIT */
/* Small files of the kernel behind handles that are kept, and folders that are listed now and then. */
#include "engine/pdh/core/kept_files.h"

#include "engine/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_AGAIN_MS 10000

struct kept_file {
    char *path;
    struct kernel_file *file;
    bool used;
};

/* Files are read in one order again and again, so the search begins behind the one that was read last. */
static struct kept_file *find(struct kept_files *k, const char *path)
{
    for (size_t i = 0; i < k->count; i++) {
        size_t at = (k->next + i) % k->count;
        if (!strcmp(k->files[at].path, path)) {
            k->next = at + 1;
            return &k->files[at];
        }
    }
    return NULL;
}

static void forget(struct kept_files *k, struct kept_file *f)
{
    kernel_file_close(f->file);
    memory_free(f->path);
    *f = k->files[--k->count];
}

static HRESULT read_new(struct kept_files *k, const char *path, const char **text, size_t *size)
{
    HRESULT hr = kernel_file_open(path, &k->spare);
    if (SUCCEEDED(hr))
        hr = kernel_file_read(k->spare, text, size);
    else
        k->spare = NULL;
    if (FAILED(hr) || k->count >= kernel_file_share())
        return hr;
    char *copy = text_copy(path);
    if (!copy || !memory_grow((void **)&k->files, &k->capacity, k->count + 1, sizeof *k->files)) {
        memory_free(copy);
        return E_OUTOFMEMORY;
    }
    k->files[k->count++] = (struct kept_file){copy, k->spare, true};
    k->next = k->count;
    k->spare = NULL;
    return hr;
}

HRESULT kept_files_text(struct kept_files *k, const char *path, const char **text, size_t *size)
{
    kernel_file_close(k->spare);
    k->spare = NULL;
    struct kept_file *f = find(k, path);
    if (f) {
        f->used = true;
        HRESULT hr = kernel_file_read(f->file, text, size);
        if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
            return hr;
        forget(k, f); /* the thing has gone; another may have come under its name */
    }
    return read_new(k, path, text, size);
}

HRESULT kept_files_number(struct kept_files *k, const char *path, int64_t *value)
{
    const char *text;
    size_t size;
    HRESULT hr = kept_files_text(k, path, &text, &size);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_FALSE;
    char *end;
    long long number = strtoll(text, &end, 10);
    *value = number;
    return end > text ? S_OK : S_FALSE;
}

void kept_files_sweep(struct kept_files *k)
{
    for (size_t i = k->count; i-- > 0;)
        if (!k->files[i].used)
            forget(k, &k->files[i]);
        else
            k->files[i].used = false;
}

void kept_files_close(struct kept_files *k)
{
    while (k->count)
        forget(k, &k->files[k->count - 1]);
    kernel_file_close(k->spare);
    memory_free(k->files);
    *k = (struct kept_files){0};
}

static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t length = strlen(x), other = strlen(y);
    /* "zone10" is behind "zone9". */
    return length != other ? (length < other ? -1 : 1) : strcmp(x, y);
}

HRESULT kept_folder_follow(struct kept_folder *k, const char *path, const char *prefix)
{
    struct texts all = {0};
    uint64_t now = clock_monotonic_ms();
    if (k->looked && clock_passed_ms(k->looked, now) < LOOK_AGAIN_MS)
        return S_OK;
    HRESULT hr = kernel_folder_names(path, &all);
    if (hr == E_OUTOFMEMORY) {
        texts_free(&all);
        return hr;
    }
    texts_free(&k->names);
    for (size_t i = 0; SUCCEEDED(hr) && i < all.count; i++)
        if (!strncmp(all.items[i], prefix, strlen(prefix)))
            hr = texts_add(&k->names, all.items[i]);
    texts_free(&all);
    if (k->names.count)
        qsort(k->names.items, k->names.count, sizeof *k->names.items, by_number);
    k->looked = hr == E_OUTOFMEMORY ? 0 : now | 1;
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

void kept_folder_close(struct kept_folder *k)
{
    texts_free(&k->names);
}

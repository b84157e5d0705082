/* SPDX-License-Identifier: MIT */
/* Kept for each namespace by those processes alone that commit for others, and brought up to date by what store_changes
   tells: a commit reads what has changed and not thousands of files. */
#include "engine/pla/store/owner_quota.h"

#include "engine/base/file_owner.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/quotas.h"
#include "engine/pla/store.h"
#include "engine/pla/store_name.h"
#include "engine/pla/stored_name.h"

#include <string.h>

/* Whose account cannot be told shares what one may have with all others of whom it cannot. */
#define UNKNOWN "(unknown)"

struct owned {
    char *file;  /* name of the definition's file, without its place */
    char *owner; /* borrowed from `owners` */
    uint64_t size;
};
static struct tally {
    const char *space;
    char *folder; /* another data folder has another tally */
    struct store_mark mark;
    struct owned *items; /* in the order of their files */
    size_t count, capacity;
    struct texts owners;
} tallies[8];
static struct host_lock lock = HOST_LOCK_INIT;

static void forget(struct tally *t)
{
    for (size_t i = 0; i < t->count; i++)
        memory_free(t->items[i].file);
    memory_free(t->items);
    texts_free(&t->owners);
    memory_free(t->folder);
    *t = (struct tally){.space = t->space};
}

static struct tally *tally_of(const char *space)
{
    size_t i = 0;
    while (tallies[i].space && tallies[i].space != space)
        i++;
    tallies[i].space = space;
    return &tallies[i];
}

/* Whose the definition is that lies there, "" for nobody's; from memory_alloc. S_FALSE, and NULL: there is none, or
   another account's. */
static HRESULT read_owner(const char *path, char **owner, uint64_t *size)
{
    struct file *f = NULL;
    char tail[STORED_LINE_MAX + 1];
    size_t got = 0;
    *owner = NULL;
    HRESULT hr = file_open(path, FILE_READ, &f);
    if (SUCCEEDED(hr))
        hr = file_check_owner(f); /* another account's says whose it is as it likes */
    if (SUCCEEDED(hr))
        hr = file_size(f, size);
    if (SUCCEEDED(hr)) {
        uint64_t from = *size > STORED_LINE_MAX ? *size - STORED_LINE_MAX : 0;
        hr = file_read_at(f, from, tail, STORED_LINE_MAX, &got);
    }
    file_close(f);
    if (set_file_is_missing(hr) || hr == E_ACCESSDENIED || (FAILED(hr) && folder_exists(path))) {
        error_clear();
        return S_FALSE;
    }
    if (FAILED(hr))
        return hr;
    tail[got] = 0;
    const char *found;
    stored_line_cut(tail, &got, &found);
    *owner = text_copy(found);
    return *owner ? S_OK : E_OUTOFMEMORY;
}

/* Where it is, or where it belongs. */
static size_t find(const struct tally *t, const char *file, bool *there)
{
    size_t low = 0, high = t->count;
    *there = false;
    while (low < high && !*there) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(t->items[middle].file, file);
        *there = !order;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

static HRESULT keep_owner(struct tally *t, const char *owner, char **kept)
{
    for (size_t i = 0; i < t->owners.count; i++)
        if (!strcmp(*kept = t->owners.items[i], owner))
            return S_OK;
    HRESULT hr = texts_add(&t->owners, owner);
    *kept = SUCCEEDED(hr) ? t->owners.items[t->owners.count - 1] : NULL;
    return hr;
}

static void take_out(struct tally *t, size_t at)
{
    memory_free(t->items[at].file);
    memmove(&t->items[at], &t->items[at + 1], (--t->count - at) * sizeof *t->items);
}

/* What the file is now: somebody's, or nothing that counts. */
static HRESULT look(struct tally *t, const char *path)
{
    struct owned now = {0};
    char *owner;
    bool there;
    HRESULT hr = read_owner(path, &owner, &now.size);
    size_t at = find(t, path_name(path), &there);
    if (FAILED(hr) && hr != E_OUTOFMEMORY) { /* it cannot be read now: who else commits need not wait for that */
        error_clear();
        return S_OK;
    }
    if (SUCCEEDED(hr) && (!owner || !*owner)) {
        if (there)
            take_out(t, at);
    } else if (SUCCEEDED(hr)) {
        hr = keep_owner(t, owner, &now.owner);
        if (SUCCEEDED(hr) && !there) {
            void *items = t->items;
            bool grown = memory_grow(&items, &t->capacity, t->count + 1, sizeof now);
            t->items = items;
            now.file = grown ? text_copy(path_name(path)) : NULL;
            hr = now.file ? S_OK : E_OUTOFMEMORY;
            if (SUCCEEDED(hr)) {
                memmove(&t->items[at + 1], &t->items[at], (t->count++ - at) * sizeof now);
                t->items[at] = now;
            }
        } else if (SUCCEEDED(hr)) {
            t->items[at].owner = now.owner;
            t->items[at].size = now.size;
        }
    }
    memory_free(owner);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT look_at_place(struct tally *t, const char *place)
{
    struct texts files = {0};
    HRESULT hr = folder_list(place, false, &files);
    for (size_t i = 0; SUCCEEDED(hr) && i < files.count; i++) {
        if (!text_equal_nocase(path_extension(files.items[i]), ".xml"))
            continue;
        char *path = path_join(place, files.items[i]);
        hr = path ? look(t, path) : E_OUTOFMEMORY;
        memory_free(path);
    }
    texts_free(&files);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

static HRESULT look_at_all(struct tally *t, const char *folder)
{
    struct texts places = {0};
    struct store_mark mark = t->mark;
    forget(t);
    t->mark = mark;
    t->folder = text_copy(folder);
    HRESULT hr = t->folder ? folder_list(folder, true, &places) : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < places.count; i++) {
        char *place = path_join(folder, places.items[i]);
        hr = place ? look_at_place(t, place) : E_OUTOFMEMORY;
        memory_free(place);
    }
    texts_free(&places);
    return hr;
}

static HRESULT look_at_changed(struct tally *t, const struct texts *names)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < names->count; i++) {
        struct set_file changed;
        hr = set_file_locate(t->space, names->items[i], &changed);
        if (SUCCEEDED(hr))
            hr = look(t, changed.definition);
        set_file_close(&changed);
    }
    return hr;
}

/* On failure the next look is at all of it. */
static HRESULT bring_up_to_date(struct tally *t, const struct set_file *at)
{
    struct texts names = {0};
    if (!t->folder || strcmp(t->folder, at->folder) != 0)
        forget(t);
    HRESULT hr = set_file_changes(at, &t->mark, &names);
    if (SUCCEEDED(hr))
        hr = hr == S_OK && t->folder ? look_at_changed(t, &names) : look_at_all(t, at->folder);
    texts_free(&names);
    if (FAILED(hr))
        forget(t);
    return hr;
}

static HRESULT check(const struct tally *t, const char *file, const char *owner, size_t size)
{
    uint64_t sets = 1, bytes = size, before = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct owned *o = &t->items[i];
        if (strcmp(o->owner, owner) != 0)
            continue;
        if (!strcmp(o->file, file)) {
            before = o->size;
            continue;
        }
        sets++;
        bytes += o->size;
    }
    if (!before && sets > quota_limit(QUOTA_sets))
        return quota_exceeded(QUOTA_sets, owner);
    return size > before && bytes > quota_limit(QUOTA_bytes) ? quota_exceeded(QUOTA_bytes, owner) : S_OK;
}

HRESULT owner_quota_check(const struct set_file *at, const struct caller *caller, size_t size, char **owner)
{
    char *account = NULL;
    uint64_t before;
    HRESULT hr = read_owner(at->definition, owner, &before);
    if (SUCCEEDED(hr) && (!*owner || !**owner)) {
        memory_free(*owner);
        account = caller->in_process ? text_copy("") : caller_account(caller);
        *owner = account && !caller->in_process && !stored_owner_fits(account) ? text_copy(UNKNOWN) : account;
        if (*owner != account)
            memory_free(account);
        hr = *owner ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && !caller->in_process) {
        host_lock_enter(&lock);
        struct tally *t = tally_of(at->space);
        hr = bring_up_to_date(t, at);
        if (SUCCEEDED(hr))
            hr = check(t, path_name(at->definition), *owner, size);
        host_lock_leave(&lock);
    }
    if (FAILED(hr)) {
        memory_free(*owner);
        *owner = NULL;
    }
    return FAILED(hr) ? hr : S_OK;
}

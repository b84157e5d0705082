/* SPDX-License-Identifier: MIT */
/* The cache of definitions. It has one list per place; a reader takes the list out, updates it and returns it. */
#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/store/set_file.h"

#include <stdlib.h>
#include <string.h>

/* In units of 100 ns. File times can have a resolution of 2 s. If a file is read less than 2 s after it was written, a
   further change might not change its stamp. */
#define SETTLED_AFTER (2 * INT64_C(10000000))
#define KEPT_MOST     (64u << 20) /* maximum bytes of cached definitions; others are read each time */

struct kept_place {
    char *path;
    struct kept_definitions definitions;
    size_t bytes;
};

static struct {
    struct lock lock;
    bool wanted;
    struct kept_place *places;
    size_t count, capacity, bytes;
} kept = {.lock = LOCK_INIT};

static void definitions_free(struct kept_definitions *d)
{
    for (size_t i = 0; i < d->count; i++) {
        stored_set_free(&d->items[i].set);
        memory_free(d->items[i].entry);
    }
    memory_free(d->items);
    *d = (struct kept_definitions){0};
}

/* Returns the list of a place; NULL: nothing is cached. Call it under the lock. */
static struct kept_place *find_place(const char *path)
{
    for (size_t i = 0; i < kept.count; i++)
        if (!strcmp(kept.places[i].path, path))
            return &kept.places[i];
    return NULL;
}

static struct kept_definitions take_out(const char *path)
{
    struct kept_definitions out = {0};
    lock_enter(&kept.lock);
    struct kept_place *place = find_place(path);
    if (place) {
        out = place->definitions;
        place->definitions = (struct kept_definitions){0};
        assert(kept.bytes >= place->bytes);
        kept.bytes -= place->bytes;
        place->bytes = 0;
    }
    lock_leave(&kept.lock);
    return out;
}

/* ---- reading ---- */

struct seen_files {
    int64_t begun;
    see_file *also;
    void *user;
    struct kept_definitions files; /* without contents */
};

static HRESULT add_seen(void *user, const struct file_entry *file)
{
    struct seen_files *seen = user;
    struct kept_definitions *f = &seen->files;
    void *items = f->items;
    HRESULT hr = seen->also ? seen->also(seen->user, file) : S_OK;
    if (FAILED(hr) || !text_equal_nocase(path_extension(file->name), ".xml"))
        return hr;
    char *entry = text_copy(file->name);
    bool grown = entry && memory_grow(&items, &f->capacity, f->count + 1, sizeof *f->items);
    f->items = items;
    if (!grown) {
        memory_free(entry);
        return E_OUTOFMEMORY;
    }
    f->items[f->count++] = (struct kept_definition){
        .entry = entry, .settled = seen->begun - file->written > SETTLED_AFTER, .set.stamp = file->stamp};
    return S_OK;
}

static int by_entry(const void *a, const void *b)
{
    return strcmp(((const struct kept_definition *)a)->entry, ((const struct kept_definition *)b)->entry);
}

static HRESULT read_one(const char *place, struct kept_definition *d)
{
    uint64_t stamp = d->set.stamp;
    HRESULT hr = stored_set_read(place, d->entry, &d->set);
    d->set.stamp = stamp;
    d->settled = d->settled && d->set.xml;
    return hr;
}

HRESULT kept_definitions_read(const char *place, see_file *also, void *user, struct kept_definitions *out)
{
    struct seen_files seen = {clock_utc(), also, user, {0}};
    HRESULT hr = folder_each_file(place, add_seen, &seen);
    struct kept_definitions old = take_out(place);
    if (seen.files.count)
        qsort(seen.files.items, seen.files.count, sizeof *seen.files.items, by_entry);
    for (size_t i = 0, at = 0; SUCCEEDED(hr) && i < seen.files.count; i++) {
        struct kept_definition *d = &seen.files.items[i];
        while (at < old.count && by_entry(&old.items[at], d) < 0)
            at++;
        bool same = at < old.count && !by_entry(&old.items[at], d) && old.items[at].settled &&
                    old.items[at].set.stamp == d->set.stamp;
        if (same) {
            d->set = old.items[at].set;
            old.items[at].set = (struct stored_set){0};
        } else {
            hr = read_one(place, d);
        }
    }
    definitions_free(&old);
    *out = seen.files;
    return hr;
}

/* ---- keeping ---- */

static size_t bytes_of(const struct kept_definitions *d)
{
    size_t bytes = d->capacity * sizeof *d->items;
    for (size_t i = 0; i < d->count; i++)
        bytes += d->items[i].set.size + 2 * strlen(d->items[i].entry) + strlen(d->items[i].set.name) +
                 (d->items[i].set.security ? strlen(d->items[i].set.security) + 1 : 0);
    return bytes;
}

/* Creates the list of a place. Call it under the lock. NULL: out of memory. */
static struct kept_place *make_place(const char *path)
{
    void *places = kept.places;
    char *own = text_copy(path);
    bool grown = own && memory_grow(&places, &kept.capacity, kept.count + 1, sizeof *kept.places);
    kept.places = places;
    if (!grown) {
        memory_free(own);
        return NULL;
    }
    kept.places[kept.count] = (struct kept_place){.path = own};
    return &kept.places[kept.count++];
}

void kept_definitions_keep(const char *path, struct kept_definitions *read)
{
    struct kept_definitions old = {0};
    bool whole = true;
    for (size_t i = 0; whole && i < read->count; i++)
        whole = read->items[i].set.name != NULL;
    lock_enter(&kept.lock);
    size_t bytes = kept.wanted && whole && read->count ? bytes_of(read) : 0;
    if (bytes && bytes <= KEPT_MOST - kept.bytes) {
        struct kept_place *place = find_place(path);
        if (!place)
            place = make_place(path);
        if (place) { /* another reader may have stored a list here in the meantime */
            old = place->definitions;
            kept.bytes += bytes - place->bytes;
            assert(kept.bytes <= KEPT_MOST);
            place->bytes = bytes;
            place->definitions = *read;
            *read = (struct kept_definitions){0};
        }
    }
    lock_leave(&kept.lock);
    definitions_free(&old);
    definitions_free(read);
}

bool kept_definitions_wanted(void)
{
    lock_enter(&kept.lock);
    bool wanted = kept.wanted;
    lock_leave(&kept.lock);
    return wanted;
}

void store_keep_definitions(bool keep)
{
    lock_enter(&kept.lock);
    kept.wanted = keep;
    for (size_t i = 0; !keep && i < kept.count; i++) {
        definitions_free(&kept.places[i].definitions);
        memory_free(kept.places[i].path);
    }
    if (!keep) {
        memory_free(kept.places);
        kept.places = NULL;
        kept.count = kept.capacity = kept.bytes = 0;
    }
    lock_leave(&kept.lock);
}

/* ---- single definitions ---- */

HRESULT stored_set_copy(const struct stored_set *from, struct stored_set *out)
{
    *out = (struct stored_set){.size = from->size, .stamp = from->stamp, .sound = from->sound};
    out->name = text_copy(from->name);
    out->file = text_copy(from->file);
    out->xml = from->xml ? memory_alloc(from->size + 1) : NULL;
    out->security = from->security ? text_copy(from->security) : NULL;
    if (!out->name || !out->file || (from->xml && !out->xml) || (from->security && !out->security)) {
        stored_set_free(out);
        *out = (struct stored_set){0};
        return E_OUTOFMEMORY;
    }
    if (out->xml) {
        memcpy(out->xml, from->xml, from->size);
        out->xml[from->size] = 0;
    }
    return S_OK;
}

/* Returns the cached set; NULL: not cached. Call it under the lock. */
static struct stored_set *find_set(const char *path, const char *file, uint64_t stamp)
{
    struct kept_place *place = find_place(path);
    for (size_t i = 0; place && i < place->definitions.count; i++) {
        struct kept_definition *d = &place->definitions.items[i];
        if (d->settled && d->set.stamp == stamp && !strcmp(d->set.file, file))
            return &d->set;
    }
    return NULL;
}

HRESULT kept_definitions_find(const char *place, const char *file, uint64_t stamp, struct stored_set *out)
{
    HRESULT hr = S_FALSE;
    lock_enter(&kept.lock);
    const struct stored_set *found = find_set(place, file, stamp);
    if (found)
        hr = stored_set_copy(found, out);
    lock_leave(&kept.lock);
    return hr;
}

void store_note_sound(const char *space, const struct stored_set *set)
{
    char *folder = set->stamp && kept_definitions_wanted() ? store_folder(space) : NULL;
    char *place = folder ? set_file_place(folder, set->file) : NULL;
    if (place) {
        lock_enter(&kept.lock);
        struct stored_set *found = find_set(place, set->file, set->stamp);
        if (found)
            found->sound = true;
        lock_leave(&kept.lock);
    }
    memory_free(place);
    memory_free(folder);
}

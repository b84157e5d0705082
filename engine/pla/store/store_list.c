/* SPDX-License-Identifier: MIT */
/* Lists all sets of a namespace: their definitions, and the stamps that show changes. Also maintains store.changes, a
   file with the names of the sets that were written. The lock is taken for one place at a time, so that no process
   waits long for it. */
#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/text.h"
#include "engine/pla/store.h"
#include "engine/pla/store/set_file.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

typedef HRESULT visit_place(const char *place, void *user);

static bool is_place(const char *name)
{
    return strlen(name) == 2 && strspn(name, "0123456789abcdef") == 2;
}

static HRESULT list_places(const char *space, struct texts *places)
{
    struct set_file at;
    uint64_t left;
    HRESULT hr = set_file_open(space, NULL, SET_FILE_READ, &at);
    if (hr == S_OK)
        hr = set_file_adopt_all(&at, &left);
    if (hr == S_OK)
        hr = folder_list(at.folder, true, places);
    set_file_close(&at);
    return hr;
}

/* Serializes the full scans of this process, for example those of the supervisor and of a client's list when the
   service starts. Competing for the store's lock would be slow, because each attempt to take it waits some
   milliseconds. */
static struct lock looking = LOCK_INIT;

static HRESULT each_place(const char *space, visit_place *visit, void *user)
{
    struct texts places = {0};
    HRESULT hr = list_places(space, &places);
    for (size_t i = 0; hr == S_OK && i < places.count; i++) {
        struct set_file at;
        if (!is_place(places.items[i]))
            continue;
        lock_enter(&looking);
        hr = set_file_open(space, NULL, SET_FILE_READ, &at);
        char *place = hr == S_OK ? path_join(at.folder, places.items[i]) : NULL;
        if (hr == S_OK)
            hr = place ? visit(place, user) : E_OUTOFMEMORY;
        memory_free(place);
        set_file_close(&at);
        lock_leave(&looking);
    }
    texts_free(&places);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- definitions ---- */

HRESULT stored_set_read(const char *folder, const char *file, struct stored_set *out)
{
    char *path = path_join(folder, file), *base = text_copy_n(file, strlen(file) - strlen(".xml"));
    char *inside = NULL, *expected = NULL;
    HRESULT hr = path && base ? file_load_trusted(path, DEFINITION_MAX, &out->xml, &out->size) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (inside = stored_name_cut(out->xml, &out->size))) {
        expected = store_file_name(inside);
        if (!expected)
            hr = E_OUTOFMEMORY;
        else if (!text_equal_nocase(expected, base))
            inside = NULL; /* the file is a renamed copy */
    }
    if (hr != E_OUTOFMEMORY && out->xml) {
        const char *security = stored_security_cut(out->xml, &out->size, true);
        out->security = security ? text_copy(security) : NULL;
        if (security && !out->security)
            hr = E_OUTOFMEMORY;
        out->sound = out->security; /* the line contains the hash of the XML, and is only written after valid XML */
    }
    if (hr != E_OUTOFMEMORY)
        out->name = inside ? text_copy(inside) : store_name_of_file(base);
    out->file = base;
    memory_free(expected);
    memory_free(path);
    return out->name ? S_OK : E_OUTOFMEMORY;
}

void stored_set_free(struct stored_set *set)
{
    memory_free(set->name);
    memory_free(set->file);
    memory_free(set->xml);
    memory_free(set->security);
}

void stored_sets_free(struct stored_sets *sets)
{
    for (size_t i = 0; i < sets->count; i++)
        stored_set_free(&sets->items[i]);
    memory_free(sets->items);
    *sets = (struct stored_sets){0};
}

struct matching {
    const char *pattern;
    struct set_visibility sight;
    struct stored_sets found;
};

static HRESULT add_match(struct matching *m, struct stored_set *set)
{
    void *items = m->found.items;
    bool grown = memory_grow(&items, &m->found.capacity, m->found.count + 1, sizeof *set) != 0;
    m->found.items = items;
    if (!grown)
        return E_OUTOFMEMORY;
    m->found.items[m->found.count++] = *set;
    *set = (struct stored_set){0};
    return S_OK;
}

static HRESULT read_place(const char *place, void *user)
{
    struct matching *m = user;
    struct kept_definitions here;
    bool kept = kept_definitions_wanted();
    HRESULT hr = kept_definitions_read(place, NULL, NULL, &here);
    for (size_t i = 0; SUCCEEDED(hr) && i < here.count; i++) {
        struct stored_set copy = {0}, *set = kept ? &copy : &here.items[i].set;
        bool seen = text_matches(m->pattern, here.items[i].set.name);
        if (seen)
            hr = set_visibility_check(&m->sight, &here.items[i].set, &seen);
        if (FAILED(hr) || !seen)
            continue;
        if (kept)
            hr = stored_set_copy(&here.items[i].set, &copy);
        if (SUCCEEDED(hr))
            hr = add_match(m, set);
        stored_set_free(&copy);
    }
    kept_definitions_keep(place, &here);
    return hr;
}

static int by_file(const void *a, const void *b)
{
    return strcmp(((const struct stored_set *)a)->file, ((const struct stored_set *)b)->file);
}

/* Reads the only set that a pattern without wildcards can match. */
static HRESULT load_one(const char *space, const char *name, struct matching *m)
{
    struct set_file at;
    HRESULT hr = set_file_open(space, name, SET_FILE_READ, &at);
    struct stored_set set = {0};
    if (hr == S_OK && (hr = file_find(at.definition)) == S_OK) {
        if (file_exists(at.definition)) {
            hr = stored_set_read(at.place, path_name(at.definition), &set);
        } else { /* a folder has the definition's name, so the client gets an error */
            set = (struct stored_set){.name = text_copy(name), .file = text_copy("")};
            hr = set.name && set.file ? S_OK : E_OUTOFMEMORY;
        }
        bool seen = false;
        if (SUCCEEDED(hr))
            hr = set_visibility_check(&m->sight, &set, &seen);
        if (SUCCEEDED(hr) && seen)
            hr = add_match(m, &set);
        stored_set_free(&set);
    }
    set_file_close(&at);
    return hr;
}

HRESULT store_load_matching(const struct caller *caller, const char *space, const char *pattern,
                            struct stored_sets *out)
{
    struct matching m = {.pattern = pattern};
    HRESULT hr = set_visibility_open(caller, space, &m.sight);
    if (SUCCEEDED(hr))
        hr = strpbrk(pattern, "*?") ? each_place(space, read_place, &m) : load_one(space, pattern, &m);
    set_visibility_close(&m.sight);
    if (FAILED(hr))
        stored_sets_free(&m.found);
    else if (m.found.count)
        qsort(m.found.items, m.found.count, sizeof *m.found.items, by_file);
    *out = m.found;
    return FAILED(hr) ? hr : S_OK;
}

HRESULT store_list(const struct caller *caller, const char *space, struct texts *names)
{
    struct stored_sets sets;
    struct texts found = {0};
    HRESULT hr = store_load_matching(caller, space, "*", &sets);
    for (size_t i = 0; SUCCEEDED(hr) && i < sets.count; i++)
        hr = texts_add(&found, sets.items[i].name);
    stored_sets_free(&sets);
    if (FAILED(hr)) {
        texts_free(&found);
        return hr;
    }
    texts_free(names);
    *names = found;
    return S_OK;
}

HRESULT store_read_in(const char *space, const struct stored_stamp *stamp, struct stored_set *out)
{
    struct set_file at = {0};
    char *own = text_format("%s.xml", stamp->file), *place = NULL;
    *out = (struct stored_set){0};
    HRESULT hr = own ? set_file_locate(space, NULL, &at) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        place = set_file_place(at.folder, stamp->file);
        hr = place ? kept_definitions_find(place, stamp->file, stamp->stamp, out) : E_OUTOFMEMORY;
    }
    set_file_close(&at);
    if (hr == S_FALSE && (hr = set_file_open(space, NULL, SET_FILE_READ, &at)) == S_OK) {
        hr = stored_set_read(place, own, out);
        set_file_close(&at);
    }
    memory_free(place);
    memory_free(own);
    return hr;
}

HRESULT store_name_in(const char *space, const struct stored_stamp *stamp, char **name)
{
    struct stored_set set;
    HRESULT hr = store_read_in(space, stamp, &set);
    *name = NULL;
    if (hr == S_OK) {
        *name = set.name;
        set.name = NULL;
    }
    stored_set_free(&set);
    return hr;
}

static HRESULT add_foreign(const char *folder, const char *file, struct texts *out)
{
    char *path = path_join(folder, file);
    HRESULT hr = path ? set_file_check_owner(path) : E_OUTOFMEMORY;
    if (hr == E_ACCESSDENIED) {
        struct error_kept why = error_keep(hr);
        hr = texts_add(out, path);
        if (SUCCEEDED(hr))
            hr = texts_add(out, why.text);
    }
    memory_free(path);
    return hr;
}

HRESULT store_list_foreign(const char *space, struct texts *out)
{
    struct set_file at;
    struct texts files = {0};
    *out = (struct texts){0};
    HRESULT hr = set_file_open(space, NULL, SET_FILE_READ, &at);
    if (hr == S_OK)
        hr = folder_list(at.folder, false, &files);
    for (size_t i = 0; hr == S_OK && i < files.count; i++)
        if (text_equal_nocase(path_extension(files.items[i]), ".xml"))
            hr = add_foreign(at.folder, files.items[i], out);
    set_file_close(&at);
    texts_free(&files);
    if (FAILED(hr))
        texts_free(out);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- stamps ---- */

struct stamping {
    struct stored_stamps *stamps;
    bool torn; /* there are temporary files of killed writers */
};

static HRESULT add_stamp(struct stored_stamps *stamps, const struct file_entry *seen)
{
    const char *name = seen->name, *extension = path_extension(name);
    void *items = stamps->items;
    bool definition = text_equal_nocase(extension, ".xml"), lock = !strcmp(extension, ".running");
    if (!definition && !lock && strcmp(extension, ".run") != 0)
        return S_OK;
    char *file = text_copy_n(name, strlen(name) - strlen(extension));
    if (!file || !memory_grow(&items, &stamps->capacity, stamps->count + 1, sizeof *stamps->items)) {
        memory_free(file);
        return E_OUTOFMEMORY;
    }
    stamps->items = items;
    stamps->items[stamps->count++] = (struct stored_stamp){.file = file,
                                                           .stamp = lock ? 0 : seen->stamp,
                                                           .of_file = seen->stamp,
                                                           .definition = definition,
                                                           .has_run = lock,
                                                           .has_record = !definition && !lock};
    return S_OK;
}

static HRESULT stamp_file(void *user, const struct file_entry *seen)
{
    struct stamping *s = user;
    s->torn = s->torn || set_file_is_torn(seen->name);
    return add_stamp(s->stamps, seen);
}

/* Collects the stamps of a place. A process that caches definitions needs the changed definitions next, so this
   function already reads these definitions while the lock is held. */
static HRESULT stamp_place(const char *place, void *user)
{
    struct stamping s = {user, false};
    struct kept_definitions here = {0};
    HRESULT hr = kept_definitions_wanted() ? kept_definitions_read(place, stamp_file, &s, &here)
                                           : folder_each_file(place, stamp_file, &s);
    if (s.torn)
        set_file_remove_torn(place);
    kept_definitions_keep(place, &here);
    return hr;
}

static int by_stamped_file(const void *a, const void *b)
{
    const struct stored_stamp *left = a, *right = b;
    int order = strcmp(left->file, right->file);
    return order ? order : (int)right->definition - (int)left->definition;
}

/* Merges the stamps of a definition and its record. */
static void stamps_merge(struct stored_stamps *stamps)
{
    size_t kept = 0;
    for (size_t i = 0; i < stamps->count; i++) {
        struct stored_stamp *s = &stamps->items[i], *last = kept ? &stamps->items[kept - 1] : NULL;
        if (s->definition) {
            stamps->items[kept++] = *s;
            continue;
        }
        if (last && !strcmp(last->file, s->file)) {
            last->has_run = last->has_run || s->has_run;
            last->has_record = last->has_record || s->has_record;
            last->stamp = s->has_run ? last->stamp : hash_number(last->stamp, s->stamp);
        }
        memory_free(s->file);
    }
    stamps->count = kept;
}

HRESULT store_list_stamps(const char *space, struct stored_stamps *out)
{
    struct stored_stamps found = {0};
    HRESULT hr = each_place(space, stamp_place, &found);
    *out = (struct stored_stamps){0};
    if (FAILED(hr)) {
        stored_stamps_free(&found);
        return hr;
    }
    if (found.count)
        qsort(found.items, found.count, sizeof *found.items, by_stamped_file);
    stamps_merge(&found);
    *out = found;
    return S_OK;
}

void stored_stamps_free(struct stored_stamps *stamps)
{
    for (size_t i = 0; i < stamps->count; i++)
        memory_free(stamps->items[i].file);
    memory_free(stamps->items);
    *stamps = (struct stored_stamps){0};
}

/* ---- host processes ---- */

static HRESULT add_hosts(const char *place, struct texts *files)
{
    struct texts names = {0};
    HRESULT hr = folder_list(place, false, &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++) {
        const char *name = names.items[i], *extension = path_extension(name);
        if (!strcmp(extension, ".host"))
            hr = texts_add_owned(files, text_copy_n(name, strlen(name) - strlen(extension)));
    }
    texts_free(&names);
    return set_file_is_missing(hr) ? S_OK : hr;
}

HRESULT store_list_hosts(const char *space, struct texts *files)
{
    struct texts places = {0};
    char *folder = store_folder(space);
    *files = (struct texts){0};
    HRESULT hr = folder ? folder_list(folder, true, &places) : E_OUTOFMEMORY;
    hr = set_file_is_missing(hr) ? S_OK : hr;
    for (size_t i = 0; SUCCEEDED(hr) && i < places.count; i++) {
        char *place = is_place(places.items[i]) ? path_join(folder, places.items[i]) : NULL;
        if (place)
            hr = add_hosts(place, files);
        else if (is_place(places.items[i]))
            hr = E_OUTOFMEMORY;
        memory_free(place);
    }
    texts_free(&places);
    memory_free(folder);
    if (FAILED(hr))
        texts_free(files);
    return hr;
}

/* ---- changes ---- */

/* When a set is written, its name is appended to a file in the namespace's folder. A process that watches thousands of
   sets therefore needs to read only the written sets again. When the file becomes too long, it is emptied and gets a
   new first line. */

#define CHANGES_FILE "store.changes"
#define CHANGES_MAX  16384 /* bytes */

/* Records a change. If this fails, the next full scan finds the change. */
void set_file_note_change(const struct set_file *at)
{
    assert(at->name);
    struct text_buffer b = {0};
    struct file *f = NULL;
    uint64_t size = 0;
    char *path = path_join(at->folder, CHANGES_FILE);
    HRESULT hr = path ? file_open_as(path, FILE_APPEND, PROTECTION_MEMBERS_FILE, &f) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_size(f, &size);
    if (SUCCEEDED(hr) && size > CHANGES_MAX) {
        hr = file_set_size(f, 0);
        size = 0;
    }
    if (!size)
        text_buffer_format(&b, "%" PRId64 "-%u\n", clock_utc(), (unsigned)process_own_id());
    text_buffer_add_escaped(&b, at->name);
    text_buffer_add(&b, "\n");
    if (SUCCEEDED(hr) && !b.failed)
        hr = file_write_at(f, size, b.text, b.length);
    if (FAILED(hr))
        error_clear();
    file_close(f);
    text_buffer_free(&b);
    memory_free(path);
}

void set_file_forget_changes(const struct set_file *at)
{
    char *path = path_join(at->folder, CHANGES_FILE);
    if (path && FAILED(file_delete(path)))
        error_clear();
    memory_free(path);
}

/* Reads the names after the mark and moves the mark to the end. S_FALSE: the mark is not from this file. */
static HRESULT take_changes(char *text, size_t size, struct store_mark *mark, struct texts *names)
{
    const char *end = memchr(text, '\n', size);
    size_t first = end ? (size_t)(end - text) + 1 : 0;
    bool goes_on = first && mark->size >= first && mark->size <= size && first < sizeof mark->first &&
                   strlen(mark->first) == first && !memcmp(mark->first, text, first);
    HRESULT hr = S_OK;
    size_t at = goes_on ? mark->size : size;
    while (SUCCEEDED(hr) && at < size) {
        char *line = text + at, *behind = memchr(line, '\n', size - at);
        if (!behind)
            break;
        *behind = 0;
        at += (size_t)(behind - line) + 1;
        if (text_unescape(line))
            hr = texts_add(names, line);
    }
    if (FAILED(hr))
        return hr;
    mark->size = at;
    memset(mark->first, 0, sizeof mark->first);
    if (first && first < sizeof mark->first)
        memcpy(mark->first, text, first);
    return goes_on ? S_OK : S_FALSE;
}

HRESULT set_file_changes(const struct set_file *at, struct store_mark *mark, struct texts *names)
{
    struct texts found = {0};
    char *path = path_join(at->folder, CHANGES_FILE), *text = NULL;
    size_t size = 0;
    HRESULT hr = path ? file_load(path, 4 * CHANGES_MAX, &text, &size) : E_OUTOFMEMORY;
    if (set_file_is_missing(hr)) {
        *mark = (struct store_mark){0};
        hr = S_FALSE;
    } else if (text && SUCCEEDED(hr)) {
        hr = take_changes(text, size, mark, &found);
    } else if (hr == HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE)) { /* not written by OpenPLA: start a new file */
        file_delete(path);
        hr = S_FALSE;
    }
    memory_free(text);
    memory_free(path);
    if (hr != S_OK) {
        texts_free(&found);
        return hr;
    }
    texts_free(names);
    *names = found;
    return S_OK;
}

HRESULT store_changes(const char *space, struct store_mark *mark, struct texts *names)
{
    struct set_file at;
    uint64_t left = 0;
    HRESULT hr = set_file_open(space, NULL, SET_FILE_READ, &at);
    if (hr != S_OK) {
        *mark = (struct store_mark){0};
        return hr == E_OUTOFMEMORY ? hr : S_FALSE;
    }
    if (SUCCEEDED(hr))
        hr = set_file_adopt_all(&at, &left);
    if (SUCCEEDED(hr))
        hr = set_file_changes(&at, mark, names);
    mark->left = left;
    set_file_close(&at);
    return hr;
}

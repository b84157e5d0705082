/* SPDX-License-Identifier: MIT */
/* Builds the paths of a set's files, takes the lock of its namespace, and moves definitions to their places. */
#include "engine/pla/store/set_file.h"

#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/pla/store.h"

#include <stdio.h>
#include <string.h>

#define LOCK_FILE     "store.lock" /* no file of a set has this extension */
#define LOCK_PATIENCE 10000        /* longest wait in ms; processes hold the lock for some milliseconds only */

char *store_folder(const char *space)
{
    char *data = os_data_folder(), *sets = data ? path_join(data, "sets") : NULL;
    char *folder = sets ? path_join(sets, space) : NULL;
    memory_free(sets);
    memory_free(data);
    return folder;
}

static char *with_suffix(const char *folder, const char *file, const char *suffix)
{
    char *name = text_format("%s%s", file, suffix), *path = name ? path_join(folder, name) : NULL;
    memory_free(name);
    return path;
}

/* Under Wine, finding out that a name is missing reads the whole folder, so thousands of files in one folder would slow
   every commit. */
char *set_file_place(const char *folder, const char *file)
{
    char place[3];
    uint64_t hash = hash_text(HASH_START, file);
    snprintf(place, sizeof place, "%02x", (unsigned)(hash >> 56));
    return path_join(folder, place);
}

HRESULT set_file_locate(const char *space, const char *name, struct set_file *out)
{
    struct set_file at = {.found = E_FAIL};
    char *file = NULL;
    HRESULT hr = store_find_namespace(space, &at.space);
    *out = (struct set_file){0};
    if (FAILED(hr))
        return hr;
    at.folder = store_folder(at.space);
    if (name && at.folder)
        file = store_file_name(name);
    if (file) {
        at.name = text_copy(name);
        at.place = set_file_place(at.folder, file);
    }
    if (at.place) {
        at.definition = with_suffix(at.place, file, ".xml");
        at.run = with_suffix(at.place, file, ".run");
        at.run_lock = with_suffix(at.place, file, ".running");
        at.host = with_suffix(at.place, file, ".host");
        at.held = with_suffix(at.place, file, ".held");
        at.folders = with_suffix(at.place, file, ".folders");
        at.pass = with_suffix(at.place, file, ".pass");
    }
    memory_free(file);
    if (!at.folder || (name && (!at.name || !at.definition || !at.run || !at.run_lock || !at.host || !at.held ||
                                !at.folders || !at.pass))) {
        set_file_close(&at);
        return E_OUTOFMEMORY;
    }
    *out = at;
    return S_OK;
}

void set_file_unlock(struct set_file *at)
{
    file_lock_release(at->lock);
    at->lock = NULL;
    at->found = E_FAIL;
}

void set_file_close(struct set_file *at)
{
    set_file_unlock(at);
    memory_free(at->name);
    memory_free(at->folder);
    memory_free(at->place);
    memory_free(at->definition);
    memory_free(at->run);
    memory_free(at->run_lock);
    memory_free(at->host);
    memory_free(at->held);
    memory_free(at->folders);
    memory_free(at->pass);
    *at = (struct set_file){0};
}

bool set_file_is_missing(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
}

static HRESULT set_file_take_lock(struct set_file *at, enum set_file_use use)
{
    char *path = path_join(at->folder, LOCK_FILE);
    HRESULT hr = path ? folder_check_own(at->folder) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        memory_free(path);
        return hr;
    }
    hr = file_lock_take_as(path, PROTECTION_MEMBERS_FILE, LOCK_PATIENCE, &at->lock);
    if (use == SET_FILE_CREATE && set_file_is_missing(hr)) {
        hr = folder_create_protected(at->folder, PROTECTION_DATA);
        if (SUCCEEDED(hr))
            hr = file_lock_take_as(path, PROTECTION_MEMBERS_FILE, LOCK_PATIENCE, &at->lock);
    }
    memory_free(path);
    if (use == SET_FILE_READ && (hr == E_ACCESSDENIED || hr == HRESULT_FROM_WIN32(ERROR_WRITE_PROTECT)))
        return S_OK;
    return use != SET_FILE_CREATE && set_file_is_missing(hr) ? S_FALSE : hr;
}

HRESULT set_file_lock(struct set_file *at)
{
    assert(!at->lock);
    return set_file_take_lock(at, SET_FILE_CREATE);
}

/* Returns whether the text ends as a definition must end. An unfinished copy does not. */
static bool has_its_end(const char *xml, size_t size)
{
    static const char end[] = "DataCollectorSet>"; /* preceded by "</" and perhaps a prefix */
    const size_t n = sizeof end - 1;
    while (size && strchr(" \t\r\n", xml[size - 1]))
        size--;
    return size >= n && !memcmp(xml + size - n, end, n);
}

/* Adds the set's name to a definition without one, because the file name does not contain its case. If this fails, the
   definition is unchanged. */
static HRESULT add_name(const char *definition, const char *name)
{
    struct text_buffer b = {0};
    char *xml = NULL;
    size_t size = 0;
    /* Only a trusted file is rewritten, because rewriting a file makes this process's account the owner. */
    HRESULT hr = file_load_trusted(definition, DEFINITION_MAX, &xml, &size);
    if (SUCCEEDED(hr) && strlen(xml) == size && !stored_name_cut(xml, &size) && has_its_end(xml, size)) {
        text_buffer_add_n(&b, xml, size);
        stored_name_add(&b, name, "");
        hr = b.failed ? E_OUTOFMEMORY : file_store(definition, b.text, b.length);
    }
    text_buffer_free(&b);
    memory_free(xml);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

HRESULT store_complete_name(const char *space, const char *name)
{
    struct set_file at;
    HRESULT hr = set_file_open(space, name, SET_FILE_CHANGE, &at);
    if (hr == S_OK)
        hr = add_name(at.definition, name);
    set_file_close(&at);
    return FAILED(hr) ? hr : S_OK;
}

/* Removes a run lock from an old version of OpenPLA, which kept all sets in one folder. Does nothing if a host process
   holds the lock. */
static void remove_old_lock(const char *path)
{
    struct file_lock *running = NULL;
    if (file_exists(path) && SUCCEEDED(file_lock_take(path, 0, &running)))
        file_delete(path);
    file_lock_release(running);
}

HRESULT set_file_check_owner(const char *path)
{
    char *text;
    size_t size;
    HRESULT hr = file_load_trusted(path, DEFINITION_MAX, &text, &size);
    memory_free(text);
    return hr == E_ACCESSDENIED || hr == E_OUTOFMEMORY ? hr : S_OK;
}

HRESULT set_file_adopt(const struct set_file *at, const char *file)
{
    struct set_file to = {0};
    struct stored_set set = {0};
    HRESULT hr = stored_set_read(at->folder, file, &set);
    char *from = path_join(at->folder, file), *run = NULL, *run_lock = NULL;
    if (SUCCEEDED(hr) && !set.xml) /* the file of an unknown account must not replace a definition */
        hr = from ? set_file_check_owner(from) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        run = with_suffix(at->folder, set.file, ".run");
        run_lock = with_suffix(at->folder, set.file, ".running");
        hr = from && run && run_lock ? set_file_locate(at->space, set.name, &to) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = folder_create_protected(to.place, PROTECTION_PLACE);
    if (SUCCEEDED(hr) && file_exists(run))
        hr = file_rename(run, to.run);
    /* The file is renamed, not copied: a writer may still have the file open, and a copy would miss what the writer
       adds later. */
    if (SUCCEEDED(hr))
        hr = file_rename(from, to.definition);
    if (SUCCEEDED(hr)) {
        hr = add_name(to.definition, set.name);
        remove_old_lock(run_lock);
        set_file_note_change(&to);
    }
    set_file_close(&to);
    memory_free(run_lock);
    memory_free(run);
    memory_free(from);
    stored_set_free(&set);
    return hr;
}

/* Returns whether the name has the form of file_store's temporary names: ~<process>-<number>.tmp. */
bool set_file_is_torn(const char *file)
{
    const char *digits = "0123456789", *at = file + 1;
    size_t process = *file == '~' ? strspn(at, digits) : 0;
    size_t number = process && at[process] == '-' ? strspn(at + process + 1, digits) : 0;
    return number && !strcmp(at + process + 1 + number, ".tmp");
}

void set_file_remove_torn_of(const char *folder, const struct texts *files)
{
    for (size_t i = 0; i < files->count; i++) {
        char *path = set_file_is_torn(files->items[i]) ? path_join(folder, files->items[i]) : NULL;
        if (path)
            file_delete(path);
        memory_free(path);
    }
}

HRESULT set_file_adopt_all(const struct set_file *at, uint64_t *left)
{
    struct texts files = {0};
    *left = 0;
    HRESULT hr = folder_list(at->folder, false, &files);
    if (SUCCEEDED(hr) && at->lock)
        set_file_remove_torn_of(at->folder, &files);
    for (size_t i = 0; hr != E_OUTOFMEMORY && i < files.count; i++) {
        if (!text_equal_nocase(path_extension(files.items[i]), ".xml"))
            continue;
        hr = set_file_adopt(at, files.items[i]);
        if (FAILED(hr))
            *left = hash_text(*left ? *left : HASH_START, files.items[i]);
    }
    texts_free(&files);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        error_clear();
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

void set_file_remove_torn(const char *place)
{
    struct texts files = {0};
    if (FAILED(folder_list(place, false, &files)))
        return;
    set_file_remove_torn_of(place, &files);
    texts_free(&files);
}

/* Moves the set's definition to its place if it was put into the namespace's folder after the last full scan. */
static HRESULT adopt_own(struct set_file *at)
{
    char *flat = path_join(at->folder, path_name(at->definition));
    HRESULT hr = flat ? file_find(at->definition) : E_OUTOFMEMORY;
    if (hr == S_FALSE && file_exists(flat))
        hr = set_file_adopt(at, path_name(flat));
    else
        at->found = hr;
    memory_free(flat);
    return FAILED(hr) ? hr : S_OK;
}

/* While the lock is held, no other process creates or removes the definition, so the first result remains valid. */
HRESULT set_file_find(const struct set_file *at)
{
    return at->lock && SUCCEEDED(at->found) ? at->found : file_find(at->definition);
}

HRESULT set_file_open(const char *space, const char *name, enum set_file_use use, struct set_file *out)
{
    HRESULT hr = set_file_locate(space, name, out);
    if (SUCCEEDED(hr))
        hr = set_file_take_lock(out, use);
    if (hr == S_OK && name && out->lock)
        hr = adopt_own(out);
    if (FAILED(hr))
        set_file_close(out);
    return hr;
}

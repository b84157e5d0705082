/* SPDX-License-Identifier: MIT */
/* The definitions of sets as files. Behind the XML stands one processing instruction with the name as it was committed:
   the file's own name has lost its case. */
#include "engine/store/store.h"

#include "engine/os/memory.h"
#include "engine/store/set_file.h"
#include "engine/store/store_name.h"

#include <string.h>

#define DEFINITION_MAX (64u << 20) /* bytes; far above any set that a person could use */
#define NAME_BEGIN     "\n<?openpla-set name=\""
#define NAME_END       "\"?>\n"

static HRESULT set_error(HRESULT hr, const char *space, const char *name)
{
    return error_set(hr, "\"%s\\%.300s\": %s", space, name, error_standard_text(hr));
}

/* Cuts the instruction off the end of the text; returns where the name begins in it, terminated, or NULL. */
static char *cut_name(char *xml, size_t *size)
{
    const size_t begin = sizeof(NAME_BEGIN) - 1, end = sizeof(NAME_END) - 1;
    if (*size < begin + end || memcmp(xml + *size - end, NAME_END, end) != 0)
        return NULL;
    for (size_t at = *size - end - begin + 1; at--;) {
        if (xml[at] != '\n')
            continue;
        if (memcmp(xml + at, NAME_BEGIN, begin) != 0)
            return NULL; /* the instruction is the last line */
        xml[*size - end] = 0;
        xml[at] = 0;
        *size = at;
        return xml + at + begin;
    }
    return NULL;
}

static HRESULT remove_if_there(const char *path)
{
    HRESULT hr = file_delete(path);
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) ? S_OK : hr;
}

HRESULT store_save(const struct caller *caller, const char *space, const char *name, enum store_mode mode,
                   const char *xml, size_t size, const struct run_change *change, bool *created)
{
    struct set_file at;
    struct text_buffer content = {0};
    HRESULT hr = set_file_open(caller, space, name, mode == STORE_MODIFY ? SET_FILE_CHANGE : SET_FILE_CREATE, &at);
    text_buffer_add_n(&content, xml, size);
    text_buffer_add(&content, NAME_BEGIN);
    text_buffer_add(&content, name);
    text_buffer_add(&content, NAME_END);
    if (SUCCEEDED(hr) && content.failed)
        hr = E_OUTOFMEMORY;
    if (hr == S_OK)
        hr = file_find(at.definition);
    if (created)
        *created = hr == S_FALSE;
    if (hr == S_OK && mode == STORE_CREATE)
        hr = set_error(PLA_E_DCS_ALREADY_EXISTS, at.space, name);
    else if (hr == S_FALSE && mode == STORE_MODIFY)
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    else if (hr == S_FALSE)
        hr = remove_if_there(at.run); /* of an earlier set of this name */
    if (SUCCEEDED(hr))
        hr = file_store(at.definition, content.text, content.length);
    if (SUCCEEDED(hr) && change)
        hr = set_file_change_run(&at, change);
    text_buffer_free(&content);
    set_file_close(&at);
    return hr;
}

HRESULT store_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size)
{
    struct set_file at;
    HRESULT hr = set_file_open(caller, space, name, SET_FILE_READ, &at);
    *xml = NULL;
    *size = 0;
    if (hr == S_OK)
        hr = file_load(at.definition, DEFINITION_MAX, xml, size);
    if (hr == S_FALSE || set_file_is_missing(hr))
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    if (SUCCEEDED(hr))
        cut_name(*xml, size);
    set_file_close(&at);
    return hr;
}

/* What a writer leaves that was killed while it wrote. Under the lock of the namespace nobody is writing. */
static void remove_torn_files(const char *folder)
{
    struct texts files = {0};
    if (FAILED(folder_list(folder, false, &files)))
        return;
    for (size_t i = 0; i < files.count; i++) {
        char *path = text_matches("~*.tmp", files.items[i]) ? path_join(folder, files.items[i]) : NULL;
        if (path)
            file_delete(path);
        memory_free(path);
    }
    texts_free(&files);
}

HRESULT store_delete(const struct caller *caller, const char *space, const char *name)
{
    struct set_file at;
    struct file_lock *running = NULL;
    HRESULT hr = set_file_open(caller, space, name, SET_FILE_CHANGE, &at);
    if (hr == S_OK)
        hr = file_delete(at.definition);
    if (hr == S_FALSE || hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    if (SUCCEEDED(hr)) {
        remove_if_there(at.run); /* what stays is removed before a set of this name is made again */
        remove_if_there(at.host);
        /* Whoever holds it is a run that has not heard yet: it keeps its lock. */
        if (file_exists(at.run_lock) && SUCCEEDED(file_lock_take(at.run_lock, 0, &running)))
            file_delete(at.run_lock);
        file_lock_release(running);
        remove_torn_files(at.folder);
    }
    set_file_close(&at);
    return hr;
}

/* The set in folder/file.xml, with the name that it was committed under; of a file that others put there or that cannot
   be read, the name that its own name says. */
static HRESULT read_set(const char *folder, const char *file, struct stored_set *out)
{
    char *path = path_join(folder, file), *base = text_copy_n(file, strlen(file) - strlen(".xml"));
    char *inside = NULL, *expected = NULL;
    HRESULT hr = path && base ? file_load(path, DEFINITION_MAX, &out->xml, &out->size) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (inside = cut_name(out->xml, &out->size))) {
        expected = store_file_name(inside);
        if (!expected)
            hr = E_OUTOFMEMORY;
        else if (!text_equal_nocase(expected, base))
            inside = NULL; /* the file is a renamed copy */
    }
    if (hr != E_OUTOFMEMORY)
        out->name = inside ? text_copy(inside) : store_name_of_file(base);
    memory_free(expected);
    memory_free(base);
    memory_free(path);
    return out->name ? S_OK : E_OUTOFMEMORY;
}

static void stored_set_free(struct stored_set *set)
{
    memory_free(set->name);
    memory_free(set->xml);
}

void stored_sets_free(struct stored_sets *sets)
{
    for (size_t i = 0; i < sets->count; i++)
        stored_set_free(&sets->items[i]);
    memory_free(sets->items);
    *sets = (struct stored_sets){0};
}

static HRESULT read_folder(const char *folder, const char *pattern, struct stored_sets *found)
{
    struct texts files = {0};
    HRESULT hr = folder_list(folder, false, &files);
    for (size_t i = 0; SUCCEEDED(hr) && i < files.count; i++) {
        struct stored_set set = {0};
        void *items = found->items;
        if (!text_equal_nocase(path_extension(files.items[i]), ".xml"))
            continue;
        hr = read_set(folder, files.items[i], &set);
        if (SUCCEEDED(hr) && !memory_grow(&items, &found->capacity, found->count + 1, sizeof set))
            hr = E_OUTOFMEMORY;
        found->items = items;
        if (SUCCEEDED(hr) && text_matches(pattern, set.name))
            found->items[found->count++] = set;
        else
            stored_set_free(&set);
    }
    texts_free(&files);
    return hr;
}

HRESULT store_load_matching(const struct caller *caller, const char *space, const char *pattern,
                            struct stored_sets *out)
{
    struct set_file at;
    HRESULT hr = set_file_open(caller, space, NULL, SET_FILE_READ, &at);
    *out = (struct stored_sets){0};
    if (hr == S_OK)
        hr = read_folder(at.folder, pattern, out);
    set_file_close(&at);
    if (FAILED(hr))
        stored_sets_free(out);
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

char *store_run_lock_path(const char *space, const char *name)
{
    struct set_file at;
    if (FAILED(set_file_locate(space, name, &at)))
        return NULL;
    char *path = at.run_lock;
    at.run_lock = NULL;
    set_file_close(&at);
    return path;
}

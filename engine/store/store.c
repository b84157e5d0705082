/* SPDX-License-Identifier: MIT */
/* The definitions of sets as files. Behind the XML stands one processing instruction with the name as it was committed:
   the file's own name has lost its case. */
#include "engine/store/store.h"

#include "engine/os/memory.h"
#include "engine/store/set_file.h"
#include "engine/store/store_name.h"
#include "engine/store/stored_name.h"

#include <string.h>

static HRESULT set_error(HRESULT hr, const char *space, const char *name)
{
    return error_set(hr, "\"%s\\%.300s\": %s", space, name, error_standard_text(hr));
}

/* A folder that has the name of a file goes too, if it is empty. */
static HRESULT remove_entry(const char *path)
{
    return folder_exists(path) ? folder_delete(path) : file_delete(path);
}

static HRESULT remove_if_there(const char *path)
{
    HRESULT hr = remove_entry(path);
    return set_file_is_missing(hr) ? S_OK : hr;
}

/* One that cannot be read gives way, as it holds nothing that anybody could have; any other failure leaves it. */
static HRESULT change_run(const struct set_file *at, const struct run_change *change)
{
    HRESULT hr = set_file_change_run(at, change);
    bool damaged = hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA) || hr == HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE) ||
                   (FAILED(hr) && hr != E_OUTOFMEMORY && folder_exists(at->run));
    if (damaged && SUCCEEDED(remove_if_there(at->run)))
        hr = set_file_change_run(at, change);
    return hr;
}

HRESULT store_save(const struct caller *caller, const char *space, const char *name, enum store_mode mode,
                   const char *xml, size_t size, const struct run_change *change, bool *created)
{
    struct set_file at;
    struct text_buffer content = {0};
    HRESULT hr = set_file_open(caller, space, name, mode == STORE_MODIFY ? SET_FILE_CHANGE : SET_FILE_CREATE, &at);
    text_buffer_add_n(&content, xml, size);
    stored_name_add(&content, name);
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
    else if (SUCCEEDED(hr) && folder_exists(at.definition))
        hr = folder_delete(at.definition);
    if (SUCCEEDED(hr))
        hr = folder_create(at.place);
    if (SUCCEEDED(hr))
        set_file_remove_torn(at.place);
    if (SUCCEEDED(hr))
        hr = file_store(at.definition, content.text, content.length);
    if (SUCCEEDED(hr) && change)
        hr = change_run(&at, change);
    if (SUCCEEDED(hr))
        set_file_note_change(&at);
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
        stored_name_cut(*xml, size);
    set_file_close(&at);
    return hr;
}

HRESULT store_delete(const struct caller *caller, const char *space, const char *name)
{
    struct set_file at;
    struct file_lock *running = NULL;
    HRESULT hr = set_file_open(caller, space, name, SET_FILE_CHANGE, &at);
    if (hr == S_OK)
        hr = remove_entry(at.definition);
    if (hr == S_FALSE || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) ||
        hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    if (SUCCEEDED(hr)) {
        remove_if_there(at.run); /* what stays is removed before a set of this name is made again */
        remove_if_there(at.host);
        /* Whoever holds it is a run that has not heard yet: it keeps its lock. */
        if (file_exists(at.run_lock) && SUCCEEDED(file_lock_take(at.run_lock, 0, &running)))
            file_delete(at.run_lock);
        file_lock_release(running);
        set_file_remove_torn(at.place);
        set_file_note_change(&at);
    }
    set_file_close(&at);
    return hr;
}

char *store_definition_path(const char *space, const char *name)
{
    struct set_file at;
    if (FAILED(set_file_locate(space, name, &at)))
        return NULL;
    char *path = at.definition;
    at.definition = NULL;
    set_file_close(&at);
    return path;
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

/* SPDX-License-Identifier: MIT */
/* The definitions of sets as files. Behind the XML stands one processing instruction with the name as it was committed:
   the file's own name has lost its case. */
#include "engine/pla/store.h"

#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/store/owner_quota.h"
#include "engine/pla/store/set_file.h"
#include "engine/pla/store/set_gate.h"
#include "engine/pla/store/stored_security.h"
#include "engine/pla/store_name.h"
#include "engine/pla/stored_name.h"

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

/* The record as it was before a commit changed it. */
struct record_before {
    char *text;
    size_t size;
    HRESULT hr; /* of its reading */
};

static struct record_before keep_record(const struct set_file *at)
{
    struct record_before kept = {.hr = S_OK};
    kept.hr = file_load(at->run, SIZE_MAX, &kept.text, &kept.size);
    return kept;
}

static void put_record_back(const struct set_file *at, const struct record_before *kept)
{
    if (SUCCEEDED(kept->hr))
        file_store(at->run, kept->text, kept->size);
    else if (set_file_is_missing(kept->hr))
        remove_if_there(at->run);
}

/* Whether the file is the one that was to be stored, though that failed: what failed was its folder's flush. */
static bool is_stored(const char *path, const struct text_buffer *content)
{
    char *text = NULL;
    size_t size = 0;
    bool same = SUCCEEDED(file_load(path, content->length, &text, &size)) && size == content->length &&
                !memcmp(text, content->text, size);
    memory_free(text);
    return same;
}

/* Both files are on the disk before the first of them is seen: a disk that is full leaves the set as it was. The
   definition's rename is what makes the commit. */
static HRESULT save_both(const struct set_file *at, const struct text_buffer *content, const struct run_change *change)
{
    struct file_storing *definition = NULL;
    struct record_before before = {.hr = E_ABORT}; /* nothing to be put back */
    HRESULT hr = file_store_begin(at->definition, content->text, content->length, &definition);
    if (SUCCEEDED(hr) && change) {
        before = keep_record(at);
        hr = before.hr == E_OUTOFMEMORY ? before.hr : change_run(at, change);
    }
    hr = SUCCEEDED(hr) ? file_store_end(definition) : file_store_drop(definition, hr);
    struct error_kept why = error_keep(hr);
    if (SUCCEEDED(hr) || is_stored(at->definition, content))
        set_file_note_change(at);
    else
        put_record_back(at, &before);
    memory_free(before.text);
    return FAILED(hr) ? error_restore(&why) : hr;
}

HRESULT store_save(const struct caller *caller, const char *space, const char *name, enum store_mode mode,
                   const char *xml, size_t size, const struct run_change *change, bool *created)
{
    struct set_file at;
    struct text_buffer content = {0};
    HRESULT hr = set_file_open(space, name, mode == STORE_MODIFY ? SET_FILE_CHANGE : SET_FILE_CREATE, &at);
    char *owner = NULL, *security = NULL;
    if (SUCCEEDED(hr) && set_security_of_xml(xml, size, &security) == E_OUTOFMEMORY)
        hr = E_OUTOFMEMORY;
    if (hr == S_OK)
        hr = file_find(at.definition);
    if (created)
        *created = hr == S_FALSE;
    if (hr == S_OK && mode == STORE_CREATE)
        hr = set_error(PLA_E_DCS_ALREADY_EXISTS, at.space, name);
    else if (hr == S_FALSE && mode == STORE_MODIFY)
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    const bool is_new = hr == S_FALSE;
    if (SUCCEEDED(hr))
        hr = set_gate_save(caller, &at, !is_new, security);
    if (SUCCEEDED(hr))
        hr = owner_quota_check(&at, caller, size, &owner);
    if (SUCCEEDED(hr) && is_new) {
        hr = remove_if_there(at.run); /* of an earlier set of this name, as are its folders */
        if (SUCCEEDED(hr))
            hr = remove_if_there(at.folders);
    } else if (SUCCEEDED(hr) && folder_exists(at.definition))
        hr = folder_delete(at.definition);
    if (SUCCEEDED(hr)) {
        text_buffer_add_n(&content, xml, size);
        if (security) /* what is none says nothing, and is asked for it each time */
            stored_security_add(&content, security);
        stored_name_add(&content, name, owner);
        hr = content.failed ? E_OUTOFMEMORY : folder_create_protected(at.place, PROTECTION_PLACE);
    }
    if (SUCCEEDED(hr))
        set_file_remove_torn(at.place);
    if (SUCCEEDED(hr))
        hr = save_both(&at, &content, change);
    text_buffer_free(&content);
    memory_free(owner);
    memory_free(security);
    set_file_close(&at);
    return hr;
}

HRESULT store_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size)
{
    struct set_file at;
    HRESULT hr = set_file_open(space, name, SET_FILE_READ, &at);
    *xml = NULL;
    *size = 0;
    if (hr == S_OK)
        hr = file_load_trusted(at.definition, DEFINITION_MAX, xml, size);
    if (hr == S_FALSE || set_file_is_missing(hr))
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    const char *security = NULL;
    if (SUCCEEDED(hr)) {
        stored_name_cut(*xml, size);
        security = stored_security_cut(*xml, size);
    }
    if (hr != PLA_E_DCS_NOT_FOUND && hr != E_OUTOFMEMORY) {
        const struct error_kept why = error_keep(hr);
        const HRESULT passed = set_gate_loaded(caller, GATE_QUERY, &at, *xml, *size, security);
        hr = FAILED(passed) ? passed : FAILED(hr) ? error_restore(&why) : hr;
    }
    if (FAILED(hr)) {
        memory_free(*xml);
        *xml = NULL;
        *size = 0;
    }
    set_file_close(&at);
    return hr;
}

HRESULT store_delete(const struct caller *caller, const char *space, const char *name)
{
    struct set_file at;
    struct file_lock *running = NULL;
    HRESULT hr = set_file_open(space, name, SET_FILE_CHANGE, &at);
    if (hr == S_OK)
        hr = set_gate_pass(caller, GATE_DELETE, &at);
    if (hr == S_OK)
        hr = remove_entry(at.definition);
    if (hr == S_FALSE || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) ||
        hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    if (SUCCEEDED(hr)) {
        remove_if_there(at.run); /* what stays is removed before a set of this name is made again */
        remove_if_there(at.host);
        remove_if_there(at.folders); /* a set of this name that is made later owns none of them */
        /* Whoever holds it is a run that has not heard yet: it keeps its lock. */
        if (file_exists(at.run_lock) && SUCCEEDED(file_lock_take(at.run_lock, 0, &running)))
            file_delete(at.run_lock);
        file_lock_release(running);
        running = NULL;
        if (file_exists(at.pass) && SUCCEEDED(file_lock_take(at.pass, 0, &running)))
            file_delete(at.pass);
        file_lock_release(running);
        set_file_remove_torn(at.place);
        set_file_note_change(&at);
    }
    set_file_close(&at);
    return hr;
}

/* The member of struct set_file that is there; NULL as the functions of the header say. */
static char *path_of(const char *space, const char *name, size_t member)
{
    struct set_file at;
    if (FAILED(set_file_locate(space, name, &at)))
        return NULL;
    char **place = (char **)((char *)&at + member), *path = *place;
    *place = NULL;
    set_file_close(&at);
    return path;
}

char *store_definition_path(const char *space, const char *name)
{
    return path_of(space, name, offsetof(struct set_file, definition));
}

char *store_run_lock_path(const char *space, const char *name)
{
    return path_of(space, name, offsetof(struct set_file, run_lock));
}

char *store_pass_lock_path(const char *space, const char *name)
{
    return path_of(space, name, offsetof(struct set_file, pass));
}

/* SPDX-License-Identifier: MIT */
/* Sets of the namespace Autosession: reads and writes autologger keys as sets (MS-PLA 3.2.1, BootTraceSession). */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/registry.h"
#include "engine/etw/autologger.h"
#include "engine/etw/directory.h"
#include "engine/pla/collect/trace_session.h"
#include "engine/pla/run/segment.h"
#include "engine/pla/sets/trace_set.h"

#include <string.h>

#define SPACE   "Autosession"
#define LOCK_MS 10000 /* the same time as LOCK_PATIENCE in engine/pla/store/set_file.c */

static HRESULT not_there(const char *name)
{
    return error_set(PLA_E_DCS_NOT_FOUND, "\"" SPACE "\\%.300s\": the autologger does not exist in the registry", name);
}

/* Returns the path of the key. `name` NULL: returns the path of the key that contains all autologger keys. */
static HRESULT path_of(const char *name, char **out)
{
    char directory[DIRECTORY_NAME_BYTES];
    *out = NULL;
    HRESULT hr = directory_name(directory);
    if (FAILED(hr))
        return hr;
    if (name && text_utf16_length(name) > AUTOLOGGER_NAME)
        return error_set(E_INVALIDARG,
                         "name: '%.100s...' has %zu characters (at most %d are allowed in a registry key)", name,
                         text_utf16_length(name), AUTOLOGGER_NAME);
    *out = autologger_path(AUTOLOGGER_KEY, directory, name);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Serializes readers and writers of keys with a lock file in the store's folder, as for stored sets. S_FALSE for a
   reader: the folder does not exist or belongs to another account, so no process has written keys. */
static HRESULT lock_keys(bool to_change, struct file_lock **out)
{
    char *folder = store_folder(SPACE), *path = folder ? path_join(folder, "keys.lock") : NULL;
    HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    *out = NULL;
    if (SUCCEEDED(hr) && to_change)
        hr = folder_create_protected(folder, PROTECTION_DATA);
    else if (SUCCEEDED(hr) && !folder_exists(folder))
        hr = S_FALSE;
    if (hr == S_OK)
        hr = file_lock_take(path, LOCK_MS, out);
    if (!to_change && FAILED(hr) && hr != E_OUTOFMEMORY && hr != HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION)) {
        error_clear();
        hr = S_FALSE;
    }
    memory_free(path);
    memory_free(folder);
    return hr;
}

/* ---- sets that an older version kept in its store ---- */

static HRESULT save_autologger(struct object *set, const char *name, enum store_mode mode, bool *created);

/* Moves the set from the store to the registry, unless a key with that name exists or the set cannot be read. */
static HRESULT move_stored(const char *name)
{
    struct object *set = NULL;
    bool created;
    char *xml;
    size_t size;
    HRESULT hr = store_load(&caller_self, SPACE, name, &xml, &size);
    if (hr == PLA_E_DCS_NOT_FOUND)
        return S_FALSE;
    if (SUCCEEDED(hr))
        hr = set_create_from_xml(xml, size, &set);
    memory_free(xml);
    if (SUCCEEDED(hr))
        hr = save_autologger(set, name, STORE_CREATE, &created);
    object_release(set);
    return SUCCEEDED(hr) ? store_delete(&caller_self, SPACE, name) : hr;
}

/* ---- reading ---- */

/* Creates the committed set from the key's OpenPLA value, which has the properties that a session does not have. If the
   key has no OpenPLA value, the set is empty. */
static HRESULT committed(const struct autologger *a, struct object **out)
{
    HRESULT hr = a->set ? set_create_from_xml(a->set, strlen(a->set), out) : set_create(out);
    return hr == OPENPLA_E_MALFORMED_XML ? error_prefix(hr, "\"" SPACE "\\%.300s\": the value OpenPLA", a->name) : hr;
}

/* Fills the set from the plan. Keeps RootPath and FileName as the client set them if they result in the plan's file. */
static HRESULT fill_from_plan(struct object *set, const struct trace_plan *plan, const struct trace_session *live)
{
    struct object *collector = NULL;
    struct value root = {.kind = PROPERTY_TEXT}, name = root;
    char *file = NULL;
    bool same = false;
    HRESULT hr = S_OK;
    if (plan->file && collection_count(set_of(set)->DataCollectors) == 1) {
        hr = trace_set_collector(set, &collector);
        if (SUCCEEDED(hr))
            hr = trace_set_file(set, &file);
        same = SUCCEEDED(hr) && text_equal_nocase(file, plan->file);
        memory_free(file);
        hr = hr == E_OUTOFMEMORY ? hr : S_OK;
    }
    if (same)
        hr = object_get_field(set, &set->class->properties[IDataCollectorSet_RootPath], &root);
    if (same && SUCCEEDED(hr))
        hr = object_get_field(collector, &collector->class->properties[ITraceDataCollector_FileName], &name);
    if (SUCCEEDED(hr))
        hr = trace_fill(set, plan, true, live);
    if (same && SUCCEEDED(hr))
        hr = object_put_text(set, &set->class->properties[IDataCollectorSet_RootPath], root.text);
    if (same && SUCCEEDED(hr))
        hr = object_put_text(collector, &collector->class->properties[ITraceDataCollector_FileName], name.text);
    value_free(&name);
    value_free(&root);
    object_release(collector);
    return hr;
}

static HRESULT to_xml(const struct autologger *a, char **xml, size_t *size)
{
    struct trace_session live;
    struct trace_plan plan;
    struct object *set = NULL;
    HRESULT hr = trace_plan_from_autologger(a, &plan);
    if (FAILED(hr))
        return hr;
    const HRESULT runs = trace_set_find(a->name, &live);
    error_clear(); /* a host OS without tracing has no running session */
    hr = runs == E_OUTOFMEMORY ? runs : committed(a, &set);
    if (SUCCEEDED(hr))
        hr = fill_from_plan(set, &plan, runs == S_OK ? &live : NULL);
    if (SUCCEEDED(hr))
        hr = trace_set_take_security(set, &plan);
    if (SUCCEEDED(hr)) {
        set_of(set)->SchedulesEnabled = a->start.there && a->start.value == 1;
        hr = set_to_stored_xml(set, xml, size);
    }
    object_release(set);
    if (runs == S_OK)
        trace_session_free(&live);
    trace_plan_free(&plan);
    return hr;
}

/* Loads the autologger, and first moves an old set if the key does not exist. S_FALSE: neither exists. */
static HRESULT load_or_move(const char *path, const char *name, struct autologger *out)
{
    HRESULT hr = autologger_load(path, name, out);
    if (hr != S_FALSE)
        return hr;
    hr = move_stored(name);
    return hr == S_OK ? autologger_load(path, name, out) : hr;
}

HRESULT autosession_set_load(const char *name, char **xml, size_t *size)
{
    struct file_lock *lock = NULL;
    struct autologger a;
    char *path;
    *xml = NULL;
    HRESULT hr = path_of(name, &path);
    if (SUCCEEDED(hr))
        hr = lock_keys(false, &lock);
    if (SUCCEEDED(hr))
        hr = load_or_move(path, name, &a);
    file_lock_release(lock);
    memory_free(path);
    if (hr != S_OK)
        return FAILED(hr) ? hr : not_there(name);
    hr = a.damaged ? error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                               "\"" SPACE "\\%.300s\": invalid value %s of the autologger", name, a.damaged)
                   : to_xml(&a, xml, size);
    autologger_free(&a);
    return hr;
}

HRESULT autosession_set_list(struct texts *out)
{
    struct registry_key *key = NULL;
    struct file_lock *lock = NULL;
    struct texts stored = {0};
    char *path;
    *out = (struct texts){0};
    HRESULT hr = path_of(NULL, &path);
    if (SUCCEEDED(hr))
        hr = store_list(&caller_self, SPACE, &stored);
    if (SUCCEEDED(hr) && stored.count)
        hr = lock_keys(true, &lock);
    for (size_t i = 0; SUCCEEDED(hr) && i < stored.count; i++)
        if (FAILED(move_stored(stored.items[i])))
            error_clear(); /* the set stays in the store for callers that request it by name */
    file_lock_release(lock);
    texts_free(&stored);
    if (SUCCEEDED(hr))
        hr = registry_open(path, false, &key);
    if (hr == S_OK)
        hr = registry_list(key, out);
    registry_close(key);
    memory_free(path);
    return SUCCEEDED(hr) ? S_OK : hr;
}

/* ---- writing ---- */

static HRESULT check_mode(const struct trace_plan *plan)
{
    if (plan->mode & (TRACE_MODE_PRIVATE_LOGGER | TRACE_MODE_PRIVATE_IN_PROC))
        return error_set(E_INVALIDARG,
                         "ProcessMode: a session that starts with the system cannot be a private session");
    if (plan->mode & TRACE_MODE_NEWFILE)
        return error_set(E_INVALIDARG,
                         "ExtendedModes: 0x%X has EVENT_TRACE_FILE_MODE_NEWFILE, which a session that starts with the "
                         "system cannot use",
                         (unsigned)plan->mode);
    return S_OK;
}

/* Under Wine, autologgers start when the first process uses tracing. Uses tracing before an autologger is added: the
   autologgers that already exist start now, unless they have started before. The autologger that is about to be added
   therefore starts only the next time. */
static void begin_others(const char *name)
{
    struct trace_session s;
    if (trace_set_find(name, &s) == S_OK)
        trace_session_free(&s);
    error_clear();
}

/* Writes the set's values to `a`, which is empty or was read from the registry. */
static HRESULT describe_autologger(struct object *set, const char *name, struct autologger *a)
{
    struct trace_plan plan;
    char *xml = NULL;
    HRESULT hr = trace_set_plan(set, name, &plan);
    if (FAILED(hr))
        return hr;
    hr = check_mode(&plan);
    if (SUCCEEDED(hr))
        hr = trace_plan_to_autologger(&plan, a);
    if (SUCCEEDED(hr))
        hr = set_to_stored_xml(set, &xml, NULL);
    if (SUCCEEDED(hr)) {
        memory_free(a->set);
        a->set = xml;
        a->start = (struct autologger_number){true, set_of(set)->SchedulesEnabled};
    }
    /* Creates RootPath now if allowed, because starting the session creates no folder. Ignores a missing RootPath,
       because the folder may have been created by the time the session starts. */
    if (SUCCEEDED(hr) && plan.file && output_check_root(set_of(set)) == E_OUTOFMEMORY)
        hr = E_OUTOFMEMORY;
    trace_plan_free(&plan);
    return hr;
}

HRESULT autosession_set_save(struct object *set, const char *name, enum store_mode mode, bool *created)
{
    struct file_lock *lock;
    begin_others(name);
    HRESULT hr = lock_keys(true, &lock);
    if (SUCCEEDED(hr))
        hr = save_autologger(set, name, mode, created);
    file_lock_release(lock);
    return hr;
}

/* Saves the set as an autologger. Call it under the lock. */
static HRESULT save_autologger(struct object *set, const char *name, enum store_mode mode, bool *created)
{
    struct autologger a;
    char *path;
    HRESULT hr = path_of(name, &path);
    if (FAILED(hr))
        return hr;
    hr = mode == STORE_CREATE ? autologger_load(path, name, &a) : load_or_move(path, name, &a);
    *created = hr == S_FALSE;
    if (hr == S_FALSE && mode == STORE_MODIFY)
        hr = not_there(name);
    else if (hr == S_OK && mode == STORE_CREATE)
        hr = error_set(PLA_E_DCS_ALREADY_EXISTS, "Commit: the set '" SPACE "\\%.300s' already exists", name);
    if (SUCCEEDED(hr))
        hr = describe_autologger(set, name, &a);
    if (SUCCEEDED(hr))
        hr = autologger_save(path, &a, *created);
    if (hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS))
        hr = error_set(PLA_E_DCS_ALREADY_EXISTS, "Commit: the set '" SPACE "\\%.300s' was created by another process",
                       name);
    autologger_free(&a);
    memory_free(path);
    return hr;
}

HRESULT autosession_set_delete(const char *name)
{
    struct file_lock *lock = NULL;
    char *path;
    HRESULT hr = path_of(name, &path);
    if (FAILED(hr))
        return hr;
    hr = lock_keys(true, &lock);
    if (SUCCEEDED(hr))
        hr = registry_delete(path);
    if (SUCCEEDED(hr)) { /* also deletes a set of an older version, even an unreadable set */
        const bool gone = hr == S_OK;
        hr = store_delete(&caller_self, SPACE, name);
        if (hr == PLA_E_DCS_NOT_FOUND)
            hr = gone ? S_OK : not_there(name);
    }
    file_lock_release(lock);
    memory_free(path);
    return hr;
}

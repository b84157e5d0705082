/* SPDX-License-Identifier: MIT */
/* The access check of stored sets: reads their Security and checks a caller against it. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/store/set_file.h"

#include <string.h>

/* A definition that cannot be read has no Security: *out is NULL. */
static HRESULT security_of_xml(const char *xml, size_t size, char **out)
{
    HRESULT hr = xml ? set_security_of_xml(xml, size, out) : S_FALSE;
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (hr != S_OK) {
        *out = NULL;
        error_clear();
    }
    return S_OK;
}

HRESULT stored_set_security(struct stored_set *set, const char **out)
{
    HRESULT hr = set->security ? S_OK : security_of_xml(set->xml, set->size, &set->security);
    *out = set->security;
    return hr;
}

static HRESULT check_stored_security(const struct caller *caller, enum set_access_verb verb, const struct set_file *at,
                                     const char *security)
{
    return set_access_check_caller(
        caller, verb, &(struct set_access_object){.space = at->space, .name = at->name, .security = security});
}

HRESULT stored_set_check_loaded(const struct caller *caller, enum set_access_verb verb, const struct set_file *at,
                                const char *xml, size_t size, const char *security)
{
    char *own = NULL;
    if (caller->in_process)
        return S_OK;
    HRESULT hr = security ? S_OK : security_of_xml(xml, size, &own);
    if (SUCCEEDED(hr))
        hr = check_stored_security(caller, verb, at, security ? security : own);
    memory_free(own);
    return hr;
}

/* S_FALSE: the set does not exist. Always free `set`. */
static HRESULT read_there(const struct set_file *at, struct stored_set *set)
{
    *set = (struct stored_set){0};
    HRESULT hr = file_find(at->definition);
    return hr == S_OK ? stored_set_read(at->place, path_name(at->definition), set) : hr;
}

HRESULT stored_set_check_access(const struct caller *caller, enum set_access_verb verb, const struct set_file *at)
{
    struct stored_set set;
    const char *security = NULL;
    if (caller->in_process)
        return S_OK;
    HRESULT hr = read_there(at, &set);
    if (hr == S_FALSE)
        hr = error_set(PLA_E_DCS_NOT_FOUND, "'%s\\%.300s': %s", at->space, at->name,
                       error_standard_text(PLA_E_DCS_NOT_FOUND));
    if (SUCCEEDED(hr))
        hr = stored_set_security(&set, &security);
    if (SUCCEEDED(hr))
        hr = check_stored_security(caller, verb, at, security);
    stored_set_free(&set);
    return hr;
}

HRESULT stored_set_check_save(const struct caller *caller, const struct set_file *at, bool exists, const char *security)
{
    struct set_access_object about = {.space = at->space, .name = at->name};
    struct stored_set set = {0};
    struct access_subject *who;
    if (caller->in_process)
        return S_OK;
    HRESULT hr = access_open(caller, &who);
    if (FAILED(hr))
        return hr == E_ACCESSDENIED ? set_access_check_caller(caller, SET_ACCESS_COMMIT, &about) : hr;
    if (exists)
        hr = read_there(at, &set);
    if (SUCCEEDED(hr) && exists)
        hr = stored_set_security(&set, &about.security);
    if (SUCCEEDED(hr) && !security) /* nobody could tell later who owns the set */
        hr = error_set(E_INVALIDARG, "Security: the definition of '%s\\%.300s' has no valid Security", at->space,
                       at->name);
    if (SUCCEEDED(hr))
        hr = exists ? set_access_check_change(who, &about, security) : set_access_check_create(who, &about, false);
    stored_set_free(&set);
    access_close(who);
    return hr;
}

HRESULT store_check_access(const struct caller *caller, enum set_access_verb verb, const char *space, const char *name)
{
    struct set_file at;
    if (caller->in_process)
        return S_OK;
    HRESULT hr = set_file_open(space, name, SET_FILE_READ, &at);
    if (SUCCEEDED(hr)) /* also if the namespace has no folder */
        hr = stored_set_check_access(caller, verb, &at);
    set_file_close(&at);
    return hr;
}

HRESULT store_security(const char *space, const char *name, char **security)
{
    struct set_file at;
    struct stored_set set = {0};
    const char *found = NULL;
    HRESULT hr = set_file_open(space, name, SET_FILE_READ, &at);
    *security = NULL;
    if (hr == S_OK)
        hr = read_there(&at, &set);
    if (hr == S_OK)
        hr = stored_set_security(&set, &found);
    if (hr == S_OK && found) {
        *security = set.security;
        set.security = NULL;
    }
    stored_set_free(&set);
    set_file_close(&at);
    return hr;
}

/* ---- lists ---- */

HRESULT set_visibility_open(const struct caller *caller, const char *space, struct set_visibility *out)
{
    *out = (struct set_visibility){.space = space};
    if (caller->in_process)
        return S_OK;
    HRESULT hr = access_open(caller, &out->who);
    return hr == E_ACCESSDENIED ? error_set(SET_ACCESS_REFUSED, "list of %s: cannot identify the caller", space) : hr;
}

static HRESULT visibility_check_access(struct set_visibility *visibility, const char *name, const char *security,
                                       bool *seen)
{
    const struct set_access_object set = {.space = visibility->space, .name = name, .security = security};
    HRESULT hr = set_access_check(visibility->who, SET_ACCESS_LIST, &set);
    *seen = SUCCEEDED(hr);
    if (hr != SET_ACCESS_REFUSED)
        return hr;
    error_clear();
    return S_OK;
}

HRESULT set_visibility_check(struct set_visibility *visibility, struct stored_set *set, bool *seen)
{
    const char *security;
    *seen = !visibility->who;
    if (*seen)
        return S_OK;
    HRESULT hr = stored_set_security(set, &security);
    for (size_t i = 0; SUCCEEDED(hr) && security && i < visibility->count; i++)
        if (!strcmp(visibility->known[i].security, security)) {
            *seen = visibility->known[i].seen;
            return S_OK;
        }
    if (SUCCEEDED(hr))
        hr = visibility_check_access(visibility, set->name, security, seen);
    if (SUCCEEDED(hr) && security && visibility->count < sizeof visibility->known / sizeof visibility->known[0]) {
        char *kept = text_copy(security);
        if (kept) { /* otherwise the check is repeated next time */
            visibility->known[visibility->count].security = kept;
            visibility->known[visibility->count++].seen = *seen;
        }
    }
    return hr;
}

void set_visibility_close(struct set_visibility *visibility)
{
    access_close(visibility->who);
    while (visibility->count)
        memory_free(visibility->known[--visibility->count].security);
}

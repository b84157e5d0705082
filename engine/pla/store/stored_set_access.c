/* SPDX-License-Identifier: MIT */
/* Checks access to stored sets: reads their Security, and checks whether it allows what a caller wants to do. */
#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/store/set_file.h"

#include <string.h>

/* Reads the Security from the XML. A definition that cannot be read has no Security; *out is then NULL. */
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

/* Reads the existing set. S_FALSE: the set does not exist. Free `set` regardless of the result. */
static HRESULT read_there(const struct set_file *at, struct stored_set *set)
{
    *set = (struct stored_set){0};
    HRESULT hr = set_file_find(at);
    return hr == S_OK ? stored_set_read(at->place, path_name(at->definition), set) : hr;
}

static HRESULT not_found(const char *space, const char *name)
{
    return error_set(PLA_E_DCS_NOT_FOUND, "'%s\\%.300s': %s", space, name, error_standard_text(PLA_E_DCS_NOT_FOUND));
}

HRESULT stored_set_check_access(const struct caller *caller, enum set_access_verb verb, const struct set_file *at)
{
    struct stored_set set;
    const char *security = NULL;
    if (caller->in_process)
        return S_OK;
    HRESULT hr = read_there(at, &set);
    if (hr == S_FALSE)
        hr = not_found(at->space, at->name);
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
    if (SUCCEEDED(hr) && !security) /* without Security, nobody can later determine the set's owner */
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
    if (SUCCEEDED(hr)) /* hr may be S_FALSE: the namespace has no folder */
        hr = stored_set_check_access(caller, verb, &at);
    set_file_close(&at);
    return hr;
}

HRESULT store_read_set(const char *space, const char *name, struct stored_set *out)
{
    struct set_file at;
    const char *security;
    *out = (struct stored_set){0};
    HRESULT hr = set_file_open(space, name, SET_FILE_READ, &at);
    if (hr == S_OK)
        hr = read_there(&at, out);
    if (hr == S_OK)
        hr = stored_set_security(out, &security);
    set_file_close(&at);
    return hr;
}

HRESULT store_check_access_read(const struct caller *caller, enum set_access_verb verb, const char *space,
                                const char *name, const struct stored_set *set)
{
    if (caller->in_process)
        return S_OK;
    return set ? set_access_check_caller(
                     caller, verb, &(struct set_access_object){.space = space, .name = name, .security = set->security})
               : not_found(space, name);
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
        if (kept) { /* when out of memory, the result is not cached */
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

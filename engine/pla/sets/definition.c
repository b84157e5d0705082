/* SPDX-License-Identifier: MIT */
/* Loads definitions from the source of their namespace, and checks access to them. */
#include "engine/pla/definition.h"

#include "engine/base/memory.h"
#include "engine/pla/model.h"
#include "engine/pla/sets/trace_set.h"
#include "engine/pla/store.h"

#include <string.h>

static HRESULT load_shipped(const char *name, char **xml, size_t *size)
{
    const struct system_set *set = system_set_find(name);
    if (!set)
        return error_set(PLA_E_DCS_NOT_FOUND, "'System\\%.300s': OpenPLA has no System set of this name", name);
    *xml = text_copy(set->xml);
    *size = *xml ? strlen(*xml) : 0;
    return *xml ? S_OK : E_OUTOFMEMORY;
}

static HRESULT load_unstored(const struct category *c, const char *name, char **xml, size_t *size)
{
    switch (c->source) {
    case DEFINITION_SHIPPED:
        return load_shipped(name, xml, size);
    case DEFINITION_LIVE:
        return session_set_load(name, xml, size);
    case DEFINITION_REGISTRY:
        return autosession_set_load(name, xml, size);
    default:
        return error_set(PLA_E_DCS_NOT_FOUND, "'%s\\%.300s': %s", c->space, name, c->none);
    }
}

/* ---- access ---- */

static bool is_session(const struct category *c)
{
    return c->source == DEFINITION_LIVE || c->source == DEFINITION_REGISTRY;
}

/* Checks access to a set after load_unstored. A set that could not be read has no Security. */
static HRESULT check_loaded(const struct caller *caller, enum set_access_verb verb, const struct category *c,
                            const char *name, HRESULT loaded, const char *xml, size_t size)
{
    char *security = NULL;
    if (caller->in_process || loaded == PLA_E_DCS_NOT_FOUND || loaded == E_OUTOFMEMORY)
        return loaded;
    const struct error_kept why = error_keep(loaded);
    HRESULT hr = SUCCEEDED(loaded) ? set_security_of_xml(xml, size, &security) : S_OK;
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = S_OK;
    if (SUCCEEDED(hr))
        hr = set_access_check_caller(
            caller, verb,
            &(struct set_access_object){
                .space = c->space, .name = name, .security = security, .session = is_session(c)});
    memory_free(security);
    return FAILED(hr) ? hr : FAILED(loaded) ? error_restore(&why) : loaded;
}

HRESULT definition_check(const struct caller *caller, enum set_access_verb verb, const char *space, const char *name,
                         struct object *set)
{
    const struct category *c = category_of(space);
    char *xml = NULL, *security = NULL;
    size_t size = 0;
    if (caller->in_process)
        return S_OK;
    if (!c || c->source == DEFINITION_STORED)
        return store_check_access(caller, verb, space, name);
    HRESULT hr = load_unstored(c, name, &xml, &size);
    if (hr == PLA_E_DCS_NOT_FOUND && set && c->source == DEFINITION_LIVE) {
        hr = trace_set_security(set, &security);
        if (SUCCEEDED(hr))
            hr = set_access_check_caller(
                caller, verb,
                &(struct set_access_object){.space = c->space, .name = name, .security = security, .session = true});
    } else {
        hr = check_loaded(caller, verb, c, name, hr, xml, size);
        if (definition_is_damaged(hr)) /* the caller's rights do not depend on whether the set is corrupt */
            hr = S_OK;
    }
    memory_free(security);
    memory_free(xml);
    return hr;
}

static HRESULT check_new(const struct caller *caller, const struct set_access_object *about, bool boot)
{
    struct access_subject *who;
    HRESULT hr = access_open(caller, &who);
    if (FAILED(hr))
        return hr == E_ACCESSDENIED ? set_access_check_caller(caller, SET_ACCESS_CREATE, about) : hr;
    hr = set_access_check_create(who, about, boot);
    access_close(who);
    return hr;
}

static HRESULT check_change(const struct caller *caller, const struct set_access_object *about, struct object *set)
{
    struct access_subject *who;
    struct value put;
    HRESULT hr = access_open(caller, &who);
    if (FAILED(hr))
        return hr == E_ACCESSDENIED ? set_access_check_caller(caller, SET_ACCESS_COMMIT, about) : hr;
    hr = object_get_field(set, &set->class->properties[IDataCollectorSet_Security], &put);
    if (SUCCEEDED(hr)) {
        hr = set_access_check_change(who, about, put.text);
        value_free(&put);
    }
    access_close(who);
    return hr;
}

/* Checks the caller's right to start a kernel session if the set requests kernel events. The check is needed because
   the server starts the session with its own rights. */
static HRESULT check_kernel(const struct caller *caller, const struct category *c, const char *name, struct object *set)
{
    char *security;
    bool asks;
    HRESULT hr = trace_set_asks_kernel(set, &asks);
    if (FAILED(hr) || !asks)
        return hr;
    hr = trace_set_security(set, &security);
    if (SUCCEEDED(hr))
        hr = set_access_check_caller(
            caller, SET_ACCESS_START,
            &(struct set_access_object){.space = c->space, .name = name, .security = security, .session = true});
    if (hr == SET_ACCESS_REFUSED)
        hr = error_set(hr,
                       "Commit: '%s\\%.300s' requests kernel events, which only administrators may collect unless "
                       "the security descriptor of SystemTraceControlGuid grants more accounts the right",
                       c->space, name);
    memory_free(security);
    return hr;
}

HRESULT definition_check_commit(const struct caller *caller, const char *space, const char *name, struct object *set,
                                const struct stored_set *stored)
{
    const struct category *c = category_of(space);
    struct set_access_object about = {.space = c->space, .name = name, .session = is_session(c)};
    HRESULT hr;
    if (caller->in_process)
        return S_OK;
    if (c->source != DEFINITION_STORED) {
        hr = definition_check(caller, SET_ACCESS_COMMIT, space, name, NULL);
        if (hr == PLA_E_DCS_NOT_FOUND)
            hr = check_new(caller, &about, c->source == DEFINITION_REGISTRY);
        return SUCCEEDED(hr) && about.session ? check_kernel(caller, c, name, set) : hr;
    }
    about.security = stored ? stored->security : NULL;
    return stored ? check_change(caller, &about, set) : check_new(caller, &about, false);
}

HRESULT definition_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size)
{
    const struct category *c = category_of(space);
    *xml = NULL;
    *size = 0;
    if (!c || c->source == DEFINITION_STORED)
        return store_load(caller, space, name, xml, size);
    HRESULT hr = load_unstored(c, name, xml, size);
    hr = check_loaded(caller, SET_ACCESS_QUERY, c, name, hr, *xml, *size);
    if (FAILED(hr)) {
        memory_free(*xml);
        *xml = NULL;
        *size = 0;
    }
    return hr;
}

bool definition_is_damaged(HRESULT hr)
{
    return hr == OPENPLA_E_MALFORMED_XML || hr == HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE) ||
           hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA) || hr == E_ACCESSDENIED;
}

HRESULT definition_name_file(HRESULT hr, const char *space, const char *name)
{
    const struct category *c = category_of(space);
    bool stored = hr == OPENPLA_E_MALFORMED_XML && c && c->source == DEFINITION_STORED;
    char *path = stored ? store_definition_path(space, name) : NULL;
    if (path)
        hr = error_prefix(hr, "'%s'", path);
    memory_free(path);
    return hr;
}

HRESULT definition_load_matching(const struct caller *caller, const char *space, const char *pattern,
                                 struct stored_sets *out)
{
    const struct category *c = category_of(space);
    struct texts names = {0};
    HRESULT hr = S_OK;
    if (!c || c->source == DEFINITION_STORED)
        return store_load_matching(caller, space, pattern, out);
    *out = (struct stored_sets){0};
    hr = definition_list(caller, space, &names);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++) {
        struct stored_set set = {0};
        void *items = out->items;
        if (!text_matches(pattern, names.items[i]))
            continue;
        set.name = text_copy(names.items[i]);
        hr = set.name && memory_grow(&items, &out->capacity, out->count + 1, sizeof set)
                 ? definition_load(caller, space, set.name, &set.xml, &set.size)
                 : E_OUTOFMEMORY;
        out->items = items;
        /* Also lists corrupt sets, but not sets that were deleted or that the caller may not see. */
        const bool gone = hr == PLA_E_DCS_NOT_FOUND || hr == SET_ACCESS_REFUSED;
        if (gone || definition_is_damaged(hr))
            hr = S_OK;
        if (SUCCEEDED(hr) && !gone)
            out->items[out->count++] = set;
        else
            memory_free(set.name);
    }
    texts_free(&names);
    if (FAILED(hr))
        stored_sets_free(out);
    return hr;
}

HRESULT definition_list(const struct caller *caller, const char *space, struct texts *names)
{
    const struct category *c = category_of(space);
    struct texts found = {0};
    HRESULT hr = S_OK;
    if (!c || c->source == DEFINITION_STORED)
        return store_list(caller, space, names);
    if (c->source == DEFINITION_LIVE)
        hr = session_set_list(&found);
    else if (c->source == DEFINITION_REGISTRY)
        hr = autosession_set_list(&found);
    for (const struct system_set *set = system_sets; c->source == DEFINITION_SHIPPED && SUCCEEDED(hr) && set->name;
         set++)
        hr = texts_add(&found, set->name);
    if (FAILED(hr)) {
        texts_free(&found);
        return hr;
    }
    texts_free(names);
    *names = found;
    return S_OK;
}

/* SPDX-License-Identifier: MIT */
/* Registered providers, from the files that the registry names. */
#include "engine/etw/registered_manifests.h"

#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/etw/decode/manifest/registered_keys.h"
#include "engine/etw/decode/manifest/wevt_template.h"

#include <string.h>

#define NO_TEMPLATE HRESULT_FROM_WIN32(1813) /* ERROR_RESOURCE_TYPE_NOT_FOUND */

static bool is_missing(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
}

/* A file of a value, with its variables replaced; *out NULL: there is no such value. */
static HRESULT read_path(struct registry_key *key, const char *name, char **out)
{
    char *text;
    HRESULT hr = registry_read_text(key, name, &text);
    *out = hr == S_OK ? host_expand_environment(text) : NULL;
    if (hr == S_OK && !*out)
        hr = E_OUTOFMEMORY;
    memory_free(text);
    return FAILED(hr) ? hr : S_OK;
}

/* Messages are no reason to fail: names and numbers are there without. */
static HRESULT add_messages(const char *path, struct message_tables *to)
{
    HRESULT hr = message_tables_load(path, to);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* folder\de-DE\name.mui, and folder\en-US\name.mui, which most have. */
static HRESULT add_satellites(const char *path, const char *languages, struct message_tables *to)
{
    char *folder = path_folder(path), *all = text_format("%s;en-US", languages ? languages : "");
    HRESULT hr = folder && all ? S_OK : E_OUTOFMEMORY;
    for (const char *at = all; SUCCEEDED(hr) && *at;) {
        const size_t length = strcspn(at, ";");
        char *language = text_copy_n(at, length);
        char *name = language && length ? text_format("%s.mui", path_name(path)) : NULL;
        char *below = name && !path_names_fault(language) ? path_join(folder, language) : NULL;
        char *whole = below ? path_join(below, name) : NULL;
        if (whole && file_find(whole) == S_OK)
            hr = add_messages(whole, to);
        memory_free(language);
        memory_free(name);
        memory_free(below);
        memory_free(whole);
        at += length + (at[length] == ';');
    }
    memory_free(folder);
    memory_free(all);
    return hr;
}

static HRESULT add_all_messages(struct provider_manifest *m, const char *message, const char *parameters,
                                const char *languages)
{
    HRESULT hr = S_OK;
    if (message && (!m->resource_file || !text_equal_nocase(message, m->resource_file)))
        hr = add_messages(message, &m->messages);
    if (SUCCEEDED(hr) && (message || m->resource_file))
        hr = add_satellites(message ? message : m->resource_file, languages, &m->messages);
    for (const char *at = parameters ? parameters : ""; SUCCEEDED(hr) && *at;) {
        const size_t length = strcspn(at, ";");
        char *one = text_copy_n(at, length);
        hr = one ? add_messages(one, &m->parameters) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            hr = add_satellites(one, languages, &m->parameters);
        memory_free(one);
        at += length + (at[length] == ';');
    }
    message_tables_sort(&m->messages);
    message_tables_sort(&m->parameters);
    return hr;
}

/* Takes the provider out of what a file has. */
static HRESULT take_provider(const char *path, const GUID *guid, struct provider_manifest **out)
{
    struct provider_manifests list;
    HRESULT hr = wevt_template_load(path, &list);
    for (size_t i = 0; hr == S_OK && i < list.count; i++)
        if (guid_equal(&list.items[i]->guid, guid)) {
            *out = list.items[i];
            list.items[i] = NULL;
            break;
        }
    provider_manifests_free(&list);
    if (SUCCEEDED(hr) && !*out)
        return error_set(NO_TEMPLATE, "%s: it has no WEVT_TEMPLATE of the provider", path);
    return hr;
}

HRESULT registered_manifest_load(const GUID *guid, const char *languages, struct provider_manifest **out)
{
    struct registry_key *key;
    char *name = NULL, *resource = NULL, *message = NULL, *parameters = NULL;
    *out = NULL;
    HRESULT hr = registered_provider_open(guid, false, &key);
    if (hr != S_OK)
        return hr;
    hr = registry_read_text(key, "", &name);
    if (SUCCEEDED(hr))
        hr = read_path(key, "ResourceFileName", &resource);
    if (SUCCEEDED(hr))
        hr = read_path(key, "MessageFileName", &message);
    if (SUCCEEDED(hr))
        hr = read_path(key, "ParameterFileName", &parameters);
    registry_close(key);
    if (SUCCEEDED(hr) && !resource)
        hr = error_set(NO_TEMPLATE, "%s: the registry names no resource file of it", name ? name : "a provider");
    if (SUCCEEDED(hr))
        hr = take_provider(resource, guid, out);
    if (SUCCEEDED(hr)) {
        (*out)->name = name;
        (*out)->resource_file = resource;
        (*out)->message_file = message;
        (*out)->parameter_file = parameters;
        hr = add_all_messages(*out, message, parameters, languages);
        name = resource = message = parameters = NULL;
    }
    if (FAILED(hr)) {
        provider_manifest_free(*out);
        *out = NULL;
    }
    if (is_missing(hr))
        hr = error_prefix(hr, "the resource file of %s", name ? name : "a provider");
    memory_free(name);
    memory_free(resource);
    memory_free(message);
    memory_free(parameters);
    return hr;
}

/* SPDX-License-Identifier: MIT */
/* Reads, lists, adds and removes event providers in the registry.

       SOFTWARE\Microsoft\Windows\CurrentVersion\WINEVT
         Publishers\{guid}                     default value: the event provider's name
           ResourceFileName                    DLL with WEVT_TEMPLATE; REG_EXPAND_SZ, like the other files
           MessageFileName, ParameterFileName  DLLs with message tables
           OpenPLAManifest                     ours: the manifest that was registered; marks the key as ours
           ChannelReferences\N                 name, Id and Flags of each channel
         Channels\NAME                         OwningPublisher and the settings of the channel

   If a manifest does not name a usable resource file, it is compiled to a DLL in the folder `manifests` of OpenPLA's
   data folder (wevt_template_write.c). The DLL is stored before the registry refers to it.

   Interruptions. OpenPLAManifest is written first, so that an incomplete registration is recognized as OpenPLA's.
   Registering the manifest again overwrites what an incomplete registration left in the registry, and removing the
   manifest deletes it. Deletion removes the channels first, then the event provider's key, and then the DLL. Keys
   without OpenPLAManifest belong to other programs and are changed only if `force` is set. If a key has no resource
   file, its event provider cannot be used; this does not affect other event providers. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/registry.h"
#include "engine/etw/decode/manifest/message_tables.h"
#include "engine/etw/decode/manifest/wevt_template.h"
#include "engine/etw/manifest_origins.h"

#include <stdio.h>
#include <string.h>

#define WINEVT_KEY     "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WINEVT"
#define PUBLISHERS_KEY WINEVT_KEY "\\Publishers"
#define CHANNELS_KEY   WINEVT_KEY "\\Channels"
#define MANIFEST_VALUE "OpenPLAManifest"        /* OpenPLA's own value: the path of the manifest that was registered */
#define NO_TEMPLATE    HRESULT_FROM_WIN32(1813) /* ERROR_RESOURCE_TYPE_NOT_FOUND */

/* Opens the registry key of an event provider. S_FALSE: it is not registered. *out is NULL unless the key is open. */
static HRESULT registered_provider_open(const GUID *guid, bool to_change, struct registry_key **out)
{
    char text[39];
    *out = NULL;
    text_from_guid(guid, text);
    char *path = text_format(PUBLISHERS_KEY "\\%s", text);
    HRESULT hr = path ? registry_open(path, to_change, out) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

static bool is_missing(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
}

/* Reads a path and expands its variables. *out is NULL if the value does not exist. */
static HRESULT read_path(struct registry_key *key, const char *name, char **out)
{
    char *text;
    HRESULT hr = registry_read_text(key, name, &text);
    *out = hr == S_OK ? os_expand_environment(text) : NULL;
    if (hr == S_OK && !*out)
        hr = E_OUTOFMEMORY;
    memory_free(text);
    return FAILED(hr) ? hr : S_OK;
}

/* Adds the messages of a file. A file without messages is not a failure, because events can be shown with names and
   numbers. */
static HRESULT add_messages(const char *path, struct message_tables *to)
{
    HRESULT hr = message_tables_load(path, to);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Adds the messages in the MUI files for the preferred languages (folder\de-DE\name.mui) and for en-US. Most files have
   an MUI file for en-US. */
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

/* Reads the WEVT_TEMPLATE of a file and returns its event provider with this GUID. */
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
        return error_set(NO_TEMPLATE, "cannot read '%s': the file has no WEVT_TEMPLATE resource for the provider",
                         path);
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
        hr = error_set(NO_TEMPLATE, "cannot read the provider '%s': the registry names no resource file",
                       name ? name : "a provider");
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
        hr = error_prefix(hr, "cannot read the resource file of '%s'", name ? name : "a provider");
    memory_free(name);
    memory_free(resource);
    memory_free(message);
    memory_free(parameters);
    return hr;
}

/* ---- list of registered event providers ---- */

static HRESULT add_one(struct known_providers *list, const char *key_name)
{
    struct registry_key *key;
    GUID guid;
    char *name;
    if (!text_to_guid(key_name, &guid))
        return S_OK;
    HRESULT hr = registered_provider_open(&guid, false, &key);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK; /* the key was deleted in the meantime */
    hr = registry_read_text(key, "", &name);
    registry_close(key);
    if (hr == S_OK)
        return known_providers_add(list, &guid, SCHEMA_MANIFEST, name);
    return hr == E_OUTOFMEMORY ? hr : S_OK; /* skip it: without a name, users cannot refer to the event provider */
}

HRESULT registered_providers_list(struct known_providers *list)
{
    struct registry_key *publishers;
    struct texts keys = {0};
    HRESULT hr = registry_open(PUBLISHERS_KEY, false, &publishers);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    hr = registry_list(publishers, &keys);
    registry_close(publishers);
    for (size_t i = 0; SUCCEEDED(hr) && i < keys.count; i++)
        hr = add_one(list, keys.items[i]);
    texts_free(&keys);
    return hr;
}

/* ---- registering as wevtutil im and um do, with a DLL compiled from the manifest ---- */

#define MESSAGE_TABLE 11

static HRESULT compiled_path(const GUID *guid, char **out)
{
    char text[39];
    text_from_guid(guid, text);
    char *data = os_data_folder(), *folder = data ? path_join(data, "manifests") : NULL;
    char *name = text_format("%s.dll", text);
    *out = folder && name ? path_join(folder, name) : NULL;
    memory_free(data);
    memory_free(folder);
    memory_free(name);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* ---- compiling ---- */

static HRESULT manifest_compile_dll(const struct provider_manifest *m, uint8_t **file, size_t *size)
{
    struct provider_manifest *one = (struct provider_manifest *)(uintptr_t)m;
    const struct provider_manifests list = {.items = &one, .count = 1};
    const size_t count = 1 + m->messages.count;
    struct pe_resource *resources = memory_zero(count, sizeof *resources);
    uint8_t **parts = memory_zero(count, sizeof *parts);
    HRESULT hr = resources && parts ? wevt_template_write(&list, &parts[0], &resources[0].size) : E_OUTOFMEMORY;
    for (size_t i = 1; SUCCEEDED(hr) && i < count; i++) {
        const struct message_language *l = &m->messages.items[i - 1];
        resources[i].type_number = MESSAGE_TABLE;
        if (!language_number(l->name, &resources[i].language))
            hr = error_set(E_INVALIDARG, "unknown culture '%.60s' in the manifest", l->name);
        if (SUCCEEDED(hr))
            hr = message_table_write(l, &parts[i], &resources[i].size);
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        resources[i].bytes = parts[i];
    if (SUCCEEDED(hr)) {
        resources[0].type_name = "WEVT_TEMPLATE";
        hr = pe_resources_write(resources, count, file, size);
    }
    for (size_t i = 0; parts && i < count; i++)
        memory_free(parts[i]);
    memory_free(parts);
    memory_free(resources);
    return hr;
}

static HRESULT store_compiled(const struct provider_manifest *m, char **path)
{
    uint8_t *file = NULL;
    size_t size = 0;
    HRESULT hr = compiled_path(&m->guid, path);
    if (SUCCEEDED(hr))
        hr = manifest_compile_dll(m, &file, &size);
    char *folder = SUCCEEDED(hr) ? path_folder(*path) : NULL;
    if (SUCCEEDED(hr))
        hr = folder ? folder_create_protected(folder, PROTECTION_DATA) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_store(*path, file, size);
    memory_free(folder);
    memory_free(file);
    if (FAILED(hr)) {
        memory_free(*path);
        *path = NULL;
    }
    return hr;
}

/* Checks whether the file has a template of the event provider. S_OK: yes; S_FALSE: no. */
static HRESULT has_template(const char *unexpanded, const GUID *guid)
{
    struct provider_manifests list;
    char *path = os_expand_environment(unexpanded);
    HRESULT hr = path ? wevt_template_load(path, &list) : E_OUTOFMEMORY, found = S_FALSE;
    for (size_t i = 0; hr == S_OK && i < list.count; i++)
        if (guid_equal(&list.items[i]->guid, guid))
            found = S_OK;
    if (path)
        provider_manifests_free(&list);
    memory_free(path);
    return SUCCEEDED(hr) ? found : hr;
}

/* ---- the registry ---- */

static HRESULT write_path(struct registry_key *key, const char *name, const char *text)
{
    WCHAR *wide;
    size_t units;
    HRESULT hr = text ? text_to_utf16(text, &wide, &units) : registry_remove(key, name);
    if (!text || FAILED(hr))
        return FAILED(hr) ? hr : S_OK;
    hr = registry_write(key, name, REGISTRY_EXPAND_TEXT, wide, (units + 1) * sizeof *wide);
    memory_free(wide);
    return hr;
}

static HRESULT make_key(char *path, struct registry_key **key)
{
    bool made;
    HRESULT hr = path ? registry_create(path, &made, key) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

static char *provider_key(const GUID *guid, const char *below)
{
    char text[39];
    text_from_guid(guid, text);
    for (char *c = text; *c; c++)
        *c = *c >= 'A' && *c <= 'F' ? (char)(*c - 'A' + 'a') : *c;
    return text_format(PUBLISHERS_KEY "\\%s%s", text, below);
}

static HRESULT write_reference(const GUID *guid, size_t index, const struct manifest_field *channel)
{
    struct registry_key *key;
    char below[60];
    snprintf(below, sizeof below, "\\ChannelReferences\\%u", (unsigned)index);
    HRESULT hr = make_key(provider_key(guid, below), &key);
    if (FAILED(hr))
        return hr;
    hr = registry_write_text(key, "", channel->name);
    if (SUCCEEDED(hr))
        hr = registry_write_number(key, "Id", REGISTRY_NUMBER, channel->value);
    if (SUCCEEDED(hr))
        hr = registry_write_number(key, "Flags", REGISTRY_NUMBER, channel->channel && channel->channel->imported);
    registry_close(key);
    return hr;
}

static HRESULT write_channel(const GUID *guid, const struct manifest_field *f)
{
    const struct manifest_channel *c = f->channel;
    const struct {
        const char *name;
        uint32_t type;
        uint64_t value;
    } numbers[] = {
        {"Enabled", REGISTRY_NUMBER, c->enabled},
        {"Isolation", REGISTRY_NUMBER, c->isolation},
        {"Type", REGISTRY_NUMBER, c->type},
        {"MaxSize", REGISTRY_NUMBER, c->max_size},
        {"Retention", REGISTRY_NUMBER, c->retention},
        {"AutoBackupEnabled", REGISTRY_NUMBER, c->auto_backup},
        {"BufferSize", REGISTRY_NUMBER, c->buffer_size},
        {"MinBuffers", REGISTRY_NUMBER, c->min_buffers},
        {"MaxBuffers", REGISTRY_NUMBER, c->max_buffers},
        {"Latency", REGISTRY_NUMBER, c->latency},
        {"ClockType", REGISTRY_NUMBER, c->clock_type},
        {"Level", REGISTRY_NUMBER, c->level},
        {"Keywords", REGISTRY_LONG_NUMBER, c->keywords},
        {"FileMax", REGISTRY_NUMBER, c->file_max},
        {"SidType", REGISTRY_NUMBER, c->sid_type},
    };
    struct registry_key *key;
    char text[39];
    text_from_guid(guid, text);
    HRESULT hr = make_key(text_format(CHANNELS_KEY "\\%s", f->name), &key);
    if (FAILED(hr))
        return hr;
    hr = registry_write_text(key, "OwningPublisher", text);
    if (SUCCEEDED(hr) && c->access)
        hr = registry_write_text(key, "ChannelAccess", c->access);
    for (size_t i = 0; SUCCEEDED(hr) && i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].value != MANIFEST_UNSAID)
            hr = registry_write_number(key, numbers[i].name, numbers[i].type, numbers[i].value);
    registry_close(key);
    return hr;
}

static HRESULT write_channels(const struct provider_manifest *m)
{
    const struct manifest_fields *all = &m->fields[MANIFEST_CHANNELS];
    struct registry_key *key;
    if (!all->count)
        return S_OK;
    HRESULT hr = make_key(provider_key(&m->guid, "\\ChannelReferences"), &key);
    if (SUCCEEDED(hr)) {
        hr = registry_write_number(key, "Count", REGISTRY_NUMBER, all->count);
        registry_close(key);
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < all->count; i++) {
        hr = write_reference(&m->guid, i, &all->items[i]);
        if (SUCCEEDED(hr) && all->items[i].channel && !all->items[i].channel->imported)
            hr = write_channel(&m->guid, &all->items[i]);
    }
    return hr;
}

static HRESULT write_provider(const struct provider_manifest *m, const char *path, const char *resource,
                              const char *message, const char *parameter)
{
    struct registry_key *key;
    HRESULT hr = make_key(provider_key(&m->guid, ""), &key);
    if (FAILED(hr))
        return hr;
    /* This value marks the key as OpenPLA's. Write it first, so that an interrupted registration can be removed. */
    hr = registry_write_text(key, MANIFEST_VALUE, path);
    if (SUCCEEDED(hr))
        hr = registry_write_text(key, "", m->name);
    if (SUCCEEDED(hr))
        hr = write_path(key, "ResourceFileName", resource);
    if (SUCCEEDED(hr))
        hr = write_path(key, "MessageFileName", message);
    if (SUCCEEDED(hr))
        hr = write_path(key, "ParameterFileName", parameter);
    if (SUCCEEDED(hr))
        hr = write_path(key, "HelpLink", m->help_link);
    if (SUCCEEDED(hr))
        hr = registry_write_number(key, "Enabled", REGISTRY_NUMBER, 1);
    registry_close(key);
    return SUCCEEDED(hr) ? write_channels(m) : hr;
}

/* Deletes the event provider's list of channels, and the channels that name this event provider as their owner. */
static HRESULT delete_channels(const GUID *guid)
{
    struct registry_key *channels;
    struct texts names = {0};
    char own[39];
    char *references = provider_key(guid, "\\ChannelReferences");
    HRESULT hr = references ? registry_delete(references) : E_OUTOFMEMORY;
    memory_free(references);
    text_from_guid(guid, own);
    if (SUCCEEDED(hr))
        hr = registry_open(CHANNELS_KEY, false, &channels);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    hr = registry_list(channels, &names);
    registry_close(channels);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++) {
        struct registry_key *key = NULL;
        char *owner = NULL, *path = text_format(CHANNELS_KEY "\\%s", names.items[i]);
        hr = path ? registry_open(path, false, &key) : E_OUTOFMEMORY;
        if (hr == S_OK)
            hr = registry_read_text(key, "OwningPublisher", &owner);
        registry_close(key);
        if (hr == S_OK && text_equal_nocase(owner, own))
            hr = registry_delete(path);
        memory_free(owner);
        memory_free(path);
    }
    texts_free(&names);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT delete_provider(const GUID *guid)
{
    char *key = provider_key(guid, ""), *file = NULL;
    HRESULT hr = key ? delete_channels(guid) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = registry_delete(key);
    memory_free(key);
    if (SUCCEEDED(hr))
        hr = compiled_path(guid, &file);
    if (SUCCEEDED(hr) && file_find(file) == S_OK)
        hr = file_delete(file);
    memory_free(file);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- the registration functions ---- */

HRESULT manifest_registered_from(const GUID *guid, char **path)
{
    struct registry_key *key;
    *path = NULL;
    HRESULT hr = registered_provider_open(guid, false, &key);
    if (hr != S_OK)
        return hr;
    hr = registry_read_text(key, MANIFEST_VALUE, path);
    registry_close(key);
    return hr;
}

/* Returns S_OK if the event provider is not registered or was registered by OpenPLA, and S_FALSE if another program
   registered it. */
static HRESULT may_change(const GUID *guid)
{
    struct registry_key *key;
    char *path;
    HRESULT hr = registered_provider_open(guid, false, &key);
    registry_close(key);
    if (hr != S_OK)
        return FAILED(hr) ? hr : S_OK;
    hr = manifest_registered_from(guid, &path);
    memory_free(path);
    return hr;
}

static HRESULT check_channels(const struct provider_manifest *m)
{
    const struct manifest_fields *all = &m->fields[MANIFEST_CHANNELS];
    for (size_t i = 0; i < all->count; i++)
        if (strchr(all->items[i].name, '\\'))
            return error_set(E_INVALIDARG,
                             "cannot register '%s': the name of the channel '%.200s' contains a backslash", m->name,
                             all->items[i].name);
    return S_OK;
}

/* Selects the files to register. *own is the compiled DLL, from memory_alloc; NULL if none is needed. */
static HRESULT choose_files(const struct provider_manifest *m, const struct manifest_files *files, char **own,
                            struct manifest_files *chosen)
{
    *own = NULL;
    *chosen = (struct manifest_files){.resource = files->resource ? files->resource : m->resource_file,
                                      .message = files->message ? files->message : m->message_file,
                                      .parameter = files->parameter ? files->parameter : m->parameter_file};
    HRESULT hr = chosen->resource ? has_template(chosen->resource, &m->guid) : S_FALSE;
    if (hr == S_OK || hr == E_OUTOFMEMORY)
        return hr;
    if (files->resource && hr == S_FALSE)
        return error_set(HRESULT_FROM_WIN32(1813),
                         "cannot register '%s': the file has no WEVT_TEMPLATE resource for '%s'", files->resource,
                         m->name);
    if (files->resource)
        return hr;
    hr = store_compiled(m, own);
    chosen->resource = *own;
    if (!files->message)
        chosen->message = *own;
    return hr;
}

HRESULT manifest_register(const struct provider_manifest *m, const char *path, const struct manifest_files *files,
                          bool force)
{
    struct manifest_files chosen;
    char *own = NULL;
    HRESULT hr = check_channels(m);
    if (SUCCEEDED(hr))
        hr = may_change(&m->guid);
    if (hr == S_FALSE && !force)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                       "cannot register '%s': another program registered the provider (use -force to replace it)",
                       m->name);
    if (SUCCEEDED(hr))
        hr = choose_files(m, files, &own, &chosen);
    if (SUCCEEDED(hr))
        hr = delete_channels(&m->guid);
    if (SUCCEEDED(hr)) {
        hr = write_provider(m, path, chosen.resource, chosen.message, chosen.parameter);
        if (FAILED(hr)) {
            struct error_kept why = error_keep(hr);
            (void)delete_provider(&m->guid);
            hr = error_restore(&why);
        }
    }
    memory_free(own);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT manifest_unregister(const GUID *guid, bool force)
{
    struct registry_key *key;
    HRESULT hr = registered_provider_open(guid, false, &key);
    registry_close(key);
    if (hr != S_OK)
        return hr;
    hr = may_change(guid);
    if (hr == S_FALSE && !force)
        return error_set(E_ACCESSDENIED,
                         "cannot remove the provider: another program registered it (use -force to remove it)");
    return SUCCEEDED(hr) ? delete_provider(guid) : hr;
}

/* SPDX-License-Identifier: MIT */
/* Manages the MOF files that `openpla mof add` stores for this computer, and provides their classes as an origin of
   schemas. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/decode/manifest/message_tables.h"
#include "engine/etw/mof_classes.h"

#include <string.h>

#define FILE_MOST (2 * MOF_TEXT_MOST) /* maximum bytes of a file, which can be UTF-16 */

static HRESULT files_folder(char **out)
{
    char *data = os_data_folder();
    *out = data ? path_join(data, "mof") : NULL;
    memory_free(data);
    return *out ? S_OK : E_OUTOFMEMORY;
}

HRESULT mof_files_list(struct texts *names)
{
    char *folder;
    HRESULT hr = files_folder(&folder);
    if (FAILED(hr))
        return hr;
    hr = folder_list(folder, false, names);
    memory_free(folder);
    /* A writer that was killed leaves its temporary file, which is not a MOF file. */
    size_t kept = 0;
    for (size_t i = 0; SUCCEEDED(hr) && i < names->count; i++)
        if (names->items[i][0] == '~' && text_equal_nocase(path_extension(names->items[i]), ".tmp"))
            memory_free(names->items[i]);
        else
            names->items[kept++] = names->items[i];
    names->count = SUCCEEDED(hr) ? kept : names->count;
    return hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) ? S_OK : hr;
}

/* ---- load ---- */

static HRESULT load_one(struct mof_classes *classes, const char *folder, const char *name)
{
    char *path = path_join(folder, name), *bytes = NULL;
    size_t size = 0;
    HRESULT hr = path ? file_load(path, FILE_MOST, &bytes, &size) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = mof_classes_add(classes, name, bytes, size);
    memory_free(bytes);
    memory_free(path);
    return hr;
}

/* Tries once to load each remaining file. Names of loaded files are removed from the list. */
static HRESULT load_left(struct mof_classes *classes, const char *folder, struct texts *left, bool *any,
                         struct texts *warnings)
{
    size_t kept = 0;
    HRESULT hr = S_OK;
    *any = false;
    for (size_t i = 0; i < left->count; i++) {
        HRESULT one = FAILED(hr) ? hr : load_one(classes, folder, left->items[i]);
        if (SUCCEEDED(one)) {
            *any = true;
            memory_free(left->items[i]);
            continue;
        }
        if (one == E_OUTOFMEMORY)
            hr = one;
        else if (warnings && SUCCEEDED(hr))
            hr = texts_add(warnings, error_text(one));
        left->items[kept++] = left->items[i];
    }
    left->count = kept;
    return hr;
}

/* Loads all files. Skips the file `except`, if it exists. */
static HRESULT load_all(struct mof_classes *classes, const char *except, struct texts *warnings)
{
    char *folder;
    struct texts left = {0}, said = {0};
    HRESULT hr = files_folder(&folder);
    if (FAILED(hr))
        return hr;
    hr = mof_files_list(&left);
    if (FAILED(hr) && hr != E_OUTOFMEMORY) {
        /* A user without read access to the folder decodes with the built-in classes only. */
        hr = warnings ? texts_add(warnings, error_text(hr)) : S_OK;
    }
    for (size_t i = 0; SUCCEEDED(hr) && except && i < left.count; i++)
        if (text_equal_nocase(left.items[i], except)) {
            memory_free(left.items[i]);
            memmove(&left.items[i], &left.items[i + 1], (--left.count - i) * sizeof *left.items);
        }
    /* A base class may be in a later file, so files with missing classes are retried after the others. */
    for (bool any = true; SUCCEEDED(hr) && any && left.count;) {
        texts_free(&said);
        hr = load_left(classes, folder, &left, &any, &said);
    }
    for (size_t i = 0; SUCCEEDED(hr) && warnings && left.count && i < said.count; i++)
        hr = texts_add(warnings, said.items[i]);
    texts_free(&said);
    texts_free(&left);
    memory_free(folder);
    return hr;
}

/* Adds the classes of all files. A file may depend on any other file. A file with an error does not affect the other
   files: it is skipped with a warning in `warnings` (may be NULL). */
static HRESULT mof_files_load(struct mof_classes *classes, struct texts *warnings)
{
    return load_all(classes, NULL, warnings);
}

/* ---- add, remove ---- */

/* Checks the file together with all stored files other than the one that it replaces. */
static HRESULT check_together(const char *path, const char *name, const char *bytes, size_t size)
{
    struct mof_classes *classes;
    HRESULT hr = mof_classes_create(&classes);
    if (FAILED(hr))
        return hr;
    hr = load_all(classes, name, NULL);
    if (SUCCEEDED(hr))
        hr = mof_classes_add(classes, path, bytes, size);
    mof_classes_free(classes);
    return hr;
}

/* Returns a file's name as it is stored in the folder, or a copy of `name` if no such file exists. */
static HRESULT stored_name(const char *name, char **out, bool *found)
{
    struct texts names = {0};
    HRESULT hr = mof_files_list(&names);
    *found = false;
    *out = NULL;
    for (size_t i = 0; SUCCEEDED(hr) && !*found && i < names.count; i++)
        if (text_equal_nocase(names.items[i], name)) {
            *found = true;
            name = names.items[i];
        }
    if (SUCCEEDED(hr))
        hr = (*out = text_copy(name)) ? S_OK : E_OUTOFMEMORY;
    texts_free(&names);
    return hr;
}

static HRESULT mof_file_store(const char *name, const char *bytes, size_t size)
{
    char *folder, *path = NULL;
    HRESULT hr = files_folder(&folder);
    if (SUCCEEDED(hr))
        hr = folder_create_protected(folder, PROTECTION_DATA);
    if (SUCCEEDED(hr))
        hr = (path = path_join(folder, name)) ? file_store(path, bytes, size) : E_OUTOFMEMORY;
    memory_free(path);
    memory_free(folder);
    return hr;
}

HRESULT mof_files_add(const char *path, bool replace)
{
    char *bytes, *name = NULL;
    size_t size;
    bool found = false;
    HRESULT hr = file_load(path, FILE_MOST, &bytes, &size);
    if (FAILED(hr))
        return hr;
    hr = stored_name(path_name(path), &name, &found);
    if (SUCCEEDED(hr) && found && !replace)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                       "cannot add '%s': a MOF file of that name already exists", name);
    if (SUCCEEDED(hr))
        hr = check_together(path, name, bytes, size);
    if (SUCCEEDED(hr))
        hr = mof_file_store(name, bytes, size);
    memory_free(name);
    memory_free(bytes);
    return hr;
}

HRESULT mof_files_remove(const char *name)
{
    char *folder = NULL, *stored = NULL, *path = NULL;
    bool found = false;
    HRESULT hr = stored_name(name, &stored, &found);
    if (SUCCEEDED(hr) && !found)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                       "cannot remove '%.300s': no MOF file of that name was added", name);
    if (SUCCEEDED(hr))
        hr = files_folder(&folder);
    if (SUCCEEDED(hr))
        hr = (path = path_join(folder, stored)) ? file_delete(path) : E_OUTOFMEMORY;
    memory_free(path);
    memory_free(folder);
    memory_free(stored);
    return hr;
}

/* ---- the origin of schemas ---- */

/* Returns the number of the first preferred language that has a number; 0: no language has one. */
static HRESULT user_language(uint16_t *number)
{
    char *list = os_ui_languages();
    *number = 0;
    if (!list)
        return E_OUTOFMEMORY;
    for (char *at = list; *at && !*number;) {
        char *end = at + strcspn(at, ";"), *next = *end ? end + 1 : end;
        *end = '\0';
        if (!language_number(at, number))
            *number = 0;
        at = next;
    }
    memory_free(list);
    return S_OK;
}

HRESULT mof_files_classes(struct texts *warnings, struct mof_classes **out)
{
    struct mof_classes *classes;
    uint16_t language;
    HRESULT hr = mof_classes_create(&classes);
    if (FAILED(hr))
        return hr;
    hr = user_language(&language);
    if (SUCCEEDED(hr)) {
        mof_classes_language(classes, language);
        hr = mof_files_load(classes, warnings);
    }
    if (FAILED(hr)) {
        mof_classes_free(classes);
        return hr;
    }
    *out = classes;
    return S_OK;
}

static HRESULT origin_schema(void *context, const EVENT_RECORD *event, uint32_t pointer_size, struct event_schema **out)
{
    const EVENT_HEADER *h = &event->EventHeader;
    (void)pointer_size; /* the event's own data determine the size of pointers, regardless of the class */
    HRESULT hr =
        mof_classes_schema(context, &h->ProviderId, h->EventDescriptor.Opcode, h->EventDescriptor.Version, out);
    if (hr != HRESULT_FROM_WIN32(ERROR_NOT_FOUND))
        return hr;
    struct error_kept why = error_keep(hr);
    return error_set(S_FALSE, "%s", why.text);
}

static HRESULT origin_providers(void *context, struct known_providers *list)
{
    const struct mof_provider *providers;
    const size_t count = mof_classes_providers(context, &providers);
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = known_providers_add(list, &providers[i].guid, SCHEMA_MOF, text_copy(providers[i].name));
    return hr;
}

/* Appends the keywords (the Flags of the event provider's class) or the levels (its Level). There are no other
   fields. */
static HRESULT origin_fields(void *context, const GUID *provider, unsigned kind, struct known_fields *list)
{
    const struct mof_provider *providers;
    const size_t known = mof_classes_providers(context, &providers);
    struct mof_field *fields = NULL;
    size_t count = 0, at = 0;
    while (at < known && !guid_equal(&providers[at].guid, provider))
        at++;
    if (at == known)
        return S_FALSE;
    HRESULT hr = kind > 1 ? S_OK : mof_classes_fields(context, provider, kind ? "Level" : "Flags", &fields, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = known_fields_add(list, fields[i].name, fields[i].description, fields[i].value);
    memory_free(fields);
    return FAILED(hr) ? hr : S_OK;
}

static void origin_free(void *context)
{
    mof_classes_free(context);
}

HRESULT mof_origin(struct schema_origin *out)
{
    struct mof_classes *classes;
    HRESULT hr = mof_files_classes(NULL, &classes);
    if (FAILED(hr))
        return hr;
    *out = (struct schema_origin){.source = SCHEMA_MOF,
                                  .context = classes,
                                  .schema = origin_schema,
                                  .providers = origin_providers,
                                  .fields = origin_fields,
                                  .free = origin_free};
    return S_OK;
}

/* SPDX-License-Identifier: MIT */
/* Writes the table of registration.def and the service, all or nothing, and removes exactly that. */
#include "reg/registration.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "mspla.h"
#include "reg/program_folder.h"
#include "reg/service.h"

#include <windows.h>
#include <string.h>

#define REPLACED                       "Software\\OpenPLA\\Replaced"

/* The table's number of methods must match the IDL. */
#define INTERFACE(name, guid, methods) _Static_assert(sizeof(name##Vtbl) == (methods) * sizeof(void *), #name);
#include "reg/interfaces.def"
#undef INTERFACE

/* Returns the path of openpla.dll for 32-bit programs; NULL: out of memory. */
static char *narrow_module(const char *folder)
{
    return text_format("%s\\" OPENPLA_FOLDER_32 "\\openpla.dll", folder);
}

static void row_free(struct registration_row *row)
{
    memory_free(row->root);
    memory_free(row->key);
    memory_free(row->name);
    registered_value_free(&row->value);
}

/* Takes ownership of the strings of the entry. */
static HRESULT row_of(struct registration_entry *from, struct registration_row *row)
{
    *row = (struct registration_row){.root = from->root,
                                     .key = from->key,
                                     .name = from->name,
                                     .key_only = from->kind == REGISTRATION_KEY_ONLY,
                                     .service = from->service,
                                     .narrow = from->narrow};
    from->root = from->key = from->name = NULL;
    switch (from->kind) {
    case REGISTRATION_STRING:
        return registry_text(from->data, &row->value);
    case REGISTRATION_NUMBER:
        return registry_number(from->data, &row->value);
    case REGISTRATION_BYTES:
        return registry_bytes(from->data, &row->value);
    default:
        return S_OK;
    }
}

HRESULT registration_expand(enum registration_mode mode, const char *folder, struct registration_rows *out)
{
    struct registration_rows rows = {0};
    struct registration_entries entries = {0};
    HRESULT hr = registration_table(mode, folder, &entries);
    for (size_t i = 0; i < entries.count && SUCCEEDED(hr); i++)
        if (!memory_grow((void **)&rows.items, &rows.capacity, rows.count + 1, sizeof(*rows.items)))
            hr = E_OUTOFMEMORY;
        else
            hr = row_of(&entries.items[i], &rows.items[rows.count++]);
    registration_entries_free(&entries);
    if (SUCCEEDED(hr))
        *out = rows;
    else
        registration_rows_free(&rows);
    return hr;
}

void registration_rows_free(struct registration_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        row_free(&rows->items[i]);
    memory_free(rows->items);
    memset(rows, 0, sizeof(*rows));
}

static char *server_path(const char *folder)
{
    return text_format("%s\\openplasrv.exe", folder);
}

enum owner { OWNER_NOBODY, OWNER_THIS, OWNER_OTHER_FOLDER, OWNER_FOREIGN };

/* Finds the owner of the class DataCollectorSet in this mode. *module (may become NULL) is the module that its
   registration names. */
static HRESULT find_owner(enum registration_mode mode, const char *folder, enum owner *owner, char **module)
{
    static const struct {
        const char *key, *before, *program, *after;
    } servers[] = {{"InprocServer32", "", "openpla.dll", ""},
                   {"LocalServer32", "\"", "openplasrv.exe", "\" -Embedding"}};
    char *guid = registration_guid(mode, &registration_classes[0]);
    HRESULT hr = guid ? S_OK : E_OUTOFMEMORY;
    size_t i, units;

    *owner = OWNER_NOBODY;
    *module = NULL;
    for (i = 0; i < 2 && SUCCEEDED(hr) && !*module; i++) {
        struct registered_value value = {0};
        char *key = text_format("Software\\Classes\\CLSID\\%s\\%s", guid, servers[i].key);
        char *ours = text_format("%s%s\\%s%s", servers[i].before, folder, servers[i].program, servers[i].after);
        char *anywhere = text_format("*\\%s%s", servers[i].program, servers[i].after);
        hr = key && ours && anywhere ? registry_get(key, NULL, &value) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr) && value.exists) {
            for (units = value.size / sizeof(WCHAR); units && !((WCHAR *)value.data)[units - 1]; units--)
                ;
            hr = text_from_utf16((WCHAR *)value.data, units, true, module);
        }
        if (SUCCEEDED(hr) && *module)
            *owner = text_equal_nocase(*module, ours)  ? OWNER_THIS
                     : text_matches(anywhere, *module) ? OWNER_OTHER_FOLDER
                                                       : OWNER_FOREIGN;
        registered_value_free(&value);
        memory_free(key);
        memory_free(ours);
        memory_free(anywhere);
    }
    memory_free(guid);
    return hr;
}

/* Saves another module's value of the row, under the same path below REPLACED, even if it equals ours, because it must
   outlive ours. A value that is already saved is older and stays. */
static HRESULT keep_row(struct registry_changes *changes, const struct registration_row *row)
{
    struct registered_value present = {0}, kept = {0};
    char *key = text_format("%s\\%s", REPLACED, row->key);
    bool exists = false;
    HRESULT hr = key ? registry_key_exists(row->key, &exists) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && exists)
        hr = registry_make_key(changes, key);
    if (SUCCEEDED(hr) && exists && !row->key_only)
        hr = registry_get(row->key, row->name, &present);
    if (SUCCEEDED(hr) && present.exists) {
        hr = registry_get(key, row->name, &kept);
        if (SUCCEEDED(hr) && !kept.exists)
            hr = registry_put(changes, key, row->name, &present);
    }
    registered_value_free(&present);
    registered_value_free(&kept);
    memory_free(key);
    return hr;
}

/* Removes a value if it is ours, and restores the value it had replaced. */
static HRESULT remove_value(const struct registration_row *row, const char *kept_key)
{
    struct registry_changes changes = {0};
    struct registered_value present = {0}, kept = {0};
    HRESULT hr = registry_get(row->key, row->name, &present);
    if (SUCCEEDED(hr))
        hr = registry_get(kept_key, row->name, &kept);
    if (SUCCEEDED(hr) && registered_value_equal(&present, &row->value))
        hr = registry_put(&changes, row->key, row->name, &kept);
    registered_value_free(&present);
    registered_value_free(&kept);
    registry_changes_free(&changes);
    return hr;
}

/* Removes the row's value, and its key if nothing is left in it and it did not exist before. */
static HRESULT remove_row(const struct registration_row *row)
{
    char *kept_key = text_format("%s\\%s", REPLACED, row->key);
    bool kept = false;
    HRESULT hr = kept_key ? registry_key_exists(kept_key, &kept) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !row->key_only)
        hr = remove_value(row, kept_key);
    if (SUCCEEDED(hr) && !kept)
        hr = registry_prune(row->root, row->key);
    memory_free(kept_key);
    return hr;
}

static HRESULT write_rows(const struct registration_rows *rows, const struct registration *what, bool keep, bool narrow,
                          struct registry_changes *changes)
{
    static const struct registered_value absent = {0};
    HRESULT hr = S_OK;
    size_t i;
    /* Saves all rows, including those that are not written: a row that is not saved would be treated as ours when ours
       are removed. */
    for (i = 0; keep && i < rows->count && SUCCEEDED(hr); i++)
        hr = keep_row(changes, &rows->items[i]);
    for (i = 0; i < rows->count && SUCCEEDED(hr); i++) {
        const struct registration_row *row = &rows->items[i];
        if (row->narrow && !narrow)
            continue;
        if (row->key_only)
            hr = registry_make_key(changes, row->key);
        else
            hr = registry_put(changes, row->key, row->name, row->service && !what->service ? &absent : &row->value);
    }
    return hr;
}

static HRESULT foreign(const char *module)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                     "class %s%s belongs to %s (use /dropin to replace it; /unregserver restores it)",
                     registration_classes[0].digits, REGISTRATION_TAIL_DROPIN, module);
}

/* Adds the reason to E_ACCESSDENIED: on Windows, TrustedInstaller owns the keys of Windows' classes, and even
   administrators cannot write there. */
static HRESULT registration_explain_denied(HRESULT hr)
{
    if (hr != E_ACCESSDENIED)
        return hr;
    char *text = text_copy(error_text(hr));
    if (text)
        hr = error_set(
            hr,
            "%s (register as an administrator; if Windows protects the keys of its PLA, run allow-dropin.ps1 first)",
            text);
    memory_free(text);
    return hr;
}

HRESULT registration_write(const struct registration *what)
{
    struct registration_rows rows = {0};
    struct registry_changes changes = {0};
    struct service_kept earlier = {0};
    char *server = server_path(what->folder), *narrow = narrow_module(what->folder), *module = NULL;
    enum owner owner = OWNER_NOBODY;
    HRESULT hr = server && narrow ? find_owner(what->mode, what->folder, &owner, &module) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && owner == OWNER_FOREIGN && !what->replace)
        hr = foreign(module);
    if (SUCCEEDED(hr) && what->service)
        hr = program_folder_check(what->folder);
    if (SUCCEEDED(hr))
        hr = registration_expand(what->mode, what->folder, &rows);
    if (SUCCEEDED(hr))
        hr =
            registration_explain_denied(write_rows(&rows, what, owner == OWNER_FOREIGN, file_exists(narrow), &changes));
    if (SUCCEEDED(hr) && !what->rows_only && what->service)
        hr = service_keep(&earlier);
    if (SUCCEEDED(hr) && !what->rows_only)
        hr = what->service ? service_install(server) : service_remove(server);
    if (SUCCEEDED(hr) && what->service && what->start)
        hr = service_start();
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        registry_changes_undo(&changes);
        const HRESULT back = server ? service_restore(&earlier, server) : S_OK;
        const struct error_kept not_back = error_keep(back);
        hr = error_restore(&why);
        if (FAILED(back))
            hr = error_set(hr, "%.480s; nor is the service what it was: %.480s", why.text, not_back.text);
    }
    service_kept_free(&earlier);
    registry_changes_free(&changes);
    registration_rows_free(&rows);
    memory_free(module);
    memory_free(narrow);
    memory_free(server);
    return FAILED(hr) ? hr : S_OK;
}

/* Returns the rows of the other mode if it is registered from this folder too, because removal keeps rows that both
   modes need. */
static HRESULT other_rows(const struct registration *what, struct registration_rows *out)
{
    const enum registration_mode other = what->mode == REGISTRATION_DROPIN ? REGISTRATION_BESIDE : REGISTRATION_DROPIN;
    enum owner owner;
    char *module = NULL;
    HRESULT hr = find_owner(other, what->folder, &owner, &module);
    memory_free(module);
    return SUCCEEDED(hr) && owner == OWNER_THIS ? registration_expand(other, what->folder, out) : hr;
}

static bool is_among(const struct registration_row *row, const struct registration_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (!strcmp(row->key, rows->items[i].key) && !row->name == !rows->items[i].name &&
            (!row->name || !strcmp(row->name, rows->items[i].name)))
            return true;
    return false;
}

HRESULT registration_remove(const struct registration *what)
{
    struct registration_rows rows = {0}, others = {0};
    char *server = server_path(what->folder), *module = NULL;
    enum owner owner = OWNER_NOBODY;
    HRESULT hr = server ? find_owner(what->mode, what->folder, &owner, &module) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && owner != OWNER_THIS) {
        hr = S_FALSE;
    } else if (SUCCEEDED(hr)) {
        hr = registration_expand(what->mode, what->folder, &rows);
        if (SUCCEEDED(hr))
            hr = other_rows(what, &others);
        if (SUCCEEDED(hr)) {
            HRESULT hr2 = others.count ? S_OK : what->rows_only ? service_stop(server) : service_remove(server);
            /* find_owner checks a row of the class, which is among the first. It is removed last, so that a second
               attempt finds it. */
            for (size_t i = rows.count; i-- > 0;) {
                hr = is_among(&rows.items[i], &others) ? S_OK : remove_row(&rows.items[i]);
                hr2 = FAILED(hr2) ? hr2 : hr;
            }
            if (SUCCEEDED(hr2) && what->mode == REGISTRATION_DROPIN)
                hr2 = registry_delete_tree("Software", REPLACED);
            hr = FAILED(hr2) ? hr2 : S_OK;
        }
    }
    registration_rows_free(&others);
    registration_rows_free(&rows);
    memory_free(module);
    memory_free(server);
    return hr;
}

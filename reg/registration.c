/* SPDX-License-Identifier: MIT */
/* Writes the table of registration.def and the service, all or nothing, and removes exactly that. */
#include "reg/registration.h"

#include "engine/os/file.h"
#include "engine/os/memory.h"
#include "idl/proxy_clsid.h"
#include "mspla.h"
#include "reg/program_folder.h"
#include "reg/service.h"

#include <windows.h>
#include <string.h>

#define GUID_TAIL "-098B-11D8-9414-505054503030}"
#define REPLACED  "Software\\OpenPLA\\Replaced"

enum row_when { ONCE, WITH_SERVICE, EACH_CLASS, SERVER_CLASS, CLIENT_CLASS, EACH_INTERFACE };
enum row_kind { ROW_VALUE, ROW_KEY, ROW_ABSENT };
#define REG_KIND_STRING   ROW_VALUE
#define REG_KIND_KEY_ONLY ROW_KEY
#define REG_KIND_NO_VALUE ROW_ABSENT

static const struct table_row {
    bool narrow; /* for 32-bit programs */
    enum row_when when;
    const char *root, *key, *name;
    enum row_kind kind;
    const char *data;
} table[] = {
#define ROW(when, root, key, name, type, data)    {false, when, root, key, name, REG_KIND_##type, data},
#define ROW_32(when, root, key, name, type, data) {true, when, root, key, name, REG_KIND_##type, data},
#include "reg/registration.def"
#undef ROW_32
#undef ROW
};

/* A class or interface: what {guid}, {name}, {title} and {methods} stand for. */
struct subject {
    const char *guid, *name, *title;
    unsigned int methods;
    bool facade; /* a class that is registered in process too */
};
static const struct subject classes[] = {
#define CLASS(name, guid, title, create, category)    {"{" guid GUID_TAIL, #name, title, 0, false},
#define FACADE(name, guid, title, create, for_client) {"{" guid GUID_TAIL, #name, title, 0, true},
#include "reg/classes.def"
#undef FACADE
#undef CLASS
};
static const struct subject interfaces[] = {
#define INTERFACE(name, guid) {"{" guid GUID_TAIL, #name, "", sizeof(name##Vtbl) / sizeof(void *), false},
#include "reg/interfaces.def"
#undef INTERFACE
};
static const struct subject nothing = {"", "", "", 0, false};

/* openpla.dll for 32-bit programs. NULL when memory is out. */
static char *narrow_module(const char *folder)
{
    return text_format("%s\\" OPENPLA_FOLDER_32 "\\openpla.dll", folder);
}

/* *out is NULL when memory is out. */
static HRESULT placeholder(const char *word, size_t length, const char *folder, bool narrow,
                           const struct subject *subject, char **out)
{
#define IS(text) (length == sizeof(text) - 1 && !memcmp(word, text, length))
    if (IS("folder"))
        *out = text_copy(folder);
    else if (IS("module"))
        *out = narrow ? narrow_module(folder) : text_format("%s\\openpla.dll", folder);
    else if (IS("server"))
        *out = text_format("%s\\openplasrv.exe", folder);
    else if (IS("proxy"))
        *out = text_copy(OPENPLA_PROXY_CLSID_TEXT);
    else if (IS("guid"))
        *out = text_copy(subject->guid);
    else if (IS("name"))
        *out = text_copy(subject->name);
    else if (IS("title"))
        *out = text_copy(subject->title);
    else if (IS("methods"))
        *out = text_format("%u", subject->methods);
    else
        return error_set(E_INVALIDARG, "registration table: unknown placeholder {%.*s}", (int)length, word);
#undef IS
    return S_OK;
}

/* Braces around lower-case letters are a placeholder; those of a GUID hold other things too. */
static HRESULT fill_in(const char *text, const char *folder, bool narrow, const struct subject *subject, char **out)
{
    struct text_buffer buffer = {0};
    char *value = NULL;
    while (*text) {
        size_t length = *text == '{' ? strspn(text + 1, "abcdefghijklmnopqrstuvwxyz") : 0;
        if (!length || text[1 + length] != '}') {
            text_buffer_add_n(&buffer, text++, 1);
            continue;
        }
        HRESULT hr = placeholder(text + 1, length, folder, narrow, subject, &value);
        if (SUCCEEDED(hr) && !value)
            hr = E_OUTOFMEMORY;
        if (FAILED(hr)) {
            text_buffer_free(&buffer);
            return hr;
        }
        text_buffer_add(&buffer, value);
        memory_free(value);
        text += length + 2;
    }
    *out = text_buffer_take(&buffer);
    return *out ? S_OK : E_OUTOFMEMORY;
}

static void row_free(struct registration_row *row)
{
    memory_free(row->root);
    memory_free(row->key);
    memory_free(row->name);
    registered_value_free(&row->value);
}

static HRESULT fill_row(const struct table_row *from, const char *folder, const struct subject *subject,
                        struct registration_row *row)
{
    char *key, *data = NULL;
    HRESULT hr = fill_in(from->key, folder, from->narrow, subject, &key);
    if (FAILED(hr))
        return hr;
    row->key_only = from->kind == ROW_KEY;
    row->service = from->when == WITH_SERVICE;
    row->narrow = from->narrow;
    row->root = text_copy(from->root);
    row->key = text_format("%s\\%s", from->root, key);
    row->name = from->name ? text_copy(from->name) : NULL;
    memory_free(key);
    if (!row->root || !row->key || (from->name && !row->name))
        return E_OUTOFMEMORY;
    if (from->kind == ROW_VALUE) {
        hr = fill_in(from->data, folder, from->narrow, subject, &data);
        if (SUCCEEDED(hr))
            hr = registry_text(data, &row->value);
        memory_free(data);
    }
    return hr;
}

HRESULT registration_expand(const char *folder, struct registration_rows *out)
{
    struct registration_rows rows = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]) && SUCCEEDED(hr); i++) {
        const struct subject *subjects = &nothing;
        size_t count = 1;
        if (table[i].when == EACH_CLASS || table[i].when == SERVER_CLASS || table[i].when == CLIENT_CLASS) {
            subjects = classes;
            count = sizeof(classes) / sizeof(classes[0]);
        } else if (table[i].when == EACH_INTERFACE) {
            subjects = interfaces;
            count = sizeof(interfaces) / sizeof(interfaces[0]);
        }
        for (size_t j = 0; j < count && SUCCEEDED(hr); j++) {
            struct registration_row row = {0};
            if (table[i].when == (subjects[j].facade ? SERVER_CLASS : CLIENT_CLASS))
                continue;
            hr = fill_row(&table[i], folder, &subjects[j], &row);
            if (SUCCEEDED(hr) &&
                !memory_grow((void **)&rows.items, &rows.capacity, rows.count + 1, sizeof(*rows.items)))
                hr = E_OUTOFMEMORY;
            if (SUCCEEDED(hr))
                rows.items[rows.count++] = row;
            else
                row_free(&row);
        }
    }
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

/* Whose class DataCollectorSet is now. *module (may come back NULL) is what its registration names. */
static HRESULT find_owner(const char *folder, enum owner *owner, char **module)
{
    static const struct {
        const char *key, *before, *program, *after;
    } servers[] = {{"InprocServer32", "", "openpla.dll", ""},
                   {"LocalServer32", "\"", "openplasrv.exe", "\" -Embedding"}};
    HRESULT hr = S_OK;
    size_t i, units;

    *owner = OWNER_NOBODY;
    *module = NULL;
    for (i = 0; i < 2 && SUCCEEDED(hr) && !*module; i++) {
        struct registered_value value = {0};
        char *key = text_format("Software\\Classes\\CLSID\\%s\\%s", classes[0].guid, servers[i].key);
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
    return hr;
}

/* Keeps what another module has in the row's place, under the same path below REPLACED: a value that is like ours too,
   for it must outlive ours. What is kept already is older and stays. */
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

/* Removes one value as far as it is ours, or puts back what it had replaced. */
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

/* Removes the row's value and, when nothing is left in it and it was not there before us, its key. */
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
    /* All, those too that are not written: a row that is not kept is taken for ours when ours are removed. */
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

HRESULT registration_write(const struct registration *what)
{
    struct registration_rows rows = {0};
    struct registry_changes changes = {0};
    char *server = server_path(what->folder), *narrow = narrow_module(what->folder), *module = NULL;
    enum owner owner = OWNER_NOBODY;
    HRESULT hr = server && narrow ? find_owner(what->folder, &owner, &module) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && owner == OWNER_FOREIGN && !what->replace)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                       "class %s belongs to %s; /dropin takes its place and /unregserver puts it back", classes[0].guid,
                       module);
    if (SUCCEEDED(hr) && what->service)
        hr = program_folder_check(what->folder);
    if (SUCCEEDED(hr))
        hr = registration_expand(what->folder, &rows);
    if (SUCCEEDED(hr))
        hr = write_rows(&rows, what, owner == OWNER_FOREIGN, file_exists(narrow), &changes);
    if (SUCCEEDED(hr))
        hr = what->service ? service_install(server) : service_remove(server);
    if (FAILED(hr))
        registry_changes_undo(&changes);
    registry_changes_free(&changes);
    registration_rows_free(&rows);
    memory_free(module);
    memory_free(narrow);
    memory_free(server);
    return FAILED(hr) ? hr : S_OK;
}

HRESULT registration_remove(const struct registration *what)
{
    struct registration_rows rows = {0};
    char *server = server_path(what->folder), *module = NULL;
    enum owner owner = OWNER_NOBODY;
    HRESULT hr = server ? find_owner(what->folder, &owner, &module) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && owner != OWNER_THIS) {
        hr = S_FALSE;
    } else if (SUCCEEDED(hr)) {
        hr = registration_expand(what->folder, &rows);
        if (SUCCEEDED(hr)) {
            HRESULT hr2 = service_remove(server);
            /* The class's row that find_owner looks at is among the first: last, so that a second attempt finds it. */
            for (size_t i = rows.count; i-- > 0;) {
                hr = remove_row(&rows.items[i]);
                hr2 = FAILED(hr2) ? hr2 : hr;
            }
            if (SUCCEEDED(hr2))
                hr2 = registry_delete_tree("Software", REPLACED);
            hr = FAILED(hr2) ? hr2 : S_OK;
        }
    }
    registration_rows_free(&rows);
    memory_free(module);
    memory_free(server);
    return hr;
}

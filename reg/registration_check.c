/* SPDX-License-Identifier: MIT */
/* Compares the registry with the table of registration.def. */
#include "reg/registration_check.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"

#include <windows.h>

/* Returns the value as a text; *out is NULL if it does not exist. A value of another type becomes a string that never
   matches. */
static HRESULT text_of(const struct registered_value *value, char **out)
{
    *out = NULL;
    if (!value->exists)
        return S_OK;
    if (value->type != REG_SZ) {
        *out = text_format("(no text: type %lu)", value->type);
        return *out ? S_OK : E_OUTOFMEMORY;
    }
    size_t units = value->size / sizeof(WCHAR);
    while (units && !((const WCHAR *)value->data)[units - 1])
        units--;
    return text_from_utf16((const WCHAR *)value->data, units, true, out);
}

HRESULT registration_find_server(enum registration_mode mode, char **server)
{
    struct registered_value value = {0};
    /* Checks the first class, as registration does to find the owner. */
    char *guid = registration_guid(mode, &registration_classes[0]);
    char *key = guid ? text_format("Software\\Classes\\CLSID\\%s\\LocalServer32", guid) : NULL;
    HRESULT hr = key ? registry_get(key, "ServerExecutable", &value) : E_OUTOFMEMORY;
    *server = NULL;
    if (SUCCEEDED(hr))
        hr = text_of(&value, server);
    registered_value_free(&value);
    memory_free(key);
    memory_free(guid);
    return SUCCEEDED(hr) && !*server ? S_FALSE : hr;
}

static bool has_server_of_ours(enum registration_mode mode)
{
    char *server = NULL;
    const bool ours =
        registration_find_server(mode, &server) == S_OK && text_equal_nocase(path_name(server), "openplasrv.exe");
    memory_free(server);
    return ours;
}

enum registration_mode registration_mode_here(void)
{
    return !has_server_of_ours(REGISTRATION_DROPIN) && has_server_of_ours(REGISTRATION_BESIDE) ? REGISTRATION_BESIDE
                                                                                               : REGISTRATION_DROPIN;
}

HRESULT registration_is_by_service(enum registration_mode mode, bool *out)
{
    struct registered_value value = {0};
    HRESULT hr =
        registry_get(mode == REGISTRATION_BESIDE ? "Software\\Classes\\AppID\\{03837503" REGISTRATION_TAIL_BESIDE
                                                 : "Software\\Classes\\AppID\\{03837503" REGISTRATION_TAIL_DROPIN,
                     "LocalService", &value);
    *out = SUCCEEDED(hr) && value.exists;
    registered_value_free(&value);
    return hr;
}

static HRESULT compare_row(const struct registration_row *row, bool wanted,
                           HRESULT (*each)(void *user, const struct registration_fault *fault), void *user)
{
    struct registered_value present = {0};
    struct registration_fault fault = {.key = row->key, .name = row->name ? row->name : "", .narrow = row->narrow};
    char *is = NULL, *expected = NULL;
    bool there = true;
    HRESULT hr = row->key_only ? registry_key_exists(row->key, &there) : registry_get(row->key, row->name, &present);
    const bool equal = row->key_only ? there : wanted ? registered_value_equal(&present, &row->value) : !present.exists;
    if (SUCCEEDED(hr) && !equal) {
        hr = text_of(&present, &is);
        if (SUCCEEDED(hr) && wanted)
            hr = text_of(&row->value, &expected);
        fault.is = is;
        fault.expected = row->key_only ? "" : expected;
        if (SUCCEEDED(hr))
            hr = each(user, &fault);
    }
    registered_value_free(&present);
    memory_free(is);
    memory_free(expected);
    return hr;
}

HRESULT registration_compare(enum registration_mode mode, const char *folder, bool service,
                             HRESULT (*each)(void *user, const struct registration_fault *fault), void *user)
{
    struct registration_rows rows = {0};
    char *narrow = text_format("%s\\" OPENPLA_FOLDER_32 "\\openpla.dll", folder);
    HRESULT hr = narrow ? registration_expand(mode, folder, &rows) : E_OUTOFMEMORY;
    const bool with_narrow = narrow && file_exists(narrow);
    for (size_t i = 0; SUCCEEDED(hr) && i < rows.count; i++)
        if (with_narrow || !rows.items[i].narrow)
            hr = compare_row(&rows.items[i], service || !rows.items[i].service, each, user);
    registration_rows_free(&rows);
    memory_free(narrow);
    return hr;
}

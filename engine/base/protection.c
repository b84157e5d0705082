/* SPDX-License-Identifier: MIT */
/* Security descriptors of OpenPLA's objects, and checks of the data folder and the folders below it. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/process.h"
#include "engine/base/text.h"

#include <stdatomic.h>
#include <string.h>

static const char *descriptor_of(enum protection what)
{
#define PROTECTION(name, descriptor)                                                                                   \
    if (what == PROTECTION_##name)                                                                                     \
        return descriptor;
#include "engine/base/protection.def"
#undef PROTECTION
    return NULL;
}

static enum protection of_this_host(enum protection what)
{
    switch (os_is_wine() ? what : PROTECTION_NONE) {
    case PROTECTION_DATA:
    case PROTECTION_PLACE:
    case PROTECTION_JOURNAL:
    case PROTECTION_SECRETS:
        return PROTECTION_WINE_FOLDER;
    case PROTECTION_LOCK:
    case PROTECTION_MEMBERS_FILE:
    case PROTECTION_SECRET:
        return PROTECTION_WINE_FILE;
    default:
        return what;
    }
}

char *protection_sddl(enum protection what)
{
    const char *descriptor = descriptor_of(of_this_host(what)), *place = descriptor ? strstr(descriptor, "%s") : NULL;
    if (!place)
        return descriptor ? text_copy(descriptor) : NULL;
    char *own = process_own_sid();
    char *sddl = own ? text_format("%.*s%s%s", (int)(place - descriptor), descriptor, own, place + strlen("%s")) : NULL;
    memory_free(own);
    return sddl;
}

/* Hashes of the paths of folders that were checked together with their parents. Only this account can replace a folder
   below a folder of OpenPLA, so one check is sufficient. */
static _Atomic uint64_t checked[1024];

static bool is_checked(const char *path)
{
    const uint64_t hash = hash_text(HASH_START, path);
    return atomic_load(&checked[hash % (sizeof checked / sizeof *checked)]) == hash;
}

static void note_checked(const char *path)
{
    const uint64_t hash = hash_text(HASH_START, path);
    atomic_store(&checked[hash % (sizeof checked / sizeof *checked)], hash);
}

/* S_FALSE: the folder does not exist. */
static HRESULT check_one(const char *path)
{
    struct ownership o;
    HRESULT hr = file_ownership(path, &o);
    if (hr != S_OK)
        return hr;
    if (o.is_link)
        return error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME),
                         "'%s' is a link, not a folder: OpenPLA's files would be stored elsewhere", path);
    if (!o.is_folder)
        return error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                         "cannot create the folder '%s': a file with this name exists", path);
    if (o.is_foreign)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_OWNER),
                         "'%s' belongs to the account %s, which could change OpenPLA's files there (it must belong to "
                         "this account, the system or administrators)",
                         path, o.owner);
    return S_OK;
}

/* Calls `one` for the data folder and each folder on the way to `path`. S_FALSE: `path` is not below the data
   folder. */
static HRESULT each_folder(const char *path, HRESULT (*one)(const char *folder, bool last, const void *user),
                           const void *user)
{
    char *data = os_data_folder();
    const char *behind = data ? path_names_behind(data, path) : NULL;
    HRESULT hr = !data ? E_OUTOFMEMORY : behind || !strcmp(data, path) ? S_OK : S_FALSE;
    if (hr == S_OK)
        hr = one(data, !behind || !*behind, user);
    for (const char *at = behind ? behind : ""; hr == S_OK && *at;) {
        size_t length = strcspn(at, "\\/");
        char *folder = text_copy_n(path, (size_t)(at - path) + length);
        at += length;
        while (*at == '\\' || *at == '/')
            at++;
        hr = folder ? one(folder, !*at, user) : E_OUTOFMEMORY;
        memory_free(folder);
    }
    memory_free(data);
    return hr;
}

static HRESULT check_or_stop(const char *folder, bool last, const void *user)
{
    (void)last;
    (void)user;
    HRESULT hr = check_one(folder);
    return hr == S_FALSE ? E_ABORT : hr; /* ends the walk: nothing below a missing folder exists */
}

HRESULT folder_check_own(const char *path)
{
    if (is_checked(path))
        return S_OK;
    HRESULT hr = each_folder(path, check_or_stop, NULL);
    if (hr == S_OK)
        note_checked(path);
    return hr == E_ABORT || hr == S_FALSE ? S_OK : hr;
}

static HRESULT make_or_check(const char *folder, bool last, const void *user)
{
    const enum protection what = last ? *(const enum protection *)user : PROTECTION_DATA;
    HRESULT hr = check_one(folder);
    if (hr != S_FALSE)
        return hr;
    hr = folder_create_one(folder, what);
    return hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) || hr == HRESULT_FROM_WIN32(ERROR_FILE_EXISTS)
               ? check_one(folder)
               : hr;
}

HRESULT folder_create_protected(const char *path, enum protection what)
{
    if (is_checked(path) && folder_exists(path))
        return S_OK;
    char *data = os_data_folder(), *above = data ? path_folder(data) : NULL;
    HRESULT hr = above ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && *above && (path_names_behind(data, path) || !strcmp(data, path)))
        hr = folder_create(above);
    if (SUCCEEDED(hr))
        hr = each_folder(path, make_or_check, &what);
    if (hr == S_OK)
        note_checked(path);
    memory_free(above);
    memory_free(data);
    return hr == S_FALSE ? folder_create(path) : hr;
}

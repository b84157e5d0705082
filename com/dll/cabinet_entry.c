/* SPDX-License-Identifier: MIT */
#include "com/dll/cabinet_entry.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/pla/cabinet.h"
#include "engine/pla/sets.h"

#include <objbase.h>
#include <wchar.h>

static HRESULT check_path(const struct caller *caller, const char *argument, const char *path)
{
    const char *fault = *path ? path_root_fault(path) : "it is empty";
    if (fault)
        return error_set(E_INVALIDARG, "%s: \"%s\": %s", argument, path, fault);
    const bool drive =
        ((path[0] | 0x20) >= 'a' && (path[0] | 0x20) <= 'z') && path[1] == ':' && (path[2] == '\\' || path[2] == '/');
    if (!caller->in_process && !drive)
        return error_set(E_ACCESSDENIED,
                         "%s: \"%s\": a path with a drive is needed here: this process goes to no share, and knows no "
                         "current folder, for another",
                         argument, path);
    return S_OK;
}

HRESULT extract_for(const struct caller *caller, const char *cabinet, const char *folder)
{
    HRESULT hr = check_path(caller, "CabFilename", cabinet);
    if (SUCCEEDED(hr))
        hr = check_path(caller, "DestinationPath", folder);
    if (FAILED(hr))
        return hr;
    /* Under Wine all processes have one account, and COM tells nobody's (DECISIONS 22). */
    const bool impersonate = !caller->in_process && !host_is_wine();
    if (impersonate)
        hr = CoImpersonateClient();
    if (FAILED(hr))
        return error_set(hr, "Extract: the caller's rights cannot be had");
    hr = cabinet_extract(cabinet, NULL, folder, NULL);
    if (impersonate)
        CoRevertToSelf();
    return hr;
}

static HRESULT tell(const char *folder, const char *name, extracted_callback callback, void *context)
{
    WCHAR *wide = NULL;
    char *path = path_join(folder, name);
    for (char *at = path; at && *at; at++)
        if (*at == '/')
            *at = '\\';
    const HRESULT hr = path ? text_to_utf16(path, &wide, NULL) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        callback(wide, context);
    memory_free(wide);
    memory_free(path);
    return hr;
}

static HRESULT extract_and_tell(const char *cabinet, const char *folder, extracted_callback callback, void *context)
{
    struct cabinet *c;
    HRESULT hr = check_path(&caller_self, "cabinet", cabinet);
    if (SUCCEEDED(hr))
        hr = check_path(&caller_self, "folder", folder);
    if (SUCCEEDED(hr))
        hr = cabinet_open(cabinet, NULL, &c);
    if (FAILED(hr))
        return hr;
    hr = cabinet_extract_all(c, folder, NULL);
    for (size_t i = 0; SUCCEEDED(hr) && callback && i < cabinet_count(c); i++)
        hr = tell(folder, cabinet_entry_at(c, i)->name, callback, context);
    cabinet_close(c);
    return hr;
}

HRESULT WINAPI PlaExtractCabinet(const WCHAR *cabinet, const WCHAR *folder, extracted_callback callback, void *context)
{
    char *from = NULL, *to = NULL;
    if (!cabinet || !folder)
        return E_POINTER;
    HRESULT hr = text_from_utf16(cabinet, wcslen(cabinet), false, &from);
    if (SUCCEEDED(hr))
        hr = text_from_utf16(folder, wcslen(folder), false, &to);
    if (SUCCEEDED(hr))
        hr = extract_and_tell(from, to, callback, context);
    memory_free(from);
    memory_free(to);
    return hr;
}

HRESULT WINAPI PlaDeleteReport(const WCHAR *folder)
{
    char *path = NULL;
    if (!folder)
        return E_POINTER;
    HRESULT hr = text_from_utf16(folder, wcslen(folder), false, &path);
    if (SUCCEEDED(hr))
        hr = check_path(&caller_self, "folder", path);
    if (SUCCEEDED(hr))
        hr = data_manager_delete_report(path);
    memory_free(path);
    return hr;
}

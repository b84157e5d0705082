/* SPDX-License-Identifier: MIT */
/* The flat functions under pla.dll's names: cabinets, reports, and the arguments of tasks. */
#include "com/dll/exports.h"
#include "com/objects/convert.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/cabinet.h"
#include "engine/pla/sets.h"
#include "engine/pla/task.h"

#include <objbase.h>
#include <string.h>
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
                         "%s: invalid path '%s': expected a path with a drive (shares and the caller's current folder "
                         "are not available to this process)",
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
    /* Under Wine all processes have one account, and COM does not identify the caller (DECISIONS 22). */
    const bool impersonate = !caller->in_process && !os_is_wine();
    if (impersonate)
        hr = CoImpersonateClient();
    if (FAILED(hr))
        return error_set(hr, "Extract: cannot impersonate the caller");
    hr = cabinet_extract(cabinet, NULL, folder, NULL);
    if (impersonate)
        CoRevertToSelf();
    return hr;
}

static HRESULT extracted_file_report(const char *folder, const char *name, extracted_callback callback, void *context)
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

static HRESULT extract_and_report(const char *cabinet, const char *folder, extracted_callback callback, void *context)
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
        hr = extracted_file_report(folder, cabinet_entry_at(c, i)->name, callback, context);
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
        hr = extract_and_report(from, to, callback, context);
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

/* ---- the arguments of tasks ---- */

#define ARGUMENT  "arguments"
#define PAIRS_MAX 1024

static HRESULT texts_from_variants(SAFEARRAY *array, struct texts *out)
{
    LONG count;
    VARIANT *items;
    HRESULT hr = array_open(array, VT_VARIANT, &count, (void **)&items);
    if (FAILED(hr))
        return hr;
    for (LONG i = 0; SUCCEEDED(hr) && i < count; i++) {
        char *text = NULL;
        hr = V_VT(&items[i]) == VT_BSTR ? text_from_bstr(V_BSTR(&items[i]), ARGUMENT, &text) : DISP_E_TYPEMISMATCH;
        if (SUCCEEDED(hr))
            hr = texts_add_owned(out, text);
    }
    SafeArrayUnaccessData(array);
    return hr;
}

static HRESULT read_texts(const VARIANT *v, struct texts *out)
{
    char *text;
    if (V_VT(v) == (VT_BYREF | VT_VARIANT))
        v = V_VARIANTREF(v);
    if (!v)
        return E_POINTER;
    VARTYPE type = V_VT(v);
    const bool by_reference = type & VT_BYREF;
    if (by_reference && !V_BYREF(v))
        return E_POINTER;
    type &= (VARTYPE)~VT_BYREF;
    if (type == VT_BSTR) {
        HRESULT hr = text_from_bstr(by_reference ? *V_BSTRREF(v) : V_BSTR(v), ARGUMENT, &text);
        return SUCCEEDED(hr) ? texts_add_owned(out, text) : hr;
    }
    if (!(type & VT_ARRAY))
        return DISP_E_TYPEMISMATCH;
    SAFEARRAY *array = by_reference ? *V_ARRAYREF(v) : V_ARRAY(v);
    if (!array)
        return E_INVALIDARG;
    return type == (VT_ARRAY | VT_BSTR)      ? texts_from_array(array, ARGUMENT, out)
           : type == (VT_ARRAY | VT_VARIANT) ? texts_from_variants(array, out)
                                             : DISP_E_TYPEMISMATCH;
}

/* `lists` has space for one list per variable. */
static HRESULT read_pairs(const struct texts *all, struct task_variable *variables, struct texts *lists, size_t *count)
{
    HRESULT hr = S_OK;
    for (size_t i = 1; SUCCEEDED(hr) && i + 1 < all->count; i += 2) {
        size_t at = 0;
        while (at < *count && !text_equal_nocase(variables[at].name, all->items[i]))
            at++;
        struct task_variable *v = &variables[at];
        if (at == *count) {
            *v = (struct task_variable){.name = all->items[i], .text = all->items[i + 1]};
            ++*count;
            continue;
        }
        if (!v->list)
            hr = texts_add(&lists[at], v->text);
        if (SUCCEEDED(hr))
            hr = texts_add(&lists[at], all->items[i + 1]);
        v->list = &lists[at];
    }
    return hr;
}

static HRESULT task_arguments_expand(const struct texts *all, char **out)
{
    size_t pairs = all->count / 2, count = 0;
    if (all->count % 2 == 0)
        return error_set(
            E_INVALIDARG,
            ARGUMENT ": invalid array of %llu strings: expected the arguments, and then pairs of a name and a value",
            (unsigned long long)all->count);
    if (pairs > PAIRS_MAX)
        return error_set(E_INVALIDARG, ARGUMENT ": too many variables: the maximum is %d", PAIRS_MAX);
    struct task_variable *variables = memory_zero(pairs + 1, sizeof *variables);
    struct texts *lists = memory_zero(pairs + 1, sizeof *lists);
    HRESULT hr = variables && lists ? read_pairs(all, variables, lists, &count) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = task_expand_arguments(all->items[0], variables, count, out);
    for (size_t i = 0; lists && i < pairs; i++)
        texts_free(&lists[i]);
    memory_free(variables);
    memory_free(lists);
    return hr;
}

HRESULT WINAPI PlaExpandTaskArguments(VARIANT arguments, BSTR *out)
{
    struct texts all = {0};
    char *text = NULL;
    if (!out)
        return E_POINTER;
    *out = NULL;
    HRESULT hr = read_texts(&arguments, &all);
    if (SUCCEEDED(hr))
        hr = task_arguments_expand(&all, &text);
    if (SUCCEEDED(hr))
        hr = bstr_from_text(text, out);
    memory_free(text);
    texts_free(&all);
    return hr;
}

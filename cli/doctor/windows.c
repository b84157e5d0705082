/* SPDX-License-Identifier: MIT */
/* openpla doctor: what is registered, the files that it names, and Wine. */
#include "cli/doctor/doctor.h"
#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "reg/registration_check.h"
#include "reg/service.h"

#include <windows.h>

#define SERVER     "openplasrv.exe"
#define MOST_ROWS  20 /* of the table; the rest is a number */
#define FIRST_WINE 8  /* that the tests run under */

/* ---- files ---- */

static HRESULT check_file(struct doctor *d, const char *folder, const char *name)
{
    char *path = path_join(folder, name);
    HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !file_exists(path))
        hr = doctor_find(d, DOCTOR_FOUND_FILE_MISSING, NULL, "%s is missing", path);
    memory_free(path);
    return hr;
}

static HRESULT check_files(struct doctor *d, const char *folder)
{
    static const char *const files[] = {"openpla.dll", SERVER,        "openplahost.exe", "openpdh.dll",
                                        "openetw.dll", "opentdh.dll", "openetwhost.exe", NULL};
    HRESULT hr = S_OK;
    for (size_t i = 0; files[i] && SUCCEEDED(hr); i++)
        hr = check_file(d, folder, files[i]);
    return hr;
}

/* Whether two files have the same bytes; false too where one cannot be read. */
static bool is_same_build(const char *a, const char *b)
{
    struct file *left = NULL, *right = NULL;
    static char one[65536], other[65536];
    size_t got = 1, got_other = 1;
    HRESULT hr = file_open(a, FILE_READ, &left);
    if (SUCCEEDED(hr))
        hr = file_open(b, FILE_READ, &right);
    bool same = SUCCEEDED(hr);
    for (uint64_t at = 0; same && got; at += got) {
        hr = file_read_at(left, at, one, sizeof one, &got);
        if (SUCCEEDED(hr))
            hr = file_read_at(right, at, other, sizeof other, &got_other);
        same = SUCCEEDED(hr) && got == got_other && !memcmp(one, other, got);
    }
    file_close(left);
    file_close(right);
    error_clear();
    return same;
}

/* This program is in another folder than the server. */
static HRESULT check_elsewhere(struct doctor *d, const char *own)
{
    char *mine = path_join(own, "openpla.exe"), *theirs = path_join(d->folder, "openpla.exe");
    HRESULT hr = mine && theirs ? doctor_find(d, DOCTOR_FOUND_REGISTERED_ELSEWHERE, NULL,
                                              "the server is that of %s, this program is in %s", d->folder, own)
                                : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && file_exists(mine) && file_exists(theirs) && !is_same_build(mine, theirs))
        hr = doctor_find(d, DOCTOR_FOUND_VERSIONS_DIFFER, NULL, "%s and %s are not the same", mine, theirs);
    memory_free(mine);
    memory_free(theirs);
    return hr;
}

/* ---- the table ---- */

struct rows {
    struct doctor *d;
    uint32_t wide, narrow;
};

static HRESULT see_row(void *user, const struct registration_fault *f)
{
    struct rows *r = user;
    if (f->narrow) {
        r->narrow++;
        return S_OK;
    }
    if (r->wide++ >= MOST_ROWS)
        return S_OK;
    return doctor_find(r->d, DOCTOR_FOUND_REGISTRATION_DAMAGED, NULL,
                       "HKLM\\%s, value \"%s\": %s%s%s, and should be %s%s%s", f->key, f->name, f->is ? "is \"" : "is ",
                       f->is ? f->is : "absent", f->is ? "\"" : "", f->expected ? "\"" : "",
                       f->expected ? f->expected : "absent", f->expected ? "\"" : "");
}

/* Wine that runs programs with 32 bits has their system folder filled. */
static bool runs_32(void)
{
    char *path = host_expand_environment("%SystemRoot%\\syswow64\\cscript.exe");
    const bool runs = path && file_exists(path);
    memory_free(path);
    return runs;
}

static HRESULT check_rows(struct doctor *d)
{
    struct rows rows = {d, 0, 0};
    const enum registration_mode mode = registration_mode_here();
    bool by_service = false;
    char *narrow = path_join(d->folder, OPENPLA_FOLDER_32 "\\openpla.dll");
    HRESULT hr = narrow ? registration_is_by_service(mode, &by_service) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = registration_compare(mode, d->folder, by_service, see_row, &rows);
    if (SUCCEEDED(hr) && rows.wide > MOST_ROWS)
        hr = doctor_find(d, DOCTOR_FOUND_REGISTRATION_DAMAGED, NULL, "%u more values are absent or others",
                         (unsigned)(rows.wide - MOST_ROWS));
    if (SUCCEEDED(hr) && runs_32() && !file_exists(narrow))
        hr = doctor_find(d, DOCTOR_FOUND_PROGRAMS_32, NULL, "%s is missing", narrow);
    else if (SUCCEEDED(hr) && rows.narrow)
        hr = doctor_find(d, DOCTOR_FOUND_PROGRAMS_32, NULL,
                         "%u values of the registry that 32-bit programs see are absent or others",
                         (unsigned)rows.narrow);
    memory_free(narrow);
    return hr;
}

static HRESULT check_server_of(struct doctor *d, const char *server, const char *own)
{
    if (!text_equal_nocase(path_name(server), SERVER))
        return doctor_find(d, DOCTOR_FOUND_REGISTERED_OTHER, NULL, "the classes are served by %s", server);
    d->folder = path_folder(server);
    if (!d->folder)
        return E_OUTOFMEMORY;
    HRESULT hr = check_files(d, d->folder);
    if (SUCCEEDED(hr))
        hr = check_rows(d);
    if (SUCCEEDED(hr) && !text_equal_nocase(d->folder, own) && !file_is_same(d->folder, own))
        hr = check_elsewhere(d, own);
    return hr;
}

HRESULT doctor_check_registration(struct doctor *d)
{
    char *server = NULL, *own = host_module_folder();
    HRESULT hr = own ? registration_find_server(registration_mode_here(), &server) : E_OUTOFMEMORY;
    if (hr == S_FALSE)
        hr = doctor_find(d, DOCTOR_FOUND_NOT_REGISTERED, NULL, "the classes of PLA are not registered");
    else if (SUCCEEDED(hr))
        hr = check_server_of(d, server, own);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = doctor_find(d, DOCTOR_FOUND_REGISTRATION_DAMAGED, NULL, "the registry cannot be read: %s", error_text(hr));
    memory_free(server);
    memory_free(own);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- Wine ---- */

static HRESULT check_version(struct doctor *d)
{
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    const char *(*version)(void) =
        ntdll ? (const char *(*)(void))(void *)GetProcAddress(ntdll, "wine_get_version") : NULL;
    const char *text = version ? version() : "";
    uint32_t major = 0;
    for (const char *at = text; *at >= '0' && *at <= '9' && major < 1000; at++)
        major = major * 10 + (uint32_t)(*at - '0');
    return *text && major < FIRST_WINE ? doctor_find(d, DOCTOR_FOUND_WINE_OLD, NULL, "this is Wine %s", text) : S_OK;
}

static HRESULT check_prefix(struct doctor *d)
{
    static const char *const folders[] = {"%SystemRoot%", "%ProgramData%", NULL};
    HRESULT hr = S_OK;
    for (size_t i = 0; folders[i] && SUCCEEDED(hr); i++) {
        struct ownership o;
        char *path = host_expand_environment(folders[i]);
        if (!path)
            return E_OUTOFMEMORY;
        hr = file_ownership(path, &o);
        if (hr == S_OK && o.is_foreign)
            hr = doctor_find(d, DOCTOR_FOUND_PREFIX_FOREIGN, NULL,
                             "%s belongs to %s, who is not the user that runs Wine", path, o.owner);
        else if (FAILED(hr) && hr != E_OUTOFMEMORY)
            hr = doctor_find(d, DOCTOR_FOUND_PREFIX_FOREIGN, NULL, "%s: %s", path, error_text(hr));
        memory_free(path);
    }
    return hr;
}

HRESULT doctor_check_wine(struct doctor *d)
{
    if (!host_is_wine())
        return S_OK;
    HRESULT hr = check_version(d);
    if (SUCCEEDED(hr))
        hr = check_prefix(d);
    return FAILED(hr) ? hr : S_OK;
}

/* SPDX-License-Identifier: MIT */
/* Packs with Windows' cabinet.dll (FCI). The callbacks here open all files. FCI gets numbers instead of file names, so
   FCI cannot open a file by its path. */
#include "engine/base/memory.h"
#include "engine/pla/cabinet/cabinet_format.h"

#include <stdio.h>
#include <windows.h>
#include <fci.h>
#include <fcntl.h>
#include <string.h>

#define LIBRARY "cabinet.dll"
/* FCI needs a few scratch files. It gets their names from fci_name_scratch, and opens them by these names. */
enum { SCRATCH_FILES = 8, SCRATCH_NAME_MAX = 16 };
static const char output_name[] = "output";

/* A file that FCI has opened: one of OpenPLA's open files, with FCI's position in it. */
struct open_file {
    struct open_file *next;
    struct file *file;
    uint64_t at, size;
    size_t member; /* index of the member, for an input file */
    enum { OPEN_OUTPUT, OPEN_SCRATCH, OPEN_MEMBER } kind;
};
struct fci {
    struct packing *p;
    HRESULT hr; /* the first failure of a callback */
    struct error_kept why;
    struct open_file *open; /* all open files, which are closed if FCI fails */
    struct file *scratch[SCRATCH_FILES];
    unsigned scratch_named;
    HFCI handle;
    ERF erf;
    CCAB cabinet;
    HFCI(DIAMONDAPI *create)
    (PERF, PFNFCIFILEPLACED, PFNFCIALLOC, PFNFCIFREE, PFNFCIOPEN, PFNFCIREAD, PFNFCIWRITE, PFNFCICLOSE, PFNFCISEEK,
     PFNFCIDELETE, PFNFCIGETTEMPFILE, PCCAB, void *);
    BOOL(DIAMONDAPI *add)
    (HFCI, char *, char *, BOOL, PFNFCIGETNEXTCABINET, PFNFCISTATUS, PFNFCIGETOPENINFO, TCOMP);
    BOOL(DIAMONDAPI *end_folder)(HFCI, PFNFCIGETNEXTCABINET, PFNFCISTATUS);
    BOOL(DIAMONDAPI *end_cabinet)(HFCI, BOOL, PFNFCIGETNEXTCABINET, PFNFCISTATUS);
    BOOL(DIAMONDAPI *destroy)(HFCI);
};

/* Keeps the first failure of a callback, because FCI only reports its own error number. */
static HRESULT fci_keep_failure(struct fci *f, HRESULT hr, int *err)
{
    if (FAILED(hr) && SUCCEEDED(f->hr)) {
        f->hr = hr;
        f->why = error_keep(hr);
    }
    if (err)
        *err = FAILED(hr) ? 1 : 0;
    return hr;
}

/* ---- memory and files ---- */

static void *DIAMONDAPI from_memory(ULONG size)
{
    return memory_alloc(size);
}

static void DIAMONDAPI to_memory(void *p)
{
    memory_free(p);
}

static INT_PTR open_as(struct fci *f, struct file *file, int kind, size_t member, int *err)
{
    struct open_file *o = memory_zero(1, sizeof *o);
    if (!o) {
        fci_keep_failure(f, E_OUTOFMEMORY, err);
        return -1;
    }
    o->file = file;
    o->kind = kind;
    o->member = member;
    o->next = f->open;
    f->open = o;
    return (INT_PTR)o;
}

/* Opens the output or a scratch file. The file stays open when FCI closes it, because FCI may open it again. */
static INT_PTR DIAMONDAPI fci_open(char *name, int flags, int mode, int *err, void *user)
{
    struct fci *f = user;
    unsigned number;
    (void)flags, (void)mode;
    if (!strcmp(name, output_name))
        return open_as(f, f->p->out, OPEN_OUTPUT, 0, err);
    if (sscanf(name, "scratch%u", &number) != 1 || number >= SCRATCH_FILES) {
        fci_keep_failure(f, error_set(E_FAIL, LIBRARY " opened an unknown file '%s'", name), err);
        return -1;
    }
    if (!f->scratch[number] && FAILED(fci_keep_failure(f, file_open_scratch(&f->scratch[number]), err)))
        return -1;
    return open_as(f, f->scratch[number], OPEN_SCRATCH, 0, err);
}

static UINT DIAMONDAPI fci_read(INT_PTR handle, void *to, UINT size, int *err, void *user)
{
    struct fci *f = user;
    struct open_file *o = (struct open_file *)handle;
    size_t got = size;
    HRESULT hr;
    if (o->kind == OPEN_MEMBER) {
        const uint64_t left = o->size - o->at;
        got = left < size ? (size_t)left : size;
        hr = got ? packing_read(f->p, o->member, o->file, o->at, to, got) : S_OK;
    } else {
        hr = file_read_at(o->file, o->at, to, size, &got);
    }
    if (FAILED(fci_keep_failure(f, hr, err)))
        return (UINT)-1;
    o->at += got;
    return (UINT)got;
}

static UINT DIAMONDAPI fci_write(INT_PTR handle, void *data, UINT size, int *err, void *user)
{
    struct fci *f = user;
    struct open_file *o = (struct open_file *)handle;
    HRESULT hr = o->kind == OPEN_OUTPUT && o->at + size > CABINET_SIZE_MAX ? packing_too_large()
                                                                           : file_write_at(o->file, o->at, data, size);
    if (FAILED(fci_keep_failure(f, hr, err)))
        return (UINT)-1;
    o->at += size;
    return size;
}

static int DIAMONDAPI fci_close(INT_PTR handle, int *err, void *user)
{
    struct fci *f = user;
    if (err)
        *err = 0;
    for (struct open_file **at = &f->open; *at; at = &(*at)->next)
        if (*at == (struct open_file *)handle) {
            struct open_file *o = *at;
            *at = o->next;
            if (o->kind == OPEN_MEMBER)
                file_close(o->file);
            memory_free(o);
            return 0;
        }
    return -1;
}

static __LONG32 DIAMONDAPI fci_seek(INT_PTR handle, __LONG32 distance, int from, int *err, void *user)
{
    struct fci *f = user;
    struct open_file *o = (struct open_file *)handle;
    uint64_t end = 0;
    if (from == SEEK_END && FAILED(fci_keep_failure(f, file_size(o->file, &end), err)))
        return -1;
    const int64_t at = (from == SEEK_SET ? 0 : from == SEEK_CUR ? (int64_t)o->at : (int64_t)end) + distance;
    if (at < 0 || at > INT32_MAX) {
        fci_keep_failure(f, packing_too_large(), err);
        return -1;
    }
    o->at = (uint64_t)at;
    return (__LONG32)at;
}

static int DIAMONDAPI fci_delete(char *name, int *err, void *user)
{
    struct fci *f = user;
    unsigned number;
    if (err)
        *err = 0;
    if (sscanf(name, "scratch%u", &number) == 1 && number < SCRATCH_FILES) {
        file_close(f->scratch[number]);
        f->scratch[number] = NULL;
    }
    return 0;
}

/* Returns an unused name; names of deleted files are reused. */
static BOOL DIAMONDAPI fci_name_scratch(char *name, int room, void *user)
{
    struct fci *f = user;
    if (room < SCRATCH_NAME_MAX)
        return FALSE;
    for (unsigned i = 0; i < SCRATCH_FILES; i++) {
        const unsigned number = (f->scratch_named + i) % SCRATCH_FILES;
        if (f->scratch[number])
            continue;
        snprintf(name, SCRATCH_NAME_MAX, "scratch%u", number);
        f->scratch_named = number + 1;
        return TRUE;
    }
    return FALSE;
}

/* ---- FCI's callbacks ---- */

static int DIAMONDAPI fci_placed(PCCAB cabinet, char *name, __LONG32 size, BOOL continued, void *user)
{
    (void)cabinet, (void)name, (void)size, (void)continued, (void)user;
    return 0;
}

/* Always fails. FCI calls this function only if the members do not fit into one cabinet. */
static BOOL DIAMONDAPI fci_next(PCCAB cabinet, ULONG size, void *user)
{
    (void)cabinet, (void)size;
    fci_keep_failure(user, packing_too_large(), NULL);
    return FALSE;
}

static __LONG32 DIAMONDAPI fci_status(UINT what, ULONG first, ULONG second, void *user)
{
    struct fci *f = user;
    (void)first;
    if (FAILED(f->hr))
        return -1;
    return what == statusCabinet ? (__LONG32)second : 0;
}

/* Opens a member; `name` is its index in digits. */
static INT_PTR DIAMONDAPI fci_open_member(char *name, USHORT *date, USHORT *time, USHORT *attributes, int *err,
                                          void *user)
{
    struct fci *f = user;
    const struct cabinet_source *source = f->p->source;
    size_t member = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        member = member * 10 + (size_t)(*name - '0');
    struct file *in = NULL;
    if (member >= source->count || FAILED(fci_keep_failure(f, source->open(source->user, member, &in), err)))
        return -1;
    const INT_PTR handle = open_as(f, in, OPEN_MEMBER, member, err);
    if (handle == -1) {
        file_close(in);
        return -1;
    }
    const struct packed_row row = packing_row(&source->members[member]);
    ((struct open_file *)handle)->size = source->members[member].size;
    *date = row.date;
    *time = row.time;
    *attributes = row.attributes;
    return handle;
}

/* ---- packing a cabinet ---- */

static HRESULT fci_load_library(struct fci *f)
{
    HMODULE module = LoadLibraryExW(L"cabinet.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!module)
        return error_set(HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND), LIBRARY ": cannot load it: error %lu",
                         GetLastError());
    f->create = (void *)GetProcAddress(module, "FCICreate");
    f->add = (void *)GetProcAddress(module, "FCIAddFile");
    f->end_folder = (void *)GetProcAddress(module, "FCIFlushFolder");
    f->end_cabinet = (void *)GetProcAddress(module, "FCIFlushCabinet");
    f->destroy = (void *)GetProcAddress(module, "FCIDestroy");
    return f->create && f->add && f->end_folder && f->end_cabinet && f->destroy
               ? S_OK
               : error_set(HRESULT_FROM_WIN32(ERROR_PROC_NOT_FOUND),
                           LIBRARY ": does not export the functions that create cabinets");
}

/* Returns the failure that fci_keep_failure kept. If there is no kept failure, returns an error with FCI's error
   number. */
static HRESULT fci_failure(struct fci *f)
{
    if (FAILED(f->hr))
        return error_restore(&f->why);
    return f->erf.erfOper == FCIERR_ALLOC_FAIL
               ? E_OUTOFMEMORY
               : error_set(PLA_E_CABAPI_FAILURE, LIBRARY ": FCI error %d", f->erf.erfOper);
}

static HRESULT add_member(struct fci *f, size_t index)
{
    const struct cabinet_member *member = &f->p->source->members[index];
    char number[24], name[CABINET_NAME_BYTES + 1];
    snprintf(number, sizeof number, "%u", (unsigned)index);
    text_fit(name, sizeof name, member->name); /* validated, so it fits */
    for (char *at = name; *at; at++)
        if (*at == '/')
            *at = '\\';
    return f->add(f->handle, number, name, FALSE, fci_next, fci_status, fci_open_member, tcompTYPE_MSZIP)
               ? S_OK
               : fci_failure(f);
}

static HRESULT add_all(struct fci *f)
{
    const struct cabinet_source *source = f->p->source;
    uint64_t taken = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < source->count; i++) {
        if (packing_begins_folder(&source->members[i], taken)) {
            taken = 0;
            hr = f->end_folder(f->handle, fci_next, fci_status) ? S_OK : fci_failure(f);
        }
        taken += source->members[i].size;
        if (SUCCEEDED(hr))
            hr = add_member(f, i);
    }
    if (SUCCEEDED(hr) && !f->end_cabinet(f->handle, FALSE, fci_next, fci_status))
        hr = fci_failure(f);
    return hr;
}

static HRESULT fci_pack(struct fci *f)
{
    HRESULT hr = fci_load_library(f);
    if (FAILED(hr))
        return hr;
    f->cabinet.cb = CABINET_SIZE_MAX;
    f->cabinet.cbFolderThresh = CABINET_FILE_MAX;
    snprintf(f->cabinet.szCab, sizeof f->cabinet.szCab, "%s", output_name);
    f->handle = f->create(&f->erf, fci_placed, from_memory, to_memory, fci_open, fci_read, fci_write, fci_close,
                          fci_seek, fci_delete, fci_name_scratch, &f->cabinet, f);
    if (!f->handle)
        return fci_failure(f);
    hr = add_all(f);
    f->destroy(f->handle);
    return hr;
}

HRESULT packing_write(struct packing *p)
{
    struct fci *f = memory_zero(1, sizeof *f);
    if (!f)
        return E_OUTOFMEMORY;
    f->p = p;
    const HRESULT hr = fci_pack(f);
    while (f->open)
        (void)fci_close((INT_PTR)f->open, NULL, f);
    for (size_t i = 0; i < SCRATCH_FILES; i++)
        file_close(f->scratch[i]);
    memory_free(f);
    return hr;
}

/* SPDX-License-Identifier: MIT */
/* Performs the steps of a plan. Each step opens the run folder, lists the files and folders to process, and then
   accesses them by name relative to the open folder. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/cabinet.h"
#include "engine/pla/retention/plan.h"

#include <stdlib.h>
#include <string.h>

/* The files and folders of a step, in the order of the walk: a folder follows its contents. */
struct listed {
    unsigned kinds; /* 1 << content_kind */
    struct cabinet_member *items;
    enum content_kind *kind;
    size_t count, capacity, kind_capacity;
    struct folder_kept *kept;
};
#define KIND(k)      (1u << CONTENT_##k)
#define ALL_BUT_MARK (KIND(DATA) | KIND(REPORT) | KIND(CABINET) | KIND(SCRAP) | KIND(FOLDER))

static HRESULT content_list(void *user, const struct content *c)
{
    struct listed *l = user;
    void *items = l->items, *kinds = l->kind;
    if (c->kind == CONTENT_OTHER && l->kept && !l->kept->count++)
        text_fit(l->kept->first, sizeof l->kept->first, c->name);
    if (!(l->kinds & 1u << c->kind))
        return S_OK;
    if (!memory_grow(&items, &l->capacity, l->count + 1, sizeof *l->items))
        return E_OUTOFMEMORY;
    l->items = items;
    if (!memory_grow(&kinds, &l->kind_capacity, l->count + 1, sizeof *l->kind))
        return E_OUTOFMEMORY;
    l->kind = kinds;
    char *name = text_copy(c->name);
    if (!name)
        return E_OUTOFMEMORY;
    l->kind[l->count] = c->kind;
    l->items[l->count++] = (struct cabinet_member){.name = name, .size = c->size, .written = c->written};
    return S_OK;
}

static void listed_free(struct listed *l)
{
    for (size_t i = 0; i < l->count; i++)
        memory_free((void *)l->items[i].name);
    memory_free(l->items);
    memory_free(l->kind);
}

/* Opens the folder, checks its mark, and lists the files and folders of the step. */
static HRESULT step_begin(const struct folder_work *w, unsigned kinds, struct held_folder **f, struct listed *l)
{
    *l = (struct listed){.kinds = kinds, .kept = w->kept};
    *w->kept = (struct folder_kept){0};
    HRESULT hr = held_folder_open(w->root, w->record->name, f);
    if (FAILED(hr)) {
        *f = NULL;
        return hr;
    }
    hr = folder_check_mark(*f, w->record);
    if (hr == S_FALSE)
        hr = error_set(E_ACCESSDENIED, "'%s' no longer has the " FOLDER_MARK " of a run of this set",
                       held_folder_path(*f));
    return SUCCEEDED(hr) ? folder_walk(*f, w->names, content_list, l) : hr;
}

static HRESULT end(struct held_folder *f, struct listed *l, HRESULT hr)
{
    held_folder_close(f);
    listed_free(l);
    return hr;
}

/* Opens the folder that contains the path's last component; close it with folder_left. */
static HRESULT folder_of(struct held_folder *f, const char *names, struct held_folder **out, const char **last)
{
    struct held_folder *at = f;
    HRESULT hr = S_OK;
    for (const char *slash; SUCCEEDED(hr) && (slash = strchr(names, '/')); names = slash + 1) {
        char *name = text_copy_n(names, (size_t)(slash - names));
        struct held_folder *next = NULL;
        hr = name ? held_folder_enter(at, name, &next) : E_OUTOFMEMORY;
        memory_free(name);
        if (at != f)
            held_folder_close(at);
        at = next;
    }
    *out = at;
    *last = names;
    return hr;
}

static void folder_left(struct held_folder *f, struct held_folder *of)
{
    if (of != f)
        held_folder_close(of);
}

static HRESULT delete_named(struct held_folder *f, const char *names, bool folder)
{
    struct held_folder *in;
    const char *name;
    HRESULT hr = folder_of(f, names, &in, &name);
    if (SUCCEEDED(hr)) {
        hr = folder ? held_folder_delete_folder(in, name) : held_folder_delete(in, name);
        folder_left(f, in);
    }
    return hr;
}

/* Returns whether the file is missing. A missing file is not a failure, because other clean-up scripts can also delete
   files. */
static bool is_gone(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
}

/* Deletes all listed files and folders. `lenient`: a folder that cannot be deleted, for example because it is not
   empty, is not a failure. */
static HRESULT delete_listed(struct held_folder *f, const struct listed *l, bool lenient)
{
    struct error_kept first = {.hr = l->count ? S_OK : S_FALSE};
    for (size_t i = 0; i < l->count; i++) {
        const bool folder = l->kind[i] == CONTENT_FOLDER;
        HRESULT hr = delete_named(f, l->items[i].name, folder);
        if (hr == E_OUTOFMEMORY)
            return hr;
        if (FAILED(hr) && !is_gone(hr) && !(folder && lenient) && SUCCEEDED(first.hr))
            first = error_keep(hr);
    }
    return FAILED(first.hr) ? error_restore(&first) : first.hr;
}

/* ---- cabinets ---- */

struct opening {
    struct held_folder *folder;
    const struct listed *listed;
};

static HRESULT open_member(void *user, size_t index, struct file **in)
{
    const struct opening *o = user;
    struct held_folder *at;
    const char *name;
    *in = NULL;
    HRESULT hr = folder_of(o->folder, o->listed->items[index].name, &at, &name);
    if (SUCCEEDED(hr)) {
        hr = held_folder_file(at, name, FILE_READ, in);
        folder_left(o->folder, at);
    }
    return hr;
}

/* Checks that the cabinet contains the current state of all listed files. */
static HRESULT folder_compare_cabinet(struct held_folder *f, const char *name, const struct listed *l)
{
    struct file *file;
    struct cabinet *cabinet = NULL;
    struct opening opening = {f, l};
    const struct cabinet_source source = {l->items, l->count, open_member, &opening};
    HRESULT hr = held_folder_file(f, name, FILE_READ, &file);
    if (FAILED(hr))
        return hr;
    hr = cabinet_open_file(file, name, NULL, &cabinet);
    if (SUCCEEDED(hr))
        hr = cabinet_compare(cabinet, &source, NULL);
    cabinet_close(cabinet);
    file_close(file);
    return hr;
}

static HRESULT write_cabinet(struct held_folder *f, const char *name, const struct listed *l)
{
    struct file *file;
    struct opening opening = {f, l};
    const struct cabinet_source source = {l->items, l->count, open_member, &opening};
    HRESULT hr = held_folder_file(f, name, FILE_CREATE_NEW, &file);
    if (FAILED(hr))
        return hr;
    hr = cabinet_pack(&source, file, NULL);
    if (SUCCEEDED(hr))
        hr = file_flush(file);
    file_close(file);
    return hr;
}

static bool holds_data(const struct listed *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->kind[i] == CONTENT_DATA)
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    const struct cabinet_member *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Sorts the files by name, with the reports first, so that they are easy to find in the cabinet. Afterwards `kind` no
   longer matches `items`. */
static void sort_members(struct listed *l)
{
    size_t reports = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->kind[i] == CONTENT_REPORT) {
            struct cabinet_member m = l->items[i];
            l->items[i] = l->items[reports];
            l->items[reports] = m;
            l->kind[i] = l->kind[reports];
            l->kind[reports++] = CONTENT_REPORT;
        }
    qsort(l->items, reports, sizeof *l->items, by_name);
    qsort(l->items + reports, l->count - reports, sizeof *l->items, by_name);
}

/* Checks that no file has the cabinet's name. Such a file would belong to a user and must not be replaced. */
static HRESULT check_name(const char *path)
{
    return file_find(path) == S_FALSE
               ? S_OK
               : error_set(PLA_E_CABAPI_FAILURE,
                           "cannot create the cabinet: '%s' already exists and was not created by a run", path);
}

static HRESULT name_cabinet(const struct folder_work *w, struct held_folder *f, const char *path)
{
    HRESULT hr = check_name(path);
    if (SUCCEEDED(hr))
        hr = run_files_add(w->root, held_folder_path(f), path, false);
    return hr == S_FALSE ? error_set(PLA_E_CABAPI_FAILURE,
                                     "'%s' cannot be added to the folder's list of files in " FOLDER_MARK, path)
                         : hr;
}

/* Deletes the unfinished cabinets of an interrupted pass. */
static HRESULT delete_scrap(const struct folder_work *w, struct held_folder *f)
{
    struct listed l = {.kinds = KIND(SCRAP)};
    HRESULT hr = folder_walk(f, w->names, content_list, &l);
    if (SUCCEEDED(hr))
        hr = delete_listed(f, &l, false);
    listed_free(&l);
    return SUCCEEDED(hr) ? S_OK : hr;
}

HRESULT folder_pack(const struct folder_work *w)
{
    struct held_folder *f;
    struct listed l;
    char *name = NULL, *scrap = NULL, *path = NULL;
    HRESULT hr = step_begin(w, KIND(DATA) | KIND(REPORT), &f, &l);
    if (SUCCEEDED(hr) && !holds_data(&l))
        return end(f, &l, S_FALSE);
    if (SUCCEEDED(hr)) {
        sort_members(&l);
        name = folder_cabinet_name(f);
        scrap = folder_scrap_name(f);
        path = name ? path_join(held_folder_path(f), name) : NULL;
        hr = path && scrap ? delete_scrap(w, f) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = check_name(path);
    if (SUCCEEDED(hr)) {
        hr = write_cabinet(f, scrap, &l);
        if (SUCCEEDED(hr))
            hr = folder_compare_cabinet(f, scrap, &l);
        if (SUCCEEDED(hr))
            hr = name_cabinet(w, f, path);
        if (SUCCEEDED(hr))
            hr = held_folder_rename_new(f, scrap, name);
        if (FAILED(hr)) {
            struct error_kept why = error_keep(hr);
            held_folder_delete(f, scrap);
            hr = error_restore(&why);
        }
    }
    memory_free(path);
    memory_free(name);
    memory_free(scrap);
    return end(f, &l, hr);
}

HRESULT folder_delete_data(const struct folder_work *w, bool packed)
{
    struct held_folder *f;
    struct listed l, data;
    HRESULT hr = step_begin(w, KIND(DATA) | KIND(SCRAP) | KIND(FOLDER), &f, &l);
    if (SUCCEEDED(hr) && packed) {
        char *cabinet = folder_cabinet_name(f);
        data = (struct listed){.kinds = KIND(DATA)}; /* folders are not listed, because a cabinet contains only files */
        hr = cabinet ? folder_walk(f, w->names, content_list, &data) : E_OUTOFMEMORY;
        if (SUCCEEDED(hr))
            hr = folder_compare_cabinet(f, cabinet, &data);
        listed_free(&data);
        memory_free(cabinet);
    }
    if (SUCCEEDED(hr))
        hr = delete_listed(f, &l, true);
    return end(f, &l, hr);
}

static HRESULT delete_kind(const struct folder_work *w, unsigned kinds)
{
    struct held_folder *f;
    struct listed l;
    HRESULT hr = step_begin(w, kinds, &f, &l);
    if (SUCCEEDED(hr))
        hr = delete_listed(f, &l, false);
    return end(f, &l, hr);
}

HRESULT folder_delete_cabinet(const struct folder_work *w)
{
    return delete_kind(w, KIND(CABINET));
}

HRESULT folder_delete_reports(const struct folder_work *w)
{
    return delete_kind(w, KIND(REPORT));
}

/* ---- the folder itself ---- */

static bool is_removable(const struct listed *l, bool empty)
{
    for (size_t i = 0; empty && i < l->count; i++)
        if (l->kind[i] != CONTENT_SCRAP && l->kind[i] != CONTENT_FOLDER)
            return false;
    return true;
}

static HRESULT remove_itself(const struct folder_work *w)
{
    struct held_folder *in;
    const char *name = path_name(w->record->name);
    char *parent = path_folder(w->record->name);
    HRESULT hr = parent ? held_folder_open(w->root, parent, &in) : E_OUTOFMEMORY;
    memory_free(parent);
    if (FAILED(hr))
        return hr;
    hr = held_folder_delete_folder(in, name);
    held_folder_close(in);
    return hr;
}

HRESULT folder_remove(const struct folder_work *w, bool empty)
{
    struct held_folder *f;
    struct listed l;
    HRESULT hr = step_begin(w, ALL_BUT_MARK, &f, &l);
    /* The folder is empty: an earlier pass was interrupted after it deleted the mark and before it deleted the
       folder. */
    const bool nothing = hr == E_ACCESSDENIED && w->record->going && !l.count;
    if (SUCCEEDED(hr) && !is_removable(&l, empty))
        hr = S_FALSE;
    if (hr != S_OK && !nothing)
        return end(f, &l, hr);
    if (!nothing)
        hr = delete_listed(f, &l, w->kept->count > 0);
    if (SUCCEEDED(hr))
        hr = held_folder_delete(f, FOLDER_MARK);
    hr = end(f, &l, hr);
    if (SUCCEEDED(hr) && w->kept->count)
        return S_OK;
    return SUCCEEDED(hr) || nothing ? remove_itself(w) : hr;
}

HRESULT folder_remove_marked(const char *path, struct folder_kept *kept)
{
    static const struct content_names no_names = {"", ""};
    struct folder_record record = {.name = (char *)path_name(path)};
    struct held_folder *f;
    char *root = path_folder(path);
    HRESULT hr = root ? held_folder_open(root, record.name, &f) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        hr = folder_read_word(f, record.word);
        held_folder_close(f);
    }
    if (hr == S_FALSE)
        hr = error_set(E_ACCESSDENIED, "'%s' has no " FOLDER_MARK ", so it is not the folder of a run", path);
    if (SUCCEEDED(hr))
        hr = folder_remove(&(struct folder_work){root, &record, &no_names, kept}, false);
    memory_free(root);
    return hr;
}

/* ---- sending cabinets ---- */

enum {
    BLOCK = 1 << 16, /* bytes per read */
    NAMES_MOST = 100,
};

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

const char *send_destination_fault(const char *destination)
{
    const char *server = destination + 2;
    if (!is_separator(destination[0]) || !is_separator(destination[1]))
        return "not a share (\\\\server\\share)";
    if (*server == '?' || *server == '.' || is_separator(*server))
        return "the path of a device";
    const char *share = server + strcspn(server, "\\/");
    if (share == server || !*share || !share[1] || is_separator(share[1]))
        return "the share is missing (\\\\server\\share)";
    return path_root_fault(destination);
}

struct sending {
    struct file *cabinet;
    uint8_t *blocks; /* room for two blocks */
    bool own;        /* the failure concerns the cabinet, not the destination */
};

static HRESULT read_cabinet(struct sending *s, uint64_t at, size_t *got)
{
    const HRESULT hr = file_read_at(s->cabinet, at, s->blocks, BLOCK, got);
    s->own = FAILED(hr);
    return hr;
}

/* Compares the cabinet with a file at the destination. S_OK: equal; S_FALSE: different. */
static HRESULT sending_compare(struct sending *s, struct file *there)
{
    uint64_t at = 0, size = 0, size_there = 0;
    size_t got, got_there;
    HRESULT hr = file_size(s->cabinet, &size);
    if (SUCCEEDED(hr))
        hr = file_size(there, &size_there);
    if (FAILED(hr) || size != size_there)
        return FAILED(hr) ? hr : S_FALSE;
    do {
        hr = read_cabinet(s, at, &got);
        if (SUCCEEDED(hr))
            hr = file_read_at(there, at, s->blocks + BLOCK, BLOCK, &got_there);
        if (SUCCEEDED(hr) && (got != got_there || memcmp(s->blocks, s->blocks + BLOCK, got) != 0))
            return S_FALSE;
        at += BLOCK;
    } while (SUCCEEDED(hr) && got == BLOCK);
    return hr;
}

/* Checks the destination path. S_OK: the cabinet has already been sent; S_FALSE: no file has the name;
   ERROR_FILE_EXISTS: the file of that name differs, or cannot be opened. */
static HRESULT find_destination(struct sending *s, const char *path)
{
    struct file *there;
    HRESULT hr = file_find(path);
    if (hr != S_OK)
        return hr;
    hr = file_open(path, FILE_READ, &there);
    if (hr == E_ACCESSDENIED || hr == HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION))
        return HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
    if (FAILED(hr))
        return hr;
    hr = sending_compare(s, there);
    file_close(there);
    return hr == S_FALSE ? HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) : hr;
}

/* Creates the temporary file. If an interrupted copy left a file of that name, deletes the file instead of overwriting
   it: other users of the share could have replaced the file with a link. */
static HRESULT copy_create_file(const char *path, struct file **out)
{
    const HRESULT taken = HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
    HRESULT hr = file_open(path, FILE_CREATE_NEW, out);
    if (hr == taken)
        hr = file_delete(path);
    else
        return hr;
    if (SUCCEEDED(hr))
        hr = file_open(path, FILE_CREATE_NEW, out);
    return hr == taken ? error_set(HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION), "'%s': the file is being written", path)
                       : hr;
}

static HRESULT sending_copy(struct sending *s, const char *to)
{
    struct file *f;
    size_t got = 0;
    uint64_t at = 0;
    HRESULT hr = copy_create_file(to, &f);
    if (FAILED(hr))
        return hr;
    do {
        hr = read_cabinet(s, at, &got);
        if (SUCCEEDED(hr))
            hr = file_write(f, s->blocks, got);
        at += got;
    } while (SUCCEEDED(hr) && got == BLOCK);
    if (SUCCEEDED(hr))
        hr = file_flush(f);
    file_close(f);
    return hr;
}

/* Sends the cabinet under this name. The temporary name contains the folder's random word, so that two computers that
   send at the same time do not write to the same file. */
static HRESULT send_as(struct sending *s, const char *folder, const char *name, const char *word)
{
    char *path = path_join(folder, name), *temporary_name = text_format("~%s.%s.tmp", name, word);
    char *temporary = temporary_name ? path_join(folder, temporary_name) : NULL;
    HRESULT hr = path && temporary ? find_destination(s, path) : E_OUTOFMEMORY;
    if (hr == S_FALSE) {
        hr = sending_copy(s, temporary);
        if (SUCCEEDED(hr)) /* another computer may have created the name during the copy */
            hr = file_rename_new(temporary, path);
        if (FAILED(hr)) {
            struct error_kept why = error_keep(hr);
            file_delete(temporary);
            hr = error_restore(&why);
        }
    } else if (hr == S_OK) {
        (void)file_delete(temporary); /* left by an interrupted rename */
    }
    memory_free(temporary);
    memory_free(temporary_name);
    memory_free(path);
    return hr;
}

/* Returns FOLDER.cab, COMPUTER_FOLDER.cab, COMPUTER_FOLDER_2.cab and so on. Existing files are not replaced, because
   each one may be the only copy of other data. */
static char *destination_name(const char *name, const char *computer, unsigned n)
{
    const int stem = (int)(path_extension(name) - name);
    if (!n)
        return text_copy(name);
    return n == 1 ? text_format("%s_%s", computer, name)
                  : text_format("%s_%.*s_%u%s", computer, stem, name, n, name + stem);
}

static HRESULT sending_send(struct sending *s, const char *name, const char *word, const char *destination)
{
    const HRESULT taken = HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
    char *computer = os_computer_name();
    s->blocks = memory_alloc(2 * BLOCK);
    HRESULT hr = s->blocks && computer ? taken : E_OUTOFMEMORY;
    for (unsigned n = 0; hr == taken && n < NAMES_MOST; n++) {
        char *there = destination_name(name, computer, n);
        hr = there ? send_as(s, destination, there, word) : E_OUTOFMEMORY;
        memory_free(there);
    }
    if (hr == taken)
        hr = error_set(hr, "SendCabTo: '%s': other files already use all %d names for '%s'", destination,
                       (int)NAMES_MOST, name);
    s->own = s->own || hr == taken || hr == HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE);
    memory_free(computer);
    memory_free(s->blocks);
    return hr;
}

HRESULT folder_send(const struct folder_work *w, const char *destination, bool *own)
{
    struct held_folder *f;
    struct sending sending = {.own = true};
    const char *fault = send_destination_fault(destination);
    *own = false;
    if (fault)
        return error_set(E_INVALIDARG, "SendCabTo: '%s' %s", destination, fault);
    *own = true;
    HRESULT hr = held_folder_open(w->root, w->record->name, &f);
    if (FAILED(hr))
        return hr;
    char *name = folder_cabinet_name(f);
    hr = name ? folder_check_mark(f, w->record) : E_OUTOFMEMORY;
    if (hr == S_FALSE)
        hr = error_set(E_ACCESSDENIED, "'%s' no longer has the " FOLDER_MARK " of a run of this set",
                       held_folder_path(f));
    if (SUCCEEDED(hr))
        hr = held_folder_file(f, name, FILE_READ, &sending.cabinet);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        hr = S_FALSE;
    if (hr == S_OK) {
        sending.own = false;
        hr = sending_send(&sending, name, w->record->word, destination);
    }
    *own = sending.own;
    file_close(sending.cabinet);
    held_folder_close(f);
    memory_free(name);
    return hr;
}

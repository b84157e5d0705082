/* SPDX-License-Identifier: MIT */
/* Sending cabinets. */
#include "engine/pla/retention/cabinet_send.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"

#include <string.h>

enum {
    BLOCK = 1 << 16, /* bytes at once */
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
        return "is no share of a computer (\\\\server\\share)";
    if (*server == '?' || *server == '.' || is_separator(*server))
        return "is the path of a device";
    const char *share = server + strcspn(server, "\\/");
    if (share == server || !*share || !share[1] || is_separator(share[1]))
        return "names no share (\\\\server\\share)";
    return path_root_fault(destination);
}

struct sending {
    struct file *cabinet;
    uint8_t *blocks; /* two of them */
    bool own;        /* the failure is of the cabinet itself */
};

static HRESULT read_own(struct sending *s, uint64_t at, size_t *got)
{
    const HRESULT hr = file_read_at(s->cabinet, at, s->blocks, BLOCK, got);
    s->own = FAILED(hr);
    return hr;
}

/* S_OK: both have the same bytes; S_FALSE: they have not. */
static HRESULT sending_compare(struct sending *s, struct file *there)
{
    uint64_t at = 0, size, size_there;
    size_t got, got_there;
    HRESULT hr = file_size(s->cabinet, &size);
    if (SUCCEEDED(hr))
        hr = file_size(there, &size_there);
    if (FAILED(hr) || size != size_there)
        return FAILED(hr) ? hr : S_FALSE;
    do {
        hr = read_own(s, at, &got);
        if (SUCCEEDED(hr))
            hr = file_read_at(there, at, s->blocks + BLOCK, BLOCK, &got_there);
        if (SUCCEEDED(hr) && (got != got_there || memcmp(s->blocks, s->blocks + BLOCK, got) != 0))
            return S_FALSE;
        at += BLOCK;
    } while (SUCCEEDED(hr) && got == BLOCK);
    return hr;
}

/* S_OK: it is there; S_FALSE: nothing is there; ERROR_FILE_EXISTS: another file is, maybe one that only its owner may
   read. */
static HRESULT find_there(struct sending *s, const char *path)
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

/* A new file, in the place of what a copy has left that was cut off: who may write to the share could have put a link
   there. */
static HRESULT create(const char *path, struct file **out)
{
    const HRESULT taken = HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
    HRESULT hr = file_open(path, FILE_CREATE_NEW, out);
    if (hr == taken)
        hr = file_delete(path);
    else
        return hr;
    if (SUCCEEDED(hr))
        hr = file_open(path, FILE_CREATE_NEW, out);
    return hr == taken ? error_set(HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION), "\"%s\": is being written", path) : hr;
}

static HRESULT copy(struct sending *s, const char *to)
{
    struct file *f;
    size_t got = 0;
    uint64_t at = 0;
    HRESULT hr = create(to, &f);
    if (FAILED(hr))
        return hr;
    do {
        hr = read_own(s, at, &got);
        if (SUCCEEDED(hr))
            hr = file_write(f, s->blocks, got);
        at += got;
    } while (SUCCEEDED(hr) && got == BLOCK);
    if (SUCCEEDED(hr))
        hr = file_flush(f);
    file_close(f);
    return hr;
}

/* The temporary name has the folder's word: two computers that send at once must not write to one file. */
static HRESULT send_as(struct sending *s, const char *folder, const char *name, const char *word)
{
    char *path = path_join(folder, name), *temporary_name = text_format("~%s.%s.tmp", name, word);
    char *temporary = temporary_name ? path_join(folder, temporary_name) : NULL;
    HRESULT hr = path && temporary ? find_there(s, path) : E_OUTOFMEMORY;
    if (hr == S_FALSE) {
        hr = copy(s, temporary);
        if (SUCCEEDED(hr)) /* a copy takes long enough for another computer's */
            hr = file_rename_new(temporary, path);
        if (FAILED(hr)) {
            struct error_kept why = error_keep(hr);
            file_delete(temporary);
            hr = error_restore(&why);
        }
    } else if (hr == S_OK) {
        (void)file_delete(temporary); /* of a rename that was ended between its two names */
    }
    memory_free(temporary);
    memory_free(temporary_name);
    memory_free(path);
    return hr;
}

/* FOLDER.cab, COMPUTER_FOLDER.cab, COMPUTER_FOLDER_2.cab and so on; what is there is somebody's only copy. */
static char *name_there(const char *name, const char *computer, unsigned n)
{
    const int stem = (int)(path_extension(name) - name);
    if (!n)
        return text_copy(name);
    return n == 1 ? text_format("%s_%s", computer, name)
                  : text_format("%s_%.*s_%u%s", computer, stem, name, n, name + stem);
}

static HRESULT send(struct sending *s, const char *name, const char *word, const char *destination)
{
    const HRESULT taken = HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
    char *computer = host_computer_name();
    s->blocks = memory_alloc(2 * BLOCK);
    HRESULT hr = s->blocks && computer ? taken : E_OUTOFMEMORY;
    for (unsigned n = 0; hr == taken && n < NAMES_MOST; n++) {
        char *there = name_there(name, computer, n);
        hr = there ? send_as(s, destination, there, word) : E_OUTOFMEMORY;
        memory_free(there);
    }
    if (hr == taken)
        hr = error_set(hr, "SendCabTo: \"%s\" has %d other files of names for \"%s\"", destination, (int)NAMES_MOST,
                       name);
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
        return error_set(E_INVALIDARG, "SendCabTo: \"%s\" %s", destination, fault);
    *own = true;
    HRESULT hr = held_folder_open(w->root, w->record->name, &f);
    if (FAILED(hr))
        return hr;
    char *name = folder_cabinet_name(f);
    hr = name ? folder_check_mark(f, w->record) : E_OUTOFMEMORY;
    if (hr == S_FALSE)
        hr = error_set(E_ACCESSDENIED, "\"%s\": has no mark of a run of this set any more", held_folder_path(f));
    if (SUCCEEDED(hr))
        hr = held_folder_file(f, name, FILE_READ, &sending.cabinet);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        hr = S_FALSE;
    if (hr == S_OK) {
        sending.own = false;
        hr = send(&sending, name, w->record->word, destination);
    }
    *own = sending.own;
    file_close(sending.cabinet);
    held_folder_close(f);
    memory_free(name);
    return hr;
}

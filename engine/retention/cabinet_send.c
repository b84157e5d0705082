/* SPDX-License-Identifier: MIT */
/* Sending cabinets. */
#include "engine/retention/cabinet_send.h"

#include "engine/os/host.h"
#include "engine/os/memory.h"

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

static HRESULT read_block(struct file *f, uint64_t at, uint8_t *block, size_t *got)
{
    return file_read_at(f, at, block, BLOCK, got);
}

/* S_OK: both have the same bytes; S_FALSE: they have not. */
static HRESULT compare(struct file *a, struct file *b, uint8_t *blocks)
{
    uint64_t at = 0, size_a, size_b;
    size_t got_a, got_b;
    HRESULT hr = file_size(a, &size_a);
    if (SUCCEEDED(hr))
        hr = file_size(b, &size_b);
    if (FAILED(hr) || size_a != size_b)
        return FAILED(hr) ? hr : S_FALSE;
    do {
        hr = read_block(a, at, blocks, &got_a);
        if (SUCCEEDED(hr))
            hr = read_block(b, at, blocks + BLOCK, &got_b);
        if (SUCCEEDED(hr) && (got_a != got_b || memcmp(blocks, blocks + BLOCK, got_a) != 0))
            return S_FALSE;
        at += BLOCK;
    } while (SUCCEEDED(hr) && got_a == BLOCK);
    return hr;
}

/* S_OK: it is there; S_FALSE: nothing is there; ERROR_FILE_EXISTS: another file is. */
static HRESULT find_there(struct file *cabinet, const char *path, uint8_t *blocks)
{
    struct file *there;
    HRESULT hr = file_find(path);
    if (hr != S_OK)
        return hr;
    hr = file_open(path, FILE_READ, &there);
    if (FAILED(hr))
        return hr;
    hr = compare(cabinet, there, blocks);
    file_close(there);
    return hr == S_FALSE ? HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) : hr;
}

static HRESULT copy(struct file *from, const char *to, uint8_t *block)
{
    struct file *f;
    size_t got = 0;
    uint64_t at = 0;
    HRESULT hr = file_open(to, FILE_REPLACE, &f);
    if (FAILED(hr))
        return hr;
    do {
        hr = read_block(from, at, block, &got);
        if (SUCCEEDED(hr))
            hr = file_write(f, block, got);
        at += got;
    } while (SUCCEEDED(hr) && got == BLOCK);
    if (SUCCEEDED(hr))
        hr = file_flush(f);
    file_close(f);
    return hr;
}

/* The temporary name has the folder's word: two computers that send at once must not write to one file. */
static HRESULT send_as(struct file *cabinet, const char *folder, const char *name, const char *word, uint8_t *blocks)
{
    char *path = path_join(folder, name), *temporary_name = text_format("~%s.%s.tmp", name, word);
    char *temporary = temporary_name ? path_join(folder, temporary_name) : NULL;
    HRESULT hr = path && temporary ? find_there(cabinet, path, blocks) : E_OUTOFMEMORY;
    if (hr == S_FALSE) {
        hr = copy(cabinet, temporary, blocks);
        if (SUCCEEDED(hr)) /* a copy takes long enough for another computer's */
            hr = file_find(path) == S_FALSE ? S_OK : HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
        if (SUCCEEDED(hr))
            hr = file_rename(temporary, path);
        if (FAILED(hr)) {
            struct error_kept why = error_keep(hr);
            file_delete(temporary);
            hr = error_restore(&why);
        }
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

static HRESULT send(struct file *cabinet, const char *name, const char *word, const char *destination)
{
    const HRESULT taken = HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
    uint8_t *blocks = memory_alloc(2 * BLOCK);
    char *computer = host_computer_name();
    HRESULT hr = blocks && computer ? taken : E_OUTOFMEMORY;
    for (unsigned n = 0; hr == taken && n < NAMES_MOST; n++) {
        char *there = name_there(name, computer, n);
        hr = there ? send_as(cabinet, destination, there, word, blocks) : E_OUTOFMEMORY;
        memory_free(there);
    }
    if (hr == taken)
        hr = error_set(hr, "SendCabTo: \"%s\" has %d other files of names for \"%s\"", destination, (int)NAMES_MOST,
                       name);
    memory_free(computer);
    memory_free(blocks);
    return hr;
}

HRESULT folder_send(const struct folder_work *w, const char *destination)
{
    struct held_folder *f;
    struct file *cabinet = NULL;
    const char *fault = send_destination_fault(destination);
    if (fault)
        return error_set(E_INVALIDARG, "SendCabTo: \"%s\" %s", destination, fault);
    HRESULT hr = held_folder_open(w->root, w->record->name, &f);
    if (FAILED(hr))
        return hr;
    char *name = folder_cabinet_name(f);
    hr = name ? folder_check_mark(f, w->record) : E_OUTOFMEMORY;
    if (hr == S_FALSE)
        hr = error_set(E_ACCESSDENIED, "\"%s\": has no mark of a run of this set any more", held_folder_path(f));
    if (SUCCEEDED(hr))
        hr = held_folder_file(f, name, FILE_READ, &cabinet);
    if (hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        hr = S_FALSE;
    if (hr == S_OK)
        hr = send(cabinet, name, w->record->word, destination);
    file_close(cabinet);
    held_folder_close(f);
    memory_free(name);
    return hr;
}

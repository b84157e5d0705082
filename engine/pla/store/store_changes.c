/* SPDX-License-Identifier: MIT */
/* What has changed in a namespace: a file in its folder that names each set that is written, so that who keeps watch
   over thousands loads one. It is begun anew when it is long; its first line is another one then. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/pla/store.h"
#include "engine/pla/store/set_file.h"

#include <inttypes.h>
#include <string.h>

#define CHANGES_FILE "store.changes"
#define CHANGES_MAX  16384 /* bytes */

/* A change that cannot be told is found at the next look at all files. */
void set_file_note_change(const struct set_file *at)
{
    struct text_buffer b = {0};
    struct file *f = NULL;
    uint64_t size = 0;
    char *path = path_join(at->folder, CHANGES_FILE);
    HRESULT hr = path ? file_open_as(path, FILE_APPEND, PROTECTION_MEMBERS_FILE, &f) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = file_size(f, &size);
    if (SUCCEEDED(hr) && size > CHANGES_MAX) {
        hr = file_set_size(f, 0);
        size = 0;
    }
    if (!size)
        text_buffer_format(&b, "%" PRId64 "-%u\n", clock_utc(), (unsigned)process_own_id());
    text_buffer_add_escaped(&b, at->name);
    text_buffer_add(&b, "\n");
    if (SUCCEEDED(hr) && !b.failed)
        hr = file_write_at(f, size, b.text, b.length);
    if (FAILED(hr))
        error_clear();
    file_close(f);
    text_buffer_free(&b);
    memory_free(path);
}

void set_file_forget_changes(const struct set_file *at)
{
    char *path = path_join(at->folder, CHANGES_FILE);
    if (path && FAILED(file_delete(path)))
        error_clear();
    memory_free(path);
}

/* Takes what stands behind the mark, if the text goes on from it, and sets the mark to its end. */
static HRESULT take_changes(char *text, size_t size, struct store_mark *mark, struct texts *names)
{
    const char *end = memchr(text, '\n', size);
    size_t first = end ? (size_t)(end - text) + 1 : 0;
    bool goes_on = first && mark->size >= first && mark->size <= size && first < sizeof mark->first &&
                   strlen(mark->first) == first && !memcmp(mark->first, text, first);
    HRESULT hr = S_OK;
    size_t at = goes_on ? mark->size : size;
    while (SUCCEEDED(hr) && at < size) {
        char *line = text + at, *behind = memchr(line, '\n', size - at);
        if (!behind)
            break;
        *behind = 0;
        at += (size_t)(behind - line) + 1;
        if (text_unescape(line))
            hr = texts_add(names, line);
    }
    if (FAILED(hr))
        return hr;
    mark->size = at;
    memset(mark->first, 0, sizeof mark->first);
    if (first && first < sizeof mark->first)
        memcpy(mark->first, text, first);
    return goes_on ? S_OK : S_FALSE;
}

HRESULT set_file_changes(const struct set_file *at, struct store_mark *mark, struct texts *names)
{
    struct texts found = {0};
    char *path = path_join(at->folder, CHANGES_FILE), *text = NULL;
    size_t size = 0;
    HRESULT hr = path ? file_load(path, 4 * CHANGES_MAX, &text, &size) : E_OUTOFMEMORY;
    if (set_file_is_missing(hr)) {
        *mark = (struct store_mark){0};
        hr = S_FALSE;
    } else if (text && SUCCEEDED(hr)) {
        hr = take_changes(text, size, mark, &found);
    } else if (hr == HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE)) { /* not ours any more: a new one is begun */
        file_delete(path);
        hr = S_FALSE;
    }
    memory_free(text);
    memory_free(path);
    if (hr != S_OK) {
        texts_free(&found);
        return hr;
    }
    texts_free(names);
    *names = found;
    return S_OK;
}

HRESULT store_changes(const char *space, struct store_mark *mark, struct texts *names)
{
    struct set_file at;
    uint64_t left = 0;
    HRESULT hr = set_file_open(space, NULL, SET_FILE_READ, &at);
    if (hr != S_OK) {
        *mark = (struct store_mark){0};
        return hr == E_OUTOFMEMORY ? hr : S_FALSE;
    }
    if (SUCCEEDED(hr))
        hr = set_file_adopt_all(&at, &left);
    if (SUCCEEDED(hr))
        hr = set_file_changes(&at, mark, names);
    mark->left = left;
    set_file_close(&at);
    return hr;
}

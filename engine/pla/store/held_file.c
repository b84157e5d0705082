/* SPDX-License-Identifier: MIT */
/* Lists in files beside a set, a first line that says of what, then a line each, escaped, never torn: what a set's run
   has made that outlives its host, as a session that is not in it runs for ever; and the folders of its runs. */
#include "engine/base/memory.h"
#include "engine/pla/store.h"
#include "engine/pla/store/set_file.h"

#include <string.h>

#define HELD_LINE    "openpla-held 1\n"
#define HELD_MOST    (1 << 20) /* bytes */
#define FOLDERS_LINE "openpla-folders 1\n"
#define FOLDERS_MOST (64 << 20)

/* S_FALSE: the file is another one. */
static HRESULT lines_parse(char *text, const char *first_line, struct texts *out)
{
    const size_t first = strlen(first_line);
    if (strncmp(text, first_line, first) != 0)
        return S_FALSE;
    HRESULT hr = S_OK;
    for (char *line = text + first, *end; SUCCEEDED(hr) && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        if (text_unescape(line))
            hr = texts_add(out, line);
    }
    return hr;
}

/* S_FALSE: there is none, or another one. */
static HRESULT lines_load(const char *path, const char *first_line, size_t most, struct texts *out)
{
    char *text = NULL;
    size_t size;
    *out = (struct texts){0};
    HRESULT hr = file_load(path, most, &text, &size);
    if (set_file_is_missing(hr))
        hr = S_FALSE;
    else if (SUCCEEDED(hr))
        hr = lines_parse(text, first_line, out);
    if (FAILED(hr))
        texts_free(out);
    memory_free(text);
    return hr;
}

static HRESULT save(const char *path, const char *first_line, const struct texts *lines)
{
    struct text_buffer b = {0};
    text_buffer_add(&b, first_line);
    for (size_t i = 0; i < lines->count; i++) {
        text_buffer_add_escaped(&b, lines->items[i]);
        text_buffer_add(&b, "\n");
    }
    HRESULT hr = b.failed ? E_OUTOFMEMORY : file_store(path, b.text, b.length);
    text_buffer_free(&b);
    return hr;
}

static HRESULT check(const char *path, const char *first_line, size_t most, const char *what)
{
    struct texts lines = {0};
    char *text;
    size_t size;
    HRESULT hr = file_load(path, most, &text, &size);
    if (FAILED(hr))
        return hr;
    hr = lines_parse(text, first_line, &lines);
    texts_free(&lines);
    memory_free(text);
    return hr == S_FALSE ? error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "\"%s\": is no %s", path, what) : hr;
}

HRESULT held_file_check(const char *path)
{
    return check(path, HELD_LINE, HELD_MOST, "list of what a run holds");
}

HRESULT folders_file_check(const char *path)
{
    return check(path, FOLDERS_LINE, FOLDERS_MOST, "list of the folders of runs");
}

HRESULT store_load_held(const char *space, const char *name, struct texts *out)
{
    struct set_file at;
    *out = (struct texts){0};
    HRESULT hr = set_file_locate(space, name, &at);
    if (SUCCEEDED(hr))
        hr = lines_load(at.held, HELD_LINE, HELD_MOST, out);
    set_file_close(&at);
    return hr;
}

HRESULT store_save_held(const char *space, const char *name, const struct texts *lines)
{
    struct set_file at;
    HRESULT hr = set_file_locate(space, name, &at);
    if (SUCCEEDED(hr)) {
        hr = save(at.held, HELD_LINE, lines);
        set_file_close(&at);
    }
    return hr;
}

void store_remove_held(const char *space, const char *name)
{
    struct set_file at;
    if (FAILED(set_file_locate(space, name, &at)))
        return;
    file_delete(at.held);
    set_file_close(&at);
}

HRESULT store_load_folders(const char *space, const char *name, struct texts *out)
{
    struct set_file at;
    *out = (struct texts){0};
    HRESULT hr = set_file_locate(space, name, &at);
    if (SUCCEEDED(hr))
        hr = lines_load(at.folders, FOLDERS_LINE, FOLDERS_MOST, out);
    set_file_close(&at);
    return hr;
}

HRESULT store_change_folders(const char *space, const char *name, const struct folders_change *change)
{
    struct set_file at;
    struct texts lines = {0};
    HRESULT hr = set_file_open(space, name, SET_FILE_CREATE, &at);
    if (SUCCEEDED(hr))
        hr = lines_load(at.folders, FOLDERS_LINE, FOLDERS_MOST, &lines);
    if (SUCCEEDED(hr))
        hr = change->change(&lines, change->user);
    if (hr == S_OK)
        hr = folder_create_protected(at.place, PROTECTION_PLACE);
    if (hr == S_OK)
        hr = save(at.folders, FOLDERS_LINE, &lines);
    texts_free(&lines);
    set_file_close(&at);
    return FAILED(hr) ? hr : S_OK;
}

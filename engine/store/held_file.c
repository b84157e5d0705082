/* SPDX-License-Identifier: MIT */
/* What a set's run has made that outlives its host, in a file beside the set: "openpla-held 1", then a line each,
   escaped. Never torn: a session that is not in it runs for ever. */
#include "engine/os/memory.h"
#include "engine/store/set_file.h"
#include "engine/store/store.h"

#include <string.h>

#define FIRST_LINE "openpla-held 1\n"
#define FILE_MOST  (1 << 20) /* bytes */

static HRESULT parse(char *text, struct texts *out)
{
    const size_t first = sizeof FIRST_LINE - 1;
    if (strncmp(text, FIRST_LINE, first) != 0)
        return S_FALSE;
    HRESULT hr = S_OK;
    for (char *line = text + first, *end; SUCCEEDED(hr) && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        if (text_unescape(line))
            hr = texts_add(out, line);
    }
    return hr;
}

HRESULT held_file_check(const char *path)
{
    struct texts lines = {0};
    char *text;
    size_t size;
    HRESULT hr = file_load(path, FILE_MOST, &text, &size);
    if (FAILED(hr))
        return hr;
    hr = parse(text, &lines);
    texts_free(&lines);
    memory_free(text);
    return hr == S_FALSE
               ? error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "\"%s\": is no list of what a run holds", path)
               : hr;
}

HRESULT store_load_held(const char *space, const char *name, struct texts *out)
{
    struct set_file at;
    char *text = NULL;
    size_t size;
    *out = (struct texts){0};
    HRESULT hr = set_file_locate(space, name, &at);
    if (SUCCEEDED(hr))
        hr = file_load(at.held, FILE_MOST, &text, &size);
    if (set_file_is_missing(hr))
        hr = S_FALSE;
    else if (SUCCEEDED(hr))
        hr = parse(text, out);
    if (FAILED(hr))
        texts_free(out);
    memory_free(text);
    set_file_close(&at);
    return hr;
}

HRESULT store_save_held(const char *space, const char *name, const struct texts *lines)
{
    struct set_file at;
    struct text_buffer b = {0};
    text_buffer_add(&b, FIRST_LINE);
    for (size_t i = 0; i < lines->count; i++) {
        text_buffer_add_escaped(&b, lines->items[i]);
        text_buffer_add(&b, "\n");
    }
    HRESULT hr = b.failed ? E_OUTOFMEMORY : set_file_locate(space, name, &at);
    if (SUCCEEDED(hr)) {
        hr = file_store(at.held, b.text, b.length);
        set_file_close(&at);
    }
    text_buffer_free(&b);
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

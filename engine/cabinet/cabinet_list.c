/* SPDX-License-Identifier: MIT */
/* What of a folder belongs into its cabinet. */
#include "engine/cabinet/cabinet.h"
#include "engine/cabinet/cabinet_format.h"
#include "engine/os/memory.h"

#include <stdlib.h>
#include <string.h>

static bool is_left_out(const char *name)
{
    return text_equal_nocase(path_extension(name), ".cab") || text_matches("~*.tmp", name);
}

static HRESULT add_files(const char *folder, const char *below, struct texts *names)
{
    struct texts files = {0};
    HRESULT hr = folder_list(folder, false, &files);
    for (size_t i = 0; SUCCEEDED(hr) && i < files.count; i++) {
        if (is_left_out(files.items[i]))
            continue;
        if (names->count >= CABINET_FILES_MAX) {
            hr =
                error_set(PLA_E_CABAPI_FAILURE, "\"%s\": has more files than a cabinet, %u", folder, CABINET_FILES_MAX);
            break;
        }
        char *name = text_format("%s%s", below, files.items[i]);
        hr = name ? texts_give(names, name) : E_OUTOFMEMORY;
    }
    texts_free(&files);
    return hr;
}

static HRESULT add_folder(const char *base, const char *below, unsigned depth, struct texts *names)
{
    char *folder = path_join(base, below);
    struct texts folders = {0};
    if (!folder)
        return E_OUTOFMEMORY;
    HRESULT hr = depth < CABINET_DEPTH_MAX
                     ? add_files(folder, below, names)
                     : error_set(PLA_E_CABAPI_FAILURE, "\"%s\": is deeper than a cabinet's names", folder);
    if (SUCCEEDED(hr))
        hr = folder_list(folder, true, &folders);
    for (size_t i = 0; SUCCEEDED(hr) && i < folders.count; i++) {
        char *inner = text_format("%s%s/", below, folders.items[i]);
        hr = inner ? add_folder(base, inner, depth + 1, names) : E_OUTOFMEMORY;
        memory_free(inner);
    }
    texts_free(&folders);
    memory_free(folder);
    return hr;
}

static bool is_report(const char *name)
{
    return text_matches("report.*", name) && !strchr(name, '/');
}

static int by_use(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    if (is_report(x) != is_report(y))
        return is_report(x) ? -1 : 1;
    const int order = text_compare_nocase(x, y);
    return order ? order : strcmp(x, y);
}

HRESULT cabinet_list_folder(const char *folder, struct texts *names)
{
    struct texts found = {0};
    const HRESULT hr = add_folder(folder, "", 0, &found);
    if (FAILED(hr)) {
        texts_free(&found);
        return hr;
    }
    if (found.count)
        qsort(found.items, found.count, sizeof *found.items, by_use);
    texts_free(names);
    *names = found;
    return hr;
}

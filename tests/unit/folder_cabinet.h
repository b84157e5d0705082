/* SPDX-License-Identifier: MIT */
/* Packs the files of a folder into a cabinet, and compares the cabinet with the files, as the data manager does. The
   names are relative to the open folder. */
#ifndef OPENPLA_TESTS_FOLDER_CABINET_H
#define OPENPLA_TESTS_FOLDER_CABINET_H

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pla/cabinet.h"

struct folder_cabinet {
    const char *folder;
    const struct texts *names; /* names relative to the folder, with '/' */
    struct cabinet_member *members;
};

/* Lists all files in the folder and its subfolders; `below` is "" or ends with '/'. */
static inline HRESULT folder_cabinet_names(const char *folder, const char *below, struct texts *names)
{
    struct texts found = {0};
    char *path = path_join(folder, below);
    HRESULT hr = path ? folder_list(path, false, &found) : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < found.count; i++) {
        char *name = text_format("%s%s", below, found.items[i]);
        hr = name ? texts_add_owned(names, name) : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = folder_list(path, true, &found);
    for (size_t i = 0; SUCCEEDED(hr) && i < found.count; i++) {
        char *inner = text_format("%s%s/", below, found.items[i]);
        hr = inner ? folder_cabinet_names(folder, inner, names) : E_OUTOFMEMORY;
        memory_free(inner);
    }
    texts_free(&found);
    memory_free(path);
    return hr;
}

static inline HRESULT folder_cabinet_open(void *user, size_t index, struct file **in)
{
    const struct folder_cabinet *s = user;
    char *path = path_join(s->folder, s->names->items[index]);
    const HRESULT hr = path ? file_open(path, FILE_READ, in) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

/* Lists the members, with the current state of their files. The caller must free the list, even on failure. */
static inline HRESULT folder_cabinet_source(struct folder_cabinet *s, struct cabinet_source *out)
{
    s->members = memory_zero(s->names->count + 1, sizeof *s->members);
    HRESULT hr = s->members ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->names->count; i++) {
        struct file_traits traits;
        struct file *f = NULL;
        hr = folder_cabinet_open(s, i, &f);
        if (SUCCEEDED(hr))
            hr = file_traits_of(f, &traits);
        file_close(f);
        if (SUCCEEDED(hr))
            s->members[i] = (struct cabinet_member){s->names->items[i], traits.size, traits.written, traits.attributes};
    }
    *out = (struct cabinet_source){s->members, s->names->count, folder_cabinet_open, s};
    return hr;
}

/* Calls cabinet_pack for a new or an existing file. */
static inline HRESULT folder_cabinet_write(const char *folder, const struct texts *names, const char *output,
                                           const struct cabinet_watch *watch)
{
    struct folder_cabinet s = {.folder = folder, .names = names};
    struct cabinet_source source;
    struct file *f = NULL;
    HRESULT hr = folder_cabinet_source(&s, &source);
    if (SUCCEEDED(hr))
        hr = file_open(output, FILE_REPLACE, &f);
    if (SUCCEEDED(hr))
        hr = cabinet_pack(&source, f, watch);
    file_close(f);
    memory_free(s.members);
    return hr;
}

/* Calls cabinet_compare. */
static inline HRESULT folder_cabinet_holds(struct cabinet *c, const char *folder, const struct texts *names)
{
    struct folder_cabinet s = {.folder = folder, .names = names};
    struct cabinet_source source;
    HRESULT hr = folder_cabinet_source(&s, &source);
    if (SUCCEEDED(hr))
        hr = cabinet_compare(c, &source, NULL);
    memory_free(s.members);
    return hr;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Going over a folder. */
#include "engine/pla/retention/folder_walk.h"

#include "engine/base/memory.h"
#include "engine/pla/retention/run_files.h"

#include <string.h>

struct walking {
    struct held_folder *folder;
    const struct content_names *names;
    const struct run_files *files;
    const char *cabinet, *scrap;
    const char *prefix; /* "" or names with '/' behind */
    unsigned depth;
    HRESULT (*each)(void *user, const struct content *content);
    void *user;
};

static char *cabinet_name(const char *folder)
{
    return text_format("%s.cab", path_name(folder));
}

char *folder_cabinet_name(const struct held_folder *f)
{
    return cabinet_name(held_folder_path(f));
}

char *folder_cabinet_path(const char *folder)
{
    char *name = cabinet_name(folder), *path = name ? path_join(folder, name) : NULL;
    memory_free(name);
    return path;
}

char *folder_scrap_name(const struct held_folder *f)
{
    return text_format("~%s.cab.tmp", path_name(held_folder_path(f)));
}

static enum content_kind kind_of_file(const struct walking *w, const char *name, const char *path, uint64_t size)
{
    const bool above = !*w->prefix;
    if (above && text_equal_nocase(name, FOLDER_MARK))
        return CONTENT_MARK;
    if (above && text_equal_nocase(name, w->scrap))
        return CONTENT_SCRAP;
    if (!run_files_have(w->files, path))
        return CONTENT_OTHER;
    if (above && text_equal_nocase(name, w->cabinet))
        return size ? CONTENT_CABINET : CONTENT_SCRAP; /* file_rename_new was ended */
    return above && (text_equal_nocase(name, w->names->report) || text_equal_nocase(name, w->names->html))
               ? CONTENT_REPORT
               : CONTENT_DATA;
}

static HRESULT walk(struct walking *w);

/* *kind: of the folder itself. */
static HRESULT walk_below(const struct walking *w, const char *name, const char *path, enum content_kind *kind)
{
    struct walking below = *w;
    char *prefix = text_format("%s/", path);
    below.depth++;
    below.prefix = prefix;
    HRESULT hr = prefix ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && below.depth > FOLDER_DEPTH_MOST)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "\"%s\": has folders that are more than %d deep",
                       held_folder_path(w->folder), (int)FOLDER_DEPTH_MOST);
    if (SUCCEEDED(hr))
        hr = held_folder_enter(w->folder, name, &below.folder);
    if (SUCCEEDED(hr)) {
        struct file *mark;
        hr = run_files_mark(below.folder, &mark);
        if (hr == S_OK) /* of a run of another set, or of this one: it is no part of the folder around it */
            *kind = CONTENT_OTHER;
        else if (hr == S_FALSE)
            hr = walk(&below);
        file_close(mark);
        held_folder_close(below.folder);
    }
    memory_free(prefix);
    return hr;
}

static HRESULT give(void *user, const struct held_entry *e)
{
    const struct walking *w = user;
    enum content_kind kind = CONTENT_OTHER;
    char *path = text_format("%s%s", w->prefix, e->name);
    HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && e->kind == HELD_FILE)
        kind = kind_of_file(w, e->name, path, e->size);
    else if (SUCCEEDED(hr) && e->kind == HELD_FOLDER && run_files_below(w->files, path)) {
        kind = CONTENT_FOLDER;
        hr = walk_below(w, e->name, path, &kind);
    }
    if (SUCCEEDED(hr))
        hr = w->each(w->user, &(struct content){.name = path, .kind = kind, .size = e->size, .written = e->written});
    memory_free(path);
    return hr;
}

static HRESULT walk(struct walking *w)
{
    return held_folder_each(w->folder, give, w);
}

HRESULT folder_walk(struct held_folder *f, const struct content_names *names,
                    HRESULT (*each)(void *user, const struct content *content), void *user)
{
    struct run_files files;
    HRESULT hr = run_files_read(f, &files);
    if (FAILED(hr))
        return hr;
    char *cabinet = folder_cabinet_name(f), *scrap = folder_scrap_name(f);
    struct walking w = {.folder = f,
                        .names = names,
                        .files = &files,
                        .cabinet = cabinet,
                        .scrap = scrap,
                        .prefix = "",
                        .each = each,
                        .user = user};
    hr = cabinet && scrap ? walk(&w) : E_OUTOFMEMORY;
    memory_free(cabinet);
    memory_free(scrap);
    run_files_free(&files);
    return hr;
}

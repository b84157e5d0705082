/* SPDX-License-Identifier: MIT */
/* Going over a folder. */
#include "engine/retention/folder_walk.h"

#include "engine/os/memory.h"
#include "engine/retention/folder_record.h"

#include <string.h>

struct walking {
    struct held_folder *folder;
    const struct content_names *names;
    const char *cabinet, *scrap;
    const char *prefix; /* "" or names with '/' behind */
    unsigned depth;
    HRESULT (*each)(void *user, const struct content *content);
    void *user;
};

char *folder_cabinet_name(const struct held_folder *f)
{
    return text_format("%s.cab", path_name(held_folder_path(f)));
}

char *folder_scrap_name(const struct held_folder *f)
{
    return text_format("~%s.cab.tmp", path_name(held_folder_path(f)));
}

static enum content_kind kind_of_file(const struct walking *w, const char *name)
{
    if (text_equal_nocase(path_extension(name), ".cab"))
        return !*w->prefix && text_equal_nocase(name, w->cabinet) ? CONTENT_CABINET : CONTENT_OTHER;
    if (*w->prefix)
        return CONTENT_DATA;
    if (text_equal_nocase(name, FOLDER_MARK))
        return CONTENT_MARK;
    if (text_equal_nocase(name, w->scrap))
        return CONTENT_SCRAP;
    return text_equal_nocase(name, w->names->report) || text_equal_nocase(name, w->names->html) ? CONTENT_REPORT
                                                                                                : CONTENT_DATA;
}

static HRESULT walk(struct walking *w);

static HRESULT walk_below(const struct walking *w, const char *name, const char *path)
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
        hr = walk(&below);
        held_folder_close(below.folder);
    }
    memory_free(prefix);
    return hr;
}

static HRESULT give(void *user, const struct held_entry *e)
{
    const struct walking *w = user;
    char *path = text_format("%s%s", w->prefix, e->name);
    HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && e->kind == HELD_FOLDER)
        hr = walk_below(w, e->name, path);
    if (SUCCEEDED(hr))
        hr = w->each(w->user, &(struct content){.name = path,
                                                .kind = e->kind == HELD_FOLDER ? CONTENT_FOLDER
                                                        : e->kind == HELD_FILE ? kind_of_file(w, e->name)
                                                                               : CONTENT_LINK,
                                                .size = e->size,
                                                .written = e->written});
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
    char *cabinet = folder_cabinet_name(f), *scrap = folder_scrap_name(f);
    struct walking w = {
        .folder = f, .names = names, .cabinet = cabinet, .scrap = scrap, .prefix = "", .each = each, .user = user};
    HRESULT hr = cabinet && scrap ? walk(&w) : E_OUTOFMEMORY;
    memory_free(cabinet);
    memory_free(scrap);
    return hr;
}

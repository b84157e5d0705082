/* SPDX-License-Identifier: MIT */
/* Cabinets of a folder's files by their names: beside the one that is there, looked at, then in its place. */
#include "engine/cabinet/cabinet.h"
#include "engine/os/file_traits.h"
#include "engine/os/memory.h"

/* Files of a folder as the members of a cabinet. */
struct folder_source {
    const char *folder;
    const struct texts *names;
    struct cabinet_member *members;
};

static HRESULT open_named(void *user, size_t index, struct file **in)
{
    const struct folder_source *s = user;
    char *path = path_join(s->folder, s->names->items[index]);
    const HRESULT hr = path ? file_open_below(s->folder, path, FILE_READ, in) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

static HRESULT find_members(struct folder_source *s, struct cabinet_source *out)
{
    s->members = memory_zero(s->names->count + 1, sizeof *s->members);
    HRESULT hr = s->members ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->names->count; i++) {
        struct file_traits traits;
        struct file *f = NULL;
        hr = open_named(s, i, &f);
        if (SUCCEEDED(hr))
            hr = file_traits_of(f, &traits);
        file_close(f);
        if (SUCCEEDED(hr))
            s->members[i] = (struct cabinet_member){.name = s->names->items[i],
                                                    .size = traits.size,
                                                    .written = traits.written,
                                                    .attributes = traits.attributes};
    }
    *out = (struct cabinet_source){s->members, s->names->count, open_named, s};
    return hr;
}

HRESULT cabinet_holds(struct cabinet *c, const char *folder, const struct texts *names,
                      const struct cabinet_watch *watch)
{
    struct folder_source s = {.folder = folder, .names = names};
    struct cabinet_source source;
    HRESULT hr = find_members(&s, &source);
    if (SUCCEEDED(hr))
        hr = cabinet_compare(c, &source, watch);
    memory_free(s.members);
    return hr;
}

/* What was written is read as anybody will read it. */
static HRESULT check_written(struct file *f, const char *name, const struct cabinet_source *source,
                             const struct cabinet_watch *watch)
{
    struct cabinet *c;
    HRESULT hr = cabinet_open_file(f, name, NULL, &c);
    if (FAILED(hr))
        return hr;
    hr = cabinet_compare(c, source, watch);
    cabinet_close(c);
    return hr;
}

/* The file stays open, and with it nobody else's, until it has its name or is gone. */
static HRESULT write_to(struct file *f, const char *path, const char *output, const struct cabinet_source *source,
                        const struct cabinet_watch *watch)
{
    HRESULT hr = cabinet_pack(source, f, watch);
    if (SUCCEEDED(hr))
        hr = check_written(f, path, source, watch);
    if (SUCCEEDED(hr))
        hr = file_flush(f);
    if (SUCCEEDED(hr))
        hr = file_rename(path, output);
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        (void)file_delete(path);
        error_restore(&why);
    }
    return hr;
}

static HRESULT write_beside(const char *output, const struct cabinet_source *source, const struct cabinet_watch *watch)
{
    char *folder = path_folder(output), *name = text_format("~%s.tmp", path_name(output));
    if (folder && !*folder) {
        memory_free(folder);
        folder = text_copy(".");
    }
    char *path = folder && name ? path_join(folder, name) : NULL;
    struct file *f = NULL;
    /* What has the name is left of a call that was killed, or a link that somebody has put there. */
    HRESULT hr = path ? file_open_below(folder, path, FILE_REPLACE, &f) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = write_to(f, path, output, source, watch);
    file_close(f);
    memory_free(path);
    memory_free(name);
    memory_free(folder);
    return hr;
}

HRESULT cabinet_write(const char *folder, const struct texts *names, const char *output,
                      const struct cabinet_watch *watch)
{
    struct folder_source s = {.folder = folder, .names = names};
    struct cabinet_source source;
    HRESULT hr = find_members(&s, &source);
    if (SUCCEEDED(hr))
        hr = write_beside(output, &source, watch);
    memory_free(s.members);
    return FAILED(hr) ? error_prefix(hr, "the cabinet \"%s\"", output) : hr;
}

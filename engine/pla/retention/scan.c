/* SPDX-License-Identifier: MIT */
/* Scans the run folders below RootPath, and walks their contents. */
#include "engine/base/memory.h"
#include "engine/pla/retention/folder_record.h"
#include "engine/pla/retention/plan.h"
#include "engine/pla/store.h"

#include <string.h>

static HRESULT count_content(void *user, const struct content *c)
{
    struct retained_folder *f = user;
    switch (c->kind) {
    case CONTENT_DATA:
        f->data_files++;
        f->data_bytes += c->size;
        break;
    case CONTENT_REPORT:
        f->report_files++;
        f->report_bytes += c->size;
        break;
    case CONTENT_CABINET:
        f->packed = true;
        f->cabinet_bytes = c->size;
        break;
    case CONTENT_MARK:
    case CONTENT_SCRAP:
        f->rest_bytes += c->size;
        break;
    case CONTENT_OTHER:
        f->others++;
        break;
    case CONTENT_FOLDER:
        break;
    }
    return S_OK;
}

static HRESULT is_empty(void *user, const struct held_entry *entry)
{
    (void)user;
    (void)entry;
    return E_FAIL;
}

/* Inspects a folder. S_FALSE: the folder does not belong to the set. An empty folder whose deletion has started belongs
   to the set: the pass was interrupted after it deleted the mark, which is the last file. */
static HRESULT folder_inspect(const struct scan *s, const struct folder_record *record, struct retained_folder *out)
{
    struct held_folder *f;
    *out = (struct retained_folder){.name = record->name,
                                    .serial = record->serial,
                                    .started = record->started,
                                    .going = record->going,
                                    .sent = record->sent};
    HRESULT hr = held_folder_open(s->root, record->name, &f);
    if (FAILED(hr))
        return hr;
    hr = folder_check_mark(f, record);
    if (hr == S_FALSE && record->going && SUCCEEDED(held_folder_each(f, is_empty, NULL)))
        hr = S_OK;
    if (hr == S_OK)
        hr = folder_walk(f, &s->names, count_content, out);
    held_folder_close(f);
    return hr;
}

static bool is_missing(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND) || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
}

static bool is_running(const struct scan *s, const struct folder_record *record)
{
    const char *names = s->running ? path_names_behind(s->root, s->running) : NULL;
    if (!s->running)
        return false;
    if (names) /* ignores case to be safe, because not all file systems distinguish RUN and run */
        return text_equal_nocase(names, record->name);
    char *path = path_join(s->root, record->name);
    bool same = !path || file_is_same(path, s->running);
    memory_free(path);
    return same;
}

static HRESULT note_failure(struct scanned *out, const struct folder_record *record, HRESULT hr)
{
    char *reason = text_copy(error_text(hr));
    if (!reason)
        return E_OUTOFMEMORY;
    out->failures[out->failure_count++] = (struct scan_failure){record->name, hr, reason};
    return S_OK;
}

static HRESULT scan_record(const struct scan *s, size_t i, struct scanned *out)
{
    const struct folder_record *record = &out->records.items[i];
    struct retained_folder *f = &out->folders[out->count];
    const bool latest = i + 1 == out->records.count;
    HRESULT hr = folder_inspect(s, record, f);
    if (hr == E_OUTOFMEMORY)
        return hr;
    if (is_missing(hr)) {
        out->lost[out->lost_count++] = record;
        return S_OK;
    }
    if (FAILED(hr))
        return note_failure(out, record, hr);
    if (hr == S_FALSE)
        return S_OK;
    f->latest = latest;
    f->running = (latest && s->latest_runs) || is_running(s, record);
    out->of[out->count++] = record;
    return S_OK;
}

HRESULT retention_scan(const struct scan *s, struct scanned *out)
{
    struct texts lines;
    *out = (struct scanned){0};
    HRESULT hr = store_load_folders(s->space, s->set, &lines);
    if (hr == S_OK)
        hr = folder_records_read(&lines, &out->records);
    texts_free(&lines);
    const size_t room = out->records.count + 1;
    if (SUCCEEDED(hr)) {
        out->folders = memory_zero(room, sizeof *out->folders);
        out->of = memory_zero(room, sizeof *out->of);
        out->lost = memory_zero(room, sizeof *out->lost);
        out->failures = memory_zero(room, sizeof *out->failures);
        hr = out->folders && out->of && out->lost && out->failures ? S_OK : E_OUTOFMEMORY;
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < out->records.count; i++)
        hr = scan_record(s, i, out);
    if (FAILED(hr))
        scanned_free(out);
    return FAILED(hr) ? hr : S_OK;
}

void scanned_free(struct scanned *s)
{
    memory_free(s->folders);
    memory_free((void *)s->of);
    memory_free((void *)s->lost);
    for (size_t i = 0; i < s->failure_count; i++)
        memory_free(s->failures[i].reason);
    memory_free(s->failures);
    folder_records_free(&s->records);
    *s = (struct scanned){0};
}

/* ---- walking a folder ---- */

struct walking {
    struct held_folder *folder;
    const struct content_names *names;
    const struct run_files *files;
    const char *cabinet, *scrap;
    const char *prefix; /* "", or path of the current folder with a '/' at the end */
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
        return size ? CONTENT_CABINET : CONTENT_SCRAP; /* an empty file was left by an interrupted file_rename_new */
    return above && (text_equal_nocase(name, w->names->report) || text_equal_nocase(name, w->names->html))
               ? CONTENT_REPORT
               : CONTENT_DATA;
}

static HRESULT walk(struct walking *w);

/* Walks a subfolder. *kind: the kind of the subfolder itself. */
static HRESULT walk_below(const struct walking *w, const char *name, const char *path, enum content_kind *kind)
{
    struct walking below = *w;
    char *prefix = text_format("%s/", path);
    below.depth++;
    below.prefix = prefix;
    HRESULT hr = prefix ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && below.depth > FOLDER_DEPTH_MOST)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), "'%s' contains folders nested more than %d deep",
                       held_folder_path(w->folder), (int)FOLDER_DEPTH_MOST);
    if (SUCCEEDED(hr))
        hr = held_folder_enter(w->folder, name, &below.folder);
    if (SUCCEEDED(hr)) {
        struct file *mark;
        hr = run_files_mark(below.folder, &mark);
        if (hr == S_OK) /* the subfolder belongs to another set or run */
            *kind = CONTENT_OTHER;
        else if (hr == S_FALSE)
            hr = walk(&below);
        file_close(mark);
        held_folder_close(below.folder);
    }
    memory_free(prefix);
    return hr;
}

static HRESULT content_visit(void *user, const struct held_entry *e)
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
    return held_folder_each(w->folder, content_visit, w);
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

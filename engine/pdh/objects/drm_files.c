/* SPDX-License-Identifier: MIT */
/* Finding and reading the files of graphics drivers in /proc/<id>/fdinfo. */
#include "engine/pdh/objects/drm_files.h"

#include "engine/base/clock.h"

#include <stdio.h>
#include <string.h>

#define LOOK_AGAIN_MS    10000
#define LOOKS_PER_SAMPLE 1024 /* files; the process that is begun is looked at to its end */
#define LOOKS_PER_ID     1024 /* its first files: programs open a card early */
#define PLACES_MOST      4096
#define PATH_ROOM        512

HRESULT drm_files_cards(struct drm_files *d, const char *root)
{
    char folder[PATH_ROOM];
    snprintf(folder, sizeof folder, "%s/sys/class/drm", root);
    HRESULT hr = kept_folder_follow(&d->cards, folder, "card");
    if (SUCCEEDED(hr) && !d->cards.names.count)
        return error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "%s: no graphics card", folder);
    return hr;
}

static void path_of(char *path, const char *root, struct drm_place place)
{
    snprintf(path, PATH_ROOM, "%s/proc/%u/fdinfo/%u", root, (unsigned)place.process, (unsigned)place.file);
}

static bool before(struct drm_place a, struct drm_place b)
{
    return a.process != b.process ? a.process < b.process : a.file < b.file;
}

static HRESULT add_place(struct drm_files *d, struct drm_place place)
{
    size_t at = d->place_count;
    while (at && before(place, d->places[at - 1]))
        at--;
    if (d->place_count >= PLACES_MOST || (at && !before(d->places[at - 1], place)))
        return S_OK; /* it is there */
    if (!memory_grow((void **)&d->places, &d->place_capacity, d->place_count + 1, sizeof *d->places))
        return E_OUTOFMEMORY;
    memmove(d->places + at + 1, d->places + at, (d->place_count++ - at) * sizeof *d->places);
    d->places[at] = place;
    return S_OK;
}

/* Those of one process. *looks counts the files. Another user's cannot be listed. */
static HRESULT look_at(struct drm_files *d, const char *root, uint32_t id, size_t *looks)
{
    char path[PATH_ROOM];
    uint32_t *files;
    size_t count;
    snprintf(path, sizeof path, "%s/proc/%u/fdinfo", root, (unsigned)id);
    HRESULT hr = kernel_folder_numbers(path, &files, &count);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    for (size_t i = 0; hr != E_OUTOFMEMORY && i < count && i < LOOKS_PER_ID; i++, ++*looks) {
        struct drm_place place = {id, files[i]};
        struct drm_file file;
        char *text;
        size_t size;
        path_of(path, root, place);
        hr = kernel_file_text(path, &text, &size);
        if (SUCCEEDED(hr) && drm_file_parse(text, size, &file))
            hr = add_place(d, place);
        memory_free(text);
    }
    memory_free(files);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Goes on with the look under way, or begins one when it is time. */
static HRESULT look(struct drm_files *d, const char *root)
{
    uint64_t now = clock_monotonic_ms();
    if (d->id_next == d->id_count && (!d->looked || clock_passed_ms(d->looked, now) >= LOOK_AGAIN_MS)) {
        char path[PATH_ROOM];
        uint32_t *ids;
        size_t count;
        snprintf(path, sizeof path, "%s/proc", root);
        HRESULT hr = kernel_folder_numbers(path, &ids, &count);
        if (FAILED(hr))
            return hr == E_OUTOFMEMORY ? hr : S_OK;
        memory_free(d->ids);
        d->ids = ids;
        d->id_count = count;
        d->id_next = 0;
        d->looked = now | 1;
    }
    HRESULT hr = S_OK;
    for (size_t looks = 0; SUCCEEDED(hr) && d->id_next < d->id_count && looks < LOOKS_PER_SAMPLE;)
        hr = look_at(d, root, d->ids[d->id_next++], &looks);
    return hr;
}

/* The place of this process and card, which has been there lately or is new. NULL: out of memory. */
static struct drm_process *process_of(struct drm_files *d, uint32_t id, uint32_t device)
{
    for (size_t i = d->process_count; i-- > 0 && d->processes[i].id == id;)
        if (d->processes[i].device == device)
            return &d->processes[i];
    if (!memory_grow((void **)&d->processes, &d->process_capacity, d->process_count + 1, sizeof *d->processes))
        return NULL;
    struct drm_process *p = &d->processes[d->process_count++];
    *p = (struct drm_process){.id = id, .device = device, .memory = {INT64_MIN, INT64_MIN, INT64_MIN}};
    return p;
}

static void add_engine(struct drm_process *p, const struct drm_engine *e)
{
    size_t i = 0;
    while (i < p->engine_count && strcmp(p->engines[i].name, e->name) != 0)
        i++;
    if (i < p->engine_count)
        p->engines[i].busy = drm_sum(p->engines[i].busy, e->busy);
    else if (i < DRM_ENGINES)
        p->engines[p->engine_count++] = *e;
}

static HRESULT add_file(struct drm_files *d, uint32_t id, const struct drm_file *file)
{
    for (size_t i = d->client_count; i-- > 0 && d->clients[i].process == id;)
        if (file->has_client && d->clients[i].has_id && d->clients[i].id == file->client &&
            d->clients[i].device == file->device)
            return S_OK;
    struct drm_process *p = process_of(d, id, file->device);
    if (!p || !memory_grow((void **)&d->clients, &d->client_capacity, d->client_count + 1, sizeof *d->clients))
        return E_OUTOFMEMORY;
    d->clients[d->client_count++] = (struct drm_client){id, file->device, file->client, file->has_client, file->memory};
    for (size_t i = 0; i < file->engine_count; i++)
        add_engine(p, &file->engines[i]);
    p->memory.committed = drm_sum(p->memory.committed, file->memory.committed);
    p->memory.dedicated = drm_sum(p->memory.dedicated, file->memory.dedicated);
    p->memory.shared = drm_sum(p->memory.shared, file->memory.shared);
    return S_OK;
}

HRESULT drm_files_read(struct drm_files *d, const char *root)
{
    HRESULT hr = look(d, root);
    size_t left = 0;
    d->process_count = d->client_count = 0;
    for (size_t i = 0; SUCCEEDED(hr) && i < d->place_count; i++) {
        char path[PATH_ROOM];
        const char *text;
        size_t size;
        struct drm_file file;
        path_of(path, root, d->places[i]);
        HRESULT read = kept_files_text(&d->kept, path, &text, &size);
        if (read == E_OUTOFMEMORY)
            return read;
        if (FAILED(read) || !drm_file_parse(text, size, &file))
            continue; /* it was closed, or its process has ended */
        hr = add_file(d, d->places[i].process, &file);
        d->places[left++] = d->places[i];
    }
    if (SUCCEEDED(hr))
        d->place_count = left;
    return hr;
}

void drm_files_close(struct drm_files *d)
{
    kept_files_close(&d->kept);
    kept_folder_close(&d->cards);
    memory_free(d->places);
    memory_free(d->ids);
    memory_free(d->processes);
    memory_free(d->clients);
}

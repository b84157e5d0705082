/* SPDX-License-Identifier: MIT */
/* openpla doctor: checks the files of the sets, their runs, free disk space, the clock, and trace sessions. Reads the
   files directly, because the store's functions would also move and remove files. */
#include "engine/pla/store.h"

#include "cli/doctor/doctor.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/directory.h"
#include "engine/logs/journal.h"
#include "engine/pla/model.h"
#include "engine/pla/run.h"

#include <string.h>

#define MINUTE      (INT64_C(60) * 10000000)
/* tolerance if a file is newer than now: computers that share files have different clocks */
#define AHEAD       (5 * MINUTE)
#define MOST_FAULTS 20 /* maximum number of listed findings of one kind; further findings are only counted */

struct looking {
    struct doctor *d;
    struct texts folders; /* the folders to which sets write, without duplicates */
    int64_t newest;       /* time of the newest file */
    char newest_path[512];
    uint32_t faults;
    bool locked; /* the store check failed; sets are not checked in this case, because waiting for the lock of each
                    set could take minutes */
};

/* ---- problems found by store check ---- */

/* Returns the finding for a problem. A record (.run) contains the number of the set's next run. Therefore -repair keeps
   an orphaned record, but moves a corrupt record away. */
static enum doctor_id id_of_damage(const struct store_finding *f)
{
    if (strcmp(path_extension(f->path), ".run") != 0)
        return DOCTOR_FOUND_STORE_DAMAGED;
    return f->fault == STORE_ORPHAN    ? DOCTOR_FOUND_RECORD_ORPHANED
           : f->fault == STORE_DAMAGED ? DOCTOR_FOUND_RECORD_DAMAGED
                                       : DOCTOR_FOUND_STORE_DAMAGED;
}

static HRESULT see_fault(void *user, const struct store_finding *f)
{
    struct looking *l = user;
    char *data = os_data_folder(), *secrets = data ? path_join(data, "secrets") : NULL;
    HRESULT hr = secrets ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && f->fault == STORE_FOREIGN) {
        hr = doctor_find(l->d, DOCTOR_FOUND_STORE_FOREIGN, NULL, "%s belongs to %s", f->path, f->detail);
    } else if (SUCCEEDED(hr) && f->fault == STORE_OPEN) {
        hr = doctor_find(l->d, DOCTOR_FOUND_STORE_OPEN, NULL, "%s: %s", f->path, store_fault_text(f->fault));
    } else if (SUCCEEDED(hr) && f->fault == STORE_ORPHAN && path_names_behind(secrets, f->path)) {
        hr = doctor_find(l->d, DOCTOR_FOUND_PASSWORDS_ORPHANED, NULL, "%s: passwords of a set that does not exist",
                         f->path);
    } else if (SUCCEEDED(hr) && l->faults++ < MOST_FAULTS) {
        hr = doctor_find(l->d, id_of_damage(f), NULL, "%s: %s: %s%s%s", f->path, store_fault_word(f->fault),
                         store_fault_text(f->fault), *f->detail ? ": " : "", f->detail);
    }
    memory_free(secrets);
    memory_free(data);
    return hr;
}

static HRESULT check_files(struct looking *l)
{
    HRESULT hr = store_check(false, see_fault, l);
    l->locked = FAILED(hr);
    if (FAILED(hr) && hr != E_OUTOFMEMORY)
        hr = doctor_find(l->d, DOCTOR_FOUND_STORE_UNREADABLE, NULL, "%s (0x%08X)", error_text(hr), (unsigned)hr);
    if (SUCCEEDED(hr) && l->faults > MOST_FAULTS)
        hr = doctor_find(l->d, DOCTOR_FOUND_STORE_DAMAGED, NULL, "%u more files", (unsigned)(l->faults - MOST_FAULTS));
    return hr;
}

/* ---- runs ---- */

/* Reports a run whose record says that it is active although no process runs it. */
static HRESULT check_run(struct looking *l, const char *space, const char *name)
{
    struct run_host host;
    struct run_record record = {0};
    char *full = text_format("%s\\%s", space, name);
    HRESULT hr = full ? run_host_find(space, name, &host) : E_OUTOFMEMORY;
    if (hr == S_FALSE) {
        hr = store_load_run(space, name, &record);
        if (SUCCEEDED(hr) && record.running)
            hr = doctor_find(l->d, DOCTOR_FOUND_RUN_CUT_OFF, full, "%s: its process has exited", full);
        run_record_free(&record);
    } else if (hr == S_OK) {
#ifdef _WIN32
        char *own = os_module_folder();
        char *module = own ? path_join(l->d->folder ? l->d->folder : own, "openpla.dll") : NULL;
        const int64_t written = module ? doctor_file_written(module) : 0;
        if (written && (int64_t)host.process_start < written)
            hr = doctor_find(l->d, DOCTOR_FOUND_HOST_OUTDATED, full,
                             "%s runs in a process that was started before %s was replaced", full, module);
        memory_free(module);
        memory_free(own);
#endif
    }
    memory_free(full);
    if (FAILED(hr) && hr != E_OUTOFMEMORY) { /* the store check reports unreadable files */
        error_clear();
        hr = S_OK;
    }
    return hr;
}

/* ---- one definition ---- */

static HRESULT add_folder(struct looking *l, const char *root)
{
    char *path = os_expand_environment(root);
    if (!path)
        return E_OUTOFMEMORY;
    /* Use the nearest existing folder, because the first run creates the missing folders. */
    while (*path && !folder_exists(path)) {
        char *above = path_folder(path);
        if (!above || strcmp(above, path) == 0) {
            memory_free(path);
            path = above;
            break;
        }
        memory_free(path);
        path = above;
    }
    HRESULT hr = path ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && *path && i < l->folders.count; i++)
        if (strcmp(l->folders.items[i], path) == 0)
            hr = S_FALSE;
    if (hr == S_OK && *path)
        hr = texts_add(&l->folders, path);
    memory_free(path);
    return hr;
}

/* Checks a definition. If `name` is NULL, the name of the set is unknown, and so the function cannot find the set's
   run. The store check reports errors in the XML. */
static HRESULT see_set(struct looking *l, const char *space, const char *name, const char *xml, size_t size)
{
    struct object *set = NULL;
    HRESULT hr = set_create_from_xml(xml, size, &set);
    if (SUCCEEDED(hr))
        hr = add_folder(l, set_root(set_of(set)));
    if (SUCCEEDED(hr) && name)
        hr = check_run(l, space, name);
    object_release(set);
    return hr;
}

static HRESULT see_definition(struct looking *l, const char *space, const char *path)
{
    char *xml = NULL, *name = NULL;
    size_t size = 0;
    HRESULT hr = file_load(path, DEFINITION_MAX, &xml, &size);
    const char *inside = SUCCEEDED(hr) ? stored_name_cut(xml, &size) : NULL;
    if (SUCCEEDED(hr) && inside)
        hr = (name = text_copy(inside)) ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = see_set(l, space, name, xml, size);
    memory_free(name);
    memory_free(xml);
    if (FAILED(hr) && hr != E_OUTOFMEMORY) {
        error_clear();
        hr = S_OK;
    }
    return hr;
}

/* Checks the built-in sets. The store contains no definitions of built-in sets, only the files of their runs. */
static HRESULT see_system_sets(struct looking *l)
{
    HRESULT hr = S_OK;
    for (const struct system_set *set = system_sets; set->name && SUCCEEDED(hr); set++) {
        struct run_record record = {0};
        hr = store_load_run(SYSTEM_SPACE, set->name, &record);
        const bool has_run = SUCCEEDED(hr) && record.known;
        run_record_free(&record);
        if (has_run)
            hr = see_set(l, SYSTEM_SPACE, set->name, set->xml, strlen(set->xml));
        if (FAILED(hr) && hr != E_OUTOFMEMORY) { /* the store check reports unreadable files */
            error_clear();
            hr = S_OK;
        }
    }
    return hr;
}

struct place {
    struct looking *l;
    const char *space, *folder;
};

static HRESULT see_file(void *user, const struct file_entry *file)
{
    struct place *p = user;
    HRESULT hr = S_OK;
    char *path = path_join(p->folder, file->name);
    if (!path)
        return E_OUTOFMEMORY;
    if (file->written > p->l->newest) {
        p->l->newest = file->written;
        text_fit(p->l->newest_path, sizeof p->l->newest_path, path);
    }
    if (p->space && text_equal_nocase(path_extension(path), ".xml"))
        hr = see_definition(p->l, p->space, path);
    memory_free(path);
    return hr;
}

static HRESULT see_folder(struct looking *l, const char *space, const char *folder)
{
    struct place p = {l, space, folder};
    HRESULT hr = folder_each_file(folder, see_file, &p);
    if (hr == E_OUTOFMEMORY)
        return hr;
    error_clear(); /* the store check reports the error */
    return S_OK;
}

static HRESULT see_namespace(struct looking *l, const char *space)
{
    struct texts places = {0};
    char *folder = store_folder(space);
    HRESULT hr = folder ? folder_list(folder, true, &places) : E_OUTOFMEMORY;
    if (FAILED(hr) && hr != E_OUTOFMEMORY) {
        error_clear();
        hr = S_OK;
    }
    for (size_t i = 0; i < places.count && SUCCEEDED(hr); i++) {
        char *place = path_join(folder, places.items[i]);
        hr = place ? see_folder(l, space, place) : E_OUTOFMEMORY;
        memory_free(place);
    }
    texts_free(&places);
    memory_free(folder);
    return hr;
}

/* ---- clock and free space ---- */

static HRESULT check_clock(struct looking *l)
{
    char *events = journal_folder();
    HRESULT hr = events ? see_folder(l, NULL, events) : E_OUTOFMEMORY;
    const int64_t now = clock_utc();
    if (SUCCEEDED(hr) && l->newest > now + AHEAD)
        hr = doctor_find(l->d, DOCTOR_FOUND_CLOCK_BACK, NULL,
                         "the clock was set back: %s was written %lld minutes in the future", l->newest_path,
                         (long long)((l->newest - now) / MINUTE));
    memory_free(events);
    return hr;
}

static HRESULT check_room(struct doctor *d, const char *folder)
{
    uint64_t left;
    HRESULT hr = folder_free_bytes(folder, &left);
    if (FAILED(hr)) {
        if (hr != E_OUTOFMEMORY)
            error_clear();
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    }
    if (left >= d->room)
        return S_OK;
    return doctor_find(d, left < d->room / 10 ? DOCTOR_FOUND_DISK_FULL : DOCTOR_FOUND_DISK_LOW, NULL,
                       "%s: %llu MB free on the disk", folder, (unsigned long long)(left >> 20));
}

HRESULT doctor_check_store(struct doctor *d)
{
    struct looking l = {.d = d};
    char *data = os_data_folder();
    HRESULT hr = data ? check_files(&l) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = add_folder(&l, data);
    for (const char *const *space = store_namespaces(); *space && SUCCEEDED(hr) && !l.locked; space++)
        hr = see_namespace(&l, *space);
    if (SUCCEEDED(hr) && !l.locked)
        hr = see_system_sets(&l);
    if (SUCCEEDED(hr))
        hr = check_clock(&l);
    for (size_t i = 0; i < l.folders.count && SUCCEEDED(hr); i++)
        hr = check_room(d, l.folders.items[i]);
    texts_free(&l.folders);
    memory_free(data);
    return FAILED(hr) ? hr : S_OK;
}

/* ---- sessions ---- */

HRESULT doctor_check_sessions(struct doctor *d)
{
    struct directory *directory;
    struct directory_session *list = NULL;
    size_t count = 0;
    HRESULT hr = directory_check();
    if (FAILED(hr) && hr != E_OUTOFMEMORY) {
        char *why = text_copy(error_text(hr));
        hr = why ? doctor_find(d,
                               hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA) ? DOCTOR_FOUND_SESSIONS_CORRUPT
                                                                            : DOCTOR_FOUND_SESSIONS_UNUSABLE,
                               NULL, "%s", why)
                 : E_OUTOFMEMORY;
        memory_free(why);
        return FAILED(hr) ? hr : S_OK;
    }
    if (hr == S_OK)
        hr = directory_get(&directory);
    if (hr == S_OK)
        hr = directory_sessions(directory, &list, &count);
    for (size_t i = 0; i < count && hr == S_OK; i++) {
        const struct directory_session *s = &list[i];
        if (s->state == DIRECTORY_RUNNING && s->host.id != 0 && !process_alive(s->host.id, s->host.start_time))
            hr = doctor_find(d, DOCTOR_FOUND_SESSION_DEAD, s->name, "%s: its process has exited", s->name);
    }
    directory_sessions_free(list, count);
    if (hr == E_OUTOFMEMORY)
        return hr;
    error_clear(); /* without the directory of sessions there are no sessions */
    return S_OK;
}

/* SPDX-License-Identifier: MIT */
/* The store of definitions: saves, loads and deletes them, and applies the quotas of their owners.

   Problem. Clients, the service and the host process of each run read and write the same sets at the same time. Each of
   them may be killed, and the disk may be full. A reader must never get an incomplete definition, a failed commit must
   not change the set, and listing thousands of sets must not block a writer for long.

   Layout. All paths are built by set_file_locate:

   <data>/sets/<namespace>/            Service, System, Session, Autosession
       store.lock                      lock of the namespace
       store.changes                   one line for each set that was written
       <any name>.xml                  put there by hand; moved to its place
       <place>/                        two hex digits of the name's hash
           <file>.xml                  definition: XML, then account, Security, name and owner
           <file>.run                  run record: serial number, latest files, last result
           <file>.running              run lock, held by the host process for the whole run
           <file>.host                 process, start time, key and owner of the host process
           <file>.held                 what must be released if the host process is killed
           <file>.folders              folders that the runs have created
           <file>.pass                 lock of a retention pass
           ~<process>-<number>.tmp     a file that is being written
   <data>/secrets/<key>                passwords of a set; the key is in its definition
   <data>/aside/                       files that store_check quarantined

   Writers. Commit and Delete write the definition, under store.lock. The run record is written by Commit, by the host
   process and by the supervisor; .host, .held and the run lock belong to the process that holds the run lock. Only
   changes that readers can notice require store.lock. run_record.c writes and flushes its temporary file without the
   lock, and then takes the lock. If the record has not been changed in the meantime, run_record.c renames the file;
   otherwise it starts again.

   Commit. Every file is replaced as a whole: written to a temporary file in the same folder, flushed, renamed. A commit
   that also changes the run record writes both files before it renames the first: if the disk is full, the commit fails
   before any change is visible. The commit renames the record first and the definition last. The set is committed when
   the definition has been renamed; if this rename fails, the old record is restored. If only flushing the folder fails
   after the rename, is_stored() finds the new file, and the set remains committed.

   Readers. A reader gets either the old file or the new one. A reader that may not write to the folder does not take
   the lock. For a moment, definition and record can be from different commits; this has no effect, because the record
   does not depend on the definition.

   After a crash. The next writer or list in a place removes temporary files. (In this way, a process that is writing a
   run record without the lock may lose its temporary file. It then starts again.) If the record is newer than its
   definition, a serial number is skipped. A record or .folders without a definition is removed before a set of that
   name is created again. store_check reports and removes other files without a definition, and any secret that is ten
   minutes old if no definition refers to it. The host OS releases the lock. If no process holds .running, no run is
   active; the supervisor then releases the resources listed in .held.

   Changes. Writers append the set's name to store.changes, and watchers read the names that were added since they last
   read it (struct store_mark). If the file was truncated, deleted or replaced, its first line differs, and the watcher
   scans everything. The periodic scan finds a change that could not be appended. If people copy a definition into the
   namespace's folder, the next access moves the definition to its place. Exception: the definition belongs to an
   account that may not write here. */
#include "engine/pla/store.h"

#include "engine/base/assert.h"
#include "engine/base/debug_trace.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/quotas.h"
#include "engine/pla/model.h"
#include "engine/pla/store/set_file.h"

#include <string.h>

static HRESULT set_error(HRESULT hr, const char *space, const char *name)
{
    return error_set(hr, "'%s\\%.300s': %s", space, name, error_standard_text(hr));
}

/* Removes a file, or an empty folder that has the file's name. */
static HRESULT remove_entry(const char *path)
{
    return folder_exists(path) ? folder_delete(path) : file_delete(path);
}

static HRESULT remove_if_there(const char *path)
{
    HRESULT hr = remove_entry(path);
    return set_file_is_missing(hr) ? S_OK : hr;
}

/* The files and folders in a set's place. Under Wine, finding out that one file is missing takes as long as listing
   them all. */
struct place_names {
    struct texts names;
    bool known; /* false: the folder could not be listed, so any file may exist */
};

static struct place_names place_list(const struct set_file *at)
{
    struct place_names list = {.known = false};
    const HRESULT hr = folder_list_all(at->place, &list.names);
    list.known = SUCCEEDED(hr) || set_file_is_missing(hr);
    if (FAILED(hr))
        error_clear();
    return list;
}

static bool may_be_there(const struct place_names *list, const char *path)
{
    bool is_named = !list->known;
    for (size_t i = 0; !is_named && i < list->names.count; i++)
        is_named = text_equal_nocase(list->names.items[i], path_name(path));
    return is_named;
}

static HRESULT remove_named(const struct place_names *list, const char *path)
{
    return may_be_there(list, path) ? remove_if_there(path) : S_OK;
}

/* Changes the run record. An unreadable record is of no use and is replaced. On any other failure the record is
   unchanged. */
static HRESULT change_run(const struct set_file *at, const struct run_change *change)
{
    HRESULT hr = set_file_change_run(at, change);
    bool damaged = hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA) || hr == HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE) ||
                   (FAILED(hr) && hr != E_OUTOFMEMORY && folder_exists(at->run));
    if (damaged && SUCCEEDED(remove_if_there(at->run)))
        hr = set_file_change_run(at, change);
    return hr;
}

/* The contents of the record before the commit. */
struct record_before {
    char *text;
    size_t size;
    HRESULT hr; /* result of reading it */
};

static struct record_before keep_record(const struct set_file *at)
{
    struct record_before kept = {.hr = S_OK};
    kept.hr = file_load(at->run, SIZE_MAX, &kept.text, &kept.size);
    return kept;
}

static void put_record_back(const struct set_file *at, const struct record_before *kept)
{
    if (SUCCEEDED(kept->hr))
        file_store(at->run, kept->text, kept->size);
    else if (set_file_is_missing(kept->hr))
        remove_if_there(at->run);
}

/* Returns whether the file is stored. After an error, the file can be stored nevertheless, because only flushing the
   folder failed. */
static bool is_stored(const char *path, const struct text_buffer *content)
{
    char *text = NULL;
    size_t size = 0;
    bool same = SUCCEEDED(file_load(path, content->length, &text, &size)) && size == content->length &&
                !memcmp(text, content->text, size);
    memory_free(text);
    return same;
}

/* Writes the definition and the record before it renames either file, so that the set is unchanged if the disk is full.
   The set is committed when its definition has been renamed. */
static HRESULT save_both(const struct set_file *at, const struct text_buffer *content, const struct run_change *change)
{
    struct file_storing *definition = NULL;
    struct record_before before = {.hr = E_ABORT}; /* nothing to restore */
    HRESULT hr = file_store_begin(at->definition, content->text, content->length, &definition);
    if (SUCCEEDED(hr) && change) {
        before = keep_record(at);
        hr = before.hr == E_OUTOFMEMORY ? before.hr : change_run(at, change);
    }
    hr = SUCCEEDED(hr) ? file_store_end(definition) : file_store_drop(definition, hr);
    struct error_kept why = error_keep(hr);
    if (SUCCEEDED(hr) || is_stored(at->definition, content))
        set_file_note_change(at);
    else
        put_record_back(at, &before);
    memory_free(before.text);
    return FAILED(hr) ? error_restore(&why) : hr;
}

/* Determines the Security of a set. Call it before the namespace's lock is taken, because parsing can take long. *own:
   free it with memory_free; NULL: nothing to free. */
static HRESULT find_security(const struct written_set *set, char **own, const char **security)
{
    enum { READABLE_BYTES = 1 << 20 }; /* OpenPLA's own XML of up to this size exceeds no limit of the reader */
    const bool is_readable = set->security && set->size <= READABLE_BYTES;
    *own = NULL;
    if (!is_readable && set_security_of_xml(set->xml, set->size, own) == E_OUTOFMEMORY)
        return E_OUTOFMEMORY;
    *security = is_readable ? set->security : *own;
    return S_OK;
}

HRESULT store_save(const struct caller *caller, const char *space, const char *name, enum store_mode mode,
                   const char *xml, size_t size, const struct run_change *change, bool *created)
{
    return store_save_written(caller, space, name, mode, &(struct written_set){.xml = xml, .size = size}, change,
                              created);
}

HRESULT store_save_written(const struct caller *caller, const char *space, const char *name, enum store_mode mode,
                           const struct written_set *set, const struct run_change *change, bool *created)
{
    struct set_file at = {0};
    struct text_buffer content = {0};
    struct place_names list = {.known = false};
    char *owner = NULL, *own = NULL;
    const char *security = NULL;
    HRESULT hr = find_security(set, &own, &security);
    if (SUCCEEDED(hr))
        hr = set_file_open(space, name, mode == STORE_MODIFY ? SET_FILE_CHANGE : SET_FILE_CREATE, &at);
    if (hr == S_OK)
        hr = set_file_find(&at);
    if (created)
        *created = hr == S_FALSE;
    if (hr == S_OK && mode == STORE_CREATE)
        hr = set_error(PLA_E_DCS_ALREADY_EXISTS, at.space, name);
    else if (hr == S_FALSE && mode == STORE_MODIFY)
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    const bool is_new = hr == S_FALSE;
    if (SUCCEEDED(hr))
        hr = stored_set_check_save(caller, &at, !is_new, security);
    if (SUCCEEDED(hr))
        hr = owner_quota_check(&at, caller, set->size, &owner);
    if (SUCCEEDED(hr))
        list = place_list(&at);
    if (SUCCEEDED(hr) && is_new) {
        hr = remove_named(&list, at.run); /* the record and the folders belong to an earlier set of this name */
        if (SUCCEEDED(hr))
            hr = remove_named(&list, at.folders);
    } else if (SUCCEEDED(hr) && folder_exists(at.definition))
        hr = folder_delete(at.definition);
    if (SUCCEEDED(hr)) {
        text_buffer_add_n(&content, set->xml, set->size);
        if (security) /* without the line, readers use the Security in the XML */
            stored_security_add(&content, security);
        stored_name_add(&content, name, owner);
        hr = content.failed ? E_OUTOFMEMORY : folder_create_protected(at.place, PROTECTION_PLACE);
    }
    if (SUCCEEDED(hr))
        set_file_remove_torn_of(at.place, &list.names);
    if (SUCCEEDED(hr))
        hr = save_both(&at, &content, change);
    TRACE_STEP(store, "save %s\\%s: 0x%08X", space, name, (unsigned)hr);
    texts_free(&list.names);
    text_buffer_free(&content);
    memory_free(owner);
    memory_free(own);
    set_file_close(&at);
    return hr;
}

HRESULT store_load(const struct caller *caller, const char *space, const char *name, char **xml, size_t *size)
{
    struct set_file at;
    HRESULT hr = set_file_open(space, name, SET_FILE_READ, &at);
    *xml = NULL;
    *size = 0;
    if (hr == S_OK)
        hr = file_load_trusted(at.definition, DEFINITION_MAX, xml, size);
    if (hr == S_FALSE || set_file_is_missing(hr))
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    const char *security = NULL;
    if (SUCCEEDED(hr)) {
        stored_name_cut(*xml, size);
        security = stored_security_cut(*xml, size, !caller->in_process);
    }
    if (hr != PLA_E_DCS_NOT_FOUND && hr != E_OUTOFMEMORY) {
        const struct error_kept why = error_keep(hr);
        const HRESULT passed = stored_set_check_loaded(caller, SET_ACCESS_QUERY, &at, *xml, *size, security);
        hr = FAILED(passed) ? passed : FAILED(hr) ? error_restore(&why) : hr;
    }
    if (FAILED(hr)) {
        memory_free(*xml);
        *xml = NULL;
        *size = 0;
    }
    TRACE_STEP(store, "load %s\\%s: 0x%08X", space, name, (unsigned)hr);
    set_file_close(&at);
    return hr;
}

/* Reads the last bytes of a file and terminates them with a 0. */
static HRESULT load_end(const char *path, size_t most, char *out, size_t *size)
{
    struct file *f = NULL;
    uint64_t whole = 0;
    HRESULT hr = file_open(path, FILE_READ, &f);
    if (SUCCEEDED(hr))
        hr = file_check_owner(f);
    if (SUCCEEDED(hr))
        hr = file_size(f, &whole);
    if (SUCCEEDED(hr) && whole > DEFINITION_MAX)
        hr = HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE);
    if (SUCCEEDED(hr))
        hr = file_read_at(f, whole > most ? whole - most : 0, out, most, size);
    file_close(f);
    if (SUCCEEDED(hr))
        out[*size] = 0;
    return hr;
}

HRESULT store_load_lines(const char *space, const char *name, char **lines, size_t *size)
{
    struct set_file at;
    HRESULT hr = set_file_open(space, name, SET_FILE_READ, &at);
    *size = 0;
    *lines = SUCCEEDED(hr) ? memory_alloc(STORED_LINES_MAX + 1) : NULL;
    if (SUCCEEDED(hr) && !*lines)
        hr = E_OUTOFMEMORY;
    if (hr == S_OK)
        hr = load_end(at.definition, STORED_LINES_MAX, *lines, size);
    if (hr == S_FALSE || set_file_is_missing(hr))
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    if (SUCCEEDED(hr)) {
        stored_name_cut(*lines, size);
        stored_security_cut(*lines, size, false);
    } else {
        memory_free(*lines);
        *lines = NULL;
    }
    set_file_close(&at);
    return hr;
}

HRESULT store_delete(const struct caller *caller, const char *space, const char *name)
{
    struct set_file at;
    struct file_lock *running = NULL;
    HRESULT hr = set_file_open(space, name, SET_FILE_CHANGE, &at);
    if (hr == S_OK)
        hr = stored_set_check_access(caller, SET_ACCESS_DELETE, &at);
    if (hr == S_OK)
        hr = remove_entry(at.definition);
    if (hr == S_FALSE || hr == HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND) ||
        hr == HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND))
        hr = set_error(PLA_E_DCS_NOT_FOUND, at.space, name);
    if (SUCCEEDED(hr)) {
        struct place_names list = place_list(&at);
        remove_named(&list, at.run); /* files that remain are removed before a set of this name is created again */
        remove_named(&list, at.host);
        remove_named(&list, at.folders); /* a later set with this name must not own these folders */
        /* A run that has not noticed the deletion keeps its lock file. */
        if (may_be_there(&list, at.run_lock) && file_exists(at.run_lock) &&
            SUCCEEDED(file_lock_take(at.run_lock, 0, &running)))
            file_delete(at.run_lock);
        file_lock_release(running);
        running = NULL;
        if (may_be_there(&list, at.pass) && file_exists(at.pass) && SUCCEEDED(file_lock_take(at.pass, 0, &running)))
            file_delete(at.pass);
        file_lock_release(running);
        set_file_remove_torn_of(at.place, &list.names);
        texts_free(&list.names);
        set_file_note_change(&at);
    }
    TRACE_STEP(store, "delete %s\\%s: 0x%08X", space, name, (unsigned)hr);
    set_file_close(&at);
    return hr;
}

/* Returns a copy of one path in struct set_file; `member` is the offset of the path in the struct. From memory_alloc;
   NULL: out of memory. */
static char *path_of(const char *space, const char *name, size_t member)
{
    struct set_file at;
    if (FAILED(set_file_locate(space, name, &at)))
        return NULL;
    char **place = (char **)((char *)&at + member), *path = *place;
    *place = NULL;
    set_file_close(&at);
    return path;
}

char *store_definition_path(const char *space, const char *name)
{
    return path_of(space, name, offsetof(struct set_file, definition));
}

char *store_run_lock_path(const char *space, const char *name)
{
    return path_of(space, name, offsetof(struct set_file, run_lock));
}

char *store_pass_lock_path(const char *space, const char *name)
{
    return path_of(space, name, offsetof(struct set_file, pass));
}

/* ---- quotas of owners ---- */

/* A process that commits for other processes has one list per namespace, with the definitions that each account owns.
   The list is updated from store.changes, so that a commit reads only the changed files. */

/* All accounts that cannot be identified share one quota. */
#define UNKNOWN "(unknown)"

struct owned {
    char *file;  /* name of the definition's file, without its folder */
    char *owner; /* borrowed from `owners` */
    uint64_t size;
};
static struct tally {
    const char *space;
    char *folder; /* if the data folder changes, everything is read again */
    struct store_mark mark;
    struct owned *items; /* sorted by file */
    size_t count, capacity;
    struct texts owners;
} tallies[8];
static struct lock lock = LOCK_INIT;

static void tally_clear(struct tally *t)
{
    for (size_t i = 0; i < t->count; i++)
        memory_free(t->items[i].file);
    memory_free(t->items);
    texts_free(&t->owners);
    memory_free(t->folder);
    *t = (struct tally){.space = t->space};
}

static struct tally *tally_of(const char *space)
{
    size_t i = 0;
    while (tallies[i].space && tallies[i].space != space)
        i++;
    tallies[i].space = space;
    return &tallies[i];
}

/* Returns the owner of the definition from memory_alloc; "": none. S_FALSE, with NULL: there is no definition, or its
   file belongs to a foreign account. */
static HRESULT read_owner(const char *path, char **owner, uint64_t *size)
{
    struct file *f = NULL;
    char tail[STORED_LINE_MAX + 1];
    size_t got = 0;
    *owner = NULL;
    HRESULT hr = file_open(path, FILE_READ, &f);
    if (SUCCEEDED(hr))
        hr = file_check_owner(f); /* a foreign account could write any owner into the file */
    if (SUCCEEDED(hr))
        hr = file_size(f, size);
    if (SUCCEEDED(hr)) {
        uint64_t from = *size > STORED_LINE_MAX ? *size - STORED_LINE_MAX : 0;
        hr = file_read_at(f, from, tail, STORED_LINE_MAX, &got);
    }
    file_close(f);
    if (set_file_is_missing(hr) || hr == E_ACCESSDENIED || (FAILED(hr) && folder_exists(path))) {
        error_clear();
        return S_FALSE;
    }
    if (FAILED(hr))
        return hr;
    tail[got] = 0;
    const char *found;
    stored_line_cut(tail, &got, &found);
    *owner = text_copy(found);
    return *owner ? S_OK : E_OUTOFMEMORY;
}

/* Returns the index of the item, or the index at which a new item must be inserted. */
static size_t tally_find(const struct tally *t, const char *file, bool *there)
{
    size_t low = 0, high = t->count;
    *there = false;
    while (low < high && !*there) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(t->items[middle].file, file);
        *there = !order;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

static HRESULT keep_owner(struct tally *t, const char *owner, char **kept)
{
    for (size_t i = 0; i < t->owners.count; i++)
        if (!strcmp(*kept = t->owners.items[i], owner))
            return S_OK;
    HRESULT hr = texts_add(&t->owners, owner);
    *kept = SUCCEEDED(hr) ? t->owners.items[t->owners.count - 1] : NULL;
    return hr;
}

static void take_out(struct tally *t, size_t at)
{
    assert(at < t->count);
    memory_free(t->items[at].file);
    memmove(&t->items[at], &t->items[at + 1], (--t->count - at) * sizeof *t->items);
}

/* Updates the item of a file from its contents. */
static HRESULT tally_update_file(struct tally *t, const char *path)
{
    struct owned now = {0};
    char *owner;
    bool there;
    HRESULT hr = read_owner(path, &owner, &now.size);
    size_t at = tally_find(t, path_name(path), &there);
    if (FAILED(hr) && hr != E_OUTOFMEMORY) { /* a file that is unreadable now must not prevent other commits */
        error_clear();
        return S_OK;
    }
    if (SUCCEEDED(hr) && (!owner || !*owner)) {
        if (there)
            take_out(t, at);
    } else if (SUCCEEDED(hr)) {
        hr = keep_owner(t, owner, &now.owner);
        if (SUCCEEDED(hr) && !there) {
            void *items = t->items;
            bool grown = memory_grow(&items, &t->capacity, t->count + 1, sizeof now);
            t->items = items;
            now.file = grown ? text_copy(path_name(path)) : NULL;
            hr = now.file ? S_OK : E_OUTOFMEMORY;
            if (SUCCEEDED(hr)) {
                memmove(&t->items[at + 1], &t->items[at], (t->count++ - at) * sizeof now);
                t->items[at] = now;
                assert(!at || strcmp(t->items[at - 1].file, now.file) < 0);
                assert(at + 1 == t->count || strcmp(now.file, t->items[at + 1].file) < 0);
            }
        } else if (SUCCEEDED(hr)) {
            t->items[at].owner = now.owner;
            t->items[at].size = now.size;
        }
    }
    memory_free(owner);
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT tally_read_place(struct tally *t, const char *place)
{
    struct texts files = {0};
    HRESULT hr = folder_list(place, false, &files);
    for (size_t i = 0; SUCCEEDED(hr) && i < files.count; i++) {
        if (!text_equal_nocase(path_extension(files.items[i]), ".xml"))
            continue;
        char *path = path_join(place, files.items[i]);
        hr = path ? tally_update_file(t, path) : E_OUTOFMEMORY;
        memory_free(path);
    }
    texts_free(&files);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

static HRESULT tally_read_all(struct tally *t, const char *folder)
{
    struct texts places = {0};
    struct store_mark mark = t->mark;
    tally_clear(t);
    t->mark = mark;
    t->folder = text_copy(folder);
    HRESULT hr = t->folder ? folder_list(folder, true, &places) : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < places.count; i++) {
        char *place = path_join(folder, places.items[i]);
        hr = place ? tally_read_place(t, place) : E_OUTOFMEMORY;
        memory_free(place);
    }
    texts_free(&places);
    return hr;
}

static HRESULT tally_read_changed(struct tally *t, const struct texts *names)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < names->count; i++) {
        struct set_file changed;
        hr = set_file_locate(t->space, names->items[i], &changed);
        if (SUCCEEDED(hr))
            hr = tally_update_file(t, changed.definition);
        set_file_close(&changed);
    }
    return hr;
}

/* Updates the list. If this fails, the next call reads everything. */
static HRESULT bring_up_to_date(struct tally *t, const struct set_file *at)
{
    struct texts names = {0};
    if (!t->folder || strcmp(t->folder, at->folder) != 0)
        tally_clear(t);
    HRESULT hr = set_file_changes(at, &t->mark, &names);
    if (SUCCEEDED(hr))
        hr = hr == S_OK && t->folder ? tally_read_changed(t, &names) : tally_read_all(t, at->folder);
    texts_free(&names);
    if (FAILED(hr))
        tally_clear(t);
    return hr;
}

static HRESULT tally_check_quota(const struct tally *t, const char *file, const char *owner, size_t size)
{
    uint64_t sets = 1, bytes = size, before = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct owned *o = &t->items[i];
        if (strcmp(o->owner, owner) != 0)
            continue;
        if (!strcmp(o->file, file)) {
            before = o->size;
            continue;
        }
        sets++;
        bytes += o->size;
    }
    if (!before && sets > quota_limit(QUOTA_sets))
        return quota_exceeded(QUOTA_sets, owner);
    return size > before && bytes > quota_limit(QUOTA_bytes) ? quota_exceeded(QUOTA_bytes, owner) : S_OK;
}

HRESULT owner_quota_check(const struct set_file *at, const struct caller *caller, size_t size, char **owner)
{
    char *account = NULL;
    uint64_t before;
    HRESULT hr = set_file_find(at);
    *owner = NULL;
    if (hr == S_OK)
        hr = read_owner(at->definition, owner, &before);
    if (SUCCEEDED(hr) && (!*owner || !**owner)) {
        memory_free(*owner);
        account = caller->in_process ? text_copy("") : caller_account(caller);
        *owner = account && !caller->in_process && !stored_owner_fits(account) ? text_copy(UNKNOWN) : account;
        if (*owner != account)
            memory_free(account);
        hr = *owner ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr) && !caller->in_process) {
        lock_enter(&lock);
        assert(at->lock); /* set_file_changes requires the lock */
        struct tally *t = tally_of(at->space);
        hr = bring_up_to_date(t, at);
        if (SUCCEEDED(hr))
            hr = tally_check_quota(t, path_name(at->definition), *owner, size);
        lock_leave(&lock);
    }
    if (FAILED(hr)) {
        memory_free(*owner);
        *owner = NULL;
    }
    return FAILED(hr) ? hr : S_OK;
}

/* SPDX-License-Identifier: MIT */
/* Provides the schemas of a folder of instrumentation manifests. An index in OpenPLA's data folder records which file
   describes which event provider, so that decoding reads only the manifests of the event providers in the trace.

   The index is a text file, manifest-index\HASH.txt, where HASH is the hash of the folder's full path. The first line
   of the index contains the version and the folder. Each of the other lines describes an event provider of a file, or a
   file that cannot be used:

       <stamp> TAB <file> TAB {guid} TAB <provider>
       <stamp> TAB <file> TAB ! TAB <reason>

   A file is read again if its stamp (size and time of the last write) differs from the stamp in the index. The index is
   written as a whole to a temporary file, which then replaces the old index. If the index cannot be read or written,
   all files are read each time. The contents of the index are untrusted: at worst, a wrong line leads to a file without
   the event provider. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/manifest_origins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_MOST_BYTES = 16 << 20, INDEX_MOST_LINES = 1 << 17 };
#define INDEX_HEAD "OpenPLA manifest index 1\t"

/* A line of the index: an event provider of a file, or the reason why the file cannot be used. */
struct indexed {
    uint64_t stamp;
    char *file;
    bool usable;
    GUID guid;
    char *text; /* name of the event provider, or the reason why the file cannot be used */
    bool read;  /* this process has read the file */
};
struct manifest_index {
    struct indexed *items;
    size_t count, capacity;
};

struct folder_origin {
    char *folder, *languages;
    struct manifest_index index; /* sorted by GUID; unusable files come first */
    struct lock lock;
    struct provider_manifests list; /* manifests that were read because events needed them */
};

static void index_free(struct manifest_index *index)
{
    for (size_t i = 0; i < index->count; i++) {
        memory_free(index->items[i].file);
        memory_free(index->items[i].text);
    }
    memory_free(index->items);
    *index = (struct manifest_index){0};
}

/* Adds a line and copies its strings. Control characters become spaces, because they separate parts and lines of the
   index. */
static HRESULT index_add(struct manifest_index *index, uint64_t stamp, const char *file, const GUID *guid,
                         const char *text)
{
    void *items = index->items;
    if (index->count == INDEX_MOST_LINES)
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "more than %u providers", INDEX_MOST_LINES);
    struct indexed one = {.stamp = stamp, .file = text_copy(file), .usable = guid != NULL, .text = text_copy(text)};
    bool room = one.file && one.text;
    room = room && memory_grow(&items, &index->capacity, index->count + 1, sizeof *index->items);
    index->items = items;
    if (!room) {
        memory_free(one.file);
        memory_free(one.text);
        return E_OUTOFMEMORY;
    }
    if (guid)
        one.guid = *guid;
    for (char *c = one.text; *c; c++)
        *c = (char)((unsigned char)*c < ' ' ? ' ' : *c);
    index->items[index->count++] = one;
    return S_OK;
}

/* ---- the index in OpenPLA's data folder ---- */

/* Returns the path of a folder's index. NULL: out of memory, or this host OS has no folder for OpenPLA's data. */
static char *index_path(const char *folder, bool create)
{
    char *data = os_data_folder(), *below = data ? path_join(data, "manifest-index") : NULL;
    const HRESULT hr = below && create ? folder_create_protected(below, PROTECTION_DATA) : S_OK;
    char name[32];
    snprintf(name, sizeof name, "%016llx.txt", (unsigned long long)hash_text(HASH_START, folder));
    char *path = below && SUCCEEDED(hr) ? path_join(below, name) : NULL;
    memory_free(data);
    memory_free(below);
    return path;
}

/* Splits off the part before `end`; NULL: `end` does not occur. */
static char *next_part(char **at, char end)
{
    char *begin = *at, *found = strchr(begin, end);
    if (!found)
        return NULL;
    *found = 0;
    *at = found + 1;
    return begin;
}

static HRESULT index_read_line(struct manifest_index *index, char *line)
{
    char *const stamp = next_part(&line, '\t'), *const file = stamp ? next_part(&line, '\t') : NULL;
    char *const guid_text = file ? next_part(&line, '\t') : NULL;
    char hex[32];
    uint64_t number;
    GUID guid;
    if (!guid_text || strlen(stamp) > 16 || path_names_fault(file))
        return S_OK;
    snprintf(hex, sizeof hex, "0x%s", stamp);
    if (!text_to_u64(hex, &number))
        return S_OK;
    if (strcmp(guid_text, "!") == 0)
        return index_add(index, number, file, NULL, line);
    return text_to_guid(guid_text, &guid) ? index_add(index, number, file, &guid, line) : S_OK;
}

/* Reads the existing index; an unreadable index is treated as empty. */
static HRESULT index_load(const char *folder, struct manifest_index *index)
{
    char *path = index_path(folder, false), *bytes = NULL;
    size_t size;
    *index = (struct manifest_index){0};
    HRESULT hr = path ? file_load_trusted(path, INDEX_MOST_BYTES, &bytes, &size) : E_FAIL;
    memory_free(path);
    if (FAILED(hr) || !text_is_utf8(bytes, size) || memchr(bytes, 0, size)) {
        memory_free(bytes);
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    }
    char *at = bytes, *line = next_part(&at, '\n');
    const bool ours = line && strncmp(line, INDEX_HEAD, sizeof INDEX_HEAD - 1) == 0 &&
                      strcmp(line + sizeof INDEX_HEAD - 1, folder) == 0;
    while (SUCCEEDED(hr) && ours && (line = next_part(&at, '\n')) != NULL)
        hr = index_read_line(index, line);
    memory_free(bytes);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Writes the index. If this fails, the next decoding reads all files again. */
static void index_store(const char *folder, const struct manifest_index *index)
{
    struct text_buffer b = {0};
    char guid[39];
    char *path = index_path(folder, true);
    text_buffer_format(&b, "%s%s\n", INDEX_HEAD, folder);
    for (size_t i = 0; i < index->count; i++) {
        const struct indexed *one = &index->items[i];
        text_from_guid(&one->guid, guid);
        text_buffer_format(&b, "%016llx\t%s\t%s\t%s\n", (unsigned long long)one->stamp, one->file,
                           one->usable ? guid : "!", one->text);
    }
    if (path && !b.failed && b.length <= INDEX_MOST_BYTES)
        (void)file_store(path, b.text, b.length);
    text_buffer_free(&b);
    memory_free(path);
}

/* ---- comparing the index with the folder ---- */

struct found_file {
    char *name;
    uint64_t stamp;
};
struct found_files {
    struct found_file *items;
    size_t count, capacity;
};

static void found_files_free(struct found_files *all)
{
    for (size_t i = 0; i < all->count; i++)
        memory_free(all->items[i].name);
    memory_free(all->items);
    *all = (struct found_files){0};
}

static HRESULT add_file(void *user, const struct file_entry *file)
{
    static const char *const endings[] = {".man", ".xml", ".manifest"};
    struct found_files *all = user;
    bool wanted = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        wanted = wanted || text_equal_nocase(path_extension(file->name), endings[i]);
    if (!wanted || strpbrk(file->name, "\t\n"))
        return S_OK;
    void *items = all->items;
    char *name = text_copy(file->name);
    const bool room = name && memory_grow(&items, &all->capacity, all->count + 1, sizeof *all->items);
    all->items = items;
    if (!room) {
        memory_free(name);
        return E_OUTOFMEMORY;
    }
    all->items[all->count++] = (struct found_file){name, file->stamp};
    return S_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct found_file *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int by_file(const void *a, const void *b)
{
    const struct indexed *x = a, *y = b;
    return strcmp(x->file, y->file);
}

/* Reads a manifest and adds a line for each of its event providers, or a line with the reason why it cannot be used. */
static HRESULT index_add_file(struct manifest_index *index, const char *folder, const struct found_file *file)
{
    struct provider_manifests list = {0};
    char *path = path_join(folder, file->name);
    HRESULT hr = path ? manifest_file_load(path, NULL, &list) : E_OUTOFMEMORY;
    if (FAILED(hr) && hr != E_OUTOFMEMORY) {
        const struct error_kept why = error_keep(hr);
        hr = index_add(index, file->stamp, file->name, NULL, why.text);
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < list.count; i++)
        hr = index_add(index, file->stamp, file->name, &list.items[i]->guid,
                       list.items[i]->name ? list.items[i]->name : "");
    provider_manifests_free(&list);
    memory_free(path);
    return hr;
}

/* Copies the file's lines from the previous index. S_FALSE: the previous index has no lines for the file, or its lines
   for the file have another stamp. */
static HRESULT index_copy_file(struct manifest_index *index, const struct manifest_index *before,
                               const struct found_file *file)
{
    const struct indexed key = {.file = file->name};
    const struct indexed *at =
        before->count != 0 ? bsearch(&key, before->items, before->count, sizeof key, by_file) : NULL;
    if (!at || at->stamp != file->stamp)
        return S_FALSE;
    while (at > before->items && strcmp(at[-1].file, file->name) == 0)
        at--;
    HRESULT hr = S_OK;
    for (; SUCCEEDED(hr) && at < before->items + before->count && strcmp(at->file, file->name) == 0; at++)
        hr = index_add(index, at->stamp, at->file, at->usable ? &at->guid : NULL, at->text);
    return hr;
}

static HRESULT index_build(const char *folder, struct manifest_index *index)
{
    struct manifest_index before;
    struct found_files files = {0};
    bool changed = false;
    HRESULT hr = index_load(folder, &before);
    if (SUCCEEDED(hr))
        hr = folder_each_file(folder, add_file, &files);
    if (SUCCEEDED(hr) && files.count == 0)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                       "cannot import '%s': the folder contains no manifest (.man, .xml, .manifest)", folder);
    if (files.count != 0)
        qsort(files.items, files.count, sizeof *files.items, by_name);
    if (before.count != 0)
        qsort(before.items, before.count, sizeof *before.items, by_file);
    for (size_t i = 0; SUCCEEDED(hr) && i < files.count; i++) {
        hr = index_copy_file(index, &before, &files.items[i]);
        if (hr == S_FALSE) {
            changed = true;
            hr = index_add_file(index, folder, &files.items[i]);
        }
    }
    if (SUCCEEDED(hr) && (changed || index->count != before.count))
        index_store(folder, index);
    index_free(&before);
    found_files_free(&files);
    return hr;
}

/* ---- the origin of schemas ---- */

/* Compares by GUID and then by file name, because the first file by name is used if several files describe an event
   provider. */
static int by_guid(const void *a, const void *b)
{
    const struct indexed *x = a, *y = b;
    if (x->usable != y->usable)
        return x->usable ? 1 : -1;
    const int order = memcmp(&x->guid, &y->guid, sizeof x->guid);
    return order != 0 ? order : strcmp(x->file, y->file);
}

static struct indexed *index_find(const struct manifest_index *index, const GUID *guid)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct indexed *one = &index->items[middle];
        if (!one->usable || memcmp(&one->guid, guid, sizeof *guid) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    struct indexed *found = low < index->count ? &index->items[low] : NULL;
    return found && found->usable && guid_equal(&found->guid, guid) ? found : NULL;
}

static void origin_free(void *context)
{
    struct folder_origin *o = context;
    provider_manifests_free(&o->list);
    index_free(&o->index);
    memory_free(o->folder);
    memory_free(o->languages);
    memory_free(o);
}

static const struct provider_manifest *find_read(const struct folder_origin *o, const GUID *guid)
{
    for (size_t i = 0; i < o->list.count; i++)
        if (guid_equal(&o->list.items[i]->guid, guid))
            return o->list.items[i];
    return NULL;
}

/* Reads the file of an index line. The caller holds the lock. */
static HRESULT read_file(struct folder_origin *o, struct indexed *one)
{
    struct provider_manifests list;
    char *path = path_join(o->folder, one->file);
    one->read = true;
    HRESULT hr = path ? manifest_file_load(path, NULL, &list) : E_OUTOFMEMORY;
    memory_free(path);
    return SUCCEEDED(hr) ? provider_manifests_append(&o->list, &list) : hr;
}

static HRESULT folder_manifest(void *context, const GUID *guid, const struct provider_manifest **out)
{
    struct folder_origin *o = context;
    HRESULT hr = S_FALSE;
    lock_enter(&o->lock);
    struct indexed *one = index_find(&o->index, guid);
    *out = one ? find_read(o, guid) : NULL;
    if (one && !*out && !one->read) {
        hr = read_file(o, one);
        *out = SUCCEEDED(hr) ? find_read(o, guid) : NULL;
        if (SUCCEEDED(hr) && !*out)
            hr = S_FALSE;
    }
    lock_leave(&o->lock);
    return *out ? S_OK : hr;
}

static HRESULT folder_schema(void *context, const EVENT_RECORD *event, uint32_t pointer_size, struct event_schema **out)
{
    const struct folder_origin *o = context;
    const struct provider_manifest *m;
    (void)pointer_size;
    *out = NULL;
    const HRESULT hr = folder_manifest(context, &event->EventHeader.ProviderId, &m);
    return hr == S_OK ? provider_manifest_schema(m, &event->EventHeader.EventDescriptor, o->languages, out) : hr;
}

static HRESULT folder_providers(void *context, struct known_providers *list)
{
    const struct folder_origin *o = context;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < o->index.count; i++) {
        const struct indexed *one = &o->index.items[i];
        if (one->usable)
            hr = known_providers_add(list, &one->guid, SCHEMA_MANIFEST, text_copy(one->text));
    }
    return hr;
}

static HRESULT add_warnings(const struct manifest_index *index, struct texts *warnings)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && warnings && i < index->count; i++)
        if (!index->items[i].usable)
            hr = texts_add(warnings, index->items[i].text);
    return hr;
}

HRESULT manifest_xml_folder_origin(const char *folder, const char *languages, struct texts *warnings,
                                   struct schema_origin *out)
{
    const struct lock lock = LOCK_INIT;
    struct folder_origin *o = memory_zero(1, sizeof *o);
    if (!o)
        return E_OUTOFMEMORY;
    *o = (struct folder_origin){.folder = os_full_path(folder),
                                .languages = languages ? text_copy(languages) : os_ui_languages(),
                                .lock = lock};
    HRESULT hr = o->folder && o->languages ? index_build(o->folder, &o->index) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = add_warnings(&o->index, warnings);
    if (FAILED(hr)) {
        origin_free(o);
        return hr;
    }
    if (o->index.count != 0)
        qsort(o->index.items, o->index.count, sizeof *o->index.items, by_guid);
    *out = (struct schema_origin){.source = SCHEMA_MANIFEST,
                                  .context = o,
                                  .schema = folder_schema,
                                  .providers = folder_providers,
                                  .manifest = folder_manifest,
                                  .free = origin_free};
    return S_OK;
}

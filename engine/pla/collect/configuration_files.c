/* SPDX-License-Identifier: MIT */
/* The source for Files of a configuration collector (MS-PLA 3.2.4.7, behaviour 11): selects files, copies them, and
   writes a row for each file. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/pla/collect/configuration_source.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

/* ---- hash table from 64-bit hashes to numbers: open addressing, at most half full ---- */

/* Zero-initialise. */
struct number_table {
    struct number_entry {
        uint64_t key; /* 0: free */
        uint32_t number;
    } * entries;
    size_t count, capacity; /* a power of two */
};

static struct number_entry *number_table_place(const struct number_table *t, uint64_t key)
{
    size_t i = (size_t)(key ^ key >> 32) & (t->capacity - 1);
    while (t->entries[i].key && t->entries[i].key != key)
        i = (i + 1) & (t->capacity - 1);
    return &t->entries[i];
}

static int number_table_grow(struct number_table *t)
{
    struct number_table larger = {.count = t->count, .capacity = t->capacity ? t->capacity * 2 : 64};
    larger.entries = memory_zero(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return 0;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->entries[i].key)
            *number_table_place(&larger, t->entries[i].key) = t->entries[i];
    memory_free(t->entries);
    *t = larger;
    return 1;
}

/* Returns a pointer to the key's number, which is 0 for a new key; valid until the next call. NULL: out of memory. */
static uint32_t *number_table_find(struct number_table *t, uint64_t key)
{
    key += !key;
    if (t->count * 2 >= t->capacity && !number_table_grow(t))
        return NULL;
    struct number_entry *e = number_table_place(t, key);
    t->count += !e->key;
    e->key = key;
    return &e->number;
}

static void number_table_free(struct number_table *t)
{
    memory_free(t->entries);
    *t = (struct number_table){0};
}

static const struct configuration_column columns[] = {
    {"path", COLUMN_KEY},       {"copy", COLUMN_PLAIN},       {"size", COLUMN_PLAIN},
    {"modified", COLUMN_PLAIN}, {"attributes", COLUMN_PLAIN}, {"changed", COLUMN_VOLATILE},
};

/* ---- copies ---- */

/* Copies files into one folder, one after another, with one buffer. If a name is taken, the copy's name gets a number.
   Copies keep times and attributes. A file that changes while it is copied is marked. */
struct file_copies {
    const char *base, *folder; /* borrowed: `folder` receives the copies and is below `base` */
    void (*made)(const char *base, const char *folder, const char *path); /* called before each copy; may be NULL */
    const atomic_bool *stop;                                              /* borrowed */
    uint64_t most_bytes;                                                  /* limit for all copies; 0: none */
    uint64_t bytes;                                                       /* size of all copies so far */
    struct number_table numbers;                                          /* next number for each file name */
    char *buffer, *below;        /* below: subfolder of `folder` for the next copy; NULL: none */
    uint32_t folders, in_folder; /* number of subfolders; copies in the current one */
};
struct file_copy {
    char *name;                /* relative to `folder`; NULL: no copy */
    struct file_traits traits; /* traits of the original when it was opened; the size is that of the copy */
    bool changed;              /* the original was written during the copy, so the copy is inconsistent */
};

#define BUFFER_BYTES 262144
/* A file can grow while it is copied. Copying stops this many bytes beyond the initial size. */
#define GROWTH_BYTES (64u << 20)
/* Maximum copies per folder, because Wine reads the whole folder for each new name (DECISIONS 50). */
#define FOLDER_FILES 1000

static HRESULT file_copies_begin(struct file_copies *c)
{
    c->buffer = memory_alloc(BUFFER_BYTES);
    return c->buffer ? S_OK : E_OUTOFMEMORY;
}

static void file_copies_end(struct file_copies *c)
{
    memory_free(c->buffer);
    memory_free(c->below);
    number_table_free(&c->numbers);
}

static void file_copy_free(struct file_copy *copy)
{
    memory_free(copy->name);
    copy->name = NULL;
}

/* Returns a.txt, a_1.txt, a_2.txt and so on (behaviour 11). */
static char *numbered_name(const char *name, uint32_t number)
{
    const char *extension = path_extension(name);
    if (!number)
        return text_copy(name);
    return text_format("%.*s_%" PRIu32 "%s", (int)(extension - name), name, number, extension);
}

static bool is_taken(HRESULT hr)
{
    return hr == HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) || hr == HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS);
}

/* Creates the next subfolder for copies: Files_0001, Files_0002 and so on. */
static HRESULT next_folder(struct file_copies *c)
{
    char *name = text_format("Files_%04" PRIu32, ++c->folders), *path = name ? path_join(c->folder, name) : NULL;
    HRESULT hr = path ? folder_create_below(c->base, path) : E_OUTOFMEMORY;
    memory_free(path);
    if (FAILED(hr)) {
        memory_free(name);
        return hr;
    }
    memory_free(c->below);
    c->below = name;
    c->in_folder = 0;
    return S_OK;
}

static HRESULT file_copy_create(struct file_copies *c, const char *name, struct file_copy *out, struct file **file)
{
    HRESULT hr = c->in_folder >= FOLDER_FILES ? next_folder(c) : S_OK;
    if (FAILED(hr))
        return hr;
    hr = HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
    uint32_t *number = number_table_find(&c->numbers, text_hash_nocase(name));
    if (!number)
        return E_OUTOFMEMORY;
    while (is_taken(hr) && *number < UINT32_MAX && !atomic_load(c->stop)) {
        file_copy_free(out);
        char *own = numbered_name(name, (*number)++);
        out->name = own ? path_join(c->below ? c->below : "", own) : NULL;
        memory_free(own);
        char *path = out->name ? path_join(c->folder, out->name) : NULL;
        if (path && c->made)
            c->made(c->base, c->folder, path);
        hr = path ? file_open_below(c->base, path, FILE_CREATE_NEW, file) : E_OUTOFMEMORY;
        memory_free(path);
    }
    if (FAILED(hr))
        file_copy_free(out);
    else
        c->in_folder++;
    return hr;
}

/* Checks that a file of `size` bytes still fits into the limit for all copies. */
static HRESULT check_room(const struct file_copies *c, const char *path, uint64_t size)
{
    if (!c->most_bytes || size <= c->most_bytes - c->bytes)
        return S_OK;
    return error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE),
                     "FileMaxTotalSize: '%s' has %" PRIu64 " bytes, but only %" PRIu64 " of %" PRIu64 " are left", path,
                     size, c->most_bytes - c->bytes, c->most_bytes);
}

static HRESULT copy_bytes(struct file_copies *c, const char *path, struct file *from, struct file *to,
                          struct file_copy *out)
{
    uint64_t done = 0;
    HRESULT hr = S_OK;
    for (size_t got = BUFFER_BYTES; SUCCEEDED(hr) && got == BUFFER_BYTES;) {
        if (atomic_load(c->stop))
            return E_ABORT;
        hr = file_read_at(from, done, c->buffer, BUFFER_BYTES, &got);
        if (SUCCEEDED(hr))
            hr = check_room(c, path, done + got);
        if (SUCCEEDED(hr) && got)
            hr = file_write(to, c->buffer, got);
        done += got;
        if (done > out->traits.size && done - out->traits.size > GROWTH_BYTES)
            break;
    }
    struct file_traits now;
    if (SUCCEEDED(hr))
        hr = file_traits_of(from, &now);
    if (FAILED(hr))
        return hr;
    /* Files of the kernel, such as those in /proc, report a size of 0. */
    out->changed = now.size != out->traits.size || now.written != out->traits.written ||
                   (out->traits.size && done != out->traits.size);
    out->traits.size = done;
    c->bytes += done;
    return S_OK;
}

static HRESULT copy_open(struct file_copies *c, const char *path, struct file *from, struct file_copy *out)
{
    struct file *to = NULL;
    HRESULT hr = file_traits_of(from, &out->traits);
    if (SUCCEEDED(hr))
        hr = check_room(c, path, out->traits.size);
    if (SUCCEEDED(hr))
        hr = file_copy_create(c, path_name(path), out, &to);
    if (FAILED(hr))
        return hr;
    hr = copy_bytes(c, path, from, to, out);
    if (SUCCEEDED(hr))
        hr = file_set_traits(to, &out->traits);
    file_close(to);
    if (SUCCEEDED(hr))
        return S_OK;
    struct error_kept why = error_keep(hr);
    char *copy = path_join(c->folder, out->name);
    if (copy)
        file_delete_below(c->base, copy);
    memory_free(copy);
    file_copy_free(out);
    return error_restore(&why);
}

/* Copies a file. On failure the folder has no copy; the message names the file and the reason. E_ABORT: stopped.
   HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE): the copies would exceed most_bytes. Always free *out. */
static HRESULT file_copies_add(struct file_copies *c, const char *path, struct file_copy *out)
{
    struct file *from;
    *out = (struct file_copy){0};
    HRESULT hr = file_open_source(path, &from);
    if (FAILED(hr))
        return hr;
    hr = copy_open(c, path, from, out);
    file_close(from);
    return hr;
}

/* ---- the source ---- */

/* A folder on the current path, and its subfolders. The subfolders from index `next` on have not been visited yet. */
struct level {
    char *path;
    struct texts folders;
    size_t next;
};

/* State while one entry of Files is collected. */
struct collection {
    const struct configuration_source_context *context;
    struct file_copies *copies;
    const char *entry;
    char *folder, *name; /* folder where the search starts; pattern for file names */
    bool recursive;
    struct level *levels;
    size_t depth, capacity;
    struct number_table seen; /* visited folders, by identity, because links can form cycles */
    uint64_t rows;
    bool depth_reported;
    bool cut; /* a file was skipped because of FileMaxCount */
};

static bool separates(char c)
{
    return c == '\\' || c == '/';
}

static bool has_wildcard(const char *text)
{
    return strpbrk(text, "*?") != NULL;
}

/* Returns whether FileMaxCount, the limit for all entries together, is reached. */
static bool is_full(const struct configuration_source_context *c)
{
    return c->request->file_count && atomic_load(c->files_copied) >= c->request->file_count;
}

static bool is_over(const struct collection *c)
{
    return configuration_stopped(c->context) || FAILED(configuration_status(c->context->document));
}

/* ---- rows ---- */

static HRESULT add_failure(struct collection *c, const char *path, HRESULT why)
{
    struct error_kept kept = error_keep(why);
    struct configuration_document *d = c->context->document;
    configuration_begin_item(d);
    configuration_data(d, "path", NULL, path);
    configuration_data_error(d, error_restore(&kept));
    c->rows++;
    return configuration_end_item(d);
}

/* Adds the attributes as letters, in the form of the attrib command. */
static void add_attributes(struct configuration_document *d, uint32_t attributes)
{
    static const struct {
        uint32_t attribute;
        char letter;
    } letters[] = {
        {FILE_TRAIT_READ_ONLY, 'R'}, {FILE_TRAIT_HIDDEN, 'H'}, {FILE_TRAIT_SYSTEM, 'S'}, {FILE_TRAIT_ARCHIVE, 'A'}};
    char text[5] = "";
    size_t n = 0;
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (attributes & letters[i].attribute)
            text[n++] = letters[i].letter;
    configuration_data(d, "attributes", NULL, text);
}

static HRESULT add_copy(struct collection *c, const char *path, const struct file_copy *copy)
{
    struct configuration_document *d = c->context->document;
    configuration_begin_item(d);
    configuration_data(d, "path", NULL, path);
    configuration_data(d, "copy", NULL, copy->name);
    configuration_data_number(d, "size", NULL, copy->traits.size);
    configuration_data_time(d, "modified", copy->traits.written);
    add_attributes(d, copy->traits.attributes);
    configuration_data_number(d, "changed", NULL, copy->changed);
    c->rows++;
    return configuration_end_item(d);
}

/* ---- files ---- */

static HRESULT take_file(struct collection *c, const char *path)
{
    struct file_copy copy;
    c->cut = is_full(c->context);
    if (c->cut)
        return S_OK;
    HRESULT hr = file_copies_add(c->copies, path, &copy);
    if (hr == E_ABORT || hr == E_OUTOFMEMORY)
        return hr == E_ABORT ? S_OK : hr;
    if (SUCCEEDED(hr)) {
        atomic_fetch_add(c->context->files_copied, 1);
        hr = add_copy(c, path, &copy);
    } else {
        hr = add_failure(c, path, hr);
    }
    file_copy_free(&copy);
    return hr;
}

static int by_name(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int order = text_compare_nocase(x, y);
    return order ? order : strcmp(x, y);
}

static void sort_names(struct texts *names)
{
    if (names->count)
        qsort(names->items, names->count, sizeof(char *), by_name);
}

static HRESULT take_files_of(struct collection *c, const char *folder)
{
    struct texts names = {0};
    HRESULT hr = folder_list(folder, false, &names);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : add_failure(c, folder, hr);
    sort_names(&names);
    for (size_t i = 0; SUCCEEDED(hr) && i < names.count && !is_over(c) && !c->cut; i++) {
        if (!text_matches(c->name, names.items[i]))
            continue;
        char *path = path_join(folder, names.items[i]);
        hr = path ? take_file(c, path) : E_OUTOFMEMORY;
        memory_free(path);
    }
    texts_free(&names);
    return hr;
}

/* ---- folders ---- */

/* Marks the folder as visited. S_FALSE: the folder was visited before. */
static HRESULT folder_mark_seen(struct collection *c, const char *folder)
{
    struct folder_identity is;
    HRESULT hr = folder_identify(folder, &is);
    if (FAILED(hr))
        return hr;
    uint32_t *times = number_table_find(&c->seen, hash_number(hash_number(HASH_START, is.volume), is.number));
    if (!times)
        return E_OUTOFMEMORY;
    return (*times)++ ? S_FALSE : S_OK;
}

static HRESULT collection_push_folder(struct collection *c, const char *folder)
{
    void *levels = c->levels;
    if (!memory_grow(&levels, &c->capacity, c->depth + 1, sizeof *c->levels))
        return E_OUTOFMEMORY;
    c->levels = levels;
    struct level *l = &c->levels[c->depth];
    *l = (struct level){.path = text_copy(folder)};
    if (!l->path)
        return E_OUTOFMEMORY;
    c->depth++;
    HRESULT hr = folder_list(folder, true, &l->folders);
    sort_names(&l->folders);
    return hr == E_OUTOFMEMORY ? hr : S_OK; /* take_files_of has already reported any other failure */
}

static void pop(struct collection *c)
{
    struct level *l = &c->levels[--c->depth];
    memory_free(l->path);
    texts_free(&l->folders);
}

static HRESULT report_depth(struct collection *c, const char *folder)
{
    if (c->depth_reported)
        return S_OK;
    c->depth_reported = true;
    return add_failure(
        c, folder,
        error_set(HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE),
                  "FileMaxRecursiveDepth: '%s' and other folders more than %u levels below '%s' are skipped", folder,
                  (unsigned)c->context->request->file_depth, c->folder));
}

/* Collects the files of the folder, and schedules its subfolders. */
static HRESULT collection_enter_folder(struct collection *c, const char *folder)
{
    if (c->depth > c->context->request->file_depth)
        return report_depth(c, folder);
    HRESULT hr = folder_mark_seen(c, folder);
    if (hr == S_FALSE)
        return add_failure(c, folder,
                           error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS),
                                     "skipped '%s': this folder was already collected, or it receives the copies",
                                     folder));
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : add_failure(c, folder, hr);
    hr = take_files_of(c, folder);
    return SUCCEEDED(hr) ? collection_push_folder(c, folder) : hr;
}

static HRESULT collection_walk(struct collection *c)
{
    struct configuration_source_context const *context = c->context;
    HRESULT hr = folder_mark_seen(c, context->output_folder);
    /* The output folder is skipped, unless the entry names that folder itself. */
    struct folder_identity from, to;
    if (SUCCEEDED(folder_identify(c->folder, &from)) && SUCCEEDED(folder_identify(context->output_folder, &to)) &&
        from.volume == to.volume && from.number == to.number)
        number_table_free(&c->seen);
    if (hr != E_OUTOFMEMORY)
        hr = collection_enter_folder(c, c->folder);
    while (SUCCEEDED(hr) && c->depth && !is_over(c) && !c->cut) {
        struct level *l = &c->levels[c->depth - 1];
        if (l->next == l->folders.count) {
            pop(c);
            continue;
        }
        char *folder = path_join(l->path, l->folders.items[l->next++]);
        hr = folder ? collection_enter_folder(c, folder) : E_OUTOFMEMORY;
        memory_free(folder);
    }
    while (c->depth)
        pop(c);
    return hr;
}

/* ---- entries ---- */

static bool is_absolute(const char *path)
{
    return separates(path[0]) || (((path[0] | 0x20) >= 'a' && (path[0] | 0x20) <= 'z') && path[1] == ':');
}

/* Splits the entry at its last separator. A doubled separator makes the entry recursive. */
static HRESULT split_pattern(struct collection *c)
{
    char *path = os_expand_environment(c->entry);
    if (path && !is_absolute(path)) {
        char *whole = path_join(c->context->output_base, path);
        memory_free(path);
        path = whole;
    }
    if (!path)
        return E_OUTOFMEMORY;
    size_t name = strlen(path);
    while (name && !separates(path[name - 1]))
        name--;
    size_t folder = name;
    while (folder && separates(path[folder - 1]))
        folder--;
    c->recursive = name - folder > 1 && folder;
    c->name = text_copy(!path[name] || !strcmp(path + name, "*.*") ? "*" : path + name);
    /* The name of a root folder includes the separator. */
    c->folder = text_copy_n(path, !folder || path[folder - 1] == ':' ? folder + (name > folder) : folder);
    memory_free(path);
    return c->name && c->folder ? S_OK : E_OUTOFMEMORY;
}

/* Returns whether the entry names a file stream (a ':' does not follow a drive letter), or is relative to a drive, such
   as C:a.txt. A relative entry would depend on the process's current folder. */
static bool names_stream(const struct collection *c)
{
    const char *at = c->folder;
    if (separates(at[0]) && separates(at[1]) && (at[2] == '?' || at[2] == '.') && separates(at[3]))
        at += 4;
    if (at[0] && at[1] == ':')
        at += 2;
    return strchr(at, ':') || strchr(c->name, ':');
}

static HRESULT collect_entry(struct collection *c)
{
    HRESULT hr = split_pattern(c);
    if (SUCCEEDED(hr) && names_stream(c))
        return add_failure(c, c->entry,
                           error_set(HRESULT_FROM_WIN32(ERROR_INVALID_NAME),
                                     "Files: '%s' names a stream of a file, or a drive without a folder; neither is "
                                     "collected",
                                     c->entry));
    if (SUCCEEDED(hr) && has_wildcard(c->folder))
        return add_failure(c, c->entry,
                           error_set(HRESULT_FROM_WIN32(ERROR_INVALID_NAME),
                                     "Files: '%s': '*' and '?' are allowed only after the last separator", c->entry));
    if (SUCCEEDED(hr) && c->recursive) {
        hr = collection_walk(c);
    } else if (SUCCEEDED(hr) && has_wildcard(c->name)) {
        hr = take_files_of(c, c->folder);
    } else if (SUCCEEDED(hr)) {
        char *path = path_join(c->folder, c->name);
        hr = path ? take_file(c, path) : E_OUTOFMEMORY;
        memory_free(path);
    }
    if (SUCCEEDED(hr) && !c->rows && !is_over(c) && !c->cut)
        hr = add_failure(c, c->entry,
                         error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "Files: '%s': file not found", c->entry));
    return hr;
}

static HRESULT add_entry(const struct configuration_source_context *context, struct file_copies *copies,
                         const char *entry)
{
    struct collection c = {.context = context, .copies = copies, .entry = entry};
    configuration_begin_table(context->document, "files", entry, columns, sizeof columns / sizeof *columns);
    HRESULT hr = collect_entry(&c);
    if (SUCCEEDED(hr) && c.cut && !is_over(&c))
        hr = add_failure(&c, entry,
                         error_set(HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE),
                                   "FileMaxCount: the limit of %u copied files is reached",
                                   (unsigned)context->request->file_count));
    memory_free(c.folder);
    memory_free(c.name);
    memory_free(c.levels);
    number_table_free(&c.seen);
    struct error_kept why = error_keep(hr);
    HRESULT ended = configuration_end_table(context->document);
    return FAILED(hr) ? error_restore(&why) : ended;
}

HRESULT configuration_collect_files(const struct configuration_source_context *c)
{
    const struct texts *files = &c->request->files;
    struct file_copies copies = {.base = c->output_base,
                                 .folder = c->output_folder,
                                 .made = c->made,
                                 .stop = c->stop,
                                 .most_bytes = c->request->file_bytes};
    if (!files->count)
        return S_OK;
    configuration_begin_section(c->document, "files");
    HRESULT hr = file_copies_begin(&copies);
    for (size_t i = 0; SUCCEEDED(hr) && i < files->count && !configuration_stopped(c); i++)
        hr = add_entry(c, &copies, files->items[i]);
    file_copies_end(&copies);
    if (FAILED(hr))
        return hr;
    return configuration_end_section(c->document);
}

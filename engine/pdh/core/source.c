/* SPDX-License-Identifier: MIT */
/* Kernel files: small files that stay open between samples, and the files that the objects of one query share. */
#include "engine/pdh/core/source.h"

#include "engine/base/clock.h"
#include "engine/base/debug_trace.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_AGAIN_MS 10000

struct kept_file {
    char *path;
    struct kernel_file *file;
    bool used;
};

/* Finds the open file with the path. Files are read in the same order each time, so the search starts after the file
   that was read last. */
static struct kept_file *kept_files_find(struct kept_files *k, const char *path)
{
    for (size_t i = 0; i < k->count; i++) {
        size_t at = (k->next + i) % k->count;
        if (!strcmp(k->files[at].path, path)) {
            k->next = at + 1;
            return &k->files[at];
        }
    }
    return NULL;
}

static void forget(struct kept_files *k, struct kept_file *f)
{
    kernel_file_close(f->file);
    memory_free(f->path);
    *f = k->files[--k->count];
}

static HRESULT read_new(struct kept_files *k, const char *path, const char **text, size_t *size)
{
    HRESULT hr = kernel_file_open(path, &k->spare);
    if (SUCCEEDED(hr))
        hr = kernel_file_read(k->spare, text, size);
    else
        k->spare = NULL;
    if (FAILED(hr) || k->count >= kernel_file_share())
        return hr;
    char *copy = text_copy(path);
    if (!copy || !memory_grow((void **)&k->files, &k->capacity, k->count + 1, sizeof *k->files)) {
        memory_free(copy);
        return E_OUTOFMEMORY;
    }
    k->files[k->count++] = (struct kept_file){copy, k->spare, true};
    k->next = k->count;
    k->spare = NULL;
    return hr;
}

HRESULT kept_files_text(struct kept_files *k, const char *path, const char **text, size_t *size)
{
    kernel_file_close(k->spare);
    k->spare = NULL;
    struct kept_file *f = kept_files_find(k, path);
    if (f) {
        f->used = true;
        HRESULT hr = kernel_file_read(f->file, text, size);
        if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
            return hr;
        forget(k, f); /* the item no longer exists, and a new item may have its name */
    }
    return read_new(k, path, text, size);
}

HRESULT kept_files_number(struct kept_files *k, const char *path, int64_t *value)
{
    const char *text;
    size_t size;
    HRESULT hr = kept_files_text(k, path, &text, &size);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_FALSE;
    char *end;
    long long number = strtoll(text, &end, 10);
    *value = number;
    return end > text ? S_OK : S_FALSE;
}

void kept_files_sweep(struct kept_files *k)
{
    for (size_t i = k->count; i-- > 0;)
        if (!k->files[i].used)
            forget(k, &k->files[i]);
        else
            k->files[i].used = false;
}

void kept_files_close(struct kept_files *k)
{
    while (k->count)
        forget(k, &k->files[k->count - 1]);
    kernel_file_close(k->spare);
    memory_free(k->files);
    *k = (struct kept_files){0};
}

static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t length = strlen(x), other = strlen(y);
    /* "zone10" follows "zone9". */
    return length != other ? (length < other ? -1 : 1) : strcmp(x, y);
}

HRESULT kept_folder_follow(struct kept_folder *k, const char *path, const char *prefix)
{
    struct texts all = {0};
    uint64_t now = clock_monotonic_ms();
    if (k->listed_at && clock_passed_ms(k->listed_at, now) < LIST_AGAIN_MS)
        return S_OK;
    HRESULT hr = kernel_folder_names(path, &all);
    if (hr == E_OUTOFMEMORY) {
        texts_free(&all);
        return hr;
    }
    texts_free(&k->names);
    for (size_t i = 0; SUCCEEDED(hr) && i < all.count; i++)
        if (!strncmp(all.items[i], prefix, strlen(prefix)))
            hr = texts_add(&k->names, all.items[i]);
    texts_free(&all);
    if (k->names.count)
        qsort(k->names.items, k->names.count, sizeof *k->names.items, by_number);
    k->listed_at = hr == E_OUTOFMEMORY ? 0 : now | 1;
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

void kept_folder_close(struct kept_folder *k)
{
    texts_free(&k->names);
}

/* The kernel files and the process list of one query ("parts").

   The objects of a query are sampled one after another. An object that exceeds the time limit continues on its own
   thread, while the query samples the other objects and takes its next sample (see counter_object.c). All objects need
   the same files, but a file must be read only once per sample, and its text must not change under a reader:

       serial of the sample     1            2                        3
       object A (fast)          [hold]       [hold]                   [hold]
       object B (slow)          [hold ..............................]
       /proc/stat               read         A waits until B's hold   read
                                             ends, or times out too

   Each object takes a hold at the start of its sampling, and the hold records the serial of the sample.
   source_need_part reads a part again if the part is older than the hold's serial, and increments the part's `users`;
   source_hold_end decrements `users`.

   - A part is read by one thread (`reading`), outside the lock. Other threads that need the part wait for `changed`.
   - A part is recent enough if its read_in is at least the hold's serial. Newer data is allowed, because all values of
     the object carry the time of the reading.
   - While other holds use a part, no thread may read the part again, because reading would change the buffer of the
     part. The thread waits until `users` is 0. Only later samples wait for earlier ones, so these waits cannot
     deadlock. If the earlier sample hangs, the later sample exceeds its own time limit and is reported as missing.
   - A hold on the query's own thread must not wait for another thread, and must not read a file whose reading may hang.
   - A failed reading is not repeated in the same sample (`result`), so that ten objects do not try ten times. The
     reading is repeated only after a lack of memory, because that failure has nothing to do with the file. A file whose
     reading failed is closed, and the next sample opens it again.

   The process list is a part too. `figures` selects the values that are expensive to read for each process. If an
   object requested a value in one sample, the next sample reads this value as soon as it reads the list, because the
   objects start in any order. Values that no object requested during a whole sample are no longer read (figures_next).

   The struct is reference-counted, because the sampling side of a slow object may outlive its query. */

struct part {
    struct kernel_file *file;
    const char *text;
    size_t size;
    uint64_t read_in; /* serial of the sample that last tried to read it; 0: never */
    HRESULT result;
    struct source_time time;
    unsigned users;
    bool reading;
};

struct source_files {
    struct lock lock;
    struct thread_condition changed;
    size_t references;
    uint64_t serial; /* serial of the current sample */
    struct part parts[SOURCE_PARTS];
    struct process_list *list;
    const struct process_entry *processes;
    size_t process_count;
    uint32_t figures, figures_read, figures_next;
    char root[];
};

static const char *test_root = "";

#define SOURCE_NAME(part, name, path, piece) name,
static const char *const names[] = {SOURCE_FILES(SOURCE_NAME)};
#undef SOURCE_NAME
#define SOURCE_PATH(part, name, path, piece) path,
static const char *const paths[] = {SOURCE_FILES(SOURCE_PATH)};
#undef SOURCE_PATH
#define SOURCE_PIECE(part, name, path, piece) piece,
static const bool pieces[] = {SOURCE_FILES(SOURCE_PIECE)};
#undef SOURCE_PIECE
_Static_assert(SOURCE_PARTS <= 32, "the mask of struct source_hold needs one bit per part");

enum source_part source_find(const char *name, size_t length)
{
    size_t i = 0;
    while (i < SOURCE_PROCESSES && (strlen(names[i]) != length || memcmp(names[i], name, length) != 0))
        i++;
    return i < SOURCE_PROCESSES ? (enum source_part)i : SOURCE_PARTS;
}

void source_set_root(const char *root)
{
    test_root = root;
}

uint32_t source_limit(void)
{
    char *text;
    uint64_t limit = SOURCE_LIMIT_MS;
    if (environment_get("OPENPLA_SAMPLE_LIMIT", &text) == S_OK && !text_to_u64(text, &limit))
        limit = SOURCE_LIMIT_MS;
    memory_free(text);
    return limit < 3600000 ? (uint32_t)limit : 3600000;
}

static struct source_files *files_create(void)
{
    size_t length = strlen(test_root);
    struct source_files *f = memory_zero(1, sizeof *f + length + 1);
    if (f) {
        f->references = f->serial = 1;
        memcpy(f->root, test_root, length + 1);
    }
    return f;
}

HRESULT source_share(struct source *s, struct source *other)
{
    s->files = s->files ? s->files : files_create();
    if (!s->files)
        return E_OUTOFMEMORY;
    lock_enter(&s->files->lock);
    s->files->references++;
    lock_leave(&s->files->lock);
    *other = (struct source){.files = s->files};
    return S_OK;
}

void source_close(struct source *s)
{
    struct source_files *f = s->files;
    *s = (struct source){0};
    if (!f)
        return;
    lock_enter(&f->lock);
    bool last = --f->references == 0;
    lock_leave(&f->lock);
    if (last) {
        for (size_t i = 0; i < SOURCE_PARTS; i++)
            kernel_file_close(f->parts[i].file);
        process_list_close(f->list);
        memory_free(f);
    }
}

const char *source_root(const struct source *s)
{
    return s->files->root;
}

void source_begin(struct source *s)
{
    struct source_files *f = s->files ? s->files : (s->files = files_create());
    if (!f)
        return; /* the first use of a part reports the failure */
    lock_enter(&f->lock);
    f->serial++;
    /* Values that no object requested in the previous sample are not read in this sample. */
    f->figures = f->figures_next;
    f->figures_next = 0;
    lock_leave(&f->lock);
}

static void stamp(struct source_time *time)
{
    time->utc = clock_utc();
    time->ticks = clock_ticks();
}

void source_hold_begin(struct source *s, struct source_hold *hold, bool must_not_wait)
{
    struct source_files *f = s->files;
    lock_enter(&f->lock);
    hold->serial = f->serial;
    hold->parts = 0;
    hold->must_not_wait = must_not_wait;
    hold->would_wait = false;
    lock_leave(&f->lock);
}

bool source_may_wait(struct source_hold *hold)
{
    hold->would_wait |= hold->must_not_wait;
    return !hold->must_not_wait;
}

void source_hold_end(struct source *s, struct source_hold *hold)
{
    struct source_files *f = s->files;
    if (!hold->parts)
        return;
    lock_enter(&f->lock);
    for (size_t i = 0; i < SOURCE_PARTS; i++)
        f->parts[i].users -= hold->parts >> i & 1;
    hold->parts = 0;
    thread_condition_wake(&f->changed);
    lock_leave(&f->lock);
}

static HRESULT read_processes(struct source_files *f, uint32_t figures)
{
    HRESULT hr = f->list ? S_OK : process_list_open(f->root, &f->list);
    return SUCCEEDED(hr) ? process_list_read(f->list, figures, &f->processes, &f->process_count) : hr;
}

static HRESULT open_file(struct source_files *f, enum source_part part)
{
    char path[512];
    if ((size_t)snprintf(path, sizeof path, "%s%s", f->root, paths[part]) >= sizeof path)
        return E_INVALIDARG;
    return kernel_file_open(path, &f->parts[part].file);
}

static HRESULT read_file(struct source_files *f, enum source_part part)
{
    struct part *p = &f->parts[part];
    TRACE_STEP(pdh, "read source %d", (int)part);
    HRESULT hr = p->file ? S_OK : open_file(f, part);
    if (SUCCEEDED(hr)) {
        hr = (pieces[part] ? kernel_file_read_piece : kernel_file_read)(p->file, &p->text, &p->size);
        if (FAILED(hr) && hr != E_OUTOFMEMORY) {
            kernel_file_close(p->file);
            p->file = NULL;
        }
    }
    return hr;
}

/* Returns true if the part is recent enough for the hold's sample. */
static bool is_read(const struct source_files *f, enum source_part part, const struct source_hold *hold)
{
    return f->parts[part].read_in >= hold->serial && (part != SOURCE_PROCESSES || (f->figures & ~f->figures_read) == 0);
}

/* Returns true if reading the part may hang. Mount options and the counters of remote shares come from kernel code that
   may wait for remote computers. The list of swap files is locked while a swap file is added or removed. A process's
   files, except stat, block their readers while the process starts another program, which may be on a remote share. */
static bool part_may_wait(enum source_part part, uint32_t figures)
{
    return part == SOURCE_MOUNTS || part == SOURCE_SWAPS || part == SOURCE_CIFS ||
           (part == SOURCE_PROCESSES && figures != 0);
}

/* Reads the part if the hold's sample needs a newer one, and adds it to the hold. */
static HRESULT source_need_part(struct source_files *f, struct source_hold *hold, enum source_part part,
                                uint32_t figures, struct source_time *time)
{
    struct part *p = &f->parts[part];
    lock_enter(&f->lock);
    if (part == SOURCE_PROCESSES) {
        f->figures |= figures;
        f->figures_next |= figures;
    }
    if ((p->reading || (!is_read(f, part, hold) && (p->users > 0 || part_may_wait(part, f->figures)))) &&
        !source_may_wait(hold)) {
        lock_leave(&f->lock);
        return E_PENDING;
    }
    while (p->reading || (!is_read(f, part, hold) && p->users > 0))
        thread_condition_wait(&f->changed, &f->lock, UINT32_MAX);
    if (!is_read(f, part, hold)) {
        uint64_t serial = f->serial;
        uint32_t all = f->figures;
        p->reading = true;
        lock_leave(&f->lock);
        HRESULT hr = part == SOURCE_PROCESSES ? read_processes(f, all) : read_file(f, part);
        struct source_time now;
        stamp(&now);
        lock_enter(&f->lock);
        p->result = hr;
        p->time = now;
        p->reading = false;
        p->read_in = hr == E_OUTOFMEMORY ? 0 : serial;
        f->figures_read = part == SOURCE_PROCESSES ? all : f->figures_read;
        thread_condition_wake(&f->changed);
    }
    HRESULT hr = p->result;
    if (time)
        *time = p->time;
    if (SUCCEEDED(hr) && !(hold->parts >> part & 1)) {
        p->users++;
        hold->parts |= 1u << part;
    }
    lock_leave(&f->lock);
    return hr;
}

HRESULT source_text(struct source *s, struct source_hold *hold, enum source_part part, const char **text, size_t *size,
                    struct source_time *time)
{
    struct source_files *f = s->files;
    HRESULT hr = source_need_part(f, hold, part, 0, time);
    if (SUCCEEDED(hr)) {
        *text = f->parts[part].text;
        *size = f->parts[part].size;
    }
    return hr;
}

HRESULT source_processes(struct source *s, struct source_hold *hold, uint32_t figures,
                         const struct process_entry **entries, size_t *count, struct source_time *time)
{
    struct source_files *f = s->files;
    HRESULT hr = source_need_part(f, hold, SOURCE_PROCESSES, figures, time);
    if (SUCCEEDED(hr)) {
        *entries = f->processes;
        *count = f->process_count;
    }
    return hr;
}

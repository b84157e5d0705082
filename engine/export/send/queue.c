/* SPDX-License-Identifier: MIT */
/* Stores the queue in a folder:

       lock                      held while a process uses the folder
       0000010000000000.batch    the oldest request
       0000010000000001.batch

   A file with such a name is complete, because it is written under another name and then renamed. The file is deleted
   after the server has accepted the request. If the process exits before it deletes the file, the request is sent again
   later. Other programs can change the files, so a file is checked before it is sent, and deleted if it is corrupt. */
#include "engine/export/send/queue.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

#define ENDING ".batch"

enum {
    NAME_DIGITS = 16,
    HEADER_BYTES = 48,
    VERSION = 1,
    MOST_BATCHES = 65536,
};
static const uint64_t first_number = UINT64_C(1) << 40; /* lower numbers are for requests that return to the front */
static const char magic[8] = "OPLAPUSH";

/* ---- files ---- */

void push_batch_free(struct push_batch *b)
{
    memory_free(b->bytes);
    *b = (struct push_batch){0};
}

/* Writes a file's header: magic, version, kind, points, size of the body, time of the earliest point, reserved bytes,
   and a hash of everything except the hash itself. */
static void put_header(const struct push_batch *b, uint8_t header[HEADER_BYTES])
{
    memset(header, 0, HEADER_BYTES);
    memcpy(header, magic, sizeof magic);
    put_u32(header + 8, VERSION);
    put_u32(header + 12, b->kind);
    put_u32(header + 16, (uint32_t)b->points);
    put_u32(header + 20, (uint32_t)b->size);
    put_u64(header + 24, (uint64_t)b->first);
    put_u64(header + 40, hash_bytes(hash_bytes(HASH_START, header, 40), b->bytes, b->size));
}

char *push_batch_write(const struct push_batch *b, size_t *size)
{
    char *bytes = memory_alloc(HEADER_BYTES + b->size);
    if (!bytes)
        return NULL;
    put_header(b, (uint8_t *)bytes);
    memcpy(bytes + HEADER_BYTES, b->bytes, b->size);
    *size = HEADER_BYTES + b->size;
    return bytes;
}

static bool header_is_valid(const uint8_t *header, uint64_t file_size)
{
    return memcmp(header, magic, sizeof magic) == 0 && get_u32(header + 8) == VERSION &&
           get_u32(header + 20) <= PUSH_BATCH_BYTES && get_u32(header + 20) + HEADER_BYTES == file_size;
}

HRESULT push_batch_read(const char *bytes, size_t size, struct push_batch *out)
{
    const uint8_t *const header = (const uint8_t *)bytes;
    *out = (struct push_batch){0};
    if (size < HEADER_BYTES || !header_is_valid(header, size) ||
        hash_bytes(hash_bytes(HASH_START, bytes, 40), bytes + HEADER_BYTES, size - HEADER_BYTES) !=
            get_u64(header + 40))
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    out->kind = get_u32(header + 12);
    out->points = get_u32(header + 16);
    out->first = (int64_t)get_u64(header + 24);
    out->size = size - HEADER_BYTES;
    out->bytes = memory_alloc(out->size + 1);
    if (!out->bytes)
        return E_OUTOFMEMORY;
    memcpy(out->bytes, bytes + HEADER_BYTES, out->size);
    out->bytes[out->size] = 0;
    return S_OK;
}

/* ---- the folder ---- */

struct queued {
    uint64_t number, bytes;
    uint32_t points;
};

struct push_queue {
    struct lock lock;
    char *folder;
    struct file_lock *used;
    uint64_t most_bytes, next;
    struct queued *items; /* in the order of their numbers */
    size_t count, capacity;
    uint64_t loaded; /* number of the batch that push_queue_first returned */
    struct push_queue_state state;
};

static char *queued_path(const struct push_queue *q, uint64_t number)
{
    char *name = text_format("%016llx" ENDING, (unsigned long long)number);
    char *path = name ? path_join(q->folder, name) : NULL;
    memory_free(name);
    return path;
}

static void queue_forget(struct push_queue *q, size_t at)
{
    q->state.points -= q->items[at].points;
    q->state.bytes -= q->items[at].bytes;
    memmove(&q->items[at], &q->items[at + 1], (q->count - at - 1) * sizeof *q->items);
    q->state.batches = --q->count;
}

static HRESULT queue_delete(struct push_queue *q, size_t at)
{
    char *path = queued_path(q, q->items[at].number);
    const HRESULT hr = path ? file_delete(path) : E_OUTOFMEMORY;
    memory_free(path);
    queue_forget(q, at);
    return hr;
}

static HRESULT queue_note(struct push_queue *q, uint64_t number, uint64_t bytes, uint32_t points)
{
    void *items = q->items;
    if (!memory_grow(&items, &q->capacity, q->count + 1, sizeof *q->items))
        return E_OUTOFMEMORY;
    q->items = items;
    /* A new batch becomes the first or the last item. Batches that queue_take_folder finds are sorted later
       (push_queue_open). */
    const size_t at = q->count > 0 && number < q->items[0].number ? 0 : q->count;
    memmove(&q->items[at + 1], &q->items[at], (q->count - at) * sizeof *q->items);
    q->items[at] = (struct queued){number, bytes, points};
    q->state.batches = ++q->count;
    q->state.bytes += bytes;
    q->state.points += points;
    q->next = number >= q->next ? number + 1 : q->next;
    return S_OK;
}

static bool name_is_batch(const char *name, uint64_t *number)
{
    *number = 0;
    if (strlen(name) != NAME_DIGITS + strlen(ENDING) || strcmp(name + NAME_DIGITS, ENDING) != 0 ||
        strspn(name, "0123456789abcdef") < NAME_DIGITS)
        return false;
    for (size_t i = 0; i < NAME_DIGITS; i++)
        *number = *number << 4 | (unsigned)(name[i] <= '9' ? name[i] - '0' : name[i] - 'a' + 10);
    return *number < UINT64_MAX / 2;
}

/* Whether a process was killed while it wrote this file with file_store. Only the owner of the lock writes files. */
static bool name_is_incomplete(const char *name)
{
    const size_t length = strlen(name);
    return *name == '~' && length > 4 && strcmp(name + length - 4, ".tmp") == 0;
}

/* Adds a file of the folder to the list, with its number of points. Deletes an incomplete file. A file without a valid
   header is counted as corrupt when it is loaded. */
static HRESULT queue_learn(void *user, const struct file_entry *entry)
{
    struct push_queue *q = user;
    uint64_t number, size = 0;
    uint8_t header[HEADER_BYTES];
    size_t got = 0;
    struct file *f = NULL;
    if (name_is_incomplete(entry->name)) {
        char *incomplete = path_join(q->folder, entry->name);
        if (incomplete)
            (void)file_delete(incomplete);
        memory_free(incomplete);
        return S_OK;
    }
    if (!name_is_batch(entry->name, &number))
        return S_OK;
    /* A folder can have MOST_BATCHES + 1 files: the previous process may have exited before it dropped the oldest. */
    if (q->count > MOST_BATCHES)
        return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "cannot use the queue '%s': it has more than %d files",
                         q->folder, MOST_BATCHES);
    char *path = queued_path(q, number);
    HRESULT hr = path ? file_open(path, FILE_READ, &f) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && SUCCEEDED(hr = file_size(f, &size)))
        hr = file_read_at(f, 0, header, sizeof header, &got);
    file_close(f);
    memory_free(path);
    if (hr == E_OUTOFMEMORY)
        return hr;
    const bool valid = SUCCEEDED(hr) && got == sizeof header && header_is_valid(header, size);
    return queue_note(q, number, size, valid ? get_u32(header + 16) : 0);
}

static int compare_numbers(const void *left, const void *right)
{
    const struct queued *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Drops the oldest batches until the rest is within the limits. The batch that is being sent can be among them; sending
   it continues. */
static void queue_limit(struct push_queue *q)
{
    while (q->count > 1 && (q->state.bytes > q->most_bytes || q->count > MOST_BATCHES)) {
        q->state.dropped_points += q->items[0].points;
        (void)queue_delete(q, 0);
    }
}

static HRESULT queue_take_folder(struct push_queue *q)
{
    HRESULT hr = folder_create_protected(q->folder, PROTECTION_DATA);
    if (FAILED(hr))
        return hr;
    char *path = path_join(q->folder, "lock");
    hr = path ? file_lock_take(path, 0, &q->used) : E_OUTOFMEMORY;
    if (hr == HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION))
        hr = error_set(hr, "cannot use the queue '%s': another process sends from it (choose another folder)",
                       q->folder);
    memory_free(path);
    if (SUCCEEDED(hr))
        hr = folder_each_file(q->folder, queue_learn, q);
    return hr;
}

HRESULT push_queue_open(const char *folder, uint64_t most_bytes, struct push_queue **out)
{
    struct push_queue *q = memory_zero(1, sizeof *q);
    *out = NULL;
    if (!q)
        return E_OUTOFMEMORY;
    q->most_bytes = most_bytes;
    q->next = first_number;
    q->folder = text_copy(folder);
    HRESULT hr = q->folder ? queue_take_folder(q) : E_OUTOFMEMORY;
    if (FAILED(hr)) {
        const struct error_kept why = error_keep(hr);
        push_queue_close(q);
        return error_restore(&why);
    }
    if (q->count > 0)
        qsort(q->items, q->count, sizeof *q->items, compare_numbers);
    queue_limit(q);
    *out = q;
    return S_OK;
}

HRESULT push_queue_add(struct push_queue *q, const struct push_batch *b, bool front)
{
    size_t size;
    char *bytes = push_batch_write(b, &size);
    if (!bytes)
        return E_OUTOFMEMORY;
    lock_enter(&q->lock);
    const uint64_t number = front && q->count > 0 && q->items[0].number > 1 ? q->items[0].number - 1 : q->next;
    char *path = queued_path(q, number);
    HRESULT hr = path ? file_store(path, bytes, size) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = queue_note(q, number, size, b->points);
    queue_limit(q);
    lock_leave(&q->lock);
    memory_free(path);
    memory_free(bytes);
    return hr;
}

static HRESULT queue_load(struct push_queue *q, uint32_t kind, struct push_batch *out)
{
    char *path = queued_path(q, q->items[0].number), *bytes = NULL;
    size_t size = 0;
    HRESULT hr = path ? file_load(path, HEADER_BYTES + PUSH_BATCH_BYTES, &bytes, &size) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = push_batch_read(bytes, size, out);
    if (SUCCEEDED(hr) && out->kind != kind) {
        push_batch_free(out);
        hr = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED); /* not corrupt: a sender of its kind can use the batch */
    }
    memory_free(bytes);
    memory_free(path);
    return hr;
}

HRESULT push_queue_first(struct push_queue *q, uint32_t kind, struct push_batch *out)
{
    HRESULT hr = S_FALSE;
    *out = (struct push_batch){0};
    lock_enter(&q->lock);
    while (q->count > 0) {
        hr = queue_load(q, kind, out);
        if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
            break;
        q->state.corrupt_batches++;
        if (hr == HRESULT_FROM_WIN32(ERROR_INVALID_DATA) || hr == HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE))
            (void)queue_delete(q, 0);
        else
            queue_forget(q, 0); /* the file stays, and is tried again when the folder is opened again */
        hr = S_FALSE;
    }
    q->loaded = hr == S_OK ? q->items[0].number : 0;
    lock_leave(&q->lock);
    return hr;
}

void push_queue_remove(struct push_queue *q)
{
    lock_enter(&q->lock);
    if (q->count > 0 && q->items[0].number == q->loaded)
        (void)queue_delete(q, 0);
    lock_leave(&q->lock);
}

struct push_queue_state push_queue_state(struct push_queue *q)
{
    lock_enter(&q->lock);
    const struct push_queue_state state = q->state;
    lock_leave(&q->lock);
    return state;
}

void push_queue_close(struct push_queue *q)
{
    if (!q)
        return;
    file_lock_release(q->used);
    memory_free(q->items);
    memory_free(q->folder);
    memory_free(q);
}

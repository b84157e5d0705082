/* SPDX-License-Identifier: MIT */
/* The programs and libraries that processes have loaded: no event of Linux tells of them, so /proc/ID/maps is read when
   the session begins and ends, and for a process that began or got a program, when its events are written. Of files in
   Windows' format, Wine's and their own, their head says what Linux does not know. */
#include "engine/base/kernel_control.h"
#include "engine/base/memory.h"
#include "engine/etw/kernel/tracepoint.h"
#include "engine/logs/little_endian.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

enum { IMAGE_VERSION = 3, MOST_IMAGES = 4096, MOST_PATH = 1024, MOST_FILES = 8192, HEAD_BYTES = 1024 };

/* What the head of a file tells; all 0: it is none of Windows'. */
struct image_file {
    uint64_t default_base;
    uint32_t size, checksum, stamp;
};
struct image {
    uint64_t base, size, file; /* a number of the file's, in k->image_files */
    char *path;
};
struct image_list {
    struct image *items;
    size_t count, capacity;
    bool is_due; /* to be read before the queue is flushed */
};

void images_begin(struct kernel_tracer *k)
{
    k->images = (struct id_map){.item_size = sizeof(struct image_list)};
    k->image_files = (struct id_map){.item_size = sizeof(struct image_file), .most = MOST_FILES};
}

static void empty(struct image_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        memory_free(list->items[i].path);
    memory_free(list->items);
    *list = (struct image_list){.is_due = list->is_due};
}

void images_free(struct kernel_tracer *k)
{
    size_t at = 0;
    for (struct image_list *list; (list = id_map_next(&k->images, &at, NULL)) != NULL;)
        empty(list);
    id_map_free(&k->images);
    id_map_free(&k->image_files);
}

/* ---- files ---- */

/* As "Microsoft Portable Executable and Common Object File Format" lays it out. */
static void read_head(const char *path, struct image_file *out)
{
    enum {
        PE_AT = 0x3C,
        STAMP = 8,
        OPTIONAL_AT = 24,
        BASE_32 = 28,
        BASE_64 = 24,
        SIZE = 56,
        CHECKSUM = 64,
        WIDE = 0x20B
    };
    uint8_t head[HEAD_BYTES];
    struct kernel_stream *s;
    if (FAILED(kernel_stream_open(path, &s)))
        return;
    const bool read = kernel_stream_read(s, head, sizeof head) == S_OK;
    kernel_stream_close(s);
    const uint32_t at = read && head[0] == 'M' && head[1] == 'Z' ? get_u32(head + PE_AT) : 0;
    if (at == 0 || at > HEAD_BYTES - OPTIONAL_AT - CHECKSUM - 4 || memcmp(head + at, "PE\0", 4) != 0)
        return;
    const uint8_t *optional = head + at + OPTIONAL_AT;
    out->stamp = get_u32(head + at + STAMP);
    out->size = get_u32(optional + SIZE);
    out->checksum = get_u32(optional + CHECKSUM);
    out->default_base = get_u16(optional) == WIDE ? get_u64(optional + BASE_64) : (uint64_t)get_u32(optional + BASE_32);
}

static uint64_t number_of(const char *path, uint64_t inode)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325) ^ inode;
    for (const char *c = path; *c; c++)
        hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001B3);
    return hash ? hash : 1;
}

static const struct image_file *file_of(struct kernel_tracer *k, const char *path, uint64_t number)
{
    struct image_file *file = id_map_find(&k->image_files, number);
    if (!file && (file = id_map_put(&k->image_files, number)) != NULL)
        read_head(path, file);
    return file;
}

/* ---- /proc/ID/maps ---- */

/* Mappings of one file that lie one behind the other. */
struct span {
    uint64_t base, end, inode;
    bool runs, begins; /* it has code; it has the file's first byte */
    char path[MOST_PATH];
};

static bool has_end(const char *path, const char *end)
{
    const size_t length = strlen(path), size = strlen(end);
    return length > size && text_equal_nocase(path + length - size, end);
}

/* Wine may copy the sections of a file, whose head alone is then a mapping of it. */
static HRESULT add_span(struct kernel_tracer *k, const struct span *s, struct image_list *out)
{
    const bool windows = has_end(s->path, ".dll") || has_end(s->path, ".exe") || has_end(s->path, ".drv");
    if (s->path[0] != '/' || strncmp(s->path, "/dev/", 5) == 0 || strncmp(s->path, "/memfd:", 7) == 0 ||
        !(s->runs || (windows && s->begins)) || out->count == MOST_IMAGES)
        return S_OK;
    void *grown = out->items;
    const uint64_t number = number_of(s->path, s->inode);
    const struct image_file *file = file_of(k, s->path, number);
    if (!file || !memory_grow(&grown, &out->capacity, out->count + 1, sizeof *out->items))
        return E_OUTOFMEMORY;
    out->items = grown;
    struct image *image = &out->items[out->count];
    *image = (struct image){s->base, file->size ? file->size : s->end - s->base, number, text_copy(s->path)};
    out->count += image->path != NULL;
    return image->path ? S_OK : E_OUTOFMEMORY;
}

static HRESULT parse(struct kernel_tracer *k, const char *text, struct image_list *out)
{
    struct span span = {0};
    HRESULT hr = S_OK;
    for (const char *line = text, *next; SUCCEEDED(hr) && *line; line = next) {
        uint64_t from, to, offset, inode;
        char rights[8], path[MOST_PATH];
        int at = 0;
        const char *end = strchr(line, '\n');
        next = end ? end + 1 : line + strlen(line);
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*x:%*x %" SCNu64 " %n", &from, &to, rights, &offset,
                   &inode, &at) != 5)
            continue;
        snprintf(path, sizeof path, "%.*s", end && end > line + at ? (int)(end - line - at) : 0, line + at);
        if (span.end != from || span.inode != inode || strcmp(span.path, path) != 0) {
            hr = add_span(k, &span, out);
            span = (struct span){.base = from, .inode = inode, .begins = offset == 0};
            memcpy(span.path, path, sizeof path);
        }
        span.end = to;
        span.runs |= strchr(rights, 'x') != NULL;
    }
    return SUCCEEDED(hr) ? add_span(k, &span, out) : hr;
}

/* ---- events ---- */

static HRESULT emit(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook, uint32_t process,
                    const struct image *image)
{
    struct kernel_data *d = &k->data;
    const struct image_file none = {0}, *file = id_map_find(&k->image_files, image->file);
    file = file ? file : &none;
    kernel_data_clear(d);
    kernel_data_u64(d, image->base);
    kernel_data_u64(d, image->size);
    kernel_data_u32(d, kernel_process_id(k, process));
    kernel_data_u32(d, file->checksum);
    kernel_data_u32(d, file->stamp);
    kernel_data_u32(d, 0); /* signature */
    kernel_data_u64(d, file->default_base);
    kernel_data_u64(d, 0);
    kernel_data_u64(d, 0);
    kernel_data_text(d, image->path, MOST_PATH);
    return hook == HOOK_IMAGE_LOAD || hook == HOOK_IMAGE_UNLOAD
               ? kernel_emit_of(k, e, hook, IMAGE_VERSION, process, process)
               : kernel_emit(k, e, hook, IMAGE_VERSION);
}

static bool has(const struct image_list *list, const struct image *image)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].base == image->base && list->items[i].file == image->file)
            return true;
    return false;
}

static HRESULT emit_beyond(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook,
                           uint32_t process, const struct image_list *list, const struct image_list *without)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < list->count; i++)
        if (!has(without, &list->items[i]))
            hr = emit(k, e, hook, process, &list->items[i]);
    return hr;
}

/* What one that has gone, or is closed to us, has loaded stays as it was. */
static HRESULT look(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook, uint32_t process,
                    struct image_list *known)
{
    static const struct image_list nothing;
    struct image_list now = {0};
    char *text;
    known->is_due = false;
    HRESULT hr = kernel_process_text(k, process, "maps", &text, NULL);
    if (FAILED(hr) || !*text) {
        memory_free(text);
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    }
    hr = parse(k, text, &now);
    memory_free(text);
    if (SUCCEEDED(hr) && hook == HOOK_IMAGE_LOAD)
        hr = emit_beyond(k, e, HOOK_IMAGE_UNLOAD, process, known, &now);
    if (SUCCEEDED(hr))
        hr = emit_beyond(k, e, hook, process, &now, hook == HOOK_IMAGE_LOAD ? known : &nothing);
    empty(known);
    *known = now;
    return hr;
}

HRESULT images_due(struct kernel_tracer *k, uint32_t process)
{
    if (!kernel_wants(k, FLAG_IMAGE_LOAD))
        return S_OK;
    struct image_list *list = id_map_put(&k->images, process);
    if (list)
        list->is_due = true;
    return list ? S_OK : E_OUTOFMEMORY;
}

HRESULT images_settle(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    size_t at = 0;
    uint64_t process;
    HRESULT hr = S_OK;
    for (struct image_list *list; SUCCEEDED(hr) && (list = id_map_next(&k->images, &at, &process)) != NULL;)
        if (list->is_due)
            hr = look(k, e, HOOK_IMAGE_LOAD, (uint32_t)process, list);
    return hr;
}

HRESULT images_rundown(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process, bool end)
{
    if (!kernel_wants(k, FLAG_IMAGE_LOAD))
        return S_OK;
    struct image_list *list = id_map_put(&k->images, process);
    return list ? look(k, e, end ? HOOK_IMAGE_RUNDOWN_END : HOOK_IMAGE_RUNDOWN_START, process, list) : E_OUTOFMEMORY;
}

HRESULT images_end(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process)
{
    static const struct image_list nothing;
    struct image_list *list = id_map_find(&k->images, process);
    if (!list)
        return S_OK;
    const HRESULT hr = emit_beyond(k, e, HOOK_IMAGE_UNLOAD, process, list, &nothing);
    empty(list);
    id_map_remove(&k->images, process);
    return hr;
}

/* SPDX-License-Identifier: MIT */
/* Creates events for page faults of programs, and for the programs and libraries that processes have mapped.

   Two later facts determine the kind of a fault: whether a page of a file was mapped, and whether the thread waited for
   a disk. A soft fault is logged at its own time; a hard fault is logged when it ends. */
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/etw/kernel/tracepoint.h"
#include "engine/logs/little_endian.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

enum { FAULT_ADDRESS, FAULT_CODE_AT, FAULT_CODE };
enum { FILE_INODE, FILE_DEVICE, FILE_PAGE };
enum { CODE_PROTECTION = 1, CODE_WRITE = 2, PAGE_BYTES = 4096, FAULT_VERSION = 2 };
enum file_seen { NO_FILE, FILE_MAPPED, FILE_FAULTED };

struct kernel_fault {
    uint64_t time, address, instruction, file, offset;
    uint32_t bytes;
    uint8_t code, seen; /* enum file_seen */
    bool has_place, waited;
    size_t entry;
};

void fault_begin(struct kernel_tracer *k)
{
    k->faults = (struct id_map){.item_size = sizeof(struct kernel_fault)};
}

static enum kernel_hook soft_kind(const struct kernel_fault *f)
{
    const bool write = (f->code & CODE_WRITE) != 0;
    if (write && ((f->code & CODE_PROTECTION) != 0 || f->seen == FILE_FAULTED))
        return HOOK_FAULT_COPY;
    return f->seen != NO_FILE ? HOOK_FAULT_TRANSITION : HOOK_FAULT_ZERO;
}

static HRESULT fill_soft(struct kernel_tracer *k, uint32_t thread, struct kernel_fault *f)
{
    if (!f->has_place)
        return S_OK;
    f->has_place = false;
    kernel_data_clear(&k->data);
    kernel_data_u64(&k->data, f->address);
    kernel_data_u64(&k->data, f->instruction);
    const HRESULT hr = kernel_queue_fill(&k->queue, f->entry, soft_kind(f), &k->data);
    return SUCCEEDED(hr) ? stack_soft_fault(k, thread, f->time, soft_kind(f)) : hr;
}

static HRESULT emit_hard(struct kernel_tracer *k, const struct tracepoint_event *e, const struct kernel_fault *f,
                         uint32_t thread)
{
    struct kernel_data *d = &k->data;
    kernel_data_clear(d);
    kernel_data_u64(d, f->time);
    kernel_data_u64(d, f->offset);
    kernel_data_u64(d, f->address);
    kernel_data_u64(d, f->file);
    kernel_data_u32(d, kernel_thread_id(k, thread));
    kernel_data_u32(d, f->bytes ? f->bytes : PAGE_BYTES);
    const HRESULT hr = kernel_emit(k, e, HOOK_HARD_FAULT, FAULT_VERSION);
    return SUCCEEDED(hr) ? stack_hard_fault(k, e, thread) : hr;
}

HRESULT fault_settle(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread)
{
    struct kernel_fault *found = id_map_find(&k->faults, thread);
    if (!found)
        return S_OK;
    struct kernel_fault f = *found;
    id_map_remove(&k->faults, thread);
    if (f.waited && f.seen != NO_FILE && kernel_wants(k, FLAG_HARD_FAULTS))
        return emit_hard(k, e, &f, thread);
    return f.waited && f.seen != NO_FILE ? S_OK : fill_soft(k, thread, &f);
}

/* Logs faults that did not wait for a disk as soft faults. Faults that did wait for a disk lose their places in the
   queue, because the queue is flushed now. These faults can still be logged as hard faults when they end. */
void fault_settle_all(struct kernel_tracer *k)
{
    size_t at = 0;
    uint64_t thread;
    for (struct kernel_fault *f; (f = id_map_next(&k->faults, &at, &thread)) != NULL;) {
        if (!f->waited)
            (void)fill_soft(k, (uint32_t)thread, f);
        f->has_place = false;
    }
}

void fault_waits(struct kernel_tracer *k, uint32_t thread, uint32_t bytes)
{
    struct kernel_fault *f = id_map_find(&k->faults, thread);
    if (!f)
        return;
    f->waited = true;
    f->bytes = bytes ? bytes : f->bytes;
}

static HRESULT take_fault(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    HRESULT hr = fault_settle(k, e, e->thread);
    struct kernel_fault *f = SUCCEEDED(hr) ? id_map_put(&k->faults, e->thread) : NULL;
    if (!f)
        return FAILED(hr) ? hr : e->thread == 0 ? S_OK : E_OUTOFMEMORY;
    *f = (struct kernel_fault){
        .time = e->time,
        .address = (uint64_t)tracepoint_number(e, FAULT_ADDRESS),
        .instruction = (uint64_t)tracepoint_number(e, FAULT_CODE_AT),
        .code = (uint8_t)tracepoint_number(e, FAULT_CODE),
    };
    stack_expect_fault(k, e);
    if (!kernel_wants(k, FLAG_PAGE_FAULTS))
        return S_OK;
    const struct kernel_event event = {.time = e->time, .processor = (uint16_t)e->processor, .version = FAULT_VERSION};
    hr = kernel_queue_keep_place(&k->queue, &event, &f->entry);
    f->has_place = SUCCEEDED(hr);
    return hr;
}

static void fault_note_file(struct kernel_tracer *k, const struct tracepoint_event *e, enum file_seen seen)
{
    struct kernel_fault *f = id_map_find(&k->faults, e->thread);
    if (!f || f->seen == FILE_FAULTED)
        return;
    f->seen = (uint8_t)seen;
    f->file = (uint64_t)tracepoint_number(e, FILE_INODE) ^ (uint64_t)tracepoint_number(e, FILE_DEVICE) << 44;
    f->offset = (uint64_t)tracepoint_number(e, FILE_PAGE) * PAGE_BYTES;
}

static HRESULT take_file_fault(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    fault_note_file(k, e, FILE_FAULTED);
    return S_OK;
}

static HRESULT take_file_map(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    fault_note_file(k, e, FILE_MAPPED);
    return S_OK;
}

#define OF_FILE                                                                                                        \
    {                                                                                                                  \
        [FILE_INODE] = "i_ino", [FILE_DEVICE] = "s_dev", [FILE_PAGE] = "index"                                         \
    }

const struct tracepoint fault_tracepoints[] = {
    {"exceptions",
     "page_fault_user",
     NULL,
     FLAG_PAGE_FAULTS | FLAG_HARD_FAULTS,
     FLAG_PAGE_FAULTS,
     take_fault,
     {[FAULT_ADDRESS] = "address", [FAULT_CODE_AT] = "ip", [FAULT_CODE] = "error_code"}},
    {"filemap", "mm_filemap_fault", NULL, FLAG_PAGE_FAULTS | FLAG_HARD_FAULTS, FLAG_HARD_FAULTS, take_file_fault,
     OF_FILE},
    {"filemap", "mm_filemap_map_pages", NULL, FLAG_PAGE_FAULTS | FLAG_HARD_FAULTS, 0, take_file_map, OF_FILE},
    {0},
};

/* ---- programs and libraries ---- */

/* The programs and libraries that processes have loaded. Linux has no event for loading, so /proc/ID/maps is read when
   the session begins and ends and, for new processes, when their events are written. For PE files (those of Wine and
   Windows), the file header has the data that Linux does not have. */

enum { IMAGE_VERSION = 3, MOST_IMAGES = 4096, MOST_PATH = 1024, MOST_FILES = 8192, HEAD_BYTES = 1024 };

/* The data of a PE file's header; all 0 if the file is not a PE file. */
struct image_file {
    uint64_t default_base;
    uint32_t size, checksum, stamp;
};
struct image {
    uint64_t base, size, file; /* file: file number in k->image_files */
    char *path;
};
struct image_list {
    struct image *items;
    size_t count, capacity;
    bool is_due; /* the images must be read before the queue is flushed */
};

void images_begin(struct kernel_tracer *k)
{
    k->images = (struct id_map){.item_size = sizeof(struct image_list)};
    k->image_files = (struct id_map){.item_size = sizeof(struct image_file), .most = MOST_FILES};
}

static void image_list_clear(struct image_list *list)
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
        image_list_clear(list);
    id_map_free(&k->images);
    id_map_free(&k->image_files);
}

/* ---- files ---- */

/* Reads the header of a PE file, as "Microsoft Portable Executable and Common Object File Format" describes it. */
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

/* Adjacent mappings of one file. */
struct span {
    uint64_t base, end, inode;
    bool runs, begins; /* `runs` is true if the mappings contain code; `begins` is true if they contain the file's first
                          byte */
    char path[MOST_PATH];
};

static bool has_end(const char *path, const char *end)
{
    const size_t length = strlen(path), size = strlen(end);
    return length > size && text_equal_nocase(path + length - size, end);
}

/* Adds an image. Wine may copy the sections of a file into memory. In that case, only the header is mapped from the
   file. */
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

static HRESULT image_list_parse(struct kernel_tracer *k, const char *text, struct image_list *out)
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

static HRESULT image_emit(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook,
                          uint32_t process, const struct image *image)
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

static bool image_list_has(const struct image_list *list, const struct image *image)
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
        if (!image_list_has(without, &list->items[i]))
            hr = image_emit(k, e, hook, process, &list->items[i]);
    return hr;
}

/* Reads a process's list of images again. If the process has exited or its maps cannot be read, *known keeps the old
   list. */
static HRESULT image_list_refresh(struct kernel_tracer *k, const struct tracepoint_event *e, enum kernel_hook hook,
                                  uint32_t process, struct image_list *known)
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
    hr = image_list_parse(k, text, &now);
    memory_free(text);
    if (SUCCEEDED(hr) && hook == HOOK_IMAGE_LOAD)
        hr = emit_beyond(k, e, HOOK_IMAGE_UNLOAD, process, known, &now);
    if (SUCCEEDED(hr))
        hr = emit_beyond(k, e, hook, process, &now, hook == HOOK_IMAGE_LOAD ? known : &nothing);
    image_list_clear(known);
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
            hr = image_list_refresh(k, e, HOOK_IMAGE_LOAD, (uint32_t)process, list);
    return hr;
}

HRESULT images_rundown(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process, bool end)
{
    if (!kernel_wants(k, FLAG_IMAGE_LOAD))
        return S_OK;
    struct image_list *list = id_map_put(&k->images, process);
    return list ? image_list_refresh(k, e, end ? HOOK_IMAGE_RUNDOWN_END : HOOK_IMAGE_RUNDOWN_START, process, list)
                : E_OUTOFMEMORY;
}

HRESULT images_end(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process)
{
    static const struct image_list nothing;
    struct image_list *list = id_map_find(&k->images, process);
    if (!list)
        return S_OK;
    const HRESULT hr = emit_beyond(k, e, HOOK_IMAGE_UNLOAD, process, list, &nothing);
    image_list_clear(list);
    id_map_remove(&k->images, process);
    return hr;
}

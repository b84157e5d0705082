/* SPDX-License-Identifier: MIT */
/* Reads and validates the headers, names and sizes of an untrusted cabinet. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/little_endian.h"
#include "engine/pla/cabinet/cabinet_format.h"

#include <string.h>

/* Default limit for the total size of all files. A cabinet of 2 GB contains about this much at the usual compression
   ratio of logs. */
#define BYTES_USUAL (64ull << 30)
enum {
    BLOCKS_SPARE = 65536, /* extra blocks, because the last block of each folder may be short */
    BLOCKS_WATCHED = 1024,
};

const struct cabinet_limits cabinet_limits_usual = {.bytes = BYTES_USUAL, .files = CABINET_FILES_MAX};

struct opening {
    struct cabinet *c;
    const struct cabinet_limits *limits;
    uint64_t size; /* size of the cabinet, from its header */
    uint32_t files_at;
    size_t folder_reserve, header_end;
    uint64_t *folder_ends; /* for each folder: offset in bytes at which its latest entry ends */
    uint64_t data_end;     /* end of the last folder's blocks */
    size_t folder;         /* folder of the last entry */
    uint64_t blocks;       /* blocks counted so far */
};

HRESULT cabinet_fault(const struct cabinet *c, const char *what)
{
    return error_set(PLA_E_CABAPI_FAILURE, "'%s': %s", c->name, what);
}

static HRESULT read_exactly(struct cabinet *c, uint64_t at, void *data, size_t size)
{
    size_t got;
    const HRESULT hr = file_read_at(c->file, at, data, size, &got);
    return SUCCEEDED(hr) && got < size ? cabinet_fault(c, "is truncated") : hr;
}

/* ---- header and folders ---- */

static HRESULT read_header(struct opening *o)
{
    struct cabinet *c = o->c;
    uint8_t head[CABINET_HEADER_BYTES + CABINET_RESERVE_BYTES];
    uint64_t there;
    HRESULT hr = file_size(c->file, &there);
    if (SUCCEEDED(hr) && there < CABINET_HEADER_BYTES)
        return cabinet_fault(c, "is not a cabinet: it is too short");
    if (SUCCEEDED(hr))
        hr = read_exactly(c, 0, head, CABINET_HEADER_BYTES);
    if (FAILED(hr))
        return hr;
    if (get_u32(head) != CABINET_SIGNATURE || head[HEADER_VERSION + 1] != 1)
        return cabinet_fault(c, "is not a cabinet, or not of version 1.3");
    const unsigned flags = get_u16(head + HEADER_FLAGS);
    o->size = get_u32(head + HEADER_SIZE);
    o->files_at = get_u32(head + HEADER_FILES_AT);
    o->header_end = CABINET_HEADER_BYTES;
    c->folder_count = get_u16(head + HEADER_FOLDERS);
    c->count = get_u16(head + HEADER_FILES);
    if (flags & (CABINET_HAS_PREVIOUS | CABINET_HAS_NEXT))
        return cabinet_fault(c, "is part of a multi-cabinet set, which is not supported");
    if (o->size > there || o->size > CABINET_SIZE_MAX)
        return cabinet_fault(c,
                             o->size > there ? "is truncated: its header gives a larger size" : "is larger than 2 GB");
    if (flags & CABINET_HAS_RESERVE) {
        hr = read_exactly(c, CABINET_HEADER_BYTES, head + CABINET_HEADER_BYTES, CABINET_RESERVE_BYTES);
        o->header_end += CABINET_RESERVE_BYTES + (size_t)get_u16(head + CABINET_HEADER_BYTES);
        o->folder_reserve = head[CABINET_HEADER_BYTES + 2];
        c->block_reserve = head[CABINET_HEADER_BYTES + 3];
    }
    return hr;
}

/* Counts a block and checks the limit. Normally every block of a folder except the last one holds 32 KB. Not all
   writers fill their blocks, so twice the necessary number of blocks is accepted. Without a limit, a cabinet that
   consists only of block headers could require hundreds of millions of reads. */
static HRESULT count_block(struct opening *o)
{
    const uint64_t most = o->limits->bytes / CABINET_BLOCK_MAX * 2 + BLOCKS_SPARE;
    if (++o->blocks > most)
        return cabinet_fault(o->c, "has far more blocks than its size requires");
    return o->blocks % BLOCKS_WATCHED ? S_OK : cabinet_go_on(o->limits->watch, 0, 0);
}

/* Adds up the unpacked size of the folder's blocks from their headers. */
static HRESULT walk_blocks(struct opening *o, const struct cabinet_folder *folder, uint64_t *unpacked)
{
    struct cabinet *c = o->c;
    uint64_t at = folder->data_at;
    *unpacked = 0;
    for (size_t i = 0; i < folder->blocks; i++) {
        uint8_t head[CABINET_BLOCK_BYTES];
        if (at + CABINET_BLOCK_BYTES + c->block_reserve > o->size)
            return cabinet_fault(c, "has a block beyond its end");
        HRESULT hr = count_block(o);
        if (SUCCEEDED(hr))
            hr = read_exactly(c, at, head, sizeof head);
        if (FAILED(hr))
            return hr;
        const uint32_t packed = get_u16(head + BLOCK_PACKED), bytes = get_u16(head + BLOCK_UNPACKED);
        at += CABINET_BLOCK_BYTES + c->block_reserve + packed;
        if (!packed || packed > CABINET_PACKED_MAX || !bytes || bytes > CABINET_BLOCK_MAX || at > o->size ||
            (folder->packing == CABINET_STORED && packed != bytes))
            return cabinet_fault(c, "has a block of an invalid size");
        *unpacked += bytes;
    }
    o->data_end = at;
    return S_OK;
}

/* Reads the folders. Each folder must begin after the end of the previous one, because with overlapping folders a small
   file could unpack to many times its size. */
static HRESULT read_folders(struct opening *o, uint64_t *ends)
{
    struct cabinet *c = o->c;
    const size_t each = CABINET_FOLDER_BYTES + o->folder_reserve;
    if (o->header_end + c->folder_count * each > o->size || o->files_at < o->header_end + c->folder_count * each)
        return cabinet_fault(c, "has invalid offsets in its header");
    for (size_t i = 0; i < c->folder_count; i++) {
        uint8_t row[CABINET_FOLDER_BYTES];
        HRESULT hr = read_exactly(c, o->header_end + i * each, row, sizeof row);
        if (FAILED(hr))
            return hr;
        struct cabinet_folder *folder = &c->folders[i];
        folder->data_at = get_u32(row + FOLDER_DATA_AT);
        folder->blocks = get_u16(row + FOLDER_BLOCKS);
        folder->packing = get_u16(row + FOLDER_PACKING) & CABINET_PACKING_MASK;
        if (folder->packing != CABINET_STORED && folder->packing != CABINET_MSZIP)
            return cabinet_fault(c, "is compressed by Quantum or LZX (only MSZIP is supported)");
        if (folder->data_at < o->data_end)
            return cabinet_fault(c, "contains folders whose blocks overlap each other or the headers");
        hr = walk_blocks(o, folder, &ends[i]);
        if (FAILED(hr))
            return hr;
    }
    return S_OK;
}

/* ---- entries ---- */

static HRESULT bad_entry(const struct cabinet *c, const char *name, const char *fault)
{
    char *shown = cabinet_name_shown(name);
    if (!shown)
        return E_OUTOFMEMORY;
    const HRESULT hr = error_set(PLA_E_CABAPI_FAILURE, "'%s': the entry '%s': %s", c->name, shown, fault);
    memory_free(shown);
    return hr;
}

/* Converts the name to UTF-8 and validates it. */
static HRESULT take_name(const struct cabinet *c, const uint8_t *bytes, size_t length, bool utf8, char **out)
{
    char *name = NULL;
    HRESULT hr = utf8 ? S_OK : text_from_ansi((const char *)bytes, length, false, &name);
    if (!name && hr != E_OUTOFMEMORY)
        name = text_copy_n((const char *)bytes, length);
    if (!name)
        return E_OUTOFMEMORY;
    const char *fault = FAILED(hr) ? "the name is not valid in the ANSI code page" : cabinet_name_fault(name);
    hr = fault ? bad_entry(c, name, fault) : S_OK;
    *out = SUCCEEDED(hr) ? cabinet_name_copy(name) : NULL;
    memory_free(name);
    return SUCCEEDED(hr) && !*out ? E_OUTOFMEMORY : hr;
}

/* Checks and records the position of an entry. Entries must be in the order of their folders and positions and must not
   overlap; otherwise a small cabinet could fill a disk. */
static HRESULT place_entry(struct opening *o, size_t index, uint32_t offset, size_t folder)
{
    struct cabinet *c = o->c;
    const struct cabinet_entry *entry = &c->entries[index];
    if (folder >= c->folder_count)
        return bad_entry(c, entry->name, "its folder does not exist, or is in another cabinet");
    if (folder < o->folder || offset < o->folder_ends[folder])
        return bad_entry(c, entry->name, "it overlaps another entry, or is out of order");
    if (entry->size > CABINET_FILE_MAX || offset > CABINET_FILE_MAX)
        return bad_entry(c, entry->name, "it is larger than 2,147,450,880 bytes, the limit for a file in a cabinet");
    if (entry->size > o->limits->bytes - c->bytes)
        return error_set(PLA_E_CABAPI_FAILURE, "'%s' would exceed %llu bytes when unpacked", c->name,
                         (unsigned long long)o->limits->bytes);
    o->folder = folder;
    o->folder_ends[folder] = offset + entry->size;
    c->bytes += entry->size;
    c->places[index] = (struct cabinet_place){offset, folder};
    if (!c->folders[folder].files++)
        c->folders[folder].first = index;
    return S_OK;
}

static HRESULT read_entry(struct opening *o, const uint8_t *rows, size_t size, size_t *at, size_t index)
{
    struct cabinet *c = o->c;
    if (size - *at < CABINET_FILE_BYTES)
        return cabinet_fault(c, "has fewer entries than its header says");
    const uint8_t *row = rows + *at, *name = row + CABINET_FILE_BYTES;
    const size_t room = size - *at - CABINET_FILE_BYTES;
    const uint8_t *end = memchr(name, 0, room < CABINET_NAME_BYTES + 1 ? room : CABINET_NAME_BYTES + 1);
    if (!end)
        return cabinet_fault(c, "has an entry whose name is unterminated or longer than 255 bytes");
    struct cabinet_entry *entry = &c->entries[index];
    const uint32_t attributes = get_u16(row + FILE_ATTRIBUTES);
    *at += CABINET_FILE_BYTES + (size_t)(end - name) + 1;
    entry->size = get_u32(row + FILE_SIZE);
    entry->written = cabinet_time_of_dos(get_u16(row + FILE_DATE), get_u16(row + FILE_TIME));
    entry->attributes =
        attributes & (FILE_TRAIT_READ_ONLY | FILE_TRAIT_HIDDEN | FILE_TRAIT_SYSTEM | FILE_TRAIT_ARCHIVE);
    HRESULT hr = take_name(c, name, (size_t)(end - name), (attributes & CABINET_NAME_IS_UTF8) != 0, &entry->name);
    return SUCCEEDED(hr) ? place_entry(o, index, get_u32(row + FILE_OFFSET), get_u16(row + FILE_FOLDER)) : hr;
}

static HRESULT check_names(const struct cabinet *c)
{
    const char **names = memory_alloc((c->count + 1) * sizeof *names);
    size_t first = 0, second = 0;
    if (!names)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < c->count; i++)
        names[i] = c->entries[i].name;
    const HRESULT hr = cabinet_names_clash(names, c->count, &first, &second);
    memory_free(names);
    return hr == S_FALSE ? bad_entry(c, c->entries[first].name,
                                     "another entry has this name or the name of its folder (ignoring case)")
                         : hr;
}

static HRESULT read_entries(struct opening *o)
{
    struct cabinet *c = o->c;
    const uint64_t most = (uint64_t)c->count * (CABINET_FILE_BYTES + CABINET_NAME_BYTES + 1);
    const uint64_t rest = o->files_at < o->size ? o->size - o->files_at : 0;
    const size_t size = (size_t)(most < rest ? most : rest);
    uint8_t *rows = memory_alloc(size + 1);
    size_t at = 0;
    HRESULT hr = rows ? read_exactly(c, o->files_at, rows, size) : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < c->count; i++)
        hr = read_entry(o, rows, size, &at, i);
    memory_free(rows);
    o->data_end = o->files_at + at; /* the blocks follow the entries */
    return SUCCEEDED(hr) ? check_names(c) : hr;
}

/* ---- opening a cabinet ---- */

static HRESULT make_room(struct opening *o, uint64_t **ends)
{
    struct cabinet *c = o->c;
    if (c->count > o->limits->files)
        return error_set(PLA_E_CABAPI_FAILURE, "'%s' has %llu files (at most %u are allowed)", c->name,
                         (unsigned long long)c->count, (unsigned)o->limits->files);
    c->entries = memory_zero(c->count + 1, sizeof *c->entries);
    c->places = memory_zero(c->count + 1, sizeof *c->places);
    c->folders = memory_zero(c->folder_count + 1, sizeof *c->folders);
    o->folder_ends = memory_zero(c->folder_count + 1, sizeof *o->folder_ends);
    *ends = memory_zero(c->folder_count + 1, sizeof **ends);
    return c->entries && c->places && c->folders && o->folder_ends && *ends ? S_OK : E_OUTOFMEMORY;
}

static HRESULT check_sizes(const struct opening *o, const uint64_t *ends)
{
    for (size_t i = 0; i < o->c->folder_count; i++)
        if (o->folder_ends[i] > ends[i])
            return cabinet_fault(o->c, "has entries that exceed its blocks");
    return S_OK;
}

static HRESULT cabinet_read_all(struct opening *o)
{
    uint64_t *ends = NULL;
    HRESULT hr = read_header(o);
    if (SUCCEEDED(hr))
        hr = make_room(o, &ends);
    if (SUCCEEDED(hr))
        hr = read_entries(o);
    if (SUCCEEDED(hr))
        hr = read_folders(o, ends);
    if (SUCCEEDED(hr))
        hr = check_sizes(o, ends);
    memory_free(ends);
    memory_free(o->folder_ends);
    return hr;
}

HRESULT cabinet_open_file(struct file *f, const char *name, const struct cabinet_limits *limits, struct cabinet **out)
{
    struct opening o = {.c = memory_zero(1, sizeof *o.c), .limits = limits ? limits : &cabinet_limits_usual};
    *out = NULL;
    if (!o.c)
        return E_OUTOFMEMORY;
    o.c->file = f;
    o.c->name = text_copy(name);
    HRESULT hr = o.c->name ? cabinet_read_all(&o) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        *out = o.c;
    else
        cabinet_close(o.c);
    return hr;
}

HRESULT cabinet_open(const char *path, const struct cabinet_limits *limits, struct cabinet **out)
{
    struct file *f;
    *out = NULL;
    HRESULT hr = file_open_source(path, &f);
    if (FAILED(hr))
        return hr;
    hr = cabinet_open_file(f, path, limits, out);
    if (SUCCEEDED(hr))
        (*out)->owned = true;
    else
        file_close(f);
    return hr;
}

void cabinet_close(struct cabinet *c)
{
    if (!c)
        return;
    for (size_t i = 0; c->entries && i < c->count; i++)
        memory_free(c->entries[i].name);
    memory_free(c->entries);
    memory_free(c->places);
    memory_free(c->folders);
    memory_free(c->name);
    if (c->owned)
        file_close(c->file);
    memory_free(c);
}

size_t cabinet_count(const struct cabinet *c)
{
    return c->count;
}

const struct cabinet_entry *cabinet_entry_at(const struct cabinet *c, size_t index)
{
    return &c->entries[index];
}

/* SPDX-License-Identifier: MIT */
/* Packs a cabinet on host OSes without cabinet.dll: writes the structures of MS-CAB itself, and compresses the MSZIP
   blocks with zlib. */
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pla/cabinet/cabinet_format.h"

#include <string.h>

enum { LEVEL = 6, MEMORY_LEVEL = 8, STORED_HEAD = 5 };

struct writer {
    struct packing *p;
    z_stream z;
    uint8_t *head; /* everything before the first block */
    size_t head_bytes;
    size_t folder, folders;
    uint64_t at;            /* position of the next block */
    uint64_t taken;         /* bytes in this folder */
    size_t blocks;          /* blocks in this folder */
    size_t history, filled; /* bytes in `before` and in `block` */
    uint8_t before[CABINET_BLOCK_MAX], block[CABINET_BLOCK_MAX];
    uint8_t packed[CABINET_BLOCK_BYTES + CABINET_PACKED_MAX];
};

/* ---- the blocks ---- */

/* Compresses the block as a separate stream that can refer to the previous block. A block that does not become smaller
   is stored uncompressed. */
static HRESULT pack_block(struct writer *w, size_t *size)
{
    uint8_t *out = w->packed + CABINET_BLOCK_BYTES;
    int rc = deflateReset(&w->z);
    if (rc == Z_OK && w->history)
        rc = deflateSetDictionary(&w->z, w->before, (uInt)w->history);
    w->z.next_in = w->block;
    w->z.avail_in = (uInt)w->filled;
    w->z.next_out = out + 2;
    w->z.avail_out = (uInt)(w->filled + STORED_HEAD);
    out[0] = 'C';
    out[1] = 'K';
    if (rc == Z_OK)
        rc = deflate(&w->z, Z_FINISH);
    if (rc == Z_STREAM_END) {
        *size = 2 + w->filled + STORED_HEAD - w->z.avail_out;
        return S_OK;
    }
    if (rc != Z_OK && rc != Z_BUF_ERROR)
        return error_set(E_FAIL, "zlib: cannot pack a block (%d)", rc);
    out[2] = 1; /* final block, not compressed */
    put_u16(out + 3, (uint16_t)w->filled);
    put_u16(out + 5, (uint16_t)~w->filled);
    memcpy(out + 2 + STORED_HEAD, w->block, w->filled);
    *size = 2 + STORED_HEAD + w->filled;
    return S_OK;
}

static HRESULT write_block(struct writer *w)
{
    size_t size = 0;
    if (!w->filled)
        return S_OK;
    HRESULT hr = pack_block(w, &size);
    if (FAILED(hr))
        return hr;
    put_u16(w->packed + BLOCK_PACKED, (uint16_t)size);
    put_u16(w->packed + BLOCK_UNPACKED, (uint16_t)w->filled);
    put_u32(w->packed + BLOCK_CHECKSUM,
            cabinet_checksum(w->packed + BLOCK_PACKED, 4, cabinet_checksum(w->packed + CABINET_BLOCK_BYTES, size, 0)));
    size += CABINET_BLOCK_BYTES;
    if (w->at + size > CABINET_SIZE_MAX)
        return packing_too_large();
    hr = file_write_at(w->p->out, w->at, w->packed, size);
    w->at += size;
    w->blocks++;
    memcpy(w->before, w->block, w->filled);
    w->history = w->filled;
    w->filled = 0;
    return hr;
}

/* ---- the structures before the blocks ---- */

static uint8_t *folder_row(const struct writer *w, size_t folder)
{
    return w->head + CABINET_HEADER_BYTES + folder * CABINET_FOLDER_BYTES;
}

static HRESULT end_folder(struct writer *w)
{
    const HRESULT hr = write_block(w);
    put_u16(folder_row(w, w->folder) + FOLDER_BLOCKS, (uint16_t)w->blocks);
    w->taken = w->blocks = w->history = 0;
    return hr;
}

static void begin_folder(struct writer *w, size_t folder)
{
    w->folder = folder;
    put_u32(folder_row(w, folder) + FOLDER_DATA_AT, (uint32_t)w->at);
    put_u16(folder_row(w, folder) + FOLDER_PACKING, CABINET_MSZIP);
}

static uint8_t *put_entry(const struct writer *w, uint8_t *row, size_t index)
{
    const struct cabinet_member *member = &w->p->source->members[index];
    const struct packed_row is = packing_row(member);
    put_u32(row + FILE_SIZE, (uint32_t)member->size);
    put_u32(row + FILE_OFFSET, (uint32_t)w->taken);
    put_u16(row + FILE_FOLDER, (uint16_t)w->folder);
    put_u16(row + FILE_DATE, is.date);
    put_u16(row + FILE_TIME, is.time);
    put_u16(row + FILE_ATTRIBUTES, is.attributes);
    row += CABINET_FILE_BYTES;
    for (const char *at = member->name;; at++) {
        *row++ = (uint8_t)(*at == '/' ? '\\' : *at);
        if (!*at)
            return row;
    }
}

static HRESULT make_head(struct writer *w)
{
    const struct cabinet_source *source = w->p->source;
    uint64_t taken = 0;
    w->folders = 1;
    w->head_bytes = CABINET_HEADER_BYTES;
    for (size_t i = 0; i < source->count; i++) {
        const bool begins = packing_begins_folder(&source->members[i], taken);
        w->folders += begins;
        taken = (begins ? 0 : taken) + source->members[i].size;
        w->head_bytes += CABINET_FILE_BYTES + strlen(source->members[i].name) + 1;
    }
    /* The format allows 65,535 folders. A cabinet with more of them would also be larger than 2 GB. */
    w->head_bytes += w->folders * CABINET_FOLDER_BYTES;
    w->at = w->head_bytes;
    if (w->folders > UINT16_MAX)
        return packing_too_large();
    w->head = memory_zero(1, w->head_bytes);
    return w->head ? S_OK : E_OUTOFMEMORY;
}

static HRESULT write_head(const struct writer *w)
{
    uint8_t *head = w->head;
    put_u32(head, CABINET_SIGNATURE);
    put_u32(head + HEADER_SIZE, (uint32_t)w->at);
    put_u32(head + HEADER_FILES_AT, (uint32_t)(CABINET_HEADER_BYTES + w->folders * CABINET_FOLDER_BYTES));
    head[HEADER_VERSION] = 3;
    head[HEADER_VERSION + 1] = 1;
    put_u16(head + HEADER_FOLDERS, (uint16_t)w->folders);
    put_u16(head + HEADER_FILES, (uint16_t)w->p->source->count);
    return file_write_at(w->p->out, 0, head, w->head_bytes);
}

/* ---- packing a cabinet ---- */

static HRESULT add_bytes(struct writer *w, size_t index, struct file *in)
{
    const uint64_t size = w->p->source->members[index].size;
    HRESULT hr = S_OK;
    for (uint64_t at = 0; SUCCEEDED(hr) && at < size;) {
        const uint64_t left = size - at, room = sizeof w->block - w->filled;
        const size_t piece = (size_t)(left < room ? left : room);
        hr = packing_read(w->p, index, in, at, w->block + w->filled, piece);
        w->filled += piece;
        at += piece;
        if (SUCCEEDED(hr) && w->filled == sizeof w->block)
            hr = write_block(w);
    }
    return hr;
}

static HRESULT add_member(struct writer *w, uint8_t **row, size_t index)
{
    const struct cabinet_source *source = w->p->source;
    struct file *in = NULL;
    HRESULT hr = S_OK;
    if (packing_begins_folder(&source->members[index], w->taken)) {
        hr = end_folder(w);
        begin_folder(w, w->folder + 1);
    }
    if (SUCCEEDED(hr))
        hr = source->open(source->user, index, &in);
    if (FAILED(hr))
        return hr;
    *row = put_entry(w, *row, index);
    hr = add_bytes(w, index, in);
    w->taken += source->members[index].size;
    file_close(in);
    return hr;
}

static HRESULT write_all(struct writer *w)
{
    HRESULT hr = make_head(w);
    if (FAILED(hr))
        return hr;
    uint8_t *row = folder_row(w, w->folders);
    hr = file_write_at(w->p->out, 0, w->head, w->head_bytes); /* reserves the space before the blocks */
    begin_folder(w, 0);
    for (size_t i = 0; SUCCEEDED(hr) && i < w->p->source->count; i++)
        hr = add_member(w, &row, i);
    if (SUCCEEDED(hr))
        hr = end_folder(w);
    return SUCCEEDED(hr) ? write_head(w) : hr;
}

HRESULT packing_write(struct packing *p)
{
    struct writer *w = memory_zero(1, sizeof *w);
    if (!w)
        return E_OUTOFMEMORY;
    w->p = p;
    mszip_memory(&w->z);
    const int rc = deflateInit2(&w->z, LEVEL, Z_DEFLATED, -MAX_WBITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
    const HRESULT hr = rc == Z_OK          ? write_all(w)
                       : rc == Z_MEM_ERROR ? E_OUTOFMEMORY
                                           : error_set(E_FAIL, "zlib %s cannot pack (%d)", zlibVersion(), rc);
    if (rc == Z_OK)
        (void)deflateEnd(&w->z);
    memory_free(w->head);
    memory_free(w);
    return hr;
}

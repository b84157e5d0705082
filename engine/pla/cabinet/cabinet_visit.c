/* SPDX-License-Identifier: MIT */
/* All bytes of a cabinet, block by block, given out as its entries'. */
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pla/cabinet/cabinet_format.h"
#include "engine/pla/cabinet/cabinet_reader.h"
#include "engine/pla/cabinet/mszip.h"

#include <string.h>

struct visit {
    struct cabinet *c;
    const struct cabinet_visitor *visitor;
    const struct cabinet_watch *watch;
    uint64_t at;   /* of the next block in the cabinet */
    uint64_t pos;  /* of that block in the folder's bytes */
    uint64_t done; /* bytes given out */
    size_t entry;  /* the next one, or the one that has begun */
    bool begun;
    struct mszip mszip;
    size_t history;                          /* bytes before the block's own that it may refer to */
    uint8_t unpacked[2 * CABINET_BLOCK_MAX]; /* those before, which end in the middle; behind them the block's */
    uint8_t packed[CABINET_PACKED_MAX];
};

HRESULT cabinet_go_on(const struct cabinet_watch *watch, uint64_t done, uint64_t whole)
{
    return watch && watch->go_on && !watch->go_on(watch->user, done, whole) ? HRESULT_FROM_WIN32(ERROR_CANCELLED)
                                                                            : S_OK;
}

static HRESULT read_at(struct visit *v, uint64_t at, void *data, size_t size)
{
    size_t got;
    const HRESULT hr = file_read_at(v->c->file, at, data, size, &got);
    return SUCCEEDED(hr) && got < size ? cabinet_fault(v->c, "has been cut since it was opened") : hr;
}

static HRESULT unpack_block(struct visit *v, const struct cabinet_folder *folder, size_t packed, size_t bytes)
{
    uint8_t *out = v->unpacked + CABINET_BLOCK_MAX;
    if (folder->packing == CABINET_STORED) {
        if (packed != bytes)
            return cabinet_fault(v->c, "has been changed since it was opened");
        memcpy(out, v->packed, bytes);
        return S_OK;
    }
    HRESULT hr = S_FALSE;
    if (packed >= 2 && v->packed[0] == 'C' && v->packed[1] == 'K')
        hr = mszip_unpack(&v->mszip, v->packed + 2, packed - 2, out, bytes, v->history);
    return hr == S_FALSE ? cabinet_fault(v->c, "is damaged: a block cannot be unpacked") : hr;
}

/* The heads are read again, so they are looked at again: the file may be another by now. */
static HRESULT read_block(struct visit *v, const struct cabinet_folder *folder, size_t *size)
{
    uint8_t head[CABINET_BLOCK_BYTES];
    HRESULT hr = read_at(v, v->at, head, sizeof head);
    if (FAILED(hr))
        return hr;
    const size_t packed = get_u16(head + BLOCK_PACKED), bytes = get_u16(head + BLOCK_UNPACKED);
    const uint32_t checksum = get_u32(head + BLOCK_CHECKSUM);
    if (packed > CABINET_PACKED_MAX || bytes > CABINET_BLOCK_MAX || !bytes)
        return cabinet_fault(v->c, "has been changed since it was opened");
    v->at += CABINET_BLOCK_BYTES + v->c->block_reserve;
    hr = read_at(v, v->at, v->packed, packed);
    if (FAILED(hr))
        return hr;
    v->at += packed;
    if (checksum && checksum != cabinet_checksum(head + BLOCK_PACKED, 4, cabinet_checksum(v->packed, packed, 0)))
        return cabinet_fault(v->c, "is damaged: a block has another checksum than it says");
    *size = bytes;
    return unpack_block(v, folder, packed, bytes);
}

static HRESULT begin_entry(struct visit *v)
{
    const HRESULT hr = v->begun ? S_OK : v->visitor->begin(v->visitor->user, v->entry);
    v->begun = SUCCEEDED(hr);
    return hr;
}

static HRESULT end_entry(struct visit *v)
{
    v->begun = false;
    return v->visitor->end(v->visitor->user, v->entry++);
}

/* The block's bytes, to the entries that they belong to. */
static HRESULT give_block(struct visit *v, size_t size, size_t end)
{
    HRESULT hr = S_OK;
    while (SUCCEEDED(hr) && v->entry < end) {
        const uint64_t from = v->c->places[v->entry].offset, to = from + v->c->entries[v->entry].size;
        if (from >= v->pos + size)
            return S_OK;
        const uint64_t first = from > v->pos ? from : v->pos, last = to < v->pos + size ? to : v->pos + size;
        hr = begin_entry(v);
        if (SUCCEEDED(hr) && last > first)
            hr = v->visitor->bytes(v->visitor->user, v->entry, v->unpacked + CABINET_BLOCK_MAX + (first - v->pos),
                                   (size_t)(last - first));
        if (SUCCEEDED(hr) && last > first)
            v->done += last - first;
        if (to > v->pos + size)
            return hr;
        if (SUCCEEDED(hr))
            hr = end_entry(v);
    }
    return hr;
}

static HRESULT visit_folder(struct visit *v, const struct cabinet_folder *folder)
{
    const size_t end = folder->first + folder->files;
    HRESULT hr = S_OK;
    v->at = folder->data_at;
    v->pos = 0;
    v->history = 0;
    v->entry = folder->first;
    for (size_t i = 0; SUCCEEDED(hr) && i < folder->blocks && v->entry < end; i++) {
        size_t size = 0;
        hr = read_block(v, folder, &size);
        if (SUCCEEDED(hr))
            hr = give_block(v, size, end);
        v->pos += size;
        v->history = v->history + size < CABINET_BLOCK_MAX ? v->history + size : CABINET_BLOCK_MAX;
        memmove(v->unpacked, v->unpacked + size, CABINET_BLOCK_MAX);
        if (SUCCEEDED(hr) && i % 32 == 0)
            hr = cabinet_go_on(v->watch, v->done, v->c->bytes);
    }
    /* Empty ones behind the last byte. */
    while (SUCCEEDED(hr) && v->entry < end) {
        if (v->begun || v->c->entries[v->entry].size)
            return cabinet_fault(v->c, "has been changed since it was opened");
        hr = begin_entry(v);
        if (SUCCEEDED(hr))
            hr = end_entry(v);
    }
    return hr;
}

HRESULT cabinet_visit(struct cabinet *c, const struct cabinet_visitor *visitor, const struct cabinet_watch *watch)
{
    struct visit *v = memory_zero(1, sizeof *v);
    HRESULT hr = v ? cabinet_go_on(watch, 0, c->bytes) : E_OUTOFMEMORY;
    if (v) {
        v->c = c;
        v->visitor = visitor;
        v->watch = watch;
    }
    for (size_t i = 0; SUCCEEDED(hr) && i < c->folder_count; i++)
        if (c->folders[i].files)
            hr = visit_folder(v, &c->folders[i]);
    if (v)
        mszip_end(&v->mszip);
    memory_free(v);
    return SUCCEEDED(hr) ? cabinet_go_on(watch, c->bytes, c->bytes) : hr;
}

/* SPDX-License-Identifier: MIT */
/* Unpacks a cabinet: decompresses its MSZIP blocks and passes the bytes of each entry to a visitor. Also compares a
   cabinet with files that are about to be deleted. */
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pla/cabinet/cabinet_format.h"

#include <stdlib.h>
#include <string.h>

struct visit {
    struct cabinet *c;
    const struct cabinet_visitor *visitor;
    const struct cabinet_watch *watch;
    uint64_t at;   /* position of the next block in the cabinet */
    uint64_t pos;  /* position of that block in the folder's bytes */
    uint64_t done; /* bytes passed to the visitor */
    size_t entry;  /* the current entry if `begun`, otherwise the next one */
    bool begun;
    struct mszip mszip;
    size_t history;                          /* bytes before the current block to which the block may refer */
    uint8_t unpacked[2 * CABINET_BLOCK_MAX]; /* the previous block ends in the middle, where the current one begins */
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
    return SUCCEEDED(hr) && got < size ? cabinet_fault(v->c, "was truncated after it was opened") : hr;
}

static HRESULT unpack_block(struct visit *v, const struct cabinet_folder *folder, size_t packed, size_t bytes)
{
    uint8_t *out = v->unpacked + CABINET_BLOCK_MAX;
    if (folder->packing == CABINET_STORED) {
        if (packed != bytes)
            return cabinet_fault(v->c, "was changed after it was opened");
        memcpy(out, v->packed, bytes);
        return S_OK;
    }
    HRESULT hr = S_FALSE;
    if (packed >= 2 && v->packed[0] == 'C' && v->packed[1] == 'K')
        hr = mszip_unpack(&v->mszip, v->packed + 2, packed - 2, out, bytes, v->history);
    return hr == S_FALSE ? cabinet_fault(v->c, "is corrupt: a block cannot be unpacked") : hr;
}

/* Reads and unpacks the next block. Validates its header again, because the file may have changed. */
static HRESULT read_block(struct visit *v, const struct cabinet_folder *folder, size_t *size)
{
    uint8_t head[CABINET_BLOCK_BYTES];
    HRESULT hr = read_at(v, v->at, head, sizeof head);
    if (FAILED(hr))
        return hr;
    const size_t packed = get_u16(head + BLOCK_PACKED), bytes = get_u16(head + BLOCK_UNPACKED);
    const uint32_t checksum = get_u32(head + BLOCK_CHECKSUM);
    if (packed > CABINET_PACKED_MAX || bytes > CABINET_BLOCK_MAX || !bytes)
        return cabinet_fault(v->c, "was changed after it was opened");
    v->at += CABINET_BLOCK_BYTES + v->c->block_reserve;
    hr = read_at(v, v->at, v->packed, packed);
    if (FAILED(hr))
        return hr;
    v->at += packed;
    if (checksum && checksum != cabinet_checksum(head + BLOCK_PACKED, 4, cabinet_checksum(v->packed, packed, 0)))
        return cabinet_fault(v->c, "is corrupt: the checksum of a block is wrong");
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

/* Passes the block's bytes to the visitor, entry by entry. */
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
    /* The remaining entries begin after the last byte, so they must be empty. */
    while (SUCCEEDED(hr) && v->entry < end) {
        if (v->begun || v->c->entries[v->entry].size)
            return cabinet_fault(v->c, "was changed after it was opened");
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

static voidpf from_memory(voidpf user, uInt count, uInt size)
{
    (void)user;
    return memory_zero(count, size);
}

static void to_memory(voidpf user, voidpf p)
{
    (void)user;
    memory_free(p);
}

void mszip_memory(z_stream *z)
{
    z->zalloc = from_memory;
    z->zfree = to_memory;
}

static HRESULT unpack_failed(int rc)
{
    return rc == Z_MEM_ERROR ? E_OUTOFMEMORY : error_set(E_FAIL, "zlib %s cannot unpack (%d)", zlibVersion(), rc);
}

static int make_ready(struct mszip *m)
{
    if (m->z.state)
        return inflateReset(&m->z);
    mszip_memory(&m->z);
    return inflateInit2(&m->z, -MAX_WBITS);
}

HRESULT mszip_unpack(struct mszip *m, const uint8_t *in, size_t size, uint8_t *out, size_t wanted, size_t history)
{
    int rc = make_ready(m);
    if (rc == Z_OK && history)
        rc = inflateSetDictionary(&m->z, out - history, (uInt)history);
    if (rc != Z_OK)
        return unpack_failed(rc);
    m->z.next_in = (z_const Bytef *)in;
    m->z.avail_in = (uInt)size;
    m->z.next_out = out;
    m->z.avail_out = (uInt)wanted;
    rc = inflate(&m->z, Z_FINISH);
    /* Z_NEED_DICT cannot occur in a raw stream. */
    if (rc == Z_STREAM_END || rc == Z_OK || rc == Z_BUF_ERROR || rc == Z_DATA_ERROR)
        return rc == Z_STREAM_END && !m->z.avail_out ? S_OK : S_FALSE;
    return unpack_failed(rc);
}

void mszip_end(struct mszip *m)
{
    if (m->z.state)
        (void)inflateEnd(&m->z);
}

/* ---- comparison, byte for byte ---- */

struct wanted {
    char *name;
    size_t member;
};
struct comparison {
    struct cabinet *c;
    const struct cabinet_source *source;
    struct wanted *all; /* sorted by name */
    size_t *member_of;  /* for each entry, the index of its member; source->count: none */
    struct file *file;  /* file of the current entry's member; NULL: no member */
    uint64_t at;
    uint8_t bytes[CABINET_BLOCK_MAX];
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct wanted *)a)->name, ((const struct wanted *)b)->name);
}

static int name_of(const void *key, const void *element)
{
    return strcmp(key, ((const struct wanted *)element)->name);
}

static HRESULT comparison_fail(const struct comparison *m, size_t member, const char *how)
{
    char *shown = cabinet_name_shown(m->source->members[member].name);
    if (!shown)
        return E_OUTOFMEMORY;
    const HRESULT hr = error_set(PLA_E_CABAPI_FAILURE, "'%s': '%s' %s", m->c->name, shown, how);
    memory_free(shown);
    return hr;
}

static HRESULT compare_begin(void *user, size_t entry)
{
    struct comparison *m = user;
    const size_t member = m->member_of[entry];
    m->at = 0;
    return member < m->source->count ? m->source->open(m->source->user, member, &m->file) : S_OK;
}

static HRESULT compare_bytes(void *user, size_t entry, const uint8_t *data, size_t size)
{
    struct comparison *m = user;
    size_t got;
    if (!m->file)
        return S_OK;
    HRESULT hr = file_read_at(m->file, m->at, m->bytes, size, &got);
    if (SUCCEEDED(hr) && (got < size || memcmp(data, m->bytes, size) != 0))
        hr = comparison_fail(m, m->member_of[entry],
                             "differs from its copy in the cabinet: it has changed since it was packed");
    m->at += size;
    return hr;
}

static HRESULT compare_end(void *user, size_t entry)
{
    struct comparison *m = user;
    uint8_t more;
    size_t got = 0;
    if (!m->file)
        return S_OK;
    HRESULT hr = file_read_at(m->file, m->at, &more, 1, &got);
    file_close(m->file);
    m->file = NULL;
    return SUCCEEDED(hr) && got ? comparison_fail(m, m->member_of[entry],
                                                  "is longer than its copy in the cabinet: the file is still growing")
                                : hr;
}

/* Finds the member of each entry. Every member must have an entry. */
static HRESULT comparison_match_entries(struct comparison *m)
{
    const size_t count = m->source->count;
    size_t found = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        m->all[i] = (struct wanted){cabinet_name_copy(m->source->members[i].name), i};
        if (!m->all[i].name)
            hr = E_OUTOFMEMORY;
    }
    if (FAILED(hr))
        return hr;
    qsort(m->all, count, sizeof *m->all, by_name);
    bool *seen = memory_zero(count + 1, sizeof *seen);
    for (size_t i = 0; seen && i < m->c->count; i++) {
        const struct wanted *w = bsearch(m->c->entries[i].name, m->all, count, sizeof *m->all, name_of);
        m->member_of[i] = w ? w->member : count;
        if (w && m->c->entries[i].size == m->source->members[w->member].size && !seen[w->member]) {
            seen[w->member] = true;
            found++;
        }
    }
    hr = seen ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && found < count && i < count; i++)
        if (!seen[i])
            hr = comparison_fail(m, i, "is not in the cabinet, or has another size there");
    memory_free(seen);
    return hr;
}

HRESULT cabinet_compare(struct cabinet *c, const struct cabinet_source *source, const struct cabinet_watch *watch)
{
    struct comparison *m = memory_zero(1, sizeof *m);
    if (!m)
        return E_OUTOFMEMORY;
    *m = (struct comparison){.c = c, .source = source};
    m->all = memory_zero(source->count + 1, sizeof *m->all);
    m->member_of = memory_zero(c->count + 1, sizeof *m->member_of);
    HRESULT hr = m->all && m->member_of ? comparison_match_entries(m) : E_OUTOFMEMORY;
    const struct cabinet_visitor visitor = {compare_begin, compare_bytes, compare_end, m};
    if (SUCCEEDED(hr))
        hr = cabinet_visit(c, &visitor, watch);
    file_close(m->file);
    for (size_t i = 0; m->all && i < source->count; i++)
        memory_free(m->all[i].name);
    memory_free(m->all);
    memory_free(m->member_of);
    memory_free(m);
    return hr;
}

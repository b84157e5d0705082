/* SPDX-License-Identifier: MIT */
/* Reads the MSF container of PDB files. */
#include "engine/etw/symbols/msf_file.h"

#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"

enum { MAGIC_BYTES = 32, HEAD_BYTES = 56, SMALLEST_BLOCK = 512, LARGEST_BLOCK = 1 << 16 };
enum { MOST_DIRECTORY = 64 << 20, MOST_STREAMS = 1 << 20 };
#define NO_STREAM UINT32_MAX

HRESULT pdb_corrupt(const char *what)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "not a valid PDB file: %s", what);
}

static uint32_t blocks_of(const struct msf_file *m, uint32_t size)
{
    return size / m->block_size + (size % m->block_size != 0);
}

static HRESULT read_blocks(const struct msf_file *m, const uint32_t *blocks, uint32_t offset, uint8_t *bytes,
                           uint32_t size)
{
    while (size != 0) {
        const uint32_t within = offset % m->block_size, room = m->block_size - within;
        const uint32_t part = size < room ? size : room;
        const HRESULT hr = m->source->read(
            m->source->context, (uint64_t)blocks[offset / m->block_size] * m->block_size + within, bytes, part);
        if (FAILED(hr))
            return hr;
        bytes += part;
        offset += part;
        size -= part;
    }
    return S_OK;
}

static HRESULT read_head(struct msf_file *m, uint32_t *directory_bytes, uint32_t *map)
{
    static const char magic[] = "Microsoft C/C++ MSF 7.00\r\n\x1A"
                                "DS\0\0"; /* the literal's NUL is the last byte */
    uint8_t head[HEAD_BYTES];
    _Static_assert(sizeof magic == MAGIC_BYTES, "magic");
    if (m->source->size < HEAD_BYTES)
        return pdb_corrupt("the file is too short");
    const HRESULT hr = m->source->read(m->source->context, 0, head, sizeof head);
    if (FAILED(hr))
        return hr;
    if (memcmp(head, magic, MAGIC_BYTES) != 0)
        return pdb_corrupt("another format");
    m->block_size = get_u32(head + 32);
    m->block_count = get_u32(head + 40);
    *directory_bytes = get_u32(head + 44);
    *map = get_u32(head + 52);
    if (m->block_size < SMALLEST_BLOCK || m->block_size > LARGEST_BLOCK || (m->block_size & (m->block_size - 1)) != 0)
        return pdb_corrupt("invalid block size");
    if (m->block_count > m->source->size / m->block_size)
        return pdb_corrupt("the file is truncated");
    if (*directory_bytes < 4 || *directory_bytes > MOST_DIRECTORY || *directory_bytes % 4 != 0)
        return pdb_corrupt("invalid size of the directory");
    return S_OK;
}

/* Reads the directory as 32-bit words, from memory_alloc. */
static HRESULT read_directory(struct msf_file *m, uint32_t bytes, uint32_t map, uint32_t **out)
{
    const uint32_t count = blocks_of(m, bytes);
    uint32_t *list = memory_alloc(4 * (size_t)count), *words = memory_alloc(bytes);
    HRESULT hr = list && words ? S_OK : E_OUTOFMEMORY;
    const uint64_t at = (uint64_t)map * m->block_size;
    if (SUCCEEDED(hr) && (map >= m->block_count || 4 * (uint64_t)count > m->source->size - at))
        hr = pdb_corrupt("the directory is not in the file");
    if (SUCCEEDED(hr))
        hr = m->source->read(m->source->context, at, list, 4 * (size_t)count);
    for (uint32_t i = 0; i < count && SUCCEEDED(hr); i++) {
        list[i] = get_u32((const uint8_t *)&list[i]);
        if (list[i] >= m->block_count)
            hr = pdb_corrupt("a block of the directory is not in the file");
    }
    if (SUCCEEDED(hr))
        hr = read_blocks(m, list, 0, (uint8_t *)words, bytes);
    for (uint32_t i = 0; i < bytes / 4 && SUCCEEDED(hr); i++)
        words[i] = get_u32((const uint8_t *)&words[i]);
    memory_free(list);
    if (FAILED(hr))
        memory_free(words);
    else
        *out = words;
    return hr;
}

HRESULT msf_open(const struct pdb_source *source, struct msf_file *m)
{
    uint32_t bytes = 0, map = 0;
    *m = (struct msf_file){.source = source};
    HRESULT hr = read_head(m, &bytes, &map);
    if (SUCCEEDED(hr))
        hr = read_directory(m, bytes, map, &m->blocks);
    if (FAILED(hr))
        return hr;
    const uint32_t words = bytes / 4;
    m->stream_count = m->blocks[0];
    if (m->stream_count > MOST_STREAMS || m->stream_count > words - 1)
        return pdb_corrupt("invalid number of streams");
    m->streams = memory_zero((size_t)m->stream_count + 1, sizeof *m->streams);
    if (!m->streams)
        return E_OUTOFMEMORY;
    uint64_t next = 1 + (uint64_t)m->stream_count;
    for (uint32_t i = 0; i < m->stream_count; i++) {
        const uint32_t size = m->blocks[1 + i] == NO_STREAM ? 0 : m->blocks[1 + i];
        m->streams[i] = (struct msf_stream){size, (uint32_t)next};
        next += blocks_of(m, size);
        if (next > words)
            return pdb_corrupt("the directory is truncated");
    }
    for (uint64_t i = 1 + (uint64_t)m->stream_count; i < next; i++)
        if (m->blocks[i] >= m->block_count)
            return pdb_corrupt("a block of a stream is not in the file");
    return S_OK;
}

uint32_t msf_size(const struct msf_file *m, uint32_t stream)
{
    return stream < m->stream_count ? m->streams[stream].size : 0;
}

HRESULT msf_read(const struct msf_file *m, uint32_t stream, uint32_t offset, void *bytes, uint32_t size)
{
    const uint32_t all = msf_size(m, stream);
    if (offset > all || size > all - offset)
        return pdb_corrupt("a stream is too short");
    return read_blocks(m, m->blocks + m->streams[stream].first, offset, bytes, size);
}

void msf_close(struct msf_file *m)
{
    memory_free(m->streams);
    memory_free(m->blocks);
    *m = (struct msf_file){0};
}

/* SPDX-License-Identifier: MIT */
#include "engine/pla/cabinet/mszip.h"

#include "engine/base/memory.h"

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
    /* Z_NEED_DICT is no answer to a stream without zlib's head. */
    if (rc == Z_STREAM_END || rc == Z_OK || rc == Z_BUF_ERROR || rc == Z_DATA_ERROR)
        return rc == Z_STREAM_END && !m->z.avail_out ? S_OK : S_FALSE;
    return unpack_failed(rc);
}

void mszip_end(struct mszip *m)
{
    if (m->z.state)
        (void)inflateEnd(&m->z);
}

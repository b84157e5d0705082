/* SPDX-License-Identifier: MIT */
/* Compresses a response as gzip (RFC 1952) with zlib. */
#include "cli/http/http.h"
#include "engine/base/memory.h"

#include <limits.h>
#include <zlib.h>

enum {
    LEVEL = 2, /* zlib's level. For pages of metrics, level 2 is as fast as level 1 and compresses better. The output
                  of level 6 is a fifth smaller, but level 6 takes three times as long */
    GZIP_FORMAT = 16, /* added to WINDOW_BITS: makes zlib write gzip */
    WINDOW_BITS = 15, /* zlib's largest window; with zlib's default memory level it takes 256 KB */
    MEMORY_LEVEL = 8,
    SMALL_BYTES = 32768, /* for inputs up to this size, half the memory makes zlib twice as fast, and the output is
                            not larger */
    FIRST_BYTES = 4096,  /* initial size of the output buffer, which is doubled as needed */
};

static void *gzip_alloc(void *user, unsigned count, unsigned size)
{
    (void)user;
    return memory_zero(count, size);
}

static void gzip_free(void *user, void *block)
{
    (void)user;
    memory_free(block);
}

/* Compresses all input of a stream. *out grows as needed. Therefore the size of *out depends on the size of the output,
   not on the size of the input. */
static HRESULT gzip_run(z_stream *z, char **out, size_t *out_size)
{
    size_t capacity = FIRST_BYTES, size = 0;
    int result = Z_OK;
    do {
        char *larger = memory_resize(*out, capacity);
        if (!larger)
            return E_OUTOFMEMORY;
        *out = larger;
        z->next_out = (Bytef *)larger + size;
        z->avail_out = (uInt)(capacity - size);
        result = deflate(z, Z_FINISH);
        size = capacity - z->avail_out;
        capacity *= 2;
    } while (result == Z_OK && capacity <= UINT_MAX);
    *out_size = size;
    return result == Z_STREAM_END ? S_OK : E_FAIL;
}

HRESULT http_gzip(const char *bytes, size_t size, char **out, size_t *out_size)
{
    z_stream z = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size, .zalloc = gzip_alloc, .zfree = gzip_free};
    *out = NULL;
    if (size > UINT_MAX)
        return E_INVALIDARG;
    const int less = size <= SMALL_BYTES;
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW_BITS - less + GZIP_FORMAT, MEMORY_LEVEL - less,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return E_OUTOFMEMORY;
    const HRESULT hr = gzip_run(&z, out, out_size);
    (void)deflateEnd(&z); /* fails if the stream is incomplete, which gzip_run has already reported */
    if (SUCCEEDED(hr))
        return S_OK;
    memory_free(*out);
    *out = NULL;
    return hr;
}

/* SPDX-License-Identifier: MIT */
/* An image with random headers and imports is rejected with an error text, or gets one import that can be found again.
 */
#include "engine/base/memory.h"
#include "engine/etw/injection.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCK = 0x100000 };

struct memory {
    const uint8_t *image, *block;
    size_t image_size, block_size;
};

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* Beyond the data an image is zero up to its last page. */
static HRESULT read_memory(void *user, uint64_t offset, void *to, size_t size)
{
    const struct memory *m = user;
    const size_t end = (m->image_size + 4095) & ~(size_t)4095;
    memset(to, 0, size);
    if (offset >= BLOCK && offset - BLOCK <= m->block_size && size <= m->block_size - (offset - BLOCK))
        memcpy(to, m->block + (offset - BLOCK), size);
    else if (offset > end || size > end - offset)
        return E_FAIL;
    else if (offset < m->image_size)
        memcpy(to, m->image + offset, size < m->image_size - offset ? size : m->image_size - offset);
    return S_OK;
}

static void insert(struct memory *m, struct injection_image *image)
{
    const struct injection_source source = {read_memory, m};
    struct injection_block block;
    struct injection_entries before;
    bool children;
    injection_image_has_import(&source, image, &children, &before);
    HRESULT hr = injection_block_make(&source, image, "x", "C:\\openetw.dll", INJECTION_ENTRY, &block);
    expect(hr == S_OK || hr == HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT));
    if (FAILED(hr))
        return;
    expect(block.directory <= block.size);
    injection_block_place(&block, BLOCK);
    m->block = block.bytes;
    m->block_size = block.size;
    image->entries.imports = BLOCK;
    expect(injection_image_has_import(&source, image, &children, &before) == S_OK && !children);
    memory_free(block.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A header that is valid as far as necessary, so that random bytes reach the imports. */
    static uint8_t bytes[4096];
    struct memory m = {.image = data, .image_size = size};
    struct injection_image image;
    for (int round = 0; round < 2; round++) {
        const struct injection_source source = {read_memory, &m};
        if (SUCCEEDED(injection_image_read(&source, "x", &image)))
            insert(&m, &image);
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes + 256, data, size < sizeof bytes - 256 ? size : sizeof bytes - 256);
        memcpy(bytes, "MZ", 2);
        bytes[60] = 0;
        bytes[61] = 1;
        memcpy(bytes + 256, "PE\0\0\x64\x86", 6);
        memcpy(bytes + 280, "\x0B\x02", 2);
        m = (struct memory){.image = bytes, .image_size = sizeof bytes};
    }
    return 0;
}

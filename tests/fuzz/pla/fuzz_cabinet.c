/* SPDX-License-Identifier: MIT */
/* Any bytes as a cabinet, and as deflated data: no crash. An accepted cabinet has names that stay below a folder, and
   the number of bytes that it declares. The first byte selects whether the rest is a whole cabinet, its only block, or
   pairs of an offset and a value that are written into a valid cabinet. */
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pla/cabinet/cabinet_format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct cabinet *c;
    uint64_t bytes, all;
    bool begun;
};

static void must(bool right)
{
    if (!right)
        abort();
}

static HRESULT on_begin(void *user, size_t entry)
{
    struct seen *s = user;
    must(!s->begun && entry < cabinet_count(s->c));
    s->begun = true;
    s->bytes = 0;
    return S_OK;
}

static HRESULT on_bytes(void *user, size_t entry, const uint8_t *data, size_t size)
{
    struct seen *s = user;
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++) /* checks that all bytes can be read */
        sum ^= data[i];
    s->bytes += size;
    must(s->begun && s->bytes <= cabinet_entry_at(s->c, entry)->size && (sum == 0 || size != 0));
    return S_OK;
}

static HRESULT on_end(void *user, size_t entry)
{
    struct seen *s = user;
    must(s->begun && s->bytes == cabinet_entry_at(s->c, entry)->size);
    s->begun = false;
    s->all += s->bytes;
    return S_OK;
}

static void read_cabinet(struct file *f)
{
    static const struct cabinet_limits limits = {.bytes = 1 << 20, .files = 1000};
    struct seen s = {0};
    if (FAILED(cabinet_open_file(f, "fuzz", &limits, &s.c)))
        return;
    uint64_t whole = 0;
    for (size_t i = 0; i < cabinet_count(s.c); i++) {
        const struct cabinet_entry *entry = cabinet_entry_at(s.c, i);
        must(!cabinet_name_fault(entry->name) && entry->name[0] != '/' && !strpbrk(entry->name, "\\:"));
        whole += entry->size;
    }
    must(whole <= limits.bytes);
    const struct cabinet_visitor visitor = {on_begin, on_bytes, on_end, &s};
    if (SUCCEEDED(cabinet_visit(s.c, &visitor, NULL)))
        must(s.all == whole && !s.begun);
    cabinet_close(s.c);
}

/* Builds a cabinet around the block: one folder, one entry, one block. */
static size_t around_block(const uint8_t *block, size_t size, uint8_t bits, uint8_t *out)
{
    static const char name[] = "a\\b.txt";
    const size_t row = CABINET_HEADER_BYTES + CABINET_FOLDER_BYTES, at = row + CABINET_FILE_BYTES + sizeof name;
    const uint16_t unpacked = (uint16_t)(1 + bits * 64);
    memset(out, 0, at + CABINET_BLOCK_BYTES);
    put_u32(out, CABINET_SIGNATURE);
    put_u32(out + HEADER_SIZE, (uint32_t)(at + CABINET_BLOCK_BYTES + size));
    put_u32(out + HEADER_FILES_AT, (uint32_t)row);
    out[HEADER_VERSION + 1] = 1;
    put_u16(out + HEADER_FOLDERS, 1);
    put_u16(out + HEADER_FILES, 1);
    put_u32(out + CABINET_HEADER_BYTES + FOLDER_DATA_AT, (uint32_t)at);
    put_u16(out + CABINET_HEADER_BYTES + FOLDER_BLOCKS, 1);
    put_u16(out + CABINET_HEADER_BYTES + FOLDER_PACKING, CABINET_MSZIP);
    put_u32(out + row + FILE_SIZE, unpacked);
    memcpy(out + row + CABINET_FILE_BYTES, name, sizeof name);
    put_u16(out + at + BLOCK_PACKED, (uint16_t)size);
    put_u16(out + at + BLOCK_UNPACKED, unpacked);
    memcpy(out + at + CABINET_BLOCK_BYTES, block, size);
    return at + CABINET_BLOCK_BYTES + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct file *f;
    static struct mszip mszip; /* kept from one input to the next, as it is kept from block to block */
    static uint8_t made[1 << 16], unpacked[2 * CABINET_BLOCK_MAX];
    if (!f)
        must(file_open_scratch(&f) == S_OK);
    if (size < 2 || size > CABINET_BLOCK_MAX)
        return 0;
    const uint8_t kind = data[0] % 4, bits = data[1];
    if (kind == 1) {
        /* Calls the unpacker directly, with an existing history. */
        (void)mszip_unpack(&mszip, data + 2, size - 2, unpacked + CABINET_BLOCK_MAX, bits * 16u, data[0] * 64u);
        size = around_block(data + 2, size - 2, bits, made);
        data = made;
    } else if (kind == 2) {
        static const uint8_t block[] = {'C', 'K', 1, 1, 0, 0xFE, 0xFF, 'a'};
        const size_t length = around_block(block, sizeof block, 0, made);
        for (size_t i = 1; i + 1 < size; i += 2)
            made[data[i] % length] = data[i + 1];
        size = length;
        data = made;
    }
    must(file_set_size(f, 0) == S_OK && file_write_at(f, 0, data, size) == S_OK);
    read_cabinet(f);
    return 0;
}

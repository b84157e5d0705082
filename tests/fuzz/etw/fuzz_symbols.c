/* SPDX-License-Identifier: MIT */
/* Corrupt PDB files and images: the readable parts are read, without access outside the file, and each function that is
   found has a name and begins at or before its address. The first byte of the input selects a valid file, which the
   rest changes (16-bit offset, byte), or makes the rest the file itself. */
#include "engine/base/memory.h"
#include "engine/etw/symbols/image_file.h"
#include "engine/etw/symbols/pdb_file.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_BYTES = 1 << 16, SMALLEST = 512, STREAMS = 8 };
static const char magic[] = "Microsoft C/C++ MSF 7.00\r\n\x1A"
                            "DS\0\0";

struct bytes {
    uint8_t at[FILE_BYTES];
    size_t size;
};

static void add(struct bytes *b, const void *bytes, size_t size)
{
    if (size > FILE_BYTES - b->size)
        abort();
    if (bytes)
        memcpy(b->at + b->size, bytes, size);
    else
        memset(b->at + b->size, 0, size);
    b->size += size;
}

static void add_u32(struct bytes *b, uint32_t value)
{
    uint8_t bytes[4];
    put_u32(bytes, value);
    add(b, bytes, 4);
}

/* ---- a PDB file with two sections, a module with two functions and a thunk, and two public symbols ---- */

static void add_record(struct bytes *b, uint16_t kind, const uint8_t *fixed, size_t size, const char *name)
{
    uint8_t head[4];
    const size_t whole = (size + strlen(name) + 1 + 3) & ~(size_t)3;
    put_u16(head, (uint16_t)(2 + whole));
    put_u16(head + 2, kind);
    add(b, head, 4);
    add(b, fixed, size);
    add(b, name, strlen(name) + 1);
    add(b, NULL, whole - size - strlen(name) - 1);
}

static void make_streams(struct bytes streams[STREAMS], bool moved)
{
    uint8_t dbi[64] = {0}, module[64] = {0}, proc[35] = {0}, public[10] = {0}, thunk[21] = {0}, section[40] = {0};
    add(&streams[1], NULL, 28);
    put_u16(dbi + 20, 6);  /* public symbols */
    put_u32(dbi + 24, 72); /* modules */
    put_u32(dbi + 28, 4 + 28);
    put_u32(dbi + 48, 22);
    add(&streams[3], dbi, sizeof dbi);
    put_u16(module + 34, 7);
    put_u32(module + 36, 4 + 2 * 48 + 28);
    add(&streams[3], module, sizeof module);
    add(&streams[3], "m\0o\0\0\0\0\0", 8);
    add_u32(&streams[3], 0xF12EBA2Du);
    const uint32_t contribution[7] = {1, 0, 0x800, 0x60000020, 0, 0, 0};
    for (int i = 0; i < 7; i++)
        add_u32(&streams[3], contribution[i]);
    uint8_t numbers[22];
    memset(numbers, 0xFF, sizeof numbers);
    put_u16(numbers + 10, 5);
    if (moved) {
        put_u16(numbers + 8, 4);
        put_u16(numbers + 20, 5);
        for (uint32_t i = 0; i < 4; i++) {
            add_u32(&streams[4], 0x1000 + 0x40 * i);
            add_u32(&streams[4], i == 2 ? 0 : 0x2000 - 0x40 * i);
        }
    }
    add(&streams[3], numbers, sizeof numbers);
    put_u32(section + 12, 0x1000);
    put_u32(section + 36, 0x60000020);
    add(&streams[5], section, sizeof section);
    add(&streams[5], NULL, sizeof section);
    for (uint32_t i = 0; i < 2; i++) {
        put_u32(public + 4, 0x10 * i);
        put_u16(public + 8, 1);
        add_record(&streams[6], 0x110E, public, sizeof public, i ? "?second@@YA" : "first");
    }
    add_u32(&streams[7], 4);
    put_u16(proc + 32, 1);
    for (uint32_t i = 0; i < 2; i++) {
        put_u32(proc + 12, 0x10);
        put_u32(proc + 28, 0x20 * i);
        add_record(&streams[7], i ? 0x1110 : 0x110F, proc, sizeof proc, "inner");
    }
    put_u32(thunk + 12, 0x60);
    put_u16(thunk + 16, 1);
    put_u16(thunk + 18, 6);
    add_record(&streams[7], 0x1102, thunk, sizeof thunk, "t");
}

static void make_pdb(struct bytes *out, unsigned which)
{
    static struct bytes streams[STREAMS], directory;
    const size_t block = (size_t)SMALLEST << (which & 3);
    memset(streams, 0, sizeof streams);
    directory.size = 0;
    make_streams(streams, which & 4);
    *out = (struct bytes){.size = 3 * block};
    add_u32(&directory, STREAMS);
    for (int i = 0; i < STREAMS; i++)
        add_u32(&directory, (uint32_t)streams[i].size);
    for (int i = 0; i < STREAMS; i++)
        for (size_t at = 0; at < streams[i].size; at += block) {
            const size_t left = streams[i].size - at < block ? streams[i].size - at : block;
            add_u32(&directory, (uint32_t)(out->size / block));
            add(out, streams[i].at + at, left);
            add(out, NULL, block - left);
        }
    const uint32_t first = (uint32_t)(out->size / block);
    add(out, directory.at, directory.size);
    add(out, NULL, (block - out->size % block) % block);
    const uint32_t map = (uint32_t)(out->size / block), count = (uint32_t)((directory.size + block - 1) / block);
    for (uint32_t i = 0; i < count; i++)
        add_u32(out, first + i);
    add(out, NULL, (block - out->size % block) % block);
    memcpy(out->at, magic, 32);
    const uint32_t head[6] = {(uint32_t)block, 1, (uint32_t)(out->size / block), (uint32_t)directory.size, 0, map};
    for (int i = 0; i < 6; i++)
        put_u32(out->at + 32 + 4 * i, head[i]);
}

/* ---- an image with an export, two functions, a symbol table and the name of its PDB ---- */

static void make_image(struct bytes *out)
{
    enum {
        PE = 64,
        OPTIONAL = PE + 24,
        DIRECTORIES = OPTIONAL + 112,
        SECTION = OPTIONAL + 240,
        DATA = 512,
        AT = 0x1000
    };
    *out = (struct bytes){.size = 2048};
    uint8_t *b = out->at, *d = b + DATA;
    memcpy(b, "MZ", 2);
    put_u32(b + 60, PE);
    memcpy(b + PE, "PE\0\0\x64\x86\1", 7);
    put_u32(b + PE + 8, 77);
    put_u32(b + PE + 12, 1024); /* symbol table */
    put_u32(b + PE + 16, 2);
    put_u16(b + PE + 20, 240);
    put_u16(b + OPTIONAL, 0x20B);
    put_u32(b + OPTIONAL + 56, 0x2000);
    put_u32(b + DIRECTORIES - 4, 16);
    put_u32(b + DIRECTORIES, AT);
    put_u32(b + DIRECTORIES + 4, 40);
    put_u32(b + DIRECTORIES + 24, AT + 128);
    put_u32(b + DIRECTORIES + 28, 24);
    put_u32(b + DIRECTORIES + 48, AT + 160);
    put_u32(b + DIRECTORIES + 52, 28);
    put_u32(b + SECTION + 12, AT);
    put_u32(b + SECTION + 16, 512);
    put_u32(b + SECTION + 20, DATA);
    put_u32(d + 20, 1);
    put_u32(d + 24, 1);
    put_u32(d + 28, AT + 64);
    put_u32(d + 32, AT + 72);
    put_u32(d + 36, AT + 80);
    put_u32(d + 64, AT + 0x100);
    put_u32(d + 72, AT + 96);
    memcpy(d + 96, "Exported", 9);
    for (uint32_t i = 0; i < 2; i++) {
        put_u32(d + 128 + 12 * i, AT + 0x100 + 0x20 * i);
        put_u32(d + 132 + 12 * i, AT + 0x120 + 0x20 * i);
    }
    put_u32(d + 160 + 12, 2);
    put_u32(d + 160 + 16, 24 + 8);
    put_u32(d + 160 + 24, DATA + 200);
    memcpy(d + 200, "RSDS", 4);
    memcpy(d + 224, "c:\\x.pdb", 8);
    uint8_t *symbols = b + 1024;
    memcpy(symbols, "short", 5);
    put_u32(symbols + 8, 0x120);
    put_u16(symbols + 12, 1);
    put_u16(symbols + 14, 0x20);
    put_u32(symbols + 18 + 4, 4);
    put_u32(symbols + 18 + 8, 0x140);
    put_u16(symbols + 18 + 12, 1);
    put_u16(symbols + 18 + 14, 0x20);
    memcpy(symbols + 36 + 4, "a_longer_name", 14);
}

/* ---- */

static HRESULT read_bytes(void *context, uint64_t offset, void *bytes, size_t size)
{
    const struct bytes *b = context;
    if (offset > b->size || size > b->size - offset)
        return E_FAIL;
    memcpy(bytes, b->at + offset, size);
    return S_OK;
}

static unsigned check(struct symbol_table *t)
{
    const char *name;
    uint64_t from;
    unsigned found = 0;
    symbol_table_sort(t);
    for (size_t i = 0; i < t->count; i++) {
        const uint64_t at = t->rows[i].at;
        for (uint64_t more = 0; more < 40; more += 13) {
            if (!symbol_table_find(t, at + more, &name, &from))
                continue;
            found += more == 0;
            if (!*name || from > at + more)
                abort();
        }
    }
    if (symbol_table_find(t, UINT64_MAX, &name, &from))
        abort();
    symbol_table_free(t);
    return found;
}

static unsigned read_pdb(struct bytes *file)
{
    const struct pdb_source source = {read_bytes, file, file->size};
    struct pdb_identity id;
    struct symbol_table t = {0};
    (void)pdb_read_identity(&source, &id);
    (void)pdb_read_symbols(&source, &t);
    return check(&t);
}

/* Reads a copy in a block of exactly its size, so that the sanitizer detects reads beyond its end. */
static unsigned read_image(const struct bytes *file)
{
    struct image_facts facts;
    struct symbol_table t = {0};
    uint8_t *bytes = memory_copy(file->at, file->size);
    if (!bytes)
        abort();
    if (SUCCEEDED(image_read_facts(bytes, file->size, &facts)) && !memchr(facts.symbols, 0, sizeof facts.symbols))
        abort();
    (void)image_read_symbols(bytes, file->size, &t);
    memory_free(bytes);
    return check(&t);
}

enum { PDBS = 8 };
static struct bytes valid[PDBS + 1]; /* the image last */

static void make_valid(void)
{
    for (unsigned i = 0; i < PDBS; i++) {
        make_pdb(&valid[i], i);
        if (read_pdb(&valid[i]) < 3)
            abort();
    }
    make_image(&valid[PDBS]);
    if (read_image(&valid[PDBS]) != 3)
        abort();
}

static void copy_valid(struct bytes *out, unsigned which)
{
    memcpy(out->at, valid[which].at, valid[which].size);
    out->size = valid[which].size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct bytes file;
    if (valid[0].size == 0)
        make_valid();
    if (size == 0)
        return 0;
    const uint8_t which = data[0];
    file.size = 0;
    if (which & 0x20)
        add(&file, which & 0x10 ? "MZ" : magic, which & 0x10 ? 0 : 32);
    else if (which & 0x10)
        copy_valid(&file, PDBS);
    else
        copy_valid(&file, which % PDBS);
    data++;
    size--;
    if (which & 0x20)
        add(&file, data, size < FILE_BYTES - 64 ? size : FILE_BYTES - 64);
    for (; !(which & 0x20) && size >= 3; data += 3, size -= 3)
        file.at[get_u16(data) % file.size] = data[2];
    (void)((which & 0x10) ? read_image(&file) : read_pdb(&file));
    return 0;
}

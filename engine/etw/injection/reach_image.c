/* SPDX-License-Identifier: MIT */
/* Images of programs. Offsets are those of the PE format as published (PE32+ where not said otherwise). */
#include "engine/etw/reach_image.h"

#include "engine/base/memory.h"

#include <string.h>

#define BAD_FORMAT HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT)

enum {
    DOS_BYTES = 64,
    DOS_NEW_HEADER = 60, /* where the offset of the PE header is */
    MACHINE = 4,         /* of the PE header */
    CHARACTERISTICS = 22,
    IS_DLL = 0x2000,
    MAGIC = 24,
    IMAGE_BYTES = 80,
    DIRECTORY_COUNT = 132,
    DIRECTORIES = 136,
    DIRECTORY_COUNT_32 = 116,
    DIRECTORIES_32 = 120,
    PE_BYTES = 256, /* header to read: with 15 directories */
    DIRECTORY_IMPORT = 1,
    DIRECTORY_BOUND = 11,
    DIRECTORY_NET = 14,
    MAGIC_32 = 0x10B,
    MAGIC_64 = 0x20B,
    MACHINE_X64 = 0x8664,
    DESCRIPTOR = 20, /* bytes of one import descriptor: names, time, chain, name of the DLL, table */
    DESCRIPTOR_NAME = 12,
    DESCRIPTOR_TABLE = 16,
    /* Behind our directory: names and table of our import with their ends, then what the headers said. */
    TABLES = 32,
    ENTRIES = 16,
    PAGE = 4096,
    MOST_DESCRIPTORS = 65536,
};

static uint32_t get16(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) | get16(p + 2) << 16;
}

static void put32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

static void add32(uint8_t *p, uint32_t value)
{
    put32(p, get32(p) + value);
}

static HRESULT damaged(const char *name)
{
    return error_set(BAD_FORMAT, "\"%s\": is damaged: its headers end too early or contradict each other", name);
}

HRESULT reach_image_read(const struct reach_source *from, const char *name, struct reach_image *out)
{
    uint8_t dos[DOS_BYTES], pe[PE_BYTES];
    if (FAILED(from->read(from->user, 0, dos, 2)) || memcmp(dos, "MZ", 2) != 0)
        return error_set(BAD_FORMAT, "\"%s\": is no Windows program", name);
    if (FAILED(from->read(from->user, 0, dos, sizeof dos)))
        return error_set(BAD_FORMAT, "\"%s\": is a program for DOS", name);
    const uint32_t at = get32(dos + DOS_NEW_HEADER);
    if (FAILED(from->read(from->user, at, pe, 4)) || memcmp(pe, "PE\0", 4) != 0)
        return error_set(BAD_FORMAT, "\"%s\": is a program for DOS or 16-bit Windows", name);
    if (FAILED(from->read(from->user, at, pe, sizeof pe)))
        return damaged(name);
    const uint32_t magic = get16(pe + MAGIC), machine = get16(pe + MACHINE);
    const bool wide = magic == MAGIC_64;
    if (!wide && magic != MAGIC_32)
        return damaged(name);
    const uint32_t count = get32(pe + (wide ? DIRECTORY_COUNT : DIRECTORY_COUNT_32));
    const uint8_t *directories = pe + (wide ? DIRECTORIES : DIRECTORIES_32);
    if (get16(pe + CHARACTERISTICS) & IS_DLL)
        return error_set(BAD_FORMAT, "\"%s\": is a DLL", name);
    if (count > DIRECTORY_NET && get32(directories + 8 * DIRECTORY_NET))
        return error_set(BAD_FORMAT, "\"%s\": is a .NET program, whose imports Wine does not look at", name);
    if (!wide)
        return error_set(BAD_FORMAT, "\"%s\": is a 32-bit program; only 64-bit ones can be reached", name);
    if (machine != MACHINE_X64)
        return error_set(BAD_FORMAT, "\"%s\": is a program for another processor (machine 0x%04X)", name,
                         (unsigned)machine);
    if (count <= DIRECTORY_IMPORT)
        return error_set(BAD_FORMAT, "\"%s\": its headers have no place for imports", name);
    const uint32_t first = at + DIRECTORIES;
    out->size = get32(pe + IMAGE_BYTES);
    out->import_entry = first + 8 * DIRECTORY_IMPORT;
    out->bound_entry = count > DIRECTORY_BOUND ? first + 8 * DIRECTORY_BOUND : 0;
    out->entries = (struct reach_entries){.imports = get32(directories + 8 * DIRECTORY_IMPORT),
                                          .imports_size = get32(directories + 8 * DIRECTORY_IMPORT + 4)};
    if (out->bound_entry) {
        out->entries.bound = get32(directories + 8 * DIRECTORY_BOUND);
        out->entries.bound_size = get32(directories + 8 * DIRECTORY_BOUND + 4);
    }
    return out->size < PE_BYTES || at > out->size - PE_BYTES ? damaged(name) : S_OK;
}

HRESULT reach_image_is_reached(const struct reach_source *from, const struct reach_image *image, bool *children,
                               struct reach_entries *before)
{
    uint8_t descriptor[DESCRIPTOR], thunk[8], entries[ENTRIES];
    *children = false;
    char function[sizeof REACH_ENTRY_CHILDREN] = "";
    if (!image->entries.imports ||
        FAILED(from->read(from->user, image->entries.imports, descriptor, sizeof descriptor)) || !get32(descriptor) ||
        FAILED(from->read(from->user, get32(descriptor), thunk, sizeof thunk)) ||
        get32(thunk + 4)) /* by number, or beyond every image */
        return S_FALSE;
    /* The shorter name first: it may be the last of its memory. */
    const uint64_t at = (uint64_t)get32(thunk) + 2;
    if (FAILED(from->read(from->user, at, function, sizeof REACH_ENTRY)))
        return S_FALSE;
    if (function[sizeof REACH_ENTRY - 1] && FAILED(from->read(from->user, at, function, sizeof function)))
        return S_FALSE;
    function[sizeof function - 1] = 0;
    *children = strcmp(function, REACH_ENTRY_CHILDREN) == 0;
    if ((!*children && strcmp(function, REACH_ENTRY) != 0) ||
        FAILED(from->read(from->user, (uint64_t)get32(descriptor) + TABLES, entries, sizeof entries)))
        return S_FALSE;
    *before = (struct reach_entries){get32(entries), get32(entries + 4), get32(entries + 8), get32(entries + 12)};
    return S_OK;
}

/* The descriptors of the image, without the empty one at their end, behind `used` bytes that are left free. */
static HRESULT read_descriptors(const struct reach_source *from, const struct reach_image *image, const char *name,
                                size_t used, uint8_t **out, size_t *count)
{
    uint8_t *all = NULL;
    size_t have = 0;
    *out = NULL;
    *count = 0;
    for (uint64_t at = image->entries.imports; image->entries.imports && *count < MOST_DESCRIPTORS;) {
        /* To the end of the page, which can be read where its beginning can. */
        const size_t more = PAGE - at % PAGE;
        uint8_t *grown = memory_resize(all, used + have + more);
        HRESULT hr = grown ? from->read(from->user, at, grown + used + have, more) : E_OUTOFMEMORY;
        all = grown ? grown : all;
        if (FAILED(hr)) {
            memory_free(all);
            return hr == E_OUTOFMEMORY ? hr : damaged(name);
        }
        have += more;
        at += more;
        for (; (*count + 1) * DESCRIPTOR <= have; ++*count) {
            const uint8_t *d = all + used + *count * DESCRIPTOR;
            if (!get32(d + DESCRIPTOR_NAME) || !get32(d + DESCRIPTOR_TABLE)) {
                *out = all;
                return S_OK;
            }
        }
    }
    memory_free(all);
    return image->entries.imports ? damaged(name) : S_OK;
}

/* Bytes of a text with its NUL, rounded up. */
static size_t text_room(const char *text)
{
    return (strlen(text) + 8) & ~(size_t)7;
}

HRESULT reach_block_make(const struct reach_source *from, const struct reach_image *image, const char *name,
                         const char *dll, const char *function, struct reach_block *out)
{
    uint8_t *all;
    size_t count;
    HRESULT hr = read_descriptors(from, image, name, DESCRIPTOR, &all, &count);
    if (FAILED(hr))
        return hr;
    const size_t directory = (count + 2) * DESCRIPTOR, tables = (directory + 7) & ~(size_t)7,
                 path = tables + TABLES + ENTRIES, hint = path + text_room(dll), size = hint + 2 + text_room(function);
    uint8_t *bytes = memory_resize(all, size);
    if (!bytes) {
        memory_free(all);
        return E_OUTOFMEMORY;
    }
    memset(bytes, 0, DESCRIPTOR);
    memset(bytes + directory - DESCRIPTOR, 0, size - (directory - DESCRIPTOR));
    put32(bytes, (uint32_t)tables);                         /* names: one, and the end */
    put32(bytes + DESCRIPTOR_TABLE, (uint32_t)tables + 16); /* the table: the same */
    put32(bytes + DESCRIPTOR_NAME, (uint32_t)path);
    put32(bytes + tables, (uint32_t)hint);
    put32(bytes + tables + 16, (uint32_t)hint);
    put32(bytes + tables + TABLES, image->entries.imports);
    put32(bytes + tables + TABLES + 4, image->entries.imports_size);
    put32(bytes + tables + TABLES + 8, image->entries.bound);
    put32(bytes + tables + TABLES + 12, image->entries.bound_size);
    memcpy(bytes + path, dll, strlen(dll) + 1);
    memcpy(bytes + hint + 2, function, strlen(function) + 1);
    out->bytes = bytes;
    out->size = size;
    out->directory = (uint32_t)directory;
    return S_OK;
}

void reach_block_place(struct reach_block *block, uint32_t rva)
{
    uint8_t *tables = block->bytes + get32(block->bytes);
    add32(tables, rva);
    add32(tables + 16, rva);
    add32(block->bytes, rva);
    add32(block->bytes + DESCRIPTOR_TABLE, rva);
    add32(block->bytes + DESCRIPTOR_NAME, rva);
}

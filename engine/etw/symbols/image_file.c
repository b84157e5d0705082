/* SPDX-License-Identifier: MIT */
/* Reads the functions and the identity of PE images and ELF files. */
#include "engine/etw/symbols/image_file.h"

#include "engine/logs/little_endian.h"

#include <stdio.h>

enum { DOS_BYTES = 64, COFF_BYTES = 24, SECTION_BYTES = 40, SYMBOL_BYTES = 18, DEBUG_BYTES = 28, EXPORT_BYTES = 40 };
enum { DIRECTORY_EXPORT = 0, DIRECTORY_EXCEPTION = 3, DIRECTORY_DEBUG = 6, DEBUG_CODEVIEW = 2 };
enum { MACHINE_X64 = 0x8664, FUNCTION_TYPE = 0x20, MOST_ENTRIES = 1 << 20 };
enum {
    ELF_HEAD = 64,
    ELF_PROGRAM = 56,
    ELF_SECTION = 64,
    ELF_SYMBOL = 24,
    ELF_LOAD = 1,
    ELF_NOTE = 4,
    NOTE_HEAD = 12,
    NOTE_BUILD_ID = 3,
    ELF_SYMTAB = 2,
    ELF_DYNSYM = 11,
    ELF_FUNCTION = 2
};

static HRESULT not_an_image(const char *why, unsigned long long value)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT), "not a valid program or DLL: %s (%llu)", why, value);
}

/* ---- PE ---- */

struct pe {
    const uint8_t *bytes;
    size_t size;
    const uint8_t *head; /* "PE\0\0" */
    const uint8_t *optional;
    const uint8_t *sections;
    uint32_t section_count, directories; /* directories: offset in the optional header */
    uint32_t directory_count;
};

static HRESULT pe_open(const uint8_t *bytes, size_t size, struct pe *p)
{
    *p = (struct pe){.bytes = bytes, .size = size};
    if (size < DOS_BYTES || bytes[0] != 'M' || bytes[1] != 'Z')
        return not_an_image("DOS header missing", size);
    const size_t at = get_u32(bytes + 60);
    if (at > size || size - at < COFF_BYTES || memcmp(bytes + at, "PE\0\0", 4) != 0)
        return not_an_image("PE header out of range", at);
    p->head = bytes + at;
    p->optional = p->head + COFF_BYTES;
    const size_t optional = get_u16(p->head + 20), left = size - at - COFF_BYTES;
    p->section_count = get_u16(p->head + 6);
    if (left < optional + (size_t)p->section_count * SECTION_BYTES || optional < 64)
        return not_an_image("section table out of range", p->section_count);
    p->sections = p->optional + optional;
    p->directories = get_u16(p->optional) == 0x20B ? 112 : 96;
    if (optional >= p->directories) {
        p->directory_count = get_u32(p->optional + p->directories - 4);
        const size_t room = (optional - p->directories) / 8;
        p->directory_count = p->directory_count < room ? p->directory_count : (uint32_t)room;
    }
    return S_OK;
}

/* Returns the `size` bytes at an offset of the image, or NULL if the file does not contain all of them. */
static const uint8_t *pe_at(const struct pe *p, uint32_t offset, uint64_t size)
{
    for (uint32_t i = 0; i < p->section_count; i++) {
        const uint8_t *s = p->sections + (size_t)i * SECTION_BYTES;
        const uint32_t address = get_u32(s + 12), raw = get_u32(s + 16), at = get_u32(s + 20);
        if (offset < address || offset - address >= raw)
            continue;
        const uint64_t from = (uint64_t)at + (offset - address);
        return size <= raw - (offset - address) && from <= p->size && size <= p->size - from ? p->bytes + from : NULL;
    }
    return NULL;
}

/* Returns the text at an offset and its length. Returns NULL if the text has no NUL within `most` bytes of the file. */
static const char *pe_text(const struct pe *p, uint32_t offset, size_t most, size_t *length)
{
    const uint8_t *at = pe_at(p, offset, 1);
    if (!at)
        return NULL;
    const size_t left = (size_t)(p->bytes + p->size - at);
    const size_t room = left < most ? left : most;
    const uint8_t *end = memchr(at, 0, room);
    *length = end ? (size_t)(end - at) : 0;
    return end ? (const char *)at : NULL;
}

static bool pe_directory(const struct pe *p, uint32_t index, uint32_t *offset, uint32_t *size)
{
    if (index >= p->directory_count)
        return false;
    *offset = get_u32(p->optional + p->directories + 8 * (size_t)index);
    *size = get_u32(p->optional + p->directories + 8 * (size_t)index + 4);
    return *offset != 0 && *size != 0;
}

static HRESULT pe_exports(const struct pe *p, struct symbol_table *out)
{
    uint32_t offset, size;
    enum { MOST_NAME = 4096 };
    const uint8_t *d = pe_directory(p, DIRECTORY_EXPORT, &offset, &size) ? pe_at(p, offset, EXPORT_BYTES) : NULL;
    if (!d)
        return S_OK;
    const uint32_t functions = get_u32(d + 20), names = get_u32(d + 24);
    if (functions > MOST_ENTRIES || names > MOST_ENTRIES)
        return S_OK;
    const uint8_t *address = pe_at(p, get_u32(d + 28), 4 * (uint64_t)functions);
    const uint8_t *name = pe_at(p, get_u32(d + 32), 4 * (uint64_t)names);
    const uint8_t *ordinal = pe_at(p, get_u32(d + 36), 2 * (uint64_t)names);
    HRESULT hr = S_OK;
    for (uint32_t i = 0; address && name && ordinal && i < names && hr == S_OK; i++) {
        const uint32_t index = get_u16(ordinal + 2 * (size_t)i);
        const uint32_t at = index < functions ? get_u32(address + 4 * (size_t)index) : 0;
        size_t length;
        const char *text = pe_text(p, get_u32(name + 4 * (size_t)i), MOST_NAME, &length);
        /* Skip exports that are forwarded to another DLL. */
        if (at != 0 && text && (at < offset || at - offset >= size))
            hr = symbol_table_add(out, at, 0, text, length);
    }
    return FAILED(hr) ? hr : S_OK;
}

/* Adds the begin and end of each function, without names. */
static HRESULT pe_functions(const struct pe *p, struct symbol_table *out)
{
    enum { ROW = 12 };
    uint32_t offset, size;
    if (get_u16(p->head + 4) != MACHINE_X64 || !pe_directory(p, DIRECTORY_EXCEPTION, &offset, &size))
        return S_OK;
    const uint8_t *at = pe_at(p, offset, size);
    HRESULT hr = S_OK;
    for (uint32_t i = 0; at && i < size / ROW && hr == S_OK; i++) {
        const uint32_t begin = get_u32(at + (size_t)ROW * i), end = get_u32(at + (size_t)ROW * i + 4);
        if (end > begin)
            hr = symbol_table_add_extent(out, begin, end - begin);
    }
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT pe_symbols(const struct pe *p, struct symbol_table *out)
{
    const uint64_t at = get_u32(p->head + 12), count = get_u32(p->head + 16), texts = at + count * SYMBOL_BYTES;
    if (at == 0 || texts > p->size)
        return S_OK;
    HRESULT hr = S_OK;
    for (uint64_t i = 0; i < count && hr == S_OK; i++) {
        const uint8_t *s = p->bytes + at + i * SYMBOL_BYTES;
        const uint16_t section = get_u16(s + 12);
        const char *name = (const char *)s;
        size_t room = 8;
        i += s[17]; /* additional records of this symbol */
        if (get_u16(s + 14) != FUNCTION_TYPE || section == 0 || section > p->section_count)
            continue;
        if (get_u32(s) == 0) {
            const uint64_t text = texts + get_u32(s + 4);
            if (text >= p->size)
                continue;
            name = (const char *)p->bytes + text;
            room = (size_t)(p->size - text);
        }
        hr = symbol_table_add(
            out, (uint64_t)get_u32(p->sections + (section - 1) * (size_t)SECTION_BYTES + 12) + get_u32(s + 8), 0, name,
            room);
    }
    return FAILED(hr) ? hr : S_OK;
}

static void pe_codeview(const struct pe *p, struct image_facts *out)
{
    enum { RSDS = 24 };
    uint32_t offset, size;
    if (!pe_directory(p, DIRECTORY_DEBUG, &offset, &size))
        return;
    const uint8_t *rows = pe_at(p, offset, size);
    for (uint32_t i = 0; rows && i < size / DEBUG_BYTES && !out->has_symbols; i++) {
        const uint8_t *row = rows + (size_t)i * DEBUG_BYTES;
        const uint64_t at = get_u32(row + 24), bytes = get_u32(row + 16);
        if (get_u32(row + 12) != DEBUG_CODEVIEW || bytes < RSDS || at > p->size || bytes > p->size - at ||
            memcmp(p->bytes + at, "RSDS", 4) != 0)
            continue;
        const char *path = (const char *)p->bytes + at + RSDS, *name = path;
        const size_t room = (size_t)bytes - RSDS;
        const char *end = memchr(path, 0, room);
        end = end ? end : path + room;
        for (const char *c = path; c < end; c++)
            if (*c == '\\' || *c == '/')
                name = c + 1;
        if ((size_t)(end - name) >= sizeof out->symbols)
            continue;
        memcpy(&out->signature, p->bytes + at + 4, sizeof out->signature);
        out->age = get_u32(p->bytes + at + 20);
        memcpy(out->symbols, name, (size_t)(end - name));
        out->symbols[end - name] = 0;
        out->has_symbols = true;
    }
}

/* ---- ELF, of 64 bits ---- */

static bool is_elf(const uint8_t *bytes, size_t size)
{
    return size >= ELF_HEAD && memcmp(bytes,
                                      "\x7F"
                                      "ELF\2\1",
                                      6) == 0;
}

/* Returns a table of `count` rows, or NULL if the table is not completely in the file. */
static const uint8_t *elf_table(const uint8_t *bytes, size_t size, uint64_t at, uint64_t count, size_t row)
{
    return at <= size && count <= (size - at) / row ? bytes + at : NULL;
}

/* Returns the address of the file's first page, to which offsets in the image are relative. */
static uint64_t elf_base(const uint8_t *bytes, size_t size)
{
    const uint16_t count = get_u16(bytes + 56);
    const uint8_t *programs = elf_table(bytes, size, get_u64(bytes + 32), count, ELF_PROGRAM);
    for (uint16_t i = 0; programs && i < count; i++)
        if (get_u32(programs + (size_t)i * ELF_PROGRAM) == ELF_LOAD)
            return get_u64(programs + (size_t)i * ELF_PROGRAM + 16) & ~UINT64_C(0xFFF);
    return 0;
}

/* Reads the note {name size, size, type, "GNU", id}. Names and ids are padded to 4 bytes. */
static void elf_build_id(const uint8_t *note, uint64_t left, char out[2 * BUILD_ID + 1])
{
    while (left >= NOTE_HEAD) {
        const uint64_t name = ((uint64_t)get_u32(note) + 3) & ~UINT64_C(3), size = get_u32(note + 4),
                       padded = (size + 3) & ~UINT64_C(3);
        if (name > left - NOTE_HEAD || padded > left - NOTE_HEAD - name)
            return;
        const uint8_t *id = note + NOTE_HEAD + name;
        if (get_u32(note + 8) == NOTE_BUILD_ID && name == 4 && memcmp(note + NOTE_HEAD, "GNU", 4) == 0 && size >= 2 &&
            size <= BUILD_ID) {
            for (uint64_t i = 0; i < size; i++)
                snprintf(out + 2 * i, 3, "%02x", id[i]);
            return;
        }
        note = id + padded;
        left -= NOTE_HEAD + name + padded;
    }
}

static void elf_facts(const uint8_t *bytes, size_t size, struct image_facts *out)
{
    const uint16_t programs = get_u16(bytes + 56), sections = get_u16(bytes + 60);
    const uint8_t *p = elf_table(bytes, size, get_u64(bytes + 32), programs, ELF_PROGRAM);
    for (uint16_t i = 0; p && i < programs && !*out->build_id; i++, p += ELF_PROGRAM) {
        const uint64_t at = get_u64(p + 8), length = get_u64(p + 32);
        if (get_u32(p) == ELF_NOTE && at <= size && length <= size - at)
            elf_build_id(bytes + at, length, out->build_id);
    }
    const uint8_t *s = elf_table(bytes, size, get_u64(bytes + 40), sections, ELF_SECTION);
    for (uint16_t i = 0; s && i < sections; i++, s += ELF_SECTION)
        out->has_symbol_table |= get_u32(s + 4) == ELF_SYMTAB;
    out->base = elf_base(bytes, size);
    out->is_elf = true;
}

static HRESULT elf_rows(const uint8_t *bytes, size_t size, const uint8_t *section, const uint8_t *texts, uint64_t base,
                        struct symbol_table *out)
{
    const uint64_t count = get_u64(section + 32) / ELF_SYMBOL, text_at = get_u64(texts + 24),
                   text_size = get_u64(texts + 32);
    const uint8_t *rows = elf_table(bytes, size, get_u64(section + 24), count, ELF_SYMBOL);
    HRESULT hr = S_OK;
    if (!rows || text_at > size || text_size > size - text_at)
        return S_OK;
    for (uint64_t i = 0; i < count && hr == S_OK; i++) {
        const uint8_t *s = rows + i * ELF_SYMBOL;
        const uint32_t name = get_u32(s);
        const uint64_t value = get_u64(s + 8);
        if ((s[4] & 0xF) == ELF_FUNCTION && get_u16(s + 6) != 0 && value >= base && name < text_size)
            hr = symbol_table_add(out, value - base, get_u64(s + 16), (const char *)bytes + text_at + name,
                                  (size_t)(text_size - name));
    }
    return FAILED(hr) ? hr : S_OK;
}

static HRESULT elf_symbols(const uint8_t *bytes, size_t size, struct symbol_table *out)
{
    const uint16_t count = get_u16(bytes + 60);
    const uint8_t *sections = elf_table(bytes, size, get_u64(bytes + 40), count, ELF_SECTION);
    const uint64_t base = elf_base(bytes, size);
    HRESULT hr = S_OK;
    for (uint16_t i = 0; sections && i < count && SUCCEEDED(hr); i++) {
        const uint8_t *s = sections + (size_t)i * ELF_SECTION;
        const uint32_t type = get_u32(s + 4), texts = get_u32(s + 40);
        if ((type == ELF_SYMTAB || type == ELF_DYNSYM) && texts < count)
            hr = elf_rows(bytes, size, s, sections + (size_t)texts * ELF_SECTION, base, out);
    }
    return hr;
}

/* ---- either ---- */

HRESULT image_read_facts(const uint8_t *bytes, size_t size, struct image_facts *out)
{
    struct pe p;
    *out = (struct image_facts){0};
    if (is_elf(bytes, size)) {
        elf_facts(bytes, size, out);
        return S_OK;
    }
    const HRESULT hr = pe_open(bytes, size, &p);
    if (FAILED(hr))
        return hr;
    out->time = get_u32(p.head + 8);
    out->size = get_u32(p.optional + 56);
    pe_codeview(&p, out);
    return S_OK;
}

HRESULT image_read_symbols(const uint8_t *bytes, size_t size, struct symbol_table *out)
{
    struct pe p;
    if (is_elf(bytes, size))
        return elf_symbols(bytes, size, out);
    HRESULT hr = pe_open(bytes, size, &p);
    if (SUCCEEDED(hr))
        hr = pe_functions(&p, out);
    if (SUCCEEDED(hr))
        hr = pe_symbols(&p, out);
    return SUCCEEDED(hr) ? pe_exports(&p, out) : hr;
}

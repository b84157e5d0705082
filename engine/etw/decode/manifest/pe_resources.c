/* SPDX-License-Identifier: MIT */
/* Reads the resources of a program or DLL (headers, section table, directories with the three levels type, name,
   language) and writes a DLL that contains only resources. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/decode/manifest/wevt_template.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define HEAD_BYTES     4096u
#define LARGEST        (64u << 20) /* maximum size of the section */
#define MOST_RESOURCES 65536u      /* maximum number of entries that one search visits */
#define DOS_BYTES      64
#define COFF_BYTES     24 /* size of the COFF header, including the signature */
#define SECTION_BYTES  40
#define ENTRY_BYTES    8
#define IS_DIRECTORY   0x80000000u

static HRESULT not_a_program(const char *why, unsigned long long value)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT), "not a valid program or DLL: %s (%llu)", why, value);
}

void pe_resources_free(struct pe_resources *resources)
{
    memory_free(resources->section);
    *resources = (struct pe_resources){0};
}

struct place {
    uint64_t offset; /* offset in the file */
    size_t size;
};

/* Finds the section that contains the resource directory to which the headers refer. S_FALSE: no resources. */
static HRESULT find_section(const uint8_t *head, size_t size, struct pe_resources *out, struct place *where)
{
    if (size < DOS_BYTES || head[0] != 'M' || head[1] != 'Z')
        return not_a_program("DOS header missing", size);
    const size_t pe = get_u32(head + 60);
    if (pe > size || size - pe < COFF_BYTES || memcmp(head + pe, "PE\0\0", 4) != 0)
        return not_a_program("PE header out of range", pe);
    const size_t sections = get_u16(head + pe + 6), optional = get_u16(head + pe + 20), at = pe + COFF_BYTES;
    if (optional < 2 || size - at < optional + sections * SECTION_BYTES)
        return not_a_program("section table out of range", sections);
    const size_t directories = get_u16(head + at) == 0x20B ? 112 : 96;
    if (optional < directories + 24 || get_u32(head + at + directories - 4) < 3)
        return S_FALSE;
    const uint32_t wanted = get_u32(head + at + directories + 16);
    for (size_t i = 0; wanted && i < sections; i++) {
        const uint8_t *s = head + at + optional + i * SECTION_BYTES;
        const uint32_t address = get_u32(s + 12), virtual_size = get_u32(s + 8), raw = get_u32(s + 16);
        if (wanted < address || wanted - address >= (virtual_size > raw ? virtual_size : raw))
            continue;
        if (raw > LARGEST || wanted - address >= raw)
            return not_a_program("invalid size of the resource section", raw);
        out->address = address;
        out->root = wanted - address;
        *where = (struct place){get_u32(s + 20), raw};
        return S_OK;
    }
    return S_FALSE;
}

HRESULT pe_resources_read(const uint8_t *file, size_t size, struct pe_resources *out)
{
    struct place where;
    struct pe_resources found = {0};
    *out = found;
    HRESULT hr = find_section(file, size, &found, &where);
    if (hr != S_OK)
        return hr;
    if (where.offset > size || size - where.offset < where.size)
        return not_a_program("resource section out of range", where.offset);
    found.section = memory_copy(file + where.offset, where.size);
    found.size = where.size;
    if (!found.section)
        return E_OUTOFMEMORY;
    *out = found;
    return S_OK;
}

static HRESULT load_section(struct file *f, struct pe_resources *out)
{
    struct place where;
    size_t got;
    uint8_t *head = memory_alloc(HEAD_BYTES);
    HRESULT hr = head ? file_read_at(f, 0, head, HEAD_BYTES, &got) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = find_section(head, got, out, &where);
    memory_free(head);
    if (hr != S_OK)
        return hr;
    out->section = memory_alloc(where.size);
    out->size = where.size;
    if (!out->section)
        return E_OUTOFMEMORY;
    hr = file_read_at(f, where.offset, out->section, where.size, &got);
    return SUCCEEDED(hr) && got < where.size ? not_a_program("resource section out of range", where.offset) : hr;
}

HRESULT pe_resources_load(const char *path, struct pe_resources *out)
{
    struct file *f;
    *out = (struct pe_resources){0};
    HRESULT hr = file_open(path, FILE_READ, &f);
    if (FAILED(hr))
        return hr;
    hr = load_section(f, out);
    file_close(f);
    if (hr == HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT))
        hr = error_prefix(hr, "%s", path);
    if (hr != S_OK)
        pe_resources_free(out);
    return hr;
}

/* ---- directories ---- */

struct directory {
    size_t at, named, numbered;
};

static bool open_directory(const struct pe_resources *r, uint32_t offset, struct directory *d)
{
    const size_t at = (size_t)r->root + offset;
    if (at > r->size || r->size - at < 16)
        return false;
    *d = (struct directory){at + 16, get_u16(r->section + at + 12), get_u16(r->section + at + 14)};
    return (d->named + d->numbered) * ENTRY_BYTES <= r->size - d->at;
}

static bool has_name(const struct pe_resources *r, uint32_t offset, const char *name)
{
    const size_t at = (size_t)r->root + (offset & ~IS_DIRECTORY), length = strlen(name);
    if (at > r->size || r->size - at < 2 || get_u16(r->section + at) != length || r->size - at - 2 < 2 * length)
        return false;
    for (size_t i = 0; i < length; i++) {
        const uint16_t unit = get_u16(r->section + at + 2 + 2 * i);
        const int upper = unit >= 'a' && unit <= 'z' ? unit - 'a' + 'A' : unit;
        if (upper != name[i])
            return false;
    }
    return true;
}

static HRESULT give_data(const struct pe_resources *r, uint16_t language, uint32_t offset,
                         HRESULT (*each)(void *about, uint16_t language, const uint8_t *bytes, size_t size),
                         void *about)
{
    const size_t at = (size_t)r->root + offset;
    if (at > r->size || r->size - at < 16)
        return not_a_program("resource data out of range", at);
    const uint32_t address = get_u32(r->section + at), size = get_u32(r->section + at + 4);
    if (address < r->address || address - r->address > r->size || r->size - (address - r->address) < size)
        return not_a_program("resource data out of range", address);
    return each(about, language, r->section + (address - r->address), size);
}

HRESULT pe_resources_each(const struct pe_resources *r, const char *name, uint16_t number,
                          HRESULT (*each)(void *about, uint16_t language, const uint8_t *bytes, size_t size),
                          void *about)
{
    struct directory types, names, languages;
    size_t given = 0, visited = 0;
    HRESULT hr = S_OK;
    if (!open_directory(r, 0, &types))
        return not_a_program("resource directory missing", r->root);
    for (size_t i = 0; SUCCEEDED(hr) && i < types.named + types.numbered; i++) {
        const uint8_t *type = r->section + types.at + i * ENTRY_BYTES;
        const uint32_t id = get_u32(type), to = get_u32(type + 4);
        if (name ? !(id & IS_DIRECTORY) || !has_name(r, id, name) : id != number)
            continue;
        if (!(to & IS_DIRECTORY) || !open_directory(r, to & ~IS_DIRECTORY, &names))
            return not_a_program("invalid resource directory", to);
        for (size_t k = 0; SUCCEEDED(hr) && k < names.named + names.numbered; k++) {
            const uint32_t below = get_u32(r->section + names.at + k * ENTRY_BYTES + 4);
            if (++visited > MOST_RESOURCES || !(below & IS_DIRECTORY) ||
                !open_directory(r, below & ~IS_DIRECTORY, &languages))
                return not_a_program("invalid resource directory", below);
            for (size_t n = 0; SUCCEEDED(hr) && n < languages.named + languages.numbered; n++) {
                const uint8_t *entry = r->section + languages.at + n * ENTRY_BYTES;
                if (++given > MOST_RESOURCES)
                    return not_a_program("too many resources", given);
                hr = give_data(r, (uint16_t)get_u32(entry), get_u32(entry + 4), each, about);
            }
        }
    }
    return SUCCEEDED(hr) && !given ? S_FALSE : hr;
}

/* ---- a DLL with resources only: headers and one section with directories, names and data; no imports, no code ---- */

#define PE_AT        0x40
#define OPTIONAL_AT  (PE_AT + 24)
#define SECTION_AT   (OPTIONAL_AT + 112 + 16 * 8)
#define HEADERS      0x200
#define ADDRESS      0x1000 /* RVA of the section */
#define DIRECTORY    16
#define ENTRY        8
#define DATA_ENTRY   16
#define IS_DIRECTORY 0x80000000u

static bool same_type(const struct pe_resource *a, const struct pe_resource *b)
{
    return a->type_name && b->type_name ? strcmp(a->type_name, b->type_name) == 0
                                        : !a->type_name && !b->type_name && a->type_number == b->type_number;
}

static size_t of_type(const struct pe_resource *list, size_t count)
{
    size_t n = 1;
    while (n < count && same_type(list, list + n))
        n++;
    return n;
}

static size_t rounded(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

static void put_directory(uint8_t *at, size_t named, size_t numbered)
{
    put_u16(at + 12, (uint16_t)named);
    put_u16(at + 14, (uint16_t)numbered);
}

/* Writes the directories, then the data entries, then the names, then the data. */
static void write_section(uint8_t *section, const struct pe_resource *list, size_t count, size_t types, size_t named)
{
    size_t directory = DIRECTORY + types * ENTRY;
    size_t entries = directory + types * (DIRECTORY + ENTRY + DIRECTORY) + count * ENTRY;
    size_t names = entries + count * DATA_ENTRY, data = names, type = 0;
    for (size_t i = 0; i < count; i += of_type(list + i, count - i))
        data += list[i].type_name ? rounded(2 + 2 * strlen(list[i].type_name), 8) : 0;
    data = rounded(data, 8);
    put_directory(section, named, types - named);
    for (size_t i = 0, n; i < count; i += n, type++) {
        n = of_type(list + i, count - i);
        uint8_t *entry = section + DIRECTORY + type * ENTRY, *one = section + directory;
        put_u32(entry, list[i].type_name ? (uint32_t)names | IS_DIRECTORY : list[i].type_number);
        put_u32(entry + 4, (uint32_t)directory | IS_DIRECTORY);
        for (size_t k = 0; list[i].type_name && k <= strlen(list[i].type_name); k++)
            put_u16(section + names + 2 * k,
                    k ? (uint16_t)(unsigned char)list[i].type_name[k - 1] : (uint16_t)strlen(list[i].type_name));
        names += list[i].type_name ? rounded(2 + 2 * strlen(list[i].type_name), 8) : 0;
        put_directory(one, 0, 1);
        put_u32(one + DIRECTORY, 1);
        directory += DIRECTORY + ENTRY;
        put_u32(one + DIRECTORY + 4, (uint32_t)directory | IS_DIRECTORY);
        put_directory(section + directory, 0, n);
        for (size_t k = 0; k < n; k++) {
            uint8_t *language = section + directory + DIRECTORY + k * ENTRY, *item = section + entries;
            put_u32(language, list[i + k].language);
            put_u32(language + 4, (uint32_t)entries);
            put_u32(item, (uint32_t)(ADDRESS + data));
            put_u32(item + 4, (uint32_t)list[i + k].size);
            memcpy(section + data, list[i + k].bytes, list[i + k].size);
            entries += DATA_ENTRY;
            data += rounded(list[i + k].size, 8);
        }
        directory += DIRECTORY + n * ENTRY;
    }
}

static void write_headers(uint8_t *file, size_t section)
{
    uint8_t *optional = file + OPTIONAL_AT, *table = file + SECTION_AT;
    memcpy(file, "MZ", 2);
    put_u32(file + 60, PE_AT);
    memcpy(file + PE_AT, "PE\0\0", 4);
    put_u16(file + PE_AT + 4, 0x8664);     /* x64; any program can load it as data */
    put_u16(file + PE_AT + 6, 1);          /* number of sections */
    put_u16(file + PE_AT + 20, 112 + 128); /* size of the optional header */
    put_u16(file + PE_AT + 22, 0x2022);    /* a DLL, large addresses, executable */
    put_u16(optional, 0x20B);
    put_u32(optional + 8, (uint32_t)section); /* initialised data */
    put_u64(optional + 24, 0x180000000u);     /* image base */
    put_u32(optional + 32, 0x1000);           /* section alignment */
    put_u32(optional + 36, 0x200);            /* file alignment */
    put_u16(optional + 40, 6);                /* version of the operating system */
    put_u16(optional + 48, 6);                /* version of the subsystem */
    put_u32(optional + 56, (uint32_t)(ADDRESS + rounded(section, 0x1000)));
    put_u32(optional + 60, HEADERS);
    put_u16(optional + 68, 2);     /* subsystem: Windows GUI */
    put_u16(optional + 70, 0x140); /* relocatable, data is not executable */
    put_u32(optional + 108, 16);   /* number of directories */
    put_u32(optional + 112 + 16, ADDRESS);
    put_u32(optional + 112 + 20, (uint32_t)section);
    memcpy(table, ".rsrc", 5);
    put_u32(table + 8, (uint32_t)section);
    put_u32(table + 12, ADDRESS);
    put_u32(table + 16, (uint32_t)rounded(section, 0x200));
    put_u32(table + 20, HEADERS);
    put_u32(table + 36, 0x40000040); /* initialised data, readable */
}

HRESULT pe_resources_write(const struct pe_resource *list, size_t count, uint8_t **file, size_t *size)
{
    size_t types = 0, named = 0, section = DIRECTORY;
    for (size_t i = 0; i < count; i += of_type(list + i, count - i)) {
        types++;
        named += list[i].type_name != NULL;
        section += ENTRY + DIRECTORY + ENTRY + DIRECTORY +
                   (list[i].type_name ? rounded(2 + 2 * strlen(list[i].type_name), 8) : 0);
    }
    for (size_t i = 0; i < count; i++)
        section += ENTRY + DATA_ENTRY + rounded(list[i].size, 8);
    section += 8;
    *size = HEADERS + rounded(section, 0x200);
    *file = section < INT32_MAX ? memory_zero(*size, 1) : NULL;
    if (!*file)
        return E_OUTOFMEMORY;
    write_headers(*file, section);
    write_section(*file + HEADERS, list, count, types, named);
    return S_OK;
}

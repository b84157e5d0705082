/* SPDX-License-Identifier: MIT */
/* A DLL of resources alone: headers, and one section with directories, names and data. No import, no code. */
#include "engine/base/memory.h"
#include "engine/etw/decode/manifest/pe_resources.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define PE_AT        0x40
#define OPTIONAL_AT  (PE_AT + 24)
#define SECTION_AT   (OPTIONAL_AT + 112 + 16 * 8)
#define HEADERS      0x200
#define ADDRESS      0x1000 /* of the section in the image */
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

/* Directories, then entries of data, then names, then data. */
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
    put_u16(file + PE_AT + 4, 0x8664);     /* x64; as data any program loads it */
    put_u16(file + PE_AT + 6, 1);          /* sections */
    put_u16(file + PE_AT + 20, 112 + 128); /* bytes of the optional header */
    put_u16(file + PE_AT + 22, 0x2022);    /* a DLL, large addresses, executable */
    put_u16(optional, 0x20B);
    put_u32(optional + 8, (uint32_t)section); /* initialised data */
    put_u64(optional + 24, 0x180000000u);     /* base */
    put_u32(optional + 32, 0x1000);           /* alignment in the image */
    put_u32(optional + 36, 0x200);            /* and in the file */
    put_u16(optional + 40, 6);                /* of the system */
    put_u16(optional + 48, 6);                /* of the subsystem */
    put_u32(optional + 56, (uint32_t)(ADDRESS + rounded(section, 0x1000)));
    put_u32(optional + 60, HEADERS);
    put_u16(optional + 68, 2);     /* the subsystem: windows */
    put_u16(optional + 70, 0x140); /* may lie anywhere, no code in data */
    put_u32(optional + 108, 16);   /* directories */
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

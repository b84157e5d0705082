/* SPDX-License-Identifier: MIT */
/* Reading resources: headers, the section table, directories of three levels (type, name, language). */
#include "engine/etw/decode/manifest/pe_resources.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"

#include <string.h>

#define HEAD_BYTES     4096u
#define LARGEST        (64u << 20) /* bytes of the section */
#define MOST_RESOURCES 65536u      /* that one walk comes to */
#define DOS_BYTES      64
#define COFF_BYTES     24 /* with its signature */
#define SECTION_BYTES  40
#define ENTRY_BYTES    8
#define IS_DIRECTORY   0x80000000u

static HRESULT no_program(const char *why, unsigned long long value)
{
    return error_set(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT), "no program or DLL: %s (%llu)", why, value);
}

void pe_resources_free(struct pe_resources *resources)
{
    memory_free(resources->section);
    *resources = (struct pe_resources){0};
}

struct place {
    uint64_t offset; /* in the file */
    size_t size;
};

/* Where the section lies that the directory entry for resources points into. S_FALSE: there is none. */
static HRESULT find_section(const uint8_t *head, size_t size, struct pe_resources *out, struct place *where)
{
    if (size < DOS_BYTES || head[0] != 'M' || head[1] != 'Z')
        return no_program("it does not begin as one", size);
    const size_t pe = get_u32(head + 60);
    if (pe > size || size - pe < COFF_BYTES || memcmp(head + pe, "PE\0\0", 4) != 0)
        return no_program("its header lies outside", pe);
    const size_t sections = get_u16(head + pe + 6), optional = get_u16(head + pe + 20), at = pe + COFF_BYTES;
    if (optional < 2 || size - at < optional + sections * SECTION_BYTES)
        return no_program("its sections lie outside", sections);
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
            return no_program("the section of its resources has a size that cannot be", raw);
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
        return no_program("its resources lie outside", where.offset);
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
    return SUCCEEDED(hr) && got < where.size ? no_program("its resources lie outside", where.offset) : hr;
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
        return no_program("a resource lies outside", at);
    const uint32_t address = get_u32(r->section + at), size = get_u32(r->section + at + 4);
    if (address < r->address || address - r->address > r->size || r->size - (address - r->address) < size)
        return no_program("a resource lies outside", address);
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
        return no_program("its resources have no directory", r->root);
    for (size_t i = 0; SUCCEEDED(hr) && i < types.named + types.numbered; i++) {
        const uint8_t *type = r->section + types.at + i * ENTRY_BYTES;
        const uint32_t id = get_u32(type), to = get_u32(type + 4);
        if (name ? !(id & IS_DIRECTORY) || !has_name(r, id, name) : id != number)
            continue;
        if (!(to & IS_DIRECTORY) || !open_directory(r, to & ~IS_DIRECTORY, &names))
            return no_program("a directory of resources cannot be", to);
        for (size_t k = 0; SUCCEEDED(hr) && k < names.named + names.numbered; k++) {
            const uint32_t below = get_u32(r->section + names.at + k * ENTRY_BYTES + 4);
            if (++visited > MOST_RESOURCES || !(below & IS_DIRECTORY) ||
                !open_directory(r, below & ~IS_DIRECTORY, &languages))
                return no_program("a directory of resources cannot be", below);
            for (size_t n = 0; SUCCEEDED(hr) && n < languages.named + languages.numbered; n++) {
                const uint8_t *entry = r->section + languages.at + n * ENTRY_BYTES;
                if (++given > MOST_RESOURCES)
                    return no_program("it has too many resources", given);
                hr = give_data(r, (uint16_t)get_u32(entry), get_u32(entry + 4), each, about);
            }
        }
    }
    return SUCCEEDED(hr) && !given ? S_FALSE : hr;
}

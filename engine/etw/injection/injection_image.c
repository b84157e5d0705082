/* SPDX-License-Identifier: MIT */
/* Builds a larger import directory or export directory for an image. Offsets are from the published PE format (PE32+
   unless stated). */
#include "engine/base/memory.h"
#include "engine/etw/injection.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

#define BAD_FORMAT HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT)

enum {
    DOS_BYTES = 64,
    DOS_NEW_HEADER = 60, /* offset of the field that contains the PE header's offset */
    MACHINE = 4,         /* offsets in the PE header */
    CHARACTERISTICS = 22,
    IS_DLL = 0x2000,
    MAGIC = 24,
    IMAGE_BYTES = 80,
    DIRECTORY_COUNT = 132,
    DIRECTORIES = 136,
    DIRECTORY_COUNT_32 = 116,
    DIRECTORIES_32 = 120,
    PE_BYTES = 256, /* bytes of the header to read, including 15 directories */
    DIRECTORY_IMPORT = 1,
    DIRECTORY_BOUND = 11,
    DIRECTORY_NET = 14,
    MAGIC_32 = 0x10B,
    MAGIC_64 = 0x20B,
    MACHINE_X64 = 0x8664,
    MACHINE_X86 = 0x14C,
    DESCRIPTOR = 20, /* size of an import descriptor: five u32 for names, time, chain, DLL name and table */
    DESCRIPTOR_NAME = 12,
    DESCRIPTOR_TABLE = 16,
    /* Sizes of the data that follow our directory. First come the name table and the address table of our import
       (TABLES bytes), each with an end mark. The original header entries (ENTRIES bytes) come next. */
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

static HRESULT refuse_corrupt(const char *name)
{
    return error_set(BAD_FORMAT, "cannot inject into '%s': corrupt headers", name);
}

/* The headers of a program. */
struct program_headers {
    uint8_t pe[PE_BYTES];
    uint32_t at; /* offset of `pe` */
    uint32_t count;
    const uint8_t *directories;
    bool wide;
};

static HRESULT headers_read(const struct injection_source *from, const char *name, struct program_headers *out)
{
    uint8_t dos[DOS_BYTES], *pe = out->pe;
    if (FAILED(from->read(from->user, 0, dos, 2)) || memcmp(dos, "MZ", 2) != 0)
        return error_set(BAD_FORMAT, "cannot inject into '%s': not a Windows program", name);
    if (FAILED(from->read(from->user, 0, dos, sizeof dos)))
        return error_set(BAD_FORMAT, "cannot inject into '%s': a DOS program", name);
    out->at = get32(dos + DOS_NEW_HEADER);
    if (FAILED(from->read(from->user, out->at, pe, 4)) || memcmp(pe, "PE\0", 4) != 0)
        return error_set(BAD_FORMAT, "cannot inject into '%s': a program for DOS or 16-bit Windows", name);
    if (FAILED(from->read(from->user, out->at, pe, PE_BYTES)))
        return refuse_corrupt(name);
    const uint32_t magic = get16(pe + MAGIC);
    out->wide = magic == MAGIC_64;
    if (!out->wide && magic != MAGIC_32)
        return refuse_corrupt(name);
    out->count = get32(pe + (out->wide ? DIRECTORY_COUNT : DIRECTORY_COUNT_32));
    out->directories = pe + (out->wide ? DIRECTORIES : DIRECTORIES_32);
    if (get16(pe + CHARACTERISTICS) & IS_DLL)
        return error_set(BAD_FORMAT, "cannot inject into '%s': a DLL", name);
    if (out->count > DIRECTORY_NET && get32(out->directories + 8 * DIRECTORY_NET))
        return error_set(BAD_FORMAT, "cannot inject into '%s': a .NET program, whose imports Wine ignores", name);
    return S_OK;
}

static HRESULT machine_check(const struct program_headers *h, const char *name)
{
    const uint32_t machine = get16(h->pe + MACHINE);
    return machine == (h->wide ? MACHINE_X64 : MACHINE_X86)
               ? S_OK
               : error_set(BAD_FORMAT, "cannot inject into '%s': a program for another processor (machine 0x%04X)",
                           name, (unsigned)machine);
}

HRESULT injection_program_read(const struct injection_source *from, const char *name, bool *narrow)
{
    struct program_headers h;
    HRESULT hr = headers_read(from, name, &h);
    if (FAILED(hr))
        return hr;
    *narrow = !h.wide;
    return machine_check(&h, name);
}

HRESULT injection_image_read(const struct injection_source *from, const char *name, struct injection_image *out)
{
    struct program_headers h;
    HRESULT hr = headers_read(from, name, &h);
    if (FAILED(hr))
        return hr;
    if (!h.wide)
        return error_set(BAD_FORMAT, "cannot inject into '%s': a 32-bit program (only 64-bit programs are supported)",
                         name);
    hr = machine_check(&h, name);
    if (FAILED(hr))
        return hr;
    if (h.count <= DIRECTORY_IMPORT)
        return error_set(BAD_FORMAT, "cannot inject into '%s': its headers have no import table", name);
    const uint32_t first = h.at + DIRECTORIES;
    out->size = get32(h.pe + IMAGE_BYTES);
    out->import_entry = first + 8 * DIRECTORY_IMPORT;
    out->bound_entry = h.count > DIRECTORY_BOUND ? first + 8 * DIRECTORY_BOUND : 0;
    out->entries = (struct injection_entries){.imports = get32(h.directories + 8 * DIRECTORY_IMPORT),
                                              .imports_size = get32(h.directories + 8 * DIRECTORY_IMPORT + 4)};
    if (out->bound_entry) {
        out->entries.bound = get32(h.directories + 8 * DIRECTORY_BOUND);
        out->entries.bound_size = get32(h.directories + 8 * DIRECTORY_BOUND + 4);
    }
    return out->size < PE_BYTES || h.at > out->size - PE_BYTES ? refuse_corrupt(name) : S_OK;
}

HRESULT injection_image_has_import(const struct injection_source *from, const struct injection_image *image,
                                   bool *children, struct injection_entries *before)
{
    uint8_t descriptor[DESCRIPTOR], thunk[8], entries[ENTRIES];
    *children = false;
    char function[sizeof INJECTION_ENTRY_CHILDREN] = "";
    if (!image->entries.imports ||
        FAILED(from->read(from->user, image->entries.imports, descriptor, sizeof descriptor)) || !get32(descriptor) ||
        FAILED(from->read(from->user, get32(descriptor), thunk, sizeof thunk)) ||
        get32(thunk + 4)) /* no name can be read: the function is imported by ordinal, or the entry is not an RVA */
        return S_FALSE;
    /* Read the shorter name first; the longer one could extend beyond the mapped memory. */
    const uint64_t at = (uint64_t)get32(thunk) + 2;
    if (FAILED(from->read(from->user, at, function, sizeof INJECTION_ENTRY)))
        return S_FALSE;
    if (function[sizeof INJECTION_ENTRY - 1] && FAILED(from->read(from->user, at, function, sizeof function)))
        return S_FALSE;
    function[sizeof function - 1] = 0;
    *children = strcmp(function, INJECTION_ENTRY_CHILDREN) == 0;
    if ((!*children && strcmp(function, INJECTION_ENTRY) != 0) ||
        FAILED(from->read(from->user, (uint64_t)get32(descriptor) + TABLES, entries, sizeof entries)))
        return S_FALSE;
    *before = (struct injection_entries){get32(entries), get32(entries + 4), get32(entries + 8), get32(entries + 12)};
    return S_OK;
}

/* Copies the import descriptors of the image to *out, after `used` free bytes. The empty descriptor at the end is not
   counted. */
static HRESULT read_descriptors(const struct injection_source *from, const struct injection_image *image,
                                const char *name, size_t used, uint8_t **out, size_t *count)
{
    uint8_t *all = NULL;
    size_t have = 0;
    *out = NULL;
    *count = 0;
    for (uint64_t at = image->entries.imports; image->entries.imports && *count < MOST_DESCRIPTORS;) {
        /* Read up to the end of the page: if the beginning of a page is readable, all of it is. */
        const size_t more = PAGE - at % PAGE;
        uint8_t *grown = memory_resize(all, used + have + more);
        HRESULT hr = grown ? from->read(from->user, at, grown + used + have, more) : E_OUTOFMEMORY;
        all = grown ? grown : all;
        if (FAILED(hr)) {
            memory_free(all);
            return hr == E_OUTOFMEMORY ? hr : refuse_corrupt(name);
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
    return image->entries.imports ? refuse_corrupt(name) : S_OK;
}

/* Returns the size of a string with its NUL, rounded up to a multiple of 8. */
static size_t text_room(const char *text)
{
    return (strlen(text) + 8) & ~(size_t)7;
}

HRESULT injection_block_make(const struct injection_source *from, const struct injection_image *image, const char *name,
                             const char *dll, const char *function, struct injection_block *out)
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
    /* The name table and the address table each contain one entry and the end mark. */
    put32(bytes, (uint32_t)tables);
    put32(bytes + DESCRIPTOR_TABLE, (uint32_t)tables + 16);
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

void injection_block_place(struct injection_block *block, uint32_t rva)
{
    uint8_t *tables = block->bytes + get32(block->bytes);
    add32(tables, rva);
    add32(tables + 16, rva);
    add32(block->bytes, rva);
    add32(block->bytes + DESCRIPTOR_TABLE, rva);
    add32(block->bytes + DESCRIPTOR_NAME, rva);
}

/* ---- more exports ---- */

enum {
    EXPORT_ENTRY = 136,
    FUNCTION_COUNT = 20, /* offsets in the export directory */
    NAME_COUNT = 24,
    FUNCTIONS = 28,
    NAMES = 32,
    ORDINALS = 36,
    DIRECTORY_BYTES = 40,
    THUNK_BYTES = 16,
    MOST_FUNCTIONS = 65536, /* ordinals have 16 bits */
};

struct injection_name {
    const char *text;
    uint32_t rva; /* the RVA of an old name */
    uint16_t function;
    bool is_new;
};

static const uint8_t *directory_of(const struct injection_exports *e)
{
    return e->image + get_u32(e->image + e->entry);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct injection_name *)a)->text, ((const struct injection_name *)b)->text);
}

/* Returns whether the module already exports the name. The old names are sorted by by_text. */
static bool exports_name(const struct injection_exports *e, uint32_t old_count, const char *name)
{
    const struct injection_name key = {.text = name};
    return bsearch(&key, e->names, old_count, sizeof key, by_text) != NULL;
}

/* Returns the forwarder of an old function, or NULL if the function is code. */
static const char *forwarder_of(const struct injection_exports *e, uint32_t index)
{
    const uint32_t begin = get_u32(e->image + e->entry), bytes = get_u32(e->image + e->entry + 4);
    const uint32_t rva = get_u32(e->image + get_u32(directory_of(e) + FUNCTIONS) + 4 * index);
    return rva >= begin && rva - begin < bytes ? (const char *)e->image + rva : NULL;
}

static uint32_t text_bytes(const struct injection_exports *e)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < e->function_count - e->new_count; i++) {
        const char *text = forwarder_of(e, i);
        bytes += text ? (uint32_t)strlen(text) + 1 : 0;
    }
    for (uint32_t i = 0; i < e->name_count; i++)
        bytes += e->names[i].is_new ? (uint32_t)strlen(e->names[i].text) + 1 : 0;
    return bytes;
}

static void read_names(const uint8_t *image, const uint8_t *directory, struct injection_name *out, uint32_t count)
{
    const uint8_t *names = image + get_u32(directory + NAMES), *ordinals = image + get_u32(directory + ORDINALS);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rva = get_u32(names + 4 * i);
        out[i] = (struct injection_name){
            .text = (const char *)image + rva, .rva = rva, .function = get_u16(ordinals + 2 * i)};
    }
}

HRESULT injection_exports_plan(const uint8_t *image, const struct injection_export *more, size_t count,
                               struct injection_exports *out)
{
    const uint32_t at = get_u32(image + DOS_NEW_HEADER);
    *out = (struct injection_exports){
        .image = image, .more = more, .entry = at + EXPORT_ENTRY, .image_size = get_u32(image + at + IMAGE_BYTES)};
    if (!get_u32(image + out->entry))
        return S_FALSE;
    out->function_count = get_u32(directory_of(out) + FUNCTION_COUNT);
    out->name_count = get_u32(directory_of(out) + NAME_COUNT);
    out->names = memory_zero(out->name_count + count + 1, sizeof *out->names);
    if (!out->names)
        return E_OUTOFMEMORY;
    read_names(image, directory_of(out), out->names, out->name_count);
    const uint32_t old_count = out->name_count;
    for (size_t i = 0; i < count && out->function_count < MOST_FUNCTIONS; i++)
        if (!exports_name(out, old_count, more[i].name)) {
            out->names[out->name_count++] = (struct injection_name){
                .text = more[i].name, .function = (uint16_t)out->function_count++, .is_new = true};
            out->new_count++;
        }
    if (!out->new_count) {
        injection_exports_free(out);
        return S_FALSE;
    }
    qsort(out->names, out->name_count, sizeof *out->names, by_text);
    out->texts = DIRECTORY_BYTES + 4 * out->function_count + (4 + 2) * out->name_count;
    out->directory = out->texts + text_bytes(out);
    out->size = (out->directory + THUNK_BYTES - 1) / THUNK_BYTES * THUNK_BYTES + out->new_count * THUNK_BYTES;
    return S_OK;
}

/* Appends a string; returns its RVA. */
static uint32_t add_text(uint8_t *block, uint32_t rva, uint32_t *end, const char *text)
{
    const uint32_t at = *end, bytes = (uint32_t)strlen(text) + 1;
    memcpy(block + at, text, bytes);
    *end += bytes;
    return rva + at;
}

static const void *function_named(const struct injection_exports *e, const char *name)
{
    const struct injection_export *one = e->more;
    while (strcmp(one->name, name) != 0)
        one++;
    return one->function;
}

void injection_exports_build(const struct injection_exports *e, uint32_t rva, uint8_t *block)
{
    static const uint8_t jump[THUNK_BYTES] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0}; /* mov rax,..; jmp rax */
    const uint32_t old_functions = e->function_count - e->new_count, functions = DIRECTORY_BYTES,
                   names = functions + 4 * e->function_count, ordinals = names + 4 * e->name_count,
                   thunks = e->size - e->new_count * THUNK_BYTES;
    const uint8_t *old = e->image + get_u32(directory_of(e) + FUNCTIONS);
    uint32_t end = e->texts;
    memset(block, 0, e->size);
    memcpy(block, directory_of(e), DIRECTORY_BYTES);
    put_u32(block + FUNCTION_COUNT, e->function_count);
    put_u32(block + NAME_COUNT, e->name_count);
    put_u32(block + FUNCTIONS, rva + functions);
    put_u32(block + NAMES, rva + names);
    put_u32(block + ORDINALS, rva + ordinals);
    for (uint32_t i = 0; i < old_functions; i++) {
        const char *text = forwarder_of(e, i);
        put_u32(block + functions + 4 * i, text ? add_text(block, rva, &end, text) : get_u32(old + 4 * i));
    }
    for (uint32_t i = 0; i < e->name_count; i++) {
        const struct injection_name *n = &e->names[i];
        put_u16(block + ordinals + 2 * i, n->function);
        put_u32(block + names + 4 * i, n->is_new ? add_text(block, rva, &end, n->text) : n->rva);
        if (!n->is_new)
            continue;
        const uint32_t thunk = thunks + (n->function - old_functions) * THUNK_BYTES;
        memcpy(block + thunk, jump, sizeof jump);
        put_u64(block + thunk + 2, (uint64_t)(uintptr_t)function_named(e, n->text));
        put_u32(block + functions + 4 * n->function, rva + thunk);
    }
}

void injection_exports_free(struct injection_exports *e)
{
    memory_free(e->names);
    *e = (struct injection_exports){.image = NULL};
}

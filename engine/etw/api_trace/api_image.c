/* SPDX-License-Identifier: MIT */
/* Walks the export and import tables of an image in memory. */
#include "engine/etw/api_trace/api_image.h"

#include "engine/base/wintypes.h"

#include <string.h>

enum {
    HEADERS_MOST = 0x10000000, /* maximum offset of the PE header */
    MAGIC_PE = 0x4550,
    OPTIONAL_MAGIC = 24,
    OPTIONAL_SIZE_OF_IMAGE = 24 + 56,
    SECTION_BYTES = 40,
    SECTION_EXECUTES = 0x20000000,
    IMPORT_BYTES = 20,
    DELAY_BYTES = 32,
    DELAY_BY_RVA = 1,
    EXPORT_ENTRY = 0,
    IMPORT_ENTRY = 1,
    DELAY_ENTRY = 13,
};

/* Values for images of this process's bitness. OPTIONAL_DIRECTORIES is the offset of NumberOfRvaAndSizes; the directory
   entries come after NumberOfRvaAndSizes. */
#if UINTPTR_MAX == UINT64_MAX
enum { OWN_MAGIC = 0x20B, OWN_MACHINE = 0x8664, OPTIONAL_DIRECTORIES = 24 + 108 };
#else
enum { OWN_MAGIC = 0x10B, OWN_MACHINE = 0x14C, OPTIONAL_DIRECTORIES = 24 + 92 };
#endif

static bool image_copy(const struct api_image *image, uint64_t at, void *to, size_t size)
{
    if (at > image->size || size > image->size - at)
        return false;
    memcpy(to, image->base + at, size);
    return true;
}

static bool image_u16(const struct api_image *image, uint64_t at, uint16_t *out)
{
    return image_copy(image, at, out, sizeof *out);
}

static bool image_u32(const struct api_image *image, uint64_t at, uint32_t *out)
{
    return image_copy(image, at, out, sizeof *out);
}

/* Returns the string at an RVA; NULL if its end is outside the image. */
static const char *image_string(const struct api_image *image, uint32_t at)
{
    return at < image->size && memchr(image->base + at, 0, image->size - at) ? (const char *)image->base + at : NULL;
}

static void read_entry(const struct api_image *image, uint32_t headers, uint32_t index, uint32_t *rva, uint32_t *size)
{
    uint32_t count = 0;
    *rva = *size = 0;
    if (!image_u32(image, headers + OPTIONAL_DIRECTORIES, &count) || index >= count)
        return;
    const uint64_t at = (uint64_t)headers + OPTIONAL_DIRECTORIES + 4 + 8 * (uint64_t)index;
    if (!image_u32(image, at, rva) || !image_u32(image, at + 4, size) || *rva >= image->size)
        *rva = *size = 0;
    else if (*size > image->size - *rva)
        *size = image->size - *rva;
}

bool api_image_read(void *base, size_t mapped, struct api_image *out)
{
    uint32_t headers = 0, magic = 0, size = 0;
    uint16_t dos = 0, optional = 0, machine = 0, optional_size = 0, sections = 0;
    struct api_image image = {.base = base, .size = mapped > UINT32_MAX ? UINT32_MAX : (uint32_t)mapped};
    if (!image_u16(&image, 0, &dos) || dos != 0x5A4D || !image_u32(&image, 0x3C, &headers) || headers > HEADERS_MOST ||
        !image_u32(&image, headers, &magic) || magic != MAGIC_PE || !image_u16(&image, headers + 4, &machine) ||
        machine != OWN_MACHINE || !image_u16(&image, headers + OPTIONAL_MAGIC, &optional) || optional != OWN_MAGIC ||
        !image_u32(&image, headers + OPTIONAL_SIZE_OF_IMAGE, &size) ||
        !image_u16(&image, headers + 20, &optional_size) || !image_u16(&image, headers + 6, &sections))
        return false;
    if (size < image.size)
        image.size = size;
    image.sections = headers + 24 + optional_size;
    image.section_count = sections;
    read_entry(&image, headers, EXPORT_ENTRY, &image.exports, &image.exports_size);
    read_entry(&image, headers, IMPORT_ENTRY, &image.imports, &image.imports_size);
    read_entry(&image, headers, DELAY_ENTRY, &image.delays, &image.delays_size);
    *out = image;
    return true;
}

bool api_image_is_code(const struct api_image *image, uint32_t rva)
{
    for (uint32_t i = 0; i < image->section_count; i++) {
        const uint64_t at = image->sections + (uint64_t)i * SECTION_BYTES;
        uint32_t size, begin, raw, flags;
        if (!image_u32(image, at + 8, &size) || !image_u32(image, at + 12, &begin) ||
            !image_u32(image, at + 16, &raw) || !image_u32(image, at + 36, &flags))
            return false;
        if (rva >= begin && rva - begin < (size ? size : raw))
            return (flags & SECTION_EXECUTES) != 0;
    }
    return false;
}

bool api_image_exports(const struct api_image *image, void (*take)(void *user, const struct api_export *found),
                       void *user)
{
    uint32_t functions, names, count, name_count, numbers;
    const uint64_t at = image->exports;
    if (!at)
        return true;
    if (!image_u32(image, at + 20, &count) || !image_u32(image, at + 24, &name_count) ||
        !image_u32(image, at + 28, &functions) || !image_u32(image, at + 32, &names) ||
        !image_u32(image, at + 36, &numbers) || name_count > image->size / 4 || count > image->size / 4)
        return false;
    for (uint32_t i = 0; i < name_count; i++) {
        uint32_t name, rva;
        uint16_t number;
        if (!image_u32(image, names + 4 * (uint64_t)i, &name) ||
            !image_u16(image, numbers + 2 * (uint64_t)i, &number) || number >= count ||
            !image_u32(image, functions + 4 * (uint64_t)number, &rva))
            return false;
        struct api_export found = {.name = image_string(image, name), .rva = rva};
        if (!found.name)
            return false;
        /* When Wine loads user32, it replaces some of user32's forwarders with addresses in ntdll, outside the
           image. */
        found.forwards = rva >= image->size || (rva >= image->exports && rva - image->exports < image->exports_size);
        if (rva)
            take(user, &found);
    }
    return true;
}

/* Passes the slots of one DLL to `take`. A zero follows the last slot. */
static bool take_slots(const struct api_image *image, const char *dll, uint32_t at,
                       void (*take)(void *user, const char *dll, void **slot), void *user)
{
    uintptr_t value;
    if (at % sizeof value)
        return false;
    for (uint64_t slot = at; image_copy(image, slot, &value, sizeof value); slot += sizeof value) {
        if (!value)
            return true;
        take(user, dll, (void **)(void *)(image->base + slot));
    }
    return false;
}

static bool imports_walk(const struct api_image *image, void (*take)(void *user, const char *dll, void **slot),
                         void *user)
{
    for (uint64_t at = image->imports; at; at += IMPORT_BYTES) {
        uint32_t name, slots;
        if (!image_u32(image, at + 12, &name) || !image_u32(image, at + 16, &slots))
            return false;
        if (!name || !slots)
            return true;
        const char *dll = image_string(image, name);
        if (!dll || !take_slots(image, dll, slots, take, user))
            return false;
    }
    return true;
}

/* Walks the delayed imports. Old 32-bit linkers wrote descriptors with addresses instead of RVAs; these are skipped. */
static bool delays_walk(const struct api_image *image, void (*take)(void *user, const char *dll, void **slot),
                        void *user)
{
    for (uint64_t at = image->delays; at; at += DELAY_BYTES) {
        uint32_t attributes, name, slots;
        if (!image_u32(image, at, &attributes) || !image_u32(image, at + 4, &name) ||
            !image_u32(image, at + 12, &slots))
            return false;
        if (!name)
            return true;
        const char *dll = image_string(image, name);
        if (!dll || ((attributes & DELAY_BY_RVA) && !take_slots(image, dll, slots, take, user)))
            return false;
    }
    return true;
}

bool api_image_imports(const struct api_image *image, void (*take)(void *user, const char *dll, void **slot),
                       void *user)
{
    const bool imports = imports_walk(image, take, user);
    return delays_walk(image, take, user) && imports;
}

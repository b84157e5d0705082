/* SPDX-License-Identifier: MIT */
#include "engine/etw/injection/reach_exports.h"

#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Offsets of the PE32+ format as published. */
    DOS_NEW_HEADER = 60,
    IMAGE_BYTES = 80,
    EXPORT_ENTRY = 136,
    FUNCTION_COUNT = 20, /* of the export directory */
    NAME_COUNT = 24,
    FUNCTIONS = 28,
    NAMES = 32,
    ORDINALS = 36,
    DIRECTORY_BYTES = 40,
    THUNK_BYTES = 16,
    MOST_FUNCTIONS = 65536, /* ordinals have 16 bits */
};

struct reach_name {
    const char *text;
    uint32_t rva; /* of an old name */
    uint16_t function;
    bool is_new;
};

static const uint8_t *directory_of(const struct reach_exports *e)
{
    return e->image + get_u32(e->image + e->entry);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct reach_name *)a)->text, ((const struct reach_name *)b)->text);
}

/* The old names are in the order of by_text. */
static bool exports_name(const struct reach_exports *e, uint32_t old_count, const char *name)
{
    const struct reach_name key = {.text = name};
    return bsearch(&key, e->names, old_count, sizeof key, by_text) != NULL;
}

/* The forwarder of an old function; NULL: it is code. */
static const char *forwarder(const struct reach_exports *e, uint32_t index)
{
    const uint32_t begin = get_u32(e->image + e->entry), bytes = get_u32(e->image + e->entry + 4);
    const uint32_t rva = get_u32(e->image + get_u32(directory_of(e) + FUNCTIONS) + 4 * index);
    return rva >= begin && rva - begin < bytes ? (const char *)e->image + rva : NULL;
}

static uint32_t text_bytes(const struct reach_exports *e)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < e->function_count - e->new_count; i++) {
        const char *text = forwarder(e, i);
        bytes += text ? (uint32_t)strlen(text) + 1 : 0;
    }
    for (uint32_t i = 0; i < e->name_count; i++)
        bytes += e->names[i].is_new ? (uint32_t)strlen(e->names[i].text) + 1 : 0;
    return bytes;
}

static void read_names(const uint8_t *image, const uint8_t *directory, struct reach_name *out, uint32_t count)
{
    const uint8_t *names = image + get_u32(directory + NAMES), *ordinals = image + get_u32(directory + ORDINALS);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rva = get_u32(names + 4 * i);
        out[i] =
            (struct reach_name){.text = (const char *)image + rva, .rva = rva, .function = get_u16(ordinals + 2 * i)};
    }
}

HRESULT reach_exports_plan(const uint8_t *image, const struct reach_export *more, size_t count,
                           struct reach_exports *out)
{
    const uint32_t at = get_u32(image + DOS_NEW_HEADER);
    *out = (struct reach_exports){
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
            out->names[out->name_count++] =
                (struct reach_name){.text = more[i].name, .function = (uint16_t)out->function_count++, .is_new = true};
            out->new_count++;
        }
    if (!out->new_count) {
        reach_exports_free(out);
        return S_FALSE;
    }
    qsort(out->names, out->name_count, sizeof *out->names, by_text);
    out->texts = DIRECTORY_BYTES + 4 * out->function_count + (4 + 2) * out->name_count;
    out->directory = out->texts + text_bytes(out);
    out->size = (out->directory + THUNK_BYTES - 1) / THUNK_BYTES * THUNK_BYTES + out->new_count * THUNK_BYTES;
    return S_OK;
}

/* Copies a text to the end of the texts; returns its RVA. */
static uint32_t add_text(uint8_t *block, uint32_t rva, uint32_t *end, const char *text)
{
    const uint32_t at = *end, bytes = (uint32_t)strlen(text) + 1;
    memcpy(block + at, text, bytes);
    *end += bytes;
    return rva + at;
}

static const void *function_named(const struct reach_exports *e, const char *name)
{
    const struct reach_export *one = e->more;
    while (strcmp(one->name, name) != 0)
        one++;
    return one->function;
}

void reach_exports_build(const struct reach_exports *e, uint32_t rva, uint8_t *block)
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
        const char *text = forwarder(e, i);
        put_u32(block + functions + 4 * i, text ? add_text(block, rva, &end, text) : get_u32(old + 4 * i));
    }
    for (uint32_t i = 0; i < e->name_count; i++) {
        const struct reach_name *n = &e->names[i];
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

void reach_exports_free(struct reach_exports *e)
{
    memory_free(e->names);
    *e = (struct reach_exports){.image = NULL};
}

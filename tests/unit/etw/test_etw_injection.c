/* SPDX-License-Identifier: MIT */
/* Adds an import to a program's image: all existing imports remain in their order, and a corrupt image is rejected.
   Adds exports to a module. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/injection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>
#include <string.h>

enum { PE = 0x80, IMPORTS = 0xF00, IMAGE_SIZE = 0x8000, BLOCK = 0x10000, ROOM = 0x20000, DESCRIPTOR = 20 };

/* An image in memory, followed by unused memory up to BLOCK. */
struct image {
    uint8_t bytes[ROOM];
    size_t size, block;
};

static void put(struct image *i, size_t at, uint64_t value, size_t bytes)
{
    memcpy(i->bytes + at, &value, bytes);
}

static uint32_t get(const struct image *i, size_t at)
{
    uint32_t value;
    memcpy(&value, i->bytes + at, sizeof value);
    return value;
}

static HRESULT read_image(void *user, uint64_t offset, void *to, size_t size)
{
    const struct image *i = user;
    if (!(offset <= i->size && size <= i->size - offset) &&
        !(offset >= BLOCK && offset <= BLOCK + i->block && size <= BLOCK + i->block - offset))
        return E_FAIL;
    memcpy(to, i->bytes + offset, size);
    return S_OK;
}

/* Creates an image whose import descriptors cross a page's end. */
static struct image make(unsigned descriptors)
{
    struct image i = {.size = IMAGE_SIZE};
    memcpy(i.bytes, "MZ", 2);
    put(&i, 60, PE, 4);
    memcpy(i.bytes + PE, "PE", 2);
    put(&i, PE + 4, 0x8664, 2);
    put(&i, PE + 22, 0x22, 2);
    put(&i, PE + 24, 0x20B, 2);
    put(&i, PE + 80, IMAGE_SIZE, 4);
    put(&i, PE + 132, 16, 4);
    put(&i, PE + 144, descriptors ? IMPORTS : 0, 4);
    put(&i, PE + 148, 77, 4);
    put(&i, PE + 136 + 8 * 11, 0x300, 4);
    put(&i, PE + 140 + 8 * 11, 88, 4);
    for (unsigned d = 0; d < descriptors; d++)
        for (unsigned word = 0; word < 5; word++)
            put(&i, IMPORTS + d * DESCRIPTOR + 4 * word, 0x100000 * (d + 1) + word, 4);
    return i;
}

static struct injection_source source_of(struct image *i)
{
    return (struct injection_source){read_image, i};
}

/* Does what injection_into_process does. */
static void insert(struct image *i, const char *function)
{
    const struct injection_source memory = source_of(i);
    struct injection_image image;
    struct injection_block block;
    assert_int_equal(injection_image_read(&memory, "x.exe", &image), S_OK);
    assert_int_equal(injection_block_make(&memory, &image, "x.exe", "C:\\o\\openetw.dll", function, &block), S_OK);
    injection_block_place(&block, BLOCK);
    memcpy(i->bytes + BLOCK, block.bytes, block.size);
    i->block = block.size;
    put(i, image.import_entry, BLOCK, 4);
    put(i, image.import_entry + 4, block.directory, 4);
    put(i, image.bound_entry, 0, 4);
    memory_free(block.bytes);
}

static void added_import_precedes_all_others(void **state)
{
    (void)state;
    static const unsigned counts[] = {0, 1, 12, 13, 300};
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        struct image i = make(counts[n]);
        const struct injection_source memory = source_of(&i);
        struct injection_image image;
        struct injection_entries before;
        bool children;
        assert_int_equal(injection_image_read(&memory, "x.exe", &image), S_OK);
        assert_int_equal(injection_image_has_import(&memory, &image, &children, &before), S_FALSE);
        insert(&i, n % 2 ? INJECTION_ENTRY : INJECTION_ENTRY_CHILDREN);

        assert_int_equal(get(&i, PE + 144), BLOCK);
        assert_int_equal(get(&i, PE + 148), (counts[n] + 2) * DESCRIPTOR);
        assert_int_equal(get(&i, PE + 136 + 8 * 11), 0);
        assert_string_equal((char *)i.bytes + get(&i, BLOCK + 12), "C:\\o\\openetw.dll");
        assert_int_equal(get(&i, get(&i, BLOCK + 16)), get(&i, get(&i, BLOCK))); /* the import table and the names */
        assert_memory_equal(i.bytes + BLOCK + DESCRIPTOR, i.bytes + IMPORTS, counts[n] * DESCRIPTOR);
        static const uint8_t end[DESCRIPTOR];
        assert_memory_equal(i.bytes + BLOCK + (counts[n] + 1) * DESCRIPTOR, end, DESCRIPTOR);

        assert_int_equal(injection_image_read(&memory, "x.exe", &image), S_OK);
        assert_int_equal(injection_image_has_import(&memory, &image, &children, &before), S_OK);
        assert_int_equal(children, n % 2 == 0);
        assert_int_equal(before.imports, counts[n] ? IMPORTS : 0);
        assert_int_equal(before.imports_size, 77);
        assert_int_equal(before.bound, 0x300);
        assert_int_equal(before.bound_size, 88);
    }
}

/* Programs that link openetw.dll or import by ordinal are not mistaken for programs that we started. */
static void other_first_imports_are_not_mistaken_for_ours(void **state)
{
    (void)state;
    struct image i = make(1);
    const struct injection_source memory = source_of(&i);
    struct injection_image image;
    struct injection_entries before;
    bool children;
    insert(&i, "EventWrite");
    assert_int_equal(injection_image_read(&memory, "x.exe", &image), S_OK);
    assert_int_equal(injection_image_has_import(&memory, &image, &children, &before), S_FALSE);
    put(&i, get(&i, BLOCK), 0x8000000000000001, 8);
    assert_int_equal(injection_image_has_import(&memory, &image, &children, &before), S_FALSE);
    put(&i, BLOCK, 0, 4); /* an import without names */
    assert_int_equal(injection_image_has_import(&memory, &image, &children, &before), S_FALSE);
}

static void truncated_images_are_rejected(void **state)
{
    (void)state;
    const struct image whole = make(1);
    for (size_t size = 0; size <= 0x1000; size += size < 0x200 ? 1 : 0x80) {
        struct image i = whole;
        const struct injection_source file = source_of(&i);
        struct injection_image image;
        i.size = size;
        const HRESULT hr = injection_image_read(&file, "cut.exe", &image);
        assert_int_equal(hr, size < PE + 256 ? HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT) : S_OK);
        if (FAILED(hr))
            assert_non_null(strstr(error_text(hr), "cut.exe"));
    }
    struct image endless = make(1);
    const struct injection_source memory = source_of(&endless);
    struct injection_image image;
    struct injection_block block;
    memset(endless.bytes + IMPORTS, 0xFF, IMAGE_SIZE - IMPORTS);
    assert_int_equal(injection_image_read(&memory, "x.exe", &image), S_OK);
    assert_int_equal(injection_block_make(&memory, &image, "x.exe", "a.dll", INJECTION_ENTRY, &block),
                     HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT));
    put(&endless, PE + 144, 0xFFFFFFF0, 4); /* beyond the image's end */
    assert_int_equal(injection_image_read(&memory, "x.exe", &image), S_OK);
    assert_int_equal(injection_block_make(&memory, &image, "x.exe", "a.dll", INJECTION_ENTRY, &block),
                     HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT));
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    struct image i = make(300);
    const struct injection_source memory = source_of(&i);
    struct injection_image image;
    struct injection_block block;
    assert_int_equal(injection_image_read(&memory, "x.exe", &image), S_OK);
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        const HRESULT hr = injection_block_make(&memory, &image, "x.exe", "a.dll", INJECTION_ENTRY, &block);
        memory_fail_at(0);
        if (SUCCEEDED(hr)) {
            assert_true(n > 2);
            memory_free(block.bytes);
            return;
        }
        assert_int_equal(hr, E_OUTOFMEMORY);
    }
}

/* ---- exports ---- */

enum { EXPORTS = 0x1000, FUNCTIONS = 0x1100, NAMES = 0x1200, ORDINALS = 0x1300, TEXTS = 0x1400, EXPORTS_SIZE = 0x600 };

/* Builds a module as the loader maps it, with `count` functions named "f00", "f02", ...; every third function is a
   forwarder, recognizable by an address within the directory. */
static struct image make_module(unsigned count)
{
    struct image i = {.size = IMAGE_SIZE};
    put(&i, 60, PE, 4);
    put(&i, PE + 80, IMAGE_SIZE, 4);
    put(&i, PE + 136, count ? EXPORTS : 0, 4);
    put(&i, PE + 140, count ? EXPORTS_SIZE : 0, 4);
    put(&i, EXPORTS + 16, 5, 4); /* the first function's number */
    put(&i, EXPORTS + 20, count, 4);
    put(&i, EXPORTS + 24, count, 4);
    put(&i, EXPORTS + 28, FUNCTIONS, 4);
    put(&i, EXPORTS + 32, NAMES, 4);
    put(&i, EXPORTS + 36, ORDINALS, 4);
    for (unsigned n = 0; n < count; n++) {
        const unsigned function = count - 1 - n; /* not in the order of names */
        snprintf((char *)i.bytes + TEXTS + 16 * n, 4, "f%02u", 2 * n);
        put(&i, NAMES + 4 * n, TEXTS + 16 * n, 4);
        put(&i, ORDINALS + 2 * n, function, 2);
        snprintf((char *)i.bytes + TEXTS + 16 * n + 4, 12, "dll.g%02u", 2 * n);
        put(&i, FUNCTIONS + 4 * function, function % 3 == 0 ? TEXTS + 16 * n + 4 : 0x3000 + 16 * n, 4);
    }
    return i;
}

/* Finds an export as the loader does: returns the function's RVA, or its forwarder; 0 if it does not exist. */
static uint32_t find_export(const struct image *i, const char *name, const char **forwarded)
{
    const uint32_t d = get(i, PE + 136), count = get(i, d + 24);
    *forwarded = NULL;
    for (uint32_t low = 0, high = count; low < high;) {
        const uint32_t at = (low + high) / 2;
        const int order = strcmp(name, (const char *)i->bytes + get(i, get(i, d + 32) + 4 * at));
        if (order == 0) {
            const uint32_t number = get(i, get(i, d + 36) + 2 * at) & 0xFFFF, rva = get(i, get(i, d + 28) + 4 * number);
            assert_true(number < get(i, d + 20));
            if (rva >= d && rva - d < get(i, PE + 140))
                *forwarded = (const char *)i->bytes + rva;
            return rva;
        }
        if (order < 0)
            high = at;
        else
            low = at + 1;
    }
    return 0;
}

static const char *jump_target(const struct image *i, uint32_t rva)
{
    static const uint8_t begin[] = {0x48, 0xB8}, end[] = {0xFF, 0xE0};
    uint64_t target;
    assert_memory_equal(i->bytes + rva, begin, sizeof begin);
    assert_memory_equal(i->bytes + rva + 10, end, sizeof end);
    memcpy(&target, i->bytes + rva + 2, sizeof target);
    return (const char *)(uintptr_t)target;
}

/* GetProcAddress must find the added functions as well as the existing ones. */
static void exports_are_added_and_the_others_kept(void **state)
{
    static const char a[] = "a", b[] = "b", c[] = "c", d[] = "d";
    static const struct injection_export more[] = {{"f05", b}, {"f02", d}, {"a", a}, {"zz", c}};
    static const unsigned counts[] = {1, 2, 7, 20};
    (void)state;
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        struct image before = make_module(counts[n]), i = before;
        struct injection_exports e;
        const char *text, *text_before;
        assert_int_equal(injection_exports_plan(i.bytes, more, 4, &e), S_OK);
        assert_int_equal(e.image_size, IMAGE_SIZE);
        assert_true(e.size <= ROOM - BLOCK);
        injection_exports_build(&e, BLOCK, i.bytes + BLOCK);
        put(&i, e.entry, BLOCK, 4);
        put(&i, e.entry + 4, e.directory, 4);
        for (unsigned k = 0; k < counts[n]; k++) {
            char name[8];
            snprintf(name, sizeof name, "f%02u", 2 * k);
            const uint32_t rva = find_export(&before, name, &text_before);
            assert_int_not_equal(rva, 0);
            const uint32_t now = find_export(&i, name, &text);
            if (text_before)
                assert_string_equal(text, text_before);
            else
                assert_true(!text && now == rva);
        }
        assert_ptr_equal(jump_target(&i, find_export(&i, "a", &text)), a);
        assert_null(text);
        assert_ptr_equal(jump_target(&i, find_export(&i, "f05", &text)), b);
        assert_ptr_equal(jump_target(&i, find_export(&i, "zz", &text)), c);
        if (counts[n] == 1) /* the module has no f02 */
            assert_ptr_equal(jump_target(&i, find_export(&i, "f02", &text)), d);
        assert_int_equal(find_export(&i, "f03", &text), 0);
        assert_int_equal(get(&i, BLOCK + 16), 5);
        injection_exports_free(&e);
        assert_int_equal(injection_exports_plan(i.bytes, more, 4, &e), S_FALSE); /* the module has all of them now */
    }
    struct image none = make_module(0);
    struct injection_exports e;
    assert_int_equal(injection_exports_plan(none.bytes, more, 4, &e), S_FALSE);
    struct image some = make_module(3);
    memory_fail_at(1);
    assert_int_equal(injection_exports_plan(some.bytes, more, 4, &e), E_OUTOFMEMORY);
    memory_fail_at(0);
}

/* API tracing supports 32-bit programs too, which have different headers. */
static void programs_with_32_and_64_bits_are_recognized(void **state)
{
    (void)state;
    struct image i = make(1);
    const struct injection_source memory = source_of(&i);
    struct injection_image image;
    bool narrow = true;
    assert_int_equal(injection_program_read(&memory, "x.exe", &narrow), S_OK);
    assert_false(narrow);
    put(&i, PE + 4, 0x14C, 2);
    assert_int_equal(injection_program_read(&memory, "x.exe", &narrow), HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT));
    put(&i, PE + 24, 0x10B, 2);
    put(&i, PE + 116, 16, 4);
    put(&i, PE + 120 + 8 * 14, 0, 4);
    assert_int_equal(injection_program_read(&memory, "x.exe", &narrow), S_OK);
    assert_true(narrow);
    assert_int_equal(injection_image_read(&memory, "x.exe", &image), HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT)), "32-bit"));
    put(&i, PE + 120 + 8 * 14, 0x1000, 4);
    assert_int_equal(injection_program_read(&memory, "x.exe", &narrow), HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT)), ".NET"));
    put(&i, PE + 120 + 8 * 14, 0, 4);
    put(&i, PE + 4, 0x1C4, 2);
    assert_int_equal(injection_program_read(&memory, "x.exe", &narrow), HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_with_32_and_64_bits_are_recognized),
        cmocka_unit_test(added_import_precedes_all_others),
        cmocka_unit_test(other_first_imports_are_not_mistaken_for_ours),
        cmocka_unit_test(truncated_images_are_rejected),
        cmocka_unit_test(out_of_memory_is_reported),
        cmocka_unit_test(exports_are_added_and_the_others_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* NDR types: bytes that impacket and an experimental server exchanged, round trips, and invalid bytes. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/rpc/automation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t size = 0;
    for (; *hex; hex++)
        if (*hex != ' ') {
            const char digits[3] = {hex[0], hex[1], 0};
            out[size++] = (uint8_t)strtoul(digits, NULL, 16);
            hex++;
        }
    return size;
}

static void reads_stay_inside_the_buffer(void **state)
{
    static const uint8_t bytes[7] = {1, 2, 3, 4, 5, 6, 7};
    struct ndr_reader r = ndr_reader_over(bytes, sizeof bytes);
    (void)state;
    assert_int_equal(ndr_read_u8(&r), 1);
    assert_int_equal(ndr_read_u16(&r), 0x0403);
    assert_int_equal(ndr_read_u16(&r), 0x0605);
    assert_int_equal(r.fault, 0);
    assert_int_equal(ndr_read_u32(&r), 0);
    assert_int_equal(r.fault, RPC_FAULT_BAD_STUB);
    assert_int_equal(ndr_read_u8(&r), 0); /* the first error is kept */
    ndr_fail(&r, RPC_FAULT_DENIED);
    assert_int_equal(r.fault, RPC_FAULT_BAD_STUB);
    r = ndr_reader_over(NULL, 0);
    assert_non_null(ndr_take(&r, 8, 0));
    assert_null(ndr_take(&r, 1, SIZE_MAX));
    r = ndr_reader_over(bytes, 7);
    assert_false(ndr_can_hold(&r, UINT64_MAX, 4));
}

static void writes_align_and_stop_at_the_limit(void **state)
{
    struct ndr_writer w = {.most = 24};
    (void)state;
    ndr_write_u8(&w, 1);
    ndr_write_u32(&w, 2);
    ndr_write_u64(&w, 3);
    assert_int_equal(w.size, 16);
    assert_int_equal(w.bytes[1] | w.bytes[2] | w.bytes[3], 0);
    ndr_add(&w, 1, 9);
    assert_true(w.failed);
    ndr_write_u8(&w, 1);
    assert_int_equal(w.size, 16);
    ndr_writer_free(&w);
}

/* A reply of the experimental server: a SAFEARRAY of two strings. `two_pointers` is the same after one more pointer. */
static const char one_pointer[] = "55736572 01000000 01008001 04000000 00000800 08000000 02000000 02000000"
                                  "02000000 00000000 02000000 55736572 55736572 02000000 04000000 02000000 61006200"
                                  "01000000 02000000 01000000 6300";
static const char two_pointers[] = "55736572 01000200 01000000 01008001 04000000 00000800 08000000 02000000 02000200"
                                   "02000000 00000000 02000000 00000300 04000300 02000000 04000000 02000000 61006200"
                                   "01000000 02000000 01000000 6300";

static void both_forms_of_arrays_are_read(void **state)
{
    const char *const forms[] = {one_pointer, two_pointers};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        uint8_t bytes[128];
        unsigned form = 0;
        struct ndr_arena arena = {0};
        struct ndr_array *a;
        struct ndr_reader r = ndr_reader_over(bytes, from_hex(forms[i], bytes));
        ndr_read_array(&r, &arena, &form, &a);
        assert_int_equal(r.fault, 0);
        assert_int_equal(form, i + 1);
        assert_int_equal(r.at, r.size);
        assert_non_null(a);
        assert_int_equal(a->vt, NDR_BSTR);
        assert_int_equal(a->count, 2);
        assert_int_equal(a->strings[0].size, 4);
        assert_memory_equal(a->strings[0].bytes, "a\0b\0", 4);
        assert_memory_equal(a->strings[1].bytes, "c\0", 2);
        struct ndr_writer w = {0};
        ndr_write_array(&w, 2, a);
        uint8_t expected[128];
        assert_int_equal(from_hex(two_pointers, expected), w.size);
        expected[35] = w.bytes[35]; /* referent ids can have any value */
        assert_memory_equal(w.bytes + 8, expected + 8, 24);
        assert_memory_equal(w.bytes + 56, expected + 56, w.size - 56);
        ndr_writer_free(&w);
        ndr_arena_free(&arena);
    }
}

static void golden_variant_is_read_and_written(void **state)
{
    static const char text[] = "55736572 00000000 05000000 00000000 08000000 00000000 08000000 55736572"
                               "02000000 04000000 02000000 6e006d00";
    uint8_t bytes[64];
    struct ndr_arena arena = {0};
    struct ndr_variant v;
    const size_t size = from_hex(text, bytes);
    struct ndr_reader r = ndr_reader_over(bytes, size);
    (void)state;
    ndr_read_variant(&r, &arena, &v);
    assert_int_equal(r.fault, 0);
    assert_int_equal(v.vt, NDR_BSTR);
    assert_memory_equal(v.string.bytes, "n\0m\0", 4);
    struct ndr_writer w = {0};
    ndr_write_variant(&w, &v);
    assert_int_equal(w.size, size);
    assert_memory_equal(w.bytes, bytes, size);
    ndr_writer_free(&w);
    ndr_arena_free(&arena);
}

/* The bytes are the reply to get_DataCollectors. */
static void golden_object_reference_is_read_and_written(void **state)
{
    static const char text[] =
        "00000200 88000000 88000000 4d454f57 01000000 02758303 8b09d811 94145050 54503030 00000000 05000000 90e0635a"
        "d28303d2 a749dd13 cfe3016c 0b151e02 47e446b6 057f1457 23bfbb66 22001e00 07003100 32003700 2e003000 2e003000"
        "2e003100 5b003400 37003100 33003500 5d000000 07007600 6d005b00 34003700 31003300 35005d00 00000000 0a00ffff"
        "00000000";
    uint8_t bytes[256];
    struct ndr_arena arena = {0};
    struct objref *o;
    const size_t size = from_hex(text, bytes);
    struct ndr_reader r = ndr_reader_over(bytes, size);
    (void)state;
    ndr_read_object(&r, &arena, &o);
    assert_int_equal(r.fault, 0);
    assert_non_null(o);
    assert_int_equal(o->kind, OBJREF_STANDARD);
    assert_int_equal(o->iid.Data1, 0x03837502);
    assert_int_equal(o->standard.references, 5);
    assert_true(o->standard.oxid == 0xd20383d25a63e090u);
    assert_int_equal(o->bindings.count, 2);
    assert_string_equal(o->bindings.addresses[0], "127.0.0.1[47135]");
    assert_string_equal(o->bindings.addresses[1], "vm[47135]");
    struct ndr_writer w = {0};
    ndr_write_object(&w, o);
    assert_int_equal(w.size, size);
    assert_memory_equal(w.bytes, bytes, size);
    ndr_writer_free(&w);
    ndr_arena_free(&arena);
}

static bool variants_equal(const struct ndr_variant *a, const struct ndr_variant *b)
{
    struct ndr_writer x = {0}, y = {0};
    ndr_write_variant(&x, a);
    ndr_write_variant(&y, b);
    const bool equal = !x.failed && x.size == y.size && memcmp(x.bytes, y.bytes, x.size) == 0;
    ndr_writer_free(&x);
    ndr_writer_free(&y);
    return equal;
}

static void variants_survive_the_round_trip(void **state)
{
    struct objref object = {.kind = OBJREF_STANDARD, .iid = {1, 2, 3, {4}}, .standard = {.references = 5, .oid = 7}};
    struct ndr_bstr strings[2] = {{.bytes = (const uint8_t *)"a\0", .size = 2}, {.is_null = true}};
    struct ndr_variant inner[2] = {{.vt = NDR_I4, .number = 7}, {.vt = NDR_BSTR, .string = strings[0]}};
    struct ndr_variant byref = {.vt = NDR_R8, .number = 0x3FF0000000000000u};
    struct ndr_array text = {
        .vt = NDR_BSTR, .dimensions = 1, .bounds = {{2, 0}}, .count = 2, .has_data = true, .strings = strings};
    struct ndr_array nested = {.vt = NDR_VARIANT,
                               .dimensions = 2,
                               .bounds = {{1, -1}, {2, 5}},
                               .count = 2,
                               .has_data = true,
                               .variants = inner};
    struct ndr_array numbers = {.vt = NDR_UI1,
                                .dimensions = 1,
                                .bounds = {{3, 0}},
                                .count = 3,
                                .has_data = true,
                                .numbers = (const uint8_t *)"xyz"};
    const struct ndr_variant rows[] = {
        {.vt = NDR_EMPTY},
        {.vt = NDR_NULL},
        {.vt = NDR_I1, .number = 0x80},
        {.vt = NDR_BOOL, .number = 0xFFFF},
        {.vt = NDR_I4, .number = 0x80000000u},
        {.vt = NDR_UI8, .number = UINT64_MAX},
        {.vt = NDR_DATE, .number = 0x4000000000000000u},
        {.vt = NDR_DECIMAL, .decimal = {0, 0, 2, 0, 1, 2, 3}},
        {.vt = NDR_BSTR, .string = {.is_null = true}},
        {.vt = NDR_BSTR, .string = {.bytes = (const uint8_t *)"abc", .size = 3}}, /* an odd number of bytes */
        {.vt = NDR_UNKNOWN},
        {.vt = NDR_DISPATCH, .object = &object},
        {.vt = NDR_ARRAY | NDR_BSTR, .array = &text},
        {.vt = NDR_ARRAY | NDR_VARIANT, .array = &nested},
        {.vt = NDR_ARRAY | NDR_UI1, .array = &numbers},
        {.vt = NDR_ARRAY | NDR_BSTR},
        {.vt = NDR_BYREF | NDR_I2, .number = 5},
        {.vt = NDR_BYREF | NDR_BSTR, .string = strings[0]},
        {.vt = NDR_BYREF | NDR_DISPATCH, .object = &object},
        {.vt = NDR_BYREF | NDR_VARIANT, .variant = &byref},
        {.vt = NDR_BYREF | NDR_ARRAY | NDR_BSTR, .array = &text},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ndr_writer w = {0};
        struct ndr_arena arena = {0};
        struct ndr_variant v;
        ndr_write_u8(&w, 1); /* makes the VARIANT unaligned */
        ndr_write_variant(&w, &rows[i]);
        struct ndr_reader r = ndr_reader_over(w.bytes, w.size);
        ndr_read_u8(&r);
        ndr_read_variant(&r, &arena, &v);
        assert_int_equal(r.fault, 0);
        assert_int_equal(r.at, w.size);
        assert_true(variants_equal(&rows[i], &v));
        ndr_arena_free(&arena);
        for (size_t cut = 1; cut < w.size; cut++) { /* truncated bytes are invalid, unless only padding is missing */
            uint8_t *exact = memory_copy(w.bytes, cut);
            r = ndr_reader_over(exact, cut);
            ndr_read_u8(&r);
            ndr_read_variant(&r, &arena, &v);
            assert_true(r.fault != 0 || cut + 8 > w.size);
            ndr_arena_free(&arena);
            memory_free(exact);
        }
        ndr_writer_free(&w);
    }
}

static void nesting_and_counts_are_limited(void **state)
{
    struct ndr_variant inner[12];
    struct ndr_array arrays[12];
    struct ndr_writer w = {0};
    struct ndr_arena arena = {0};
    struct ndr_variant v;
    (void)state;
    for (size_t i = 0; i < 12; i++) {
        arrays[i] = (struct ndr_array){.vt = NDR_VARIANT,
                                       .dimensions = 1,
                                       .bounds = {{1, 0}},
                                       .count = 1,
                                       .has_data = true,
                                       .variants = i ? &inner[i - 1] : &inner[11]};
        inner[i] = (struct ndr_variant){.vt = NDR_ARRAY | NDR_VARIANT, .array = &arrays[i]};
    }
    inner[11] = (struct ndr_variant){.vt = NDR_I4};
    ndr_write_variant(&w, &inner[10]);
    struct ndr_reader r = ndr_reader_over(w.bytes, w.size);
    ndr_read_variant(&r, &arena, &v);
    assert_int_equal(r.fault, RPC_FAULT_BAD_STUB);
    ndr_arena_free(&arena);
    ndr_writer_free(&w);
    /* The bytes claim to contain 2^32 - 1 strings. */
    uint8_t bytes[128];
    struct ndr_array *a;
    const size_t size = from_hex(two_pointers, bytes);
    memset(bytes + 28, 0xFF, 4);
    memset(bytes + 36, 0xFF, 4);
    memset(bytes + 44, 0xFF, 4);
    r = ndr_reader_over(bytes, size);
    ndr_read_array(&r, &arena, NULL, &a);
    assert_int_equal(r.fault, RPC_FAULT_BAD_STUB);
    assert_null(a);
    assert_true(arena.used < 1000);
    ndr_arena_free(&arena);
}

static void foreign_object_references_are_rejected(void **state)
{
    static const char text[] = "00000200 20000000 20000000 4d454f57 02000000 02758303 8b09d811 94145050 54503030"
                               "00000000 05000000 90e0635a";
    uint8_t bytes[64];
    struct ndr_arena arena = {0};
    struct objref *o;
    struct ndr_reader r = ndr_reader_over(bytes, from_hex(text, bytes));
    (void)state;
    ndr_read_object(&r, &arena, &o);
    assert_int_equal(r.fault, RPC_FAULT_WRONG_OBJREF);
    assert_null(o);
    ndr_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_stay_inside_the_buffer),
        cmocka_unit_test(writes_align_and_stop_at_the_limit),
        cmocka_unit_test(both_forms_of_arrays_are_read),
        cmocka_unit_test(golden_variant_is_read_and_written),
        cmocka_unit_test(golden_object_reference_is_read_and_written),
        cmocka_unit_test(variants_survive_the_round_trip),
        cmocka_unit_test(nesting_and_counts_are_limited),
        cmocka_unit_test(foreign_object_references_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

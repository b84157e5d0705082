/* SPDX-License-Identifier: MIT */
/* Extracting a hostile cabinet could write files outside the folder, fill the disk or replace the user's files. Each of
   these cabinets has one defect. It must be rejected for this reason before anything is written. */
#include "engine/base/file.h"
#include "engine/pla/cabinet.h"
#include "tests/unit/built_cabinet.h"
#include "tests/unit/scratch_link.h"

static const uint8_t four[] = "abcd";
static const struct built_entry plain[] = {{"a.txt", 4, 0, 0, 0x20}};
static const struct built_cabinet right = {plain, 1, 0, 0, four, 4, 4, 0, false};

static char *scratch;

static int make_scratch(void **state)
{
    *state = scratch = scratch_create("test_cabinet_hostile");
    return 0;
}

static char *in_scratch(const char *name)
{
    char *path = path_join(scratch, name);
    assert_non_null(path);
    return path;
}

/* Asserts that the scratch folder contains only the cabinet. */
static void nothing_was_written(void)
{
    struct texts files = {0}, folders = {0};
    assert_int_equal(folder_list(scratch, false, &files), S_OK);
    assert_int_equal(folder_list(scratch, true, &folders), S_OK);
    assert_int_equal(files.count, 1);
    assert_int_equal(folders.count, 0);
    texts_free(&files);
    texts_free(&folders);
}

/* Asserts that opening and extracting both reject the cabinet. */
static void assert_rejected(const struct built_bytes *b, const struct cabinet_limits *limits, const char *why)
{
    char *path = in_scratch("x.cab"), *to = in_scratch("to");
    struct cabinet *c;
    built_store(b, path);
    const HRESULT hr = cabinet_open(path, limits, &c);
    if (hr != PLA_E_CABAPI_FAILURE || !strstr(error_text(hr), why))
        fail_msg("\"%s\" was expected, got 0x%08X: %s", why, (unsigned)hr, error_text(hr));
    assert_null(c);
    assert_int_equal(cabinet_extract(path, limits, to, NULL), PLA_E_CABAPI_FAILURE);
    nothing_was_written();
    memory_free(to);
    memory_free(path);
}

/* Asserts that the cabinet can be opened, but that extraction rejects its corrupt data and removes all folders that it
   created. */
static void assert_extraction_rejected(const struct built_cabinet *m, const char *why)
{
    struct built_bytes b;
    char *path = in_scratch("x.cab"), *to = in_scratch("far/away/to");
    struct cabinet *c;
    built_build(m, &b);
    built_store(&b, path);
    assert_int_equal(cabinet_open(path, NULL, &c), S_OK);
    const HRESULT hr = cabinet_extract_all(c, to, NULL);
    if (hr != PLA_E_CABAPI_FAILURE || !strstr(error_text(hr), why))
        fail_msg("\"%s\" was expected, got 0x%08X: %s", why, (unsigned)hr, error_text(hr));
    cabinet_close(c);
    nothing_was_written();
    memory_free(to);
    memory_free(path);
}

static void names_that_lead_outside_are_rejected(void **state)
{
    static const struct {
        const char *name, *why;
        uint16_t attributes;
    } cases[] = {
        {"..\\up.txt", "leads to another folder", 0},
        {"../up.txt", "leads to another folder", 0},
        {"a\\..\\..\\deep.txt", "leads to another folder", 0},
        {"a/.../b", "leads to another folder", 0},
        {"\\abs.txt", "is an absolute path", 0},
        {"/abs.txt", "is an absolute path", 0},
        {"C:\\x.txt", "denotes a drive", 0},
        {"C:rel.txt", "denotes a drive", 0},
        {"\\\\server\\share\\x", "share or device", 0},
        {"\\\\?\\C:\\x", "share or device", 0},
        {"//server/share/x", "share or device", 0},
        {"x.txt:stream", "or a stream", 0},
        {"a\\x.txt::$DATA", "or a stream", 0},
        {"CON", "a device name", 0},
        {"a\\nul.txt", "a device name", 0},
        {"com1.log", "a device name", 0},
        {"nul ", "a device name", 0},
        {"x.txt.", "which Windows removes", 0},
        {"x.txt ", "which Windows removes", 0},
        {"a \\x.txt", "which Windows removes", 0},
        {"a\\.\\x.txt", "which Windows removes", 0},
        {"a\\\\x.txt", "empty path component", 0},
        {"a\\", "empty path component", 0},
        {"", "is empty", 0},
        {"a\nb.txt", "invisible character", 0},
        {"a\x1b[2Jb.txt", "invisible character", 0},
        {"a*b", "not allowed on Windows", 0},
        {"a?b", "not allowed on Windows", 0},
        {"a<b", "not allowed on Windows", 0},
        {"a|b", "not allowed on Windows", 0},
        {"a\xE2\x80\xAEgpj.exe", "changes the writing direction", 0x80},
        {"a\xC2\x85", "invisible character", 0x80},
        {"a\xFF\xFE", "not valid UTF-8", 0x80},
        {"a\xC0\xAE\xC0\xAE/x", "not valid UTF-8", 0x80},
        {"a\xED\xA0\x80", "not valid UTF-8", 0x80},
        {"com\xC2\xB9", "a device name", 0x80},
        {"a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/1/2/3/4/5/6/7/8", "folders deep", 0},
    };
    struct built_bytes b;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct built_entry entries[] = {{"first.txt", 1, 0, 0, 0}, {cases[i].name, 1, 1, 0, cases[i].attributes}};
        struct built_cabinet m = right;
        m.entries = entries;
        m.count = 2;
        built_build(&m, &b);
        assert_rejected(&b, NULL, cases[i].why);
        /* The message may contain such a name, and must be harmless on a terminal. */
        for (const char *at = error_text(PLA_E_CABAPI_FAILURE); *at; at++)
            assert_true(*at >= ' ' && *at < 0x7F);
    }
}

static void overlong_names_are_rejected(void **state)
{
    char name[300];
    struct built_bytes b;
    (void)state;
    for (size_t length = 254; length < 258; length++) {
        memset(name, 'n', length);
        name[length] = 0;
        const struct built_entry entries[] = {{name, 4, 0, 0, 0}};
        struct built_cabinet m = right;
        m.entries = entries;
        built_build(&m, &b);
        if (length > 255) {
            assert_rejected(&b, NULL, "longer than 255 bytes");
        } else {
            char *path = in_scratch("x.cab");
            struct cabinet *c;
            built_store(&b, path);
            assert_int_equal(cabinet_open(path, NULL, &c), S_OK);
            cabinet_close(c);
            memory_free(path);
        }
    }
}

static void duplicate_names_are_rejected(void **state)
{
    static const char *const pairs[][2] = {{"dup.txt", "dup.txt"}, {"dup.txt", "DUP.TXT"}, {"a\\b.txt", "A/B.txt"},
                                           {"a", "a/b"},           {"a/b/c", "A/b"},       {"\xC3\xA4", "\xC3\x84"}};
    struct built_bytes b;
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct built_entry entries[] = {
            {pairs[i][0], 2, 0, 0, 0x80}, {"m", 0, 2, 0, 0}, {pairs[i][1], 2, 2, 0, 0x80}};
        struct built_cabinet m = right;
        m.entries = entries;
        m.count = 3;
        built_build(&m, &b);
        assert_rejected(&b, NULL, "another entry has this name");
    }
}

/* In each case, one field of a valid cabinet is corrupted. */
static void invalid_headers_are_rejected(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
        size_t size;
        const char *why;
    } cases[] = {
        {0, 0x4643534E, 4, "is not a cabinet"},
        {BUILT_VERSION + 1, 2, 1, "is not a cabinet"},
        {BUILT_SIZE, 1 << 20, 4, "truncated"},
        {BUILT_SIZE, 0x80000000, 4, "truncated"},
        {BUILT_SIZE, 40, 4, ""},
        {BUILT_FILES_AT, 0, 4, ""},
        {BUILT_FILES_AT, 0xFFFFFFFF, 4, ""},
        {BUILT_FILES_AT, 40, 4, ""},
        {BUILT_FOLDERS, 0, 2, "does not exist"},
        {BUILT_FOLDERS, 0xFFFF, 2, ""},
        {BUILT_FILES, 2, 2, ""},
        {BUILT_FILES, 0xFFFF, 2, ""},
        {BUILT_FOLDER, 0, 4, "or the headers"},
        {BUILT_FOLDER, 0xFFFFFFF0, 4, "beyond its end"},
        {BUILT_FOLDER + 4, 2, 2, "beyond its end"},
        {BUILT_FOLDER + 4, 0, 2, "exceed its blocks"},
        {BUILT_FOLDER + 4, 0xFFFF, 2, "beyond its end"},
        {BUILT_FOLDER + 6, 2, 2, "Quantum or LZX"},
        {BUILT_FOLDER + 6, 0x1503, 2, "Quantum or LZX"},
        {30, 1, 2, "multi-cabinet"},
        {30, 2, 2, "multi-cabinet"},
    };
    struct built_bytes b;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        built_build(&right, &b);
        built_patch(&b, cases[i].at, cases[i].value, cases[i].size);
        assert_rejected(&b, NULL, cases[i].why);
    }
    built_build(&right, &b);
    for (size_t cut = 0; cut < right.packed + 100u && b.size; cut++) {
        b.size--;
        assert_rejected(&b, NULL, "");
    }
}

static void invalid_entry_sizes_are_rejected(void **state)
{
    static const struct {
        struct built_entry entries[2];
        const char *why;
    } cases[] = {
        {{{"a", 0x7FFF8000, 0, 0, 0}, {"b", 0, 0, 0, 0}}, "overlaps another entry"},
        {{{"a", 4, 0, 0, 0}, {"b", 0x7FFF8000, 4, 0, 0}}, "exceed its blocks"},
        {{{"a", 0xFFFFFFFF, 0, 0, 0}, {"b", 0, 0xFFFFFFFF, 0, 0}}, "larger than"},
        {{{"a", 4, 0, 0, 0}, {"b", 4, 0, 0, 0}}, "overlaps another entry"},
        {{{"a", 4, 0, 0, 0}, {"b", 1, 3, 0, 0}}, "overlaps another entry"},
        {{{"a", 4, 0, 0, 0}, {"b", 1, 4, 0, 0}}, "exceed its blocks"},
        {{{"a", 4, 0, 0, 0}, {"b", 0, 4, 1, 0}}, "does not exist"},
        {{{"a", 4, 0, 0xFFFD, 0}, {"b", 0, 4, 0, 0}}, "another cabinet"},
        {{{"a", 4, 0, 0xFFFE, 0}, {"b", 0, 4, 0, 0}}, "another cabinet"},
        {{{"a", 4, 0, 0xFFFF, 0}, {"b", 0, 4, 0, 0}}, "another cabinet"},
    };
    struct built_bytes b;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct built_cabinet m = right;
        m.entries = cases[i].entries;
        m.count = 2;
        built_build(&m, &b);
        assert_rejected(&b, NULL, cases[i].why);
    }
}

/* Here all folders share one block, so extracting a small cabinet would write many times its size. */
static void folders_that_share_blocks_are_rejected(void **state)
{
    enum { FOLDERS = 50, ROWS = 36 + 8 * FOLDERS, ENTRY = 16 + 3 };
    struct built_bytes b = {.size = 0};
    (void)state;
    built_put(&b, 0x4643534D, 4);
    built_put(&b, 0, 4);
    built_put(&b, ROWS + ENTRY * FOLDERS + 8 + 4, 4);
    built_put(&b, 0, 4);
    built_put(&b, ROWS, 4);
    built_put(&b, 0, 4);
    built_put(&b, 0x0103, 2);
    built_put(&b, FOLDERS, 2);
    built_put(&b, FOLDERS, 2);
    built_put(&b, 0, 6);
    for (int i = 0; i < FOLDERS; i++) {
        built_put(&b, ROWS + ENTRY * FOLDERS, 4);
        built_put(&b, 1, 4);
    }
    for (uint32_t i = 0; i < FOLDERS; i++) {
        built_put(&b, 4, 4);
        built_put(&b, 0, 4);
        built_put(&b, i, 2);
        built_put(&b, 0, 6);
        built_put(&b, ('a' + i / 10) | ('0' + i % 10) << 8, 3);
    }
    built_put(&b, 0, 4);
    built_put(&b, 4, 2);
    built_put(&b, 4, 2);
    built_put(&b, built_word(four), 4);
    assert_rejected(&b, NULL, "overlap");
}

static void exceeded_limits_are_rejected(void **state)
{
    static const struct built_entry entries[] = {{"a", 2, 0, 0, 0}, {"b", 2, 2, 0, 0}};
    struct built_cabinet m = right;
    struct built_bytes b;
    (void)state;
    m.entries = entries;
    m.count = 2;
    built_build(&m, &b);
    assert_rejected(&b, &(struct cabinet_limits){.bytes = 3, .files = 9}, "would exceed 3 bytes when unpacked");
    assert_rejected(&b, &(struct cabinet_limits){.bytes = 9, .files = 1}, "2 files (at most 1");
}

static void put_number(uint8_t *at, uint32_t value, size_t size)
{
    for (size_t i = 0; i < size; i++, value >>= 8)
        at[i] = (uint8_t)value;
}

static bool give_up(void *user, uint64_t done, uint64_t whole)
{
    (void)done;
    (void)whole;
    ++*(unsigned *)user;
    return false;
}

/* A cabinet can consist of blocks with a single byte. If it had 2 GB, checking a file would take 200 million reads. */
static void blocks_without_data_are_limited(void **state)
{
    enum { FOLDERS = 2, BLOCKS = 65535, BLOCK = 9, ENTRY = 16 + 2, HEAD = 36 + FOLDERS * 8 + ENTRY };
    const size_t size = HEAD + (size_t)FOLDERS * BLOCKS * BLOCK;
    uint8_t *bytes = memory_zero(size, 1), *at = bytes;
    char *path = in_scratch("x.cab");
    unsigned asked = 0;
    struct cabinet *c;
    struct file *f;
    (void)state;
    memcpy(at, "MSCF", 4);
    put_number(at + 8, (uint32_t)size, 4);
    put_number(at + 16, HEAD - ENTRY, 4);
    put_number(at + 24, 0x0103, 2);
    put_number(at + 26, FOLDERS, 2);
    put_number(at + 28, 1, 2);
    for (uint32_t i = 0; i < FOLDERS; i++) {
        put_number(at + 36 + 8 * i, HEAD + i * BLOCKS * BLOCK, 4);
        put_number(at + 40 + 8 * i, BLOCKS, 2);
    }
    put_number(at + HEAD - ENTRY, 1, 4);
    at[HEAD - 2] = 'a';
    for (size_t i = 0; i < (size_t)FOLDERS * BLOCKS; i++) {
        at[HEAD + i * BLOCK + 4] = 1;
        at[HEAD + i * BLOCK + 6] = 1;
    }
    assert_int_equal(file_open(path, FILE_REPLACE, &f), S_OK);
    assert_int_equal(file_write(f, bytes, size), S_OK);
    file_close(f);
    assert_int_equal(cabinet_open(path, &(struct cabinet_limits){.bytes = 1 << 20, .files = 9}, &c),
                     PLA_E_CABAPI_FAILURE);
    assert_non_null(strstr(error_text(PLA_E_CABAPI_FAILURE), "far more blocks"));
    const struct cabinet_watch impatient = {give_up, &asked};
    assert_int_equal(cabinet_extract(path, NULL, scratch, &impatient), HRESULT_FROM_WIN32(ERROR_CANCELLED));
    assert_int_equal(asked, 1);
    memory_free(path);
    memory_free(bytes);
}

static void corrupt_blocks_are_rejected(void **state)
{
    static const uint8_t no_ck[] = {'X', 'K', 1, 4, 0, 0xFB, 0xFF, 'a', 'b', 'c', 'd'};
    static const uint8_t stored_short[] = {'C', 'K', 1, 3, 0, 0xFC, 0xFF, 'a', 'b', 'c'};
    static const uint8_t stored_long[] = {'C', 'K', 1, 5, 0, 0xFA, 0xFF, 'a', 'b', 'c', 'd', 'e'};
    static const uint8_t not_inverse[] = {'C', 'K', 1, 4, 0, 0xFB, 0xFE, 'a', 'b', 'c', 'd'};
    static const uint8_t kind_three[] = {'C', 'K', 7, 0};
    static const uint8_t no_end[] = {'C', 'K', 0, 4, 0, 0xFB, 0xFF, 'a', 'b', 'c', 'd'};
    /* Fixed codes: copies 3 bytes from before the first byte. */
    static const uint8_t before_all[] = {'C', 'K', 0x03, 0x02, 0x00, 0x00};
    static const struct {
        const uint8_t *data;
        uint16_t size;
    } cases[] = {{no_ck, sizeof no_ck},
                 {stored_short, sizeof stored_short},
                 {stored_long, sizeof stored_long},
                 {not_inverse, sizeof not_inverse},
                 {kind_three, sizeof kind_three},
                 {no_end, sizeof no_end},
                 {before_all, sizeof before_all},
                 {no_ck, 1}};
    struct built_cabinet m = right;
    (void)state;
    m.packing = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        m.data = cases[i].data;
        m.packed = cases[i].size;
        assert_extraction_rejected(&m, "cannot be unpacked");
    }
    m = right;
    m.wrong_checksum = true;
    assert_extraction_rejected(&m, "checksum");
}

static void reserved_bytes_are_skipped(void **state)
{
    static const uint8_t packed[] = {'C', 'K', 1, 4, 0, 0xFB, 0xFF, 'a', 'b', 'c', 'd'};
    const struct built_entry entries[] = {
        {"d\\a.txt", 3, 0, 0, 0x21}, {"e.txt", 0, 3, 0, 0}, {"f\xE4.txt", 1, 3, 0, 0}};
    const struct built_cabinet m = {entries, 3, 4, 1, packed, sizeof packed, 4, 7, false};
    struct built_bytes b;
    (void)state;
    char *path = in_scratch("x.cab"), *to = in_scratch("to"), *inner = in_scratch("to/d/a.txt"),
         *umlaut = in_scratch("to/f\xC3\xA4.txt"), *empty = in_scratch("to/e.txt");
    built_build(&m, &b);
    built_store(&b, path);
    assert_int_equal(cabinet_extract(path, NULL, to, NULL), S_OK);
    char *text = scratch_read(inner);
    assert_string_equal(text, "abc");
    memory_free(text);
    text = scratch_read(umlaut);
    assert_string_equal(text, "d");
    memory_free(text);
    assert_true(file_exists(empty));
    struct file *f;
    struct file_traits traits;
    assert_int_equal(file_open_source(inner, &f), S_OK);
    assert_int_equal(file_traits_of(f, &traits), S_OK);
    assert_true(traits.attributes & FILE_TRAIT_READ_ONLY);
    /* The test must be able to delete the file. */
    traits.attributes &= ~FILE_TRAIT_READ_ONLY;
    (void)file_set_traits(f, &traits);
    file_close(f);
    /* A second extraction must not replace the files. */
    assert_int_equal(cabinet_extract(path, NULL, to, NULL), HRESULT_FROM_WIN32(ERROR_FILE_EXISTS));
    memory_free(empty);
    memory_free(umlaut);
    memory_free(inner);
    memory_free(to);
    memory_free(path);
}

/* An attacker has placed a link where the cabinet's folder would be created. */
static void links_in_the_target_are_not_followed(void **state)
{
    static const struct built_entry entries[] = {{"d\\a.txt", 4, 0, 0, 0}};
    struct built_cabinet m = right;
    struct built_bytes b;
    (void)state;
    char *path = in_scratch("x.cab"), *to = in_scratch("to"), *out = in_scratch("elsewhere"),
         *written = in_scratch("elsewhere/a.txt");
    m.entries = entries;
    built_build(&m, &b);
    built_store(&b, path);
    assert_int_equal(folder_create(to), S_OK);
    assert_int_equal(folder_create(out), S_OK);
    scratch_link(to, "d", "../elsewhere", false);
    assert_int_equal(cabinet_extract(path, NULL, to, NULL), HRESULT_FROM_WIN32(ERROR_FILE_EXISTS));
    assert_false(file_exists(written));
    scratch_unlink(to, "d");
    memory_free(written);
    memory_free(out);
    memory_free(to);
    memory_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_that_lead_outside_are_rejected, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(overlong_names_are_rejected, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(duplicate_names_are_rejected, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(invalid_headers_are_rejected, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(invalid_entry_sizes_are_rejected, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(folders_that_share_blocks_are_rejected, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(exceeded_limits_are_rejected, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(blocks_without_data_are_limited, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(corrupt_blocks_are_rejected, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(reserved_bytes_are_skipped, make_scratch, scratch_end),
        cmocka_unit_test_setup_teardown(links_in_the_target_are_not_followed, make_scratch, scratch_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

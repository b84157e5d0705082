/* SPDX-License-Identifier: MIT */
/* The check of the store. Memory may run out or the disk may fail while it repairs sets. It must not lose a user's only
   copy. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "engine/pla/store.h"
#include "tests/unit/file_faults.h"
#include "tests/unit/scratch_folder.h"

#define XML    "<DataCollectorSet><Description>%s</Description></DataCollectorSet>\n<?openpla-set name=\"%s\"?>\n"
#define RECORD "openpla-run 1\nserial-number 3\nlast-message \nlatest-location \n"
#define FAULT  HRESULT_FROM_WIN32(1117) /* ERROR_IO_DEVICE, which only the simulated faults return */

/* In native runs, each call fails in turn. Under Wine, creating a store takes long, so only some calls fail. */
#ifdef _WIN32
enum { ALLOCATION_STEP = 101, OPERATION_STEP = 3 };
#else
enum { ALLOCATION_STEP = 1, OPERATION_STEP = 1 };
#endif

static char *folder;

/* The files of the store before the check, with their contents. */
static const struct {
    const char *set, *file, *place; /* `place` NULL: the file is in the set's folder */
    const char *text;
} files[] = {
    {"good", "good.xml", NULL, "whole"},  {"lost", "lost.xml", "00", "in a wrong folder"},
    {"bad", "bad.xml", NULL, NULL},       {"bad", "bad.run", NULL, "record"},
    {"gone", "gone.run", NULL, "record"}, {"flat", "flat.xml", ".", "beside the folders"},
};
enum { FILES = sizeof files / sizeof *files };

static char *path_of(size_t i)
{
    char *own = store_definition_path("Service", files[i].set), *place = path_folder(own);
    char *space = path_folder(place),
         *folder_there = files[i].place ? path_join(space, files[i].place) : text_copy(place);
    if (files[i].place && !strcmp(files[i].place, ".")) {
        memory_free(folder_there);
        folder_there = text_copy(space);
    }
    assert_int_equal(folder_create_protected(folder_there, PROTECTION_PLACE), S_OK);
    char *path = path_join(folder_there, files[i].file);
    memory_free(folder_there);
    memory_free(space);
    memory_free(place);
    memory_free(own);
    return path;
}

static char *text_of(size_t i)
{
    if (!files[i].text)
        return text_copy("<DataCollectorSet><Descr");
    return !strcmp(files[i].text, "record") ? text_copy(RECORD) : text_format(XML, files[i].text, files[i].set);
}

static void make_store(void)
{
    scratch_remove(folder);
    assert_int_equal(folder_create_protected(folder, PROTECTION_DATA), S_OK);
    for (size_t i = 0; i < FILES; i++) {
        char *path = path_of(i), *text = text_of(i);
        assert_int_equal(file_store(path, text, strlen(text)), S_OK);
        memory_free(text);
        memory_free(path);
    }
}

/* Returns how many files in the folder and its subfolders contain the text. */
static unsigned count_text(const char *in, const char *text)
{
    struct texts names = {0};
    unsigned count = 0;
    assert_int_equal(folder_list(in, true, &names), S_OK);
    for (size_t i = 0; i < names.count; i++) {
        char *path = path_join(in, names.items[i]);
        count += count_text(path, text);
        memory_free(path);
    }
    assert_int_equal(folder_list(in, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++) {
        char *path = path_join(in, names.items[i]), *found = NULL;
        size_t size;
        assert_int_equal(file_load(path, 1 << 20, &found, &size), S_OK);
        count += !strcmp(found, text);
        memory_free(found);
        memory_free(path);
    }
    texts_free(&names);
    return count;
}

static void assert_nothing_is_lost(void)
{
    for (size_t i = 0; i < FILES; i++) {
        char *text = text_of(i);
        if (count_text(folder, text) != (strcmp(text, RECORD) ? 1 : 2))
            fail_msg("%s: the text occurs %u times", files[i].file, count_text(folder, text));
        memory_free(text);
    }
}

static HRESULT count_findings(void *user, const struct store_finding *f)
{
    (void)f;
    ++*(unsigned *)user;
    return S_OK;
}

static unsigned findings(bool repair)
{
    unsigned count = 0;
    HRESULT hr = store_check(repair, count_findings, &count);
    if (FAILED(hr))
        fail_msg("0x%08X %s", (unsigned)hr, error_text(hr));
    return count;
}

/* Asserts that the check repairs the store. It must keep the record of a set even if the definition is invalid or
   missing: if the set is restored, it must still have its serial number. */
static void assert_repaired(void)
{
    unsigned records = 0;
    findings(true);
    for (size_t i = 0; i < FILES; i++) {
        char *path = path_of(i);
        records += !strcmp(path_extension(path), ".run") && file_exists(path);
        memory_free(path);
    }
    assert_int_equal(records, 2);
    assert_int_equal(findings(false), records);
    assert_nothing_is_lost();
    for (size_t i = 0; i < FILES; i++) {
        char *path = store_definition_path("Service", files[i].set);
        assert_int_equal(file_exists(path), !!strcmp(files[i].set, "bad") && !!strcmp(files[i].set, "gone"));
        memory_free(path);
    }
}

static void repair_fixes_all_and_loses_nothing(void **state)
{
    (void)state;
    make_store();
    assert_int_equal(findings(false), 4);
    assert_nothing_is_lost();
    assert_int_equal(findings(false), 4); /* a check without repair must change nothing */
    assert_repaired();
}

static void each_allocation_fails(void **state)
{
    uint64_t n = 1;
    (void)state;
    for (bool failed = true; failed; n += ALLOCATION_STEP) {
        unsigned count = 0;
        make_store();
        memory_fail_at(n);
        HRESULT hr = store_check(true, count_findings, &count);
        failed = memory_count() >= n;
        memory_fail_at(0);
        if (FAILED(hr) && hr != E_OUTOFMEMORY)
            fail_msg("allocation %u: 0x%08X %s", (unsigned)n, (unsigned)hr, error_text(hr));
        assert_true(failed || hr == S_OK);
        assert_nothing_is_lost();
        assert_repaired();
    }
    print_message("check: one of %d allocations failed in turn, as far as %u\n", ALLOCATION_STEP, (unsigned)n);
}

static void each_operation_fails(void **state)
{
    static const int kinds[] = {FAULT_ONCE, FAULT_LASTING, FAULT_FULL};
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        uint64_t n = 1;
        for (bool met = true; met; n += OPERATION_STEP) {
            struct file_faults faults = {.at = n, .kind = kinds[kind], .hr = FAULT};
            unsigned count = 0;
            make_store();
            file_faults_begin(&faults);
            HRESULT hr = store_check(true, count_findings, &count);
            file_faults_end();
            met = faults.count >= n;
            if (FAILED(hr) && hr != FAULT && hr != HRESULT_FROM_WIN32(ERROR_DISK_FULL))
                fail_msg("operation %u: 0x%08X %s", (unsigned)n, (unsigned)hr, error_text(hr));
            assert_nothing_is_lost();
            assert_repaired();
        }
        print_message("check: one of %d operations failed, as far as %u, kind %d\n", OPERATION_STEP, (unsigned)n,
                      kinds[kind]);
    }
}

/* ---- passwords ---- */

#define KEY(digit) "0123456789abcdef0123456789abcde" digit
#define ACCOUNT(digit)                                                                                                 \
    "<DataCollectorSet><Description>a</Description></DataCollectorSet>\n<?openpla-account user=\"u\" key=\"" KEY(      \
        digit) "\"?>\n"

static char *secret_file(const char *key)
{
    char *secrets = path_join(folder, "secrets"), *path = path_join(secrets, key);
    memory_free(secrets);
    return path;
}

/* Creates a secret as if a commit had written it this many seconds ago. */
static void put_secret(const char *key, int seconds)
{
    struct file *f;
    char *path = secret_file(key);
    assert_int_equal(secret_store(key, "S3cret"), S_OK);
    assert_int_equal(file_open(path, FILE_APPEND, &f), S_OK);
    const int64_t then = clock_utc() - seconds * INT64_C(10000000);
    assert_int_equal(file_set_traits(f, &(struct file_traits){.accessed = then, .written = then}), S_OK);
    file_close(f);
    memory_free(path);
}

static void put_definition(const char *name, const char *text, size_t size)
{
    char *path = store_definition_path("Service", name), *place = path_folder(path);
    assert_int_equal(folder_create_protected(place, PROTECTION_PLACE), S_OK);
    assert_int_equal(file_store(path, text, size), S_OK);
    memory_free(place);
    memory_free(path);
}

static bool has_secret(const char *key)
{
    char *path = secret_file(key);
    const bool has = file_exists(path);
    memory_free(path);
    return has;
}

static HRESULT note_secret(void *user, const struct store_finding *f)
{
    if (f->fault == STORE_ORPHAN && strstr(f->path, "secrets")) {
        /* If not everything could be checked, a used password may be reported as a possible orphan. */
        assert_true(f->repaired == S_FALSE || strcmp(path_name(f->path), KEY("1")) != 0);
        ++*(unsigned *)user;
    }
    return S_OK;
}

static unsigned orphans(bool repair)
{
    unsigned count = 0;
    assert_int_equal(store_check(repair, note_secret, &count), S_OK);
    return count;
}

/* If the password of a deleted set was kept, someone could read it from the disk. The password of an existing set must
   be kept, because it is the only copy. */
static void orphaned_passwords_are_deleted(void **state)
{
    static const char used[] = ACCOUNT("1"), torn[] = "<DataColl" ACCOUNT("2") "<?openpla-s", young[] = KEY("5");
    (void)state;
    scratch_remove(folder);
    assert_int_equal(folder_create_protected(folder, PROTECTION_DATA), S_OK);
    put_definition("used", used, strlen(used));
    put_definition("torn", torn, strlen(torn)); /* is quarantined, and a user may repair it */
    put_secret(KEY("1"), 4000);
    put_secret(KEY("2"), 4000);
    put_secret(KEY("3"), 4000);
    put_secret(KEY("4"), 601);
    put_secret(young, 300); /* a commit may not have written its definition yet */
    assert_int_equal(orphans(false), 2);
    assert_true(has_secret(KEY("3")));
    assert_int_equal(orphans(true), 2);
    assert_int_equal(orphans(true), 0);
    assert_true(has_secret(KEY("1")) && has_secret(KEY("2")) && has_secret(young));
    assert_false(has_secret(KEY("3")) || has_secret(KEY("4")));
}

/* A user may have renamed a definition and may rename it back, so its password must be kept. */
static void unknown_files_count_as_possible_definitions(void **state)
{
    static const char off[] = ACCOUNT("1");
    (void)state;
    scratch_remove(folder);
    assert_int_equal(folder_create_protected(folder, PROTECTION_DATA), S_OK);
    put_definition("used", off, strlen(off));
    put_secret(KEY("1"), 4000);
    put_secret(KEY("3"), 4000);
    char *path = store_definition_path("Service", "used"), *renamed = text_format("%s.off", path);
    assert_int_equal(file_rename(path, renamed), S_OK);
    assert_int_equal(orphans(true), 1);
    assert_true(has_secret(KEY("1")) && !has_secret(KEY("3")));
    put_secret(KEY("3"), 4000);
    char *place = path_folder(path), *space = path_folder(place), *kept = path_join(space, "kept");
    assert_int_equal(folder_create_protected(kept, PROTECTION_PLACE), S_OK); /* the check ignores this folder */
    assert_int_equal(orphans(true), 1);
    assert_true(has_secret(KEY("1")) && has_secret(KEY("3")));
    memory_free(kept);
    memory_free(space);
    memory_free(place);
    memory_free(renamed);
    memory_free(path);
}

/* A password may belong to a definition that cannot be read at the moment. */
static void passwords_are_kept_while_a_definition_is_unreadable(void **state)
{
    static const char used[] = ACCOUNT("1");
    uint64_t n = 1;
    unsigned spared = 0;
    (void)state;
    for (bool met = true; met; n++) {
        struct file_faults faults = {.at = n, .kind = FAULT_ONCE, .hr = FAULT};
        unsigned count = 0;
        scratch_remove(folder);
        assert_int_equal(folder_create_protected(folder, PROTECTION_DATA), S_OK);
        put_definition("used", used, strlen(used));
        put_secret(KEY("1"), 4000);
        put_secret(KEY("3"), 4000);
        file_faults_begin(&faults);
        HRESULT hr = store_check(true, note_secret, &count);
        file_faults_end();
        met = faults.met;
        assert_true(hr == S_OK || hr == FAULT);
        assert_true(has_secret(KEY("1")));
        spared += has_secret(KEY("3"));
    }
    assert_true(spared);
    print_message("passwords: one of %u operations failed\n", (unsigned)n - 2);
    scratch_remove(folder);
    assert_int_equal(folder_create_protected(folder, PROTECTION_DATA), S_OK);
    put_secret(KEY("3"), 4000); /* all definitions are missing, but a backup may be restored */
    assert_int_equal(orphans(true), 1);
    assert_true(has_secret(KEY("3")));
}

static int make_folder(void **state)
{
    char *relative = scratch_create("test_store_check");
    *state = folder = os_full_path(relative);
    memory_free(relative);
    scratch_environment("OPENPLA_DATA", folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repair_fixes_all_and_loses_nothing),
        cmocka_unit_test(each_allocation_fails),
        cmocka_unit_test(each_operation_fails),
        cmocka_unit_test(orphaned_passwords_are_deleted),
        cmocka_unit_test(unknown_files_count_as_possible_definitions),
        cmocka_unit_test(passwords_are_kept_while_a_definition_is_unreadable),
    };
    return cmocka_run_group_tests(tests, make_folder, scratch_end);
}

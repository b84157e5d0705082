/* SPDX-License-Identifier: MIT */
/* Sets in the store. An error here would lose a user's definition, or list a set that does not exist. */
#include "engine/pla/store.h"
#include "save_run.h"
#include "tests/unit/scratch_folder.h"

#define XML_A "<?xml version=\"1.0\"?>\n<DataCollectorSet><Name>a</Name></DataCollectorSet>"
#define XML_B "<DataCollectorSet>\r\n  <Description>b</Description>\r\n</DataCollectorSet>\r\n\r\n"

static char *folder;

static void save(const char *name, enum store_mode mode, const char *xml, HRESULT expected)
{
    char *before = NULL;
    size_t size;
    bool there = SUCCEEDED(store_load(&caller_self, "Service", name, &before, &size)), created = there;
    HRESULT hr = store_save(&caller_self, "Service", name, mode, xml, strlen(xml), NULL, &created);
    memory_free(before);
    if (SUCCEEDED(hr) && created == there)
        fail_msg("\"%s\": it was %sthere", name, there ? "" : "not ");

    if (hr != expected)
        fail_msg("\"%s\": 0x%08X %s", name, (unsigned)hr, error_text(hr));
}

static void assert_stored(const char *name, const char *expected)
{
    char *xml;
    size_t size;
    assert_int_equal(store_load(&caller_self, "Service", name, &xml, &size), S_OK);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(xml, expected);
    memory_free(xml);
}

/* Asserts that the namespace has these sets. `expected` has their names in the order of the list, joined by '|'. */
static void assert_listed(const char *space, const char *expected)
{
    struct texts names = {0};
    struct text_buffer b = {0};
    assert_int_equal(store_list(&caller_self, space, &names), S_OK);
    for (size_t i = 0; i < names.count; i++) {
        text_buffer_add(&b, i ? "|" : "");
        text_buffer_add(&b, names.items[i]);
    }
    char *joined = text_buffer_take(&b);
    assert_string_equal(joined, expected);
    memory_free(joined);
    texts_free(&names);
}

/* If a program only reads, no store is created. */
static void empty_store(void **state)
{
    char *xml;
    size_t size;
    struct run_record record;
    (void)state;
    assert_listed("Service", "");
    assert_int_equal(store_load(&caller_self, "Service", "a", &xml, &size), PLA_E_DCS_NOT_FOUND);
    assert_null(xml);
    assert_non_null(strstr(error_text(PLA_E_DCS_NOT_FOUND), "Service\\a"));
    assert_int_equal(store_delete(&caller_self, "Service", "a"), PLA_E_DCS_NOT_FOUND);
    assert_int_equal(store_load_run("Service", "a", &record), S_OK);
    assert_false(record.known);
    assert_false(folder_exists(folder));
    assert_int_equal(store_load(&caller_self, "Nowhere", "a", &xml, &size), E_NOINTERFACE);
    assert_int_equal(store_save(&caller_self, "Nowhere", "a", STORE_CREATE, "", 0, NULL, NULL), E_NOINTERFACE);
}

static void create_modify_delete(void **state)
{
    (void)state;
    save("Disk", STORE_MODIFY, XML_A, PLA_E_DCS_NOT_FOUND);
    assert_false(folder_exists(folder));
    save("Disk", STORE_CREATE, XML_A, S_OK);
    save("disk", STORE_CREATE, XML_B, PLA_E_DCS_ALREADY_EXISTS);
    assert_non_null(strstr(error_text(PLA_E_DCS_ALREADY_EXISTS), "Service\\disk"));
    assert_stored("DISK", XML_A);
    save("DISK", STORE_MODIFY, XML_B, S_OK);
    assert_stored("Disk", XML_B);
    assert_listed("Service", "DISK"); /* the list has the name as in the last commit */
    save("Disk", STORE_CREATE_OR_MODIFY, XML_A, S_OK);
    assert_listed("service", "Disk");
    assert_listed("Session", "");
    assert_int_equal(store_save(&caller_self, "SESSION", "Disk", STORE_CREATE, XML_B, strlen(XML_B), NULL, NULL), S_OK);
    assert_stored("Disk", XML_A);
    assert_int_equal(store_delete(&caller_self, "Session", "disk"), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "disk"), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "disk"), PLA_E_DCS_NOT_FOUND);
    assert_listed("Service", "");
    save("Disk", STORE_MODIFY, XML_A, PLA_E_DCS_NOT_FOUND);
}

/* The XML must be returned byte for byte, even if it is empty or looks like the name line that OpenPLA adds. */
static void xml_is_kept_exactly(void **state)
{
    static const char *const texts[] = {"", "\n", "x\n<?openpla-set name=\"other\"?>\n", "<?openpla-set name=\"?>",
                                        "\n<?openpla-set name=\""};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        save("exact", STORE_CREATE_OR_MODIFY, texts[i], S_OK);
        assert_stored("Exact", texts[i]);
        assert_listed("Service", "exact");
    }
    assert_int_equal(store_delete(&caller_self, "Service", "exact"), S_OK);
}

/* A set can have any name that Windows accepts, even if the file system does not support it. */
static void unusual_names(void **state)
{
    char longest[601];
    static const char *const names[] = {"CON",
                                        "a.",
                                        "a. ",
                                        "nul.xml",
                                        " x",
                                        "50% idle",
                                        "~1",
                                        "..",
                                        "%41",
                                        "A&B <not>",
                                        "M\xC3\xBCnchen \xE2\x82\xAC",
                                        "\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82",
                                        "\xF0\x9F\x98\x80",
                                        "store.lock",
                                        "a.xml",
                                        "a.run"};
    struct texts listed = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        save(names[i], STORE_CREATE, names[i], S_OK);
    for (int i = 0; i < 300; i++)
        memcpy(longest + 2 * i, "\xC3\xBC", 2);
    longest[600] = 0;
    save(longest, STORE_CREATE, XML_A, S_OK);
    longest[598] = 0;
    save(longest, STORE_CREATE, XML_B, S_OK);
    assert_stored(longest, XML_B);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_stored(names[i], names[i]);
    assert_int_equal(store_list(&caller_self, "Service", &listed), S_OK);
    assert_int_equal(listed.count, sizeof(names) / sizeof(*names) + 2);
    for (size_t i = 0; i < listed.count; i++) {
        bool known = strlen(listed.items[i]) > 500;
        for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
            known |= !strcmp(names[n], listed.items[i]);
        assert_true(known);
        assert_int_equal(store_delete(&caller_self, "Service", listed.items[i]), S_OK);
    }
    texts_free(&listed);
    assert_listed("Service", "");
}

/* Names that differ only in case mean the same set, also in scripts other than Latin. */
static void case_of_names(void **state)
{
    (void)state;
    save("\xC3\xBC\xD1\x8F", STORE_CREATE, XML_A, S_OK);
    save("\xC3\x9C\xD0\xAF", STORE_CREATE, XML_B, PLA_E_DCS_ALREADY_EXISTS);
    save("\xC3\x9C\xD1\x8F", STORE_MODIFY, XML_B, S_OK);
    assert_listed("Service", "\xC3\x9C\xD1\x8F");
    assert_int_equal(store_delete(&caller_self, "Service", "\xC3\xBC\xD0\xAF"), S_OK);
}

/* Two names that look alike must be two sets on every file system. Some file systems normalise names or know more case
   pairs than OpenPLA. They would store both sets in one file, and the second commit would replace the first set. */
static void names_that_look_alike_are_two_sets(void **state)
{
    static const char *const alike[][2] = {
        {"\xC3\x84", "A\xCC\x88"},                  /* A with diaeresis, composed and decomposed */
        {"\xE2\x84\xAB", "\xC3\x85"},               /* Angstrom sign; A with ring */
        {"\xC4\xB0", "i"},                          /* dotted capital I, which is the capital of i in Turkish */
        {"\xC3\x9F", "ss"},                         /* sharp s, whose capital form is SS */
        {"\xEF\xBC\xA1", "\xEF\xBD\x81"},           /* full-width A and a, a case pair in some file systems */
        {"\xD5\xA1", "\xD4\xB1"},                   /* Armenian ayb, small and capital */
        {"a\xCC\xA7\xCC\x81", "a\xCC\x81\xCC\xA7"}, /* the same combining marks in another order */
        {"\xED\x95\x9C", "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"}, /* a Hangul syllable and its letters */
        {"%C3%84", "\xC3\x84"},                                   /* the first is the file name of the second */
    };
    (void)state;
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        char *first = store_file_name(alike[i][0]), *second = store_file_name(alike[i][1]);
        for (const char *c = first; *c; c++)
            assert_true(*c >= 0x20 && *c < 0x7F); /* only characters that no file system normalises */
        assert_false(text_equal_nocase(first, second));
        save(alike[i][0], STORE_CREATE, XML_A, S_OK);
        save(alike[i][1], STORE_CREATE, XML_B, S_OK);
        assert_stored(alike[i][0], XML_A);
        assert_stored(alike[i][1], XML_B);
        assert_int_equal(store_delete(&caller_self, "Service", alike[i][0]), S_OK);
        assert_stored(alike[i][1], XML_B);
        assert_int_equal(store_delete(&caller_self, "Service", alike[i][1]), S_OK);
        memory_free(first);
        memory_free(second);
    }
}

/* A definition that a user copies into the folder becomes a set. Its name is the file's name, in any case. It replaces
   an existing set with that name. */
static void copied_definitions_are_adopted(void **state)
{
    char *space = path_join(folder, "sets/Service"), *mine = store_definition_path("Service", "mine");
    char *copy = path_join(space, "Copy%2E.xml"), *other = path_join(space, "notes.txt");
    (void)state;
    save("Mine", STORE_CREATE, XML_A, S_OK);
    char *text = scratch_read(mine);
    assert_int_equal(file_store(copy, text, strlen(text)), S_OK);
    assert_int_equal(file_store(other, "x", 1), S_OK);
    assert_listed("Service", "copy.|Mine"); /* the set has the file's name, not the name in the copied XML */
    assert_stored("copy.", XML_A);
    assert_int_equal(file_store(copy, XML_B, strlen(XML_B)), S_OK);
    assert_listed("Service", "Copy.|Mine");
    assert_stored("COPY.", XML_B);
    assert_int_equal(store_delete(&caller_self, "Service", "copy."), S_OK);
    memory_free(copy);
    copy = path_join(space, "copy%2E.xml");
    assert_int_equal(file_store(copy, XML_A, strlen(XML_A)), S_OK);
    assert_stored("copy.", XML_A); /* the file is adopted even if the sets are not listed before */
    assert_int_equal(store_delete(&caller_self, "Service", "copy."), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "mine"), S_OK);
    memory_free(text);
    memory_free(other);
    memory_free(copy);
    memory_free(mine);
    memory_free(space);
}

/* The store may be checked while a user copies a definition into its folder. If it adopted the incomplete file, the
   rest would be lost. */
static void incomplete_copies_are_not_adopted(void **state)
{
    const size_t half = strlen(XML_A) / 2;
    char *space = path_join(folder, "sets/Service"), *copy = path_join(space, "Slow.xml");
    struct texts names = {0};
    struct file *f;
    (void)state;
    assert_int_equal(folder_create(space), S_OK);
    assert_int_equal(file_open(copy, FILE_CREATE_NEW, &f), S_OK);
    assert_int_equal(file_write(f, XML_A, half), S_OK);
    assert_int_equal(store_list(&caller_self, "Service", &names), S_OK);
    assert_int_equal(file_write(f, &XML_A[half], strlen(XML_A) - half), S_OK);
    file_close(f);
    assert_stored("slow", XML_A);
    assert_int_equal(store_delete(&caller_self, "Service", "slow"), S_OK);
    texts_free(&names);
    memory_free(copy);
    memory_free(space);
}

/* An older version of OpenPLA had the files of all sets in one folder. */
static void store_with_one_folder_is_converted(void **state)
{
    char *space = path_join(folder, "sets/Service");
    static const char *const names[] = {"old one.xml", "old one.run", "old one.running", "~12-34.tmp"};
    static const char record[] = "openpla-run 1\nserial-number 9\nlast-result 0x00000000\nrunning 0\n"
                                 "last-scheduled 0\nlast-message \nlatest-location \n";
    static const char *const texts[] = {XML_A "\n<?openpla-set name=\"Old One\"?>\n", record, "", "torn"};
    struct run_record back;
    struct texts left = {0};
    (void)state;
    assert_int_equal(folder_create(space), S_OK);
    for (int i = 0; i < 4; i++) {
        char *path = path_join(space, names[i]);
        assert_int_equal(file_store(path, texts[i], strlen(texts[i])), S_OK);
        memory_free(path);
    }
    assert_listed("Service", "Old One");
    assert_stored("old one", XML_A);
    assert_int_equal(store_load_run("Service", "old one", &back), S_OK);
    assert_int_equal(back.serial_number, 9);
    run_record_free(&back);
    assert_int_equal(folder_list(space, false, &left), S_OK);
    for (size_t i = 0; i < left.count; i++)
        if (strncmp(left.items[i], "store.", 6) != 0 && strcmp(left.items[i], "notes.txt") != 0)
            fail_msg("%s is left", left.items[i]);
    texts_free(&left);
    assert_int_equal(store_delete(&caller_self, "Service", "old one"), S_OK);
    memory_free(space);
}

/* If a name is long and has characters that file names cannot contain, the file name is shortened. The set must still
   be found. */
static void long_name_in_a_store_with_one_folder_is_found(void **state)
{
    static const char letter[] = "\xD0\x96", end[] = "\n<?openpla-set name=\"";
    struct text_buffer name = {0}, content = {0};
    (void)state;
    for (int i = 0; i < 40; i++)
        text_buffer_add(&name, letter);
    text_buffer_add(&content, XML_A);
    text_buffer_add(&content, end);
    text_buffer_add(&content, name.text);
    text_buffer_add(&content, "\"?>\n");
    char *file = store_file_name(name.text), *space = path_join(folder, "sets/Service");
    char *flat = text_format("%s/%s.xml", space, file);
    assert_int_equal(folder_create(space), S_OK);
    assert_int_equal(file_store(flat, content.text, content.length), S_OK);
    assert_stored(name.text, XML_A);
    assert_listed("Service", name.text);
    assert_int_equal(store_delete(&caller_self, "Service", name.text), S_OK);
    memory_free(flat);
    memory_free(space);
    memory_free(file);
    text_buffer_free(&content);
    text_buffer_free(&name);
}

static void assert_same_text(const char *a, const char *b)
{
    assert_non_null(a);
    assert_string_equal(a, b);
}

/* The record of a run is stored for the next run. It contains the serial number, the files, and why the run ended. */
static void run_records(void **state)
{
    struct run_record record = {.known = true, .serial_number = 4294967295u, .last_result = PLA_E_NO_MIN_DISK}, back;
    char location[] = "C:\\PerfLogs\\Admin\\100% \xC3\xBC\n\r\\x";
    char message[] = "\tdropped: \\Processor(_Total)\\% Idle Time\n2 lost ";
    (void)state;
    record.latest_location = location;
    record.last_message = message;
    record.running = true;
    record.last_scheduled = -133000000000000001;
    assert_int_equal(texts_add(&record.latest_files, "a b.blg"), S_OK);
    assert_int_equal(texts_add(&record.latest_files, ""), S_OK);
    assert_int_equal(texts_add(&record.latest_files, " c%0A"), S_OK);
    save("Run", STORE_CREATE, XML_A, S_OK);
    assert_int_equal(store_load_run("Service", "run", &back), S_OK);
    assert_false(back.known);
    assert_int_equal(save_run("Service", "RUN", &record), S_OK);
    assert_int_equal(store_load_run("Service", "run", &back), S_OK);
    assert_true(back.known);
    assert_true(back.serial_number == record.serial_number);
    assert_int_equal(back.last_result, record.last_result);
    assert_true(back.running);
    assert_true(back.last_scheduled == record.last_scheduled);
    assert_same_text(back.latest_location, location);
    assert_same_text(back.last_message, message);
    assert_int_equal(back.latest_files.count, 3);
    for (int i = 0; i < 3; i++)
        assert_same_text(back.latest_files.items[i], record.latest_files.items[i]);
    run_record_free(&back);
    assert_stored("Run", XML_A); /* a run never changes the definition */
    save("Run", STORE_MODIFY, XML_B, S_OK);
    assert_int_equal(store_load_run("Service", "run", &back), S_OK);
    assert_true(back.known); /* a commit never changes the run record */
    run_record_free(&back);
    record.last_message = NULL;
    record.latest_location = NULL;
    texts_free(&record.latest_files);
    assert_int_equal(save_run("Service", "run", &record), S_OK);
    assert_int_equal(store_load_run("Service", "run", &back), S_OK);
    assert_same_text(back.last_message, "");
    assert_same_text(back.latest_location, "");
    run_record_free(&back);
    assert_int_equal(store_delete(&caller_self, "Service", "run"), S_OK);
    save("Run", STORE_CREATE, XML_A, S_OK);
    assert_int_equal(store_load_run("Service", "run", &back), S_OK);
    assert_false(back.known); /* a new set has no record, even if a deleted set had the same name */
    assert_int_equal(store_delete(&caller_self, "Service", "run"), S_OK);
}

/* If a record is corrupt, an error reports its path, and its values are not used. Lines that a newer version has added
   are not corruption. */
static void run_record_files(void **state)
{
    static const struct {
        const char *text;
        bool ok;
    } cases[] = {
        {"openpla-run 1\nserial-number 7\nlast-result 0x80004005\n", true},
        {"openpla-run 1\nserial-number 7\nlast-result 0x80004005\ncolour blue\nalone\n", true},
        {"", false},
        {"openpla-run 1", false},
        {"openpla-run 2\n", false},
        {"openpla-run 1\nserial-number 7", false},
        {"openpla-run 1\nserial-number x\n", false},
        {"openpla-run 1\nlast-scheduled soon\n", false},
        {"openpla-run 1\nrunning yes\n", false},
        {"openpla-run 1\nserial-number 4294967296\n", false},
        {"openpla-run 1\nserial-number -1\n", false},
        {"openpla-run 1\nlast-message %\n", false},
        {"openpla-run 1\nlast-message %0\n", false},
        {"openpla-run 1\nlast-message %00\n", false},
        {"openpla-run 1\nlast-message %zz\n", false},
    };
    char *lock_path = store_run_lock_path("Service", "damaged"), *place = path_folder(lock_path);
    char *path = path_join(place, "damaged.run");
    const HRESULT invalid = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    struct run_record record;

    (void)state;
    assert_int_equal(folder_create(place), S_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        HRESULT hr;
        assert_int_equal(file_store(path, cases[i].text, strlen(cases[i].text)), S_OK);
        hr = store_load_run("Service", "damaged", &record);
        if (hr != (cases[i].ok ? S_OK : invalid))
            fail_msg("case %d: 0x%08X", (int)i, (unsigned)hr);
        assert_int_equal(record.known, cases[i].ok);
        if (cases[i].ok) {
            assert_int_equal(record.serial_number, 7);
            assert_int_equal(record.last_result, E_FAIL);
        } else {
            assert_non_null(strstr(error_text(invalid), "damaged.run"));
        }
        run_record_free(&record);
    }
    assert_int_equal(file_store(path, "openpla-run 1\nserial-number 7\n\0serial-number 8\n", 48), S_OK);
    assert_int_equal(store_load_run("Service", "damaged", &record), invalid);
    /* a record that an interrupted deletion has left is not used for a new set with the same name */
    save("damaged", STORE_CREATE, XML_A, S_OK);
    assert_int_equal(store_load_run("Service", "damaged", &record), S_OK);
    assert_false(record.known);
    assert_int_equal(store_delete(&caller_self, "Service", "damaged"), S_OK);
    memory_free(path);
    memory_free(place);
    memory_free(lock_path);
}

/* When a set is deleted, all its files are removed. The next writer removes the temporary files of a killed writer, but
   no other files. */
static void delete_leaves_nothing(void **state)
{
    char *lock_path = store_run_lock_path("Service", "Gone"), *place = path_folder(lock_path);
    char *torn = path_join(place, "~1-2.tmp"), *own = path_join(place, "~notes.tmp");
    struct run_record record = {.serial_number = 1};
    struct texts files = {0};
    struct stored_stamps stamps;
    struct file_lock *lock;
    (void)state;
    save("Gone", STORE_CREATE, XML_A, S_OK);
    assert_int_equal(save_run("Service", "Gone", &record), S_OK);
    for (int by = 0; by < 3; by++) {
        assert_int_equal(file_store(torn, "half", 4), S_OK);
        assert_int_equal(file_store(own, "own", 3), S_OK);
        if (by == 0)
            save("Gone", STORE_MODIFY, XML_B, S_OK);
        else if (by == 1)
            assert_int_equal(store_list_stamps("Service", &stamps), S_OK); /* the server's first check */
        else
            break;
        if (by == 1)
            stored_stamps_free(&stamps);
        assert_false(file_exists(torn));
        assert_true(file_exists(own));
    }
    assert_int_equal(file_lock_take(lock_path, 0, &lock), S_OK);
    file_lock_release(lock);
    assert_true(file_exists(lock_path));
    assert_int_equal(store_delete(&caller_self, "Service", "gone"), S_OK);
    assert_int_equal(folder_list(place, false, &files), S_OK);
    assert_int_equal(files.count, 1);
    assert_string_equal(files.items[0], "~notes.tmp");
    texts_free(&files);
    /* if a set is deleted while it runs, its lock remains, so that it cannot run twice */
    save("Gone", STORE_CREATE, XML_A, S_OK);
    assert_int_equal(file_lock_take(lock_path, 0, &lock), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "gone"), S_OK);
    assert_true(file_exists(lock_path));
    file_lock_release(lock);
    memory_free(lock_path);
    memory_free(own);
    memory_free(torn);
    memory_free(place);
}

/* If the definition's path is a folder with files, the error must name it, and nothing may change. */
static void failed_save_leaves_the_old_set(void **state)
{
    char *path = store_definition_path("Service", "blocked"), *place = path_folder(path);
    char *inside = path_join(path, "x");
    struct texts names = {0};
    (void)state;
    assert_int_equal(folder_create(inside), S_OK);
    HRESULT hr = store_save(&caller_self, "Service", "Blocked", STORE_CREATE_OR_MODIFY, XML_A, 5, NULL, NULL);
    assert_true(FAILED(hr));
    assert_non_null(strstr(error_text(hr), "blocked.xml"));
    assert_int_equal(folder_list(place, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++)
        assert_false(text_matches("*.tmp", names.items[i]));
    texts_free(&names);
    assert_listed("Service", "");
    folder_delete(inside);
    /* if the folder is empty, the definition replaces it */
    assert_int_equal(store_save(&caller_self, "Service", "Blocked", STORE_CREATE_OR_MODIFY, XML_A, 5, NULL, NULL),
                     S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "Blocked"), S_OK);
    memory_free(inside);
    memory_free(path);
    memory_free(place);
}

static HRESULT number_seven(struct run_record *record, const void *user)
{
    (void)user;
    record->known = true;
    record->serial_number = 7;
    return S_OK;
}

/* If a commit that also sets the serial number is rejected, the set's run record must not change. */
static void rejected_commits_leave_the_run_record_unchanged(void **state)
{
    struct run_record record = {.serial_number = 3};
    const struct run_change change = {number_seven, NULL};
    char *path = store_definition_path("Service", "absent"), *inside = path_join(path, "x");
    (void)state;
    save("Kept", STORE_CREATE, XML_A, S_OK);
    assert_int_equal(save_run("Service", "Kept", &record), S_OK);
    assert_int_equal(store_save(&caller_self, "Service", "kept", STORE_CREATE, XML_B, 5, &change, NULL),
                     PLA_E_DCS_ALREADY_EXISTS);
    assert_int_equal(store_load_run("Service", "kept", &record), S_OK);
    assert_int_equal(record.serial_number, 3);
    run_record_free(&record);
    assert_stored("Kept", XML_A);
    assert_int_equal(store_save(&caller_self, "Service", "none", STORE_MODIFY, XML_B, 5, &change, NULL),
                     PLA_E_DCS_NOT_FOUND);
    assert_int_equal(store_save(&caller_self, "Nowhere", "a", STORE_CREATE, XML_B, 5, &change, NULL), E_NOINTERFACE);
    assert_int_equal(folder_create(inside), S_OK); /* the definition cannot be written */
    assert_true(FAILED(store_save(&caller_self, "Service", "absent", STORE_CREATE_OR_MODIFY, XML_B, 5, &change, NULL)));
    assert_int_equal(folder_delete(inside), S_OK);
    assert_int_equal(folder_delete(path), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "kept"), S_OK);
    memory_free(inside);
    memory_free(path);
}

/* A program that watches the store gets the names of the changed sets, or S_FALSE if the changes are unknown. */
static void changes_are_reported_by_name(void **state)
{
    struct store_mark mark = {0};
    struct texts names = {0};
    struct run_record record = {.serial_number = 1};
    (void)state;
    save("First", STORE_CREATE, XML_A, S_OK);
    assert_int_equal(store_changes("Service", &mark, &names), S_FALSE); /* changes before the first call are unknown */
    assert_int_equal(store_changes("Service", &mark, &names), S_OK);
    assert_int_equal(names.count, 0);
    save("Second%", STORE_CREATE, XML_A, S_OK);
    assert_int_equal(save_run("Service", "first", &record), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "Second%"), S_OK);
    assert_int_equal(store_changes("Service", &mark, &names), S_OK);
    assert_int_equal(names.count, 3);
    assert_string_equal(names.items[0], "Second%");
    assert_string_equal(names.items[1], "first");
    assert_string_equal(names.items[2], "Second%");
    char long_name[201] = "";
    memset(long_name, 'x', sizeof long_name - 1);
    save(long_name, STORE_CREATE, XML_B, S_OK);
    int commits = 0;
    assert_int_equal(store_changes("Service", &mark, &names), S_OK);
    for (HRESULT hr = S_OK; hr == S_OK && commits < 10000; commits++) { /* until the change list is full */
        save(long_name, STORE_MODIFY, XML_B, S_OK);
        hr = store_changes("Service", &mark, &names);
        assert_true(hr == S_FALSE || names.count == 1);
    }
    assert_in_range(commits, 50, 9999);
    texts_free(&names);
    assert_int_equal(store_delete(&caller_self, "Service", long_name), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "First"), S_OK);
}

typedef HRESULT step_function(void);

static HRESULT step_save(void)
{
    return store_save(&caller_self, "Service", "Memory", STORE_MODIFY, XML_B, strlen(XML_B), NULL, NULL);
}

static HRESULT step_load(void)
{
    char *xml;
    size_t size;
    HRESULT hr = store_load(&caller_self, "Service", "Memory", &xml, &size);
    memory_free(xml);
    return hr;
}

static HRESULT step_list(void)
{
    struct texts names = {0};
    HRESULT hr = store_list(&caller_self, "Service", &names);
    if (SUCCEEDED(hr) && (names.count != 2 || strcmp(names.items[0], "Memory") != 0))
        hr = E_UNEXPECTED;
    texts_free(&names);
    return hr;
}

static HRESULT step_save_run(void)
{
    static char location[] = "C:\\x%";
    static char *files[] = {location, location};
    struct run_record record = {.serial_number = 3, .latest_location = location};
    record.latest_files.items = files;
    record.latest_files.count = 2;
    return save_run("Service", "Memory", &record);
}

/* Even on a full disk, the end of a run must be recorded. Otherwise a failed start would look like a run whose set host
   process was killed. */
static void end_of_a_run_needs_no_space(void **state)
{
    struct run_record record = {.serial_number = 7, .running = true}, read;
    (void)state;
    assert_int_equal(store_mark_ended("Service", "Ended"), S_FALSE);
    save("Ended", STORE_CREATE, XML_A, S_OK);
    assert_int_equal(run_record_set_text(&record.last_message, "running 1\nrunning 1\n"), S_OK);
    assert_int_equal(run_record_set_text(&record.latest_location, "x"), S_OK);
    assert_int_equal(save_run("Service", "Ended", &record), S_OK);
    assert_int_equal(store_mark_ended("Service", "Ended"), S_OK);
    assert_int_equal(store_mark_ended("Service", "Ended"), S_FALSE);
    assert_int_equal(store_load_run("Service", "Ended", &read), S_OK);
    assert_false(read.running);
    assert_int_equal(read.serial_number, 7);
    assert_string_equal(read.last_message, record.last_message);
    run_record_free(&read);
    run_record_free(&record);
    assert_int_equal(store_delete(&caller_self, "Service", "Ended"), S_OK);
}

/* The process in an invalid registration must not be used as the set host process: callers would wait for it or
   terminate it. */
static void only_a_complete_line_names_a_host(void **state)
{
    static const char whole[] =
        "openpla-host 1 4294967295 18446744073709551615 0123456789abcdef0123456789abcdef 1000\n";
    static const char *const others[] = {
        "",
        "\n",
        "openpla-host 1 \n",
        "openpla-host 2 7 8 0123456789abcdef0123456789abcdef 1000\n",
        "openpla-host 1 4294967296 8 0123456789abcdef0123456789abcdef 1000\n",
        "openpla-host 1 7 18446744073709551616 0123456789abcdef0123456789abcdef 1000\n",
        "openpla-host 1 -7 8 0123456789abcdef0123456789abcdef 1000\n",
        "openpla-host 1 7  0123456789abcdef0123456789abcdef 1000\n",
        "openpla-host 1 7 8 0123456789abcdef0123456789abcde 1000\n",
        "openpla-host 1 7 8 0123456789abcdef0123456789abcde/ 1000\n",
        "openpla-host 1 7 8 0123456789abcdef0123456789abcdef\n",
        "openpla-host 1 7 8 0123456789abcdef0123456789abcdef 1000 more\n",
        "openpla-host 1 7 8 0123456789abcdef0123456789abcdef 1000\n\n",
    };
    char *lock_path = store_run_lock_path("Service", "Hosted"), *place = path_folder(lock_path);
    char *path = path_join(place, "hosted.host");
    struct run_host host;
    (void)state;
    assert_int_equal(store_load_host("Service", "Hosted", &host), S_FALSE);
    save("Hosted", STORE_CREATE, XML_A, S_OK);
    for (size_t n = 0; n < sizeof whole; n++) {
        assert_int_equal(file_store(path, whole, n), S_OK);
        assert_int_equal(store_load_host("Service", "Hosted", &host), n == sizeof whole - 1 ? S_OK : S_FALSE);
    }
    assert_int_equal(host.process_id, UINT32_MAX);
    assert_true(host.process_start == UINT64_MAX);
    assert_string_equal(host.owner, "1000");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(file_store(path, others[i], strlen(others[i])), S_OK);
        if (store_load_host("Service", "Hosted", &host) != S_FALSE || host.process_id || *host.key)
            fail_msg("%s", others[i]);
    }
    char *long_line = memory_zero(1, 100000);
    memset(long_line, 'a', 100000);
    assert_int_equal(file_store(path, long_line, 100000), S_OK);
    assert_int_equal(store_load_host("Service", "Hosted", &host), S_FALSE);
    assert_int_equal(store_delete(&caller_self, "Service", "Hosted"), S_OK);
    assert_false(file_exists(path));
    memory_free(long_line);
    memory_free(path);
    memory_free(place);
    memory_free(lock_path);
}

static HRESULT step_load_run(void)
{
    struct run_record record;
    HRESULT hr = store_load_run("Service", "Memory", &record);
    if (SUCCEEDED(hr) && (!record.known || record.serial_number != 3 || record.latest_files.count != 2))
        hr = E_UNEXPECTED;
    run_record_free(&record);
    return hr;
}

static HRESULT step_host(void)
{
    const struct run_host host = {7, 8, "0123456789abcdef0123456789abcdef", "S-1-5-18"};
    struct run_host read = {0};
    char *path = store_run_lock_path("Service", "Memory");
    HRESULT hr = path ? store_save_host("Service", "Memory", &host) : E_OUTOFMEMORY;
    memory_free(path);
    if (SUCCEEDED(hr))
        hr = store_load_host("Service", "Memory", &read);
    bool same = read.process_id == 7 && read.process_start == 8 && !strcmp(read.key, host.key);
    return SUCCEEDED(hr) && (!same || strcmp(read.owner, host.owner) != 0) ? E_UNEXPECTED : hr;
}

static HRESULT step_delete(void)
{
    return store_delete(&caller_self, "Service", "Memory");
}

/* Repeats a step and lets each of its allocations fail in turn. A step may succeed although one failed; its result must
   then be right, which `check` tests. Returns the result of the last run, in which no allocation failed. */
static HRESULT fail_each(const char *name, step_function *step, void (*check)(HRESULT))
{
    for (uint64_t n = 1;; n++) {
        HRESULT hr;
        bool failed;
        memory_fail_at(n);
        hr = step();
        failed = memory_count() >= n;
        memory_fail_at(0);
        if (FAILED(hr) && hr != E_OUTOFMEMORY)
            fail_msg("allocation %d: 0x%08X", (int)n, (unsigned)hr);
        if (check)
            check(hr);
        if (!failed) {
            print_message("%s: %u allocations, each failed in turn\n", name, (unsigned)n - 1);
            return hr;
        }
        assert_true(n < 2000);
    }
}

static void check_saved(HRESULT hr)
{
    assert_stored("Memory", SUCCEEDED(hr) ? XML_B : XML_A);
    if (SUCCEEDED(hr))
        save("Memory", STORE_MODIFY, XML_A, S_OK);
}

static void check_set_exists(HRESULT hr)
{
    struct run_record record;
    if (SUCCEEDED(hr)) { /* the set was deleted, so the next attempt needs a new one */
        save("Memory", STORE_CREATE, XML_A, S_OK);
        assert_int_equal(step_save_run(), S_OK);
        return;
    }
    assert_int_equal(store_load_run("Service", "Memory", &record), S_OK);
    assert_true(record.known);
    run_record_free(&record);
    assert_stored("Memory", XML_A);
}

static HRESULT step_read_changes(void)
{
    struct store_mark mark = {0};
    struct texts names = {0};
    HRESULT hr = store_changes("Service", &mark, &names);
    texts_free(&names);
    return FAILED(hr) ? hr : S_OK;
}

/* Puts a definition directly into the namespace's folder, so that the next check adopts it. */
static void drop(HRESULT looked)
{
    char *dropped = path_join(folder, "sets/Service/dropped.xml");
    if (SUCCEEDED(looked))
        assert_false(file_exists(dropped));
    assert_int_equal(file_store(dropped, XML_B, strlen(XML_B)), S_OK);
    memory_free(dropped);
}

static HRESULT step_create(void)
{
    HRESULT hr = store_save(&caller_self, "Service", "memory", STORE_CREATE, XML_B, strlen(XML_B), NULL, NULL);
    return hr == PLA_E_DCS_ALREADY_EXISTS ? S_OK : SUCCEEDED(hr) ? E_UNEXPECTED : hr;
}

/* If an allocation fails, the only possible error is "out of memory". The store must be in the old or the new state. */
static void out_of_memory(void **state)
{
    static const struct {
        const char *name;
        step_function *step;
    } steps[] = {{"record", step_save_run},      {"load", step_load}, {"list", step_list}, {"create", step_create},
                 {"load record", step_load_run}, {"host", step_host}};
    struct run_record record;
    (void)state;
    save("Memory", STORE_CREATE, XML_A, S_OK);
    save("Second", STORE_CREATE, XML_A, S_OK);
    assert_int_equal(fail_each("save", step_save, check_saved), S_OK);
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
        assert_int_equal(fail_each(steps[i].name, steps[i].step, NULL), S_OK);
    drop(E_FAIL);
    assert_int_equal(fail_each("adopt", step_read_changes, drop), S_OK);
    assert_int_equal(step_read_changes(), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "dropped"), S_OK);
    assert_int_equal(store_load_run("Service", "Memory", &record), S_OK);
    assert_int_equal(record.serial_number, 3); /* a failed commit does not remove the run record */
    run_record_free(&record);
    assert_int_equal(fail_each("delete", step_delete, check_set_exists), S_OK);
    assert_int_equal(store_delete(&caller_self, "Service", "Memory"), S_OK);
    assert_listed("Service", "Second");
    assert_int_equal(store_delete(&caller_self, "Service", "Second"), S_OK);
}

/* Counts the allocations of each operation. This is a measure of its work, because each file that is listed or loaded
   needs some. Times would be unreliable. */
static void work_of_one(uint64_t work[5])
{
    struct stored_sets one;
    struct store_mark mark = {0};
    struct texts names = {0};
    memory_fail_at(0);
    save("One", STORE_CREATE, XML_A, S_OK);
    work[0] = memory_count();
    assert_true(store_changes("Service", &mark, &names) == S_FALSE);
    memory_fail_at(0);
    save("One", STORE_MODIFY, XML_B, S_OK);
    work[1] = memory_count();
    memory_fail_at(0);
    assert_int_equal(store_changes("Service", &mark, &names), S_OK);
    work[2] = memory_count();
    assert_int_equal(names.count, 1);
    memory_fail_at(0);
    assert_int_equal(store_load_matching(&caller_self, "Service", "one", &one), S_OK);
    work[3] = memory_count();
    assert_int_equal(one.count, 1);
    memory_fail_at(0);
    assert_int_equal(store_delete(&caller_self, "Service", "One"), S_OK);
    work[4] = memory_count();
    stored_sets_free(&one);
    texts_free(&names);
}

/* An operation on one set must not need more work if there are thousands of other sets. */
static void one_set_costs_the_same_among_many(void **state)
{
    /* MORE is exceeded if an operation needs an allocation for each other set. */
    enum { OTHERS = 200, MORE = OTHERS / 2 };
    static const char *const what[5] = {"creating", "changing", "learning of a change", "listing one", "deleting"};
    uint64_t alone[5], among[5];
    (void)state;
    work_of_one(alone);
    for (int i = 0; i < OTHERS; i++) {
        char *name = text_format("set %d", i);
        save(name, STORE_CREATE, XML_A, S_OK);
        memory_free(name);
    }
    work_of_one(among);
    for (int i = 0; i < 5; i++)
        if (among[i] > alone[i] + MORE)
            fail_msg("%s: %u allocations among %d sets, %u alone", what[i], (unsigned)among[i], OTHERS,
                     (unsigned)alone[i]);
    for (int i = 0; i < OTHERS; i++) {
        char *name = text_format("set %d", i);
        assert_int_equal(store_delete(&caller_self, "Service", name), S_OK);
        memory_free(name);
    }
}

static int make_folder(void **state)
{
    *state = folder = text_format("test_store_set.%u.scratch", (unsigned)process_own_id());
    scratch_remove(folder);
    scratch_environment("OPENPLA_DATA", folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_store),
        cmocka_unit_test(create_modify_delete),
        cmocka_unit_test(xml_is_kept_exactly),
        cmocka_unit_test(unusual_names),
        cmocka_unit_test(case_of_names),
        cmocka_unit_test(names_that_look_alike_are_two_sets),
        cmocka_unit_test(copied_definitions_are_adopted),
        cmocka_unit_test(incomplete_copies_are_not_adopted),
        cmocka_unit_test(store_with_one_folder_is_converted),
        cmocka_unit_test(long_name_in_a_store_with_one_folder_is_found),
        cmocka_unit_test(run_records),
        cmocka_unit_test(run_record_files),
        cmocka_unit_test(end_of_a_run_needs_no_space),
        cmocka_unit_test(only_a_complete_line_names_a_host),
        cmocka_unit_test(delete_leaves_nothing),
        cmocka_unit_test(failed_save_leaves_the_old_set),
        cmocka_unit_test(rejected_commits_leave_the_run_record_unchanged),
        cmocka_unit_test(changes_are_reported_by_name),
        cmocka_unit_test(one_set_costs_the_same_among_many),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, scratch_end);
}

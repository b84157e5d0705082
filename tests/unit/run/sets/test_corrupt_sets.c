/* SPDX-License-Identifier: MIT */
/* A disk, a person or a program may corrupt the files of a set in many ways. The other sets must continue to work. The
   error must name the file. It must be possible to delete the corrupt set or replace it with a commit. */
#include "engine/base/memory.h"
#include "engine/pla/sets.h"
#include "tests/unit/run/run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>

#define COLLECTOR                                                                                                      \
    "<PerformanceCounterDataCollector><Name>c</Name><LogFileFormat>0</LogFileFormat><Counter>\\System\\Processes"      \
    "</Counter></PerformanceCounterDataCollector>"

enum damage { TOO_LONG, NOTHING_IN_IT, CUT, EDITED, BINARY, ZEROS, FOLDER, NOT_A_SET, OTHER_NAME, DAMAGES };
static const char *const damage_names[DAMAGES] = {
    "too long", "empty", "cut", "edited", "binary", "zeros", "folder", "not a set", "another name inside"};

static void write_file(const char *path, const void *data, size_t size)
{
    assert_int_equal(file_store(path, data, size), S_OK);
}

static void make_damage(const char *path, enum damage damage)
{
    static const char random[] = "\xFF\xD8\xFF\xE0\0\x10JFIF\0\x80\x81<&\r\n\x1A", zeros[4096];
    static const char other[] = "<DataCollectorSet/>\n<?openpla-set name=\"Other\"?>\n";
    struct file *f;
    size_t size = 0;
    char *text = NULL;
    switch (damage) {
    case TOO_LONG:
        assert_int_equal(file_open(path, FILE_APPEND, &f), S_OK);
        assert_int_equal(file_set_size(f, 65u << 20), S_OK);
        file_close(f);
        break;
    case CUT:
        assert_int_equal(file_load(path, 1 << 20, &text, &size), S_OK);
        write_file(path, text, size / 2);
        memory_free(text);
        break;
    case EDITED: /* the lines after the XML are unchanged, but their hash no longer fits the XML */
        assert_int_equal(file_load(path, 1 << 20, &text, &size), S_OK);
        assert_non_null(strstr(text, "<?openpla-security of="));
        memcpy(strstr(text, "</Counter>"), "<<", 2);
        write_file(path, text, size);
        memory_free(text);
        break;
    case FOLDER:
        assert_int_equal(file_delete(path), S_OK);
        assert_int_equal(folder_create(path), S_OK);
        break;
    case NOTHING_IN_IT:
        write_file(path, "", 0);
        break;
    case BINARY:
        write_file(path, random, sizeof random);
        break;
    case ZEROS:
        write_file(path, zeros, sizeof zeros);
        break;
    case NOT_A_SET:
        write_file(path, "<Report/>", 9);
        break;
    default:
        write_file(path, other, strlen(other));
        break;
    }
}

static HRESULT commit(const char *name, uint32_t mode, bool put_serial)
{
    struct object *set = NULL, *issues = NULL;
    char *root = fixture_folder(name);
    char *xml = text_format("<DataCollectorSet>%s<RootPath>%s</RootPath>" COLLECTOR "</DataCollectorSet>",
                            put_serial ? "<SerialNumber>7</SerialNumber>" : "", root);
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_from_xml(set, xml, strlen(xml), NULL), S_OK);
    HRESULT hr = set_commit(set, &caller_self, name, "", mode, issues);
    object_release(issues);
    object_release(set);
    memory_free(xml);
    memory_free(root);
    return hr;
}

static HRESULT list(const char *filter, size_t *count)
{
    struct object *sets = NULL;
    assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
    HRESULT hr = sets_find(sets, &caller_self, NULL, filter);
    *count = collection_count(sets);
    object_release(sets);
    return hr;
}

static HRESULT query(const char *name, struct object **out)
{
    assert_int_equal(sets_create(NULL, out), S_OK);
    return set_query(*out, &caller_self, name, "");
}

static void assert_names_file(HRESULT hr, const char *path, const char *what, const char *damage)
{
    if (SUCCEEDED(hr) || !strstr(error_text(hr), path_name(path)))
        fail_msg("%s, %s: 0x%08X %s", damage, what, (unsigned)hr, FAILED(hr) ? error_text(hr) : "");
}

static void assert_done(HRESULT hr, const char *what, const char *damage)
{
    if (FAILED(hr))
        fail_msg("%s, %s: 0x%08X %s", damage, what, (unsigned)hr, error_text(hr));
}

static void assert_other_sets_exist(const char *damage, size_t expected)
{
    struct object *set;
    size_t count;
    assert_done(list("Service\\*", &count), "list", damage);
    if (count != expected)
        fail_msg("%s: %u sets are listed, not %u", damage, (unsigned)count, (unsigned)expected);
    assert_done(list(NULL, &count), "list of all", damage);
    assert_done(query("good", &set), "Query of another", damage);
    object_release(set);
}

static void definition_is_damaged_so(enum damage damage)
{
    const char *what = damage_names[damage];
    char *path = store_definition_path(SPACE, "bad"), *place = path_folder(path), *run = path_join(place, "bad.run");
    bool whole = damage == OTHER_NAME; /* a copy under another name is a valid set */
    struct object *set;
    size_t count;
    for (int over = 0; over < 2; over++) {
        assert_done(commit("bad", SETS_CREATE_NEW, true), "Commit", what);
        make_damage(path, damage);
        assert_other_sets_exist(what, whole ? 2 : 1);
        HRESULT hr = query("bad", &set);
        if (whole)
            assert_done(hr, "Query", what);
        else
            assert_names_file(hr, path, "Query", what);
        hr = list("Service\\bad", &count);
        if (whole)
            assert_done(hr, "list of one", what);
        else
            assert_names_file(hr, path, "list of one", what);
        if (!whole)
            assert_names_file(set_start(set, &caller_self, true), path, "Start", what);
        if (over)
            assert_done(commit("bad", SETS_CREATE_NEW | SETS_MODIFY, false), "Commit over it", what);
        assert_done(set_delete(set, &caller_self), "Delete", what);
        object_release(set);
        assert_false(file_exists(path) || folder_exists(path) || file_exists(run));
        assert_other_sets_exist(what, 1);
    }
    memory_free(run);
    memory_free(place);
    memory_free(path);
}

static void corrupt_definition(void **state)
{
    (void)state;
    assert_int_equal(commit("good", SETS_CREATE_NEW, false), S_OK);
    for (int damage = 0; damage < DAMAGES; damage++)
        definition_is_damaged_so((enum damage)damage);
}

static void record_is_damaged_so(enum damage damage)
{
    const char *what = damage_names[damage];
    char *definition = store_definition_path(SPACE, "bad"), *place = path_folder(definition);
    char *path = path_join(place, "bad.run"), *value = NULL;
    struct object *set;
    assert_done(commit("bad", SETS_CREATE_NEW, true), "Commit", what);
    make_damage(path, damage);
    assert_other_sets_exist(what, 2);
    assert_done(query("bad", &set), "Query", what);
    char *xml = NULL;
    assert_done(object_to_xml(set, &xml, NULL), "Xml", what);
    memory_free(xml);
    assert_names_file(set_start(set, &caller_self, true), path, "Start", what);
    assert_names_file(sets_get_value(set, &caller_self, "OpenPLA.LastRunMessage", &value), path, "LastRunMessage",
                      what);
    assert_done(commit("bad", SETS_MODIFY, false), "Commit over it", what);
    assert_done(commit("bad", SETS_MODIFY, true), "Commit of a SerialNumber", what); /* the commit repairs the record */
    struct run_record record = fixture_record("bad");
    assert_int_equal(record.serial_number, 7);
    run_record_free(&record);
    make_damage(path, damage);
    assert_done(set_delete(set, &caller_self), "Delete", what);
    object_release(set);
    assert_false(file_exists(path) || folder_exists(path) || file_exists(definition));
    memory_free(path);
    memory_free(place);
    memory_free(definition);
}

static void corrupt_record(void **state)
{
    (void)state;
    for (int damage = 0; damage < DAMAGES; damage++)
        if (damage != EDITED) /* a record has no hash */
            record_is_damaged_so((enum damage)damage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corrupt_definition),
        cmocka_unit_test(corrupt_record),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}

/* SPDX-License-Identifier: MIT */
/* Tests configuration collectors while their set runs. */
#include "engine/base/file.h"
#include "engine/base/os.h"
#include "engine/pla/sets.h"
#include "run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <string.h>

#ifdef _WIN32
#define PROGRAM_SUFFIX ".exe"
#else
#define PROGRAM_SUFFIX ""
#endif

static void put_file(const char *folder, const char *name)
{
    char *path = path_join(folder, name);
    struct file *f;
    assert_int_equal(file_open(path, FILE_CREATE_NEW, &f), S_OK);
    assert_int_equal(file_write(f, name, strlen(name)), S_OK);
    file_close(f);
    memory_free(path);
}

/* Changes the property Files of the first collector of a running set. */
static void update_files(const char *name, const char *file)
{
    struct object *set, *collector, *issues;
    struct value v = {.kind = PROPERTY_TEXTS};
    assert_int_equal(sets_create(NULL, &set), S_OK);
    assert_int_equal(set_query(set, &caller_self, name, NULL), S_OK);
    assert_int_equal(collection_item(((struct data_collector_set *)set)->DataCollectors, 0, &collector), S_OK);
    assert_int_equal(texts_add(&v.texts, file), S_OK);
    assert_int_equal(object_put(collector, class_property(collector->class, "Files"), &v), S_OK);
    assert_int_equal(issues_create(NULL, &issues), S_OK);
    assert_int_equal(set_commit(set, &caller_self, name, NULL, SETS_MODIFY | SETS_UPDATE_RUNNING, issues), S_OK);
    value_free(&v);
    object_release(issues);
    object_release(collector);
    object_release(set);
}

static void await_collected(const char *name, size_t times)
{
    for (int i = 0; i < PATIENCE_MS / 100 && fixture_events(1011, name) < times; i++)
        fixture_sleep(100);
    assert_int_equal(fixture_events(1011, name), times);
}

/* If the list of files is changed, the new files must be collected in the current run, without overwriting files that
   were already collected. */
static void running_set_collects_its_new_definition(void **state)
{
    (void)state;
    char *root = fixture_folder("anew"), *in = fixture_folder("anew_in");
    put_file(in, "first.txt");
    put_file(in, "other.txt");
    char *first = path_join(in, "first.txt"), *other = path_join(in, "other.txt");
    char *collector = text_format("<ConfigurationDataCollector><Name>m</Name><FileName>m</FileName><Files>%s</Files>"
                                  "</ConfigurationDataCollector>",
                                  first);
    fixture_commit("anew", root, collector, CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "anew", true), S_OK);
    await_collected("anew", 1);
    update_files("anew", other);
    await_collected("anew", 2);
    assert_int_equal(fixture_await("anew", RUN_RUNNING, 100).serial_number, 2);
    assert_int_equal(run_stop(SPACE, "anew", true), S_OK);
    struct run_record record = fixture_record("anew");
    assert_int_equal(record.last_result, S_OK);
    assert_true(fixture_only_stopped(record.last_message));
    run_record_free(&record);
    char *before = fixture_read(root, "m.xml"), *after = fixture_read(root, "m_000002.xml");
    assert_non_null(strstr(before, "complete=\"1\""));
    assert_non_null(strstr(before, "first.txt"));
    assert_null(strstr(before, "other.txt"));
    assert_non_null(strstr(after, "complete=\"1\""));
    assert_non_null(strstr(after, "other.txt"));
    assert_null(strstr(after, "first.txt"));
    char *copies[] = {fixture_read(root, "first.txt"), fixture_read(root, "other.txt")};
    assert_string_equal(copies[0], "first.txt");
    assert_string_equal(copies[1], "other.txt");
    char *all[] = {root, in, first, other, collector, before, after, copies[0], copies[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        memory_free(all[i]);
}

/* The run's list of files must contain the copies; otherwise the data manager could not delete them with the folder. */
static void copies_belong_to_the_run(void **state)
{
    (void)state;
    char *root = fixture_folder("own"), *in = fixture_folder("own_in");
    put_file(in, "first.txt");
    char *set =
        text_format("<Subdirectory>run</Subdirectory><DataManager><Enabled>-1</Enabled></DataManager>"
                    "<ConfigurationDataCollector><Name>m</Name><FileName>m</FileName><Files>%s/first.txt</Files>"
                    "</ConfigurationDataCollector>",
                    in);
    fixture_commit("own", root, set, CSV_EACH_SECOND ONE_COUNTER);
    assert_int_equal(run_start(SPACE, "own", true), S_OK);
    await_collected("own", 1);
    assert_int_equal(run_stop(SPACE, "own", true), S_OK);
    char *mark = fixture_read(root, "run/openpla.run");
    assert_non_null(strstr(mark, "\nfile m.xml\n"));
    assert_non_null(strstr(mark, "\nfile first.txt\n"));
    assert_non_null(strstr(mark, "\nfile c.csv\n"));
    char *all[] = {root, in, set, mark};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        memory_free(all[i]);
}

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    char *folder = os_module_folder(), *program = path_join(folder, "trace_test_host" PROGRAM_SUFFIX);
    scratch_environment("OPENPLA_HOST", program);
    memory_free(folder);
    memory_free(program);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(running_set_collects_its_new_definition),
                                              cmocka_unit_test(copies_belong_to_the_run)};
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}

/* SPDX-License-Identifier: MIT */
/* The server caches definitions that it has read. Its lists must open no file twice, but must show the current sets. */
#include "engine/pla/sets.h"
#include "engine/pla/store.h"
#include "tests/unit/scratch_folder.h"

#include <sys/types.h>
#include <time.h>
#include <utime.h>

#define OLD "<DataCollectorSet><Description>old</Description></DataCollectorSet>"
#define NEW "<DataCollectorSet><Description>new</Description></DataCollectorSet>"
#define BAD "<DataCollectorSet><Description>bad</Description><//////////////>"

static char *folder;

static void write_definition(const char *name, const char *xml, time_t written)
{
    struct utimbuf times = {written, written};
    char *path = store_definition_path("Service", name);
    assert_int_equal(file_store(path, xml, strlen(xml)), S_OK);
    assert_int_equal(utime(path, &times), 0);
    memory_free(path);
}

static time_t long_ago(void)
{
    return time(NULL) - 3600;
}

/* Lists the sets in the same way as the COM objects. */
static struct object *list(void)
{
    struct object *sets;
    assert_int_equal(sets_collection_create("Service", &sets), S_OK);
    assert_int_equal(sets_find(sets, &caller_self, NULL, SETS_FILTER_NAME "*"), S_OK);
    return sets;
}

/* Asserts the name and description of each set in a list. '*' means that the definition was not read again. */
static void assert_listed(const char *expected)
{
    struct object *sets = list(), *set;
    struct text_buffer b = {0};
    for (size_t i = 0; i < collection_count(sets); i++) {
        assert_int_equal(collection_item(sets, i, &set), S_OK);
        text_buffer_format(&b, "%s%s%s", i ? "|" : "", set_of(set)->Name, set_of(set)->listed ? "*" : "");
        assert_int_equal(object_complete(set), S_OK);
        assert_false(set_of(set)->listed);
        text_buffer_format(&b, "=%s", set_of(set)->Description);
        object_release(set);
    }
    text_buffer_add(&b, "");
    char *found = text_buffer_take(&b);
    assert_string_equal(found, expected);
    memory_free(found);
    object_release(sets);
}

/* If the size and time of a file are unchanged, it must not be opened again. A list of ten thousand sets would
   otherwise open ten thousand files. */
static void changed_file_is_read_again(void **state)
{
    time_t then = long_ago();
    (void)state;
    write_definition("a", OLD, then);
    write_definition("b", OLD, then);
    assert_listed("a=old|b=old");
    write_definition("a", NEW, then); /* this change is not detected, because the size and the time are the same */
    write_definition("b", NEW, then + 2);
    assert_listed("a*=old|b=new");
    assert_listed("a*=old|b*=new");
    write_definition("a", "<DataCollectorSet/>", then); /* this file has a different size */
    write_definition("c", OLD, then);
    assert_int_equal(store_delete(&caller_self, "Service", "b"), S_OK);
    assert_listed("a=|c=old");
}

/* Two writes may get the same time, so a file that was written recently must be read again. */
static void recently_written_file_is_read_again(void **state)
{
    time_t now = time(NULL) + 60;
    (void)state;
    write_definition("a", OLD, now);
    assert_listed("a=old");
    write_definition("a", NEW, now);
    assert_listed("a=new");
}

static void corrupt_definition_can_be_repaired(void **state)
{
    time_t then = long_ago();
    (void)state;
    write_definition("a", OLD, then);
    write_definition("b", BAD, then);
    assert_listed("a=old");
    assert_listed("a*=old");
    write_definition("a", BAD, then + 2);
    write_definition("b", NEW, then + 2);
    assert_listed("b=new");
    assert_listed("b*=new");
    write_definition("a", NEW, then + 4);
    assert_listed("a=new|b*=new");
}

/* A list must show each set as it was when the list was created, even if the client gets the set after a change. */
static void listed_set_shows_the_time_of_the_list(void **state)
{
    struct object *sets, *set, *queried;
    char *xml, *of_query;
    (void)state;
    write_definition("a", OLD, long_ago());
    assert_listed("a=old");
    assert_int_equal(sets_create(NULL, &queried), S_OK);
    assert_int_equal(set_query(queried, &caller_self, "a", ""), S_OK);
    sets = list();
    assert_int_equal(store_delete(&caller_self, "Service", "a"), S_OK);
    assert_int_equal(collection_item(sets, 0, &set), S_OK);
    assert_true(set_of(set)->listed);
    assert_int_equal(object_complete(set), S_OK);
    assert_int_equal(set_to_commit_xml(set, false, &xml, NULL), S_OK);
    assert_int_equal(set_to_commit_xml(queried, false, &of_query, NULL), S_OK);
    assert_string_equal(xml, of_query);
    /* If a client puts a property, its value must be kept when the set is read completely. */
    assert_int_equal(object_put_text(set, &set->class->properties[IDataCollectorSet_Description], "put"), S_OK);
    assert_int_equal(object_complete(set), S_OK);
    assert_string_equal(set_of(set)->Description, "put");
    memory_free(of_query);
    memory_free(xml);
    object_release(queried);
    object_release(set);
    object_release(sets);
}

/* A list must also contain the sets that are part of OpenPLA, which have no file. */
static void all_sets_of_all_namespaces_are_listed(void **state)
{
    struct object *sets;
    size_t count[2];
    (void)state;
    write_definition("a", OLD, long_ago());
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sets_collection_create(NULL, &sets), S_OK);
        assert_int_equal(sets_find(sets, &caller_self, NULL, NULL), S_OK);
        count[i] = collection_count(sets);
        object_release(sets);
    }
    assert_true(count[0] > 1);
    assert_int_equal(count[1], count[0]);
}

static void memory_may_run_out(void **state)
{
    struct object *sets, *set;
    (void)state;
    write_definition("a", OLD, long_ago());
    for (int kept = 0; kept < 2; kept++)
        for (uint64_t n = 1;; n++) {
            store_keep_definitions(kept);
            store_keep_definitions(true);
            assert_int_equal(sets_collection_create("Service", &sets), S_OK);
            memory_fail_at(n);
            HRESULT hr = sets_find(sets, &caller_self, NULL, SETS_FILTER_NAME "*");
            bool failed = memory_count() >= n;
            memory_fail_at(0);
            if (SUCCEEDED(hr))
                assert_int_equal(collection_count(sets), 1);
            else
                assert_int_equal(hr, E_OUTOFMEMORY);
            object_release(sets);
            if (!failed)
                break;
        }
    assert_listed("a*=old");
    sets = list();
    assert_int_equal(collection_item(sets, 0, &set), S_OK);
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        HRESULT hr = object_complete(set);
        memory_fail_at(0);
        if (SUCCEEDED(hr))
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
        assert_true(set_of(set)->listed);
        assert_string_equal(set_of(set)->Name, "a");
    }
    assert_string_equal(set_of(set)->Description, "old");
    object_release(set);
    object_release(sets);
}

static int make_store(void **state)
{
    (void)state;
    folder = text_format("test_kept_definitions.%u.scratch", (unsigned)process_own_id());
    scratch_remove(folder);
    scratch_environment("OPENPLA_DATA", folder);
    for (char name[] = "a"; *name <= 'c'; ++*name) /* creates the folders of the definitions */
        if (FAILED(store_save(&caller_self, "Service", name, STORE_CREATE, OLD, strlen(OLD), NULL, NULL)) ||
            FAILED(store_delete(&caller_self, "Service", name)))
            return 1;
    store_keep_definitions(true);
    return 0;
}

static int remove_store(void **state)
{
    (void)state;
    store_keep_definitions(false);
    scratch_remove(folder);
    memory_free(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(changed_file_is_read_again, make_store, remove_store),
        cmocka_unit_test_setup_teardown(recently_written_file_is_read_again, make_store, remove_store),
        cmocka_unit_test_setup_teardown(corrupt_definition_can_be_repaired, make_store, remove_store),
        cmocka_unit_test_setup_teardown(listed_set_shows_the_time_of_the_list, make_store, remove_store),
        cmocka_unit_test_setup_teardown(all_sets_of_all_namespaces_are_listed, make_store, remove_store),
        cmocka_unit_test_setup_teardown(memory_may_run_out, make_store, remove_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

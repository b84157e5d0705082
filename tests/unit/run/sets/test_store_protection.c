/* SPDX-License-Identifier: MIT */
/* Ownership of the store. If another user has created a folder, or a folder is a link, that user could change what
   OpenPLA runs. If everyone could open a lock, anyone could block all sets. */
#include "engine/base/os.h"
#include "engine/logs/journal.h"
#include "engine/pla/sets/supervised_set.h"
#include "engine/pla/store.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/scratch_link.h"
#include "tests/unit/skipped.h"

#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#define SOMEBODY 65534
#endif

#define XML "<DataCollectorSet/>"

struct test {
    char *scratch, *data;
};

/* Switches to a new data folder. It has a new name, because a process checks a folder only once. */
static void other_data(struct test *t)
{
    static unsigned number;
    char *name = text_format("data%u", number++);
    memory_free(t->data);
    t->data = path_join(t->scratch, name);
    scratch_environment("OPENPLA_DATA", t->data);
    memory_free(name);
}

static int setup(void **state)
{
    struct test *t = memory_zero(1, sizeof *t);
    char *relative = scratch_create("test_store_protection");
    t->scratch = os_full_path(relative);
    other_data(t);
    memory_free(relative);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct test *t = *state;
    scratch_remove(t->scratch);
    memory_free(t->scratch);
    memory_free(t->data);
    memory_free(t);
    return 0;
}

static HRESULT save(void)
{
    return store_save(&caller_self, "Service", "a", STORE_CREATE_OR_MODIFY, XML, strlen(XML), NULL, NULL);
}

static HRESULT note(void)
{
    char *folder = journal_folder();
    HRESULT hr = journal_append(folder, &(struct journal_entry){.id = 9000, .level = JOURNAL_ERROR, .message = "a"});
    memory_free(folder);
    return hr;
}

static void assert_closed(const char *folder, const char *name)
{
    char *path = path_join(folder, name);
    struct ownership o;
    assert_int_equal(file_ownership(path, &o), S_OK);
    if (o.is_open || o.is_foreign || o.is_link)
        fail_msg("%s: open %d, foreign %d, link %d", path, o.is_open, o.is_foreign, o.is_link);
    memory_free(path);
}

/* Asserts that other accounts have no access to the folder and everything in it. */
static void assert_all_closed(const char *folder)
{
    struct texts names = {0};
    assert_closed(folder, "");
    assert_int_equal(folder_list(folder, true, &names), S_OK);
    for (size_t i = 0; i < names.count; i++) {
        char *path = path_join(folder, names.items[i]);
        assert_all_closed(path);
        memory_free(path);
    }
    assert_int_equal(folder_list(folder, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++)
        if (text_matches("*.lock", names.items[i]) || !strcmp(names.items[i], "store.changes"))
            assert_closed(folder, names.items[i]);
    texts_free(&names);
}

static void created_files_are_private(void **state)
{
    struct test *t = *state;
    struct supervisor_lock lock = {0};
    assert_int_equal(save(), S_OK);
    assert_int_equal(note(), S_OK);
    assert_true(supervisor_lock_try(&lock, t->data));
    assert_all_closed(t->data);
    supervisor_lock_release(&lock, t->data);
}

static HRESULT load(void)
{
    char *xml;
    size_t size;
    return store_load(&caller_self, "Service", "a", &xml, &size);
}

static HRESULT list(void)
{
    struct texts names = {0};
    HRESULT hr = store_list(&caller_self, "Service", &names);
    texts_free(&names);
    return hr;
}

static HRESULT drop(void)
{
    return store_delete(&caller_self, "Service", "a");
}

/* Asserts that each verb fails, and that the error names the folder. */
static void assert_rejected(HRESULT wanted, const char *folder, const char *name)
{
    static HRESULT (*const verbs[])(void) = {save, load, list, drop, save};
    char *path = path_join(folder, name);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        error_clear();
        const HRESULT said = verbs[i]();
        if (said != wanted || !strstr(error_text(said), path))
            fail_msg("%d: 0x%08X %s, not 0x%08X with %s", (int)i, (unsigned)said, error_text(said), (unsigned)wanted,
                     path);
    }
    memory_free(path);
}

static void link_is_rejected_by_name(void **state)
{
    static const char *const at[] = {"", "sets", "sets/Service"};
    struct test *t = *state;
    char *elsewhere = path_join(t->scratch, "elsewhere");
    assert_int_equal(folder_create(elsewhere), S_OK);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        other_data(t);
        char *path = *at[i] ? path_join(t->data, at[i]) : text_copy(t->data), *folder = path_folder(path);
        struct texts names = {0};
        assert_int_equal(folder_create(folder), S_OK);
        char *target = text_format("%s/elsewhere", i == 0 ? "." : i == 1 ? ".." : "../..");
        scratch_link(folder, path_name(path), target, false);
        assert_rejected(HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME), folder, path_name(path));
        assert_int_equal(folder_list(elsewhere, false, &names), S_OK);
        assert_int_equal(names.count, 0);
        assert_int_equal(folder_list(elsewhere, true, &names), S_OK);
        assert_int_equal(names.count, 0);
        scratch_unlink(folder, path_name(path));
        texts_free(&names);
        memory_free(target);
        memory_free(folder);
        memory_free(path);
    }
    assert_int_equal(save(), S_OK);
    memory_free(elsewhere);
}

#ifndef _WIN32
static bool is_root(void)
{
    if (geteuid() != 0)
        skipped("another account's files can be made by root alone");
    return geteuid() == 0;
}

static void folder_of_another_account_is_rejected_by_name(void **state)
{
    static const char *const at[] = {"", "sets", "sets/Service"};
    struct test *t = *state;
    if (!is_root())
        return;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        other_data(t);
        char *path = *at[i] ? path_join(t->data, at[i]) : text_copy(t->data), *folder = path_folder(path);
        assert_int_equal(folder_create(path), S_OK);
        assert_int_equal(chown(path, SOMEBODY, SOMEBODY), 0);
        assert_rejected(HRESULT_FROM_WIN32(ERROR_INVALID_OWNER), folder, path_name(path));
        assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_INVALID_OWNER)), "65534"));
        assert_int_equal(chown(path, geteuid(), getegid()), 0);
        memory_free(folder);
        memory_free(path);
    }
    assert_int_equal(save(), S_OK);
}

/* The folder of the journal must be checked, too. */
static void planted_journal_folder_is_rejected(void **state)
{
    struct test *t = *state;
    if (!is_root())
        return;
    char *events = path_join(t->data, "events");
    assert_int_equal(folder_create(events), S_OK);
    assert_int_equal(chown(events, SOMEBODY, SOMEBODY), 0);
    assert_int_equal(folder_create_protected(events, PROTECTION_JOURNAL), HRESULT_FROM_WIN32(ERROR_INVALID_OWNER));
    memory_free(events);
}

/* Tries to open the files as another account. Returns 0 if no file can be opened, or the number of the first file that
   can be opened. */
static int open_all(const char *control, char *const *paths, int count)
{
    if (setgid(SOMEBODY) || setuid(SOMEBODY) || open(control, O_RDONLY) < 0)
        return 100; /* the test is only valid with the other account */
    for (int i = 0; i < count; i++)
        if (open(paths[i], O_RDONLY) >= 0 || errno != EACCES)
            return i + 1;
    return 0;
}

static void no_other_account_opens_a_lock(void **state)
{
    static const char *const names[] = {"sets/Service/store.lock", "sets/Service/store.changes", "supervisor.lock",
                                        "events/events-0000000001.log", "sets/Service"};
    enum { COUNT = sizeof names / sizeof *names };
    struct test *t = *state;
    struct supervisor_lock lock = {0};
    int status;
    if (!is_root())
        return;
    char *paths[COUNT], *control = path_join(t->scratch, "control");
    assert_int_equal(save(), S_OK);
    assert_int_equal(note(), S_OK);
    assert_true(supervisor_lock_try(&lock, t->data));
    assert_int_equal(file_store(control, "a", 1), S_OK);
    for (int i = 0; i < COUNT; i++) {
        paths[i] = path_join(t->data, names[i]);
        assert_int_equal(file_find(paths[i]), S_OK);
    }
    pid_t child = fork();
    if (!child)
        _exit(open_all(control, paths, COUNT));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    supervisor_lock_release(&lock, t->data);
    for (int i = 0; i < COUNT; i++)
        memory_free(paths[i]);
    memory_free(control);
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(created_files_are_private),
        TEST(link_is_rejected_by_name),
#ifndef _WIN32
        TEST(folder_of_another_account_is_rejected_by_name),
        TEST(planted_journal_folder_is_rejected),
        TEST(no_other_account_opens_a_lock),
#endif
    };
    return skipped_result(cmocka_run_group_tests(tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
/* An account that can put files into the store's folders, or a process that crashed, must not make the service hang,
   read files outside the store, replace another set, or lose earlier event records. */
#include "engine/base/clock.h"
#include "engine/logs/journal.h"
#include "engine/pla/store.h"
#include "tests/unit/scratch_link.h"
#include "tests/unit/skipped.h"

#include <inttypes.h>

#ifndef _WIN32
#include <sys/stat.h>
#endif

#define SPACE  "Service"
#define XML    "<DataCollectorSet><Description>mine</Description></DataCollectorSet>"
#define SECRET "root:secret:0:0:"

static char *data, *sets;

static int begin(void **state)
{
    char *scratch = scratch_create("attack_store");
    *state = data = os_full_path(scratch);
    memory_free(scratch);
    scratch_environment("OPENPLA_DATA", data);
    assert_int_equal(store_save(&caller_self, SPACE, "mine", STORE_CREATE, XML, strlen(XML), NULL, NULL), S_OK);
    char *folder = path_join(data, "sets");
    sets = path_join(folder, SPACE);
    memory_free(folder);
    return 0;
}

static int end(void **state)
{
    memory_free(sets);
    return scratch_end(state);
}

static void put(const char *folder, const char *file, const char *text, size_t size)
{
    char *path = path_join(folder, file);
    assert_int_equal(file_store(path, text, size), S_OK);
    memory_free(path);
}

static void assert_mine(void)
{
    char *xml;
    size_t size;
    assert_int_equal(store_load(&caller_self, SPACE, "mine", &xml, &size), S_OK);
    assert_string_equal(xml, XML);
    memory_free(xml);
}

/* Returns the path of the only set's files. */
static char *path_of_my_set(void)
{
    struct texts places = {0};
    assert_int_equal(folder_list(sets, true, &places), S_OK);
    assert_int_equal(places.count, 1);
    char *place = path_join(sets, places.items[0]);
    texts_free(&places);
    return place;
}

static bool is_listed(const char *name)
{
    struct texts names = {0};
    bool found = false;
    assert_int_equal(store_list(&caller_self, SPACE, &names), S_OK);
    for (size_t i = 0; i < names.count; i++)
        found = found || !strcmp(names.items[i], name);
    texts_free(&names);
    return found;
}

/* Names that aim at other folders, streams, devices or the store's own files: each is rejected or is stored in a
   separate file. */
static void names_cannot_escape_the_store(void **state)
{
    static const char *const names[] = {
        "..",         ".",        "...",         "a..",   "con",           "NUL.xml",  "com1",     "lpt9.txt",
        "store.lock", "mine.xml", "%2e%2e%2f",   "%00",   "a%5cb",         "~1-1.tmp", "mine.run", " mine",
        "mine ",      "mine.",    "-rf",         "$HOME", "`id`",          ";id",      "\xC2\xA0", "store.changes",
        "..\\..\\x",  "../../x",  "/etc/passwd", "C:\\x", "a:b",           "a\nb",     "a\x7F",    "\xFF\xFE",
        "*",          "?",        "a|b",         "a<b",   "Service\\..\\x"};
    unsigned taken = 0, refused = 0;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *space;
        char *name = NULL, *xml;
        size_t size;
        HRESULT hr = store_split_name(names[i], &space, &name);
        if (FAILED(hr)) {
            assert_true(hr == E_INVALIDARG || hr == E_NOINTERFACE);
            refused++;
            continue;
        }
        assert_int_equal(store_save(&caller_self, space, name, STORE_CREATE, names[i], strlen(names[i]), NULL, NULL),
                         S_OK);
        taken++;
        memory_free(name);
        assert_mine();
        assert_int_equal(store_load(&caller_self, SPACE, names[i], &xml, &size), S_OK);
        assert_string_equal(xml, names[i]);
        memory_free(xml);
    }
    assert_true(taken >= 20 && refused >= 12);
    struct texts all = {0};
    assert_int_equal(store_list(&caller_self, SPACE, &all), S_OK);
    assert_int_equal(all.count, taken + 1); /* no two names share a file */
    texts_free(&all);
    /* Nothing is written beside the store, and within the store only into the folders of definitions. */
    assert_int_equal(folder_list(data, false, &all), S_OK);
    assert_int_equal(all.count, 0);
    texts_free(&all);
    assert_int_equal(folder_list(sets, true, &all), S_OK);
    for (size_t i = 0; i < all.count; i++)
        assert_int_equal(strspn(all.items[i], "0123456789abcdef"), 2);
    texts_free(&all);
    assert_int_equal(folder_list(sets, false, &all), S_OK);
    for (size_t i = 0; i < all.count; i++)
        assert_true(!strcmp(all.items[i], "store.lock") || !strcmp(all.items[i], "store.changes"));
    texts_free(&all);
}

/* Invalid files in place of definitions: a file that is too large, a folder, a link to another user's file, a pipe. */
static void invalid_definitions_do_not_affect_other_sets(void **state)
{
    char *place = path_of_my_set(), *xml, *folder = path_join(place, "folder.xml");
    size_t size = (16u << 20) + 8192;
    char *large = memory_alloc(size);
    (void)state;
    memset(large, ' ', size);
    put(place, "large.xml", large, size);
    memory_free(large);
    assert_int_equal(folder_create(folder), S_OK);
    put(place, "%00%FF%2f.xml", XML, strlen(XML));
    put(sets, "..%5c..%5cx.xml", XML, strlen(XML));
    put(data, "secret.txt", SECRET, strlen(SECRET));
    scratch_link(place, "link.xml", "../../../secret.txt", false);
    scratch_link(place, "loop.xml", "loop.xml", false);
#ifndef _WIN32
    char *pipe = path_join(place, "pipe.xml"), *adopted = path_join(sets, "pipe.xml");
    assert_int_equal(mkfifo(pipe, 0666), 0);
    assert_int_equal(mkfifo(adopted, 0666), 0);
    memory_free(pipe);
    memory_free(adopted);
#endif
    is_listed("mine");
    assert_mine();
    HRESULT hr = store_load(&caller_self, SPACE, "large", &xml, &size);
    assert_true(FAILED(hr));
    struct stored_sets all = {0};
    assert_int_equal(store_load_matching(&caller_self, SPACE, "*", &all), S_OK);
    bool mine = false;
    for (size_t i = 0; i < all.count; i++)
        mine = mine || !strcmp(all.items[i].name, "mine");
    assert_true(mine);
    stored_sets_free(&all);
    /* Commits continue to work. */
    assert_int_equal(store_save(&caller_self, SPACE, "next", STORE_CREATE, XML, strlen(XML), NULL, NULL), S_OK);
    assert_true(is_listed("next") && is_listed("mine"));
    char *secret = path_join(data, "secret.txt"), *text = scratch_read(secret);
    assert_string_equal(text, SECRET);
    memory_free(text);
    memory_free(secret);
    scratch_unlink(place, "link.xml");
    scratch_unlink(place, "loop.xml");
    memory_free(folder);
    memory_free(place);
}

/* A link in place of a data folder redirects all writes to its target. Each test uses a new data folder, because a
   process checks a folder only once: no other account can replace a folder inside ours. */
static void link_in_place_of_the_folder_is_rejected(void **state)
{
    static const char *const folders[] = {"sets", "sets/Service", "events"};
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct journal_entry e = {.utc = clock_utc(), .id = 5, .level = JOURNAL_WARNING, .message = "m"};
        char *name = text_format("later%u", (unsigned)i), *later = path_join(data, name);
        char *at = path_join(later, folders[i]);
        char *out = path_join(later, "out"), *parent = path_folder(at), *journal = path_join(later, "events");
        struct texts made = {0};
        scratch_environment("OPENPLA_DATA", later);
        assert_int_equal(folder_create(parent), S_OK);
        assert_int_equal(folder_create(out), S_OK);
        scratch_link(parent, path_name(at), strchr(folders[i], '/') ? "../out" : "out", false);
        HRESULT hr = i < 2 ? store_save(&caller_self, SPACE, "next", STORE_CREATE, XML, strlen(XML), NULL, NULL)
                           : journal_append(journal, &e);
        if (hr != HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME) || !strstr(error_text(hr), path_name(at)))
            fail_msg("%s: 0x%08X %s", folders[i], (unsigned)hr, error_text(hr));
        for (int of = 0; of < 2; of++) {
            assert_int_equal(folder_list(out, of, &made), S_OK);
            assert_int_equal(made.count, 0);
            texts_free(&made);
        }
        scratch_unlink(parent, path_name(at));
        memory_free(journal);
        memory_free(parent);
        memory_free(out);
        memory_free(at);
        memory_free(later);
        memory_free(name);
    }
    scratch_environment("OPENPLA_DATA", data);
    assert_mine();
}

#ifndef _WIN32
/* An account that can put files beside definitions must not be able to define sets that way. Only root can create
   another account's files here. */
static void definition_of_another_account_is_ignored(void **state)
{
    char *place = path_of_my_set(), *own = path_join(place, "mine.xml"), *dropped = path_join(sets, "dropped.xml"),
         *xml;
    size_t size;
    (void)state;
    put(sets, "dropped.xml", XML, strlen(XML));
    if (geteuid() != 0 || chown(dropped, 12345, 12345)) {
        skipped("only root can give a file away");
        file_delete(dropped);
    } else {
        assert_true(FAILED(store_load(&caller_self, SPACE, "dropped", &xml, &size)));
        assert_false(is_listed("dropped"));
        /* Our definition, now owned by another account, does not count as that set. */
        assert_int_equal(chown(own, 12345, 12345), 0);
        assert_true(FAILED(store_load(&caller_self, SPACE, "mine", &xml, &size)));
        assert_int_equal(chown(own, geteuid(), getegid()), 0);
    }
    assert_mine();
    memory_free(dropped);
    memory_free(own);
    memory_free(place);
}
#endif

/* A copy under another set's name, or a definition that claims another name, does not count as that set. */
static void definition_under_a_wrong_name_is_ignored(void **state)
{
    static const char forged[] = "<DataCollectorSet/>\n<?openpla-set name=\"mine\"?>\n";
    char *place = path_of_my_set();
    (void)state;
    put(place, "other.xml", forged, strlen(forged));
    put(sets, "third.xml", forged, strlen(forged));
    assert_mine();
    assert_int_equal(store_save(&caller_self, SPACE, "next", STORE_CREATE, XML, strlen(XML), NULL, NULL), S_OK);
    assert_mine();
    memory_free(place);
}

/* Tests a forged change list; processes that watch the store rely on this list. */
static void forged_change_list_is_tolerated(void **state)
{
    struct store_mark mark = {0};
    struct texts names = {0};
    char *long_line = memory_alloc(70000);
    static const char *const lies[] = {
        "", "\n\n\n", "no newline", "1-1\n../../x\n%2e%2e\nmine\n", "\xFF\xFE\n\x00\n", "1-1\n%zz\n%\n"};
    (void)state;
    store_changes(SPACE, &mark, &names);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        put(sets, "store.changes", lies[i], strlen(lies[i]));
        HRESULT hr = store_changes(SPACE, &mark, &names);
        assert_true(hr == S_OK || hr == S_FALSE);
        hr = store_changes(SPACE, &mark, &names);
        assert_true(hr == S_OK || hr == S_FALSE);
        assert_mine();
    }
    memset(long_line, 'x', 70000);
    put(sets, "store.changes", long_line, 70000);
    assert_int_equal(store_changes(SPACE, &mark, &names), S_FALSE);
    assert_int_equal(store_save(&caller_self, SPACE, "next", STORE_CREATE, XML, strlen(XML), NULL, NULL), S_OK);
    assert_true(is_listed("next"));
    texts_free(&names);
    memory_free(long_line);
}

/* Tests forged run records: one declares more data than it contains, another names objects of a foreign set. */
static void forged_run_record_is_tolerated(void **state)
{
    static const char *const lies[] = {"", "serial=99999999999999999999\n", "files=4294967295\n", "\xFF\xFF\xFF\xFF",
                                       "running=1\nlast_message=%n%n%s\n"};
    char *place = path_of_my_set();
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct run_record record;
        put(place, "mine.run", lies[i], strlen(lies[i]));
        if (SUCCEEDED(store_load_run(SPACE, "mine", &record)))
            run_record_free(&record);
        assert_mine();
        /* The next commit of the set repairs its run record. */
        assert_int_equal(store_save(&caller_self, SPACE, "mine", STORE_MODIFY, XML, strlen(XML), NULL, NULL), S_OK);
    }
    memory_free(place);
}

/* ---- the journal ---- */

static void append(const char *folder, uint32_t id)
{
    struct journal_entry e = {.utc = clock_utc(), .id = id, .level = JOURNAL_WARNING, .message = "m"};
    assert_int_equal(journal_append(folder, &e), S_OK);
}

static bool is_reported(const char *folder, uint32_t id)
{
    struct journal_reader *r;
    struct journal_entry e;
    bool found = false;
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    for (int i = 0; i < 100000 && journal_reader_next(r, &e) == S_OK; i++)
        found = found || e.id == id;
    journal_reader_close(r);
    return found;
}

/* Foreign files among the event files (a full one with the highest number, some with invalid numbers, one with a single
   unterminated line) do not hide later events. */
static void forged_files_hide_no_event(void **state)
{
    static const char *const names[] = {"events-4294967295.log", "events-4294967296.log", "events-9999999999.log",
                                        "events-0000000000.log", "events--000000001.log", "events-+000000007.log",
                                        "events-4000000000.log", "events-3999999999.log"};
    const size_t size = (1u << 20) + 1;
    char *full = memory_alloc(size), *folder = path_join(data, "events"), *other = path_join(data, "other");
    uint32_t id = 1;
    (void)state;
    memset(full, 'x', size);
    append(folder, id);
    assert_true(is_reported(folder, id));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put(folder, names[i], full, size);
        append(other, 1); /* as by a process that has not written here before and searches for the newest file */
        append(folder, ++id);
        if (!is_reported(folder, id))
            fail_msg("%s hides later events", names[i]);
    }
    for (int i = 0; i < 5; i++) {
        append(other, 1);
        append(folder, ++id);
        assert_true(is_reported(folder, id));
    }
    memory_free(folder);
    memory_free(other);
    memory_free(full);
}

/* Forged lines cannot be distinguished from real ones, but a set name cannot forge a line. */
static void set_name_cannot_forge_a_line(void **state)
{
    char *folder = path_join(data, "events");
    struct journal_entry e = {.utc = clock_utc(), .id = 5, .level = JOURNAL_WARNING, .message = "m", .count = 1};
    (void)state;
    e.fields[0] =
        (struct journal_field){"Name", "x\n2026-11-21T16:00:00.000Z\t1002\t4\tA set was deleted\tName=mine\n"};
    assert_int_equal(journal_append(folder, &e), S_OK);
    e.fields[0].value = "x\tUser=SYSTEM\r";
    assert_int_equal(journal_append(folder, &e), S_OK);
    struct journal_reader *r;
    struct journal_entry back;
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(journal_reader_next(r, &back), S_OK);
        assert_int_equal(back.id, 5);
        assert_int_equal(back.count, 1);
    }
    assert_int_equal(journal_reader_next(r, &back), S_FALSE);
    journal_reader_close(r);
    memory_free(folder);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_cannot_escape_the_store, begin, end),
        cmocka_unit_test_setup_teardown(invalid_definitions_do_not_affect_other_sets, begin, end),
        cmocka_unit_test_setup_teardown(link_in_place_of_the_folder_is_rejected, begin, end),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(definition_of_another_account_is_ignored, begin, end),
#endif
        cmocka_unit_test_setup_teardown(definition_under_a_wrong_name_is_ignored, begin, end),
        cmocka_unit_test_setup_teardown(forged_change_list_is_tolerated, begin, end),
        cmocka_unit_test_setup_teardown(forged_run_record_is_tolerated, begin, end),
        cmocka_unit_test_setup_teardown(forged_files_hide_no_event, begin, end),
        cmocka_unit_test_setup_teardown(set_name_cannot_forge_a_line, begin, end)};
    return skipped_result(cmocka_run_group_tests(tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
/* Changes of the store during which a file cannot be created, written, flushed, renamed or deleted, or the process
   ends. An error here would lose the old set in a commit, leave half of the new one, or let a deleted set reappear. */
#include "engine/pla/store.h"
#include "tests/unit/child_process.h"
#include "tests/unit/file_faults.h"
#ifndef _WIN32
#include "tests/unit/full_disk.h"
#endif

#define XML_A "<DataCollectorSet><Description>a</Description></DataCollectorSet>"
#define XML_B "<DataCollectorSet><Description>b, and longer</Description></DataCollectorSet>"
#define NAME  "Faults"
#define FAULT HRESULT_FROM_WIN32(1117) /* ERROR_IO_DEVICE, which only the simulated faults return */
#define FULL  HRESULT_FROM_WIN32(ERROR_DISK_FULL)

static char *folder;

/* The contents of the set's files. */
struct state {
    const char *xml; /* NULL: no set */
    uint32_t serial; /* serial number in the set's record; 0: no record */
    const char *held;
};

static HRESULT put_serial(struct run_record *record, const void *user)
{
    record->serial_number = *(const uint32_t *)user;
    record->running = true;
    return S_OK;
}

static const uint32_t serial_3 = 3, serial_7 = 7;

static HRESULT put_held(const char *line)
{
    struct texts lines = {0};
    HRESULT hr = texts_add(&lines, line);
    if (SUCCEEDED(hr))
        hr = store_save_held("Service", NAME, &lines);
    texts_free(&lines);
    return hr;
}

static HRESULT commit(const char *xml, enum store_mode mode, const uint32_t *serial)
{
    const struct run_change change = {put_serial, serial};
    return store_save(&caller_self, "Service", NAME, mode, xml, strlen(xml), &change, NULL);
}

static HRESULT do_modify(void)
{
    return commit(XML_B, STORE_MODIFY, &serial_7);
}

static HRESULT do_create(void)
{
    return commit(XML_B, STORE_CREATE, &serial_7);
}

static HRESULT do_delete(void)
{
    return store_delete(&caller_self, "Service", NAME);
}

static HRESULT do_record(void)
{
    return store_update_run("Service", NAME, &(struct run_change){put_serial, &serial_7});
}

static HRESULT do_put(void)
{
    return put_held("b");
}

/* Lets the store adopt a definition that was put into the namespace's folder. */
static HRESULT do_adopt(void)
{
    struct texts names = {0};
    struct store_mark mark = {0};
    HRESULT hr = store_changes("Service", &mark, &names);
    texts_free(&names);
    return FAILED(hr) ? hr : S_OK;
}

static const struct step {
    const char *name;
    HRESULT (*act)(void);
    struct state before, after;
    bool dropped; /* before `act`, the new definition is put into the namespace's folder */
} steps[] = {
    {"modify", do_modify, {XML_A, 3, NULL}, {XML_B, 7, NULL}, false},
    {"create", do_create, {NULL, 0, NULL}, {XML_B, 7, NULL}, false},
    {"delete", do_delete, {XML_A, 3, NULL}, {NULL, 0, NULL}, false},
    {"record", do_record, {XML_A, 3, NULL}, {XML_A, 7, NULL}, false},
    {"held", do_put, {XML_A, 3, "a"}, {XML_A, 3, "b"}, false},
    {"adopt", do_adopt, {NULL, 0, NULL}, {XML_B, 0, NULL}, true},
};

static char *dropped_path(void)
{
    return path_join(folder, "sets/Service/faults.xml");
}

static void prepare(const struct step *s)
{
    HRESULT hr = store_delete(&caller_self, "Service", NAME);
    assert_true(hr == S_OK || hr == PLA_E_DCS_NOT_FOUND);
    store_remove_held("Service", NAME);
    if (s->before.xml)
        assert_int_equal(commit(s->before.xml, STORE_CREATE, &serial_3), S_OK);
    if (s->before.held)
        assert_int_equal(put_held(s->before.held), S_OK);
    if (s->dropped) {
        char *path = dropped_path();
        assert_int_equal(file_store(path, XML_B, strlen(XML_B)), S_OK);
        memory_free(path);
    }
}

/* Returns whether the set is in this state. Does not check the namespace's folder, because that would adopt a
   definition in it. */
static bool holds(const struct state *s)
{
    char *path = store_definition_path("Service", NAME), *xml = NULL;
    struct run_record record = {0};
    struct texts held = {0};
    size_t size = 0;
    HRESULT hr = file_load(path, 1 << 20, &xml, &size);
    bool there = SUCCEEDED(hr), same = there == (s->xml != NULL);
    if (there && s->xml) /* the name line follows the XML */
        same = size >= strlen(s->xml) && !strncmp(xml, s->xml, strlen(s->xml)) &&
               (size == strlen(s->xml) || xml[strlen(s->xml)] == '\n');
    if (there) {
        assert_int_equal(store_load_run("Service", NAME, &record), S_OK);
        same = same && (record.known ? record.serial_number : 0) == s->serial;
        assert_true(SUCCEEDED(store_load_held("Service", NAME, &held)));
        same = same && held.count == (s->held != NULL) && (!s->held || !strcmp(held.items[0], s->held));
    }
    run_record_free(&record);
    texts_free(&held);
    memory_free(xml);
    memory_free(path);
    return same;
}

/* Asserts that a list of sets contains the set once (if `there`), or not at all. */
static void check_listed(bool there)
{
    struct texts names = {0};
    assert_int_equal(store_list(&caller_self, "Service", &names), S_OK);
    assert_int_equal(names.count, there ? 1 : 0);
    if (there)
        assert_true(text_equal_nocase(names.items[0], NAME));
    texts_free(&names);
}

/* Makes the supervisor's check, which removes temporary files of killed writers, and asserts that none are left. */
static void check_nothing_torn(void)
{
    struct stored_stamps stamps;
    assert_int_equal(store_list_stamps("Service", &stamps), S_OK);
    stored_stamps_free(&stamps);
    char *path = store_definition_path("Service", NAME), *place = path_folder(path);
    struct texts names = {0};
    if (folder_exists(place))
        assert_int_equal(folder_list(place, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++)
        assert_false(text_matches("*.tmp", names.items[i]));
    texts_free(&names);
    memory_free(place);
    memory_free(path);
}

/* A commit replaces two files. If the process ends in between, the set has the new serial number and the old
   definition. Both files are complete. */
static bool is_between(const struct step *s)
{
    const struct state between = {s->before.xml, s->after.serial, s->before.held};
    return holds(&between);
}

/* Asserts that the set is in the old or the new state, and that the step now succeeds. A definition that was copied by
   hand may be adopted at any access. `ended` means that the process ended, or could do nothing after the fault. */
static void check_after(const struct step *s, HRESULT hr, bool ended, const char *what)
{
    const bool before = holds(&s->before), after = holds(&s->after);
    if (!before && !after && !(ended && is_between(s)) && !s->dropped)
        fail_msg("%s, %s: 0x%08X: neither the old nor the new set", s->name, what, (unsigned)hr);
    if (!ended && SUCCEEDED(hr) && !after && !s->dropped)
        fail_msg("%s, %s: reported success, but is not done", s->name, what);
    check_listed(s->dropped || (after ? s->after.xml : s->before.xml) != NULL);
    if (!after && !s->dropped) {
        hr = s->act();
        if (FAILED(hr))
            fail_msg("%s, %s: then 0x%08X %s", s->name, what, (unsigned)hr, error_text(hr));
    }
    assert_true(holds(&s->after));
    check_nothing_torn();
}

/* Runs the step with a fault at operation `n`. Returns false if the step has fewer operations. */
static bool fault_at(const struct step *s, uint64_t n, int kind)
{
    struct file_faults faults = {.at = n, .kind = kind, .hr = FAULT};
    char what[64];
    prepare(s);
    file_faults_begin(&faults);
    HRESULT hr = s->act();
    file_faults_end();
    if (!faults.met && kind != FAULT_FULL)
        return false;
    snprintf(what, sizeof what, "operation %u (%d), kind %d", (unsigned)n, faults.operation, kind);
    const HRESULT reported = kind == FAULT_FULL ? FULL : FAULT;
    if (FAILED(hr) && hr != reported)
        fail_msg("%s, %s: 0x%08X %s", s->name, what, (unsigned)hr, error_text(hr));
    if (FAILED(hr) && !strchr(error_text(hr), '\''))
        fail_msg("%s, %s: names no file: %s", s->name, what, error_text(hr));
    if (FAILED(hr) && faults.operation != FILE_OPERATION_FLUSH_FOLDER && kind == FAULT_ONCE && !holds(&s->before) &&
        !s->dropped)
        fail_msg("%s, %s: failed, and the set is another one", s->name, what);
    check_after(s, hr, kind == FAULT_LASTING, what);
    return faults.count >= n;
}

static void each_step(int kind, const char *text)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        uint64_t n = 1;
        while (fault_at(&steps[i], n, kind)) {
            n++;
            assert_true(n < 1000);
        }
        assert_true(n > 2);
        print_message("%s: %u operations, %s in turn\n", steps[i].name, (unsigned)n - 1, text);
    }
}

static void each_operation_fails(void **state)
{
    (void)state;
    each_step(FAULT_ONCE, "each failed");
}

static void every_operation_fails_after_a_point(void **state)
{
    (void)state;
    each_step(FAULT_LASTING, "all failed from each on");
}

static void disk_fills_up_at_each_operation(void **state)
{
    (void)state;
    each_step(FAULT_FULL, "the disk full from each on");
}

/* ---- the process ends ---- */

static int role_end(const char *step, const char *at)
{
    struct file_faults faults = {.at = (uint64_t)atoi(at), .kind = FAULT_END};
    folder = os_data_folder();
    file_faults_begin(&faults);
    HRESULT hr = steps[atoi(step)].act();
    file_faults_end();
    memory_free(folder);
    return SUCCEEDED(hr) ? 0 : 2;
}

static void process_ends_at_each_operation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct step *s = &steps[i];
        uint64_t n = 0;
        for (uint32_t code = 1; code; n++) {
            char index[16], at[16], what[32];
            snprintf(index, sizeof index, "%u", (unsigned)i);
            snprintf(at, sizeof at, "%u", (unsigned)n + 1);
            snprintf(what, sizeof what, "ended at %s", at);
            prepare(s);
            struct process *p = child_start("end", index, at);
            assert_int_equal(process_wait(p, CHILD_PATIENCE, &code), S_OK);
            process_close(p);
            assert_int_not_equal(code, 2);
            check_after(s, S_OK, true, what); /* a lock that was left would fail after ten seconds */
            assert_true(n < 1000);
        }
        print_message("%s: ended at each of %u operations\n", s->name, (unsigned)n - 1);
    }
}

#ifndef _WIN32
/* A limit for the size of files has the same effect as a full disk. */
static void disk_is_really_full(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct step *s = &steps[i];
        unsigned refused = 0;
        for (uint64_t bytes = 0; bytes < 300; bytes += 10) {
            prepare(s);
            full_disk_at(bytes);
            HRESULT hr = s->act();
            full_disk_at(UINT64_MAX);
            if (FAILED(hr) && hr != FULL)
                fail_msg("%s: 0x%08X %s", s->name, (unsigned)hr, error_text(hr));
            if (FAILED(hr) && !holds(&s->before))
                fail_msg("%s: failed, and the set is another one", s->name);
            check_after(s, hr, false, "full");
            refused += FAILED(hr);
        }
        assert_true(refused || s->act == do_delete || s->dropped);
    }
}
#endif

/* ---- order of disk writes ---- */

struct order {
    bool written, flushed, renamed;
    unsigned commits;
};

static HRESULT watch_order(void *user, enum file_operation operation, const char *path)
{
    struct order *o = user;
    const bool temporary = text_matches("*.tmp", path);
    if (operation == FILE_OPERATION_WRITE && temporary)
        o->written = true, o->flushed = false;
    if (operation == FILE_OPERATION_FLUSH && temporary)
        o->flushed = o->written;
    if (operation == FILE_OPERATION_RENAME) {
        assert_true(o->flushed); /* after a power failure, the new name must not have incomplete contents */
        o->renamed = true;
        o->commits++;
    }
#ifndef _WIN32
    if (operation == FILE_OPERATION_FLUSH_FOLDER)
        o->renamed = false;
#else
    o->renamed = false; /* the rename itself is written through */
#endif
    return S_OK;
}

/* A successful commit must survive a power failure. */
static void committed_set_is_on_the_disk(void **state)
{
    struct order order = {0};
    (void)state;
    prepare(&steps[0]);
    file_observe(watch_order, &order);
    assert_int_equal(do_modify(), S_OK);
    file_observe(NULL, NULL);
    assert_int_equal(order.commits, 2);
    assert_false(order.renamed);
}

static int make_folder(void **state)
{
    *state = folder = scratch_create("test_store_faults");
    scratch_environment("OPENPLA_DATA", folder);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_fails),
        cmocka_unit_test(every_operation_fails_after_a_point),
        cmocka_unit_test(disk_fills_up_at_each_operation),
        cmocka_unit_test(process_ends_at_each_operation),
#ifndef _WIN32
        cmocka_unit_test(disk_is_really_full),
#endif
        cmocka_unit_test(committed_set_is_on_the_disk),
    };
    child_program = argv[0];
    if (argc == 4 && !strcmp(argv[1], "end"))
        return role_end(argv[2], argv[3]);
    return cmocka_run_group_tests(tests, make_folder, scratch_end);
}

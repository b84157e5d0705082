/* SPDX-License-Identifier: MIT */
/* Sessions, their event providers, and changes in the session directory. This program starts itself as the process that
   is killed during a change. */
#include "tests/unit/etw/directory_fixture.h"

/* Begins a change, adds a session, and waits to be killed. */
static int role_begin_change(const char *ready_name)
{
    struct directory *own = own_directory();
    struct directory_session s = {
        .state = DIRECTORY_RUNNING, .guid = guid_of(999), .name = (char *)"half", .file = (char *)"half.etl"};
    struct signal *ready;
    if (FAILED(signal_open(&(struct shared){.name = ready_name}, &ready)) || FAILED(directory_begin(own)) ||
        FAILED(directory_session_add(own, &s)))
        return 5;
    signal_set(ready);
    for (;;)
        child_sleep(1000);
}

/* ---- sessions ---- */

static void session_is_read_as_added(void **state)
{
    struct directory_session s = session_of("Süßes", 1), got;
    (void)state;
    s.file = (char *)"C:\\logs\\süß.etl";
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_add(d, &s), S_OK);
    assert_int_equal(directory_session_at(d, s.logger, s.generation, &got), S_FALSE); /* not visible before the
                                                                                         commit */
    directory_end(d, NULL, 0);
    assert_in_range(s.logger, 1, DIRECTORY_SESSIONS);
    assert_int_not_equal(s.generation, 0);
    assert_true(directory_handle(&s) == ((uint64_t)s.generation << 16 | s.logger));
    assert_int_equal(directory_session_at(d, s.logger, s.generation + 1, &got), S_FALSE);
    assert_int_equal(directory_session_at(d, 0, 0, &got), S_FALSE);
    assert_int_equal(directory_session_at(d, DIRECTORY_SESSIONS + 1, 0, &got), S_FALSE);
    assert_int_equal(directory_session_at(d, s.logger, 0, &got), S_OK);
    assert_string_equal(got.name, s.name);
    assert_string_equal(got.file, s.file);
    assert_true(guid_equal(&got.guid, &s.guid));
    assert_string_equal(got.section, s.section);
    assert_string_equal(got.signal, s.signal);
    assert_memory_equal(got.enable_flags, s.enable_flags, sizeof s.enable_flags);
    assert_true(got.generation == s.generation && got.state == DIRECTORY_RUNNING && got.host.id == s.host.id &&
                got.host.start_time == s.host.start_time && got.starter.id == s.starter.id &&
                got.section_size == 1234567 && got.clock == 1 && got.mode == 0x100 && got.buffer_kb == 64 &&
                got.minimum_buffers == 4 && got.maximum_buffers == 24 && got.maximum_file == 7 &&
                got.flush_timer == 2 && got.flush_ms == 2000 && got.thread == 77 && got.started == 123456789 &&
                !got.kernel);
    directory_session_free(&got);
    s.kernel = true;
    s.file = NULL;
    s.state = DIRECTORY_STOPPING;
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_set(d, &s), S_OK);
    s.mode = 5;
    assert_int_equal(directory_session_set(d, &s), S_OK); /* twice in one change */
    s.generation++;
    assert_int_equal(directory_session_set(d, &s), S_FALSE);
    s.generation--;
    directory_end(d, NULL, 0);
    assert_int_equal(directory_session_at(d, s.logger, s.generation, &got), S_OK);
    assert_true(got.state == DIRECTORY_STOPPING && !got.file && got.mode == 5);
    assert_true(directory_handle(&got) == 0xFFFF);
    directory_session_free(&got);
    drop(&s);
    assert_int_equal(directory_session_at(d, s.logger, 0, &got), S_FALSE);
    assert_int_equal(session_count(), 0);
}

static void handle_always_identifies_one_session(void **state)
{
    struct directory_session first = add("first", 1), got;
    (void)state;
    drop(&first);
    struct directory_session second = add("second", 1);
    assert_int_equal(second.logger, first.logger);
    assert_int_not_equal(second.generation, first.generation);
    assert_int_equal(directory_session_at(d, first.logger, first.generation, &got), S_FALSE);
    drop(&second);
}

static void names_and_files_of_other_sessions_are_rejected(void **state)
{
    struct directory_session s = session_of("The Session", 1), other = session_of("the session", 2);
    (void)state;
    s.file = (char *)"C:\\a.etl";
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_add(d, &s), S_OK);
    assert_int_equal(directory_session_add(d, &other), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    other.name = (char *)"another";
    other.guid = s.guid;
    assert_int_equal(directory_session_add(d, &other), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS)), "'another'"));
    other.guid = guid_of(2);
    other.file = (char *)"c:\\A.etl";
    assert_int_equal(directory_session_add(d, &other), HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION)), "The Session"));
    other.file = NULL;
    assert_int_equal(directory_session_add(d, &other), S_OK);
    other.file = (char *)"C:\\a.etl"; /* an update */
    assert_int_equal(directory_session_set(d, &other), HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION));
    char long_name[DIRECTORY_TEXT + 2];
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    struct directory_session third = session_of(long_name, 3);
    assert_int_equal(directory_session_add(d, &third), HRESULT_FROM_WIN32(ERROR_INVALID_NAME));
    third.name = (char *)"third";
    third.file = long_name;
    assert_int_equal(directory_session_add(d, &third), HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE));
    third.name = (char *)"";
    assert_int_equal(directory_session_add(d, &third), HRESULT_FROM_WIN32(ERROR_INVALID_NAME));
    directory_end(d, NULL, 0);
    assert_int_equal(session_count(), 2);
    drop(&s);
    drop(&other);
}

/* When all 64 sessions exist, the error names one that the user can stop: the oldest session whose starter no longer
   lives. */
static void the_oldest_orphan_is_named(void **state)
{
    struct directory_session s[DIRECTORY_SESSIONS];
    char name[32];
    (void)state;
    for (uint32_t i = 0; i < DIRECTORY_SESSIONS; i++) {
        snprintf(name, sizeof name, "session %u", (unsigned)i);
        s[i] = session_of(name, i + 1);
        s[i].started = 1000 - i;
        if (i == 20 || i == 30 || i == 10)
            s[i].starter.start_time++; /* no process of this session lives */
        assert_int_equal(directory_begin(d), S_OK);
        assert_int_equal(directory_session_add(d, &s[i]), S_OK);
        directory_end(d, NULL, 0);
    }
    struct directory_session more = session_of("one more", 1000);
    assert_int_equal(directory_begin(d), S_OK);
    const HRESULT hr = directory_session_add(d, &more);
    directory_end(d, NULL, 0);
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES));
    assert_non_null(strstr(error_text(hr), "'session 30'"));
    for (uint32_t i = 0; i < DIRECTORY_SESSIONS; i++)
        drop(&s[i]);
    assert_int_equal(session_count(), 0);
}

/* ---- settings with which sessions enable event providers ---- */

static void settings_are_found_with_their_filters(void **state)
{
    static const uint8_t bytes[] = "0123456789abcdefghij";
    struct directory_session s = add("enabling", 1);
    struct directory_enable e = enable_of(&s, 7), *list;
    const GUID guid = guid_of(7), source = guid_of(43);
    size_t count;
    uint64_t revision, at, serial;
    (void)state;
    e.filter_count = 3;
    e.filter[0] = (struct directory_filter){0x80000004, 5, bytes};
    e.filter[1] = (struct directory_filter){0x80000008, 0, NULL};
    e.filter[2] = (struct directory_filter){0x80000200, 21, bytes};
    assert_int_equal(enable(&e, &revision), S_OK);
    assert_true(revision == directory_revision(d));
    assert_int_equal(directory_enables(d, &guid, &list, &count, &at), S_OK);
    assert_true(count == 1 && at == revision);
    assert_true(list->logger == s.logger && list->generation == s.generation && list->any == 0xF0 &&
                list->all == 0x10 && list->property == 3 && list->level == 4 && !list->classic && list->captures == 0);
    assert_true(guid_equal(&list->provider, &e.provider) && guid_equal(&list->source, &e.source));
    assert_int_equal(list->filter_count, 3);
    assert_true(list->filter[0].type == 0x80000004 && list->filter[0].size == 5 && list->filter[1].size == 0 &&
                list->filter[2].type == 0x80000200 && list->filter[2].size == 21);
    assert_memory_equal(list->filter[0].data, bytes, 5);
    assert_memory_equal(list->filter[2].data, bytes, 21);
    serial = list->serial;
    directory_enables_free(list, count);
    /* A request to capture state changes only the request's source. */
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_enable_capture(d, s.logger, s.generation, &guid, &source), S_OK);
    directory_end(d, &guid, 1);
    assert_int_equal(directory_enables(d, &guid, &list, &count, &at), S_OK);
    assert_true(count == 1 && list->captures == 1 && list->serial == serial && list->filter_count == 3 &&
                guid_equal(&list->source, &source));
    assert_memory_equal(list->filter[2].data, bytes, 21);
    directory_enables_free(list, count);
    /* An update gets a higher serial number. So do settings that enable the event provider again after it was
       disabled. */
    e.filter_count = 0;
    e.level = 5;
    e.classic = true;
    assert_int_equal(enable(&e, &revision), S_OK);
    assert_int_equal(directory_enables(d, NULL, &list, &count, &at), S_OK);
    assert_true(count == 1 && list->captures == 1 && list->serial > serial && list->filter_count == 0 &&
                list->level == 5 && list->classic);
    serial = list->serial;
    directory_enables_free(list, count);
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_enable_clear(d, s.logger, s.generation, &guid), S_OK);
    assert_int_equal(directory_enable_clear(d, s.logger, s.generation, &guid), S_FALSE);
    assert_int_equal(directory_enable_capture(d, s.logger, s.generation, &guid, &source), S_FALSE);
    directory_end(d, &guid, 1);
    assert_int_equal(enables_of(7), 0);
    assert_int_equal(enable(&e, &revision), S_OK);
    assert_int_equal(directory_enables(d, NULL, &list, &count, &at), S_OK);
    assert_true(count == 1 && list->serial > serial && list->captures == 0);
    directory_enables_free(list, count);
    drop(&s);
    assert_int_equal(enables_of(7), 0);
}

/* Two places that are used alternately, as for a session that often changes an event provider's settings. */
struct turns {
    struct directory_span span[2];
    atomic_bool end;
};

static void alternate_sessions(void *context)
{
    struct turns *t = context;
    for (uint32_t i = 1; i <= 200000; i++) {
        assert_int_equal(directory_begin(d), S_OK);
        directory_put(d, &t->span[i % 2], NULL, NULL, 0);
        directory_retire(d, &t->span[1 - i % 2]);
        directory_end(d, NULL, 0);
    }
    atomic_store(&t->end, true);
}

/* When a session changes an event provider's settings, the new ones are stored in another place, and the old place
   ends. A reader that saw both places would find the session twice, and write each event twice. */
static void readers_see_each_session_once_during_changes(void **state)
{
    struct turns turns = {.end = false};
    size_t looks = 0, others = 0;
    struct thread *t;
    (void)state;
    assert_int_equal(directory_begin(d), S_OK);
    directory_put(d, &turns.span[0], NULL, NULL, 0);
    directory_end(d, NULL, 0);
    assert_int_equal(thread_start(alternate_sessions, &turns, &t), S_OK);
    while (!atomic_load(&turns.end) || !looks) {
        const uint64_t now = directory_revision(d);
        const bool first = directory_holds(&turns.span[0], now), second = directory_holds(&turns.span[1], now);
        if (atomic_load(&d->shared->revision) - now > 2)
            continue; /* directory_read does the same */
        looks++;
        others += first == second;
    }
    assert_true(thread_wait(t, CHILD_PATIENCE));
    thread_close(t);
    assert_int_equal(others, 0);
}

static void only_running_sessions_enable(void **state)
{
    struct directory_session s = add("enabling", 1);
    struct directory_enable e = enable_of(&s, 7);
    uint64_t revision;
    GUID *providers;
    size_t count;
    (void)state;
    assert_int_equal(enable(&e, &revision), S_OK);
    e.provider = guid_of(8);
    assert_int_equal(enable(&e, &revision), S_OK);
    assert_int_equal(enables_of(7), 1);
    assert_int_equal(directory_begin(d), S_OK);
    s.state = DIRECTORY_STOPPING;
    assert_int_equal(directory_session_set(d, &s), S_OK);
    directory_end(d, NULL, 0);
    assert_int_equal(enables_of(7), 0);
    e.generation++;
    assert_int_equal(enable(&e, &revision), HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND));
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_remove(d, s.logger, s.generation, &providers, &count), S_OK);
    directory_end(d, providers, count);
    assert_int_equal(count, 2);
    assert_true((providers[0].Data1 == 7 && providers[1].Data1 == 8) ||
                (providers[0].Data1 == 8 && providers[1].Data1 == 7));
    memory_free(providers);
}

/* The error for the ninth session names the eight sessions that have enabled the event provider. */
static void eight_sessions_enable_a_provider(void **state)
{
    struct directory_session s[9];
    struct directory_enable e;
    uint64_t revision;
    char name[32];
    HRESULT hr = S_OK;
    (void)state;
    for (uint32_t i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "session %u", (unsigned)i);
        s[i] = add(name, i + 1);
        e = enable_of(&s[i], 7);
        hr = enable(&e, &revision);
        assert_int_equal(hr, i < 8 ? S_OK : HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES));
    }
    assert_non_null(strstr(error_text(hr), "'session 0', 'session 1'"));
    assert_non_null(strstr(error_text(hr), "'session 7'"));
    e = enable_of(&s[3], 7); /* an update does not count */
    assert_int_equal(enable(&e, &revision), S_OK);
    drop(&s[0]);
    e = enable_of(&s[8], 7);
    assert_int_equal(enable(&e, &revision), S_OK);
    assert_int_equal(enables_of(7), 8);
    for (uint32_t i = 1; i < 9; i++)
        drop(&s[i]);
}

/* When settings end, their place and their filters are freed. */
static void space_of_ended_settings_is_freed(void **state)
{
    struct directory_session s = add("enabling", 1);
    uint8_t *bytes = memory_zero(1, DIRECTORY_FILTER_BYTES);
    uint64_t revision;
    uint32_t fits = 0;
    HRESULT hr;
    (void)state;
    struct directory_enable e = enable_of(&s, 1);
    e.filter_count = 1;
    e.filter[0] = (struct directory_filter){0x80000000, DIRECTORY_FILTER_BYTES + 1, bytes};
    assert_int_equal(enable(&e, &revision), HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER));
    e.filter[0].size = DIRECTORY_FILTER_BYTES;
    while ((e.provider = guid_of(100 + fits)), (hr = enable(&e, &revision)) == S_OK)
        fits++;
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES));
    assert_in_range(fits, 32, 4096);
    for (uint32_t round = 0; round < 3 * fits; round++) {
        assert_int_equal(directory_begin(d), S_OK);
        const GUID provider = guid_of(100 + round % fits);
        assert_int_equal(directory_enable_clear(d, s.logger, s.generation, &provider), S_OK);
        directory_end(d, NULL, 0);
        e.provider = provider;
        assert_int_equal(enable(&e, &revision), S_OK);
    }
    drop(&s);
    s = add("enabling", 1);
    e = enable_of(&s, 1);
    for (uint32_t i = 0; i < DIRECTORY_ENABLES; i++) {
        assert_int_equal(directory_begin(d), S_OK);
        e.provider = guid_of(100 + i);
        hr = directory_enable_set(d, &e);
        directory_end(d, NULL, 0);
        if (i < 300 || FAILED(hr))
            assert_int_equal(hr, S_OK);
        if (i == 300)
            break; /* trying all of them takes minutes under the sanitizers */
    }
    drop(&s);
    memory_free(bytes);
}

/* ---- interrupted changes ---- */

static void an_interrupted_change_is_undone(void **state)
{
    char ready_name[64];
    struct signal *ready = make_signal(ready_name);
    struct directory_session s = add("whole", 1);
    const uint64_t revision = directory_revision(d);
    struct process *p = child_start("half", ready_name, "");
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_true(directory_revision(d) == revision);
    assert_int_equal(session_count(), 1); /* the change is invisible while the process lives, and afterwards */
    end_child(p, ready_name);
    assert_int_equal(session_count(), 1);
    struct directory_session again = add("half", 999);
    assert_int_equal(session_count(), 2);
    drop(&again);
    drop(&s);
    signal_close(ready);
}

static void numbers_are_unique(void **state)
{
    const uint32_t sequence = directory_next_sequence(d);
    const uint64_t key = directory_next_event_key(d);
    (void)state;
    assert_int_not_equal(sequence, 0);
    assert_int_not_equal(key, 0);
    assert_int_equal(directory_next_sequence(d), sequence + 1);
    assert_true(directory_next_event_key(d) == key + 1);
}

static void out_of_memory_changes_nothing(void **state)
{
    static const uint8_t bytes[32];
    struct directory_session s = session_of("memory", 1), *list;
    struct directory_enable *enables;
    GUID *providers;
    size_t count;
    uint64_t revision;
    HRESULT hr;
    (void)state;
    s.file = (char *)"memory.etl";
    for (uint64_t n = 1;; n++) {
        assert_int_equal(directory_begin(d), S_OK);
        memory_fail_at(n);
        hr = directory_session_add(d, &s);
        struct directory_enable e = enable_of(&s, 7);
        e.filter_count = 1;
        e.filter[0] = (struct directory_filter){0x80000000, sizeof bytes, bytes};
        if (SUCCEEDED(hr)) {
            hr = directory_enable_set(d, &e);
            memory_fail_at(0);
            if (FAILED(hr))
                assert_int_equal(directory_session_remove(d, s.logger, s.generation, &providers, &count), S_OK);
        }
        memory_fail_at(0);
        directory_end(d, NULL, 0);
        if (SUCCEEDED(hr))
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
        assert_int_equal(session_count(), 0);
    }
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        hr = directory_sessions(d, &list, &count);
        if (SUCCEEDED(hr)) {
            directory_sessions_free(list, count);
            hr = directory_enables(d, NULL, &enables, &count, &revision);
        }
        memory_fail_at(0);
        if (SUCCEEDED(hr)) {
            directory_enables_free(enables, count);
            break;
        }
        assert_int_equal(hr, E_OUTOFMEMORY);
    }
    for (uint64_t n = 1;; n++) {
        assert_int_equal(directory_begin(d), S_OK);
        memory_fail_at(n);
        hr = directory_session_remove(d, s.logger, s.generation, &providers, &count);
        memory_fail_at(0);
        directory_end(d, NULL, 0);
        if (SUCCEEDED(hr))
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
        assert_int_equal(enables_of(7), 1);
    }
    memory_free(providers);
    assert_int_equal(session_count(), 0);
}

/* Leaves the directory like a process that exits; can be called repeatedly. */
static void exit_as_other_process(void)
{
    char name[96];
    snprintf(name, sizeof name, "%s-users", d->name);
    if (!d->user)
        assert_int_equal(signal_open(&(struct shared){.name = name, .create = true}, &d->user), S_OK);
    directory_leave();
}

/* If the last process did not remove the directory, each directory (of a prefix, or of native programs) would stay in
   memory until the host OS restarts. If a process removed it too early, a user could lose the events of a session that
   is not recovered yet. */
static void last_process_removes_the_directory(void **state)
{
    char name[96];
    struct signal *other;
    struct directory_session s = session_of("left", 1);
    (void)state;
    snprintf(name, sizeof name, "%s-users", d->name);
    atomic_store(&d->shared->names_given, 0);
    directory_set_profile_interval(d, 0);
    assert_int_equal(signal_open(&(struct shared){.name = name}, &other), S_OK); /* a process that still runs */
    exit_as_other_process();
    assert_int_equal(directory_check(), S_OK);
    signal_close(other);
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_add(d, &s), S_OK);
    directory_end(d, NULL, 0);
    exit_as_other_process();
    assert_int_equal(directory_check(), S_OK);
    drop(&s);
    directory_set_profile_interval(d, 10000);
    exit_as_other_process();
    assert_int_equal(directory_check(), S_OK);
    directory_set_profile_interval(d, 0);
    exit_as_other_process();
    assert_int_equal(directory_check(), S_FALSE);
    assert_int_equal(directory_get(&d), S_OK); /* the next one begins with an empty directory */
    assert_int_equal(session_count(), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_is_read_as_added),
        cmocka_unit_test(handle_always_identifies_one_session),
        cmocka_unit_test(names_and_files_of_other_sessions_are_rejected),
        cmocka_unit_test(the_oldest_orphan_is_named),
        cmocka_unit_test(settings_are_found_with_their_filters),
        cmocka_unit_test(only_running_sessions_enable),
        cmocka_unit_test(eight_sessions_enable_a_provider),
        cmocka_unit_test(space_of_ended_settings_is_freed),
        cmocka_unit_test(an_interrupted_change_is_undone),
        cmocka_unit_test(numbers_are_unique),
        cmocka_unit_test(out_of_memory_changes_nothing),
        cmocka_unit_test(readers_see_each_session_once_during_changes),
        cmocka_unit_test(last_process_removes_the_directory),
    };
    child_program = argv[0];
    if (argc == 4)
        return role_begin_change(argv[2]);
    own_directory_name();
    d = own_directory();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    directory_delete(d);
    return failed;
}

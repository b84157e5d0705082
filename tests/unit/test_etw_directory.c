/* SPDX-License-Identifier: MIT */
/* What processes share about tracing: sessions, enables, registrations, requests, and who wakes whom. This program
   starts itself as the other processes. */
#include "engine/etw/directory_parts.h"
#include "engine/os/clock.h"
#include "engine/os/etw_provider_types.h"
#include "engine/os/etw_types.h"
#include "engine/os/thread.h"
#include "tests/unit/child_process.h"
#include "tests/unit/own_directory.h"

static struct directory *d;

static GUID guid_of(uint32_t number)
{
    return (GUID){number, 0x1234, 0x5678, {1, 2, 3, 4, 5, 6, 7, 8}};
}

/* ---- the roles of a child ---- */

/* Registers the provider `number`, says so by the signal `ready`; applies what it is woken for, and says so again. */
static int role_provider(const char *number, const char *ready_name)
{
    const GUID guid = guid_of((uint32_t)strtoul(number, NULL, 10));
    struct directory *own = own_directory();
    struct signal *ready, *wake;
    uint32_t registration;
    if (FAILED(directory_own_signal(own, &wake)) ||
        FAILED(directory_register(own, &guid, DIRECTORY_PROVIDER, &registration)) ||
        FAILED(signal_open(&(struct shared){.name = ready_name}, &ready)))
        return 5;
    for (;;) {
        struct directory_enable *list;
        size_t count;
        uint64_t generation;
        if (FAILED(directory_enables(own, &guid, &list, &count, &generation)))
            return 6;
        directory_enables_free(list, count);
        directory_applied(own, generation);
        signal_set(ready);
        if (signal_wait(wake, CHILD_PATIENCE) != S_OK)
            return 7;
    }
}

/* Hosts the session of this logger: answers each request with its verb times 100 and the length of its file's name,
   and leaves without an answer when it is to go to real time. */
static int role_host(const char *logger_text, const char *signal_name)
{
    const uint32_t logger = (uint32_t)strtoul(logger_text, NULL, 10);
    struct directory *own = own_directory();
    struct signal *wake;
    if (FAILED(signal_open(&(struct shared){.name = signal_name}, &wake)))
        return 5;
    for (;;) {
        struct directory_request r;
        HRESULT hr = directory_asked(own, logger, &r);
        if (hr == S_OK && r.verb == DIRECTORY_TO_REALTIME)
            return 0;
        if (hr == S_OK) {
            directory_answer(own, logger, (uint32_t)r.verb * 100 + (r.file ? (uint32_t)strlen(r.file) : 0));
            directory_request_free(&r);
        } else if (FAILED(hr) || signal_wait(wake, CHILD_PATIENCE) != S_OK) {
            return 7;
        }
    }
}

/* Begins a change, adds a session to it and stays. */
static int role_half(const char *ready_name)
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

static int role(const char *mode, const char *a, const char *b)
{
    return !strcmp(mode, "provider") ? role_provider(a, b)
           : !strcmp(mode, "host")   ? role_host(a, b)
           : !strcmp(mode, "half")   ? role_half(a)
                                     : 1;
}

/* ---- helpers of the tests ---- */

static uint32_t names; /* so that no two tests share one */

static struct signal *make_signal(char name[64])
{
    struct signal *signal;
    snprintf(name, 64, "openetw-test-%u-%u", (unsigned)process_own_id(), (unsigned)++names);
    assert_int_equal(signal_open(&(struct shared){.name = name, .create = true}, &signal), S_OK);
    return signal;
}

static struct directory_session session_of(const char *name, uint32_t guid)
{
    struct directory_session s = {.state = DIRECTORY_RUNNING,
                                  .guid = guid_of(guid),
                                  .host = {process_own_id(), process_start_time(process_own_id())},
                                  .starter = {process_own_id(), process_start_time(process_own_id())},
                                  .section = "the-section",
                                  .signal = "the-signal",
                                  .section_size = 1234567,
                                  .clock = 1,
                                  .mode = 0x100,
                                  .buffer_kb = 64,
                                  .minimum_buffers = 4,
                                  .maximum_buffers = 24,
                                  .maximum_file = 7,
                                  .flush_timer = 2,
                                  .flush_ms = 2000,
                                  .enable_flags = {1, 2, 3, 4, 5, 6, 7, 8},
                                  .thread = 77,
                                  .started = 123456789,
                                  .name = (char *)name};
    return s;
}

static struct directory_session add(const char *name, uint32_t guid)
{
    struct directory_session s = session_of(name, guid);
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_add(d, &s), S_OK);
    directory_end(d, NULL, 0);
    return s;
}

static void drop(const struct directory_session *s)
{
    GUID *providers;
    size_t count;
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_remove(d, s->logger, s->turn, &providers, &count), S_OK);
    directory_end(d, providers, count);
    memory_free(providers);
}

static struct directory_enable enable_of(const struct directory_session *s, uint32_t provider)
{
    return (struct directory_enable){.provider = guid_of(provider),
                                     .source = guid_of(42),
                                     .logger = s->logger,
                                     .turn = s->turn,
                                     .any = 0xF0,
                                     .all = 0x10,
                                     .property = 3,
                                     .level = 4};
}

static HRESULT enable(const struct directory_enable *e, uint64_t *generation)
{
    assert_int_equal(directory_begin(d), S_OK);
    HRESULT hr = directory_enable_set(d, e);
    *generation = directory_end(d, &e->provider, 1);
    return hr;
}

static size_t enables_of(uint32_t provider)
{
    const GUID guid = guid_of(provider);
    struct directory_enable *list;
    size_t count;
    uint64_t generation;
    assert_int_equal(directory_enables(d, &guid, &list, &count, &generation), S_OK);
    directory_enables_free(list, count);
    return count;
}

static size_t session_count(void)
{
    struct directory_session *list;
    size_t count;
    assert_int_equal(directory_sessions(d, &list, &count), S_OK);
    directory_sessions_free(list, count);
    return count;
}

static void end_child(struct process *p, const char *token)
{
    child_kill(p, token);
    assert_int_equal(process_wait(p, CHILD_PATIENCE, NULL), S_OK);
    process_close(p);
}

/* ---- sessions ---- */

static void a_session_is_found_as_it_was_told(void **state)
{
    struct directory_session s = session_of("Süßes", 1), got;
    (void)state;
    s.file = (char *)"C:\\logs\\süß.etl";
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_add(d, &s), S_OK);
    assert_int_equal(directory_session_at(d, s.logger, s.turn, &got), S_FALSE); /* not yet */
    directory_end(d, NULL, 0);
    assert_in_range(s.logger, 1, DIRECTORY_SESSIONS);
    assert_int_not_equal(s.turn, 0);
    assert_true(directory_handle(&s) == ((uint64_t)s.turn << 16 | s.logger));
    assert_int_equal(directory_session_at(d, s.logger, s.turn + 1, &got), S_FALSE);
    assert_int_equal(directory_session_at(d, 0, 0, &got), S_FALSE);
    assert_int_equal(directory_session_at(d, DIRECTORY_SESSIONS + 1, 0, &got), S_FALSE);
    assert_int_equal(directory_session_at(d, s.logger, 0, &got), S_OK);
    assert_string_equal(got.name, s.name);
    assert_string_equal(got.file, s.file);
    assert_true(guid_equal(&got.guid, &s.guid));
    assert_string_equal(got.section, s.section);
    assert_string_equal(got.signal, s.signal);
    assert_memory_equal(got.enable_flags, s.enable_flags, sizeof s.enable_flags);
    assert_true(got.turn == s.turn && got.state == DIRECTORY_RUNNING && got.host.id == s.host.id &&
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
    assert_int_equal(directory_session_set(d, &s), S_OK); /* twice in a change */
    s.turn++;
    assert_int_equal(directory_session_set(d, &s), S_FALSE);
    s.turn--;
    directory_end(d, NULL, 0);
    assert_int_equal(directory_session_at(d, s.logger, s.turn, &got), S_OK);
    assert_true(got.state == DIRECTORY_STOPPING && !got.file && got.mode == 5);
    assert_true(directory_handle(&got) == ((uint64_t)s.turn << 16 | 0xFFFF));
    directory_session_free(&got);
    drop(&s);
    assert_int_equal(directory_session_at(d, s.logger, 0, &got), S_FALSE);
    assert_int_equal(session_count(), 0);
}

static void a_handle_names_one_session_for_ever(void **state)
{
    struct directory_session first = add("first", 1), got;
    (void)state;
    drop(&first);
    struct directory_session second = add("second", 1);
    assert_int_equal(second.logger, first.logger);
    assert_int_not_equal(second.turn, first.turn);
    assert_int_equal(directory_session_at(d, first.logger, first.turn, &got), S_FALSE);
    drop(&second);
}

static void what_another_session_has_is_refused(void **state)
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

/* After 64 sessions the user learns which one was forgotten. */
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
            s[i].starter.start_time++; /* nobody of whom lives */
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

/* ---- enables ---- */

static void enables_are_found_with_their_filters(void **state)
{
    static const uint8_t bytes[] = "0123456789abcdefghij";
    struct directory_session s = add("enabling", 1);
    struct directory_enable e = enable_of(&s, 7), *list;
    const GUID guid = guid_of(7), source = guid_of(43);
    size_t count;
    uint64_t generation, at, serial;
    (void)state;
    e.filter_count = 3;
    e.filter[0] = (struct directory_filter){0x80000004, 5, bytes};
    e.filter[1] = (struct directory_filter){0x80000008, 0, NULL};
    e.filter[2] = (struct directory_filter){0x80000200, 21, bytes};
    assert_int_equal(enable(&e, &generation), S_OK);
    assert_true(generation == directory_generation(d));
    assert_int_equal(directory_enables(d, &guid, &list, &count, &at), S_OK);
    assert_true(count == 1 && at == generation);
    assert_true(list->logger == s.logger && list->turn == s.turn && list->any == 0xF0 && list->all == 0x10 &&
                list->property == 3 && list->level == 4 && !list->classic && list->captures == 0);
    assert_true(guid_equal(&list->provider, &e.provider) && guid_equal(&list->source, &e.source));
    assert_int_equal(list->filter_count, 3);
    assert_true(list->filter[0].type == 0x80000004 && list->filter[0].size == 5 && list->filter[1].size == 0 &&
                list->filter[2].type == 0x80000200 && list->filter[2].size == 21);
    assert_memory_equal(list->filter[0].data, bytes, 5);
    assert_memory_equal(list->filter[2].data, bytes, 21);
    serial = list->serial;
    directory_enables_free(list, count);
    /* A capture leaves all but its source. */
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_enable_capture(d, s.logger, s.turn, &guid, &source), S_OK);
    directory_end(d, &guid, 1);
    assert_int_equal(directory_enables(d, &guid, &list, &count, &at), S_OK);
    assert_true(count == 1 && list->captures == 1 && list->serial == serial && list->filter_count == 3 &&
                guid_equal(&list->source, &source));
    assert_memory_equal(list->filter[2].data, bytes, 21);
    directory_enables_free(list, count);
    /* An update has a higher serial, and one after a disable too. */
    e.filter_count = 0;
    e.level = 5;
    e.classic = true;
    assert_int_equal(enable(&e, &generation), S_OK);
    assert_int_equal(directory_enables(d, NULL, &list, &count, &at), S_OK);
    assert_true(count == 1 && list->captures == 1 && list->serial > serial && list->filter_count == 0 &&
                list->level == 5 && list->classic);
    serial = list->serial;
    directory_enables_free(list, count);
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_enable_clear(d, s.logger, s.turn, &guid), S_OK);
    assert_int_equal(directory_enable_clear(d, s.logger, s.turn, &guid), S_FALSE);
    assert_int_equal(directory_enable_capture(d, s.logger, s.turn, &guid, &source), S_FALSE);
    directory_end(d, &guid, 1);
    assert_int_equal(enables_of(7), 0);
    assert_int_equal(enable(&e, &generation), S_OK);
    assert_int_equal(directory_enables(d, NULL, &list, &count, &at), S_OK);
    assert_true(count == 1 && list->serial > serial && list->captures == 0);
    directory_enables_free(list, count);
    drop(&s);
    assert_int_equal(enables_of(7), 0);
}

static void only_running_sessions_enable(void **state)
{
    struct directory_session s = add("enabling", 1);
    struct directory_enable e = enable_of(&s, 7);
    uint64_t generation;
    GUID *providers;
    size_t count;
    (void)state;
    assert_int_equal(enable(&e, &generation), S_OK);
    e.provider = guid_of(8);
    assert_int_equal(enable(&e, &generation), S_OK);
    assert_int_equal(enables_of(7), 1);
    assert_int_equal(directory_begin(d), S_OK);
    s.state = DIRECTORY_STOPPING;
    assert_int_equal(directory_session_set(d, &s), S_OK);
    directory_end(d, NULL, 0);
    assert_int_equal(enables_of(7), 0);
    e.turn++;
    assert_int_equal(enable(&e, &generation), HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND));
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_remove(d, s.logger, s.turn, &providers, &count), S_OK);
    directory_end(d, providers, count);
    assert_int_equal(count, 2);
    assert_true((providers[0].Data1 == 7 && providers[1].Data1 == 8) ||
                (providers[0].Data1 == 8 && providers[1].Data1 == 7));
    memory_free(providers);
}

/* The ninth session learns which eight have the provider. */
static void eight_sessions_enable_a_provider(void **state)
{
    struct directory_session s[9];
    struct directory_enable e;
    uint64_t generation;
    char name[32];
    HRESULT hr = S_OK;
    (void)state;
    for (uint32_t i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "session %u", (unsigned)i);
        s[i] = add(name, i + 1);
        e = enable_of(&s[i], 7);
        hr = enable(&e, &generation);
        assert_int_equal(hr, i < 8 ? S_OK : HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES));
    }
    assert_non_null(strstr(error_text(hr), "'session 0', 'session 1'"));
    assert_non_null(strstr(error_text(hr), "'session 7'"));
    e = enable_of(&s[3], 7); /* an update is no further one */
    assert_int_equal(enable(&e, &generation), S_OK);
    drop(&s[0]);
    e = enable_of(&s[8], 7);
    assert_int_equal(enable(&e, &generation), S_OK);
    assert_int_equal(enables_of(7), 8);
    for (uint32_t i = 1; i < 9; i++)
        drop(&s[i]);
}

/* Nothing of enables that are gone is kept: filters and places come back. */
static void room_for_enables_comes_back(void **state)
{
    struct directory_session s = add("enabling", 1);
    uint8_t *bytes = memory_zero(1, DIRECTORY_FILTER_BYTES);
    uint64_t generation;
    uint32_t fits = 0;
    HRESULT hr;
    (void)state;
    struct directory_enable e = enable_of(&s, 1);
    e.filter_count = 1;
    e.filter[0] = (struct directory_filter){0x80000000, DIRECTORY_FILTER_BYTES + 1, bytes};
    assert_int_equal(enable(&e, &generation), HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER));
    e.filter[0].size = DIRECTORY_FILTER_BYTES;
    while ((e.provider = guid_of(100 + fits)), (hr = enable(&e, &generation)) == S_OK)
        fits++;
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES));
    assert_in_range(fits, 32, 4096);
    for (uint32_t round = 0; round < 3 * fits; round++) {
        assert_int_equal(directory_begin(d), S_OK);
        const GUID provider = guid_of(100 + round % fits);
        assert_int_equal(directory_enable_clear(d, s.logger, s.turn, &provider), S_OK);
        directory_end(d, NULL, 0);
        e.provider = provider;
        assert_int_equal(enable(&e, &generation), S_OK);
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
            break; /* all of them take minutes under the sanitizers */
    }
    drop(&s);
    memory_free(bytes);
}

/* ---- processes ---- */

static void a_process_is_woken_for_its_providers_alone(void **state)
{
    char ready_name[64], other_name[64];
    struct signal *ready = make_signal(ready_name), *other_ready = make_signal(other_name);
    struct process *p = child_start("provider", "7", ready_name), *other = child_start("provider", "8", other_name);
    struct directory_session s = add("enabling", 1);
    struct directory_enable e = enable_of(&s, 7);
    uint64_t generation;
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_int_equal(signal_wait_or_process(other_ready, other, CHILD_PATIENCE), S_OK);
    assert_int_equal(enable(&e, &generation), S_OK);
    assert_int_equal(directory_wait_applied(d, &e.provider, generation, CHILD_PATIENCE), S_OK);
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_int_equal(signal_wait_or_process(other_ready, other, 50), S_FALSE);
    /* Who has not applied it is waited for, until he ends. */
    assert_int_equal(directory_wait_applied(d, &e.provider, generation + 2, 30), S_FALSE);
    end_child(p, ready_name);
    assert_int_equal(directory_wait_applied(d, &e.provider, generation + 2, CHILD_PATIENCE), S_OK);
    end_child(other, other_name);
    drop(&s);
    signal_close(ready);
    signal_close(other_ready);
}

static size_t registered(uint32_t provider, uint32_t *pid)
{
    const GUID guid = guid_of(provider);
    struct directory_registration *list;
    size_t count, found = 0;
    assert_int_equal(directory_registrations(d, &list, &count), S_OK);
    for (size_t i = 0; i < count; i++) {
        if (!guid_equal(&list[i].provider, &guid))
            continue;
        found++;
        *pid = list[i].process.id;
    }
    memory_free(list);
    return found;
}

static void registrations_are_seen_as_long_as_they_are(void **state)
{
    const GUID guid = guid_of(7), classic = guid_of(8), group = guid_of(9);
    char ready_name[64];
    struct signal *ready = make_signal(ready_name);
    struct process *p = child_start("provider", "7", ready_name);
    struct directory_registration *list;
    uint32_t a, b, c, e, pid = 0;
    size_t count;
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_int_equal(registered(7, &pid), 1);
    assert_int_equal(pid, process_id(p));
    assert_int_equal(directory_register(d, &guid, DIRECTORY_PROVIDER, &a), S_OK);
    assert_int_equal(directory_register(d, &guid, DIRECTORY_PROVIDER, &b), S_OK);
    assert_int_equal(directory_register(d, &classic, DIRECTORY_CLASSIC, &c), S_OK);
    assert_int_equal(directory_register(d, &group, DIRECTORY_GROUP, &e), S_OK);
    assert_int_equal(registered(7, &pid), 3);
    assert_int_equal(directory_registrations(d, &list, &count), S_OK);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        assert_true(list[i].classic == (list[i].provider.Data1 == 8) && list[i].group == (list[i].provider.Data1 == 9));
        struct directory_process process;
        assert_true(directory_process_of(d, list[i].slot, &process));
        assert_true(process.id == list[i].process.id && process.start_time == list[i].process.start_time);
        assert_true(directory_alive(d, list[i].slot, 0));
    }
    memory_free(list);
    directory_unregister(d, a);
    directory_unregister(d, a); /* is another's, or nobody's, now */
    assert_int_equal(registered(7, &pid), 2);
    end_child(p, ready_name);
    assert_int_equal(registered(7, &pid), 1);
    assert_int_equal(pid, process_own_id());
    directory_unregister(d, b);
    directory_unregister(d, c);
    directory_unregister(d, e);
    assert_int_equal(registered(7, &pid), 0);
    signal_close(ready);
}

static void all_registrations_can_be_taken_and_come_back(void **state)
{
    uint32_t *taken = memory_alloc(DIRECTORY_REGISTRATIONS * sizeof *taken), more, pid;
    char ready_name[64];
    struct signal *ready = make_signal(ready_name);
    struct process *p = child_start("provider", "5", ready_name);
    const GUID guid = guid_of(6);
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    for (uint32_t i = 0; i < DIRECTORY_REGISTRATIONS - 1; i++)
        assert_int_equal(directory_register(d, &guid, DIRECTORY_PROVIDER, &taken[i]), S_OK);
    assert_int_equal(directory_register(d, &guid, DIRECTORY_PROVIDER, &more),
                     HRESULT_FROM_WIN32(ERROR_NO_SYSTEM_RESOURCES));
    end_child(p, ready_name); /* what he had is taken back */
    assert_int_equal(directory_register(d, &guid, DIRECTORY_PROVIDER, &taken[DIRECTORY_REGISTRATIONS - 1]), S_OK);
    for (uint32_t i = 0; i < DIRECTORY_REGISTRATIONS; i++)
        directory_unregister(d, taken[i]);
    assert_int_equal(registered(6, &pid), 0);
    assert_int_equal(directory_register(d, &guid, DIRECTORY_PROVIDER, &more), S_OK);
    assert_int_equal(more, 0); /* short ways for those who look through them */
    directory_unregister(d, more);
    signal_close(ready);
    memory_free(taken);
}

/* A slot that events in a session may name is not given to another process; one that cannot be named is. */
static void slots_of_the_dead_wait_for_sessions(void **state)
{
    struct directory_session s = add("naming", 1);
    uint32_t own, slots[2] = {0};
    struct directory_process process;
    (void)state;
    assert_int_equal(directory_join(d, &own), S_OK);
    assert_true(directory_alive(d, own, 0));
    assert_true(directory_alive(d, own, thread_own_id()));
    assert_false(directory_alive(d, own, 0x7FFFFFF0));
    assert_false(directory_alive(d, 0, 0));
    assert_false(directory_alive(d, 0xFFFFFFFF, 0));
    for (int i = 0; i < 2; i++) {
        char ready_name[64];
        struct signal *ready = make_signal(ready_name);
        struct process *p = child_start("provider", "7", ready_name);
        struct directory_registration *list;
        size_t count;
        assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
        assert_int_equal(directory_registrations(d, &list, &count), S_OK);
        assert_int_equal(count, 1);
        slots[i] = list[0].slot;
        memory_free(list);
        const uint32_t pid = process_id(p);
        end_child(p, ready_name);
        signal_close(ready);
        assert_false(directory_alive(d, slots[i], 0));
        for (int tended = 0; tended < 300; tended++) /* sees that it has ended */
            directory_session_tended(d, s.logger, 0);
        assert_false(directory_process_of(d, slots[i], &process) && process.id == pid);
    }
    assert_int_not_equal(slots[0], slots[1]);
    child_sleep(20);
    for (int tended = 0; tended < 300; tended++)
        directory_session_tended(d, s.logger, clock_monotonic_ms());
    char ready_name[64];
    struct signal *ready = make_signal(ready_name);
    struct process *p = child_start("provider", "7", ready_name);
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    const uint32_t again = directory_process_of(d, slots[0], &process) ? slots[0] : slots[1];
    assert_true(directory_process_of(d, again, &process));
    assert_int_equal(process.id, process_id(p));
    end_child(p, ready_name);
    signal_close(ready);
    drop(&s);
}

struct sleeping_host {
    const struct directory_session *session;
    struct signal *wake;
};

static void say_tended(void *user)
{
    struct sleeping_host *h = user;
    if (signal_wait(h->wake, CHILD_PATIENCE) == S_OK)
        directory_session_tended(d, h->session->logger, clock_monotonic_ms());
}

/* When the dead have all slots, the hosts are asked whether their sessions still name them. */
static void a_host_that_sleeps_keeps_nobody_out(void **state)
{
    struct directory_session s = session_of("sleeping", 1);
    struct sleeping_host h = {.session = &s};
    struct directory_shared *shared = d->shared;
    const uint64_t used = atomic_load(&shared->slots_used);
    char ready_name[64];
    struct signal *ready = make_signal(ready_name);
    struct thread *t;
    (void)state;
    h.wake = make_signal(s.signal);
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_add(d, &s), S_OK);
    directory_end(d, NULL, 0);
    child_sleep(20);
    const uint64_t now = clock_monotonic_ms();
    for (uint32_t slot = 1; slot < DIRECTORY_SLOTS; slot++) {
        if (slot_state(atomic_load(&shared->slot[slot].word)) != SLOT_FREE)
            continue;
        atomic_store(&shared->slot[slot].dead_at, now);
        atomic_store(&shared->slot[slot].word, slot_word(SLOT_DEAD, 7));
    }
    atomic_store(&shared->slots_used, DIRECTORY_SLOTS);
    child_sleep(20);
    assert_int_equal(thread_start(say_tended, &h, &t), S_OK);
    struct process *p = child_start("provider", "7", ready_name);
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_true(thread_wait(t, CHILD_PATIENCE));
    thread_close(t);
    end_child(p, ready_name);
    drop(&s);
    for (uint32_t slot = 1; slot < DIRECTORY_SLOTS; slot++)
        if (slot_state(atomic_load(&shared->slot[slot].word)) == SLOT_DEAD)
            atomic_store(&shared->slot[slot].word, slot_word(SLOT_FREE, 7));
    atomic_store(&shared->slots_used, used);
    signal_close(h.wake);
    signal_close(ready);
}

/* ---- requests ---- */

static uint32_t ask(const struct directory_session *s, enum directory_verb verb, const char *file, HRESULT expected)
{
    const struct directory_request r = {
        .verb = verb, .process = {process_own_id(), process_start_time(process_own_id())}, .file = (char *)file};
    uint32_t answer = 0;
    const uint32_t patience = expected == S_FALSE ? 50 : CHILD_PATIENCE;
    assert_int_equal(directory_ask(d, s->logger, s->turn, &r, patience, &answer), expected);
    return answer;
}

struct asking {
    struct directory_session s;
    enum directory_verb verb;
    bool wrong;
};
static void ask_often(void *user)
{
    struct asking *a = user;
    for (int i = 0; i < 20; i++) {
        const struct directory_request r = {.verb = a->verb,
                                            .process = {process_own_id(), process_start_time(process_own_id())}};
        uint32_t answer = 0;
        if (directory_ask(d, a->s.logger, a->s.turn, &r, CHILD_PATIENCE, &answer) != S_OK ||
            answer != (uint32_t)a->verb * 100)
            a->wrong = true;
    }
}

static void each_request_gets_its_own_answer(void **state)
{
    char signal_name[64], logger[16];
    struct signal *wake = make_signal(signal_name);
    struct directory_session s = add("asked", 1);
    struct asking asking[3];
    struct thread *threads[3];
    (void)state;
    snprintf(logger, sizeof logger, "%u", (unsigned)s.logger);
    struct process *p = child_start("host", logger, signal_name);
    s.host = (struct directory_process){process_id(p), process_start_time(process_id(p))};
    snprintf(s.signal, sizeof s.signal, "%s", signal_name);
    assert_int_equal(directory_begin(d), S_OK);
    assert_int_equal(directory_session_set(d, &s), S_OK);
    directory_end(d, NULL, 0);
    assert_int_equal(ask(&s, DIRECTORY_FLUSH, "snapshot.etl", S_OK), DIRECTORY_FLUSH * 100 + 12);
    assert_int_equal(ask(&s, DIRECTORY_STOP, NULL, S_OK), DIRECTORY_STOP * 100);
    for (int i = 0; i < 3; i++) {
        asking[i] = (struct asking){s, (enum directory_verb)(DIRECTORY_STOP + i), false};
        assert_int_equal(thread_start(ask_often, &asking[i], &threads[i]), S_OK);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(thread_wait(threads[i], CHILD_PATIENCE));
        thread_close(threads[i]);
        assert_false(asking[i].wrong);
    }
    ask(&s, DIRECTORY_TO_REALTIME, NULL, E_ABORT); /* it ends instead of answering */
    assert_int_equal(process_wait(p, CHILD_PATIENCE, NULL), S_OK);
    ask(&s, DIRECTORY_STOP, NULL, E_ABORT);
    assert_non_null(strstr(error_text(E_ABORT), "'asked'"));
    process_close(p);
    drop(&s);
    ask(&s, DIRECTORY_STOP, NULL, HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND));
    signal_close(wake);
}

/* A host that does not answer keeps nobody, and later requests get their own answers. */
static void a_request_that_was_given_up_is_not_done(void **state)
{
    struct directory_session s = add("silent", 1);
    struct directory_request r;
    (void)state;
    ask(&s, DIRECTORY_STOP, NULL, S_FALSE); /* its host is this process, which does not look */
    assert_int_equal(directory_asked(d, s.logger, &r), S_FALSE);
    directory_answer(d, s.logger, 7); /* to nobody */
    ask(&s, DIRECTORY_FLUSH, NULL, S_FALSE);
    assert_int_equal(directory_asked(d, s.logger, &r), S_FALSE);
    drop(&s);
}

/* ---- ends in the middle ---- */

static void a_change_that_was_cut_off_is_undone(void **state)
{
    char ready_name[64];
    struct signal *ready = make_signal(ready_name);
    struct directory_session s = add("whole", 1);
    const uint64_t generation = directory_generation(d);
    struct process *p = child_start("half", ready_name, "");
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_true(directory_generation(d) == generation);
    assert_int_equal(session_count(), 1); /* as long as it lives, and afterwards */
    end_child(p, ready_name);
    assert_int_equal(session_count(), 1);
    struct directory_session again = add("half", 999);
    assert_int_equal(session_count(), 2);
    drop(&again);
    drop(&s);
    signal_close(ready);
}

static void numbers_come_once(void **state)
{
    const uint32_t sequence = directory_next_sequence(d);
    const uint64_t key = directory_next_event_key(d);
    (void)state;
    assert_int_not_equal(sequence, 0);
    assert_int_not_equal(key, 0);
    assert_int_equal(directory_next_sequence(d), sequence + 1);
    assert_true(directory_next_event_key(d) == key + 1);
}

static void out_of_memory_leaves_it_as_it_was(void **state)
{
    static const uint8_t bytes[32];
    struct directory_session s = session_of("memory", 1), *list;
    struct directory_enable *enables;
    GUID *providers;
    size_t count;
    uint64_t generation;
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
                assert_int_equal(directory_session_remove(d, s.logger, s.turn, &providers, &count), S_OK);
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
            hr = directory_enables(d, NULL, &enables, &count, &generation);
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
        hr = directory_session_remove(d, s.logger, s.turn, &providers, &count);
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_found_as_it_was_told),
        cmocka_unit_test(a_handle_names_one_session_for_ever),
        cmocka_unit_test(what_another_session_has_is_refused),
        cmocka_unit_test(the_oldest_orphan_is_named),
        cmocka_unit_test(enables_are_found_with_their_filters),
        cmocka_unit_test(only_running_sessions_enable),
        cmocka_unit_test(eight_sessions_enable_a_provider),
        cmocka_unit_test(room_for_enables_comes_back),
        cmocka_unit_test(a_process_is_woken_for_its_providers_alone),
        cmocka_unit_test(registrations_are_seen_as_long_as_they_are),
        cmocka_unit_test(all_registrations_can_be_taken_and_come_back),
        cmocka_unit_test(slots_of_the_dead_wait_for_sessions),
        cmocka_unit_test(a_host_that_sleeps_keeps_nobody_out),
        cmocka_unit_test(each_request_gets_its_own_answer),
        cmocka_unit_test(a_request_that_was_given_up_is_not_done),
        cmocka_unit_test(a_change_that_was_cut_off_is_undone),
        cmocka_unit_test(numbers_come_once),
        cmocka_unit_test(out_of_memory_leaves_it_as_it_was),
    };
    child_program = argv[0];
    if (argc == 4)
        return role(argv[1], argv[2], argv[3]);
    own_directory_name();
    d = own_directory();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    directory_delete(d);
    return failed;
}

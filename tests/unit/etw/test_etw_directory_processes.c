/* SPDX-License-Identifier: MIT */
/* Processes that use the directory: registrations, notifications, and requests to ETW session hosts. This program
   starts itself as the other processes. */
#include "engine/base/thread.h"
#include "engine/etw/session/session_host.h"
#include "tests/unit/etw/directory_fixture.h"

/* ---- the roles of a child ---- */

/* Registers the event provider `number` and sets the signal `ready`; applies each change for which it is woken, and
   sets the signal again. */
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
        uint64_t revision;
        if (FAILED(directory_enables(own, &guid, &list, &count, &revision)))
            return 6;
        directory_enables_free(list, count);
        directory_applied(own, revision);
        signal_set(ready);
        if (signal_wait(wake, CHILD_PATIENCE) != S_OK)
            return 7;
    }
}

/* Hosts the session of this logger. Answers each request with its verb times 100 plus the length of its file name, but
   exits without an answer on a change to real time. */
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

/* ---- processes ---- */

static void process_is_woken_only_for_its_providers(void **state)
{
    char ready_name[64], other_name[64];
    struct signal *ready = make_signal(ready_name), *other_ready = make_signal(other_name);
    struct process *p = child_start("provider", "7", ready_name), *other = child_start("provider", "8", other_name);
    struct directory_session s = add("enabling", 1);
    struct directory_enable e = enable_of(&s, 7);
    uint64_t revision;
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_int_equal(signal_wait_or_process(other_ready, other, CHILD_PATIENCE), S_OK);
    assert_int_equal(enable(&e, &revision), S_OK);
    assert_int_equal(directory_wait_applied(d, &e.provider, revision, CHILD_PATIENCE), S_OK);
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_int_equal(signal_wait_or_process(other_ready, other, 50), S_FALSE);
    /* A caller waits until each process has applied the change or has exited. */
    assert_int_equal(directory_wait_applied(d, &e.provider, revision + 2, 30), S_FALSE);
    end_child(p, ready_name);
    assert_int_equal(directory_wait_applied(d, &e.provider, revision + 2, CHILD_PATIENCE), S_OK);
    end_child(other, other_name);
    drop(&s);
    signal_close(ready);
    signal_close(other_ready);
}

/* A process changed the directory and exited before it woke the others: the next change wakes them. */
static void next_change_delivers_a_missed_notification(void **state)
{
    char ready_name[64];
    struct signal *ready = make_signal(ready_name);
    struct process *p = child_start("provider", "7", ready_name);
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_int_equal(directory_begin(d), S_OK);
    directory_end(d, NULL, 0);
    assert_int_equal(signal_wait_or_process(ready, p, 50), S_FALSE);
    atomic_store(&d->shared->notified, directory_revision(d) - 2);
    assert_int_equal(directory_begin(d), S_OK);
    directory_end(d, NULL, 0);
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    end_child(p, ready_name);
    signal_close(ready);
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

static void registrations_are_visible_while_they_exist(void **state)
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
    directory_unregister(d, a); /* the slot belongs to another process or is free */
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

static void used_up_registrations_are_freed(void **state)
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
    end_child(p, ready_name); /* frees its registrations */
    assert_int_equal(directory_register(d, &guid, DIRECTORY_PROVIDER, &taken[DIRECTORY_REGISTRATIONS - 1]), S_OK);
    for (uint32_t i = 0; i < DIRECTORY_REGISTRATIONS; i++)
        directory_unregister(d, taken[i]);
    assert_int_equal(registered(6, &pid), 0);
    assert_int_equal(directory_register(d, &guid, DIRECTORY_PROVIDER, &more), S_OK);
    /* The lowest slot is used again, so readers have to search only a few. */
    assert_int_equal(more, 0);
    directory_unregister(d, more);
    signal_close(ready);
    memory_free(taken);
}

static void later(void)
{
    const uint64_t now = clock_monotonic_ms();
    while (clock_monotonic_ms() <= now)
        child_sleep(1);
}

/* A slot is not given to another process if events in a session may name it. Other slots of dead processes are
   reused. */
static void slots_of_dead_processes_wait_for_sessions(void **state)
{
    uint32_t own, slots[2] = {0};
    struct directory_process process;
    (void)state;
    for (int reaped = 0; reaped < 300; reaped++) /* reaps processes that exited in other tests */
        directory_session_reaped(d, DIRECTORY_SESSIONS, 0);
    struct directory_session s = add("naming", 1);
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
        for (int reaped = 0; reaped < 300; reaped++) /* detects that the process has exited */
            directory_session_reaped(d, s.logger, 0);
        assert_false(directory_process_of(d, slots[i], &process) && process.id == pid);
    }
    assert_int_not_equal(slots[0], slots[1]);
    later();
    for (int reaped = 0; reaped < 300; reaped++)
        directory_session_reaped(d, s.logger, clock_monotonic_ms());
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

static void report_reaped(void *user)
{
    struct sleeping_host *h = user;
    if (signal_wait(h->wake, CHILD_PATIENCE) == S_OK)
        directory_session_reaped(d, h->session->logger, clock_monotonic_ms());
}

/* When dead processes have all slots, the directory asks the hosts to check whether their sessions still name these
   slots. */
static void sleeping_host_does_not_block_registration(void **state)
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
    later();
    const uint64_t now = clock_monotonic_ms();
    for (uint32_t slot = 1; slot < DIRECTORY_SLOTS; slot++) {
        if (slot_state(atomic_load(&shared->slot[slot].word)) != SLOT_FREE)
            continue;
        atomic_store(&shared->slot[slot].dead_at, now);
        atomic_store(&shared->slot[slot].word, slot_word(SLOT_DEAD, 7));
    }
    atomic_store(&shared->slots_used, DIRECTORY_SLOTS);
    later();
    assert_int_equal(thread_start(report_reaped, &h, &t), S_OK);
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
    assert_int_equal(directory_ask(d, s->logger, s->generation, &r, patience, &answer), expected);
    return answer;
}

struct asking {
    struct directory_session s;
    enum directory_verb verb;
    bool wrong;
};
static void send_requests(void *user)
{
    struct asking *a = user;
    for (int i = 0; i < 20; i++) {
        const struct directory_request r = {.verb = a->verb,
                                            .process = {process_own_id(), process_start_time(process_own_id())}};
        uint32_t answer = 0;
        if (directory_ask(d, a->s.logger, a->s.generation, &r, CHILD_PATIENCE, &answer) != S_OK ||
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
        assert_int_equal(thread_start(send_requests, &asking[i], &threads[i]), S_OK);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(thread_wait(threads[i], CHILD_PATIENCE));
        thread_close(threads[i]);
        assert_false(asking[i].wrong);
    }
    ask(&s, DIRECTORY_TO_REALTIME, NULL, E_ABORT); /* exits without an answer */
    assert_int_equal(process_wait(p, CHILD_PATIENCE, NULL), S_OK);
    ask(&s, DIRECTORY_STOP, NULL, E_ABORT);
    assert_non_null(strstr(error_text(E_ABORT), "'asked'"));
    process_close(p);
    drop(&s);
    ask(&s, DIRECTORY_STOP, NULL, HRESULT_FROM_WIN32(ERROR_WMI_INSTANCE_NOT_FOUND));
    signal_close(wake);
}

/* A host process that does not respond blocks no other process, and later requests get their own answers. */
static void an_abandoned_request_is_not_executed(void **state)
{
    struct directory_session s = add("silent", 1);
    struct directory_request r;
    (void)state;
    ask(&s, DIRECTORY_STOP, NULL, S_FALSE); /* its host is this process, which does not read its mailbox */
    assert_int_equal(directory_asked(d, s.logger, &r), S_FALSE);
    directory_answer(d, s.logger, 7); /* no request is waiting */
    ask(&s, DIRECTORY_FLUSH, NULL, S_FALSE);
    assert_int_equal(directory_asked(d, s.logger, &r), S_FALSE);
    drop(&s);
}

struct serving {
    struct session_host h;
    atomic_bool over;
};

static void serve(void *user)
{
    struct serving *s = user;
    while (!s->over && !s->h.end) {
        session_host_answer(&s->h);
        thread_yield();
    }
    if (s->h.end)
        directory_answer(d, s->h.session.logger, ERROR_SUCCESS);
}

/* After a reset of the directory, the host of an earlier session still writes its file, and a new session has its
   logger number. A caller that stops the new session must not get the old host's answer. */
static void host_of_an_earlier_session_does_not_answer(void **state)
{
    struct directory_session s = add("next", 1);
    const uint64_t born = directory_born(d);
    (void)state;
    for (int is_own = 0; is_own < 2; is_own++) {
        struct serving serving = {.h = {.d = d, .born = is_own ? born : born - 1, .session.logger = s.logger}};
        struct thread *thread;
        assert_int_equal(thread_start(serve, &serving, &thread), S_OK);
        assert_int_equal(ask(&s, DIRECTORY_STOP, NULL, is_own ? S_OK : S_FALSE), ERROR_SUCCESS);
        serving.over = true;
        assert_true(thread_wait(thread, CHILD_PATIENCE));
        thread_close(thread);
        assert_int_equal(serving.h.end, is_own);
    }
    drop(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(process_is_woken_only_for_its_providers),
        cmocka_unit_test(next_change_delivers_a_missed_notification),
        cmocka_unit_test(registrations_are_visible_while_they_exist),
        cmocka_unit_test(used_up_registrations_are_freed),
        cmocka_unit_test(slots_of_dead_processes_wait_for_sessions),
        cmocka_unit_test(sleeping_host_does_not_block_registration),
        cmocka_unit_test(each_request_gets_its_own_answer),
        cmocka_unit_test(an_abandoned_request_is_not_executed),
        cmocka_unit_test(host_of_an_earlier_session_does_not_answer),
    };
    child_program = argv[0];
    if (argc == 4)
        return !strcmp(argv[1], "host") ? role_host(argv[2], argv[3]) : role_provider(argv[2], argv[3]);
    own_directory_name();
    d = own_directory();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    directory_delete(d);
    return failed;
}

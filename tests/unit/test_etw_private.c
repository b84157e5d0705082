/* SPDX-License-Identifier: MIT */
/* Private sessions: in the process that started one, and in each that has the provider. */
#include "engine/os/file.h"
#include "tests/unit/numbered_provider.h"

enum { HERE = TRACE_MODE_PRIVATE_LOGGER | TRACE_MODE_PRIVATE_IN_PROC };

static TRACEHANDLE start_enabled(const char *name, uint32_t mode, const char *path)
{
    struct block b = block_of(mode, path);
    TRACEHANDLE session;
    b.p.Wnode.Guid = guid;
    b.p.Wnode.Guid.Data2 = (uint16_t)name[0];
    assert_int_equal(start_session(name, &b, &session), ERROR_SUCCESS);
    enable_for(session);
    return session;
}

/* A private session is found by its mode alone. */
static ULONG control(TRACEHANDLE session, struct block *b, uint32_t mode, ULONG code)
{
    *b = block_of(mode, NULL);
    return ControlTraceW(session, NULL, &b->p, code);
}

static void check_log(const char *path, uint32_t modes)
{
    check_numbered(path, modes, ETW_HEADER_PRIVATE_SESSION);
}

static void a_private_session_is_its_process_alone(void **state)
{
    (void)state;
    char *path = path_join(folder, "here.etl");
    REGHANDLE handle;
    struct block b;
    assert_int_equal(EventRegister(&guid, NULL, NULL, &handle), ERROR_SUCCESS);
    const TRACEHANDLE session = start_enabled("here", HERE, path);
    write_numbered(handle);
    assert_int_equal(control(session, &b, HERE, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_string_equal(narrow(b.name), "here");
    assert_int_equal(control(session, &b, HERE, EVENT_TRACE_CONTROL_FLUSH), ERROR_NOT_SUPPORTED);
    EVENT_TRACE_PROPERTIES *list[1] = {&b.p};
    ULONG count;
    b = block_of(0, NULL);
    assert_int_equal(QueryAllTracesW(list, 1, &count), ERROR_SUCCESS);
    assert_int_equal(count, 0);
    assert_int_equal(control(session, &b, HERE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    check_log(path, HERE);
    assert_int_equal(EventWrite(handle, &some_event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(control(session, &b, HERE, EVENT_TRACE_CONTROL_STOP), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
    memory_free(path);
}

static void a_process_has_three_of_its_own(void **state)
{
    (void)state;
    TRACEHANDLE sessions[3], one_more;
    struct block b = block_of(HERE, NULL);
    for (int i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), 0}, file[] = {(char)('a' + i), '.', 'e', 't', 'l', 0};
        char *path = path_join(folder, file);
        sessions[i] = start_enabled(name, HERE, path);
        memory_free(path);
    }
    char *path = path_join(folder, "more.etl");
    b = block_of(HERE, path);
    b.p.Wnode.Guid = guid;
    assert_int_equal(start_session("more", &b, &one_more), ERROR_NO_SYSTEM_RESOURCES);
    memory_free(path);
    for (int i = 0; i < 3; i++)
        assert_int_equal(control(sessions[i], &b, HERE, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
}

/* ---- in several processes ---- */

/* A process with the provider: writes when it is told to, by what it reads. */
static int be_provider(const char *name)
{
    struct signal *ready, *go, *done;
    char text[64];
    REGHANDLE handle;
    snprintf(text, sizeof text, "%s-ready", name);
    if (FAILED(signal_open(&(struct shared){.name = text, .create = true}, &ready)))
        return 2;
    snprintf(text, sizeof text, "%s-go", name);
    if (FAILED(signal_open(&(struct shared){.name = text, .create = true}, &go)))
        return 3;
    snprintf(text, sizeof text, "%s-done", name);
    if (FAILED(signal_open(&(struct shared){.name = text, .create = true}, &done)))
        return 4;
    if (EventRegister(&guid, NULL, NULL, &handle) != ERROR_SUCCESS || FAILED(signal_set(ready)) ||
        signal_wait(go, PATIENCE_MS) != S_OK)
        return 5;
    write_numbered(handle);
    (void)signal_set(done);
    const bool ended = signal_wait(go, PATIENCE_MS) == S_OK;
    signal_close(ready);
    signal_close(go);
    signal_close(done);
    return EventUnregister(handle) == ERROR_SUCCESS && ended ? 0 : 6;
}

static void tell(const char *name, const char *what, bool wait)
{
    struct signal *signal;
    char text[64];
    snprintf(text, sizeof text, "%s-%s", name, what);
    assert_int_equal(signal_open(&(struct shared){.name = text, .create = true}, &signal), S_OK);
    assert_int_equal(wait ? signal_wait(signal, PATIENCE_MS) : signal_set(signal), S_OK);
    signal_close(signal);
}

static void each_process_with_the_provider_has_its_own_file(void **state)
{
    (void)state;
    struct process *process[2];
    char name[2][40];
    struct block b;
    char *path = path_join(folder, "shared.etl");
    struct signal *kept[2][3]; /* names of signals live as long as somebody holds them */
    static const char *const what[] = {"ready", "go", "done"};
    for (int i = 0; i < 2; i++) {
        snprintf(name[i], sizeof name[i], "%s-%d", getenv("OPENPLA_ETW"), i);
        for (int k = 0; k < 3; k++) {
            char text[64];
            snprintf(text, sizeof text, "%s-%s", name[i], what[k]);
            assert_int_equal(signal_open(&(struct shared){.name = text, .create = true}, &kept[i][k]), S_OK);
        }
        process[i] = child_start("provider", name[i], "");
        tell(name[i], "ready", true);
    }
    const TRACEHANDLE session = start_enabled("shared", TRACE_MODE_PRIVATE_LOGGER, path);
    for (int i = 0; i < 2; i++) {
        tell(name[i], "go", false);
        tell(name[i], "done", true);
    }
    assert_int_equal(control(session, &b, TRACE_MODE_PRIVATE_LOGGER, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    check_log(path, TRACE_MODE_PRIVATE_LOGGER);
    int others = 0;
    for (int i = 0; i < 2; i++) {
        char *other = text_format("%s_%u", path, (unsigned)process_id(process[i]));
        if (file_exists(other)) {
            check_log(other, TRACE_MODE_PRIVATE_LOGGER);
            others++;
        }
        memory_free(other);
        tell(name[i], "go", false);
        uint32_t code;
        assert_int_equal(process_wait(process[i], PATIENCE_MS, &code), S_OK);
        assert_int_equal(code, 0);
        process_close(process[i]);
        for (int k = 0; k < 3; k++)
            signal_close(kept[i][k]);
    }
    assert_int_equal(others, 1);
    memory_free(path);
}

/* A process comes when the first one has ended: what that wrote stays. */
static void a_later_process_leaves_the_first_ones_file(void **state)
{
    (void)state;
    char name[2][40], *path = path_join(folder, "later.etl"), *other = NULL;
    TRACEHANDLE session = 0;
    struct signal *kept[2][3];
    static const char *const what[] = {"ready", "go", "done"};
    struct block b;
    for (int i = 0; i < 2; i++) {
        uint32_t code;
        snprintf(name[i], sizeof name[i], "%s-later%d", getenv("OPENPLA_ETW"), i);
        for (int k = 0; k < 3; k++) {
            char text[64];
            snprintf(text, sizeof text, "%s-%s", name[i], what[k]);
            assert_int_equal(signal_open(&(struct shared){.name = text, .create = true}, &kept[i][k]), S_OK);
        }
        struct process *process = child_start("provider", name[i], "");
        tell(name[i], "ready", true);
        if (i == 0)
            session = start_enabled("later", TRACE_MODE_PRIVATE_LOGGER, path);
        tell(name[i], "go", false);
        tell(name[i], "done", true);
        tell(name[i], "go", false);
        assert_int_equal(process_wait(process, PATIENCE_MS, &code), S_OK);
        assert_int_equal(code, 0);
        if (i == 1)
            other = text_format("%s_%u", path, (unsigned)process_id(process));
        process_close(process);
        for (int k = 0; k < 3; k++)
            signal_close(kept[i][k]);
    }
    assert_int_equal(control(session, &b, TRACE_MODE_PRIVATE_LOGGER, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_true(file_exists(other));
    check_log(path, TRACE_MODE_PRIVATE_LOGGER);
    check_log(other, TRACE_MODE_PRIVATE_LOGGER);
    memory_free(other);
    memory_free(path);
}

/* A process that ends with its session open. */
static int leave(const char *path)
{
    REGHANDLE handle;
    if (EventRegister(&guid, NULL, NULL, &handle) != ERROR_SUCCESS)
        return 2;
    (void)start_enabled("leaves", HERE, path);
    write_numbered(handle);
    return 0;
}

static void what_a_process_leaves_open_is_whole(void **state)
{
    (void)state;
    char *path = path_join(folder, "left.etl");
    uint32_t code;
    struct process *process = child_start("leave", path, "");
    assert_int_equal(process_wait(process, PATIENCE_MS, &code), S_OK);
    assert_int_equal(code, 0);
    process_close(process);
    check_log(path, HERE);
    memory_free(path);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_private_session_is_its_process_alone),
        cmocka_unit_test(a_process_has_three_of_its_own),
        cmocka_unit_test(each_process_with_the_provider_has_its_own_file),
        cmocka_unit_test(a_later_process_leaves_the_first_ones_file),
        cmocka_unit_test(what_a_process_leaves_open_is_whole),
    };
    child_program = arguments[0];
    if (count > 2 && strcmp(arguments[1], "provider") == 0)
        return be_provider(arguments[2]);
    if (count > 2 && strcmp(arguments[1], "leave") == 0)
        return leave(arguments[2]);
    return run_numbered("test_etw_private", tests, sizeof tests / sizeof *tests);
}

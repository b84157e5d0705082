/* SPDX-License-Identifier: MIT */
/* Processes, locks, shared memory and events between processes. This program starts itself in several roles. */
#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "tests/unit/child_process.h"

#ifdef _WIN32
#include <shellapi.h>
#else
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#endif

static char *folder;
static char token[64]; /* part of the names of all objects that this run shares */

/* ---- the roles of a child */

static int role_arguments(const char *path, int argc, char **argv)
{
    struct text_buffer b = {0};
    char *text;
    HRESULT hr;
#ifdef _WIN32
    int count;
    WCHAR **wide = CommandLineToArgvW(GetCommandLineW(), &count);

    (void)argv;
    if (count != argc)
        return 9; /* the C runtime split the command line differently */
    for (int i = 3; i < count; i++) {
        char *argument;
        text_from_utf16(wide[i], wcslen(wide[i]), true, &argument);
        text_buffer_format(&b, "[%s]\n", argument);
        memory_free(argument);
    }
    LocalFree(wide);
#else
    for (int i = 3; i < argc; i++)
        text_buffer_format(&b, "[%s]\n", argv[i]);
#endif
    text = text_buffer_take(&b);
    hr = file_store(path, text, strlen(text));
    memory_free(text);
    return FAILED(hr) ? 8 : 42;
}

/* Sets the event `name` when it is ready, and then waits until it is killed. */
static int stay(const char *name)
{
    struct signal *ready;
    if (FAILED(signal_open(&(struct shared){.name = name}, &ready)) || FAILED(signal_set(ready)))
        return 7;
    for (;;)
        child_sleep(1000);
}

static int role_lock(const char *path, const char *name)
{
    struct file_lock *lock;
    return FAILED(file_lock_take(path, 0, &lock)) ? 6 : stay(name);
}

static int role_count(const char *name)
{
    struct section *s;
    struct signal *ready;
    char *ready_name = text_format("%s-ready", name);
    if (FAILED(section_open(&(struct shared){.name = name}, 4096, &s)) ||
        FAILED(signal_open(&(struct shared){.name = ready_name}, &ready)))
        return 5;
    memory_free(ready_name);
    signal_set(ready);
    for (int i = 0; i < 200000; i++)
        __atomic_add_fetch((int *)section_memory(s), 1, __ATOMIC_SEQ_CST);
    signal_close(ready);
    section_close(s);
    return 0;
}

static int role_make_section(const char *name, const char *ready)
{
    struct section *s;
    if (FAILED(section_open(&(struct shared){.name = name, .create = true}, 4096, &s)))
        return 5;
    *(int *)section_memory(s) = 42;
    return stay(ready);
}

static int role_make_lasting(const char *name, const char *ready)
{
    struct section *s;
    if (FAILED(section_open(&(struct shared){.name = name, .create = true, .lasting = true}, 200000, &s)))
        return 5;
    ((int *)section_memory(s))[40000] = 42;
    return stay(ready);
}

static int role_mutex(const char *name, const char *ready)
{
    struct mutex *m;
    return FAILED(mutex_open(name, &m)) || mutex_take(m, 0) != S_OK ? 6 : stay(ready);
}

/* Answers every "ping" with "pong", ten times. */
static int role_echo(const char *name)
{
    char *ping_name = text_format("%s-ping", name), *pong_name = text_format("%s-pong", name);
    struct signal *ping, *pong;
    if (FAILED(signal_open(&(struct shared){.name = ping_name}, &ping)) ||
        FAILED(signal_open(&(struct shared){.name = pong_name}, &pong)))
        return 4;
    memory_free(ping_name);
    memory_free(pong_name);
    for (int i = 0; i < 10; i++)
        if (signal_wait(ping, CHILD_PATIENCE) != S_OK || FAILED(signal_set(pong)))
            return 3;
    signal_close(ping);
    signal_close(pong);
    return 0;
}

static int role_start_and_leave(const char *path)
{
    const char *arguments[] = {"write-later", path};
    struct process *p;
    if (FAILED(
            process_start(&(struct program){.path = child_program, .arguments = arguments, .argument_count = 2}, &p)))
        return 2;
    process_close(p);
    return 0;
}

static int role_write_later(const char *path)
{
    child_sleep(500);
    return FAILED(file_store(path, "later", 5));
}

static int role(int argc, char **argv)
{
    const char *a = argc > 2 ? argv[2] : "", *b = argc > 3 ? argv[3] : "";
    if (!strcmp(argv[1], "arguments"))
        return role_arguments(a, argc, argv);
    if (!strcmp(argv[1], "stay"))
        return stay(a);
    if (!strcmp(argv[1], "lock"))
        return role_lock(a, b);
    if (!strcmp(argv[1], "count"))
        return role_count(a);
    if (!strcmp(argv[1], "make-section"))
        return role_make_section(a, b);
    if (!strcmp(argv[1], "make-lasting"))
        return role_make_lasting(a, b);
    if (!strcmp(argv[1], "mutex"))
        return role_mutex(a, b);
    if (!strcmp(argv[1], "echo"))
        return role_echo(a);
    if (!strcmp(argv[1], "start-and-leave"))
        return role_start_and_leave(a);
    if (!strcmp(argv[1], "write-later"))
        return role_write_later(a);
    return 1;
}

/* ---- the tests */

static char *named(const char *what)
{
    return text_format("%s-%s", token, what);
}

static struct signal *make_event(const char *name)
{
    struct signal *e;
    assert_int_equal(signal_open(&(struct shared){.name = name, .create = true}, &e), S_OK);
    return e;
}

/* A task gets exactly the arguments that its user wrote, with quotes, spaces and backslashes. */
static void arguments_are_passed_unchanged(void **state)
{
    static const char *const given[] = {"arguments",
                                        NULL,
                                        "two words",
                                        "quo\"te",
                                        "back\\",
                                        "blank back\\",
                                        "c:\\a b\\\"x\\\\\"",
                                        "",
                                        "\xC3\xBC\xE2\x82\xAC",
                                        "%PATH%"};
    const char *arguments[10];
    char *path = path_join(folder, "arguments.txt"), *text;
    struct process *p;
    uint32_t code = 0;
    (void)state;
    memcpy(arguments, given, sizeof(given));
    arguments[1] = path;
    assert_int_equal(
        process_start(&(struct program){.path = child_program, .arguments = arguments, .argument_count = 10}, &p),
        S_OK);
    assert_int_equal(process_wait(p, CHILD_PATIENCE, &code), S_OK);
    assert_int_equal(code, 42);
    process_close(p);
    text = scratch_read(path);
    assert_string_equal(text, "[two words]\n[quo\"te]\n[back\\]\n[blank back\\]\n[c:\\a b\\\"x\\\\\"]\n[]\n"
                              "[\xC3\xBC\xE2\x82\xAC]\n[%PATH%]\n");
    memory_free(text);
    memory_free(path);
}

static void start_fails_without_a_program(void **state)
{
    struct process *p;
    HRESULT hr = process_start(&(struct program){.path = "no-such-program.exe"}, &p);
    (void)state;
    assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_null(p);
    assert_non_null(strstr(error_text(hr), "no-such-program"));
}

/* A run continues after the server that started it exits. */
static void child_survives_its_parent(void **state)
{
    char *path = path_join(folder, "later.txt");
    struct process *p = child_start("start-and-leave", path, "");
    uint32_t code = 1;
    (void)state;
    assert_int_equal(process_wait(p, CHILD_PATIENCE, &code), S_OK);
    assert_int_equal(code, 0);
    process_close(p);
    for (int i = 0; i < CHILD_PATIENCE / 50 && !file_exists(path); i++)
        child_sleep(50);
    char *text = scratch_read(path);
    assert_string_equal(text, "later");
    memory_free(text);
    memory_free(path);
}

/* A script that reads the server's output to the end must not wait for the runs that the server started. */
static void child_inherits_no_pipe(void **state)
{
    char *name = named("pipe");
    struct signal *ready = make_event(name);
    struct process *p;
#ifdef _WIN32
    SECURITY_ATTRIBUTES inheritable = {.nLength = sizeof(inheritable), .bInheritHandle = TRUE};
    HANDLE read_end, write_end;
    DWORD n = 1;
    char byte;

    assert_true(CreatePipe(&read_end, &write_end, &inheritable, 0));
    p = child_start("stay", name, "");
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    CloseHandle(write_end);
    assert_false(ReadFile(read_end, &byte, 1, &n, NULL)); /* blocks forever if the child has the other end open */
    assert_int_equal(GetLastError(), ERROR_BROKEN_PIPE);
    CloseHandle(read_end);
#else
    struct pollfd end = {.events = POLLIN};
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    p = child_start("stay", name, "");
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    close(ends[1]);
    end.fd = ends[0];
    assert_int_equal(poll(&end, 1, 2000), 1);
    assert_true(end.revents & POLLHUP);
    close(ends[0]);
#endif
    (void)state;
    child_kill(p, name);
    assert_int_equal(process_wait(p, PATIENCE_MS, NULL), S_OK);
    process_close(p);
    signal_close(ready);
    memory_free(name);
}

/* After its host process was killed, a set's status is stopped. */
static void killed_process_is_detected(void **state)
{
    char *name = named("death");
    struct signal *ready = make_event(name);
    struct process *p = child_start("stay", name, "");
    uint64_t started = process_start_time(process_id(p));
    uint32_t id = process_id(p);
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_true(started != 0);
    assert_true(process_start_time(id) == started);
    assert_true(process_alive(id, started));
    assert_false(process_alive(id, started + 1)); /* a different process with the same id */
    assert_int_equal(process_wait(p, 0, NULL), S_FALSE);
    assert_int_equal(process_wait(p, 50, NULL), S_FALSE);
    child_kill(p, name);
    uint64_t killed = clock_monotonic_ms();
    while (process_alive(id, started)) {
        assert_true(clock_monotonic_ms() - killed < PATIENCE_MS);
        child_sleep(10);
    }
    memory_free(name);
    name = named("never");
    struct signal *never = make_event(name);
    assert_int_equal(signal_wait_or_process(never, p, PATIENCE_MS), E_ABORT);
    assert_int_equal(process_wait(p, PATIENCE_MS, NULL), S_OK);
    process_close(p);
    process_close(NULL);
    assert_false(process_alive(id, started));
    assert_int_equal(process_start_time(0xFFFFFFF0u), 0);
    assert_false(process_alive(0xFFFFFFF0u, 0));
    assert_true(process_alive(process_own_id(), process_start_time(process_own_id())));
    signal_close(never);
    signal_close(ready);
    memory_free(name);
}

/* A set runs only once at a time, and can run again as soon as its killed host process is gone. */
static void lock_between_processes(void **state)
{
    char *path = path_join(folder, "run.lock"), *name = named("lock");
    struct signal *ready = make_event(name);
    struct process *p = child_start("lock", path, name);
    struct file_lock *lock;
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_int_equal(file_lock_take(path, 0, &lock), HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION));
    assert_int_equal(file_lock_take(path, 100, &lock), HRESULT_FROM_WIN32(ERROR_LOCK_VIOLATION));
    child_kill(p, name);
    assert_int_equal(file_lock_take(path, PATIENCE_MS, &lock), S_OK);
    file_lock_release(lock);
    process_wait(p, PATIENCE_MS, NULL);
    process_close(p);
    signal_close(ready);
    memory_free(name);
    memory_free(path);
}

/* All observers see the same run status. */
static void section_is_shared(void **state)
{
    char *name = named("count"), *ready_name = named("count-ready");
    struct signal *ready = make_event(ready_name);
    struct section *s, *second;
    uint32_t code = 1;
    (void)state;
    assert_int_equal(section_open(&(struct shared){.name = name}, 4096, &s), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_null(s);
    assert_int_equal(section_open(&(struct shared){.name = name, .create = true}, 4096, &s), S_OK);
    for (int i = 0; i < 4096; i++)
        assert_int_equal(((char *)section_memory(s))[i], 0);
    struct process *p = child_start("count", name, "");
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    for (int i = 0; i < 200000; i++)
        __atomic_add_fetch((int *)section_memory(s), 1, __ATOMIC_SEQ_CST);
    assert_int_equal(process_wait(p, CHILD_PATIENCE, &code), S_OK);
    assert_int_equal(code, 0);
    process_close(p);
    assert_int_equal(*(int *)section_memory(s), 400000);
    assert_int_equal(section_open(&(struct shared){.name = name, .create = true}, 4096, &second),
                     S_OK); /* opens the existing section */
    assert_int_equal(*(int *)section_memory(second), 400000);
    section_close(s);
    assert_int_equal(section_open(&(struct shared){.name = name}, 4096, &s), S_OK);
    assert_int_equal(*(int *)section_memory(s), 400000);
    section_close(s);
    section_close(second);
    assert_int_equal(section_open(&(struct shared){.name = name}, 4096, &s), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    section_close(NULL);
    signal_close(ready);
    memory_free(ready_name);
    memory_free(name);
}

/* If another process already created a channel with the same name, the creation of a new channel fails. */
static void existing_name_is_rejected(void **state)
{
    char *name = named("planted");
    const struct shared own = {.name = name, .create = true, .fresh = true};
    struct section *planted, *s;
    struct signal *planted_signal, *e;
    (void)state;
    assert_int_equal(section_open(&own, 4096, &planted), S_OK);
    assert_int_equal(section_open(&own, 4096, &s), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_null(s);
    section_close(planted);
    assert_int_equal(section_open(&own, 4096, &s), S_OK);
    section_close(s);
    assert_int_equal(signal_open(&own, &planted_signal), S_OK);
    assert_int_equal(signal_open(&own, &e), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_null(e);
    signal_close(planted_signal);
    memory_free(name);
}

/* The state that a killed host process left must not be taken for the next run's state. */
static void section_ends_with_its_last_process(void **state)
{
    char *name = named("dead"), *ready_name = named("dead-ready");
    struct signal *ready = make_event(ready_name);
    struct process *p = child_start("make-section", name, ready_name);
    struct section *s;
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_int_equal(section_open(&(struct shared){.name = name}, 4096, &s), S_OK);
    assert_int_equal(*(int *)section_memory(s), 42);
    section_close(s);
    child_kill(p, ready_name);
    assert_int_equal(process_wait(p, PATIENCE_MS, NULL), S_OK);
    process_close(p);
    assert_int_equal(section_open(&(struct shared){.name = name}, 4096, &s), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(section_open(&(struct shared){.name = name, .create = true}, 4096, &s), S_OK);
    assert_int_equal(*(int *)section_memory(s), 0);
    section_close(s);
    signal_close(ready);
    memory_free(ready_name);
    memory_free(name);
}

static void events(void **state)
{
    char *ping_name = named("echo-ping"), *pong_name = named("echo-pong"), *name = named("echo");
    struct signal *none;
    uint32_t code = 1;
    (void)state;
    assert_int_equal(signal_open(&(struct shared){.name = ping_name}, &none), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_null(none);
    struct signal *ping = make_event(ping_name);
    struct signal *pong = make_event(pong_name);
    assert_int_equal(signal_wait(ping, 0), S_FALSE);
    signal_set(ping);
    signal_set(ping);
    assert_int_equal(signal_wait(ping, 0), S_OK); /* setting an event twice has the effect of setting it once */
    uint64_t start = clock_monotonic_ms();
    assert_int_equal(signal_wait(ping, 100), S_FALSE);
    assert_true(clock_monotonic_ms() - start >= 90);
    struct process *p = child_start("echo", name, "");
    for (int i = 0; i < 10; i++) {
        assert_int_equal(signal_set(ping), S_OK);
        assert_int_equal(signal_wait_or_process(pong, p, CHILD_PATIENCE), S_OK);
    }
    assert_int_equal(process_wait(p, CHILD_PATIENCE, &code), S_OK);
    assert_int_equal(code, 0);
    signal_set(pong); /* an event stays set, even if the other process has exited in the meantime */
    assert_int_equal(signal_wait_or_process(pong, p, 0), S_OK);
    assert_int_equal(signal_wait_or_process(pong, p, 0), E_ABORT);
    process_close(p);
    signal_close(ping);
    signal_close(pong);
    signal_close(NULL);
    memory_free(ping_name);
    memory_free(pong_name);
    memory_free(name);
}

static void kill_and_close(struct process *p, const char *ready_name)
{
    child_kill(p, ready_name);
    assert_int_equal(process_wait(p, PATIENCE_MS, NULL), S_OK);
    process_close(p);
}

#ifdef _WIN32
/* Returns the file's path on the host OS. */
static char *unix_path(const char *path)
{
    FARPROC found = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "wine_get_unix_file_name");
    char *(CDECL * unix_name)(const WCHAR *path);
    WCHAR *wide;
    memcpy(&unix_name, &found, sizeof unix_name);
    assert_int_equal(text_to_utf16(path, &wide, NULL), S_OK);
    char *name = unix_name(wide), *copy = text_copy(name);
    HeapFree(GetProcessHeap(), 0, name);
    memory_free(wide);
    return copy;
}

static void start_shell(const char *line)
{
    STARTUPINFOW startup = {.cb = sizeof(startup)};
    PROCESS_INFORMATION started = {0};
    WCHAR *wide;
    assert_int_equal(text_to_utf16(line, &wide, NULL), S_OK);
    assert_true(CreateProcessW(L"Z:\\bin\\sh", wide, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &started));
    if (started.hProcess) {
        CloseHandle(started.hThread);
        CloseHandle(started.hProcess);
    }
    memory_free(wide);
}
#endif

/* Returns the output of the host OS's shell for a script, which must print something. */
static char *host_shell(const char *script)
{
    char *path = path_join(folder, "shell.txt"), *file = path_join(folder, "shell.sh"), *text = NULL;
#ifdef _WIN32
    char *said = unix_path(path), *unix_file = unix_path(file);
#else
    char *said = text_copy(path), *unix_file = text_copy(file);
#endif
    char *whole = text_format("{ %s; } > '%s.part' && mv '%s.part' '%s'\n", script, said, said, said),
         *line = text_format("sh \"%s\"", unix_file);
    (void)file_delete(path);
    assert_int_equal(file_store(file, whole, strlen(whole)), S_OK);
#ifdef _WIN32
    start_shell(line);
#else
    assert_int_equal(system(line), 0); /* NOLINT(cert-env33-c): the test needs a shell */
#endif
    for (int i = 0; i < CHILD_PATIENCE / 20 && !file_exists(path); i++)
        child_sleep(20);
    text = scratch_read(path);
    assert_int_equal(file_delete(path), S_OK);
    memory_free(line);
    memory_free(whole);
    memory_free(unix_file);
    memory_free(said);
    memory_free(file);
    memory_free(path);
    return text;
}

/* Returns the path of a lasting section's file on the host OS. */
static char *host_path(const char *name)
{
    char *shared = NULL;
    assert_int_equal(section_folder(&shared), S_OK);
#ifdef _WIN32
    char *within = text_format("%s\\%s", shared, name), *path = unix_path(within);
    memory_free(within);
#else
    char *path = text_format("%s/%s", shared, name);
#endif
    memory_free(shared);
    return path;
}

/* Checks the modes of the section's file and folder on the host OS. No other account on the host OS may see the section
   or replace it. */
static void check_access_by_owner_only(const char *name)
{
    char *file = host_path(name), *command = text_format("stat -c %%a '%s' \"$(dirname '%s')\"", file, file),
         *text = host_shell(command);
    assert_string_equal(text, "600\n700\n");
    memory_free(text);
    memory_free(command);
    memory_free(file);
}

/* Deletes the section's file, as a user of the host OS might. */
static void delete_section_file(const char *name)
{
    char *file = host_path(name), *command = text_format("rm '%s' && echo gone", file), *text = host_shell(command);
    assert_string_equal(text, "gone\n");
    memory_free(text);
    memory_free(command);
    memory_free(file);
}

/* A session's data can be recovered after all its processes were killed. */
static void lasting_section_outlives_its_processes(void **state)
{
    char *name = named("lasting"), *ready_name = named("lasting-ready");
    const struct shared there = {.name = name, .lasting = true},
                        fresh = {.name = name, .create = true, .fresh = true, .lasting = true},
                        made = {.name = name, .create = true, .lasting = true};
    struct signal *ready = make_event(ready_name);
    struct section *s, *second;
    (void)state;
    assert_int_equal(section_open(&there, 200000, &s), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    struct process *p = child_start("make-lasting", name, ready_name);
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    kill_and_close(p, ready_name);
#ifdef _WIN32
    if (!os_is_wine()) { /* Windows has no such sections */
        signal_close(ready);
        memory_free(ready_name);
        memory_free(name);
        return;
    }
#endif
    check_access_by_owner_only(name);
    assert_int_equal(section_open(&there, 200000, &s), S_OK);
    assert_int_equal(((int *)section_memory(s))[0], 0);
    assert_int_equal(((int *)section_memory(s))[40000], 42);
    assert_int_equal(section_open(&there, 200001, &second), E_INVALIDARG); /* the section is only 200,000 bytes long */
    assert_int_equal(section_open(&fresh, 200000, &second), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    assert_int_equal(section_open(&made, 200000, &second), S_OK);
    ((int *)section_memory(second))[1] = 7;
    assert_int_equal(((int *)section_memory(s))[1], 7);
    section_close(second);
    assert_int_equal(section_is_named(s, name), S_OK);
    delete_section_file(name);
    assert_int_equal(section_is_named(s, name), S_FALSE);
    assert_int_equal(section_open(&fresh, 200000, &second), S_OK);
    assert_int_equal(section_is_named(s, name), S_FALSE); /* the name now belongs to another section */
    assert_int_equal(section_is_named(second, name), S_OK);
    section_close(second);
    assert_int_equal(section_delete(name), S_OK);
    ((int *)section_memory(s))[1] = 8; /* a process that has the section open can still use it */
    section_close(s);
    assert_int_equal(section_open(&there, 200000, &s), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(section_delete(name), S_FALSE);
    assert_int_equal(section_open(&fresh, 100, &s), S_OK);
    assert_int_equal(*(int *)section_memory(s), 0);
    section_close(s);
    assert_int_equal(section_delete(name), S_OK);
    signal_close(ready);
    memory_free(ready_name);
    memory_free(name);
}

/* A script that cleans up /dev/shm may truncate the section. Programs that trace must not crash then; the lost part
   reads as zeros. */
static void truncated_section_is_extended_again(void **state)
{
    char *name = named("short");
    const struct shared what = {.name = name, .create = true, .fresh = true, .lasting = true};
    struct section *s, *second;
    (void)state;
    assert_int_equal(section_open(&what, 200000, &s), S_OK);
#ifdef _WIN32
    if (!os_is_wine()) { /* Windows cannot truncate a mapped file */
        section_close(s);
        memory_free(name);
        return;
    }
#endif
    assert_int_equal(section_open(&(struct shared){.name = name, .lasting = true}, 200000, &second), S_OK);
    volatile int *words = section_memory(s), *others = section_memory(second);
    char *file = host_path(name);
    for (unsigned round = 0; round < 3; round++) {
        char *command = text_format("truncate -s %u '%s' && echo short", round * 8192, file),
             *text = host_shell(command);
        words[0] = round ? 41 : words[0];
        assert_string_equal(text, "short\n");
        assert_int_equal(words[40000], 0); /* reads the lost part before writing to it */
        words[40000] = 42;
        assert_int_equal(others[40000], 42);
        assert_int_equal(others[0], round ? 41 : 0);
        memory_free(text);
        memory_free(command);
    }
    section_close(second);
    section_close(s);
    assert_int_equal(section_delete(name), S_OK);
    memory_free(file);
    memory_free(name);
}

/* A controller that is killed during a change does not block the changes of others. */
static void mutex_of_killed_process_is_free(void **state)
{
    char *name = named("mutex"), *ready_name = named("mutex-ready");
    struct signal *ready = make_event(ready_name);
    struct mutex *m;
    (void)state;
    assert_int_equal(mutex_open(name, &m), S_OK);
    assert_int_equal(mutex_take(m, 0), S_OK);
    mutex_release(m);
    struct process *p = child_start("mutex", name, ready_name);
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_int_equal(mutex_take(m, 0), S_FALSE);
    assert_int_equal(mutex_take(m, 50), S_FALSE);
    child_kill(p, ready_name);
    assert_int_equal(mutex_take(m, UINT32_MAX), S_OK);
    mutex_release(m);
    assert_int_equal(mutex_take(m, PATIENCE_MS), S_OK);
    mutex_release(m);
    assert_int_equal(process_wait(p, PATIENCE_MS, NULL), S_OK);
    process_close(p);
    mutex_close(m);
    mutex_close(NULL);
    char *file = text_format("%s.mutex", name);
    (void)section_delete(file); /* native builds keep the mutex in a file */
    memory_free(file);
    signal_close(ready);
    memory_free(ready_name);
    memory_free(name);
}

/* A process with event providers learns which ETW session host has exited, even if it waits for the maximum number of
   hosts. */
static void end_of_one_process_of_many_is_reported(void **state)
{
    enum { KEPT = 2 };
    char *name = named("many"), *ready_name[KEPT + 1];
    struct signal *wait = make_event(name), *ready;
    struct process *started[KEPT + 1], *p[SIGNAL_PROCESSES];
    size_t ended = 99;
    (void)state;
    for (int i = 0; i <= KEPT; i++) {
        ready_name[i] = text_format("%s-%d", name, i);
        ready = make_event(ready_name[i]);
        started[i] = child_start("stay", ready_name[i], "");
        assert_int_equal(signal_wait_or_process(ready, started[i], CHILD_PATIENCE), S_OK);
        signal_close(ready);
    }
    for (int i = 0; i < SIGNAL_PROCESSES; i++) {
        const uint32_t id = process_id(started[i < SIGNAL_PROCESSES - 1 ? i % KEPT : KEPT]);
        assert_int_equal(process_open(id, process_start_time(id), &p[i]), S_OK);
        assert_int_equal(process_id(p[i]), id);
    }
    assert_int_equal(signal_wait_or_processes(wait, p, SIGNAL_PROCESSES, 20, &ended), S_FALSE);
    signal_set(wait);
    assert_int_equal(signal_wait_or_processes(wait, p, SIGNAL_PROCESSES, UINT32_MAX, &ended), S_OK);
    for (int i = KEPT; i >= 0; i--) {
        child_kill(started[i], ready_name[i]);
        assert_int_equal(
            signal_wait_or_processes(wait, p, i == KEPT ? SIGNAL_PROCESSES : i + 1, CHILD_PATIENCE, &ended), E_ABORT);
        assert_int_equal(ended, i == KEPT ? SIGNAL_PROCESSES - 1 : i);
    }
    assert_int_equal(signal_wait_or_processes(wait, NULL, 0, 0, &ended), S_FALSE);
    for (int i = 0; i < SIGNAL_PROCESSES; i++) {
        assert_int_equal(process_wait(p[i], PATIENCE_MS, NULL), S_OK);
        process_close(p[i]);
    }
    for (int i = 0; i <= KEPT; i++) {
        assert_int_equal(process_wait(started[i], PATIENCE_MS, NULL), S_OK);
        process_close(started[i]);
        memory_free(ready_name[i]);
    }
    signal_close(wait);
    memory_free(name);
}

/* A thread may be terminated before it completes an event. That event must not delay others as long as the process
   lives. */
static void threads_of_processes_are_distinguished(void **state)
{
    const uint32_t id = process_own_id();
    const uint64_t start_time = process_start_time(id);
    char *name = named("threads");
    struct signal *ready = make_event(name);
    struct process *p = child_start("stay", name, ""), *none;
    const uint32_t child = process_id(p);
    const uint64_t child_start_time = process_start_time(child);
    (void)state;
    assert_true(process_has_thread(id, start_time, thread_own_id()));
    assert_false(process_has_thread(id, start_time + 1, thread_own_id()));
    assert_false(process_has_thread(id, start_time, 0x7FFFFFF0));
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    assert_false(process_has_thread(child, child_start_time, thread_own_id())); /* the thread id is ours */
    kill_and_close(p, name);
    assert_int_equal(process_open(child, child_start_time, &none), S_FALSE);
    assert_null(none);
    assert_int_equal(process_open(0xFFFFFFF0u, 1, &none), S_FALSE);
    signal_close(ready);
    memory_free(name);
}

#ifndef _WIN32
#define child_is_linux 1
#else
#define child_is_linux os_is_wine()
#endif

/* A task of a data collector set can be a program of the host OS under Wine, too. */
static void program_of_the_host_os_runs(void **state)
{
    char *made = path_join(folder, "made");
    (void)state;
#ifdef _WIN32
    char *unix_made = unix_path(made);
    const char *const program = "Z:\\bin\\touch";
#else
    char *unix_made = text_copy(made);
    const char *const program = "/bin/touch";
#endif
    const char *arguments[] = {unix_made};
    struct process *p;
    uint32_t code = 1;
    assert_int_equal(process_start(&(struct program){.path = program, .arguments = arguments, .argument_count = 1}, &p),
                     S_OK);
    assert_int_equal(process_wait(p, PATIENCE_MS, &code), S_OK);
    assert_int_equal(code, 0);
    process_close(p);
    for (int i = 0; i < PATIENCE_MS / 20 && !file_exists(made); i++)
        child_sleep(20);
    assert_true(file_exists(made));
    memory_free(unix_made);
    memory_free(made);
}

/* Reading the counters of a process that has exited fails immediately, and does not repeat the last values. */
static void kernel_file_of_exited_process_fails(void **state)
{
    char *name = named("kernel"), path[64];
    struct signal *ready = make_event(name);
    struct process *p = child_start("stay", name, "");
    struct kernel_file *f = NULL;
    const char *text;
    size_t size;
    (void)state;
    assert_int_equal(signal_wait_or_process(ready, p, CHILD_PATIENCE), S_OK);
    if (child_is_linux) {
        snprintf(path, sizeof(path), "/proc/%u/stat", (unsigned)child_kernel_id(name));
        assert_int_equal(kernel_file_open(path, &f), S_OK);
        assert_int_equal(kernel_file_read(f, &text, &size), S_OK);
        assert_true(size > 20);
    }
    child_kill(p, name);
    assert_int_equal(process_wait(p, PATIENCE_MS, NULL), S_OK);
    process_close(p);
    if (f) {
        HRESULT hr = S_OK;
        /* under Wine, the parent reaps it some time later */
        for (int i = 0; i < PATIENCE_MS / 20 && SUCCEEDED(hr); i++) {
            hr = kernel_file_read(f, &text, &size);
            child_sleep(20);
        }
        assert_true(FAILED(hr));
    }
    kernel_file_close(f);
    signal_close(ready);
    memory_free(name);
}

static int make_folder(void **state)
{
    *state = folder = scratch_create("test_os_process");
    snprintf(token, sizeof(token), "openpla-test-%u-%llx", (unsigned)process_own_id(), (unsigned long long)clock_utc());
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_passed_unchanged),
        cmocka_unit_test(start_fails_without_a_program),
        cmocka_unit_test(child_survives_its_parent),
        cmocka_unit_test(child_inherits_no_pipe),
        cmocka_unit_test(killed_process_is_detected),
        cmocka_unit_test(lock_between_processes),
        cmocka_unit_test(section_is_shared),
        cmocka_unit_test(existing_name_is_rejected),
        cmocka_unit_test(section_ends_with_its_last_process),
        cmocka_unit_test(events),
        cmocka_unit_test(lasting_section_outlives_its_processes),
        cmocka_unit_test(truncated_section_is_extended_again),
        cmocka_unit_test(mutex_of_killed_process_is_free),
        cmocka_unit_test(end_of_one_process_of_many_is_reported),
        cmocka_unit_test(threads_of_processes_are_distinguished),
        cmocka_unit_test(program_of_the_host_os_runs),
        cmocka_unit_test(kernel_file_of_exited_process_fails),
    };
    child_program = argv[0];
    if (argc > 1)
        return role(argc, argv);
    return cmocka_run_group_tests(tests, make_folder, scratch_end);
}

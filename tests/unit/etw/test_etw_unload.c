/* SPDX-License-Identifier: MIT */
/* An event provider in a DLL that is loaded and unloaded while its session enables and disables it. The DLL uses only
   openetw.dll's import library, like any program. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/directory/directory_layout.h"
#include "engine/logs/little_endian.h"
#include "tests/unit/log_events.h"
#include "tests/unit/patience.h"
#include "tests/unit/scratch_folder.h"

#include <stdio.h>
#include <windows.h>
#include <evntprov.h>
#include <evntrace.h>

enum { ROUNDS = 40, TRACED_GUID = 0x20000 };
static const GUID guid = {0x55555555, 1, 2, {3}};
static char *path;

static struct {
    EVENT_TRACE_PROPERTIES p;
    WCHAR name[64], file[600];
} block;

static void set_up_block(const char *file)
{
    memset(&block, 0, sizeof block);
    block.p.Wnode.BufferSize = sizeof block;
    block.p.Wnode.Flags = TRACED_GUID;
    block.p.LoggerNameOffset = (ULONG)((char *)block.name - (char *)&block);
    block.p.LogFileNameOffset = (ULONG)((char *)block.file - (char *)&block);
    (void)MultiByteToWideChar(CP_UTF8, 0, file, -1, block.file, 600);
}

static void provider_ends_with_its_dll(void **state)
{
    (void)state;
    TRACEHANDLE session;
    uint32_t written = 0;
    set_up_block(path);
    assert_int_equal(StartTraceW(&session, L"unload", &block.p), ERROR_SUCCESS);
    for (int i = 0; i < ROUNDS; i++) {
        const bool waits = i % 2 == 0;
        HMODULE module = LoadLibraryW(L"unloading_provider.dll");
        assert_non_null(module);
        ULONG (*write_event)(void) = (ULONG(*)(void))(void *)GetProcAddress(module, "write_event");
        LONG (*callbacks)(void) = (LONG(*)(void))(void *)GetProcAddress(module, "callbacks");
        assert_true(write_event && callbacks);
        const LONG before = callbacks();
        assert_int_equal(
            EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, waits ? PATIENCE_MS : 0, NULL),
            ERROR_SUCCESS);
        if (waits) {
            assert_int_equal(write_event(), ERROR_SUCCESS);
            written++;
        }
        const ULONGLONG from = GetTickCount64();
        while (!waits && callbacks() == before)
            assert_true(GetTickCount64() - from < PATIENCE_MS);
        assert_true(FreeLibrary(module)); /* in every second round, while its callback runs */
        assert_null(GetModuleHandleW(L"unloading_provider.dll"));
        if (i % 3 == 0)
            assert_int_equal(
                EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, PATIENCE_MS, NULL),
                ERROR_SUCCESS);
    }
    assert_int_equal(ControlTraceW(session, NULL, &block.p, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(events_in(path), written);
}

/* ---- a private session that its process leaves open ---- */

enum { LEFT = 100, PRIVATE_MODES = 0x20800 };

/* Runs in a separate process, which returns from main. */
static int exit_with_open_session(const char *file)
{
    TRACEHANDLE session;
    set_up_block(file);
    block.p.LogFileMode = PRIVATE_MODES;
    block.p.Wnode.Guid = (GUID){0x66666666, 1, 2, {3}};
    HMODULE module = LoadLibraryW(L"unloading_provider.dll");
    ULONG (*write_event)(void) = module ? (ULONG(*)(void))(void *)GetProcAddress(module, "write_event") : NULL;
    if (!write_event || StartTraceW(&session, L"left", &block.p) != ERROR_SUCCESS ||
        EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, PATIENCE_MS, NULL) != ERROR_SUCCESS)
        return 2;
    for (int i = 0; i < LEFT; i++)
        if (write_event() != ERROR_SUCCESS)
            return 3;
    return 0;
}

static const char *own_program;

/* Runs this program in another process, and expects the exit code. */
static void run_to(const char *what, uint32_t wanted)
{
    const char *arguments[] = {what, path};
    struct process *process;
    uint32_t code = wanted + 1;
    const struct program program = {.path = own_program, .arguments = arguments, .argument_count = 2};
    (void)file_delete(path);
    assert_int_equal(process_start(&program, &process), S_OK);
    const HRESULT hr = process_wait(process, PATIENCE_MS, &code);
    if (hr != S_OK)
        (void)process_terminate(process_id(process), process_start_time(process_id(process)));
    process_close(process);
    assert_int_equal(hr, S_OK);
    assert_int_equal(code, wanted);
}

static void run_as(const char *what)
{
    run_to(what, 0);
}

static void a_session_left_open_is_complete(void **state)
{
    (void)state;
    run_as("leave");
    assert_int_equal(events_in(path), LEFT);
}

enum { ENDS = 50, EVENTS = 20000, SMALL_KB = 4, MANY = 4000 };

/* Runs in a separate process, which exits right after its last event, while earlier buffers are being written. */
static void end_at_once(const char *file)
{
    const GUID own = {0x88888888, 1, 2, {3}};
    const EVENT_DESCRIPTOR event = {.Id = 1, .Level = 4};
    TRACEHANDLE session;
    REGHANDLE handle;
    set_up_block(file);
    block.p.LogFileMode = PRIVATE_MODES;
    block.p.Wnode.Guid = own;
    block.p.BufferSize = SMALL_KB;
    block.p.MaximumBuffers = MANY;
    if (EventRegister(&own, NULL, NULL, &handle) != ERROR_SUCCESS ||
        StartTraceW(&session, L"exits", &block.p) != ERROR_SUCCESS ||
        EnableTraceEx2(session, &own, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, PATIENCE_MS, NULL) != ERROR_SUCCESS)
        ExitProcess(2);
    for (uint64_t i = 0; i < EVENTS; i++) {
        EVENT_DATA_DESCRIPTOR data = {.Ptr = (ULONGLONG)(uintptr_t)&i, .Size = sizeof i};
        if (EventWrite(handle, &event, 1, &data) != ERROR_SUCCESS)
            ExitProcess(3);
    }
    ExitProcess(0);
}

static void check_exit_log(void)
{
    static bool seen[EVENTS];
    struct etl_reader *reader;
    struct etl_record record;
    uint32_t events = 0;
    uint64_t bytes;
    struct file *file;
    memset(seen, 0, sizeof seen);
    assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
    const struct etl_log *log = etl_reader_log(reader);
    assert_int_equal(log->events_lost, 0);
    assert_int_equal(log->buffers_lost, 0);
    assert_true(log->end_utc > log->start_utc);
    assert_int_equal(file_open(path, FILE_READ, &file), S_OK);
    assert_int_equal(file_size(file, &bytes), S_OK);
    file_close(file);
    assert_int_equal(log->buffers_written * (uint64_t)log->buffer_size, bytes);
    while (etl_reader_next(reader, &record) == S_OK) {
        if (record.kind != ETL_RECORD_MANIFEST)
            continue;
        const uint64_t number = get_u64(record.data);
        assert_in_range(number, 0, EVENTS - 1);
        assert_false(seen[number]);
        seen[number] = true;
        events++;
    }
    etl_reader_close(reader);
    assert_int_equal(events, EVENTS);
}

static void a_process_that_exits_during_writes_loses_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < ENDS; i++) {
        run_as("exit");
        check_exit_log();
    }
}

/* ---- during loader calls ---- */

static DWORD WINAPI load(void *unused)
{
    (void)unused;
    return LoadLibraryW(L"unloading_provider.dll") ? 0 : 1;
}

/* Two threads register at the same time, both for the first time in this process. One of them runs DllMain. */
static int register_while_loading(void)
{
    REGHANDLE handle;
    const GUID own = {0x77777777, 1, 2, {3}};
    HANDLE loads = CreateEventW(NULL, FALSE, FALSE, L"unloading-provider-loads");
    HANDLE thread = CreateThread(NULL, 0, load, NULL, 0, NULL);
    DWORD code = 4;
    if (!loads || !thread || WaitForSingleObject(loads, PATIENCE_MS) != WAIT_OBJECT_0)
        return 2;
    if (EventRegister(&own, NULL, NULL, &handle) != ERROR_SUCCESS)
        return 3;
    WaitForSingleObject(thread, INFINITE);
    GetExitCodeThread(thread, &code);
    return (int)code;
}

static void a_dll_registers_while_others_do(void **state)
{
    (void)state;
    run_as("load");
}

static DWORD WINAPI enable_it(void *unused)
{
    TRACEHANDLE session;
    (void)unused;
    if (StartTraceW(&session, L"ends", &block.p) == ERROR_SUCCESS)
        (void)EnableTraceEx2(session, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, 0, NULL);
    return 0;
}

/* main returns while an event provider in a DLL is in a callback; the DLL unregisters on unload. */
static int end_in_callback(const char *file)
{
    set_up_block(file);
    block.p.LogFileMode = PRIVATE_MODES;
    block.p.Wnode.Guid = (GUID){0x66666666, 1, 3, {3}};
    HANDLE stays = CreateEventW(NULL, FALSE, FALSE, L"unloading-provider-stays");
    if (!stays || !LoadLibraryW(L"unloading_provider.dll"))
        return 2;
    HANDLE thread = CreateThread(NULL, 0, enable_it, NULL, 0, NULL);
    return thread && WaitForSingleObject(stays, PATIENCE_MS) == WAIT_OBJECT_0 ? 0 : 3;
}

static void process_exits_during_a_callback(void **state)
{
    (void)state;
    run_as("end");
}

/* ---- a process that ends when its last thread exits, as on Windows ---- */

static VOID NTAPI ignore_enable(LPCGUID source, ULONG enabled, UCHAR level, ULONGLONG any, ULONGLONG all,
                                PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
    (void)source, (void)enabled, (void)level, (void)any, (void)all, (void)filter, (void)context;
}

static ULONG WINAPI ignore_request(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
    (void)code, (void)context, (void)size, (void)buffer;
    return ERROR_SUCCESS;
}

enum { FIRST_LEAVES = 5, LAST_LEAVES = 3 };
static HANDLE first_thread;

static DWORD WINAPI exit_last(void *unused)
{
    (void)unused;
    WaitForSingleObject(first_thread, INFINITE);
    return LAST_LEAVES;
}

static DWORD WINAPI terminate_first(void *unused)
{
    (void)unused;
    TerminateThread(first_thread, FIRST_LEAVES);
    return LAST_LEAVES;
}

static int exit_by_exit_thread(LPTHREAD_START_ROUTINE last)
{
    if (!DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &first_thread, 0, FALSE,
                         DUPLICATE_SAME_ACCESS) ||
        !CreateThread(NULL, 0, last, NULL, 0, NULL))
        return 2;
    if (last == terminate_first)
        Sleep(INFINITE);
    ExitThread(FIRST_LEAVES);
}

static int exit_as(const char *what, const char *file)
{
    static const GUID own = {0x99999999, 1, 2, {3}};
    TRACE_GUID_REGISTRATION class = {.Guid = &own};
    TRACEHANDLE trace;
    REGHANDLE handle;
    if (strcmp(what, "leave-classic") == 0)
        return RegisterTraceGuidsW(ignore_request, NULL, &own, 1, &class, NULL, NULL, &trace) == ERROR_SUCCESS
                   ? exit_by_exit_thread(exit_last)
                   : 4;
    if (strcmp(what, "leave-private") == 0)
        return exit_with_open_session(file) == 0 ? exit_by_exit_thread(exit_last) : 4;
    if (EventRegister(&own, ignore_enable, NULL, &handle) != ERROR_SUCCESS)
        return 4;
    return exit_by_exit_thread(strcmp(what, "leave-terminated") == 0 ? terminate_first : exit_last);
}

/* A program may end its main thread and let its other threads finish. The process must end when the last of them exits,
   and must not hang. */
static void process_ends_with_its_last_own_thread(void **state)
{
    (void)state;
    run_to("leave-provider", LAST_LEAVES);
    run_to("leave-classic", LAST_LEAVES);
    run_to("leave-terminated", LAST_LEAVES);
    run_to("leave-private", LAST_LEAVES);
    assert_int_equal(events_in(path), LEFT);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(provider_ends_with_its_dll),
        cmocka_unit_test(a_session_left_open_is_complete),
        cmocka_unit_test(a_process_that_exits_during_writes_loses_nothing),
        cmocka_unit_test(a_dll_registers_while_others_do),
        cmocka_unit_test(process_exits_during_a_callback),
        cmocka_unit_test(process_ends_with_its_last_own_thread),
    };
    if (count > 2 && strcmp(arguments[1], "leave") == 0)
        return exit_with_open_session(arguments[2]);
    if (count > 2 && strcmp(arguments[1], "exit") == 0)
        end_at_once(arguments[2]);
    if (count > 2 && strcmp(arguments[1], "load") == 0)
        return register_while_loading();
    if (count > 2 && strcmp(arguments[1], "end") == 0)
        return end_in_callback(arguments[2]);
    if (count > 2 && strncmp(arguments[1], "leave-", 6) == 0)
        return exit_as(arguments[1], arguments[2]);
    own_program = arguments[0];
    char name[33];
    snprintf(name, sizeof name, "u%lux%lx", (unsigned long)GetCurrentProcessId(), (unsigned long)GetTickCount());
    SetEnvironmentVariableA("OPENPLA_ETW", name);
    char *scratch = scratch_create("test_etw_unload");
    char *folder = os_full_path(scratch);
    scratch_environment("OPENPLA_DATA", folder);
    path = path_join(folder, "unload.etl");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char *directory = text_format("openetw%u-%s", (unsigned)DIRECTORY_LAYOUT, name);
    (void)section_delete(directory);
    memory_free(directory);
    scratch_remove(scratch);
    memory_free(scratch);
    memory_free(folder);
    memory_free(path);
    return failed;
}

/* SPDX-License-Identifier: MIT */
/* Session controllers that use Windows' functions: results, error codes, and equal behaviour of the wide and the ANSI
   functions. The ETW session hosts are processes, as for users. */
#include "engine/base/file.h"
#include "tests/unit/controller_fixture.h"

static char *folder;

static char *path_of(const char *name)
{
    char *path = path_join(folder, name);
    assert_non_null(path);
    return path;
}

static TRACEHANDLE start_in_memory(const char *name, GUID guid)
{
    struct block b = block_of(TRACE_MODE_BUFFERING, NULL);
    TRACEHANDLE handle;
    b.p.Wnode.Guid = guid;
    b.p.BufferSize = 4;
    b.p.MinimumBuffers = 1;
    assert_int_equal(start_session(name, &b, &handle), ERROR_SUCCESS);
    return handle;
}

static void stop(TRACEHANDLE handle)
{
    struct block b;
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
}

static const GUID none;

/* ---- the life of a session ---- */

static void session_accepts_events_until_it_is_stopped(void **state)
{
    (void)state;
    char *path = path_of("life.etl");
    struct block b = block_of(0, path);
    struct provider p;
    TRACEHANDLE handle = 0;
    b.p.LogFileMode = TRACE_MODE_SEQUENTIAL;
    const int64_t before = clock_utc();
    assert_int_equal(start_session("life", &b, &handle), ERROR_SUCCESS);
    assert_true(handle != 0);
    assert_int_equal(b.p.Wnode.HistoricalContext, handle);
    assert_false(guid_equal(&b.p.Wnode.Guid, &none));
    assert_string_equal(narrow(b.name), "life");
    assert_string_equal(narrow(b.file), path);
    const GUID guid = b.p.Wnode.Guid;
    provider_open(handle, &p);
    assert_true(provider_write(&p, 1000));
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    int64_t time;
    memcpy(&time, &b.p.Wnode.TimeStamp, sizeof time);
    assert_true(time >= before);
    assert_true(guid_equal(&b.p.Wnode.Guid, &guid));
    assert_int_equal(b.p.Wnode.HistoricalContext, handle);
    assert_int_equal(b.p.EventsLost, 0);
    assert_true(b.p.NumberOfBuffers >= b.p.MinimumBuffers && b.p.FreeBuffers < b.p.NumberOfBuffers);
    assert_true(memcmp(&b.p.LoggerThreadId, &(uint64_t){0}, 8) != 0);
    assert_string_equal(narrow(b.name), "life");
    assert_string_equal(narrow(b.file), path);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    assert_int_equal(read_log(path).events, 1000);
    const uint32_t written = b.p.BuffersWritten;
    assert_true(written > 0);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.BuffersWritten, written);
    assert_false(provider_write(&p, 1));
    provider_close(&p);
    assert_int_equal(read_log(path).sum, 999 * 1000 / 2);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_WMI_INSTANCE_NOT_FOUND);
    memory_free(path);
}

static void losses_are_counted(void **state)
{
    (void)state;
    char *path = path_of("lost.etl");
    struct block b = block_of(TRACE_MODE_NO_PER_PROCESSOR, path);
    struct provider p;
    TRACEHANDLE handle;
    b.p.BufferSize = 4;
    b.p.MinimumBuffers = b.p.MaximumBuffers = 2;
    assert_int_equal(start_session("lost", &b, &handle), ERROR_SUCCESS);
    provider_open(handle, &p);
    assert_true(provider_write(&p, 200000));
    provider_close(&p);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_int_equal(b.p.EventsLost, p.refused);
    const struct log_sums sums = read_log(path);
    assert_int_equal(sums.events + p.refused, 200000);
    assert_int_equal(sums.events_lost, p.refused);
    memory_free(path);
}

/* ---- mistakes ---- */

static void each_failed_start_has_its_error_code(void **state)
{
    (void)state;
    char *path = path_of("one.etl"), *nowhere = path_of("nowhere/one.etl"), *other = path_of("other.etl");
    struct block b = block_of(0, path);
    TRACEHANDLE handle, second;
    WCHAR name[16];
    wide("one", name);
    assert_int_equal(StartTraceW(NULL, name, &b.p), ERROR_INVALID_PARAMETER);
    assert_int_equal(StartTraceW(&handle, name, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(StartTraceW(&handle, NULL, &b.p), ERROR_INVALID_NAME);
    b.p.Wnode.BufferSize = sizeof b.p - 1;
    assert_int_equal(StartTraceW(&handle, name, &b.p), ERROR_BAD_LENGTH);
    b = block_of(0, nowhere);
    assert_int_equal(start_session("one", &b, &handle), ERROR_PATH_NOT_FOUND);
    b = block_of(0, path);
    assert_int_equal(start_session("one", &b, &handle), ERROR_SUCCESS);
    const GUID guid = b.p.Wnode.Guid;
    b = block_of(0, other);
    assert_int_equal(start_session("ONE", &b, &second), ERROR_ALREADY_EXISTS);
    b.p.Wnode.Guid = guid;
    assert_int_equal(start_session("two", &b, &second), ERROR_ALREADY_EXISTS);
    b = block_of(0, path);
    assert_int_equal(start_session("two", &b, &second), ERROR_BAD_PATHNAME);
    assert_int_equal(second, 0);
    b = block_of(0, other);
    b.p.MaximumFileSize = 0x7FFFFFFF;
    assert_int_equal(start_session("two", &b, &second), ERROR_DISK_FULL);
    stop(handle);
    b = block_of(0, other);
    assert_int_equal(start_session("one", &b, &handle), ERROR_SUCCESS); /* the failed calls left nothing behind */
    stop(handle);
    memory_free(path);
    memory_free(nowhere);
    memory_free(other);
}

static void each_failed_control_has_its_error_code(void **state)
{
    (void)state;
    char *path = path_of("control.etl"), *other = path_of("control2.etl"), *third = path_of("control3.etl");
    struct block b = block_of(0, path);
    TRACEHANDLE handle, second;
    WCHAR name[64];
    assert_int_equal(start_session("control", &b, &handle), ERROR_SUCCESS);
    b = block_of(0, other);
    assert_int_equal(start_session("control2", &b, &second), ERROR_SUCCESS);
    assert_int_equal(ControlTraceW(handle, NULL, NULL, EVENT_TRACE_CONTROL_QUERY), ERROR_INVALID_PARAMETER);
    b = block_of(0, NULL);
    assert_int_equal(ControlTraceW(0, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_INVALID_PARAMETER);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, 6), ERROR_INVALID_PARAMETER);
    assert_int_equal(ControlTraceW(UINT64_MAX, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_INVALID_PARAMETER);
    assert_int_equal(ControlTraceW(DIRECTORY_PLACES + 1, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(ControlTraceW(handle + 0x10000, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_WMI_INSTANCE_NOT_FOUND);
    wide("nobody", name);
    assert_int_equal(ControlTraceW(handle, name, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    b.p.Wnode.Guid = trace_kernel_guid;
    assert_int_equal(ControlTraceW(handle, name, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_INVALID_PARAMETER);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    b = block_of(0, NULL);
    b.p.Wnode.BufferSize = 119;
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_BAD_LENGTH);
    b.p.Wnode.BufferSize = BLOCK_NAME + 1;
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_BAD_LENGTH);
    b.p.Wnode.BufferSize = BLOCK_NAME;
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_INVALID_PARAMETER);
    b.p.Wnode.BufferSize = BLOCK_NAME + 8;
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_MORE_DATA);
    assert_string_equal(narrow(b.name), "con"); /* as much of the name as fits is returned */
    assert_int_equal(b.p.Wnode.HistoricalContext, handle);
    /* Between the offsets of the two names, not even the terminator of the first name has room. */
    b = block_of(0, NULL);
    b.p.LogFileNameOffset = BLOCK_NAME + 1;
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_BAD_LENGTH);
    b = block_of(0, path);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_BAD_PATHNAME);
    b = block_of(0, other); /* the file to which the second session writes */
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_UPDATE), ERROR_BAD_PATHNAME);
    b = block_of(0, third);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_INCREMENT_FILE), ERROR_INVALID_PARAMETER);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_string_equal(narrow(b.file), path); /* unchanged */
    stop(second);
    b = block_of(0, NULL); /* the session is stopped even if the block has no room for its names */
    b.p.Wnode.BufferSize = BLOCK_NAME + 4;
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_STOP), ERROR_MORE_DATA);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    memory_free(path);
    memory_free(other);
    memory_free(third);
}

/* ---- updates ---- */

static void update_changes_only_the_given_values(void **state)
{
    (void)state;
    char *path = path_of("update.etl"), *other = path_of("update2.etl");
    struct block b = block_of(0, path);
    struct provider p;
    TRACEHANDLE handle;
    b.p.FlushTimer = 9;
    b.p.MaximumBuffers = 60;
    assert_int_equal(start_session("update", &b, &handle), ERROR_SUCCESS);
    provider_open(handle, &p);
    assert_true(provider_write(&p, 10));
    b = block_of(0, NULL);
    b.p.MaximumBuffers = 50;
    assert_int_equal(UpdateTraceW(handle, NULL, &b.p), ERROR_SUCCESS);
    assert_int_equal(b.p.FlushTimer, 9);
    assert_int_equal(b.p.MaximumBuffers, 50);
    b = block_of(0, other);
    b.p.FlushTimer = 3;
    assert_int_equal(UpdateTraceW(handle, NULL, &b.p), ERROR_SUCCESS);
    assert_int_equal(b.p.FlushTimer, 3);
    assert_int_equal(b.p.MaximumBuffers, 50);
    assert_string_equal(narrow(b.file), other);
    assert_int_equal(read_log(path).events, 10);
    assert_true(provider_write(&p, 5));
    provider_close(&p);
    stop(handle);
    assert_int_equal(read_log(path).events, 10);
    const struct log_sums sums = read_log(other);
    assert_int_equal(sums.events, 5);
    assert_int_equal(sums.first, 10);
    memory_free(path);
    memory_free(other);
}

/* ---- all sessions ---- */

static void all_sessions_are_listed(void **state)
{
    (void)state;
    enum { MANY = 3 };
    struct block blocks[MANY];
    EVENT_TRACE_PROPERTIES *list[MANY];
    TRACEHANDLE handles[MANY];
    ULONG count = 77;
    for (int i = 0; i < MANY; i++) {
        char name[8];
        snprintf(name, sizeof name, "all%d", i);
        handles[i] = start_in_memory(name, none);
        blocks[i] = block_of(0, NULL);
        list[i] = &blocks[i].p;
    }
    assert_int_equal(QueryAllTracesW(NULL, MANY, &count), ERROR_INVALID_PARAMETER);
    assert_int_equal(QueryAllTracesW(list, 0, &count), ERROR_INVALID_PARAMETER);
    assert_int_equal(QueryAllTracesW(list, MANY, &count), ERROR_SUCCESS);
    assert_int_equal(count, MANY);
    for (int i = 0; i < MANY; i++) {
        char name[8];
        snprintf(name, sizeof name, "all%d", i);
        assert_string_equal(narrow(blocks[i].name), name);
        assert_int_equal(blocks[i].p.Wnode.HistoricalContext, handles[i]);
        blocks[i] = block_of(0, NULL);
    }
    assert_int_equal(QueryAllTracesW(list, 1, &count), ERROR_MORE_DATA);
    assert_int_equal(count, MANY);
    assert_string_equal(narrow(blocks[0].name), "all0");
    for (int i = 0; i < MANY; i++)
        stop(handles[i]);
    assert_int_equal(QueryAllTracesW(list, MANY, &count), ERROR_SUCCESS);
    assert_int_equal(count, 0);
}

static ULONG start_private(uint32_t more, uint32_t number, TRACEHANDLE *handle)
{
    char *path = text_format("%s/private%u.etl", folder, (unsigned)number), name[32];
    struct block b = block_of(TRACE_MODE_PRIVATE_LOGGER | more, path);
    b.p.Wnode.Guid = (GUID){number + 1, 5, 5, {5}};
    snprintf(name, sizeof name, "private%u", (unsigned)number);
    const ULONG code = start_session(name, &b, handle);
    memory_free(path);
    return code;
}

static ULONG control_private(TRACEHANDLE handle, uint32_t mode, struct block *b, ULONG code)
{
    *b = block_of(mode, NULL);
    return ControlTraceW(handle, NULL, &b->p, code);
}

/* Starts sessions until no slot is free; a stopped session frees its slot. */
static void sessions_are_limited_to_64(void **state)
{
    (void)state;
    TRACEHANDLE handles[DIRECTORY_SESSIONS];
    struct block b = block_of(TRACE_MODE_BUFFERING, NULL);
    TRACEHANDLE more;
    for (int i = 0; i < DIRECTORY_SESSIONS; i++) {
        char name[16];
        snprintf(name, sizeof name, "of64-%d", i);
        handles[i] = start_in_memory(name, none);
    }
    assert_int_equal(start_session("one more", &b, &more), ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(start_private(0, 0, &more), ERROR_SUCCESS); /* private sessions need no slot */
    stop(handles[5]);
    handles[5] = start_in_memory("in its place", none);
    assert_int_equal(control_private(more, TRACE_MODE_PRIVATE_LOGGER, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    for (int i = 0; i < DIRECTORY_SESSIONS; i++)
        stop(handles[i]);
}

static uint32_t kernel_logger(void)
{
    struct directory_session *list;
    size_t count;
    uint32_t found = 0;
    assert_int_equal(directory_sessions(own_directory(), &list, &count), S_OK);
    for (size_t i = 0; i < count; i++)
        found = list[i].kernel ? list[i].logger : found;
    directory_sessions_free(list, count);
    return found;
}

static void system_loggers_are_limited(void **state)
{
    (void)state;
    enum { MOST = 6 }; /* of 8 system loggers, two have reserved names */
    TRACEHANDLE handles[MOST + 2], more;
    struct block b;
    for (int i = 0; i < MOST; i++) {
        char name[16];
        snprintf(name, sizeof name, "system%d", i);
        b = block_of(TRACE_MODE_BUFFERING | TRACE_MODE_SYSTEM_LOGGER, NULL);
        assert_int_equal(start_session(name, &b, &handles[i]), ERROR_SUCCESS);
    }
    b = block_of(TRACE_MODE_BUFFERING | TRACE_MODE_SYSTEM_LOGGER, NULL);
    assert_int_equal(start_session("one more", &b, &more), ERROR_NO_SYSTEM_RESOURCES);
    b = block_of(TRACE_MODE_BUFFERING, NULL);
    b.p.EnableFlags = 1;
    assert_int_equal(start_session("nt kernel logger", &b, &handles[MOST]), ERROR_SUCCESS);
    assert_true(guid_equal(&b.p.Wnode.Guid, &trace_kernel_guid));
    assert_true(handles[MOST] == 0xFFFF); /* Tracy compares the handle with this value */
    assert_true(b.p.Wnode.HistoricalContext == 0xFFFF);
    b = block_of(0, NULL);
    assert_int_equal(ControlTraceW(0xFFFF | (TRACEHANDLE)1 << 16, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_INVALID_PARAMETER);
    b = block_of(TRACE_MODE_BUFFERING, NULL);
    assert_int_equal(start_session("NT Kernel Logger", &b, &more), ERROR_ALREADY_EXISTS);
    b = block_of(TRACE_MODE_BUFFERING, NULL);
    assert_int_equal(start_session("Circular Kernel Context Logger", &b, &handles[MOST + 1]), ERROR_SUCCESS);
    b = block_of(0, NULL); /* name and handle are ignored */
    b.p.Wnode.Guid = trace_kernel_guid;
    assert_int_equal(ControlTraceW(handles[0], NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_string_equal(narrow(b.name), "nt kernel logger");
    assert_int_equal(b.p.EnableFlags, 1);
    b = block_of(0, NULL);
    b.p.EnableFlags = 6;
    assert_int_equal(UpdateTraceW(0xFFFF, NULL, &b.p), ERROR_SUCCESS);
    assert_int_equal(b.p.EnableFlags, 6);
    for (uint32_t i = 0; i < 8; i++) /* eight group masks in an extended structure */
        memcpy((char *)b.file + 4 * i, &(uint32_t){0x20000000u * i + i + 1}, 4);
    b.p.EnableFlags = 0x80000000u | 8u << 16 | BLOCK_FILE;
    assert_int_equal(UpdateTraceW(0xFFFF, NULL, &b.p), ERROR_SUCCESS);
    struct directory_session s;
    assert_int_equal(directory_session_at(own_directory(), kernel_logger(), 0, &s), S_OK);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(s.enable_flags[i], 0x20000000u * i + i + 1);
    directory_session_free(&s);
    for (int i = 0; i < MOST + 2; i++)
        stop(handles[i]);
}

/* ---- private sessions ---- */

static void private_sessions_are_separate(void **state)
{
    (void)state;
    enum { MOST = 8, OWN = 3 };
    TRACEHANDLE handles[MOST], own[OWN], more;
    struct block b = block_of(0, NULL);
    EVENT_TRACE_PROPERTIES *list[1] = {&b.p};
    ULONG count;
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(start_private(0, i, &handles[i]), ERROR_SUCCESS);
    assert_int_equal(start_private(0, MOST, &more), ERROR_NO_SYSTEM_RESOURCES);
    for (uint32_t i = 0; i < OWN; i++)
        assert_int_equal(start_private(TRACE_MODE_PRIVATE_IN_PROC, 100 + i, &own[i]), ERROR_SUCCESS);
    assert_int_equal(start_private(TRACE_MODE_PRIVATE_IN_PROC, 100 + OWN, &more), ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(QueryAllTracesW(list, 1, &count), ERROR_SUCCESS);
    assert_int_equal(count, 0);
    assert_int_equal(control_private(handles[0], 0, &b, EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(control_private(handles[0], TRACE_MODE_PRIVATE_LOGGER, &b, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_SUCCESS);
    assert_string_equal(narrow(b.name), "private0");
    b = block_of(TRACE_MODE_PRIVATE_LOGGER, NULL);
    b.p.FlushTimer = 5;
    assert_int_equal(UpdateTraceW(handles[0], NULL, &b.p), ERROR_SUCCESS);
    assert_int_equal(b.p.FlushTimer, 5);
    assert_int_equal(control_private(handles[0], TRACE_MODE_PRIVATE_LOGGER, &b, EVENT_TRACE_CONTROL_FLUSH),
                     ERROR_SUCCESS);
    assert_int_equal(control_private(handles[0], TRACE_MODE_PRIVATE_LOGGER, &b, EVENT_TRACE_CONTROL_INCREMENT_FILE),
                     ERROR_INVALID_PARAMETER);
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(control_private(handles[i], TRACE_MODE_PRIVATE_LOGGER, &b, EVENT_TRACE_CONTROL_STOP),
                         ERROR_SUCCESS);
    for (uint32_t i = 0; i < OWN; i++)
        assert_int_equal(control_private(own[i], TRACE_MODE_PRIVATE_LOGGER | TRACE_MODE_PRIVATE_IN_PROC, &b,
                                         EVENT_TRACE_CONTROL_STOP),
                         ERROR_SUCCESS);
    assert_int_equal(control_private(handles[0], TRACE_MODE_PRIVATE_LOGGER, &b, EVENT_TRACE_CONTROL_STOP),
                     ERROR_WMI_INSTANCE_NOT_FOUND);
}

/* ---- ANSI functions, and versioned blocks ---- */

struct ansi_block {
    EVENT_TRACE_PROPERTIES p;
    char name[1100], file[1100];
};

static struct ansi_block ansi_of(uint32_t mode, const char *file)
{
    struct ansi_block b;
    memset(&b, 0, sizeof b);
    b.p.Wnode.BufferSize = sizeof b;
    b.p.Wnode.Flags = CONTROLLER_TRACED_GUID;
    b.p.LogFileMode = mode;
    b.p.LoggerNameOffset = offsetof(struct ansi_block, name);
    b.p.LogFileNameOffset = offsetof(struct ansi_block, file);
    if (file)
        text_fit(b.file, sizeof b.file, file);
    return b;
}

static void ansi_forms_do_the_same(void **state)
{
    (void)state;
    char *path = path_of("ansi.etl");
    struct ansi_block b = ansi_of(0, path);
    TRACEHANDLE handle;
    assert_int_equal(StartTraceA(&handle, "s\xE9ssion", &b.p), ERROR_SUCCESS);
    assert_string_equal(b.name, "s\xE9ssion");
    assert_string_equal(b.file, path);
    struct directory_session s = session_of_handle(handle);
    assert_string_equal(s.name, "s\xC3\xA9ssion");
    directory_session_free(&s);
    b = ansi_of(0, NULL);
    assert_int_equal(QueryTraceA(0, "S\xC9SSION", &b.p), ERROR_SUCCESS);
    assert_string_equal(b.name, "s\xE9ssion");
    EVENT_TRACE_PROPERTIES *list[1] = {&b.p};
    ULONG count;
    b = ansi_of(0, NULL);
    assert_int_equal(QueryAllTracesA(list, 1, &count), ERROR_SUCCESS);
    assert_string_equal(b.name, "s\xE9ssion");
    assert_int_equal(FlushTraceA(handle, NULL, &b.p), ERROR_SUCCESS);
    b = ansi_of(0, NULL);
    b.p.FlushTimer = 2;
    assert_int_equal(UpdateTraceA(handle, NULL, &b.p), ERROR_SUCCESS);
    assert_int_equal(b.p.FlushTimer, 2);
    assert_int_equal(StopTraceA(handle, NULL, &b.p), ERROR_SUCCESS);
    assert_string_equal(b.file, path);
    assert_int_equal(ControlTraceA(handle, NULL, &b.p, EVENT_TRACE_CONTROL_QUERY), ERROR_WMI_INSTANCE_NOT_FOUND);
    memory_free(path);
}

static void versioned_blocks_are_larger(void **state)
{
    (void)state;
    struct {
        EVENT_TRACE_PROPERTIES_V2 p;
        WCHAR name[64];
    } b;
    EVENT_TRACE_PROPERTIES *p = (EVENT_TRACE_PROPERTIES *)&b;
    TRACEHANDLE handle;
    WCHAR name[16];
    wide("version 2", name);
    memset(&b, 0, sizeof b);
    p->Wnode.BufferSize = sizeof b;
    p->Wnode.Flags = CONTROLLER_TRACED_GUID | CONTROLLER_VERSIONED;
    p->LogFileMode = TRACE_MODE_BUFFERING;
    p->LoggerNameOffset = sizeof b.p;
    b.p.V2Control = 2;
    assert_int_equal(StartTraceW(&handle, name, p), ERROR_SUCCESS);
    assert_string_equal(narrow(b.name), "version 2");
    assert_int_equal(b.p.V2Control, 2);
    p->LoggerNameOffset = sizeof(EVENT_TRACE_PROPERTIES);
    assert_int_equal(ControlTraceW(handle, NULL, p, EVENT_TRACE_CONTROL_QUERY), ERROR_INVALID_PARAMETER);
    p->LoggerNameOffset = sizeof b.p;
    p->Wnode.BufferSize = sizeof b.p - 1;
    assert_int_equal(ControlTraceW(handle, NULL, p, EVENT_TRACE_CONTROL_QUERY), ERROR_BAD_LENGTH);
    p->Wnode.BufferSize = sizeof b;
    assert_int_equal(ControlTraceW(handle, NULL, p, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
}

/* If Start fails, the caller gets no session, and the host process must have exited: otherwise nobody could stop it. */
static void start_without_memory_leaves_nothing(void **state)
{
    (void)state;
    bool failed = true;
    uint64_t n = 0;
    while (failed) {
        char *path = path_of("memory.etl");
        struct block b = block_of(TRACE_MODE_SEQUENTIAL, path);
        struct directory_session *list;
        size_t count;
        TRACEHANDLE handle = 0;
        WCHAR name[] = {'m', 0};
        memory_fail_at(++n);
        const ULONG code = StartTraceW(&handle, name, &b.p);
        failed = memory_count() >= n;
        memory_fail_at(0);
        assert_int_equal(code == ERROR_SUCCESS, handle != 0);
        assert_int_equal(directory_sessions(own_directory(), &list, &count), S_OK);
        assert_int_equal(count, handle != 0);
        directory_sessions_free(list, count);
        if (handle != 0) {
            stop(handle);
        } else {
            struct file *file;
            assert_true(failed);
            assert_int_equal(file_open_wait(path, FILE_APPEND, CHILD_PATIENCE, &file), S_OK);
            file_close(file);
        }
        memory_free(path);
    }
    assert_true(n > 30);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_accepts_events_until_it_is_stopped),
        cmocka_unit_test(losses_are_counted),
        cmocka_unit_test(each_failed_start_has_its_error_code),
        cmocka_unit_test(each_failed_control_has_its_error_code),
        cmocka_unit_test(update_changes_only_the_given_values),
        cmocka_unit_test(all_sessions_are_listed),
        cmocka_unit_test(start_without_memory_leaves_nothing),
        cmocka_unit_test(sessions_are_limited_to_64),
        cmocka_unit_test(system_loggers_are_limited),
        cmocka_unit_test(private_sessions_are_separate),
        cmocka_unit_test(ansi_forms_do_the_same),
        cmocka_unit_test(versioned_blocks_are_larger),
    };
    (void)count;
    child_program = arguments[0];
    return controller_tests(tests, sizeof tests / sizeof *tests, "test_etw_controller", &folder);
}

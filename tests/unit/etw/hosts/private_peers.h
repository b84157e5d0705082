/* SPDX-License-Identifier: MIT */
/* Private sessions with the numbered event provider, in this process and in others that write on command. */
#ifndef OPENPLA_PRIVATE_PEERS_H
#define OPENPLA_PRIVATE_PEERS_H

#include "engine/base/file.h"
#include "tests/unit/numbered_provider.h"

enum { WHOLE = TRACE_MODE_PRIVATE_LOGGER, HERE = WHOLE | TRACE_MODE_PRIVATE_IN_PROC };

static inline TRACEHANDLE start_enabled(const char *name, uint32_t mode, const char *path)
{
    struct block b = block_of(mode, path);
    TRACEHANDLE session;
    b.p.Wnode.Guid = guid;
    b.p.Wnode.Guid.Data2 = (uint16_t)name[0];
    assert_int_equal(start_session(name, &b, &session), ERROR_SUCCESS);
    enable_for(session);
    return session;
}

/* Private sessions are found by their mode alone. */
static inline ULONG control(TRACEHANDLE session, struct block *b, uint32_t mode, ULONG code)
{
    *b = block_of(mode, NULL);
    return ControlTraceW(session, NULL, &b->p, code);
}

static inline void check_log(const char *path, uint32_t modes)
{
    check_numbered(path, modes, ETW_HEADER_PRIVATE_SESSION);
}

static inline size_t private_entries(void)
{
    struct directory_session *list;
    size_t count, found = 0;
    assert_int_equal(directory_sessions(own_directory(), &list, &count), S_OK);
    for (size_t i = 0; i < count; i++)
        found += (list[i].mode & WHOLE) != 0;
    directory_sessions_free(list, count);
    return found;
}

static inline ULONG update_file(TRACEHANDLE session, const char *path)
{
    struct block b = block_of(WHOLE, path);
    const ULONG code = UpdateTraceW(session, NULL, &b.p);
    if (code == ERROR_SUCCESS)
        assert_string_equal(narrow(b.file), path);
    return code;
}

/* ---- in several processes ---- */

/* Runs a process with the event provider. `how` begins with a number of commands. On each of them, the process writes
   the numbered events; if `how` contains 'l', it also writes an event that is too large for a buffer. It exits on one
   more command. */
static inline int be_provider(const char *name, const char *how)
{
    static const char *const what[] = {"ready", "go", "done"};
    static const uint8_t large[65440];
    struct signal *signals[3];
    REGHANDLE handle;
    for (int i = 0; i < 3; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s-%s", name, what[i]);
        if (FAILED(signal_open(&(struct shared){.name = text, .create = true}, &signals[i])))
            return 2;
    }
    if (EventRegister(&guid, NULL, NULL, &handle) != ERROR_SUCCESS || FAILED(signal_set(signals[0])))
        return 3;
    for (int left = how[0] - '0'; left > 0; left--) {
        EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)large, .Size = sizeof large};
        if (signal_wait(signals[1], PATIENCE_MS) != S_OK)
            return 4;
        write_numbered(handle);
        if (strchr(how, 'l') && EventWrite(handle, &some_event, 1, &data) != ERROR_MORE_DATA)
            return 5;
        (void)signal_set(signals[2]);
    }
    const bool ended = signal_wait(signals[1], PATIENCE_MS) == S_OK;
    for (int i = 0; i < 3; i++)
        signal_close(signals[i]);
    return EventUnregister(handle) == ERROR_SUCCESS && ended ? 0 : 6;
}

struct peer {
    char name[48];
    struct process *process;
    struct signal *ready, *go, *done;
};

static inline struct signal *signal_of(const struct peer *p, const char *what)
{
    struct signal *signal;
    char text[64];
    snprintf(text, sizeof text, "%s-%s", p->name, what);
    assert_int_equal(signal_open(&(struct shared){.name = text, .create = true}, &signal), S_OK);
    return signal;
}

/* When the call returns, the process has registered the event provider. */
static inline struct peer peer_start(const char *name, const char *how)
{
    struct peer p = {.process = NULL};
    snprintf(p.name, sizeof p.name, "%s-%s", getenv("OPENPLA_ETW"), name);
    p.ready = signal_of(&p, "ready");
    p.go = signal_of(&p, "go");
    p.done = signal_of(&p, "done");
    p.process = child_start("provider", p.name, how);
    assert_int_equal(signal_wait(p.ready, PATIENCE_MS), S_OK);
    return p;
}

static inline void peer_write(const struct peer *p)
{
    assert_int_equal(signal_set(p->go), S_OK);
    assert_int_equal(signal_wait(p->done, PATIENCE_MS), S_OK);
}

static inline void peer_close(struct peer *p)
{
    process_close(p->process);
    signal_close(p->ready);
    signal_close(p->go);
    signal_close(p->done);
}

static inline void peer_end(struct peer *p)
{
    uint32_t code;
    assert_int_equal(signal_set(p->go), S_OK);
    assert_int_equal(process_wait(p->process, PATIENCE_MS, &code), S_OK);
    assert_int_equal(code, 0);
    peer_close(p);
}

/* Returns the file of a peer that is not the first one. */
static char *file_of(const char *path, const struct peer *p)
{
    return text_format("%s_%u", path, (unsigned)process_id(p->process));
}

static inline void check_log_of(const char *path, const struct peer *p)
{
    char *file = file_of(path, p);
    check_log(file, WHOLE);
    memory_free(file);
}

static inline bool has_file(const char *path, const struct peer *p)
{
    char *file = file_of(path, p);
    const bool has = file_exists(file);
    memory_free(file);
    return has;
}

#endif

/* SPDX-License-Identifier: MIT */
/* The supervisor's locks and the file that says whose they are. */
#include "engine/pla/sets/supervisor_lock.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/pla/run/run_journal.h"

#include <inttypes.h>
#include <string.h>

#define PATIENCE_MS 5000 /* a supervisor that begins names itself within milliseconds */
#define RECORD      "supervisor.process"

static const char *const names[2] = {"supervisor.lock", "supervisor-2.lock"};

static bool supervisor_lock_take(struct supervisor_lock *l, const char *data, int which)
{
    char *path = path_join(data, names[which]);
    if (!path || FAILED(file_lock_take(path, 0, &l->locks[which])))
        l->locks[which] = NULL;
    memory_free(path);
    return l->locks[which] != NULL;
}

static void drop(struct supervisor_lock *l)
{
    for (int i = 0; i < 2; i++) {
        file_lock_release(l->locks[i]);
        l->locks[i] = NULL;
    }
}

/* Whether the process that says that it supervises lives. */
static bool somebody_supervises(const char *data)
{
    char *path = path_join(data, RECORD), *text = NULL, *blank;
    size_t size;
    uint64_t id = 0, start = 0;
    HRESULT hr = path ? file_load(path, 100, &text, &size) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && (blank = strchr(text, ' '))) {
        *blank = 0;
        if (!text_to_u64(text, &id) || !text_to_u64(blank + 1, &start) || id > UINT32_MAX)
            id = 0;
    }
    memory_free(text);
    memory_free(path);
    return id && process_alive((uint32_t)id, start);
}

static void name_ourselves(const char *data)
{
    uint32_t id = process_own_id();
    char *path = path_join(data, RECORD);
    char *text = text_format("%u %" PRIu64, (unsigned)id, process_start_time(id));
    struct file *f;
    if (path && text && SUCCEEDED(file_open(path, FILE_REPLACE, &f))) {
        file_write(f, text, strlen(text));
        file_close(f);
    }
    memory_free(text);
    memory_free(path);
}

static void supervisor_lock_report(struct supervisor_lock *l, const char *data)
{
    int which = l->locks[0] != NULL;
    char *path = path_join(data, names[which]);
    const char *reason = l->locks[0] || l->locks[1]
                             ? "a program that does not supervise sets holds this file; end that program (OpenPLA goes "
                               "on without the file meanwhile)"
                             : "programs that do not supervise sets hold this file and its second; no schedule is "
                               "carried out until they are ended";
    if (!l->told && path)
        journal_write(JOURNAL_SUPERVISOR_KEPT_OUT, &(struct journal_facts){.file = path, .reason = reason});
    l->told = true;
    memory_free(path);
}

bool supervisor_lock_try(struct supervisor_lock *l, const char *data)
{
    uint64_t now = clock_monotonic_ms();
    bool late = l->waiting_since && now - l->waiting_since >= PATIENCE_MS;
    bool first = SUCCEEDED(folder_create_protected(data, PROTECTION_DATA)) && supervisor_lock_take(l, data, 0),
         second = (first || late) && supervisor_lock_supervisor_lock_take(l, data, 1);
    if (first && second) {
        name_ourselves(data);
        return true;
    }
    if (somebody_supervises(data)) {
        l->waiting_since = 0;
        drop(l);
        return false;
    }
    if (!l->waiting_since)
        l->waiting_since = now ? now : 1;
    if (late)
        supervisor_lock_report(l, data);
    if (late && (first || second)) {
        name_ourselves(data);
        return true;
    }
    drop(l);
    return false;
}

void supervisor_lock_release(struct supervisor_lock *l, const char *data)
{
    char *path = l->locks[0] || l->locks[1] ? path_join(data, RECORD) : NULL;
    if (path)
        file_delete(path);
    memory_free(path);
    drop(l);
}

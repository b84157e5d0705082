/* SPDX-License-Identifier: MIT */
/* Creates events for the starts, exits and names of processes and threads. A process is forked first and executes its
   program later. Under Wine, the process gets its Windows name even later. Therefore the start event of a process
   reserves a place in the queue and is filled in at the end of the pass. */
#include "engine/base/clock.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/etw/kernel/tracepoint.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

enum { CLONE_SAME_PARENT = 0x8000, CLONE_SAME_PROCESS = 0x10000 };
enum { FLAG_WOW64 = 2, COMMAND_UNITS = 8192, THREAD_NAME_UNITS = 64 };
enum { STILL_ACTIVE = 259 };
enum { PROCESS_VERSION = 4, THREAD_VERSION = 3 };
/* The base of the key that links the events of one process. The key has the form of an address in Windows' kernel. */
#define PROCESS_KEY UINT64_C(0xFFFF800000000000)

enum { NEW_ID, NEW_FLAGS };
enum { EXIT_ID, EXIT_LAST };
enum { EXEC_FILE };
enum { RENAME_ID, RENAME_NAME };
enum { LEAVE_CODE };
enum { SIGNAL_NUMBER, SIGNAL_HANDLER };

/* ---- files of /proc ---- */

const char *kernel_proc(const struct kernel_tracer *k)
{
    return k->proc ? k->proc : "/proc";
}

HRESULT kernel_process_text(const struct kernel_tracer *k, uint32_t process, const char *file, char **text,
                            size_t *size)
{
    char *path = text_format("%s/%" PRIu32 "/%s", kernel_proc(k), process, file);
    const HRESULT hr = path ? kernel_file_text(path, text, size) : E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

HRESULT kernel_process_stat(const struct kernel_tracer *k, uint32_t process, struct kernel_task_stat *out)
{
    char *text;
    size_t size;
    struct process_stat stat;
    if (FAILED(kernel_process_text(k, process, "stat", &text, &size)))
        return S_FALSE;
    /* A zombie does not count as a process: it can exist for a long time, until its parent reads its exit code. */
    const bool sound =
        process_stat_parse(text, size, &stat) && ((stat.state != 'Z' && stat.state != 'X') || stat.threads > 1);
    if (sound) {
        out->parent = stat.parent;
        out->threads = stat.threads;
        out->start = stat.start_ticks;
        snprintf(out->name, sizeof out->name, "%.*s", (int)stat.name_length, stat.name);
    }
    memory_free(text);
    return sound ? S_OK : S_FALSE;
}

HRESULT kernel_process_threads(const struct kernel_tracer *k, uint32_t process, uint32_t **ids, size_t *count)
{
    char *folder = text_format("%s/%" PRIu32 "/task", kernel_proc(k), process);
    *ids = NULL;
    *count = 0;
    const HRESULT hr = folder ? kernel_folder_numbers(folder, ids, count) : E_OUTOFMEMORY;
    memory_free(folder);
    return hr;
}

bool kernel_is_kthreadd(const struct kernel_tracer *k, uint32_t process)
{
    return process == KTHREADD && !k->in_container;
}

bool kernel_has_kthreadd(const struct kernel_tracer *k)
{
    struct kernel_task_stat stat;
    return kernel_process_stat(k, KTHREADD, &stat) != S_OK || strcmp(stat.name, "kthreadd") == 0;
}

bool kernel_proc_hides(const struct kernel_tracer *k)
{
    struct kernel_task_stat stat;
    return kernel_process_stat(k, 1, &stat) != S_OK;
}

void kernel_process_name(struct kernel_process *p, const char *name, size_t length)
{
    length = length < sizeof p->name ? length : sizeof p->name - 1;
    memcpy(p->name, name, length);
    p->name[length] = 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- events of processes ---- */

/* Sets the name of the program. Linux stores only 15 bytes of a name, and for Wine's processes only the name of Wine's
   loader. The first argument is usually the path of the program, but can be anything. */
static void name_program(struct kernel_process *p, const char *command, size_t length)
{
    const char *known = base_name(p->name);
    /* a Windows path */
    p->is_wine = p->is_wine || (command && length > 3 && command[1] == ':' && command[2] == '\\');
    for (size_t i = length; command && i-- > 0;)
        if (command[i] == '\\' || command[i] == '/') {
            command += i + 1;
            length -= i + 1;
            break;
        }
    const bool longer = length > strlen(known) && command && strncmp(command, known, strlen(known)) == 0;
    if (longer || (command && length != 0 && strncmp(known, "wine", 4) == 0))
        kernel_process_name(p, command, length);
}

static void put_process(struct kernel_tracer *k, uint32_t process, struct kernel_process *p, uint32_t exit_code,
                        bool ends)
{
    struct kernel_data *d = &k->data;
    static const struct process_details nothing;
    if (!ends || process == KTHREADD)
        process_details_read(k, process);
    const struct process_details *details = id_map_find(&k->details, process);
    details = details ? details : &nothing;
    name_program(p, details->command, details->first);
    kernel_data_clear(d);
    kernel_data_u64(d, PROCESS_KEY + ((uint64_t)process << 12));
    kernel_data_u32(d, kernel_process_id(k, process));
    kernel_data_u32(d, kernel_process_id(k, p->parent));
    kernel_data_u32(d, process == 0 || p->is_kernel ? UINT32_MAX : details->windows.session);
    kernel_data_u32(d, exit_code);
    kernel_data_u64(d, 0); /* directory table */
    kernel_data_u32(d, details->windows.is_wow64 ? FLAG_WOW64 : 0);
    process_details_put_user(d, details);
    kernel_data_ansi(d, base_name(p->name));
    kernel_data_text(d, details->command ? details->command : p->name, COMMAND_UNITS);
    kernel_data_text(d, "", 0); /* package */
    kernel_data_text(d, "", 0); /* its application */
}

/* Fills in the start event that is waiting for the name. */
HRESULT kernel_process_write(struct kernel_tracer *k, uint32_t process, struct kernel_process *p)
{
    if (!p->is_waiting)
        return S_OK;
    p->is_waiting = false;
    counters_read(k, process, p);
    put_process(k, process, p, STILL_ACTIVE, false);
    return kernel_queue_fill(&k->queue, p->entry, HOOK_PROCESS_START, &k->data);
}

/* Drops exited processes whose start event was lost. Each call drops at most MOST processes. */
static HRESULT forget_lost_starts(struct kernel_tracer *k)
{
    enum { PATIENCE_S = 10, MOST = 64 };
    const struct tracepoint_event e = {.time = k->newest, .processor = k->newest_processor};
    const uint64_t patience = PATIENCE_S * (uint64_t)clock_frequency();
    uint64_t process[MOST];
    size_t at = 0, count = 0;
    HRESULT hr = S_OK;
    for (const struct kernel_process *p; count < MOST && (p = id_map_next(&k->processes, &at, &process[count]));)
        count += p->ended != 0 && p->ended + patience < k->newest;
    for (size_t i = 0; i < count; i++) {
        const HRESULT ended = images_end(k, &e, (uint32_t)process[i]);
        hr = FAILED(hr) ? hr : ended;
        process_details_forget(k, (uint32_t)process[i]);
        id_map_remove(&k->processes, process[i]);
    }
    return hr;
}

HRESULT kernel_tasks_settle(struct kernel_tracer *k)
{
    size_t at = 0;
    uint64_t process;
    HRESULT hr = forget_lost_starts(k);
    /* The queue will be flushed next, so every process that still has a place in the queue must be written now. */
    for (struct kernel_process *p; (p = id_map_next(&k->processes, &at, &process)) != NULL;) {
        const HRESULT written = kernel_process_write(k, (uint32_t)process, p);
        hr = FAILED(hr) ? hr : written;
    }
    return hr;
}

static void put_thread(struct kernel_tracer *k, uint32_t process, uint32_t thread, const char *name)
{
    struct kernel_data *d = &k->data;
    const uint32_t processors = k->processors;
    enum { PRIORITY = 8, PAGE_PRIORITY = 5, IO_PRIORITY = 2 };
    kernel_data_clear(d);
    kernel_data_u32(d, kernel_process_id(k, process));
    kernel_data_u32(d, kernel_thread_id(k, thread));
    for (int stack = 0; stack < 4; stack++)
        kernel_data_u64(d, 0); /* unknown: base and limit of the kernel stack and of the user stack */
    kernel_data_u64(d, processors < 64 ? (UINT64_C(1) << processors) - 1 : UINT64_MAX);
    kernel_data_u64(d, 0); /* start address */
    kernel_data_u64(d, 0); /* TEB */
    kernel_data_u32(d, 0); /* sub process tag */
    kernel_data_u8(d, PRIORITY);
    kernel_data_u8(d, PAGE_PRIORITY);
    kernel_data_u8(d, IO_PRIORITY);
    kernel_data_u8(d, 0);
    kernel_data_text(d, name, THREAD_NAME_UNITS);
}

/* ---- tracepoints ---- */

HRESULT kernel_thread_begins(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                             uint32_t thread)
{
    struct kernel_process *p = id_map_find(&k->processes, process);
    struct kernel_thread *t = id_map_put(&k->threads, thread);
    if (!t)
        return E_OUTOFMEMORY;
    if (p && t->process != process) /* if they are equal, the rundown has already counted the thread */
        p->threads++;
    *t = (struct kernel_thread){.process = process};
    if (!kernel_wants(k, FLAG_THREAD))
        return S_OK;
    put_thread(k, process, thread, "");
    return kernel_emit_of(k, e, HOOK_THREAD_START, THREAD_VERSION, process, e->thread);
}

/* Returns whether other events of the process arrived before its start event e, because the processor of e was
   paused. */
static bool is_late(const struct kernel_process *p, const struct tracepoint_event *e)
{
    return p->first_seen != 0 && p->first_seen >= e->time;
}

static void process_keep_early_facts(struct kernel_process *p, const struct kernel_process *early)
{
    p->has_code = early->has_code;
    p->exit_code = early->exit_code;
    if (!early->has_program)
        return;
    p->has_program = true;
    p->is_wine = early->is_wine;
    kernel_process_name(p, early->name, strlen(early->name));
}

HRESULT kernel_process_begins(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                              uint32_t parent)
{
    struct kernel_process *p = id_map_put(&k->processes, process);
    if (!p)
        return E_OUTOFMEMORY;
    const struct kernel_process before = *p;
    *p = (struct kernel_process){
        .parent = parent, .threads = before.threads, .is_kernel = kernel_is_kthreadd(k, parent)};
    const struct kernel_process *from = id_map_find(&k->processes, parent);
    if (from) { /* a forked process is treated like its parent until it executes a program */
        kernel_process_name(p, from->name, strlen(from->name));
        p->is_wine = from->is_wine || kernel_windows_process(k, parent) != 0;
    }
    if (is_late(&before, e))
        process_keep_early_facts(p, &before);
    const HRESULT due = p->is_kernel ? S_OK : images_due(k, process);
    if (FAILED(due) || !kernel_wants(k, FLAG_PROCESS) || p->is_kernel)
        return due;
    const struct kernel_event event = {
        .time = e->time,
        .hook = HOOK_PROCESS_START,
        .processor = (uint16_t)e->processor,
        .version = PROCESS_VERSION,
        .is_system = true,
        .process = kernel_process_id(k, parent),
        .thread = kernel_thread_id(k, e->thread),
    };
    stack_expect(k, e, HOOK_PROCESS_START);
    const HRESULT hr = kernel_queue_keep_place(&k->queue, &event, &p->entry);
    p->is_waiting = SUCCEEDED(hr);
    return hr;
}

/* Reports a process or thread that exited before its start was reported. */
static HRESULT finish_late_start(struct kernel_tracer *k, const struct tracepoint_event *end, uint32_t process)
{
    struct kernel_process *p = id_map_find(&k->processes, process);
    id_map_remove(&k->threads, end->thread);
    if (!p)
        return S_OK;
    if (process == end->thread)
        return kernel_process_ends(k, end, process, p);
    p->threads -= p->threads != 0;
    return S_OK;
}

static HRESULT take_new(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const uint32_t id = (uint32_t)tracepoint_number(e, NEW_ID), caller = kernel_process_of(k, e->thread);
    const uint64_t flags = (uint64_t)tracepoint_number(e, NEW_FLAGS);
    const bool is_thread = (flags & CLONE_SAME_PROCESS) != 0;
    const struct kernel_process *from = id_map_find(&k->processes, caller), *known = id_map_find(&k->processes, id);
    const uint32_t parent = (flags & CLONE_SAME_PARENT) != 0 && from ? from->parent : caller;
    const bool late = known && is_late(known, e);
    const struct tracepoint_event end = {
        .time = late ? known->ended : 0, .processor = late ? known->ended_on : 0, .thread = id};
    HRESULT hr = S_OK;
    if (!is_thread)
        hr = kernel_process_begins(k, e, id, parent);
    else if (late)
        id_map_remove(&k->processes, id); /* early events made it look like a process, but it is a thread */
    if (SUCCEEDED(hr))
        hr = kernel_thread_begins(k, e, is_thread ? caller : id, id);
    return SUCCEEDED(hr) && end.time != 0 ? finish_late_start(k, &end, is_thread ? caller : id) : hr;
}

/* Finds or adds a process. A process that was unknown is reported later, when its start event arrives. *out is NULL for
   the idle process. */
static HRESULT process_find_or_add(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                                   struct kernel_process **out)
{
    const bool known = id_map_find(&k->processes, process) != NULL;
    *out = id_map_put(&k->processes, process);
    if (*out && !known)
        (*out)->first_seen = e->time;
    return *out || process == 0 ? S_OK : E_OUTOFMEMORY;
}

static HRESULT take_exec(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    struct kernel_process *p;
    const HRESULT hr = process_find_or_add(k, e, kernel_process_of(k, e->thread), &p);
    if (!p)
        return hr;
    ring_text(e->event, &e->fields[EXEC_FILE], p->name, sizeof p->name);
    p->has_program = true;
    p->has_code = false; /* exec has killed the other threads; their exit code is not that of the process */
    p->exit_code = 0;
    p->is_wine = strncmp(base_name(p->name), "wine", 4) == 0;
    process_details_forget(k, kernel_process_of(k, e->thread));
    if (!p->is_waiting && kernel_wants(k, FLAG_PROCESS))
        process_details_read(k, kernel_process_of(k, e->thread));
    return images_due(k, kernel_process_of(k, e->thread));
}

/* Handles a new name. wine64 names its main thread after the program that it runs. Linux reports only 15 bytes of the
   name. */
static HRESULT take_rename(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const uint32_t thread = (uint32_t)tracepoint_number(e, RENAME_ID);
    struct kernel_process *p = id_map_find(&k->processes, thread);
    char name[32];
    ring_text(e->event, &e->fields[RENAME_NAME], name, sizeof name);
    if (p && strncmp(base_name(p->name), "wine", 4) == 0 && strncmp(name, "wine", 4) != 0)
        kernel_process_name(p, name, strlen(name));
    return p ? images_due(k, thread) : S_OK;
}

static HRESULT take_leave(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    struct kernel_process *p;
    const HRESULT hr = process_find_or_add(k, e, kernel_process_of(k, e->thread), &p);
    if (p) {
        p->exit_code = (uint32_t)tracepoint_number(e, LEAVE_CODE);
        p->has_code = true;
    }
    return hr;
}

/* Returns whether the signal terminates a process that has no handler for it. Other signals stop or continue the
   process, or are ignored. */
static bool is_fatal_signal(uint32_t signal)
{
    enum { CHILD = 17, CONTINUE, STOP, TERMINAL_STOP, TERMINAL_READ, TERMINAL_WRITE, URGENT, WINDOW = 28 };
    return (signal < CHILD || signal > URGENT) && signal != WINDOW;
}

/* Handles a signal. When a process exits, its other threads are killed with a signal, which is not the reason for the
   exit. */
static HRESULT take_signal(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    enum { SEGMENTATION = 11, SHELL_BASE = 128 };
    const uint32_t number = (uint32_t)tracepoint_number(e, SIGNAL_NUMBER);
    struct kernel_process *p;
    if (tracepoint_number(e, SIGNAL_HANDLER) != 0 || !is_fatal_signal(number))
        return S_OK;
    const HRESULT hr = process_find_or_add(k, e, kernel_process_of(k, e->thread), &p);
    if (p && !p->has_code) {
        p->exit_code = number == SEGMENTATION ? 0xC0000005u : SHELL_BASE + number;
        p->has_code = true;
    }
    return hr;
}

/* Returns whether a fork creates Wine's intermediate process. Wine forks twice: the intermediate process only creates a
   second process, which counts as the caller's child. */
static bool is_intermediate_fork(const struct kernel_process *p)
{
    return p->is_waiting && p->is_wine && !p->has_program;
}

static void reparent_children(struct kernel_tracer *k, uint32_t process, uint32_t parent)
{
    size_t at = 0;
    for (struct kernel_process *p; (p = id_map_next(&k->processes, &at, NULL)) != NULL;)
        if (p->parent == process)
            p->parent = parent;
}

HRESULT kernel_process_ends(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                            struct kernel_process *p)
{
    if (is_intermediate_fork(p)) {
        reparent_children(k, process, p->parent);
        id_map_remove(&k->images, process); /* no unload events: no images were read yet */
        process_details_forget(k, process);
        id_map_remove(&k->processes, process);
        return S_OK;
    }
    HRESULT hr = kernel_process_write(k, process, p);
    if (SUCCEEDED(hr))
        hr = images_end(k, e, process);
    if (SUCCEEDED(hr) && kernel_wants(k, FLAG_PROCESS) && !p->is_kernel) {
        put_process(k, process, p, p->exit_code, true);
        hr = kernel_emit_of(k, e, HOOK_PROCESS_END, PROCESS_VERSION, process, e->thread);
    }
    if (SUCCEEDED(hr))
        hr = counters_emit(k, e, process, p, HOOK_PROCESS_COUNTERS);
    process_details_forget(k, process);
    id_map_remove(&k->processes, process);
    return hr;
}

HRESULT kernel_thread_ends(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t thread)
{
    const uint32_t process = kernel_process_of(k, thread);
    struct kernel_process *p = id_map_find(&k->processes, process);
    HRESULT hr = S_OK;
    if (kernel_wants(k, FLAG_THREAD)) {
        put_thread(k, process, thread, "");
        hr = kernel_emit_of(k, e, HOOK_THREAD_END, THREAD_VERSION, process, thread);
    }
    id_map_remove(&k->threads, thread);
    stack_forget(k, thread);
    if (p)
        p->threads -= p->threads != 0;
    return hr;
}

/* Notes the exit of a process or thread whose start event has not arrived yet. */
static HRESULT note_early_exit(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process)
{
    struct kernel_process *p;
    const HRESULT hr = process_find_or_add(k, e, process, &p);
    if (p) {
        p->ended = e->time;
        p->ended_on = e->processor;
    }
    return hr;
}

static HRESULT take_exit(struct kernel_tracer *k, const struct tracepoint_event *e)
{
    const uint32_t thread = (uint32_t)tracepoint_number(e, EXIT_ID), process = kernel_process_of(k, thread);
    HRESULT hr = fault_settle(k, e, thread);
    if (SUCCEEDED(hr))
        hr = kernel_thread_ends(k, e, thread);
    if (FAILED(hr))
        return hr;
    struct kernel_process *p = id_map_find(&k->processes, process);
    const bool has_begun = p && p->first_seen == 0;
    /* Kernels before 6.13 do not report whether this was the last thread. */
    const bool last = e->fields[EXIT_LAST].size != 0 ? tracepoint_number(e, EXIT_LAST) != 0
                      : has_begun                    ? p->threads == 0
                                                     : thread == process;
    if (!last)
        return S_OK;
    return has_begun ? kernel_process_ends(k, e, process, p) : note_early_exit(k, e, process);
}

const struct tracepoint task_tracepoints[] = {
    {"task",
     "task_newtask",
     NULL,
     KERNEL_ALWAYS,
     FLAG_PROCESS | FLAG_THREAD | FLAG_PROCESS_COUNTERS | FLAG_IMAGE_LOAD,
     take_new,
     {[NEW_ID] = "pid", [NEW_FLAGS] = "clone_flags"}},
    {"sched", "sched_process_exit", NULL, KERNEL_ALWAYS, 0, take_exit, {[EXIT_ID] = "pid", [EXIT_LAST] = "group_dead"}},
    {"sched", "sched_process_exec", NULL, FLAG_PROCESS | FLAG_IMAGE_LOAD, 0, take_exec, {[EXEC_FILE] = "filename"}},
    {"task",
     "task_rename",
     NULL,
     FLAG_PROCESS | FLAG_IMAGE_LOAD,
     0,
     take_rename,
     {[RENAME_ID] = "pid", [RENAME_NAME] = "newcomm"}},
    {"syscalls", "sys_enter_exit_group", NULL, FLAG_PROCESS, 0, take_leave, {[LEAVE_CODE] = "error_code"}},
    {"signal",
     "signal_deliver",
     "sa_handler == 0",
     FLAG_PROCESS,
     0,
     take_signal,
     {[SIGNAL_NUMBER] = "sig", [SIGNAL_HANDLER] = "sa_handler"}},
    {0},
};

/* ---- rundown ---- */

struct rundown {
    struct kernel_tracer *k;
    struct tracepoint_event at;
    uint32_t process;
    bool end;
    HRESULT hr;
};

static HRESULT rundown_thread(struct rundown *r, uint32_t thread, const char *name)
{
    struct kernel_thread *t = id_map_put(&r->k->threads, thread);
    struct kernel_process *p = id_map_find(&r->k->processes, r->process);
    if (!t || !p)
        return E_OUTOFMEMORY;
    p->threads += t->process == 0;
    t->process = r->process;
    if (!kernel_wants(r->k, FLAG_THREAD))
        return S_OK;
    put_thread(r->k, r->process, thread, name);
    return kernel_emit(r->k, &r->at, r->end ? HOOK_THREAD_RUNDOWN_END : HOOK_THREAD_RUNDOWN_START, THREAD_VERSION);
}

HRESULT kernel_thread_add_existing(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                                   uint32_t thread)
{
    struct rundown r = {.k = k, .at = *e, .process = process};
    return rundown_thread(&r, thread, "");
}

HRESULT kernel_process_add_existing(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                                    struct kernel_process *p, bool end)
{
    HRESULT hr = S_OK;
    counters_read(k, process, p);
    if (end)
        hr = counters_emit(k, e, process, p, HOOK_PROCESS_COUNTERS_RUNDOWN);
    if (FAILED(hr) || !kernel_wants(k, FLAG_PROCESS) || p->is_kernel)
        return hr;
    put_process(k, process, p, STILL_ACTIVE, false);
    return kernel_emit(k, e, end ? HOOK_PROCESS_RUNDOWN_END : HOOK_PROCESS_RUNDOWN_START, PROCESS_VERSION);
}

/* Adds a process to the rundown. Skips a process that exits during the rundown. */
static HRESULT rundown_process(struct rundown *r)
{
    struct kernel_task_stat stat;
    uint32_t *threads = NULL;
    size_t count = 0;
    if (kernel_process_stat(r->k, r->process, &stat) != S_OK)
        return S_FALSE;
    struct kernel_process *p = id_map_put(&r->k->processes, r->process);
    if (!p)
        return E_OUTOFMEMORY;
    p->parent = stat.parent;
    p->start = stat.start;
    p->is_kernel = kernel_is_kthreadd(r->k, r->process) || kernel_is_kthreadd(r->k, stat.parent);
    if (p->name[0] == 0)
        kernel_process_name(p, stat.name, strlen(stat.name));
    HRESULT hr = kernel_process_add_existing(r->k, &r->at, r->process, p, r->end);
    if (SUCCEEDED(hr) && SUCCEEDED(kernel_process_threads(r->k, r->process, &threads, &count)))
        for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
            hr = rundown_thread(r, threads[i], threads[i] == r->process ? stat.name : "");
    if (SUCCEEDED(hr) && !p->is_kernel)
        hr = images_rundown(r->k, &r->at, r->process, r->end);
    memory_free(threads);
    return hr;
}

/* Adds the processes that Windows always has: the idle process, and the owner of the kernel's threads. */
static HRESULT rundown_builtin_processes(struct rundown *r)
{
    const struct {
        uint32_t id;
        const char *name;
    } own[] = {{0, "Idle"}, {r->k->in_container ? KERNEL_SYSTEM : KTHREADD, "System"}};
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && kernel_wants(r->k, FLAG_PROCESS) && i < sizeof own / sizeof own[0]; i++) {
        struct kernel_process p = {.is_kernel = true};
        kernel_process_name(&p, own[i].name, strlen(own[i].name));
        put_process(r->k, own[i].id, &p, own[i].id == 0 ? 0 : STILL_ACTIVE, true);
        hr = kernel_emit(r->k, &r->at, r->end ? HOOK_PROCESS_RUNDOWN_END : HOOK_PROCESS_RUNDOWN_START, PROCESS_VERSION);
    }
    return hr;
}

HRESULT kernel_tasks_rundown(struct kernel_tracer *k, bool end, const struct kernel_sink *sink)
{
    struct rundown r = {.k = k, .end = end};
    uint32_t *ids = end ? NULL : k->there;
    size_t count = k->there_count;
    if (ids)
        k->there = NULL;
    HRESULT hr = ids ? S_OK : kernel_folder_numbers(kernel_proc(k), &ids, &count);
    if (FAILED(hr))
        return hr;
    kernel_learn_windows(k);
    r.at.time = end ? (uint64_t)clock_ticks() : k->began;
    hr = profile_interval(k, &r.at, end);
    if (SUCCEEDED(hr) && k->reports_configuration)
        hr = configuration_rundown(k, &r.at);
    if (SUCCEEDED(hr))
        hr = rundown_builtin_processes(&r);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        r.process = ids[i];
        hr = rundown_process(&r);
    }
    memory_free(ids);
    const HRESULT flushed = kernel_queue_flush(&k->queue, sink);
    return FAILED(hr) ? hr : flushed;
}

/* SPDX-License-Identifier: MIT */
/* Reading /proc/<id>/stat, status, io, fd and task. */
#include "engine/pdh/objects/process_files.h"

#include "engine/base/memory.h"

#include <stdio.h>
#include <string.h>

#define TICK 100000 /* 10 ms in 100 ns */

/* Reads through the kept handle, or opens the file and keeps it if there is room. With `again`, a kept handle that
   reads nothing is tried anew, for another process of that id. A file that is not kept is closed at once, so its text
   is copied to *copy. */
static HRESULT read_file(const char *root, uint32_t id, const char *name, struct kernel_file **file,
                         struct process_kept *kept, bool again, const char **text, size_t *size, char **copy)
{
    char path[512];
    HRESULT hr = E_FAIL;
    *copy = NULL;
    if (*file) {
        hr = kernel_file_read_piece(*file, text, size);
        if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY)
            return hr;
        kernel_file_close(*file);
        *file = NULL;
        kept->count--;
        if (!again)
            return hr;
    }
    snprintf(path, sizeof path, "%s/proc/%u/%s", root, (unsigned)id, name);
    hr = kernel_file_open(path, file);
    if (FAILED(hr))
        return hr;
    hr = kernel_file_read_piece(*file, text, size);
    if (SUCCEEDED(hr) && kept->count < kept->most) {
        kept->count++;
        return hr;
    }
    if (SUCCEEDED(hr)) {
        *copy = memory_copy(*text, *size + 1);
        *text = *copy;
        hr = *copy ? hr : E_OUTOFMEMORY;
    }
    kernel_file_close(*file);
    *file = NULL;
    return hr;
}

HRESULT process_files_stat(struct process_files *f, const char *root, struct process_kept *kept,
                           struct process_stat *out)
{
    const char *text;
    size_t size;
    char *copy;
    HRESULT hr = read_file(root, f->id, "stat", &f->stat, kept, true, &text, &size, &copy);
    if (FAILED(hr))
        return hr;
    if (!process_stat_parse(text, size, out)) {
        memory_free(copy);
        return error_set(E_FAIL, "/proc/%u/stat: not as the kernel writes it", (unsigned)f->id);
    }
    if (copy) {
        /* The name outlives the text in a place of its own. */
        static _Thread_local char name[64];
        out->name_length = out->name_length < sizeof name ? out->name_length : sizeof name;
        memcpy(name, out->name, out->name_length);
        out->name = name;
        memory_free(copy);
    }
    return S_OK;
}

void process_entry_clear(struct process_entry *e)
{
    e->virtual_peak = e->working_set_peak = e->working_set_private = e->private_bytes = PROCESS_ABSENT;
    e->page_faults = e->base_priority = e->handles = PROCESS_ABSENT;
    e->reads = e->writes = e->read_bytes = e->written_bytes = PROCESS_ABSENT;
    e->first_thread = NULL;
    e->listed_threads = 0;
}

static HRESULT add_status(struct process_files *f, const char *root, struct process_kept *kept, struct process_entry *e)
{
    const char *text;
    size_t size;
    char *copy;
    struct process_status status;
    HRESULT hr = read_file(root, f->id, "status", &f->status, kept, false, &text, &size, &copy);
    if (FAILED(hr))
        return hr;
    process_status_parse(text, size, &status);
    memory_free(copy);
    e->virtual_peak = status.virtual_peak;
    e->working_set_peak = status.resident_peak;
    e->working_set_private = status.resident_private;
    e->private_bytes = status.resident_private == INT64_MIN
                           ? PROCESS_ABSENT
                           : status.resident_private + (status.swapped == INT64_MIN ? 0 : status.swapped);
    return S_OK;
}

static HRESULT add_io(struct process_files *f, const char *root, struct process_kept *kept, struct process_entry *e)
{
    const char *text;
    size_t size;
    char *copy;
    struct process_io io;
    HRESULT hr = read_file(root, f->id, "io", &f->io, kept, false, &text, &size, &copy);
    if (FAILED(hr))
        return hr;
    process_io_parse(text, size, &io);
    memory_free(copy);
    e->reads = io.reads;
    e->writes = io.writes;
    e->read_bytes = io.read_bytes;
    e->written_bytes = io.written_bytes;
    return S_OK;
}

static HRESULT add_handles(const struct process_files *f, const char *root, struct process_entry *e)
{
    char path[512];
    uint32_t *numbers;
    size_t count;
    snprintf(path, sizeof path, "%s/proc/%u/fd", root, (unsigned)f->id);
    HRESULT hr = kernel_folder_numbers(path, &numbers, &count);
    if (SUCCEEDED(hr)) {
        memory_free(numbers);
        e->handles = (int64_t)count;
    }
    return hr;
}

HRESULT process_files_figures(struct process_files *f, const char *root, struct process_kept *kept, uint32_t figures,
                              struct process_entry *e)
{
    HRESULT hr = figures & PROCESS_MEMORY ? add_status(f, root, kept, e) : S_OK;
    if (hr != E_OUTOFMEMORY && (figures & PROCESS_IO))
        hr = add_io(f, root, kept, e);
    if (hr != E_OUTOFMEMORY && (figures & PROCESS_HANDLES))
        hr = add_handles(f, root, e);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* By the kernel's letters (proc(5)). It does not tell those that run from those that are ready to. */
static int64_t state_of(char letter)
{
    return letter == 'R' ? THREAD_RUNNING : letter && strchr("ZXx", letter) ? THREAD_ENDED : THREAD_WAITING;
}

static int64_t wait_of(char letter)
{
    return letter == 'S'                        ? WAIT_USER_REQUEST
           : letter == 'T' || letter == 't'     ? WAIT_SUSPENDED
           : state_of(letter) == THREAD_WAITING ? WAIT_EXECUTIVE
                                                : PROCESS_ABSENT;
}

static HRESULT read_thread(uint32_t id, uint32_t thread, const char *root, int64_t boot, struct thread_entry *out)
{
    char name[64];
    struct process_kept kept = {0, 0}; /* none is */
    struct kernel_file *file = NULL;
    const char *text;
    size_t size;
    char *copy;
    struct process_stat stat;
    struct process_status status;
    snprintf(name, sizeof name, "task/%u/stat", (unsigned)thread);
    HRESULT hr = read_file(root, id, name, &file, &kept, false, &text, &size, &copy);
    if (FAILED(hr))
        return hr;
    bool ok = process_stat_parse(text, size, &stat);
    memory_free(copy);
    if (!ok)
        return E_FAIL;
    *out = (struct thread_entry){.id = thread,
                                 .start = boot + (int64_t)(stat.start_ticks * TICK),
                                 .user_time = (int64_t)(stat.user_ticks * TICK),
                                 .kernel_time = (int64_t)(stat.kernel_ticks * TICK),
                                 .context_switches = PROCESS_ABSENT,
                                 .base_priority = PROCESS_ABSENT,
                                 .priority = PROCESS_ABSENT,
                                 .state = state_of(stat.state),
                                 .wait_reason = wait_of(stat.state)};
    snprintf(name, sizeof name, "task/%u/status", (unsigned)thread);
    hr = read_file(root, id, name, &file, &kept, false, &text, &size, &copy);
    if (SUCCEEDED(hr)) {
        process_status_parse(text, size, &status);
        memory_free(copy);
        out->context_switches = status.switches;
    }
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

HRESULT process_files_threads(uint32_t id, const char *root, int64_t boot, struct thread_entry **threads,
                              size_t *capacity, size_t *count)
{
    char path[512];
    uint32_t *ids;
    size_t n;
    snprintf(path, sizeof path, "%s/proc/%u/task", root, (unsigned)id);
    HRESULT hr = kernel_folder_numbers(path, &ids, &n);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    hr = memory_grow((void **)threads, capacity, *count + n, sizeof **threads) ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; i < n && hr != E_OUTOFMEMORY; i++) {
        hr = read_thread(id, ids[i], root, boot, &(*threads)[*count]);
        *count += SUCCEEDED(hr);
    }
    memory_free(ids);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

void process_files_close(struct process_files *f, struct process_kept *kept)
{
    struct kernel_file **files[] = {&f->stat, &f->status, &f->io};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        kept->count -= *files[i] != NULL;
        kernel_file_close(*files[i]);
        *files[i] = NULL;
    }
}

/* SPDX-License-Identifier: MIT */
/* Lists the processes of the host OS from /proc. This file also chooses between this list and the list of Wine's
   processes. */
#include "engine/pdh/objects/process_list.h"

#include "engine/base/clock.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK 100000 /* 10 ms in units of 100 ns */

/* Reads a file through its open handle, or opens the file and keeps the handle if the limit permits. If `again` is set
   and the open handle reads nothing, the file is opened again, because another process may now have this id. If the
   handle is not kept, the text is copied to *copy before the file is closed. */
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
        return error_set(E_FAIL, "cannot parse '/proc/%u/stat': unexpected format", (unsigned)f->id);
    }
    if (copy) {
        /* The name must remain valid after the text is freed. */
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

/* Converts the kernel's letter for a state (proc(5)). The letters do not distinguish running threads from threads that
   are ready to run. */
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
    struct process_kept kept = {0, 0}; /* keep no handles */
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

/* Appends the threads to a growing array and stores their number in *count; a process that has exited has none. `boot`
   is the origin of start times. Fails with E_OUTOFMEMORY. */
static HRESULT process_files_threads(uint32_t id, const char *root, int64_t boot, struct thread_entry **threads,
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
    struct kernel_file **files[] = {&f->stat, &f->status, &f->io, &f->run_time, &f->size};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        kept->count -= *files[i] != NULL;
        kernel_file_close(*files[i]);
        *files[i] = NULL;
    }
}

struct kernel_load process_changes_read(const char *root, struct kernel_file **load)
{
    static const struct kernel_load none = {0, 0};
    char path[512];
    const char *text;
    size_t size;
    struct kernel_load now;
    if (!*load) {
        snprintf(path, sizeof path, "%s/proc/loadavg", root);
        if (FAILED(kernel_file_open(path, load))) {
            *load = NULL;
            return none;
        }
    }
    if (FAILED(kernel_file_read_piece(*load, &text, &size))) {
        kernel_file_close(*load);
        *load = NULL;
        return none;
    }
    (void)kernel_load_parse(text, size, &now);
    return now;
}

/* ---- the list ---- */

/* Most processes, in particular the kernel's threads, do not run between two samples. schedstat shows whether a
   process's first thread has run since the last reading, and reading it takes a tenth of the time that stat, status and
   io take. If a process has only one thread and this thread has not run, the values of the process are taken from the
   last reading, because only the process itself changes these values. For programs, but not for the kernel's threads,
   two more conditions must hold before values are reused:
   - The sizes in statm must be the same as before the last reading, because the kernel can take memory from a program
     that does not run, and other programs can increase its memory.
   - The parent must still run, because a process whose parent exits gets another parent. A zombie counts as exited, and
     a process with the parent's id but another start time is not the parent.
   schedstat is read before the other files. If the process runs between the reading of schedstat and of the other
   files, the next sample reads the other files again. */

/* Under Wine, listing /proc is by far the most expensive call of a reading. The kernel reports the last id that it
   assigned and assigns ids in ascending order. Therefore a reading usually lists only ids above `certain`, and only if
   a process may have started. The files of a process show that it has exited. */

#define TICK       100000 /* 10 ms in units of 100 ns */
#define PAGE       4096
/* The whole folder is listed at least once in this number of readings, in case /proc belongs to another PID namespace.
   The last id is then unrelated to the ids in the folder. */
#define LIST_EVERY 32

struct followed {
    struct process_files files;
    char *name;
    size_t name_length;
    struct process_entry entry;       /* values from the last complete reading of its files */
    uint32_t figures;                 /* the groups that are valid in `entry` */
    struct process_run_time run_time; /* read just before the last complete reading */
    uint64_t pages, resident; /* from statm, read just before the last complete reading; valid if `has_size` is set */
    bool has_size;
    bool is_idle;         /* during the last complete reading, it had only one thread, which did not run */
    bool is_kernel;       /* a thread of the kernel */
    bool is_zombie;       /* it has exited; its parent has not yet waited for it */
    int64_t parent_start; /* start time of the parent; 0: the parent did not run during the last complete reading */
    unsigned readings;    /* number of readings so far, counted up to READINGS_FIRST */
    bool uncounted;       /* the kernel does not count its run time */
};

struct host_list {
    struct followed *followed; /* sorted by id, in the same order as `entries` */
    size_t count;
    struct process_entry *entries;
    size_t entry_capacity;
    struct thread_entry *threads; /* the threads of all processes */
    size_t thread_count, thread_capacity;
    struct process_kept kept;
    int64_t boot;             /* origin of the start times; never read again, so that the start time of a process never
                                 changes */
    uint32_t figures;         /* the groups requested in this reading */
    struct kernel_file *load; /* /proc/loadavg */
    struct kernel_load changes; /* content of `load`, read before the last reading of the list */
    uint64_t certain;           /* all processes with ids up to this one were found; 0: list the whole folder */
    unsigned unlisted;          /* readings since the whole folder was last listed */
    uint32_t *failed;           /* ids that could not be read; they are tried once more */
    size_t failed_count, failed_capacity;
    char root[];
};

static HRESULT open_list(const char *root, void **out)
{
    size_t length = strlen(root);
    struct host_list *list = memory_zero(1, sizeof *list + length + 1);
    *out = list;
    if (!list)
        return E_OUTOFMEMORY;
    memcpy(list->root, root, length + 1);
    list->boot = clock_boot_utc();
    list->kept.most = kernel_file_share();
    return S_OK;
}

static void forget(struct host_list *list, struct followed *f)
{
    process_files_close(&f->files, &list->kept);
    memory_free(f->name);
}

static void close_list(void *user)
{
    struct host_list *list = user;
    for (size_t i = 0; i < list->count; i++)
        forget(list, &list->followed[i]);
    kernel_file_close(list->load);
    memory_free(list->followed);
    memory_free(list->entries);
    memory_free(list->threads);
    memory_free(list->failed);
    memory_free(list);
}

static void process_entry_fill(const struct host_list *list, const struct followed *f, const struct process_stat *stat,
                               struct process_entry *e)
{
    *e = (struct process_entry){
        .name = f->name,
        .id = f->files.id,
        .parent = stat->parent,
        .threads = stat->threads,
        .start = list->boot + (int64_t)(stat->start_ticks * TICK),
        .user_time = (int64_t)(stat->user_ticks * TICK),
        .kernel_time = (int64_t)(stat->kernel_ticks * TICK),
        .working_set = (int64_t)(stat->resident_pages * PAGE),
        .virtual_size = (int64_t)stat->virtual_bytes,
    };
    process_entry_clear(e);
    e->page_faults = (int64_t)stat->faults;
}

/* Returns the length of the part of a kernel thread's name that does not change. In "kworker/0:1-events", the text
   after '-' or '+' is the worker's current task. The names of rescuer threads, "kworker/R-name", never change. */
static size_t lasting_name(const char *name, size_t length)
{
    if (length > 9 && !memcmp(name, "kworker/", 8) && name[8] != 'R') {
        for (size_t i = 8; i < length; i++)
            if (name[i] == '-' || name[i] == '+')
                return i;
    }
    return length;
}

/* Copies the process's name if it has changed. */
static HRESULT take_name(struct followed *f, const struct process_stat *stat)
{
    size_t length = lasting_name(stat->name, stat->name_length);
    if (f->name && f->name_length == length && !memcmp(f->name, stat->name, length))
        return S_OK;
    char *name = text_copy_n(stat->name, length);
    if (!name)
        return E_OUTOFMEMORY;
    /* a program's name can consist of any bytes */
    for (char *c = name; !text_is_utf8(name, length) && *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    memory_free(f->name);
    f->name = name;
    f->name_length = length;
    return S_OK;
}

/* The run time of a process shows whether its other files must be read again. Reading the run time is worthwhile only
   if the handles of all files of the process can stay open. Otherwise each reading would open two more files, which
   would cost more than it saves. For a process that exits soon, even opening schedstat and statm once costs more than
   it saves. Therefore the run time of a process is not read before its reading number READINGS_FIRST. */
#define HANDLES_EACH   5
#define READINGS_FIRST 3

static bool read_run_time(struct host_list *list, struct followed *f, struct process_run_time *out)
{
    const char *text;
    size_t size;
    char *copy;
    if (f->readings < READINGS_FIRST)
        f->readings++;
    if (f->uncounted || f->readings < READINGS_FIRST ||
        (!f->files.run_time && list->kept.count + HANDLES_EACH > list->kept.most))
        return false;
    const HRESULT hr =
        read_file(list->root, f->files.id, "schedstat", &f->files.run_time, &list->kept, false, &text, &size, &copy);
    const bool counted = SUCCEEDED(hr) && process_run_time_parse(text, size, out);
    f->uncounted = !counted && hr != E_OUTOFMEMORY;
    memory_free(SUCCEEDED(hr) ? copy : NULL);
    return counted;
}

/* Returns true if the sizes of the process are the same as before the last reading of its other files. The sizes in
   statm are compared with the earlier content of statm, not with the other files, because newer kernels do not count
   the sizes exactly and the files differ slightly. */
static bool sizes_are_unchanged(struct host_list *list, struct followed *f)
{
    const char *text;
    size_t size;
    char *copy;
    uint64_t pages, resident;
    if (FAILED(read_file(list->root, f->files.id, "statm", &f->files.size, &list->kept, false, &text, &size, &copy)))
        return false;
    const char *p = kernel_number(text, text + size, &pages);
    const bool has = p && kernel_number(p, text + size, &resident);
    const bool unchanged = has && f->has_size && pages == f->pages && resident == f->resident;
    f->has_size = has;
    f->pages = has ? pages : 0;
    f->resident = has ? resident : 0;
    memory_free(copy);
    return unchanged;
}

/* The ids of a reading, in ascending order. The first `entry_count` entries of the list are the existing processes
   among the ids that were read so far. */
struct reading {
    const uint32_t *ids;
    size_t count;
    struct followed *next; /* the processes that exist, in the order of the entries */
    size_t entry_count;
};

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int entry_by_id(const void *id, const void *entry)
{
    return by_id(id, &((const struct process_entry *)entry)->id);
}

/* Returns the start time of the running process with this id; 0: this reading has not read such a process. Parents
   almost always have smaller ids and are read first. */
static int64_t running_since(const struct host_list *list, const struct reading *r, uint32_t id)
{
    const struct process_entry *e = bsearch(&id, list->entries, r->entry_count, sizeof *list->entries, entry_by_id);
    return e && !r->next[e - list->entries].is_zombie ? e->start : 0;
}

/* Returns true if the values of the last reading are still valid. */
static bool is_unchanged(struct host_list *list, struct followed *f, const struct process_run_time *now,
                         const struct reading *r)
{
    if (!f->is_idle || now->ran != f->run_time.ran || now->times != f->run_time.times) {
        f->has_size = false;
        return false;
    }
    if (list->figures & (~f->figures | PROCESS_THREADS))
        return false;
    const uint32_t parent = f->entry.parent;
    const bool has_parent = !parent || (f->parent_start && f->parent_start == running_since(list, r, parent));
    return f->is_kernel || (has_parent && sizes_are_unchanged(list, f));
}

static HRESULT read_process(struct host_list *list, struct followed *f, const struct reading *r,
                            struct process_entry *e)
{
    struct process_stat stat;
    struct process_run_time now;
    const bool counted = read_run_time(list, f, &now);
    if (counted && is_unchanged(list, f, &now, r)) {
        *e = f->entry;
        return S_OK;
    }
    f->is_idle = false;
    HRESULT hr = process_files_stat(&f->files, list->root, &list->kept, &stat);
    if (SUCCEEDED(hr))
        hr = take_name(f, &stat);
    if (FAILED(hr))
        return hr;
    process_entry_fill(list, f, &stat, e);
    hr = process_files_figures(&f->files, list->root, &list->kept, list->figures, e);
    size_t before = list->thread_count;
    if (SUCCEEDED(hr) && (list->figures & PROCESS_THREADS)) {
        hr = process_files_threads(f->files.id, list->root, list->boot, &list->threads, &list->thread_capacity,
                                   &list->thread_count);
        e->listed_threads = (uint32_t)(list->thread_count - before);
    }
    if (SUCCEEDED(hr)) {
        f->entry = *e;
        f->figures = list->figures;
        f->is_kernel = (stat.flags & PROCESS_OF_KERNEL) != 0;
        f->is_idle = counted && stat.threads == 1 && stat.state != 'R';
        f->is_zombie = state_of(stat.state) == THREAD_ENDED;
        f->parent_start = running_since(list, r, e->parent);
        f->run_time = counted ? now : (struct process_run_time){0};
    }
    return hr;
}

/* Walks the old list and the current ids side by side. */
static HRESULT process_list_merge(struct host_list *list, struct reading *r)
{
    size_t old = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < r->count && hr != E_OUTOFMEMORY; i++) {
        const uint32_t id = r->ids[i];
        while (old < list->count && list->followed[old].files.id < id)
            forget(list, &list->followed[old++]);
        struct followed f = {.files.id = id};
        if (old < list->count && list->followed[old].files.id == id)
            f = list->followed[old++];
        hr = read_process(list, &f, r, &list->entries[r->entry_count]);
        if (SUCCEEDED(hr))
            r->next[r->entry_count++] = f;
        else
            forget(list, &f);
    }
    for (; old < list->count; old++)
        forget(list, &list->followed[old]);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Returns true if no new id can have become visible since the last reading. The kernel assigns an id before its process
   becomes visible; therefore, after a new id, the folder is listed once more. */
static bool ids_are_unchanged(const struct host_list *list, const struct kernel_load *now)
{
    return now->last_id && now->last_id == list->certain && now->last_id == list->changes.last_id &&
           list->unlisted < LIST_EVERY;
}

/* Returns true if only ids greater than list->certain can be new. */
static bool ids_have_grown(const struct host_list *list, const struct kernel_load *now)
{
    return list->certain && now->last_id >= list->certain && now->last_id <= UINT32_MAX && list->unlisted < LIST_EVERY;
}

/* Adds the ids that may still exist, and removes duplicates. */
static HRESULT add_known_ids(const struct host_list *list, uint32_t **ids, size_t *count)
{
    const size_t listed = *count;
    uint32_t *all = memory_resize(*ids, (listed + list->count + list->failed_count) * sizeof *all);
    if (!all)
        return E_OUTOFMEMORY;
    *ids = all;
    for (size_t i = 0; i < list->count; i++)
        all[(*count)++] = list->followed[i].files.id;
    if (list->failed_count)
        memcpy(all + *count, list->failed, list->failed_count * sizeof *all);
    *count += list->failed_count;
    if (*count == list->count) /* already in ascending order */
        return S_OK;
    qsort(all, *count, sizeof *all, by_id);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (kept == 0 || all[kept - 1] != all[i])
            all[kept++] = all[i];
    *count = kept;
    return S_OK;
}

/* Finds the ids to read, in ascending order: all ids of the folder, or the ids of the previous reading and the new
   ones. */
static HRESULT find_ids(struct host_list *list, const struct kernel_load *now, uint32_t **ids, size_t *count)
{
    char path[512];
    HRESULT hr = S_OK;
    snprintf(path, sizeof path, "%s/proc", list->root);
    *ids = NULL;
    *count = 0;
    if (ids_have_grown(list, now)) {
        if (!ids_are_unchanged(list, now))
            hr = kernel_folder_numbers_between(path, (uint32_t)list->certain + 1, (uint32_t)now->last_id, ids, count);
        if (SUCCEEDED(hr))
            hr = add_known_ids(list, ids, count);
        list->unlisted++;
    } else {
        hr = kernel_folder_numbers(path, ids, count);
        if (SUCCEEDED(hr) && *count)
            qsort(*ids, *count, sizeof **ids, by_id);
        list->unlisted = 0;
    }
    if (FAILED(hr)) {
        memory_free(*ids);
        list->certain = 0;
        return hr;
    }
    list->certain = list->changes.last_id <= now->last_id ? list->changes.last_id : 0;
    return S_OK;
}

/* Records the ids that could not be read, because their processes have exited or for another reason. An id that already
   had a second try is dropped. */
static void note_failed_ids(struct host_list *list, const uint32_t *ids, size_t count)
{
    const size_t before = list->failed_count;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (used < list->count && list->followed[used].files.id == ids[i]) {
            used++;
            continue;
        }
        bool again = false;
        for (size_t k = 0; k < before && !again; k++)
            again = list->failed[k] == ids[i];
        if (!again &&
            memory_grow((void **)&list->failed, &list->failed_capacity, list->failed_count + 1, sizeof *list->failed))
            list->failed[list->failed_count++] = ids[i];
    }
    list->failed_count -= before;
    if (before)
        memmove(list->failed, list->failed + before, list->failed_count * sizeof *list->failed);
}

static HRESULT read_list(void *user, uint32_t figures, const struct process_entry **entries, size_t *count)
{
    struct host_list *list = user;
    uint32_t *ids = NULL;
    size_t n = 0;
    struct kernel_load now = process_changes_read(list->root, &list->load);
    /* No process or thread has started or ended since the last reading, and no other values are requested. */
    if (!figures && ids_are_unchanged(list, &now) && now.threads == list->changes.threads && !list->failed_count) {
        list->unlisted++;
        *entries = list->entries;
        *count = list->count;
        return S_OK;
    }
    HRESULT hr = find_ids(list, &now, &ids, &n);
    if (FAILED(hr))
        return hr;
    list->changes = now;
    struct followed *next = memory_alloc(n * sizeof *next);
    if (!next || !memory_grow((void **)&list->entries, &list->entry_capacity, n ? n : 1, sizeof *list->entries)) {
        memory_free(next);
        memory_free(ids);
        list->certain = 0; /* list the whole folder next time */
        return E_OUTOFMEMORY;
    }
    list->figures = figures;
    list->thread_count = 0;
    struct reading reading = {.ids = ids, .count = n, .next = next};
    hr = process_list_merge(list, &reading);
    const size_t used = reading.entry_count;
    memory_free(list->followed);
    list->followed = next;
    list->count = used;
    note_failed_ids(list, ids, n);
    memory_free(ids);
    size_t thread = 0; /* first_thread is set now, because the array may have moved while it grew */
    for (size_t i = 0; i < used; thread += list->entries[i++].listed_threads)
        list->entries[i].first_thread = list->threads ? list->threads + thread : NULL;
    *entries = list->entries;
    *count = used;
    return hr;
}

const struct process_lister process_lister_host = {open_list, read_list, close_list};

/* ---- choosing the list of processes ---- */

struct process_list {
    const struct process_lister *lister;
    void *list;
};

static const struct process_lister *choose_process_lister(void)
{
#ifdef _WIN32
    return os_is_wine() && os_processes_wanted() ? &process_lister_host : &process_lister_windows;
#else
    return &process_lister_host;
#endif
}

HRESULT process_list_open(const char *root, struct process_list **out)
{
    struct process_list *list = memory_zero(1, sizeof *list);
    *out = NULL;
    if (!list)
        return E_OUTOFMEMORY;
    list->lister = choose_process_lister();
    HRESULT hr = list->lister->open(root, &list->list);
    if (FAILED(hr)) {
        memory_free(list);
        return hr;
    }
    *out = list;
    return S_OK;
}

HRESULT process_list_read(struct process_list *list, uint32_t figures, const struct process_entry **entries,
                          size_t *count)
{
    return list->lister->read(list->list, figures, entries, count);
}

void process_list_close(struct process_list *list)
{
    if (list) {
        list->lister->close(list->list);
        memory_free(list);
    }
}

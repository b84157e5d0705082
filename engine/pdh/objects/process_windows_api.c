/* SPDX-License-Identifier: MIT */
/* The Windows processes and, under Wine, the Linux process that runs each of them. */
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/pdh/objects/process_list.h"

#include <windows.h>
#include <winternl.h>
#include <string.h>

struct process_match;

/* Finds the Linux process of each Wine process by name and start time. Wine sets the name of the Linux process to the
   name of the .exe, but the kernel truncates it. The two start times differ by at most a second or two. Programs of
   another prefix may have the same name and start at almost the same time. The size of the address space then shows
   which Linux process is the right one, because Wine reports this size exactly. */

#define SECOND      10000000
#define KERNEL_NAME 15 /* maximum length of a name in the kernel, in bytes */
/* A Linux process starts shortly before Wine registers it, and the kernel counts start times in units of 10 ms. */
#define TOLERANCE   (2 * SECOND)
#define CLEARLY     (SECOND / 20)

struct process_match {
    void *list; /* list of the host OS's processes */
};

static void process_match_close(struct process_match *match)
{
    if (match) {
        process_lister_host.close(match->list);
        memory_free(match);
    }
}

/* Returns true if `kernel` is the kernel's name of "`name`.exe". */
static bool same_name(const char *name, const char *kernel)
{
    size_t length = strlen(name), all = length + 4;
    char whole[KERNEL_NAME + 1] = {0};
    memcpy(whole, name, length < KERNEL_NAME ? length : KERNEL_NAME);
    for (size_t i = length; i < all && i < KERNEL_NAME; i++)
        whole[i] = ".exe"[i - length];
    return text_equal_nocase(whole, kernel);
}

static int64_t distance(const struct process_entry *a, const struct process_entry *b)
{
    return a->start > b->start ? a->start - b->start : b->start - a->start;
}

/* Returns the host OS process that runs `e`; NULL if there is no candidate or more than one. */
static const struct process_entry *find_host_process(const struct process_entry *e, const struct process_entry *host,
                                                     size_t count)
{
    const struct process_entry *nearest = NULL, *same_size = NULL;
    int64_t second = INT64_MAX;
    unsigned sizes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!same_name(e->name, host[i].name) || distance(e, &host[i]) > TOLERANCE)
            continue;
        if (!nearest || distance(e, &host[i]) < distance(e, nearest)) {
            second = nearest ? distance(e, nearest) : second;
            nearest = &host[i];
        } else if (distance(e, &host[i]) < second) {
            second = distance(e, &host[i]);
        }
        if (host[i].virtual_size == e->virtual_size) {
            same_size = &host[i];
            sizes++;
        }
    }
    if (!nearest || second == INT64_MAX || second - distance(e, nearest) > CLEARLY)
        return nearest;
    return sizes == 1 ? same_size : NULL;
}

/* For each files[i].id that is 0, finds the Linux process of entries[i] by name, start time and address space, and
   stores its id in files[i].id. If there are two candidates, the id remains 0. S_FALSE if some processes were not
   found. *match is NULL at first. */
static HRESULT process_match_find(struct process_match **match, const char *root, const struct process_entry *entries,
                                  size_t count, struct process_files *files)
{
    const struct process_entry *host = NULL;
    size_t host_count = 0;
    bool all = true;
    HRESULT hr = S_OK;
    if (!*match) {
        struct process_match *m = memory_zero(1, sizeof *m);
        hr = m ? process_lister_host.open(root, &m->list) : E_OUTOFMEMORY;
        if (FAILED(hr)) {
            memory_free(m);
            return hr;
        }
        *match = m;
    }
    hr = process_lister_host.read((*match)->list, PROCESS_USE, &host, &host_count);
    for (size_t i = 0; i < count && SUCCEEDED(hr); i++) {
        if (files[i].id)
            continue;
        const struct process_entry *found = find_host_process(&entries[i], host, host_count);
        files[i].id = found ? found->id : 0;
        all &= found != NULL;
    }
    return FAILED(hr) || all ? hr : S_FALSE;
}

/* ---- the list ---- */

/* NtQuerySystemInformation returns all processes and their threads in one call. Under Wine the result of this function
   has no page faults, private bytes or transfers, so these values come from the files of the Linux process. Wine's
   result contains no numbers of handles either. Wine's table of all handles must not be requested: if a process starts
   or exits during the request, Wine 8's server crashes, together with every program of the prefix. */

/* The documented and long-known fields of SYSTEM_PROCESS_INFORMATION, for 64-bit and 32-bit programs. The threads
   follow. */
struct process_record {
    ULONG next;
    ULONG threads;
    LARGE_INTEGER reserved[3];
    LARGE_INTEGER start, user, kernel;
    UNICODE_STRING name;
    LONG priority;
    HANDLE id, parent;
    ULONG handles, reserved_2;
    ULONG_PTR key;
    SIZE_T peak_virtual, virtual_size;
    ULONG page_faults;
    SIZE_T peak_working_set, working_set;
    SIZE_T quotas[4];
    SIZE_T page_file, peak_page_file, private_pages;
    LARGE_INTEGER reads, writes, others, read_bytes, written_bytes, other_bytes;
};
_Static_assert(offsetof(struct process_record, start) == 32, "start has moved");
_Static_assert(offsetof(struct process_record, name) == 56, "name has moved");
_Static_assert(offsetof(struct process_record, id) == BY_POINTER(80, 68), "id has moved");
_Static_assert(offsetof(struct process_record, working_set) == BY_POINTER(144, 104), "working_set has moved");
_Static_assert(sizeof(struct process_record) == BY_POINTER(256, 184), "the threads after the record have moved");

struct thread_record {
    LARGE_INTEGER kernel, user, start;
    ULONG wait_time;
    void *address;
    HANDLE process, id;
    LONG priority, base_priority;
    ULONG switches, state, reason;
};
_Static_assert(offsetof(struct thread_record, id) == BY_POINTER(48, 36), "id has moved");
_Static_assert(sizeof(struct thread_record) == BY_POINTER(80, 64), "the next thread has moved");

#define MATCH_TRIES 10

/* The list of all processes has two forms, plain and extended. This struct has the size of the list in each form. Wine
   reports a size within microseconds, but to create a list it reads the files of each process and thread. Therefore the
   sizes are used to detect whether the list has changed. The extended form has seven more words per thread, so the
   difference of the sizes shows the number of threads. A process takes 258 bytes plus the path of its program, so the
   sizes also depend on the number of processes. Two lists with different numbers of processes have the same size only
   by coincidence, if the total lengths of their paths compensate exactly. The sizes are requested only if a process or
   thread of the host OS has started or ended, because each request is a call to Wine's server. */
struct list_sizes {
    ULONG plain, extended;
};
#define EXTENDED_PROCESS_INFORMATION ((SYSTEM_INFORMATION_CLASS)57)
#define EXTENDED_THREAD_MORE         (7 * sizeof(void *))
/* After this many readings that relied on equal sizes, the list is read again, in case they were equal by
   coincidence. */
#define COUNTS_BY_SIZE               60

struct buffer {
    BYTE *bytes;
    ULONG size;
};

struct windows_list {
    struct buffer processes;
    struct process_entry *entries;
    struct process_files *files; /* one for each entry; id 0: no Linux process was found */
    size_t count, capacity, file_capacity;
    struct thread_entry *threads; /* the threads of all processes */
    size_t thread_capacity;
    struct process_kept kept;
    struct process_match *match;
    unsigned tries;             /* remaining tries to find the Linux processes, because a new process may not have its
                                   name yet */
    struct list_sizes sizes;    /* the sizes of the current list; 0: unusable */
    unsigned counts;            /* remaining readings that may rely on the sizes */
    struct kernel_file *load;   /* /proc/loadavg */
    struct kernel_load changes; /* read before `sizes` was requested */
    bool is_wine;
    char root[];
};

static HRESULT open_list(const char *root, void **out)
{
    size_t length = strlen(root);
    struct windows_list *list = memory_zero(1, sizeof *list + length + 1);
    *out = list;
    if (!list)
        return E_OUTOFMEMORY;
    memcpy(list->root, root, length + 1);
    list->is_wine = os_is_wine();
    list->kept.most = kernel_file_share();
    return S_OK;
}

static void forget_entries(struct windows_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        memory_free((char *)list->entries[i].name);
        process_files_close(&list->files[i], &list->kept);
    }
    list->count = 0;
}

static void close_list(void *user)
{
    struct windows_list *list = user;
    forget_entries(list);
    process_match_close(list->match);
    memory_free(list->entries);
    memory_free(list->files);
    memory_free(list->threads);
    memory_free(list->processes.bytes);
    kernel_file_close(list->load);
    memory_free(list);
}

static HRESULT query_system_information(struct buffer *b, SYSTEM_INFORMATION_CLASS kind)
{
    for (;;) {
        ULONG need = 0;
        NTSTATUS status = NtQuerySystemInformation(kind, b->bytes, b->size, &need);
        if (status == 0)
            return S_OK;
        if (status != (NTSTATUS)0xC0000004 /* STATUS_INFO_LENGTH_MISMATCH */ || need > 64 * 1024 * 1024)
            return error_set(E_FAIL, "cannot list the processes: NTSTATUS 0x%08X", (unsigned)status);
        /* more processes may start before the next try */
        ULONG size = (need > b->size ? need : b->size) + 16 * 1024;
        BYTE *bytes = memory_resize(b->bytes, size);
        if (!bytes)
            return E_OUTOFMEMORY;
        b->bytes = bytes;
        b->size = size;
    }
}

/* Returns the name "Some" for both "C:\x\Some.exe" and "Some.exe". */
static HRESULT base_name(const UNICODE_STRING *name, char **out)
{
    size_t from = 0, units = name->Buffer ? name->Length / sizeof(WCHAR) : 0;
    for (size_t i = 0; i < units; i++)
        if (name->Buffer[i] == L'\\')
            from = i + 1;
    static const WCHAR empty[1];
    HRESULT hr = text_from_utf16(units ? name->Buffer + from : empty, units - from, true, out);
    size_t length = SUCCEEDED(hr) ? strlen(*out) : 0;
    if (length > 4 && text_equal_nocase(*out + length - 4, ".exe"))
        (*out)[length - 4] = 0;
    return hr;
}

static const struct process_record *next_record(const struct process_record *r)
{
    return r->next ? (const struct process_record *)((const BYTE *)r + r->next) : NULL;
}

/* Skips id 0, the idle process, which is not a program. */
static const struct process_record *next_process(const struct process_record *r)
{
    while (r && !r->id)
        r = next_record(r);
    return r;
}

/* Returns the base priority. Wine reports the priority class instead, as a number of PROCESS_PRIORITY_CLASS. */
static int64_t base_priority(LONG priority, bool is_wine)
{
    static const int64_t of_class[] = {PROCESS_ABSENT, 4, 8, 13, 24, 6, 10};
    if (!is_wine)
        return priority;
    return priority > 0 && priority < (LONG)(sizeof of_class / sizeof *of_class) ? of_class[priority] : PROCESS_ABSENT;
}

static void set_figures(const struct windows_list *list, struct process_entry *e, const struct process_record *r)
{
    process_entry_clear(e);
    e->id = (uint32_t)(ULONG_PTR)r->id;
    e->parent = (uint32_t)(ULONG_PTR)r->parent;
    e->threads = r->threads;
    e->start = r->start.QuadPart;
    e->user_time = r->user.QuadPart;
    e->kernel_time = r->kernel.QuadPart;
    e->working_set = (int64_t)r->working_set;
    e->virtual_size = (int64_t)r->virtual_size;
    e->virtual_peak = (int64_t)r->peak_virtual;
    e->working_set_peak = (int64_t)r->peak_working_set;
    e->base_priority = base_priority(r->priority, list->is_wine);
    e->handles = list->is_wine ? PROCESS_ABSENT : (int64_t)r->handles;
    if (!list->is_wine) {
        e->page_faults = r->page_faults;
        e->private_bytes = (int64_t)r->private_pages;
        e->reads = r->reads.QuadPart;
        e->writes = r->writes.QuadPart;
        e->read_bytes = r->read_bytes.QuadPart;
        e->written_bytes = r->written_bytes.QuadPart;
    }
}

/* Returns true if the entries are the same processes as in the new list, so that their names are still valid. */
static bool is_same(const struct windows_list *list)
{
    const struct process_record *r = next_process((const struct process_record *)list->processes.bytes);
    size_t i = 0;
    for (; r && i < list->count; i++, r = next_process(next_record(r)))
        if (list->entries[i].id != (uint32_t)(ULONG_PTR)r->id || list->entries[i].start != r->start.QuadPart)
            return false;
    return !r && i == list->count;
}

static HRESULT make_entries(struct windows_list *list)
{
    const struct process_record *r = next_process((const struct process_record *)list->processes.bytes);
    forget_entries(list);
    list->tries = MATCH_TRIES;
    for (; r; r = next_process(next_record(r))) {
        char *name = NULL;
        if (!memory_grow((void **)&list->entries, &list->capacity, list->count + 1, sizeof *list->entries) ||
            !memory_grow((void **)&list->files, &list->file_capacity, list->count + 1, sizeof *list->files))
            return E_OUTOFMEMORY;
        HRESULT hr = base_name(&r->name, &name);
        if (FAILED(hr))
            return hr;
        list->files[list->count] = (struct process_files){0};
        list->entries[list->count++] = (struct process_entry){.name = name};
    }
    return S_OK;
}

/* Returns a thread's priority. Wine reports the argument of SetThreadPriority, relative to the class: -2 to 2 (-7 to 6
   in the realtime class), -15 for idle and 15 for time critical. */
static int64_t thread_priority(int64_t process, LONG priority, bool is_wine)
{
    bool realtime = process >= 16;
    if (!is_wine || process == PROCESS_ABSENT)
        return is_wine ? PROCESS_ABSENT : priority;
    if (priority == -15 || priority == 15)
        return priority < 0 ? (realtime ? 16 : 1) : (realtime ? 31 : 15);
    return priority >= (realtime ? -7 : -2) && priority <= (realtime ? 6 : 2) ? process + priority : PROCESS_ABSENT;
}

static HRESULT list_threads(struct windows_list *list)
{
    const struct process_record *r = next_process((const struct process_record *)list->processes.bytes);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += list->entries[i].threads;
    if (!memory_grow((void **)&list->threads, &list->thread_capacity, count, sizeof *list->threads))
        return E_OUTOFMEMORY;
    struct thread_entry *to = list->threads;
    for (size_t i = 0; i < list->count; i++, r = next_process(next_record(r))) {
        const struct thread_record *from = (const struct thread_record *)(r + 1);
        list->entries[i].first_thread = to;
        list->entries[i].listed_threads = r->threads;
        int64_t base = list->entries[i].base_priority;
        for (ULONG t = 0; t < r->threads; t++, from++) {
            *to++ = (struct thread_entry){.id = (uint32_t)(ULONG_PTR)from->id,
                                          .start = from->start.QuadPart,
                                          .user_time = from->user.QuadPart,
                                          .kernel_time = from->kernel.QuadPart,
                                          .context_switches = list->is_wine ? PROCESS_ABSENT : from->switches,
                                          .base_priority = thread_priority(base, from->base_priority, list->is_wine),
                                          .priority = thread_priority(base, from->priority, list->is_wine),
                                          .state = list->is_wine ? PROCESS_ABSENT : (int64_t)from->state,
                                          .wait_reason = list->is_wine ? PROCESS_ABSENT : (int64_t)from->reason};
        }
    }
    return S_OK;
}

/* Reads the values that come from the files of the Linux processes. */
static HRESULT read_files(struct windows_list *list, uint32_t figures)
{
    HRESULT hr = S_OK;
    if (list->tries > 0) {
        hr = process_match_find(&list->match, list->root, list->entries, list->count, list->files);
        list->tries = hr == S_OK ? 0 : list->tries - 1;
    }
    for (size_t i = 0; i < list->count && hr != E_OUTOFMEMORY; i++) {
        struct process_files *f = &list->files[i];
        struct process_stat stat;
        if (!f->id)
            continue;
        if (figures & PROCESS_FAULTS) {
            hr = process_files_stat(f, list->root, &list->kept, &stat);
            list->entries[i].page_faults = SUCCEEDED(hr) ? (int64_t)stat.faults : PROCESS_ABSENT;
        }
        if (hr != E_OUTOFMEMORY)
            hr = process_files_figures(f, list->root, &list->kept, figures & ~PROCESS_HANDLES, &list->entries[i]);
    }
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

static struct list_sizes ask_sizes(void)
{
    struct list_sizes s = {0};
    NtQuerySystemInformation(SystemProcessInformation, NULL, 0, &s.plain);
    NtQuerySystemInformation(EXTENDED_PROCESS_INFORMATION, NULL, 0, &s.extended);
    return s;
}

/* Keeps the sizes if they match the list's number of threads. If they do not match, the sizes belong to another list,
   or this version of Wine uses another format. */
static void keep_sizes(struct windows_list *list, struct list_sizes asked)
{
    ULONG threads = 0;
    for (const struct process_record *r = (const struct process_record *)list->processes.bytes; r; r = next_record(r))
        threads += r->threads;
    bool add_up = asked.plain && asked.extended - asked.plain == threads * EXTENDED_THREAD_MORE;
    list->sizes = add_up ? asked : (struct list_sizes){0};
    list->counts = COUNTS_BY_SIZE;
}

/* Returns true if the processes and threads are still the same as in the list that was read last. If they are not the
   same, stores the current sizes in *asked. */
static bool list_is_unchanged(struct windows_list *list, struct list_sizes *asked)
{
    const struct kernel_load before = list->changes, now = process_changes_read(list->root, &list->load);
    list->changes = now;
    if (!list->sizes.plain || !list->counts || !now.last_id || now.last_id != before.last_id ||
        now.threads != before.threads) {
        *asked = ask_sizes();
        if (!asked->plain || asked->plain != list->sizes.plain || asked->extended != list->sizes.extended ||
            !list->counts)
            return false;
    }
    list->counts--;
    return true;
}

static HRESULT read_list(void *user, uint32_t figures, const struct process_entry **entries, size_t *count)
{
    struct windows_list *list = user;
    struct list_sizes sizes = {0};
    if (!figures && list->is_wine && list_is_unchanged(list, &sizes)) {
        *entries = list->entries;
        *count = list->count;
        return S_OK;
    }
    HRESULT hr = query_system_information(&list->processes, SystemProcessInformation);
    if (SUCCEEDED(hr) && !is_same(list)) {
        hr = make_entries(list);
        if (FAILED(hr))
            forget_entries(list);
    }
    if (FAILED(hr)) {
        list->sizes = (struct list_sizes){0};
        return hr;
    }
    const struct process_record *r = next_process((const struct process_record *)list->processes.bytes);
    for (size_t i = 0; i < list->count; i++, r = next_process(next_record(r)))
        set_figures(list, &list->entries[i], r);
    keep_sizes(list, sizes);
    if (figures & PROCESS_THREADS)
        hr = list_threads(list);
    if (SUCCEEDED(hr) && list->is_wine && (figures & (PROCESS_MEMORY | PROCESS_IO | PROCESS_FAULTS)))
        hr = read_files(list, figures);
    *entries = list->entries;
    *count = list->count;
    return hr;
}

const struct process_lister process_lister_windows = {open_list, read_list, close_list};

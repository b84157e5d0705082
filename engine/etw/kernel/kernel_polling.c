/* SPDX-License-Identifier: MIT */
/* The fallback source of events: polls /proc and compares the results. A process that is new has started since the last
   poll, and a process that is missing has exited. A process that starts and exits between two polls is not seen; the
   kernel's fork counter shows how many such processes there were. A quick poll reads the list of processes and inspects
   the new ones. A full poll also inspects every known process again, to find its threads and to check whether it is
   still running. The more time a poll takes, the later the next poll starts. */
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/etw/kernel/tracepoint.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

enum {
    SHARE = 50,       /* the time between two polls is SHARE times the duration of the last poll */
    LATEST_MS = 1000, /* maximum time between two polls, even if SHARE would allow more */
    WHOLE_MS = 1000,  /* time between full polls: minimum and maximum */
    WHOLE_LATEST_MS = 5000,
    HERTZ = 100,         /* unit of times in /proc (USER_HZ) */
    LOWEST_NUMBER = 300, /* after the highest process number, Linux continues to assign numbers from this one */
    OLD_MS = 1000,       /* a process that started more than this long before the last poll was hidden from that poll */
    UNKNOWN_CODE = 259   /* STILL_ACTIVE; only the parent of a process can read its real exit code */
};

/* Counters that show whether a poll is needed. Reading them takes only microseconds. */
struct counts {
    bool forks_known, newest_known;
    uint64_t forks;         /* processes and threads that were started on the whole host OS */
    uint64_t newest, alive; /* `newest`: number of the newest thread in this PID namespace; `alive`: how many threads
                               the host OS has */
};
enum found_kind { PROCESS_BEGINS, PROCESS_EXISTED, THREAD_BEGINS, THREAD_EXISTED, THREAD_ENDS, PROCESS_ENDS };
/* A change that a poll found. Changes are sorted by time before they are reported. */
struct found {
    uint64_t time;
    size_t order;
    enum found_kind kind;
    uint32_t process, thread;
    struct kernel_process is; /* for PROCESS_BEGINS */
};
struct kernel_polling {
    struct kernel_file *load, *stat; /* open files of /proc; NULL: not available */
    struct counts counts, latest;    /* counts at the last full poll, and at the last poll */
    uint64_t looked, due, whole_due; /* ticks */
    uint64_t counted;                /* time at which the counting of starts began */
    uint32_t look;                   /* number of the poll */
    uint64_t forks, numbers; /* starts since `counted`, from the fork counter and from the newest thread number */
    uint64_t seen, missed;   /* started threads that the polls have found, and an estimate of the others */
    struct found *found;
    size_t found_count, found_capacity;
};

/* ---- counters ---- */

static HRESULT path_of(const struct kernel_tracer *k, const char *file, char **out)
{
    *out = text_format("%s/%s", kernel_proc(k), file);
    return *out ? S_OK : E_OUTOFMEMORY;
}

/* Opens a file that is read repeatedly. A missing file is not an error. */
static HRESULT open_file(const struct kernel_tracer *k, const char *file, struct kernel_file **out)
{
    char *path;
    HRESULT hr = path_of(k, file, &path);
    if (SUCCEEDED(hr) && kernel_file_open(path, out) == E_OUTOFMEMORY)
        hr = E_OUTOFMEMORY;
    memory_free(path);
    return hr;
}

static void read_load(const struct kernel_polling *p, struct counts *c)
{
    const char *text;
    size_t size;
    struct kernel_load now;
    c->newest_known =
        p->load && SUCCEEDED(kernel_file_read_piece(p->load, &text, &size)) && kernel_load_parse(text, size, &now);
    if (!c->newest_known)
        return;
    c->newest = now.last_id;
    c->alive = now.threads;
}

/* Reads a line such as "processes 4567". */
static void read_forks(const struct kernel_polling *p, struct counts *c)
{
    static const char name[] = "\nprocesses ";
    const char *text;
    size_t size;
    c->forks_known = false;
    if (!p->stat || FAILED(kernel_file_read(p->stat, &text, &size)))
        return;
    const char *line = strstr(text, name);
    c->forks_known = line && kernel_number(line + sizeof name - 1, text + size, &c->forks);
}

static bool read_once(const struct kernel_tracer *k, const char *file, uint64_t *whole, uint64_t *hundredths)
{
    char *path, *text = NULL;
    size_t size;
    const char *behind = NULL;
    *whole = *hundredths = 0;
    if (SUCCEEDED(path_of(k, file, &path)) && SUCCEEDED(kernel_file_text(path, &text, &size))) {
        behind = kernel_number(text, text + size, whole);
        if (behind && *behind == '.')
            (void)kernel_number(behind + 1, text + size, hundredths);
    }
    memory_free(text);
    memory_free(path);
    return behind != NULL;
}

/* Counts the numbers that were used before and after the numbering wrapped around. */
static uint64_t numbers_around(const struct kernel_tracer *k, uint64_t before, uint64_t now)
{
    uint64_t highest, nothing;
    if (!read_once(k, "sys/kernel/pid_max", &highest, &nothing))
        return 0;
    return (highest > before ? highest - before : 0) + (now > LOWEST_NUMBER ? now - LOWEST_NUMBER : 0);
}

static void count_forks(const struct kernel_tracer *k, const struct counts *now)
{
    struct kernel_polling *p = k->polling;
    const struct counts *before = &p->counts;
    if (now->forks_known && before->forks_known && now->forks > before->forks)
        p->forks += now->forks - before->forks;
    if (now->newest_known && before->newest_known)
        p->numbers += now->newest >= before->newest ? now->newest - before->newest
                                                    : numbers_around(k, before->newest, now->newest);
    p->counts = *now;
}

/* Estimates the number of starts that no poll found. In a container, the host OS's fork counter includes processes
   outside the container, while the newest number is the container's own. On the host OS itself, the newest number skips
   numbers that are in use. Therefore the smaller count is right. Both counters are read before a poll, so each process
   that they count has been found or has exited. */
static void count_missed(struct kernel_polling *p)
{
    const bool both = p->counts.forks_known && p->counts.newest_known;
    const uint64_t began = both && p->forks < p->numbers    ? p->forks
                           : both || p->counts.newest_known ? p->numbers
                                                            : p->forks;
    if (began > p->seen + p->missed)
        p->missed = began - p->seen;
}

/* Restarts the counts, because it is unknown whether hidden processes were missed. */
static void restart_counts(struct kernel_polling *p)
{
    p->forks = p->numbers = p->seen + p->missed;
}

/* ---- a poll ---- */

struct looking {
    struct kernel_tracer *k;
    uint64_t now;    /* ticks */
    uint64_t uptime; /* in 1/HERTZ s; 0: not known */
    bool whole;
};

static HRESULT found_add(const struct looking *l, const struct found *what)
{
    struct kernel_polling *p = l->k->polling;
    void *grown = p->found;
    if (!memory_grow(&grown, &p->found_capacity, p->found_count + 1, sizeof *p->found))
        return E_OUTOFMEMORY;
    p->found = grown;
    p->found[p->found_count] = *what;
    p->found[p->found_count].order = p->found_count;
    p->found_count++;
    return S_OK;
}

static uint64_t age_of(const struct looking *l, uint64_t start)
{
    return l->uptime > start ? (l->uptime - start) * (uint64_t)clock_frequency() / HERTZ : 0;
}

static HRESULT found_add_thread(const struct looking *l, const struct found *process, uint32_t thread)
{
    const struct found f = {
        .time = process->time,
        .kind = process->kind == PROCESS_EXISTED ? THREAD_EXISTED : THREAD_BEGINS,
        .process = process->process,
        .thread = thread,
    };
    return found_add(l, &f);
}

/* Inspects the threads of a process, even if no thread is known yet. If /proc does not show the threads, sets *hidden;
   then the known threads do not count as exited. */
static HRESULT inspect_threads(const struct looking *l, const struct found *process, bool *hidden)
{
    const struct kernel_tracer *k = l->k;
    uint32_t *ids;
    size_t count;
    HRESULT hr = kernel_process_threads(k, process->process, &ids, &count);
    *hidden = FAILED(hr);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        struct kernel_thread *t = id_map_find(&k->threads, ids[i]);
        const bool known = t && t->process == process->process && process->kind == THREAD_BEGINS;
        if (known)
            t->look = k->polling->look;
        else
            hr = found_add_thread(l, process, ids[i]);
        if (t)
            t->replaced = !known;
    }
    memory_free(ids);
    return hr;
}

/* Handles a process that started after the last poll. */
static HRESULT inspect_new(const struct looking *l, uint32_t process, const struct kernel_task_stat *stat)
{
    const uint64_t age = age_of(l, stat->start), passed = l->now - l->k->polling->looked;
    /* The time of the start event must be later than the exits that the last poll found. The start time comes from
       another clock, which can differ by clock_skew. Therefore the event is at least `margin` later than the last
       poll. */
    const uint64_t clock_skew = (uint64_t)clock_frequency() / 10000, margin = clock_skew < passed ? clock_skew : passed;
    struct found f = {
        .time = age < passed - margin ? l->now - age : l->now - passed + margin,
        .kind = PROCESS_BEGINS,
        .process = process,
        .is = {.parent = stat->parent, .start = stat->start, .is_kernel = kernel_is_kthreadd(l->k, stat->parent)},
    };
    /* The process is older than the last poll, so it was hidden from that poll. */
    if (age > passed + OLD_MS * (uint64_t)clock_frequency() / 1000) {
        f.kind = PROCESS_EXISTED;
        f.time = l->now;
    }
    kernel_process_name(&f.is, stat->name, strlen(stat->name));
    const HRESULT hr = found_add(l, &f);
    if (FAILED(hr) || f.is.is_kernel)
        return SUCCEEDED(hr) ? found_add_thread(l, &f, process) : hr;
    return inspect_threads(l, &f, &f.is.threads_hidden);
}

/* Inspects a known process. The threads of a single-threaded process need not be listed, because its thread has the
   process's number. */
static HRESULT inspect_known(const struct looking *l, uint32_t process, struct kernel_process *known, uint32_t threads)
{
    const struct found again = {.time = l->now, .kind = THREAD_BEGINS, .process = process};
    struct kernel_thread *t = id_map_find(&l->k->threads, process);
    known->look = l->k->polling->look;
    if (!t || t->process != process || threads != 1)
        return inspect_threads(l, &again, &known->threads_hidden);
    known->threads_hidden = false;
    t->look = known->look;
    return S_OK;
}

static HRESULT inspect_process(const struct looking *l, uint32_t process)
{
    struct kernel_process *known = id_map_find(&l->k->processes, process);
    struct kernel_task_stat stat;
    if (known && !l->whole) {
        known->look = l->k->polling->look;
        return S_OK;
    }
    if (kernel_process_stat(l->k, process, &stat) != S_OK)
        return S_OK;
    if (known && known->start == 0)
        known->start = stat.start;
    if (known && known->start == stat.start)
        return inspect_known(l, process, known, stat.threads);
    if (known) /* another process now has the number of a process that has exited */
        known->replaced = true;
    return inspect_new(l, process, &stat);
}

/* Finds processes and threads that have exited. If a number was reused, the exit of the previous thread or process gets
   the time of the last poll, which is before the start of the new one. */
static HRESULT find_exited(const struct looking *l)
{
    const struct kernel_tracer *k = l->k;
    const uint32_t look = k->polling->look;
    HRESULT hr = S_OK;
    size_t at = 0;
    uint64_t id;
    for (struct kernel_thread *t; SUCCEEDED(hr) && (t = id_map_next(&k->threads, &at, &id)) != NULL;) {
        const struct kernel_process *p = id_map_find(&k->processes, t->process);
        if (t->look == look || (p && p->look == look && (p->threads_hidden || !l->whole)))
            continue;
        const struct found f = {.time = t->replaced || (p && p->replaced) ? k->polling->looked : l->now,
                                .kind = THREAD_ENDS,
                                .thread = (uint32_t)id};
        hr = found_add(l, &f);
    }
    at = 0;
    for (struct kernel_process *p; SUCCEEDED(hr) && (p = id_map_next(&k->processes, &at, &id)) != NULL;) {
        const struct found f = {
            .time = p->replaced ? k->polling->looked : l->now, .kind = PROCESS_ENDS, .process = (uint32_t)id};
        if (p->look != look)
            hr = found_add(l, &f);
    }
    return hr;
}

/* ---- reporting ---- */

static int in_order(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static HRESULT report_begin(struct kernel_tracer *k, const struct tracepoint_event *e, const struct found *f)
{
    HRESULT hr = kernel_process_begins(k, e, f->process, f->is.parent);
    struct kernel_process *p = id_map_find(&k->processes, f->process);
    if (!p)
        return hr;
    const bool waits = p->is_waiting;
    const size_t entry = p->entry;
    *p = f->is;
    p->look = k->polling->look;
    p->entry = entry;
    p->is_waiting = waits;
    if (SUCCEEDED(hr))
        hr = kernel_process_write(k, f->process, p);
    p->is_waiting = waits; /* the name must be read once more, but kernel_process_write has cleared is_waiting */
    return hr;
}

static HRESULT report_existing(struct kernel_tracer *k, const struct tracepoint_event *e, const struct found *f)
{
    struct kernel_process *p = id_map_put(&k->processes, f->process);
    if (!p)
        return E_OUTOFMEMORY;
    *p = f->is;
    p->look = k->polling->look;
    return kernel_process_add_existing(k, e, f->process, p, false);
}

static HRESULT report_end(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process)
{
    struct kernel_process *p = id_map_find(&k->processes, process);
    if (p && !p->has_code)
        p->exit_code = UNKNOWN_CODE;
    return p ? kernel_process_ends(k, e, process, p) : S_OK;
}

static HRESULT report_found(struct kernel_tracer *k, const struct found *f)
{
    struct tracepoint_event e = {.time = f->time, .thread = f->process};
    struct kernel_thread *t;
    HRESULT hr;
    switch (f->kind) {
    case PROCESS_BEGINS:
        e.thread = f->is.parent;
        return report_begin(k, &e, f);
    case PROCESS_EXISTED:
        return report_existing(k, &e, f);
    case THREAD_BEGINS:
    case THREAD_EXISTED:
        k->polling->seen += f->kind == THREAD_BEGINS && f->time >= k->polling->counted;
        hr = f->kind == THREAD_BEGINS ? kernel_thread_begins(k, &e, f->process, f->thread)
                                      : kernel_thread_add_existing(k, &e, f->process, f->thread);
        if ((t = id_map_find(&k->threads, f->thread)) != NULL)
            t->look = k->polling->look;
        return hr;
    case THREAD_ENDS:
        e.thread = f->thread;
        return kernel_thread_ends(k, &e, f->thread);
    default:
        return report_end(k, &e, f->process);
    }
}

/* Removes a hidden process from the maps. It is unknown whether the process has exited. */
static void found_forget(struct kernel_tracer *k, const struct found *f)
{
    id_map_remove(f->kind == THREAD_ENDS ? &k->threads : &k->processes,
                  f->kind == THREAD_ENDS ? f->thread : f->process);
}

static HRESULT report_all(struct kernel_tracer *k, bool forgets)
{
    struct kernel_polling *p = k->polling;
    HRESULT hr = S_OK;
    if (p->found_count != 0)
        qsort(p->found, p->found_count, sizeof *p->found, in_order);
    for (size_t i = 0; SUCCEEDED(hr) && i < p->found_count; i++) {
        const bool ends = p->found[i].kind == THREAD_ENDS || p->found[i].kind == PROCESS_ENDS;
        if (ends && forgets)
            found_forget(k, &p->found[i]);
        else
            hr = report_found(k, &p->found[i]);
    }
    return hr;
}

/* Reports the names of processes that were found before their program was loaded. These processes have loaded their
   programs by now, so their names are final. A process that has exited in the meantime keeps its previous name. */
static HRESULT report_new_names(struct kernel_tracer *k)
{
    struct kernel_task_stat stat;
    size_t at = 0;
    uint64_t process;
    HRESULT hr = S_OK;
    for (struct kernel_process *p; (p = id_map_next(&k->processes, &at, &process)) != NULL;) {
        if (!p->is_waiting)
            continue;
        p->is_waiting = false;
        if (FAILED(hr) || kernel_process_stat(k, (uint32_t)process, &stat) != S_OK || stat.start != p->start)
            continue;
        kernel_process_name(p, stat.name, strlen(stat.name));
        p->is_waiting = true;
        hr = kernel_process_write(k, (uint32_t)process, p);
    }
    return hr;
}

/* ---- the source ---- */

static void polling_ran_down(struct kernel_tracer *k)
{
    struct kernel_polling *p = k->polling;
    struct counts now = {0};
    read_load(p, &now);
    read_forks(p, &now);
    p->counts = p->latest = now;
    p->counted = (uint64_t)clock_ticks();
}

static uint64_t ticks_of(uint64_t ms)
{
    return ms * (uint64_t)clock_frequency() / 1000;
}

/* Decides whether to poll now, and whether the poll is a full one. After the numbering wraps around, known numbers can
   belong to other processes. */
static bool is_due(struct kernel_polling *p, struct looking *l, struct counts *counts)
{
    l->whole = l->now >= p->whole_due;
    if (!l->whole && l->now < p->due)
        return false;
    read_load(p, counts);
    const bool changed =
        !counts->newest_known || counts->newest != p->latest.newest || counts->alive != p->latest.alive;
    l->whole = l->whole || (counts->newest_known && counts->newest < p->latest.newest);
    if (!changed && !l->whole)
        p->looked = l->now;
    return changed || l->whole;
}

/* Schedules the next poll according to the duration of this one. */
static void set_due(struct kernel_polling *p, const struct looking *l)
{
    const uint64_t now = (uint64_t)clock_ticks(), pause = (now - l->now) * SHARE;
    p->due = now + (pause < ticks_of(LATEST_MS) ? pause : ticks_of(LATEST_MS));
    if (!l->whole)
        return;
    p->whole_due = now + (pause < ticks_of(WHOLE_MS) ? ticks_of(WHOLE_MS) : pause);
    if (p->whole_due > now + ticks_of(WHOLE_LATEST_MS))
        p->whole_due = now + ticks_of(WHOLE_LATEST_MS);
}

static HRESULT polling_look(struct looking *l, const struct counts *counts)
{
    struct kernel_tracer *k = l->k;
    struct kernel_polling *p = k->polling;
    uint64_t seconds, hundredths;
    uint32_t *ids = NULL;
    size_t count = 0;
    if (read_once(k, "uptime", &seconds, &hundredths))
        l->uptime = seconds * HERTZ + hundredths;
    p->found_count = 0;
    HRESULT hr = kernel_folder_numbers(kernel_proc(k), &ids, &count);
    if (FAILED(hr) && hr != E_OUTOFMEMORY) { /* if the list is unreadable, all processes are treated as hidden */
        k->hides_processes = true;
        return S_OK;
    }
    p->look++;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        hr = inspect_process(l, ids[i]);
    memory_free(ids);
    if (SUCCEEDED(hr))
        hr = find_exited(l);
    if (FAILED(hr))
        return hr;
    const bool hides = kernel_proc_hides(k), newly = hides && !k->hides_processes;
    k->hides_processes = hides;
    hr = report_all(k, newly);
    p->latest = *counts;
    p->looked = l->now;
    if (!l->whole) /* new threads need a full poll */
        return hr;
    count_forks(k, counts);
    if (hides)
        restart_counts(p);
    else
        count_missed(p);
    return hr;
}

static HRESULT polling_pass(struct kernel_tracer *k, bool last, const struct kernel_sink *sink)
{
    struct kernel_polling *p = k->polling;
    struct looking l = {.k = k, .now = (uint64_t)clock_ticks()};
    struct counts counts = {0};
    HRESULT hr = report_new_names(k);
    const HRESULT settled = images_settle(k, &(struct tracepoint_event){.time = p->looked});
    hr = FAILED(hr) ? hr : settled;
    const HRESULT flushed = kernel_queue_flush(&k->queue, sink);
    hr = FAILED(hr) ? hr : flushed;
    k->reported_until = p->looked;
    if (last)
        p->whole_due = 0;
    if (is_due(p, &l, &counts)) {
        if (l.whole)
            read_forks(p, &counts);
        const HRESULT looked = polling_look(&l, &counts);
        hr = FAILED(hr) ? hr : looked;
        set_due(p, &l);
    }
    return last && SUCCEEDED(hr) ? kernel_queue_flush(&k->queue, sink) : hr;
}

static HRESULT polling_end(struct kernel_tracer *k)
{
    struct kernel_polling *p = k->polling;
    memory_free(k->there);
    k->there = NULL;
    if (!p)
        return S_OK;
    kernel_file_close(p->load);
    kernel_file_close(p->stat);
    memory_free(p->found);
    memory_free(p);
    k->polling = NULL;
    return S_OK;
}

static HRESULT polling_begin(struct kernel_tracer *k, const struct kernel_tracer_options *options)
{
    const uint64_t now = (uint64_t)clock_ticks();
    (void)options;
    /* k->there lists the processes that exist now. Any process that starts after this time counts as started, even if
       the rundown is written later. */
    HRESULT hr = kernel_folder_numbers(kernel_proc(k), &k->there, &k->there_count);
    if (FAILED(hr))
        return hr;
    struct kernel_polling *p = k->polling = memory_zero(1, sizeof *p);
    if (!p)
        return E_OUTOFMEMORY;
    p->looked = now;
    hr = open_file(k, "loadavg", &p->load);
    if (SUCCEEDED(hr))
        hr = open_file(k, "stat", &p->stat);
    k->sources = k->flags & (FLAG_PROCESS | FLAG_THREAD | FLAG_PROCESS_COUNTERS | FLAG_IMAGE_LOAD);
    k->processors = processor_count();
    if (k->began == 0)
        k->began = now;
    return hr;
}

static uint64_t polling_lost(const struct kernel_tracer *k)
{
    return k->polling->missed;
}

const struct kernel_source kernel_source_polling = {
    .name = "polling",
    .begin = polling_begin,
    .ran_down = polling_ran_down,
    .pass = polling_pass,
    .lost = polling_lost,
    .end = polling_end,
};

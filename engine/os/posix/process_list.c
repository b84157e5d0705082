/* SPDX-License-Identifier: MIT */
/* The process list from /proc/<id>/stat, through handles that are kept from one reading to the next. */
#include "engine/os/process_list.h"
#include "engine/os/clock.h"
#include "engine/os/kernel_file.h"
#include "engine/os/memory.h"
#include "engine/os/posix/process_stat.h"
#include "engine/os/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK         100000 /* 10 ms in 100 ns */
#define KEPT_HANDLES 512    /* of the 1,024 descriptors that a program commonly may open */

struct followed {
    struct kernel_file *file; /* NULL: opened for each reading */
    char *name;
    size_t name_length;
    uint32_t id;
    uint64_t start_ticks;
};

struct process_list {
    struct followed *followed; /* by id, as the entries */
    size_t count;
    struct process_entry *entries;
    size_t entry_capacity;
    size_t kept;
    int64_t boot; /* of the start times; read once, so that a process keeps its own */
    uint64_t page;
    uint64_t generation;
};

HRESULT process_list_open(struct process_list **out)
{
    struct process_list *list = memory_zero(1, sizeof *list);
    *out = list;
    if (!list) {
        return E_OUTOFMEMORY;
    }
    list->boot = clock_boot_utc();
    list->page = (uint64_t)sysconf(_SC_PAGESIZE);
    return S_OK;
}

static void forget(struct process_list *list, struct followed *f)
{
    list->kept -= f->file != NULL;
    kernel_file_close(f->file);
    memory_free(f->name);
}

void process_list_close(struct process_list *list)
{
    if (!list) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        forget(list, &list->followed[i]);
    }
    memory_free(list->followed);
    memory_free(list->entries);
    memory_free(list);
}

uint64_t process_list_generation(const struct process_list *list)
{
    return list->generation;
}

static void fill(const struct process_list *list, const struct followed *f, const struct process_stat *stat,
                 struct process_entry *e)
{
    *e = (struct process_entry){
        .name = f->name,
        .id = f->id,
        .parent = stat->parent,
        .threads = stat->threads,
        .start = list->boot + (int64_t)(stat->start_ticks * TICK),
        .user_time = (int64_t)(stat->user_ticks * TICK),
        .kernel_time = (int64_t)(stat->kernel_ticks * TICK),
        .working_set = stat->resident_pages * list->page,
    };
}

/* "kworker/0:1-events": what a kernel worker does just now, behind '-' or '+', is not part of its name. Rescuers,
   "kworker/R-name", have their one purpose in it. */
static size_t lasting_name(const char *name, size_t length)
{
    if (length > 9 && !memcmp(name, "kworker/", 8) && name[8] != 'R') {
        for (size_t i = 8; i < length; i++) {
            if (name[i] == '-' || name[i] == '+') {
                return i;
            }
        }
    }
    return length;
}

/* Takes in what the text says. S_FALSE: the process has another name or is another one under the same id. */
static HRESULT take(struct process_list *list, struct followed *f, const char *text, size_t size,
                    struct process_entry *e)
{
    struct process_stat stat;
    HRESULT hr = S_OK;
    if (!process_stat_parse(text, size, &stat)) {
        return error_set(E_FAIL, "/proc/%u/stat: not as the kernel writes it", (unsigned)f->id);
    }
    stat.name_length = lasting_name(stat.name, stat.name_length);
    if (!f->name || f->name_length != stat.name_length || memcmp(f->name, stat.name, stat.name_length) != 0) {
        char *name = text_copy_n(stat.name, stat.name_length);
        if (!name) {
            return E_OUTOFMEMORY;
        }
        /* A program names itself in any bytes. */
        for (char *c = name; !text_is_utf8(name, stat.name_length) && *c; c++) {
            *c = (unsigned char)*c < 0x80 ? *c : '?';
        }
        memory_free(f->name);
        f->name = name;
        f->name_length = stat.name_length;
        hr = S_FALSE;
    }
    if (f->start_ticks != stat.start_ticks) {
        f->start_ticks = stat.start_ticks;
        hr = S_FALSE;
    }
    fill(list, f, &stat, e);
    return hr;
}

static HRESULT read_once(struct process_list *list, struct followed *f, struct process_entry *e)
{
    char path[32];
    const char *text = NULL;
    size_t size = 0;
    struct kernel_file *file = NULL;
    snprintf(path, sizeof path, "/proc/%u/stat", (unsigned)f->id);
    HRESULT hr = kernel_file_open(path, &file);
    if (FAILED(hr)) {
        return hr;
    }
    hr = kernel_file_read(file, &text, &size);
    if (SUCCEEDED(hr)) {
        hr = take(list, f, text, size, e);
    }
    if (SUCCEEDED(hr) && list->kept < KEPT_HANDLES) {
        f->file = file;
        list->kept++;
    } else {
        kernel_file_close(file);
    }
    return hr;
}

/* Reads one process. S_FALSE: it is new, another one or renamed. A handle of a process that ended reads nothing; its id
   may belong to another by now. */
static HRESULT read_process(struct process_list *list, struct followed *f, struct process_entry *e)
{
    if (f->file) {
        const char *text = NULL;
        size_t size = 0;
        HRESULT hr = kernel_file_read(f->file, &text, &size);
        if (SUCCEEDED(hr)) {
            hr = take(list, f, text, size, e);
        }
        if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY) {
            return hr;
        }
        kernel_file_close(f->file);
        f->file = NULL;
        list->kept--;
    }
    return read_once(list, f, e);
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Walks the old list and the ids of now side by side. *next must hold `count` items and gets those that live. */
static HRESULT merge(struct process_list *list, const uint32_t *ids, size_t count, struct followed *next, size_t *used)
{
    size_t old = 0;
    bool changed = false;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < count && hr != E_OUTOFMEMORY; i++) {
        while (old < list->count && list->followed[old].id < ids[i]) {
            forget(list, &list->followed[old++]);
            changed = true;
        }
        struct followed f = {.id = ids[i]};
        if (old < list->count && list->followed[old].id == ids[i]) {
            f = list->followed[old++];
        }
        hr = read_process(list, &f, &list->entries[*used]);
        changed = changed || hr != S_OK;
        if (SUCCEEDED(hr)) {
            next[(*used)++] = f;
        } else {
            forget(list, &f);
        }
    }
    for (; old < list->count; old++) {
        forget(list, &list->followed[old]);
        changed = true;
    }
    list->generation += changed;
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

HRESULT process_list_read(struct process_list *list, const struct process_entry **entries, size_t *count)
{
    uint32_t *ids = NULL;
    size_t n = 0, used = 0;
    HRESULT hr = kernel_process_ids(&ids, &n);
    if (FAILED(hr)) {
        return hr;
    }
    struct followed *next = memory_alloc(n * sizeof *next);
    if (!next || !memory_grow((void **)&list->entries, &list->entry_capacity, n ? n : 1, sizeof *list->entries)) {
        memory_free(next);
        memory_free(ids);
        return E_OUTOFMEMORY;
    }
    qsort(ids, n, sizeof *ids, by_id);
    hr = merge(list, ids, n, next, &used);
    memory_free(ids);
    memory_free(list->followed);
    list->followed = next;
    list->count = used;
    *entries = list->entries;
    *count = used;
    return hr;
}

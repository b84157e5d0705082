/* SPDX-License-Identifier: MIT */
/* Collects data about processes that can be read only while the process exists. These data are the command line, the
   user and the package, all for the exit event, and the resource counters. The data come from /proc and, for Wine's
   processes, also from Windows functions. */
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/etw/kernel/tracepoint.h"

#include <stdio.h>
#include <inttypes.h>
#include <string.h>

/* Returns the command line with spaces between the arguments, from memory_alloc. *first is the length of the first
   argument. Returns NULL if the command line is unreadable or empty. */
static char *command_line(const struct kernel_tracer *k, uint32_t process, size_t *first)
{
    char *text;
    size_t size;
    if (FAILED(kernel_process_text(k, process, "cmdline", &text, &size)))
        return NULL;
    *first = strlen(text);
    while (size != 0 && text[size - 1] == 0)
        size--;
    if (size == 0) {
        memory_free(text);
        return NULL;
    }
    for (size_t i = *first; i < size; i++)
        if (text[i] == 0)
            text[i] = ' ';
    return text;
}

/* Reads the user of a process. Returns false if the process has exited. */
static bool user_of(const struct kernel_tracer *k, uint32_t process, uint32_t *user)
{
    char *text;
    size_t size;
    uint64_t value = 0;
    bool found = false;
    if (FAILED(kernel_process_text(k, process, "status", &text, &size)))
        return false;
    const char *line = strstr(text, "\nUid:");
    if (line)
        found = kernel_number(line + sizeof "\nUid:" - 1, text + size, &value) != NULL;
    *user = (uint32_t)value;
    memory_free(text);
    return found;
}

/* Writes the SID of a host OS user: root has S-1-5-18, and user N has S-1-22-1-N, as in Samba. */
static void put_host_user(struct kernel_data *d, uint32_t user)
{
    static const uint8_t nt[6] = {0, 0, 0, 0, 0, 5}, unix_users[6] = {0, 0, 0, 0, 0, 22};
    const bool root = user == 0;
    kernel_data_u8(d, 1);
    kernel_data_u8(d, root ? 1 : 2);
    kernel_data_bytes(d, root ? nt : unix_users, 6);
    kernel_data_u32(d, root ? 18 : 1);
    if (!root)
        kernel_data_u32(d, user);
}

/* Writes a TOKEN_USER, whose pointers are meaningless, and the SID after it. */
void process_details_put_user(struct kernel_data *d, const struct process_details *t)
{
    if (!t->has_user && t->windows.sid_size == 0) {
        kernel_data_u32(d, 0);
        return;
    }
    kernel_data_u64(d, 1);
    kernel_data_u64(d, 0);
    if (t->windows.sid_size != 0)
        kernel_data_bytes(d, t->windows.sid, t->windows.sid_size);
    else
        put_host_user(d, t->user);
}

/* Reads and stores the details of a process. If memory runs out, the events of the process lack the details. */
void process_details_read(struct kernel_tracer *k, uint32_t process)
{
    struct process_details *t = id_map_put(&k->details, process);
    const uint32_t windows = t ? kernel_windows_process(k, process) : 0;
    struct windows_process now;
    uint32_t user;
    size_t first;
    char *command = t ? command_line(k, process, &first) : NULL;
    if (command) {
        memory_free(t->command);
        t->command = command;
        t->first = first;
    }
    if (t && user_of(k, process, &user)) {
        t->user = user;
        t->has_user = true;
    }
    if (windows != 0 && windows_process_read(windows, &now) == S_OK)
        t->windows = now;
}

void process_details_forget(struct kernel_tracer *k, uint32_t process)
{
    struct process_details *t = id_map_find(&k->details, process);
    if (t)
        memory_free(t->command);
    id_map_remove(&k->details, process);
}

void process_details_free(struct kernel_tracer *k)
{
    size_t at = 0;
    for (struct process_details *t; (t = id_map_next(&k->details, &at, NULL)) != NULL;)
        memory_free(t->command);
    id_map_free(&k->details);
}

/* ---- resource counters ---- */

/* Counters of processes are written when a process exits and at the end of the trace. Linux discards the counters when
   a process exits, so each pass reads the counters of a few processes. The event at the exit contains the values of the
   latest reading. If the counters of a process were never read, no event is written for them. */

enum { LOOKS_OF_PASS = 4, PAGE_BYTES = 4096, VERSION = 2 };

static uint64_t figure(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Counts the process's open files. Only the user of the process and root can see these files. */
static uint32_t handles_of(const struct kernel_tracer *k, uint32_t process)
{
    char *folder = text_format("%s/%" PRIu32 "/fd", kernel_proc(k), process);
    uint32_t *numbers = NULL;
    size_t count = 0;
    if (folder && FAILED(kernel_folder_numbers(folder, &numbers, &count)))
        count = 0;
    memory_free(numbers);
    memory_free(folder);
    return (uint32_t)count;
}

void counters_read(const struct kernel_tracer *k, uint32_t process, struct kernel_process *p)
{
    struct kernel_counters *c = &p->counters;
    struct process_status status;
    struct process_stat stat;
    char *text;
    size_t size;
    if (!kernel_wants(k, FLAG_PROCESS_COUNTERS) || p->is_kernel ||
        FAILED(kernel_process_text(k, process, "stat", &text, &size)))
        return;
    /* A process without virtual memory is exiting. */
    const bool sound = process_stat_parse(text, size, &stat) && stat.virtual_bytes != 0;
    memory_free(text);
    if (!sound || FAILED(kernel_process_text(k, process, "status", &text, &size)))
        return;
    process_status_parse(text, size, &status);
    memory_free(text);
    c->is_known = true;
    c->faults = (uint32_t)stat.faults;
    c->handles = handles_of(k, process);
    c->virtual = stat.virtual_bytes;
    c->resident = stat.resident_pages * PAGE_BYTES;
    c->private = figure(status.resident_private) + figure(status.swapped);
    c->virtual_peak = larger(larger(c->virtual_peak, figure(status.virtual_peak)), c->virtual);
    c->resident_peak = larger(larger(c->resident_peak, figure(status.resident_peak)), c->resident);
    c->private_peak = larger(c->private_peak, c->private);
}

void counters_poll(struct kernel_tracer *k)
{
    uint64_t process;
    struct kernel_process *p;
    for (int i = 0; kernel_wants(k, FLAG_PROCESS_COUNTERS) && i < LOOKS_OF_PASS; i++) {
        if (!(p = id_map_next(&k->processes, &k->looked, &process))) {
            k->looked = 0;
            return;
        }
        counters_read(k, (uint32_t)process, p);
    }
}

HRESULT counters_emit(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                      const struct kernel_process *p, enum kernel_hook hook)
{
    const struct kernel_counters *c = &p->counters;
    const uint64_t sizes[] = {
        c->virtual_peak, c->resident_peak, c->private_peak, 0, 0, /* quotas, which Linux does not have */
        c->virtual,      c->resident,      c->private,      0, 0, c->private};
    if (!kernel_wants(k, FLAG_PROCESS_COUNTERS) || !c->is_known)
        return S_OK;
    kernel_data_clear(&k->data);
    kernel_data_u32(&k->data, kernel_process_id(k, process));
    kernel_data_u32(&k->data, c->faults);
    kernel_data_u32(&k->data, c->handles);
    kernel_data_u32(&k->data, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        kernel_data_u64(&k->data, sizes[i]);
    return kernel_emit(k, e, hook, VERSION);
}

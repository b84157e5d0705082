/* SPDX-License-Identifier: MIT */
/* The object Control Group (OpenPLA only): the resources that the kernel charges to groups of processes. The instance
   "own" is the group of the process to which /proc/self refers. In native builds, /proc/self is this process. Under
   Wine, /proc/self is Wine's server, because the server opens the file, so "own" is the group of the Wine prefix. In a
   hierarchy of version 2 the groups of the first two levels, which are systemd's slices and services, are instances
   too. */
#include "engine/base/kernel_file.h"
#include "engine/pdh/core/source.h"
#include "engine/pdh/core/table.h"

#include <stdio.h>
#include <string.h>

/* Times are in microseconds. */
#define CONTROL_GROUP_ROWS                                                                                             \
    COLUMN(GROUP_CPU, "cpu")                                                                                           \
    COLUMN(GROUP_USER, "user")                                                                                         \
    COLUMN(GROUP_SYSTEM, "system")                                                                                     \
    COLUMN(GROUP_THROTTLED, "throttled")                                                                               \
    COLUMN(GROUP_MEMORY, "memory")                                                                                     \
    COLUMN(GROUP_MEMORY_MOST, "memory_max")                                                                            \
    COLUMN(GROUP_READ, "read_bytes")                                                                                   \
    COLUMN(GROUP_WRITTEN, "written_bytes")                                                                             \
    COLUMN(GROUP_READS, "reads")                                                                                       \
    COLUMN(GROUP_WRITES, "writes")                                                                                     \
    COLUMN(GROUP_TASKS, "tasks")                                                                                       \
    COUNTER("% Processor Time", PERF_100NSEC_TIMER, 6, 0, NO_TOTAL, "cpu * 10",                                        \
            "Processor time of the group's tasks as a percentage of one processor. It exceeds 100 if tasks run on "    \
            "several processors.")                                                                                     \
    COUNTER("% User Time", PERF_100NSEC_TIMER, 142, 0, NO_TOTAL, "user * 10",                                          \
            "The part of % Processor Time spent in programs' own code.")                                               \
    COUNTER("% Privileged Time", PERF_100NSEC_TIMER, 144, 0, NO_TOTAL, "system * 10",                                  \
            "The part of % Processor Time spent in the kernel.")                                                       \
    COUNTER("% Throttled Time", PERF_100NSEC_TIMER, 0, 0, NO_TOTAL, "throttled * 10",                                  \
            "Share of the time in which the group was throttled because it had used up its processor quota.")          \
    COUNTER("Memory Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 0, -6, NO_TOTAL, "memory",                                    \
            "Memory charged to the group, including cached file contents, in bytes.")                                  \
    COUNTER("Memory Limit Bytes", PERF_COUNTER_LARGE_RAWCOUNT, 0, -6, NO_TOTAL, "memory_max",                          \
            "Memory limit of the group, in bytes. Not available for a group without a limit.")                         \
    COUNTER("IO Read Bytes/sec", PERF_COUNTER_BULK_COUNT, 1418, -4, NO_TOTAL, "read_bytes",                            \
            "Bytes that the group read from disks.")                                                                   \
    COUNTER("IO Write Bytes/sec", PERF_COUNTER_BULK_COUNT, 1420, -4, NO_TOTAL, "written_bytes",                        \
            "Bytes that the group wrote to disks.")                                                                    \
    COUNTER("IO Read Operations/sec", PERF_COUNTER_BULK_COUNT, 1412, 0, NO_TOTAL, "reads",                             \
            "Read operations of the group on disks.")                                                                  \
    COUNTER("IO Write Operations/sec", PERF_COUNTER_BULK_COUNT, 1414, 0, NO_TOTAL, "writes",                           \
            "Write operations of the group on disks.")                                                                 \
    COUNTER("Tasks", PERF_COUNTER_RAWCOUNT, 0, 0, NO_TOTAL, "tasks", "Number of processes and threads of the group.")

#define OBJECT control_group
#define ROWS   CONTROL_GROUP_ROWS
#include "engine/pdh/core/counter_rows.inc"

#define GROUPS_MOST 256 /* maximum number of groups of the first two levels; further groups are not listed */
#define PATH_ROOM   1024

struct control_group_state {
    struct table_state table;
    struct kept_files files;
    struct kept_folder top;
    struct kept_folder *below; /* for each name in `top`: the names below it; all zero: not listed */
    size_t below_count;
};

static void forget_below(struct control_group_state *s)
{
    for (size_t i = 0; i < s->below_count; i++)
        kept_folder_close(&s->below[i]);
    memory_free(s->below);
    s->below = NULL;
    s->below_count = 0;
}

static void close_state(void *state)
{
    struct control_group_state *s = state;
    kept_files_close(&s->files);
    kept_folder_close(&s->top);
    forget_below(s);
}

/* The source of a number: a file in the group's folder and the name in that file; "": the file contains only the
   number. */
struct figure {
    int column;
    const char *file, *name;
};
static const struct figure figures[] = {
    {GROUP_CPU, "cpu.stat", "usage_usec"},     {GROUP_USER, "cpu.stat", "user_usec"},
    {GROUP_SYSTEM, "cpu.stat", "system_usec"}, {GROUP_THROTTLED, "cpu.stat", "throttled_usec"},
    {GROUP_MEMORY, "memory.current", ""},      {GROUP_MEMORY_MOST, "memory.max", ""},
    {GROUP_READ, "io.stat", "rbytes="},        {GROUP_WRITTEN, "io.stat", "wbytes="},
    {GROUP_READS, "io.stat", "rios="},         {GROUP_WRITES, "io.stat", "wios="},
    {GROUP_TASKS, "pids.current", ""}};

/* Sums the numbers after each word that begins with the name: one number in "usage_usec 12", one number per device in
   "8:0 rbytes=1 wbytes=2". */
static bool sum_of(const char *text, size_t size, const char *name, int64_t *sum)
{
    const char *end = text + size;
    size_t length = strlen(name);
    bool found = false;
    for (const char *p = text, *word; p < end; p = word + 1) {
        uint64_t value;
        word = kernel_word_end(p, end);
        if (kernel_starts(p, end, name, length) && (!length || name[length - 1] == '=' || p + length == word) &&
            kernel_number(p + length, end, &value)) {
            *sum = (found ? *sum : 0) + (int64_t)value;
            found = true;
            if (!length)
                break;
        }
    }
    return found;
}

/* Reads the numbers of one group of version 2. S_FALSE if the folder has no cpu.stat. A folder without cpu.stat is not
   a group's folder, because every group has a cpu.stat. */
static HRESULT read_group(struct control_group_state *s, const char *folder, int64_t *cells)
{
    const char *text = NULL, *read = "";
    size_t size = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (strcmp(read, figures[i].file) != 0) {
            char path[PATH_ROOM];
            read = figures[i].file;
            snprintf(path, sizeof path, "%s/%s", folder, read);
            hr = kept_files_text(&s->files, path, &text, &size);
            if (hr == E_OUTOFMEMORY || (FAILED(hr) && i == 0))
                return hr == E_OUTOFMEMORY ? hr : S_FALSE;
        }
        if (SUCCEEDED(hr))
            sum_of(text, size, figures[i].name, &cells[figures[i].column]);
    }
    return S_OK;
}

static HRESULT add_group(struct control_group_state *s, const char *folder, const char *name)
{
    int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, name, strlen(name), 0);
    if (!cells)
        return E_OUTOFMEMORY;
    HRESULT hr = read_group(s, folder, cells);
    if (hr == S_FALSE)
        s->table.row_count--; /* the group no longer exists, or is not a group */
    return FAILED(hr) ? hr : S_OK;
}

/* Reads the numbers of version 1, where each controller has a separate hierarchy. Times are in nanoseconds. */
static HRESULT read_old(struct control_group_state *s, const char *root, const char *controllers, const char *group,
                        int64_t *cells)
{
    static const struct {
        const char *controller, *file;
        int column, divisor;
    } files[] = {{"cpuacct", "cpuacct.usage", GROUP_CPU, 1000},
                 {"cpuacct", "cpuacct.usage_user", GROUP_USER, 1000},
                 {"cpuacct", "cpuacct.usage_sys", GROUP_SYSTEM, 1000},
                 {"memory", "memory.usage_in_bytes", GROUP_MEMORY, 1},
                 {"pids", "pids.current", GROUP_TASKS, 1}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[PATH_ROOM];
        if (!strstr(controllers, files[i].controller))
            continue;
        snprintf(path, sizeof path, "%s/sys/fs/cgroup/%s%s/%s", root, files[i].controller, group, files[i].file);
        int64_t value;
        HRESULT hr = kept_files_number(&s->files, path, &value);
        if (FAILED(hr))
            return hr;
        if (hr == S_OK)
            cells[files[i].column] = value / files[i].divisor;
    }
    return S_OK;
}

/* Adds the prefix's group, from a line "0::/path" for version 2 or lines "4:memory:/path" for the hierarchies of
   version 1. */
static HRESULT add_own(struct control_group_state *s, const char *root)
{
    char path[PATH_ROOM];
    const char *text;
    size_t size;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    HRESULT hr = kept_files_text(&s->files, path, &text, &size);
    if (FAILED(hr))
        return hr;
    char *lines = text_copy_n(text, size);
    int64_t *cells = lines ? table_add(&s->table, ROW_PLAIN, NULL, "own", 3, 0) : NULL;
    hr = cells ? S_OK : E_OUTOFMEMORY;
    for (char *line = lines, *next; SUCCEEDED(hr) && line && *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        group = strcmp(group, "/") == 0 ? group + 1 : group;
        if (controllers[1]) {
            hr = read_old(s, root, controllers + 1, group, cells);
            continue;
        }
        snprintf(path, sizeof path, "%s/sys/fs/cgroup%s", root, group);
        hr = read_group(s, path, cells);
    }
    memory_free(lines);
    return FAILED(hr) ? hr : S_OK;
}

/* Returns true if a name in a group's folder can be the name of a group. A name with a dot is a control file, such as
   "cpu.stat", unless it ends like the name of a systemd unit. */
static bool may_be_group(const char *name)
{
    static const char *const kinds[] = {".slice", ".service", ".scope", ".mount", ".socket", ".swap"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (length > strlen(kinds[i]) && !strcmp(name + length - strlen(kinds[i]), kinds[i]))
            return true;
    return !strchr(name, '.');
}

/* Lists the second level again if the list of the first level has changed. */
static HRESULT follow_below(struct control_group_state *s, uint64_t listed_before)
{
    if (s->top.listed_at == listed_before && s->below_count == s->top.names.count)
        return S_OK;
    forget_below(s);
    s->below = memory_zero(s->top.names.count ? s->top.names.count : 1, sizeof *s->below);
    s->below_count = s->below ? s->top.names.count : 0;
    return s->below ? S_OK : E_OUTOFMEMORY;
}

static HRESULT add_named(struct control_group_state *s, const char *root)
{
    char folder[PATH_ROOM], path[PATH_ROOM], name[PATH_ROOM];
    uint64_t listed_at = s->top.listed_at;
    snprintf(folder, sizeof folder, "%s/sys/fs/cgroup", root);
    HRESULT hr = kept_folder_follow(&s->top, folder, "");
    if (SUCCEEDED(hr))
        hr = follow_below(s, listed_at);
    for (size_t i = 0; SUCCEEDED(hr) && i < s->top.names.count && s->table.row_count < GROUPS_MOST; i++) {
        const char *top = s->top.names.items[i];
        size_t before = s->table.row_count;
        if (!may_be_group(top) || (size_t)snprintf(path, sizeof path, "%s/%s", folder, top) >= sizeof path)
            continue;
        hr = add_group(s, path, top);
        if (SUCCEEDED(hr) && s->table.row_count > before)
            hr = kept_folder_follow(&s->below[i], path, "");
        for (size_t k = 0; SUCCEEDED(hr) && k < s->below[i].names.count && s->table.row_count < GROUPS_MOST; k++) {
            const char *below = s->below[i].names.items[k];
            if (!may_be_group(below) || (size_t)snprintf(name, sizeof name, "%s/%s", top, below) >= sizeof name ||
                (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
                continue;
            hr = add_group(s, path, name);
        }
    }
    return hr;
}

/* Returns the columns for which the kernel's controllers have values. A controller's files begin with its name. The
   list of controllers is used because the top-level group, which may be a container's group, has only a few of these
   files. */
static uint64_t columns_of_controllers(const char *text, size_t size)
{
    uint64_t columns = 0;
    for (const char *p = text, *end = text + size, *word; p < end; p = word + 1) {
        word = kernel_word_end(p, end);
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            if (word > p && strcspn(figures[i].file, ".") == (size_t)(word - p) &&
                !memcmp(figures[i].file, p, (size_t)(word - p)))
                columns |= 1ull << figures[i].column;
    }
    return columns;
}

static HRESULT control_group_gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct control_group_state *s = o->state;
    HRESULT hr = add_own(s, source_root(source));
    char path[PATH_ROOM];
    const char *text;
    size_t size;
    snprintf(path, sizeof path, "%s/sys/fs/cgroup/cgroup.controllers", source_root(source));
    /* If the kernel has only control groups of version 1, there is no single hierarchy to list. */
    if (SUCCEEDED(hr)) {
        HRESULT unified = kept_files_text(&s->files, path, &text, &size);
        if (SUCCEEDED(unified))
            table_know_columns(&s->table, columns_of_controllers(text, size));
        hr = SUCCEEDED(unified) ? add_named(s, source_root(source)) : unified == E_OUTOFMEMORY ? unified : S_OK;
    }
    kept_files_sweep(&s->files);
    return hr;
}

const struct counter_object_type pdh_control_group = {
    .name = "Control Group",
    .help = "The resources that the kernel charges to control groups. The instances are \"own\", which is the group of "
            "the Wine prefix, and the groups of the first two levels.",
    .has_instances = true,
    TABLE_OBJECT(control_group, ALL_OF, struct control_group_state, control_group_gather, close_state,
                 "the files cpu.stat, memory.current, memory.max, io.stat (summed over the devices) and pids.current "
                 "in /sys/fs/cgroup/GROUP; own is the group in /proc/self/cgroup, and under Wine the group of Wine's "
                 "server; if version 1 of cgroups is mounted, the files are cpuacct.usage, usage_user and usage_sys, "
                 "memory.usage_in_bytes and pids.current")};

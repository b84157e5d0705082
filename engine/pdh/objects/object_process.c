/* SPDX-License-Identifier: MIT */
/* The objects Process and Thread: the processes of the process list, their threads, and their sums, _Total. There is no
   Idle: it has no working set to tell truly. */
#include "engine/base/registry.h"
#include "engine/pdh/objects/providers.h"

#include <stdio.h>
#include <string.h>

#define OBJECT process
#define ROWS   "engine/pdh/objects/process_counters.def"
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT thread
#define ROWS   "engine/pdh/objects/thread_counters.def"
#include "engine/pdh/core/counter_rows.inc"
#define BIT(column) (1ull << (column))

/* Names end with the process' id, "svchost_1234", where the user has set that (behaviour 26). */
#define NAMES_KEY   "SYSTEM\\CurrentControlSet\\Services\\PerfProc\\Performance"
#define NAMES_VALUE "ProcessNameFormat"
enum { NAME_WITH_ID = 2, NAME_ROOM = 784 /* bytes: the name of a file, 255 characters, and an id */ };

struct process_state {
    struct table_state table;
    bool format_known, with_id; /* read once, as Windows' provider does */
};

static void read_format(struct process_state *s)
{
    struct registry_key *key = NULL;
    uint64_t format = 0;
    if (!s->format_known && registry_open(NAMES_KEY, false, &key) == S_OK &&
        registry_read_number(key, NAMES_VALUE, &format) == S_OK)
        s->with_id = format == NAME_WITH_ID;
    s->format_known = true;
    registry_close(key);
}

/* The process' name as the objects show it, cut where there is no room. */
static size_t show_name(const struct process_state *s, const struct process_entry *e, char *out, size_t room)
{
    const int length = s->with_id ? snprintf(out, room, "%.*s_%u", (int)room - 16, e->name, (unsigned)e->id)
                                  : snprintf(out, room, "%s", e->name);
    return length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}

/* What the list must read for the columns. */
static uint32_t figures_for(uint64_t wanted)
{
    uint32_t needed = PROCESS_USE;
#define FIGURE(constant, name, field, figures) needed |= wanted & BIT(constant) ? figures : 0;
#include "engine/pdh/objects/process_figures.def"
#undef FIGURE
    return needed;
}

static uint64_t key_of(int64_t start, uint32_t id)
{
    return (uint64_t)start ^ (uint64_t)id << 32 ^ id;
}

static HRESULT gather_processes(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct process_state *s = o->state;
    const struct process_entry *entries;
    size_t count;
    read_format(s);
    HRESULT hr = source_processes(source, &o->hold, figures_for(wanted), &entries, &count, &o->time);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const struct process_entry *e = &entries[i];
        char name[NAME_ROOM];
        const size_t length = show_name(s, e, name, sizeof name);
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, name, length, key_of(e->start, e->id));
        if (!cells)
            return E_OUTOFMEMORY;
#define FIGURE(constant, name, field, figures) cells[constant] = e->field;
#include "engine/pdh/objects/process_figures.def"
#undef FIGURE
    }
    return SUCCEEDED(hr) ? table_add_total(&s->table, false, 0) : hr;
}
/* NOLINTNEXTLINE(misc-redundant-expression): two names of one number, today */
_Static_assert(PROCESS_ABSENT == VALUE_ABSENT, "absent figures are absent values");

static HRESULT gather_threads(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct process_state *s = o->state;
    const struct process_entry *entries;
    size_t count;
    read_format(s);
    HRESULT hr = source_processes(source, &o->hold, PROCESS_THREADS, &entries, &count, &o->time);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        const struct process_entry *e = &entries[i];
        char parent[NAME_ROOM];
        show_name(s, e, parent, sizeof parent);
        for (uint32_t n = 0; n < e->listed_threads; n++) {
            const struct thread_entry *from = &e->first_thread[n];
            char name[12];
            int length = snprintf(name, sizeof name, "%u", (unsigned)n);
            int64_t *cells =
                table_add(&s->table, ROW_PLAIN, parent, name, (size_t)length, key_of(from->start, from->id) ^ e->id);
            if (!cells)
                return E_OUTOFMEMORY;
            cells[THREAD_USER] = from->user_time;
            cells[THREAD_KERNEL] = from->kernel_time;
            cells[THREAD_SWITCHES] = from->context_switches;
            cells[THREAD_START] = from->start;
            cells[THREAD_PROCESS] = e->id;
            cells[THREAD_ID] = from->id;
            cells[THREAD_PRIORITY] = from->priority;
            cells[THREAD_BASE_PRIORITY] = from->base_priority;
            cells[THREAD_STATE] = from->state;
            cells[THREAD_WAIT] = from->wait_reason;
        }
    }
    return SUCCEEDED(hr) ? table_add_total(&s->table, true, 0) : hr;
}

#define ORIGIN                                                                                                         \
    "Windows processes: the system's list of processes (NtQuerySystemInformation), under Wine with faults, private, "  \
    "resident_private and the four of transfers from the Linux process behind: /proc/<id>/stat, status (RssAnon + "    \
    "VmSwap, RssAnon), io (syscr, syscw, rchar, wchar) and without handles. The host's processes: "                    \
    "/proc/<id>/stat, status, io and the entries of fd. user and kernel in 100 ns"
const struct provider pdh_process = {
    .name = "Process",
    .index = 230,
    .help = "The processes that run: under Wine those of this prefix.",
    .has_instances = true,
    TABLE_PROVIDER(process, ALL_OF, struct process_state, gather_processes, NULL, ORIGIN)};
const struct provider pdh_thread = {
    .name = "Thread",
    .index = 232,
    .help = "The threads of the processes that the object Process lists.",
    .has_instances = true,
    TABLE_PROVIDER(thread, ALL_OF, struct process_state, gather_threads, NULL,
                   "Windows processes: the system's list (NtQuerySystemInformation); the host's: "
                   "/proc/<id>/task/<id>/stat and status (voluntary_ctxt_switches + nonvoluntary_ctxt_switches). user "
                   "and kernel in 100 ns. The priorities are of Windows processes alone; switches, state and "
                   "wait_reason, under Wine, of the host's alone")};

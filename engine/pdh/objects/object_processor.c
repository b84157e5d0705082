/* SPDX-License-Identifier: MIT */
/* The objects Processor, Processor Information and Processor Performance: the online processors, from /proc/stat,
   interrupts and softirqs, and their frequencies and sleep states, from cpuinfo, cpufreq and cpuidle. */
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/core/kernel_text.h"
#include "engine/pdh/core/source.h"
#include "engine/pdh/core/table.h"

#include <stdio.h>
#include <string.h>

/* The states C1, C2 and C3 of ACPI. IDLE_C3 includes all deeper states. IDLE_ANY covers all states, even states without
   a depth. */
enum idle_depth { IDLE_C1, IDLE_C2, IDLE_C3, IDLE_ANY, IDLE_DEPTHS };
struct idle_figures {
    int64_t times[IDLE_DEPTHS];   /* in microseconds; INT64_MIN: the processor does not have the state */
    int64_t entries[IDLE_DEPTHS]; /* number of times the state was entered; INT64_MIN: the processor does not have the
                                     state */
};

/* Zero-initialise. */
struct idle_states {
    struct kept_files files;
    struct idle_state *states; /* the states of all processors */
    size_t count, capacity;
    uint64_t known; /* the `key` for which the states were found */
};

/* ---- sleep states of /sys/devices/system/cpu/cpuN/cpuidle ---- */

struct idle_state {
    uint32_t cpu;
    unsigned number;
    enum idle_depth depth;
};

/* Returns the depth of a state by its name: "C1", "C1E", "C1_ACPI", "C6". Some drivers number the states as the
   processor does, up to C10, but ACPI has only three states. Arm's lightest state is WFI. "POLL" has no depth: the
   processor is idle but does not sleep. */
static enum idle_depth depth_of(const char *name, const char *end)
{
    uint64_t number;
    if (kernel_starts(name, end, "WFI", 3))
        return IDLE_C1;
    if (!kernel_starts(name, end, "C", 1) || !kernel_number(name + 1, end, &number) || !number)
        return IDLE_ANY;
    return number == 1 ? IDLE_C1 : number == 2 ? IDLE_C2 : IDLE_C3;
}

/* Searches for the states of all `cpus` again if `key` has changed. `key` identifies the set of processors. Fails with
   E_OUTOFMEMORY or E_PENDING. */
static HRESULT idle_states_follow(struct idle_states *s, struct source_hold *hold, const char *root,
                                  const struct kernel_cpus *cpus, uint64_t key)
{
    if (s->known == (key | 1))
        return S_OK;
    if (!source_may_wait(hold))
        return E_PENDING;
    s->count = 0;
    s->known = 0;
    for (size_t i = 0; i < cpus->count; i++) {
        HRESULT hr = S_OK;
        for (unsigned number = 0; hr == S_OK; number++) {
            char path[512];
            const char *text;
            size_t size;
            snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%u/cpuidle/state%u/name", root,
                     (unsigned)cpus->cpus[i].id, number);
            hr = kept_files_text(&s->files, path, &text, &size);
            if (hr == E_OUTOFMEMORY ||
                (SUCCEEDED(hr) && !memory_grow((void **)&s->states, &s->capacity, s->count + 1, sizeof *s->states)))
                return E_OUTOFMEMORY;
            if (SUCCEEDED(hr))
                s->states[s->count++] = (struct idle_state){cpus->cpus[i].id, number, depth_of(text, text + size)};
        }
    }
    kept_files_close(&s->files); /* the files that contain the states' names never change */
    s->known = key | 1;
    return S_OK;
}

static void add(int64_t *to, int64_t value)
{
    *to = (*to == INT64_MIN ? 0 : *to) + value;
}

/* Reads the states of one processor. Fails with E_OUTOFMEMORY. */
static HRESULT idle_states_read(struct idle_states *s, const char *root, uint32_t cpu, struct idle_figures *out)
{
    for (size_t i = 0; i < IDLE_DEPTHS; i++)
        out->times[i] = out->entries[i] = INT64_MIN;
    for (size_t i = 0; i < s->count; i++) {
        const struct idle_state *state = &s->states[i];
        char path[512];
        int64_t time, entries;
        if (state->cpu != cpu)
            continue;
        snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%u/cpuidle/state%u/time", root, (unsigned)cpu,
                 state->number);
        HRESULT hr = kept_files_number(&s->files, path, &time);
        if (hr == S_OK) {
            snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%u/cpuidle/state%u/usage", root, (unsigned)cpu,
                     state->number);
            hr = kept_files_number(&s->files, path, &entries);
        }
        if (hr == E_OUTOFMEMORY)
            return hr;
        if (hr != S_OK)
            continue;
        add(&out->times[IDLE_ANY], time);
        add(&out->entries[IDLE_ANY], entries);
        if (state->depth != IDLE_ANY) {
            add(&out->times[state->depth], time);
            add(&out->entries[state->depth], entries);
        }
    }
    return S_OK;
}

static void idle_states_close(struct idle_states *s)
{
    kept_files_close(&s->files);
    memory_free(s->states);
}

/* ---- the objects ---- */

/* The rows of Processor; Processor Information also has the MORE rows. Times are in units of 10 ms. */
#define PROCESSOR_ROWS                                                                                                 \
    COLUMN(USER, "user")                                                                                               \
    COLUMN(NICE, "nice")                                                                                               \
    COLUMN(SYSTEM, "system")                                                                                           \
    COLUMN(IDLE, "idle")                                                                                               \
    COLUMN(IOWAIT, "iowait")                                                                                           \
    COLUMN(IRQ, "irq")                                                                                                 \
    COLUMN(SOFTIRQ, "softirq")                                                                                         \
    COLUMN(INTERRUPTS, "interrupts")                                                                                   \
    COLUMN(CLOCK_INTERRUPTS, "clock_interrupts")                                                                       \
    COLUMN(SOFTIRQS, "softirqs")                                                                                       \
    COLUMN(MHZ, "mhz")                                                                                                 \
    COLUMN(MAX_MHZ, "max_mhz")                                                                                         \
    COLUMN(DPC_RATE, "softirqs_per_tick")                                                                              \
    COLUMN(C1_TIME, "c1_time")                                                                                         \
    COLUMN(C2_TIME, "c2_time")                                                                                         \
    COLUMN(C3_TIME, "c3_time")                                                                                         \
    COLUMN(IDLE_TIME, "idle_time")                                                                                     \
    COLUMN(C1_ENTRIES, "c1_entries")                                                                                   \
    COLUMN(C2_ENTRIES, "c2_entries")                                                                                   \
    COLUMN(C3_ENTRIES, "c3_entries")                                                                                   \
    COLUMN(IDLE_ENTRIES, "idle_entries")                                                                               \
    COUNTER("% Processor Time", PERF_100NSEC_TIMER_INV, 6, 0, MEAN, "idle * 100000 + iowait * 100000",                 \
            "Share of the time in which the processor was not idle. Waiting for a disk counts as idle; time stolen "   \
            "by a hypervisor counts as busy.")                                                                         \
    COUNTER("% User Time", PERF_100NSEC_TIMER, 142, 0, MEAN, "user * 100000 + nice * 100000",                          \
            "Share of the time that programs spent in their own code.")                                                \
    COUNTER("% Privileged Time", PERF_100NSEC_TIMER, 144, 0, MEAN,                                                     \
            "system * 100000 + irq * 100000 + softirq * 100000",                                                       \
            "Share of the time spent in the kernel, including interrupt handlers.")                                    \
    COUNTER("Interrupts/sec", PERF_COUNTER_COUNTER, 148, -2, SUM, "interrupts",                                        \
            "Interrupts that the processor received from devices, the clock and other processors.")                    \
    COUNTER("% DPC Time", PERF_100NSEC_TIMER, 696, 0, MEAN, "softirq * 100000",                                        \
            "Share of the time spent on work deferred by interrupt handlers (soft interrupts).")                       \
    COUNTER("% Interrupt Time", PERF_100NSEC_TIMER, 698, 0, MEAN, "irq * 100000",                                      \
            "Share of the time spent in interrupt handlers. A kernel without exact accounting of interrupt time "      \
            "reports too little.")                                                                                     \
    COUNTER("DPCs Queued/sec", PERF_COUNTER_COUNTER, 1334, 0, SUM, "softirqs",                                         \
            "Soft interrupts that ran: work deferred by interrupt handlers.")                                          \
    COUNTER("DPC Rate", PERF_COUNTER_RAWCOUNT, 1336, 0, SUM, "softirqs_per_tick",                                      \
            "Average number of soft interrupts per clock interrupt of the processor since the previous sample.")       \
    COUNTER("% Idle Time", PERF_100NSEC_TIMER, 1746, 0, MEAN, "idle * 100000 + iowait * 100000",                       \
            "Share of the time in which the processor was idle, including waiting for a disk.")                        \
    COUNTER("% C1 Time", PERF_100NSEC_TIMER, 1748, 0, MEAN, "c1_time * 10",                                            \
            "Share of the time that the processor spent in C1, the lightest sleep state.")                             \
    COUNTER("% C2 Time", PERF_100NSEC_TIMER, 1750, 0, MEAN, "c2_time * 10",                                            \
            "Share of the time that the processor spent in C2, a deeper sleep state.")                                 \
    COUNTER("% C3 Time", PERF_100NSEC_TIMER, 1752, 0, MEAN, "c3_time * 10",                                            \
            "Share of the time that the processor spent in C3, the deepest sleep states (ACPI C3 and deeper).")        \
    COUNTER("C1 Transitions/sec", PERF_COUNTER_BULK_COUNT, 1754, 0, SUM, "c1_entries",                                 \
            "Transitions of the processor into C1.")                                                                   \
    COUNTER("C2 Transitions/sec", PERF_COUNTER_BULK_COUNT, 1756, 0, SUM, "c2_entries",                                 \
            "Transitions of the processor into C2.")                                                                   \
    COUNTER("C3 Transitions/sec", PERF_COUNTER_BULK_COUNT, 1758, 0, SUM, "c3_entries",                                 \
            "Transitions of the processor into C3.")                                                                   \
    MORE("Idle Break Events/sec", PERF_COUNTER_BULK_COUNT, 0, 0, SUM, "idle_entries",                                  \
         "Wake-ups of the processor from idle, from any sleep state.")                                                 \
    MORE("Average Idle Time", PERF_AVERAGE_BULK, 0, 0, SUM OVER(TIMES_IDLE), "idle_time * 10",                         \
         "Average duration of an idle period of the processor, in units of 100 ns.")                                   \
    MORE("Clock Interrupts/sec", PERF_COUNTER_COUNTER, 0, -2, SUM, "clock_interrupts",                                 \
         "Interrupts of the processor's own clock.")                                                                   \
    MORE("Processor Frequency", PERF_COUNTER_RAWCOUNT, 0, 0, MEAN, "mhz",                                              \
         "Current clock frequency of the processor as the kernel reports it, in MHz.")                                 \
    MORE("% of Maximum Frequency", PERF_RAW_FRACTION, 0, 0, MEAN OVER(MOST_MHZ), "mhz",                                \
         "Current clock frequency of the processor as a percentage of its maximum.")                                   \
    BASE(TIMES_IDLE, PERF_AVERAGE_BASE, SUM, "idle_entries")                                                           \
    BASE(MOST_MHZ, PERF_RAW_BASE, MEAN, "max_mhz")

/* Processor Performance. */
#define PROCESSOR_PERFORMANCE_ROWS                                                                                     \
    COLUMN(NOW_MHZ, "mhz")                                                                                             \
    COLUMN(SHARE_OF_MOST, "percent_of_max")                                                                            \
    COUNTER("Processor Frequency", PERF_COUNTER_RAWCOUNT, 0, 0, NO_TOTAL, "mhz",                                       \
            "Current clock frequency of the processor as the kernel reports it, in MHz.")                              \
    COUNTER("% of Maximum Frequency", PERF_COUNTER_RAWCOUNT, 0, 0, NO_TOTAL, "percent_of_max",                         \
            "Current clock frequency of the processor as a percentage of its maximum.")

#define OBJECT processor
#define ROWS   PROCESSOR_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define OBJECT processor_performance
#define ROWS   PROCESSOR_PERFORMANCE_ROWS
#include "engine/pdh/core/counter_rows.inc"
_Static_assert((int)SOFTIRQ == (int)CPU_SOFTIRQ, "the first columns have the order of enum kernel_cpu_time");
#define BIT(column) (1ull << (column))
#define OF_TICKS    (BIT(INTERRUPTS) | BIT(CLOCK_INTERRUPTS) | BIT(DPC_RATE))
#define OF_SLEEP                                                                                                       \
    (BIT(C1_TIME) | BIT(C2_TIME) | BIT(C3_TIME) | BIT(IDLE_TIME) | BIT(C1_ENTRIES) | BIT(C2_ENTRIES) |                 \
     BIT(C3_ENTRIES) | BIT(IDLE_ENTRIES))

/* The frequencies of one processor from cpufreq. Few virtual machines have these files. */
struct frequency {
    uint32_t cpu;
    struct kernel_file *now;
    int64_t max; /* MHz or VALUE_ABSENT */
};

/* The number of soft interrupts per clock interrupt of one processor. */
struct soft_rate {
    uint32_t cpu;
    uint64_t softirqs, ticks; /* values of the previous sample */
    int64_t rate;             /* rate since the previous sample; VALUE_ABSENT: no clock interrupt yet */
};

struct processor_state {
    struct table_state table;
    struct kernel_cpus cpus;
    struct kernel_counts interrupts, softirqs;
    struct soft_rate *rates;
    size_t rate_count, rate_capacity;
    struct idle_states idle;
    struct frequency *frequencies;
    size_t frequency_count, frequency_capacity;
    uint32_t *node_of; /* for each processor: its NUMA node */
    size_t node_capacity;
    uint64_t known; /* hash of the processors for which the nodes were found */
};

static void forget_frequencies(struct processor_state *s)
{
    for (size_t i = 0; i < s->frequency_count; i++)
        kernel_file_close(s->frequencies[i].now);
    s->frequency_count = 0;
}

static void close_state(void *state)
{
    struct processor_state *s = state;
    forget_frequencies(s);
    kernel_cpus_free(&s->cpus);
    kernel_counts_free(&s->interrupts);
    kernel_counts_free(&s->softirqs);
    idle_states_close(&s->idle);
    memory_free(s->rates);
    memory_free(s->frequencies);
    memory_free(s->node_of);
}

/* Returns a hash that identifies the set of processors. The totals have this hash as their key, so that the totals of
   another set of processors count as other instances: their means are not comparable. */
static uint64_t hash_of(const struct kernel_cpus *cpus)
{
    uint64_t h = HASH_START;
    for (size_t i = 0; i < cpus->count; i++)
        h = hash_number(h, cpus->cpus[i].id + 1);
    return h;
}

static HRESULT read_counts(struct counter_object *o, struct source *source, enum source_part part,
                           struct kernel_counts *counts)
{
    const char *text;
    size_t size;
    HRESULT hr = source_text(source, &o->hold, part, &text, &size, NULL);
    if (SUCCEEDED(hr))
        hr = kernel_counts_parse(text, size, counts);
    if (FAILED(hr))
        counts->count = 0;
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

static const struct kernel_count *count_of(const struct kernel_counts *counts, size_t hint, uint32_t cpu)
{
    for (size_t n = 0; n < counts->count; n++) {
        const struct kernel_count *c = &counts->counts[(hint + n) % counts->count];
        if (c->cpu == cpu)
            return c;
    }
    return NULL;
}

static struct soft_rate *rate_of(struct processor_state *s, size_t hint, uint32_t cpu)
{
    for (size_t n = 0; n < s->rate_count; n++) {
        struct soft_rate *r = &s->rates[(hint + n) % s->rate_count];
        if (r->cpu == cpu)
            return r;
    }
    if (!memory_grow((void **)&s->rates, &s->rate_capacity, s->rate_count + 1, sizeof *s->rates))
        return NULL;
    s->rates[s->rate_count] = (struct soft_rate){cpu, 0, 0, VALUE_ABSENT};
    return &s->rates[s->rate_count++];
}

/* Computes the rate between two samples, or for the first sample the rate since the computer started. If the clock has
   not advanced, as on an idle processor, the previous rate is kept. */
static HRESULT follow_rate(struct processor_state *s, size_t at, uint32_t cpu, int64_t *rate)
{
    const struct kernel_count *soft = count_of(&s->softirqs, at, cpu), *clock = count_of(&s->interrupts, at, cpu);
    struct soft_rate *r = rate_of(s, at, cpu);
    if (!r)
        return E_OUTOFMEMORY;
    if (!soft || !clock || !s->interrupts.has_clock) {
        *rate = VALUE_ABSENT;
        return S_OK;
    }
    uint64_t ticks = clock->clock - r->ticks;
    if (ticks > 0 && clock->clock > r->ticks && soft->sum >= r->softirqs) {
        r->rate = (int64_t)((soft->sum - r->softirqs + ticks / 2) / ticks);
        r->softirqs = soft->sum;
        r->ticks = clock->clock;
    }
    *rate = r->rate;
    return S_OK;
}

/* Reads /proc/stat, and the interrupt tables that the values in `wanted` need. */
static HRESULT read_all(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct processor_state *s = o->state;
    const char *text;
    size_t size;
    struct source_time time = {0};
    HRESULT hr = S_OK;
    if (wanted & OF_TICKS)
        hr = read_counts(o, source, SOURCE_INTERRUPTS, &s->interrupts);
    if (SUCCEEDED(hr) && (wanted & (BIT(SOFTIRQS) | BIT(DPC_RATE))))
        hr = read_counts(o, source, SOURCE_SOFTIRQS, &s->softirqs);
    if (SUCCEEDED(hr))
        hr = source_text(source, &o->hold, SOURCE_STAT, &text, &size, &time);
    if (SUCCEEDED(hr)) {
        o->time = time;
        hr = kernel_cpus_parse(text, size, &s->cpus);
    }
    if (SUCCEEDED(hr) && (wanted & OF_SLEEP))
        hr = idle_states_follow(&s->idle, &o->hold, source_root(source), &s->cpus, hash_of(&s->cpus));
    return hr;
}

static HRESULT processor_fill_cells(struct processor_state *s, const char *root, size_t at, uint64_t wanted,
                                    int64_t *cells)
{
    const struct kernel_cpu *cpu = &s->cpus.cpus[at];
    for (size_t i = 0; i < CPU_TIMES; i++)
        cells[i] = (int64_t)cpu->times[i];
    if (wanted & (BIT(INTERRUPTS) | BIT(CLOCK_INTERRUPTS))) {
        const struct kernel_count *c = count_of(&s->interrupts, at, cpu->id);
        cells[INTERRUPTS] = c ? (int64_t)c->sum : VALUE_ABSENT;
        cells[CLOCK_INTERRUPTS] = c && s->interrupts.has_clock ? (int64_t)c->clock : VALUE_ABSENT;
    }
    if (wanted & BIT(SOFTIRQS)) {
        const struct kernel_count *c = count_of(&s->softirqs, at, cpu->id);
        cells[SOFTIRQS] = c ? (int64_t)c->sum : VALUE_ABSENT;
    }
    HRESULT hr = wanted & BIT(DPC_RATE) ? follow_rate(s, at, cpu->id, &cells[DPC_RATE]) : S_OK;
    struct idle_figures idle;
    if (SUCCEEDED(hr) && (wanted & OF_SLEEP) && SUCCEEDED(hr = idle_states_read(&s->idle, root, cpu->id, &idle))) {
        memcpy(cells + C1_TIME, idle.times, sizeof idle.times);
        memcpy(cells + C1_ENTRIES, idle.entries, sizeof idle.entries);
    }
    return hr;
}
/* NOLINTNEXTLINE(misc-redundant-expression): the same number under two names */
_Static_assert(VALUE_ABSENT == INT64_MIN, "the number for a state that the processor does not have is VALUE_ABSENT");
_Static_assert((int)C1_TIME + (int)IDLE_ANY == (int)IDLE_TIME && (int)C1_ENTRIES + (int)IDLE_ANY == (int)IDLE_ENTRIES,
               "the columns of sleep states have the order of enum idle_depth");

static HRESULT gather_processors(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct processor_state *s = o->state;
    HRESULT hr = read_all(o, source, wanted);
    for (size_t i = 0; SUCCEEDED(hr) && i < s->cpus.count; i++) {
        char name[12];
        int length = snprintf(name, sizeof name, "%u", (unsigned)s->cpus.cpus[i].id);
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, name, (size_t)length, 0);
        if (!cells)
            return E_OUTOFMEMORY;
        hr = processor_fill_cells(s, source_root(source), i, wanted, cells);
    }
    return SUCCEEDED(hr) ? table_add_total(&s->table, false, hash_of(&s->cpus)) : hr;
}

/* Finds the NUMA node of each processor; all are 0 if the kernel has no nodes. */
static HRESULT find_nodes(struct processor_state *s, const char *root)
{
    HRESULT hr = S_OK;
    if (!memory_grow((void **)&s->node_of, &s->node_capacity, s->cpus.count, sizeof *s->node_of))
        return E_OUTOFMEMORY;
    memset(s->node_of, 0, s->cpus.count * sizeof *s->node_of);
    for (uint32_t node = 1; hr == S_OK && node < 1024; node++) {
        char path[512], *text;
        snprintf(path, sizeof path, "%s/sys/devices/system/node/node%u/cpulist", root, (unsigned)node);
        hr = kernel_file_text(path, &text, NULL);
        for (size_t i = 0; SUCCEEDED(hr) && i < s->cpus.count; i++)
            if (kernel_list_has(text, strlen(text), s->cpus.cpus[i].id))
                s->node_of[i] = node;
        memory_free(text);
    }
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

static HRESULT open_frequencies(struct processor_state *s, const char *root)
{
    forget_frequencies(s);
    if (!memory_grow((void **)&s->frequencies, &s->frequency_capacity, s->cpus.count, sizeof *s->frequencies))
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < s->cpus.count; i++) {
        struct frequency *f = &s->frequencies[s->frequency_count++];
        char path[512], *text;
        uint64_t khz;
        *f = (struct frequency){s->cpus.cpus[i].id, NULL, VALUE_ABSENT};
        snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq", root, (unsigned)f->cpu);
        HRESULT hr = kernel_file_text(path, &text, NULL);
        if (SUCCEEDED(hr) && text_to_u64(text, &khz))
            f->max = (int64_t)(khz / 1000);
        memory_free(text);
        snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", root, (unsigned)f->cpu);
        if (hr == E_OUTOFMEMORY || (hr = kernel_file_open(path, &f->now)) == E_OUTOFMEMORY)
            return hr;
    }
    return S_OK;
}

/* Reads the frequencies from cpufreq, or from cpuinfo if there is no cpufreq. */
static HRESULT read_frequencies(struct counter_object *o, struct source *source, struct processor_state *s,
                                int64_t *mhz)
{
    const char *text;
    size_t size;
    uint64_t khz;
    bool all = true;
    for (size_t i = 0; i < s->cpus.count; i++) {
        struct kernel_file *f = s->frequencies[i].now;
        if (f && !source_may_wait(&o->hold)) /* the driver may be slow */
            return E_PENDING;
        bool ok = f && SUCCEEDED(kernel_file_read(f, &text, &size)) && text_to_u64(text, &khz);
        mhz[i] = ok ? (int64_t)(khz / 1000) : VALUE_ABSENT;
        all &= ok;
    }
    HRESULT hr = all ? S_FALSE : source_text(source, &o->hold, SOURCE_CPUINFO, &text, &size, NULL);
    if (hr != S_OK)
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    struct kernel_row row;
    for (const char *at = text; kernel_cpuinfo_next(&at, text + size, &row);) {
        for (size_t i = 0; i < s->cpus.count && row.count == 2; i++)
            if (s->cpus.cpus[i].id == row.values[0] && mhz[i] == VALUE_ABSENT)
                mhz[i] = (int64_t)(row.values[1] / 1000);
    }
    return S_OK;
}

/* Adds the processors of one node and their subtotal. */
static HRESULT add_node(struct processor_state *s, const char *root, uint32_t node, uint64_t wanted, const int64_t *mhz)
{
    char name[24];
    unsigned number = 0;
    uint64_t key = HASH_START;
    for (size_t i = 0; i < s->cpus.count; i++) {
        if (s->node_of[i] != node)
            continue;
        int length = snprintf(name, sizeof name, "%u,%u", (unsigned)node, number++);
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, name, (size_t)length, s->cpus.cpus[i].id);
        if (!cells)
            return E_OUTOFMEMORY;
        HRESULT hr = processor_fill_cells(s, root, i, wanted, cells);
        if (FAILED(hr))
            return hr;
        if (mhz) {
            cells[MHZ] = mhz[i];
            cells[MAX_MHZ] = s->frequencies[i].max;
        }
        key = hash_number(key, s->cpus.cpus[i].id);
    }
    int length = snprintf(name, sizeof name, "%u,_Total", (unsigned)node);
    return number == 0 || table_add(&s->table, ROW_SUBTOTAL, NULL, name, (size_t)length, key) ? S_OK : E_OUTOFMEMORY;
}

/* Updates nodes and frequencies if the set of processors has changed. */
static HRESULT processors_follow_kernel(struct processor_state *s, struct source_hold *hold, const char *root)
{
    HRESULT hr = S_OK;
    if (s->known != hash_of(&s->cpus)) {
        if (!source_may_wait(hold))
            return E_PENDING;
        hr = find_nodes(s, root);
        if (SUCCEEDED(hr))
            hr = open_frequencies(s, root);
        s->known = SUCCEEDED(hr) ? hash_of(&s->cpus) : 0;
    }
    return hr;
}

static HRESULT gather_information(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct processor_state *s = o->state;
    int64_t *mhz = NULL;
    HRESULT hr = read_all(o, source, wanted);
    if (SUCCEEDED(hr))
        hr = processors_follow_kernel(s, &o->hold, source_root(source));
    if (SUCCEEDED(hr) && (wanted & (BIT(MHZ) | BIT(MAX_MHZ)))) {
        mhz = memory_alloc(s->cpus.count * sizeof *mhz);
        hr = mhz ? read_frequencies(o, source, s, mhz) : E_OUTOFMEMORY;
    }
    uint32_t last = 0;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->cpus.count; i++)
        last = s->node_of[i] > last ? s->node_of[i] : last;
    for (uint32_t node = 0; SUCCEEDED(hr) && node <= last; node++)
        hr = add_node(s, source_root(source), node, wanted, mhz);
    memory_free(mhz);
    return SUCCEEDED(hr) ? table_add_total(&s->table, false, hash_of(&s->cpus)) : hr;
}

static HRESULT gather_performance(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct processor_state *s = o->state;
    HRESULT hr = read_all(o, source, 0);
    if (SUCCEEDED(hr))
        hr = processors_follow_kernel(s, &o->hold, source_root(source));
    int64_t *mhz = SUCCEEDED(hr) ? memory_alloc(s->cpus.count * sizeof *mhz) : NULL;
    if (SUCCEEDED(hr))
        hr = mhz ? read_frequencies(o, source, s, mhz) : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->cpus.count; i++) {
        char name[32];
        int length = snprintf(name, sizeof name, "PPM_Processor_%u", (unsigned)s->cpus.cpus[i].id);
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, name, (size_t)length, 0), most = s->frequencies[i].max;
        if (!cells) {
            hr = E_OUTOFMEMORY;
        } else {
            cells[NOW_MHZ] = mhz[i];
            if (mhz[i] != VALUE_ABSENT && most != VALUE_ABSENT && most > 0)
                cells[SHARE_OF_MOST] = (mhz[i] * 100 + most / 2) / most;
        }
    }
    memory_free(mhz);
    return hr;
}

#define ORIGIN                                                                                                         \
    "user to softirq are from the processor's line in /proc/stat, in units of 10 ms; interrupts is the sum of the "    \
    "processor's column in /proc/interrupts, and clock_interrupts is the line LOC of that column; softirqs is the "    \
    "sum of the processor's column in /proc/softirqs; softirqs_per_tick is softirqs divided by clock_interrupts, "     \
    "both since the previous sample; times, in us, and entries are from the files time and usage in "                  \
    "/sys/devices/system/cpu/cpuN/cpuidle/stateK; the name of the state decides the column: c1_ for C1 and WFI, c2_ "  \
    "for C2, c3_ for C3 and deeper states, idle_ for all states"
const struct counter_object_type pdh_processor = {
    .name = "Processor",
    .index = 238,
    .help = "How the processors of this computer spend their time.",
    .has_instances = true,
    .tries_at_once = true,
    TABLE_OBJECT(processor, SHARED_OF, struct processor_state, gather_processors, close_state, ORIGIN)};
const struct counter_object_type pdh_processor_information = {
    .name = "Processor Information",
    .help = "The processors of this computer by NUMA node, as \"node,processor in the node\", with totals.",
    .has_instances = true,
    .tries_at_once = true,
    TABLE_OBJECT(
        processor, ALL_OF, struct processor_state, gather_information, close_state,
        ORIGIN
        "; mhz is from scaling_cur_freq and max_mhz is from cpuinfo_max_freq in /sys/devices/system/cpu/cpuN/cpufreq; "
        "if scaling_cur_freq does not exist, mhz is \"cpu MHz\" in /proc/cpuinfo")};
const struct counter_object_type pdh_processor_performance = {
    .name = "Processor Performance",
    .help = "The clock frequencies of this computer's processors.",
    .has_instances = true,
    .tries_at_once = true,
    TABLE_OBJECT(
        processor_performance, ALL_OF, struct processor_state, gather_performance, close_state,
        "mhz is from scaling_cur_freq and max_mhz is from cpuinfo_max_freq in /sys/devices/system/cpu/cpuN/cpufreq; if "
        "scaling_cur_freq does not exist, mhz is \"cpu MHz\" in /proc/cpuinfo")};

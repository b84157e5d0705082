/* SPDX-License-Identifier: MIT */
/* The objects Processor and Processor Information: the online processors, from /proc/stat, interrupts and softirqs, and
   what cpuinfo and cpufreq tell of their clocks. */
#include "engine/os/hash.h"
#include "engine/os/kernel_file.h"
#include "engine/os/memory.h"
#include "engine/pdh/providers.h"

#include <stdio.h>
#include <string.h>

#define OBJECT processor
#define ROWS   "engine/pdh/processor_counters.def"
#include "engine/pdh/counter_rows.inc"
_Static_assert((int)SOFTIRQ == (int)CPU_SOFTIRQ, "the first columns are the times of a processor");
#define BIT(column) (1ull << (column))

/* What cpufreq tells of one processor; the files are there on few virtual machines. */
struct frequency {
    uint32_t cpu;
    struct kernel_file *now;
    int64_t max; /* MHz or VALUE_ABSENT */
};

struct processor_state {
    struct table_state table;
    struct kernel_cpus cpus;
    struct kernel_counts interrupts, softirqs;
    struct frequency *frequencies;
    size_t frequency_count, frequency_capacity;
    uint32_t *node_of; /* beside the processors */
    size_t node_capacity;
    uint64_t known; /* hash of the processors for which the nodes were read */
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
    memory_free(s->frequencies);
    memory_free(s->node_of);
}

/* Their mean over other processors is another figure: the totals' key. */
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

/* What every reading asks for: stat, and of the tables of interrupts those that are wanted. */
static HRESULT read_all(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct processor_state *s = o->state;
    const char *text;
    size_t size;
    struct source_time time = {0};
    HRESULT hr = S_OK;
    if (wanted & (BIT(INTERRUPTS) | BIT(CLOCK_INTERRUPTS)))
        hr = read_counts(o, source, SOURCE_INTERRUPTS, &s->interrupts);
    if (SUCCEEDED(hr) && (wanted & BIT(SOFTIRQS)))
        hr = read_counts(o, source, SOURCE_SOFTIRQS, &s->softirqs);
    if (SUCCEEDED(hr))
        hr = source_text(source, &o->hold, SOURCE_STAT, &text, &size, &time);
    if (SUCCEEDED(hr)) {
        o->time = time;
        hr = kernel_cpus_parse(text, size, &s->cpus);
    }
    return hr;
}

static void fill(const struct processor_state *s, size_t at, uint64_t wanted, int64_t *cells)
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
}

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
        fill(s, i, wanted, cells);
    }
    return SUCCEEDED(hr) ? table_add_total(&s->table, false, hash_of(&s->cpus)) : hr;
}

/* Which NUMA node each processor belongs to; all to 0 where the kernel knows no nodes. */
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

/* From cpufreq, else from cpuinfo. */
static HRESULT read_frequencies(struct counter_object *o, struct source *source, struct processor_state *s,
                                int64_t *mhz)
{
    const char *text;
    size_t size;
    uint64_t khz;
    bool all = true;
    for (size_t i = 0; i < s->cpus.count; i++) {
        struct kernel_file *f = s->frequencies[i].now;
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

/* The processors of one node and their subtotal. */
static HRESULT add_node(struct processor_state *s, uint32_t node, uint64_t wanted, const int64_t *mhz)
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
        fill(s, i, wanted, cells);
        if (mhz) {
            cells[MHZ] = mhz[i];
            cells[MAX_MHZ] = s->frequencies[i].max;
        }
        key = hash_number(key, s->cpus.cpus[i].id);
    }
    int length = snprintf(name, sizeof name, "%u,_Total", (unsigned)node);
    return number == 0 || table_add(&s->table, ROW_SUBTOTAL, NULL, name, (size_t)length, key) ? S_OK : E_OUTOFMEMORY;
}

static HRESULT gather_information(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct processor_state *s = o->state;
    int64_t *mhz = NULL;
    HRESULT hr = read_all(o, source, wanted);
    if (SUCCEEDED(hr) && s->known != hash_of(&s->cpus)) {
        hr = find_nodes(s, source_root(source));
        if (SUCCEEDED(hr))
            hr = open_frequencies(s, source_root(source));
        s->known = SUCCEEDED(hr) ? hash_of(&s->cpus) : 0;
    }
    if (SUCCEEDED(hr) && (wanted & (BIT(MHZ) | BIT(MAX_MHZ)))) {
        mhz = memory_alloc(s->cpus.count * sizeof *mhz);
        hr = mhz ? read_frequencies(o, source, s, mhz) : E_OUTOFMEMORY;
    }
    uint32_t last = 0;
    for (size_t i = 0; SUCCEEDED(hr) && i < s->cpus.count; i++)
        last = s->node_of[i] > last ? s->node_of[i] : last;
    for (uint32_t node = 0; SUCCEEDED(hr) && node <= last; node++)
        hr = add_node(s, node, wanted, mhz);
    memory_free(mhz);
    return SUCCEEDED(hr) ? table_add_total(&s->table, false, hash_of(&s->cpus)) : hr;
}

#define ORIGIN                                                                                                         \
    "user to softirq: /proc/stat, per processor, in 10 ms; interrupts and clock_interrupts: /proc/interrupts, the "    \
    "processor's column and its LOC line; softirqs: /proc/softirqs, the processor's column"
const struct provider pdh_processor = {
    .name = "Processor",
    .index = 238,
    .help = "How the processors of this computer spend their time.",
    .has_instances = true,
    TABLE_PROVIDER(processor, SHARED_OF, struct processor_state, gather_processors, close_state, ORIGIN)};
const struct provider pdh_processor_information = {
    .name = "Processor Information",
    .help = "The processors of this computer by NUMA node: \"node,number in the node\", and totals.",
    .has_instances = true,
    TABLE_PROVIDER(processor, ALL_OF, struct processor_state, gather_information, close_state,
                   ORIGIN "; mhz and max_mhz: /sys/devices/system/cpu/cpuN/cpufreq/scaling_cur_freq and "
                          "cpuinfo_max_freq, mhz else \"cpu MHz\" of /proc/cpuinfo")};

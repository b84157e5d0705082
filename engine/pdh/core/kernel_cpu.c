/* SPDX-License-Identifier: MIT */
/* Parsers of files with figures per processor. */
#include "engine/base/kernel_number.h"
#include "engine/base/memory.h"
#include "engine/pdh/core/kernel_text.h"

#define STARTS(p, end, literal) kernel_starts(p, end, literal, sizeof(literal) - 1)

/* "cpu0 user nice system idle iowait irq softirq ..."; false when it is cut off before idle. */
static bool parse_cpu(const char *p, const char *end, struct kernel_cpu *cpu)
{
    uint64_t id = 0;
    size_t n = 0;
    *cpu = (struct kernel_cpu){0};
    p = kernel_number(p, end, &id);
    while (p && n < CPU_TIMES && (p = kernel_number(p, end, &cpu->times[n])))
        n++;
    cpu->id = (uint32_t)id;
    return n > CPU_IDLE && id <= UINT32_MAX;
}

HRESULT kernel_cpus_parse(const char *text, size_t size, struct kernel_cpus *out)
{
    const char *end = text + size;
    out->count = 0;
    /* The lines of the processors are the first ones. */
    for (const char *p = text, *line; p < end && STARTS(p, end, "cpu"); p = line + 1) {
        struct kernel_cpu cpu;
        line = kernel_line_end(p, end);
        if (line - p <= 3 || p[3] < '0' || p[3] > '9' || !parse_cpu(p + 3, line, &cpu))
            continue;
        if (!memory_grow((void **)&out->cpus, &out->capacity, out->count + 1, sizeof *out->cpus))
            return E_OUTOFMEMORY;
        out->cpus[out->count++] = cpu;
    }
    return out->count ? S_OK : error_set(E_FAIL, "/proc/stat: no processor in its %u bytes", (unsigned)size);
}

void kernel_cpus_free(struct kernel_cpus *cpus)
{
    memory_free(cpus->cpus);
    *cpus = (struct kernel_cpus){0};
}

/* "   CPU0   CPU1": the columns. */
static HRESULT parse_columns(const char *p, const char *end, struct kernel_counts *out)
{
    uint64_t id;
    while (p = kernel_skip(p, end), STARTS(p, end, "CPU") && (p = kernel_number(p + 3, end, &id))) {
        if (!memory_grow((void **)&out->counts, &out->capacity, out->count + 1, sizeof *out->counts))
            return E_OUTOFMEMORY;
        out->counts[out->count++] = (struct kernel_count){.cpu = (uint32_t)id};
    }
    return out->count ? S_OK : E_FAIL;
}

/* " 24:   1   0  text": adds the numbers if there is one for each column. */
static void add_line(const char *p, const char *end, struct kernel_counts *out)
{
    const char *label = kernel_skip(p, end);
    const char *colon = text_find(label, end, ':');
    uint64_t v;
    size_t n = 0;
    /* The TLB's are counted under CAL already. */
    if (!colon || (colon - label == 3 && !memcmp(label, "TLB", 3)))
        return;
    for (const char *at = colon + 1; n < out->count && (at = kernel_number(at, end, &v));)
        n++;
    if (n < out->count)
        return; /* a sum of all processors, like ERR */
    bool clock = colon - label == 3 && !memcmp(label, "LOC", 3);
    const char *at = colon + 1;
    for (n = 0; n < out->count && (at = kernel_number(at, end, &v)); n++) {
        out->counts[n].sum += v;
        out->counts[n].clock = clock ? v : out->counts[n].clock;
    }
    out->has_clock |= clock;
}

HRESULT kernel_columns_parse(const char *text, size_t size, struct kernel_counts *out)
{
    out->count = 0;
    out->has_clock = false;
    HRESULT hr = parse_columns(text, kernel_line_end(text, text + size), out);
    return hr == E_FAIL ? error_set(hr, "a table of interrupts: no processor in its first line") : hr;
}

HRESULT kernel_counts_parse(const char *text, size_t size, struct kernel_counts *out)
{
    const char *end = text + size, *line = kernel_line_end(text, end);
    HRESULT hr = kernel_columns_parse(text, size, out);
    for (const char *p = line; SUCCEEDED(hr) && p < end; p = line) {
        line = kernel_line_end(p + 1, end);
        add_line(p + 1, line, out);
    }
    return hr;
}

void kernel_counts_free(struct kernel_counts *counts)
{
    memory_free(counts->counts);
    *counts = (struct kernel_counts){0};
}

/* " 38:   0   20710   PCI-MSIX-0000:00:03.0   1-edge   virtio2-input.0": the last word is the user, and stands behind a
   comma where there are several. */
static bool parse_interrupt(const char *p, const char *end, struct kernel_interrupt *out)
{
    uint64_t count;
    p = kernel_number(p, end, &out->number);
    if (!p || p == end || *p != ':')
        return false;
    out->counts = ++p;
    out->end = end;
    for (const char *next; (next = kernel_number(p, end, &count));)
        p = next;
    const char *last = end;
    while (last > p && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    out->user = last;
    while (out->user > p && out->user[-1] != ' ' && out->user[-1] != '\t')
        out->user--;
    const char *before = out->user;
    while (before > p && (before[-1] == ' ' || before[-1] == '\t'))
        before--;
    out->user_length = before > p && before[-1] != ',' ? (size_t)(last - out->user) : 0;
    return true;
}

bool kernel_interrupt_next(const char **at, const char *end, struct kernel_interrupt *out)
{
    bool found = false;
    while (!found && *at < end) {
        const char *line = kernel_line_end(*at, end);
        *out = (struct kernel_interrupt){0};
        found = parse_interrupt(*at, line, out);
        *at = line < end ? line + 1 : end;
    }
    return found;
}

/* "cpu MHz\t\t: 2299.998" as thousandths. */
static bool parse_mhz(const char *p, const char *end, uint64_t *thousandths)
{
    const char *colon = text_find(p, end, ':');
    uint64_t whole;
    p = colon ? kernel_number(colon + 1, end, &whole) : NULL;
    if (!p || whole > UINT32_MAX)
        return false;
    *thousandths = whole * 1000;
    if (p < end && *p == '.') {
        uint64_t unit = 100;
        for (p++; p < end && *p >= '0' && *p <= '9' && unit; p++, unit /= 10)
            *thousandths += (uint64_t)(*p - '0') * unit;
    }
    return true;
}

bool kernel_cpuinfo_next(const char **at, const char *end, struct kernel_row *row)
{
    bool found = false;
    const char *p = *at;
    for (const char *line; p < end; p = line < end ? line + 1 : end) {
        line = kernel_line_end(p, end);
        if (STARTS(p, line, "processor\t")) {
            const char *colon = text_find(p, line, ':');
            if (found)
                break;
            *row = (struct kernel_row){.count = 1};
            found = colon && kernel_number(colon + 1, line, &row->values[0]);
        } else if (found && STARTS(p, line, "cpu MHz") && parse_mhz(p, line, &row->values[1])) {
            row->count = 2;
        }
    }
    *at = p;
    return found;
}

bool kernel_list_has(const char *text, size_t size, uint64_t number)
{
    const char *end = text + size;
    const char *p = text;
    uint64_t first, last;
    while ((p = kernel_number(p, end, &first))) {
        last = first;
        if (p < end && *p == '-' && !(p = kernel_number(p + 1, end, &last)))
            return false;
        if (number >= first && number <= last)
            return true;
        p += p < end && *p == ',';
    }
    return false;
}

/* SPDX-License-Identifier: MIT */
/* Parsers of /proc/stat and /proc/meminfo. */
#include "engine/pdh/kernel_text.h"
#include "engine/os/memory.h"
#include <string.h>

/* Reads a decimal number after blanks; more than 64 bits stick at the largest. NULL: there is none. */
static const char *number(const char *p, const char *end, uint64_t *out)
{
    while (p < end && *p == ' ') {
        p++;
    }
    const char *start = p;
    uint64_t v = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        unsigned digit = (unsigned)(*p - '0');
        v = v > (UINT64_MAX - digit) / 10 ? UINT64_MAX : v * 10 + digit;
    }
    *out = v;
    return p > start ? p : NULL;
}

static bool starts(const char *p, const char *end, const char *word, size_t length)
{
    return (size_t)(end - p) >= length && !memcmp(p, word, length);
}
#define STARTS(p, end, literal) starts(p, end, literal, sizeof(literal) - 1)

/* "cpu0 user nice system idle iowait irq softirq ..."; false when it is cut off before idle. */
static bool parse_cpu(const char *p, const char *end, struct kernel_cpu *cpu)
{
    uint64_t id = 0, v[7] = {0};
    p = number(p + 3, end, &id);
    size_t n = 0;
    while (p && n < 7 && (p = number(p, end, &v[n])) != NULL) {
        n++;
    }
    *cpu = (struct kernel_cpu){.id = (uint32_t)id, v[0] + v[1], v[2] + v[5] + v[6], v[3] + v[4]};
    return n >= 4 && id <= UINT32_MAX;
}

HRESULT kernel_stat_parse(const char *text, size_t size, struct kernel_stat *out)
{
    const char *end = text + size;
    out->count = 0;
    out->has_context_switches = out->has_running = false;
    for (const char *p = text; p < end;) {
        const char *line = memchr(p, '\n', (size_t)(end - p));
        line = line ? line : end;
        if (STARTS(p, line, "cpu") && line - p > 3 && p[3] >= '0' && p[3] <= '9') {
            struct kernel_cpu cpu;
            if (parse_cpu(p, line, &cpu)) {
                if (!memory_grow((void **)&out->cpus, &out->capacity, out->count + 1, sizeof *out->cpus)) {
                    return E_OUTOFMEMORY;
                }
                out->cpus[out->count++] = cpu;
            }
        } else if (STARTS(p, line, "ctxt ")) {
            out->has_context_switches = number(p + 5, line, &out->context_switches) != NULL;
        } else if (STARTS(p, line, "procs_running ")) {
            out->has_running = number(p + 14, line, &out->running) != NULL;
        }
        p = line < end ? line + 1 : end;
    }
    return out->count ? S_OK : error_set(E_FAIL, "/proc/stat: no processor in its %u bytes", (unsigned)size);
}

void kernel_stat_free(struct kernel_stat *stat)
{
    memory_free(stat->cpus);
    *stat = (struct kernel_stat){0};
}

static void memory_line(const char *p, const char *end, uint64_t *bytes, bool *has)
{
    uint64_t kilobytes;
    if (number(p, end, &kilobytes) && kilobytes <= UINT64_MAX / 1024) {
        *bytes = kilobytes * 1024;
        *has = true;
    }
}

HRESULT kernel_memory_parse(const char *text, size_t size, struct kernel_memory *out)
{
    const char *end = text + size;
    *out = (struct kernel_memory){0};
    for (const char *p = text; p < end;) {
        const char *line = memchr(p, '\n', (size_t)(end - p));
        line = line ? line : end;
        if (STARTS(p, line, "MemTotal:")) {
            memory_line(p + 9, line, &out->total, &out->has_total);
        } else if (STARTS(p, line, "MemAvailable:")) {
            memory_line(p + 13, line, &out->available, &out->has_available);
        } else if (STARTS(p, line, "CommitLimit:")) {
            memory_line(p + 12, line, &out->commit_limit, &out->has_commit_limit);
        } else if (STARTS(p, line, "Committed_AS:")) {
            memory_line(p + 13, line, &out->committed, &out->has_committed);
            break; /* the last of ours, half way down the file */
        }
        p = line < end ? line + 1 : end;
    }
    bool any = out->has_total || out->has_available || out->has_committed || out->has_commit_limit;
    return any ? S_OK : error_set(E_FAIL, "/proc/meminfo: no memory figure in its %u bytes", (unsigned)size);
}

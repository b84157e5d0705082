/* SPDX-License-Identifier: MIT */
/* What processes use, told when they end and at the end of the trace. When one has ended Linux has forgotten it, so
   each is looked at now and then, a few at a time: what is told of its end is as it was then, and nothing of one that
   nobody had looked at. */
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/process_text.h"
#include "engine/etw/kernel/tracepoint.h"

#include <stdio.h>
#include <inttypes.h>

enum { LOOKS_OF_PASS = 4, PAGE_BYTES = 4096, VERSION = 2 };

static uint64_t figure(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The files that it has open, of which only its own user and root may know. */
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
    const bool sound = process_stat_parse(text, size, &stat) && stat.virtual_bytes != 0; /* else it is on its way out */
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

void counters_look(struct kernel_tracer *k)
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

HRESULT counters_tell(struct kernel_tracer *k, const struct tracepoint_event *e, uint32_t process,
                      const struct kernel_process *p, enum kernel_hook hook)
{
    const struct kernel_counters *c = &p->counters;
    const uint64_t sizes[] = {
        c->virtual_peak, c->resident_peak, c->private_peak, 0, 0, /* quotas, of which there are none */
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

/* SPDX-License-Identifier: MIT */
/* How often and how long processors slept, and how deep, as /sys/devices/system/cpu/cpuN/cpuidle tells it. */
#ifndef OPENPLA_PDH_IDLE_STATES_H
#define OPENPLA_PDH_IDLE_STATES_H

#include "engine/pdh/core/kept_files.h"
#include "engine/pdh/core/kernel_text.h"

/* ACPI's C1, C2, and C3 with all that are deeper; IDLE_ANY is of all states, those too that are none of these. */
enum idle_depth { IDLE_C1, IDLE_C2, IDLE_C3, IDLE_ANY, IDLE_DEPTHS };
struct idle_figures {
    int64_t times[IDLE_DEPTHS];   /* in microseconds; INT64_MIN: the processor has no such state */
    int64_t entries[IDLE_DEPTHS]; /* likewise */
};

/* Zero-initialise. */
struct idle_states {
    struct kept_files files;
    struct idle_state *states; /* of all processors */
    size_t count, capacity;
    uint64_t known; /* `key` for which they were found */
};
/* `key` says which processors there are: with another one, the states of all `cpus` are looked for anew.
   E_OUTOFMEMORY. */
HRESULT idle_states_follow(struct idle_states *s, const char *root, const struct kernel_cpus *cpus, uint64_t key);
/* Reads those of one processor. E_OUTOFMEMORY. */
HRESULT idle_states_read(struct idle_states *s, const char *root, uint32_t cpu, struct idle_figures *out);
void idle_states_close(struct idle_states *s);

#endif

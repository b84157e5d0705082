/* SPDX-License-Identifier: MIT */
/* The states in which processors sleep. */
#include "engine/pdh/objects/idle_states.h"

#include "engine/base/kernel_number.h"

#include <stdio.h>

struct idle_state {
    uint32_t cpu;
    unsigned number;
    enum idle_depth depth;
};

/* "C1", "C1E", "C1_ACPI", "C6": the drivers name states by the processor's own numbers, where ACPI knows three; Arm's
   lightest is WFI. "POLL" is no sleep, but an idle processor all the same. */
static enum idle_depth depth_of(const char *name, const char *end)
{
    uint64_t number;
    if (kernel_starts(name, end, "WFI", 3))
        return IDLE_C1;
    if (!kernel_starts(name, end, "C", 1) || !kernel_number(name + 1, end, &number) || !number)
        return IDLE_ANY;
    return number == 1 ? IDLE_C1 : number == 2 ? IDLE_C2 : IDLE_C3;
}

HRESULT idle_states_follow(struct idle_states *s, const char *root, const struct kernel_cpus *cpus, uint64_t key)
{
    if (s->known == (key | 1))
        return S_OK;
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
    kept_files_close(&s->files); /* the names do not change */
    s->known = key | 1;
    return S_OK;
}

static void add(int64_t *to, int64_t value)
{
    *to = (*to == INT64_MIN ? 0 : *to) + value;
}

HRESULT idle_states_read(struct idle_states *s, const char *root, uint32_t cpu, struct idle_figures *out)
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

void idle_states_close(struct idle_states *s)
{
    kept_files_close(&s->files);
    memory_free(s->states);
}

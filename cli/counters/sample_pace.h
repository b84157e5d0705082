/* SPDX-License-Identifier: MIT */
/* The times of live samples as -si defines them, and full paths of counters on command lines. */
#ifndef OPENPLA_SAMPLE_PACE_H
#define OPENPLA_SAMPLE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Parses "[[hh:]mm:]ss[.fff]" to milliseconds; 0 becomes the shortest interval. False: invalid. */
bool pace_parse_interval(const char *text, uint64_t *ms);

/* Samples are taken on a grid. Points that have passed are skipped, and no sample is taken sooner than the shortest
   interval after the previous one. In ticks of the performance counter, because millisecond clocks of some host systems
   step by 16 ms. */
struct sample_pace {
    int64_t begun, interval;
    int64_t next, earliest;
};
struct sample_pace pace_begin(uint64_t interval_ms);
/* Until the next sample is due, rounded up; 0: now. */
uint32_t pace_remaining_ms(const struct sample_pace *p);
/* The sample is due: the next one is due at the following point. */
void pace_advance(struct sample_pace *p);
/* Waits until the next sample is due; false: the user wants to exit. */
bool pace_wait(struct sample_pace *p);
/* After each sample. */
void pace_taken(struct sample_pace *p);

/* The path with a computer name: its own, or else `machine`, or else this computer's. From memory_alloc; NULL: out of
   memory. */
char *counter_full_path(const char *path, const char *machine);

#endif

/* SPDX-License-Identifier: MIT */
/* Computes the times of live samples, which -si defines, and the full paths of counters that command lines name. */
#ifndef OPENPLA_SAMPLE_PACE_H
#define OPENPLA_SAMPLE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Parses "[[hh:]mm:]ss[.fff]" as milliseconds; 0 becomes the shortest interval. Returns false if the text is
   invalid. */
bool pace_parse_interval(const char *text, uint64_t *ms);

/* Samples are taken at the points of a time grid. Points that have already passed are skipped, and no sample is taken
   earlier than the shortest interval after the previous one. Times are in ticks of the performance counter, because the
   millisecond clocks of some host systems advance in steps of 16 ms. */
struct sample_pace {
    int64_t begun, interval;
    int64_t next, earliest;
};
struct sample_pace pace_begin(uint64_t interval_ms);
/* Returns the time until the next sample is due, rounded up. 0 means that the sample is due. */
uint32_t pace_remaining_ms(const struct sample_pace *p);
/* Call it when a sample is due: moves to the next point of the grid. */
void pace_advance(struct sample_pace *p);
/* Waits until the next sample is due; false if the user wants to exit. */
bool pace_wait(struct sample_pace *p);
/* Call it after each sample. */
void pace_taken(struct sample_pace *p);

/* Returns the path with a computer name. If the path has none, adds `machine`, or this computer's name if `machine` is
   NULL. The result is from memory_alloc; NULL if memory runs out. */
char *counter_full_path(const char *path, const char *machine);

#endif

/* SPDX-License-Identifier: MIT */
/* One segment of a run: its serial number, folder, and its members: the set's collectors at work. A run without limits
   has one. */
#ifndef OPENPLA_SEGMENT_H
#define OPENPLA_SEGMENT_H

#include "engine/pla/run/member.h"

struct segment {
    uint32_t serial_number;
    char *root;     /* RootPath as its host has it: nothing is written outside (DECISIONS 36) */
    char *location; /* below it */
    struct member *members;
    size_t count;                                /* as many as the set had when it was opened */
    const struct data_collector_set *definition; /* that it was opened by; borrowed, to compare alone */
};
/* Takes the next serial number, makes the folder, opens the collectors and records all that before anything is sampled;
   of a run's first segment before anything is opened, in one write.
   On failure no file, folder or serial number is used up. `follows`: it continues a run.
   What output.h says, HRESULT of ERROR_ALREADY_EXISTS (file), E_ACCESSDENIED, what collector_open says.
   previous: the segment before; may be NULL. With the same definition it is completed, so that rates and grids go on,
   and is to be closed, whatever the result. With another one its collectors may be at work, and go on when the new
   segment cannot be opened. Without one the grids are zero: nothing is due. */
HRESULT segment_open(struct run_set *r, bool follows, struct segment *previous, struct segment *out);
/* Completes the files; what the collectors know stays for the next segment. A failure is noted in the diagnostics. */
void segment_complete(struct segment *s);
/* Completes the files and closes the collectors; a failure is also noted in the run's diagnostics. The set may have
   another definition by now. */
HRESULT segment_close(struct segment *s);
void segment_free(struct segment *s); /* what is left of a closed one, or of one that was never opened */

#endif

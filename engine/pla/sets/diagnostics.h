/* SPDX-License-Identifier: MIT */
/* What a user must learn about a run: counters that were left out, samples that were lost, and why; why it ended. */
#ifndef OPENPLA_DIAGNOSTICS_H
#define OPENPLA_DIAGNOSTICS_H

#include "engine/base/text.h"

/* Zero-initialise. A note that memory is out for is lost; its count is not. */
struct diagnostics {
    struct texts notes;   /* each at most once */
    uint64_t notes_cut;   /* beyond the limit of kept notes */
    uint64_t lost_late;   /* ticks that passed while the host was busy or the computer slept */
    uint64_t lost_failed; /* samples that could not be taken or written */
    HRESULT loss;         /* reason of the latest of these; S_OK: none */
    char *loss_text;
    char *end; /* why the run ended; NULL: it has not */
};
/* `reason` is shown when it is a failure. True: it is new. */
bool diagnostics_note(struct diagnostics *d, HRESULT reason, const char *text);
/* A sample that failed with hr; its text is error_text(hr). True: the first for this reason. */
bool diagnostics_lost(struct diagnostics *d, HRESULT hr);
/* Why the run ended; shown however many notes there are, the last line. The first that is told stays. */
void diagnostics_end(struct diagnostics *d, HRESULT reason, const char *text);
/* One line per matter, "" if there is none. From memory_alloc. */
char *diagnostics_text(const struct diagnostics *d);
void diagnostics_free(struct diagnostics *d);

#endif

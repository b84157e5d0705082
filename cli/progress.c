/* SPDX-License-Identifier: MIT */
/* The percentage that long work shows. */
#include "cli/cli.h"
#include "cli/trace/screen.h"
#include "engine/base/clock.h"

#include <stdio.h>

void cli_progress_show(struct cli_progress *p, uint64_t done, uint64_t total)
{
    enum { FIRST = 1000, AGAIN = 500 }; /* ms */
    const uint64_t now = clock_monotonic_ms();
    if (p->begun == 0)
        p->begun = now;
    if (now - p->begun < FIRST || now - p->shown < AGAIN || !screen_is_terminal(stderr))
        return;
    p->shown = now;
    p->visible = true;
    if (total > 0) {
        const double part = done < total ? (double)done / (double)total : 1;
        fprintf(stderr, "\r%5.1f %%", 100 * part);
    } else {
        fprintf(stderr, "\r%llu", (unsigned long long)done);
    }
    fflush(stderr);
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->visible) {
        fputs("\r                    \r", stderr);
        p->visible = false;
    }
}

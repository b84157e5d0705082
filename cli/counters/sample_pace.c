/* SPDX-License-Identifier: MIT */
/* Computes the times of live samples from -si, and full paths of counters from command lines. */
#include "cli/counters/sample_pace.h"

#include "cli/cli.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"

#include <string.h>

enum { FASTEST_MS = 10 }; /* shortest interval between two samples; also used for -si 0 */

bool pace_parse_interval(const char *text, uint64_t *ms)
{
    uint64_t whole = 0, part = 0, fraction = 0, digits = 0;
    unsigned colons = 0;
    for (; *text && *text != '.' && *text != ','; text++) {
        if (*text == ':' && digits && colons < 2) {
            whole = (whole + part) * 60;
            part = digits = 0;
            colons++;
        } else if (*text >= '0' && *text <= '9' && digits < 8) {
            part = part * 10 + (uint64_t)(*text - '0');
            digits++;
        } else {
            return false;
        }
    }
    if (*text) {
        uint64_t unit = 100;
        for (text++; *text >= '0' && *text <= '9'; text++) {
            fraction += (uint64_t)(*text - '0') * unit;
            unit /= 10;
            digits++;
        }
    }
    *ms = (whole + part) * 1000 + fraction;
    *ms = *ms ? *ms : FASTEST_MS;
    return digits && !*text && *ms < UINT32_MAX;
}

static int64_t ticks_of(uint64_t ms)
{
    return (int64_t)(ms * (uint64_t)clock_frequency() / 1000);
}

struct sample_pace pace_begin(uint64_t interval_ms)
{
    const int64_t now = clock_ticks(), interval = ticks_of(interval_ms);
    return (struct sample_pace){.begun = now, .interval = interval ? interval : 1, .next = now, .earliest = now};
}

uint32_t pace_remaining_ms(const struct sample_pace *p)
{
    const int64_t due = p->next > p->earliest ? p->next : p->earliest, frequency = clock_frequency();
    const int64_t now = clock_ticks(), left = now < due ? due - now : 0;
    const int64_t ms = left / frequency * 1000 + (left % frequency * 1000 + frequency - 1) / frequency;
    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX - 1;
}

void pace_advance(struct sample_pace *p)
{
    p->next = p->begun + ((clock_ticks() - p->begun) / p->interval + 1) * p->interval;
}

bool pace_wait(struct sample_pace *p)
{
    uint32_t left;
    do {
        left = pace_remaining_ms(p);
        if (interrupt_wait(left))
            return false;
    } while (left > 0);
    pace_advance(p);
    return true;
}

void pace_taken(struct sample_pace *p)
{
    p->earliest = clock_ticks() + ticks_of(FASTEST_MS);
}

char *counter_full_path(const char *path, const char *machine)
{
    if (strncmp(path, "\\\\", 2) == 0)
        return text_copy(path);
    char *ours = machine ? NULL : os_computer_name();
    const char *name = machine ? machine + strspn(machine, "\\") : ours;
    char *full = name ? text_format("\\\\%s%s%s", name, *path == '\\' ? "" : "\\", path) : NULL;
    memory_free(ours);
    return full;
}

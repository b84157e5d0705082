/* SPDX-License-Identifier: MIT */
/* The parts of openpla live: the samples of the last hour, and the views that display them. */
#ifndef OPENPLA_LIVE_H
#define OPENPLA_LIVE_H

#include "engine/base/os.h"
#include "engine/base/text.h"
#include "engine/logs/log.h"
#include "engine/report/page_unit.h"

#define LIVE_VERB "live"

/* ---- live_history.c: the samples ---- */

enum {
    LIVE_KEPT_MS = 3600000,    /* time for which samples are kept */
    LIVE_MOST_ROWS = 14400,    /* maximum number of samples; if the interval is short, these samples cover less than
                                  an hour */
    LIVE_LEAST_ROWS = 60,      /* minimum number of samples, even with very many counters */
    LIVE_MOST_CELLS = 16 << 20 /* maximum number of values; each takes 4 bytes, so all take at most 64 MB */
};

struct live_counter {
    char *path;  /* the path, with the name of the computer */
    char *label; /* the path, without the name of the computer */
    struct page_unit unit;
    double largest; /* largest value of all samples; 0 or more */
};

/* The samples. The sampling thread adds samples; connection threads read them under the lock. Sample n is in row n %
   rows. */
struct live_history {
    struct lock lock;
    struct live_counter *counters; /* constant after live_history_open, except for `largest` */
    size_t count, rows;
    uint64_t interval_ms;
    uint64_t begun; /* start of this run in ms; no other run has the same value */
    uint64_t taken; /* number of samples since the beginning */
    int64_t *times; /* FILETIME, UTC */
    float *values;  /* rows of `count` values; NAN means that there is no value */
};
HRESULT live_history_open(struct live_history *h, const struct log_counter *columns, size_t count,
                          uint64_t interval_ms);
void live_history_add(struct live_history *h, int64_t utc, const struct log_cell *cells);
/* Returns the number of the oldest sample that is kept. */
uint64_t live_history_first(const struct live_history *h);
int64_t live_history_time(const struct live_history *h, uint64_t sample);
float live_history_value(const struct live_history *h, uint64_t sample, size_t counter);
void live_history_free(struct live_history *h);
/* Adds the value with its unit, or "-" for NAN. */
void live_add_value(struct text_buffer *b, const struct live_counter *c, float value);

/* ---- live_counters.c: selection of counters ---- */

/* Lists the counters of a stored set with set_list_counters. Fails with PLA_E_DCS_NOT_FOUND, or E_INVALIDARG if the set
   has no counters. */
HRESULT live_set_counters(const char *set, struct texts *counters, uint64_t *interval_ms);
/* Adds the default counters. */
HRESULT live_default_counters(struct texts *counters);

/* ---- live_screen.c: draws the samples as text ---- */

struct live_screen {
    unsigned columns, lines;
    size_t top; /* index of the first counter that is shown; corrected if it is too large */
    bool paused;
};
/* Draws the samples up to `taken` as lines of at most `columns` characters. Each line has an ANSI sequence that clears
   the rest of the line. */
void live_screen_draw(const struct live_history *h, uint64_t taken, struct live_screen *s, struct text_buffer *out);

/* ---- live_terminal.c: the terminal ---- */

enum live_key {
    LIVE_KEY_NONE,
    LIVE_KEY_QUIT,
    LIVE_KEY_PAUSE,
    LIVE_KEY_UP,
    LIVE_KEY_DOWN,
    LIVE_KEY_PAGE_UP,
    LIVE_KEY_PAGE_DOWN,
    LIVE_KEY_TOP
};
/* Switches stdout's terminal to the alternate screen, and switches its input to single keys. Returns false if stdout is
   not a terminal that supports ANSI sequences. */
bool live_terminal_begin(void);
void live_terminal_size(unsigned *columns, unsigned *lines);
/* Waits at most timeout_ms for a key. */
enum live_key live_terminal_key(uint32_t timeout_ms);
void live_terminal_end(void);

#endif

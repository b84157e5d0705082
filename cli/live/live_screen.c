/* SPDX-License-Identifier: MIT */
/* Draws the samples as text: a line for each counter with its value, a bar and a graph of its latest values. */
#include "cli/live/live.h"
#include "cli/output.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"

#include <math.h>
#include <string.h>

enum { VALUE_COLUMNS = 11, BAR_COLUMNS = 20, LEAST_NAME = 12, MOST_NAME = 60, FRAME_LINES = 3 };
#define CLEAR_REST "\x1b[K"

/* Adds the text, truncated or padded to exactly `width` columns. */
static void add_fitted(struct text_buffer *b, const char *text, size_t width)
{
    struct text_buffer shown = {0};
    add_shown(&shown, text);
    char *line = text_buffer_take(&shown);
    const char *all = line ? line : "";
    size_t bytes = strlen(all);
    while (shown_width(all) > width && bytes > 0) { /* remove whole characters */
        do
            bytes--;
        while (bytes > 0 && ((unsigned char)line[bytes] & 0xC0) == 0x80);
        line[bytes] = 0;
    }
    text_buffer_add(b, all);
    for (size_t i = shown_width(all); i < width; i++)
        text_buffer_add(b, " ");
    memory_free(line);
}

static double top_of_scale(const struct live_counter *c)
{
    return c->unit.kind == PAGE_UNIT_PERCENT && c->largest <= 100 ? 100 : c->largest;
}

static double share_of(const struct live_counter *c, float value)
{
    const double top = top_of_scale(c), share = isfinite(value) && top > 0 ? (double)value / top : 0;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* Draws a bar with a resolution of an eighth of a column. */
static void add_bar(struct text_buffer *b, const struct live_counter *c, float value, unsigned width)
{
    static const char *const parts[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const unsigned eighths = (unsigned)(share_of(c, value) * 8 * width + 0.5);
    for (unsigned i = 0; i < width; i++)
        text_buffer_add(b, i < eighths / 8 ? "█" : i == eighths / 8 ? parts[eighths % 8] : " ");
}

static void add_course(struct text_buffer *b, const struct live_history *h, uint64_t taken, size_t counter,
                       unsigned width)
{
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const uint64_t first = live_history_first(h);
    for (unsigned i = 0; i < width; i++) {
        const uint64_t back = width - i;
        const float value = taken >= back && taken - back >= first ? live_history_value(h, taken - back, counter) : NAN;
        text_buffer_add(b,
                        isfinite(value) ? heights[(unsigned)(share_of(&h->counters[counter], value) * 7 + 0.5)] : " ");
    }
}

static void add_title(const struct live_history *h, uint64_t taken, const struct live_screen *s,
                      struct text_buffer *out)
{
    struct text_buffer title = {0};
    text_buffer_format(&title, "openpla live  %u counter%s, every %.3g s  ", (unsigned)h->count,
                       h->count == 1 ? "" : "s", (double)h->interval_ms / 1000);
    if (taken > 0) {
        const struct calendar_time t = clock_calendar(clock_utc_to_local(live_history_time(h, taken - 1)));
        text_buffer_format(&title, "%02d:%02d:%02d", t.hour, t.minute, t.second);
    }
    text_buffer_add(&title, s->paused ? "  paused" : "");
    char *text = text_buffer_take(&title);
    add_fitted(out, text ? text : "", s->columns);
    memory_free(text);
    text_buffer_add(out, CLEAR_REST "\r\n" CLEAR_REST "\r\n");
}

static void add_line(const struct live_history *h, uint64_t taken, size_t counter, unsigned name_columns,
                     unsigned columns, struct text_buffer *out)
{
    const struct live_counter *c = &h->counters[counter];
    const float value = taken > 0 ? live_history_value(h, taken - 1, counter) : NAN;
    struct text_buffer shown = {0};
    live_add_value(&shown, c, value);
    char *text = text_buffer_take(&shown);
    add_fitted(out, c->label, name_columns);
    const size_t width = text ? shown_width(text) : 0;
    for (size_t i = width; i < VALUE_COLUMNS; i++)
        text_buffer_add(out, " ");
    text_buffer_add(out, text ? text : "");
    memory_free(text);
    unsigned left = columns - name_columns - VALUE_COLUMNS;
    const unsigned bar = left / 3 < BAR_COLUMNS ? left / 3 : BAR_COLUMNS;
    if (bar > 2) {
        text_buffer_add(out, " \x1b[32m");
        add_bar(out, c, value, bar);
        text_buffer_add(out, "\x1b[0m");
        left -= bar + 1;
    }
    if (left > 2) {
        text_buffer_add(out, " \x1b[36m");
        add_course(out, h, taken, counter, left - 2);
        text_buffer_add(out, "\x1b[0m");
    }
    text_buffer_add(out, CLEAR_REST "\r\n");
}

void live_screen_draw(const struct live_history *h, uint64_t taken, struct live_screen *s, struct text_buffer *out)
{
    const unsigned columns = s->columns < LEAST_NAME + VALUE_COLUMNS ? LEAST_NAME + VALUE_COLUMNS : s->columns;
    const size_t room = s->lines > FRAME_LINES ? s->lines - FRAME_LINES : 1;
    const size_t last_top = h->count > room ? h->count - room : 0;
    size_t widest = LEAST_NAME;
    s->top = s->top < last_top ? s->top : last_top;
    for (size_t i = 0; i < h->count; i++) {
        const size_t width = shown_width(h->counters[i].label);
        widest = width > widest ? width : widest;
    }
    const unsigned most = (columns - VALUE_COLUMNS) / 2 > LEAST_NAME ? (columns - VALUE_COLUMNS) / 2 : LEAST_NAME;
    unsigned names = widest < MOST_NAME ? (unsigned)widest : MOST_NAME;
    names = names < most ? names : most;
    text_buffer_add(out, "\x1b[H");
    add_title(h, taken, s, out);
    for (size_t i = s->top; i < h->count && i < s->top + room; i++)
        add_line(h, taken, i, names, columns, out);
    add_fitted(out, "q quit  space pause  arrows scroll", s->columns);
    text_buffer_add(out, CLEAR_REST "\x1b[J");
}

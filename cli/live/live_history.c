/* SPDX-License-Identifier: MIT */
/* Keeps the samples of the last hour in a ring. */
#include "cli/live/live.h"
#include "engine/base/clock.h"
#include "engine/base/memory.h"

#include <math.h>
#include <string.h>

HRESULT live_history_open(struct live_history *h, const struct log_counter *columns, size_t count, uint64_t interval_ms)
{
    const uint64_t wanted = LIVE_KEPT_MS / (interval_ms ? interval_ms : 1) + 1;
    const size_t room = count ? LIVE_MOST_CELLS / count : LIVE_MOST_ROWS;
    h->rows = wanted < LIVE_MOST_ROWS ? (size_t)wanted : LIVE_MOST_ROWS;
    h->rows = h->rows < room ? h->rows : room;
    h->rows = h->rows > LIVE_LEAST_ROWS ? h->rows : LIVE_LEAST_ROWS;
    h->interval_ms = interval_ms;
    h->begun = (uint64_t)clock_utc() / 10000;
    h->counters = memory_zero(count ? count : 1, sizeof *h->counters);
    h->times = memory_zero(h->rows, sizeof *h->times);
    h->values =
        count <= SIZE_MAX / h->rows / sizeof *h->values ? memory_zero(h->rows * count, sizeof *h->values) : NULL;
    if (!h->counters || !h->times || !h->values)
        return E_OUTOFMEMORY;
    for (; h->count < count; h->count++) {
        struct live_counter *c = &h->counters[h->count];
        c->path = log_counter_path(&columns[h->count]);
        const char *label = c->path && c->path[0] == '\\' && c->path[1] == '\\' ? strchr(c->path + 2, '\\') : NULL;
        c->label = c->path ? text_copy(label ? label : c->path) : NULL;
        c->unit = page_unit_of(columns[h->count].counter);
        if (!c->label) {
            memory_free(c->path);
            return E_OUTOFMEMORY;
        }
    }
    return S_OK;
}

void live_history_add(struct live_history *h, int64_t utc, const struct log_cell *cells)
{
    lock_enter(&h->lock);
    const size_t row = (size_t)(h->taken % h->rows);
    h->times[row] = utc;
    for (size_t i = 0; i < h->count; i++) {
        h->values[row * h->count + i] = cells[i].has_value ? (float)cells[i].value : NAN;
        if (cells[i].has_value && cells[i].value > h->counters[i].largest)
            h->counters[i].largest = cells[i].value;
    }
    h->taken++;
    lock_leave(&h->lock);
}

uint64_t live_history_first(const struct live_history *h)
{
    return h->taken > h->rows ? h->taken - h->rows : 0;
}

int64_t live_history_time(const struct live_history *h, uint64_t sample)
{
    return h->times[sample % h->rows];
}

float live_history_value(const struct live_history *h, uint64_t sample, size_t counter)
{
    return h->values[(size_t)(sample % h->rows) * h->count + counter];
}

void live_history_free(struct live_history *h)
{
    for (size_t i = 0; i < h->count; i++) {
        memory_free(h->counters[i].path);
        memory_free(h->counters[i].label);
    }
    memory_free(h->counters);
    memory_free(h->times);
    memory_free(h->values);
}

void live_add_value(struct text_buffer *b, const struct live_counter *c, float value)
{
    if (!isfinite(value)) {
        text_buffer_add(b, "-");
        return;
    }
    const struct page_scale scale = page_unit_scale(&c->unit, (double)value);
    page_scale_add(b, &scale, (double)value, 4);
}

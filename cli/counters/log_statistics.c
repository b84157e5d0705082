/* SPDX-License-Identifier: MIT */
/* Counts what is in a log. */
#include "cli/counters/log_statistics.h"

#include "engine/base/memory.h"
#include "engine/logs/log_inputs.h"

/* cells: NULL when there is no sample, only counters. */
static HRESULT count_cells(struct log_statistics *s, struct log_reader *log, const struct log_cell *cells)
{
    size_t count;
    const struct log_counter *counters = log_reader_counters(log, &count);
    const bool values = log_reader_info(log)->has_values;
    if (count > s->counter_count) {
        struct counter_statistics *larger = memory_resize(s->counters, count * sizeof *larger);
        if (!larger)
            return E_OUTOFMEMORY;
        s->counters = larger;
        for (size_t i = s->counter_count; i < count; i++)
            larger[i] = (struct counter_statistics){.fewest = cells ? UINT64_MAX : 0};
        s->counter_count = count;
    }
    for (size_t i = 0; cells && i < count; i++) {
        struct counter_statistics *c = &s->counters[i];
        if (counters[i].wildcard) {
            c->fewest = cells[i].item_count < c->fewest ? cells[i].item_count : c->fewest;
            c->most = cells[i].item_count > c->most ? cells[i].item_count : c->most;
            c->missing += cells[i].item_count == 0;
        } else {
            c->missing += values ? !cells[i].has_value : cells[i].raw.status > 1;
        }
    }
    return S_OK;
}

static void add_gap(struct log_statistics *s, int64_t from, int64_t to)
{
    if (s->gap_count < MAX_GAPS)
        s->gaps[s->gap_count++] = (struct log_gap){from, to};
    s->gaps_in_all++;
}

/* Once more over the times, now that the interval is known. */
static HRESULT find_gaps(struct log_reader *log, struct cli_progress *progress, struct log_statistics *s)
{
    const struct log_cell *cells;
    uint64_t done, total;
    int64_t utc, before = 0;
    HRESULT hr = log_reader_seek(log, INT64_MIN);
    for (uint64_t i = 0; SUCCEEDED(hr) && (hr = log_reader_next(log, &utc, &cells)) == S_OK; i++) {
        if (i > 0 && (utc < before || utc - before > 2 * s->interval))
            add_gap(s, before, utc);
        before = utc;
        log_reader_progress(log, &done, &total);
        cli_progress_show(progress, total + done, 2 * total);
    }
    return hr;
}

HRESULT log_statistics_read(struct log_reader *log, struct cli_progress *progress, struct log_statistics *out)
{
    struct sample_distances distances = {0};
    const struct log_cell *cells;
    uint64_t done, total;
    int64_t utc, before = 0, longest = 0;
    bool back = false;
    HRESULT hr;
    *out = (struct log_statistics){0};
    while ((hr = log_reader_next(log, &utc, &cells)) == S_OK) {
        hr = count_cells(out, log, cells);
        if (SUCCEEDED(hr) && out->samples > 0) {
            longest = utc - before > longest ? utc - before : longest;
            back |= utc < before;
            hr = sample_distances_add(&distances, utc - before);
        }
        if (FAILED(hr))
            break;
        out->first = out->samples == 0 || utc < out->first ? utc : out->first;
        out->last = out->samples == 0 || utc > out->last ? utc : out->last;
        out->samples++;
        before = utc;
        log_reader_progress(log, &done, &total);
        cli_progress_show(progress, done, total);
    }
    out->interval = sample_distances_middle(&distances);
    sample_distances_free(&distances);
    if (SUCCEEDED(hr)) {
        size_t count;
        (void)log_reader_counters(log, &count);
        if (count > out->counter_count) /* there was no sample */
            hr = count_cells(out, log, NULL);
    }
    if (log_format_traits(log_reader_info(log)->format)->is_file)
        log_reader_progress(log, &done, &out->bytes);
    if (SUCCEEDED(hr) && (back || longest > 2 * out->interval))
        hr = find_gaps(log, progress, out);
    return FAILED(hr) ? hr : S_OK;
}

void log_statistics_free(struct log_statistics *s)
{
    memory_free(s->counters);
    s->counters = NULL;
}

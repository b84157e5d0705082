/* SPDX-License-Identifier: MIT */
/* Any bytes as the reports of two runs: no crash, and statistics and verdicts are within their limits. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/report/run_compare.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool right)
{
    if (!right)
        abort();
}

/* Bytes below 16 select pieces; other bytes are copied. */
static char *report_of(const uint8_t *data, size_t size)
{
    static const char *const pieces[16] = {
        "<Chart name='c' source='o' start='2026-01-02T03:04:05.000Z' duration='60'>",
        "<Chart name='c' start='9999-12-31T23:59:59.999+14:00' duration='1e9'>",
        "</Chart>",
        "<Series name='z (0)' first='-5' step='10'>",
        "<Series name='Available MBytes' first='0' step='1e9'>",
        "<Series name='z'>",
        "</Series>",
        "1 2 3 4 5 6 7 8 9 10 11 12 ",
        "1:2:3 - 3e37 -5:5 -3e37 nan ",
        "1 1 1 1 1 1 1 1 1 1 1 1 ",
        "<Table name='t' source='o'><Item><Data name='counter'>z</Data><Data name='mean'>",
        "</Data><Data name='max'>5</Data><Data name='p95'>4</Data></Item></Table>",
        "-1e300",
        "' step='1e-300' first='1e9'>",
        "</Section><Section name='advice'>",
        "<Data name='start'>x</Data>",
    };
    struct text_buffer b = {0};
    text_buffer_add(&b, "<Report name='r'><Section name='s'>");
    for (size_t i = 0; i < size; i++)
        if (data[i] < 16)
            text_buffer_add(&b, pieces[data[i]]);
        else
            text_buffer_add_n(&b, (const char *)&data[i], 1);
    text_buffer_add(&b, "</Section></Report>");
    char *text = text_buffer_take(&b);
    must(text);
    return text;
}

static HRESULT read_side(struct run_comparison *c, unsigned side, const uint8_t *data, size_t size)
{
    static char path[64];
    if (!path[0])
        snprintf(path, sizeof path, "fuzz_run_compare.%u.tmp", (unsigned)process_own_id());
    char *text = report_of(data, size);
    must(file_store(path, text, strlen(text)) == S_OK);
    const HRESULT hr = run_side_read(path, &c->sides[side], &c->notes);
    memory_free(text);
    (void)file_delete(path);
    return hr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run_comparison c = {0};
    if (size < 3 || size > 4096)
        return 0;
    const size_t half = 1 + (size - 1) / 2;
    HRESULT hr = read_side(&c, 0, data + 1, half - 1);
    if (hr == S_OK)
        hr = read_side(&c, 1, data + half, size - half);
    if (hr == S_OK) {
        const struct run_compare_options options = {
            .by_clock = data[0] & 1, .skip = data[0] & 2 ? 5 : 0, .least_change = 5};
        size_t all = 0;
        hr = run_compare(&c, &options);
        must(hr == S_OK || (hr == S_FALSE && c.nothing));
        for (enum run_verdict v = RUN_SAME; v < RUN_VERDICTS && hr == S_OK; v++)
            all += c.verdicts[v];
        must(hr != S_OK || all == c.count);
        for (size_t i = 0; i < c.count && hr == S_OK; i++)
            must(c.changes[i].p >= 0 && c.changes[i].p <= 1 && fabs(c.changes[i].effect) <= 1);
    }
    run_comparison_free(&c);
    return 0;
}

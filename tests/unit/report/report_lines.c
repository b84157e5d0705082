/* SPDX-License-Identifier: MIT */
#include "tests/unit/report/report_lines.h"

#include <stdlib.h>
#include <string.h>

static void hold(bool what)
{
    if (!what)
        abort();
}

static void say(struct report_document *d, const char *text)
{
    if (!d->quiet)
        text_buffer_add(&d->lines, text);
}

void report_table_begin(struct report_document *d, const struct report_table_head *head)
{
    hold(d->depth < REPORT_DEEPEST && !d->in_footer && head->column_count != 0);
    if (d->depth) {
        hold(d->in_row[d->depth - 1] && d->cells == d->heads[d->depth - 1]->column_count);
        say(d, "[");
    }
    d->heads[d->depth] = head;
    d->rows[d->depth] = 0;
    d->in_row[d->depth++] = false;
}

bool report_row_begin(struct report_document *d)
{
    const size_t at = d->depth - 1;
    hold(d->depth && !d->in_row[at] && !d->in_footer);
    const uint32_t most = d->heads[at]->most_rows;
    if (d->rows[at]++ >= (most ? most : REPORT_MOST_ROWS))
        return false;
    d->in_row[at] = true;
    d->cells = 0;
    return true;
}

void report_cell(struct report_document *d, const char *text)
{
    const size_t at = d->depth - 1;
    hold(d->depth && (d->in_row[at] || d->in_footer) && d->cells < d->heads[at]->column_count);
    hold(!text || text_is_utf8(text, strlen(text)));
    d->cells++;
    say(d, text ? text : "");
    say(d, "|");
}

void report_cell_with(struct report_document *d, const char *text, const char *const *attributes)
{
    (void)attributes;
    report_cell(d, text);
}

void report_row_end(struct report_document *d)
{
    const size_t at = d->depth - 1;
    hold(d->depth && d->in_row[at] && d->cells == d->heads[at]->column_count);
    d->in_row[at] = false;
    say(d, at ? ";" : "\n");
}

void report_footer_begin(struct report_document *d)
{
    hold(d->depth && !d->in_row[d->depth - 1] && !d->in_footer);
    d->in_footer = true;
    d->cells = 0;
    say(d, "=");
}

void report_footer_end(struct report_document *d)
{
    hold(d->in_footer && d->cells == d->heads[d->depth - 1]->column_count);
    d->in_footer = false;
    say(d, "\n");
}

void report_table_end(struct report_document *d, uint64_t *omitted)
{
    const size_t at = d->depth - 1;
    hold(d->depth && !d->in_row[at] && !d->in_footer);
    const uint32_t most = d->heads[at]->most_rows ? d->heads[at]->most_rows : REPORT_MOST_ROWS;
    if (omitted)
        *omitted = d->rows[at] > most ? d->rows[at] - most : 0;
    d->depth--;
    if (d->depth) {
        d->cells = d->heads[d->depth - 1]->column_count;
        say(d, "]");
    }
}

HRESULT report_event_look(struct report_event *e, const struct dumped_event **out)
{
    *out = &e->dumped;
    return S_OK;
}

/* SPDX-License-Identifier: MIT */
/* Prints counters and samples of a log. */
#include "tests/golden/log_lines.h"

#include <inttypes.h>

static void print_name(FILE *text, const char *name)
{
    fprintf(text, "\t%s", name ? name : "-");
}

void print_counter(FILE *text, const struct log_counter *c)
{
    fprintf(text, "counter\t%d\t%u\t%" PRId64 "\t%d\t%u", c->wildcard, (unsigned)c->type, c->time_base,
            (int)c->default_scale, (unsigned)c->index);
    print_name(text, c->machine);
    print_name(text, c->object);
    print_name(text, c->instance);
    print_name(text, c->parent);
    print_name(text, c->counter);
    fputc('\n', text);
}

static void print_raw(FILE *text, const struct log_raw *raw)
{
    fprintf(text, "\t%" PRId64 "\t%" PRId64 "\t%u", raw->first, raw->second, (unsigned)raw->multi_count);
    if (raw->text)
        fprintf(text, "\t%s", raw->text);
    fputc('\n', text);
}

void print_sample(FILE *text, int64_t utc, const struct log_counter *counters, const struct log_cell *cells,
                  size_t count)
{
    fprintf(text, "sample\t%" PRId64 "\n", utc - utc % 10000);
    for (size_t i = 0; i < count; i++) {
        const struct log_cell *cell = &cells[i];
        if (!counters[i].wildcard) {
            fprintf(text, "single\t%u", (unsigned)cell->raw.status);
            print_raw(text, &cell->raw);
            continue;
        }
        fprintf(text, "wildcard\t%u\n", (unsigned)cell->raw.status);
        for (size_t k = 0; k < cell->item_count; k++) {
            fprintf(text, "item\t%s", cell->items[k].instance);
            print_raw(text, &cell->items[k].raw);
        }
    }
}

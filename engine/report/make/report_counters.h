/* SPDX-License-Identifier: MIT */
/* The counter tables of a report: all of them from one reading of all counter logs. */
#ifndef OPENPLA_REPORT_COUNTERS_H
#define OPENPLA_REPORT_COUNTERS_H

#include "engine/logs/log_inputs.h"
#include "engine/report/make/report_tables.h"

struct report_counters;

struct report_counters_make {
    const struct report_schema *schema; /* borrowed until the end */
    unsigned level;                     /* tables of higher ones are not made */
    size_t memory;                      /* bytes that may be kept */
};
HRESULT report_counters_create(const struct report_counters_make *make, struct report_counters **out);
/* Reads the logs, which stand at their begin. Their samples of one counter are one series, also over several logs.
   `seen` is called behind each sample; false ends the reading with ERROR_CANCELLED's HRESULT. */
HRESULT report_counters_read(struct report_counters *c, struct inputs *logs, bool (*seen)(void *context),
                             void *context);
/* Samples, their times, and gaps; adds what a user must know to `remarks`: where a log has gaps, how many resets of
   counters there were, what was left out for want of memory. */
HRESULT report_counters_totals(struct report_counters *c, struct report_totals *totals, struct texts *remarks);
/* Writes a table; one of the object "*" is several, and one without a row is none. */
HRESULT report_counters_write(struct report_counters *c, const struct schema_table *table, struct report_document *to,
                              struct texts *remarks);
/* The charts that go with the tables of a section. */
HRESULT report_counters_write_charts(struct report_counters *c, const struct schema_section *section,
                                     struct report_document *to);
void report_counters_free(struct report_counters *c); /* NULL is allowed */

/* Whether a counter is in a table, by object and patterns. `instance` "": it has none. */
bool counter_table_takes(const struct report_schema *schema, const struct schema_table *table,
                         const struct log_counter *counter, const char *instance);

#endif

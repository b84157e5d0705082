/* SPDX-License-Identifier: MIT */
/* InfluxDB's line protocol: the names of counters, their escapes, and the lines of samples.

   A line has the counters of one instance: `win_cpu,host=SRV1,instance=0,objectname=Processor Percent_User_Time=1.5
   1614851499073000000`. Measurements, tags and fields have the names that telegraf's input win_perf_counters gives
   them, so its dashboards show them. Names are the English ones, where the counter has them. */
#ifndef OPENPLA_LINE_PROTOCOL_H
#define OPENPLA_LINE_PROTOCOL_H

#include "engine/base/text.h"
#include "engine/logs/log.h"

/* Adds the measurement and the tags of a counter: host (if the counter names a computer), instance, objectname and
   parent. `instance`: replaces that of the counter, for one of a wildcard counter; NULL: the counter's own. */
void line_add_series(struct text_buffer *b, const struct log_counter *counter, const char *instance);
/* Adds ",name=value" to a series. An empty value adds nothing, as InfluxDB has no empty tags. */
void line_add_tag(struct text_buffer *b, const char *name, const char *value);
/* Adds the name of a counter's field: "Percent_Processor_Time", "Bytes_Received_persec". */
void line_add_field(struct text_buffer *b, const struct log_counter *counter);

/* Units of timestamps, as the URL's parameter "precision" names them: ns, u (v1) or us (v2), ms, s. */
enum line_precision { LINE_NANOSECONDS, LINE_MICROSECONDS, LINE_MILLISECONDS, LINE_SECONDS };
/* Adds the time since 1970. FILETIMEs outside of the years that nanoseconds can count (1677 to 2262) become the nearest
   of them. */
void line_add_time(struct text_buffer *b, int64_t utc, enum line_precision precision);

/* ---- samples of the same counters ---- */

struct line_layout;
/* Copies what it needs of the counters, which must not be wildcards. `tags`: more tags of every line, as line_add_tag
   writes them; NULL: none. */
HRESULT line_layout_create(const struct log_counter *counters, size_t count, const char *tags,
                           struct line_layout **out);
/* Adds a sample's lines, each with its line feed; cells in the order of the counters. Values that are missing or not
   finite are left out, and so are lines without a value. */
void line_layout_add(const struct line_layout *l, int64_t utc, enum line_precision precision,
                     const struct log_cell *cells, struct text_buffer *b);
/* The number of counters that are never written, since an earlier one has the same series and field. */
size_t line_layout_duplicates(const struct line_layout *l);
void line_layout_free(struct line_layout *l); /* NULL is allowed */

#endif

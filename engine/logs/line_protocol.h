/* SPDX-License-Identifier: MIT */
/* Writes InfluxDB's line protocol: counter names with their escapes, and the lines of samples.

   A line contains the counters of one instance: `win_cpu,host=SRV1,instance=0,objectname=Processor
   Percent_User_Time=1.5 1614851499073000000`. Measurements, tags and fields have the names that telegraf's input
   win_perf_counters gives them, so dashboards for telegraf also show OpenPLA's data. Names are in English if the
   counter has English names. */
#ifndef OPENPLA_LINE_PROTOCOL_H
#define OPENPLA_LINE_PROTOCOL_H

#include "engine/base/text.h"
#include "engine/logs/log.h"

/* Adds the measurement and the tags of a counter: host (if the counter has a computer name), instance, objectname and
   parent. For a wildcard counter, `instance` is the instance that replaces the counter's instance. If `instance` is
   NULL, the counter's instance is used. */
void line_add_series(struct text_buffer *b, const struct log_counter *counter, const char *instance);
/* Adds ",name=value" to a series. Adds nothing for an empty value, because InfluxDB has no empty tags. */
void line_add_tag(struct text_buffer *b, const char *name, const char *value);
/* Adds the name of a counter's field: "Percent_Processor_Time", "Bytes_Received_persec". */
void line_add_field(struct text_buffer *b, const struct log_counter *counter);

/* Units of timestamps. In the URL's parameter "precision", nanoseconds are "ns", microseconds "u" (v1) or "us" (v2),
   milliseconds "ms", and seconds "s". */
enum line_precision { LINE_NANOSECONDS, LINE_MICROSECONDS, LINE_MILLISECONDS, LINE_SECONDS };
/* Adds the time since 1970. A FILETIME outside the range of 64-bit nanoseconds (1677 to 2262) becomes the nearest limit
   of the range. */
void line_add_time(struct text_buffer *b, int64_t utc, enum line_precision precision);

/* ---- samples of the same counters ---- */

struct line_layout;
/* Creates a layout for the counters. The layout copies all data that it needs from `counters`. Wildcard counters are
   not allowed. `tags` contains more tags for every line, in the form that line_add_tag writes. NULL means no more
   tags. */
HRESULT line_layout_create(const struct log_counter *counters, size_t count, const char *tags,
                           struct line_layout **out);
/* Adds a sample's lines, each with its line feed. `cells` are in the order of the counters. Leaves out missing and
   non-finite values, and lines without a value. */
void line_layout_add(const struct line_layout *l, int64_t utc, enum line_precision precision,
                     const struct log_cell *cells, struct text_buffer *b);
/* Returns the number of counters that are never written because an earlier counter has the same series and field. */
size_t line_layout_duplicates(const struct line_layout *l);
void line_layout_free(struct line_layout *l); /* NULL is allowed */

#endif

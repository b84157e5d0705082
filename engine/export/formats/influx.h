/* SPDX-License-Identifier: MIT */
/* Writes metrics as lines of InfluxDB's line protocol, with telegraf's names (engine/logs/line_protocol.h). */
#ifndef OPENPLA_INFLUX_H
#define OPENPLA_INFLUX_H

#include "engine/export/metrics.h"

/* Receives complete lines. `points` is the number of lines, `first` the time of the earliest line. */
typedef HRESULT influx_give(void *user, const char *bytes, size_t size, uint32_t points, int64_t first);

struct influx;
HRESULT influx_open(influx_give *give, void *user, struct influx **out);
/* Returns the sink for one sample. *utc must contain the sample's time when the sink is called, and the metric samples
   must have formatted values. */
struct metric_sink influx_begin(struct influx *x, const int64_t *utc);
/* Ends the sample. Passes the lines on if there are many of them, or if `flush` is set. */
HRESULT influx_end(struct influx *x, bool flush);
void influx_close(struct influx *x); /* NULL is allowed; lines that were not passed on are lost */

#endif

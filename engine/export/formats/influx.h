/* SPDX-License-Identifier: MIT */
/* Metrics as lines of InfluxDB's line protocol, with telegraf's names: engine/logs/line_protocol.h. */
#ifndef OPENPLA_INFLUX_H
#define OPENPLA_INFLUX_H

#include "engine/export/metrics.h"

/* Receives complete lines. `points` is the number of lines, `first` the time of the earliest. */
typedef HRESULT influx_give(void *user, const char *bytes, size_t size, uint32_t points, int64_t first);

struct influx;
HRESULT influx_open(influx_give *give, void *user, struct influx **out);
/* The sink of one sample, whose time is *utc when the sink is called. Its samples need formatted values. */
struct metric_sink influx_begin(struct influx *x, const int64_t *utc);
/* Ends the sample. Lines are given when there are many, or now with `flush`. */
HRESULT influx_end(struct influx *x, bool flush);
void influx_close(struct influx *x); /* NULL is allowed; what was not given is lost */

#endif

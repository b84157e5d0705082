/* SPDX-License-Identifier: MIT */
/* Metrics as requests of OTLP, OpenTelemetry's protocol: ExportMetricsServiceRequest in protobuf. */
#ifndef OPENPLA_OTLP_H
#define OPENPLA_OTLP_H

#include "engine/export/metrics.h"

/* Receives a complete request. `points` is the number of its data points, `first` the time of the earliest. */
typedef HRESULT otlp_give(void *user, const char *bytes, size_t size, uint32_t points, int64_t first);

struct otlp_settings {
    const char *host;    /* the computer that the counters are of */
    const char *service; /* service.name: the program, or the set */
    otlp_give *give;
    void *user;
};
struct otlp;
HRESULT otlp_open(const struct otlp_settings *settings, struct otlp **out);
/* The sink of one sample, whose time is *utc when the sink is called. */
struct metric_sink otlp_begin(struct otlp *o, const int64_t *utc);
/* Ends the sample. A request is given when it is large, or now with `flush`. */
HRESULT otlp_end(struct otlp *o, bool flush);
void otlp_close(struct otlp *o); /* NULL is allowed; what was not given is lost */

/* Reads the answer of a server: how many points it rejected, and why. With `failed` it is that of a status other than
   200, which has only a message. `message` is "" without one. False: it is malformed. */
bool otlp_read_answer(const char *bytes, size_t size, bool failed, uint64_t *rejected, char *message, size_t room);

#endif

/* SPDX-License-Identifier: MIT */
/* Writes metrics as requests of OTLP, OpenTelemetry's protocol (ExportMetricsServiceRequest in protobuf). */
#ifndef OPENPLA_OTLP_H
#define OPENPLA_OTLP_H

#include "engine/export/metrics.h"

/* Receives a complete request. `points` is the number of its data points, `first` the time of the earliest point. */
typedef HRESULT otlp_give(void *user, const char *bytes, size_t size, uint32_t points, int64_t first);

struct otlp_settings {
    const char *host;    /* the computer that has the counters */
    const char *service; /* service.name: the program or the data collector set */
    otlp_give *give;
    void *user;
};
struct otlp;
HRESULT otlp_open(const struct otlp_settings *settings, struct otlp **out);
/* Returns the sink for one sample. *utc must contain the sample's time when the sink is called. */
struct metric_sink otlp_begin(struct otlp *o, const int64_t *utc);
/* Ends the sample. Passes the request on if it is large, or if `flush` is set. */
HRESULT otlp_end(struct otlp *o, bool flush);
void otlp_close(struct otlp *o); /* NULL is allowed; points that were not passed on are lost */

/* Parses a server's response: how many points the server rejected, and why. Set `failed` if the HTTP status was not
   200; such a response contains only a message. `message` is "" if the response has no message. False: the response is
   malformed. */
bool otlp_read_answer(const char *bytes, size_t size, bool failed, uint64_t *rejected, char *message, size_t room);

#endif

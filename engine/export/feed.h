/* SPDX-License-Identifier: MIT */
/* A feed converts the samples of an exporter to requests and passes them to the sender (push.h). */
#ifndef OPENPLA_FEED_H
#define OPENPLA_FEED_H

#include "engine/export/metrics.h"
#include "engine/export/push.h"

struct feed;
/* `service` is the name of the program or data collector set, for OTLP. Exporter and sender are borrowed. For Influx,
   the exporter must be opened with formatted values. */
HRESULT feed_open(enum push_kind kind, const char *service, struct exporter *e, struct push *p, struct feed **out);
/* Samples the live counters and passes the sample to the sender. */
HRESULT feed_sample(struct feed *f);
/* Reads the next sample of the logs; one request contains several samples. S_FALSE: there are no more samples, and all
   have been passed to the sender. */
HRESULT feed_next(struct feed *f);
/* Passes the samples that feed_next has collected for the current request to the sender. */
HRESULT feed_flush(struct feed *f);
void feed_close(struct feed *f); /* NULL is allowed */

#endif

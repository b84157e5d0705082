/* SPDX-License-Identifier: MIT */
/* Samples of an exporter on their way to a server: they become requests, which push sends. */
#ifndef OPENPLA_FEED_H
#define OPENPLA_FEED_H

#include "engine/export/metrics.h"
#include "engine/export/push.h"

struct feed;
/* `service`: the name of the program or set, for OTLP. Exporter and push are borrowed. An exporter for Influx needs
   formatted values. */
HRESULT feed_open(enum push_kind kind, const char *service, struct exporter *e, struct push *p, struct feed **out);
/* Takes a sample of live counters and gives it. */
HRESULT feed_sample(struct feed *f);
/* Gives the next sample of the logs, several samples in one request. S_FALSE: no more; all have been given. */
HRESULT feed_next(struct feed *f);
/* Gives the samples that feed_next has not given yet. */
HRESULT feed_flush(struct feed *f);
void feed_close(struct feed *f); /* NULL is allowed */

#endif

/* SPDX-License-Identifier: MIT */
/* openpla serve: counters as metrics for Prometheus. */
#ifndef OPENPLA_SERVE_H
#define OPENPLA_SERVE_H

#include "cli/http/http.h"
#include "engine/base/text.h"
#include "engine/logs/metric_family.h"

/* ---- metric_page.c: the two text formats ---- */

/* Whether the client prefers OpenMetrics 1.0 to text 0.0.4, by its Accept header. */
bool page_wants_openmetrics(struct http_span accept);
extern const char page_type_text[], page_type_openmetrics[];

/* ---- exporter.c: counters and their metrics ---- */

enum export_names { NAMES_BOTH, NAMES_NEW, NAMES_OLD }; /* of metrics whose name has changed */
struct exporter_settings {
    const struct texts *paths; /* borrowed until exporter_close */
    bool totals;               /* also instances _Total of paths with wildcards */
    bool preset;               /* also the metrics of windows_exporter */
    enum export_names names;
};
struct exporter;
/* Adds the counters. One that cannot be added is listed in exporter_refused, and tried again later. Fails only if PDH
   cannot be used or memory runs out. */
HRESULT exporter_open(const struct exporter_settings *settings, struct exporter **out);
/* Why counters are missing, one line each; borrowed. */
const struct texts *exporter_refused(const struct exporter *e);
/* The number of counters that are served; one with "*" counts once. */
size_t exporter_counters(const struct exporter *e);
/* Takes a sample and adds the page. `collectors`: only those of the preset; empty: all. May be called by several
   threads. *out is to be given back, and the next page reuses its memory. */
HRESULT exporter_page(struct exporter *e, bool openmetrics, const struct texts *collectors, struct text_buffer *out);
/* Takes a page's text back, from memory_alloc. */
void exporter_give_back(struct exporter *e, struct text_buffer *page);
void exporter_close(struct exporter *e); /* NULL is allowed */

#endif

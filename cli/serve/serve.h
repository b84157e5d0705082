/* SPDX-License-Identifier: MIT */
/* openpla serve: counters as metrics for Prometheus. */
#ifndef OPENPLA_SERVE_H
#define OPENPLA_SERVE_H

#include "cli/http/http.h"
#include "engine/export/metrics.h"

/* ---- metric_page.c: the two text formats ---- */

/* Whether the client prefers OpenMetrics 1.0 to text 0.0.4, by its Accept header. */
bool page_wants_openmetrics(struct http_span accept);
extern const char page_type_text[], page_type_openmetrics[];

/* Pages of an exporter. Zero-initialise, and set exporter. */
struct metric_pages {
    struct exporter *exporter; /* borrowed */
    struct lock lock;
    struct text_buffer spare; /* of an earlier page */
};
/* Takes a sample as a page. `collectors`: only those of the preset; empty: all. May be called by several threads. *out
   is to be given back, also after a failure, and the next page reuses its memory. */
HRESULT metric_page(struct metric_pages *p, bool openmetrics, const struct texts *collectors, struct text_buffer *out);
/* Takes a page's text back. */
void metric_page_give_back(struct metric_pages *p, struct text_buffer *page);

/* ---- exporting.c: what serve and push have in common ---- */

/* Options that choose counters. Zero-initialise. */
struct exporting {
    const char *counter_file, *set, *machine, *preset, *names;
    bool totals;
    enum export_names which_names;
    struct texts counters, paths; /* as named, and with computers */
    uint64_t interval_ms;         /* the shortest of the set's counters; 0: no set */
};
/* Checks -preset and -names, and that something is chosen. Prints a message. */
int exporting_check(const char *verb, struct exporting *x);
/* Fills in the paths. */
HRESULT exporting_find_counters(struct exporting *x);
/* exporter_open, and prints which counters are missing. `values`: samples have formatted values. */
HRESULT exporting_open(const char *verb, const struct exporting *x, bool values, struct exporter **out);
void exporting_free(struct exporting *x);

#endif

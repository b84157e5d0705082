/* SPDX-License-Identifier: MIT */
/* openpla serve: serves counters as metrics for Prometheus. */
#ifndef OPENPLA_SERVE_H
#define OPENPLA_SERVE_H

#include "cli/http/http.h"
#include "engine/export/metrics.h"

/* ---- metric_page.c: the two text formats ---- */

/* Returns true if the client's Accept header prefers OpenMetrics 1.0 to text 0.0.4. */
bool page_wants_openmetrics(struct http_span accept);
extern const char page_type_text[], page_type_openmetrics[];

/* The pages of an exporter. Zero-initialise and set `exporter`. */
struct metric_pages {
    struct exporter *exporter; /* borrowed */
    struct lock lock;
    struct text_buffer spare; /* memory of an earlier page; the next page reuses it */
};
/* Takes a sample and writes it as a page. `collectors` selects collectors of the preset; empty: all. Several threads
   may call this function. Give *out back with metric_page_give_back, even after a failure; a later page reuses its
   memory. */
HRESULT metric_page(struct metric_pages *p, bool openmetrics, const struct texts *collectors, struct text_buffer *out);
/* Returns a page's memory for reuse. */
void metric_page_give_back(struct metric_pages *p, struct text_buffer *page);

/* ---- exporting.c: what serve and push have in common ---- */

/* Options that select counters. Zero-initialise. */
struct exporting {
    const char *counter_file, *set, *machine, *preset, *names;
    bool totals;
    enum export_names which_names;
    struct texts counters, paths; /* `counters` are the paths as the user specified them; `paths` are the same paths
                                     with computer names */
    uint64_t interval_ms;         /* the shortest sample interval of the set's collectors; 0 means no set */
};
/* Checks -preset and -names, and that at least one counter is selected. Prints a message on failure. */
int exporting_check(const char *verb, struct exporting *x);
/* Determines the paths from the options. */
HRESULT exporting_find_counters(struct exporting *x);
/* Opens the exporter and prints which counters are missing. If `values` is true, samples have formatted values. */
HRESULT exporting_open(const char *verb, const struct exporting *x, bool values, struct exporter **out);
void exporting_free(struct exporting *x);

#endif

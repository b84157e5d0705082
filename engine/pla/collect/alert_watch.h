/* SPDX-License-Identifier: MIT */
/* Alerts: the counters that thresholds are about, with one query for all of them, and the rules by which a value beyond
   its threshold is an alert. */
#ifndef OPENPLA_ALERT_WATCH_H
#define OPENPLA_ALERT_WATCH_H

#include "engine/pdh/counter_query.h"
#include "engine/pla/model.h"

/* ---- rules: an alert at each sample, as Windows does it, or only as the rules say ---- */

/* Zero: Windows' rule, an alert at each sample whose value is beyond. */
struct alert_rules {
    bool on_crossing;  /* once, until the value has come back */
    uint32_t samples;  /* so many in a row must be beyond; 0 is 1 */
    double hysteresis; /* how far the value must come back behind the threshold to have come back */
    bool relative;     /* that is in percent of the threshold */
    uint32_t hold_off; /* seconds from an alert in which there is no other */
    bool all_clear;    /* a value that has come back after an alert is told too */
};

/* What is known of one counter at one threshold. Zero-initialise. */
struct alert_state {
    uint32_t beyond; /* samples in a row, up to what the rules ask for */
    bool raised;     /* it was beyond often enough, and has not come back */
    bool was_alert;  /* and that was an alert */
    bool ever;       /* there was one at `latest` */
    uint64_t latest; /* clock_monotonic_ms */
};

enum alert_verdict { ALERT_NONE, ALERT_BEYOND, ALERT_CLEAR };

/* Whether alerts need no memory of earlier samples. */
bool alert_rules_are_plain(const struct alert_rules *rules);
bool alert_is_beyond(const struct alert_threshold *threshold, double value);
/* Takes up one sample. A value that is no number changes nothing. */
enum alert_verdict alert_evaluate(const struct alert_rules *rules, const struct alert_threshold *threshold,
                                  double value, uint64_t now, struct alert_state *state);
/* Its counter is gone. */
enum alert_verdict alert_evaluate_gone(const struct alert_rules *rules, struct alert_state *state);

/* ---- counters ---- */

struct alert_watch;

/* What a watch has to say. */
struct alert_found {
    const struct alert_threshold *threshold;
    const char *counter; /* the threshold's path, with the instance and the counter that are meant */
    enum alert_verdict verdict;
    bool has_value; /* false: the counter is gone */
    double value;
};
struct alert_listener {
    void *user;
    /* A threshold's path that gives no counter: once, until it has been found. */
    void (*missing)(void *user, HRESULT reason, const char *path, const char *text);
    void (*appeared)(void *user, const char *path); /* one that was missing */
    void (*found)(void *user, const struct alert_found *what);
};

/* Watches these thresholds (alert_threshold_parse); `listener` is copied. `before`: a watch whose sampling is over,
   whose counters and states go on where they are the same; NULL: none. `beside`: one that goes on for now, of which
   the states are copied; NULL: none. A counter that is not there is no failure. */
HRESULT alert_watch_open(const struct texts *thresholds, const struct alert_listener *listener,
                         struct alert_watch *before, struct alert_watch *beside, struct alert_watch **out);
/* Takes a reading that nobody judges, so that rates have one at the first sample. */
HRESULT alert_watch_read(struct alert_watch *w);
/* Takes a sample and tells what the rules make of it. *utc: its moment. Where memory is out for one alert the others
   are told all the same. */
HRESULT alert_watch_sample(struct alert_watch *w, const struct alert_rules *rules, int64_t *utc);
/* Looks for those of the missing counters whose turn it is. */
HRESULT alert_watch_search(struct alert_watch *w);
size_t alert_watch_missing(const struct alert_watch *w);
void alert_watch_close(struct alert_watch *w); /* NULL is allowed */

#endif

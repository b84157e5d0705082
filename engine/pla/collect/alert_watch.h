/* SPDX-License-Identifier: MIT */
/* Alerts: watches the counters of thresholds with one query, and applies the rules by which a value beyond its
   threshold becomes an alert. */
#ifndef OPENPLA_ALERT_WATCH_H
#define OPENPLA_ALERT_WATCH_H

#include "engine/pdh/counter_query.h"
#include "engine/pla/model.h"

/* ---- rules: an alert at each sample, as on Windows, or as the rules specify ---- */

/* Zero: Windows' rule, an alert at each sample whose value is beyond the threshold. */
struct alert_rules {
    bool on_crossing;  /* once, until the value has returned */
    uint32_t samples;  /* required number of consecutive samples beyond the threshold; 0 means 1 */
    double hysteresis; /* how far the value must return behind the threshold to count as returned */
    bool relative;     /* hysteresis is in percent of the threshold */
    uint32_t hold_off; /* seconds after an alert during which there is no other */
    bool all_clear;    /* also report the return of a value after an alert */
};

/* The state of one counter at one threshold. Zero-initialise. */
struct alert_state {
    uint32_t beyond; /* consecutive samples, up to the required number */
    bool raised;     /* it was beyond often enough and has not returned */
    bool was_alert;  /* it also raised an alert */
    bool ever;       /* `latest` is valid */
    uint64_t latest; /* clock_monotonic_ms */
};

enum alert_verdict { ALERT_NONE, ALERT_BEYOND, ALERT_CLEAR };

/* Whether the rules need no state from earlier samples. */
bool alert_rules_are_plain(const struct alert_rules *rules);
bool alert_is_beyond(const struct alert_threshold *threshold, double value);
/* Evaluates one sample. NaN changes nothing. */
enum alert_verdict alert_evaluate(const struct alert_rules *rules, const struct alert_threshold *threshold,
                                  double value, uint64_t now, struct alert_state *state);
/* The counter no longer exists. */
enum alert_verdict alert_evaluate_gone(const struct alert_rules *rules, struct alert_state *state);

/* ---- counters ---- */

struct alert_watch;

/* A result of the watch. */
struct alert_found {
    const struct alert_threshold *threshold;
    const char *counter; /* the threshold's path with the actual instance and counter */
    enum alert_verdict verdict;
    bool has_value; /* false: the counter no longer exists */
    double value;
};
struct alert_listener {
    void *user;
    /* The threshold's path matches no counter; called once, until it matches. */
    void (*missing)(void *user, HRESULT reason, const char *path, const char *text);
    void (*appeared)(void *user, const char *path); /* a missing counter now exists */
    void (*found)(void *user, const struct alert_found *what);
};

/* Watches these thresholds (alert_threshold_parse); `listener` is copied. `before`: a watch that no longer samples,
   whose counters and states continue where they are equal; NULL: none. `beside`: an active watch whose states are
   copied; NULL: none. A missing counter is not a failure. */
HRESULT alert_watch_open(const struct texts *thresholds, const struct alert_listener *listener,
                         struct alert_watch *before, struct alert_watch *beside, struct alert_watch **out);
/* Takes a reading that is not evaluated, so that rates have a value at the first sample. */
HRESULT alert_watch_read(struct alert_watch *w);
/* Takes a sample and reports the alerts by the rules. *utc: its time. If one alert runs out of memory, the others are
   still reported. */
HRESULT alert_watch_sample(struct alert_watch *w, const struct alert_rules *rules, int64_t *utc);
/* Searches the next few missing counters. */
HRESULT alert_watch_search(struct alert_watch *w);
size_t alert_watch_missing(const struct alert_watch *w);
void alert_watch_close(struct alert_watch *w); /* NULL is allowed */

#endif

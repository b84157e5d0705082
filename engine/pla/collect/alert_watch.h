/* SPDX-License-Identifier: MIT */
/* Watches the counters of alert thresholds with one query, and decides by rules whether a value beyond its threshold is
   an alert. */
#ifndef OPENPLA_ALERT_WATCH_H
#define OPENPLA_ALERT_WATCH_H

#include "engine/pdh/counter_query.h"
#include "engine/pla/model.h"

/* ---- rules: when a value beyond its threshold is an alert ---- */

/* All zero: Windows' rule, an alert at each sample whose value is beyond the threshold. */
struct alert_rules {
    bool on_crossing;  /* no further alert is reported until the value has returned */
    uint32_t samples;  /* consecutive samples beyond the threshold that an alert requires; 0 means 1 */
    double hysteresis; /* how far back across the threshold a value must move to count as returned */
    bool relative;     /* `hysteresis` is a percentage of the threshold */
    uint32_t hold_off; /* for this many seconds after an alert, no further alert is reported */
    bool all_clear;    /* also report when a value returns after an alert */
};

/* The state of one counter at one threshold. Zero-initialise. */
struct alert_state {
    uint32_t beyond; /* consecutive samples beyond the threshold, counted up to alert_rules.samples */
    bool raised;     /* the value was beyond the threshold often enough and has not returned */
    bool was_alert;  /* an alert was reported, and the value has not returned since */
    bool ever;       /* `latest` is valid */
    uint64_t latest; /* time of the latest alert, clock_monotonic_ms */
};

enum alert_verdict { ALERT_NONE, ALERT_BEYOND, ALERT_CLEAR };

/* Returns whether the rules need no state from earlier samples. */
bool alert_rules_are_plain(const struct alert_rules *rules);
bool alert_is_beyond(const struct alert_threshold *threshold, double value);
/* Evaluates one sample and updates the state. Ignores NaN. */
enum alert_verdict alert_evaluate(const struct alert_rules *rules, const struct alert_threshold *threshold,
                                  double value, uint64_t now, struct alert_state *state);
/* Updates the state of a counter that no longer exists. */
enum alert_verdict alert_evaluate_gone(const struct alert_rules *rules, struct alert_state *state);

/* ---- counters ---- */

struct alert_watch;

/* A result that the watch reports. */
struct alert_found {
    const struct alert_threshold *threshold;
    const char *counter; /* the threshold's path with the actual instance and counter */
    enum alert_verdict verdict;
    bool has_value; /* false: the counter no longer exists */
    double value;
};
struct alert_listener {
    void *user;
    /* The threshold's path matches no counter. Called only once until the path matches a counter. */
    void (*missing)(void *user, HRESULT reason, const char *path, const char *text);
    void (*appeared)(void *user, const char *path); /* a missing counter now exists */
    void (*found)(void *user, const struct alert_found *what);
};

/* Watches these thresholds (alert_threshold_parse); copies `listener`. `before`: a watch that no longer takes samples;
   NULL: none. The new watch takes over the counters of `before`, and the state of each threshold that is in both
   watches. `beside`: a watch that is still active, used only if `before` is NULL; NULL: none. The new watch copies only
   the states of `beside`. A missing counter is not a failure. */
HRESULT alert_watch_open(const struct texts *thresholds, const struct alert_listener *listener,
                         struct alert_watch *before, struct alert_watch *beside, struct alert_watch **out);
/* Takes a sample without evaluating it, so that rates have a value at the next sample. */
HRESULT alert_watch_read(struct alert_watch *w);
/* Takes a sample, and reports an alert for each value that is an alert under the rules. *utc: time of the sample. If
   memory runs out for one alert, the other alerts are reported nevertheless. */
HRESULT alert_watch_sample(struct alert_watch *w, const struct alert_rules *rules, int64_t *utc);
/* Searches for the next few missing counters. */
HRESULT alert_watch_search(struct alert_watch *w);
size_t alert_watch_missing(const struct alert_watch *w);
void alert_watch_close(struct alert_watch *w); /* NULL is allowed */

#endif

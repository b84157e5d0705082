/* SPDX-License-Identifier: MIT */
/* The counters that thresholds are about: one query for all of them, and what is known of each instance. */
#ifndef OPENPLA_ALERT_WATCH_H
#define OPENPLA_ALERT_WATCH_H

#include "engine/pdh/counter_query.h"
#include "engine/pla/collect/alert_judge.h"

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

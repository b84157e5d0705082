/* SPDX-License-Identifier: MIT */
/* When a value beyond its threshold is an alert: at each sample, as Windows does it, or only as the rules say. */
#ifndef OPENPLA_ALERT_JUDGE_H
#define OPENPLA_ALERT_JUDGE_H

#include "engine/pla/alert_threshold.h"

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
    bool told;       /* and that was an alert */
    bool ever;       /* there was one at `latest` */
    uint64_t latest; /* clock_monotonic_ms */
};

enum alert_verdict { ALERT_NONE, ALERT_BEYOND, ALERT_CLEAR };

/* Whether alerts need no memory of earlier samples. */
bool alert_rules_are_plain(const struct alert_rules *rules);
bool alert_is_beyond(const struct alert_threshold *threshold, double value);
/* Takes up one sample. A value that is no number changes nothing. */
enum alert_verdict alert_judge(const struct alert_rules *rules, const struct alert_threshold *threshold, double value,
                               uint64_t now, struct alert_state *state);
/* Its counter is gone. */
enum alert_verdict alert_judge_gone(const struct alert_rules *rules, struct alert_state *state);

#endif

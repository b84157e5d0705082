/* SPDX-License-Identifier: MIT */
/* The rules of alerts. */
#include "engine/pla/collect/alert_judge.h"

#include <math.h>

bool alert_rules_are_plain(const struct alert_rules *rules)
{
    return !rules->on_crossing && rules->samples <= 1 && !rules->hold_off && !rules->all_clear;
}

bool alert_is_beyond(const struct alert_threshold *threshold, double value)
{
    return threshold->operator_ == '>' ? value > threshold->value : value < threshold->value;
}

static bool has_come_back(const struct alert_rules *rules, const struct alert_threshold *threshold, double value)
{
    double by = rules->relative ? fabs(threshold->value) * rules->hysteresis / 100 : rules->hysteresis;
    return threshold->operator_ == '>' ? value <= threshold->value - by : value >= threshold->value + by;
}

enum alert_verdict alert_judge_gone(const struct alert_rules *rules, struct alert_state *state)
{
    bool told = state->told;
    state->beyond = 0;
    state->raised = state->told = false;
    return told && rules->all_clear ? ALERT_CLEAR : ALERT_NONE;
}

enum alert_verdict alert_judge(const struct alert_rules *rules, const struct alert_threshold *threshold, double value,
                               uint64_t now, struct alert_state *state)
{
    if (isnan(value))
        return ALERT_NONE;
    if (!alert_is_beyond(threshold, value)) {
        state->beyond = 0;
        return has_come_back(rules, threshold, value) ? alert_judge_gone(rules, state) : ALERT_NONE;
    }
    if (state->beyond < rules->samples)
        state->beyond++;
    state->raised = state->raised || state->beyond >= rules->samples;
    bool held = state->ever && now - state->latest < (uint64_t)rules->hold_off * 1000;
    /* With a hold-off a crossing is told late rather than never, if the value is still beyond. */
    if (!state->raised || held || (rules->on_crossing && state->told))
        return ALERT_NONE;
    state->told = state->ever = true;
    state->latest = now;
    return ALERT_BEYOND;
}

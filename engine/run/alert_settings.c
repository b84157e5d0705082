/* SPDX-License-Identifier: MIT */
/* Reads the settings of alerts. */
#include "engine/run/alert_settings.h"

#include "engine/os/memory.h"
#include "engine/run/settings.h"

#include <string.h>

void alert_settings_free(struct alert_settings *s)
{
    memory_free(s->message);
    memory_free(s->command);
    *s = (struct alert_settings){0};
}

static HRESULT pass_over(HRESULT hr)
{
    return hr == E_INVALIDARG ? S_OK : hr;
}

HRESULT alert_settings_read(struct object *set, const char *collector, struct alert_settings *out)
{
    struct alert_settings s = {0};
    uint32_t on = 0, all_clear = 0, log = 0;
    HRESULT hr = pass_over(setting_read_of(set, collector, SETTING_AlertOn, &on));
    if (SUCCEEDED(hr))
        hr = pass_over(setting_read_of(set, collector, SETTING_AlertSamples, &s.rules.samples));
    if (SUCCEEDED(hr))
        hr = pass_over(setting_read_of(set, collector, SETTING_AlertHoldOff, &s.rules.hold_off));
    if (SUCCEEDED(hr))
        hr = pass_over(setting_read_of(set, collector, SETTING_AlertAllClear, &all_clear));
    if (SUCCEEDED(hr))
        hr = pass_over(setting_read_of(set, collector, SETTING_AlertLog, &log));
    if (SUCCEEDED(hr))
        hr = pass_over(
            setting_read_distance(set, collector, SETTING_AlertHysteresis, &s.rules.hysteresis, &s.rules.relative));
    if (SUCCEEDED(hr))
        hr = setting_read_text(set, collector, SETTING_AlertMessage, &s.message);
    if (SUCCEEDED(hr))
        hr = setting_read_text(set, collector, SETTING_AlertCommand, &s.command);
    if (FAILED(hr)) {
        alert_settings_free(&s);
        return hr;
    }
    s.rules.on_crossing = on == ALERT_ON_CROSSING;
    s.rules.all_clear = all_clear == ALL_CLEAR_YES;
    s.log = log == ALERT_LOG_CSV;
    alert_settings_free(out);
    *out = s;
    return S_OK;
}

/* The variable whose name in braces `at` begins with; *length: of the name with its braces. */
static const struct alert_variable *variable_at(const char *at, const struct alert_variable *variables, size_t count,
                                                size_t *length)
{
    for (size_t i = 0; *at == '{' && i < count; i++) {
        size_t name = strlen(variables[i].name);
        if (!strncmp(at + 1, variables[i].name, name) && at[name + 1] == '}') {
            *length = name + 2;
            return &variables[i];
        }
    }
    return NULL;
}

char *alert_text(const char *pattern, const struct alert_variable *variables, size_t count)
{
    struct text_buffer b = {0};
    for (const char *at = pattern; *at;) {
        size_t length = 0;
        const struct alert_variable *v = variable_at(at, variables, count, &length);
        if (v) {
            text_buffer_add(&b, v->value);
            at += length;
        } else {
            text_buffer_add_n(&b, at++, 1);
        }
    }
    return text_buffer_take(&b);
}

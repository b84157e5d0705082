/* SPDX-License-Identifier: MIT */
/* Reads the settings of alerts. */
#include "engine/pla/run/alert_settings.h"

#include "engine/base/memory.h"
#include "engine/pla/settings.h"
#include "engine/pla/store.h"
#include "engine/pla/task.h"

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

static HRESULT tell_of(struct object *issues, unsigned ordinal, const char *property, HRESULT found)
{
    struct error_kept why = error_keep(found);
    if (found == E_OUTOFMEMORY)
        return found;
    char *key = text_format("%s[%u]/%s", alert_collector_class.name, ordinal, property);
    HRESULT hr = key ? issues_add(issues, found, key, why.text) : E_OUTOFMEMORY;
    memory_free(key);
    return hr;
}

static HRESULT check_names(struct object *collector, unsigned ordinal, struct object *issues)
{
    const struct alert_collector *c = (const struct alert_collector *)collector;
    const char *bare, *space;
    char *name = NULL;
    object_lock(collector);
    char *task = text_copy(c->Task), *set = text_copy(c->TriggerDataCollectorSet);
    object_unlock(collector);
    HRESULT hr = task && set ? S_OK : E_OUTOFMEMORY,
            found = SUCCEEDED(hr) && task[0] ? task_name_check(task, &bare) : S_OK;
    if (FAILED(found))
        hr = tell_of(issues, ordinal, "Task", found);
    found = SUCCEEDED(hr) && set[0] ? store_split_name(set, &space, &name) : S_OK;
    if (FAILED(found))
        hr = tell_of(issues, ordinal, "TriggerDataCollectorSet", found);
    memory_free(name);
    memory_free(task);
    memory_free(set);
    return hr;
}

HRESULT alert_names_validate(struct object *set, struct object *issues)
{
    struct object **list;
    size_t count;
    unsigned ordinal = 0;
    HRESULT hr = collection_snapshot(set_of(set)->DataCollectors, &list, &count);
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++)
        if (list[i]->class == &alert_collector_class)
            hr = check_names(list[i], ++ordinal, issues);
    objects_release(list, count);
    return hr;
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

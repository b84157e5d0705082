/* SPDX-License-Identifier: MIT */
/* Performs the actions of a crossing, as the collector's properties and the set's settings specify (MS-PLA 3.2.4.8). */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/logs/alert_log.h"
#include "engine/pla/run/member.h"
#include "engine/pla/settings.h"
#include "engine/pla/store.h"
#include "engine/pla/task.h"

#include <string.h>

static const struct alert_collector *model_of(const struct member *m)
{
    return (const struct alert_collector *)m->model;
}

HRESULT member_read_alert(struct member *m)
{
    if (m->model->class != &alert_collector_class)
        return S_OK;
    return alert_settings_read(&m->set->set->object, member_name(m), &m->alert);
}

void member_alert_rules(void *member, struct alert_rules *out)
{
    *out = ((const struct member *)member)->alert.rules;
}

/* ---- messages ---- */

enum { VARIABLES = 8 };
struct facts {
    char date[ALERT_TIME_SIZE], comparison[2];
    struct alert_variable all[VARIABLES]; /* the variables of MS-PLA 3.2.4.8.11, then OpenPLA's */
};

static void facts_gather(const struct member *m, const struct crossing *c, struct facts *f)
{
    alert_time(c->utc, f->date);
    f->comparison[0] = c->comparison;
    f->comparison[1] = 0;
    const struct alert_variable all[VARIABLES] = {
        {"counter", c->counter},     {"date", f->date},     {"name", member_name(m)},
        {"threshold", c->threshold}, {"value", c->value},   {"usertext", model_of(m)->TaskUserTextArguments},
        {"operator", f->comparison}, {"set", m->set->name},
    };
    memcpy(f->all, all, sizeof all);
}

static char *message_of(const struct member *m, const struct crossing *c, const struct facts *f)
{
    if (m->alert.message[0])
        return alert_text(m->alert.message, f->all, VARIABLES);
    if (model_of(m)->TaskUserTextArguments[0])
        return text_copy(model_of(m)->TaskUserTextArguments);
    if (c->clear && !c->value[0])
        return text_format("%s no longer exists", c->counter);
    const char *where = c->clear ? "back within the threshold" : c->comparison == '>' ? "above" : "below";
    return text_format("%s is %s, %s %s", c->counter, c->value, where, c->threshold);
}

/* Expands the arguments of a task. Values from SetValue are also variables, as in the arguments of the set's task
   (DECISIONS 14). */
static HRESULT facts_expand(const struct member *m, const struct facts *f, const char *pattern, char **out)
{
    const struct data_collector_set *set = m->set->set;
    struct task_variable *variables = memory_zero(VARIABLES + set->value_count, sizeof *variables);
    size_t count = 0;
    *out = NULL;
    if (!variables)
        return E_OUTOFMEMORY;
    for (; count < VARIABLES; count++)
        variables[count] = (struct task_variable){.name = f->all[count].name, .text = f->all[count].value};
    for (size_t i = 0; i < set->value_count; i++)
        variables[count++] = (struct task_variable){.name = set->values[i].key, .text = set->values[i].value};
    HRESULT hr = task_expand_arguments(pattern, variables, count, out);
    memory_free(variables);
    return hr;
}

/* Returns the current folder for tasks: the folder of the alert log, or RootPath. */
static char *directory_of(const struct member *m)
{
    return m->file[0] ? path_folder(m->file) : os_expand_environment(set_root(m->set->set));
}

/* ---- actions ---- */

static void wake_run(void *section)
{
    run_section_wake(section);
}

static HRESULT order_task(const struct member *m, const struct facts *f, const char *command)
{
    char *text, *directory = directory_of(m);
    const struct alert_collector *model = model_of(m);
    HRESULT hr = directory ? facts_expand(m, f, command ? command : model->TaskArguments, &text) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        const struct alert_order order = {.collector = member_name(m),
                                          .task = command ? NULL : model->Task,
                                          .arguments = command ? NULL : text,
                                          .command = command ? text : NULL,
                                          .directory = directory,
                                          .as_self = model->TaskRunAsSelf};
        alert_actions_add(m->set->alerts, ALERT_TASK, &order);
        memory_free(text);
    }
    memory_free(directory);
    return hr;
}

static HRESULT order_all(const struct member *m, const struct crossing *c, const struct facts *f, const char *message)
{
    const struct alert_collector *model = model_of(m);
    HRESULT hr = S_OK;
    if (c->clear || model->EventLog)
        alert_actions_add(m->set->alerts, ALERT_EVENT,
                          &(struct alert_order){.collector = member_name(m), .crossing = c, .message = message});
    if (c->clear)
        return S_OK;
    if (model->Task[0])
        hr = order_task(m, f, NULL);
    if (SUCCEEDED(hr) && m->alert.command[0])
        hr = order_task(m, f, m->alert.command);
    if (model->TriggerDataCollectorSet[0])
        alert_actions_add(m->set->alerts, ALERT_TRIGGER,
                          &(struct alert_order){.collector = member_name(m), .set = model->TriggerDataCollectorSet});
    return hr;
}

static bool sets_off_anything(const struct member *m, const struct crossing *c)
{
    const struct alert_collector *model = model_of(m);
    return c->clear || model->EventLog || model->Task[0] || model->TriggerDataCollectorSet[0] || m->alert.command[0];
}

char *member_alert(void *member, const struct crossing *c)
{
    struct member *m = member;
    struct facts facts;
    facts_gather(m, c, &facts);
    char *message = message_of(m, c, &facts);
    HRESULT hr = S_OK;
    if (sets_off_anything(m, c)) {
        if (!m->set->alerts)
            hr = alert_actions_create(m->set->space, m->set->name, wake_run, m->set->section, &m->set->alerts);
        if (SUCCEEDED(hr))
            hr = order_all(m, c, &facts, message ? message : "");
    }
    if (FAILED(hr))
        member_note(m, hr);
    return message;
}

/* ---- settings of alerts ---- */

void alert_settings_free(struct alert_settings *s)
{
    memory_free(s->message);
    memory_free(s->command);
    *s = (struct alert_settings){0};
}

static HRESULT ignore_unless_memory(HRESULT hr)
{
    return hr == E_INVALIDARG ? S_OK : hr;
}

HRESULT alert_settings_read(struct object *set, const char *collector, struct alert_settings *out)
{
    struct alert_settings s = {0};
    uint32_t on = 0, all_clear = 0, log = 0;
    HRESULT hr = ignore_unless_memory(setting_read_of(set, collector, SETTING_AlertOn, &on));
    if (SUCCEEDED(hr))
        hr = ignore_unless_memory(setting_read_of(set, collector, SETTING_AlertSamples, &s.rules.samples));
    if (SUCCEEDED(hr))
        hr = ignore_unless_memory(setting_read_of(set, collector, SETTING_AlertHoldOff, &s.rules.hold_off));
    if (SUCCEEDED(hr))
        hr = ignore_unless_memory(setting_read_of(set, collector, SETTING_AlertAllClear, &all_clear));
    if (SUCCEEDED(hr))
        hr = ignore_unless_memory(setting_read_of(set, collector, SETTING_AlertLog, &log));
    if (SUCCEEDED(hr))
        hr = ignore_unless_memory(
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

static HRESULT add_issue(struct object *issues, unsigned ordinal, const char *property, HRESULT found)
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
        hr = add_issue(issues, ordinal, "Task", found);
    found = SUCCEEDED(hr) && set[0] ? store_split_name(set, &space, &name) : S_OK;
    if (FAILED(found))
        hr = add_issue(issues, ordinal, "TriggerDataCollectorSet", found);
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

/* Returns the variable whose name in braces is at `at`; NULL: none. *length includes the braces. */
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

/* SPDX-License-Identifier: MIT */
/* What a crossing sets off, as its collector's properties and the set's settings say. MS-PLA 3.2.4.8. */
#include "engine/base/file.h"
#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/logs/alert_log.h"
#include "engine/pla/run/alert_actions.h"
#include "engine/pla/run/member.h"
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

/* ---- texts ---- */

enum { VARIABLES = 8 };
struct facts {
    char date[ALERT_TIME_SIZE], comparison[2];
    struct alert_variable all[VARIABLES]; /* those of MS-PLA 3.2.4.8.11 first, then ours */
};

static void gather(const struct member *m, const struct crossing *c, struct facts *f)
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
        return text_format("%s is gone", c->counter);
    const char *where = c->clear ? "back behind" : c->comparison == '>' ? "above" : "below";
    return text_format("%s is %s, %s %s", c->counter, c->value, where, c->threshold);
}

/* With the values that SetValue has put, as in a set's own arguments (DECISIONS 14). */
static HRESULT expand(const struct member *m, const struct facts *f, const char *pattern, char **out)
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

/* Where tasks begin: the folder of the log of alerts, or the set's. */
static char *directory_of(const struct member *m)
{
    return m->file[0] ? path_folder(m->file) : host_expand_environment(set_root(m->set->set));
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
    HRESULT hr = directory ? expand(m, f, command ? command : model->TaskArguments, &text) : E_OUTOFMEMORY;
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
    gather(m, c, &facts);
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

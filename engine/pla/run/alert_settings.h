/* SPDX-License-Identifier: MIT */
/* The settings of one alert collector (settings.def), and its message. */
#ifndef OPENPLA_ALERT_SETTINGS_H
#define OPENPLA_ALERT_SETTINGS_H

#include "engine/pla/collect/alert_watch.h"
#include "engine/pla/model.h"

struct alert_settings {
    struct alert_rules rules;
    char *message, *command; /* "" for none */
    bool log;
};
/* Of the set for that collector. A value that is none counts as the default: Commit has told of it. E_OUTOFMEMORY; what
   `out` held is freed on success. */
HRESULT alert_settings_read(struct object *set, const char *collector, struct alert_settings *out);
void alert_settings_free(struct alert_settings *s);

/* Adds an item to `issues` (a plaValidation map) for each alert collector's Task that no task can be named by, and each
   TriggerDataCollectorSet that no set can. */
HRESULT alert_names_validate(struct object *set, struct object *issues);

/* A variable of a text: {name}. */
struct alert_variable {
    const char *name, *value;
};
/* The text with the variables that it knows replaced, once: what is in a value stays. From memory_alloc. */
char *alert_text(const char *pattern, const struct alert_variable *variables, size_t count);

#endif

/* SPDX-License-Identifier: MIT */
/* OpenPLA's own settings of a set. Each is a row of settings.def, with a key, a rule for its value, and an entry in the
   reference. */
#ifndef OPENPLA_SETTINGS_H
#define OPENPLA_SETTINGS_H

#include "engine/pla/model.h"

#define SETTING_KEY(Name) "OpenPLA." #Name

enum setting_number {
#define SETTING(Name, ...) SETTING_##Name,
#include "engine/pla/sets/settings.def"
#undef SETTING
    SETTING_COUNT
};
/* Indexes of the words of SETTING_Restart and SETTING_StopAtExpiry. */
enum { RESTART_NEVER, RESTART_BOOT, RESTART_ALWAYS };
enum { STOP_AT_EXPIRY_NO, STOP_AT_EXPIRY_YES };
enum { REPORT_AT_STOP, REPORT_AT_SEGMENT }; /* words of SETTING_ReportAt */
/* Indexes of the words of SETTING_AlertOn, SETTING_AlertAllClear and SETTING_AlertLog. */
enum { ALERT_ON_SAMPLE, ALERT_ON_CROSSING };
enum { ALL_CLEAR_NO, ALL_CLEAR_YES };
enum { ALERT_LOG_CSV, ALERT_LOG_NONE };

struct run_record;
/* The data from which the values of read-only settings are computed. */
struct latest_run {
    const char *space, *name; /* namespace and name of the set */
    const struct run_record *record;
};
/* Exactly one of `words`, `unit`, `distance`, `text` and `of_run` is set; the member that is set determines the
   setting's type. */
struct setting {
    const char *key;
    const char *const *words; /* terminated by NULL */
    const char *unit;
    bool distance, text;
    bool of_alerts;                                /* a collector's name may follow the key */
    char *(*of_run)(const struct latest_run *run); /* from memory_alloc; NULL when out of memory */
    const char *doc;
};
extern const struct setting settings[SETTING_COUNT];

/* Returns the setting with that key, ignoring case; NULL: unknown. */
const struct setting *setting_find(const char *key);
/* Reads the set's value of the setting: a number, or the index of a word. *out is 0 if the set has no value.
   E_INVALIDARG: the value is invalid; the message lists the allowed values, and *out is 0. E_OUTOFMEMORY. Not for
   settings with `of_run`. */
HRESULT setting_read(struct object *set, enum setting_number which, uint32_t *out);
/* Read the value for an alert collector: the collector's own value, or else the set's value. `collector` NULL: the
   set's value. The results are those of setting_read; *text is from memory_alloc, "" by default. */
HRESULT setting_read_of(struct object *set, const char *collector, enum setting_number which, uint32_t *out);
HRESULT setting_read_text(struct object *set, const char *collector, enum setting_number which, char **text);
HRESULT setting_read_distance(struct object *set, const char *collector, enum setting_number which, double *out,
                              bool *percent);
/* Adds an item to `issues` (a plaValidation map) for each invalid word, and for each value whose alert collector does
   not exist. E_INVALIDARG: an invalid number. */
HRESULT settings_validate(struct object *set, struct object *issues);

#endif

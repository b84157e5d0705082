/* SPDX-License-Identifier: MIT */
/* OpenPLA's own settings of a set: the rows of settings.def. Each is a key with a rule and an entry in the
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
enum { REPORT_AT_STOP, REPORT_AT_SEGMENT }; /* of SETTING_ReportAt */
/* For SETTING_AlertOn, SETTING_AlertAllClear and SETTING_AlertLog. */
enum { ALERT_ON_SAMPLE, ALERT_ON_CROSSING };
enum { ALL_CLEAR_NO, ALL_CLEAR_YES };
enum { ALERT_LOG_CSV, ALERT_LOG_NONE };

struct run_record;
/* The data that read-only settings are computed from. */
struct latest_run {
    const char *space, *name; /* of the set */
    const struct run_record *record;
};
/* One of `words`, `unit`, `distance`, `text` and `of_run` is set and determines the setting's type. */
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

/* The setting with that key, ignoring case; NULL: unknown. */
const struct setting *setting_find(const char *key);
/* The set's value: the number or the word's index; 0 if it is not set. E_INVALIDARG, listing the allowed values, for
   another value; *out is 0 then. E_OUTOFMEMORY. Not for settings of a run. */
HRESULT setting_read(struct object *set, enum setting_number which, uint32_t *out);
/* The value for an alert collector: its own, else the set's. Results as for setting_read; *text is from
   memory_alloc, "" by default. Collector NULL: the set's. */
HRESULT setting_read_of(struct object *set, const char *collector, enum setting_number which, uint32_t *out);
HRESULT setting_read_text(struct object *set, const char *collector, enum setting_number which, char **text);
HRESULT setting_read_distance(struct object *set, const char *collector, enum setting_number which, double *out,
                              bool *percent);
/* Adds to `issues` (a plaValidation map) each invalid word and each value for an alert collector that the set does
   not have. E_INVALIDARG for an invalid number. */
HRESULT settings_validate(struct object *set, struct object *issues);

#endif

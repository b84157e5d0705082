/* SPDX-License-Identifier: MIT */
/* Our own settings of a set: rows of settings.def, of which each becomes a key, its rule and its page in the reference.
 */
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
/* Of SETTING_Restart and SETTING_StopAtExpiry: the places of their words. */
enum { RESTART_NEVER, RESTART_BOOT, RESTART_ALWAYS };
enum { STOP_AT_EXPIRY_NO, STOP_AT_EXPIRY_YES };
enum { REPORT_AT_STOP, REPORT_AT_SEGMENT }; /* of SETTING_ReportAt */
/* Of SETTING_AlertOn, SETTING_AlertAllClear and SETTING_AlertLog. */
enum { ALERT_ON_SAMPLE, ALERT_ON_CROSSING };
enum { ALL_CLEAR_NO, ALL_CLEAR_YES };
enum { ALERT_LOG_CSV, ALERT_LOG_NONE };

struct run_record;
/* What the settings that are only read are made of. */
struct latest_run {
    const char *space, *name; /* of the set */
    const struct run_record *record;
};
/* One of `words`, `unit`, `distance`, `text` and `of_run` is there: what the setting is. */
struct setting {
    const char *key;
    const char *const *words; /* NULL at the end */
    const char *unit;
    bool distance, text;
    bool of_alerts;                                /* it may have the name of a collector behind its key */
    char *(*of_run)(const struct latest_run *run); /* from memory_alloc; NULL when memory is out */
    const char *doc;
};
extern const struct setting settings[SETTING_COUNT];

/* The setting of that key in any case; NULL: there is none. */
const struct setting *setting_find(const char *key);
/* What the set asks for: the number, or which of the words; 0 when it has no such value. E_INVALIDARG, with a text that
   says what is allowed, for another value; *out is 0 then. E_OUTOFMEMORY. Not for those of a run. */
HRESULT setting_read(struct object *set, enum setting_number which, uint32_t *out);
/* What holds for that alert collector of the set: the value of its own, or else the set's. As setting_read; *text is
   from memory_alloc, "" by default. */
HRESULT setting_read_of(struct object *set, const char *collector, enum setting_number which, uint32_t *out);
HRESULT setting_read_text(struct object *set, const char *collector, enum setting_number which, char **text);
HRESULT setting_read_distance(struct object *set, const char *collector, enum setting_number which, double *out,
                              bool *percent);
/* Adds to `issues` (a plaValidation map) each word that is not allowed and each value for an
   alert collector that the set does not have; E_INVALIDARG for what is no number. */
HRESULT settings_validate(struct object *set, struct object *issues);

#endif

/* SPDX-License-Identifier: MIT */
/* Our own settings of a set: values of SetValue, which stand in its XML as <Value name="...">, where Windows keeps what
   it does not know. */
#ifndef OPENPLA_SETTINGS_H
#define OPENPLA_SETTINGS_H

#include "engine/model/model.h"

/* never (also when there is no such value): a run that was cut off stays ended. boot: it begins again when the service
   starts and finds it cut off, as after a crash of the machine. always: also when its host dies while the service runs.
 */
#define SETTING_RESTART "OpenPLA.Restart"
enum restart { RESTART_NEVER, RESTART_BOOT, RESTART_ALWAYS };
/* yes or no (also when there is no such value): whether a set that runs is stopped when the EndDates of all its
   schedules are over. */
#define SETTING_STOP_AT_EXPIRY "OpenPLA.StopAtExpiry"

struct set_settings {
    enum restart restart;
    bool stop_at_expiry;
};
/* A value that is none of those allowed counts as none. E_OUTOFMEMORY. */
HRESULT settings_read(struct object *set, struct set_settings *out);
/* Adds to `issues` (a plaValidation map) each value that is none of those allowed. */
HRESULT settings_validate(struct object *set, struct object *issues);

#endif

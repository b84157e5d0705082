/* SPDX-License-Identifier: MIT */
/* Events about remote clients. */
#ifndef OPENPLA_DCOM_JOURNAL_H
#define OPENPLA_DCOM_JOURNAL_H

#include "engine/base/error.h"

enum dcom_event {
    DCOM_OPENED = 9040,
    DCOM_NOT_OPENED = 9041,
    DCOM_LOGON = 9042,
    DCOM_LOGON_FAILED = 9043,
    DCOM_REFUSED = 9044,
    DCOM_CREATED = 9045
};
/* Strings may be NULL: absent. */
struct dcom_event_facts {
    const char *user, *address, *reason, *class_name;
    uint64_t count; /* of earlier events of this kind that were not written; 0: absent */
    HRESULT error;
};
/* Writes the event to the journal, and ignores a failure. */
void dcom_event_write(enum dcom_event id, const struct dcom_event_facts *facts);

#endif

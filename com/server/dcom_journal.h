/* SPDX-License-Identifier: MIT */
/* Events about the remote clients of DCOM and of the counter server. */
#ifndef OPENPLA_DCOM_JOURNAL_H
#define OPENPLA_DCOM_JOURNAL_H

#include "engine/base/error.h"
#include "engine/rpc/port.h"

enum dcom_event {
    DCOM_OPENED = 9040,
    DCOM_NOT_OPENED = 9041,
    DCOM_LOGON = 9042,
    DCOM_LOGON_FAILED = 9043,
    DCOM_REFUSED = 9044,
    DCOM_CREATED = 9045
};
/* A NULL string is omitted from the event. */
struct dcom_event_facts {
    const char *service; /* NULL: DCOM */
    const char *user, *address, *reason, *class_name;
    uint64_t count; /* number of earlier events of this kind that were not written; 0: not included in the event */
    HRESULT error;
};
/* Writes the event to the journal, and ignores a failure. */
void dcom_event_write(enum dcom_event id, const struct dcom_event_facts *facts);
/* Writes an event about a port; only the first events of each kind in a minute are written. A later event reports how
   many were skipped. May be called by several threads. */
void dcom_event_report(const char *service, const struct rpc_port_event *event);

#endif

/* SPDX-License-Identifier: MIT */
/* The processing handles of this process, as consumer.c (open, close) and consumer_process.c know them. */
#ifndef OPENPLA_CONSUMER_TABLE_H
#define OPENPLA_CONSUMER_TABLE_H

#include "engine/etw/consumer/consumer.h"
#include "engine/etw/consumer/consumer_source.h"

struct consumer {
    EVENT_TRACE_LOGFILEW logfile; /* as it was opened with; what BufferCallback is shown */
    enum consumer_form form;      /* of who opened it */
    void *name;                   /* of it, in that form */
    struct consumer_source *source;
    bool real_time, raw, records;
    /* Under the table's lock. */
    bool busy;    /* it is being processed */
    bool closed;  /* ... and then goes */
    bool started; /* it has been processed */
};

/* Sets the text of a Windows error code, and returns it. */
ULONG consumer_refuse(ULONG code, const char *what);
/* Takes all of them, or none. */
ULONG consumer_take(const TRACEHANDLE *handles, ULONG count, struct consumer **out);
void consumer_give_back(struct consumer *const *taken, ULONG count);
/* NULL: it has none. */
PEVENT_CALLBACK consumer_class_callback(const GUID *class);

#endif

/* SPDX-License-Identifier: MIT */
/* What a kind of collector gives to the collect layer; each kind is one file and one row of kinds.c's table. */
#ifndef OPENPLA_COLLECT_KIND_H
#define OPENPLA_COLLECT_KIND_H

#include "engine/pla/collect/collect.h"

struct collector_kind {
    enum collector_output output;
    enum collector_end end;
    bool (*writes)(const struct object *model); /* whether it writes that; NULL: always */
    /* As collector_file_is_there and collector_delete_file; NULL: `file` is all that it writes. */
    bool (*is_there)(const struct object *model, const char *file);
    void (*delete_file)(const struct object *model, const char *base, const char *file);
    bool (*writes_parts)(const struct object *model, const char *file); /* NULL: it does not */
    HRESULT (*check)(struct object *model);                             /* NULL: nothing to see without an open */
    HRESULT (*open)(struct object *model, const struct collect_context *context, struct collector **out);
    void (*rehearse)(struct object *model);                                /* NULL: an open takes no time */
    HRESULT (*sample)(struct collector *c);                                /* NULL: the kind takes none */
    enum collector_standing (*poll)(struct collector *c, HRESULT *reason); /* NULL: it always goes on */
    void (*figures)(struct collector *c);     /* brings them up to date; NULL: they always are */
    HRESULT (*flush)(struct collector *c);    /* NULL: nothing waits to be written */
    HRESULT (*complete)(struct collector *c); /* NULL: nothing to hand on, close does it all */
    HRESULT (*close)(struct collector *c);
    /* As the functions of their names in collect.h. A kind that has the first two follows changed definitions. */
    HRESULT (*update)(struct collector *c, struct object *model);     /* NULL: S_FALSE */
    bool (*follows)(const struct collector *c, struct object *model); /* NULL: it does */
    bool (*hand_back)(struct collector *c);                           /* NULL: it has taken over nothing of use */
    HRESULT (*release_held)(const char *line);                        /* S_FALSE: the line is another kind's */
};

/* The beginning of every kind's own struct; zero, but for what open puts there. */
struct collector {
    const struct collector_kind *kind;
    uint64_t interval_ms;             /* 0: takes no samples */
    uint64_t poll_ms;                 /* 0: it is polled when it calls, and after samples */
    bool ends_by_itself;              /* ENDS_BY_ITSELF, whatever its kind says */
    bool limited;                     /* it has a limit of its own, as SegmentMaxRecords */
    struct collector_figures figures; /* kept by the kind, on the run's thread */
};

/* By DataCollectorType, MS-PLA 2.2.2.3; NULL, or not there, for a kind that does not run. */
extern const struct collector_kind *const collector_kinds[];
extern const size_t collector_kind_count;

extern const struct collector_kind configuration_collector_kind;
extern const struct collector_kind counter_collector_kind;
extern const struct collector_kind trace_collector_kind;
extern const struct collector_kind unavailable_collector_kind; /* in place of each that does not run */
extern const struct collector_kind alert_collector_kind;

/* Sets the text of a collector's file that is there already, and returns ERROR_ALREADY_EXISTS's HRESULT. */
HRESULT collector_file_exists(const char *path);

#endif

/* SPDX-License-Identifier: MIT */
/* The interface of a kind of collector; each kind is one file and one row of kinds.c's table. */
#ifndef OPENPLA_COLLECT_KIND_H
#define OPENPLA_COLLECT_KIND_H

#include "engine/pla/collect/collect.h"

struct collector_kind {
    enum collector_output output;
    enum collector_end end;
    bool (*writes)(const struct object *model); /* whether the collector writes a file; NULL: always */
    /* Like collector_file_is_there and collector_delete_file; NULL: `file` is the only file. */
    bool (*is_there)(const struct object *model, const char *file);
    void (*delete_file)(const struct object *model, const char *base, const char *file);
    bool (*writes_parts)(const struct object *model, const char *file); /* NULL: no */
    HRESULT (*runs)(struct object *model);                              /* like collector_runs; NULL: always */
    HRESULT (*check)(struct object *model); /* NULL: nothing can be checked without opening */
    HRESULT (*open)(struct object *model, const struct collect_context *context, struct collector **out);
    void (*rehearse)(struct object *model);                                /* NULL: opening is fast */
    HRESULT (*sample)(struct collector *c);                                /* NULL: takes no samples */
    enum collector_standing (*poll)(struct collector *c, HRESULT *reason); /* NULL: always COLLECTOR_GOES_ON */
    void (*figures)(struct collector *c);     /* updates the statistics; NULL: they are always current */
    HRESULT (*flush)(struct collector *c);    /* NULL: nothing is buffered */
    HRESULT (*complete)(struct collector *c); /* NULL: close does everything */
    HRESULT (*close)(struct collector *c);
    /* Like the functions of the same names in collect.h. A kind that has both `update` and `follows` supports changed
       definitions: its collectors can continue under another definition. */
    HRESULT (*update)(struct collector *c, struct object *model);     /* NULL: S_FALSE */
    bool (*follows)(const struct collector *c, struct object *model); /* NULL: yes */
    bool (*hand_back)(struct collector *c);                           /* NULL: nothing to hand back */
    HRESULT (*release_held)(const char *line);                        /* S_FALSE: the line is from another kind */
};

/* The first member of each kind's struct; zero, except for the members that `open` sets. */
struct collector {
    const struct collector_kind *kind;
    uint64_t interval_ms;             /* 0: takes no samples */
    uint64_t poll_ms;                 /* 0: polled only after samples and when it calls `wake` */
    bool ends_by_itself;              /* this collector is ENDS_BY_ITSELF regardless of its kind */
    bool limited;                     /* the collector itself has a limit, such as SegmentMaxRecords */
    struct collector_figures figures; /* the functions of the kind update it on the run's thread */
};

/* Indexed by DataCollectorType, MS-PLA 2.2.2.3; NULL or beyond the end: unsupported. */
extern const struct collector_kind *const collector_kinds[];
extern const size_t collector_kind_count;

extern const struct collector_kind configuration_collector_kind;
extern const struct collector_kind counter_collector_kind;
extern const struct collector_kind trace_collector_kind;
extern const struct collector_kind unavailable_collector_kind; /* used for unsupported kinds */
extern const struct collector_kind alert_collector_kind;
extern const struct collector_kind api_tracing_collector_kind;

/* Reports that the collector's file already exists: sets the error text, and returns
   HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS). */
HRESULT collector_file_exists(const char *path);

#endif

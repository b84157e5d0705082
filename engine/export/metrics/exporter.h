/* SPDX-License-Identifier: MIT */
/* The exporter's data, shared by exporter.c, exporter_sample.c and instance_labels.c. */
#ifndef OPENPLA_EXPORTER_H
#define OPENPLA_EXPORTER_H

#include "engine/base/os.h"
#include "engine/export/metrics.h"
#include "engine/export/metrics/steady.h"
#include "engine/export/preset.h"
#include "engine/pdh/counter_query.h"
#include "engine/report/columns.h"

enum { NO_COLUMN = -1 };

struct export_path {
    char *pattern;                /* selects instances; NULL: all */
    bool refused;                 /* no counter could be added */
    const struct preset_row *row; /* NULL: the path does not belong to the preset */
};
struct export_given {
    size_t path, column;
};
struct export_use {
    size_t path, column, object, family;
    /* For a single counter: its instance with parent and index (NULL: none), and the columns of its IDs. */
    char *instance;
    int64_t process_column, thread_column;
    struct metric_form form;
};
struct export_label {
    const char *instance; /* borrowed from the sample */
    size_t at, length;    /* in export_object.text */
    uint64_t hash;
    bool total, duplicate;
};
/* An object on one computer, with one scheme of labels. */
struct export_object {
    char *name, *machine;
    enum label_scheme scheme;
    size_t scope_length;                   /* length of the part that its metric names share; not used for the preset */
    bool is_foreign;                       /* the object belongs to another computer */
    bool has_ids;                          /* the object has the counter ID Process */
    int64_t process_column, thread_column; /* ID Process and ID Thread; NO_COLUMN: the object has none */
    uint64_t built;                        /* number of the sample for which the labels were built */
    struct export_label *labels;
    size_t label_count, label_capacity;
    struct text_buffer text;
};

struct exporter {
    struct lock lock; /* held while a sample is taken */
    bool totals, preset, values, failed;
    enum export_names names;
    const struct pdh_api *pdh;
    struct counter_query *query; /* NULL: the exporter reads logs */
    struct inputs *inputs;       /* the logs; NULL: the exporter uses `query` */
    struct columns columns;      /* the logs' columns */
    size_t taken;                /* number of the logs' columns that have uses */
    char *(*explain)(void *user, const char *path, HRESULT reason);
    void *user;
    struct export_path *paths;
    size_t path_count, path_capacity;
    struct texts wide, refused; /* paths with all instances; reasons for missing counters */
    struct export_given *given; /* columns that have no uses yet */
    size_t given_count, given_capacity;
    struct export_object *objects;
    size_t object_count, object_capacity;
    struct metric_families families;
    struct export_use *uses; /* in the order of families */
    size_t use_count, use_capacity;
    uint64_t *seen; /* hashes of labels; 0: free */
    size_t seen_slots;
    struct steady steady;
    uint64_t samples, duplicates, tried;
    size_t next_retry; /* index of the path that is tried next; path_count: all paths have been tried */
};

/* Tries again to add some of the missing counters, because a program that provides them may have started. True: columns
   were added. */
bool exporter_retry(struct exporter *e);
/* Creates a struct export_use for each column that was found since the last call. */
HRESULT exporter_take_given(struct exporter *e);

/* Returns the columns of the query or of the logs. */
static inline const struct log_counter *exporter_columns(const struct exporter *e, size_t *count)
{
    if (e->query)
        return counter_query_columns(e->query, count);
    *count = e->columns.counters.count;
    return e->columns.counters.items;
}
/* Creates a struct export_use for each new column of the logs. */
HRESULT exporter_take_columns(struct exporter *e);

/* ---- instance_labels.c ---- */

/* Adds the labels of an instance (NULL: the object has none), with its process ID and thread ID (NULL: unknown). */
void instance_add_labels(struct text_buffer *b, const struct export_object *o, const char *instance,
                         const struct log_raw *process, const struct log_raw *thread);

#endif

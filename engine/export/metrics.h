/* SPDX-License-Identifier: MIT */
/* Converts counters to metrics: selects counters and determines names and labels. Code that sends or serves metrics
   receives families and samples through a sink, so that the Prometheus page, OTLP and Influx agree. */
#ifndef OPENPLA_METRICS_H
#define OPENPLA_METRICS_H

#include "engine/logs/log_inputs.h"
#include "engine/logs/metric_family.h"

struct metric_sample {
    const char *labels; /* name="value",... as metric_add_label writes them; not terminated */
    size_t length;
    const char *fixed;                /* additional labels in the same form; "": none */
    uint64_t series;                  /* a hash of the labels */
    const struct metric_scale *scale; /* how to convert `raw`; NULL: the value is `number` */
    const struct log_raw *raw;
    double number;
    /* The counter, and its value as PDH computes it. `counter` is NULL if formatted values were not requested, or if
       the metric is not a counter. */
    const struct log_counter *counter;
    bool has_value;
    double value;
};

/* Receives a sample of all counters, family by family. */
struct metric_sink {
    /* `f` is borrowed until the next call. `scope_length` is the length of the part of the name that all metrics of the
       counter's object share. */
    HRESULT (*family)(void *user, const struct metric_family *f, size_t scope_length);
    HRESULT (*sample)(void *user, const struct metric_sample *s);
    void *user;
};

/* The value that metric_add_value writes, as a number. The number is an integer if the scale has neither divisor nor
   offset, so that all values of a series have the same type. metric_value_of returns false if the sample has no
   value. */
struct metric_number {
    bool is_integer;
    int64_t integer;
    double real; /* also set for an integer */
};
bool metric_value_of(const struct metric_sample *s, struct metric_number *out);
/* Adds a number with the fewest digits that read back as the same number. */
void metric_add_real(struct text_buffer *b, double value);

/* Reads the next label from a string that metric_add_label has written, and moves *at past the label. Replaces the
   contents of `name` and `value`. False: there are no more labels, or the string is malformed. */
bool metric_next_label(const char **at, const char *end, struct text_buffer *name, struct text_buffer *value);

/* ---- the exporter ---- */

enum export_names { NAMES_BOTH, NAMES_NEW, NAMES_OLD }; /* for metrics whose name has changed */
struct exporter_settings {
    const struct texts *paths; /* borrowed until exporter_close */
    bool totals;               /* also export the instances _Total that wildcards select */
    bool preset;               /* also export the metrics of windows_exporter */
    bool values;               /* samples have formatted values too */
    enum export_names names;
    /* Returns a hint for the user about a path that cannot be added. The hint is appended to the path's line in
       exporter_refused. From memory_alloc; NULL: out of memory. If `explain` itself is NULL, there are no hints. */
    char *(*explain)(void *user, const char *path, HRESULT reason);
    void *user;
};
struct exporter;
/* Opens an exporter and adds the counters. A counter that cannot be added is listed in exporter_refused and tried again
   later. Fails only if PDH cannot be used or memory runs out. The exporter must be closed even after a failure. */
HRESULT exporter_open(const struct exporter_settings *settings, struct exporter **out);
/* Opens an exporter for the counters of open logs that `filter` selects. The logs must outlive the exporter. If
   `values` is set, samples have formatted values. Unless `totals` is set, an instance _Total is omitted if the log has
   other instances of the counter. */
struct filter;
HRESULT exporter_open_logs(struct inputs *in, struct filter *filter, bool values, bool totals, struct exporter **out);
/* Returns a line for each missing counter, with the reason; borrowed. */
const struct texts *exporter_refused(const struct exporter *e);
/* Returns the number of exported counters. A counter with "*" counts once. */
size_t exporter_counters(const struct exporter *e);
/* Takes a sample and passes it to the sink. *utc receives the sample's time (FILETIME) before the sink is called.
   Exports only the collectors of the preset that `collectors` names; if `collectors` is empty or NULL, exports all.
   Several threads may call this function. */
HRESULT exporter_sample(struct exporter *e, const struct texts *collectors, const struct metric_sink *sink,
                        int64_t *utc);
/* Passes the next sample of the logs to the sink. S_FALSE: there are no more samples. */
HRESULT exporter_next(struct exporter *e, const struct metric_sink *sink, int64_t *utc);
void exporter_close(struct exporter *e); /* NULL is allowed */

#endif

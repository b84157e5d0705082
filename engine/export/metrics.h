/* SPDX-License-Identifier: MIT */
/* Counters as metrics: which ones, under which names, with which labels. Whoever sends or serves them receives families
   and samples in a sink, so that Prometheus' page, OTLP and Influx agree. */
#ifndef OPENPLA_METRICS_H
#define OPENPLA_METRICS_H

#include "engine/logs/log_inputs.h"
#include "engine/logs/metric_family.h"

struct metric_sample {
    const char *labels; /* name="value",... as metric_add_label writes them; not terminated */
    size_t length;
    const char *fixed;                /* more labels in this form; "": none */
    uint64_t series;                  /* a hash of the labels */
    const struct metric_scale *scale; /* of `raw`; NULL: the value is `number` */
    const struct log_raw *raw;
    double number;
    /* What PDH computes, if formatted values were requested. NULL: they were not, or the metric is not a counter. */
    const struct log_counter *counter;
    bool has_value;
    double value;
};

/* Receives a sample of all counters, family by family. */
struct metric_sink {
    /* Borrowed until the next call. `scope_length`: of the part of the name that all metrics of its object have. */
    HRESULT (*family)(void *user, const struct metric_family *f, size_t scope_length);
    HRESULT (*sample)(void *user, const struct metric_sample *s);
    void *user;
};

/* The value that metric_add_value writes, as a number. It is an integer if the scale has neither divisor nor offset, so
   that a series does not change between the two. False: it has none. */
struct metric_number {
    bool is_integer;
    int64_t integer;
    double real; /* also of an integer */
};
bool metric_value_of(const struct metric_sample *s, struct metric_number *out);
/* Adds a number with as few digits as read back the same. */
void metric_add_real(struct text_buffer *b, double value);

/* Takes the first label of a text that metric_add_label has written. `name` and `value` replace what the buffers have.
   False: there is no more, or it is malformed. */
bool metric_next_label(const char **at, const char *end, struct text_buffer *name, struct text_buffer *value);

/* ---- the exporter ---- */

enum export_names { NAMES_BOTH, NAMES_NEW, NAMES_OLD }; /* of metrics whose name has changed */
struct exporter_settings {
    const struct texts *paths; /* borrowed until exporter_close */
    bool totals;               /* also instances _Total of paths with wildcards */
    bool preset;               /* also the metrics of windows_exporter */
    bool values;               /* samples have formatted values too */
    enum export_names names;
    /* More to say about a path that cannot be added, for the line in exporter_refused; from memory_alloc, NULL: out of
       memory. May be NULL. */
    char *(*explain)(void *user, const char *path, HRESULT reason);
    void *user;
};
struct exporter;
/* Adds the counters. One that cannot be added is listed in exporter_refused, and tried again later. Fails only if PDH
   cannot be used or memory runs out. Close it also then. */
HRESULT exporter_open(const struct exporter_settings *settings, struct exporter **out);
/* The same for the counters of open logs, which must outlive it; `filter` selects them. `values`: samples have
   formatted values. Instances _Total are left out if the log has others of their counter, unless `totals` is set. */
struct filter;
HRESULT exporter_open_logs(struct inputs *in, struct filter *filter, bool values, bool totals, struct exporter **out);
/* Why counters are missing, one line each; borrowed. */
const struct texts *exporter_refused(const struct exporter *e);
/* The number of counters that are exported; one with "*" counts once. */
size_t exporter_counters(const struct exporter *e);
/* Takes a sample and gives it to the sink; *utc (FILETIME) is its time, also during the sink's calls. `collectors`:
   only those of the preset; empty or NULL: all. May be called by several threads. */
HRESULT exporter_sample(struct exporter *e, const struct texts *collectors, const struct metric_sink *sink,
                        int64_t *utc);
/* The next sample of the logs. S_FALSE: no more. */
HRESULT exporter_next(struct exporter *e, const struct metric_sink *sink, int64_t *utc);
void exporter_close(struct exporter *e); /* NULL is allowed */

#endif

/* SPDX-License-Identifier: MIT */
/* Thresholds of rules. A Threshold has the limit of a counter, and the time for which the slices in a report must
   exceed this limit. */
#ifndef OPENPLA_RULES_THRESHOLD_H
#define OPENPLA_RULES_THRESHOLD_H

#include "engine/report/rules/rules_parts.h"

/* default for the attribute `for`: seconds for which the counter must be beyond the limit */
#define THRESHOLD_SECONDS 300

/* The attributes of a Threshold; strings belong to the element. */
struct threshold {
    xmlNodePtr element;
    const char *counter, *per, *minus, *unless; /* counter paths; NULL means no counter */
    const char *unit;
    enum rules_measure of;
    enum rules_scale times;
    enum rules_finding severity;
    bool is_upper; /* values above the limit are findings */
    bool has_critical, has_least;
    double limit, critical;
    double factor, least, scale;
    uint32_t seconds;
};
/* Reads the attributes. Fails with RULES_INVALID and a message that names the wrong attribute. */
HRESULT threshold_read(xmlNodePtr element, struct threshold *out);

/* A counter path of a Threshold: \Object(instance)\Counter. */
struct threshold_path {
    char *object, *instance, *counter; /* instance NULL: none */
};
/* Reads the path up to a '|' or the end; *rest is what follows, NULL at the end. Fails with E_INVALIDARG if the text is
   not a path, or with E_OUTOFMEMORY. Free *out even after a failure. */
HRESULT threshold_path_read(const char *text, struct threshold_path *out, const char **rest);
void threshold_path_free(struct threshold_path *p);

/* A row of the report that exceeds a limit, and the time for which it does so. Strings are the report's. */
struct threshold_finding {
    xmlNodePtr row;
    const char *object, *instance, *machine; /* "" for none */
    double limit, critical;                  /* the limits of the rule, multiplied by the number of processors or the
                                                amount of memory if the rule says so */
    double value;                            /* mean of the slices beyond the limit, or the trend, the increase, or
                                                the value for the whole report */
    double worst;                            /* the extreme sample in the slices beyond the limit */
    const char *first, *last; /* start of the first and end of the last slice beyond the limit; "" if unknown */
    const char *worst_at;
    double seconds; /* total time beyond the limit; 0 if unknown */
    bool is_critical;
};
struct threshold_findings {
    struct threshold_finding *items;
    size_t count, capacity;
    uint64_t known;   /* rows that were compared */
    uint64_t visited; /* number of rows and slices that were read */
};
/* Compares all rows of the threshold's counter with the limits. In *out, the worst row is first. Fails with
   E_OUTOFMEMORY. */
HRESULT threshold_measure(const struct threshold *t, const struct rules_run *run, struct threshold_findings *out);
void threshold_findings_free(struct threshold_findings *f);

/* Adds the limits in words, such as "over 80 %, serious over 90 %, for 5 min". */
void threshold_limits_add(struct text_buffer *b, const struct threshold *t, double limit, double critical);
/* Adds a number for messages: with no more digits than readers need, without an exponent. */
void threshold_number_add(struct text_buffer *b, double value);

#endif

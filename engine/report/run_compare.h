/* SPDX-License-Identifier: MIT */
/* Compares the counters in the reports of two runs, A and B. Determines which counters are worse, and whether the
   difference exceeds the noise.

   Samples of a log depend on each other, so a test over samples would report most unchanged counters as changed.
   Therefore the time is divided into slices, and a Mann-Whitney test compares the means of the slices. The variance of
   the test is increased by the correlation of adjacent slices. The false discovery rate over all counters is 5 %
   (Benjamini, Hochberg 1995). A counter that drifts too slowly for the length of the runs is reported as undecided. */
#ifndef OPENPLA_RUN_COMPARE_H
#define OPENPLA_RUN_COMPARE_H

#include "engine/base/text.h"

#define RUN_LEAST_SLICES  8 /* minimum number of slices of a run: fewer prove nothing among hundreds of counters */
#define RUN_SLICES        24
#define RUN_LARGEST_DRIFT 0.8 /* if the correlation of adjacent slices is greater, the verdict is RUN_UNDECIDED */

/* The verdicts, from the least to the most important. */
enum run_verdict { RUN_SAME, RUN_UNDECIDED, RUN_BETTER, RUN_CHANGED, RUN_WORSE, RUN_MUCH_WORSE, RUN_VERDICTS };

struct run_figures {
    double mean, p95, greatest;
    size_t slices;
};
struct run_change {
    const char *object, *counter, *instance; /* `instance` is "" if the object has no instances */
    size_t series[2];                        /* indexes of the counter's series in A and in B */
    struct run_figures figures[2];           /* statistics of A and B */
    double difference;                       /* difference of the means, B - A */
    double percent;                          /* the difference in percent of A's mean; not finite if A's mean is 0 */
    double effect;   /* Cliff's delta; -1 means that all slices of A are greater, 1 that all slices of B are greater */
    double p;        /* the test's p value, with the widened variance; 1 if the counter was not tested */
    double drift;    /* correlation of neighbouring slices */
    const char *why; /* the reason for RUN_UNDECIDED; otherwise "" */
    enum run_verdict verdict;
};

/* A counter of a run. `values` as in page.h. */
struct run_series {
    char *object, *counter, *instance;
    double begin, step; /* in seconds; `begin`: the middle of the first value, in the log's zone; `step`: from one
                           value to the next */
    size_t count;
    struct chart_value *values;
    bool has_figures; /* statistics of the whole run, from the table of counters */
    struct run_figures figures;
};
/* Zero-initialise. */
struct run_side {
    struct run_series *series; /* sorted by object, counter and instance */
    size_t count, capacity;
    double begin, end;                /* time range of all series */
    char *start, *duration, *samples; /* facts of the report; `start` has no time zone; NULL if the report does not
                                         contain the fact */
    char *names;                      /* the fact about names of counters in another language; NULL means no such
                                         fact */
    double from, to;                  /* start and end of the compared part, in seconds */
};
/* Reads a report. Returns S_FALSE if the report has no values over time. */
HRESULT run_side_read(const char *report, struct run_side *out, struct texts *notes);
void run_side_free(struct run_side *s);

struct run_compare_options {
    bool by_clock;       /* align the runs by the time of day; otherwise by their starts */
    double skip;         /* seconds to skip at the start of both runs */
    double slice;        /* seconds of a slice; 0 means the shared time / RUN_SLICES */
    double least_change; /* percent; smaller changes of the mean are ignored */
};
/* Zero-initialise. */
struct run_comparison {
    struct run_side sides[2];
    struct run_change *changes; /* the most important first */
    size_t count, verdicts[RUN_VERDICTS];
    struct texts only[2]; /* paths of counters that only one side has */
    double span;          /* seconds that both runs cover */
    const char *nothing;  /* reason why nothing can be compared; NULL if comparison is possible */
    struct texts notes;
};
/* Compares the sides, which were read before. Returns S_FALSE if the sides have no counter in common, or no time range
   in common. */
HRESULT run_compare(struct run_comparison *c, const struct run_compare_options *options);
/* Writes a report about the comparison; page_make creates a page from this report. `names` are the labels of the two
   sides. */
HRESULT run_compare_write(const struct run_comparison *c, const char *const names[2], bool by_clock, const char *path);
void run_comparison_free(struct run_comparison *c);

/* ---- statistics of the comparison ---- */

/* Returns the correlation of adjacent slices, corrected for the bias of short series; 0 to 0.95. */
double run_correlation(const double *values, size_t count);
/* Returns the two-sided p value of the test; equal values get their mean rank. *effect becomes Cliff's delta.
   `widening` is the factor of the variance, 1 or more. `room` has space for count_a + count_b values. */
double run_rank_test(const double *a, size_t count_a, const double *b, size_t count_b, double widening, double *effect,
                     double *room);
/* Returns the greatest p value that passes at the false discovery rate; returns a number less than 0 if no p value
   passes. `room` has space for `count` values. */
double run_discovery_limit(const double *p, size_t count, double rate, double *room);
/* Returns a path such as "\Processor(_Total)\% Processor Time", which the caller frees. */
char *run_path(const char *object, const char *counter, const char *instance);
const char *run_verdict_name(enum run_verdict verdict);

#endif
